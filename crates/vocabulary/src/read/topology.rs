//! `[topology]`: from keys to a [`TopologySpec`], with the questions that other sections ask about the network.

use super::fail::LookedUp;
use super::partition::Maps;
use super::shape::{Facts, examine, topology_preset, topology_presets};
use super::trace::Traces;
use crate::registry::{self, TOPOLOGY_COMMON};
use std::collections::BTreeMap;
use std::path::Path;
use study::diagnostic::{Findings, Place, did_you_mean};
use study::document::{KeyValue, Node, Table, Value, from_json};
use study::reader::{self, Source, Values};
use study::{Entry, Parameter, When};
use topo::{FieldError, TopologyKeys, TopologySpec};
use work::placement::Placements;

/// Networks already examined: a sweep asks for the same ones again and again, and building a large one takes long.
#[derive(Default)]
pub(crate) struct Networks {
    examined: BTreeMap<String, Result<Facts, Vec<FieldError>>>,
    /// What users' files say about who gets which router of them.
    pub(crate) maps: Maps,
    /// What users' files say about where jobs are.
    pub(crate) placements: Placements,
    /// What traces of programs say.
    pub(crate) traces: Traces,
    /// The network that failures were last looked up in.
    pub(crate) looked_up: LookedUp,
}

impl Networks {
    fn examine(&mut self, spec: &TopologySpec) -> &Result<Facts, Vec<FieldError>> {
        let name = serde_json::to_string(spec).unwrap_or_default();
        self.examined.entry(name).or_insert_with(|| examine(spec))
    }
}

/// Reads `[topology]`; `None` after errors.
pub(crate) fn read(
    root: &Table,
    base: &Path,
    networks: &mut Networks,
    findings: &mut Findings,
) -> Option<(TopologySpec, Facts)> {
    if root.get("topology").is_none() {
        let hint = "add [topology] with kind = \"torus\" and its shape, or with a preset";
        findings.error(
            Place::default(),
            "topology",
            "is missing: a study needs a network",
            hint,
        );
        return None;
    }
    let before = findings.n_errors();
    let empty = Table::default();
    let source = Source::section(root, "topology", &empty, findings);
    let given = reader_of_common(source, findings);
    let (kind, table) = with_preset(source, &given, findings)?;
    let entry = registry::find(&registry::TOPOLOGY, &kind)?;
    let parameters: Vec<&'static Parameter> = entry.parameters().collect();
    let source = Source {
        table: &table,
        ..source
    };
    let mut aside = vec!["kind", "preset"];
    if refuse_taper(source, &kind, &parameters, findings) {
        aside.push("taper");
    }
    let values = reader::read(source, &parameters, &[], &aside, findings);
    if findings.n_errors() > before {
        return None;
    }
    let mut keys = TopologyKeys {
        values: &values,
        base,
        findings: &mut *findings,
    };
    let spec = TopologySpec::read(&kind, &mut keys)?;
    match networks.examine(&spec) {
        Ok(facts) if facts.n_nodes == Some(0) => {
            let hint = "give nodes_per_router = 1 or more";
            findings.error(source.place, "topology", "the network has no nodes", hint);
            None
        }
        Ok(facts) => Some((spec, facts.clone())),
        Err(errors) => {
            for FieldError { field, reason, hint } in errors {
                let key = field.split('[').next().unwrap_or(field);
                let about = parameters.iter().find(|parameter| parameter.key == key);
                let hint = hint.clone().or_else(|| about.map(|about| about.doc.to_owned()));
                let path = format!("topology.{field}");
                findings.error(field_place(source, field), &path, reason, hint.unwrap_or_default());
            }
            None
        }
    }
}

/// Refuses `taper` where the network has no such key, and tells which one says how many of its long cables there are.
fn refuse_taper(source: Source<'_>, kind: &str, parameters: &[&'static Parameter], findings: &mut Findings) -> bool {
    let has = |key: &str| parameters.iter().any(|parameter| parameter.key == key);
    let Some(item) = source.table.get("taper").filter(|_| !has("taper")) else {
        return false;
    };
    let hint = if has("width") {
        "give fewer cables in a dimension, width, such as width = [2, 1, 1]"
    } else {
        "remove the key"
    };
    findings.error(item.place, "topology.taper", format!("is no key of a {kind}"), hint);
    true
}

