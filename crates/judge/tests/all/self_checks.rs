//! Runs prove themselves or fail loudly: deadlocks, broken books, interruptions, limits, and the extremes of what a user may ask for.

use crate::vc_router::whose_credits_wait;
use des::{Columns as _, NoJournal, Time, World as _};
use fabric::engines::EngineKind;
use fabric::models::AnyFabric;
use fabric::network::Network;
use fabric::observe::{Span, Stats};
use fabric::packet::HORIZON;
use fabric::spec::*;
use fabric::state::{Parts, State};
use judge::check::{RunFacts, verdict};
use judge::harvest::{Harvest, HarvestWanted, InFlight};
use judge::results::{Summary, Verdict};
use judge::run::{RunError, RunResult, run};
use std::ops::Range;
use topo::{DragonflySpec, Lattice, RingSpec, SingleRouterSpec, Topology, TopologySpec};

const MODELS: [RouterKind; 2] = [RouterKind::SCULPIN, RouterKind::CREDIT];

fn torus(shape: &[u32], nodes_per_router: u32) -> TopologySpec {
    TopologySpec::Torus(Lattice {
        shape: shape.to_vec(),
        width: vec![],
        nodes_per_router,
    })
}

fn work(pattern: Pattern, message: u64, load: Option<f64>, count: Option<u64>) -> Work {
    Work::Synthetic(Synthetic {
        load,
        count,
        ..Synthetic::of(pattern, Bytes(message))
    })
}

fn one_message(bytes: u64) -> Work {
    Work::Pairs(Pairs {
        matching: Matching::Listed(vec![(0, 1)]),
        mode: PairMode::Stream,
        messages: 1,
        message: Bytes(bytes),
        ack: Bytes(8),
        active: None,
        start_spread: Time::ZERO,
        seed: None,
    })
}

fn result(what: &str, spec: &RunSpec) -> RunResult {
    run(spec, &mut |_| true).unwrap_or_else(|error| panic!("{what}: {error}"))
}

fn failed_check(what: &str, spec: &RunSpec) -> Box<Summary> {
    match run(spec, &mut |_| true) {
        Err(RunError::Check(summary)) => summary,
        Err(other) => panic!("{what}: {other}"),
        Ok(result) => panic!("{what}: {:?}", result.summary.verdict),
    }
}

fn refusal(spec: &RunSpec) -> String {
    match run(spec, &mut |_| true) {
        Err(RunError::Build(error)) => error.to_string(),
        other => panic!("not refused: {other:?}"),
    }
}

/// Rings of one channel and buffers of one packet, under all the load there is: deadlock within microseconds.
fn doomed(topology: TopologySpec) -> RunSpec {
    let mut spec = plain(topology);
    spec.routing = RoutingSpec::DOR;
    spec.router.vcs = Some(1);
    spec.router.buffer = Some(Bytes(2_048));
    spec.router.allow_deadlock = true;
    spec.jobs[0].work = work(Pattern::Uniform, 2_048, None, Some(200));
    spec.control.end = None;
    spec
}

/// The routers and ports of a cycle as the progress check prints it, resolved on the topology: each must lead to the next.
fn assert_is_a_cycle(what: &str, detail: &str, topology: &Topology) {
    let (_, cycle) = detail
        .split_once("waiting channels: ")
        .unwrap_or_else(|| panic!("{what}: {detail}"));
    let names: Vec<&str> = cycle.split(" -> ").collect();
    assert!(names.len() >= 3, "{what}: {cycle}");
    assert_eq!(names.first(), names.last(), "{what}: {cycle}");
    let wiring = topology.wiring();
    let find = |name: &str| {
        let port = name
            .strip_suffix(" channel 0")
            .unwrap_or_else(|| panic!("{what}: {name}"));
        let ports = (0..topology.n_routers()).flat_map(|r| (0..wiring.radix(r) as u16).map(move |p| (r, p)));
        let label = |&(r, p): &(u32, u16)| format!("{} {}", topology.router_name(r), topology.port_name(r, p)) == port;
        ports
            .into_iter()
            .find(label)
            .unwrap_or_else(|| panic!("{what}: no port {port}"))
    };
    for pair in names.windows(2) {
        let ((router, port), (next, _)) = (find(pair[0]), find(pair[1]));
        assert_eq!(
            wiring.peer(router, port).0,
            next,
            "{what}: {} does not lead to {}",
            pair[0],
            pair[1]
        );
    }
}

