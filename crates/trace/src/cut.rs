//! A part of a trace: some of its ranks, a time, or a region of the program.
//!
//! An operation is taken whole where it was begun. What is cut in two is left out on both sides and counted:
//!
//! * a message of which one end is outside: the n-th message between two ranks with a tag and a communicator is received by the n-th receive
//!   of these, so that with the part it is known which ends remain without the other one; of a `sendrecv` the other end stays;
//! * a collective that a rank of the part comes to outside of it; one whose root is outside;
//! * waits for requests that were begun outside.
//!
//! Ranks are numbered anew, communicators keep their ranks of the part. Which message a receive from any rank or of any tag takes is not
//! told: with its rank's other messages it stays as it is, and is counted. In a [graph](TraceForm::Graph) a computation of no time takes the
//! place of what is left out, so that what depends on it still does.

mod plan;
mod restrict;
mod select;

pub use select::TracePart;

use crate::header::{TraceForm, TraceHeader};
use crate::operation::{ANY_SOURCE, ANY_TAG, Kind, Lists, NONE, Operation};
use crate::problem::ReadStop;
use crate::sink::TraceSink;
use plan::{CutPlan, MessageEnd};
use restrict::Communicators;
use select::Selection;
use std::collections::{BTreeMap, HashSet};

/// Knows after one pass over a trace which ends of messages and which collectives are in the part with all that they need.
pub(crate) struct Planner {
    selection: Selection,
    plan: CutPlan,
    header: TraceHeader,
    /// When the last operation began.
    last: u64,
}

impl Planner {
    pub(crate) fn new(part: &TracePart, region: Option<u32>) -> Planner {
        Planner {
            selection: Selection::new(part, region),
            plan: CutPlan::default(),
            header: TraceHeader::new("", 0, TraceForm::Program),
            last: 0,
        }
    }
}

impl TraceSink for Planner {
    fn begin(&mut self, header: &TraceHeader) -> Result<(), ReadStop> {
        self.header = header.clone();
        self.selection.begin(header)
    }

    fn operation(
        &mut self,
        rank: u32,
        _record: u64,
        operation: &Operation,
        _lists: &Lists<'_>,
    ) -> Result<(), ReadStop> {
        self.last = self.last.max(operation.start);
        let selected = self.selection.takes(rank, operation);
        if !self.selection.has_rank(rank) {
            return Ok(());
        }
        if operation.kind.is_collective() {
            self.plan.comes(operation.communicator, rank, selected);
        }
        for (side, channel) in ends(rank, operation).into_iter().flatten() {
            match channel {
                Some(channel) => self.plan.end(channel, side, selected),
                None => self.plan.takes_any(rank),
            }
        }
        Ok(())
    }

    fn end(&mut self, _names: &[String]) -> Result<(), ReadStop> {
        if self.selection.needs_times() && self.last == 0 {
            return Err(ReadStop::Refused(
                "it does not tell when operations began: cut it by ranks or by a region".into(),
            ));
        }
        let header = &self.header;
        let selection = &self.selection;
        self.plan.finish(|communicator| {
            let members = header.communicators.get(communicator as usize);
            let all: Vec<u32> = members.map(|members| members.iter().collect()).unwrap_or_default();
            all.into_iter().filter(|rank| selection.has_rank(*rank)).collect()
        });
        Ok(())
    }
}

/// Messages of one channel are received in the order in which they are sent: sender, receiver, communicator, tag.
type MessageChannel = (u32, u32, u32, u32);

/// The ends of messages that an operation has, each with its channel; none for a receive that may take from several.
fn ends(rank: u32, operation: &Operation) -> [Option<(MessageEnd, Option<MessageChannel>)>; 2] {
    let Operation {
        kind,
        peer,
        tag,
        source,
        source_tag,
        communicator,
        ..
    } = *operation;
    let sent = kind
        .sends()
        .then_some((MessageEnd::Send, Some((rank, peer, communicator, tag))));
    let (from, tag) = match kind {
        Kind::Sendrecv => (source, source_tag),
        _ => (peer, tag),
    };
    let any = from == ANY_SOURCE || tag == ANY_TAG;
    let received = kind
        .receives()
        .then_some((MessageEnd::Receive, (!any).then_some((from, rank, communicator, tag))));
    [sent, received]
}

