//! `job.placement`: a name or a table.

use super::trace::Traces;
use crate::registry;
use std::path::Path;
use study::diagnostic::Findings;
use study::document::{Node, Value};
use study::reader::{self, Checked, Source};
use study::{Parameter, Type};
use topo::TopologySpec;
use work::placement::{Placement, PlacementKeys, Placements};

/// What placements need to be read.
pub(crate) struct Files<'a> {
    /// The network; `None` after errors there.
    pub topology: Option<&'a TopologySpec>,
    /// Its number of nodes, if known.
    pub n_nodes: Option<u64>,
    /// The study's folder.
    pub base: &'a Path,
    /// Files already read.
    pub known: &'a mut Placements,
    /// Traces already read.
    pub traces: &'a mut Traces,
}

/// The placement of a job of so many nodes; `None` after errors.
pub(crate) fn read(
    job: Source<'_>,
    nodes: Option<u64>,
    files: &mut Files<'_>,
    findings: &mut Findings,
) -> Option<Placement> {
    let path = format!("{}.placement", job.path);
    let Some(item) = job.table.get("placement") else {
        return Some(Placement::Linear);
    };
    let empty = study::document::Table::default();
    let (kind, table, kind_path) = match &item.node.value {
        Value::Table(table) => match table.get("kind") {
            Some(kind) => (&kind.node, table, format!("{path}.kind")),
            None => {
                let hint = "write placement = { kind = \"strided\", stride = 4 }";
                findings.error(item.node.place, &format!("{path}.kind"), "is missing", hint);
                return None;
            }
        },
        _ => (&item.node, &empty, path.clone()),
    };
    let kind = named(kind, &kind_path, findings)?;
    let entry = registry::find(&registry::PLACEMENT, &kind)?;
    let parameters: Vec<&'static Parameter> = entry.parameters().collect();
    let source = Source {
        table,
        place: item.node.place,
        path: &path,
    };
    let before = findings.n_errors();
    let values = reader::read(source, &parameters, &[], &["kind"], findings);
    if findings.n_errors() > before {
        return None;
    }
    let keys = PlacementKeys {
        values: &values,
        nodes,
        n_nodes: files.n_nodes,
        base: files.base,
        known: files.known,
        findings,
    };
    let placement = Placement::read(&kind, keys)?;
    if let (Some(topology), Some(n)) = (files.topology, files.n_nodes) {
        let n = u32::try_from(n).unwrap_or(u32::MAX);
        if let Some(misfit) = placement.kind().misfit(n, topology.has_groups()) {
            let (place, path) = match misfit.key {
                None => (item.node.place, path),
                Some(key) => (values.place(key), format!("{path}.{key}")),
            };
            findings.error(place, &path, misfit.reason, misfit.hint);
            return None;
        }
    }
    Some(placement)
}

/// The name of an entry.
fn named(node: &Node, path: &str, findings: &mut Findings) -> Option<String> {
    let kind = match path.ends_with(".kind") {
        true => Type::Of(&registry::PLACEMENT),
        false => Type::OfWith(&registry::PLACEMENT),
    };
    match reader::check(&kind, node, path, findings)? {
        Checked::Text(kind) => Some(kind),
        _ => None,
    }
}
