//! Errors: each of ours is one Python exception.

use judge::checkpoint::CheckpointError;
use judge::run::RunError;
use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde_json::json;
use topo::subnet::{FileMistake, Mistakes};
use trace::{Problem, ReadStop};
use vocabulary::{Diagnostic, render};

create_exception!(
    fabricsim,
    StudyError,
    PyValueError,
    "The study cannot be run; `diagnostics` says where and why."
);
create_exception!(
    fabricsim,
    CheckFailed,
    PyRuntimeError,
    "A run failed its own checks; `summary` is its JSON."
);
create_exception!(
    fabricsim,
    Interrupted,
    PyRuntimeError,
    "The progress callback asked to stop."
);

create_exception!(
    fabricsim,
    CheckpointRefused,
    PyValueError,
    "A run's checkpoint cannot be used: the text names the file, the reason and what to do."
);

create_exception!(
    fabricsim,
    TraceError,
    PyValueError,
    "A trace cannot be read or written: the text names file, rank, record, reason and what to do."
);

/// A diagnostic as a JSON object.
pub fn diagnostic(d: &Diagnostic) -> serde_json::Value {
    json!({
        "severity": d.severity,
        "file": d.file,
        "line": d.line,
        "column": d.column,
        "key": d.key,
        "reason": d.reason,
        "hint": d.hint,
        "rendered": d.to_string(),
    })
}

/// A StudyError from diagnostics.
pub fn of_study(py: Python<'_>, diagnostics: &[Diagnostic]) -> PyErr {
    let error = StudyError::new_err(render(diagnostics));
    let list: Vec<_> = diagnostics.iter().map(diagnostic).collect();
    attach(py, error, "diagnostics", json!(list).to_string())
}

/// A StudyError from one sentence about a key.
pub fn of_key(py: Python<'_>, file: &str, key: &str, reason: &str) -> PyErr {
    let text = if key.is_empty() {
        reason.to_owned()
    } else {
        format!("{key}: {reason}")
    };
    let list = json!([{
        "severity": "error", "file": file, "line": 0, "column": 0, "key": key, "reason": reason, "hint": "",
        "rendered": format!("error: {text}\n"),
    }]);
    attach(py, StudyError::new_err(text), "diagnostics", list.to_string())
}

/// A StudyError from the mistakes of a file.
pub fn of_file(py: Python<'_>, file: &str, mistakes: &Mistakes) -> PyErr {
    let more = (mistakes.more > 0).then(|| FileMistake {
        line: 0,
        reason: format!("and {} more mistakes", mistakes.more),
        hint: String::new(),
    });
    let tell = |mistake: &FileMistake| {
        let FileMistake { line, reason, hint } = mistake;
        let place = match (file, line) {
            ("", 0) => String::new(),
            (file, 0) => format!(" --> {file}\n"),
            (file, line) => format!(" --> {file}:{line}\n"),
        };
        let hint_line = if hint.is_empty() {
            String::new()
        } else {
            format!(" = hint: {hint}\n")
        };
        json!({
            "severity": "error", "file": file, "line": line, "column": 0, "key": "", "reason": reason, "hint": hint,
            "rendered": format!("error: {reason}\n{place}{hint_line}"),
        })
    };
    let list: Vec<_> = mistakes.list.iter().chain(&more).map(tell).collect();
    attach(
        py,
        StudyError::new_err(mistakes.to_string()),
        "diagnostics",
        json!(list).to_string(),
    )
}

/// A StudyError from a reason and a hint about something by name.
pub fn of_hint(py: Python<'_>, what: &str, reason: &str, hint: &str) -> PyErr {
    let list = json!([{
        "severity": "error", "file": "", "line": 0, "column": 0, "key": what, "reason": reason, "hint": hint,
        "rendered": format!("error: {what}: {reason}\n = hint: {hint}\n"),
    }]);
    attach(
        py,
        StudyError::new_err(format!("{what}: {reason} ({hint})")),
        "diagnostics",
        list.to_string(),
    )
}

/// A ValueError.
pub fn plain(text: String) -> PyErr {
    PyValueError::new_err(text)
}

/// The exception of a failed run.
pub fn of_run(py: Python<'_>, error: RunError) -> PyErr {
    let text = error.to_string();
    match error {
        RunError::Build(_) => of_key(py, "", "", &text),
        // Who calls on the rank that has the error is told there.
        RunError::Interrupted { .. } | RunError::Elsewhere => Interrupted::new_err(text),
        RunError::Check(summary) => attach(py, CheckFailed::new_err(text), "summary", json!(summary).to_string()),
        RunError::Engine(_) | RunError::Ranks(_) => PyRuntimeError::new_err(text),
        RunError::Checkpoint(CheckpointError::Write { error, .. }) => PyOSError::new_err((error.raw_os_error(), text)),
        RunError::Checkpoint(_) => CheckpointRefused::new_err(text),
    }
}

/// The exception of a trace that was not read to its end, or not written.
pub fn of_trace(py: Python<'_>, stop: ReadStop) -> PyErr {
    let problem = match stop {
        ReadStop::Interrupted => return Interrupted::new_err("reading was interrupted"),
        ReadStop::Refused(reason) => Problem::new("", reason, ""),
        ReadStop::Broken(problem) => problem,
    };
    let Problem {
        file,
        rank,
        record,
        reason,
        hint,
    } = &problem;
    let place = json!({"file": file, "rank": rank, "record": record, "reason": reason, "hint": hint});
    attach(
        py,
        TraceError::new_err(problem.to_string()),
        "problem",
        place.to_string(),
    )
}

fn attach(py: Python<'_>, error: PyErr, name: &str, value: String) -> PyErr {
    match error.value(py).setattr(name, value) {
        Ok(()) => error,
        Err(other) => other,
    }
}
