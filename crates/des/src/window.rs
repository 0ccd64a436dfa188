//! The window engine: all events of a window at once, ordered by one radix pass, run LP by LP.
//!
//! A window is as wide as the world's lookahead, so that nothing an LP does within it can reach another LP before it ends. LPs are
//! grouped in blocks, each with a ring of window buckets of its own, so that a block's sort and state stay in the second-level cache.
//! Windows without events are skipped; an LP that acts by itself (a waiting packet, a source) says when through its wake time.

use crate::column::{Journal, NoJournal};
use crate::engine::{Engine, Outcome, Progress, Stop, Watch};
use crate::ring::{Grid, Ring};
use crate::time::Time;
use crate::world::{Event, Observe, Sink, World, chain};
use std::cmp::Ordering;

/// Most blocks; a power of two.
const MAX_BLOCKS: usize = 16;
/// LPs whose wake times share one lower bound.
const CHUNK: usize = 64;
/// A radix slot with more events than this is sorted by comparison once the repair by insertion turns out to be dear.
const CROWDED: u32 = 24;
/// Moves per event that the repair by insertion may take.
const REPAIR: usize = 8;

/// Runs a world window by window on one worker.
pub struct WindowEngine<'w, W: World> {
    world: &'w W,
    state: W::State,
    blocks: Blocks<W>,
    /// When each LP wants to be closed, and the digest of what it has handled.
    wake: Wakes,
    scratch: Scratch<W::Event>,
    outcome: Outcome,
}

/// Pending events of all blocks and the window that is open; the sink of the handlers.
pub(crate) struct Blocks<W: World> {
    pub(crate) rings: Box<[Ring<W::Event>; MAX_BLOCKS]>,
    n_blocks: usize,
    pub(crate) grid: Grid,
    /// End of the open window; earlier than the grid's where a run ends within a window.
    pub(crate) end: u64,
    /// An LP's block is `lp >> shift`.
    pub(crate) shift: u32,
    /// Own-LP events that fall into the open window, latest first.
    late: Vec<W::Event>,
    lp: u32,
    seed: u64,
    broken: Option<&'static str>,
    pub(crate) observer: W::Observer,
}

impl<W: World> Blocks<W> {
    /// An event inside the open window: allowed for the own LP only.
    #[cold]
    fn send_late(&mut self, event: W::Event) {
        let time = event.time().0;
        if time >= self.end {
            self.rings[(event.lp() >> self.shift) as usize].push(self.grid.index, 0, event);
        } else if event.lp() == self.lp {
            let seed = self.seed;
            let at = self
                .late
                .partition_point(|other| other.order(&event, seed) == Ordering::Greater);
            self.late.insert(at, event);
        } else {
            self.broken = Some("an event reached another logical process within the lookahead");
        }
    }

    #[cold]
    fn send_far(&mut self, event: W::Event) {
        if event.time().0 < self.grid.start {
            self.broken = Some("an event was sent into the past");
        } else {
            self.rings[(event.lp() >> self.shift) as usize].push_far(event);
        }
    }
}

/// Takes the last of `late`, latest first, if it comes before `event`.
pub(crate) fn take_late<E: Event>(late: &mut Vec<E>, event: Option<&E>, seed: u64) -> Option<E> {
    late.pop_if(|first| event.is_none_or(|event| first.order(event, seed) == Ordering::Less))
}

impl<W: World> Sink<W> for Blocks<W> {
    #[inline(always)]
    fn send_at(&mut self, time: Time, event: W::Event) {
        debug_assert_eq!(event.time(), time, "an event is sent at another time than its own");
        let offset = time.0.wrapping_sub(self.grid.start);
        if offset < self.grid.reach {
            let ahead = self.grid.windows(offset);
            if ahead == 0 {
                self.send_late(event);
            } else {
                self.rings[(event.lp() >> self.shift) as usize % MAX_BLOCKS].push(self.grid.index, ahead, event);
            }
        } else {
            self.send_far(event);
        }
    }

    #[inline(always)]
    fn record(&mut self, record: W::Record) {
        self.observer.see(record);
    }
}

