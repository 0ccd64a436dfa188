//! Rounds of workers that run ahead: all sweep up to the same frontier, leave each other events and events to be taken back, meet at
//! the barrier, and agree on the first window that anybody still has to run or to mend: the global virtual time (GVT, Jefferson 1985)
//! in windows. What is below is committed.
//!
//! Mailboxes are those of the conservative workers ([`crate::mail`]): one barrier a round. All decisions are made by every worker for
//! itself from what all report, in the same way.

use crate::barrier::Barrier;
use crate::crew::{Bounds, Burst, MEASURED, Pause};
use crate::mail::{Mail, NEVER};
use crate::pace::{Pace, Speculation};
use crate::report::{Posted, WorkerReport};
use crate::speculator::{Reach, Speculator};
use crate::worker::Lanes;
use crate::world::{Event, World};
use std::time::{Duration, Instant};

/// Barrier and mailboxes of some workers, and what they have agreed on.
pub(crate) struct Rounds<E> {
    barrier: Barrier,
    events: Mail<E>,
    /// Events to be taken back.
    antis: Mail<E>,
    /// By worker and parity of the round, as mailboxes.
    reports: Vec<[Posted; 2]>,
    most_kept: usize,
    pub(crate) agreed: Agreed,
}

/// What all workers agree on after a round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agreed {
    /// Rounds so far.
    pub(crate) rounds: u64,
    pace: Pace,
    /// Too much is kept.
    full: bool,
    /// Most bytes kept so far.
    pub(crate) peak_kept: u64,
    /// Most windows of a round so far.
    pub(crate) deepest: u64,
}

impl Agreed {
    /// At the beginning.
    pub(crate) fn new(speculation: Speculation, workers: usize) -> Self {
        Agreed {
            rounds: 0,
            pace: Pace::new(speculation, workers),
            full: false,
            peak_kept: 0,
            deepest: 0,
        }
    }
}

impl<E: Event> Rounds<E> {
    /// Rounds of `workers` with `n_blocks` blocks.
    pub(crate) fn new((workers, n_blocks): (usize, usize), speculation: Speculation) -> Self {
        Rounds {
            barrier: Barrier::for_workers(workers),
            events: Mail::new(workers, n_blocks),
            antis: Mail::new(workers, n_blocks),
            reports: (0..workers).map(|_| Default::default()).collect(),
            most_kept: speculation.kept,
            agreed: Agreed::new(speculation, workers),
        }
    }

    /// Runs rounds on all workers, the first on the calling thread, until one of the bounds is reached; what was run is committed then.
    pub(crate) fn run<W: World<Event = E>>(
        &mut self,
        world: &W,
        workers: &mut [Speculator<W>],
        bounds: Bounds,
    ) -> Burst {
        let rounds = &*self;
        let (burst, agreed) = std::thread::scope(|scope| {
            let (first, rest) = workers.split_first_mut().expect("there are workers");
            for (me, worker) in (1..).zip(rest) {
                scope.spawn(move || rounds.work(world, worker, me, bounds));
            }
            rounds.work(world, first, 0, bounds)
        });
        self.agreed = agreed;
        burst
    }

    pub(crate) fn work<W: World<Event = E>>(
        &self,
        world: &W,
        worker: &mut Speculator<W>,
        me: usize,
        bounds: Bounds,
    ) -> (Burst, Agreed) {
        let place = self.barrier.enter(me);
        let mut step = self.agreed.rounds;
        let memory = MemoryBudget {
            most_kept: self.most_kept,
            workers: self.reports.len(),
        };
        work(world, worker, bounds, memory, self.agreed, |worker, mut report| {
            step += 1;
            let (own, n_blocks) = (worker.own(), worker.lanes.n_blocks);
            let Lanes { rings, grid, pool, .. } = &mut worker.lanes;
            for (mail, rings) in [(&self.events, rings), (&self.antis, &mut worker.antis)] {
                let sent = mail.leave(me, step, &own, grid, &mut rings[..n_blocks], pool);
                report.next = report.next.min(sent);
            }
            self.reports[me][step as usize % 2].put(report);
            place.finish(step);
            place.wait(step).ok()?;
            let mut all = WorkerReport::NOTHING;
            for reports in &self.reports {
                all.add(reports[step as usize % 2].get());
            }
            let Lanes { rings, pool, .. } = &mut worker.lanes;
            for (mail, rings) in [(&self.events, rings), (&self.antis, &mut worker.antis)] {
                mail.take_back(me, step, &own, n_blocks, pool);
                mail.take(me, step, &own, rings, pool);
            }
            Some(all)
        })
    }
}

