//! `ugal`, `par`, `adaptive-local` and `valiant` over routers or groups: the minimal way or a detour, whichever promises the shorter wait.
//!
//! UGAL (Singh 2005; Kim, Dally, Scott & Abts 2008) decides once, at the source router, from its own queues (UGAL-L). With `q` what
//! waits for the first link of a way and `h` the way's hops, a packet goes minimally if `q_min <= threshold` or
//! `q_min h_min <= ratio q_via h_via + bias`, where the detour is the best of `candidates` random ones. PAR (Jiang, Kim & Dally 2009)
//! decides again at every router while the packet is on its minimal way, on a dragonfly(+) in the source group only. `adaptive-local` of
//! SST Merlin compares the room that is left of buffers, `valiant` over routers or groups takes every detour.
//!
//! What was decided is in the packet's phase: minimal, second leg, or first leg with the number of its draw, from which every router
//! finds the same intermediate router again. Channels rise along every way: minimal ones on those of the topology's minimal routing,
//! PAR's legs above those that a packet can have used before, second legs above first ones.

use super::RoutingTerms;
use super::algorithm::{Here, InTime, ReadyRouting, Way};
use super::keys::{BIAS, CANDIDATES, CONGESTION, PER, RATIO, SCOPE, STEP, THRESHOLD, VIA, WEIGH_HOPS, defaults};
use super::news::{News, TOLD};
use super::weigh::{Congestion, Per};
use super::weigh::{Sense, Weigh};
use super::{RoomSpec, SECOND_LEG, came};
use des::mix;
use des::rng::below;
use serde::{Deserialize, Serialize};
use study::Bytes;
use study::Parameter;
use study::choice;
use study::diagnostic::Findings;
use study::owned::OwnValues;
use topo::{Came, DragonflySpec, Hop, RoutingRule, Topology, TopologySpec};
use work::build_error::BuildError;

mod legs;
mod rule;

pub(super) use legs::LegsRule;
use rule::DetourRule;

/// Phase of a packet on its minimal way, or not yet decided.
const MINIMAL: u8 = 0;
/// Phase of a first leg with draw 0; the others follow.
const FIRST_LEG: u8 = 2;
/// Draws that a phase can tell apart.
const DRAWS: u32 = 14;
/// Dimension of hops over global links.
const GLOBAL: u8 = 2;
/// Routers tried for one draw; a draw that finds none offers no detour.
pub(super) const TRIES: u64 = 16;

/// Keys of `ugal` and `par`.
pub(super) const DETOUR_KEYS: &[Parameter] = &[
    CANDIDATES, VIA, CONGESTION, PER, WEIGH_HOPS, RATIO, BIAS, THRESHOLD, SCOPE, STEP,
];

/// When UGAL and PAR take a detour: minimal if `q_min <= threshold` or `q_min h_min <= ratio q_via h_via + bias`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DetourSpec {
    /// Random detours that the minimal way is held against, 1 to 14.
    pub candidates: u8,
    /// What a detour leads over.
    pub via: Via,
    /// What counts as waiting.
    pub congestion: Congestion,
    /// Whose waiting counts.
    pub per: Per,
    /// Waiting is multiplied by the hops of the way; else by one.
    pub weigh_hops: bool,
    /// Factor on the detour's side, in thousandths where it is used.
    pub ratio: f64,
    /// Added to the detour's side, as time at the bandwidth of the minimal way's link.
    pub bias: Bytes,
    /// Up to this much the minimal way is taken whatever waits on others.
    pub threshold: Bytes,
    /// Whose queues are known.
    pub scope: Scope,
    /// Routers of a group tell each other of changes above this; `None`: a packet.
    pub step: Option<Bytes>,
}

impl Default for DetourSpec {
    fn default() -> Self {
        defaults::<super::ugal::Ugal>()
    }
}

impl DetourSpec {
    /// What becomes of packets with so many legs when what has failed changes: what routers tell each other is of one network.
    pub(super) fn in_time(&self, legs: u8) -> InTime {
        match self.scope {
            Scope::Local => InTime::GoOnInLegs(legs),
            Scope::Group => InTime::KeepTheirWays,
        }
    }

