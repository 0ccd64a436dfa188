//! `macro-ugal` ([`GroupTurns`]).

use super::MacroRouting;
use super::dragonfly::{GroupRule, GroupTurns};
use crate::routing::group_links::GroupLinks;
use crate::routing::prelude::*;

/// `macro-ugal`.
pub struct MacroUgal;

impl NamedRouting for MacroUgal {
    const LINE: &'static str =
        "`ugal` as in SST/macro's dragonfly: at the source router, by packets that wait, 3 hops against 5.";
    const SOURCE: &'static str = "SST/macro, dragonfly_ugal";
    const LIMITS: &'static str = "Sees the own router only.";
    const FITS: Fits = GroupLinks::FITS;
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::WhereQueuesAreLong;
    const OVER_A_THIRD_GROUP: bool = true;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = NoKeys;
    type Ready = MacroRouting;

    fn read(_: &OwnValues, _: &mut Findings) -> Option<NoKeys> {
        Some(NoKeys {})
    }

    fn ready(_: &NoKeys, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<MacroRouting, BuildError> {
        GroupTurns::new(GroupRule::Ugal, terms, topology).map(MacroRouting::Dragonfly)
    }
}
