//! Collectives as algorithms over sends and receives: a [`Call`] says what one rank does, step by step.
//!
//! Nothing is stored: step `k` of a rank is a pure function of the call, in O(1) or O(log size) time without allocation, for any
//! number of ranks and any size. Every rank's own contribution is in place from the start, and vectors are cut into pieces to the
//! byte, the first ones a byte longer if need be. Receives of a round come before its sends, then one wait, as MPICH does it.

mod algorithm;
mod bruck;
mod cost;
mod direct;
mod doubling;
mod heap;
mod openmpi;
mod ring;
mod rules;
mod segmented;
mod step;
#[cfg(test)]
mod tests;
mod tree;

pub use algorithm::{Algorithm, ChosenAlgorithm, WHOLE};
pub use cost::Cost;
pub use rules::CollectiveRules;

use super::op::{Action, CollectiveKind};
use segmented::PipelineTree;
use step::{Fold, Script, VectorSpan};

/// The part of one rank in one collective. Ranks are those of the communicator.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// What is done.
    pub kind: CollectiveKind,
    /// How; one of [`Algorithm::of`] the kind that [`Algorithm::check`] lets pass for `size`.
    pub algorithm: Algorithm,
    /// Bytes of a segment, for algorithms that can cut a vector; [`WHOLE`]: it is not cut.
    pub segment: u64,
    /// Number of ranks, below 2^30.
    pub size: u32,
    /// The rank in question, below `size`.
    pub me: u32,
    /// The root, below `size`; ignored by kinds without one.
    pub root: u32,
    /// Size, as in [`Collective`](super::Collective).
    pub bytes: u64,
    /// Bytes from one rank to another, for an alltoallv; see [`no_pairs`].
    pub pair_bytes: &'a dyn Fn(u32, u32) -> u64,
}

/// What a [`Call`] that is not an alltoallv has for `pair_bytes`.
pub fn no_pairs(_from: u32, _to: u32) -> u64 {
    0
}

