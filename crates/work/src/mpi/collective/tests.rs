//! All algorithms of all kinds, played by ranks that hold data: nobody waits for ever, every receive gets the bytes that it asked for,
//! the data are right in the end, and the time in the alpha-beta model is that of [`Cost`].

mod game;
mod openmpi;

use super::super::op::{Action, CollectiveKind};
use super::{Algorithm, Call, Cost, cut, no_pairs};
use game::Game;

use Algorithm as A;
use CollectiveKind as K;

/// Every size up to 17, then around and between powers of two.
fn sizes() -> impl Iterator<Item = u32> {
    (1..=17).chain([31, 32, 33, 64, 100])
}

/// Every algorithm of every kind that serves for a number of ranks.
fn all(size: u32) -> impl Iterator<Item = (CollectiveKind, Algorithm)> {
    let pairs = K::ALL
        .into_iter()
        .flat_map(|kind| A::of(kind).iter().map(move |&algorithm| (kind, algorithm)));
    pairs.filter(move |(kind, algorithm)| algorithm.check(*kind, size).is_ok())
}

/// Any sizes, zero among them, and not the same both ways.
fn uneven(from: u32, to: u32) -> u64 {
    u64::from((from * 7 + to * 3) % 5)
}

fn call<'a>(kind: CollectiveKind, algorithm: Algorithm, size: u32, bytes: u64) -> Call<'a> {
    Call {
        kind,
        algorithm,
        segment: algorithm.own_segment(kind),
        size,
        me: 0,
        root: 0,
        bytes,
        pair_bytes: &no_pairs,
    }
}

#[test]
fn every_algorithm_ends_with_the_right_data_everywhere() {
    for size in sizes() {
        for (kind, algorithm) in all(size) {
            let roots = match kind {
                K::Bcast | K::Reduce | K::Gather | K::Scatter => vec![0, size / 3, size - 1],
                _ => vec![0],
            };
            for root in roots {
                // Nothing; fewer bytes than ranks; pieces that differ.
                for bytes in [0, 3, u64::from(size) + 2] {
                    let blocks = !matches!(kind, K::Bcast | K::Reduce | K::Allreduce);
                    if blocks && bytes > 3 {
                        continue;
                    }
                    let pair_bytes = &uneven;
                    let call = Call {
                        root,
                        pair_bytes,
                        ..call(kind, algorithm, size, bytes)
                    };
                    let mut game = Game::with_data(call);
                    game.play();
                    game.check();
                }
            }
        }
    }
}

#[test]
fn a_chain_passes_on_all_of_its_segments() {
    for size in [2, 3, 5] {
        let bytes = 2 * super::segmented::CHAIN + 5;
        let mut game = Game::with_data(call(K::Bcast, A::Chain, size, bytes));
        assert_eq!(game.play(), u64::from(3 + size - 2));
        game.check();
    }
}

