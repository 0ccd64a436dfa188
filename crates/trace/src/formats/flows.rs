//! Flows as a table: comma-separated text of users, a row for each.
//!
//! Columns, in any order: `source` and `destination`, ranks from 0; `bytes`; `time`, when it starts: picoseconds, or a number with
//! a unit (`1.5 us`), or a column `time_ps`, `time_ns`, `time_us`, `time_ms` or `time_s`; `id`, a name; `after`, the ids of flows that have to be
//! over, with blanks or semicolons between. A flow with neither starts at once, with both when both let it. Lines that are empty or begin
//! with `#` are skipped, and quotes mean nothing, as in every table of a study.

use super::flow_graph::{FlowEnd, FlowGraph, Gate, NetworkFlow, flow_limits};
use crate::check::LARGEST;
use crate::format::FormatReader;
use crate::header::{TraceForm, TraceHeader};
use crate::lines::LinesInPieces;
use crate::operation::ANY_SOURCE;
use crate::problem::{Problem, ReadStop};
use crate::sink::TraceReader;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use study::units::Unit;

/// Flows as a table.
pub(crate) struct Flows;

/// What a column says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FlowColumn {
    Source,
    Destination,
    Bytes,
    /// With its unit in the cells, or with this one.
    Time(Option<&'static str>),
    Id,
    After,
}

const COLUMNS: [(&str, FlowColumn); 11] = [
    ("source", FlowColumn::Source),
    ("destination", FlowColumn::Destination),
    ("bytes", FlowColumn::Bytes),
    ("time", FlowColumn::Time(None)),
    ("time_ps", FlowColumn::Time(Some("ps"))),
    ("time_ns", FlowColumn::Time(Some("ns"))),
    ("time_us", FlowColumn::Time(Some("us"))),
    ("time_ms", FlowColumn::Time(Some("ms"))),
    ("time_s", FlowColumn::Time(Some("s"))),
    ("id", FlowColumn::Id),
    ("after", FlowColumn::After),
];
const NEEDED: [&str; 3] = ["source", "destination", "bytes"];

impl FormatReader for Flows {
    const NAME: &'static str = "flows";
    const LINE: &'static str = "flows from a table, with their times or after each other";
    const FILES: &'static str = "comma-separated text whose first line has source, destination and bytes, and maybe time, id and after; it may be packed, or a Parquet file with these columns";
    const LIMITS: &'static str = flow_limits!(
        "there are as many ranks as the highest number tells; a flow is over for its destination when it has been received, \
         for its source when its send is over, for others when they have been told by its destination"
    );
    const SOURCE: &'static str = "the columns of work = { kind = \"messages\" }, with id and after";

    fn is_it(_path: &Path, start: &[u8]) -> bool {
        if start.starts_with(PARQUET) {
            return true;
        }
        let start = String::from_utf8_lossy(start);
        let mut said = start.trim_start_matches('\u{feff}').lines().filter(|line| says(line));
        said.next().is_some_and(|header| {
            let names: Vec<&str> = header.split(',').map(str::trim).collect();
            NEEDED.iter().all(|name| names.contains(name))
        })
    }

    fn read(path: &Path, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        let mut start = Vec::new();
        // What cannot be read is told below.
        let _ = File::open(path).and_then(|file| file.take(PARQUET.len() as u64).read_to_end(&mut start));
        if start == PARQUET {
            return read_parquet(path, reader);
        }
        let (mut lines, all) = LinesInPieces::open(path)?;
        reader.progress.all = all;
        let mut table = FlowTable::of(lines.file());
        let mut text = String::new();
        while let Some(line) = lines.next()? {
            text.clear();
            match std::str::from_utf8(line) {
                Ok(line) => text.push_str(line),
                Err(_) => text = String::from_utf8_lossy(line).into_owned(),
            }
            let number = lines.number();
            table.line(&text, number, reader)?;
            if number.is_multiple_of(1 << 14) {
                reader.progress.done = lines.done();
                reader.tick()?;
            }
        }
        reader.progress.done = lines.done();
        table.end(reader)
    }
}

/// How a Parquet file begins.
const PARQUET: &[u8] = b"PAR1";

/// Reads a table in a Parquet file, as text: its records are rows from 1.
fn read_parquet(path: &Path, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
    let file = path.display().to_string();
    let text = study::user_file::read_parquet(path).map_err(|error| {
        let hint = "give a table of numbers and words in Parquet, or as comma-separated text";
        Problem::new(&file, format!("it cannot be read: {error}"), hint)
    })?;
    reader.progress.all = text.len() as u64;
    let mut table = FlowTable::of(&file);
    for (number, line) in (0..).zip(text.lines()) {
        table.line(line, number, reader)?;
        reader.progress.done += line.len() as u64 + 1;
        if number.is_multiple_of(1 << 14) {
            reader.tick()?;
        }
    }
    table.end(reader)
}

