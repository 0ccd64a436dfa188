//! Free nodes as they come.

use super::{Linear, PlacedJob, PlacementKeys, PlacementKind};
use study::{Described, Entry};

impl Described for Linear {
    const ENTRY: Entry = Entry::new("linear", "Logical nodes on the free nodes in index order.");
}

impl PlacementKind for Linear {
    fn read(_keys: PlacementKeys<'_, '_>) -> Option<Self> {
        Some(Linear {})
    }

    fn order(&self, free: Vec<u32>, _job: &mut PlacedJob<'_>) -> Result<Vec<u32>, (String, &'static str)> {
        Ok(free)
    }
}
