//! Who is in which communicator of a job.

use work::ranks::Plan;

/// A rank in a communicator. One of a program may be several groups of ranks that have nothing to do with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommunicatorRow {
    /// The job.
    pub job: u32,
    /// Part of the job's work.
    pub part: u32,
    /// Number of the communicator in the part; 0 has all ranks.
    pub communicator: u32,
    /// The first rank of the group, by which it is known.
    pub group: u32,
    /// Number of the rank in the group.
    pub number: u32,
    /// The rank.
    pub rank: u32,
}

/// The communicators of a job's work, in order; the barrier before it has none.
pub(super) fn rows(job: u32, plan: &Plan) -> Vec<CommunicatorRow> {
    let mut rows = Vec::new();
    for (part, phase) in plan.work() {
        for number in 0..phase.program.n_communicators() as u16 {
            let communicator = phase.program.communicator(number);
            rows.extend((0..plan.ranks).map(|rank| CommunicatorRow {
                job,
                part,
                communicator: number.into(),
                group: communicator.rank(rank, 0),
                number: communicator.number(rank),
                rank,
            }));
        }
    }
    rows.sort_unstable();
    rows
}
