//! Wavefront sweeps over a 2D grid of ranks, pipelined along z: the KBA method (Koch, Baker, Alcouffe 1992; ember, mpi/sweep3d).
//!
//! Eight sweeps per iteration: from the corners (low, low), (high, low), (high, high), (low, high), twice. A sweep is `cells[2] / kba`
//! steps of: receive from upstream along x, then y, compute, send downstream along x, then y; all of them blocking. Nothing separates
//! one sweep from the next. As ember has it, a message along x has `cells[0] * kba * vars` values and one along y `cells[1] * kba * vars`;
//! the faces of the blocks would have it the other way round.

use super::keys::{CELLS, COMPUTE_CELLS, RANKS, VARS, process_grid, value};
use super::{Compute, Grid, Keys, Misfit, MotifKind, Ops, product};
use crate::mpi::{Communicator, Op, Program};
use study::{Default, Entry, Parameter, Type, key};

/// Parameters of [`Sweep3d`]; the defaults are those of ember.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep3dParameters {
    /// Number of ranks.
    pub ranks: u32,
    /// Grid of ranks, or as square as can be.
    pub grid: Option<[u32; 2]>,
    /// Cells of a rank's block along x, y and z.
    pub cells: [u64; 3],
    /// Cells along z of a step; divides those of the block.
    pub kba: u64,
    /// Values per cell.
    pub vars: u64,
    /// Size of a value (bytes).
    pub value: u64,
    /// Computing in a step.
    pub compute: Compute,
}

/// Whether the four sweeps go up along x and y; each comes twice in an iteration.
const SWEEPS: [[bool; 2]; 4] = [[true, true], [false, true], [false, false], [true, false]];

/// The motif.
#[derive(Clone, Debug)]
pub struct Sweep3d {
    grid: Grid<2>,
    steps: u32,
    /// Bytes of a message along x and along y.
    bytes: [u64; 2],
    time: u64,
    communicators: [Communicator; 1],
}

const SWEEP: &[Parameter] = &[
    key(
        "grid",
        CELLS,
        Default::From("[50, 50, 100]"),
        "Cells of a rank along x, y, z.",
    ),
    process_grid("Ranks along x, y."),
    key(
        "kba",
        Type::Integer { min: 1, max: 1 << 32 },
        Default::Text("10"),
        "Cells along z of a step; divides those of a rank.",
    ),
    VARS,
    value("8 B"),
];

impl MotifKind for Sweep3d {
    const ENTRY: Entry = Entry::new(
        "sweep3d",
        "Wavefronts from the corners of a 2D grid of ranks, pipelined along z.",
    )
    .keys(&[SWEEP, COMPUTE_CELLS, RANKS])
    .source("Koch, Baker, Alcouffe 1992; ember, mpi/sweep3d");

    fn read(keys: &Keys) -> Result<Self, Misfit> {
        Sweep3d::new(&Sweep3dParameters {
            ranks: keys.ranks,
            compute: keys.compute()?,
            grid: keys.process_grid()?,
            cells: keys.sides("grid")?,
            kba: keys.values.integer_or_default("kba"),
            vars: keys.values.integer_or_default("vars"),
            value: keys.values.quantity_or_default("value"),
        })
    }
}

impl Sweep3d {
    /// Fits the motif to its ranks.
    pub fn new(parameters: &Sweep3dParameters) -> Result<Sweep3d, Misfit> {
        let [x, y, z] = parameters.cells;
        let kba = parameters.kba;
        if kba == 0 || z == 0 || !z.is_multiple_of(kba) || z / kba > 1 << 24 {
            let reason = format!("{z} cells along z cannot be cut into steps of {kba}");
            return Err(Misfit::new(
                "kba",
                reason,
                "take a divisor of cells[2], at most 2^24 steps",
            ));
        }
        let message = |side| product("grid", &[side, kba, parameters.vars, parameters.value]);
        Ok(Sweep3d {
            grid: Grid::new(parameters.ranks, parameters.grid)?,
            steps: (z / kba) as u32,
            bytes: [message(x)?, message(y)?],
            time: parameters.compute.time(product("grid", &[x, y, kba])?)?,
            communicators: [Communicator::World(parameters.ranks)],
        })
    }
}

impl Program for Sweep3d {
    fn repeats_after(&self) -> Option<u32> {
        Some(1)
    }

    fn op(&self, rank: u32, _iteration: u32, index: u32) -> Option<Op> {
        // Below and above along x and y.
        let along = |d| [self.grid.neighbour(rank, d, false), self.grid.neighbour(rank, d, true)];
        let near = [along(0), along(1)];
        // Each has them all, on the one side or the other.
        let each = near.as_flattened().iter().flatten().count() as u32 + u32::from(self.time > 0);
        let mut ops = Ops::new(index);
        for [x, y] in SWEEPS.iter().cycle().take(8) {
            let from = [near[0][usize::from(!x)], near[1][usize::from(!y)]];
            let to = [near[0][usize::from(*x)], near[1][usize::from(*y)]];
            ops.rounds(self.steps, each, |ops, _| {
                for (peer, bytes) in from.iter().zip(self.bytes) {
                    peer.iter().for_each(|&peer| ops.recv(peer, bytes));
                }
                ops.compute(self.time);
                for (peer, bytes) in to.iter().zip(self.bytes) {
                    peer.iter().for_each(|&peer| ops.send(peer, bytes));
                }
            });
            if ops.is_found() {
                break;
            }
        }
        ops.found()
    }

    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }

    fn peers(&self) -> u32 {
        4
    }
}
