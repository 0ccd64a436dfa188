//! `doal`, `dal`, `vdal`: detours within the dimensions of a HyperX, decided at every router from its own queues.
//!
//! In a dimension where a packet is not yet at its coordinate, any neighbour along it is one hop from that coordinate again. So a packet
//! goes to its coordinate directly, or takes a detour of one hop more over any other neighbour, as [`Weigh`] decides between the direct
//! link with the least wait and the detour with the least wait, random among equal ones.
//!
//! * `doal`, dimension order: only in the first dimension that is not finished, one detour in each. Detours are on channel 1,
//!   all other hops on channel 0, so that channels are used in the order of (dimension, detour before direct).
//! * `vdal`: in any dimension, no two detours in a row in one. The channel counts the hops; a detour is taken as long as
//!   enough channels are left for the direct hops.
//! * `dal` (Ahn et al. 2009): in any dimension, one detour in each; the phase has a bit for each dimension. These hops are on channel 1,
//!   and only where a packet need wait for the link alone ([`Sense::reserve`]). Where no direct hop has room there, the direct hop is one
//!   in dimension order on channel 0, the escape channel; a packet that is there goes on there to the end.

use super::RoutingTerms;
use super::algorithm::{Here, ReadyRouting, Way, refuse};
use super::keys::{BIAS, CONGESTION, PER, RATIO, THRESHOLD, WEIGH_HOPS, defaults};
use super::least::Least;
use super::weigh::{Congestion, Per};
use super::weigh::{Sense, Weigh};
use super::{HOPS, Routing, came};
use crate::packet::Packet;
use crate::plant::{Plant, Site};
use des::mix;
use serde::{Deserialize, Serialize};
use study::Bytes;
use study::Parameter;
use study::owned::OwnValues;
use topo::{Came, Hop, HopList, MinimalRule, RoutingRule, Step, Topology, TopologySpec};
use work::build_error::BuildError;

/// Dimensions that a phase has bits for.
const MOST_DIMENSIONS: usize = 4;
/// The channel of `dal` in dimension order.
const ESCAPE: u8 = 0;

/// Keys of all three.
pub(super) const DEROUTE_KEYS: &[Parameter] = &[CONGESTION, PER, WEIGH_HOPS, RATIO, BIAS, THRESHOLD];

/// When a packet on a HyperX takes a detour within a dimension: directly if `q_min <= threshold` or `q_min <= 2 ratio q_via + bias`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DerouteSpec {
    /// What counts as waiting.
    pub congestion: Congestion,
    /// Whose waiting counts.
    pub per: Per,
    /// A detour's waiting is doubled, for its two hops; else both count once.
    pub weigh_hops: bool,
    /// Factor on the detour's side, in thousandths where it is used.
    pub ratio: f64,
    /// Added to the detour's side, as time at the bandwidth of the direct link.
    pub bias: Bytes,
    /// Up to this much the direct link is taken whatever waits on others.
    pub threshold: Bytes,
}

impl Default for DerouteSpec {
    fn default() -> Self {
        defaults::<super::doal::Doal>()
    }
}

impl DerouteSpec {
    pub(super) fn read(keys: &OwnValues) -> DerouteSpec {
        DerouteSpec {
            congestion: keys.choice("congestion"),
            per: keys.choice("per"),
            weigh_hops: keys.flag("weigh_hops"),
            ratio: keys.number("ratio"),
            bias: Bytes(keys.quantity("bias")),
            threshold: Bytes(keys.quantity("threshold")),
        }
    }
}

/// In which dimensions, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DerouteOrder {
    /// `doal`.
    Dimension,
    /// `vdal`.
    Channels,
    /// `dal`.
    Escape,
}

/// One of the three, ready to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deroute {
    order: DerouteOrder,
    sense: Sense,
    weigh: Weigh,
}

