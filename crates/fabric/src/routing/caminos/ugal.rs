//! `caminos-ugal`: a shortest way or one over any router; what the packet asks for first, it keeps to (`Sum` with `Stubborn`).

use super::valiant::over_drawn;
use crate::routing::by_hops::{ByHops, Distances, Move, Moves, Pick, Stand, nearer};
use crate::routing::prelude::*;

/// `caminos-ugal`.
pub struct CaminosUgal;

impl NamedRouting for CaminosUgal {
    const LINE: &'static str =
        "Shortest ways and those over a random router; a packet keeps to the kind that it asks for first.";
    const SOURCE: &'static str = "CAMINOS, routing/extra.rs, Sum with Stubborn of Shortest and Valiant";
    const LIMITS: &'static str = "Needs vc-routers with buffers per output channel, at most 4,096 of them.";
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::WhereQueuesAreLong;
    const OVER_A_THIRD_GROUP: bool = true;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = NoKeys;
    type Ready = ByHops<FirstAsked>;

    fn read(_: &OwnValues, _: &mut Findings) -> Option<NoKeys> {
        Some(NoKeys {})
    }

    fn ready(_: &NoKeys, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<Self::Ready, BuildError> {
        ByHops::new(FirstAsked, Pick::Router, terms, topology)
    }
}

/// Directly or over a router that is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstAsked;

/// Nothing has been asked for.
const OPEN: u8 = 0;
/// A shortest way.
const DIRECT: u8 = 1;
/// On the first leg of a detour.
const FIRST_LEG: u8 = 2;
/// On the second.
const SECOND_LEG: u8 = 3;

impl Moves for FirstAsked {
    fn most_hops(&self, _: &Topology, distances: &Distances) -> u32 {
        2 * distances.diameter()
    }

    fn draws(&self) -> bool {
        true
    }

    fn moves(&self, topology: &Topology, distances: &Distances, place: Stand, out: &mut dyn FnMut(Move)) {
        if matches!(place.phase, OPEN | DIRECT) {
            let hops = distances.of(place.at, place.to) as u16;
            nearer(topology, distances, place.at, place.to, |port| {
                out(Move {
                    port,
                    phase: DIRECT,
                    asked: DIRECT,
                    label: 0,
                    hops,
                });
            });
        }
        if place.phase != DIRECT {
            let is_second = place.phase == SECOND_LEG;
            over_drawn(topology, distances, place, is_second, (FIRST_LEG, SECOND_LEG), out);
        }
    }
}
