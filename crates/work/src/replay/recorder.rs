//! Takes a trace and keeps it as the records that ranks play.
//!
//! The rules by which operations of MPI become those that ranks know stand in the limits of the motif `trace`. What they leave out is left
//! out here, what they make the same is the same here.

use super::meetings::{AgreedMeetings, Meetings, stands_for};
use super::names::{CommunicatorUses, KeptFamilies, PackedCommunicators, RequestNames, TagNames};
use super::order::RecordedOrder;
use super::records::{OperationRecord, what};
use crate::kept::{KeptRecords, RecordKeeper, Records, RecordsInTurn};
use crate::mpi::collective::cut;
use crate::mpi::graph::OperationGraph;
use crate::mpi::op::UNNAMED;
use crate::mpi::{LARGEST, LeftOut, peers_of};
use crate::regions::{RecordedRegions, RegionsInTurn};
use bytemuck::Zeroable;
use sha2::{Digest, Sha256};
use std::collections::{BTreeSet, HashMap};
use study::choice;
use trace::operation::{ANY_SOURCE, ANY_TAG, NONE, UNKNOWN_SIZE};
use trace::{Kind, Lists, Mode, Operation, Problem, ReadStop, TraceForm, TraceHeader, TraceSink, WorkUnit};

/// Values of lists of an alltoallv that stay in memory.
const LISTS_IN_MEMORY: usize = 1 << 20;
/// Other ranks of a rank that are counted.
const MOST_PEERS: usize = 1_024;
/// A collective without a list.
const NO_LIST: u64 = u64::MAX;

choice! {
    /// From whom a receive from anybody receives.
    #[derive(Default, Hash)]
    pub enum AnySource {
        #[default]
        Recorded = "recorded", "Whom it was given a message from when it was recorded, where the trace tells that.";
        First = "first", "Whoever sends first.";
    }
}

choice! {
    /// What becomes of that in a trace which does not match.
    #[derive(Default, Hash)]
    pub enum Repairing {
        #[default]
        None = "none", "It is an error.";
        Drop = "drop", "It is left out: messages without a receive and receives without a message, collectives that some rank does not come \
            to, operations with fields that name nothing, writing and reading of others' memory.";
    }
}

/// Takes a trace; a [`CallRecording`] when that is over.
#[derive(Debug)]
pub struct CallRecorder {
    header: TraceHeader,
    any_source: AnySource,
    repair: Repairing,
    records: RecordsInTurn<OperationRecord>,
    keep: usize,
    ranks: Vec<RecordedRank>,
    uses: CommunicatorUses,
    tags: TagNames,
    /// Of a trace whose communicators keep their order; these tell tags then.
    kept: Option<KeptFamilies>,
    meetings: Meetings,
    lists: SizeLists,
    met: u32,
    largest: u64,
    regions: Vec<String>,
    visited: RegionsInTurn,
    left_out: LeftOut,
    /// Of a trace that is a graph.
    order: Option<RecordedOrder>,
}

/// What is known of a rank while it is read.
#[derive(Debug, Default)]
struct RecordedRank {
    requests: RequestNames,
    /// Open requests that there is nothing to wait for.
    silent: BTreeSet<u32>,
    /// It has requests that nobody waits for by name.
    unnamed: bool,
    peers: BTreeSet<u32>,
}

/// A trace as ranks play it.
#[derive(Debug)]
pub struct CallRecording {
    /// Number of ranks.
    pub ranks: u32,
    /// What computations are told in.
    pub unit: WorkUnit,
    /// Names of regions.
    pub regions: Vec<String>,
    /// What ranks did in which region, of a trace of calls that tells of regions or times.
    pub visited: Option<RecordedRegions>,
    /// Operations of all ranks.
    pub records: Records<OperationRecord>,
    /// Communicators.
    pub communicators: PackedCommunicators,
    /// Collectives.
    pub meetings: AgreedMeetings,
    /// Largest message (bytes).
    pub largest: u64,
    /// About how many others a rank talks to.
    pub peers: u32,
    /// When operations are done, of a trace that is a graph.
    pub graph: Option<OperationGraph>,
    /// What of the trace is not in it.
    pub left_out: LeftOut,
    lists: KeptLists,
}

