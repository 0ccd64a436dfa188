//! Experiments, variants and sweeps: which points a study has, each as overrides of the base file.
//!
//! For one point the overrides apply in this order, later ones win: the experiment's `set`, the sweep's values, the variant's
//! `set`, `--set`. A key that a variant or `--set` fixes is no longer swept. Points come in the written order of experiments
//! and of swept keys, the last key fastest; the points of a [`sample`](crate::sample) are the first axis, all its keys together.

use crate::Vocabulary;
use crate::axes::{Axis, Override, as_table, check_path, flatten_axes, read_axes, read_sets};
use crate::diagnostic::{Findings, Place, Sources, did_you_mean};
use crate::document::{Node, Table, Value, parse_text};
use crate::reader::{check_name, unknown_key};
use crate::sample::{self, Written};

/// A part of a study: its overrides and its sweep.
#[derive(Clone, Debug)]
pub struct Experiment {
    pub name: String,
    pub place: Place,
    pub sets: Vec<Override>,
    pub axes: Vec<Axis>,
    /// Overrides that stand above the sweep: of the variant, then of `--set`.
    pub last: Vec<Override>,
}

impl Experiment {
    /// Number of points, without seeds; saturating.
    pub fn n_points(&self) -> u64 {
        self.axes
            .iter()
            .fold(1u64, |n, axis| n.saturating_mul(axis.values.len() as u64))
    }

    /// Value of every swept key at a point, with the place of the key; the last axis is the fastest.
    pub fn point(&self, mut index: u64) -> Vec<(&str, Place, &Node)> {
        let mut rows = Vec::with_capacity(self.axes.len());
        for axis in self.axes.iter().rev() {
            let n = (axis.values.len() as u64).max(1);
            if let Some(values) = axis.values.get((index % n) as usize) {
                rows.push((axis, values));
            }
            index /= n;
        }
        let mut point = Vec::new();
        for (axis, values) in rows.into_iter().rev() {
            let places = axis.places.iter().copied().chain(std::iter::repeat(axis.place));
            let keys = axis.paths.iter().zip(places);
            point.extend(
                keys.zip(values)
                    .map(|((path, place), node)| (path.as_str(), place, node)),
            );
        }
        point
    }
}

/// What the caller wants of a study.
pub struct PointsWanted<'a> {
    /// What the study may say.
    pub vocabulary: &'static Vocabulary,
    /// Name of the variant and where the caller gave it.
    pub variant: Option<(&'a str, Place)>,
    /// Names of the experiments to keep; empty keeps all.
    pub experiments: &'a [(&'a str, Place)],
    /// Overrides of the caller, `--set`.
    pub sets: &'a [Override],
}

/// The experiments to run, in written order, and what is told about their sample: null without one.
pub fn read(root: &Table, wanted: &PointsWanted<'_>, findings: &mut Findings) -> (Vec<Experiment>, serde_json::Value) {
    let vocabulary = wanted.vocabulary;
    let common = root
        .get("sweep")
        .map_or_else(Vec::new, |item| read_axes(&item.node, "sweep", vocabulary, findings));
    let mut experiments = read_experiments(root, &common, vocabulary, findings);
    let names: Vec<String> = experiments.iter().map(|experiment| experiment.name.clone()).collect();
    let mut sample = root
        .get("sample")
        .and_then(|item| Written::read(&item.node, "sample", findings));
    let (variant_sets, subset) = apply_variant(root, wanted, &names, &mut experiments, &mut sample, findings);
    for (name, place) in wanted.experiments {
        if !names.iter().any(|other| other == name) {
            let hint = did_you_mean(name, names.iter().map(String::as_str)).unwrap_or_else(|| known(&names));
            findings.error(*place, "experiment", format!("there is no experiment {name:?}"), hint);
        }
    }
    let (of_sample, sets): (Vec<&Override>, Vec<&Override>) =
        wanted.sets.iter().partition(|set| set.path.starts_with("sample."));
    for set in of_sample {
        match &mut sample {
            Some(sample) => sample.set(set),
            None => findings.error(
                set.place,
                &set.path,
                "the study has no sample",
                "add [sample] to the study",
            ),
        }
    }
    let sample = sample.and_then(|sample| sample.check(root, vocabulary, findings));
    if let Some(sample) = &sample {
        for experiment in &mut experiments {
            insert_sample(experiment, &sample.axis, findings);
        }
    }
    experiments.retain(|experiment| {
        subset.as_ref().is_none_or(|subset| subset.contains(&experiment.name))
            && (wanted.experiments.is_empty() || wanted.experiments.iter().any(|(name, _)| *name == experiment.name))
    });
    let last: Vec<Override> = variant_sets.iter().chain(sets).cloned().collect();
    for experiment in &mut experiments {
        experiment.axes.retain_mut(|axis| axis.without(&last));
        experiment.last = last.clone();
    }
    let about = sample.map(|mut sample| match sample.axis.without(&last) {
        true => sample.about(),
        false => serde_json::Value::Null,
    });
    (experiments, about.unwrap_or_default())
}

