//! MPI ranks as programs of operations, and collectives as algorithms.

pub mod collective;
mod communicator;
pub mod graph;
mod left_out;
pub mod nth;
pub mod op;
pub mod spec;

use crate::regions::RecordedRegions;
pub use communicator::Communicator;
use graph::{Doing, GraphOp, OperationGraph};
pub use left_out::LeftOut;
pub use op::{Action, Collective, CollectiveKind, Op, Transfer};

/// Most bytes that every message may have besides the rank's.
pub const HEADER: u64 = 1 << 16;
/// Largest message of a rank (bytes): with any header it fits the 40 bits that a notice has for sizes.
pub const LARGEST: u64 = (1 << 40) - 1 - HEADER;
// What a check of a trace lets pass can be played.
const _: () = assert!(LARGEST == trace::check::LARGEST);
/// Contexts that communicators of all phases of a job may have together; the highest bit marks those of collectives.
pub const MAX_CONTEXTS: usize = 128;
/// Most interfaces of a host.
pub const MAX_RAILS: u32 = 64;

/// What the ranks of a job do, made up as they get there: a pure function of (rank, iteration, index).
pub trait Program: std::fmt::Debug + Send + Sync {
    /// Number of ranks.
    fn ranks(&self) -> u32 {
        self.communicators()[0].size(0)
    }

    /// Operation `index` of a rank in an iteration, `None` when the iteration is over. Time and memory do not grow with the number
    /// of ranks.
    fn op(&self, rank: u32, iteration: u32, index: u32) -> Option<Op>;

    /// Values of `iteration` that make up one iteration of the motif: those of a program that changes as it goes count on.
    fn rounds(&self) -> u32 {
        1
    }

    /// Communicators: the first has all ranks.
    fn communicators(&self) -> &[Communicator];

    /// Bytes from one rank of a communicator to another, both ranks of the job, in a [`CollectiveKind::Alltoallv`] of this program. What a
    /// rank receives is for the record only: a program that knows its own sends alone tells 0.
    fn pair_bytes(&self, collective: &Collective, from: u32, to: u32) -> u64 {
        let _ = (collective, from, to);
        0
    }

    /// About how many other ranks a rank talks to, for the size of its tables.
    fn peers(&self) -> u32;

    /// The regions of an application that the operations are in, and what was recorded of them, of work that is a recording which tells that.
    fn regions(&self) -> Option<&RecordedRegions> {
        None
    }

    /// The graph that says when operations are done, of programs that are one: then operations do not follow each other.
    fn graph(&self) -> Option<&OperationGraph> {
        None
    }

    /// What an operation of that graph does: the one of a rank with a number.
    fn doing(&self, rank: u32, number: u32, operation: &GraphOp) -> Doing {
        let _ = (rank, number);
        operation.doing()
    }

    /// What it does not do of what it was recorded from.
    fn left_out(&self) -> LeftOut {
        LeftOut::default()
    }
}

/// About how many ranks a rank meets in a collective of `size`.
pub(crate) fn peers_of(kind: CollectiveKind, size: u32) -> u32 {
    match kind {
        CollectiveKind::Alltoall | CollectiveKind::Alltoallv | CollectiveKind::ReduceScatter => size.saturating_sub(1),
        _ => 2 * size.next_power_of_two().trailing_zeros(),
    }
}
