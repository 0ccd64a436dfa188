//! Several interfaces per node: how many the hosts of a run have.

use super::run::{RunSpec, Work};

/// What to do about hosts that do not fit the network.
pub(crate) const ONE_ROUTER: &str = "the rails of a host are neighbouring nodes of one router: take a divisor of the nodes per router; \
                                     a network of its own for each rail (several planes) is not simulated";

impl RunSpec {
    /// Rails of a host: those of the first job of ranks or interfaces of a memory node, 1 without any.
    pub fn rails(&self) -> u32 {
        let of = |work: &Work| match work {
            Work::Ranks(ranks) => Some(ranks.mpi.rails.count.max(1)),
            Work::Memory(memory) => Some(memory.interfaces.max(1)),
            _ => None,
        };
        self.jobs.iter().find_map(|job| of(&job.work)).unwrap_or(1)
    }

    /// The first job that has other rails than that, if there is one.
    pub(crate) fn without_rails(&self) -> Option<usize> {
        let rails = self.rails();
        self.jobs.iter().position(|job| match &job.work {
            Work::Ranks(ranks) => ranks.mpi.rails.count.max(1) != rails,
            Work::Memory(memory) => memory.interfaces.max(1) != rails,
            Work::Idle => false,
            _ => rails != 1,
        })
    }
}
