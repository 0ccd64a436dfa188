//! Partners that a table lists, node by node: a permutation, or whatever a program has drawn ahead.

use super::{JobNodes, Partners, PatternKeys, PatternKind, TABLE, TRAFFIC};
use crate::workload::Destinations;
use study::rows::{Mistake, OfLine, read_rows};
use study::user_file::read_table;
use study::{Described, Entry};

impl Described for Partners {
    const ENTRY: Entry = Entry::new(
        "partners",
        "Every node sends to the partners that a table lists for it, one after the other and again from the first.",
    )
    .keys(&[TABLE, TRAFFIC])
    .limits("Nodes that the table has no row for are silent.");
}

/// Source and destination; what a row has not said is `None`.
struct PartnerRow {
    line: u32,
    source: Option<u32>,
    destination: Option<u32>,
}

impl OfLine for PartnerRow {
    fn of_line(line: u32) -> PartnerRow {
        PartnerRow {
            line,
            source: None,
            destination: None,
        }
    }
}

fn fill(row: &mut PartnerRow, column: &str, cell: &str) -> Result<(), Mistake> {
    let node = cell.parse().map_err(|_| {
        let reason = format!("{column} is \"{cell}\"");
        Mistake::at(row.line, reason, "the number of a node of the job, from 0")
    })?;
    match column {
        "source" => row.source = Some(node),
        _ => row.destination = Some(node),
    }
    Ok(())
}

/// The pair of a row, for a job of so many nodes, where that is known.
fn pair(row: &PartnerRow, n_nodes: Option<u64>) -> Result<(u32, u32), Mistake> {
    let (Some(source), Some(destination)) = (row.source, row.destination) else {
        return Err(Mistake::at(row.line, "it is not whole", "give every column a cell"));
    };
    let nodes = n_nodes.unwrap_or(u32::MAX.into());
    if let Some(node) = [source, destination].into_iter().find(|&node| u64::from(node) >= nodes) {
        let hint = format!("the job has nodes 0 to {}", nodes.saturating_sub(1));
        return Err(Mistake::at(row.line, format!("there is no node {node}"), hint));
    }
    if source == destination {
        let hint = "messages inside a node take no network: leave the row out, and the node is silent";
        return Err(Mistake::at(row.line, format!("node {source} sends to itself"), hint));
    }
    Ok((source, destination))
}

impl PatternKind for Partners {
    fn read(keys: PatternKeys<'_, '_>) -> Option<Self> {
        let table = read_table(keys.values, keys.base, "partners", keys.findings)?;
        let columns = ["source", "destination"];
        let rows = read_rows(&table.text, &columns, &columns, fill).and_then(|rows: Vec<PartnerRow>| {
            let (pairs, mistakes): (Vec<_>, Vec<_>) =
                rows.iter().map(|row| pair(row, keys.n_nodes)).partition(Result::is_ok);
            match (mistakes.is_empty(), pairs.is_empty()) {
                (true, false) => Ok(pairs.into_iter().flatten().collect()),
                (true, true) => Err(vec![Mistake::without_line(
                    "the table has no row",
                    "give a row for each partner",
                )]),
                (false, _) => Err(mistakes.into_iter().filter_map(Result::err).collect()),
            }
        });
        let list = rows.map_err(|mistakes| table.refuse(mistakes, keys.findings)).ok()?;
        Some(Partners { list })
    }

    fn destinations(&self, job: &JobNodes<'_>) -> Result<Destinations, String> {
        let n = job.n();
        let mut order = self.list.clone();
        if let Some((source, destination)) = order.iter().find(|pair| pair.0 >= n || pair.1 >= n || pair.0 == pair.1) {
            return Err(format!(
                "node {source} cannot send to node {destination}: the job has nodes 0 to {}",
                n - 1
            ));
        }
        // Partners of a node stay in the order of the table.
        order.sort_by_key(|&(source, _)| source);
        let starts = (0..=n).map(|i| order.partition_point(|&(source, _)| source < i));
        Ok(Destinations::Lists {
            starts: starts.collect(),
            table: order.iter().map(|&(_, to)| job.nodes[to as usize]).collect(),
        })
    }
}
