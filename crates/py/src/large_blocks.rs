//! Large blocks of memory in large pages.
//!
//! What a large network has is all over its memory, and where each small page lies has to be looked up as well: a fifth of the time of a run
//! of 262,144 nodes. The system is asked for large pages, and gives them if it has any.

#![allow(unsafe_code)]

use rustix::mm::{Advice, madvise};
use std::alloc::{GlobalAlloc, Layout, System};

/// Blocks of so many bytes and more lie in large pages: a few of these, so that not much of them is left empty.
const LARGE: usize = 2 << 20;
/// A page (bytes); a multiple of it where pages are smaller.
const PAGE: usize = 1 << 16;

/// The system's allocator, with large pages for large blocks.
pub(crate) struct LargeBlocks;

// SAFETY: blocks are the system's; what is asked of their pages changes nothing that can be seen.
unsafe impl GlobalAlloc for LargeBlocks {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller says.
        in_large_pages(unsafe { System.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller says.
        in_large_pages(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as the caller says.
        unsafe { System.dealloc(block, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller says.
        in_large_pages(unsafe { System.realloc(block, layout, size) }, size)
    }
}

/// Asks for large pages for a block, if it is large and there.
#[inline]
fn in_large_pages(block: *mut u8, size: usize) -> *mut u8 {
    if size >= LARGE && !block.is_null() {
        ask_for_large_pages(block, size);
    }
    block
}

#[cold]
#[inline(never)]
fn ask_for_large_pages(block: *mut u8, size: usize) {
    let start = (block as usize).next_multiple_of(PAGE);
    let length = (block as usize + size - start) / PAGE * PAGE;
    // SAFETY: the pages are the block's, and keep what is in them. A system without large pages refuses, and nothing is lost.
    let _ = unsafe { madvise(start as *mut _, length, Advice::LinuxHugepage) };
}
