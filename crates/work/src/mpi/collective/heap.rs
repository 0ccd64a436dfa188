//! Heap trees: place p has the places 2p + 1 and 2p + 2 below it. Places are ranks; a root that is not rank 0 changes places with it.
//!
//! A rank takes what both places below it have at once, and passes on to both at once.

use super::Call;
use super::step::{Script, VectorSpan};

/// The root's vector to all.
pub(super) fn bcast(call: &Call, script: &mut Script) {
    down(call, script, call.whole());
}

/// All vectors combined at the root.
pub(super) fn reduce(call: &Call, script: &mut Script) {
    up(call, script, true, call.whole());
}

/// A signal from all to the root.
pub(super) fn collect(call: &Call, script: &mut Script) {
    up(call, script, false, VectorSpan::NONE);
}

/// A signal from the root to all.
pub(super) fn release(call: &Call, script: &mut Script) {
    down(call, script, VectorSpan::NONE);
}

/// The place of a rank, and the rank of a place.
fn exchanged(call: &Call, rank: u32) -> u32 {
    match rank {
        rank if rank == call.origin() => 0,
        0 => call.origin(),
        rank => rank,
    }
}

/// The ranks below this one.
fn below(call: &Call) -> impl Iterator<Item = u32> {
    let first = 2 * exchanged(call, call.me) + 1;
    (first..(first + 2).min(call.size.max(first))).map(|place| exchanged(call, place))
}

/// The rank above this one.
fn above(call: &Call) -> Option<u32> {
    let place = exchanged(call, call.me);
    (place > 0).then(|| exchanged(call, (place - 1) / 2))
}

fn up(call: &Call, script: &mut Script, combine: bool, part: VectorSpan) {
    let children = below(call).count();
    below(call).for_each(|child| script.recv(child, part));
    if children > 0 {
        script.wait();
    }
    if combine {
        (0..children).for_each(|_| script.combine(part));
    }
    if let Some(parent) = above(call) {
        script.send(parent, part);
        script.wait();
    }
}

fn down(call: &Call, script: &mut Script, part: VectorSpan) {
    if let Some(parent) = above(call) {
        script.recv(parent, part);
        script.wait();
    }
    below(call).for_each(|child| script.send(child, part));
    if below(call).next().is_some() {
        script.wait();
    }
}

/// Messages that follow on one another, up or down a heap of so many ranks, where one is sent and one received at a time.
pub(super) fn rounds(size: u32) -> u32 {
    if size < 2 {
        return 0;
    }
    // The lowest level fills from the left.
    let half = 1 << (size.ilog2() - 1);
    let lowest = size - (2 * half - 1);
    let left = half - 1 + lowest.min(half);
    (1 + rounds(left)).max(if size > 2 { 2 + rounds(size - 1 - left) } else { 0 })
}
