//! Networks saturate where the expected load of their busiest channel says.
//!
//! `topo::load` sums the traffic of every channel exactly; the offered load at which the busiest one has to carry its full bandwidth is
//! the most that the routing can take (Dally & Towles 2004, section 3.3). With queues that lose nothing and are never full - `sculpin`,
//! or `credit` with large buffers - nothing else limits, and the bound is reached.
//!
//! What is measured, and why not the accepted load far beyond saturation: there, traffic that avoids the busiest channels still gets
//! through, so that the accepted load goes on rising past the bound wherever channels differ (it comes back to the bound only where all
//! traffic needs channels that are equally loaded). So saturation is found from both sides:
//!
//! * at 97 % of the bound the network is stable: everything offered is accepted, and latency is the same late in the run as early;
//! * at 103 % it is not: the queue of a channel that is offered 1.03 grows by 3 % of the elapsed time, and latency with it;
//! * at 50 % the packets of every single channel are as many as its expected load says.
//!
//! Tolerances, chosen beforehand. 3 % on the bound, from the brackets. Stable: mean latency in the last quarter of the run is at most
//! 1.5 times that of the second; unstable: more than 1.5 times. A queue that grows linearly from empty gives 7/3 where waiting
//! dominates; one at 97 % has forgotten its start after about `D / 0.03^2 = 90 us` of the 250 us of a quarter, and what is left is noise
//! of some 20 %. Packets of a channel are a sum of thinned Poisson streams, hence Poisson: 6 standard deviations for all of the
//! thousands of channels.

use crate::static_tables;
use des::Time;
use fabric::spec::*;
use judge::results::LoadState;
use judge::run::{RunResult, run};
use topo::load::{TrafficPattern, channel_load, saturation};
use topo::subnet::{Options, RoutingEngine, route};
use topo::{
    Arrangement, Came, DragonflyPlusSpec, DragonflySpec, FatTreeSpec, Lattice, MinimalRule, RingSpec, RoutingRule,
    Step, Subnet, Topology, TopologySpec,
};

const PACKET: u64 = 2_048;
/// Packets per ps of an interface at full load: 200 Gbit/s.
const FULL_RATE: f64 = 1.0 / 81_920.0;
const LENGTH: Time = Time::from_us(1_000);

fn lattice(shape: &[u32], width: &[u32], nodes_per_router: u32) -> Lattice {
    Lattice {
        shape: shape.to_vec(),
        width: width.to_vec(),
        nodes_per_router,
    }
}

/// Valiant on lattices, written for this test: minimal to any router with equal chance, then minimal to the node; a packet that passes
/// its destination on the first leg is handed over there. The state is the intermediate router plus one, zero on the second leg.
struct Valiant<'t>(&'t Topology);

impl Valiant<'_> {
    fn push(&self, at: u32, dst: u32, state: u32, out: &mut Vec<Step>) {
        let (to, state) = match state.checked_sub(1) {
            Some(via) if via != at => (via, state),
            _ => (self.0.router_of(dst), 0),
        };
        let hop = self.0.minimal_to(at, to, Came::INJECTED, 0);
        assert_eq!(hop.links, 1, "steps of equal weight only");
        out.push(Step {
            port: hop.port,
            vc: 0,
            state,
        });
    }
}

impl RoutingRule for Valiant<'_> {
    fn vcs(&self) -> usize {
        1
    }

    fn start(&self, at: u32, dst: u32, out: &mut Vec<Step>) {
        for via in 0..self.0.n_routers() {
            self.push(at, dst, via + 1, out);
        }
    }

    fn next(&self, at: u32, _: u16, _: u8, state: u32, dst: u32, out: &mut Vec<Step>) {
        if self.0.router_of(dst) != at {
            self.push(at, dst, state, out);
        }
    }
}

/// Where every node sends in tornado traffic, from the definition: `ceil(k / 2) - 1` routers on in every dimension.
fn tornado(topology: &Topology, shape: &[u32]) -> TrafficPattern {
    let target = |node| {
        let router = topology.router_of(node);
        let to = (0..shape.len()).fold(router, |at, d| {
            topology.shifted(at, d, i64::from(shape[d].div_ceil(2)) - 1).unwrap()
        });
        let wiring = topology.wiring();
        wiring.nodes_of(to).start + node - wiring.nodes_of(router).start
    };
    TrafficPattern::Permutation((0..topology.n_nodes()).map(target).collect())
}

