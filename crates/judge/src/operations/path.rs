//! The critical path: the chain of work and messages, back from the last rank's end, on which nothing waited for anything else.
//!
//! A rank that waited goes on when a message ends its wait; what came before it lies at the rank that set the message off. Walking back from
//! the end of the last rank gives pieces that follow each other without a gap: shorten one of them and the end comes sooner, until
//! another chain is the longest.

use super::{HeldUp, OperationTimes, RankTimes, WaitTimes};
use fabric::mpi::RankRow;
use fabric::observe::Cause;

/// What a piece of the path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathPart {
    /// A rank computed.
    Compute,
    /// A rank was busy with messages: overheads, copies, combinations.
    Overhead,
    /// A message was under way between the rank and the peer, its queues and its protocol included.
    Message,
    /// A rank waited for what its interface answered by itself.
    Wait,
}

impl PathPart {
    /// Its name in tables.
    pub fn word(self) -> &'static str {
        match self {
            PathPart::Compute => "compute",
            PathPart::Overhead => "overhead",
            PathPart::Message => "message",
            PathPart::Wait => "wait",
        }
    }
}

/// A piece of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathPiece {
    /// The job.
    pub job: u32,
    /// The rank that it is on; of a message the one that waited for it.
    pub rank: u32,
    /// The rank at the other end of a message; the rank itself of everything else.
    pub peer: u32,
    /// What it is.
    pub part: PathPart,
    /// When it begins (ps).
    pub begin: u64,
    /// When it ends (ps).
    pub end: u64,
    /// Where a message was held up longest, if it went over the network.
    pub held_up: Option<HeldUp>,
}

/// The critical path of a job with these ranks, from the begin of the job to its end; empty where a rank has not come to its end.
///
/// O(p log n) for a path of p pieces over n operations and waits.
pub fn critical_path(times: &RankTimes, ranks: &[RankRow]) -> Vec<PathPiece> {
    let Some(job) = ranks.first().map(|row| row.job) else {
        return Vec::new();
    };
    if ranks.iter().any(|row| !row.is_done()) {
        return Vec::new();
    }
    let Some(last) = ranks
        .iter()
        .max_by_key(|row| (row.finished, std::cmp::Reverse(row.rank)))
    else {
        return Vec::new();
    };
    let mut walk = Walk {
        waits: of_job(&times.waits, job, |wait| wait.job),
        operations: of_job(&times.operations, job, |operation| operation.job),
        limit: std::collections::BTreeMap::new(),
        job,
        pieces: Vec::new(),
    };
    walk.back(ranks, last.rank, last.finished);
    walk.pieces.reverse();
    walk.pieces
}

/// The rows of a job among rows in order.
fn of_job<T>(rows: &[T], job: u32, of: impl Fn(&T) -> u32) -> &[T] {
    let begin = rows.partition_point(|row| of(row) < job);
    let end = rows.partition_point(|row| of(row) <= job);
    &rows[begin..end]
}

struct Walk<'a> {
    waits: &'a [WaitTimes],
    operations: &'a [OperationTimes],
    /// By rank: waits from here on are behind the path.
    limit: std::collections::BTreeMap<u32, usize>,
    job: u32,
    pieces: Vec<PathPiece>,
}

impl Walk<'_> {
    /// Walks back from a time at a rank to the begin of the job.
    fn back(&mut self, ranks: &[RankRow], mut rank: u32, mut time: u64) {
        loop {
            let begun = ranks.get(rank as usize).map_or(0, |row| row.begun);
            let Some(place) = self.last_wait(rank, time) else {
                self.work(rank, begun.min(time), time);
                // What lies before the begin of a rank is no part of the job's work.
                return;
            };
            self.limit.insert(rank, place);
            let wait = self.waits[place];
            if wait.end > time {
                // The interface acted while the rank waited.
                self.piece(rank, wait.peer, PathPart::Wait, wait.begin, time);
                time = wait.begin;
                continue;
            }
            self.work(rank, wait.end, time);
            let since = wait.since.min(wait.end);
            self.piece(rank, wait.peer, PathPart::Message, since, wait.end);
            if let Some(message) = self.pieces.last_mut().filter(|piece| piece.part == PathPart::Message) {
                message.held_up = wait.held_up;
            }
            time = since;
            if wait.cause != Cause::Answered {
                rank = wait.peer;
            }
        }
    }

    /// The last wait of a rank that began before a time and is not behind the path.
    fn last_wait(&self, rank: u32, time: u64) -> Option<usize> {
        let first = self.waits.partition_point(|wait| wait.rank < rank);
        let end = self
            .waits
            .partition_point(|wait| (wait.rank, wait.begin) < (rank, time));
        let end = self.limit.get(&rank).map_or(end, |&limit| limit.min(end));
        (end > first).then(|| end - 1)
    }

    /// Tells what a rank did from one time to another.
    fn work(&mut self, rank: u32, begin: u64, end: u64) {
        let mut time = end;
        let mut place = self
            .operations
            .partition_point(|operation| (operation.rank, operation.begin) < (rank, end));
        while time > begin {
            let operation = place.checked_sub(1).and_then(|place| self.operations.get(place));
            let operation = operation.filter(|operation| operation.rank == rank);
            let (from, part) = match operation {
                Some(operation) if operation.word == "compute" => (operation.begin, PathPart::Compute),
                Some(operation) => (operation.begin, PathPart::Overhead),
                None => (begin, PathPart::Overhead),
            };
            self.piece(rank, rank, part, from.max(begin), time);
            time = from.max(begin);
            place = place.saturating_sub(1);
        }
    }

    /// Tells a piece, put together with the one after it where they are alike.
    fn piece(&mut self, rank: u32, peer: u32, part: PathPart, begin: u64, end: u64) {
        if begin >= end {
            return;
        }
        if let Some(next) = self.pieces.last_mut()
            && part != PathPart::Message
            && (next.rank, next.peer, next.part, next.begin) == (rank, peer, part, end)
        {
            next.begin = begin;
            return;
        }
        self.pieces.push(PathPiece {
            job: self.job,
            rank,
            peer,
            part,
            begin,
            end,
            held_up: None,
        });
    }
}