#[test]
fn vectors_in_segments_arrive_whole_by_as_many_messages_as_the_books_say() {
    // Messages and bytes of all ranks; n ranks, S segments of the vector (of its first half, of its second), m bytes.
    type Formula = fn(u64, u64, [u64; 2], u64) -> (u64, u64);
    let tree: Formula = |n, segments, _, m| ((n - 1) * segments, (n - 1) * m);
    let books: [(CollectiveKind, Algorithm, Formula); 10] = [
        (K::Bcast, A::Chain, tree),
        (K::Bcast, A::Binary, tree),
        (K::Bcast, A::BinomialDoubling, tree),
        // Of an even number of ranks the root sends a half to the last one.
        (K::Bcast, A::SplitBinary, |n, _, [first, second], m| {
            let (odd, even) = (n / 2, (n - 1) / 2);
            (odd * first + even * second + n - 1, (n - 1) * m)
        }),
        (K::Reduce, A::Binomial, tree),
        (K::Reduce, A::Chain, tree),
        (K::Reduce, A::Binary, tree),
        (K::Gather, A::Synchronised, |n, _, _, m| (3 * (n - 1), (n - 1) * m)),
        (K::Allreduce, A::Ring, |n, segments, _, m| {
            let longest = m.div_ceil(n);
            let parts = longest.div_ceil(m.div_ceil(segments).max(1)).max(1);
            (n * (n - 1) * (parts + 1), 2 * (n - 1) * m)
        }),
        (K::Allreduce, A::ReduceBcast, |n, _, _, m| {
            (2 * (n - 1), 2 * (n - 1) * m)
        }),
    ];
    for size in (2..=17).chain([31, 32, 33]) {
        for (kind, algorithm, formula) in books {
            for (segment, bytes) in [(4_u64, 24_u64), (4, 25), (4, 31), (1, 7), (8, 8), (5, 64)] {
                for root in [0, size / 2] {
                    if algorithm == A::Ring && bytes != segment * bytes.div_ceil(segment) {
                        continue;
                    }
                    let call = Call {
                        segment,
                        root: if kind.has_root() { root } else { 0 },
                        ..call(kind, algorithm, size, bytes)
                    };
                    let mut game = Game::with_data(call);
                    game.play();
                    game.check();
                    let sent = (
                        game.ranks.iter().map(|rank| rank.messages).sum(),
                        game.ranks.iter().map(|rank| rank.sent).sum(),
                    );
                    let halves = [bytes - bytes / 2, bytes / 2].map(|half| half.div_ceil(segment));
                    let is_chain = algorithm == A::SplitBinary && segment > bytes / 2;
                    let formula = if is_chain { tree } else { formula };
                    let expected = formula(size.into(), bytes.div_ceil(segment), halves, bytes);
                    let what = format!(
                        "{} by {} of {size}, {bytes} B by {segment}",
                        kind.name(),
                        algorithm.name()
                    );
                    assert_eq!(sent, expected, "{what}");
                }
            }
        }
    }
}

#[test]
fn rounds_and_bytes_on_the_critical_path_are_those_of_the_cost() {
    for size in sizes() {
        for (kind, algorithm) in all(size) {
            // Pieces of one size.
            let power = 1 << size.ilog2();
            let bytes = u64::from(size) * power;
            let pair_bytes = &|_, _| bytes;
            let call = Call {
                pair_bytes,
                ..call(kind, algorithm, size, bytes)
            };
            let play = |alpha, beta| Game::new(call, alpha, beta, 0).play();
            let Some(cost) = Cost::of(kind, algorithm, size, bytes) else {
                continue;
            };
            let what = format!("{} by {} of {size}", kind.name(), algorithm.name());
            assert_eq!(play(1, 0), u64::from(cost.rounds), "{what}: rounds");
            assert_eq!(play(0, 1), cost.bytes, "{what}: bytes");
        }
    }
}

