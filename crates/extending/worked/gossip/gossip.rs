//! Every rank sends to the next one, all at once.

use super::keys::{COMPUTE, ONE_MESSAGE, RANKS};
use super::{Keys, Misfit, MotifKind, Ops, at_least, sized};
use crate::mpi::{Communicator, Op, Program};
use study::Entry;

/// The motif.
#[derive(Clone, Debug)]
pub struct Gossip {
    bytes: u64,
    time: u64,
    communicators: [Communicator; 1],
}

impl MotifKind for Gossip {
    const ENTRY: Entry =
        Entry::new("gossip", "Every rank sends to the next one, all at once.").keys(&[ONE_MESSAGE, COMPUTE, RANKS]);

    fn read(keys: &Keys) -> Result<Self, Misfit> {
        at_least(keys.ranks, 2)?;
        Ok(Gossip {
            bytes: sized("message", keys.message())?,
            time: keys.compute()?.time(1)?,
            communicators: [Communicator::World(keys.ranks)],
        })
    }
}

impl Program for Gossip {
    fn op(&self, rank: u32, _iteration: u32, index: u32) -> Option<Op> {
        let n = self.ranks();
        let mut ops = Ops::new(index);
        ops.compute(self.time);
        ops.irecv((rank + n - 1) % n, self.bytes);
        ops.isend((rank + 1) % n, self.bytes);
        ops.put(Op::WaitAll);
        ops.found()
    }

    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }

    fn peers(&self) -> u32 {
        2
    }
}
