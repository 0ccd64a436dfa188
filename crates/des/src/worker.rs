//! A worker: the blocks it runs, their pending events, and the sink of their handlers.

use crate::block::{Block, run_block};
use crate::checker::Checker;
use crate::column::{Mark, NoJournal};
use crate::late::{Before, LEFT_BEHIND, Late, LateEvents};
use crate::layout::Layout;
use crate::pool::Pool;
use crate::ring::{Rings, WindowGrid};
use crate::sort::Scratch;
use crate::time::Time;
use crate::world::{Event, Observe, Outbox, World, check_sent_at};
use std::ops::Range;
use std::time::Duration;

/// Pending events by block, and the window that is open.
///
/// The rings of the worker's own blocks hold all that is to come; those of other blocks what it has sent there in this window.
pub(crate) struct Lanes<W: World> {
    pub(crate) rings: Rings<W::Event>,
    /// Buffers for all of them.
    pub(crate) pool: Pool<W::Event>,
    pub(crate) grid: WindowGrid,
    /// End of the open window; earlier than the grid's where a run ends within a window.
    pub(crate) end: u64,
    /// An LP's block is `lp >> shift`.
    pub(crate) shift: u32,
    /// Number of blocks of all workers.
    pub(crate) n_blocks: usize,
    late: LateEvents<W::Event>,
    lp: u32,
    seed: u64,
    pub(crate) broken: Option<&'static str>,
    pub(crate) observer: W::Observer,
}

/// Where a worker's time went, measured in some of its windows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    pub(crate) busy: Duration,
    pub(crate) wait: Duration,
}

/// Runs some blocks, neighbours of each other.
pub(crate) struct Worker<W: World> {
    pub(crate) lanes: Lanes<W>,
    /// Number of the first block.
    pub(crate) first: usize,
    pub(crate) blocks: Vec<Block<W::State>>,
    pub(crate) clock: Clock,
    scratch: Scratch<W::Event>,
    /// Of the block whose window is open.
    batch: Vec<Vec<W::Event>>,
}

impl<W: World> Lanes<W> {
    /// Nothing pending.
    pub(crate) fn new(world: &W, observer: W::Observer, grid: WindowGrid, layout: &Layout) -> Self {
        Lanes {
            rings: Rings::new(layout.n_blocks()),
            pool: Pool::default(),
            grid,
            end: 0,
            shift: layout.shift(),
            n_blocks: layout.n_blocks(),
            late: LateEvents::default(),
            lp: 0,
            seed: world.seed(),
            broken: None,
            observer,
        }
    }

    /// An event inside the open window, which is allowed for the own LP only, or beyond the ring.
    #[cold]
    #[inline(never)]
    fn send_elsewhere(&mut self, event: W::Event) {
        let (time, grid) = (event.time().0, &self.grid);
        let block = (event.lp() >> self.shift) as usize;
        if time < grid.start {
            self.broken = Some("an event was sent into the past");
        } else if time >= grid.start + grid.width {
            self.rings[block].push_far(event);
        } else if time >= self.end {
            self.rings[block].push(grid.index, event, &mut self.pool);
        } else if event.lp() == self.lp {
            self.late.insert(event, self.seed);
        } else {
            self.broken = Some("an event reached another logical process within the lookahead");
        }
    }
}

impl<W: World> Outbox<W::Event, W::Record> for Lanes<W> {
    const HOT: bool = true;

    #[inline(always)]
    fn send_at(&mut self, time: Time, event: W::Event) {
        check_sent_at(&event, time);
        match self.grid.coming(time.0) {
            Some(window) => {
                let ring = self.rings.of(event.lp() >> self.shift);
                ring.push(window, event, &mut self.pool);
            }
            None => self.send_elsewhere(event),
        }
    }

    #[inline(always)]
    fn record(&mut self, record: W::Record) {
        self.observer.see(record);
    }
}

impl<W: World> Late<W::Event> for Lanes<W> {
    #[inline(always)]
    fn enter(&mut self, lp: u32, _before: Before) {
        self.lp = lp;
    }

