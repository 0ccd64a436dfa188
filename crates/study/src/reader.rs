//! Reads a table by its parameters: types, ranges, units, presets, defaults and conditions.

use crate::diagnostic::{Findings, Place, did_you_mean};
use crate::document::{KeyValue, Node, Table, Value};
use crate::units::Unit;
use crate::{Default, Named, Parameter, RowsOf, TablesOf, Type};
use std::collections::BTreeMap;

/// A checked value.
#[derive(Clone, Debug, PartialEq)]
pub enum Checked {
    /// Of a text, a name or a word.
    Text(String),
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Integer(u64),
    /// A number.
    Number(f64),
    /// In the base unit.
    Quantity(u64),
    /// Of whole numbers, or of sizes in bytes.
    Integers(Vec<u64>),
    /// Of pairs.
    Pairs(Vec<(u32, u32)>),
    /// Of one or several texts.
    Texts(Vec<String>),
    /// The value of the key of [`Type::ChoiceOrKey`].
    Keyed(Box<Checked>),
    /// The word of [`Type::Or`].
    Word(&'static str),
    /// Of rows: the values of their columns.
    Rows(Vec<Vec<Checked>>),
    /// Of tables: the name that each chooses, and its values.
    Tables(Vec<(String, Values)>),
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The user wrote it.
    Given,
    /// A preset has it.
    Preset,
    /// It holds when nobody says anything.
    Default,
}

#[derive(Clone, Debug, PartialEq)]
struct ReadValue {
    value: Checked,
    place: Place,
    origin: Origin,
}

/// The checked values of one table.
#[derive(Clone, Debug)]
pub struct Values {
    entries: BTreeMap<&'static str, ReadValue>,
    /// What the keys may be.
    parameters: Vec<&'static Parameter>,
    /// Keys whose values have errors: they have no value here, not even a default.
    failed: Vec<&'static str>,
    /// The place of the table.
    pub place: Place,
    /// The key path of the table.
    pub path: String,
}

/// A table to read; a section that is not there is an empty one.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// Its keys and values.
    pub table: &'a Table,
    /// Where it was written.
    pub place: Place,
    /// Its key path.
    pub path: &'a str,
}

