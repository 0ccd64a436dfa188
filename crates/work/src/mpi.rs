//! MPI ranks as programs of operations, and collectives as algorithms.

pub mod collective;
pub mod nth;
pub mod op;
pub mod spec;

pub use op::{Action, Collective, CollectiveKind, Op, Transfer};

/// Most bytes that every message may have besides the rank's.
pub const HEADER: u64 = 1 << 16;
/// Largest message of a rank (bytes): with any header it fits the 40 bits that a notice has for sizes.
pub const LARGEST: u64 = (1 << 40) - 1 - HEADER;
/// Contexts that communicators of all phases of a job may have together; the highest bit marks those of collectives.
pub const MAX_CONTEXTS: usize = 128;
/// Most interfaces of a host.
pub const MAX_RAILS: u32 = 64;

/// What the ranks of a job do, made up as they get there: a pure function of (rank, iteration, index).
pub trait Program: std::fmt::Debug + Send + Sync {
    /// Number of ranks.
    fn ranks(&self) -> u32 {
        self.communicators()[0].size(0)
    }

    /// Operation `index` of a rank in an iteration, `None` when the iteration is over. Time and memory do not grow with the number
    /// of ranks.
    fn op(&self, rank: u32, iteration: u32, index: u32) -> Option<Op>;

    /// Values of `iteration` that make up one iteration of the motif: those of a program that changes as it goes count on.
    fn rounds(&self) -> u32 {
        1
    }

    /// Communicators: the first has all ranks.
    fn communicators(&self) -> &[Communicator];

    /// Bytes from one rank of a communicator to another, both ranks of the job, in a [`CollectiveKind::Alltoallv`] of this program. What a
    /// rank receives is for the record only: a program that knows its own sends alone tells 0.
    fn pair_bytes(&self, collective: &Collective, from: u32, to: u32) -> u64 {
        let _ = (collective, from, to);
        0
    }

    /// About how many other ranks a rank talks to, for the size of its tables.
    fn peers(&self) -> u32;
}

/// A family of disjoint groups of ranks that cover the job; a rank's own communicator is the group it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Communicator {
    /// All ranks.
    World(u32),
    /// Lines of a grid: `size` ranks, `stride` apart. The ranks `base..base + stride * size`, `base` a multiple of that product,
    /// make up `stride` lines.
    Lines {
        /// Ranks of a line.
        size: u32,
        /// Distance of two neighbours on it.
        stride: u32,
    },
    /// Listed: group of each rank and its number there, and the ranks of each group.
    Listed {
        /// (group, number in it) of every rank.
        of: Vec<(u32, u32)>,
        /// Ranks of each group in order.
        groups: Vec<Vec<u32>>,
    },
}

impl Communicator {
    /// Size of the group of `rank`.
    pub fn size(&self, rank: u32) -> u32 {
        match self {
            Communicator::World(n) => *n,
            Communicator::Lines { size, .. } => *size,
            Communicator::Listed { of, groups } => groups[of[rank as usize].0 as usize].len() as u32,
        }
    }

    /// Number of `rank` in its group.
    pub fn number(&self, rank: u32) -> u32 {
        match self {
            Communicator::World(_) => rank,
            Communicator::Lines { size, stride } => rank / stride % size,
            Communicator::Listed { of, .. } => of[rank as usize].1,
        }
    }

    /// The rank of the job with a number in the group of `rank`.
    pub fn rank(&self, rank: u32, number: u32) -> u32 {
        match self {
            Communicator::World(_) => number,
            Communicator::Lines { size, stride } => {
                let own = rank / stride % size;
                rank - own * stride + number * stride
            }
            Communicator::Listed { of, groups } => groups[of[rank as usize].0 as usize][number as usize],
        }
    }
}

/// About how many ranks a rank meets in a collective of `size`.
pub(crate) fn peers_of(kind: CollectiveKind, size: u32) -> u32 {
    match kind {
        CollectiveKind::Alltoall | CollectiveKind::Alltoallv | CollectiveKind::ReduceScatter => size.saturating_sub(1),
        _ => 2 * size.next_power_of_two().trailing_zeros(),
    }
}
