//! `codes-fat-tree`: `adaptive` of CODES' fat-tree: `adaptive-up` by the scores of late-admission routers, a drawn port before others.

use super::needs_scores;
use crate::routing::adaptive_up::LeastUp;
use crate::routing::prelude::*;
use crate::routing::scatter::needs_fat_tree;

/// `codes-fat-tree`.
pub struct CodesFatTree;

impl NamedRouting for CodesFatTree {
    const LINE: &'static str =
        "`adaptive-up` as in CODES' fat-tree: a drawn up port if none has a lower score, else the first of the lowest.";
    const SOURCE: &'static str = "CODES, fat-tree, adaptive";
    const LIMITS: &'static str = "Sees the own router only; needs late-admission-vcs routers.";
    const FITS: Fits = Fits::only(&[TopologyKind::FatTree]);
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::Never;
    const OVER_A_THIRD_GROUP: bool = false;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = NoKeys;
    type Ready = LeastUp;

    fn read(_: &OwnValues, _: &mut Findings) -> Option<NoKeys> {
        Some(NoKeys {})
    }

    fn ready(_: &NoKeys, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<LeastUp, BuildError> {
        needs_fat_tree(topology)?;
        needs_scores(terms)?;
        Ok(LeastUp::by_bytes())
    }
}
