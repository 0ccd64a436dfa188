//! Which worker of a parallel run owns which routers.
//!
//! Workers meet once per window and hand events over where a cable leads from one to another, so a good partition has equal weights
//! and few cables between workers. A [`Partition`] deals the routers out to workers and each worker's routers to its blocks, the
//! unit in which state lies in memory. It is a function of topology, method and numbers alone and changes no result of a run.
//!
//! How: the routers are halved again and again. Each time they are put into an order that suits the family (`order`), and of the
//! places in that order where both sides are heavy enough, the one with the fewest cables across is taken (`halves`): recursive
//! bisection (Berger & Bokhari 1987). METIS (Karypis & Kumar 1998) is asked where the order is not known (`multilevel`).

mod halves;
mod map_file;
mod multilevel;
mod order;
mod quality;

pub use map_file::{MapMistake, read_map};
pub use quality::{ClassCut, Quality, Share};

use crate::families::CutOrder;
use crate::topology::Topology;
use halves::{Goal, Halves};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// How routers are shared out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// [`Method::Metis`] for graphs from files, [`Method::Blocks`] for everything that is built from numbers.
    #[default]
    Auto,
    /// By what is known of the family: planes, groups, pods; graphs in breadth-first order.
    Blocks,
    /// METIS, if it cuts fewer cables than [`Method::Blocks`] without being more uneven than that and than 5 %.
    Metis,
    /// A part number for every router, from 0. Parts go to workers in order; with more parts than workers, neighbours in number share one.
    Map(Vec<u32>),
}

/// What a partition was made by in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Made {
    /// The family's own order.
    Blocks,
    /// METIS.
    Metis,
    /// The user's map.
    Map,
}

/// Why routers cannot be shared out like this.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PartitionError {
    /// No worker, no block, or more blocks than numbers for them.
    #[error("{workers} workers with {blocks_per_worker} blocks each: there must be 1 to {most} blocks")]
    Blocks {
        /// Workers asked for.
        workers: u32,
        /// Blocks per worker asked for.
        blocks_per_worker: u32,
        /// Most blocks.
        most: u32,
    },
    /// The map has another number of routers than the network.
    #[error("the map has {given} routers, the network {routers}")]
    Length {
        /// Entries of the map.
        given: usize,
        /// Routers of the network.
        routers: u32,
    },
    /// Fewer parts than workers.
    #[error("the map has parts for {parts} workers only, not for {workers}")]
    FewParts {
        /// Largest part number plus one.
        parts: u64,
        /// Workers asked for.
        workers: u32,
    },
}

impl PartitionError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Blocks { .. } => "take fewer workers or blocks, at least one of each".into(),
            Self::Length { .. } => "give every router one part".into(),
            Self::FewParts { parts, .. } => format!("take {parts} workers or fewer, or a map with more parts"),
        }
    }
}

/// Most blocks: their numbers have 16 bits.
const MOST_BLOCKS: u32 = 1 << 16;

/// Which worker, and which block of it, every router belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Block of each router.
    block: Vec<u16>,
    workers: u32,
    blocks_per_worker: u32,
    made: Made,
    note: Option<String>,
}

impl Partition {
    /// Shares out the routers of a network. Linear in the cables, times the logarithm of the blocks.
    ///
    /// Every router is in one block; workers and blocks are empty only if there are fewer routers than blocks, or by a user's map.
    ///
    /// # Errors
    /// If there are no or too many blocks, or the map does not fit.
    pub fn new(
        topology: &Topology,
        method: &Method,
        workers: u32,
        blocks_per_worker: u32,
    ) -> Result<Self, PartitionError> {
        if workers == 0
            || blocks_per_worker == 0
            || u64::from(workers) * u64::from(blocks_per_worker) > MOST_BLOCKS.into()
        {
            return Err(PartitionError::Blocks {
                workers,
                blocks_per_worker,
                most: MOST_BLOCKS,
            });
        }
        let graph = topology.geometry.family().is_irregular();
        let blank = Self {
            block: vec![0; topology.n_routers() as usize],
            workers,
            blocks_per_worker,
            made: Made::Blocks,
            note: None,
        };
        let weights = weights(topology);
        match method {
            Method::Map(parts) => {
                let of_worker = workers_of_map(parts, workers, topology.n_routers())?;
                Ok(blank.with_workers(topology, &weights, &of_worker, Made::Map))
            }
            Method::Metis => Ok(blank.best(topology, &weights)),
            Method::Auto if graph => Ok(blank.best(topology, &weights)),
            Method::Auto | Method::Blocks => Ok(blank.by_order(topology, &weights)),
        }
    }

    /// What METIS makes of it, good or not, in one block per worker; `None` where it is not asked. For comparisons.
    #[doc(hidden)]
    pub fn by_metis_alone(topology: &Topology, workers: u32) -> Option<Self> {
        let weights = weights(topology);
        let of_worker = multilevel::workers(topology, &weights, workers).ok()?;
        let one = Self::new(topology, &Method::Map(vec![0; weights.len()]), 1, 1).ok()?;
        let blank = Self { workers, ..one };
        Some(blank.with_workers(topology, &weights, &of_worker, Made::Metis))
    }

    /// Blocks of all workers; some may be empty.
    pub fn n_blocks(&self) -> u32 {
        self.workers * self.blocks_per_worker
    }

    /// Workers; some may have no router.
    pub fn workers(&self) -> u32 {
        self.workers
    }

