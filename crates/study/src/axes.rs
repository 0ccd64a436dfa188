//! Key paths that are set or swept, and the values that they are given: of experiments, variants, samples and the command line alike.

use std::collections::{HashMap, HashSet};

use crate::diagnostic::{Findings, Place, did_you_mean};
use crate::document::{DEEPEST_KEY, EVERY, Node, Table, Value};
use crate::{Section, Vocabulary};

/// One override.
#[derive(Clone, Debug)]
pub struct Override {
    pub path: String,
    pub place: Place,
    pub node: Node,
}

/// One swept key with its values, or several keys that are swept together: `"a, b" = [[1, 2], [3, 4]]`.
#[derive(Clone, Debug)]
pub struct Axis {
    pub paths: Vec<String>,
    pub place: Place,
    /// The place of every path, where they were not written together.
    pub places: Vec<Place>,
    /// For each point a value per path.
    pub values: Vec<Vec<Node>>,
}

impl Axis {
    /// Whether two axes have a key in common.
    pub fn shares(&self, other: &Axis) -> bool {
        self.paths.iter().any(|path| other.paths.contains(path))
    }

    /// Whether setting the one would change what the other has set; the keys.
    pub fn collides<'a>(&'a self, other: &'a Axis) -> Option<(&'a str, &'a str)> {
        let pairs = self.paths.iter().flat_map(|a| other.paths.iter().map(move |b| (a, b)));
        pairs
            .map(|(a, b)| (a.as_str(), b.as_str()))
            .find(|(a, b)| covers(a, b) || covers(b, a))
    }

    /// The same between two of its own keys.
    pub fn repeats(&self) -> Option<(&str, &str)> {
        let pairs = (1..self.paths.len()).flat_map(|last| (0..last).map(move |first| (last, first)));
        pairs
            .map(|(a, b)| (self.paths[a].as_str(), self.paths[b].as_str()))
            .find(|(a, b)| covers(a, b) || covers(b, a))
    }

    /// Leaves out keys that are fixed elsewhere, and points that are then the same; `false` if no key is left.
    pub fn without(&mut self, fixed: &[Override]) -> bool {
        let keep = |path: &String| !fixed.iter().any(|fixed| covers(&fixed.path, path));
        let kept: Vec<bool> = self.paths.iter().map(keep).collect();
        if kept.iter().all(|&keep| keep) {
            return true;
        }
        let mut left: Vec<Vec<Node>> = Vec::new();
        for values in std::mem::take(&mut self.values) {
            let row: Vec<Node> = values
                .into_iter()
                .zip(&kept)
                .filter_map(|(node, keep)| keep.then_some(node))
                .collect();
            let same = |other: &Vec<Node>| other.iter().zip(&row).all(|(a, b)| a.value.same(&b.value));
            if !left.iter().any(same) {
                left.push(row);
            }
        }
        self.values = left;
        let mut keeps = kept.iter();
        self.places.retain(|_| keeps.next().copied().unwrap_or(true));
        self.paths.retain(keep);
        !self.paths.is_empty()
    }
}

/// The table at a node; reports anything else.
pub fn as_table<'a>(node: &'a Node, path: &str, hint: &str, findings: &mut Findings) -> Option<&'a Table> {
    match &node.value {
        Value::Table(table) => Some(table),
        other => {
            findings.error(
                node.place,
                path,
                format!("must be a table, not {}", other.type_words()),
                hint,
            );
            None
        }
    }
}

/// Whether a key path can be set or swept; reports it otherwise.
pub fn check_path(
    path: &str,
    place: Place,
    key: &str,
    vocabulary: &'static Vocabulary,
    findings: &mut Findings,
) -> bool {
    let like = vocabulary.examples.key;
    let first = path.split('.').next().unwrap_or("");
    if path.split('.').count() > DEEPEST_KEY {
        let reason = format!("a key path of more than {DEEPEST_KEY} parts");
        findings.error(place, first, reason, format!("key paths read like {like}"));
        return false;
    }
    if vocabulary.settable().any(|key| key == first) && !path.split('.').any(|segment| segment.trim().is_empty()) {
        return true;
    }
    let hint = did_you_mean(first, vocabulary.settable())
        .or_else(|| section_of(first, vocabulary).map(|section| format!("did you mean `{section}.{path}`?")))
        .unwrap_or_else(|| {
            let keys: Vec<_> = vocabulary.settable().collect();
            format!("a key path such as {like} starts with one of {}", keys.join(", "))
        });
    findings.error(
        place,
        key,
        format!("{path:?} is not a key path that can be set or swept"),
        hint,
    );
    false
}

