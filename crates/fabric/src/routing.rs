//! Routings: which output port and virtual channel a packet takes next.
//!
//! A routing reads the packet's head and the topology's questions; random choices are hashes of (seed, packet, place), so that they
//! are the same on every engine. [`Routing::next`] is called once per packet and router, except at the last one.

use crate::network::{BuildError, Network, Site, lattice_shape};
use crate::packet::{MAX_VCS, Packet};
use crate::spec::{Architecture, RouterModel, RoutingSpec, RunSpec, TableSource, Tie, Via};
use des::mix;
use des::rng::below;
use std::cell::RefCell;
use std::sync::Arc;
use topo::{Came, Hop, HopList, Topology, TopologySpec};

mod choice;
mod classes;
mod deroute;
mod least;
mod min_a;
pub(crate) mod news;
mod proof;
mod source;
mod table;
mod ugal;
mod up;
mod weigh;

use choice::Choice;
use classes::Classes;
use deroute::Order;
use least::Least;

pub(crate) use classes::of as networks_of;
pub use deroute::Deroute;
pub use proof::Proof;
pub use source::table_bytes;
pub use table::PathTable;
pub use ugal::Ugal;
pub use weigh::Sense;

/// A routing, ready to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routing {
    kind: Kind,
    /// Virtual channels that it needs for freedom from deadlock.
    needed: u8,
    /// The last virtual channel there is; higher ones are merged into it.
    last_vc: u8,
    /// It wants to see what waits in the router.
    adaptive: bool,
    /// Virtual channels of the topology's own minimal routing.
    minimal_vcs: u8,
    seed: u64,
}

/// What a routing does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The topology's own.
    Minimal,
    /// A random dimension.
    Rdr {
        /// Half-way round a ring the way that does not wrap around.
        unwrapped: bool,
    },
    /// A random minimal neighbour.
    MinRandom,
    /// The minimal neighbour with the least waiting before it.
    MinA(Choice),
    /// Two minimal legs.
    Valiant,
    /// Minimal, or two minimal legs where less waits for them, or always.
    Ugal(Ugal),
    /// A random way up a fat-tree.
    Scatter,
    /// The way up a fat-tree with the least waiting before it.
    AdaptiveUp(Sense, Choice),
    /// Detours within the dimensions of a HyperX.
    Deroute(Deroute),
    /// Forwarding tables.
    Table(Arc<PathTable>),
    /// Any other on virtual networks of their own for classes of messages.
    Classes(Box<Classes>),
}

thread_local! {
    /// Candidates of the random routings; kept to spare allocations.
    static HOPS: RefCell<HopList> = RefCell::new(HopList::new());
}

/// Tells the keys of packets from the other numbers that are drawn from their identities.
const KEY: u64 = 0x6B65_795F_6F66_5F70;

/// Routing phase of a Valiant packet on its second leg.
const SECOND_LEG: u8 = 1;

impl Routing {
    /// Prepares the routing of a run.
    pub fn new(spec: &RunSpec, topology: &Topology) -> Result<Routing, BuildError> {
        let one = Self::of_one_network(spec, topology)?;
        match networks_of(spec) {
            1 => Ok(one),
            n => one.on_networks(n),
        }
    }