/// Puts the sample before the sweep: every point of it with every point of the sweep.
fn insert_sample(experiment: &mut Experiment, sample: &Axis, findings: &mut Findings) {
    for axis in &experiment.axes {
        if let Some((own, other)) = axis.collides(sample) {
            let reason = match own == other {
                true => "is sampled as well".to_owned(),
                false => format!("and the sampled `{other}` change the same keys"),
            };
            let hint = "remove it here or from [sample]; set in a variant takes a key out of the sample";
            findings.error(axis.place, &format!("sweep.{own}"), reason, hint);
        }
    }
    experiment.axes.insert(0, sample.clone());
}

fn known(names: &[String]) -> String {
    if names.iter().all(String::is_empty) {
        "the study has no experiments".to_owned()
    } else {
        format!("its experiments are {}", names.join(", "))
    }
}

fn read_experiments(
    root: &Table,
    common: &[Axis],
    vocabulary: &'static Vocabulary,
    findings: &mut Findings,
) -> Vec<Experiment> {
    let plain = Experiment {
        name: String::new(),
        place: root.get("sweep").map_or(Place::default(), |item| item.place),
        sets: Vec::new(),
        axes: common.to_vec(),
        last: Vec::new(),
    };
    let Some(item) = root.get("experiment") else {
        return vec![plain];
    };
    let Some(table) = as_table(&item.node, "experiment", "write [experiment.NAME]", findings) else {
        return Vec::new();
    };
    let mut experiments = Vec::new();
    for item in &table.entries {
        let path = format!("experiment.{}", item.key);
        check_name(&item.key, item.place, &path, findings);
        let Some(table) = as_table(&item.node, &path, "write [experiment.NAME]", findings) else {
            continue;
        };
        let mut experiment = Experiment {
            name: item.key.clone(),
            place: item.node.place,
            ..plain.clone()
        };
        for item in &table.entries {
            let path = format!("{path}.{}", item.key);
            match item.key.as_str() {
                "set" => experiment.sets = read_sets(&item.node, &path, vocabulary, findings),
                "sweep" => merge_axes(&mut experiment.axes, read_axes(&item.node, &path, vocabulary, findings)),
                "description" => check_text(&item.node, &path, findings),
                _ => unknown_key(item, &path, ["set", "sweep", "description"].into_iter(), findings),
            }
        }
        experiments.push(experiment);
    }
    if table.entries.is_empty() {
        findings.error(
            item.place,
            "experiment",
            "there is no experiment",
            "add [experiment.NAME], or remove the key",
        );
    }
    experiments
}

/// Checks all variants, and applies the wanted one: its overrides, and the experiments it is restricted to.
fn apply_variant(
    root: &Table,
    wanted: &PointsWanted<'_>,
    names: &[String],
    experiments: &mut [Experiment],
    sample: &mut Option<Written>,
    findings: &mut Findings,
) -> (Vec<Override>, Option<Vec<String>>) {
    let (vocabulary, wanted) = (wanted.vocabulary, wanted.variant);
    let mut sets = Vec::new();
    let mut subset = None;
    let mut variants = Vec::new();
    let table = root
        .get("variant")
        .and_then(|item| as_table(&item.node, "variant", "write [variant.NAME]", findings));
    for item in table.map_or(&[][..], |table| &table.entries) {
        let path = format!("variant.{}", item.key);
        check_name(&item.key, item.place, &path, findings);
        variants.push(item.key.as_str());
        let Some(table) = as_table(&item.node, &path, "write [variant.NAME]", findings) else {
            continue;
        };
        let chosen = wanted.is_some_and(|(name, _)| name == item.key);
        for item in &table.entries {
            let path = format!("{path}.{}", item.key);
            match item.key.as_str() {
                "set" => {
                    let read = read_sets(&item.node, &path, vocabulary, findings);
                    if chosen {
                        sets = read;
                    }
                }
                "experiments" => {
                    let read = read_names(&item.node, &path, names, findings);
                    if chosen {
                        subset = Some(read);
                    }
                }
                "sweep" => {
                    let mut unused = experiments.to_vec();
                    let target = if chosen { &mut *experiments } else { &mut unused };
                    variant_sweep(&item.node, &path, names, target, vocabulary, findings);
                }
                "sample" => {
                    let read = Written::read(&item.node, &path, findings);
                    if let Some(read) = read.filter(|_| chosen) {
                        sample.get_or_insert_default().replace(read);
                    }
                }
                "description" => check_text(&item.node, &path, findings),
                _ => {
                    let keys = ["set", "experiments", "sweep", "sample", "description"];
                    unknown_key(item, &path, keys.into_iter(), findings);
                }
            }
        }
    }
    if let Some((name, place)) = wanted.filter(|(name, _)| !variants.contains(name)) {
        let hint = did_you_mean(name, variants.iter().copied()).unwrap_or_else(|| match variants.as_slice() {
            [] => "the study has no variants".to_owned(),
            variants => format!("its variants are {}", variants.join(", ")),
        });
        findings.error(place, "variant", format!("there is no variant {name:?}"), hint);
    }
    (sets, subset)
}

