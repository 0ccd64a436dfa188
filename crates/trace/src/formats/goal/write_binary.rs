//! Writes the binary file of GOAL.

use super::binary::{BASE, BEFORE_TABLE, CALC, ENTRY, MAGIC, NODE, RECV, SEND};
use super::spool::Spool;
use super::write::{Statement, Verb, broken, cannot, check_header};
use crate::header::TraceHeader;
use crate::operation::{Lists, Operation};
use crate::problem::ReadStop;
use crate::sink::TraceSink;
use std::io::Write;

/// Writes a graph as a binary file of GOAL: tell it a trace. Computations are rounded to whole nanoseconds.
pub fn write_binary<W: Write>(out: W) -> BinaryWriter<W> {
    BinaryWriter {
        out,
        spool: Spool::new(0),
        counts: Vec::new(),
        highest: (0, 0),
        rounded: 0,
    }
}

/// See [`write_binary`].
pub struct BinaryWriter<W> {
    out: W,
    /// Two lists a rank: begins of nodes, and who waits for whom.
    spool: Spool,
    counts: Vec<RankCounts>,
    /// The highest cpu and nic.
    highest: (u8, u8),
    rounded: u64,
}

/// What a rank has.
#[derive(Clone, Copy, Default)]
struct RankCounts {
    nodes: u32,
    roots: u32,
    waits: u32,
}

impl RankCounts {
    /// Bytes of the part of a rank.
    fn bytes(&self) -> u64 {
        8 + 4 * u64::from(self.roots) + NODE as u64 * u64::from(self.nodes) + 4 * u64::from(self.waits)
    }
}

/// Bytes of a node up to its lists.
const BEGIN: usize = 23;
/// Bytes of a wait: who, for whom, and whether for its start.
const WAIT: usize = 9;

impl<W> BinaryWriter<W> {
    /// Computations that were no whole number of nanoseconds.
    pub fn rounded(&self) -> u64 {
        self.rounded
    }
}

impl<W: Write> TraceSink for BinaryWriter<W> {
    fn begin(&mut self, header: &TraceHeader) -> Result<(), ReadStop> {
        check_header(header)?;
        let ranks = header.ranks as usize;
        (self.spool, self.counts) = (Spool::new(2 * ranks), vec![RankCounts::default(); ranks]);
        Ok(())
    }

    fn operation(&mut self, rank: u32, _record: u64, operation: &Operation, lists: &Lists<'_>) -> Result<(), ReadStop> {
        let statement = Statement::of(operation)?;
        self.rounded += u64::from(statement.rounded);
        self.highest = (self.highest.0.max(statement.cpu), self.highest.1.max(statement.nic));
        let counts = &mut self.counts[rank as usize];
        let number = counts.nodes;
        let too_many = || cannot(format_args!("rank {rank} has too many operations or dependencies"));
        let waits = lists.after.len() + lists.after_start.len();
        let waits = u32::try_from(waits).map_err(|_| too_many())?;
        counts.nodes = number.checked_add(1).ok_or_else(too_many)?;
        counts.roots += u32::from(waits == 0);
        counts.waits = counts.waits.checked_add(waits).ok_or_else(too_many)?;
        let begin = node_begin(&statement, waits);
        self.spool.add(2 * rank as usize, &begin).map_err(broken)?;
        for (others, started) in [(lists.after, 0), (lists.after_start, 1)] {
            for &other in others {
                if other == number {
                    return Err(cannot(format_args!(
                        "operation {number} of rank {rank} waits for itself"
                    )));
                }
                let mut wait = [started; WAIT];
                wait[..4].copy_from_slice(&number.to_le_bytes());
                wait[4..8].copy_from_slice(&other.to_le_bytes());
                self.spool.add(2 * rank as usize + 1, &wait).map_err(broken)?;
            }
        }
        Ok(())
    }

