//! `ugal` (Singh 2005; Kim, Dally, Scott & Abts 2008): decides once, at the source router ([`Detour`]).

use super::detour::{DETOUR_KEYS, Detour, DetourSpec};
use super::prelude::*;

/// `ugal`.
pub struct Ugal;

impl NamedRouting for Ugal {
    const LINE: &'static str =
        "At the source router minimal or over a random intermediate router, by waiting times hops (UGAL-L).";
    const SOURCE: &'static str = "Singh 2005; Kim, Dally, Scott and Abts 2008";
    const LIMITS: &'static str = "Sees the own router, and with scope = \"group\" the global links of its group.";
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
        parameters.in_time(2)
    }

    fn ready(parameters: &DetourSpec, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<Detour, BuildError> {
        Detour::new(parameters, false, terms, topology)
    }
}
