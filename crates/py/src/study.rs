//! Studies: checking, expanding, describing and running them.

use crate::away::away;
use crate::errors;
use crate::ranks::PyRanks;
use crate::result::PyRunResult;
use des::Transport;
use fabric::spec::RunSpec;
use judge::checkpoint::{Checkpoints, Every};
use judge::failures::{Shelf, candidates, shelves};
use judge::predict::NetworkFacts;
use judge::run::{Means, RunOrder, run_by};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use study::Named;
use topo::FailKind;
use vocabulary::{LoadOptions, Study, load_study, run_of_canonical, study_points};
use work::build_error::BuildError;

/// Reads the options object: `{"sets": [[key, value]], "variant": name, "experiments": [names]}`.
fn options(text: &str) -> PyResult<LoadOptions> {
    let value: Value = serde_json::from_str(text).map_err(|error| errors::plain(format!("options: {error}")))?;
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let sets = value["sets"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|pair| format!("{}={}", word(&pair[0]), word(&pair[1])))
        .collect();
    let experiments = value["experiments"]
        .as_array()
        .into_iter()
        .flatten()
        .map(word)
        .collect();
    Ok(LoadOptions {
        sets,
        variant: value["variant"].as_str().map(str::to_owned),
        experiments,
    })
}

/// What a building error says about a key.
fn refusal(error: &BuildError) -> (String, String, String) {
    match error {
        BuildError::Topology(fields) => {
            let field = fields.first();
            let key = field.map(|f| format!("topology.{}", f.field)).unwrap_or_default();
            (
                key,
                error.to_string(),
                field.and_then(|f| f.hint.clone()).unwrap_or_default(),
            )
        }
        BuildError::Field { key, reason, hint } => (key.clone(), reason.clone(), hint.clone().unwrap_or_default()),
    }
}

/// Topology and routing of a run, for a line about them.
fn subject_name(run: &RunSpec) -> String {
    let kind = |value: Value| value["kind"].as_str().unwrap_or_default().to_owned();
    let vcs = run.router.vcs.map_or(String::new(), |vcs| format!(", {vcs} VCs"));
    format!("{} with {}{vcs}", kind(json!(run.topology)), kind(json!(run.routing)))
}

/// A diagnostic of a network, which no line of the study stands for: its key, the reason and a hint.
fn about(file: &str, severity: &str, [key, reason, hint]: [&str; 3]) -> Value {
    let hint_line = if hint.is_empty() {
        String::new()
    } else {
        format!(" = hint: {hint}\n")
    };
    json!({
        "severity": severity, "file": file, "line": 0, "column": 0, "key": key, "reason": reason, "hint": hint,
        "rendered": format!("{severity}: {key}: {reason}\n --> {file}\n{hint_line}"),
    })
}

/// Checks a study and proves its networks free of deadlock; a network is built once for all runs that share it.
#[pyfunction]
pub fn check(py: Python<'_>, source: &[u8], file_name: &str, base_dir: &str, options_json: &str) -> PyResult<String> {
    let options = options(options_json)?;
    let (source, file, base) = (source.to_vec(), file_name.to_owned(), PathBuf::from(base_dir));
    let found = away(py, move || {
        let study = match load_study(&source, &file, &base, &options) {
            Ok(study) => study,
            Err(diagnostics) => {
                let list: Vec<Value> = diagnostics.iter().map(errors::diagnostic).collect();
                return json!({"ok": false, "diagnostics": list, "runs": 0, "deadlock": []});
            }
        };
        let mut diagnostics: Vec<Value> = study.warnings.iter().map(errors::diagnostic).collect();
        let mut proofs: BTreeMap<String, Value> = BTreeMap::new();
        let mut ok = true;
        for run in &study.runs {
            let subject = json!([run.topology, run.routing, run.router, run.jobs]).to_string();
            if proofs.contains_key(&subject) {
                continue;
            }
            let value = match judge::describe::deadlock(run) {
                Ok((words, idle)) => {
                    let hint = "take \"auto\", or as many as act";
                    diagnostics.extend(idle.map(|idle| about(&file, "warning", ["router.vcs", &idle, hint])));
                    json!(format!("{}: {words}", subject_name(run)))
                }
                Err(error) => {
                    ok = false;
                    let (key, reason, hint) = refusal(&error);
                    diagnostics.push(about(&file, "error", [&key, &reason, &hint]));
                    json!(format!("{}: {reason}", subject_name(run)))
                }
            };
            proofs.insert(subject, value);
        }
        let mut lines: Vec<Value> = proofs.into_values().collect();
        lines.dedup();
        json!({"ok": ok, "diagnostics": diagnostics, "runs": study.runs.len(), "deadlock": lines})
    })?;
    Ok(found.to_string())
}