    fn end(&mut self, _names: &[String]) -> Result<(), ReadStop> {
        let mut start = Vec::new();
        start.extend(MAGIC.to_le_bytes());
        start.extend((self.counts.len() as u32).to_le_bytes());
        start.extend([self.highest.0, self.highest.1]);
        debug_assert_eq!(start.len() as u64, BASE + BEFORE_TABLE, "begins are counted so");
        let mut at = BEFORE_TABLE + ENTRY * self.counts.len() as u64;
        for counts in &self.counts {
            start.extend(at.to_le_bytes());
            at += counts.bytes();
            start.extend(at.to_le_bytes());
        }
        self.out.write_all(&start).map_err(broken)?;
        for rank in 0..self.counts.len() {
            let nodes = self.spool.take(2 * rank).map_err(broken)?;
            let waits = self.spool.take(2 * rank + 1).map_err(broken)?;
            let part = part(rank, self.counts[rank], &nodes, &waits)?;
            self.out.write_all(&part).map_err(broken)?;
        }
        self.out.flush().map_err(broken)
    }
}

/// A node up to its lists.
fn node_begin(statement: &Statement, waits: u32) -> [u8; BEGIN] {
    let mut bytes = [0; BEGIN];
    bytes[..4].copy_from_slice(&waits.to_le_bytes());
    bytes[4] = match statement.verb {
        Verb::Send => SEND,
        Verb::Recv => RECV,
        Verb::Calc => CALC,
    };
    bytes[9..17].copy_from_slice(&statement.size.to_le_bytes());
    bytes[21] = statement.cpu;
    if statement.verb != Verb::Calc {
        bytes[5..9].copy_from_slice(&statement.peer.unwrap_or(u32::MAX).to_le_bytes());
        bytes[17..21].copy_from_slice(&statement.tag.unwrap_or(u32::MAX).to_le_bytes());
        bytes[22] = statement.nic;
    }
    bytes
}

/// The part of a rank: its numbers, roots, nodes and appendix.
fn part(rank: usize, counts: RankCounts, nodes: &[u8], waits: &[u8]) -> Result<Vec<u8>, ReadStop> {
    let n = counts.nodes as usize;
    let number = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    // Those that wait for the end of a node, then those that wait for its start: two lists a node, by counting.
    let list_of = |wait: &[u8]| 2 * number(&wait[4..]) as usize + usize::from(wait[8]);
    let mut begins = vec![0_u32; 2 * n + 1];
    for wait in waits.chunks_exact(WAIT) {
        let Some(begin) = begins.get_mut(list_of(wait) + 1) else {
            let last = number(&wait[4..]);
            return Err(cannot(format_args!(
                "rank {rank} waits for operation {last}, which is not there"
            )));
        };
        *begin += 1;
    }
    for i in 0..2 * n {
        begins[i + 1] += begins[i];
    }
    let mut appendix = vec![0; 4 * counts.waits as usize];
    let mut next = begins.clone();
    for wait in waits.chunks_exact(WAIT) {
        let place = &mut next[list_of(wait)];
        let at = 4 * *place as usize;
        appendix[at..at + 4].copy_from_slice(&wait[..4]);
        *place += 1;
    }
    let mut part = Vec::with_capacity(counts.bytes() as usize);
    part.extend(counts.nodes.to_le_bytes());
    part.extend(counts.roots.to_le_bytes());
    for (node, begin) in (0_u32..).zip(nodes.chunks_exact(BEGIN)) {
        if number(begin) == 0 {
            part.extend(node.to_le_bytes());
        }
    }
    for (node, begin) in nodes.chunks_exact(BEGIN).enumerate() {
        part.extend(begin);
        for list in [2 * node, 2 * node + 1] {
            part.extend((begins[list + 1] - begins[list]).to_le_bytes());
            part.extend(begins[list].to_le_bytes());
        }
    }
    part.extend(&appendix);
    debug_assert_eq!(part.len() as u64, counts.bytes(), "places of parts are told so");
    Ok(part)
}
