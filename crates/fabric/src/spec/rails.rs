//! Several interfaces per node: how many, and which of them a message takes.

use super::run::{Bytes, RunSpec, Work};
use serde::{Deserialize, Serialize};
use study::choice;

/// What to do about hosts that do not fit the network.
pub(crate) const ONE_ROUTER: &str = "the rails of a host are neighbouring nodes of one router: take a divisor of the nodes per router; \
                                     a network of its own for each rail (several planes) is not simulated";

/// The interfaces of a host. A host of `count` rails is as many nodes of the network, one after the other, at one router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rails {
    /// How many.
    pub count: u32,
    /// Which one a message takes.
    pub policy: RailPolicy,
    /// Messages of more bytes are cut into a part for each rail; `None`: none is.
    pub stripe_above: Option<Bytes>,
}

choice! {
    /// Which rail a message between hosts takes, if it is not cut up.
    #[derive(Default)]
    pub enum RailPolicy {
        #[default]
        LocalRank = "local-rank", "That of the rank, its number on the host modulo the rails; the message arrives at that of the receiver.";
        RoundRobin = "round-robin", "The rails in turn, message by message of a rank, beginning with its own; the message arrives at the same one.";
        LeastLoaded = "least-loaded", "The one with the fewest bytes that have yet to leave; the message arrives at the same one.";
    }
}

impl Default for Rails {
    fn default() -> Self {
        Rails {
            count: 1,
            policy: RailPolicy::LocalRank,
            stripe_above: None,
        }
    }
}

impl Rails {
    /// One interface, which all messages take: what runs were before there were rails, and are named by.
    pub fn is_default(&self) -> bool {
        *self == Rails::default()
    }

    /// Whether a message of so many bytes is cut up.
    #[inline(always)]
    pub fn stripes(&self, bytes: u64) -> bool {
        self.stripe_above.is_some_and(|most| bytes > most.0)
    }
}

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
