//! A block: neighbouring LPs with their state, and the pass of their handlers through one window.

use crate::CHECKS;
use crate::checkpoint::{OpenedCheckpoint, SavedBlock};
use crate::column::Journal;
use crate::late::{Before, Late, LateEvents};
use crate::pack::Torn;
use crate::split::split_at;
use crate::time::Time;
use crate::world::{Ahead, Event, Hint, Outbox, Sink, World, WorldTask, chain};
use std::ops::Range;

/// LPs whose wake times share one lower bound.
const CHUNK: usize = 64;

/// Events that are looked at together before they are handled: enough for memory to answer many questions side by side, and so few that what it
/// answers is still in the first-level cache when they are handled.
pub const FORESEEN: usize = 48;

/// Events that are looked at before the ones handled, so that memory has had time to answer.
const AHEAD: usize = 16;

/// Neighbouring LPs with all that is theirs: what a worker owns and what can move from one to another.
#[derive(Debug)]
pub(crate) struct Block<S> {
    pub(crate) lps: Range<u32>,
    pub(crate) state: S,
    pub(crate) wakes: Wakes,
}

/// What the engine keeps of each LP: wake times, with a lower bound per chunk, and the digest of its past.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Wakes {
    lps: Vec<u64>,
    chunks: Vec<u64>,
    digests: Vec<u64>,
}

impl Wakes {
    fn new(lps: Vec<u64>, digests: Vec<u64>) -> Self {
        let chunks = lps.chunks(CHUNK).map(earliest_of).collect();
        Wakes { lps, chunks, digests }
    }

    /// The earliest wake time.
    pub(crate) fn earliest(&self) -> u64 {
        earliest_of(&self.chunks)
    }

    /// When an LP wants to be closed.
    pub(crate) fn wake(&self, place: usize) -> u64 {
        self.lps[place]
    }

    /// Notes when an LP wants to be closed; the lower bound of its neighbours may be too low after that, never too high.
    pub(crate) fn put(&mut self, place: usize, wake: u64) {
        self.lps[place] = wake;
        let chunk = &mut self.chunks[place / CHUNK];
        *chunk = (*chunk).min(wake);
    }

    /// Works out the lower bound of an LP and its neighbours anew.
    pub(crate) fn bound_again(&mut self, place: usize) {
        let chunk = place / CHUNK;
        let lps = &self.lps[chunk * CHUNK..];
        self.chunks[chunk] = earliest_of(&lps[..lps.len().min(CHUNK)]);
    }

    /// Notes that an LP has handled an event.
    pub(crate) fn learn<E: Event>(&mut self, place: usize, event: &E) {
        self.digests[place] = chain(self.digests[place], event);
    }

    /// Puts an LP back to what it was.
    pub(crate) fn restore(&mut self, place: usize, wake: u64, digest: u64) {
        self.put(place, wake);
        self.digests[place] = digest;
    }

    /// Of each LP the digest of its past.
    #[cfg(test)]
    pub(crate) fn digests(&self) -> &[u64] {
        &self.digests
    }
}

impl<S> Block<S> {
    /// The LPs `lps` before their first event, and their first events.
    pub(crate) fn new<W: World<State = S>>(world: &W, lps: Range<u32>) -> (Self, Vec<W::Event>) {
        let (state, first) = world.start(lps.clone());
        let wakes = lps.clone().map(|lp| world.first_wake(&state, lp).0).collect();
        let wakes = Wakes::new(wakes, vec![0; lps.len()]);
        (Block { lps, state, wakes }, first)
    }

    /// The LPs `lps` of a checkpoint, and their pending events.
    pub(crate) fn restore<W: World<State = S>>(
        world: &W,
        lps: Range<u32>,
        opened: &OpenedCheckpoint<'_, W>,
    ) -> Result<(Self, Vec<W::Event>), Torn> {
        let taken = opened.take(world, lps.clone())?;
        let block = Block {
            lps,
            state: taken.state,
            wakes: Wakes::new(taken.wakes, taken.digests),
        };
        Ok((block, taken.events))
    }

    /// The block for a checkpoint.
    pub(crate) fn part<W: World<State = S>>(&self) -> SavedBlock<'_, W> {
        SavedBlock {
            lps: self.lps.clone(),
            state: &self.state,
            wakes: &self.wakes.lps,
            digests: &self.wakes.digests,
        }
    }
}

