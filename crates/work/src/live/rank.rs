//! A rank of a program: what its process tells becomes operations, and what the endpoint tells becomes its answers.

use super::computing::recorded;
use super::computing::{CallPlace, ComputingWish, MeasuredStretches, ProgramTimes, Stretch};
use super::families::Families;
use super::launch::ProgramWish;
use super::messages::{MessageAddress, Said};
use super::report::Failure;
use crate::mpi::op::{ANY_SIZE, ANY_SOURCE, ANY_TAG, Transfer, UNNAMED};
use crate::mpi::{Collective, CollectiveKind, LARGEST, Op};
use crate::replay::{OperationRecord, what};
use bytemuck::Zeroable;
use coupling::entry::{self, NO_PAYLOAD, RankNews, collective, flag, kind, news};
use coupling::{HostSide, RankEntry};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// Polls from one place, one after the other, until the rest of them is done at once.
const MOST_POLLS: u32 = 16;
/// Where a communicator and a kind of collective stand in a record.
const KINDS: [CollectiveKind; 10] = [
    CollectiveKind::Barrier,
    CollectiveKind::Bcast,
    CollectiveKind::Reduce,
    CollectiveKind::Allreduce,
    CollectiveKind::Gather,
    CollectiveKind::Scatter,
    CollectiveKind::Allgather,
    CollectiveKind::ReduceScatter,
    CollectiveKind::Alltoall,
    CollectiveKind::Alltoallv,
];

/// What is to be done for a rank now.
pub(super) enum RankTurn {
    /// The endpoint does this, which is the rank's next operation from now on.
    Do(OperationRecord),
    /// The process waits for its answer.
    Answer,
    /// The process is asked.
    Ask,
}

/// An operation that has been told.
#[derive(Clone, Copy, Debug)]
enum ToldOperation {
    As(OperationRecord),
    /// Until the next time at which a process that polls would look.
    RestOfPoll,
}

/// Where a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProcessStage {
    /// It has not called `MPI_Init`.
    Starts,
    Works,
    /// It has called `MPI_Finalize`, and waits for the answer.
    Finishes,
    Over,
}

/// A rank.
#[derive(Debug)]
pub(super) struct LiveRank {
    records: Vec<OperationRecord>,
    /// Bytes to each member, of all-to-alls of sizes of their own.
    lists: Vec<Box<[u64]>>,
    told: VecDeque<ToldOperation>,
    /// What the sends among them say, in their order.
    payloads: VecDeque<Said>,
    /// The process waits for an answer.
    waits: bool,
    stage: ProcessStage,
    /// When it was asked last (ps).
    pub clock: u64,
    /// What the process has not been told yet.
    pub news: VecDeque<RankNews>,
    /// Receives that have their message and are not complete.
    kept: HashMap<u16, RankNews>,
    /// Requests that are open, as they were told.
    requests: HashMap<u32, RankEntry>,
    /// Names that have been given and not been waited for since.
    named: HashSet<u32>,
    /// The send of a `sendrecv` whose receive has not been told yet.
    half: Option<RankEntry>,
    polls: Polls,
    /// What was asked for last.
    last: RankEntry,
    pub computing: RankComputing,
    poll: u64,
    pub traps: u64,
}

/// What a rank computes between its calls.
#[derive(Debug)]
pub(super) struct RankComputing {
    wish: Arc<ComputingWish>,
    /// Calls so far, and operations; of these the one before which what was recorded has been taken.
    calls: u64,
    operations: u64,
    taken: Option<u64>,
    /// The call before: its address.
    after: u64,
    places: HashMap<u64, Option<CallPlace>>,
    /// Names of the regions that it is in, and all beginnings and ends, by the number of the record before which they were.
    inside: Vec<Arc<str>>,
    pub turns: Vec<(u32, Option<Arc<str>>)>,
    pub measured: MeasuredStretches,
}

impl RankComputing {
    fn new(wish: Arc<ComputingWish>) -> RankComputing {
        RankComputing {
            wish,
            calls: 0,
            operations: 0,
            taken: None,
            after: 0,
            places: HashMap::new(),
            inside: Vec::new(),
            turns: Vec::new(),
            measured: MeasuredStretches::default(),
        }
    }

