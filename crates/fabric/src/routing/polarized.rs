//! `polarized` (Camarero, Martinez & Beivide 2021): ports that lead away from the source or towards the destination, as the difference of both
//! distances says.

use super::by_hops::{ByHops, Distances, Move, Moves, Pick, Stand, nearer};
use super::choice::{Equal, PortChoice};
use super::prelude::*;
use study::{Type, key};

/// `polarized`.
pub struct Polarized;

const PENALTY: Parameter = key(
    "penalty",
    Type::Integer { min: 0, max: 1_000 },
    study::Default::Text("4"),
    "Packets that count as waiting before a port for each hop by which it lowers the weight less than two.",
);

/// How ports are weighed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PenaltySpec {
    /// Packets for each hop by which the weight is lowered less.
    pub penalty: u32,
}

impl NamedRouting for Polarized {
    const LINE: &'static str = "Of the ports that lower the distance to the destination less that from the source, or keep it on the way out and then in, the one with the least waiting; the channel counts the hops.";
    const SOURCE: &'static str = "Camarero, Martinez and Beivide 2021";
    const LIMITS: &'static str = "Sees the own router only; at most 20,000 routers.";
    const KEYS: &'static [Parameter] = &[PENALTY];
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::WhereQueuesAreLong;
    const OVER_A_THIRD_GROUP: bool = true;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = PenaltySpec;
    type Ready = ByHops<LessWeight>;

    fn read(keys: &OwnValues, _: &mut Findings) -> Option<PenaltySpec> {
        Some(PenaltySpec {
            penalty: keys.integer("penalty") as u32,
        })
    }

    fn ready(spec: &PenaltySpec, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<Self::Ready, BuildError> {
        let choice = PortChoice {
            equal: Equal::WithinAPacket,
            bytes: terms.router.named().backlog_is_in_bytes(),
        };
        let pick = Pick::Least {
            choice,
            penalty: spec.penalty,
        };
        ByHops::new(LessWeight { leaves_corners: true }, pick, terms, topology)
    }
}

/// The weight of a router, its distance to the destination less that from the source, does not rise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LessWeight {
    /// Where no port is allowed, a packet goes to its destination by minimal ways.
    pub(super) leaves_corners: bool,
}

/// The phase of a packet that has been in a corner.
const STRAIGHT_ON: u8 = 1;

impl LessWeight {
    /// Calls `out` with what is allowed by the weights alone.
    fn polarized(topology: &Topology, distances: &Distances, place: Stand, out: &mut dyn FnMut(Move)) {
        let wiring = topology.wiring();
        let of = |router: u32| (distances.of(place.from, router), distances.of(router, place.to));
        let (behind, ahead) = of(place.at);
        for port in 0..wiring.radix(place.at) as u16 {
            let (then_behind, then_ahead) = of(wiring.peer(place.at, port).0);
            // What is taken off the weight: 0 to 2, if it does not rise.
            let less = (then_behind + ahead).checked_sub(behind + then_ahead);
            let is_allowed = match less {
                None => false,
                Some(0) if behind < ahead => then_behind > behind,
                Some(0) => then_ahead < ahead,
                Some(_) => true,
            };
            if let (true, Some(less)) = (is_allowed, less) {
                out(Move {
                    port,
                    phase: 0,
                    asked: 0,
                    label: 2 - less.min(2) as u16,
                    hops: then_ahead as u16 + 1,
                });
            }
        }
    }
}

impl Moves for LessWeight {
    /// Where all routers are neighbours over a third one. A corner is on the way out, where no hop leads nearer to the source, so that it is left with hops
    /// to spare.
    fn most_hops(&self, _: &Topology, distances: &Distances) -> u32 {
        match distances.diameter() {
            0 => 0,
            1 => 2,
            diameter => 4 * diameter - 3,
        }
    }

    fn moves(&self, topology: &Topology, distances: &Distances, place: Stand, out: &mut dyn FnMut(Move)) {
        let mut any = false;
        if place.phase != STRAIGHT_ON {
            Self::polarized(topology, distances, place, &mut |way| {
                any = true;
                out(way);
            });
        }
        if any || !self.leaves_corners {
            return;
        }
        let hops = distances.of(place.at, place.to) as u16;
        nearer(topology, distances, place.at, place.to, |port| {
            out(Move {
                port,
                phase: STRAIGHT_ON,
                asked: STRAIGHT_ON,
                label: 0,
                hops,
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::plain;
    use topo::{
        Arrangement, DragonflySpec, GraphFormat, GraphSpec, Lattice, RandomRegularSpec, SlimFlySpec, Verdict, check,
        verify_routes,
    };

    fn lattice(shape: &[u32]) -> Lattice {
        Lattice {
            shape: shape.to_vec(),
            width: vec![],
            nodes_per_router: 1,
        }
    }

    /// Diameter, and hops of the longest way.
    fn proved(topology: &TopologySpec) -> (u32, u32) {
        let spec = plain(topology.clone());
        let built = topology.build().unwrap();
        let ready = Polarized::ready(&PenaltySpec { penalty: 4 }, &spec.routing_terms(), &built).unwrap();
        let rule = ready.rule(&built, ready.vcs(&built));
        let report = verify_routes(&built, &*rule, u64::MAX).unwrap_or_else(|fault| panic!("{topology:?}: {fault}"));
        assert!(report.all_pairs);
        assert!(matches!(check(&built, &*rule), Verdict::Free { .. }), "{topology:?}");
        (built.diameter(), report.longest)
    }

    #[test]
    fn every_way_arrives_within_four_diameters_less_three_and_channels_rise() {
        for topology in [
            TopologySpec::Mesh(lattice(&[4, 3])),
            TopologySpec::Torus(lattice(&[5, 4])),
            TopologySpec::HyperX(lattice(&[4, 4])),
            TopologySpec::HyperX(lattice(&[5])),
            TopologySpec::SlimFly(SlimFlySpec {
                q: 5,
                nodes_per_router: 1,
            }),
            TopologySpec::RandomRegular(RandomRegularSpec {
                routers: 24,
                degree: 4,
                nodes_per_router: 1,
                seed: 3,
            }),
            TopologySpec::Dragonfly(DragonflySpec {
                groups: 5,
                routers_per_group: vec![4],
                nodes_per_router: 1,
                links_per_pair: 1,
                local_width: 1,
                arrangement: Arrangement::Absolute,
                arrangement_seed: 1,
            }),
        ] {
            let (diameter, longest) = proved(&topology);
            assert!(longest > diameter, "{topology:?}: {longest}");
        }
    }

    /// Router 4 hangs at router 1, on the way out from router 0: no hop leads on from it but back.
    #[test]
    fn a_packet_leaves_a_corner_by_a_minimal_way() {
        let graph = TopologySpec::Graph(GraphSpec {
            file: String::new(),
            text: Some("0 1\n1 2\n2 3\n1 4\nnode 0 1\nnode 3 1\nnode 4 1\n".into()),
            format: GraphFormat::EdgeList,
            nodes_per_router: 0,
        });
        // 0, 1, 4, 1, 2, 3.
        assert_eq!(proved(&graph), (3, 5));
    }
}