#[test]
fn ranks_send_as_many_bytes_as_the_books_say() {
    // Sent by the rank that sends most; n ranks, vector or block b, a power of two of ranks.
    type Formula = fn(u64, u64) -> u64;
    let books: [(CollectiveKind, Algorithm, Formula); 22] = [
        (K::Barrier, A::Dissemination, |_, _| 0),
        (K::Barrier, A::Bruck, |_, _| 0),
        (K::Bcast, A::Binomial, |n, b| u64::from(n.ilog2()) * b),
        (K::Bcast, A::ScatterAllgather, |n, b| 2 * (n - 1) * b / n),
        (K::Bcast, A::ScatterDoubling, |n, b| 2 * (n - 1) * b / n),
        (K::Bcast, A::Chain, |_, b| b),
        (K::Reduce, A::Binomial, |_, b| b),
        (K::Allreduce, A::RecursiveDoubling, |n, b| u64::from(n.ilog2()) * b),
        (K::Allreduce, A::Ring, |n, b| 2 * (n - 1) * b / n),
        (K::Allreduce, A::Rabenseifner, |n, b| 2 * (n - 1) * b / n),
        (K::Gather, A::Linear, |_, b| b),
        (K::Gather, A::Binomial, |n, b| n / 2 * b),
        (K::Scatter, A::Binomial, |n, b| (n - 1) * b),
        (K::Allgather, A::Ring, |n, b| (n - 1) * b),
        (K::Allgather, A::RecursiveDoubling, |n, b| (n - 1) * b),
        (K::Allgather, A::Bruck, |n, b| (n - 1) * b),
        (K::ReduceScatter, A::RecursiveHalving, |n, b| (n - 1) * b),
        (K::ReduceScatter, A::Ring, |n, b| (n - 1) * b),
        (K::Alltoall, A::Pairwise, |n, b| (n - 1) * b),
        (K::Alltoall, A::Shift, |n, b| (n - 1) * b),
        (K::Bcast, A::Heap, |n, b| (n - 1).min(2) * b),
        (K::Alltoall, A::Bruck, |n, b| n / 2 * u64::from(n.ilog2()) * b),
    ];
    for (kind, algorithm, formula) in books {
        for size in [2, 4, 16, 64] {
            let mut game = Game::new(call(kind, algorithm, size, 128), 1, 0, 0);
            game.play();
            let most = game.ranks.iter().map(|rank| rank.sent).max();
            let what = format!("{} by {} of {size}", kind.name(), algorithm.name());
            assert_eq!(most, Some(formula(u64::from(size), 128)), "{what}");
        }
    }
}

