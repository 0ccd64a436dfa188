//! Communicators of a trace as few families of disjoint groups.
//!
//! A family is an index that messages carry; who is in a group with whom is told by the rank. Communicators that share no rank therefore
//! share a family. Two kinds of use ask for one: collectives, whose ranks have to be known, and receives with any tag, which must not
//! take messages of other communicators. All other messages are told apart by their tags ([`TagNames`](super::TagNames)) and are in one
//! context with each other. Communicators of the same ranks in the same order share a group for their collectives: no rank may come to
//! those in another order than its peers. Those with collectives that are begun and not waited for have a group each.

use crate::mpi::{Communicator, MAX_CONTEXTS};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use trace::{Members, Problem, TraceHeader};

/// What the operations of a trace do with its communicators.
#[derive(Clone, Debug)]
pub struct CommunicatorUses(Vec<u8>);

/// Families that communicators are packed into at most: each has a word for every rank.
pub(super) const MOST_PACKED: usize = 1024;
const _: () = assert!(MOST_PACKED <= MAX_CONTEXTS);

const MESSAGES: u8 = 1;
const ANY_TAG: u8 = 2;
const COLLECTIVES: u8 = 4;
const BEGUN: u8 = 8;

/// The communicators of a trace as families for [`Program::communicators`](crate::mpi::Program::communicators).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedCommunicators {
    /// The families: the first has all ranks.
    pub families: Vec<Communicator>,
    /// By communicator of the trace: family of its messages, family of its collectives.
    places: Vec<(u16, u16)>,
}

impl CommunicatorUses {
    /// None yet of those of a trace.
    pub fn new(header: &TraceHeader) -> CommunicatorUses {
        CommunicatorUses(vec![0; header.communicators.len()])
    }

    /// A message is sent or received.
    ///
    /// # Errors
    /// There is no such communicator.
    pub fn message(&mut self, communicator: u32) -> Result<(), Problem> {
        self.note(communicator, MESSAGES)
    }

    /// A message with any tag is received.
    ///
    /// # Errors
    /// There is no such communicator.
    pub fn any_tag(&mut self, communicator: u32) -> Result<(), Problem> {
        self.note(communicator, ANY_TAG)
    }

    /// There is a collective.
    ///
    /// # Errors
    /// There is no such communicator.
    pub fn collective(&mut self, communicator: u32) -> Result<(), Problem> {
        self.note(communicator, COLLECTIVES)
    }

    /// There is a collective that is begun and does not wait.
    ///
    /// # Errors
    /// There is no such communicator.
    pub fn begun(&mut self, communicator: u32) -> Result<(), Problem> {
        self.note(communicator, COLLECTIVES | BEGUN)
    }

    fn note(&mut self, communicator: u32, what: u8) -> Result<(), Problem> {
        match self.0.get_mut(communicator as usize) {
            Some(uses) => {
                *uses |= what;
                Ok(())
            }
            None => Err(no_such(communicator, self.0.len())),
        }
    }

    /// Packs the communicators that need a family, largest first, each into the first family with room.
    ///
    /// # Errors
    /// A communicator with a rank that is not there or that it has twice, and communicators that overlap too much.
    pub fn pack(&self, header: &TraceHeader) -> Result<PackedCommunicators, Problem> {
        let mut groups = Groups::default();
        let mut wanted = Vec::new();
        for (uses, members) in self.0.iter().zip(&header.communicators) {
            if *uses & (ANY_TAG | COLLECTIVES) != 0 {
                check_range(members, header.ranks).map_err(|why| of_file(header, why))?;
            }
            let own = (uses & ANY_TAG != 0).then(|| groups.another(members));
            let meets = match (uses & COLLECTIVES != 0, uses & BEGUN != 0) {
                (false, _) => None,
                (true, false) => Some(groups.of(members)),
                // Ranks may begin those of two communicators in different orders, and they are told apart by their number in one.
                (true, true) => Some(groups.add(members, false)),
            };
            wanted.push((own, meets));
        }
        let mut packing = Packing::new(header.ranks);
        let mut order: Vec<usize> = (0..groups.members.len()).collect();
        order.sort_by_key(|&group| Reverse(groups.members[group].len()));
        let mut placed = vec![0; groups.members.len()];
        for group in order {
            placed[group] = packing
                .place(groups.members[group])
                .map_err(|why| of_file(header, why))?;
        }
        // Messages that tags tell apart are in the context of all ranks, unless somebody receives any of that.
        let common = match (placed.iter().zip(&groups.exclusive)).any(|(&place, &exclusive)| place == 0 && exclusive) {
            false => 0,
            true => packing.add_world(),
        };
        if packing.families.len() > MOST_PACKED {
            return Err(of_file(header, too_many()));
        }
        let places = wanted.iter().map(|(own, meets)| {
            let place = |group: &Option<usize>, other: usize| group.map_or(other, |group| placed[group]) as u16;
            (place(own, common), place(meets, 0))
        });
        Ok(PackedCommunicators {
            places: places.collect(),
            families: packing.families(),
        })
    }
}

