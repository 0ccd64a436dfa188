//! Memory nodes on every kind of network: every engine alike, one writer or many readers, loads that see what was stored, virtual networks.

use crate::memory_nodes::{MEMHIERARCHY, arrangement, crowd, go, ring, spec, sum};
use des::Time;
use des::rng::{SplitMix, below};
use fabric::engines::EngineKind;
use fabric::models::AnyFabric;
use fabric::network::Network;
use fabric::observe::{Span, Stats};
use fabric::packet::{CLASS, ONLY, Packet};
use fabric::spec::*;
use fabric::state::State;
use judge::run::RunResult;
use std::collections::BTreeMap;
use topo::{Arrangement, DragonflySpec, FatTreeSpec, Lattice, SingleRouterSpec, TopologySpec};
use work::memory::protocol::Held;
use work::memory::state::NO_LINE;

fn cells() -> Vec<RunSpec> {
    let lattice = |shape: &[u32], nodes_per_router| Lattice {
        shape: shape.to_vec(),
        width: Vec::new(),
        nodes_per_router,
    };
    let hyperx = TopologySpec::HyperX(lattice(&[3, 4], 2));
    let torus = TopologySpec::Torus(lattice(&[4, 3], 1));
    let mut cells = vec![
        spec(hyperx.clone(), crowd(0.4, true)),
        spec(torus.clone(), crowd(0.2, false)),
        spec(torus, crowd(0.5, true)),
        spec(hyperx, crowd(0.3, false)),
    ];
    // Room for one line per channel; messages overtake each other on other ways.
    cells[0].router.buffer = Some(Bytes(72));
    cells[0].routing = RoutingSpec::MIN_A;
    cells[1].router.buffer = Some(Bytes(72));
    cells[2].routing = RoutingSpec::VALIANT;
    cells[3].router.model = RouterKind::SCULPIN;
    let mut as_outside = spec(TopologySpec::Torus(lattice(&[4, 3], 2)), crowd(0.4, true));
    as_outside.router.buffer = Some(Bytes(72));
    arrange(&mut as_outside, (MEMHIERARCHY, 2));
    cells.push(as_outside);
    cells
}

fn arrange(spec: &mut RunSpec, (arrangement, interfaces): (NodeArrangement, u32)) {
    if let Work::Memory(memory) = &mut spec.jobs[0].work {
        (memory.arrangement, memory.interfaces) = (arrangement, interfaces);
    }
}

#[test]
fn every_engine_tells_the_same() {
    for (i, spec) in cells().iter().enumerate() {
        let mut digests = Vec::new();
        let engines = [
            (Engine::Sequential, 1),
            (Engine::Reference, 1),
            (Engine::RollbackCheck, 1),
            (Engine::Conservative, 3),
            (Engine::Optimistic, 2),
        ];
        for (engine, workers) in engines {
            let mut spec = spec.clone();
            spec.control.engine = engine;
            spec.control.workers = workers;
            let result = go(&spec);
            let done = sum(&result.memory, |row| row.cores.done);
            assert_eq!(done, result.memory.len() as u64 * 450, "{i} {engine:?}");
            assert!(sum(&result.memory, |row| row.beyond.came[1]) > 100, "{i}: forwards");
            digests.push(result.summary.digest);
        }
        digests.dedup();
        assert_eq!(digests.len(), 1, "cell {i}");
    }
}

/// Every family of networks, with routings on which messages overtake each other where it has such.
fn networks() -> Vec<(TopologySpec, RoutingSpec)> {
    let lattice = |shape: &[u32], nodes_per_router| Lattice {
        shape: shape.to_vec(),
        width: Vec::new(),
        nodes_per_router,
    };
    let dragonfly = TopologySpec::Dragonfly(DragonflySpec {
        groups: 5,
        routers_per_group: vec![4],
        nodes_per_router: 1,
        links_per_pair: 1,
        local_width: 1,
        arrangement: Arrangement::Absolute,
        arrangement_seed: 1,
    });
    vec![
        (
            TopologySpec::SingleRouter(SingleRouterSpec { nodes: 7 }),
            RoutingSpec::MINIMAL,
        ),
        (ring(9), RoutingSpec::MINIMAL),
        (TopologySpec::Mesh(lattice(&[3, 4], 1)), RoutingSpec::MIN_RANDOM),
        (TopologySpec::Torus(lattice(&[4, 4], 1)), RoutingSpec::MIN_A),
        (TopologySpec::HyperX(lattice(&[3, 3], 2)), RoutingSpec::MIN_RANDOM),
        (dragonfly.clone(), RoutingSpec::VALIANT),
        (dragonfly, RoutingSpec::MIN_A),
        (
            TopologySpec::FatTree(FatTreeSpec {
                down: vec![4, 4],
                up: vec![4],
                up_width: Vec::new(),
            }),
            RoutingSpec::SCATTER,
        ),
    ]
}

