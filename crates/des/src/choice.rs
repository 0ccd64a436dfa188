//! One worker or all of them: measured while the run goes on, by the wall time per event of some bursts of windows.
//!
//! Whether several workers pay depends on events per window, on the caches and on what else the machine does: nothing that can be known
//! beforehand. The answer of the run does not depend on it.

use std::time::Duration;

/// Events of a burst on trial, per worker.
const TRIAL: u64 = 1 << 14;
/// Several workers must save this part of the time to be kept.
const GAIN: f64 = 0.05;
/// Bursts until the other way is tried again: at first, and at most.
const PATIENCE: (u32, u32) = (16, 512);

/// What a burst is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Fills caches and buffers; not measured.
    WarmUp,
    /// All workers on trial.
    Many,
    /// One worker on trial.
    One,
    /// The better way, so many bursts from the next trial.
    Settled(u32),
}

/// Decides burst by burst how many workers run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    workers: usize,
    phase: Phase,
    /// Wall time per event (ns) of one worker and of all.
    one: f64,
    many: f64,
    patience: u32,
}

impl Choice {
    /// A choice between one worker and `workers`.
    pub(crate) fn new(workers: usize) -> Choice {
        Choice {
            workers,
            phase: if workers > 1 {
                Phase::WarmUp
            } else {
                Phase::Settled(u32::MAX)
            },
            one: 0.0,
            many: f64::MAX,
            patience: PATIENCE.0,
        }
    }

    fn many_pay(&self) -> bool {
        self.many < self.one * (1.0 - GAIN)
    }

    /// Several workers were tried and found slower than one: wall time per event (ns) of one and of all.
    pub(crate) fn given_up(&self) -> Option<(f64, f64)> {
        (self.one > 0.0 && !self.many_pay()).then_some((self.one, self.many))
    }

    /// Workers of the next burst, and its events if it is a trial.
    pub(crate) fn next(&self) -> (usize, Option<u64>) {
        let trial = TRIAL * self.workers as u64;
        match self.phase {
            Phase::WarmUp | Phase::Many => (self.workers, Some(trial)),
            Phase::One => (1, Some(trial)),
            Phase::Settled(_) if self.many_pay() => (self.workers, None),
            Phase::Settled(_) => (1, None),
        }
    }

    /// Takes note of a burst of `events` that took `wall`.
    pub(crate) fn learn(&mut self, events: u64, wall: Duration) {
        let cost = wall.as_nanos() as f64 / events.max(1) as f64;
        self.phase = match self.phase {
            Phase::WarmUp => Phase::Many,
            Phase::Many => {
                self.many = cost;
                Phase::One
            }
            Phase::One => {
                self.one = cost;
                Phase::Settled(self.patience)
            }
            Phase::Settled(0) => {
                self.patience = (self.patience * 2).min(PATIENCE.1);
                Phase::WarmUp
            }
            Phase::Settled(left) => Phase::Settled(left - 1),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bursts on each number of workers when an event costs `one` or `many` ns.
    fn bursts(one: u64, many: u64, n: u32) -> (u32, u32) {
        let mut choice = Choice::new(4);
        let mut counts = (0, 0);
        for _ in 0..n {
            let (workers, events) = choice.next();
            let events = events.unwrap_or(1 << 20);
            let cost = if workers == 1 { one } else { many };
            *(if workers == 1 { &mut counts.0 } else { &mut counts.1 }) += 1;
            choice.learn(events, Duration::from_nanos(events * cost));
        }
        counts
    }

    #[test]
    fn the_faster_way_runs_but_for_rare_trials() {
        let (one, many) = bursts(100, 30, 1_000);
        assert!(many > 980, "{one} {many}");
        let (one, many) = bursts(100, 900, 1_000);
        assert!(one > 970, "{one} {many}");
        // A gain that may be noise is none.
        let (one, many) = bursts(100, 98, 1_000);
        assert!(one > 970, "{one} {many}");
    }

    #[test]
    fn one_worker_is_no_choice() {
        let mut choice = Choice::new(1);
        for _ in 0..100 {
            assert_eq!(choice.next(), (1, None));
            choice.learn(1, Duration::from_secs(1));
        }
    }
}
