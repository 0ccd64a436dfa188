//! What a block has run ahead of the commit: per window the inputs, the undo log, and what each LP sent and recorded.
//!
//! The unit of execution and of rollback is one LP in one window, a [`Segment`]. An LP touches its own elements only, so that the
//! segments of one LP are undone whatever other LPs did in between. An LP that was rolled back is *behind* until the same sweep, which
//! goes upward through the windows, has brought it back to where its neighbours are. What it sends then is compared with what it sent
//! before: equal events stay where they are (lazy cancellation, Gafni 1988), others are taken back or sent.

use crate::block::{Before, Block, Late, run_block, run_lp};
use crate::column::{Journal, Log, Mark};
use crate::sort::by_lp;
use crate::time::Time;
use crate::worker::{insert_late, take_late};
use crate::world::{Event, Observe, Sink, World};
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::ops::Range;

/// Part of a vector of a [`Pass`].
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    from: u32,
    to: u32,
}

impl Part {
    fn range(self) -> Range<usize> {
        self.from as usize..self.to as usize
    }

    fn len(self) -> usize {
        (self.to - self.from) as usize
    }
}

/// One LP's run through one window.
#[derive(Clone, Copy, Debug)]
struct Segment {
    lp: u32,
    /// Events handled, those among them that the LP sent itself within the window included.
    handled: u32,
    inputs: Part,
    sends: Part,
    records: Part,
    /// Its changes in the log.
    from: Mark,
    to: Mark,
    /// What the LP was like before.
    wake: u64,
    digest: u64,
    /// One more than the window that the LP ran through before this one; meaningless below the first window that is kept.
    previous: u64,
}

/// All segments of a block in one window.
struct Pass<W: World> {
    inputs: Vec<W::Event>,
    sends: Vec<W::Event>,
    records: Vec<W::Record>,
    log: Log,
    /// In the order of their LPs; what a segment that was run again had before is garbage in the vectors above.
    segments: Vec<Segment>,
    /// LPs that broke a rule, which counts only if they still do when the window is committed.
    broken: Vec<(u32, &'static str)>,
    /// Bytes of garbage.
    garbage: usize,
}

impl<W: World> Default for Pass<W> {
    fn default() -> Self {
        Pass {
            inputs: Vec::new(),
            sends: Vec::new(),
            records: Vec::new(),
            log: Log::default(),
            segments: Vec::new(),
            broken: Vec::new(),
            garbage: 0,
        }
    }
}

impl<W: World> Pass<W> {
    fn clear(&mut self) {
        self.inputs.clear();
        self.sends.clear();
        self.records.clear();
        self.log.commit();
        self.segments.clear();
        self.broken.clear();
        self.garbage = 0;
    }

    /// Bytes of a segment and of what belongs to it.
    fn size(segment: &Segment) -> usize {
        size_of::<Segment>()
            + (segment.inputs.len() + segment.sends.len()) * size_of::<W::Event>()
            + segment.records.len() * size_of::<W::Record>()
            + Log::size(segment.from, segment.to)
    }

    /// Bytes held, garbage included.
    fn bytes(&self) -> usize {
        self.segments.len() * size_of::<Segment>()
            + (self.inputs.len() + self.sends.len()) * size_of::<W::Event>()
            + self.records.len() * size_of::<W::Record>()
            + Log::size(Mark::default(), self.log.mark())
    }

    fn find(&self, lp: u32) -> Result<usize, usize> {
        self.segments.binary_search_by_key(&lp, |segment| segment.lp)
    }

