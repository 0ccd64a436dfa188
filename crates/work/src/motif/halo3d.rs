//! Halo exchange with 6 neighbours, dimension by dimension (ember, mpi/halo3d).
//!
//! Not periodic unless asked for. For x, y and z in turn: a receive from and a send to the upper neighbour, then to the lower one, and a
//! wait for all of this dimension; shuffled, a rank begins with the lower neighbour in some of the dimensions. A face has the other two sides of the block times `vars` values.

use super::keys::{COMPUTE_CELLS, HALO, ORDER, RANKS};
use super::{CellBlocks, Grid, Keys, Misfit, MotifKind, Ops, Order, product};
use crate::mpi::{Communicator, Op, Program};
use study::{Default, Entry, Parameter, Type, key};

/// The motif.
#[derive(Clone, Debug)]
pub struct Halo3d {
    grid: Grid<3>,
    /// Bytes of a face across each dimension.
    faces: [u64; 3],
    periodic: bool,
    order: Order,
    time: u64,
    communicators: [Communicator; 1],
}

const PERIODIC: &[Parameter] = &[key(
    "periodic",
    Type::Flag,
    Default::Text("false"),
    "The ends of each dimension are joined.",
)];

impl MotifKind for Halo3d {
    const ENTRY: Entry = Entry::new(
        "halo3d",
        "Faces of a block of cells with up to 6 neighbours, one dimension after another.",
    )
    .keys(&[HALO, PERIODIC, ORDER, COMPUTE_CELLS, RANKS])
    .source("ember, mpi/halo3d");

    fn read(keys: &Keys) -> Result<Self, Misfit> {
        Ok(Halo3d::new(&keys.block()?)?.periodic(keys.values.flag_or_default("periodic")))
    }
}

impl Halo3d {
    /// Fits the motif to its ranks.
    pub fn new(block: &CellBlocks<3>) -> Result<Halo3d, Misfit> {
        let grid = Grid::new(block.ranks, block.grid)?;
        let [x, y, z] = block.cells;
        let face = |a, b| product("grid", &[a, b, block.vars, block.value]);
        Ok(Halo3d {
            grid,
            faces: [face(y, z)?, face(x, z)?, face(x, y)?],
            periodic: false,
            order: block.order,
            time: block.compute.time(product("grid", &[x, y, z])?)?,
            communicators: [Communicator::World(block.ranks)],
        })
    }
}

impl Halo3d {
    /// The same with the ends of each dimension joined, or not.
    #[must_use]
    pub fn periodic(self, periodic: bool) -> Halo3d {
        Halo3d { periodic, ..self }
    }
}

impl Program for Halo3d {
    fn repeats_after(&self) -> Option<u32> {
        Some(1)
    }

    fn op(&self, rank: u32, _iteration: u32, index: u32) -> Option<Op> {
        let mut ops = Ops::new(index);
        ops.compute(self.time);
        for d in 0..3 {
            let first = self.order.nth(3 * u64::from(rank) + d as u64, 2, 0) == 0;
            let neighbours = [first, !first].map(|up| match self.periodic {
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