/// What the engine keeps of each LP: wake times, with a lower bound per chunk, and the digest of its past.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Wakes {
    lps: Vec<u64>,
    chunks: Vec<u64>,
    digests: Vec<u64>,
}

impl Wakes {
    fn new<W: World>(world: &W, state: &W::State) -> Self {
        let lps: Vec<u64> = (0..world.n_lps()).map(|lp| world.first_wake(state, lp).0).collect();
        let chunks = lps
            .chunks(CHUNK)
            .map(|chunk| chunk.iter().copied().fold(u64::MAX, u64::min))
            .collect();
        Wakes {
            digests: vec![0; lps.len()],
            lps,
            chunks,
        }
    }

    /// The records of a block, to put back with [`Wakes::put_back`].
    pub(crate) fn save(&self, lps: &std::ops::Range<u32>) -> Wakes {
        let chunks = lps.start as usize / CHUNK..(lps.end as usize).div_ceil(CHUNK);
        Wakes {
            lps: self.lps[lps.start as usize..lps.end as usize].to_vec(),
            chunks: self.chunks[chunks].to_vec(),
            digests: self.digests[lps.start as usize..lps.end as usize].to_vec(),
        }
    }

    /// Undoes every change since [`Wakes::save`].
    pub(crate) fn put_back(&mut self, lps: &std::ops::Range<u32>, saved: &Wakes) {
        let chunks = lps.start as usize / CHUNK..(lps.end as usize).div_ceil(CHUNK);
        self.lps[lps.start as usize..lps.end as usize].copy_from_slice(&saved.lps);
        self.chunks[chunks].copy_from_slice(&saved.chunks);
        self.digests[lps.start as usize..lps.end as usize].copy_from_slice(&saved.digests);
    }

    fn earliest(&self) -> u64 {
        self.chunks.iter().copied().fold(u64::MAX, u64::min)
    }
}

/// Buffers of the radix pass.
pub(crate) struct Scratch<E> {
    pub(crate) order: Vec<E>,
    counts: Vec<u32>,
    /// The radix slot of each event of the batch.
    slots: Vec<u32>,
}

impl<E: Event> Scratch<E> {
    /// Orders `batch` by (LP, time, tie) into `self.order[..batch.len()]`: one counting pass by a monotone function of (LP, time)
    /// with about as many slots as events, then a repair by insertion.
    pub(crate) fn sort(&mut self, batch: &[E], first_lp: u32, n_lps: u32, grid: &Grid, seed: u64) {
        let n = batch.len();
        if self.order.len() < n {
            self.order.resize(n.next_power_of_two(), E::zeroed());
        }
        // slot = (LP, time slice) in fixed point with 32 fraction bits: monotone in (LP, time), and an LP has slots of its own if there
        // are as many events as LPs.
        let (per_lp, per_ps) = if n >= n_lps as usize {
            let slices = 1u64 << (32 + (n / n_lps as usize).ilog2().min(9) + 1);
            (slices, slices / grid.width)
        } else {
            (1 << (32 - (n_lps as usize / n.max(1)).ilog2()), 0)
        };
        let origin = u64::from(first_lp)
            .wrapping_mul(per_lp)
            .wrapping_add(grid.start.wrapping_mul(per_ps));
        let n_slots = (u64::from(n_lps) * per_lp).div_ceil(1 << 32) as usize;
        let (counts, slots) = (&mut self.counts, &mut self.slots);
        counts.resize(n_slots, 0);
        // In pieces of one kilobyte, which plain stores clear faster than the string instructions that a library takes for more.
        counts.chunks_mut(256).for_each(|piece| piece.fill(0));
        if slots.len() < n {
            slots.resize(n.next_power_of_two(), 0);
        }
        let slots = &mut slots[..n];
        let mut count = |event: &E| {
            let place = u64::from(event.lp())
                .wrapping_mul(per_lp)
                .wrapping_add(event.time().0.wrapping_mul(per_ps));
            let slot = (place.wrapping_sub(origin) >> 32) as u32;
            counts[slot as usize] += 1;
            slot
        };
        let (fours, rest) = batch.as_chunks::<4>();
        let (slot_fours, slot_rest) = slots.as_chunks_mut::<4>();
        for (events, slots) in fours.iter().zip(slot_fours) {
            *slots = [
                count(&events[0]),
                count(&events[1]),
                count(&events[2]),
                count(&events[3]),
            ];
        }
        for (event, slot) in rest.iter().zip(slot_rest) {
            *slot = count(event);
        }
        let mut sum = 0;
        for count in counts.iter_mut() {
            sum += std::mem::replace(count, sum);
        }
        let order = &mut self.order[..n];
        let mut scatter = |event: &E, slot: u32| {
            // SAFETY: the counting pass has used these slots, with checks; counts are sums now, so that as many places follow each of
            // them as it is used, the last one below `n`.
            #[allow(unsafe_code)]
            unsafe {
                let place = counts.get_unchecked_mut(slot as usize);
                *order.get_unchecked_mut(*place as usize) = *event;
                *place += 1;
            }
        };
        let (slot_fours, slot_rest) = slots.as_chunks::<4>();
        for (events, slots) in fours.iter().zip(slot_fours) {
            scatter(&events[0], slots[0]);
            scatter(&events[1], slots[1]);
            scatter(&events[2], slots[2]);
            scatter(&events[3], slots[3]);
        }
        for (event, &slot) in rest.iter().zip(slot_rest) {
            scatter(event, slot);
        }
        if !repair(order, seed, grid.start, REPAIR * n) {
            sort_crowded(order, counts, seed);
            repair(order, seed, grid.start, usize::MAX);
        }
    }
}

