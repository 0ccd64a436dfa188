//! What a study says of memory nodes: their sizes and times, what their cores do, and the programs that they play.

use super::message::CLASSES;
use des::Time;
use serde::{Deserialize, Serialize};
use study::{BitsPerSec, Bytes, choice};

/// Nodes with cores, caches, a directory and memory, which share one address space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// What every core does.
    pub pattern: AccessPattern,
    /// Accesses per core; of a trace at most so many per core, or all with [`MOST_ACCESSES`].
    pub accesses: u64,
    /// Probability that an access writes, where the pattern does not say.
    pub stores: f64,
    /// Cores of a node.
    pub cores: u32,
    /// Accesses that a core may have under way.
    pub outstanding: u32,
    /// Least time between two accesses that a core gives out.
    pub issue: Time,
    /// A core waits for all it has under way before every so many-th access; 0: never.
    pub fence_every: u64,
    /// Bytes of a line.
    pub line: Bytes,
    /// Size of a core's own cache.
    pub l1: Bytes,
    /// Lines in a set of it.
    pub l1_ways: u32,
    /// Time to look at it.
    pub l1_latency: Time,
    /// Size of the cache that the cores of a node share.
    pub l2: Bytes,
    /// Lines in a set of it.
    pub l2_ways: u32,
    /// Time to look at it.
    pub l2_latency: Time,
    /// Lines that a node may have asked for at a time.
    pub misses: u32,
    /// Homes are told of shared lines that leave a cache.
    pub told: bool,
    /// Rate of the address lines and of the data lines of a node's bus.
    pub bus_bandwidth: BitsPerSec,
    /// From one end of it to the other.
    pub bus_latency: Time,
    /// Time to look at the directory.
    pub directory_latency: Time,
    /// Accesses are written down, and what they have seen is checked after the run.
    pub check_values: bool,
    /// Entries that a directory has at hand; it gets others from memory. 0: it has all.
    pub directory_entries: u64,
    /// Entries of them in a set.
    pub directory_ways: u32,
    /// Memory of a node.
    pub memory: Bytes,
    /// Rate at which it gives and takes lines.
    pub memory_bandwidth: BitsPerSec,
    /// Until it begins to give a line.
    pub memory_latency: Time,
    /// Its banks: neighbouring lines are in neighbouring ones.
    pub banks: u32,
    /// A bank is busy so long with a line.
    pub bank_busy: Time,
    /// Network interfaces of a node: as many neighbouring nodes of the network.
    pub interfaces: u32,
    /// Neighbouring lines are at home at neighbouring nodes; else every node has a part of the address space in one piece.
    pub interleaved: bool,
    /// Requests, forwards and responses have channels of their own in routers that have channels.
    pub by_class: bool,
    /// Bytes of a message without a line.
    pub control: Bytes,
    /// Bytes of a message with a line, besides the line.
    pub header: Bytes,
    /// How the parts of a node work together.
    #[serde(default, skip_serializing_if = "NodeArrangement::is_default")]
    pub arrangement: NodeArrangement,
    /// The known simulator whose arrangement and times it follows, where the study says no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
}

/// How the parts of a node work together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeArrangement {
    /// Which interface a message takes.
    pub interfaces: InterfaceUse,
    /// What a node's own clean line has with it when it leaves.
    pub clean_writebacks: CleanWritebacks,
    /// What the home's answer to a line that leaves has with it.
    pub writeback_answers: WritebackAnswers,
    /// When a line makes room for another.
    pub evict: Evict,
    /// How caches and home of one node speak to each other.
    pub own_node: OwnNode,
}

impl NodeArrangement {
    fn is_default(&self) -> bool {
        *self == NodeArrangement::default()
    }
}

