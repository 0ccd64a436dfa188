//! What a rank's events mean for a replay: calls of MPI as operations, and the time between them as computations.
//!
//! A call begins with entering a region of MPI and ends with leaving it; what is recorded within it tells what it was. Its operations are told
//! when it ends, since only then it is known how long it took.

use super::ahead::{LookAhead, RequestEnd};
use super::archive::Otf2Archive;
use super::call::{MpiFunction, RequestsEnd};
use super::clock::TickScale;
use super::collective;
use super::events::{CollectiveRecord, EventRecord, PeerMessage, TimedEvent};
use super::ranks::{CommunicatorUse, RankMap};
use super::regions::{RegionTable, RegionUse};
use super::requests::OpenRequests;
use crate::operation::{Kind, Lists, NONE, Operation, WORLD};
use crate::problem::{Problem, ReadStop};
use crate::sink::TraceReader;
use std::collections::HashMap;

/// What all ranks share.
pub struct ReplayPlan {
    /// The files.
    pub archive: Otf2Archive,
    /// Which location is which rank.
    pub map: RankMap,
    /// What regions are.
    pub regions: RegionTable,
    /// What ticks are.
    pub scale: TickScale,
}

/// A call of MPI that has begun.
#[derive(Default)]
struct OpenCall {
    function: MpiFunction,
    region: u32,
    /// When it began (ps).
    begin: u64,
    /// Regions that are around it.
    level: usize,
    operations: Vec<(u64, Operation)>,
    completed: Vec<u32>,
    tested: Vec<u32>,
}

/// A rank whose events are read.
pub struct RankReplay<'p> {
    plan: &'p ReplayPlan,
    rank: u32,
    file: String,
    /// Regions that it is in.
    stack: Vec<u32>,
    /// Those of them that are the program's, by number of their names.
    program: Vec<u32>,
    call: Option<OpenCall>,
    ahead: Option<LookAhead>,
    requests: OpenRequests,
    /// Messages that have names.
    probed: HashMap<u64, PeerMessage>,
    /// The record that is read.
    record: u64,
    /// Its time (ps).
    now: u64,
    /// Since when the program computes (ps).
    since: u64,
    begun: bool,
    /// Something was told of times.
    told_time: bool,
    values: Vec<u64>,
}

const ASK: &str = "ask whoever recorded it, or record it anew";

