//! The choices of Open MPI 1.10, on both sides of its switch points, and that they serve wherever they are taken.

use super::super::{Algorithm as A, CollectiveRules, WHOLE};
use super::game::Game;
use super::{K, call, sizes, uneven};
use crate::mpi::LARGEST;
use crate::mpi::collective::{Call, ChosenAlgorithm};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

fn choose(kind: K, size: u32, bytes: u64) -> (A, u64) {
    let ChosenAlgorithm { algorithm, segment } = CollectiveRules::OpenMpi110.choose(kind, size, bytes);
    (algorithm, segment)
}

#[test]
fn switch_points_are_those_of_its_fixed_rules() {
    let cases = [
        (K::Barrier, 672, 0, A::Dissemination, WHOLE),
        (K::Barrier, 512, 0, A::RecursiveDoubling, WHOLE),
        (K::Bcast, 672, 2_047, A::BinomialDoubling, WHOLE),
        (K::Bcast, 672, 2_048, A::SplitBinary, KIB),
        (K::Bcast, 672, 370_727, A::SplitBinary, KIB),
        (K::Bcast, 672, MIB, A::Chain, 8 * KIB),
        (K::Bcast, 672, 4 * MIB, A::Chain, 8 * KIB),
        // 1.6134e-6 x 1 MiB + 2.1102 = 3.80.
        (K::Bcast, 3, MIB, A::Chain, 128 * KIB),
        (K::Bcast, 4, MIB, A::SplitBinary, 8 * KIB),
        // 2.3679e-6 x 8 MiB + 1.1787 = 21.04, 3.2118e-6 x 8 MiB + 8.7936 = 35.74.
        (K::Bcast, 21, 8 * MIB, A::Chain, 64 * KIB),
        (K::Bcast, 35, 8 * MIB, A::Chain, 16 * KIB),
        (K::Bcast, 36, 8 * MIB, A::Chain, 8 * KIB),
        (K::Reduce, 7, 511, A::Linear, WHOLE),
        (K::Reduce, 7, 20_479, A::Binomial, WHOLE),
        (K::Reduce, 8, 511, A::Binomial, WHOLE),
        (K::Reduce, 672, 2_047, A::Binomial, WHOLE),
        // 0.6016 x 1,024 + 1.35 = 617.4.
        (K::Reduce, 672, MIB, A::Binomial, KIB),
        (K::Reduce, 617, MIB, A::Chain, KIB),
        (K::Reduce, 672, 2 * MIB, A::Chain, KIB),
        (K::Reduce, 672, 16 * MIB - 300 * KIB, A::Chain, KIB),
        // 0.0422 x 100 + 1.16 = 5.38, 0.041 x 100 + 9.71 = 13.8.
        (K::Reduce, 13, 100 * KIB, A::Binary, 32 * KIB),
        (K::Reduce, 5, 100 * KIB, A::Chain, 32 * KIB),
        (K::Reduce, 2, 100 * KIB, A::Chain, 64 * KIB),
        (K::Allreduce, 672, 9_999, A::RecursiveDoubling, WHOLE),
        (K::Allreduce, 672, 10_000, A::Ring, WHOLE),
        (K::Allreduce, 1_250, 10_000, A::ReduceBcast, KIB),
        (K::Allreduce, 672, 672 * MIB, A::Ring, WHOLE),
        (K::Allreduce, 16, 16 * MIB + 8, A::Ring, MIB),
        (K::Gather, 672, MIB, A::Synchronised, 32 * KIB),
        (K::Gather, 672, 92_160, A::Synchronised, KIB),
        (K::Gather, 672, 6_000, A::Binomial, WHOLE),
        (K::Gather, 60, KIB, A::Linear, WHOLE),
        (K::Gather, 11, KIB - 1, A::Binomial, WHOLE),
        (K::Scatter, 11, 299, A::Binomial, WHOLE),
        (K::Scatter, 672, MIB, A::Linear, WHOLE),
        (K::Allgather, 64, 781, A::RecursiveDoubling, WHOLE),
        (K::Allgather, 65, 769, A::Bruck, WHOLE),
        (K::Allgather, 64, 782, A::NeighbourExchange, WHOLE),
        (K::Allgather, 65, 770, A::Ring, WHOLE),
        (K::ReduceScatter, 12, KIB, A::RecursiveHalving, WHOLE),
        (K::ReduceScatter, 64, 4 * KIB, A::RecursiveHalving, WHOLE),
        (K::ReduceScatter, 64, 4 * KIB + 1, A::Ring, WHOLE),
        (K::ReduceScatter, 65, 4 * KIB, A::Ring, WHOLE),
        (K::Alltoall, 13, 999, A::Bruck, WHOLE),
        (K::Alltoall, 12, 999, A::Spread, WHOLE),
        (K::Alltoall, 672, 1_000, A::Spread, WHOLE),
        (K::Alltoall, 512, 2_000, A::Shift, WHOLE),
        (K::Alltoallv, 512, 1, A::Shift, WHOLE),
    ];
    for (kind, size, bytes, algorithm, segment) in cases {
        assert_eq!(
            choose(kind, size, bytes),
            (algorithm, segment),
            "{} {size} {bytes}",
            kind.name()
        );
    }
}

#[test]
fn what_is_chosen_serves() {
    for kind in K::ALL {
        for size in sizes().chain([672, 1_000_000]) {
            for bytes in (0..41).map(|bit| 1_u64 << bit).chain([0, LARGEST / u64::from(size)]) {
                let (algorithm, _) = choose(kind, size, bytes);
                algorithm.check(kind, size).unwrap();
                let fits = algorithm.fits(kind, size, bytes);
                assert!(fits, "{} of {bytes} B among {size}: {}", kind.name(), algorithm.name());
            }
        }
    }
}

#[test]
fn what_is_chosen_ends_with_the_right_data() {
    for kind in K::ALL {
        for size in [2, 3, 5, 8, 12, 13, 33] {
            for bytes in [0, 300, 2_049, 6_001, 10_000] {
                let blocks = !matches!(kind, K::Bcast | K::Reduce | K::Allreduce);
                if blocks && bytes > 300 && size > 8 {
                    continue;
                }
                let (algorithm, segment) = choose(kind, size, bytes);
                let mut game = Game::with_data(Call {
                    segment,
                    pair_bytes: &uneven,
                    ..call(kind, algorithm, size, bytes)
                });
                game.play();
                game.check();
            }
        }
    }
}

#[test]
fn a_reduction_and_a_broadcast_are_each_chosen_by_their_own_size() {
    // 1,250 ranks and 1,250 elements: a binomial tree in 10 segments of 1 KiB, then halves in 5 segments each.
    let allreduce = call(K::Allreduce, A::ReduceBcast, 1_250, 10_000);
    let root = Call {
        segment: KIB,
        ..allreduce
    };
    let sent = (0..)
        .map(|k| root.action(k))
        .take_while(|action| *action != crate::mpi::Action::Done)
        .filter(|action| matches!(action, crate::mpi::Action::Send { .. }));
    // Two halves in five segments to two ranks, and a half to the last rank.
    assert_eq!(sent.count(), 5 + 5 + 1);
}
