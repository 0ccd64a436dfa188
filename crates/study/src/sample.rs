//! `[sample]`: points spread over ranges of keys, instead of all combinations of lists.
//!
//! A sample becomes one axis of a sweep whose keys go together: everything downstream knows points of sweeps only. Ranges are
//! read with the types of the vocabulary, so that units, limits and messages are those of the keys themselves.

mod points;
mod range;

use crate::axes::{Axis, Override, as_table, check_path, together};
use crate::diagnostic::{Findings, Place, did_you_mean};
use crate::document::{KeyValue, Node, Table, Value, to_json};
use crate::reader::{self, Checked, Source, unknown_key};
use crate::units::Unit;
use crate::{Default, Entry, Family, Form, Named, Parameter, SEED, Section, Type, Vocabulary, key};
pub use points::Method;
use points::{MOST_SOBOL, column};
use range::{NumberForm, Range};
use serde_json::json;

/// The keys of `[sample]` that are not keys of the study.
pub const SAMPLE: Section = Section {
    name: "sample",
    header: "[sample]",
    line: "Points spread over ranges of keys. The other keys are key paths with their ranges, see [below](#samples).",
    parameters: &[
        key(
            "method",
            Type::Choice(Method::WORDS),
            Default::Text("latin-hypercube"),
            "How points are spread.",
        ),
        key(
            "points",
            Type::Integer { min: 1, max: 100_000 },
            Default::Required,
            "Number of points.",
        ),
        key(
            "seed",
            SEED,
            Default::Text("1"),
            "Seed of the points; it has nothing to do with the seeds of runs.",
        ),
    ],
    families: &[],
};

/// Whether a key of `[sample]` is one of its own.
pub fn is_own(key: &str) -> bool {
    SAMPLE.parameters.iter().any(|parameter| parameter.key == key)
}

/// Most values of all points together.
const MOST_VALUES: u64 = 1_000_000;

/// Most sampled keys: the dimensions of the Sobol points.
const MOST_KEYS: usize = 256;

/// What `[sample]` says, before it is checked: a later table replaces single entries.
#[derive(Clone, Debug, Default)]
pub struct Written {
    place: Place,
    own: Table,
    /// Key paths as written, and their ranges.
    ranges: Vec<KeyValue>,
}

/// A sample, checked.
#[derive(Clone, Debug)]
pub struct CheckedSample {
    /// Its points, all keys together.
    pub axis: Axis,
    method: Method,
    seed: u64,
    /// For every range its keys and what is told about it.
    about: Vec<(Vec<String>, serde_json::Value)>,
}

impl Written {
    /// Reads the table `node` at the key path `path`.
    pub fn read(node: &Node, path: &str, findings: &mut Findings) -> Option<Written> {
        let hint = "write [sample] and its keys below";
        let table = as_table(node, path, hint, findings)?;
        let mut written = Written {
            place: node.place,
            ..Written::default()
        };
        for item in &table.entries {
            if is_own(&item.key) {
                written.own.entries.push(item.clone());
            } else {
                flatten(&item.key, item, path, &mut written.ranges, findings);
            }
        }
        Some(written)
    }

    /// Takes over what `more` says: own keys and whole ranges.
    pub fn replace(&mut self, more: Written) {
        for item in more.own.entries {
            self.own.insert(&item.key, item.place, item.node);
        }
        for item in more.ranges {
            match self.ranges.iter_mut().find(|old| old.key == item.key) {
                Some(old) => *old = item,
                None => self.ranges.push(item),
            }
        }
    }

    /// Takes over `sample.KEY` of the command line.
    pub fn set(&mut self, set: &Override) {
        if let Some(key) = set.path.strip_prefix("sample.") {
            self.own.insert(key, set.place, set.node.clone());
        }
    }

