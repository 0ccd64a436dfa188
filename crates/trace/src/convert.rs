//! From one format to another, and a part of a trace: `fabricsim trace convert`, `fabricsim trace cut`.

use crate::check::Check;
use crate::cut::{PlannedPart, TracePart};
use crate::format::ListedReader;
use crate::formats::goal::{BinaryWriter, TextWriter, write_binary, write_text};
use crate::formats::work::WorkWriter;
use crate::header::TraceHeader;
use crate::known::known_or_of;
use crate::operation::{Lists, Operation};
use crate::partial::Partial;
use crate::problem::{Problem, ReadStop};
use crate::repair::Repair;
use crate::sink::{ReadProgress, TraceReader, TraceSink};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use study::diagnostic::counted;

/// The formats that are written, and what of a trace they can have.
pub const WRITERS: &[(&str, &str)] = &[
    ("work", "every trace"),
    ("goal", "graphs of messages and computations, as text"),
    ("goal-binary", "graphs of messages and computations, as a binary file"),
];

/// What has been converted.
#[derive(Debug, Default, Serialize)]
pub struct Converted {
    /// The format that was read.
    pub from: &'static str,
    /// The format that was written.
    pub to: String,
    /// Operations that were written.
    pub operations: u64,
    /// Operations that do not match, or that were cut in two, and were left out, by kind.
    pub left_out: BTreeMap<&'static str, u64>,
    /// What is not as it was.
    pub notes: Vec<String>,
    /// What is wrong with the file that was read.
    pub problems: Vec<String>,
    /// How many problems more there are.
    pub more_problems: u64,
}

/// What writes a file, and the file if it does not name it itself.
enum Writer {
    Work(Box<WorkWriter>),
    GoalText(Partial, Box<TextWriter<BufWriter<File>>>),
    GoalBinary(Partial, Box<BinaryWriter<BufWriter<File>>>),
}

/// Writes a trace as a format, and counts its operations.
struct ConvertedFile {
    writer: Writer,
    operations: u64,
}

impl ConvertedFile {
    fn create(path: &Path, to: &str) -> Result<ConvertedFile, ReadStop> {
        let refused =
            |error: std::io::Error| ReadStop::Refused(format!("{} cannot be written: {error}", path.display()));
        let begin = || -> std::io::Result<(Partial, BufWriter<File>)> {
            let partial = Partial::create(path)?;
            let file = BufWriter::with_capacity(1 << 18, partial.file()?);
            Ok((partial, file))
        };
        let writer = match to {
            "work" => Writer::Work(Box::new(WorkWriter::create(path).map_err(refused)?)),
            "goal" => {
                let (partial, file) = begin().map_err(refused)?;
                Writer::GoalText(partial, Box::new(write_text(file)))
            }
            "goal-binary" => {
                let (partial, file) = begin().map_err(refused)?;
                Writer::GoalBinary(partial, Box::new(write_binary(file)))
            }
            other => {
                let known: Vec<&str> = WRITERS.iter().map(|(name, _)| *name).collect();
                let words = format!("no format \"{other}\" can be written; there are {}", known.join(", "));
                return Err(ReadStop::Refused(words));
            }
        };
        Ok(ConvertedFile { writer, operations: 0 })
    }

    fn sink(&mut self) -> &mut dyn TraceSink {
        match &mut self.writer {
            Writer::Work(writer) => &mut **writer,
            Writer::GoalText(_, writer) => &mut **writer,
            Writer::GoalBinary(_, writer) => &mut **writer,
        }
    }

    /// What is not as it was.
    fn notes(&self) -> Vec<String> {
        let rounded = match &self.writer {
            Writer::Work(_) => 0,
            Writer::GoalText(_, writer) => writer.rounded(),
            Writer::GoalBinary(_, writer) => writer.rounded(),
        };
        let were = if rounded == 1 { " was" } else { "s were" };
        let told = format!("{rounded} computation{were} rounded to whole nanoseconds");
        (rounded > 0).then_some(told).into_iter().collect()
    }
}

impl TraceSink for ConvertedFile {
    fn begin(&mut self, header: &TraceHeader) -> Result<(), ReadStop> {
        self.sink().begin(header)
    }

    fn operation(&mut self, rank: u32, record: u64, operation: &Operation, lists: &Lists<'_>) -> Result<(), ReadStop> {
        self.operations += 1;
        self.sink().operation(rank, record, operation, lists)
    }

    fn end(&mut self, names: &[String]) -> Result<(), ReadStop> {
        self.sink().end(names)?;
        match &mut self.writer {
            Writer::Work(_) => Ok(()),
            Writer::GoalText(partial, _) | Writer::GoalBinary(partial, _) => partial
                .finish()
                .map_err(|error| ReadStop::Refused(format!("{} cannot be written: {error}", partial.path().display()))),
        }
    }
}

