//! A program from a table: a row per operation, in the order in which each rank does them; all of it once per iteration.
//!
//! The table is checked as a whole before it is run: every mistake comes with its line, a reason and a hint. What is checked: ranks,
//! names and sizes; requests that are waited for but never made, or made again while they are pending; receives that are smaller than
//! their message; collectives that the ranks of a communicator come to in different
//! orders; messages without a receive and receives without a message (exactly per pair, communicator and tag; by their number where a
//! rank receives from any source or with any tag). What is not: whether an order of waits can end, which the run shows.

mod check;
mod columns;
#[cfg(test)]
mod tests;

pub use columns::read_csv;

use super::keys::RANKS;
use super::{Keys, Misfit, MotifKind};
use crate::mpi::op::{ANY_SIZE, ANY_SOURCE, ANY_TAG, Transfer, UNNAMED};
use crate::mpi::spec::MotifValue;
use crate::mpi::{Collective, CollectiveKind, Communicator, LARGEST, Op, Program};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use study::diagnostic::Findings;
use study::reader::Values;
use study::rows::Mistake;
use study::user_file::read_text;
use study::{Default, Entry, Parameter, Type, key};

/// A row. What an operation does not need is left as it is in the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Line that it came from, for errors.
    pub line: u32,
    /// Who does it.
    pub rank: u32,
    /// What: one of [`POINT_TO_POINT`], or the name of a [`CollectiveKind`], or of one that is begun.
    pub op: String,
    /// To whom or from whom, [`ANY_SOURCE`] from anybody; the root of a collective that has one, counted in its communicator.
    pub peer: Option<u32>,
    /// From whom a `sendrecv` receives; as `peer` if there is none.
    pub source: Option<u32>,
    /// Size of a message, 0 if there is none; of a receive the most that it takes, all if there is none.
    pub bytes: Option<u64>,
    /// Tag; [`ANY_TAG`] in a receive of any.
    pub tag: u16,
    /// Communicator: 0 has all ranks.
    pub communicator: u16,
    /// Name of the request.
    pub request: Option<u16>,
    /// How long a `compute` takes (ps).
    pub time: u64,
}

/// The operations that are no collectives.
pub const POINT_TO_POINT: [&str; 13] = [
    "compute", "send", "isend", "ssend", "issend", "recv", "irecv", "sendrecv", "wait", "waitall", "waitany",
    "waitnews", "test",
];

/// The program.
#[derive(Clone, Debug)]
pub struct OpTable {
    /// Operations, rank by rank.
    ops: Vec<Op>,
    /// Where those of each rank begin, and the end.
    starts: Vec<usize>,
    communicators: Vec<Communicator>,
    peers: u32,
}

const OPS: &[Parameter] = &[
    key(
        "file",
        Type::Text,
        Default::From("`table` has the rows"),
        "CSV file with a row per operation; the columns are rank, op, peer, source, bytes, tag, communicator, request, time_ps.",
    ),
    key(
        "table",
        Type::Lines,
        Default::From("`file` has the rows"),
        "The same text in place of a file.",
    ),
];

impl MotifKind for OpTable {
    const ENTRY: Entry = Entry::new("ops", "Operations from a table, rank by rank.").keys(&[OPS, RANKS]);

    fn read(keys: &Keys) -> Result<Self, Misfit> {
        let text = keys.values.text("table").unwrap_or("");
        let of_file = keys.values.text("file").is_some();
        let first = |mistakes| {
            let (reason, hint) = study::rows::first(mistakes, text, of_file);
            Misfit::new(if of_file { "file" } else { "table" }, reason, hint)
        };
        let rows = read_csv(text).map_err(first)?;
        OpTable::new(keys.ranks, Vec::new(), &rows).map_err(first)
    }

    fn read_files(
        values: &Values,
        base: &Path,
        held: &mut BTreeMap<String, MotifValue>,
        findings: &mut Findings,
    ) -> Option<()> {
        let path = format!("{}.file", values.path);
        if values.given("file") == values.given("table") {
            let reason = match values.given("file") {
                true => "there are two tables of operations, one in a file and one here",
                false => "there is no table of operations",
            };
            let hint = "name a CSV file with `file`, or write its text as `table`";
            findings.error(values.place, &path, reason, hint);
            return None;
        }
        if let Some(file) = values.text("file") {
            match read_text(base, file) {
                Ok(table) => held.insert("table".into(), MotifValue::Text(table)),
                Err((reason, hint)) => {
                    findings.error(values.place("file"), &path, reason, hint);
                    return None;
                }
            };
        }
        Some(())
    }
}