    /// Drops the garbage.
    fn compact(&mut self) {
        let mut fresh = Pass::<W> {
            broken: std::mem::take(&mut self.broken),
            ..Pass::default()
        };
        for segment in &self.segments {
            let mut moved = *segment;
            moved.inputs = append(&mut fresh.inputs, &self.inputs[segment.inputs.range()]);
            moved.sends = append(&mut fresh.sends, &self.sends[segment.sends.range()]);
            moved.records = append(&mut fresh.records, &self.records[segment.records.range()]);
            moved.from = fresh.log.mark();
            fresh.log.append_part(&self.log, segment.from, segment.to);
            moved.to = fresh.log.mark();
            fresh.segments.push(moved);
        }
        *self = fresh;
    }
}

fn append<T: Copy>(all: &mut Vec<T>, more: &[T]) -> Part {
    let from = all.len() as u32;
    all.extend_from_slice(more);
    Part {
        from,
        to: all.len() as u32,
    }
}

/// Elements of columns that undone runs have put out of use, by column. Columns that grow together also lose elements together, so
/// that they go on using elements of the same numbers.
#[derive(Debug, Default)]
struct Spare(Vec<Vec<u32>>);

impl Spare {
    fn free(&mut self, column: u16, index: u32) {
        let column = usize::from(column);
        if self.0.len() <= column {
            self.0.resize_with(column + 1, Vec::new);
        }
        self.0[column].push(index);
    }
}

/// The journal of a run ahead: a log, and the spare elements.
struct Keeping<'a> {
    log: &'a mut Log,
    spare: &'a mut Spare,
}

impl Journal for Keeping<'_> {
    const ACTIVE: bool = true;

    #[inline]
    fn save(&mut self, column: u16, index: u32, old: &[u8]) {
        self.log.save(column, index, old);
    }

    fn grown(&mut self, column: u16, index: u32) {
        self.log.grown(column, index);
    }

    fn reuse(&mut self, column: u16) -> Option<u32> {
        self.spare.0.get_mut(usize::from(column))?.pop()
    }

    #[inline(always)]
    fn mark(&self) -> Mark {
        self.log.mark()
    }
}

/// The sink of a run ahead: keeps what the handlers send and record, and cuts it into segments.
struct Capture<W: World> {
    sends: Vec<W::Event>,
    records: Vec<W::Record>,
    segments: Vec<Segment>,
    broken: Vec<(u32, &'static str)>,
    /// Own-LP events that fall into the open window, latest first.
    late: Vec<W::Event>,
    /// Late events that were handled.
    handled: u32,
    lp: u32,
    start: u64,
    end: u64,
    seed: u64,
    /// Events of the pass.
    n_inputs: u32,
    /// Where these begin among the inputs of the window.
    first_input: u32,
}

impl<W: World> Capture<W> {
    #[cold]
    fn send_late(&mut self, event: W::Event) {
        let reason = if event.time().0 < self.start {
            "an event was sent into the past"
        } else if event.lp() != self.lp {
            "an event reached another logical process within the lookahead"
        } else {
            return insert_late(&mut self.late, event, self.seed);
        };
        self.broken.push((self.lp, reason));
    }
}

impl<W: World> Sink<W> for Capture<W> {
    #[inline(always)]
    fn send_at(&mut self, time: Time, event: W::Event) {
        debug_assert_eq!(event.time(), time, "an event is sent at another time than its own");
        if time.0 < self.end {
            self.send_late(event);
        } else {
            self.sends.push(event);
        }
    }

    #[inline(always)]
    fn record(&mut self, record: W::Record) {
        self.records.push(record);
    }
}

impl<W: World> Late<W::Event> for Capture<W> {
    #[inline(always)]
    fn enter(&mut self, lp: u32, before: Before) {
        self.lp = lp;
        let at = |place: usize| Part {
            from: place as u32,
            to: place as u32,
        };
        self.segments.push(Segment {
            lp,
            handled: self.handled,
            inputs: at((self.first_input + self.n_inputs) as usize - before.left),
            sends: at(self.sends.len()),
            records: at(self.records.len()),
            from: before.mark,
            to: before.mark,
            wake: before.wake,
            digest: before.digest,
            previous: 0,
        });
    }

    #[inline(always)]
    fn has_late(&self) -> bool {
        !self.late.is_empty()
    }

