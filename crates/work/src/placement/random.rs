//! Free nodes, shuffled.

use super::{PlacedJob, PlacementKeys, PlacementKind, Random};
use study::{Described, Entry};

impl Described for Random {
    const ENTRY: Entry = Entry::new("random", "A seeded random permutation of the free nodes.");
}

impl PlacementKind for Random {
    fn read(_keys: PlacementKeys<'_, '_>) -> Option<Self> {
        Some(Random {})
    }

    fn takes_what_is_left(&self) -> bool {
        true
    }

    fn order(&self, mut free: Vec<u32>, job: &mut PlacedJob<'_>) -> Result<Vec<u32>, (String, &'static str)> {
        job.random.shuffle(&mut free);
        Ok(free)
    }
}