/// The digests of the pasts of all LPs of some blocks, in the order of their names.
pub(crate) fn by_name<'a, W: World>(world: &W, blocks: impl IntoIterator<Item = &'a Block<W::State>>) -> Vec<u64>
where
    W::State: 'a,
{
    let named = |block: &'a Block<W::State>| {
        block
            .lps
            .clone()
            .map(|lp| world.name(lp))
            .zip(block.wakes.digests.iter().copied())
    };
    let mut digests: Vec<(u32, u64)> = blocks.into_iter().flat_map(named).collect();
    digests.sort_unstable_by_key(|&(name, _)| name);
    digests.into_iter().map(|(_, digest)| digest).collect()
}

/// Runs a block through one window whose events are `order`; returns the events handled.
pub(crate) fn run_block<W: World, J: Journal, S: Outbox<W::Event, W::Record> + Late<W::Event>>(
    world: &W,
    block: &mut Block<W::State>,
    journal: &mut J,
    order: &[W::Event],
    end: Time,
    sink: &mut S,
) -> u64 {
    world.perform(WindowPass {
        block,
        journal,
        order,
        end,
        sink,
        lp: None,
    })
}

/// Runs one LP alone through a window whose events at this LP are `order`; returns the events handled.
pub(crate) fn run_lp<W: World, J: Journal, S: Outbox<W::Event, W::Record> + Late<W::Event>>(
    world: &W,
    block: &mut Block<W::State>,
    journal: &mut J,
    lp: u32,
    order: &[W::Event],
    end: Time,
    sink: &mut S,
) -> u64 {
    world.perform(WindowPass {
        block,
        journal,
        order,
        end,
        sink,
        lp: Some(lp),
    })
}

/// A block, or one LP of it, that is to run through one window.
struct WindowPass<'a, E, S, J, O> {
    block: &'a mut Block<S>,
    journal: &'a mut J,
    order: &'a [E],
    end: Time,
    sink: &'a mut O,
    /// The one LP.
    lp: Option<u32>,
}

impl<E: Event, S, R, J: Journal, O: Outbox<E, R> + Late<E>> WorldTask<E, S, R> for WindowPass<'_, E, S, J, O> {
    type Output = u64;

    #[inline(always)]
    fn with<W: World<Event = E, State = S, Record = R>>(self, world: &W) -> u64 {
        let WindowPass {
            block,
            journal,
            order,
            end,
            sink,
            lp,
        } = self;
        match lp {
            None => run_all(world, block, journal, order, end, sink),
            Some(lp) => run_one(world, block, journal, lp, order, end, sink),
        }
    }
}

