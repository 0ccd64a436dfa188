//! The algorithms by name, which serve for what, and which is taken by default.

use super::super::op::CollectiveKind;
use super::direct::WINDOW;
use crate::mpi::LARGEST;
use serde::{Deserialize, Serialize};
use study::{Choice, Named};

/// How a collective is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Signals 1, 2, 4, ... ranks ahead.
    Dissemination,
    /// Exchanges between ranks that differ in one bit.
    RecursiveDoubling,
    /// A binomial tree.
    Binomial,
    /// A vector scattered on a binomial tree, then gathered round a ring.
    ScatterAllgather,
    /// A vector scattered on a binomial tree, then gathered by recursive doubling.
    ScatterDoubling,
    /// Segments from rank to rank.
    Chain,
    /// Halves, quarters, ... combined and gathered.
    Rabenseifner,
    /// Pieces round a ring.
    Ring,
    /// A reduction and a broadcast.
    ReduceBcast,
    /// The root talks to everybody at once.
    Linear,
    /// Blocks by the bits of their distance.
    Bruck,
    /// The half for the far half of the ranks first.
    RecursiveHalving,
    /// One partner after another.
    Pairwise,
    /// All partners at once, the nearest first.
    Spread,
    /// Some partners at a time.
    Window,
    /// A binary tree by numbers.
    Heap,
    /// One partner after another, farther and farther ahead.
    Shift,
    /// A binomial tree by the highest bit.
    BinomialDoubling,
    /// A half down each side of a binary tree, then exchanged between them.
    SplitBinary,
    /// Segments on a binary tree by levels.
    Binary,
    /// The root calls one rank after another.
    Synchronised,
    /// Two blocks to the one neighbour, two to the other.
    NeighbourExchange,
}

/// An algorithm, and the size of what it cuts a vector into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChosenAlgorithm {
    /// Which.
    pub algorithm: Algorithm,
    /// Bytes of a segment; [`WHOLE`]: nothing is cut.
    pub segment: u64,
}

/// The segment of an algorithm that cuts nothing.
pub const WHOLE: u64 = u64::MAX;

use Algorithm as A;
use CollectiveKind as K;

const THAKUR: &str =
    "Thakur, Rabenseifner, Gropp, \"Optimization of collective communication operations in MPICH\", IJHPCA 19, 2005";
const RABENSEIFNER: &str = "Rabenseifner, \"Optimization of collective reduction operations\", ICCS 2004";
const BRUCK: &str =
    "Bruck, Ho, Kipnis, Upfal, Weathersby, \"Efficient algorithms for all-to-all communications\", IEEE TPDS 8, 1997";
const OPEN_MPI: &str = "Open MPI 1.10, coll/tuned; Pjesivac-Grbovic et al., \"Performance analysis of MPI collective operations\", Cluster Computing 10, 2007";
const VAN_DE_GEIJN: &str = "Barnett, Gupta, Payne, Shuler, van de Geijn, Watts, \"Interprocessor collective communication library\", SHPCC 1994";

