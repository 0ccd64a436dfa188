//! From the bytes of a study file to the points of its experiments, each a tree of its own with all overrides in place.

use crate::Vocabulary;
use crate::axes::Override;
use crate::diagnostic::{Findings, Place, Sources};
use crate::document::{self, Node, Table, Value, to_json};
use crate::experiments::{self, Experiment, PointsWanted};
use crate::reader::unknown_key;
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

/// A study whose parts have been told apart.
#[derive(Debug)]
pub struct Opened {
    /// Its name; the file's name without its ending if the file gives none.
    pub name: String,
    /// What it shows; may be empty.
    pub description: String,
    /// The `[[claim]]` tables as a JSON list of objects.
    pub claims: serde_json::Value,
    /// The `[reproduce]` table as a JSON object; null if there is none.
    pub reproduce: serde_json::Value,
    /// The sample as a JSON object: `method`, `points`, `seed`, and `keys` with their ranges; null if there is none.
    pub sample: serde_json::Value,
    root: Table,
    experiments: Vec<Experiment>,
}

/// One point of an experiment.
#[derive(Debug)]
pub struct Point<'a> {
    /// The name of the experiment; empty if the study has none.
    pub experiment: &'a str,
    /// Swept keys and their values as written.
    pub sweep: Vec<(String, String)>,
    /// The study with all overrides.
    pub table: Table,
}

/// Why a point has no runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// What is wrong is among the findings.
    Mistaken,
    /// There are more than a study may have.
    TooMany,
}

/// Reads what a study says of itself and which experiments it has; `None` if it is no TOML. Errors are among the findings.
pub fn open(
    bytes: &[u8],
    file_name: &str,
    options: &LoadOptions,
    vocabulary: &'static Vocabulary,
    sources: &mut Sources,
    findings: &mut Findings,
) -> Option<Opened> {
    let root = document::parse_file(bytes, file_name, vocabulary.examples.key, sources, findings)?;
    let sets = experiments::read_command_line(&options.sets, vocabulary, sources, findings);
    for item in &root.entries {
        let known = vocabulary.top_level.iter().map(|top| top.key);
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
    let wanted = PointsWanted {
        vocabulary,
        variant,
        experiments: &chosen,
        sets: &sets,
    };
    let (experiments, sample) = experiments::read(&root, &wanted, findings);
    if experiments.is_empty() && findings.n_errors() == 0 {
        let hint = "choose among the experiments of the variant";
        findings.error(Place::default(), "experiment", "no experiment is left to run", hint);
    }
    Some(Opened {
        name,
        description,
        claims,
        reproduce,
        sample,
        root,
        experiments,
    })
}

impl Opened {
    /// All runs of all points; incomplete after errors. `check` makes the runs of a point, no more than it is told that there is room for.
    pub fn runs<R>(
        &self,
        sources: &Sources,
        findings: &mut Findings,
        mut check: impl FnMut(Point<'_>, u64, &mut Findings) -> Result<Vec<R>, Refused>,
    ) -> Vec<R> {
        let experiments = &self.experiments;
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
        let mut runs: Vec<R> = Vec::new();
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
                let Some(table) = at_point(&self.root, experiment, &point, findings) else {
                    continue;
                };
                let point = Point {
                    experiment: &experiment.name,
                    sweep: words,
                    table,
                };
                match check(point, MOST_RUNS - runs.len() as u64, findings) {
                    Ok(more) => runs.extend(more),
                    Err(Refused::Mistaken) => {}
                    Err(Refused::TooMany) => {
                        let place = experiment.axes.last().map_or(experiment.place, |axis| axis.place);
                        let reason =
                            format!("huge sweep: with its seeds and perturbed runs it has more than {MOST_RUNS} runs");
                        findings.end_points();
                        findings.error(
                            place,
                            "sweep",
                            reason,
                            "sweep over fewer values or seeds, or split the study",
                        );
                        return runs;
                    }
                }
            }
        }
        findings.end_points();
        runs
    }
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

/// A value as it was written, texts without quotes, on one line.
fn written(node: &Node, sources: &Sources) -> String {
    match &node.value {
        Value::Text(text) => text.clone(),
        Value::Table(Table { called: Some(name), .. }) => name.clone(),
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
