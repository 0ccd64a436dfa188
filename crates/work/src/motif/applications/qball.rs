//! Plane-wave density functional theory on a grid of ranks (qb@ll; Gygi 2008, "Architecture of Qbox").
//!
//! Columns of ranks share 8 electronic states each. Every state is transformed there and back, an all-to-all within the column each
//! time; the density, 8 bytes per cell of the column's part, is summed along the rows; orthogonalisation sums the matrix of overlaps
//! within columns and broadcasts a block of states along rows. Cells are those of the whole transform.

use super::super::keys::RANKS;
use super::super::{Compute, Grid, Misfit, product};
use super::{Application, Builder, application};
use crate::mpi::CollectiveKind;
use study::{Entry, Parameter};

const KEYS: &[Parameter] = &application("[96, 96, 96]", "Cells of the transform of a state along x, y, z.");

/// The application.
pub(crate) struct Qball;

impl Application for Qball {
    const ENTRY: Entry = Entry::new("qball", "Skeleton of a step of plane-wave density functional theory.")
        .keys(&[KEYS, RANKS])
        .source("Gygi 2008; qb@ll");

    fn iteration(b: &mut Builder) -> Result<(), Misfit> {
        const STATES: u64 = 8;
        let grid = Grid::<2>::near_cubic(b.ranks)?;
        let [rows, columns] = grid.sides();
        let line = |d| Some(grid.lines(d));
        let cells = product("grid", &b.cells)?;
        let part = cells.div_ceil(rows.into());
        let transforms = 2 * STATES as u32;
        let flops = 5.0 * b.n_cells() * b.n_cells().log2() / f64::from(rows);
        let each = b.compute_each(flops, transforms)?;
        let transpose = b.collective(
            CollectiveKind::Alltoall,
            product("grid", &[part, 16])?.div_ceil(rows.into()),
            line(0),
            each,
        )?;
        b.put(transpose, transforms);
        let density = product("grid", &[part, 8])?;
        b.put(
            b.collective(CollectiveKind::Allreduce, density, line(1), Compute::Time(0))?,
            1,
        );
        let states = STATES * u64::from(columns);
        let overlaps = b.compute(2.0 * STATES as f64 * states as f64 * part as f64)?;
        let matrix = product("grid", &[states, states, 8])?;
        b.put(b.collective(CollectiveKind::Allreduce, matrix, line(0), overlaps)?, 1);
        let block = product("grid", &[STATES, part, 16])?;
        b.put(
            b.collective(CollectiveKind::Bcast, block, line(1), Compute::Time(0))?,
            1,
        );
        Ok(())
    }
}
