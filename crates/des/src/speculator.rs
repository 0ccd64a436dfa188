//! A worker that runs ahead: its blocks with their histories, what is pending for them, and the sweep of a round.
//!
//! The rings hold everything that has not been taken into a window, of windows that have been run as well: a bucket of such a window
//! that is not empty is a straggler. So the first occupied bucket tells where the next sweep has to begin.

use crate::block::Block;
use crate::differ::Changes;
use crate::history::{Counts, History, Open};
use crate::layout::Layout;
use crate::ring::{Grid, Ring};
use crate::sort::Scratch;
use crate::time::Time;
use crate::worker::MAX_BLOCKS;
use crate::world::{Event, World};
use std::collections::BTreeMap;
use std::ops::Range;

type Rings<E> = Box<[Ring<E>; MAX_BLOCKS]>;

/// Runs some blocks, neighbours of each other, ahead of the commit.
pub(crate) struct Speculator<W: World> {
    /// Pending events by block; those of blocks of others hold what was sent there in this round.
    pub(crate) rings: Rings<W::Event>,
    /// Events to be taken back, in the same way.
    pub(crate) antis: Rings<W::Event>,
    /// The first window that is not committed is the open one.
    pub(crate) grid: Grid,
    /// All windows before it have been run, at least once.
    done: u64,
    /// An LP's block is `lp >> shift`.
    shift: u32,
    pub(crate) n_blocks: usize,
    /// Number of the first block.
    pub(crate) first: usize,
    pub(crate) blocks: Vec<Block<W>>,
    histories: Vec<History<W>>,
    pub(crate) observer: W::Observer,
    pub(crate) broken: Option<&'static str>,
    /// Events taken back so far.
    pub(crate) taken_back: u64,
    changes: Changes<W::Event>,
    scratch: Scratch<W::Event>,
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
    pub(crate) fn new(observer: W::Observer, grid: Grid, layout: &Layout) -> Self {
        let rings = || Box::new(std::array::from_fn(|_| Ring::default()));
        Speculator {
            rings: rings(),
            antis: rings(),
            grid,
            done: 0,
            shift: layout.shift(),
            n_blocks: layout.n_blocks(),
            first: 0,
            blocks: Vec::new(),
            histories: Vec::new(),
            observer,
            broken: None,
            taken_back: 0,
            changes: Changes {
                sent: Vec::new(),
                taken_back: Vec::new(),
            },
            scratch: Scratch::default(),
        }
    }

