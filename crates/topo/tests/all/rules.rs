//! The stated rules of each family's own routing, wiring and names, on cases worked by hand.

use crate::common::*;
use topo::{Arrangement, Came, Hop, Tie, Topology, TopologySpec};

/// The way of one packet: (router, port name, VC) of each hop.
fn way(t: &Topology, from: u32, to_node: u32, key: u32) -> Vec<(u32, String, u8)> {
    let (mut at, mut came, mut all) = (from, Came::INJECTED, Vec::new());
    loop {
        let hop = t.minimal(at, to_node, came, key);
        if hop.is_eject() {
            return all;
        }
        all.push((at, t.port_name(at, hop.port), hop.vc));
        let (next, back) = t.wiring().peer(at, hop.port);
        (at, came) = (next, Came { port: back, vc: hop.vc });
    }
}

fn is(given: Vec<(u32, String, u8)>, expected: &[(u32, &str, u8)]) {
    let expected: Vec<(u32, String, u8)> = expected.iter().map(|&(r, p, v)| (r, p.to_owned(), v)).collect();
    assert_eq!(given, expected);
}

fn built(spec: TopologySpec) -> Topology {
    spec.build().unwrap_or_else(|e| panic!("{spec:?}: {e:?}"))
}

#[test]
fn the_wrap_link_changes_the_vc_and_a_new_dimension_resets_it() {
    let t = built(torus(&[8, 4], &[], 1));
    is(
        way(&t, 6, 9, 0),
        &[(6, "x+", 0), (7, "x+", 1), (0, "x+", 1), (1, "y+", 0)],
    );
    is(
        way(&t, 1, 30, 0),
        &[(1, "x-", 0), (0, "x-", 1), (7, "x-", 1), (6, "y-", 1)],
    );
    // At half way around the positive direction is taken.
    is(
        way(&t, 2, 6, 0),
        &[(2, "x+", 0), (3, "x+", 0), (4, "x+", 0), (5, "x+", 0)],
    );
    is(
        way(&t, 7, 3, 0),
        &[(7, "x+", 1), (0, "x+", 1), (1, "x+", 1), (2, "x+", 1)],
    );
    // A packet that came from another dimension starts on VC 0 although it came on VC 1.
    let y_minus = 3;
    assert_eq!(
        t.minimal(9, 11, Came { port: y_minus, vc: 1 }, 0),
        Hop {
            port: 0,
            links: 1,
            dim: 0,
            vc: 0
        }
    );
}

#[test]
fn two_routers_of_a_torus_have_two_distinct_cables() {
    let t = built(torus(&[2], &[3], 1));
    assert_eq!((t.wiring().radix(0), t.wiring().n_ports()), (6, 12));
    for cable in 0..3 {
        assert_eq!(
            (t.wiring().peer(0, cable), t.wiring().peer(0, 3 + cable)),
            ((1, 3 + cable), (1, cable))
        );
    }
    let mut hops = topo::HopList::new();
    t.minimal_hops(0, 1, &mut hops);
    assert_eq!(
        *hops,
        [Hop {
            port: 0,
            links: 6,
            dim: 0,
            vc: 0
        }]
    );
    assert_eq!(
        t.minimal(0, 1, Came::INJECTED, 0),
        Hop {
            port: 0,
            links: 3,
            dim: 0,
            vc: 0
        }
    );
    assert_eq!((t.port_name(0, 1), t.port_name(0, 3)), ("x+ #1".into(), "x-".into()));
}

#[test]
fn a_mesh_and_a_hyperx_go_in_dimension_order() {
    let t = built(mesh(&[3, 3], &[2, 1], 1));
    is(
        way(&t, 2, 6, 0),
        &[(2, "x-", 0), (1, "x-", 0), (0, "y+", 0), (3, "y+", 0)],
    );
    assert_eq!(
        (t.lattice_neighbour(2, 0, true), t.lattice_neighbour(2, 0, false)),
        (None, Some(1))
    );
    assert_eq!(t.shifted(2, 0, 1), Some(0));
    let t = built(hyperx(&[4, 3, 2], &[1, 2, 1], 2));
    is(way(&t, 1, 2 * 23, 0), &[(1, "x=3", 0), (3, "y=2", 0), (11, "z=1", 0)]);
    assert_eq!(t.minimal(3, 46, Came::INJECTED, 0).links, 2);
    assert_eq!(t.router_name(23), "(3,2,1)");
    assert_eq!((t.shifted(0, 3, 1), t.lattice_neighbour(0, 2, false)), (None, Some(12)));
}

