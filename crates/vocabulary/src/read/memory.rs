//! `work = { kind = "memory" }`: memory nodes and what their cores do.

use super::accesses;
use super::trace::{self, Traces};
use crate::registry::memory::BY_PART;
use des::Time;
use std::path::Path;
use study::diagnostic::Findings;
use study::reader::{Checked, Values};
use study::{BitsPerSec, Bytes};
use work::memory::spec::{
    AccessPattern, Addresses, CleanEvictions, InterfaceUse, MOST_ACCESSES, Memory, NodeArrangement, OwnNode,
    PatternWord, VirtualNetworks,
};

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
    let pattern = read_pattern(word, values, (n_nodes, base), findings)?;
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
        // Without a number it is the word.
        interfaces: values.integer_u32("interfaces").unwrap_or(2),
        interleaved: values.choice::<Addresses>("addresses")? == Addresses::Interleaved,
        by_class: values.choice::<VirtualNetworks>("virtual_networks")? == VirtualNetworks::ByClass,
        control: bytes("control")?,
        header: bytes("header")?,
        arrangement: read_arrangement(values, findings)?,
        preset: values.text("preset").map(str::to_owned),
    };
    let before = findings.n_errors();
    check_sizes(&memory, values, findings);
    if is_trace && findings.n_errors() == before {
        memory.pattern = AccessPattern::Trace(trace::read(values, &memory, files, findings)?);
    }
    (findings.n_errors() == before).then_some(memory)
}

/// How the parts of a node work together; `None` after errors.
fn read_arrangement(values: &Values, findings: &mut Findings) -> Option<NodeArrangement> {
    let interfaces = match values.get("interfaces")? {
        Checked::Word(_) => InterfaceUse::ByPart,
        _ => InterfaceUse::ByLine,
    };
    let own_node = values.choice("own_node")?;
    if own_node == OwnNode::ThroughRouter && interfaces == InterfaceUse::ByLine {
        let reason = "a node does not send to itself, and caches and home have the same interfaces";
        let hint = format!("set {}.interfaces = \"{BY_PART}\", or own_node = \"bus\"", values.path);
        let path = format!("{}.own_node", values.path);
        findings.error(values.place("own_node"), &path, reason, hint);
        return None;
    }
    Some(NodeArrangement {
        interfaces,
        clean_writebacks: values.choice("clean_writebacks")?,
        writeback_answers: values.choice("writeback_answers")?,
        evict: values.choice("evict")?,
        own_node,
    })
}

/// What cores ask for; `None` after errors.
fn read_pattern(
    word: PatternWord,
    values: &Values,
    (n_nodes, base): (Option<u64>, &Path),
    findings: &mut Findings,
) -> Option<AccessPattern> {
    Some(match word {
        // A trace is read when all else is known.
        PatternWord::Random | PatternWord::Trace => AccessPattern::Random,
        PatternWord::PointerChase => AccessPattern::PointerChase,
        PatternWord::Gups => AccessPattern::Gups,
        PatternWord::Stream => AccessPattern::Stream,
        PatternWord::Stride => AccessPattern::Stride {
            stride: values.quantity("stride").map(Bytes)?,
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
    })
}

/// Caches, directory and memory are whole numbers of what they consist of.
fn check_sizes(memory: &Memory, values: &Values, findings: &mut Findings) {
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
