//! Routings by the distances of the whole graph: channels that count hops, and the proof from the moves that they allow. For `least-hops`, `polarized` and
//! routings of CAMINOS.

use super::algorithm::Offer;
use super::choice::PortChoice;
use super::prelude::*;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt::{Debug, Formatter};
use std::sync::Arc;
use topo::Step;

/// Most routers whose distances are kept: a byte for each pair, 400 MB.
const MOST_ROUTERS: u32 = 20_000;

/// The same where routers choose.
const MOST_CHOOSING: u32 = 4_096;

thread_local! {
    /// Ways that a packet may take; kept to spare allocations.
    static OFFERS: RefCell<Vec<Offer>> = const { RefCell::new(Vec::new()) };
    /// Their ports and what they cost.
    static COSTS: RefCell<Vec<(u64, u32)>> = const { RefCell::new(Vec::new()) };
}

/// Hops between all pairs of routers.
#[derive(Clone, PartialEq, Eq)]
pub struct Distances {
    routers: u32,
    hops: Arc<[u8]>,
    /// The network that they are of.
    of: Arc<TopologySpec>,
}

impl Debug for Distances {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "Distances of {} routers", self.routers)
    }
}

impl Distances {
    pub(super) fn new(topology: &Topology) -> Distances {
        let (wiring, routers) = (topology.wiring(), topology.n_routers());
        let mut hops = vec![u8::MAX; (routers as usize).pow(2)];
        let mut queue = VecDeque::new();
        for (from, row) in (0..routers).zip(hops.chunks_mut(routers.max(1) as usize)) {
            row[from as usize] = 0;
            queue.push_back(from);
            while let Some(at) = queue.pop_front() {
                for port in 0..wiring.radix(at) as u16 {
                    let (next, _) = wiring.peer(at, port);
                    if row[next as usize] == u8::MAX {
                        row[next as usize] = row[at as usize].saturating_add(1).min(u8::MAX - 1);
                        queue.push_back(next);
                    }
                }
            }
        }
        Distances {
            routers,
            hops: hops.into(),
            of: Arc::new(topology.spec().clone()),
        }
    }

    /// Those of a network, which a proof may ask for a smaller one.
    fn on(&self, topology: &Topology) -> Distances {
        match topology.spec() == &*self.of {
            true => self.clone(),
            false => Distances::new(topology),
        }
    }

    #[inline]
    pub(super) fn of(&self, a: u32, b: u32) -> u32 {
        self.hops[(a * self.routers + b) as usize].into()
    }

    /// Of the two routers that are farthest apart.
    pub(super) fn diameter(&self) -> u32 {
        let most = self.hops.iter().filter(|&&hops| hops < u8::MAX).max();
        most.copied().unwrap_or(0).into()
    }

    /// Routers.
    pub(super) fn routers(&self) -> u32 {
        self.routers
    }
}

/// A place on the way of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Stand {
    pub at: u32,
    pub from: u32,
    pub to: u32,
    /// What the packet remembers, below 16.
    pub phase: u8,
    /// The router that it draws.
    pub over: u32,
}

/// A move that a packet may make from a place.
#[derive(Clone, Copy, Debug)]
pub struct Move {
    pub port: u16,
    /// What the packet remembers once it is given this output, and once it has asked for it.
    pub phase: u8,
    pub asked: u8,
    pub label: u16,
    /// Hops left.
    pub hops: u16,
}

/// A rule of which ports packets may take.
pub trait Moves: Debug {
    /// Most hops of a way, on this network.
    fn most_hops(&self, topology: &Topology, distances: &Distances) -> u32;
    /// Whether packets draw a router.
    fn draws(&self) -> bool {
        false
    }
    /// Adds all moves from a place that is not the last.
    fn moves(&self, topology: &Topology, distances: &Distances, place: Stand, out: &mut dyn FnMut(Move));
}

/// Calls `out` with the ports of a router that lead nearer to another.
pub(super) fn nearer(topology: &Topology, distances: &Distances, at: u32, to: u32, mut out: impl FnMut(u16)) {
    let wiring = topology.wiring();
    let here = distances.of(at, to);
    for port in 0..wiring.radix(at) as u16 {
        if distances.of(wiring.peer(at, port).0, to) < here {
            out(port);
        }
    }
}

/// Who chooses among the moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pick {
    /// A router with buffers per output channel, which asks for one of them.
    Router,
    /// Chance; routers with buffers per output channel ask for one of them.
    Chance,
    /// The port with the least before it: what waits, and so many packets for each unit of the label.
    Least { choice: PortChoice, penalty: u32 },
}

/// A routing of such a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByHops<M> {
    moves: M,
    distances: Distances,
    pick: Pick,
}

