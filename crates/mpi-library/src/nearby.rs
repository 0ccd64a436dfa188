//! Memory beside the record of the process, for what the library makes while it starts and then uses in every call.
//!
//! A rank that wakes has none of its pages at hand. What lies in the heap of the program would be two pages more, and far from all else, so that the tables
//! that say where they lie are not at hand either.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::UnsafeCell,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

/// So much there is of it (bytes): what the record of the process leaves of a page.
const ROOM: usize = 4096 - 1280 - 64;
/// Larger blocks lie elsewhere: members of the world, which calls count and do not look up.
const LARGEST: usize = 1024;
/// Blocks that ask for more lie elsewhere, too.
const ALIGNED: usize = 64;

/// Memory that is given once and not taken back.
#[repr(C, align(64))]
pub struct Nearby {
    /// Whether blocks are taken from here.
    is_open: AtomicBool,
    /// So much is taken.
    taken: AtomicUsize,
    room: Room,
}

#[repr(C, align(64))]
struct Room(UnsafeCell<[u8; ROOM]>);

// SAFETY: no byte is given twice.
unsafe impl Sync for Room {}

/// Blocks are taken from nearby as long as this is there.
pub struct OpenNearby<'a>(&'a Nearby);

impl Drop for OpenNearby<'_> {
    fn drop(&mut self) {
        self.0.is_open.store(false, Ordering::Relaxed);
    }
}

impl Nearby {
    /// All of it is free.
    pub(crate) const fn new() -> Nearby {
        Nearby {
            is_open: AtomicBool::new(false),
            taken: AtomicUsize::new(0),
            room: Room(UnsafeCell::new([0; ROOM])),
        }
    }

    /// From now on blocks are taken from here.
    pub(crate) fn open(&self) -> OpenNearby<'_> {
        self.is_open.store(true, Ordering::Relaxed);
        OpenNearby(self)
    }

    fn start(&self) -> *mut u8 {
        self.room.0.get().cast()
    }

    fn has(&self, block: *const u8) -> bool {
        (block as usize).wrapping_sub(self.start() as usize) < ROOM
    }

    /// A block, if there is room.
    fn take(&self, layout: Layout) -> Option<*mut u8> {
        if !self.is_open.load(Ordering::Relaxed) || layout.size() > LARGEST || layout.align() > ALIGNED {
            return None;
        }
        let behind =
            |taken: usize| Some(taken.next_multiple_of(layout.align()) + layout.size()).filter(|end| *end <= ROOM);
        let before = self
            .taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, behind)
            .ok()?;
        // SAFETY: there was room behind it.
        Some(unsafe { self.start().add(before.next_multiple_of(layout.align())) })
    }
}

/// The memory of the library: the C library's, or nearby.
pub struct LibraryMemory(pub(crate) &'static Nearby);

// SAFETY: blocks are the system's, or bytes of the record of the process that are given once; which of the two is told by the address.
unsafe impl GlobalAlloc for LibraryMemory {
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match self.0.take(layout) {
            Some(block) => block,
            // SAFETY: as we were asked.
            None => unsafe { System.alloc(layout) },
        }
    }

    #[inline(never)]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if !self.0.has(block) {
            // SAFETY: not from nearby, so it is the system's.
            unsafe { System.dealloc(block, layout) }
        }
    }

    #[inline(never)]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match self.0.take(layout) {
            // All zeros, since no byte is given twice.
            Some(block) => block,
            // SAFETY: as we were asked.
            None => unsafe { System.alloc_zeroed(layout) },
        }
    }

    #[inline(never)]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        if !self.0.has(block) {
            // SAFETY: not from nearby, so it is the system's.
            return unsafe { System.realloc(block, layout, bytes) };
        }
        // SAFETY: the size was asked for with this alignment, and both blocks have room for what is copied.
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(bytes, layout.align()));
            if !new.is_null() {
                std::ptr::copy_nonoverlapping(block, new, layout.size().min(bytes));
            }
            new
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_apart_and_taken_only_while_it_is_open_and_has_room() {
        let nearby = Nearby::new();
        let layout = |bytes, align| Layout::from_size_align(bytes, align).unwrap();
        assert_eq!(nearby.take(layout(8, 8)), None);
        let open = nearby.open();
        let mut end = nearby.start() as usize;
        for (bytes, align) in [(3, 1), (64, 64), (8, 8), (0, 1), (LARGEST, 16), (1, 1), (40, 8)] {
            let block = nearby.take(layout(bytes, align)).unwrap();
            assert!(block as usize >= end && (block as usize).is_multiple_of(align) && nearby.has(block));
            end = block as usize + bytes;
        }
        assert_eq!(nearby.take(layout(LARGEST + 1, 8)), None);
        assert_eq!(nearby.take(layout(8, 2 * ALIGNED)), None);
        assert!(nearby.take(layout(LARGEST, 1)).is_some());
        end += LARGEST;
        let left = nearby.start() as usize + ROOM - end;
        assert_eq!(
            nearby
                .take(layout(left + 1, 1))
                .or(nearby.take(layout(left, 1)))
                .map(|block| block as usize),
            Some(end)
        );
        assert_eq!(nearby.take(layout(1, 1)), None);
        assert!(!nearby.has((nearby.start() as usize + ROOM) as *const u8));
        drop(open);
        assert!(!nearby.has(Box::into_raw(Box::new(1_u64)).cast()));
    }

    #[test]
    fn a_block_from_nearby_grows_and_goes_as_any_other() {
        static NEARBY: Nearby = Nearby::new();
        let memory = LibraryMemory(&NEARBY);
        let (small, large) = (Layout::new::<[u64; 4]>(), Layout::new::<[u64; 9]>());
        let open = NEARBY.open();
        // SAFETY: blocks are used for what they were asked for, and go as they came.
        unsafe {
            let block: *mut u64 = memory.alloc_zeroed(small).cast();
            assert!(NEARBY.has(block.cast()));
            assert_eq!(*block.cast::<[u64; 4]>(), [0; 4]);
            *block.cast() = [1_u64, 2, 3, 4];
            drop(open);
            let grown: *mut u64 = memory.realloc(block.cast(), small, large.size()).cast();
            assert!(!NEARBY.has(grown.cast()));
            assert_eq!(*grown.cast::<[u64; 4]>(), [1, 2, 3, 4]);
            memory.dealloc(block.cast(), small);
            memory.dealloc(grown.cast(), large);
        }
    }
}
