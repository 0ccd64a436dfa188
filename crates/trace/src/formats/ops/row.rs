//! A row of a table, and the operation that it is.

use crate::check::LARGEST;
use crate::operation::{ANY_SOURCE, ANY_TAG, Kind, Mode, NONE, Operation, UNKNOWN_SIZE};

/// The columns that a table may have, in any order; it has the first two.
pub const COLUMNS: [&str; 9] = [
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
const RANK: usize = 0;
const COMMUNICATOR: usize = 6;

/// The names of operations, and what they are.
const OPERATIONS: [(&str, Kind); 22] = [
    ("compute", Kind::Compute),
    ("send", Kind::Send),
    ("isend", Kind::Isend),
    ("ssend", Kind::Send),
    ("issend", Kind::Isend),
    ("recv", Kind::Recv),
    ("irecv", Kind::Irecv),
    ("sendrecv", Kind::Sendrecv),
    ("wait", Kind::Wait),
    ("waitall", Kind::Waitall),
    ("waitany", Kind::Waitany),
    ("waitnews", Kind::Waitnews),
    ("test", Kind::Test),
    ("barrier", Kind::Barrier),
    ("bcast", Kind::Bcast),
    ("reduce", Kind::Reduce),
    ("allreduce", Kind::Allreduce),
    ("gather", Kind::Gather),
    ("scatter", Kind::Scatter),
    ("allgather", Kind::Allgather),
    // Every rank gets a block of the same size.
    ("reduce-scatter", Kind::ReduceScatterBlock),
    ("alltoall", Kind::Alltoall),
];

/// Largest tag, and largest name of a request.
const MOST_TAG: u64 = u16::MAX as u64 - 1;
/// Largest rank: the next one stands for any.
pub(super) const MOST_RANK: u64 = ANY_SOURCE as u64 - 1;

/// Reason and hint of what is wrong with a line.
pub(super) type RowMistake = (String, String);

/// Which column each cell of a row is, of [`COLUMNS`].
#[derive(Debug)]
pub(super) struct TableColumns(Vec<usize>);

impl TableColumns {
    /// The columns that a header names.
    pub fn of(header: &str) -> Result<TableColumns, RowMistake> {
        let mut columns = Vec::new();
        for name in header.split(',').map(str::trim) {
            let Some(column) = COLUMNS.iter().position(|known| *known == name) else {
                let hint = format!("columns are {}", COLUMNS.join(", "));
                return Err((format!("there is no column \"{name}\""), hint));
            };
            if columns.contains(&column) {
                return Err((format!("the column \"{name}\" comes twice"), "keep one".into()));
            }
            columns.push(column);
        }
        match (0..2).find(|needed| !columns.contains(needed)) {
            Some(needed) => {
                let reason = format!("there is no column \"{}\"", COLUMNS[needed]);
                Err((reason, "every table has it".into()))
            }
            None => Ok(TableColumns(columns)),
        }
    }

    /// The cells of a row by column, empty where it has none.
    fn cells<'l>(&self, line: &'l str) -> Result<[&'l str; COLUMNS.len()], RowMistake> {
        let mut cells = [""; COLUMNS.len()];
        let mut n = 0;
        for cell in line.split(',') {
            if let Some(column) = self.0.get(n) {
                cells[*column] = cell.trim();
            }
            n += 1;
        }
        if n != self.0.len() {
            let reason = format!("{n} cells, the header has {} columns", self.0.len());
            return Err((reason, "give every column a cell, empty if need be".into()));
        }
        Ok(cells)
    }

    /// The rank and the communicator of a row.
    pub fn rank_and_communicator(&self, line: &str) -> Result<(u32, u8), RowMistake> {
        rank_and_communicator(&self.cells(line)?)
    }

    /// The rank of a row, and its operation.
    pub fn operation(&self, line: &str) -> Result<(u32, Operation), RowMistake> {
        let cells = self.cells(line)?;
        let (rank, communicator) = rank_and_communicator(&cells)?;
        let [_, op, peer, source, _, tag, _, _, _] = cells;
        let named = |op: &str| OPERATIONS.iter().find(|(name, _)| *name == op);
        // A collective that is begun has its name behind an i.
        let begun = op
            .strip_prefix('i')
            .and_then(named)
            .filter(|(_, kind)| kind.is_collective());
        let Some((_, kind)) = named(op).or(begun) else {
            let (reason, names) = (
                format!("there is no operation \"{op}\""),
                OPERATIONS.map(|(name, _)| name),
            );
            let hint = match op {
                "alltoallv" | "ialltoallv" => {
                    "a table has no place for its sizes: take alltoall, or isend and irecv".into()
                }
                _ => format!(
                    "operations are {}, and collectives that are begun, such as ibarrier",
                    names.join(", ")
                ),
            };
            return Err((reason, hint));
        };
        let rank_of = |cell: &str, column| match cell {
            "any" => Ok(Some(ANY_SOURCE)),
            _ => number(&cells, column, MOST_RANK).map(|rank| rank.map(|rank| rank as u32)),
        };
        let (peer, source) = (rank_of(peer, 2)?, rank_of(source, 3)?);
        let bytes = number(&cells, 4, LARGEST)?;
        let tag = match tag {
            "any" => ANY_TAG,
            _ => number(&cells, 5, MOST_TAG)?.unwrap_or(0) as u32,
        };
        let request = number(&cells, 7, MOST_TAG)?.map_or(NONE, |request| request as u32);
        let time = number(&cells, 8, 1 << 62)?.unwrap_or(0);
        let no_request = || {
            let reason = format!("{op} does not say for which request");
            (reason, "fill in request".to_owned())
        };
        let mut operation = Operation {
            communicator: communicator.into(),
            ..Operation::new(*kind)
        };
        match kind {
            Kind::Compute => operation.time = time,
            Kind::Wait | Kind::Test if request == NONE => return Err(no_request()),
            Kind::Wait | Kind::Test => operation.request = request,
            Kind::Waitall | Kind::Waitany | Kind::Waitnews => {}
            _ if kind.sends() || kind.receives() => {
                let whom = if kind.sends() {
                    "whom to send to"
                } else {
                    "whom to receive from"
                };
                let missing = || (format!("{op} does not say {whom}"), "fill in peer".to_owned());
                operation.peer = peer.ok_or_else(missing)?;
                operation.tag = tag;
                if matches!(op, "ssend" | "issend") {
                    operation.mode = Mode::Synchronous;
                }
                // Room for a message of any size, where a receive does not say how much.
                operation.bytes = bytes.unwrap_or(if kind.sends() { 0 } else { UNKNOWN_SIZE });
                if matches!(kind, Kind::Isend | Kind::Irecv) {
                    operation.request = request;
                }
                if *kind == Kind::Sendrecv {
                    operation.source = source.unwrap_or(operation.peer);
                    (operation.source_tag, operation.received) = (tag, UNKNOWN_SIZE);
                }
            }
            _ if begun.is_some() && request == NONE => return Err(no_request()),
            _ => {
                if begun.is_some() {
                    operation.request = request;
                }
                operation.bytes = bytes.unwrap_or(0);
                if kind.has_root() {
                    operation.peer = peer.unwrap_or(0);
                }
            }
        }
        Ok((rank, operation))
    }
}

fn rank_and_communicator(cells: &[&str; COLUMNS.len()]) -> Result<(u32, u8), RowMistake> {
    let communicator = number(cells, COMMUNICATOR, u8::MAX.into())?.unwrap_or(0);
    match number(cells, RANK, MOST_RANK)? {
        Some(rank) => Ok((rank as u32, communicator as u8)),
        None => Err(("rank is empty".into(), "say who does it".into())),
    }
}

/// A cell that is a whole number up to the most that it may be, or empty.
fn number(cells: &[&str; COLUMNS.len()], column: usize, most: u64) -> Result<Option<u64>, RowMistake> {
    let cell = cells[column];
    if cell.is_empty() {
        return Ok(None);
    }
    match cell.parse::<u64>() {
        Ok(number) if number <= most => Ok(Some(number)),
        _ => {
            let reason = format!("{} is \"{cell}\"", COLUMNS[column]);
            Err((reason, format!("a whole number up to {most}")))
        }
    }
}
