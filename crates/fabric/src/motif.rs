//! Motifs.
use crate::mpi::{Communicator, Op, Program};
use crate::spec::Motif;
use std::sync::Arc;

/// The program of a motif.
pub fn program(motif: &Motif) -> Arc<dyn Program> {
    match motif {
        Motif::Listed(ops) => Arc::new(Listed {
            ops: ops.clone(),
            communicators: vec![Communicator::World(ops.len() as u32)],
        }),
    }
}

#[derive(Debug)]
struct Listed {
    ops: Vec<Vec<Op>>,
    communicators: Vec<Communicator>,
}
impl Program for Listed {
    fn ranks(&self) -> u32 {
        self.ops.len() as u32
    }
    fn op(&self, rank: u32, _: u32, index: u32) -> Option<Op> {
        self.ops[rank as usize].get(index as usize).copied()
    }
    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }
    fn peers(&self) -> u32 {
        32
    }
}
