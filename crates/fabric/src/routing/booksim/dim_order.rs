//! `booksim-dim-order`: dimension order on rings with a half of the channels for each side of the dateline, chosen where a packet enters the
//! ring.

use crate::routing::lattice_ways::{FITS_LATTICES, LatticeWays, PacketDraws};
use crate::routing::prelude::*;
use study::{Type, key};

/// `booksim-dim-order`.
pub struct BooksimDimOrder;

const BALANCE: Parameter = key(
    "balance",
    Type::Flag,
    study::Default::Text("false"),
    "A packet that crosses neither the end nor the middle of a ring takes either half of the channels.",
);

/// Whether the halves of the channels are balanced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BalanceSpec {
    /// They are.
    pub balance: bool,
}

impl NamedRouting for BooksimDimOrder {
    const LINE: &'static str = "Dimension order; half-way round a ring by coin. A packet that enters a ring beyond its destination takes the upper half of the channels, others the lower.";
    const SOURCE: &'static str = "BookSim2, dim_order_torus, dim_order_bal_torus";
    const LIMITS: &'static str = "Blind to load.";
    const FITS: Fits = FITS_LATTICES;
    const KEYS: &'static [Parameter] = &[BALANCE];
    const ADAPTIVE: bool = false;
    const DETOURS: Detours = Detours::Never;
    const OVER_A_THIRD_GROUP: bool = false;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = BalanceSpec;
    type Ready = LatticeWays;

    fn read(keys: &OwnValues, _: &mut Findings) -> Option<BalanceSpec> {
        Some(BalanceSpec {
            balance: keys.flag("balance"),
        })
    }

    fn ready(parameters: &BalanceSpec, _: &RoutingTerms<'_>, topology: &Topology) -> Result<LatticeWays, BuildError> {
        let drawn = if parameters.balance {
            PacketDraws::Halves
        } else {
            PacketDraws::Nothing
        };
        LatticeWays::new(drawn, topology)
    }
}
