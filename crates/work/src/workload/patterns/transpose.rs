//! Rows and columns of a square of nodes exchanged.

use super::{JobNodes, PatternKeys, PatternKind, TRAFFIC, Transpose, pattern};
use crate::workload::Destinations;
use study::{Described, Entry};

impl Described for Transpose {
    const ENTRY: Entry = pattern("transpose", "Node r * k + c of k * k sends to node c * k + r.")
        .keys(&[TRAFFIC])
        .limits("Needs a square number of nodes.");
}

impl PatternKind for Transpose {
    fn read(keys: PatternKeys<'_, '_>) -> Option<Self> {
        if let Some(n) = keys.n_nodes.filter(|n| n.isqrt() * n.isqrt() != *n) {
            let side = n.isqrt();
            let reason = format!("needs a square number of nodes, there are {n}");
            let hint = format!("give nodes = {} to the job", side * side);
            let path = format!("{}.kind", keys.values.path);
            keys.findings.error(keys.values.place, &path, reason, hint);
        }
        Some(Transpose {})
    }

    fn destinations(&self, job: &JobNodes<'_>) -> Result<Destinations, String> {
        let (n, side) = (job.n(), job.n().isqrt());
        if side * side != n {
            return Err(format!("transpose needs a square number of nodes, {n} is none"));
        }
        Ok(job.fixed(|i| i % side * side + i / side))
    }
}