/// (algorithm, name in a study file, one line, paper).
const CATALOGUE: [(Algorithm, &str, &str, &str); 22] = [
    (
        A::Dissemination,
        "dissemination",
        "Round k: a signal to the rank 2^k ahead; ceil(log2 n) rounds for any number of ranks.",
        "Hensgen, Finkel, Manber, \"Two algorithms for barrier synchronization\", Int. J. Parallel Programming 17, 1988",
    ),
    (
        A::RecursiveDoubling,
        "recursive-doubling",
        "Round k: an exchange with the rank that differs in bit k; ranks beyond a power of two are folded away first.",
        THAKUR,
    ),
    (
        A::Binomial,
        "binomial",
        "A binomial tree: ceil(log2 n) rounds, each doubling (or halving) the ranks that take part.",
        THAKUR,
    ),
    (
        A::ScatterAllgather,
        "scatter-allgather",
        "Pieces of the vector on a binomial tree, then round a ring: about twice the vector per rank, however many ranks.",
        VAN_DE_GEIJN,
    ),
    (
        A::ScatterDoubling,
        "scatter-doubling",
        "Pieces of the vector on a binomial tree, then recursive doubling; powers of two only.",
        THAKUR,
    ),
    (
        A::Chain,
        "chain",
        "Segments of 64 KiB from rank to rank, in a pipeline.",
        "Pjesivac-Grbovic et al., \"Performance analysis of MPI collective operations\", Cluster Computing 10, 2007",
    ),
    (
        A::Rabenseifner,
        "rabenseifner",
        "Recursive halving of the vector to combine it, then the same way back to gather the result.",
        RABENSEIFNER,
    ),
    (
        A::Ring,
        "ring",
        "n - 1 rounds in which one piece goes to the next rank; allreduce: once to combine, once to gather.",
        "Patarasuk, Yuan, \"Bandwidth optimal all-reduce algorithms for clusters of workstations\", JPDC 69, 2009",
    ),
    (
        A::ReduceBcast,
        "reduce-bcast",
        "A binomial reduction to rank 0 and a binomial broadcast from it.",
        THAKUR,
    ),
    (
        A::Linear,
        "linear",
        "The root sends to, or receives from, all others at once.",
        "Pjesivac-Grbovic et al., \"Performance analysis of MPI collective operations\", Cluster Computing 10, 2007",
    ),
    (
        A::Bruck,
        "bruck",
        "Round k: half of the blocks (all, for allgather) 2^k ranks on; ceil(log2 n) rounds and local moves.",
        BRUCK,
    ),
    (
        A::RecursiveHalving,
        "recursive-halving",
        "The blocks of the far half of the ranks go there, and so on in each half; log2 n rounds.",
        THAKUR,
    ),
    (
        A::Pairwise,
        "pairwise",
        "n - 1 rounds with one partner each: by XOR for a power of two of ranks, else i ranks ahead and i before.",
        THAKUR,
    ),
    (
        A::Spread,
        "spread",
        "All receives and all sends at once, the nearest rank ahead first.",
        THAKUR,
    ),
    (
        A::Window,
        "window",
        "As spread, with 32 partners at a time.",
        "MPICH, collective \"scattered\" with its throttle of 32",
    ),
    (
        A::Heap,
        "heap",
        "A binary tree by numbers: rank r is above 2 r + 1 and 2 r + 2, and hears from both, or tells both, at once.",
        "SST, Firefly's collectives",
    ),
    (
        A::Shift,
        "shift",
        "n - 1 rounds: to the rank i ahead, from the rank i before, for powers of two of ranks as well.",
        "SST, Firefly's all-to-all",
    ),
    (
        A::BinomialDoubling,
        "binomial-doubling",
        "A binomial tree: rank r is below r without its highest bit, and tells all below it at once, the nearest first.",
        OPEN_MPI,
    ),
    (
        A::SplitBinary,
        "split-binary",
        "Segments of 1 KiB: the first half of the vector down the odd side of a binary tree, the second half down the even one; then neighbours exchange halves.",
        OPEN_MPI,
    ),
    (
        A::Binary,
        "binary",
        "Segments of 32 KiB on a binary tree: a rank of level k, from 0, is above the ranks 2^k and 2^(k+1) further.",
        OPEN_MPI,
    ),
    (
        A::Synchronised,
        "synchronised",
        "The root calls rank after rank, gets its first 32 KiB, and calls the next one while the rest comes.",
        OPEN_MPI,
    ),
    (
        A::NeighbourExchange,
        "neighbour-exchange",
        "n / 2 rounds: two blocks to and from the one neighbour, then the other; even numbers of ranks only.",
        "Chen et al., \"Performance evaluation of allgather algorithms on terascale Linux cluster with Fast Ethernet\", HPC Asia 2005",
    ),
];
const _: () = assert!(
    WINDOW == 32 && super::segmented::CHAIN == 64 << 10,
    "the lines name them"
);

impl Algorithm {
    /// All of them.
    pub const ALL: [Algorithm; CATALOGUE.len()] = {
        let mut all = [A::Binomial; CATALOGUE.len()];
        let mut i = 0;
        while i < all.len() {
            assert!(
                CATALOGUE[i].0 as usize == i,
                "the catalogue is in the order of the enum"
            );
            all[i] = CATALOGUE[i].0;
            i += 1;
        }
        all
    };

