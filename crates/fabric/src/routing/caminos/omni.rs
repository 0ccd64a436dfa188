//! `caminos-omni`: any port of a dimension that is not finished, as long as detours are left (`OmniDimensionalDeroute`).

use crate::routing::by_hops::{ByHops, Distances, Move, Moves, Pick, Stand};
use crate::routing::prelude::*;
use study::{Default, Type, key};

/// `caminos-omni`.
pub struct CaminosOmni;

const DEROUTES: Parameter = key(
    "deroutes",
    Type::Integer { min: 0, max: 14 },
    Default::Text("2"),
    "Hops of a packet that need not lead nearer.",
);

/// Keys of `caminos-omni`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OmniSpec {
    /// Hops that need not lead nearer.
    pub deroutes: u8,
}

impl NamedRouting for CaminosOmni {
    const LINE: &'static str = "Any port of a dimension that is not finished; one that does not lead nearer has label 1 and takes one of `deroutes`.";
    const SOURCE: &'static str = "CAMINOS, topology/cartesian.rs, OmniDimensionalDeroute";
    const LIMITS: &'static str = "Needs vc-routers with buffers per output channel, at most 4,096 of them.";
    const FITS: Fits = Fits::only(&[
        TopologyKind::Ring,
        TopologyKind::Mesh,
        TopologyKind::Torus,
        TopologyKind::HyperX,
    ]);
    const KEYS: &'static [Parameter] = &[DEROUTES];
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::WhereQueuesAreLong;
    const OVER_A_THIRD_GROUP: bool = true;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = OmniSpec;
    type Ready = ByHops<AnyUnfinished>;

    fn read(keys: &OwnValues, _: &mut Findings) -> Option<OmniSpec> {
        Some(OmniSpec {
            deroutes: keys.integer("deroutes") as u8,
        })
    }

    fn ready(spec: &OmniSpec, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<Self::Ready, BuildError> {
        let deroutes = spec.deroutes;
        ByHops::new(AnyUnfinished { deroutes }, Pick::Router, terms, topology)
    }
}

/// Any port of a dimension that is not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnyUnfinished {
    deroutes: u8,
}

impl Moves for AnyUnfinished {
    /// A detour along a line has to be gone back, but where all routers of a line are neighbours.
    fn most_hops(&self, topology: &Topology, distances: &Distances) -> u32 {
        let each = 1 + u32::from(topology.spec().kind() != TopologyKind::HyperX);
        distances.diameter() + each * u32::from(self.deroutes)
    }

    /// The phase is how many detours the packet has made.
    fn moves(&self, topology: &Topology, distances: &Distances, place: Stand, out: &mut dyn FnMut(Move)) {
        let Stand { at, to, phase, .. } = place;
        let unfinished = HOPS.with_borrow_mut(|hops| {
            topology.minimal_hops(at, to, hops);
            hops.iter().fold(0u64, |dims, hop| dims | 1 << (hop.dim % 64))
        });
        let wiring = topology.wiring();
        for port in 0..wiring.radix(at) as u16 {
            let dim = wiring.class[wiring.port_index(at, port)] - 1;
            let left = distances.of(wiring.peer(at, port).0, to);
            let label = u8::from(left >= distances.of(at, to));
            if unfinished >> (dim % 64) & 1 != 0 && phase + label <= self.deroutes {
                out(Move {
                    port,
                    phase: phase + label,
                    asked: phase,
                    label: label.into(),
                    hops: left as u16 + 1,
                });
            }
        }
    }
}