    /// The points; `None` after errors.
    pub fn check(
        &self,
        root: &Table,
        vocabulary: &'static Vocabulary,
        findings: &mut Findings,
    ) -> Option<CheckedSample> {
        let before = findings.n_errors();
        let source = Source {
            table: &self.own,
            place: self.place,
            path: "sample",
        };
        let own: Vec<&Parameter> = SAMPLE.parameters.iter().collect();
        let values = reader::read(source, &own, &[], &[], findings);
        let method = values.choice_or_default("method");
        let (points, seed) = (values.integer("points"), values.integer_or_default("seed"));
        if let Some(points) = points.filter(|&points| method == Method::Sobol && points > MOST_SOBOL) {
            let reason = format!("{points} is too large for sobol points");
            let hint = format!("the largest value is {MOST_SOBOL}; latin-hypercube has no such limit");
            findings.error(values.place("points"), "sample.points", reason, hint);
        }
        let n = self.ranges.len();
        if n == 0 {
            let hint = format!("add {}", vocabulary.examples.range);
            findings.error(self.place, "sample", "there is no key to sample", hint);
        }
        let all = points.unwrap_or(0).saturating_mul(n as u64);
        if n > MOST_KEYS || all > MOST_VALUES {
            let reason = format!("{} points of {n} keys are too many", points.unwrap_or(0));
            let hint = format!("at most {MOST_KEYS} keys and {MOST_VALUES} values of all points together");
            findings.error(self.place, "sample", reason, hint);
            return None;
        }
        let ranges: Vec<(Vec<String>, Place, Range)> = self
            .ranges
            .iter()
            .filter_map(|item| {
                let (paths, range) = read_range(item, root, vocabulary, findings)?;
                Some((paths, item.place, range))
            })
            .collect();
        let places = ranges.iter().flat_map(|(paths, place, _)| paths.iter().map(|_| *place));
        let axis = Axis {
            paths: ranges.iter().flat_map(|(paths, ..)| paths.clone()).collect(),
            place: self.place,
            places: places.collect(),
            values: Vec::new(),
        };
        if let Some((own, other)) = axis.repeats() {
            let reason = match own == other {
                true => "is sampled twice".to_owned(),
                false => format!("and `{other}` change the same keys"),
            };
            findings.error(self.place, &format!("sample.{own}"), reason, "remove one of them");
        }
        // What is no range at all was reported when it was read.
        if findings.n_errors() > before || ranges.len() < n {
            return None;
        }
        let n_points = u32::try_from(points?).ok()?;
        let columns: Vec<Vec<f64>> = (0..)
            .zip(&ranges)
            .map(|(dimension, _)| column(method, seed, dimension, n_points))
            .collect();
        let row = |point: usize| {
            let values = columns.iter().zip(&ranges).map(|(column, (_, place, range))| {
                // A place of no width: the value stands nowhere in the file.
                let place = Place {
                    end: place.start,
                    ..*place
                };
                range.at(column[point], |value| Node { value, place })
            });
            values.flatten().collect()
        };
        let about = self.ranges.iter().zip(&ranges);
        Some(CheckedSample {
            axis: Axis {
                values: (0..n_points as usize).map(row).collect(),
                ..axis
            },
            method,
            seed,
            about: about
                .map(|(item, (paths, _, range))| (paths.clone(), about_range(item, range)))
                .collect(),
        })
    }
}

impl CheckedSample {
    /// What results say about the sample: method, seed, number of points, and the ranges of the keys that are still in it.
    pub fn about(&self) -> serde_json::Value {
        let left = |paths: &[String]| paths.iter().any(|path| self.axis.paths.contains(path));
        json!({
            "method": self.method,
            "points": self.axis.values.len(),
            "seed": self.seed,
            "keys": self.about.iter().filter(|(paths, _)| left(paths)).map(|(_, about)| about).collect::<Vec<_>>(),
        })
    }
}

/// Ranges below `item`: a table with `from`, `to` or `values` is one, other tables lead to more keys.
fn flatten(path: &str, item: &KeyValue, above: &str, ranges: &mut Vec<KeyValue>, findings: &mut Findings) {
    match &item.node.value {
        Value::Table(table) if RANGE.iter().all(|key| table.get(key).is_none()) && !table.entries.is_empty() => {
            for item in &table.entries {
                flatten(&format!("{path}.{}", item.key), item, above, ranges, findings);
            }
            return;
        }
        Value::Table(_) => {}
        other => {
            let reason = format!("must be a range, not {}", other.type_words());
            let hint = "write { from = ..., to = ... } or { values = [...] }";
            findings.error(item.node.place, &format!("{above}.{path}"), reason, hint);
        }
    }
    ranges.push(KeyValue {
        key: path.to_owned(),
        ..item.clone()
    });
}

const RANGE: [&str; 5] = ["from", "to", "scale", "step", "values"];

