//! The ways up a fat-tree: D-mod-k, scatter, adaptive-up.

use des::Time;
use fabric::network::Network;
use fabric::spec::*;
use judge::run::{RunResult, run};
use topo::{FatTreeSpec, RingSpec, TopologySpec};

/// Nodes per leaf, leaves and spines: full bisection.
const M: u32 = 8;

fn tree(down: &[u32], up: &[u32], up_width: &[u32]) -> TopologySpec {
    TopologySpec::FatTree(FatTreeSpec {
        down: down.to_vec(),
        up: up.to_vec(),
        up_width: up_width.to_vec(),
    })
}

fn traffic(topology: TopologySpec, routing: RoutingSpec, load: f64, pattern: Pattern) -> RunSpec {
    let mut spec = plain(topology);
    spec.routing = routing;
    spec.jobs[0].work = Work::Synthetic(Synthetic {
        load: Some(load),
        ..Synthetic::of(pattern, Bytes(2_048))
    });
    spec.control.end = Some(Time::from_us(400));
    spec.control.warmup = Some(Time::from_us(100));
    spec
}

fn result(spec: &RunSpec) -> RunResult {
    let result = run(spec, &mut |_| true).unwrap_or_else(|error| panic!("{:?}: {error}", spec.routing));
    let summary = &result.summary;
    println!(
        "{:?}: {:.4} accepted, {:?} ps mean of those that arrived",
        spec.routing,
        summary.accepted_load,
        result.sample.latencies.mean()
    );
    result
}

/// Of the messages that have arrived (ns).
fn latency(result: &RunResult) -> f64 {
    result.sample.latencies.mean().unwrap() / 1e3
}

fn full(routing: RoutingSpec, load: f64, pattern: Pattern) -> RunResult {
    result(&traffic(tree(&[M, M], &[M], &[1]), routing, load, pattern))
}

const fn sensing(congestion: Congestion, equal: Equal) -> RoutingSpec {
    let per = Per::Port;
    RoutingSpec::AdaptiveUp(SenseSpec {
        congestion,
        per,
        equal,
        draws: None,
    })
}

const ADAPTIVE: RoutingSpec = sensing(Congestion::Output, Equal::WithinAPacket);
const EXACT: RoutingSpec = sensing(Congestion::Output, Equal::Exact);

#[test]
fn d_mod_k_is_the_minimal_routing_of_a_fat_tree() {
    let spec = |routing| traffic(tree(&[4, 3, 2], &[2, 3], &[2, 1]), routing, 0.5, Pattern::Uniform);
    let (named, minimal) = (result(&spec(RoutingSpec::D_MOD_K)), result(&spec(RoutingSpec::MINIMAL)));
    assert_eq!(named.summary.digest, minimal.summary.digest);
}

/// Node (leaf a, place b) sends to (leaf b, place a): all destinations of a leaf have the digit a, so D-mod-k sends all of a leaf's
/// packets up by one port. Of the m nodes of a leaf one stays at home.
#[test]
fn a_transpose_takes_one_up_port_by_d_mod_k_and_all_of_them_by_the_others() {
    let one = full(RoutingSpec::D_MOD_K, 0.9, Pattern::Transpose)
        .summary
        .accepted_load;
    assert!((one - 1.0 / f64::from(M)).abs() < 0.002, "one up port of {M}: {one}");
    for routing in [
        RoutingSpec::SCATTER,
        ADAPTIVE,
        EXACT,
        sensing(Congestion::Credits, Equal::WithinAPacket),
        sensing(Congestion::Both, Equal::WithinAPacket),
    ] {
        let all = full(routing.clone(), 0.8, Pattern::Transpose);
        let offered = 0.8 * f64::from(M - 1) / f64::from(M);
        assert!(all.summary.accepted_load > 0.98 * offered, "{routing:?}");
    }
}

/// To the next leaf, each node to the node at its own place: D-mod-k gives every node ways of its own, so nothing waits behind the
/// injection. `scatter` loads each up port with random packets of m inputs: a wait of (m - 1)/m rho / (2 (1 - rho)) packet times (Karol,
/// Hluchyj & Morgan 1987) there, and at most as much again where they come together. The least crowded port is always an idle one: when
/// a head comes from one of m inputs, at most m - 1 of m outputs as fast as they are busy. Ports that are as good within a packet cost part
/// of that.
#[test]
fn a_shift_is_free_of_conflicts_by_d_mod_k_waits_by_scatter_and_less_by_adaptive_up() {
    let (load, shift) = (0.8, Pattern::Shift { by: Some(M) });
    let mean = |routing: RoutingSpec| {
        let result = full(routing.clone(), load, shift.clone());
        assert!(result.summary.accepted_load > 0.98 * load, "{routing:?}");
        latency(&result)
    };
    let slot = 2_048.0 * 8.0 / 200.0;
    let karol = f64::from(M - 1) / f64::from(M) * load / (2.0 * (1.0 - load)) * slot;
    let own = mean(RoutingSpec::D_MOD_K);
    let scatter = mean(RoutingSpec::SCATTER) - own;
    let adaptive = mean(ADAPTIVE) - own;
    let exact = mean(EXACT) - own;
    println!(
        "behind the injection: scatter {scatter:.1}, adaptive-up {adaptive:.1}, exact {exact:.1} ns; one queue {karol:.1}"
    );
    assert!((0.8 * karol..2.0 * karol).contains(&scatter), "{scatter}");
    assert!(adaptive < 0.75 * scatter, "{adaptive}");
    assert!(exact.abs() < 1e-6, "{exact}");
}

