//! What is told of a run before it is run, against the run.

use crate::memory_nodes::MEMHIERARCHY;
use fabric::spec::*;
use judge::predict::{NetworkFacts, Prediction};
use judge::run::run;
use std::path::Path;
use topo::{Lattice, TopologySpec};
use vocabulary::{LoadOptions, load_study};

fn torus() -> TopologySpec {
    TopologySpec::Torus(Lattice {
        shape: vec![8, 6],
        width: vec![],
        nodes_per_router: 2,
    })
}

fn synthetic(run: &mut RunSpec, pattern: Pattern, load: Option<f64>, message: u64) {
    let Work::Synthetic(work) = &mut run.jobs[0].work else {
        panic!("the benchmark's job is synthetic");
    };
    (work.pattern, work.load, work.message) = (pattern, load, Bytes(message));
    if load.is_none() {
        work.count = Some(20);
    }
}

fn predict(run: &RunSpec) -> Prediction {
    NetworkFacts::new(run).expect("a network").predict(run)
}

/// Packets and packet-hops come out as predicted to `within`, a fraction.
fn check(name: &str, spec: &RunSpec, within: f64) {
    let told = predict(spec);
    let summary = run(spec, &mut |_| true).expect("it runs").summary;
    let far = |told: Option<u64>, came: u64| (told.expect("known") as f64 / came as f64 - 1.0).abs();
    assert!(
        far(told.packets, summary.packets) <= within,
        "{name}: {told:?}, {} packets",
        summary.packets
    );
    assert!(
        far(told.packet_hops, summary.packet_hops) <= within,
        "{name}: {told:?}, {} hops",
        summary.packet_hops
    );
}

/// Packets predicted over packets sent.
fn between(name: &str, spec: &RunSpec, least: f64, most: f64) {
    let sent = run(spec, &mut |_| true).expect("it runs").summary.packets;
    let ratio = predict(spec).packets.expect("known") as f64 / sent as f64;
    assert!(
        (least..=most).contains(&ratio),
        "{name}: {ratio} times what was sent, {sent}"
    );
}

#[test]
fn work_below_saturation_is_known_before() {
    // Message counts are Poisson numbers of 4,000 and more, destinations are sampled: 5 % is three standard deviations and a margin.
    for pattern in [
        Pattern::Uniform,
        Pattern::Neighbour,
        Pattern::Tornado,
        Pattern::RandomPermutation,
        Pattern::Shift { by: Some(5) },
    ] {
        let mut spec = plain(torus());
        synthetic(&mut spec, pattern.clone(), Some(0.08), 5_000);
        spec.control.end = Some(des::Time::from_us(200));
        spec.control.drain_sources = false;
        check(&format!("{pattern:?}"), &spec, 0.05);
    }
    let mut spec = plain(torus());
    synthetic(&mut spec, Pattern::Uniform, Some(0.05), 2_048);
    spec.control.end = Some(des::Time::from_us(200));
    spec.control.drain_sources = false;
    spec.routing = RoutingSpec::VALIANT;
    check("valiant", &spec, 0.05);
    spec.routing = RoutingSpec::MINIMAL;
    spec.jobs[0].nodes = Some(24);
    spec.jobs[0].placement = Placement::Strided { stride: 4 };
    check("strided", &spec, 0.05);
}