/// Sorts an order that is nearly right by insertion; `false` if it took more than `budget` moves and is not done. `start` is the
/// window's: all times are less than 2^32 ps later.
fn repair<E: Event>(order: &mut [E], seed: u64, start: u64, mut budget: usize) -> bool {
    // One comparison of one word per event: LP, then time within the window.
    let key = |event: &E| u64::from(event.lp()) << 32 | u64::from(event.time().0.wrapping_sub(start) as u32);
    let Some(first) = order.first() else { return true };
    let mut before = key(first);
    let mut i = 1;
    while let Some(event) = order.get(i) {
        let next = key(event);
        if next > before {
            before = next;
        } else if next < before || loses_tie(&order[i - 1], event, seed) {
            if i < 2 || key(&order[i - 2]) < next {
                // Most often two neighbours are to be swapped.
                order.swap(i - 1, i);
            } else {
                let moves = insert(&mut order[..=i], seed);
                if moves > budget {
                    return false;
                }
                budget -= moves;
            }
        }
        i += 1;
    }
    true
}

/// Puts the last event of an order into its place, where all before it are in order and it comes before the one next to it; returns
/// how far that is.
#[inline(never)]
fn insert<E: Event>(order: &mut [E], seed: u64) -> usize {
    let last = order.len() - 1;
    let event = order[last];
    order[last] = order[last - 1];
    let mut place = last - 1;
    let (lp, time) = (event.lp(), event.time());
    while place > 0 {
        let before = &order[place - 1];
        let follows = if before.lp() != lp {
            before.lp() > lp
        } else if before.time() != time {
            before.time() > time
        } else {
            loses_tie(before, &event, seed)
        };
        if !follows {
            break;
        }
        order[place] = order[place - 1];
        place -= 1;
    }
    order[place] = event;
    last - place
}

/// `true` if `a` comes after `b`, which is for the same LP at the same time; rare, and kept out of the loop with its hashes.
#[cold]
fn loses_tie<E: Event>(a: &E, b: &E, seed: u64) -> bool {
    a.tie(b, seed) == Ordering::Greater
}

/// Sorts the radix slots that hold many events by comparison; `ends` are the ends of all slots.
#[cold]
fn sort_crowded<E: Event>(order: &mut [E], ends: &[u32], seed: u64) {
    // Repair moved events only within their slots: slots are monotone.
    let mut from = 0;
    for &to in ends {
        if to - from > CROWDED {
            order[from as usize..to as usize].sort_unstable_by(|a, b| by_lp(a, b, seed));
        }
        from = to;
    }
}