/// Whether a line says something.
fn says(line: &str) -> bool {
    let line = line.trim_start();
    !line.is_empty() && !line.starts_with('#')
}

/// A table as far as it is read.
#[derive(Default)]
struct FlowTable {
    file: String,
    columns: Vec<FlowColumn>,
    ids: FlowIds,
    /// Which flow waits for which ids: a part of the text of all of them.
    after: Vec<(u32, Range<usize>)>,
    after_text: String,
    graph: FlowGraph,
    ranks: u32,
    rows: u64,
}

/// Flow and line of each id.
#[derive(Default)]
struct FlowIds {
    /// Of ids that are numbers as one writes them, which most are.
    numbers: HashMap<u64, (u32, u64)>,
    names: HashMap<String, (u32, u64)>,
}

impl FlowIds {
    /// The number that an id is; of "007" it is none, as that is another id than "7".
    fn number(id: &str) -> Option<u64> {
        let plain = id.bytes().all(|byte| byte.is_ascii_digit()) && (id == "0" || !id.starts_with('0'));
        id.parse().ok().filter(|_| plain)
    }

    /// What the id was of before.
    fn insert(&mut self, id: &str, flow: (u32, u64)) -> Option<(u32, u64)> {
        match FlowIds::number(id) {
            Some(number) => self.numbers.insert(number, flow),
            None => self.names.insert(id.to_owned(), flow),
        }
    }

    fn get(&self, id: &str) -> Option<&(u32, u64)> {
        match FlowIds::number(id) {
            Some(number) => self.numbers.get(&number),
            None => self.names.get(id),
        }
    }
}

/// What a row says.
#[derive(Default)]
struct FlowRow<'a> {
    source: Option<u32>,
    destination: Option<u32>,
    bytes: Option<u64>,
    time: u64,
    id: Option<&'a str>,
    after: Option<&'a str>,
}

impl FlowTable {
    fn of(file: &str) -> FlowTable {
        FlowTable {
            file: file.to_owned(),
            ..FlowTable::default()
        }
    }

    /// A line: that of the names of columns, a row, or nothing.
    fn line(&mut self, text: &str, number: u64, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        match says(text) {
            true if self.columns.is_empty() => self.header(text, number),
            true => {
                self.row(text, number, reader);
                Ok(())
            }
            false => Ok(()),
        }
    }

    fn problem(&self, line: u64, reason: impl Into<String>, hint: impl Into<String>) -> Problem {
        Problem::new(&self.file, reason, hint).at(line)
    }

    /// The names of the columns.
    fn header(&mut self, text: &str, line: u64) -> Result<(), ReadStop> {
        for name in text.split(',').map(str::trim) {
            let Some((_, column)) = COLUMNS.iter().find(|column| column.0 == name) else {
                let known: Vec<&str> = COLUMNS.iter().map(|column| column.0).collect();
                let hint = format!("columns are {}", known.join(", "));
                return Err(self
                    .problem(line, format!("there is no column \"{name}\""), hint)
                    .into());
            };
            let same = |other: &FlowColumn| match (other, column) {
                (FlowColumn::Time(_), FlowColumn::Time(_)) => true,
                _ => other == column,
            };
            if self.columns.iter().any(same) {
                let reason = match column {
                    FlowColumn::Time(_) => "two columns say the time".to_owned(),
                    _ => format!("the column \"{name}\" comes twice"),
                };
                return Err(self.problem(line, reason, "keep one").into());
            }
            self.columns.push(*column);
        }
        for (name, needed) in &COLUMNS[..NEEDED.len()] {
            if !self.columns.contains(needed) {
                return Err(self
                    .problem(line, format!("there is no column \"{name}\""), "every table has it")
                    .into());
            }
        }
        if self.columns.contains(&FlowColumn::After) && !self.columns.contains(&FlowColumn::Id) {
            let hint = "give the flows ids, which the cells of after name";
            return Err(self
                .problem(line, "there is a column \"after\" and no column \"id\"", hint)
                .into());
        }
        Ok(())
    }

    /// A row, or what is wrong with it.
    fn row(&mut self, text: &str, line: u64, reader: &mut TraceReader<'_>) {
        self.rows += 1;
        let row = self.cells(text, line).and_then(|row| {
            let (Some(source), Some(destination), Some(bytes)) = (row.source, row.destination, row.bytes) else {
                return Err(self.problem(
                    line,
                    "the row is not whole",
                    "give source, destination and bytes a cell",
                ));
            };
            if source == destination {
                let hint = "messages inside a node take no network: leave them out";
                return Err(self.problem(line, format!("rank {source} sends to itself"), hint));
            }
            Ok((row, source, destination, bytes))
        });
        let (row, source, destination, bytes) = match row {
            Ok(row) => row,
            Err(problem) => return reader.problem(problem),
        };
        let number = self.graph.flows.len() as u32;
        self.graph.flows.push(NetworkFlow {
            source,
            destination,
            bytes,
            time: row.time,
            record: line,
        });
        self.ranks = self.ranks.max(source + 1).max(destination + 1);
        if let Some(id) = row.id
            && let Some((_, first)) = self.ids.insert(id, (number, line))
        {
            let hint = "give every flow an id of its own";
            reader.problem(self.problem(line, format!("the id \"{id}\" is that of line {first} already"), hint));
        }
        if let Some(after) = row.after {
            let begin = self.after_text.len();
            self.after_text.push_str(after);
            self.after.push((number, begin..self.after_text.len()));
        }
    }

