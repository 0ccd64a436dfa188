//! Reads the binary file of GOAL, rank by rank.
//!
//! All numbers are little-endian. The number 4223 (64 bits), the number of ranks (32), the highest cpu and nic (8 each), then begin and end (64 each)
//! of the part of each rank, counted from byte 8. A part has the numbers of its nodes and of its roots (32 each), the roots (32 each), the
//! nodes ([`NODE`] bytes each) and the appendix (32 each), whose entries are nodes that wait.

use super::{DIALECT, calc, no_ranks};
use crate::graph::RankGraph;
use crate::header::{TraceForm, TraceHeader};
use crate::operation::{ANY_SOURCE, Kind, Operation};
use crate::problem::{Problem, ReadStop};
use crate::sink::TraceReader;
use std::io::Read;
use std::path::Path;

/// What a file begins with.
pub(super) const MAGIC: u64 = 4223;
/// Bytes of a node.
pub(super) const NODE: usize = 39;
/// Bytes from which begins and ends of parts are counted.
pub(super) const BASE: u64 = 8;
/// Bytes behind the base before the table of parts.
pub(super) const BEFORE_TABLE: u64 = 6;
/// Bytes of an entry of the table of parts.
pub(super) const ENTRY: u64 = 16;
/// Numbers of operations in nodes.
pub(super) const SEND: u8 = 1;
pub(super) const RECV: u8 = 2;
pub(super) const CALC: u8 = 3;

/// Reads it all. Ranks come in the order of their parts in the file, which therefore may be packed.
///
/// # Errors
/// A file that cannot be read on, and what the reader says.
pub(super) fn read(path: &Path, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
    let file = path.display().to_string();
    let cannot = |error: std::io::Error| Problem::unreadable(&file, &error);
    let (source, packing) = crate::packed::open(path).map_err(cannot)?;
    if packing == "plain" {
        reader.progress.all = std::fs::metadata(path).map_err(cannot)?.len();
    }
    let mut parts = PartsFile { file, source, at: 0 };
    let ranks = parts.ranks()?;
    let table = parts.table(ranks)?;
    let mut header = TraceHeader::new("goal-binary", ranks, TraceForm::Graph);
    header.files.push(parts.file.clone());
    reader.begin(&header)?;
    let mut graph = RankGraph::default();
    let mut bytes = Vec::new();
    for PartPlace { begin, end, rank } in table {
        parts.skip_to(begin, rank)?;
        bytes.clear();
        let name = format!("the part of rank {rank}");
        parts.take(end - begin, &mut bytes, &name)?;
        // A rank that does nothing may have no part at all.
        if !bytes.is_empty() {
            let part = RankPart::new(&parts.file, rank, &bytes)?;
            part.read(&mut graph, reader)?;
            part.check_waits(reader)?;
        }
        reader.progress.records += u64::from(graph.len());
        graph.tell(rank, reader)?;
        reader.progress.done = parts.at;
        reader.tick()?;
    }
    reader.end(&[])
}

/// The part of a rank in the file.
struct PartPlace {
    begin: u64,
    end: u64,
    rank: u32,
}

/// A file that is read from its begin to its end.
struct PartsFile {
    file: String,
    source: Box<dyn Read>,
    /// Bytes that have been read.
    at: u64,
}

impl PartsFile {
    fn problem(&self, reason: impl Into<String>) -> Problem {
        Problem::new(&self.file, reason, format!("was it cut or damaged? {DIALECT}"))
    }

    /// Takes so many bytes more; memory grows with what there is, not with what is told.
    fn take(&mut self, n: u64, into: &mut Vec<u8>, name: &str) -> Result<(), ReadStop> {
        let got = (&mut self.source).take(n).read_to_end(into);
        let got = got.map_err(|error| self.problem(format!("it cannot be read on: {error}")))? as u64;
        self.at += got;
        match got == n {
            true => Ok(()),
            false => Err(self.problem(format!("it ends within {name}")).into()),
        }
    }

    /// Skips what lies before a part.
    fn skip_to(&mut self, begin: u64, rank: u32) -> Result<(), ReadStop> {
        let n = begin - self.at;
        let skipped = std::io::copy(&mut (&mut self.source).take(n), &mut std::io::sink());
        let skipped = skipped.map_err(|error| self.problem(format!("it cannot be read on: {error}")))?;
        self.at += skipped;
        match skipped == n {
            true => Ok(()),
            false => Err(self.problem(format!("it ends before the part of rank {rank}")).into()),
        }
    }

