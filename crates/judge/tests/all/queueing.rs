//! A single link under Poisson load makes packets wait as long as the M/D/1 queue says.
//!
//! Packets of one size arrive as a Poisson stream of rate lambda at a link that sends one in `D = 1/mu`; with `rho = lambda D` they
//! wait `W = rho / (2 mu (1 - rho))` on average (Pollaczek 1930, Khinchin 1932), with `E[W^2] = 2 W^2 + lambda D^3 / (3 (1 - rho))`, and
//! not at all with probability `1 - rho`.
//!
//! Three set-ups in which this is exact, or so close that the difference does not matter:
//!
//! * `interface`: one node sends to one other over links of one speed. The message stream at the interface is Poisson by
//!   construction, all waiting happens there, and what leaves is spaced so that no later link is ever busy.
//! * `ejection`: many nodes of one router send to one. The streams have to be Poisson where they merge, so an interface must not space
//!   its packets: injection is 1,000 times as fast as the ejection link. What is left of the spacing is rho / (1,000 n) of a node's
//!   packets delayed by up to D / 1,000, a millionth of D.
//! * `cable`: two routers joined by one cable, every node sends to its twin on the other side, injection again 1,000 times as fast. The
//!   cable spaces packets by D, so that the ejection links, which have its speed, are idle when they come.
//!
//! Tolerance, chosen beforehand: 2 % of the mean wait. The relative standard error of a mean over n packets is near
//! `13 / sqrt(n)` at rho = 0.9 (asymptotic variance of M/D/1 waits, heavy-traffic limit `sqrt(2) rho / (1 - rho) / sqrt(n)`), and `n`
//! is chosen such that 2 % is about 2.5 standard errors or more. The same seeds give the same packets to every model.

use des::Time;
use fabric::spec::*;
use judge::run::{RunResult, run};
use topo::{Lattice, SingleRouterSpec, TopologySpec};

const PACKET: u64 = 2_048;
/// Time of a packet on the links of 200 Gbit/s, in ps.
const SERVICE: f64 = 81_920.0;
const FAST: u64 = 1_000;

#[derive(Clone, Copy, Debug, PartialEq)]
enum SetUp {
    Interface,
    Ejection,
    Cable,
}

/// `packets` in all over the link in question (over both directions of the cable).
fn spec(set_up: SetUp, model: RouterKind, rho: f64, packets: u64) -> RunSpec {
    const NODES: u32 = 64;
    let (topology, pattern, load, queues) = match set_up {
        SetUp::Interface => {
            let pattern = Pattern::Incast { sources: Some(1) };
            (
                TopologySpec::SingleRouter(SingleRouterSpec { nodes: 2 }),
                pattern,
                rho,
                1,
            )
        }
        SetUp::Ejection => {
            let pattern = Pattern::Incast { sources: None };
            let load = rho / f64::from(NODES - 1) / FAST as f64;
            (
                TopologySpec::SingleRouter(SingleRouterSpec { nodes: NODES }),
                pattern,
                load,
                1,
            )
        }
        SetUp::Cable => {
            let two = Lattice {
                shape: vec![2],
                width: vec![],
                nodes_per_router: NODES / 2,
            };
            let pattern = Pattern::Shift { by: None };
            let load = rho / f64::from(NODES / 2) / FAST as f64;
            (TopologySpec::Mesh(two), pattern, load, 2)
        }
    };
    let mut spec = plain(topology);
    spec.router.model = model;
    spec.router.buffer = None;
    if set_up != SetUp::Interface {
        spec.nic.bandwidth = Some(BitsPerSec(200_000_000_000 * FAST));
    }
    spec.jobs[0].work = Work::Synthetic(Synthetic {
        load: Some(load),
        ..Synthetic::of(pattern, Bytes(PACKET))
    });
    let end = packets as f64 / queues as f64 * SERVICE / rho;
    spec.control.end = Some(Time(end as u64));
    // The queue begins empty; it forgets that within some ten thousand packets even at rho = 0.9.
    spec.control.warmup = Some(Time((end / 50.0) as u64));
    spec
}

fn result(spec: &RunSpec) -> RunResult {
    run(spec, &mut |_| true).unwrap_or_else(|error| panic!("{:?}: {error}", spec.topology))
}

/// Latency without any waiting in ps: the formula of an idle network (`zero_load.rs`).
fn idle(set_up: SetUp) -> f64 {
    // 100 ns of link and 100 ns of router, each per hop.
    let way = match set_up {
        SetUp::Cable => 3.0 * 100e3 + 2.0 * 100e3,
        _ => 2.0 * 100e3 + 100e3,
    };
    way + SERVICE
}

