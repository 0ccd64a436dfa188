//! What the algorithms are written with: steps that name the bytes they move, and the fold to a power of two of ranks.

use super::super::nth::Nth;
use super::super::op::Action;

/// A stretch of the collective's vector, in a circle where it runs over the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VectorSpan {
    pub(super) start: u64,
    pub(super) bytes: u64,
}

impl VectorSpan {
    /// Nothing: the message is a signal.
    pub(super) const NONE: VectorSpan = VectorSpan { start: 0, bytes: 0 };
}

/// The steps of a rank, told in order.
pub(super) type Script = Nth<(Action, VectorSpan)>;

impl Script {
    #[inline]
    pub(super) fn send(&mut self, to: u32, span: VectorSpan) {
        self.put((Action::Send { to, bytes: span.bytes }, span));
    }

    #[inline]
    pub(super) fn recv(&mut self, from: u32, span: VectorSpan) {
        self.put((
            Action::Recv {
                from,
                bytes: span.bytes,
            },
            span,
        ));
    }

    #[inline]
    pub(super) fn wait(&mut self) {
        self.put((Action::Wait, VectorSpan::NONE));
    }

    /// Combines what has just come with this stretch.
    #[inline]
    pub(super) fn combine(&mut self, span: VectorSpan) {
        self.put((Action::Combine { bytes: span.bytes }, span));
    }

    #[inline]
    pub(super) fn copy(&mut self, bytes: u64) {
        self.put((Action::Copy { bytes }, VectorSpan { start: 0, bytes }));
    }
}

/// Ranks folded to a power of two (Rabenseifner 2004): of the first `2 * rest` ranks every odd one hands its part to the even one before
/// it and stands aside. (In MPICH the even ones stand aside; here the root, from which ranks are counted, always stays in.)
#[derive(Clone, Copy, Debug)]
pub(super) struct Fold {
    /// Ranks that stay in: the largest power of two that is not above the number of ranks.
    pub(super) power: u32,
    /// Ranks that stand aside.
    pub(super) rest: u32,
    me: u32,
}

impl Fold {
    pub(super) fn new(size: u32, me: u32) -> Fold {
        let power = 1 << size.ilog2();
        Fold {
            power,
            rest: size - power,
            me,
        }
    }

    /// Number of this rank among those that stay in.
    pub(super) fn number(&self) -> Option<u32> {
        match self.me {
            me if me >= 2 * self.rest => Some(me - self.rest),
            me if me % 2 == 0 => Some(me / 2),
            _ => None,
        }
    }

    /// The rank with a number; for `power` the number of ranks.
    pub(super) fn rank(&self, number: u32) -> u32 {
        number + number.min(self.rest)
    }

    /// The rank that this one hands its part to.
    pub(super) fn stands_aside_for(&self) -> Option<u32> {
        (self.me < 2 * self.rest && self.me % 2 == 1).then(|| self.me - 1)
    }

    /// The rank that hands its part to this one.
    pub(super) fn takes_over(&self) -> Option<u32> {
        (self.me < 2 * self.rest && self.me.is_multiple_of(2)).then(|| self.me + 1)
    }

    /// Rounds of an exchange among those that stay in.
    pub(super) fn rounds(&self) -> u32 {
        self.power.trailing_zeros()
    }
}
