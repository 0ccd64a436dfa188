//! `dor`, dimension order (Dally & Seitz 1987): minimal routing by its name on lattices.

use super::keys::TIE;
use super::minimal::OwnMinimal;
use super::prelude::*;
pub use topo::Tie;

/// `dor`.
pub struct Dor;

/// The way of a packet that goes half-way round a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TieSpec {
    /// One of the two.
    pub tie: Tie,
}

impl NamedRouting for Dor {
    const LINE: &'static str =
        "Dimension order: the shorter way in each dimension in turn, ties as `tie` says; dateline channels on rings.";
    const SOURCE: &'static str = "Dally and Seitz 1987";
    const FITS: Fits = Fits::only(&[
        TopologyKind::Ring,
        TopologyKind::Mesh,
        TopologyKind::Torus,
        TopologyKind::HyperX,
    ]);
    const KEYS: &'static [Parameter] = &[TIE];
    const ADAPTIVE: bool = false;
    const DETOURS: Detours = Detours::Never;
    const OVER_A_THIRD_GROUP: bool = false;
    const WITH_FAILURES: WithFailures = WithFailures::KeepsItsWays;

    type Parameters = TieSpec;
    type Ready = OwnMinimal;

    fn read(keys: &OwnValues, _: &mut Findings) -> Option<TieSpec> {
        let tie = keys.choice("tie");
        Some(TieSpec { tie })
    }

    fn ready(_: &TieSpec, _: &RoutingTerms<'_>, topology: &Topology) -> Result<OwnMinimal, BuildError> {
        match topology.lattice_shape() {
            Some(_) => Ok(OwnMinimal),
            None => refuse(
                "dimension order needs a lattice: ring, mesh, torus or HyperX",
                "take \"minimal\", the topology's own",
            ),
        }
    }

    fn tie(parameters: &TieSpec) -> Tie {
        parameters.tie
    }
}
