//! A simulated run written as a trace: what the ranks of a job did and when, as an archive of OTF2 for Vampir and others, or as a file of
//! recorded work.
//!
//! Such a trace, read and played on the same network, gives the same times. Operations have the begin and end that they had in the run (ps);
//! a computation is as long as its program says. Every communicator of a part of the job's work becomes one of the trace for each of its
//! groups, and one of all ranks besides where messages go from group to group. The barrier before the work (`start = "after-barrier"`) is
//! left out: it is the study's, and would take place twice.
//!
//! **What a trace does not have**: sizes from rank to rank of an alltoallv, of which there are the sums. Operations of graphs are refused, as
//! what they depend on is not in the run's tables. In OTF2 moreover: a receive is as large as its message; a wait for one of several requests
//! is a call that ends none, as the run does not tell which one it was; a wait for news is a probe; a receive from anybody is refused, as the run does not tell whom it was from.

mod groups;
mod sizes;

use crate::operations::{CommunicatorRow, OperationCells, OperationTimes};
use groups::TraceGroups;
use sizes::MessageSizes;
use std::path::Path;
use trace::formats::otf2::Writer;
use trace::formats::work::WorkWriter;
use trace::operation::{ANY_SOURCE, ANY_TAG, NONE, UNKNOWN_SIZE, WORLD};
use trace::{Kind, Lists, Mode, Operation, ReadStop, TraceForm, TraceHeader, TraceSink};
use work::mpi::CollectiveKind;

/// Names of requests from here on are given to those that have none; programs have 16 bits for theirs.
const OWN_NAMES: u32 = 1 << 16;
/// The name of an archive in its folder, as Score-P has it.
const ARCHIVE: &str = "traces.otf2";

/// An operation of a rank of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobOperation {
    /// The rank.
    pub rank: u32,
    /// Part of the job's work.
    pub part: u32,
    /// What it does.
    pub kind: Kind,
    /// Which mode a send has.
    pub mode: Mode,
    /// It is a collective that is begun and does not wait.
    pub is_begun: bool,
    /// When it began (ps).
    pub begin: u64,
    /// When it ended (ps).
    pub end: u64,
    /// What it is.
    pub cells: OperationCells,
}

/// What a trace is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunTraceFile<'a> {
    /// An archive `traces.otf2` in a folder.
    Otf2(&'a Path),
    /// A file of recorded work.
    Work(&'a Path),
}

/// The operations of a job among those of a run, which are in order.
///
/// # Errors
/// An operation that has no name.
pub fn of_job(operations: &[OperationTimes], job: u32) -> Result<Vec<JobOperation>, ReadStop> {
    let own = operations.iter().filter(|row| row.job == job);
    own.map(|row| {
        let NamedOperation { kind, mode, is_begun } = NamedOperation::of(row.word)?;
        Ok(JobOperation {
            rank: row.rank,
            part: row.at[0],
            kind,
            mode,
            is_begun,
            begin: row.begin,
            end: row.end,
            cells: row.cells(),
        })
    })
    .collect()
}

/// What the name of an operation says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedOperation {
    /// What it does.
    pub kind: Kind,
    /// Which mode a send has.
    pub mode: Mode,
    /// It is a collective that is begun and does not wait.
    pub is_begun: bool,
}

impl NamedOperation {
    /// The operation of a name in tables of runs.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn of(word: &str) -> Result<NamedOperation, ReadStop> {
        let (mut mode, mut is_begun) = (Mode::Standard, false);
        let begun = CollectiveKind::ALL.into_iter().find(|kind| kind.begun_name() == word);
        let waiting = match (word, begun) {
            ("ssend", _) => "send",
            ("issend", _) => "isend",
            (_, Some(kind)) => {
                is_begun = true;
                kind.name()
            }
            _ => word,
        };
        if matches!(word, "ssend" | "issend") {
            mode = Mode::Synchronous;
        }
        let kind = match waiting {
            // A block of so many bytes for each rank.
            "reduce-scatter" => Some(Kind::ReduceScatterBlock),
            _ => Kind::from_name(waiting),
        };
        let kind = kind.ok_or_else(|| ReadStop::Refused(format!("no trace has an operation {word:?}")))?;
        Ok(NamedOperation { kind, mode, is_begun })
    }
}

/// Writes the operations of a job, by rank and time, with its communicators, in the order of their table. What is not as it was comes back
/// in words.
///
/// # Errors
/// Operations that the format cannot have, and places that cannot be written or, of OTF2, where an archive is already.
pub fn write(
    operations: &[JobOperation],
    communicators: &[CommunicatorRow],
    file: RunTraceFile<'_>,
) -> Result<Vec<String>, ReadStop> {
    match file {
        RunTraceFile::Work(path) => {
            let telling = Telling::new(operations, communicators, false)?;
            let cannot = |error| ReadStop::Refused(format!("{} cannot be written: {error}", path.display()));
            telling.tell(&mut WorkWriter::create(path).map_err(cannot)?)
        }
        RunTraceFile::Otf2(folder) => {
            let anchor = folder.join(ARCHIVE);
            let creator = concat!("fabricsim ", env!("CARGO_PKG_VERSION"));
            Telling::new(operations, communicators, true)?.tell(&mut Writer::new(&anchor, creator))
        }
    }
}

