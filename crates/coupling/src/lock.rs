//! A lock that processes share.

use crate::futex;
use std::sync::atomic::{AtomicU32, Ordering};

const FREE: u32 = 0;
const TAKEN: u32 = 1;
/// Taken, and somebody may be asleep for it.
const WANTED: u32 = 2;

/// A lock in shared memory. All zeros is a free one. A process that dies with it leaves it taken: the launcher ends all of them then.
#[repr(transparent)]
#[derive(Debug, Default)]
pub struct SharedLock(AtomicU32);

impl SharedLock {
    /// Takes the lock for as long as what is returned lives.
    pub fn lock(&self) -> SharedGuard<'_> {
        let taken = self
            .0
            .compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed);
        if taken.is_err() {
            while self.0.swap(WANTED, Ordering::Acquire) != FREE {
                futex::wait(&self.0, WANTED, None);
            }
        }
        SharedGuard(&self.0)
    }
}

/// A lock that is taken.
#[derive(Debug)]
pub struct SharedGuard<'a>(&'a AtomicU32);

impl Drop for SharedGuard<'_> {
    fn drop(&mut self) {
        if self.0.swap(FREE, Ordering::Release) == WANTED {
            futex::wake(self.0, 1);
        }
    }
}
