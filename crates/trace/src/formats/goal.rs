//! GOAL, the graphs of LogGOPSim and ATLAHS: sends, receives and computations of each rank, and which of them wait for which.
//!
//! There is a text of it and a binary file that says the same; [`text`] and [`binary`] read them, [`write_text`] and [`write_binary`] write them.
//! Computations are in whole nanoseconds. An operation is a [`Kind::Send`](crate::Kind), [`Kind::Recv`](crate::Kind) or
//! [`Kind::Compute`](crate::Kind) that ends when its work is done; `cpu` is its lane. `a requires b` is [`Lists::after`](crate::Lists),
//! `a irequires b` is [`Lists::after_start`](crate::Lists).

mod binary;
mod spool;
mod text;
mod write;
mod write_binary;
mod write_text;

use crate::format::FormatReader;
use crate::operation::Operation;
use crate::problem::{Problem, ReadStop};
use crate::sink::TraceReader;
use std::path::Path;

pub use write_binary::{BinaryWriter, write_binary};
pub use write_text::{TextWriter, write_text};

/// GOAL as text.
pub(crate) struct GoalText;

/// GOAL as a binary file.
pub(crate) struct GoalBinary;

impl FormatReader for GoalText {
    const NAME: &'static str = "goal";
    const LINE: &'static str = "graphs of LogGOPSim and ATLAHS, as text";
    const FILES: &'static str = "the text (.goal), which begins with num_ranks; it may be packed";
    const LIMITS: &'static str = "a send takes as long as the network needs, whatever it took when it was recorded; \
        what only LogGOPSim2 knows (put, get, tput, append, test, calcgem5) is refused; \
        operations and labels of one rank at a time are in memory";
    const SOURCE: &'static str =
        "Hoefler, Schneider, Lumsdaine, LogGOPSim, 2010; github.com/spcl/LogGOPSim, github.com/spcl/atlahs";

    fn is_it(path: &Path, start: &[u8]) -> bool {
        text::is_it(path, start)
    }

    fn read(path: &Path, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        text::read(path, reader)
    }
}

impl FormatReader for GoalBinary {
    const NAME: &'static str = "goal-binary";
    const LINE: &'static str = "graphs of LogGOPSim and ATLAHS, as a binary file";
    const FILES: &'static str = "the binary file (.bin), which begins with the number 4223; it may be packed";
    const LIMITS: &'static str = "as of goal; operations of one rank at a time are in memory";
    const SOURCE: &'static str = GoalText::SOURCE;

    fn is_it(_path: &Path, start: &[u8]) -> bool {
        start.starts_with(&binary::MAGIC.to_le_bytes())
    }

    fn read(path: &Path, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        binary::read(path, reader)
    }
}

/// What to do about what only LogGOPSim2 knows.
const DIALECT: &str =
    "LogGOPSim2's dialect is not read: make the file for LogGOPSim or ATLAHS, whose operations are send, recv and calc";

/// Picoseconds of a nanosecond.
const PS: u64 = 1000;

/// A computation of so many nanoseconds, if that is a time.
fn calc(ns: u64, cpu: u8) -> Option<Operation> {
    let time = ns.checked_mul(PS)?;
    Some(Operation {
        lane: cpu,
        ..Operation::compute(time)
    })
}

/// A file without ranks.
fn no_ranks(file: &str) -> Problem {
    Problem::new(file, "it has no ranks", "a graph has at least 1")
}
