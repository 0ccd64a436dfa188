//! Late-admission routers with channels: closed forms of latency and throughput, and what they cannot do.

use des::Time;
use fabric::network::Network;
use fabric::spec::*;
use judge::run::{RunResult, run};
use topo::{Lattice, SingleRouterSpec, TopologySpec};

/// Time of a packet of 4,096 B on a link of 25 GB/s, latency of a link, what a router takes, credit, hand-over (ps).
const PACKET: u64 = 163_840;
const LINK: u64 = 10_000;
const ROUTER: u64 = 100_000;
const CREDIT: u64 = 700;
const HAND_OVER: u64 = 11_510;

fn line(routers: u32) -> RunSpec {
    let topology = match routers {
        1 => TopologySpec::SingleRouter(SingleRouterSpec { nodes: 2 }),
        _ => TopologySpec::Mesh(Lattice {
            shape: vec![routers],
            width: vec![],
            nodes_per_router: 1,
        }),
    };
    let mut spec = plain(topology);
    spec.links.default = LinkSpec {
        bandwidth: BitsPerSec(200_000_000_000),
        latency: Time(LINK),
    };
    spec.nic.packet = Bytes(4_096);
    spec.nic.message_overhead = Time(HAND_OVER);
    let router = &mut spec.router;
    router.architecture = Architecture::LATE_ADMISSION_VCS;
    router.traversal = Time(ROUTER);
    router.buffer = Some(Bytes(8 * 4_096));
    router.credit_delay = Time(CREDIT);
    router.credit_uses_link = false;
    spec.control.end = None;
    spec.control.warmup = Some(Time::ZERO);
    spec.observe.messages = MessageDetail::Full;
    spec
}

fn to_the_last(spec: &mut RunSpec, routers: u32, message: u64, load: Option<f64>, count: u64) {
    let shift = Pattern::Shift {
        by: Some(routers.max(2) - 1),
    };
    spec.jobs[0].work = Work::Synthetic(Synthetic {
        load,
        count: Some(count),
        process: Process::PeriodicInPhase,
        ..Synthetic::of(shift, Bytes(message))
    });
}

fn result(spec: &RunSpec) -> RunResult {
    run(spec, &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

/// Arrivals of node 0's messages (ps), in order.
fn arrivals(result: &RunResult) -> Vec<u64> {
    let rows = result.stats.rows.as_deref().unwrap_or_default();
    let mut all: Vec<u64> = rows.iter().filter(|row| row.source == 0).map(|row| row.time).collect();
    all.sort_unstable();
    all
}

#[test]
fn a_lone_packet_is_received_whole_at_every_router() {
    for routers in 1..=4 {
        // A packet that is not full takes its own time; a message of three sends them one after another.
        for (message, rest) in [(4_096, PACKET), (1_024, PACKET / 4), (3 * 4_096, PACKET)] {
            let mut spec = line(routers);
            to_the_last(&mut spec, routers, message, None, 1);
            let packets = message.div_ceil(4_096);
            let hops = u64::from(routers);
            let expected = HAND_OVER + (packets - 1) * PACKET + rest + LINK + hops * (ROUTER + rest + LINK);
            assert_eq!(arrivals(&result(&spec)), [expected], "{routers} routers, {message} B");
        }
    }
}

#[test]
fn the_hand_over_of_a_message_does_not_keep_the_interface() {
    let mut spec = line(2);
    to_the_last(&mut spec, 2, 4_096, Some(1.0), 50);
    let arrivals = arrivals(&result(&spec));
    assert!(arrivals.windows(2).all(|two| two[1] - two[0] == PACKET), "{arrivals:?}");
}

#[test]
fn a_queue_for_so_many_packets_sends_so_many_until_the_first_is_admitted_behind_the_link() {
    // A packet counts from its admission until it is admitted at the next router, or there, and the credit is back.
    let loop_of = |packets: u64| {
        let mut spec = line(3);
        spec.router.buffer = Some(Bytes(packets * 4_096));
        to_the_last(&mut spec, 3, 4_096, Some(1.0), 60);
        let arrivals = arrivals(&result(&spec));
        (arrivals[55] - arrivals[15]) / 40
    };
    assert_eq!(loop_of(1), PACKET + ROUTER + LINK + CREDIT);
    assert_eq!(loop_of(2), PACKET);
}

#[test]
fn a_packet_that_is_refused_holds_the_room_that_it_came_from() {
    // Nodes 0 and 1 of a single router send to node 0 and 1: nothing meets. On a line of three all send to the last.
    let mut spec = line(3);
    spec.router.buffer = Some(Bytes(4_096));
    spec.jobs[0].work = Work::Synthetic(Synthetic {
        load: Some(1.0),
        count: Some(40),
        process: Process::PeriodicInPhase,
        ..Synthetic::of(
            Pattern::Partners {
                list: vec![(0, 2), (1, 2)],
            },
            Bytes(4_096),
        )
    });
    let result = result(&spec);
    let rows = result.stats.rows.as_deref().unwrap_or_default();
    assert_eq!(rows.len(), 80);
    // Between routers 1 and 2 a packet per loop, of the one and the other in turn: who has waited longest is called in.
    let mut by_time: Vec<(u64, u32)> = rows.iter().map(|row| (row.time, row.source)).collect();
    by_time.sort_unstable();
    let steady = &by_time[10..60];
    let pace = PACKET + ROUTER + LINK + CREDIT;
    assert!(steady.windows(2).all(|two| two[1].0 - two[0].0 == pace), "{steady:?}");
    assert!(steady.windows(2).all(|two| two[1].1 != two[0].1), "{steady:?}");
}

#[test]
fn other_scores_than_what_is_not_admitted_are_refused_here_and_that_one_elsewhere() {
    let refused = |spec: &RunSpec| Network::build(spec).err().map(|error| error.to_string());
    let mut spec = line(3);
    for (congestion, fits) in [
        (Congestion::Output, false),
        (Congestion::Credits, false),
        (Congestion::Both, false),
        (Congestion::Unadmitted, true),
    ] {
        spec.routing = RoutingSpec::Ugal(DetourSpec {
            congestion,
            ..DetourSpec::default()
        });
        assert_eq!(refused(&spec).is_none(), fits, "{congestion:?}");
    }
    spec.router.architecture = Architecture::VOQ;
    assert!(refused(&spec).unwrap().contains("late-admission-vcs"));
}
