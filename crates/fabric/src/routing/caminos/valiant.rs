//! `caminos-valiant`: over any router of the network, by shortest ways.

use crate::routing::by_hops::{ByHops, Distances, Move, Moves, Pick, Stand, nearer};
use crate::routing::prelude::*;

/// `caminos-valiant`.
pub struct CaminosValiant;

impl NamedRouting for CaminosValiant {
    const LINE: &'static str = "Shortest ways to a random router, that of the source and that of the destination included, then on; the channel counts the hops.";
    const SOURCE: &'static str = "CAMINOS, routing/extra.rs, Valiant";
    const LIMITS: &'static str = "Needs vc-routers with buffers per output channel, at most 4,096 of them. A packet that passes its destination on the first leg is delivered there.";
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::Always;
    const OVER_A_THIRD_GROUP: bool = true;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = NoKeys;
    type Ready = ByHops<OverAny>;

    fn read(_: &OwnValues, _: &mut Findings) -> Option<NoKeys> {
        Some(NoKeys {})
    }

    fn ready(_: &NoKeys, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<Self::Ready, BuildError> {
        ByHops::new(OverAny, Pick::Router, terms, topology)
    }
}

/// Over a router that is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverAny;

/// The phase of a packet on its first leg; it has that of the second from the router on that it draws.
const FIRST_LEG: u8 = 0;
const SECOND_LEG: u8 = 1;

/// The moves of a packet over the router that it draws, with the phases of its two legs.
pub(super) fn over_drawn(
    topology: &Topology,
    distances: &Distances,
    place: Stand,
    is_second: bool,
    (first, second): (u8, u8),
    out: &mut dyn FnMut(Move),
) {
    let is_second = is_second || place.at == place.over;
    let (to, then, phase) = match is_second {
        true => (place.to, 0, second),
        false => (place.over, distances.of(place.over, place.to), first),
    };
    let hops = (distances.of(place.at, to) + then) as u16;
    nearer(topology, distances, place.at, to, |port| {
        out(Move {
            port,
            phase,
            asked: phase,
            label: 0,
            hops,
        });
    });
}

impl Moves for OverAny {
    fn most_hops(&self, _: &Topology, distances: &Distances) -> u32 {
        2 * distances.diameter()
    }

    fn draws(&self) -> bool {
        true
    }

    fn moves(&self, topology: &Topology, distances: &Distances, place: Stand, out: &mut dyn FnMut(Move)) {
        let is_second = place.phase == SECOND_LEG;
        over_drawn(topology, distances, place, is_second, (FIRST_LEG, SECOND_LEG), out);
    }
}
