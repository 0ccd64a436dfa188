//! Pending events of one block: a ring of window buckets, appended to only, and a far list beyond it.

use crate::time::Time;
use crate::world::Event;
use std::collections::BTreeMap;

/// Windows that a ring holds; a power of two and a multiple of 64.
pub const SLOTS: usize = if cfg!(loom) { 64 } else { 256 };
/// Windows ahead of the current one that buffers are given to; most events fall into the first two.
const FILLING: usize = 12;

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

    /// Which of `2^bits` slices of a window an offset below the width lies in (monotone, not exact at the borders).
    #[inline(always)]
    pub fn slice(&self, offset: u64, bits: u32) -> u64 {
        ((u128::from(offset) * u128::from(self.reciprocal)) >> (64 - bits)) as u64
    }

    /// Makes window `index` the current one.
    pub fn open(&mut self, index: u64) {
        self.index = index;
        self.start = index * self.width;
    }
}

/// Pending events of one block.
#[derive(Debug)]
pub struct EventRing<E> {
    slots: Box<[Vec<E>; SLOTS]>,
    occupied: [u64; SLOTS / 64],
    /// Events beyond the ring, by their time in units of `1 << FAR_BITS` ps: what is drawn near is not looked for among all of them.
    far: BTreeMap<u64, Vec<E>>,
    far_min: u64,
}

/// Far events are kept in spans of 2^24 ps, about 17 us.
const FAR_BITS: u32 = 24;

/// Events of a ring on their way to another: in one piece, so that they cost another core few cache lines, and its allocator none.
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
            occupied: [0; SLOTS / 64],
            far: BTreeMap::new(),
            far_min: u64::MAX,
        }
    }
}

impl<E: Event> EventRing<E> {
    /// Adds an event at window `grid.index + ahead`, `ahead < SLOTS`.
    #[inline(always)]
    pub fn push(&mut self, index: u64, ahead: u64, event: E) {
        let slot = (index + ahead) as usize & (SLOTS - 1);
        let bucket = &mut self.slots[slot];
        if bucket.is_empty() {
            self.occupied[slot >> 6] |= 1 << (slot & 63);
        }
        bucket.push(event);
    }

