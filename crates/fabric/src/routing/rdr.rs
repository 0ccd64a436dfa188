//! `rdr`, randomised dynamic routing: at every router a random dimension among those not yet finished.

use super::dor::{Tie, TieSpec};
use super::keys::TIE;
use super::prelude::*;
use crate::packet::Packet;
use crate::plant::{Plant, Site};
use topo::AnyMinimalRule;

/// `rdr`.
pub struct Rdr;

impl NamedRouting for Rdr {
    const LINE: &'static str =
        "Randomised dynamic routing: at every router a random dimension among those not yet finished.";
    const SOURCE: &'static str = "Randomised dynamic routing on tori";
    const FITS: Fits = Fits::only(&[TopologyKind::Ring, TopologyKind::Mesh, TopologyKind::Torus]);
    const KEYS: &'static [Parameter] = &[TIE];
    const ADAPTIVE: bool = false;
    const DETOURS: Detours = Detours::Never;
    const OVER_A_THIRD_GROUP: bool = false;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = TieSpec;
    type Ready = RandomDimension;

    fn read(keys: &OwnValues, _: &mut Findings) -> Option<TieSpec> {
        let tie = keys.choice("tie");
        Some(TieSpec { tie })
    }

    fn ready(parameters: &TieSpec, _: &RoutingTerms<'_>, topology: &Topology) -> Result<RandomDimension, BuildError> {
        match topology.lattice_shape() {
            Some(_) => Ok(RandomDimension {
                positive: parameters.tie == Tie::Positive,
            }),
            None => refuse(
                "RDR needs a lattice: ring, mesh, torus or HyperX",
                "take \"min-random\"",
            ),
        }
    }

    fn tie(parameters: &TieSpec) -> Tie {
        parameters.tie
    }
}

/// A random dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomDimension {
    /// Half-way round a ring the positive direction.
    positive: bool,
}

impl ReadyRouting for RandomDimension {
    fn vcs(&self, topology: &Topology) -> u8 {
        AnyMinimalRule::vcs_of(topology)
    }

    fn rule<'t>(&self, topology: &'t Topology, vcs: u8) -> Box<dyn RoutingRule + 't> {
        Box::new(AnyMinimalRule { topology, vcs })
    }

    #[inline]
    fn next(&self, here: Here<'_>, _: impl FnMut(u32, u8) -> u64) -> Way {
        match self.positive {
            true => here.routing.random_dimension(here.net, here.site, here.packet),
            false => here.routing.dimension_with_ties(here.net, here.site, here.packet),
        }
    }

    fn asks_for_cables(&self) -> bool {
        false
    }
}

impl Routing {
    /// A random dimension, in it the way that the topology's ties take.
    #[inline(never)]
    fn dimension_with_ties(&self, net: &Plant, site: &Site, packet: &Packet) -> Way {
        let target = net.topology.router_of(packet.destination());
        let word = mix(self.seed ^ self.moment(packet, site.router) ^ self.identity(packet));
        let pick = |n: u32| below(word, u64::from(n)) as u32;
        let hop = net
            .topology
            .minimal_along(site.router, target, came(site, packet), pick);
        Way::new(self.cable(site, hop, packet), self.channel_of_hops(packet), 0)
    }

    /// A random dimension, half-way round a ring in the positive direction.
    #[inline(never)]
    fn random_dimension(&self, net: &Plant, site: &Site, packet: &Packet) -> Way {
        let target = net.topology.router_of(packet.destination());
        HOPS.with_borrow_mut(|hops| {
            net.topology.minimal_hops(site.router, target, hops);
            let word = mix(self.seed ^ self.moment(packet, site.router) ^ self.identity(packet));
            // Half-way round a ring both directions are minimal: the first listed, the positive one, stands for the dimension.
            let first = |i: usize| i == 0 || hops[i].dim != hops[i - 1].dim;
            let dims = (0..hops.len()).filter(|&i| first(i)).count();
            let pick = below(word, dims as u64) as usize;
            let hop = (0..hops.len()).filter(|&i| first(i)).nth(pick).map(|i| hops[i]);
            let hop = hop.unwrap_or(NO_HOP);
            Way::new(self.cable(site, hop, packet), self.channel_of_hops(packet), 0)
        })
    }
}
