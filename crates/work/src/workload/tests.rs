//! Who sends what to whom and when, as a node's generator makes it.

use super::patterns::{MatrixOf, PatternPart, Rates};
use super::spec::{JobSpec, Synthetic, Work};
use super::*;
use crate::placement::Placement;
use des::Time;
use std::collections::BTreeMap;
use study::Bytes;
use topo::{Arrangement, DragonflySpec, FatTreeSpec, Lattice, SingleRouterSpec, TopologySpec};

/// 1 byte takes 1 ps at the interface.
const INJECTION: BitsPerSec = BitsPerSec(8_000_000_000_000);

fn lattice(shape: &[u32], nodes_per_router: u32) -> TopologySpec {
    TopologySpec::Torus(Lattice {
        shape: shape.to_vec(),
        width: vec![],
        nodes_per_router,
    })
}

fn router(nodes: u32) -> TopologySpec {
    TopologySpec::SingleRouter(SingleRouterSpec { nodes })
}

fn built(topology: &TopologySpec, work: Synthetic) -> Result<Workload, BuildError> {
    let jobs = [JobSpec {
        name: "job".into(),
        work: Work::Synthetic(work),
        nodes: None,
        placement: Placement::Linear,
    }];
    let terms = WorkTerms {
        seed: 5,
        fine_seed: 5,
        perturbed: None,
        stop: u64::MAX,
    };
    Workload::build(&jobs, &terms, &topology.build().unwrap(), INJECTION)
}

/// The first messages of a node.
fn made(work: &Workload, node: u32, count: usize) -> Vec<Message> {
    let mut source = Source::default();
    std::iter::from_fn(|| work.generate(node, &mut source))
        .take(count)
        .collect()
}

#[test]
fn messages_drawn_ahead_are_those_that_are_drawn_when_they_are_asked_for() {
    let work = Synthetic {
        load: Some(0.4),
        count: Some(300),
        ..Synthetic::of(Pattern::Uniform, Bytes(1_000))
    };
    let work = built(&lattice(&[3, 3], 2), work).unwrap();
    for node in [0, 7, 17] {
        let fields = |message: &Message| (message.birth, message.destination, message.bytes);
        let ahead: Vec<_> = made(&work, node, 1_000).iter().map(fields).collect();
        assert_eq!(ahead.len(), 300);
        // By their definition: gaps of 2,500 ps in the mean, and any other node.
        let mut clock = 0;
        let defined = (0..300).map(|k| {
            let [gap, to] = work.traffic.draw(node.into(), k);
            clock += (0.5 - ln(unit(gap)) * 2_500.0) as u64;
            let other = ((u128::from(to) * 17) >> 64) as u32;
            (clock, other + u32::from(other >= node), 1_000)
        });
        assert_eq!(ahead, defined.collect::<Vec<_>>());
        // What has been drawn may be forgotten at any time, and one may be asked for again.
        for keep in [1, 2, 7] {
            let mut source = Source::default();
            for (k, &message) in ahead.iter().enumerate() {
                if k % keep == 0 {
                    source = Source::new(source.made, source.clock);
                }
                let mut again = source;
                assert_eq!(work.generate(node, &mut again).as_ref().map(fields), Some(message));
                assert_eq!(work.generate(node, &mut source).as_ref().map(fields), Some(message));
            }
            assert!(work.generate(node, &mut source).is_none());
        }
    }
}

/// Whom the first messages of a node go to.
fn to(work: &Workload, node: u32, count: usize) -> Vec<u32> {
    made(work, node, count)
        .iter()
        .map(|message| message.destination)
        .collect()
}

fn of(topology: &TopologySpec, pattern: Pattern) -> Workload {
    built(topology, Synthetic::of(pattern, Bytes(1_000))).unwrap()
}

