//! The window engine: all events of a window at once, ordered by one radix pass, run LP by LP.
//!
//! A window is as wide as the world's lookahead, so that nothing an LP does within it can reach another LP before it ends. LPs are
//! grouped in blocks, each with a ring of window buckets of its own, so that a block's sort and state stay in the second-level cache.
//! Windows without events are skipped; an LP that acts by itself (a waiting packet, a source) says when through its wake time.
//!
//! Blocks are shared out to workers. One worker runs on the calling thread without any synchronisation; several meet once per window.

use crate::block::{Block, by_name};
use crate::checker::Checker;
use crate::checkpoint::{self, OpenedCheckpoint};
use crate::choice::WorkerChoice;
use crate::crew::{Bounds, Burst, Crew, Pause};
use crate::engine::{Engine, Outcome, Progress, Stop, Teamwork, View, Watch, merged};
use crate::layout::Layout;
use crate::pack::Torn;
use crate::ring::{SLOTS, WindowGrid};
use crate::time::Time;
use crate::worker::Worker;
use crate::world::World;
use std::convert::Infallible;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Events after which the watcher is asked, per worker.
const WATCH_EVENTS: u64 = 1 << 18;
/// Windows after which the watcher is asked at the latest.
const WATCH_WINDOWS: u64 = 1 << 12;

/// Runs a world window by window.
pub struct WindowEngine<'w, W: World> {
    world: &'w W,
    layout: Layout,
    /// Windows from one meeting of all workers to the next.
    together: u64,
    workers: Vec<Worker<W>>,
    /// Workers that have blocks: the first, or all.
    active: usize,
    crew: Crew<W::Event>,
    /// Decides between one worker and all, where that is left to the engine.
    choice: Option<WorkerChoice>,
    outcome: Outcome,
    teamwork: Teamwork,
    reached: Time,
}

/// Windows that `n` workers can run from one meeting to the next: nothing that one sends reaches another within them.
pub(crate) fn windows_together<W: World>(world: &W, layout: &Layout, n: usize) -> u64 {
    if n == 1 {
        return 1;
    }
    let owners = layout.owners(n);
    let across = world.lookahead_across(&|lp| owners[(lp >> layout.shift()) as usize]);
    let width = WindowGrid::at(world.lookahead(), Time::ZERO).width;
    (across.0 / width).clamp(1, SLOTS as u64 / 2)
}

impl<'w, W: World> WindowEngine<'w, W> {
    /// Narrowest window the engine takes, in ps; below it the reference engine's total order is the better loop.
    pub const MIN_WIDTH: u64 = WindowGrid::MIN_WIDTH;

    /// An engine with one worker on about `n_blocks` blocks, at most [`MAX_BLOCKS`](crate::layout::MAX_BLOCKS) (see [`World::layout`]).
    pub fn new(world: &'w W, observer: W::Observer, n_blocks: u32) -> Self {
        Self::with_workers(world, observer, n_blocks, 1)
    }