/// What the cores of memory nodes do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessPattern {
    /// Any line of the whole address space.
    Random,
    /// The same, one access after the other.
    PointerChase,
    /// Any line, read and then written.
    Gups,
    /// Words of 8 bytes, one after the other, from a core's own part of the address space on.
    Stream,
    /// Addresses at a distance, from a core's own part of the address space on.
    Stride {
        /// The distance.
        stride: Bytes,
    },
    /// Some accesses to the first lines of the address space, the others to any.
    HotSpot {
        /// How many lines.
        lines: u64,
        /// How many accesses.
        fraction: f64,
    },
    /// Round by round the edges of the blocks of four neighbours, read, and the own ones, written.
    Stencil {
        /// Cores along x and y; as square as can be if not given.
        grid: Option<[u32; 2]>,
        /// Lines of an edge.
        edge: u64,
    },
    /// Some cores write lines of their own part of the address space, as many others read them.
    ProducerConsumer {
        /// How many lines of each writer.
        lines: u64,
        /// Cores from a writer to its reader.
        distance: u32,
    },
    /// What programs did.
    Trace(Trace),
    /// What is listed; no core does anything else.
    Listed(Vec<ListedAccess>),
}

choice! {
    /// The word of an [`AccessPattern`].
    pub enum PatternWord {
        Random = "random", "Any line of the whole address space.";
        PointerChase = "pointer-chase", "The same, one access after the other.";
        Gups = "gups", "Any line, read and then written.";
        Stream = "stream", "Words of 8 bytes, one after the other, from a core's own part of the address space on.";
        Stride = "stride", "Addresses at a distance, from a core's own part of the address space on.";
        HotSpot = "hot-spot", "Some accesses to the first lines of the address space, the others to any.";
        Stencil = "stencil", "Round by round the edges of the blocks of four neighbours in a grid of all cores, read, and the own ones, written.";
        ProducerConsumer = "producer-consumer", "Some cores write the first lines of their own part of the address space, round and round; as many others read them.";
        Listed = "listed", "What a table says.";
        Trace = "trace", "What programs did under valgrind's lackey.";
    }
}

choice! {
    /// Whether homes hear of shared lines that leave a cache.
    pub enum CleanEvictions {
        Silent = "silent", "Shared lines leave a cache without a word.";
        Told = "told", "Their homes are told.";
    }
}

choice! {
    /// Which interface of a node a message takes.
    #[derive(Default)]
    pub enum InterfaceUse {
        #[default]
        ByLine = "by-line", "A line's number decides.";
        ByPart = "caches-and-memory", "What caches send or get takes the first, what homes send or get the second.";
    }
}

choice! {
    /// What the homes of clean lines get that leave a node's caches.
    #[derive(Default)]
    pub enum CleanWritebacks {
        #[default]
        Word = "word", "A word.";
        Line = "line", "The line as well, which the home has and drops.";
    }
}

choice! {
    /// What the answer of a home has with it that a line has left for.
    #[derive(Default)]
    pub enum WritebackAnswers {
        #[default]
        Word = "word", "A word.";
        AsSent = "as-sent", "As much as it answers: the line again, if that was sent along.";
    }
}

choice! {
    /// When a line of the shared cache makes room for another.
    #[derive(Default)]
    pub enum Evict {
        #[default]
        WhenCome = "when-come", "When the other has come.";
        WhenAsked = "when-asked", "When the other is asked for, and before that is: its place waits for the line, and where it would be one that waits already, so does the access.";
    }
}

choice! {
    /// How caches and home of one node speak to each other.
    #[derive(Default)]
    pub enum OwnNode {
        #[default]
        Bus = "bus", "Over the bus.";
        ThroughRouter = "through-router", "Over their interfaces and the router.";
    }
}

choice! {
    /// How the address space is laid over the nodes.
    pub enum Addresses {
        Blocks = "blocks", "Every node has a part of the address space in one piece.";
        Interleaved = "interleaved", "Neighbouring lines are at home at neighbouring nodes.";
    }
}

choice! {
    /// Who shares the channels of routers.
    pub enum VirtualNetworks {
        ByClass = "by-class", "Requests, forwards and responses have the routing's channels each for themselves (not in routers without channels).";
        One = "one", "All share them.";
    }
}

/// An access of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedAccess {
    /// The core, by its number among those of all nodes.
    pub core: u32,
    /// It is not given out before.
    pub at: Time,
    /// The line, by its number in the address space.
    pub line: u64,
    /// Whether it writes.
    pub store: bool,
}

