//! The pools, and the lock that they are under.

use crate::{LARGE_PAGE, OWN};
use rlsf::{FlexSource, FlexTlsf};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// A pool has a multiple of so many bytes. No memory is taken for what is not used of it.
const POOL: usize = 32 << 20;

/// Two levels of sizes (Masmano, Ripoll, Crespo and Real, ECRTS 2004): powers of two from 32 bytes to 512 MiB, and 32 parts of each.
type SizedBlocks = FlexTlsf<Mappings, u32, u32, 24, 32>;

/// Every block has its place in the levels.
const _: () = assert!(OWN <= 32 << 24);

static POOLS: Pools = Pools {
    held: AtomicBool::new(false),
    blocks: UnsafeCell::new(SizedBlocks::new(Mappings)),
};

/// A block; null if the system has no memory.
pub(crate) fn allocate(layout: Layout) -> *mut u8 {
    POOLS.hold().allocate(layout).map_or(ptr::null_mut(), NonNull::as_ptr)
}

/// # Safety
///
/// A block of [`allocate`] or [`resize`], with the alignment that it was asked for with.
pub(crate) unsafe fn free(block: NonNull<u8>, align: usize) {
    // SAFETY: as the caller says.
    unsafe { POOLS.hold().deallocate(block, align) }
}

/// A block with what fits into it of what was in another, which is freed; null if the system has no memory, and the other stays as it is.
///
/// # Safety
///
/// As for [`free`].
pub(crate) unsafe fn resize(block: NonNull<u8>, layout: Layout) -> *mut u8 {
    // SAFETY: as the caller says.
    unsafe { POOLS.hold().reallocate(block, layout) }.map_or(ptr::null_mut(), NonNull::as_ptr)
}

/// A process may be copied (`fork`) by one thread while another allocates: from now on such a copy waits until the pools are whole, and can use them.
pub fn survive_forks() {
    static ONCE: Once = Once::new();
    extern "C" fn before() {
        POOLS.lock();
    }
    extern "C" fn after() {
        POOLS.unlock();
    }
    // SAFETY: the functions stay, and allocate nothing. Without memory for the note of them the system refuses, and copies are as they were.
    ONCE.call_once(|| unsafe {
        libc::pthread_atfork(Some(before), Some(after), Some(after));
    });
}

struct Pools {
    held: AtomicBool,
    blocks: UnsafeCell<SizedBlocks>,
}

// SAFETY: the blocks are reached through `Hold` alone.
unsafe impl Sync for Pools {}

impl Pools {
    /// Waits by turns: who holds the pools does so for less than a microsecond, or while a block of less than a large page is copied.
    #[inline]
    fn lock(&self) {
        while self
            .held
            .compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            thread::yield_now();
        }
    }

    #[inline]
    fn unlock(&self) {
        self.held.store(false, Ordering::Release);
    }

    #[inline]
    fn hold(&self) -> Hold<'_> {
        self.lock();
        Hold(self)
    }
}

/// The right to use the pools, until it is dropped.
struct Hold<'a>(&'a Pools);

impl Deref for Hold<'_> {
    type Target = SizedBlocks;

    #[inline]
    fn deref(&self) -> &SizedBlocks {
        // SAFETY: nobody else holds them.
        unsafe { &*self.0.blocks.get() }
    }
}

impl DerefMut for Hold<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut SizedBlocks {
        // SAFETY: nobody else holds them.
        unsafe { &mut *self.0.blocks.get() }
    }
}

impl Drop for Hold<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.unlock();
    }
}

/// Where pools come from: the system maps each of them, and they stay.
struct Mappings;

// SAFETY: every pool is a mapping of its own, aligned as told, which stays.
unsafe impl FlexSource for Mappings {
    unsafe fn alloc(&mut self, least: usize) -> Option<NonNull<[u8]>> {
        let size = least.checked_next_multiple_of(POOL)?;
        let mapped = size.checked_add(LARGE_PAGE)?;
        let (protection, flags) = (
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE | MapFlags::NORESERVE,
        );
        // SAFETY: a new mapping, where the system wants it. Its ends, which nobody has seen, go back; if they cannot, they are not used. A system without
        // large pages refuses the advice, and nothing is lost.
        unsafe {
            let start = mmap_anonymous(ptr::null_mut(), mapped, protection, flags).ok()?;
            let before = start.cast::<u8>().align_offset(LARGE_PAGE);
            let pool = start.byte_add(before);
            if before > 0 {
                let _ = munmap(start, before);
            }
            let _ = munmap(pool.byte_add(size), LARGE_PAGE - before);
            let _ = madvise(pool, size, Advice::LinuxHugepage);
            Some(NonNull::slice_from_raw_parts(NonNull::new(pool.cast())?, size))
        }
    }

    #[inline]
    fn min_align(&self) -> usize {
        LARGE_PAGE
    }
}
