//! A fixed distance round the ring of all nodes.

use super::{JobNodes, NODES, PatternKind, Shift, TRAFFIC, Told, pattern};
use crate::workload::Destinations;
use study::{Default, Entry, Kind, Parameter, key};

const SHIFT: &[Parameter] = &[key(
    "by",
    NODES,
    Default::From("half the number of nodes"),
    "The distance.",
)];

impl Kind for Shift {
    const ENTRY: Entry = pattern("shift", "Node i sends to node i + by, round the end.").keys(&[SHIFT, TRAFFIC]);
}

impl PatternKind for Shift {
    fn read(mut told: Told<'_, '_>) -> Option<Self> {
        Some(Shift {
            by: told.at_most("by", |n| n.saturating_sub(1), "the largest distance is"),
        })
    }

    fn destinations(&self, job: &JobNodes<'_>) -> Result<Destinations, String> {
        let n = job.n();
        let by = self.by.unwrap_or(n / 2) % n;
        Ok(job.fixed(|i| (i + by) % n))
    }
}
