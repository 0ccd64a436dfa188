//! `caminos-shortest`: every port that leads nearer in the whole graph.

use super::by_hops::{ByHops, Distances, Move, Moves, Stand, nearer};
use crate::routing::prelude::*;

/// `caminos-shortest`.
pub struct CaminosShortest;

impl NamedRouting for CaminosShortest {
    const LINE: &'static str = "Every port that leads nearer to the destination by the fewest hops of the whole graph; the channel counts the hops.";
    const SOURCE: &'static str = "CAMINOS, routing/basic.rs, Shortest";
    const LIMITS: &'static str = "Needs vc-routers with buffers per output channel, at most 4,096 of them.";
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::Never;
    const OVER_A_THIRD_GROUP: bool = true;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = NoKeys;
    type Ready = ByHops<Nearer>;

    fn read(_: &OwnValues, _: &mut Findings) -> Option<NoKeys> {
        Some(NoKeys {})
    }

    fn ready(_: &NoKeys, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<Self::Ready, BuildError> {
        ByHops::new(Nearer, terms, topology)
    }
}

/// Nearer with every hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nearer;

impl Moves for Nearer {
    fn most_hops(&self, _: &Topology, distances: &Distances) -> u32 {
        distances.diameter()
    }

    fn moves(&self, topology: &Topology, distances: &Distances, place: Stand, out: &mut dyn FnMut(Move)) {
        let hops = distances.of(place.at, place.to) as u16;
        nearer(topology, distances, place.at, place.to, |port| {
            out(Move {
                port,
                phase: 0,
                asked: 0,
                label: 0,
                hops,
            });
        });
    }
}
