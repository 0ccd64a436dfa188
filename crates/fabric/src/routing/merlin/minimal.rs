//! `merlin-minimal` on a dragonfly ([`Dragonfly`]).

use super::dragonfly::{Dragonfly, Rule};
use crate::routing::group_links::GroupLinks;
use crate::routing::prelude::*;

/// `merlin-minimal`.
pub struct MerlinMinimal;

impl NamedRouting for MerlinMinimal {
    const LINE: &'static str = "`minimal` as in SST Merlin's dragonfly: by the link whose number is that of the source node, modulo the links of two groups.";
    const SOURCE: &'static str = "SST Merlin, dragonfly, minimal";
    const LIMITS: &'static str = "Blind to load; needs input-queued routers.";
    const FITS: Fits = GroupLinks::FITS;
    const ADAPTIVE: bool = false;
    const DETOURS: Detours = Detours::Never;
    const OVER_A_THIRD_GROUP: bool = false;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = NoKeys;
    type Ready = Dragonfly;

    fn read(_: &OwnValues, _: &mut Findings) -> Option<NoKeys> {
        Some(NoKeys {})
    }

    fn ready(_: &NoKeys, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<Dragonfly, BuildError> {
        Dragonfly::new(Rule::Minimal, terms, topology)
    }
}
