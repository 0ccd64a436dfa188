//! Variational Monte Carlo with stochastic reconfiguration (mVMC of RIKEN's Fiber mini-applications; Misawa et al. 2019).
//!
//! A step: sampling, which needs no messages; sums of the n derivatives and of the n x n matrix of their products, 8 bytes each; the
//! solution, broadcast. 200 operations per element of the matrix are ours: most of them are the samples' outer products.

use super::super::keys::RANKS;
use super::super::{Compute, Misfit, product};
use super::{Application, Builder, application};
use crate::mpi::CollectiveKind;
use study::{Entry, Parameter};

const KEYS: &[Parameter] = &application("[1024]", "Variational parameters.");

/// The application.
pub(crate) struct Mvmc;

impl Application for Mvmc {
    const ENTRY: Entry = Entry::new("mvmc", "Skeleton of a step of variational Monte Carlo.")
        .keys(&[KEYS, RANKS])
        .source("Misawa et al. 2019; Fiber mini-applications");

    fn iteration(b: &mut Builder) -> Result<(), Misfit> {
        let n = b.cells[0];
        let compute = b.compute(200.0 * n as f64 * n as f64)?;
        let matrix = product("grid", &[n, n, 8])?;
        b.put(b.collective(CollectiveKind::Allreduce, matrix, None, compute)?, 1);
        b.put(b.allreduces(&[8 * n, 8])?, 1);
        b.put(b.collective(CollectiveKind::Bcast, 8 * n, None, Compute::Time(0))?, 1);
        Ok(())
    }
}
