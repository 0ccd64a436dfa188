//! All-to-alls along the lines of a 3D grid of ranks, one dimension after another (chatterbug, subcom3d-a2a).
//!
//! What the transposes of a Fourier transform ask of a network, without the transform. Every rank and iteration: an all-to-all on its
//! line along x, then y, then z; nothing separates them. A dimension of one rank or of 0 bytes is left out.

use super::keys::{COMPUTE, RANKS, process_grid};
use super::{Compute, Grid, Keys, Misfit, MotifKind, Ops, sized_for};
use crate::mpi::{Collective, CollectiveKind, Communicator, LARGEST, Op, Program};
use study::{Default, Entry, Parameter, Type, key};

/// Parameters of [`Suba2a`].
#[derive(Clone, Debug, PartialEq)]
pub struct Suba2aParameters {
    /// Number of ranks.
    pub ranks: u32,
    /// Grid of ranks, or as cubic as can be.
    pub grid: Option<[u32; 3]>,
    /// Bytes from each to each on a line along x, y and z.
    pub bytes: [u64; 3],
    /// Computing before an iteration.
    pub compute: Compute,
}

/// The motif.
#[derive(Clone, Debug)]
pub struct Suba2a {
    grid: Grid<3>,
    bytes: [u64; 3],
    time: u64,
    communicators: [Communicator; 4],
}

const SUBA2A: &[Parameter] = &[
    process_grid("Ranks along x, y, z."),
    key(
        "messages",
        Type::Sizes { max: LARGEST },
        Default::Text("32 KiB"),
        "Size of a message between two ranks of a line along x, y, z; one size stands for all three, \"0 B\" leaves a dimension out.",
    ),
];

impl MotifKind for Suba2a {
    const ENTRY: Entry = Entry::new(
        "suba2a",
        "All-to-alls along the lines of a 3D grid of ranks: x, then y, then z.",
    )
    .keys(&[SUBA2A, COMPUTE, RANKS])
    .source("chatterbug, subcom3d-a2a");

    fn read(keys: &Keys) -> Result<Self, Misfit> {
        Suba2a::new(&Suba2aParameters {
            ranks: keys.ranks,
            compute: keys.compute()?,
            grid: keys.process_grid()?,
            bytes: match keys.values.integers_or_default("messages")[..] {
                [one] => [one; 3],
                _ => keys.sides("messages")?,
            },
        })
    }
}

impl Suba2a {
    /// Fits the motif to its ranks.
    pub fn new(parameters: &Suba2aParameters) -> Result<Suba2a, Misfit> {
        let grid = Grid::new(parameters.ranks, parameters.grid)?;
        for (bytes, side) in parameters.bytes.into_iter().zip(grid.sides()) {
            sized_for("messages", bytes, side)?;
        }
        Ok(Suba2a {
            grid,
            bytes: parameters.bytes,
            time: parameters.compute.time(1)?,
            communicators: [
                Communicator::World(parameters.ranks),
                grid.lines(0),
                grid.lines(1),
                grid.lines(2),
            ],
        })
    }
}

impl Program for Suba2a {
    fn repeats_after(&self) -> Option<u32> {
        Some(1)
    }

    fn op(&self, _rank: u32, _iteration: u32, index: u32) -> Option<Op> {
        let mut ops = Ops::new(index);
        ops.compute(self.time);
        for (d, bytes) in self.bytes.into_iter().enumerate() {
            if bytes > 0 && self.grid.sides()[d] > 1 {
                ops.put(Op::Collective(Collective {
                    kind: CollectiveKind::Alltoall,
                    communicator: 1 + d as u16,
                    bytes,
                    root: 0,
                }));
            }
        }
        ops.found()
    }

    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }

    fn peers(&self) -> u32 {
        self.grid.sides().iter().map(|side| side - 1).sum()
    }
}
