//! Several workers on threads: a window each, then the events for others change hands and all agree on the next window.
//!
//! What a worker sends to blocks of others in a window it leaves in the mailbox of that window's parity. After the barrier each worker
//! takes what is for its blocks. A mailbox is used again two windows later, which its owner cannot reach before everybody has
//! passed the barrier between, with the taking done: one barrier per window is enough.

use crate::barrier::Barrier;
use crate::ring::Ring;
use crate::time::Time;
use crate::worker::{MAX_BLOCKS, Worker};
use crate::world::{Event, World};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// Windows between two measurements of running and waiting; a look at the clock costs as much as a few events.
const MEASURED: u64 = 8;
/// "Nothing to do."
const NEVER: u64 = u64::MAX;

/// What one worker leaves for the others in one window.
#[repr(align(128))]
struct Mailbox<E> {
    /// Next window in which the worker's blocks, or what it left here, have something to do.
    next: AtomicU64,
    /// Events handled in the window.
    handled: AtomicU64,
    /// Its model broke a rule.
    broken: AtomicBool,
    /// Events by block. Touched by the owner before the barrier, by the block's worker after it.
    rings: Box<[UnsafeCell<Ring<E>>; MAX_BLOCKS]>,
}

// SAFETY: the barrier separates the owner's turn from the takers', each of which touches the rings of its own blocks only.
#[allow(unsafe_code)]
unsafe impl<E: Send> Sync for Mailbox<E> {}

/// Barrier and mailboxes of some workers.
pub(crate) struct Crew<E> {
    barrier: Barrier,
    mailboxes: Vec<[Mailbox<E>; 2]>,
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
    pub(crate) windows: u64,
}

impl<E: Event> Crew<E> {
    /// A crew of `workers`.
    pub(crate) fn new(workers: usize) -> Self {
        // Without a core for each, waiting for another means to let it run.
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let spins = if workers <= cores { 2_000 } else { 0 };
        let mailbox = || Mailbox {
            next: AtomicU64::new(NEVER),
            handled: AtomicU64::new(0),
            broken: AtomicBool::new(false),
            rings: Box::new(std::array::from_fn(|_| UnsafeCell::new(Ring::default()))),
        };
        Crew {
            barrier: Barrier::new(workers, spins),
            mailboxes: (0..workers).map(|_| [mailbox(), mailbox()]).collect(),
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

    fn work<W: World<Event = E>>(&self, world: &W, worker: &mut Worker<W>, me: usize, bounds: Bounds) -> Burst {
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
            let handled = worker.run_window(world, index, bounds.until, None);
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
            for mailboxes in &self.mailboxes {
                let mailbox = &mailboxes[step as usize % 2];
                index = index.min(mailbox.next.load(Relaxed));
                burst.events += mailbox.handled.load(Relaxed);
                broken |= mailbox.broken.load(Relaxed);
            }
            self.take(worker, me, step);
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
        let mailbox = &self.mailboxes[me][step as usize % 2];
        let own = worker.own();
        let mut next = worker.next_window().unwrap_or(NEVER);
        let grid = &worker.lanes.grid;
        for (block, ring) in worker.lanes.rings[..worker.lanes.n_blocks].iter_mut().enumerate() {
            if own.contains(&block) || ring.is_empty() {
                continue;
            }
            next = next.min(ring.next_window(grid).unwrap_or(NEVER));
            // SAFETY: before the barrier of `step` only its owner touches a mailbox of that parity.
            #[allow(unsafe_code)]
            let slot = unsafe { &mut *mailbox.rings[block].get() };
            std::mem::swap(ring, slot);
        }
        mailbox.next.store(next, Relaxed);
        mailbox.handled.store(handled, Relaxed);
        mailbox.broken.store(worker.lanes.broken.is_some(), Relaxed);
    }

    /// Takes what the others have left for the blocks of worker `me`.
    fn take<W: World<Event = E>>(&self, worker: &mut Worker<W>, me: usize, step: u64) {
        let own = worker.own();
        for (other, mailboxes) in self.mailboxes.iter().enumerate() {
            if other == me {
                continue;
            }
            let mailbox = &mailboxes[step as usize % 2];
            for block in own.clone() {
                // SAFETY: after the barrier of `step`, until that of the next step, only a block's worker touches its rings.
                #[allow(unsafe_code)]
                let left = unsafe { &mut *mailbox.rings[block].get() };
                worker.lanes.rings[block].absorb(left);
            }
        }
    }
}