#[test]
fn a_dragonfly_packet_counts_its_global_hops() {
    let t = built(dragonfly(9, &[4], 2, 1, 1, Arrangement::Absolute));
    // Group 0: slots 0..8 go to groups 1..9, two per router: group 8 is reached from router 3 of group 0, and lands on router 0 there.
    is(
        way(&t, 0, 2 * (8 * 4 + 1), 0),
        &[(0, "to g0.r3", 0), (3, "to g8.r0", 0), (32, "to g8.r1", 1)],
    );
    is(way(&t, 3, 2 * (8 * 4), 0), &[(3, "to g8.r0", 0)]);
    is(way(&t, 3, 2, 0), &[(3, "to g0.r1", 0)]);
    let t = built(dragonfly(2, &[3, 4], 1, 1, 1, Arrangement::Relative));
    // The only global cable joins the routers (0,0): column first within the row, then the row.
    is(
        way(&t, 11, 23, 0),
        &[
            (11, "to g0.(2,0)", 0),
            (8, "to g0.(0,0)", 0),
            (0, "to g1.(0,0)", 0),
            (12, "to g1.(0,3)", 1),
            (15, "to g1.(2,3)", 1),
        ],
    );
}

#[test]
fn a_router_uses_its_own_global_links_and_the_key_chooses_among_several() {
    let t = built(dragonfly(2, &[2], 1, 4, 1, Arrangement::Absolute));
    let ports: std::collections::BTreeSet<String> = t
        .key_classes()
        .iter()
        .map(|&k| t.port_name(0, t.minimal(0, 3, Came::INJECTED, k).port))
        .collect();
    assert_eq!(ports.into_iter().collect::<Vec<_>>(), ["to g1.r0"]);
    let t = built(dragonfly(2, &[4], 1, 2, 1, Arrangement::Absolute));
    let way = |key| t.port_name(1, t.minimal(1, 7, Came::INJECTED, key).port);
    assert_eq!((way(0), way(u32::MAX)), ("to g0.r0".into(), "to g0.r2".into()));
}

