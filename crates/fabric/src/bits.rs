//! Up to 64 of many at a time, as the bits of a word: which of them it is decides no branch.

use std::iter::from_fn;
use std::ops::Range;

/// Places in pieces of up to 64.
#[inline(always)]
pub(crate) fn few_at_a_time(mut places: Range<u32>) -> impl Iterator<Item = Range<u32>> {
    from_fn(move || {
        let next = places.end.min(places.start + 64);
        let few = places.start..next;
        places.start = next;
        (!few.is_empty()).then_some(few)
    })
}

/// Shows the numbers of the bits that are set.
#[inline(always)]
pub(crate) fn each_bit(mut bits: u64, mut see: impl FnMut(u32)) {
    while bits != 0 {
        see(bits.trailing_zeros());
        bits &= bits - 1;
    }
}
