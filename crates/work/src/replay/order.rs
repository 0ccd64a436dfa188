//! When the operations of a trace that is a graph are done.

use super::records::{OperationRecord, what};
use crate::mpi::graph::{Doing, GraphBuilder, OperationGraph, OperationMistake};
use crate::mpi::op::{ANY_SOURCE, Collective};
use crate::mpi::{CollectiveKind, Communicator};
use std::collections::HashMap;
use trace::{Lists, Members, Operation, Problem, TraceHeader};

/// Takes which operations wait for which.
#[derive(Debug)]
pub(super) struct RecordedOrder {
    builder: GraphBuilder,
    /// The record of the operation at hand.
    pub(super) last: Option<OperationRecord>,
    /// By communicator: which it is of those with its ranks, and how many they are.
    alike: Vec<(u64, u64)>,
}

impl RecordedOrder {
    /// Of a trace with this header.
    pub(super) fn new(header: &TraceHeader) -> RecordedOrder {
        let mut groups: HashMap<Vec<u32>, u64> = HashMap::new();
        let mut keys = Vec::with_capacity(header.communicators.len());
        let mut alike = Vec::with_capacity(header.communicators.len());
        for members in &header.communicators {
            let key = key(members);
            let known = groups.entry(key.clone()).or_default();
            alike.push((*known, 0));
            *known += 1;
            keys.push(key);
        }
        for (own, key) in alike.iter_mut().zip(&keys) {
            own.1 = groups[key];
        }
        RecordedOrder {
            builder: GraphBuilder::new(vec![Communicator::World(header.ranks)]),
            last: None,
            alike,
        }
    }

    /// The operation at hand waits for those in its lists.
    pub(super) fn take(&mut self, rank: u32, operation: &Operation, lists: &Lists<'_>) -> Result<(), Problem> {
        let Some(record) = self.last.take() else {
            return Ok(());
        };
        let added = self.builder.add(
            rank,
            doing(&record),
            operation.lane.into(),
            lists.after,
            lists.after_start,
        );
        added.map_err(problem)?;
        self.builder.over_nic(rank, operation.nic);
        if record.what == what::COLLECTIVE {
            // Communicators of the same ranks share a group, in which their collectives are told apart.
            let (own, all) = self.alike[record.communicator as usize];
            self.builder
                .number_last(rank, record.amount.wrapping_mul(all).wrapping_add(own));
        }
        Ok(())
    }

    /// The graph of all of them.
    pub(super) fn finish(self) -> Result<OperationGraph, Problem> {
        self.builder.finish().map_err(problem)
    }
}

/// The ranks of a communicator, shortly where they are a range.
fn key(members: &Members) -> Vec<u32> {
    match members {
        Members::Range { first, count, stride } => vec![u32::MAX, *first, *count, *stride],
        Members::List(ranks) => ranks.clone(),
    }
}

/// What a record is to the order of operations. Sizes and communicators are looked up when it is done.
fn doing(record: &OperationRecord) -> Doing {
    let (peer, tag) = (record.other, record.tag);
    let (bytes, communicator) = (0, 0);
    match record.what {
        what::ISEND => Doing::Send {
            peer,
            bytes,
            tag,
            communicator,
        },
        what::IRECV => Doing::Recv {
            peer: match peer {
                trace::operation::ANY_SOURCE => ANY_SOURCE,
                peer => peer,
            },
            bytes,
            tag,
            communicator,
        },
        what::COLLECTIVE => Doing::Collective(Collective {
            kind: CollectiveKind::Barrier,
            communicator,
            bytes,
            root: 0,
        }),
        _ => Doing::Compute(0),
    }
}

fn problem(mistake: OperationMistake) -> Problem {
    let OperationMistake {
        rank,
        operation,
        reason,
        hint,
    } = mistake;
    Problem::new("", format!("operation {operation}: {reason}"), hint).of_rank(rank)
}