#[test]
fn of_long_ways_the_end_of_the_run_leaves_a_part() {
    // 64 routers in a ring, of which a packet passes 16: 3.2 us. Ways are cut off; the mean of them is taken for all, which is a quarter
    // too much at most for ways from none to twice the mean, and counts are those of hundreds of packets.
    for (end, drain) in [(2_000, None), (1_000, Some(0)), (4_000, Some(500)), (40_000, None)] {
        for drain_sources in [false, true] {
            let mut spec = plain(TopologySpec::Torus(Lattice {
                shape: vec![64],
                width: vec![],
                nodes_per_router: 16,
            }));
            synthetic(&mut spec, Pattern::Uniform, Some(0.004), 512);
            spec.control.end = Some(des::Time::from_ns(end));
            spec.control.drain = drain.map(des::Time::from_ns);
            spec.control.warmup = Some(des::Time::ZERO);
            spec.control.drain_sources = drain_sources;
            let told = predict(&spec).packet_hops.expect("known") as f64;
            let came = run(&spec, &mut |_| true).expect("it runs").summary.packet_hops as f64;
            assert!(
                (0.9..1.35).contains(&(told / came)),
                "{end} {drain:?} {drain_sources}: {told} told, {came} came"
            );
        }
    }
}

#[test]
fn counted_messages_and_pairs_are_known_to_the_packet() {
    let mut spec = plain(torus());
    synthetic(&mut spec, Pattern::BitComplement, None, 5_000);
    spec.control.end = None;
    check("counted", &spec, 0.0);
    let text = "[topology]\nkind = \"torus\"\nshape = [6, 6]\n[[job]]\nwork = { kind = \"pairs\", mode = \"batch\", batch = 3, messages = 7, message = \"5 KiB\", ack = \"64 B\" }\n";
    let study = load_study(text.as_bytes(), "s.toml", Path::new("."), &LoadOptions::default()).unwrap();
    check("pairs", &study.runs[0], 0.0);
}

/// A motif on all nodes, a rank on each.
fn programs(kind: &str, values: &[(&str, MotifValue)]) -> Work {
    let values = values.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
    let motif = Motif {
        kind: kind.into(),
        values: values.collect(),
    };
    Work::Ranks(Ranks {
        parts: vec![Part { motif, iterations: 1 }],
        per_node: 1,
        mapping: Mapping::Block,
        start: Start::InPhase,
        prelude: 0,
        mpi: MpiSpec::default(),
    })
}

#[test]
fn packets_of_ranks_are_known_before() {
    // 512 ranks, of which 128 are looked at. Random placement, so that neighbours are at all distances.
    let mut spec = plain(TopologySpec::HyperX(Lattice {
        shape: vec![8, 8],
        width: vec![],
        nodes_per_router: 8,
    }));
    spec.control.end = None;
    spec.jobs[0].placement = Placement::Random;
    let list = |numbers: &[u64]| MotifValue::List(numbers.to_vec());
    // Detours are a guess of how long queues are: a wider margin.
    let dor = RoutingSpec::DOR;
    for (routing, within) in [(dor, 0.1), (RoutingSpec::Par(DetourSpec::default()), 0.25)] {
        spec.routing = routing;
        let cells = [("grid", list(&[24, 24, 24])), ("vars", MotifValue::Integer(4))];
        spec.jobs[0].work = programs("halo3d-26", &cells);
        check("halo", &spec, within);
        spec.jobs[0].work = programs("suba2a", &[("messages", list(&[16_384, 16_384, 0]))]);
        check("suba2a", &spec, within);
        spec.jobs[0].work = programs("sweep3d", &[("grid", list(&[10, 10, 20]))]);
        check("sweep", &spec, within);
    }
}

/// Ranks wait for each other in every iteration, so that more of them put no more under way.
#[test]
fn more_iterations_take_more_time_and_no_more_memory() {
    let mut spec = plain(torus());
    spec.control.end = None;
    let cells = [
        ("grid", MotifValue::List(vec![64, 64, 64])),
        ("vars", MotifValue::Integer(16)),
    ];
    let mut of = |iterations| {
        spec.jobs[0].work = programs("halo3d-26", &cells);
        if let Work::Ranks(ranks) = &mut spec.jobs[0].work {
            ranks.parts[0].iterations = iterations;
        }
        predict(&spec)
    };
    let (one, many) = (of(1), of(10_000));
    assert_eq!(many.memory_bytes, one.memory_bytes);
    assert_eq!(many.packets, one.packets.map(|packets| 10_000 * packets));
    // If they repeat as soon as they can, four of them are run.
    let (four, built) = (of(4).seconds.unwrap(), many.build_seconds);
    assert_eq!(one.seconds_at_least, None);
    let least = many.seconds_at_least.unwrap();
    assert!(((least - built) / (four - built) - 1.0).abs() < 1e-3, "{least} {four}");
    assert!(least < 0.01 * many.seconds.unwrap());
}

