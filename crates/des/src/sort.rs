//! The order of a window's events: one radix pass by LP and time slice over a word of each event, with insertion among those of one slice; then the
//! events themselves, each read where it lies and written where it belongs. Those of one LP and time are put into their order at the end, where each is
//! hashed once however many there are.

use crate::cache::bring;
use crate::ring::WindowGrid;
use crate::world::Event;
use std::cmp::Ordering;

/// Events of one LP and time that are ordered by counting, for each, those that come before it.
const MOST_COUNTED: usize = 64;
/// Bytes of a buffer that are asked for while the one before it is read.
const FIRST_LINES: usize = 1 << 10;
/// Moves per event that insertion may take; radix slots are sorted by comparison then.
const MOVES: usize = 8;
/// Words behind the last one of an order: nothing comes after them.
const GUARDS: usize = 2;

/// Buffers of the radix pass.
pub(crate) struct Scratch<E> {
    pub(crate) order: Vec<E>,
    counts: Vec<u32>,
    /// The words of the batch's events.
    words: Vec<u64>,
    /// The same in order, with [`GUARDS`] behind.
    ordered: Vec<u64>,
    /// The buffers of the batch.
    buffers: Vec<Buffer<E>>,
    /// From where to where in order events are of one LP and time.
    tied: Vec<(u32, u32)>,
    /// Of such events the words by which they are ordered with their places, and themselves.
    ties: Vec<(u64, u32)>,
    run: Vec<E>,
}

impl<E> Default for Scratch<E> {
    fn default() -> Self {
        Scratch {
            order: Vec::new(),
            counts: Vec::new(),
            words: Vec::new(),
            ordered: Vec::new(),
            buffers: Vec::new(),
            tied: Vec::new(),
            ties: Vec::new(),
            run: Vec::new(),
        }
    }
}

/// A buffer of the batch that is put into order, by where it would begin if all that [`SortWords::origin`] tells were a place in it.
struct Buffer<E>(*const E);

// SAFETY: it is written and read within one call, which has the batch.
#[allow(unsafe_code)]
unsafe impl<E: Sync> Send for Buffer<E> {}

/// What the word of an event is made of, from its highest bit on: the LP, the time within the window, where the event lies. Its first bits, the LP and a slice of
/// time or those of the LP alone, are the number of its radix slot.
#[derive(Clone, Copy)]
struct SortWords {
    /// What an LP and a ps count for.
    lp: u64,
    ps: u64,
    /// Times are in so many halves of what they are elsewhere: 0 but in a window of millions of events of millions of LPs.
    cut: u32,
    /// Bits of an event's place in its buffer.
    places: u32,
    /// The bits of the place and of the buffer.
    origin: u64,
    /// What is behind the number of the slot.
    behind: u32,
    /// Slots.
    slots: usize,
}

impl SortWords {
    /// Bits that times have beside those that they need, so that as good as all slices of the time are within the window.
    const FINE: u32 = 4;

    /// For `n` events of `n_lps` LPs in a window `width` ps wide: about as many slots as events, and an LP has slots of its own if there are as many events as LPs.
    #[inline(never)]
    fn new<E>(batch: &[Vec<E>], n: usize, n_lps: u32, width: u64) -> SortWords {
        let bits = |most: u64| u64::BITS - most.leading_zeros();
        let longest = batch.iter().map(Vec::len).max().unwrap_or(0) as u64;
        let places = bits(longest.saturating_sub(1));
        let origin = places + bits(batch.len().saturating_sub(1) as u64);
        let (lps, least) = (bits(u64::from(n_lps) - 1), bits(width - 1));
        assert!(
            lps + origin < u64::BITS,
            "a window has more events than words tell apart"
        );
        let room = u64::BITS - lps - origin;
        let (times, cut) = match room.checked_sub(least) {
            Some(more) => (least + more.min(Self::FINE), 0),
            None => (room, least - room),
        };
        let (behind, slots) = if n >= n_lps as usize {
            let slices = ((n / n_lps as usize).ilog2().min(9) + 1).min(times);
            (origin + times - slices, (n_lps as usize) << slices)
        } else {
            let together = (n_lps as usize / n.max(1)).ilog2();
            (origin + times + together, ((n_lps as usize - 1) >> together) + 1)
        };
        SortWords {
            lp: 1u64.checked_shl(origin + times).unwrap_or(0),
            ps: match cut {
                0 => ((1u64 << times) / width) << origin,
                _ => 1 << origin,
            },
            cut,
            places,
            origin: (1 << origin) - 1,
            behind,
            slots,
        }
    }