impl<M: Moves> ByHops<M> {
    pub(super) fn new(moves: M, pick: Pick, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<Self, BuildError> {
        let chooses = terms.router.pipeline.is_some_and(|pipeline| pipeline.outputs.is_some());
        if pick == Pick::Router && !chooses {
            let reason = "it leaves the choice among its ways to routers with buffers per output channel";
            return refuse(reason, "take router.preset = \"caminos-basic\"");
        }
        let (most, hint) = match pick {
            Pick::Router => (MOST_CHOOSING, "take a smaller network"),
            Pick::Chance | Pick::Least { .. } => (
                MOST_ROUTERS,
                "take \"min-random\" or \"min-a\", which keep none, or a smaller network",
            ),
        };
        if topology.n_routers() > most {
            let reason = format!("it keeps the distances of all pairs of routers, of {most} at most");
            return refuse(&reason, hint);
        }
        Ok(ByHops {
            moves,
            distances: Distances::new(topology),
            pick,
        })
    }

    /// The way that is taken of several.
    fn picked(&self, here: Here<'_>, offers: &[Offer], mut wait: impl FnMut(u32, u8) -> u64) -> Option<Way> {
        let Here { site, packet, .. } = here;
        let word = mix(here.routing.seed ^ here.routing.moment(packet, site.router) ^ here.routing.identity(packet));
        let Pick::Least { choice, penalty } = self.pick else {
            let drawn = below(word, offers.len().max(1) as u64) as usize;
            return offers.get(drawn).map(|offer| offer.way);
        };
        let size = u64::from(packet.size());
        let own = |port: u32| here.waits_as_much(choice.bytes, size, port);
        COSTS.with_borrow_mut(|costs| {
            costs.clear();
            costs.extend(offers.iter().map(|offer| {
                let (port, label) = (offer.way.port(), u64::from(offer.label));
                let waits = wait(port, offer.way.vc());
                (waits.saturating_add(label * u64::from(penalty) * own(port)), port)
            }));
            let port = choice.of(costs, word, own)?;
            offers.iter().map(|offer| offer.way).find(|way| way.port() == port)
        })
    }
}

impl<M: Moves + Clone + 'static> ReadyRouting for ByHops<M> {
    fn vcs(&self, topology: &Topology) -> u8 {
        let most = self.moves.most_hops(topology, &self.distances.on(topology));
        most.clamp(1, u8::MAX.into()) as u8
    }

    fn rule<'t>(&self, topology: &'t Topology, vcs: u8) -> Box<dyn RoutingRule + 't> {
        Box::new(AllMoves {
            topology,
            moves: self.moves.clone(),
            distances: self.distances.on(topology),
            vcs,
        })
    }

    fn next(&self, here: Here<'_>, wait: impl FnMut(u32, u8) -> u64) -> Way {
        OFFERS.with_borrow_mut(|offers| {
            offers.clear();
            self.offers(here, offers);
            let way = self.picked(here, offers, wait);
            way.unwrap_or(Way::new(u32::from(NO_HOP.port), 0, 0))
        })
    }

    fn offers(&self, here: Here<'_>, out: &mut Vec<Offer>) {
        let (routing, packet, topology) = (here.routing, here.packet, &here.net.topology);
        let class = routing.channel_of_hops(packet);
        let over = match self.moves.draws() {
            true => below(
                mix(routing.seed ^ mix(routing.identity(packet))),
                self.distances.routers().into(),
            ) as u32,
            false => 0,
        };
        let place = Stand {
            at: here.site.router,
            from: topology.router_of(packet.source()),
            to: topology.router_of(packet.destination()),
            phase: packet.phase(),
            over,
        };
        self.moves.moves(topology, &self.distances, place, &mut |way| {
            out.push(Offer {
                way: Way::new(way.port.into(), class, way.phase),
                asked: way.asked,
                label: way.label,
                hops: way.hops,
            });
        });
    }

    fn leaves_the_choice(&self) -> bool {
        true
    }

    fn asks_for_cables(&self) -> bool {
        true
    }

    fn counts_hops(&self) -> bool {
        true
    }
}

/// All moves as a rule, for the proof: the state is where the packet set out or what it draws, its phase and its hops.
struct AllMoves<'t, M> {
    topology: &'t Topology,
    moves: M,
    distances: Distances,
    vcs: u8,
}

impl<M: Moves> AllMoves<'_, M> {
    fn push(&self, place: Stand, hops: u32, out: &mut Vec<Step>) {
        if place.at == place.to {
            return;
        }
        // Of source and drawn router at most one is looked at.
        let beside = if self.moves.draws() { place.over } else { place.from };
        let vc = hops.min(u32::from(self.vcs) - 1) as u8;
        self.moves.moves(self.topology, &self.distances, place, &mut |way| {
            let state = beside << 12 | u32::from(way.phase) << 8 | (hops + 1).min(255);
            let step = Step {
                port: way.port,
                vc,
                state,
            };
            if !out.contains(&step) {
                out.push(step);
            }
        });
    }
}

impl<M: Moves> RoutingRule for AllMoves<'_, M> {
    fn vcs(&self) -> usize {
        usize::from(self.vcs)
    }

    fn start(&self, at: u32, dst: u32, out: &mut Vec<Step>) {
        let drawn = if self.moves.draws() {
            self.distances.routers()
        } else {
            1
        };
        for over in 0..drawn {
            let place = Stand {
                at,
                from: at,
                to: self.topology.router_of(dst),
                phase: 0,
                over,
            };
            self.push(place, 0, out);
        }
    }

    fn next(&self, at: u32, _: u16, _: u8, state: u32, dst: u32, out: &mut Vec<Step>) {
        let place = Stand {
            at,
            from: state >> 12,
            to: self.topology.router_of(dst),
            phase: (state >> 8 & 15) as u8,
            over: state >> 12,
        };
        self.push(place, state & 255, out);
    }

    fn hop_bound(&self, _: u32, _: u32) -> Option<u32> {
        Some(self.moves.most_hops(self.topology, &self.distances))
    }

    fn same_for_all_nodes_of_a_router(&self) -> bool {
        true
    }
}
