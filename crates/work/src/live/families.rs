//! The communicators that a program makes.
//!
//! Its ranks agree on a number when they make one: greater than those of all communicators that any of them is in. So communicators with the same
//! number share no rank, and are one family here, whatever the order in which their ranks speak of them first.

use crate::mpi::{Communicator, GrowingGroups, MOST_MADE};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// All communicators, in families. The first has all ranks.
#[derive(Debug)]
pub(super) struct Families {
    ranks: u32,
    first: [Communicator; 1],
    /// Those behind it, by number.
    others: Box<[OnceLock<Communicator>]>,
    /// The greatest number so far, and 1 more.
    end: AtomicUsize,
}

impl Families {
    /// That of all ranks.
    pub fn new(ranks: u32) -> Families {
        Families {
            ranks,
            first: [Communicator::World(ranks)],
            others: (1..MOST_MADE).map(|_| OnceLock::new()).collect(),
            end: AtomicUsize::new(1),
        }
    }

    /// The first.
    pub fn first(&self) -> &[Communicator] {
        &self.first
    }

    /// How many there are; some of them may not be known.
    pub fn len(&self) -> usize {
        self.end.load(Ordering::Acquire)
    }

    /// That with a number; all ranks where nobody has spoken of it.
    pub fn get(&self, number: u16) -> &Communicator {
        let other = usize::from(number)
            .checked_sub(1)
            .and_then(|place| self.others.get(place)?.get());
        other.unwrap_or(&self.first[0])
    }

    /// A rank speaks of a communicator with these ranks; `false` if that cannot be.
    pub fn tell(&self, number: u32, members: &[u32]) -> bool {
        let place = (number as usize).wrapping_sub(1);
        let Some(place) = self.others.get(place) else {
            return false;
        };
        self.end.fetch_max(number as usize + 1, Ordering::AcqRel);
        let is_world = members.len() == self.ranks as usize && members.iter().copied().eq(0..self.ranks);
        let family = place.get_or_init(|| match is_world {
            true => Communicator::World(self.ranks),
            false => Communicator::Growing(Arc::new(GrowingGroups::new(self.ranks))),
        });
        match family {
            Communicator::Growing(groups) => !members.is_empty() && groups.put(members),
            _ => is_world,
        }
    }

    /// Whether a rank has spoken of a communicator.
    pub fn knows(&self, told: u32) -> bool {
        match (told as usize).checked_sub(1) {
            None => true,
            Some(place) => self.others.get(place).is_some_and(|family| family.get().is_some()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn communicators_of_one_number_are_groups_of_a_family() {
        let families = Families::new(6);
        assert!(families.tell(4, &[3, 0]) && families.tell(4, &[1, 2, 5]) && families.tell(4, &[3, 0]));
        assert!(families.tell(2, &[0, 1, 2, 3, 4, 5]));
        assert_eq!(families.len(), 5);
        let four = families.get(4);
        assert_eq!([0, 3, 5, 4].map(|rank| four.size(rank)), [2, 2, 3, 1]);
        assert_eq!([0, 3, 5, 4].map(|rank| four.number(rank)), [1, 0, 2, 0]);
        assert_eq!((four.rank(0, 0), four.rank(5, 1), four.rank(4, 0)), (3, 2, 4));
        assert_eq!(*families.get(2), Communicator::World(6));
        assert_eq!(
            [0, 1, 2, 3, 4].map(|told| families.knows(told)),
            [true, false, true, false, true]
        );
    }

    #[test]
    fn what_contradicts_what_is_known_is_refused() {
        let families = Families::new(4);
        assert!(families.tell(1, &[0, 1]));
        assert!(!families.tell(1, &[0, 2]) && !families.tell(1, &[1, 0]) && !families.tell(1, &[3, 4]));
        assert!(!families.tell(1, &[]) && !families.tell(0, &[0, 1, 2, 3]) && !families.tell(MOST_MADE as u32, &[0]));
        assert!(families.tell(2, &[0, 1, 2, 3]) && !families.tell(2, &[0, 1]));
    }
}
