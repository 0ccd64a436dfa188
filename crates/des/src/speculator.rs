//! A worker that runs ahead: its blocks with their histories, what is pending for them, and the sweep of a round.
//!
//! The rings hold everything that has not been taken into a window, of windows that have been run as well: a bucket of such a window
//! that is not empty is a straggler. So the first occupied bucket tells where the next sweep has to begin.

use crate::block::{Block, run_block};
use crate::column::NoJournal;
use crate::differ::{Changes, annihilate};
use crate::history::{EventCounts, History, Open};
use crate::layout::Layout;
use crate::pass::{PANICKED, survives};
use crate::pool::Pool;
use crate::ring::{Rings, WindowGrid};
use crate::sort::{Scratch, by_lp};
use crate::time::Time;
use crate::worker::{Clock, Lanes};
use crate::world::{Event, World};
use std::collections::BTreeMap;
use std::ops::Range;

/// Runs some blocks, neighbours of each other, ahead of the commit.
pub(crate) struct Speculator<W: World> {
    /// Pending events by block; those of blocks of others hold what was sent there in this round. The first window that is not
    /// committed is the open one.
    pub(crate) lanes: Lanes<W>,
    /// Events to be taken back, in the same way.
    pub(crate) antis: Rings<W::Event>,
    /// All windows before it have been run, at least once.
    done: u64,
    /// Number of the first block.
    pub(crate) first: usize,
    pub(crate) blocks: Vec<Block<W::State>>,
    histories: Vec<History<W>>,
    /// Events of windows that were safe when they were run.
    pub(crate) safe: u64,
    pub(crate) clock: Clock,
    /// Events taken back so far.
    pub(crate) taken_back: u64,
    changes: Changes<W::Event>,
    scratch: Scratch<W::Event>,
    /// Of the block whose window is open.
    batch: Vec<Vec<W::Event>>,
    /// Events for a block in its window, and those to be taken back.
    news: Vec<W::Event>,
    taken: Vec<W::Event>,
}

/// How far the windows of a round go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    /// The window behind the last one.
    pub(crate) frontier: u64,
    /// With more bytes kept, windows beyond the first are left for later.
    pub(crate) most_kept: usize,
}

impl<W: World> Speculator<W> {
    /// A worker without blocks.
    pub(crate) fn new(world: &W, observer: W::Observer, grid: WindowGrid, layout: &Layout) -> Self {
        Speculator {
            lanes: Lanes::new(world, observer, grid, layout),
            antis: Rings::new(layout.n_blocks()),
            done: 0,
            first: 0,
            blocks: Vec::new(),
            histories: Vec::new(),
            safe: 0,
            clock: Clock::default(),
            taken_back: 0,
            changes: Changes {
                sent: Vec::new(),
                taken_back: Vec::new(),
            },
            scratch: Scratch::default(),
            batch: Vec::new(),
            news: Vec::new(),
            taken: Vec::new(),
        }
    }

    /// Takes over a block, the next one after those it has.
    pub(crate) fn add(&mut self, number: usize, block: Block<W::State>, first: Vec<W::Event>) {
        if self.blocks.is_empty() {
            self.first = number;
        }
        for event in first {
            let lanes = &mut self.lanes;
            lanes.rings[(event.lp() >> lanes.shift) as usize].insert(&lanes.grid, event, &mut lanes.pool);
        }
        self.histories.push(History::new(block.lps.len()));
        self.blocks.push(block);
    }

    /// The numbers of its blocks.
    pub(crate) fn own(&self) -> Range<usize> {
        self.first..self.first + self.blocks.len()
    }

    /// The next window in which one of its blocks has something to do or to mend, if any.
    pub(crate) fn next_window(&self) -> Option<u64> {
        let grid = &self.lanes.grid;
        let rings = self.lanes.rings[self.own()].iter().chain(&self.antis[self.own()]);
        let events = rings.filter_map(|ring| ring.next_window(grid)).min();
        let earliest = self.blocks.iter().map(|block| block.wakes.earliest()).min();
        let earliest = earliest.filter(|&time| time != u64::MAX);
        // An LP that wakes sooner is one that has been woken: the bound was too low.
        let wake = earliest.map(|time| (time / grid.width).max(self.done));
        [events, wake].into_iter().flatten().min()
    }

