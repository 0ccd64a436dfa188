//! METIS: multilevel partitioning of graphs (Karypis & Kumar 1998).
//!
//! METIS draws from the C library's one random state and traps SIGTERM during a call, so calls follow each other and each starts from
//! the same seed. Its random numbers are those of the C library: machines with different ones may get different, equally valid partitions.

use crate::topology::Topology;
use metis::option::{NCuts, Seed};
use metis::{Graph, Idx};
use std::sync::{Mutex, PoisonError};

/// Routers up to which METIS is asked: 1 to 3 s for a torus of a million.
const MOST_ROUTERS: u32 = 2_000_000;

/// Routers per worker from which METIS is asked; it cannot halve what is hardly more than its parts.
const LEAST_PER_WORKER: u32 = 4;

/// Parts up to which recursive bisection is used; above, it is slower than k-way partitioning and no better.
const MOST_RECURSIVE: u32 = 8;

/// Routers up to which several partitions are tried and the best is kept.
const MOST_TRIED: u32 = 50_000;

/// METIS counts weights in 32 bits.
const MOST_WEIGHT: u64 = 1 << 29;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A worker for every router, or why METIS was not asked.
pub(super) fn workers(topology: &Topology, weights: &[u32], workers: u32) -> Result<Vec<u32>, String> {
    let n = topology.n_routers();
    let total: u64 = weights.iter().map(|&w| u64::from(w)).sum();
    let heaviest = weights.iter().copied().max().unwrap_or(0);
    if n > MOST_ROUTERS || topology.wiring().n_ports() > Idx::MAX as u32 {
        return Err(format!(
            "{n} routers are too many for METIS: shared out by the family's order"
        ));
    }
    if n / LEAST_PER_WORKER < workers || u64::from(heaviest) * u64::from(workers) > total {
        return Err(format!(
            "{n} routers are too few for METIS with {workers} workers: shared out by the family's order"
        ));
    }
    let scale = total / MOST_WEIGHT + 1;
    let vertex: Vec<Idx> = weights.iter().map(|&w| (u64::from(w) / scale).max(1) as Idx).collect();
    let (mut first, mut peers, mut cables) = (vec![0 as Idx], Vec::new(), Vec::new());
    for r in 0..n {
        for run in topology.wiring().runs(r) {
            peers.push(run.peer as Idx);
            cables.push(Idx::from(run.links));
        }
        first.push(peers.len() as Idx);
    }
    let tries = if n <= MOST_TRIED { 8 } else { 1 };
    let mut part = vec![0 as Idx; n as usize];
    let failed = |error: &dyn std::fmt::Display| format!("METIS gave up ({error}): shared out by the family's order");
    let graph = Graph::new(1, workers as Idx, &first, &peers).map_err(|error| failed(&error))?;
    let graph = graph
        .set_vwgt(&vertex)
        .set_adjwgt(&cables)
        .set_option(Seed(1))
        .set_option(NCuts(tries));
    {
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        if workers <= MOST_RECURSIVE {
            graph.part_recursive(&mut part)
        } else {
            graph.part_kway(&mut part)
        }
        .map_err(|error| failed(&error))?;
    }
    Ok(part.into_iter().map(|p| p as u32).collect())
}
