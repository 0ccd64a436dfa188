//! `pattern = "trace"`: memory nodes do what programs did.
//!
//! A trace is read in one pass ([`recording`]) and never held as text. Which access a core gives out next is found by counting: its process
//! plays the first accesses of a file, the split says which of them are the core's, and a table says where their pages lie.

mod format;
pub mod lackey;
pub mod recording;
#[cfg(test)]
mod tests;

use super::patterns::Wanted;
use super::spec::{Memory, Pages, Split, Trace as Spec, TraceFile};
use des::HORIZON;
pub use format::{TraceFormat, read};
use recording::{MOST_IN_MEMORY, MOST_PAGES, Reading, Recording};
use std::path::Path;
use std::sync::Arc;

/// Why a trace cannot be played: the key, the reason, what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceMisfit {
    /// Key of the work.
    pub key: &'static str,
    /// What is wrong.
    pub reason: String,
    /// What to do.
    pub hint: &'static str,
}

/// How the files of a job are read.
pub fn reading(spec: &Spec, memory: &Memory) -> Reading {
    Reading {
        line: memory.line.0,
        lines_per_page: spec.page.0 / memory.line.0,
        instructions: spec.instructions,
        most: spec.most,
    }
}

/// Accesses of a file that `n_cores` cores need, when each has at most so many.
pub fn most(spec: &Spec, accesses: u64, n_cores: u64) -> u64 {
    let members = n_cores.div_ceil(spec.processes.into());
    length(spec.split, accesses, members, super::spec::MOST_ACCESSES)
}

/// Accesses of a process whose cores have at most so many each, of a file with `all`.
fn length(split: Split, accesses: u64, members: u64, all: u64) -> u64 {
    let cores = match split {
        Split::OneCore => 1,
        Split::RoundRobin { .. } | Split::Blocks => members,
    };
    accesses.saturating_mul(cores).min(all)
}

/// Whether lines, pages, files and processes fit each other.
///
/// # Errors
/// Says which key is wrong and why.
pub fn fits(spec: &Spec, files: usize, memory: &Memory, n_cores: Option<u64>) -> Result<(), TraceMisfit> {
    let misfit = |key, reason, hint| Err(TraceMisfit { key, reason, hint });
    let (page, processes) = (spec.page.0, u64::from(spec.processes));
    if page == 0 || !page.is_multiple_of(memory.line.0) {
        let reason = format!("{page} B are no whole number of lines of {} B", memory.line.0);
        return misfit("page", reason, "take a multiple of the line");
    }
    if !memory.memory.0.is_multiple_of(page) {
        let reason = format!("{} B are no whole number of pages of {page} B", memory.memory.0);
        return misfit("memory", reason, "take a multiple of the page");
    }
    if processes < files as u64 {
        let reason = format!("{files} traces are more than {processes} processes, each of which plays one");
        return misfit("processes", reason, "take more processes, or fewer traces");
    }
    match n_cores {
        Some(n_cores) if n_cores < processes => {
            let key = if processes > files as u64 { "processes" } else { "trace" };
            let reason = format!("{processes} processes do not fit, there are {n_cores} cores");
            misfit(key, reason, "take fewer processes, or more nodes or cores")
        }
        _ => Ok(()),
    }
}

/// Programs that the cores of memory nodes play.
#[derive(Debug)]
pub struct Trace {
    split: Split,
    lines_per_page: u64,
    /// Least time between two accesses of a core, and of an instruction (ps).
    issue: u64,
    recordings: Vec<Arc<Recording>>,
    processes: Vec<Process>,
    /// By core: process and place among its cores.
    seats: Vec<(u32, u32)>,
    /// Page tables, process by process: where the pages of its file lie.
    tables: Vec<u64>,
}

/// An address space with the cores that play it.
#[derive(Clone, Copy, Debug)]
struct Process {
    members: u32,
    /// Accesses.
    length: u64,
    /// Where its page table begins.
    table: usize,
}

