//! The memory nodes of a run: their sizes and times, and what their cores do.

use super::shape::{AddressMap, CacheShape, Shape};
use super::trace::Trace;
use crate::mpi::plan::Rate;
use crate::spec::{AccessPattern, Memory};
use des::rng::{below, unit};
use des::{Philox2, mix};

/// Most nodes of a job: their numbers fit what messages have for them.
pub const MAX_NODES: u32 = 1 << 24;
/// Most lines at home at a node, for the same reason.
pub const MAX_LINES: u64 = 1 << 31;
/// Most cores of a node.
pub const MAX_CORES: u32 = 32;

/// Stream of random numbers of accesses.
const ACCESSES: u64 = 4;

/// What an access asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The line.
    pub line: u64,
    /// Whether it writes.
    pub store: bool,
    /// It is not given out before (ps).
    pub at: u64,
}

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
    /// Accesses of a core, where they are not listed.
    accesses: u64,
    /// Listed accesses, core by core, and where those of each core begin.
    listed: Vec<Wanted>,
    begins: Vec<u32>,
    /// What programs did.
    trace: Option<Trace>,
    /// Bytes of a line.
    line: u64,
    pattern: AccessPattern,
    /// Probability that an access writes.
    stores: f64,
    draws: Philox2,
}

/// Times of a node, in ps.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Between two accesses that a core gives out.
    pub issue: u64,
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
        };
        // All nodes of the network have records.
        let l1 = u64::from(shape.cores) * u64::from(shape.l1.lines());
        let most = l1.max(shape.l2.lines().into()).max(shape.accesses().into());
        if most.max(1 << shape.bucket_bits) * u64::from(all) >= u64::from(u32::MAX) {
            return Err(format!("{most} records on each of {all} nodes are more than 2^32 - 1"));
        }
        let (mut listed, mut begins) = (Vec::new(), Vec::new());
        if let AccessPattern::Listed(accesses) = &spec.pattern {
            for core in 0..n * spec.cores {
                begins.push(listed.len() as u32);
                let own = accesses.iter().filter(|access| access.core == core);
                listed.extend(own.map(|access| Wanted {
                    line: access.line,
                    store: access.store,
                    at: access.at.0,
                }));
            }
            begins.push(listed.len() as u32);
            if listed.iter().any(|access| access.line >= shape.all_lines()) || listed.len() < accesses.len() {
                return Err("an access that is listed has a line or core that is not there".to_owned());
            }
        }
        let trace = match &spec.pattern {
            AccessPattern::Trace(trace) => Some(Trace::open(trace, spec, n)?),
            _ => None,
        };
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
            accesses: spec.accesses,
            listed,
            begins,
            trace,
            line,
            pattern: spec.pattern.clone(),
            stores: spec.stores,
            draws: Philox2::new(mix(seed ^ u64::from(job)), ACCESSES),
        })
    }

    /// Sizes of all messages.
    pub fn sizes(&self) -> [u64; 2] {
        [self.times.control, self.times.data]
    }

    /// Accesses of a core, by its number among all cores.
    pub fn accesses(&self, core: u64) -> u64 {
        if let Some(trace) = &self.trace {
            return trace.accesses(core);
        }
        match self.begins.get(core as usize..) {
            Some([from, to, ..]) => u64::from(to - from),
            _ => self.accesses,
        }
    }

    /// Least time between access `k` of a core and the one before it (ps).
    pub fn pause(&self, core: u64, k: u64) -> u64 {
        self.trace
            .as_ref()
            .map_or(self.times.issue, |trace| trace.pause(core, k))
    }

    /// Access `k` of a core, by its number among all cores.
    pub fn access(&self, core: u64, k: u64) -> Wanted {
        if let Some(trace) = &self.trace {
            return trace.access(core, k);
        }
        if let Some(&from) = self.begins.get(core as usize) {
            return self.listed[from as usize + k as usize];
        }
        let lines = self.shape.all_lines();
        let words = self.draws.draw(core, k);
        let drawn = self.stores > 0.0 && unit(words[1]) < self.stores;
        // A core's own part of the address space.
        let cores = u64::from(self.shape.cores) * u64::from(self.shape.nodes);
        let begin = (u128::from(core) * u128::from(lines) / u128::from(cores)) as u64;
        let walk = |step: u64| {
            let offset = (u128::from(k) * u128::from(step) / u128::from(self.line)) as u64;
            (begin + offset % lines) % lines
        };
        let (line, store) = match &self.pattern {
            AccessPattern::Random | AccessPattern::PointerChase => (below(words[0], lines), drawn),
            AccessPattern::Gups => (below(self.draws.draw(core, k / 2)[0], lines), k % 2 == 1),
            AccessPattern::Stream => (walk(8), drawn),
            AccessPattern::Stride { stride } => (walk(stride.0), drawn),
            AccessPattern::HotSpot { lines: hot, fraction } => {
                // The second word's other half: independent of whether it writes.
                let is_hot = unit(words[1].rotate_left(32)) < *fraction;
                (below(words[0], if is_hot { (*hot).min(lines) } else { lines }), drawn)
            }
            AccessPattern::Listed(_) | AccessPattern::Trace(_) => (0, false),
        };
        Wanted { line, store, at: 0 }
    }
}
