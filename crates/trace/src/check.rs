//! What is wrong with a trace as a whole, seen in one pass: ends of messages that do not meet, collectives that ranks do not agree on,
//! requests, dependencies, times, and fields that name what is not there.
//!
//! [`Check`] is a [`TraceSink`]: it sees ranks one after the other or in turn, and has every problem when the trace is over. What it keeps does
//! not grow with the number of messages where ends are sent and received in the usual way: what waits for its other end is kept as runs
//! of messages of one size; collectives are kept once for all ranks of a communicator; dependencies only while some of them point ahead.
//!
//! What is not checked: whether an order of waits can end, which the run shows; that requests of a [graph](TraceForm::Graph) are used in
//! order, as it has none; that a request is waited for, as MPI lets a program free it ([`CheckFigures::requests_left`] counts them).

mod by_rank;
mod collectives;
mod communicators;
mod fields;
mod findings;
mod graph;
mod messages;
mod queue;
mod requests;
#[cfg(test)]
mod tests;

pub use fields::LARGEST;

pub(crate) use by_rank::ByRank;
pub(crate) use collectives::Disputed;
pub(crate) use communicators::KnownCommunicators;
pub(crate) use fields::wrong;
pub(crate) use findings::TraceFindings;
pub(crate) use messages::{Side, Unmatched, halves};
pub(crate) use requests::{GivenNames, starts};

use crate::header::{TraceForm, TraceHeader};
use crate::operation::{Lists, NONE, Operation};
use crate::problem::{Problem, ReadStop};
use crate::sink::TraceSink;
use collectives::Collectives;
use findings::{About, OperationPlace};
use graph::OpenDependencies;
use messages::Messages;
use requests::Requests;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Most ranks of a trace that is checked.
const MOST_RANKS: u32 = 1 << 26;

/// CheckFigures of what a check has found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckFigures {
    /// Operations that were looked at.
    pub operations: u64,
    /// Sends whose message no rank receives.
    pub unmatched_sends: u64,
    /// Receives of messages that no rank sends.
    pub unmatched_receives: u64,
    /// Receives that are smaller than their message.
    pub small_receives: u64,
    /// Operations of collectives that ranks of their communicator do not come to, or come to in another way.
    pub unmatched_collectives: u64,
    /// Requests that nobody waits for; that is no problem, as MPI lets a program free them.
    pub requests_left: u64,
    /// Problems, those that are not told one by one included.
    pub problems: u64,
}

/// Looks at a whole trace.
#[derive(Debug)]
pub struct Check {
    header: TraceHeader,
    communicators: KnownCommunicators,
    findings: TraceFindings,
    messages: Messages,
    collectives: Collectives,
    ranks: ByRank<CheckedRank>,
    /// When the last operation of a rank began, on lanes other than its own: (rank, lane).
    other_lanes: HashMap<(u32, u8), u64>,
    /// The operation with the largest number of a region.
    region: Option<(u32, OperationPlace)>,
    figures: CheckFigures,
    problems: Vec<Problem>,
    more: u64,
    mismatches: Mismatches,
}

/// What is kept of a rank.
#[derive(Debug, Default)]
struct CheckedRank {
    operations: u32,
    /// When its last operation began, on its own lane.
    start: u64,
    requests: Requests,
    dependencies: OpenDependencies,
}

/// What a check has found that can be left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mismatches {
    /// Ends of messages.
    pub messages: Unmatched,
    /// By communicator.
    pub collectives: BTreeMap<u32, Disputed>,
}

impl Default for Check {
    fn default() -> Check {
        Check {
            header: TraceHeader::new("", 0, TraceForm::Program),
            communicators: KnownCommunicators::default(),
            findings: TraceFindings::default(),
            messages: Messages::default(),
            collectives: Collectives::default(),
            ranks: ByRank::default(),
            other_lanes: HashMap::new(),
            region: None,
            figures: CheckFigures::default(),
            problems: Vec::new(),
            more: 0,
            mismatches: Mismatches::default(),
        }
    }
}

impl Check {
    /// What is wrong, when the trace is over: by rank and record, at most ten of a kind for each rank and
    /// [`MOST_PROBLEMS`](crate::sink::MOST_PROBLEMS) in all.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// How many problems more there are.
    pub fn more(&self) -> u64 {
        self.more
    }

    /// CheckFigures, when the trace is over.
    pub fn figures(&self) -> &CheckFigures {
        &self.figures
    }

    pub(crate) fn header(&self) -> &TraceHeader {
        &self.header
    }

    pub(crate) fn mismatches(&self) -> &Mismatches {
        &self.mismatches
    }

