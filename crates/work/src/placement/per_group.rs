//! Group after group.

use super::{GROUPS, PerGroup, PlacedJob, PlacementKeys, PlacementKind, PlacementMisfit};
use study::{Described, Entry};

impl Described for PerGroup {
    const ENTRY: Entry = Entry::new(
        "per-group",
        "Fills one group after the other, the groups in random order.",
    )
    .source("Jain et al. 2014, random groups")
    .limits(GROUPS);
}

impl PlacementKind for PerGroup {
    fn read(_keys: PlacementKeys<'_, '_>) -> Option<Self> {
        Some(PerGroup {})
    }

    fn misfit(&self, _n_nodes: u32, has_groups: bool) -> Option<PlacementMisfit> {
        PlacementMisfit::without_groups(has_groups)
    }

    fn order(&self, free: Vec<u32>, job: &mut PlacedJob<'_>) -> Result<Vec<u32>, (String, &'static str)> {
        Ok(job.groups(&free).concat())
    }
}