    /// Reads up to the number of ranks and what follows it.
    fn ranks(&mut self) -> Result<u32, ReadStop> {
        let mut start = Vec::new();
        self.take(BASE + BEFORE_TABLE, &mut start, "its first numbers")?;
        if u64::from_le_bytes(array(&start)) != MAGIC {
            return Err(self.problem(format!("it does not begin with {MAGIC}")).into());
        }
        match u32::from_le_bytes(array(&start[BASE as usize..])) {
            0 => Err(no_ranks(&self.file).into()),
            // The last numbers mean any rank and none.
            ranks if ranks < ANY_SOURCE => Ok(ranks),
            ranks => Err(self.problem(format!("{ranks} ranks are too many")).into()),
        }
    }

    /// Reads the places of all parts; in the order of the file.
    fn table(&mut self, ranks: u32) -> Result<Vec<PartPlace>, ReadStop> {
        let mut bytes = Vec::new();
        self.take(u64::from(ranks) * ENTRY, &mut bytes, "the table of its parts")?;
        let mut places = Vec::with_capacity(ranks as usize);
        for (rank, entry) in (0..).zip(bytes.chunks_exact(ENTRY as usize)) {
            let numbers = [&entry[..8], &entry[8..]].map(|number| u64::from_le_bytes(array(number)).checked_add(BASE));
            let [Some(begin), Some(end)] = numbers else {
                return Err(self.problem("its part lies behind every file").of_rank(rank).into());
            };
            if end < begin || begin < self.at && end > begin {
                let reason = format!("its part goes from byte {begin} to byte {end}");
                return Err(self.problem(reason).of_rank(rank).into());
            }
            // Where a part without bytes lies does not matter.
            let place = if begin == end { self.at } else { begin };
            places.push(PartPlace {
                begin: place,
                end: place + (end - begin),
                rank,
            });
        }
        places.sort_unstable_by_key(|place| (place.begin, place.end, place.rank));
        for pair in places.windows(2) {
            if pair[1].begin < pair[0].end {
                let reason = format!("its part overlaps with that of rank {}", pair[0].rank);
                return Err(self.problem(reason).of_rank(pair[1].rank).into());
            }
        }
        Ok(places)
    }
}

/// The first bytes of a slice that has them.
fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[..N]);
    array
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(array(bytes))
}

/// The part of a rank, whose pieces have the lengths that it tells.
struct RankPart<'a> {
    file: &'a str,
    rank: u32,
    roots: &'a [u8],
    nodes: &'a [u8],
    appendix: &'a [u8],
}