#[test]
fn a_deadlock_ends_the_run_with_the_cycle_of_waiting_channels_by_name() {
    for (name, topology) in [
        ("torus 4x4", torus(&[4, 4], 2)),
        ("torus 5x3x4", torus(&[5, 3, 4], 1)),
        (
            "ring",
            TopologySpec::Ring(RingSpec {
                routers: 6,
                width: 1,
                nodes_per_router: 3,
            }),
        ),
    ] {
        let built = topology.build().unwrap();
        let mut details = Vec::new();
        for engine in [Engine::Sequential, Engine::Reference, Engine::RollbackCheck] {
            let mut spec = doomed(topology.clone());
            spec.control.engine = engine;
            let summary = failed_check(name, &spec);
            let failed: Vec<_> = summary.verdict.checks.iter().filter(|check| !check.ok).collect();
            assert_eq!(failed.len(), 1, "{name}: {failed:?}");
            assert_eq!(failed[0].name, "progress");
            assert!(
                failed[0].detail.contains("packets are in flight and nothing moves"),
                "{}",
                failed[0].detail
            );
            assert_is_a_cycle(name, &failed[0].detail, &built);
            details.push(failed[0].detail.clone());
        }
        println!("{name}: {}", details[0]);
        assert!(
            details.iter().all(|detail| *detail == details[0]),
            "{name}: {details:?}"
        );
    }
}

#[test]
fn a_deadlock_under_endless_traffic_is_found_too() {
    let mut spec = doomed(torus(&[4, 4], 2));
    spec.jobs[0].work = work(Pattern::Uniform, 2_048, Some(0.9), None);
    for end in [Time::from_us(200), Time::from_us(40_000)] {
        spec.control.end = Some(end);
        let summary = failed_check("endless", &spec);
        assert!(
            summary.verdict.failures().starts_with("progress: "),
            "{}",
            summary.verdict.failures()
        );
        assert_is_a_cycle("endless", &summary.verdict.failures(), &spec.topology.build().unwrap());
    }
}

/// A pair that goes on for ever beside a ring that stands still must not hide it.
#[test]
fn a_deadlock_of_one_job_is_found_when_the_others_are_done() {
    let mut spec = doomed(torus(&[4, 4], 2));
    spec.jobs[0].nodes = Some(28);
    spec.jobs[0].work = work(Pattern::Shift { by: None }, 2_048, None, Some(200));
    let mut other = spec.jobs[0].clone();
    other.name = "other".into();
    other.nodes = Some(4);
    other.work = work(Pattern::Shift { by: Some(1) }, 64, Some(0.01), Some(50));
    spec.jobs.push(other);
    let summary = failed_check("two jobs", &spec);
    assert_is_a_cycle("two jobs", &summary.verdict.failures(), &spec.topology.build().unwrap());
}

#[test]
fn what_can_deadlock_is_refused_before_it_starts_with_the_cycle() {
    let mut spec = doomed(torus(&[4, 4], 2));
    spec.router.allow_deadlock = false;
    let reason = refusal(&spec);
    println!("{reason}");
    for part in ["router.vcs", "->", "(0,0)", "allow_deadlock"] {
        assert!(reason.contains(part), "{part} is missing in: {reason}");
    }
    // The same load is fine with the channels that the routing asks for, and where nothing can fill up.
    spec.router.vcs = None;
    assert_eq!(result("dateline", &spec).summary.messages, 32 * 200);
    spec.router.vcs = Some(1);
    spec.router.buffer = None;
    assert_eq!(result("unbounded", &spec).summary.messages, 32 * 200);
}

