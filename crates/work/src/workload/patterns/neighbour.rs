//! The nearest others, one dimension after the other.

use super::{JobNodes, Neighbour, PatternKeys, PatternKind, TRAFFIC, pattern};
use crate::workload::Destinations;
use study::{Described, Entry};

impl Described for Neighbour {
    const ENTRY: Entry = pattern(
        "neighbour",
        "The next router in every dimension of a lattice in turn, or node i + 1 elsewhere.",
    )
    .keys(&[TRAFFIC]);
}

impl PatternKind for Neighbour {
    fn read(_keys: PatternKeys<'_, '_>) -> Option<Self> {
        Some(Neighbour {})
    }

    fn destinations(&self, job: &JobNodes<'_>) -> Result<Destinations, String> {
        Ok(job.along_each().unwrap_or_else(|| job.fixed(|i| (i + 1) % job.n())))
    }
}
