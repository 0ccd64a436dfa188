//! Halo exchange with 6 neighbours, dimension by dimension (ember, mpi/halo3d).
//!
//! Not periodic unless asked for. For x, y and z in turn: a receive from and a send to the upper neighbour, then to the lower one, and a
//! wait for all of this dimension. A face has the other two sides of the block times `vars` values.

use super::{Compute, Grid, Misfit, Ops, product};
use crate::mpi::{Communicator, Op, Program};

/// Parameters of [`Halo3d`]; the defaults are those of ember.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// Number of ranks.
    pub ranks: u32,
    /// Grid of ranks, or as cubic as can be.
    pub grid: Option<[u32; 3]>,
    /// Cells of a rank's block along x, y and z.
    pub cells: [u64; 3],
    /// Values per cell.
    pub vars: u64,
    /// Size of a value (bytes).
    pub value: u64,
    /// The ends of each dimension are joined.
    pub periodic: bool,
    /// Computing before the exchange.
    pub compute: Compute,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters {
            ranks: 1,
            grid: None,
            cells: [10; 3],
            vars: 1,
            value: 8,
            periodic: false,
            compute: Compute::Time(1_000_000),
        }
    }
}

/// The motif.
#[derive(Clone, Debug)]
pub struct Halo3d {
    grid: Grid<3>,
    /// Bytes of a face across each dimension.
    faces: [u64; 3],
    periodic: bool,
    time: u64,
    communicators: [Communicator; 1],
}

impl Halo3d {
    /// Name of the motif.
    pub const NAME: &str = "halo3d";

    /// Fits the motif to its ranks.
    pub fn new(parameters: &Parameters) -> Result<Halo3d, Misfit> {
        let grid = Grid::new(parameters.ranks, parameters.grid)?;
        let [x, y, z] = parameters.cells;
        let face = |a, b| product("cells", &[a, b, parameters.vars, parameters.value]);
        Ok(Halo3d {
            grid,
            faces: [face(y, z)?, face(x, z)?, face(x, y)?],
            periodic: parameters.periodic,
            time: parameters.compute.time(product("cells", &[x, y, z])?)?,
            communicators: [Communicator::World(parameters.ranks)],
        })
    }
}

impl Program for Halo3d {
    fn ranks(&self) -> u32 {
        self.grid.ranks()
    }

    fn op(&self, rank: u32, _iteration: u32, index: u32) -> Option<Op> {
        let mut ops = Ops::new(index);
        ops.compute(self.time);
        for d in 0..3 {
            let neighbours = [true, false].map(|up| match self.periodic {
                true => self.grid.neighbour_round(rank, d, up),
                false => self.grid.neighbour(rank, d, up),
            });
            for peer in neighbours.into_iter().flatten() {
                ops.irecv(peer, self.faces[d]);
                ops.isend(peer, self.faces[d]);
            }
            if neighbours != [None; 2] {
                ops.put(Op::WaitAll);
            }
        }
        ops.found()
    }

    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }

    fn peers(&self) -> u32 {
        6
    }
}
