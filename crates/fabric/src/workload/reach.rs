//! How far the messages of a job go, told before anything is simulated.

use super::{Destinations, Job, JobKind, NOBODY, Workload};

/// Senders of a job that are looked at, evenly spread, and messages of each.
const SENDERS: usize = 512;
const MESSAGES: u64 = 8;

/// How far the messages of a job go.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reach {
    /// Nodes that send; of pairs those that send data.
    pub senders: f64,
    /// Mean of what was asked of source and destination, over messages.
    pub hops: f64,
}

impl Workload {
    /// The reach of every job, from a sample of the messages that it will really send; `hops` is asked for source and destination node,
    /// some thousand times per job. `None` where messages are not known beforehand.
    pub fn reach(&self, hops: &dyn Fn(u32, u32) -> f64) -> Vec<Option<Reach>> {
        self.jobs.iter().map(|job| self.reach_of(job, hops)).collect()
    }

    fn reach_of(&self, job: &Job, hops: &dyn Fn(u32, u32) -> f64) -> Option<Reach> {
        let all = 0..job.nodes.len() as u32;
        let senders: Vec<u32> = match &job.kind {
            JobKind::Synthetic {
                destinations: Destinations::Table { fan, table },
                ..
            } => {
                let entries = |i: u32| &table[(i * fan) as usize..((i + 1) * fan) as usize];
                all.filter(|&i| entries(i).iter().all(|&to| to != NOBODY)).collect()
            }
            JobKind::Synthetic { .. } => all.collect(),
            JobKind::Pairs(plan) => all.filter(|&i| plan.sends[i as usize]).collect(),
            // Their programs say it; see `Plan::traffic`.
            JobKind::Ranks => return None,
            JobKind::Idle => return Some(Reach::default()),
        };
        let looked_at = senders.len().min(SENDERS);
        let mut sum = 0.0;
        for i in (0..looked_at).map(|k| senders[k * senders.len() / looked_at]) {
            let node = job.nodes[i as usize];
            let one = |k: u64| match &job.kind {
                JobKind::Synthetic { destinations, .. } => {
                    let words = self.traffic.draw(u64::from(node), k);
                    hops(node, destinations.pick(&job.nodes, i, k, words))
                }
                JobKind::Pairs(plan) => hops(node, plan.partner[i as usize]),
                JobKind::Ranks | JobKind::Idle => 0.0,
            };
            sum += (0..MESSAGES).map(one).sum::<f64>() / MESSAGES as f64;
        }
        Some(Reach {
            senders: senders.len() as f64,
            hops: sum / looked_at.max(1) as f64,
        })
    }
}
