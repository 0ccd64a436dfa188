//! The window engine: all events of a window at once, ordered by one radix pass, run LP by LP.
//!
//! A window is as wide as the world's lookahead, so that nothing an LP does within it can reach another LP before it ends. LPs are
//! grouped in blocks, each with a ring of window buckets of its own, so that a block's sort and state stay in the second-level cache.
//! Windows without events are skipped; an LP that acts by itself (a waiting packet, a source) says when through its wake time.
//!
//! Blocks are shared out to workers. One worker runs on the calling thread without any synchronisation; several meet once per window.

use crate::block::Block;
use crate::checkpoint::{self, Opened, Part, Torn};
use crate::crew::{Bounds, Burst, Crew, Pause};
use crate::engine::{Engine, Outcome, Progress, Stop, View, Watch};
use crate::ring::Grid;
use crate::rollback::Checker;
use crate::time::Time;
use crate::worker::{MAX_BLOCKS, Worker};
use crate::world::{Event, Observe, World};
use std::convert::Infallible;
use std::ops::Range;

/// Events after which the watcher is asked, per worker.
const WATCH_EVENTS: u64 = 1 << 18;
/// Windows after which the watcher is asked at the latest.
const WATCH_WINDOWS: u64 = 1 << 12;

/// Runs a world window by window.
pub struct WindowEngine<'w, W: World> {
    world: &'w W,
    workers: Vec<Worker<W>>,
    crew: Crew<W::Event>,
    outcome: Outcome,
    reached: Time,
}

impl<'w, W: World> WindowEngine<'w, W> {
    /// Narrowest window the engine takes, in ps; below it the reference engine's total order is the better loop.
    pub const MIN_WIDTH: u64 = 2;

    /// An engine with one worker on about `n_blocks` blocks, at most 64.
    pub fn new(world: &'w W, observer: W::Observer, n_blocks: u32) -> Self {
        Self::with_workers(world, observer, n_blocks, 1)
    }

    /// An engine with `n_workers` workers, on as many threads, on about `n_blocks` blocks, at most 64; no more workers than blocks.
    pub fn with_workers(world: &'w W, observer: W::Observer, n_blocks: u32, n_workers: u32) -> Self {
        let block = |lps| Ok::<_, Infallible>(Block::new(world, lps));
        let Ok(engine) = Self::build(world, observer, n_blocks, n_workers, Time::ZERO, block);
        engine
    }

    /// [`WindowEngine::with_workers`] that goes on from what an engine has saved; `observer` is one that has seen nothing.
    ///
    /// # Errors
    /// The bytes are not those of a run of this world.
    pub fn restore(
        world: &'w W,
        observer: W::Observer,
        saved: &[u8],
        n_blocks: u32,
        n_workers: u32,
    ) -> Result<Self, Torn> {
        let opened = Opened::read(world, saved)?;
        let block = |lps| Block::restore(world, lps, &opened);
        let mut engine = Self::build(world, observer, n_blocks, n_workers, opened.time, block)?;
        engine.outcome = opened.outcome;
        engine.workers[0].lanes.observer = opened.observer;
        Ok(engine)
    }

    /// An engine at `time` with blocks and their events from `block`.
    fn build<E>(
        world: &'w W,
        observer: W::Observer,
        n_blocks: u32,
        n_workers: u32,
        time: Time,
        mut block: impl FnMut(Range<u32>) -> Result<(Block<W>, Vec<W::Event>), E>,
    ) -> Result<Self, E> {
        let n_lps = world.n_lps().max(1);
        let per_block = n_lps.div_ceil(n_blocks.clamp(1, MAX_BLOCKS as u32)).next_power_of_two();
        let shift = per_block.ilog2();
        let n_blocks = n_lps.div_ceil(per_block);
        let mut grid = Grid::new(world.lookahead().0.clamp(Self::MIN_WIDTH, Grid::MAX_WIDTH));
        grid.open(time.0 / grid.width);
        let n_workers = n_workers.clamp(1, n_blocks) as usize;
        let mut workers: Vec<Worker<W>> = (0..n_workers)
            .map(|_| Worker::new(world, observer.clone(), grid, shift))
            .collect();
        for number in 0..n_blocks {
            let lps = number << shift..world.n_lps().min((number + 1) << shift);
            let (block, first) = block(lps)?;
            // The first LP decides: whole blocks, as even as they allow.
            let worker = &mut workers[(u64::from(number) * n_workers as u64 / u64::from(n_blocks)) as usize];
            if worker.blocks.is_empty() {
                worker.first = number as usize;
            }
            worker.blocks.push(block);
            for event in first {
                worker.lanes.rings[(event.lp() >> shift) as usize].insert(&grid, event);
            }
        }
        Ok(WindowEngine {
            world,
            crew: Crew::new(n_workers),
            workers,
            outcome: Outcome::default(),
            reached: time,
        })
    }

