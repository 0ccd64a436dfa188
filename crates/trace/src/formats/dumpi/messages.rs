//! What calls that send, receive and wait become.

use super::completions::{ANY, Given, completed, takes_any};
use super::functions as f;
use super::rank::{OpenRequest, Teller};
use super::record::CallRecord;
use crate::operation::{ANY_SOURCE, ANY_TAG, Kind, Mode, NONE, Operation};
use crate::problem::ReadStop;

/// Requests below this are none.
const FIRST_REQUEST: i32 = 2;

/// Which mode a send has.
fn mode(function: f::Function) -> Mode {
    match function {
        f::SSEND | f::ISSEND | f::SSEND_INIT => Mode::Synchronous,
        f::BSEND | f::IBSEND | f::BSEND_INIT => Mode::Buffered,
        f::RSEND | f::IRSEND | f::RSEND_INIT => Mode::Ready,
        _ => Mode::Standard,
    }
}

impl Teller<'_, '_> {
    /// What a send is: of count, datatype, destination, tag and communicator. Nothing where nobody is to get it.
    fn sending(&mut self, kind: Kind, values: [i64; 5], mode: Mode) -> Option<Operation> {
        let [count, datatype, to, tag, comm] = values;
        if to < 0 {
            return None;
        }
        let comm = self.comm(comm)?;
        let peer = self.peer(comm, to)?;
        let Ok(tag) = u32::try_from(tag) else {
            self.problem(format!("{tag} is no tag"), "the message is left out");
            return None;
        };
        Some(Operation {
            mode,
            communicator: Self::number(comm),
            ..Operation::message(kind, peer, self.bytes(count, datatype), tag)
        })
    }

    /// What a receive is: of count, datatype, source, tag and communicator. Nothing where nobody is to send it.
    fn receiving(&mut self, kind: Kind, values: [i64; 5]) -> Option<Operation> {
        let [count, datatype, from, tag, comm] = values;
        if from < ANY {
            return None;
        }
        let comm = self.comm(comm)?;
        let peer = match from {
            ANY => ANY_SOURCE,
            from => self.peer(comm, from)?,
        };
        Some(Operation {
            communicator: Self::number(comm),
            ..Operation::message(kind, peer, self.bytes(count, datatype), self.tag(tag))
        })
    }

    fn tag(&mut self, tag: i64) -> u32 {
        u32::try_from(tag).unwrap_or_else(|_| {
            if tag != ANY {
                self.problem(format!("{tag} is no tag"), "it is taken as any");
            }
            ANY_TAG
        })
    }

    /// Writes into a receive from anybody whom it was given a message from; `false` if it was given nothing.
    fn resolve(&mut self, operation: &mut Operation, comm: i64, given: Given) -> bool {
        if given.nothing {
            return false;
        }
        if let Some(comm) = self.comm(comm).filter(|_| given.source != NONE) {
            operation.source = self.peer(comm, given.source.into()).unwrap_or(NONE);
            operation.source_tag = given.tag.unwrap_or(operation.tag);
        }
        true
    }

    /// A blocking send.
    pub(super) fn send(&mut self, record: &CallRecord) -> Result<(), ReadStop> {
        match self.sending(Kind::Send, first_five(record), mode(record.function)) {
            Some(operation) => self.tell(record, operation, &[]),
            None => Ok(()),
        }
    }

    /// A blocking receive.
    pub(super) fn recv(&mut self, record: &CallRecord) -> Result<(), ReadStop> {
        let Some(mut operation) = self.receiving(Kind::Recv, first_five(record)) else {
            return Ok(());
        };
        if takes_any(record.value(2), record.value(3))
            && !self.resolve(&mut operation, record.value(4), Given::of(record.status()))
        {
            return Ok(());
        }
        self.tell(record, operation, &[])
    }

    /// A send or receive with a request.
    pub(super) fn begin(&mut self, record: &CallRecord) -> Result<(), ReadStop> {
        let request = record.value(5) as i32;
        let any = record.function == f::IRECV && takes_any(record.value(2), record.value(3));
        let given = any.then(|| self.next_given());
        let mut operation = match record.function {
            f::IRECV => self.receiving(Kind::Irecv, first_five(record)),
            function => self.sending(Kind::Isend, first_five(record), mode(function)),
        };
        if let (Some(receive), Some(given)) = (&mut operation, given)
            && !self.resolve(receive, record.value(4), given)
        {
            operation = None;
        }
        let Some(operation) = operation else {
            self.requests.insert(request, OpenRequest::Nothing);
            return Ok(());
        };
        self.requests.insert(request, OpenRequest::Message);
        let operation = Operation {
            request: request as u32,
            ..operation
        };
        self.tell(record, operation, &[])
    }

    /// A send or receive that is to be started later.
    pub(super) fn prepare(&mut self, record: &CallRecord) {
        let request = record.value(5) as i32;
        let any = record.function == f::RECV_INIT && takes_any(record.value(2), record.value(3));
        let operation = match record.function {
            f::RECV_INIT => self.receiving(Kind::Irecv, first_five(record)),
            function => self.sending(Kind::Isend, first_five(record), mode(function)),
        };
        let operation = operation.map(|operation| Operation {
            request: request as u32,
            // Where it is from is looked up in this communicator, once it is known.
            source_tag: record.value(4) as u32,
            ..operation
        });
        let active = false;
        self.requests
            .insert(request, OpenRequest::Persistent { operation, any, active });
    }

