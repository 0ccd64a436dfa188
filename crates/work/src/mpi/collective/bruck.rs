//! Distances of powers of two for any number of ranks: dissemination and the algorithms of Bruck et al. (1997).

use super::step::{Script, VectorSpan};
use super::{Call, log2_ceil};

/// A signal 1, 2, 4, ... ranks ahead.
pub(super) fn disseminate(call: &Call, script: &mut Script) {
    script.rounds(log2_ceil(call.size), 3, |script, round| {
        script.recv(call.before(1 << round), VectorSpan::NONE);
        script.send(call.after(1 << round), VectorSpan::NONE);
        script.wait();
    });
}

/// The same as many ranks back, as the barrier of SST/macro goes, an allgather of nothing.
pub(super) fn disseminate_back(call: &Call, script: &mut Script) {
    script.rounds(log2_ceil(call.size), 3, |script, round| {
        script.send(call.before(1 << round), VectorSpan::NONE);
        script.recv(call.after(1 << round), VectorSpan::NONE);
        script.wait();
    });
}

/// All blocks so far go 1, 2, 4, ... ranks back; they lie in the order of their distance, so in the end they are moved into place.
pub(super) fn allgather(call: &Call, script: &mut Script) {
    script.rounds(log2_ceil(call.size), 3, |script, round| {
        let have = 1 << round;
        let count = have.min(call.size - have);
        script.recv(call.after(have), call.blocks(call.after(have), count));
        script.send(call.before(have), call.blocks(call.me, count));
        script.wait();
    });
    if call.me > 0 {
        script.copy(call.blocks(0, call.size).bytes);
    }
}

/// A block that has to go a distance d goes 2^k ranks ahead in round k if d has that bit. Blocks lie in the order of their distance,
/// so they are moved before and after, and packed and unpacked in every round.
pub(super) fn alltoall(call: &Call, script: &mut Script) {
    let all = call.blocks(0, call.size).bytes;
    script.copy(all);
    script.rounds(log2_ceil(call.size), 5, |script, round| {
        let moved = VectorSpan {
            start: u64::from(round),
            bytes: u64::from(with_bit(call.size, round)) * call.bytes,
        };
        script.copy(moved.bytes);
        script.recv(call.before(1 << round), moved);
        script.send(call.after(1 << round), moved);
        script.wait();
        script.copy(moved.bytes);
    });
    script.copy(all);
}

/// How many numbers below `n` have bit `k`.
pub(super) fn with_bit(n: u32, k: u32) -> u32 {
    let (half, period) = (1 << k, 2_u64 << k);
    let (whole, rest) = (u64::from(n) / period, u64::from(n) % period);
    (whole * half + rest.saturating_sub(half)) as u32
}