    pub(super) fn read(keys: &OwnValues, findings: &mut Findings) -> Option<DetourSpec> {
        let scope = match keys.choice("scope") {
            ScopeWord::Local => Scope::Local,
            ScopeWord::Group => Scope::Group,
            ScopeWord::Global => {
                let reason = "UGAL-G compares the queues of routers elsewhere; here a router knows its own state only, and the state of others would be as old as the links are long";
                let hint = "take \"group\", which knows the global links of the group as late as they can be known, or \"local\"";
                findings.error(keys.values.place("scope"), "routing.scope", reason, hint);
                return None;
            }
        };
        Some(DetourSpec {
            candidates: keys.small("candidates"),
            via: keys.choice("via"),
            congestion: keys.choice("congestion"),
            per: keys.choice("per"),
            weigh_hops: keys.flag("weigh_hops"),
            ratio: keys.number("ratio"),
            bias: Bytes(keys.quantity("bias")),
            threshold: Bytes(keys.quantity("threshold")),
            scope,
            step: keys.quantity_if_given("step").map(Bytes),
        })
    }
}

/// Whose queues UGAL and PAR know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Those of the own router.
    Local,
    /// Those and, as far as they have been told, those of the global links of the group.
    Group,
}

choice! {
    /// What a study says of whose queues UGAL and PAR know.
    pub(super) enum ScopeWord {
        Local = "local", "The own router.";
        Group = "group", "The own router, and the global links of the group: their routers tell the others until when they have work, and that takes its way.";
        Global = "global", "The routers of the whole way (UGAL-G): refused, a router knows its own state only.";
    }
}

choice! {
    /// What a detour leads over.
    pub enum Via {
        Router = "router", "A random router among those with nodes.";
        Node = "node", "The router of a random node.";
        Group = "group", "A random third group of a dragonfly, left from where it is entered; inside a group a random router of it.";
    }
}

/// UGAL or PAR, or Valiant's detours over routers or groups, ready to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detour {
    candidates: u8,
    via: Via,
    sense: Sense,
    weigh: Weigh,
    progressive: bool,
    /// Every packet takes its detour, and nothing is looked at (Valiant).
    always: bool,
    /// Bytes of the buffers looked at: what is compared is the room that is left there.
    room: Option<u64>,
    /// First channel of first legs, and of second legs.
    first: u8,
    second: u8,
    /// A first leg ends where it enters the group.
    to_group: bool,
    /// Which links of several to a group, or spines of several, are held against each other.
    compares: Compares,
    /// The routers of a group tell each other what waits for their global links.
    pub(super) news: Option<News>,
}

/// Which of the several ways that keys choose between are held against each other: two of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compares {
    /// None: there is one way.
    None,
    /// Global links of the own router. A hop to another one that has a link would have to be remembered where a further hop
    /// follows in the group, in rows and columns.
    Global,
    /// All: the router after the hop has a link to the group, or is the only way on.
    All,
}

impl Detour {
    /// Checks the parameters against the network and the router model.
    pub fn new(
        detour: &DetourSpec,
        progressive: bool,
        terms: &RoutingTerms<'_>,
        topology: &Topology,
    ) -> Result<Detour, BuildError> {
        if detour.via == Via::Group && topology.group_size().is_none() {
            let reason = "detours over a group need a topology with groups: dragonfly or dragonfly+";
            return Err(BuildError::field("routing.via", reason, Some("take \"router\"")));
        }
        let detour = Detour {
            candidates: detour.candidates.clamp(1, DRAWS as u8),
            via: detour.via,
            sense: Sense::new(detour.congestion, detour.per, terms)?,
            weigh: Weigh::new(detour.weigh_hops, detour.ratio, detour.bias, detour.threshold),
            progressive,
            always: false,
            room: None,
            first: 0,
            second: 0,
            to_group: false,
            compares: Compares::None,
            news: match detour.scope {
                Scope::Local => None,
                Scope::Group => Some(News::new(topology, detour.step.unwrap_or(terms.nic.packet).0)?),
            },
        };
        Ok(detour.on(topology))
    }

