//! Networks whose ranks do the same again and again.

use super::Network;
use work::traffic::PERIODS_TO_REPEAT;

impl Network {
    /// Why the iterations of its ranks are not alike, or are not known to be, where they have to be after some times `cycle` of them at the earliest.
    pub(crate) fn is_unlike(&self, cycle: u32) -> Option<&'static str> {
        let workload = &self.workload;
        let Some(plans) = workload.ranks() else {
            return Some("only the iterations of ranks repeat");
        };
        if workload.memory().is_some() || plans.jobs.iter().any(|job| job.is_none()) {
            return Some("beside ranks there is other work");
        }
        if self.changes.is_some() {
            return Some("something fails on the way");
        }
        if self.messages.follows_ranks {
            return Some("each operation is recorded");
        }
        if plans.rails > 1 {
            return Some("hosts have several rails");
        }
        let plans = || plans.jobs.iter().flatten();
        if plans().any(|plan| plan.is_live || plan.has_graphs) {
            return Some("ranks are programs that run, or play graphs");
        }
        if plans().any(|plan| plan.costs.in_calls.is_some()) {
            return Some("ranks handle messages in their calls only");
        }
        let mut phases = plans().flat_map(|plan| &plan.phases);
        let any = phases.any(|phase| {
            phase
                .program
                .repeats_after()
                .is_some_and(|each| phase.iterations / PERIODS_TO_REPEAT > each.saturating_mul(cycle))
        });
        (!any).then_some("no work is the same in every iteration")
    }
}
