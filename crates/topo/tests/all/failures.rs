//! What failures leave: whole wirings, ways that arrive wherever a search finds one, no cycle of waiting, and nothing changed that is not concerned.

use crate::common::*;
use std::collections::VecDeque;
use topo::{
    AnyMinimalRule, Came, FailKind, FailSpec, HopList, MinimalRule, RoutingRule, Topology, TopologySpec, ValiantRule,
    check, verify_routes,
};

/// Hops to a router in the wiring alone; `u32::MAX` where there is no way.
fn searched(topology: &Topology, to: u32) -> Vec<u32> {
    let wiring = topology.wiring();
    let mut hops = vec![u32::MAX; topology.n_routers() as usize];
    hops[to as usize] = 0;
    let mut queue = VecDeque::from([to]);
    while let Some(at) = queue.pop_front() {
        for port in 0..wiring.radix(at) as u16 {
            let peer = wiring.peer(at, port).0;
            if hops[peer as usize] == u32::MAX {
                hops[peer as usize] = hops[at as usize] + 1;
                queue.push_back(peer);
            }
        }
    }
    hops
}

fn is_grouped(topology: &Topology) -> bool {
    topology.group_size().is_some()
}

fn keeps_its_promises(topology: &Topology, what: &str) {
    assert_eq!(topology.wiring().verify(), Ok(()), "{what}");
    for to in 0..topology.n_routers() {
        let search = searched(topology, to);
        for from in 0..topology.n_routers() {
            let found = search[from as usize];
            assert_eq!(
                topology.are_joined(from, to),
                found != u32::MAX,
                "{what}: {from} to {to}"
            );
            if found == u32::MAX {
                assert!(topology.minimal_to(from, to, Came::INJECTED, 0).is_eject());
                continue;
            }
            let distance = topology.distance(from, to);
            match is_grouped(topology) {
                false => assert_eq!(distance, found, "{what}: {from} to {to}"),
                // Third groups are shorter sometimes, and are not counted where all is well.
                true => assert!(distance >= found, "{what}: {from} to {to}"),
            }
            let has_nodes = |router| !topology.wiring().nodes_of(router).is_empty();
            if has_nodes(from) && has_nodes(to) {
                assert!(found <= topology.diameter(), "{what}");
            }
        }
    }
    let minimal = MinimalRule::new(topology);
    let any = AnyMinimalRule {
        topology,
        vcs: AnyMinimalRule::vcs_of(topology),
    };
    let valiant = ValiantRule::new(topology, 2 * topology.minimal_vcs());
    let small = topology.n_routers() <= 24;
    let rules: [(&str, &dyn RoutingRule, bool); 3] = [
        ("minimal", &minimal, true),
        ("any", &any, true),
        ("valiant", &valiant, small),
    ];
    for (name, rule, tried) in rules {
        if !tried {
            continue;
        }
        if let Err(fault) = verify_routes(topology, rule, u64::MAX) {
            panic!("{what}: {name}: {fault:?}");
        }
        let verdict = check(topology, rule);
        assert!(verdict.is_free(), "{what}: {name}: {}", verdict.describe(topology));
    }
}

#[test]
fn random_failures_leave_ways_that_arrive_without_a_cycle() {
    for spec in enrolled() {
        let whole = spec.build().unwrap();
        let cables = whole.wiring().n_ports() / 2;
        if whole.n_routers() > 64 {
            continue;
        }
        for (of, most, count, seed) in [
            (FailKind::Cables, cables, 1, 1),
            (FailKind::Cables, cables, 2, 2),
            (FailKind::Cables, cables, 2, 3),
            (FailKind::Cables, cables, cables / 10, 4),
            (FailKind::Cables, cables, cables / 3, 5),
            (FailKind::Routers, whole.n_routers(), 1, 6),
            (FailKind::Routers, whole.n_routers(), whole.n_routers() / 5, 7),
        ] {
            if count == 0 || count > most {
                continue;
            }
            let left = spec
                .build()
                .unwrap()
                .without(&FailSpec::random(of, count, seed))
                .unwrap();
            keeps_its_promises(&left, &format!("{spec:?}, {count} {of:?} by seed {seed}"));
        }
    }
}

