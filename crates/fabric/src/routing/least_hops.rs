//! `least-hops`: any port that leads nearer by the fewest hops of the whole graph, also where a topology's own minimal ways are longer.

use super::by_hops::{ByHops, Distances, Move, Moves, Pick, Stand, nearer};
use super::choice::{Equal, PortChoice};
use super::prelude::*;
use study::{Named, Type, choice, key};

/// `least-hops`.
pub struct LeastHops;

choice! {
    /// Which of several ways a packet takes at a router.
    pub enum Taken {
        Random = "random", "A random one.";
        LeastWaiting = "least-waiting", "The one with the least waiting before it, a random one of those before which less than a packet more waits.";
    }
}

const TAKE: Parameter = key(
    "take",
    Type::Choice(Taken::WORDS),
    study::Default::Text("random"),
    "Which of several ways as short as each other a packet takes at a router.",
);

/// Which way is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakeSpec {
    /// Of several as short as each other.
    pub take: Taken,
}

impl NamedRouting for LeastHops {
    const LINE: &'static str =
        "A port that leads nearer by the fewest hops of the whole graph, at every router; the channel counts the hops.";
    const LIMITS: &'static str = "Sees the own router only; at most 20,000 routers.";
    const KEYS: &'static [Parameter] = &[TAKE];
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::Never;
    const OVER_A_THIRD_GROUP: bool = true;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = TakeSpec;
    type Ready = ByHops<Nearer>;

    fn read(keys: &OwnValues, _: &mut Findings) -> Option<TakeSpec> {
        Some(TakeSpec {
            take: keys.choice("take"),
        })
    }

    fn ready(spec: &TakeSpec, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<Self::Ready, BuildError> {
        let choice = PortChoice {
            equal: Equal::WithinAPacket,
            bytes: terms.router.named().backlog_is_in_bytes(),
        };
        let pick = match spec.take {
            Taken::Random => Pick::Chance,
            Taken::LeastWaiting => Pick::Least { choice, penalty: 0 },
        };
        ByHops::new(Nearer, pick, terms, topology)
    }
}

/// Nearer with every hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nearer;

impl Moves for Nearer {
    fn most_hops(&self, _: &Topology, distances: &Distances) -> u32 {
        distances.diameter()
    }

    fn moves(&self, topology: &Topology, distances: &Distances, place: Stand, out: &mut dyn FnMut(Move)) {
        let hops = distances.of(place.at, place.to) as u16;
        nearer(topology, distances, place.at, place.to, |port| {
            out(Move {
                port,
                phase: 0,
                asked: 0,
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
    use topo::load::{TrafficPattern, channel_load};
    use topo::{
        Arrangement, DragonflyPlusSpec, DragonflySpec, Lattice, RandomRegularSpec, Verdict, check, verify_routes,
    };

    fn on(topology: &TopologySpec) -> (Topology, ByHops<Nearer>) {
        let spec = plain(topology.clone());
        let built = topology.build().unwrap();
        let take = TakeSpec { take: Taken::Random };
        let ready = LeastHops::ready(&take, &spec.routing_terms(), &built).unwrap();
        (built, ready)
    }

    fn dragonfly(arrangement: Arrangement) -> TopologySpec {
        TopologySpec::Dragonfly(DragonflySpec {
            groups: 9,
            routers_per_group: vec![4],
            nodes_per_router: 1,
            links_per_pair: 1,
            local_width: 1,
            arrangement,
            arrangement_seed: 1,
        })
    }

    #[test]
    fn every_way_is_a_shortest_one_of_the_graph_and_channels_rise() {
        for topology in [
            dragonfly(Arrangement::Absolute),
            dragonfly(Arrangement::Relative),
            dragonfly(Arrangement::Circulant),
            dragonfly(Arrangement::Random),
            TopologySpec::DragonflyPlus(DragonflyPlusSpec {
                groups: 4,
                leaves: 3,
                spines: 3,
                nodes_per_leaf: 1,
                links_per_pair: 2,
                local_width: 1,
                arrangement: Arrangement::Absolute,
                arrangement_seed: 1,
            }),
            TopologySpec::Torus(Lattice {
                shape: vec![4, 5],
                width: vec![2, 1],
                nodes_per_router: 1,
            }),
            TopologySpec::RandomRegular(RandomRegularSpec {
                routers: 40,
                degree: 4,
                nodes_per_router: 1,
                seed: 3,
            }),
        ] {
            let (built, ready) = on(&topology);
            let rule = ready.rule(&built, ready.vcs(&built));
            let report = verify_routes(&built, &*rule, u64::MAX).unwrap_or_else(|fault| panic!("{fault}"));
            assert!(report.all_pairs);
            // Routers without nodes may be farther apart.
            assert!(report.longest <= u32::from(ready.vcs(&built)));
            assert!(matches!(check(&built, &*rule), Verdict::Free { .. }));
            for from in 0..built.n_routers() {
                let wiring = built.wiring();
                let hops = breadth_first(&built, from);
                for to in (0..built.n_routers()).filter(|&to| to != from) {
                    let Some(node) = wiring.nodes_of(to).next() else {
                        continue;
                    };
                    let mut steps = Vec::new();
                    rule.start(from, node, &mut steps);
                    let mut ports: Vec<u16> = steps.iter().map(|step| step.port).collect();
                    ports.sort_unstable();
                    let next = |port: &u16| breadth_first(&built, wiring.peer(from, *port).0)[to as usize];
                    let all = 0..wiring.radix(from) as u16;
                    let shorter: Vec<u16> = all.filter(|port| next(port) + 1 == hops[to as usize]).collect();
                    assert_eq!(ports, shorter);
                }
            }
        }
    }

    fn breadth_first(topology: &Topology, from: u32) -> Vec<u32> {
        let wiring = topology.wiring();
        let mut hops = vec![u32::MAX; topology.n_routers() as usize];
        hops[from as usize] = 0;
        let mut edge = vec![from];
        while !edge.is_empty() {
            let mut next = Vec::new();
            for at in edge {
                for port in 0..wiring.radix(at) as u16 {
                    let to = wiring.peer(at, port).0;
                    if hops[to as usize] == u32::MAX {
                        hops[to as usize] = hops[at as usize] + 1;
                        next.push(to);
                    }
                }
            }
            edge = next;
        }
        hops
    }

    /// Two global links may be nearer than one with two local ones.
    #[test]
    fn on_a_dragonfly_it_takes_fewer_hops_than_the_ways_over_one_global_link() {
        let (built, ready) = on(&dragonfly(Arrangement::Absolute));
        let rule = ready.rule(&built, ready.vcs(&built));
        let hops = |rule: &dyn RoutingRule| -> f64 {
            channel_load(&built, rule, &TrafficPattern::Uniform)
                .unwrap()
                .iter()
                .sum()
        };
        let (least, minimal) = (hops(&*rule), hops(&topo::MinimalRule::new(&built)));
        assert!(least < 0.993 * minimal, "{least} {minimal}");
    }
}