impl OpTable {
    /// Makes a program of rows; the rows of different ranks may come in any order. `communicators` follow on that of all ranks.
    /// Errors are all mistakes in the order of lines, or those of the communicators.
    pub fn new(ranks: u32, communicators: Vec<Communicator>, rows: &[Row]) -> Result<OpTable, Vec<Mistake>> {
        let mut all = vec![Communicator::World(ranks)];
        all.extend(communicators);
        let mistakes = check::communicators(ranks, &all);
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        let mut mistakes = Vec::new();
        // A stable sort keeps the order of each rank.
        let mut told = Vec::with_capacity(rows.len());
        for row in rows {
            match read(row, ranks, &all) {
                Ok(op) => told.push((row.rank, row.line, op)),
                Err(mistake) => mistakes.push(mistake),
            }
        }
        told.sort_by_key(|(rank, ..)| *rank);
        // What follows would only repeat what is wrong with single rows.
        if mistakes.is_empty() {
            mistakes.extend(check::requests(&told));
            mistakes.extend(check::collectives(&told, &all));
            mistakes.extend(check::messages(&told));
        }
        if !mistakes.is_empty() {
            mistakes.sort_by_key(|mistake| mistake.line);
            return Err(mistakes);
        }
        let mut starts = vec![0; ranks as usize + 1];
        told.iter().for_each(|(rank, ..)| starts[*rank as usize + 1] += 1);
        (0..ranks as usize).for_each(|rank| starts[rank + 1] += starts[rank]);
        Ok(OpTable {
            peers: most_peers(&told, &all),
            ops: told.into_iter().map(|(.., op)| op).collect(),
            starts,
            communicators: all,
        })
    }
}

impl Program for OpTable {
    fn repeats_after(&self) -> Option<u32> {
        Some(1)
    }

    fn op(&self, rank: u32, _iteration: u32, index: u32) -> Option<Op> {
        let own = self.starts[rank as usize]..self.starts[rank as usize + 1];
        self.ops[own].get(index as usize).copied()
    }

    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }

    fn peers(&self) -> u32 {
        self.peers
    }
}

/// (rank, line, operation).
type ReadRow = (u32, u32, Op);

/// The operation of a row.
fn read(row: &Row, ranks: u32, communicators: &[Communicator]) -> Result<Op, Mistake> {
    if row.rank >= ranks {
        return refuse(
            row.line,
            format!("there is no rank {}", row.rank),
            format!("ranks are 0..={}", ranks - 1),
        );
    }
    let Some(communicator) = communicators.get(usize::from(row.communicator)) else {
        let hint = format!("communicators are 0..={}", communicators.len() - 1);
        return refuse(row.line, format!("there is no communicator {}", row.communicator), hint);
    };
    let bytes = row.bytes.unwrap_or(0);
    if bytes > LARGEST {
        return refuse(
            row.line,
            format!("{bytes} bytes are too many"),
            format!("take at most {LARGEST}"),
        );
    }
    let transfer = |peer, is_send| transfer(row, peer, is_send, ranks);
    let request = || match row.request {
        Some(request) if request != UNNAMED => Ok(request),
        _ => refuse(
            row.line,
            format!("{} does not say for which request", row.op),
            "fill in request",
        ),
    };
    Ok(match row.op.as_str() {
        "compute" => Op::Compute { time: row.time },
        "send" | "ssend" => Op::Send(transfer(row.peer, true)?),
        "isend" | "issend" => Op::Isend(transfer(row.peer, true)?),
        "recv" => Op::Recv(transfer(row.peer, false)?),
        "irecv" => Op::Irecv(transfer(row.peer, false)?),
        "sendrecv" => Op::SendRecv {
            send: transfer(row.peer, true)?,
            // Its bytes are those of what it sends.
            recv: Transfer {
                bytes: ANY_SIZE,
                ..transfer(row.source.or(row.peer), false)?
            },
        },
        "wait" => Op::Wait { request: request()? },
        "test" => Op::Test { request: request()? },
        "waitall" => Op::WaitAll,
        "waitany" => Op::WaitAny,
        "waitnews" => Op::WaitNews,
        name => match CollectiveKind::ALL.into_iter().find(|kind| kind.begun_name() == name) {
            Some(kind) => Op::Icollective {
                request: request()?,
                collective: collective(row, kind.name(), communicator)?,
            },
            None => Op::Collective(collective(row, name, communicator)?),
        },
    })
}

