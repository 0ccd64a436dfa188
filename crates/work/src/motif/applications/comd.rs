//! Molecular dynamics with embedded-atom potential (proxy application CoMD 1.1 of ExMatEx; weak scaling of copper, 4 atoms per cell).
//!
//! Ten time steps. Each sends atoms within the cutoff of a face, dimension by dimension around a periodic box: a shell 1.44 unit cells
//! thick, 5.76 atoms of 56 bytes per cell of a face; computes the forces; and sends 8 bytes per atom of the shell for the embedding
//! term. After ten steps energy and number of atoms are summed. 86 neighbours of an atom with 120 operations each are ours.

use super::super::keys::{ORDER, RANKS};
use super::super::{Compute, Cycle, Misfit};
use super::{Application, Builder, application};
use std::sync::Arc;
use study::{Entry, Parameter};

const KEYS: &[Parameter] = &application("[20, 20, 20]", "Unit cells of 4 atoms of a rank along x, y, z.");

/// The application.
pub(crate) struct Comd;

impl Application for Comd {
    const ENTRY: Entry = Entry::new("comd", "Skeleton of molecular dynamics, ten time steps.")
        .keys(&[KEYS, ORDER, RANKS])
        .source("proxy application CoMD 1.1");

    fn iteration(b: &mut Builder) -> Result<(), Misfit> {
        const STEPS: u32 = 10;
        let step = b.compute_each(b.n_cells() * 4.0 * 86.0 * 120.0, STEPS)?;
        let atoms = Arc::new(b.faces(323, true, Compute::Time(0))?);
        let embedding = Arc::new(b.faces(46, true, step)?);
        b.put(Cycle::new(vec![(atoms, 1), (embedding, 1)])?, STEPS);
        b.put(b.allreduces(&[16, 8])?, 1);
        Ok(())
    }
}
