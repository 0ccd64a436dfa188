//! Many to one.

use super::{Incast, JobNodes, NODES, PatternKeys, PatternKind, TRAFFIC};
use crate::workload::{Destinations, NOBODY};
use study::{Default, Described, Entry, Parameter, key};

const INCAST: &[Parameter] = &[key(
    "sources",
    NODES,
    Default::From("all other nodes"),
    "Number of senders: nodes 1, 2, ...",
)];

impl Described for Incast {
    const ENTRY: Entry =
        Entry::new("incast", "Some nodes send to node 0, the others are silent.").keys(&[INCAST, TRAFFIC]);
}

impl PatternKind for Incast {
    fn read(mut keys: PatternKeys<'_, '_>) -> Option<Self> {
        Some(Incast {
            sources: keys.at_most("sources", |n| n.saturating_sub(1), "there are at most"),
        })
    }

    fn destinations(&self, job: &JobNodes<'_>) -> Result<Destinations, String> {
        let n = job.n();
        let sources = self.sources.unwrap_or(n - 1);
        if sources == 0 || sources >= n {
            return Err(format!("{sources} senders: with {n} nodes it takes 1 to {}", n - 1));
        }
        Ok(job.fixed(|i| if i >= 1 && i <= sources { 0 } else { NOBODY }))
    }
}
