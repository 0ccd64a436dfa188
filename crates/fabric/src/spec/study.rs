//! From the bytes of a study file to validated runs, or to everything that is wrong with it.

use super::canonical::canonical_study;
use super::control::{self, Repeats};
use super::diagnostic::{Diagnostic, Findings, Place, Severity, Sources};
use super::document::{self, Node, Table, Value, to_json};
use super::experiments::{self, Experiment, Override, Wanted};
use super::jobs;
use super::network;
use super::partition::Map;
use super::placement::Files;
use super::reader::unknown_key;
use super::run::RunSpec;
use super::topology::{self, Networks};
use crate::registry;
use std::path::Path;

/// Most runs of one study.
pub const MOST_RUNS: u64 = 100_000;

/// After this many errors, repeated ones included, the rest of a sweep is not looked at.
const MOST_ERRORS: usize = 5_000;

/// What the caller wants besides the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// `key.path=value` texts that override the file (`--set`). A value that is not a TOML value is a text, so quotes
    /// may be left out: `link.bandwidth=50 GB/s`.
    pub sets: Vec<String>,
    /// The variant to use, one of the file's `[variant.NAME]`.
    pub variant: Option<String>,
    /// The experiments to keep; empty keeps all.
    pub experiments: Vec<String>,
}

/// A validated study.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    /// Its name; the file's name without its ending if the file gives none.
    pub name: String,
    /// What it shows; may be empty.
    pub description: String,
    /// All runs: experiments in written order, their sweep points with the last swept key fastest, seeds innermost, each followed by the
    /// perturbed runs beside it.
    pub runs: Vec<RunSpec>,
    /// The `[[claim]]` tables as a JSON list of objects.
    pub claims: serde_json::Value,
    /// The `[reproduce]` table as a JSON object; null if there is none.
    pub reproduce: serde_json::Value,
    /// The sample as a JSON object: `method`, `points`, `seed`, and `keys` with their ranges; null if there is none.
    pub sample: serde_json::Value,
    /// What is probably not meant, in order of places.
    pub warnings: Vec<Diagnostic>,
    /// All runs as JSON on one line with everything filled in; [`runs_of_canonical`](super::runs_of_canonical) reads it back.
    pub canonical: String,
}

/// Reads a study: `bytes` of the file called `file_name`, paths in it relative to `base`.
///
/// The result depends on the arguments and on the existence of graph files alone.
///
/// # Errors
/// Everything that is wrong, warnings included, in order of places; at least one is an error.
pub fn load_study(bytes: &[u8], file_name: &str, base: &Path, options: &LoadOptions) -> Result<Study, Vec<Diagnostic>> {
    let mut sources = Sources::default();
    let mut findings = Findings::default();
    let study = load(bytes, file_name, base, options, &mut sources, &mut findings);
    let failed = findings.n_errors() > 0;
    let diagnostics = findings.into_diagnostics(&sources);
    match study {
        Some(study) if !failed => {
            debug_assert!(
                diagnostics
                    .iter()
                    .all(|diagnostic| diagnostic.severity == Severity::Warning)
            );
            Ok(Study {
                warnings: diagnostics,
                ..study
            })
        }
        _ => Err(diagnostics),
    }
}

fn load(
    bytes: &[u8],
    file_name: &str,
    base: &Path,
    options: &LoadOptions,
    sources: &mut Sources,
    findings: &mut Findings,
) -> Option<Study> {
    let root = document::parse_file(bytes, file_name, sources, findings)?;
    let sets = experiments::read_command_line(&options.sets, sources, findings);
    for item in &root.entries {
        let known = registry::top_level().iter().map(|(key, _)| *key);
        if !known.clone().any(|key| key == item.key) {
            unknown_key(item, &item.key, known, findings);
        }
    }
    let name = text(&root, "name", findings).unwrap_or_else(|| stem(file_name));
    let description = text(&root, "description", findings).unwrap_or_default();
    if name.trim().is_empty() {
        let place = root.get("name").map_or(Place::default(), |item| item.node.place);
        findings.error(place, "name", "is empty", "give the study a name");
    }
    let claims = claims(&root, findings);
    let reproduce = reproduce(&root, findings);
    let place = |name: &str, text: &str, sources: &mut Sources| Place::new(sources.add(name, text), 0..text.len());
    let variant = options
        .variant
        .as_deref()
        .map(|name| (name, place("--variant", name, sources)));
    let chosen: Vec<(&str, Place)> = options
        .experiments
        .iter()
        .map(|name| (name.as_str(), place("--experiment", name, sources)))
        .collect();
    let wanted = Wanted {
        variant,
        experiments: &chosen,
        sets: &sets,
    };
    let (experiments, sample) = experiments::read(&root, &wanted, findings);
    if experiments.is_empty() && findings.n_errors() == 0 {
        let hint = "choose among the experiments of the variant";
        findings.error(Place::default(), "experiment", "no experiment is left to run", hint);
    }
    let runs = expand(&root, &name, &experiments, base, sources, findings);
    if findings.n_errors() > 0 {
        return None;
    }
    let canonical = canonical_study(&name, &description, &runs);
    Some(Study {
        name,
        description,
        runs,
        claims,
        reproduce,
        sample,
        warnings: Vec::new(),
        canonical,
    })
}

