//! Writes archives: any trace whose operations follow each other, for Vampir, Scalasca and whoever else reads OTF2.
//!
//! An operation is a call of MPI, entered when it began and left when it ended; computations are the time between calls. Time between
//! operations that nothing covers is in a region `MPI_OTHER`, so that it does not become computation. An operation that began before the
//! one before it had ended, or of which that is not known, begins where that one ended. What OTF2 has no place for is not kept: lanes,
//! interfaces, sizes from rank to rank of collectives (their sums are), and which of a list a rank waits for where it is not known (the first is
//! written). Computations that follow each other become one, and a sleep becomes a computation. A receive from any source or with any tag is
//! one of what was received, where that is known; from any source without that it is refused.

mod encode;
mod event_file;
mod functions;
mod global;

use super::collective;
use crate::header::{Members, TraceForm, TraceHeader, WorkUnit};
use crate::operation::{ANY_SOURCE, ANY_TAG, Kind, Lists, NONE, Operation};
use crate::problem::{Problem, ReadStop};
use crate::sink::TraceSink;
use encode::FieldWriter;
use event_file::EventFile;
use functions::{FUNCTIONS, OTHER};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// Bytes of events that wait in memory, of all ranks, before they are written.
const MOST_WAITING: usize = 1 << 26;
/// Members from which on they are looked up in a map.
const MANY: u32 = 16;

/// A rank whose events are written.
#[derive(Default)]
struct WrittenRank {
    file: EventFile,
    /// Requests that have begun, in their order, with what ends them.
    open: BTreeMap<u64, (u32, Ending)>,
    /// The place of each in that order.
    places: HashMap<u32, u64>,
    begun: u64,
    /// When the operation before ended (ps); nothing has begun without it.
    now: Option<u64>,
}

/// The record that ends a request.
#[derive(Clone)]
struct Ending {
    id: u8,
    bytes: Vec<u8>,
}

/// Writes an archive: `X.otf2`, `X.def` and the folder `X`, which must not be there. The anchor `X.otf2` is written last, when all is whole.
pub struct ArchiveWriter {
    anchor: PathBuf,
    folder: PathBuf,
    creator: String,
    header: TraceHeader,
    /// Numbers in communicators of many listed ranks.
    numbers: HashMap<u32, HashMap<u32, u32>>,
    ranks: Vec<WrittenRank>,
    waiting: usize,
    length: u64,
    /// Regions that have to have names.
    regions: u64,
}

impl ArchiveWriter {
    /// Writes an archive of this name, which ends with `.otf2`; `creator` is who it says it is from.
    pub fn new(anchor: &Path, creator: &str) -> ArchiveWriter {
        ArchiveWriter {
            anchor: anchor.to_owned(),
            folder: anchor.with_extension(""),
            creator: creator.to_owned(),
            header: TraceHeader::new("otf2", 0, TraceForm::Program),
            numbers: HashMap::new(),
            ranks: Vec::new(),
            waiting: 0,
            length: 0,
            regions: 0,
        }
    }

    fn path(&self, rank: u32, ending: &str) -> PathBuf {
        self.folder.join(format!("{rank}.{ending}"))
    }

    /// The number of a rank in a communicator.
    fn number(&self, communicator: u32, rank: u32) -> Result<u32, String> {
        let members = self.header.communicators.get(communicator as usize);
        let members = members.ok_or_else(|| format!("there is no communicator {communicator}"))?;
        let found = match self.numbers.get(&communicator) {
            Some(numbers) => numbers.get(&rank).copied(),
            None => members.number(rank),
        };
        found.ok_or_else(|| format!("rank {rank} is not in communicator {communicator}"))
    }