    /// The radix slot that a word belongs to.
    #[inline(always)]
    fn slot(&self, word: u64) -> usize {
        (word >> self.behind) as usize
    }

    /// Where the event of a word lies: its buffer, and behind that its place there.
    #[inline(always)]
    fn origin(&self, word: u64) -> usize {
        (word & self.origin) as usize
    }

    /// Whether two words are of one LP and time, as far as they tell it.
    #[inline(always)]
    fn are_alike(&self, a: u64, b: u64) -> bool {
        a ^ b <= self.origin
    }
}

impl<E: Event> Scratch<E> {
    /// Orders the `n` events of `batch` by (LP, time, tie) into `self.order[..n]`: one counting pass by the first bits of a word of each event, then each word to
    /// its slot, by insertion where others are there, then the events.
    pub(crate) fn sort(
        &mut self,
        batch: &[Vec<E>],
        n: usize,
        (first_lp, n_lps): (u32, u32),
        grid: &WindowGrid,
        seed: u64,
    ) {
        let grown = n.next_power_of_two();
        if self.order.len() < n {
            self.order.resize(grown, E::zeroed());
        }
        if self.words.len() < n {
            self.words.resize(grown, 0);
            self.ordered.resize(grown + GUARDS, 0);
        }
        let words = SortWords::new(batch, n, n_lps, grid.width);
        match words.cut {
            0 => self.count::<false>(batch, &words, n, first_lp, grid.start),
            _ => self.count::<true>(batch, &words, n, first_lp, grid.start),
        }
        let mut sum = 0;
        for count in self.counts.iter_mut() {
            sum += *count;
            *count = sum;
        }
        self.scatter(&words, n);
        self.gather(batch, &words, n, seed);
    }

    /// Works out the words of all events of a batch, and counts the events of each slot; `CUT` where times are cut.
    #[inline(always)]
    fn count<const CUT: bool>(&mut self, batch: &[Vec<E>], words: &SortWords, n: usize, first_lp: u32, start: u64) {
        let counts = &mut self.counts;
        counts.resize(words.slots, 0);
        set(counts, 0);
        let mut rest = &mut self.words[..n];
        // Times count from the window's start, LPs from the first.
        let from = match CUT {
            false => start.wrapping_mul(words.ps),
            true => 0,
        };
        let origin = u64::from(first_lp)
            .wrapping_mul(words.lp)
            .wrapping_add(from)
            .wrapping_neg();
        for (number, buffer) in batch.iter().enumerate() {
            // Within a buffer the processor sees by itself what comes next.
            if let Some(next) = batch.get(number + 1) {
                bring(next.as_ptr().cast(), FIRST_LINES.min(size_of_val(&next[..])));
            }
            let (own, others) = rest.split_at_mut(buffer.len());
            rest = others;
            let mut origin = origin.wrapping_add((number as u64) << words.places);
            for (event, word) in buffer.iter().zip(own) {
                let time = match CUT {
                    false => event.time().0,
                    true => (event.time().0 - start) >> words.cut,
                };
                let lp = u64::from(event.lp()).wrapping_mul(words.lp);
                *word = lp.wrapping_add(time.wrapping_mul(words.ps)).wrapping_add(origin);
                counts[words.slot(*word)] += 1;
                origin = origin.wrapping_add(1);
            }
        }
        // What follows trusts in a word for each.
        assert!(rest.is_empty(), "a batch has fewer events than it is said to have");
    }