    /// What has been prepared is started.
    pub(super) fn start(&mut self, record: &CallRecord, request: i32) -> Result<(), ReadStop> {
        let Some(OpenRequest::Persistent { operation, any, .. }) = self.requests.get(&request).copied() else {
            let reason = format!("the request {request} is started, and was not made to be");
            self.problem(reason, "the call is left out");
            return Ok(());
        };
        let given = any.then(|| self.next_given());
        let mut started = operation;
        if let Some(operation) = &mut started {
            let comm = std::mem::take(&mut operation.source_tag);
            if let Some(given) = given
                && !self.resolve(operation, comm.into(), given)
            {
                started = None;
            }
        }
        let active = started.is_some();
        self.requests
            .insert(request, OpenRequest::Persistent { operation, any, active });
        match started {
            Some(operation) => self.tell(record, operation, &[]),
            None => Ok(()),
        }
    }

    /// Sends and receives at once; with nobody at one end it is only the other.
    pub(super) fn sendrecv(&mut self, record: &CallRecord) -> Result<(), ReadStop> {
        let v = |i: usize| record.value(i);
        let (send, receive) = match record.function {
            f::SENDRECV => ([v(0), v(1), v(2), v(3), v(8)], [v(4), v(5), v(6), v(7), v(8)]),
            _ => ([v(0), v(1), v(2), v(3), v(6)], [v(0), v(1), v(4), v(5), v(6)]),
        };
        let sent = self.sending(Kind::Send, send, Mode::Standard);
        let mut received = self.receiving(Kind::Recv, receive);
        let any = takes_any(receive[2], receive[3]);
        if let Some(operation) = received.as_mut().filter(|_| any)
            && !self.resolve(operation, receive[4], Given::of(record.status()))
        {
            received = None;
        }
        match (sent, received) {
            (Some(sent), Some(received)) => {
                let both = Operation {
                    kind: Kind::Sendrecv,
                    source: received.peer,
                    source_tag: received.tag,
                    received: received.bytes,
                    ..sent
                };
                self.tell(record, both, &[])
            }
            (Some(one), None) | (None, Some(one)) => self.tell(record, one, &[]),
            (None, None) => Ok(()),
        }
    }

    /// Waits until a message is there; what was looked for in vain is nothing.
    pub(super) fn probe(&mut self, record: &CallRecord) -> Result<(), ReadStop> {
        if record.function == f::IPROBE && record.value(3) == 0 {
            return Ok(());
        }
        let [from, tag, comm] = [0, 1, 2].map(|i| record.value(i));
        // The size of what is there is not the probe's.
        let Some(mut operation) = self.receiving(Kind::Probe, [0, 0, from, tag, comm]) else {
            return Ok(());
        };
        if takes_any(from, tag) && !self.resolve(&mut operation, comm, Given::of(record.status())) {
            return Ok(());
        }
        self.tell(record, operation, &[])
    }

    /// Whether a request stands for something that has to be waited for. Of those that are not known it is for others to say.
    fn is_open(&self, request: i32) -> bool {
        request >= FIRST_REQUEST
            && match self.requests.get(&request) {
                Some(OpenRequest::Nothing) => false,
                Some(OpenRequest::Persistent { active, .. }) => *active,
                Some(OpenRequest::Message) | None => true,
            }
    }

    /// Waits for requests, or looks at them. A look that found requests complete is a wait for them: the program went on as if they were.
    pub(super) fn wait(&mut self, record: &CallRecord) -> Result<(), ReadStop> {
        let mut done = Vec::new();
        completed(record, &mut done);
        done.retain(|(request, _)| self.is_open(*request));
        let open: Vec<u64> = match record.function {
            f::WAITANY | f::TESTANY | f::TESTALL | f::TESTSOME => {
                let open = record.list(0).iter().filter(|request| self.is_open(**request));
                open.map(|request| *request as u64).collect()
            }
            f::TEST if self.is_open(record.value(0) as i32) => vec![record.value(0) as u64],
            _ => Vec::new(),
        };
        let looks = matches!(record.function, f::TEST | f::TESTANY | f::TESTALL | f::TESTSOME);
        let one = |kind: Kind, request: u64| Operation {
            request: request as u32,
            ..Operation::new(kind)
        };
        let completed: Vec<u64> = done.iter().map(|(request, _)| *request as u64).collect();
        match (&completed[..], &open[..]) {
            ([], []) => {}
            ([], [request]) if looks => self.tell(record, one(Kind::Test, *request), &[])?,
            ([], open) if looks => self.tell(record, Operation::new(Kind::Test), open)?,
            (completed, open) if record.function == f::WAITANY => {
                let request = completed.first().copied().unwrap_or(NONE.into());
                self.tell(record, one(Kind::Waitany, request), open)?;
            }
            ([request], _) if record.function != f::WAITALL => {
                self.tell(record, one(Kind::Wait, *request), &[])?;
            }
            (completed, _) => self.tell(record, Operation::new(Kind::Waitall), completed)?,
        }
        for (request, _) in done {
            self.over(request);
        }
        Ok(())
    }

    /// A request is complete.
    fn over(&mut self, request: i32) {
        match self.requests.get_mut(&request) {
            Some(OpenRequest::Persistent { active, .. }) => *active = false,
            Some(OpenRequest::Message | OpenRequest::Nothing) => {
                self.requests.remove(&request);
            }
            None => {}
        }
    }

    /// A request is given up.
    pub(super) fn cancel(&mut self, request: i32) {
        if self.is_open(request) {
            let reason = "a message that was begun is given up";
            let hint = "it is taken as if it was not: if nothing matches it, it is waited for in vain";
            self.problem(reason, hint);
        }
    }
}

/// Count, datatype, peer, tag and communicator.
fn first_five(record: &CallRecord) -> [i64; 5] {
    [0, 1, 2, 3, 4].map(|i| record.value(i))
}
