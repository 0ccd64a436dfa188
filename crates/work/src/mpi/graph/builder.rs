//! Makes a graph of operations that come rank by rank or by turns, with the operations that each waits for.

use super::{Doing, Extent, GraphOp, MOST_OPERATIONS, NO_LANE, OperationGraph, RECV, SEND};
use crate::kept::RecordKeeper;
use crate::mpi::op::{ANY_SIZE, ANY_SOURCE, ANY_TAG, Collective, CollectiveKind};
use crate::mpi::{Communicator, LARGEST};
use std::fmt;

/// Operations, and dependencies, up to here stay in memory: 64 MiB of operations.
const MOST_IN_MEMORY: usize = 1 << 21;
/// Most bytes of all blocks of a collective.
const LARGEST_VECTOR: u64 = 1 << 62;
/// Messages of a rank for each of its lists.
const MESSAGES_PER_LIST: u32 = 8;
/// Lists of ranks with collectives, at most, for the messages of these.
const MOST_FOR_COLLECTIVES: u32 = 64;

/// What is wrong with a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationMistake {
    /// The rank.
    pub rank: u32,
    /// Its operation, by number.
    pub operation: u32,
    /// What is wrong.
    pub reason: String,
    /// What to do.
    pub hint: String,
}

impl fmt::Display for OperationMistake {
    /// `rank 3, operation 17: reason; hint`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OperationMistake {
            rank,
            operation,
            reason,
            hint,
        } = self;
        write!(f, "rank {rank}, operation {operation}: {reason}")?;
        match hint.is_empty() {
            true => Ok(()),
            false => write!(f, "; {hint}"),
        }
    }
}

/// Makes a [`OperationGraph`].
///
/// ```
/// use work::graph::{Doing, GraphBuilder};
/// use work::mpi::Communicator;
/// let mut graph = GraphBuilder::new(vec![Communicator::World(2)]);
/// let first = graph.add(0, Doing::Compute(1_000), 0, &[], &[])?;
/// let send = Doing::Send { peer: 1, bytes: 8, tag: 0, communicator: 0 };
/// graph.add(0, send, 0, &[first], &[])?;
/// graph.add(1, Doing::Recv { peer: 0, bytes: 8, tag: 0, communicator: 0 }, 0, &[], &[])?;
/// let graph = graph.finish()?;
/// assert_eq!((graph.ranks(), graph.operations(), graph.dependencies()), (2, 3, 1));
/// # Ok::<(), work::graph::OperationMistake>(())
/// ```
#[derive(Debug)]
pub struct GraphBuilder {
    communicators: Vec<Communicator>,
    ranks: Vec<RankBuilder>,
    keep: usize,
    scratch: Vec<u32>,
    /// Collectives have numbers already.
    numbered: bool,
}

/// What is known of a rank so far.
#[derive(Clone, Debug, Default)]
struct RankBuilder {
    operations: Vec<GraphOp>,
    /// The operation that is waited for, twice its number, one more for its start; and the one that waits.
    edges: Vec<(u64, u32)>,
}

impl GraphBuilder {
    /// For the ranks of the first of these communicators.
    pub fn new(communicators: Vec<Communicator>) -> GraphBuilder {
        let ranks = communicators.first().map_or(0, |all| all.size(0));
        GraphBuilder {
            communicators,
            ranks: vec![RankBuilder::default(); ranks as usize],
            keep: MOST_IN_MEMORY,
            scratch: Vec::new(),
            numbered: false,
        }
    }

    /// Keeps fewer than `keep` operations and dependencies in memory, and more in files.
    pub fn keep_in_memory(self, keep: usize) -> GraphBuilder {
        GraphBuilder { keep, ..self }
    }

