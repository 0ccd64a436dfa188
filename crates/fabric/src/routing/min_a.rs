//! `min-a`, minimal adaptive: at every router the minimal port with the least waiting before it.
//!
//! The choice is local and greedy (MIN-A of SST Merlin): the router model says how much waits for each
//! candidate, and [`PortChoice`] which of them are as good as each other.

use super::choice::{Equal, PortChoice};
use super::keys::EQUAL;
use super::prelude::*;
use topo::AnyMinimalRule;

/// `min-a`.
pub struct MinA;

/// What is equal to `min-a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EqualSpec {
    /// Which ports are as good as each other; a canonical study leaves the first out.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub equal: Equal,
}

fn first() -> Equal {
    Equal::First
}

fn is_first(equal: &Equal) -> bool {
    *equal == Equal::First
}

impl NamedRouting for MinA {
    const LINE: &'static str = "Minimal adaptive: the minimal port with the least waiting before it at every router, a random one of equal ones.";
    const SOURCE: &'static str = "SST Merlin, MIN-A of its HyperX (with equal = \"first\")";
    const LIMITS: &'static str = "Sees the own router only.";
    const KEYS: &'static [Parameter] = &[EQUAL];
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::Never;
    const OVER_A_THIRD_GROUP: bool = false;
    const WITH_FAILURES: WithFailures = WithFailures::GoesRound;

    type Parameters = EqualSpec;
    type Ready = LeastNeighbour;

    fn read(keys: &OwnValues, _: &mut Findings) -> Option<EqualSpec> {
        Some(EqualSpec {
            equal: keys.choice("equal"),
        })
    }

    fn in_time(_: &EqualSpec) -> InTime {
        InTime::GoOn
    }

    fn ready(parameters: &EqualSpec, terms: &RoutingTerms<'_>, _: &Topology) -> Result<LeastNeighbour, BuildError> {
        Ok(LeastNeighbour(PortChoice {
            equal: parameters.equal,
            bytes: terms.router.named().backlog_is_in_bytes(),
        }))
    }
}

/// The minimal neighbour with the least waiting before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeastNeighbour(PortChoice);

impl ReadyRouting for LeastNeighbour {
    fn vcs(&self, topology: &Topology) -> u8 {
        AnyMinimalRule::vcs_of(topology)
    }

    fn rule<'t>(&self, topology: &'t Topology, vcs: u8) -> Box<dyn RoutingRule + 't> {
        Box::new(AnyMinimalRule { topology, vcs })
    }

    #[inline(always)]
    fn next(&self, here: Here<'_>, wait: impl FnMut(u32, u8) -> u64) -> Way {
        let vc = here.routing.channel_of_hops(here.packet);
        self.0.of_minimal(here, vc, wait)
    }

    fn asks_for_cables(&self) -> bool {
        false
    }
}