    /// Puts the word of each of `n` events to its slot, of which the counting pass has told, in order there; from the last one on, each before those that are there,
    /// so that words that come in order stay as they come.
    ///
    /// What stands behind a word is in another slot, and greater or not there yet, or in its own: whichever it is, of these two the smaller goes first, for which
    /// no branch is taken.
    #[inline(never)]
    fn scatter(&mut self, words: &SortWords, n: usize) {
        let ordered = &mut self.ordered[..n + GUARDS];
        set(ordered, u64::MAX);
        let counts = &mut self.counts[..];
        let mut moves = MOVES * n;
        for &word in self.words[..n].iter().rev() {
            // SAFETY: the counting pass has used this slot, with checks; counts are sums now, so that as many places precede each of them as it is used, the
            // last one below `n`. There are the guards behind that.
            #[allow(unsafe_code)]
            let (place, [own, behind, next]) = unsafe {
                let end = counts.get_unchecked_mut(words.slot(word));
                *end = end.wrapping_sub(1);
                let place = *end as usize;
                let all = ordered.get_unchecked_mut(place..place + 3);
                (place, all.first_chunk_mut::<3>().unwrap_unchecked())
            };
            let other = *behind;
            (*own, *behind) = (other.min(word), other.max(word));
            if *next < word {
                insert(&mut ordered[place + 1..], &mut moves);
            }
        }
        if moves == 0 {
            // Slots are whole, and in order among each other.
            let mut rest = &mut ordered[..n];
            for &from in counts.iter().rev() {
                let (others, slot) = rest.split_at_mut(from as usize);
                slot.sort_unstable();
                rest = others;
            }
        }
    }

    /// Puts each event of a batch to where its word stands in order.
    #[inline(never)]
    fn gather(&mut self, batch: &[Vec<E>], words: &SortWords, n: usize, seed: u64) {
        let (ordered, order) = (&self.ordered[..n], &mut self.order[..n]);
        self.tied.clear();
        self.buffers.clear();
        let places = (0..).step_by(1 << words.places);
        self.buffers.extend(
            batch
                .iter()
                .zip(places)
                .map(|(buffer, first)| Buffer(buffer.as_ptr().wrapping_sub(first))),
        );
        let buffers = &self.buffers[..];
        // Nothing is like the first.
        let mut before = !ordered.first().copied().unwrap_or(0);
        for (place, (own, &word)) in order.iter_mut().zip(ordered).enumerate() {
            let origin = words.origin(word);
            // SAFETY: the words are those of the counting pass, in another order, which tell where in a buffer of the batch an event lies.
            #[allow(unsafe_code)]
            unsafe {
                let buffer = buffers.get_unchecked(origin >> words.places);
                *own = *buffer.0.wrapping_add(origin);
            }
            if words.are_alike(before, word) {
                note(&mut self.tied, place as u32);
            }
            before = word;
        }
        for &(from, to) in &self.tied {
            let tied = &mut order[from as usize..to as usize];
            match words.cut {
                0 => break_ties(tied, (&mut self.ties, &mut self.run), seed),
                _ => tied.sort_unstable_by(|a, b| by_lp(a, b, seed)),
            }
        }
    }
}

/// Notes that the event at a place is of the LP and time of the one before it.
#[cold]
#[inline(never)]
fn note(tied: &mut Vec<(u32, u32)>, place: u32) {
    match tied.last_mut() {
        Some((_, to)) if *to == place => *to += 1,
        _ => tied.push((place - 1, place + 1)),
    }
}

/// Sets all to one value, in small pieces: plain stores write these faster than the string instructions that a library takes for more.
#[inline(always)]
fn set<T: Copy>(all: &mut [T], value: T) {
    all.chunks_mut(1 << 7).for_each(|piece| piece.fill(value));
}

/// Moves the first of some words to its place among those behind it, if there may be as many moves.
#[cold]
#[inline(never)]
fn insert(ordered: &mut [u64], moves: &mut usize) {
    if *moves == 0 {
        return;
    }
    let word = ordered[0];
    // A guard is not less than any.
    let smaller = ordered[1..].iter().take_while(|&&other| other < word).count();
    ordered.copy_within(1..=smaller, 0);
    ordered[smaller] = word;
    *moves = moves.saturating_sub(smaller);
}

