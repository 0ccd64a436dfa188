//! Rows and columns of a square of nodes exchanged.

use super::{JobNodes, PatternKind, TRAFFIC, Told, Transpose, pattern};
use crate::workload::Destinations;
use study::{Entry, Kind};

impl Kind for Transpose {
    const ENTRY: Entry = pattern("transpose", "Node r * k + c of k * k sends to node c * k + r.")
        .keys(&[TRAFFIC])
        .limits("Needs a square number of nodes.");
}

impl PatternKind for Transpose {
    fn read(told: Told<'_, '_>) -> Option<Self> {
        if let Some(n) = told.n_nodes.filter(|n| n.isqrt() * n.isqrt() != *n) {
            let side = n.isqrt();
            let reason = format!("needs a square number of nodes, there are {n}");
            let hint = format!("give nodes = {} to the job", side * side);
            let path = format!("{}.kind", told.values.path);
            told.findings.error(told.values.place, &path, reason, hint);
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
