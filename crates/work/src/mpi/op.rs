//! What a rank does, as data: operations that a program hands out one by one, and the actions that a collective is made of.

use serde::{Deserialize, Serialize};

/// Any source, in a receive.
pub const ANY_SOURCE: u32 = u32::MAX;
/// Any tag, in a receive; the tags of messages are smaller.
pub const ANY_TAG: u16 = u16::MAX;
/// Room for a message of any size, in a receive.
pub const ANY_SIZE: u64 = u64::MAX;
/// The name of the requests of blocking operations and collectives.
pub const BLOCK: u16 = u16::MAX - 1;
/// A request that only [`Op::WaitAll`] and [`Op::WaitAny`] speak of.
pub const UNNAMED: u16 = u16::MAX;

/// An operation of a rank. Ranks are those of the job, whatever the communicator; a communicator keeps messages apart, and says who
/// takes part in a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Works without the network for `time` ps.
    Compute {
        /// How long (ps).
        time: u64,
    },
    /// Sends without waiting.
    Isend(Transfer),
    /// Sends and waits until the buffer may be used again.
    Send(Transfer),
    /// Receives without waiting; `peer` may be [`ANY_SOURCE`], `tag` [`ANY_TAG`].
    Irecv(Transfer),
    /// Receives and waits.
    Recv(Transfer),
    /// Sends `send` and receives `recv`, and waits for both.
    SendRecv {
        /// What is sent.
        send: Transfer,
        /// What is received.
        recv: Transfer,
    },
    /// Waits until every request of this name is complete.
    Wait {
        /// The name.
        request: u16,
    },
    /// Waits until all requests of the rank are complete.
    WaitAll,
    /// Waits until one more request is complete than had been at the last wait of any kind; goes on at once if none is open.
    WaitAny,
    /// Waits until there is news: a request of the rank is complete, or a message has come that no receive was posted for (of a rendezvous
    /// its announcement), since the last wait of any kind was over. What a program does that polls, or looks for messages.
    WaitNews,
    /// Looks whether the requests of a name are complete and goes on either way.
    Test {
        /// The name.
        request: u16,
    },
    /// A collective operation of all ranks of a communicator.
    Collective(Collective),
    /// Begins a collective without waiting. It goes on whenever one of its messages comes or leaves, whatever the rank does meanwhile; what that takes of the
    /// processor is owed while the rank is busy, until it waits. All ranks of a communicator begin its collectives in one order, several may be under way, and
    /// those that are begun meet those that are begun.
    Icollective {
        /// Which.
        collective: Collective,
        /// Name of the request, or [`UNNAMED`].
        request: u16,
    },
}

impl Op {
    /// Its name in tables of operations and in results.
    pub fn word(&self) -> &'static str {
        match self {
            Op::Compute { .. } => "compute",
            Op::Isend(Transfer { synchronous: true, .. }) => "issend",
            Op::Send(Transfer { synchronous: true, .. }) => "ssend",
            Op::Isend(_) => "isend",
            Op::Send(_) => "send",
            Op::Irecv(_) => "irecv",
            Op::Recv(_) => "recv",
            Op::SendRecv { .. } => "sendrecv",
            Op::Wait { .. } => "wait",
            Op::WaitAll => "waitall",
            Op::WaitAny => "waitany",
            Op::WaitNews => "waitnews",
            Op::Test { .. } => "test",
            Op::Collective(collective) => collective.kind.name(),
            Op::Icollective { collective, .. } => collective.kind.begun_name(),
        }
    }
}

/// A message to or from another rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// The other rank, of the job.
    pub peer: u32,
    /// Size of the message; of a receive the most that it takes, or [`ANY_SIZE`]. A larger message is an error, as in MPI.
    pub bytes: u64,
    /// Tag.
    pub tag: u16,
    /// Communicator: an index into those of the program.
    pub communicator: u16,
    /// Name of the request, or [`UNNAMED`]. A name that is still pending is not given again.
    pub request: u16,
    /// A send that is complete only when its receiver has a receive for it: it asks the receiver whatever its size. Means nothing of a receive.
    pub synchronous: bool,
}

impl Transfer {
    /// A message in the communicator of all ranks, with tag 0 and no name.
    pub fn new(peer: u32, bytes: u64) -> Transfer {
        Transfer {
            peer,
            bytes,
            tag: 0,
            communicator: 0,
            request: UNNAMED,
            synchronous: false,
        }
    }
}

/// Which collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum CollectiveKind {
    /// Nobody goes on before everybody has come.
    Barrier,
    /// `bytes` from the root to all.
    Bcast,
    /// `bytes` from everybody, combined at the root.
    Reduce,
    /// `bytes` from everybody, combined everywhere.
    Allreduce,
    /// `bytes` from everybody to the root.
    Gather,
    /// `bytes` for everybody from the root.
    Scatter,
    /// `bytes` from everybody to everybody.
    Allgather,
    /// `bytes` times the number of ranks from everybody, combined, `bytes` of the result at each.
    ReduceScatter,
    /// `bytes` from each to each.
    Alltoall,
    /// From each to each as many bytes as [`Program::pair_bytes`](super::Program::pair_bytes) says.
    Alltoallv,
}

/// A collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collective {
    /// Which.
    pub kind: CollectiveKind,
    /// Communicator: an index into those of the program.
    pub communicator: u16,
    /// Its size; what it means depends on the kind.
    pub bytes: u64,
    /// The root, a rank of the communicator; 0 where there is none. Of an alltoallv a number that its program knows it by.
    pub root: u32,
}

/// A step of a rank in a collective. Ranks are those of the communicator. Sends and receives do not wait; messages of a collective
/// match in the order in which they were sent and asked for, pair by pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// Sends `bytes` (0 is a message too).
    Send {
        /// To whom.
        to: u32,
        /// How much.
        bytes: u64,
    },
    /// Receives from a rank.
    Recv {
        /// From whom.
        from: u32,
        /// How much, for the record.
        bytes: u64,
    },
    /// Waits until all sends and receives of this collective so far are complete.
    Wait,
    /// Combines `bytes` of two operands.
    Combine {
        /// How much.
        bytes: u64,
    },
    /// Moves `bytes` in memory.
    Copy {
        /// How much.
        bytes: u64,
    },
    /// The rank's part is done; all of it is complete.
    Done,
}
