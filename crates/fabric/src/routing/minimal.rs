//! `minimal`: the topology's own deterministic minimal routing. `dor` and `d-mod-k` are its names on the topologies where it has one.

use super::prelude::*;
use topo::MinimalRule;

/// `minimal`.
pub struct Minimal;

impl NamedRouting for Minimal {
    const LINE: &'static str = "The topology's own deterministic minimal routing.";
    const ADAPTIVE: bool = false;
    const DETOURS: Detours = Detours::Never;
    const OVER_A_THIRD_GROUP: bool = false;
    const WITH_FAILURES: WithFailures = WithFailures::GoesRound;

    type Parameters = NoKeys;
    type Ready = OwnMinimal;

    fn read(_: &OwnValues, _: &mut Findings) -> Option<NoKeys> {
        Some(NoKeys {})
    }

    fn in_time(_: &NoKeys) -> InTime {
        InTime::GoOn
    }

    fn ready(_: &NoKeys, _: &RoutingTerms<'_>, _: &Topology) -> Result<OwnMinimal, BuildError> {
        Ok(OwnMinimal)
    }
}

/// The topology's own minimal routing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnMinimal;

impl ReadyRouting for OwnMinimal {
    fn vcs(&self, topology: &Topology) -> u8 {
        topology.minimal_vcs()
    }

    fn rule<'t>(&self, topology: &'t Topology, vcs: u8) -> Box<dyn RoutingRule + 't> {
        Box::new(MinimalRule::new(topology).limited_to(vcs))
    }

    /// Where packets are many, [`Routing::next`] goes past this.
    #[inline(never)]
    fn next(&self, here: Here<'_>, _: impl FnMut(u32, u8) -> u64) -> Way {
        here.routing.minimal(here.net, here.site, here.packet)
    }

    fn asks_for_cables(&self) -> bool {
        false
    }

    fn is_minimal(&self) -> bool {
        true
    }

    /// It draws one of several cables, and what the topology leaves to a key.
    fn draws(&self, topology: &Topology) -> bool {
        topology.key_classes().len() > 1 || has_parallel_cables(topology)
    }
}

/// Whether two cables join the same two routers.
fn has_parallel_cables(topology: &Topology) -> bool {
    (0..topology.n_routers()).any(|router| {
        let mut peers = Vec::new();
        topology.see_cables(router, |peer, _, _| peers.push(peer));
        peers.sort_unstable();
        peers.windows(2).any(|pair| pair[0] == pair[1])
    })
}