    /// The fields of a message: the other end, the communicator, the tag and the size.
    fn message(&self, operation: &Operation, peer: (u32, u32), bytes: u64) -> Result<FieldWriter, String> {
        let (peer, tag) = peer;
        if peer == ANY_SOURCE {
            let kind = operation.kind.name();
            return Err(format!("a {kind} from any rank has no sender that could be written"));
        }
        let peer = self.number(operation.communicator, peer)?;
        let mut fields = FieldWriter::default();
        fields
            .number(peer)
            .number(operation.communicator)
            .number(tag)
            .long(bytes);
        Ok(fields)
    }

    /// The fields of a collective.
    fn collective(&self, rank: u32, operation: &Operation, lists: &Lists<'_>) -> Result<FieldWriter, String> {
        let place = self.number(operation.communicator, rank)?;
        let n = self.header.communicators[operation.communicator as usize].len();
        let (sent, received) = collective::recorded(operation, lists.values, n, place);
        let mut fields = FieldWriter::default();
        fields
            .byte(collective::op(operation.kind))
            .number(operation.communicator);
        fields.number(operation.peer).long(sent).long(received);
        Ok(fields)
    }

    fn record(&mut self, rank: u32, time: u64, record: &[u8]) -> Result<(), ReadStop> {
        let path = self.path(rank, "evt");
        let file = &mut self.ranks[rank as usize].file;
        let before = file.waiting();
        file.event(&path, time, record).map_err(|error| cannot(&path, &error))?;
        self.waiting = (self.waiting + file.waiting()).saturating_sub(before);
        self.length = self.length.max(time);
        if self.waiting > MOST_WAITING {
            for rank in 0..self.ranks.len() {
                let path = self.path(rank as u32, "evt");
                let file = &mut self.ranks[rank].file;
                if file.waiting() > 0 {
                    file.spill(&path).map_err(|error| cannot(&path, &error))?;
                }
            }
            self.waiting = 0;
        }
        Ok(())
    }

    fn long(&mut self, rank: u32, time: u64, id: u8, fields: &FieldWriter) -> Result<(), ReadStop> {
        let mut record = FieldWriter::default();
        record.record(id, fields);
        self.record(rank, time, &record.bytes)
    }

    fn short(&mut self, rank: u32, time: u64, id: u8, number: u64) -> Result<(), ReadStop> {
        let mut record = FieldWriter::default();
        record.byte(id).long(number);
        self.record(rank, time, &record.bytes)
    }

    fn begin_request(&mut self, rank: u32, request: u32, id: u8, fields: FieldWriter) {
        let rank = &mut self.ranks[rank as usize];
        let bytes = fields.bytes;
        rank.places.insert(request, rank.begun);
        rank.open.insert(rank.begun, (request, Ending { id, bytes }));
        rank.begun += 1;
    }

    /// Ends requests of a list; all that are open without one.
    fn end_requests(&mut self, rank: u32, time: u64, names: Option<&[u64]>) -> Result<(), ReadStop> {
        let WrittenRank { open, places, .. } = &self.ranks[rank as usize];
        let place = |name: &u64| places.get(&u32::try_from(*name).ok()?).copied();
        let places: Vec<u64> = match names {
            None => open.keys().copied().collect(),
            Some(names) => names.iter().filter_map(place).collect(),
        };
        for place in places {
            if let Some((request, ending)) = self.ranks[rank as usize].open.remove(&place) {
                let mut fields = FieldWriter { bytes: ending.bytes };
                match ending.id {
                    16 => self.short(rank, time, 16, request.into())?,
                    id => self.long(rank, time, id, fields.long(request.into()))?,
                }
            }
        }
        Ok(())
    }

