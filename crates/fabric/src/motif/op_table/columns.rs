//! Rows from comma-separated text: a header that names the columns, then a line per operation.
//!
//! Columns, in any order: `rank` and `op`, which every table has, `peer`, `source`, `bytes`, `tag`, `communicator`, `request` and
//! `time_ps`. Cells are whole numbers but for `op`; an empty one takes the default; `any` stands for any source or tag. Lines that are
//! empty or begin with `#` are skipped. Quotes mean nothing.

use super::{Mistake, Row};
use crate::mpi::op::{ANY_SOURCE, ANY_TAG};

/// The columns that a table may have.
const COLUMNS: [&str; 9] = [
    "rank",
    "op",
    "peer",
    "source",
    "bytes",
    "tag",
    "communicator",
    "request",
    "time_ps",
];

/// Reads a table; errors are all mistakes in the order of lines.
pub fn read_csv(text: &str) -> Result<Vec<Row>, Vec<Mistake>> {
    read_rows(text, &COLUMNS, &["rank", "op"], fill)
}

/// Reads a table of other rows: `needed` are the columns that it must have, `fill` puts a cell into its row.
pub(crate) fn read_rows<R: OfLine>(
    text: &str,
    columns: &[&str],
    needed: &[&str],
    fill: fn(&mut R, &str, &str) -> Result<(), Mistake>,
) -> Result<Vec<R>, Vec<Mistake>> {
    let mut lines = told(text);
    let Some((header_line, header)) = lines.next() else {
        return Err(vec![Mistake {
            line: None,
            reason: "the table is empty".into(),
            hint: format!("its first line names columns: {}", columns.join(",")),
        }]);
    };
    let header: Vec<&str> = header.split(',').map(str::trim).collect();
    let mut mistakes = Vec::new();
    for (i, name) in header.iter().enumerate() {
        if !columns.contains(name) {
            let hint = format!("columns are {}", columns.join(", "));
            mistakes.push(Mistake::at(header_line, format!("there is no column \"{name}\""), hint));
        } else if header[..i].contains(name) {
            mistakes.push(Mistake::at(
                header_line,
                format!("the column \"{name}\" comes twice"),
                "keep one",
            ));
        }
    }
    for name in needed {
        if !header.contains(name) {
            mistakes.push(Mistake::at(
                header_line,
                format!("there is no column \"{name}\""),
                "every table has it",
            ));
        }
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let mut rows = Vec::new();
    for (line, text) in lines {
        let cells: Vec<&str> = text.split(',').map(str::trim).collect();
        if cells.len() != header.len() {
            let reason = format!("{} cells, the header has {} columns", cells.len(), header.len());
            mistakes.push(Mistake::at(line, reason, "give every column a cell, empty if need be"));
            continue;
        }
        let mut row = R::of_line(line);
        for (column, cell) in header.iter().zip(cells) {
            if let Err(mistake) = fill(&mut row, column, cell) {
                mistakes.push(mistake);
            }
        }
        rows.push(row);
    }
    if mistakes.is_empty() { Ok(rows) } else { Err(mistakes) }
}

/// A row that knows its line, for errors.
pub(crate) trait OfLine {
    /// A row with nothing in it yet.
    fn of_line(line: u32) -> Self;
}

impl OfLine for Row {
    fn of_line(line: u32) -> Row {
        Row { line, ..Row::default() }
    }
}

/// Which row below the header a line is, counted from 0 as frames count; `None` for the header itself.
pub fn row_of(text: &str, line: u32) -> Option<usize> {
    told(text)
        .take_while(|(number, _)| *number < line)
        .count()
        .checked_sub(1)
}

/// The lines that say something, with their numbers.
fn told(text: &str) -> impl Iterator<Item = (u32, &str)> {
    let lines = (1..).zip(text.trim_start_matches('\u{feff}').lines());
    lines.filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
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
        ("communicator", _) => row.communicator = number(u64::from(u8::MAX))? as u8,
        ("request", _) => row.request = Some(number(tags)? as u16),
        _ => row.time = number(1 << 62)?,
    }
    Ok(())
}