    /// Adds an operation of a rank on a lane, with those that have to have ended before it starts, and those that have to have started: by
    /// their numbers, which count the operations of the rank from 0 and may be those of later ones. Returns its own.
    ///
    /// # Errors
    /// A rank, peer, tag, communicator, size or root that cannot be; an operation too many.
    pub fn add(
        &mut self,
        rank: u32,
        doing: Doing,
        lane: u16,
        after: &[u32],
        after_start: &[u32],
    ) -> Result<u32, OperationMistake> {
        let n_ranks = self.ranks.len() as u32;
        let operation = self.ranks.get(rank as usize).map_or(0, |rank| rank.operations.len());
        let operation = operation as u32;
        let mistake = |(reason, hint): (String, String)| OperationMistake {
            rank,
            operation,
            reason,
            hint,
        };
        if rank >= n_ranks {
            let hint = match n_ranks {
                0 => "the graph has no ranks".to_owned(),
                _ => format!("ranks are 0..={}", n_ranks - 1),
            };
            return Err(mistake((format!("there is no rank {rank}"), hint)));
        }
        if lane != NO_LANE && lane > u8::MAX.into() {
            let hint = "lanes are 0..=255, or none".to_owned();
            return Err(mistake((format!("there is no lane {lane}"), hint)));
        }
        if operation >= MOST_OPERATIONS {
            let hint = "cut the graph into parts".to_owned();
            return Err(mistake((
                format!("a rank has more than {MOST_OPERATIONS} operations"),
                hint,
            )));
        }
        check(&doing, rank, n_ranks, &self.communicators).map_err(mistake)?;
        let own = &mut self.ranks[rank as usize];
        let mut predecessors = 0;
        for (list, of_start) in [(after, 0), (after_start, 1)] {
            // Said twice is said once.
            self.scratch.clear();
            self.scratch.extend_from_slice(list);
            self.scratch.sort_unstable();
            self.scratch.dedup();
            predecessors += self.scratch.len();
            let edges = self.scratch.iter();
            own.edges
                .extend(edges.map(|&before| (2 * u64::from(before) + of_start, operation)));
        }
        own.operations.push(GraphOp {
            predecessors: predecessors as u32,
            ..GraphOp::new(doing, lane, 0)
        });
        Ok(operation)
    }

    /// Numbers the last operation of a rank, a collective, among those of its communicator; all of them are to be numbered then.
    pub(crate) fn number_last(&mut self, rank: u32, number: u64) {
        self.numbered = true;
        if let Some(last) = self.ranks[rank as usize].operations.last_mut() {
            last.tag = (number % u64::from(ANY_TAG)) as u16;
        }
    }

    /// Sends the last operation of a rank over an interface of its host.
    pub fn over_nic(&mut self, rank: u32, nic: u8) {
        if let Some(last) = self.ranks[rank as usize].operations.last_mut() {
            last.nic = nic;
        }
    }

    /// The graph of all operations.
    ///
    /// # Errors
    /// A dependency on an operation that is not there, or operations that wait for each other in a circle; a file for temporary data that
    /// cannot be written.
    pub fn finish(mut self) -> Result<OperationGraph, OperationMistake> {
        let mut operations = RecordKeeper::new(self.keep);
        let mut successors = RecordKeeper::new(self.keep);
        let mut roots = RecordKeeper::new(self.keep);
        let mut extents = Vec::with_capacity(self.ranks.len());
        let mut peers = 1;
        for rank in 0..self.ranks.len() {
            let own = std::mem::take(&mut self.ranks[rank]);
            let rank = rank as u32;
            let own = own.linked(rank, &self.communicators, self.numbered)?;
            peers = peers.max(own.peers);
            extents.push(Extent {
                operations: operations.count(),
                successors: successors.count(),
                roots: roots.count(),
                n_operations: own.operations.len() as u32,
                n_successors: own.successors.len() as u32,
                n_roots: own.roots.len() as u32,
                ..own.extent
            });
            let kept = operations
                .extend(&own.operations)
                .and_then(|()| successors.extend(&own.successors))
                .and_then(|()| roots.extend(&own.roots));
            kept.map_err(|error| cannot_keep(rank, &error))?;
        }
        let at_end = |error: std::io::Error| cannot_keep(0, &error);
        Ok(OperationGraph {
            communicators: self.communicators,
            extents,
            operations: operations.finish().map_err(at_end)?,
            successors: successors.finish().map_err(at_end)?,
            roots: roots.finish().map_err(at_end)?,
            peers,
        })
    }
}

fn cannot_keep(rank: u32, error: &std::io::Error) -> OperationMistake {
    OperationMistake {
        rank,
        operation: 0,
        reason: format!("cannot keep the graph: {error}"),
        hint: "take another folder for temporary files (TMPDIR)".to_owned(),
    }
}