    fn of_one_network(spec: &RunSpec, topology: &Topology) -> Result<Routing, BuildError> {
        let lattice = lattice_shape(topology).is_some();
        let refuse = |reason: &str, hint: &str| Err(BuildError::field("routing.kind", reason, Some(hint)));
        let kind = match &spec.routing {
            RoutingSpec::Dor { .. } if !lattice => {
                return refuse(
                    "dimension order needs a lattice: ring, mesh, torus or HyperX",
                    "take \"minimal\", the topology's own",
                );
            }
            RoutingSpec::Rdr { .. } if !lattice => {
                return refuse(
                    "RDR needs a lattice: ring, mesh, torus or HyperX",
                    "take \"min-random\"",
                );
            }
            RoutingSpec::DModK | RoutingSpec::Scatter | RoutingSpec::AdaptiveUp(_)
                if !matches!(topology.spec(), TopologySpec::FatTree { .. }) =>
            {
                return refuse(
                    "the ways up need a fat-tree",
                    "take \"minimal\", \"min-random\" or \"min-a\", which every topology has",
                );
            }
            RoutingSpec::Dor { .. } | RoutingSpec::Minimal | RoutingSpec::DModK => Kind::Minimal,
            RoutingSpec::Rdr { tie } => Kind::Rdr {
                unwrapped: *tie == Tie::Unwrapped,
            },
            RoutingSpec::MinRandom => Kind::MinRandom,
            RoutingSpec::MinA { .. }
            | RoutingSpec::Ugal(_)
            | RoutingSpec::Par(_)
            | RoutingSpec::AdaptiveLocal(_)
            | RoutingSpec::AdaptiveUp(_)
            | RoutingSpec::Doal(_)
            | RoutingSpec::Dal(_)
            | RoutingSpec::Vdal(_)
                if spec.router.architecture == Architecture::LateAdmission =>
            {
                return refuse(
                    "late-admission routers have no rule for adaptive routing",
                    "take \"rdr\" or \"min-random\", or another router.architecture",
                );
            }
            RoutingSpec::MinA { equal } => Kind::MinA(Choice {
                equal: *equal,
                bytes: spec.router.is_input_queued(),
            }),
            RoutingSpec::Valiant { via: Via::Node } => Kind::Valiant,
            RoutingSpec::Valiant { via } => Kind::Ugal(Ugal::always(*via, spec, topology)?),
            RoutingSpec::Ugal(detour) => Kind::Ugal(Ugal::new(detour, false, spec, topology)?),
            RoutingSpec::Par(detour) => Kind::Ugal(Ugal::new(detour, true, spec, topology)?),
            RoutingSpec::AdaptiveLocal(room) => Kind::Ugal(Ugal::by_room(room, spec, topology)?),
            RoutingSpec::Scatter => Kind::Scatter,
            RoutingSpec::AdaptiveUp(sense) => Kind::AdaptiveUp(
                Sense::new(sense.congestion, sense.per, spec)?,
                Choice {
                    equal: sense.equal,
                    bytes: false,
                },
            ),
            RoutingSpec::Doal(deroute) => Kind::Deroute(Deroute::new(Order::Dimension, deroute, spec, topology)?),
            RoutingSpec::Dal(deroute) => Kind::Deroute(Deroute::new(Order::Escape, deroute, spec, topology)?),
            RoutingSpec::Vdal(deroute) => Kind::Deroute(Deroute::new(Order::Channels, deroute, spec, topology)?),
            RoutingSpec::MinHop(tables)
            | RoutingSpec::UpDown(tables)
            | RoutingSpec::Ftree(tables)
            | RoutingSpec::Sssp(tables)
            | RoutingSpec::Dfsssp(tables)
            | RoutingSpec::Lash(tables)
            | RoutingSpec::Nue(tables)
            | RoutingSpec::Parx(tables)
            | RoutingSpec::Table(tables) => Kind::Table(Arc::new(source::table(tables, spec, topology)?)),
        };
        let needed = proof::needs(&kind, topology);
        let late = spec.router.model == RouterModel::Credit && spec.router.architecture == Architecture::LateAdmission;
        let bounded = spec.router.has_bounded_buffers() && !late;
        if needed > MAX_VCS && bounded && spec.router.vcs.is_none() {
            let reason =
                format!("freedom from deadlock takes {needed} virtual channels here, a port has at most {MAX_VCS}");
            let hint = "take a smaller network, or set router.vcs together with router.allow_deadlock = true";
            return Err(BuildError::field("routing.kind", reason, Some(hint)));
        }
        let vcs = match spec.router.vcs {
            _ if late => 1,
            Some(vcs) => vcs,
            None => needed.min(MAX_VCS),
        };
        Ok(Routing {
            needed,
            last_vc: vcs - 1,
            adaptive: match &kind {
                Kind::MinA(_) | Kind::AdaptiveUp(..) | Kind::Deroute(_) => true,
                Kind::Ugal(ugal) => ugal.looks(),
                _ => false,
            },
            kind,
            minimal_vcs: topology.minimal_vcs(),
            seed: mix(spec.control.fine_seed() ^ 0x526F_7574),
        })
    }

    /// Virtual channels per port of a run, without the work of an engine: as many as its lanes where only the tables would tell.
    pub fn vcs_of(spec: &RunSpec, topology: &Topology) -> Result<u8, BuildError> {
        match spec.routing.tables().map(|(_, tables)| &tables.source) {
            Some(TableSource::Engine { lanes, .. }) => {
                Ok(spec.router.vcs.unwrap_or(*lanes).saturating_mul(networks_of(spec)))
            }
            _ => Ok(Routing::new(spec, topology)?.vcs()),
        }
    }