    /// Blocks of a worker.
    pub fn blocks_per_worker(&self) -> u32 {
        self.blocks_per_worker
    }

    /// Block of a router.
    #[inline]
    pub fn block(&self, router: u32) -> u32 {
        self.block[router as usize].into()
    }

    /// Worker of a router.
    #[inline]
    pub fn worker(&self, router: u32) -> u32 {
        self.block(router) / self.blocks_per_worker
    }

    /// What it was made by in the end.
    pub fn made(&self) -> Made {
        self.made
    }

    /// What there is to say about how it was made, if anything.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// How evenly it shares out work, and what it cuts. Linear in the cables.
    pub fn quality(&self, topology: &Topology) -> Quality {
        Quality::of(self, topology, &weights(topology))
    }

    /// By the family's order; of several, by the one with the least product of cables cut and fourth power of the imbalance.
    fn by_order(self, topology: &Topology, weights: &[u32]) -> Self {
        let mut orders = topology.geometry.family().orders();
        if orders.len() == 1
            && let Some(only) = orders.pop()
        {
            return self.by_this_order(topology, weights, only);
        }
        let cost = |made: Self| {
            let quality = made.quality(topology);
            let square = quality.imbalance * quality.imbalance;
            (quality.cables_cut as f64 * square * square, made)
        };
        let tried = orders
            .into_iter()
            .map(|order| cost(self.clone().by_this_order(topology, weights, order)));
        let best = tried.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, made)| made);
        best.unwrap_or(self)
    }

    fn by_this_order(mut self, topology: &Topology, weights: &[u32], order: CutOrder<'_>) -> Self {
        let mut halves = Halves::new(topology, weights, order);
        let mut routers: Vec<u32> = (0..topology.n_routers()).collect();
        let goal = Goal::few_cables(topology, &routers, weights, self.workers);
        let shares = halves.divide(&mut routers, self.workers, goal);
        let mut rest = &mut routers[..];
        for (worker, share) in shares.into_iter().enumerate() {
            let (mine, others) = rest.split_at_mut(share);
            self.fill(&mut halves, worker as u32, mine);
            rest = others;
        }
        self
    }

    /// By a worker for every router, blocks in breadth-first order.
    fn with_workers(mut self, topology: &Topology, weights: &[u32], of_worker: &[u32], made: Made) -> Self {
        let mut lists = vec![Vec::new(); self.workers as usize];
        for (router, &worker) in of_worker.iter().enumerate() {
            lists[worker as usize].push(router as u32);
        }
        let mut halves = Halves::new(topology, weights, CutOrder::BreadthFirst);
        for (worker, list) in lists.iter_mut().enumerate() {
            self.fill(&mut halves, worker as u32, list);
        }
        self.made = made;
        self
    }

    /// Deals a worker's routers out to its blocks.
    fn fill(&mut self, halves: &mut Halves<'_>, worker: u32, mine: &mut [u32]) {
        let sizes = halves.divide(mine, self.blocks_per_worker, Goal::Even);
        let mut rest = &*mine;
        for (block, size) in (worker * self.blocks_per_worker..).zip(sizes) {
            let (these, others) = rest.split_at(size);
            these.iter().for_each(|&r| self.block[r as usize] = block as u16);
            rest = others;
        }
    }

    /// METIS or the family's order, whichever cuts fewer cables.
    fn best(self, topology: &Topology, weights: &[u32]) -> Self {
        let blocks = self.clone().by_order(topology, weights);
        if self.workers == 1 {
            return blocks;
        }
        match multilevel::workers(topology, weights, self.workers) {
            Ok(of_worker) => {
                let metis = self.with_workers(topology, weights, &of_worker, Made::Metis);
                let (a, b) = (metis.quality(topology), blocks.quality(topology));
                let even = a.imbalance <= b.imbalance.max(1.0 + MOST_UNEVEN);
                if even && a.cables_cut < b.cables_cut {
                    metis
                } else {
                    blocks
                }
            }
            Err(note) => Self {
                note: Some(note),
                ..blocks
            },
        }
    }
}

/// How much heavier than the mean the heaviest worker of METIS may be, unless the family's order is more uneven.
const MOST_UNEVEN: f64 = 0.05;

/// What a router costs to simulate: its ports and twice its nodes.
///
/// Every port has records that are looked at in each window that touches them and, under even load, a like number of packets; a node
/// has a port of its router and an interface with its sources beside it, so it counts twice. A router without nodes still forwards
/// and costs its ports.
pub fn weight(topology: &Topology, router: u32) -> u32 {
    topology.radix(router) + 2 * topology.nodes_of(router).len() as u32
}

fn weights(topology: &Topology) -> Vec<u32> {
    (0..topology.n_routers())
        .map(|router| weight(topology, router))
        .collect()
}

fn workers_of_map(parts: &[u32], workers: u32, routers: u32) -> Result<Vec<u32>, PartitionError> {
    if parts.len() != routers as usize {
        return Err(PartitionError::Length {
            given: parts.len(),
            routers,
        });
    }
    let n_parts = parts.iter().max().map_or(0, |&most| u64::from(most) + 1);
    if n_parts < u64::from(workers) {
        return Err(PartitionError::FewParts {
            parts: n_parts,
            workers,
        });
    }
    let worker = |&part: &u32| (u64::from(part) * u64::from(workers) / n_parts) as u32;
    Ok(parts.iter().map(worker).collect())
}
