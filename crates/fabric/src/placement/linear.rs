//! Free nodes as they come.

use super::{Job, Linear, PlacementKind, Told};
use study::{Entry, Kind};

impl Kind for Linear {
    const ENTRY: Entry = Entry::new("linear", "Logical nodes on the free nodes in index order.");
}

impl PlacementKind for Linear {
    fn read(_told: Told<'_, '_>) -> Option<Self> {
        Some(Linear {})
    }

    fn order(&self, free: Vec<u32>, _job: &mut Job<'_>) -> Result<Vec<u32>, (String, &'static str)> {
        Ok(free)
    }
}
