//! Trees on which vectors go in segments, as in Open MPI: a rank passes on a segment while the next one comes.
//!
//! Ranks are counted from the root. A rank asks for the next segment when it has the one before; Open MPI keeps two requests open, which comes
//! to the same, since who sends has one segment under way to each rank at a time.

use super::step::{Script, VectorSpan};
use super::{Call, WHOLE};

/// Size of a segment of a chain (bytes), where nobody says it.
pub(super) const CHAIN: u64 = 64 << 10;

/// Who is below whom.
#[derive(Clone, Copy)]
pub(super) enum PipelineTree {
    /// The next rank.
    Chain,
    /// Of a rank of level k, the ranks 2^k and 2^(k+1) further; level k begins with rank 2^k - 1. Below rank 1 are the odd ones.
    Binary,
    /// The ranks that are this one but for their highest bit.
    ByHighestBit,
    /// The ranks that are this one but for their lowest bit.
    ByLowestBit,
}

impl PipelineTree {
    /// The rank below another one with a number, if there is one among `size`; numbers are in the order of the ranks.
    fn child(self, rank: u32, number: u32, size: u32) -> Option<u32> {
        let distance = match self {
            PipelineTree::Chain => (number == 0).then_some(1),
            PipelineTree::Binary => (number < 2).then(|| (1 << (rank + 1).ilog2()) * (number + 1)),
            PipelineTree::ByHighestBit => Some(1 << (u32::BITS - rank.leading_zeros() + number).min(30)),
            PipelineTree::ByLowestBit => (number < rank.trailing_zeros()).then(|| 1 << number.min(30)),
        };
        distance.map(|distance| rank + distance).filter(|&child| child < size)
    }

    /// The rank above one that is not the root.
    fn parent(self, rank: u32) -> u32 {
        match self {
            PipelineTree::Chain => rank - 1,
            PipelineTree::Binary => {
                let above = 1 << ((rank + 1).ilog2() - 1);
                // The first half of a level is below the whole level above it, and so is the second.
                if rank + 1 < 3 * above {
                    rank - above
                } else {
                    rank - 2 * above
                }
            }
            PipelineTree::ByHighestBit => rank - (1 << rank.ilog2()),
            PipelineTree::ByLowestBit => rank & (rank - 1),
        }
    }

    /// The ranks below this one, in order.
    fn below<'c>(self, call: &'c Call) -> impl Iterator<Item = u32> + 'c {
        let me = call.relative();
        (0..)
            .map_while(move |number| self.child(me, number, call.size))
            .map(|child| call.absolute(child))
    }

    /// The rank above this one.
    fn above(self, call: &Call) -> Option<u32> {
        let me = call.relative();
        (me > 0).then(|| call.absolute(self.parent(me)))
    }
}

/// A vector in segments; one without bytes is a segment, too.
#[derive(Clone, Copy)]
struct Segments {
    vector: VectorSpan,
    size: u64,
}

impl Segments {
    fn of(call: &Call, vector: VectorSpan) -> Segments {
        Segments {
            vector,
            size: call.segment.clamp(1, WHOLE),
        }
    }

    fn count(self) -> u32 {
        self.vector.bytes.div_ceil(self.size).max(1) as u32
    }

    fn get(self, number: u32) -> VectorSpan {
        let first = u64::from(number) * self.size;
        VectorSpan {
            start: self.vector.start + first,
            bytes: self.size.min(self.vector.bytes - first),
        }
    }
}

/// The root's vector to all.
pub(super) fn bcast(call: &Call, script: &mut Script, tree: PipelineTree) {
    down(call, script, tree, Segments::of(call, call.whole()));
}

/// From the rank above to those below.
fn down(call: &Call, script: &mut Script, tree: PipelineTree, segments: Segments) {
    let (above, n_below, last) = (tree.above(call), tree.below(call).count() as u32, segments.count() - 1);
    if let Some(from) = above {
        script.recv(from, segments.get(0));
        script.wait();
    }
    script.rounds(last, u32::from(above.is_some()) + n_below + 1, |script, i| {
        if let Some(from) = above {
            script.recv(from, segments.get(i + 1));
        }
        tree.below(call).for_each(|to| script.send(to, segments.get(i)));
        script.wait();
    });
    if n_below > 0 {
        tree.below(call).for_each(|to| script.send(to, segments.get(last)));
        script.wait();
    }
}

/// All vectors combined at the root.
pub(super) fn reduce(call: &Call, script: &mut Script, tree: PipelineTree) {
    let segments = Segments::of(call, call.whole());
    let (above, n_below, last) = (tree.above(call), tree.below(call).count() as u32, segments.count() - 1);
    let hear = |script: &mut Script, i| tree.below(call).for_each(|from| script.recv(from, segments.get(i)));
    let combine = |script: &mut Script, i| (0..n_below).for_each(|_| script.combine(segments.get(i)));
    if n_below > 0 {
        hear(script, 0);
        script.wait();
        combine(script, 0);
    }
    script.rounds(last, u32::from(above.is_some()) + 2 * n_below + 1, |script, i| {
        hear(script, i + 1);
        if let Some(to) = above {
            script.send(to, segments.get(i));
        }
        script.wait();
        combine(script, i + 1);
    });
    if let Some(to) = above {
        script.send(to, segments.get(last));
        script.wait();
    }
}

/// The first half of the root's vector to the odd ranks and the second to the even ones, then every odd rank exchanges halves with the next. Where a
/// segment is larger than a half it is a chain.
pub(super) fn split(call: &Call, script: &mut Script) {
    let second = call.bytes / 2;
    let half = |odd: bool| VectorSpan {
        start: if odd { 0 } else { call.bytes - second },
        bytes: if odd { call.bytes - second } else { second },
    };
    if second == 0 || call.segment > second {
        return bcast(call, script, PipelineTree::Chain);
    }
    let (me, tree) = (call.relative(), PipelineTree::Binary);
    // Without a partner of its own the last rank has the root.
    let alone = call.size.is_multiple_of(2).then_some(call.size - 1);
    if me == 0 {
        let (first, second) = (Segments::of(call, half(true)), Segments::of(call, half(false)));
        let n_below = tree.below(call).count() as u32;
        let parts = [first, second];
        script.rounds(second.count(), n_below + 1, |script, i| {
            for (to, segments) in tree.below(call).zip(parts) {
                script.send(to, segments.get(i));
            }
            script.wait();
        });
        if first.count() > second.count() {
            script.send(call.absolute(1), first.get(second.count()));
            script.wait();
        }
        if let Some(last) = alone {
            script.send(call.absolute(last), half(false));
            script.wait();
        }
        return;
    }
    let odd = me % 2 == 1;
    down(call, script, tree, Segments::of(call, half(odd)));
    if alone == Some(me) {
        script.recv(call.absolute(0), half(false));
    } else {
        let partner = call.absolute(if odd { me + 1 } else { me - 1 });
        script.recv(partner, half(!odd));
        script.send(partner, half(odd));
    }
    script.wait();
}

/// Messages that follow on one another on a chain.
pub(super) fn chain_rounds(bytes: u64, size: u32) -> u32 {
    bytes.div_ceil(CHAIN).max(1) as u32 + size - 2
}