    /// Decides whether the run can deadlock.
    pub fn prove(&self, spec: &RunSpec, topology: &Topology) -> Proof {
        let (one, networks) = self.of_one();
        let mut proof = proof::prove(spec, topology, &one.kind, one.needed);
        if networks > 1 {
            proof.words += &format!("; {networks} virtual networks with as many channels each");
        }
        proof
    }

    /// `true` if it looks at the topology's wiring, also where the family answers by arithmetic.
    pub fn asks_for_cables(&self) -> bool {
        matches!(self.of_one().0.kind, Kind::Ugal(_))
    }

    /// `true` for the topology's own minimal routing.
    pub fn is_minimal(&self) -> bool {
        matches!(self.kind, Kind::Minimal)
    }

    /// The forwarding tables, if it has such.
    pub fn table(&self) -> Option<&PathTable> {
        match &self.of_one().0.kind {
            Kind::Table(table) => Some(table),
            _ => None,
        }
    }

    /// `true` if it reads the number of a message, so that also messages of one packet must have one.
    pub fn numbers_messages(&self) -> bool {
        self.table().is_some_and(PathTable::numbers_messages)
    }

    /// The next output port of a packet that is not at its last router, by minimal routing on one virtual channel.
    #[inline(always)]
    pub fn next_minimal(&self, net: &Network, site: &Site, packet: &Packet) -> u32 {
        if let Some((port, links)) = net.topology.direct(site.coordinates, packet.destination()) {
            return self.one_of(site, port, links, packet);
        }
        self.minimal_by_way(net, site, *packet).0
    }

    /// `true` for the first channel of a virtual network.
    pub fn is_first(&self, vc: u8) -> bool {
        vc.is_multiple_of(self.of_one().0.vcs())
    }

    /// Virtual channels per port.
    pub fn vcs(&self) -> u8 {
        self.last_vc + 1
    }

    /// Virtual channels of a virtual network that packets use; `None` where that is all of them.
    pub fn acting_vcs(&self) -> Option<u8> {
        let one = self.of_one().0;
        // VDAL takes a detour wherever channels are left for it.
        let all_act = matches!(&one.kind, Kind::Deroute(deroute) if deroute.takes_all_channels());
        (!all_act && one.vcs() > one.needed).then_some(one.needed)
    }

    /// The next output of a packet that is not at its last router: (local port, virtual channel, phase).
    #[inline(always)]
    pub fn next(&self, net: &Network, site: &Site, packet: &Packet) -> (u32, u8, u8) {
        if matches!(self.kind, Kind::Minimal) {
            return self.minimal(net, site, packet);
        }
        self.detour(net, site, packet)
    }

    #[inline(never)]
    fn detour(&self, net: &Network, site: &Site, packet: &Packet) -> (u32, u8, u8) {
        match &self.kind {
            Kind::Minimal => self.minimal(net, site, packet),
            Kind::Rdr { unwrapped: true } => self.random_dimension(net, site, packet),
            Kind::Rdr { .. } | Kind::MinRandom => self.random(net, site, packet),
            // Without a router to look at: as on an idle one.
            Kind::MinA(_) | Kind::Ugal(_) | Kind::AdaptiveUp(..) | Kind::Deroute(_) => {
                self.adaptive(net, site, packet, |_, _| 0)
            }
            Kind::Valiant => self.valiant(net, site, packet),
            Kind::Scatter => self.scatter(net, site, packet),
            Kind::Table(table) => self.by_table(table, net, site, packet),
            Kind::Classes(classes) => classes.next(net, site, packet),
        }
    }

    /// The topology's own minimal routing.
    #[inline(always)]
    fn minimal(&self, net: &Network, site: &Site, packet: &Packet) -> (u32, u8, u8) {
        if let Some((port, links)) = net.topology.direct(site.coordinates, packet.destination()) {
            return (self.one_of(site, port, links, packet), 0, 0);
        }
        self.minimal_by_way(net, site, *packet)
    }

    /// The same where the next hop depends on how the packet came or on its identity.
    ///
    /// Takes the packet by value: a reference would keep it in memory on the way of [`Topology::direct`] too.
    #[inline(never)]
    fn minimal_by_way(&self, net: &Network, site: &Site, packet: Packet) -> (u32, u8, u8) {
        let packet = &packet;
        let hop = net
            .topology
            .minimal(site.router, packet.destination(), came(site, packet), self.key(packet));
        (self.cable(site, hop, packet), hop.vc.min(self.last_vc), 0)
    }