/// [`run_block`] with the world whose handlers run.
#[inline(never)]
fn run_all<W: World, J: Journal, S: Sink<W> + Late<W::Event>>(
    world: &W,
    block: &mut Block<W::State>,
    journal: &mut J,
    order: &[W::Event],
    end: Time,
    sink: &mut S,
) -> u64 {
    let Block { lps, state, wakes } = block;
    let start = lps.start;
    let (mut events, mut handled) = (order.iter(), order.len() as u64);
    // With fewer events than that the LPs that follow would often be asked for in vain.
    let each = order.len() / lps.len().max(1);
    let dense = each > 0 && world.is_large();
    let mut lookout = Lookout::new(world, order.len(), (each, dense));
    sink.late().look_from(with_less_left(order, lookout.foresight));
    let mut first = lps.start;
    while first < lps.end {
        let last = (first + CHUNK as u32).min(lps.end);
        let places = (first - start) as usize..(last - start) as usize;
        let chunk = places.start / CHUNK;
        let bound = wakes.chunks[chunk];
        if bound >= end.0 && events.as_slice().first().is_none_or(|event| event.lp() >= last) {
            // Nothing to do here: go to the chunk of the next event unless an LP before it wakes.
            first = last;
            continue;
        }
        // Only LPs with events and those that wake are visited: of many windows these are few.
        let (mut waking, mut earliest) = match bound < end.0 {
            true => split_at(&wakes.lps[places.clone()], end.0),
            false => (0, bound),
        };
        let mut bound_left = false;
        loop {
            let with_event = events.as_slice().first().map_or(u32::MAX, Event::lp);
            let lp = match waking {
                0 => with_event,
                _ => with_event.min(first + waking.trailing_zeros()),
            };
            if lp >= last {
                break;
            }
            waking &= !(1 << (lp - first));
            let place = (lp - start) as usize;
            let before = Before {
                wake: wakes.lps[place],
                digest: wakes.digests[place],
                mark: journal.mark(),
                left: events.as_slice().len(),
            };
            sink.enter(lp, before);
            if dense {
                // Written out: in a loop each is asked which one it is.
                let (left, ahead) = (lps.end - lp, Ahead { each, end });
                give(world, state, (lp, left), Hint::Entries, ahead);
                give(world, state, (lp, left), Hint::Records, ahead);
                give(world, state, (lp, left), Hint::Lists, ahead);
                give(world, state, (lp, left), Hint::Heads, ahead);
                give(world, state, (lp, left), Hint::Followers, ahead);
                give(world, state, (lp, left), Hint::Last, ahead);
                let fewer = lookout.turn_to(world, state, (lp, left), events.as_slice().len());
                sink.late().look_from(with_less_left(order, fewer));
            }
            // In memory: in a register it would be worked out after the event, with all of the event kept until then.
            let digest = &mut wakes.digests[place];
            while let Some(event) = events.as_slice().first()
                && event.lp() == lp
            {
                if sink.late().see_to(event) {
                    lookout.look_before(world, state, events.as_slice(), sink.late());
                    if !sink.late().is_empty() {
                        handled += run_late(world, state, journal, digest, lp, Some(event), sink);
                    }
                }
                events.next();
                *digest = chain(*digest, event);
                world.handle(state, journal, lp, event, sink);
            }
            if !sink.late().is_empty() {
                handled += run_late(world, state, journal, digest, lp, None, sink);
            }
            let next = world.close(state, journal, lp, end, sink).0;
            sink.leave(journal.mark(), events.as_slice().len());
            wakes.lps[place] = next;
            bound_left |= before.wake == earliest && next > earliest;
            earliest = earliest.min(next);
        }
        wakes.chunks[chunk] = match bound_left {
            true => earliest_of(&wakes.lps[places.clone()]),
            false => earliest,
        };
        if CHECKS {
            let truth = earliest_of(&wakes.lps[places]);
            assert!(wakes.chunks[chunk] <= truth, "the bound of wake times is too high");
        }
        first = last;
    }
    handled
}

/// Where the first event lies with which fewer than `left` are left, itself among them; beyond the last event if there is none. `order` may be all events or the
/// last of them.
#[inline(always)]
fn with_less_left<E>(order: &[E], left: usize) -> *const E {
    order.as_ptr().wrapping_add((order.len() + 1).saturating_sub(left))
}

/// Gives the world a hint while `lp` runs, of the LP that it is about, if the `left` from `lp` on have it.
#[inline(always)]
fn give<W: World>(world: &W, state: &W::State, (lp, left): (u32, u32), hint: Hint, ahead: Ahead) {
    if hint.handled_before() < left {
        world.prefetch(state, lp + hint.handled_before(), hint, ahead);
    }
}

/// The earliest of some wake times.
fn earliest_of(wakes: &[u64]) -> u64 {
    wakes.iter().copied().fold(u64::MAX, u64::min)
}

/// What a pass asks for while it handles events.
struct Lookout {
    /// Events of an LP, on average.
    each: usize,
    /// With fewer events left than this, the next of them are looked at: [`AHEAD`] more than have not been looked at, if there are any.
    foresight: usize,
    /// [Parts](World::parts) of the records of an LP, and in place of which hint.
    parts: u32,
    hint: Hint,
    /// The LP whose records are asked for, and the part that comes next.
    lp: u32,
    part: u32,
}

impl Lookout {
    fn new<W: World>(world: &W, events: usize, (each, dense): (usize, bool)) -> Lookout {
        let (hint, parts) = world.parts(each);
        let parts = if dense { parts } else { 0 };
        Lookout {
            each,
            foresight: if world.foresees() { events + AHEAD } else { 0 },
            parts,
            hint,
            lp: 0,
            part: parts,
        }
    }

    /// Has the world look at what comes next, with these events left, if that is wanted before the first of them.
    #[cold]
    #[inline(never)]
    fn look_before<W: World>(
        &mut self,
        world: &W,
        state: &W::State,
        events: &[W::Event],
        late: &mut LateEvents<W::Event>,
    ) {
        if late.looks(events.as_ptr()) {
            let fewer = self.look(world, state, events);
            late.look_from(with_less_left(events, fewer));
        }
    }

