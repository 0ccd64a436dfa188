//! What the memory nodes of a router remember: flat records in journalled columns.

use bytemuck::{Pod, Zeroable};
use des::lists::NONE;

/// No line: the tag of an empty place in a cache.
pub const NO_LINE: u64 = u64::MAX;

/// A place in a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Line {
    /// Its line, [`NO_LINE`] if it is empty.
    pub tag: u64,
    /// When it was used last, in accesses of the node, which wrap.
    pub used: u32,
    /// How often the line has been written.
    pub version: u32,
    /// In the shared cache: cores that have the line, a bit each.
    pub holders: u32,
    /// The number of a [`Held`](super::protocol::Held) that waits for nothing.
    pub state: u16,
    /// 1 in the shared cache while the node waits for leave to write what is here, or while the place waits for its line: it stays.
    pub pinned: u16,
}

impl Line {
    /// An empty place.
    pub const EMPTY: Line = Line {
        tag: NO_LINE,
        used: 0,
        version: 0,
        holders: 0,
        state: 0,
        pinned: 0,
    };
}

/// A line that a node waits for, or waits to be rid of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Miss {
    /// The line.
    pub line: u64,
    /// The next of the node, or of its free ones.
    pub next: u32,
    /// First access that waits for it.
    pub first: u32,
    /// Last access that waits for it.
    pub last: u32,
    /// The number of a [`Held`](super::protocol::Held) that waits for something.
    pub state: u32,
    /// How often the line had been written when it came, or when it left the cache.
    pub version: u32,
    /// Acknowledgements that have come, less those to wait for.
    pub acknowledged: i32,
    /// The node for which a forward waits here; `NONE` if none does.
    pub held_for: u32,
    /// 1 if that node wants to write.
    pub held_write: u32,
}

/// An access under way: one of the places that a core has for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Access {
    /// The line.
    pub line: u64,
    /// When the core gave it out (ps).
    pub issued: u64,
    /// When the shared cache was asked (ps).
    pub asked: u64,
    /// The next that waits for the same.
    pub next: u32,
    /// 1 for a store.
    pub store: u8,
    /// 1 if it may have a line that is given once ([`Do::Mark`](super::protocol::Do::Mark)).
    pub marked: u8,
    /// 1 while it is under way.
    pub busy: u8,
    /// 1 once it has been sent beyond the node.
    pub missed: u8,
}

impl Access {
    /// A place without an access.
    pub const NONE: Access = Access {
        line: NO_LINE,
        issued: 0,
        asked: 0,
        next: NONE,
        store: 0,
        marked: 0,
        busy: 0,
        missed: 0,
    };
}

/// What a home knows of a line that some node has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct DirectoryEntry {
    /// The line.
    pub line: u64,
    /// The next of its list, or of the free ones.
    pub next: u32,
    /// The number of a [`Home`](super::protocol::Home).
    pub state: u32,
    /// The owner.
    pub owner: u32,
    /// The node that the owner has been asked for.
    pub asker: u32,
    /// First word of the set of readers.
    pub readers: u32,
    /// First request that waits.
    pub first: u32,
    /// Last request that waits.
    pub last: u32,
    /// How often memory has seen the line written, where values are checked.
    pub version: u32,
}

/// Readers of a line, 64 neighbouring nodes; the words of an entry are in the order of their nodes, and none is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Readers {
    /// A bit per node.
    pub bits: u64,
    /// Number of the first node divided by 64.
    pub word: u32,
    /// The next word of the entry, or of the free ones.
    pub next: u32,
}

/// A request that waits at its home.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Request {
    /// The node that sent it.
    pub from: u32,
    /// The number of a [`Say`](super::message::Say).
    pub say: u32,
    /// How often the line has been written, of a line that comes back.
    pub version: u32,
    /// The next of its entry, or of the free ones.
    pub next: u32,
}

/// A node: the beginnings of its lists. Free records belong to the node that gave them back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct MemoryNode {
    /// Accesses to its caches so far, which wrap.
    pub clock: u32,
    /// Lines asked for.
    pub asked: u32,
    /// First line that it waits for or waits to be rid of.
    pub misses: u32,
    /// First access that waits for leave to ask.
    pub first: u32,
    /// Last access that waits for leave to ask.
    pub last: u32,
    /// Free records of [`Miss`].
    pub free_miss: u32,
    /// Free records of [`DirectoryEntry`].
    pub free_entry: u32,
    /// Free records of [`Readers`].
    pub free_readers: u32,
    /// Free records of [`Request`].
    pub free_request: u32,
    /// Its latest access performed, where values are checked.
    pub performed: u32,
}