#[inline(always)]
fn by_lp<E: Event>(a: &E, b: &E, seed: u64) -> Ordering {
    a.lp().cmp(&b.lp()).then_with(|| a.order(b, seed))
}

/// Runs the LPs `first_lp..first_lp + n_lps` through one window whose events are `order`; returns the events handled.
#[inline(never)]
pub(crate) fn run_block<W: World, J: Journal, S: Sink<W> + Late<W::Event>>(
    world: &W,
    state: &mut W::State,
    journal: &mut J,
    wake: &mut Wakes,
    order: &[W::Event],
    lps: std::ops::Range<u32>,
    end: Time,
    sink: &mut S,
) -> u64 {
    let mut events = order.iter();
    let mut handled = order.len() as u64;
    // With fewer events than that the next LP would often be asked for in vain.
    let dense = order.len() >= lps.len();
    let mut first = lps.start;
    while first < lps.end {
        let last = (first + CHUNK as u32).min(lps.end);
        let chunk = first as usize / CHUNK;
        let due = wake.chunks[chunk] < end.0;
        if !due && events.as_slice().first().is_none_or(|event| event.lp() >= last) {
            // Nothing to do here: go to the chunk of the next event unless an LP before it wakes.
            first = last;
            continue;
        }
        let mut earliest = u64::MAX;
        let mut lp = first;
        while lp < last {
            let has_events = events.as_slice().first().is_some_and(|event| event.lp() == lp);
            if !has_events && wake.lps[lp as usize] >= end.0 {
                earliest = earliest.min(wake.lps[lp as usize]);
                lp += 1;
                continue;
            }
            sink.enter(lp);
            if dense && lp + 1 < lps.end {
                world.prefetch(state, lp + 1);
            }
            while let Some(event) = events.as_slice().first()
                && event.lp() == lp
            {
                if sink.has_late() {
                    handled += run_late(world, state, journal, wake, lp, Some(event), sink);
                }
                events.next();
                // In memory: in a register it would be worked out after the event, with all of the event kept until then.
                let digest = &mut wake.digests[lp as usize];
                *digest = chain(*digest, event);
                world.handle(state, journal, lp, event, sink);
            }
            if sink.has_late() {
                handled += run_late(world, state, journal, wake, lp, None, sink);
            }
            let next = world.close(state, journal, lp, end, sink).0;
            sink.leave();
            wake.lps[lp as usize] = next;
            earliest = earliest.min(next);
            lp += 1;
        }
        wake.chunks[chunk] = earliest;
        first = last;
    }
    handled
}

/// Handles the late events of `lp` that come before `next`, or all of them; returns how many. Rare, and kept out of the loop over
/// events, which holds the handler once for all its registers.
#[cold]
#[inline(never)]
fn run_late<W: World, J: Journal, S: Sink<W> + Late<W::Event>>(
    world: &W,
    state: &mut W::State,
    journal: &mut J,
    wake: &mut Wakes,
    lp: u32,
    next: Option<&W::Event>,
    sink: &mut S,
) -> u64 {
    let seed = world.seed();
    let mut handled = 0;
    while let Some(late) = sink.late_before(next, seed) {
        handled += 1;
        let digest = &mut wake.digests[lp as usize];
        *digest = chain(*digest, &late);
        world.handle(state, journal, lp, &late, sink);
    }
    handled
}

/// Access to the own-LP events that fall into the open window.
pub(crate) trait Late<E> {
    /// Names the LP that runs.
    fn enter(&mut self, lp: u32);
    /// `true` if there is a late event.
    fn has_late(&self) -> bool;
    /// Takes the earliest late event if there is one and it comes before `event`, if that is given.
    fn late_before(&mut self, event: Option<&E>, seed: u64) -> Option<E>;
    /// Checks that the LP left nothing behind.
    fn leave(&mut self);
}

impl<W: World> Late<W::Event> for Blocks<W> {
    #[inline(always)]
    fn enter(&mut self, lp: u32) {
        self.lp = lp;
    }

    #[inline(always)]
    fn has_late(&self) -> bool {
        !self.late.is_empty()
    }

