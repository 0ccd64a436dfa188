//! `caminos-polarized`: away from the source or towards the destination, as the difference of both distances says.

use crate::routing::by_hops::{ByHops, Pick};
use crate::routing::polarized::LessWeight;
use crate::routing::prelude::*;

/// `caminos-polarized`.
pub struct CaminosPolarized;

impl NamedRouting for CaminosPolarized {
    const LINE: &'static str = "Ports that lower the distance to the destination less that from the source, or keep it on the way out from the source and then in to the destination.";
    const SOURCE: &'static str = "CAMINOS, routing/polarized.rs";
    const LIMITS: &'static str = "Needs vc-routers with buffers per output channel, at most 4,096 of them.";
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::WhereQueuesAreLong;
    const OVER_A_THIRD_GROUP: bool = true;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = NoKeys;
    type Ready = ByHops<LessWeight>;

    fn read(_: &OwnValues, _: &mut Findings) -> Option<NoKeys> {
        Some(NoKeys {})
    }

    fn ready(_: &NoKeys, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<Self::Ready, BuildError> {
        ByHops::new(LessWeight { leaves_corners: false }, Pick::Router, terms, topology)
    }
}
