//! `booksim-xy-yx`: either order of the dimensions, each in a half of the channels.

use crate::routing::lattice_ways::{FITS_LATTICES, LatticeWays, PacketDraws};
use crate::routing::prelude::*;
use study::{Type, key};

/// `booksim-xy-yx`.
pub struct BooksimXyYx;

const BY_CREDITS: Parameter = key(
    "by_credits",
    Type::Flag,
    study::Default::Text("false"),
    "The order whose first port has fewer used credits is taken, else one by coin.",
);

/// How the order of dimensions is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderSpec {
    /// By used credits, not by coin.
    pub by_credits: bool,
}

impl NamedRouting for BooksimXyYx {
    const LINE: &'static str = "Dimension order, the first dimension first or the last, chosen at the first router; a half of the channels for each.";
    const SOURCE: &'static str = "BookSim2, xy_yx_mesh, adaptive_xy_yx_mesh";
    const LIMITS: &'static str = "Sees the own router only.";
    const FITS: Fits = FITS_LATTICES;
    const KEYS: &'static [Parameter] = &[BY_CREDITS];
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::Never;
    const OVER_A_THIRD_GROUP: bool = false;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = OrderSpec;
    type Ready = LatticeWays;

    fn read(keys: &OwnValues, _: &mut Findings) -> Option<OrderSpec> {
        Some(OrderSpec {
            by_credits: keys.flag("by_credits"),
        })
    }

    fn ready(parameters: &OrderSpec, _: &RoutingTerms<'_>, topology: &Topology) -> Result<LatticeWays, BuildError> {
        let drawn = match parameters.by_credits {
            true => PacketDraws::OrderByCredits,
            false => PacketDraws::Order,
        };
        LatticeWays::new(drawn, topology)
    }
}
