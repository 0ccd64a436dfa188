//! The order of a window's events: one radix pass by LP and time slice, with insertion among those of one slice. Many events of one LP and
//! time are left as they come, and put into their order at the end, where each is hashed once however many there are.

use crate::cache::bring;
use crate::ring::WindowGrid;
use crate::world::Event;
use std::cmp::Ordering;

/// A radix slot with more events than this is sorted by comparison once insertion turns out to be dear.
const CROWDED: u32 = 24;
/// Events of one LP and time among which one more is put into its place at once; with more of them all are ordered together in the end.
const MOST_AT_ONCE: usize = 6;
/// Behind a batch of which at least one event of so many stood among more than that, none is put into its place at once.
const TIED_OF: usize = 4;
/// Events of one LP and time that are ordered by counting, for each, those that come before it.
const MOST_COUNTED: usize = 64;
/// Bytes of a buffer that are asked for while the one before it is read.
const FIRST_LINES: usize = 1 << 10;
/// Moves per event that insertion may take.
const MOVES: usize = 8;

/// Buffers of the radix pass.
pub(crate) struct Scratch<E> {
    pub(crate) order: Vec<E>,
    counts: Vec<u32>,
    /// Where each radix slot begins.
    starts: Vec<u32>,
    /// The radix slot of each event of the batch.
    slots: Vec<u32>,
    /// Radix slots in which many events of one LP and time have met.
    tied: Vec<u32>,
    /// Whether one of [`TIED_OF`] events of the last batch came with many of the same LP and time.
    in_step: bool,
    /// Of those that are put into their order, the words with their places, and themselves.
    words: Vec<(u64, u32)>,
    run: Vec<E>,
}

impl<E> Default for Scratch<E> {
    fn default() -> Self {
        Scratch {
            order: Vec::new(),
            counts: Vec::new(),
            starts: Vec::new(),
            slots: Vec::new(),
            tied: Vec::new(),
            in_step: false,
            words: Vec::new(),
            run: Vec::new(),
        }
    }
}

/// The buffers of a batch, each with the slots of its events.
fn with_slots<'s, E>(batch: &'s [Vec<E>], slots: &'s mut [u32]) -> impl Iterator<Item = (&'s [E], &'s mut [u32])> {
    batch.iter().scan(slots, |rest, buffer| {
        let (own, others) = std::mem::take(rest).split_at_mut(buffer.len());
        *rest = others;
        Some((&buffer[..], own))
    })
}

impl<E: Event> Scratch<E> {
    /// Orders the `n` events of `batch` by (LP, time, tie) into `self.order[..n]`: one counting pass by a monotone function of (LP, time)
    /// with about as many slots as events, then each to its slot, by insertion where others are there.
    pub(crate) fn sort(
        &mut self,
        batch: &[Vec<E>],
        n: usize,
        (first_lp, n_lps): (u32, u32),
        grid: &WindowGrid,
        seed: u64,
    ) {
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
        for (place, (buffer, slots)) in with_slots(batch, slots).enumerate() {
            // Within a buffer the processor sees by itself what comes next.
            if let Some(next) = batch.get(place + 1) {
                bring(next.as_ptr().cast(), FIRST_LINES.min(size_of_val(&next[..])));
            }
            let (fours, rest) = buffer.as_chunks::<4>();
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
        }
        let mut sum = 0;
        for count in counts.iter_mut() {
            sum += std::mem::replace(count, sum);
        }
        self.starts.clear();
        self.starts.extend_from_slice(counts);
        match self.in_step {
            false => self.scatter::<MOST_AT_ONCE>(batch, n, grid.start, seed),
            true => self.scatter::<1>(batch, n, grid.start, seed),
        }
    }

