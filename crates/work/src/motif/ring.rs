//! A message that goes round all ranks, from 0 to 1 to 2 and back to 0 (SST, ember motif Ring).

use super::keys::{COMPUTE, ONE_MESSAGE, RANKS};
use super::{Compute, Keys, Misfit, MotifKind, Ops, at_least, sized};
use crate::mpi::{Communicator, Op, Program};
use study::Entry;

/// Parameters of [`Ring`].
#[derive(Clone, Debug, PartialEq)]
pub struct RingParameters {
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

impl MotifKind for Ring {
    const ENTRY: Entry = Entry::new("ring", "A message goes round all ranks.")
        .keys(&[ONE_MESSAGE, COMPUTE, RANKS])
        .source("SST, ember motif Ring");

    fn read(keys: &Keys) -> Result<Self, Misfit> {
        Ring::new(&RingParameters {
            ranks: keys.ranks,
            bytes: keys.message(),
            compute: keys.compute()?,
        })
    }
}

impl Ring {
    /// Fits the motif to its ranks.
    pub fn new(parameters: &RingParameters) -> Result<Ring, Misfit> {
        at_least(parameters.ranks, 2)?;
        Ok(Ring {
            bytes: sized("message", parameters.bytes)?,
            time: parameters.compute.time(1)?,
            communicators: [Communicator::World(parameters.ranks)],
        })
    }
}

impl Program for Ring {
    fn repeats_after(&self) -> Option<u32> {
        Some(1)
    }

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
