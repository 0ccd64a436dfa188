//! `dal` on a HyperX: detours in any dimension with an escape channel (Ahn et al. 2009) ([`Deroute`]).

use super::deroute::{DEROUTE_KEYS, Deroute, DerouteOrder, DerouteSpec};
use super::prelude::*;

/// `dal`.
pub struct Dal;

impl NamedRouting for Dal {
    const LINE: &'static str = "Any unfinished dimension, directly or by one detour in each, by waiting; dimension order on a channel of its own to escape to.";
    const SOURCE: &'static str = "Ahn, Binkert, Davis, McLaren and Schreiber 2009";
    const LIMITS: &'static str = "of up to four dimensions; not for input-queued routers. Sees the own router only.";
    const FITS: Fits = Fits::only(&[TopologyKind::HyperX]);
    const KEYS: &'static [Parameter] = DEROUTE_KEYS;
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::WhereQueuesAreLong;
    const OVER_A_THIRD_GROUP: bool = false;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = DerouteSpec;
    type Ready = Deroute;

    fn read(keys: &OwnValues, _: &mut Findings) -> Option<DerouteSpec> {
        Some(DerouteSpec::read(keys))
    }

    fn ready(parameters: &DerouteSpec, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<Deroute, BuildError> {
        Deroute::new(DerouteOrder::Escape, parameters, terms, topology)
    }
}