impl Deroute {
    /// Checks the parameters against the network and the router model.
    pub(super) fn new(
        order: DerouteOrder,
        deroute: &DerouteSpec,
        terms: &RoutingTerms<'_>,
        topology: &Topology,
    ) -> Result<Deroute, BuildError> {
        let TopologySpec::HyperX(lattice) = topology.spec() else {
            return refuse(
                "detours within a dimension need a HyperX, where all routers of a line are neighbours",
                "take \"ugal\" or \"par\", which every topology has",
            );
        };
        let bounded = terms.router.has_bounded_buffers();
        if order == DerouteOrder::Escape {
            if lattice.shape.len() > MOST_DIMENSIONS {
                return refuse(
                    "DAL keeps a bit for each dimension in the packet, four at most",
                    "take \"vdal\" or \"doal\"",
                );
            }
            if bounded && terms.router.named().commits_before_room() {
                return refuse(
                    "input-queued routers choose a packet's output before it has room there, so it could wait for other packets outside the escape channel",
                    "take \"vdal\" or \"doal\", or router.architecture = \"voq\"",
                );
            }
        }
        let mut sense = Sense::new(deroute.congestion, deroute.per, terms)?;
        sense.reserve = order == DerouteOrder::Escape && bounded;
        Ok(Deroute {
            order,
            sense,
            weigh: Weigh::new(deroute.weigh_hops, deroute.ratio, deroute.bias, deroute.threshold),
        })
    }

    /// Every step that a packet may take at a router: `offer(hop, direct, phase)`.
    pub(super) fn steps(
        &self,
        topology: &Topology,
        (at, to): (u32, u32),
        (came, hops, phase): (Came, u32, u8),
        last_vc: u8,
        list: &mut HopList,
        mut offer: impl FnMut(Hop, bool, u8),
    ) {
        topology.minimal_hops(at, to, list);
        let unfinished = list.len() as u32;
        for direct in list.iter() {
            let Some(line) = topology.line(usize::from(direct.dim)) else {
                continue;
            };
            // A packet that came along a dimension which is not finished has taken a detour in it.
            let detoured = line.has(came.port);
            let (vc, detour_vc, allowed, phase_behind) = match self.order {
                DerouteOrder::Dimension => (0, 1, !detoured, phase),
                DerouteOrder::Channels => {
                    let vc = hops.min(u32::from(last_vc)) as u8;
                    (vc, vc, !detoured && hops + unfinished <= u32::from(last_vc), phase)
                }
                DerouteOrder::Escape => (1, 1, phase >> direct.dim & 1 == 0, phase | 1 << direct.dim),
            };
            let on = |hop: Hop, vc: u8| Hop {
                vc: vc.min(last_vc),
                ..hop
            };
            offer(on(*direct, vc), true, phase);
            if allowed {
                let others = line.hops().filter(|hop| hop.port != direct.port);
                others.for_each(|hop| offer(on(hop, detour_vc), false, phase_behind));
            }
            if self.order == DerouteOrder::Dimension {
                return;
            }
        }
    }
}

impl ReadyRouting for Deroute {
    fn vcs(&self, topology: &Topology) -> u8 {
        match self.order {
            DerouteOrder::Dimension | DerouteOrder::Escape => 2,
            DerouteOrder::Channels => topology.diameter().saturating_mul(2).clamp(1, 255) as u8,
        }
    }

    fn rule<'t>(&self, topology: &'t Topology, vcs: u8) -> Box<dyn RoutingRule + 't> {
        match self.escapes() {
            // No packet waits for another one outside the escape channel, and there it follows dimension order from any router.
            true => Box::new(MinimalRule::new(topology)),
            false => Box::new(DerouteRule::new(*self, topology, vcs)),
        }
    }

    #[inline]
    fn next(&self, here: Here<'_>, wait: impl FnMut(u32, u8) -> u64) -> Way {
        here.routing.deroute(self, here.net, here.site, here.packet, wait)
    }

    fn sense(&self) -> Option<Sense> {
        Some(self.sense)
    }

    fn asks_for_cables(&self) -> bool {
        false
    }

    /// A packet may leave its channels for others at every router, and stays there.
    fn escapes(&self) -> bool {
        self.order == DerouteOrder::Escape
    }

    /// `vdal` takes a detour wherever channels are left for it.
    fn takes_all_channels(&self) -> bool {
        self.order == DerouteOrder::Channels
    }
}

