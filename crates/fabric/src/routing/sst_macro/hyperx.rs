//! `macro-par` on a HyperX of three dimensions: at every hop before a detour coordinates are drawn in all dimensions that are not finished, and the
//! port of the first of them is held against the minimal one. A detour goes to the point with all drawn coordinates, then to the destination, both in
//! the order of dimensions, without a further test.

use super::draw::ClockDraws;
use super::queue::PacketQueue;
use crate::routing::prelude::*;
use topo::{Came, Step};

const DIMENSIONS: usize = 3;

/// Phase of a packet that has passed the point of its detour; before that, the hops made when it was drawn, plus one.
const BACK: u8 = 4;

/// The routing, ready to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JointDetour {
    queue: PacketQueue,
    shape: [u32; DIMENSIONS],
    strides: [u32; DIMENSIONS],
}

impl JointDetour {
    pub(super) fn new(
        clock: Option<ClockDraws>,
        terms: &RoutingTerms<'_>,
        topology: &Topology,
    ) -> Result<JointDetour, BuildError> {
        if clock.is_some() {
            let reason = "a packet has no room for the point that it drew";
            let hint = "leave it away here; dragonflies and dragonfly+ have it";
            return Err(BuildError::field("routing.draw", reason, Some(hint)));
        }
        match Self::on(PacketQueue::of(terms), topology) {
            Some(detour) => Ok(detour),
            None => refuse(
                "its detours are made for a HyperX of three dimensions",
                "take \"par\", which every topology has",
            ),
        }
    }

    fn on(queue: PacketQueue, topology: &Topology) -> Option<JointDetour> {
        let shape = match topology.spec() {
            TopologySpec::HyperX(lattice) => lattice.shape[..].try_into().ok()?,
            _ => return None,
        };
        let of = |dim: usize| topology.shifted(0, dim, 1).filter(|&router| router > 0).unwrap_or(1);
        Some(JointDetour {
            queue,
            shape,
            strides: [of(0), of(1), of(2)],
        })
    }

    /// Whether a router is one that a packet may draw: it differs from where it is in each dimension that is not finished, and in no other.
    fn may_draw(&self, point: u32, at: u32, to: u32) -> bool {
        (0..DIMENSIONS).all(|dim| {
            let own = self.coordinate(at, dim);
            (self.coordinate(point, dim) == own) == (self.coordinate(to, dim) == own)
        })
    }

    fn coordinate(&self, router: u32, dim: usize) -> u32 {
        router / self.strides[dim] % self.shape[dim]
    }

    /// The point that a packet between two routers draws when it has made so many hops on its minimal way: any other coordinate in each dimension
    /// that is not finished then.
    fn point(&self, word: u64, from: u32, to: u32, hops: u32) -> u32 {
        let word = mix(word ^ u64::from(hops));
        let mut finished = 0;
        (0..DIMENSIONS).fold(0, |point, dim| {
            let (own, wanted) = (self.coordinate(from, dim), self.coordinate(to, dim));
            let coordinate = match own == wanted {
                true => own,
                // One hop finishes a dimension, the lowest first.
                false if finished < hops => {
                    finished += 1;
                    wanted
                }
                false => {
                    let drawn = below(mix(word ^ dim as u64), u64::from(self.shape[dim] - 1)) as u32;
                    drawn + u32::from(drawn >= own)
                }
            };
            point + coordinate * self.strides[dim]
        })
    }
}

impl ReadyRouting for JointDetour {
    /// A channel for every hop: three to the point, three from it.
    fn vcs(&self, topology: &Topology) -> u8 {
        (2 * topology.diameter()).clamp(1, 6) as u8
    }

    fn rule<'t>(&self, topology: &'t Topology, vcs: u8) -> Box<dyn RoutingRule + 't> {
        Box::new(JointSteps {
            // A smaller network of the kind may stand for the run's.
            detour: Self::on(self.queue, topology).unwrap_or(*self),
            topology,
            vcs,
        })
    }

    fn next(&self, here: Here<'_>, mut wait: impl FnMut(u32, u8) -> u64) -> Way {
        let Here {
            routing,
            net,
            site,
            packet,
        } = here;
        let topology = &net.topology;
        let (at, from) = (site.router, topology.router_of(packet.source()));
        let to = topology.router_of(packet.destination());
        let word = mix(routing.seed ^ routing.identity(packet));
        let vc = routing.channel_of_hops(packet);
        let port_to = |router: u32| {
            let hop = topology.minimal_to(at, router, Came::INJECTED, 0);
            routing.cable(site, hop, packet)
        };
        let phase = packet.phase();
        if phase == BACK {
            return Way::new(port_to(to), vc, BACK);
        }
        if let Some(hops) = phase.checked_sub(1) {
            let point = self.point(word, from, to, hops.into());
            let (next, phase) = if at == point { (to, BACK) } else { (point, phase) };
            return Way::new(port_to(next), vc, phase);
        }
        let (minimal, point) = (port_to(to), self.point(word, from, to, packet.hops()));
        let round = port_to(point);
        let mut seen = self.queue.seen(&here, &mut wait);
        match round == minimal || seen.at(minimal) <= 2 * seen.at(round) {
            true => Way::new(minimal, vc, 0),
            false => Way::new(round, vc, 1 + packet.hops().min(2) as u8),
        }
    }

    fn sense(&self) -> Option<Sense> {
        Some(self.queue.sense())
    }

    fn asks_for_cables(&self) -> bool {
        false
    }
}

/// All steps, for the proof. State: zero on the minimal way, the point plus one on the way to it,
/// then [`FROM_POINT`].
struct JointSteps<'t> {
    detour: JointDetour,
    topology: &'t Topology,
    vcs: u8,
}

const FROM_POINT: u32 = u32::MAX;

impl JointSteps<'_> {
    fn along(&self, at: u32, to: u32, (vc, state): (u8, u32), out: &mut Vec<Step>) {
        if at == to {
            return;
        }
        let hop = self.topology.minimal_to(at, to, Came::INJECTED, 0);
        out.extend((hop.port..hop.port + hop.links).map(|port| Step {
            port,
            vc: vc.min(self.vcs - 1),
            state,
        }));
    }

    fn undecided(&self, at: u32, to: u32, vc: u8, out: &mut Vec<Step>) {
        self.along(at, to, (vc, 0), out);
        let points = (0..self.topology.n_routers()).filter(|&point| self.detour.may_draw(point, at, to));
        points.for_each(|point| self.along(at, point, (vc, point + 1), out));
    }
}

impl RoutingRule for JointSteps<'_> {
    fn vcs(&self) -> usize {
        usize::from(self.vcs)
    }

    fn start(&self, at: u32, dst: u32, out: &mut Vec<Step>) {
        let to = self.topology.router_of(dst);
        if at != to {
            self.undecided(at, to, 0, out);
        }
    }

    fn next(&self, at: u32, _port: u16, vc: u8, state: u32, dst: u32, out: &mut Vec<Step>) {
        let to = self.topology.router_of(dst);
        if at == to {
            return;
        }
        let next = vc + 1;
        match state.checked_sub(1) {
            None => self.undecided(at, to, next, out),
            Some(point) if state != FROM_POINT && point != at => self.along(at, point, (next, state), out),
            _ => self.along(at, to, (next, FROM_POINT), out),
        }
    }

    /// Twice the dimensions.
    fn hop_bound(&self, _: u32, _: u32) -> Option<u32> {
        Some(2 * DIMENSIONS as u32)
    }

    fn same_for_all_nodes_of_a_router(&self) -> bool {
        true
    }
}
