//! Slim Flies, orthogonal fat-trees, express meshes and random regular graphs are what their papers say.

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

/// Kathareios et al. 2015: 2 k^3 - 2 k^2 + 2 k nodes on routers of 2 k ports; 3,192 for k = 12.
#[test]
fn any_two_leaves_of_an_orthogonal_fat_tree_have_one_spine_in_common_and_twins_have_all() {
    for k in [3, 4, 5, 6, 8, 9, 10, 12] {
        let t = built(&oft(k, 0));
        let n = k * k - k + 1;
        assert_eq!(t.n_nodes(), 2 * k * k * k - 2 * k * k + 2 * k);
        assert_eq!((t.minimal_vcs(), t.diameter()), (1, 3));
        for router in 0..3 * n {
            let ports = neighbours(&t, router).len() as u32;
            assert_eq!(ports, if router < 2 * n { k } else { 2 * k });
        }
        for a in 0..2 * n {
            let above = neighbours(&t, a);
            for b in (0..2 * n).filter(|&b| b != a) {
                let common = neighbours(&t, b).iter().filter(|spine| above.contains(spine)).count() as u32;
                assert_eq!(common, if a % n == b % n { k } else { 1 }, "{a} {b}");
                assert_eq!(t.distance(a, b), 2);
            }
        }
    }
    assert_eq!(built(&oft(12, 0)).n_nodes(), 3_192);
}

/// Every cable up carries one unit of uniform traffic, near enough: full bisection with k nodes on k cables.
#[test]
fn an_orthogonal_fat_tree_takes_uniform_traffic_at_full_load() {
    let t = built(&oft(4, 0));
    let rule = topo::AnyMinimalRule { topology: &t, vcs: 3 };
    let load = channel_load(&t, &rule, &TrafficPattern::Uniform).unwrap();
    let n = f64::from(t.n_nodes());
    // 4 nodes send to all but themselves and 3 of their leaf; those of the twin go over all four spines.
    let each = (n - 4.0) / (n - 1.0);
    assert!(load.iter().all(|load| (load - each).abs() < 1e-9), "{load:?}");
    assert_eq!(saturation(&t, &load, &[]), 1.0);
}

/// Along a line: as many hops of 1, 1 + gap, ... as the rest says, or one too far and back where the line has room for that.
#[test]
fn distances_of_express_meshes_follow_the_rest_of_the_offset() {
    let along = |size: u32, gap: u32, a: u32, b: u32| {
        let apart = a.abs_diff(b);
        if apart == 0 {
            return 0;
        }
        let on = (apart - 1) % gap + 1;
        let back = gap - on + 1;
        match size - 1 - apart >= back {
            true => on.min(1 + back),
            false => on,
        }
    };
    for (shape, gap) in [
        ([16, 1], 4),
        ([13, 1], 3),
        ([9, 6], 2),
        ([8, 7], 5),
        ([5, 5], 1),
        ([6, 4], 6),
    ] {
        let t = built(&express_mesh(&shape, gap, 1));
        let mut most = 0;
        for a in 0..t.n_routers() {
            for b in 0..t.n_routers() {
                let [x, y] = [(a % shape[0], b % shape[0]), (a / shape[0], b / shape[0])];
                let expected = along(shape[0], gap, x.0, x.1) + along(shape[1], gap, y.0, y.1);
                assert_eq!(t.distance(a, b), expected, "{a} to {b} of {shape:?}, gap {gap}");
                most = most.max(expected);
            }
        }
        assert_eq!(t.diameter(), most);
    }
}

/// Gap 1 is a HyperX, and a gap as long as the lines a mesh.
#[test]
fn express_meshes_lie_between_meshes_and_hyperx() {
    for (gap, other) in [(1, hyperx(&[5, 4], &[], 1)), (5, mesh(&[5, 4], &[], 1))] {
        let (t, other) = (built(&express_mesh(&[5, 4], gap, 1)), built(&other));
        assert_eq!(t.n_routers(), other.n_routers());
        for router in 0..t.n_routers() {
            let sorted = |t: &Topology| {
                let mut around = neighbours(t, router);
                around.sort_unstable();
                around
            };
            assert_eq!(sorted(&t), sorted(&other));
            assert_eq!(t.router_name(router), other.router_name(router));
            assert_eq!(t.layout(router), other.layout(router));
        }
        assert_eq!(t.wiring().class_names, other.wiring().class_names);
    }
}

#[test]
fn wrong_ones_are_refused_with_what_to_take() {
    let told = |spec: TopologySpec| {
        spec.build()
            .expect_err("it was built")
            .iter()
            .map(ToString::to_string)
            .collect::<String>()
    };
    assert!(told(oft(7, 1)).contains("take 5 or 7, plus one"), "{}", told(oft(7, 1)));
    assert!(told(oft(0, 1)).contains("from 3 to 80"));
    assert!(told(oft(10_007, 1)).contains("from 3 to 80"));
    assert!(told(express_mesh(&[], 0, 0)).contains("shape"));
    let large = told(express_mesh(&[1_000, 1_000], 2, 1));
    assert!(large.contains("1000000 routers"), "{large}");
    for key in ["gap", "nodes_per_router"] {
        assert!(told(express_mesh(&[4], 0, 0)).contains(key));
    }
}
