//! Motifs without a halo or a sweep.

use super::play::{Played, play};
use super::*;
use std::collections::{BTreeMap, BTreeSet};

fn played(program: &dyn Program, iterations: u32) -> Played {
    play(program, iterations).unwrap_or_else(|error| panic!("{program:?}: {error}"))
}

/// (from, to, bytes) of all messages in the order of ranks.
fn sorted(program: &dyn Program, iterations: u32) -> Vec<(u32, u32, u64)> {
    let mut messages = played(program, iterations).messages;
    messages.sort_unstable();
    messages
}

/// Checks a periodic stencil against coordinates: a face each way in every dimension of more than one rank.
fn check_stencil<const N: usize>(grid: [u32; N], cells: [u64; N]) {
    let parameters = CellBlocks {
        ranks: ranks(&grid),
        grid: Some(grid),
        cells,
        vars: 3,
        compute: Compute::Time(2),
        ..Default::default()
    };
    let motif = Stencil::new(&parameters).unwrap();
    let places: Vec<[u32; N]> = (0..motif.ranks())
        .map(|rank| {
            let mut rest = rank;
            grid.map(|side| {
                let at = rest % side;
                rest /= side;
                at
            })
        })
        .collect();
    let mut expected = Vec::new();
    for (from, place) in (0..).zip(&places) {
        for d in (0..N).filter(|&d| grid[d] > 1) {
            for step in [1, grid[d] - 1] {
                let mut there = *place;
                there[d] = (place[d] + step) % grid[d];
                let to = places.iter().position(|place| *place == there).unwrap() as u32;
                let face: u64 = (0..N).filter(|&other| other != d).map(|other| cells[other]).product();
                expected.push((from, to, face * 3 * 8));
            }
        }
    }
    expected.sort_unstable();
    assert_eq!(sorted(&motif, 1), expected, "{grid:?}");
}

#[test]
fn stencils_send_a_face_each_way_in_every_dimension() {
    for grid in GRIDS {
        check_stencil(grid, [3, 5, 7]);
    }
    for grid in [[1, 1, 1, 1], [2, 2, 2, 2], [3, 1, 2, 4], [1, 1, 1, 5]] {
        check_stencil(grid, [3, 5, 7, 2]);
    }
}

#[test]
fn a_stencil_receives_up_first_and_sends_down_first() {
    // Rank 4, the middle of a 3 x 3 x 1 grid: 5 and 3 along x, 7 and 1 along y.
    let parameters = CellBlocks {
        ranks: 9,
        grid: Some([3, 3, 1]),
        cells: [2, 4, 8],
        ..Default::default()
    };
    let (x, y) = (4 * 8 * 8, 2 * 8 * 8);
    let receives = [irecv(5, x), irecv(3, x), irecv(7, y), irecv(1, y)];
    let sends = [isend(3, x), isend(5, x), isend(1, y), isend(7, y)];
    assert_eq!(
        ops(&Stencil::new(&parameters).unwrap(), 4),
        [&receives[..], &sends, &[Op::WaitAll]].concat()
    );
}

#[test]
fn halves_of_a_job_play_ping_pong() {
    for n in 2..=9 {
        let motif = AllPingPong::new(&AllPingPongParameters {
            ranks: n,
            bytes: 6,
            compute: Compute::Time(0),
        });
        let half = n / 2;
        let there = (0..half).map(|i| (i, i + half, 6));
        let back = (0..half).map(|i| (i + half, i, 6));
        assert_eq!(sorted(&motif.unwrap(), 1), there.chain(back).collect::<Vec<_>>(), "{n}");
    }
}

#[test]
fn two_ranks_play_ping_pong_size_by_size() {
    let parameters = PingPongParameters {
        ranks: 5,
        partner: 3,
        sizes: vec![1, 100],
        repeat: 2,
    };
    let motif = PingPong::new(&parameters).unwrap();
    let trip = |bytes| [send(3, bytes), recv(3, bytes)];
    assert_eq!(ops(&motif, 0), [trip(1), trip(1), trip(100), trip(100)].concat());
    assert_eq!(ops(&motif, 1), []);
    let trip = |bytes| [(0, 3, bytes), (3, 0, bytes)];
    assert_eq!(
        played(&motif, 1).messages,
        [trip(1), trip(1), trip(100), trip(100)].concat()
    );
    for partner in [0, 5] {
        let parameters = PingPongParameters {
            partner,
            ..parameters.clone()
        };
        let misfit = PingPong::new(&parameters).unwrap_err();
        assert_eq!(
            misfit.reason,
            format!("rank {partner} cannot answer rank 0 in a job of 5")
        );
        assert_eq!(misfit.hint, "take one of 1..=4");
    }
}

