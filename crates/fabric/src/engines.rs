//! The engines, for networks: compiled here and nowhere else. Which one runs a network changes nothing of the answer.

use crate::models::AnyFabric;
use crate::observe::Stats;
use des::engine::Engine;
use des::optimistic::Speculation;
use des::ranks::{RankPlan, ResumeError};
use des::{OptimisticEngine, RankEngine, ReferenceEngine, RollbackCheck, Torn, Transport, WindowEngine};

/// An engine that runs a network.
pub type NetworkEngine<'w> = Box<dyn Engine<AnyFabric> + 'w>;

/// The least lookahead (ps) with which windows can be opened; below it [`EngineKind::Reference`] runs.
pub const MIN_WIDTH: u64 = WindowEngine::<AnyFabric>::MIN_WIDTH;

/// Which engine runs a network in one process.
#[derive(Clone, Copy, Debug)]
pub enum EngineKind {
    /// In total order, one event at a time.
    Reference,
    /// By windows, each of them run, undone, and run again.
    RollbackCheck,
    /// By windows.
    Window {
        /// About so many blocks, at most [`MAX_BLOCKS`](des::layout::MAX_BLOCKS).
        blocks: u32,
        /// Threads, at most one for each block.
        workers: u32,
        /// Whether it finds out while it runs if all workers or one are faster.
        adaptive: bool,
    },
    /// Ahead of what is safe.
    Optimistic {
        /// About so many blocks, at most [`MAX_BLOCKS`](des::layout::MAX_BLOCKS).
        blocks: u32,
        /// Threads, at most one for each block.
        workers: u32,
        /// How far.
        speculation: Speculation,
    },
}

impl EngineKind {
    /// By windows, with one worker.
    pub const SEQUENTIAL: EngineKind = EngineKind::Window {
        blocks: 8,
        workers: 1,
        adaptive: false,
    };

    /// The engine before the first event.
    pub fn begin(self, world: &AnyFabric, stats: Stats) -> NetworkEngine<'_> {
        match self {
            EngineKind::Reference => Box::new(ReferenceEngine::new(world, stats)),
            EngineKind::RollbackCheck => Box::new(RollbackCheck::new(world, stats)),
            EngineKind::Window {
                blocks,
                workers,
                adaptive,
            } => {
                let blocks = worthwhile(blocks, workers, world);
                by_windows(WindowEngine::with_workers(world, stats, blocks, workers), adaptive)
            }
            EngineKind::Optimistic {
                blocks,
                workers,
                speculation,
            } => Box::new(OptimisticEngine::new(world, stats, blocks, workers, speculation)),
        }
    }

    /// The engine as one of any kind has `saved` it; `stats` have seen nothing.
    ///
    /// # Errors
    /// What is saved is not of a run of this network.
    pub fn restore<'w>(self, world: &'w AnyFabric, stats: Stats, saved: &[u8]) -> Result<NetworkEngine<'w>, Torn> {
        Ok(match self {
            EngineKind::Reference => Box::new(ReferenceEngine::restore(world, saved)?),
            EngineKind::RollbackCheck => Box::new(RollbackCheck::restore(world, stats, saved)?),
            EngineKind::Window {
                blocks,
                workers,
                adaptive,
            } => {
                let blocks = worthwhile(blocks, workers, world);
                by_windows(WindowEngine::restore(world, stats, saved, blocks, workers)?, adaptive)
            }
            EngineKind::Optimistic {
                blocks,
                workers,
                speculation,
            } => {
                let engine = OptimisticEngine::restore(world, stats, saved, blocks, workers, speculation)?;
                Box::new(engine)
            }
        })
    }
}

/// Ports of the routers of a block, at least, where one worker has all blocks: what is done once per block and window is much beside the events of
/// a few ports.
const LEAST_PORTS: u32 = 512;

/// Most blocks of one worker. With more of them what is done once per block and window is dear; networks that do not fit the cache block by block then,
/// or whose ranks and messages have more records than their ports, are no slower in few.
const MOST_OF_ONE: u32 = 32;

/// Of so many blocks, those that are worth their while; more, where the records of one then stay in the cache while it runs through a window.
fn worthwhile(blocks: u32, workers: u32, world: &AnyFabric) -> u32 {
    if workers > 1 {
        return blocks;
    }
    let net = world.net();
    let caches = net.caches().next_power_of_two() as u32;
    let blocks = match caches <= MOST_OF_ONE && !net.messages.keeps_records {
        true => blocks.max(caches),
        false => blocks,
    };
    blocks.min(net.n_ports.div_ceil(LEAST_PORTS).max(1))
}

fn by_windows(engine: WindowEngine<'_, AnyFabric>, adaptive: bool) -> NetworkEngine<'_> {
    Box::new(if adaptive { engine.adaptive() } else { engine })
}

/// The engine of one of the ranks that share a network, before the first event, or as the bytes of rank 0 say; all ranks call it alike.
///
/// # Errors
/// What is saved is not of a run of this network, or the connection is broken: all ranks fail then.
pub fn on_ranks<'e>(
    world: &'e AnyFabric,
    stats: Stats,
    ranks: &'e mut dyn Transport,
    plan: RankPlan,
    saved: Option<&[u8]>,
) -> Result<NetworkEngine<'e>, ResumeError> {
    Ok(match saved {
        None => Box::new(RankEngine::new(world, stats, ranks, plan)),
        Some(saved) => Box::new(RankEngine::restore(world, stats, ranks, plan, saved)?),
    })
}
