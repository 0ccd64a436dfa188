//! The Python module `fabricsim._core`: converts values, releases the interpreter lock, maps errors. It makes no decisions.

mod away;
mod errors;
#[cfg(target_os = "linux")]
mod programs;
mod ranks;
mod result;
mod routes;
mod study;
mod trace;

use pyo3::prelude::*;
use serde_json::json;
use std::path::Path;

#[cfg(target_os = "linux")]
#[global_allocator]
static MEMORY: pages::LargePages = pages::LargePages;

/// Entries of a registry kind as JSON; an empty kind lists the kinds.
#[pyfunction]
fn list_entries(kind: &str) -> PyResult<String> {
    use vocabulary::registry::{FAMILIES, family, list};
    if kind.is_empty() {
        let names: Vec<&str> = FAMILIES.iter().map(|family| family.name).collect();
        return Ok(json!(names).to_string());
    }
    if kind == "topology-preset" {
        let presets: Vec<_> = topo::presets()
            .iter()
            .map(|preset| json!({"name": preset.name, "line": preset.about, "parameters": []}))
            .collect();
        return Ok(json!(presets).to_string());
    }
    if kind == "trace-format" {
        let formats: Vec<_> = trace::formats()
            .map(|mut format| {
                format["limits"] = json!([format["limits"]]);
                format["parameters"] = json!([]);
                format
            })
            .collect();
        return Ok(json!(formats).to_string());
    }
    let kind = family(kind).ok_or_else(|| {
        let names: Vec<&str> = FAMILIES.iter().map(|family| family.name).collect();
        errors::plain(format!(
            "no kind \"{kind}\"; there are {}, topology-preset and trace-format",
            names.join(", ")
        ))
    })?;
    let entries: Vec<_> = list(kind)
        .iter()
        .map(|entry| {
            let parameters: Vec<_> = entry
                .parameters()
                .map(|p| json!({"key": p.key, "type": p.kind.words(), "default": default(&p.default), "doc": p.doc}))
                .collect();
            json!({
                "name": entry.name,
                "line": entry.line,
                "parameters": parameters,
                "source": entry.source,
                "limits": if entry.limits.is_empty() { vec![] } else { vec![entry.limits] },
            })
        })
        .collect();
    Ok(json!(entries).to_string())
}

/// What results hold, as JSON: `figures` of a run, and `tables` with their `columns`, each with name, unit, word and line.
#[pyfunction]
fn results() -> String {
    judge::results::listing().to_string()
}

/// JSON schema of study files.
#[pyfunction]
fn schema() -> String {
    vocabulary::registry::schema().to_string()
}

/// A default in words.
fn default(default: &::study::Default) -> String {
    match default {
        ::study::Default::Required => "required".into(),
        ::study::Default::Text(text) | ::study::Default::From(text) => (*text).into(),
    }
}

/// What this core was built of as JSON: `version`, `commit` and `dirty` (null where no git was at hand), and `sources`, the SHA-256
/// of all that its answers depend on.
#[pyfunction]
fn build() -> String {
    let commit = Some(env!("FABRICSIM_COMMIT")).filter(|commit| !commit.is_empty());
    let dirty: Option<bool> = env!("FABRICSIM_DIRTY").parse().ok();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "commit": commit,
        "dirty": dirty,
        "sources": env!("FABRICSIM_SOURCES"),
    })
    .to_string()
}

/// The benchmark cases as JSON.
#[pyfunction]
fn bench_cases() -> String {
    json!(judge::bench::CASES).to_string()
}

/// Runs a benchmark case; options: `{"length": 1.0, "workers": 1, "engine": "auto"}`.
#[pyfunction]
#[pyo3(name = "bench")]
fn run_bench(py: Python<'_>, case: &str, options: &str) -> PyResult<String> {
    let options: serde_json::Value = serde_json::from_str(options).unwrap_or_default();
    let mut wanted = judge::bench::BenchOptions::default();
    if let Some(length) = options["length"].as_f64() {
        wanted.length = length;
    }
    if let Some(workers) = options["workers"]
        .as_u64()
        .and_then(|workers| u16::try_from(workers).ok())
    {
        wanted.workers = workers.max(1);
    }
    if let Some(engine) = options.get("engine") {
        wanted.engine =
            serde_json::from_value(engine.clone()).map_err(|error| errors::plain(format!("engine: {error}")))?;
    }
    let name = case.to_owned();
    let result = away::away(py, move || judge::bench::bench(&name, wanted))?;
    match result {
        None => Err(errors::plain(format!("no benchmark case \"{case}\""))),
        Some(Ok(result)) => Ok(json!(result).to_string()),
        Some(Err(error)) => Err(errors::of_run(py, error)),
    }
}