/// One node with a line of its own, or several that read it; returns how many lines several read.
fn check_copies(states: &[&State], lines: usize) -> usize {
    let mut copies: BTreeMap<u64, Vec<u16>> = BTreeMap::new();
    for state in states {
        let all = state.memory.l2_lines.as_slice();
        assert_eq!(all.len() % lines, 0);
        let there = all.iter().filter(|line| line.tag != NO_LINE);
        there.for_each(|line| copies.entry(line.tag).or_default().push(line.state));
    }
    let (shared, mut several) = (Held::Shared as u16, 0);
    for (line, states) in &copies {
        let own = states.iter().any(|&state| state != shared);
        assert!(!own || states.len() == 1, "line {line}: {states:?}");
        several += usize::from(states.len() > 1);
    }
    several
}

#[test]
fn on_every_network_a_line_has_one_writer_or_many_readers() {
    for (topology, routing) in networks() {
        let what = format!("{topology:?} {routing:?}");
        let mut spec = spec(topology, crowd(0.3, false));
        spec.routing = routing;
        // Links of different lengths, and of little room.
        spec.links.default.bandwidth = BitsPerSec(8_000_000_000);
        spec.router.buffer = Some(Bytes(72));
        spec.router.traversal = Time::from_ns(3);
        spec.links.default.latency = Time::from_ns(7);
        let net = Network::build(&spec).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(net.routing.prove(&spec.router, &net.topology).free, "{what}");
        let world = AnyFabric::new(&spec, net);
        let blank = Stats::new(
            Span::default(),
            world.net().n_nodes(),
            false,
            Default::default(),
            (1, 0),
        );
        let mut engine = EngineKind::SEQUENTIAL.begin(&world, blank);
        let (mut several, mut stops, mut until) = (0, 0, 0);
        loop {
            until += 50_000;
            engine.run(Time(until), &mut |_, _| true);
            let view = engine.view();
            several += check_copies(&view.states, 4);
            stops += 1;
            let cores = view.states.iter().flat_map(|state| state.memory.cores.as_slice());
            let left: u64 = cores.map(|core| 150 - core.done).sum();
            if left == 0 {
                break;
            }
            assert!(until < 10_000_000_000, "{what}: {left} accesses stay");
        }
        assert!(several > 20 && stops > 20, "{what}: {several} {stops}");
    }
}

/// What memory nodes do in so many kinds of networks, with links and caches that vary with the seed.
fn jittered(topology: TopologySpec, routing: RoutingSpec, seed: u64, accesses: u64) -> RunSpec {
    let random = &mut SplitMix(seed);
    let mut up_to = |n: u64| 1 + below(random.next_word(), n);
    let size = |lines: u64| Bytes(lines * 64);
    let (l1_ways, l2_ways) = (up_to(2), up_to(3));
    let memory = Memory {
        pattern: AccessPattern::HotSpot {
            lines: up_to(40),
            fraction: 0.3 + 0.1 * up_to(6) as f64,
        },
        accesses,
        stores: 0.1 * up_to(8) as f64,
        cores: up_to(3) as u32,
        outstanding: up_to(5) as u32,
        issue: Time::from_ns(up_to(400)),
        fence_every: up_to(20) - 1,
        l1: size(l1_ways * up_to(2)),
        l1_ways: l1_ways as u32,
        l2: size(l2_ways * up_to(2)),
        l2_ways: l2_ways as u32,
        misses: up_to(6) as u32,
        told: up_to(2) == 1,
        interleaved: up_to(2) == 1,
        // Slow memory lets what it gives be overtaken by what needs none.
        memory_latency: Time::from_ns(up_to(100) * up_to(60)),
        directory_entries: 8 * (up_to(3) - 1),
        check_values: true,
        ..Memory::default()
    };
    let mut spec = spec(topology, memory);
    spec.routing = routing;
    spec.router.model = [RouterKind::CREDIT, RouterKind::SCULPIN][usize::from(up_to(4) == 1)];
    spec.router.buffer = Some(Bytes(72 * up_to(3)));
    spec.router.traversal = Time::from_ns(up_to(200));
    spec.links.default.latency = Time::from_ns(up_to(500));
    spec.links.default.bandwidth = BitsPerSec(1_000_000_000 * up_to(200));
    spec.control.seed = seed;
    let mut other = spec.clone();
    arrange(&mut other, arrangement(up_to(4)));
    // Not everywhere are there two interfaces at a router.
    match Network::build(&other) {
        Ok(_) => other,
        Err(_) => spec,
    }
}

/// Runs memory nodes on every network and returns how many accesses were checked and how many loads saw what another core had stored.
fn check_values(seeds: std::ops::Range<u64>, accesses: u64) -> (u64, u64) {
    let (mut all, mut from_others) = (0, 0);
    for seed in seeds {
        for (i, (topology, routing)) in networks().into_iter().enumerate() {
            let result = go(&jittered(topology, routing, seed * 100 + i as u64, accesses));
            let checks = &result.summary.verdict.checks;
            let values = checks
                .iter()
                .find(|check| check.name == "values")
                .expect("values are checked");
            let last = values
                .detail
                .split("; ")
                .last()
                .and_then(|words| words.split(' ').next());
            from_others += last.and_then(|n| n.parse::<u64>().ok()).expect("a number");
            all += sum(&result.memory, |row| row.cores.done);
        }
    }
    (all, from_others)
}