/// The one destination of every node; `None` of a silent one.
fn partners(topology: &TopologySpec, pattern: Pattern) -> Vec<Option<u32>> {
    let work = of(topology, pattern);
    let n = topology.build().unwrap().n_nodes();
    let one = |node| {
        let seen = to(&work, node, 9);
        assert!(seen.iter().all(|to| *to == seen[0]), "{seen:?}");
        seen.first().copied()
    };
    (0..n).map(one).collect()
}

fn refusal(topology: &TopologySpec, pattern: Pattern) -> String {
    built(topology, Synthetic::of(pattern, Bytes(1_000)))
        .map(|_| ())
        .unwrap_err()
        .to_string()
}

#[test]
fn bit_permutations_are_those_of_the_book() {
    let n = |list: [i32; 8]| list.map(|to| u32::try_from(to).ok()).to_vec();
    // 001 -> 100, 011 -> 110; 000, 010, 101 and 111 stay.
    assert_eq!(
        partners(&router(8), Pattern::BitReverse),
        n([-1, 4, -1, 6, 1, -1, 3, -1])
    );
    // 001 -> 010, 100 -> 001, 110 -> 101.
    assert_eq!(partners(&router(8), Pattern::Shuffle), n([-1, 2, 4, 6, 1, 3, 5, -1]));
    for pattern in [Pattern::BitReverse, Pattern::Shuffle] {
        assert!(refusal(&router(6), pattern).contains("power of two"));
    }
    let two = [Some(1), Some(0)];
    assert_eq!(partners(&router(2), Pattern::Shuffle), [None, None]);
    assert_eq!(partners(&router(2), Pattern::BitComplement), two);
}

#[test]
fn routers_of_lattices_are_mirrored_and_moved_with_their_nodes() {
    // Router (x, y) of 3 x 3 is 3 x + y or x + 3 y: mirrored it is the other one; both nodes of it keep their places.
    let mirrored: Vec<Option<u32>> = (0..18)
        .map(|node| (node / 2, node % 2))
        .map(|(router, local)| (router % 3 * 3 + router / 3, router, local))
        .map(|(to, from, local)| (to != from).then_some(2 * to + local))
        .collect();
    assert_eq!(partners(&lattice(&[3, 3], 2), Pattern::RouterTranspose), mirrored);
    assert!(refusal(&lattice(&[3, 4], 1), Pattern::RouterTranspose).contains("[3, 4]"));
    assert!(refusal(&router(9), Pattern::RouterTranspose).contains("lattice"));
    // Once round in both dimensions at once: three times is where it began.
    let on = partners(&lattice(&[3, 3], 2), Pattern::DiagonalNeighbour);
    let next = |node: u32| on[node as usize].unwrap();
    for node in 0..18 {
        assert_eq!(next(next(next(node))), node);
        assert_eq!(next(node) % 2, node % 2);
    }
    assert_eq!(on[0], Some(8));
    assert_eq!(
        partners(&router(3), Pattern::DiagonalNeighbour),
        [Some(1), Some(2), Some(0)]
    );
}

fn dragonfly() -> TopologySpec {
    TopologySpec::Dragonfly(DragonflySpec {
        groups: 5,
        routers_per_group: vec![2],
        local_width: 1,
        nodes_per_router: 2,
        links_per_pair: 1,
        arrangement: Arrangement::Absolute,
        arrangement_seed: 1,
    })
}

#[test]
fn a_group_sends_to_all_of_the_group_some_way_on() {
    for (by, ahead) in [(1, 1), (2, 2), (6, 1)] {
        let work = of(&dragonfly(), Pattern::GroupShift { by });
        for node in 0..20 {
            let mut seen = to(&work, node, 200);
            seen.sort_unstable();
            seen.dedup();
            let first = (node / 4 + ahead) % 5 * 4;
            assert_eq!(seen, (first..first + 4).collect::<Vec<_>>(), "node {node} by {by}");
        }
    }
    assert!(refusal(&dragonfly(), Pattern::GroupShift { by: 5 }).contains("the group itself"));
    assert!(refusal(&router(4), Pattern::GroupShift { by: 1 }).contains("no groups"));
    let pods = TopologySpec::FatTree(FatTreeSpec {
        down: vec![2, 2],
        up: vec![2],
        up_width: vec![1],
    });
    let built = pods.build().unwrap();
    let work = of(&pods, Pattern::GroupShift { by: 1 });
    assert!(
        to(&work, 0, 50).iter().all(|&to| built.group_of(to) == 1),
        "pods are groups too"
    );
}

