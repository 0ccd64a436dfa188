//! What the calls of a rank become.

use super::call::{MpiCall, NamedComm};
use super::communicators::{Comms, SplitResults, Whose};
use crate::header::TraceHeader;
use crate::operation::{ANY_SOURCE, ANY_TAG, Kind, Lists, Mode, NONE, Operation, UNKNOWN_SIZE, WORLD};
use crate::problem::{Problem, ReadStop};
use crate::sink::TraceReader;
use std::collections::{BTreeMap, HashSet};

/// Any source or tag, as Open MPI numbers them.
const ANY: i64 = -1;

/// A rank on its way.
pub(super) struct ProfiledRank<'a> {
    rank: u32,
    header: &'a TraceHeader,
    comms: Comms<'a>,
    /// Begin of the trace by the rank's own clock (ps).
    begin: i128,
    /// Bytes of a request.
    step: u64,
    returned: Option<i128>,
    /// Time between calls that has not been told, and when it began (ps).
    between: u64,
    between_from: i128,
    /// Requests that are open, by where they are.
    open: BTreeMap<u64, u32>,
    /// Messages that may be started again and again.
    prepared: BTreeMap<u64, Operation>,
    /// Names of requests that are over, and how many have ever been given.
    free: Vec<u32>,
    names: u32,
    last: u64,
    told: HashSet<String>,
}

/// What a call becomes, with its sizes or requests.
type Becomes = Option<(Operation, Vec<u64>)>;

/// Bytes of so many elements.
fn bytes(count: i64, size: u64) -> Result<u64, String> {
    let count = u64::try_from(count).map_err(|_| format!("{count} is no count"))?;
    Ok(count.saturating_mul(size))
}

fn all_bytes(counts: &[i64], size: u64) -> Result<Vec<u64>, String> {
    counts.iter().map(|count| bytes(*count, size)).collect()
}

fn sum(sizes: &[u64]) -> u64 {
    sizes.iter().fold(0, |all, size| all.saturating_add(*size))
}

/// Those of what is kept by place that are among so many requests from a place on.
fn within<T>(map: &BTreeMap<u64, T>, place: u64, count: i64, step: u64) -> impl Iterator<Item = (u64, &T)> {
    let end = place.saturating_add(step.saturating_mul(count.max(0) as u64));
    let among = map.range(place..end);
    among
        .map(|(place, kept)| (*place, kept))
        .filter(move |(other, _)| (other - place).is_multiple_of(step))
}

/// Which mode a send has.
fn mode(name: &str) -> Mode {
    match name {
        "MPI_Ssend" | "MPI_Issend" | "MPI_Ssend_init" => Mode::Synchronous,
        "MPI_Bsend" | "MPI_Ibsend" | "MPI_Bsend_init" => Mode::Buffered,
        "MPI_Rsend" | "MPI_Irsend" | "MPI_Rsend_init" => Mode::Ready,
        _ => Mode::Standard,
    }
}

impl<'a> ProfiledRank<'a> {
    pub(super) fn new(
        rank: u32,
        header: &'a TraceHeader,
        results: &'a SplitResults,
        (begin, difference): (i128, i128),
        step: u64,
    ) -> Self {
        ProfiledRank {
            rank,
            header,
            comms: Comms::new(header.ranks, rank, results),
            begin: begin.saturating_sub(difference),
            step,
            returned: None,
            between: 0,
            between_from: 0,
            open: BTreeMap::new(),
            prepared: BTreeMap::new(),
            free: Vec::new(),
            names: 0,
            last: 0,
            told: HashSet::new(),
        }
    }

    fn problem(&mut self, reader: &mut TraceReader<'_>, reason: impl Into<String>, hint: &str) {
        let problem = Problem::new(self.header.file(self.rank), reason, hint);
        reader.problem(problem.of_rank(self.rank).at(self.last));
    }

