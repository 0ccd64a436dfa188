//! `valiant` (Valiant & Brebner 1981): minimal to a random router, then minimal to the destination, each leg on channels of its own. Over the
//! router of a random node packets go by two legs and nothing else; over a router or a group all take the detours of [`Detour`].

use super::SECOND_LEG;
use super::detour::{Detour, LegsRule, TRIES, Via};
use super::keys::VIA;
use super::prelude::*;
use crate::packet::Packet;
use crate::plant::{Plant, Site};
use topo::{Came, ValiantRule};

/// `valiant`.
pub struct Valiant;

/// Over what Valiant leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViaSpec {
    /// What the packets lead over; a canonical study leaves the router of a random node out.
    #[serde(default = "node", skip_serializing_if = "is_node")]
    pub via: Via,
}

fn node() -> Via {
    Via::Node
}

fn is_node(via: &Via) -> bool {
    *via == Via::Node
}

impl NamedRouting for Valiant {
    const LINE: &'static str = "Minimal routing to a random intermediate router, then on to the destination.";
    const SOURCE: &'static str = "Valiant and Brebner 1981";
    const KEYS: &'static [Parameter] = &[VIA.or("node")];
    const ADAPTIVE: bool = false;
    const DETOURS: Detours = Detours::Always;
    const OVER_A_THIRD_GROUP: bool = true;
    const WITH_FAILURES: WithFailures = WithFailures::GoesRound;

    type Parameters = ViaSpec;
    type Ready = OverRouter;

    fn read(keys: &OwnValues, _: &mut Findings) -> Option<ViaSpec> {
        Some(ViaSpec {
            via: keys.choice("via"),
        })
    }

    fn in_time(_: &ViaSpec) -> InTime {
        InTime::GoOnInLegs(2)
    }

    fn ready(parameters: &ViaSpec, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<OverRouter, BuildError> {
        Ok(match parameters.via {
            Via::Node => OverRouter::OfNode,
            via => OverRouter::Any(Detour::always(via, terms, topology)?),
        })
    }
}

/// Every packet over another router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverRouter {
    /// That of a random node.
    OfNode,
    /// Any one, or one of a third group.
    Any(Detour),
}

impl ReadyRouting for OverRouter {
    fn vcs(&self, topology: &Topology) -> u8 {
        match self {
            OverRouter::OfNode => topology.minimal_vcs().saturating_mul(2),
            OverRouter::Any(detour) => ReadyRouting::vcs(detour, topology),
        }
    }

    fn rule<'t>(&self, topology: &'t Topology, vcs: u8) -> Box<dyn RoutingRule + 't> {
        match self {
            OverRouter::OfNode => Box::new(ValiantRule::new(topology, vcs)),
            OverRouter::Any(detour) => detour.rule(topology, vcs),
        }
    }

    fn next(&self, here: Here<'_>, wait: impl FnMut(u32, u8) -> u64) -> Way {
        match self {
            OverRouter::OfNode => here.routing.two_legs(here.net, here.site, here.packet),
            OverRouter::Any(detour) => here.minimal_or_detour(detour, wait),
        }
    }

    fn asks_for_cables(&self) -> bool {
        match self {
            OverRouter::OfNode => false,
            OverRouter::Any(detour) => detour.asks_for_cables(),
        }
    }

    fn legs<'t>(&self, topology: &'t Topology, vcs: u8) -> Option<LegsRule<'t>> {
        match self {
            OverRouter::OfNode => Some(LegsRule::of_valiant(topology, vcs)),
            OverRouter::Any(detour) => detour.legs(topology, vcs),
        }
    }
}

impl Routing {
    /// Valiant's two legs (Valiant 1982): minimal to a random router, then minimal to the destination, each on its own channels.
    #[inline(never)]
    fn two_legs(&self, net: &Plant, site: &Site, packet: &Packet) -> Way {
        let destination = packet.destination();
        let key = self.key(packet);
        let mut came = came(site, packet);
        if packet.phase() != SECOND_LEG {
            // Uniform over nodes, found again at every hop; those that failures have cut off are passed over.
            let word = mix(self.seed ^ self.identity(packet));
            let drawn_on = net.drawn_on();
            let draw = |attempt: u64| {
                let word = if attempt == 0 { word } else { mix(word ^ attempt) };
                drawn_on.router_of(below(word, u64::from(net.n_nodes())) as u32)
            };
            let via = (0..TRIES)
                .map(draw)
                .find(|&via| drawn_on.are_joined(via, site.router))
                .unwrap_or(site.router);
            if via != site.router && net.can_reach(site.router, via) {
                let hop = net.topology.minimal_to(site.router, via, came, key);
                return Way::new(self.cable(site, hop, packet), hop.vc.min(self.last_vc), 0);
            }
            came = Came::INJECTED;
        } else {
            came.vc -= self.minimal_vcs.min(came.vc);
        }
        let hop = net.topology.minimal(site.router, destination, came, key);
        Way::new(
            self.cable(site, hop, packet),
            (hop.vc + self.minimal_vcs).min(self.last_vc),
            SECOND_LEG,
        )
    }
}
