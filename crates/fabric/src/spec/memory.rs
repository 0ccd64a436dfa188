//! `work = { kind = "memory" }`: memory nodes and what their cores do.

use super::accesses;
use super::run::{BitsPerSec, Bytes};
use super::trace::{self, MOST_ACCESSES, Trace, Traces};
use crate::memory::message::CLASSES;
use des::Time;
use serde::{Deserialize, Serialize};
use std::path::Path;
use study::choice;
use study::diagnostic::Findings;
use study::reader::Values;

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
    pub(crate) enum PatternWord {
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
    pub(crate) enum CleanEvictions {
        Silent = "silent", "Shared lines leave a cache without a word.";
        Told = "told", "Their homes are told.";
    }
}

choice! {
    /// How the address space is laid over the nodes.
    pub(crate) enum Addresses {
        Blocks = "blocks", "Every node has a part of the address space in one piece.";
        Interleaved = "interleaved", "Neighbouring lines are at home at neighbouring nodes.";
    }
}

choice! {
    /// Who shares the channels of routers.
    pub(crate) enum VirtualNetworks {
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
        }
    }
}

/// Reads the keys of the work; `None` after errors.
pub(crate) fn read(
    values: &Values,
    files: (Option<u64>, &Path, &mut Traces),
    findings: &mut Findings,
) -> Option<Memory> {
    let (n_nodes, base) = (files.0, files.1);
    let time = |key: &str| values.quantity(key).map(Time);
    let bytes = |key: &str| values.quantity(key).map(Bytes);
    let rate = |key: &str| values.quantity(key).map(BitsPerSec);
    let word = values.choice("pattern")?;
    let is_trace = word == PatternWord::Trace;
    let pattern = match word {
        // A trace is read when all else is known.
        PatternWord::Random | PatternWord::Trace => AccessPattern::Random,
        PatternWord::PointerChase => AccessPattern::PointerChase,
        PatternWord::Gups => AccessPattern::Gups,
        PatternWord::Stream => AccessPattern::Stream,
        PatternWord::Stride => AccessPattern::Stride {
            stride: bytes("stride")?,
        },
        PatternWord::HotSpot => AccessPattern::HotSpot {
            lines: values.integer("hot_lines")?,
            fraction: values.number("hot_fraction")?,
        },
        PatternWord::Stencil => AccessPattern::Stencil {
            grid: read_grid(values, n_nodes, findings)?,
            edge: values.integer("edge")?,
        },
        PatternWord::ProducerConsumer => AccessPattern::ProducerConsumer {
            lines: values.integer("shared_lines")?,
            distance: values.integer_u32("distance").or(values.integer_u32("cores"))?,
        },
        PatternWord::Listed => AccessPattern::Listed(accesses::read(values, n_nodes, base, findings)?),
    };
    let all = if is_trace {
        MOST_ACCESSES
    } else {
        Memory::default().accesses
    };
    let mut memory = Memory {
        pattern,
        accesses: values.integer("accesses").unwrap_or(all),
        stores: values.integer_or_default("stores") as f64 / 100.0,
        cores: values.integer_u32("cores")?,
        // A core that follows pointers waits for each.
        outstanding: values.integer_u32("outstanding").unwrap_or(1),
        issue: time("issue")?,
        fence_every: values.integer("fence_every")?,
        line: bytes("line")?,
        l1: bytes("l1")?,
        l1_ways: values.integer_u32("l1_ways")?,
        l1_latency: time("l1_latency")?,
        l2: bytes("l2")?,
        l2_ways: values.integer_u32("l2_ways")?,
        l2_latency: time("l2_latency")?,
        misses: values.integer_u32("misses")?,
        told: values.choice::<CleanEvictions>("clean_evictions")? == CleanEvictions::Told,
        bus_bandwidth: rate("bus_bandwidth")?,
        bus_latency: time("bus_latency")?,
        directory_latency: time("directory_latency")?,
        check_values: values.flag("check_values"),
        directory_entries: values.integer("directory_entries")?,
        directory_ways: values.integer_u32("directory_ways")?,
        memory: bytes("memory")?,
        memory_bandwidth: rate("memory_bandwidth")?,
        memory_latency: time("memory_latency")?,
        banks: values.integer_u32("banks")?,
        bank_busy: time("bank_busy")?,
        interfaces: values.integer_u32("interfaces")?,
        interleaved: values.choice::<Addresses>("addresses")? == Addresses::Interleaved,
        by_class: values.choice::<VirtualNetworks>("virtual_networks")? == VirtualNetworks::ByClass,
        control: bytes("control")?,
        header: bytes("header")?,
    };
    let before = findings.n_errors();
    for (key, size, ways) in [("l1", memory.l1, memory.l1_ways), ("l2", memory.l2, memory.l2_ways)] {
        let set = u64::from(ways) * memory.line.0;
        if size.0 == 0 || !size.0.is_multiple_of(set) {
            let reason = format!(
                "{} B are no whole number of sets of {ways} lines of {} B",
                size.0, memory.line.0
            );
            let hint = format!("take a multiple of {set} B, or other {key}_ways");
            findings.error(values.place(key), &format!("{}.{key}", values.path), reason, hint);
        }
    }
    if !memory.directory_entries.is_multiple_of(memory.directory_ways.into()) {
        let reason = format!(
            "{} entries are no whole number of sets of {}",
            memory.directory_entries, memory.directory_ways
        );
        let hint = "take a multiple of directory_ways, or 0: all are at hand";
        let path = format!("{}.directory_entries", values.path);
        findings.error(values.place("directory_entries"), &path, reason, hint);
    }
    if !memory.memory.0.is_multiple_of(memory.line.0) {
        let reason = format!(
            "{} B are no whole number of lines of {} B",
            memory.memory.0, memory.line.0
        );
        let hint = "take a multiple of the line";
        findings.error(values.place("memory"), &format!("{}.memory", values.path), reason, hint);
    }
    if is_trace && findings.n_errors() == before {
        memory.pattern = AccessPattern::Trace(trace::read(values, &memory, files, findings)?);
    }
    (findings.n_errors() == before).then_some(memory)
}

/// The grid of a stencil, checked where the number of nodes is known.
fn read_grid(values: &Values, n_nodes: Option<u64>, findings: &mut Findings) -> Option<Option<[u32; 2]>> {
    if !values.given("grid") {
        return (!values.failed("grid")).then_some(None);
    }
    let sides = values.integers_u32("grid");
    let cores = n_nodes
        .zip(values.integer("cores"))
        .map(|(nodes, cores)| nodes.saturating_mul(cores));
    let reason = match (&sides[..], cores) {
        (&[x, y], Some(cores)) if u64::from(x) * u64::from(y) != cores => {
            format!(
                "{x} x {y} make {} cores, the job has {cores}",
                u64::from(x) * u64::from(y)
            )
        }
        (&[x, y], _) => return Some(Some([x, y])),
        _ => format!("{} sides, a grid has two", sides.len()),
    };
    let hint = "leave it out to get one as square as can be";
    findings.error(values.place("grid"), &format!("{}.grid", values.path), reason, hint);
    None
}
