//! Any node of a group some way on: the worst case of dragonflies.

use super::{GroupShift, JobNodes, NODES, PatternKeys, PatternKind, TRAFFIC};
use crate::workload::Destinations;
use crate::workload::destinations::{Drawn, Units};
use study::{Default, Described, Entry, Parameter, key};

const GROUP_SHIFT: &[Parameter] = &[key(
    "by",
    NODES,
    Default::Text("1"),
    "How many groups on; counted among the groups that the job has nodes of, round the end.",
)];

impl Described for GroupShift {
    const ENTRY: Entry = Entry::new(
        "group-shift",
        "A node sends to random nodes of the group `by` further on.",
    )
    .keys(&[GROUP_SHIFT, TRAFFIC])
    .source("Kim, Dally, Scott and Abts, ISCA 2008, section 4.2, with `by = 1`")
    .limits("Needs a network with groups (dragonfly, dragonfly+, pods of a fat-tree, planes of a lattice), and a job in several of them.");
}

impl PatternKind for GroupShift {
    fn read(keys: PatternKeys<'_, '_>) -> Option<Self> {
        Some(GroupShift {
            by: keys.values.integer_u32("by")?,
        })
    }

    fn destinations(&self, job: &JobNodes<'_>) -> Result<Destinations, String> {
        let groups = job.groups()?;
        let mut taken = groups.clone();
        taken.sort_unstable();
        taken.dedup();
        if taken.len() < 2 || (self.by as usize).is_multiple_of(taken.len()) {
            let n = taken.len();
            return Err(format!(
                "{} groups on from each of the {n} groups of the job is the group itself",
                self.by
            ));
        }
        let on = |k: usize| taken[(k + self.by as usize) % taken.len()];
        let weights: Vec<_> = (0..taken.len()).map(|k| (taken[k], on(k), 1.0)).collect();
        Drawn::new(Units::new(job.nodes, groups), &weights, true).map(|drawn| Destinations::Drawn(drawn.into()))
    }
}