/// Sizes of alltoallvs that come, each list once.
#[derive(Debug)]
struct SizeLists {
    known: HashMap<[u8; 32], u64>,
    places: Vec<(u64, u32)>,
    values: RecordKeeper<u64>,
}

#[derive(Debug)]
struct KeptLists {
    places: Vec<(u64, u32)>,
    values: KeptRecords<u64>,
}

impl SizeLists {
    /// The number of a list.
    fn put(&mut self, values: &[u64]) -> std::io::Result<u64> {
        let digest = Sha256::digest(bytemuck::cast_slice::<u64, u8>(values)).into();
        if let Some(number) = self.known.get(&digest) {
            return Ok(*number);
        }
        let number = self.places.len() as u64;
        self.places.push((self.values.count(), values.len() as u32));
        self.values.extend(values)?;
        self.known.insert(digest, number);
        Ok(number)
    }
}

impl CallRecording {
    /// Bytes to a number of a communicator of `size`, in list `list` of an alltoallv. Where the list has all bytes of the rank only, each of the
    /// others gets as many, and so does itself.
    pub fn listed(&self, list: u32, size: u32, number: u32) -> u64 {
        let Some(&(start, len)) = self.lists.places.get(list as usize) else {
            return 0;
        };
        match len == size {
            true => self.lists.values.get(start + u64::from(number)),
            false => {
                let all = self.lists.values.get(start);
                cut(all, size, number + 1) - cut(all, size, number)
            }
        }
    }

    /// Bytes that it takes, in memory or in files.
    pub fn bytes(&self) -> u64 {
        self.records.bytes() + 8 * self.lists.values.all().len() as u64
    }
}

/// What an operation becomes.
type Taking = Result<(), ReadStop>;

impl CallRecorder {
    /// Keeps fewer than `keep` records in memory.
    pub fn new(any_source: AnySource, repair: Repairing, keep: usize) -> CallRecorder {
        let header = TraceHeader::new("", 0, TraceForm::Program);
        CallRecorder {
            any_source,
            repair,
            records: RecordsInTurn::new(0, keep),
            keep,
            ranks: Vec::new(),
            uses: CommunicatorUses::new(&header),
            tags: TagNames::default(),
            kept: None,
            meetings: Meetings::default(),
            lists: SizeLists {
                known: HashMap::new(),
                places: Vec::new(),
                values: RecordKeeper::new(LISTS_IN_MEMORY),
            },
            met: 0,
            largest: 0,
            regions: Vec::new(),
            visited: RegionsInTurn::new(&header, keep),
            left_out: LeftOut::default(),
            order: None,
            header,
        }
    }

    /// The trace is over.
    ///
    /// # Errors
    /// Communicators that do not fit, collectives that ranks do not agree on, a full disk.
    pub fn finish(self) -> Result<CallRecording, ReadStop> {
        let header = self.header;
        let communicators = match self.kept {
            Some(kept) => kept.pack(&header)?,
            None => self.uses.pack(&header)?,
        };
        let has = |communicator, rank| match &header.communicators[communicator as usize] {
            // One rank by itself needs no group.
            members if members.len() <= 1 => members.rank(0) == Some(rank),
            _ => communicators.has(&header, communicator, rank),
        };
        let of_file = |problem: Problem| Problem {
            file: header.file(problem.rank.unwrap_or(0)).to_owned(),
            ..problem
        };
        let meetings = self.meetings.finish(has).map_err(of_file)?;
        let graph = self.order.map(RecordedOrder::finish).transpose();
        let graph = graph.map_err(of_file)?;
        let talks = self.ranks.iter().map(|rank| rank.peers.len()).max().unwrap_or(0) as u32;
        Ok(CallRecording {
            ranks: header.ranks,
            unit: header.unit,
            visited: self.visited.finish(&self.regions).map_err(cannot_keep)?,
            regions: self.regions,
            records: self.records.finish().map_err(cannot_keep)?,
            communicators,
            meetings,
            largest: self.largest,
            peers: talks + self.met,
            graph,
            left_out: self.left_out,
            lists: KeptLists {
                places: self.lists.places,
                values: self.lists.values.finish().map_err(cannot_keep)?,
            },
        })
    }

