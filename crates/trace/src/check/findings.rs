//! What was found wrong: kept up to a number, by kind and rank, and counted beyond.

use crate::header::TraceHeader;
use crate::problem::Problem;
use crate::sink::MOST_PROBLEMS;
use std::collections::BTreeMap;

/// Problems of a kind that are kept of each rank.
const MOST_OF_A_RANK: u32 = 10;

/// What a problem is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum About {
    Whole,
    Communicators,
    Fields,
    Regions,
    Times,
    Requests,
    Dependencies,
    Messages,
    Collectives,
}

/// An operation of a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OperationPlace {
    /// Whose.
    pub rank: u32,
    /// Its number among the operations of the rank.
    pub number: u32,
    /// Its record in the file.
    pub record: u64,
}

/// Problems as they are found.
#[derive(Debug, Default)]
pub(crate) struct TraceFindings {
    problems: Vec<Problem>,
    more: u64,
    told: BTreeMap<(About, Option<u32>), u32>,
}

impl TraceFindings {
    /// Something wrong with the trace as a whole.
    pub fn tell(&mut self, header: &TraceHeader, about: About, words: impl FnOnce() -> (String, String)) {
        if self.has_room(about, None) {
            let (reason, hint) = words();
            let file = header.files.first().map_or("", String::as_str);
            self.problems.push(Problem::new(file, reason, hint));
        }
    }

    /// Something wrong with an operation.
    pub fn tell_at(
        &mut self,
        header: &TraceHeader,
        about: About,
        place: OperationPlace,
        words: impl FnOnce() -> (String, String),
    ) {
        if self.has_room(about, Some(place.rank)) {
            let (reason, hint) = words();
            let problem = Problem::new(header.file(place.rank), reason, hint);
            self.problems.push(problem.of_rank(place.rank).at(place.record));
        }
    }

    /// Something wrong with a rank.
    pub fn tell_of(&mut self, header: &TraceHeader, about: About, rank: u32, words: impl FnOnce() -> (String, String)) {
        if self.has_room(about, Some(rank)) {
            let (reason, hint) = words();
            let problem = Problem::new(header.file(rank), reason, hint);
            self.problems.push(problem.of_rank(rank));
        }
    }

    /// Whether no more are kept.
    pub fn is_full(&self) -> bool {
        self.problems.len() >= MOST_PROBLEMS
    }

    /// So many more that are not kept.
    pub fn count(&mut self, more: u64) {
        self.more += more;
    }

    /// All of them, in the order of ranks and records, and how many more there were.
    pub fn into_sorted(mut self) -> (Vec<Problem>, u64) {
        self.problems.sort_by_key(|problem| (problem.rank, problem.record));
        (self.problems, self.more)
    }

    /// Whether one more is kept; counts it if it is not.
    fn has_room(&mut self, about: About, rank: Option<u32>) -> bool {
        if self.problems.len() < MOST_PROBLEMS {
            let told = self.told.entry((about, rank)).or_default();
            if *told < MOST_OF_A_RANK {
                *told += 1;
                return true;
            }
        }
        self.more += 1;
        false
    }
}