/// The numbers of the conservation check: injected, delivered, in flight; packets and bytes.
fn books(verdict: &Verdict) -> [u64; 6] {
    let check = verdict
        .checks
        .iter()
        .find(|check| check.name == "conservation")
        .unwrap();
    let numbers: Vec<u64> = check
        .detail
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|n| n.parse().ok())
        .collect();
    numbers.try_into().unwrap()
}

#[test]
fn packets_and_bytes_are_conserved_at_any_cut() {
    let mut in_flight_at_some = 0;
    for model in MODELS {
        for switching in [Switching::CutThrough, Switching::StoreAndForward] {
            for end in [
                1, 1_000, 99_999, 100_000, 281_920, 777_777, 1_000_000, 3_141_592, 20_000_001,
            ] {
                let mut spec = plain(torus(&[4, 3], 3));
                spec.router.model = model;
                spec.router.switching = switching;
                spec.router.buffer = Some(Bytes(8_192));
                spec.jobs[0].work = work(Pattern::Uniform, 5_000, Some(1.5), None);
                spec.control.end = Some(Time(end));
                spec.control.drain = Some(Time::ZERO);
                let summary = result("cut", &spec).summary;
                let [packets, bytes, out, out_bytes, flying, flying_bytes] = books(&summary.verdict);
                assert_eq!(
                    (packets, bytes),
                    (out + flying, out_bytes + flying_bytes),
                    "{model:?} cut at {end} ps"
                );
                assert_eq!((summary.packets, summary.bytes_delivered), (out, out_bytes));
                in_flight_at_some += u32::from(flying > 0 && out > 0);
            }
        }
    }
    assert!(in_flight_at_some >= 8, "{in_flight_at_some}");
}

/// The checks themselves: each of them fails when its fact is falsified.
#[test]
fn every_check_notices_what_it_is_for() {
    let lattice = Lattice {
        shape: vec![4, 4],
        width: vec![],
        nodes_per_router: 1,
    };
    // Two channels per port, and the only one of a plain network.
    for topology in [TopologySpec::Torus(lattice.clone()), TopologySpec::HyperX(lattice)] {
        every_check_notices_on(topology);
    }
}

fn every_check_notices_on(topology: TopologySpec) {
    let spec = plain(topology);
    let world = AnyFabric::new(&spec, Network::build(&spec).unwrap());
    let stats = || Stats::new(Span::default(), 0, false, Default::default(), (1, 0));
    let failed = |change: &dyn Fn(&mut State, &mut Stats, &mut InFlight), stalled, expected| {
        let (mut state, _) = world.start(0..world.n_lps());
        let (mut stats, mut in_flight) = (stats(), InFlight::default());
        change(&mut state, &mut stats, &mut in_flight);
        let wanted = HarvestWanted {
            unsent: None,
            waits: stalled,
            links: false,
        };
        let harvest = Harvest::reap(&world, &Parts::new([&state]), stats, in_flight, &[], wanted);
        let verdict = verdict(&RunFacts {
            net: world.net(),
            harvest: &harvest,
            idle: true,
            stalled,
            expected,
            until_done: false,
        });
        let names: Vec<_> = verdict
            .checks
            .iter()
            .filter(|check| !check.ok)
            .map(|check| check.name)
            .collect();
        assert_eq!(verdict.ok, names.is_empty());
        names
    };
    assert_eq!(failed(&|_, _, _| (), false, None), [""; 0]);
    assert_eq!(
        failed(&|_, _, flying| flying.packets = 1, false, None),
        ["conservation"]
    );
    assert_eq!(failed(&|_, _, flying| flying.bytes = 1, false, None), ["conservation"]);
    let nic = |state: &mut State, _: &mut Stats, _: &mut InFlight| state.nics.edit(&mut NoJournal, 0).packets = 1;
    assert_eq!(failed(&nic, false, None), ["conservation"]);
    let busy = |state: &mut State, _: &mut Stats, _: &mut InFlight| state.ports.edit(&mut NoJournal, 5).busy = 1;
    assert_eq!(failed(&busy, false, None), ["capacity"]);
    assert_eq!(failed(&|_, stats, _| stats.early = 1, false, None), ["zero-load bound"]);
    for wrong in [-1, 65_537, 65_535] {
        let credit = |state: &mut State, _: &mut Stats, _: &mut InFlight| match state.channels.is_empty() {
            true => state.ports.edit(&mut NoJournal, 0).only_channel_mut().credit = wrong,
            false => state.channels.edit(&mut NoJournal, 0).credit = wrong,
        };
        assert_eq!(failed(&credit, false, None), ["credits"], "{wrong}");
    }
    for wrong in [-1, 65_537, 65_535] {
        let room = |state: &mut State, _: &mut Stats, _: &mut InFlight| {
            state.nics.edit(&mut NoJournal, 0).credit = wrong;
        };
        assert_eq!(failed(&room, false, None), ["credits"], "{wrong}");
    }
    assert_eq!(failed(&|_, _, _| (), true, None), ["progress"]);
    assert_eq!(failed(&|_, _, _| (), false, Some(1)), ["progress"]);
}