impl Routing {
    /// The next output: (local port, virtual channel, phase). `wait(local port, virtual channel)` is in ps.
    #[inline(never)]
    pub(super) fn deroute(
        &self,
        deroute: &Deroute,
        net: &Plant,
        site: &Site,
        packet: &Packet,
        mut wait: impl FnMut(u32, u8) -> u64,
    ) -> Way {
        let (at, to) = (site.router, net.topology.router_of(packet.destination()));
        let (came, phase) = (came(site, packet), packet.phase());
        let word = mix(self.seed ^ self.moment(packet, at) ^ self.identity(packet));
        let on_escape = self.last_vc == ESCAPE || (came.port != Came::NONE && came.vc == ESCAPE);
        if deroute.escapes() && on_escape {
            return self.escape(net, site, packet, word, &mut wait).1;
        }
        HOPS.with_borrow_mut(|list| {
            let mut least = |directly: bool, word: u64, wait: &mut dyn FnMut(u32, u8) -> u64| {
                let mut least = Least::new(word);
                let state = (came, packet.hops(), phase);
                deroute.steps(
                    &net.topology,
                    (at, to),
                    state,
                    self.last_vc,
                    list,
                    |hop, direct, phase| {
                        if direct == directly {
                            least.offer_cables(hop, phase, &mut *wait);
                        }
                    },
                );
                least.best()
            };
            let direct = least(true, word, &mut wait);
            // A direct hop without room on its channel is made on the escape channel.
            let (q, way) = direct.unwrap_or_else(|| self.escape(net, site, packet, word, &mut wait));
            let time_of = |bytes: u64| {
                let peer = &net.peers[(site.port + way.port()) as usize];
                net.classes[usize::from(peer.class())].time_of(bytes)
            };
            if deroute.weigh.settled(q, time_of) {
                return way;
            }
            let Some((q_via, detour)) = least(false, mix(word), &mut wait) else {
                return way;
            };
            let (direct, via) = (deroute.weigh.cost(q, 1), deroute.weigh.cost(q_via, 2));
            match deroute.weigh.keeps(direct, via, time_of) {
                true => way,
                false => detour,
            }
        })
    }

    /// Dimension order on the escape channel, on the parallel cable with the least wait.
    fn escape(
        &self,
        net: &Plant,
        site: &Site,
        packet: &Packet,
        word: u64,
        wait: &mut impl FnMut(u32, u8) -> u64,
    ) -> (u64, Way) {
        let hop = net
            .topology
            .minimal(site.router, packet.destination(), Came::INJECTED, 0);
        let mut least = Least::new(word);
        least.offer_cables(Hop { vc: ESCAPE, ..hop }, packet.phase(), wait);
        least
            .best()
            .unwrap_or((0, Way::new(hop.port.into(), ESCAPE, packet.phase())))
    }
}

/// Every step of `doal` and `vdal`, and of `dal` but for its escape. The state is the number of hops, or the phase, or nothing.
pub(super) struct DerouteRule<'t> {
    deroute: Deroute,
    topology: &'t Topology,
    vcs: u8,
}

impl<'t> DerouteRule<'t> {
    pub(super) fn new(deroute: Deroute, topology: &'t Topology, vcs: u8) -> Self {
        DerouteRule { deroute, topology, vcs }
    }

    fn push(&self, at: u32, dst: u32, came: Came, state: u32, out: &mut Vec<Step>) {
        let (hops, phase) = match self.deroute.order {
            DerouteOrder::Dimension => (0, 0),
            DerouteOrder::Channels => (state, 0),
            DerouteOrder::Escape => (0, state as u8),
        };
        let to = self.topology.router_of(dst);
        let (list, last_vc) = (&mut HopList::new(), self.vcs - 1);
        let state = (came, hops, phase);
        self.deroute
            .steps(self.topology, (at, to), state, last_vc, list, |hop, _, phase| {
                let state = match self.deroute.order {
                    DerouteOrder::Dimension => 0,
                    DerouteOrder::Channels => hops + 1,
                    DerouteOrder::Escape => u32::from(phase),
                };
                out.extend((0..hop.links).map(|k| Step {
                    port: hop.port + k,
                    vc: hop.vc,
                    state,
                }));
            });
    }
}