    /// A region begins that has a name, or the innermost ends.
    fn turn(&mut self, place: u32, name: Option<String>) {
        match name {
            Some(name) => {
                let name: Arc<str> = name.into();
                self.inside.push(name.clone());
                self.turns.push((place, Some(name)));
            }
            None if self.inside.pop().is_some() => self.turns.push((place, None)),
            None => {}
        }
    }

    /// What the rank has computed before an entry (ps).
    fn take(&mut self, number: u32, entry: &RankEntry, host: &HostSide) -> u64 {
        if entry.flags & flag::CALL == 0 {
            return 0;
        }
        let after = std::mem::replace(&mut self.after, entry.place);
        let first = after == 0;
        let wish = self.wish.clone();
        if first || (wish.times == ProgramTimes::Zero) {
            // Whatever a process does before its first call, all start at once.
            self.calls += 1;
            return 0;
        }
        let is_measured = wish.measures_cpu() && super::launch::LaunchManner::of_program(0).table.is_some();
        let place = match wish.needs_places() || is_measured {
            true => self.place(number, after, host),
            false => None,
        };
        let region = self.inside.last().map_or("", |name| name);
        if is_measured && let Some(place) = &place {
            self.measured.add(region, place, entry.compute, (number, after));
        }
        let stretch = Stretch {
            measured: entry.compute,
            after: place.as_ref(),
            region,
            number: match wish.times {
                ProgramTimes::Recorded(_) => (number, self.operations),
                _ => (number, self.calls),
            },
        };
        self.calls += 1;
        let again = self.taken.replace(self.operations) == Some(self.operations);
        if again && matches!(wish.times, ProgramTimes::Recorded(_)) {
            return 0;
        }
        wish.time(&stretch)
    }

    /// The place of an address of the rank's process.
    fn place(&mut self, number: u32, address: u64, host: &HostSide) -> Option<CallPlace> {
        let find = || {
            let (file, offset) = super::report::place::module(host.area().process(number), address)?;
            Some(CallPlace::new(file.rsplit('/').next().unwrap_or(&file), offset))
        };
        self.places.entry(address).or_insert_with(find).clone()
    }

    /// An operation of the rank is known.
    fn does(&mut self, number: u32, operation: &trace::Operation) -> Result<(), Failure> {
        if recorded::may_differ(operation.kind) {
            return Ok(());
        }
        let own = (number, self.operations);
        self.operations += 1;
        match &self.wish.times {
            ProgramTimes::Recorded(recorded) => recorded.agrees(own, operation).map_err(Failure::Disagrees),
            ProgramTimes::Zero | ProgramTimes::Cpu { .. } | ProgramTimes::Table(_) => Ok(()),
        }
    }
}

/// Polls from one place without anything between.
#[derive(Clone, Copy, Debug, Default)]
struct Polls {
    place: u64,
    count: u32,
    /// When the first of them was (ps).
    since: u64,
}

impl LiveRank {
    pub fn new(wish: &ProgramWish) -> LiveRank {
        LiveRank {
            records: Vec::new(),
            lists: Vec::new(),
            told: VecDeque::new(),
            payloads: VecDeque::new(),
            waits: false,
            stage: ProcessStage::Starts,
            clock: 0,
            news: VecDeque::new(),
            kept: HashMap::new(),
            requests: HashMap::new(),
            named: HashSet::new(),
            half: None,
            polls: Polls::default(),
            last: RankEntry::default(),
            computing: RankComputing::new(wish.computing.clone()),
            poll: wish.poll.max(1),
            traps: 0,
        }
    }

    /// An operation that it was asked for before.
    pub fn done(&self, index: u32) -> Option<Op> {
        self.records.get(index as usize).map(|record| self.op(record))
    }

    pub fn records(&self) -> &[OperationRecord] {
        &self.records
    }

    pub fn is_over(&self) -> bool {
        self.stage == ProcessStage::Over
    }

    pub fn has_begun(&self) -> bool {
        self.stage != ProcessStage::Starts
    }

    /// What the process told last, and the request that it waits for, if it is one.
    pub fn last(&self) -> (RankEntry, Option<RankEntry>) {
        let request = match self.last.kind {
            kind::WAIT => self.requests.get(&self.last.request).copied(),
            _ => None,
        };
        (self.last, request)
    }

    /// Requests that are open.
    pub fn open(&self) -> impl Iterator<Item = &RankEntry> {
        self.requests.values()
    }

