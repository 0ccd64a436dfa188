//! What a trace has, in figures: what `fabricsim trace info` prints.

use crate::header::{TraceHeader, WorkUnit};
use crate::operation::{Kind, Lists, Operation, UNKNOWN_SIZE};
use crate::problem::ReadStop;
use crate::sink::TraceSink;
use serde::Serialize;
use std::collections::BTreeMap;

/// Figures of a trace.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TraceSummary {
    /// Name of the format.
    pub format: String,
    /// Number of ranks.
    pub ranks: u32,
    /// Operations by kind, those that do not occur left out.
    pub operations: BTreeMap<&'static str, u64>,
    /// Bytes of messages from rank to rank.
    pub bytes_sent: u64,
    /// Time of computations, summed over ranks (ns); of a trace that tells instructions, null.
    pub compute_ns: Option<f64>,
    /// Instructions of computations, summed over ranks; null where the trace tells time.
    pub instructions: Option<u64>,
    /// Number of communicators that the trace defines, those that no operation names included, and that of all ranks in any case.
    pub communicators: usize,
    /// Dependencies of operations, of graphs.
    pub dependencies: u64,
    /// Number of regions that the trace defines, those that no operation names included: calls of MPI and of libraries.
    pub regions: usize,
    #[serde(skip)]
    work: u128,
}

impl TraceSink for TraceSummary {
    fn begin(&mut self, header: &TraceHeader) -> Result<(), ReadStop> {
        self.format = header.format.clone();
        self.ranks = header.ranks;
        self.communicators = header.communicators.len() + header.others.communicators;
        self.regions = header.others.regions;
        match header.unit {
            WorkUnit::Picoseconds => self.compute_ns = Some(0.0),
            WorkUnit::Instructions => self.instructions = Some(0),
        }
        Ok(())
    }

    fn operation(
        &mut self,
        _rank: u32,
        _record: u64,
        operation: &Operation,
        lists: &Lists<'_>,
    ) -> Result<(), ReadStop> {
        *self.operations.entry(operation.kind.name()).or_default() += 1;
        if operation.kind == Kind::Compute {
            self.work += u128::from(operation.time);
        }
        if operation.kind.sends() && operation.bytes != UNKNOWN_SIZE {
            self.bytes_sent = self.bytes_sent.saturating_add(operation.bytes);
        }
        self.dependencies += (lists.after.len() + lists.after_start.len()) as u64;
        Ok(())
    }

    fn end(&mut self, names: &[String]) -> Result<(), ReadStop> {
        self.regions += names.len();
        if let Some(compute) = &mut self.compute_ns {
            *compute = self.work as f64 / 1e3;
        }
        if let Some(instructions) = &mut self.instructions {
            *instructions = self.work.min(u64::MAX.into()) as u64;
        }
        Ok(())
    }
}
