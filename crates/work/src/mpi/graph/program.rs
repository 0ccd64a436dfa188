//! A graph as the work of ranks.

use super::{Doing, OperationGraph};
use crate::mpi::op::Transfer;
use crate::mpi::{Communicator, Op, Program};
use std::sync::Arc;

/// A graph as a [`Program`]: an iteration is all of it once.
#[derive(Clone, Debug)]
pub struct GraphProgram {
    graph: Arc<OperationGraph>,
}

impl GraphProgram {
    /// The work that a graph is.
    pub fn new(graph: Arc<OperationGraph>) -> GraphProgram {
        GraphProgram { graph }
    }
}

impl Program for GraphProgram {
    fn ranks(&self) -> u32 {
        self.graph.ranks()
    }

    /// What the operation is; in which order operations are done is for the graph to say.
    fn op(&self, rank: u32, _iteration: u32, index: u32) -> Option<Op> {
        let operation = self.graph.rank(rank).operations.get(index as usize)?;
        let transfer = |peer, bytes, tag, communicator| Transfer {
            tag,
            communicator,
            ..Transfer::new(peer, bytes)
        };
        Some(match operation.doing() {
            Doing::Compute(time) => Op::Compute { time },
            Doing::Send {
                peer,
                bytes,
                tag,
                communicator,
            } => Op::Isend(transfer(peer, bytes, tag, communicator)),
            Doing::Recv {
                peer,
                bytes,
                tag,
                communicator,
            } => Op::Irecv(transfer(peer, bytes, tag, communicator)),
            Doing::Collective(collective) => Op::Collective(collective),
        })
    }

    fn communicators(&self) -> &[Communicator] {
        &self.graph.communicators
    }

    fn peers(&self) -> u32 {
        self.graph.peers
    }

    fn graph(&self) -> Option<&OperationGraph> {
        Some(&self.graph)
    }
}
