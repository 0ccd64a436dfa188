//! `merlin-doal` and `merlin-vdal`: one scan over the ports that [`Deroute`] allows, each with its weight: `q` of a direct link, `2 q` and a flit
//! of one to another router of the line. The least weight is taken.

use super::Buffers;
use crate::routing::deroute::{Deroute, DerouteOrder, DerouteSpec};
use crate::routing::least::Least;
use crate::routing::prelude::*;

/// One of the two, ready to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scan {
    order: DerouteOrder,
    deroute: Deroute,
    flit: u64,
}

/// The port with the least weight so far, the first of equal ones.
#[derive(Clone, Copy)]
struct LeastPort(u64, Way);

impl LeastPort {
    fn offer(best: &mut Option<LeastPort>, weight: u64, way: Way) {
        let before = |best: &LeastPort| (best.0, best.1.port()) <= (weight, way.port());
        if !best.as_ref().is_some_and(before) {
            *best = Some(LeastPort(weight, way));
        }
    }
}

impl Scan {
    pub(super) fn new(order: DerouteOrder, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<Scan, BuildError> {
        Ok(Scan {
            order,
            deroute: Deroute::new(order, &DerouteSpec::default(), terms, topology)?,
            flit: Buffers::of(terms)?.flit,
        })
    }

    /// Whether the channels that are left are just those that the direct hops take: then `merlin-vdal` is `min-a` with its first of equal ones.
    fn is_minimal_from(&self, hops: u32, unfinished: u32, last_vc: u8) -> bool {
        hops + unfinished > u32::from(last_vc)
    }
}

impl ReadyRouting for Scan {
    fn vcs(&self, topology: &Topology) -> u8 {
        self.deroute.vcs(topology)
    }

    fn rule<'t>(&self, topology: &'t Topology, vcs: u8) -> Box<dyn RoutingRule + 't> {
        self.deroute.rule(topology, vcs)
    }

    fn next(&self, here: Here<'_>, mut wait: impl FnMut(u32, u8) -> u64) -> Way {
        let Here {
            routing,
            net,
            site,
            packet,
        } = here;
        let (at, to) = (site.router, net.topology.router_of(packet.destination()));
        let came = came(site, packet);
        let state = (came, packet.hops(), packet.phase());
        let word = mix(routing.seed ^ routing.moment(packet, at) ^ routing.identity(packet));
        let (mut first, mut drawn) = (None, Least::new(word));
        HOPS.with_borrow_mut(|list| {
            self.deroute.steps(
                &net.topology,
                (at, to),
                state,
                routing.last_vc,
                list,
                |hop, direct, phase| {
                    // A packet of merlin-doal that has just gone round looks at the channel that it came on.
                    let vc = match self.order {
                        DerouteOrder::Dimension => hop.vc.max(came.vc).min(routing.last_vc),
                        _ => hop.vc,
                    };
                    for port in (hop.port..hop.port + hop.links).map(u32::from) {
                        let held = wait(port, vc);
                        let weight = if direct { held } else { 2 * held + self.flit };
                        let way = Way::new(port, hop.vc, phase);
                        LeastPort::offer(&mut first, weight, way);
                        drawn.offer(weight, way);
                    }
                },
            );
            let by_place = self.order == DerouteOrder::Dimension
                || self.is_minimal_from(packet.hops(), list.len() as u32, routing.last_vc);
            let best = match by_place {
                true => first.map(|LeastPort(_, way)| way),
                false => drawn.best().map(|(_, way)| way),
            };
            // Without a port the packet would be at its target, which the caller has excluded.
            best.unwrap_or(Way::new(0, 0, 0))
        })
    }

    fn asks_for_cables(&self) -> bool {
        false
    }

    fn takes_all_channels(&self) -> bool {
        self.deroute.takes_all_channels()
    }
}
