//! The perfect shuffle of a deck of nodes.

use super::{JobNodes, PatternKeys, PatternKind, Shuffle, TRAFFIC, pattern};
use crate::workload::Destinations;
use study::{Described, Entry};

impl Described for Shuffle {
    const ENTRY: Entry = pattern(
        "shuffle",
        "Node i of 2^b sends to the node with the b index bits of i moved up by one, the first to the end.",
    )
    .keys(&[TRAFFIC])
    .limits("Needs a power of two nodes.");
}

impl PatternKind for Shuffle {
    fn read(mut keys: PatternKeys<'_, '_>) -> Option<Self> {
        keys.is_power_of_two();
        Some(Shuffle {})
    }

    fn destinations(&self, job: &JobNodes<'_>) -> Result<Destinations, String> {
        let bits = job.index_bits()?;
        Ok(job.fixed(|i| (i << 1 | i >> (bits - 1)) & (job.n() - 1)))
    }
}
