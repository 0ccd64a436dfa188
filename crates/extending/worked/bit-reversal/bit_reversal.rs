//! The node with the index bits in reverse order.

use super::{BitReversal, JobNodes, PatternKeys, PatternKind, TRAFFIC, pattern};
use crate::workload::Destinations;
use study::{Described, Entry};

impl Described for BitReversal {
    const ENTRY: Entry = pattern(
        "bit-reversal",
        "Node i sends to the node with the index bits of i in reverse order.",
    )
    .keys(&[TRAFFIC])
    .limits("Needs a power of two nodes.");
}

impl PatternKind for BitReversal {
    fn read(keys: PatternKeys<'_, '_>) -> Option<Self> {
        if let Some(n) = keys.n_nodes.filter(|n| !n.is_power_of_two()) {
            let hint = format!("give nodes = {} to the job", 1u64 << n.ilog2());
            let path = format!("{}.kind", keys.values.path);
            let reason = format!("needs a power of two nodes, there are {n}");
            keys.findings.error(keys.values.place, &path, reason, hint);
        }
        Some(BitReversal {})
    }

    fn destinations(&self, job: &JobNodes<'_>) -> Result<Destinations, String> {
        let n = job.n();
        if !n.is_power_of_two() {
            return Err(format!("bit-reversal needs a power of two nodes, {n} is none"));
        }
        Ok(job.fixed(|i| i.reverse_bits() >> (32 - n.ilog2())))
    }
}
