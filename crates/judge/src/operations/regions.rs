//! What ranks did in which region of a recorded application, beside what they did there when it was recorded.
//!
//! Every picosecond of an operation is of one region: the innermost one that the operation was recorded in.

use super::{OperationTimes, RankTimes};
use fabric::mpi::RankRow;
use fabric::network::Network;
use std::collections::{BTreeMap, HashMap};
use work::regions::RecordedRegions;

/// The number of the name of what is outside of all regions.
const OUTSIDE: u32 = u32::MAX;

/// What was recorded of a rank in a region, as often as it is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedTimes {
    /// What it computed (ps), if the trace tells times of computations.
    pub computing: Option<u64>,
    /// What calls of MPI took, their waiting included (ps), if the trace tells that.
    pub calling: Option<u64>,
}

/// What a rank did in a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionTimes {
    /// Its job.
    pub job: u32,
    /// The rank in the job.
    pub rank: u32,
    /// Part of the job.
    pub part: u32,
    /// The region by the number of its name; outside of all it is behind the last one.
    region: u32,
    /// How often it was entered; not of a rank that has not come to its end.
    pub visits: Option<u64>,
    /// What it computed there (ps).
    pub computing: u64,
    /// What it waited there (ps).
    pub waiting: u64,
    /// What its operations took there besides (ps): overheads, copies, operands combined.
    pub calling: u64,
    /// What was recorded; not of a rank that has not come to its end.
    pub recorded: Option<RecordedTimes>,
}

/// What ranks did in which region, by job, rank, part and region, outside of all at last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegionTimesTable {
    names: Vec<String>,
    /// The rows.
    pub rows: Vec<RegionTimes>,
}

impl RegionTimesTable {
    /// Of the operations and waits of a run, which are in order.
    pub(super) fn new(net: &Network, times: &RankTimes, ranks: &[RankRow]) -> RegionTimesTable {
        let mut visited = VisitedRegions::new(net);
        let mut waits = times.waits.iter().peekable();
        for operation in &times.operations {
            let OperationTimes {
                job, rank, begin, end, ..
            } = *operation;
            let mut waited = 0;
            while let Some(wait) = waits.next_if(|wait| (wait.job, wait.rank, wait.begin) < (job, rank, end)) {
                waited += wait.end - wait.begin;
            }
            if let Some(row) = visited.row(operation) {
                row.waiting += waited;
                let rest = (end - begin) - waited;
                match operation.word {
                    "compute" => row.computing += rest,
                    _ => row.calling += rest,
                }
            }
        }
        for rank in ranks.iter().filter(|rank| rank.is_done()) {
            visited.recorded(rank);
        }
        visited.finish()
    }

    /// The name of a row's region; nothing outside of all.
    pub fn name(&self, row: &RegionTimes) -> &str {
        self.names.get(row.region as usize).map_or("", String::as_str)
    }

    /// Numbers of names of all rows, and the names: that of what is outside of all regions, which is empty, is the last.
    pub fn named(&self) -> (Vec<u32>, Vec<String>) {
        let outside = self.names.len() as u32;
        let numbers = self.rows.iter().map(|row| row.region.min(outside)).collect();
        let names = self.names.iter().cloned().chain([String::new()]).collect();
        (numbers, names)
    }
}

/// Rows that are being added up.
struct VisitedRegions<'a> {
    net: &'a Network,
    names: Vec<String>,
    known: HashMap<String, u32>,
    rows: BTreeMap<[u32; 4], RegionTimes>,
}

impl<'a> VisitedRegions<'a> {
    fn new(net: &'a Network) -> VisitedRegions<'a> {
        VisitedRegions {
            net,
            names: Vec::new(),
            known: HashMap::new(),
            rows: BTreeMap::new(),
        }
    }

    /// The row of what an operation is in, if its work is a recording that tells of regions or times.
    fn row(&mut self, operation: &OperationTimes) -> Option<&mut RegionTimes> {
        let OperationTimes { job, rank, at, .. } = *operation;
        let [part, _, index] = at;
        let regions = regions_of(self.net, job, part)?;
        let name = regions.region(rank, index).and_then(|region| regions.name(region));
        Some(self.row_of([job, rank, part], name))
    }

    fn row_of(&mut self, [job, rank, part]: [u32; 3], name: Option<&str>) -> &mut RegionTimes {
        let region = name.map_or(OUTSIDE, |name| self.number(name));
        self.rows.entry([job, rank, part, region]).or_insert(RegionTimes {
            job,
            rank,
            part,
            region,
            visits: None,
            computing: 0,
            waiting: 0,
            calling: 0,
            recorded: None,
        })
    }

    /// The number of a name: regions of one name are one.
    fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.known.get(name) {
            return number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.known.insert(name.to_owned(), number);
        number
    }

    /// Adds what was recorded of a rank that has come to its end.
    fn recorded(&mut self, rank: &RankRow) {
        let Some(plan) = self.net.workload.plan_of(rank.job as usize) else {
            return;
        };
        for (part, phase) in plan.work() {
            let Some(regions) = phase.program.regions() else {
                continue;
            };
            let times = u64::from(phase.iterations);
            for (region, stay) in regions.stays(rank.rank) {
                let name = region.and_then(|region| regions.name(region));
                let row = self.row_of([rank.job, rank.rank, part], name);
                row.visits = Some(row.visits.unwrap_or(0) + times * stay.visits);
                let add = |known: bool, before: fn(&RecordedTimes) -> Option<u64>, more: u64| {
                    let before = row.recorded.as_ref().and_then(before).unwrap_or(0);
                    known.then(|| before.saturating_add(times.saturating_mul(more)))
                };
                let computing = add(regions.has_computing_times(), |times| times.computing, stay.computing);
                let calling = add(regions.has_times(), |times| times.calling, stay.calling);
                row.recorded = Some(RecordedTimes { computing, calling });
            }
        }
    }

    fn finish(self) -> RegionTimesTable {
        RegionTimesTable {
            names: self.names,
            rows: self.rows.into_values().collect(),
        }
    }
}

/// The regions of a part of a job.
fn regions_of(net: &Network, job: u32, part: u32) -> Option<&RecordedRegions> {
    let plan = net.workload.plan_of(job as usize)?;
    plan.phases.get(part as usize)?.program.regions()
}
