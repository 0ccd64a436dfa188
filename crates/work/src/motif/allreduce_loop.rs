//! One allreduce of all ranks after another, of given sizes (as osu_allreduce of the OSU micro-benchmarks does it).

use super::keys::{COMPUTE, RANKS, SIZES};
use super::{Compute, Keys, Misfit, MotifKind, Ops, at_least, peers_of, sized};
use crate::mpi::{Collective, CollectiveKind, Communicator, Op, Program};
use study::Entry;

/// Parameters of [`AllreduceLoop`].
#[derive(Clone, Debug, PartialEq)]
pub struct AllreduceLoopParameters {
    /// Number of ranks.
    pub ranks: u32,
    /// Sizes of the vectors, in order.
    pub sizes: Vec<u64>,
    /// Computing before each of them.
    pub compute: Compute,
}

/// The motif.
#[derive(Clone, Debug)]
pub struct AllreduceLoop {
    sizes: Vec<u64>,
    /// Sizes after which they are the same again.
    each: u32,
    time: u64,
    communicators: [Communicator; 1],
}

impl MotifKind for AllreduceLoop {
    const ENTRY: Entry = Entry::new(
        "allreduce-loop",
        "One allreduce after another, of given sizes, such as the layers of a neural network.",
    )
    .keys(&[&[SIZES], COMPUTE, RANKS])
    .source("OSU micro-benchmarks, osu_allreduce");

    fn read(keys: &Keys) -> Result<Self, Misfit> {
        AllreduceLoop::new(&AllreduceLoopParameters {
            ranks: keys.ranks,
            sizes: keys.values.integers_or_default("messages"),
            compute: keys.compute()?,
        })
    }
}

impl AllreduceLoop {
    /// Fits the motif to its ranks.
    pub fn new(parameters: &AllreduceLoopParameters) -> Result<AllreduceLoop, Misfit> {
        at_least(parameters.ranks, 1)?;
        let sizes = parameters.sizes.iter().map(|&bytes| sized("messages", bytes));
        let sizes = sizes.collect::<Result<Vec<u64>, _>>()?;
        let repeats = |each: &usize| {
            sizes.len().is_multiple_of(*each) && (*each..sizes.len()).all(|i| sizes[i] == sizes[i - each])
        };
        Ok(AllreduceLoop {
            each: (1..=sizes.len()).find(repeats).unwrap_or(1) as u32,
            sizes,
            time: parameters.compute.time(1)?,
            communicators: [Communicator::World(parameters.ranks)],
        })
    }
}

impl Program for AllreduceLoop {
    fn repeats_after(&self) -> Option<u32> {
        Some(self.each)
    }

    fn rounds(&self) -> u32 {
        self.sizes.len() as u32
    }

    fn op(&self, _rank: u32, iteration: u32, index: u32) -> Option<Op> {
        let mut ops = Ops::new(index);
        ops.compute(self.time);
        ops.put(Op::Collective(Collective {
            kind: CollectiveKind::Allreduce,
            communicator: 0,
            bytes: self.sizes[iteration as usize % self.sizes.len()],
            root: 0,
        }));
        ops.found()
    }

    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }

    fn peers(&self) -> u32 {
        peers_of(CollectiveKind::Allreduce, self.ranks())
    }
}
