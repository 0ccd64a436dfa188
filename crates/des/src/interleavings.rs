//! All interleavings of a few workers over a few steps, explored by loom: what workers share is touched by one at a time, nobody passes
//! the barrier early, and nobody sleeps for ever. Run by `make concurrency`; what is checked and what is not: `docs/concurrency.md`.
//!
//! Two workers are explored without limit over two steps, more of both up to so many preemptions; `LOOM_MAX_PREEMPTIONS` lowers that.

use crate::barrier::{Barrier, Gone};
use crate::block::Block;
use crate::crew::{Bounds, Burst, Crew, Pause};
use crate::layout::Layout;
use crate::mail::{Mail, NEVER};
use crate::pace::Speculation;
use crate::phold::{Ball, Nobody, Phold, Players};
use crate::pool::Pool;
use crate::ring::{EventRing, Rings, WindowGrid};
use crate::rounds::Rounds;
use crate::speculator::Speculator;
use crate::sync::{SharedCell, pretend_to_panic, sleeps};
use crate::time::Time;
use crate::worker::Worker;
use crate::world::Event;
use loom::sync::Arc;

/// Stack of a worker's thread, in words: engines build their rings on it.
const STACK: usize = 1 << 16;

/// Explores what `workers` do together, each in a thread of its own that is given its number; `work` is made anew for each interleaving.
fn explore<S: Send + Sync + 'static>(
    workers: usize,
    preemptions: Option<usize>,
    share: impl Fn() -> S + Send + Sync + 'static,
    work: fn(&S, usize),
) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = preemptions.into_iter().chain(model.preemption_bound).min();
    model.max_branches = 10_000;
    let interleavings = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let counter = interleavings.clone();
    sleeps();
    let begun = std::time::Instant::now();
    model.check(move || {
        counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let shared = Arc::new(share());
        let threads: Vec<_> = (0..workers)
            .map(|me| {
                let shared = shared.clone();
                let thread = loom::thread::Builder::new().stack_size(STACK);
                thread.spawn(move || work(&shared, me)).unwrap()
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    let (interleavings, sleeps) = (interleavings.load(std::sync::atomic::Ordering::Relaxed), sleeps());
    println!(
        "{workers} workers: {interleavings} interleavings, {sleeps} sleeps, {:.1} s",
        begun.elapsed().as_secs_f64()
    );
    assert!(sleeps > 0, "no worker ever slept");
}

/// A barrier and, as each worker's report, a plain cell per parity.
struct Meeting {
    barrier: Barrier,
    reports: Vec<[SharedCell<u64>; 2]>,
    steps: u64,
}

// SAFETY: loom checks the accesses.
#[allow(unsafe_code)]
unsafe impl Sync for Meeting {}

impl Meeting {
    fn new(workers: usize, spins: u32, steps: u64) -> Meeting {
        Meeting {
            barrier: Barrier::new(workers, spins),
            reports: (0..workers).map(|_| [SharedCell::new(0), SharedCell::new(0)]).collect(),
            steps,
        }
    }

    /// Writes a report before each barrier and reads all of them after it.
    fn work(&self, me: usize) {
        let place = self.barrier.enter(me);
        for step in 1..=self.steps {
            // SAFETY: loom checks the accesses.
            #[allow(unsafe_code)]
            self.reports[me][step as usize % 2].with_mut(|report| unsafe { *report = step });
            place.finish(step);
            place.wait(step).unwrap();
            for reports in &self.reports {
                // SAFETY: as above.
                #[allow(unsafe_code)]
                let seen = reports[step as usize % 2].with(|report| unsafe { *report });
                assert_eq!(seen, step);
            }
        }
    }
}

#[test]
fn two_workers_pass_together_and_none_sleeps_for_ever() {
    for spins in [0, 1] {
        explore(2, None, move || Meeting::new(2, spins, 2), Meeting::work);
        explore(2, Some(4), move || Meeting::new(2, spins, 4), Meeting::work);
    }
}

#[test]
fn three_workers_pass_together_and_none_sleeps_for_ever() {
    for spins in [0, 1] {
        explore(3, Some(2), move || Meeting::new(3, spins, 2), Meeting::work);
    }
}

/// Worker 0 panics in its second step; the others find it gone, there or while they wait.
fn one_goes(barrier: &Barrier, me: usize) {
    let place = barrier.enter(me);
    for step in 1..=2 {
        if step == 2 && me == 0 {
            pretend_to_panic();
            return;
        }
        place.finish(step);
        // A worker may find out about the panic one step early, never late.
        match place.wait(step) {
            Ok(()) => assert!(step == 1),
            Err(Gone) => return,
        }
    }
    panic!("worker {me} has not seen that another is gone");
}

#[test]
fn a_panic_frees_the_others() {
    for spins in [0, 1] {
        explore(2, None, move || Barrier::new(2, spins), one_goes);
        explore(3, Some(2), move || Barrier::new(3, spins), one_goes);
    }
}

/// Workers with a block each that leave each other up to two events in every step.
struct Post {
    barrier: Barrier,
    mail: Mail<Ball>,
    workers: usize,
    steps: u64,
}

const WIDTH: u64 = 10;

impl Post {
    fn new(workers: usize, spins: u32, steps: u64) -> Post {
        Post {
            barrier: Barrier::new(workers, spins),
            mail: Mail::new(workers, workers),
            workers,
            steps,
        }
    }

    /// What worker `from` leaves for worker `to` in `step`: another number of events each time.
    fn letters(from: usize, to: usize, step: u64) -> impl Iterator<Item = Ball> {
        let n = (step as usize + from + 2 * to) % 3;
        (0..n as u64).map(move |i| Ball::new(Time((step + 1 + i) * WIDTH), to as u32, from as u32, step))
    }

    fn work(&self, me: usize) {
        let (own, mut grid) = (me..me + 1, WindowGrid::new(WIDTH));
        let mut rings = Rings::new(self.workers);
        let mut pool = Pool::default();
        let place = self.barrier.enter(me);
        for step in 1..=self.steps {
            grid.open(step);
            let mut first = NEVER;
            for to in (0..self.workers).filter(|&to| to != me) {
                for ball in Post::letters(me, to, step) {
                    first = first.min(ball.time().0 / WIDTH);
                    rings[to].insert(&grid, ball, &mut pool);
                }
            }
            let next = self
                .mail
                .leave(me, step, &own, &grid, &mut rings[..self.workers], &mut pool);
            assert_eq!(next, first);
            place.finish(step);
            place.wait(step).unwrap();
            self.mail.take_back(me, step, &own, self.workers, &mut pool);
            self.mail.take(me, step, &own, &mut rings, &mut pool);
            let mut got = Vec::new();
            rings[me].drain_into(&mut got, &mut pool);
            let others = (0..self.workers).filter(|&from| from != me);
            let mut left: Vec<Ball> = others.flat_map(|from| Post::letters(from, me, step)).collect();
            // The order within a bucket is of no meaning; here it is that of the workers, by window.
            left.sort_by_key(Ball::time);
            assert_eq!(got, left, "worker {me} after step {step}");
            assert!(rings.iter().all(EventRing::is_empty), "what was left is gone");
        }
    }
}

#[test]
fn what_is_left_for_a_worker_is_taken_once_by_it_alone() {
    for spins in [0, 1] {
        explore(2, None, move || Post::new(2, spins, 2), Post::work);
        explore(2, Some(4), move || Post::new(2, spins, 4), Post::work);
        explore(3, Some(1), move || Post::new(3, spins, 3), Post::work);
    }
}

/// Two LPs that throw a ball at each other in every window, and one at themselves now and then.
fn world() -> Phold {
    Phold {
        n_lps: 2,
        events_per_lp: 1,
        mean: Time(1_500),
        lookahead: Time(1_000),
        remote: 0.8,
        seed: 3,
    }
}

const BOUNDS: Bounds = Bounds {
    index: 0,
    until: Time(3_000),
    events: u64::MAX,
    windows: u64::MAX,
    together: 1,
};

/// Both LPs' digests, and events, without any sharing.
fn alone() -> (Vec<u64>, u64) {
    use crate::engine::Engine;
    let world = world();
    let mut engine = crate::ReferenceEngine::new(&world, Nobody);
    engine.run(BOUNDS.until, &mut |_, _| true);
    (engine.digests(), engine.outcome().events)
}

fn judge(me: usize, burst: Burst, block: &Block<Players>) {
    let (digests, events) = alone();
    assert_eq!(burst.pause, Pause::Until);
    assert_eq!(burst.events, events);
    assert_eq!(block.wakes.digests(), &digests[me..=me]);
}

#[test]
fn conservative_workers_give_one_history_in_every_interleaving() {
    let work = |crew: &Crew<Ball>, me: usize| {
        let world = world();
        let mut worker = Worker::new(&world, Nobody, WindowGrid::new(world.lookahead.0), &Layout::even(2, 2));
        let (block, first) = Block::new(&world, me as u32..me as u32 + 1);
        worker.first = me;
        worker.blocks.push(block);
        for event in first {
            let lanes = &mut worker.lanes;
            lanes.rings[me].insert(&lanes.grid, event, &mut lanes.pool);
        }
        let burst = crew.work(&world, &mut worker, me, BOUNDS);
        judge(me, burst, &worker.blocks[0]);
    };
    explore(2, Some(3), || Crew::new(2, 2), work);
}

#[test]
fn optimistic_workers_give_one_history_in_every_interleaving() {
    let work = |rounds: &Rounds<Ball>, me: usize| {
        let world = world();
        let mut worker = Speculator::new(&world, Nobody, WindowGrid::new(world.lookahead.0), &Layout::even(2, 2));
        let (block, first) = Block::new(&world, me as u32..me as u32 + 1);
        worker.add(me, block, first);
        let (burst, _) = rounds.work(&world, &mut worker, me, BOUNDS);
        judge(me, burst, &worker.blocks[0]);
    };
    explore(2, Some(3), || Rounds::new((2, 2), Speculation::fixed(2)), work);
}
