//! `macro-valiant` ([`GroupTurns`]).

use super::MacroRouting;
use super::dragonfly::{GroupRule, GroupTurns};
use super::draw::{ClockDraws, DRAW, DrawSpec};
use crate::routing::group_links::GroupLinks;
use crate::routing::prelude::*;

/// `macro-valiant`.
pub struct MacroValiant;

impl NamedRouting for MacroValiant {
    const LINE: &'static str = "`valiant` as in SST/macro's dragonfly: by way of another router of the group to a router of a random third group.";
    const SOURCE: &'static str = "SST/macro, dragonfly_valiant";
    const LIMITS: &'static str = "Blind to load.";
    const FITS: Fits = GroupLinks::FITS;
    const KEYS: &'static [Parameter] = &[DRAW];
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::Always;
    const OVER_A_THIRD_GROUP: bool = true;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = DrawSpec;
    type Ready = MacroRouting;

    fn read(keys: &OwnValues, _: &mut Findings) -> Option<DrawSpec> {
        Some(DrawSpec::read(keys))
    }

    fn ready(draws: &DrawSpec, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<MacroRouting, BuildError> {
        GroupTurns::new((GroupRule::Valiant, ClockDraws::of(draws, terms)), terms, topology)
            .map(MacroRouting::Dragonfly)
    }
}
