//! Moving data between buffers with a layout and packed bytes.

use super::{Datatype, layout::walk};

/// A buffer of `count` elements of a datatype.
#[derive(Clone, Copy, Debug)]
pub struct LayoutCursor<'a> {
    /// The address that the program gave: displacements count from here.
    pub address: *mut u8,
    /// How many elements.
    pub count: i64,
    /// Of what.
    pub of: &'a Datatype,
}

impl LayoutCursor<'_> {
    /// Bytes of data.
    pub fn bytes(&self) -> i64 {
        self.count * self.of.size
    }

    /// The address of data without gaps, if they lie so.
    pub fn dense(&self) -> Option<*mut u8> {
        self.of.is_dense().then_some(self.address)
    }

    /// Copies the data next to each other to `to`.
    ///
    /// # Safety
    /// All data of the buffer can be read, `to` can be written for [`Self::bytes`] bytes, and the two do not overlap.
    #[unsafe(link_section = ".text.hot")]
    pub unsafe fn pack(&self, to: *mut u8) {
        if self.bytes() == 0 {
            return;
        }
        if self.of.is_dense() {
            // SAFETY: a dense buffer is one block of that many bytes; the caller promises both sides.
            unsafe { copy(self.address, to, self.bytes() as usize) };
            return;
        }
        let mut at = 0;
        self.blocks(&mut |offset, length| {
            // SAFETY: the block is data of the buffer, and what was packed so far is less than all its bytes.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    self.address.wrapping_offset(offset as isize),
                    to.add(at),
                    length as usize,
                )
            };
            at += length as usize;
            true
        });
    }

    /// Copies `bytes` packed bytes to their places; returns how many found one.
    ///
    /// # Safety
    /// All places of the buffer can be written, `from` can be read for `bytes` bytes, and the two do not overlap.
    #[unsafe(link_section = ".text.hot")]
    pub unsafe fn unpack(&self, from: *const u8, bytes: i64) -> i64 {
        let fit = bytes.min(self.bytes());
        if fit == 0 {
            return 0;
        }
        if self.of.is_dense() {
            // SAFETY: a dense buffer is one block of at least that many bytes; the caller promises both sides.
            unsafe { copy(from, self.address, fit as usize) };
            return fit;
        }
        let mut at = 0;
        self.blocks(&mut |offset, length| {
            let length = length.min(fit - at);
            // SAFETY: the block is a place of the buffer, and no more is read than `bytes`.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    from.add(at as usize),
                    self.address.wrapping_offset(offset as isize),
                    length as usize,
                )
            };
            at += length;
            at < fit
        });
        fit
    }

    /// Calls `each` with every block, until it returns false.
    fn blocks(&self, each: &mut impl FnMut(i64, i64) -> bool) {
        let extent = self.of.extent();
        for element in 0..self.count {
            if !walk(&self.of.parts, element * extent, &mut *each) {
                return;
            }
        }
    }
}

/// Copies bytes. A number goes without the C library: to a rank that wakes its pages would be two more.
///
/// # Safety
/// As of [`std::ptr::copy_nonoverlapping`].
#[inline]
unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller promises as many bytes on both sides.
    unsafe {
        match bytes {
            4 => to.cast::<u32>().write_unaligned(from.cast::<u32>().read_unaligned()),
            8 => to.cast::<u64>().write_unaligned(from.cast::<u64>().read_unaligned()),
            _ => std::ptr::copy_nonoverlapping(from, to, bytes),
        }
    }
}