    /// Puts each event of a batch to its slot, of which the counting pass has told, in order there, but for those of one LP and time that are more
    /// than `AT_ONCE`.
    #[inline(never)]
    fn scatter<const AT_ONCE: usize>(&mut self, batch: &[Vec<E>], n: usize, start: u64, seed: u64) {
        let (order, starts) = (&mut self.order[..n], &self.starts[..]);
        let (counts, slots) = (&mut self.counts, &mut self.slots[..n]);
        self.tied.clear();
        let mut insertion = Insertion {
            start,
            seed,
            moves: MOVES * n,
            at_once: AT_ONCE,
            tied: &mut self.tied,
        };
        let mut scatter = |event: &E, slot: u32| {
            // SAFETY: the counting pass has used these slots, with checks; counts are sums now, so that as many places follow each of
            // them as it is used, the last one below `n`; starts are a copy of them. A place behind the slot's start has one before it.
            #[allow(unsafe_code)]
            unsafe {
                let next = counts.get_unchecked_mut(slot as usize);
                let (first, place) = (*starts.get_unchecked(slot as usize) as usize, *next as usize);
                *next += 1;
                *order.get_unchecked_mut(place) = *event;
                if place != first {
                    // One comparison of one word per event: LP, then time within the window.
                    let (before, key) = (order.get_unchecked(place - 1).key(start), event.key(start));
                    if before > key {
                        insertion.insert(&mut order[first..=place], slot);
                    } else if before == key && AT_ONCE == 1 {
                        // Noted with the first of them that has another beside it.
                        if place - 1 == first || order.get_unchecked(place - 2).key(start) != key {
                            insertion.tied.push(slot);
                        }
                    } else if before == key {
                        insertion.settle(&mut order[first..=place], slot);
                    }
                }
            }
        };
        for (buffer, slots) in with_slots(batch, slots) {
            let (fours, rest) = buffer.as_chunks::<4>();
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
        }
        if insertion.moves == 0 {
            sort_crowded(order, counts, seed);
            repair(order, seed, start);
        } else {
            let among_many = match self.tied.is_empty() {
                true => 0,
                false => self.break_ties(n, start, seed),
            };
            self.in_step = among_many * TIED_OF >= n;
        }
    }

    /// Puts events of one LP and time, which stand side by side in the radix slots that are noted, into their order; returns how many stand among more
    /// than [`MOST_AT_ONCE`].
    #[cold]
    #[inline(never)]
    fn break_ties(&mut self, n: usize, start: u64, seed: u64) -> usize {
        let Scratch {
            order,
            counts: ends,
            starts,
            tied,
            words,
            run,
            ..
        } = self;
        let mut among_many = 0;
        tied.sort_unstable();
        tied.dedup();
        for slot in tied.iter().map(|&slot| slot as usize) {
            let mut events = &mut order[..n][starts[slot] as usize..ends[slot] as usize];
            while let [first, others @ ..] = &*events {
                let key = first.key(start);
                let alike = others.iter().take_while(|other| other.key(start) == key).count();
                let (tied, rest) = std::mem::take(&mut events).split_at_mut(1 + alike);
                events = rest;
                if let [a, b] = tied {
                    if loses_tie(a, b, seed) {
                        std::mem::swap(a, b);
                    }
                } else if tied.len() > 2 {
                    if tied.len() > MOST_AT_ONCE {
                        among_many += tied.len();
                    }
                    run.clear();
                    run.extend_from_slice(tied);
                    if !count_ties(run, tied, seed) {
                        compare_ties(run, words, tied, seed);
                    }
                }
            }
        }
        among_many
    }
}

/// Puts the events of a run, which are of one LP and time, into their order, if there are not too many and quarters of their words tell it.
fn count_ties<E: Event>(run: &[E], tied: &mut [E], seed: u64) -> bool {
    match run.len() {
        ..=8 => count_ties_of::<E, 8>(run, tied, seed),
        9..=16 => count_ties_of::<E, 16>(run, tied, seed),
        17..=32 => count_ties_of::<E, 32>(run, tied, seed),
        33..=MOST_COUNTED => count_ties_of::<E, MOST_COUNTED>(run, tied, seed),
        _ => false,
    }
}

/// [`count_ties`] of at most `N`: each is put behind as many as have a smaller word, without a branch that depends on them.
fn count_ties_of<E: Event, const N: usize>(run: &[E], tied: &mut [E], seed: u64) -> bool {
    let n = run.len();
    let (mut words, mut ranks) = ([i16::MAX; N], [0; N]);
    for (word, event) in words.iter_mut().zip(run) {
        *word = quarter_of(event.tie_word(seed));
    }
    let mut sum = 0;
    for i in 0..n {
        let mut smaller = 0;
        // So many whatever there are: side by side.
        for other in words {
            smaller += i16::from(other < words[i]);
        }
        ranks[i] = smaller;
        sum += smaller;
    }
    // Of two that are not alike one is smaller.
    if sum as usize != n * (n - 1) / 2 {
        return false;
    }
    for (event, rank) in run.iter().zip(ranks) {
        tied[rank as usize] = *event;
    }
    true
}

/// A quarter of a word, which is never smaller than that of a smaller word: the upmost of those with the highest bit, of others the lowest, if that is
/// all there is. Eight numbers with a sign are compared at once by every processor.
#[inline(always)]
fn quarter_of(word: u64) -> i16 {
    let quarter = match word >> 63 {
        0 => word.min(i16::MAX as u64) as u16,
        _ => (word >> 48) as u16,
    };
    (quarter ^ 1 << 15) as i16
}

