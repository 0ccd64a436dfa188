//! Reads a trace for replay: checked as a whole, kept as records, known by its content.
//!
//! What was read last is kept, as a sweep asks for the same trace again and again.

use super::content::ContentHash;
use super::recorder::{AnySource, CallRecorder, CallRecording, Repairing};
use super::records::MOST_IN_MEMORY;
use crate::mpi::LeftOut;
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;
use trace::cut::{PlannedPart, TracePart};
use trace::sink::ReadProgress;
use trace::{Check, Kind, Lists, Operation, Problem, ReadStop, Repair, TraceHeader, TraceReader, TraceSink};

/// Traces that are kept for whoever asks next.
const MOST_KEPT: usize = 4;

/// Problems of a trace that are told one by one.
const MOST_TOLD: usize = 20;

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceWish {
    /// The file or folder.
    pub path: PathBuf,
    /// Name of the format, if it is not to be recognised.
    pub format: Option<String>,
    /// From whom receives from anybody receive.
    pub any_source: AnySource,
    /// What becomes of what does not match.
    pub repair: Repairing,
    /// The part of it that is played.
    pub part: TracePart,
}

/// A trace that was read.
#[derive(Clone, Debug)]
pub struct OpenedTrace {
    /// What is played.
    pub recording: Arc<CallRecording>,
    /// SHA-256 of what the trace says, whichever part of it is played.
    pub sha256: String,
    /// Why the first of what readers left out was.
    pub problems: Vec<Problem>,
    wish: TraceWish,
    /// The files as they were.
    files: Vec<FileState>,
}

/// Why a trace is not played.
#[derive(Clone, Debug, Default)]
pub struct UnplayedTrace {
    /// What is wrong, at most [`MOST_TOLD`].
    pub problems: Vec<Problem>,
    /// How many problems more there are.
    pub more: u64,
    /// It is not the trace that is wrong, but the part that is asked for.
    pub is_of_part: bool,
}

impl From<Problem> for UnplayedTrace {
    fn from(problem: Problem) -> UnplayedTrace {
        UnplayedTrace {
            problems: vec![problem],
            ..UnplayedTrace::default()
        }
    }
}

impl UnplayedTrace {
    /// The first of so many.
    fn of(mut problems: Vec<Problem>, more: u64) -> UnplayedTrace {
        let more = more + problems.len().saturating_sub(MOST_TOLD) as u64;
        problems.truncate(MOST_TOLD);
        UnplayedTrace {
            problems,
            more,
            is_of_part: false,
        }
    }
}

/// A file, its size and when it was written.
type FileState = (PathBuf, u64, Option<SystemTime>);

static KEPT: Mutex<Vec<OpenedTrace>> = Mutex::new(Vec::new());

/// Reads a trace, or takes it from those that were read last. With `sha256` it has to say what it said then, wherever it lies.
///
/// # Errors
/// What is wrong with the trace, or that it is another.
pub fn open(wish: &TraceWish, sha256: Option<&str>) -> Result<OpenedTrace, UnplayedTrace> {
    let asked = |wish: &TraceWish| (wish.any_source, wish.repair, wish.part.clone());
    let same = |kept: &OpenedTrace| match sha256 {
        Some(sha256) => kept.sha256 == sha256 && asked(&kept.wish) == asked(wish),
        None => kept.wish == *wish && kept.files.iter().all(|file| state(&file.0).as_ref() == Some(file)),
    };
    let found = kept(|all| {
        let place = all.iter().position(same)?;
        let opened = all.remove(place);
        all.push(opened.clone());
        Some(opened)
    });
    if let Some(opened) = found {
        return Ok(opened);
    }
    let opened = read(wish)?;
    if sha256.is_some_and(|sha256| opened.sha256 != sha256) {
        let reason = "it is not what it was when the study was read";
        return Err(Problem::new(wish.path.display().to_string(), reason, "read the study again").into());
    }
    kept(|all| {
        if all.len() == MOST_KEPT {
            all.remove(0);
        }
        all.push(opened.clone());
    });
    Ok(opened)
}

/// Does something with the traces that are kept. Whoever had them at hand and failed has left them whole.
fn kept<T>(with: impl FnOnce(&mut Vec<OpenedTrace>) -> T) -> T {
    with(&mut KEPT.lock().unwrap_or_else(PoisonError::into_inner))
}

fn state(path: &Path) -> Option<FileState> {
    let about: Metadata = std::fs::metadata(path).ok()?;
    Some((path.to_owned(), about.len(), about.modified().ok()))
}