#[test]
fn a_dragonfly_plus_goes_up_over_and_down_and_uses_all_there_is() {
    for (groups, leaves, spines, links, width) in [
        (1, 3, 2, 1, 1),
        (3, 2, 3, 1, 2),
        (4, 3, 2, 2, 1),
        (3, 2, 4, 7, 1),
        (9, 2, 3, 1, 1),
        (2, 4, 2, 12, 2),
    ] {
        for arrangement in [Arrangement::Absolute, Arrangement::Circulant, Arrangement::Random] {
            let t = built(megafly(groups, leaves, spines, 1, links, width, arrangement));
            let keys: Vec<u32> = (0..64).flat_map(|a| (0..64).map(move |b| a << 26 | b << 10)).collect();
            let n_nodes = t.n_nodes();
            for (at, node) in (0..t.n_routers()).flat_map(|at| (0..n_nodes).map(move |node| (at, node))) {
                let to = t.router_of(node);
                if at == to {
                    continue;
                }
                let all = (0..t.wiring().radix(at) as u16).map(|port| (port, t.wiring().peer(at, port).0));
                let (local, global): (Vec<_>, Vec<_>) = all.partition(|&(_, next)| t.group(next) == t.group(at));
                let owns = |&(_, next): &(u16, u32)| t.group(next) == t.group(to);
                let over: Vec<_> = global.iter().copied().filter(owns).collect();
                let is_leaf = !t.wiring().nodes_of(at).is_empty();
                let expected = match (t.group(at) == t.group(to), is_leaf) {
                    // Any spine, or straight down.
                    (true, true) => local,
                    (true, false) => local.into_iter().filter(|&(_, next)| next == to).collect(),
                    // A spine with a link to the group.
                    (false, true) => {
                        let leads = |spine: u32| {
                            (0..t.wiring().radix(spine) as u16)
                                .any(|port| owns(&(port, t.wiring().peer(spine, port).0)))
                        };
                        local.into_iter().filter(|&(_, spine)| leads(spine)).collect()
                    }
                    // A link to the group, or, of a spine without, any leaf.
                    (false, false) if over.is_empty() => local,
                    (false, false) => over,
                };
                let mut used = std::collections::BTreeSet::new();
                for &key in &keys {
                    let hop = t.minimal(at, node, Came::INJECTED, key);
                    let (port, n) = (u32::from(hop.port), u32::from(hop.links));
                    assert_eq!(t.over_spines(at, node, || key), Some((port, n)));
                    used.extend(hop.port..hop.port + hop.links);
                }
                let expected: std::collections::BTreeSet<u16> = expected.into_iter().map(|(port, _)| port).collect();
                assert_eq!(
                    used, expected,
                    "{at} to {to} of {groups} {leaves} {spines} {links} {arrangement:?}"
                );
            }
        }
    }
    let other = built(dragonfly(3, &[4], 2, 2, 1, Arrangement::Absolute));
    assert_eq!(other.over_spines(0, 20, || unreachable!()), None);
}

#[test]
fn d_mod_k_takes_the_digits_of_the_destination() {
    let t = built(fat_tree(&[4, 4, 4], &[4, 4], &[]));
    // Node 27 = 3 + 4 * 2 + 16 * 1: parent 3 at the leaf, parent 2 above; leaf 6 of pod 1 on the way down.
    is(
        way(&t, 0, 27, 0),
        &[
            (0, "to L2.3", 0),
            (19, "to L3.11", 0),
            (43, "to L2.7", 0),
            (23, "to L1.6", 0),
        ],
    );
    // Parallel cables: eight cables to two parents, cable = (number / 2).
    let t = built(fat_tree(&[8, 2], &[2], &[4]));
    let port = |node| t.minimal(0, node, Came::INJECTED, 0);
    assert_eq!(
        port(8 + 5),
        Hop {
            port: 4 + 2,
            links: 1,
            dim: 0,
            vc: 0
        }
    );
    assert_eq!(
        t.minimal(3, 8 + 5, Came::INJECTED, 0),
        Hop {
            port: 4 + 2,
            links: 1,
            dim: 1,
            vc: 0
        }
    );
}

#[test]
fn parallel_cables_share_one_entry_and_one_name() {
    let t = built(megafly(3, 2, 2, 1, 4, 2, Arrangement::Absolute));
    assert_eq!(
        (t.router_name(1), t.router_name(6)),
        ("g0.leaf1".into(), "g1.spine0".into())
    );
    assert_eq!(
        (t.port_name(0, 0), t.port_name(0, 1), t.port_name(0, 2)),
        ("to g0.spine0".into(), "to g0.spine0 #1".into(), "to g0.spine1".into())
    );
    assert_eq!(t.class_names(), ["host", "local", "global"]);
    let t = built(graph("star-of-rings.graphml", 1));
    assert_eq!((t.router_name(0), t.port_name(0, 4)), ("hub".into(), "to b0 #1".into()));
    assert_eq!(t.class_names(), ["host", "link", "spoke"]);
}