impl RoutingRule for DerouteRule<'_> {
    fn vcs(&self) -> usize {
        usize::from(self.vcs)
    }

    fn start(&self, at: u32, dst: u32, out: &mut Vec<Step>) {
        self.push(at, dst, Came::INJECTED, 0, out);
    }

    fn next(&self, at: u32, port: u16, vc: u8, state: u32, dst: u32, out: &mut Vec<Step>) {
        self.push(at, dst, Came { port, vc }, state, out);
    }

    fn hop_bound(&self, at: u32, dst: u32) -> Option<u32> {
        let distance = self.topology.distance(at, self.topology.router_of(dst));
        Some(match self.deroute.order {
            DerouteOrder::Channels => distance.max(u32::from(self.vcs)),
            _ => 2 * distance,
        })
    }

    fn same_for_all_nodes_of_a_router(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::plain;
    use topo::{Lattice, verify_routes};

    #[test]
    fn every_way_of_every_packet_arrives_within_two_hops_a_dimension() {
        for shape in [&[5][..], &[4, 3], &[3, 1, 2, 3]] {
            let lattice = Lattice {
                shape: shape.to_vec(),
                width: vec![2; shape.len()],
                nodes_per_router: 1,
            };
            let spec = plain(TopologySpec::HyperX(lattice));
            let topology = spec.topology.build().unwrap();
            for order in [DerouteOrder::Dimension, DerouteOrder::Channels, DerouteOrder::Escape] {
                let deroute = Deroute::new(order, &DerouteSpec::default(), &spec.routing_terms(), &topology).unwrap();
                let vcs = deroute.vcs(&topology);
                let report = verify_routes(&topology, &DerouteRule::new(deroute, &topology, vcs), u64::MAX);
                let report = report.unwrap_or_else(|fault| panic!("{order:?} on {shape:?}: {fault}"));
                assert!(report.all_pairs);
                // A line of two has no third router to go over.
                let detours = shape.iter().filter(|&&size| size > 2).count() as u32;
                let most = topology.diameter() + detours;
                match order {
                    // No two in a row in one dimension, but in turns.
                    DerouteOrder::Channels => assert!((most..=2 * topology.diameter()).contains(&report.longest)),
                    _ => assert_eq!(report.longest, most, "{order:?} on {shape:?}"),
                }
            }
        }
    }

    #[test]
    fn doal_comes_to_its_coordinate_on_channel_0_and_leaves_the_way_on_channel_1() {
        let lattice = Lattice {
            shape: vec![4, 4],
            width: vec![1, 1],
            nodes_per_router: 1,
        };
        let spec = plain(TopologySpec::HyperX(lattice));
        let topology = spec.topology.build().unwrap();
        let deroute = Deroute::new(
            DerouteOrder::Dimension,
            &DerouteSpec::default(),
            &spec.routing_terms(),
            &topology,
        )
        .unwrap();
        let rule = DerouteRule::new(deroute, &topology, 2);
        let steps = |at: u32, came: Came| {
            let mut out = Vec::new();
            rule.push(at, 15, came, 0, &mut out);
            out.iter().map(|step| (step.port, step.vc)).collect::<Vec<_>>()
        };
        // Along x to coordinate 3, directly by port 2.
        assert_eq!(steps(0, Came::INJECTED), [(2, 0), (0, 1), (1, 1)]);
        // At coordinate 1 after a detour: port 0 leads back, port 2 on.
        assert_eq!(steps(1, Came { port: 0, vc: 1 }), [(2, 0)]);
        // Along y, whatever happened along x.
        assert_eq!(steps(3, Came { port: 1, vc: 0 }), [(5, 0), (3, 1), (4, 1)]);
    }
}
