//! `codes-dally-minimal`: `minimal` of CODES' dragonfly-dally ([`Dally`]).

use super::dally::Dally;
use super::{GLOBAL_PICKS, needs_scores};
use crate::routing::group_links::GroupLinks;
use crate::routing::keys::defaults;
use crate::routing::prelude::*;

/// `codes-dally-minimal`.
pub struct CodesDallyMinimal;

/// How many global links CODES' routings compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PicksSpec {
    /// Of several so many (`global_k_picks`).
    pub global_picks: u8,
}

impl Default for PicksSpec {
    fn default() -> Self {
        defaults::<CodesDallyMinimal>()
    }
}

impl NamedRouting for CodesDallyMinimal {
    const LINE: &'static str = "`minimal` as in CODES' dragonfly-dally: the best of the links to the destination's group, on a channel by place.";
    const SOURCE: &'static str = "CODES, dragonfly-dally, minimal";
    const LIMITS: &'static str = "Sees the own router only; needs late-admission-vcs routers.";
    const FITS: Fits = GroupLinks::FITS;
    const KEYS: &'static [Parameter] = &[GLOBAL_PICKS];
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::Never;
    const OVER_A_THIRD_GROUP: bool = false;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = PicksSpec;
    type Ready = Dally;

    fn read(keys: &OwnValues, _: &mut Findings) -> Option<PicksSpec> {
        Some(PicksSpec {
            global_picks: keys.small("global_picks"),
        })
    }

    fn ready(parameters: &PicksSpec, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<Dally, BuildError> {
        needs_scores(terms)?;
        Dally::new(None, parameters.global_picks, topology)
    }
}
