//! Lists through columns: "none", the places of a list in order, its elements as bytes.
//!
//! A list is the place of its first element; every element has the place of the next, or [`NONE`].

use crate::checkpoint::put;
use std::iter::successors;

/// "No element."
pub const NONE: u32 = u32::MAX;

/// The places of a list from `head` on.
pub fn places(head: u32, next: impl Fn(u32) -> u32) -> impl Iterator<Item = u32> {
    let there = |place: u32| (place != NONE).then_some(place);
    successors(there(head), move |&place| there(next(place)))
}

/// Appends the number of a list's elements and each of them.
pub fn put_elements(out: &mut Vec<u8>, places: impl Iterator<Item = u32>, mut element: impl FnMut(&mut Vec<u8>, u32)) {
    let at = out.len();
    put(out, 0u32);
    let mut n = 0u32;
    for place in places {
        element(out, place);
        n += 1;
    }
    out[at..at + 4].copy_from_slice(bytemuck::bytes_of(&n));
}
