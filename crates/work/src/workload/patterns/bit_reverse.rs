//! The node with the index bits in reverse order.

use super::{BitReverse, JobNodes, PatternKeys, PatternKind, TRAFFIC, pattern};
use crate::workload::Destinations;
use study::{Described, Entry};

impl Described for BitReverse {
    const ENTRY: Entry = pattern(
        "bit-reverse",
        "Node i of 2^b sends to the node with the b index bits of i in reverse order.",
    )
    .keys(&[TRAFFIC])
    .limits("Needs a power of two nodes.");
}

impl PatternKind for BitReverse {
    fn read(mut keys: PatternKeys<'_, '_>) -> Option<Self> {
        keys.is_power_of_two();
        Some(BitReverse {})
    }

    fn destinations(&self, job: &JobNodes<'_>) -> Result<Destinations, String> {
        let bits = job.index_bits()?;
        Ok(job.fixed(|i| i.reverse_bits() >> (32 - bits)))
    }
}