    fn problem_once(&mut self, reader: &mut TraceReader<'_>, reason: String, hint: &str) {
        if self.told.insert(reason.clone()) {
            self.problem(reader, reason, hint);
        }
    }

    /// Tells what a line becomes.
    pub(super) fn line(&mut self, reader: &mut TraceReader<'_>, number: u64, line: &str) -> Result<(), ReadStop> {
        self.last = number;
        if line.starts_with('#') {
            return Ok(());
        }
        reader.progress.records += 1;
        let call = match MpiCall::of(line) {
            Ok(call) => call,
            Err(wrong) => {
                self.problem(
                    reader,
                    wrong,
                    "a line is to be as `MPI_Barrier:START:...:END`: it is left out",
                );
                return Ok(());
            }
        };
        self.note_time(reader, &call);
        match self.becomes(reader, &call, line) {
            Ok(all) => {
                for (operation, values) in all {
                    self.tell(reader, &call, operation, &values)?;
                }
            }
            Err(wrong) => self.problem(reader, wrong, "the call is left out"),
        }
        Ok(())
    }

    /// What is left at the end.
    pub(super) fn end(&mut self, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        self.tell_computation(reader)
    }

    fn note_time(&mut self, reader: &mut TraceReader<'_>, call: &MpiCall<'_>) {
        if let (Some(begin), Some(returned)) = (call.begin, self.returned) {
            let on = u64::try_from(begin.saturating_sub(returned)).unwrap_or_default();
            if on > 0 && self.between == 0 {
                self.between_from = returned;
            }
            self.between = self.between.saturating_add(on);
            if begin < returned {
                let reason = "the time of a call is before that of the one before it".to_owned();
                self.problem_once(
                    reader,
                    reason,
                    "computations that would be less than nothing are left out",
                );
            }
        }
        let end = call.end.or(call.begin);
        self.returned = end.max(self.returned);
    }

    /// Picoseconds from the begin of the trace.
    fn since(&self, time: i128) -> u64 {
        u64::try_from(time.saturating_sub(self.begin).max(0)).unwrap_or(u64::MAX)
    }

    fn tell_computation(&mut self, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        let between = std::mem::take(&mut self.between);
        if between == 0 {
            return Ok(());
        }
        let operation = Operation {
            start: self.since(self.between_from),
            ..Operation::compute(between)
        };
        reader.operation(self.rank, self.last, &operation, &Lists::default())
    }

    fn tell(
        &mut self,
        reader: &mut TraceReader<'_>,
        call: &MpiCall<'_>,
        operation: Operation,
        values: &[u64],
    ) -> Result<(), ReadStop> {
        self.tell_computation(reader)?;
        let begin = call.begin.or(call.end).unwrap_or(self.begin);
        let took = call.end.unwrap_or(begin).saturating_sub(begin);
        let operation = Operation {
            start: self.since(begin),
            time: u64::try_from(took).unwrap_or_default(),
            ..operation
        };
        let lists = Lists {
            values,
            ..Lists::default()
        };
        reader.operation(self.rank, self.last, &operation, &lists)
    }

