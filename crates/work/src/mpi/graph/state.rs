//! What ranks remember of their graphs: flat records in journalled columns.

use bytemuck::{Pod, Zeroable};
use des::lists::NONE;

/// Requests with names from here on are those of operations of a graph: this plus the operation's number.
pub const FIRST_OPERATION: u32 = 1 << 16;

/// Marks the word of an operation that has a [`Task`], whose place is the rest.
pub const TASK: u32 = 1 << 31;
/// The word of an operation that has started and has no task.
pub const STARTED: u32 = NONE;

/// The place of the task of an operation with this word.
#[inline(always)]
pub fn task_of(word: u32) -> Option<u32> {
    (word & TASK != 0 && word != STARTED).then_some(word & !TASK)
}

/// Lists of a rank besides those by hash: receives of any, and messages of ranks that have such receives.
pub const OWN_LISTS: u32 = 2;
/// The list of receives that leave open from whom, or with which tag.
pub const WILD: u32 = 0;
/// The list of messages without a receive, where some receives are such.
pub const ARRIVED: u32 = 1;

/// Where a rank is in its graph, and where its records are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct GraphProgress {
    /// Place of the word of its first operation: of one that has not started, how many it waits for; of others the place of its task with [`TASK`], or
    /// [`STARTED`].
    pub words: u32,
    /// Place of its first lane.
    pub lanes: u32,
    /// Place of its first list.
    pub lists: u32,
    /// Operations of the iteration that have ended.
    pub ended: u32,
    /// 1 while the graph is under way.
    pub entered: u32,
    /// Lists by hash, as a power of two.
    pub list_bits: u32,
    /// 1 where some receive may be from any rank, or take any tag.
    pub wild: u32,
    /// Its lanes, the last one for operations without one; 0 of a rank without graphs.
    pub n_lanes: u32,
    /// Words of operations.
    pub n_words: u32,
    /// Nothing.
    pub spare: u32,
    /// Computing, overheads and copies of the rank when the iteration began (ps).
    pub spent: u64,
    /// When the iteration began (ps).
    pub began: u64,
}

impl GraphProgress {
    /// Lists of the rank.
    pub fn n_lists(&self) -> u32 {
        OWN_LISTS + (1 << self.list_bits)
    }

    /// The list, by its number among the rank's, of messages and receives of a rank with a tag in a context; of what is told by the number of
    /// a message with that in place of the tag, and a context that no message has.
    #[inline]
    pub fn list(&self, rank: u32, tag: u16, context: u16) -> u32 {
        let key = u64::from(rank) << 32 | u64::from(tag) << 16 | u64::from(context);
        let hash = key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        OWN_LISTS + ((hash as u32).wrapping_mul(0x85EB_CA6B) >> 1 >> (31 - self.list_bits))
    }
}

/// In place of a context: a message that is early, or of which parts have come.
pub const INCOMPLETE: u16 = 0xFE << 8;
/// In place of a context: a rendezvous.
pub const PENDING: u16 = 0xFF << 8;
const _: () = assert!(crate::mpi::MAX_CONTEXTS >> 7 < 0xFE);

/// A lane of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct RankLane {
    /// The operation that has it, or `NONE`.
    pub holder: u32,
    /// The first of the tasks that wait for it: the root of a heap, or `NONE`.
    pub first: u32,
}

/// A list of [`Item`](crate::ranks::state::Item)s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct ItemList {
    /// Its first item, or `NONE`.
    pub head: u32,
    /// Its last item.
    pub tail: u32,
}

/// A list without items.
pub const EMPTY: ItemList = ItemList { head: NONE, tail: NONE };

/// An operation that waits for a lane, or is on one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Task {
    /// When it could start, or go on (ps); a collective's own clock.
    pub time: u64,
    /// What handling its message takes (ps); of a collective handling that it has yet to do.
    pub cost: u64,
    /// When its operation began, or its message was handled (ps).
    pub begun: u64,
    /// The operation.
    pub operation: u32,
    /// Those behind it in the heap of its lane; `left` links free tasks.
    pub left: u32,
    /// The shorter side.
    pub right: u32,
    /// Length of the way to the right.
    pub depth: u32,
    /// Step of a collective.
    pub step: u32,
    /// Open requests of a collective's round.
    pub block: u32,
    /// One of [`stage`].
    pub stage: u32,
    /// Nothing.
    pub spare: u32,
}

/// What a [`Task`] is about.
pub mod stage {
    /// Its operation may start.
    pub const READY: u32 = 0;
    /// The message of a receive is to be handled.
    pub const HANDLE: u32 = 1;
    /// It has its lane; its operation ends with it.
    pub const ENDS: u32 = 2;
    /// It has its lane; its message sets out with the end of it.
    pub const SENDS: u32 = 3;
    /// A collective that goes on.
    pub const GOES_ON: u32 = 4;
    /// A collective that waits for its messages.
    pub const WAITS: u32 = 5;
}

impl Task {
    /// A task of an operation at a time.
    pub fn new(operation: u32, time: u64, stage: u32) -> Task {
        Task {
            time,
            operation,
            stage,
            left: NONE,
            right: NONE,
            ..Task::zeroed()
        }
    }

    /// Of two that wait for a lane the lesser goes first.
    pub fn key(&self) -> (u64, u32) {
        (self.time, self.operation)
    }
}

des::columns! {
    /// What ranks remember of graphs.
    pub struct GraphColumns {
        /// A record per rank.
        pub progress: GraphProgress,
        /// A word per operation.
        pub words: u32,
        /// The lanes of each rank, one more for what takes none.
        pub lanes: RankLane,
        /// Lists of each rank: [`OWN_LISTS`], and those by hash.
        pub lists: ItemList,
        /// Operations that wait for lanes, or are on them.
        pub tasks: Task,
        /// Free tasks of each router, a list.
        pub free_tasks: u32,
    }
}