    /// What is recorded within a call that begins and ends at these times.
    fn call(&mut self, rank: u32, operation: &Operation, lists: &Lists<'_>, times: (u64, u64)) -> Result<(), ReadStop> {
        use Kind as K;
        let refused = |reason: String| ReadStop::Refused(format!("rank {rank}: {reason}"));
        let (begin, end) = times;
        let it = operation;
        let name = [u64::from(it.request)];
        match it.kind {
            K::Send | K::Sendrecv => {
                let fields = self.message(it, (it.peer, it.tag), it.bytes).map_err(refused)?;
                self.long(rank, begin, 14, &fields)?;
                if it.kind == K::Sendrecv {
                    let fields = self
                        .message(it, (it.source, it.source_tag), it.received)
                        .map_err(refused)?;
                    self.long(rank, end, 18, &fields)?;
                }
            }
            K::Isend => {
                let mut fields = self.message(it, (it.peer, it.tag), it.bytes).map_err(refused)?;
                self.long(rank, begin, 15, fields.long(it.request.into()))?;
                self.begin_request(rank, it.request, 16, FieldWriter::default());
            }
            K::Recv => {
                let fields = self.message(it, received(it), it.bytes).map_err(refused)?;
                self.long(rank, end, 18, &fields)?;
            }
            K::Irecv => {
                let fields = self.message(it, received(it), it.bytes).map_err(refused)?;
                self.short(rank, begin, 17, it.request.into())?;
                self.begin_request(rank, it.request, 19, fields);
            }
            K::Wait => self.end_requests(rank, end, Some(&name))?,
            K::Waitall if lists.values.is_empty() => self.end_requests(rank, end, None)?,
            K::Waitall => self.end_requests(rank, end, Some(lists.values))?,
            K::Waitany => {
                let ended = match it.request {
                    NONE => lists.values.first().copied(),
                    request => Some(u64::from(request)),
                };
                for other in lists.values.iter().filter(|request| Some(**request) != ended) {
                    self.short(rank, end, 20, *other)?;
                }
                self.end_requests(rank, end, Some(ended.as_slice()))?;
            }
            K::Test => {
                let tested: &[u64] = if it.request == NONE { lists.values } else { &name };
                for request in tested {
                    self.short(rank, end, 20, *request)?;
                }
            }
            // Whose message it was, or which request, is not known.
            K::Waitnews => {}
            K::Probe if received(it).0 == ANY_SOURCE => {}
            K::Probe => {
                // Where a message has its size, this has a name of the message, which is not known.
                let fields = self.message(it, received(it), u64::MAX).map_err(refused)?;
                self.long(rank, end, 89, &fields)?;
            }
            K::Put | K::Get => {
                let peer = self.number(it.communicator, it.peer).map_err(refused)?;
                let mut fields = FieldWriter::default();
                fields.number(it.communicator).number(peer).long(it.bytes).long(0);
                self.long(rank, begin, if it.kind == K::Put { 46 } else { 47 }, &fields)?;
            }
            _ => {
                let fields = self.collective(rank, it, lists).map_err(refused)?;
                if it.request == NONE || it.kind >= K::CommCreate {
                    self.short(rank, begin, 22, 0)?;
                    self.long(rank, end, 23, &fields)?;
                } else {
                    self.long(rank, begin, 85, FieldWriter::default().long(it.request.into()))?;
                    self.begin_request(rank, it.request, 86, fields);
                }
            }
        }
        Ok(())
    }

    /// A region from one time to another; nothing at all where it has no length.
    fn pass(&mut self, rank: u32, region: u32, times: (u64, u64)) -> Result<(), ReadStop> {
        self.short(rank, times.0, 12, region.into())?;
        self.short(rank, times.1, 13, region.into())
    }
}

/// From whom a receive or a probe is, and its tag: what was recorded, where it may be any.
fn received(operation: &Operation) -> (u32, u32) {
    let Operation {
        peer,
        tag,
        source,
        source_tag,
        ..
    } = *operation;
    let is_told = source != NONE;
    let peer = if peer == ANY_SOURCE && is_told { source } else { peer };
    let tag = if tag == ANY_TAG && is_told { source_tag } else { tag };
    (peer, tag)
}

fn cannot(path: &Path, error: &std::io::Error) -> ReadStop {
    let hint = "give a place that can be written, with enough space";
    Problem::new(
        path.display().to_string(),
        format!("it cannot be written: {error}"),
        hint,
    )
    .into()
}