/// The records of a rank.
struct Linked {
    operations: Vec<GraphOp>,
    successors: Vec<u32>,
    roots: Vec<u32>,
    /// What it needs.
    extent: Extent,
    /// Ranks that it talks to.
    peers: u32,
}

impl RankBuilder {
    /// Finds the successors of every operation.
    fn linked(self, rank: u32, communicators: &[Communicator], numbered: bool) -> Result<Linked, OperationMistake> {
        let RankBuilder {
            mut operations,
            mut edges,
        } = self;
        let count = operations.len() as u32;
        let mistake = |operation: u32, reason: String, hint: &str| OperationMistake {
            rank,
            operation,
            reason,
            hint: hint.to_owned(),
        };
        edges.sort_unstable();
        if edges.len() as u64 > u64::from(u32::MAX) {
            let reason = format!("its operations have {} dependencies", edges.len());
            return Err(mistake(0, reason, "a rank may have 2^32 - 1"));
        }
        if let Some(&(before, operation)) = edges.last()
            && before / 2 >= u64::from(count)
        {
            let reason = format!("it waits for operation {}, and the rank has {count}", before / 2);
            return Err(mistake(operation, reason, "the trace is cut, or of another program"));
        }
        let mut at = 0;
        for operation in 0..count {
            let own = &mut operations[operation as usize];
            for (place, of_start) in [(&mut own.end, 0), (&mut own.start, 1)] {
                *place = at;
                let waited_for = 2 * u64::from(operation) + of_start;
                while edges.get(at as usize).is_some_and(|edge| edge.0 == waited_for) {
                    at += 1;
                }
            }
        }
        let successors: Vec<u32> = edges.iter().map(|edge| edge.1).collect();
        let roots = (0..count).filter(|&i| operations[i as usize].predecessors == 0);
        let roots: Vec<u32> = roots.collect();
        if !numbered {
            number_collectives(&mut operations, communicators.len());
        }
        let linked = Linked {
            extent: needs(rank, &operations, communicators),
            peers: peers(rank, &operations, communicators),
            operations,
            successors,
            roots,
        };
        match linked.in_circle() {
            None => Ok(linked),
            Some(operation) => {
                let reason = "it waits for itself, by way of others or not".to_owned();
                Err(mistake(operation, reason, "dependencies have to come to an end"))
            }
        }
    }
}

impl Linked {
    /// The first operation that can never start, because it waits for itself.
    fn in_circle(&self) -> Option<u32> {
        let mut left: Vec<u32> = self.operations.iter().map(|own| own.predecessors).collect();
        let mut free = self.roots.clone();
        let mut reached = free.len();
        while let Some(operation) = free.pop() {
            let own = &self.operations[operation as usize];
            let next = self.operations.get(operation as usize + 1);
            let to = next.map_or(self.successors.len(), |next| next.end as usize);
            for &after in &self.successors[own.end as usize..to] {
                left[after as usize] -= 1;
                if left[after as usize] == 0 {
                    free.push(after);
                    reached += 1;
                }
            }
        }
        if reached == self.operations.len() {
            return None;
        }
        // Backwards from any that is not reached: whoever comes twice is in a circle.
        let mut before = vec![u32::MAX; self.operations.len()];
        for (operation, own) in self.operations.iter().enumerate() {
            let next = self.operations.get(operation + 1);
            let to = next.map_or(self.successors.len(), |next| next.end as usize);
            for &after in &self.successors[own.end as usize..to] {
                if left[operation] > 0 {
                    before[after as usize] = operation as u32;
                }
            }
        }
        let mut operation = left.iter().position(|&left| left > 0)? as u32;
        for _ in 0..self.operations.len() {
            operation = before[operation as usize];
        }
        let start = operation;
        let mut first = operation;
        loop {
            operation = before[operation as usize];
            first = first.min(operation);
            if operation == start {
                return Some(first);
            }
        }
    }
}

/// Numbers the collectives of every communicator.
fn number_collectives(operations: &mut [GraphOp], communicators: usize) {
    let mut numbers = vec![0u32; communicators];
    for own in operations {
        if let Doing::Collective(Collective { communicator, .. }) = own.doing() {
            let number = &mut numbers[usize::from(communicator)];
            own.tag = (*number % u32::from(ANY_TAG)) as u16;
            *number += 1;
        }
    }
}

