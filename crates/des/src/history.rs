//! What a block has run ahead of the commit: per window the inputs, the undo log, and what each LP sent and recorded.
//!
//! The unit of execution and of rollback is one LP in one window, a [`Segment`]. An LP touches its own elements only, so that the
//! segments of one LP are undone whatever other LPs did in between. An LP that was rolled back is *behind* until the same sweep, which
//! goes upward through the windows, has brought it back to where its neighbours are. What it sends then is compared with what it sent
//! before: equal events stay where they are (lazy cancellation, Gafni 1988), others are taken back or sent.

use crate::block::{Block, run_block, run_lp};
use crate::differ::{Changes, annihilate, differ, merge, of_lp};
use crate::pass::{Capture, Keeping, Pass, PassRange, Segment, Spare, append, survives};
use crate::sort::by_lp;
use crate::time::Time;
use crate::world::{Event, Observe, World};
use std::collections::VecDeque;

/// A window that is run: its number and its times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open {
    pub(crate) index: u64,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// Events by what became of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EventCounts {
    /// Handled, once or again.
    pub(crate) executed: u64,
    /// Undone.
    pub(crate) rolled_back: u64,
    /// Handled for good.
    pub(crate) committed: u64,
}

/// What one block has run ahead of the commit.
pub(crate) struct History<W: World> {
    /// Number of the first window that is kept.
    base: u64,
    passes: VecDeque<Pass<W>>,
    unused: Vec<Pass<W>>,
    /// One more than the newest window that each LP ran through; below the base of no meaning.
    latest: Vec<u64>,
    /// LPs that were rolled back and are not yet where their neighbours are, in order.
    behind: Vec<u32>,
    spare: Spare,
    /// Bytes kept.
    pub(crate) kept: usize,
    pub(crate) counts: EventCounts,
    /// Buffers of a run through one window again.
    merged: Vec<W::Event>,
    single: Vec<Segment>,
}

impl<W: World> History<W> {
    /// Nothing yet, of `n_lps` LPs.
    pub(crate) fn new(n_lps: usize) -> Self {
        History {
            base: 0,
            passes: VecDeque::new(),
            unused: Vec::new(),
            latest: vec![0; n_lps],
            behind: Vec::new(),
            spare: Spare::default(),
            kept: 0,
            counts: EventCounts::default(),
            merged: Vec::new(),
            single: Vec::new(),
        }
    }

    /// `true` if LPs have to be brought back to where their neighbours are.
    pub(crate) fn is_behind(&self) -> bool {
        !self.behind.is_empty()
    }

    /// All executed windows were visited: nobody is behind any more.
    pub(crate) fn caught_up(&mut self) {
        self.behind.clear();
    }

    fn pass(&mut self, window: u64) -> &mut Pass<W> {
        let place = (window - self.base) as usize;
        while self.passes.len() <= place {
            self.passes.push_back(self.unused.pop().unwrap_or_default());
        }
        &mut self.passes[place]
    }

    /// The events of a window that is run for the first time: in order, those of `antis` taken out.
    pub(crate) fn fill(&mut self, window: u64, order: &[W::Event], antis: &mut [W::Event], seed: u64) {
        let inputs = &mut self.pass(window).inputs;
        inputs.extend_from_slice(order);
        if !antis.is_empty() {
            antis.sort_unstable_by(|a, b| by_lp(a, b, seed));
            annihilate(inputs, antis, seed);
        }
    }

    /// Runs the block through a window for the first time with the events that [`History::fill`] got; returns what was sent.
    pub(crate) fn run(&mut self, world: &W, block: &mut Block<W::State>, open: Open) -> &[W::Event] {
        let mut pass = std::mem::take(self.pass(open.index));
        let mut capture = Capture::begin(&mut pass, (open.start, open.end), world.seed(), 0);
        let mut journal = Keeping {
            log: &mut pass.log,
            spare: &mut self.spare,
        };
        let (inputs, end) = (&pass.inputs[..], Time(open.end));
        let ran = survives(|| {
            run_block(world, block, &mut journal, inputs, end, &mut capture);
        });
        if !ran {
            run_rest(world, block, &mut journal, inputs, end, &mut capture);
        }
        for segment in &mut capture.segments {
            self.counts.executed += u64::from(segment.handled);
            let latest = &mut self.latest[(segment.lp - block.lps.start) as usize];
            segment.previous = std::mem::replace(latest, open.index + 1);
        }
        capture.end(&mut pass);
        self.kept += pass.bytes();
        let slot = self.pass(open.index);
        *slot = pass;
        &slot.sends
    }

