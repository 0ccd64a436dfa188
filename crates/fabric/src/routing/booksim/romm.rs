//! `booksim-romm`: over a random router of the box between source and destination (Nesson and Johnsson 1995).

use crate::routing::lattice_ways::{FITS_LATTICES, LatticeWays, PacketDraws};
use crate::routing::prelude::*;

/// `booksim-romm`.
pub struct BooksimRomm;

impl NamedRouting for BooksimRomm {
    const LINE: &'static str = "Dimension order over a random router between source and destination, then on; a half of the channels for each leg.";
    const SOURCE: &'static str = "BookSim2, romm_mesh";
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
        LatticeWays::new(PacketDraws::Between, topology)
    }
}
