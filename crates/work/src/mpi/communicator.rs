//! Which ranks take part in a collective, and which messages are kept apart.

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
