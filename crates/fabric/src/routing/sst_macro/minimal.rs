//! `macro-minimal` ([`GroupTurns`], [`SpineTurns`]).

use super::MacroRouting;
use super::dragonfly::{GroupRule, GroupTurns};
use super::plus::{SpineTurns, is_even};
use crate::routing::group_links::one_row;
use crate::routing::prelude::*;

/// `macro-minimal`.
pub struct MacroMinimal;

impl NamedRouting for MacroMinimal {
    const LINE: &'static str = "`minimal` as in SST/macro: links to a group in turn, and on a dragonfly+ spines in turn, whatever the destination.";
    const SOURCE: &'static str = "SST/macro, dragonfly_minimal and dragonfly_plus_alltoall_minimal";
    const LIMITS: &'static str = "Blind to load.";
    const FITS: Fits = Fits::only(&[TopologyKind::Dragonfly, TopologyKind::DragonflyPlus]).which(
        " (groups of one row, links from every spine to every group)",
        one_row_or_spines,
    );
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::Never;
    const OVER_A_THIRD_GROUP: bool = false;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = NoKeys;
    type Ready = MacroRouting;

    fn read(_: &OwnValues, _: &mut Findings) -> Option<NoKeys> {
        Some(NoKeys {})
    }

    fn ready(_: &NoKeys, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<MacroRouting, BuildError> {
        match topology.spec() {
            TopologySpec::DragonflyPlus(_) => {
                SpineTurns::new((false, None), terms, topology).map(MacroRouting::DragonflyPlus)
            }
            _ => GroupTurns::new((GroupRule::Minimal, None), terms, topology).map(MacroRouting::Dragonfly),
        }
    }
}

/// Whether it is a dragonfly with groups of one row, or a dragonfly+ with links from every spine to every group.
fn one_row_or_spines(topology: &TopologySpec) -> bool {
    one_row(topology) || is_even(topology)
}
