//! Communicators of a trace that are families of groups as they are told: one family after the other, each with every rank once.
//!
//! So it is where all ranks make their communicators together, and in what a run is written as. Such families keep their numbers, and
//! messages their communicators and tags: a run that is played from its own trace has the same messages to the last bit.

use super::communicators::{FillingFamily, PackedCommunicators, RankSet, check_range, no_such, of_file, too_many};
use super::tags::TagNames;
use crate::mpi::{Communicator, MAX_CONTEXTS, MOST_MADE};
use std::collections::BTreeSet;
use trace::{Members, Problem, TraceHeader};

/// Families that are kept at most: what a program may make.
const MOST_FAMILIES: usize = MOST_MADE;
const _: () = assert!(MOST_FAMILIES < MAX_CONTEXTS);
/// Ranks in lists of groups, of all families together: 32 MiB.
const MOST_LISTED: u64 = 1 << 22;

/// The families of a trace in their order.
#[derive(Debug)]
pub struct KeptFamilies {
    /// The first has all ranks.
    families: Vec<Communicator>,
    /// By communicator of the trace: its family, and its first rank.
    places: Vec<(u32, u32)>,
    /// By family.
    tags: Vec<TagNames>,
    /// Communicators with messages from or to others than their ranks.
    crossed: BTreeSet<u32>,
}

impl KeptFamilies {
    /// The families that the communicators of a trace are in their order; `None` if they are not.
    pub fn of(header: &TraceHeader) -> Option<KeptFamilies> {
        let ranks = header.ranks;
        let mut families: Vec<Communicator> = Vec::new();
        let mut places = Vec::with_capacity(header.communicators.len());
        let mut filling = FillingFamily::new(ranks);
        let (mut held, mut listed) = (0, 0);
        for members in &header.communicators {
            if members.is_empty() || members.len() > ranks - held || check_range(members, ranks).is_err() {
                return None;
            }
            places.push((families.len() as u32, members.rank(0)?));
            if !filling.add(members, ranks) {
                return None;
            }
            held += members.len();
            if held == ranks {
                let family = std::mem::replace(&mut filling, FillingFamily::new(ranks)).communicator(ranks);
                listed += match family {
                    Communicator::Listed { .. } => u64::from(ranks),
                    _ => 0,
                };
                families.push(family);
                held = 0;
            }
            if families.len() > MOST_FAMILIES || listed > MOST_LISTED {
                return None;
            }
        }
        let whole = held == 0 && matches!(families.first(), Some(Communicator::World(_)));
        whole.then(|| KeptFamilies {
            tags: Vec::new(),
            crossed: BTreeSet::new(),
            families,
            places,
        })
    }

    /// The tag of a message between a rank and a peer, of which one is the `receiver`; `peer` may be any rank.
    ///
    /// # Errors
    /// A trace with too many tags, or without such a communicator.
    pub fn tag(&mut self, communicator: u32, ends: [u32; 2], receiver: u32, tag: u32) -> Result<u16, Problem> {
        let Some(&(number, first)) = self.places.get(communicator as usize) else {
            return Err(no_such(communicator, self.places.len()));
        };
        let family = &self.families[number as usize];
        let is_in = |rank: u32| rank == trace::operation::ANY_SOURCE || family.rank(rank, 0) == first;
        if !ends.into_iter().all(is_in) {
            self.crossed.insert(communicator);
        }
        if self.tags.len() <= number as usize {
            self.tags.resize_with(number as usize + 1, TagNames::default);
        }
        self.tags[number as usize].name(receiver, 0, tag)
    }

    /// The families of a trace with this header, those for messages that leave their communicator behind the others.
    ///
    /// # Errors
    /// So many leave theirs that there is no room.
    pub fn pack(mut self, header: &TraceHeader) -> Result<PackedCommunicators, Problem> {
        if self.families.len() + self.crossed.len() > MAX_CONTEXTS {
            return Err(of_file(header, too_many()));
        }
        let mut places: Vec<(u32, u32)> = self.places.iter().map(|&(family, _)| (family, family)).collect();
        for communicator in self.crossed {
            places[communicator as usize].0 = self.families.len() as u32;
            self.families.push(Communicator::World(header.ranks));
        }
        Ok(PackedCommunicators::new(self.families, &places))
    }
}