/// Reads a trace: once, once more where what does not match is left out, and before where a part has to be found.
fn read(wish: &TraceWish) -> Result<OpenedTrace, UnplayedTrace> {
    let before: Vec<FileState> = state(&wish.path).into_iter().collect();
    let recorder = || CallRecorder::new(wish.any_source, wish.repair, MOST_IN_MEMORY);
    let mut part = planned(wish)?;
    let mut whole = WholeTrace::default();
    let mut first = FirstPass {
        check: Check::default(),
        rest: Patient::new((wish.repair == Repairing::None).then(recorder)),
    };
    let told = pass_of_part(wish, &mut part, &mut whole, &mut first)?;
    let (check, rest) = (first.check, first.rest);
    let sha256 = whole.hash.finish();
    let mut left_out = LeftOut {
        cut: told.cut,
        ..LeftOut::default()
    };
    let mut problems = Vec::new();
    let recording = match wish.repair {
        Repairing::None => {
            let wrong: Vec<Problem> = told
                .problems
                .into_iter()
                .chain(check.problems().iter().cloned())
                .collect();
            // What the check has found says more than what the recorder did not understand.
            if !wrong.is_empty() {
                return Err(UnplayedTrace::of(wrong, told.more + check.more()));
            }
            rest.finish()
        }
        Repairing::Drop => {
            let mut again = WholeTrace::default();
            let mut second = Repair::new(&check, recorder());
            pass_of_part(wish, &mut part, &mut again, &mut second)?;
            if again.hash.finish() != sha256 {
                let reason = "it has changed while it was read";
                return Err(Problem::new(wish.path.display().to_string(), reason, "read the study again").into());
            }
            count(second.left_out(), &mut left_out);
            left_out.problems = told.problems.len() as u64 + told.more;
            problems = told.problems;
            second.into_inner().finish()
        }
    };
    let mut recording = recording.map_err(|stop| words(stop, wish))?;
    if !wish.part.is_all() && recording.records.is_empty() {
        return Err(of_part(
            ReadStop::Refused("nothing of the trace is in the part".into()),
            wish,
        ));
    }
    recording.left_out = recording.left_out.and(left_out);
    let mut files = before;
    files.extend(whole.files.iter().filter_map(|file| state(Path::new(file))));
    problems.truncate(MOST_TOLD);
    Ok(OpenedTrace {
        recording: Arc::new(recording),
        sha256,
        problems,
        wish: wish.clone(),
        files,
    })
}

/// Adds what a repair has left out, by kind.
fn count(kinds: &BTreeMap<&'static str, u64>, left_out: &mut LeftOut) {
    for (&name, &number) in kinds {
        match Kind::from_name(name) {
            Some(Kind::Sendrecv) => {
                left_out.sends += number;
                left_out.receives += number;
            }
            Some(kind) if kind.sends() => left_out.sends += number,
            Some(kind) if kind.receives() => left_out.receives += number,
            Some(kind) if kind.is_collective() => left_out.collectives += number,
            Some(Kind::Wait | Kind::Waitall | Kind::Waitany | Kind::Test) => left_out.waits += number,
            _ => left_out.others += number,
        }
    }
}

/// The part that is asked for, and what it needs.
fn planned(wish: &TraceWish) -> Result<Option<PlannedPart>, UnplayedTrace> {
    if wish.part.is_all() {
        return Ok(None);
    }
    let found = PlannedPart::of(&wish.part, |sink| pass(wish, sink));
    found.map(Some).map_err(|stop| of_part(stop, wish))
}

/// Why there is no such part of a trace, or what is wrong with the trace.
fn of_part(stop: ReadStop, wish: &TraceWish) -> UnplayedTrace {
    let is_of_part = matches!(stop, ReadStop::Refused(_));
    let mut problem = words(stop, wish);
    if is_of_part {
        problem.hint = "`fabricsim trace info` tells what the trace has".into();
    }
    UnplayedTrace {
        is_of_part,
        ..problem.into()
    }
}

/// What a pass tells besides operations.
struct PassTold {
    problems: Vec<Problem>,
    more: u64,
    /// Operations that were cut in two.
    cut: u64,
}

