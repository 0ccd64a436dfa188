//! One worker or all of them: measured while the run goes on, by the wall time per event of some bursts of windows.
//!
//! Whether several workers pay depends on events per window, on the caches and on what else the machine does: nothing that can be known
//! beforehand. Where it cannot pay is known: windows that hold fewer events than it takes to meet are not tried with several workers.
//! A trial is short, and whatever else the machine does may fall into it: several workers are kept as long as they pay.
//! The answer of the run does not depend on it.

use std::time::Duration;

/// Events of a burst on trial, per worker.
const TRIAL: u64 = 1 << 14;
/// Windows of a burst on trial, at most: where meeting is dear it is not tried for long.
const TRIAL_WINDOWS: u64 = 1 << 8;
/// What meeting costs for each worker, and an event, in ns: the quiet machine of docs/how-to/parallel-runs.md.
const MEETING: f64 = 100.0;
const EVENT: f64 = 70.0;
/// A worker's part of a window must cost so many times what meeting does: workers also wait for who has more to do.
const TIMES: f64 = 4.0;
/// Several workers must save this part of the time to be kept: two that save less take more than 1.6 times the CPU time of one.
const GAIN: f64 = 0.2;
/// Bursts until the other way is tried again: at first, and at most.
const PATIENCE: (u32, u32) = (16, 512);

/// What a burst is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChoicePhase {
    /// One worker looks at what a window holds.
    Look,
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
pub(crate) struct WorkerChoice {
    workers: usize,
    /// Windows from one meeting to the next.
    together: u64,
    phase: ChoicePhase,
    /// Wall time per event (ns) of one worker and of all.
    one: f64,
    many: f64,
    /// Events that a window holds for each worker, where those are too few.
    thin: Option<f64>,
    patience: u32,
}

/// Events that each worker must have from one meeting to the next for several to be tried.
fn worth(workers: usize) -> f64 {
    TIMES * MEETING * workers as f64 / EVENT
}

impl WorkerChoice {
    /// A choice between one worker and `workers` that meet once in `together` windows.
    pub(crate) fn new(workers: usize, together: u64) -> WorkerChoice {
        WorkerChoice {
            workers,
            together,
            phase: if workers > 1 {
                ChoicePhase::Look
            } else {
                ChoicePhase::Settled(u32::MAX)
            },
            one: 0.0,
            many: f64::MAX,
            thin: None,
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

    /// Several workers were not tried: events that a window held for each, and how many would be worth a trial.
    pub(crate) fn thin(&self) -> Option<(f64, f64)> {
        self.thin.map(|events| (events, worth(self.workers)))
    }

    /// Workers of the next burst, and its events and windows if it is a trial.
    pub(crate) fn next(&self) -> (usize, Option<(u64, u64)>) {
        let trial = (TRIAL * self.workers as u64, TRIAL_WINDOWS);
        match self.phase {
            ChoicePhase::WarmUp | ChoicePhase::Many => (self.workers, Some(trial)),
            ChoicePhase::Look | ChoicePhase::One => (1, Some(trial)),
            ChoicePhase::Settled(_) if self.many_pay() && self.thin.is_none() => (self.workers, None),
            ChoicePhase::Settled(_) => (1, None),
        }
    }

    /// Takes note of a burst of `events` in so many windows that took `wall`.
    pub(crate) fn learn(&mut self, events: u64, windows: u64, wall: Duration) {
        let cost = wall.as_nanos() as f64 / events.max(1) as f64;
        self.phase = match self.phase {
            ChoicePhase::Look => {
                let share = (events * self.together) as f64 / (windows.max(1) * self.workers as u64) as f64;
                self.thin = (share < worth(self.workers)).then_some(share);
                match self.thin {
                    Some(_) => ChoicePhase::Settled(self.patience),
                    None => ChoicePhase::WarmUp,
                }
            }
            ChoicePhase::WarmUp => ChoicePhase::Many,
            ChoicePhase::Many => {
                self.many = cost;
                ChoicePhase::One
            }
            ChoicePhase::One => {
                self.one = cost;
                ChoicePhase::Settled(self.patience)
            }
            ChoicePhase::Settled(0) => {
                self.patience = (self.patience * 2).min(PATIENCE.1);
                ChoicePhase::Look
            }
            ChoicePhase::Settled(left) => {
                let long = events >= TRIAL * self.workers as u64;
                if long && self.next().0 > 1 {
                    self.many = cost;
                }
                ChoicePhase::Settled(left - 1)
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bursts on each number of workers when an event costs `one` or `many` ns and a window holds `window` events.
    fn bursts(one: u64, many: u64, window: u64, n: u32) -> (u32, u32, WorkerChoice) {
        let mut choice = WorkerChoice::new(4, 1);
        let mut counts = (0, 0);
        for _ in 0..n {
            let (workers, trial) = choice.next();
            let events = trial.map_or(1 << 20, |(events, windows)| events.min(windows * window));
            let cost = if workers == 1 { one } else { many };
            *(if workers == 1 { &mut counts.0 } else { &mut counts.1 }) += 1;
            choice.learn(events, events.div_ceil(window), Duration::from_nanos(events * cost));
        }
        (counts.0, counts.1, choice)
    }

    #[test]
    fn the_faster_way_runs_but_for_rare_trials() {
        let (one, many, _) = bursts(100, 30, 1_000, 1_000);
        assert!(many > 980, "{one} {many}");
        let (one, many, choice) = bursts(100, 900, 1_000, 1_000);
        assert!(one > 970, "{one} {many}");
        assert_eq!((choice.given_up(), choice.thin()), (Some((100.0, 900.0)), None));
        // A gain that may be noise, or costs more than it is worth, is none.
        for little in [98, 85] {
            let (one, many, _) = bursts(100, little, 1_000, 1_000);
            assert!(one > 970, "{one} {many}");
        }
    }

    #[test]
    fn several_workers_that_seemed_faster_on_trial_only_are_given_up_after_a_burst() {
        let (mut choice, mut many) = (WorkerChoice::new(2, 1), 0);
        for _ in 0..100 {
            let (workers, trial) = choice.next();
            let cost = match (workers, trial) {
                (1, Some(_)) => 400,
                (1, None) => 100,
                (_, Some(_)) => 90,
                (_, None) => {
                    many += 1;
                    500
                }
            };
            let events = trial.map_or(1 << 20, |(events, _)| events);
            choice.learn(events, events.div_ceil(1_000), Duration::from_nanos(events * cost));
        }
        // Trials come after 16, 32 and 64 bursts; each is believed once.
        assert!((1..=3).contains(&many), "{many}");
    }

    #[test]
    fn where_a_window_holds_less_than_it_takes_to_meet_nothing_is_tried() {
        // Even if it would seem to pay by chance.
        let (one, many, choice) = bursts(100, 30, 50, 1_000);
        assert_eq!((one, many), (1_000, 0));
        assert!(
            choice
                .thin()
                .is_some_and(|(events, worth)| events == 12.5 && worth > 20.0)
        );
        assert_eq!(choice.given_up(), None);
        // Windows that fill later are looked at again.
        let mut choice = choice;
        let tried = (0..1_000).any(|_| {
            let (workers, _) = choice.next();
            choice.learn(32_768, 256, Duration::from_nanos(1_000_000));
            workers == 4
        });
        assert!(tried && choice.thin().is_none());
    }

    #[test]
    fn one_worker_is_no_choice() {
        let mut choice = WorkerChoice::new(1, 1);
        for _ in 0..100 {
            assert_eq!(choice.next(), (1, None));
            choice.learn(1, 1, Duration::from_secs(1));
        }
    }
}
