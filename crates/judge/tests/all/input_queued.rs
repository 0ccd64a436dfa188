//! Input-queued routers: closed forms of latency, throughput and fairness, and the minimal adaptive routing on all router models.

use des::Time;
use fabric::spec::*;
use judge::run::{RunResult, run};
use topo::{Lattice, SingleRouterSpec, TopologySpec};
use vocabulary::{LoadOptions, load_study};

/// Flit time on the links and at the crossbar, latency of link, input and output (ps): the preset `merlin` at 25 GB/s.
const FLIT: u64 = 2_560;
const TICK: u64 = 1_707;
const PART: u64 = 20_000;

fn merlin(topology: TopologySpec) -> RunSpec {
    let mut spec = plain(topology);
    spec.links.default.latency = Time(PART);
    let router = &mut spec.router;
    router.architecture = Architecture::INPUT_QUEUED;
    router.traversal = Time(2 * PART);
    router.output_latency = Time(PART);
    router.buffer = Some(Bytes(16_000));
    router.output_buffer = Some(Bytes(16_000));
    router.credits_traverse = true;
    router.node_credit_delay = Time(1_000);
    router.delivery = DeliveryPoint::Head;
    spec.control.end = None;
    spec.control.warmup = Some(Time::ZERO);
    spec.observe.messages = MessageDetail::Full;
    spec
}

fn single(nodes: u32) -> RunSpec {
    merlin(TopologySpec::SingleRouter(SingleRouterSpec { nodes }))
}

fn send(spec: &mut RunSpec, pattern: Pattern, message: u64, load: Option<f64>, count: u64) {
    spec.jobs[0].work = Work::Synthetic(Synthetic {
        load,
        count: Some(count),
        process: Process::PeriodicInPhase,
        ..Synthetic::of(pattern, Bytes(message))
    });
}

/// The first tick later than `time`: what arrives on a tick waits for the next.
fn tick_after(time: u64) -> u64 {
    (time / TICK + 1) * TICK
}