    /// Moves all events into a letter, in place of those it carried two windows ago. Its buffers come back here, for the windows that
    /// fill when the ring is used next.
    pub(crate) fn write(&mut self, letter: &mut Letter<E>) {
        letter.events.clear();
        letter.runs.clear();
        for (slot, mut bucket) in letter.whole.drain(..) {
            bucket.clear();
            self.keep(slot as usize, 3, bucket);
        }
        for word in 0..SLOTS / 64 {
            let mut bits = std::mem::take(&mut self.occupied[word]);
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let mut bucket = std::mem::take(&mut self.slots[slot]);
                if bucket.len() >= MANY {
                    letter.whole.push((slot as u32, bucket));
                    continue;
                }
                letter.runs.push((slot as u32, bucket.len() as u32));
                letter.events.append(&mut bucket);
                self.keep(slot, 1, bucket);
            }
        }
        self.drain_far(&mut letter.events);
    }

    /// Adds the events of a letter from a ring of the same grid with the same window open.
    pub(crate) fn read(&mut self, letter: &Letter<E>) {
        let mut events = &letter.events[..];
        for &(slot, n) in &letter.runs {
            let slot = slot as usize & (SLOTS - 1);
            let (run, rest) = events.split_at(n as usize);
            events = rest;
            self.occupied[slot >> 6] |= 1 << (slot & 63);
            match run {
                // Where windows are thin nearly all are alone.
                [event] => self.slots[slot].push(*event),
                _ => self.slots[slot].extend_from_slice(run),
            }
        }
        for event in events {
            self.push_far(*event);
        }
        for (slot, bucket) in &letter.whole {
            let slot = *slot as usize & (SLOTS - 1);
            self.occupied[slot >> 6] |= 1 << (slot & 63);
            self.slots[slot].extend_from_slice(bucket);
        }
    }

    /// Moves all events to the end of `out`. The buffers go to the windows that fill when the ring is used next.
    pub fn drain_into(&mut self, out: &mut Vec<E>) {
        for word in 0..SLOTS / 64 {
            let mut bits = std::mem::take(&mut self.occupied[word]);
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let mut bucket = std::mem::take(&mut self.slots[slot]);
                out.append(&mut bucket);
                self.keep(slot, 1, bucket);
            }
        }
        self.drain_far(out);
    }

    /// Moves the events beyond the ring to the end of `out`.
    fn drain_far(&mut self, out: &mut Vec<E>) {
        for mut span in std::mem::take(&mut self.far).into_values() {
            out.append(&mut span);
        }
        self.far_min = u64::MAX;
    }

    /// Gives the emptied buffer of `slot` to the first window without one, `from` or more windows later; if all have one it stays
    /// where it was.
    fn keep(&mut self, slot: usize, from: usize, buffer: Vec<E>) {
        let mut free = (from..FILLING).map(|ahead| (slot + ahead) & (SLOTS - 1));
        let free = free.find(|&free| self.slots[free].capacity() == 0);
        let into = &mut self.slots[free.unwrap_or(slot)];
        if into.capacity() == 0 {
            *into = buffer;
        }
    }

    /// Adds an event beyond the ring.
    #[cold]
    pub fn push_far(&mut self, event: E) {
        let time = event.time().0;
        self.far_min = self.far_min.min(time);
        self.far.entry(time >> FAR_BITS).or_default().push(event);
    }

    /// Adds an event at any time not before the current window.
    pub fn insert(&mut self, grid: &WindowGrid, event: E) {
        let offset = event.time().0 - grid.start;
        if offset < grid.reach {
            self.push(grid.index, grid.windows(offset), event);
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
        let beyond = (self.far_min != u64::MAX).then(|| self.far_min / grid.width);
        match (in_ring, beyond) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Moves far events that the ring reaches now into it. Call after [`WindowGrid::open`].
    pub fn draw_near(&mut self, grid: &WindowGrid) {
        let reach = grid.reach;
        // Half a ring early: else a span would be looked through in nearly every window.
        if self.far_min.wrapping_sub(grid.start) >= reach / 2 || self.far_min == u64::MAX {
            return;
        }
        self.far_min = u64::MAX;
        while let Some(first) = self.far.first_entry() {
            // A span that begins beyond the ring stays whole.
            let begin = *first.key() << FAR_BITS;
            if begin >= grid.start && begin - grid.start >= reach {
                self.far_min = first.get().iter().map(|event| event.time().0).min().unwrap_or(begin);
                return;
            }
            let (key, mut span) = first.remove_entry();
            let mut i = 0;
            while i < span.len() {
                let offset = span[i].time().0 - grid.start;
                if offset < reach {
                    let event = span.swap_remove(i);
                    self.push(grid.index, grid.windows(offset), event);
                } else {
                    i += 1;
                }
            }
            if !span.is_empty() {
                self.far_min = span.iter().map(|event| event.time().0).min().unwrap_or(u64::MAX);
                self.far.insert(key, span);
                return;
            }
        }
    }

    /// Takes the current window's events. Give the buffer back with [`EventRing::recycle`] before the next push.
    pub fn take(&mut self, index: u64) -> Vec<E> {
        let slot = index as usize & (SLOTS - 1);
        self.occupied[slot >> 6] &= !(1 << (slot & 63));
        std::mem::take(&mut self.slots[slot])
    }

    /// Gives a drained buffer to a window that will fill soon: buffers stay warm instead of one growing in every slot.
    ///
    /// The windows that fill next get the largest buffers: one that holds a few events in a smaller buffer moves them over, and its
    /// old buffer goes to a later window that has none.
    pub fn recycle(&mut self, index: u64, mut buffer: Vec<E>) {
        buffer.clear();
        for ahead in 1..=FILLING {
            let slot = &mut self.slots[(index as usize + ahead) & (SLOTS - 1)];
            // Much larger, or the events of sizes that alternate around a power of two would be moved over in every window.
            if slot.len() <= buffer.capacity() / 32 && slot.capacity() < buffer.capacity() / 2 || slot.capacity() == 0 {
                buffer.append(slot);
                std::mem::swap(slot, &mut buffer);
            }
            if buffer.capacity() == 0 {
                return;
            }
        }
    }

    /// Shows every event held.
    pub fn for_each(&self, show: &mut dyn FnMut(&E)) {
        let far = self.far.values().flatten();
        self.slots.iter().flatten().chain(far).for_each(show);
    }

    /// Number of events held.
    pub fn len(&self) -> usize {
        self.slots.iter().chain(self.far.values()).map(Vec::len).sum()
    }

    /// `true` if no event is held.
    pub fn is_empty(&self) -> bool {
        self.far.is_empty() && self.occupied.iter().all(|&word| word == 0)
    }

    /// Earliest time beyond the ring, for tests.
    pub fn far_min(&self) -> Time {
        Time(self.far_min)
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
            for offset in [0, 1, width / 3, width - 1] {
                assert!(grid.slice(offset, 6) < 64);
            }
        }
    }

    #[test]
    fn a_recycled_buffer_takes_over_the_events_of_a_smaller_one() {
        let grid = WindowGrid::new(10);
        let mut ring = EventRing::default();
        for i in 0..1_000 {
            ring.insert(&grid, ball(i % 10));
        }
        let early: Vec<u64> = (0..30).map(|i| 20 + i % 10).collect();
        early.iter().for_each(|&time| ring.insert(&grid, ball(time)));
        let batch = ring.take(0);
        let capacity = batch.capacity();
        ring.recycle(0, batch);
        // Window 1 holds nothing and gets the large buffer first; then the one of window 1 goes to window 2 with its 30 events.
        assert_eq!(ring.slots[1].capacity(), capacity);
        let batch = ring.take(1);
        ring.recycle(1, batch);
        assert_eq!(ring.slots[2].capacity(), capacity);
        assert_eq!(ring.take(2).iter().map(|b| b.time().0).collect::<Vec<_>>(), early);
    }

    #[test]
    fn a_letter_carries_all_events_to_their_windows_and_leaves_the_buffers() {
        let mut grid = WindowGrid::new(10);
        grid.open(300);
        let (mut from, mut to, mut letter) = (EventRing::default(), EventRing::default(), Letter::default());
        for round in 0..3 {
            // Windows around the end of the slots, one with many, and two beyond the ring.
            let times = (3_001..3_300).step_by(7).chain([3_200; 9]).chain([3_400; MANY]);
            let times = times.chain([5_700, 9_000]);
            let mut times: Vec<u64> = times.collect();
            times.iter().for_each(|&time| from.insert(&grid, ball(time)));
            to.insert(&grid, ball(3_205));
            times.push(3_205);
            let next = from.next_window(&grid);
            from.write(&mut letter);
            assert_eq!(letter.whole.len(), 1);
            assert!(from.is_empty() && from.far_min().0 == u64::MAX);
            assert!(from.slots.iter().any(|slot| slot.capacity() > 0), "round {round}");
            to.read(&letter);
            assert_eq!((to.next_window(&grid), to.far_min().0), (next, 5_700));
            let mut got = Vec::new();
            to.for_each(&mut |event| got.push(event.time().0));
            got.sort_unstable();
            times.sort_unstable();
            assert_eq!(got, times);
            let batch = to.take(320);
            assert!(batch.iter().all(|event| event.time().0 / 10 == 320) && batch.len() >= 10);
            to = EventRing::default();
        }
    }

    #[test]
    fn an_event_a_whole_ring_ahead_is_not_lost() {
        let mut grid = WindowGrid::new(10);
        let mut ring = EventRing::default();
        for window in 0..=3 * SLOTS as u64 {
            ring.insert(&grid, ball(window * 10 + 5));
        }
        let mut seen = 0;
        while let Some(index) = ring.next_window(&grid) {
            grid.open(index);
            ring.draw_near(&grid);
            let batch = ring.take(index);
            assert_eq!(batch.len(), 1, "window {index}");
            assert_eq!(batch[0].time().0, index * 10 + 5);
            seen += batch.len();
            ring.recycle(index, batch);
        }
        assert_eq!(seen, 3 * SLOTS + 1);
        assert!(ring.is_empty());
    }
}