    /// Bytes kept.
    pub(crate) fn kept(&self) -> usize {
        self.histories.iter().map(|history| history.kept).sum()
    }

    /// Events so far.
    pub(crate) fn counts(&self) -> EventCounts {
        let mut all = EventCounts {
            executed: self.safe,
            rolled_back: 0,
            committed: self.safe,
        };
        for history in &self.histories {
            all.executed += history.counts.executed;
            all.rolled_back += history.counts.rolled_back;
            all.committed += history.counts.committed;
        }
        all
    }

    /// Runs all windows up to the frontier: those that have been run where something has changed, the others as a whole, the first of
    /// all for good. Stops before the frontier if too much is kept. Returns the most that was kept.
    pub(crate) fn sweep(&mut self, world: &W, reach: Reach) -> usize {
        let mut peak = 0;
        let mut window = self.next_window().unwrap_or(u64::MAX);
        // The frontier may have come back, but what has been run is mended to its end: nobody stays behind.
        let end = reach.frontier.max(self.done);
        while window < end {
            let open = self.open(window);
            if window < self.done {
                self.mend(world, open);
                window += 1;
                if window < self.done {
                    continue;
                }
                self.histories.iter_mut().for_each(History::caught_up);
            } else if window == self.lanes.grid.index {
                // Whatever was sent to it is here, and nobody has been ahead of it.
                self.run_safe(world, open);
                self.done = window + 1;
            } else {
                if self.kept() > reach.most_kept {
                    self.done = window;
                    return peak;
                }
                self.run(world, open);
                self.done = window + 1;
            }
            peak = peak.max(self.kept());
            window = self.next_window().unwrap_or(u64::MAX);
        }
        self.done = self.done.max(reach.frontier);
        peak
    }

    /// Runs the first window that is not committed up to `until`, where the run ends. What is left of the window is yet to be run.
    pub(crate) fn run_cut(&mut self, world: &W, until: Time) {
        let window = self.lanes.grid.index;
        debug_assert!(self.done <= window, "no window that the run's end cuts is run ahead");
        let open = Open {
            end: until.0,
            ..self.open(window)
        };
        self.run_safe(world, open);
    }

    /// Shows every pending event of its blocks but those that are taken back.
    pub(crate) fn pending(&self, show: &mut dyn FnMut(&W::Event)) {
        let mut antis: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
        let own = self.own();
        for ring in &self.antis[own.clone()] {
            ring.for_each(&mut |event| *antis.entry(bytemuck::bytes_of(event).to_vec()).or_default() += 1);
        }
        for ring in &self.lanes.rings[own] {
            ring.for_each(&mut |event| match antis.get_mut(bytemuck::bytes_of(event)) {
                Some(n) if *n > 0 => *n -= 1,
                _ => show(event),
            });
        }
    }

    /// A whole window.
    fn open(&self, index: u64) -> Open {
        let start = index * self.lanes.grid.width;
        Open {
            index,
            start,
            end: start + self.lanes.grid.width,
        }
    }

    /// Runs the first window that is not committed, for good: no event can come to it any more and none of its LPs is ahead of it, so
    /// that nothing has to be kept. This is the conservative worker's loop.
    fn run_safe(&mut self, world: &W, open: Open) {
        let lanes = &mut self.lanes;
        let (index, seed) = (open.index, world.seed());
        let is_cut = open.end < open.start + lanes.grid.width;
        lanes.end = open.end;
        for (i, block) in self.blocks.iter_mut().enumerate() {
            let number = self.first + i;
            self.histories[i].begin_at(index + u64::from(!is_cut));
            let (batch, antis) = (&mut self.batch, &mut self.taken);
            let n = lanes.rings[number].take(index, batch);
            if n > 0 {
                let n_lps = block.lps.end - block.lps.start;
                self.scratch.sort(batch, n, (block.lps.start, n_lps), &lanes.grid, seed);
            }
            batch.drain(..).for_each(|buffer| lanes.pool.give(buffer));
            antis.clear();
            self.antis[number].take_into(index, antis, &mut lanes.pool);
            let mut some = Vec::new();
            let mut order = &self.scratch.order[..n];
            if is_cut || !antis.is_empty() {
                some.extend_from_slice(order);
                antis.sort_unstable_by(|a, b| by_lp(a, b, seed));
                annihilate(&mut some, antis, seed);
                some.retain(|event| {
                    let stays = event.time().0 >= open.end;
                    if stays {
                        lanes.rings[number].push(index, *event, &mut lanes.pool);
                    }
                    !stays
                });
                order = &some;
            }
            let ran = survives(|| {
                self.safe += run_block(world, block, &mut NoJournal, order, Time(open.end), lanes);
            });
            if !ran {
                lanes.broken = lanes.broken.or(Some(PANICKED));
            }
        }
    }

