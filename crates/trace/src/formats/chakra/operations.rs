//! What a node is as an operation.

use super::node::{ChakraNode, NodeType};
use crate::header::WorkUnit;
use crate::operation::{ANY_TAG, Kind, Operation, UNKNOWN_SIZE};
use std::collections::BTreeMap;

/// Picoseconds of a microsecond.
const MICROSECOND: u64 = 1_000_000;
/// Longest time of a node (ps): 53 days.
const LONGEST: u64 = 1 << 62;

/// Lane of computations on the accelerator that name no stream.
const COMPUTE: u8 = 0;
/// Lane of messages and collectives that name no stream.
const COMMUNICATION: u8 = 1;
/// Lane of operations of the processor that name no thread.
const PROCESSOR: u8 = 2;
/// Lane of loads and stores.
const MEMORY: u8 = 3;
/// The first lane of streams and threads that are named.
const NAMED: u8 = 4;

/// The lanes of a rank: streams and threads in the order in which they come.
#[derive(Debug, Default)]
pub(crate) struct LaneNumbers {
    // Few, so that looking through them is quicker than hashing.
    named: BTreeMap<(bool, i128), u8>,
}

impl LaneNumbers {
    /// The lane of a node. Beyond 252 streams and threads, some share one.
    pub fn of(&mut self, node: &ChakraNode) -> u8 {
        if let Some(tid) = node.tid {
            let next = (self.named.len() % usize::from(u8::MAX - NAMED + 1)) as u8;
            return *self.named.entry((node.is_cpu_op, tid)).or_insert(NAMED + next);
        }
        match node.kind {
            _ if node.is_cpu_op => PROCESSOR,
            NodeType::Send | NodeType::Receive | NodeType::Collective => COMMUNICATION,
            NodeType::Load | NodeType::Store => MEMORY,
            _ => COMPUTE,
        }
    }
}

/// What nodes of all ranks have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Common {
    /// What computations are told in.
    pub unit: WorkUnit,
    /// When the first node began (us).
    pub begin: u64,
}

/// The operation of a node in a communicator with so many ranks. What is wrong with the node comes with it: it takes no part in
/// communication then.
pub(crate) fn operation_of(
    node: &ChakraNode,
    rank: u32,
    (communicator, size): (u32, u32),
    common: Common,
) -> (Operation, Option<String>) {
    let time = node.duration.checked_mul(MICROSECOND).filter(|time| *time <= LONGEST);
    let mut idle = Operation::compute(0);
    if node.start > 0 {
        idle.start = node.start.saturating_sub(common.begin).saturating_mul(MICROSECOND);
    }
    let Some(time) = time else {
        let reason = format!("node {} takes {} us, which is too long", node.id, node.duration);
        return (idle, Some(reason));
    };
    let told = match node.kind {
        NodeType::Unknown => Err("has no type that is known".to_owned()),
        NodeType::Metadata => Ok(Operation::compute(0)),
        NodeType::Load | NodeType::Store => Ok(Operation::compute(match common.unit {
            WorkUnit::Picoseconds => time,
            WorkUnit::Instructions => 0,
        })),
        NodeType::Compute => computation(node, time, common.unit),
        NodeType::Send => message(
            node,
            rank,
            Kind::Send,
            ("comm_src", node.comm_src),
            ("comm_dst", node.comm_dst),
        ),
        NodeType::Receive => message(
            node,
            rank,
            Kind::Recv,
            ("comm_dst", node.comm_dst),
            ("comm_src", node.comm_src),
        ),
        NodeType::Collective if is_communication(node) => collective(node, communicator, size),
        NodeType::Collective => computation(node, time, common.unit),
    };
    match told {
        Ok(operation) => {
            let time = if operation.kind == Kind::Compute {
                operation.time
            } else {
                time
            };
            (
                Operation {
                    time,
                    start: idle.start,
                    ..operation
                },
                None,
            )
        }
        Err(reason) => (idle, Some(format!("node {} {reason}", node.id))),
    }
}

/// Whether a collective moves something: those of the host, without a size, only start others.
pub(crate) fn is_communication(node: &ChakraNode) -> bool {
    node.comm_size.is_some() || node.comm_type == Some(9) && !node.is_cpu_op
}

fn computation(node: &ChakraNode, time: u64, unit: WorkUnit) -> Result<Operation, String> {
    if unit == WorkUnit::Picoseconds {
        return match node.num_ops {
            Some(operations) if operations > 0 && time == 0 && node.duration == 0 => {
                Err("tells operations and no duration, in a trace of durations".into())
            }
            _ => Ok(Operation::compute(time)),
        };
    }
    let operations = number("num_ops", node.num_ops.or(Some(0)), u64::MAX)?;
    Ok(Operation::compute(operations))
}

/// A send or a receive: the end that is this rank, which need not be told, and the other one.
fn message(
    node: &ChakraNode,
    rank: u32,
    kind: Kind,
    (own_name, own): (&str, Option<i128>),
    (other_name, other): (&str, Option<i128>),
) -> Result<Operation, String> {
    if let Some(own) = own.filter(|own| *own != rank.into()) {
        return Err(format!("has {own_name} {own}, and is of rank {rank}"));
    }
    let peer = number(other_name, other, u64::from(u32::MAX) - 2)? as u32;
    let tag = number("comm_tag", node.comm_tag.or(Some(0)), u64::from(ANY_TAG) - 1)? as u32;
    let bytes = match (node.comm_size, kind) {
        (None, Kind::Recv) => UNKNOWN_SIZE,
        (bytes, _) => number("comm_size", bytes, UNKNOWN_SIZE - 1)?,
    };
    Ok(Operation::message(kind, peer, bytes, tag))
}

/// `comm_size` is what a rank gives: for all others together where it gives each something else.
fn collective(node: &ChakraNode, communicator: u32, size: u32) -> Result<Operation, String> {
    let given = number("comm_size", node.comm_size.or(Some(0)), UNKNOWN_SIZE - 1)?;
    let block = given.div_ceil(u64::from(size).max(1));
    let (kind, bytes) = match node.comm_type {
        Some(0) => (Kind::Allreduce, given),
        Some(1) => (Kind::Reduce, given),
        Some(2) => (Kind::Allgather, given),
        Some(3) => (Kind::Gather, given),
        Some(4) => (Kind::Scatter, block),
        Some(5) => (Kind::Bcast, given),
        Some(6) => (Kind::Alltoall, block),
        // In blocks of one size, as what a rank gives is not told by rank.
        Some(7 | 8) => (Kind::ReduceScatterBlock, block),
        Some(9) => (Kind::Barrier, 0),
        Some(other) => return Err(format!("has comm_type {other}, which is no collective")),
        None => return Err("has no comm_type".into()),
    };
    let mut operation = Operation::collective(kind, communicator, bytes);
    if kind.has_root() {
        operation.peer = number("root", node.comm_root.or(Some(0)), u64::from(u32::MAX) - 2)? as u32;
    }
    Ok(operation)
}

/// A number of a node that has to be there, up to the most that it may be.
fn number(name: &str, value: Option<i128>, most: u64) -> Result<u64, String> {
    let value = value.ok_or_else(|| format!("has no {name}"))?;
    match u64::try_from(value) {
        Ok(number) if number <= most => Ok(number),
        _ => Err(format!("has {name} {value}, which is not from 0 to {most}")),
    }
}
