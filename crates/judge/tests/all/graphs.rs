//! Ranks whose operations form a graph: every operation ends when a plain executor says, whatever engine plays it.

use crate::clock::cpu_time;
use crate::played_graphs::{self, Kept, Played, chain, go, program, recv, send, spec};
use fabric::spec::*;
use judge::run::RunError;
use proptest::prelude::*;
use topo::{SingleRouterSpec, TopologySpec};
use work::graph::{Doing, NO_LANE};
use work::mpi::op::{ANY_SIZE, ANY_SOURCE, ANY_TAG, Collective};
use work::mpi::{CollectiveKind, Op, Transfer};

fn single(nodes: u32) -> TopologySpec {
    TopologySpec::SingleRouter(SingleRouterSpec { nodes })
}

#[test]
fn operations_end_when_those_before_them_have_and_lanes_are_taken_in_turn() {
    // Two lanes: 5 and 7 at once, then 3 behind the 5, and behind all of them 11.
    let computing = |lane, time, after: &[u32], after_start: &[u32]| {
        (0, lane, Doing::Compute(time), after.to_vec(), after_start.to_vec())
    };
    let operations = [
        computing(0, 5_000, &[], &[]),
        computing(1, 7_000, &[], &[]),
        computing(0, 3_000, &[], &[]),
        computing(1, 11_000, &[2], &[1]),
    ];
    let played = go(&spec(single(2), 1, 1, &operations));
    assert_eq!(played.ranks[0].finished, 5_000 + 3_000 + 11_000);
    assert_eq!(played.ranks[0].computed, 26_000);
    // Without lanes all that may start does: 7 of the second, and 11 since the third has ended.
    let free = operations.map(|(rank, _, doing, after, start)| (rank, NO_LANE, doing, after, start));
    assert_eq!(go(&spec(single(2), 1, 1, &free)).ranks[0].finished, 3_000 + 11_000);
    // A start is enough for who waits for a start.
    let started = [
        computing(0, 5_000, &[], &[]),
        computing(1, 7_000, &[], &[0]),
        computing(1, 1_000, &[], &[0]),
    ];
    assert_eq!(go(&spec(single(2), 1, 1, &started)).ranks[0].finished, 8_000);
}

#[test]
fn of_two_sends_that_are_done_at_one_time_the_lower_number_sets_out_first() {
    // The second has waited for its lane since the begin, the first could start only now; their receives share a lane.
    let operations = [
        (0, 1, Doing::Compute(5_000), vec![], vec![]),
        (0, 2, send(1, 8, 2), vec![0], vec![]),
        (0, 1, send(1, 8, 1), vec![], vec![0]),
        (1, 0, recv(0, 8, 2), vec![], vec![]),
        (1, 0, recv(0, 8, 1), vec![], vec![]),
    ];
    let kept = Kept {
        send: 10,
        receive: 7,
        copy: 0,
        latency: 100,
        eager: 8_192,
        put: true,
    };
    let ends = [vec![5_000, 5_010, 5_010], vec![5_117, 5_124]];
    assert_eq!(played_graphs::observed(2, &operations, &kept), ends);
    assert_eq!(expected(2, &operations, &kept), ends);
}