    fn take(&mut self, rank: u32, operation: &Operation, lists: &Lists<'_>) -> Taking {
        match operation.kind {
            Kind::Compute => self.push(
                rank,
                OperationRecord {
                    amount: operation.time,
                    communicator: operation.region,
                    ..of(what::COMPUTE)
                },
            ),
            Kind::Sleep => self.push(
                rank,
                OperationRecord {
                    amount: operation.time,
                    ..of(what::SLEEP)
                },
            ),
            Kind::Send | Kind::Isend => self.send(rank, operation),
            Kind::Recv | Kind::Irecv => self.receive(rank, operation),
            Kind::Sendrecv => self.exchange(rank, operation),
            Kind::Wait => self.wait(rank, &[operation.request.into()]),
            Kind::Waitall => match lists.values {
                [] => {
                    self.end_all(rank);
                    self.push(rank, of(what::WAIT_ALL))
                }
                listed => self.wait(rank, listed),
            },
            Kind::Waitany => match operation.request {
                NONE => self.wait_any(rank, lists.values),
                request => self.wait(rank, &[request.into()]),
            },
            Kind::Waitnews => self.push(rank, of(what::WAIT_NEWS)),
            Kind::Test => self.test(rank, operation.request, lists.values),
            Kind::Put | Kind::Get => self.one_sided(operation.kind),
            // The receive that follows waits as well; a communicator is given up, and regions begin and end, without a message.
            Kind::Probe | Kind::CommFree | Kind::Enter | Kind::Leave => Ok(()),
            _ => self.collective(rank, operation, lists),
        }
    }

    /// The same of a graph: one record for each operation, and nothing that waits for others.
    fn take_of_graph(&mut self, rank: u32, operation: &Operation, lists: &Lists<'_>) -> Taking {
        let kind = match operation.kind {
            Kind::Send => Kind::Isend,
            Kind::Recv => Kind::Irecv,
            Kind::Wait | Kind::Waitall | Kind::Waitany | Kind::Waitnews | Kind::Test | Kind::Sendrecv => {
                let reason = format!(
                    "{} in a graph, whose operations say what they come after",
                    operation.kind.name()
                );
                return wrong(reason, "take a trace of calls, or sends and receives");
            }
            kind => kind,
        };
        let alone = Operation {
            kind,
            mode: Mode::Standard,
            request: NONE,
            ..*operation
        };
        self.take(rank, &alone, lists)?;
        let nothing = of(what::SLEEP);
        if self.order.as_ref().is_some_and(|order| order.last.is_none()) {
            // What is left out keeps its number.
            self.push(rank, nothing)?;
        }
        match &mut self.order {
            Some(order) => Ok(order.take(rank, operation, lists)?),
            None => Ok(()),
        }
    }

    fn send(&mut self, rank: u32, operation: &Operation) -> Taking {
        let immediate = operation.kind == Kind::Isend;
        if operation.peer == NONE {
            return self.nothing_to_wait_for(rank, operation.request);
        }
        let record = self.transfer(rank, operation, (operation.peer, operation.tag), true)?;
        if operation.mode == Mode::Buffered {
            // It has been copied when the call returns.
            self.nothing_to_wait_for(rank, operation.request)?;
            self.ranks[rank as usize].unnamed = true;
            let (what, request) = (what::ISEND, UNNAMED);
            return self.push(
                rank,
                OperationRecord {
                    what,
                    request,
                    ..record
                },
            );
        }
        let request = self.begin(rank, operation.request, immediate)?;
        let what = match (operation.mode == Mode::Synchronous, immediate) {
            (false, false) => what::SEND,
            (false, true) => what::ISEND,
            (true, false) => what::SSEND,
            (true, true) => what::ISSEND,
        };
        self.push(
            rank,
            OperationRecord {
                what,
                request,
                ..record
            },
        )
    }

