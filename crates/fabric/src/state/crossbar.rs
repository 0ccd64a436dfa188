//! Records of input-queued routers.

use bytemuck::{Pod, Zeroable};

/// The input queue of a port and channel with what its first packet wants, and the fill of the output buffer of that port and channel.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Input {
    /// Place in least-recently-served order: lower goes first.
    pub stamp: u64,
    /// Bytes of whole flits in the output buffer.
    pub held: u64,
    /// The first packet cannot cross before this time (ps): its tail comes over a slower link.
    pub ready: u64,
    /// First waiting packet's slot.
    pub head: u32,
    /// Last waiting packet's slot.
    pub tail: u32,
    /// Output port of the first packet.
    pub output: u32,
    /// Room that the first packet takes.
    pub room: u32,
    /// Output channel of the first packet.
    pub vc: u8,
    /// Routing phase of the first packet behind this router.
    pub phase: u8,
    /// Unused.
    pub spare: [u8; 6],
}

/// A port's sides at the crossbar and its turn on the link.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Crossing {
    /// The input side is idle from this tick (ps) on.
    pub input_free: u64,
    /// The output side is idle from this tick (ps) on.
    pub output_free: u64,
    /// Next turn of the output (ps), `u64::MAX` while it waits to be woken. A turn that has passed without a packet counts as waiting.
    pub turn: u64,
    /// Channels with packets in their input queue.
    pub heads: u64,
}

/// The clock of a router's crossbar.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Arbiter {
    /// The next tick at which a packet may be able to cross (ps), `u64::MAX` if none before the next event.
    pub due: u64,
    /// No output port with packets has a turn before this time (ps).
    pub turn: u64,
    /// The next stamp of least-recently-served order.
    pub grants: u64,
}
