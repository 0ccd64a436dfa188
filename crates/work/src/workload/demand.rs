//! Who sends how much to whom, where open-loop traffic says so beforehand.

use super::{Destinations, Job, JobKind, NOBODY, Workload};
use des::mix;
use des::rng::below;
use topo::Topology;
use topo::load::TrafficPattern;

/// Who sends how much to whom, in units of what a node injects at full load.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenLoopDemand {
    /// The units.
    pub pattern: TrafficPattern,
    /// It is all that is sent: no work is left out, no destinations stand for others.
    pub whole: bool,
}

impl Workload {
    /// The demand of synthetic traffic without end; `None` where there is none. Above `most` pairs some destinations of a node stand for
    /// all of them.
    pub fn demand(&self, topology: &Topology, most: u64) -> Option<OpenLoopDemand> {
        let endless = |job: &&Job| matches!(&job.kind, JobKind::Synthetic { spec, .. } if spec.load.is_some() && spec.count.is_none());
        let jobs: Vec<&Job> = self.jobs.iter().filter(endless).collect();
        let busy = self
            .jobs
            .iter()
            .filter(|job| !matches!(job.kind, JobKind::Idle))
            .count();
        let mut whole = busy == jobs.len();
        if let [job] = jobs[..]
            && let JobKind::Synthetic {
                destinations: Destinations::Uniform,
                ..
            } = &job.kind
            && job.nodes.len() == topology.n_nodes() as usize
        {
            let pattern = TrafficPattern::Uniform;
            return Some(OpenLoopDemand { pattern, whole });
        }
        let mut entries = Vec::new();
        for job in &jobs {
            if let JobKind::Synthetic { destinations, .. } = &job.kind {
                whole &= add(destinations, &job.nodes, most, &mut entries);
            }
        }
        (!entries.is_empty()).then_some(OpenLoopDemand {
            pattern: TrafficPattern::Matrix(entries),
            whole,
        })
    }
}

/// Adds what nodes send each other; `false` if some destinations stand for others.
fn add(destinations: &Destinations, nodes: &[u32], most: u64, entries: &mut Vec<(u32, u32, f64)>) -> bool {
    let n = nodes.len() as u64;
    if n < 2 {
        return true;
    }
    // How many of the others are named, and which.
    let others = (most / n).clamp(1, n - 1);
    let all = others == n - 1;
    let other = |i: u64, k: u64| match all {
        true => k + u64::from(k >= i),
        false => {
            let to = below(mix(i << 32 | k), n - 1);
            to + u64::from(to >= i)
        }
    };
    let mut evenly = |i: u64, units: f64| {
        let each = units / others as f64;
        let to = (0..others).map(|k| (nodes[i as usize], nodes[other(i, k) as usize], each));
        entries.extend(to.filter(|_| units > 0.0));
    };
    match destinations {
        Destinations::Uniform => {
            (0..n).for_each(|i| evenly(i, 1.0));
            all
        }
        Destinations::HotSpot { targets, fraction } => {
            let each = fraction / f64::from(*targets);
            for i in 0..n {
                let own = if i < u64::from(*targets) { each } else { 0.0 };
                evenly(i, 1.0 - fraction + own);
            }
            for (i, &from) in nodes.iter().enumerate() {
                let hot = nodes[..*targets as usize].iter().enumerate().filter(|(t, _)| *t != i);
                entries.extend(hot.map(|(_, &to)| (from, to, each)));
            }
            all
        }
        Destinations::Table { fan, table } => {
            for (&from, to) in nodes.iter().zip(table.chunks(*fan as usize)) {
                if to.iter().all(|&to| to != NOBODY) {
                    entries.extend(to.iter().map(|&to| (from, to, 1.0 / f64::from(*fan))));
                }
            }
            true
        }
    }
}