    fn receive(&mut self, rank: u32, operation: &Operation) -> Taking {
        let immediate = operation.kind == Kind::Irecv;
        if operation.peer == NONE {
            return self.nothing_to_wait_for(rank, operation.request);
        }
        let (mut peer, mut tag) = (operation.peer, operation.tag);
        if self.any_source == AnySource::Recorded && operation.source != NONE {
            if peer == ANY_SOURCE {
                peer = operation.source;
            }
            if tag == ANY_TAG {
                tag = operation.source_tag;
            }
        }
        let record = self.transfer(rank, operation, (peer, tag), false)?;
        let request = self.begin(rank, operation.request, immediate)?;
        let what = if immediate { what::IRECV } else { what::RECV };
        self.push(
            rank,
            OperationRecord {
                what,
                request,
                ..record
            },
        )
    }

    fn exchange(&mut self, rank: u32, operation: &Operation) -> Taking {
        let one_way = |kind, peer, tag| Operation {
            kind,
            peer,
            tag,
            source: NONE,
            ..*operation
        };
        match (operation.peer, operation.source) {
            (NONE, NONE) => Ok(()),
            (_, NONE) => self.send(rank, &one_way(Kind::Send, operation.peer, operation.tag)),
            (NONE, _) => {
                let bytes = UNKNOWN_SIZE;
                let receive = one_way(Kind::Recv, operation.source, operation.source_tag);
                self.receive(rank, &Operation { bytes, ..receive })
            }
            _ => {
                let sent = self.transfer(rank, operation, (operation.peer, operation.tag), true)?;
                let come = (operation.source, operation.source_tag);
                let come = self.transfer(rank, operation, come, false)?;
                let record = OperationRecord {
                    more: come.other.into(),
                    source_tag: come.tag,
                    what: what::SENDRECV,
                    ..sent
                };
                self.push(rank, record)
            }
        }
    }

    /// One end of a message with a peer and a tag.
    fn transfer(
        &mut self,
        rank: u32,
        operation: &Operation,
        (peer, tag): (u32, u32),
        sends: bool,
    ) -> Result<OperationRecord, ReadStop> {
        let name = operation.kind.name();
        if sends && (peer == ANY_SOURCE || tag == ANY_TAG) {
            return wrong(
                format!("{name} to any rank or with any tag"),
                "only receives may leave it open",
            );
        }
        if peer >= self.header.ranks && peer != ANY_SOURCE {
            let hint = format!("ranks are below {}", self.header.ranks);
            return wrong(format!("there is no rank {peer} to talk to"), hint);
        }
        if sends && operation.bytes == UNKNOWN_SIZE {
            return wrong(format!("{name} of unknown size"), "record it with sizes of messages");
        }
        if operation.bytes > LARGEST && operation.bytes != UNKNOWN_SIZE {
            let reason = format!("a message of {} bytes is too large", operation.bytes);
            return wrong(reason, format!("there may be {LARGEST} bytes"));
        }
        match tag {
            ANY_TAG => self.uses.any_tag(operation.communicator)?,
            _ => self.uses.message(operation.communicator)?,
        }
        if sends {
            self.largest = self.largest.max(operation.bytes);
        }
        let receiver = if sends { peer } else { rank };
        let tag = match &mut self.kept {
            Some(kept) => kept.tag(operation.communicator, [rank, peer], receiver, tag)?,
            None => self.tags.name(receiver, operation.communicator, tag)?,
        };
        let peers = &mut self.ranks[rank as usize].peers;
        if peers.len() < MOST_PEERS {
            peers.insert(peer);
        }
        Ok(OperationRecord {
            amount: operation.bytes,
            other: peer,
            communicator: operation.communicator,
            tag,
            request: UNNAMED,
            ..OperationRecord::zeroed()
        })
    }

    /// The name of a request that begins, if the operation has one.
    fn begin(&mut self, rank: u32, request: u32, immediate: bool) -> Result<u16, ReadStop> {
        let own = &mut self.ranks[rank as usize];
        match (immediate, request) {
            (false, _) => Ok(UNNAMED),
            (true, NONE) => {
                own.unnamed = true;
                Ok(UNNAMED)
            }
            (true, request) => {
                own.silent.remove(&request);
                Ok(own.requests.open(request)?)
            }
        }
    }