/// The routing by an engine's tables, one path to each node.
fn tables(engine: &str) -> RoutingSpec {
    static_tables::engine(engine, static_tables::LANES, 0, PathChoice::First)
}

/// Units per port when every node sends to the node `by` on: the tables are followed from switch to switch.
fn load_by_tables(topology: &Topology, engine: &str, by: u32) -> Vec<f64> {
    let (subnet, wiring) = (Subnet::of(topology), topology.wiring());
    let engine = RoutingEngine::from_name(engine).unwrap();
    let tables = route(engine, &subnet, &Options::default()).unwrap();
    let mut load = vec![0.0; wiring.n_ports() as usize];
    for node in 0..topology.n_nodes() {
        let way = tables.walk(&subnet, topology.router_of(node), (node + by) % topology.n_nodes());
        let way = way.unwrap();
        // The last exit is that to the node.
        for exit in &way[..way.len() - 1] {
            let first = wiring.nodes_of(exit.switch).len() as u16 + 1;
            load[wiring.port_index(exit.switch, exit.port - first)] += 1.0;
        }
    }
    load
}

struct Case {
    name: &'static str,
    topology: TopologySpec,
    routing: RoutingSpec,
    pattern: Pattern,
    /// The bound as a formula of the literature, where there is one.
    formula: Option<f64>,
}

impl Case {
    fn spec(&self, model: RouterKind, load: f64) -> RunSpec {
        let mut spec = plain(self.topology.clone());
        spec.routing = self.routing.clone();
        spec.router.model = model;
        // A queue grows to 3 % of a millisecond, 750 kB, at 1.03 of what it can take.
        spec.router.buffer = Some(Bytes(1 << 22));
        spec.jobs[0].work = Work::Synthetic(Synthetic {
            load: Some(load),
            ..Synthetic::of(self.pattern.clone(), Bytes(PACKET))
        });
        spec.control.end = Some(LENGTH);
        spec.control.warmup = Some(Time::ZERO);
        spec.control.drain_sources = false;
        spec.observe.links = true;
        spec
    }

    /// Expected load of every network port at full injection, and the saturation bound.
    fn expected(&self) -> (Topology, Vec<f64>, f64) {
        let topology = self.topology.build().unwrap();
        let traffic = match (&self.pattern, &self.topology) {
            (Pattern::Tornado, TopologySpec::Torus(lattice)) => tornado(&topology, &lattice.shape),
            (Pattern::Tornado, TopologySpec::Ring(RingSpec { routers, .. })) => tornado(&topology, &[*routers]),
            _ => TrafficPattern::Uniform,
        };
        let load = match (self.routing.tables(), &self.routing, self.pattern.clone()) {
            (Some((engine, _)), _, Pattern::Shift { by: Some(by) }) => Ok(load_by_tables(&topology, engine, by)),
            (_, RoutingSpec::Valiant { .. }, _) => channel_load(&topology, &Valiant(&topology), &traffic),
            _ => channel_load(&topology, &MinimalRule::new(&topology), &traffic),
        };
        let load = load.unwrap();
        let bound = saturation(&topology, &load, &[]);
        (topology, load, bound)
    }
}

