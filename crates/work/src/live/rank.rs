//! A rank of a program: what its process tells becomes operations, and what the endpoint tells becomes its answers.

use super::computing::RankComputing;
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
use std::collections::VecDeque;

/// Polls from one place, one after the other, until the rest of them is done at once; looks at the clock until each of them takes time.
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
    kept: ByName<RankNews>,
    /// Requests that are open, as they were told.
    requests: ByName<RankEntry>,
    /// Names that have been given and not been waited for since.
    named: ByName<()>,
    /// The send of a `sendrecv` whose receive has not been told yet.
    half: Option<RankEntry>,
    polls: Polls,
    /// The same of looks at the clock.
    looks: Polls,
    /// What was asked for last.
    last: RankEntry,
    pub computing: RankComputing,
    poll: u64,
    pub traps: u64,
}

/// What is known of requests, by their names: small numbers that are given again.
#[derive(Debug)]
struct ByName<T>(Vec<Option<T>>);

impl<T> Default for ByName<T> {
    fn default() -> ByName<T> {
        ByName(Vec::new())
    }
}

impl<T> ByName<T> {
    fn get(&self, name: u32) -> Option<&T> {
        self.0.get(name as usize)?.as_ref()
    }

    /// Returns what was there.
    fn insert(&mut self, name: u32, value: T) -> Option<T> {
        // Names have 16 bits.
        let place = name as usize & 0xFFFF;
        if self.0.len() <= place {
            self.0.resize_with(place + 1, || None);
        }
        self.0[place].replace(value)
    }

    fn remove(&mut self, name: u32) -> Option<T> {
        self.0.get_mut(name as usize)?.take()
    }

    fn clear(&mut self) {
        self.0.clear();
    }

    fn values(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flatten()
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
            kept: ByName::default(),
            requests: ByName::default(),
            named: ByName::default(),
            half: None,
            polls: Polls::default(),
            looks: Polls::default(),
            last: RankEntry::default(),
            computing: RankComputing::new(wish.computing.clone()),
            poll: wish.poll.max(1),
            traps: 0,
        }
    }

    /// Asks the processor for what the next operation will look at, and for where it will be noted.
    pub fn foresee(&self) {
        des::prefetch(self.told.as_slices().0.as_ptr());
        des::prefetch(self.payloads.as_slices().0.as_ptr());
        des::prefetch(self.news.as_slices().0.as_ptr());
        des::prefetch(self.records.as_ptr().wrapping_add(self.records.len()));
        des::prefetch(self.requests.0.as_ptr());
        des::prefetch(self.named.0.as_ptr());
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
            kind::WAIT => self.requests.get(self.last.request).copied(),
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
        self.kept.insert(piece.request, piece);
    }

    /// A request is complete.
    pub fn complete(&mut self, request: u16) {
        self.requests.remove(request.into());
        let piece = self.kept.remove(request.into()).unwrap_or(RankNews {
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
        let told = &mut self.told;
        self.computing.take(number, &entry, host, &mut |time| {
            if time > 0 {
                told.push_back(ToldOperation::As(compute(time)));
            }
        });
        if entry.kind == kind::POLL {
            self.looks.count = 0;
            self.poll(&entry);
            return Ok(());
        }
        if entry.kind != kind::MORE {
            self.polls.count = 0;
        }
        match entry.kind {
            kind::CLOCK => self.look_at_clock(&entry),
            kind::MORE => {}
            _ => self.looks.count = 0,
        }
        let broken = |reason: &str| Failure::broken(number, &entry, reason);
        let speaks = matches!(
            entry.kind,
            kind::SEND | kind::ISEND | kind::SENDRECV | kind::RECV | kind::IRECV | kind::COLLECTIVE | kind::ICOLLECTIVE
        );
        if speaks && !families.knows(entry.communicator) {
            return Err(broken("a communicator that it has not spoken of"));
        }
        let record = match entry.kind {
            kind::SEND | kind::ISEND => self.send(&entry),
            kind::SENDRECV if entry.bytes > LARGEST => return Err(broken("more bytes than a message may have")),
            kind::SENDRECV => {
                self.half = Some(entry);
                return Ok(());
            }
            kind::RECV | kind::IRECV => match self.half.take() {
                Some(send) => send_and_receive(self.send(&send), &entry),
                None => receive(&entry),
            },
            kind::WAIT => named(what::WAIT, entry.request),
            kind::WAIT_ALL => named(what::WAIT_ALL, 0),
            // What has been heard since the last answer is news already.
            kind::WAIT_NEWS if !self.news.is_empty() => return Ok(()),
            kind::WAIT_NEWS => named(what::WAIT_NEWS, 0),
            kind::COLLECTIVE | kind::ICOLLECTIVE => self
                .collective(&entry, host)
                .ok_or_else(|| broken("a collective that is none"))?,
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
            if self.named.insert(entry.request, ()).is_some() {
                // The process has heard that it is complete, and never waited for it.
                self.tell(number, named(what::WAIT, entry.request))?;
            }
        }
        match entry.kind {
            kind::WAIT => _ = self.named.remove(entry.request),
            kind::WAIT_ALL => self.named.clear(),
            _ => {}
        }
        self.tell(number, record)
    }

    /// An operation is what comes next, unless it is another one than was recorded.
    fn tell(&mut self, number: u32, record: OperationRecord) -> Result<(), Failure> {
        self.told.push_back(ToldOperation::As(record));
        if !self.computing.is_recorded() {
            return Ok(());
        }
        let (operation, _) = super::log::of_record(self, &record, 0);
        self.computing.does(number, &operation).map_err(Failure::Disagrees)
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

    /// A look at the clock. Who does nothing else waits for a time, which has to come.
    fn look_at_clock(&mut self, entry: &RankEntry) {
        if self.looks.place != entry.place || self.looks.count == 0 {
            self.looks = Polls {
                place: entry.place,
                count: 0,
                since: self.clock,
            };
        }
        self.looks.count += 1;
        if self.looks.count > MOST_POLLS {
            self.told.push_back(ToldOperation::As(pause(self.poll)));
        }
    }

    fn send(&mut self, entry: &RankEntry) -> OperationRecord {
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
            ..message(entry)
        }
    }

    fn collective(&mut self, entry: &RankEntry, host: &HostSide) -> Option<OperationRecord> {
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
            communicator: entry.communicator,
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

fn message(entry: &RankEntry) -> OperationRecord {
    OperationRecord {
        amount: entry.bytes,
        other: entry.peer,
        communicator: entry.communicator,
        tag: entry.tag,
        request: entry.request as u16,
        ..OperationRecord::zeroed()
    }
}

fn receive(entry: &RankEntry) -> OperationRecord {
    OperationRecord {
        what: match entry.kind {
            kind::IRECV => what::IRECV,
            _ => what::RECV,
        },
        ..message(entry)
    }
}

fn send_and_receive(send: OperationRecord, receive: &RankEntry) -> OperationRecord {
    OperationRecord {
        what: what::SENDRECV,
        more: receive.peer.into(),
        source_tag: receive.tag,
        ..send
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
