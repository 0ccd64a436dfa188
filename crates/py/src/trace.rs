//! Traces of applications: what they are, and from one format to another.

use crate::errors;
use judge::as_trace::{JobOperation, NamedOperation, RunTraceFile, write};
use judge::operations::{CommunicatorRow, OperationCells};
use pyo3::prelude::*;
use serde_json::json;
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use trace::cut::TracePart;
use trace::format::ListedReader;
use trace::known::FORMATS;
use trace::{ReadProgress, ReadStop};

/// Least time between two reports, so that signals are looked for often enough and little time is spent on it.
const BETWEEN: Duration = Duration::from_millis(100);

/// The formats of traces, each with name, line, files, limits, source, and whether it can be written.
pub fn formats() -> impl Iterator<Item = serde_json::Value> {
    let written = |name: &str| trace::convert::WRITERS.iter().any(|(writer, _)| *writer == name);
    FORMATS.iter().map(move |format| {
        json!({
            "name": format.name, "line": format.line, "files": format.files, "limits": format.limits,
            "source": format.source, "written": written(format.name),
        })
    })
}

/// The same as JSON.
#[pyfunction]
pub fn trace_formats() -> String {
    json!(formats().collect::<Vec<_>>()).to_string()
}

fn format(name: Option<&str>) -> PyResult<Option<&'static ListedReader>> {
    let Some(name) = name else { return Ok(None) };
    trace::named(name)
        .map(Some)
        .ok_or_else(|| errors::plain(format!("no format of traces \"{name}\"; {}", trace::known::hint(name))))
}

/// Does long work without the interpreter lock. `progress` is called with JSON (`done`, `all`, `records`) a few times a second and says
/// whether to go on.
fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&mut dyn FnMut(ReadProgress) -> bool) -> Result<T, ReadStop> + Send,
) -> PyResult<T> {
    let mut failed = None;
    let mut told = Instant::now();
    let result = py.allow_threads(|| {
        work(&mut |at| {
            if told.elapsed() < BETWEEN {
                return true;
            }
            told = Instant::now();
            let wanted = Python::with_gil(|py| {
                py.check_signals()?;
                let Some(progress) = progress else { return Ok(true) };
                let report = json!({"done": at.done, "all": at.all, "records": at.records});
                progress.bind(py).call1((report.to_string(),))?.is_truthy()
            });
            wanted.unwrap_or_else(|error| {
                failed = Some(error);
                false
            })
        })
    });
    match failed {
        Some(error) => Err(error),
        None => result.map_err(|stop| errors::of_trace(py, stop)),
    }
}

/// What a trace is, has, and what is wrong with it, as JSON. What cannot be read is told there.
#[pyfunction]
#[pyo3(signature = (path, name=None, progress=None))]
pub fn trace_info(py: Python<'_>, path: PathBuf, name: Option<&str>, progress: Option<Py<PyAny>>) -> PyResult<String> {
    let format = format(name)?;
    let info = watched(py, progress.as_ref(), |watch| trace::info::info(&path, format, watch))?;
    Ok(json!(info).to_string())
}

/// Converts a trace; options: `{"format": null, "to": "work", "repair": false}`. What was done is JSON.
#[pyfunction]
#[pyo3(signature = (path, out, options, progress=None))]
pub fn trace_convert(
    py: Python<'_>,
    path: PathBuf,
    out: PathBuf,
    options: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let options: serde_json::Value = serde_json::from_str(options).unwrap_or_default();
    let format = format(options["format"].as_str())?;
    let to = options["to"].as_str().unwrap_or("work");
    let repair = options["repair"].as_bool().unwrap_or_default();
    let converted = watched(py, progress.as_ref(), |watch| {
        trace::convert::convert(&path, format, &out, to, repair, watch)
    })?;
    Ok(json!(converted).to_string())
}

/// Writes a part of a trace; options: `{"format": null, "to": "work", "ranks": [0, 4], "times": [0, 1000], "region": null, "visits": [0, 10],
/// "from_marker": null, "to_marker": null}`, ranks, times (ps) and visits from the first to before the second. What was done is JSON.
#[pyfunction]
#[pyo3(signature = (path, out, options, progress=None))]
pub fn trace_cut(
    py: Python<'_>,
    path: PathBuf,
    out: PathBuf,
    options: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let options: serde_json::Value = serde_json::from_str(options).unwrap_or_default();
    let format = format(options["format"].as_str())?;
    let to = options["to"].as_str().unwrap_or("work");
    let pair = |key: &str| Some((options[key][0].as_u64()?, options[key][1].as_u64()?));
    let name = |key: &str| options[key].as_str().map(str::to_owned);
    let rank = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let part = TracePart {
        ranks: pair("ranks").map(|(begin, end)| rank(begin)..rank(end)),
        times: pair("times").map(|(begin, end)| begin..end),
        region: name("region"),
        visits: pair("visits").map(|(begin, end)| begin..end),
        from_marker: name("from_marker"),
        to_marker: name("to_marker"),
    };
    let cut = watched(py, progress.as_ref(), |watch| {
        trace::convert::cut(&path, format, &out, to, &part, watch)
    })?;
    Ok(json!(cut).to_string())
}

