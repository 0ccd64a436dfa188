//! `booksim-ugal`: on a flattened butterfly minimal or over a random router, by used credits of the first ports times hops; on a dragonfly over
//! the router of a random node ([`DragonflyWays`]).
//!
//! The router that a detour leads over lies anywhere in the dimensions in which source and destination differ, and where both are in the others.

use super::dragonfly::DragonflyWays;
use crate::plant::Plant;
use crate::routing::SECOND_LEG;
use crate::routing::prelude::*;
use topo::{Came, Hop, Step};

/// `booksim-ugal`.
pub struct BooksimUgal;

impl NamedRouting for BooksimUgal {
    const LINE: &'static str = "On a HyperX minimal if hops times used credits are no more than those of a random detour plus two flits, a half of the channels for each leg; on a dragonfly if used credits are no more than twice a detour's plus 30 flits.";
    const SOURCE: &'static str = "BookSim2, ugal_flatfly_onchip, ugal_dragonflynew";
    const LIMITS: &'static str = "Sees the own router only. On a dragonfly three channels are those of BookSim2, which can deadlock; with four it cannot.";
    const FITS: Fits = Fits::only(&[TopologyKind::HyperX, TopologyKind::Dragonfly]);
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::WhereQueuesAreLong;
    const OVER_A_THIRD_GROUP: bool = false;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = NoKeys;
    type Ready = LeastUsed;

    fn read(_: &OwnValues, _: &mut Findings) -> Option<NoKeys> {
        Some(NoKeys {})
    }

    fn ready(_: &NoKeys, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<LeastUsed, BuildError> {
        let flit = terms.router.named().flit(terms.router);
        if topology.spec().kind() == TopologyKind::Dragonfly {
            return Ok(LeastUsed::Dragonfly(DragonflyWays::new(Some(flit), topology)?));
        }
        let Some(shape) = topology.lattice_shape().filter(|_| topology.line(0).is_some()) else {
            return refuse(
                "it goes by the lines of a HyperX",
                "take \"ugal\", which every topology has",
            );
        };
        Ok(LeastUsed::HyperX(OverTheDifference { shape, flit }))
    }
}

/// Minimal, or a detour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeastUsed {
    /// Over a router that differs from both ends where they differ.
    HyperX(OverTheDifference),
    /// Over the router of a node.
    Dragonfly(DragonflyWays),
}

impl ReadyRouting for LeastUsed {
    fn vcs(&self, topology: &Topology) -> u8 {
        match self {
            LeastUsed::HyperX(_) => 2,
            LeastUsed::Dragonfly(ways) => ways.vcs(topology),
        }
    }

    fn rule<'t>(&self, topology: &'t Topology, vcs: u8) -> Box<dyn RoutingRule + 't> {
        match self {
            LeastUsed::HyperX(_) => Box::new(OneOrTwoLegs {
                topology,
                shape: topology.lattice_shape().unwrap_or_default(),
                vcs,
            }),
            LeastUsed::Dragonfly(ways) => ways.rule(topology, vcs),
        }
    }

    fn next(&self, here: Here<'_>, wait: impl FnMut(u32, u8) -> u64) -> Way {
        match self {
            LeastUsed::HyperX(ways) => ways.next(here, wait),
            LeastUsed::Dragonfly(ways) => ways.next(here, wait),
        }
    }

    fn asks_for_cables(&self) -> bool {
        false
    }

    fn leads_to_the_node(&self) -> bool {
        matches!(self, LeastUsed::Dragonfly(_))
    }

    fn draws_channels(&self) -> bool {
        matches!(self, LeastUsed::Dragonfly(_))
    }
}

/// Minimal, or over a router that differs from both ends where they differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverTheDifference {
    /// Routers along each dimension.
    shape: Vec<u32>,
    /// Bytes of a flit.
    flit: u32,
}

/// Routing phase of a packet on the first of two legs.
const FIRST_LEG: u8 = 2;

/// Dimension order from one router to another.
fn in_order(topology: &Topology, at: u32, to: u32) -> Hop {
    topology.minimal_to(at, to, Came::INJECTED, 0)
}