    /// By what the topology chooses among ways that are as good as each other: the same at every router, all 32 bits random from packet
    /// to packet.
    #[inline(always)]
    fn key(&self, packet: &Packet) -> u32 {
        (mix(self.seed ^ KEY ^ packet.identity()) >> 32) as u32
    }

    /// One of the parallel cables of a hop: the same for all packets of one identity at one router.
    #[inline(always)]
    fn cable(&self, site: &Site, hop: Hop, packet: &Packet) -> u32 {
        self.one_of(site, u32::from(hop.port), u32::from(hop.links), packet)
    }

    #[inline(always)]
    fn one_of(&self, site: &Site, first: u32, links: u32, packet: &Packet) -> u32 {
        if links == 1 {
            return first;
        }
        first + below(mix(self.seed ^ packet.moment(site.router)), u64::from(links)) as u32
    }

    /// A random dimension (RDR), in it the way that the topology's ties take.
    #[inline(always)]
    fn random_dimension(&self, net: &Network, site: &Site, packet: &Packet) -> (u32, u8, u8) {
        let target = net.topology.router_of(packet.destination());
        let word = mix(self.seed ^ packet.moment(site.router) ^ packet.identity());
        let pick = |n: u32| below(word, u64::from(n)) as u32;
        let hop = net
            .topology
            .minimal_along(site.router, target, came(site, packet), pick);
        let vc = packet.hops().min(u32::from(self.last_vc)) as u8;
        (self.cable(site, hop, packet), vc, 0)
    }

    /// A random minimal neighbour (min-random) or a random dimension (RDR).
    fn random(&self, net: &Network, site: &Site, packet: &Packet) -> (u32, u8, u8) {
        let target = net.topology.router_of(packet.destination());
        HOPS.with_borrow_mut(|hops| {
            net.topology.minimal_hops(site.router, target, hops);
            let word = mix(self.seed ^ packet.moment(site.router) ^ packet.identity());
            let hop = if !matches!(self.kind, Kind::MinRandom) {
                // Half-way round a ring both directions are minimal: the first listed, the positive one, stands for the dimension.
                let first = |i: usize| i == 0 || hops[i].dim != hops[i - 1].dim;
                let dims = (0..hops.len()).filter(|&i| first(i)).count();
                let pick = below(word, dims as u64) as usize;
                (0..hops.len()).filter(|&i| first(i)).nth(pick).map(|i| hops[i])
            } else {
                hops.get(below(word, hops.len() as u64) as usize).copied()
            };
            // No hop would mean that the packet is at its target, which the caller has excluded.
            let hop = hop.unwrap_or(Hop {
                port: 0,
                links: 1,
                dim: 0,
                vc: 0,
            });
            let vc = packet.hops().min(u32::from(self.last_vc)) as u8;
            (self.cable(site, hop, packet), vc, 0)
        })
    }

    /// Valiant's two legs (Valiant 1982): minimal to a random router, then minimal to the destination, each on its own channels.
    fn valiant(&self, net: &Network, site: &Site, packet: &Packet) -> (u32, u8, u8) {
        let destination = packet.destination();
        let key = self.key(packet);
        let mut came = came(site, packet);
        if packet.phase() != SECOND_LEG {
            let via = self.intermediate(net, packet);
            if via != site.router {
                let hop = net.topology.minimal_to(site.router, via, came, key);
                return (self.cable(site, hop, packet), hop.vc.min(self.last_vc), 0);
            }
            came = Came::INJECTED;
        } else {
            came.vc -= self.minimal_vcs.min(came.vc);
        }
        let hop = net.topology.minimal(site.router, destination, came, key);
        (
            self.cable(site, hop, packet),
            (hop.vc + self.minimal_vcs).min(self.last_vc),
            SECOND_LEG,
        )
    }

    /// The intermediate router of a packet: uniform over routers that have nodes, recomputed at every hop.
    fn intermediate(&self, net: &Network, packet: &Packet) -> u32 {
        let node = below(mix(self.seed ^ packet.identity()), u64::from(net.n_nodes()));
        net.topology.router_of(node as u32)
    }
}

/// How a packet came to its router, in the topology's words.
#[inline(always)]
fn came(site: &Site, packet: &Packet) -> Came {
    let port = packet.port();
    if port < site.net {
        Came { port, vc: packet.vc() }
    } else {
        Came::INJECTED
    }
}
