//! Rows from comma-separated text: a header that names the columns, then a line per operation.
//!
//! Columns, in any order: `rank` and `op`, which every table has, `peer`, `source`, `bytes`, `tag`, `communicator`, `request` and
//! `time_ps`. Cells are whole numbers but for `op`; an empty one takes the default; `any` stands for any source or tag. Lines that are
//! empty or begin with `#` are skipped. Quotes mean nothing.

use super::Row;
use crate::mpi::MAX_CONTEXTS;
use crate::mpi::op::{ANY_SOURCE, ANY_TAG};
use study::rows::{Mistake, OfLine, read_rows};
use trace::formats::ops::COLUMNS;

/// Reads a table; errors are all mistakes in the order of lines.
pub fn read_csv(text: &str) -> Result<Vec<Row>, Vec<Mistake>> {
    read_rows(text, &COLUMNS, &["rank", "op"], fill)
}

impl OfLine for Row {
    fn of_line(line: u32) -> Row {
        Row { line, ..Row::default() }
    }
}

/// Puts a cell into its row.
fn fill(row: &mut Row, column: &str, cell: &str) -> Result<(), Mistake> {
    let line = row.line;
    let number = |most: u64| match cell.parse::<u64>() {
        Ok(number) if number <= most => Ok(number),
        _ => {
            let reason = format!("{column} is \"{cell}\"");
            Err(Mistake::at(line, reason, format!("a whole number up to {most}")))
        }
    };
    // The largest rank and tag stand for any.
    let (ranks, tags) = (u64::from(ANY_SOURCE) - 1, u64::from(ANY_TAG) - 1);
    match (column, cell) {
        ("op", _) => row.op = cell.into(),
        ("rank", "") => return Err(Mistake::at(line, "rank is empty", "say who does it")),
        (_, "") => {}
        ("peer", "any") => row.peer = Some(ANY_SOURCE),
        ("source", "any") => row.source = Some(ANY_SOURCE),
        ("tag", "any") => row.tag = ANY_TAG,
        ("rank", _) => row.rank = number(ranks)? as u32,
        ("peer", _) => row.peer = Some(number(ranks)? as u32),
        ("source", _) => row.source = Some(number(ranks)? as u32),
        ("bytes", _) => row.bytes = Some(number(crate::mpi::LARGEST)?),
        ("tag", _) => row.tag = number(tags)? as u16,
        ("communicator", _) => row.communicator = number(MAX_CONTEXTS as u64 - 1)? as u16,
        ("request", _) => row.request = Some(number(tags)? as u16),
        _ => row.time = number(1 << 62)?,
    }
    Ok(())
}
