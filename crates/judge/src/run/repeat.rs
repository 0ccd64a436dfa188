//! Iterations that repeat are counted, not run.
//!
//! Ranks that do the same in every iteration, on a network whose routing draws nothing, come into step sooner or later: from some iteration
//! on all that happens, happens again a period later. A period is looked for by the times at which the first ranks of jobs begin an
//! iteration. Whether it is one, [`des::recurrence`] says by the whole state at five moments; then all periods but the last are left out.
//! Where the whole is another after a period, and what a job has met so far is the same, the run is divided there.

use super::divide::{RunHalves, divided, under_way};
use super::pace::Estimator;
use super::period::{Look, PeriodSearch, WORTH};
use super::supervisor::{Supervisor, advance};
use super::{Keeper, RunError};
use crate::harvest::InFlight;
use crate::results::SkippedPeriods;
use des::recurrence::{BORDERS, Landing, leap, observed, same_again};
use des::{Stop, Time};
use fabric::engines::NetworkEngine;
use fabric::met::met_by;
use fabric::models::AnyFabric;
use fabric::network::Network;
use fabric::observe::{Shown, Stats};
use fabric::recurrence::{RankLap, laps, may_repeat};
use fabric::state::Parts;

/// How the engine of a run is made anew from what it has saved; `true`: what its workers are shown from there on is noted.
pub(super) type Restore<'a, 'w> = &'a dyn Fn(&[u8], bool) -> Result<NetworkEngine<'w>, RunError>;

/// Runs of a network of which what repeats is left out.
#[derive(Clone, Copy)]
pub(super) struct Repeating<'a, 'w> {
    pub(super) world: &'w AnyFabric,
    /// How far they go.
    pub(super) until: Time,
    pub(super) restore: Restore<'a, 'w>,
    /// What has been recorded before the first event.
    pub(super) unseen: &'a Stats,
    /// How well the mean of an iteration is to be known for the rest to be estimated, in millionths; 0: nothing is.
    pub(super) precision: u32,
}

/// Which part of a run is run.
#[derive(Clone, Copy)]
pub(super) struct RunOf<'a> {
    /// By name, the routers whose ranks are looked at; all if there are none.
    pub(super) here: &'a [bool],
    /// By name, the routers that are in other parts.
    pub(super) elsewhere: &'a [bool],
    /// It may end as two runs from this time on.
    pub(super) divides_from: Time,
}

impl RunOf<'_> {
    /// Where the first ranks are of the jobs that are looked at.
    pub(super) fn laps(&self, net: &Network, engine: &NetworkEngine<'_>) -> Vec<RankLap> {
        let mut laps = laps(net, &engine.view().states);
        laps.retain(|lap| self.here.get(lap.home as usize).is_none_or(|&here| here));
        laps
    }

    /// Whether something has happened at a router that is in another part.
    fn meets_others(&self, engine: &NetworkEngine<'_>) -> bool {
        !self.elsewhere.is_empty() && {
            let digests = engine.digests();
            self.elsewhere
                .iter()
                .zip(digests)
                .any(|(&other, digest)| other && digest != 0)
        }
    }
}

/// How a run has gone.
pub(super) enum RunGone<'w> {
    /// As far as it was to go, or it was stopped.
    Ended(NetworkEngine<'w>, Stop),
    /// To a moment, not long before this time, at which it met another part.
    Met(Time),
    /// To a moment at which it is two.
    Divided(RunHalves),
}

impl<'w> Repeating<'_, 'w> {
    /// The engine as it was saved, which from there on notes all that its workers are shown.
    pub(super) fn noting(&self, saved: &[u8]) -> Result<NetworkEngine<'w>, RunError> {
        let noting = observed(self.world, saved, Stats::note_all).map_err(|torn| RunError::Engine(torn.0))?;
        let engine = (self.restore)(&noting, true)?;
        self.world.net().follow_messages(true);
        Ok(engine)
    }

    /// Runs everything of a part but for what repeats, which is added to `left_out`.
    pub(super) fn run(
        &self,
        mut engine: NetworkEngine<'w>,
        of: RunOf<'_>,
        supervisor: &mut Supervisor<'_, '_>,
        keeper: &mut Option<Keeper<'_>>,
        left_out: &mut SkippedPeriods,
    ) -> Result<RunGone<'w>, RunError> {
        let (world, until) = (self.world, self.until);
        let lookahead = world.net().lookahead.0;
        let mut search = may_repeat(world.net()).is_none().then(|| PeriodSearch::new(lookahead));
        let mut estimator = (self.precision > 0).then(|| Estimator::new(self.precision, lookahead));
        loop {
            if of.meets_others(&engine) {
                return Ok(RunGone::Met(engine.reached()));
            }
            let laps = of.laps(world.net(), &engine);
            let now = engine.reached().0;
            if let Some(estimator) = &mut estimator
                && estimator.look(&laps, now)
            {
                match self.estimate(&mut engine, of, estimator, supervisor, keeper)? {
                    Some(stop) => return Ok(RunGone::Ended(engine, stop)),
                    None => continue,
                }
            }
            let look = search.as_mut().map_or(Look::Done, |search| search.look(&laps, now));
            let estimate_at = estimator
                .as_ref()
                .map_or(u64::MAX, |estimator| estimator.next(&laps, now));
            let goal = match look {
                Look::Done => until.min(Time(estimate_at)),
                Look::On(goal) => Time(goal.min(estimate_at)).min(until),
                Look::Period(period, job) => {
                    let trial = Trial {
                        of: *self,
                        period,
                        job: (engine.reached() >= of.divides_from).then_some(job),
                    };
                    match trial.run(&mut engine, supervisor, keeper)? {
                        Trialled::Stopped(stop) => return Ok(RunGone::Ended(engine, stop)),
                        Trialled::Divides(halves) => return Ok(RunGone::Divided(halves)),
                        Trialled::Differs => {}
                        Trialled::Leaps(saved, periods) => {
                            let ran = engine.outcome().events;
                            engine = (self.restore)(&saved, false)?;
                            left_out.events += engine.outcome().events - ran;
                            left_out.periods += periods;
                            left_out.time += periods * period;
                            supervisor.progress_at = engine.reached();
                        }
                    }
                    search.iter_mut().for_each(|search| search.wait(engine.reached().0));
                    continue;
                }
            };
            let stop = advance(&mut *engine, goal, supervisor, keeper)?;
            if stop != Stop::Until || goal == until {
                return Ok(RunGone::Ended(engine, stop));
            }
        }
    }
}

