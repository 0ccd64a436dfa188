//! A run is divided into what some of its jobs have met and the rest, and what was recorded with it.

use super::RunError;
use crate::harvest::{Harvest, HarvestWanted, InFlight};
use des::apart::divide;
use fabric::models::AnyFabric;
use fabric::observe::Stats;
use fabric::state::Parts;

/// A run that is two from some moment on, as engines would have saved them there.
pub(super) struct RunHalves {
    /// The whole.
    pub(super) whole: Vec<u8>,
    /// Some of its routers with what is pending there. Nothing has been recorded of what was before.
    pub(super) one: Vec<u8>,
    /// The others, with all that was recorded.
    pub(super) others: Vec<u8>,
}

/// Divides what an engine has saved into what is at some routers, by name, and the rest; `unseen` is what has been recorded before the first event.
/// `None` if more is under way than has set out, which a check of the whole will tell.
pub(super) fn divided(
    world: &AnyFabric,
    saved: &[u8],
    held: &[bool],
    unseen: &Stats,
) -> Result<Option<RunHalves>, RunError> {
    let share = |mut all: Stats, state: &_, events: &[_]| {
        let mut in_flight = InFlight::default();
        events.iter().for_each(|event| in_flight.count(event, world.net()));
        let here = under_way(world, &Parts::new([state]), in_flight);
        // What is under way arrives where it is: it has set out there.
        let mut one = unseen.clone();
        (one.injected, one.injected_bytes) = (here.packets, here.bytes);
        (one.flow, one.message_flow) = (here.flow, here.message_flow);
        all.injected = all.injected.checked_sub(here.packets)?;
        all.injected_bytes = all.injected_bytes.checked_sub(here.bytes)?;
        all.flow = all.flow.wrapping_sub(here.flow);
        all.message_flow = all.message_flow.wrapping_sub(here.message_flow);
        Some([one, all])
    };
    let halves = divide(world, saved, held, share).map_err(|torn| RunError::Engine(torn.0))?;
    Ok(halves.map(|[one, others]| RunHalves {
        whole: saved.to_vec(),
        one,
        others,
    }))
}

/// What is under way in queues, in interfaces and on links.
pub(super) fn under_way(world: &AnyFabric, parts: &Parts<'_>, in_flight: InFlight) -> InFlight {
    let net = world.net();
    let (_, jobs) = net.workload.jobs_of_nodes();
    let unseen = Stats::new(net.span, 0, false, Default::default(), (jobs, 0));
    let harvest = Harvest::reap(world, parts, unseen, in_flight, &[], HarvestWanted::default());
    harvest.under_way()
}