    #[inline(always)]
    fn late(&mut self) -> &mut LateEvents<W::Event> {
        &mut self.late
    }

    #[inline(always)]
    fn leave(&mut self, _mark: Mark, _left: usize) {
        if self.late.leave_behind() {
            self.broken = Some(LEFT_BEHIND);
        }
    }
}

impl<W: World> Worker<W> {
    /// A worker without blocks.
    pub(crate) fn new(world: &W, observer: W::Observer, grid: WindowGrid, layout: &Layout) -> Self {
        Worker {
            lanes: Lanes::new(world, observer, grid, layout),
            first: 0,
            blocks: Vec::new(),
            clock: Clock::default(),
            scratch: Scratch::default(),
            batch: Vec::new(),
        }
    }

    /// The numbers of its blocks.
    pub(crate) fn own(&self) -> Range<usize> {
        self.first..self.first + self.blocks.len()
    }

    /// The next window in which one of its blocks has something to do, if any.
    pub(crate) fn next_window(&self) -> Option<u64> {
        let grid = &self.lanes.grid;
        let rings = &self.lanes.rings[self.own()];
        let events = rings.iter().filter_map(|ring| ring.next_window(grid)).min();
        let earliest = self.blocks.iter().map(|block| block.wakes.earliest()).min();
        let earliest = earliest.filter(|&time| time != u64::MAX);
        let wake = earliest.map(|time| (time / grid.width).max(grid.index));
        match (events, wake) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Runs all of `windows` in which its blocks have something to do, up to `until`, and leaves the last of them open; returns the
    /// events handled.
    pub(crate) fn run_windows(&mut self, world: &W, windows: Range<u64>, until: Time) -> u64 {
        let width = self.lanes.grid.width;
        // The last one begins before the run ends.
        let last = (windows.end - 1).min((until.0 - 1) / width);
        let mut handled = 0;
        let mut index = windows.start;
        // The first one is opened anyhow: it takes in what is far.
        while index <= last && self.lanes.broken.is_none() {
            handled += self.run_window(world, index, until, None);
            index = self.next_window().unwrap_or(u64::MAX).max(index + 1);
        }
        self.lanes.grid.open(last);
        self.lanes.end = (self.lanes.grid.start + width).min(until.0);
        handled
    }

    /// Opens window `index` and runs its blocks up to `until`; returns the events handled.
    pub(crate) fn run_window(&mut self, world: &W, index: u64, until: Time, mut check: Option<&mut Checker<W>>) -> u64 {
        let lanes = &mut self.lanes;
        lanes.grid.open(index);
        lanes.end = (lanes.grid.start + lanes.grid.width).min(until.0);
        let end = Time(lanes.end);
        let mut handled = 0;
        for (number, block) in (self.first..).zip(&mut self.blocks) {
            let ring = &mut lanes.rings[number];
            let pool = &mut lanes.pool;
            ring.draw_near(&lanes.grid, pool);
            let batch = &mut self.batch;
            let mut n = ring.take(index, batch);
            if lanes.end < lanes.grid.start + lanes.grid.width {
                // The run ends within this window: what is later stays.
                let later = |event: &mut W::Event| event.time() >= end;
                for event in batch.iter_mut().flat_map(|buffer| buffer.extract_if(.., later)) {
                    ring.push(index, event, pool);
                    n -= 1;
                }
            }
            if n > 0 {
                let n_lps = block.lps.end - block.lps.start;
                self.scratch
                    .sort(batch, n, (block.lps.start, n_lps), &lanes.grid, lanes.seed);
            }
            batch.drain(..).for_each(|buffer| pool.give(buffer));
            let order = &self.scratch.order[..n];
            handled += match &mut check {
                None => run_block(world, block, &mut NoJournal, order, end, lanes),
                Some(checker) => checker.run_block(world, block, order, end, lanes),
            };
        }
        handled
    }
}