impl<'a> Source<'a> {
    /// The section `key` of the study, empty if it is left out; of a section `KEY.PART` the table `PART` in `root`, the table of `KEY`.
    pub fn section(root: &'a Table, key: &'a str, empty: &'a Table, findings: &mut Findings) -> Source<'a> {
        match root.get(key.rsplit('.').next().unwrap_or(key)) {
            None => Source {
                table: empty,
                place: Place::default(),
                path: key,
            },
            Some(item) => match &item.node.value {
                Value::Table(table) => Source {
                    table,
                    place: item.node.place,
                    path: key,
                },
                other => {
                    let reason = format!("must be a table, not {}", other.type_words());
                    findings.error(
                        item.node.place,
                        key,
                        reason,
                        format!("write [{key}] and its keys below"),
                    );
                    Source {
                        table: empty,
                        place: item.node.place,
                        path: key,
                    }
                }
            },
        }
    }
}

/// Reads `source` by `parameters`; `preset` gives texts that stand before the defaults.
/// Keys in `aside` are read elsewhere and not unknown here.
pub fn read(
    source: Source<'_>,
    parameters: &[&'static Parameter],
    preset: &[(&str, &str)],
    aside: &[&str],
    findings: &mut Findings,
) -> Values {
    let mut values = Values {
        entries: BTreeMap::new(),
        parameters: parameters.to_vec(),
        failed: Vec::new(),
        place: source.place,
        path: source.path.to_owned(),
    };
    for item in &source.table.entries {
        let path = values.path_of(&item.key);
        match parameters.iter().find(|parameter| parameter.key == item.key) {
            Some(parameter) if !aside.contains(&parameter.key) => {
                if let Some(value) = check(&parameter.kind, &item.node, &path, findings) {
                    let entry = ReadValue {
                        value,
                        place: item.node.place,
                        origin: Origin::Given,
                    };
                    values.entries.insert(parameter.key, entry);
                } else {
                    values.failed.push(parameter.key);
                }
            }
            Some(_) => {}
            None if aside.contains(&item.key.as_str()) => {}
            None => unknown_key(item, &path, parameters.iter().map(|parameter| parameter.key), findings),
        }
    }
    for parameter in parameters {
        let done = values.entries.contains_key(parameter.key) || values.failed(parameter.key);
        if done || aside.contains(&parameter.key) {
            continue;
        }
        let (text, origin) = match (preset.iter().find(|(key, _)| *key == parameter.key), parameter.default) {
            (Some((_, text)), _) => (*text, Origin::Preset),
            (None, Default::Text(text)) => (text, Origin::Default),
            (None, Default::From(_)) => continue,
            (None, Default::Required) => {
                if source.table.get(parameter.key).is_none() {
                    let path = values.path_of(parameter.key);
                    let hint = format!("add {} = {}", parameter.key, parameter.kind.example());
                    findings.error(source.place, &path, "is missing", hint);
                }
                continue;
            }
        };
        if let Some(value) = default_value(&parameter.kind, text) {
            values.entries.insert(
                parameter.key,
                ReadValue {
                    value,
                    place: source.place,
                    origin,
                },
            );
        }
    }
    for parameter in parameters {
        values.apply_condition(parameter, findings);
    }
    values
}

/// Reports a key that the table does not have.
pub fn unknown_key<'a>(
    item: &KeyValue,
    path: &str,
    keys: impl Iterator<Item = &'a str> + Clone,
    findings: &mut Findings,
) {
    let hint = did_you_mean(&item.key, keys.clone())
        .unwrap_or_else(|| format!("known keys: {}", keys.collect::<Vec<_>>().join(", ")));
    findings.error(item.place, path, "unknown key", hint);
}

impl PartialEq for Values {
    /// Whether the same keys have the same values in the same place.
    fn eq(&self, other: &Values) -> bool {
        (&self.path, self.place, &self.entries) == (&other.path, other.place, &other.entries)
    }
}

impl Values {
    /// Values that have been checked before, such as those of a run: no table is read, and they have no place.
    pub fn of(
        parameters: impl Iterator<Item = &'static Parameter>,
        given: impl IntoIterator<Item = (&'static str, Checked)>,
    ) -> Values {
        let (place, origin) = (Place::default(), Origin::Given);
        let entries = given
            .into_iter()
            .map(|(key, value)| (key, ReadValue { value, place, origin }));
        Values {
            entries: entries.collect(),
            parameters: parameters.collect(),
            failed: Vec::new(),
            place,
            path: String::new(),
        }
    }

    /// All keys that have a value and apply, with it, in the order of their names.
    pub fn keys(&self) -> impl Iterator<Item = (&'static str, &Checked)> {
        self.entries.iter().map(|(key, entry)| (*key, &entry.value))
    }

    fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }

    /// Drops a value whose condition does not hold; if the user gave it, that is an error.
    fn apply_condition(&mut self, parameter: &'static Parameter, findings: &mut Findings) {
        for when in parameter.when {
            let Some(Checked::Text(choice)) = self.get(when.key) else {
                // The other key is missing or has an error of its own.
                continue;
            };
            if when.values.contains(&choice.as_str()) {
                continue;
            }
            let needed: Vec<String> = when.values.iter().map(|value| format!("\"{value}\"")).collect();
            let reason = format!("has no meaning with {} = \"{choice}\"", when.key);
            let hint = format!(
                "remove the key, or set {} = {}",
                self.path_of(when.key),
                needed.join(" or ")
            );
            if let Some(entry) = self.entries.remove(parameter.key)
                && entry.origin == Origin::Given
            {
                findings.error(entry.place, &self.path_of(parameter.key), reason, hint);
            }
            return;
        }
    }

    /// The value of a key, if it has one and applies.
    pub fn get(&self, key: &str) -> Option<&Checked> {
        self.entries.get(key).map(|entry| &entry.value)
    }

    /// Whether the user gave the key.
    pub fn given(&self, key: &str) -> bool {
        self.entries.get(key).is_some_and(|entry| entry.origin == Origin::Given)
    }

