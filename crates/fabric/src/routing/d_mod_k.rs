//! `d-mod-k` (Zahavi et al. 2010): minimal routing by its name on fat-trees.

use super::minimal::OwnMinimal;
use super::prelude::*;
use super::scatter::needs_fat_tree;

/// `d-mod-k`.
pub struct DModK;

impl NamedRouting for DModK {
    const LINE: &'static str = "D-mod-k: up by the digits of the destination, so that one way leads to each node; `minimal` on a fat-tree by its name.";
    const SOURCE: &'static str = "Zahavi, Johnson, Kerbyson and Lang 2010";
    const FITS: Fits = Fits::only(&[TopologyKind::FatTree]);
    const ADAPTIVE: bool = false;
    const DETOURS: Detours = Detours::Never;
    const OVER_A_THIRD_GROUP: bool = false;
    const WITH_FAILURES: WithFailures = WithFailures::GoesRound;

    type Parameters = NoKeys;
    type Ready = OwnMinimal;

    fn read(_: &OwnValues, _: &mut Findings) -> Option<NoKeys> {
        Some(NoKeys {})
    }

    fn in_time(_: &NoKeys) -> InTime {
        InTime::GoOn
    }

    fn ready(_: &NoKeys, _: &RoutingTerms<'_>, topology: &Topology) -> Result<OwnMinimal, BuildError> {
        needs_fat_tree(topology)?;
        Ok(OwnMinimal)
    }
}
