//! `codes-dally-par`: `prog-adaptive` of CODES' dragonfly-dally ([`Dally`]).

use super::dally::Dally;
use super::{GLOBAL_PICKS, Preference, RATIO, THRESHOLD, needs_scores};
use crate::routing::group_links::GroupLinks;
use crate::routing::keys::defaults;
use crate::routing::prelude::*;
use study::Bytes;

/// `codes-dally-par`.
pub struct CodesDallyPar;

/// When `codes-dally-par` and `codes-dfp-par` go round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DallySpec {
    /// Up to this much before a minimal link it is taken (`adaptive_threshold`).
    pub threshold: Bytes,
    /// Factor on a detour's score: 2 for `delta`, 1 for `alpha`.
    pub ratio: f64,
    /// Of several global links so many are compared (`global_k_picks`).
    pub global_picks: u8,
}

impl Default for DallySpec {
    fn default() -> Self {
        defaults::<CodesDallyPar>()
    }
}

impl DallySpec {
    pub(super) fn read(keys: &OwnValues) -> DallySpec {
        DallySpec {
            threshold: Bytes(keys.quantity("threshold")),
            ratio: keys.number("ratio"),
            global_picks: keys.small("global_picks"),
        }
    }

    pub(super) fn preference(&self) -> Preference {
        Preference::new(self.threshold, self.ratio)
    }
}

impl NamedRouting for CodesDallyPar {
    const LINE: &'static str = "`par` as in CODES' dragonfly-dally: at both routers of the source's group the best link to the destination's group against the best to one third group.";
    const SOURCE: &'static str = "CODES, dragonfly-dally, prog-adaptive";
    const LIMITS: &'static str = "Sees the own router only; needs late-admission-vcs routers.";
    const FITS: Fits = GroupLinks::FITS;
    const KEYS: &'static [Parameter] = &[RATIO.or("2"), THRESHOLD, GLOBAL_PICKS];
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::WhereQueuesAreLong;
    const OVER_A_THIRD_GROUP: bool = true;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = DallySpec;
    type Ready = Dally;

    fn read(keys: &OwnValues, _: &mut Findings) -> Option<DallySpec> {
        Some(DallySpec::read(keys))
    }

    fn ready(parameters: &DallySpec, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<Dally, BuildError> {
        needs_scores(terms)?;
        Dally::new(Some(parameters.preference()), parameters.global_picks, topology)
    }
}
