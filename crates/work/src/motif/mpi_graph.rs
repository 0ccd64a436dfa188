//! Every rank sends to the one `d` further on and receives from the one `d` before it, for d = 1, 2, ... (mpiGraph, LLNL).
//!
//! A round per distance: all receives of a window, all its sends, a wait, and a barrier if asked for. The mean bandwidth of a rank over
//! all distances is bytes times window times (ranks - 1) by the time of the iteration.

use super::keys::{COMPUTE, RANKS, message};
use super::{Compute, Keys, Misfit, MotifKind, Ops, at_least, sized};
use crate::mpi::{Collective, CollectiveKind, Communicator, Op, Program};
use study::{Default, Entry, Parameter, Type, key};

/// Parameters of [`MpiGraph`].
#[derive(Clone, Debug, PartialEq)]
pub struct MpiGraphParameters {
    /// Number of ranks.
    pub ranks: u32,
    /// Size of a message.
    pub bytes: u64,
    /// Messages under way at a time.
    pub window: u32,
    /// A barrier after every distance.
    pub barrier: bool,
    /// Computing before every distance.
    pub compute: Compute,
}

/// The motif.
#[derive(Clone, Debug)]
pub struct MpiGraph {
    bytes: u64,
    window: u32,
    barrier: bool,
    time: u64,
    communicators: [Communicator; 1],
}

const MPI_GRAPH: &[Parameter] = &[
    message("1 MiB"),
    key(
        "window",
        Type::Integer { min: 1, max: 1 << 16 },
        Default::Text("1"),
        "Messages to a rank under way at a time.",
    ),
    key(
        "barrier",
        Type::Flag,
        Default::Text("true"),
        "A barrier after every distance.",
    ),
];

impl MotifKind for MpiGraph {
    const ENTRY: Entry = Entry::new(
        "mpi-graph",
        "Every rank sends to the one d further on, for d = 1, 2, ... in turn.",
    )
    .keys(&[MPI_GRAPH, COMPUTE, RANKS])
    .source("mpiGraph, LLNL");

    fn read(keys: &Keys) -> Result<Self, Misfit> {
        MpiGraph::new(&MpiGraphParameters {
            ranks: keys.ranks,
            bytes: keys.message(),
            window: keys.integer_u32("window"),
            barrier: keys.values.flag_or_default("barrier"),
            compute: keys.compute()?,
        })
    }
}

impl MpiGraph {
    /// Fits the motif to its ranks.
    pub fn new(parameters: &MpiGraphParameters) -> Result<MpiGraph, Misfit> {
        at_least(parameters.ranks, 2)?;
        Ok(MpiGraph {
            bytes: sized("message", parameters.bytes)?,
            window: parameters.window,
            barrier: parameters.barrier,
            time: parameters.compute.time(1)?,
            communicators: [Communicator::World(parameters.ranks)],
        })
    }
}

impl Program for MpiGraph {
    fn repeats_after(&self) -> Option<u32> {
        Some(self.rounds())
    }

    fn op(&self, rank: u32, iteration: u32, index: u32) -> Option<Op> {
        let (n, distance) = (self.ranks(), 1 + iteration % self.rounds());
        let further = |by: u32| ((u64::from(rank) + u64::from(by)) % u64::from(n)) as u32;
        let mut ops = Ops::new(index);
        ops.compute(self.time);
        ops.rounds(self.window, 1, |ops, _| ops.irecv(further(n - distance), self.bytes));
        ops.rounds(self.window, 1, |ops, _| ops.isend(further(distance), self.bytes));
        ops.put(Op::WaitAll);
        if self.barrier {
            ops.put(Op::Collective(Collective {
                kind: CollectiveKind::Barrier,
                communicator: 0,
                bytes: 0,
                root: 0,
            }));
        }
        ops.found()
    }

    fn rounds(&self) -> u32 {
        self.ranks() - 1
    }

    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }

    fn peers(&self) -> u32 {
        self.ranks() - 1
    }
}
