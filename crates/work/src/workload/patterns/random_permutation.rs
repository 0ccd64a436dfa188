//! A partner for every node, drawn once.

use super::{JobNodes, PatternKeys, PatternKind, RandomPermutation, TRAFFIC, pattern};
use crate::workload::Destinations;
use des::rng::SplitMix;
use study::{Described, Entry};

impl Described for RandomPermutation {
    const ENTRY: Entry = pattern(
        "random-permutation",
        "One seeded random permutation without fixed points.",
    )
    .keys(&[TRAFFIC]);
}

impl PatternKind for RandomPermutation {
    fn read(_keys: PatternKeys<'_, '_>) -> Option<Self> {
        Some(RandomPermutation {})
    }

    fn destinations(&self, job: &JobNodes<'_>) -> Result<Destinations, String> {
        let mut order: Vec<u32> = (0..job.n()).collect();
        SplitMix(job.seed).shuffle(&mut order);
        // Along the random cycle every node has a successor other than itself.
        let mut next = vec![0; order.len()];
        for (k, &i) in order.iter().enumerate() {
            next[i as usize] = order[(k + 1) % order.len()];
        }
        Ok(job.fixed(|i| next[i as usize]))
    }
}
