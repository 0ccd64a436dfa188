//! A multigrid-preconditioned conjugate gradient on a 27-point stencil (Heroux, Dongarra, Luszczek 2013, HPCG technical specification).
//!
//! Four grids, each of half the sides of the one before. Down: a symmetric Gauss-Seidel sweep and a residual on each but the coarsest;
//! there a sweep; up: a sweep. Then a scalar product, a product with the matrix, and two scalar products. A sweep or product begins with
//! an exchange of halos; a product takes 54 operations per cell, a symmetric sweep 108.

use super::super::Misfit;
use super::super::keys::{ORDER, RANKS};
use super::{A_RANK, Application, Builder, application};
use study::{Entry, Parameter};

const KEYS: &[Parameter] = &application("[104, 104, 104]", A_RANK);

/// The application.
pub(crate) struct Hpcg;

impl Application for Hpcg {
    const ENTRY: Entry = Entry::new("hpcg", "Skeleton of a conjugate gradient with four grids.")
        .keys(&[KEYS, ORDER, RANKS])
        .source("Heroux, Dongarra, Luszczek 2013");

    fn iteration(b: &mut Builder) -> Result<(), Misfit> {
        let fine = b.cells();
        let level = |l: u32| fine.map(|side: u64| side.div_ceil(1 << l));
        for l in 0..3 {
            b.halo_26(level(l), 108.0)?;
            b.halo_26(level(l), 54.0)?;
        }
        for l in (0..=3).rev() {
            b.halo_26(level(l), 108.0)?;
        }
        b.put(b.allreduces(&[8])?, 1);
        b.halo_26(fine, 54.0 + 12.0)?;
        b.put(b.allreduces(&[8, 8])?, 1);
        Ok(())
    }
}