    /// An engine with `n_workers` workers, on as many threads, on about `n_blocks` blocks, at most as many; no more workers than blocks.
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
        let opened = OpenedCheckpoint::read(world, saved)?;
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
        mut block: impl FnMut(Range<u32>) -> Result<(Block<W::State>, Vec<W::Event>), E>,
    ) -> Result<Self, E> {
        let layout = world.layout(n_blocks);
        let grid = WindowGrid::at(world.lookahead(), time);
        let n_workers = (n_workers as usize).clamp(1, layout.n_blocks());
        let mut workers: Vec<Worker<W>> = (0..n_workers)
            .map(|_| Worker::new(world, observer.clone(), grid, &layout))
            .collect();
        for number in 0..layout.n_blocks() {
            let (block, first) = block(layout.lps(number))?;
            workers[0].blocks.push(block);
            for event in first {
                let lanes = &mut workers[0].lanes;
                lanes.rings[number].insert(&grid, event, &mut lanes.pool);
            }
        }
        let together = windows_together(world, &layout, n_workers);
        let mut engine = WindowEngine {
            world,
            together,
            crew: Crew::new(n_workers, layout.n_blocks()),
            layout,
            workers,
            active: 1,
            choice: None,
            outcome: Outcome::default(),
            teamwork: Teamwork {
                workers: n_workers,
                together,
                ..Teamwork::default()
            },
            reached: time,
        };
        engine.share_out(n_workers);
        Ok(engine)
    }

    /// Lets the engine find out whether all workers or one are faster, and change over while it runs.
    pub fn adaptive(mut self) -> Self {
        self.choice = (self.workers.len() > 1).then(|| WorkerChoice::new(self.workers.len(), self.together));
        self
    }

    /// Shares the blocks out to the first `n` workers, as the layout has it.
    fn share_out(&mut self, n: usize) {
        if n == self.active {
            return;
        }
        self.active = n;
        let lanes = &self.workers[0].lanes;
        let (grid, end) = (lanes.grid, lanes.end);
        let mut blocks = Vec::new();
        for worker in &mut self.workers {
            worker.lanes.grid = grid;
            worker.lanes.end = end;
            for (number, block) in (worker.first..).zip(worker.blocks.drain(..)) {
                blocks.push((block, std::mem::take(&mut worker.lanes.rings[number])));
            }
        }
        let owners = self.layout.owners(n);
        for ((number, owner), (block, ring)) in owners.into_iter().enumerate().zip(blocks) {
            let worker = &mut self.workers[owner];
            if worker.blocks.is_empty() {
                worker.first = number;
            }
            worker.blocks.push(block);
            worker.lanes.rings[number] = ring;
        }
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
            let (workers, most) = match &self.choice {
                Some(choice) => choice.next(),
                None => (self.active, None),
            };
            self.share_out(workers);
            let watched = (
                WATCH_EVENTS * workers as u64,
                WATCH_WINDOWS * if workers == 1 { 1 } else { 8 },
            );
            let (events, windows) = most.map_or(watched, |(events, windows)| (events.min(watched.0), windows));
            let bounds = Bounds {
                index,
                until,
                events,
                windows,
                together: self.together,
            };
            let begun = Instant::now();
            let burst = match workers {
                1 => self.run_alone(bounds, check.as_deref_mut()),
                _ => self.crew.run(self.world, &mut self.workers, bounds),
            };
            let wall = begun.elapsed();
            if workers > 1 {
                self.teamwork.events_shared += burst.events;
                self.teamwork.windows_shared += burst.windows;
                self.teamwork.wall_shared += wall;
            }
            if let Some(choice) = &mut self.choice {
                choice.learn(burst.events, burst.windows, wall);
            }
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

    fn blocks(&self) -> impl Iterator<Item = &Block<W::State>> {
        self.workers.iter().flat_map(|worker| &worker.blocks)
    }
}

impl<W: World> Engine<W> for WindowEngine<'_, W> {
    fn run(&mut self, until: Time, watch: Watch<'_, W>) -> Stop {
        self.run_checked(until, watch, None)
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
            waiting: wait.as_secs_f64() / (wait + busy).as_secs_f64().max(1e-9),
            given_up: self.choice.as_ref().and_then(WorkerChoice::given_up),
            thin: self.choice.as_ref().and_then(WorkerChoice::thin),
            ..self.teamwork
        };
        (self.workers.len() > 1).then_some(teamwork)
    }

    fn reached(&self) -> Time {
        self.reached
    }

    fn save(&self) -> Vec<u8> {
        checkpoint::write(self.world, self, self.blocks().map(Block::part))
    }

    fn pending(&self, show: &mut dyn FnMut(&W::Event)) {
        for ring in self.workers.iter().flat_map(|worker| worker.lanes.rings.iter()) {
            ring.for_each(show);
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
