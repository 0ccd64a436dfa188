//! `caminos-polarized`: away from the source or towards the destination, as the difference of both distances says.

use super::by_hops::{ByHops, Distances, Move, Moves, Stand};
use crate::routing::prelude::*;

/// `caminos-polarized`.
pub struct CaminosPolarized;

impl NamedRouting for CaminosPolarized {
    const LINE: &'static str = "Ports that lower the distance to the destination less that from the source, or keep it on the way out from the source and then in to the destination.";
    const SOURCE: &'static str = "CAMINOS, routing/polarized.rs";
    const LIMITS: &'static str = "Needs vc-routers with buffers per output channel, at most 4,096 of them.";
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::WhereQueuesAreLong;
    const OVER_A_THIRD_GROUP: bool = true;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = NoKeys;
    type Ready = ByHops<LessWeight>;

    fn read(_: &OwnValues, _: &mut Findings) -> Option<NoKeys> {
        Some(NoKeys {})
    }

    fn ready(_: &NoKeys, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<Self::Ready, BuildError> {
        ByHops::new(LessWeight, terms, topology)
    }
}

/// The weight of a router, its distance to the destination less that from the source, does not rise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LessWeight;

impl Moves for LessWeight {
    fn most_hops(&self, _: &Topology, distances: &Distances) -> u32 {
        (4 * distances.diameter()).saturating_sub(3)
    }

    fn moves(&self, topology: &Topology, distances: &Distances, place: Stand, out: &mut dyn FnMut(Move)) {
        let wiring = topology.wiring();
        let of = |router: u32| (distances.of(place.from, router), distances.of(router, place.to));
        let (behind, ahead) = of(place.at);
        for port in 0..wiring.radix(place.at) as u16 {
            let (then_behind, then_ahead) = of(wiring.peer(place.at, port).0);
            // What is taken off the weight: 0 to 2, if it does not rise.
            let less = (then_behind + ahead).checked_sub(behind + then_ahead);
            let is_allowed = match less {
                None => false,
                Some(0) if behind < ahead => then_behind > behind,
                Some(0) => then_ahead < ahead,
                Some(_) => true,
            };
            if let (true, Some(less)) = (is_allowed, less) {
                out(Move {
                    port,
                    phase: 0,
                    asked: 0,
                    label: 2 - less.min(2) as u16,
                    hops: then_ahead as u16 + 1,
                });
            }
        }
    }
}
