//! Any other node, or any node, uniformly at random. The hot path knows it by itself.

use super::{JobNodes, PatternKeys, PatternKind, TRAFFIC, Uniform, pattern};
use crate::workload::Destinations;
use study::{Described, Entry};

impl Described for Uniform {
    const ENTRY: Entry = pattern("uniform", "Every message to any other node, uniformly at random.").keys(&[TRAFFIC]);
}

impl PatternKind for Uniform {
    fn read(_keys: PatternKeys<'_, '_>) -> Option<Self> {
        Some(Uniform {})
    }

    fn destinations(&self, job: &JobNodes<'_>) -> Result<Destinations, String> {
        Ok(match job.to_itself {
            true => Destinations::Any,
            false => Destinations::Uniform,
        })
    }
}