    fn becomes(
        &mut self,
        reader: &mut TraceReader<'_>,
        call: &MpiCall<'_>,
        line: &str,
    ) -> Result<Vec<(Operation, Vec<u64>)>, String> {
        let one = |becomes: Becomes| becomes.into_iter().collect();
        Ok(match call.name {
            "MPI_Send" | "MPI_Bsend" | "MPI_Ssend" | "MPI_Rsend" | "MPI_Recv" => one(self.message(reader, call)?),
            "MPI_Isend" | "MPI_Ibsend" | "MPI_Issend" | "MPI_Irsend" | "MPI_Irecv" => {
                let place = call.address(6)?;
                let becomes = self.message(reader, call)?;
                one(becomes.map(|(operation, values)| (self.with_request(operation, place), values)))
            }
            "MPI_Send_init" | "MPI_Bsend_init" | "MPI_Ssend_init" | "MPI_Rsend_init" | "MPI_Recv_init" => {
                let place = call.address(6)?;
                match self.message(reader, call)? {
                    Some((operation, _)) => self.prepared.insert(place, operation),
                    None => self.prepared.remove(&place),
                };
                Vec::new()
            }
            "MPI_Start" => self.start(call.address(0)?, 1),
            "MPI_Startall" => self.start(call.address(1)?, call.integer(0)?),
            "MPI_Sendrecv" | "MPI_Sendrecv_replace" => one(self.sendrecv(reader, call)?),
            "MPI_Probe" => {
                let [from, tag] = [call.integer(0)?, call.integer(1)?];
                one(self
                    .receiving(reader, Kind::Probe, (from, tag), 0, call.comm(2)?)?
                    .map(|probe| (probe, Vec::new())))
            }
            "MPI_Request_free" => {
                let place = call.address(0)?;
                self.open.remove(&place);
                self.prepared.remove(&place);
                Vec::new()
            }
            "MPI_Cancel" => {
                if self.open.contains_key(&call.address(0)?) {
                    let hint = "it is taken as if it was not: if nothing matches it, it is waited for in vain";
                    self.problem(reader, "a message that was begun is given up", hint);
                }
                Vec::new()
            }
            name if name.starts_with("MPI_Wait") || name.starts_with("MPI_Test") => one(self.wait(call)?),
            "" => {
                self.left_out(reader, line);
                Vec::new()
            }
            _ => one(self.collective(reader, call)?),
        })
    }

    /// Says of a call that communicates in a way that is not known that it is left out.
    fn left_out(&mut self, reader: &mut TraceReader<'_>, line: &str) {
        const COMMUNICATE: [&str; 15] = [
            "MPI_Put",
            "MPI_Rput",
            "MPI_Get:",
            "MPI_Rget",
            "MPI_Accumulate",
            "MPI_Raccumulate",
            "MPI_Get_accumulate",
            "MPI_Fetch_and_op",
            "MPI_Compare_and_swap",
            "MPI_Win_",
            "MPI_Alltoallw",
            "MPI_Ialltoallw",
            "MPI_Neighbor_",
            "MPI_Mrecv",
            "MPI_Imrecv",
        ];
        let name = line.split(':').next().unwrap_or_default().trim().to_owned();
        if COMMUNICATE.iter().any(|prefix| line.starts_with(prefix)) {
            self.problem_once(reader, format!("{name} is not known here"), "it is left out");
        }
    }

    fn with_request(&mut self, operation: Operation, place: u64) -> Operation {
        let request = self.free.pop().unwrap_or_else(|| {
            self.names += 1;
            self.names - 1
        });
        // What was there is over: the program has written over it.
        self.open.insert(place, request);
        Operation { request, ..operation }
    }

    /// Which communicator is meant; nothing, and a problem, if it is not known.
    fn comm(&mut self, reader: &mut TraceReader<'_>, named: NamedComm) -> Option<Whose> {
        let whose = self.comms.find(named);
        if whose.is_none() {
            let reason = format!(
                "who is in the communicator {} of {} ranks is not told",
                named.number, named.size
            );
            self.problem_once(reader, reason, "what goes over it is left out");
        }
        whose
    }

    fn peer(&self, whose: Whose, number: i64) -> Result<u32, String> {
        let wrong = || format!("there is no rank {number} in the communicator");
        let number = u32::try_from(number).map_err(|_| wrong())?;
        let peer = match whose {
            Whose::Alone => (number == 0).then_some(self.rank),
            Whose::Known(known) => self.header.communicators[known as usize].rank(number),
        };
        peer.ok_or_else(wrong)
    }

    fn number(whose: Whose) -> u32 {
        match whose {
            Whose::Alone => WORLD,
            Whose::Known(known) => known,
        }
    }

