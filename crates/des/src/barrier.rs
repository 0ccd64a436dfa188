//! The window barrier: every worker says which step it has finished and waits for the others, spinning first, parked after that.
//!
//! There is no turn to take and no lock on the way: a worker writes its own flag only. A worker that waits longer than a slice of
//! spinning lets others run, and sleeps; who finishes a step wakes those that sleep. How long it spins it learns: where others want its
//! core, the worker it waits for is likely one of them. If a worker panics its flag says so and nobody waits for it.

use crate::sync::{self, AtomicBool, AtomicU64, Mutex, Thread};
use std::cell::Cell;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

/// The step of a worker that has gone for good.
const GONE: u64 = u64::MAX;

/// One worker's flag, on cache lines of its own.
#[repr(align(128))]
#[derive(Debug)]
struct Flag {
    step: AtomicU64,
    asleep: AtomicBool,
    thread: Mutex<Option<Thread>>,
}

/// Looks at another's flag before a worker with a core of its own lets others run.
const SPINS: u32 = if cfg!(loom) { 0 } else { 2_000 };
/// Times a worker lets others run before it sleeps.
const YIELDS: u32 = if cfg!(loom) { 0 } else { 100 };
/// From this time on somebody else has run while a worker let others run.
const RAN: Duration = Duration::from_micros(5);

/// The flags of all workers.
#[derive(Debug)]
pub(crate) struct Barrier {
    flags: Box<[Flag]>,
    /// Looks at a flag before a worker lets others run, where nobody wants to.
    spins: u32,
}

/// Another worker has panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gone;

impl Barrier {
    /// A barrier for `workers` at step 0 that suits the cores of the machine.
    pub(crate) fn for_workers(workers: usize) -> Barrier {
        // Without a core for each, waiting for another means to let it run.
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        Barrier::new(workers, if workers <= cores { SPINS } else { 0 })
    }

    /// A barrier for `workers` at step 0, each of which looks `spins` times at another's flag before it sleeps.
    pub(crate) fn new(workers: usize, spins: u32) -> Barrier {
        let flag = |_| Flag {
            step: AtomicU64::new(0),
            asleep: AtomicBool::new(false),
            thread: Mutex::new(None),
        };
        Barrier {
            flags: (0..workers).map(flag).collect(),
            spins,
        }
    }

    /// Names the calling thread as worker `me`; before its first step.
    pub(crate) fn enter(&self, me: usize) -> Entered<'_> {
        if let Ok(mut thread) = self.flags[me].thread.lock() {
            *thread = Some(sync::current());
        }
        Entered {
            barrier: self,
            me,
            spins: Cell::new(self.spins),
        }
    }

    fn finish(&self, me: usize, step: u64) {
        self.flags[me].step.store(step, SeqCst);
        for flag in &self.flags {
            if flag.asleep.load(SeqCst)
                && let Ok(thread) = flag.thread.lock()
                && let Some(thread) = &*thread
            {
                thread.unpark();
            }
        }
    }

    /// Waits with at most `spins` looks at a flag, and says how many there should be next time.
    fn wait(&self, me: usize, step: u64, spins: u32) -> Result<u32, Gone> {
        let mut next = self.spins.min(spins + (self.spins / 64).max(1));
        for flag in &self.flags {
            let mut looks = 0;
            loop {
                let at = flag.step.load(SeqCst);
                if at == GONE {
                    return Err(Gone);
                }
                if at >= step {
                    break;
                }
                looks += 1;
                if looks <= spins {
                    sync::spin_loop();
                    continue;
                }
                if looks <= spins + YIELDS {
                    let before = Instant::now();
                    sync::yield_now();
                    if before.elapsed() > RAN {
                        next = spins / 4;
                    }
                    continue;
                }
                let own = &self.flags[me];
                own.asleep.store(true, SeqCst);
                // Who finishes after this look sees that this worker sleeps.
                if flag.step.load(SeqCst) < step {
                    sync::park();
                }
                own.asleep.store(false, SeqCst);
            }
        }
        Ok(next)
    }
}

/// A thread's place at the barrier; dropped in a panic it tells the others.
#[derive(Debug)]
pub(crate) struct Entered<'b> {
    barrier: &'b Barrier,
    me: usize,
    /// Looks at a flag before this worker lets others run.
    spins: Cell<u32>,
}

impl Entered<'_> {
    /// Says that this worker has finished `step`; what it wrote before is seen by who has waited for that step.
    pub(crate) fn finish(&self, step: u64) {
        self.barrier.finish(self.me, step);
    }

    /// Waits until all workers have finished `step`.
    pub(crate) fn wait(&self, step: u64) -> Result<(), Gone> {
        self.spins.set(self.barrier.wait(self.me, step, self.spins.get())?);
        Ok(())
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        if sync::panicking() {
            self.barrier.finish(self.me, GONE);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Workers that count each other's steps, with sleeping workers among them.
    fn steps(workers: usize, spins: u32, n: u64) {
        let barrier = Barrier::new(workers, spins);
        let counts: Vec<AtomicU64> = (0..workers).map(|_| AtomicU64::new(0)).collect();
        std::thread::scope(|scope| {
            for me in 0..workers {
                let (barrier, counts) = (&barrier, &counts);
                scope.spawn(move || {
                    let place = barrier.enter(me);
                    for step in 1..=n {
                        if (step + me as u64).is_multiple_of(97) {
                            std::thread::sleep(std::time::Duration::from_micros(300));
                        }
                        counts[me].store(step, std::sync::atomic::Ordering::Relaxed);
                        place.finish(step);
                        place.wait(step).unwrap();
                        for count in counts {
                            let seen = count.load(std::sync::atomic::Ordering::Relaxed);
                            assert!((step..=step + 1).contains(&seen), "step {seen} seen at {step}");
                        }
                    }
                });
            }
        });
    }

    #[test]
    fn nobody_passes_before_all_have_come() {
        // Miri is a thousand times slower, and runs the same with another order of threads each time.
        let share = if cfg!(miri) { 50 } else { 1 };
        steps(2, 2_000 / share, 2_000 / u64::from(share));
        steps(3, 0, 500 / u64::from(share));
        steps(5, 10, 300 / u64::from(share));
    }

    #[test]
    fn patience_comes_back_where_nobody_else_runs() {
        for limit in [0, 10, 6_400] {
            let barrier = Barrier::new(2, limit);
            let mut spins = 0;
            for _ in 0..limit.min(100) {
                spins = barrier.wait(0, 0, spins).unwrap();
            }
            assert_eq!(spins, limit);
        }
    }

    #[test]
    fn a_panic_lets_nobody_wait_for_ever() {
        let barrier = Barrier::new(2, 10);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let _place = barrier.enter(0);
                panic!("on purpose");
            });
            let place = barrier.enter(1);
            place.finish(1);
            assert_eq!(place.wait(1), Err(Gone));
            assert!(other.join().is_err());
        });
    }
}
