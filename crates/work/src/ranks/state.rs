//! What the ranks of a router's nodes remember: flat records in journalled columns.

use crate::mpi::graph::MOST_OPERATIONS;
use crate::mpi::graph::state::{FIRST_OPERATION, GraphColumns};
use bytemuck::{Pod, Zeroable};
use des::lists::NONE;
use std::mem::offset_of;

/// What a rank waits for.
pub mod waiting {
    /// Nothing: it runs, computes, or has finished.
    pub const NOTHING: u32 = 0;
    /// All its requests.
    pub const ALL: u32 = 1;
    /// One more request.
    pub const ANY: u32 = 2;
    /// The requests of a name.
    pub const NAME: u32 = 3;
    /// The messages of a blocking operation or of a collective's round.
    pub const BLOCK: u32 = 4;
    /// News: a request that is complete, or a message without a receive.
    pub const NEWS: u32 = 6;
    /// Operations of a graph; told at the end of a run only.
    pub const GRAPH: u32 = 5;
}

/// A rank: where it is in its program, what it waits for, and what it has done so far. Three cache lines, of which a message touches the [first
/// two](Rank::AT_HAND).
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Rank {
    /// The processor is busy until then (ps).
    pub clock: u64,
    /// Handling of arrived messages that the processor has yet to do (ps).
    pub debt: u64,
    /// Time spent computing (ps).
    pub computed: u64,
    /// Time spent waiting (ps).
    pub waited: u64,
    /// Time spent in overheads and copies (ps).
    pub worked: u64,
    /// Its messages to ranks of other nodes, control messages excepted.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Phase of the job it is in.
    pub phase: u32,
    /// Iteration of the phase.
    pub iteration: u32,
    /// Operation of the iteration.
    pub index: u32,
    /// Action of a collective.
    pub step: u32,
    /// What it waits for: one of [`waiting`].
    pub waiting: u32,
    /// The name it waits for, if it waits for one.
    pub name: u32,
    /// Open requests, those of blocking operations and collectives excepted.
    pub open: u32,
    /// Open requests of the blocking operation or collective it is in.
    pub block: u32,
    /// Requests complete since the last wait.
    pub fresh: u32,
    /// Number of the next receive it posts.
    pub posted: u32,
    /// Number of the next message that arrives before its receive.
    pub arrived: u32,
    /// First receive from any source that waits.
    pub wild: u32,
    /// Requests that are complete, and messages that have come without a receive, since the last wait was over.
    pub news: u32,
    /// Of one that handles messages in its calls only: where it is in its operation, one of [`stage`].
    pub stage: u32,
    /// Of such a one: the first of the messages that lie at its interface.
    pub inbox: u32,
    /// First of the collectives that it has begun.
    pub collectives: u32,
    /// What its program has done wrong; then it stops where it is.
    pub fault: Fault,
    /// When its work began (ps): the start of the run, its own, or the end of the barrier before it.
    pub begun: u64,
    /// When its iteration began (ps).
    pub turned: u64,
    /// When its program was over (ps), `u64::MAX` before.
    pub finished: u64,
    /// Its messages to ranks of its own node.
    pub local_messages: u64,
    /// Their bytes.
    pub local_bytes: u64,
    /// Its channel to ranks of its own node is busy until then (ps).
    pub local_free: u64,
}

const _: () = assert!(size_of::<Rank>() == 192 && offset_of!(Rank, fault) + offset_of!(Fault, bytes) == Rank::AT_HAND);

/// Where a rank that handles messages in its calls only is in its operation.
pub mod stage {
    /// Before the next one.
    pub const ENTER: u32 = 0;
    /// Before the next step of a collective.
    pub const STEP: u32 = 1;
    /// Its processor has done what comes before the operation or step, which now takes place.
    pub const ACT: u32 = 2;
    /// The operation or step has taken place; it handles what has come.
    pub const HANDLE: u32 = 3;
    /// It waits.
    pub const WAIT: u32 = 4;
    /// It handles what lay there when it looked, out of a wait.
    pub const LIST: u32 = 5;
    /// The same at the end of a call.
    pub const LAST_LIST: u32 = 6;
    /// Added to the others in a collective.
    pub const COLLECTIVE: u32 = 8;
    /// Added to the others when something has come since it last looked.
    pub const MISSED: u32 = 16;
}