/// All runs of all experiments; incomplete after errors.
fn expand(
    root: &Table,
    study: &str,
    experiments: &[Experiment],
    base: &Path,
    sources: &Sources,
    findings: &mut Findings,
) -> Vec<RunSpec> {
    let total = experiments
        .iter()
        .fold(0u64, |total, experiment| total.saturating_add(experiment.n_points()));
    if total > MOST_RUNS {
        let largest = experiments.iter().max_by_key(|experiment| experiment.n_points());
        let place = largest.map_or(Place::default(), |experiment| {
            experiment.axes.last().map_or(experiment.place, |axis| axis.place)
        });
        let reason = format!("huge sweep: {total} points, at most {MOST_RUNS} runs are allowed");
        findings.error(place, "sweep", reason, "sweep over fewer values, or split the study");
        return Vec::new();
    }
    let mut networks = Networks::default();
    let mut runs: Vec<RunSpec> = Vec::new();
    for experiment in experiments {
        for index in 0..experiment.n_points() {
            if findings.is_full() || findings.n_errors() > MOST_ERRORS {
                return runs;
            }
            let point = experiment.point(index);
            let words: Vec<(String, String)> = point
                .iter()
                .map(|(path, _, node)| ((*path).to_owned(), written(node, sources)))
                .collect();
            findings.begin_point(
                words
                    .iter()
                    .map(|(key, value)| format!("{key} = {value}"))
                    .collect::<Vec<_>>()
                    .join(", "),
            );
            let Some(table) = at_point(root, experiment, &point, findings) else {
                continue;
            };
            let Some((repeats, run)) = check_run(&table, base, &mut networks, findings) else {
                continue;
            };
            let n_runs = repeats.seeds.len() as u64 * (1 + repeats.perturbed.len() as u64);
            if runs.len() as u64 + n_runs > MOST_RUNS {
                let place = experiment.axes.last().map_or(experiment.place, |axis| axis.place);
                let reason = format!("huge sweep: with its seeds and perturbed runs it has more than {MOST_RUNS} runs");
                findings.end_points();
                findings.error(
                    place,
                    "sweep",
                    reason,
                    "sweep over fewer values or seeds, or split the study",
                );
                return runs;
            }
            let run = RunSpec {
                study: study.to_owned(),
                experiment: experiment.name.clone(),
                sweep: words,
                ..run
            };
            for seed in repeats.seeds {
                let mut run = run.clone();
                run.control.seed = seed;
                let beside = repeats.perturbed.iter().map(|perturbation| run.beside(*perturbation));
                let beside = Vec::from_iter(beside);
                runs.push(run);
                runs.extend(beside);
            }
        }
    }
    findings.end_points();
    runs
}

/// The file with all overrides of a point; `None` after errors.
fn at_point(
    root: &Table,
    experiment: &Experiment,
    point: &[(&str, Place, &Node)],
    findings: &mut Findings,
) -> Option<Table> {
    let mut table = root.clone();
    let before = findings.n_errors();
    let mut apply = |path: &str, place: Place, node: &Node| {
        if let Err(reason) = table.set(path, place, node.clone()) {
            findings.error(place, path, reason, "give the path of a key of the study");
        }
    };
    for Override { path, place, node } in &experiment.sets {
        apply(path, *place, node);
    }
    for (path, place, node) in point {
        apply(path, *place, node);
    }
    for Override { path, place, node } in &experiment.last {
        apply(path, *place, node);
    }
    (findings.n_errors() == before).then_some(table)
}

