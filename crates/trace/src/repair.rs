//! A trace without what does not match in it: what `--repair drop` hands on.
//!
//! A finished [`Check`] says what that is; a second pass over the same trace leaves it out and counts it. Left out are: ends of messages that
//! meet nothing, the last ones of their kind; messages that are larger than their receive, with it; steps of a communicator that
//! not all of its ranks come to, or not in the same way; operations whose fields name what is not there; and waits for requests that
//! are then never started. In a [graph](TraceForm::Graph) a computation of no time takes their place, so that what depends on them still does.
//!
//! What stays: requests that are started again while they are pending, circles of dependencies, and times that go back.

use crate::check::{ByRank, Check, GivenNames, KnownCommunicators, Side, TraceFindings, halves, starts, wrong};
use crate::header::{TraceForm, TraceHeader};
use crate::operation::{Kind, Lists, NONE, Operation};
use crate::problem::ReadStop;
use crate::sink::TraceSink;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Hands on a trace without what does not match.
#[derive(Debug)]
pub struct Repair<'c, S> {
    check: &'c Check,
    inner: S,
    communicators: KnownCommunicators,
    ranks: ByRank<RepairedRank>,
    /// Collectives that a rank has come to: (communicator, rank).
    steps: HashMap<(u32, u32), u64>,
    left_out: BTreeMap<&'static str, u64>,
    listed: Vec<u64>,
}

#[derive(Debug, Default)]
struct RepairedRank {
    operations: u32,
    /// Requests that were started and are handed on.
    started: GivenNames,
    /// GivenNames of requests whose last start is left out.
    gone: BTreeSet<u32>,
}

/// What becomes of an operation.
enum OperationFate {
    Stays,
    Becomes(Operation),
    /// It stays, with those of its listed requests that are there.
    Relisted(Operation),
    IsLeftOut,
}

impl<'c, S: TraceSink> Repair<'c, S> {
    /// Hands on to `inner` what `check`, which is over, has found right in the same trace.
    pub fn new(check: &'c Check, inner: S) -> Repair<'c, S> {
        Repair {
            check,
            inner,
            communicators: KnownCommunicators::default(),
            ranks: ByRank::default(),
            steps: HashMap::new(),
            left_out: BTreeMap::new(),
            listed: Vec::new(),
        }
    }

    /// How many operations were left out, by kind; of a [`Kind::Sendrecv`] of which one end is left out, that end as `send` or `recv`.
    pub fn left_out(&self) -> &BTreeMap<&'static str, u64> {
        &self.left_out
    }

    /// Who takes the rest.
    pub fn into_inner(self) -> S {
        self.inner
    }

    fn fate(&mut self, rank: u32, number: u32, operation: &Operation, lists: &Lists<'_>) -> OperationFate {
        let wrong = wrong(self.check.header(), &self.communicators, rank, operation, lists);
        let has_partners = wrong.as_ref().is_none_or(|wrong| wrong.has_partners);
        let kind = operation.kind;
        if kind.is_collective() && has_partners {
            let step = self.steps.entry((operation.communicator, rank)).or_default();
            let own = *step;
            *step += 1;
            let disputed = self.check.mismatches().collectives.get(&operation.communicator);
            if disputed.is_some_and(|disputed| own >= disputed.common || disputed.steps.binary_search(&own).is_ok()) {
                return OperationFate::IsLeftOut;
            }
        }
        if wrong.is_some() {
            return OperationFate::IsLeftOut;
        }
        match kind {
            Kind::Wait | Kind::Waitall | Kind::Waitany | Kind::Test => self.fate_of_wait(rank, operation, lists),
            _ => self.fate_of_message(rank, number, operation),
        }
    }

    /// What becomes of an operation whose ends of messages may meet nothing.
    fn fate_of_message(&self, rank: u32, number: u32, operation: &Operation) -> OperationFate {
        let unmatched = &self.check.mismatches().messages;
        let meets = halves(rank, operation, false).map(|half| {
            half.map(|half| {
                let tail = unmatched.tails.get(&(half.side, half.receiver, half.key));
                let single = unmatched.single.contains(&(rank, number, half.side));
                (half.side, tail.is_none_or(|from| number < *from) && !single)
            })
        });
        match meets {
            [Some((_, true)) | None, Some((_, true)) | None] => OperationFate::Stays,
            [Some((Side::Send, true)), _] => OperationFate::Becomes(operation.sending_half()),
            [_, Some((Side::Receive, true))] => OperationFate::Becomes(operation.receiving_half()),
            _ => OperationFate::IsLeftOut,
        }
    }

