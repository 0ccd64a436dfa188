//! What every topology must keep, on every enrolled network.

use crate::common::*;
use petgraph::algo::dijkstra;
use petgraph::graph::{Graph, NodeIndex};
use std::collections::{BTreeSet, HashMap};
use topo::{
    Came, DragonflyPlusSpec, DragonflySpec, ExpressMeshSpec, FatTreeSpec, GraphSpec, HopList, MinimalRule, OftSpec,
    RandomRegularSpec, RingSpec, SingleRouterSpec, SlimFlySpec, Topology, TopologySpec, Verdict, check, verify_routes,
};

/// Runs a test on every enrolled network and names the one that fails.
fn on_all(test: impl Fn(&Topology)) {
    for spec in enrolled() {
        let topology = spec.build().unwrap_or_else(|e| panic!("{spec:?}: {e:?}"));
        println!("{spec:?}");
        test(&topology);
    }
}

fn is_grouped(t: &Topology) -> bool {
    matches!(t.spec(), TopologySpec::Dragonfly(_) | TopologySpec::DragonflyPlus(_))
}

/// An oracle for distances to `to`: layer 0 without global links, layer 1 over exactly one; one layer only for other families.
fn oracle(t: &Topology, to: u32) -> [HashMap<NodeIndex, u32>; 2] {
    let (n, w) = (t.n_routers(), t.wiring());
    let mut graph = Graph::<(), ()>::new();
    let nodes: Vec<NodeIndex> = (0..2 * n).map(|_| graph.add_node(())).collect();
    for r in 0..n {
        for p in 0..w.radix(r) as u16 {
            let (peer, i) = (w.peer(r, p).0, w.port_index(r, p));
            if is_grouped(t) && w.class[i] == 2 {
                graph.add_edge(nodes[r as usize], nodes[(n + peer) as usize], ());
            } else {
                graph.add_edge(nodes[r as usize], nodes[peer as usize], ());
                graph.add_edge(nodes[(n + r) as usize], nodes[(n + peer) as usize], ());
            }
        }
    }
    let all = dijkstra(&graph, nodes[to as usize], None, |_| 1u32);
    let layer = |from: u32| {
        (0..n)
            .filter_map(|r| Some((NodeIndex::new(r as usize), *all.get(&nodes[(from + r) as usize])?)))
            .collect()
    };
    [layer(0), layer(n)]
}

fn at(r: u32) -> NodeIndex {
    NodeIndex::new(r as usize)
}

fn least(layers: &[HashMap<NodeIndex, u32>; 2], r: u32) -> u32 {
    layers
        .iter()
        .filter_map(|l| l.get(&at(r)))
        .copied()
        .min()
        .expect("connected")
}

#[test]
fn wiring_is_symmetric_and_whole() {
    on_all(|t| assert_eq!(t.wiring().verify(), Ok(())));
}

