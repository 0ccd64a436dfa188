//! The optimistic engine (Time Warp, Jefferson 1985) in rounds of windows: workers run some windows ahead of the one that is safe,
//! keep what they need to go back, and mend what turns out to be wrong.
//!
//! It runs the worlds that the other engines run and gives the same answer, bit for bit: models are written forward only, the journal
//! of their columns takes them back. A round is as many windows as has paid so far, between one and [`Speculation::most`]; with one it
//! is the conservative engine with a journal.
//!
//! - `history`: what a block has run ahead of the commit, segment by segment of one LP in one window; rollback and running again.
//! - `speculator`: a worker, and its sweep through the windows of a round.
//! - `rounds`: the barrier, the mailboxes, and the commit.
//!
//! A handler may see an LP that some events have not reached yet, or that some have reached which are taken back later. It must come
//! to an end without a panic then, as in any history of events that each sender could have sent.

use crate::block::{Block, by_name};
use crate::checkpoint::{self, OpenedCheckpoint};
use crate::crew::{Bounds, Pause};
pub use crate::engine::Speculated;
use crate::engine::{Engine, Outcome, Progress, Stop, Teamwork, View, Watch, merged};
pub use crate::pace::{MAX_DEPTH, Speculation};
use crate::pack::Torn;
use crate::ring::WindowGrid;
use crate::rounds::Rounds;
use crate::speculator::Speculator;
use crate::time::Time;
use crate::world::World;
use std::convert::Infallible;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Events after which the watcher is asked, per worker.
const WATCH_EVENTS: u64 = 1 << 18;
/// Rounds after which the watcher is asked at the latest.
const WATCH_ROUNDS: u64 = 1 << 12;

/// Runs a world ahead of what is safe, on several workers.
pub struct OptimisticEngine<'w, W: World> {
    world: &'w W,
    workers: Vec<Speculator<W>>,
    rounds: Rounds<W::Event>,
    outcome: Outcome,
    now: Time,
    /// Events of the run before this engine took it up.
    before: u64,
    /// Wall time of all rounds.
    wall: Duration,
}

impl<'w, W: World> OptimisticEngine<'w, W> {
    /// An engine with `n_workers` workers, on as many threads, on about `n_blocks` blocks, at most [`MAX_BLOCKS`](crate::layout::MAX_BLOCKS); no more workers than blocks.
    pub fn new(world: &'w W, observer: W::Observer, n_blocks: u32, n_workers: u32, speculation: Speculation) -> Self {
        let block = |lps| Ok::<_, Infallible>(Block::new(world, lps));
        let Ok(engine) = Self::build(world, observer, n_blocks, n_workers, speculation, Time::ZERO, block);
        engine
    }

    /// [`OptimisticEngine::new`] that goes on from what an engine has saved; `observer` is one that has seen nothing.
    ///
    /// # Errors
    /// The bytes are not those of a run of this world.
    pub fn restore(
        world: &'w W,
        observer: W::Observer,
        saved: &[u8],
        n_blocks: u32,
        n_workers: u32,
        speculation: Speculation,
    ) -> Result<Self, Torn> {
        let opened = OpenedCheckpoint::read(world, saved)?;
        let block = |lps| Block::restore(world, lps, &opened);
        let mut engine = Self::build(world, observer, n_blocks, n_workers, speculation, opened.time, block)?;
        engine.outcome = opened.outcome;
        engine.before = opened.outcome.events;
        engine.workers[0].lanes.observer = opened.observer;
        Ok(engine)
    }

    /// An engine at `time` with blocks and their events from `block`.
    fn build<E>(
        world: &'w W,
        observer: W::Observer,
        n_blocks: u32,
        n_workers: u32,
        speculation: Speculation,
        time: Time,
        mut block: impl FnMut(Range<u32>) -> Result<(Block<W::State>, Vec<W::Event>), E>,
    ) -> Result<Self, E> {
        let layout = world.layout(n_blocks);
        let grid = WindowGrid::at(world.lookahead(), time);
        let n_workers = (n_workers as usize).clamp(1, layout.n_blocks());
        let mut workers: Vec<Speculator<W>> = (0..n_workers)
            .map(|_| Speculator::new(world, observer.clone(), grid, &layout))
            .collect();
        for (number, owner) in layout.owners(n_workers).into_iter().enumerate() {
            let (block, first) = block(layout.lps(number))?;
            workers[owner].add(number, block, first);
        }
        Ok(OptimisticEngine {
            world,
            rounds: Rounds::new((n_workers, layout.n_blocks()), speculation),
            workers,
            outcome: Outcome::default(),
            now: time,
            before: 0,
            wall: Duration::ZERO,
        })
    }

