//! `scatter`: a random one of the ways up a fat-tree that D-mod-k leaves unused.
//!
//! Below the level where the destination is found every up port leads there, from where the way down is fixed but for parallel
//! cables. Up, then down: one channel keeps it free of deadlock, as it does `adaptive-up`.

use super::prelude::*;
use crate::packet::Packet;
use crate::plant::{Plant, Site};
use topo::AnyMinimalRule;

/// `scatter`.
pub struct Scatter;

/// Refuses what is no fat-tree.
pub(super) fn needs_fat_tree(topology: &Topology) -> Result<(), BuildError> {
    match topology.spec() {
        TopologySpec::FatTree(_) => Ok(()),
        _ => refuse(
            "the ways up need a fat-tree",
            "take \"minimal\", \"min-random\" or \"min-a\", which every topology has",
        ),
    }
}

/// Virtual channels of ways that lead up and then down: one, and one per hop where failures make some turn up again.
pub(super) fn channels_of_ways_up(topology: &Topology) -> u8 {
    match topology.minimal_vcs() {
        1 => 1,
        _ => AnyMinimalRule::vcs_of(topology),
    }
}

impl NamedRouting for Scatter {
    const LINE: &'static str = "A random up port for every packet, whatever its destination; the way down is fixed.";
    const SOURCE: &'static str = "SST/macro, fat-tree";
    const LIMITS: &'static str = "Blind to load.";
    const FITS: Fits = Fits::only(&[TopologyKind::FatTree]);
    const ADAPTIVE: bool = false;
    const DETOURS: Detours = Detours::Never;
    const OVER_A_THIRD_GROUP: bool = false;
    const WITH_FAILURES: WithFailures = WithFailures::GoesRound;

    type Parameters = NoKeys;
    type Ready = RandomUp;

    fn read(_: &OwnValues, _: &mut Findings) -> Option<NoKeys> {
        Some(NoKeys {})
    }

    fn in_time(_: &NoKeys) -> InTime {
        InTime::GoOn
    }

    fn ready(_: &NoKeys, _: &RoutingTerms<'_>, topology: &Topology) -> Result<RandomUp, BuildError> {
        needs_fat_tree(topology)?;
        Ok(RandomUp)
    }
}

/// A random way up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomUp;

impl ReadyRouting for RandomUp {
    fn vcs(&self, topology: &Topology) -> u8 {
        channels_of_ways_up(topology)
    }

    fn rule<'t>(&self, topology: &'t Topology, vcs: u8) -> Box<dyn RoutingRule + 't> {
        Box::new(AnyMinimalRule { topology, vcs })
    }

    #[inline]
    fn next(&self, here: Here<'_>, _: impl FnMut(u32, u8) -> u64) -> Way {
        here.routing.random_up(here.net, here.site, here.packet)
    }

    fn asks_for_cables(&self) -> bool {
        false
    }
}

impl Routing {
    /// A random way up, the way down.
    #[inline(never)]
    fn random_up(&self, net: &Plant, site: &Site, packet: &Packet) -> Way {
        let target = net.topology.router_of(packet.destination());
        HOPS.with_borrow_mut(|hops| {
            net.topology.minimal_hops(site.router, target, hops);
            let word = mix(self.seed ^ self.moment(packet, site.router) ^ self.identity(packet));
            match hops.get(below(word, hops.len() as u64) as usize) {
                Some(&hop) => Way::new(self.cable(site, hop, packet), self.channel_of_hops(packet), 0),
                // The packet would be at its target, which the caller has excluded.
                None => Way::new(0, 0, 0),
            }
        })
    }
}
