//! One allreduce of all ranks after another, of given sizes (as osu_allreduce of the OSU micro-benchmarks does it), with what libraries of
//! neural networks do before each: tell each other the lengths, and copy the vector into fresh memory.

use super::keys::{COMPUTE, RANKS, SIZES};
use super::{Compute, Keys, Misfit, MotifKind, Ops, at_least, peers_of, sized};
use crate::mpi::{Collective, CollectiveKind, Communicator, Op, Program};
use study::units::Unit;
use study::{Default, Entry, Parameter, Type, key};

/// Parameters of [`AllreduceLoop`].
#[derive(Clone, Debug, PartialEq)]
pub struct AllreduceLoopParameters {
    /// Number of ranks.
    pub ranks: u32,
    /// Sizes of the vectors, in order.
    pub sizes: Vec<u64>,
    /// Computing before each of them.
    pub compute: Compute,
    /// Whether all ranks tell each other their length before each.
    pub lengths: bool,
    /// Time for each byte of the vector before each (fs).
    pub touch_fs: u64,
}

/// The motif.
#[derive(Clone, Debug)]
pub struct AllreduceLoop {
    sizes: Vec<u64>,
    /// Sizes after which they are the same again.
    each: u32,
    time: u64,
    lengths: bool,
    touch_fs: u64,
    communicators: [Communicator; 1],
}

const BEFORE: &[Parameter] = &[
    key(
        "lengths",
        Type::Flag,
        Default::From("false"),
        "Whether all ranks tell each other their length before each, an allgather of 8 B.",
    ),
    key(
        "touch",
        Type::Quantity {
            unit: Unit::FineTimePerByte,
            min: 0,
            // Half a microsecond.
            max: 500_000_000,
        },
        Default::From("none"),
        "Time for each byte of the vector before each: what it takes to copy it into fresh memory, whose pages are touched and registered for the first time.",
    ),
];

/// Bytes of a length.
const LENGTH: u64 = 8;

impl MotifKind for AllreduceLoop {
    const ENTRY: Entry = Entry::new(
        "allreduce-loop",
        "One allreduce after another, of given sizes, such as the layers of a neural network.",
    )
    .keys(&[&[SIZES], COMPUTE, BEFORE, RANKS])
    .source("OSU micro-benchmarks, osu_allreduce; baidu-allreduce");

    fn read(keys: &Keys) -> Result<Self, Misfit> {
        AllreduceLoop::new(&AllreduceLoopParameters {
            ranks: keys.ranks,
            sizes: keys.values.integers_or_default("messages"),
            compute: keys.compute()?,
            lengths: keys.values.flag("lengths"),
            touch_fs: keys.values.quantity("touch").unwrap_or(0),
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
            lengths: parameters.lengths,
            touch_fs: parameters.touch_fs,
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
        let bytes = self.sizes[iteration as usize % self.sizes.len()];
        ops.compute(self.time);
        if self.lengths {
            ops.put(Op::Collective(Collective {
                kind: CollectiveKind::Allgather,
                communicator: 0,
                bytes: LENGTH,
                root: 0,
            }));
        }
        if self.touch_fs > 0 {
            let time = (u128::from(bytes) * u128::from(self.touch_fs)).div_ceil(1_000);
            ops.put(Op::Compute {
                time: u64::try_from(time).unwrap_or(u64::MAX),
            });
        }
        ops.put(Op::Collective(Collective {
            kind: CollectiveKind::Allreduce,
            communicator: 0,
            bytes,
            root: 0,
        }));
        ops.found()
    }

    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }

    fn peers(&self) -> u32 {
        let of = |kind| peers_of(kind, self.ranks());
        match self.lengths {
            true => of(CollectiveKind::Allreduce).max(of(CollectiveKind::Allgather)),
            false => of(CollectiveKind::Allreduce),
        }
    }
}
