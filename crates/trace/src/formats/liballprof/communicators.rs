//! Who is in a communicator.
//!
//! A call tells a communicator by a number that means nothing on other ranks, with the rank's own number in it and its size. A new one is the
//! first that MPI_Comm_split of all ranks gave the rank with that number in it and that size, or else, if it has all ranks, that of all.

use super::call::NamedComm;
use crate::header::Members;
use crate::operation::WORLD;
use crate::problem::Problem;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// What all ranks said in their calls of MPI_Comm_split of all ranks.
#[derive(Default)]
pub(super) struct Splits {
    rank: u32,
    /// By turn: rank, colour, key and line.
    turns: Vec<Vec<(u32, i64, i64, u64)>>,
    turn: usize,
}

/// A communicator as one of its ranks has it: its number in the trace, the rank's number in it, and its size.
pub(super) type Membership = (u32, u32, u32);

/// What these calls made.
pub(super) struct SplitResults {
    /// Members of all communicators, that of all ranks first.
    pub(super) members: Vec<Members>,
    /// By rank, for each of its calls.
    pub(super) made: HashMap<u32, Vec<Option<Membership>>>,
    pub(super) problems: Vec<Problem>,
}

impl Splits {
    /// Calls of another rank follow.
    pub(super) fn begin(&mut self, rank: u32) {
        (self.rank, self.turn) = (rank, 0);
    }

    /// The rank calls it.
    pub(super) fn note(&mut self, colour: i64, key: i64, line: u64) {
        if self.turns.len() <= self.turn {
            self.turns.push(Vec::new());
        }
        self.turns[self.turn].push((self.rank, colour, key, line));
        self.turn += 1;
    }

    /// What they make.
    pub(super) fn results(&self, ranks: u32, files: &[String]) -> SplitResults {
        let mut results = SplitResults {
            members: vec![Members::all(ranks)],
            made: HashMap::new(),
            problems: Vec::new(),
        };
        for calls in &self.turns {
            let whole = calls.len() == ranks as usize;
            let mut parts: BTreeMap<i64, Vec<(i64, u32)>> = BTreeMap::new();
            for &(rank, colour, key, _) in calls.iter().filter(|_| whole) {
                // A colour below 0 is none.
                if colour >= 0 {
                    parts.entry(colour).or_default().push((key, rank));
                }
            }
            for &(rank, ..) in calls {
                results.made.entry(rank).or_default().push(None);
            }
            for mut part in parts.into_values() {
                part.sort_unstable();
                let communicator = results.members.len() as u32;
                let size = part.len() as u32;
                for (number, (_, rank)) in part.iter().enumerate() {
                    if let Some(last) = results.made.get_mut(rank).and_then(|made| made.last_mut()) {
                        *last = Some((communicator, number as u32, size));
                    }
                }
                results
                    .members
                    .push(Members::of(part.into_iter().map(|(_, rank)| rank).collect()));
            }
            if !whole && let Some(&(rank, _, _, line)) = calls.first() {
                let reason = format!("MPI_Comm_split of {ranks} ranks is called by {}", calls.len());
                let file = files.get(rank as usize).cloned().unwrap_or_default();
                let problem = Problem::new(file, reason, "what goes over what it makes is left out");
                results.problems.push(problem.of_rank(rank).at(line));
            }
        }
        results
    }
}

/// A communicator of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// Of the rank alone.
    Alone,
    /// With a number in the trace.
    Known(u32),
}

/// The communicators of a rank on its way.
pub(super) struct Comms<'a> {
    ranks: u32,
    rank: u32,
    results: &'a SplitResults,
    /// Calls of MPI_Comm_split so far.
    splits: usize,
    /// What has been made and not been used, by own number and size.
    unused: HashMap<(u32, u32), VecDeque<u32>>,
    bound: HashMap<i128, (NamedComm, Whose)>,
}

impl<'a> Comms<'a> {
    pub(super) fn new(ranks: u32, rank: u32, results: &'a SplitResults) -> Self {
        Comms {
            ranks,
            rank,
            results,
            splits: 0,
            unused: HashMap::new(),
            bound: HashMap::new(),
        }
    }

    /// The rank has called MPI_Comm_split of all ranks.
    pub(super) fn split(&mut self) {
        let made = self.results.made.get(&self.rank).and_then(|made| made.get(self.splits));
        if let Some((communicator, number, size)) = made.copied().flatten() {
            self.unused.entry((number, size)).or_default().push_back(communicator);
        }
        self.splits += 1;
    }

    /// The rank has copied a communicator: the copy is taken as the same.
    pub(super) fn copy(&mut self, named: NamedComm) {
        if let Some(Whose::Known(communicator)) = self.find(named) {
            let unused = self.unused.entry((named.rank, named.size)).or_default();
            unused.push_back(communicator);
        }
    }

    /// Which communicator is meant; nothing if it is not known.
    pub(super) fn find(&mut self, named: NamedComm) -> Option<Whose> {
        if let Some((before, whose)) = self.bound.get(&named.number)
            && *before == named
        {
            return Some(*whose);
        }
        let unused = self.unused.get_mut(&(named.rank, named.size));
        let whose = match unused.and_then(VecDeque::pop_front) {
            Some(communicator) => Whose::Known(communicator),
            None if named.size == self.ranks && named.rank == self.rank => Whose::Known(WORLD),
            None if named.size == 1 => Whose::Alone,
            None => return None,
        };
        self.bound.insert(named.number, (named, whose));
        Some(whose)
    }
}