#[test]
fn a_message_goes_round_the_ring_in_order() {
    for n in [2, 3, 10] {
        let motif = Ring::new(&RingParameters {
            ranks: n,
            bytes: 4,
            compute: Compute::Time(8),
        });
        let played = played(&motif.unwrap(), 2);
        let lap: Vec<_> = (0..n).map(|i| (i, (i + 1) % n, 4)).collect();
        assert_eq!(played.messages, [lap.clone(), lap].concat());
        assert_eq!(played.computed, vec![16; n as usize]);
    }
    let alone = RingParameters {
        ranks: 1,
        bytes: 4,
        compute: Compute::Time(0),
    };
    assert_eq!(Ring::new(&alone).unwrap_err().field, "ranks");
}

#[test]
fn many_send_to_one() {
    for (n, target, sources) in [
        (2, 0, None),
        (5, 2, None),
        (5, 4, Some(2)),
        (9, 3, Some(1)),
        (4, 1, Some(0)),
    ] {
        let parameters = IncastParameters {
            ranks: n,
            target,
            sources,
            count: 3,
            bytes: 11,
        };
        let motif = Incast::new(&parameters).unwrap();
        let mut expected: Vec<_> = (1..=sources.unwrap_or(n - 1))
            .map(|i| ((target + i) % n, target, 11))
            .collect();
        expected = expected.repeat(3);
        expected.sort_unstable();
        assert_eq!(sorted(&motif, 1), expected);
    }
    let too_many = IncastParameters {
        ranks: 5,
        target: 0,
        sources: Some(5),
        count: 1,
        bytes: 1,
    };
    assert_eq!(Incast::new(&too_many).unwrap_err().hint, "take at most 4");
}

#[test]
fn collectives_come_one_after_another() {
    let motif = AllreduceLoop::new(&AllreduceLoopParameters {
        ranks: 3,
        sizes: vec![8, 4096, 8],
        compute: Compute::Time(5),
        lengths: false,
        touch_fs: 0,
    })
    .unwrap();
    let played_allreduce = played(&motif, 2 * motif.rounds());
    let sizes: Vec<_> = played_allreduce.collectives[2]
        .iter()
        .map(|collective| collective.bytes)
        .collect();
    assert_eq!(sizes, [8, 4096, 8, 8, 4096, 8]);
    assert_eq!(played_allreduce.computed, [30; 3]);
    // Lengths first, then 3 fs for each byte, rounded up.
    let motif = AllreduceLoop::new(&AllreduceLoopParameters {
        ranks: 3,
        sizes: vec![8, 4096],
        compute: Compute::Time(5),
        lengths: true,
        touch_fs: 3,
    })
    .unwrap();
    let played_fresh = played(&motif, motif.rounds());
    let told: Vec<_> = played_fresh.collectives[1]
        .iter()
        .map(|collective| (collective.kind, collective.bytes))
        .collect();
    let (gather, reduce) = (CollectiveKind::Allgather, CollectiveKind::Allreduce);
    assert_eq!(told, [(gather, 8), (reduce, 8), (gather, 8), (reduce, 4096)]);
    assert_eq!(played_fresh.computed, [5 + 1 + 5 + 13; 3]);

    for kind in CollectiveKind::ALL {
        let parameters = CollectiveLoopParameters {
            ranks: 4,
            kind,
            bytes: 10,
            root: 3,
            groups: None,
            compute: Compute::Time(0),
        };
        let motif = CollectiveLoop::new(&parameters).unwrap();
        let played = played(&motif, 1);
        assert!(
            played
                .collectives
                .iter()
                .all(|all| all.len() == 1 && all[0].kind == kind && all[0].root == 3)
        );
        assert_eq!(motif.pair_bytes(&played.collectives[0][0], 1, 2), 10);
    }
}

/// Parameters of random neighbours among `ranks`.
fn random(ranks: u32, degree: (u32, u32)) -> RandomNeighboursParameters {
    RandomNeighboursParameters {
        ranks,
        degree,
        bytes: 9,
        mutual: false,
        redraw: false,
        receives: Receives::Named,
        seed: 1,
        order: Order::Common,
        compute: Compute::Time(0),
    }
}