#[test]
fn counts_follow_the_formulas() {
    let p = |s: &[u32]| s.iter().product::<u32>();
    on_all(|t| {
        let cables = t.wiring().n_ports() / 2;
        let (routers, nodes, expected) = match t.spec() {
            TopologySpec::SingleRouter(SingleRouterSpec { nodes }) => (1, *nodes, 0),
            TopologySpec::Ring(RingSpec {
                routers,
                width,
                nodes_per_router,
            }) => (*routers, routers * nodes_per_router, routers * width),
            TopologySpec::Mesh(l) | TopologySpec::Torus(l) | TopologySpec::HyperX(l) => {
                let n = p(&l.shape);
                let per_line = |k: u32| match t.spec() {
                    TopologySpec::Mesh(_) => k - 1,
                    TopologySpec::Torus(_) => {
                        if k == 1 {
                            0
                        } else {
                            k
                        }
                    }
                    _ => k * (k - 1) / 2,
                };
                let each = |(i, &k): (usize, &u32)| n / k * per_line(k) * l.width.get(i).unwrap_or(&1);
                (n, n * l.nodes_per_router, l.shape.iter().enumerate().map(each).sum())
            }
            TopologySpec::Dragonfly(DragonflySpec {
                groups,
                routers_per_group,
                nodes_per_router,
                links_per_pair,
                local_width,
                ..
            }) => {
                let a = p(routers_per_group);
                let neighbours: u32 = routers_per_group.iter().map(|k| k - 1).sum();
                let local = groups * a * neighbours / 2 * local_width;
                (
                    groups * a,
                    groups * a * nodes_per_router,
                    local + groups * (groups - 1) / 2 * links_per_pair,
                )
            }
            TopologySpec::DragonflyPlus(DragonflyPlusSpec {
                groups,
                leaves,
                spines,
                nodes_per_leaf,
                links_per_pair,
                local_width,
                ..
            }) => {
                let local = groups * leaves * spines * local_width;
                (
                    groups * (leaves + spines),
                    groups * leaves * nodes_per_leaf,
                    local + groups * (groups - 1) / 2 * links_per_pair,
                )
            }
            TopologySpec::FatTree(FatTreeSpec { down, up, up_width }) => {
                let level = |i: usize| p(&down[i + 1..]) * p(&up[..i]);
                let cables = (0..up.len())
                    .map(|i| level(i) * up[i] * up_width.get(i).unwrap_or(&1))
                    .sum();
                ((0..down.len()).map(level).sum(), p(down), cables)
            }
            TopologySpec::SlimFly(SlimFlySpec { q, nodes_per_router }) => {
                let radix = match q % 4 {
                    3 => (3 * q).div_ceil(2),
                    1 => (3 * q - 1) / 2,
                    _ => 3 * q / 2,
                };
                let nodes = if *nodes_per_router == 0 {
                    radix.div_ceil(2)
                } else {
                    *nodes_per_router
                };
                (2 * q * q, 2 * q * q * nodes, q * q * radix)
            }
            TopologySpec::RandomRegular(RandomRegularSpec {
                routers,
                degree,
                nodes_per_router,
                ..
            }) => (*routers, routers * nodes_per_router, routers * degree / 2),
            TopologySpec::Oft(OftSpec { k, nodes_per_leaf }) => {
                let n = k * k - k + 1;
                let nodes = if *nodes_per_leaf == 0 { *k } else { *nodes_per_leaf };
                (3 * n, 2 * n * nodes, 2 * n * k)
            }
            TopologySpec::ExpressMesh(ExpressMeshSpec {
                shape,
                gap,
                nodes_per_router,
            }) => {
                let n = p(shape);
                // Of a line of k routers k - d pairs are d apart.
                let per_line = |k: u32| (1..k).step_by(*gap as usize).map(|d| k - d).sum::<u32>();
                (
                    n,
                    n * nodes_per_router,
                    shape.iter().map(|&k| n / k * per_line(k)).sum(),
                )
            }
            TopologySpec::Graph(GraphSpec { file, .. }) if file.ends_with("tree.edges") => (6, 7, 6),
            TopologySpec::Graph(GraphSpec { file, .. }) if file.ends_with("petersen.edges") => (10, 20, 15),
            TopologySpec::Graph(_) => (9, 11, 13),
        };
        assert_eq!((t.n_routers(), t.n_nodes(), cables), (routers, nodes, expected));
        for node in 0..t.n_nodes() {
            assert!(t.wiring().nodes_of(t.router_of(node)).contains(&node));
            assert_eq!(t.router_of(node), t.wiring().node_router[node as usize]);
        }
    });
}

#[test]
fn distance_is_breadth_first_search_and_the_diameter_its_maximum() {
    on_all(|t| {
        let mut most = 0;
        for to in 0..t.n_routers() {
            let layers = oracle(t, to);
            for from in 0..t.n_routers() {
                assert_eq!(t.distance(from, to), least(&layers, from), "from {from} to {to}");
                most = most.max(t.distance(from, to));
            }
        }
        assert_eq!(t.diameter(), most);
    });
}

#[test]
fn minimal_hops_are_exactly_the_neighbours_that_shorten_the_distance() {
    on_all(|t| {
        let mut out = HopList::new();
        for to in 0..t.n_routers() {
            let layers = oracle(t, to);
            for from in 0..t.n_routers() {
                t.minimal_hops(from, to, &mut out);
                let mut expected = Vec::new();
                for run in t.wiring().runs(from).filter(|_| from != to) {
                    let global = is_grouped(t) && t.wiring().class[t.wiring().port_index(from, run.port)] == 2;
                    let rest = if global {
                        layers[0].get(&at(run.peer)).copied()
                    } else {
                        Some(least(&layers, run.peer))
                    };
                    if rest.is_some_and(|d| d < least(&layers, from)) {
                        expected.push((run.port, run.links));
                    }
                }
                let given: Vec<(u16, u16)> = out.iter().map(|h| (h.port, h.links)).collect();
                assert_eq!(given, expected, "from {from} to {to}");
            }
        }
    });
}

