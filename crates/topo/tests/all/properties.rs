//! Properties of random lattices, dragonflies, fat-trees and graph files.

use crate::common::*;
use proptest::prelude::*;
use topo::{
    Arrangement, Came, GraphFormat, GraphSpec, HopList, MinimalRule, Tie, Topology, TopologySpec, check, verify_routes,
};

fn lattices() -> impl Strategy<Value = TopologySpec> {
    let dims = prop::collection::vec((1u32..=6, 1u32..=3), 1..=4);
    (0..3, dims, 1u32..=3).prop_map(|(kind, dims, nodes)| {
        let (shape, width): (Vec<u32>, Vec<u32>) = dims.into_iter().unzip();
        [torus, mesh, hyperx][kind as usize](&shape, &width, nodes)
    })
}

#[test]
fn lattices_of_single_cables_have_one_port_by_place() {
    let one = |spec: TopologySpec| spec.build().unwrap().has_one_port_by_place();
    assert!(one(torus(&[4, 4], &[1, 1], 1)) && one(mesh(&[3, 5], &[1, 1], 2)) && one(hyperx(&[4, 4], &[1, 1], 2)));
    assert!(!one(torus(&[4, 4], &[1, 2], 1)) && !one(fat_tree(&[2, 2], &[2], &[1])));
    let split = torus(&[2, 4], &[1, 1], 1).build().unwrap().with_ties(Tie::Split);
    assert!(!split.has_one_port_by_place());
}

fn arrangements() -> impl Strategy<Value = Arrangement> {
    prop::sample::select(vec![
        Arrangement::Absolute,
        Arrangement::Relative,
        Arrangement::Circulant,
        Arrangement::Random,
    ])
}

fn indirect() -> impl Strategy<Value = TopologySpec> {
    let group = prop::collection::vec(1u32..=4, 1..=2);
    let flat =
        (1u32..=6, group, 1u32..=6, 1u32..=2, arrangements()).prop_map(|(g, r, l, w, a)| dragonfly(g, &r, 1, l, w, a));
    let plus = (1u32..=5, 1u32..=4, 1u32..=4, 1u32..=5, arrangements())
        .prop_map(|(g, l, s, p, a)| megafly(g, l, s, 1, p, 1, a));
    let level = (1u32..=3, 1u32..=3, 1u32..=3);
    let tree = (1u32..=3, prop::collection::vec(level, 0..=3)).prop_map(|(nodes, levels)| {
        let down: Vec<u32> = std::iter::once(nodes).chain(levels.iter().map(|l| l.0)).collect();
        fat_tree(
            &down,
            &levels.iter().map(|l| l.1).collect::<Vec<_>>(),
            &levels.iter().map(|l| l.2).collect::<Vec<_>>(),
        )
    });
    prop_oneof![flat, plus, tree]
}

fn holds(t: &Topology, pairs: u64) -> Result<(), TestCaseError> {
    prop_assert_eq!(t.wiring().verify(), Ok(()));
    let mut hops = HopList::new();
    let n = u64::from(t.n_routers());
    for k in 0..pairs.min(n * n) {
        let k = (u128::from(k) * u128::from(n * n) / u128::from(pairs.min(n * n))) as u64;
        let (a, b) = ((k % n) as u32, (k / n) as u32);
        let d = t.distance(a, b);
        prop_assert_eq!(d, t.distance(b, a));
        prop_assert_eq!(d == 0, a == b);
        prop_assert!(d <= t.diameter());
        t.minimal_hops(a, b, &mut hops);
        prop_assert_eq!(hops.is_empty(), a == b);
        for hop in hops.iter() {
            let peers: Vec<u32> = (hop.port..hop.port + hop.links)
                .map(|p| t.wiring().peer(a, p).0)
                .collect();
            prop_assert!(peers.iter().all(|&p| p == peers[0]));
        }
        prop_assert_eq!(t.minimal_to(a, b, Came::INJECTED, 1).is_eject(), a == b);
    }
    if let Err(fault) = verify_routes(t, &MinimalRule::new(t), pairs) {
        return Err(TestCaseError::fail(fault.to_string()));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn lattices_route_minimally(spec in lattices()) {
        let t = spec.build().expect("a valid lattice");
        holds(&t, 2000)?;
        if t.n_routers() <= 200 {
            let verdict = check(&t, &MinimalRule::new(&t));
            prop_assert!(verdict.is_free(), "{}", verdict.describe(&t));
        }
        for r in (0..t.n_routers()).step_by(7) {
            let coords = t.coords(r).expect("a lattice");
            for dim in 0..coords.len() {
                let there = t.shifted(r, dim, 3).expect("a dimension");
                prop_assert_eq!(t.shifted(there, dim, -3), Some(r));
            }
        }
    }

    #[test]
    fn ports_that_go_by_place_are_the_same_however_a_packet_came(spec in lattices(), tie in 0usize..3, key in any::<u32>()) {
        let t = spec.build().expect("a valid lattice").with_ties([Tie::Positive, Tie::Unwrapped, Tie::Split][tie]);
        if t.has_one_port_by_place() && t.n_routers() <= 100 {
            for at in 0..t.n_routers() {
                let came = (0..t.wiring().radix(at) as u16).flat_map(|port| [0, 1].map(|vc| Came { port, vc }));
                let came: Vec<Came> = came.chain([Came::INJECTED]).collect();
                for node in 0..t.n_nodes() {
                    let first = t.minimal(at, node, Came::INJECTED, 0);
                    let all = came.iter().map(|&came| t.minimal(at, node, came, key));
                    prop_assert!(all.into_iter().all(|hop| (hop.port, hop.links) == (first.port, 1) || hop.is_eject()));
                }
            }
        }
    }

    #[test]
    fn dragonflies_and_trees_route_within_their_bounds(spec in indirect()) {
        let t = spec.build().expect("a valid specification");
        holds(&t, 2000)?;
        let verdict = check(&t, &MinimalRule::new(&t));
        prop_assert!(verdict.is_free(), "{}", verdict.describe(&t));
    }

    #[test]
    fn random_connected_graphs_route_minimally(n in 2u32..30, extra in prop::collection::vec((0u32..30, 0u32..30, 1u32..4), 0..40), seed in any::<u32>()) {
        let tree = (1..n).map(|i| format!("{i} {}\n", seed.rotate_left(i) % i));
        let more = extra.iter().filter(|(a, b, _)| a % n != b % n).map(|(a, b, c)| format!("{} {} {c}\n", a % n, b % n));
        let text: String = tree.chain(more).collect();
        let spec = TopologySpec::Graph(GraphSpec { text: None, file: "-".into(), format: GraphFormat::EdgeList, nodes_per_router: 1 });
        let t = spec.build_with_text(&text).expect("a connected graph");
        holds(&t, 900)?;
        let verdict = check(&t, &MinimalRule::new(&t));
        prop_assert!(verdict.is_free(), "{}", verdict.describe(&t));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "([a-c0-3 #]|node|\\n|<|/>|<node id=\"a\">|<edge source=\"a\" target=\"b\"/>|<graph>|&amp;|&){0,40}", xml in any::<bool>()) {
        let format = if xml { GraphFormat::Graphml } else { GraphFormat::EdgeList };
        let spec = TopologySpec::Graph(GraphSpec { text: None, file: "-".into(), format, nodes_per_router: 1 });
        match spec.build_with_text(&text) {
            Ok(t) => prop_assert_eq!(t.wiring().verify(), Ok(())),
            Err(errors) => prop_assert!(!errors.is_empty()),
        }
    }
}