#[test]
fn steps_of_one_rank_worked_out_by_hand() {
    let steps = |call: Call| -> Vec<Action> {
        let actions = (0..).map(|k| call.action(k));
        actions.take_while(|action| *action != Action::Done).collect()
    };
    let send = |to, bytes| Action::Send { to, bytes };
    let recv = |from, bytes| Action::Recv { from, bytes };
    let combine = |bytes| Action::Combine { bytes };
    use Action::Wait;

    // Of 5 ranks 1 stands aside for 0. Rank 3, number 2 of those that stay in, meets number 3, rank 4, then number 0, rank 0.
    let allreduce = Call {
        me: 3,
        ..call(K::Allreduce, A::RecursiveDoubling, 5, 10)
    };
    let exchange = |with| [recv(with, 10), send(with, 10), Wait, combine(10)];
    assert_eq!(steps(allreduce), [exchange(4), exchange(0)].concat());
    // Root 1 of 6 by binomial: the relative ranks 4, 2 and 1 are 5, 3 and 2.
    let bcast = Call {
        me: 1,
        root: 1,
        ..call(K::Bcast, A::Binomial, 6, 7)
    };
    assert_eq!(steps(bcast), [send(5, 7), Wait, send(3, 7), Wait, send(2, 7), Wait]);
    // Root 2 of 6 by heap: 2 and 0 have changed places, so that 0 is below 2 and has 5 below it.
    let heap = |me| Call {
        me,
        root: 2,
        ..call(K::Reduce, A::Heap, 6, 7)
    };
    assert_eq!(steps(heap(2)), [recv(1, 7), recv(0, 7), Wait, combine(7), combine(7)]);
    assert_eq!(steps(heap(0)), [recv(5, 7), Wait, combine(7), send(2, 7), Wait]);
    assert_eq!(steps(heap(4)), [send(1, 7), Wait]);
    // Of 7 ranks on a binary tree by levels, rank 1 is above 3 and 5 and has the first 4 of 7 bytes, by 2; then it exchanges halves with 2.
    let split = Call {
        me: 1,
        segment: 2,
        ..call(K::Bcast, A::SplitBinary, 7, 7)
    };
    let passed_on = [recv(0, 2), send(3, 2), send(5, 2), Wait, send(3, 2), send(5, 2), Wait];
    let exchanged = [recv(2, 3), send(2, 4), Wait];
    assert_eq!(steps(split), [&[recv(0, 2), Wait][..], &passed_on, &exchanged].concat());
    // Rank 2 of 6 in a chain to rank 0, 5 bytes by 3.
    let chain = Call {
        me: 2,
        segment: 3,
        ..call(K::Reduce, A::Chain, 6, 5)
    };
    let first = [recv(3, 3), Wait, combine(3), recv(3, 2), send(1, 3), Wait, combine(2)];
    assert_eq!(steps(chain), [&first[..], &[send(1, 2), Wait]].concat());
    // Root 1 of 3 calls 0, then 2; 5 bytes by 4.
    let called = |me| Call {
        me,
        root: 1,
        segment: 4,
        ..call(K::Gather, A::Synchronised, 3, 5)
    };
    let both = [
        recv(0, 4),
        send(0, 0),
        Wait,
        recv(0, 1),
        recv(2, 4),
        send(2, 0),
        Wait,
        recv(2, 1),
        Wait,
    ];
    assert_eq!(steps(called(1)), both);
    assert_eq!(steps(called(2)), [recv(1, 0), Wait, send(1, 4), Wait, send(1, 1), Wait]);
    // Rank 3 of 6, of the pair 2 and 3: the pair above has 4 and 5, the pair below 0 and 1.
    let neighbours = Call {
        me: 3,
        ..call(K::Allgather, A::NeighbourExchange, 6, 10)
    };
    let exchange = |with, bytes| [recv(with, bytes), send(with, bytes), Wait];
    let rounds = [exchange(2, 10), exchange(4, 20), exchange(2, 20)];
    assert_eq!(steps(neighbours), rounds.concat());
    // Rank 1 of 3: 5 bytes are cut into 2, 2 and 1.
    let ring = Call {
        me: 1,
        ..call(K::Allreduce, A::Ring, 3, 5)
    };
    let combined = [
        recv(0, 1),
        send(2, 2),
        Wait,
        combine(1),
        recv(0, 2),
        send(2, 1),
        Wait,
        combine(2),
    ];
    let gathered = [recv(0, 2), send(2, 2), Wait, recv(0, 1), send(2, 2), Wait];
    assert_eq!(steps(ring), [&combined[..], &gathered].concat());
    // Rank 0 of 3: blocks of distances 1, then 2.
    let bruck = call(K::Alltoall, A::Bruck, 3, 4);
    let copy = |bytes| Action::Copy { bytes };
    let round = |to, from| [copy(4), recv(from, 4), send(to, 4), Wait, copy(4)];
    assert_eq!(
        steps(bruck),
        [&[copy(12)][..], &round(1, 2), &round(2, 1), &[copy(12)]].concat()
    );
}

#[test]
fn alone_there_is_nothing_to_do() {
    for kind in K::ALL {
        for &algorithm in A::of(kind) {
            assert_eq!(call(kind, algorithm, 1, 100).action(0), Action::Done);
        }
    }
}

