//! How fast the ranks of jobs go: whether the mean time of an iteration is known well enough to leave some out, and how many.

use crate::results::half_width;
use des::recurrence::Drift;
use fabric::observe::EstimatedPart;
use fabric::recurrence::RankLap;

/// Iterations, in lengths after which work is the same again, that a run needs to come into its stride.
const WARM: u32 = 8;
/// Batches from which a mean is estimated, at the least; with twice as many two become one.
const BATCHES: usize = 16;
/// Lengths of that kind that are left to be run in the end.
const REST: u32 = 8;
/// What two batches one behind the other may have in common: from this correlation on batches are too short.
const MOST_ALIKE: f64 = 0.4;
/// So many times a sample must be left for one to be worth while.
const WORTH: f64 = 4.0;
/// About so many packets make a sample, unless that is less than some iterations.
const SAMPLE: f64 = 1e6;

/// When the first rank of a job began some of its iterations.
#[derive(Clone, Debug)]
struct JobPace {
    job: usize,
    phase: u32,
    /// Iterations after which its work is the same again.
    each: u32,
    /// Iterations that are left, when it was looked at last.
    left: u32,
    /// Iterations of a batch.
    batch: u32,
    /// Iterations at borders of batches, and when they began (ps).
    borders: Vec<(u32, u64)>,
}

/// What is known of the time of an iteration (ps).
#[derive(Clone, Copy, Debug, PartialEq)]
struct IterationTime {
    mean: f64,
    /// Half the width of its 95 % interval.
    error: f64,
    /// Batches, and iterations of one.
    batches: usize,
    batch: u32,
}

impl JobPace {
    fn new(lap: &RankLap) -> JobPace {
        let each = lap.each.unwrap_or(1).max(1);
        JobPace {
            job: lap.job,
            phase: lap.phase,
            each,
            left: lap.left,
            batch: each,
            borders: Vec::new(),
        }
    }

    fn note(&mut self, lap: &RankLap) {
        self.left = lap.left;
        let is_due = match self.borders.last() {
            None => lap.iteration >= WARM * self.each,
            Some(&(last, _)) => lap.iteration >= last + self.batch,
        };
        if !is_due {
            return;
        }
        self.borders.push((lap.iteration, lap.turned));
        if self.borders.len() > 2 * BATCHES {
            self.lengthen();
        }
    }

    /// Makes one of every two batches.
    fn lengthen(&mut self) {
        let mut number = 0;
        self.borders.retain(|_| {
            number += 1;
            number % 2 == 1
        });
        self.batch *= 2;
    }

    /// Mean times of an iteration in each batch.
    fn means(&self) -> Vec<f64> {
        let mean = |pair: &[(u32, u64)]| (pair[1].1 - pair[0].1) as f64 / f64::from(pair[1].0 - pair[0].0);
        self.borders.windows(2).map(mean).collect()
    }

    /// The time of an iteration, if batches are many, do not depend on each other and show no way up or down; else it is seen to that they will.
    fn known(&mut self) -> Option<IterationTime> {
        let means = self.means();
        if means.len() < BATCHES {
            return None;
        }
        if correlation(&means) > MOST_ALIKE {
            self.lengthen();
            return None;
        }
        let (early, late) = means.split_at(means.len() / 2);
        let apart = half_width(early).zip(half_width(late));
        if apart.is_some_and(|(a, b)| (average(early) - average(late)).abs() > a.hypot(b)) {
            // It was not in its stride yet.
            self.borders.drain(..early.len());
            return None;
        }
        let (first, last) = (self.borders[0], *self.borders.last()?);
        Some(IterationTime {
            mean: (last.1 - first.1) as f64 / f64::from(last.0 - first.0),
            error: half_width(&means)?,
            batches: means.len(),
            batch: self.batch,
        })
    }
}

fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// What neighbours among some values have in common: the correlation of each with the next.
fn correlation(values: &[f64]) -> f64 {
    let mean = average(values);
    let square: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let product: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    // Values that are all the same are not like each other more than like any others.
    if square > 0.0 { product / square } else { 0.0 }
}

impl IterationTime {
    /// Half the width of the 95 % interval of the time of so many iterations that are not run: the mean is not known better, and they scatter themselves.
    fn error_of(&self, iterations: f64) -> f64 {
        let scatter = iterations * self.batches as f64 * f64::from(self.batch);
        self.error * (iterations * iterations + scatter).sqrt()
    }
}

