//! `merlin-ugal` on a dragonfly ([`Dragonfly`]).

use super::dragonfly::{Dragonfly, Rule};
use crate::routing::group_links::GroupLinks;
use crate::routing::prelude::*;

/// `merlin-ugal`.
pub struct MerlinUgal;

impl NamedRouting for MerlinUgal {
    const LINE: &'static str = "`ugal` as in SST Merlin's dragonfly: over all links to the destination's group and to one third group, weighed again at the gateway and where the third group is entered.";
    const SOURCE: &'static str = "SST Merlin, dragonfly, ugal";
    const LIMITS: &'static str = "Sees the own router only; needs input-queued routers.";
    const FITS: Fits = GroupLinks::FITS;
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::WhereQueuesAreLong;
    const OVER_A_THIRD_GROUP: bool = true;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = NoKeys;
    type Ready = Dragonfly;

    fn read(_: &OwnValues, _: &mut Findings) -> Option<NoKeys> {
        Some(NoKeys {})
    }

    fn ready(_: &NoKeys, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<Dragonfly, BuildError> {
        Dragonfly::new(Rule::Ugal, terms, topology)
    }
}
