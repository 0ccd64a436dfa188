//! An unpreconditioned conjugate gradient of finite elements (proxy application miniFE; Heroux et al. 2009, SAND2009-5574).
//!
//! A product with the matrix of 27 values per row after an exchange of the faces, edges and corners of the nodes, and two scalar products.

use super::super::Misfit;
use super::super::keys::{ORDER, RANKS};
use super::{Application, Builder, application};
use study::{Entry, Parameter};

const KEYS: &[Parameter] = &application("[100, 100, 100]", "Elements of a rank along x, y, z.");

/// The application.
pub(crate) struct Minife;

impl Application for Minife {
    const ENTRY: Entry = Entry::new("minife", "Skeleton of a conjugate gradient of finite elements.")
        .keys(&[KEYS, ORDER, RANKS])
        .source("Heroux et al. 2009, SAND2009-5574");

    fn iteration(b: &mut Builder) -> Result<(), Misfit> {
        let nodes = b.cells::<3>().map(|side| side + 1);
        b.halo_26(nodes, 54.0 + 10.0)?;
        b.put(b.allreduces(&[8, 8])?, 1);
        Ok(())
    }
}
