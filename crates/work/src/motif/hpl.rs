//! High-performance Linpack: right-looking LU factorisation with panels on a 2D grid of ranks (Petitet, Whaley, Dongarra, Cleary, HPL 2.3).
//!
//! A round per panel of `block` columns of a matrix of n rows, P x Q ranks numbered down the columns first. The ranks of the panel's
//! column find its pivots: one exchange of `block` values with all of the column for each of its columns, here together in
//! [`FACTOR_STEPS`] allreduces. Then the panel is broadcast along the rows (`mpi.bcast = "chain"` is HPL's increasing ring), pivot rows
//! are exchanged within columns (spread and roll: an allgather of `block` rows of the local columns), and every rank updates its part of
//! what is left: 2 block m k operations for its m rows and k columns. Look-ahead is not modelled: the panel comes before the update.

use super::keys::{RANKS, flop_rate, process_grid};
use super::{Grid, Keys, Misfit, MotifKind, Ops, product};
use crate::mpi::{Collective, CollectiveKind, Communicator, Op, Program};
use study::{Default, Entry, Parameter, Type, key};

/// Parameters of [`Hpl`].
#[derive(Clone, Debug, PartialEq)]
pub struct HplParameters {
    /// Number of ranks.
    pub ranks: u32,
    /// Ranks along a column and along a row, or as square as can be.
    pub grid: Option<[u32; 2]>,
    /// Rows of the matrix.
    pub rows: u64,
    /// Columns of a panel.
    pub block: u64,
    /// Operations of a rank per second in an update.
    pub rate: f64,
}

/// Allreduces in which the pivots of a panel are found.
pub const FACTOR_STEPS: u32 = 8;
/// Communicators: the ranks of a column, the ranks of a row.
const COLUMN: u16 = 1;
const ROW: u16 = 2;

/// The motif.
#[derive(Clone, Debug)]
pub struct Hpl {
    grid: Grid<2>,
    rows: u64,
    block: u64,
    rate: f64,
    panels: u32,
    communicators: [Communicator; 3],
}

const HPL: &[Parameter] = &[
    process_grid("Ranks along a column and along a row of the matrix."),
    key(
        "rows",
        Type::Integer { min: 1, max: 1 << 32 },
        Default::Text("8192"),
        "Rows (and columns) of the matrix.",
    ),
    key(
        "block",
        Type::Integer { min: 1, max: 1 << 20 },
        Default::Text("192"),
        "Columns of a panel.",
    ),
    // What two six-core processors of 2010 reach in products of matrices.
    flop_rate(
        Default::Text("1.2e11"),
        "Operations of a rank per second in products of matrices.",
    ),
];

impl MotifKind for Hpl {
    const ENTRY: Entry = Entry::new(
        "hpl",
        "LU factorisation with panels on a 2D grid of ranks, without look-ahead.",
    )
    .keys(&[HPL, RANKS])
    .source("HPL 2.3; Dongarra, Luszczek, Petitet 2003");

    fn read(keys: &Keys) -> Result<Self, Misfit> {
        Hpl::new(&HplParameters {
            ranks: keys.ranks,
            grid: keys.process_grid()?,
            rows: keys.values.integer_or_default("rows"),
            block: keys.values.integer_or_default("block"),
            rate: keys.values.number_or_default("flop_rate"),
        })
    }
}

impl Hpl {
    /// Fits the motif to its ranks.
    pub fn new(parameters: &HplParameters) -> Result<Hpl, Misfit> {
        let HplParameters { rows, block, rate, .. } = *parameters;
        let grid = Grid::new(parameters.ranks, parameters.grid)?;
        let panels = rows.div_ceil(block.max(1));
        if block == 0 || panels > 1 << 24 {
            let hint = "take wider panels";
            return Err(Misfit::new("block", format!("{rows} rows make {panels} panels"), hint));
        }
        // The largest message: the panel of the first round on one row of ranks.
        product("rows", &[rows, block, 8])?;
        let hpl = Hpl {
            grid,
            rows,
            block,
            rate,
            panels: panels as u32,
            communicators: [Communicator::World(parameters.ranks), grid.lines(0), grid.lines(1)],
        };
        match hpl.update(rows, rows) {
            time if time < 1e18 => Ok(hpl),
            _ => {
                let reason = format!("the first update at {rate} flop/s takes no sensible time");
                Err(Misfit::new("flop_rate", reason, "a rate is positive"))
            }
        }
    }

    /// Time of the update of so many rows and columns on one rank (ps).
    fn update(&self, rows: u64, columns: u64) -> f64 {
        2.0 * self.block as f64 * rows as f64 * columns as f64 / self.rate * 1e12
    }
}

impl Program for Hpl {
    fn repeats_after(&self) -> Option<u32> {
        Some(self.panels)
    }

    fn op(&self, rank: u32, iteration: u32, index: u32) -> Option<Op> {
        let panel = iteration % self.panels;
        let [p, q] = self.grid.sides();
        let (left, column) = (self.rows - u64::from(panel) * self.block, panel % q);
        let block = self.block.min(left);
        let (rows, columns) = (left.div_ceil(p.into()), (left - block).div_ceil(q.into()));
        let collective = |kind, communicator, bytes, root| {
            Op::Collective(Collective {
                kind,
                communicator,
                bytes,
                root,
            })
        };
        let mut ops = Ops::new(index);
        if self.grid.place(rank)[1] == column {
            let steps = u64::from(FACTOR_STEPS);
            // Half of the operations of an update by the panel itself, and in each exchange its share of the pivots' rows.
            let time = (self.update(rows, block) / 2.0 / f64::from(FACTOR_STEPS)) as u64;
            let bytes = (block.div_ceil(steps) * block * 8).max(8);
            let each = 1 + u32::from(time > 0);
            ops.rounds(FACTOR_STEPS, each, |ops, _| {
                ops.compute(time);
                ops.put(collective(CollectiveKind::Allreduce, COLUMN, bytes, 0));
            });
        }
        if q > 1 {
            ops.put(collective(CollectiveKind::Bcast, ROW, rows * block * 8, column));
        }
        if columns > 0 {
            if p > 1 {
                let bytes = (block * columns * 8).div_ceil(p.into());
                ops.put(collective(CollectiveKind::Allgather, COLUMN, bytes, 0));
            }
            ops.compute(self.update(rows, columns) as u64);
        }
        ops.found()
    }

    fn rounds(&self) -> u32 {
        self.panels
    }

    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }

    fn peers(&self) -> u32 {
        let log = |side: u32| 2 * side.next_power_of_two().trailing_zeros();
        self.grid.sides().map(log).iter().sum::<u32>().max(1)
    }
}
