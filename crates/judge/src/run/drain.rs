//! The drain: the time that measured messages get to arrive after the end of the measured span.

use super::supervisor::Counts;
use super::{RunError, add_part};
use crate::harvest::Harvest;
use crate::results::is_saturated;
use des::checkpoint::Pack;
use des::engine::{Engine, View};
use des::{Observe, Time};
use fabric::models::AnyFabric;
use fabric::network::Network;
use fabric::nic;
use fabric::spec::{RunSpec, Work};
use fabric::state::Parts;

/// What is left of a drain; it goes on in steps, to stop as soon as nothing is left to wait for.
pub(super) struct Drain {
    end: Time,
    last: Time,
    step: u64,
}

impl Drain {
    /// The drain between `end` and `last` at most.
    pub(super) fn new(end: Time, last: Time) -> Drain {
        let step = ((last.0 - end.0) / 16).max(1);
        Drain { end, last, step }
    }

    /// Where a run that has `reached` some time goes first: to its end, or to that of the step of the drain that it was saved in.
    pub(super) fn first(&self, reached: Time) -> Time {
        let steps = reached.0.saturating_sub(self.end.0).div_ceil(self.step);
        self.after(self.end, steps)
    }

    fn after(&self, at: Time, steps: u64) -> Time {
        Time(at.0.saturating_add(steps.saturating_mul(self.step)).min(self.last.0))
    }

    /// Where a run goes that stands at the end of a step; `None` if it is over. All ranks of a run ask alike.
    pub(super) fn next(
        &self,
        at: Time,
        engine: &mut (dyn Engine<AnyFabric> + '_),
        spec: &RunSpec,
        net: &Network,
    ) -> Result<Option<Time>, RunError> {
        if at >= self.last || !is_due(engine, self.end)? || at == self.end && is_vain(engine, spec, net, self.end)? {
            return Ok(None);
        }
        Ok(Some(self.after(at, 1)))
    }
}

/// Some message born before `end` has not arrived.
fn is_due(engine: &mut (dyn Engine<AnyFabric> + '_), end: Time) -> Result<bool, RunError> {
    let view = engine.view();
    let mut due = Counts::new(&view).due() > 0;
    for state in &view.states {
        due |= state.nics.range().any(|place| {
            let mut waits = false;
            nic::waiting(state, place, |message| waits |= message.birth < end.0);
            waits
        });
    }
    Ok(engine.agree(due.into()).map_err(RunError::Ranks)? != 0)
}

/// A drain of a length that nobody asked for is no use to a run that stands at its `end`: every job has sources that never stop, and none of
/// them could be served. What waits would then be told of the length of the drain only.
fn is_vain(
    engine: &mut (dyn Engine<AnyFabric> + '_),
    spec: &RunSpec,
    net: &Network,
    end: Time,
) -> Result<bool, RunError> {
    let mut jobs = spec.jobs.iter().enumerate().filter(|(_, job)| job.work != Work::Idle);
    if spec.control.drain.is_some() || !spec.control.drain_sources || !jobs.all(|(j, _)| net.workload.is_open_loop(j)) {
        return Ok(false);
    }
    let mut whole = so_far(net, &engine.view());
    let mut bytes = Vec::new();
    whole.pack(&mut bytes);
    let came = engine.bring(bytes).map_err(RunError::Ranks)?;
    // Only the first of several ranks gets anything, its own included.
    let first = !came[0].is_empty();
    if first {
        for bytes in came.into_iter().skip(1) {
            add_part(&mut whole, bytes)?;
        }
    }
    let vain = first && is_saturated(spec, net, whole, end);
    Ok(engine.agree(vain.into()).map_err(RunError::Ranks)? != 0)
}

/// What this process knows of the load of a run that goes on.
fn so_far(net: &Network, view: &View<'_, AnyFabric>) -> Harvest {
    let parts = Parts::new(view.states.iter().copied());
    let sums = view
        .observers
        .iter()
        .map(|stats| stats.sums())
        .reduce(|mut whole, part| {
            whole.merge(part);
            whole
        });
    Harvest::of_load(net, &parts, sums.unwrap_or_default())
}