    fn sending(
        &mut self,
        reader: &mut TraceReader<'_>,
        kind: Kind,
        (to, tag): (i64, i64),
        size: u64,
        comm: NamedComm,
    ) -> Result<Option<Operation>, String> {
        if to < 0 {
            return Ok(None);
        }
        let Some(whose) = self.comm(reader, comm) else {
            return Ok(None);
        };
        let tag = u32::try_from(tag).map_err(|_| format!("{tag} is no tag"))?;
        let peer = self.peer(whose, to)?;
        Ok(Some(Operation {
            communicator: Self::number(whose),
            ..Operation::message(kind, peer, size, tag)
        }))
    }

    fn receiving(
        &mut self,
        reader: &mut TraceReader<'_>,
        kind: Kind,
        (from, tag): (i64, i64),
        size: u64,
        comm: NamedComm,
    ) -> Result<Option<Operation>, String> {
        if from < ANY {
            return Ok(None);
        }
        let Some(whose) = self.comm(reader, comm) else {
            return Ok(None);
        };
        let tag = match tag {
            ANY => ANY_TAG,
            tag => u32::try_from(tag).map_err(|_| format!("{tag} is no tag"))?,
        };
        let peer = match from {
            ANY => ANY_SOURCE,
            from => self.peer(whose, from)?,
        };
        Ok(Some(Operation {
            communicator: Self::number(whose),
            ..Operation::message(kind, peer, size, tag)
        }))
    }

    /// A send or receive: of buffer, count, datatype, peer, tag and communicator.
    fn message(&mut self, reader: &mut TraceReader<'_>, call: &MpiCall<'_>) -> Result<Becomes, String> {
        let size = bytes(call.integer(1)?, call.datatype(2)?)?;
        let (ends, comm) = ((call.integer(3)?, call.integer(4)?), call.comm(5)?);
        let begins = call.begins();
        let operation = if call.name.contains("ecv") {
            let kind = if begins { Kind::Irecv } else { Kind::Recv };
            self.receiving(reader, kind, ends, size, comm)?
        } else {
            let kind = if begins { Kind::Isend } else { Kind::Send };
            let send = self.sending(reader, kind, ends, size, comm)?;
            send.map(|send| Operation {
                mode: mode(call.name),
                ..send
            })
        };
        Ok(operation.map(|operation| (operation, Vec::new())))
    }

    /// What has been prepared is started: so many from a place on.
    fn start(&mut self, place: u64, count: i64) -> Vec<(Operation, Vec<u64>)> {
        let places: Vec<u64> = within(&self.prepared, place, count, self.step)
            .map(|(place, _)| place)
            .collect();
        let mut started = Vec::new();
        for place in places {
            if let Some(operation) = self.prepared.get(&place).copied() {
                started.push((self.with_request(operation, place), Vec::new()));
            }
        }
        started
    }

    fn sendrecv(&mut self, reader: &mut TraceReader<'_>, call: &MpiCall<'_>) -> Result<Becomes, String> {
        let i = |place: usize| call.integer(place);
        let sent = bytes(i(1)?, call.datatype(2)?)?;
        let (received, from, comm) = match call.name {
            "MPI_Sendrecv" => (bytes(i(6)?, call.datatype(7)?)?, (i(8)?, i(9)?), call.comm(10)?),
            _ => (sent, (i(5)?, i(6)?), call.comm(7)?),
        };
        let send = self.sending(reader, Kind::Send, (i(3)?, i(4)?), sent, comm)?;
        let receive = self.receiving(reader, Kind::Recv, from, received, comm)?;
        let both = match (send, receive) {
            (Some(send), Some(receive)) => Some(Operation {
                kind: Kind::Sendrecv,
                source: receive.peer,
                source_tag: receive.tag,
                received,
                ..send
            }),
            (one, other) => one.or(other),
        };
        Ok(both.map(|both| (both, Vec::new())))
    }

