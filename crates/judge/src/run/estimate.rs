//! Where nothing repeats, most iterations are estimated from those that were run.
//!
//! Once the mean time of an iteration is known well enough ([`super::pace`]), the run goes on for a while and all that happens in that sample is noted; then
//! it is moved as many iterations further as leave the last ones to be run, and what was counted in the sample is counted as often as it has room in
//! them ([`fabric::drift`]).

use super::pace::Estimator;
use super::repeat::{Repeating, RunOf, set_flows, shown_to};
use super::supervisor::{Supervisor, advance};
use super::{Keeper, RunError};
use des::recurrence::drift;
use des::{Stop, Time};
use fabric::drift::{drift_event, drift_state};
use fabric::engines::NetworkEngine;

impl<'w> Repeating<'_, 'w> {
    /// Runs a sample and leaves out what is like it, if that can be done; returns why the run has stopped if it has.
    pub(super) fn estimate(
        &self,
        engine: &mut NetworkEngine<'w>,
        of: RunOf<'_>,
        estimator: &mut Estimator,
        supervisor: &mut Supervisor<'_, '_>,
        keeper: &mut Option<Keeper<'_>>,
    ) -> Result<Option<Stop>, RunError> {
        let world = self.world;
        let packets = engine.view().observers.iter().map(|stats| stats.packets).sum();
        let Some(sample) = estimator.sample([engine.reached().0, self.until.0], packets) else {
            estimator.is_over = true;
            return Ok(None);
        };
        let sample = sample.next_multiple_of(world.clock());
        let first = engine.save();
        *engine = self.noting(&first)?;
        let departed =
            |engine: &NetworkEngine<'_>| engine.view().observers.iter().map(|stats| stats.injected).sum::<u64>();
        let before = departed(engine);
        let goal = Time(engine.reached().0 + sample);
        let stop = advance(&mut **engine, goal, supervisor, keeper)?;
        world.net().follow_messages(false);
        if stop != Stop::Until {
            return Ok(Some(stop));
        }
        let mut shown = shown_to(engine);
        shown.balance(departed(engine) - before);
        let laps = of.laps(world.net(), engine);
        let second = engine.save();
        let plan = estimator.plan(&laps, [engine.reached().0, self.until.0], sample);
        let moved = plan.filter(|_| !shown.is_empty()).map(|plan| {
            drift(
                world,
                [&first, &second],
                &plan.drift,
                |was, is| drift_state(world, was, is, &plan.iterations, &plan.drift),
                |event| drift_event(event, &plan.drift),
                |mut stats, landing| {
                    stats.repeat(&shown, plan.drift.by / plan.drift.times, plan.drift.times);
                    set_flows(world, &mut stats, landing);
                    stats.estimated.add(&plan.part);
                    stats
                },
            )
        });
        // It is not tried again in this part of the work, unless it was known once and is not any longer.
        estimator.is_over = moved.is_some();
        let next = match &moved {
            Some(Ok(saved)) => saved,
            // It takes note no longer of what it is shown.
            Some(Err(_)) | None => &second,
        };
        *engine = (self.restore)(next, false)?;
        supervisor.progress_at = engine.reached();
        Ok(None)
    }
}
