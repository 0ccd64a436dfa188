//! What ranks did and waited for, operation by operation, where that is asked for.

use bytemuck::{Pod, Zeroable};

/// An operation of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct OperationRow {
    /// Node of the rank, of several rails the first.
    pub node: u32,
    /// The rank in its job.
    pub rank: u32,
    /// When it began (ps).
    pub begin: u64,
    /// Part of the job.
    pub phase: u32,
    /// Iteration of the part.
    pub iteration: u32,
    /// Its number in the iteration.
    pub index: u32,
    /// Always 0.
    pub padding: u32,
    /// When it ended (ps); [`UNTIL_NEXT`] of a rank that does one after the other: when its next one began.
    pub end: u64,
}

/// The end of an operation that ends where the next one of its rank begins.
pub const UNTIL_NEXT: u64 = u64::MAX;

/// A time for which a rank had nothing to do but to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct WaitRow {
    /// Node of the rank, of several rails the first.
    pub node: u32,
    /// The rank in its job.
    pub rank: u32,
    /// When it began to wait (ps).
    pub begin: u64,
    /// When what ended this was there (ps).
    pub end: u64,
    /// The rank at the other end of the message that ended it.
    pub peer: u32,
    /// Which [`Cause`].
    pub cause: u32,
    /// When that was set off (ps): from then on everything was on its way.
    pub since: u64,
    /// Source node of that message; [`NO_MESSAGE`] where the bytes of a send had left.
    pub source: u32,
    /// Its destination node: of several rails one of the rank's host.
    pub destination: u32,
    /// Its label.
    pub label: u32,
    /// Of a graph: the operation that a message was for, or ended; else 0.
    pub operation: u32,
    /// Always 0.
    pub padding: u32,
    /// 1 of a graph: a message has come to an operation, which alone is no wait. `begin` is then when the operation, a collective, began to wait for it, or
    /// `end` of any other.
    pub of_graph: u32,
}

/// The source of no message.
pub const NO_MESSAGE: u32 = u32::MAX;

/// How long a packet of a rank's message was held up at a link: from when its head was ready for it until its tail was on it, which is
/// queues, want of room behind the link, and its own serialisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct StayRow {
    /// How long (ps).
    pub time: u64,
    /// Source node of the message.
    pub source: u32,
    /// Destination node.
    pub destination: u32,
    /// Label of the message.
    pub label: u32,
    /// The router that sends on the link; [`NO_MESSAGE`] for the link from the source node.
    pub router: u32,
    /// Its output port; ejection ports follow the network ports.
    pub port: u32,
    /// 1 of a link to a node, else 0.
    pub ejects: u32,
}

/// What ended a wait. The values of [`WaitRow::cause`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Cause {
    /// A message came, which the peer sent at `since`.
    Arrival = 0,
    /// The bytes of a rendezvous came, which this rank asked for at `since`: it came to its receive after the peer's announcement.
    Answered = 1,
    /// The bytes of a rendezvous that this rank sends are away or taken; the peer gave way to them at `since`.
    Sent = 2,
}