#[test]
fn what_may_repeat_is_told_of_runs_that_leave_periods_out() {
    let mut spec = plain(torus());
    let cells = [("grid", MotifValue::List(vec![16, 16, 16]))];
    spec.jobs[0].work = programs("halo3d-26", &cells);
    if let Work::Ranks(ranks) = &mut spec.jobs[0].work {
        ranks.parts[0].iterations = 100;
    }
    let told = |spec: &RunSpec| predict(spec).seconds_at_least.is_some();
    spec.control.end = None;
    assert!(told(&spec));
    spec.control.fast_forward = FastForward::Statistical;
    assert!(told(&spec));
    spec.control.fast_forward = FastForward::Off;
    assert!(!told(&spec));
    spec.control.fast_forward = FastForward::Exact;
    spec.observe.messages = MessageDetail::Full;
    assert!(!told(&spec), "rows are kept of all");
    // Traffic that has no iterations.
    assert!(!told(&plain(torus())));
}

#[test]
fn of_ranks_that_compute_and_of_memories_the_end_of_the_run_leaves_a_part() {
    // An iteration computes 50 us and exchanges for some microseconds, 400 of them are asked for and about 19 come to pass: what an
    // iteration waits for is not in the prediction, so it may be a third too high.
    let mut spec = plain(torus());
    spec.control.end = Some(des::Time::from_us(1_000));
    let cells = [
        ("grid", MotifValue::List(vec![16, 16, 16])),
        ("compute", MotifValue::Integer(50_000_000)),
    ];
    spec.jobs[0].work = programs("halo3d-26", &cells);
    if let Work::Ranks(ranks) = &mut spec.jobs[0].work {
        ranks.parts[0].iterations = 400;
    }
    between("halo", &spec, 1.0, 1.35);
    // Cores that wait for every access: all are taken to miss and go to other nodes. Some hit and hit sooner, some homes have to ask
    // a third node, queues and banks take longer: within a factor of two.
    spec.jobs[0].work = Work::Memory(Memory {
        accesses: 1_000_000,
        outstanding: 2,
        ..Memory::default()
    });
    spec.control.end = Some(des::Time::from_us(100));
    between("memory", &spec, 0.5, 2.0);
    // Caches and homes with an interface each, lines that leave with their data and come back.
    for bandwidth in [1, 25] {
        spec.jobs[0].work = Work::Memory(Memory {
            accesses: 1_000_000,
            outstanding: 2,
            interfaces: 2,
            arrangement: MEMHIERARCHY,
            ..Memory::default()
        });
        spec.links.default.bandwidth = BitsPerSec(bandwidth * 8_000_000_000);
        between("memory with two interfaces", &spec, 0.5, 2.0);
    }
}

