//! The bubble rule of `credit` routers: rings on one virtual channel that never fill up, and what the rule costs.

use des::Time;
use fabric::network::Network;
use fabric::spec::*;
use judge::run::{RunResult, run};
use proptest::prelude::*;
use topo::{Lattice, TopologySpec};

/// A torus of one cable each way, on one channel, whose buffers have room for so many packets.
fn torus(shape: &[u32], bubble: u8, slots: u64) -> RunSpec {
    let mut spec = plain(TopologySpec::Torus(Lattice {
        shape: shape.to_vec(),
        width: vec![],
        nodes_per_router: 1,
    }));
    spec.routing = RoutingSpec::DOR;
    spec.router.bubble = bubble;
    spec.router.buffer = Some(Bytes(slots * spec.nic.packet.0));
    spec.router.vcs = (bubble == 0).then_some(1);
    spec.router.allow_deadlock = bubble == 0;
    spec.nic.buffer = Some(Bytes(1 << 20));
    spec.control.end = None;
    spec.observe.messages = MessageDetail::Full;
    spec
}

fn send(spec: &mut RunSpec, pattern: Pattern, message: u64, count: u64) {
    spec.jobs[0].work = Work::Synthetic(Synthetic {
        load: None,
        count: Some(count),
        process: Process::Periodic,
        ..Synthetic::of(pattern, Bytes(message))
    });
}

fn result(spec: &RunSpec) -> RunResult {
    run(spec, &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

/// When each message has come (ps), by source and number.
fn arrivals(spec: &RunSpec) -> Vec<(u32, u64, u64)> {
    let result = result(spec);
    let rows = result.stats.rows.as_deref().unwrap_or_default();
    let mut all: Vec<_> = rows.iter().map(|row| (row.source, row.birth, row.time)).collect();
    all.sort_unstable();
    all
}

#[test]
fn a_packet_that_enters_a_ring_leaves_the_other_slots_of_the_rule_free() {
    // To the next router: all packets enter. Room for k of which n must be free is room for k - n + 1.
    for (bubble, slots) in [(2, 2), (2, 3), (3, 5), (2, 9), (16, 16)] {
        let with = |bubble, slots| {
            let mut spec = torus(&[6], bubble, slots);
            send(&mut spec, Pattern::Shift { by: Some(1) }, 5 * 2_048, 4);
            arrivals(&spec)
        };
        assert_eq!(
            with(bubble, slots),
            with(0, slots + 1 - u64::from(bubble)),
            "{bubble} of {slots}"
        );
    }
}

#[test]
fn a_small_packet_takes_the_room_of_the_largest() {
    let small = |packet, bubble, slots| {
        let mut spec = torus(&[6], bubble, slots);
        spec.nic.packet = Bytes(packet);
        spec.router.buffer = Some(Bytes(slots * packet));
        send(&mut spec, Pattern::Shift { by: Some(1) }, 100, 20);
        arrivals(&spec)
    };
    assert_eq!(small(2_048, 2, 4), small(100, 0, 3));
}

#[test]
fn where_no_buffer_fills_up_the_rule_changes_nothing() {
    let with = |bubble| {
        let mut spec = torus(&[4, 5], bubble, 512);
        send(&mut spec, Pattern::Uniform, 5_000, 20);
        arrivals(&spec)
    };
    assert_eq!(with(2), with(0));
}

#[test]
fn rings_that_lock_without_the_rule_move_with_it() {
    for shape in [&[6][..], &[4, 4]] {
        let mut spec = torus(shape, 0, 2);
        send(&mut spec, Pattern::Shift { by: Some(2) }, 20_000, 20);
        let error = run(&spec, &mut |_| true).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("nothing moves"), "{error}");
        spec.router.bubble = 2;
        (spec.router.vcs, spec.router.allow_deadlock) = (None, false);
        assert_eq!(result(&spec).summary.arrived, 20 * shape.iter().product::<u32>() as u64);
    }
}

#[test]
fn one_channel_is_proved_where_rings_move_and_only_there() {
    let proved = |spec: &RunSpec| {
        let net = Network::build(spec).map_err(|error| error.to_string())?;
        judge::check::deadlock(spec, &net).map_err(|error| error.to_string())
    };
    let mut spec = torus(&[4, 4], 2, 3);
    send(&mut spec, Pattern::Uniform, 2_048, 2);
    let words = proved(&spec).unwrap();
    assert!(words.contains("bubble flow control"), "{words}");
    // Ways that are not by dimension order, and cables beside each other, ask for channels of their own.
    for (routing, width) in [(RoutingSpec::RDR, 1), (RoutingSpec::MIN_A, 1), (RoutingSpec::DOR, 2)] {
        let mut other = spec.clone();
        other.routing = routing.clone();
        if let TopologySpec::Torus(lattice) = &mut other.topology {
            lattice.width = vec![width; 2];
        }
        let words = proved(&other).unwrap();
        assert!(!words.contains("bubble"), "{routing:?} {width}: {words}");
    }
    // Two channels are none of the rule's, and room for one packet is no room for two.
    let mut channels = spec.clone();
    channels.router.vcs = Some(2);
    let error = proved(&channels).unwrap_err();
    assert!(error.contains("router.vcs") && error.contains("bubble rule"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(
        std::env::var("FABRICSIM_BUBBLES").ok().and_then(|n| n.parse().ok()).unwrap_or(60)
    ))]

    /// Packets of unequal size, buffers of few slots, more than the network can take: all of it arrives.
    #[test]
    fn nothing_ever_stands_still(
        shape in prop_oneof![
            Just(vec![3]), Just(vec![8]), Just(vec![4, 4]), Just(vec![5, 3]), Just(vec![2, 6]), Just(vec![3, 3, 3])
        ],
        (bubble, more) in (2_u8..4, 0_u64..3),
        message in 1_u64..9_000,
        latency in prop_oneof![Just(0_u64), Just(1_000), 1_u64..2_000_000],
        pattern in prop_oneof![
            Just(Pattern::Uniform), Just(Pattern::Shift { by: None }), Just(Pattern::Tornado), Just(Pattern::RandomPermutation),
            Just(Pattern::HotSpot { targets: 1, fraction: 0.3 })
        ],
        first_come in any::<bool>(),
        store in any::<bool>(),
        slow in any::<bool>(),
        seed in any::<u32>(),
    ) {
        let mut spec = torus(&shape, bubble, u64::from(bubble) + more);
        send(&mut spec, pattern, message, 12);
        spec.links.default.latency = Time(latency);
        if first_come {
            spec.router.arbitration = Arbitration::Fcfs;
        }
        if store {
            spec.router.switching = Switching::StoreAndForward;
        }
        if slow {
            spec.nic.bandwidth = Some(BitsPerSec(90_000_000_000));
        }
        spec.control.seed = seed.into();
        let nodes: u64 = shape.iter().map(|&size| u64::from(size)).product();
        prop_assert_eq!(result(&spec).summary.arrived, 12 * nodes);
    }
}