    /// What is next.
    pub fn turn(&mut self) -> RankTurn {
        let record = match self.told.pop_front() {
            Some(ToldOperation::As(record)) => record,
            Some(ToldOperation::RestOfPoll) => pause(self.poll - (self.clock - self.polls.since) % self.poll),
            None if self.waits => return RankTurn::Answer,
            None => return RankTurn::Ask,
        };
        self.records.push(record);
        RankTurn::Do(record)
    }

    /// The process has its answer.
    pub fn answered(&mut self) {
        // What had no room comes with the next answer, which the process asks for at once.
        self.waits = false;
        if self.stage == ProcessStage::Finishes {
            self.stage = ProcessStage::Over;
        }
    }

    /// A receive has its message, and is not complete yet.
    pub fn keep(&mut self, piece: RankNews) {
        self.kept.insert(piece.request as u16, piece);
    }

    /// A request is complete.
    pub fn complete(&mut self, request: u16) {
        self.requests.remove(&request.into());
        let piece = self.kept.remove(&request).unwrap_or(RankNews {
            kind: news::COMPLETED,
            request: request.into(),
            payload: NO_PAYLOAD,
            ..RankNews::default()
        });
        self.news.push_back(piece);
    }

    /// Bytes to the member of a communicator with this number, in the all-to-all with this list.
    pub fn listed(&self, list: u32, number: u32) -> u64 {
        let list = self.lists.get(list as usize);
        list.and_then(|list| list.get(number as usize)).copied().unwrap_or(0)
    }

    /// The bytes to each member, in the all-to-all with this list.
    pub fn list(&self, list: u32) -> &[u64] {
        self.lists.get(list as usize).map_or(&[], |list| list)
    }

    /// What a record of a send puts on its way: to whom, from where, what.
    pub fn sent(&mut self, number: u32, record: &OperationRecord) -> Option<(u32, MessageAddress, Said)> {
        match record.what {
            what::SEND | what::ISEND | what::SSEND | what::ISSEND | what::SENDRECV => {
                let said = self.payloads.pop_front()?;
                Some((record.other, (number, record.communicator, record.tag), said))
            }
            _ => None,
        }
    }

    /// What the process tells next.
    pub fn take(&mut self, number: u32, entry: RankEntry, host: &HostSide, families: &Families) -> Result<(), Failure> {
        self.waits = entry.flags & flag::TRAP != 0;
        self.traps += u64::from(self.waits);
        if entry.kind != kind::MORE {
            self.last = entry;
        }
        let computed = self.computing.take(number, &entry, host);
        if computed > 0 {
            self.told.push_back(ToldOperation::As(compute(computed)));
        }
        if entry.kind == kind::POLL {
            self.poll(&entry);
            return Ok(());
        }
        if entry.kind != kind::MORE {
            self.polls.count = 0;
        }
        let broken = |reason: &str| Failure::broken(number, &entry, reason);
        if matches!(
            entry.kind,
            kind::SEND | kind::ISEND | kind::SENDRECV | kind::RECV | kind::IRECV
        ) && families.number(entry.communicator).is_none()
        {
            return Err(broken("a message in a communicator that it has not spoken of"));
        }
        let record = match entry.kind {
            kind::SEND | kind::ISEND => self.send(&entry, families),
            kind::SENDRECV if entry.bytes > LARGEST => return Err(broken("more bytes than a message may have")),
            kind::SENDRECV => {
                self.half = Some(entry);
                return Ok(());
            }
            kind::RECV | kind::IRECV => match self.half.take() {
                Some(send) => self.send_and_receive(&send, &entry, families),
                None => self.receive(&entry, families),
            },
            kind::WAIT => named(what::WAIT, entry.request),
            kind::WAIT_ALL => named(what::WAIT_ALL, 0),
            // What has been heard since the last answer is news already.
            kind::WAIT_NEWS if !self.news.is_empty() => return Ok(()),
            kind::WAIT_NEWS => named(what::WAIT_NEWS, 0),
            kind::COLLECTIVE | kind::ICOLLECTIVE => self
                .collective(&entry, host, families)
                .ok_or_else(|| broken("a collective that is none, or on a communicator that it has not spoken of"))?,
            kind::COMMUNICATOR if make(&entry, host, families) => return Ok(()),
            kind::COMMUNICATOR => return Err(broken("a communicator that cannot be, beside those that there are")),
            // Its number is not given again.
            kind::FREE_COMMUNICATOR => return Ok(()),
            kind::COMPUTE if entry.bytes > 0 => pause(entry.bytes),
            kind::REGION | kind::END_REGION => return self.turn_region(&entry, host),
            kind::INIT => {
                self.stage = ProcessStage::Works;
                return Ok(());
            }
            kind::FINALIZE => {
                self.stage = ProcessStage::Finishes;
                return Ok(());
            }
            kind::ABORT => {
                return Err(Failure::Aborted {
                    rank: number,
                    code: entry.peer as i32,
                });
            }
            kind::CLOCK | kind::COMPUTE | kind::MORE => return Ok(()),
            _ => return Err(broken("an entry of a kind that is not known")),
        };
        let is_room = matches!(entry.kind, kind::RECV | kind::IRECV);
        if entry.bytes > LARGEST && !is_room && record.what != what::SLEEP {
            return Err(broken("more bytes than a message may have"));
        }
        if matches!(entry.kind, kind::ISEND | kind::IRECV | kind::ICOLLECTIVE) {
            self.requests.insert(entry.request, entry);
            if !self.named.insert(entry.request) {
                // The process has heard that it is complete, and never waited for it.
                self.told.push_back(ToldOperation::As(named(what::WAIT, entry.request)));
            }
        }
        match entry.kind {
            kind::WAIT => _ = self.named.remove(&entry.request),
            kind::WAIT_ALL => self.named.clear(),
            _ => {}
        }
        self.told.push_back(ToldOperation::As(record));
        match record.what {
            what::SLEEP => Ok(()),
            _ => {
                let (operation, _) = super::log::of_record(self, &record, 0);
                self.computing.does(number, &operation)
            }
        }
    }