/// The runs of a study with what they will take, or what a building error says.
fn entries(study: &Study) -> Result<Vec<Value>, (String, String, String)> {
    // Networks are built once for all loads, lengths and seeds.
    let mut networks: BTreeMap<String, Result<NetworkFacts, BuildError>> = BTreeMap::new();
    let entry = |run: &RunSpec| {
        let facts = networks
            .entry(NetworkFacts::name(run))
            .or_insert_with(|| NetworkFacts::new(run));
        match facts {
            Ok(facts) => Ok(judge::describe::run_entry(run, &facts.predict(run))),
            Err(error) => Err(refusal(error)),
        }
    };
    study.runs.iter().map(entry).collect()
}

/// The runs of a study.
#[pyfunction]
pub fn expand(py: Python<'_>, source: &[u8], file_name: &str, base_dir: &str, options_json: &str) -> PyResult<String> {
    let options = options(options_json)?;
    let (source, file, base) = (source.to_vec(), file_name.to_owned(), PathBuf::from(base_dir));
    let found = away(py, move || {
        load_study(&source, &file, &base, &options).map(|study| (entries(&study), study))
    })?;
    let (runs, study) = found.map_err(|diagnostics| errors::of_study(py, &diagnostics))?;
    let runs = runs.map_err(|(key, reason, hint)| {
        let hint = if hint.is_empty() { hint } else { format!(" ({hint})") };
        errors::of_key(py, file_name, &key, &format!("{reason}{hint}"))
    })?;
    let warnings: Vec<Value> = study.warnings.iter().map(errors::diagnostic).collect();
    let about = json!({
        "name": study.name, "description": study.description, "claims": study.claims, "reproduce": study.reproduce,
        "sample": study.sample,
    });
    Ok(json!({"study": about, "runs": runs, "diagnostics": warnings}).to_string())
}

/// The points of a study as `[experiment, [[key, value], ...]]`, in order, whether they can be run or not.
#[pyfunction]
pub fn points(py: Python<'_>, source: &[u8], file_name: &str, base_dir: &str, options_json: &str) -> PyResult<String> {
    let _ = base_dir;
    let options = options(options_json)?;
    let (source, file) = (source.to_vec(), file_name.to_owned());
    let found = away(py, move || study_points(&source, &file, &options))?;
    let points = found.map_err(|diagnostics| errors::of_study(py, &diagnostics))?;
    Ok(json!(points).to_string())
}

/// The run of a canonical text.
pub(crate) fn one_run(canonical: &str) -> PyResult<RunSpec> {
    run_of_canonical(canonical).map_err(|reason| errors::plain(format!("not a canonical run: {reason}")))
}

