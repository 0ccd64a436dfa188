//! Iterations that repeat are counted, not run.
//!
//! Ranks that do the same in every iteration, on a network whose routing draws nothing, come into step sooner or later: from some iteration
//! on all that happens, happens again a period later. A period is looked for by the times at which the first ranks of all jobs begin an
//! iteration. Whether it is one, [`des::recurrence`] says by the whole state at five moments; then all periods but the last are left out.

use super::supervisor::{Supervisor, advance};
use super::{Keeper, RunError};
use crate::harvest::{Harvest, HarvestWanted, InFlight};
use crate::results::SkippedPeriods;
use des::recurrence::{BORDERS, Landing, leap, observed, same_again};
use des::{Stop, Time};
use fabric::engines::NetworkEngine;
use fabric::models::AnyFabric;
use fabric::observe::{Shown, Stats};
use fabric::recurrence::{RankLap, laps};
use fabric::state::Parts;
use std::collections::VecDeque;

/// Periods that must be left out for it to be worth while.
const WORTH: u64 = 8;
/// Beginnings of iterations that are kept to find a period in.
const KEPT: usize = 33;
/// Where nothing repeats so far, it is looked at again after so many times as many iterations.
const PATIENCE: u32 = 2;
/// Iterations that a run needs to come into step, at the least.
const FIRST: u32 = 1;

/// How the engine of a run is made anew from what it has saved; `true`: what its workers are shown from there on is noted.
pub(super) type Restore<'a, 'w> = &'a dyn Fn(&[u8], bool) -> Result<NetworkEngine<'w>, RunError>;

/// Runs everything before `until` but for what repeats; returns the engine, why it stopped, and what was left out.
pub(super) fn repeating<'w>(
    world: &'w AnyFabric,
    mut engine: NetworkEngine<'w>,
    until: Time,
    supervisor: &mut Supervisor<'_, '_>,
    keeper: &mut Option<Keeper<'_>>,
    restore: Restore<'_, 'w>,
) -> Result<(NetworkEngine<'w>, Stop, SkippedPeriods), RunError> {
    let mut search = PeriodSearch::new(world.net().lookahead.0);
    let mut left_out = SkippedPeriods::default();
    loop {
        let laps = laps(world.net(), &engine.view().states);
        let goal = match search.look(&laps, engine.reached().0) {
            Look::Done => until,
            Look::On(goal) => Time(goal).min(until),
            Look::Period(period) => {
                let trial = Trial { world, period, until };
                match trial.run(&mut engine, restore, supervisor, keeper)? {
                    Trialled::Stopped(stop) => return Ok((engine, stop, left_out)),
                    Trialled::Differs => {}
                    Trialled::Leaps(saved, periods) => {
                        let ran = engine.outcome().events;
                        engine = restore(&saved, false)?;
                        left_out.events += engine.outcome().events - ran;
                        left_out.periods += periods;
                        left_out.time += periods * period;
                        supervisor.progress_at = engine.reached();
                    }
                }
                search.wait();
                continue;
            }
        };
        let stop = advance(&mut *engine, goal, supervisor, keeper)?;
        if stop != Stop::Until || goal == until {
            return Ok((engine, stop, left_out));
        }
    }
}

/// What comes next in the search for a period.
#[derive(Debug, PartialEq, Eq)]
enum Look {
    /// No work is left that repeats.
    Done,
    /// The run is to go on up to this time (ps).
    On(u64),
    /// Perhaps all is the same after so long (ps).
    Period(u64),
}

/// The search for a period, by the first rank of a job.
#[derive(Debug)]
struct PeriodSearch {
    /// How far the run goes (ps) to the next look while nothing is known.
    step: u64,
    /// The part of its work that the rank is in, which began before this time (ps).
    phase: Option<u32>,
    since: u64,
    /// Beginnings of iterations, one after the other: number and time (ps).
    turns: VecDeque<(u32, u64)>,
    /// Iterations before this one are not looked at.
    from: u32,
    /// The latest iteration.
    latest: u32,
}

impl PeriodSearch {
    fn new(lookahead: u64) -> PeriodSearch {
        PeriodSearch {
            step: 64 * lookahead.max(16),
            phase: None,
            since: 0,
            turns: VecDeque::new(),
            from: FIRST,
            latest: 0,
        }
    }

    /// Nothing is looked for until there are some times as many iterations.
    fn wait(&mut self) {
        self.from = (self.latest + 1).saturating_mul(PATIENCE);
        self.turns.clear();
    }

