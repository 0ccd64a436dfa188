//! Parallel cables between two routers, and several links between two groups: which part of their packets the least used one carries.

use des::Time;
use fabric::network::Network;
use fabric::spec::*;
use judge::run::run;
use std::collections::BTreeMap;
use topo::{Arrangement, DragonflyPlusSpec, DragonflySpec, FatTreeSpec, Lattice, RingSpec, TopologySpec};

fn lattice(shape: &[u32], width: &[u32]) -> Lattice {
    Lattice {
        shape: shape.to_vec(),
        width: width.to_vec(),
        nodes_per_router: 2,
    }
}

fn dragonfly(groups: u32, rows_and_columns: &[u32], links_per_pair: u32, local_width: u32) -> TopologySpec {
    TopologySpec::Dragonfly(DragonflySpec {
        groups,
        routers_per_group: rows_and_columns.to_vec(),
        nodes_per_router: 2,
        links_per_pair,
        local_width,
        arrangement: Arrangement::Absolute,
        arrangement_seed: 1,
    })
}

/// Networks with several cables everywhere; of the lattices no dimension of two routers, whose two cables are two directions.
fn topologies() -> Vec<TopologySpec> {
    vec![
        TopologySpec::Ring(RingSpec {
            routers: 5,
            width: 3,
            nodes_per_router: 2,
        }),
        TopologySpec::Mesh(lattice(&[3, 3], &[2, 3])),
        TopologySpec::Torus(lattice(&[4, 3], &[2, 3])),
        TopologySpec::HyperX(lattice(&[4, 3], &[2, 3])),
        dragonfly(4, &[4], 4, 2),
        dragonfly(3, &[2, 3], 6, 2),
        TopologySpec::DragonflyPlus(DragonflyPlusSpec {
            groups: 3,
            leaves: 3,
            spines: 3,
            nodes_per_leaf: 3,
            links_per_pair: 3,
            local_width: 2,
            arrangement: Arrangement::Absolute,
            arrangement_seed: 1,
        }),
        TopologySpec::FatTree(FatTreeSpec {
            down: vec![8, 3, 2],
            up: vec![2, 2],
            up_width: vec![2, 2],
        }),
    ]
}

const FIRST: RoutingSpec = RoutingSpec::MinA(EqualSpec { equal: Equal::First });

fn routings() -> Vec<RoutingSpec> {
    let group = DetourSpec {
        via: Via::Group,
        ..DetourSpec::default()
    };
    vec![
        RoutingSpec::MINIMAL,
        RoutingSpec::DOR,
        RoutingSpec::RDR,
        RoutingSpec::MIN_RANDOM,
        RoutingSpec::MIN_A,
        FIRST,
        RoutingSpec::VALIANT,
        RoutingSpec::Valiant(ViaSpec { via: Via::Group }),
        RoutingSpec::Ugal(DetourSpec::default()),
        RoutingSpec::Ugal(group),
        RoutingSpec::Par(DetourSpec::default()),
        RoutingSpec::Par(group),
        RoutingSpec::AdaptiveLocal(RoomSpec::default()),
        RoutingSpec::D_MOD_K,
        RoutingSpec::SCATTER,
        RoutingSpec::AdaptiveUp(SenseSpec::default()),
        RoutingSpec::Doal(DerouteSpec::default()),
        RoutingSpec::Dal(DerouteSpec::default()),
        RoutingSpec::Vdal(DerouteSpec::default()),
    ]
}

/// Packets of the least and of the most used of the parallel links, where that differs most: between two routers, between two groups.
fn shares(spec: &RunSpec) -> [(u64, u64); 2] {
    let result = run(spec, &mut |_| true).unwrap_or_else(|error| panic!("{:?}: {error}", spec.routing));
    let topology = spec.topology.build().unwrap();
    let (mut cables, mut links) = (BTreeMap::new(), BTreeMap::new());
    for row in result.links.iter().filter(|row| row.class != 0) {
        let pair = (row.router, row.peer_router);
        cables.entry(pair).or_insert_with(Vec::new).push(row.packets);
        let groups = (topology.group(row.router), topology.group(row.peer_router));
        if groups.0 != groups.1 {
            links.entry(groups).or_insert_with(Vec::new).push(row.packets);
        }
    }
    let worst = |bundles: Vec<Vec<u64>>| {
        let ends = bundles.iter().filter(|bundle| bundle.len() > 1).map(|bundle| {
            let of = |end: Option<&u64>| end.copied().unwrap_or_default();
            (of(bundle.iter().min()), of(bundle.iter().max()))
        });
        ends.min_by(|a, b| (a.0 * b.1).cmp(&(b.0 * a.1))).unwrap_or((1, 1))
    };
    [
        worst(cables.into_values().collect()),
        worst(links.into_values().collect()),
    ]
}