    /// What becomes of a wait, some of whose requests may never be started.
    fn fate_of_wait(&mut self, rank: u32, operation: &Operation, lists: &Lists<'_>) -> OperationFate {
        let of_rank = self.ranks.of(rank);
        let there = |request: u64| {
            let name = u32::try_from(request).unwrap_or(NONE);
            of_rank.started.has(name) && !of_rank.gone.contains(&name)
        };
        self.listed.clear();
        self.listed
            .extend(lists.values.iter().copied().filter(|&request| there(request)));
        let complete = self.listed.len() == lists.values.len();
        let names_one = operation.kind == Kind::Wait || operation.request != NONE && operation.kind != Kind::Waitall;
        let one_is_gone = names_one && !there(operation.request.into());
        let none_is_left = self.listed.is_empty() && (one_is_gone || !complete);
        match (complete, one_is_gone) {
            (true, false) => OperationFate::Stays,
            _ if none_is_left && (one_is_gone || operation.request == NONE) => OperationFate::IsLeftOut,
            (_, true) => OperationFate::Relisted(Operation {
                request: NONE,
                ..*operation
            }),
            _ => OperationFate::Relisted(*operation),
        }
    }

    fn leave_out(&mut self, rank: u32, record: u64, operation: &Operation, lists: &Lists<'_>) -> Result<(), ReadStop> {
        *self.left_out.entry(operation.kind.name()).or_default() += 1;
        if self.check.header().form == TraceForm::Program {
            return Ok(());
        }
        let nothing = Operation {
            lane: operation.lane,
            region: operation.region,
            start: operation.start,
            ..Operation::compute(0)
        };
        let lists = Lists { values: &[], ..*lists };
        self.inner.operation(rank, record, &nothing, &lists)
    }
}

impl<S: TraceSink> TraceSink for Repair<'_, S> {
    fn begin(&mut self, header: &TraceHeader) -> Result<(), ReadStop> {
        if header != self.check.header() {
            return Err(ReadStop::Refused(
                "the trace is another than the one that was checked".into(),
            ));
        }
        self.communicators = KnownCommunicators::of(header, &mut TraceFindings::default());
        self.ranks = ByRank::default();
        self.steps.clear();
        self.left_out.clear();
        // What is left is whole.
        self.inner.begin(&TraceHeader {
            incomplete: None,
            ..header.clone()
        })
    }

    fn operation(&mut self, rank: u32, record: u64, operation: &Operation, lists: &Lists<'_>) -> Result<(), ReadStop> {
        let of_rank = self.ranks.of(rank);
        let number = of_rank.operations;
        of_rank.operations = number.saturating_add(1);
        let fate = self.fate(rank, number, operation, lists);
        if starts(operation.kind) && operation.request != NONE {
            let RepairedRank { started, gone, .. } = self.ranks.of(rank);
            match fate {
                OperationFate::IsLeftOut => {
                    gone.insert(operation.request);
                }
                _ => {
                    gone.remove(&operation.request);
                    started.add(operation.request);
                }
            }
        }
        match fate {
            OperationFate::Stays => self.inner.operation(rank, record, operation, lists),
            OperationFate::IsLeftOut => self.leave_out(rank, record, operation, lists),
            OperationFate::Becomes(other) => {
                let end = if other.kind == Kind::Send {
                    Kind::Recv
                } else {
                    Kind::Send
                };
                *self.left_out.entry(end.name()).or_default() += 1;
                self.inner.operation(rank, record, &other, lists)
            }
            OperationFate::Relisted(other) => {
                let lists = Lists {
                    values: &self.listed,
                    ..*lists
                };
                self.inner.operation(rank, record, &other, &lists)
            }
        }
    }

    fn end(&mut self, names: &[String]) -> Result<(), ReadStop> {
        self.inner.end(names)
    }
}