    /// Undoes what an LP did in `window` and after it.
    fn roll_back(&mut self, block: &mut Block<W::State>, lp: u32, window: u64) {
        let place = (lp - block.lps.start) as usize;
        let mut latest = self.latest[place];
        while latest > window {
            let pass = &self.passes[(latest - 1 - self.base) as usize];
            let found = pass
                .find(lp)
                .expect("an LP that ran through a window has a segment there");
            let segment = &pass.segments[found];
            let free = |column, index| self.spare.free(column, index);
            pass.log.undo_part(segment.from, segment.to, &mut block.state, free);
            block.wakes.restore(place, segment.wake, segment.digest);
            self.counts.rolled_back += u64::from(segment.handled);
            latest = segment.previous;
        }
        self.latest[place] = latest;
    }

    /// Brings a window that has been run up to date: LPs for which events came or were taken back are rolled back to it, and all that
    /// are behind run through it again. Windows have to be visited upward.
    pub(crate) fn patch(
        &mut self,
        world: &W,
        block: &mut Block<W::State>,
        open: Open,
        (news, antis): (&mut [W::Event], &mut [W::Event]),
        changes: &mut Changes<W::Event>,
    ) {
        let seed = world.seed();
        news.sort_unstable_by(|a, b| by_lp(a, b, seed));
        antis.sort_unstable_by(|a, b| by_lp(a, b, seed));
        self.pass(open.index);
        let behind = self.behind.len();
        for event in news.iter().chain(antis.iter()) {
            let lp = event.lp();
            if self.behind[..behind].binary_search(&lp).is_err() && self.behind[behind..].last() != Some(&lp) {
                self.roll_back(block, lp, open.index);
                self.behind.push(lp);
            }
        }
        self.behind.sort_unstable();
        self.behind.dedup();
        let mut pass = std::mem::take(self.pass(open.index));
        self.kept -= pass.bytes();
        let (mut news, mut antis) = (&news[..], &antis[..]);
        let mut inserted = Vec::new();
        for i in 0..self.behind.len() {
            let lp = self.behind[i];
            let (news, antis) = (of_lp(&mut news, lp), of_lp(&mut antis, lp));
            let found = pass.find(lp).ok();
            let old = found.map(|at| pass.segments[at]);
            if let Some(old) = &old {
                pass.garbage += Pass::<W>::size(old) - size_of::<Segment>();
                pass.broken.retain(|&(broken, _)| broken != lp);
            }
            let mut merged = std::mem::take(&mut self.merged);
            merged.clear();
            let before = old.map_or(PassRange::default(), |old| old.inputs);
            merge(&mut merged, &pass.inputs[before.range()], news, seed);
            annihilate(&mut merged, antis, seed);
            let place = (lp - block.lps.start) as usize;
            let again = (!merged.is_empty() || block.wakes.wake(place) < open.end)
                .then(|| self.run_again(world, block, &mut pass, lp, &merged, open));
            self.merged = merged;
            let sends = |segment: Option<&Segment>| segment.map_or(0..0, |segment| segment.sends.range());
            differ(
                &pass.sends[sends(old.as_ref())],
                &pass.sends[sends(again.as_ref())],
                changes,
            );
            match (found, again) {
                (Some(at), Some(again)) => pass.segments[at] = again,
                (None, Some(again)) => inserted.push(again),
                (Some(at), None) => {
                    // It stays as one that did nothing, which no LP's latest window leads to.
                    let segment = &mut pass.segments[at];
                    (segment.inputs, segment.sends, segment.records) = Default::default();
                    (segment.from, segment.to, segment.handled) = Default::default();
                }
                (None, None) => {}
            }
        }
        if !inserted.is_empty() {
            pass.segments.append(&mut inserted);
            pass.segments.sort_by_key(|segment| segment.lp);
        }
        if pass.garbage > pass.bytes() / 2 {
            pass.compact();
        }
        self.kept += pass.bytes();
        *self.pass(open.index) = pass;
    }