fn cases() -> Vec<Case> {
    let case = |name, topology, routing, pattern, formula| Case {
        name,
        topology,
        routing,
        pattern,
        formula,
    };
    let ring = |routers, nodes_per_router| {
        TopologySpec::Ring(RingSpec {
            routers,
            width: 1,
            nodes_per_router,
        })
    };
    let torus = |shape: &[u32], npr| TopologySpec::Torus(lattice(shape, &[], npr));
    let mesh = |shape: &[u32], npr| TopologySpec::Mesh(lattice(shape, &[], npr));
    // Uniform traffic over n nodes goes to n - 1 others: a formula over all n (a node itself included) is (n - 1) / n of the bound.
    let others = |n: f64| (n - 1.0) / n;
    // Ties half-way round go the positive way: (k + 2) / 8 instead of k / 8 for even k, (k - 1/k) / 8 for odd k.
    let ring_load = |k: f64| {
        if k % 2.0 == 0.0 {
            (k + 2.0) / 8.0
        } else {
            (k - 1.0 / k) / 8.0
        }
    };
    vec![
        case(
            "ring-8, uniform, DOR",
            ring(8, 2),
            RoutingSpec::DOR,
            Pattern::Uniform,
            Some(others(16.0) / (2.0 * ring_load(8.0))),
        ),
        case(
            "torus-7x7, uniform, DOR",
            torus(&[7, 7], 2),
            RoutingSpec::DOR,
            Pattern::Uniform,
            Some(others(98.0) / (2.0 * ring_load(7.0))),
        ),
        case(
            "torus-4x4x4, uniform, DOR",
            torus(&[4, 4, 4], 2),
            RoutingSpec::DOR,
            Pattern::Uniform,
            Some(others(128.0) / (2.0 * ring_load(4.0))),
        ),
        case(
            "mesh-6x6, uniform, DOR",
            mesh(&[6, 6], 1),
            RoutingSpec::DOR,
            Pattern::Uniform,
            Some(others(36.0) * 4.0 / 6.0),
        ),
        case(
            "mesh-4x4x2, uniform, minimal",
            mesh(&[4, 4, 2], 2),
            RoutingSpec::MINIMAL,
            Pattern::Uniform,
            Some(others(64.0) * 4.0 / 4.0 / 2.0),
        ),
        case(
            "hyperx-4x4, 8 nodes, uniform, DOR",
            TopologySpec::HyperX(lattice(&[4, 4], &[], 8)),
            RoutingSpec::DOR,
            Pattern::Uniform,
            // A router's 8 nodes send 1/4 of it to each of 4 coordinates.
            Some(others(128.0) / 2.0),
        ),
        case(
            "hyperx-3x5, width 2 and 1, 9 nodes, uniform, DOR",
            TopologySpec::HyperX(lattice(&[3, 5], &[2, 1], 9)),
            RoutingSpec::DOR,
            Pattern::Uniform,
            // Dimension 0: 9/3/2 = 1.5 per cable, dimension 1: 9/5 = 1.8.
            Some(others(135.0) / 1.8),
        ),
        case(
            "dragonfly 9 x 4, 4 nodes, uniform, minimal",
            TopologySpec::Dragonfly(DragonflySpec {
                groups: 9,
                routers_per_group: vec![4],
                nodes_per_router: 4,
                links_per_pair: 1,
                local_width: 1,
                arrangement: Arrangement::Absolute,
                arrangement_seed: 1,
            }),
            RoutingSpec::MINIMAL,
            Pattern::Uniform,
            None,
        ),
        case(
            "dragonfly+ 5 x (2 + 2), 8 nodes, uniform, minimal",
            TopologySpec::DragonflyPlus(DragonflyPlusSpec {
                groups: 5,
                leaves: 2,
                spines: 2,
                nodes_per_leaf: 8,
                links_per_pair: 2,
                local_width: 2,
                arrangement: Arrangement::Absolute,
                arrangement_seed: 1,
            }),
            RoutingSpec::MINIMAL,
            Pattern::Uniform,
            None,
        ),
        case(
            "fat-tree 8:4, 8 leaves, uniform, D-mod-k",
            TopologySpec::FatTree(FatTreeSpec {
                down: vec![8, 8],
                up: vec![4],
                up_width: vec![1],
            }),
            RoutingSpec::MINIMAL,
            Pattern::Uniform,
            // 8 nodes send 56 of 63 packets over 4 up-links.
            Some(4.0 / 8.0 * 63.0 / 56.0),
        ),
        case(
            "ring-8, tornado, DOR",
            ring(8, 1),
            RoutingSpec::DOR,
            Pattern::Tornado,
            Some(1.0 / 3.0),
        ),
        case(
            "torus-8x8, tornado, DOR",
            torus(&[8, 8], 1),
            RoutingSpec::DOR,
            Pattern::Tornado,
            Some(1.0 / 3.0),
        ),
        case(
            "torus-8x8, tornado, Valiant",
            torus(&[8, 8], 1),
            RoutingSpec::VALIANT,
            Pattern::Tornado,
            Some(1.0 / (2.0 * ring_load(8.0))),
        ),
        case(
            "torus-7x7, uniform, Valiant",
            torus(&[7, 7], 2),
            RoutingSpec::VALIANT,
            Pattern::Uniform,
            None,
        ),
        case(
            "torus-8x8, uniform, DOR, 1 node",
            torus(&[8, 8], 1),
            RoutingSpec::DOR,
            Pattern::Uniform,
            Some(others(64.0) / ring_load(8.0)),
        ),
        case(
            "torus-8x8, uniform, Valiant",
            torus(&[8, 8], 1),
            RoutingSpec::VALIANT,
            Pattern::Uniform,
            None,
        ),
        // Every router sends to one other: what its nodes have in common must go over few ways.
        case(
            "hyperx-4x4, shift, dfsssp",
            TopologySpec::HyperX(lattice(&[4, 4], &[], 4)),
            tables("dfsssp"),
            Pattern::Shift { by: Some(20) },
            None,
        ),
        // The four nodes of a leaf share two cables up, each of them two.
        case(
            "fat-tree, half as many ways up, shift, ftree",
            TopologySpec::FatTree(FatTreeSpec {
                down: vec![4, 4, 2],
                up: vec![2, 4],
                up_width: vec![1, 1],
            }),
            tables("ftree"),
            Pattern::Shift { by: Some(4) },
            Some(0.5),
        ),
    ]
}