#[test]
fn the_time_of_ranks_grows_with_messages_detours_and_the_network() {
    let spec = |shape: &[u32], routing: RoutingSpec, count| {
        let mut spec = plain(TopologySpec::HyperX(Lattice {
            shape: shape.to_vec(),
            width: vec![],
            nodes_per_router: 16,
        }));
        let values = [
            ("ranks", MotifValue::Integer(1_024)),
            ("message", MotifValue::Integer(20_000)),
            ("degree", count),
        ];
        (spec.jobs[0].work, spec.routing) = (programs("random-neighbours", &values), routing);
        spec
    };
    let (few, many) = (MotifValue::List(vec![2]), MotifValue::List(vec![4]));
    let told = |spec: RunSpec| {
        let told = predict(&spec);
        (
            told.seconds.unwrap() - told.build_seconds,
            told.packet_hops.unwrap() as f64,
        )
    };
    let base = told(spec(&[4, 4, 4], RoutingSpec::DOR, few.clone()));
    let twice = told(spec(&[4, 4, 4], RoutingSpec::DOR, many));
    assert!((twice.0 / base.0 - 2.0).abs() < 0.2, "{base:?} {twice:?}");
    let adaptive = told(spec(&[4, 4, 4], RoutingSpec::Par(DetourSpec::default()), few.clone()));
    assert!(
        adaptive.1 > base.1 && adaptive.0 / base.0 > adaptive.1 / base.1,
        "{base:?} {adaptive:?}"
    );
    // The same ranks on a larger network of as many links between them: more of the records is out of the cache.
    let larger = told(spec(&[16, 16, 16], RoutingSpec::DOR, few));
    assert!(larger.0 / base.0 > 1.2 * larger.1 / base.1, "{base:?} {larger:?}");
}

#[test]
fn a_prediction_grows_with_load_length_and_network_and_forgets_the_seed() {
    let mut spec = plain(torus());
    synthetic(&mut spec, Pattern::Uniform, Some(0.1), 2_048);
    let base = predict(&spec);
    assert_eq!(NetworkFacts::name(&spec), {
        let mut other = spec.clone();
        other.control.seed = 77;
        synthetic(&mut other, Pattern::Uniform, Some(0.9), 100);
        NetworkFacts::name(&other)
    });
    let mut other = spec.clone();
    other.control.seed = 77;
    assert_eq!(predict(&other), base);
    other.control.end = other.control.end.map(|end| end + end);
    // Whole numbers of what is a fraction.
    let packets = |run: &RunSpec| predict(run).packets.unwrap() as i64;
    let hops = |run: &RunSpec| predict(run).packet_hops.unwrap() as i64;
    assert!((packets(&other) - 2 * packets(&spec)).abs() <= 2);
    // What is under way when the run is over is the same of the longer one.
    let longer = hops(&other);
    assert!((2 * hops(&spec)..21 * hops(&spec) / 10).contains(&longer), "{longer}");
    synthetic(&mut other, Pattern::Uniform, Some(0.2), 2_048);
    assert!((hops(&other) - 2 * longer).abs() <= 2);
    assert!(predict(&other).memory_bytes > base.memory_bytes);
    other.topology = TopologySpec::Torus(Lattice {
        shape: vec![64, 64, 8],
        width: vec![],
        nodes_per_router: 1,
    });
    assert_ne!(NetworkFacts::name(&other), NetworkFacts::name(&spec));
    assert!(predict(&other).memory_bytes > base.memory_bytes + 10_000_000);
}

#[test]
fn memory_nodes_take_their_caches_what_homes_know_and_what_is_checked() {
    let told = |change: fn(&mut Memory)| {
        let mut memory = Memory {
            accesses: 1_000,
            stores: 0.5,
            l2: Bytes(1 << 19),
            ..Memory::default()
        };
        change(&mut memory);
        let mut spec = plain(torus());
        spec.jobs[0].work = Work::Memory(memory);
        spec.control.end = None;
        (predict(&spec).memory_bytes as f64, predict(&spec).nodes as f64)
    };
    let (base, nodes) = told(|_| ());
    // A record of 24 B for every line of every cache.
    let (larger, _) = told(|memory| memory.l2 = Bytes(1 << 21));
    let lines = nodes * f64::from((1 << 21) - (1 << 19)) / 64.0;
    assert!((larger - base) / (24.0 * lines) > 0.99, "{base} {larger}");
    let (checked, _) = told(|memory| memory.check_values = true);
    assert!(checked - base > nodes * 4_000.0 * 80.0, "{base} {checked}");
    let (longer, _) = told(|memory| (memory.check_values, memory.accesses) = (true, 10_000));
    assert!((longer - base) / (checked - base) > 8.0, "{base} {checked} {longer}");
}