/// Whether a dead cable led nearer to a router, from any other one; on groups, whether it is of its group.
fn is_concerned(whole: &Topology, dead: &[(u32, u16)], to: u32) -> bool {
    let mut hops = HopList::new();
    dead.iter().any(|&(router, port)| {
        let (peer, back) = whole.wiring().peer(router, port);
        if is_grouped(whole) {
            let groups = [router, peer].map(|router| whole.group(router));
            return groups[0] == groups[1] || groups.contains(&whole.group(to));
        }
        [(router, port), (peer, back)].iter().any(|&(at, port)| {
            whole.minimal_hops(at, to, &mut hops);
            hops.iter().any(|hop| (hop.port..hop.port + hop.links).contains(&port))
        })
    })
}

#[test]
fn towards_whom_no_failure_concerns_every_hop_is_as_before() {
    let mut tried = 0;
    for spec in enrolled() {
        let whole = spec.build().unwrap();
        if whole.n_routers() > 64 || whole.wiring().n_ports() < 2 || matches!(spec, TopologySpec::Graph(_)) {
            continue;
        }
        let left = spec
            .build()
            .unwrap()
            .without(&FailSpec::random(FailKind::Cables, 1, 8))
            .unwrap();
        let dead = &left.fallout().unwrap().cables;
        let (mut own, mut expected) = (HopList::new(), HopList::new());
        for (at, node) in (0..whole.n_routers()).flat_map(|at| (0..whole.n_nodes()).map(move |node| (at, node))) {
            let to = whole.router_of(node);
            if at == to || is_concerned(&whole, dead, to) {
                continue;
            }
            tried += 1;
            let peers = |topology: &Topology, hops: &HopList| {
                let mut peers: Vec<u32> = hops.iter().map(|hop| topology.wiring().peer(at, hop.port).0).collect();
                peers.dedup();
                peers
            };
            for key in whole.key_classes().into_iter().take(64) {
                let peers =
                    [&left, &whole].map(|t| t.wiring().peer(at, t.minimal(at, node, Came::INJECTED, key).port).0);
                assert_eq!(peers[0], peers[1], "{spec:?}: {at} to node {node}");
            }
            left.minimal_hops(at, to, &mut own);
            whole.minimal_hops(at, to, &mut expected);
            assert_eq!(
                peers(&left, &own),
                peers(&whole, &expected),
                "{spec:?}: {at} to router {to}"
            );
            assert_eq!(left.distance(at, to), whole.distance(at, to), "{spec:?}");
        }
    }
    assert!(tried > 1_000, "{tried}");
}

#[test]
fn cables_that_have_lost_lanes_have_a_class_of_their_own_and_the_same_ways() {
    let spec = torus(&[4, 4], &[], 1);
    let whole = spec.build().unwrap();
    let fail = FailSpec {
        cables: vec!["(1,1) y-".into(), "(0,0) x+".into()],
        keeps: Some(0.25),
        ..FailSpec::default()
    };
    let slow = spec.build().unwrap().without(&fail).unwrap();
    assert_eq!(slow.class_names(), ["host", "x", "y", "x at 25 %", "y at 25 %"]);
    assert!(!slow.is_curtailed() && slow.wiring().verify() == Ok(()));
    assert_eq!(
        (slow.rate_of_class(4), slow.rate_of_class(2)),
        (("y", 0.25), ("y", 1.0))
    );
    assert_eq!(slow.wiring().port_offset, whole.wiring().port_offset);
    let differ = |i: &usize| slow.wiring().class[*i] != whole.wiring().class[*i];
    let changed: Vec<(u32, u16)> = (0..64).filter(differ).map(|i| slow.wiring().port_at(i)).collect();
    let names: Vec<String> = changed.iter().map(|&(r, p)| slow.cable_name(r, p)).collect();
    assert_eq!(names, ["(0,0) x+", "(1,0) x-", "(1,0) y+", "(1,1) y-"]);
    // A router beside them that is dead, and takes one of the cables with it.
    let both = FailSpec {
        routers: vec!["(0,0)".into()],
        ..fail
    };
    let left = spec.build().unwrap().without(&both).unwrap();
    let fallout = left.fallout().unwrap();
    assert_eq!((fallout.cables.len(), fallout.impaired.len()), (4, 1));
    let slow_ports = (0..left.wiring().n_ports() as usize).filter(|&i| left.wiring().class[i] > 2);
    let names: Vec<String> = slow_ports
        .map(|i| left.wiring().port_at(i))
        .map(|(r, p)| left.cable_name(r, p))
        .collect();
    assert_eq!(names, ["(1,0) y+", "(1,1) y-"]);
}