    /// Number of workers.
    pub fn workers(&self) -> usize {
        self.workers.len()
    }

    /// What speculation did so far.
    pub fn speculated(&self) -> Speculated {
        let agreed = &self.rounds.agreed;
        let mut all = Speculated {
            rounds: agreed.rounds,
            peak_kept: agreed.peak_kept,
            deepest: agreed.deepest,
            ..Speculated::default()
        };
        for worker in &self.workers {
            let counts = worker.counts();
            all.executed += counts.executed;
            all.rolled_back += counts.rolled_back;
            all.committed += counts.committed;
            all.safe += worker.safe;
            all.antis += worker.taken_back;
        }
        all
    }

    fn blocks(&self) -> impl Iterator<Item = &Block<W::State>> {
        self.workers.iter().flat_map(|worker| &worker.blocks)
    }
}

impl<W: World> Engine<W> for OptimisticEngine<'_, W> {
    fn run(&mut self, until: Time, watch: Watch<'_, W>) -> Stop {
        loop {
            let Some(index) = self.workers.iter().filter_map(Speculator::next_window).min() else {
                return Stop::Idle;
            };
            if index * self.workers[0].lanes.grid.width >= until.0 {
                self.now = self.now.max(until);
                return Stop::Until;
            }
            let bounds = Bounds {
                index,
                until,
                events: WATCH_EVENTS * self.workers.len() as u64,
                windows: WATCH_ROUNDS * if self.workers.len() == 1 { 1 } else { 8 },
                together: 1,
            };
            let begun = Instant::now();
            let burst = self.rounds.run(self.world, &mut self.workers, bounds);
            self.wall += begun.elapsed();
            self.outcome.windows += burst.windows;
            let committed = self.workers.iter().map(|worker| worker.counts().committed);
            self.outcome.events = self.before + committed.sum::<u64>();
            if let Some(reason) = self.workers.iter().find_map(|worker| worker.lanes.broken) {
                return Stop::Broken(reason);
            }
            let grid = &self.workers[0].lanes.grid;
            self.now = Time(grid.start.min(until.0)).max(self.now);
            let progress = Progress {
                now: self.now,
                events: self.outcome.events,
            };
            match burst.pause {
                Pause::Idle => return Stop::Idle,
                Pause::Until => {
                    self.now = until;
                    return Stop::Until;
                }
                Pause::Enough if !watch(&self.view(), progress) => return Stop::Interrupted,
                Pause::Enough | Pause::Broken => {}
            }
        }
    }

    fn view(&self) -> View<'_, W> {
        View::new(
            self.blocks().map(|block| &block.state).collect(),
            self.workers.iter().map(|worker| &worker.lanes.observer).collect(),
        )
    }

    fn digests(&self) -> Vec<u64> {
        by_name(self.world, self.blocks())
    }

    fn outcome(&self) -> Outcome {
        self.outcome
    }

    fn teamwork(&self) -> Option<Teamwork> {
        let clocks = || self.workers.iter().map(|worker| worker.clock);
        let wait: Duration = clocks().map(|clock| clock.wait).sum();
        let busy: Duration = clocks().map(|clock| clock.busy).sum();
        let teamwork = Teamwork {
            workers: self.workers.len(),
            events_shared: self.outcome.events - self.before,
            windows_shared: self.rounds.agreed.rounds,
            wall_shared: self.wall,
            waiting: wait.as_secs_f64() / (wait + busy).as_secs_f64().max(1e-9),
            ..Teamwork::default()
        };
        (self.workers.len() > 1).then_some(teamwork)
    }

    fn reached(&self) -> Time {
        self.now
    }

    fn save(&self) -> Vec<u8> {
        checkpoint::write(self.world, self, self.blocks().map(Block::part))
    }

    fn speculated(&self) -> Option<Speculated> {
        Some(OptimisticEngine::speculated(self))
    }

    fn pending(&self, show: &mut dyn FnMut(&W::Event)) {
        for worker in &self.workers {
            worker.pending(show);
        }
    }

    fn into_parts(self: Box<Self>) -> (Vec<W::State>, W::Observer, Outcome) {
        let mut states = Vec::new();
        let mut observers = Vec::new();
        for worker in self.workers {
            states.extend(worker.blocks.into_iter().map(|block| block.state));
            observers.push(worker.lanes.observer);
        }
        (states, merged(observers), self.outcome)
    }
}

#[cfg(test)]
mod tests;