/// Puts events of one LP and time into their order.
#[inline(always)]
fn break_ties<E: Event>(tied: &mut [E], (words, run): (&mut Vec<(u64, u32)>, &mut Vec<E>), seed: u64) {
    if let [a, b] = tied {
        if loses_tie(a, b, seed) {
            std::mem::swap(a, b);
        }
    } else {
        run.clear();
        run.extend_from_slice(tied);
        if !count_ties(run, tied, seed) {
            compare_ties(run, words, tied, seed);
        }
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

/// `true` if `a` comes after `b`, which is for the same LP at the same time; rare, and kept out of the loop with its hashes.
#[cold]
fn loses_tie<E: Event>(a: &E, b: &E, seed: u64) -> bool {
    a.tie(b, seed) == Ordering::Greater
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

    /// Sorts `n` events of `n_lps` LPs at `n_times` different times of a window of `width` ps by the radix pass and by comparison.
    fn check(scratch: &mut Scratch<Ball>, (n, n_lps, n_times): (u64, u32, u64), width: u64) {
        const FIRST: u32 = 64;
        let mut grid = WindowGrid::new(width);
        grid.open(7);
        let draw = |i: u64, stream: u64, limit: u64| below(mix(mix(i) ^ stream), limit);
        let ball = |i: u64| {
            let time = grid.start + draw(i, 1, n_times) * (width / n_times);
            Ball::new(
                Time(time),
                FIRST + draw(i, 2, n_lps.into()) as u32,
                draw(i, 3, 99) as u32,
                i,
            )
        };
        let batch: Vec<Ball> = (0..n).map(ball).collect();
        // Twice: buffers of an earlier window must not show. Of one buffer, and of many of many lengths.
        for part in [&batch[..], &batch[..batch.len() / 2]] {
            let short = part.len() / 3;
            let mut buffers: Vec<Vec<Ball>> = part[short..].chunks(601).map(<[Ball]>::to_vec).collect();
            buffers.push(Vec::new());
            buffers.extend(part[..short].chunks(3).map(<[Ball]>::to_vec));
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
        let mut used = Scratch::default();
        for (n, n_lps, n_times) in [
            (1, 1, 1),
            (2, 3, 1),
            (500, 64, 200_000),
            (5_000, 64, 200_000),
            (5_000, 64, 1),
            (5_000, 1, 2),
            (2_000, 32, 3),
            (3_000, 100_000, 200_000),
            (60_000, 37, 1_000),
            (100_000, 1, 50),
        ] {
            if !cfg!(miri) || n < 3_000 {
                check(&mut Scratch::default(), (n, n_lps, n_times), 200_000);
                check(&mut used, (n, n_lps, n_times), 200_000);
            }
        }
    }

    #[test]
    fn times_that_words_have_no_room_for_are_compared() {
        let width = WindowGrid::MAX_WIDTH;
        let batch = |n: usize| vec![vec![(); 601]; n / 601];
        assert!(
            SortWords::new(&batch(3_000), 3_000, 1 << 30, width).cut > 0
                && SortWords::new(&batch(3_000), 3_000, 1 << 20, width).cut == 0
        );
        for (n, n_lps, n_times) in [
            (3_000, 1 << 30, width),
            (3_000, u32::MAX - 64, 1),
            (3_000, u32::MAX - 64, width),
        ] {
            check(&mut Scratch::default(), (n, n_lps, n_times), width);
        }
        // Most of them of one LP, at times that differ by less than what is cut.
        let mut grid = WindowGrid::new(width);
        grid.open(3);
        let ball = |i: u64| {
            Ball::new(
                Time(grid.start + mix(i) % 9),
                if i.is_multiple_of(50) { u32::MAX - i as u32 } else { 7 },
                0,
                i,
            )
        };
        let balls: Vec<Ball> = (0..2_000).map(ball).collect();
        let mut scratch = Scratch::default();
        scratch.sort(std::slice::from_ref(&balls), balls.len(), (0, u32::MAX), &grid, 5);
        assert!(scratch.order[..balls.len()].is_sorted_by(|a, b| by_lp(a, b, 5).is_lt()));
    }

    #[test]
    #[should_panic = "fewer events"]
    fn a_batch_with_fewer_events_than_it_is_said_to_have_is_refused() {
        let mut scratch = Scratch::default();
        let ball = Ball::new(Time(0), 3, 0, 0);
        scratch.sort(
            &[vec![ball; 3], vec![ball; 2]],
            6,
            (0, 64),
            &WindowGrid::new(200_000),
            5,
        );
    }

    #[test]
    fn what_comes_backwards_is_in_order_without_many_moves() {
        let mut grid = WindowGrid::new(200_000);
        grid.open(1);
        // All in one slice of time: each would be moved past all before it.
        let balls: Vec<Ball> = (0..20_000u64)
            .map(|i| Ball::new(Time(grid.start + (20_000 - i) / 100), 3, 0, i))
            .collect();
        let mut scratch = Scratch::default();
        scratch.sort(std::slice::from_ref(&balls), balls.len(), (0, 64), &grid, 5);
        assert!(scratch.order[..balls.len()].is_sorted_by(|a, b| by_lp(a, b, 5).is_lt()));
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
