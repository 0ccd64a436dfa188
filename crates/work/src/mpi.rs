//! MPI ranks as programs of operations, and collectives as algorithms.

pub mod collective;
mod communicator;
pub mod graph;
mod left_out;
pub mod nth;
pub mod op;
pub mod spec;

use crate::regions::RecordedRegions;
pub use communicator::{Communicator, GrowingGroups};
use graph::{Doing, GraphOp, OperationGraph};
pub use left_out::LeftOut;
pub use op::{Action, Collective, CollectiveKind, Op, Transfer};

/// Most bytes that every message may have besides the rank's.
pub const HEADER: u64 = 1 << 16;
/// Largest message of a rank (bytes): with any header it fits the 40 bits that a notice has for sizes.
pub const LARGEST: u64 = (1 << 40) - 1 - HEADER;
// What a check of a trace lets pass can be played.
const _: () = assert!(LARGEST == trace::check::LARGEST);
/// Contexts that communicators of all phases of a job may have together: with the mark of collectives they have 16 bits, and some are left for other marks.
pub const MAX_CONTEXTS: usize = 32_000;
/// Of these a program has that makes its communicators as it goes.
pub const MOST_MADE: usize = 31_000;
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

    /// Values of `iteration` after which all ranks do the same again, sizes included, for ever; `None` where they do not, or it is not known.
    fn repeats_after(&self) -> Option<u32> {
        None
    }

    /// Communicators: the first has all ranks.
    fn communicators(&self) -> &[Communicator];

    /// The communicator with a number below [`n_communicators`](Program::n_communicators).
    fn communicator(&self, number: u16) -> &Communicator {
        &self.communicators()[usize::from(number)]
    }

    /// How many there are; of a program that makes them as it goes, so far.
    fn n_communicators(&self) -> usize {
        self.communicators().len()
    }

    /// How many there may be in the end.
    fn n_contexts(&self) -> usize {
        self.n_communicators()
    }

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

    /// Whether operations are made up by a process as it goes, which hears of what becomes of them by [`told`](Program::told),
    /// [`matched`](Program::matched), [`arrived`](Program::arrived) and [`completed`](Program::completed); nobody calls these of other programs.
    ///
    /// **What is heard when.** A rank is asked for its next operation, and hears of all else, while an event of its router is handled, and the events of
    /// a router have one order on every engine and with any number of workers. So whoever answers [`op`](Program::op) by what was heard up to
    /// the call of `told` before it answers the same in every run. All of that has taken place at or before the clock that `told` tells. Not all
    /// that takes place up to then has been told, though: a rank runs ahead of the simulated time by the overheads of its sends, receives and collectives, and
    /// what comes meanwhile is heard later, with the time at which it came. Behind a computation that takes time the rank is not ahead: what was there
    /// before that picosecond has been told. A process that looks in vain, computes for the time that looking takes, and looks again has its answer.
    ///
    /// Such a program is pulled: `op` may wait for its process. It is played forward only, by one process of the simulator.
    fn is_live(&self) -> bool {
        false
    }

    /// Operation `index` of a rank again, of one that was done: for tables of what ranks did.
    fn again(&self, rank: u32, iteration: u32, index: u32) -> Option<Op> {
        self.op(rank, iteration, index)
    }

    /// The rank is about to be asked for an operation, at its clock (ps); for a collective that waits, with the same index, once for each of its steps.
    fn told(&self, rank: u32, clock: u64) {
        let _ = (rank, clock);
    }

    /// A receive of the program has its message, or the announcement of it: in the order in which messages and receives meet. `request` is the name of the
    /// receive, [`op::BLOCK`] of one that waits.
    fn matched(&self, rank: u32, request: u16, message: &HeardMessage) {
        let _ = (rank, request, message);
    }

    /// A message, or the announcement of it, has come at `at` (ps) that no receive was posted for: a probe may see it. The receive that takes it later is told
    /// by [`matched`](Program::matched).
    fn arrived(&self, rank: u32, message: &HeardMessage, at: u64) {
        let _ = (rank, message, at);
    }

    /// A request with a name is complete, since `at` (ps): a receive has its message, a send its buffer. What handling the message takes comes on top of
    /// that when the rank waits, or looks by [`Op::Test`].
    fn completed(&self, rank: u32, request: u16, at: u64) {
        let _ = (rank, request, at);
    }

    /// A run begins, of whose live programs this is the one with this number, in the order of jobs. The thread that says so stays until the run is over.
    fn begin(&self, number: u32) {
        let _ = number;
    }

    /// The run is over: whether all is well with a live program, and what there is to say of it.
    fn conclude(&self) -> Option<(bool, String)> {
        None
    }

    /// The run is given up before it is over, by who runs it.
    fn give_up(&self) {}

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

/// A message as the program of its receiver hears of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeardMessage {
    /// Who sent it, a rank of the job.
    pub source: u32,
    /// Its communicator, by the program's number.
    pub communicator: u16,
    /// Its tag.
    pub tag: u16,
    /// Its size; [`op::ANY_SIZE`] of one that is announced only: its sender knows.
    pub bytes: u64,
}

/// About how many ranks a rank meets in a collective of `size`.
pub(crate) fn peers_of(kind: CollectiveKind, size: u32) -> u32 {
    match kind {
        CollectiveKind::Alltoall | CollectiveKind::Alltoallv | CollectiveKind::ReduceScatter => size.saturating_sub(1),
        _ => 2 * size.next_power_of_two().trailing_zeros(),
    }
}