/// One port drawn is a random way, two take away most of the waiting that all would (Mitzenmacher 2001).
#[test]
fn the_better_of_two_drawn_ports_is_nearly_as_good_as_the_best_of_all() {
    let drawn = |draws| {
        RoutingSpec::AdaptiveUp(SenseSpec {
            draws,
            ..SenseSpec::default()
        })
    };
    let shift = Pattern::Shift { by: Some(M) };
    let own = latency(&full(RoutingSpec::D_MOD_K, 0.8, shift.clone()));
    let waits = |routing: RoutingSpec| latency(&full(routing, 0.8, shift.clone())) - own;
    let [scatter, one, two, all] = [
        waits(RoutingSpec::SCATTER),
        waits(drawn(Some(1))),
        waits(drawn(Some(2))),
        waits(drawn(None)),
    ];
    println!("waiting beyond d-mod-k: scatter {scatter:.1} ns, of one {one:.1}, of two {two:.1}, of all {all:.1}");
    assert!((one / scatter - 1.0).abs() < 0.05, "{one} {scatter}");
    assert!(two < 0.75 * one, "{two} {one}");
    // As many draws as ports are all of them, drawn among equal ones otherwise.
    let eight = waits(drawn(Some(M as u8)));
    assert!((eight / all - 1.0).abs() < 0.1, "{eight} {all}");
}

#[test]
fn uniform_traffic_reaches_the_load_of_a_full_tree_by_all_three() {
    for routing in [RoutingSpec::D_MOD_K, RoutingSpec::SCATTER, ADAPTIVE, EXACT] {
        let most = full(routing.clone(), 0.85, Pattern::Uniform).summary.accepted_load;
        assert!(most > 0.98 * 0.85, "{routing:?}: {most}");
    }
}

/// A node that sends without a pause frees an up port just when its next packet comes. Unless others free theirs at the same time this
/// is the only idle one: if it is the only best one every node keeps its way, and ways that meet on the way down do so for as long as they
/// send. Packets that are held up there push those behind them to other ports, but only where there is back-pressure. Ports that are as good
/// within a packet have no such memory.
#[test]
fn sources_out_of_step_keep_their_way_up_only_if_the_idle_port_alone_is_good() {
    let mean = |model, routing: RoutingSpec, start_spread| {
        let means = (1..5).map(|seed| {
            let mut spec = plain(tree(&[M, M], &[M], &[1]));
            spec.routing = routing.clone();
            spec.router.model = model;
            spec.router.buffer = Some(Bytes(16 * 2_048));
            spec.control.seed = seed;
            spec.control.end = None;
            spec.jobs[0].work = Work::Pairs(Pairs {
                matching: Matching::Mutual,
                mode: PairMode::Stream,
                messages: 1,
                message: Bytes(2 << 20),
                ack: Bytes(8),
                active: None,
                start_spread,
                seed: None,
            });
            latency(&result(&spec))
        });
        means.sum::<f64>() / 4.0
    };
    let over = |model, routing, spread| mean(model, routing, spread) / mean(model, RoutingSpec::SCATTER, spread);
    let (none, some) = (Time::ZERO, Time::from_us(5));
    assert!((over(RouterKind::SCULPIN, EXACT, none) - 1.0).abs() < 0.05);
    assert!(over(RouterKind::SCULPIN, EXACT, some) > 1.5);
    for spread in [none, some] {
        assert!((over(RouterKind::SCULPIN, ADAPTIVE, spread) - 1.0).abs() < 0.05);
        assert!((over(RouterKind::CREDIT, ADAPTIVE, spread) - 1.0).abs() < 0.05);
        assert!((over(RouterKind::CREDIT, EXACT, spread) - 1.0).abs() < 0.05);
    }
}

#[test]
fn one_channel_is_enough_and_other_networks_are_refused() {
    let trees = [
        tree(&[3, 3, 2], &[2, 3], &[1, 2]),
        tree(&[4, 4], &[2], &[2]),
        tree(&[2, 2, 2, 2], &[2, 2, 2], &[]),
        tree(&[16, 16, 16], &[16, 16], &[1, 1]),
    ];
    for routing in [RoutingSpec::D_MOD_K, RoutingSpec::SCATTER, ADAPTIVE] {
        for topology in &trees {
            let spec = traffic(topology.clone(), routing.clone(), 0.1, Pattern::Uniform);
            let net = Network::build(&spec).unwrap();
            assert_eq!(net.routing.vcs(), 1);
            let proof = net.routing.prove(&spec.router, &net.topology);
            assert!(proof.free, "{routing:?}: {}", proof.words);
        }
        let ring = TopologySpec::Ring(RingSpec {
            routers: 5,
            width: 1,
            nodes_per_router: 1,
        });
        let refused = Network::build(&traffic(ring, routing, 0.1, Pattern::Uniform)).map(|_| ());
        assert!(refused.unwrap_err().to_string().starts_with("routing.kind"));
    }
}
