//! Rows from comma-separated text of users: a header that names the columns, in any order, then a line per row.
//!
//! Lines that are empty or begin with `#` are skipped. Quotes mean nothing. Every mistake is found, each with its line.

/// A mistake in a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The line, if it is about one.
    pub line: Option<u32>,
    /// What is wrong.
    pub reason: String,
    /// What to do.
    pub hint: String,
}

impl Mistake {
    /// A mistake in a line, counted from 1.
    pub fn at(line: u32, reason: impl Into<String>, hint: impl Into<String>) -> Mistake {
        Mistake {
            line: Some(line),
            reason: reason.into(),
            hint: hint.into(),
        }
    }

    /// A mistake of the table as a whole.
    pub fn without_line(reason: impl Into<String>, hint: impl Into<String>) -> Mistake {
        Mistake {
            line: None,
            reason: reason.into(),
            hint: hint.into(),
        }
    }
}

/// A row that knows its line, for errors.
pub trait OfLine {
    /// A row with nothing in it yet.
    fn of_line(line: u32) -> Self;
}

/// Reads a table: `columns` are those that it may have, `needed` those that it must have, `fill` puts a cell into its row.
///
/// # Errors
/// All mistakes in the order of lines.
pub fn read_rows<R: OfLine>(
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

/// The first of some mistakes, with its line in a file or its row in a table written in the study, and how many there are more; and
/// a hint.
pub fn first(mistakes: Vec<Mistake>, text: &str, in_file: bool) -> (String, String) {
    let more = match mistakes.len() {
        0 | 1 => String::new(),
        n => format!("; and {} more mistakes", n - 1),
    };
    let mistake = mistakes.into_iter().next();
    let (line, reason, hint) = mistake.map(|m| (m.line, m.reason, m.hint)).unwrap_or_default();
    let at = match line.map(|line| (line, row_of(text, line))) {
        None => String::new(),
        Some((line, _)) if in_file => format!("line {line}: "),
        Some((_, None)) => "header: ".to_owned(),
        Some((_, Some(row))) => format!("row {row}: "),
    };
    (format!("{at}{reason}{more}"), hint)
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