impl<'a> RankPart<'a> {
    fn new(file: &'a str, rank: u32, bytes: &'a [u8]) -> Result<RankPart<'a>, ReadStop> {
        let cut = |at: usize, length: u64| {
            let rest = &bytes[at.min(bytes.len())..];
            usize::try_from(length)
                .ok()
                .and_then(|length| rest.split_at_checked(length))
        };
        let pieces = cut(0, 8).and_then(|(numbers, _)| {
            let (nodes, roots) = (u64::from(number(numbers)), u64::from(number(&numbers[4..])));
            let (roots, rest) = cut(8, 4 * roots)?;
            let length = usize::try_from(nodes * NODE as u64).ok()?;
            let (nodes, appendix) = rest.split_at_checked(length)?;
            (appendix.len() % 4 == 0).then_some((roots, nodes, appendix))
        });
        let Some((roots, nodes, appendix)) = pieces else {
            let reason = format!("its part of {} bytes is too short for what it is to have", bytes.len());
            let hint = format!("was it damaged? {DIALECT}");
            return Err(Problem::new(file, reason, hint).of_rank(rank).into());
        };
        Ok(RankPart {
            file,
            rank,
            roots,
            nodes,
            appendix,
        })
    }

    fn problem(&self, node: u32, reason: impl Into<String>, hint: impl Into<String>) -> Problem {
        Problem::new(self.file, reason, hint).of_rank(self.rank).at(node.into())
    }

    fn n_nodes(&self) -> u32 {
        (self.nodes.len() / NODE) as u32
    }

    /// Reads the nodes, and who waits for them.
    fn read(&self, graph: &mut RankGraph, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        // Nodes that share pieces of the appendix could make long work of a short file.
        let mut left = self.appendix.len() as u64 / 4;
        for (node, bytes) in (0_u32..).zip(self.nodes.chunks_exact(NODE)) {
            if node.is_multiple_of(1 << 16) {
                reader.tick()?;
            }
            let operation = self.operation(node, bytes, reader)?;
            graph.push(operation, node.into())?;
            let lists = [23, 31].map(|at| (u64::from(number(&bytes[at..])), u64::from(number(&bytes[at + 4..]))));
            for ((length, begin), started) in lists.into_iter().zip([false, true]) {
                if length == 0 {
                    continue;
                }
                let (first, last) = (4 * begin, 4 * (begin + length));
                let list = (length <= left && last <= self.appendix.len() as u64)
                    .then(|| &self.appendix[first as usize..last as usize]);
                let Some(list) = list else {
                    let reason =
                        format!("those that wait for it are {length} from entry {begin} on, which are not there");
                    return Err(self.problem(node, reason, "was the file damaged?").into());
                };
                left -= length;
                for waiting in list.chunks_exact(4).map(number) {
                    match waiting {
                        _ if waiting >= self.n_nodes() => {
                            let reason = format!("operation {waiting} waits for it, there are {}", self.n_nodes());
                            return Err(self.problem(node, reason, "was the file damaged?").into());
                        }
                        _ if waiting == node => {
                            let hint = "it would never start";
                            reader.problem(self.problem(node, "an operation waits for itself", hint));
                        }
                        _ if started => graph.after_start(waiting, node),
                        _ => graph.after(waiting, node),
                    }
                }
            }
        }
        Ok(())
    }

    /// The operation of a node.
    fn operation(&self, node: u32, bytes: &[u8], reader: &mut TraceReader<'_>) -> Result<Operation, ReadStop> {
        let size = u64::from_le_bytes(array(&bytes[9..]));
        let (cpu, nic) = (bytes[21], bytes[22]);
        let kind = match bytes[4] {
            SEND => Kind::Send,
            RECV => Kind::Recv,
            CALC => {
                return Ok(calc(size, cpu).unwrap_or_else(|| {
                    let hint = "a computation takes less than 213 days";
                    reader.problem(self.problem(node, format!("{size} ns are too long"), hint));
                    Operation::compute(u64::MAX)
                }));
            }
            other => {
                let hint = format!("1 is a send, 2 a receive, 3 a computation: was it damaged? {DIALECT}");
                return Err(self
                    .problem(node, format!("there is no operation of type {other}"), hint)
                    .into());
            }
        };
        let peer = match number(&bytes[5..]) {
            u32::MAX => ANY_SOURCE,
            // Which would be taken for any.
            ANY_SOURCE => u32::MAX,
            peer => peer,
        };
        // Whether there is that rank is for whoever checks the trace.
        Ok(Operation {
            lane: cpu,
            nic,
            ..Operation::message(kind, peer, size, number(&bytes[17..]))
        })
    }

    /// Tells where the numbers of dependencies and the roots are not those of the lists: other readers start operations by them.
    fn check_waits(&self, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        let mut found = vec![0_u64; self.n_nodes() as usize];
        for bytes in self.nodes.chunks_exact(NODE) {
            for at in [23, 31] {
                let (length, begin) = (number(&bytes[at..]) as usize, number(&bytes[at + 4..]) as usize);
                if length > 0 {
                    let list = &self.appendix[4 * begin..4 * (begin + length)];
                    list.chunks_exact(4)
                        .for_each(|waiting| found[number(waiting) as usize] += 1);
                }
            }
        }
        for ((node, bytes), found) in (0..).zip(self.nodes.chunks_exact(NODE)).zip(&found) {
            let told = u64::from(number(bytes));
            if told != *found {
                let reason = format!("it is to wait for {told} others, {found} name it");
                reader.problem(self.problem(node, reason, "was the file damaged?"));
            }
        }
        let mut is_root = vec![false; found.len()];
        for root in self.roots.chunks_exact(4).map(number) {
            match is_root.get_mut(root as usize) {
                Some(root) => *root = true,
                None => {
                    let reason = format!("it is listed to start at once, there are {} operations", found.len());
                    return Err(self.problem(root, reason, "was the file damaged?").into());
                }
            }
        }
        for ((node, found), is_root) in (0..).zip(found).zip(is_root) {
            if (found == 0) != is_root {
                let not = if is_root { "" } else { "not " };
                let reason = format!("it waits for {found} others and is {not}listed to start at once");
                reader.problem(self.problem(node, reason, "was the file damaged?"));
            }
        }
        Ok(())
    }
}