impl Trace {
    /// Reads the files of a job on so many nodes.
    ///
    /// # Errors
    /// Says which file is not what it was when the study was read, or what does not fit.
    pub fn open(spec: &Spec, memory: &Memory, nodes: u32) -> Result<Trace, String> {
        let n_cores = u64::from(nodes) * u64::from(memory.cores);
        fits(spec, spec.files.len(), memory, Some(n_cores)).map_err(|misfit| misfit.words())?;
        let reading = reading(spec, memory);
        let open = |file: &TraceFile| {
            let read = read(Path::new(&file.path), &file.path, &reading, Some(MOST_IN_MEMORY));
            match read {
                Ok(recording) if recording.sha256 == file.sha256 => Ok(Arc::new(recording)),
                Ok(_) => Err(format!(
                    "{}: it is not what it was when the study was read; read the study again",
                    file.path
                )),
                Err(mistake) => Err(format!("{}; {}", mistake.reason, mistake.hint)),
            }
        };
        let recordings = spec.files.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        Trace::new(spec, memory, nodes, recordings).map_err(|misfit| misfit.words())
    }

    /// Deals recordings to the cores of so many nodes; needs that [`fits`] was fine with them.
    pub fn new(
        spec: &Spec,
        memory: &Memory,
        nodes: u32,
        recordings: Vec<Arc<Recording>>,
    ) -> Result<Trace, TraceMisfit> {
        let (n_nodes, n_cores) = (u64::from(nodes), u64::from(nodes) * u64::from(memory.cores));
        // Processes go round the nodes, and then round the cores of the nodes.
        let mut members = vec![Vec::new(); spec.processes as usize];
        let mut seats = Vec::with_capacity(n_cores as usize);
        for core in 0..n_cores {
            let (node, own) = (core / u64::from(memory.cores), core % u64::from(memory.cores));
            let process = (own * n_nodes + node) % u64::from(spec.processes);
            let cores = &mut members[process as usize];
            seats.push((process as u32, cores.len() as u32));
            cores.push(core);
        }
        let mut frames = Frames::new(spec, memory, nodes);
        let (mut processes, mut tables) = (Vec::with_capacity(members.len()), Vec::new());
        for (process, cores) in members.iter().enumerate() {
            let recording = &recordings[process % recordings.len()];
            let n = cores.len() as u64;
            let length = length(spec.split, memory.accesses, n, recording.accesses);
            processes.push(Process {
                members: n as u32,
                length,
                table: tables.len(),
            });
            let touched = recording.first.partition_point(|first| *first < length);
            if tables.len() + touched > MOST_PAGES {
                return Err(TraceMisfit {
                    key: "page",
                    reason: format!("processes use more than {MOST_PAGES} pages"),
                    hint: "take larger pages, or fewer processes",
                });
            }
            for first in &recording.first[..touched] {
                let core = cores[member(spec.split, *first, length, n) as usize];
                let node = core / u64::from(memory.cores);
                tables.push(frames.take(node as u32)?);
            }
        }
        Ok(Trace {
            split: spec.split,
            lines_per_page: spec.page.0 / memory.line.0,
            issue: memory.issue.0,
            recordings,
            processes,
            seats,
            tables,
        })
    }

    /// Accesses of a core, by its number among all cores.
    pub fn accesses(&self, core: u64) -> u64 {
        let (process, member) = self.seats[core as usize];
        let Process { members, length, .. } = self.processes[process as usize];
        share(self.split, member.into(), length, members.into())
    }

    /// Access `k` of a core.
    pub fn access(&self, core: u64, k: u64) -> Wanted {
        let record = self.record(core, k);
        let (process, _) = self.seats[core as usize];
        let (page, line) = (record.line / self.lines_per_page, record.line % self.lines_per_page);
        let table = self.processes[process as usize].table;
        // The instructions before a core's first access take their time, too.
        let before = self.issue.saturating_mul(record.pause.saturating_sub(1));
        Wanted {
            line: self.tables[table + page as usize] * self.lines_per_page + line,
            store: record.store,
            at: if k == 0 { before.min(HORIZON.0 - 1) } else { 0 },
        }
    }

