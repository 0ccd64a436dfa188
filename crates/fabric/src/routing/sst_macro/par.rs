//! `macro-par` ([`GroupTurns`], [`SpineTurns`], [`JointDetour`]).

use super::MacroRouting;
use super::dragonfly::{GroupRule, GroupTurns};
use super::draw::{ClockDraws, DRAW, DrawSpec};
use super::hyperx::JointDetour;
use super::plus::{SpineTurns, is_even};
use crate::routing::group_links::one_row;
use crate::routing::prelude::*;

/// `macro-par`.
pub struct MacroPar;

impl NamedRouting for MacroPar {
    const LINE: &'static str = "`par` as in SST/macro: on a dragonfly tested in all groups, on a dragonfly+ from spine to spine, on a HyperX of three dimensions one joint detour.";
    const SOURCE: &'static str = "SST/macro, dragonfly_par, dragonfly_plus_par, hypercube_par";
    const LIMITS: &'static str = "Sees the own router only.";
    const FITS: Fits = Fits::only(&[
        TopologyKind::Dragonfly,
        TopologyKind::DragonflyPlus,
        TopologyKind::HyperX,
    ])
    .which(
        " (groups of one row, links from every spine to every group, three dimensions)",
        fits,
    );
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
        let clock = ClockDraws::of(draws, terms);
        match topology.spec() {
            TopologySpec::DragonflyPlus(_) => {
                SpineTurns::new((true, clock), terms, topology).map(MacroRouting::DragonflyPlus)
            }
            TopologySpec::HyperX(_) => JointDetour::new(clock, terms, topology).map(MacroRouting::HyperX),
            _ => GroupTurns::new((GroupRule::Par, clock), terms, topology).map(MacroRouting::Dragonfly),
        }
    }
}

/// Whether it is one of the networks that it is for.
fn fits(topology: &TopologySpec) -> bool {
    match topology {
        TopologySpec::HyperX(lattice) => lattice.shape.len() == 3,
        _ => one_row(topology) || is_even(topology),
    }
}