/// The keys and values of a range; `None` after errors.
fn read_range(
    item: &KeyValue,
    root: &Table,
    vocabulary: &'static Vocabulary,
    findings: &mut Findings,
) -> Option<(Vec<String>, Range)> {
    let before = findings.n_errors();
    let path = format!("sample.{}", item.key);
    let Value::Table(table) = &item.node.value else {
        return None;
    };
    let paths: Vec<String> = item.key.split(',').map(|path| path.trim().to_owned()).collect();
    if !paths
        .iter()
        .all(|key| check_path(key, item.place, &path, vocabulary, findings))
    {
        return None;
    }
    for other in &table.entries {
        if !RANGE.contains(&other.key.as_str()) {
            unknown_key(other, &format!("{path}.{}", other.key), RANGE.into_iter(), findings);
        }
    }
    let range = if let Some(values) = table.get("values") {
        for key in ["from", "to", "scale", "step"] {
            if let Some(other) = table.get(key) {
                let reason = "has no meaning beside values";
                findings.error(other.place, &format!("{path}.{key}"), reason, "remove one of them");
            }
        }
        choice(&paths, values, &path, findings)
    } else if paths.len() > 1 {
        let hint = "write { values = [[1, 2], [3, 4]] } with a list for every choice";
        findings.error(
            item.node.place,
            &path,
            "keys that are sampled together need values",
            hint,
        );
        None
    } else {
        numbers(&paths[0], table, item, root, vocabulary, findings)
    };
    range
        .filter(|_| findings.n_errors() == before)
        .map(|range| (paths, range))
}

/// `values = [...]`.
fn choice(paths: &[String], values: &KeyValue, path: &str, findings: &mut Findings) -> Option<Range> {
    let path = format!("{path}.values");
    let Value::List(elements) = &values.node.value else {
        let reason = format!("must be a list of values, not {}", values.node.value.type_words());
        findings.error(
            values.node.place,
            &path,
            reason,
            "write the values in brackets: [1, 2, 4]",
        );
        return None;
    };
    if elements.is_empty() {
        findings.error(
            values.node.place,
            &path,
            "there is no value to sample",
            "give at least one value",
        );
        return None;
    }
    let rows = elements.iter().map(|element| match paths.len() {
        1 => Some(vec![element.clone()]),
        n => together(element, n, &path, findings),
    });
    rows.collect::<Option<Vec<_>>>().map(Range::Choice)
}

/// `from`, `to`, `scale` and `step`.
fn numbers(
    key: &str,
    table: &Table,
    item: &KeyValue,
    root: &Table,
    vocabulary: &'static Vocabulary,
    findings: &mut Findings,
) -> Option<Range> {
    let path = format!("sample.{}", item.key);
    let path = path.as_str();
    let end = |name: &str, findings: &mut Findings| {
        let found = table.get(name);
        if found.is_none() {
            let hint = format!("add {name} = ..., or give values = [...]");
            findings.error(item.node.place, &format!("{path}.{name}"), "is missing", hint);
        }
        found
    };
    let (from, to) = (end("from", findings), end("to", findings));
    let log = scale(table, path, findings);
    let (from, to) = (from?, to?);
    let Some(kind) = type_of(key, &from.node.value, root, vocabulary) else {
        let reason = format!("{key} has no order: it is not a number or a quantity");
        findings.error(item.node.place, path, reason, "give values = [...] to choose from");
        return None;
    };
    let check = |item: &KeyValue, kind: &Type, findings: &mut Findings| {
        reader::check(kind, &item.node, &format!("{path}.{}", item.key), findings)
    };
    let (low, high) = (check(from, &kind, findings), check(to, &kind, findings));
    let step = match table.get("step") {
        Some(step) => Some(check(step, &step_of(&kind), findings)?),
        None => None,
    };
    let range = match (low?, high?) {
        (Checked::Number(from), Checked::Number(to)) => Range::Number {
            from,
            to,
            step: match step {
                Some(Checked::Number(step)) => Some(step),
                _ => None,
            },
            log: log?,
        },
        (Checked::Integer(from) | Checked::Quantity(from), Checked::Integer(to) | Checked::Quantity(to)) => {
            let form = form(&kind, &table.get("from")?.node.value);
            let whole = match step {
                Some(Checked::Integer(step) | Checked::Quantity(step)) => Some(step),
                _ => matches!(form, NumberForm::Integer).then_some(1),
            };
            Range::Whole {
                from,
                to,
                step: whole,
                log: log?,
                form,
            }
        }
        _ => return None,
    };
    in_order(&range, (from, to), table, path, findings);
    Some(range)
}

