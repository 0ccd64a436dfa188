//! `min-adaptive` (Duato 1993): any minimal port where there is room on the adaptive channel, else dimension order on the channels below it, to
//! which a packet escapes and where it stays.
//!
//! A packet takes the adaptive channel only where it need wait for the link alone ([`Sense::reserve`]), so that whatever waits for room waits
//! for an escape channel. Routers with buffers per output channel ask for any of the ways, the escape included, until one is given.

use super::SenseSpec;
use super::algorithm::Offer;
use super::choice::PortChoice;
use super::keys::{CONGESTION, EQUAL, PER};
use super::prelude::*;
use topo::{Came, MinimalRule, Step};

/// `min-adaptive`.
pub struct MinAdaptive;

impl NamedRouting for MinAdaptive {
    const LINE: &'static str = "The minimal port with the least waiting of those with room on the adaptive channel, else dimension order on channels of its own to escape to.";
    const SOURCE: &'static str = "Duato 1993";
    const LIMITS: &'static str =
        "Sees the own router only. Not for routers that choose a packet's output before it has room there.";
    const FITS: Fits = Fits::only(&[
        TopologyKind::Ring,
        TopologyKind::Mesh,
        TopologyKind::Torus,
        TopologyKind::HyperX,
    ]);
    const KEYS: &'static [Parameter] = &[CONGESTION, PER, EQUAL];
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::Never;
    const OVER_A_THIRD_GROUP: bool = false;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = SenseSpec;
    type Ready = EscapeOrLeast;

    fn read(keys: &OwnValues, _: &mut Findings) -> Option<SenseSpec> {
        Some(SenseSpec {
            congestion: keys.choice("congestion"),
            per: keys.choice("per"),
            equal: keys.choice("equal"),
            draws: None,
        })
    }

    fn ready(spec: &SenseSpec, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<EscapeOrLeast, BuildError> {
        if topology.lattice_shape().is_none() {
            return refuse(
                "its escape channels follow the dimensions of a ring, mesh, torus or HyperX",
                "take \"min-a\", which every topology has",
            );
        }
        let bounded = terms.router.has_bounded_buffers();
        let asks = terms.router.pipeline.is_some_and(|pipeline| pipeline.outputs.is_some());
        if bounded && terms.router.named().commits_before_room() && !asks {
            return refuse(
                "these routers choose a packet's output before it has room there, so it could wait for other packets outside the escape channels",
                "take \"min-a\", router.architecture = \"voq\", or vc-routers with router.crossbar = \"per-channel\"",
            );
        }
        let mut sense = Sense::new(spec.congestion, spec.per, terms)?;
        sense.reserve = bounded && !asks;
        Ok(EscapeOrLeast {
            sense,
            choice: PortChoice {
                equal: spec.equal,
                bytes: false,
            },
            escapes: topology.minimal_vcs(),
        })
    }
}

/// The port with the least waiting before it, or the escape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EscapeOrLeast {
    sense: Sense,
    choice: PortChoice,
    /// Escape channels; the adaptive one is the next.
    escapes: u8,
}

impl EscapeOrLeast {
    /// How a packet came, if it is on the escape channels.
    fn escaped(&self, here: Here<'_>) -> Option<Came> {
        let came = came(here.site, here.packet);
        (came.port != Came::NONE && came.vc < self.escapes).then_some(came)
    }

    /// Dimension order on the escape channels, as a packet that came so: one that has come on the adaptive channel begins there.
    fn escape(&self, here: Here<'_>, came: Option<Came>) -> Way {
        let Here {
            routing,
            net,
            site,
            packet,
        } = here;
        let came = came.unwrap_or(Came::INJECTED);
        let hop = net.topology.minimal(site.router, packet.destination(), came, 0);
        Way::new(routing.cable(site, hop, packet), hop.vc.min(routing.last_vc), 0)
    }
}

impl ReadyRouting for EscapeOrLeast {
    fn vcs(&self, topology: &Topology) -> u8 {
        topology.minimal_vcs() + 1
    }

