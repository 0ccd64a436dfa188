//! What a run says of a load that its network does or does not carry, and of messages that have not arrived.

use des::Time;
use des::rng::{SplitMix, below, unit};
use fabric::spec::*;
use judge::results::LoadState;
use judge::run::{RunResult, run};
use topo::{Arrangement, DragonflySpec, FatTreeSpec, Lattice, RingSpec, SingleRouterSpec, TopologySpec};

fn lattice(shape: &[u32], nodes_per_router: u32) -> Lattice {
    Lattice {
        shape: shape.to_vec(),
        width: vec![1; shape.len()],
        nodes_per_router,
    }
}

fn traffic(pattern: Pattern, message: u64, load: f64, process: Process) -> Work {
    Work::Synthetic(Synthetic {
        load: Some(load),
        process,
        ..Synthetic::of(pattern, Bytes(message))
    })
}

fn go(spec: &RunSpec) -> RunResult {
    run(spec, &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

/// Transpose on a mesh of 8 x 8 by dimension order: 7 of a row's nodes turn at one router, so a seventh of a link is what each can have; on
/// bit-complement 4 share a link.
#[test]
fn the_verdict_rises_with_the_load_and_is_the_same_for_every_drain_and_length() {
    for (pattern, bound) in [(Pattern::Transpose, 1.0 / 7.0), (Pattern::BitComplement, 0.25)] {
        let mut worst = LoadState::Ok;
        for step in 1..=7 {
            let load = f64::from(step) / 10.0;
            let state = |length: u64, drain: Option<Time>, sources: bool| {
                let mut spec = plain(TopologySpec::Mesh(lattice(&[8, 8], 1)));
                spec.routing = RoutingSpec::DOR;
                spec.jobs[0].work = traffic(pattern.clone(), 2_048, load, Process::Poisson);
                spec.control.end = Some(Time::from_us(length));
                spec.control.warmup = Some(Time::from_us(length / 4));
                (spec.control.drain, spec.control.drain_sources) = (drain, sources);
                let summary = go(&spec).summary;
                assert_eq!(
                    summary.saturated.is_some(),
                    summary.verdict.state == LoadState::Saturated
                );
                (summary.verdict.state, summary.accepted_load)
            };
            let state_of = |length| state(length, None, true);
            let told = state_of(100);
            assert_eq!(told, state(100, Some(Time::ZERO), true), "{pattern:?} at {load}");
            assert_eq!(
                told,
                state(100, Some(Time::from_us(300)), false),
                "{pattern:?} at {load}"
            );
            assert_eq!(told.0, state_of(400).0, "{pattern:?} at {load}");
            let expected = if load < bound {
                LoadState::Ok
            } else {
                LoadState::Saturated
            };
            assert_eq!(told.0, expected, "{pattern:?} at {load}");
            assert!(told.0 >= worst);
            worst = told.0;
        }
    }
}

/// What waits when nothing can be served is not worth the time of a drain that nobody asked for; what came until then is what it was.
#[test]
fn a_run_that_could_serve_none_of_its_jobs_ends_with_its_measured_span() {
    let go_for = |load: f64, drain: Option<Time>, sources: bool| {
        let mut spec = plain(TopologySpec::Mesh(lattice(&[8, 8], 1)));
        spec.routing = RoutingSpec::DOR;
        spec.jobs[0].work = traffic(Pattern::Transpose, 2_048, load, Process::Poisson);
        spec.control.end = Some(Time::from_us(100));
        (spec.control.drain, spec.control.drain_sources) = (drain, sources);
        go(&spec).summary
    };
    let end = 100_000.0;
    let (short, long) = (go_for(0.4, None, true), go_for(0.4, Some(Time::from_us(100)), true));
    assert_eq!(short.verdict.state, LoadState::Saturated);
    assert_eq!(short.verdict.state, long.verdict.state);
    assert_eq!(
        (short.measured, short.accepted_load),
        (long.measured, long.accepted_load)
    );
    assert!(
        short.sim_time_ns < 1.1 * end && short.arrived < long.arrived,
        "{short:?}"
    );
    assert!(long.sim_time_ns > 1.9 * end);
    // Without sources everything arrives, and what is carried is drained as long as something is under way.
    let emptied = go_for(0.4, None, false);
    assert!(emptied.sim_time_ns > 1.9 * end && emptied.arrived > long.arrived);
    let carried = go_for(0.1, None, true);
    assert!(carried.sim_time_ns > end && carried.arrived == carried.measured);
}

/// Six kinds of networks, two routings, two models, five patterns, four sizes, three lengths, two processes; loads below 0.9 or above 1.1 of what
/// the busiest link takes by a long run at a low load. `FABRICSIM_LOADS` says how many.
#[test]
fn no_load_below_the_bound_is_called_saturated_and_none_above_it_ok() {
    let wanted: u32 = std::env::var("FABRICSIM_LOADS").map_or(16, |text| text.parse().unwrap());
    let (mut done, mut told) = ([0, 0], 0);
    for case in 0u64.. {
        let mut random = SplitMix(case.wrapping_mul(7_919) + 12_345);
        let mut draw = |n: u64| below(random.next_word(), n);
        let side = |n: u64| n as u32;
        let topology = match draw(6) {
            0 => TopologySpec::Mesh(lattice(&[2 + side(draw(7)), 2 + side(draw(7))], 1 + side(draw(3)))),
            1 => TopologySpec::Torus(lattice(&[3 + side(draw(6)), 3 + side(draw(5))], 1 + side(draw(2)))),
            2 => TopologySpec::HyperX(lattice(&[2 + side(draw(5)), 2 + side(draw(5))], 1 + side(draw(4)))),
            3 => TopologySpec::Ring(RingSpec {
                routers: 3 + side(draw(14)),
                width: 1,
                nodes_per_router: 1 + side(draw(2)),
            }),
            4 => TopologySpec::FatTree(FatTreeSpec {
                down: vec![4, 2 + side(draw(6))],
                up: vec![1 + side(draw(4))],
                up_width: vec![1],
            }),
            _ => TopologySpec::Dragonfly(DragonflySpec {
                groups: 3 + side(draw(4)),
                routers_per_group: vec![4],
                nodes_per_router: 2,
                links_per_pair: 1 + side(draw(2)),
                local_width: 1,
                arrangement: Arrangement::Absolute,
                arrangement_seed: 1,
            }),
        };
        let mut spec = plain(topology);
        spec.control.seed = case + 1;
        spec.routing = [RoutingSpec::MINIMAL, RoutingSpec::MIN_RANDOM][draw(2) as usize].clone();
        let credit = draw(2) == 0;
        let patterns = [
            Pattern::Uniform,
            Pattern::RandomPermutation,
            Pattern::BitComplement,
            Pattern::Shift { by: None },
            Pattern::HotSpot {
                targets: 1,
                fraction: 0.1,
            },
        ];
        let pattern = patterns[draw(5) as usize].clone();
        let message = [512, 2_048, 4_096, 16_384][draw(4) as usize];
        let slots = [2_000, 6_000, 20_000][draw(3) as usize];
        let process = [Process::Poisson, Process::Periodic][draw(2) as usize];
        let above = draw(2) == 1;
        let share = unit(draw(u64::MAX));
        let ratio = if above { 1.1 + share } else { 0.1 + 0.8 * share };
        let (warmup, drain) = (draw(2) == 1, draw(2) == 1);
        if done[usize::from(above)] >= wanted {
            if done.iter().all(|&n| n >= wanted) {
                break;
            }
            continue;
        }
        // What the busiest link carries of a low load tells the load that fills it, to a few parts in a thousand.
        const LOW: f64 = 0.05;
        let slot = message * 8_000_000_000_000 / spec.links.default.bandwidth.0;
        spec.jobs[0].work = traffic(pattern.clone(), message, LOW, process);
        spec.control.end = Some(Time(slot * 40_000));
        spec.control.warmup = Some(Time::ZERO);
        let busiest = go(&spec).summary.busiest_link.unwrap().busy;
        let load = ratio * LOW / busiest;
        if load > 1.0 {
            continue;
        }
        if credit {
            spec.router.model = RouterKind::CREDIT;
            spec.router.buffer = Some(Bytes(64 * 2_048));
        }
        spec.jobs[0].work = traffic(pattern.clone(), message, load, process);
        spec.control.end = Some(Time(slot * slots));
        spec.control.warmup = warmup.then_some(Time(slot * slots / 4));
        spec.control.drain = drain.then_some(Time::ZERO);
        let summary = go(&spec).summary;
        let wrong = if above { LoadState::Ok } else { LoadState::Saturated };
        assert!(
            summary.verdict.state != wrong,
            "case {case}: {ratio:.3} of the bound, load {load:.4}, {slots} messages long, credit {credit}: {wrong:?} {:?} {:?} {pattern:?} of {message} B {process:?}: {}",
            spec.topology,
            spec.routing,
            summary.notes.join("; ")
        );
        done[usize::from(above)] += 1;
        told += u32::from(summary.verdict.state != LoadState::Unsettled);
    }
    println!("{done:?} cases, {told} of them told");
    assert!(told > wanted, "most are long enough to tell: {told}");
}

/// Sources that send at equal distances make a known number of messages, whatever becomes of them.
#[test]
fn every_message_is_counted_wherever_it_is() {
    for (load, drain, sources) in [
        (0.1, None, true),
        (0.9, Some(Time::ZERO), true),
        (0.9, None, false),
        (0.9, None, true),
    ] {
        for workers in [1, 3] {
            let mut spec = plain(TopologySpec::Mesh(lattice(&[4, 4], 2)));
            spec.jobs[0].work = traffic(Pattern::Shift { by: Some(13) }, 10_000, load, Process::PeriodicInPhase);
            let gap = 10_000.0 * 8e12 / (load * spec.links.default.bandwidth.0 as f64);
            let (warmup, end) = (30_000_000.0, 90_000_000.0);
            (spec.control.warmup, spec.control.end) = (Some(Time(warmup as u64)), Some(Time(end as u64)));
            (spec.control.drain, spec.control.drain_sources) = (drain, sources);
            spec.control.workers = workers;
            let result = go(&spec);
            let births = |until: f64| (0..).take_while(|&k| (f64::from(k) * gap).floor() < until).count() as u64;
            let expected = 32 * (births(end) - births(warmup));
            let summary = &result.summary;
            assert_eq!(
                summary.measured, expected,
                "load {load}, drain {drain:?}, {workers} workers"
            );
            assert_eq!(summary.arrived, result.sample.latencies.count);
            let missing = result.sample.missing.total();
            assert_eq!(summary.arrived + missing, summary.measured);
            assert_eq!(load < 0.5, missing == 0);
            // None of them is left out of a mean or a quantile.
            let latency = &summary.latency_ns;
            assert_eq!(latency.mean.is_some() && latency.p99.is_some(), load < 0.5);
            if load > 0.5 {
                assert!(
                    latency.p99_at_least.unwrap()
                        >= summary.latency_of_arrived_ns.as_ref().unwrap().p99.unwrap() * 0.99
                );
                assert!(latency.mean_at_least.unwrap() > 5_000.0);
            }
        }
    }
}

#[test]
fn a_latency_is_a_wait_and_a_way() {
    // A node that sends 4 messages at once to another: each waits for the ones before it.
    let mut spec = plain(TopologySpec::SingleRouter(SingleRouterSpec { nodes: 4 }));
    spec.jobs[0].work = Work::Pairs(Pairs {
        matching: Matching::Listed(vec![(0, 1)]),
        mode: PairMode::Stream,
        messages: 4,
        message: Bytes(2_048),
        ack: Bytes(8),
        active: None,
        start_spread: Time::ZERO,
        seed: None,
    });
    spec.control.end = None;
    let summary = go(&spec).summary;
    let slot = 2_048.0 * 8.0 / 200.0;
    let wait = summary.wait_ns.mean.unwrap();
    assert!((wait - 1.5 * slot).abs() < 0.01, "{wait} ns, 1.5 of {slot} expected");
    let ways = (summary.latency_ns.min.unwrap(), summary.latency_ns.mean.unwrap() - wait);
    assert!((ways.0 - ways.1).abs() < 0.01, "{ways:?}");
    assert_eq!((summary.measured, summary.arrived), (4, 4));
    assert_eq!(summary.jobs[0].time_ns, Some(summary.latency_ns.max.unwrap()));
}

/// Two jobs on one router: one of a few messages, the other an incast that cannot be carried.
#[test]
fn jobs_have_figures_of_their_own() {
    let mut spec = plain(TopologySpec::SingleRouter(SingleRouterSpec { nodes: 16 }));
    let job = |name: &str, pattern, load| JobSpec {
        name: name.into(),
        work: traffic(pattern, 2_048, load, Process::Poisson),
        nodes: Some(8),
        placement: Placement::Linear,
    };
    spec.jobs = vec![
        job("calm", Pattern::Uniform, 0.2),
        job("crowd", Pattern::Incast { sources: None }, 0.3),
    ];
    spec.control.end = Some(Time::from_us(400));
    let summary = go(&spec).summary;
    assert_eq!(summary.verdict.state, LoadState::Saturated);
    let [calm, crowd] = &summary.jobs[..] else {
        panic!("{:?}", summary.jobs);
    };
    assert_eq!(calm.measured + crowd.measured, summary.measured);
    assert_eq!(calm.arrived + crowd.arrived, summary.arrived);
    let (of_calm, of_crowd) = (calm.traffic().unwrap(), crowd.traffic().unwrap());
    assert_eq!((of_calm.state, of_crowd.state), (LoadState::Ok, LoadState::Saturated));
    assert!(calm.latency_ns.p99.is_some() && crowd.latency_ns.p99.is_none());
    // Seven sources share one link; each had as much of it.
    let loads = of_crowd.loads.as_ref().unwrap();
    assert!((loads.offered_load - 0.3 * 7.0 / 8.0).abs() < 1e-9);
    assert!((loads.accepted_load * 8.0 - 1.0).abs() < 0.02, "{loads:?}");
    assert!(loads.fairness > 0.99 && loads.accepted_load_min > 0.1, "{loads:?}");
    let calm = of_calm.loads.as_ref().unwrap();
    assert!((calm.accepted_load - 0.2).abs() < 0.02, "{calm:?}");
    // Neither ends, whatever has arrived: when the last message came says nothing.
    assert!(summary.jobs.iter().all(|job| job.time_ns.is_none()));
}

/// On a ring by dimension order through credits, nodes far from the hot one get less than those near it.
#[test]
fn a_source_that_starves_shows() {
    let mut spec = plain(TopologySpec::Mesh(lattice(&[8, 1], 1)));
    spec.router.model = RouterKind::CREDIT;
    spec.jobs[0].work = traffic(Pattern::Incast { sources: None }, 2_048, 0.5, Process::Poisson);
    spec.control.end = Some(Time::from_us(400));
    let summary = go(&spec).summary;
    assert_eq!(summary.verdict.state, LoadState::Saturated);
    // Each router on the way halves what comes from behind it.
    let (least, fair) = (summary.accepted_load_min.unwrap(), summary.fairness.unwrap());
    assert!(least < 0.03 && fair < 0.6, "{least} {fair}");
}

#[test]
fn nothing_measured_is_no_zero() {
    let mut spec = plain(TopologySpec::SingleRouter(SingleRouterSpec { nodes: 4 }));
    spec.jobs[0].work = traffic(Pattern::Uniform, 2_048, 1e-6, Process::Poisson);
    spec.control.end = Some(Time::from_us(1));
    let summary = go(&spec).summary;
    assert_eq!((summary.measured, summary.arrived), (0, 0));
    assert_eq!((summary.latency_ns.mean, summary.latency_ns.p99), (None, None));
    assert!(
        summary
            .notes
            .iter()
            .any(|note| note.contains("no message was measured")),
        "{:?}",
        summary.notes
    );
}