#[test]
fn a_way_without_a_dead_cable_is_as_before() {
    // One link of a torus: the targets that no packet goes to over it, from any router.
    let spec = torus(&[5, 4], &[], 1);
    let whole = spec.build().unwrap();
    let fail = FailSpec {
        cables: vec!["(0,0) x+".into()],
        ..FailSpec::default()
    };
    let left = spec.build().unwrap().without(&fail).unwrap();
    let fallout = left.fallout().unwrap();
    assert_eq!(
        (fallout.cables.len(), fallout.routers.len(), fallout.nodes.len()),
        (1, 0, 0)
    );
    assert_eq!(whole.port_name(0, fallout.cables[0].1), "x+");
    let names = |topology: &Topology, at: u32| {
        (0..topology.wiring().radix(at) as u16)
            .map(|port| topology.port_name(at, port))
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&left, 0), ["x-", "y+", "y-"]);
    assert_eq!(names(&left, 1), ["x+", "y+", "y-"]);
    assert_eq!(names(&left, 2), names(&whole, 2));
    // Dimension order from (x, 0) over (0,0) x+: from 0, 4 and 3 to columns 1 and 2, and back the same.
    let (lost, first) = left.lost_ways(3);
    let counted = (0..20).flat_map(|a| (0..20).map(move |b| (a, b))).filter(|&(a, b)| {
        let (mut at, mut crossed) = (a, false);
        while at != b {
            let hop = whole.minimal_to(at, b, Came::INJECTED, 0);
            let peer = whole.wiring().peer(at, hop.port).0;
            crossed |= (at, peer) == (0, 1) || (at, peer) == (1, 0);
            at = peer;
        }
        crossed
    });
    assert_eq!(lost, counted.count() as u64);
    assert_eq!(first.len(), 3);
}

#[test]
fn a_thinned_bundle_keeps_its_ways() {
    let spec = torus(&[4, 4], &[2, 2], 1);
    let whole = spec.build().unwrap();
    let fail = FailSpec {
        cables: vec!["(1,1) y- #1".into()],
        ..FailSpec::default()
    };
    let left = spec.build().unwrap().without(&fail).unwrap();
    assert_eq!(left.lost_ways(1).0, 0);
    for (a, b) in (0..16)
        .flat_map(|a| (0..16).map(move |b| (a, b)))
        .filter(|(a, b)| a != b)
    {
        let [one, other] = [&left, &whole].map(|t| t.wiring().peer(a, t.minimal_to(a, b, Came::INJECTED, 0).port).0);
        assert_eq!(one, other);
    }
    let bundle = FailSpec {
        cables: vec!["(1,1) y- #*".into()],
        ..FailSpec::default()
    };
    assert_eq!(
        spec.build()
            .unwrap()
            .without(&bundle)
            .unwrap()
            .fallout()
            .unwrap()
            .cables
            .len(),
        2
    );
}

#[test]
fn a_tree_with_a_dead_cable_needs_no_further_channel() {
    let spec = fat_tree(&[4, 4], &[4], &[1]);
    let fail = FailSpec {
        cables: vec!["L1.0 to L2.3".into()],
        ..FailSpec::default()
    };
    let left = spec.build().unwrap().without(&fail).unwrap();
    assert_eq!((left.minimal_vcs(), left.diameter()), (1, 2));
    // What the dead cable carried is spread by node; the rest is as before.
    let whole = spec.build().unwrap();
    let mut moved = Vec::new();
    for node in 4..16 {
        let [now, before] = [&left, &whole].map(|t| t.wiring().peer(0, t.minimal(0, node, Came::INJECTED, 0).port).0);
        assert!(now == before || before == 7, "node {node}");
        moved.extend((before == 7).then_some(now));
    }
    moved.sort_unstable();
    assert_eq!(moved, [4, 5, 6]);
}

