//! Rings: in each of size - 1 rounds every rank sends one piece to the next rank and receives one from the rank before.

use super::Call;
use super::step::{Script, VectorSpan};

/// Blocks go round; a rank sends on what it received last.
pub(super) fn allgather(call: &Call, script: &mut Script) {
    gather_round(call, script, call.me, |i| call.blocks(i, 1));
}

/// The pieces of a vector go round, rank i counted from the root having piece i.
pub(super) fn allgather_pieces(call: &Call, script: &mut Script) {
    gather_round(call, script, call.relative(), |i| call.pieces(call.size, i, 1));
}

/// Blocks go round and take in a contribution at every rank; the one of a rank ends there.
pub(super) fn reduce_scatter(call: &Call, script: &mut Script) {
    combine_round(call, script, |i| call.blocks(i, 1));
}

/// First the pieces of the sum, then all of them everywhere.
pub(super) fn allreduce(call: &Call, script: &mut Script) {
    combine_round(call, script, |i| call.pieces(call.size, i, 1));
    allgather_pieces(call, script);
}

fn gather_round(call: &Call, script: &mut Script, me: u32, piece: impl Fn(u32) -> VectorSpan) {
    let n = call.size;
    script.rounds(n - 1, 3, |script, round| {
        script.recv(call.before(1), piece((me + n - 1 - round) % n));
        script.send(call.after(1), piece((me + n - round) % n));
        script.wait();
    });
}

fn combine_round(call: &Call, script: &mut Script, piece: impl Fn(u32) -> VectorSpan) {
    let n = call.size;
    script.rounds(n - 1, 4, |script, round| {
        let incoming = piece((call.me + 2 * n - 2 - round) % n);
        script.recv(call.before(1), incoming);
        script.send(call.after(1), piece((call.me + n - 1 - round) % n));
        script.wait();
        script.combine(incoming);
    });
}
