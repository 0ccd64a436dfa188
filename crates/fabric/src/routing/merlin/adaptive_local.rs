//! `merlin-adaptive-local` on a dragonfly ([`Dragonfly`]).

use super::dragonfly::{Dragonfly, Rule};
use crate::routing::adaptive_local::read_ratio;
use crate::routing::group_links::GroupLinks;
use crate::routing::keys::{RATIO, defaults};
use crate::routing::prelude::*;

/// `merlin-adaptive-local`.
pub struct MerlinAdaptiveLocal;

/// When `merlin-adaptive-local` takes a detour.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RatioSpec {
    /// If its room is more than so many times that of the direct way; in thousandths where it is used, at least 1.
    pub ratio: f64,
}

impl Default for RatioSpec {
    fn default() -> Self {
        defaults::<MerlinAdaptiveLocal>()
    }
}

impl NamedRouting for MerlinAdaptiveLocal {
    const LINE: &'static str = "`adaptive-local` as in SST Merlin: over a third group if that output buffer has more than `ratio` times the room, by the better of two links.";
    const SOURCE: &'static str = "SST Merlin, dragonfly, adaptive-local";
    const LIMITS: &'static str = "Sees the own router only; needs input-queued routers with bounded output buffers.";
    const FITS: Fits = GroupLinks::FITS;
    const KEYS: &'static [Parameter] = &[RATIO.or("2")];
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::WhereQueuesAreLong;
    const OVER_A_THIRD_GROUP: bool = true;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = RatioSpec;
    type Ready = Dragonfly;

    fn read(keys: &OwnValues, findings: &mut Findings) -> Option<RatioSpec> {
        let ratio = read_ratio(keys, findings)?;
        Some(RatioSpec { ratio })
    }

    fn ready(parameters: &RatioSpec, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<Dragonfly, BuildError> {
        let thousandths = (parameters.ratio * 1_000.0).round() as u64;
        Dragonfly::new(Rule::AdaptiveLocal(thousandths), terms, topology)
    }
}
