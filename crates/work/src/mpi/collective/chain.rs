//! A pipeline: the vector goes from rank to rank in segments, each rank receiving one while it sends on the one before.

use super::Call;
use super::step::{Script, VectorSpan};

/// Size of a segment (bytes).
pub(super) const SEGMENT: u64 = 64 << 10;

/// Number of segments of a vector; an empty one is sent too.
pub(super) fn segments(bytes: u64) -> u32 {
    bytes.div_ceil(SEGMENT).max(1) as u32
}

/// The root's vector to all.
pub(super) fn bcast(call: &Call, script: &mut Script) {
    let me = call.relative();
    let count = segments(call.bytes);
    let segment = |i: u32| {
        let start = u64::from(i) * SEGMENT;
        VectorSpan {
            start,
            bytes: SEGMENT.min(call.bytes - start),
        }
    };
    let last = me + 1 == call.size;
    if me > 0 {
        script.recv(call.before(1), segment(0));
        script.wait();
    }
    script.rounds(count - 1, if me > 0 && !last { 3 } else { 2 }, |script, i| {
        if me > 0 {
            script.recv(call.before(1), segment(i + 1));
        }
        if !last {
            script.send(call.after(1), segment(i));
        }
        script.wait();
    });
    if !last {
        script.send(call.after(1), segment(count - 1));
        script.wait();
    }
}