    fn late_before(&mut self, event: Option<&W::Event>, seed: u64) -> Option<W::Event> {
        let late = take_late(&mut self.late, event, seed);
        self.handled += u32::from(late.is_some());
        late
    }

    #[inline(always)]
    fn leave(&mut self, mark: Mark, left: usize) {
        if !self.late.is_empty() {
            let reason = "closing a logical process sent it an event within the window";
            self.broken.push((self.lp, reason));
            self.late.clear();
        }
        let Some(segment) = self.segments.last_mut() else {
            return;
        };
        segment.inputs.to = self.first_input + self.n_inputs - left as u32;
        segment.handled = self.handled - segment.handled + segment.inputs.len() as u32;
        segment.sends.to = self.sends.len() as u32;
        segment.records.to = self.records.len() as u32;
        segment.to = mark;
    }
}

/// A window that is run: its number and its times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open {
    pub(crate) index: u64,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// What changes for others when LPs run again.
#[derive(Debug)]
pub(crate) struct Changes<E> {
    /// Events that they send now.
    pub(crate) sent: Vec<E>,
    /// Events that they sent before and do not send any more.
    pub(crate) taken_back: Vec<E>,
}

/// Events by what became of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
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
    pub(crate) counts: Counts,
    merged: Vec<W::Event>,
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
            counts: Counts::default(),
            merged: Vec::new(),
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

    /// Keeps the events of a window before `end` and gives the others to `later`.
    pub(crate) fn cut(&mut self, window: u64, end: Time, mut later: impl FnMut(W::Event)) {
        self.pass(window).inputs.retain(|event| {
            let stays = event.time() < end;
            if !stays {
                later(*event);
            }
            stays
        });
    }

    /// Runs the block through a window for the first time with the events that [`History::fill`] got; returns what was sent.
    pub(crate) fn run(&mut self, world: &W, block: &mut Block<W>, open: Open) -> &[W::Event] {
        let mut pass = std::mem::take(self.pass(open.index));
        let mut capture = Capture::<W> {
            sends: pass.sends,
            records: pass.records,
            segments: pass.segments,
            broken: pass.broken,
            late: Vec::new(),
            handled: 0,
            lp: 0,
            start: open.start,
            end: open.end,
            seed: world.seed(),
            n_inputs: pass.inputs.len() as u32,
            first_input: 0,
        };
        let mut journal = Keeping {
            log: &mut pass.log,
            spare: &mut self.spare,
        };
        let handled = run_block(world, block, &mut journal, &pass.inputs, Time(open.end), &mut capture);
        self.counts.executed += handled;
        for segment in &mut capture.segments {
            let latest = &mut self.latest[(segment.lp - block.lps.start) as usize];
            segment.previous = std::mem::replace(latest, open.index + 1);
        }
        pass.sends = capture.sends;
        pass.records = capture.records;
        pass.segments = capture.segments;
        pass.broken = capture.broken;
        self.kept += pass.bytes();
        let slot = self.pass(open.index);
        *slot = pass;
        &slot.sends
    }

    /// Undoes what an LP did in `window` and after it.
    fn roll_back(&mut self, block: &mut Block<W>, lp: u32, window: u64) {
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
        block: &mut Block<W>,
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
            let before = old.map_or(Part::default(), |old| old.inputs);
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
        block: &mut Block<W>,
        pass: &mut Pass<W>,
        lp: u32,
        order: &[W::Event],
        open: Open,
    ) -> Segment {
        let inputs = append(&mut pass.inputs, order);
        let mut capture = Capture::<W> {
            sends: std::mem::take(&mut pass.sends),
            records: std::mem::take(&mut pass.records),
            segments: Vec::with_capacity(1),
            broken: std::mem::take(&mut pass.broken),
            late: Vec::new(),
            handled: 0,
            lp,
            start: open.start,
            end: open.end,
            seed: world.seed(),
            n_inputs: inputs.len() as u32,
            first_input: inputs.from,
        };
        let mut journal = Keeping {
            log: &mut pass.log,
            spare: &mut self.spare,
        };
        self.counts.executed += run_lp(world, block, &mut journal, lp, order, Time(open.end), &mut capture);
        pass.sends = capture.sends;
        pass.records = capture.records;
        pass.broken = capture.broken;
        let mut segment = capture.segments.pop().expect("a run makes a segment");
        let latest = &mut self.latest[(lp - block.lps.start) as usize];
        segment.previous = std::mem::replace(latest, open.index + 1);
        segment
    }

