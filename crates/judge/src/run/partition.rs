//! Which worker simulates which routers, where several share a run.

use super::RunError;
use des::Transport;
use des::layout::MAX_BLOCKS;
use des::ranks::Broken;
use fabric::blocks::Blocks;
use fabric::spec::{Engine, RunSpec};
use topo::{Partition, Topology};
use work::build_error::BuildError;

/// Blocks of a worker: each one's state stays in the second-level cache.
const PER_WORKER: usize = 8;

/// The blocks of a run; none if one worker runs it alone. Where ranks share it they all get those of the first: METIS need not do
/// the same on another machine.
pub(super) fn blocks(
    spec: &RunSpec,
    topology: &Topology,
    ranks: &mut Option<&mut dyn Transport>,
) -> Result<Option<Blocks>, RunError> {
    let n_ranks = ranks.as_ref().map_or(1, |ranks| ranks.size());
    let of_rank = usize::from(spec.control.workers).clamp(1, (MAX_BLOCKS / n_ranks).max(1));
    let workers = n_ranks * of_rank;
    let shared = matches!(
        spec.control.engine,
        Engine::Auto | Engine::Conservative | Engine::Optimistic
    );
    if workers == 1 || workers > MAX_BLOCKS || !shared {
        return Ok(None);
    }
    let method = spec.control.partition.method();
    let per_worker = PER_WORKER.min(MAX_BLOCKS / workers);
    let made = || {
        Partition::new(topology, &method, workers as u32, per_worker as u32).map_err(|error| {
            let hint = error.hint();
            BuildError::field("run.partition", error.to_string(), Some(&hint))
        })
    };
    let blocks = |partition: &Partition| Blocks::of_partition(partition, topology.n_routers());
    let Some(ranks) = ranks.as_mut().filter(|_| n_ranks > 1) else {
        return Ok(Some(blocks(&made()?)));
    };
    let mut out = vec![Vec::new(); n_ranks];
    let mut refused = None;
    if ranks.rank() == 0 {
        match made() {
            Ok(partition) => out.fill(blocks(&partition).to_bytes()),
            Err(error) => refused = Some(error),
        }
    }
    let came = ranks.exchange(out).map_err(|Broken(reason)| RunError::Ranks(reason))?;
    if let Some(error) = refused {
        return Err(error.into());
    }
    let of_rank = of_rank * per_worker;
    let mine = ranks.rank() * of_rank..(ranks.rank() + 1) * of_rank;
    let of = came.first().map_or(&[][..], |bytes| bytes);
    if of.is_empty() && topology.n_routers() > 0 {
        return Err(RunError::Elsewhere);
    }
    Blocks::from_bytes(of, workers * per_worker, workers)
        .filter(|blocks| blocks.n_routers() == topology.n_routers())
        .map(|blocks| Some(blocks.held(mine)))
        .ok_or_else(|| RunError::Ranks("the first rank's partition does not fit this network".into()))
}