#[test]
fn a_chain_takes_the_time_of_the_same_program() {
    for bytes in [0, 1, 100, 8_192, 8_193, 300_000] {
        for rendezvous in [Rendezvous::Put, Rendezvous::Get] {
            let message = |peer, tag| Transfer {
                tag,
                ..Transfer::new(peer, bytes)
            };
            let from = |peer, tag| Transfer {
                tag,
                ..Transfer::new(peer, ANY_SIZE)
            };
            let ops = vec![
                vec![
                    Op::Compute { time: 12_345 },
                    Op::Send(message(1, 3)),
                    Op::Recv(from(2, 5)),
                    Op::Compute { time: 777 },
                    Op::Send(message(2, 1)),
                ],
                vec![
                    Op::Recv(from(0, 3)),
                    Op::Compute { time: 9_999 },
                    Op::Send(message(2, 4)),
                ],
                vec![
                    Op::Recv(from(ANY_SOURCE, ANY_TAG)),
                    Op::Send(message(0, 5)),
                    Op::Recv(from(0, 1)),
                ],
            ];
            for (nodes, per_node) in [(3, 1), (2, 2)] {
                for iterations in [1, 3] {
                    let mut whole = program(single(nodes), per_node, &ops, iterations);
                    let mut graph = spec(single(nodes), per_node, 3, &chain(&ops));
                    for spec in [&mut whole, &mut graph] {
                        let ranks = played_graphs::ranks(spec);
                        ranks.mpi.rendezvous = rendezvous;
                        ranks.parts[0].iterations = iterations;
                    }
                    let ends = |spec: &RunSpec| -> Vec<_> {
                        let rows = go(spec).ranks;
                        let told = |row: &fabric::mpi::RankRow| {
                            (
                                row.finished,
                                row.computed,
                                row.worked,
                                row.waited,
                                row.messages,
                                row.local_bytes,
                            )
                        };
                        rows.iter().map(told).collect()
                    };
                    assert_eq!(
                        ends(&graph),
                        ends(&whole),
                        "{bytes} B, {rendezvous:?}, {per_node}, {iterations}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_collective_takes_the_time_of_the_same_program() {
    for kind in CollectiveKind::ALL
        .into_iter()
        .filter(|kind| *kind != CollectiveKind::Alltoallv)
    {
        for (bytes, ranks) in [(0, 5), (40, 8), (70_000, 7)] {
            let collective = Collective {
                kind,
                communicator: 0,
                bytes,
                root: if kind.has_root() { 2 } else { 0 },
            };
            let lists = |time: u64| {
                vec![
                    Op::Compute { time },
                    Op::Collective(collective),
                    Op::Collective(collective),
                ]
            };
            let ops: Vec<Vec<Op>> = (0..ranks).map(|rank| lists(10_000 * u64::from(rank))).collect();
            let ends = |spec: &RunSpec| -> Vec<u64> { go(spec).ranks.iter().map(|row| row.finished).collect() };
            let whole = ends(&program(single(ranks), 1, &ops, 1));
            assert_eq!(
                ends(&spec(single(ranks), 1, ranks, &chain(&ops))),
                whole,
                "{kind:?} of {bytes} B"
            );
        }
    }
}

#[test]
fn collectives_of_a_rank_are_under_way_at_once_and_kept_apart_by_their_order_in_the_trace() {
    // Two allreduces on lanes of their own, which the ranks come to in different orders of time.
    let allreduce = |bytes| {
        Doing::Collective(Collective {
            kind: CollectiveKind::Allreduce,
            communicator: 0,
            bytes,
            root: 0,
        })
    };
    let play = |lanes: [u16; 2]| {
        let mut operations = Vec::new();
        for rank in 0..8u32 {
            let delays = if rank % 2 == 0 { [0, 1_000_000] } else { [1_000_000, 0] };
            operations.push((rank, 7, Doing::Compute(delays[0]), vec![], vec![]));
            operations.push((rank, 8, Doing::Compute(delays[1]), vec![], vec![]));
            operations.push((rank, lanes[0], allreduce(1_000), vec![0], vec![]));
            operations.push((rank, lanes[1], allreduce(2_000), vec![1], vec![]));
        }
        go(&spec(single(8), 1, 8, &operations)).ranks
    };
    let (apart, free) = (play([0, 1]), play([NO_LANE, NO_LANE]));
    assert!(apart.iter().chain(&free).all(|row| row.is_done()));
    let ends = |rows: &[fabric::mpi::RankRow]| rows.iter().map(|row| row.finished).collect::<Vec<_>>();
    assert_eq!(ends(&apart), ends(&free));
    // Both begin when the last has come: together they take hardly more than one, one after the other they cannot.
    let one = ends(&free).into_iter().max().unwrap();
    assert!(one < 2_500_000 * 3, "{one}");
}

/// What a plain executor says of all ranks on one node: when each operation ends.
fn expected(ranks: usize, operations: &[played_graphs::Operation], kept: &Kept) -> Vec<Vec<u64>> {
    Played::of(ranks, operations, kept).ends
}

/// A random graph: messages are between random operations of two ranks, dependencies lead from earlier to later ones.
fn graphs() -> impl Strategy<Value = (u32, Vec<played_graphs::Operation>)> {
    (
        2u32..5,
        proptest::collection::vec((any::<u64>(), any::<u64>(), any::<u64>()), 4..36),
    )
        .prop_map(|(ranks, words)| {
            let mut lists: Vec<Vec<played_graphs::Operation>> = vec![Vec::new(); ranks as usize];
            let mut last = std::collections::BTreeMap::new();
            // Starts of their own, so that nothing happens at one time by chance of small numbers.
            for (rank, list) in (0..).zip(&mut lists) {
                let time = 1_000_000 + des::mix(words[0].0 ^ u64::from(rank)) % 1_000_000_000;
                list.push((rank, 3, Doing::Compute(time), vec![], vec![]));
            }
            for (one, two, three) in words {
                let after = |len: u64| {
                    let mut after = vec![(three % len) as u32];
                    if three >> 32 & 1 == 1 {
                        after.push((two >> 40) as u32 % len as u32);
                    }
                    after
                };
                let rank = (one % u64::from(ranks)) as u32;
                let other = ((two >> 8) % u64::from(ranks)) as u32;
                let lane = [0, 1, 2, NO_LANE][(one >> 16) as usize % 4];
                let len = lists[rank as usize].len() as u64;
                let start = if one >> 20 & 3 == 0 {
                    vec![(one >> 22) as u32 % len as u32]
                } else {
                    vec![]
                };
                if one >> 24 & 1 == 0 || rank == other {
                    let time = match two & 7 {
                        0 => 0,
                        _ => two % 1_000_000_000,
                    };
                    lists[rank as usize].push((rank, lane, Doing::Compute(time), after(len), start));
                    continue;
                }
                let bytes = [0, 10, 5_000, 20_000][(two >> 4) as usize % 4];
                let tag = (three >> 3) as u16 % 3;
                // Messages of one pair and tag meet in the order of the list, so that nothing waits for itself.
                let before = last.insert((rank, other, tag), (len as u32, lists[other as usize].len() as u32));
                let mut own = after(len);
                own.extend(before.map(|(send, _)| send));
                lists[rank as usize].push((rank, lane, send(other, bytes, tag), own, start));
                let len = lists[other as usize].len() as u64;
                let lane = [0, 1, 2, NO_LANE][(three >> 16) as usize % 4];
                let posted = Vec::from_iter(before.map(|(_, receive)| receive));
                lists[other as usize].push((other, lane, recv(rank, bytes.max(30_000), tag), after(len), posted));
            }
            (ranks, lists.into_iter().flatten().collect())
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn every_operation_of_a_random_graph_ends_when_a_plain_executor_says((ranks, operations) in graphs(), put in any::<bool>()) {
        let kept = Kept {
            send: 1_237,
            receive: 2_311,
            copy: 50,
            latency: 40_009,
            eager: 8_192,
            put,
        };
        let ends = expected(ranks as usize, &operations, &kept);
        let rows = played_graphs::observed(ranks, &operations, &kept);
        prop_assert_eq!(rows, ends);
    }
}

#[test]
fn a_graph_that_cannot_end_names_rank_and_operation_and_what_it_waits_for() {
    let operations = [
        (0, 0, Doing::Compute(1_000), vec![], vec![]),
        (0, 0, send(1, 8, 4), vec![0], vec![]),
        (0, 0, recv(1, 8, 5), vec![], vec![]),
        (1, 0, recv(0, 8, 4), vec![], vec![]),
    ];
    let Err(RunError::Check(summary)) = judge::run::run(&spec(single(2), 1, 2, &operations), &mut |_| true) else {
        panic!("a receive without a message must not pass");
    };
    let words = summary.verdict.failures();
    for part in [
        "1 of 2 ranks",
        "rank 0 at operation 2 waits for a message from rank 1 with tag 5",
    ] {
        assert!(words.contains(part), "{words}");
    }
    let operations = [(0, 0, send(1, 1 << 20, 4), vec![], vec![])];
    let Err(RunError::Check(summary)) = judge::run::run(&spec(single(2), 1, 2, &operations), &mut |_| true) else {
        panic!("a large message without a receive must not pass");
    };
    let words = summary.verdict.failures();
    let part = "rank 0 at operation 0 waits for a receive at rank 1 for its message with tag 4";
    assert!(words.contains(part), "{words}");
    // A message that is too large is told with its operation.
    let operations = [
        (0, 0, send(1, 100, 4), vec![], vec![]),
        (1, 0, Doing::Compute(1), vec![], vec![]),
        (1, 0, recv(0, 99, 4), vec![], vec![]),
    ];
    let Err(RunError::Check(summary)) = judge::run::run(&spec(single(2), 1, 2, &operations), &mut |_| true) else {
        panic!("a message larger than its receive must not pass");
    };
    let words = summary.verdict.failures();
    assert!(
        words.contains("rank 1 at operation 1 of iteration 0: a message of 100 B"),
        "{words}"
    );
}

#[test]
fn wild_cards_take_what_comes_first_and_tags_keep_messages_apart() {
    let anybody = |peer, tag| recv(peer, ANY_SIZE, tag);
    let operations = [
        (0, 0, anybody(ANY_SOURCE, 7), vec![], vec![]),
        (0, 0, anybody(ANY_SOURCE, ANY_TAG), vec![0], vec![]),
        (0, 0, anybody(2, ANY_TAG), vec![1], vec![]),
        (1, 0, send(0, 8, 3), vec![], vec![]),
        (1, 0, send(0, 8, 7), vec![0], vec![]),
        (2, 0, Doing::Compute(50_000_000), vec![], vec![]),
        (2, 0, send(0, 8, 3), vec![0], vec![]),
    ];
    let rows = go(&spec(single(3), 1, 3, &operations)).ranks;
    assert!(rows[0].finished > 50_000_000 && rows.iter().all(|row| row.is_done()));
}

#[test]
fn a_rank_talks_to_itself_and_has_no_operations_at_all() {
    let operations = [
        (0, 0, send(0, 100, 1), vec![], vec![]),
        (0, 0, recv(0, 100, 1), vec![], vec![]),
        (0, 0, send(0, 100_000, 2), vec![], vec![]),
        (0, 0, recv(0, 100_000, 2), vec![], vec![]),
    ];
    let rows = go(&spec(single(3), 1, 3, &operations)).ranks;
    assert!(rows[0].finished > 0 && rows.iter().all(|row| row.is_done()));
    assert_eq!(rows[1].finished, 0);
    assert_eq!((rows[0].messages, rows[0].local_messages), (0, 2));
}

#[test]
fn ten_thousand_open_receives_of_one_peer_take_no_longer_each_than_ten() {
    // In the order of the sends, and in the opposite one; small messages, and such that ask.
    let time = |n: u16, reversed: bool, bytes: u64| {
        let mut operations = Vec::new();
        for i in 0..n {
            let tag = if reversed { n - 1 - i } else { i };
            operations.push((0, 0, send(1, bytes, tag), vec![], vec![]));
            operations.push((1, 0, recv(0, bytes, i), vec![], vec![]));
        }
        let spec = spec(single(2), 1, 2, &operations);
        let begun = cpu_time();
        let rows = go(&spec).ranks;
        assert!(rows.iter().all(|row| row.is_done()));
        let took = (cpu_time() - begun).as_secs_f64();
        assert!(
            took > 1e-7 * f64::from(n),
            "a message takes at least 100 ns of this thread"
        );
        (took + 1e-3) / f64::from(n)
    };
    for (reversed, bytes) in [(false, 8), (true, 8), (true, 10_000)] {
        let (few, many) = (time(1_000, reversed, bytes), time(10_000, reversed, bytes));
        println!("{:.0} ns and {:.0} ns per message", few * 1e9, many * 1e9);
        // A walk through all that is open would be ten times as long.
        assert!(many < 4.0 * few, "{few} {many}");
    }
}

#[test]
fn a_collective_that_waits_for_its_lane_begins_when_it_has_it() {
    let barrier = Doing::Collective(Collective {
        kind: CollectiveKind::Barrier,
        communicator: 0,
        bytes: 0,
        root: 0,
    });
    let play = |after: &[u32]| {
        let mut operations = Vec::new();
        for rank in 0..4 {
            operations.push((rank, 0, Doing::Compute(5_000_000), vec![], vec![]));
            operations.push((rank, 0, barrier, after.to_vec(), vec![]));
        }
        let rows = go(&spec(single(4), 1, 4, &operations)).ranks;
        rows.iter().map(|row| row.finished).collect::<Vec<_>>()
    };
    assert_eq!(play(&[]), play(&[0]));
}

#[test]
fn the_plain_executor_says_what_can_be_said_by_hand() {
    let kept = Kept {
        send: 0,
        receive: 0,
        copy: 0,
        latency: 1_000,
        eager: 1 << 20,
        put: true,
    };
    let operations = [
        (0, 0, send(1, 8, 0), vec![], vec![]),
        (1, 0, recv(0, 8, 0), vec![], vec![]),
    ];
    assert_eq!(expected(2, &operations, &kept), [vec![0], vec![1_000]]);
    let asks = Kept {
        send: 10,
        receive: 7,
        eager: 0,
        ..kept
    };
    // Request, leave and bytes; the sender is done when it has leave.
    assert_eq!(expected(2, &operations, &asks), [vec![2_010], vec![3_017]]);
}
