//! Sequences of events in memory that they share, in chunks: what grows is not copied, and what one has emptied the next one fills.

use std::mem::MaybeUninit;

/// Events of a chunk: 4 KiB of packets. Tests have small ones, to come to many soon.
const CHUNK: usize = if cfg!(test) { 4 } else { 128 };
/// Chunks of the largest slabs, as a power of two: 32 MiB of packets.
const LARGEST: u32 = if cfg!(test) { 3 } else { 13 };

/// The memory of many sequences.
///
/// Slabs are each twice as large as the one before, up to the largest: few events take little memory, and many lie in slabs that the system gives and gets
/// back as a whole.
#[derive(Debug)]
pub(crate) struct Chunks<E> {
    slabs: Vec<Box<[MaybeUninit<E>]>>,
    /// Chunks that were in use and are no more, the last one at the end: it is still in the cache.
    free: Vec<u32>,
    /// Chunks that have ever been in use: the next one has this number.
    used: u32,
}

/// A sequence of events within [`Chunks`]. It must be emptied before it is dropped, or its chunks are lost until they are.
#[derive(Debug, Default)]
pub(crate) struct Chunked {
    /// All full but for the last.
    chunks: Vec<u32>,
    len: usize,
    /// Where the last chunk lies.
    last: (usize, usize),
}

impl Chunked {
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

impl<E> Default for Chunks<E> {
    fn default() -> Self {
        Chunks {
            slabs: Vec::new(),
            free: Vec::new(),
            used: 0,
        }
    }
}

/// The slab of a chunk and where it begins there.
fn place(chunk: u32) -> (usize, usize) {
    let number = chunk + 1;
    let (slab, chunk) = match number >> LARGEST {
        0 => (number.ilog2(), number - (1 << number.ilog2())),
        _ => {
            let beyond = number - (1 << LARGEST);
            (LARGEST + (beyond >> LARGEST), beyond & ((1 << LARGEST) - 1))
        }
    };
    (slab as usize, chunk as usize * CHUNK)
}

impl<E: Copy> Chunks<E> {
    /// Adds an event at the end of a sequence.
    #[inline]
    pub(crate) fn push(&mut self, sequence: &mut Chunked, event: E) {
        let i = sequence.len % CHUNK;
        if i == 0 {
            let chunk = self.get();
            sequence.chunks.push(chunk);
            sequence.last = place(chunk);
        }
        let (slab, from) = sequence.last;
        self.slabs[slab][from + i].write(event);
        sequence.len += 1;
    }

    #[cold]
    fn get(&mut self) -> u32 {
        if let Some(chunk) = self.free.pop() {
            return chunk;
        }
        let (slab, _) = place(self.used);
        if slab == self.slabs.len() {
            let chunks = 1 << (slab as u32).min(LARGEST);
            self.slabs.push(Box::new_uninit_slice(chunks * CHUNK));
        }
        self.used += 1;
        self.used - 1
    }

    /// The events of a sequence, chunk by chunk.
    fn parts<'a>(&'a self, sequence: &'a Chunked) -> impl Iterator<Item = &'a [E]> {
        let mut left = sequence.len;
        sequence.chunks.iter().map(move |&chunk| {
            let (slab, from) = place(chunk);
            let n = left.min(CHUNK);
            left -= n;
            let part = &self.slabs[slab][from..from + n];
            // SAFETY: so many events of this chunk were written since it is the sequence's. They are copied as bytes: nothing has to be dropped.
            #[allow(unsafe_code)]
            unsafe {
                std::slice::from_raw_parts(part.as_ptr().cast::<E>(), n)
            }
        })
    }

    /// All events of a sequence.
    pub(crate) fn events<'a>(&'a self, sequence: &'a Chunked) -> impl Iterator<Item = &'a E> {
        self.parts(sequence).flatten()
    }

    /// Moves the events of a sequence to the end of `out`.
    pub(crate) fn drain_into(&mut self, mut sequence: Chunked, out: &mut Vec<E>) {
        out.reserve(sequence.len);
        self.parts(&sequence).for_each(|part| out.extend_from_slice(part));
        self.cut(&mut sequence, 0);
    }