impl Call<'_> {
    /// Step `k` of this rank, from 0; [`Action::Done`] after the last one.
    ///
    /// # Panics
    /// If the algorithm is none for this kind or this number of ranks ([`Algorithm::check`]).
    pub fn action(&self, k: u32) -> Action {
        self.step(k).map_or(Action::Done, |(action, _)| action)
    }

    /// Step `k` and which bytes of the vector it moves.
    fn step(&self, k: u32) -> Option<(Action, VectorSpan)> {
        if self.size < 2 {
            return None;
        }
        let mut script = Script::new(k);
        self.tell(&mut script);
        script.found()
    }

    /// Tells all steps in order.
    fn tell(&self, script: &mut Script) {
        use Algorithm as A;
        use CollectiveKind as K;
        match (self.kind, self.algorithm) {
            (K::Barrier, A::Dissemination) => bruck::disseminate(self, script),
            (K::Barrier, A::Bruck) => bruck::disseminate_back(self, script),
            (K::Barrier, A::RecursiveDoubling) => doubling::barrier(self, script),
            (K::Barrier, A::Binomial) => {
                tree::collect(self, script);
                tree::release(self, script);
            }
            (K::Barrier, A::Heap) => {
                heap::collect(self, script);
                heap::release(self, script);
            }
            (K::Bcast, A::Binomial) => tree::bcast(self, script),
            (K::Bcast, A::Heap) => heap::bcast(self, script),
            (K::Bcast, A::ScatterAllgather) => {
                tree::scatter_pieces(self, script);
                ring::allgather_pieces(self, script);
            }
            (K::Bcast, A::ScatterDoubling) => {
                tree::scatter_pieces(self, script);
                doubling::allgather_pieces(self, script);
            }
            (K::Bcast, A::Chain) => segmented::bcast(self, script, PipelineTree::Chain),
            (K::Bcast, A::BinomialDoubling) => segmented::bcast(self, script, PipelineTree::ByHighestBit),
            (K::Bcast, A::Binary) => segmented::bcast(self, script, PipelineTree::Binary),
            (K::Bcast, A::SplitBinary) => segmented::split(self, script),
            (K::Reduce, A::Binomial) if self.segment == WHOLE => tree::reduce(self, script),
            (K::Reduce, A::Binomial) => segmented::reduce(self, script, PipelineTree::ByLowestBit),
            (K::Reduce, A::Chain) => segmented::reduce(self, script, PipelineTree::Chain),
            (K::Reduce, A::Binary) => segmented::reduce(self, script, PipelineTree::Binary),
            (K::Reduce, A::Linear) => direct::reduce(self, script),
            (K::Reduce, A::Rabenseifner) => doubling::reduce(self, script),
            (K::Reduce, A::Heap) => heap::reduce(self, script),
            (K::Allreduce, A::RecursiveDoubling) => doubling::allreduce(self, script),
            (K::Allreduce, A::Ring) => ring::allreduce(self, script),
            (K::Allreduce, A::Rabenseifner) => doubling::allreduce_by_halves(self, script),
            (K::Allreduce, A::ReduceBcast) if self.segment == WHOLE => {
                tree::reduce(self, script);
                tree::bcast(self, script);
            }
            (K::Allreduce, A::ReduceBcast) => {
                for kind in [K::Reduce, K::Bcast] {
                    let ChosenAlgorithm { algorithm, segment } = openmpi::choose(kind, self.size, self.bytes);
                    let part = Call {
                        kind,
                        algorithm,
                        segment,
                        root: 0,
                        ..*self
                    };
                    part.tell(script);
                }
            }
            (K::Allreduce, A::Heap) => {
                heap::reduce(self, script);
                heap::bcast(self, script);
            }
            (K::Gather, A::Binomial) => tree::gather(self, script),
            (K::Gather, A::Linear) => direct::gather(self, script),
            (K::Gather, A::Synchronised) => direct::gather_called(self, script),
            (K::Scatter, A::Binomial) => tree::scatter(self, script),
            (K::Scatter, A::Linear) => direct::scatter(self, script),
            (K::Allgather, A::Ring) => ring::allgather(self, script),
            (K::Allgather, A::RecursiveDoubling) => doubling::allgather(self, script),
            (K::Allgather, A::Bruck) => bruck::allgather(self, script),
            (K::Allgather, A::NeighbourExchange) => ring::exchange_with_neighbours(self, script),
            (K::ReduceScatter, A::Ring) => ring::reduce_scatter(self, script),
            (K::ReduceScatter, A::RecursiveHalving) => doubling::reduce_scatter(self, script),
            (K::ReduceScatter, A::Pairwise) => direct::reduce_scatter(self, script),
            (K::Alltoall | K::Alltoallv, A::Pairwise) => direct::pairwise(self, script),
            (K::Alltoall | K::Alltoallv, A::Shift) => direct::shift(self, script),
            (K::Alltoall | K::Alltoallv, A::Spread) => direct::spread(self, script),
            (K::Alltoall | K::Alltoallv, A::Window) => direct::window(self, script),
            (K::Alltoall, A::Bruck) => bruck::alltoall(self, script),
            (kind, algorithm) => panic!("there is no {} for {}", algorithm.name(), kind.name()),
        }
    }

    /// The root, 0 where the kind has none.
    fn origin(&self) -> u32 {
        if self.kind.has_root() { self.root } else { 0 }
    }

    /// This rank as counted from the root.
    fn relative(&self) -> u32 {
        self.before(self.origin())
    }

    /// The rank that is `relative` when counted from the root.
    fn absolute(&self, relative: u32) -> u32 {
        (relative + self.origin()) % self.size
    }

    /// The rank `distance` after this one, in a circle; `distance` at most `size`.
    fn after(&self, distance: u32) -> u32 {
        (self.me + distance) % self.size
    }

    /// The rank `distance` before this one, in a circle; `distance` at most `size`.
    fn before(&self, distance: u32) -> u32 {
        (self.me + self.size - distance) % self.size
    }

    /// The whole vector of a kind whose size is that of the vector.
    fn whole(&self) -> VectorSpan {
        VectorSpan {
            start: 0,
            bytes: self.bytes,
        }
    }

    /// Pieces `first..first + count` when that vector is cut into `parts`.
    fn pieces(&self, parts: u32, first: u32, count: u32) -> VectorSpan {
        let start = cut(self.bytes, parts, first);
        VectorSpan {
            start,
            bytes: cut(self.bytes, parts, first + count) - start,
        }
    }

    /// The blocks of `count` ranks from `first` on, in a circle, of a vector with `bytes` for every rank.
    fn blocks(&self, first: u32, count: u32) -> VectorSpan {
        VectorSpan {
            start: u64::from(first) * self.bytes,
            bytes: u64::from(count) * self.bytes,
        }
    }

    /// What this rank sends to another in an all-to-all.
    fn pair_to(&self, to: u32) -> VectorSpan {
        let bytes = match self.kind {
            CollectiveKind::Alltoallv => (self.pair_bytes)(self.me, to),
            _ => self.bytes,
        };
        VectorSpan {
            start: u64::from(to) * self.bytes,
            bytes,
        }
    }

    /// What this rank receives from another in an all-to-all.
    fn pair_from(&self, from: u32) -> VectorSpan {
        let bytes = match self.kind {
            CollectiveKind::Alltoallv => (self.pair_bytes)(from, self.me),
            _ => self.bytes,
        };
        VectorSpan {
            start: u64::from(from) * self.bytes,
            bytes,
        }
    }

    /// The ranks as a power of two of them and the rest.
    fn fold(&self) -> Fold {
        Fold::new(self.size, self.relative())
    }
}

/// Where piece `i` begins when `bytes` are cut into `parts`, the first `bytes % parts` pieces a byte longer than the others.
pub(crate) fn cut(bytes: u64, parts: u32, i: u32) -> u64 {
    let (parts, i) = (u64::from(parts), u64::from(i));
    bytes / parts * i + (bytes % parts).min(i)
}

/// The smallest `k` with 2^k at least `size`.
fn log2_ceil(size: u32) -> u32 {
    size.next_power_of_two().trailing_zeros()
}
