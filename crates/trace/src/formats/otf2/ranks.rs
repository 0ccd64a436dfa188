//! Which location is which rank, and which ranks a communicator has.

use super::definitions::{ArchiveDefinitions, DefinedGroup, MPI};
use crate::header::Members;
use crate::operation::WORLD;
use crate::problem::Problem;
use std::collections::{BTreeMap, HashMap};

/// Kind of a group of locations that communicate.
const COMMUNICATING: u8 = 4;
/// Kind of a group of some of those.
const SOME: u8 = 5;
/// Kind of a group that each location is by itself.
const SELF: u8 = 6;
/// Flag of a group whose members are locations.
const MEMBERS_ARE_LOCATIONS: u32 = 1;
/// Paradigm of the measurement system, which has groups of all threads.
const MEASUREMENT: u8 = 8;

/// What a communicator of the archive is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommunicatorUse {
    /// One of the header, by number.
    CollectedOperation(u32),
    /// Each rank by itself.
    Own,
    /// None that operations can have; why.
    Unusable(&'static str),
}

/// The ranks of an archive.
#[derive(Clone, Debug, Default)]
pub struct RankMap {
    /// The location of each rank.
    pub locations: Vec<u64>,
    /// The communicators of the header.
    pub communicators: Vec<Members>,
    by_id: HashMap<u32, CommunicatorUse>,
}

impl RankMap {
    /// The ranks of an archive: the locations of MPI in their order; without MPI, the first thread of each process.
    ///
    /// # Errors
    /// An archive without ranks, or with a rank twice.
    pub fn of(definitions: &ArchiveDefinitions, file: &str) -> Result<RankMap, Problem> {
        let wrong = |reason: String| Problem::new(file, reason, "record it anew, or ask whoever wrote it");
        let group = communicating(definitions);
        let locations = match group {
            Some(group) => group.members.clone(),
            None => first_threads(definitions),
        };
        if locations.is_empty() {
            return Err(wrong(
                "it has no ranks: no locations of MPI, and no process with a thread".to_owned(),
            ));
        }
        if locations.len() >= (u32::MAX - 1) as usize {
            return Err(wrong(format!("it has {} ranks", locations.len())));
        }
        let mut ranks = HashMap::with_capacity(locations.len());
        for (rank, location) in (0..).zip(&locations) {
            if let Some(other) = ranks.insert(*location, rank) {
                return Err(wrong(format!("location {location} is rank {other} and rank {rank}")));
            }
        }
        let mut map = RankMap {
            locations,
            ..RankMap::default()
        };
        map.list(definitions, group.map_or(MPI, |group| group.paradigm), &ranks);
        Ok(map)
    }

    /// What a communicator of the archive is.
    pub fn communicator(&self, id: u32) -> CommunicatorUse {
        let unknown = CommunicatorUse::Unusable("is not defined");
        self.by_id.get(&id).cloned().unwrap_or(unknown)
    }

    /// How many communicators the archive defines that are not listed.
    pub fn other_communicators(&self) -> usize {
        let is_listed = |it: &&CommunicatorUse| matches!(it, CommunicatorUse::CollectedOperation(_));
        self.by_id.len() - self.by_id.values().filter(is_listed).count()
    }

    /// Lists the communicators: that of all ranks first, then those of the archive in the order of their numbers.
    fn list(&mut self, definitions: &ArchiveDefinitions, paradigm: u8, ranks: &HashMap<u64, u32>) {
        let all = Members::all(self.locations.len() as u32);
        // Groups of the same members are turned into ranks once.
        let mut groups: BTreeMap<u32, Result<Members, CommunicatorUse>> = BTreeMap::new();
        for communicator in definitions.communicators.values() {
            groups.entry(communicator.group).or_insert_with(|| {
                let group = definitions.groups.get(&communicator.group);
                let unknown = CommunicatorUse::Unusable("has a group that is not defined");
                members(group.ok_or(unknown)?, paradigm, ranks)
            });
        }
        let has_all = |group: u32| groups.get(&group).is_some_and(|members| members.as_ref() == Ok(&all));
        let mut candidates = definitions.communicators.iter();
        let named = candidates.clone().find(|(_, communicator)| {
            has_all(communicator.group) && definitions.string(communicator.name) == "MPI_COMM_WORLD"
        });
        let world = named.or_else(|| candidates.find(|(_, communicator)| has_all(communicator.group)));
        let world = world.map(|(id, _)| *id);
        self.communicators.push(all.clone());
        for (id, communicator) in &definitions.communicators {
            let it = match &groups[&communicator.group] {
                _ if Some(*id) == world => CommunicatorUse::CollectedOperation(WORLD),
                Ok(members) => {
                    self.communicators.push(members.clone());
                    CommunicatorUse::CollectedOperation(self.communicators.len() as u32 - 1)
                }
                Err(it) => it.clone(),
            };
            self.by_id.insert(*id, it);
        }
        for id in definitions.between.keys() {
            let it =
                CommunicatorUse::Unusable("is one between two groups (an intercommunicator), which is not replayed");
            self.by_id.insert(*id, it);
        }
    }
}

/// The group of the locations of MPI, or of another system that communicates.
fn communicating(definitions: &ArchiveDefinitions) -> Option<&DefinedGroup> {
    let mut groups = definitions.groups.values().filter(|group| group.kind == COMMUNICATING);
    let of_mpi = groups.clone().find(|group| group.paradigm == MPI);
    of_mpi.or_else(|| groups.find(|group| group.paradigm != MEASUREMENT))
}