/// The search for what can be estimated.
#[derive(Clone, Debug)]
pub(super) struct Estimator {
    /// Half the width of the interval, as a part of the mean, from which on it is.
    precision: f64,
    /// How far the run goes (ps) to the next look while nothing is known.
    step: u64,
    paces: Vec<JobPace>,
    /// Since when (ps) these jobs are in these parts of their work.
    since: u64,
    /// Nothing more is left out of these.
    pub(super) is_over: bool,
}

impl Estimator {
    pub(super) fn new(millionths: u32, lookahead: u64) -> Estimator {
        Estimator {
            precision: f64::from(millionths) / 1e6,
            step: 64 * lookahead.max(16),
            paces: Vec::new(),
            since: 0,
            is_over: false,
        }
    }

    /// Takes note of where the first ranks are at `now` (ps); whether it is known well enough how fast they go.
    pub(super) fn look(&mut self, laps: &[RankLap], now: u64) -> bool {
        let part = |lap: &RankLap| (lap.job, lap.phase);
        if !self
            .paces
            .iter()
            .map(|pace| (pace.job, pace.phase))
            .eq(laps.iter().map(part))
        {
            self.paces = laps.iter().map(JobPace::new).collect();
            (self.since, self.is_over) = (now, false);
        }
        self.paces.iter_mut().zip(laps).for_each(|(pace, lap)| pace.note(lap));
        // Whoever is nearly done, or does something else in every iteration, goes on as he would, and so do all others meanwhile.
        let lasts = |lap: &RankLap| {
            lap.each
                .is_some_and(|each| lap.left > each.max(1).saturating_mul(WARM + REST))
        };
        if self.is_over || laps.is_empty() || !laps.iter().all(lasts) {
            return false;
        }
        // Each is asked, so that each sees to it that it will be known.
        let precision = self.precision;
        let mut all_are_known = true;
        for pace in &mut self.paces {
            all_are_known &= pace.known().is_some_and(|time| time.error <= precision * time.mean);
        }
        all_are_known
    }

    /// When to look again at `now` (ps).
    pub(super) fn next(&self, laps: &[RankLap], now: u64) -> u64 {
        if laps.is_empty() {
            return u64::MAX;
        }
        if self.is_over {
            // Something else may follow.
            return now + self.step.max(now / 8);
        }
        let wait = |pace: &JobPace| match &pace.borders[..] {
            [first, .., last] => (last.1 - first.1) / u64::from(last.0 - first.0) * u64::from(pace.batch),
            _ => (now - self.since) / 4,
        };
        let shortest = self.paces.iter().map(wait).min().unwrap_or(0);
        now + shortest.max(self.step / 64)
    }
}

/// What is left out.
#[derive(Debug)]
pub(super) struct DriftPlan {
    pub(super) drift: Drift,
    /// Iterations of each job.
    pub(super) iterations: Vec<u32>,
    pub(super) part: EstimatedPart,
}

impl Estimator {
    /// How long (ps) a sample at `now` is to be, where so many packets have arrived: a whole number of iterations of the job with the longest; `None` if
    /// there is too little left for one to be worth while.
    pub(super) fn sample(&mut self, [now, until]: [u64; 2], packets: u64) -> Option<u64> {
        let rate = packets as f64 / now.max(1) as f64;
        let (mut longest, mut room) = (0.0f64, (until - now) as f64);
        for pace in &mut self.paces {
            let mean = pace.known()?.mean;
            let each = f64::from(pace.each);
            longest = longest.max(mean * each);
            room = room.min(mean * (f64::from(pace.left) - each * f64::from(REST)));
        }
        let wanted = (SAMPLE / rate.max(f64::MIN_POSITIVE)).min(now as f64 / 2.0);
        let sample = longest * (wanted / longest).round().max(f64::from(WARM));
        (room > WORTH * sample).then_some(sample as u64)
    }

