//! The search for the length of a period, by the times at which the first ranks of jobs begin an iteration.
//!
//! One job is looked at after the other, those with the shortest iterations first: where several share nothing, each has its own period.

use fabric::recurrence::RankLap;
use std::collections::VecDeque;

/// Periods that must be left out for it to be worth while.
pub(super) const WORTH: u64 = 8;
/// Beginnings of iterations that are kept to find a period in.
const KEPT: usize = 33;
/// Where nothing repeats so far, it is looked at again after so many times as many iterations.
const PATIENCE: u64 = 2;
/// Jobs that are looked at one after the other before nothing is for a while.
const TRIED: u32 = 4;
/// Iterations that a run needs to come into step, at the least.
const FIRST: u32 = 1;

/// What comes next in the search for a period.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// No work is left that repeats.
    Done,
    /// The run is to go on up to this time (ps).
    On(u64),
    /// Perhaps all is the same after so long (ps), or what this job has met.
    Period(u64, usize),
}

/// Since when (ps) a job is in a part of its work, or was when it was first looked at.
#[derive(Clone, Copy, Debug)]
struct JobPhase {
    job: usize,
    phase: u32,
    since: u64,
    /// Nothing was found in it since all were looked at.
    tried: bool,
}

/// The search for a period, by the first rank of a job.
#[derive(Debug)]
pub(super) struct PeriodSearch {
    /// How far the run goes (ps) to the next look while nothing is known.
    step: u64,
    /// All jobs whose work is long.
    phases: Vec<JobPhase>,
    /// The job that is looked at.
    at: Option<usize>,
    /// Beginnings of its iterations, one after the other: number and time (ps).
    turns: VecDeque<(u32, u64)>,
    /// Jobs that were looked at without a pause.
    tries: u32,
    /// Nothing is looked at before this time (ps).
    pause: u64,
}

impl PeriodSearch {
    pub(super) fn new(lookahead: u64) -> PeriodSearch {
        PeriodSearch {
            step: 64 * lookahead.max(16),
            phases: Vec::new(),
            at: None,
            turns: VecDeque::new(),
            tries: 0,
            pause: 0,
        }
    }

    /// The job is not looked at until all others were; once enough were, nothing is until there are some times as many iterations.
    pub(super) fn wait(&mut self, now: u64) {
        self.turns.clear();
        self.tries += 1;
        let at = self.at.take();
        let Some(phase) = self.phases.iter_mut().find(|phase| Some(phase.job) == at) else {
            return;
        };
        phase.tried = true;
        let since = phase.since;
        let all = self.phases.iter().all(|phase| phase.tried);
        if all {
            self.phases.iter_mut().for_each(|phase| phase.tried = false);
        }
        if all || self.tries >= TRIED {
            self.tries = 0;
            self.pause = now + (PATIENCE - 1) * (now - since);
        }
    }

    /// Takes note of the work of jobs that is long, and ends a pause if there is other work than before.
    fn note(&mut self, lasting: &[&RankLap], now: u64) {
        self.phases
            .retain(|phase| lasting.iter().any(|lap| lap.job == phase.job));
        for lap in lasting {
            let new = JobPhase {
                job: lap.job,
                phase: lap.phase,
                since: now,
                tried: false,
            };
            match self.phases.iter_mut().find(|phase| phase.job == lap.job) {
                Some(known) if known.phase == lap.phase => continue,
                Some(known) => *known = new,
                None => self.phases.push(new),
            }
            self.pause = 0;
            if self.at == Some(lap.job) {
                self.at = None;
            }
        }
    }

    /// The job to look at, and since when (ps) it is in that part of its work: the one whose iterations are the shortest, until it is known.
    fn choose<'l>(&mut self, lasting: &[&'l RankLap]) -> Option<(&'l RankLap, u64)> {
        let phases = &self.phases;
        let known = |lap: &RankLap| phases.iter().find(|phase| phase.job == lap.job);
        let kept = lasting
            .iter()
            .find(|lap| self.turns.len() > 1 && self.at == Some(lap.job));
        let new = || {
            let new = lasting
                .iter()
                .filter(|lap| known(lap).is_some_and(|phase| !phase.tried));
            new.min_by_key(|lap| (u32::MAX - lap.iteration, lap.job))
        };
        let lap = *kept.or_else(new)?;
        let since = known(lap)?.since;
        if self.at != Some(lap.job) {
            self.at = Some(lap.job);
            self.turns.clear();
        }
        Some((lap, since))
    }

    /// What is next at `now` (ps), where the first ranks are there.
    pub(super) fn look(&mut self, laps: &[RankLap], now: u64) -> Look {
        let lasts = |lap: &&RankLap| lap.each.is_some() && u64::from(lap.left) > 2 * WORTH;
        let lasting: Vec<&RankLap> = laps.iter().filter(lasts).collect();
        self.note(&lasting, now);
        if now < self.pause {
            return Look::On(now + self.step.max((self.pause - now) / 4));
        }
        let Some((lap, since)) = self.choose(&lasting) else {
            // What is over in a moment, or never the same, may be followed by something else.
            return match laps.is_empty() {
                true => Look::Done,
                false => Look::On(now + self.step.max(now / 8)),
            };
        };
        if lap.iteration < FIRST {
            return Look::On(now + self.step.max((now - since) / 4));
        }
        let last = self.turns.back().copied();
        if last.is_some_and(|(number, _)| lap.iteration > number + 1) {
            self.turns.clear();
        }
        if last.is_none_or(|(number, _)| lap.iteration > number) {
            self.turns.push_back((lap.iteration, lap.turned));
        }
        let mean = match last {
            Some((number, time)) if lap.iteration > number => {
                lap.turned.saturating_sub(time) / u64::from(lap.iteration - number)
            }
            // It began some time ago.
            _ => ((now - since) / u64::from(lap.iteration + 1)).max(now.saturating_sub(lap.turned)),
        };
        match period(&self.turns, lap.each.unwrap_or(1)) {
            Some(period) if period > 0 => Look::Period(period, lap.job),
            _ if self.turns.len() < KEPT => Look::On(now + (mean / 3).max(self.step / 64)),
            _ => {
                self.wait(now);
                Look::On(now + self.step)
            }
        }
    }
}