#[test]
fn minimal_routes_arrive_within_their_bound_on_every_alternative() {
    on_all(|t| {
        let report = verify_routes(t, &MinimalRule::new(t), u64::MAX).unwrap_or_else(|e| panic!("{e}"));
        assert!(report.all_pairs);
        assert!(report.longest <= 5 || !is_grouped(t));
    });
}

#[test]
fn minimal_to_reaches_every_router() {
    on_all(|t| {
        for (from, to) in (0..t.n_routers()).flat_map(|a| (0..t.n_routers()).map(move |b| (a, b))) {
            for key in t.key_classes() {
                let (mut r, mut came, mut hops) = (from, Came::INJECTED, 0);
                while r != to {
                    let hop = t.minimal_to(r, to, came, key);
                    assert!(!hop.is_eject() && hops < 12, "from {from} to {to} at {r}");
                    let port = Topology::choose_link(hop, key);
                    let (next, back) = t.wiring().peer(r, port);
                    (r, came, hops) = (next, Came { port: back, vc: hop.vc }, hops + 1);
                }
                assert!(t.minimal_to(r, to, came, key).is_eject());
                assert!(
                    if is_grouped(t) {
                        hops <= 5
                    } else {
                        hops == t.distance(from, to)
                    },
                    "{hops} hops from {from} to {to}"
                );
            }
        }
    });
}

#[test]
fn minimal_routing_cannot_deadlock_on_the_vcs_it_asks_for() {
    on_all(|t| {
        let verdict = check(t, &MinimalRule::new(t));
        assert!(verdict.is_free(), "{}", verdict.describe(t));
    });
}

#[test]
fn fewer_vcs_deadlock_where_two_are_asked_for() {
    let specs = [
        ring(4, 1, 1),
        ring(5, 1, 1),
        torus(&[4, 4], &[], 1),
        torus(&[5, 4, 3], &[1, 1, 2], 1),
        dragonfly(9, &[4], 1, 1, 1, topo::Arrangement::Relative),
        graph("star-of-rings.graphml", 1),
    ];
    for spec in specs {
        let t = spec.build().unwrap();
        assert!(t.minimal_vcs() > 1, "{spec:?}");
        let verdict = check(&t, &MinimalRule::new(&t).limited_to(1));
        let Verdict::Cycle(channels) = &verdict else {
            panic!("{spec:?}: {}", verdict.describe(&t))
        };
        // The cycle is real: each channel leads to the router that the next one leaves.
        for (a, b) in channels.iter().zip(channels.iter().cycle().skip(1)) {
            assert_eq!(
                t.wiring().peer(a.router, a.port).0,
                b.router,
                "{}",
                verdict.describe(&t)
            );
        }
        assert!(channels.len() >= 3);
    }
}

#[test]
fn reduced_networks_are_small_of_the_same_family_and_free_of_deadlock() {
    let big = topo::presets().iter().map(|p| p.spec()).chain(enrolled());
    for spec in big {
        let small = spec.reduced();
        assert_eq!(std::mem::discriminant(&spec), std::mem::discriminant(&small));
        let t = small.build().unwrap_or_else(|e| panic!("{small:?}: {e:?}"));
        assert!(t.n_routers() <= 1000);
        assert!(check(&t, &MinimalRule::new(&t)).is_free());
        assert_eq!(small.reduced(), small, "reducing twice changes nothing more");
    }
}

#[test]
fn names_and_places_are_unique() {
    on_all(|t| {
        let names: BTreeSet<String> = (0..t.n_routers()).map(|r| t.router_name(r)).collect();
        assert_eq!(names.len(), t.n_routers() as usize);
        let mut places = BTreeSet::new();
        for r in 0..t.n_routers() {
            let ports: BTreeSet<String> = (0..t.wiring().radix(r) as u16).map(|p| t.port_name(r, p)).collect();
            assert_eq!(ports.len(), t.wiring().radix(r) as usize, "{ports:?}");
            let (x, y) = t.layout(r);
            assert!((0.0..=1.0).contains(&x) && (0.0..=1.0).contains(&y), "{x} {y}");
            places.insert(((x * 1e9) as i64, (y * 1e9) as i64));
        }
        assert_eq!(places.len(), t.n_routers() as usize);
    });
}

#[test]
fn a_specification_survives_json() {
    for spec in enrolled() {
        let text = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<TopologySpec>(&text).unwrap(), spec, "{text}");
    }
}