#[test]
fn partners_come_in_the_order_of_their_table_and_again() {
    let list = vec![(2, 0), (0, 3), (0, 1), (2, 1), (0, 1)];
    let work = of(&router(4), Pattern::Partners { list });
    assert_eq!(to(&work, 0, 7), [3, 1, 1, 3, 1, 1, 3]);
    assert_eq!(to(&work, 2, 4), [0, 1, 0, 1]);
    assert_eq!((made(&work, 1, 3).len(), made(&work, 3, 3).len()), (0, 0));
    assert_eq!(work.offers(0).unwrap(), [(0, 0.5), (2, 0.5)]);
    assert_eq!(work.offered_load(4), Some(0.25));
    let list = vec![(0, 4)];
    assert!(refusal(&router(4), Pattern::Partners { list }).contains("node 4"));
}

fn matrix(of: MatrixOf, rates: Rates, weights: &[(u32, u32, f64)]) -> Pattern {
    Pattern::Matrix {
        of,
        blocks: if of == MatrixOf::Blocks { vec![1, 3] } else { vec![] },
        rates,
        weights: weights.to_vec(),
    }
}

#[test]
fn nodes_of_a_matrix_send_by_their_rows() {
    let weights = [(0, 1, 6.0), (0, 2, 2.0), (3, 0, 1.0), (1, 0, 4.0)];
    let work = of(&router(4), matrix(MatrixOf::Nodes, Rates::Weighted, &weights));
    // Row sums are 8, 4, 0 and 1: at half of what can be injected, gaps of 2,000, 4,000 and 16,000 ps.
    assert_eq!(work.offers(0).unwrap(), [(0, 0.5), (1, 0.25), (3, 0.0625)]);
    for (node, gap) in [(0, 2_000.0), (1, 4_000.0), (3, 16_000.0)] {
        let n = 20_000;
        let last = made(&work, node, n).last().unwrap().birth as f64;
        assert!(
            (last / n as f64 / gap - 1.0).abs() < 6.0 / (n as f64).sqrt(),
            "node {node}: {last}"
        );
    }
    assert!(made(&work, 2, 1).is_empty());
    let to_one = to(&work, 0, 10_000).iter().filter(|&&to| to == 1).count() as f64;
    assert!((to_one - 7_500.0).abs() < 6.0 * 43.4, "{to_one}");
    let alike = of(&router(4), matrix(MatrixOf::Nodes, Rates::Alike, &weights));
    assert_eq!(alike.offers(0).unwrap(), [(0, 0.5), (1, 0.5), (3, 0.5)]);
    // Two blocks, of nodes 0 and 1 to 3: those of the second have a third of its weight each.
    let blocks = [(0, 1, 1.0), (1, 0, 1.0), (1, 1, 2.0)];
    let work = of(&router(4), matrix(MatrixOf::Blocks, Rates::Weighted, &blocks));
    assert_eq!(work.offers(0).unwrap(), [(0, 0.5), (1, 0.5), (2, 0.5), (3, 0.5)]);
    let seen = to(&work, 2, 9_000);
    let count = |node| seen.iter().filter(|&&to| to == node).count() as f64;
    assert_eq!(count(2), 0.0);
    for to in [0, 1, 3] {
        assert!((count(to) - 3_000.0).abs() < 6.0 * 45.0, "{to}: {}", count(to));
    }
    let of_groups = of(&dragonfly(), matrix(MatrixOf::Groups, Rates::Weighted, &[(3, 0, 1.0)]));
    assert_eq!(of_groups.offers(0).unwrap().len(), 4);
    assert!(to(&of_groups, 13, 99).iter().all(|&to| to < 4));
    let of_routers = of(&dragonfly(), matrix(MatrixOf::Routers, Rates::Weighted, &[(1, 1, 1.0)]));
    assert_eq!((to(&of_routers, 2, 3), to(&of_routers, 3, 3)), (vec![3; 3], vec![2; 3]));
}