/// Tells of one of several passes over a file as a part of all of them.
pub(crate) fn part(progress: ReadProgress, pass: u64, passes: u64) -> ReadProgress {
    ReadProgress {
        done: progress.done.min(progress.all) + pass * progress.all,
        all: passes * progress.all,
        records: progress.records,
    }
}

/// Refuses to write into the file that is read.
fn check_other(path: &Path, out: &Path) -> Result<(), ReadStop> {
    match (path.canonicalize(), out.canonicalize()) {
        (Ok(this), Ok(that)) if this == that => Err(ReadStop::Refused(format!(
            "{} is read, and cannot be written",
            out.display()
        ))),
        _ => Ok(()),
    }
}

/// Writes a part of a trace of a format, or of the one that it has; see [`cut`](crate::cut). Parts other than whole ranks take a pass
/// before, names of regions one more.
///
/// # Errors
/// As of [`convert`], and a part that there is not.
pub fn cut(
    path: &Path,
    format: Option<&'static ListedReader>,
    out: &Path,
    to: &str,
    part: &TracePart,
    watch: &mut dyn FnMut(ReadProgress) -> bool,
) -> Result<Converted, ReadStop> {
    let format = known_or_of(format, path)?;
    check_other(path, out)?;
    let mut written = ConvertedFile::create(out, to)?;
    let passes = 1 + PlannedPart::passes(part);
    let mut pass = 0;
    let mut go = |sink: &mut dyn TraceSink| -> Result<(Vec<Problem>, u64), ReadStop> {
        let mut told = |progress| watch(self::part(progress, pass, passes));
        let mut reader = TraceReader::new(sink, &mut told);
        crate::known::read(path, Some(format), &mut reader)?;
        let problems = reader.into_problems();
        pass += 1;
        Ok(problems)
    };
    let mut planned = PlannedPart::of(part, &mut go)?;
    let mut cutter = planned.cutter(&mut written);
    let (problems, more_problems) = go(&mut cutter)?;
    let (left_out, any) = (cutter.left_out().clone(), cutter.any());
    let mut notes = written.notes();
    if any > 0 {
        let (stay, messages) = match any {
            1 => ("stays as it is", "its message is"),
            _ => ("stay as they are", "their messages are"),
        };
        let receives = counted(any, "receive", " from any rank or of any tag");
        notes.push(format!(
            "{receives} {stay}: whether {messages} in the part is not known"
        ));
    }
    Ok(Converted {
        from: format.name,
        to: to.to_owned(),
        operations: written.operations,
        left_out,
        notes,
        problems: problems.iter().map(ToString::to_string).collect(),
        more_problems,
    })
}

/// Converts a trace of a format, or of the one that it has; the file is there when all of it is. With `repair` what does not match is
/// left out, which takes a pass before: see [`Repair`].
///
/// # Errors
/// A trace that cannot be read to its end, one that the other format cannot have, a file that cannot be written, and that the user
/// wants it to end.
pub fn convert(
    path: &Path,
    format: Option<&'static ListedReader>,
    out: &Path,
    to: &str,
    repair: bool,
    watch: &mut dyn FnMut(ReadProgress) -> bool,
) -> Result<Converted, ReadStop> {
    let format = known_or_of(format, path)?;
    check_other(path, out)?;
    let mut written = ConvertedFile::create(out, to)?;
    let mut left_out = BTreeMap::new();
    let passes = if repair { 2 } else { 1 };
    let mut check = Check::default();
    if repair {
        let mut first = |progress| watch(part(progress, 0, passes));
        let mut reader = TraceReader::new(&mut check, &mut first);
        crate::known::read(path, Some(format), &mut reader)?;
    }
    let mut last = |progress| watch(part(progress, passes - 1, passes));
    let (problems, more_problems) = match repair {
        true => {
            let mut repaired = Repair::new(&check, &mut written);
            let mut reader = TraceReader::new(&mut repaired, &mut last);
            crate::known::read(path, Some(format), &mut reader)?;
            let problems = reader.into_problems();
            left_out.clone_from(repaired.left_out());
            problems
        }
        false => {
            let mut reader = TraceReader::new(&mut written, &mut last);
            crate::known::read(path, Some(format), &mut reader)?;
            reader.into_problems()
        }
    };
    Ok(Converted {
        from: format.name,
        to: to.to_owned(),
        operations: written.operations,
        left_out,
        notes: written.notes(),
        problems: problems.iter().map(ToString::to_string).collect(),
        more_problems,
    })
}
