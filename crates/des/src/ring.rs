//! Pending events of one block: a ring of window buckets, appended to only, and a far list beyond it.

use crate::cache::{LINE, bring_line};
use crate::far::FarEvents;
use crate::pool::{CHUNK, Pool};
use crate::time::Time;
use crate::world::Event;
use std::ops::{Deref, DerefMut};

/// Windows that a ring holds; a power of two and a multiple of 64.
pub const SLOTS: usize = if cfg!(loom) { 64 } else { 256 };
/// Windows ahead of the current one that most events fall into.
const NEAR: usize = 3;

/// Events of a bucket that change hands in their buffer: with fewer, copying them is cheaper than another core's cache misses.
const MANY: usize = 64;

/// Maps times to windows of one width without division.
#[derive(Clone, Copy, Debug)]
pub struct WindowGrid {
    /// Window width in ps.
    pub width: u64,
    /// Window number of the current window.
    pub index: u64,
    /// Start of the current window: `index * width`.
    pub start: u64,
    /// Width of a whole ring: `SLOTS * width`.
    pub reach: u64,
    /// `ceil(2^64 / width)`: exact quotients for all offsets within a ring (checked in [`WindowGrid::new`]).
    reciprocal: u64,
    /// The window after the current one: its number, its start, and how far the ring reaches from there.
    next: (u64, u64, u64),
}

impl WindowGrid {
    /// Least width, in ps.
    pub const MIN_WIDTH: u64 = 2;
    /// Largest width for which the reciprocal is exact over a whole ring: 0.2 ms.
    pub const MAX_WIDTH: u64 = 200_000_000;

    /// A grid of windows `width` ps wide, [`WindowGrid::MIN_WIDTH`] to [`WindowGrid::MAX_WIDTH`].
    pub fn new(width: u64) -> WindowGrid {
        assert!(
            (Self::MIN_WIDTH..=Self::MAX_WIDTH).contains(&width),
            "window width out of range"
        );
        let reciprocal = ((1u128 << 64).div_ceil(u128::from(width))) as u64;
        WindowGrid {
            width,
            index: 0,
            start: 0,
            reach: width * SLOTS as u64,
            reciprocal,
            next: (1, width, width * (SLOTS as u64 - 1)),
        }
    }

    /// The grid of a run with that lookahead, at the window of `time`.
    pub fn at(lookahead: Time, time: Time) -> WindowGrid {
        let mut grid = WindowGrid::new(lookahead.0.clamp(Self::MIN_WIDTH, Self::MAX_WIDTH));
        grid.open(time.0 / grid.width);
        grid
    }

    /// How many windows `offset` ps reach, for offsets below `SLOTS * width`.
    #[inline(always)]
    pub fn windows(&self, offset: u64) -> u64 {
        ((u128::from(offset) * u128::from(self.reciprocal)) >> 64) as u64
    }

    /// The window of a time (ps) behind the current window and within the ring: one comparison tells both.
    #[inline(always)]
    pub fn coming(&self, time: u64) -> Option<u64> {
        let (index, start, reach) = self.next;
        let offset = time.wrapping_sub(start);
        (offset < reach).then(|| index + self.windows(offset))
    }

    /// Makes window `index` the current one.
    pub fn open(&mut self, index: u64) {
        self.index = index;
        self.start = index * self.width;
        self.next = (index + 1, self.start + self.width, self.reach - self.width);
    }
}

impl<E> Letter<E> {
    /// Takes its buffers back once it has been read.
    pub(crate) fn take_back(&mut self, pool: &mut Pool<E>) {
        self.whole.drain(..).for_each(|(_, buffer)| pool.give(buffer));
    }
}

/// Pending events of one block.
#[derive(Debug)]
pub struct EventRing<E> {
    /// Of each bucket the buffer that fills; empty ones have none.
    slots: Box<[Vec<E>; SLOTS]>,
    /// Of buckets with more events than a buffer holds the others, with the slot.
    full: Vec<(u32, Vec<E>)>,
    occupied: [u64; SLOTS / 64],
    /// The slot that was emptied last, and how many events were in it.
    last: (usize, usize),
    /// Events beyond the ring.
    far: FarEvents<E>,
}

