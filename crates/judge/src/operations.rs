//! What ranks did with their time: their operations, what they waited for, and which of it the end of the job depends on.
//!
//! Times are in ps. Rows of an observer come in no order; here they are put in order by job, rank and time, so that nothing depends on the
//! engine.

mod cells;
mod groups;
mod held_up;
mod idle;
mod path;
mod regions;

pub use cells::OperationCells;
pub use groups::CommunicatorRow;
pub use held_up::{HeldUp, Stays};
pub use path::{PathPart, PathPiece, critical_path};
pub use regions::{RecordedTimes, RegionTimes, RegionTimesTable};

use fabric::mpi::RankRow;
use fabric::network::Network;
use fabric::observe::{Cause, OperationRow, UNTIL_NEXT, WaitRow};
use work::mpi::Op;

/// An operation of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationTimes {
    /// Its job.
    pub job: u32,
    /// The rank in the job.
    pub rank: u32,
    /// Part of the job, iteration of the part, and number in the iteration.
    pub at: [u32; 3],
    /// What it does: the name of the operation or collective.
    pub word: &'static str,
    /// The operation as its program has it; not of graphs, whose operations depend on others besides. Of an alltoallv `bytes` are all that
    /// the rank sends.
    pub op: Option<Op>,
    /// Bytes that the rank receives in an alltoallv, where its program tells that; else 0.
    pub received: u64,
    /// When it began.
    pub begin: u64,
    /// When it ended; of the last one of a rank that has not come to its end, when it began.
    pub end: u64,
}

/// A time for which a rank waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimes {
    /// Its job.
    pub job: u32,
    /// The rank in the job.
    pub rank: u32,
    /// The rank at the other end of the message that ended it.
    pub peer: u32,
    /// What ended it.
    pub cause: Cause,
    /// When it began.
    pub begin: u64,
    /// When it ended.
    pub end: u64,
    /// When what ended it was set off.
    pub since: u64,
    /// Where the message that ended it was held up longest, if it went over the network.
    pub held_up: Option<HeldUp>,
}

impl WaitTimes {
    /// How long it waited for the other rank to begin; the rest the message took.
    pub fn late(&self) -> u64 {
        match self.cause {
            Cause::Answered => 0,
            Cause::Arrival | Cause::Sent => self.since.clamp(self.begin, self.end) - self.begin,
        }
    }

    /// Who was late, in a word.
    pub fn word(&self) -> &'static str {
        match self.cause {
            Cause::Arrival if self.late() > 0 => "late sender",
            Cause::Sent if self.late() > 0 => "late receiver",
            _ => "transfer",
        }
    }
}

/// What ranks did and waited for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankTimes {
    /// Operations by job, rank and begin.
    pub operations: Vec<OperationTimes>,
    /// Waits by job, rank and begin.
    pub waits: Vec<WaitTimes>,
    /// Who is in which communicator, by job, part, communicator, group and number.
    pub communicators: Vec<CommunicatorRow>,
    /// What ranks did in which region of a recorded application.
    pub regions: RegionTimesTable,
    /// For each job that is done, what its end depends on, from its begin to its end.
    pub paths: Vec<PathPiece>,
}

impl RankTimes {
    /// Puts what was recorded of a run in order; `ranks` are those of the run by job and number, `stays` the longest of each message.
    pub fn new(
        net: &Network,
        mut operations: Vec<OperationRow>,
        waits: &[WaitRow],
        stays: &Stays,
        ranks: &[RankRow],
    ) -> RankTimes {
        let job_of = |node: u32| net.workload.job_of_ranks(node).map_or(0, |(job, ..)| job);
        operations.sort_unstable_by_key(|row| {
            (
                job_of(row.node),
                row.rank,
                row.begin,
                row.phase,
                row.iteration,
                row.index,
            )
        });
        let times = |(i, row): (usize, &OperationRow)| {
            let job = job_of(row.node);
            let end = match row.end {
                UNTIL_NEXT => {
                    let next = operations.get(i + 1);
                    let next = next.filter(|next| (job_of(next.node), next.rank) == (job, row.rank));
                    next.map_or_else(
                        || finished(ranks, job, row.rank).unwrap_or(row.begin),
                        |next| next.begin,
                    )
                }
                end => end,
            };
            let at = [row.phase, row.iteration, row.index];
            let plan = net.workload.plan_of(job as usize);
            let op = plan.and_then(|plan| plan.op(row.rank, at));
            let (known, received) = plan.map_or((None, 0), |plan| cells::known(plan, row.rank, at, op));
            OperationTimes {
                job,
                rank: row.rank,
                at,
                word: op.map_or("", |op| op.word()),
                op: known,
                received,
                begin: row.begin,
                end,
            }
        };
        let operations: Vec<_> = operations.iter().enumerate().map(times).collect();
        let told = waits.iter().map(|row| (row, wait(row, job_of(row.node), stays)));
        let (arrivals, waits): (Vec<_>, Vec<_>) = told.partition(|(row, _)| row.of_graph != 0);
        let mut waits: Vec<WaitTimes> = waits.into_iter().map(|(_, wait)| wait).collect();
        waits.extend(idle::waits(net, &operations, arrivals, ranks));
        waits.sort_unstable_by_key(|wait| (wait.job, wait.rank, wait.begin, wait.end));
        let mut times = RankTimes {
            operations,
            waits,
            communicators: Vec::new(),
            regions: RegionTimesTable::default(),
            paths: Vec::new(),
        };
        let jobs = ranks.chunk_by(|a, b| a.job == b.job).map(|rows| rows[0].job);
        for job in jobs {
            if let Some(plan) = net.workload.plan_of(job as usize) {
                times.communicators.extend(groups::rows(job, plan));
            }
        }
        times.regions = RegionTimesTable::new(net, &times, ranks);
        times.paths = ranks
            .chunk_by(|a, b| a.job == b.job)
            .flat_map(|job| critical_path(&times, job))
            .collect();
        times
    }
}

/// When a rank came to its end, if it has.
fn finished(ranks: &[RankRow], job: u32, rank: u32) -> Option<u64> {
    let at = ranks
        .binary_search_by_key(&(job, rank), |row| (row.job, row.rank))
        .ok()?;
    ranks[at].is_done().then_some(ranks[at].finished)
}

fn wait(row: &WaitRow, job: u32, stays: &Stays) -> WaitTimes {
    WaitTimes {
        job,
        rank: row.rank,
        peer: row.peer,
        cause: match row.cause {
            1 => Cause::Answered,
            2 => Cause::Sent,
            _ => Cause::Arrival,
        },
        begin: row.begin,
        end: row.end,
        since: row.since,
        held_up: HeldUp::of(row, stays),
    }
}