    /// Has the world look at what comes next, with these events left; returns with fewer than how many it is to do so again.
    #[inline(always)]
    fn look<W: World>(&mut self, world: &W, state: &W::State, events: &[W::Event]) -> usize {
        if events.len() < self.foresight {
            self.foresee(world, state, events);
        }
        if self.part < self.parts {
            world.prefetch_part(state, self.lp, self.part);
            self.part += 1;
        }
        match self.part < self.parts {
            true => events.len(),
            false => self.foresight,
        }
    }

    /// Has the world look at the next of these events that have not been looked at.
    #[inline(never)]
    fn foresee<W: World>(&mut self, world: &W, state: &W::State, events: &[W::Event]) {
        let unforeseen = (self.foresight - AHEAD).min(events.len());
        let foreseen = events.len() - unforeseen;
        let end = (foreseen + FORESEEN).min(events.len());
        world.foresee(state, &events[foreseen..end], self.each);
        self.foresight = match events.len() - end {
            0 => 0,
            unforeseen => unforeseen + AHEAD,
        };
    }

    /// Asks for the parts that are left, and turns to those of another LP, which the `left` LPs from `lp` on may have; returns as [`Lookout::look`] does,
    /// with so many events left.
    #[inline(never)]
    fn turn_to<W: World>(&mut self, world: &W, state: &W::State, (lp, left): (u32, u32), events: usize) -> usize {
        for part in self.part..self.parts {
            world.prefetch_part(state, self.lp, part);
        }
        self.part = self.parts;
        let before = self.hint.handled_before();
        if before < left {
            (self.lp, self.part) = (lp + before, 0);
        }
        match self.part < self.parts {
            true => events + 1,
            false => self.foresight,
        }
    }
}

/// Handles the late events of `lp` that come before `next`, or all of them; returns how many. Rare, and kept out of the loop over
/// events, which holds the handler once for all its registers.
#[cold]
#[inline(never)]
fn run_late<W: World, J: Journal, S: Sink<W> + Late<W::Event>>(
    world: &W,
    state: &mut W::State,
    journal: &mut J,
    digest: &mut u64,
    lp: u32,
    next: Option<&W::Event>,
    sink: &mut S,
) -> u64 {
    let seed = world.seed();
    let mut handled = 0;
    while let Some(late) = sink.late_before(next, seed) {
        handled += 1;
        *digest = chain(*digest, &late);
        world.handle(state, journal, lp, &late, sink);
    }
    handled
}

/// [`run_lp`] with the world whose handlers run.
fn run_one<W: World, J: Journal, S: Sink<W> + Late<W::Event>>(
    world: &W,
    block: &mut Block<W::State>,
    journal: &mut J,
    lp: u32,
    order: &[W::Event],
    end: Time,
    sink: &mut S,
) -> u64 {
    let Block { lps, state, wakes } = block;
    let place = (lp - lps.start) as usize;
    let before = Before {
        wake: wakes.lps[place],
        digest: wakes.digests[place],
        mark: journal.mark(),
        left: order.len(),
    };
    sink.enter(lp, before);
    let mut handled = order.len() as u64;
    let digest = &mut wakes.digests[place];
    for event in order {
        if !sink.late().is_empty() {
            handled += run_late(world, state, journal, digest, lp, Some(event), sink);
        }
        *digest = chain(*digest, event);
        world.handle(state, journal, lp, event, sink);
    }
    if !sink.late().is_empty() {
        handled += run_late(world, state, journal, digest, lp, None, sink);
    }
    let next = world.close(state, journal, lp, end, sink).0;
    sink.leave(journal.mark(), 0);
    wakes.put(place, next);
    handled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lower_bound_of_wake_times_is_never_too_high() {
        let mut wakes = Wakes {
            lps: vec![u64::MAX; 130],
            chunks: vec![u64::MAX; 3],
            digests: vec![0; 130],
        };
        // A rollback wakes an LP that slept.
        wakes.restore(100, 70, 5);
        assert_eq!((wakes.wake(100), wakes.digests()[100], wakes.earliest()), (70, 5, 70));
        // It may be too low, which a pass of the chunk mends.
        wakes.restore(100, 90, 5);
        assert_eq!(wakes.earliest(), 70);
        wakes.bound_again(100);
        assert_eq!(wakes.earliest(), 90);
        // A pass that ended in the middle of a chunk has changed wake times and not yet the bound.
        wakes.lps[129] = 3;
        wakes.bound_again(128);
        assert_eq!(wakes.earliest(), 3);
    }
}
