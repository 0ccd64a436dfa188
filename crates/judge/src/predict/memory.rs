//! Bytes that memory nodes take: caches, directories, accesses under way, traces.

use fabric::spec::{AccessPattern, CleanWritebacks, InterfaceUse, Memory, RunSpec, Work, WritebackAnswers};
use std::mem::size_of;
use work::memory::state::{Access, Beyond, Core, DirectoryEntry, Line, MemoryNode, Miss, Performed, Readers};

/// Lists grow by doubling: on average they hold two thirds of what there is room for.
const GROWS: f64 = 1.5;

/// Accesses of all cores on so many nodes.
pub(super) fn accesses(work: &Memory, nodes: f64) -> f64 {
    let cores = nodes * f64::from(work.cores);
    match &work.pattern {
        AccessPattern::Trace(trace) => trace.accesses(work, cores),
        _ => work.accesses as f64 * cores,
    }
}

/// Memory nodes on so many nodes of the network.
pub(super) fn nodes(work: &Memory, nodes: f64) -> f64 {
    nodes / f64::from(work.interfaces.max(1))
}

/// Bytes with lines that an access sends, which makes another line leave, and those that leave by one interface of a node.
pub(super) fn bytes_per_access(work: &Memory) -> (f64, f64) {
    let line = (work.header.0 + work.line.0) as f64;
    let leaves = match work.arrangement.clean_writebacks {
        CleanWritebacks::Word => 0.0,
        CleanWritebacks::Line => line,
    };
    let answer = match work.arrangement.writeback_answers {
        WritebackAnswers::Word => 0.0,
        WritebackAnswers::AsSent => leaves,
    };
    let all = line + leaves + answer;
    match work.arrangement.interfaces {
        InterfaceUse::ByLine => (all, all / f64::from(work.interfaces.max(1))),
        InterfaceUse::ByPart => (all, line + answer),
    }
}

/// The least time that all accesses on so many nodes take (ps) if each goes to another node, a way of `way` ps without waiting.
pub(super) fn least_time(work: &Memory, nodes: f64, way: f64) -> f64 {
    let each = accesses(work, nodes) / (nodes * f64::from(work.cores)).max(1.0);
    let inside = [
        work.l1_latency,
        work.l2_latency,
        work.bus_latency,
        work.bus_latency,
        work.directory_latency,
        work.memory_latency,
    ];
    let access = 2.0 * way + inside.iter().map(|time| time.0 as f64).sum::<f64>();
    each * (access / f64::from(work.outstanding.max(1))).max(work.issue.0 as f64)
}

/// Bytes of the memory nodes of a run on a network of so many nodes, all of which have their records.
pub(super) fn bytes(run: &RunSpec, nodes: f64) -> f64 {
    let jobs = run.jobs.iter().filter_map(|job| match &job.work {
        Work::Memory(work) => {
            let own = job.nodes.map_or_else(|| self::nodes(work, nodes), f64::from);
            Some(of_job(work, own, nodes))
        }
        _ => None,
    });
    jobs.sum()
}

fn of_job(work: &Memory, of_job: f64, all: f64) -> f64 {
    let size = |bytes: usize| bytes as f64;
    let lines = |bytes: u64| (bytes / work.line.0.max(1)) as f64;
    let cores = f64::from(work.cores);
    let under_way = cores * f64::from(work.outstanding);
    let cached = cores * lines(work.l1.0) + lines(work.l2.0) + work.directory_entries as f64;
    let records = size(size_of::<MemoryNode>() + size_of::<Beyond>())
        + cores * size(size_of::<Core>())
        + cached * size(size_of::<Line>())
        + under_way * (size(size_of::<Access>()) + 16.0)
        + f64::from(work.banks) * 8.0;
    let performed = accesses(work, of_job);
    // Homes know the lines that some node has: as many as have been asked for and caches have room for; and those written, where that is checked.
    let own = performed / of_job.max(1.0);
    let kept = match work.check_values {
        true => own * work.stores.max(0.1),
        false => 0.0,
    };
    let known = own.min(lines(work.l2.0) + under_way + kept).min(lines(work.memory.0));
    let lists = GROWS * known * size(size_of::<DirectoryEntry>() + size_of::<Readers>())
        + GROWS * under_way.min(f64::from(work.misses)) * size(size_of::<Miss>());
    let trace = match &work.pattern {
        AccessPattern::Trace(trace) => trace.files.iter().map(|file| 8.0 * file.accesses as f64).sum(),
        _ => 0.0,
    };
    // The column, its copy for the check, and the order in which that looks at it.
    let checked = match work.check_values {
        true => performed * ((GROWS + 1.0) * size(size_of::<Performed>()) + 8.0),
        false => 0.0,
    };
    all * records + of_job * lists + trace + checked
}
