//! Hints for the processor's caches.

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Asks the processor to bring what lies at a place into its caches, or what will: a hint that changes nothing else, wherever it points to.
#[inline]
pub fn prefetch<T>(place: *const T) {
    bring(place.cast(), size_of::<T>());
}

/// Asks the processor to bring `bytes` bytes from `place` on into its caches: a hint that changes nothing else, wherever `place` is.
#[inline(always)]
pub(crate) fn bring(place: *const u8, bytes: usize) {
    let mut line = place;
    // Two lines a turn, one too many at the end does no harm.
    for _ in 0..bytes.div_ceil(2 * LINE) {
        bring_line(line);
        bring_line(line.wrapping_add(LINE));
        line = line.wrapping_add(2 * LINE);
    }
}

/// [`bring`] of one line.
#[inline(always)]
pub(crate) fn bring_line(place: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and cannot fault, whatever the address.
        #[allow(unsafe_code)]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(place.cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
