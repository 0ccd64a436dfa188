//! `doal` on a HyperX: detours in dimension order ([`Deroute`]).

use super::deroute::{DEROUTE_KEYS, Deroute, DerouteOrder, DerouteSpec};
use super::prelude::*;

/// `doal`.
pub struct Doal;

impl NamedRouting for Doal {
    const LINE: &'static str =
        "Dimension order, in each dimension directly or over one other router of the line, by waiting.";
    const SOURCE: &'static str = "SST Merlin, DOAL; McDonald et al. 2019, DimWAR";
    const LIMITS: &'static str = "Sees the own router only.";
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
        Deroute::new(DerouteOrder::Dimension, parameters, terms, topology)
    }
}
