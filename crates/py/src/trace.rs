//! Traces of applications: what they are, and from one format to another.

use crate::errors;
use pyo3::prelude::*;
use serde_json::json;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use trace::cut::TracePart;
use trace::format::ListedReader;
use trace::known::FORMATS;
use trace::{ReadProgress, ReadStop};

/// Least time between two reports, so that signals are looked for often enough and little time is spent on it.
const BETWEEN: Duration = Duration::from_millis(100);

/// The formats of traces as JSON, each with name, line, files, limits, source, and whether it can be written.
#[pyfunction]
pub fn trace_formats() -> String {
    let written = |name: &str| trace::convert::WRITERS.iter().any(|(writer, _)| *writer == name);
    let all: Vec<_> = FORMATS
        .iter()
        .map(|format| {
            json!({
                "name": format.name, "line": format.line, "files": format.files, "limits": format.limits,
                "source": format.source, "written": written(format.name),
            })
        })
        .collect();
    json!(all).to_string()
}

fn format(name: Option<&str>) -> PyResult<Option<&'static ListedReader>> {
    let Some(name) = name else { return Ok(None) };
    trace::named(name).map(Some).ok_or_else(|| {
        let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        errors::plain(format!(
            "no format of traces \"{name}\"; there are {}",
            known.join(", ")
        ))
    })
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

/// Writes a part of a trace; options: `{"format": null, "to": "work", "ranks": [0, 4], "times": [0, 1000], "region": null}`, ranks and times (ps)
/// from the first to before the second. What was done is JSON.
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
    let rank = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let part = TracePart {
        ranks: pair("ranks").map(|(begin, end)| rank(begin)..rank(end)),
        times: pair("times").map(|(begin, end)| begin..end),
        region: options["region"].as_str().map(str::to_owned),
    };
    let cut = watched(py, progress.as_ref(), |watch| {
        trace::convert::cut(&path, format, &out, to, &part, watch)
    })?;
    Ok(json!(cut).to_string())
}