    /// What is next at `now` (ps), where the first ranks are there.
    fn look(&mut self, laps: &[RankLap], now: u64) -> Look {
        let lasts = |lap: &&RankLap| lap.each.is_some() && u64::from(lap.left) > 2 * WORTH;
        let Some(lap) = laps.iter().find(lasts) else {
            // What is over in a moment, or never the same, may be followed by something else.
            return match laps.is_empty() {
                true => Look::Done,
                false => Look::On(now + self.step.max(now / 8)),
            };
        };
        if self.phase != Some(lap.phase) {
            (self.phase, self.since, self.from) = (Some(lap.phase), now, FIRST);
            self.turns.clear();
        }
        self.latest = lap.iteration;
        if lap.iteration < self.from {
            return Look::On(now + self.step.max((now - self.since) / 4));
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
            _ => (now - self.since) / u64::from(lap.iteration + 1),
        };
        match period(&self.turns, lap.each.unwrap_or(1)) {
            Some(period) if period > 0 => Look::Period(period),
            _ if self.turns.len() < KEPT => Look::On(now + (mean / 3).max(self.step / 64)),
            _ => {
                self.wait();
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

/// An attempt to leave out periods of a length (ps).
struct Trial<'w> {
    world: &'w AnyFabric,
    period: u64,
    until: Time,
}

enum Trialled {
    /// The run has stopped.
    Stopped(Stop),
    /// It does not repeat itself, or not for long.
    Differs,
    /// What an engine would have saved so many periods later.
    Leaps(Vec<u8>, u64),
}

impl<'w> Trial<'w> {
    fn run(
        &self,
        engine: &mut NetworkEngine<'w>,
        restore: Restore<'_, 'w>,
        supervisor: &mut Supervisor<'_, '_>,
        keeper: &mut Option<Keeper<'_>>,
    ) -> Result<Trialled, RunError> {
        let needs = (BORDERS as u64 + WORTH).saturating_mul(self.period);
        if engine.reached().0.saturating_add(needs) > self.until.0 {
            return Ok(Trialled::Differs);
        }
        let sent = |engine: &NetworkEngine<'_>| {
            let view = engine.view();
            let each = view
                .observers
                .iter()
                .map(|stats| (stats.injected, stats.injected_bytes));
            each.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
        };
        let mut before = (0, 0);
        let mut saved = vec![engine.save()];
        for border in 1..BORDERS {
            let goal = Time(engine.reached().0 + self.period);
            let stop = advance(&mut **engine, goal, supervisor, keeper)?;
            self.world.net().follow_messages(false);
            if stop != Stop::Until {
                return Ok(Trialled::Stopped(stop));
            }
            saved.push(engine.save());
            if border == 1 && same_again(self.world, &saved[0], &saved[1]).is_err() {
                return Ok(Trialled::Differs);
            }
            if border == BORDERS - 2 {
                let noting = observed(self.world, &saved[border], Stats::note_all);
                *engine = restore(&noting.map_err(|torn| RunError::Engine(torn.0))?, true)?;
                self.world.net().follow_messages(true);
                before = sent(engine);
            }
        }
        let agrees = self.agrees(engine);
        let mut shown = Shown::default();
        let view = engine.view();
        view.observers
            .iter()
            .filter_map(|stats| stats.shown())
            .for_each(|part| shown.merge(part));
        drop(view);
        let after = sent(engine);
        shown.set_departed(after.0 - before.0, after.1 - before.1);
        let borders = [0, 1, 2, 3, 4].map(|border| &saved[border][..]);
        let most = (self.until.0 - engine.reached().0) / self.period - 1;
        let leapt = leap(self.world, borders, most, |stats, landing| {
            let mut stats = stats;
            stats.repeat(&shown, self.period, landing.times);
            self.set_flows(&mut stats, landing);
            stats
        });
        Ok(match leapt {
            Ok((saved, periods)) if agrees && periods >= WORTH => Trialled::Leaps(saved, periods),
            _ => {
                // It takes note no longer of what it is shown.
                *engine = restore(&saved[BORDERS - 1], false)?;
                Trialled::Differs
            }
        })
    }

    /// Whether what has set out has arrived or is under way, up to here: what is set anew hides nothing.
    fn agrees(&self, engine: &NetworkEngine<'_>) -> bool {
        let view = engine.view();
        let mut in_flight = InFlight::default();
        engine.pending(&mut |event| in_flight.count(event, self.world.net()));
        let (flow, message_flow) = self.flows(&Parts::new(view.states), in_flight);
        let sum = |of: fn(&Stats) -> u64| {
            view.observers
                .iter()
                .fold(0u64, |sum, stats| sum.wrapping_add(of(stats)))
        };
        (sum(|stats| stats.flow), sum(|stats| stats.message_flow)) == (flow, message_flow)
    }

    /// Sets the sums of what has set out and not arrived to what is under way: messages have other numbers than those that were counted.
    fn set_flows(&self, stats: &mut Stats, landing: &Landing<'_, AnyFabric>) {
        let mut in_flight = InFlight::default();
        let events = landing.events.iter();
        events.for_each(|event| in_flight.count(event, self.world.net()));
        (stats.flow, stats.message_flow) = self.flows(&Parts::new([landing.state]), in_flight);
    }

    /// The sums of the shares of all packets and messages under way.
    fn flows(&self, parts: &Parts<'_>, in_flight: InFlight) -> (u64, u64) {
        let net = self.world.net();
        let (_, jobs) = net.workload.jobs_of_nodes();
        let unseen = Stats::new(net.span, 0, false, Default::default(), (jobs, 0));
        let harvest = Harvest::reap(self.world, parts, unseen, in_flight, &[], HarvestWanted::default());
        let under_way = harvest.under_way();
        (under_way.flow, under_way.message_flow)
    }
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
                Look::Period(period) => return (Some(period), looks),
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
        let never: Vec<u64> = (0..10_000).map(|i| 50_000 + i * i % 7_919).collect();
        let (period, looks) = found(&never, 10_000);
        assert!(period.is_none() && looks < 2_000, "{period:?} {looks}");
    }
}
