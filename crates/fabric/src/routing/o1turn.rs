//! `o1turn` (Seo, Ali, Lim, Rafique & Thottethodi 2005): each packet by dimension order, the first dimension first or the last, as a coin says.

use super::lattice_ways::{FITS_LATTICES, LatticeWays, PacketDraws};
use super::prelude::*;

/// `o1turn`.
pub struct O1Turn;

impl NamedRouting for O1Turn {
    const LINE: &'static str = "Dimension order, the first dimension first or the last by a coin for each packet; channels of its own for each order.";
    const SOURCE: &'static str = "Seo, Ali, Lim, Rafique and Thottethodi 2005";
    const LIMITS: &'static str = "Blind to load. Two orders, whatever the number of dimensions.";
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
        LatticeWays::new(PacketDraws::Order, topology)
    }
}
