//! `romm` (Nesson & Johnsson 1995): dimension order to a random router on a minimal way, then on, each leg on channels of its own.

use super::lattice_ways::{FITS_LATTICES, LatticeWays, PacketDraws};
use super::prelude::*;

/// `romm`.
pub struct Romm;

impl NamedRouting for Romm {
    const LINE: &'static str = "Dimension order to a router drawn from all on minimal ways to the destination, then on; channels of its own for each leg.";
    const SOURCE: &'static str = "Nesson and Johnsson 1995, two phases";
    const LIMITS: &'static str = "Blind to load.";
    const FITS: Fits = FITS_LATTICES;
    const ADAPTIVE: bool = false;
    const DETOURS: Detours = Detours::Never;
    const OVER_A_THIRD_GROUP: bool = false;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = NoKeys;
    type Ready = LatticeWays;

    fn read(_: &OwnValues, _: &mut Findings) -> Option<NoKeys> {
        Some(NoKeys {})
    }

    fn ready(_: &NoKeys, _: &RoutingTerms<'_>, topology: &Topology) -> Result<LatticeWays, BuildError> {
        LatticeWays::new(PacketDraws::OnTheWay, topology)
    }
}