impl TraceSink for ArchiveWriter {
    fn begin(&mut self, header: &TraceHeader) -> Result<(), ReadStop> {
        if header.form != TraceForm::Program {
            let reason = "operations that do not follow each other have no place in OTF2, whose events are a program's";
            return Err(ReadStop::Refused(reason.to_owned()));
        }
        if header.unit != WorkUnit::Picoseconds {
            let reason = "computations in instructions have no length in OTF2: say how fast they are first";
            return Err(ReadStop::Refused(reason.to_owned()));
        }
        for path in [&self.anchor, &self.anchor.with_extension("def"), &self.folder] {
            if path.exists() {
                let problem = Problem::new(
                    path.display().to_string(),
                    "it is there already",
                    "remove it, or give another name",
                );
                return Err(problem.into());
            }
        }
        std::fs::create_dir_all(&self.folder).map_err(|error| cannot(&self.folder, &error))?;
        self.header = header.clone();
        self.ranks.resize_with(header.ranks as usize, WrittenRank::default);
        for (communicator, members) in (0..).zip(&header.communicators) {
            if matches!(members, Members::List(_)) && members.len() > MANY {
                let numbers = members.iter().zip(0..).collect();
                self.numbers.insert(communicator, numbers);
            }
        }
        Ok(())
    }

    fn operation(&mut self, rank: u32, _record: u64, operation: &Operation, lists: &Lists<'_>) -> Result<(), ReadStop> {
        let Some(now) = self.ranks.get(rank as usize).map(|rank| rank.now) else {
            return Err(ReadStop::Refused(format!("rank {rank} of {} ranks", self.header.ranks)));
        };
        let now = match now {
            Some(now) => now,
            None => {
                // The program has no name and no arguments.
                let mut fields = FieldWriter::default();
                self.long(rank, operation.start, 83, fields.number(0).number(0))?;
                operation.start
            }
        };
        let begin = operation.start.max(now);
        let end = begin.saturating_add(operation.time);
        if begin > now {
            self.pass(rank, OTHER, (now, begin))?;
        }
        match (operation.kind, functions::function(operation)) {
            (Kind::Enter | Kind::Leave, _) => {
                let id = if operation.kind == Kind::Enter { 12 } else { 13 };
                self.regions = self.regions.max(u64::from(operation.region) + 1);
                let region = operation.region.saturating_add(FUNCTIONS.len() as u32);
                self.short(rank, begin, id, region.into())?;
            }
            (_, None) => {}
            (_, Some(function)) => {
                self.short(rank, begin, 12, function.into())?;
                self.call(rank, operation, lists, (begin, end))?;
                self.short(rank, end, 13, function.into())?;
            }
        }
        self.ranks[rank as usize].now = Some(end);
        Ok(())
    }

    fn end(&mut self, names: &[String]) -> Result<(), ReadStop> {
        if self.regions > names.len() as u64 {
            return Err(ReadStop::Refused(format!("region {} has no name", self.regions - 1)));
        }
        for rank in 0..self.header.ranks {
            if let Some(now) = self.ranks[rank as usize].now {
                self.long(rank, now, 84, FieldWriter::default().long(0))?;
            }
            let path = self.path(rank, "evt");
            let done = self.ranks[rank as usize].file.finish(&path);
            done.map_err(|error| cannot(&path, &error))?;
            let path = self.path(rank, "def");
            std::fs::write(&path, global::no_definitions()).map_err(|error| cannot(&path, &error))?;
        }
        let events: Vec<u64> = self.ranks.iter().map(|rank| rank.file.events).collect();
        let definitions = global::definitions(&self.header, names, &events, self.length).map_err(ReadStop::Refused)?;
        let path = self.anchor.with_extension("def");
        std::fs::write(&path, &definitions.bytes).map_err(|error| cannot(&path, &error))?;
        let anchor = global::anchor(&definitions, self.header.ranks, &self.creator);
        std::fs::write(&self.anchor, anchor).map_err(|error| cannot(&self.anchor, &error))
    }
}
