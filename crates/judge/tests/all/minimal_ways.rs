//! Routings over many minimal ways and a little more: `romm`, `o1turn`, `least-hops`, `polarized`, `min-adaptive` take what the busiest channel says, are the
//! routings of others where those have the same rule, and never stand still.

use des::Time;
use fabric::network::Network;
use fabric::spec::*;
use judge::run::run;
use std::path::Path;
use topo::{Lattice, RandomRegularSpec, SlimFlySpec, TopologySpec};
use vocabulary::{LoadOptions, load_study};

fn lattice(shape: &[u32], nodes_per_router: u32) -> Lattice {
    Lattice {
        shape: shape.to_vec(),
        width: vec![1; shape.len()],
        nodes_per_router,
    }
}

fn mesh(shape: &[u32]) -> TopologySpec {
    TopologySpec::Mesh(lattice(shape, 1))
}

fn torus(shape: &[u32]) -> TopologySpec {
    TopologySpec::Torus(lattice(shape, 1))
}

fn hyperx(shape: &[u32], nodes: u32) -> TopologySpec {
    TopologySpec::HyperX(lattice(shape, nodes))
}

fn traffic(topology: &TopologySpec, routing: &RoutingSpec, load: f64, pattern: &Pattern) -> RunSpec {
    let mut spec = plain(topology.clone());
    spec.routing = routing.clone();
    spec.router.buffer = Some(Bytes(16 * 2_048));
    spec.jobs[0].work = Work::Synthetic(Synthetic {
        load: Some(load),
        ..Synthetic::of(pattern.clone(), Bytes(2_048))
    });
    spec.control.end = Some(Time::from_us(400));
    spec.control.warmup = Some(Time::from_us(150));
    spec
}

fn summary(spec: &RunSpec) -> judge::results::Summary {
    let result = run(spec, &mut |_| true).unwrap_or_else(|error| panic!("{:?}: {error}", spec.routing));
    result.summary
}

fn accepted(topology: &TopologySpec, routing: &RoutingSpec, load: f64, pattern: &Pattern) -> f64 {
    let summary = summary(&traffic(topology, routing, load, pattern));
    println!(
        "{pattern:?} at {load}: {:.4} accepted, {:.2} hops: {routing:?}",
        summary.accepted_load, summary.hops.mean
    );
    summary.accepted_load
}

fn romm() -> RoutingSpec {
    RoutingSpec::Romm(NoKeys {})
}

fn o1turn() -> RoutingSpec {
    RoutingSpec::O1Turn(NoKeys {})
}

fn min_adaptive() -> RoutingSpec {
    RoutingSpec::MinAdaptive(SenseSpec::default())
}

fn polarized() -> RoutingSpec {
    RoutingSpec::Polarized(PenaltySpec { penalty: 4 })
}

fn least_hops(take: Taken) -> RoutingSpec {
    RoutingSpec::LeastHops(TakeSpec { take })
}

/// The busiest channel of a transpose carries 7 nodes by dimension order, 3.5 by both orders; of 64 nodes 8 send to themselves.
#[test]
fn a_transpose_of_a_mesh_is_taken_twice_as_well_by_both_orders() {
    let (mesh, pattern) = (mesh(&[8, 8]), Pattern::Transpose);
    let bound = 2.0 / 7.0;
    // Those of the diagonal send nothing.
    let offered = 0.95 * bound * 56.0 / 64.0;
    let all = accepted(&mesh, &o1turn(), 0.95 * bound, &pattern);
    assert!(all > 0.98 * offered, "{all}");
    // In overload nodes whose ways are not the busiest go on.
    let (o1turn, dimension_order) = (
        accepted(&mesh, &o1turn(), 0.5, &pattern),
        accepted(&mesh, &RoutingSpec::DOR, 0.5, &pattern),
    );
    assert!(o1turn > 1.3 * dimension_order, "{o1turn} {dimension_order}");
    // It sees which order is free.
    let adaptive = accepted(&mesh, &min_adaptive(), 0.5, &pattern);
    assert!(adaptive > o1turn, "{adaptive} {o1turn}");
}

