//! Slim Flies and random regular graphs are what their papers say.

use crate::common::*;
use topo::load::{TrafficPattern, channel_load, saturation};
use topo::{MinimalRule, Topology, TopologySpec};

fn built(spec: &TopologySpec) -> Topology {
    spec.build().unwrap_or_else(|e| panic!("{spec:?}: {e:?}"))
}

fn neighbours(t: &Topology, router: u32) -> Vec<u32> {
    let wiring = t.wiring();
    let ports = wiring.port_offset[router as usize]..wiring.port_offset[router as usize + 1];
    ports.map(|port| wiring.peer_router[port as usize]).collect()
}

#[test]
fn slim_flies_have_diameter_two_and_the_ports_of_the_paper() {
    // Table 2 of Besta and Hoefler has q = 5, 7, 11, 13, 17, 19: radixes of the network 7, 11, 17, 19, 25, 29; the first is Hoffman and
    // Singleton's graph.
    for (q, radix) in [
        (3, 5),
        (4, 6),
        (5, 7),
        (7, 11),
        (8, 12),
        (9, 13),
        (11, 17),
        (13, 19),
        (16, 24),
        (17, 25),
        (19, 29),
    ] {
        let t = built(&slim_fly(q, 0));
        assert_eq!((t.n_routers(), t.diameter()), (2 * q * q, 2), "{q}");
        for router in 0..t.n_routers() {
            let mut around = neighbours(&t, router);
            around.sort_unstable();
            around.dedup();
            assert_eq!(around.len(), radix, "router {router} of {q}");
        }
        assert_eq!(t.n_nodes(), 2 * q * q * radix.div_ceil(2) as u32);
    }
}

#[test]
fn the_graph_of_hoffman_and_singleton_carries_what_its_distances_let_it() {
    let t = built(&slim_fly(5, 4));
    // Every two routers are joined or have one neighbour in common: all links carry the same, 4 nodes a router times a mean distance of
    // (7 * 4 * 1 + 42 * 4 * 2) / 199 over 7 ports.
    for a in 0..50 {
        for b in (0..50).filter(|&b| b != a) {
            let common = neighbours(&t, a)
                .iter()
                .filter(|r| neighbours(&t, b).contains(r))
                .count();
            assert_eq!(common, usize::from(t.distance(a, b) == 2), "{a} {b}");
        }
    }
    let load = channel_load(&t, &MinimalRule::new(&t), &TrafficPattern::Uniform).unwrap();
    let each = 4.0 * 364.0 / 199.0 / 7.0;
    assert!(load.iter().all(|load| (load - each).abs() < 1e-9));
    assert!((saturation(&t, &load, &[]) - 199.0 * 7.0 / (4.0 * 364.0)).abs() < 1e-9);
}

#[test]
fn random_regular_graphs_are_short_and_their_seed_says_which() {
    let of = |seed| match random_regular(200, 8, 1) {
        TopologySpec::RandomRegular(spec) => {
            built(&TopologySpec::RandomRegular(topo::RandomRegularSpec { seed, ..spec }))
        }
        other => panic!("{other:?}"),
    };
    let t = of(1);
    for router in 0..200 {
        assert_eq!(neighbours(&t, router).len(), 8);
    }
    // 1 + 8 + 56 are within 2 cables, so that most of 200 are 3 away and none much further (Cerf et al. 1974: at least 2.6 on average).
    let mean = t.mean_distance().0;
    assert!((2.6..2.8).contains(&mean), "{mean}");
    assert!(t.diameter() <= 5);
    assert_eq!(of(1).wiring().peer_router, t.wiring().peer_router);
    assert_ne!(of(2).wiring().peer_router, t.wiring().peer_router);
}

#[test]
fn what_is_no_field_and_no_regular_graph_is_refused() {
    let told = |spec: TopologySpec| spec.build().map(|_| ()).unwrap_err()[0].to_string();
    assert!(told(slim_fly(6, 1)).contains("take 5 or 7"), "{}", told(slim_fly(6, 1)));
    assert!(told(slim_fly(2, 1)).contains("take 3"), "{}", told(slim_fly(2, 1)));
    assert!(told(slim_fly(10_007, 1)).contains("from 3 to 100"));
    assert!(told(random_regular(5, 5, 1)).contains("take at most 4"));
    assert!(told(random_regular(30_000, 3, 1)).contains("20000"));
    assert!(told(random_regular(10, 3, 0)).starts_with("nodes_per_router"));
}