    /// Whether the recorded start of an operation is before that of the one before it.
    fn check_time(&mut self, place: OperationPlace, operation: &Operation) {
        // Zero is not told, and what a graph has done first is not what it lists first.
        if operation.start == 0 || self.header.form == TraceForm::Graph {
            return;
        }
        let last = match operation.lane {
            0 => &mut self.ranks.of(place.rank).start,
            lane => self.other_lanes.entry((place.rank, lane)).or_default(),
        };
        if operation.start < *last {
            let before = *last;
            self.findings.tell_at(&self.header, About::Times, place, || {
                let (rank, start) = (place.rank, operation.start);
                let reason =
                    format!("time goes back: rank {rank} begins this at {start} ps, the one before at {before} ps");
                (
                    reason,
                    "record it again with synchronised clocks, or put its operations in order".into(),
                )
            });
        }
        *last = operation.start;
    }
}

impl TraceSink for Check {
    fn begin(&mut self, header: &TraceHeader) -> Result<(), ReadStop> {
        if header.ranks > MOST_RANKS {
            let words = format!("{} ranks are too many, there may be {MOST_RANKS}", header.ranks);
            return Err(ReadStop::Refused(words));
        }
        *self = Check {
            header: header.clone(),
            messages: Messages::of(header),
            ..Check::default()
        };
        if let Some(reason) = &header.incomplete {
            self.findings.tell(header, About::Whole, || {
                let words = format!("it is incomplete, and ends where its run did: {reason}");
                (
                    words,
                    "what has a counterpart in it can be taken, the rest left out: --repair drop".to_owned(),
                )
            });
        }
        self.communicators = KnownCommunicators::of(header, &mut self.findings);
        Ok(())
    }

    fn operation(&mut self, rank: u32, record: u64, operation: &Operation, lists: &Lists<'_>) -> Result<(), ReadStop> {
        let of_rank = self.ranks.of(rank);
        let number = of_rank.operations;
        // What depends on operations names them with 32 bits.
        of_rank.operations = number
            .checked_add(1)
            .ok_or_else(|| ReadStop::Refused(format!("rank {rank} has more than {} operations", u32::MAX)))?;
        let place = OperationPlace { rank, number, record };
        self.figures.operations += 1;
        let Check { header, findings, .. } = self;
        let of_rank = self.ranks.of(rank);
        if !lists.after.is_empty() || !lists.after_start.is_empty() || header.form == TraceForm::Graph {
            of_rank.dependencies.take(header, place, lists, findings);
        }
        if header.form == TraceForm::Program {
            let mut tell = |misuse: requests::Misuse| {
                findings.tell_at(header, About::Requests, place, || misuse.words(rank));
            };
            of_rank.requests.take(record, operation, lists, &mut tell);
        }
        if operation.region != NONE && self.region.is_none_or(|(most, _)| operation.region > most) {
            self.region = Some((operation.region, place));
        }
        let wrong = wrong(header, &self.communicators, rank, operation, lists);
        let is_wrong = wrong.is_some();
        let has_partners = wrong.as_ref().is_none_or(|wrong| wrong.has_partners);
        if let Some(wrong) = wrong {
            findings.tell_at(header, About::Fields, place, || (wrong.reason, wrong.hint));
        }
        if has_partners && operation.kind.is_collective() {
            if self.communicators.is_sound(operation.communicator) {
                self.collectives
                    .take(header, place, (operation, lists), is_wrong, findings);
            }
        } else if has_partners {
            for half in halves(rank, operation, is_wrong).iter().flatten() {
                self.messages.take(half, place);
            }
        }
        self.check_time(place, operation);
        Ok(())
    }

    fn end(&mut self, names: &[String]) -> Result<(), ReadStop> {
        let Check { header, findings, .. } = self;
        if let Some((region, place)) = self.region
            && region as usize >= names.len()
        {
            findings.tell_at(header, About::Regions, place, || {
                let reason = format!("region {region} has no name");
                (reason, format!("there are {} names of regions", names.len()))
            });
        }
        for (rank, mut of_rank) in std::mem::take(&mut self.ranks).into_sorted() {
            of_rank.dependencies.end(header, rank, findings);
            self.figures.requests_left += of_rank.requests.left();
        }
        self.mismatches.messages = std::mem::take(&mut self.messages).end(header, findings);
        let collectives = std::mem::take(&mut self.collectives);
        (self.mismatches.collectives, self.figures.unmatched_collectives) = collectives.end(header, findings);
        (self.problems, self.more) = std::mem::take(findings).into_sorted();
        self.figures.unmatched_sends = self.mismatches.messages.sends;
        self.figures.unmatched_receives = self.mismatches.messages.receives;
        self.figures.small_receives = self.mismatches.messages.small;
        self.figures.problems = self.problems.len() as u64 + self.more;
        Ok(())
    }
}
