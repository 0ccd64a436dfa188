//! Routers of a square lattice that change places.

use super::{JobNodes, PatternKeys, PatternKind, RouterTranspose, TRAFFIC, pattern};
use crate::workload::Destinations;
use study::{Described, Entry};

impl Described for RouterTranspose {
    const ENTRY: Entry = pattern(
        "router-transpose",
        "Nodes of the router at (x, y) send to those of the router at (y, x), each to the one of its own place.",
    )
    .keys(&[TRAFFIC])
    .limits("Needs a lattice of 2 m dimensions, whose first m are as long as its last m and change places with them, and a job on all of it.");
}

impl PatternKind for RouterTranspose {
    fn read(_keys: PatternKeys<'_, '_>) -> Option<Self> {
        Some(RouterTranspose {})
    }

    fn destinations(&self, job: &JobNodes<'_>) -> Result<Destinations, String> {
        let needs = "router-transpose needs a lattice whose first dimensions are as long as its last";
        let shape = job.topology.lattice_shape().ok_or(needs)?;
        let (n, half) = (shape.len(), shape.len() / 2);
        if n % 2 == 1 || shape[..half] != shape[half..] {
            return Err(format!("{needs}; its shape is {shape:?}"));
        }
        let mirrored = job.on_whole_lattice(1, |router, targets| {
            let at = job.topology.coords(router)?;
            for d in 0..n {
                let by = i64::from(at[(d + half) % n]) - i64::from(at[d]);
                targets[0] = job.topology.shifted(targets[0], d, by)?;
            }
            Some(())
        });
        mirrored.ok_or_else(|| "router-transpose needs a job on all nodes of the network in order".to_owned())
    }
}
