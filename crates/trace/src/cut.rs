//! A part of a trace: some of its ranks, a time, a region of the program or some of the visits to it, or what is between two markers.
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
use crate::problem::{Problem, ReadStop};
use crate::sink::TraceSink;
use plan::{CutPlan, MessageEnd};
use restrict::Communicators;
use select::{PartRegions, Selection};
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

/// A part of a trace of which it is known what it needs.
pub struct PlannedPart {
    part: TracePart,
    regions: PartRegions,
    planner: Option<Planner>,
}

/// What is wrong with a file that was read to its end, and how many problems more there are.
type ToldProblems = (Vec<Problem>, u64);

impl PlannedPart {
    /// How many passes over a trace [`PlannedPart::of`] takes.
    pub fn passes(part: &TracePart) -> u64 {
        u64::from(!part.has_whole_ranks()) + u64::from(part.names_regions())
    }

    /// Finds out what a part needs; `pass` tells the whole trace to a sink, once for each of [`PlannedPart::passes`].
    ///
    /// # Errors
    /// Those of `pass`, and a part that there is not.
    pub fn of(
        part: &TracePart,
        mut pass: impl FnMut(&mut dyn TraceSink) -> Result<ToldProblems, ReadStop>,
    ) -> Result<PlannedPart, ReadStop> {
        if part.visits.is_some() && part.region.is_none() {
            return Err(ReadStop::Refused("visits are those of a region: name one".into()));
        }
        if part.visits.as_ref().is_some_and(Range::is_empty) {
            return Err(ReadStop::Refused(
                "there are no visits: give A..B with A below B".into(),
            ));
        }
        let mut regions = PartRegions::default();
        if part.names_regions() {
            let mut names = Names::default();
            pass(&mut names)?;
            let numbers = |name: &Option<String>| match name {
                Some(name) => regions_of(&names.0, name),
                None => Ok(Vec::new()),
            };
            regions = PartRegions {
                region: numbers(&part.region)?,
                from: numbers(&part.from_marker)?,
                to: numbers(&part.to_marker)?,
            };
        }
        let mut planner = None;
        if !part.has_whole_ranks() {
            pass(planner.insert(Planner::new(part, &regions)))?;
        }
        Ok(PlannedPart {
            part: part.clone(),
            regions,
            planner,
        })
    }

    /// Hands on the part of the trace that is told; to be called once for each time it is.
    pub fn cutter<S: TraceSink>(&mut self, inner: S) -> Cutter<'_, S> {
        let plan = self.planner.as_mut().map(|planner| &mut planner.plan);
        Cutter::new(Selection::new(&self.part, &self.regions), plan, inner)
    }
}

/// Takes nothing of a trace but the names of its regions.
#[derive(Default)]
struct Names(Vec<String>);

impl TraceSink for Names {
    fn begin(&mut self, _header: &TraceHeader) -> Result<(), ReadStop> {
        Ok(())
    }

    fn operation(&mut self, _: u32, _: u64, _: &Operation, _: &Lists<'_>) -> Result<(), ReadStop> {
        Ok(())
    }

    fn end(&mut self, names: &[String]) -> Result<(), ReadStop> {
        self.0 = names.to_vec();
        Ok(())
    }
}

/// The numbers of the regions of a name.
fn regions_of(names: &[String], name: &str) -> Result<Vec<u32>, ReadStop> {
    let numbers: Vec<u32> = (0..)
        .zip(names)
        .filter(|(_, region)| *region == name)
        .map(|(number, _)| number)
        .collect();
    if !numbers.is_empty() {
        return Ok(numbers);
    }
    let some: Vec<&str> = names.iter().take(20).map(String::as_str).collect();
    let more = if names.len() > some.len() { ", ..." } else { "" };
    let there = match some.is_empty() {
        true => "the trace has no regions".to_owned(),
        false => format!("there are {}{more}", some.join(", ")),
    };
    Err(ReadStop::Refused(format!("no region \"{name}\"; {there}")))
}

/// Knows after one pass over a trace which ends of messages and which collectives are in the part with all that they need.
struct Planner {
    selection: Selection,
    plan: CutPlan,
    header: TraceHeader,
    /// When the last operation began.
    last: u64,
}

impl Planner {
    fn new(part: &TracePart, regions: &PartRegions) -> Planner {
        Planner {
            selection: Selection::new(part, regions),
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
        if let Some(reason) = self.selection.why_not(self.last) {
            return Err(ReadStop::Refused(reason));
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
pub struct Cutter<'p, S> {
    selection: Selection,
    plan: Option<&'p mut CutPlan>,
    communicators: Communicators,
    form: TraceForm,
    first: u32,
    inner: S,
    /// Requests of each rank that were begun in the part.
    begun: Vec<HashSet<u32>>,
    /// Operations that were handed on, whole or in part.
    kept: u64,
    left_out: BTreeMap<&'static str, u64>,
    any: u64,
    values: Vec<u64>,
}

impl<'p, S: TraceSink> Cutter<'p, S> {
    /// With what one pass has found, if the part is not one of ranks only.
    fn new(selection: Selection, plan: Option<&'p mut CutPlan>, inner: S) -> Cutter<'p, S> {
        Cutter {
            selection,
            plan,
            communicators: Communicators::default(),
            form: TraceForm::Program,
            first: 0,
            inner,
            begun: Vec::new(),
            kept: 0,
            left_out: BTreeMap::new(),
            any: 0,
            values: Vec::new(),
        }
    }

    /// Operations of the part that were cut in two, by kind.
    pub fn left_out(&self) -> &BTreeMap<&'static str, u64> {
        &self.left_out
    }

    /// Receives from any rank or of any tag.
    pub fn any(&self) -> u64 {
        self.any
    }

    /// Why nothing is left.
    fn why_empty(&self) -> String {
        let cut: Vec<String> = self.left_out.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
        match cut.is_empty() {
            true => "nothing of the trace is in the part: give a longer one".into(),
            false => format!(
                "nothing of the trace is whole in the part: what they need of others is outside ({}); give a longer one or more ranks",
                cut.join(", ")
            ),
        }
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
            // What it waits for may be outside.
            Kind::Waitnews => None,
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
        if let Some(plan) = &mut self.plan {
            plan.rewind();
        }
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
            Some(left) => {
                // To be in a region is to do nothing.
                self.kept += u64::from(!matches!(left.kind, Kind::Enter | Kind::Leave));
                self.put(rank, record, &left, lists)
            }
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
        if self.kept == 0 {
            return Err(ReadStop::Refused(self.why_empty()));
        }
        self.inner.end(names)
    }
}