#[test]
fn uniform_traffic_is_taken_by_all_of_them() {
    for topology in [mesh(&[6, 6]), torus(&[6, 6])] {
        let most = match topology {
            TopologySpec::Mesh(_) => 4.0 / 6.0,
            _ => 1.0,
        };
        for routing in [romm(), o1turn(), min_adaptive(), least_hops(Taken::LeastWaiting)] {
            let load = 0.7 * most;
            let accepted = accepted(&topology, &routing, load, &Pattern::Uniform);
            assert!(accepted > 0.98 * load, "{routing:?}: {accepted}");
        }
    }
}

/// Where a topology's own minimal ways are the shortest of the graph: packet for packet.
#[test]
fn least_hops_is_min_random_and_min_a_on_graphs_without_groups() {
    let random = RandomRegularSpec {
        routers: 30,
        degree: 4,
        nodes_per_router: 2,
        seed: 3,
    };
    for topology in [torus(&[4, 5]), hyperx(&[4, 3], 2), TopologySpec::RandomRegular(random)] {
        let digest = |routing: RoutingSpec| {
            let mut spec = traffic(&topology, &routing, 0.4, &Pattern::Uniform);
            spec.control.end = Some(Time::from_us(40));
            spec.control.warmup = None;
            summary(&spec).digest
        };
        let equal = Equal::WithinAPacket;
        assert_eq!(digest(least_hops(Taken::Random)), digest(RoutingSpec::MIN_RANDOM));
        assert_eq!(
            digest(least_hops(Taken::LeastWaiting)),
            digest(RoutingSpec::MinA(EqualSpec { equal }))
        );
    }
}

/// In routers that choose themselves the rules are those of CAMINOS, whose curves `validation_caminos.rs` has.
#[test]
fn routers_that_choose_are_offered_the_ways_of_caminos() {
    let digest = |topology: &str, routing: &str| {
        let text = format!(
            "[topology]\n{topology}\n[routing]\nkind = \"{routing}\"\n[router]\npreset = \"caminos-basic\"\n[nic]\npacket = \"128 B\"\n[[job]]\nwork = {{ kind = \
             \"uniform\", load = 0.5, message = \"128 B\" }}\n[run]\nend = \"3 us\"\n"
        );
        let study = load_study(text.as_bytes(), "ways.toml", Path::new("."), &LoadOptions::default());
        summary(&study.unwrap_or_else(|found| panic!("{text}: {found:?}")).runs[0]).digest
    };
    for topology in [
        "kind = \"torus\"\nshape = [4, 4]\nnodes_per_router = 2",
        "kind = \"hyperx\"\nshape = [4, 4]\nnodes_per_router = 4",
        "kind = \"dragonfly\"\ngroups = 5\nrouters_per_group = 4\nnodes_per_router = 2",
    ] {
        assert_eq!(
            digest(topology, "least-hops"),
            digest(topology, "caminos-shortest"),
            "{topology}"
        );
        assert_eq!(
            digest(topology, "polarized"),
            digest(topology, "caminos-polarized"),
            "{topology}"
        );
    }
}

/// All nodes of a router send to the next one of the line: one link directly, and two of the others for every detour (`deroutes.rs`).
#[test]
fn polarized_goes_round_a_crowded_link_and_takes_uniform_traffic_as_minimal_ways_do() {
    let (line, nodes) = (hyperx(&[9], 8), 8.0);
    let next = Pattern::Shift { by: Some(8) };
    let most = (1.0 + 7.0 / 2.0) / nodes;
    let round = accepted(&line, &polarized(), 0.85 * most, &next);
    assert!(round > 0.98 * 0.85 * most, "{round}");
    let uniform = accepted(&line, &polarized(), 0.8, &Pattern::Uniform);
    assert!(uniform > 0.98 * 0.8, "{uniform}");
    let fly = TopologySpec::SlimFly(SlimFlySpec {
        q: 5,
        nodes_per_router: 4,
    });
    // Two routers' worth of nodes to another router: few minimal ways.
    let shift = Pattern::Shift { by: Some(20) };
    let (minimal, by_ugal, round) = (
        accepted(&fly, &RoutingSpec::MIN_RANDOM, 0.9, &shift),
        accepted(&fly, &RoutingSpec::Ugal(DetourSpec::default()), 0.9, &shift),
        accepted(&fly, &polarized(), 0.9, &shift),
    );
    assert!(round > 1.3 * minimal && round > by_ugal, "{minimal} {by_ugal} {round}");
    let uniform = accepted(&fly, &polarized(), 0.7, &Pattern::Uniform);
    assert!(uniform > 0.98 * 0.7, "{uniform}");
}

