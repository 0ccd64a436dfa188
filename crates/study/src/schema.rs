//! The JSON schema of study files (draft 2020-12), for editors that complete and check TOML.
//!
//! It says what a schema can say: keys, types, names, ranges of numbers. Units' kinds, conditions between keys and questions
//! about the content are checked when a study is loaded.

use crate::units::Unit;
use crate::{Chosen, Default, Entry, Family, Form, Parameter, SAMPLE, TableOf, Type, Vocabulary};
use serde_json::{Map, Value, json};

/// The schema of a study file.
pub fn schema(vocabulary: &'static Vocabulary) -> Value {
    let mut properties = Map::new();
    for top in vocabulary.top_level {
        let own = || vocabulary.parameters(top.key).iter();
        let mut schema = match top.form {
            Form::Text => json!({ "type": "string" }),
            Form::Chosen(chosen) => one_chosen(chosen),
            Form::Table => object(own()),
            Form::Parts => {
                let mut schema = object(own());
                for (part, section) in vocabulary.parts(top.key) {
                    schema["properties"][part] = object(section.parameters.iter());
                    schema["properties"][part]["description"] = json!(section.line.replace('`', ""));
                }
                schema
            }
            Form::Tables => json!({ "type": "array", "minItems": 1, "items": object(own()) }),
            Form::Classes => {
                let mut schema = object(own());
                schema["additionalProperties"] = object(own());
                schema
            }
            Form::Sweep => sweep(),
            Form::Sample => sample(),
            Form::Experiments => experiment(),
            Form::Variants => variant(),
            Form::Claims => json!({
                "type": "array",
                "items": { "type": "object", "required": ["id"], "properties": { "id": { "type": "string" } } },
            }),
            Form::Anything => json!({ "type": "object" }),
        };
        schema["description"] = json!(top.line.replace('`', ""));
        properties.insert(top.key.to_owned(), schema);
    }
    let needed = vocabulary
        .top_level
        .iter()
        .filter(|top| matches!(top.form, Form::Chosen(_)));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "fabricsim study",
        "type": "object",
        "properties": properties,
        "required": needed.map(|top| top.key).collect::<Vec<_>>(),
        "additionalProperties": false,
    })
}

/// A table with these keys and no others.
fn object(parameters: impl Iterator<Item = &'static Parameter>) -> Value {
    json!({ "type": "object", "properties": properties(parameters), "additionalProperties": false })
}

fn properties(parameters: impl Iterator<Item = &'static Parameter>) -> Map<String, Value> {
    parameters
        .map(|parameter| (parameter.key.to_owned(), property(parameter)))
        .collect()
}

fn property(parameter: &Parameter) -> Value {
    let mut schema = type_schema(&parameter.kind);
    let mut doc = parameter.doc.to_owned();
    for when in parameter.when {
        doc += &format!(" Only with {} = {}.", when.key, when.values.join(" or "));
    }
    match parameter.default {
        Default::Required => {}
        Default::Text(text) => schema["default"] = default_json(&parameter.kind, text),
        Default::From(words) => doc += &format!(" Default: {words}."),
    }
    schema["description"] = json!(doc.replace('`', ""));
    schema
}

fn default_json(kind: &Type, text: &str) -> Value {
    match kind {
        Type::Flag | Type::Integer { .. } | Type::Number { .. } | Type::Integers { .. } => {
            serde_json::from_str(text).unwrap_or_else(|_| json!(text))
        }
        _ => json!(text),
    }
}