    /// Waits for requests or looks at them. Where there is none the program's were over.
    fn wait(&mut self, call: &MpiCall<'_>) -> Result<Becomes, String> {
        let single = matches!(call.name, "MPI_Wait" | "MPI_Test");
        let (place, count) = if single {
            (call.address(0)?, 1)
        } else {
            (call.address(1)?, call.integer(0)?)
        };
        let open: Vec<(u64, u32)> = within(&self.open, place, count, self.step)
            .map(|(place, request)| (place, *request))
            .collect();
        let of = |kind: Kind, request: u32| Operation {
            request,
            ..Operation::new(kind)
        };
        let list: Vec<u64> = open.iter().map(|(_, request)| u64::from(*request)).collect();
        let Some(&(_, first)) = open.first() else {
            return Ok(None);
        };
        let becomes = match call.name {
            "MPI_Wait" => (of(Kind::Wait, first), Vec::new()),
            "MPI_Waitall" => (Operation::new(Kind::Waitall), list),
            "MPI_Test" => (of(Kind::Test, first), Vec::new()),
            "MPI_Testall" | "MPI_Testany" | "MPI_Testsome" => (Operation::new(Kind::Test), list),
            _ => (of(Kind::Waitany, NONE), list),
        };
        if matches!(call.name, "MPI_Wait" | "MPI_Waitall") {
            for (place, request) in open {
                self.open.remove(&place);
                self.free.push(request);
            }
        }
        Ok(Some(becomes))
    }

    fn collective(&mut self, reader: &mut TraceReader<'_>, call: &MpiCall<'_>) -> Result<Becomes, String> {
        let place = call.comm_place().ok_or("it has no communicator")?;
        let named = call.comm(place)?;
        let whose = self.comm(reader, named);
        if call.name == "MPI_Comm_split" && named.size == self.header.ranks {
            self.comms.split();
        }
        if call.name == "MPI_Comm_dup" {
            self.comms.copy(named);
        }
        let (operation, values) = self.of_collective(call, named)?;
        if operation.bytes == UNKNOWN_SIZE {
            let reason = format!("sizes of {} are not told", call.name);
            self.problem_once(reader, reason, "record with a liballprof that writes lists of counts");
        }
        if operation.kind.has_root() && operation.peer >= named.size {
            return Err(format!(
                "there is no root of that number in a communicator of {} ranks",
                named.size
            ));
        }
        if !values.is_empty() && values.len() != named.size as usize {
            return Err(format!(
                "{} sizes are told in a communicator of {} ranks",
                values.len(),
                named.size
            ));
        }
        // With nobody else there is nothing to do.
        let Some(Whose::Known(communicator)) = whose else {
            return Ok(None);
        };
        let operation = Operation {
            communicator,
            ..operation
        };
        match call.has_request {
            true => {
                let place = call.address(call.request_place().ok_or("it has no request")?)?;
                Ok(Some((self.with_request(operation, place), values)))
            }
            false => Ok(Some((operation, values))),
        }
    }

