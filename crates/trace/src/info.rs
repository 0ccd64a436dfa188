//! What a trace is, what it has and what is wrong with it: `fabricsim trace info`.

use crate::check::Check;
use crate::format::ListedReader;
use crate::header::{TraceForm, TraceHeader, WorkUnit};
use crate::known::known_or_of;
use crate::operation::{Lists, Operation};
use crate::problem::ReadStop;
use crate::sink::{ReadProgress, TraceReader, TraceSink};
use crate::summary::TraceSummary;
use crate::traffic::{RankPair, RegionFigures, TraceTraffic};
use serde::Serialize;
use std::path::Path;

/// Most pairs of ranks and most regions that are told.
const MOST_TOLD: usize = 100;

/// All that is told of a trace.
#[derive(Debug, Serialize)]
pub struct Info {
    /// The file as it was named.
    pub file: String,
    /// Whether it can be read to its end and nothing is wrong with what it has: it can be played as it is.
    pub complete: bool,
    /// See [`TraceForm`].
    pub form: TraceForm,
    /// What the work of computations is told in.
    pub unit: WorkUnit,
    /// Name of the format that it was recorded in, where a file of work was converted from another; else that of the file.
    pub recorded_as: String,
    /// Figures, as far as it could be read; with the name of the file's format.
    #[serde(flatten)]
    pub summary: TraceSummary,
    /// Records of files that were read.
    pub records: u64,
    /// Sends whose message no rank receives; null where it could not be read to its end.
    pub unmatched_sends: Option<u64>,
    /// Receives of messages that no rank sends.
    pub unmatched_receives: Option<u64>,
    /// Receives that are smaller than their message.
    pub small_receives: Option<u64>,
    /// Operations of collectives that ranks do not agree on.
    pub unmatched_collectives: Option<u64>,
    /// Requests that nobody waits for, which is allowed.
    pub requests_left: Option<u64>,
    /// What is wrong with the file, then what is wrong within the trace.
    pub problems: Vec<String>,
    /// How many problems more there are.
    pub more_problems: u64,
    /// How many pairs of ranks have messages; null if they are too many to be counted.
    pub number_of_pairs: Option<usize>,
    /// The pairs with most bytes.
    pub pairs: Vec<RankPair>,
    /// The regions in which most time is spent; null if they are too many to be counted.
    pub time_in_regions: Option<Vec<RegionFigures>>,
}

/// All that looks at a trace, and its header.
#[derive(Default)]
struct Looking {
    form: TraceForm,
    unit: WorkUnit,
    summary: TraceSummary,
    check: Check,
    traffic: TraceTraffic,
}

impl TraceSink for Looking {
    fn begin(&mut self, header: &TraceHeader) -> Result<(), ReadStop> {
        (self.form, self.unit) = (header.form, header.unit);
        self.summary.begin(header)?;
        self.check.begin(header)?;
        self.traffic.begin(header)
    }

    fn operation(&mut self, rank: u32, record: u64, operation: &Operation, lists: &Lists<'_>) -> Result<(), ReadStop> {
        self.summary.operation(rank, record, operation, lists)?;
        self.check.operation(rank, record, operation, lists)?;
        self.traffic.operation(rank, record, operation, lists)
    }

    fn end(&mut self, names: &[String]) -> Result<(), ReadStop> {
        self.summary.end(names)?;
        self.check.end(names)?;
        self.traffic.end(names)
    }
}

/// Reads a trace of a format, or of the one that it has, and tells what it is. What cannot be read is told within.
///
/// # Errors
/// The user wants it to end.
pub fn info(
    path: &Path,
    format: Option<&ListedReader>,
    watch: &mut dyn FnMut(ReadProgress) -> bool,
) -> Result<Info, ReadStop> {
    let mut looking = Looking::default();
    let mut reader = TraceReader::new(&mut looking, watch);
    let format = known_or_of(format, path);
    let name = format.as_ref().map_or("", |format| format.name);
    let read = match format {
        Ok(format) => crate::known::read(path, Some(format), &mut reader),
        Err(problem) => Err(problem.into()),
    };
    let records = reader.progress.records;
    let (problems, mut more) = reader.into_problems();
    let mut problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let whole = read.is_ok();
    match read {
        Ok(()) => {}
        Err(ReadStop::Interrupted) => return Err(ReadStop::Interrupted),
        Err(ReadStop::Broken(problem)) => problems.push(problem.to_string()),
        Err(ReadStop::Refused(reason)) => problems.push(format!("{}: {reason}", path.display())),
    }
    let Looking {
        form,
        unit,
        mut summary,
        check,
        traffic,
    } = looking;
    if !whole {
        // What has been seen is told, and that it is not all.
        summary.end(&[])?;
    }
    if whole {
        problems.extend(check.problems().iter().map(ToString::to_string));
        more += check.more();
    }
    let complete = problems.is_empty();
    let recorded_as = std::mem::replace(&mut summary.format, name.to_owned());
    let figure = |number: u64| whole.then_some(number);
    let figures = check.figures();
    Ok(Info {
        file: path.display().to_string(),
        complete,
        form,
        unit,
        recorded_as,
        summary,
        records,
        unmatched_sends: figure(figures.unmatched_sends),
        unmatched_receives: figure(figures.unmatched_receives),
        small_receives: figure(figures.small_receives),
        unmatched_collectives: figure(figures.unmatched_collectives),
        requests_left: figure(figures.requests_left),
        problems,
        more_problems: more,
        number_of_pairs: traffic.number_of_pairs(),
        pairs: traffic.top_pairs(MOST_TOLD),
        time_in_regions: traffic.top_regions(MOST_TOLD),
    })
}
