//! Ping-pong between the halves of a job: rank i and rank i + n/2 (SST, ember motif AllPingPong).
//!
//! The first half sends, the second half answers. Of an odd number of ranks the last one has nothing to do.

use super::keys::{COMPUTE, ONE_MESSAGE, RANKS};
use super::{Compute, Keys, Misfit, MotifKind, Ops, at_least, sized};
use crate::mpi::{Communicator, Op, Program};
use study::Entry;

/// Parameters of [`AllPingPong`].
#[derive(Clone, Debug, PartialEq)]
pub struct AllPingPongParameters {
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

impl MotifKind for AllPingPong {
    const ENTRY: Entry = Entry::new(
        "all-ping-pong",
        "Rank i of the first half and rank i of the second half send to each other in turn.",
    )
    .keys(&[ONE_MESSAGE, COMPUTE, RANKS])
    .source("SST, ember motif AllPingPong");

    fn read(keys: &Keys) -> Result<Self, Misfit> {
        AllPingPong::new(&AllPingPongParameters {
            ranks: keys.ranks,
            bytes: keys.message(),
            compute: keys.compute()?,
        })
    }
}

impl AllPingPong {
    /// Fits the motif to its ranks.
    pub fn new(parameters: &AllPingPongParameters) -> Result<AllPingPong, Misfit> {
        at_least(parameters.ranks, 2)?;
        Ok(AllPingPong {
            bytes: sized("message", parameters.bytes)?,
            time: parameters.compute.time(1)?,
            communicators: [Communicator::World(parameters.ranks)],
        })
    }
}

impl Program for AllPingPong {
    fn repeats_after(&self) -> Option<u32> {
        Some(1)
    }

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
