//! A matrix of who wants how much of whom, between nodes or between units of several nodes.

use super::{JobNodes, Matrix, PatternKeys, PatternKind, TABLE, TRAFFIC};
use crate::workload::Destinations;
use crate::workload::destinations::{Drawn, Units};
use std::collections::BTreeSet;
use study::rows::{Mistake, OfLine, read_rows};
use study::user_file::read_table;
use study::{Default, Described, Entry, Named, Parameter, Type, When, choice, key};

choice! {
    /// What the rows and columns of a matrix are.
    pub enum MatrixOf {
        Nodes = "nodes", "Nodes of the job.";
        Routers = "routers", "Routers of the network, by number: the nodes of the job there.";
        Groups = "groups", "Groups of a dragonfly or dragonfly+, pods of a fat-tree, planes of a lattice, by number.";
        Blocks = "blocks", "Blocks of the job's nodes in order, as long as `blocks` says.";
    }
}

choice! {
    /// How much the nodes of a matrix send.
    pub enum Rates {
        Weighted = "weighted", "By the sums of the rows, shared by the nodes of a unit: those that send most offer `load`.";
        Alike = "alike", "All that send offer `load`; a row says only where to.";
    }
}

const MATRIX: &[Parameter] = &[
    key(
        "of",
        Type::Choice(MatrixOf::WORDS),
        Default::Text("nodes"),
        "What rows and columns are.",
    ),
    key(
        "blocks",
        Type::Integers {
            min: 1,
            max: u32::MAX as u64,
            single: false,
        },
        Default::From("needed by of \"blocks\""),
        "Nodes of each block; together all of the job.",
    )
    .when(&[When {
        key: "of",
        values: &["blocks"],
    }]),
    key(
        "rates",
        Type::Choice(Rates::WORDS),
        Default::Text("weighted"),
        "How much each node sends.",
    ),
];

impl Described for Matrix {
    const ENTRY: Entry = Entry::new(
        "matrix",
        "Destinations are drawn by the weights of a table: source, destination, weight.",
    )
    .keys(&[MATRIX, TABLE, TRAFFIC])
    .limits("Messages are drawn independently of each other: a matrix has no time.");
}

/// A cell; what a row of the table has not said is `None`.
struct MatrixRow {
    line: u32,
    source: Option<u32>,
    destination: Option<u32>,
    weight: Option<f64>,
}

impl OfLine for MatrixRow {
    fn of_line(line: u32) -> MatrixRow {
        MatrixRow {
            line,
            source: None,
            destination: None,
            weight: None,
        }
    }
}

fn fill(row: &mut MatrixRow, column: &str, cell: &str) -> Result<(), Mistake> {
    let wrong = |hint: &str| Mistake::at(row.line, format!("{column} is \"{cell}\""), hint);
    let unit = || cell.parse().map_err(|_| wrong("a number from 0"));
    match column {
        "source" => row.source = Some(unit()?),
        "destination" => row.destination = Some(unit()?),
        _ => {
            let weight: Option<f64> = cell
                .parse()
                .ok()
                .filter(|weight: &f64| weight.is_finite() && *weight >= 0.0);
            row.weight = Some(weight.ok_or_else(|| wrong("a number from 0, in any unit that all weights share"))?);
        }
    }
    Ok(())
}