#[test]
fn the_default_serves_for_every_size_and_follows_the_published_switch_points() {
    for kind in K::ALL {
        for size in sizes() {
            for bytes in (0..30).map(|bit| 1_u64 << bit).chain([0]) {
                A::choose(kind, size, bytes).check(kind, size).unwrap();
            }
        }
    }
    const KIB: u64 = 1 << 10;
    let cases = [
        (K::Bcast, 64, 12 * KIB - 1, A::Binomial),
        (K::Bcast, 64, 12 * KIB, A::ScatterDoubling),
        (K::Bcast, 65, 12 * KIB, A::ScatterAllgather),
        (K::Bcast, 64, 512 * KIB, A::ScatterAllgather),
        (K::Bcast, 7, 512 * KIB, A::Binomial),
        (K::Reduce, 64, 2 * KIB, A::Binomial),
        (K::Reduce, 64, 2 * KIB + 8, A::Rabenseifner),
        (K::Allreduce, 64, 2 * KIB, A::RecursiveDoubling),
        (K::Allreduce, 64, 2 * KIB + 8, A::Rabenseifner),
        (K::Allreduce, 4096, 4 * KIB, A::RecursiveDoubling),
        (K::Allgather, 64, 8 * KIB - 1, A::RecursiveDoubling),
        (K::Allgather, 64, 8 * KIB, A::Ring),
        (K::Allgather, 80, KIB - 1, A::Bruck),
        (K::Allgather, 80, KIB, A::Ring),
        (K::ReduceScatter, 64, 8 * KIB - 1, A::RecursiveHalving),
        (K::ReduceScatter, 64, 8 * KIB, A::Pairwise),
        (K::Alltoall, 64, 256, A::Bruck),
        (K::Alltoall, 64, 257, A::Spread),
        (K::Alltoall, 64, 32 * KIB, A::Spread),
        (K::Alltoall, 64, 32 * KIB + 1, A::Pairwise),
        (K::Alltoall, 7, 8, A::Spread),
    ];
    for (kind, size, bytes, algorithm) in cases {
        assert_eq!(
            A::choose(kind, size, bytes),
            algorithm,
            "{} {size} {bytes}",
            kind.name()
        );
    }
}

#[test]
fn names_are_read_back_and_misfits_say_what_to_take() {
    for algorithm in A::ALL {
        assert_eq!(A::from_name(algorithm.name()), Some(algorithm));
        assert!(
            K::ALL.iter().any(|&kind| A::of(kind).contains(&algorithm)),
            "{} serves for nothing",
            algorithm.name()
        );
    }
    for kind in K::ALL {
        assert_eq!(K::from_name(kind.name()), Some(kind));
    }
    let reason = |algorithm: Algorithm, kind, size| algorithm.check(kind, size).err().unwrap_or_default();
    assert_eq!(
        reason(A::Bruck, K::Reduce, 8),
        "reduce has no \"bruck\", take one of binomial, rabenseifner, heap, chain, binary, linear"
    );
    assert_eq!(
        reason(A::RecursiveDoubling, K::Allgather, 6),
        "allgather by recursive-doubling takes a power of two of ranks, not 6; take \"bruck\""
    );
    assert_eq!(
        reason(A::NeighbourExchange, K::Allgather, 5),
        "allgather by neighbour-exchange takes an even number of ranks, not 5; take \"ring\""
    );
    assert_eq!(reason(A::RecursiveDoubling, K::Allreduce, 6), "");
}

#[test]
fn no_algorithm_is_taken_whose_messages_are_larger_than_one_can_be() {
    use crate::mpi::LARGEST;
    for kind in K::ALL {
        for (size, bytes) in [
            (2, LARGEST / 2),
            (2, LARGEST),
            (1_024, 1 << 30),
            (1_024, LARGEST >> 10),
            (64, LARGEST),
        ] {
            let chosen = A::choose(kind, size, bytes);
            assert!(
                chosen.fits(kind, size, bytes),
                "{kind:?} of {bytes} B among {size}: {chosen:?}"
            );
        }
    }
    assert_eq!(A::choose(K::Gather, 1_024, LARGEST >> 10), A::Binomial);
    assert_eq!(A::choose(K::Gather, 1_024, 1 << 30), A::Linear);
    assert!(!A::Bruck.fits(K::Alltoall, 1_024, 1 << 30) && A::Pairwise.fits(K::Alltoall, 1_024, 1 << 30));
}

#[test]
fn pieces_cover_a_vector_without_gap() {
    for bytes in [0, 1, 7, 100, 1 << 40] {
        for parts in [1, 2, 3, 7, 64] {
            assert_eq!(cut(bytes, parts, 0), 0);
            assert_eq!(cut(bytes, parts, parts), bytes);
            for i in 0..parts {
                let length = cut(bytes, parts, i + 1) - cut(bytes, parts, i);
                let short = bytes / u64::from(parts);
                assert!(length == short || length == short + 1, "{bytes} {parts} {i}");
            }
        }
    }
}