/// Reads all of it into one sink, and the part that is asked for into another.
fn pass_of_part(
    wish: &TraceWish,
    part: &mut Option<PlannedPart>,
    whole: &mut WholeTrace,
    sink: &mut dyn TraceSink,
) -> Result<PassTold, UnplayedTrace> {
    let mut cut = 0;
    let told = match part {
        None => pass(wish, &mut (whole, sink)).map_err(|stop| words(stop, wish).into()),
        Some(part) => {
            let mut cutter = part.cutter(sink);
            let told = pass(wish, &mut (whole, &mut cutter));
            cut = cutter.left_out().values().sum();
            told.map_err(|stop| of_part(stop, wish))
        }
    };
    told.map(|(problems, more)| PassTold { problems, more, cut })
}

/// Reads all of it into a sink; what did not end reading, and how much more of that there was.
fn pass(wish: &TraceWish, sink: &mut dyn TraceSink) -> Result<(Vec<Problem>, u64), ReadStop> {
    let format = match &wish.format {
        Some(name) => Some(trace::named(name).ok_or_else(|| {
            let reason = format!("there is no format {name:?}");
            Problem::new("", reason, trace::known::hint(name))
        })?),
        None => None,
    };
    let mut watch = |_: ReadProgress| true;
    let mut reader = TraceReader::new(sink, &mut watch);
    trace::read(&wish.path, format, &mut reader)?;
    Ok(reader.into_problems())
}

fn words(stop: ReadStop, wish: &TraceWish) -> Problem {
    let file = || wish.path.display().to_string();
    match stop {
        ReadStop::Interrupted => Problem::new(file(), "reading was interrupted", ""),
        ReadStop::Refused(reason) => Problem::new(file(), reason, ""),
        ReadStop::Broken(problem) if problem.file.is_empty() => Problem {
            file: file(),
            ..problem
        },
        ReadStop::Broken(problem) => problem,
    }
}

/// What is known of all of a trace.
#[derive(Default)]
struct WholeTrace {
    files: Vec<String>,
    hash: ContentHash,
}

impl TraceSink for WholeTrace {
    fn begin(&mut self, header: &TraceHeader) -> Result<(), ReadStop> {
        self.files.clone_from(&header.files);
        self.hash.begin(header)
    }

    fn operation(&mut self, rank: u32, record: u64, operation: &Operation, lists: &Lists<'_>) -> Result<(), ReadStop> {
        self.hash.operation(rank, record, operation, lists)
    }

    fn end(&mut self, names: &[String]) -> Result<(), ReadStop> {
        self.hash.end(names)
    }
}

/// What is found out of a trace, or a part of it, in the first pass.
struct FirstPass {
    check: Check,
    rest: Patient,
}

impl TraceSink for FirstPass {
    fn begin(&mut self, header: &TraceHeader) -> Result<(), ReadStop> {
        self.check.begin(header)?;
        self.rest.begin(header)
    }

    fn operation(&mut self, rank: u32, record: u64, operation: &Operation, lists: &Lists<'_>) -> Result<(), ReadStop> {
        self.check.operation(rank, record, operation, lists)?;
        self.rest.operation(rank, record, operation, lists)
    }

    fn end(&mut self, names: &[String]) -> Result<(), ReadStop> {
        self.check.end(names)?;
        self.rest.end(names)
    }
}

/// A recorder that keeps what it could not take for the end, so that a check sees all of the trace. A trace that is none for it ends at once.
struct Patient {
    recorder: Option<CallRecorder>,
    failed: Option<ReadStop>,
}

impl Patient {
    fn new(recorder: Option<CallRecorder>) -> Patient {
        Patient { recorder, failed: None }
    }

    fn with(&mut self, take: impl FnOnce(&mut CallRecorder) -> Result<(), ReadStop>) {
        if let (Some(recorder), None) = (&mut self.recorder, &self.failed) {
            self.failed = take(recorder).err();
        }
    }

    fn finish(self) -> Result<CallRecording, ReadStop> {
        match (self.failed, self.recorder) {
            (None, Some(recorder)) => recorder.finish(),
            (failed, _) => Err(failed.unwrap_or(ReadStop::Refused("it was not read".to_owned()))),
        }
    }
}

impl TraceSink for Patient {
    fn begin(&mut self, header: &TraceHeader) -> Result<(), ReadStop> {
        self.recorder.as_mut().map_or(Ok(()), |recorder| recorder.begin(header))
    }

    fn operation(&mut self, rank: u32, record: u64, operation: &Operation, lists: &Lists<'_>) -> Result<(), ReadStop> {
        self.with(|recorder| recorder.operation(rank, record, operation, lists));
        Ok(())
    }

    fn end(&mut self, names: &[String]) -> Result<(), ReadStop> {
        self.with(|recorder| recorder.end(names));
        Ok(())
    }
}