/// The thread of a processor with the lowest number of each process, in the order of the processes.
fn first_threads(definitions: &ArchiveDefinitions) -> Vec<u64> {
    let mut first: BTreeMap<u32, u64> = BTreeMap::new();
    for (id, location) in &definitions.locations {
        if location.kind == 1 && definitions.location_groups.get(&location.group) == Some(&1) {
            first.entry(location.group).or_insert(*id);
        }
    }
    first.into_values().collect()
}

/// The ranks of a group.
fn members(group: &DefinedGroup, paradigm: u8, ranks: &HashMap<u64, u32>) -> Result<Members, CommunicatorUse> {
    if group.kind == SELF {
        return Err(CommunicatorUse::Own);
    }
    if group.paradigm != paradigm || !matches!(group.kind, COMMUNICATING | SOME) {
        return Err(CommunicatorUse::Unusable("is none of MPI"));
    }
    let are_locations = group.kind == COMMUNICATING || group.flags & MEMBERS_ARE_LOCATIONS != 0;
    let rank = |member: &u64| match are_locations {
        true => ranks.get(member).copied(),
        false => u32::try_from(*member)
            .ok()
            .filter(|rank| (*rank as usize) < ranks.len()),
    };
    let listed: Option<Vec<u32>> = group.members.iter().map(rank).collect();
    let listed = listed.ok_or(CommunicatorUse::Unusable("has a member that is no rank"))?;
    Ok(Members::of(listed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::otf2::definitions::{DefinedCommunicator, DefinedLocation};

    fn group(kind: u8, paradigm: u8, flags: u32, members: &[u64]) -> DefinedGroup {
        DefinedGroup {
            kind,
            paradigm,
            flags,
            members: members.to_vec(),
        }
    }

    fn archive(groups: &[DefinedGroup], communicators: &[(u32, &str, u32)]) -> ArchiveDefinitions {
        let mut definitions = ArchiveDefinitions {
            groups: (0..).zip(groups.iter().cloned()).collect(),
            ..ArchiveDefinitions::default()
        };
        for (id, name, group) in communicators {
            definitions.strings.insert(*id, (*name).to_owned());
            let communicator = DefinedCommunicator {
                name: *id,
                group: *group,
            };
            definitions.communicators.insert(*id, communicator);
        }
        definitions
    }

    #[test]
    fn ranks_are_the_locations_of_mpi_in_their_order() {
        let groups = [
            group(4, 8, 0, &[1, 2, 3, 4]),
            group(4, 4, 0, &[9, 3, 5]),
            group(5, 4, 0, &[0, 1, 2]),
            group(5, 4, 0, &[2, 0]),
            group(5, 4, 1, &[5, 9]),
            group(6, 4, 0, &[]),
            group(5, 8, 0, &[0]),
            group(5, 4, 0, &[3]),
        ];
        let communicators = [
            (1, "dup", 2),
            (2, "MPI_COMM_WORLD", 2),
            (3, "places", 3),
            (4, "locations", 4),
            (5, "MPI_COMM_SELF", 5),
            (6, "threads", 6),
            (7, "broken", 7),
            (8, "lost", 99),
        ];
        let mut definitions = archive(&groups, &communicators);
        definitions.between.insert(9, 0);
        let map = RankMap::of(&definitions, "a.otf2").expect("ranks");
        assert_eq!(map.locations, [9, 3, 5]);
        let listed = [0..1_u32, 1..2, 2..3, 3..4].map(|number| number.start);
        assert_eq!(listed.len(), map.communicators.len());
        assert_eq!(map.communicators[..2], [Members::all(3), Members::all(3)]);
        assert_eq!(map.communicators[2], Members::List(vec![2, 0]));
        // Locations 5 and 9 are ranks 2 and 0 as well.
        assert_eq!(map.communicators[3], Members::List(vec![2, 0]));
        let uses: Vec<CommunicatorUse> = (1..=9).map(|id| map.communicator(id)).collect();
        use CommunicatorUse as U;
        assert_eq!(
            uses[..5],
            [
                U::CollectedOperation(1),
                U::CollectedOperation(0),
                U::CollectedOperation(2),
                U::CollectedOperation(3),
                U::Own
            ]
        );
        assert!(uses[5..].iter().all(|it| matches!(it, U::Unusable(_))), "{uses:?}");
        assert!(matches!(map.communicator(77), U::Unusable("is not defined")));
    }

    #[test]
    fn without_mpi_the_first_thread_of_each_process_is_a_rank() {
        let mut definitions = archive(&[], &[]);
        definitions.location_groups.extend([(4, 1), (2, 1), (7, 2)]);
        let location = |kind, group| DefinedLocation {
            name: 0,
            kind,
            events: 0,
            group,
        };
        let locations = [
            (1, location(1, 4)),
            (2, location(1, 4)),
            (3, location(3, 2)),
            (5, location(1, 2)),
            (6, location(2, 7)),
        ];
        definitions.locations.extend(locations);
        assert_eq!(RankMap::of(&definitions, "a").expect("ranks").locations, [5, 1]);
        definitions.locations.clear();
        let problem = RankMap::of(&definitions, "a").expect_err("no ranks");
        assert!(problem.reason.contains("no ranks"), "{problem}");
    }

    #[test]
    fn a_location_is_one_rank() {
        let problem = RankMap::of(&archive(&[group(4, 4, 0, &[3, 1, 3])], &[]), "a").expect_err("twice");
        assert!(problem.reason.contains("location 3 is rank 0 and rank 2"), "{problem}");
    }
}