/// A job's operations on their way into a trace.
struct Telling<'a> {
    operations: &'a [JobOperation],
    groups: TraceGroups,
    /// Of a format that wants names of requests and sizes of what came.
    sizes: Option<MessageSizes>,
}

impl<'a> Telling<'a> {
    fn new(operations: &'a [JobOperation], communicators: &[CommunicatorRow], is_otf2: bool) -> Result<Self, ReadStop> {
        let mut groups = TraceGroups::new(communicators);
        let own: Vec<&JobOperation> = operations.iter().filter(|row| groups.has(row.part)).collect();
        if let Some(row) = own.iter().find(|row| is_of_graph(row)) {
            let reason = format!(
                "rank {} plays a graph, whose operations depend on others, which the run's tables do not tell: write the graph itself with \
                 `fabricsim trace convert`",
                row.rank
            );
            return Err(ReadStop::Refused(reason));
        }
        own.iter().for_each(|row| groups.see(row));
        groups.number();
        let sizes = is_otf2.then(|| MessageSizes::of(&own));
        Ok(Telling {
            operations,
            groups,
            sizes,
        })
    }

    fn tell(mut self, sink: &mut dyn TraceSink) -> Result<Vec<String>, ReadStop> {
        let header = TraceHeader {
            communicators: self.groups.members(),
            ..TraceHeader::new("work", self.groups.ranks(), TraceForm::Program)
        };
        sink.begin(&header)?;
        let (mut last, mut record, mut given) = (NONE, 0, OWN_NAMES);
        let (mut sums, mut any, mut news) = (0_u64, 0_u64, 0_u64);
        for row in self.operations {
            if row.rank != last {
                (last, record, given) = (row.rank, 0, OWN_NAMES);
            }
            if !self.groups.has(row.part) {
                continue;
            }
            let mut operation = self.operation(row);
            let is_started = matches!(row.kind, Kind::Isend | Kind::Irecv) && self.sizes.is_some();
            if (is_started || row.is_begun) && operation.request == NONE {
                operation.request = given;
                given = given.checked_add(1).filter(|given| *given < NONE).unwrap_or(OWN_NAMES);
            }
            sums += u64::from(row.kind == Kind::Alltoallv);
            any += u64::from(row.kind == Kind::Waitany);
            news += u64::from(row.kind == Kind::Waitnews);
            sink.operation(row.rank, record, &operation, &Lists::default())?;
            record += 1;
        }
        sink.end(&[])?;
        let mut notes = Vec::new();
        if sums > 0 {
            notes.push(format!(
                "{sums} alltoallvs have the sums of what was sent and received, not the sizes from rank to rank"
            ));
        }
        if any > 0 && self.sizes.is_some() {
            notes.push(format!(
                "{any} waits for one of several requests end none, as the run does not tell which one it was"
            ));
        }
        if news > 0 && self.sizes.is_some() {
            notes.push(format!(
                "{news} waits for news are probes, which take no time when they are played again"
            ));
        }
        Ok(notes)
    }

    /// An operation as traces have it.
    fn operation(&mut self, row: &JobOperation) -> Operation {
        let cells = &row.cells;
        let collective = row.kind.is_collective();
        let communicator = cells.communicator.map_or(WORLD, |number| match collective {
            true => self.groups.of_collective(row.part, number, row.rank),
            false => self.groups.of_message(row.part, number, row.rank),
        });
        let timed = Operation {
            communicator,
            mode: row.mode,
            start: row.begin,
            time: cells.time.unwrap_or(row.end - row.begin),
            request: cells.request.unwrap_or(NONE),
            ..Operation::new(row.kind)
        };
        if collective {
            return Operation {
                peer: cells.root.unwrap_or(NONE),
                bytes: cells.bytes.unwrap_or(0),
                received: cells.received.unwrap_or(0),
                ..timed
            };
        }
        if !row.kind.sends() && !row.kind.receives() {
            return timed;
        }
        let sizes = self.sizes.as_mut();
        let come = sizes.and_then(|sizes| sizes.next(row));
        let told = Operation {
            peer: cells.peer.unwrap_or(ANY_SOURCE),
            tag: cells.tag.unwrap_or(ANY_TAG),
            bytes: cells.bytes.unwrap_or(UNKNOWN_SIZE),
            ..timed
        };
        match row.kind {
            Kind::Sendrecv => Operation {
                source: cells.source.unwrap_or(ANY_SOURCE),
                source_tag: cells.source_tag.unwrap_or(ANY_TAG),
                received: come.or(cells.received).unwrap_or(UNKNOWN_SIZE),
                ..told
            },
            Kind::Recv | Kind::Irecv => Operation {
                bytes: come.unwrap_or(told.bytes),
                ..told
            },
            _ => told,
        }
    }
}

/// Whether nothing is known of an operation that always has something.
fn is_of_graph(row: &JobOperation) -> bool {
    match row.kind {
        Kind::Compute => row.cells.time.is_none(),
        Kind::Wait | Kind::Waitall | Kind::Waitany | Kind::Waitnews | Kind::Test => false,
        _ => row.cells.communicator.is_none(),
    }
}
