//! Memory in large pages, on Linux.
//!
//! What a network has lies all over its memory, and a run goes back and forth in it. Where each small page lies has to be looked up as well: up to a quarter of
//! the time of a run of 32,768 ranks. The system gives large pages to what asks for them, where it has any.

#![cfg(target_os = "linux")]

mod pools;

pub use pools::survive_forks;

use rustix::mm::{Advice, madvise};
use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::{self, NonNull};

/// Blocks of so many bytes and more lie in a pool: columns, and buffers of events. What is smaller is seldom read while a run goes on.
const POOLED: usize = 4 << 10;
/// Blocks of so many bytes and more have pages of their own. The parts of a large page at their ends are little beside them.
const OWN: usize = 32 << 20;
/// A large page (bytes), or a multiple of one.
const LARGE_PAGE: usize = 2 << 20;
/// A page (bytes), or a multiple of one.
const PAGE: usize = 1 << 16;

/// The system's allocator, with blocks of 4 KiB and more in large pages.
///
/// Blocks below 32 MiB lie side by side in pools, which stay; but what a block covers of whole large pages goes back to the system when the block is freed. So
/// does all of a larger one.
pub struct LargePages;

/// Where a block lies: its size alone says it.
enum SizeClass {
    /// With the system, among its small ones.
    Small,
    Pooled,
    /// With the system, in pages of its own.
    Own,
}

impl SizeClass {
    #[inline]
    fn of(size: usize) -> SizeClass {
        match size {
            ..POOLED => SizeClass::Small,
            POOLED..OWN => SizeClass::Pooled,
            OWN.. => SizeClass::Own,
        }
    }
}

// SAFETY: every block is the system's or a pool's, and its size class says which; what is asked of pages changes nothing that can be seen in a block.
unsafe impl GlobalAlloc for LargePages {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match SizeClass::of(layout.size()) {
            // SAFETY: as the caller says.
            SizeClass::Small => unsafe { System.alloc(layout) },
            SizeClass::Pooled => pools::allocate(layout),
            // SAFETY: as the caller says.
            SizeClass::Own => ask_for_large_pages(unsafe { System.alloc(layout) }, layout.size()),
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match SizeClass::of(layout.size()) {
            // SAFETY: as the caller says.
            SizeClass::Small => unsafe { System.alloc_zeroed(layout) },
            SizeClass::Pooled => {
                let block = pools::allocate(layout);
                if !block.is_null() {
                    // SAFETY: a block of so many bytes that nobody else has.
                    unsafe { clear(block, layout.size()) };
                }
                block
            }
            // SAFETY: as the caller says.
            SizeClass::Own => ask_for_large_pages(unsafe { System.alloc_zeroed(layout) }, layout.size()),
        }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match SizeClass::of(layout.size()) {
            // SAFETY: as the caller says: a block of a pool, of so many bytes.
            SizeClass::Pooled => unsafe {
                give_back(block, layout.size());
                pools::free(NonNull::new_unchecked(block), layout.align());
            },
            // SAFETY: as the caller says.
            SizeClass::Small | SizeClass::Own => unsafe { System.dealloc(block, layout) },
        }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller says, the size is one of a layout.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (SizeClass::of(layout.size()), SizeClass::of(size)) {
            // SAFETY: as the caller says.
            (SizeClass::Small, SizeClass::Small) => unsafe { System.realloc(block, layout, size) },
            (SizeClass::Own, SizeClass::Own) => {
                // SAFETY: as the caller says.
                let moved = unsafe { System.realloc(block, layout, size) };
                ask_for_large_pages(moved, size)
            }
            // SAFETY: as the caller says: a block of a pool, which keeps its place when it shrinks; what is given back lies behind its new end.
            (SizeClass::Pooled, SizeClass::Pooled) if size <= layout.size() || size < LARGE_PAGE => unsafe {
                if size < layout.size() {
                    give_back(block.add(size), layout.size() - size);
                }
                pools::resize(NonNull::new_unchecked(block), new)
            },
            // SAFETY: as the caller says; both blocks have as many bytes as the smaller of them.
            _ => unsafe {
                let other = self.alloc(new);
                if !other.is_null() {
                    ptr::copy_nonoverlapping(block, other, layout.size().min(size));
                    self.dealloc(block, layout);
                }
                other
            },
        }
    }
}

/// Asks the system for large pages for a block of pages of its own, if there is one.
#[cold]
#[inline(never)]
fn ask_for_large_pages(block: *mut u8, size: usize) -> *mut u8 {
    let (start, length) = whole(block, size, PAGE);
    if !block.is_null() {
        // SAFETY: the pages are the block's, and keep what is in them. A system without large pages refuses, and nothing is lost.
        let _ = unsafe { madvise(start.cast(), length, Advice::LinuxHugepage) };
    }
    block
}

/// Gives the large pages that a part of a pool's block covers back to the system: what is in them is lost, and read as zeros.
///
/// # Safety
///
/// Nobody reads the part's bytes any more.
#[inline]
unsafe fn give_back(block: *mut u8, size: usize) {
    if size >= LARGE_PAGE {
        // SAFETY: as the caller says.
        unsafe { empty(block, size) };
    }
}

/// Empties the large pages that a part of a pool's block covers; says which part has been emptied, from where and of how many bytes.
///
/// # Safety
///
/// As for [`give_back`].
#[cold]
#[inline(never)]
unsafe fn empty(block: *mut u8, size: usize) -> Option<(*mut u8, usize)> {
    let (start, length) = whole(block, size, LARGE_PAGE);
    // SAFETY: the pages are the block's, in a mapping of our own, private and without a file: as the caller says, nobody reads what is in them.
    let emptied = length > 0 && unsafe { madvise(start.cast(), length, Advice::LinuxDontNeed) }.is_ok();
    emptied.then_some((start, length))
}

/// Writes zeros. Large pages are emptied instead, so that memory is taken for those that are used.
///
/// # Safety
///
/// A block of a pool with so many bytes.
#[inline]
unsafe fn clear(block: *mut u8, size: usize) {
    // SAFETY: as the caller says; what is emptied lies within the block.
    unsafe {
        match (size >= LARGE_PAGE).then(|| empty(block, size)).flatten() {
            Some((start, length)) => {
                let before = start.offset_from_unsigned(block);
                block.write_bytes(0, before);
                start.add(length).write_bytes(0, size - before - length);
            }
            None => block.write_bytes(0, size),
        }
    }
}

/// What a block covers of whole pages of a size: from where, and how many bytes.
#[inline]
fn whole(block: *mut u8, size: usize, page: usize) -> (*mut u8, usize) {
    let before = block.align_offset(page);
    (block.wrapping_add(before), size.saturating_sub(before) / page * page)
}
