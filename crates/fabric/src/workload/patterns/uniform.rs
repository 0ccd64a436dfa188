//! Any other node, uniformly at random. The hot path knows it by itself.

use super::{JobNodes, PatternKind, TRAFFIC, Told, Uniform, pattern};
use crate::workload::Destinations;
use study::{Entry, Kind};

impl Kind for Uniform {
    const ENTRY: Entry = pattern("uniform", "Every message to any other node, uniformly at random.").keys(&[TRAFFIC]);
}

impl PatternKind for Uniform {
    fn read(_told: Told<'_, '_>) -> Option<Self> {
        Some(Uniform {})
    }

    fn destinations(&self, _job: &JobNodes<'_>) -> Result<Destinations, String> {
        Ok(Destinations::Uniform)
    }
}