impl<'a> FillingFamily<'a> {
    /// Without groups.
    pub(super) fn new(ranks: u32) -> FillingFamily<'a> {
        FillingFamily {
            taken: RankSet::new(ranks),
            groups: Vec::new(),
        }
    }

    /// Adds a group; `false` if it has a rank that is not there, or is in a group already.
    fn add(&mut self, members: &'a Members, ranks: u32) -> bool {
        for rank in members.iter() {
            if rank >= ranks || self.taken.has(rank) {
                return false;
            }
            self.taken.put(rank);
        }
        self.groups.push(members);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::TraceForm;

    fn header(ranks: u32, communicators: Vec<Members>) -> TraceHeader {
        let mut header = TraceHeader::new("test", ranks, TraceForm::Program);
        header.communicators.extend(communicators);
        header
    }

    fn range(first: u32, count: u32, stride: u32) -> Members {
        Members::Range { first, count, stride }
    }

    /// Rows and columns of a grid of 4 x 3 and a copy of all, one after the other.
    fn grid() -> Vec<Members> {
        let rows = (0..3).map(|row| range(4 * row, 4, 1));
        let columns = (0..4).map(|column| range(column, 3, 4));
        rows.chain(columns).chain([Members::all(12)]).collect()
    }

    #[test]
    fn families_stay_in_their_order_and_tags_what_they_are() {
        let header = header(12, grid());
        let mut kept = KeptFamilies::of(&header).unwrap();
        for communicator in [0, 2, 5, 8] {
            for tag in [7, 0, 32_767] {
                let ends = [[0, 0], [4, 5], [1, 9], [3, trace::operation::ANY_SOURCE]];
                let ends = ends[[0, 2, 5, 8].iter().position(|known| *known == communicator).unwrap()];
                assert_eq!(kept.tag(communicator, ends, ends[0], tag), Ok(tag as u16));
            }
        }
        assert!(kept.tag(9, [0, 1], 0, 7).is_err());
        let packed = kept.pack(&header).unwrap();
        let lines = |size, stride| Communicator::Lines { size, stride };
        let world = Communicator::World(12);
        assert_eq!(packed.families, [world.clone(), lines(4, 1), lines(3, 4), world]);
        let of = |communicator| (packed.of_messages(communicator), packed.of_collectives(communicator));
        assert_eq!(
            [0, 1, 3, 4, 7, 8].map(of),
            [(0, 0), (1, 1), (1, 1), (2, 2), (2, 2), (3, 3)]
        );
    }

    #[test]
    fn messages_that_leave_their_communicator_are_kept_apart_from_those_of_its_family() {
        let header = header(12, grid());
        let mut kept = KeptFamilies::of(&header).unwrap();
        // From row 0 to row 1 in the communicator of either: they must not meet.
        assert_eq!(kept.tag(1, [0, 4], 4, 3), Ok(3));
        assert_eq!(kept.tag(2, [4, 0], 4, 3), Ok(3));
        let packed = kept.pack(&header).unwrap();
        assert_eq!([1, 2, 3].map(|own| packed.of_messages(own)), [4, 5, 1]);
        assert_eq!([1, 2, 3].map(|own| packed.of_collectives(own)), [1, 1, 1]);
        assert_eq!(packed.families[4..], [Communicator::World(12), Communicator::World(12)]);
    }

    #[test]
    fn what_is_no_family_after_the_other_is_packed_otherwise() {
        let mixed: Vec<Members> = (0..3).flat_map(|k| [range(4 * k, 4, 1), range(k, 3, 4)]).collect();
        let wrong = [
            mixed,
            vec![range(0, 4, 1)],
            vec![range(4, 8, 1), range(0, 5, 1)],
            vec![Members::List(vec![0, 12])],
            vec![range(1, 12, u32::MAX)],
            vec![Members::List(Vec::new()), Members::all(12)],
            vec![Members::all(12); MOST_FAMILIES],
        ];
        for communicators in wrong {
            assert!(
                KeptFamilies::of(&header(12, communicators.clone())).is_none(),
                "{communicators:?}"
            );
        }
        assert!(KeptFamilies::of(&header(12, vec![Members::all(12); MOST_FAMILIES - 1])).is_some());
    }
}
