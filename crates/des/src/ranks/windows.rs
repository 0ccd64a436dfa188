//! Conservative workers of a rank: their windows up to where others could reach them, then a meeting of all workers of all ranks.

use super::hub::{Abroad, Hub, Seat};
use crate::crew::{Bounds, Burst, Pause};
use crate::mail::NEVER;
use crate::report::WorkerReport;
use crate::worker::Worker;
use crate::world::World;

/// Runs windows on the workers of this rank, the first on the calling thread, until one of the bounds is reached.
pub(super) fn run<W: World>(
    world: &W,
    workers: &mut [Worker<W>],
    hub: &mut Hub<W::Event, 1>,
    bounds: Bounds,
    abroad: &mut Abroad<'_>,
) -> Burst {
    let (first, rest) = workers.split_first_mut().expect("a rank has a worker");
    let burst = std::thread::scope(|scope| {
        let hub = &*hub;
        for (me, worker) in (1..).zip(rest) {
            scope.spawn(move || work(world, worker, hub.sit(me), bounds, None));
        }
        work(world, first, hub.sit(0), bounds, Some(abroad))
    });
    hub.step += 2 * burst.windows;
    burst
}

fn work<W: World>(
    world: &W,
    worker: &mut Worker<W>,
    mut seat: Seat<'_, W::Event, 1>,
    bounds: Bounds,
    mut abroad: Option<&mut Abroad<'_>>,
) -> Burst {
    let mut index = bounds.index;
    let mut burst = Burst {
        pause: Pause::Until,
        events: 0,
        windows: 0,
    };
    loop {
        if index == NEVER {
            burst.pause = Pause::Idle;
            return burst;
        }
        if index.saturating_mul(worker.lanes.grid.width) >= bounds.until.0 {
            return burst;
        }
        let executed = worker.run_windows(world, index..index + bounds.together, bounds.until);
        let report = WorkerReport {
            next: worker.next_window().unwrap_or(NEVER),
            executed,
            broken: u64::from(worker.lanes.broken.is_some()),
            ..WorkerReport::NOTHING
        };
        let own = worker.own();
        let lanes = &mut worker.lanes;
        let mut rings = [&mut lanes.rings[..lanes.n_blocks]];
        let Some(all) = seat.meet(
            &own,
            &lanes.grid,
            (&mut rings, &mut lanes.pool),
            report,
            abroad.as_deref_mut(),
        ) else {
            burst.pause = Pause::Broken;
            return burst;
        };
        index = all.next;
        burst.events += all.executed;
        burst.windows += 1;
        if all.broken > 0 {
            burst.pause = Pause::Broken;
            return burst;
        }
        if lanes.end == bounds.until.0 {
            return burst;
        }
        if burst.events >= bounds.events || burst.windows >= bounds.windows {
            burst.pause = Pause::Enough;
            return burst;
        }
    }
}
