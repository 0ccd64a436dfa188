//! Execution traces of machine learning: nodes that depend on each other, a file for each rank (Sridharan et al. 2023).
//!
//! Every node is one operation, in the order of the file, which need not be that of the dependencies. All files are read twice: who uses which
//! process group, and whether computations tell durations, has to be known before the first operation. What is kept of a file is where its ids
//! are, and nothing where they count up evenly.

mod files;
mod groups;
mod node;
mod operations;
mod wire;

use crate::format::FormatReader;
use crate::header::{Members, TraceForm, TraceHeader, WorkUnit};
use crate::operation::{Lists, WORLD};
use crate::problem::{Problem, ReadStop};
use crate::sink::TraceReader;
use files::{FileSet, is_et, name_and_rank};
use groups::ProcessGroups;
use node::{ChakraNode, NodeType};
use operations::{Common, LaneNumbers, is_communication, operation_of};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

/// Execution traces, as messages or as JSON.
pub struct Chakra;

/// Nodes between two looks at whether the user wants to go on.
const NODES_BETWEEN_TICKS: u64 = 4096;

impl FormatReader for Chakra {
    const NAME: &'static str = "chakra";
    const LINE: &'static str = "Chakra execution traces: graphs of computations and collectives of machine learning.";
    const FILES: &'static str =
        "one NAME.R.et of a set with a file for each rank R, or its folder; or NAME.R.json with a \"workload_graph\"";
    const LIMITS: &'static str = "names of nodes, tensors, priorities and memory are not kept. A metadata node takes no time, a load or store its \
        duration. Computations have their duration; where none of the trace has one, their num_ops, which take time at a rate that is to be \
        given, and tensor_size is not used. comm_size is what a rank gives: reduce_scatter, all_to_all and scatter cut it into a block for each \
        rank of the group, rounded up. Roots are the attribute root, else the first of the group. A collective without comm_size is a \
        computation, but for a barrier on the accelerator. involved_dim is not used: a collective has all ranks of its group, without pg_name \
        all of the trace. A group that is told nowhere has the ranks that use it. Sends and receives name ranks of the trace. Lanes: 0 \
        computations, 1 communication, 2 the processor, 3 loads and stores, and from 4 on each tid";
    const SOURCE: &'static str = "MLCommons Chakra, schema 0.0.4 to 1.0.2; ASTRA-sim 2";

    fn is_it(path: &Path, start: &[u8]) -> bool {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            let files = files::files_of(path).unwrap_or_default();
            return files.iter().any(|file| is_et(file));
        }
        let is_graph = |start: &[u8]| start.windows(16).any(|word| word == b"\"workload_graph\"");
        is_et(name) || name_and_rank(name).is_some() && is_graph(start)
    }

    fn read(path: &Path, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        let set = FileSet::of(path)?;
        reader.progress.all = set.sizes.iter().sum::<u64>().saturating_mul(2);
        let mut first = ChakraSurvey::of(&set);
        for rank in 0..set.paths.len() as u32 {
            first.file(&set, rank, reader)?;
        }
        let mut problems = Vec::new();
        first.groups.look_beside(&set, &mut problems);
        problems.into_iter().for_each(|problem| reader.problem(problem));
        let (mut header, common) = first.header(&set);
        header.communicators = first.groups.finish();
        reader.begin(&header)?;
        for rank in 0..header.ranks {
            let mut second = SecondPass {
                set: &set,
                rank,
                header: &header,
                common,
                lanes: LaneNumbers::default(),
                after: Vec::new(),
                told_dimensions: false,
            };
            second.file(&mut first, reader)?;
        }
        reader.end(&[])
    }
}

/// Where the node of an id is in its file.
#[derive(Debug)]
enum Ids {
    /// They count up from one, at equal distances: first, distance and how many.
    Even(u64, u64, u32),
    /// They are looked up by another pass.
    Other(u32),
}

impl Ids {
    fn take(&mut self, id: u64) {
        *self = match *self {
            Ids::Even(_, _, 0) => Ids::Even(id, 0, 1),
            Ids::Even(first, _, 1) if id > first => Ids::Even(first, id - first, 2),
            Ids::Even(first, apart, count)
                if first.checked_add(apart.wrapping_mul(count.into())) == Some(id) && apart > 0 =>
            {
                Ids::Even(first, apart, count + 1)
            }
            Ids::Even(_, _, count) | Ids::Other(count) => Ids::Other(count + 1),
        };
    }

    fn count(&self) -> u32 {
        match *self {
            Ids::Even(_, _, count) | Ids::Other(count) => count,
        }
    }
}

/// What has to be known before the first operation.
struct ChakraSurvey {
    groups: ProcessGroups,
    ids: Vec<Ids>,
    /// Earliest start of a node (us), 0 where none is told.
    begin: u64,
    has_durations: bool,
    has_operations: bool,
}

impl ChakraSurvey {
    fn of(set: &FileSet) -> ChakraSurvey {
        ChakraSurvey {
            groups: ProcessGroups::of(set.paths.len() as u32),
            ids: Vec::new(),
            begin: 0,
            has_durations: false,
            has_operations: false,
        }
    }