/// A ring for each block. Their number is a power of two, so that the number of a block is cut to it: a look at the length for every event that is sent costs
/// up to a seventh of a run.
pub(crate) struct Rings<E> {
    rings: Box<[EventRing<E>]>,
    /// One less than their number.
    mask: usize,
}

impl<E: Event> Rings<E> {
    /// Empty rings for `n_blocks` blocks.
    pub(crate) fn new(n_blocks: usize) -> Self {
        let n = n_blocks.next_power_of_two();
        Rings {
            rings: (0..n).map(|_| EventRing::default()).collect(),
            mask: n - 1,
        }
    }

    /// The ring of a block.
    #[inline(always)]
    pub(crate) fn of(&mut self, block: u32) -> &mut EventRing<E> {
        // SAFETY: the mask is one less than the number of rings, which is a power of two and stays.
        #[allow(unsafe_code)]
        unsafe {
            self.rings.get_unchecked_mut(block as usize & self.mask)
        }
    }
}

impl<E> Deref for Rings<E> {
    type Target = [EventRing<E>];

    #[inline]
    fn deref(&self) -> &[EventRing<E>] {
        &self.rings
    }
}

impl<E> DerefMut for Rings<E> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [EventRing<E>] {
        &mut self.rings
    }
}

/// Events of a ring on their way to another: few of a window in one piece, so that they cost another core few cache lines, many in their
/// buffers, which change places with empty ones.
#[derive(Debug)]
pub(crate) struct Letter<E> {
    /// In the order of `runs`, then those beyond the ring.
    events: Vec<E>,
    /// Slots with few events, and how many.
    runs: Vec<(u32, u32)>,
    /// Slots with many, in the buffers they were in.
    whole: Vec<(u32, Vec<E>)>,
}

impl<E> Default for Letter<E> {
    fn default() -> Self {
        Letter {
            events: Vec::new(),
            runs: Vec::new(),
            whole: Vec::new(),
        }
    }
}

impl<E: Event> Default for EventRing<E> {
    fn default() -> Self {
        EventRing {
            slots: Box::new([const { Vec::new() }; SLOTS]),
            full: Vec::new(),
            occupied: [0; SLOTS / 64],
            last: (0, 0),
            far: FarEvents::default(),
        }
    }
}

impl<E: Event> EventRing<E> {
    /// Adds an event at a window, fewer than [`SLOTS`] behind the current one.
    #[inline(always)]
    pub fn push(&mut self, window: u64, event: E, pool: &mut Pool<E>) {
        let slot = window as usize & (SLOTS - 1);
        let bucket = &self.slots[slot];
        if bucket.len() == bucket.capacity() {
            // The event is not handed on, or it would be written twice whether there is room or not.
            self.make_room(slot, pool);
        }
        let bucket = &mut self.slots[slot];
        let n = bucket.len();
        debug_assert!(n < bucket.capacity());
        // SAFETY: there is room for one more. `Vec::push` would look for it once more.
        #[allow(unsafe_code)]
        unsafe {
            let place = bucket.as_mut_ptr().add(n);
            // The line behind: by the time that an event goes there, stores that wait for it would let all others wait behind them.
            bring_line(place.cast::<u8>().wrapping_add(LINE));
            place.write(event);
            bucket.set_len(n + 1);
        }
    }

