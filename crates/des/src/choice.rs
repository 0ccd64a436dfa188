//! One worker or all of them: measured while the run goes on, by the wall time per event of some bursts of windows.
//!
//! Whether several workers pay depends on events per window, on the caches and on what else the machine does: nothing that can be known
//! beforehand. Where it cannot pay is known: windows that hold fewer events than it takes to meet are not tried with several workers.
//! What an event costs changes with the phases of a run by more than workers can win (fresh memory, congestion, ranks that compute), so two
//! ways are only compared by bursts that follow each other: the way that is not taken is tried on two short bursts, the first of which fills
//! its caches, and held against the burst before them. It is tried now and then, and sooner where the way that is taken costs another price
//! than when it was chosen. The answer of the run does not depend on it.

use std::time::Duration;

/// Events of a burst on trial, per worker.
const TRIAL: u64 = 1 << 14;
/// Windows of a burst on trial, at most: where meeting is dear it is not tried for long.
const TRIAL_WINDOWS: u64 = 1 << 8;
/// Windows of the first burst after a trial that all workers have won, at most: so many that the thinnest that are tried hold enough events to tell.
const FIRST_WINDOWS: u64 = 3 * TRIAL_WINDOWS;
/// What meeting costs for each worker, and an event, in ns: the quiet machine of docs/how-to/parallel-runs.md.
const MEETING: f64 = 100.0;
const EVENT: f64 = 70.0;
/// A worker's part of a window must cost so many times what meeting does: workers also wait for who has more to do.
const TIMES: f64 = 4.0;
/// Several workers must save this part of the time to be kept: two that save less take more than 1.6 times the CPU time of one.
const GAIN: f64 = 0.2;
/// Bursts after which the other way may be tried again ...
const PATIENCE: u32 = 16;
/// ... once the time since the last trial is so many times what the trial is expected to lose: windows may hold millions of events.
const RARELY: f64 = 40.0;
/// Bursts after which a change of price is looked into; the first burst after a trial is, too.
const BREATH: u32 = 4;
/// One worker whose events cost so many times more or less than when it was chosen is in another phase of the run.
const CHANGE: f64 = 1.25;

/// What a burst is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChoicePhase {
    /// One worker looks at what a window holds, and fills memory and caches.
    Look,
    /// One worker, measured before the first trial.
    Base,
    /// The way that is not taken fills its caches; not measured.
    WarmUp,
    /// The way that is not taken, measured.
    Trial,
    /// The better way, after so many bursts of it.
    Settled(u32),
}