    fn file(&mut self, set: &FileSet, rank: u32, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        let mut ids = Ids::Even(0, 0, 0);
        set.nodes(rank, &mut |record, node| {
            if ids.count() == u32::MAX - 1 {
                let problem = Problem::new(
                    &set.names[rank as usize],
                    "it has more nodes than 32 bits can count",
                    "",
                );
                return Err(problem.of_rank(rank).at(record).into());
            }
            ids.take(node.id);
            if node.start > 0 && (self.begin == 0 || node.start < self.begin) {
                self.begin = node.start;
            }
            let computes = node.kind == NodeType::Compute;
            self.has_durations |= computes && node.duration > 0;
            self.has_operations |= computes && node.num_ops.is_some_and(|operations| operations > 0);
            if node.kind == NodeType::Collective && is_communication(node) {
                self.groups.used_by(&node.pg_name, rank);
            }
            if let Some(text) = &node.process_groups
                && let Err(reason) = self.groups.tell(rank, text, set.paths.len() as u32)
            {
                let hint = "tell the groups in a JSON file beside the trace";
                let problem = Problem::new(&set.names[rank as usize], reason, hint);
                reader.problem(problem.of_rank(rank).at(record));
            }
            tick(reader)
        })?;
        self.ids.push(ids);
        reader.progress.done += set.sizes[rank as usize];
        reader.tick()
    }

    fn header(&self, set: &FileSet) -> (TraceHeader, Common) {
        let mut header = TraceHeader::new(Chakra::NAME, set.paths.len() as u32, TraceForm::Graph);
        header.files = set.names.clone();
        if self.has_operations && !self.has_durations {
            header.unit = WorkUnit::Instructions;
        }
        let common = Common {
            unit: header.unit,
            begin: self.begin,
        };
        (header, common)
    }
}

/// Hands on the operations of a file.
struct SecondPass<'a> {
    set: &'a FileSet,
    rank: u32,
    header: &'a TraceHeader,
    common: Common,
    lanes: LaneNumbers,
    after: Vec<u32>,
    told_dimensions: bool,
}

impl SecondPass<'_> {
    fn file(&mut self, first: &mut ChakraSurvey, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        let ChakraSurvey { groups, ids, .. } = first;
        let ids = &ids[self.rank as usize];
        let by_id = self.numbers(ids, reader)?;
        let number = |id: u64| match *ids {
            Ids::Even(first, apart, count) => {
                let distance = id.checked_sub(first)?;
                let number = distance / apart.max(1);
                (distance % apart.max(1) == 0 && number < count.into()).then_some(number as u32)
            }
            Ids::Other(_) => by_id.get(&id).copied(),
        };
        self.set.nodes(self.rank, &mut |record, node| {
            let communicator = match node.kind {
                NodeType::Collective => groups.communicator(&node.pg_name, self.rank),
                _ => WORLD,
            };
            let size = self
                .header
                .communicators
                .get(communicator as usize)
                .map_or(0, Members::len);
            let (mut operation, wrong) = operation_of(node, self.rank, (communicator, size), self.common);
            operation.lane = self.lanes.of(node);
            if let Some(reason) = wrong {
                self.problem(reader, record, reason, "write it as the schema has it");
            }
            self.tell_dimensions(reader, record, node);
            self.after.clear();
            for id in &node.after {
                match number(*id) {
                    Some(number) => self.after.push(number),
                    None => {
                        let reason = format!("node {} depends on node {id}, which is not there", node.id);
                        self.problem(reader, record, reason, "keep the nodes that others depend on");
                    }
                }
            }
            let lists = Lists {
                after: &self.after,
                ..Lists::default()
            };
            reader.operation(self.rank, record, &operation, &lists)?;
            tick(reader)
        })?;
        reader.progress.done += self.set.sizes[self.rank as usize];
        reader.tick()
    }

    /// The numbers of nodes by their ids, where ids do not tell them.
    fn numbers(&self, ids: &Ids, reader: &mut TraceReader<'_>) -> Result<HashMap<u64, u32>, ReadStop> {
        let mut by_id = HashMap::new();
        if let Ids::Other(_) = ids {
            let mut next = 0;
            self.set.nodes(self.rank, &mut |record, node| {
                match by_id.entry(node.id) {
                    Entry::Vacant(entry) => {
                        entry.insert(next);
                    }
                    Entry::Occupied(_) => {
                        let reason = format!("node {} is there twice", node.id);
                        self.problem(reader, record, reason, "ids are unique in a file");
                    }
                }
                next += 1;
                Ok(())
            })?;
        }
        Ok(by_id)
    }

    /// Says once for each rank that dimensions of a network are not known.
    fn tell_dimensions(&mut self, reader: &mut TraceReader<'_>, record: u64, node: &ChakraNode) {
        if !self.told_dimensions && node.of_some_dimensions && is_communication(node) && node.pg_name.is_empty() {
            self.told_dimensions = true;
            let reason = format!(
                "node {} is a collective of some dimensions of a network that the trace does not tell, and is taken as one of all ranks",
                node.id
            );
            self.problem(
                reader,
                record,
                reason,
                "write the process group of such nodes as pg_name",
            );
        }
    }

    fn problem(&self, reader: &mut TraceReader<'_>, record: u64, reason: String, hint: &str) {
        let problem = Problem::new(self.header.file(self.rank), reason, hint);
        reader.problem(problem.of_rank(self.rank).at(record));
    }
}

/// Counts a node, and asks now and then whether the user wants to go on.
fn tick(reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
    reader.progress.records += 1;
    match reader.progress.records % NODES_BETWEEN_TICKS {
        0 => reader.tick(),
        _ => Ok(()),
    }
}
