//! How many bytes a test holds: an allocator that counts them, thread by thread, since tests run beside each other.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts the bytes that are held.
struct Counting;

thread_local! {
    /// Bytes that this thread took and did not give back, below zero where it gave back those of others; and the most that it had.
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

/// Counts more bytes, or fewer.
fn count(bytes: isize) {
    // A thread that ends counts no more.
    let _ = HELD.try_with(|held| {
        let now = held.get().0 + bytes;
        held.set((now, held.get().1.max(now)));
    });
}

// SAFETY: all is handed on to the system's allocator as it came.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as the caller has promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as the caller has promised.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What `work` gives, and the most bytes that it holds at once; it starts no thread.
pub fn while_doing<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let (before, _) = HELD.get();
    HELD.set((before, before));
    let done = work();
    (done, (HELD.get().1 - before) as usize)
}
