//! How good a partition is.

use super::{Made, Partition};
use crate::topology::Topology;
use serde::Serialize;

/// Evenness and cables cut of a [`Partition`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Quality {
    /// What it was made by.
    pub method: Made,
    /// What there is to say about that.
    pub note: Option<String>,
    /// What each worker has.
    pub workers: Vec<Share>,
    /// Weight of the heaviest worker over the mean; 1 is even.
    pub imbalance: f64,
    /// Cables between routers.
    pub cables: u64,
    /// Those that join routers of different workers.
    pub cables_cut: u64,
    /// The same by link class, classes with cables only.
    pub classes: Vec<ClassCut>,
}

/// What a worker has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Share {
    /// Routers.
    pub routers: u32,
    /// Nodes of these routers.
    pub nodes: u32,
    /// Their weight: ports of routers and twice the nodes.
    pub weight: u64,
    /// Its part of the weight of all, 0 to 1.
    pub share: f64,
    /// Cables that lead to other workers.
    pub cables_out: u64,
}

/// Cables of one link class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassCut {
    /// The class.
    pub class: String,
    /// Its cables between routers.
    pub cables: u64,
    /// Those between workers.
    pub cut: u64,
}

impl Quality {
    pub(super) fn of(partition: &Partition, topology: &Topology, weights: &[u32]) -> Self {
        let names = topology.class_names();
        let mut workers = vec![Share::default(); partition.workers() as usize];
        // Both ends of each cable.
        let mut ends = vec![(0u64, 0u64); names.len()];
        for r in 0..topology.n_routers() {
            let worker = partition.worker(r);
            let share = &mut workers[worker as usize];
            share.routers += 1;
            share.nodes += topology.nodes_of(r).len() as u32;
            share.weight += u64::from(weights[r as usize]);
            topology.see_cables(r, |peer, _, class| {
                let cut = u64::from(partition.worker(peer) != worker);
                share.cables_out += cut;
                let class = &mut ends[usize::from(class)];
                *class = (class.0 + 1, class.1 + cut);
            });
        }
        let total: u64 = workers.iter().map(|w| w.weight).sum();
        let heaviest = workers.iter().map(|w| w.weight).max().unwrap_or(0);
        let whole = total.max(1) as f64;
        workers.iter_mut().for_each(|w| w.share = w.weight as f64 / whole);
        let classes: Vec<ClassCut> = std::iter::zip(names, ends)
            .filter(|(_, (ends, _))| *ends > 0)
            .map(|(class, (ends, cut))| ClassCut {
                class: class.clone(),
                cables: ends / 2,
                cut: cut / 2,
            })
            .collect();
        Self {
            method: partition.made(),
            note: partition.note().map(str::to_owned),
            imbalance: if total == 0 {
                1.0
            } else {
                heaviest as f64 * workers.len() as f64 / whole
            },
            cables: classes.iter().map(|c| c.cables).sum(),
            cables_cut: classes.iter().map(|c| c.cut).sum(),
            workers,
            classes,
        }
    }
}