fn type_schema(kind: &Type) -> Value {
    match kind {
        Type::Text => json!({ "type": "string", "minLength": 1 }),
        Type::Texts => {
            let one = type_schema(&Type::Text);
            json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
        }
        Type::Lines => json!({ "type": "string" }),
        Type::Arguments => {
            let one = json!({ "type": "string" });
            json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
        }
        Type::Name => json!({ "type": "string", "pattern": "^[A-Za-z0-9_+-]{1,100}$" }),
        Type::Flag => json!({ "type": "boolean" }),
        Type::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Type::Number { above, max } => json!({ "type": "number", "exclusiveMinimum": above, "maximum": max }),
        Type::Quantity { unit, .. } => {
            let units: Vec<String> = unit.names();
            // Other spellings exist; an editor should offer these.
            json!({
                "type": "string",
                "pattern": format!("^\\s*[0-9]+(\\.[0-9]+)?\\s*({}|[kK]B|[kK]B/s|Kbit/s|µs|μs)\\s*$", units.join("|")),
            })
        }
        Type::Choice(choices) => {
            json!({ "enum": choices.iter().map(|(name, _)| *name).collect::<Vec<_>>() })
        }
        Type::ChoiceOrKey(choices, key, value) => json!({ "anyOf": [
            { "enum": choices.iter().map(|(name, _)| *name).collect::<Vec<_>>() },
            {
                "type": "object",
                "properties": { *key: type_schema(value) },
                "required": [key],
                "additionalProperties": false,
            },
        ] }),
        Type::Of(family) => json!({ "enum": family.names().collect::<Vec<_>>() }),
        Type::Integers { min, max, single } => {
            let element = json!({ "type": "integer", "minimum": min, "maximum": max });
            let list = json!({ "type": "array", "items": element });
            if *single {
                json!({ "anyOf": [element, list] })
            } else {
                list
            }
        }
        Type::Pairs => json!({
            "type": "array",
            "items": {
                "type": "array",
                "items": { "type": "integer", "minimum": 0, "maximum": u32::MAX },
                "minItems": 2,
                "maxItems": 2,
            },
        }),
        Type::Rows(rows) => {
            let columns: Vec<Value> = rows.columns.iter().map(|(_, kind)| type_schema(kind)).collect();
            let n = columns.len();
            let row = json!({ "type": "array", "prefixItems": columns, "minItems": n, "maxItems": n });
            json!({ "type": "array", "items": row, "minItems": 1 })
        }
        Type::Sizes { max } => {
            let one = type_schema(&Type::Quantity {
                unit: Unit::Size,
                min: 0,
                max: *max,
            });
            json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
        }
        Type::TableOf(table) => table_of(table),
        Type::Tables(tables) => {
            let forms: Vec<Value> = tables
                .entries()
                .map(|entry| form(entry, tables.parameters(entry), false))
                .collect();
            json!({ "type": "array", "items": { "oneOf": forms }, "minItems": 1 })
        }
        Type::OfWith(family) => of_with(family),
        Type::Or((word, _), other) => json!({ "anyOf": [{ "const": word }, type_schema(other)] }),
    }
}

/// A table for every entry, and one with a preset.
fn one_chosen(chosen: &Chosen) -> Value {
    let entries = chosen.family.entries();
    let mut forms: Vec<Value> = entries
        .map(|entry| {
            let mut properties = properties(entry.parameters().chain(chosen.common));
            properties.insert(
                "kind".to_owned(),
                json!({ "const": entry.name, "description": entry.line }),
            );
            properties.remove("preset");
            let mut required = vec!["kind"];
            required.extend(
                entry
                    .parameters()
                    .filter(|key| matches!(key.default, Default::Required))
                    .map(|key| key.key),
            );
            json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
        })
        .collect();
    forms.push(json!({
        "type": "object",
        "properties": { "preset": { "type": "string" } },
        "required": ["preset"],
    }));
    json!({ "oneOf": forms })
}

/// A table for every entry, or a list of tables for parts.
fn table_of(table: &TableOf) -> Value {
    let part = json!({ "oneOf": forms(table.parts, "") });
    let mut forms = forms(table.family, table.default);
    forms.push(json!({ "type": "array", "items": part, "minItems": 1 }));
    json!({ "oneOf": forms })
}

/// A name of what needs no keys, or a table with `kind` and its keys.
fn of_with(family: &Family) -> Value {
    let plain = |key: &Parameter| !matches!(key.default, Default::Required);
    let named = family.entries().filter(|entry| entry.parameters().all(plain));
    let names: Vec<&str> = named.map(|entry| entry.name).collect();
    json!({ "anyOf": [{ "enum": names }, { "oneOf": forms(family, "") }] })
}

/// A table for every entry of a family; `default` is the one whose `kind` may be left out.
fn forms(family: &Family, default: &str) -> Vec<Value> {
    let of = |entry: &'static Entry| form(entry, entry.parameters(), entry.name == default);
    family.entries().map(of).collect()
}

/// A table that chooses an entry and gives keys; `kind` may be left out of one that holds without it.
fn form(entry: &Entry, keys: impl Iterator<Item = &'static Parameter> + Clone, by_default: bool) -> Value {
    let mut properties = properties(keys.clone());
    properties.insert(
        "kind".to_owned(),
        json!({ "const": entry.name, "description": entry.line }),
    );
    let mut required = Vec::new();
    if !by_default {
        required.push("kind");
    }
    let needed = keys.filter(|key| matches!(key.default, Default::Required));
    required.extend(needed.map(|key| key.key));
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// Lists by key path, or tables of them.
fn sweep() -> Value {
    json!({
        "type": "object",
        "additionalProperties": { "anyOf": [{ "type": "array", "minItems": 1 }, { "type": "object" }] },
    })
}

fn experiment() -> Value {
    json!({
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "properties": { "description": { "type": "string" }, "set": { "type": "object" }, "sweep": sweep() },
            "additionalProperties": false,
        },
    })
}

fn variant() -> Value {
    json!({
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "properties": {
                "description": { "type": "string" },
                "set": { "type": "object" },
                "experiments": { "type": "array", "items": { "type": "string" }, "minItems": 1 },
                "sweep": sweep(),
                "sample": sample(),
            },
            "additionalProperties": false,
        },
    })
}

/// Its own keys, and ranges by key path or tables of them.
fn sample() -> Value {
    let mut schema = object(SAMPLE.parameters.iter());
    schema["additionalProperties"] = json!({ "type": "object" });
    schema
}
