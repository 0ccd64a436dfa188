//! What a node remembers of its generator or program.

use bytemuck::{Pod, Zeroable};

/// The generator or program of a node. A quarter of a cache line: all that most nodes of open-loop traffic ask of theirs.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Source {
    /// Messages generated or sent so far.
    pub made: u64,
    /// Birth of the latest generated message or batch (ps).
    pub clock: u64,
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