impl<'p> RankReplay<'p> {
    /// A rank of an archive.
    pub fn new(plan: &'p ReplayPlan, rank: u32) -> RankReplay<'p> {
        RankReplay {
            plan,
            rank,
            file: String::new(),
            stack: Vec::new(),
            program: Vec::new(),
            call: None,
            ahead: None,
            requests: OpenRequests::default(),
            probed: HashMap::new(),
            record: 0,
            now: 0,
            since: 0,
            begun: false,
            told_time: false,
            values: Vec::new(),
        }
    }

    fn location(&self) -> u64 {
        self.plan.map.locations[self.rank as usize]
    }

    /// Reads all of its events.
    ///
    /// # Errors
    /// What the reader says. What is wrong with the rank's file is told to the reader, and the other ranks can be read.
    pub fn read(mut self, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        const TICK: u64 = 4096;
        let (location, before) = (self.location(), reader.progress.done);
        let archive = &self.plan.archive;
        let path = archive.event_file(location);
        self.file = path.display().to_string();
        let defined = archive.definitions.locations.get(&location);
        if defined.is_some_and(|defined| defined.events == 0) && !path.exists() {
            return Ok(());
        }
        let mut events = match archive.events(location) {
            Ok(events) => events,
            Err(problem) => {
                reader.problem(problem.of_rank(self.rank));
                return Ok(());
            }
        };
        loop {
            match events.event() {
                Ok(Some(event)) => {
                    reader.progress.records += 1;
                    self.see(&event, reader)?;
                }
                Ok(None) => break,
                Err(problem) => {
                    reader.problem(problem.of_rank(self.rank));
                    break;
                }
            }
            if self.record.is_multiple_of(TICK) {
                reader.progress.done = before + events.read();
                reader.tick()?;
            }
        }
        reader.progress.done = before + events.read();
        self.end(reader)
    }

    /// Something is wrong with the record that is read.
    fn problem(&self, reason: String, hint: &str, reader: &mut TraceReader<'_>) {
        let problem = Problem::new(&self.file, reason, hint);
        reader.problem(problem.of_rank(self.rank).at(self.record));
    }

    fn set_time(&mut self, event: &TimedEvent, reader: &mut TraceReader<'_>) {
        self.record = event.number;
        let now = self.plan.scale.picoseconds(event.time);
        if !self.begun {
            (self.begun, self.now, self.since) = (true, now, now);
            if self.plan.scale.is_before(event.time) {
                self.told_time = true;
                let reason = "it begins more than a second before the trace does".to_owned();
                self.problem(reason, "the clocks of the trace are broken: record it anew", reader);
            }
        }
        if now < self.now && !self.told_time {
            self.told_time = true;
            let reason = format!("time goes back by {} ps; more of that is not told", self.now - now);
            self.problem(reason, "record it anew with corrected clocks", reader);
        }
        self.now = self.now.max(now);
    }

    fn see(&mut self, event: &TimedEvent, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        use EventRecord as E;
        self.set_time(event, reader);
        match event.record {
            E::Enter { region } => self.enter(region, reader),
            E::Leave { region } => self.leave(region, reader),
            E::MpiSend(message) => self.message(Kind::Send, &message, None, reader),
            E::MpiIsend(message, request) => self.message(Kind::Isend, &message, Some(request), reader),
            E::MpiRecv(message) => self.message(Kind::Recv, &message, None, reader),
            E::MpiIrecvRequest { request } => {
                let end = self.end_of_request(reader)?;
                self.begin_request(request, end, None, reader)
            }
            E::MpiImrecvRequest { message, request } => {
                let end = self.end_of_request(reader)?;
                self.begin_request(request, end, Some(message), reader)
            }
            E::NonBlockingCollectiveRequest { request } => {
                let end = self.end_of_request(reader)?;
                self.begin_request(request, end, None, reader)
            }
            E::MpiIrecv(message, request) => match self.requests.end(request) {
                Some(name) => self.completed(name, reader),
                // Some recorders tell of messages only.
                None => self.message(Kind::Recv, &message, None, reader),
            },
            E::NonBlockingCollectiveComplete(collective, request) => match self.requests.end(request) {
                Some(name) => self.completed(name, reader),
                None => self.collective(&collective, None, reader),
            },
            E::MpiIsendComplete { request } | E::MpiImrecv { request, .. } => match self.requests.end(request) {
                Some(name) => self.completed(name, reader),
                None => {
                    self.problem(format!("request {request} ends, and has not begun"), ASK, reader);
                    Ok(())
                }
            },
            E::MpiRequestCancelled { request } => {
                self.requests.end(request);
                Ok(())
            }
            E::MpiRequestTest { request } => {
                let name = self.requests.name(request).filter(|name| *name != NONE);
                if let (Some(name), Some(call)) = (name, &mut self.call) {
                    call.tested.push(name);
                }
                Ok(())
            }
            E::MpiCollectiveEnd(collective) => self.collective(&collective, None, reader),
            E::RmaPut {
                window, remote, bytes, ..
            } => self.access(Kind::Put, (window, remote), bytes, reader),
            E::RmaGet {
                window, remote, bytes, ..
            } => self.access(Kind::Get, (window, remote), bytes, reader),
            E::MpiProbe(message, name) => {
                self.probed.insert(name, message);
                self.message(Kind::Probe, &message, None, reader)
            }
            E::MpiMrecv { message, bytes } => match self.probed.remove(&message) {
                Some(probed) => self.message(Kind::Recv, &PeerMessage { bytes, ..probed }, None, reader),
                None => {
                    let reason = format!("message {message} is received, and was not probed");
                    self.problem(reason, ASK, reader);
                    Ok(())
                }
            },
            E::BufferFlush { stop } => self.flush(stop, reader),
            E::MeasurementOnOff { .. }
            | E::MpiCollectiveBegin
            | E::CommCreate { .. }
            | E::CommDestroy { .. }
            | E::Other => Ok(()),
        }
    }

    /// The rank is over.
    fn end(&mut self, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        if let Some(call) = &self.call {
            let definitions = &self.plan.archive.definitions;
            let region = definitions.regions.get(&call.region);
            let name = region.map_or("a call", |region| definitions.string(region.name));
            self.problem(format!("it ends within {name}"), "the recording was cut", reader);
            return self.end_call(reader);
        }
        self.compute(reader)
    }

    /// Tells of the computation up to now.
    fn compute(&mut self, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        let time = self.now.saturating_sub(self.since);
        if time == 0 {
            return Ok(());
        }
        let operation = Operation {
            start: self.since,
            region: self.region(),
            ..Operation::compute(time)
        };
        self.since = self.now;
        reader.operation(self.rank, self.record, &operation, &Lists::default())
    }

    /// The innermost region of the program.
    fn region(&self) -> u32 {
        self.program.last().copied().unwrap_or(NONE)
    }

    /// Events were written out: what the program would not have done.
    fn flush(&mut self, stop: u64, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        if self.call.is_some() {
            return Ok(());
        }
        self.compute(reader)?;
        self.now = self.now.max(self.plan.scale.picoseconds(stop));
        self.since = self.now;
        Ok(())
    }

    fn enter(&mut self, region: u32, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        let level = self.stack.len();
        self.stack.push(region);
        if self.call.is_some() {
            return Ok(());
        }
        match self.plan.regions.region(region) {
            RegionUse::Other => Ok(()),
            RegionUse::Call(function) => {
                self.compute(reader)?;
                self.call = Some(OpenCall {
                    function,
                    region,
                    begin: self.now,
                    level,
                    ..OpenCall::default()
                });
                Ok(())
            }
            RegionUse::Program(name) => {
                self.compute(reader)?;
                self.program.push(name);
                self.border(Kind::Enter, name, reader)
            }
        }
    }

    fn leave(&mut self, region: u32, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        if self.stack.last() != Some(&region) {
            let name = |region: u32| {
                let definitions = &self.plan.archive.definitions;
                let defined = definitions.regions.get(&region);
                defined.map_or_else(
                    || format!("region {region}"),
                    |defined| definitions.string(defined.name).to_owned(),
                )
            };
            let inner = self.stack.last().map_or("no region".to_owned(), |inner| name(*inner));
            self.problem(format!("{} is left within {inner}", name(region)), ASK, reader);
            if !self.stack.contains(&region) {
                return Ok(());
            }
        }
        while let Some(left) = self.stack.pop() {
            self.left(left, reader)?;
            if left == region {
                break;
            }
        }
        Ok(())
    }

    /// A region has been left.
    fn left(&mut self, region: u32, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        if let Some(call) = &self.call {
            return match call.level == self.stack.len() {
                true => self.end_call(reader),
                false => Ok(()),
            };
        }
        if let RegionUse::Program(name) = self.plan.regions.region(region) {
            self.compute(reader)?;
            self.program.pop();
            self.border(Kind::Leave, name, reader)?;
        }
        Ok(())
    }

    fn border(&self, kind: Kind, name: u32, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        let operation = Operation {
            region: name,
            start: self.now,
            ..Operation::new(kind)
        };
        reader.operation(self.rank, self.record, &operation, &Lists::default())
    }

    /// Something is done, within a call or without any.
    fn operation(&mut self, operation: Operation, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        if let Some(call) = &mut self.call {
            call.operations.push((self.record, operation));
            return Ok(());
        }
        self.compute(reader)?;
        let operation = Operation {
            start: self.now,
            region: self.region(),
            ..operation
        };
        reader.operation(self.rank, self.record, &operation, &Lists::default())
    }

    /// A request is over.
    fn completed(&mut self, name: u32, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        if name == NONE {
            // What it was for is left out.
            return Ok(());
        }
        if let Some(call) = &mut self.call {
            call.completed.push(name);
            return Ok(());
        }
        let operation = Operation {
            request: name,
            ..Operation::new(Kind::Wait)
        };
        self.operation(operation, reader)
    }

    /// The number of a communicator in the header and the rank of the trace that a number in it is.
    fn member(&self, communicator: u32, number: u32) -> Result<(u32, u32), String> {
        match self.plan.map.communicator(communicator) {
            CommunicatorUse::CollectedOperation(listed) => {
                let members = &self.plan.map.communicators[listed as usize];
                let rank = members.rank(number);
                let wrong = || {
                    format!(
                        "rank {number} of communicator {communicator} is meant, which has {}",
                        members.len()
                    )
                };
                Ok((listed, rank.ok_or_else(wrong)?))
            }
            // What a rank sends to itself has no communicator of its own.
            CommunicatorUse::Own if number == 0 => Ok((WORLD, self.rank)),
            CommunicatorUse::Own => Err(format!("rank {number} of itself is meant")),
            CommunicatorUse::Unusable(why) => Err(format!("communicator {communicator} {why}")),
        }
    }

    fn message(
        &mut self,
        kind: Kind,
        message: &PeerMessage,
        request: Option<u64>,
        reader: &mut TraceReader<'_>,
    ) -> Result<(), ReadStop> {
        match self.member(message.communicator, message.peer) {
            Ok((communicator, peer)) => {
                let request = request.map_or(NONE, |request| self.open(request, reader));
                let mode = self
                    .call
                    .as_ref()
                    .map(|call| call.function.mode)
                    .filter(|_| kind.sends());
                let operation = Operation {
                    communicator,
                    request,
                    mode: mode.unwrap_or_default(),
                    ..Operation::message(kind, peer, message.bytes, message.tag)
                };
                self.operation(operation, reader)
            }
            Err(reason) => {
                self.leave_out(request, format!("{reason}: the {} is left out", kind.name()), reader);
                Ok(())
            }
        }
    }

    /// Tells of something that is left out, with its request.
    fn leave_out(&mut self, request: Option<u64>, reason: String, reader: &mut TraceReader<'_>) {
        if let Some(request) = request {
            self.requests.begin_without(request);
        }
        self.problem(reason, ASK, reader);
    }

    fn access(&mut self, kind: Kind, to: (u32, u32), bytes: u64, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        let (window, peer) = to;
        let Some(communicator) = self.plan.archive.definitions.windows.get(&window) else {
            let reason = format!("window {window} is not defined: the {} is left out", kind.name());
            self.problem(reason, ASK, reader);
            return Ok(());
        };
        let message = PeerMessage {
            peer,
            communicator: *communicator,
            tag: 0,
            bytes,
        };
        self.message(kind, &message, None, reader)
    }

    /// A request begins.
    fn open(&mut self, request: u64, reader: &mut TraceReader<'_>) -> u32 {
        let (name, again) = self.requests.begin(request);
        if again {
            self.problem(format!("request {request} begins again before it ends"), ASK, reader);
        }
        name
    }

    /// How the next request ends that begins without saying what it is.
    fn end_of_request(&mut self, reader: &mut TraceReader<'_>) -> Result<RequestEnd, ReadStop> {
        let ahead = match &mut self.ahead {
            Some(ahead) => ahead,
            none => none.insert(LookAhead::new(
                self.plan.archive.events(self.plan.map.locations[self.rank as usize])?,
            )),
        };
        loop {
            if let Some(end) = ahead.step() {
                return Ok(end);
            }
            reader.tick()?;
        }
    }

    fn begin_request(
        &mut self,
        request: u64,
        end: RequestEnd,
        named: Option<u64>,
        reader: &mut TraceReader<'_>,
    ) -> Result<(), ReadStop> {
        let probed = named.and_then(|message| self.probed.remove(&message));
        match (end, probed) {
            (RequestEnd::Received(message), _) => self.message(Kind::Irecv, &message, Some(request), reader),
            (RequestEnd::Filled(bytes), Some(probed)) => {
                self.message(Kind::Irecv, &PeerMessage { bytes, ..probed }, Some(request), reader)
            }
            (RequestEnd::Filled(_), None) => {
                let reason = "it receives a message that was not probed: the irecv is left out";
                self.leave_out(Some(request), reason.to_owned(), reader);
                Ok(())
            }
            (RequestEnd::Joined(collective), _) => self.collective(&collective, Some(request), reader),
            (RequestEnd::Cancelled, _) => Ok(()),
            (RequestEnd::Never, _) => {
                let reason =
                    format!("request {request} never ends, so that it is not known what it is: it is left out");
                self.problem(
                    reason,
                    "the recording was cut, or the program does not wait for it",
                    reader,
                );
                Ok(())
            }
        }
    }

    fn collective(
        &mut self,
        record: &CollectiveRecord,
        request: Option<u64>,
        reader: &mut TraceReader<'_>,
    ) -> Result<(), ReadStop> {
        match self.collective_operation(record) {
            Ok(Some(operation)) => {
                let request = request.map_or(NONE, |request| self.open(request, reader));
                self.operation(Operation { request, ..operation }, reader)
            }
            Ok(None) => {
                request
                    .into_iter()
                    .for_each(|request| self.requests.begin_without(request));
                Ok(())
            }
            Err(reason) => {
                self.leave_out(request, format!("{reason}: the collective is left out"), reader);
                Ok(())
            }
        }
    }

    /// The operation of a collective; none where a rank is by itself.
    fn collective_operation(&self, record: &CollectiveRecord) -> Result<Option<Operation>, String> {
        let CollectiveRecord {
            op,
            communicator,
            root,
            sent,
            received,
        } = *record;
        let kind = collective::kind(op).ok_or_else(|| format!("collective {op} is not known"))?;
        let root = match kind.has_root() {
            true => root,
            false => NONE,
        };
        if self.plan.map.communicator(communicator) == CommunicatorUse::Own {
            return Ok(None);
        }
        let (listed, place) = self.member(communicator, if root == NONE { 0 } else { root })?;
        let n = self.plan.map.communicators[listed as usize].len();
        let (bytes, received) = collective::sizes(kind, n, root != NONE && place == self.rank, sent, received);
        Ok(Some(Operation {
            peer: root,
            received,
            ..Operation::collective(kind, listed, bytes)
        }))
    }

    /// A call of MPI has ended: tells of what was done in it.
    fn end_call(&mut self, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        let Some(mut call) = self.call.take() else {
            return Ok(());
        };
        self.since = self.now;
        if call.function.is_sendrecv {
            call.join_sendrecv();
        }
        self.values.clear();
        if let Some(operation) = call.end_of_requests(&mut self.values) {
            call.operations.push((self.record, operation));
        }
        let (region, last) = (self.region(), call.operations.len().wrapping_sub(1));
        for (i, (record, operation)) in call.operations.iter_mut().enumerate() {
            (operation.start, operation.region) = (call.begin, region);
            let mut lists = Lists::default();
            if i == last && !call.function.is_startup {
                operation.time = self.now - call.begin;
            }
            if operation.request == NONE || operation.kind == Kind::Waitany {
                lists.values = match operation.kind {
                    Kind::Waitall | Kind::Waitany | Kind::Test => &self.values,
                    _ => &[],
                };
            }
            reader.operation(self.rank, *record, operation, &lists)?;
        }
        Ok(())
    }
}

impl OpenCall {
    /// Makes one operation of a send and a receive.
    fn join_sendrecv(&mut self) {
        let ((_, one), (_, other)) = match self.operations[..] {
            [one, other] => (one, other),
            _ => return,
        };
        let (send, receive) = match (one.kind, other.kind) {
            (Kind::Send, Kind::Recv) => (one, other),
            (Kind::Recv, Kind::Send) => (other, one),
            _ => return,
        };
        if send.communicator != receive.communicator {
            return;
        }
        self.operations.truncate(1);
        self.operations[0].1 = Operation {
            kind: Kind::Sendrecv,
            source: receive.peer,
            source_tag: receive.tag,
            received: receive.bytes,
            ..send
        };
    }

    /// What the requests that ended in it were for, with its list of requests.
    fn end_of_requests(&self, values: &mut Vec<u64>) -> Option<Operation> {
        let one = |kind, name: u32| Operation {
            request: name,
            ..Operation::new(kind)
        };
        let ended = self.completed.iter().copied().map(u64::from);
        let tested = self.tested.iter().copied().map(u64::from);
        match (&self.completed[..], &self.tested[..], self.function.ends) {
            ([], [], _) => None,
            ([], [name], _) => Some(one(Kind::Test, *name)),
            ([], _, _) => {
                values.extend(tested);
                Some(Operation::new(Kind::Test))
            }
            ([name], _, RequestsEnd::Any) => {
                values.extend(ended.chain(tested));
                Some(one(Kind::Waitany, *name))
            }
            ([name], _, RequestsEnd::Some) => Some(one(Kind::Wait, *name)),
            (_, _, _) => {
                values.extend(ended);
                Some(Operation::new(Kind::Waitall))
            }
        }
    }
}