    /// Its name in a study file.
    pub fn name(self) -> &'static str {
        CATALOGUE[self as usize].1
    }

    /// One line that says what it does.
    pub fn line(self) -> &'static str {
        CATALOGUE[self as usize].2
    }

    /// The paper that it follows.
    pub fn source(self) -> &'static str {
        CATALOGUE[self as usize].3
    }

    /// The algorithm with this name.
    pub fn from_name(name: &str) -> Option<Algorithm> {
        A::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }

    /// The algorithms of a kind.
    pub fn of(kind: CollectiveKind) -> &'static [Algorithm] {
        match kind {
            K::Barrier => &[A::Dissemination, A::RecursiveDoubling, A::Binomial, A::Heap, A::Bruck],
            K::Bcast => &[
                A::Binomial,
                A::ScatterAllgather,
                A::ScatterDoubling,
                A::Chain,
                A::Heap,
                A::BinomialDoubling,
                A::SplitBinary,
                A::Binary,
            ],
            K::Reduce => &[A::Binomial, A::Rabenseifner, A::Heap, A::Chain, A::Binary, A::Linear],
            K::Allreduce => &[A::RecursiveDoubling, A::Rabenseifner, A::Ring, A::ReduceBcast, A::Heap],
            K::Gather => &[A::Binomial, A::Linear, A::Synchronised],
            K::Scatter => &[A::Binomial, A::Linear],
            K::Allgather => &[A::RecursiveDoubling, A::Bruck, A::Ring, A::NeighbourExchange],
            K::ReduceScatter => &[A::RecursiveHalving, A::Pairwise, A::Ring],
            K::Alltoall => &[A::Bruck, A::Spread, A::Window, A::Pairwise, A::Shift],
            K::Alltoallv => &[A::Spread, A::Window, A::Pairwise, A::Shift],
        }
    }

    /// Whether it can do a kind among `size` ranks; if not, why and what to take instead.
    pub fn check(self, kind: CollectiveKind, size: u32) -> Result<(), String> {
        if !A::of(kind).contains(&self) {
            let names: Vec<_> = A::of(kind).iter().map(|algorithm| algorithm.name()).collect();
            return Err(format!(
                "{} has no \"{}\", take one of {}",
                kind.name(),
                self.name(),
                names.join(", ")
            ));
        }
        let only_powers = matches!(
            (kind, self),
            (K::Allgather, A::RecursiveDoubling) | (K::Bcast, A::ScatterDoubling)
        );
        if only_powers && !size.is_power_of_two() {
            let other = match kind {
                K::Bcast => A::ScatterAllgather,
                _ => A::Bruck,
            };
            return Err(format!(
                "{} by {} takes a power of two of ranks, not {size}; take \"{}\"",
                kind.name(),
                self.name(),
                other.name()
            ));
        }
        if self == A::NeighbourExchange && size % 2 == 1 {
            return Err(format!(
                "{} by {} takes an even number of ranks, not {size}; take \"{}\"",
                kind.name(),
                self.name(),
                A::Ring.name()
            ));
        }
        Ok(())
    }

    /// Bytes of what it cuts the vector of a kind into where nobody says it; [`WHOLE`]: it cuts nothing.
    pub fn own_segment(self, kind: CollectiveKind) -> u64 {
        const KIB: u64 = 1 << 10;
        match (kind, self) {
            (_, A::Chain) => super::segmented::CHAIN,
            (_, A::SplitBinary) => KIB,
            (_, A::Binary) | (K::Gather, A::Synchronised) => 32 * KIB,
            _ => WHOLE,
        }
    }

    /// It, with its own segments.
    pub fn chosen(self, kind: CollectiveKind) -> ChosenAlgorithm {
        ChosenAlgorithm {
            algorithm: self,
            segment: self.own_segment(kind),
        }
    }

    /// Whether no message gets larger than one can be: some algorithms put the blocks of many ranks together.
    pub fn fits(self, kind: CollectiveKind, size: u32, bytes: u64) -> bool {
        let joins = matches!(
            (kind, self),
            (K::Gather | K::Scatter, A::Binomial)
                | (K::Allgather, A::RecursiveDoubling | A::Bruck | A::NeighbourExchange)
                | (K::ReduceScatter, A::RecursiveHalving)
                | (K::Alltoall, A::Bruck)
        );
        !joins || bytes.saturating_mul(size.into()) <= LARGEST
    }

    /// What MPICH takes for `bytes` among `size` ranks, with the switch points that Thakur, Rabenseifner and Gropp published in 2005
    /// (section 4 of the paper); `bytes` as in [`Collective`](super::super::Collective). Bruck's all-to-all from 8 ranks on, as in
    /// MPICH's source. Its condition that a vector has an element for every rank is taken for elements of 8 bytes. Gather and scatter
    /// are binomial for all sizes that a message can have. An alltoallv, for which the paper has no rule, goes to all partners at once (MPICH today: 32 at a
    /// time, [`Algorithm::Window`]).
    pub fn choose(kind: CollectiveKind, size: u32, bytes: u64) -> Algorithm {
        const KIB: u64 = 1 << 10;
        let total = bytes.saturating_mul(u64::from(size));
        let power = size.is_power_of_two();
        match kind {
            K::Barrier => A::Dissemination,
            K::Bcast if bytes < 12 * KIB || size < 8 => A::Binomial,
            K::Bcast if bytes < 512 * KIB && power => A::ScatterDoubling,
            K::Bcast => A::ScatterAllgather,
            K::Reduce | K::Allreduce => {
                let long = bytes > 2 * KIB && bytes / 8 >= 1 << size.max(1).ilog2();
                match (kind, long) {
                    (_, true) => A::Rabenseifner,
                    (K::Reduce, _) => A::Binomial,
                    _ => A::RecursiveDoubling,
                }
            }
            K::Gather | K::Scatter if A::Binomial.fits(kind, size, bytes) => A::Binomial,
            K::Gather | K::Scatter => A::Linear,
            K::Allgather if total < 512 * KIB && power => A::RecursiveDoubling,
            K::Allgather if total < 80 * KIB => A::Bruck,
            K::Allgather => A::Ring,
            K::ReduceScatter if total < 512 * KIB => A::RecursiveHalving,
            K::ReduceScatter => A::Pairwise,
            K::Alltoall if bytes <= 256 && size >= 8 => A::Bruck,
            K::Alltoall if bytes <= 32 * KIB => A::Spread,
            K::Alltoall => A::Pairwise,
            K::Alltoallv => A::Spread,
        }
    }
}