/// What the operations of a rank need.
fn needs(rank: u32, operations: &[GraphOp], communicators: &[Communicator]) -> Extent {
    let lanes = operations.iter().map(|own| own.lane).filter(|lane| *lane != NO_LANE);
    let messages = operations.iter().filter(|own| matches!(own.kind, SEND | RECV));
    let in_collectives = operations.iter().filter_map(|own| match own.doing() {
        Doing::Collective(Collective { communicator, .. }) => Some(communicators[usize::from(communicator)].size(rank)),
        _ => None,
    });
    let in_collectives = in_collectives.max().unwrap_or(0).min(MOST_FOR_COLLECTIVES);
    let lists = (messages.count() as u32 / MESSAGES_PER_LIST).max(in_collectives);
    Extent {
        lanes: lanes.max().map_or(0, |most| most + 1),
        list_bits: lists.max(1).ilog2() as u8,
        wild: operations.iter().any(GraphOp::is_wild),
        ..Extent::default()
    }
}

/// Ranks that a rank talks to, those of collectives by rule of thumb.
fn peers(rank: u32, operations: &[GraphOp], communicators: &[Communicator]) -> u32 {
    let mut talks = Vec::new();
    let mut met = 0;
    for own in operations {
        match own.doing() {
            Doing::Send { peer, .. } | Doing::Recv { peer, .. } => talks.push(peer),
            Doing::Collective(Collective { kind, communicator, .. }) => {
                let size = communicators[usize::from(communicator)].size(rank);
                met = met.max(crate::mpi::peers_of(kind, size));
            }
            Doing::Compute(_) => {}
        }
    }
    talks.sort_unstable();
    talks.dedup();
    talks.len() as u32 + met
}

/// Whether an operation can be: the reason and the hint if not.
fn check(doing: &Doing, rank: u32, ranks: u32, communicators: &[Communicator]) -> Result<(), (String, String)> {
    let refuse = |reason: String, hint: String| Err((reason, hint));
    let communicator = match *doing {
        Doing::Compute(_) => return Ok(()),
        Doing::Send { communicator, .. } | Doing::Recv { communicator, .. } => communicator,
        Doing::Collective(Collective { communicator, .. }) => communicator,
    };
    let Some(group) = communicators.get(usize::from(communicator)) else {
        let hint = format!("communicators are 0..={}", communicators.len() - 1);
        return refuse(format!("there is no communicator {communicator}"), hint);
    };
    let (peer, bytes) = match *doing {
        Doing::Send { peer, bytes, tag, .. } => {
            if tag == ANY_TAG {
                let hint = "only receives may leave it open".to_owned();
                return refuse("a send with any tag".to_owned(), hint);
            }
            (peer, bytes)
        }
        Doing::Recv { peer, bytes, .. } => {
            let peer = if peer == ANY_SOURCE { rank } else { peer };
            (peer, if bytes == ANY_SIZE { 0 } else { bytes })
        }
        Doing::Collective(Collective { kind, bytes, root, .. }) => {
            let size = group.size(rank);
            if kind.has_root() && root >= size {
                let reason = format!("the root {root} of {} is not in a communicator of {size}", kind.name());
                return refuse(reason, format!("its ranks are 0..={}", size - 1));
            }
            if kind == CollectiveKind::Alltoallv {
                let hint = "take alltoall, or sends and receives".to_owned();
                return refuse("a graph has no place for the sizes of an alltoallv".to_owned(), hint);
            }
            if bytes > LARGEST_VECTOR / u64::from(size.max(1)) {
                let reason = format!("{bytes} bytes for each of {size} ranks are too many");
                return refuse(reason, "take smaller blocks".to_owned());
            }
            (rank, bytes)
        }
        Doing::Compute(_) => (rank, 0),
    };
    if peer >= ranks {
        let hint = format!("ranks are 0..={}", ranks - 1);
        return refuse(format!("there is no rank {peer} to talk to"), hint);
    }
    if bytes > LARGEST {
        return refuse(format!("{bytes} bytes are too many"), format!("take at most {LARGEST}"));
    }
    Ok(())
}