    /// A request for nothing: it is complete.
    fn nothing_to_wait_for(&mut self, rank: u32, request: u32) -> Taking {
        if request != NONE {
            self.ranks[rank as usize].silent.insert(request);
        }
        Ok(())
    }

    /// Waits for some requests: for all at once, where they are all that there are.
    fn wait(&mut self, rank: u32, listed: &[u64]) -> Taking {
        let own = &mut self.ranks[rank as usize];
        let mut names = Vec::with_capacity(listed.len());
        for &request in listed {
            let request = u32::try_from(request).unwrap_or(NONE);
            if own.silent.remove(&request) {
                continue;
            }
            match own.requests.close(request) {
                Some(name) => names.push(name),
                None => {
                    return wrong(
                        format!("request {request} is waited for and not open"),
                        "start it before",
                    );
                }
            }
        }
        let all = names.len() > 1 && own.requests.is_empty() && !own.unnamed;
        if all {
            return self.push(rank, of(what::WAIT_ALL));
        }
        for request in names {
            self.push(
                rank,
                OperationRecord {
                    request,
                    ..of(what::WAIT)
                },
            )?;
        }
        Ok(())
    }

    /// All requests are over; `true` if some were open.
    fn end_all(&mut self, rank: u32) -> bool {
        let own = &mut self.ranks[rank as usize];
        let open = own.unnamed || !own.requests.is_empty();
        own.requests.close_all();
        own.silent.clear();
        own.unnamed = false;
        open
    }

    /// Waits for one that nobody knows: all of them are open still.
    fn wait_any(&mut self, rank: u32, listed: &[u64]) -> Taking {
        let own = &self.ranks[rank as usize];
        let is_open = |request: &u64| u32::try_from(*request).is_ok_and(|request| own.requests.get(request).is_some());
        match listed.is_empty() || listed.iter().any(is_open) {
            true => self.push(rank, of(what::WAIT_ANY)),
            false => Ok(()),
        }
    }

    fn test(&mut self, rank: u32, request: u32, listed: &[u64]) -> Taking {
        let first = listed.first().copied().unwrap_or(request.into());
        let name = u32::try_from(first)
            .ok()
            .and_then(|request| self.ranks[rank as usize].requests.get(request));
        let request = name.unwrap_or(UNNAMED);
        self.push(
            rank,
            OperationRecord {
                request,
                ..of(what::TEST)
            },
        )
    }

    fn one_sided(&mut self, kind: Kind) -> Taking {
        match self.repair {
            Repairing::Drop => {
                self.left_out.others += 1;
                Ok(())
            }
            Repairing::None => {
                let reason = format!(
                    "{} writes or reads another rank's memory, which ranks do not",
                    kind.name()
                );
                wrong(reason, "leave such operations out with repair = \"drop\"")
            }
        }
    }

    fn collective(&mut self, rank: u32, operation: &Operation, lists: &Lists<'_>) -> Taking {
        let communicator = operation.communicator;
        let Some(size) = self.meetings.size(communicator) else {
            return Ok(self.uses.collective(communicator)?);
        };
        if operation.bytes != UNKNOWN_SIZE && operation.bytes.max(operation.received) > 1 << 62 {
            return wrong(
                format!("{} bytes are too many", operation.bytes),
                "record the trace again",
            );
        }
        if operation.bytes == UNKNOWN_SIZE {
            let reason = format!("{} of unknown size", operation.kind.name());
            return wrong(reason, "record it with sizes of collectives");
        }
        let meeting = self.meetings.come(rank, operation, lists)?;
        if size <= 1 {
            return self.nothing_to_wait_for(rank, operation.request);
        }
        let (what, request) = match operation.request {
            NONE => (what::COLLECTIVE, UNNAMED),
            request => (what::ICOLLECTIVE, self.begin(rank, request, true)?),
        };
        match what {
            what::ICOLLECTIVE => self.uses.begun(communicator)?,
            _ => self.uses.collective(communicator)?,
        }
        let more = match operation.kind {
            Kind::Alltoallv => {
                let own = [operation.bytes];
                let whole = lists.values.len() == size as usize;
                let list = if whole { lists.values } else { &own };
                if let Some(bytes) = list.iter().find(|&&bytes| bytes > LARGEST) {
                    return wrong(
                        format!("a message of {bytes} bytes is too large"),
                        format!("there may be {LARGEST} bytes"),
                    );
                }
                self.largest = list.iter().copied().fold(self.largest, u64::max);
                self.lists.put(list).map_err(cannot_keep)?
            }
            _ => NO_LIST,
        };
        if let Some(kind) = stands_for(operation.kind) {
            self.met = self.met.max(peers_of(kind, size));
        }
        let record = OperationRecord {
            amount: meeting.into(),
            more,
            communicator,
            request,
            ..of(what)
        };
        self.push(rank, record)
    }

