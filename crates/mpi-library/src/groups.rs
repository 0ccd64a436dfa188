//! Groups of processes: ordered lists of ranks of the job.

use crate::fault::{Answer, ErrorClass, fault};
use std::{cell::OnceCell, collections::HashMap};

/// A group.
#[derive(Debug, Default)]
pub struct ProcessGroup {
    /// The members' ranks in the job, in order.
    pub members: Vec<u32>,
    /// Whether each member's rank in the job is its rank here.
    is_first: bool,
    /// Ranks in the group by rank in the job, once somebody asked.
    ranks: OnceCell<HashMap<u32, u32>>,
}

/// How two groups or communicators compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Comparison {
    Identical,
    Congruent,
    Similar,
    Unequal,
}

/// First rank, last rank, stride.
pub type RankRange = [i32; 3];

impl ProcessGroup {
    /// A group of these ranks of the job.
    pub fn new(members: Vec<u32>) -> Self {
        Self {
            is_first: (0..).zip(&members).all(|(rank, member)| rank == *member),
            members,
            ranks: OnceCell::new(),
        }
    }

    /// How many members.
    pub fn size(&self) -> u32 {
        self.members.len() as u32
    }

    /// The rank in the job of a member.
    #[inline]
    pub fn member(&self, rank: u32) -> u32 {
        match self.is_first && rank < self.size() {
            true => rank,
            false => self.members[rank as usize],
        }
    }

    /// The rank in the group of a rank of the job.
    #[unsafe(link_section = ".text.hot")]
    pub fn rank_of(&self, member: u32) -> Option<u32> {
        // Most groups are the job itself, and their members need no look at memory; or they start as it does.
        if self.is_first && member < self.size() {
            return Some(member);
        }
        if self.members.get(member as usize) == Some(&member) {
            return Some(member);
        }
        let ranks = self.ranks.get_or_init(|| {
            self.members
                .iter()
                .enumerate()
                .map(|(rank, member)| (*member, rank as u32))
                .collect()
        });
        ranks.get(&member).copied()
    }

    /// The members of both, in this one's order, then those of the other alone in its order.
    pub fn union(&self, other: &Self) -> Self {
        let rest = other.members.iter().filter(|member| self.rank_of(**member).is_none());
        Self::new(self.members.iter().chain(rest).copied().collect())
    }

    /// The members that are in both, in this one's order.
    pub fn intersection(&self, other: &Self) -> Self {
        Self::new(
            self.members
                .iter()
                .filter(|member| other.rank_of(**member).is_some())
                .copied()
                .collect(),
        )
    }

    /// The members that are not in the other.
    pub fn difference(&self, other: &Self) -> Self {
        Self::new(
            self.members
                .iter()
                .filter(|member| other.rank_of(**member).is_none())
                .copied()
                .collect(),
        )
    }

    /// How the two compare.
    pub fn compare(&self, other: &Self) -> Comparison {
        if self.members == other.members {
            Comparison::Identical
        } else if self.members.len() == other.members.len()
            && self.members.iter().all(|member| other.rank_of(*member).is_some())
        {
            Comparison::Similar
        } else {
            Comparison::Unequal
        }
    }

    /// Checks ranks: in the group, and none twice.
    fn checked(&self, ranks: &[i32]) -> Answer {
        let mut seen = vec![false; self.members.len()];
        for rank in ranks {
            match usize::try_from(*rank).ok().and_then(|rank| seen.get_mut(rank)) {
                None => {
                    return fault(
                        ErrorClass::Rank,
                        format!("rank {rank} is not in a group of {}", self.members.len()),
                    );
                }
                Some(true) => return fault(ErrorClass::Rank, format!("rank {rank} is named twice")),
                Some(seen) => *seen = true,
            }
        }
        Ok(())
    }

    /// The members with these ranks, in the order of the list.
    pub fn include(&self, ranks: &[i32]) -> Answer<Self> {
        self.checked(ranks)?;
        Ok(Self::new(
            ranks.iter().map(|rank| self.members[*rank as usize]).collect(),
        ))
    }

    /// The members without these ranks.
    pub fn exclude(&self, ranks: &[i32]) -> Answer<Self> {
        self.checked(ranks)?;
        let mut stays = vec![true; self.members.len()];
        for rank in ranks {
            stays[*rank as usize] = false;
        }
        Ok(Self::new(
            self.members
                .iter()
                .zip(stays)
                .filter(|(_, stays)| *stays)
                .map(|(member, _)| *member)
                .collect(),
        ))
    }

    /// The ranks of ranges, one after the other.
    pub fn ranks_of(&self, ranges: &[RankRange]) -> Answer<Vec<i32>> {
        let mut ranks = Vec::new();
        for [first, last, stride] in ranges {
            if *stride == 0 || (*stride > 0) != (last >= first) && first != last {
                return fault(
                    ErrorClass::Arg,
                    format!("a range from {first} to {last} in steps of {stride} has no end"),
                );
            }
            let steps = (i64::from(*last) - i64::from(*first)) / i64::from(*stride);
            for rank in [*first, *last] {
                // The last need not be met, but it must be a rank.
                self.checked(&[rank])?;
            }
            ranks.extend((0..=steps).map(|step| (i64::from(*first) + step * i64::from(*stride)) as i32));
        }
        Ok(ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(members: &[u32]) -> ProcessGroup {
        ProcessGroup::new(members.to_vec())
    }

    #[test]
    fn sets_keep_the_order_of_the_first() {
        let (a, b) = (group(&[5, 1, 3]), group(&[3, 4, 5]));
        assert_eq!(a.union(&b).members, [5, 1, 3, 4]);
        assert_eq!(a.intersection(&b).members, [5, 3]);
        assert_eq!(a.difference(&b).members, [1]);
        assert_eq!(b.difference(&b).members, []);
        assert_eq!((a.rank_of(3), a.rank_of(4), a.rank_of(0)), (Some(2), None, None));
    }

    #[test]
    fn comparisons_ask_for_members_then_order() {
        let a = group(&[5, 1, 3]);
        assert_eq!(a.compare(&group(&[5, 1, 3])), Comparison::Identical);
        assert_eq!(a.compare(&group(&[1, 3, 5])), Comparison::Similar);
        assert_eq!(a.compare(&group(&[1, 3])), Comparison::Unequal);
        assert_eq!(a.compare(&group(&[1, 3, 4])), Comparison::Unequal);
    }

    #[test]
    fn ranges_go_up_and_down_and_bad_ones_are_refused() {
        let ten = group(&(0..10).collect::<Vec<_>>());
        assert_eq!(ten.ranks_of(&[[1, 8, 3], [9, 2, -7]]), Ok(vec![1, 4, 7, 9, 2]));
        assert_eq!(ten.ranks_of(&[[4, 4, -1]]), Ok(vec![4]));
        for bad in [[0, 3, 0], [3, 0, 1], [0, 3, -1], [0, 10, 1], [-1, 3, 1]] {
            assert!(ten.ranks_of(&[bad]).is_err(), "{bad:?}");
        }
        assert!(ten.include(&[0, 1, 0]).is_err());
        assert!(ten.exclude(&[10]).is_err());
        assert_eq!(
            ten.exclude(&[0, 9, 5]).map(|group| group.members),
            Ok(vec![1, 2, 3, 4, 6, 7, 8])
        );
    }
}