/// What has become of `taper` beside a ready-made network.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tapered {
    /// It is not there, or stands for the network's kind to read.
    Not,
    /// What the network has is divided by it.
    Done,
    /// That cannot be divided, which has been said.
    Refused,
}

/// Divides by `taper` what a ready-made network has of the cables that it is about: of a fat-tree what goes up from its leaves, of others their global
/// cables or those of every dimension. Not where the study itself says how many those are, or where the kind has no such key.
fn taper_preset(table: &mut Table, source: Source<'_>, may_taper: bool, findings: &mut Findings) -> Tapered {
    let own = |key: &str| source.table.get(key).is_some();
    let Some(item) = source.table.get("taper").filter(|_| may_taper) else {
        return Tapered::Not;
    };
    let Value::Integer(taper) = item.node.value else {
        return Tapered::Not;
    };
    let counted = ["up", "links_per_pair", "width"];
    let Some(cables) = table
        .entries
        .iter_mut()
        .find(|item| counted.contains(&item.key.as_str()))
    else {
        return Tapered::Not;
    };
    if taper <= 0 || own(&cables.key) || (cables.key == "up" && own("down")) {
        return Tapered::Not;
    }
    let key = cables.key.clone();
    let (mut counts, is): (Vec<&mut i64>, _) = match &mut cables.node.value {
        Value::Integer(count) => (vec![count], "is"),
        Value::List(list) => (
            list.iter_mut().filter_map(|node| integer(&mut node.value)).collect(),
            "has",
        ),
        _ => return Tapered::Not,
    };
    if key == "up" {
        counts.truncate(1);
    }
    if let Some(count) = counts.iter().find(|count| ***count % taper != 0) {
        let reason = format!("{key} of the ready-made network {is} {count}, which {taper} does not divide");
        findings.error(item.place, "topology.taper", reason, format!("give {key} in its place"));
        return Tapered::Refused;
    }
    counts.into_iter().for_each(|count| *count /= taper);
    Tapered::Done
}

fn integer(value: &mut Value) -> Option<&mut i64> {
    match value {
        Value::Integer(count) => Some(count),
        _ => None,
    }
}

/// Reads `kind` and `preset`; the other keys depend on them.
fn reader_of_common(source: Source<'_>, findings: &mut Findings) -> Values {
    let common = Table {
        entries: source
            .table
            .entries
            .iter()
            .filter(|item| item.key == "kind" || item.key == "preset")
            .cloned()
            .collect(),
        inline: false,
        called: None,
    };
    let parameters: Vec<&'static Parameter> = TOPOLOGY_COMMON.iter().collect();
    reader::read(
        Source {
            table: &common,
            ..source
        },
        &parameters,
        &[],
        &[],
        findings,
    )
}

/// The kind and the keys, those of the preset filled in.
fn with_preset(source: Source<'_>, given: &Values, findings: &mut Findings) -> Option<(String, Table)> {
    let Some(name) = given.text("preset") else {
        if let Some(kind) = given.text("kind") {
            return Some((kind.to_owned(), source.table.clone()));
        }
        if source.table.get("kind").is_none() && source.table.get("preset").is_none() {
            let names: Vec<_> = registry::list(&registry::TOPOLOGY)
                .iter()
                .map(|entry| entry.name)
                .collect();
            findings.error(
                source.place,
                "topology.kind",
                "is missing",
                format!("use one of {}", names.join(", ")),
            );
        }
        return None;
    };
    let place = given.place("preset");
    let Some(preset) = topology_preset(name) else {
        let known = topology_presets();
        let hint = did_you_mean(name, known.iter().copied()).unwrap_or_else(|| match known.as_slice() {
            [] => "there are no ready-made networks yet; give kind and its keys".to_owned(),
            known => format!("use one of {}", known.join(", ")),
        });
        findings.error(place, "topology.preset", format!("unknown preset {name:?}"), hint);
        return None;
    };
    let mut table = preset_table(&preset, place);
    let kind = match table.get("kind").map(|item| &item.node.value) {
        Some(Value::Text(kind)) => kind.clone(),
        _ => return None,
    };
    if given.text("kind").is_some_and(|other| other != kind) {
        let reason = format!("the preset {name:?} is a {kind}");
        findings.error(given.place("kind"), "topology.kind", reason, "remove kind or preset");
        return None;
    }
    let mut parameters = registry::find(&registry::TOPOLOGY, &kind)?.parameters();
    let may_taper = parameters.any(|parameter| parameter.key == "taper");
    let tapered = taper_preset(&mut table, source, may_taper, findings);
    match tapered {
        Tapered::Refused => return None,
        // Read beside what the study says.
        Tapered::Not if source.table.get("taper").is_some() => table.remove("up"),
        Tapered::Not | Tapered::Done => {}
    }
    let left = |item: &&KeyValue| tapered == Tapered::Not || item.key != "taper";
    for item in source.table.entries.iter().filter(left) {
        table.insert(&item.key, item.place, item.node.clone());
    }
    Some((kind, table))
}

