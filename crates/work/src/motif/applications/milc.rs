//! A conjugate gradient of staggered fermions on a four-dimensional lattice (MILC, su3_rmd; Bauer, Gottlieb, Hoefler 2012).
//!
//! Two products with the improved matrix, each with nearest neighbours and with third ones: half of the sites of a face have a vector of
//! 48 bytes, one layer and three layers deep, to 8 neighbours; two sums of 8 bytes. 1,187 operations per site and iteration.

use super::super::keys::{ORDER, RANKS};
use super::super::{CellBlocks, Compute, Cycle, Misfit, Stencil};
use super::{Application, Builder, application};
use crate::mpi::Program;
use std::sync::Arc;
use study::{Entry, Parameter};

const KEYS: &[Parameter] = &application("[16, 16, 16, 16]", "Sites of a rank along x, y, z, t.");

/// The application.
pub(crate) struct Milc;

impl Application for Milc {
    const ENTRY: Entry = Entry::new("milc", "Skeleton of an iteration of lattice quantum chromodynamics.")
        .keys(&[KEYS, ORDER, RANKS])
        .source("Bauer, Gottlieb, Hoefler 2012");

    fn iteration(b: &mut Builder) -> Result<(), Misfit> {
        let compute = b.compute_each(b.n_cells() * 1187.0 / 2.0, 2)?;
        let layers = |value, compute| {
            Stencil::<4>::new(&CellBlocks {
                value,
                compute,
                order: b.order,
                ..CellBlocks::new(b.ranks, b.cells())
            })
        };
        let near: Arc<dyn Program> = Arc::new(layers(24, Compute::Time(0))?);
        let third: Arc<dyn Program> = Arc::new(layers(72, compute)?);
        b.put(Cycle::new(vec![(near, 1), (third, 1)])?, 2);
        b.put(b.allreduces(&[8, 8])?, 1);
        Ok(())
    }
}