/// The section that has a key of this name, if only one has.
fn section_of(key: &str, vocabulary: &'static Vocabulary) -> Option<&'static str> {
    let has = |section: &&Section| section.parameters.iter().any(|parameter| parameter.key == key);
    let settable = |section: &&Section| vocabulary.settable().any(|key| key == section.name);
    let mut sections = vocabulary.sections.iter().filter(settable).filter(has);
    sections
        .next()
        .filter(|_| sections.next().is_none())
        .map(|section| section.name)
}

/// `set = { "key.path" = value }`; dotted keys and sub-tables without braces lead to single keys, braces replace a table.
pub fn read_sets(node: &Node, path: &str, vocabulary: &'static Vocabulary, findings: &mut Findings) -> Vec<Override> {
    let mut sets = Vec::new();
    let examples = &vocabulary.examples;
    let hint = format!("write set = {{ \"{}\" = {} }}", examples.key, examples.value);
    if let Some(table) = as_table(node, path, &hint, findings) {
        for item in &table.entries {
            flatten_sets(&item.key, item.place, &item.node, path, &mut sets, vocabulary, findings);
        }
    }
    sets
}

fn flatten_sets(
    path: &str,
    place: Place,
    node: &Node,
    above: &str,
    sets: &mut Vec<Override>,
    vocabulary: &'static Vocabulary,
    findings: &mut Findings,
) {
    match &node.value {
        Value::Table(table) if !table.inline && !table.entries.is_empty() => {
            for item in &table.entries {
                flatten_sets(
                    &format!("{path}.{}", item.key),
                    item.place,
                    &item.node,
                    above,
                    sets,
                    vocabulary,
                    findings,
                );
            }
        }
        _ => {
            if check_path(path, place, &format!("{above}.{path}"), vocabulary, findings) {
                sets.push(Override {
                    path: path.to_owned(),
                    place,
                    node: node.clone(),
                });
            }
        }
    }
}

/// `[sweep]`: lists of values by key path.
pub fn read_axes(node: &Node, path: &str, vocabulary: &'static Vocabulary, findings: &mut Findings) -> Vec<Axis> {
    let mut axes = Vec::new();
    let hint = format!("write {} below [sweep]", vocabulary.examples.sweep);
    if let Some(table) = as_table(node, path, &hint, findings) {
        for item in &table.entries {
            let above = format!("{path}.{}", item.key);
            flatten_axes(
                &item.key, item.place, &item.node, &above, &mut axes, vocabulary, findings,
            );
        }
    }
    for (index, axis) in axes.iter().enumerate() {
        let before = axes[..index].iter().find_map(|other| axis.collides(other));
        if let Some((own, other)) = before.or_else(|| axis.repeats()) {
            let key = format!("{path}.{own}");
            let reason = if other == own {
                "is swept twice".to_owned()
            } else {
                format!("and `{other}` change the same keys")
            };
            findings.error(axis.place, &key, reason, "remove one of them");
        }
    }
    axes
}

/// Adds the lists of values at a node and below; `path` is what they are swept for, `key` where they stand.
pub fn flatten_axes(
    path: &str,
    place: Place,
    node: &Node,
    key: &str,
    axes: &mut Vec<Axis>,
    vocabulary: &'static Vocabulary,
    findings: &mut Findings,
) {
    match &node.value {
        Value::Table(table) if !table.entries.is_empty() => {
            for item in &table.entries {
                let (path, key) = (format!("{path}.{}", item.key), format!("{key}.{}", item.key));
                flatten_axes(&path, item.place, &item.node, &key, axes, vocabulary, findings);
            }
        }
        Value::List(values) if !values.is_empty() => {
            let paths: Vec<String> = path.split(',').map(|path| path.trim().to_owned()).collect();
            if !paths
                .iter()
                .all(|path| check_path(path, place, key, vocabulary, findings))
            {
                return;
            }
            let rows: Vec<Vec<Node>> = match paths.len() {
                1 => values.iter().map(|value| vec![value.clone()]).collect(),
                n => values
                    .iter()
                    .filter_map(|value| together(value, n, key, findings))
                    .collect(),
            };
            if rows.len() == values.len() {
                let Some(rows) = with_names(rows, &paths, key, vocabulary, findings) else {
                    return;
                };
                let mut seen = HashSet::new();
                for (row, node) in rows.iter().zip(values) {
                    let mut identity = String::new();
                    row.iter().for_each(|node| node.value.identity(&mut identity));
                    if !seen.insert(identity) {
                        let reason = "stands twice among the values: both would be the same run";
                        findings.error(node.place, key, reason, "remove one of them; run.seeds repeats runs");
                        return;
                    }
                }
                axes.push(Axis {
                    paths,
                    place,
                    places: Vec::new(),
                    values: rows,
                });
            }
        }
        Value::List(_) => {
            findings.error(
                node.place,
                key,
                "there is no value to sweep over",
                "give at least one value",
            );
        }
        other => {
            let reason = format!("must be a list of values, not {}", other.type_words());
            findings.error(node.place, key, reason, "write the values in brackets: [1, 2, 4]");
        }
    }
}

/// Most characters of the name of a swept table.
const LONGEST_NAME: usize = 80;

/// Takes the names of swept tables out of them: `{ name = "large", kind = "torus", ... }`. `None` where one is wrong, which is reported.
fn with_names(
    mut rows: Vec<Vec<Node>>,
    paths: &[String],
    key: &str,
    vocabulary: &'static Vocabulary,
    findings: &mut Findings,
) -> Option<Vec<Vec<Node>>> {
    for (column, path) in paths.iter().enumerate() {
        if has_own_name(path, vocabulary) {
            continue;
        }
        let mut names: HashMap<String, String> = HashMap::new();
        for node in rows.iter_mut().map(|row| &mut row[column]) {
            let Value::Table(table) = &mut node.value else {
                continue;
            };
            let Some(found) = table.entries.iter().position(|item| item.key == "name") else {
                continue;
            };
            let item = table.entries.remove(found);
            let mut identity = String::new();
            Value::Table(table.clone()).identity(&mut identity);
            let hint = "a name of its own, to be found by in results: name = \"large\"";
            let reason = match &item.node.value {
                Value::Text(name) if name.trim().is_empty() => "is empty".to_owned(),
                Value::Text(name) if name.chars().count() > LONGEST_NAME || name.chars().any(char::is_control) => {
                    format!("must be one line of at most {LONGEST_NAME} characters")
                }
                Value::Text(name) if *names.entry(name.clone()).or_insert_with(|| identity.clone()) != identity => {
                    format!("is {name:?} of another value as well")
                }
                Value::Text(name) => {
                    table.called = Some(name.clone());
                    continue;
                }
                other => format!("must be a text, not {}", other.type_words()),
            };
            findings.error(item.node.place, &format!("{key}.name"), reason, hint);
            return None;
        }
    }
    Some(rows)
}

/// Whether a table at a path has a `name` among its own keys, as jobs have.
fn has_own_name(path: &str, vocabulary: &'static Vocabulary) -> bool {
    let mut segments = path.split('.');
    let section = segments.next().and_then(|first| {
        let mut sections = vocabulary.sections.iter();
        sections.find(|section| section.name == first)
    });
    // The element of a list of tables, not what is in it.
    let is_whole = segments.count() <= 1;
    is_whole && section.is_some_and(|section| section.parameters.iter().any(|parameter| parameter.key == "name"))
}

/// The values of `n` keys that are swept together.
pub fn together(node: &Node, n: usize, key: &str, findings: &mut Findings) -> Option<Vec<Node>> {
    match &node.value {
        Value::List(values) if values.len() == n => Some(values.clone()),
        other => {
            let reason = match other {
                Value::List(values) => format!("{} values for {n} keys", values.len()),
                other => format!("{n} keys need {n} values, not {}", other.type_words()),
            };
            let hint = "keys that are swept together have a list of values for each point: \"a, b\" = [[1, 2], [3, 4]]";
            findings.error(node.place, key, reason, hint);
            None
        }
    }
}

/// Whether fixing `path` fixes `other` as well.
pub fn covers(path: &str, other: &str) -> bool {
    let mut others = other.split('.');
    path.split('.')
        .all(|segment| others.next().is_some_and(|other| segment == other || segment == EVERY))
}