    /// As many samples of a length (ps) as there is room for behind the last one, which has just ended, until some job is nearly done.
    pub(super) fn plan(&mut self, laps: &[RankLap], [now, until]: [u64; 2], sample: u64) -> Option<DriftPlan> {
        let mut room = (until - now) as f64 - 2.0 * sample as f64;
        let mut times = Vec::new();
        for pace in &mut self.paces {
            let lap = laps.iter().find(|lap| (lap.job, lap.phase) == (pace.job, pace.phase))?;
            pace.note(lap);
            let time = pace.known()?;
            room = room.min(time.mean * (f64::from(lap.left) - f64::from(pace.each * REST)));
            times.push((pace.job, pace.each, time));
        }
        let samples = (room / sample as f64) as u64;
        if samples == 0 {
            return None;
        }
        let by = samples * sample;
        let of = |time: f64, each: u32, mean: f64| (time / (mean * f64::from(each))).round() * f64::from(each);
        let mut iterations = vec![0; 1 + times.iter().map(|&(job, ..)| job).max()?];
        let mut part = EstimatedPart {
            time: by,
            ..EstimatedPart::default()
        };
        for &(job, each, time) in &times {
            let left_out = of(by as f64, each, time.mean);
            iterations[job] = left_out as u32;
            part.iterations = part.iterations.max(left_out as u64);
            // A whole number of iterations. Who is behind the others is not known: the least sure of them speaks for all.
            let rest = time.mean * f64::from(each) / 2.0;
            part.squares = part.squares.max(time.error_of(left_out).powi(2) + rest.powi(2));
        }
        Some(DriftPlan {
            drift: Drift { by, times: samples },
            iterations,
            part,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use des::mix;

    /// A rank of a job whose iterations take these times (ps), looked at after each of them.
    fn pace(times: &[u64]) -> JobPace {
        let lap = |iteration: usize, turned: u64| RankLap {
            job: 0,
            home: 0,
            phase: 0,
            iteration: iteration as u32,
            each: Some(1),
            left: (times.len() - iteration) as u32,
            turned,
        };
        let mut pace = JobPace::new(&lap(0, 0));
        let mut turned = 0;
        for (number, time) in times.iter().enumerate() {
            turned += time;
            pace.note(&lap(number + 1, turned));
        }
        pace
    }

    /// Evenly drawn from -1 to 1.
    fn draw(seed: u64, number: u64) -> f64 {
        mix(seed << 32 | number) as f64 / u64::MAX as f64 * 2.0 - 1.0
    }

    /// Times around 1,000,000, each of which has so much of the one before.
    fn drawn(seed: u64, count: u64, memory: f64) -> Vec<u64> {
        let mut last = 0.0;
        let next = |number| {
            last = memory * last + draw(seed, number);
            (1e6 + 1e5 * last) as u64
        };
        (0..count).map(next).collect()
    }

    #[test]
    fn times_that_are_all_the_same_are_known_as_they_are() {
        let time = pace(&[7_000; 60]).known().unwrap();
        assert_eq!((time.mean, time.error, time.error_of(1e6)), (7_000.0, 0.0, 0.0));
        assert_eq!(pace(&[7_000; 20]).known(), None, "too few");
    }

    #[test]
    fn times_that_go_up_or_down_are_not_known() {
        let falling: Vec<u64> = (0..400).map(|number| 1_000_000 - 1_000 * number).collect();
        assert_eq!(pace(&falling).known(), None);
        let mut late: Vec<u64> = vec![1_500_000; 60];
        late.extend(drawn(3, 400, 0.0));
        let mut pace = pace(&late);
        // The first look drops the early half, and what is left is known when there is as much again.
        while pace.borders.len() > BATCHES && pace.known().is_none() {}
        assert!(pace.known().is_none_or(|time| (time.mean - 1e6).abs() < 2e4));
    }

    /// The interval has what it says, whether or not iterations have something of those before.
    #[test]
    fn the_time_of_iterations_that_are_not_run_lies_within_the_error() {
        for memory in [0.0, 0.5, 0.9, -0.5] {
            let (mut cases, mut inside) = (0, 0);
            for seed in 0..400 {
                let times = drawn(seed, 3_000, memory);
                let (run, left_out) = times.split_at(1_000);
                let Some(time) = pace(run).known() else { continue };
                let truth: u64 = left_out.iter().sum();
                let guess = time.mean * left_out.len() as f64;
                cases += 1;
                inside += u32::from((truth as f64 - guess).abs() <= time.error_of(left_out.len() as f64));
            }
            let share = f64::from(inside) / f64::from(cases);
            assert!(cases > 200 && share > 0.9, "{memory}: {inside} of {cases}");
            assert!(
                memory < 0.0 || share < 0.995,
                "{memory}: {inside} of {cases}, wider than it need be"
            );
        }
    }
}