/// One side of a row's exchange with a peer.
fn transfer(row: &Row, peer: Option<u32>, is_send: bool, ranks: u32) -> Result<Transfer, Mistake> {
    let wants = if is_send {
        "whom to send to"
    } else {
        "whom to receive from"
    };
    let Some(peer) = peer else {
        return refuse(row.line, format!("{} does not say {wants}", row.op), "fill in peer");
    };
    if is_send && (peer == ANY_SOURCE || row.tag == ANY_TAG) {
        return refuse(
            row.line,
            format!("{} to any rank or with any tag", row.op),
            "only receives may leave it open",
        );
    }
    if peer >= ranks && peer != ANY_SOURCE {
        return refuse(
            row.line,
            format!("there is no rank {peer} to talk to"),
            format!("ranks are 0..={}", ranks - 1),
        );
    }
    if peer == row.rank {
        return refuse(
            row.line,
            format!("rank {peer} talks to itself"),
            "leave the row out: it needs no network",
        );
    }
    Ok(Transfer {
        peer,
        bytes: row.bytes.unwrap_or(if is_send { 0 } else { ANY_SIZE }),
        tag: row.tag,
        communicator: row.communicator,
        request: row.request.unwrap_or(UNNAMED),
        synchronous: matches!(row.op.as_str(), "ssend" | "issend"),
    })
}

/// The collective that a row names: what is no other operation must be one.
fn collective(row: &Row, name: &str, communicator: &Communicator) -> Result<Collective, Mistake> {
    let Some(kind) = CollectiveKind::from_name(name) else {
        return refuse(row.line, format!("there is no operation \"{name}\""), nearest(name));
    };
    if kind == CollectiveKind::Alltoallv {
        let hint = "take alltoall, or isend and irecv";
        return refuse(row.line, "a table has no place for the sizes of an alltoallv", hint);
    }
    let root = if kind.has_root() { row.peer.unwrap_or(0) } else { 0 };
    let size = communicator.size(row.rank);
    if root >= size {
        let reason = format!("the root {root} of {name} is not in a communicator of {size}");
        return refuse(row.line, reason, format!("its ranks are 0..={}", size - 1));
    }
    let bytes = row.bytes.unwrap_or(0);
    if let Err(misfit) = super::sized_for("message", bytes, size) {
        return refuse(row.line, misfit.reason, misfit.hint);
    }
    Ok(Collective {
        kind,
        communicator: row.communicator,
        bytes,
        root,
    })
}

/// Refuses a row.
fn refuse<T>(line: u32, reason: impl Into<String>, hint: impl Into<String>) -> Result<T, Mistake> {
    Err(Mistake::at(line, reason, hint))
}

/// The operation whose name is most like what was given, or all of them.
fn nearest(name: &str) -> String {
    let collectives = CollectiveKind::ALL.map(CollectiveKind::name);
    let begun = CollectiveKind::ALL.map(CollectiveKind::begun_name);
    let names = POINT_TO_POINT.iter().chain(&collectives).chain(&begun);
    match study::diagnostic::nearest(name, names.clone().copied()) {
        Some(best) => format!("did you mean \"{best}\"?"),
        None => format!("operations are {}", names.copied().collect::<Vec<_>>().join(", ")),
    }
}

/// Most ranks that a rank talks to, and those that it meets in collectives by rule of thumb.
fn most_peers(told: &[ReadRow], communicators: &[Communicator]) -> u32 {
    // Both ends of every message; every receive has one.
    let mut talks = BTreeSet::new();
    let mut met = 0;
    for (rank, _, op) in told {
        match op {
            Op::Isend(send) | Op::Send(send) | Op::SendRecv { send, .. } => {
                talks.extend([(*rank, send.peer), (send.peer, *rank)]);
            }
            Op::Collective(collective) | Op::Icollective { collective, .. } => {
                let size = communicators[usize::from(collective.communicator)].size(*rank);
                met = met.max(super::peers_of(collective.kind, size));
            }
            _ => {}
        }
    }
    let talks = Vec::from_iter(talks);
    let most = talks.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len).max();
    most.unwrap_or(0) as u32 + met
}
