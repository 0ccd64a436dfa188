//! The JSON schema of study files (draft 2020-12), for editors that complete and check TOML.
//!
//! It says what a schema can say: keys, types, names, ranges of numbers. Units' kinds, conditions between keys and questions
//! about the network are checked when a study is loaded.

use super::entry::{Default, Kind, Parameter, Type};
use super::{TOPOLOGY_COMMON, list, section, top_level};
use crate::spec::units::Unit;
use serde_json::{Map, Value, json};

/// The schema of a study file.
pub fn schema() -> Value {
    let mut properties = Map::new();
    for (key, line) in top_level() {
        let mut schema = match *key {
            "name" | "description" => json!({ "type": "string" }),
            "topology" => topology(),
            "link" => link(),
            "job" => json!({ "type": "array", "minItems": 1, "items": object(own("job")) }),
            "sweep" => sweep(),
            "sample" => sample(),
            "experiment" => experiment(),
            "variant" => variant(),
            "claim" => json!({
                "type": "array",
                "items": { "type": "object", "required": ["id"], "properties": { "id": { "type": "string" } } },
            }),
            "reproduce" => json!({ "type": "object" }),
            section => object(own(section)),
        };
        schema["description"] = json!(line.replace('`', ""));
        properties.insert((*key).to_owned(), schema);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "fabricsim study",
        "type": "object",
        "properties": properties,
        "required": ["topology"],
        "additionalProperties": false,
    })
}

fn own(name: &str) -> impl Iterator<Item = &'static Parameter> + use<> {
    section(name).map_or(&[][..], |section| section.parameters).iter()
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
        Type::Of(kind) => json!({ "enum": list(*kind).iter().map(|entry| entry.name).collect::<Vec<_>>() }),
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
        Type::Sizes { max } => {
            let one = type_schema(&Type::Quantity {
                unit: Unit::Size,
                min: 0,
                max: *max,
            });
            json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
        }
        Type::Work => work(),
        Type::OfWith(kind) => of_with(*kind),
        Type::Or((word, _), other) => json!({ "anyOf": [{ "const": word }, type_schema(other)] }),
    }
}

fn topology() -> Value {
    let mut forms: Vec<Value> = list(Kind::Topology)
        .into_iter()
        .map(|entry| {
            let mut properties = properties(entry.parameters().chain(TOPOLOGY_COMMON));
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

fn link() -> Value {
    let mut schema = object(own("link"));
    schema["additionalProperties"] = object(own("link"));
    schema
}

fn work() -> Value {
    let part = json!({ "oneOf": forms(Kind::Motif, "") });
    let mut forms = forms(Kind::Work, "uniform");
    forms.push(json!({ "type": "array", "items": part, "minItems": 1 }));
    json!({ "oneOf": forms })
}

/// A name of what needs no keys, or a table with `kind` and its keys.
fn of_with(kind: Kind) -> Value {
    let plain = |key: &Parameter| !matches!(key.default, Default::Required);
    let names: Vec<&str> = list(kind)
        .into_iter()
        .filter(|entry| entry.parameters().all(plain))
        .map(|entry| entry.name)
        .collect();
    json!({ "anyOf": [{ "enum": names }, { "oneOf": forms(kind, "") }] })
}

/// A table for every entry of a kind; `default` is the one whose `kind` may be left out.
fn forms(kind: Kind, default: &str) -> Vec<Value> {
    list(kind)
        .into_iter()
        .map(|entry| {
            let mut properties = properties(entry.parameters());
            properties.insert(
                "kind".to_owned(),
                json!({ "const": entry.name, "description": entry.line }),
            );
            let mut required = Vec::new();
            if entry.name != default {
                required.push("kind");
            }
            let needed = entry
                .parameters()
                .filter(|key| matches!(key.default, Default::Required));
            required.extend(needed.map(|key| key.key));
            json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
        })
        .collect()
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
    let mut schema = object(own("sample"));
    schema["additionalProperties"] = json!({ "type": "object" });
    schema
}
