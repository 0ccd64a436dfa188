//! The node with all index bits turned.

use super::{BitComplement, JobNodes, PatternKeys, PatternKind, TRAFFIC, pattern};
use crate::workload::Destinations;
use study::{Described, Entry};

impl Described for BitComplement {
    const ENTRY: Entry = pattern("bit-complement", "Node i of n sends to node n - 1 - i.")
        .keys(&[TRAFFIC])
        .limits("With a power of two nodes it is the complement of the index bits.");
}

impl PatternKind for BitComplement {
    fn read(_keys: PatternKeys<'_, '_>) -> Option<Self> {
        Some(BitComplement {})
    }

    fn destinations(&self, job: &JobNodes<'_>) -> Result<Destinations, String> {
        Ok(job.fixed(|i| job.n() - 1 - i))
    }
}