    /// A region of the program begins or ends.
    fn turn_region(&mut self, entry: &RankEntry, host: &HostSide) -> Result<(), Failure> {
        let name = (entry.kind == kind::REGION).then(|| {
            let name = host.arena().copy(entry.payload);
            String::from_utf8_lossy(&name).into_owned()
        });
        let place = self.records.len() + self.told.len();
        self.computing.turn(place as u32, name);
        Ok(())
    }

    /// A look for news. A process that does nothing else waits until there is some, and goes on at the time at which it would have looked.
    fn poll(&mut self, entry: &RankEntry) {
        if self.polls.place != entry.place || self.polls.count == 0 {
            self.polls = Polls {
                place: entry.place,
                count: 0,
                since: self.clock,
            };
        }
        self.polls.count += 1;
        match self.polls.count > MOST_POLLS && self.news.is_empty() {
            true => {
                self.told.push_back(ToldOperation::As(named(what::WAIT_NEWS, 0)));
                self.told.push_back(ToldOperation::RestOfPoll);
            }
            false => self.told.push_back(ToldOperation::As(pause(self.poll))),
        }
        self.told
            .push_back(ToldOperation::As(named(what::TEST, UNNAMED.into())));
    }

    fn send(&mut self, entry: &RankEntry, families: &Families) -> OperationRecord {
        let synchronous = entry.flags & flag::SYNCHRONOUS != 0;
        self.payloads.push_back(Said {
            bytes: entry.bytes,
            payload: entry.payload,
        });
        OperationRecord {
            what: match (entry.kind, synchronous) {
                (kind::ISEND, false) => what::ISEND,
                (kind::ISEND, true) => what::ISSEND,
                (_, false) => what::SEND,
                (_, true) => what::SSEND,
            },
            ..message(entry, families)
        }
    }

    fn receive(&mut self, entry: &RankEntry, families: &Families) -> OperationRecord {
        OperationRecord {
            what: match entry.kind {
                kind::IRECV => what::IRECV,
                _ => what::RECV,
            },
            ..message(entry, families)
        }
    }

    fn send_and_receive(&mut self, send: &RankEntry, receive: &RankEntry, families: &Families) -> OperationRecord {
        OperationRecord {
            what: what::SENDRECV,
            more: receive.peer.into(),
            source_tag: receive.tag,
            ..self.send(send, families)
        }
    }

