//! What an algorithm costs in the alpha-beta model: a message of b bytes takes alpha + beta b, a rank sends one and receives one at a
//! time (Thakur, Rabenseifner, Gropp 2005, section 3).

use super::super::op::CollectiveKind;
use super::bruck::with_bit;
use super::segmented::{CHAIN, chain_rounds};
use super::step::Fold;
use super::{Algorithm, heap, log2_ceil};

/// Messages that follow on one another from the start of a collective to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// How many: the factor of alpha.
    pub rounds: u32,
    /// Their bytes: the factor of beta.
    pub bytes: u64,
}

impl Cost {
    /// The cost of an algorithm among `size` ranks that all come at the same time; `bytes` as in
    /// [`Collective`](super::super::Collective), for an alltoallv those of every pair. Exact where the vector can be cut into pieces of
    /// one size. Combining and copying are not in it. `algorithm` is one that [`Algorithm::check`] lets pass, with its own segments. `None`: messages overlap
    /// in a way that no formula is known for here.
    pub fn of(kind: CollectiveKind, algorithm: Algorithm, size: u32, bytes: u64) -> Option<Cost> {
        use Algorithm as A;
        use CollectiveKind as K;
        if size < 2 {
            return Some(Cost { rounds: 0, bytes: 0 });
        }
        let bytes = if kind == K::Barrier { 0 } else { bytes };
        let n = u64::from(size);
        let log = log2_ceil(size);
        let fold = Fold::new(size, 0);
        let folded = u32::from(fold.rest > 0);
        // All but one of n pieces.
        let most = |parts: u32| bytes - bytes / u64::from(parts);
        let (rounds, bytes) = match (kind, algorithm) {
            (_, A::Dissemination) | (K::Barrier, A::Bruck) => (log, 0),
            (K::Barrier, A::Binomial) => (2 * log, 0),
            (K::Bcast | K::Reduce, A::Binomial) => (log, u64::from(log) * bytes),
            (K::Barrier, A::Heap) => (2 * heap::rounds(size), 0),
            (K::Allreduce, A::Heap) => (2 * heap::rounds(size), 2 * u64::from(heap::rounds(size)) * bytes),
            (_, A::Heap) => (heap::rounds(size), u64::from(heap::rounds(size)) * bytes),
            (_, A::ReduceBcast) => (2 * log, 2 * u64::from(log) * bytes),
            (K::Gather | K::Scatter, A::Binomial) => (log, (n - 1) * bytes),
            (K::Allgather, A::RecursiveDoubling | A::Bruck) => (log, (n - 1) * bytes),
            (_, A::RecursiveDoubling) => {
                let rounds = fold.rounds() + 2 * folded;
                (rounds, u64::from(rounds) * bytes)
            }
            (_, A::ScatterAllgather) => (log + size - 1, 2 * most(size)),
            (_, A::ScatterDoubling) => (2 * log, 2 * most(size)),
            (_, A::Chain) => {
                let rounds = chain_rounds(bytes, size);
                (rounds, u64::from(rounds) * bytes.min(CHAIN))
            }
            (_, A::SplitBinary | A::Binary) => return None,
            (_, A::BinomialDoubling) => (log, u64::from(log) * bytes),
            // A call, then a first part and a rest that may be nothing, rank after rank: the rest comes before the next first part.
            (_, A::Synchronised) => return None,
            (_, A::NeighbourExchange) => (size / 2, (n - 1) * bytes),
            (K::Reduce, A::Rabenseifner) => (
                2 * fold.rounds() + folded,
                2 * most(fold.power) + u64::from(folded) * bytes,
            ),
            (_, A::Rabenseifner) => (
                2 * (fold.rounds() + folded),
                2 * most(fold.power) + 2 * u64::from(folded) * bytes,
            ),
            (K::Allreduce, A::Ring) => (2 * (size - 1), 2 * (n - 1) * bytes.div_ceil(n)),
            (_, A::RecursiveHalving) => {
                // The near half of the ranks has the more blocks.
                let halves = (0..fold.rounds()).map(|bit| u64::from(fold.rank(1 << bit)));
                let blocks = halves.sum::<u64>() + u64::from(folded) * (n + 1);
                (fold.rounds() + 2 * folded, blocks * bytes)
            }
            (K::Alltoall, A::Bruck) => {
                let blocks = (0..log).map(|bit| u64::from(with_bit(size, bit)));
                (log, blocks.sum::<u64>() * bytes)
            }
            _ => (size - 1, (n - 1) * bytes),
        };
        Some(Cost { rounds, bytes })
    }
}
