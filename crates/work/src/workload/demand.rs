//! Who sends how much to whom, where open-loop traffic says so beforehand.

use super::{Destinations, Job, JobKind, Workload};
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
    let n = nodes.len() as u32;
    let most = (most / nodes.len().max(1) as u64).max(1);
    let mut whole = true;
    for (i, rate) in destinations.rates(n) {
        whole &= add_of(destinations, nodes, (i, rate), most, entries);
    }
    whole
}

/// Adds the `units` that logical node `i` sends, to at most so many others of each kind of destinations.
fn add_of(
    destinations: &Destinations,
    nodes: &[u32],
    (i, units): (u32, f64),
    most: u64,
    entries: &mut Vec<(u32, u32, f64)>,
) -> bool {
    let from = nodes[i as usize];
    match destinations {
        Destinations::Uniform => evenly((nodes, Some(i)), (from, units), most, entries),
        Destinations::Any => {
            // What is for itself takes no link between routers.
            let others = units * (nodes.len() as f64 - 1.0) / nodes.len() as f64;
            evenly((nodes, Some(i)), (from, others), most, entries)
        }
        Destinations::HotSpot { targets, fraction } => {
            let each = units * fraction / f64::from(*targets);
            let hot = &nodes[..*targets as usize];
            // What would be for itself is for any other.
            let own = if i < *targets { each } else { 0.0 };
            entries.extend(hot.iter().filter(|&&to| to != from).map(|&to| (from, to, each)));
            evenly((nodes, Some(i)), (from, units * (1.0 - fraction) + own), most, entries)
        }
        Destinations::Table { .. } | Destinations::Lists { .. } => {
            let list = destinations.listed(i);
            entries.extend(list.iter().map(|&to| (from, to, units / list.len() as f64)));
            true
        }
        Destinations::Drawn(drawn) => {
            let mut whole = true;
            // Where a row has more cells than may be named, some of the nodes of each stand for all.
            let most = most / drawn.row(i).count().max(1) as u64;
            for (to, own, share) in drawn.row(i) {
                whole &= evenly((to, own), (from, units * share), most, entries);
            }
            whole
        }
        Destinations::Mixed(mixed) => {
            let mean = destinations.mean_size(i, 0);
            let mut whole = true;
            for (part, share) in mixed.parts_of(i) {
                let units = units * share * part.bytes as f64 / mean;
                whole &= add_of(&part.to, nodes, (i, units), most, entries);
            }
            whole
        }
    }
}

/// Adds `units` from a node, which may have a place among those that it sends to, to all of them but itself, evenly: at most so many stand for
/// all.
fn evenly(
    (to, own): (&[u32], Option<u32>),
    (from, units): (u32, f64),
    most: u64,
    entries: &mut Vec<(u32, u32, f64)>,
) -> bool {
    let others = to.len() as u64 - u64::from(own.is_some());
    if others == 0 || units <= 0.0 {
        return true;
    }
    let named = most.clamp(1, others);
    let each = units / named as f64;
    let other = |k: u64| match named == others {
        true => k as u32,
        false => below(mix(u64::from(own.unwrap_or(from)) << 32 | k), others) as u32,
    };
    entries.extend((0..named).map(other).map(|other| {
        let other = other + u32::from(own.is_some_and(|own| other >= own));
        (from, to[other as usize], each)
    }));
    named == others
}
