//! The workers of one rank, conservative or running ahead.

use super::hub::{Abroad, Hub};
use super::shares::Shares;
use super::{ahead, windows};
use crate::block::Block;
use crate::crew::{Bounds, Burst};
use crate::engine::merged;
use crate::history::EventCounts;
use crate::optimistic::{Speculated, Speculation};
use crate::ring::WindowGrid;
use crate::rounds::{Agreed, MemoryBudget};
use crate::speculator::Speculator;
use crate::worker::Worker;
use crate::world::World;

/// A block on its way to its worker, with its number and its pending events.
pub(super) struct DealtBlock<W: World> {
    pub(super) number: usize,
    pub(super) block: Block<W::State>,
    pub(super) first: Vec<W::Event>,
}

/// The workers, and where they meet.
pub(super) enum Team<W: World> {
    Windows {
        workers: Vec<Worker<W>>,
        hub: Hub<W::Event, 1>,
    },
    Ahead {
        workers: Vec<Speculator<W>>,
        hub: Hub<W::Event, 2>,
        memory: MemoryBudget,
        agreed: Agreed,
    },
}

/// What a worker shows between two bursts.
pub(super) trait Member<W: World> {
    fn blocks(&self) -> &[Block<W::State>];
    fn observer(&self) -> &W::Observer;
    fn grid(&self) -> &WindowGrid;
    /// Everything before it has been run for good.
    fn end(&self) -> u64;
    fn next_window(&self) -> Option<u64>;
    fn broken(&self) -> Option<&'static str>;
    fn pending(&self, show: &mut dyn FnMut(&W::Event));
}

impl<W: World> Member<W> for Worker<W> {
    fn blocks(&self) -> &[Block<W::State>] {
        &self.blocks
    }

    fn observer(&self) -> &W::Observer {
        &self.lanes.observer
    }

    fn grid(&self) -> &WindowGrid {
        &self.lanes.grid
    }

    fn end(&self) -> u64 {
        self.lanes.end
    }

    fn next_window(&self) -> Option<u64> {
        Worker::next_window(self)
    }

    fn broken(&self) -> Option<&'static str> {
        self.lanes.broken
    }

    fn pending(&self, show: &mut dyn FnMut(&W::Event)) {
        self.lanes.rings[self.own()].iter().for_each(|ring| ring.for_each(show));
    }
}

impl<W: World> Member<W> for Speculator<W> {
    fn blocks(&self) -> &[Block<W::State>] {
        &self.blocks
    }

    fn observer(&self) -> &W::Observer {
        &self.lanes.observer
    }

    fn grid(&self) -> &WindowGrid {
        &self.lanes.grid
    }

    fn end(&self) -> u64 {
        self.lanes.grid.start
    }

    fn next_window(&self) -> Option<u64> {
        Speculator::next_window(self)
    }

    fn broken(&self) -> Option<&'static str> {
        self.lanes.broken
    }

    fn pending(&self, show: &mut dyn FnMut(&W::Event)) {
        Speculator::pending(self, show);
    }
}

impl<W: World> Team<W> {
    /// A worker per share of this rank's blocks; there is one at least.
    pub(super) fn new(
        world: &W,
        observer: W::Observer,
        grid: WindowGrid,
        sharing: &Shares,
        shares: Vec<Vec<DealtBlock<W>>>,
        speculation: Option<Speculation>,
    ) -> Self {
        let n = shares.len();
        let shares = shares.into_iter();
        let Some(speculation) = speculation else {
            let worker = |share: Vec<DealtBlock<W>>| {
                let mut worker = Worker::new(world, observer.clone(), grid, &sharing.layout);
                worker.first = share.first().map_or(0, |part| part.number);
                for DealtBlock { number, block, first } in share {
                    worker.blocks.push(block);
                    let (ring, pool) = (&mut worker.lanes.rings[number], &mut worker.lanes.pool);
                    first.into_iter().for_each(|event| ring.insert(&grid, event, pool));
                }
                worker
            };
            return Team::Windows {
                workers: shares.map(worker).collect(),
                hub: Hub::new(n, sharing.layout.n_blocks()),
            };
        };
        let worker = |share: Vec<DealtBlock<W>>| {
            let mut worker = Speculator::new(world, observer.clone(), grid, &sharing.layout);
            for DealtBlock { number, block, first } in share {
                worker.add(number, block, first);
            }
            worker
        };
        let all = sharing.n_running();
        Team::Ahead {
            workers: shares.map(worker).collect(),
            hub: Hub::new(n, sharing.layout.n_blocks()),
            memory: MemoryBudget {
                most_kept: speculation.kept.saturating_mul(sharing.n_workers() / sharing.workers),
                workers: all,
            },
            agreed: Agreed::new(speculation, all),
        }
    }

    /// Runs until one of the bounds is reached.
    pub(super) fn run(&mut self, world: &W, bounds: Bounds, abroad: &mut Abroad<'_>) -> Burst {
        match self {
            Team::Windows { workers, hub } => windows::run(world, workers, hub, bounds, abroad),
            Team::Ahead {
                workers,
                hub,
                memory,
                agreed,
            } => ahead::run(world, workers, hub, (*memory, agreed), bounds, abroad),
        }
    }

    /// All workers.
    pub(super) fn members(&self) -> Vec<&dyn Member<W>> {
        match self {
            Team::Windows { workers, .. } => workers.iter().map(|worker| worker as &dyn Member<W>).collect(),
            Team::Ahead { workers, .. } => workers.iter().map(|worker| worker as &dyn Member<W>).collect(),
        }
    }

    /// The first worker's observer.
    pub(super) fn observer(&mut self) -> &mut W::Observer {
        match self {
            Team::Windows { workers, .. } => &mut workers[0].lanes.observer,
            Team::Ahead { workers, .. } => &mut workers[0].lanes.observer,
        }
    }

    /// What speculation did on this rank; rounds, depth and memory are those of all.
    pub(super) fn speculated(&self) -> Option<Speculated> {
        let Team::Ahead { workers, agreed, .. } = self else {
            return None;
        };
        let mut all = Speculated {
            rounds: agreed.rounds,
            peak_kept: agreed.peak_kept,
            deepest: agreed.deepest,
            ..Speculated::default()
        };
        for worker in workers {
            let EventCounts {
                executed,
                rolled_back,
                committed,
            } = worker.counts();
            all.executed += executed;
            all.rolled_back += rolled_back;
            all.committed += committed;
            all.safe += worker.safe;
            all.antis += worker.taken_back;
        }
        Some(all)
    }

    /// The states of all blocks in the order of their LPs, and all records.
    pub(super) fn into_parts(self) -> (Vec<W::State>, W::Observer) {
        let (blocks, observers): (Vec<_>, Vec<_>) = match self {
            Team::Windows { workers, .. } => workers
                .into_iter()
                .map(|worker| (worker.blocks, worker.lanes.observer))
                .unzip(),
            Team::Ahead { workers, .. } => workers
                .into_iter()
                .map(|worker| (worker.blocks, worker.lanes.observer))
                .unzip(),
        };
        let states = blocks.into_iter().flatten().map(|block| block.state).collect();
        (states, merged(observers))
    }
}
