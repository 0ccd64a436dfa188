//! `merlin-min-a` on a dragonfly ([`Dragonfly`]).

use super::dragonfly::{Dragonfly, Rule};
use crate::routing::group_links::GroupLinks;
use crate::routing::prelude::*;

/// `merlin-min-a`.
pub struct MerlinMinA;

impl NamedRouting for MerlinMinA {
    const LINE: &'static str = "`min-a` as in SST Merlin's dragonfly: of all links to the group that with the least hops times waiting and one, a random one of equal ones.";
    const SOURCE: &'static str = "SST Merlin, dragonfly, min-a";
    const LIMITS: &'static str = "Sees the own router only; needs input-queued routers.";
    const FITS: Fits = GroupLinks::FITS;
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::Never;
    const OVER_A_THIRD_GROUP: bool = false;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = NoKeys;
    type Ready = Dragonfly;

    fn read(_: &OwnValues, _: &mut Findings) -> Option<NoKeys> {
        Some(NoKeys {})
    }

    fn ready(_: &NoKeys, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<Dragonfly, BuildError> {
        Dragonfly::new(Rule::MinA, terms, topology)
    }
}
