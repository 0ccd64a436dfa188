//! Halo exchange with faces, edges and corners, all at once.
//!
//! Not periodic. With 26 neighbours, as in SST's ember motif: all receives (faces, edges, corners), all sends, one wait. With 18, as in
//! the MPI program ember/halo3d-26, which never sends its corners: a receive and a send for one neighbour after another, one wait.
//! A message has the sides of the block along which it lies times `vars` values; a corner has `vars`.

use super::keys::{COMPUTE_CELLS, HALO, ORDER, RANKS};
use super::{CellBlocks, Grid, Keys, Misfit, MotifKind, Ops, Order, nth_bit, product};
use crate::mpi::{Communicator, Op, Program};
use study::{Default, Entry, Named, Parameter, Type, choice, key};

choice! {
    /// Which neighbours there are.
    pub enum Neighbours {
        TwentySix = "26", "Faces, edges and corners; all receives, all sends, one wait.";
        Eighteen = "18", "Faces and edges, as the MPI program has it; receive and send by turns, one wait.";
    }
}

/// A step to a neighbour along x, y and z.
type HaloStep = [i8; 3];

/// Faces, up first.
const UP_FIRST: [HaloStep; 6] = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]];
/// Faces, down first.
const DOWN_FIRST: [HaloStep; 6] = [[-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0], [0, 0, -1], [0, 0, 1]];
/// Edges a to l.
const EDGES: [HaloStep; 12] = [
    [-1, -1, 0],
    [0, -1, -1],
    [1, -1, 0],
    [0, -1, 1],
    [-1, 0, 1],
    [1, 0, 1],
    [-1, 0, -1],
    [1, 0, -1],
    [-1, 1, 0],
    [0, 1, 1],
    [1, 1, 0],
    [0, 1, -1],
];
/// Corners, x fastest.
const CORNERS: [HaloStep; 8] = [
    [-1, -1, -1],
    [1, -1, -1],
    [-1, 1, -1],
    [1, 1, -1],
    [-1, -1, 1],
    [1, -1, 1],
    [-1, 1, 1],
    [1, 1, 1],
];

/// The motif.
#[derive(Clone, Debug)]
pub struct Halo3d26 {
    grid: Grid<3>,
    neighbours: Neighbours,
    steps: Vec<HaloStep>,
    /// Bytes that go a step.
    bytes: Vec<u64>,
    /// Bit i of `down[d]`: step i goes down in dimension d; of `up[d]`: up.
    down: [u32; 3],
    up: [u32; 3],
    order: Order,
    time: u64,
    communicators: [Communicator; 1],
}

const NEIGHBOURS: &[Parameter] = &[key(
    "neighbours",
    Type::Choice(Neighbours::WORDS),
    Default::Text("26"),
    "Which neighbours there are.",
)];

impl MotifKind for Halo3d26 {
    const ENTRY: Entry = Entry::new(
        "halo3d-26",
        "Faces, edges and corners of a block of cells with up to 26 (or 18) neighbours, all at once.",
    )
    .keys(&[HALO, NEIGHBOURS, ORDER, COMPUTE_CELLS, RANKS])
    .source("SST, ember motif halo3d26; ember, mpi/halo3d-26");

    fn read(keys: &Keys) -> Result<Self, Misfit> {
        Halo3d26::new(&keys.block()?, keys.values.choice_or_default("neighbours"))
    }
}

impl Halo3d26 {
    /// Fits the motif to its ranks.
    pub fn new(block: &CellBlocks<3>, neighbours: Neighbours) -> Result<Halo3d26, Misfit> {
        let steps: Vec<HaloStep> = match neighbours {
            Neighbours::Eighteen => UP_FIRST.into_iter().chain(EDGES).collect(),
            Neighbours::TwentySix => DOWN_FIRST.into_iter().chain(EDGES).chain(CORNERS).collect(),
        };
        let cells = block.cells;
        let bytes = steps.iter().map(|step| {
            let along = |d: usize| if step[d] == 0 { cells[d] } else { 1 };
            product("grid", &[along(0), along(1), along(2), block.vars, block.value])
        });
        let that_go = |way: i8| {
            [0, 1, 2].map(|d| {
                let bits = steps.iter().enumerate().map(|(i, step)| u32::from(step[d] == way) << i);
                bits.sum()
            })
        };
        Ok(Halo3d26 {
            grid: Grid::new(block.ranks, block.grid)?,
            neighbours,
            bytes: bytes.collect::<Result<_, _>>()?,
            down: that_go(-1),
            up: that_go(1),
            order: block.order,
            time: block.compute.time(product("grid", &cells)?)?,
            communicators: [Communicator::World(block.ranks)],
            steps,
        })
    }

    /// The steps that stay inside the grid, as bits.
    fn inside(&self, rank: u32) -> u32 {
        let (place, sides) = (self.grid.place(rank), self.grid.sides());
        let mut inside = (1_u32 << self.steps.len()) - 1;
        for d in 0..3 {
            if place[d] == 0 {
                inside &= !self.down[d];
            }
            if place[d] + 1 == sides[d] {
                inside &= !self.up[d];
            }
        }
        inside
    }

    /// The neighbour at a step and what goes there.
    fn neighbour(&self, rank: u32, step: usize) -> (u32, u64) {
        let way = self.steps[step];
        let shift = (0..3).map(|d| i64::from(way[d]) * i64::from(self.grid.stride(d)));
        ((i64::from(rank) + shift.sum::<i64>()) as u32, self.bytes[step])
    }
}

impl Program for Halo3d26 {
    fn repeats_after(&self) -> Option<u32> {
        Some(1)
    }

    fn op(&self, rank: u32, _iteration: u32, index: u32) -> Option<Op> {
        let inside = self.inside(rank);
        let count = inside.count_ones();
        let neighbour = |i| {
            let i = self.order.nth(rank.into(), count, i);
            self.neighbour(rank, nth_bit(inside.into(), i) as usize)
        };
        let mut ops = Ops::new(index);
        ops.compute(self.time);
        match self.neighbours {
            Neighbours::Eighteen => ops.rounds(count, 2, |ops, i| {
                let (peer, bytes) = neighbour(i);
                ops.irecv(peer, bytes);
                ops.isend(peer, bytes);
            }),
            Neighbours::TwentySix => {
                ops.rounds(count, 1, |ops, i| {
                    let (peer, bytes) = neighbour(i);
                    ops.irecv(peer, bytes);
                });
                ops.rounds(count, 1, |ops, i| {
                    let (peer, bytes) = neighbour(i);
                    ops.isend(peer, bytes);
                });
            }
        }
        if count > 0 {
            ops.put(Op::WaitAll);
        }
        ops.found()
    }

    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }

    fn peers(&self) -> u32 {
        self.steps.len() as u32
    }
}
