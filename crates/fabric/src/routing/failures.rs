//! What routings do where something has failed: lead round it, or say who cannot reach whom.

use super::RoutingSpec;
use super::algorithm::{WithFailures, refuse};
use topo::Topology;
use work::build_error::BuildError;

/// Pairs of routers that are named.
const NAMED: usize = 4;

/// Routers up to which lost ways are counted.
const MOST_ROUTERS: u32 = 20_000;

/// Refuses a routing that would lose packets on what failures have left.
pub(super) fn check(spec: &RoutingSpec, topology: &Topology) -> Result<(), BuildError> {
    let hint =
        "take \"minimal\", \"min-random\", \"min-a\", \"valiant\", \"ugal\" or \"par\", which lead round failures";
    let name = spec.name();
    match spec.with_failures() {
        _ if !topology.is_curtailed() => Ok(()),
        WithFailures::GoesRound => Ok(()),
        WithFailures::NeedsAll => refuse(&format!("\"{name}\" needs a network without failures"), hint),
        WithFailures::KeepsItsWays if topology.n_routers() > MOST_ROUTERS => {
            let reason = format!(
                "\"{name}\" keeps its ways, and on more than {MOST_ROUTERS} routers it is not looked up which are lost"
            );
            refuse(&reason, hint)
        }
        WithFailures::KeepsItsWays => match topology.lost_ways(NAMED) {
            (0, _) => Ok(()),
            (lost, first) => {
                let words = first
                    .iter()
                    .map(|&(from, to)| format!("{} to {}", topology.router_name(from), topology.router_name(to)));
                let more = if lost > first.len() as u64 { ", ..." } else { "" };
                let reason = format!(
                    "\"{name}\" keeps its ways, and those of {lost} pairs of routers are lost: {}{more}",
                    words.collect::<Vec<_>>().join(", ")
                );
                refuse(&reason, hint)
            }
        },
    }
}
