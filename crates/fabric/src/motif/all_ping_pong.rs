//! Ping-pong between the halves of a job: rank i and rank i + n/2 (SST, ember motif AllPingPong).
//!
//! The first half sends, the second half answers. Of an odd number of ranks the last one has nothing to do.

use super::{Compute, Misfit, Ops, at_least, sized};
use crate::mpi::{Communicator, Op, Program};

/// Parameters of [`AllPingPong`].
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// Number of ranks.
    pub ranks: u32,
    /// Size of a message.
    pub bytes: u64,
    /// Computing before the first message.
    pub compute: Compute,
}

/// The motif.
#[derive(Clone, Debug)]
pub struct AllPingPong {
    bytes: u64,
    time: u64,
    communicators: [Communicator; 1],
}

impl AllPingPong {
    /// Name of the motif.
    pub const NAME: &str = "all-ping-pong";

    /// Fits the motif to its ranks.
    pub fn new(parameters: &Parameters) -> Result<AllPingPong, Misfit> {
        at_least(parameters.ranks, 2)?;
        Ok(AllPingPong {
            bytes: sized("bytes", parameters.bytes)?,
            time: parameters.compute.time(1)?,
            communicators: [Communicator::World(parameters.ranks)],
        })
    }
}

impl Program for AllPingPong {
    fn op(&self, rank: u32, _iteration: u32, index: u32) -> Option<Op> {
        let half = self.ranks() / 2;
        let mut ops = Ops::new(index);
        if rank < half {
            ops.compute(self.time);
            ops.send(rank + half, self.bytes);
            ops.recv(rank + half, self.bytes);
        } else if rank < 2 * half {
            ops.compute(self.time);
            ops.recv(rank - half, self.bytes);
            ops.send(rank - half, self.bytes);
        }
        ops.found()
    }

    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }

    fn peers(&self) -> u32 {
        1
    }
}
