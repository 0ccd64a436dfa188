//! Groups in turn.

use super::{GROUPS, PlacedJob, PlacementKeys, PlacementKind, PlacementMisfit, Spread};
use study::{Described, Entry};

impl Described for Spread {
    const ENTRY: Entry =
        Entry::new("spread", "A node of each group in turn, the groups in random order.").limits(GROUPS);
}

impl PlacementKind for Spread {
    fn read(_keys: PlacementKeys<'_, '_>) -> Option<Self> {
        Some(Spread {})
    }

    fn misfit(&self, _n_nodes: u32, has_groups: bool) -> Option<PlacementMisfit> {
        PlacementMisfit::without_groups(has_groups)
    }

    fn order(&self, free: Vec<u32>, job: &mut PlacedJob<'_>) -> Result<Vec<u32>, (String, &'static str)> {
        let groups = job.groups(&free);
        let mut order = Vec::with_capacity(free.len());
        let longest = groups.iter().map(Vec::len).max().unwrap_or(0);
        for round in 0..longest {
            order.extend(groups.iter().filter_map(|group| group.get(round)));
        }
        Ok(order)
    }
}