/// [`count_ties`] for any, by comparison.
#[cold]
#[inline(never)]
fn compare_ties<E: Event>(run: &[E], words: &mut Vec<(u64, u32)>, tied: &mut [E], seed: u64) {
    words.clear();
    words.extend((0..).zip(run).map(|(i, event)| (event.tie_word(seed), i)));
    let tie = |a: u32, b: u32| run[a as usize].tie(&run[b as usize], seed);
    words.sort_unstable_by(|&(word, a), &(other, b)| word.cmp(&other).then_with(|| tie(a, b)));
    for (place, &(_, i)) in tied.iter_mut().zip(&*words) {
        *place = run[i as usize];
    }
}

/// `true` if `a`, in the place before `b`, stays there. `start` is the window's: all times are less than 2^32 ps later.
#[inline(always)]
fn is_before<E: Event>(a: &E, b: &E, start: u64, seed: u64) -> bool {
    let (first, second) = (a.key(start), b.key(start));
    first < second || (first == second && !loses_tie(a, b, seed))
}

/// Sorts an order that is nearly right by insertion.
#[cold]
fn repair<E: Event>(order: &mut [E], seed: u64, start: u64) {
    for i in 1..order.len() {
        let event = order[i];
        let mut place = i;
        while place > 0 && !is_before(&order[place - 1], &event, start, seed) {
            order[place] = order[place - 1];
            place -= 1;
        }
        order[place] = event;
    }
}

/// What is known while events are put into their places.
struct Insertion<'a> {
    start: u64,
    seed: u64,
    /// How far events may yet be moved in all; nothing is done once none are left.
    moves: usize,
    /// With more events of one LP and time than this they are left for later: 1 or [`MOST_AT_ONCE`].
    at_once: usize,
    /// Slots with events that are left for later.
    tied: &'a mut Vec<u32>,
}

impl Insertion<'_> {
    /// Puts the last event of an order into its place, where all before it are in order and it comes before the one next to it.
    #[inline(never)]
    fn insert<E: Event>(&mut self, order: &mut [E], slot: u32) {
        if let [.., before, last] = order {
            std::mem::swap(before, last);
        }
        // Most often there are but two, and no register is needed for more.
        if order.len() > 2 {
            self.insert_further(order, slot);
        }
    }

    /// Goes on with the event before the last, which may have further to go.
    #[inline(never)]
    fn insert_further<E: Event>(&mut self, order: &mut [E], slot: u32) {
        let mut place = order.len() - 2;
        let event = order[place];
        let key = event.key(self.start);
        while self.moves > 0 && place > 0 && order[place - 1].key(self.start) > key {
            order[place] = order[place - 1];
            place -= 1;
            self.moves -= 1;
        }
        order[place] = event;
        if place > 0 && order[place - 1].key(self.start) == key {
            self.settle(&mut order[..=place], slot);
        }
    }

    /// Puts the last event of an order into its place among those of the same LP and time, which it stands behind. If there are many of
    /// them it stays there, and their slot is noted when they become many.
    ///
    /// Where packets come in step nearly every event has one other beside it: two words are compared, without a call and without a register
    /// that has to be saved, and what is rare follows in functions of its own.
    #[cold]
    #[inline(never)]
    fn settle<E: Event>(&mut self, order: &mut [E], slot: u32) {
        if order.len() > self.at_once && self.has_many(order) {
            return self.note(order, slot);
        }
        if let [.., before, event] = &*order {
            let (word, before) = (event.tie_word(self.seed), before.tie_word(self.seed));
            if before > word {
                self.settle_before(order, word);
            } else if before == word {
                self.settle_alike(order);
            }
        }
    }

    /// Goes on where the last event comes before the one next to it; `word` is its word.
    #[inline(never)]
    fn settle_before<E: Event>(&mut self, order: &mut [E], word: u64) {
        let n = order.len();
        if let [.., before, event] = order {
            std::mem::swap(before, event);
            if n > 2 {
                self.settle_further(&mut order[..n - 1], word);
            }
        }
    }

    /// Goes on where the word of the last event is that of the one before it as well.
    #[cold]
    #[inline(never)]
    fn settle_alike<E: Event>(&mut self, order: &mut [E]) {
        if let [.., before, event] = order
            && loses_tie(before, event, self.seed)
        {
            let word = event.tie_word(self.seed);
            self.settle_before(order, word);
        }
    }

    /// Notes the slot of the last event of an order, which stands behind many of the same LP and time, if they have just become many.
    #[inline(never)]
    fn note<E: Event>(&mut self, order: &[E], slot: u32) {
        if order.len() == self.at_once + 1 || !self.has_many(&order[..order.len() - 1]) {
            self.tied.push(slot);
        }
    }

    /// Whether the last event of an order stands behind as many of the same LP and time as are ordered together.
    fn has_many<E: Event>(&self, order: &[E]) -> bool {
        let last = order.len() - 1;
        // All before it are in order by LP and time.
        order[last - self.at_once].key(self.start) == order[last].key(self.start)
    }

    /// Goes on with the last event, which has lost the tie with one that stood before it; its word is worked out once.
    #[inline(never)]
    fn settle_further<E: Event>(&mut self, order: &mut [E], word: u64) {
        let mut place = order.len() - 1;
        let event = order[place];
        let key = event.key(self.start);
        while self.moves > 0 && place > 0 {
            let next = &order[place - 1];
            if next.key(self.start) != key || !loses_next_tie(next, &event, word, self.seed) {
                break;
            }
            order[place] = *next;
            place -= 1;
            self.moves -= 1;
        }
        order[place] = event;
    }
}