/// Whether the check of credits passes, and what it says, with so many of the blocks on each rank.
fn credits_of(world: &AnyFabric, states: &[State], stats: &Stats, blocks_of_rank: usize) -> (bool, String) {
    let parts = || states.chunks(blocks_of_rank);
    let mut ranks: Vec<Harvest> = parts()
        .map(|part| {
            let (parts, stats, flying) = (Parts::new(part), stats.clone(), InFlight::default());
            Harvest::reap(world, &parts, stats, flying, &[], HarvestWanted::default())
        })
        .collect();
    let held: Vec<Range<u32>> = ranks.iter().map(|rank| rank.apart.places.clone()).collect();
    let mut told = vec![Vec::new(); ranks.len()];
    for rank in &mut ranks {
        let owed = rank.apart.for_others(&held);
        told.iter_mut().zip(owed).for_each(|(told, owed)| told.push(owed));
    }
    for (rank, told) in ranks.iter_mut().zip(&told) {
        rank.join_credits(world.net(), told).unwrap();
    }
    let mut ranks = ranks.into_iter();
    let mut harvest = ranks.next().unwrap();
    ranks.for_each(|part| harvest.merge(part));
    harvest.put_in_order();
    let found = verdict(&RunFacts {
        net: world.net(),
        harvest: &harvest,
        idle: true,
        stalled: false,
        expected: None,
        until_done: false,
    });
    let check = found.checks.into_iter().find(|check| check.name == "credits").unwrap();
    (check.ok, check.detail)
}

/// Nobody takes credits that wait for lost ones, nor lost ones for such that wait, whichever routers a rank has.
#[test]
fn credits_that_wait_are_not_lost_and_lost_ones_do_not_wait() {
    let mut spec = whose_credits_wait(1, 2);
    spec.jobs[0].work = work(Pattern::Uniform, 256, Some(0.2), Some(30));
    let world = AnyFabric::new(&spec, Network::build(&spec).unwrap());
    let stats = Stats::new(Span::default(), 0, false, Default::default(), (1, 0));
    let kind = EngineKind::Window {
        blocks: 4,
        workers: 1,
        adaptive: false,
    };
    let mut engine = kind.begin(&world, stats);
    engine.run(Time::MAX, &mut |_, _| true);
    let (mut states, stats, _) = engine.into_parts();
    let check = |states: &[State], expected: (bool, String)| {
        for blocks in [4, 2, 1] {
            assert_eq!(
                credits_of(&world, states, &stats, blocks),
                expected,
                "{blocks} of {}",
                states.len()
            );
        }
    };
    check(&states, (true, "all buffer space came back".into()));
    let (net, mut owing) = (world.net(), 0);
    for (lp, site) in net.sites.iter().enumerate() {
        for port in 0..u32::from(site.net) {
            let peer = net.peers[(site.port + port) as usize];
            let far = net.sites[peer.lp() as usize].port + u32::from(peer.port());
            let holds_it = |state: &State| state.ports.range().contains(&far);
            let block = states.iter().position(holds_it).unwrap();
            if world.owed(&states[block], far, 0) == 0 {
                continue;
            }
            owing += 1;
            for flits in [-1, 1] {
                let mark = states[block].ports.get(far).mark;
                states[block].ports.edit(&mut NoJournal, far).mark = mark.wrapping_add_signed(flits);
                let (name, bytes) = (net.port_name(lp as u32, port), 768 + 64 * flits);
                let found = format!("{name} channel 0 holds {bytes} bytes of credit of 768");
                check(&states, (false, found));
                states[block].ports.edit(&mut NoJournal, far).mark = mark;
            }
        }
    }
    assert!(owing > 10, "{owing}");
}