    #[inline]
    fn push(&mut self, rank: u32, record: OperationRecord) -> Taking {
        if let Some(order) = &mut self.order {
            order.last = Some(record);
        }
        match self.records.push(rank, record).map_err(cannot_keep)? {
            true => Ok(()),
            false => wrong(format!("it has more than {} operations", u32::MAX), "cut the trace"),
        }
    }
}

impl TraceSink for CallRecorder {
    fn begin(&mut self, header: &TraceHeader) -> Result<(), ReadStop> {
        let file = header.file(0);
        if header.ranks == 0 {
            return Err(Problem::new(file, "it has no ranks", "record it again").into());
        }
        *self = CallRecorder {
            header: header.clone(),
            records: RecordsInTurn::new(header.ranks, self.keep),
            uses: CommunicatorUses::new(header),
            meetings: Meetings::new(header),
            visited: RegionsInTurn::new(header, self.keep),
            kept: (header.form == TraceForm::Program)
                .then(|| KeptFamilies::of(header))
                .flatten(),
            order: (header.form == TraceForm::Graph).then(|| RecordedOrder::new(header)),
            ..CallRecorder::new(self.any_source, self.repair, self.keep)
        };
        self.ranks.resize_with(header.ranks as usize, RecordedRank::default);
        Ok(())
    }

    fn operation(&mut self, rank: u32, record: u64, operation: &Operation, lists: &Lists<'_>) -> Result<(), ReadStop> {
        if rank >= self.header.ranks {
            let reason = format!("there is no rank {rank}");
            let hint = format!("the trace has {} ranks", self.header.ranks);
            return Err(Problem::new(self.header.file(0), reason, hint).at(record).into());
        }
        let first = self.records.count(rank);
        self.visited.take(rank, operation, first).map_err(cannot_keep)?;
        let taken = match self.order.is_some() {
            true => self.take_of_graph(rank, operation, lists),
            false => self.take(rank, operation, lists),
        };
        taken.map_err(|stop| match stop {
            ReadStop::Broken(problem) => ReadStop::Broken(Problem {
                file: self.header.file(rank).to_owned(),
                ..problem.of_rank(rank).at(record)
            }),
            other => other,
        })
    }

    /// What is open is waited for: an iteration is over when all of it is.
    fn end(&mut self, names: &[String]) -> Result<(), ReadStop> {
        self.regions = names.to_vec();
        if self.order.is_some() {
            return Ok(());
        }
        (0..self.header.ranks).try_for_each(|rank| match self.end_all(rank) {
            true => {
                let first = self.records.count(rank);
                self.visited.is_in(rank, NONE, first).map_err(cannot_keep)?;
                self.push(rank, of(what::WAIT_ALL))
            }
            false => Ok(()),
        })
    }
}

/// A record with nothing but what it does.
fn of(what: u16) -> OperationRecord {
    OperationRecord {
        what,
        request: UNNAMED,
        ..OperationRecord::zeroed()
    }
}

fn wrong<T>(reason: impl Into<String>, hint: impl Into<String>) -> Result<T, ReadStop> {
    Err(Problem::new("", reason, hint).into())
}

fn cannot_keep(error: std::io::Error) -> ReadStop {
    Problem::new(
        "",
        format!("its operations cannot be kept: {error}"),
        "take another folder for temporary files (TMPDIR)",
    )
    .into()
}