    /// Number of workers.
    pub fn workers(&self) -> usize {
        self.workers.len()
    }

    /// The next window with something to do, if any.
    fn next_window(&self) -> Option<u64> {
        self.workers.iter().filter_map(Worker::next_window).min()
    }

    /// One worker's windows on the calling thread.
    fn run_alone(&mut self, bounds: Bounds, mut check: Option<&mut Checker<W>>) -> Burst {
        let mut burst = Burst {
            pause: Pause::Enough,
            events: 0,
            windows: 0,
        };
        let mut index = bounds.index;
        let worker = &mut self.workers[0];
        loop {
            burst.events += worker.run_window(self.world, index, bounds.until, check.as_deref_mut());
            burst.windows += 1;
            if worker.lanes.broken.is_some() || check.as_deref().is_some_and(|checker| checker.failure().is_some()) {
                burst.pause = Pause::Broken;
                return burst;
            }
            if worker.lanes.end == bounds.until.0 {
                burst.pause = Pause::Until;
                return burst;
            }
            if burst.events >= bounds.events || burst.windows >= bounds.windows {
                return burst;
            }
            match worker.next_window() {
                None => {
                    burst.pause = Pause::Idle;
                    return burst;
                }
                Some(next) => index = next,
            }
            if index * worker.lanes.grid.width >= bounds.until.0 {
                burst.pause = Pause::Until;
                return burst;
            }
        }
    }

    pub(crate) fn run_checked(&mut self, until: Time, watch: Watch<'_, W>, mut check: Option<&mut Checker<W>>) -> Stop {
        loop {
            let width = self.workers[0].lanes.grid.width;
            let Some(index) = self.next_window() else {
                return Stop::Idle;
            };
            if index * width >= until.0 {
                self.reached = until;
                return Stop::Until;
            }
            let bounds = Bounds {
                index,
                until,
                events: WATCH_EVENTS * self.workers.len() as u64,
                windows: WATCH_WINDOWS * if self.workers.len() == 1 { 1 } else { 8 },
            };
            let burst = match self.workers.len() {
                1 => self.run_alone(bounds, check.as_deref_mut()),
                _ => self.crew.run(self.world, &mut self.workers, bounds),
            };
            self.outcome.events += burst.events;
            self.outcome.windows += burst.windows;
            let broken = self.workers.iter().find_map(|worker| worker.lanes.broken);
            let failed = check.as_deref().and_then(|checker| checker.failure());
            if let Some(reason) = broken.or(failed) {
                return Stop::Broken(reason);
            }
            self.reached = Time(self.workers[0].lanes.end);
            if self.reached == until {
                return Stop::Until;
            }
            let progress = Progress {
                now: self.reached,
                events: self.outcome.events,
            };
            if burst.pause == Pause::Enough && !watch(&self.view(), progress) {
                return Stop::Interrupted;
            }
        }
    }

    fn blocks(&self) -> impl Iterator<Item = &Block<W>> {
        self.workers.iter().flat_map(|worker| &worker.blocks)
    }
}

impl<W: World> Engine<W> for WindowEngine<'_, W> {
    fn run(&mut self, until: Time, watch: Watch<'_, W>) -> Stop {
        self.run_checked(until, watch, None)
    }

    fn view(&self) -> View<'_, W> {
        View {
            states: self.blocks().map(|block| &block.state).collect(),
            observers: self.workers.iter().map(|worker| &worker.lanes.observer).collect(),
        }
    }

    fn digests(&self) -> Vec<u64> {
        self.blocks().flat_map(|block| block.wakes.digests()).copied().collect()
    }

    fn outcome(&self) -> Outcome {
        self.outcome
    }

    fn reached(&self) -> Time {
        self.reached
    }

    fn save(&self) -> Vec<u8> {
        let parts = self.blocks().map(|block| Part {
            lps: block.lps.clone(),
            state: &block.state,
            wakes: block.wakes.times().to_vec(),
            digests: block.wakes.digests(),
        });
        checkpoint::write(self.world, self, parts)
    }

    fn pending(&self, show: &mut dyn FnMut(&W::Event)) {
        for ring in self.workers.iter().flat_map(|worker| worker.lanes.rings.iter()) {
            ring.for_each(show);
        }
    }

    fn into_parts(self: Box<Self>) -> (Vec<W::State>, W::Observer, Outcome) {
        let mut states = Vec::new();
        let mut all: Option<W::Observer> = None;
        for worker in self.workers {
            states.extend(worker.blocks.into_iter().map(|block| block.state));
            match &mut all {
                None => all = Some(worker.lanes.observer),
                Some(all) => all.merge(worker.lanes.observer),
            }
        }
        (states, all.expect("an engine has a worker"), self.outcome)
    }
}