impl Memory {
    /// Virtual networks of its messages.
    pub fn networks(&self) -> u8 {
        if self.by_class { CLASSES } else { 1 }
    }
}

impl Default for Memory {
    fn default() -> Self {
        let gigabyte = 8_000_000_000;
        Memory {
            pattern: AccessPattern::Random,
            accesses: 100,
            stores: 0.0,
            cores: 4,
            outstanding: 16,
            issue: Time::from_ns(1),
            fence_every: 0,
            line: Bytes(64),
            l1: Bytes(256),
            l1_ways: 4,
            l1_latency: Time::from_ns(1),
            l2: Bytes(512),
            l2_ways: 8,
            l2_latency: Time::from_ns(4),
            misses: 64,
            told: false,
            bus_bandwidth: BitsPerSec(64 * gigabyte),
            bus_latency: Time::from_ns(1),
            directory_latency: Time::from_ns(10),
            check_values: false,
            directory_entries: 0,
            directory_ways: 8,
            memory: Bytes(1 << 30),
            memory_bandwidth: BitsPerSec(8 * gigabyte),
            memory_latency: Time::from_ns(50),
            banks: 1,
            bank_busy: Time::ZERO,
            interfaces: 1,
            interleaved: false,
            by_class: true,
            control: Bytes(8),
            header: Bytes(8),
            arrangement: NodeArrangement::default(),
            preset: None,
        }
    }
}

/// Most accesses that are read of a file.
pub const MOST_ACCESSES: u64 = 1 << 40;

/// Programs that are played again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// The files.
    pub files: Vec<TraceFile>,
    /// A file is read up to so many accesses of lines.
    pub most: u64,
    /// Address spaces; process *p* plays file *p* modulo their number.
    pub processes: u32,
    /// How the accesses of a process are dealt to its cores.
    pub split: Split,
    /// What fetches of instructions do.
    pub instructions: Instructions,
    /// Bytes of a page, a whole number of lines.
    pub page: Bytes,
    /// Where pages lie.
    pub pages: Pages,
}

impl Trace {
    /// Accesses of all processes on so many cores.
    pub fn accesses(&self, memory: &Memory, n_cores: f64) -> f64 {
        let each = match self.split {
            Split::OneCore => memory.accesses as f64,
            Split::RoundRobin { .. } | Split::Blocks => memory.accesses as f64 * n_cores / f64::from(self.processes),
        };
        let of_file = self.files.iter().map(|file| each.min(file.accesses as f64));
        of_file.sum::<f64>() / self.files.len() as f64 * f64::from(self.processes)
    }
}

/// A file with a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceFile {
    /// Where it lies.
    pub path: String,
    /// SHA-256 of its text, unpacked, up to the last line that is read.
    pub sha256: String,
    /// Accesses of lines in that.
    pub accesses: u64,
}

/// How the accesses of a process are dealt to its cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Split {
    /// So many after each other to the next core.
    RoundRobin {
        /// How many.
        chunk: u64,
    },
    /// To every core one piece; pieces differ by one access at most.
    Blocks,
    /// All to the first core.
    OneCore,
}

choice! {
    /// The word of a [`Split`].
    pub enum SplitWord {
        RoundRobin = "round-robin", "To the next core after every `chunk`.";
        Blocks = "blocks", "To every core one piece.";
        OneCore = "one-core", "All to the first core; the others do nothing.";
    }
}

choice! {
    /// What fetches of instructions do.
    pub enum Instructions {
        Timed = "timed", "Every instruction takes `issue`.";
        Fetched = "fetched", "The same, and it is read.";
        Ignored = "ignored", "They take no time: accesses follow each other at `issue`.";
    }
}

choice! {
    /// Where the pages of programs lie.
    pub enum Pages {
        FirstTouch = "first-touch", "At the node whose core has the access that comes first in the trace, or the next node with room.";
        Interleaved = "interleaved", "One after the other at the next node.";
        Packed = "packed", "One after the other from the start of the address space on.";
    }
}
