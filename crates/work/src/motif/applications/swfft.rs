//! A Fourier transform and its inverse on pencils (proxy application SWFFT, from HACC; Habib et al. 2016).
//!
//! Blocks are made pencils along a dimension and blocks again, for z, y and x in turn: two all-to-alls on the lines of that dimension,
//! each carrying all complex values of 16 bytes of a rank. 5 log2 N operations per cell and transform of N cells.

use super::super::keys::RANKS;
use super::super::{Compute, Grid, Misfit, Suba2a, Suba2aParameters, product};
use super::{A_RANK, Application, Builder, application};
use study::{Entry, Parameter};

const KEYS: &[Parameter] = &application("[64, 64, 64]", A_RANK);

/// The application.
pub(crate) struct Swfft;

impl Application for Swfft {
    const ENTRY: Entry = Entry::new("swfft", "Skeleton of a Fourier transform on pencils and its inverse.")
        .keys(&[KEYS, RANKS])
        .source("Habib et al. 2016; proxy application SWFFT");

    fn iteration(b: &mut Builder) -> Result<(), Misfit> {
        let sides = Grid::<3>::near_cubic(b.ranks)?.sides();
        let own = product("grid", &[product("grid", &b.cells)?, 16])?;
        let all = b.n_cells() * f64::from(b.ranks);
        for _ in 0..2 {
            for d in [2, 1, 0] {
                let compute = b.compute(b.n_cells() * 5.0 * all.log2() / 3.0)?;
                for compute in [Compute::Time(0), compute] {
                    let mut bytes = [0; 3];
                    bytes[d] = own / u64::from(sides[d]);
                    let motif = Suba2a::new(&Suba2aParameters {
                        ranks: b.ranks,
                        grid: None,
                        bytes,
                        compute,
                    })?;
                    b.put(motif, 1);
                }
            }
        }
        Ok(())
    }
}
