//! `vdal` on a HyperX: detours in any dimension, on channels that count the hops ([`Deroute`]).

use super::deroute::{DEROUTE_KEYS, Deroute, DerouteOrder, DerouteSpec};
use super::prelude::*;

/// `vdal`.
pub struct Vdal;

impl NamedRouting for Vdal {
    const LINE: &'static str = "Any unfinished dimension, directly or by a detour while channels are left, by waiting.";
    const SOURCE: &'static str = "SST Merlin, VDAL; McDonald et al. 2019, OmniWAR";
    const LIMITS: &'static str = "Sees the own router only; twice as many channels as dimensions.";
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
        Deroute::new(DerouteOrder::Channels, parameters, terms, topology)
    }
}
