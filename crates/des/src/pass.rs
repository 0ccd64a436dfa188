//! One window of a block as it was run: the segments of its LPs, and the sink and the journal that make them.

use crate::block::Block;
use crate::column::{Journal, Log, Mark};
use crate::late::{Before, LEFT_BEHIND, Late, LateEvents};
use crate::time::Time;
use crate::world::{Event, Outbox, World, check_sent_at};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What is said of a handler that panicked in a window that is committed.
pub(crate) const PANICKED: &str = "a handler panicked";

/// Part of a vector of a [`Pass`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PassRange {
    pub(crate) from: u32,
    pub(crate) to: u32,
}

impl PassRange {
    pub(crate) fn range(self) -> Range<usize> {
        self.from as usize..self.to as usize
    }

    pub(crate) fn len(self) -> usize {
        (self.to - self.from) as usize
    }
}

/// One LP's run through one window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) lp: u32,
    /// Events handled, those among them that the LP sent itself within the window included.
    pub(crate) handled: u32,
    pub(crate) inputs: PassRange,
    pub(crate) sends: PassRange,
    pub(crate) records: PassRange,
    /// Its changes in the log.
    pub(crate) from: Mark,
    pub(crate) to: Mark,
    /// What the LP was like before.
    pub(crate) wake: u64,
    pub(crate) digest: u64,
    /// One more than the window that the LP ran through before this one; meaningless below the first window that is kept.
    pub(crate) previous: u64,
}

