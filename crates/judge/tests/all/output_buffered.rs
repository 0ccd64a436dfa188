//! Routers with output buffers: closed forms of what credits and buffers let through, and what they refuse.

use des::Time;
use fabric::spec::*;
use judge::run::{RunResult, run};
use topo::{Lattice, TopologySpec};

/// A packet of 2,048 B on a link of 25 GB/s (ps).
const PACKET: u64 = 81_920;

/// Two routers with so many nodes each, a link apart.
fn nodes_a_link_apart(nodes_per_router: u32) -> TopologySpec {
    TopologySpec::Mesh(Lattice {
        shape: vec![2],
        width: vec![],
        nodes_per_router,
    })
}

/// Nodes 0 and 1, a link apart.
fn pair(latency: u64, packets_behind: u64) -> RunSpec {
    let mut spec = plain(nodes_a_link_apart(1));
    spec.links.default = LinkSpec {
        bandwidth: BitsPerSec(200_000_000_000),
        latency: Time(latency),
    };
    let router = &mut spec.router;
    router.architecture = Architecture::OUTPUT_BUFFERED;
    router.traversal = Time::ZERO;
    router.buffer = Some(Bytes(2_048 * packets_behind));
    router.output_buffer = None;
    spec.nic.buffer = Some(Bytes(1 << 20));
    spec.control.end = None;
    spec.observe.messages = MessageDetail::Full;
    spec
}

fn send(spec: &mut RunSpec, pairs: &[(u32, u32)], packets: u64) {
    spec.jobs[0].work = Work::Pairs(Pairs {
        matching: Matching::Listed(pairs.to_vec()),
        mode: PairMode::Stream,
        messages: 1,
        message: Bytes(2_048 * packets),
        ack: Bytes(1),
        active: None,
        start_spread: Time::ZERO,
        seed: None,
    });
}

fn result(spec: &RunSpec) -> RunResult {
    run(spec, &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

/// When messages have come (ps).
fn arrivals(result: &RunResult) -> Vec<u64> {
    let rows = result.stats.rows.as_deref().unwrap_or_default();
    let mut all: Vec<u64> = rows.iter().map(|row| row.time).collect();
    all.sort_unstable();
    all
}

#[test]
fn room_for_one_packet_sends_one_in_a_latency_and_the_longer_of_that_and_its_tail() {
    for latency in [0, 20_000, PACKET, 100_000, 1_000_000] {
        // Nine nodes of a router send over one link, to a node each.
        let mut spec = pair(latency, 1);
        spec.topology = nodes_a_link_apart(9);
        let pairs: Vec<(u32, u32)> = (0..9).map(|node| (node, 9 + node)).collect();
        send(&mut spec, &pairs, 1);
        // The credit is under way from the head's arrival on, and not back before the tail has come.
        let each = latency + latency.max(PACKET);
        let expected: Vec<u64> = (0..9).map(|n| 3 * latency + n * each + PACKET).collect();
        assert_eq!(arrivals(&result(&spec)), expected, "{latency} ps");
        // Room for what is on its way: nothing waits.
        let mut wide = pair(latency, 2 * latency.div_ceil(PACKET) + 2);
        send(&mut wide, &[(0, 1)], 9);
        assert_eq!(arrivals(&result(&wide)), [3 * latency + 9 * PACKET], "{latency} ps");
    }
}

#[test]
fn a_node_with_room_for_one_packet_gets_one_in_its_time_and_two_latencies() {
    for latency in [0, 20_000, PACKET, 100_000, 1_000_000] {
        let mut spec = pair(latency, 1);
        send(&mut spec, &[(0, 1)], 9);
        // The credit leaves with the tail's arrival.
        let each = 2 * latency + PACKET;
        assert_eq!(
            arrivals(&result(&spec)),
            [3 * latency + 8 * each + PACKET],
            "{latency} ps"
        );
    }
}

#[test]
fn what_finds_no_room_at_an_output_goes_in_the_order_of_arrival_when_there_is_some() {
    // Three nodes of a router send over one link, to a node each.
    let mut spec = pair(50_000, 8);
    spec.topology = nodes_a_link_apart(3);
    spec.router.output_buffer = Some(Bytes(2_048));
    send(&mut spec, &[(0, 3), (1, 4), (2, 5)], 1);
    let expected: Vec<u64> = (1..=3).map(|n| 150_000 + n * PACKET).collect();
    assert_eq!(arrivals(&result(&spec)), expected);
}

#[test]
fn shares_are_those_of_the_channels_and_hold_a_packet() {
    let mut spec = pair(100_000, 4);
    spec.router.vcs = Some(4);
    spec.router.shares_buffers = true;
    send(&mut spec, &[(0, 1)], 5);
    // Four channels, of which one is used: as with room for one packet, at the node too.
    assert_eq!(arrivals(&result(&spec)), [300_000 + 4 * (200_000 + PACKET) + PACKET]);
    spec.router.vcs = Some(5);
    let error = run(&spec, &mut |_| true).expect_err("1,638 B hold no packet");
    assert!(format!("{error}").contains("each of 5 virtual channels"), "{error}");
}