fn theory(rho: f64) -> f64 {
    rho / (2.0 * (1.0 - rho)) * SERVICE
}

fn check(set_up: SetUp) {
    for (rho, packets) in [
        (0.3, 400_000),
        (0.5, 400_000),
        (0.7, 800_000),
        (0.8, 1_200_000),
        (0.9, 3_000_000),
    ] {
        for model in [RouterKind::SCULPIN, RouterKind::CREDIT] {
            let result = result(&spec(set_up, model, rho, packets));
            let wait = result.sample.latencies.mean().unwrap() - idle(set_up);
            let error = wait / theory(rho) - 1.0;
            let n = result.sample.latencies.count;
            println!(
                "{set_up:?} {model:?} rho {rho}: {n} packets wait {:.3} ns, M/D/1 {:.3} ns, {:+.2} %",
                wait / 1e3,
                theory(rho) / 1e3,
                error * 100.0
            );
            assert!(
                n as f64 > 0.95 * packets as f64,
                "{n} of {packets} packets were measured"
            );
            assert!(
                error.abs() < 0.02,
                "{set_up:?} {model:?} rho {rho}: {:+.2} %",
                error * 100.0
            );
        }
    }
}

#[test]
fn waiting_at_the_interface_is_that_of_m_d_1() {
    check(SetUp::Interface);
}

#[test]
fn waiting_at_the_ejection_link_is_that_of_m_d_1() {
    check(SetUp::Ejection);
}

#[test]
fn waiting_for_a_cable_between_routers_is_that_of_m_d_1() {
    check(SetUp::Cable);
}

/// Not only the mean: the part that does not wait, and the second moment, from every single packet.
///
/// Tolerances: 2 % of the second moment as of the mean; 0.5 % (three standard errors are 0.3 %) of the packets for the part.
#[test]
fn waits_are_distributed_as_in_m_d_1() {
    let rho = 0.5;
    for set_up in [SetUp::Interface, SetUp::Ejection, SetUp::Cable] {
        for model in [RouterKind::SCULPIN, RouterKind::CREDIT] {
            let mut spec = spec(set_up, model, rho, 800_000);
            spec.observe.messages = MessageDetail::Full;
            let rows = result(&spec).stats.rows.unwrap_or_default();
            // Injection at 1,000 times the speed may hold a packet back by a thousandth of its time.
            let idle_at_most = idle(set_up) + SERVICE / FAST as f64;
            let waits: Vec<f64> = rows
                .iter()
                .map(|row| (row.time - row.birth) as f64 - idle(set_up))
                .collect();
            let n = waits.len() as f64;
            let part = rows
                .iter()
                .filter(|row| (row.time - row.birth) as f64 <= idle_at_most)
                .count() as f64
                / n;
            let second = waits.iter().map(|w| w * w).sum::<f64>() / n;
            let expected = 2.0 * theory(rho).powi(2) + rho * SERVICE * SERVICE / (3.0 * (1.0 - rho));
            let error = second / expected - 1.0;
            println!(
                "{set_up:?} {model:?}: {part:.4} do not wait ({:.4}); second moment {:+.2} %",
                1.0 - rho,
                error * 100.0
            );
            // A wait of less than SERVICE / FAST has probability below rho / FAST.
            assert!((part - (1.0 - rho)).abs() < 0.005, "{set_up:?} {model:?}: {part}");
            assert!(error.abs() < 0.02, "{set_up:?} {model:?}: {:+.2} %", error * 100.0);
            assert!(waits.iter().all(|&wait| wait >= 0.0));
        }
    }
}

/// The models agree packet by packet where buffers do not bind: a link that waits for no credit is a link without credits.
#[test]
fn large_buffers_wait_as_unbounded_ones() {
    for set_up in [SetUp::Ejection, SetUp::Cable] {
        let rows = |model, buffer| {
            let mut spec = spec(set_up, model, 0.8, 50_000);
            spec.router.buffer = buffer;
            spec.observe.messages = MessageDetail::Full;
            let mut rows = result(&spec).stats.rows.unwrap_or_default();
            rows.sort_unstable();
            rows
        };
        let sculpin = rows(RouterKind::SCULPIN, None);
        assert!(sculpin.len() > 45_000);
        assert_eq!(sculpin, rows(RouterKind::CREDIT, None), "{set_up:?} unbounded");
        assert_eq!(
            sculpin,
            rows(RouterKind::CREDIT, Some(Bytes(1 << 24))),
            "{set_up:?} 16 MiB"
        );
    }
}