impl OverTheDifference {
    /// The router of a detour.
    fn over(&self, from: u32, to: u32, word: u64) -> u32 {
        let (mut over, mut stride) = (0, 1);
        for (dim, &size) in (0u64..).zip(&self.shape) {
            let (a, b) = (from / stride % size, to / stride % size);
            let drawn = below(mix(word ^ dim.wrapping_mul(0x9E37_79B9_7F4A_7C15)), u64::from(size)) as u32;
            over += stride * if a == b { a } else { drawn };
            stride *= size;
        }
        over
    }

    /// Whether the minimal way is taken.
    fn is_minimal_better(
        &self,
        net: &Plant,
        here: &Here<'_>,
        (over, to): (u32, u32),
        wait: &mut impl FnMut(u32, u8) -> u64,
    ) -> bool {
        let (topology, at) = (&net.topology, here.site.router);
        let hops = |a: u32, b: u32| u64::from(topology.distance(a, b));
        let mut used = |to: u32| {
            let port = u32::from(in_order(topology, at, to).port);
            (port, wait(port, 0))
        };
        let ((port, direct), (_, detour)) = (used(to), used(over));
        let class = net.peers[(here.site.port + port) as usize].class();
        let two_flits = net.classes[usize::from(class)].time_of(2 * u64::from(self.flit));
        hops(at, to) * direct <= (hops(at, over) + hops(over, to)) * detour + two_flits
    }
}

impl OverTheDifference {
    /// See [`ReadyRouting::next`].
    fn next(&self, here: Here<'_>, mut wait: impl FnMut(u32, u8) -> u64) -> Way {
        let (net, routing, site, packet) = (here.net, here.routing, here.site, here.packet);
        let topology = &net.topology;
        let (at, to) = (site.router, topology.router_of(packet.destination()));
        let from = topology.router_of(packet.source());
        let over = || self.over(from, to, mix(routing.seed ^ routing.identity(packet)));
        let is_new = packet.port() >= site.net;
        let leg = match packet.phase() {
            FIRST_LEG => Some(over()).filter(|&over| over != at),
            _ if is_new => {
                Some(over()).filter(|&over| over != at && !self.is_minimal_better(net, &here, (over, to), &mut wait))
            }
            _ => None,
        };
        let (hop, class, phase) = match leg {
            Some(over) => (in_order(topology, at, over), 0, FIRST_LEG),
            None => (in_order(topology, at, to), 1, SECOND_LEG),
        };
        let cable = routing.one_of(site, hop.port.into(), hop.links.into(), packet);
        Way::new(cable, class.min(routing.last_vc), phase)
    }
}

/// All ways: the state is the router that a packet is on its way over plus one, or zero.
struct OneOrTwoLegs<'t> {
    topology: &'t Topology,
    shape: Vec<u32>,
    vcs: u8,
}

impl OneOrTwoLegs<'_> {
    fn push(&self, (at, to): (u32, u32), leg: u8, state: u32, out: &mut Vec<Step>) {
        let hop = in_order(self.topology, at, to);
        out.extend((0..hop.links).map(|cable| Step {
            port: hop.port + cable,
            vc: leg.min(self.vcs - 1),
            state,
        }));
    }

    /// Whether a detour between two routers may lead over a third.
    fn may_lead_over(&self, over: u32, from: u32, to: u32) -> bool {
        let mut stride = 1;
        self.shape.iter().all(|&size| {
            let of = |router: u32| router / stride % size;
            let (a, b, c) = (of(from), of(to), of(over));
            stride *= size;
            a != b || a == c
        })
    }
}

impl RoutingRule for OneOrTwoLegs<'_> {
    fn vcs(&self) -> usize {
        usize::from(self.vcs)
    }

    fn start(&self, at: u32, dst: u32, out: &mut Vec<Step>) {
        let to = self.topology.router_of(dst);
        if at == to {
            return;
        }
        self.push((at, to), 1, 0, out);
        (0..self.topology.n_routers())
            .filter(|&over| over != at && self.may_lead_over(over, at, to))
            .for_each(|over| self.push((at, over), 0, over + 1, out));
    }

    fn next(&self, at: u32, _: u16, _: u8, state: u32, dst: u32, out: &mut Vec<Step>) {
        let to = self.topology.router_of(dst);
        if at == to {
            return;
        }
        match state.checked_sub(1).filter(|&over| over != at) {
            Some(over) => self.push((at, over), 0, state, out),
            None => self.push((at, to), 1, 0, out),
        }
    }

    fn same_for_all_nodes_of_a_router(&self) -> bool {
        true
    }
}
