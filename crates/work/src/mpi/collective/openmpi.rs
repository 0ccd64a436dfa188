//! The choices of Open MPI 1.10.7 (coll/tuned, fixed rules), for operations that commute and elements of 8 bytes.
//!
//! Numbers are those of its tables, which were found by fits to measurements: a number of ranks against a line in the size. Where an algorithm
//! of its own differs from one here only in the order in which a rank talks to the others, the one here is taken: its all-to-all "linear" goes the
//! other way round, its gather and scatter "linear" wait for every rank before the next.

use super::algorithm::{Algorithm as A, ChosenAlgorithm, WHOLE};
use crate::mpi::op::CollectiveKind as K;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Bytes of an element: it cuts and counts elements.
const ELEMENT: u64 = 8;

/// What it takes for `bytes` among `size` ranks.
pub(super) fn choose(kind: K, size: u32, bytes: u64) -> ChosenAlgorithm {
    let n = u64::from(size);
    let total = bytes.saturating_mul(n);
    let (even, power) = (size.is_multiple_of(2), size.is_power_of_two());
    let (algorithm, segment) = match kind {
        K::Barrier if power => (A::RecursiveDoubling, WHOLE),
        K::Barrier => (A::Dissemination, WHOLE),
        K::Bcast => bcast(n, bytes),
        K::Reduce => reduce(n, bytes),
        K::Allreduce if bytes < 10_000 => (A::RecursiveDoubling, WHOLE),
        K::Allreduce if bytes / ELEMENT > n && n.saturating_mul(MIB) >= bytes => (A::Ring, WHOLE),
        K::Allreduce if bytes / ELEMENT > n => (A::Ring, MIB),
        K::Allreduce => (A::ReduceBcast, KIB),
        K::Gather if bytes > 92_160 => (A::Synchronised, 32 * KIB),
        K::Gather if bytes > 6_000 => (A::Synchronised, KIB),
        K::Gather if n > 60 || (n > 10 && bytes < KIB) => (A::Binomial, WHOLE),
        K::Scatter if n > 10 && bytes < 300 => (A::Binomial, WHOLE),
        K::Gather | K::Scatter => (A::Linear, WHOLE),
        K::Allgather if total < 50_000 && power => (A::RecursiveDoubling, WHOLE),
        K::Allgather if total < 50_000 => (A::Bruck, WHOLE),
        K::Allgather if even && A::NeighbourExchange.fits(kind, size, bytes) => (A::NeighbourExchange, WHOLE),
        K::Allgather => (A::Ring, WHOLE),
        K::ReduceScatter
            if total <= 12 * KIB || (total <= 256 * KIB && power) || n as f64 >= line(0.0012, 8.0, total) =>
        {
            (A::RecursiveHalving, WHOLE)
        }
        K::ReduceScatter => (A::Ring, WHOLE),
        K::Alltoall if bytes < 1_000 && n > 12 => (A::Bruck, WHOLE),
        K::Alltoall if bytes < 2_000 => (A::Spread, WHOLE),
        K::Alltoall | K::Alltoallv => (A::Shift, WHOLE),
    };
    ChosenAlgorithm { algorithm, segment }
}

/// A number of ranks that grows with the size.
fn line(per_byte: f64, at_none: f64, bytes: u64) -> f64 {
    per_byte * bytes as f64 + at_none
}

fn bcast(n: u64, bytes: u64) -> (A, u64) {
    let below = |per_byte, at_none| (n as f64) < line(per_byte, at_none, bytes);
    match bytes {
        0..2_048 => (A::BinomialDoubling, WHOLE),
        2_048..370_728 => (A::SplitBinary, KIB),
        _ if below(1.613_4e-6, 2.110_2) => (A::Chain, 128 * KIB),
        _ if n < 13 => (A::SplitBinary, 8 * KIB),
        _ if below(2.367_9e-6, 1.178_7) => (A::Chain, 64 * KIB),
        _ if below(3.211_8e-6, 8.793_6) => (A::Chain, 16 * KIB),
        _ => (A::Chain, 8 * KIB),
    }
}

fn reduce(n: u64, bytes: u64) -> (A, u64) {
    let above = |per_kib: f64, at_none| n as f64 > line(per_kib / 1_024.0, at_none, bytes);
    match bytes {
        0..512 if n < 8 => (A::Linear, WHOLE),
        0..20_480 if n < 8 => (A::Binomial, WHOLE),
        0..2_048 => (A::Binomial, WHOLE),
        _ if above(0.601_6, 1.349_6) => (A::Binomial, KIB),
        _ if above(0.041_0, 9.712_8) => (A::Chain, KIB),
        _ if above(0.042_2, 1.161_4) => (A::Binary, 32 * KIB),
        _ if above(0.003_3, 1.676_1) => (A::Chain, 32 * KIB),
        _ => (A::Chain, 64 * KIB),
    }
}