/// An access that a node has performed, for the check of values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Performed {
    /// The line.
    pub line: u64,
    /// When the core gave it out (ps).
    pub issued: u64,
    /// When it was performed (ps).
    pub at: u64,
    /// How often the line had been written before it.
    pub version: u32,
    /// 1 for a store.
    pub store: u32,
    /// The core, by its number among all cores.
    pub core: u32,
    /// The one before it on the node.
    pub next: u32,
}

/// A core: where it is in its accesses, and what they have taken so far. Sums are in ps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Core {
    /// Accesses given out.
    pub issued: u64,
    /// Accesses performed.
    pub done: u64,
    /// Stores among them.
    pub stores: u64,
    /// Accesses performed by each [`By`](super::By).
    pub by: [u64; 4],
    /// It may give out the next from this time on (ps).
    pub ready: u64,
    /// When the last was over (ps).
    pub finished: u64,
    /// Time for which it could have given out an access and had no place for it.
    pub waited: u64,
    /// From giving out to having, all accesses.
    pub latency: u64,
    /// In the core's own cache.
    pub l1: u64,
    /// On the node's bus and waiting for it.
    pub bus: u64,
    /// In the shared cache.
    pub l2: u64,
    /// From the shared cache to what has come from beyond.
    pub beyond: u64,
    /// The longest.
    pub longest: u64,
    /// Accesses under way.
    pub open: u32,
    /// 1 while it waits for a place for an access.
    pub blocked: u32,
}

/// What the parts of a node beyond its caches have done. Times are in ps; they count what accesses wait for, not what follows them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Beyond {
    /// The address lines of the bus are free from this time on.
    pub address_free: u64,
    /// The data lines of the bus are free from this time on.
    pub data_free: u64,
    /// The memory is free from this time on.
    pub memory_free: u64,
    /// The memory has been or will be busy for so long.
    pub memory_busy: u64,
    /// Lines read from memory.
    pub reads: u64,
    /// Lines written to memory.
    pub writes: u64,
    /// Entries that the directory had to get from memory.
    pub entries_read: u64,
    /// Messages to other nodes.
    pub messages: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Bytes of them that have left by the second interface of a node whose caches and home have one each.
    pub home_bytes: u64,
    /// Messages that have come here for accesses, by class.
    pub came: [u64; 3],
    /// Time that they take on an idle network, by class.
    pub way: [u64; 3],
    /// Time that they have waited in interfaces and routers, by class.
    pub queued: [u64; 3],
    /// Time of such messages within the node.
    pub inside: u64,
    /// In the directory.
    pub directory: u64,
    /// In the caches of owners.
    pub owner: u64,
    /// Waiting for memory.
    pub memory_queue: u64,
    /// In memory.
    pub memory: u64,
}

impl Default for MemoryNode {
    fn default() -> Self {
        MemoryNode {
            clock: 0,
            asked: 0,
            misses: NONE,
            first: NONE,
            last: NONE,
            free_miss: NONE,
            free_entry: NONE,
            free_readers: NONE,
            free_request: NONE,
            performed: NONE,
        }
    }
}

des::columns! {
    /// What memory nodes remember.
    pub struct MemoryColumns {
        /// A record per node.
        pub nodes: MemoryNode,
        /// A record per core.
        pub cores: Core,
        /// What the parts of a node beyond its caches have done.
        pub beyond: Beyond,
        /// When each bank is free, node by node (ps).
        pub banks: u64,
        /// The places of all caches of directories, node by node.
        pub directory_lines: Line,
        /// The places of all cores' own caches, core by core.
        pub l1_lines: Line,
        /// The places of all shared caches, node by node.
        pub l2_lines: Line,
        /// Accesses under way, as many places per core as it may have.
        pub accesses: Access,
        /// Lines that nodes wait for, or wait to be rid of.
        pub misses: Miss,
        /// First entry of every list of a home.
        pub entry_heads: u32,
        /// Lines that some node has, at their homes.
        pub entries: DirectoryEntry,
        /// Sets of readers, in words.
        pub readers: Readers,
        /// Requests that wait at their homes.
        pub requests: Request,
        /// Accesses performed, where values are checked.
        pub performed: Performed,
    }
}