/// An attempt to leave out periods of a length (ps).
struct Trial<'a, 'w> {
    of: Repeating<'a, 'w>,
    period: u64,
    /// The job whose period it is, if the run may be divided.
    job: Option<usize>,
}

enum Trialled {
    /// The run has stopped.
    Stopped(Stop),
    /// It does not repeat itself, or not for long.
    Differs,
    /// What the job has met repeats itself, and the rest does not.
    Divides(RunHalves),
    /// What an engine would have saved so many periods later.
    Leaps(Vec<u8>, u64),
}

impl<'w> Trial<'_, 'w> {
    fn run(
        &self,
        engine: &mut NetworkEngine<'w>,
        supervisor: &mut Supervisor<'_, '_>,
        keeper: &mut Option<Keeper<'_>>,
    ) -> Result<Trialled, RunError> {
        let Repeating {
            world, until, restore, ..
        } = self.of;
        let needs = (BORDERS as u64 + WORTH).saturating_mul(self.period);
        if engine.reached().0.saturating_add(needs) > until.0 {
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
            world.net().follow_messages(false);
            if stop != Stop::Until {
                return Ok(Trialled::Stopped(stop));
            }
            saved.push(engine.save());
            if border == 1 && same_again(world, &saved[0], &saved[1], &|_| true).is_err() {
                let halves = self.halves(engine, &saved)?;
                return Ok(halves.map_or(Trialled::Differs, Trialled::Divides));
            }
            if border == BORDERS - 2 {
                *engine = self.of.noting(&saved[border])?;
                before = sent(engine);
            }
        }
        let agrees = self.agrees(engine);
        let mut shown = shown_to(engine);
        let after = sent(engine);
        shown.set_departed(after.0 - before.0, after.1 - before.1);
        let borders = [0, 1, 2, 3, 4].map(|border| &saved[border][..]);
        let most = (until.0 - engine.reached().0) / self.period - 1;
        let leapt = leap(world, borders, most, |stats, landing| {
            let mut stats = stats;
            stats.repeat(&shown, self.period, landing.times);
            set_flows(world, &mut stats, landing);
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

    /// The run as two, if what the job has met is the same at two moments, the second of which is now.
    fn halves(&self, engine: &NetworkEngine<'_>, saved: &[Vec<u8>]) -> Result<Option<RunHalves>, RunError> {
        let (world, [first, second]) = (self.of.world, saved) else {
            return Ok(None);
        };
        let Some(job) = self.job else { return Ok(None) };
        let states = engine.view().states;
        let met = met_by(world.net(), &Parts::new(states.iter().copied()), job);
        let others = laps(world.net(), &states);
        let alone = others.iter().all(|lap| met[lap.home as usize]);
        if alone || same_again(world, first, second, &|name| met[name as usize]).is_err() {
            return Ok(None);
        }
        divided(world, second, &met, self.of.unseen)
    }

    /// Whether what has set out has arrived or is under way, up to here: what is set anew hides nothing.
    fn agrees(&self, engine: &NetworkEngine<'_>) -> bool {
        let (world, view) = (self.of.world, engine.view());
        let mut in_flight = InFlight::default();
        engine.pending(&mut |event| in_flight.count(event, world.net()));
        let under_way = under_way(world, &Parts::new(view.states), in_flight);
        let sum = |of: fn(&Stats) -> u64| {
            view.observers
                .iter()
                .fold(0u64, |sum, stats| sum.wrapping_add(of(stats)))
        };
        (sum(|stats| stats.flow), sum(|stats| stats.message_flow)) == (under_way.flow, under_way.message_flow)
    }
}

/// All that an engine's observers were shown since they note it.
pub(super) fn shown_to(engine: &NetworkEngine<'_>) -> Shown {
    let mut shown = Shown::default();
    for stats in engine.view().observers {
        stats.shown().into_iter().for_each(|part| shown.merge(part));
    }
    shown
}

/// Sets the sums of what has set out and not arrived to what is under way where a run has leapt to: messages have other numbers than those that were counted.
pub(super) fn set_flows(world: &AnyFabric, stats: &mut Stats, landing: &Landing<'_, AnyFabric>) {
    let mut in_flight = InFlight::default();
    let events = landing.events.iter();
    events.for_each(|event| in_flight.count(event, world.net()));
    let under_way = under_way(world, &Parts::new([landing.state]), in_flight);
    (stats.flow, stats.message_flow) = (under_way.flow, under_way.message_flow);
}
