//! Lists through columns: where one begins, its places in order, its elements as bytes.

use super::NONE;
use bytemuck::{Pod, Zeroable};
use des::checkpoint::put;
use std::iter::successors;

/// A list of waiting packets of the models that need more than one per channel.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct List {
    /// First waiting packet's slot.
    pub head: u32,
    /// Last waiting packet's slot.
    pub tail: u32,
}

/// An empty list.
pub const EMPTY: List = List { head: NONE, tail: NONE };

/// The places of a list from `head` on.
pub fn places(head: u32, next: impl Fn(u32) -> u32) -> impl Iterator<Item = u32> {
    let there = |place: u32| (place != NONE).then_some(place);
    successors(there(head), move |&place| there(next(place)))
}

/// Appends the number of a list's elements and each of them.
pub(crate) fn put_elements(
    out: &mut Vec<u8>,
    places: impl Iterator<Item = u32>,
    mut element: impl FnMut(&mut Vec<u8>, u32),
) {
    let at = out.len();
    put(out, 0u32);
    let mut n = 0u32;
    for place in places {
        element(out, place);
        n += 1;
    }
    out[at..at + 4].copy_from_slice(bytemuck::bytes_of(&n));
}
