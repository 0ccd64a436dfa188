//! Rings: in each of size - 1 rounds every rank sends one piece to the next rank and receives one from the rank before.

use super::step::{Script, VectorSpan};
use super::{Call, WHOLE, cut};

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

/// First the pieces of the sum, then all of them everywhere. In segments: the first parts of all pieces go round, then the second ones, and so on; whole
/// pieces are gathered in the end.
pub(super) fn allreduce(call: &Call, script: &mut Script) {
    let piece = |i| call.pieces(call.size, i, 1);
    let parts = match call.segment {
        WHOLE => 1,
        segment => piece(0).bytes.div_ceil(segment.max(1)).max(1) as u32,
    };
    let n = call.size;
    script.rounds(parts * (n - 1), 4, |script, round| {
        let (part, round) = (round / (n - 1), round % (n - 1));
        combine(call, script, round, |i| {
            let whole = piece(i);
            let start = cut(whole.bytes, parts, part);
            VectorSpan {
                start: whole.start + start,
                bytes: cut(whole.bytes, parts, part + 1) - start,
            }
        });
    });
    allgather_pieces(call, script);
}

/// Two blocks to one neighbour and two from it, round by round the other one, which has what the one before has not. The first round makes pairs, which own
/// two blocks from then on; ranks 2 k and 2 k + 1 are one.
pub(super) fn exchange_with_neighbours(call: &Call, script: &mut Script) {
    let (n, pair) = (call.size, call.me & !1);
    let even = call.me == pair;
    let partner = call.me ^ 1;
    script.recv(partner, call.blocks(partner, 1));
    script.send(partner, call.blocks(call.me, 1));
    script.wait();
    // The pair that comes in a round, by turns from below and from above.
    let comes = |round: u32| {
        let distance = 2 * round.div_ceil(2);
        let below = (round % 2 == 1) == even;
        if below {
            (pair + n - distance) % n
        } else {
            (pair + distance) % n
        }
    };
    script.rounds(n / 2 - 1, 3, |script, i| {
        let round = i + 1;
        let neighbour = match (round % 2 == 1) == even {
            true => call.before(1),
            false => call.after(1),
        };
        script.recv(neighbour, call.blocks(comes(round), 2));
        script.send(
            neighbour,
            call.blocks(if round == 1 { pair } else { comes(round - 1) }, 2),
        );
        script.wait();
    });
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
    script.rounds(call.size - 1, 4, |script, round| combine(call, script, round, piece));
}

/// A round in which pieces take in contributions.
fn combine(call: &Call, script: &mut Script, round: u32, piece: impl Fn(u32) -> VectorSpan) {
    let n = call.size;
    let incoming = piece((call.me + 2 * n - 2 - round) % n);
    script.recv(call.before(1), incoming);
    script.send(call.after(1), piece((call.me + n - 1 - round) % n));
    script.wait();
    script.combine(incoming);
}
