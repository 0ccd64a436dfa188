//! Operations of ranks as records of 32 bytes.

use bytemuck::{Pod, Zeroable};

/// Records up to here stay in memory: 64 MiB.
pub const MOST_IN_MEMORY: usize = 1 << 21;

/// An operation of a rank. What an operation does not need is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct OperationRecord {
    /// Bytes of a message; work of a computation; number of the meeting of a collective.
    pub amount: u64,
    /// From whom a `sendrecv` receives; the list of an alltoallv.
    pub more: u64,
    /// The other rank, or the root.
    pub other: u32,
    /// The communicator, as in the trace; the region of a computation.
    pub communicator: u32,
    /// Tag, as ranks know it.
    pub tag: u16,
    /// Tag of what a `sendrecv` receives.
    pub source_tag: u16,
    /// Request, as ranks know it.
    pub request: u16,
    /// One of [`what`].
    pub what: u16,
}

const _: () = assert!(size_of::<OperationRecord>() == 32);

/// What a [`OperationRecord`] does.
pub mod what {
    /// Computes.
    pub const COMPUTE: u16 = 0;
    /// Sends and waits.
    pub const SEND: u16 = 1;
    /// Sends.
    pub const ISEND: u16 = 2;
    /// Receives and waits.
    pub const RECV: u16 = 3;
    /// Receives.
    pub const IRECV: u16 = 4;
    /// Sends and receives, and waits for both.
    pub const SENDRECV: u16 = 5;
    /// Waits for a request.
    pub const WAIT: u16 = 6;
    /// Waits for all.
    pub const WAIT_ALL: u16 = 7;
    /// Waits for one more.
    pub const WAIT_ANY: u16 = 8;
    /// Looks at a request.
    pub const TEST: u16 = 9;
    /// Takes part in a collective.
    pub const COLLECTIVE: u16 = 10;
    /// Does nothing for a time.
    pub const SLEEP: u16 = 11;
    /// Sends and waits until there is a receive.
    pub const SSEND: u16 = 12;
    /// Sends; is complete when there is a receive.
    pub const ISSEND: u16 = 13;
    /// Waits for news.
    pub const WAIT_NEWS: u16 = 14;
    /// Begins a collective.
    pub const ICOLLECTIVE: u16 = 15;
}