/// The extension module.
/// The text of a Parquet file, by Arrow.
fn parquet(path: &Path) -> Result<String, String> {
    Python::with_gil(|py| {
        let module = py.import("fabricsim._parquet")?;
        module.call_method1("csv_text", (path,))?.extract()
    })
    .map_err(|error: PyErr| Python::with_gil(|py| error.value(py).to_string()))
}

#[pymodule]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = m.py();
    #[cfg(target_os = "linux")]
    pages::survive_forks();
    ::study::user_file::set_parquet_reader(parquet);
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add("StudyError", py.get_type::<errors::StudyError>())?;
    m.add("CheckFailed", py.get_type::<errors::CheckFailed>())?;
    m.add("Interrupted", py.get_type::<errors::Interrupted>())?;
    m.add("CheckpointRefused", py.get_type::<errors::CheckpointRefused>())?;
    m.add("TraceError", py.get_type::<errors::TraceError>())?;
    m.add_class::<result::PyRunResult>()?;
    m.add_class::<routes::PyFabric>()?;
    m.add_class::<routes::Routes>()?;
    m.add_class::<routes::PyFigures>()?;
    m.add_function(wrap_pyfunction!(routes::fabric_of_file, m)?)?;
    m.add_function(wrap_pyfunction!(routes::fabric_of_run, m)?)?;
    m.add_function(wrap_pyfunction!(routes::route_engines, m)?)?;
    m.add_function(wrap_pyfunction!(study::check, m)?)?;
    m.add_function(wrap_pyfunction!(study::expand, m)?)?;
    m.add_function(wrap_pyfunction!(study::describe, m)?)?;
    m.add_function(wrap_pyfunction!(study::picture, m)?)?;
    m.add_function(wrap_pyfunction!(study::bill, m)?)?;
    m.add_function(wrap_pyfunction!(study::limits, m)?)?;
    m.add_function(wrap_pyfunction!(study::can_fail, m)?)?;
    m.add_function(wrap_pyfunction!(study::fallout, m)?)?;
    m.add_function(wrap_pyfunction!(study::name_links, m)?)?;
    m.add_function(wrap_pyfunction!(study::points, m)?)?;
    m.add_function(wrap_pyfunction!(study::partition, m)?)?;
    m.add_function(wrap_pyfunction!(study::run, m)?)?;
    m.add_function(wrap_pyfunction!(study::share_tables, m)?)?;
    m.add_function(wrap_pyfunction!(study::checkpoint_interval, m)?)?;
    m.add_function(wrap_pyfunction!(trace::trace_formats, m)?)?;
    m.add_function(wrap_pyfunction!(trace::trace_info, m)?)?;
    m.add_function(wrap_pyfunction!(trace::trace_convert, m)?)?;
    m.add_function(wrap_pyfunction!(trace::trace_cut, m)?)?;
    m.add_function(wrap_pyfunction!(trace::run_trace, m)?)?;
    #[cfg(target_os = "linux")]
    {
        m.add_function(wrap_pyfunction!(programs::program_manner, m)?)?;
        m.add_function(wrap_pyfunction!(programs::program_library, m)?)?;
        m.add_function(wrap_pyfunction!(programs::program_reports, m)?)?;
    }
    m.add_function(wrap_pyfunction!(list_entries, m)?)?;
    m.add_function(wrap_pyfunction!(build, m)?)?;
    m.add_function(wrap_pyfunction!(results, m)?)?;
    m.add_function(wrap_pyfunction!(schema, m)?)?;
    m.add_function(wrap_pyfunction!(run_bench, m)?)?;
    m.add_function(wrap_pyfunction!(bench_cases, m)?)?;
    Ok(())
}