#[test]
fn the_watcher_can_stop_a_run() {
    for model in MODELS {
        let mut spec = plain(torus(&[4, 4], 1));
        spec.router.model = model;
        spec.control.end = Some(Time::from_us(100_000));
        let mut calls = 0;
        let stopped = run(&spec, &mut |progress| {
            calls += 1;
            assert!((0.0..=1.0).contains(&progress.fraction));
            calls < 2
        });
        match stopped {
            Err(RunError::Interrupted { at }) => assert!(at < Time::from_us(100_000), "{at}"),
            other => panic!("{other:?}"),
        }
        assert_eq!(calls, 2);
    }
}

/// `parts` packets of 25 GB/s one behind the other between neighbours of a single router.
fn stream_time(bytes: u64, packet: u64) -> u64 {
    let ps = |size: u64| size * 40;
    let parts = bytes.div_ceil(packet);
    300_000 + (parts - 1) * ps(packet) + ps(bytes - (parts - 1) * packet)
}

#[test]
fn messages_and_packets_of_every_size_take_their_time() {
    let gib = 1 << 30;
    for model in MODELS {
        for (bytes, packet) in [
            (1, 1),
            (1, 65_536),
            (1_000, 1),
            (65_536, 65_536),
            (65_537, 65_536),
            (gib, 65_536),
            (gib, 2_048),
            (5 * gib + 1, 65_536),
        ] {
            let what = format!("{model:?}: {bytes} B in packets of {packet} B");
            let mut spec = plain(TopologySpec::SingleRouter(SingleRouterSpec { nodes: 2 }));
            spec.router.model = model;
            spec.router.buffer = Some(Bytes(1 << 20));
            spec.nic.packet = Bytes(packet);
            spec.jobs[0].work = one_message(bytes);
            spec.control.end = None;
            let result = result(&what, &spec);
            assert_eq!(result.summary.messages, 1, "{what}");
            assert_eq!(result.summary.packets, bytes.div_ceil(packet), "{what}");
            assert_eq!(result.summary.bytes_delivered, bytes, "{what}");
            assert_eq!(result.stats.latest, stream_time(bytes, packet), "{what}");
        }
    }
}

#[test]
fn a_silent_node_is_no_trouble() {
    for model in MODELS {
        // 9 nodes: the middle one is its own complement.
        let mut spec = plain(torus(&[3, 3], 1));
        spec.router.model = model;
        spec.jobs[0].work = work(Pattern::BitComplement, 2_048, None, Some(10));
        spec.control.end = None;
        assert_eq!(result("complement", &spec).summary.messages, 80);
        // Nodes without a job.
        spec.jobs[0].nodes = Some(4);
        assert_eq!(result("four of nine", &spec).summary.messages, 40);
        spec.jobs[0].work = work(Pattern::Incast { sources: Some(1) }, 2_048, Some(0.5), None);
        spec.control.end = Some(Time::from_us(50));
        let summary = result("one sender", &spec).summary;
        assert!(summary.messages > 200, "{}", summary.messages);
    }
}

/// Every node sends to one, all they can, for a millisecond: the ejection link is never idle, and nothing else gives way.
#[test]
fn all_to_one_overload_fills_the_ejection_link_and_nothing_breaks() {
    for model in MODELS {
        for buffer in [4_096, 65_536] {
            let mut spec = plain(torus(&[4, 4, 4], 1));
            spec.router.model = model;
            spec.router.buffer = Some(Bytes(buffer));
            spec.jobs[0].work = work(Pattern::Incast { sources: None }, 2_048, Some(1.0), None);
            spec.control.end = Some(Time::from_us(1_000));
            spec.control.warmup = Some(Time::from_us(100));
            spec.control.drain = Some(Time::ZERO);
            let summary = result("all to one", &spec).summary;
            // One link's worth of 64; slices of the record do not divide the time, packets do not divide slices: 0.1 %.
            let share = summary.accepted_load * 64.0;
            assert!((share - 1.0).abs() < 0.001, "{model:?} {buffer}: {share}");
            assert!(summary.saturated.is_some());
        }
    }
}

