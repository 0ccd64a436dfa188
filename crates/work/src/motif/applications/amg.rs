//! A conjugate gradient preconditioned by algebraic multigrid (proxy application AMG of the Exascale Computing Project; hypre's BoomerAMG,
//! Henson and Yang 2002), on a 27-point stencil.
//!
//! One V(1,1) cycle: on each level a relaxation, a residual and a relaxation, each after an exchange with up to 26 neighbours; levels
//! shrink by 2 along each side, as geometric coarsening would, down to 2; the coarsest system is gathered by everybody, 8 bytes per rank.
//! Then a product with the matrix and two scalar products.

use super::super::keys::{ORDER, RANKS};
use super::super::{Compute, Misfit};
use super::{A_RANK, Application, Builder, application};
use crate::mpi::CollectiveKind;
use study::{Entry, Parameter};

const KEYS: &[Parameter] = &application("[64, 64, 64]", A_RANK);

/// The application.
pub(crate) struct Amg;

impl Application for Amg {
    const ENTRY: Entry = Entry::new("amg", "Skeleton of a conjugate gradient with algebraic multigrid.")
        .keys(&[KEYS, ORDER, RANKS])
        .source("Henson, Yang 2002; proxy application AMG");

    fn iteration(b: &mut Builder) -> Result<(), Misfit> {
        let fine: [u64; 3] = b.cells();
        let levels = fine.iter().min().map_or(0, |side| side.max(&1).ilog2());
        let level = |l: u32| fine.map(|side| side.div_ceil(1 << l));
        for l in 0..levels {
            b.halo_26(level(l), 54.0)?;
            b.halo_26(level(l), 54.0)?;
        }
        b.put(b.collective(CollectiveKind::Allgather, 8, None, Compute::Time(0))?, 1);
        for l in (0..levels).rev() {
            b.halo_26(level(l), 54.0)?;
        }
        b.halo_26(fine, 54.0 + 12.0)?;
        b.put(b.allreduces(&[8, 8])?, 1);
        Ok(())
    }
}