    /// A first buffer for a bucket, a larger one, or a further one if it has the largest.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, slot: usize, pool: &mut Pool<E>) {
        let bucket = &mut self.slots[slot];
        match bucket.capacity() {
            0 => {
                self.occupied[slot >> 6] |= 1 << (slot & 63);
                let (last, events) = self.last;
                let near = (slot.wrapping_sub(last) & (SLOTS - 1)) <= NEAR;
                *bucket = pool.get(if near { events } else { 0 });
            }
            CHUNK.. => {
                let full = std::mem::replace(bucket, pool.get(CHUNK));
                self.full.push((slot as u32, full));
            }
            size => {
                let mut larger = pool.get(size + 1);
                larger.append(bucket);
                pool.give(std::mem::replace(bucket, larger));
            }
        }
    }

    /// Adds the events of `run` to a bucket.
    fn extend(&mut self, slot: usize, mut run: &[E], pool: &mut Pool<E>) {
        loop {
            let bucket = &mut self.slots[slot];
            let (now, later) = run.split_at(run.len().min(bucket.capacity() - bucket.len()));
            bucket.extend_from_slice(now);
            if later.is_empty() {
                return;
            }
            run = later;
            self.make_room(slot, pool);
        }
    }

    /// Moves all events into a letter, in place of those it carried; window `index` is open.
    pub(crate) fn write(&mut self, index: u64, letter: &mut Letter<E>, pool: &mut Pool<E>) {
        letter.events.clear();
        letter.runs.clear();
        letter.take_back(pool);
        letter.whole.append(&mut self.full);
        let mut most = if letter.whole.is_empty() { 0 } else { CHUNK };
        for word in 0..SLOTS / 64 {
            let mut bits = std::mem::take(&mut self.occupied[word]);
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let mut bucket = std::mem::take(&mut self.slots[slot]);
                most = most.max(bucket.len());
                if bucket.len() >= MANY {
                    letter.whole.push((slot as u32, bucket));
                    continue;
                }
                letter.runs.push((slot as u32, bucket.len() as u32));
                letter.events.append(&mut bucket);
                pool.give(bucket);
            }
        }
        self.last = (index as usize & (SLOTS - 1), most);
        self.far.drain_into(&mut letter.events);
    }

    /// Adds the events of a letter from a ring of the same grid with the same window open. Full buffers change places with empty ones
    /// of `pool`.
    pub(crate) fn read(&mut self, letter: &mut Letter<E>, pool: &mut Pool<E>) {
        let mut events = &letter.events[..];
        for &(slot, n) in &letter.runs {
            let (run, rest) = events.split_at(n as usize);
            events = rest;
            self.extend(slot as usize & (SLOTS - 1), run, pool);
        }
        for event in events {
            self.push_far(*event);
        }
        for (slot, buffer) in &mut letter.whole {
            let place = *slot as usize & (SLOTS - 1);
            if buffer.len() > CHUNK / 2 {
                if self.slots[place].capacity() == 0 {
                    // A bucket that holds events has a buffer that fills.
                    self.make_room(place, pool);
                }
                let empty = pool.largest().unwrap_or_default();
                self.full.push((*slot, std::mem::replace(buffer, empty)));
            } else {
                self.extend(place, buffer, pool);
            }
        }
    }

    /// Moves all events to the end of `out`.
    pub fn drain_into(&mut self, out: &mut Vec<E>, pool: &mut Pool<E>) {
        for (_, mut buffer) in self.full.drain(..) {
            out.append(&mut buffer);
            pool.give(buffer);
        }
        for word in 0..SLOTS / 64 {
            let mut bits = std::mem::take(&mut self.occupied[word]);
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let mut bucket = std::mem::take(&mut self.slots[slot]);
                out.append(&mut bucket);
                pool.give(bucket);
            }
        }
        self.far.drain_into(out);
    }

    /// Adds an event beyond the ring.
    #[cold]
    pub fn push_far(&mut self, event: E) {
        self.far.push(event);
    }

    /// Adds an event at any time not before the current window.
    pub fn insert(&mut self, grid: &WindowGrid, event: E, pool: &mut Pool<E>) {
        let offset = event.time().0 - grid.start;
        if offset < grid.reach {
            self.push(grid.index + grid.windows(offset), event, pool);
        } else {
            self.push_far(event);
        }
    }

    /// The first window at or after the current one that may hold events, if any.
    pub fn next_window(&self, grid: &WindowGrid) -> Option<u64> {
        let first = grid.index as usize & (SLOTS - 1);
        let in_ring = (0..=SLOTS / 64).find_map(|step| {
            let word = ((first >> 6) + step) % (SLOTS / 64);
            let mut bits = self.occupied[word];
            if step == 0 {
                bits &= u64::MAX << (first & 63);
            } else if step == SLOTS / 64 {
                bits &= !(u64::MAX << (first & 63));
            }
            (bits != 0).then(|| {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                grid.index + (slot.wrapping_sub(first) & (SLOTS - 1)) as u64
            })
        });
        let beyond = (self.far.min() != u64::MAX).then(|| self.far.min() / grid.width);
        match (in_ring, beyond) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Moves far events that the ring reaches now into it. Call after [`WindowGrid::open`].
    pub fn draw_near(&mut self, grid: &WindowGrid, pool: &mut Pool<E>) {
        let (reach, first) = (grid.reach, self.far.min());
        // Half a ring early: else a span would be looked through in nearly every window.
        if first.wrapping_sub(grid.start) >= reach / 2 || first == u64::MAX {
            return;
        }
        let mut far = std::mem::take(&mut self.far);
        far.draw(grid.start + reach, |event| {
            let ahead = grid.windows(event.time().0 - grid.start);
            self.push(grid.index + ahead, event, pool);
        });
        self.far = far;
    }

    /// Takes window `index`'s events in their buffers, at the end of `batch`; returns how many. The buffers are for [`Pool::give`].
    pub fn take(&mut self, index: u64, batch: &mut Vec<Vec<E>>) -> usize {
        let slot = index as usize & (SLOTS - 1);
        let bit = 1 << (slot & 63);
        let mut n = 0;
        if self.occupied[slot >> 6] & bit != 0 {
            self.occupied[slot >> 6] &= !bit;
            let first = batch.len();
            batch.push(std::mem::take(&mut self.slots[slot]));
            let full = self.full.extract_if(.., |(full, _)| *full as usize == slot);
            batch.extend(full.map(|(_, buffer)| buffer));
            n = batch[first..].iter().map(Vec::len).sum();
        }
        self.last = (slot, n);
        n
    }

    /// Moves window `index`'s events to the end of `out`.
    pub fn take_into(&mut self, index: u64, out: &mut Vec<E>, pool: &mut Pool<E>) {
        let mut batch = Vec::new();
        self.take(index, &mut batch);
        for mut buffer in batch {
            out.append(&mut buffer);
            pool.give(buffer);
        }
    }

    /// Shows every event held.
    pub fn for_each(&self, show: &mut dyn FnMut(&E)) {
        let full = self.full.iter().flat_map(|(_, buffer)| buffer);
        let far = self.far.iter();
        self.slots.iter().flatten().chain(full).chain(far).for_each(show);
    }

    /// Number of events held.
    pub fn len(&self) -> usize {
        let full = self.full.iter().map(|(_, buffer)| buffer);
        let near: usize = self.slots.iter().chain(full).map(Vec::len).sum();
        near + self.far.len()
    }

    /// `true` if no event is held.
    pub fn is_empty(&self) -> bool {
        self.far.min() == u64::MAX && self.occupied.iter().all(|&word| word == 0)
    }

    /// Earliest time beyond the ring, for tests.
    pub fn far_min(&self) -> Time {
        Time(self.far.min())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phold::Ball;

    fn ball(time: u64) -> Ball {
        Ball::new(Time(time), 0, 0, 0)
    }

    #[test]
    fn quotients_are_exact_over_the_whole_ring() {
        for width in [
            2,
            3,
            7,
            1_000,
            181_920,
            200_000,
            1 << 20,
            999_983,
            WindowGrid::MAX_WIDTH,
        ] {
            let grid = WindowGrid::new(width);
            for window in [0, 1, 2, 100, 254, 255] {
                for offset in [
                    window * width,
                    window * width + 1,
                    window * width + width / 2,
                    window * width + width - 1,
                ] {
                    assert_eq!(grid.windows(offset), offset / width, "offset {offset} width {width}");
                }
            }
        }
    }

    #[test]
    fn a_coming_window_is_neither_the_open_one_nor_beyond_the_ring() {
        for width in [2, 3, 999_983, WindowGrid::MAX_WIDTH] {
            for index in [0, 1, 255, 1 << 30] {
                let mut grid = WindowGrid::new(width);
                if index > 0 {
                    grid.open(index);
                }
                for window in [0, 1, index.saturating_sub(1), index, index + 1, index + 2] {
                    for time in [window * width, window * width + width - 1] {
                        let is_coming = window > index && window < index + SLOTS as u64;
                        assert_eq!(grid.coming(time), is_coming.then_some(window), "{time} of {grid:?}");
                    }
                }
                let last = index + SLOTS as u64 - 1;
                assert_eq!(grid.coming((last + 1) * width - 1), Some(last));
                assert_eq!(grid.coming((last + 1) * width), None);
                assert_eq!(grid.coming(u64::MAX), None);
            }
        }
    }

    /// Times of the events of a window, whose buffers go back to the pool.
    fn run(ring: &mut EventRing<Ball>, pool: &mut Pool<Ball>, index: u64) -> Vec<u64> {
        let mut events = Vec::new();
        ring.take_into(index, &mut events, pool);
        events.iter().map(|ball| ball.time().0).collect()
    }

    #[test]
    fn a_bucket_has_as_many_buffers_as_its_events_need() {
        let (grid, mut pool) = (WindowGrid::new(10), Pool::default());
        let mut ring = EventRing::default();
        let n = 10 * CHUNK as u64 + 5;
        let held = |ring: &EventRing<Ball>| {
            let full = ring.full.iter().map(|(_, buffer)| buffer);
            ring.slots.iter().chain(full).map(Vec::capacity).sum::<usize>()
        };
        for _ in 0..3 {
            for i in 0..2 * n {
                ring.insert(&grid, ball(10 + 10 * (i % 2)), &mut pool);
            }
            assert_eq!(ring.len() as u64, 2 * n);
            assert!(held(&ring) <= 22 * CHUNK);
            for window in [1, 2] {
                assert_eq!(run(&mut ring, &mut pool, window), vec![10 * window; n as usize]);
            }
            assert!(ring.is_empty() && held(&ring) == 0);
        }
        // What is expected next gets a buffer for as many events, what is far a small one.
        assert_eq!(ring.last.1 as u64, n);
        for (time, capacity) in [(39, CHUNK), (59, CHUNK), (69, 4)] {
            ring.insert(&grid, ball(time), &mut pool);
            assert_eq!(ring.slots[time as usize / 10].capacity(), capacity);
        }
    }

    #[test]
    fn a_letter_carries_all_events_to_their_windows_and_leaves_the_buffers() {
        let mut grid = WindowGrid::new(10);
        grid.open(300);
        let (mut from, mut to, mut letter) = (EventRing::default(), EventRing::default(), Letter::default());
        let (mut pool, mut other) = (Pool::default(), Pool::default());
        for round in 0..3 {
            // Windows around the end of the slots, some with many, and two beyond the ring.
            let times = (3_001..3_300).step_by(7).chain([3_200; 9]).chain([3_400; MANY]);
            let times = times.chain([3_500; 2 * CHUNK + 3]).chain([5_700, 9_000]);
            let mut times: Vec<u64> = times.collect();
            times.iter().for_each(|&time| from.insert(&grid, ball(time), &mut pool));
            to.insert(&grid, ball(3_205), &mut other);
            times.push(3_205);
            let next = from.next_window(&grid);
            from.write(grid.index, &mut letter, &mut pool);
            assert_eq!(letter.whole.len(), 3);
            assert!(from.is_empty() && from.far_min().0 == u64::MAX);
            assert!(from.slots.iter().all(|slot| slot.capacity() == 0), "round {round}");
            to.read(&mut letter, &mut other);
            letter.take_back(&mut pool);
            assert_eq!((to.next_window(&grid), to.far_min().0), (next, 5_700));
            let mut got = Vec::new();
            to.for_each(&mut |event| got.push(event.time().0));
            got.sort_unstable();
            times.sort_unstable();
            assert_eq!(got, times);
            let batch = run(&mut to, &mut other, 320);
            assert!(batch.iter().all(|time| time / 10 == 320) && batch.len() >= 10);
            assert_eq!(run(&mut to, &mut other, 350), [3_500; 2 * CHUNK + 3]);
            let mut rest = Vec::new();
            to.drain_into(&mut rest, &mut other);
            assert_eq!(rest.len() + batch.len() + 2 * CHUNK + 3, times.len());
            assert!(to.is_empty());
        }
    }

    #[test]
    fn an_event_a_whole_ring_ahead_is_not_lost() {
        let mut grid = WindowGrid::new(10);
        let (mut ring, mut pool) = (EventRing::default(), Pool::default());
        for window in 0..=3 * SLOTS as u64 {
            ring.insert(&grid, ball(window * 10 + 5), &mut pool);
        }
        let mut seen = 0;
        while let Some(index) = ring.next_window(&grid) {
            grid.open(index);
            ring.draw_near(&grid, &mut pool);
            assert_eq!(run(&mut ring, &mut pool, index), [index * 10 + 5], "window {index}");
            seen += 1;
        }
        assert_eq!(seen, 3 * SLOTS + 1);
        assert!(ring.is_empty());
    }
}