fn result(spec: &RunSpec) -> RunResult {
    run(spec, &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

/// (source, delivery) of all messages in order of delivery.
fn deliveries(result: &RunResult) -> Vec<(u32, u64)> {
    let rows = result.stats.rows.as_deref().unwrap_or_default();
    let mut all: Vec<(u32, u64)> = rows.iter().map(|row| (row.source, row.time)).collect();
    all.sort_unstable_by_key(|&(source, time)| (time, source));
    all
}

#[test]
fn a_lone_packet_waits_for_two_wake_ups_and_one_tick_per_router() {
    for routers in [1, 2, 3, 4] {
        let lattice = Lattice {
            shape: vec![routers],
            width: vec![],
            nodes_per_router: 1,
        };
        let mut spec = match routers {
            1 => single(2),
            _ => merlin(TopologySpec::Mesh(lattice)),
        };
        // Only the first node sends, to the last.
        spec.jobs[0].nodes = Some(if routers == 1 { 2 } else { routers });
        send(
            &mut spec,
            Pattern::Shift {
                by: Some(routers.max(2) - 1),
            },
            2_048,
            None,
            1,
        );
        let mut head = FLIT + 2 * PART;
        for router in 1..=routers {
            head = tick_after(head) + FLIT + if router == routers { 2 * PART } else { 3 * PART };
        }
        let result = result(&spec);
        let first = result
            .stats
            .rows
            .unwrap_or_default()
            .into_iter()
            .find(|row| row.source == 0);
        assert_eq!(first.map(|row| row.time), Some(head), "{routers} routers");
    }
}

#[test]
fn a_packet_that_arrives_on_a_tick_waits_for_the_next() {
    for late in [0, 1] {
        let mut spec = single(2);
        let latency = 20 * TICK - FLIT - PART - late;
        spec.links.default.latency = Time(latency);
        send(&mut spec, Pattern::Shift { by: Some(1) }, 2_048, None, 1);
        let tick = if late == 0 { 21 * TICK } else { 20 * TICK };
        assert_eq!(deliveries(&result(&spec))[0].1, tick + FLIT + PART + latency);
    }
}

#[test]
fn a_credit_wakes_an_interface_that_has_nothing_to_send() {
    let latency = 30_000;
    let credit = tick_after(FLIT + latency + PART) + PART + latency;
    // The second message is handed over just before the turn that the credit brings, at that turn, or long after it.
    for (birth, start) in [
        (credit + FLIT - 100, credit + FLIT),
        (credit + FLIT, credit + 2 * FLIT),
        (credit + 9 * FLIT, credit + 10 * FLIT),
    ] {
        let mut spec = single(2);
        spec.links.default.latency = Time(latency);
        // Credits of the nodes come too late to wake the output ports.
        spec.router.node_credit_delay = Time(200_000);
        // A message takes 81,920 ps at full load.
        let load = 81_920.0 / (birth as f64 + 0.5);
        send(&mut spec, Pattern::Shift { by: Some(1) }, 2_048, Some(load), 2);
        let arrived = tick_after(start + latency + PART) + FLIT + PART + latency;
        assert_eq!(deliveries(&result(&spec))[2].1, arrived, "born at {birth}");
    }
}

#[test]
fn with_room_for_one_packet_the_credit_of_the_host_port_sets_the_pace() {
    let mut spec = single(2);
    // The round trip is longer than a packet, and nodes give their credits while the output is busy: they wake nothing.
    let latency = 60_000;
    spec.links.default.latency = Time(latency);
    spec.router.node_credit_delay = Time(200_000);
    spec.nic.buffer = Some(Bytes(2_050));
    send(&mut spec, Pattern::Shift { by: Some(1) }, 2_048, None, 50);
    // Start, arrival, tick, credit, wake-up.
    let mut start = FLIT;
    let mut expected = Vec::new();
    for _ in 0..50 {
        let tick = tick_after(start + latency + PART);
        expected.push(tick + FLIT + PART + latency);
        start = tick + PART + latency + FLIT;
    }
    let times: Vec<u64> = deliveries(&result(&spec))
        .into_iter()
        .filter_map(|(source, time)| (source == 0).then_some(time))
        .collect();
    assert_eq!(times, expected);
}

#[test]
fn a_slow_crossbar_takes_a_tick_per_flit_and_bounds_the_throughput() {
    let mut spec = single(2);
    // Half the link's speed: 64 B in 5,120 ps.
    spec.router.crossbar_bandwidth = Some(BitsPerSec(100_000_000_000));
    send(&mut spec, Pattern::Shift { by: Some(1) }, 1_000, None, 400);
    let all = deliveries(&result(&spec));
    // 1,000 bytes are 16 flits.
    let (first, last) = (all[0].1, all[all.len() - 1].1);
    assert_eq!(last - first, 399 * 16 * 5_120);
}

#[test]
fn packets_of_broken_flits_occupy_whole_ones() {
    let mut spec = single(2);
    send(&mut spec, Pattern::Shift { by: Some(1) }, 65, None, 300);
    let all = deliveries(&result(&spec));
    assert_eq!(all[all.len() - 1].1 - all[0].1, 299 * 2 * FLIT);
}

#[test]
fn least_recently_served_inputs_share_an_output_evenly() {
    let mut spec = single(7);
    send(&mut spec, Pattern::Incast { sources: None }, 2_048, None, 40);
    let mut served = [0i64; 7];
    for (source, _) in deliveries(&result(&spec)) {
        served[source as usize] += 1;
        let (most, least) = (served[1..].iter().max(), served[1..].iter().min());
        assert!(most.unwrap() - least.unwrap() <= 1, "{served:?}");
    }
    assert_eq!(served, [0, 40, 40, 40, 40, 40, 40]);
}

#[test]
fn a_node_that_gives_its_credits_late_slows_its_port() {
    let mut spec = single(2);
    spec.router.node_credit_delay = Time(500_000);
    spec.router.buffer = Some(Bytes(3 * 2_048));
    send(&mut spec, Pattern::Shift { by: Some(1) }, 2_048, None, 30);
    let times: Vec<u64> = deliveries(&result(&spec))
        .into_iter()
        .filter_map(|(source, time)| (source == 0).then_some(time))
        .collect();
    // Out and over the link, the delay, back over the link and in; then the idle port wakes.
    let round_trip = 2 * PART + 500_000 + 2 * PART + FLIT;
    for pair in times.chunks(3).collect::<Vec<_>>().windows(2) {
        assert_eq!(pair[1][0] - pair[0][0], round_trip);
    }
}

#[test]
fn minimal_adaptive_routing_uses_both_ways_where_dimension_order_uses_one() {
    let lattice = Lattice {
        shape: vec![4, 4],
        width: vec![],
        nodes_per_router: 1,
    };
    for (model, architecture) in [
        (RouterKind::SCULPIN, Architecture::VOQ),
        (RouterKind::CREDIT, Architecture::VOQ),
        (RouterKind::CREDIT, Architecture::INPUT_QUEUED),
    ] {
        let mut spec = merlin(TopologySpec::HyperX(lattice.clone()));
        spec.router.model = model;
        spec.router.architecture = architecture;
        // (x, y) sends to (y, x), over links of a quarter of its speed; no two nodes share a link.
        spec.links.default.bandwidth = BitsPerSec(50_000_000_000);
        let host = LinkSpec {
            bandwidth: BitsPerSec(200_000_000_000),
            latency: Time(PART),
        };
        spec.links.by_class.insert("host".into(), host);
        send(&mut spec, Pattern::Transpose, 2_048, None, 400);
        let mut time = |routing| {
            spec.routing = routing;
            result(&spec).summary.sim_time_ns
        };
        let ratio = time(RoutingSpec::DOR) / time(RoutingSpec::MIN_A);
        assert!((1.9..2.1).contains(&ratio), "{model:?} {architecture:?}: {ratio}");
    }
}

#[test]
fn an_output_latency_beyond_the_traversal_is_refused() {
    let text =
        "[topology]\nkind = \"single-router\"\nnodes = 4\n[router]\npreset = \"merlin\"\noutput_latency = \"50 ns\"\n";
    let found = load_study(
        text.as_bytes(),
        "a.toml",
        std::path::Path::new("."),
        &LoadOptions::default(),
    );
    let found = found.expect_err("half of 40 ns at most");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].key.as_str(), found[0].line), ("router.output_latency", 6));
}