    /// Runs an LP that was rolled back through a window.
    fn run_again(
        &mut self,
        world: &W,
        block: &mut Block<W::State>,
        pass: &mut Pass<W>,
        lp: u32,
        order: &[W::Event],
        open: Open,
    ) -> Segment {
        let inputs = append(&mut pass.inputs, order);
        let segments = std::mem::replace(&mut pass.segments, std::mem::take(&mut self.single));
        let mut capture = Capture::begin(pass, (open.start, open.end), world.seed(), inputs.range().start);
        let mut journal = Keeping {
            log: &mut pass.log,
            spare: &mut self.spare,
        };
        let ran = survives(|| {
            run_lp(world, block, &mut journal, lp, order, Time(open.end), &mut capture);
        });
        if !ran {
            capture.stumble(block, &mut journal, order);
        }
        capture.end(pass);
        self.single = std::mem::replace(&mut pass.segments, segments);
        let mut segment = self.single.pop().expect("a run makes a segment");
        self.counts.executed += u64::from(segment.handled);
        let latest = &mut self.latest[(lp - block.lps.start) as usize];
        segment.previous = std::mem::replace(latest, open.index + 1);
        segment
    }

    /// Commits all windows below `base`: shows their records and forgets them. Returns the first broken rule.
    pub(crate) fn commit(&mut self, base: u64, observer: &mut W::Observer) -> Option<&'static str> {
        let mut broken = None;
        let held = self.passes.len();
        while self.base < base
            && let Some(mut pass) = self.passes.pop_front()
        {
            self.kept -= pass.bytes();
            for segment in &pass.segments {
                self.counts.committed += u64::from(segment.handled);
                for record in &pass.records[segment.records.range()] {
                    observer.see(*record);
                }
            }
            broken = broken.or(pass.broken.first().map(|&(_, reason)| reason));
            pass.clear();
            self.unused.push(pass);
            self.base += 1;
        }
        self.base = self.base.max(base);
        // Buffers for as many windows as there were, no more: fewer windows ahead give memory back.
        self.unused.truncate(held);
        broken
    }

    /// Windows for which there are buffers.
    #[cfg(test)]
    pub(crate) fn buffers(&self) -> usize {
        self.unused.len() + self.passes.len()
    }

    /// The first window that is kept is `window` or later: what is before it was run for good.
    pub(crate) fn begin_at(&mut self, window: u64) {
        debug_assert!(self.passes.is_empty(), "what was run ahead is committed first");
        self.base = self.base.max(window);
    }
}

/// Runs the LPs behind one whose handler has panicked, one by one.
#[cold]
fn run_rest<W: World>(
    world: &W,
    block: &mut Block<W::State>,
    journal: &mut Keeping<'_>,
    inputs: &[W::Event],
    end: Time,
    capture: &mut Capture<W>,
) {
    let first = capture
        .segments
        .last()
        .map_or(0, |segment| segment.inputs.range().start);
    let stumbled = capture.stumble(block, journal, &inputs[first..]);
    let mut rest = &inputs[first..];
    of_lp(&mut rest, stumbled);
    for lp in stumbled + 1..block.lps.end {
        let from = inputs.len() - rest.len();
        let order = of_lp(&mut rest, lp);
        if order.is_empty() && block.wakes.wake((lp - block.lps.start) as usize) >= end.0 {
            continue;
        }
        capture.go_on(from, order.len());
        let ran = survives(|| {
            run_lp(world, block, journal, lp, order, end, capture);
        });
        if !ran {
            capture.stumble(block, journal, order);
        }
    }
}

#[cfg(test)]
mod tests;
