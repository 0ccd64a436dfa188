//! A fixed distance round the ring of all nodes.

use super::{JobNodes, NODES, PatternKeys, PatternKind, Shift, TRAFFIC, pattern};
use crate::workload::Destinations;
use study::{Default, Described, Entry, Parameter, key};

const SHIFT: &[Parameter] = &[key(
    "by",
    NODES,
    Default::From("half the number of nodes"),
    "The distance.",
)];

impl Described for Shift {
    const ENTRY: Entry = pattern("shift", "Node i sends to node i + by, round the end.").keys(&[SHIFT, TRAFFIC]);
}

impl PatternKind for Shift {
    fn read(mut keys: PatternKeys<'_, '_>) -> Option<Self> {
        Some(Shift {
            by: keys.at_most("by", |n| n.saturating_sub(1), "the largest distance is"),
        })
    }

    fn destinations(&self, job: &JobNodes<'_>) -> Result<Destinations, String> {
        let n = job.n();
        let by = self.by.unwrap_or(n / 2) % n;
        Ok(job.fixed(|i| (i + by) % n))
    }
}
