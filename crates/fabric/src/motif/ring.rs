//! A message that goes round all ranks, from 0 to 1 to 2 and back to 0 (SST, ember motif Ring).

use super::{Compute, Misfit, Ops, at_least, sized};
use crate::mpi::{Communicator, Op, Program};

/// Parameters of [`Ring`].
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// Number of ranks.
    pub ranks: u32,
    /// Size of the message.
    pub bytes: u64,
    /// Computing of a rank before it sends.
    pub compute: Compute,
}

/// The motif.
#[derive(Clone, Debug)]
pub struct Ring {
    bytes: u64,
    time: u64,
    communicators: [Communicator; 1],
}

impl Ring {
    /// Name of the motif.
    pub const NAME: &str = "ring";

    /// Fits the motif to its ranks.
    pub fn new(parameters: &Parameters) -> Result<Ring, Misfit> {
        at_least(parameters.ranks, 2)?;
        Ok(Ring {
            bytes: sized("bytes", parameters.bytes)?,
            time: parameters.compute.time(1)?,
            communicators: [Communicator::World(parameters.ranks)],
        })
    }
}

impl Program for Ring {
    fn op(&self, rank: u32, _iteration: u32, index: u32) -> Option<Op> {
        let n = self.ranks();
        let mut ops = Ops::new(index);
        if rank > 0 {
            ops.recv(rank - 1, self.bytes);
        }
        ops.compute(self.time);
        ops.send((rank + 1) % n, self.bytes);
        if rank == 0 {
            ops.recv(n - 1, self.bytes);
        }
        ops.found()
    }

    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }

    fn peers(&self) -> u32 {
        2
    }
}
