//! Work of ranks whose operations form a graph: each starts when those that it lists have ended or started, several at once, one at a
//! time on each lane of its rank.
//!
//! A [`OperationGraph`] is flat: 32 bytes for an operation, 4 for a dependency, in memory or in a mapped file where it is large. [`GraphBuilder`]
//! makes one, from a trace or from operations of one's own. Times are in ps, sizes in bytes.
//!
//! What an operation does and what it takes:
//! * a computation takes its lane for its time;
//! * a send takes its lane for the overhead of a send (and the copy of a small message); it ends then, or when its receiver has let it go on
//!   and its bytes have left, as [`MpiSpec`](crate::mpi::spec::MpiSpec) says of sends;
//! * a receive starts as soon as it may, and takes its lane only while its message is handled;
//! * a collective takes its lane from its start to its end. On [`NO_LANE`] operations take none, as many at once as may start.
//!
//! Of those that wait for a lane the one that could start first goes first, of those the one with the lowest number. What comes at one ps
//! is taken one after the other, and after each of it all that may start does: messages in the order in which they set out, then ends of
//! operations by number, whichever began first.

mod builder;
mod packing;
mod program;

pub mod state;

pub use builder::{GraphBuilder, OperationMistake};
pub use packing::{pack, unpack};

pub use program::GraphProgram;

use crate::kept::KeptRecords;
use crate::mpi::op::{ANY_SOURCE, CollectiveKind};
use crate::mpi::{Communicator, op};
use bytemuck::{Pod, Zeroable};

/// The lane of operations that take none.
pub const NO_LANE: u16 = u16::MAX;
/// Most operations of a rank: requests are named by them.
pub const MOST_OPERATIONS: u32 = 1 << 30;

/// What an operation of a graph is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Works for so many ps.
    Compute(u64),
    /// Sends so many bytes to a rank with a tag, in a communicator.
    Send {
        /// The other rank, of the job.
        peer: u32,
        /// Size of the message.
        bytes: u64,
        /// Tag, below [`op::ANY_TAG`].
        tag: u16,
        /// Communicator: an index into those of the graph.
        communicator: u16,
    },
    /// Receives from a rank or any.
    Recv {
        /// The other rank, or [`ANY_SOURCE`].
        peer: u32,
        /// The most that it takes, or [`op::ANY_SIZE`].
        bytes: u64,
        /// Tag, or [`op::ANY_TAG`].
        tag: u16,
        /// Communicator: an index into those of the graph.
        communicator: u16,
    },
    /// A collective: all ranks of a communicator come to its collectives in the order in which they list them.
    Collective(op::Collective),
}

const COMPUTE: u8 = 0;
const SEND: u8 = 1;
const RECV: u8 = 2;
const COLLECTIVE: u8 = 3;

/// An operation as it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct GraphOp {
    /// Bytes of a message or collective, time of a computation (ps).
    amount: u64,
    /// The other rank, or the root.
    peer: u32,
    /// Operations that it waits for.
    pub predecessors: u32,
    /// Where those that wait for its end begin among the successors of its rank, and behind them those that wait for its start.
    end: u32,
    start: u32,
    /// Tag; of a collective its number among those of its communicator, modulo [`op::ANY_TAG`].
    pub tag: u16,
    communicator: u16,
    /// The lane, below 256 or [`NO_LANE`].
    pub lane: u16,
    /// Kind, and of a collective which.
    kind: u8,
    /// The interface: not looked at yet.
    pub nic: u8,
}

const _: () = assert!(size_of::<GraphOp>() == 32);

impl GraphOp {
    /// An operation on a lane without dependencies.
    fn new(doing: Doing, lane: u16, nic: u8) -> GraphOp {
        let (kind, amount, peer, tag, communicator) = match doing {
            Doing::Compute(time) => (COMPUTE, time, 0, 0, 0),
            Doing::Send {
                peer,
                bytes,
                tag,
                communicator,
            } => (SEND, bytes, peer, tag, communicator),
            Doing::Recv {
                peer,
                bytes,
                tag,
                communicator,
            } => (RECV, bytes, peer, tag, communicator),
            Doing::Collective(collective) => {
                let which = CollectiveKind::ALL.iter().position(|kind| *kind == collective.kind);
                let kind = COLLECTIVE + which.unwrap_or(0) as u8;
                (kind, collective.bytes, collective.root, 0, collective.communicator)
            }
        };
        GraphOp {
            amount,
            peer,
            tag,
            communicator,
            kind,
            lane,
            nic,
            ..GraphOp::zeroed()
        }
    }