/// Hands on a part of a trace.
pub(crate) struct Cutter<'p, S> {
    selection: Selection,
    plan: Option<&'p mut CutPlan>,
    communicators: Communicators,
    form: TraceForm,
    first: u32,
    inner: S,
    /// Requests of each rank that were begun in the part.
    begun: Vec<HashSet<u32>>,
    left_out: BTreeMap<&'static str, u64>,
    any: u64,
    values: Vec<u64>,
}

impl<'p, S: TraceSink> Cutter<'p, S> {
    /// With what one pass has found, if the part is not one of ranks only.
    pub(crate) fn new(
        part: &TracePart,
        region: Option<u32>,
        planner: Option<&'p mut Planner>,
        inner: S,
    ) -> Cutter<'p, S> {
        Cutter {
            selection: Selection::new(part, region),
            plan: planner.map(|planner| &mut planner.plan),
            communicators: Communicators::default(),
            form: TraceForm::Program,
            first: 0,
            inner,
            begun: Vec::new(),
            left_out: BTreeMap::new(),
            any: 0,
            values: Vec::new(),
        }
    }

    /// Operations of the part that were cut in two, by kind.
    pub(crate) fn left_out(&self) -> &BTreeMap<&'static str, u64> {
        &self.left_out
    }

    /// Receives from any rank or of any tag.
    pub(crate) fn any(&self) -> u64 {
        self.any
    }

    /// Whether an end of a message of the part has its other end there.
    fn has_partner(
        &mut self,
        rank: u32,
        (side, channel): (MessageEnd, Option<MessageChannel>),
        selected: bool,
    ) -> bool {
        let Some(channel) = channel else {
            self.any += u64::from(selected);
            return true;
        };
        let other = if side == MessageEnd::Send { channel.1 } else { channel.0 };
        let whole = match &mut self.plan {
            Some(plan) => plan.next(channel, side),
            None => true,
        };
        let takes_any = self.plan.as_ref().is_some_and(|plan| plan.has_any(channel.1));
        debug_assert!(self.selection.has_rank(rank));
        // Somebody whom nobody is said to know is for checks to tell.
        (self.selection.has_rank(other) || other == NONE) && (whole || takes_any)
    }

    /// What remains of an operation of the part; none is left out.
    fn remains(&mut self, rank: u32, operation: &Operation, lists: &Lists<'_>) -> Option<Operation> {
        let kind = operation.kind;
        self.values.clear();
        self.values.extend(lists.values);
        if kind.is_collective() {
            return self.communicators.restricted(operation, &mut self.values);
        }
        match kind {
            Kind::Wait | Kind::Waitall | Kind::Waitany | Kind::Test => self.waits(rank, operation),
            Kind::Put | Kind::Get | Kind::Probe => {
                let any = kind == Kind::Probe && operation.peer == ANY_SOURCE;
                (any || self.selection.has_rank(operation.peer)).then_some(*operation)
            }
            _ => Some(*operation),
        }
    }

    fn waits(&mut self, rank: u32, operation: &Operation) -> Option<Operation> {
        let begun = &self.begun[(rank - self.first) as usize];
        let is_begun = |request: u32| begun.contains(&request);
        let all = operation.kind == Kind::Waitall && self.values.is_empty();
        self.values
            .retain(|request| u32::try_from(*request).is_ok_and(is_begun));
        let mut left = *operation;
        if left.request != NONE && !is_begun(left.request) {
            left.request = NONE;
        }
        (all || left.request != NONE || !self.values.is_empty()).then_some(left)
    }

    fn put(&mut self, rank: u32, record: u64, operation: &Operation, lists: &Lists<'_>) -> Result<(), ReadStop> {
        let mut moved = *operation;
        let shift = |other: &mut u32| {
            if *other < ANY_SOURCE {
                *other -= self.first;
            }
        };
        if !moved.kind.is_collective() && self.selection.has_rank(moved.peer) {
            shift(&mut moved.peer);
        }
        if self.selection.has_rank(moved.source) {
            shift(&mut moved.source);
        }
        moved.start = self.selection.since(moved.start);
        let lists = Lists {
            values: &self.values,
            ..*lists
        };
        self.inner.operation(rank - self.first, record, &moved, &lists)
    }

    /// What remains of the ends of messages: a `sendrecv` may become one of them.
    fn halves(operation: &Operation, sends: bool, receives: bool) -> Option<Operation> {
        match (operation.kind, sends, receives) {
            (_, true, true) => Some(*operation),
            (Kind::Sendrecv, true, false) => Some(operation.sending_half()),
            (Kind::Sendrecv, false, true) => Some(operation.receiving_half()),
            _ => None,
        }
    }
}