    /// Valiant's detours over what `via` says: taken by every packet for which there is one.
    pub(super) fn always(via: Via, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<Detour, BuildError> {
        let detour = DetourSpec {
            via,
            ..DetourSpec::default()
        };
        let detour = Detour::new(&detour, false, terms, topology)?;
        Ok(Detour { always: true, ..detour }.on(topology))
    }

    /// A detour over a third group where the room before it is more than `ratio` times that of the minimal way (`adaptive-local`).
    pub(super) fn by_room(
        room: &RoomSpec,
        terms: &RoutingTerms<'_>,
        topology: &Topology,
    ) -> Result<Detour, BuildError> {
        if topology.group_size().is_none() {
            let hint = "take \"ugal\" or \"par\", which every topology has";
            let reason = "adaptive-local needs a topology with groups: dragonfly or dragonfly+";
            return Err(BuildError::field("routing.kind", reason, Some(hint)));
        }
        let detour = DetourSpec {
            via: Via::Group,
            congestion: room.congestion,
            per: room.per,
            weigh_hops: false,
            ratio: room.ratio,
            ..DetourSpec::default()
        };
        let detour = Detour::new(&detour, false, terms, topology)?;
        let router = &terms.router;
        let output = router.named().output_buffer(router).map(|bytes| bytes.0);
        let next = router.buffer.map(|bytes| bytes.0);
        let one = match room.congestion {
            Congestion::Output => output,
            Congestion::Credits => next,
            Congestion::Both => output.zip(next).map(|(output, next)| output.saturating_add(next)),
            Congestion::Unadmitted => next,
        };
        let Some(one) = one else {
            let reason = "room is left in bounded buffers: output buffers of input-queued routers, or what credits tell of the next buffer";
            let hint = "take \"credits\", or bound router.output_buffer";
            return Err(BuildError::field("routing.congestion", reason, Some(hint)));
        };
        let channels = match room.per {
            Per::Port if router.shares_buffers => 1,
            Per::Port => router.vcs.unwrap_or_else(|| detour.vcs(topology)),
            Per::Vc => 1,
        };
        let room = Some(one.saturating_mul(u64::from(channels)));
        Ok(Detour { room, ..detour })
    }

    /// The same with the channels of another topology.
    pub(super) fn on(mut self, topology: &Topology) -> Detour {
        let own = topology.minimal_vcs();
        self.to_group = self.via == Via::Group && matches!(topology.spec(), TopologySpec::Dragonfly(_));
        self.compares = match topology.spec() {
            _ if self.always => Compares::None,
            TopologySpec::Dragonfly(DragonflySpec {
                links_per_pair: 0 | 1, ..
            }) => Compares::None,
            TopologySpec::Dragonfly(DragonflySpec { routers_per_group, .. }) => {
                match routers_per_group.iter().filter(|&&size| size > 1).count() {
                    0 | 1 => Compares::All,
                    _ => Compares::Global,
                }
            }
            TopologySpec::DragonflyPlus(_) => Compares::All,
            _ => Compares::None,
        };
        // In the source group a minimal packet has used the lowest channel alone; so has a first leg that ends at a group's entry. Round
        // failures they may have used more.
        let whole = !topology.is_curtailed();
        self.first = match self.progressive {
            true if whole && topology.group_size().is_some() => 1,
            true => own,
            false => 0,
        };
        let first_legs = match self.progressive {
            _ if whole && self.to_group => 1,
            // They begin wherever a packet is on its minimal way.
            true => topology.vcs_from_anywhere(),
            false => own,
        };
        self.second = self.first.saturating_add(first_legs);
        self
    }

    /// `true` if `via` may be the intermediate router of a packet between two others.
    fn fits(&self, topology: &Topology, via: u32, from: u32, to: u32) -> bool {
        let nowhere = topology.wiring().nodes_of(via).is_empty() || !topology.are_joined(via, from);
        if via == from || via == to || nowhere {
            return false;
        }
        if self.via != Via::Group {
            return true;
        }
        let (source, target, third) = (topology.group(from), topology.group(to), topology.group(via));
        match source == target {
            true => third == source,
            false => third != source && third != target,
        }
    }

    /// The intermediate router of a draw.
    fn draw(&self, topology: &Topology, word: u64, from: u32, to: u32) -> Option<u32> {
        let size = topology.group_size().unwrap_or(1);
        let inside = self.via == Via::Group && topology.group(from) == topology.group(to);
        (0..TRIES).find_map(|attempt| {
            let word = mix(word ^ attempt);
            let via = match self.via {
                Via::Node => topology.router_of(below(word, u64::from(topology.n_nodes())) as u32),
                Via::Group if inside => from / size * size + below(word, u64::from(size)) as u32,
                Via::Router | Via::Group => below(word, u64::from(topology.n_routers())) as u32,
            };
            self.fits(topology, via, from, to).then_some(via)
        })
    }

    /// Another hop for the same purpose as `hop`, over another link to a group or another spine, if it is compared: `again(key)` is asked
    /// with a key both of whose halves are half of all away and so chooses another of two or more.
    fn other(&self, hop: Hop, key: u32, again: impl FnOnce(u32) -> Option<Hop>) -> Option<Hop> {
        if self.compares == Compares::None || (self.compares == Compares::Global && hop.dim != GLOBAL) {
            return None;
        }
        again(key ^ (1 << 31 | 1 << 15)).filter(|other| other.port != hop.port && other.dim == hop.dim)
    }

    /// `true` at the end of the first leg towards `via` of a packet for router `to`.
    fn turns(&self, topology: &Topology, at: u32, via: u32, to: u32) -> bool {
        at == via
            || (self.to_group && topology.group(at) == topology.group(via) && topology.group(via) != topology.group(to))
    }

    /// The next hop of a first leg.
    fn first_leg(&self, topology: &Topology, at: u32, via: u32, came: Came, key: u32) -> Hop {
        let mut hop = topology.minimal_to(at, via, above(self.first, came), key);
        hop.vc += self.first;
        hop
    }

    /// The first hop of a detour that begins at a router; `None` if none may lead over `via` from here. On a dragonfly+ a packet that has
    /// gone up to a spine must not come down in order to go up again: the channels of a leg are in the order up, global, down.
    fn begin(&self, topology: &Topology, at: u32, via: u32, to: u32, key: u32) -> Option<Hop> {
        if self.turns(topology, at, via, to) {
            return None;
        }
        let hop = self.first_leg(topology, at, via, Came::INJECTED, key);
        let spine = topology.group(at).is_some() && topology.wiring().nodes_of(at).is_empty();
        (!spine || hop.dim == GLOBAL).then_some(hop)
    }

    /// The next hop of a second leg, which never starts at the destination.
    fn second_leg(&self, topology: &Topology, at: u32, node: u32, came: Came, key: u32) -> Hop {
        let mut hop = topology.minimal(at, node, above(self.second, came), key);
        hop.vc += self.second;
        hop
    }

    /// What waits, as far as routers of the group have told, for the global link of another router to which a way `towards` a router leads that
    /// begins with a hop through a port.
    fn beyond(
        &self,
        topology: &Topology,
        news: News,
        at: u32,
        (mut hop, mut port): (Hop, u32),
        (towards, key): (u32, u32),
        wait: &mut dyn FnMut(u32, u8) -> u64,
    ) -> u64 {
        let mut router = at;
        // At most along a row and a column, or up to a spine.
        for _ in 0..2 {
            if hop.dim == GLOBAL {
                break;
            }
            let (next, came) = topology.wiring().peer(router, port as u16);
            if next == towards || topology.group(next) != topology.group(at) {
                return 0;
            }
            hop = topology.minimal_to(next, towards, Came { port: came, vc: 0 }, key);
            (router, port) = (next, hop.port.into());
        }
        if router == at || hop.dim != GLOBAL {
            return 0;
        }
        let cables = (0..u32::from(hop.links)).map(|cable| news.slot(router, port + cable));
        cables.map(|slot| wait(TOLD + slot, 0)).min().unwrap_or(0)
    }

    /// Hops of a detour.
    fn hops(&self, topology: &Topology, mut at: u32, via: u32, to: u32, key: u32) -> u32 {
        if !self.to_group || topology.group(via) == topology.group(to) {
            return topology.distance(at, via) + topology.distance(via, to);
        }
        let (mut came, mut hops) = (Came::INJECTED, 0);
        while !self.turns(topology, at, via, to) {
            let hop = topology.minimal_to(at, via, came, key);
            let (next, port) = topology.wiring().peer(at, hop.port);
            (at, came) = (next, Came { port, vc: hop.vc });
            hops += 1;
        }
        hops + topology.distance(at, to)
    }
}

impl ReadyRouting for Detour {
    fn vcs(&self, topology: &Topology) -> u8 {
        self.on(topology).second.saturating_add(topology.minimal_vcs())
    }