impl PackedCommunicators {
    /// These families, and by communicator of the trace that of its messages and that of its collectives.
    pub(super) fn new(families: Vec<Communicator>, places: &[(u32, u32)]) -> PackedCommunicators {
        let places = places.iter().map(|&(own, meets)| (own as u16, meets as u16));
        PackedCommunicators {
            families,
            places: places.collect(),
        }
    }

    /// The family that messages of a communicator carry.
    ///
    /// # Panics
    /// The trace has no such communicator.
    pub fn of_messages(&self, communicator: u32) -> u16 {
        self.places[communicator as usize].0
    }

    /// The family that has the group of a communicator with collectives.
    ///
    /// # Panics
    /// The trace has no such communicator.
    pub fn of_collectives(&self, communicator: u32) -> u16 {
        self.places[communicator as usize].1
    }

    /// Whether a rank is in a communicator of the trace that has collectives. O(1).
    pub fn has(&self, header: &TraceHeader, communicator: u32, rank: u32) -> bool {
        let family = &self.families[usize::from(self.of_collectives(communicator))];
        let members = &header.communicators[communicator as usize];
        members.rank(0) == Some(family.rank(rank, 0)) && family.size(rank) == members.len()
    }
}

/// A communicator that is none of so many.
pub(super) fn no_such(communicator: u32, there_are: usize) -> Problem {
    let reason = format!("there is no communicator {communicator}");
    Problem::new("", reason, format!("the trace has {there_are}"))
}

pub(super) fn too_many() -> Problem {
    let reason = format!("its communicators overlap so much that they need more than {MOST_PACKED} families");
    let hint = "cut the trace: only communicators that have collectives, or receives with any tag, are counted";
    Problem::new("", reason, hint)
}

/// Refuses a range of ranks that goes beyond what numbers of ranks have room for.
pub(super) fn check_range(members: &Members, ranks: u32) -> Result<(), Problem> {
    match *members {
        Members::Range { first, count, stride } if count > 0 => {
            let last = u64::from(first) + u64::from(count - 1) * u64::from(stride);
            match last < u64::from(ranks) {
                true => Ok(()),
                false => Err(not_there(last, ranks)),
            }
        }
        _ => Ok(()),
    }
}

fn not_there(rank: u64, ranks: u32) -> Problem {
    let reason = format!("a communicator has rank {rank}, and the trace only {ranks} ranks");
    Problem::new("", reason, "record the trace again")
}

pub(super) fn of_file(header: &TraceHeader, problem: Problem) -> Problem {
    Problem {
        file: header.file(0).to_owned(),
        ..problem
    }
}

/// The groups of ranks that are needed, each once.
#[derive(Default)]
struct Groups<'a> {
    members: Vec<&'a Members>,
    /// Whether a group is for receives with any tag of one communicator.
    exclusive: Vec<bool>,
    /// By a hash of ranks.
    known: HashMap<u64, Vec<usize>>,
}

impl<'a> Groups<'a> {
    /// A group for collectives, which all communicators of these ranks share.
    fn of(&mut self, members: &'a Members) -> usize {
        let same = self.known.get(&hash(members)).into_iter().flatten();
        let same = same
            .copied()
            .find(|&group| self.members[group].iter().eq(members.iter()));
        same.unwrap_or_else(|| self.add(members, false))
    }

    /// A group that no other communicator's messages are in.
    fn another(&mut self, members: &'a Members) -> usize {
        self.add(members, true)
    }

    fn add(&mut self, members: &'a Members, exclusive: bool) -> usize {
        let group = self.members.len();
        self.members.push(members);
        self.exclusive.push(exclusive);
        self.known.entry(hash(members)).or_default().push(group);
        group
    }
}

fn hash(members: &Members) -> u64 {
    let mut hasher = DefaultHasher::new();
    members.iter().for_each(|rank| rank.hash(&mut hasher));
    hasher.finish()
}

/// Families that fill.
struct Packing<'a> {
    ranks: u32,
    families: Vec<FillingFamily<'a>>,
    /// RankSet of the group at hand.
    own: RankSet,
}

/// A family that fills.
pub(super) struct FillingFamily<'a> {
    pub(super) taken: RankSet,
    pub(super) groups: Vec<&'a Members>,
}