/// Says what is wrong with the ends, the scale and the step of a range, each of which is right by itself.
fn in_order(range: &Range, (from, to): (&KeyValue, &KeyValue), table: &Table, path: &str, findings: &mut Findings) {
    let (low, high, step, log) = match range {
        Range::Whole {
            from, to, step, log, ..
        } => (*from as f64, *to as f64, step.map(|step| step as f64), *log),
        Range::Number { from, to, step, log } => (*from, *to, *step, *log),
        Range::Choice(_) => return,
    };
    if low > high {
        findings.error(
            to.node.place,
            &format!("{path}.to"),
            "is below from",
            "exchange the two",
        );
    } else if low == high {
        let hint = "give the key this value in its own section";
        findings.error(
            to.node.place,
            &format!("{path}.to"),
            "is the same as from: there is nothing to sample",
            hint,
        );
    } else if log && low <= 0.0 {
        let hint = "start above zero, or take scale = \"linear\"";
        findings.error(
            from.node.place,
            &format!("{path}.from"),
            "a log scale has no zero",
            hint,
        );
    } else if let Some(written) = table.get("step").filter(|_| step.is_some_and(|step| step > high - low)) {
        let reason = "is larger than the range";
        findings.error(
            written.node.place,
            &format!("{path}.step"),
            reason,
            "give a smaller step",
        );
    }
}

/// Whether the scale is logarithmic.
fn scale(table: &Table, path: &str, findings: &mut Findings) -> Option<bool> {
    let Some(item) = table.get("scale") else {
        return Some(false);
    };
    match &item.node.value {
        Value::Text(text) if text == "log" => Some(true),
        Value::Text(text) if text == "linear" => Some(false),
        other => {
            let (reason, hint) = match other {
                Value::Text(text) => (format!("unknown scale {text:?}"), did_you_mean(text, ["linear", "log"])),
                other => (format!("must be a text, not {}", other.type_words()), None),
            };
            let hint = hint.unwrap_or_else(|| "use \"linear\" or \"log\"".to_owned());
            findings.error(item.node.place, &format!("{path}.scale"), reason, hint);
            None
        }
    }
}

/// The type of a step: the same unit, any size above zero.
fn step_of(kind: &Type) -> Type {
    match kind {
        Type::Quantity { unit, max, .. } => Type::Quantity {
            unit: *unit,
            min: 1,
            max: *max,
        },
        Type::Integer { max, .. } => Type::Integer { min: 1, max: *max },
        _ => Type::Number {
            above: 0.0,
            max: f64::MAX,
        },
    }
}

fn form(kind: &Type, from: &Value) -> NumberForm {
    match (kind, from) {
        (Type::Quantity { unit, .. }, Value::Text(text)) => NumberForm::Quantity(*unit, text.clone()),
        _ => NumberForm::Integer,
    }
}

/// The numeric type of a key by the vocabulary, of a key that it does not know by what is written; `None` if it has no order.
fn type_of(path: &str, written: &Value, root: &Table, vocabulary: &'static Vocabulary) -> Option<Type> {
    let known = candidates(path, root, vocabulary);
    if known.is_empty() {
        return match written {
            Value::Integer(_) => Some(Type::Integer {
                min: 0,
                max: i64::MAX as u64,
            }),
            Value::Number(_) => Some(Type::Number {
                above: -f64::MAX,
                max: f64::MAX,
            }),
            Value::Text(text) => [Unit::Time, Unit::Size, Unit::Bandwidth, Unit::TimePerByte]
                .into_iter()
                .find(|unit| unit.parse(text).is_ok())
                .map(|unit| Type::Quantity {
                    unit,
                    min: 0,
                    max: u64::MAX,
                }),
            _ => None,
        };
    }
    let numeric: Vec<Type> = known
        .into_iter()
        .filter_map(|parameter| numeric(&parameter.kind))
        .collect();
    let fits = |kind: &&Type| {
        matches!(
            (kind, written),
            (Type::Quantity { .. }, Value::Text(_))
                | (Type::Integer { .. }, Value::Integer(_))
                | (Type::Number { .. }, Value::Number(_) | Value::Integer(_))
        )
    };
    numeric.iter().find(fits).or(numeric.first()).copied()
}

