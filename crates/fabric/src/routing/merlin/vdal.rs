//! `merlin-vdal` on a HyperX: [`Scan`] in any dimension.

use super::scan::Scan;
use crate::routing::deroute::DerouteOrder;
use crate::routing::prelude::*;

/// `merlin-vdal`.
pub struct MerlinVdal;

impl NamedRouting for MerlinVdal {
    const LINE: &'static str = "`vdal` as in SST Merlin: what an output buffer holds against twice that of a detour and a flit, one draw over all equal ones.";
    const SOURCE: &'static str = "SST Merlin, hyperx, VDAL";
    const LIMITS: &'static str =
        "Sees the own router only; needs input-queued routers; twice as many channels as dimensions.";
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
        Scan::new(DerouteOrder::Channels, terms, topology)
    }
}