#[test]
fn a_matrix_that_does_not_fit_is_refused() {
    let refused = |of, weights: &[_]| refusal(&dragonfly(), matrix(of, Rates::Weighted, weights));
    assert!(refused(MatrixOf::Nodes, &[(0, 20, 1.0)]).contains("node 20 has no nodes"));
    assert!(refused(MatrixOf::Nodes, &[(4, 4, 1.0)]).contains("node 4 is one node"));
    assert!(refused(MatrixOf::Groups, &[(0, 5, 1.0)]).contains("group 5 has no nodes"));
    assert!(refused(MatrixOf::Blocks, &[(0, 1, 1.0)]).contains("blocks have 4 nodes"));
    let groups = matrix(MatrixOf::Groups, Rates::Weighted, &[(0, 1, 1.0)]);
    assert!(refusal(&router(4), groups).contains("no groups"));
}

#[test]
fn an_even_matrix_is_uniform_traffic() {
    let n = 6;
    let pairs = (0..n).flat_map(|from| (0..n).filter(move |to| *to != from).map(move |to| (from, to, 2.5)));
    let weights: Vec<_> = pairs.collect();
    let mut even = of(&router(n), matrix(MatrixOf::Nodes, Rates::Weighted, &weights)).demand_of(&router(n));
    even.sort_by_key(|&(from, to, _)| (from, to));
    for ((from, to, units), expected) in even.iter().zip(&weights) {
        assert_eq!((*from, *to), (expected.0, expected.1));
        assert!((units - 0.2).abs() < 1e-12);
    }
    assert_eq!(even.len(), weights.len());
}

