//! The node with the index bits moved down by one.

use super::{BitRotation, JobNodes, PatternKeys, PatternKind, TRAFFIC, pattern};
use crate::workload::Destinations;
use study::{Described, Entry};

impl Described for BitRotation {
    const ENTRY: Entry = pattern(
        "bit-rotation",
        "Node i of 2^b sends to the node with the b index bits of i moved down by one, the last to the front.",
    )
    .keys(&[TRAFFIC])
    .limits("Needs a power of two nodes.");
}

impl PatternKind for BitRotation {
    fn read(mut keys: PatternKeys<'_, '_>) -> Option<Self> {
        keys.is_power_of_two();
        Some(BitRotation {})
    }

    fn destinations(&self, job: &JobNodes<'_>) -> Result<Destinations, String> {
        let bits = job.index_bits()?;
        Ok(job.fixed(|i| i >> 1 | (i & 1) << (bits - 1)))
    }
}