#[test]
fn random_neighbours_know_who_sends_to_them() {
    for ranks in (2..=20).chain([31, 32, 33, 64]) {
        for degree in [(0, 0), (1, 1), (3, 3), (0, 4), (2, 7)] {
            for (mutual, redraw) in [(false, false), (true, false), (false, true), (true, true)] {
                for receives in [Receives::Named, Receives::AnySource] {
                    let parameters = RandomNeighboursParameters {
                        mutual,
                        redraw,
                        receives,
                        ..random(ranks, degree)
                    };
                    let motif = RandomNeighbours::new(&parameters).unwrap();
                    let messages = played(&motif, 3).messages;
                    let between = |from, to| {
                        messages
                            .iter()
                            .filter(|message| (message.0, message.1) == (from, to))
                            .count()
                    };
                    for rank in 0..ranks {
                        let sent = messages.iter().filter(|message| message.0 == rank).count() as u32;
                        if mutual {
                            assert!((0..ranks).all(|other| between(rank, other) == between(other, rank)));
                        } else {
                            assert!((3 * degree.0..=3 * degree.1).contains(&sent), "{parameters:?}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn rings_of_random_neighbours_lead_through_all_ranks() {
    for ranks in [2, 3, 10, 100, 1000] {
        let motif = RandomNeighbours::new(&random(ranks, (1, 1))).unwrap();
        let next = |rank| match motif.op(rank, 0, 1) {
            Some(Op::Isend(transfer)) => transfer.peer,
            other => panic!("{other:?}"),
        };
        let mut seen = BTreeSet::new();
        let mut rank = 0;
        while seen.insert(rank) {
            rank = next(rank);
        }
        assert_eq!((rank, seen.len()), (0, ranks as usize));
    }
}

#[test]
fn random_neighbours_are_anywhere_and_depend_on_seed_and_iteration() {
    // 4000 draws of distances on a ring of 1000 ranks, in tenths: 400 each, give or take 5 standard deviations of 19.
    let motif = RandomNeighbours::new(&random(1000, (4, 4))).unwrap();
    let mut tenths = [0; 10];
    for (from, to, _) in sorted(&motif, 1) {
        tenths[((to + 1000 - from) % 1000 / 100) as usize] += 1;
    }
    assert!(tenths.iter().all(|&count| (305..=495).contains(&count)), "{tenths:?}");
    // A degree from 1 to 4 is each of them about as often: 250 give or take 5 standard deviations of 14.
    let motif = RandomNeighbours::new(&random(1000, (1, 4))).unwrap();
    let mut degrees = [0_usize; 1000];
    sorted(&motif, 1)
        .iter()
        .for_each(|message| degrees[message.0 as usize] += 1);
    for degree in 1..=4 {
        let count = degrees.iter().filter(|&&own| own == degree).count();
        assert!((180..=320).contains(&count), "{count} ranks with {degree}");
    }
    let first = |parameters: &RandomNeighboursParameters, iteration| {
        let motif = RandomNeighbours::new(parameters).unwrap();
        (0..100).map(|rank| motif.op(rank, iteration, 1)).collect::<Vec<_>>()
    };
    // Tags tell iterations apart; peers only differ where they are drawn anew.
    let peers = |ops: Vec<Option<Op>>| -> Vec<u32> {
        let sends = ops.into_iter().filter_map(|op| match op {
            Some(Op::Isend(transfer)) => Some(transfer.peer),
            _ => None,
        });
        sends.collect()
    };
    let same = random(100, (1, 1));
    let anew = RandomNeighboursParameters {
        redraw: true,
        ..same.clone()
    };
    let seed = RandomNeighboursParameters {
        seed: 2,
        ..same.clone()
    };
    assert_eq!(peers(first(&same, 0)), peers(first(&same, 5)));
    assert_ne!(peers(first(&anew, 0)), peers(first(&anew, 5)));
    assert_ne!(peers(first(&same, 0)), peers(first(&seed, 0)));
    let reason = RandomNeighbours::new(&random(10, (5, 3))).unwrap_err().reason;
    assert_eq!(reason, "a degree from 5 to 3 cannot be");
}

#[test]
fn the_family_names_every_motif_once() {
    let mut names: Vec<_> = MOTIF.names().collect();
    let mut types = vec![
        "halo3d",
        "halo3d-26",
        "sweep3d",
        "suba2a",
        "fft3d",
        "stencil3d",
        "stencil4d",
        "all-ping-pong",
        "ping-pong",
        "ring",
        "many-to-one",
        "allreduce-loop",
        "collective",
        "random-neighbours",
        "mpi-graph",
        "ebb",
        "hpl",
        "graph500-bfs",
        "ops",
        "program",
        "trace",
    ];
    types.extend(programs::APPLICATIONS);
    names.sort_unstable();
    types.sort_unstable();
    assert_eq!(names, types);
}

#[test]
fn programs_that_say_they_repeat_do() {
    let mut repeat = Vec::new();
    for name in MOTIF.names() {
        for order in [Order::Common, Order::Shuffled(5)] {
            let motif = Motif {
                kind: name.to_owned(),
                values: BTreeMap::new(),
            };
            let Ok(program) = program(&motif, 16, (order, true)) else {
                continue;
            };
            let Some(each) = program.repeats_after() else {
                continue;
            };
            assert!(each > 0);
            for rank in [0, 3, program.ranks() - 1] {
                for iteration in (0..3).chain([each, 5 * each]) {
                    for index in 0.. {
                        let now = program.op(rank, iteration, index);
                        assert_eq!(
                            now,
                            program.op(rank, iteration + each, index),
                            "{name} {rank} {iteration} {index}"
                        );
                        assert_eq!(now, program.op(rank, iteration + 1_000 * each, index), "{name}");
                        if now.is_none() {
                            break;
                        }
                    }
                }
            }
            repeat.push(name);
        }
    }
    repeat.dedup();
    assert!(repeat.len() > 15, "{repeat:?}");
}