impl<'a> Packing<'a> {
    /// The family of all ranks.
    fn new(ranks: u32) -> Packing<'a> {
        let mut packing = Packing {
            ranks,
            families: Vec::new(),
            own: RankSet::new(ranks),
        };
        packing.add_world();
        packing
    }

    /// A further family of all ranks.
    fn add_world(&mut self) -> usize {
        self.families.push(FillingFamily {
            taken: RankSet::all(self.ranks),
            groups: Vec::new(),
        });
        self.families.len() - 1
    }

    /// The family of a group: the first that it shares no rank with.
    fn place(&mut self, members: &'a Members) -> Result<usize, Problem> {
        self.check(members)?;
        let world = members.len() == self.ranks && members.iter().eq(0..self.ranks);
        if world && self.families.len() == 1 && self.families[0].groups.is_empty() {
            self.families[0].groups.push(members);
            return Ok(0);
        }
        let free = |family: &FillingFamily<'_>| members.iter().all(|rank| !family.taken.has(rank));
        let place = match self.families.iter().position(free) {
            Some(place) => place,
            None if self.families.len() == MOST_PACKED => return Err(too_many()),
            None => {
                self.families.push(FillingFamily::new(self.ranks));
                self.families.len() - 1
            }
        };
        let family = &mut self.families[place];
        members.iter().for_each(|rank| family.taken.put(rank));
        family.groups.push(members);
        Ok(place)
    }

    /// Refuses a group that has a rank twice, or one that is not there.
    fn check(&mut self, members: &Members) -> Result<(), Problem> {
        let mut wrong = None;
        for rank in members.iter() {
            if rank >= self.ranks || self.own.has(rank) {
                wrong = Some(rank);
                break;
            }
            self.own.put(rank);
        }
        members.iter().for_each(|rank| self.own.drop(rank));
        match wrong {
            None => Ok(()),
            Some(rank) if rank >= self.ranks => Err(not_there(rank.into(), self.ranks)),
            Some(rank) => {
                let reason = format!("a communicator has rank {rank} twice");
                Err(Problem::new("", reason, "record the trace again"))
            }
        }
    }

    fn families(self) -> Vec<Communicator> {
        let ranks = self.ranks;
        self.families
            .into_iter()
            .map(|family| family.communicator(ranks))
            .collect()
    }
}

impl FillingFamily<'_> {
    /// As ranks know it: ranks that are in no group are in one that nobody speaks of.
    pub(super) fn communicator(self, ranks: u32) -> Communicator {
        let whole = self.groups.first().is_none_or(|first| first.iter().eq(0..ranks));
        if whole {
            return Communicator::World(ranks);
        }
        let mut groups: Vec<Vec<u32>> = self.groups.iter().map(|members| members.iter().collect()).collect();
        let rest: Vec<u32> = (0..ranks).filter(|&rank| !self.taken.has(rank)).collect();
        if let Some(lines) = lines(ranks, &groups, &rest) {
            return lines;
        }
        if !rest.is_empty() {
            groups.push(rest);
        }
        let mut of = vec![(0, 0); ranks as usize];
        for (group, members) in (0..).zip(&groups) {
            for (number, &rank) in (0..).zip(members) {
                of[rank as usize] = (group, number);
            }
        }
        Communicator::Listed { of, groups }
    }
}

/// Groups as lines of a grid, which take no memory, if that is what they are.
fn lines(ranks: u32, groups: &[Vec<u32>], rest: &[u32]) -> Option<Communicator> {
    let first = groups.first()?;
    let size = first.len() as u32;
    let stride = match first[..] {
        [a, b, ..] => b.checked_sub(a).filter(|&stride| stride > 0)?,
        _ => 1,
    };
    if !rest.is_empty() || !ranks.is_multiple_of(size.checked_mul(stride)?) {
        return None;
    }
    let lines = Communicator::Lines { size, stride };
    let is_line = |group: &Vec<u32>| {
        group.len() == size as usize
            && (0..)
                .zip(group)
                .all(|(number, &rank)| lines.rank(group[0], number) == rank)
    };
    // A line that begins elsewhere than its first rank has its members in another order.
    let begins = |group: &Vec<u32>| lines.number(group[0]) == 0;
    groups
        .iter()
        .all(|group| begins(group) && is_line(group))
        .then_some(lines)
}

/// A set of ranks, a bit each.
pub(super) struct RankSet(Vec<u64>);

impl RankSet {
    pub(super) fn new(ranks: u32) -> RankSet {
        RankSet(vec![0; ranks.div_ceil(64) as usize])
    }

    fn all(ranks: u32) -> RankSet {
        RankSet(vec![u64::MAX; ranks.div_ceil(64) as usize])
    }

    pub(super) fn has(&self, rank: u32) -> bool {
        self.0[rank as usize / 64] >> (rank % 64) & 1 != 0
    }

    pub(super) fn put(&mut self, rank: u32) {
        self.0[rank as usize / 64] |= 1 << (rank % 64);
    }

    fn drop(&mut self, rank: u32) {
        if let Some(word) = self.0.get_mut(rank as usize / 64) {
            *word &= !(1 << (rank % 64));
        }
    }
}

#[cfg(test)]
mod tests;