impl CollectiveKind {
    /// All of them.
    pub const ALL: [CollectiveKind; 10] = [
        K::Barrier,
        K::Bcast,
        K::Reduce,
        K::Allreduce,
        K::Gather,
        K::Scatter,
        K::Allgather,
        K::ReduceScatter,
        K::Alltoall,
        K::Alltoallv,
    ];

    /// Its name in a study file.
    pub fn name(self) -> &'static str {
        K::WORDS[self as usize].0
    }

    /// The name of one that is begun and does not wait.
    pub fn begun_name(self) -> &'static str {
        match self {
            K::Barrier => "ibarrier",
            K::Bcast => "ibcast",
            K::Reduce => "ireduce",
            K::Allreduce => "iallreduce",
            K::Gather => "igather",
            K::Scatter => "iscatter",
            K::Allgather => "iallgather",
            K::ReduceScatter => "ireduce-scatter",
            K::Alltoall => "ialltoall",
            K::Alltoallv => "ialltoallv",
        }
    }

    /// Whether one rank plays a part of its own.
    pub fn has_root(self) -> bool {
        matches!(self, K::Bcast | K::Reduce | K::Gather | K::Scatter)
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<CollectiveKind> {
        K::named(name)
    }
}

impl Named for CollectiveKind {
    const WORDS: &'static [Choice] = &[
        ("barrier", "Nobody goes on before everybody has come."),
        ("bcast", "`message` from the root to all."),
        ("reduce", "`message` from everybody, combined at the root."),
        ("allreduce", "`message` from everybody, combined everywhere."),
        ("gather", "`message` from everybody to the root."),
        ("scatter", "`message` for everybody from the root."),
        ("allgather", "`message` from everybody to everybody."),
        ("reduce-scatter", "`message` of the combined result at each."),
        ("alltoall", "`message` from each to each."),
        ("alltoallv", "The same by the algorithms that take any sizes."),
    ];
    const ALL: &'static [CollectiveKind] = &CollectiveKind::ALL;
}
