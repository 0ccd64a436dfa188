//! A 3D Fourier transform and its inverse on a 2D grid of ranks: pencils, transposed along rows and columns (SST, ember motif fft3d).
//!
//! Rank (r, c) of R x C starts with pencils along x: part r of R along y, part c of C along z. It transforms them, transposes x and y
//! with its row (the R ranks of one c), transforms along y, transposes y and z with its column (the C ranks of one r), transforms along
//! z; then comes a barrier and all of it backwards. Sides need not be multiples: the first parts have one plane more, and the
//! all-to-alls carry exactly the values that change hands.

use super::keys::{CELLS, COMPUTE_CELLS, RANKS, process_grid, value};
use super::{Compute, Grid, Keys, Misfit, MotifKind, Ops, product};
use crate::mpi::collective::cut;
use crate::mpi::{Collective, CollectiveKind, Communicator, Op, Program};
use study::{Default, Entry, Parameter, key};

/// Parameters of [`Fft3d`].
#[derive(Clone, Debug, PartialEq)]
pub struct Fft3dParameters {
    /// Number of ranks.
    pub ranks: u32,
    /// Grid of ranks, or as square as can be.
    pub grid: Option<[u32; 2]>,
    /// Cells of the whole transform along x, y and z.
    pub cells: [u64; 3],
    /// Size of a value (bytes); a double complex number has 16.
    pub value: u64,
    /// Computing of each of the six transforms of a rank's pencils; all ranks take the time of the largest share of cells.
    pub compute: Compute,
}

/// Communicators: rows and columns, and both again for the way back, where the same ranks exchange other sizes.
const ROWS: u16 = 1;
const COLUMNS: u16 = 2;
const COLUMNS_BACK: u16 = 3;
const ROWS_BACK: u16 = 4;

/// The motif.
#[derive(Clone, Debug)]
pub struct Fft3d {
    grid: Grid<2>,
    cells: [u64; 3],
    value: u64,
    time: u64,
    communicators: [Communicator; 5],
}

const FFT: &[Parameter] = &[
    key(
        "grid",
        CELLS,
        Default::From("[100, 100, 100]"),
        "Cells of the whole transform along x, y, z.",
    ),
    process_grid("Ranks along rows and columns."),
    value("16 B"),
];

impl MotifKind for Fft3d {
    const ENTRY: Entry = Entry::new(
        "fft3d",
        "Transposes of a 3D Fourier transform on a 2D grid of ranks: rows, columns, barrier, columns, rows.",
    )
    .keys(&[FFT, COMPUTE_CELLS, RANKS])
    .source("SST, ember motif fft3d");

    fn read(keys: &Keys) -> Result<Self, Misfit> {
        Fft3d::new(&Fft3dParameters {
            ranks: keys.ranks,
            compute: keys.compute()?,
            grid: keys.process_grid()?,
            cells: keys.sides("grid")?,
            value: keys.values.quantity_or_default("value"),
        })
    }
}

impl Fft3d {
    /// Fits the motif to its ranks.
    pub fn new(parameters: &Fft3dParameters) -> Result<Fft3d, Misfit> {
        let grid = Grid::new(parameters.ranks, parameters.grid)?;
        let [rows, columns] = grid.sides().map(u64::from);
        let [x, y, z] = parameters.cells;
        if x < rows || y < rows.max(columns) || z < columns {
            let reason =
                format!("{x} x {y} x {z} cells are too few for {rows} x {columns} ranks: some would have none");
            let hint = "take at least as many cells along x and y as ranks in a row, along y and z as in a column";
            return Err(Misfit::new("grid", reason, hint));
        }
        // A pencil of the whole transform is still a message.
        product("grid", &[x.div_ceil(rows), y, z.div_ceil(columns), parameters.value])?;
        // Of x pencils, y pencils or z pencils.
        let shares = [(y, z), (x, z), (x, y)].map(|(a, b)| a.div_ceil(rows) * b.div_ceil(columns));
        let largest = shares
            .into_iter()
            .zip([x, y, z])
            .map(|(share, side)| share * side)
            .max();
        let (row, column) = (grid.lines(0), grid.lines(1));
        Ok(Fft3d {
            grid,
            cells: parameters.cells,
            value: parameters.value,
            time: parameters.compute.time(largest.unwrap_or(0))?,
            communicators: [
                Communicator::World(parameters.ranks),
                row.clone(),
                column.clone(),
                column,
                row,
            ],
        })
    }

    /// Planes of part `i` when dimension `d` is cut into as many parts as the grid has along `along`.
    fn planes(&self, d: usize, along: usize, i: u32) -> u64 {
        let parts = self.grid.sides()[along];
        cut(self.cells[d], parts, i + 1) - cut(self.cells[d], parts, i)
    }
}

impl Program for Fft3d {
    fn repeats_after(&self) -> Option<u32> {
        Some(1)
    }

    fn op(&self, _rank: u32, _iteration: u32, index: u32) -> Option<Op> {
        let transpose = |communicator| {
            Op::Collective(Collective {
                kind: CollectiveKind::Alltoallv,
                communicator,
                bytes: 0,
                root: 0,
            })
        };
        let mut ops = Ops::new(index);
        ops.compute(self.time);
        ops.put(transpose(ROWS));
        ops.compute(self.time);
        ops.put(transpose(COLUMNS));
        ops.compute(self.time);
        ops.put(Op::Collective(Collective {
            kind: CollectiveKind::Barrier,
            communicator: 0,
            bytes: 0,
            root: 0,
        }));
        ops.compute(self.time);
        ops.put(transpose(COLUMNS_BACK));
        ops.compute(self.time);
        ops.put(transpose(ROWS_BACK));
        ops.compute(self.time);
        ops.found()
    }

    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }

    fn pair_bytes(&self, collective: &Collective, from: u32, to: u32) -> u64 {
        let ([fr, fc], [tr, tc]) = (self.grid.place(from), self.grid.place(to));
        // What one has of one dimension and the other is to have of another, for all of the third.
        let values = match collective.communicator {
            ROWS => self.planes(1, 0, fr) * self.planes(0, 0, tr) * self.planes(2, 1, fc),
            ROWS_BACK => self.planes(0, 0, fr) * self.planes(1, 0, tr) * self.planes(2, 1, fc),
            COLUMNS => self.planes(2, 1, fc) * self.planes(1, 1, tc) * self.planes(0, 0, fr),
            COLUMNS_BACK => self.planes(1, 1, fc) * self.planes(2, 1, tc) * self.planes(0, 0, fr),
            _ => 0,
        };
        values * self.value
    }

    fn peers(&self) -> u32 {
        let [rows, columns] = self.grid.sides();
        rows + columns + 2 * self.ranks().next_power_of_two().trailing_zeros()
    }
}