#[test]
fn the_proof_of_min_adaptive_is_of_its_escape_and_routers_that_choose_blindly_are_refused() {
    for (topology, channels) in [
        (mesh(&[5, 4, 3]), 2),
        (torus(&[5, 4]), 3),
        (hyperx(&[4, 4], 2), 2),
        (torus(&[16, 16, 16]), 3),
    ] {
        let spec = traffic(&topology, &min_adaptive(), 0.1, &Pattern::Uniform);
        let net = Network::build(&spec).unwrap();
        assert_eq!(net.routing.vcs(), channels);
        let proof = net.routing.prove(&spec.router, &net.topology);
        assert!(proof.free && proof.words.contains("escape channel"), "{}", proof.words);
        let mut one = spec.clone();
        one.router.vcs = Some(1);
        let net = Network::build(&one).unwrap();
        let free = net.routing.prove(&one.router, &net.topology).free;
        assert_eq!(free, channels == 2, "{topology:?}");
        let mut queued = spec;
        queued.router.architecture = Architecture::INPUT_QUEUED;
        match Network::build(&queued) {
            Ok(_) => panic!("{topology:?}"),
            Err(error) => assert!(error.to_string().starts_with("routing.kind")),
        }
    }
}

/// A graph whose proof would follow too many packets: the channels of the hops are proof enough.
#[test]
fn large_graphs_are_proved_by_their_channels() {
    let random = RandomRegularSpec {
        routers: 2_000,
        degree: 16,
        nodes_per_router: 1,
        seed: 1,
    };
    let topology = TopologySpec::RandomRegular(random);
    for routing in [least_hops(Taken::Random), polarized()] {
        let spec = traffic(&topology, &routing, 0.1, &Pattern::Uniform);
        let net = Network::build(&spec).unwrap();
        let proof = net.routing.prove(&spec.router, &net.topology);
        assert!(
            proof.free && proof.words.contains("one for each hop"),
            "{}",
            proof.words
        );
    }
}

/// Buffers of one packet in overload: what could stand still for ever would. All that is sent must come.
#[test]
fn nothing_stands_still_with_room_for_one_packet() {
    let ring = TopologySpec::Ring(topo::RingSpec {
        routers: 8,
        width: 1,
        nodes_per_router: 2,
    });
    let fly = TopologySpec::SlimFly(SlimFlySpec {
        q: 4,
        nodes_per_router: 2,
    });
    let routings = [
        romm(),
        o1turn(),
        min_adaptive(),
        polarized(),
        least_hops(Taken::LeastWaiting),
    ];
    for (topology, pattern) in [
        (ring, Pattern::Tornado),
        (mesh(&[4, 4]), Pattern::Transpose),
        (torus(&[4, 4]), Pattern::Tornado),
        (torus(&[3, 4, 2]), Pattern::Uniform),
        (hyperx(&[4, 4], 4), Pattern::RandomPermutation),
        (fly, Pattern::Uniform),
    ] {
        for routing in &routings {
            if !fabric::routing::fits(routing.name(), &topology) {
                continue;
            }
            let mut spec = traffic(&topology, routing, 1.0, &pattern);
            spec.router.buffer = Some(Bytes(2_048));
            spec.control.end = None;
            spec.control.warmup = None;
            if let Work::Synthetic(synthetic) = &mut spec.jobs[0].work {
                synthetic.count = Some(150);
            }
            let summary = summary(&spec);
            assert!(summary.messages >= 100 * u64::from(summary.n_nodes) / 2);
        }
    }
}