/// Checks one point: how often it is run and its run, with the names of study and experiment left empty.
fn check_run(
    root: &Table,
    base: &Path,
    networks: &mut Networks,
    findings: &mut Findings,
) -> Option<(Repeats, RunSpec)> {
    let before = findings.n_errors();
    let (topology, facts) = topology::read(root, base, networks, findings).unzip();
    let network = network::read(root, topology.as_ref().zip(facts.as_ref()), base, findings);
    let files = Files {
        topology: topology.as_ref(),
        n_nodes: facts.and_then(|facts| facts.n_nodes),
        base,
        known: &mut networks.placements,
        traces: &mut networks.traces,
    };
    let jobs = jobs::read(root, files, findings);
    let observe = control::read_observe(root, findings);
    let times = network.as_ref().map(network::Times::new);
    let map = Map {
        topology: topology.as_ref(),
        base,
        known: &mut networks.maps,
    };
    let control = control::read_run(root, jobs.as_deref(), times, map, findings);
    if findings.n_errors() > before {
        return None;
    }
    let (repeats, control) = control?;
    let network = network?;
    let run = RunSpec {
        study: String::new(),
        experiment: String::new(),
        sweep: Vec::new(),
        topology: topology?,
        links: network.links,
        router: network.router,
        routing: network.routing,
        nic: network.nic,
        jobs: jobs?,
        observe,
        control,
    };
    Some((repeats, run))
}

/// A value as it was written, texts without quotes, on one line.
fn written(node: &Node, sources: &Sources) -> String {
    match &node.value {
        Value::Text(text) => text.clone(),
        // A value of a sample stands nowhere in the file.
        value if sources.text(node.place).is_empty() => to_json(value).to_string(),
        _ => sources
            .text(node.place)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" "),
    }
}

/// The text at a top-level key.
fn text(root: &Table, key: &str, findings: &mut Findings) -> Option<String> {
    let node = &root.get(key)?.node;
    match &node.value {
        Value::Text(text) => Some(text.clone()),
        other => {
            let reason = format!("must be a text, not {}", other.type_words());
            findings.error(node.place, key, reason, format!("write {key} = \"...\""));
            None
        }
    }
}

fn stem(file_name: &str) -> String {
    let stem = Path::new(file_name)
        .file_stem()
        .and_then(|stem| stem.to_str())
        .unwrap_or("");
    if stem.trim().is_empty() {
        "study".to_owned()
    } else {
        stem.to_owned()
    }
}

/// `[[claim]]`: tables with an `id`; the other keys belong to the tools that check claims.
fn claims(root: &Table, findings: &mut Findings) -> serde_json::Value {
    let Some(item) = root.get("claim") else {
        return serde_json::Value::Array(Vec::new());
    };
    let Value::List(elements) = &item.node.value else {
        let reason = format!("must be a list of tables, not {}", item.node.value.type_words());
        findings.error(item.node.place, "claim", reason, "write [[claim]] with two brackets");
        return serde_json::Value::Null;
    };
    let mut ids: Vec<&str> = Vec::new();
    for (index, element) in elements.iter().enumerate() {
        let key = format!("claim[{index}]");
        let Value::Table(table) = &element.value else {
            let reason = format!("must be a table, not {}", element.value.type_words());
            findings.error(element.place, &key, reason, "write [[claim]] and its keys below");
            continue;
        };
        match table.get("id").map(|item| (&item.node.value, item.node.place)) {
            None => findings.error(element.place, &format!("{key}.id"), "is missing", "add id = \"...\""),
            Some((Value::Text(id), place)) if ids.contains(&id.as_str()) => {
                let reason = format!("{id:?} is the id of another claim");
                findings.error(place, &format!("{key}.id"), reason, "give every claim its own id");
            }
            Some((Value::Text(id), _)) => ids.push(id),
            Some((other, place)) => {
                let reason = format!("must be a text, not {}", other.type_words());
                findings.error(place, &format!("{key}.id"), reason, "write id = \"...\"");
            }
        }
    }
    to_json(&item.node.value)
}

/// `[reproduce]`: any keys.
fn reproduce(root: &Table, findings: &mut Findings) -> serde_json::Value {
    match root.get("reproduce").map(|item| &item.node) {
        None => serde_json::Value::Null,
        Some(node) => {
            if !matches!(node.value, Value::Table(_)) {
                let reason = format!("must be a table, not {}", node.value.type_words());
                findings.error(node.place, "reproduce", reason, "write [reproduce] and its keys below");
            }
            to_json(&node.value)
        }
    }
}
