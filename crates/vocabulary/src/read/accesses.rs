//! Accesses of memory nodes from a table: a row per access, in the order in which each core gives them out.
//!
//! Columns, in any order: `core`, its number among those of all nodes; `address`, in bytes, also as `0x1f40`; `op`, `load` or `store`;
//! and `time_ps`, before which the access is not given out (0 if there is none). Lines that are empty or begin with `#` are skipped.

use des::HORIZON;
use des::Time;
use std::path::Path;
use study::diagnostic::Findings;
use study::reader::Values;
use study::rows::{Mistake, OfLine, read_rows};
use study::units::Unit;
use study::user_file::read_table;
use work::memory::spec::ListedAccess;

const COLUMNS: [&str; 4] = ["core", "address", "op", "time_ps"];

/// A row; what it has not said is `None`.
struct AccessRow {
    line: u32,
    core: Option<u64>,
    address: Option<u64>,
    store: Option<bool>,
    time: u64,
}

impl OfLine for AccessRow {
    fn of_line(line: u32) -> AccessRow {
        AccessRow {
            line,
            core: None,
            address: None,
            store: None,
            time: 0,
        }
    }
}

/// Reads the table that `file` or `table` gives; `None` after errors.
pub(super) fn read(
    values: &Values,
    n_nodes: Option<u64>,
    base: &Path,
    findings: &mut Findings,
) -> Option<Vec<ListedAccess>> {
    let table = read_table(values, base, "accesses", findings)?;
    let (line, memory) = (values.quantity("line")?.max(1), values.quantity("memory")?);
    let cores = values.integer("cores")?;
    let room = n_nodes.map(|nodes| (nodes.saturating_mul(cores), nodes.saturating_mul(memory)));
    let accesses = read_rows(&table.text, &COLUMNS, &["core", "address", "op"], fill).and_then(|rows| {
        let all = rows.iter().map(|row| access(row, line, room));
        let (found, mistakes): (Vec<_>, Vec<_>) = all.partition(Result::is_ok);
        match mistakes.is_empty() {
            true => Ok(found.into_iter().flatten().collect()),
            false => Err(mistakes.into_iter().filter_map(Result::err).collect()),
        }
    });
    accesses.map_err(|mistakes| table.refuse(mistakes, findings)).ok()
}

/// Puts a cell into its row.
fn fill(row: &mut AccessRow, column: &str, cell: &str) -> Result<(), Mistake> {
    let wrong = |hint: &str| Mistake::at(row.line, format!("{column} is \"{cell}\""), hint);
    let number = || match cell.strip_prefix("0x") {
        Some(digits) if column == "address" => u64::from_str_radix(digits, 16).ok(),
        _ => cell.parse().ok(),
    };
    match column {
        "op" => match cell {
            "load" => row.store = Some(false),
            "store" => row.store = Some(true),
            _ => return Err(wrong("load or store")),
        },
        "time_ps" if cell.is_empty() => {}
        "time_ps" => match number() {
            Some(time) if time <= 1 << 62 => row.time = time,
            _ => return Err(wrong("picoseconds as a whole number")),
        },
        "core" => row.core = Some(number().ok_or_else(|| wrong("the number of a core, from 0"))?),
        _ => row.address = Some(number().ok_or_else(|| wrong("bytes, as a whole number or as 0x1f40"))?),
    }
    Ok(())
}

/// The access of a row; `room` is how many cores and bytes there are, where that is known.
fn access(row: &AccessRow, line: u64, room: Option<(u64, u64)>) -> Result<ListedAccess, Mistake> {
    let (core, address) = (row.core.unwrap_or(0), row.address.unwrap_or(0));
    let (cores, bytes) = room.unwrap_or((1 << 32, u64::MAX));
    let beyond = |what: String, hint: &str| Err(Mistake::at(row.line, what, hint));
    if core >= cores.min(1 << 32) {
        return beyond(
            format!("there is no core {core}"),
            &format!("the last of {cores} is {}", cores.saturating_sub(1)),
        );
    }
    if row.time >= HORIZON.0 {
        let hint = format!("simulated time ends after {}", Unit::Time.print(HORIZON.0));
        return beyond(format!("time_ps is {}, which no run gets to", row.time), &hint);
    }
    if address >= bytes {
        return beyond(
            format!("there is no address {address}"),
            &format!("the address space has {bytes} bytes"),
        );
    }
    Ok(ListedAccess {
        core: core as u32,
        at: Time(row.time),
        line: address / line,
        store: row.store.unwrap_or(false),
    })
}
