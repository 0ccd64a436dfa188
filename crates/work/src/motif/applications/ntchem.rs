//! Second-order perturbation energies from blocks of three-centre integrals (NTChem-MINI, RI-MP2, of RIKEN's Fiber mini-applications).
//!
//! Every rank multiplies its block with that of every other one: a block of 8-byte values from the rank d before, d = 1, 2, ..., and a
//! product of matrices; at the end a sum of 8 bytes. 2 x 256 operations per value of a block are ours.

use super::super::keys::RANKS;
use super::super::{Misfit, MpiGraph, MpiGraphParameters, product};
use super::{Application, Builder, application};
use study::{Entry, Parameter};

const KEYS: &[Parameter] = &application("[32, 32, 8]", "Sides of a rank's block of integrals.");

/// The application.
pub(crate) struct Ntchem;

impl Application for Ntchem {
    const ENTRY: Entry = Entry::new(
        "ntchem",
        "Skeleton of perturbation energies: blocks from every other rank.",
    )
    .keys(&[KEYS, RANKS])
    .source("NTChem-MINI, Fiber mini-applications");

    fn iteration(b: &mut Builder) -> Result<(), Misfit> {
        let block = product("grid", &[product("grid", &b.cells)?, 8])?;
        let exchanges = b.ranks.saturating_sub(1);
        let each = b.compute_each(b.n_cells() * 512.0, exchanges)?;
        if exchanges > 0 {
            let motif = MpiGraph::new(&MpiGraphParameters {
                ranks: b.ranks,
                bytes: block,
                window: 1,
                barrier: false,
                compute: each,
            })?;
            b.put(motif, 1);
        }
        b.put(b.allreduces(&[8])?, 1);
        Ok(())
    }
}
