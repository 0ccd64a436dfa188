//! `merlin-doal` on a HyperX: [`Scan`] in dimension order.

use super::scan::Scan;
use crate::routing::deroute::DerouteOrder;
use crate::routing::prelude::*;

/// `merlin-doal`.
pub struct MerlinDoal;

impl NamedRouting for MerlinDoal {
    const LINE: &'static str = "`doal` as in SST Merlin: what an output buffer holds against twice that of a detour and a flit, the first port of equal ones.";
    const SOURCE: &'static str = "SST Merlin, hyperx, DOAL";
    const LIMITS: &'static str = "Sees the own router only; needs input-queued routers.";
    const FITS: Fits = Fits::only(&[TopologyKind::HyperX]);
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::WhereQueuesAreLong;
    const OVER_A_THIRD_GROUP: bool = false;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = NoKeys;
    type Ready = Scan;

    fn read(_: &OwnValues, _: &mut Findings) -> Option<NoKeys> {
        Some(NoKeys {})
    }

    fn ready(_: &NoKeys, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<Scan, BuildError> {
        Scan::new(DerouteOrder::Dimension, terms, topology)
    }
}
