//! `min-random`: a random minimal port at every router.

use super::prelude::*;
use crate::packet::Packet;
use crate::plant::{Plant, Site};
use topo::AnyMinimalRule;

/// `min-random`.
pub struct MinRandom;

impl NamedRouting for MinRandom {
    const LINE: &'static str = "A uniformly random minimal port at every router.";
    const ADAPTIVE: bool = false;
    const DETOURS: Detours = Detours::Never;
    const OVER_A_THIRD_GROUP: bool = false;
    const WITH_FAILURES: WithFailures = WithFailures::GoesRound;

    type Parameters = NoKeys;
    type Ready = RandomNeighbour;

    fn read(_: &OwnValues, _: &mut Findings) -> Option<NoKeys> {
        Some(NoKeys {})
    }

    fn in_time(_: &NoKeys) -> InTime {
        InTime::GoOn
    }

    fn ready(_: &NoKeys, _: &RoutingTerms<'_>, _: &Topology) -> Result<RandomNeighbour, BuildError> {
        Ok(RandomNeighbour)
    }
}

/// A random minimal neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomNeighbour;

impl ReadyRouting for RandomNeighbour {
    fn vcs(&self, topology: &Topology) -> u8 {
        AnyMinimalRule::vcs_of(topology)
    }

    fn rule<'t>(&self, topology: &'t Topology, vcs: u8) -> Box<dyn RoutingRule + 't> {
        Box::new(AnyMinimalRule { topology, vcs })
    }

    #[inline]
    fn next(&self, here: Here<'_>, _: impl FnMut(u32, u8) -> u64) -> Way {
        here.routing.random_neighbour(here.net, here.site, here.packet)
    }

    fn asks_for_cables(&self) -> bool {
        false
    }
}

impl Routing {
    #[inline(never)]
    fn random_neighbour(&self, net: &Plant, site: &Site, packet: &Packet) -> Way {
        let target = net.topology.router_of(packet.destination());
        HOPS.with_borrow_mut(|hops| {
            net.topology.minimal_hops(site.router, target, hops);
            let word = mix(self.seed ^ self.moment(packet, site.router) ^ self.identity(packet));
            let hop = hops
                .get(below(word, hops.len() as u64) as usize)
                .copied()
                .unwrap_or(NO_HOP);
            Way::new(self.cable(site, hop, packet), self.channel_of_hops(packet), 0)
        })
    }
}