/// [`loses_tie`] against an event whose word is known.
#[inline]
fn loses_next_tie<E: Event>(a: &E, b: &E, word: u64, seed: u64) -> bool {
    match a.tie_word(seed).cmp(&word) {
        Ordering::Equal => loses_tie(a, b, seed),
        unequal => unequal == Ordering::Greater,
    }
}

/// `true` if `a` comes after `b`, which is for the same LP at the same time; rare, and kept out of the loop with its hashes.
#[cold]
fn loses_tie<E: Event>(a: &E, b: &E, seed: u64) -> bool {
    a.tie(b, seed) == Ordering::Greater
}

/// Sorts the radix slots that hold many events by comparison; `ends` are the ends of all slots.
#[cold]
fn sort_crowded<E: Event>(order: &mut [E], ends: &[u32], seed: u64) {
    // Events are moved only within their slots: slots are monotone.
    let mut from = 0;
    for &to in ends {
        if to - from > CROWDED {
            order[from as usize..to as usize].sort_unstable_by(|a, b| by_lp(a, b, seed));
        }
        from = to;
    }
}

#[inline(always)]
pub(crate) fn by_lp<E: Event>(a: &E, b: &E, seed: u64) -> Ordering {
    a.lp().cmp(&b.lp()).then_with(|| a.order(b, seed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phold::Ball;
    use crate::rng::{below, mix};
    use crate::time::Time;

    /// Sorts `n` events of `n_lps` LPs at `n_times` different times of a window by the radix pass and by comparison.
    fn check(scratch: &mut Scratch<Ball>, (n, n_lps, n_times): (u64, u32, u64)) {
        const FIRST: u32 = 64;
        const WIDTH: u64 = 200_000;
        let mut grid = WindowGrid::new(WIDTH);
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
        // Twice: buffers of an earlier window must not show.
        for part in [&batch[..], &batch[..batch.len() / 2]] {
            let buffers: Vec<Vec<Ball>> = part.chunks(601).map(<[Ball]>::to_vec).collect();
            scratch.sort(&buffers, part.len(), (FIRST, n_lps), &grid, 5);
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
            if !cfg!(miri) || n < 3_000 {
                check(&mut Scratch::default(), (n, n_lps, n_times));
            }
        }
    }

    #[test]
    fn batches_in_step_and_others_follow_each_other() {
        let (in_step, apart) = ((2_000, 32, 1), (2_000, 32, 200_000));
        let mut scratch = Scratch::default();
        for (batch, is_in_step) in [(apart, false), (in_step, true), (apart, false), ((2_000, 32, 3), true)] {
            check(&mut scratch, batch);
            assert_eq!(scratch.in_step, is_in_step, "{batch:?}");
        }
    }

    #[test]
    fn quarters_are_in_the_order_of_their_words() {
        let mut words: Vec<u64> = (0..64)
            .flat_map(|bit| [1 << bit, (1 << bit) - 1, !(1 << bit)])
            .collect();
        words.extend((0..1_000).map(|i| mix(i) >> (i % 64)));
        words.sort_unstable();
        assert!(words.is_sorted_by_key(|&word| quarter_of(word)));
        // Ports, of which there are fewer, keep all that they have, hashes 15 bits.
        assert!(quarter_of(6) < quarter_of(7) && quarter_of(1 << 63) < quarter_of(1 << 63 | 1 << 48));
    }

    #[test]
    fn counting_orders_as_comparing_does() {
        let (mut counted, mut words) = (0, Vec::new());
        for turn in 0..2_000 {
            let n = 3 + turn % 70;
            let run: Vec<Ball> = (0..n).map(|i| Ball::new(Time(5), 1, 0, mix(turn) ^ i)).collect();
            let (mut one, mut other) = (run.clone(), run.clone());
            compare_ties(&run, &mut words, &mut other, turn);
            if count_ties(&run, &mut one, turn) {
                counted += 1;
                let bytes = |balls: &[Ball]| bytemuck::cast_slice::<_, u8>(balls).to_vec();
                assert_eq!(bytes(&one), bytes(&other), "{n} events");
            }
        }
        assert!(counted > 5, "{counted}");
    }
}