/// The keys of a ready-made network as a user would write them.
fn preset_table(spec: &TopologySpec, place: Place) -> Table {
    let json = serde_json::to_value(spec).unwrap_or_default();
    let Node {
        value: Value::Table(mut table),
        ..
    } = from_json(&json, place)
    else {
        return Table::default();
    };
    for item in &mut table.entries {
        if item.key == "arrangement_seed" {
            item.key = "seed".to_owned();
        }
    }
    // What has no meaning beside the other values is not said.
    let parameters = registry::find(&registry::TOPOLOGY, spec.kind().name())
        .into_iter()
        .flat_map(Entry::parameters);
    for parameter in parameters {
        let applies = |when: &When| match table.get(when.key).map(|item| &item.node.value) {
            Some(Value::Text(word)) => when.values.contains(&word.as_str()),
            _ => true,
        };
        if !parameter.when.iter().all(applies) {
            table.remove(parameter.key);
        }
    }
    table
}

/// The place of a field such as `shape[1]`.
pub(crate) fn field_place(source: Source<'_>, field: &str) -> Place {
    let (key, index) = match field.split_once('[') {
        Some((key, rest)) => (key, rest.trim_end_matches(']').parse::<usize>().ok()),
        None => (field, None),
    };
    let key = if key == "arrangement_seed" { "seed" } else { key };
    let Some(item) = source.table.get(key) else {
        return source.place;
    };
    match (&item.node.value, index) {
        (Value::List(elements), Some(index)) => elements.get(index).map_or(item.node.place, |element| element.place),
        _ => item.node.place,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use topo::{Arrangement, DragonflySpec, FatTreeSpec, Lattice, SingleRouterSpec};

    #[test]
    fn the_keys_of_a_ready_made_network_give_the_same_network() {
        let lattice = |width| Lattice {
            shape: vec![4, 6],
            width,
            nodes_per_router: 3,
        };
        let dragonfly = |arrangement, arrangement_seed| {
            TopologySpec::Dragonfly(DragonflySpec {
                groups: 5,
                routers_per_group: vec![2, 4],
                nodes_per_router: 3,
                links_per_pair: 2,
                local_width: 2,
                arrangement,
                arrangement_seed,
            })
        };
        let specs = [
            TopologySpec::SingleRouter(SingleRouterSpec { nodes: 7 }),
            TopologySpec::Torus(lattice(vec![])),
            TopologySpec::HyperX(lattice(vec![2, 1])),
            dragonfly(Arrangement::Circulant, 0),
            dragonfly(Arrangement::Random, 9),
            TopologySpec::FatTree(FatTreeSpec {
                down: vec![8, 8, 4],
                up: vec![4, 8],
                up_width: vec![1, 2],
            }),
        ];
        for spec in specs {
            let table = preset_table(&spec, Place::default());
            let root = Table {
                entries: vec![study::document::KeyValue {
                    key: "topology".to_owned(),
                    place: Place::default(),
                    node: Node {
                        value: Value::Table(table),
                        place: Place::default(),
                    },
                }],
                inline: false,
                called: None,
            };
            let mut findings = Findings::default();
            let read = read(&root, Path::new("."), &mut Networks::default(), &mut findings);
            assert_eq!(findings.n_errors(), 0, "{findings:?}");
            assert_eq!(read.map(|(spec, _)| spec), Some(spec));
        }
    }
}
