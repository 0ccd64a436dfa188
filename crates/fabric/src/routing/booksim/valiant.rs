//! `booksim-valiant`: over the router of any node, a part of the channels for each leg.

use crate::routing::lattice_ways::{FITS_LATTICES, LatticeWays, PacketDraws};
use crate::routing::prelude::*;

/// `booksim-valiant`.
pub struct BooksimValiant;

impl NamedRouting for BooksimValiant {
    const LINE: &'static str = "Dimension order over the router of a random node, then on; a half of the channels for each leg, on rings a half of that for each side of the dateline.";
    const SOURCE: &'static str = "BookSim2, valiant_mesh, valiant_torus";
    const LIMITS: &'static str = "Blind to load. A packet is handed over where its node is, also on its first leg.";
    const FITS: Fits = FITS_LATTICES;
    const ADAPTIVE: bool = false;
    const DETOURS: Detours = Detours::Always;
    const OVER_A_THIRD_GROUP: bool = false;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = NoKeys;
    type Ready = LatticeWays;

    fn read(_: &OwnValues, _: &mut Findings) -> Option<NoKeys> {
        Some(NoKeys {})
    }

    fn ready(_: &NoKeys, _: &RoutingTerms<'_>, topology: &Topology) -> Result<LatticeWays, BuildError> {
        LatticeWays::new(PacketDraws::Anywhere, topology)
    }
}