    /// Runs a window for the first time, ahead of the commit.
    fn run(&mut self, world: &W, open: Open) {
        let seed = world.seed();
        let lanes = &mut self.lanes;
        let mut grid = lanes.grid;
        grid.open(open.index);
        for i in 0..self.blocks.len() {
            let (block, history) = (&mut self.blocks[i], &mut self.histories[i]);
            let number = self.first + i;
            let (batch, antis) = (&mut self.batch, &mut self.taken);
            let n = lanes.rings[number].take(open.index, batch);
            if n > 0 {
                let n_lps = block.lps.end - block.lps.start;
                self.scratch.sort(batch, n, (block.lps.start, n_lps), &grid, seed);
            }
            batch.drain(..).for_each(|buffer| lanes.pool.give(buffer));
            if n == 0 && block.wakes.earliest() >= open.end {
                continue;
            }
            antis.clear();
            self.antis[number].take_into(open.index, antis, &mut lanes.pool);
            history.fill(open.index, &self.scratch.order[..n], antis, seed);
            let sent = history.run(world, block, open);
            deliver(&mut lanes.rings, &lanes.grid, lanes.shift, sent, &mut lanes.pool);
        }
    }

    /// Brings a window that has been run up to date.
    fn mend(&mut self, world: &W, open: Open) {
        for i in 0..self.blocks.len() {
            let (block, history) = (&mut self.blocks[i], &mut self.histories[i]);
            let number = self.first + i;
            let (news, antis, pool) = (&mut self.news, &mut self.taken, &mut self.lanes.pool);
            news.clear();
            antis.clear();
            self.lanes.rings[number].take_into(open.index, news, pool);
            self.antis[number].take_into(open.index, antis, pool);
            if history.is_behind() || !news.is_empty() || !antis.is_empty() {
                history.patch(world, block, open, (news, antis), &mut self.changes);
            }
        }
        let Lanes {
            rings,
            grid,
            shift,
            pool,
            ..
        } = &mut self.lanes;
        deliver(rings, grid, *shift, &self.changes.sent, pool);
        deliver(&mut self.antis, grid, *shift, &self.changes.taken_back, pool);
        self.taken_back += self.changes.taken_back.len() as u64;
        self.changes.sent.clear();
        self.changes.taken_back.clear();
    }

    /// Makes `base` the first window that is not committed; `None`: there is nothing beyond.
    pub(crate) fn commit(&mut self, base: Option<u64>) {
        for history in &mut self.histories {
            let broken = history.commit(base.unwrap_or(self.done), &mut self.lanes.observer);
            self.lanes.broken = self.lanes.broken.or(broken);
        }
        if let Some(base) = base {
            self.done = self.done.max(base);
            let own = self.own();
            let Lanes { rings, grid, pool, .. } = &mut self.lanes;
            grid.open(base);
            for ring in rings[own.clone()].iter_mut().chain(&mut self.antis[own]) {
                ring.draw_near(grid, pool);
            }
        }
    }
}

/// Puts events into the rings of their blocks.
fn deliver<E: Event>(rings: &mut Rings<E>, grid: &WindowGrid, shift: u32, events: &[E], pool: &mut Pool<E>) {
    for event in events {
        rings.of(event.lp() >> shift).insert(grid, *event, pool);
    }
}