fn result(case: &Case, model: RouterKind, load: f64) -> RunResult {
    seeded(case, model, load, 1)
}

fn seeded(case: &Case, model: RouterKind, load: f64, seed: u64) -> RunResult {
    let mut spec = case.spec(model, load);
    spec.control.seed = seed;
    run(&spec, &mut |_| true).unwrap_or_else(|error| panic!("{} {model:?} at {load}: {error}", case.name))
}

/// Mean latency of messages born in the last quarter of the run over that of the second quarter.
fn growth(result: &RunResult) -> f64 {
    let quarter = LENGTH.0 / 4;
    let mean = |from: u64| {
        let within = |i: u64| (from..from + quarter).contains(&(i << result.stats.shift));
        let bins = (0..).zip(&result.stats.tracks[0].bins).filter(|&(i, _)| within(i));
        let (sum, count) = bins.fold((0, 0), |(sum, count), (_, bin)| {
            (sum + bin.born.sum, count + bin.born.count)
        });
        sum as f64 / count as f64
    };
    mean(3 * quarter) / mean(quarter)
}

#[test]
fn bounds_are_those_of_the_literature() {
    for case in cases() {
        let (_, _, bound) = case.expected();
        if let Some(formula) = case.formula {
            assert!(
                (bound - formula.min(1.0)).abs() < 1e-9,
                "{}: {bound}, not {formula}",
                case.name
            );
        }
    }
}

#[test]
fn every_channel_carries_its_expected_load() {
    let mut channels = 0;
    for case in cases() {
        let (topology, expected, bound) = case.expected();
        let offered = 0.5 * bound;
        for model in [RouterKind::SCULPIN, RouterKind::CREDIT] {
            let result = result(&case, model, offered);
            let mut worst: f64 = 0.0;
            for row in result.links.iter().filter(|row| row.class != 0) {
                let port = topology.wiring().port_index(row.router, row.port as u16);
                let mean = expected[port] * offered * FULL_RATE * LENGTH.0 as f64;
                let off = (row.packets as f64 - mean).abs() / mean.sqrt().max(1.0);
                assert!(
                    off < 6.0,
                    "{} {model:?}: router {} port {} carried {} packets, {mean:.0} expected: {off:.1} standard deviations",
                    case.name,
                    row.router,
                    row.port,
                    row.packets
                );
                worst = worst.max(off);
                channels += 1;
            }
            println!(
                "{} {model:?}: worst of all channels {worst:.1} standard deviations off",
                case.name
            );
        }
    }
    println!("{channels} channels");
    assert!(channels > 2_000, "{channels}");
}