/// Every cable of a bundle carries packets of uniform traffic under every routing. Where a draw chooses, n packets on one of k cables differ
/// by a few square roots of n; the least wait evens them out. `min-a` that takes the first of equal ones, as SST Merlin does, leaves the last
/// cable what would wait for the others.
#[test]
fn every_parallel_link_carries_its_share() {
    let mut checked = 0;
    for topology in topologies() {
        for routing in routings() {
            let mut spec = plain(topology.clone());
            spec.routing = routing.clone();
            if Network::build(&spec).is_err() {
                continue;
            }
            spec.jobs[0].work = Work::Synthetic(Synthetic {
                load: Some(0.8),
                ..Synthetic::of(Pattern::Uniform, Bytes(2_048))
            });
            spec.control.end = Some(Time::from_us(300));
            spec.observe.links = true;
            for ((least, most), of) in shares(&spec).into_iter().zip(["routers", "groups"]) {
                let (share, what) = (least as f64 / most as f64, format!("{of}, {routing:?} {topology:?}"));
                println!("{share:.3} of {most:6} between {what}");
                // Six standard deviations of the difference of two counts.
                let drawn = least as f64 >= most as f64 - 6.0 * (2.0 * most as f64).sqrt();
                assert!(least > 0 && (drawn || routing == FIRST), "{share} between {what}");
            }
            checked += 1;
        }
    }
    assert!(checked > 60, "{checked}");
}

/// The four nodes of a leaf send to the next group, over four spines with fast links there: the draw of `minimal` makes m = 4 inputs wait
/// (m - 1)/m rho / (2 (1 - rho)) packet times for the cables up (Karol, Hluchyj & Morgan 1987). The lesser of two waits is less than half.
#[test]
fn adaptive_routings_compare_two_ways_to_a_group() {
    let (m, load) = (4, 0.8);
    let mean = |routing: RoutingSpec| {
        let mut spec = plain(TopologySpec::DragonflyPlus(DragonflyPlusSpec {
            groups: 3,
            leaves: m,
            spines: m,
            nodes_per_leaf: m,
            links_per_pair: m * m,
            local_width: 1,
            arrangement: Arrangement::Absolute,
            arrangement_seed: 1,
        }));
        spec.routing = routing.clone();
        let fast = LinkSpec {
            bandwidth: BitsPerSec(8 * spec.links.default.bandwidth.0),
            ..spec.links.default
        };
        spec.links.by_class.insert("global".into(), fast);
        spec.jobs[0].work = Work::Synthetic(Synthetic {
            load: Some(load),
            ..Synthetic::of(Pattern::Shift { by: Some(m * m) }, Bytes(2_048))
        });
        spec.control.end = Some(Time::from_us(400));
        run(&spec, &mut |_| true).unwrap().sample.latencies.mean().unwrap() / 1e3
    };
    let slot = 2_048.0 * 8.0 / 200.0;
    let karol = f64::from(m - 1) / f64::from(m) * load / (2.0 * (1.0 - load)) * slot;
    let minimal = mean(RoutingSpec::MINIMAL);
    let never = DetourSpec {
        bias: Bytes(1 << 40),
        ..DetourSpec::default()
    };
    for routing in [RoutingSpec::Ugal(never), RoutingSpec::Par(never)] {
        let least = mean(routing.clone());
        println!("{least:.1} ns, by the draw {minimal:.1}, one queue {karol:.1}: {routing:?}");
        assert!(
            minimal - least > 0.5 * karol,
            "{routing:?}: {least} ns, {minimal} by the draw"
        );
    }
}
