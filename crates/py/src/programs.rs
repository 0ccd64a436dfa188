//! Programs that run as processes: how they are started, and what there is to say of those that have ended.

use crate::errors;
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use work::live::{Dialect, GoesOn, LaunchManner, LibraryChoice, LiveEnd, Output, set_manner, take_reports};

/// Says how programs are started by runs of this thread from now on. Options, all of them optional: `libraries` (the folder of the MPI
/// libraries), `abi` ("standard" or "mpich": the library of programs that do not say which they need), `output` ("pass", "prefix" or {"folder":
/// "..."}), `input` (whether the first rank reads what this process would), `debugger` ([rank, [words before the command]]), `waits` (a rank that waits
/// for a debugger), `one_core`, `log` and `table` (files), `quiet` (nothing is said of ranks that are waited for). `goes_on` is asked a few times a second while a process is waited for.
#[pyfunction]
#[pyo3(signature = (options, goes_on = None, /))]
pub fn program_manner(options: &str, goes_on: Option<Py<PyAny>>) -> PyResult<()> {
    let goes_on = goes_on.map(|callback| {
        GoesOn(Arc::new(move || {
            Python::with_gil(|py| {
                let answer = callback.call0(py).and_then(|answer| answer.extract(py));
                answer.unwrap_or(false)
            })
        }))
    });
    set_manner(LaunchManner {
        goes_on,
        ..manner(options)?
    });
    Ok(())
}

fn manner(options: &str) -> PyResult<LaunchManner> {
    let options: Value = serde_json::from_str(options).map_err(|error| errors::plain(format!("options: {error}")))?;
    let path = |key: &str| options[key].as_str().map(PathBuf::from);
    let rank = |value: &Value| value.as_u64().and_then(|rank| u32::try_from(rank).ok());
    let output = match (&options["output"], options["output"]["folder"].as_str()) {
        (_, Some(folder)) => Output::Folder(folder.into()),
        (output, None) if output == "prefix" => Output::Prefix,
        _ => Output::Pass,
    };
    let words = |list: &Value| {
        let words = list.as_array().into_iter().flatten().filter_map(Value::as_str);
        words.map(Into::into).collect()
    };
    let usual = LaunchManner::default();
    Ok(LaunchManner {
        libraries: path("libraries").or(usual.libraries),
        unsaid: match options["abi"].as_str() {
            Some("standard") => Some(Dialect::Standard),
            Some("mpich") => Some(Dialect::Mpich),
            _ => usual.unsaid,
        },
        output,
        takes_input: options["input"].as_bool().unwrap_or(usual.takes_input),
        debugger: rank(&options["debugger"][0]).map(|rank| (rank, words(&options["debugger"][1]))),
        waits: rank(&options["waits"]),
        on_one_core: options["one_core"].as_bool().unwrap_or(usual.on_one_core),
        log: path("log"),
        table: path("table"),
        is_quiet: options["quiet"].as_bool().unwrap_or(usual.is_quiet),
        goes_on: None,
    })
}

/// Which library a program gets that is started in this folder, as JSON: `program`, `library` (files), `abi` ("standard", "mpich", or "unsaid" where
/// the program itself names none) and `loaded_first` (whether the library is loaded before all others).
#[pyfunction]
#[pyo3(signature = (command, options, /))]
pub fn program_library(command: Vec<String>, options: &str) -> PyResult<String> {
    let choice = LibraryChoice::of(&command, None, &manner(options)?).map_err(errors::plain)?;
    let abi = match choice.dialect {
        Dialect::Standard => "standard",
        Dialect::Mpich => "mpich",
        Dialect::Unsaid => "unsaid",
    };
    Ok(json!({ "program": choice.program, "library": choice.library, "abi": abi, "loaded_first": choice.is_loaded_first }).to_string())
}

/// What there is to say of the programs that have ended since this was asked last, as JSON: a list of objects with `end` ("finished", "failed" or
/// "deadlock"), `exit_code`, `words`, `calls`, `traps`, `library_s` (CPU time of the ranks within calls), `time_dependent` (a count for each kind of call).
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
            "library_s": report.library_s,
            "time_dependent": report.time_dependent.into_iter().collect::<std::collections::BTreeMap<_, _>>(),
        })
    });
    json!(reports.collect::<Vec<_>>()).to_string()
}
