//! Workers of a rank that run ahead: rounds of windows as in [`crate::rounds`], at the end of each a meeting of all workers of all ranks.

use super::hub::{Abroad, Hub};
use crate::crew::{Bounds, Burst};
use crate::report::WorkerReport;
use crate::rounds::{self, Agreed, MemoryBudget};
use crate::speculator::Speculator;
use crate::worker::Lanes;
use crate::world::World;

/// Runs rounds on the workers of this rank, the first on the calling thread, until one of the bounds is reached; what was run is
/// committed then.
pub(super) fn run<W: World>(
    world: &W,
    workers: &mut [Speculator<W>],
    hub: &mut Hub<W::Event, 2>,
    (memory, agreed): (MemoryBudget, &mut Agreed),
    bounds: Bounds,
    abroad: &mut Abroad<'_>,
) -> Burst {
    let (first, rest) = workers.split_first_mut().expect("a rank has a worker");
    let before = *agreed;
    let work = |worker: &mut Speculator<W>, me, mut abroad: Option<&mut Abroad<'_>>| {
        let mut seat = hub.sit(me);
        let meet = |worker: &mut Speculator<W>, report: WorkerReport| {
            let (own, n_blocks) = (worker.own(), worker.lanes.n_blocks);
            let Lanes { rings, grid, pool, .. } = &mut worker.lanes;
            let mut rings = [&mut rings[..n_blocks], &mut worker.antis[..n_blocks]];
            seat.meet(&own, grid, (&mut rings, pool), report, abroad.as_deref_mut())
        };
        rounds::work(world, worker, bounds, memory, before, meet)
    };
    let burst;
    (burst, *agreed) = std::thread::scope(|scope| {
        let work = &work;
        for (me, worker) in (1..).zip(rest) {
            scope.spawn(move || work(worker, me, None));
        }
        work(first, 0, Some(abroad))
    });
    hub.step += 2 * burst.windows;
    burst
}