/// `[variant.NAME.sweep]`: lists for every experiment, and tables of lists for single experiments.
fn variant_sweep(
    node: &Node,
    path: &str,
    names: &[String],
    experiments: &mut [Experiment],
    vocabulary: &'static Vocabulary,
    findings: &mut Findings,
) {
    let Some(table) = as_table(node, path, "write lists of values of keys", findings) else {
        return;
    };
    for item in &table.entries {
        let path = format!("{path}.{}", item.key);
        match &item.node.value {
            Value::Table(_) if names.contains(&item.key) => {
                let axes = read_axes(&item.node, &path, vocabulary, findings);
                for experiment in experiments.iter_mut().filter(|experiment| experiment.name == item.key) {
                    merge_axes(&mut experiment.axes, axes.clone());
                }
            }
            Value::Table(_) if !vocabulary.settable().any(|key| key == item.key) => {
                let hint = did_you_mean(&item.key, names.iter().map(String::as_str)).unwrap_or_else(|| known(names));
                findings.error(
                    item.place,
                    &path,
                    format!("there is no experiment {:?}", item.key),
                    hint,
                );
            }
            _ => {
                let mut axes = Vec::new();
                flatten_axes(
                    &item.key, item.place, &item.node, &path, &mut axes, vocabulary, findings,
                );
                for experiment in experiments.iter_mut() {
                    merge_axes(&mut experiment.axes, axes.clone());
                }
            }
        }
    }
}

/// An axis takes the place of the first one that has a key in common with it, and of all others that have; else it comes last.
fn merge_axes(axes: &mut Vec<Axis>, more: Vec<Axis>) {
    for axis in more {
        let first = axes.iter().position(|other| other.shares(&axis));
        axes.retain(|other| !other.shares(&axis));
        axes.insert(first.unwrap_or(axes.len()), axis);
    }
}

fn read_names(node: &Node, path: &str, names: &[String], findings: &mut Findings) -> Vec<String> {
    let Value::List(elements) = &node.value else {
        findings.error(
            node.place,
            path,
            format!("must be a list, not {}", node.value.type_words()),
            known(names),
        );
        return Vec::new();
    };
    if elements.is_empty() {
        findings.error(node.place, path, "there is no experiment in the list", known(names));
    }
    let mut read = Vec::new();
    for element in elements {
        match &element.value {
            Value::Text(name) if names.contains(name) => read.push(name.clone()),
            Value::Text(name) => {
                let hint = did_you_mean(name, names.iter().map(String::as_str)).unwrap_or_else(|| known(names));
                findings.error(element.place, path, format!("there is no experiment {name:?}"), hint);
            }
            other => {
                let reason = format!("must be the name of an experiment, not {}", other.type_words());
                findings.error(element.place, path, reason, known(names));
            }
        }
    }
    read
}

fn check_text(node: &Node, path: &str, findings: &mut Findings) {
    if !matches!(node.value, Value::Text(_)) {
        let reason = format!("must be a text, not {}", node.value.type_words());
        findings.error(node.place, path, reason, "write it in quotes");
    }
}

/// Reads `--set key=value` texts, of keys of the study or of the sample itself; a value that is no TOML value is a text.
pub fn read_command_line(
    sets: &[String],
    vocabulary: &'static Vocabulary,
    sources: &mut Sources,
    findings: &mut Findings,
) -> Vec<Override> {
    let examples = &vocabulary.examples;
    let mut overrides = Vec::new();
    for text in sets {
        let source = sources.add("--set", text);
        let whole = Place::new(source, 0..text.len());
        let Some((path, value)) = text.split_once('=') else {
            findings.error(
                whole,
                "--set",
                format!("{text:?} has no `=`"),
                format!("write --set {}={}", examples.key, examples.value),
            );
            continue;
        };
        let start = path.len() + 1;
        let place = Place::new(source, 0..path.len());
        let path = path.trim();
        let of_sample = path.strip_prefix("sample.").is_some_and(sample::is_own);
        if !of_sample && !check_path(path, place, path, vocabulary, findings) {
            continue;
        }
        let value_place = Place::new(source, start..text.len());
        // Parsed behind spaces of the length of the path, so that places are those of the text.
        let padded = format!("v={}{value}", " ".repeat(start.saturating_sub(2)));
        let parsed = parse_text(&padded, source, examples.key, &mut Findings::default());
        let parsed = parsed.filter(|table| table.entries.len() == 1);
        let node = match parsed.and_then(|table| table.entries.into_iter().next()) {
            Some(item) if start >= 2 && item.key == "v" => item.node,
            _ => Node {
                value: Value::Text(value.trim().to_owned()),
                place: value_place,
            },
        };
        overrides.push(Override {
            path: path.to_owned(),
            place,
            node,
        });
    }
    overrides
}
