//! Reads a trace for replay: checked as a whole, kept as records, known by its content.
//!
//! What was read last is kept, as a sweep asks for the same trace again and again.

use super::content::ContentHash;
use super::recorder::{AnySource, CallRecorder, CallRecording, Repairing};
use super::records::MOST_IN_MEMORY;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;
use trace::sink::ReadProgress;
use trace::{Check, Lists, Operation, Problem, ReadStop, Repair, TraceHeader, TraceReader, TraceSink};

/// Traces that are kept for whoever asks next.
const MOST_KEPT: usize = 4;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceWish {
    /// The file or folder.
    pub path: PathBuf,
    /// Name of the format, if it is not to be recognised.
    pub format: Option<String>,
    /// From whom receives from anybody receive.
    pub any_source: AnySource,
    /// What becomes of what does not match.
    pub repair: Repairing,
}

/// A trace that was read.
#[derive(Clone, Debug)]
pub struct OpenedTrace {
    /// What is played.
    pub recording: Arc<CallRecording>,
    /// SHA-256 of what the trace says.
    pub sha256: String,
    wish: TraceWish,
    /// The files as they were.
    files: Vec<FileState>,
}

/// A file, its size and when it was written.
type FileState = (PathBuf, u64, Option<SystemTime>);

static KEPT: Mutex<Vec<OpenedTrace>> = Mutex::new(Vec::new());

/// Reads a trace, or takes it from those that were read last. With `sha256` it has to say what it said then, wherever it lies.
///
/// # Errors
/// What is wrong with the trace first, or that it is another.
pub fn open(wish: &TraceWish, sha256: Option<&str>) -> Result<OpenedTrace, Problem> {
    let same = |kept: &OpenedTrace| match sha256 {
        Some(sha256) => {
            (kept.wish.any_source, kept.wish.repair) == (wish.any_source, wish.repair) && kept.sha256 == sha256
        }
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
        return Err(Problem::new(
            wish.path.display().to_string(),
            reason,
            "read the study again",
        ));
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

/// Reads a trace: once, or twice where what does not match is left out.
fn read(wish: &TraceWish) -> Result<OpenedTrace, Problem> {
    let before: Vec<FileState> = state(&wish.path).into_iter().collect();
    let recorder = || CallRecorder::new(wish.any_source, wish.repair, MOST_IN_MEMORY);
    let mut first = FirstPass {
        files: Vec::new(),
        hash: ContentHash::default(),
        check: Check::default(),
        rest: Patient::new((wish.repair == Repairing::None).then(recorder)),
    };
    let problems = pass(wish, &mut first)?;
    let recording = match wish.repair {
        Repairing::None => {
            // What the check has found says more than what the recorder did not understand.
            if let Some(problem) = problems
                .into_iter()
                .chain(first.check.problems().iter().cloned())
                .next()
            {
                return Err(problem);
            }
            first.rest.finish()
        }
        Repairing::Drop => {
            let mut second = Repair::new(&first.check, recorder());
            pass(wish, &mut second)?;
            second.into_inner().finish()
        }
    };
    let recording = recording.map_err(|stop| words(stop, wish))?;
    let mut files = before;
    files.extend(first.files.iter().filter_map(|file| state(Path::new(file))));
    Ok(OpenedTrace {
        recording: Arc::new(recording),
        sha256: first.hash.finish(),
        wish: wish.clone(),
        files,
    })
}

/// Reads all of it into a sink; what did not end reading.
fn pass(wish: &TraceWish, sink: &mut dyn TraceSink) -> Result<Vec<Problem>, Problem> {
    let format = match &wish.format {
        Some(name) => Some(trace::named(name).ok_or_else(|| {
            let known: Vec<_> = trace::FORMATS.iter().map(|format| format.name).collect();
            Problem::new("", format!("there is no format {name:?}"), known.join(", "))
        })?),
        None => None,
    };
    let mut watch = |_: ReadProgress| true;
    let mut reader = TraceReader::new(sink, &mut watch);
    let told = trace::read(&wish.path, format, &mut reader);
    told.map_err(|stop| words(stop, wish))?;
    Ok(reader.into_problems().0)
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

/// All that is found out in the first pass.
struct FirstPass {
    files: Vec<String>,
    hash: ContentHash,
    check: Check,
    rest: Patient,
}

impl TraceSink for FirstPass {
    fn begin(&mut self, header: &TraceHeader) -> Result<(), ReadStop> {
        self.files.clone_from(&header.files);
        self.hash.begin(header)?;
        self.check.begin(header)?;
        self.rest.begin(header)
    }

    fn operation(&mut self, rank: u32, record: u64, operation: &Operation, lists: &Lists<'_>) -> Result<(), ReadStop> {
        self.hash.operation(rank, record, operation, lists)?;
        self.check.operation(rank, record, operation, lists)?;
        self.rest.operation(rank, record, operation, lists)
    }

    fn end(&mut self, names: &[String]) -> Result<(), ReadStop> {
        self.hash.end(names)?;
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