    /// The cells of a row.
    fn cells<'a>(&self, text: &'a str, line: u64) -> Result<FlowRow<'a>, Problem> {
        let n_cells = text.bytes().filter(|byte| *byte == b',').count() + 1;
        if n_cells != self.columns.len() {
            let reason = format!("{n_cells} cells, the header has {} columns", self.columns.len());
            return Err(self.problem(line, reason, "give every column a cell, empty if need be"));
        }
        let mut row = FlowRow::default();
        for (column, cell) in self.columns.iter().zip(text.split(',').map(str::trim)) {
            if cell.is_empty() {
                continue;
            }
            let wrong = |hint: &str| self.problem(line, format!("{} is \"{cell}\"", name_of(*column)), hint);
            let rank = || {
                let rank = cell.parse().ok().filter(|rank| *rank < ANY_SOURCE - 1);
                rank.ok_or_else(|| wrong("the number of a rank, from 0"))
            };
            match column {
                FlowColumn::Source => row.source = Some(rank()?),
                FlowColumn::Destination => row.destination = Some(rank()?),
                FlowColumn::Bytes => {
                    let bytes = cell.parse().ok().filter(|bytes| (1..=LARGEST).contains(bytes));
                    row.bytes = Some(bytes.ok_or_else(|| wrong(&format!("a whole number from 1 to {LARGEST}")))?);
                }
                FlowColumn::Time(unit) => {
                    // A number alone is in picoseconds, as all times inside are.
                    let bare = cell.bytes().all(|byte| byte.is_ascii_digit()).then_some("ps");
                    let time = match unit.or(bare) {
                        Some(unit) => Unit::Time.parse(&format!("{cell} {unit}")),
                        None => Unit::Time.parse(cell),
                    };
                    row.time = time.map_err(|error| {
                        let reason = format!("{} is \"{cell}\": {}", name_of(*column), error.reason);
                        self.problem(line, reason, error.hint)
                    })?;
                }
                FlowColumn::Id if cell.contains([' ', '\t', ';']) => {
                    return Err(wrong("blanks and semicolons stand between the ids of a cell of after"));
                }
                FlowColumn::Id => row.id = Some(cell),
                FlowColumn::After => row.after = Some(cell),
            }
        }
        Ok(row)
    }

    /// Everything has been read: who waits for whom, then all operations.
    fn end(mut self, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        if self.rows == 0 {
            let hint = "the first line names columns (source,destination,bytes,time), those below it have a flow each";
            return Err(Problem::new(&self.file, "the table has no flow", hint).into());
        }
        for (flow, after) in std::mem::take(&mut self.after) {
            let NetworkFlow { source, record, .. } = self.graph.flows[flow as usize];
            let mut ends = Vec::new();
            for id in self.after_text[after]
                .split([' ', '\t', ';'])
                .filter(|id| !id.is_empty())
            {
                match self.ids.get(id) {
                    Some((other, _)) if self.graph.flows[*other as usize].source == source => {
                        ends.push(FlowEnd::Sent(*other));
                    }
                    Some((other, _)) => ends.push(FlowEnd::Received(*other)),
                    None => {
                        let reason = format!("it is after \"{id}\", and no flow has that id");
                        reader.problem(self.problem(record, reason, "see the column id"));
                    }
                }
            }
            if !ends.is_empty() {
                self.graph.gates.push(Gate {
                    ends,
                    flows: vec![flow],
                    record,
                });
            }
        }
        if let Some(flow) = self.graph.never_starts() {
            let line = self.graph.flows[flow as usize].record;
            let hint = "follow the column after back, and take one of the flows out of the circle";
            reader.problem(self.problem(line, "the flow comes after itself", hint));
        }
        // Where every row is wrong, the problems say it.
        let mut header = TraceHeader::new("flows", self.ranks.max(1), TraceForm::Graph);
        header.files.push(self.file);
        reader.begin(&header)?;
        reader.progress.records = self.graph.flows.len() as u64;
        self.graph.tell(reader)?;
        reader.tick()?;
        reader.end(&[])
    }
}

/// The name of a column.
fn name_of(column: FlowColumn) -> &'static str {
    COLUMNS
        .iter()
        .find(|known| known.1 == column)
        .map_or("", |known| known.0)
}
