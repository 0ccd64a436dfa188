//! Halo exchange in a periodic grid of three or four dimensions (chatterbug, stencil3d and stencil4d).
//!
//! All receives (x up, x down, y up, ...), all sends (x down, x up, y down, ...), one wait. In a dimension of two ranks both faces go to
//! the same one; in a dimension of one there is nobody to talk to.

use super::keys::{CELLS, COMPUTE_CELLS, HALO, ORDER, RANKS, VARS, process_grid, value};
use super::{CellBlocks, Grid, Keys, Misfit, MotifKind, Ops, Order, product};
use crate::mpi::{Communicator, Op, Program};
use study::{Default, Entry, Parameter, key};

/// The motif.
#[derive(Clone, Debug)]
pub struct Stencil<const N: usize> {
    grid: Grid<N>,
    /// Dimensions of more than one rank.
    wide: Vec<usize>,
    /// Bytes of a face across each dimension.
    faces: [u64; N],
    order: Order,
    time: u64,
    communicators: [Communicator; 1],
}

impl MotifKind for Stencil<3> {
    const ENTRY: Entry = Entry::new(
        "stencil3d",
        "Faces of a block of cells with 6 neighbours in a periodic grid, all at once.",
    )
    .keys(&[HALO, ORDER, COMPUTE_CELLS, RANKS])
    .source("chatterbug, stencil3d");

    fn read(keys: &Keys) -> Result<Self, Misfit> {
        Stencil::new(&keys.block()?)
    }
}

const STENCIL_4D: &[Parameter] = &[
    key(
        "grid",
        CELLS,
        Default::From("[10, 10, 10, 10]"),
        "Cells of a rank along each dimension.",
    ),
    process_grid("Ranks along each dimension."),
    VARS,
    value("8 B"),
];

impl MotifKind for Stencil<4> {
    const ENTRY: Entry = Entry::new("stencil4d", "The same with 8 neighbours in four dimensions.")
        .keys(&[STENCIL_4D, ORDER, COMPUTE_CELLS, RANKS])
        .source("chatterbug, stencil4d");

    fn read(keys: &Keys) -> Result<Self, Misfit> {
        Stencil::new(&keys.block()?)
    }
}

impl<const N: usize> Stencil<N> {
    /// Fits the motif to its ranks.
    pub fn new(block: &CellBlocks<N>) -> Result<Stencil<N>, Misfit> {
        let grid = Grid::new(block.ranks, block.grid)?;
        let mut faces = [0; N];
        for (d, face) in faces.iter_mut().enumerate() {
            let mut factors = block.cells;
            factors[d] = 1;
            *face = product("grid", &[product("grid", &factors)?, block.vars, block.value])?;
        }
        Ok(Stencil {
            grid,
            wide: (0..N).filter(|&d| grid.sides()[d] > 1).collect(),
            faces,
            order: block.order,
            time: block.compute.time(product("grid", &block.cells)?)?,
            communicators: [Communicator::World(block.ranks)],
        })
    }
}

impl<const N: usize> Program for Stencil<N> {
    fn repeats_after(&self) -> Option<u32> {
        Some(1)
    }

    fn op(&self, rank: u32, _iteration: u32, index: u32) -> Option<Op> {
        // Number i of the neighbours, up or down first, and what goes there.
        let count = 2 * self.wide.len() as u32;
        let neighbour = |i: u32, up_first: bool| {
            let i = self.order.nth(rank.into(), count, i);
            let d = self.wide[i as usize / 2];
            let up = i.is_multiple_of(2) == up_first;
            self.grid.neighbour_round(rank, d, up).map(|peer| (peer, self.faces[d]))
        };
        let mut ops = Ops::new(index);
        ops.compute(self.time);
        ops.rounds(count, 1, |ops, i| {
            neighbour(i, true)
                .into_iter()
                .for_each(|(peer, bytes)| ops.irecv(peer, bytes));
        });
        ops.rounds(count, 1, |ops, i| {
            neighbour(i, false)
                .into_iter()
                .for_each(|(peer, bytes)| ops.isend(peer, bytes));
        });
        if self.ranks() > 1 {
            ops.put(Op::WaitAll);
        }
        ops.found()
    }

    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }

    fn peers(&self) -> u32 {
        2 * N as u32
    }
}