/// The time between the last turn and one before it that was as long before: of the nearest, a multiple of `each` turns away.
fn period(turns: &VecDeque<(u32, u64)>, each: u32) -> Option<u64> {
    let times: Vec<u64> = turns.iter().rev().map(|&(_, time)| time).collect();
    let lengths = (1..).map(|n| n * each as usize).take_while(|n| 2 * n < times.len());
    let of = |n: usize| times[0] - times[n];
    lengths.into_iter().find(|&n| of(n) == times[n] - times[2 * n]).map(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(times: &[u64]) -> VecDeque<(u32, u64)> {
        (5..).zip(times.iter().copied()).collect()
    }

    #[test]
    fn the_shortest_period_is_found() {
        assert_eq!(period(&turns(&[10, 20]), 1), None);
        assert_eq!(period(&turns(&[10, 20, 30]), 1), Some(10));
        assert_eq!(period(&turns(&[10, 20, 31]), 1), None);
        assert_eq!(period(&turns(&[0, 10, 31, 41, 62]), 1), Some(31));
        assert_eq!(period(&turns(&[0, 10, 20, 30, 40]), 2), Some(20));
        assert_eq!(period(&turns(&[0, 10, 20, 30]), 2), None);
    }

    /// A rank whose iterations take some times in turn, looked at as the search says, until it says that there is a period.
    fn found(lengths: &[u64], iterations: u32) -> (Option<u64>, u32) {
        let mut search = PeriodSearch::new(100);
        let (mut now, mut looks) = (0u64, 0);
        let mut ends = vec![0u64];
        (0..iterations).for_each(|i| ends.push(ends[i as usize] + lengths[i as usize % lengths.len()]));
        loop {
            let iteration = ends.iter().rposition(|&end| end <= now).unwrap_or(0) as u32;
            let lap = RankLap {
                job: 0,
                home: 0,
                phase: 0,
                iteration,
                each: Some(1),
                left: iterations - iteration,
                turned: ends[iteration as usize],
            };
            looks += 1;
            let laps = if iteration == iterations { vec![] } else { vec![lap] };
            match search.look(&laps, now) {
                Look::Done => return (None, looks),
                Look::Period(period, _) => return (Some(period), looks),
                Look::On(goal) => {
                    assert!(goal > now);
                    now = goal;
                }
            }
        }
    }

    #[test]
    fn a_search_looks_seldom_and_finds_what_is_there() {
        for length in [500, 5_000, 777_777, 10_000_000_000] {
            let (period, looks) = found(&[length], 100_000);
            assert_eq!(period, Some(length));
            assert!(looks < 200, "{length}: {looks}");
        }
        assert_eq!(found(&[40_000, 50_000, 60_000], 10_000).0, Some(150_000));
        let never: Vec<u64> = (0..10_000).map(|i| 50_000 + i * i % 104_729).collect();
        let (period, looks) = found(&never, 10_000);
        assert!(period.is_none() && looks < 2_000, "{period:?} {looks}");
    }

    /// Jobs whose iterations take some times in turn, looked at until each was to be tried `trials` times: those tried, in their order.
    fn tried(jobs: &[&[u64]], trials: usize) -> Vec<(usize, u64)> {
        let mut search = PeriodSearch::new(100);
        let (mut now, mut looks, mut tried) = (0u64, 0, Vec::new());
        let ends = |lengths: &&[u64]| -> Vec<u64> {
            let end = |time: &mut u64, i: usize| {
                *time += lengths[i % lengths.len()];
                Some(*time)
            };
            std::iter::once(0).chain((0..100_000).scan(0, end)).collect()
        };
        let ends: Vec<Vec<u64>> = jobs.iter().map(ends).collect();
        while tried.len() < trials {
            let lap = |(job, ends): (usize, &Vec<u64>)| {
                let iteration = ends.partition_point(|&end| end <= now) as u32 - 1;
                RankLap {
                    job,
                    home: 0,
                    phase: 0,
                    iteration,
                    each: Some(1),
                    left: 100_000 - iteration,
                    turned: ends[iteration as usize],
                }
            };
            let laps: Vec<RankLap> = ends.iter().enumerate().map(lap).collect();
            looks += 1;
            assert!(looks < 3_000);
            match search.look(&laps, now) {
                Look::Done => unreachable!("there is work"),
                Look::On(goal) => now = goal,
                Look::Period(period, job) => {
                    tried.push((job, period));
                    now += period;
                    search.wait(now);
                }
            }
        }
        tried
    }

    #[test]
    fn jobs_take_turns_those_with_short_iterations_first() {
        let never: Vec<u64> = (0..10_000).map(|i| 4_000 + i * i % 7_919).collect();
        let jobs: [&[u64]; 4] = [&[700_000], &[5_000], &never, &[90_000, 80_000]];
        let found = tried(&jobs, 6);
        assert_eq!(found, [(1, 5_000), (3, 170_000), (0, 700_000)].repeat(2));
        let many: Vec<&[u64]> = vec![&[5_000]; 10];
        let jobs: Vec<usize> = tried(&many, 20).iter().map(|&(job, _)| job).collect();
        assert_eq!(jobs, Vec::from_iter(0..10).repeat(2));
    }
}
