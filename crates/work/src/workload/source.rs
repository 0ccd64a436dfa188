//! What a node remembers of its generator or program.

use bytemuck::{Pod, Zeroable};

/// The generator or program of a node.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Source {
    /// Messages generated or sent so far.
    pub made: u64,
    /// Birth of the latest generated message or batch (ps).
    pub clock: u64,
    /// First send (ps), for throughput.
    pub started: u64,
    /// Data messages received; where there are ranks, bytes of their messages that have yet to leave.
    pub taken: u64,
    /// Messages received that count for the current batch.
    pub received: u32,
    /// Number of the next message, which wraps.
    pub number: u32,
}