/// What may be kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryBudget {
    /// Bytes of all workers together; with more they run one window a round.
    pub(crate) most_kept: usize,
    pub(crate) workers: usize,
}

/// Runs rounds of one worker from what all have agreed on. `meet` hands over what it has sent and what it has to say, takes what others have
/// sent to its blocks, and returns what all have to say; nothing if another is gone.
pub(crate) fn work<W: World>(
    world: &W,
    worker: &mut Speculator<W>,
    bounds: Bounds,
    memory: MemoryBudget,
    mut agreed: Agreed,
    mut meet: impl FnMut(&mut Speculator<W>, WorkerReport) -> Option<WorkerReport>,
) -> (Burst, Agreed) {
    let mut burst = Burst {
        pause: Pause::Until,
        events: 0,
        windows: 0,
    };
    let width = worker.lanes.grid.width;
    // Windows before this one end before the run does.
    let whole = bounds.until.0 / width;
    let mut base = bounds.index;
    worker.commit(Some(base));
    // Where the watcher is to be asked no window is opened any more, until all that were are committed.
    let mut last = None;
    let mut reached = base;
    let (mut begun, mut last_round) = (Instant::now(), Duration::ZERO);
    loop {
        if base == NEVER {
            burst.pause = Pause::Idle;
            return (burst, agreed);
        }
        if base.saturating_mul(width) >= bounds.until.0 {
            return (burst, agreed);
        }
        if last.is_some_and(|last| base >= last) {
            burst.pause = Pause::Enough;
            return (burst, agreed);
        }
        let cut = base == whole;
        let depth = if agreed.full { 1 } else { agreed.pace.depth };
        let reach = Reach {
            frontier: (base + depth).min(whole).min(last.unwrap_or(NEVER)),
            most_kept: memory.most_kept / memory.workers,
        };
        let clock = agreed.rounds.is_multiple_of(MEASURED).then(Instant::now);
        let before = worker.counts();
        let peak = if cut {
            worker.run_cut(world, bounds.until);
            0
        } else {
            agreed.deepest = agreed.deepest.max(reach.frontier - base);
            worker.sweep(world, reach)
        };
        reached = reached.max(reach.frontier);
        agreed.rounds += 1;
        let after = worker.counts();
        let report = WorkerReport {
            next: worker.next_window().unwrap_or(NEVER),
            executed: after.executed - before.executed,
            rolled_back: after.rolled_back - before.rolled_back,
            kept: worker.kept() as u64,
            peak: peak as u64,
            // From meeting to meeting, so that it is the round before this one.
            wall: last_round.as_nanos() as u64,
            broken: u64::from(worker.lanes.broken.is_some()),
        };
        let ran = clock.map(|clock| clock.elapsed());
        let Some(all) = meet(worker, report) else {
            // Another worker has panicked: the scope passes that on.
            burst.pause = Pause::Broken;
            return (burst, agreed);
        };
        if let (Some(clock), Some(ran)) = (clock, ran) {
            worker.clock.busy += ran;
            worker.clock.wait += clock.elapsed().saturating_sub(ran);
        }
        let now = Instant::now();
        (begun, last_round) = (now, now - begun);
        base = all.next;
        worker.commit((base != NEVER).then_some(base));
        agreed
            .pace
            .note(all.executed, all.rolled_back, Duration::from_nanos(all.wall));
        agreed.full = all.kept > memory.most_kept as u64;
        agreed.peak_kept = agreed.peak_kept.max(all.peak);
        // Of this burst alone all that was rolled back was run in it as well.
        burst.events = burst.events + all.executed - all.rolled_back;
        burst.windows += 1;
        if all.broken > 0 {
            burst.pause = Pause::Broken;
            return (burst, agreed);
        }
        if cut {
            return (burst, agreed);
        }
        if burst.events >= bounds.events || burst.windows >= bounds.windows {
            last = last.or(Some(reached));
        }
    }
}