    /// Whether the user gave the key with a value that has an error.
    pub fn failed(&self, key: &str) -> bool {
        self.failed.contains(&key)
    }

    /// The place of a value, of the table if there is none.
    pub fn place(&self, key: &str) -> Place {
        self.entries.get(key).map_or(self.place, |entry| entry.place)
    }

    /// A text, a name or a word; `None` without one.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.get(key) {
            Some(Checked::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The value that a word stands for; `None` without the key.
    pub fn choice<T: Named>(&self, key: &str) -> Option<T> {
        T::named(self.text(key)?)
    }

    /// A list of texts, empty if there is none.
    pub fn texts(&self, key: &str) -> &[String] {
        match self.get(key) {
            Some(Checked::Texts(texts)) => texts,
            _ => &[],
        }
    }

    /// The rows of a list; none without a value.
    pub fn rows(&self, key: &str) -> &[Vec<Checked>] {
        match self.get(key) {
            Some(Checked::Rows(rows)) => rows,
            _ => &[],
        }
    }

    /// The tables of a list: the name that each chooses, and its values; none without a value.
    pub fn tables(&self, key: &str) -> &[(String, Values)] {
        match self.get(key) {
            Some(Checked::Tables(tables)) => tables,
            _ => &[],
        }
    }

    /// Whether the key is true.
    pub fn flag(&self, key: &str) -> bool {
        matches!(self.get(key), Some(Checked::Flag(true)))
    }

    /// A whole number; `None` without one.
    pub fn integer(&self, key: &str) -> Option<u64> {
        match self.get(key) {
            Some(Checked::Integer(integer)) => Some(*integer),
            _ => None,
        }
    }

    /// A number; `None` without one.
    pub fn number(&self, key: &str) -> Option<f64> {
        match self.get(key) {
            Some(Checked::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// A quantity in its base unit; `None` without one, or where a word stands for it.
    pub fn quantity(&self, key: &str) -> Option<u64> {
        match self.get(key) {
            Some(Checked::Quantity(quantity)) => Some(*quantity),
            _ => None,
        }
    }

    /// A list of whole numbers or sizes; `None` without one.
    pub fn integers(&self, key: &str) -> Option<&[u64]> {
        match self.get(key) {
            Some(Checked::Integers(integers)) => Some(integers),
            _ => None,
        }
    }

    /// The value of a key; where it does not apply or has an error, the default that the vocabulary writes down for it.
    ///
    /// # Panics
    /// For a key without such a default: that is a mistake of the reader, not of the study.
    fn or_default(&self, key: &str) -> Checked {
        let written = |parameter: &&'static Parameter| match parameter.default {
            Default::Text(text) => default_value(&parameter.kind, text),
            Default::Required | Default::From(_) => None,
        };
        let default = || {
            self.parameters
                .iter()
                .find(|parameter| parameter.key == key)
                .and_then(written)
        };
        let found = self.get(key).cloned().or_else(default);
        found.unwrap_or_else(|| panic!("{key} has no default, but is read as if it had"))
    }

    /// A quantity in its base unit, or the default, see [`Values::integer_or_default`].
    pub fn quantity_or_default(&self, key: &str) -> u64 {
        match self.or_default(key) {
            Checked::Quantity(quantity) => quantity,
            other => panic!("{key} is read as a quantity and is {other:?}"),
        }
    }

    /// A whole number, or the default where the key does not apply: a run has a value for every key.
    pub fn integer_or_default(&self, key: &str) -> u64 {
        match self.or_default(key) {
            Checked::Integer(integer) => integer,
            other => panic!("{key} is read as a whole number and is {other:?}"),
        }
    }

    /// A number, or the default, see [`Values::integer_or_default`].
    pub fn number_or_default(&self, key: &str) -> f64 {
        match self.or_default(key) {
            Checked::Number(number) => number,
            other => panic!("{key} is read as a number and is {other:?}"),
        }
    }

    /// A list of whole numbers or sizes, or the default, see [`Values::integer_or_default`]; also one in words that are such a list.
    pub fn integers_or_default(&self, key: &str) -> Vec<u64> {
        match self.integers(key) {
            Some(integers) => integers.to_vec(),
            None => self.default_integers(key),
        }
    }

    /// The list that a key has when it is left out.
    ///
    /// # Panics
    /// For a key without one: that is a mistake of the reader, not of the study.
    pub fn default_integers(&self, key: &str) -> Vec<u64> {
        let parameter = self.parameters.iter().find(|parameter| parameter.key == key);
        let found = parameter.and_then(|parameter| match parameter.default {
            Default::Text(text) | Default::From(text) => default_value(&parameter.kind, text),
            Default::Required => None,
        });
        match found {
            Some(Checked::Integers(integers)) => integers,
            other => panic!("{key} has no list as its default: {other:?}"),
        }
    }

    /// Whether the key is true, or the default.
    pub fn flag_or_default(&self, key: &str) -> bool {
        match self.or_default(key) {
            Checked::Flag(flag) => flag,
            other => panic!("{key} is read as a flag and is {other:?}"),
        }
    }

    /// The value that a word stands for, or the default.
    pub fn choice_or_default<T: Named>(&self, key: &str) -> T {
        let found = match self.or_default(key) {
            Checked::Text(word) => T::named(&word),
            _ => None,
        };
        found.unwrap_or_else(|| panic!("{key} is read by the words of another key"))
    }

    /// A list of numbers whose type bounds it to 32 bits.
    pub fn integers_u32(&self, key: &str) -> Vec<u32> {
        self.integers(key)
            .unwrap_or(&[])
            .iter()
            .map(|value| u32::try_from(*value).unwrap_or(u32::MAX))
            .collect()
    }

    /// A number whose type bounds it to 32 bits.
    pub fn integer_u32(&self, key: &str) -> Option<u32> {
        self.integer(key).map(|value| u32::try_from(value).unwrap_or(u32::MAX))
    }
}

/// The value of a default or preset text; `None` if the vocabulary has a text that its own type refuses (a test finds it).
pub fn default_value(kind: &Type, text: &str) -> Option<Checked> {
    let place = Place::default();
    let value = match kind {
        Type::Or((word, _), _) if *word == text => return Some(Checked::Word(word)),
        Type::Or(_, other) => return default_value(other, text),
        Type::Flag => Value::Flag(text.parse().ok()?),
        Type::Integer { .. } => Value::Integer(text.parse().ok()?),
        Type::Number { .. } => Value::Number(text.parse().ok()?),
        Type::Integers { .. } => {
            let inner = text.strip_prefix('[')?.strip_suffix(']')?;
            let elements = inner.split(',').filter(|element| !element.trim().is_empty());
            let element = |text: &str| {
                Some(Node {
                    value: Value::Integer(text.trim().parse().ok()?),
                    place,
                })
            };
            Value::List(elements.map(element).collect::<Option<_>>()?)
        }
        _ => Value::Text(text.to_owned()),
    };
    check(kind, &Node { value, place }, "", &mut Findings::default())
}

/// Checks one value; `None` after an error.
pub fn check(kind: &Type, node: &Node, path: &str, findings: &mut Findings) -> Option<Checked> {
    match (kind, &node.value) {
        (Type::Text, Value::Text(text)) => {
            let reason = "must not be empty or hold control characters";
            let fine = !text.is_empty() && !text.chars().any(char::is_control);
            printable(text, fine, reason, node.place, path, findings)
        }
        (Type::Texts, Value::Text(_)) => check(&Type::Text, node, path, findings)
            .and_then(text_of)
            .map(|text| Checked::Texts(vec![text])),
        (Type::Texts, Value::List(elements)) => {
            let one = |node: &Node, path: &str, findings: &mut Findings| {
                check(&Type::Text, node, path, findings).and_then(text_of)
            };
            each(elements, path, findings, one).map(Checked::Texts)
        }
        (Type::Arguments, Value::Text(text)) => argument(text, node.place, path, findings)
            .and_then(text_of)
            .map(|text| Checked::Texts(vec![text])),
        (Type::Arguments, Value::List(elements)) => {
            let one = |node: &Node, path: &str, findings: &mut Findings| match &node.value {
                Value::Text(text) => argument(text, node.place, path, findings).and_then(text_of),
                _ => wrong_type(&Type::Text, node, path, findings).and_then(text_of),
            };
            each(elements, path, findings, one).map(Checked::Texts)
        }
        (Type::Lines, Value::Text(text)) => {
            let reason = "must not hold control characters but line breaks";
            let fine = !text.chars().any(|c| c.is_control() && !c.is_ascii_whitespace());
            printable(text, fine, reason, node.place, path, findings)
        }
        (Type::Name, Value::Text(text)) => {
            check_name(text, node.place, path, findings).then(|| Checked::Text(text.clone()))
        }
        (Type::Flag, Value::Flag(flag)) => Some(Checked::Flag(*flag)),
        (Type::Integer { min, max }, Value::Integer(integer)) => {
            integer_in(*integer, *min, *max, node.place, path, findings).map(Checked::Integer)
        }
        (Type::Number { above, max }, Value::Integer(_) | Value::Number(_)) => {
            let number = number_of(&node.value)?;
            if number > *above && number <= *max {
                return Some(Checked::Number(number));
            }
            let reason = format!("{number} is outside the range: above {above}, at most {max}");
            findings.error(node.place, path, reason, format!("give {}", kind.words()));
            None
        }
        (Type::Quantity { unit, min, max }, Value::Text(text)) => {
            quantity(*unit, *min, *max, text, node.place, path, findings).map(Checked::Quantity)
        }
        (Type::Quantity { unit, .. }, Value::Integer(_) | Value::Number(_)) => {
            without_unit(*unit, node, path, findings);
            None
        }
        (Type::Choice(choices) | Type::ChoiceOrKey(choices, ..), Value::Text(text)) => {
            let names = choices.iter().map(|choice| choice.0);
            choose(text, names, kind, node.place, path, findings)
        }
        (Type::Of(of) | Type::OfWith(of), Value::Text(text)) => {
            choose(text, of.names(), kind, node.place, path, findings)
        }
        (Type::Integers { min, max, single: true }, Value::Integer(integer)) => {
            integer_in(*integer, *min, *max, node.place, path, findings).map(|integer| Checked::Integers(vec![integer]))
        }
        (Type::Integers { min, max, .. }, Value::List(elements)) => {
            let one = |node: &Node, path: &str, findings: &mut Findings| match node.value {
                Value::Integer(integer) => integer_in(integer, *min, *max, node.place, path, findings),
                ref other => {
                    let reason = format!("must be a whole number, not {}", other.type_words());
                    findings.error(node.place, path, reason, "write a list such as [4, 4]");
                    None
                }
            };
            each(elements, path, findings, one).map(Checked::Integers)
        }
        (Type::Sizes { max }, Value::Text(_)) => check(&sized(*max), node, path, findings)
            .and_then(size_of)
            .map(|size| Checked::Integers(vec![size])),
        (Type::Sizes { max }, Value::List(elements)) => {
            let kind = sized(*max);
            let one =
                |node: &Node, path: &str, findings: &mut Findings| check(&kind, node, path, findings).and_then(size_of);
            each(elements, path, findings, one).map(Checked::Integers)
        }
        (Type::ChoiceOrKey(_, key, value), Value::Table(table)) => {
            one_key(table, (key, value), node.place, path, findings).map(|value| Checked::Keyed(Box::new(value)))
        }
        (Type::Rows(_) | Type::Tables(_), Value::List(elements)) if elements.is_empty() => {
            let hint = format!("give {}", kind.words());
            findings.error(node.place, path, "the list is empty", hint);
            None
        }
        (Type::Tables(tables), Value::List(elements)) => each_table(tables, elements, path, findings),
        (Type::Rows(rows), Value::List(elements)) => each_row(rows, elements, path, findings),
        (Type::Pairs, Value::List(elements)) => pairs(elements, path, findings).map(Checked::Pairs),
        (Type::Or((word, _), _), Value::Text(text)) if text == word => Some(Checked::Word(word)),
        (Type::Or(_, other), _) => other_than_a_word(kind, other, node, path, findings),
        _ => wrong_type(kind, node, path, findings),
    }
}

/// A list of rows, each with a value of every column.
fn each_row(rows: &'static RowsOf, elements: &[Node], path: &str, findings: &mut Findings) -> Option<Checked> {
    let one = |node: &Node, path: &str, findings: &mut Findings| {
        let Value::List(values) = &node.value else {
            return wrong_type(&Type::Rows(rows), node, path, findings).and(None);
        };
        if values.len() != rows.columns.len() {
            let reason = format!(
                "has {} values, a row has {}: {}",
                values.len(),
                rows.columns.len(),
                rows.names()
            );
            findings.error(node.place, path, reason, format!("write it as in {}", rows.example));
            return None;
        }
        let columns = rows.columns.iter().zip(values);
        let read: Vec<Option<Checked>> = columns
            .map(|((name, kind), value)| check(kind, value, &format!("{path}.{name}"), findings))
            .collect();
        read.into_iter().collect()
    };
    each(elements, path, findings, one).map(Checked::Rows)
}

/// A list of tables that each choose.
fn each_table(tables: &'static TablesOf, elements: &[Node], path: &str, findings: &mut Findings) -> Option<Checked> {
    let one = |node: &Node, path: &str, findings: &mut Findings| one_of_tables(tables, node, path, findings);
    each(elements, path, findings, one).map(Checked::Tables)
}

/// A table of a list of tables.
fn one_of_tables(
    tables: &'static TablesOf,
    node: &Node,
    path: &str,
    findings: &mut Findings,
) -> Option<(String, Values)> {
    let Value::Table(table) = &node.value else {
        return wrong_type(&Type::Tables(tables), node, path, findings).and(None);
    };
    let place = node.place;
    let Some(item) = table.get("kind") else {
        let example = tables.entries().next().map_or("", |entry| entry.name);
        let hint = format!("add kind = \"{example}\"");
        findings.error(place, &format!("{path}.kind"), "is missing", hint);
        return None;
    };
    let (path_of_kind, names) = (format!("{path}.kind"), tables.entries().map(|entry| entry.name));
    let family = (tables.family)();
    let Value::Text(name) = &item.node.value else {
        return wrong_type(&Type::Of(family), &item.node, &path_of_kind, findings).and(None);
    };
    let before = findings.n_errors();
    choose(name, names, &Type::Of(family), item.node.place, &path_of_kind, findings)?;
    let parameters: Vec<&'static Parameter> = tables.parameters(family.find(name)?).collect();
    let values = read(Source { table, place, path }, &parameters, &[], &["kind"], findings);
    (findings.n_errors() == before).then(|| (name.clone(), values))
}

/// Says that a value is not of the type.
fn wrong_type(kind: &Type, node: &Node, path: &str, findings: &mut Findings) -> Option<Checked> {
    let reason = format!("must be {}, not {}", kind.words(), node.value.type_words());
    let hint = format!("write {} = {}", last_key(path), kind.example());
    findings.error(node.place, path, reason, hint);
    None
}

/// A word of a command.
fn argument(text: &str, place: Place, path: &str, findings: &mut Findings) -> Option<Checked> {
    let reason = "must not hold control characters but line ends and tabs";
    let fine = !text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t'));
    printable(text, fine, reason, place, path, findings)
}

/// A text, if its characters are fine.
fn printable(
    text: &str,
    fine: bool,
    reason: &str,
    place: Place,
    path: &str,
    findings: &mut Findings,
) -> Option<Checked> {
    if !fine {
        findings.error(place, path, reason, "give a printable text");
    }
    fine.then(|| Checked::Text(text.to_owned()))
}

/// A number, whole or not.
fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(integer) => Some(*integer as f64),
        Value::Number(number) => Some(*number),
        _ => None,
    }
}

/// Says that a bare number needs a unit.
fn without_unit(unit: Unit, node: &Node, path: &str, findings: &mut Findings) {
    let number = match &node.value {
        Value::Integer(integer) => integer.to_string(),
        value => number_of(value).map_or(String::new(), |number| number.to_string()),
    };
    let reason = format!("the bare number {number} has no unit, {} is needed", unit.noun());
    // The one that people use most.
    let usual = match unit {
        Unit::Length | Unit::Price => 2,
        _ => 1,
    };
    let name = unit.names().get(usual).cloned().unwrap_or_default();
    let hint = format!(
        "write {} such as {}, here perhaps \"{number} {name}\"",
        unit.noun(),
        unit.example()
    );
    findings.error(node.place, path, reason, hint);
}

/// The elements of a list, each as `one` reads it; everything that is wrong is told.
fn each<T>(
    elements: &[Node],
    path: &str,
    findings: &mut Findings,
    one: impl Fn(&Node, &str, &mut Findings) -> Option<T>,
) -> Option<Vec<T>> {
    let read: Vec<Option<T>> = (0..)
        .zip(elements)
        .map(|(index, element): (usize, _)| one(element, &format!("{path}[{index}]"), findings))
        .collect();
    read.into_iter().collect()
}

/// A value of a type that has words and is none of them. Between the words and a value the nearest error is that of the value, but a near word
/// is meant.
fn other_than_a_word(kind: &Type, other: &Type, node: &Node, path: &str, findings: &mut Findings) -> Option<Checked> {
    if let Value::Text(text) = &node.value {
        let flag = || (ends_in_flag(kind) && !has_word(kind, text)).then(|| format!("write {} = true", last_key(path)));
        if let Some(hint) = near_word(kind, &node.value).or_else(flag) {
            findings.error(node.place, path, format!("{text:?} is not {}", kind.words()), hint);
            return None;
        }
    }
    let of_words_or_numbers = match node.value {
        Value::Text(_) | Value::Integer(_) | Value::Number(_) => true,
        Value::Flag(_) => ends_in_flag(kind),
        _ => false,
    };
    if matches!((other, &node.value), (Type::Integer { .. }, Value::Text(_))) || !of_words_or_numbers {
        return wrong_type(kind, node, path, findings);
    }
    check(other, node, path, findings)
}

/// Whether the text is one of the type's words.
fn has_word(kind: &Type, text: &str) -> bool {
    matches!(kind, Type::Or((word, _), other) if *word == text || has_word(other, text))
}

/// Whether the type takes yes or no beside its words.
fn ends_in_flag(kind: &Type) -> bool {
    match kind {
        Type::Or(_, other) => ends_in_flag(other),
        other => matches!(other, Type::Flag),
    }
}

/// A size up to `max`.
fn sized(max: u64) -> Type {
    let unit = Unit::Size;
    Type::Quantity { unit, min: 0, max }
}

fn text_of(checked: Checked) -> Option<String> {
    match checked {
        Checked::Text(text) => Some(text),
        _ => None,
    }
}

fn size_of(checked: Checked) -> Option<u64> {
    match checked {
        Checked::Quantity(size) => Some(size),
        _ => None,
    }
}

/// A hint if a text looks like one of the words of a [`Type::Or`].
fn near_word(kind: &Type, value: &Value) -> Option<String> {
    let (Type::Or((word, _), other), Value::Text(text)) = (kind, value) else {
        return None;
    };
    if text.starts_with(|first: char| first.is_ascii_digit()) || text == word {
        return None;
    }
    match (&**other, did_you_mean(text, [*word])) {
        (_, Some(hint)) => Some(hint),
        (Type::Or((inner, _), _), None) if inner == text => None,
        (other, None) => near_word(other, value),
    }
}

fn last_key(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// Names are parts of key paths and of file names.
pub fn check_name(text: &str, place: Place, path: &str, findings: &mut Findings) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-' || c == '+';
    let fine = !text.is_empty() && text.len() <= 100 && text.chars().all(allowed);
    let fine = fine && !text.chars().all(|c| c.is_ascii_digit());
    if !fine {
        let reason = format!("{text:?} is not a name");
        findings.error(
            place,
            path,
            reason,
            "use letters, digits, `_` and `-`, not digits alone, at most 100",
        );
    }
    fine
}

fn integer_in(value: i64, min: u64, max: u64, place: Place, path: &str, findings: &mut Findings) -> Option<u64> {
    if let Ok(integer) = u64::try_from(value)
        && (min..=max).contains(&integer)
    {
        return Some(integer);
    }
    let (reason, hint) = if i128::from(value) < i128::from(min) {
        (format!("{value} is too small"), format!("the smallest value is {min}"))
    } else {
        (format!("{value} is too large"), format!("the largest value is {max}"))
    };
    findings.error(place, path, reason, hint);
    None
}

fn quantity(
    unit: Unit,
    min: u64,
    max: u64,
    text: &str,
    place: Place,
    path: &str,
    findings: &mut Findings,
) -> Option<u64> {
    match unit.parse(text) {
        Ok(value) if (min..=max).contains(&value) => Some(value),
        Ok(value) => {
            let (reason, hint) = if value == 0 {
                (
                    format!("{text:?} is zero"),
                    format!("give at least {:?}", unit.print(min)),
                )
            } else if value < min {
                (
                    format!("{text:?} is too small"),
                    format!("the smallest value is {:?}", unit.print(min)),
                )
            } else {
                (
                    format!("{text:?} is too large"),
                    format!("the largest value is {:?}", unit.print(max)),
                )
            };
            findings.error(place, path, reason, hint);
            None
        }
        Err(error) => {
            findings.error(place, path, error.reason, error.hint);
            None
        }
    }
}

fn choose<'a>(
    text: &str,
    names: impl Iterator<Item = &'a str> + Clone,
    kind: &Type,
    place: Place,
    path: &str,
    findings: &mut Findings,
) -> Option<Checked> {
    if names.clone().any(|name| name == text) {
        return Some(Checked::Text(text.to_owned()));
    }
    let hint = did_you_mean(text, names).unwrap_or_else(|| format!("use {}", kind.words()));
    findings.error(place, path, format!("unknown {} {text:?}", last_key(path)), hint);
    None
}

/// The value of the only key of a table.
fn one_key(
    table: &Table,
    (key, kind): (&str, &Type),
    place: Place,
    path: &str,
    findings: &mut Findings,
) -> Option<Checked> {
    let before = findings.n_errors();
    for item in table.entries.iter().filter(|item| item.key != key) {
        unknown_key(item, &format!("{path}.{}", item.key), [key].into_iter(), findings);
    }
    let Some(item) = table.get(key) else {
        let hint = format!("write {{ {key} = {} }}", kind.example());
        findings.error(place, path, format!("has no key `{key}`"), hint);
        return None;
    };
    let value = check(kind, &item.node, &format!("{path}.{key}"), findings);
    value.filter(|_| findings.n_errors() == before)
}

fn pairs(elements: &[Node], path: &str, findings: &mut Findings) -> Option<Vec<(u32, u32)>> {
    let mut pairs = Vec::new();
    let before = findings.n_errors();
    for (index, element) in elements.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let ends = match &element.value {
            Value::List(ends) if ends.len() == 2 => ends,
            _ => {
                findings.error(
                    element.place,
                    &path,
                    "is not a pair of nodes",
                    "write [sender, receiver]",
                );
                continue;
            }
        };
        let end = |position: usize, findings: &mut Findings| match ends[position].value {
            Value::Integer(node) => integer_in(node, 0, u64::from(u32::MAX), ends[position].place, &path, findings),
            ref other => {
                let reason = format!("a node is a whole number, not {}", other.type_words());
                findings.error(ends[position].place, &path, reason, "write [sender, receiver]");
                None
            }
        };
        if let (Some(sender), Some(receiver)) = (end(0, findings), end(1, findings)) {
            if sender == receiver {
                let reason = format!("node {sender} would talk to itself");
                findings.error(element.place, &path, reason, "give two different nodes");
            }
            pairs.push((sender as u32, receiver as u32));
        }
    }
    (findings.n_errors() == before).then_some(pairs)
}
