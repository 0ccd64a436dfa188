//! Wavefront sweeps over a 2D grid of ranks, pipelined along z: the KBA method (Koch, Baker, Alcouffe 1992; ember, mpi/sweep3d).
//!
//! Eight sweeps per iteration: from the corners (low, low), (high, low), (high, high), (low, high), twice. A sweep is `cells[2] / kba`
//! steps of: receive from upstream along x, then y, compute, send downstream along x, then y; all of them blocking. Nothing separates
//! one sweep from the next. As ember has it, a message along x has `cells[0] * kba * vars` values and one along y `cells[1] * kba * vars`;
//! the faces of the blocks would have it the other way round.

use super::keys::{CELLS, COMPUTE_CELLS, RANKS, VARS, process_grid, value};
use super::{Compute, Grid, Keys, Misfit, MotifKind, product};
use crate::mpi::op::Transfer;
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
        // Asked for with every operation of every rank: no loop over what comes before it.
        let beside = |d, up| self.grid.neighbour(rank, d, up);
        let (x, y) = ([beside(0, false), beside(0, true)], [beside(1, false), beside(1, true)]);
        let computes = self.time > 0;
        // Each step has all neighbours, on the one side or the other.
        let there = |peer: Option<u32>| u32::from(peer.is_some());
        let each = there(x[0]) + there(x[1]) + there(y[0]) + there(y[1]) + u32::from(computes);
        let sweep = index.checked_div(self.steps * each)?;
        if sweep >= 8 {
            return None;
        }
        let [up_x, up_y] = SWEEPS[sweep as usize % SWEEPS.len()];
        let (up_x, up_y) = (usize::from(up_x), usize::from(up_y));
        let from = [x[1 - up_x], y[1 - up_y]];
        let to = [x[up_x], y[up_y]];
        let mut left =
            there(from[0]) | there(from[1]) << 1 | u32::from(computes) << 2 | there(to[0]) << 3 | there(to[1]) << 4;
        let number = index % each;
        for before in 0..4 {
            left &= if before < number { left - 1 } else { u32::MAX };
        }
        let place = left.trailing_zeros() as usize;
        if place == 2 {
            return Some(Op::Compute { time: self.time });
        }
        let peers = [from[0], from[1], None, to[0], to[1]];
        let transfer = Transfer::new(peers[place]?, self.bytes[place % 3]);
        Some(if place < 2 {
            Op::Recv(transfer)
        } else {
            Op::Send(transfer)
        })
    }

    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }

    fn peers(&self) -> u32 {
        4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a rank does, written down as the motif is described.
    fn told(sweep: &Sweep3d, rank: u32) -> Vec<Op> {
        let mut ops = Vec::new();
        for [up_x, up_y] in SWEEPS.iter().cycle().take(8) {
            for _ in 0..sweep.steps {
                let near = |d, up| sweep.grid.neighbour(rank, d, up);
                let transfer = |d: usize, peer| Transfer::new(peer, sweep.bytes[d]);
                for (d, up) in [(0, up_x), (1, up_y)] {
                    ops.extend(near(d, !up).map(|peer| Op::Recv(transfer(d, peer))));
                }
                if sweep.time > 0 {
                    ops.push(Op::Compute { time: sweep.time });
                }
                for (d, up) in [(0, up_x), (1, up_y)] {
                    ops.extend(near(d, *up).map(|peer| Op::Send(transfer(d, peer))));
                }
            }
        }
        ops
    }

    #[test]
    fn any_operation_is_found_as_if_all_before_it_were_told() {
        for sides in [[1, 1], [1, 2], [2, 1], [3, 1], [1, 4], [2, 2], [4, 3]] {
            for (z, time) in [(1, 0), (1, 7), (5, 0), (5, 7)] {
                let sweep = Sweep3d::new(&Sweep3dParameters {
                    ranks: sides[0] * sides[1],
                    grid: Some(sides),
                    cells: [3, 4, z],
                    kba: 1,
                    vars: 2,
                    value: 8,
                    compute: Compute::Time(time),
                })
                .unwrap();
                for rank in 0..sides[0] * sides[1] {
                    let all = told(&sweep, rank);
                    let asked: Vec<Op> = (0..).map_while(|index| sweep.op(rank, 0, index)).collect();
                    assert_eq!(asked, all, "rank {rank} of {sides:?}");
                    for index in [all.len() as u32 + 1, u32::MAX] {
                        assert_eq!(sweep.op(rank, 0, index), None);
                    }
                }
            }
        }
    }
}
