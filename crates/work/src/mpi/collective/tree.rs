//! Binomial trees: rank r, counted from the root, is the child of r without its lowest bit.
//!
//! ceil(log2 size) rounds, in each of which the ranks that have something pass it on to one that has not, or, upwards, hand it over and
//! are done. As in MPICH a send is waited for before the next one.

use super::step::{Script, VectorSpan};
use super::{Call, cut};

/// The root's vector to all.
pub(super) fn bcast(call: &Call, script: &mut Script) {
    down(call, script, |_, _| call.whole());
}

/// All vectors combined at the root.
pub(super) fn reduce(call: &Call, script: &mut Script) {
    up(call, script, true, |_, _| call.whole());
}

/// A signal from all to the root.
pub(super) fn collect(call: &Call, script: &mut Script) {
    up(call, script, false, |_, _| VectorSpan::NONE);
}

/// A signal from the root to all.
pub(super) fn release(call: &Call, script: &mut Script) {
    down(call, script, |_, _| VectorSpan::NONE);
}

/// A block from everybody to the root.
pub(super) fn gather(call: &Call, script: &mut Script) {
    up(call, script, false, |first, count| {
        call.blocks(call.absolute(first), count)
    });
}

/// A block for everybody from the root.
pub(super) fn scatter(call: &Call, script: &mut Script) {
    down(call, script, |first, count| call.blocks(call.absolute(first), count));
}

/// The root's vector cut into a piece for everybody, counted from the root.
pub(super) fn scatter_pieces(call: &Call, script: &mut Script) {
    down(call, script, |first, count| {
        let start = cut(call.bytes, call.size, first);
        VectorSpan {
            start,
            bytes: cut(call.bytes, call.size, first + count) - start,
        }
    });
}

/// Distance of the farthest possible child, times two; a rank that is not the root has its parent so far away.
fn reach(call: &Call, me: u32) -> u32 {
    match me {
        0 => call.size.next_power_of_two(),
        me => me & me.wrapping_neg(),
    }
}

/// From the parent, then to the children, the farthest first. `part` says what a subtree of (first, number of) ranks gets.
fn down(call: &Call, script: &mut Script, part: impl Fn(u32, u32) -> VectorSpan) {
    let me = call.relative();
    let reach = reach(call, me);
    if me > 0 {
        script.recv(call.absolute(me - reach), part(me, reach.min(call.size - me)));
        script.wait();
    }
    let mut distance = reach / 2;
    while distance > 0 && !script.is_found() {
        let child = me + distance;
        if child < call.size {
            script.send(call.absolute(child), part(child, distance.min(call.size - child)));
            script.wait();
        }
        distance /= 2;
    }
}

/// From the children, the nearest first, then to the parent.
fn up(call: &Call, script: &mut Script, combine: bool, part: impl Fn(u32, u32) -> VectorSpan) {
    let me = call.relative();
    let reach = reach(call, me);
    let mut distance = 1;
    while distance < reach && !script.is_found() {
        let child = me + distance;
        if child < call.size {
            let part = part(child, distance.min(call.size - child));
            script.recv(call.absolute(child), part);
            script.wait();
            if combine {
                script.combine(part);
            }
        }
        distance *= 2;
    }
    if me > 0 {
        script.send(call.absolute(me - reach), part(me, reach.min(call.size - me)));
        script.wait();
    }
}