#[test]
fn a_single_node_is_refused_with_the_reason() {
    let spec = plain(TopologySpec::SingleRouter(SingleRouterSpec { nodes: 1 }));
    assert!(
        refusal(&spec).contains("a pattern needs at least 2 nodes"),
        "{}",
        refusal(&spec)
    );
    let mut pairs = spec.clone();
    pairs.jobs[0].work = one_message(8);
    assert!(
        refusal(&pairs).contains("the job has nodes 0 to 0"),
        "{}",
        refusal(&pairs)
    );
}

#[test]
fn a_run_of_no_length_has_numbers_and_none_of_them_is_nan() {
    for model in MODELS {
        for end in [0, 1] {
            let mut spec = plain(torus(&[4, 4], 1));
            spec.router.model = model;
            spec.control.end = Some(Time(end));
            spec.observe.links = true;
            let result = result("no length", &spec);
            assert_eq!(result.summary.messages, 0);
            assert!(result.summary.accepted_load.is_finite());
            assert!(result.links.iter().all(|row| row.utilisation.is_finite()));
            let json = serde_json::to_value(&result.summary).unwrap();
            assert!(!json["accepted_load"].is_null(), "{json}");
            assert_eq!(result.summary.latency_ns.mean, None);
        }
    }
}

/// 2^57 ps are 40 h. Work that takes longer must not wrap around, nor pass for finished.
#[test]
fn the_end_of_simulated_time_is_an_error_and_not_a_number() {
    let error = |spec: &RunSpec| match run(spec, &mut |_| true) {
        Ok(result) => panic!("{:?}", result.summary.verdict),
        Err(error) => error.to_string(),
    };
    for model in MODELS {
        // 1 MB at 40 bit/s: 200,000 s.
        let mut spec = plain(TopologySpec::SingleRouter(SingleRouterSpec { nodes: 2 }));
        spec.router.model = model;
        spec.router.switching = Switching::StoreAndForward;
        spec.links.default.bandwidth = BitsPerSec(40);
        spec.jobs[0].work = one_message(1_000_000);
        spec.control.end = None;
        let reason = error(&spec);
        assert!(
            reason.contains("simulated time ends at 144115 s, when 0 of 1 messages were delivered"),
            "{reason}"
        );
        // One packet of 131,072 s.
        spec.links.default.bandwidth = BitsPerSec(4);
        spec.nic.packet = Bytes(1 << 16);
        let reason = error(&spec);
        assert!(
            reason.contains("a full packet takes 131072.0 s for a single link"),
            "{reason}"
        );
        // An end beyond it, and one that just fits: packets are still under way when it comes.
        spec.links.default.bandwidth = BitsPerSec(200_000_000_000);
        spec.nic.packet = Bytes(2_048);
        spec.links.default.latency = Time::from_us(1_000_000);
        spec.router.buffer = Some(Bytes(1 << 20));
        spec.jobs[0].work = work(Pattern::Uniform, 2_048, Some(1e-9), None);
        spec.control.end = Some(HORIZON);
        let reason = error(&spec);
        assert!(reason.contains("run.end: 144115.188 s is too long"), "{reason}");
        spec.control.end = Some(Time(HORIZON.0 - 2_100_000_000_000));
        for engine in [Engine::Sequential, Engine::Reference, Engine::RollbackCheck] {
            spec.control.engine = engine;
            let summary = result("40 h", &spec).summary;
            assert!(summary.messages > 600, "{}", summary.messages);
        }
    }
}