/// All segments of a block in one window.
pub(crate) struct Pass<W: World> {
    pub(crate) inputs: Vec<W::Event>,
    pub(crate) sends: Vec<W::Event>,
    pub(crate) records: Vec<W::Record>,
    pub(crate) log: Log,
    /// In the order of their LPs; what a segment that was run again had before is garbage in the vectors above.
    pub(crate) segments: Vec<Segment>,
    /// LPs that broke a rule, which counts only if they still do when the window is committed.
    pub(crate) broken: Vec<(u32, &'static str)>,
    /// Bytes of garbage.
    pub(crate) garbage: usize,
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
    pub(crate) fn clear(&mut self) {
        self.inputs.clear();
        self.sends.clear();
        self.records.clear();
        self.log.commit();
        self.segments.clear();
        self.broken.clear();
        self.garbage = 0;
    }

    /// Bytes of a segment and of what belongs to it.
    pub(crate) fn size(segment: &Segment) -> usize {
        size_of::<Segment>()
            + (segment.inputs.len() + segment.sends.len()) * size_of::<W::Event>()
            + segment.records.len() * size_of::<W::Record>()
            + Log::size(segment.from, segment.to)
    }

    /// Bytes held, garbage included.
    pub(crate) fn bytes(&self) -> usize {
        self.segments.len() * size_of::<Segment>()
            + (self.inputs.len() + self.sends.len()) * size_of::<W::Event>()
            + self.records.len() * size_of::<W::Record>()
            + Log::size(Mark::default(), self.log.mark())
    }

    pub(crate) fn find(&self, lp: u32) -> Result<usize, usize> {
        self.segments.binary_search_by_key(&lp, |segment| segment.lp)
    }

    /// Drops the garbage.
    pub(crate) fn compact(&mut self) {
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

pub(crate) fn append<T: Copy>(all: &mut Vec<T>, more: &[T]) -> PassRange {
    let from = all.len() as u32;
    all.extend_from_slice(more);
    PassRange {
        from,
        to: all.len() as u32,
    }
}

/// Elements of columns that undone runs have put out of use, by column. Columns that grow together also lose elements together, so
/// that they go on using elements of the same numbers.
#[derive(Debug, Default)]
pub(crate) struct Spare(Vec<Vec<u32>>);

impl Spare {
    pub(crate) fn free(&mut self, column: u16, index: u32) {
        let column = usize::from(column);
        if self.0.len() <= column {
            self.0.resize_with(column + 1, Vec::new);
        }
        self.0[column].push(index);
    }
}

/// The journal of a run ahead: a log, and the spare elements.
pub(crate) struct Keeping<'a> {
    pub(crate) log: &'a mut Log,
    pub(crate) spare: &'a mut Spare,
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
pub(crate) struct Capture<W: World> {
    pub(crate) sends: Vec<W::Event>,
    pub(crate) records: Vec<W::Record>,
    pub(crate) segments: Vec<Segment>,
    pub(crate) broken: Vec<(u32, &'static str)>,
    pub(crate) late: LateEvents<W::Event>,
    /// Late events that were handled.
    pub(crate) handled: u32,
    pub(crate) lp: u32,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) seed: u64,
    /// Events of the pass.
    pub(crate) n_inputs: u32,
    /// Where these begin among the inputs of the window.
    pub(crate) first_input: u32,
}

/// Runs handlers; `false` if one of them panicked, as it may where an LP has not got all its events yet.
pub(crate) fn survives(run: impl FnOnce()) -> bool {
    // What a handler leaves half done is in the journal and is undone.
    catch_unwind(AssertUnwindSafe(run)).is_ok()
}

impl<W: World> Capture<W> {
    /// A sink for a window from `start` to `end` that goes on with what `pass` holds and gets `n_inputs` events, which are those of the
    /// pass from `first_input` on. Give it back with [`Capture::end`].
    pub(crate) fn begin(pass: &mut Pass<W>, (start, end): (u64, u64), seed: u64, first_input: usize) -> Self {
        Capture {
            n_inputs: (pass.inputs.len() - first_input) as u32,
            first_input: first_input as u32,
            sends: std::mem::take(&mut pass.sends),
            records: std::mem::take(&mut pass.records),
            segments: std::mem::take(&mut pass.segments),
            broken: std::mem::take(&mut pass.broken),
            late: LateEvents::default(),
            handled: 0,
            lp: 0,
            start,
            end,
            seed,
        }
    }

    /// Gives back what it took from the pass, and what was added.
    pub(crate) fn end(self, pass: &mut Pass<W>) {
        pass.sends = self.sends;
        pass.records = self.records;
        pass.segments = self.segments;
        pass.broken = self.broken;
    }

    /// Takes back what an LP did whose handler panicked, and makes its segment one that had inputs and did nothing. `rest` are the
    /// events of the pass from the LP's first on. Returns the LP.
    #[cold]
    pub(crate) fn stumble(&mut self, block: &mut Block<W::State>, journal: &mut Keeping<'_>, rest: &[W::Event]) -> u32 {
        let segment = self.segments.last_mut().expect("who panicked has entered");
        let lp = segment.lp;
        let Keeping { log, spare } = journal;
        let free = |column, index| spare.free(column, index);
        log.undo_part(segment.from, log.mark(), &mut block.state, free);
        segment.to = segment.from;
        let place = (lp - block.lps.start) as usize;
        block.wakes.restore(place, segment.wake, segment.digest);
        // The pass has ended before it told the chunk's bound what the LPs before this one want.
        block.wakes.bound_again(place);
        segment.inputs.to = segment.inputs.from + rest.iter().take_while(|event| event.lp() == lp).count() as u32;
        self.sends.truncate(segment.sends.from as usize);
        self.records.truncate(segment.records.from as usize);
        self.late.leave_behind();
        self.handled = std::mem::take(&mut segment.handled);
        self.broken.push((lp, PANICKED));
        lp
    }

    /// The events that come next are those of the pass from `first` on, `n` of them.
    pub(crate) fn go_on(&mut self, first: usize, n: usize) {
        (self.first_input, self.n_inputs) = (first as u32, n as u32);
    }

    #[cold]
    fn send_late(&mut self, event: W::Event) {
        let reason = if event.time().0 < self.start {
            "an event was sent into the past"
        } else if event.lp() != self.lp {
            "an event reached another logical process within the lookahead"
        } else {
            return self.late.insert(event, self.seed);
        };
        self.broken.push((self.lp, reason));
    }
}

impl<W: World> Outbox<W::Event, W::Record> for Capture<W> {
    #[inline(always)]
    fn send_at(&mut self, time: Time, event: W::Event) {
        check_sent_at(&event, time);
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
        let at = |place: usize| PassRange {
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
    fn late(&mut self) -> &mut LateEvents<W::Event> {
        &mut self.late
    }

    fn late_before(&mut self, event: Option<&W::Event>, seed: u64) -> Option<W::Event> {
        let late = self.late.take(event, seed);
        self.handled += u32::from(late.is_some());
        late
    }

    #[inline(always)]
    fn leave(&mut self, mark: Mark, left: usize) {
        if self.late.leave_behind() {
            self.broken.push((self.lp, LEFT_BEHIND));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::NoJournal;
    use crate::phold::{Ball, Phold};

    crate::columns! {
        struct Pool {
            a: u32,
            b: u64,
        }
    }

    #[test]
    fn columns_that_grow_together_go_on_with_the_same_places_after_an_undo_in_the_middle() {
        let (mut pool, mut log, mut spare) = (Pool::default(), Log::default(), Spare::default());
        let push = |pool: &mut Pool, log: &mut Log, spare: &mut Spare, value: u32| {
            let mut journal = Keeping { log, spare };
            let a = pool.a.push(&mut journal, value);
            let b = pool.b.push(&mut journal, value.into());
            assert_eq!(a, b);
            a
        };
        push(&mut pool, &mut log, &mut spare, 1);
        let from = log.mark();
        let taken = [2, 3].map(|value| push(&mut pool, &mut log, &mut spare, value));
        let to = log.mark();
        let last = push(&mut pool, &mut log, &mut spare, 4);
        log.undo_part(from, to, &mut pool, |column, index| spare.free(column, index));
        let mut again = [5, 6].map(|value| push(&mut pool, &mut log, &mut spare, value));
        again.sort_unstable();
        assert_eq!(again, taken, "no new place while one is spare");
        assert_eq!((*pool.a.get(last), pool.a.len(), pool.b.len()), (4, 4, 4));
        assert_eq!(push(&mut pool, &mut log, &mut spare, 7), 4);
        // A journal that holds nothing has no spare places either.
        assert_eq!(pool.a.push(&mut NoJournal, 8), 5);
    }

    #[test]
    fn compaction_drops_the_garbage_and_keeps_the_segments() {
        let ball = |n: u64| Ball::new(Time(n), 0, 0, n);
        let mut pass = Pass::<Phold>::default();
        let mut pool = Pool::default();
        pool.b.fill(0, vec![0; 4]);
        for n in 0..4_u32 {
            let from = pass.log.mark();
            pool.b.set(&mut pass.log, n, n.into());
            let segment = Segment {
                lp: n,
                handled: 1,
                inputs: append(&mut pass.inputs, &[ball(n.into()); 2]),
                sends: append(&mut pass.sends, &[ball(u64::from(n) + 50)]),
                records: append(&mut pass.records, &[()]),
                from,
                to: pass.log.mark(),
                wake: 3,
                digest: 4,
                previous: 5,
            };
            pass.segments.push(segment);
        }
        let garbage = pass.segments.remove(1);
        let before = pass.bytes();
        pass.compact();
        assert_eq!(
            pass.bytes(),
            before - Pass::<Phold>::size(&garbage) + size_of::<Segment>()
        );
        let kept = pass.segments[1];
        assert_eq!((kept.lp, pass.find(2), pass.find(1)), (2, Ok(1), Err(1)));
        assert_eq!(pass.inputs[kept.inputs.range()], [ball(2); 2]);
        assert_eq!(pass.sends[kept.sends.range()], [ball(52)]);
        pass.log.undo_part(kept.from, kept.to, &mut pool, |_, _| {});
        assert_eq!(pool.b.as_slice(), [0, 1, 0, 3]);
    }
}