    fn rule<'t>(&self, topology: &'t Topology, vcs: u8) -> Box<dyn RoutingRule + 't> {
        Box::new(DetourRule::new(*self, topology, vcs))
    }

    #[inline]
    fn next(&self, here: Here<'_>, wait: impl FnMut(u32, u8) -> u64) -> Way {
        here.minimal_or_detour(self, wait)
    }

    fn sense(&self) -> Option<Sense> {
        Some(self.sense)
    }

    fn looks_at_the_minimal_way(&self) -> bool {
        !self.always
    }

    fn asks_for_cables(&self) -> bool {
        true
    }

    fn legs<'t>(&self, topology: &'t Topology, vcs: u8) -> Option<LegsRule<'t>> {
        Some(LegsRule::of_detour(*self, topology, vcs))
    }

    fn news(&self) -> Option<News> {
        self.news
    }
}

/// How a packet came, on channels counted from `base`.
fn above(base: u8, came: Came) -> Came {
    Came {
        vc: came.vc.saturating_sub(base),
        ..came
    }
}

impl Here<'_> {
    /// UGAL's or PAR's next output: (local port, virtual channel, phase). `wait(local port, virtual channel)` is in ps.
    pub(super) fn minimal_or_detour(&self, terms: &Detour, mut wait: impl FnMut(u32, u8) -> u64) -> Way {
        let &Here {
            routing,
            net,
            site,
            packet,
        } = self;
        let (topology, at, node) = (&net.topology, site.router, packet.destination());
        let drawn_on = net.drawn_on();
        let (from, to) = (topology.router_of(packet.source()), topology.router_of(node));
        let key = routing.key(packet);
        let word = |draw: u32| mix(routing.seed ^ routing.identity(packet)) ^ u64::from(draw + 1) << 32;
        let mut came = came(site, packet);
        let phase = packet.phase();
        if phase >= FIRST_LEG
            && let Some(via) = terms.draw(drawn_on, word(u32::from(phase - FIRST_LEG)), from, to)
            && !terms.turns(topology, at, via, to)
            && net.can_reach(at, via)
        {
            let leg = |key| terms.first_leg(topology, at, via, came, key);
            let hop = leg(key);
            let other = terms.other(hop, key, |key| Some(leg(key)));
            return self.lesser(hop, other, phase, &mut wait, |_, _, _| 0).1;
        }
        if phase != MINIMAL {
            if phase != SECOND_LEG {
                came = Came::INJECTED;
            }
            let leg = |key| terms.second_leg(topology, at, node, came, key);
            let hop = leg(key);
            let other = terms.other(hop, key, |key| Some(leg(key)));
            return self.lesser(hop, other, SECOND_LEG, &mut wait, |_, _, _| 0).1;
        }
        let minimal = topology.minimal(at, node, came, key);
        let other = terms.other(minimal, key, |key| Some(topology.minimal(at, node, came, key)));
        let decides = came.port == Came::NONE || (terms.progressive && topology.group(at) == topology.group(from));
        let beyond = |hop: Hop, port: u32, towards: u32, wait: &mut dyn FnMut(u32, u8) -> u64| match terms.news {
            Some(news) if decides => terms.beyond(topology, news, at, (hop, port), (towards, key), wait),
            _ => 0,
        };
        let (q_minimal, way) = self.lesser(minimal, other, MINIMAL, &mut wait, |hop, port, wait| {
            beyond(hop, port, to, wait)
        });
        let time_on = |way: Way, bytes: u64| {
            let peer = &net.peers[(site.port + way.port()) as usize];
            net.classes[usize::from(peer.class())].time_of(bytes)
        };
        let time_of = |bytes: u64| time_on(way, bytes);
        if !decides || (!terms.always && terms.weigh.settled(q_minimal, time_of)) {
            return way;
        }
        let first_draw = packet.hops() * u32::from(terms.candidates);
        // A loop: an iterator of all this is written in parts and moved as a whole, and would wait for all stores before it.
        let mut best: Option<(u128, Way)> = None;
        for candidate in 0..u32::from(terms.candidates) {
            let draw = (first_draw + candidate) % DRAWS;
            let Some(via) = terms
                .draw(drawn_on, word(draw), from, to)
                .filter(|&via| net.can_reach(at, via))
            else {
                continue;
            };
            let Some(hop) = terms.begin(topology, at, via, to, key) else {
                continue;
            };
            let other = terms.other(hop, key, |key| terms.begin(topology, at, via, to, key));
            let phase = FIRST_LEG + draw as u8;
            let (q, way) = self.lesser(hop, other, phase, &mut wait, |hop, port, wait| {
                beyond(hop, port, via, wait)
            });
            let cost = terms.weigh.cost(q, terms.hops(topology, at, via, to, key));
            // The first of equal ones.
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, way));
            }
        }
        let Some((cost, detour)) = best else {
            return way;
        };
        if let Some(bytes) = terms.room {
            let room = |way, wait: u128| u128::from(time_on(way, bytes)).saturating_sub(wait);
            return match terms
                .weigh
                .has_more_room(room(way, q_minimal.into()), room(detour, cost))
            {
                true => detour,
                false => way,
            };
        }
        let minimal = terms.weigh.cost(q_minimal, topology.distance(at, to));
        match !terms.always && terms.weigh.keeps(minimal, cost, time_of) {
            true => way,
            false => detour,
        }
    }

    /// [`Self::least`] of a hop and another one if there is one, the first if they are equal; `beyond` says what waits behind the hop, by
    /// its port.
    fn lesser<W: FnMut(u32, u8) -> u64>(
        &self,
        hop: Hop,
        other: Option<Hop>,
        phase: u8,
        wait: &mut W,
        beyond: impl Fn(Hop, u32, &mut W) -> u64,
    ) -> (u64, Way) {
        let mut look = |hop: Hop| {
            let (q, way) = self.least(hop, phase, wait);
            (q.saturating_add(beyond(hop, way.port(), wait)), way)
        };
        let first = look(hop);
        match other {
            Some(other) if first.0 > 0 => {
                let second = look(other);
                if second.0 < first.0 { second } else { first }
            }
            _ => first,
        }
    }

    /// The cable of a hop with the least wait, the first of equal ones from one that the packet draws on: (wait, output with `phase`).
    fn least(&self, hop: Hop, phase: u8, wait: &mut impl FnMut(u32, u8) -> u64) -> (u64, Way) {
        let routing = self.routing;
        let (first, links) = (u32::from(hop.port), u32::from(hop.links).max(1));
        let vc = hop.vc.min(routing.last_vc);
        let start = routing.cable(self.site, hop, self.packet) - first;
        let ports = (start..links).chain(0..start).map(|cable| first + cable);
        let least = ports.map(|port| (wait(port, vc), port)).min_by_key(|&(wait, _)| wait);
        let (wait, port) = least.unwrap_or((0, first));
        (wait, Way::new(port, vc, phase))
    }
}