/// A packet that takes 0.5 s is slow, not stuck.
#[test]
fn a_slow_link_is_no_stall() {
    for model in MODELS {
        let mut spec = plain(TopologySpec::SingleRouter(SingleRouterSpec { nodes: 2 }));
        spec.router.model = model;
        spec.router.buffer = Some(Bytes(1 << 20));
        spec.links.default.bandwidth = BitsPerSec(1_000_000);
        spec.nic.packet = Bytes(65_536);
        spec.jobs[0].work = one_message(262_144);
        spec.control.end = None;
        let result = result("1 Mbit/s", &spec);
        assert_eq!(result.stats.latest, 300_000 + 262_144 * 8_000_000, "{model:?}");
        // The same over a link of a second's length.
        spec.links.default = LinkSpec {
            bandwidth: BitsPerSec(200_000_000_000),
            latency: Time::from_us(1_000_000),
        };
        let result = self::result("1 s", &spec);
        assert_eq!(
            result.stats.latest,
            2_000_000_000_000 + 100_000 + 262_144 * 40,
            "{model:?}"
        );
    }
}

/// Long links between routers, short ones to the nodes: nothing arrives for 2 ms although much is sent. No stall either, even where
/// the user calls 100 us one.
#[test]
fn long_links_are_no_stall() {
    for model in MODELS {
        let mut spec = plain(torus(&[3, 3], 1));
        spec.router.model = model;
        spec.router.buffer = None;
        let mut long = spec.links.default;
        long.latency = Time::from_us(2_000);
        spec.control.stall_after = Time::from_us(100);
        for class in ["x", "y"] {
            spec.links.by_class.insert(class.into(), long);
        }
        // A message per node and 0.8 us: thousands of windows in which much is injected and nothing comes.
        spec.jobs[0].work = work(Pattern::Tornado, 2_048, Some(0.1), Some(4_000));
        spec.control.end = None;
        assert_eq!(result("2 ms", &spec).summary.messages, 36_000, "{model:?}");
    }
}

/// The state takes what ARCHITECTURE.md says (section "Memory per node"), whatever the size of the network.
#[test]
fn memory_per_node_is_what_is_stated_at_every_size() {
    let dragonfly = |groups, routers| {
        TopologySpec::Dragonfly(DragonflySpec {
            groups,
            routers_per_group: vec![routers],
            nodes_per_router: 8,
            links_per_pair: 1,
            local_width: 1,
            arrangement: topo::Arrangement::Absolute,
            arrangement_seed: 1,
        })
    };
    let tori = [6, 12, 30].map(|side| torus(&[side; 3], 1));
    let (mut per_node, mut without_queues) = (Vec::new(), Vec::new());
    for topology in tori
        .into_iter()
        .chain([dragonfly(17, 8), dragonfly(33, 16), dragonfly(129, 16)])
    {
        let mut spec = plain(topology);
        let world = AnyFabric::new(&spec, Network::build(&spec).unwrap());
        let net = world.net();
        let (routers, ports, nodes) = (net.sites.len(), net.n_ports() as usize, net.n_nodes() as usize);
        let (vcs, words) = (net.vcs as usize, net.words as usize);
        let of_channels = if net.is_plain() { 8 } else { 24 * vcs };
        let stated = ports * (64 + of_channels) + routers * (32 + 16 * words) + nodes * (64 + 64 + 48 + 8 + 4);
        let (state, _) = world.start(0..world.n_lps());
        assert_eq!(state.memory(), stated, "{} nodes", nodes);
        per_node.push(stated / nodes);
        spec.router = RouterSpec {
            model: RouterKind::SCULPIN,
            buffer: None,
            ..spec.router
        };
        let world = AnyFabric::new(&spec, Network::build(&spec).unwrap());
        let stated = ports * 32 + routers * (32 + 8 * words) + nodes * (64 + 48 + 8 + 4);
        let (state, _) = world.start(0..world.n_lps());
        assert_eq!(state.memory(), stated, "{} nodes without queues", nodes);
        without_queues.push(stated / nodes);
    }
    assert_eq!(per_node, [1020, 1020, 1020, 432, 544, 628]);
    assert_eq!(without_queues, [388, 388, 388, 197, 229, 253]);
}
