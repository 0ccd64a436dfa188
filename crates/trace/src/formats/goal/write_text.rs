//! Writes the text of GOAL.

use super::spool::Spool;
use super::write::{Statement, Verb, broken, cannot, check_header};
use crate::header::TraceHeader;
use crate::operation::{Lists, Operation};
use crate::problem::ReadStop;
use crate::sink::TraceSink;
use std::io::Write;

/// Writes a graph as GOAL text: tell it a trace. Computations are rounded to whole nanoseconds.
pub fn write_text<W: Write>(out: W) -> TextWriter<W> {
    TextWriter {
        out,
        spool: Spool::new(0),
        counts: Vec::new(),
        latest: Vec::new(),
        rounded: 0,
        line: Vec::new(),
    }
}

/// See [`write_text`].
pub struct TextWriter<W> {
    out: W,
    /// Two lists a rank: statements in order, and dependencies on operations that come later.
    spool: Spool,
    /// Operations of each rank.
    counts: Vec<u32>,
    /// The end of those that each rank waits for.
    latest: Vec<u32>,
    rounded: u64,
    line: Vec<u8>,
}

impl<W> TextWriter<W> {
    /// Computations that were no whole number of nanoseconds.
    pub fn rounded(&self) -> u64 {
        self.rounded
    }

    fn dependencies(&mut self, rank: u32, number: u32, others: &[u32], word: &str) -> Result<(), ReadStop> {
        for &other in others {
            if other == number {
                return Err(cannot(format_args!(
                    "operation {number} of rank {rank} waits for itself"
                )));
            }
            self.line.clear();
            // Labels count from 1, as in the files of LogGOPSim.
            let (label, other_label) = (u64::from(number) + 1, u64::from(other) + 1);
            writeln!(self.line, "l{label} {word} l{other_label}").map_err(broken)?;
            // A label has to stand before what names it.
            let list = 2 * rank as usize + usize::from(other > number);
            self.spool.add(list, &self.line).map_err(broken)?;
            let latest = &mut self.latest[rank as usize];
            *latest = (*latest).max(other.saturating_add(1));
        }
        Ok(())
    }
}

/// Writes a statement without its label.
fn write_statement(line: &mut Vec<u8>, statement: &Statement) -> std::io::Result<()> {
    let Statement { verb, size, .. } = *statement;
    let towards = match verb {
        Verb::Calc => {
            write!(line, "calc {size}")?;
            if statement.cpu > 0 {
                write!(line, " cpu {}", statement.cpu)?;
            }
            return writeln!(line);
        }
        Verb::Send => "to",
        Verb::Recv => "from",
    };
    let word = if verb == Verb::Send { "send" } else { "recv" };
    let [peer, tag] = [statement.peer, statement.tag].map(|number| number.map_or(-1, i64::from));
    write!(line, "{word} {size}b {towards} {peer} tag {tag}")?;
    for (name, number) in [("cpu", statement.cpu), ("nic", statement.nic)] {
        if number > 0 {
            write!(line, " {name} {number}")?;
        }
    }
    writeln!(line)
}

impl<W: Write> TraceSink for TextWriter<W> {
    fn begin(&mut self, header: &TraceHeader) -> Result<(), ReadStop> {
        check_header(header)?;
        let ranks = header.ranks as usize;
        self.spool = Spool::new(2 * ranks);
        (self.counts, self.latest) = (vec![0; ranks], vec![0; ranks]);
        Ok(())
    }

    fn operation(&mut self, rank: u32, _record: u64, operation: &Operation, lists: &Lists<'_>) -> Result<(), ReadStop> {
        let statement = Statement::of(operation)?;
        self.rounded += u64::from(statement.rounded);
        let number = self.counts[rank as usize];
        let next = number
            .checked_add(1)
            .ok_or_else(|| cannot("a rank has too many operations"))?;
        self.counts[rank as usize] = next;
        self.line.clear();
        write!(self.line, "l{next}: ").map_err(broken)?;
        write_statement(&mut self.line, &statement).map_err(broken)?;
        self.spool.add(2 * rank as usize, &self.line).map_err(broken)?;
        self.dependencies(rank, number, lists.after, "requires")?;
        self.dependencies(rank, number, lists.after_start, "irequires")
    }

    fn end(&mut self, _names: &[String]) -> Result<(), ReadStop> {
        writeln!(self.out, "num_ranks {}", self.counts.len()).map_err(broken)?;
        for rank in 0..self.counts.len() {
            if self.latest[rank] > self.counts[rank] {
                let last = self.latest[rank] - 1;
                return Err(cannot(format_args!(
                    "rank {rank} waits for operation {last}, which is not there"
                )));
            }
            write!(self.out, "\nrank {rank} {{\n").map_err(broken)?;
            for list in [2 * rank, 2 * rank + 1] {
                let text = self.spool.take(list).map_err(broken)?;
                self.out.write_all(&text).map_err(broken)?;
            }
            writeln!(self.out, "}}").map_err(broken)?;
        }
        self.out.flush().map_err(broken)
    }
}