#[test]
fn one_dead_global_link_sends_its_groups_over_a_third() {
    let spec = dragonfly(9, &[4], 2, 1, 1, topo::Arrangement::Absolute);
    let whole = spec.build().unwrap();
    let (router, port) = (0..4)
        .flat_map(|r| (0..whole.wiring().radix(r) as u16).map(move |p| (r, p)))
        .find(|&(r, p)| whole.group(whole.wiring().peer(r, p).0) == Some(1))
        .unwrap();
    let name = format!("{} {}", whole.router_name(router), whole.port_name(router, port));
    let fail = FailSpec {
        cables: vec![name],
        ..FailSpec::default()
    };
    let left = spec.build().unwrap().without(&fail).unwrap();
    let groups = |from: u32, to: u32, key: u32| {
        let (mut at, mut came, mut seen) = (from, Came::INJECTED, vec![whole.group(from).unwrap()]);
        while at != to {
            let hop = left.minimal_to(at, to, came, key);
            let (peer, back) = left.wiring().peer(at, hop.port);
            (at, came) = (peer, Came { port: back, vc: hop.vc });
            seen.push(whole.group(at).unwrap());
        }
        seen.dedup();
        seen
    };
    for (from, to) in (0..36).flat_map(|a| (0..36).map(move |b| (a, b))) {
        let ends = (whole.group(from).unwrap(), whole.group(to).unwrap());
        let expected = match ends {
            (a, b) if a == b => 1,
            (0, 1) | (1, 0) => 3,
            _ => 2,
        };
        assert_eq!(groups(from, to, 7 * from + to).len(), expected, "{from} to {to}");
    }
}

#[test]
fn more_failures_of_a_seed_are_the_fewer_ones_and_others() {
    let of = |count| {
        let left = mesh(&[6, 6], &[], 1)
            .build()
            .unwrap()
            .without(&FailSpec::random(FailKind::Cables, count, 9))
            .unwrap();
        left.fallout().unwrap().cables.clone()
    };
    let (few, many) = (of(3), of(7));
    assert_eq!((few.len(), many.len()), (3, 7));
    assert!(few.iter().all(|cable| many.contains(cable)));
}

#[test]
fn what_cannot_fail_is_named() {
    let build = || mesh(&[3, 3], &[], 1).build().unwrap();
    let wrong = |fail: FailSpec| {
        build()
            .without(&fail)
            .unwrap_err()
            .into_iter()
            .map(|e| e.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        wrong(FailSpec {
            cables: vec!["(0,0) x-".into(), "(0,0) x+".into(), "none".into()],
            routers: vec!["(9,9)".into()],
            nodes: vec![9],
            groups: vec![3],
            ..FailSpec::default()
        }),
        [
            "cables[0]: no cable is called `(0,0) x-` (cables are called as in links.parquet, here for instance `(0,0) x+`)",
            "cables[2]: no cable is called `none` (cables are called as in links.parquet, here for instance `(0,0) x+`)",
            "routers[0]: no router is called `(9,9)` (routers here are called as `(0,0)` is)",
            "nodes[0]: there is no node 9 (nodes are 0 to 8)",
            "groups[0]: there is no group 3 (groups are 0 to 2)",
        ]
    );
    assert_eq!(
        wrong(FailSpec::random(FailKind::Cables, 13, 1)),
        ["count: 13 cables are to fail, 12 are left to fail (let fewer fail)"]
    );
    let mut unknown = FailSpec::random(FailKind::Cables, 1, 1);
    unknown.drawn.as_mut().unwrap().class = Some("up".into());
    assert_eq!(
        wrong(unknown),
        ["class: no cable between routers is of the class `up` (classes of cables between routers are x, y)"]
    );
}

/// Dead routers, and pieces that failures have parted, are in halves too; what is not joined is not cut.
#[test]
fn a_network_with_dead_routers_has_a_bisection() {
    let ring = TopologySpec::Ring(topo::RingSpec {
        routers: 8,
        nodes_per_router: 1,
        width: 1,
    });
    let dead = |routers: &[u32]| {
        let fail = FailSpec {
            routers: routers.iter().map(|router| format!("({router})")).collect(),
            ..FailSpec::default()
        };
        ring.build().unwrap().without(&fail).unwrap().bisection().cables
    };
    // A line of seven is cut once; two lines of three are halves as they are.
    assert_eq!((dead(&[7]), dead(&[0]), dead(&[3])), (1, 1, 1));
    assert_eq!(dead(&[0, 4]), 0);
    assert_eq!(dead(&[4, 0]), 0);
}
