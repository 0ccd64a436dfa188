//! Several workers on threads: each runs its windows up to where others could reach it, then the events for others change hands and all
//! agree on where to go on.
//!
//! That is one window, or several where events between LPs of different workers take longer than the world's lookahead.
//! How events change hands: [`crate::mail`].

use crate::barrier::Barrier;
use crate::mail::{Mail, NEVER};
use crate::sync::{AtomicBool, AtomicU64};
use crate::time::Time;
use crate::worker::Worker;
use crate::world::{Event, World};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// Meetings between two measurements of running and waiting; a look at the clock costs as much as a few events.
pub(crate) const MEASURED: u64 = 8;

/// What one worker tells the others when they meet.
#[repr(align(128))]
#[derive(Default)]
struct CrewReport {
    /// Next window in which the worker's blocks, or what it has left for others, have something to do.
    next: AtomicU64,
    /// Events handled since the last meeting.
    handled: AtomicU64,
    /// Its model broke a rule.
    broken: AtomicBool,
}

/// Barrier, mailboxes and reports of some workers.
pub(crate) struct Crew<E> {
    barrier: Barrier,
    mail: Mail<E>,
    /// By worker and parity of the step, as mailboxes.
    reports: Vec<[CrewReport; 2]>,
    step: u64,
}

/// Why the workers of a burst have stopped; all for the same reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// Nothing is left to do.
    Idle,
    /// The end time is reached.
    Until,
    /// As many events as asked for were handled, or windows opened.
    Enough,
    /// A model broke a rule.
    Broken,
}

/// What a burst of windows did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Burst {
    pub(crate) pause: Pause,
    pub(crate) events: u64,
    /// As of [`Bounds::windows`].
    pub(crate) windows: u64,
}

/// How far a burst may go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// First window.
    pub(crate) index: u64,
    pub(crate) until: Time,
    /// Events of all workers together.
    pub(crate) events: u64,
    /// Meetings of the workers; windows of a worker alone.
    pub(crate) windows: u64,
    /// Windows from one meeting to the next: nothing that a worker sends reaches others within them. At most half a ring's.
    pub(crate) together: u64,
}

impl<E: Event> Crew<E> {
    /// A crew of `workers` with `n_blocks` blocks.
    pub(crate) fn new(workers: usize, n_blocks: usize) -> Self {
        Crew {
            barrier: Barrier::for_workers(workers),
            mail: Mail::new(workers, n_blocks),
            reports: (0..workers).map(|_| Default::default()).collect(),
            step: 0,
        }
    }

    /// Runs windows on all workers, the first on the calling thread, until one of the bounds is reached.
    pub(crate) fn run<W: World<Event = E>>(&mut self, world: &W, workers: &mut [Worker<W>], bounds: Bounds) -> Burst {
        let crew = &*self;
        let burst = std::thread::scope(|scope| {
            let (first, rest) = workers.split_first_mut().expect("a crew has workers");
            for (me, worker) in (1..).zip(rest) {
                scope.spawn(move || crew.work(world, worker, me, bounds));
            }
            crew.work(world, first, 0, bounds)
        });
        self.step += burst.windows;
        burst
    }

    pub(crate) fn work<W: World<Event = E>>(
        &self,
        world: &W,
        worker: &mut Worker<W>,
        me: usize,
        bounds: Bounds,
    ) -> Burst {
        let place = self.barrier.enter(me);
        let mut index = bounds.index;
        let mut burst = Burst {
            pause: Pause::Until,
            events: 0,
            windows: 0,
        };
        let mut step = self.step;
        loop {
            if index == NEVER {
                burst.pause = Pause::Idle;
                return burst;
            }
            if index.saturating_mul(worker.lanes.grid.width) >= bounds.until.0 {
                return burst;
            }
            let begun = step.is_multiple_of(MEASURED).then(Instant::now);
            let handled = worker.run_windows(world, index..index + bounds.together, bounds.until);
            step += 1;
            self.leave(worker, me, step, handled);
            place.finish(step);
            let ran = begun.map(|begun| begun.elapsed());
            if place.wait(step).is_err() {
                // Another worker has panicked: the scope passes that on.
                burst.pause = Pause::Broken;
                return burst;
            }
            if let (Some(begun), Some(ran)) = (begun, ran) {
                worker.clock.busy += ran;
                worker.clock.wait += begun.elapsed().saturating_sub(ran);
            }
            burst.windows += 1;
            index = NEVER;
            let mut broken = false;
            for reports in &self.reports {
                let report = &reports[step as usize % 2];
                index = index.min(report.next.load(Relaxed));
                burst.events += report.handled.load(Relaxed);
                broken |= report.broken.load(Relaxed);
            }
            let (own, lanes) = (worker.own(), &mut worker.lanes);
            self.mail.take_back(me, step, &own, lanes.n_blocks, &mut lanes.pool);
            self.mail.take(me, step, &own, &mut lanes.rings, &mut lanes.pool);
            if broken {
                burst.pause = Pause::Broken;
                return burst;
            }
            if worker.lanes.end == bounds.until.0 {
                return burst;
            }
            if burst.events >= bounds.events || burst.windows >= bounds.windows {
                burst.pause = Pause::Enough;
                return burst;
            }
        }
    }

    /// Leaves what worker `me` has sent to blocks of others, and what it has to say.
    fn leave<W: World<Event = E>>(&self, worker: &mut Worker<W>, me: usize, step: u64, handled: u64) {
        let (own, next) = (worker.own(), worker.next_window().unwrap_or(NEVER));
        let lanes = &mut worker.lanes;
        let sent = self.mail.leave(
            me,
            step,
            &own,
            &lanes.grid,
            &mut lanes.rings[..lanes.n_blocks],
            &mut lanes.pool,
        );
        if sent <= lanes.grid.index && lanes.broken.is_none() {
            lanes.broken =
                Some("an event reached a logical process of another worker within the lookahead between them");
        }
        let report = &self.reports[me][step as usize % 2];
        report.next.store(next.min(sent), Relaxed);
        report.handled.store(handled, Relaxed);
        report.broken.store(lanes.broken.is_some(), Relaxed);
    }
}