    fn rule<'t>(&self, topology: &'t Topology, vcs: u8) -> Box<dyn RoutingRule + 't> {
        Box::new(EscapeRule(MinimalRule::new(topology).limited_to(vcs)))
    }

    fn next(&self, here: Here<'_>, wait: impl FnMut(u32, u8) -> u64) -> Way {
        let came = self.escaped(here);
        if came.is_some() || here.routing.last_vc < self.escapes {
            return self.escape(here, came);
        }
        let least = self.choice.of_minimal_with_room(here, self.escapes, wait);
        least.unwrap_or_else(|| self.escape(here, None))
    }

    fn offers(&self, here: Here<'_>, out: &mut Vec<Offer>) {
        let came = self.escaped(here);
        let offer = |way: Way, label: u16, hops: u16| Offer {
            way,
            asked: here.packet.phase(),
            label,
            hops,
        };
        let (at, to) = (here.site.router, here.net.topology.router_of(here.packet.destination()));
        let hops = here.net.topology.distance(at, to) as u16;
        if came.is_none() && here.routing.last_vc >= self.escapes {
            HOPS.with_borrow_mut(|list| {
                here.net.topology.minimal_hops(at, to, list);
                let ports = list.iter().flat_map(|hop| hop.port..hop.port + hop.links);
                out.extend(ports.map(|port| offer(Way::new(port.into(), self.escapes, 0), 0, hops)));
            });
        }
        out.push(offer(self.escape(here, came), 1, hops));
    }

    fn leaves_the_choice(&self) -> bool {
        true
    }

    fn sense(&self) -> Option<Sense> {
        Some(self.sense)
    }

    fn asks_for_cables(&self) -> bool {
        false
    }

    /// A packet may leave the adaptive channel for the escape at every router, and stays there.
    fn escapes(&self) -> bool {
        true
    }
}

/// Dimension order from every router: packets escape anywhere.
struct EscapeRule<'t>(MinimalRule<'t>);

impl RoutingRule for EscapeRule<'_> {
    fn vcs(&self) -> usize {
        self.0.vcs()
    }

    fn start(&self, at: u32, dst: u32, out: &mut Vec<Step>) {
        self.0.start(at, dst, out);
    }

    fn next(&self, at: u32, port: u16, vc: u8, state: u32, dst: u32, out: &mut Vec<Step>) {
        self.0.next(at, port, vc, state, dst, out);
    }

    fn starts_anywhere(&self) -> bool {
        true
    }

    fn same_for_all_nodes_of_a_router(&self) -> bool {
        self.0.same_for_all_nodes_of_a_router()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::plain;
    use topo::{Lattice, RingSpec, Verdict, check, verify_routes};

    fn lattice(shape: &[u32], width: &[u32]) -> Lattice {
        Lattice {
            shape: shape.to_vec(),
            width: width.to_vec(),
            nodes_per_router: 1,
        }
    }

    fn ready(topology: &TopologySpec, built: &Topology) -> EscapeOrLeast {
        let spec = plain(topology.clone());
        MinAdaptive::ready(&SenseSpec::default(), &spec.routing_terms(), built).unwrap()
    }

    #[test]
    fn escapes_from_every_router_arrive_and_wait_in_no_circle() {
        let ring = RingSpec {
            routers: 7,
            width: 2,
            nodes_per_router: 1,
        };
        for (topology, channels) in [
            (TopologySpec::Ring(ring), 3),
            (TopologySpec::Torus(lattice(&[4, 5, 2], &[])), 3),
            (TopologySpec::Mesh(lattice(&[4, 3], &[2, 1])), 2),
            (TopologySpec::HyperX(lattice(&[4, 3, 2], &[])), 2),
        ] {
            let built = topology.build().unwrap();
            let ready = ready(&topology, &built);
            assert_eq!(ready.vcs(&built), channels);
            let rule = ready.rule(&built, channels);
            let report = verify_routes(&built, &*rule, u64::MAX).unwrap_or_else(|fault| panic!("{fault}"));
            assert_eq!(report.longest, built.diameter());
            assert!(matches!(check(&built, &*rule), Verdict::Free { .. }), "{topology:?}");
        }
    }

    #[test]
    fn a_torus_with_one_channel_has_a_cycle_of_escapes() {
        let topology = TopologySpec::Torus(lattice(&[5, 5], &[]));
        let built = topology.build().unwrap();
        let rule = ready(&topology, &built).rule(&built, 1);
        assert!(matches!(check(&built, &*rule), Verdict::Cycle(_)));
    }
}
