//! Buffers of events in a few sizes, used again and again: what one window has emptied the next ones fill.
//!
//! A worker has one pool for all its blocks and for what it sends to those of others, so that there are as many buffers as have been in
//! use at one time, whatever the number of blocks and workers. What was used last is given out first: it is still in the cache.

/// Events of the largest buffers; a bucket with more has several of them.
pub(crate) const CHUNK: usize = SIZES[SIZES.len() - 1];

/// Events of a buffer, by size. With larger ones there are more places without events, one buffer for each window of each block; with
/// smaller ones, more often a next one has to be found.
const SIZES: [usize; 4] = [4, 16, 64, 256];

/// Buffers that hold nothing.
#[derive(Debug)]
pub struct Pool<E> {
    spare: [Vec<Vec<E>>; SIZES.len()],
}

impl<E> Default for Pool<E> {
    fn default() -> Self {
        Pool {
            spare: [const { Vec::new() }; SIZES.len()],
        }
    }
}

impl<E> Pool<E> {
    /// A buffer for `n` events and more, at most [`CHUNK`].
    pub(crate) fn get(&mut self, n: usize) -> Vec<E> {
        let size = SIZES.iter().position(|&size| size >= n).unwrap_or(SIZES.len() - 1);
        self.spare[size]
            .pop()
            .unwrap_or_else(|| Vec::with_capacity(SIZES[size]))
    }

    /// A buffer of the largest size if there is one.
    pub(crate) fn largest(&mut self) -> Option<Vec<E>> {
        self.spare[SIZES.len() - 1].pop()
    }

    /// Takes a buffer back; what it holds is gone.
    pub(crate) fn give(&mut self, mut buffer: Vec<E>) {
        buffer.clear();
        if let Some(size) = SIZES.iter().rposition(|&size| size <= buffer.capacity()) {
            self.spare[size].push(buffer);
        }
    }
}