    fn late_before(&mut self, event: Option<&W::Event>, seed: u64) -> Option<W::Event> {
        take_late(&mut self.late, event, seed)
    }

    #[inline(always)]
    fn leave(&mut self) {
        if !self.late.is_empty() {
            self.broken = Some("closing a logical process sent it an event within the window");
            self.late.clear();
        }
    }
}

impl<'w, W: World> WindowEngine<'w, W> {
    /// Narrowest window the engine takes, in ps; below it the reference engine's total order is the better loop.
    pub const MIN_WIDTH: u64 = 2;

    /// An engine with the given first events on about `n_blocks` blocks, at most 16.
    pub fn new(world: &'w W, state: W::State, observer: W::Observer, first: Vec<W::Event>, n_blocks: u32) -> Self {
        let n_lps = world.n_lps().max(1);
        let per_block = n_lps
            .div_ceil(n_blocks.clamp(1, MAX_BLOCKS as u32))
            .max(CHUNK as u32)
            .next_power_of_two();
        let shift = per_block.ilog2();
        let n_blocks = n_lps.div_ceil(per_block) as usize;
        let grid = Grid::new(world.lookahead().0.clamp(Self::MIN_WIDTH, Grid::MAX_WIDTH));
        let mut rings: Box<[Ring<W::Event>; MAX_BLOCKS]> = Box::new(std::array::from_fn(|_| Ring::default()));
        for event in first {
            rings[(event.lp() >> shift) as usize].insert(&grid, event);
        }
        let wake = Wakes::new(world, &state);
        let blocks = Blocks {
            rings,
            n_blocks,
            grid,
            end: 0,
            shift,
            late: Vec::new(),
            lp: 0,
            seed: world.seed(),
            broken: None,
            observer,
        };
        let scratch = Scratch {
            order: Vec::new(),
            counts: Vec::new(),
            slots: Vec::new(),
        };
        WindowEngine {
            world,
            state,
            blocks,
            wake,
            scratch,
            outcome: Outcome::default(),
        }
    }

    /// The next window with something to do, if any.
    fn next_window(&self) -> Option<u64> {
        let grid = &self.blocks.grid;
        let events = self.blocks.rings.iter().filter_map(|ring| ring.next_window(grid)).min();
        let earliest = self.wake.earliest();
        let wake = (earliest != u64::MAX).then(|| (earliest / grid.width).max(grid.index));
        match (events, wake) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Opens window `index` and runs it up to `until`, through `run` for each block.
    pub(crate) fn run_window(&mut self, index: u64, until: Time, check: Option<&mut crate::rollback::Checker<W>>) {
        let blocks = &mut self.blocks;
        blocks.grid.open(index);
        blocks.end = (blocks.grid.start + blocks.grid.width).min(until.0);
        let end = Time(blocks.end);
        let n_lps = self.world.n_lps();
        let mut check = check;
        for block in 0..blocks.n_blocks {
            let first_lp = (block as u32) << blocks.shift;
            let lps = first_lp..n_lps.min(first_lp + (1 << blocks.shift));
            let ring = &mut blocks.rings[block];
            ring.draw_near(&blocks.grid);
            let mut batch = ring.take(index);
            if blocks.end < blocks.grid.start + blocks.grid.width {
                // The run ends within this window: what is later stays.
                batch.retain(|event| {
                    let stays = event.time() >= end;
                    if stays {
                        ring.push(index, 0, *event);
                    }
                    !stays
                });
            }
            let n = batch.len();
            if n > 0 {
                self.scratch
                    .sort(&batch, first_lp, lps.end - lps.start, &blocks.grid, blocks.seed);
            }
            ring.recycle(index, batch);
            let order = &self.scratch.order[..n];
            let handled = match &mut check {
                None => run_block(
                    self.world,
                    &mut self.state,
                    &mut NoJournal,
                    &mut self.wake,
                    order,
                    lps,
                    end,
                    blocks,
                ),
                Some(checker) => {
                    checker.run_block(self.world, &mut self.state, &mut self.wake, order, lps, end, blocks)
                }
            };
            self.outcome.events += handled;
        }
        self.outcome.windows += 1;
    }

    pub(crate) fn run_checked(
        &mut self,
        until: Time,
        watch: Watch<'_, W>,
        mut check: Option<&mut crate::rollback::Checker<W>>,
    ) -> Stop {
        let mut since_watch = self.outcome.events;
        loop {
            let Some(index) = self.next_window() else {
                return Stop::Idle;
            };
            if index * self.blocks.grid.width >= until.0 {
                return Stop::Until;
            }
            self.run_window(index, until, check.as_deref_mut());
            if let Some(reason) = self.blocks.broken {
                return Stop::Broken(reason);
            }
            if let Some(reason) = check.as_deref().and_then(|checker| checker.failure()) {
                return Stop::Broken(reason);
            }
            if self.blocks.end == until.0 {
                return Stop::Until;
            }
            if self.outcome.events - since_watch >= 1 << 18 || self.outcome.windows.is_multiple_of(4_096) {
                since_watch = self.outcome.events;
                let progress = Progress {
                    now: Time(self.blocks.end),
                    events: self.outcome.events,
                };
                if !watch(&self.state, &self.blocks.observer, progress) {
                    return Stop::Interrupted;
                }
            }
        }
    }
}

impl<W: World> Engine<W> for WindowEngine<'_, W> {
    fn run(&mut self, until: Time, watch: Watch<'_, W>) -> Stop {
        self.run_checked(until, watch, None)
    }