    /// Gives those events of a sequence to `take` that `goes` picks; the others stay in it, in their order.
    pub(crate) fn extract(&mut self, sequence: &mut Chunked, goes: impl Fn(&E) -> bool, mut take: impl FnMut(E)) {
        let mut kept = 0;
        let mut left = sequence.len;
        for number in 0..sequence.chunks.len() {
            let (slab, from) = place(sequence.chunks[number]);
            let n = left.min(CHUNK);
            left -= n;
            for i in from..from + n {
                let event = self.slabs[slab][i];
                // SAFETY: so many events of this chunk were written since it is the sequence's.
                #[allow(unsafe_code)]
                let seen = unsafe { event.assume_init() };
                if goes(&seen) {
                    take(seen);
                } else {
                    let (slab, from) = place(sequence.chunks[kept / CHUNK]);
                    self.slabs[slab][from + kept % CHUNK] = event;
                    kept += 1;
                }
            }
        }
        self.cut(sequence, kept);
    }

    /// Leaves a sequence its first events.
    fn cut(&mut self, sequence: &mut Chunked, len: usize) {
        let chunks = len.div_ceil(CHUNK);
        self.free.extend(sequence.chunks.drain(chunks..).rev());
        sequence.len = len;
        if let Some(&last) = sequence.chunks.last() {
            sequence.last = place(last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::mix;

    #[test]
    fn chunks_lie_one_behind_the_other_in_slabs_that_double_up_to_the_largest() {
        let most = 1 << LARGEST;
        let mut next = (0, 0);
        for chunk in 0..10 * most {
            assert_eq!(place(chunk), next);
            next.1 += CHUNK;
            if next.1 == CHUNK << (next.0 as u32).min(LARGEST) {
                next = (next.0 + 1, 0);
            }
        }
    }

    #[test]
    fn sequences_hold_what_was_put_into_them_in_memory_that_all_share() {
        for seed in 0..if cfg!(miri) { 2 } else { 50 } {
            let mut words = (0..).map(|i| mix(seed << 32 | i));
            let mut word = move || words.next().unwrap();
            let mut chunks = Chunks::default();
            let mut sequences: Vec<(Chunked, Vec<u64>)> = (0..6).map(|_| Default::default()).collect();
            let mut most = 0;
            for _ in 0..if cfg!(miri) { 60 } else { 600 } {
                let which = word() as usize % sequences.len();
                let (sequence, plain) = &mut sequences[which];
                match word() % 8 {
                    0 => {
                        let (from, mut out) = (word() % 4, vec![7]);
                        let (mut taken, mut expected) = (Vec::new(), Vec::new());
                        chunks.extract(sequence, |event| event % 4 < from, |event| taken.push(event));
                        plain.retain(|&event| {
                            let goes = event % 4 < from;
                            if goes {
                                expected.push(event);
                            }
                            !goes
                        });
                        assert_eq!(taken, expected);
                        if word() % 4 == 0 {
                            chunks.drain_into(std::mem::take(sequence), &mut out);
                            assert_eq!(out[1..], plain[..]);
                            plain.clear();
                        }
                    }
                    _ => {
                        for _ in 0..word() % 20 {
                            let event = word();
                            chunks.push(sequence, event);
                            plain.push(event);
                        }
                    }
                }
                for (sequence, plain) in &sequences {
                    assert_eq!((sequence.len(), sequence.is_empty()), (plain.len(), plain.is_empty()));
                    assert!(chunks.events(sequence).eq(plain));
                }
                let used: usize = sequences.iter().map(|(sequence, _)| sequence.chunks.len()).sum();
                most = most.max(used);
                assert_eq!(used + chunks.free.len(), chunks.used as usize, "no chunk is lost");
            }
            assert_eq!(
                chunks.used as usize, most,
                "no more chunks than were in use at one time"
            );
        }
    }
}
