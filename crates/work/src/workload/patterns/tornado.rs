//! Half-way round, the same way everywhere: what loads one direction of every ring.

use super::{JobNodes, PatternKeys, PatternKind, TRAFFIC, Tornado, pattern};
use crate::workload::Destinations;
use study::{Described, Entry};

impl Described for Tornado {
    const ENTRY: Entry = pattern(
        "tornado",
        "Nearly half-way round in every dimension of a lattice, or round the node ring elsewhere.",
    )
    .keys(&[TRAFFIC]);
}

impl PatternKind for Tornado {
    fn read(_keys: PatternKeys<'_, '_>) -> Option<Self> {
        Some(Tornado {})
    }

    fn destinations(&self, job: &JobNodes<'_>) -> Result<Destinations, String> {
        Ok(job
            .along_all(|length| (length.div_ceil(2) - 1).max(1))
            .unwrap_or_else(|| {
                let n = job.n();
                let by = (n.div_ceil(2) - 1).max(1);
                job.fixed(|i| (i + by) % n)
            }))
    }
}
