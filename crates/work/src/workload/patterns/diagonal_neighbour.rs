//! The router one on in every dimension at once.

use super::{DiagonalNeighbour, JobNodes, PatternKeys, PatternKind, TRAFFIC, pattern};
use crate::workload::Destinations;
use study::{Described, Entry};

impl Described for DiagonalNeighbour {
    const ENTRY: Entry = pattern(
        "diagonal-neighbour",
        "The router one on in every dimension of a lattice at once, or node i + 1 elsewhere.",
    )
    .keys(&[TRAFFIC]);
}

impl PatternKind for DiagonalNeighbour {
    fn read(_keys: PatternKeys<'_, '_>) -> Option<Self> {
        Some(DiagonalNeighbour {})
    }

    fn destinations(&self, job: &JobNodes<'_>) -> Result<Destinations, String> {
        let on_lattice = job.along_all(|_| 1);
        Ok(on_lattice.unwrap_or_else(|| job.fixed(|i| (i + 1) % job.n())))
    }
}