/// What a rank's program has done wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct Fault {
    /// One of [`fault`].
    pub kind: u32,
    /// The sender of a message, or the name of a request.
    pub who: u32,
    /// Size of the message.
    pub bytes: u64,
    /// What its receive takes.
    pub room: u64,
}

/// Kinds of a [`Fault`].
pub mod fault {
    /// None.
    pub const NONE: u32 = 0;
    /// A message is larger than its receive.
    pub const TRUNCATED: u32 = 1;
    /// A request has the name of one that is pending.
    pub const PENDING: u32 = 2;
    /// A collective is begun by a rank that handles messages in its calls only.
    pub const BEGUN: u32 = 3;
}

impl Rank {
    /// The first so many bytes have all that a message or an operation asks of a rank, most of the time.
    pub const AT_HAND: usize = 128;

    /// A rank before its first operation.
    pub fn new() -> Rank {
        Rank {
            finished: u64::MAX,
            wild: NONE,
            collectives: NONE,
            inbox: NONE,
            ..Rank::zeroed()
        }
    }
}

impl Default for Rank {
    fn default() -> Self {
        Rank::new()
    }
}

/// Requests with names from here on are those of collectives that a program has begun: this plus the collective's number.
pub const FIRST_BEGUN: u32 = 1 << 31;

// Operations of graphs have names below.
const _: () = assert!(FIRST_OPERATION + MOST_OPERATIONS <= FIRST_BEGUN);

/// A collective that a program has begun, or how many there have been of a communicator. It keeps its place when it is over, for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct BegunCollective {
    /// Its clock (ps).
    pub time: u64,
    /// Handling that it has yet to do (ps).
    pub cost: u64,
    /// Its size.
    pub bytes: u64,
    /// Its number among those of the rank.
    pub number: u32,
    /// The next of the rank.
    pub next: u32,
    /// The root, or what its program knows its sizes by.
    pub root: u32,
    /// Its step; how many there have been.
    pub step: u32,
    /// Open requests of its round.
    pub block: u32,
    /// Phase of the job that has begun it.
    pub phase: u32,
    /// Name of its request.
    pub request: u16,
    /// Tag of its messages: its number among those of its communicator, which goes round.
    pub tag: u16,
    /// Communicator, by the number in its program.
    pub communicator: u16,
    /// Which collective, by its place among all.
    pub kind: u8,
    /// One of [`begun`].
    pub stage: u8,
}

const _: () = assert!(size_of::<BegunCollective>() == 56);

/// Where a [`BegunCollective`] is.
pub mod begun {
    /// Nowhere: its place is free.
    pub const FREE: u8 = 0;
    /// It performs steps.
    pub const RUNS: u8 = 1;
    /// It waits for messages.
    pub const WAITS: u8 = 2;
    /// It is over when its clock says so.
    pub const ENDS: u8 = 3;
    /// It is none, but counts those of a communicator.
    pub const COUNTS: u8 = 4;
}

impl BegunCollective {
    /// A free place.
    pub fn new() -> BegunCollective {
        BegunCollective {
            next: NONE,
            ..BegunCollective::zeroed()
        }
    }

    /// Whether its request is open.
    pub fn is_under_way(&self) -> bool {
        matches!(self.stage, begun::RUNS | begun::WAITS | begun::ENDS)
    }
}

impl Default for BegunCollective {
    fn default() -> Self {
        BegunCollective::new()
    }
}

/// What a rank knows of another that it has talked to. Lists are in the order in which their items came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct PeerRank {
    /// The other rank, of the job; [`NONE`] if there is none yet.
    pub rank: u32,
    /// Receives from it that wait for a message.
    pub posted: u32,
    /// Messages from it that wait for a receive, or for earlier ones.
    pub arrived: u32,
    /// Rendezvous sends to it, and matched rendezvous receives from it.
    pub pending: u32,
    /// Number of the next message to it.
    pub sent: u16,
    /// Number of the next message from it that may be matched.
    pub expected: u16,
}

/// Peers of a rank side by side, in the order in which it has met them; those that follow go on in the next group. Two cache lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct PeerGroup {
    /// The first of them are in use.
    pub peers: [PeerRank; PEERS],
    /// The next group of the same list.
    pub next: u32,
    /// Always 0.
    pub unused: u32,
}

