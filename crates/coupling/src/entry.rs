//! What a rank tells, and what it is told.

/// No block of the arena: an entry or a message without data.
pub const NO_PAYLOAD: u64 = u64::MAX;
/// Any source, in receives.
pub const ANY_SOURCE: u32 = u32::MAX;
/// Any tag, in receives.
pub const ANY_TAG: u16 = u16::MAX;
/// Greatest tag of a message.
pub const LARGEST_TAG: u16 = u16::MAX - 1;
/// The request of blocking operations.
pub const BLOCKING: u32 = u16::MAX as u32 - 1;
/// Most requests of a rank that are open at a time: names are 0 to this, exclusive.
pub const MOST_REQUESTS: u32 = BLOCKING;

/// Numbers of communicators are smaller.
pub const MOST_COMMUNICATORS: u32 = 31_000;

/// Kinds of entries. The fields of an [`RankEntry`] that a kind does not name are zero.
pub mod kind {
    /// Standard send that waits: `peer`, `tag`, `communicator`, `bytes`, `payload`.
    pub const SEND: u8 = 1;
    /// Send that does not wait; `request` besides.
    pub const ISEND: u8 = 2;
    /// Receive that waits: `peer` or any source, `tag` or any tag, `communicator`, `bytes` of room.
    pub const RECV: u8 = 3;
    /// Receive that does not wait; `request` besides.
    pub const IRECV: u8 = 4;
    /// A send whose next entry is a [`RECV`] that is posted with it; the wait is for both.
    pub const SENDRECV: u8 = 5;
    /// Waits for `request`.
    pub const WAIT: u8 = 6;
    /// Waits for all requests of the rank.
    pub const WAIT_ALL: u8 = 7;
    /// Waits until a request completes, or a message arrives that no receive was posted for.
    pub const WAIT_NEWS: u8 = 8;
    /// Looks for news; costs the time of a poll.
    pub const POLL: u8 = 9;
    /// Asks for the time.
    pub const CLOCK: u8 = 10;
    /// A collective operation that waits: `tag` is its kind ([`collective`](super::collective)), `communicator`, `peer` the root's number
    /// there, `bytes` its size; of an all-to-all of sizes of its own, `payload` is a block with the bytes (u64) to each member.
    pub const COLLECTIVE: u8 = 11;
    /// The same without waiting; `request` besides.
    pub const ICOLLECTIVE: u8 = 12;
    /// From now on `communicator` is a group of ranks: `payload` is a block with their numbers in the job (u32), `bytes` its length. No rank is in two
    /// groups of one number, and a number is not given again.
    pub const COMMUNICATOR: u8 = 13;
    /// The rank gives `communicator` up.
    pub const FREE_COMMUNICATOR: u8 = 14;
    /// Only what the entry says of computing; with it a sleep: `bytes` is its time (ps), which no factor changes.
    pub const COMPUTE: u8 = 15;
    /// The rank is ready (`MPI_Init`).
    pub const INIT: u8 = 16;
    /// The rank does nothing more (`MPI_Finalize`).
    pub const FINALIZE: u8 = 17;
    /// All shall end (`MPI_Abort`): `peer` is the code of the program.
    pub const ABORT: u8 = 18;
    /// Asks for the news that had no room in the last answer.
    pub const MORE: u8 = 19;
    /// A region begins (`MPI_Pcontrol`): `payload` is a block with its name, `bytes` the name's length.
    pub const REGION: u8 = 20;
    /// The innermost region ends.
    pub const END_REGION: u8 = 21;
}

/// Kinds of collectives.
pub mod collective {
    /// Nobody goes on before everybody has come.
    pub const BARRIER: u16 = 0;
    /// `bytes` from the root to all.
    pub const BCAST: u16 = 1;
    /// `bytes` from everybody, combined at the root.
    pub const REDUCE: u16 = 2;
    /// `bytes` from everybody, combined everywhere.
    pub const ALLREDUCE: u16 = 3;
    /// `bytes` from everybody to the root.
    pub const GATHER: u16 = 4;
    /// `bytes` for everybody from the root.
    pub const SCATTER: u16 = 5;
    /// `bytes` from everybody to everybody.
    pub const ALLGATHER: u16 = 6;
    /// `bytes` times the number of ranks from everybody, combined, `bytes` of the result at each.
    pub const REDUCE_SCATTER: u16 = 7;
    /// `bytes` from each to each.
    pub const ALLTOALL: u16 = 8;
    /// From each to each its own size.
    pub const ALLTOALLV: u16 = 9;
}

/// Marks of entries.
pub mod flag {
    /// The rank waits for an answer.
    pub const TRAP: u8 = 1;
    /// A send is over only when its receive has been found.
    pub const SYNCHRONOUS: u8 = 2;
    /// The first entry of a call of the program: what it computed before ends here.
    pub const CALL: u8 = 4;
}

/// What a rank does, in 48 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankEntry {
    /// One of [`kind`].
    pub kind: u8,
    /// Those of [`flag`].
    pub flags: u8,
    /// Tag of a message, or kind of a collective.
    pub tag: u16,
    /// Communicator: 0 has all ranks, others are told by [`kind::COMMUNICATOR`].
    pub communicator: u32,
    /// The other rank, of the job.
    pub peer: u32,
    /// Name of the request.
    pub request: u32,
    /// Size.
    pub bytes: u64,
    /// A block of the arena, or [`NO_PAYLOAD`]. Of a send the receiver is handed it as it is, and nobody in between looks: the library puts what small
    /// messages say here.
    pub payload: u64,
    /// How long the rank has computed since its last call (ps).
    pub compute: u64,
    /// Where in the program the call is: an address.
    pub place: u64,
}

/// Kinds of news.
pub mod news {
    /// A request is complete. Of a receive: from whom (`source`, of the job), `tag`, `communicator`, `bytes` and the block with the
    /// data, which is the rank's now; of others `payload` is [`NO_PAYLOAD`](super::NO_PAYLOAD) and the rest says nothing.
    pub const COMPLETED: u8 = 1;
    /// A message came that no receive was posted for: `source`, `tag`, `communicator`, `bytes`. A receive that is posted later takes it.
    pub const ARRIVED: u8 = 2;
}

/// What a rank is told, in 40 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankNews {
    /// One of [`news`].
    pub kind: u8,
    /// Of a receive that is complete: 1 if its message had been told as [`news::ARRIVED`]: of those from the same rank with the same tag and
    /// communicator it is the oldest.
    pub had_arrived: u8,
    /// Tag of the message.
    pub tag: u16,
    /// Communicator of the message.
    pub communicator: u32,
    /// Who sent it, of the job.
    pub source: u32,
    /// Name of the request, or [`BLOCKING`].
    pub request: u32,
    /// Size of the message.
    pub bytes: u64,
    /// What its sender gave for it: the block with what it says, or that itself.
    pub payload: u64,
    /// Unused.
    pub more: u64,
}
