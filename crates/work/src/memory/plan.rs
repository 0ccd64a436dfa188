//! The memory nodes of a run: their sizes and times, and what their cores do.

use super::patterns::{Accesses, Wanted};
use super::shape::{AddressMap, CacheShape, Shape};
use super::spec::{AccessPattern, Memory};
use super::word;
use crate::rate::Rate;

/// Most nodes of a job: their numbers fit what messages have for them.
pub const MAX_NODES: u32 = 1 << 24;
/// Most lines at home at a node, for the same reason.
pub const MAX_LINES: u64 = 1 << 31;
/// Most cores of a node.
pub const MAX_CORES: u32 = 32;

/// The memory nodes of a run.
#[derive(Debug)]
pub struct Plan {
    /// Number of the job.
    pub job: u32,
    /// Physical nodes by logical ones.
    pub nodes: Vec<u32>,
    /// Sizes.
    pub shape: Shape,
    /// Times.
    pub times: Times,
    /// Accesses from one fence to the next, 0 without fences.
    fence_every: u64,
    /// Messages tell routers their class.
    by_class: bool,
    /// What cores ask for.
    accesses: Accesses,
}

/// Times of a node, in ps.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Between two accesses that a core gives out.
    pub issue: u64,
    /// A bank is busy with a line.
    pub bank: u64,
    /// Of a core's own cache.
    pub l1: u64,
    /// Of the shared cache.
    pub l2: u64,
    /// From one end of the bus to the other.
    pub bus: u64,
    /// A request on the bus.
    pub bus_control: u64,
    /// A line on the bus.
    pub bus_line: u64,
    /// Of the directory.
    pub directory: u64,
    /// Until memory begins to give a line.
    pub memory: u64,
    /// Memory is busy with a line.
    pub memory_line: u64,
    /// Bytes of a message without a line.
    pub control: u64,
    /// Bytes of a message with a line.
    pub data: u64,
}

impl Plan {
    /// Plans a job on some of `all` nodes; the reason if that cannot be.
    pub fn new(spec: &Memory, job: u32, nodes: &[u32], all: u32, seed: u64) -> Result<Plan, String> {
        let n = nodes.len() as u32;
        if n > MAX_NODES {
            return Err(format!("{n} memory nodes are more than {MAX_NODES}"));
        }
        let line = spec.line.0;
        let lines = spec.memory.0 / line;
        if lines == 0 || lines > MAX_LINES {
            return Err(format!(
                "{lines} lines of {line} bytes per node are not 1 to {MAX_LINES}"
            ));
        }
        let cache = |size: u64, ways: u32, name: &str| {
            let all = size / line;
            let sets = all / u64::from(ways);
            if sets == 0 || sets * u64::from(ways) * line != size || all > 1 << 20 {
                return Err(format!(
                    "{name}: {size} bytes are no whole number of sets of {ways} lines of {line} bytes"
                ));
            }
            Ok(CacheShape {
                sets: sets as u32,
                ways,
            })
        };
        let outstanding = match spec.pattern {
            AccessPattern::PointerChase => 1,
            _ => spec.outstanding,
        };
        let shape = Shape {
            nodes: n,
            cores: spec.cores,
            outstanding,
            l1: cache(spec.l1.0, spec.l1_ways, "l1")?,
            l2: cache(spec.l2.0, spec.l2_ways, "l2")?,
            misses: spec.misses,
            told: spec.told,
            lines,
            map: match spec.interleaved {
                true => AddressMap::Interleaved,
                false => AddressMap::Blocks,
            },
            bucket_bits: (spec.cores * outstanding).ilog2() + 2,
            directory: CacheShape {
                sets: (spec.directory_entries / u64::from(spec.directory_ways)) as u32,
                ways: spec.directory_ways,
            },
            banks: spec.banks,
            interfaces: spec.interfaces,
            arrangement: spec.arrangement,
            values: spec.check_values,
        };
        // All nodes of the network have records.
        let l1 = u64::from(shape.cores) * u64::from(shape.l1.lines());
        let most = l1.max(shape.l2.lines().into()).max(shape.accesses().into());
        let most = most.max(shape.directory.lines().into()).max(shape.banks.into());
        if most.max(1 << shape.bucket_bits) * u64::from(all) >= u64::from(u32::MAX) {
            return Err(format!("{most} records on each of {all} nodes are more than 2^32 - 1"));
        }
        let accesses = Accesses::new(spec, &shape, job, seed)?;
        if shape.values {
            let cores = u64::from(n) * u64::from(shape.cores);
            let all: u64 = (0..cores).map(|core| accesses.count(core)).sum();
            let bits = word::version_bits(&shape);
            if all >> bits > 0 {
                return Err(format!(
                    "check_values: messages of {n} nodes with {lines} lines each have {bits} bits for the number of stores, and {all} \
                     accesses may be more stores than that: take fewer accesses, or a smaller memory"
                ));
            }
        }
        let (bus, memory) = (
            Rate::new(Some(spec.bus_bandwidth)),
            Rate::new(Some(spec.memory_bandwidth)),
        );
        Ok(Plan {
            job,
            nodes: nodes.to_vec(),
            shape,
            times: Times {
                issue: spec.issue.0,
                bank: spec.bank_busy.0,
                l1: spec.l1_latency.0,
                l2: spec.l2_latency.0,
                bus: spec.bus_latency.0,
                bus_control: bus.time(spec.control.0),
                bus_line: bus.time(line),
                directory: spec.directory_latency.0,
                memory: spec.memory_latency.0,
                memory_line: memory.time(line),
                control: spec.control.0,
                data: spec.header.0 + line,
            },
            by_class: spec.by_class,
            fence_every: spec.fence_every,
            accesses,
        })
    }

    /// Whether messages tell routers their class.
    pub fn tells_classes(&self) -> bool {
        self.by_class
    }

    /// Whether a node of the network is the first interface of a memory node.
    pub fn is_first(&self, node: u32) -> bool {
        node.is_multiple_of(self.shape.interfaces)
    }

    /// Whether a fence stands before access `k` of a core.
    pub fn fenced(&self, k: u64) -> bool {
        self.fence_every > 0 && k.is_multiple_of(self.fence_every)
    }

    /// Sizes of all messages.
    pub fn sizes(&self) -> [u64; 2] {
        [self.times.control, self.times.data]
    }

    /// Accesses of a core, by its number among all cores.
    pub fn accesses(&self, core: u64) -> u64 {
        self.accesses.count(core)
    }

    /// Least time between access `k` of a core and the one before it (ps).
    pub fn pause(&self, core: u64, k: u64) -> u64 {
        self.accesses.pause(core, k).unwrap_or(self.times.issue)
    }

    /// Access `k` of a core, by its number among all cores.
    pub fn access(&self, core: u64, k: u64) -> Wanted {
        self.accesses.get(core, k)
    }
}