    fn collective(&mut self, entry: &RankEntry, host: &HostSide, families: &Families) -> Option<OperationRecord> {
        if usize::from(entry.tag) >= KINDS.len() {
            return None;
        }
        let is_listed = entry.tag == collective::ALLTOALLV;
        if is_listed {
            let bytes = host.arena().copy(entry.payload);
            self.lists
                .push(words(&bytes, bytes.len() as u64, u64::from_le_bytes).into());
        }
        Some(OperationRecord {
            what: match entry.kind {
                kind::ICOLLECTIVE => what::ICOLLECTIVE,
                _ => what::COLLECTIVE,
            },
            request: entry.request as u16,
            amount: entry.bytes,
            communicator: families.number(entry.communicator)?,
            other: entry.peer,
            tag: entry.tag,
            more: if is_listed { self.lists.len() as u64 - 1 } else { 0 },
            ..OperationRecord::zeroed()
        })
    }

    /// A record as an operation of the endpoint.
    pub fn op(&self, record: &OperationRecord) -> Op {
        match record.what {
            what::COMPUTE | what::SLEEP => Op::Compute { time: record.amount },
            what::SEND | what::SSEND => Op::Send(transfer(record)),
            what::ISEND | what::ISSEND => Op::Isend(transfer(record)),
            what::RECV => Op::Recv(received(record)),
            what::IRECV => Op::Irecv(received(record)),
            what::SENDRECV => Op::SendRecv {
                send: transfer(record),
                recv: received(&OperationRecord {
                    other: record.more as u32,
                    tag: record.source_tag,
                    ..*record
                }),
            },
            what::WAIT => Op::Wait {
                request: record.request,
            },
            what::WAIT_ALL => Op::WaitAll,
            what::WAIT_NEWS => Op::WaitNews,
            what::TEST => Op::Test {
                request: record.request,
            },
            what::ICOLLECTIVE => Op::Icollective {
                collective: meeting(record),
                request: record.request,
            },
            _ => Op::Collective(meeting(record)),
        }
    }
}

/// A rank speaks of a communicator; `false` if that cannot be.
fn make(entry: &RankEntry, host: &HostSide, families: &Families) -> bool {
    let members = words(&host.arena().copy(entry.payload), entry.bytes, u32::from_le_bytes);
    families.tell(entry.communicator, &members)
}

fn meeting(record: &OperationRecord) -> Collective {
    let kind = KINDS[usize::from(record.tag)];
    Collective {
        kind,
        communicator: record.communicator as u16,
        bytes: record.amount,
        root: match kind {
            CollectiveKind::Alltoallv => record.more as u32,
            _ => record.other,
        },
    }
}

/// The first numbers of a block, of `bytes` bytes.
fn words<const N: usize, T>(block: &[u8], bytes: u64, read: impl Fn([u8; N]) -> T) -> Vec<T> {
    let bytes = block.len().min(bytes as usize);
    let (words, _) = block[..bytes].as_chunks();
    words.iter().map(|word| read(*word)).collect()
}

fn compute(time: u64) -> OperationRecord {
    OperationRecord {
        what: what::COMPUTE,
        amount: time,
        ..OperationRecord::zeroed()
    }
}

/// Time that goes by whatever computing takes.
fn pause(time: u64) -> OperationRecord {
    OperationRecord {
        what: what::SLEEP,
        ..compute(time)
    }
}

fn named(what: u16, request: u32) -> OperationRecord {
    OperationRecord {
        what,
        request: request as u16,
        ..OperationRecord::zeroed()
    }
}

fn message(entry: &RankEntry, families: &Families) -> OperationRecord {
    OperationRecord {
        amount: entry.bytes,
        other: entry.peer,
        communicator: families.number(entry.communicator).unwrap_or(0),
        tag: entry.tag,
        request: entry.request as u16,
        ..OperationRecord::zeroed()
    }
}

fn transfer(record: &OperationRecord) -> Transfer {
    Transfer {
        peer: record.other,
        bytes: record.amount,
        tag: record.tag,
        communicator: record.communicator as u16,
        request: record.request,
        synchronous: matches!(record.what, what::SSEND | what::ISSEND),
    }
}

/// A receive takes whatever comes: the process itself sees whether it has room.
fn received(record: &OperationRecord) -> Transfer {
    Transfer {
        bytes: ANY_SIZE,
        ..transfer(record)
    }
}

const _: () = assert!(crate::mpi::MOST_MADE == entry::MOST_COMMUNICATORS as usize);
const _: () = assert!(ANY_SOURCE == entry::ANY_SOURCE && ANY_TAG == entry::ANY_TAG);
const _: () = assert!(crate::mpi::op::BLOCK as u32 == entry::BLOCKING);