#[test]
fn split_ties_load_both_directions_of_every_ring_alike() {
    // Rings of four and eight, also one by itself, and dimensions of two, whose two cables are both used.
    for shape in [vec![4, 4, 2], vec![8], vec![4, 8, 2], vec![2, 2, 4]] {
        let routers: u32 = shape.iter().product();
        let lattice = topo::Lattice {
            shape: shape.clone(),
            width: vec![],
            nodes_per_router: 1,
        };
        let loads = |tie: Tie| {
            let torus = TopologySpec::Torus(lattice.clone()).build().unwrap().with_ties(tie);
            let wiring = torus.wiring();
            let mut loads = vec![0u32; *wiring.port_offset.last().unwrap() as usize];
            for (a, b) in (0..routers).flat_map(|a| (0..routers).map(move |b| (a, b))) {
                let (mut at, mut came, mut hops) = (a, Came::INJECTED, 0);
                while at != b {
                    let hop = torus.minimal(at, b, came, 0);
                    let port = wiring.port_offset[at as usize] + u32::from(hop.port);
                    // Parallel cables share alike.
                    for cable in port..port + u32::from(hop.links) {
                        loads[cable as usize] += 4 / u32::from(hop.links);
                    }
                    came = Came {
                        port: wiring.peer_port[port as usize],
                        vc: hop.vc,
                    };
                    (at, hops) = (wiring.peer_router[port as usize], hops + 1);
                }
                assert_eq!(hops, torus.distance(a, b));
            }
            let used: Vec<u32> = loads.into_iter().filter(|&load| load > 0).collect();
            (used.len(), *used.iter().min().unwrap(), *used.iter().max().unwrap())
        };
        let (links, least, most) = loads(Tie::Split);
        // Every direction of every cable, and in a dimension of k routers k / 8 ways a pair of routers, in quarters.
        assert_eq!(links as u32, 2 * routers * shape.len() as u32, "{shape:?}");
        let longest = *shape.iter().max().unwrap();
        assert_eq!(most, routers * longest / 2, "{shape:?}");
        let shortest = *shape.iter().min().unwrap();
        assert_eq!(least, routers * shortest / 2, "{shape:?}");
        assert!(loads(Tie::Positive).2 > most, "{shape:?}");
    }
}

#[test]
fn ties_without_the_wrap_around_link_are_minimal_and_go_as_on_a_mesh() {
    let lattice = topo::Lattice {
        shape: vec![4, 5, 2],
        width: vec![],
        nodes_per_router: 1,
    };
    let torus = TopologySpec::Torus(lattice).build().unwrap().with_ties(Tie::Unwrapped);
    assert_eq!(torus.tie(), Tie::Unwrapped);
    let mut ties = 0;
    for (a, b) in (0..40).flat_map(|a| (0..40).map(move |b| (a, b))) {
        let (from, to) = (torus.coords(a).unwrap(), torus.coords(b).unwrap());
        let differ: Vec<usize> = (0..3).filter(|&d| from[d] != to[d]).collect();
        if differ.is_empty() {
            assert!(torus.minimal_along(a, b, Came::INJECTED, |_| 0).is_eject());
            continue;
        }
        for (i, &dim) in differ.iter().enumerate() {
            let pick = |n| {
                assert_eq!(n as usize, differ.len());
                i as u32
            };
            let hop = torus.minimal_along(a, b, Came::INJECTED, pick);
            assert_eq!(usize::from(hop.dim), dim);
            let next =
                torus.wiring().peer_router[(torus.wiring().port_offset[a as usize] + u32::from(hop.port)) as usize];
            assert_eq!(torus.distance(next, b) + 1, torus.distance(a, b), "{from:?} to {to:?}");
            if 2 * from[dim].abs_diff(to[dim]) == [4, 5, 2][dim] {
                ties += 1;
                let plus = torus.lattice_neighbour(a, dim, true).unwrap();
                let minus = torus.lattice_neighbour(a, dim, false).unwrap();
                assert_eq!(next, if to[dim] > from[dim] { plus } else { minus });
                // Ports of a dimension: plus first, then minus, also where both lead to the same router.
                assert_eq!(hop.port % 2, u16::from(to[dim] < from[dim]));
            }
        }
        let first = torus.minimal_along(a, b, Came::INJECTED, |_| 0);
        assert_eq!(first, torus.minimal(a, b, Came::INJECTED, 0));
    }
    assert!(ties > 400, "{ties}");
}