/// Columns of a table by name: little-endian numbers of 64 bits, the largest where nothing is.
type WholeColumns = HashMap<String, Vec<u8>>;

/// A column, and how to read it.
struct WholeColumn<'a>(&'a [u8]);

impl WholeColumn<'_> {
    fn rows(&self) -> usize {
        self.0.len() / 8
    }

    fn u64(&self, row: usize) -> Option<u64> {
        let bytes = self.0.get(8 * row..8 * row + 8)?.try_into().ok()?;
        Some(u64::from_le_bytes(bytes)).filter(|value| *value != u64::MAX)
    }

    fn u32(&self, row: usize) -> Option<u32> {
        self.u64(row).and_then(|value| u32::try_from(value).ok())
    }
}

fn column<'a>(columns: &'a WholeColumns, name: &str) -> Result<WholeColumn<'a>, ReadStop> {
    let found = columns.get(name).map(|bytes| WholeColumn(bytes));
    found.ok_or_else(|| {
        ReadStop::Refused(format!(
            "the run's tables have no column `{name}`: an earlier version has recorded it; run it again"
        ))
    })
}

fn job_operations(columns: &WholeColumns, words: &[String]) -> Result<Vec<JobOperation>, ReadStop> {
    let of = |name| column(columns, name);
    let (rank, part, begin, end) = (of("rank")?, of("part")?, of("begin_ps")?, of("end_ps")?);
    let (peer, bytes, tag, communicator) = (of("peer")?, of("bytes")?, of("tag")?, of("communicator")?);
    let (request, source, source_tag) = (of("request")?, of("source")?, of("source_tag")?);
    let (received, root, time, operation) = (of("received_bytes")?, of("root")?, of("time_ps")?, of("operation")?);
    let kinds = words
        .iter()
        .map(|word| NamedOperation::of(word))
        .collect::<Result<Vec<_>, _>>()?;
    let row = |i: usize| {
        let kind = operation.u32(i).and_then(|word| kinds.get(word as usize));
        let no_name = || ReadStop::Refused(format!("operation {i} of the job has no name"));
        let NamedOperation { kind, mode, is_begun } = *kind.ok_or_else(no_name)?;
        Ok(JobOperation {
            rank: rank.u32(i).unwrap_or(0),
            part: part.u32(i).unwrap_or(0),
            kind,
            mode,
            is_begun,
            begin: begin.u64(i).unwrap_or(0),
            end: end.u64(i).unwrap_or(0),
            cells: OperationCells {
                peer: peer.u32(i),
                bytes: bytes.u64(i),
                tag: tag.u32(i),
                communicator: communicator.u32(i),
                request: request.u32(i),
                source: source.u32(i),
                source_tag: source_tag.u32(i),
                received: received.u64(i),
                root: root.u32(i),
                time: time.u64(i),
            },
        })
    };
    (0..rank.rows()).map(row).collect()
}

fn communicator_rows(columns: &WholeColumns) -> Result<Vec<CommunicatorRow>, ReadStop> {
    let of = |name| column(columns, name);
    let (part, communicator, group) = (of("part")?, of("communicator")?, of("group")?);
    let (number, rank) = (of("number")?, of("rank")?);
    let cell = |column: &WholeColumn<'_>, i| column.u32(i).unwrap_or(0);
    let row = |i| CommunicatorRow {
        job: 0,
        part: cell(&part, i),
        communicator: cell(&communicator, i),
        group: cell(&group, i),
        number: cell(&number, i),
        rank: cell(&rank, i),
    };
    Ok((0..rank.rows()).map(row).collect())
}

/// Writes what the ranks of a job did as a trace, from the columns of the tables `operations`, whose words are numbers of `words`, and
/// `communicators`; `to` is `otf2`, where `out` is a folder, or `work`. What is not as it was comes back in words.
#[pyfunction]
pub fn run_trace(
    py: Python<'_>,
    operations: WholeColumns,
    words: Vec<String>,
    communicators: WholeColumns,
    out: PathBuf,
    to: &str,
) -> PyResult<Vec<String>> {
    let file = match to {
        "otf2" => Ok(RunTraceFile::Otf2(&out)),
        "work" => Ok(RunTraceFile::Work(&out)),
        other => Err(ReadStop::Refused(format!(
            "no run is written as {other:?}; there are otf2 and work"
        ))),
    };
    let written = py.allow_threads(|| {
        let rows = job_operations(&operations, &words)?;
        let communicators = communicator_rows(&communicators)?;
        write(&rows, &communicators, file?)
    });
    written.map_err(|stop| errors::of_trace(py, stop))
}