impl Workload {
    /// The demand, entry by entry.
    fn demand_of(&self, topology: &TopologySpec) -> Vec<(u32, u32, f64)> {
        let demand = self.demand(&topology.build().unwrap(), 1 << 20).unwrap();
        assert!(demand.whole);
        match demand.pattern {
            topo::load::TrafficPattern::Matrix(entries) => entries,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn what_is_told_of_the_demand_is_what_is_sent() {
    let part = |share, message, pattern| PatternPart {
        share,
        message,
        pattern,
    };
    let weights = [(0, 1, 6.0), (0, 2, 2.0), (3, 0, 1.0), (1, 0, 4.0)];
    let mixed = Pattern::Mixed {
        parts: vec![
            part(1.0, Some(Bytes(3_000)), Pattern::Incast { sources: Some(2) }),
            part(
                2.0,
                None,
                Pattern::HotSpot {
                    targets: 1,
                    fraction: 0.3,
                },
            ),
            part(1.0, Some(Bytes(100)), Pattern::Shift { by: Some(1) }),
        ],
    };
    for pattern in [matrix(MatrixOf::Nodes, Rates::Weighted, &weights), mixed] {
        let work = of(&router(5), pattern);
        let mut told = BTreeMap::<(u32, u32), f64>::new();
        for (from, to, units) in work.demand_of(&router(5)) {
            *told.entry((from, to)).or_default() += units;
        }
        // Bytes per ps at half load, over a time of some 20,000 messages.
        let until = 40_000_000.0;
        let mut sent = BTreeMap::<(u32, u32), f64>::new();
        for node in 0..5 {
            for message in made(&work, node, 1_000_000)
                .iter()
                .take_while(|message| (message.birth as f64) < until)
            {
                *sent.entry((node, message.destination)).or_default() += message.bytes as f64;
            }
        }
        assert_eq!(told.keys().collect::<Vec<_>>(), sent.keys().collect::<Vec<_>>());
        for (pair, units) in told {
            let got = sent[&pair] / until / 0.5;
            // Counts are Poisson's: sizes up to 3,000 B.
            let sigma = (units * 0.5 * until * 3_000.0).sqrt() / until / 0.5;
            assert!(
                (got - units).abs() < 6.0 * sigma,
                "{pair:?}: {got} for {units} +- {sigma}"
            );
        }
    }
}

#[test]
fn parts_have_their_shares_and_sizes_and_silent_ones_are_made_up_for() {
    let part = |share, bytes, pattern| PatternPart {
        share,
        message: Some(Bytes(bytes)),
        pattern,
    };
    let parts = vec![
        part(3.0, 100, Pattern::Uniform),
        part(1.0, 1_700, Pattern::Incast { sources: Some(2) }),
    ];
    let work = of(&router(5), Pattern::Mixed { parts });
    let n = 20_000;
    let large = |node| {
        made(&work, node, n)
            .iter()
            .filter(|message| message.bytes == 1_700)
            .count() as f64
    };
    for node in [1, 2] {
        assert!((large(node) - 5_000.0).abs() < 6.0 * 61.3, "{}", large(node));
    }
    // The others have no incast: small messages only, five times as many of them for the same load.
    for (node, mean) in [(1, 500.0), (3, 100.0), (0, 100.0)] {
        let last = made(&work, node, n).last().unwrap().birth as f64;
        assert!(
            (last / n as f64 / (2.0 * mean) - 1.0).abs() < 6.0 / (n as f64).sqrt(),
            "node {node}"
        );
    }
    assert_eq!((large(0), large(3)), (0.0, 0.0));
    assert_eq!(work.most_bytes(), 1_700);
    assert_eq!(work.least_packet(1_024), 100);
}

fn gaps(work: &Workload, node: u32, n: usize) -> Vec<f64> {
    let births: Vec<u64> = made(work, node, n).iter().map(|message| message.birth).collect();
    births.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect()
}

#[test]
fn slots_have_a_message_or_none() {
    let with = |load, slot| Synthetic {
        load: Some(load),
        process: Process::Bernoulli,
        slot,
        ..Synthetic::of(Pattern::Uniform, Bytes(1_000))
    };
    // Slots of 1,000 ps, three in ten of them taken.
    let work = built(&router(4), with(0.3, None)).unwrap();
    let n = 40_000;
    let gaps_of = |node| gaps(&work, node, n);
    let of_one = gaps_of(0);
    assert!(of_one.iter().all(|gap| *gap >= 1_000.0 && gap % 1_000.0 == 0.0));
    for k in 1..=4 {
        let share = of_one.iter().filter(|gap| **gap == 1_000.0 * f64::from(k)).count() as f64 / of_one.len() as f64;
        let expected = 0.3 * 0.7_f64.powi(k - 1);
        let sigma = (expected * (1.0 - expected) / of_one.len() as f64).sqrt();
        assert!(
            (share - expected).abs() < 6.0 * sigma,
            "{k} slots: {share} for {expected}"
        );
    }
    assert_ne!(of_one, gaps_of(1), "every node draws its own");
    // The first slot may have one, three times in ten.
    let at_once = (0..2_000).filter(|&node| {
        let work = &work;
        made(work, node % 4, 1)[0].birth == 0
    });
    assert!(at_once.count() < 2_000);
    // All of them taken; slots that are no whole number of ps stay where they are.
    let full = built(&router(4), with(1.0, None)).unwrap();
    assert!(gaps(&full, 2, 100).iter().all(|gap| *gap == 1_000.0));
    let odd = Synthetic {
        message: Bytes(10),
        ..with(0.5, Some(Time(7)))
    };
    assert!(
        gaps(&built(&router(4), odd).unwrap(), 0, 500)
            .iter()
            .all(|gap| gap % 7.0 == 0.0)
    );
    // More than a message in each slot.
    let refused = built(&router(4), with(0.5, Some(Time(2_001))))
        .map(|_| ())
        .unwrap_err()
        .to_string();
    assert!(refused.contains("slot"), "{refused}");
    assert!(built(&router(4), with(0.5, Some(Time(2_000)))).is_ok());
}

#[test]
fn bursts_are_as_long_and_as_fast_as_said_and_pauses_make_up_for_them() {
    let work = Synthetic {
        load: Some(0.2),
        process: Process::OnOff,
        burst: Some(8.0),
        peak: Some(0.8),
        ..Synthetic::of(Pattern::Uniform, Bytes(1_000))
    };
    let gaps = gaps(&built(&router(4), work).unwrap(), 3, 200_000);
    let n = gaps.len() as f64;
    // Within bursts every 1,250 ps; one in eight is the first of its burst.
    let within = gaps.iter().filter(|gap| (**gap - 1_250.0).abs() < 1.5).count() as f64;
    let sigma = (n * 7.0 / 64.0).sqrt();
    assert!((within - 0.875 * n).abs() < 6.0 * sigma + n * 1e-3, "{within} of {n}");
    assert!(gaps.iter().all(|gap| *gap >= 1_249.0));
    // The mean gap is 5,000 ps: pauses have a mean of 8 * 3,750 ps, and as large a deviation, of which one in eight counts.
    let mean = gaps.iter().sum::<f64>() / n;
    let deviation = (8.0_f64 * 3_750.0).powi(2) * (2.0 / 8.0 - 1.0 / 64.0);
    assert!((mean - 5_000.0).abs() < 6.0 * (deviation / n).sqrt(), "{mean}");
    // Lengths of bursts are geometric: a burst of one message is as likely as one in eight.
    let first: Vec<bool> = gaps.iter().map(|gap| (gap - 1_250.0).abs() >= 1.5).collect();
    let bursts = first.iter().filter(|first| **first).count() as f64;
    let single = first.windows(2).filter(|pair| pair[0] && pair[1]).count() as f64;
    assert!(
        (single - bursts / 8.0).abs() < 6.0 * (bursts * 7.0 / 64.0).sqrt(),
        "{single} of {bursts}"
    );
}

#[test]
fn sources_that_wait_for_answers_make_nothing_by_themselves() {
    let work = Synthetic {
        load: None,
        count: Some(3),
        window: Some(2),
        ..Synthetic::of(Pattern::Shift { by: Some(1) }, Bytes(1_000))
    };
    let work = built(&router(4), work).unwrap();
    assert!(made(&work, 0, 1).is_empty());
    assert!(!work.generates(0) && work.reacts_at(0) && !work.endless());
    assert_eq!((work.total_messages(), work.start(1)), (Some(24), Some(0)));
    let mut source = Source::default();
    assert_eq!(work.on_start(0, &mut source, 0), Reaction::Window(2));
    let next = |source: &mut Source, now| {
        work.next_of_window(0, source, now)
            .map(|m| (m.birth, m.destination, m.bytes))
    };
    assert_eq!(next(&mut source, 0), Some((0, 1, 1_000)));
    assert_eq!(next(&mut source, 0), Some((0, 1, 1_000)));
    let mut ledger = Ledger::default();
    assert_eq!(
        work.on_delivery(0, (&mut source, &mut ledger), (1, true), 70),
        Reaction::Window(1)
    );
    assert_eq!(next(&mut source, 70), Some((70, 1, 1_000)));
    assert_eq!(next(&mut source, 90), None);
    let answer = work.on_delivery(1, (&mut Source::default(), &mut ledger), (0, false), 40);
    assert_eq!(
        answer,
        Reaction::Ack(Message {
            birth: 40,
            destination: 0,
            bytes: 64
        })
    );
}
