//! Ways over a dragonfly: minimal, or over the router of a random node, with channels by the part of the way.

use crate::routing::algorithm::{Here, Way};
use crate::routing::prelude::*;
use topo::{Came, Hop, Step};

/// On the way to the router of a node, which a detour leads over.
const ROUND: u8 = 0;
/// On the way to the destination.
const DIRECT: u8 = 1;
/// The same from the last global link on; of packets that may go over others also inside the own group.
const LANDED: u8 = 2;
/// On the way to the router of a node, in its group: told apart only where there are channels for it.
const ROUND_LANDED: u8 = 3;

/// The flits that a detour must have less before it.
const THRESHOLD: u64 = 30;

/// Ways over a dragonfly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DragonflyWays {
    /// Bytes of a flit, where packets may go over the router of another node.
    detours: Option<u32>,
    /// Class of global links.
    global: u8,
}

impl DragonflyWays {
    pub(super) fn new(detours: Option<u32>, topology: &Topology) -> Result<DragonflyWays, BuildError> {
        let global = topology.class_names().iter().position(|name| name == "global");
        match (topology.spec().kind(), global) {
            (TopologyKind::Dragonfly, Some(global)) => Ok(DragonflyWays {
                detours,
                global: global as u8,
            }),
            _ => refuse("it goes by the groups of a dragonfly", "take another routing"),
        }
    }

    /// The class of channels of a part of the way, of so many.
    fn class(&self, part: u8, classes: u8) -> u8 {
        let class = match (self.detours, classes) {
            (None, _) => u8::from(part == LANDED),
            // As BookSim2: both links and both groups of the first leg on the first.
            (Some(_), ..=3) => match part {
                ROUND | ROUND_LANDED => 0,
                DIRECT => 1,
                _ => 2,
            },
            (Some(_), _) => match part {
                ROUND => 0,
                ROUND_LANDED => 1,
                DIRECT => 2,
                _ => 3,
            },
        };
        class.min(classes - 1)
    }

    /// The hop of a packet on a part of its way, and the part that it is on from there on; `None` where its node is.
    fn hop(&self, topology: &Topology, at: u32, (over, to): (u32, u32), part: u8) -> Option<(Hop, u8)> {
        let is_round = part == ROUND || part == ROUND_LANDED;
        let part = if is_round && at == over { DIRECT } else { part };
        let is_round = is_round && at != over;
        let target = if is_round { over } else { to };
        if target == at {
            return None;
        }
        let hop = topology.minimal_to(at, target, Came::INJECTED, 0);
        let wiring = topology.wiring();
        let crosses = wiring.class[(wiring.port_offset[at as usize] + u32::from(hop.port)) as usize] == self.global;
        let part = match (crosses, is_round) {
            (true, true) => ROUND_LANDED,
            (true, false) => LANDED,
            (false, _) => part,
        };
        Some((hop, part))
    }

    /// The part of the way that a packet begins with, where nothing has to be weighed.
    fn first_part(&self, topology: &Topology, at: u32, over: u32, to: u32) -> Option<u8> {
        let group = |router: u32| topology.group(router);
        match (group(at) == group(to), self.detours) {
            (true, Some(_)) => Some(LANDED),
            (_, None) => Some(DIRECT),
            (false, Some(_)) if group(at) == group(over) => Some(DIRECT),
            (false, Some(_)) => None,
        }
    }
}

impl ReadyRouting for DragonflyWays {
    fn vcs(&self, _: &Topology) -> u8 {
        if self.detours.is_some() { 4 } else { 2 }
    }

    fn rule<'t>(&self, topology: &'t Topology, vcs: u8) -> Box<dyn RoutingRule + 't> {
        let ways = self.clone();
        Box::new(AllDragonflyWays { topology, ways, vcs })
    }

    fn next(&self, here: Here<'_>, mut wait: impl FnMut(u32, u8) -> u64) -> Way {
        let (net, routing, site, packet) = (here.net, here.routing, here.site, here.packet);
        let topology = &net.topology;
        let (at, to) = (site.router, topology.router_of(packet.destination()));
        let node = below(mix(routing.seed ^ routing.identity(packet)), net.n_nodes().into()) as u32;
        let over = topology.router_of(node);
        let mut part = packet.phase();
        if packet.port() >= site.net {
            part = self.first_part(topology, at, over, to).unwrap_or_else(|| {
                let mut used = |to: u32| {
                    let port = u32::from(topology.minimal_to(at, to, Came::INJECTED, 0).port);
                    (port, wait(port, 0))
                };
                let ((port, direct), (_, round)) = (used(to), used(over));
                let class = net.peers[(site.port + port) as usize].class();
                let flits = THRESHOLD * u64::from(self.detours.unwrap_or(1));
                let more = net.classes[usize::from(class)].time_of(flits);
                if direct <= 2 * round + more { DIRECT } else { ROUND }
            });
        }
        let classes = routing.last_vc + 1;
        match self.hop(topology, at, (over, to), part) {
            Some((hop, part)) => {
                let cable = routing.one_of(site, hop.port.into(), hop.links.into(), packet);
                Way::new(cable, self.class(part, classes), part)
            }
            None => {
                let part = if part == ROUND || part == ROUND_LANDED {
                    DIRECT
                } else {
                    part
                };
                let port = u32::from(site.net) + (packet.destination() - site.node);
                Way::new(port, self.class(part, classes), part)
            }
        }
    }

    fn asks_for_cables(&self) -> bool {
        true
    }

    fn leads_to_the_node(&self) -> bool {
        true
    }

    fn draws_channels(&self) -> bool {
        true
    }
}

/// All ways: the state is the router that a packet goes over plus one, or zero, times eight, and the part of its way.
struct AllDragonflyWays<'t> {
    topology: &'t Topology,
    ways: DragonflyWays,
    vcs: u8,
}

impl AllDragonflyWays<'_> {
    fn push(&self, at: u32, (over, to): (u32, u32), part: u8, out: &mut Vec<Step>) {
        if let Some((hop, part)) = self.ways.hop(self.topology, at, (over, to), part) {
            let kept = if part == ROUND || part == ROUND_LANDED {
                over + 1
            } else {
                0
            };
            out.extend((0..hop.links).map(|cable| Step {
                port: hop.port + cable,
                vc: self.ways.class(part, self.vcs),
                state: kept << 3 | u32::from(part),
            }));
        }
    }
}

impl RoutingRule for AllDragonflyWays<'_> {
    fn vcs(&self) -> usize {
        usize::from(self.vcs)
    }

    fn start(&self, at: u32, dst: u32, out: &mut Vec<Step>) {
        let to = self.topology.router_of(dst);
        let same = self.topology.group(at) == self.topology.group(to);
        let is_landed = same && self.ways.detours.is_some();
        self.push(at, (at, to), if is_landed { LANDED } else { DIRECT }, out);
        if self.ways.detours.is_none() || same {
            return;
        }
        let has_nodes = |&router: &u32| !self.topology.wiring().nodes_of(router).is_empty();
        (0..self.topology.n_routers())
            .filter(has_nodes)
            .filter(|&over| self.topology.group(over) != self.topology.group(at))
            .for_each(|over| self.push(at, (over, to), ROUND, out));
    }

    fn next(&self, at: u32, _: u16, _: u8, state: u32, dst: u32, out: &mut Vec<Step>) {
        let over = (state >> 3).checked_sub(1).unwrap_or(at);
        self.push(at, (over, self.topology.router_of(dst)), (state & 7) as u8, out);
    }

    fn same_for_all_nodes_of_a_router(&self) -> bool {
        true
    }
}