/// Peers of a group.
pub const PEERS: usize = 6;

const _: () = assert!(
    size_of::<PeerGroup>() == 128,
    "a rank with few peers has them in two cache lines"
);

/// Whether half of all numbers of messages, which go round, or more lie between two.
pub fn is_far(from: u16, to: u16) -> bool {
    to.wrapping_sub(from) >= 1 << 15
}

pub use crate::mpi::op::BLOCK;

/// A receive, a message or a rendezvous that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Item {
    /// When a receive was posted, or a message arrived (ps); of a message under way, when it was set off.
    pub time: u64,
    /// Size of the message; of a receive the most that it takes, once it is matched on the wire and less what has come.
    pub bytes: u64,
    /// The other rank; [`ANY_SOURCE`](crate::mpi::op::ANY_SOURCE) in a receive from any.
    pub rank: u32,
    /// The next of its list.
    pub next: u32,
    /// Its place in the order of receives, or of arrivals; of a send, of its rank's sends to other nodes; of a receive whose message is under
    /// way, 1 if it was there before the announcement.
    pub order: u32,
    /// Name of the request: 16 bits, or from [`FIRST_OPERATION`](crate::mpi::graph::state::FIRST_OPERATION) on.
    pub name: u32,
    /// Tag.
    pub tag: u16,
    /// Number of the message among those of its pair.
    pub sequence: u16,
    /// Context: which communicator of which phase, and whether it is a collective's.
    pub context: u16,
    /// One of [`item`].
    pub kind: u8,
    /// Parts of a message that is cut up for several rails that have come, or left.
    pub parts: u8,
}

const _: () = assert!(size_of::<Item>() == 40);

/// What an [`Item`] is.
pub mod item {
    /// A receive without its message.
    pub const RECEIVE: u8 = 0;
    /// A message that came as a whole.
    pub const EAGER: u8 = 1;
    /// The announcement of a message that waits at its sender.
    pub const ANNOUNCED: u8 = 2;
    /// As [`EAGER`], with an earlier message of the pair still under way.
    pub const EARLY_EAGER: u8 = 3;
    /// As [`ANNOUNCED`], with an earlier message of the pair still under way.
    pub const EARLY_ANNOUNCED: u8 = 4;
    /// A send whose receiver has not answered.
    pub const SEND: u8 = 5;
    /// A receive whose message is under way.
    pub const MATCHED: u8 = 6;
    /// A send whose bytes are under way.
    pub const SENDING: u8 = 7;
    /// A message without asking of which some parts have come.
    pub const PARTS: u8 = 8;
    /// Lies in the inbox: a message without asking.
    pub const HEARD_EAGER: u8 = 9;
    /// The same without bytes.
    pub const HEARD_EMPTY: u8 = 10;
    /// The announcement of one.
    pub const HEARD_REQUEST: u8 = 11;
    /// Leave to send one.
    pub const HEARD_CLEAR: u8 = 12;
    /// The bytes of one.
    pub const HEARD_DATA: u8 = 13;
    /// They have come, or left.
    pub const HEARD_DONE: u8 = 14;
    /// A message without asking is to be fetched.
    pub const HEARD_OFFER: u8 = 15;
    /// A message that its receiver fetches: for the rank that has sent it, it is done with.
    pub const OFFERED: u8 = 16;
    /// Lies at the interface, which answers by itself: leave to send a message.
    pub const HEARD_READ: u8 = 17;
    /// Lies in the inbox: its own acknowledgement has left, which is nothing to handle.
    pub const HEARD_LEFT: u8 = 18;
}

des::columns! {
    /// What ranks remember.
    pub struct RankColumns {
        /// A record per rank, as many per node as the fullest has.
        pub ranks: Rank,
        /// The first group of peers of each list of each rank, [`NONE`] before its first peer.
        pub peer_heads: u32,
        /// Peers, in groups.
        pub peers: PeerGroup,
        /// Receives, messages and rendezvous that wait.
        pub items: Item,
        /// Free items of each router, a list.
        pub free_items: u32,
        /// Collectives that programs have begun.
        pub begun: BegunCollective,
    } with {
        /// Of graphs.
        pub graph: GraphColumns,
    }
}
