//! `par`, progressive adaptive routing (Jiang, Kim & Dally 2009): decides again at every router of the minimal way ([`Detour`]).

use super::detour::{DETOUR_KEYS, Detour, DetourSpec};
use super::prelude::*;

/// `par`.
pub struct Par;

impl NamedRouting for Par {
    const LINE: &'static str = "Progressive adaptive routing: UGAL's choice again at every router of the minimal way, on dragonflies of the source group.";
    const SOURCE: &'static str = "Jiang, Kim and Dally 2009";
    const LIMITS: &'static str =
        "Sees the own router, and with scope = \"group\" the global links of its group; one detour per packet.";
    const KEYS: &'static [Parameter] = DETOUR_KEYS;
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::WhereQueuesAreLong;
    const OVER_A_THIRD_GROUP: bool = true;
    const WITH_FAILURES: WithFailures = WithFailures::GoesRound;

    type Parameters = DetourSpec;
    type Ready = Detour;

    fn read(keys: &OwnValues, findings: &mut Findings) -> Option<DetourSpec> {
        DetourSpec::read(keys, findings)
    }

    fn in_time(parameters: &DetourSpec) -> InTime {
        parameters.in_time(3)
    }

    fn ready(parameters: &DetourSpec, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<Detour, BuildError> {
        Detour::new(parameters, true, terms, topology)
    }
}