    /// Least time between access `k` of a core and the one before it (ps).
    pub fn pause(&self, core: u64, k: u64) -> u64 {
        self.issue
            .saturating_mul(self.record(core, k).pause.max(1))
            .min(HORIZON.0)
    }

    fn record(&self, core: u64, k: u64) -> recording::RecordedAccess {
        let (process, member) = self.seats[core as usize];
        let Process { members, length, .. } = self.processes[process as usize];
        let index = place(self.split, member.into(), k, length, members.into());
        self.recordings[process as usize % self.recordings.len()].get(index)
    }
}

impl TraceMisfit {
    fn words(&self) -> String {
        format!("{}: {}; {}", self.key, self.reason, self.hint)
    }
}

/// Accesses of member `member` of a process of `length` accesses.
fn share(split: Split, member: u64, length: u64, members: u64) -> u64 {
    match split {
        Split::RoundRobin { chunk } => {
            let round = chunk.saturating_mul(members);
            let rest = (length % round).saturating_sub(member.saturating_mul(chunk));
            length / round * chunk + rest.min(chunk)
        }
        Split::Blocks => block(member + 1, length, members) - block(member, length, members),
        Split::OneCore => length * u64::from(member == 0),
    }
}

/// The place in the process of access `k` of a member.
#[inline(always)]
fn place(split: Split, member: u64, k: u64, length: u64, members: u64) -> u64 {
    match split {
        // One chunk or more after the first: then chunks are no longer than the trace.
        Split::RoundRobin { chunk } => (k / chunk * members + member) * chunk + k % chunk,
        Split::Blocks => block(member, length, members) + k,
        Split::OneCore => k,
    }
}

/// The member that has the access at a place.
fn member(split: Split, place: u64, length: u64, members: u64) -> u64 {
    match split {
        Split::RoundRobin { chunk } => place / chunk % members,
        Split::Blocks => {
            let beyond = u128::from(place + 1) * u128::from(members);
            (beyond.div_ceil(u128::from(length)) - 1) as u64
        }
        Split::OneCore => 0,
    }
}

/// Where the piece of a member begins.
fn block(member: u64, length: u64, members: u64) -> u64 {
    (u128::from(length) * u128::from(member) / u128::from(members)) as u64
}

/// Page frames of all nodes, as they are taken.
struct Frames {
    pages: Pages,
    nodes: u64,
    /// Frames of a node.
    each: u64,
    /// Frames taken, in all and, for pages that are taken where they are touched, by node.
    taken: u64,
    of: Vec<u64>,
    /// The nearest node behind a node that may have room.
    next: Vec<u32>,
}

impl Frames {
    fn new(spec: &Spec, memory: &Memory, nodes: u32) -> Frames {
        let by_touch = spec.pages == Pages::FirstTouch && !memory.interleaved;
        let n = if by_touch { nodes } else { 0 };
        Frames {
            pages: if memory.interleaved { Pages::Packed } else { spec.pages },
            nodes: nodes.into(),
            each: memory.memory.0 / spec.page.0,
            taken: 0,
            of: vec![0; n as usize],
            next: (1..=n).map(|node| node % nodes).collect(),
        }
    }

    /// The frame of a page that `node` touches first.
    fn take(&mut self, node: u32) -> Result<u64, TraceMisfit> {
        let number = self.taken;
        if number == self.each * self.nodes {
            return Err(TraceMisfit {
                key: "memory",
                reason: format!("processes use more than the {number} pages that the memory of all nodes has"),
                hint: "give nodes more memory, or take more nodes, fewer processes or fewer accesses",
            });
        }
        self.taken += 1;
        Ok(match self.pages {
            Pages::Packed => number,
            Pages::Interleaved => number % self.nodes * self.each + number / self.nodes,
            Pages::FirstTouch => {
                let (mut at, mut full) = (node as usize, node as usize);
                while self.of[at] == self.each {
                    at = self.next[at] as usize;
                }
                // Full nodes are jumped over the next time.
                while full != at {
                    full = std::mem::replace(&mut self.next[full], at as u32) as usize;
                }
                self.of[at] += 1;
                at as u64 * self.each + self.of[at] - 1
            }
        })
    }
}
