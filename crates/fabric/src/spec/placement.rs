//! `job.placement`: a name or a table, and the file that lists the nodes of a job.

use super::run::Placement;
use super::trace::Traces;
use crate::placement::misfit;
use crate::registry;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use study::diagnostic::Findings;
use study::document::{Node, Value};
use study::reader::{self, Checked, Source};
use study::user_file::read_text;
use study::{Parameter, Type};
use topo::TopologySpec;

/// Mistakes up to which a file is read on.
const MOST_MISTAKES: usize = 10;

/// Lines of a file: logical and physical node with the number of the line, or what is wrong with it: reasons with hints.
type Lines = Result<Vec<(u32, u32, usize)>, Vec<Mistake>>;
type Mistake = (String, String);

/// Files already read: a sweep asks for the same ones again and again.
#[derive(Default)]
pub(crate) struct Placements(BTreeMap<String, Lines>);

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
    let placement = match kind.as_str() {
        "linear" => Placement::Linear,
        "random" => Placement::Random,
        "clustered" => Placement::Clustered {
            chunk: values.integer_u32("chunk")?,
        },
        "strided" => Placement::Strided {
            stride: values.integer_u32("stride")?,
        },
        "per-group" => Placement::PerGroup,
        "spread" => Placement::Spread,
        "file" => {
            let file = values.text("file")?.to_owned();
            let lines = files.known.0.entry(file.clone());
            let lines = lines.or_insert_with(|| from_file(files.base, &file));
            let listed = match lines {
                Ok(lines) => listed(&file, lines, nodes, files.n_nodes),
                Err(mistakes) => Err(mistakes.clone()),
            };
            match listed {
                Ok(listed) => Placement::File(listed.into()),
                Err(mistakes) => {
                    for (reason, hint) in mistakes {
                        findings.error(values.place("file"), &format!("{path}.file"), reason, hint);
                    }
                    return None;
                }
            }
        }
        other => unreachable!("placement {other:?} is in the registry and not read"),
    };
    if let (Some(topology), Some(n)) = (files.topology, files.n_nodes) {
        let n = u32::try_from(n).unwrap_or(u32::MAX);
        if let Some((reason, hint)) = misfit(&placement, n, topology.has_groups()) {
            let key = match placement {
                Placement::Clustered { .. } => "chunk",
                Placement::Strided { .. } => "stride",
                _ => "",
            };
            let (place, path) = match key {
                "" => (item.node.place, path),
                key => (values.place(key), format!("{path}.{key}")),
            };
            findings.error(place, &path, reason, hint);
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

/// The lines of a file, or its first ten mistakes.
fn from_file(base: &Path, file: &str) -> Lines {
    let text = read_text(base, file).map_err(|mistake| vec![mistake])?;
    let mut lines = (1..)
        .zip(text.trim_start_matches('\u{feff}').lines())
        .map(|(number, line)| (number, line.trim()))
        .filter(|(_, line)| !line.is_empty());
    let (at, header) = lines.next().unwrap_or((1, ""));
    let fields = |line: &str| -> Vec<String> { line.split(',').map(|field| field.trim().to_owned()).collect() };
    if fields(header) != ["logical", "physical"] {
        let reason = format!("{file}, line {at}: the header is {header:?}");
        return Err(vec![(reason, "write logical,physical into the first line".into())]);
    }
    let mut mistakes = Vec::new();
    let mut read = Vec::new();
    for (at, line) in lines {
        let numbers: Vec<Option<u32>> = fields(line).iter().map(|field| field.parse().ok()).collect();
        match numbers[..] {
            [Some(logical), Some(physical)] => read.push((logical, physical, at)),
            _ => {
                let reason = format!("{file}, line {at}: {line:?} is not two node numbers");
                mistakes.push((reason, "write a logical node, a comma and its physical node".into()));
            }
        }
        if mistakes.len() == MOST_MISTAKES {
            break;
        }
    }
    if mistakes.is_empty() { Ok(read) } else { Err(mistakes) }
}

/// The physical nodes by logical node, or the first ten mistakes. Numbers that are not known are not held against the file.
fn listed(
    file: &str,
    lines: &[(u32, u32, usize)],
    nodes: Option<u64>,
    n_nodes: Option<u64>,
) -> Result<Vec<u32>, Vec<Mistake>> {
    let mut mistakes = Vec::new();
    let mut of: BTreeMap<u32, (u32, usize)> = BTreeMap::new();
    let mut users: HashMap<u32, (u32, usize)> = HashMap::new();
    for &(logical, physical, at) in lines {
        let mut mistake = |reason: String, hint: String| mistakes.push((format!("{file}, line {at}: {reason}"), hint));
        if let Some(n) = nodes.filter(|&n| u64::from(logical) >= n) {
            let hint = format!("logical nodes are 0 to {}", n.saturating_sub(1));
            mistake(format!("the job has no logical node {logical}"), hint);
        } else if let Some(n) = n_nodes.filter(|&n| u64::from(physical) >= n) {
            let hint = format!("physical nodes are 0 to {}", n.saturating_sub(1));
            mistake(format!("there is no node {physical}"), hint);
        } else if let Some((_, before)) = of.get(&logical) {
            let reason = format!("logical node {logical} has a node already, in line {before}");
            mistake(reason, "keep one of the lines".into());
        } else if let Some((other, before)) = users.get(&physical) {
            let reason = format!("node {physical} is that of logical node {other} already, in line {before}");
            mistake(reason, "give every logical node a node of its own".into());
        } else {
            of.insert(logical, (physical, at));
            users.insert(physical, (logical, at));
        }
        if mistakes.len() == MOST_MISTAKES {
            return Err(mistakes);
        }
    }
    let n = nodes.unwrap_or(of.len() as u64);
    if mistakes.is_empty() && (of.len() as u64) < n {
        let missing = (0..).find(|logical| !of.contains_key(logical)).unwrap_or(0);
        let reason = format!(
            "{file}: {} nodes are not enough, the job has {n}: logical node {missing} is missing",
            of.len()
        );
        mistakes.push((reason, format!("list logical nodes 0 to {}", n.saturating_sub(1))));
    }
    if mistakes.is_empty() {
        Ok(of.into_values().map(|(physical, _)| physical).collect())
    } else {
        Err(mistakes)
    }
}
