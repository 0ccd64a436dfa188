//! Exchanges between ranks whose numbers differ in one bit: recursive doubling and halving, and Rabenseifner's algorithms made of both.
//!
//! Ranks beyond the largest power of two are folded away first and get the result in the end ([`Fold`]).

use super::Call;
use super::step::{Fold, Script, VectorSpan};

/// Signals to the ranks that differ in bit 0, 1, ...
pub(super) fn barrier(call: &Call, script: &mut Script) {
    let fold = call.fold();
    if let Some(to) = fold.stands_aside_for() {
        script.send(to, VectorSpan::NONE);
        script.wait();
    }
    if let Some(from) = fold.takes_over() {
        script.recv(from, VectorSpan::NONE);
        script.wait();
    }
    if let Some(number) = fold.number() {
        script.rounds(fold.rounds(), 3, |script, round| {
            let partner = fold.rank(number ^ (1 << round));
            script.recv(partner, VectorSpan::NONE);
            script.send(partner, VectorSpan::NONE);
            script.wait();
        });
    }
    hand_back(call, script, &fold, VectorSpan::NONE);
}

/// Whole vectors to the ranks that differ in bit 0, 1, ...
pub(super) fn allreduce(call: &Call, script: &mut Script) {
    let fold = call.fold();
    hand_over(call, script, &fold, call.whole());
    if let Some(number) = fold.number() {
        script.rounds(fold.rounds(), 4, |script, round| {
            let partner = fold.rank(number ^ (1 << round));
            script.recv(partner, call.whole());
            script.send(partner, call.whole());
            script.wait();
            script.combine(call.whole());
        });
    }
    hand_back(call, script, &fold, call.whole());
}

/// Rabenseifner's allreduce: halves, quarters, ... are combined, then come back the same way.
pub(super) fn allreduce_by_halves(call: &Call, script: &mut Script) {
    let fold = call.fold();
    hand_over(call, script, &fold, call.whole());
    if let Some(number) = fold.number() {
        halve(call, script, &fold, number);
        script.rounds(fold.rounds(), 3, |script, round| {
            let bit = fold.rounds() - 1 - round;
            let partner = number ^ (1 << bit);
            let rank = fold.rank(partner);
            script.recv(rank, half(call, &fold, partner, bit));
            script.send(rank, half(call, &fold, number, bit));
            script.wait();
        });
    }
    hand_back(call, script, &fold, call.whole());
}

/// Rabenseifner's reduce: halves, quarters, ... are combined, then gathered at the root on a binomial tree.
pub(super) fn reduce(call: &Call, script: &mut Script) {
    let fold = call.fold();
    hand_over(call, script, &fold, call.whole());
    let Some(number) = fold.number() else { return };
    halve(call, script, &fold, number);
    let mut bit = fold.rounds();
    while bit > 0 && !script.is_found() {
        bit -= 1;
        let partner = number ^ (1 << bit);
        let rank = call.absolute(fold.rank(partner));
        if partner < number {
            script.send(rank, half(call, &fold, number, bit));
            script.wait();
            return;
        }
        script.recv(rank, half(call, &fold, partner, bit));
        script.wait();
    }
}

/// Blocks so far to the ranks that differ in bit 0, 1, ...; for a power of two of ranks.
pub(super) fn allgather(call: &Call, script: &mut Script) {
    gather(call, script, |first, count| call.blocks(first, count));
}

/// The same for the pieces of a vector, rank i counted from the root having piece i.
pub(super) fn allgather_pieces(call: &Call, script: &mut Script) {
    gather(call, script, |first, count| call.pieces(call.size, first, count));
}

fn gather(call: &Call, script: &mut Script, part: impl Fn(u32, u32) -> VectorSpan) {
    let me = call.relative();
    script.rounds(call.fold().rounds(), 3, |script, round| {
        let have = 1 << round;
        let partner = me ^ have;
        let rank = call.absolute(partner);
        script.recv(rank, part(partner & !(have - 1), have));
        script.send(rank, part(me & !(have - 1), have));
        script.wait();
    });
}

/// Recursive halving: the half of the blocks that the far half of the ranks is to have goes there, and so on. The rank that took over
/// another one's part keeps the blocks of both.
pub(super) fn reduce_scatter(call: &Call, script: &mut Script) {
    let fold = call.fold();
    let blocks = |from: u32, to: u32| call.blocks(fold.rank(from), fold.rank(to) - fold.rank(from));
    hand_over(call, script, &fold, call.blocks(0, call.size));
    if let Some(number) = fold.number() {
        script.rounds(fold.rounds(), 4, |script, round| {
            let distance = fold.power >> (round + 1);
            let partner = number ^ distance;
            let (mine, theirs) = (number & !(distance - 1), partner & !(distance - 1));
            let keep = blocks(mine, mine + distance);
            let rank = fold.rank(partner);
            script.recv(rank, keep);
            script.send(rank, blocks(theirs, theirs + distance));
            script.wait();
            script.combine(keep);
        });
    }
    let aside = fold.takes_over().unwrap_or(call.me);
    hand_back(call, script, &fold, call.blocks(aside, 1));
}

/// Vector halving with distance doubling: after the rounds of bits 0..k a rank has 2^-k of the combined vector.
fn halve(call: &Call, script: &mut Script, fold: &Fold, number: u32) {
    script.rounds(fold.rounds(), 4, |script, bit| {
        let partner = number ^ (1 << bit);
        let rank = call.absolute(fold.rank(partner));
        let keep = half(call, fold, number, bit);
        script.recv(rank, keep);
        script.send(rank, half(call, fold, partner, bit));
        script.wait();
        script.combine(keep);
    });
}

/// What `number` keeps in the round of `bit`: of the piece that it shares with its partner the first half if its bit is 0.
fn half(call: &Call, fold: &Fold, number: u32, bit: u32) -> VectorSpan {
    let count = fold.power >> (bit + 1);
    let place = u64::from(number.reverse_bits()) << fold.rounds() >> 32;
    call.pieces(fold.power, place as u32 & !(count - 1), count)
}

/// The ranks that stand aside hand over their vectors.
fn hand_over(call: &Call, script: &mut Script, fold: &Fold, vector: VectorSpan) {
    if let Some(to) = fold.stands_aside_for() {
        script.send(call.absolute(to), vector);
        script.wait();
    }
    if let Some(from) = fold.takes_over() {
        script.recv(call.absolute(from), vector);
        script.wait();
        script.combine(vector);
    }
}

/// The ranks that stand aside get the result.
fn hand_back(call: &Call, script: &mut Script, fold: &Fold, result: VectorSpan) {
    if let Some(to) = fold.takes_over() {
        script.send(call.absolute(to), result);
        script.wait();
    }
    if let Some(from) = fold.stands_aside_for() {
        script.recv(call.absolute(from), result);
        script.wait();
    }
}