    /// Commits all windows below `base`: shows their records and forgets them. Returns the first broken rule.
    pub(crate) fn commit(&mut self, base: u64, observer: &mut W::Observer) -> Option<&'static str> {
        let mut broken = None;
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
        broken
    }

    /// Takes the last committed window for one that is yet to be run: it was run in part.
    pub(crate) fn reopen(&mut self) {
        self.base -= 1;
    }
}

/// Takes the events of `lp` off the front of `events`, which are ordered by LP and hold none of an LP before it.
fn of_lp<'e, E: Event>(events: &mut &'e [E], lp: u32) -> &'e [E] {
    let n = events.iter().take_while(|event| event.lp() == lp).count();
    let (first, rest) = events.split_at(n);
    *events = rest;
    first
}

/// Appends two orders of one LP's events to `into`, as one order.
fn merge<E: Event>(into: &mut Vec<E>, a: &[E], b: &[E], seed: u64) {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    while let (Some(first), Some(second)) = (a.peek(), b.peek()) {
        let next = if second.order(first, seed) == Ordering::Less {
            &mut b
        } else {
            &mut a
        };
        into.extend(next.next());
    }
    into.extend(a.chain(b));
}

/// Takes for each of `antis` an equal event out of `events`; both are ordered by LP, time and tie.
fn annihilate<E: Event>(events: &mut Vec<E>, antis: &[E], seed: u64) {
    if antis.is_empty() {
        return;
    }
    let mut gone: Vec<usize> = Vec::with_capacity(antis.len());
    for anti in antis {
        let first = events.partition_point(|event| by_lp(event, anti, seed) == Ordering::Less);
        let is_gone = |at: &usize| {
            gone.iter()
                .rev()
                .take_while(|&&other| other >= first)
                .any(|other| other == at)
        };
        let at = (first..events.len())
            .take_while(|&at| by_lp(&events[at], anti, seed) == Ordering::Equal)
            .find(|at| bytemuck::bytes_of(&events[*at]) == bytemuck::bytes_of(anti) && !is_gone(at));
        gone.push(at.expect("an event that is taken back was sent before"));
    }
    gone.sort_unstable();
    let mut gone = gone.into_iter().peekable();
    let mut at = 0;
    events.retain(|_| {
        let stays = gone.next_if_eq(&at).is_none();
        at += 1;
        stays
    });
}

/// Notes how two multisets of events differ.
fn differ<E: Event>(old: &[E], new: &[E], changes: &mut Changes<E>) {
    let bytes = |events| bytemuck::cast_slice::<E, u8>(events);
    if bytes(old) == bytes(new) {
        return;
    }
    let sorted = |events: &[E]| {
        let mut events = events.to_vec();
        events.sort_unstable_by(|a, b| bytemuck::bytes_of(a).cmp(bytemuck::bytes_of(b)));
        events
    };
    let (old, new) = (sorted(old), sorted(new));
    let (mut old, mut new) = (&old[..], &new[..]);
    while let (Some((a, olds)), Some((b, news))) = (old.split_first(), new.split_first()) {
        match bytemuck::bytes_of(a).cmp(bytemuck::bytes_of(b)) {
            Ordering::Equal => (old, new) = (olds, news),
            Ordering::Less => {
                changes.taken_back.push(*a);
                old = olds;
            }
            Ordering::Greater => {
                changes.sent.push(*b);
                new = news;
            }
        }
    }
    changes.taken_back.extend_from_slice(old);
    changes.sent.extend_from_slice(new);
}
