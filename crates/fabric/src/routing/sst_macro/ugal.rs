//! `macro-ugal` ([`GroupTurns`]).

use super::MacroRouting;
use super::dragonfly::{GroupRule, GroupTurns};
use super::draw::{ClockDraws, DRAW, DrawSpec};
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
    const KEYS: &'static [Parameter] = &[DRAW];
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::WhereQueuesAreLong;
    const OVER_A_THIRD_GROUP: bool = true;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = DrawSpec;
    type Ready = MacroRouting;

    fn read(keys: &OwnValues, _: &mut Findings) -> Option<DrawSpec> {
        Some(DrawSpec::read(keys))
    }

    fn ready(draws: &DrawSpec, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<MacroRouting, BuildError> {
        GroupTurns::new((GroupRule::Ugal, ClockDraws::of(draws, terms)), terms, topology).map(MacroRouting::Dragonfly)
    }
}