/// What is found out about a run, as JSON.
fn told<F>(py: Python<'_>, canonical: &str, find: F) -> PyResult<String>
where
    F: FnOnce(&RunSpec) -> Result<Value, BuildError> + Send + 'static,
{
    let run = one_run(canonical)?;
    away(py, move || find(&run))?
        .map(|value| value.to_string())
        .map_err(|error| errors::of_key(py, "", "", &error.to_string()))
}

/// Metrics and drawing of a run's network; of its links all, or those given as `[[router, port], ...]`.
#[pyfunction]
#[pyo3(signature = (canonical, links=None, /))]
pub fn describe(py: Python<'_>, canonical: &str, links: Option<&str>) -> PyResult<String> {
    let links = links.map(ports).transpose()?;
    told(py, canonical, move |run| {
        judge::describe::describe(run, links.as_deref())
    })
}

/// Reads a list `[[router, port], ...]`.
fn ports(links: &str) -> PyResult<Vec<(u32, u16)>> {
    serde_json::from_str(links).map_err(|reason| errors::plain(format!("not a list of links: {reason}")))
}

/// What a picture of a run's network is drawn from, of any size.
#[pyfunction]
pub fn picture(py: Python<'_>, canonical: &str) -> PyResult<String> {
    told(py, canonical, judge::picture::picture)
}

/// What a run's network is made of and costs, with its nodes and its bisection.
#[pyfunction]
pub fn bill(py: Python<'_>, canonical: &str) -> PyResult<String> {
    told(py, canonical, judge::bill::of_point)
}

/// What the open-loop traffic of a run loads its links with, and where that is full; null where it has none.
#[pyfunction]
pub fn limits(py: Python<'_>, canonical: &str) -> PyResult<String> {
    let run = one_run(canonical)?;
    away(py, move || judge::limits::limits(&run))?
        .map(|found| json!(found).to_string())
        .map_err(|error| errors::of_key(py, "", "", &error.to_string()))
}

/// What links of a run's network are called together; they are given as `[[router, port], ...]`.
#[pyfunction]
pub fn name_links(py: Python<'_>, canonical: &str, links: &str) -> PyResult<String> {
    let run = one_run(canonical)?;
    let links = ports(links)?;
    let built = away(py, move || {
        run.shape().map(|topology| judge::limits::name(&topology, &links))
    })?;
    built.map_err(|error| errors::of_key(py, "", "topology", &error.to_string()))
}

/// Everything of a kind that can fail in a run's network, by the names that `[fail]` takes: `"cables"`, `"routers"` or `"nodes"`, or `"groups"` and
/// `"racks"` with what is in them.
#[pyfunction]
pub fn can_fail(py: Python<'_>, canonical: &str, of: &str) -> PyResult<String> {
    if let Some(shelf) = Shelf::named(of) {
        return told(py, canonical, move |run| shelves(run, shelf));
    }
    let of = FailKind::named(of).ok_or_else(|| errors::plain(format!("{of:?} is nothing that can fail")))?;
    told(py, canonical, move |run| candidates(run, of))
}

/// What is dead in a run, and which nodes cannot reach each other any more.
#[pyfunction]
pub fn fallout(py: Python<'_>, canonical: &str) -> PyResult<String> {
    told(py, canonical, judge::failures::fallout)
}

/// How so many workers would share out the routers of a run.
#[pyfunction]
pub fn partition(py: Python<'_>, canonical: &str, workers: u32) -> PyResult<String> {
    let run = one_run(canonical)?;
    away(py, move || judge::describe::partition(&run, workers))?
        .map(|value| value.to_string())
        .map_err(|error| {
            let (key, reason, hint) = refusal(&error);
            let hint = if hint.is_empty() { hint } else { format!("; {hint}") };
            errors::of_key(py, "", &key, &format!("{reason}{hint}"))
        })
}

/// Reads the checkpoint object: `{"file": path, "every": "10 min" or null, "resume": bool}`.
fn checkpoints(text: &str) -> PyResult<Checkpoints> {
    let value: Value = serde_json::from_str(text).map_err(|error| errors::plain(format!("checkpoint: {error}")))?;
    let file = value["file"]
        .as_str()
        .ok_or_else(|| errors::plain("checkpoint: no file".into()))?;
    let every = value["every"].as_str().map(Every::parse).transpose();
    Ok(Checkpoints {
        file: file.into(),
        every: every.map_err(errors::plain)?,
        resume: value["resume"].as_bool().unwrap_or_default(),
    })
}

/// Shares forwarding tables and proofs with all processes that are told the same folder, from now on; it must be for these alone.
#[pyfunction]
#[pyo3(signature = (folder, /))]
pub fn share_tables(folder: Option<PathBuf>) {
    fabric::routing::share_tables_in(folder.filter(|folder| !folder.as_os_str().is_empty()));
}

/// Whether the time between two checkpoints is `wall` or `simulated` time.
#[pyfunction]
pub fn checkpoint_interval(text: &str) -> PyResult<&'static str> {
    match Every::parse(text).map_err(errors::plain)? {
        Every::Wall(_) => Ok("wall"),
        Every::Simulated(_) => Ok("simulated"),
    }
}

/// What a progress callback wants: anything true goes on, the word `checkpoint` saves and stops, anything false stops.
fn order(answer: &Bound<'_, PyAny>) -> PyResult<RunOrder> {
    if answer.extract::<&str>().is_ok_and(|word| word == "checkpoint") {
        return Ok(RunOrder::SaveAndStop);
    }
    Ok(match answer.is_truthy()? {
        true => RunOrder::GoOn,
        false => RunOrder::Stop,
    })
}

/// Runs one run; `progress` is called with JSON a few times per second and says whether to go on. `checkpoint` says where checkpoints go.
/// `threads` are for the run to take if it leaves the number of its workers open. `ranks` joins the processes that share the run: all call
/// this alike, the first has the result.
#[pyfunction]
#[pyo3(signature = (canonical, progress=None, checkpoint=None, threads=1, ranks=None))]
pub fn run(
    py: Python<'_>,
    canonical: &str,
    progress: Option<Py<PyAny>>,
    checkpoint: Option<&str>,
    threads: u16,
    ranks: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<PyRunResult>> {
    let run = one_run(canonical)?;
    let checkpoints = checkpoint.map(checkpoints).transpose()?;
    let mut ranks = ranks.map(PyRanks::new).transpose()?;
    let mut failed = None;
    let result = py.allow_threads(|| {
        let means = Means {
            threads,
            checkpoints: checkpoints.as_ref(),
            ranks: ranks.as_mut().map(|ranks| ranks as &mut dyn Transport),
        };
        run_by(&run, means, &mut |report| {
            Python::with_gil(|py| {
                let wanted = py.check_signals().and_then(|()| match &progress {
                    None => Ok(RunOrder::GoOn),
                    Some(callback) => order(&callback.bind(py).call1((json!(report).to_string(),))?),
                });
                wanted.unwrap_or_else(|error| {
                    failed = Some(error);
                    RunOrder::Stop
                })
            })
        })
    });
    match (failed.or(ranks.and_then(|ranks| ranks.raised)), result) {
        (Some(error), _) => Err(error),
        (None, Ok(result)) => Ok(result.map(PyRunResult::new)),
        (None, Err(error)) => Err(errors::of_run(py, error)),
    }
}
