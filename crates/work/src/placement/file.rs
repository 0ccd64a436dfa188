//! The nodes that a file lists, and the file: `logical,physical` and a line for every node.

use super::{File, PlacedJob, PlacementKeys, PlacementKind};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use study::user_file::read_text;
use study::{Default, Described, Entry, Parameter, Type, key};

const FILE: &[Parameter] = &[key(
    "file",
    Type::Text,
    Default::Required,
    "A CSV file with the header `logical,physical` and a line for every node of the job.",
)];

/// Mistakes up to which a file is read on.
const MOST_MISTAKES: usize = 10;

/// Lines of a file: logical and physical node with the number of the line, or what is wrong with it: reasons with hints.
type Lines = Result<Vec<(u32, u32, usize)>, Vec<ReasonAndHint>>;
type ReasonAndHint = (String, String);

/// Files already read: a sweep asks for the same ones again and again.
#[derive(Default)]
pub struct Placements(BTreeMap<String, Lines>);

impl Described for File {
    const ENTRY: Entry = Entry::new("file", "The nodes that a file lists.")
        .keys(&[FILE])
        .limits("Nodes are numbers.");
}

impl PlacementKind for File {
    fn read(keys: PlacementKeys<'_, '_>) -> Option<Self> {
        let (values, file) = (keys.values, keys.values.text("file")?);
        let lines = keys.known.0.entry(file.to_owned());
        let lines = lines.or_insert_with(|| from_file(keys.base, file));
        let listed = match lines {
            Ok(lines) => listed(file, lines, keys.nodes, keys.n_nodes),
            Err(mistakes) => Err(mistakes.clone()),
        };
        match listed {
            Ok(listed) => Some(File { listed: listed.into() }),
            Err(mistakes) => {
                let path = format!("{}.file", values.path);
                for (reason, hint) in mistakes {
                    keys.findings.error(values.place("file"), &path, reason, hint);
                }
                None
            }
        }
    }

    fn order(&self, free: Vec<u32>, job: &mut PlacedJob<'_>) -> Result<Vec<u32>, (String, &'static str)> {
        listed_first(&self.listed, job.n, job.n_hosts, &free, job.holder)
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
) -> Result<Vec<u32>, Vec<ReasonAndHint>> {
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

/// The listed nodes, then the other free ones in index order. Errors are a reason and a hint; `holder` names the job that has a node.
fn listed_first<'a>(
    listed: &[u32],
    n: usize,
    n_nodes: u32,
    free: &[u32],
    holder: impl Fn(u32) -> &'a str,
) -> Result<Vec<u32>, (String, &'static str)> {
    if listed.len() != n {
        let reason = format!("{} nodes are listed, the job has {n}", listed.len());
        return Err((reason, "list every logical node once"));
    }
    let mut seen = vec![false; n_nodes as usize];
    for (logical, &node) in listed.iter().enumerate() {
        match seen.get_mut(node as usize) {
            None => {
                let reason = format!("there is no node {node}, the network has {n_nodes}");
                return Err((reason, "list nodes of the network"));
            }
            Some(true) => {
                let reason = format!("node {node} of logical node {logical} is listed before");
                return Err((reason, "list every node once"));
            }
            Some(_) if free.binary_search(&node).is_err() => {
                let reason = format!(
                    "node {node} of logical node {logical} is taken by job {:?}",
                    holder(node)
                );
                return Err((reason, "list nodes that are free, or put this job first"));
            }
            Some(seen) => *seen = true,
        }
    }
    let rest = free.iter().copied().filter(|&node| !seen[node as usize]);
    Ok(listed.iter().copied().chain(rest).collect())
}
