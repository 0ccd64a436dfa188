//! Which ranks take part in a collective, and which messages are kept apart.

use std::sync::{Arc, OnceLock};

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
    /// Groups that become known as a program makes them.
    Growing(Arc<GrowingGroups>),
}

/// Disjoint groups of ranks, each known from when it is put in.
#[derive(Debug)]
pub struct GrowingGroups(Box<[OnceLock<GroupPlace>]>);

/// The ranks of a group, and a number in it.
type GroupPlace = (Arc<[u32]>, u32);

impl GrowingGroups {
    /// None yet, of so many ranks: each is alone.
    pub fn new(ranks: u32) -> GrowingGroups {
        GrowingGroups((0..ranks).map(|_| OnceLock::new()).collect())
    }

    /// Puts a group in, or finds that it is there; `false` if some of its ranks are not there, or in another group.
    pub fn put(&self, members: &[u32]) -> bool {
        let group: Arc<[u32]> = members.into();
        members.iter().zip(0..).all(|(&rank, number)| {
            let place = self.0.get(rank as usize);
            place.is_some_and(|place| {
                let (known, own) = place.get_or_init(|| (group.clone(), number));
                *own == number && known[..] == group[..]
            })
        })
    }

    /// The ranks of the group of a rank, and its number there.
    fn of(&self, rank: u32) -> Option<(&[u32], u32)> {
        self.0[rank as usize].get().map(|(group, number)| (&group[..], *number))
    }
}

impl PartialEq for GrowingGroups {
    fn eq(&self, other: &GrowingGroups) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for GrowingGroups {}

impl Communicator {
    /// Size of the group of `rank`.
    pub fn size(&self, rank: u32) -> u32 {
        match self {
            Communicator::World(n) => *n,
            Communicator::Lines { size, .. } => *size,
            Communicator::Listed { of, groups } => groups[of[rank as usize].0 as usize].len() as u32,
            Communicator::Growing(groups) => groups.of(rank).map_or(1, |(group, _)| group.len() as u32),
        }
    }

    /// Number of `rank` in its group.
    pub fn number(&self, rank: u32) -> u32 {
        match self {
            Communicator::World(_) => rank,
            Communicator::Lines { size, stride } => rank / stride % size,
            Communicator::Listed { of, .. } => of[rank as usize].1,
            Communicator::Growing(groups) => groups.of(rank).map_or(0, |(_, number)| number),
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
            Communicator::Growing(groups) => groups.of(rank).map_or(rank, |(group, _)| group[number as usize]),
        }
    }
}
