//! Loads, bounds, distances and bisections against closed forms, exhaustive search and published numbers.

use crate::common::*;
use topo::bisection::BisectionMethod;
use topo::deadlock::{Verdict, check_within};
use topo::load::{LoadError, TrafficPattern, channel_load, saturation};
use topo::{Arrangement, MinimalRule, Topology, TopologySpec, check_or_reduced, preset, presets};

fn built(spec: &TopologySpec) -> Topology {
    spec.build().unwrap_or_else(|e| panic!("{spec:?}: {e:?}"))
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

fn most(load: &[f64]) -> f64 {
    load.iter().copied().fold(0.0, f64::max)
}

#[test]
fn uniform_load_of_minimal_routing_sums_to_the_mean_distance() {
    for spec in enrolled() {
        let t = built(&spec);
        let load = channel_load(&t, &MinimalRule::new(&t), &TrafficPattern::Uniform).unwrap();
        let expected = t.mean_distance().0 * f64::from(t.n_nodes());
        let sum: f64 = load.iter().sum();
        match spec {
            // Hierarchical routes may take local hops that the best choice of link would have saved.
            TopologySpec::Dragonfly(_) => assert!(sum >= expected - 1e-9, "{spec:?}"),
            TopologySpec::Graph(_) if t.n_nodes() != t.n_routers() => {
                assert!(sum <= f64::from(t.n_nodes() * t.diameter()))
            }
            _ => assert!(near(sum, expected), "{spec:?}: {sum} {expected}"),
        }
    }
}

#[test]
fn rings_and_hyperx_have_the_loads_of_the_textbook() {
    let t = built(&ring(8, 1, 1));
    let load = channel_load(&t, &MinimalRule::new(&t), &TrafficPattern::Uniform).unwrap();
    for r in 0..8 {
        // Positive links carry distances 1 to 4 (ties included), negative ones 1 to 3.
        assert!(
            near(load[t.wiring().port_index(r, 0)], 10.0 / 7.0) && near(load[t.wiring().port_index(r, 1)], 6.0 / 7.0)
        );
    }
    assert!(near(saturation(&t, &load, &[]), 0.7));
    let tornado = (0..8).map(|r| t.shifted(r, 0, 3).unwrap()).collect();
    let load = channel_load(&t, &MinimalRule::new(&t), &TrafficPattern::Permutation(tornado)).unwrap();
    assert!(near(most(&load), 3.0) && near(saturation(&t, &load, &[1.0, 2.0]), 2.0 / 3.0));

    let t = built(&hyperx(&[4, 4], &[1, 2], 1));
    let load = channel_load(&t, &MinimalRule::new(&t), &TrafficPattern::Uniform).unwrap();
    for (i, l) in load.iter().enumerate() {
        let cables = f64::from(t.wiring().class[i]);
        assert!(near(*l, 4.0 / 15.0 / cables));
    }
}

#[test]
fn d_mod_k_carries_every_shift_on_a_full_tree_without_contention() {
    for spec in [
        fat_tree(&[4, 4, 4], &[4, 4], &[]),
        fat_tree(&[4, 4, 2], &[4, 2], &[1, 2]),
        preset("ecp-8k-fat-tree").unwrap().reduced(),
    ] {
        let t = built(&spec);
        let n = t.n_nodes();
        for shift in 1..n {
            let to = (0..n).map(|i| (i + shift) % n).collect();
            let load = channel_load(&t, &MinimalRule::new(&t), &TrafficPattern::Permutation(to)).unwrap();
            assert!(near(most(&load), 1.0), "{spec:?} shift {shift}: {}", most(&load));
        }
    }
}

#[test]
fn wrong_traffic_is_refused() {
    let t = built(&ring(4, 1, 1));
    let rule = MinimalRule::new(&t);
    let load = |traffic| channel_load(&t, &rule, &traffic).unwrap_err();
    assert_eq!(
        load(TrafficPattern::Permutation(vec![0, 1])),
        LoadError::WrongLength { entries: 2, nodes: 4 }
    );
    assert_eq!(
        load(TrafficPattern::Matrix(vec![(0, 9, 1.0)])),
        LoadError::NoSuchNode { node: 9, nodes: 4 }
    );
    assert!(matches!(
        load(TrafficPattern::Matrix(vec![(0, 1, f64::NAN)])),
        LoadError::BadAmount { .. }
    ));
    assert!(matches!(
        load(TrafficPattern::Matrix(vec![(0, 1, -1.0)])),
        LoadError::BadAmount { .. }
    ));
}

#[test]
fn mean_distance_is_the_mean_over_all_pairs_of_nodes() {
    for spec in enrolled() {
        let t = built(&spec);
        let n = t.n_nodes();
        let mut sum = 0u64;
        for (a, b) in (0..n).flat_map(|a| (0..n).map(move |b| (a, b))) {
            sum += u64::from(t.distance(t.router_of(a), t.router_of(b)));
        }
        let expected = if n < 2 {
            0.0
        } else {
            sum as f64 / (f64::from(n) * f64::from(n - 1))
        };
        let (mean, sampled) = t.mean_distance();
        assert!(near(mean, expected) && sampled.is_none(), "{spec:?}: {mean} {expected}");
    }
}

/// The least cut over all ways to halve the nodes.
fn exhaustive(t: &Topology) -> u64 {
    let n = t.n_routers();
    let nodes = |set: u32| {
        (0..n)
            .filter(|r| set >> r & 1 == 1)
            .map(|r| t.wiring().nodes_of(r).len() as u32)
            .sum::<u32>()
    };
    let cut = |set: u32| {
        let crosses = |r: u32| {
            t.wiring()
                .runs(r)
                .filter(|run| (set >> r ^ set >> run.peer) & 1 == 1)
                .map(|run| u64::from(run.links))
                .sum::<u64>()
        };
        (0..n).map(crosses).sum::<u64>() / 2
    };
    (0..1u32 << n)
        .filter(|&set| 2 * nodes(set) == t.n_nodes())
        .map(cut)
        .min()
        .expect("an even number of nodes")
}

#[test]
fn bisections_equal_an_exhaustive_search() {
    let exact = [
        ring(6, 2, 1),
        mesh(&[4, 3], &[], 1),
        mesh(&[2, 6], &[3, 1], 1),
        torus(&[4, 4], &[], 1),
        torus(&[2, 2, 4], &[], 1),
        torus(&[2, 6], &[], 1),
        hyperx(&[4, 4], &[], 1),
        hyperx(&[4, 2], &[1, 2], 2),
        dragonfly(1, &[6], 1, 0, 2, Arrangement::Absolute),
        dragonfly(2, &[4], 1, 2, 1, Arrangement::Absolute),
        dragonfly(4, &[4], 1, 1, 1, Arrangement::Circulant),
        megafly(2, 3, 3, 1, 2, 1, Arrangement::Absolute),
        fat_tree(&[2, 4], &[2], &[]),
        fat_tree(&[2, 2, 2], &[2, 2], &[]),
        fat_tree(&[4, 2, 2], &[2, 1], &[]),
    ];
    for spec in exact {
        let t = built(&spec);
        let bisection = t.bisection();
        assert!(matches!(bisection.method, BisectionMethod::Formula(_)), "{spec:?}");
        assert_eq!(bisection.cables, exhaustive(&t), "{spec:?}");
    }
    for spec in [
        graph("petersen.edges", 2),
        torus(&[3, 4], &[], 1),
        torus(&[3, 5], &[], 2),
        mesh(&[3, 4], &[], 2),
    ] {
        let t = built(&spec);
        let bisection = t.bisection();
        if t.n_routers().is_multiple_of(2) {
            assert!(bisection.cables >= exhaustive(&t), "{spec:?}");
        }
        assert!(bisection.cables < u64::from(t.wiring().n_ports() / 2));
    }
    assert_eq!(
        built(&graph("petersen.edges", 2)).bisection(),
        topo::bisection::Bisection {
            cables: 5,
            method: BisectionMethod::Heuristic
        }
    );
}

#[test]
fn presets_are_the_machines_they_name() {
    for p in presets() {
        if p.name == "torus-100" {
            continue;
        }
        let t = built(&p.spec());
        let nodes: u32 = p.about.split(' ').next().unwrap().replace(',', "").parse().unwrap();
        assert_eq!(t.n_nodes(), nodes, "{}", p.name);
        let radix = (0..t.n_routers())
            .map(|r| t.wiring().radix(r) + t.wiring().nodes_of(r).len() as u32)
            .max()
            .unwrap();
        assert!(
            !p.name.starts_with("ecp") || (58..=64).contains(&radix),
            "{}: {radix} ports",
            p.name
        );
    }
    assert_eq!(preset("no-such-network"), None);
    let full = built(&preset("ecp-8k-fat-tree").unwrap());
    assert_eq!((full.n_routers(), full.bisection().cables), (256 + 256 + 128, 4096));
}

#[test]
fn tsubame2_has_the_bisection_and_mean_distance_of_its_talk() {
    let t = built(&preset("tsubame2-hyperx").unwrap());
    let m = t.metrics();
    assert_eq!((m.routers, m.nodes, m.radix, m.diameter), (96, 672, 7 + 11 + 7, 2));
    // "57% bisection BW": cables across the middle against half of the nodes.
    assert_eq!(m.bisection.cables, 192);
    assert!((m.bisection.cables as f64 / 336.0 - 0.57).abs() < 0.005);
    // 1.79 hops between switches.
    assert!((m.mean_distance - 1.79).abs() < 0.01);
    assert_eq!(m.cables, [("host".into(), 672), ("x".into(), 336), ("y".into(), 528)]);
}

#[test]
fn tsubame2_s_hyperx_and_fat_tree_have_the_cables_of_their_switches() {
    let hyperx = built(&preset("tsubame2-hyperx").unwrap()).metrics();
    // Nodes in order fill a rack, four switches of a column.
    assert_eq!(built(&preset("tsubame2-hyperx").unwrap()).router_of(27), 3);
    // 96 switches with 11 + 7 cables to others, and a cable to each node.
    let between = |metrics: &topo::Metrics| metrics.cables[1..].iter().map(|(_, n)| n).sum::<u64>();
    assert_eq!(between(&hyperx), 96 * (11 + 7) / 2);
    assert_eq!(
        (hyperx.cables[0].1, between(&hyperx) + hyperx.cables[0].1),
        (672, 1_536)
    );
    let tree = built(&preset("tsubame2-fat-tree").unwrap());
    let metrics = tree.metrics();
    assert_eq!((metrics.nodes, metrics.routers), (48 * 14, 48 + 54 + 27));
    assert_eq!(
        metrics.cables,
        [("host".into(), 672), ("leaf".into(), 48 * 18), ("top".into(), 27 * 36)]
    );
    // Up to a middle switch, up to a top, and down again.
    assert_eq!(metrics.diameter, 4);
    let wiring = tree.wiring();
    let ports = |kind: &str| -> Vec<(u32, usize)> {
        (0..tree.n_routers())
            .filter(|&r| tree.router_name(r).starts_with(kind))
            .map(|r| (wiring.radix(r), wiring.nodes_of(r).len()))
            .collect()
    };
    assert_eq!(ports("leaf"), vec![(18, 14); 48]);
    assert_eq!(ports("middle"), vec![(16 + 18, 0); 54]);
    assert_eq!(ports("top"), vec![(36, 0); 27]);
    // Every top switch serves every pod alike, and nodes come leaf by leaf.
    let number = |r: u32| -> u32 {
        tree.router_name(r)
            .trim_start_matches(char::is_alphabetic)
            .parse()
            .unwrap()
    };
    for top in (0..tree.n_routers()).filter(|&r| tree.router_name(r).starts_with("top")) {
        let mut of_pod = [0; 3];
        (0..36).for_each(|p| of_pod[number(wiring.peer(top, p).0) as usize / 18] += 1);
        assert_eq!(of_pod, [12; 3]);
    }
    for leaf in 0..48 {
        assert_eq!(tree.router_name(tree.router_of(14 * leaf)), format!("leaf{leaf}"));
    }
}

#[test]
fn a_million_routers_are_built_and_answer() {
    let t = built(&preset("torus-100").unwrap());
    assert_eq!(
        (t.n_routers(), t.wiring().n_ports(), t.diameter()),
        (1_000_000, 6_000_000, 150)
    );
    assert_eq!(t.distance(0, 999_999), 3);
    assert_eq!(t.coords(123_456), Some(vec![56, 34, 12]));
    assert!((t.mean_distance().0 - 75.0).abs() < 1e-3);
    assert_eq!(t.wiring().verify(), Ok(()));
}

#[test]
fn a_cycle_among_the_dependencies_found_up_to_a_limit_is_a_verdict() {
    let t = built(&torus(&[16], &[], 1));
    let free = |limit: u64| check_within(&t, &MinimalRule::new(&t), limit);
    let round = |limit: u64| check_within(&t, &MinimalRule::new(&t).limited_to(1), limit);
    let enough = (1..).find(|&limit| free(limit).is_free()).unwrap();
    assert!(enough > 16 * 16);
    for limit in 1..=enough {
        // Nothing is called free before all packets have been followed.
        assert_eq!(free(limit).is_free(), limit == enough, "{limit} steps");
        assert!(!round(limit).is_free(), "{limit} steps");
    }
    // Packets to more than half of all nodes close the ring.
    assert!(matches!(round(enough * 3 / 4), Verdict::Cycle(_)));
    assert!(matches!(round(enough / 4), Verdict::TooLarge { .. }));
}

#[test]
fn networks_too_large_for_a_check_are_proved_on_a_small_one() {
    let t = built(&preset("torus-32").unwrap());
    let proof = check_or_reduced(&t, topo::deadlock::MOST_STEPS, |t| Box::new(MinimalRule::new(t))).unwrap();
    assert!(
        proof.verdict.is_free() && proof.reduced == Some(torus(&[4, 4, 4], &[], 1)),
        "{}",
        proof.words
    );
    let proof = check_or_reduced(&t, topo::deadlock::MOST_STEPS, |t| {
        Box::new(MinimalRule::new(t).limited_to(1))
    })
    .unwrap();
    assert!(proof.words.contains("x+ vc0 -> "), "{}", proof.words);
}