    /// What it does.
    #[inline]
    pub fn doing(&self) -> Doing {
        let &GraphOp {
            amount,
            peer,
            tag,
            communicator,
            ..
        } = self;
        match self.kind {
            COMPUTE => Doing::Compute(amount),
            SEND => Doing::Send {
                peer,
                bytes: amount,
                tag,
                communicator,
            },
            RECV => Doing::Recv {
                peer,
                bytes: amount,
                tag,
                communicator,
            },
            collective => Doing::Collective(op::Collective {
                kind: CollectiveKind::ALL[usize::from(collective - COLLECTIVE)],
                communicator,
                bytes: amount,
                root: peer,
            }),
        }
    }

    /// Whether it is a receive.
    #[inline]
    pub fn is_receive(&self) -> bool {
        self.kind == RECV
    }

    /// Whether it is a receive that leaves open from whom, or with which tag.
    fn is_wild(&self) -> bool {
        self.kind == RECV && (self.peer == ANY_SOURCE || self.tag == op::ANY_TAG)
    }
}

/// Where the operations of a rank are, and what they need.
#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    operations: u64,
    successors: u64,
    roots: u64,
    /// Numbers of each.
    n_operations: u32,
    n_successors: u32,
    n_roots: u32,
    /// Lists of what waits, as a power of two.
    list_bits: u8,
    lanes: u16,
    wild: bool,
}

/// The operations of all ranks of a job.
#[derive(Debug)]
pub struct OperationGraph {
    communicators: Vec<Communicator>,
    extents: Vec<Extent>,
    operations: KeptRecords<GraphOp>,
    successors: KeptRecords<u32>,
    roots: KeptRecords<u32>,
    peers: u32,
}

/// The operations of a rank.
#[derive(Clone, Copy, Debug)]
pub struct RankOperations<'a> {
    /// By number.
    pub operations: &'a [GraphOp],
    successors: &'a [u32],
    /// Operations that wait for no other, in order.
    pub roots: &'a [u32],
    /// Lanes, besides [`NO_LANE`].
    pub lanes: u32,
    /// Lists of what waits for its counterpart, as a power of two.
    pub list_bits: u32,
    /// Some receive is from any rank, or takes any tag.
    pub wild: bool,
}

/// `count` records from `first` on.
fn part<T: Pod>(kept: &KeptRecords<T>, first: u64, count: u32) -> &[T] {
    &kept.all()[first as usize..][..count as usize]
}

impl OperationGraph {
    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.extents.len() as u32
    }

    /// The operations of a rank.
    #[inline]
    pub fn rank(&self, rank: u32) -> RankOperations<'_> {
        let extent = &self.extents[rank as usize];
        RankOperations {
            operations: part(&self.operations, extent.operations, extent.n_operations),
            successors: part(&self.successors, extent.successors, extent.n_successors),
            roots: part(&self.roots, extent.roots, extent.n_roots),
            lanes: extent.lanes.into(),
            list_bits: extent.list_bits.into(),
            wild: extent.wild,
        }
    }

    /// Operations of all ranks.
    pub fn operations(&self) -> u64 {
        self.operations.all().len() as u64
    }

    /// Dependencies of all ranks.
    pub fn dependencies(&self) -> u64 {
        self.successors.all().len() as u64
    }

    /// Bytes that the graph takes, in memory or in its files.
    pub fn bytes(&self) -> u64 {
        let words = self.successors.all().len() + self.roots.all().len();
        self.operations() * size_of::<GraphOp>() as u64 + 4 * words as u64
    }
}

impl<'a> RankOperations<'a> {
    /// Operations that wait for the end of one.
    #[inline]
    pub fn after_end(&self, operation: u32) -> &'a [u32] {
        let GraphOp { end, start, .. } = self.operations[operation as usize];
        &self.successors[end as usize..start as usize]
    }

    /// Operations that wait for the start of one.
    #[inline]
    pub fn after_start(&self, operation: u32) -> &'a [u32] {
        let start = self.operations[operation as usize].start as usize;
        match self.operations.get(operation as usize + 1) {
            Some(next) => &self.successors[start..next.end as usize],
            None => &self.successors[start..],
        }
    }
}