impl PatternKind for Matrix {
    fn read(keys: PatternKeys<'_, '_>) -> Option<Self> {
        let values = keys.values;
        let of: MatrixOf = values.choice("of")?;
        let blocks = values.integers_u32("blocks");
        let of_blocks = |reason: String, hint: String, findings: &mut study::diagnostic::Findings| {
            findings.error(values.place("blocks"), &format!("{}.blocks", values.path), reason, hint);
        };
        if of == MatrixOf::Blocks && blocks.is_empty() && !values.failed("blocks") {
            of_blocks("is missing".into(), "add blocks = [8, 8]".into(), keys.findings);
            return None;
        }
        let sum: u64 = blocks.iter().map(|&block| u64::from(block)).sum();
        if let Some(n) = keys.n_nodes.filter(|&n| of == MatrixOf::Blocks && n != sum) {
            let hint = "give every node of the job a block".to_owned();
            of_blocks(format!("has {sum} nodes, the job has {n}"), hint, keys.findings);
        }
        let most = match of {
            MatrixOf::Nodes => keys.n_nodes,
            MatrixOf::Blocks => Some(blocks.len() as u64),
            MatrixOf::Routers | MatrixOf::Groups => None,
        };
        let table = read_table(values, keys.base, "weights", keys.findings)?;
        let columns = ["source", "destination", "weight"];
        let weights = read_rows(&table.text, &columns, &columns, fill)
            .and_then(|rows| cells(&rows, most))
            .map_err(|mistakes| table.refuse(mistakes, keys.findings))
            .ok()?;
        Some(Matrix {
            of,
            blocks,
            rates: values.choice("rates")?,
            weights,
        })
    }

    fn destinations(&self, job: &JobNodes<'_>) -> Result<Destinations, String> {
        let n = job.n();
        let of: Vec<u32> = match self.of {
            MatrixOf::Nodes => (0..n).collect(),
            MatrixOf::Routers => job.nodes.iter().map(|&node| job.topology.router_of(node)).collect(),
            MatrixOf::Groups => job.groups()?,
            MatrixOf::Blocks => {
                let of = (0..)
                    .zip(&self.blocks)
                    .flat_map(|(block, &size)| vec![block; size as usize]);
                let of: Vec<u32> = of.collect();
                if of.len() != n as usize {
                    return Err(format!("the blocks have {} nodes, the job has {n}", of.len()));
                }
                of
            }
        };
        let weights: Vec<_> = self
            .weights
            .iter()
            .copied()
            .filter(|&(.., weight)| weight > 0.0)
            .collect();
        let one = self.of.one();
        Drawn::new(Units::new(job.nodes, of), &weights, self.rates == Rates::Alike)
            .map(|drawn| Destinations::Drawn(drawn.into()))
            .map_err(|reason| format!("{one} {reason}"))
    }
}

impl MatrixOf {
    /// One of them, in words.
    fn one(self) -> &'static str {
        match self {
            MatrixOf::Nodes => "node",
            MatrixOf::Routers => "router",
            MatrixOf::Groups => "group",
            MatrixOf::Blocks => "block",
        }
    }
}

/// The cells of some rows, for so many units, where that is known; a cell of weight 0 is one that is not there.
fn cells(rows: &[MatrixRow], most: Option<u64>) -> Result<Vec<(u32, u32, f64)>, Vec<Mistake>> {
    let mut seen = BTreeSet::new();
    let mut mistakes = Vec::new();
    let mut found = Vec::new();
    for row in rows {
        let (Some(source), Some(destination), Some(weight)) = (row.source, row.destination, row.weight) else {
            mistakes.push(Mistake::at(row.line, "it is not whole", "give every column a cell"));
            continue;
        };
        let most = most.unwrap_or(u32::MAX.into());
        if let Some(beyond) = [source, destination].into_iter().find(|&unit| u64::from(unit) >= most) {
            let hint = format!("they are 0 to {}", most.saturating_sub(1));
            mistakes.push(Mistake::at(row.line, format!("there is no {beyond}"), hint));
        } else if !seen.insert((source, destination)) {
            let reason = format!("the weight from {source} to {destination} comes twice");
            mistakes.push(Mistake::at(row.line, reason, "add them up, and give each pair once"));
        } else if weight > 0.0 {
            found.push((source, destination, weight));
        }
    }
    if mistakes.is_empty() && found.is_empty() {
        mistakes.push(Mistake::without_line(
            "the table has no weight above 0",
            "give a row for each pair that talks",
        ));
    }
    if mistakes.is_empty() { Ok(found) } else { Err(mistakes) }
}