fn saturates_at_the_bound(model: RouterKind) {
    for case in cases() {
        let (_, _, bound) = case.expected();
        if bound >= 0.97 {
            // The interfaces saturate first: nothing to learn about the network.
            continue;
        }
        let below = result(&case, model, 0.97 * bound);
        let above = result(&case, model, 1.03 * bound);
        // So near the bound a run may be too short to tell.
        let state = below.summary.verdict.state;
        assert!(state != LoadState::Saturated, "{} {model:?}", case.name);
        let accepted = below.summary.accepted_load / (0.97 * bound);
        // A network of a few nodes has few queues to average over near its bound: more seeds take their place.
        let seeds = if below.summary.n_nodes < 32 { 12 } else { 1 };
        let mean = |load: f64| {
            let growths = (1..=seeds).map(|seed| growth(&seeded(&case, model, load, seed)));
            growths.sum::<f64>() / seeds as f64
        };
        let (calm, rising) = match seeds {
            1 => (growth(&below), growth(&above)),
            _ => (mean(0.97 * bound), mean(1.03 * bound)),
        };
        println!(
            "{} {model:?}: bound {bound:.4}; at 0.97 accepted {accepted:.4} of what is offered, latency x{calm:.2}; at 1.03 latency x{rising:.2}",
            case.name
        );
        // The packets of the run are Poisson: 1 % is at least 2.5 standard deviations of their number. Those on their way at the end
        // were offered and not yet accepted: a few latencies of a millisecond.
        assert!((accepted - 1.0).abs() < 0.01, "{} {model:?}: {accepted}", case.name);
        assert!(
            calm < 1.5,
            "{} {model:?}: latency grows by {calm:.2} below the bound",
            case.name
        );
        assert!(
            rising > 1.5,
            "{} {model:?}: latency grows by {rising:.2} only above the bound",
            case.name
        );
    }
}

#[test]
fn sculpin_saturates_at_the_channel_load_bound() {
    saturates_at_the_bound(RouterKind::SCULPIN);
}

#[test]
fn credit_with_large_buffers_saturates_at_the_channel_load_bound() {
    saturates_at_the_bound(RouterKind::CREDIT);
}

/// Valiant takes every way twice: half of what dimension order takes on uniform traffic, less what it saves where the first leg passes
/// the destination; on dimension order's worst case it is better: `k = 8` loads a channel with `k/2 - 1 = 3` units in order and `2 (k + 2) / 8 = 2.5` by detours.
#[test]
fn valiant_gives_up_half_of_uniform_and_wins_on_tornado() {
    let all = cases();
    let bound = |name: &str| {
        let case = all.iter().find(|case| case.name == name).unwrap();
        case.expected().2
    };
    let uniform = bound("torus-7x7, uniform, Valiant") / bound("torus-7x7, uniform, DOR");
    println!("Valiant over DOR on torus-7x7: uniform x{uniform:.3}");
    assert!((0.5..0.56).contains(&uniform), "{uniform}");
    let tornado = bound("torus-8x8, tornado, Valiant") / bound("torus-8x8, tornado, DOR");
    println!("Valiant over DOR on torus-8x8: tornado x{tornado:.3}");
    assert!((tornado - 3.0 / 2.5).abs() < 1e-9, "{tornado}");
}

/// One virtual channel with a buffer of `w` packets sends `w` of them per credit round trip `R = 2 L + T + S`, or one per `S` where `w S`
/// is more: the time of a stream over one cable, to the picosecond.
#[test]
fn a_stream_is_as_fast_as_its_buffer_per_credit_round_trip() {
    const LINK: u64 = 100_000;
    const ROUTER: u64 = 100_000;
    const SEND: u64 = 81_920;
    const MESSAGES: u64 = 1_000;
    let round_trip = 2 * LINK + ROUTER + SEND;
    let mut limited = 0;
    for window in 1..=8 {
        let mut spec = plain(TopologySpec::Mesh(lattice(&[2], &[], 1)));
        spec.router.buffer = Some(Bytes(window * PACKET));
        spec.nic.buffer = Some(Bytes(1 << 24));
        spec.jobs[0].work = Work::Pairs(Pairs {
            matching: Matching::Listed(vec![(0, 1)]),
            mode: PairMode::Stream,
            messages: MESSAGES,
            message: Bytes(PACKET),
            ack: Bytes(8),
            active: None,
            start_spread: Time::ZERO,
            seed: None,
        });
        spec.control.end = None;
        let result = run(&spec, &mut |_| true).unwrap();
        let last = MESSAGES - 1;
        let turn = round_trip.max(window * SEND);
        limited += u32::from(turn == round_trip);
        let start = last / window * turn + last % window * SEND;
        // Injection, the cable, ejection.
        assert_eq!(
            result.stats.latest,
            start + 3 * LINK + 2 * ROUTER + SEND,
            "{window} packets"
        );
    }
    assert_eq!(limited, 4, "4 of the 8 buffers are too small for {round_trip} ps");
}