impl<S: TraceSink> TraceSink for Cutter<'_, S> {
    fn begin(&mut self, header: &TraceHeader) -> Result<(), ReadStop> {
        self.selection.begin(header)?;
        let ranks = self.selection.ranks();
        self.communicators = Communicators::of(header, &ranks);
        (self.form, self.first) = (header.form, ranks.start);
        self.begun = vec![HashSet::new(); ranks.len()];
        let mut part = header.clone();
        part.ranks = ranks.len() as u32;
        part.communicators = self.communicators.headers();
        if header.files.len() > 1 {
            let files = header.files.iter().skip(ranks.start as usize);
            part.files = files.take(ranks.len()).cloned().collect();
        }
        self.inner.begin(&part)
    }

    fn operation(&mut self, rank: u32, record: u64, operation: &Operation, lists: &Lists<'_>) -> Result<(), ReadStop> {
        let selected = self.selection.takes(rank, operation);
        if !self.selection.has_rank(rank) {
            return Ok(());
        }
        // What counts in a channel or a communicator counts within the part and outside.
        let mut met = [true; 2];
        for (met, end) in met.iter_mut().zip(ends(rank, operation)) {
            *met = end.is_none_or(|end| self.has_partner(rank, end, selected));
        }
        let meets = match (operation.kind.is_collective(), &mut self.plan) {
            (true, Some(plan)) => plan.next_step(operation.communicator, rank),
            _ => true,
        };
        let halves = Self::halves(operation, met[0], met[1]).filter(|_| selected && meets);
        let left = halves.and_then(|operation| self.remains(rank, &operation, lists));
        if operation.request != NONE
            && !matches!(operation.kind, Kind::Wait | Kind::Waitall | Kind::Waitany | Kind::Test)
        {
            let begun = &mut self.begun[(rank - self.first) as usize];
            match left {
                Some(_) => begun.insert(operation.request),
                None => begun.remove(&operation.request),
            };
        }
        let half = left.is_some_and(|left| left.kind != operation.kind);
        if selected && (left.is_none() || half) {
            let kind = match left.map(|left| left.kind) {
                Some(Kind::Send) => Kind::Recv,
                Some(_) => Kind::Send,
                None => operation.kind,
            };
            *self.left_out.entry(kind.name()).or_default() += 1;
        }
        match left {
            Some(left) => self.put(rank, record, &left, lists),
            None if self.form == TraceForm::Graph => {
                self.values.clear();
                let nothing = Operation {
                    lane: operation.lane,
                    ..Operation::compute(0)
                };
                self.put(rank, record, &nothing, lists)
            }
            None => Ok(()),
        }
    }

    fn end(&mut self, names: &[String]) -> Result<(), ReadStop> {
        self.inner.end(names)
    }
}
