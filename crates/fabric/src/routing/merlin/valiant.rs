//! `merlin-valiant`: on a HyperX over any router but the source's ([`OverAnother`]), on a dragonfly over any third group ([`Dragonfly`]).

use super::Buffers;
use super::dragonfly::{Dragonfly, Rule};
use crate::packet::Packet;
use crate::routing::SECOND_LEG;
use crate::routing::group_links::one_row;
use crate::routing::prelude::*;
use topo::{Came, Step};

/// `merlin-valiant`.
pub struct MerlinValiant;

fn hyperx_or_one_row(topology: &TopologySpec) -> bool {
    matches!(topology, TopologySpec::HyperX(_)) || one_row(topology)
}

impl NamedRouting for MerlinValiant {
    const LINE: &'static str = "`valiant` as in SST Merlin: on a HyperX over any router but the source's, also to its own nodes; on a dragonfly over a third group, by the source's link.";
    const SOURCE: &'static str = "SST Merlin, hyperx and dragonfly, valiant";
    const LIMITS: &'static str = "Blind to load; needs input-queued routers.";
    const FITS: Fits = Fits::only(&[TopologyKind::HyperX, TopologyKind::Dragonfly])
        .which(" with groups of one row", hyperx_or_one_row);
    const ADAPTIVE: bool = false;
    const DETOURS: Detours = Detours::Always;
    const OVER_A_THIRD_GROUP: bool = true;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = NoKeys;
    type Ready = OverAnother;

    fn read(_: &OwnValues, _: &mut Findings) -> Option<NoKeys> {
        Some(NoKeys {})
    }

    fn ready(_: &NoKeys, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<OverAnother, BuildError> {
        if topology.spec().kind() != TopologyKind::HyperX {
            return Ok(OverAnother::Group(Dragonfly::new(Rule::Valiant, terms, topology)?));
        }
        Buffers::of(terms)?;
        Ok(OverAnother::Router)
    }
}

/// Every packet over something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverAnother {
    /// A router, to which it goes whatever lies on the way: its destination's, too.
    Router,
    /// A group.
    Group(Dragonfly),
}

/// The next port in dimension order: the first of parallel ones.
fn in_order(topology: &Topology, at: u32, to: u32) -> u16 {
    topology.minimal_to(at, to, Came::INJECTED, 0).port
}

/// The router that a packet goes over: any but its source's; `None` if there is no other.
fn over(routing: &Routing, topology: &Topology, packet: &Packet) -> Option<u32> {
    let from = topology.router_of(packet.source());
    let others = u64::from(topology.n_routers() - 1);
    let drawn = (others > 0).then(|| below(mix(routing.seed ^ routing.identity(packet)), others) as u32)?;
    Some(drawn + u32::from(drawn >= from))
}

impl ReadyRouting for OverAnother {
    fn vcs(&self, topology: &Topology) -> u8 {
        match self {
            OverAnother::Router => 2,
            OverAnother::Group(dragonfly) => dragonfly.vcs(topology),
        }
    }

    fn rule<'t>(&self, topology: &'t Topology, vcs: u8) -> Box<dyn RoutingRule + 't> {
        match self {
            OverAnother::Router => Box::new(TwoLegs { topology, vcs }),
            OverAnother::Group(dragonfly) => dragonfly.rule(topology, vcs),
        }
    }

    fn next(&self, here: Here<'_>, wait: impl FnMut(u32, u8) -> u64) -> Way {
        if let OverAnother::Group(dragonfly) = self {
            return dragonfly.next(here, wait);
        }
        let (topology, routing, packet) = (&here.net.topology, here.routing, here.packet);
        let (at, to) = (here.site.router, topology.router_of(packet.destination()));
        let first_leg = || over(routing, topology, packet).filter(|&over| over != at);
        let leg = if packet.phase() == SECOND_LEG {
            None
        } else {
            first_leg()
        };
        match leg {
            Some(over) => Way::new(in_order(topology, at, over).into(), 0, 0),
            None if at == to => here.eject(1),
            None => {
                let port = in_order(topology, at, to);
                Way::new(port.into(), 1.min(routing.last_vc), SECOND_LEG)
            }
        }
    }

    fn asks_for_cables(&self) -> bool {
        matches!(self, OverAnother::Group(_))
    }

    fn leads_to_the_node(&self) -> bool {
        true
    }
}

/// All steps of the ways over a router: the state is its number plus one on the first leg, zero on the second.
struct TwoLegs<'t> {
    topology: &'t Topology,
    vcs: u8,
}

impl TwoLegs<'_> {
    fn push(&self, (at, to): (u32, u32), leg: u8, state: u32, out: &mut Vec<Step>) {
        out.push(Step {
            port: in_order(self.topology, at, to),
            vc: leg.min(self.vcs - 1),
            state,
        });
    }
}

impl RoutingRule for TwoLegs<'_> {
    fn vcs(&self) -> usize {
        usize::from(self.vcs)
    }

    fn start(&self, at: u32, _: u32, out: &mut Vec<Step>) {
        let others = (0..self.topology.n_routers()).filter(|&over| over != at);
        others.for_each(|over| self.push((at, over), 0, over + 1, out));
    }

    fn next(&self, at: u32, _: u16, _: u8, state: u32, dst: u32, out: &mut Vec<Step>) {
        let to = self.topology.router_of(dst);
        match state.checked_sub(1).filter(|&over| over != at) {
            Some(over) => self.push((at, over), 0, state, out),
            None if at == to => {}
            None => self.push((at, to), 1, 0, out),
        }
    }

    fn same_for_all_nodes_of_a_router(&self) -> bool {
        true
    }
}
