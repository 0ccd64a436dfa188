//! `work.kind = "messages"`: messages one by one from a table, a row per message, in any order.
//!
//! Columns, in any order: `source` and `destination`, nodes of the job from 0; `bytes`, a whole number; and when the message is handed
//! to the interface: `time` with a unit (`1.5 us`), or `time_ps`, `time_ns`, `time_us`, `time_ms` or `time_s` without one. Lines that
//! are empty or begin with `#` are skipped.

use des::HORIZON;
use des::Time;
use std::path::Path;
use study::Bytes;
use study::diagnostic::Findings;
use study::reader::Values;
use study::rows::{Mistake, OfLine, read_rows};
use study::units::Unit;
use study::user_file::{TableText, read_table};
use work::workload::spec::ListedMessage;

/// Largest message: 1 TiB, as everywhere in a study.
const MOST_BYTES: u64 = 1 << 40;

/// Most messages of a table.
const MOST_MESSAGES: usize = 1 << 26;

const COLUMNS: [&str; 9] = [
    "time",
    "time_ps",
    "time_ns",
    "time_us",
    "time_ms",
    "time_s",
    "source",
    "destination",
    "bytes",
];

/// A row; what it has not said is `None`.
struct ListedRow {
    line: u32,
    time: Option<u64>,
    source: Option<u64>,
    destination: Option<u64>,
    bytes: Option<u64>,
}

impl OfLine for ListedRow {
    fn of_line(line: u32) -> ListedRow {
        ListedRow {
            line,
            time: None,
            source: None,
            destination: None,
            bytes: None,
        }
    }
}

/// Reads the table that `file` or `table` gives, in the order of times and sources; messages of one source at one time stay in the
/// order of the table. `None` after errors.
pub(super) fn read(
    values: &Values,
    n_nodes: Option<u64>,
    base: &Path,
    findings: &mut Findings,
) -> Option<Vec<ListedMessage>> {
    let table = read_table(values, base, "messages", findings)?;
    rows(&table, n_nodes)
        .map_err(|mistakes| table.refuse(mistakes, findings))
        .ok()
}

fn rows(table: &TableText, n_nodes: Option<u64>) -> Result<Vec<ListedMessage>, Vec<Mistake>> {
    let rows = read_rows(&table.text, &COLUMNS, &["source", "destination", "bytes"], fill)?;
    let whole = |reason: String, hint: String| {
        Err(vec![Mistake {
            line: None,
            reason,
            hint,
        }])
    };
    if rows.is_empty() {
        let hint = "the lines below the header have a message each".to_owned();
        return whole("the table has no message".to_owned(), hint);
    }
    if rows.len() > MOST_MESSAGES {
        let reason = format!("{} messages are too many", rows.len());
        return whole(reason, format!("a job has at most {MOST_MESSAGES}, take several jobs"));
    }
    if rows[0].time.is_none() {
        let hint = "name one of time, time_ps, time_ns, time_us, time_ms, time_s in the header";
        return whole("there is no column that says the time".to_owned(), hint.to_owned());
    }
    let (found, mistakes): (Vec<_>, Vec<_>) = rows.iter().map(|row| message(row, n_nodes)).partition(Result::is_ok);
    if !mistakes.is_empty() {
        return Err(mistakes.into_iter().filter_map(Result::err).collect());
    }
    let mut messages: Vec<ListedMessage> = found.into_iter().flatten().collect();
    messages.sort_by_key(|message| (message.time, message.source));
    Ok(messages)
}

/// Puts a cell into its row.
fn fill(row: &mut ListedRow, column: &str, cell: &str) -> Result<(), Mistake> {
    let wrong = |hint: &str| Mistake::at(row.line, format!("{column} is \"{cell}\""), hint);
    let number = || cell.parse().ok();
    match column {
        "source" => row.source = Some(number().ok_or_else(|| wrong("the number of a node of the job, from 0"))?),
        "destination" => {
            row.destination = Some(number().ok_or_else(|| wrong("the number of a node of the job, from 0"))?)
        }
        "bytes" => {
            let bytes = number().filter(|bytes| (1..=MOST_BYTES).contains(bytes));
            row.bytes = Some(bytes.ok_or_else(|| wrong("a whole number from 1 to 1099511627776 (1 TiB)"))?);
        }
        _ => {
            if row.time.is_some() {
                return Err(Mistake::at(row.line, "two columns say the time", "keep one of them"));
            }
            let text = match column.strip_prefix("time_") {
                Some(unit) => format!("{cell} {unit}"),
                None => cell.to_owned(),
            };
            let time = Unit::Time.parse(&text).map_err(|error| {
                let reason = format!("{column} is \"{cell}\": {}", error.reason);
                Mistake::at(row.line, reason, error.hint)
            })?;
            if time >= HORIZON.0 {
                let last = Unit::Time.print(HORIZON.0);
                return Err(wrong(&format!("simulated time ends at {last}")));
            }
            row.time = Some(time);
        }
    }
    Ok(())
}

/// The message of a row for so many nodes, where that is known.
fn message(row: &ListedRow, n_nodes: Option<u64>) -> Result<ListedMessage, Mistake> {
    let wrong = |reason: String, hint: &str| Err(Mistake::at(row.line, reason, hint));
    let (Some(time), Some(source), Some(destination), Some(bytes)) = (row.time, row.source, row.destination, row.bytes)
    else {
        return wrong("it is not whole".to_owned(), "give every column a cell");
    };
    let nodes = n_nodes.unwrap_or(u32::MAX.into()).min(u32::MAX.into());
    if let Some(node) = [source, destination].into_iter().find(|node| *node >= nodes) {
        let hint = format!("the job has nodes 0 to {}", nodes.saturating_sub(1));
        return wrong(format!("there is no node {node}"), &hint);
    }
    if source == destination {
        let hint = "messages inside a node take no network: leave them out";
        return wrong(format!("node {source} sends to itself"), hint);
    }
    Ok(ListedMessage {
        time: Time(time),
        source: source as u32,
        destination: destination as u32,
        bytes: Bytes(bytes),
    })
}