/// The numbers that a type holds.
fn numeric(kind: &Type) -> Option<Type> {
    match kind {
        Type::Or(_, other) => numeric(other),
        Type::Integers { min, max, .. } => Some(Type::Integer { min: *min, max: *max }),
        Type::Sizes { max } => Some(Type::Quantity {
            unit: Unit::Size,
            min: 0,
            max: *max,
        }),
        Type::Integer { .. } | Type::Number { .. } | Type::Quantity { .. } => Some(*kind),
        _ => None,
    }
}

/// The parameters that a key path may mean; those of the entry that the file chooses if there are such.
fn candidates(path: &str, root: &Table, vocabulary: &'static Vocabulary) -> Vec<&'static Parameter> {
    // The last part that is no position in a list.
    let parts: Vec<&str> = path.split('.').filter(|part| part.parse::<usize>().is_err()).collect();
    let (Some(first), Some(key)) = (parts.first(), parts.last()) else {
        return Vec::new();
    };
    let part = parts.get(1).map_or(String::new(), |part| format!("{first}.{part}"));
    let own = match vocabulary.section(&part) {
        Some(section) if parts.len() > 2 => section.parameters,
        _ => vocabulary.parameters(first),
    };
    let (family, common): (Option<&'static Family>, &[Parameter]) = match vocabulary.form(first) {
        Some(Form::Chosen(chosen)) => (Some(chosen.family), chosen.common),
        _ => (
            parts[..parts.len() - 1]
                .iter()
                .rev()
                .find_map(|part| family_of(part, own)),
            &[],
        ),
    };
    let entries = family.into_iter().flat_map(Family::entries);
    let chosen = chosen_kind(path, root);
    let of = |named: bool| {
        entries
            .clone()
            .filter(move |entry: &&'static Entry| !named || Some(entry.name) == chosen.as_deref())
            .flat_map(|entry| entry.parameters())
            .filter(|parameter| parameter.key == *key)
            .collect::<Vec<_>>()
    };
    let named = of.clone()(true);
    let from_entries = if named.is_empty() { of(false) } else { named };
    let plain = own.iter().chain(common).filter(|parameter| parameter.key == *key);
    if from_entries.is_empty() {
        plain.collect()
    } else {
        from_entries
    }
}

/// The family that a table at this key chooses from.
fn family_of(key: &str, parameters: &[Parameter]) -> Option<&'static Family> {
    let parameter = parameters.iter().find(|parameter| parameter.key == key)?;
    match parameter.kind {
        Type::TableOf(table) => Some(table.family),
        Type::OfWith(family) => Some(family),
        _ => None,
    }
}

/// The `kind` beside the key in the file, as a text.
fn chosen_kind(path: &str, root: &Table) -> Option<String> {
    let mut parts: Vec<&str> = path.split('.').collect();
    parts.pop();
    parts.push("kind");
    let mut table = root;
    let mut node: Option<&Node> = None;
    for part in parts {
        node = match node.map(|node| &node.value) {
            None => table.get(part).map(|item| &item.node),
            Some(Value::Table(inner)) => {
                table = inner;
                table.get(part).map(|item| &item.node)
            }
            Some(Value::List(elements)) => part.parse::<usize>().ok().and_then(|position| elements.get(position)),
            Some(_) => None,
        };
        node?;
    }
    match &node?.value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    }
}

/// What results say about a range.
fn about_range(item: &KeyValue, range: &Range) -> serde_json::Value {
    let mut about = to_json(&item.node.value);
    about["key"] = json!(item.key);
    about["kind"] = json!(match range {
        Range::Choice(_) => "choice",
        Range::Number { .. } => "number",
        Range::Whole {
            form: NumberForm::Integer,
            ..
        } => "integer",
        Range::Whole { .. } => "quantity",
    });
    let log = matches!(range, Range::Whole { log: true, .. } | Range::Number { log: true, .. });
    if !matches!(range, Range::Choice(_)) {
        about["scale"] = json!(if log { "log" } else { "linear" });
    }
    about
}