    /// Takes over a block, the next one after those it has.
    pub(crate) fn add(&mut self, number: usize, block: Block<W>, first: Vec<W::Event>) {
        if self.blocks.is_empty() {
            self.first = number;
        }
        for event in first {
            self.rings[(event.lp() >> self.shift) as usize].insert(&self.grid, event);
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
        let rings = self.rings[self.own()].iter().chain(&self.antis[self.own()]);
        let events = rings.filter_map(|ring| ring.next_window(&self.grid)).min();
        let earliest = self.blocks.iter().map(|block| block.wakes.earliest()).min();
        let earliest = earliest.filter(|&time| time != u64::MAX);
        // An LP that wakes sooner is one that has been woken: the bound was too low.
        let wake = earliest.map(|time| (time / self.grid.width).max(self.done));
        [events, wake].into_iter().flatten().min()
    }

    /// Bytes kept.
    pub(crate) fn kept(&self) -> usize {
        self.histories.iter().map(|history| history.kept).sum()
    }

    /// Events so far.
    pub(crate) fn counts(&self) -> Counts {
        let mut all = Counts::default();
        for history in &self.histories {
            all.executed += history.counts.executed;
            all.rolled_back += history.counts.rolled_back;
            all.committed += history.counts.committed;
        }
        all
    }

    /// Runs all windows up to the frontier: those that have been run where something has changed, the others as a whole. Stops before
    /// the frontier if too much is kept. Returns the most that was kept.
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
            } else {
                let kept = self.kept();
                if kept > reach.most_kept && window > self.grid.index {
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

    /// Runs the first window that is not committed up to `until`, where the run ends, and commits that; all before it is committed, so
    /// that nothing can come in between. What is left of the window is yet to be run.
    pub(crate) fn run_cut(&mut self, world: &W, until: Time) {
        let window = self.grid.index;
        let open = Open {
            end: until.0,
            ..self.open(window)
        };
        self.run(world, open);
        for history in &mut self.histories {
            let broken = history.commit(window + 1, &mut self.observer);
            self.broken = self.broken.or(broken);
            history.reopen();
        }
        self.done = window;
    }

    /// Shows every pending event of its blocks but those that are taken back.
    pub(crate) fn pending(&self, show: &mut dyn FnMut(&W::Event)) {
        let mut antis: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
        let own = self.own();
        for ring in &self.antis[own.clone()] {
            ring.for_each(&mut |event| *antis.entry(bytemuck::bytes_of(event).to_vec()).or_default() += 1);
        }
        for ring in &self.rings[own] {
            ring.for_each(&mut |event| match antis.get_mut(bytemuck::bytes_of(event)) {
                Some(n) if *n > 0 => *n -= 1,
                _ => show(event),
            });
        }
    }

    /// A whole window.
    fn open(&self, index: u64) -> Open {
        let start = index * self.grid.width;
        Open {
            index,
            start,
            end: start + self.grid.width,
        }
    }

    /// Runs a window for the first time.
    fn run(&mut self, world: &W, open: Open) {
        let seed = world.seed();
        let mut grid = self.grid;
        grid.open(open.index);
        for i in 0..self.blocks.len() {
            let (block, history) = (&mut self.blocks[i], &mut self.histories[i]);
            let number = self.first + i;
            let batch = self.rings[number].take(open.index);
            if batch.is_empty() && block.wakes.earliest() >= open.end {
                self.rings[number].recycle(open.index, batch);
                continue;
            }
            let n_lps = block.lps.end - block.lps.start;
            if !batch.is_empty() {
                self.scratch.sort(&batch, block.lps.start, n_lps, &grid, seed);
            }
            let mut antis = self.antis[number].take(open.index);
            history.fill(open.index, &self.scratch.order[..batch.len()], &mut antis, seed);
            self.rings[number].recycle(open.index, batch);
            self.antis[number].recycle(open.index, antis);
            if open.end < open.start + self.grid.width {
                let (ring, grid) = (&mut self.rings[number], &self.grid);
                history.cut(open.index, Time(open.end), |event| ring.insert(grid, event));
            }
            let sent = history.run(world, block, open);
            deliver(&mut self.rings, &self.grid, self.shift, sent);
        }
    }

    /// Brings a window that has been run up to date.
    fn mend(&mut self, world: &W, open: Open) {
        for i in 0..self.blocks.len() {
            let (block, history) = (&mut self.blocks[i], &mut self.histories[i]);
            let number = self.first + i;
            let mut news = self.rings[number].take(open.index);
            let mut antis = self.antis[number].take(open.index);
            if history.is_behind() || !news.is_empty() || !antis.is_empty() {
                history.patch(world, block, open, (&mut news, &mut antis), &mut self.changes);
            }
            self.rings[number].recycle(open.index, news);
            self.antis[number].recycle(open.index, antis);
        }
        deliver(&mut self.rings, &self.grid, self.shift, &self.changes.sent);
        deliver(&mut self.antis, &self.grid, self.shift, &self.changes.taken_back);
        self.taken_back += self.changes.taken_back.len() as u64;
        self.changes.sent.clear();
        self.changes.taken_back.clear();
    }

    /// Makes `base` the first window that is not committed; `None`: there is nothing beyond.
    pub(crate) fn commit(&mut self, base: Option<u64>) {
        for history in &mut self.histories {
            let broken = history.commit(base.unwrap_or(self.done), &mut self.observer);
            self.broken = self.broken.or(broken);
        }
        if let Some(base) = base {
            self.grid.open(base);
            self.done = self.done.max(base);
            let own = self.own();
            for ring in self.rings[own.clone()].iter_mut().chain(&mut self.antis[own]) {
                ring.draw_near(&self.grid);
            }
        }
    }
}

/// Puts events into the rings of their blocks.
fn deliver<E: Event>(rings: &mut Rings<E>, grid: &Grid, shift: u32, events: &[E]) {
    for event in events {
        let ring = &mut rings[(event.lp() >> shift) as usize % MAX_BLOCKS];
        let offset = event.time().0 - grid.start;
        if offset < grid.reach {
            ring.push(grid.index, grid.windows(offset), *event);
        } else {
            ring.push_far(*event);
        }
    }
}
