//! Programs that run as processes: how they are started, and what there is to say of those that have ended.

use crate::errors;
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Mutex;
use work::live::{LaunchManner, LiveEnd, Output, set_manner, take_reports};

/// Asked whether to go on while a process is waited for.
static GOES_ON: Mutex<Option<Py<PyAny>>> = Mutex::new(None);

fn goes_on() -> bool {
    Python::with_gil(|py| {
        let Ok(Some(callback)) = GOES_ON
            .lock()
            .map(|callback| callback.as_ref().map(|callback| callback.clone_ref(py)))
        else {
            return true;
        };
        callback
            .call0(py)
            .and_then(|answer| answer.extract(py))
            .unwrap_or(false)
    })
}

/// Says how programs are started by this process from now on. Options, all of them optional: `libraries` (the folder of the MPI
/// libraries), `output` ("pass", "prefix" or {"folder": "..."}), `debugger` ([rank, [words before the command]]), `one_core`, `log` and
/// `table` (files).
/// `goes_on` is asked a few times a second while a process is waited for.
#[pyfunction]
#[pyo3(signature = (options, goes_on_callback = None, /))]
pub fn program_manner(options: &str, goes_on_callback: Option<Py<PyAny>>) -> PyResult<()> {
    let options: Value = serde_json::from_str(options).map_err(|error| errors::plain(format!("options: {error}")))?;
    let path = |key: &str| options[key].as_str().map(PathBuf::from);
    let output = match (&options["output"], options["output"]["folder"].as_str()) {
        (_, Some(folder)) => Output::Folder(folder.into()),
        (output, None) if output == "prefix" => Output::Prefix,
        _ => Output::Pass,
    };
    let words = |list: &Value| {
        let words = list.as_array().into_iter().flatten().filter_map(Value::as_str);
        words.map(Into::into).collect()
    };
    let debugger = options["debugger"][0]
        .as_u64()
        .map(|rank| (rank as u32, words(&options["debugger"][1])));
    if let Ok(mut callback) = GOES_ON.lock() {
        *callback = goes_on_callback;
    }
    set_manner(LaunchManner {
        libraries: path("libraries"),
        output,
        debugger,
        on_one_core: options["one_core"].as_bool().unwrap_or(true),
        log: path("log"),
        table: path("table"),
        goes_on: Some(goes_on),
    });
    Ok(())
}

/// What there is to say of the programs that have ended since this was asked last, as JSON: a list of objects with `end` ("finished", "failed" or
/// "deadlock"), `exit_code`, `words`, `calls`, `traps`, `time_dependent` (a count for each kind of call).
#[pyfunction]
pub fn program_reports() -> String {
    let reports = take_reports().into_iter().map(|report| {
        json!({
            "end": match report.end {
                LiveEnd::Finished => "finished",
                LiveEnd::Failed => "failed",
                LiveEnd::Deadlock => "deadlock",
            },
            "exit_code": report.exit_code,
            "words": report.words,
            "calls": report.calls,
            "traps": report.traps,
            "time_dependent": report.time_dependent.into_iter().collect::<std::collections::BTreeMap<_, _>>(),
        })
    });
    json!(reports.collect::<Vec<_>>()).to_string()
}
