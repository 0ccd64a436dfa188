//! An unsteady incompressible flow by fractional steps (FFV-C of RIKEN's Fiber mini-applications).
//!
//! A time step: two layers of three velocities to 6 neighbours, 4 bytes each, 500 operations per cell; then 20 sweeps of red-black
//! over-relaxation for the pressure, each of two exchanges of half a layer and a sum of 8 bytes, 14 operations per cell. The number of
//! sweeps and of operations are ours.

use super::super::keys::{ORDER, RANKS};
use super::super::{Cycle, Misfit};
use super::{A_RANK, Application, Builder, application};
use std::sync::Arc;
use study::{Entry, Parameter};

const KEYS: &[Parameter] = &application("[128, 128, 128]", A_RANK);

/// The application.
pub(crate) struct Ffvc;

impl Application for Ffvc {
    const ENTRY: Entry = Entry::new("ffvc", "Skeleton of a time step of incompressible flow.")
        .keys(&[KEYS, ORDER, RANKS])
        .source("FFV-C, Fiber mini-applications");

    fn iteration(b: &mut Builder) -> Result<(), Misfit> {
        const SWEEPS: u32 = 20;
        let velocities = b.compute(b.n_cells() * 500.0)?;
        b.put(b.faces(2 * 3 * 4, false, velocities)?, 1);
        let half = b.compute_each(b.n_cells() * 7.0, 2 * SWEEPS)?;
        let colour = Arc::new(b.faces(2, false, half)?);
        let residual = Arc::new(b.allreduces(&[8])?);
        b.put(Cycle::new(vec![(colour, 2), (residual, 1)])?, SWEEPS);
        Ok(())
    }
}