    fn state(&self) -> &W::State {
        &self.state
    }

    fn digests(&self) -> &[u64] {
        &self.wake.digests
    }

    fn observer(&self) -> &W::Observer {
        &self.blocks.observer
    }

    fn outcome(&self) -> Outcome {
        self.outcome
    }

    fn pending(&self, show: &mut dyn FnMut(&W::Event)) {
        self.blocks.rings.iter().for_each(|ring| ring.for_each(show));
    }

    fn into_parts(self: Box<Self>) -> (W::State, W::Observer, Outcome) {
        (self.state, self.blocks.observer, self.outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phold::Ball;
    use crate::rng::{below, mix};

    /// Sorts `n` events of `n_lps` LPs at `n_times` different times of a window by the radix pass and by comparison.
    fn check(n: u64, n_lps: u32, n_times: u64) {
        const FIRST: u32 = 64;
        const WIDTH: u64 = 200_000;
        let mut grid = Grid::new(WIDTH);
        grid.open(7);
        let draw = |i: u64, stream: u64, limit: u64| below(mix(mix(i) ^ stream), limit);
        let ball = |i: u64| {
            let time = grid.start + draw(i, 1, n_times) * (WIDTH / n_times);
            Ball::new(
                Time(time),
                FIRST + draw(i, 2, n_lps.into()) as u32,
                draw(i, 3, 99) as u32,
                i,
            )
        };
        let batch: Vec<Ball> = (0..n).map(ball).collect();
        let mut scratch = Scratch {
            order: Vec::new(),
            counts: Vec::new(),
            slots: Vec::new(),
        };
        // Twice: buffers of an earlier window must not show.
        for part in [&batch[..], &batch[..batch.len() / 2]] {
            scratch.sort(part, FIRST, n_lps, &grid, 5);
            let mut expected = part.to_vec();
            expected.sort_by(|a, b| by_lp(a, b, 5));
            let key = |ball: &Ball| (ball.lp(), ball.time(), bytemuck::bytes_of(ball).to_vec());
            let (got, want) = (scratch.order[..part.len()].iter().map(key), expected.iter().map(key));
            assert!(got.eq(want), "{n} events of {n_lps} LPs at {n_times} times");
        }
    }

    #[test]
    fn the_radix_pass_orders_as_a_comparison_sort_does() {
        for (n, n_lps, n_times) in [
            (1, 1, 1),
            (2, 3, 1),
            (500, 64, 200_000),
            (5_000, 64, 200_000),
            (5_000, 64, 1),
            (5_000, 1, 2),
            (3_000, 100_000, 200_000),
            (60_000, 37, 1_000),
            (100_000, 1, 50),
        ] {
            check(n, n_lps, n_times);
        }
    }
}
