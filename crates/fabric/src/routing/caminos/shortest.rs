//! `caminos-shortest`: every port that leads nearer in the whole graph.

use crate::routing::by_hops::{ByHops, Pick};
use crate::routing::least_hops::Nearer;
use crate::routing::prelude::*;

/// `caminos-shortest`.
pub struct CaminosShortest;

impl NamedRouting for CaminosShortest {
    const LINE: &'static str = "Every port that leads nearer to the destination by the fewest hops of the whole graph; the channel counts the hops.";
    const SOURCE: &'static str = "CAMINOS, routing/basic.rs, Shortest";
    const LIMITS: &'static str = "Needs vc-routers with buffers per output channel, at most 4,096 of them.";
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::Never;
    const OVER_A_THIRD_GROUP: bool = true;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = NoKeys;
    type Ready = ByHops<Nearer>;

    fn read(_: &OwnValues, _: &mut Findings) -> Option<NoKeys> {
        Some(NoKeys {})
    }

    fn ready(_: &NoKeys, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<Self::Ready, BuildError> {
        ByHops::new(Nearer, Pick::Router, terms, topology)
    }
}
