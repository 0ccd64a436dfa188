//! Communicators of a job as communicators of a trace: parts of its work keep their messages apart, and so do their communicators.

use super::JobOperation;
use crate::operations::CommunicatorRow;
use std::collections::BTreeMap;
use trace::{Kind, Members};

/// A communicator of a part.
#[derive(Default)]
struct GroupFamily {
    /// The group of each rank, by its first rank.
    of: Vec<u32>,
    groups: BTreeMap<u32, Vec<u32>>,
    /// Messages go from group to group.
    crosses: bool,
    /// The trace's number of each group.
    numbers: BTreeMap<u32, u32>,
    /// And that of all ranks, for messages.
    whole: u32,
}

/// The communicators of a job: by part and number.
pub(super) struct TraceGroups {
    ranks: u32,
    families: BTreeMap<(u32, u32), GroupFamily>,
    members: Vec<Members>,
}

impl TraceGroups {
    pub fn new(rows: &[CommunicatorRow]) -> TraceGroups {
        let mut families: BTreeMap<(u32, u32), GroupFamily> = BTreeMap::new();
        let ranks = rows.iter().map(|row| row.rank + 1).max().unwrap_or(0);
        for row in rows {
            let family = families.entry((row.part, row.communicator)).or_default();
            family.of.resize(ranks as usize, row.group);
            family.of[row.rank as usize] = row.group;
            // Rows come in the order of numbers.
            family.groups.entry(row.group).or_default().push(row.rank);
        }
        TraceGroups {
            ranks,
            families,
            members: Vec::new(),
        }
    }

    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Whether a part is of the job's work.
    pub fn has(&self, part: u32) -> bool {
        self.families.contains_key(&(part, 0))
    }

    /// Sees whom an operation talks to.
    pub fn see(&mut self, row: &JobOperation) {
        let cells = &row.cells;
        let Some(communicator) = cells.communicator.filter(|_| row.kind.sends() || row.kind.receives()) else {
            return;
        };
        let Some(family) = self.families.get_mut(&(row.part, communicator)) else {
            return;
        };
        let group = |rank: Option<u32>| rank.and_then(|rank| family.of.get(rank as usize)).copied();
        let own = group(Some(row.rank));
        let others = [Some(cells.peer), (row.kind == Kind::Sendrecv).then_some(cells.source)];
        // Who takes from anybody takes what was sent there: it is for the sends to say whether messages leave their group.
        let crosses = others
            .into_iter()
            .flatten()
            .flatten()
            .any(|other| group(Some(other)) != own);
        family.crosses |= crosses && family.groups.len() > 1;
    }

    /// Gives the communicators their numbers in the trace: the first is that of all ranks.
    pub fn number(&mut self) {
        self.members.push(Members::all(self.ranks));
        let first = self.families.keys().next().copied();
        for (key, family) in &mut self.families {
            for (group, ranks) in &family.groups {
                let number = if Some(*key) == first {
                    0
                } else {
                    self.members.len() as u32
                };
                if number > 0 {
                    self.members.push(Members::of(ranks.clone()));
                }
                family.numbers.insert(*group, number);
            }
            if family.crosses {
                family.whole = self.members.len() as u32;
                self.members.push(Members::all(self.ranks));
            }
        }
    }

    /// The members of each.
    pub fn members(&self) -> Vec<Members> {
        self.members.clone()
    }

    /// The communicator of a collective of a rank.
    pub fn of_collective(&self, part: u32, communicator: u32, rank: u32) -> u32 {
        let family = self.families.get(&(part, communicator));
        let number = family.and_then(|family| family.numbers.get(family.of.get(rank as usize)?));
        number.copied().unwrap_or(trace::operation::WORLD)
    }

    /// The communicator of a message of a rank.
    pub fn of_message(&self, part: u32, communicator: u32, rank: u32) -> u32 {
        match self.families.get(&(part, communicator)) {
            Some(family) if family.crosses => family.whole,
            _ => self.of_collective(part, communicator, rank),
        }
    }
}