#[test]
fn on_every_network_loads_see_what_was_stored_last() {
    let (all, from_others) = check_values(0..12, 150);
    assert!(all > 250_000, "{all}");
    assert!(from_others > all / 20, "{from_others} of {all}");
}

#[test]
#[ignore = "minutes: millions of accesses"]
fn on_every_network_loads_see_what_was_stored_last_for_long() {
    let (all, from_others) = check_values(100..140, 1_500);
    assert!(all > 8_000_000, "{all}");
    assert!(from_others > all / 20, "{from_others} of {all}");
}

/// The channels that packets of a class take on a way, hop by hop.
fn channels(net: &Network, class: u16, to: u32) -> Vec<u8> {
    let mut packet = Packet::part(0, to, u32::from(class) << CLASS | 5, 72, ONLY);
    let mut site = net.sites[net.place_of_node(0) as usize];
    packet = packet.at(Time(0), net.place_of_node(0), site.net);
    let mut seen = Vec::new();
    while !(site.node..site.node + u32::from(site.nodes)).contains(&to) {
        let way = net.route(&site, &packet);
        seen.push(way.vc());
        let peer = net.peers[(site.port + way.port()) as usize];
        packet.set_vc(way.vc());
        packet.set_phase(way.phase());
        packet.count_hop();
        packet = packet.at(Time(0), peer.lp(), peer.port());
        site = net.sites[peer.lp() as usize];
    }
    seen
}

#[test]
fn every_class_of_messages_has_the_routings_channels_for_itself() {
    for (topology, routing) in networks().into_iter().skip(1) {
        let what = format!("{topology:?} {routing:?}");
        let mut spec = spec(topology, crowd(0.3, false));
        spec.routing = routing;
        let far = Network::build(&spec).unwrap().n_nodes() / 2;
        let of = |by_class: bool, class: u16| {
            let mut spec = spec.clone();
            if let Work::Memory(memory) = &mut spec.jobs[0].work {
                memory.by_class = by_class;
            }
            let net = Network::build(&spec).unwrap();
            (channels(&net, class, far), net.vcs as u8)
        };
        let (one, own) = of(false, 0);
        assert!(!one.is_empty() && one.iter().all(|&vc| vc < own), "{what}: {one:?}");
        for class in 0..3 {
            let (seen, all) = of(true, class);
            assert_eq!(all, 3 * own, "{what}");
            // Random choices look at a message's number, so ways of different classes may differ.
            let first = own * class as u8;
            assert!(
                seen.iter().all(|vc| (first..first + own).contains(vc)),
                "{what} {class}: {seen:?}"
            );
        }
    }
}

#[test]
fn a_proof_names_the_virtual_networks_and_routers_without_channels_have_one() {
    let mut spec = spec(ring(5), crowd(0.3, false));
    spec.router.buffer = Some(Bytes(72));
    let net = Network::build(&spec).unwrap();
    let proof = net.routing.prove(&spec.router, &net.topology);
    assert!(
        proof.free && proof.words.contains("3 virtual networks"),
        "{}",
        proof.words
    );
    // One channel is too few on a ring, whatever the number of virtual networks.
    spec.router.vcs = Some(1);
    let net = Network::build(&spec).unwrap();
    assert_eq!(net.vcs, 3);
    let proof = net.routing.prove(&spec.router, &net.topology);
    assert!(!proof.free && proof.words.contains("cycle"), "{}", proof.words);
    spec.router.vcs = Some(30);
    let error = Network::build(&spec).unwrap_err().to_string();
    assert!(error.contains("3 virtual networks of 30 channels"), "{error}");
    spec.router.vcs = None;
    spec.router.model = RouterKind::SCULPIN;
    assert_eq!(Network::build(&spec).unwrap().vcs, 1);
}

#[test]
fn where_room_is_short_a_class_of_its_own_changes_the_times_and_nothing_else() {
    let mut spec = spec(ring(8), crowd(0.4, false));
    spec.router.buffer = Some(Bytes(72));
    spec.links.default.bandwidth = BitsPerSec(4_000_000_000);
    let apart = go(&spec);
    if let Work::Memory(memory) = &mut spec.jobs[0].work {
        memory.by_class = false;
    }
    let joint = go(&spec);
    let done = |result: &RunResult| sum(&result.memory, |row| row.cores.done);
    assert_eq!((done(&apart), done(&joint)), (8 * 450, 8 * 450));
    assert_ne!(apart.summary.digest, joint.summary.digest);
    // Lines no longer wait behind requests that wait for room.
    let waited = |result: &RunResult| {
        sum(&result.memory, |row| row.beyond.queued[2]) as f64 / sum(&result.memory, |row| row.beyond.came[2]) as f64
    };
    assert!(waited(&apart) < waited(&joint), "{} {}", waited(&apart), waited(&joint));
}
