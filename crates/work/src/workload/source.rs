//! What a node remembers of its generator or program.

use bytemuck::{Pod, Zeroable};

/// The generator or program of a node. Half a cache line: all that most nodes of open-loop traffic ask of theirs.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C, align(32))]
pub struct Source {
    /// Messages generated or sent so far.
    pub made: u64,
    /// Birth of the latest generated message or batch (ps).
    pub clock: u64,
    /// The message after that, where it is drawn ahead: what follows from its number and may be forgotten at any time.
    pub drawn: DrawnAhead,
}

impl Source {
    /// A source with nothing drawn ahead.
    pub fn new(made: u64, clock: u64) -> Source {
        Source {
            made,
            clock,
            drawn: DrawnAhead::default(),
        }
    }
}

/// What is drawn of a message before it is asked for, so that nothing has to wait for the drawing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct DrawnAhead {
    /// Time from the birth of the message before it to its own (ps).
    pub(super) gap: u64,
    pub(super) destination: u32,
    /// Of which message: [`DrawnAhead::tag`]; 0 of none.
    pub(super) tag: u32,
}

impl DrawnAhead {
    /// What tells message `k` of a node from those shortly before and after it, and from none.
    #[inline(always)]
    pub(super) fn tag(k: u64) -> u32 {
        k as u32 | 1 << 31
    }
}

/// What a node counts of its messages where they have numbers, or others wait for them.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Ledger {
    /// Data messages received; where there are ranks, bytes of their messages that have yet to leave.
    pub taken: u64,
    /// Messages received that count for the current batch.
    pub received: u32,
    /// Number of the next message, which wraps.
    pub number: u32,
}