/// Decides burst by burst how many workers run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkerChoice {
    workers: usize,
    /// Windows from one meeting to the next.
    together: u64,
    phase: ChoicePhase,
    /// All workers are the better way.
    all: bool,
    /// Wall time per event (ns) of one worker and of all when they were last compared.
    one: f64,
    many: f64,
    /// Events that a window holds for each worker, where those are too few.
    thin: Option<f64>,
    /// Wall time (ns) since they were.
    since: f64,
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
                ChoicePhase::Settled(0)
            },
            all: false,
            one: 0.0,
            many: 0.0,
            thin: None,
            since: 0.0,
        }
    }

    /// Several workers were tried and found slower than one: wall time per event (ns) of one and of all.
    pub(crate) fn given_up(&self) -> Option<(f64, f64)> {
        (self.many > 0.0 && !self.all).then_some((self.one, self.many))
    }

    /// Several workers were not tried: events that a window held for each, and how many would be worth a trial.
    pub(crate) fn thin(&self) -> Option<(f64, f64)> {
        self.thin.map(|events| (events, worth(self.workers)))
    }

    /// Workers of the next burst, and its events and windows at most, where they are fewer than others are watched for: of a trial, and of the first burst of all
    /// workers after theirs. One that seemed good by chance, where others want the processors, is not believed for long.
    pub(crate) fn next(&self) -> (usize, Option<(u64, u64)>) {
        let trial = Some((TRIAL * self.workers as u64, TRIAL_WINDOWS));
        let (all, most) = match self.phase {
            ChoicePhase::Look | ChoicePhase::Base => (false, trial),
            ChoicePhase::WarmUp | ChoicePhase::Trial => (!self.all, trial),
            ChoicePhase::Settled(0) if self.all => (true, Some((u64::MAX, FIRST_WINDOWS))),
            ChoicePhase::Settled(_) => (self.all, None),
        };
        (if all { self.workers } else { 1 }, most)
    }

    /// Takes note of a burst of `events` in so many windows that took `wall`.
    pub(crate) fn learn(&mut self, events: u64, windows: u64, wall: Duration) {
        if self.workers == 1 {
            return;
        }
        let wall = wall.as_nanos() as f64;
        let cost = wall / events.max(1) as f64;
        let window = events as f64 / windows.max(1) as f64;
        if matches!(self.phase, ChoicePhase::Look | ChoicePhase::Settled(_)) && !self.all {
            let share = window * self.together as f64 / self.workers as f64;
            self.thin = (share < worth(self.workers)).then_some(share);
        }
        self.phase = match self.phase {
            ChoicePhase::Look if self.thin.is_none() => ChoicePhase::Base,
            ChoicePhase::Look => ChoicePhase::Settled(0),
            ChoicePhase::Base => {
                self.one = cost;
                ChoicePhase::WarmUp
            }
            ChoicePhase::WarmUp => ChoicePhase::Trial,
            ChoicePhase::Trial => {
                *self.price(!self.all) = cost;
                self.all = self.many < self.one * (1.0 - GAIN);
                self.since = 0.0;
                ChoicePhase::Settled(0)
            }
            ChoicePhase::Settled(n) => {
                self.since += wall;
                // A short burst tells nothing.
                if events >= TRIAL && self.thin.is_none() && self.is_other_due(n, cost, window) {
                    *self.price(self.all) = cost;
                    ChoicePhase::WarmUp
                } else {
                    ChoicePhase::Settled(n.saturating_add(1))
                }
            }
        };
    }

    /// The other way is to be tried after a burst at such a cost, with such windows, and `n` others before it.
    fn is_other_due(&self, n: u32, cost: f64, window: f64) -> bool {
        let (other, doubt) = match self.all {
            true => (self.one, (n == 0 || n >= BREATH) && cost > self.one * (1.0 - GAIN)),
            false => {
                let changed = !(self.one / CHANGE..self.one * CHANGE).contains(&cost);
                (self.many, n >= BREATH && changed)
            }
        };
        let burst = window.max((TRIAL * self.workers as u64) as f64);
        let loss = 2.0 * burst * (other - cost).max(0.0);
        self.many == 0.0 || doubt || (n >= PATIENCE && self.since >= loss * RARELY)
    }

    /// What an event cost on all workers, or on one.
    fn price(&mut self, all: bool) -> &mut f64 {
        if all { &mut self.many } else { &mut self.one }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Events on one worker and on all, of each thousand, when an event costs `one` or `many` ns and a window holds `window` events.
    fn bursts(one: u64, many: u64, window: u64, n: u32) -> (u64, u64, WorkerChoice) {
        phases(window, n, |_| (one, many))
    }

    /// The same when an event of a burst costs so many ns on one worker and on all.
    fn phases(window: u64, n: u32, costs: impl Fn(u32) -> (u64, u64)) -> (u64, u64, WorkerChoice) {
        let mut choice = WorkerChoice::new(4, 1);
        let (mut alone, mut together) = (0, 0);
        for burst in 0..n {
            let (workers, most) = choice.next();
            let events = most
                .map_or(1 << 20, |(events, windows)| events.min(windows * window).min(1 << 20))
                .max(window);
            let (one, many) = costs(burst);
            let cost = if workers == 1 { one } else { many };
            *(if workers == 1 { &mut alone } else { &mut together }) += events;
            choice.learn(events, events.div_ceil(window), Duration::from_nanos(events * cost));
        }
        let all = alone + together;
        (alone * 1_000 / all, together * 1_000 / all, choice)
    }

    #[test]
    fn the_faster_way_runs_but_for_rare_trials() {
        let (one, many, _) = bursts(100, 30, 1_000, 1_000);
        assert!(many > 980, "{one} {many}");
        let (one, many, choice) = bursts(100, 900, 1_000, 1_000);
        assert!(one > 980, "{one} {many}");
        assert_eq!((choice.given_up(), choice.thin()), (Some((100.0, 900.0)), None));
        // A gain that may be noise, or costs more than it is worth, is none.
        for little in [98, 85] {
            let (one, many, _) = bursts(100, little, 1_000, 1_000);
            assert!(one > 980, "{one} {many}");
        }
        // Where a window is longer than a burst, trials are as long as what they are to decide on.
        let (one, many, _) = bursts(100, 10, 8_000_000, 1_000);
        assert!(many > 990, "{one} {many}");
    }

    #[test]
    fn ways_are_compared_at_the_same_time_whatever_an_event_costs_by_then() {
        // A run that becomes dearer in steps, in waves, and cheaper after fresh memory: all workers save half at any time.
        let steps = |burst: u32| 100_u64 << (burst / 100).min(5);
        let waves = |burst: u32| if (burst / 10).is_multiple_of(2) { 100_u64 } else { 300 };
        let memory = |burst: u32| 4_000 / u64::from(burst + 1).min(20);
        for costs in [&steps as &dyn Fn(u32) -> u64, &waves, &memory] {
            let (one, many, _) = phases(1_000, 1_000, |burst| (costs(burst), costs(burst) / 2));
            assert!(many > 950, "{one} {many}");
            let (one, many, _) = phases(1_000, 1_000, |burst| (costs(burst), costs(burst) * 9 / 10));
            assert!(one > 950, "{one} {many}");
        }
        // All workers pay from some time on only.
        let (one, many, _) = phases(1_000, 1_000, |burst| if burst < 500 { (100, 100) } else { (250, 130) });
        assert!(one < 550 && many > 450, "{one} {many}");
    }

    #[test]
    fn several_workers_that_seemed_faster_on_trial_only_are_given_up_after_a_burst() {
        let (mut choice, mut many) = (WorkerChoice::new(2, 1), 0);
        for _ in 0..100 {
            let (workers, most) = choice.next();
            let (events, windows) = most.unwrap_or((1 << 20, 1 << 20));
            let events = events.min(windows * 30);
            let cost = match workers {
                1 => 100,
                _ if windows == TRIAL_WINDOWS => 70,
                _ => {
                    many += 1;
                    assert_eq!(windows, FIRST_WINDOWS);
                    500
                }
            };
            choice.learn(events, events / 30, Duration::from_nanos(events * cost));
        }
        // Each trial is believed once.
        assert!((1..=6).contains(&many), "{many}");
    }

    #[test]
    fn where_a_window_holds_less_than_it_takes_to_meet_nothing_is_tried() {
        // Even if it would seem to pay by chance.
        let (one, many, choice) = bursts(100, 30, 50, 1_000);
        assert_eq!((one, many), (1_000, 0));
        assert!(
            choice
                .thin()
                .is_some_and(|(events, worth)| events > 12.4 && worth > 20.0)
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
