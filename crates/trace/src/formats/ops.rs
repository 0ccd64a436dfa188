//! Tables of operations, a row each, in the columns that `work = { kind = "ops" }` of a study has: `rank` and `op`, and where they are
//! needed `peer`, `source`, `bytes`, `tag`, `communicator`, `request` and `time_ps`.
//!
//! The rows of a rank are in its order; ranks may take turns. The table is read twice: how many ranks there are, and who is in which
//! communicator, has to be known before the first operation.

mod row;

use crate::format::FormatReader;
use crate::header::{Members, TraceForm, TraceHeader};
use crate::lines::LinesInPieces;
use crate::operation::Lists;
use crate::problem::{Problem, ReadStop};
use crate::sink::TraceReader;
pub use row::COLUMNS;
use row::{RowMistake, TableColumns};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Tables of operations.
pub struct OpsTables;

/// Most ranks of a table.
const MOST_RANKS: u32 = 1 << 26;
/// Rows between two looks at whether the user wants to go on.
const ROWS_BETWEEN_TICKS: u64 = 4096;

impl FormatReader for OpsTables {
    const NAME: &'static str = "ops";
    const LINE: &'static str = "Tables of operations, in the columns of work = { kind = \"ops\" }.";
    const FILES: &'static str =
        "the table (.csv), whose first line names the columns, rank and op among them; it may be packed";
    const LIMITS: &'static str = "there are as many ranks as the largest that has a row says. A communicator besides 0 has the ranks that \
        have rows with it, in their order. A receive without bytes takes a message of any size, as does that of a sendrecv. There are no regions and no \
        recorded times but those of computations";
    const SOURCE: &'static str = "fabricsim, docs/models/mpi.md";

    fn is_it(_path: &Path, start: &[u8]) -> bool {
        let start = String::from_utf8_lossy(start);
        let header = start
            .trim_start_matches('\u{feff}')
            .lines()
            .find(|line| says_something(line));
        let names: Vec<&str> = header.unwrap_or_default().split(',').map(str::trim).collect();
        ["rank", "op"].iter().all(|needed| names.contains(needed))
    }

    fn read(path: &Path, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        let mut first = TableSurvey::default();
        each_row(path, reader, &mut |_, table| {
            // What is wrong with a row is told by the second pass.
            if let Ok((rank, communicator)) = table.columns.rank_and_communicator(table.line) {
                first.take(rank, communicator);
            }
            Ok(())
        })?;
        let header = first.header(path)?;
        reader.begin(&header)?;
        let (none, file) = (Lists::default(), header.file(0));
        let numbers: BTreeMap<u8, u32> = first.communicators.keys().copied().zip(1..).collect();
        each_row(path, reader, &mut |reader, table| {
            match table.columns.operation(table.line) {
                // A table that has grown in between has more ranks than were told.
                Ok((rank, _)) if rank >= header.ranks => {
                    let reason = format!("there is no rank {rank}");
                    reader.problem(
                        Problem::new(file, reason, "leave the table as it is while it is read").at(table.number),
                    );
                }
                Ok((rank, mut operation)) => {
                    let own = operation.communicator as u8;
                    operation.communicator = numbers.get(&own).copied().unwrap_or(0);
                    reader.operation(rank, table.number, &operation, &none)?;
                }
                Err((reason, hint)) => reader.problem(Problem::new(file, reason, hint).at(table.number)),
            }
            Ok(())
        })?;
        reader.end(&[])
    }
}

/// Who is in a table.
#[derive(Debug, Default)]
struct TableSurvey {
    last_rank: Option<u32>,
    /// The ranks of communicators besides that of all.
    communicators: BTreeMap<u8, BTreeSet<u32>>,
}

impl TableSurvey {
    fn take(&mut self, rank: u32, communicator: u8) {
        self.last_rank = self.last_rank.max(Some(rank));
        if communicator > 0 {
            self.communicators.entry(communicator).or_default().insert(rank);
        }
    }

    fn header(&self, path: &Path) -> Result<TraceHeader, ReadStop> {
        let file = path.display().to_string();
        let Some(last) = self.last_rank else {
            return Err(Problem::new(file, "the table has no operation", "give a row for each operation").into());
        };
        if last >= MOST_RANKS {
            let reason = format!("rank {last} is too large");
            return Err(Problem::new(file, reason, format!("ranks are below {MOST_RANKS}")).into());
        }
        let mut header = TraceHeader::new(OpsTables::NAME, last + 1, TraceForm::Program);
        header.files = vec![file];
        let members = |ranks: &BTreeSet<u32>| Members::of(ranks.iter().copied().collect());
        header.communicators.extend(self.communicators.values().map(members));
        Ok(header)
    }
}

/// A line of a table.
struct TableLine<'a> {
    columns: &'a TableColumns,
    line: &'a str,
    number: u64,
}

/// Whether a line is more than a remark.
fn says_something(line: &str) -> bool {
    !line.trim().is_empty() && !line.trim_start().starts_with('#')
}

/// Hands on the rows of a table.
fn each_row(
    path: &Path,
    reader: &mut TraceReader<'_>,
    take: &mut dyn FnMut(&mut TraceReader<'_>, &TableLine<'_>) -> Result<(), ReadStop>,
) -> Result<(), ReadStop> {
    let (mut lines, all_bytes) = LinesInPieces::open(path)?;
    let file = lines.file().to_owned();
    let before = reader.progress.done;
    reader.progress.all = all_bytes.saturating_mul(2);
    let mut columns = None;
    loop {
        let (done, number) = (lines.done(), lines.number() + 1);
        let Some(line) = lines.next()? else { break };
        let line = String::from_utf8_lossy(line);
        if !says_something(&line) {
            continue;
        }
        let Some(columns) = &columns else {
            let broken = |(reason, hint): RowMistake| Problem::new(&file, reason, hint).at(number);
            columns = Some(TableColumns::of(&line).map_err(broken)?);
            continue;
        };
        take(
            reader,
            &TableLine {
                columns,
                line: &line,
                number,
            },
        )?;
        reader.progress.records += 1;
        if reader.progress.records.is_multiple_of(ROWS_BETWEEN_TICKS) {
            reader.progress.done = before + done;
            reader.tick()?;
        }
    }
    if columns.is_none() {
        let hint = format!("its first line names columns: {}", COLUMNS.join(","));
        return Err(Problem::new(file, "the table is empty", hint).into());
    }
    reader.progress.done = before + lines.done();
    reader.tick()
}