    /// What a collective is. Where a rank's own part may be in its place, sizes are those of what it gets.
    fn of_collective(&self, call: &MpiCall<'_>, named: NamedComm) -> Result<(Operation, Vec<u64>), String> {
        let size = |count: usize| bytes(call.integer(count)?, call.datatype(count + 1)?);
        let of = |kind: Kind, bytes: u64| Operation::collective(kind, WORLD, bytes);
        let rooted = |kind: Kind, root: usize, bytes: u64| {
            let root = call.integer(root)?;
            let peer = u32::try_from(root).map_err(|_| format!("{root} is no root"))?;
            Ok::<Operation, String>(Operation {
                peer,
                ..of(kind, bytes)
            })
        };
        let is_root = |root: usize| Ok::<bool, String>(call.integer(root)? == i64::from(named.rank));
        let plain = |operation: Operation| Ok((operation, Vec::new()));
        match call.name {
            "MPI_Barrier" => plain(of(Kind::Barrier, 0)),
            "MPI_Bcast" => plain(rooted(Kind::Bcast, 3, size(1)?)?),
            "MPI_Reduce" => plain(rooted(Kind::Reduce, 5, size(2)?)?),
            "MPI_Allreduce" => plain(of(Kind::Allreduce, size(2)?)),
            "MPI_Scan" => plain(of(Kind::Scan, size(2)?)),
            "MPI_Exscan" => plain(of(Kind::Exscan, size(2)?)),
            "MPI_Reduce_scatter_block" => plain(of(Kind::ReduceScatterBlock, size(2)?)),
            "MPI_Allgather" => plain(of(Kind::Allgather, size(4)?)),
            "MPI_Alltoall" => plain(of(Kind::Alltoall, size(4)?)),
            "MPI_Gather" => plain(rooted(Kind::Gather, 6, size(if is_root(6)? { 4 } else { 1 })?)?),
            "MPI_Scatter" => plain(rooted(Kind::Scatter, 6, size(if is_root(6)? { 1 } else { 4 })?)?),
            "MPI_Gatherv" | "MPI_Scatterv" | "MPI_Allgatherv" | "MPI_Alltoallv" | "MPI_Reduce_scatter" => {
                self.uneven(call, named)
            }
            _ => plain(of(Kind::CommCreate, 0)),
        }
    }

    /// A collective whose sizes differ between ranks.
    fn uneven(&self, call: &MpiCall<'_>, named: NamedComm) -> Result<(Operation, Vec<u64>), String> {
        let sizes = |counts: usize, datatype: usize| {
            let size = call.datatype(datatype)?;
            call.list(counts)?.map(|counts| all_bytes(&counts, size)).transpose()
        };
        let own = |sizes: &[u64]| sizes.get(named.rank as usize).copied().unwrap_or_default();
        let of = |kind: Kind, bytes: u64, received: u64| Operation {
            received,
            ..Operation::collective(kind, WORLD, bytes)
        };
        let root = |place: usize| {
            let root = call.integer(place)?;
            u32::try_from(root).map_err(|_| format!("{root} is no root"))
        };
        Ok(match call.name {
            "MPI_Gatherv" => {
                let peer = root(7)?;
                let sizes = if peer == named.rank { sizes(4, 6)? } else { None }.unwrap_or_default();
                let sent = bytes(call.integer(1)?, call.datatype(2)?)?;
                let sent = if sizes.is_empty() { sent } else { own(&sizes) };
                (
                    Operation {
                        peer,
                        ..of(Kind::Gatherv, sent, 0)
                    },
                    sizes,
                )
            }
            "MPI_Scatterv" => {
                let peer = root(7)?;
                let sizes = if peer == named.rank { sizes(1, 3)? } else { None }.unwrap_or_default();
                let received = bytes(call.integer(5)?, call.datatype(6)?)?;
                let received = if sizes.is_empty() { received } else { own(&sizes) };
                (
                    Operation {
                        peer,
                        ..of(Kind::Scatterv, 0, received)
                    },
                    sizes,
                )
            }
            "MPI_Allgatherv" => match sizes(4, 6)? {
                Some(sizes) => (of(Kind::Allgatherv, own(&sizes), 0), sizes),
                None => (
                    of(Kind::Allgatherv, bytes(call.integer(1)?, call.datatype(2)?)?, 0),
                    Vec::new(),
                ),
            },
            "MPI_Alltoallv" => match (sizes(1, 3)?, sizes(5, 7)?) {
                (Some(sent), Some(received)) => (of(Kind::Alltoallv, sum(&sent), sum(&received)), sent),
                _ => (of(Kind::Alltoallv, UNKNOWN_SIZE, UNKNOWN_SIZE), Vec::new()),
            },
            _ => match sizes(2, 3)? {
                Some(sizes) => (of(Kind::ReduceScatter, 0, own(&sizes)), sizes),
                None => (of(Kind::ReduceScatter, UNKNOWN_SIZE, UNKNOWN_SIZE), Vec::new()),
            },
        })
    }
}
