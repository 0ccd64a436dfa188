//! What workers leave for each other between two meetings at the barrier: a letter of events to each block.
//!
//! What a worker sends to blocks of others in a step it leaves in the mailbox of that step's parity. After the barrier each worker takes
//! what is for its blocks: few events are copied, full buffers change places with empty ones of its own. When all have come to the next
//! barrier that is done: the owner takes the buffers back for what it sends next. The mailbox is used again in the step after that: one
//! barrier per step is enough.

use crate::pool::Pool;
use crate::ring::{EventRing, Letter, WindowGrid};
use crate::sync::SharedCell;
use crate::world::Event;
use std::ops::Range;

/// "No window."
pub(crate) const NEVER: u64 = u64::MAX;

/// Letters by block that one worker leaves in one step. Written by the owner before the barrier, read by the block's worker after it.
#[repr(align(128))]
struct Mailbox<E>(Box<[SharedCell<Letter<E>>]>);

// SAFETY: the barrier separates the owner's turn from that of the readers.
#[allow(unsafe_code)]
unsafe impl<E: Send + Sync> Sync for Mailbox<E> {}

/// The mailboxes of all workers.
pub(crate) struct Mail<E>(Vec<[Mailbox<E>; 2]>);

impl<E: Event> Mail<E> {
    /// Empty mailboxes of `workers` for letters to `n_blocks` blocks.
    pub(crate) fn new(workers: usize, n_blocks: usize) -> Self {
        let mailbox = || Mailbox((0..n_blocks).map(|_| SharedCell::new(Letter::default())).collect());
        Mail((0..workers).map(|_| [mailbox(), mailbox()]).collect())
    }

    /// Leaves what `rings` hold for blocks other than worker `me`'s `own`; returns the first window of it. Before the barrier of `step`.
    pub(crate) fn leave(
        &self,
        me: usize,
        step: u64,
        own: &Range<usize>,
        grid: &WindowGrid,
        rings: &mut [EventRing<E>],
        pool: &mut Pool<E>,
    ) -> u64 {
        let mailbox = &self.0[me][step as usize % 2];
        let mut next = NEVER;
        for (block, ring) in rings.iter_mut().enumerate() {
            if own.contains(&block) {
                continue;
            }
            next = next.min(ring.next_window(grid).unwrap_or(NEVER));
            mailbox.0[block].with_mut(|letter| {
                // SAFETY: before the barrier of `step` only its owner touches a mailbox of that parity.
                #[allow(unsafe_code)]
                ring.write(grid.index, unsafe { &mut *letter }, pool);
            });
        }
        next
    }

    /// Takes the buffers back in which worker `me` has left things in the step before `step`. After the barrier of `step`.
    pub(crate) fn take_back(&self, me: usize, step: u64, own: &Range<usize>, n_blocks: usize, pool: &mut Pool<E>) {
        let mailbox = &self.0[me][(step as usize + 1) % 2];
        for block in (0..n_blocks).filter(|block| !own.contains(block)) {
            mailbox.0[block].with_mut(|letter| {
                // SAFETY: who has come to the barrier of `step` has read what was left in the step before, and nobody but the owner
                // touches it until the owner has written there again, for the next step.
                #[allow(unsafe_code)]
                unsafe { &mut *letter }.take_back(pool);
            });
        }
    }

    /// Takes what the others have left for the blocks `own` of worker `me` into `rings`. After the barrier of `step`.
    pub(crate) fn take(
        &self,
        me: usize,
        step: u64,
        own: &Range<usize>,
        rings: &mut [EventRing<E>],
        pool: &mut Pool<E>,
    ) {
        for (_, mailboxes) in self.0.iter().enumerate().filter(|&(other, _)| other != me) {
            let mailbox = &mailboxes[step as usize % 2];
            for block in own.clone() {
                mailbox.0[block].with_mut(|letter| {
                    // SAFETY: after the barrier of `step`, until that of the next step, only the block's worker touches it.
                    #[allow(unsafe_code)]
                    rings[block].read(unsafe { &mut *letter }, pool);
                });
            }
        }
    }
}
