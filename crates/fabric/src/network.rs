//! The immutable network of a run: wiring with ports numbered for the simulator, timing per link class, routing, workload.

use crate::blocks::{Blocks, Laid, NO_ROUTER, lay_out};
use crate::observe::Span;
use crate::packet::{HORIZON, MAX_HOPS, MAX_NODES, Packet};
use crate::plant::Plant;
use crate::routing::{Routing, Way};
use crate::spec::{Arbitration, ControlOrder, DeliveryPoint, MessageDetail, RouterModel, RunSpec, Switching, Tie};
use des::{Run, Time};
use std::ops::{Deref, Range};
use topo::{Coordinates, Topology, TopologyKind, TopologySpec};
use work::build_error::BuildError;
use work::workload::Workload;

mod late_admission;
pub mod model;

pub use crate::plant::{Class, Part, Peer, Site, too_many_ports};

/// The network of a run.
#[derive(Debug)]
pub struct Network {
    /// What it is laid out as: a network is asked for it as if it were its own.
    pub plant: Plant,
    /// Link classes between routers of different workers, by the blocks that routers were placed in.
    crossed: Option<Vec<bool>>,
    /// The injection side of the host link, which may be slower.
    pub injection: Class,
    /// Virtual channels per port.
    pub vcs: u32,
    /// Words of the waiting set per router.
    pub words: u32,
    /// How packets find their way.
    pub routing: Routing,
    /// What the nodes do.
    pub workload: Workload,
    /// Lists of incoming messages per node, as a power of two.
    pub bucket_bits: u32,
    /// Messages of one packet are numbered as well: a node may make several at one time, or the routing asks for the number.
    pub bursts: bool,
    /// A message of one packet is done with once it has been reported: nobody reacts to it, and none has a number or waits for others.
    pub whole_is_all: bool,
    /// Some messages have a record at their destination until all of them is there.
    pub keeps_records: bool,
    /// Seed of the run.
    pub seed: u64,
    /// Packets of a message come in the order in which they set out: there is one way, and no queue that they could pass each other in.
    pub in_order: bool,
    /// Packet size in bytes.
    pub packet: u32,
    /// Size in bytes of what travels by itself: the packet, or its chunks with late admission.
    pub unit: u32,
    /// Buffer of each port and channel in bytes, `i64::MAX / 4` if unbounded.
    pub buffer: i64,
    /// Buffer of a router's host port in bytes.
    pub host_buffer: i32,
    /// First come, first served among channels instead of round robin.
    pub first_come: bool,
    /// A packet is handed on when its tail has come.
    pub store_and_forward: bool,
    /// Links differ in speed: a fast link must not let a tail overtake.
    pub mixed_speeds: bool,
    /// A message counts as delivered at its head.
    pub head_delivery: bool,
    /// Interface occupied before each message (ps).
    pub message_overhead: u64,
    /// Interface occupied before each packet (ps).
    pub packet_overhead: u64,
    /// The times of every message are recorded.
    pub follows_messages: bool,
    /// The messages that are measured.
    pub span: Span,
    /// Control messages of ranks have a queue of their own at every interface.
    pub control_first: bool,
    /// ps per byte of the first packet after an idle time of the interface.
    pub idle_delay: u64,
    /// From the start of a packet on the ejection link until its head is at the node (ps).
    ejection: u64,
    /// From the start of a packet on the ejection link until its credit is back at the router (input-queued routers; ps).
    pub node_credit: u64,
    /// Routers give credits.
    credits: bool,
    /// Window width.
    pub lookahead: Time,
    /// No interface injects more than this (bytes) from a time on until a lookahead later.
    pub window_bytes: i32,
    /// Least delay of one hop over all classes, for the zero-load bound.
    least_hop: u64,
    /// The most that [`Network::way_bound`] can be (ps).
    longest_bound: u64,
    /// No way is shorter than the topology's distance or this many hops: a way over a third group of a dragonfly may be shorter
    /// than those over one global link that the distance counts.
    shortest_detour: u32,
    /// Timing of the clocked crossbar and other model parameters.
    pub model: model::ModelParameters,
}

impl Deref for Network {
    type Target = Plant;

    #[inline(always)]
    fn deref(&self) -> &Plant {
        &self.plant
    }
}

impl Network {
    /// Builds the network of a valid specification.
    pub fn build(spec: &RunSpec) -> Result<Network, BuildError> {
        Self::build_apart(spec, |_| Ok::<_, BuildError>(None))
    }

    /// The same with routers placed in the blocks that `blocks` chooses for a topology, if it does; nothing that can be seen of a run
    /// depends on them.
    pub fn build_apart<E: From<BuildError>>(
        spec: &RunSpec,
        blocks: impl FnOnce(&Topology) -> Result<Option<Blocks>, E>,
    ) -> Result<Network, E> {
        let mut topology = spec.topology.build().map_err(BuildError::Topology)?;
        if spec.routing.tie() == Tie::Unwrapped {
            topology = topology.with_unwrapped_ties();
        }
        let model = model::ModelParameters::new(spec);
        if model.late_admission {
            late_admission::check(spec)?;
        }
        let wiring = topology.wiring();
        let packet = spec.nic.packet.0 as u32;
        let router = &spec.router;
        let unit = match model.late_admission {
            true => spec.nic.chunk.map_or(packet, |chunk| chunk.0 as u32),
            false => packet,
        };
        let store_and_forward = router.switching == Switching::StoreAndForward && !model.late_admission;
        let queued = router.is_input_queued();
        let flit = if queued {
            router.flit.0.clamp(1, 1 << 16) as u32
        } else {
            1
        };
        let (inside, outside) = router.latencies();
        // What a credit takes over a link of this latency, with the part of the routers' traversal that it passes.
        let credit = |latency: u64, traversed: Time| {
            let link = if router.credit_uses_link { latency } else { 0 };
            let traversed = if router.credits_traverse { traversed.0 } else { 0 };
            Time(link + router.credit_delay.0 + traversed)
        };
        let class_of = |name: &str, packet: u32| {
            let link = spec.links.by_class.get(name).unwrap_or(&spec.links.default);
            let class = Class::new(
                link.bandwidth,
                packet,
                link.latency,
                link.latency + router.traversal,
                credit(link.latency.0, router.traversal),
            );
            if queued {
                class.in_flits(flit, router.wake_delay)
            } else {
                class
            }
        };
        let mut classes: Vec<Class> = wiring.class_names.iter().map(|name| class_of(name, unit)).collect();
        if model.late_admission {
            late_admission::set_delays(&model, unit, &mut classes);
        }
        let host = classes[0];
        let mut injection = host;
        if let Some(bandwidth) = spec.nic.bandwidth {
            injection = Class::new(bandwidth, packet, Time(host.latency), Time(host.hop), Time(host.credit));
            if queued {
                injection = injection.in_flits(flit, router.wake_delay);
            }
        }
        if !model.late_admission {
            // Interfaces add no latency of their own: only the router's side of the crossbar counts.
            injection.hop = host.latency + inside.0;
            injection.credit = credit(host.latency, outside).0;
        }
        let ejection = host.latency + if queued { outside.0 } else { 0 };
        let node_credit = ejection + router.node_credit_delay.0 + credit(host.latency, inside).0;
        let Laid {
            routers,
            places,
            layout,
            held,
            crossed,
        } = lay_out(blocks(&topology)?, wiring);
        if routers.len() > MAX_NODES as usize {
            let reason = format!("{} places for routers are more than {MAX_NODES}", routers.len());
            return Err(
                BuildError::field("run.partition", reason, Some("take fewer blocks or a smaller network")).into(),
            );
        }
        let mut sites = Vec::with_capacity(routers.len());
        let mut first_places = Vec::with_capacity(routers.len());
        let mut peers = Vec::new();
        let mut first_peer = 0;
        let (mut port, mut nodes_before) = (0, 0u32);
        let mut most_ports = 0;
        for (place, &router) in (0..).zip(&routers) {
            let r = router as usize;
            if place == held.start {
                first_peer = port;
            }
            if router == NO_ROUTER {
                sites.push(Site {
                    port,
                    node: 0,
                    net: 0,
                    nodes: 0,
                    router,
                    coordinates: Coordinates::default(),
                });
                first_places.push(nodes_before);
                continue;
            }
            let (from, to) = (wiring.port_offset[r] as usize, wiring.port_offset[r + 1] as usize);
            let (node, node_end) = (wiring.node_offset[r], wiring.node_offset[r + 1]);
            if let Some((reason, hint)) = too_many_ports(&topology, router) {
                return Err(BuildError::field("topology", reason, Some(hint)).into());
            }
            let site = Site {
                port,
                node,
                net: (to - from) as u16,
                nodes: (node_end - node) as u16,
                router,
                coordinates: topology.coordinates(router),
            };
            first_places.push(nodes_before);
            let mine = held.contains(&place);
            for p in (from..to).filter(|_| mine) {
                let (router, input) = (wiring.peer_router[p] as usize, wiring.peer_port[p]);
                peers.push(Peer::new(places[router], input, wiring.class[p]));
            }
            for local in (0..site.nodes).filter(|_| mine) {
                peers.push(Peer::new(place, site.net + local, 0));
            }
            port += site.ports();
            nodes_before += u32::from(site.nodes);
            most_ports = most_ports.max(site.ports());
            sites.push(site);
        }
        let routing = Routing::new(&spec.routing, &spec.routing_terms(), &topology)?;
        // Sculpin has no queues per channel.
        let vcs = if router.model == RouterModel::Sculpin {
            1
        } else {
            u32::from(routing.vcs())
        };
        let workload = Workload::build(&spec.jobs, &spec.control.work_terms(), &topology, injection.bandwidth())?;
        if model.cumulative && (workload.ranks().is_some() || workload.memory().is_some()) {
            let reason =
                "ranks and memory nodes need to know which message is complete, cumulative completion does not say";
            let hint = "take \"whole\"";
            return Err(BuildError::field("router.completion", reason, Some(hint)).into());
        }
        let control_first =
            spec.nic.control == ControlOrder::First && workload.ranks().is_some() && !model.late_admission;
        let unbounded = i64::MAX / 4;
        let whole = |bytes: u64| bytes / u64::from(flit) * u64::from(flit);
        let buffer = router.buffer.map_or(unbounded, |bytes| whole(bytes.0) as i64);
        let host_buffer = spec
            .nic
            .buffer
            .or(router.buffer)
            .map_or(i32::MAX / 2, |bytes| whole(bytes.0.min(1 << 30)) as i32);
        let mixed_speeds = classes
            .iter()
            .chain([&injection])
            .any(|class| class.bandwidth() != host.bandwidth());
        let grouped = matches!(
            topology.spec().kind(),
            TopologyKind::Dragonfly | TopologyKind::DragonflyPlus
        );
        let shortest_detour = match grouped && spec.routing.leads_over_a_third_group() {
            true => 2,
            false => u32::MAX,
        };
        let least_hop = classes[1..].iter().map(|class| class.hop).min().unwrap_or(0);
        let one_way = match topology.spec() {
            TopologySpec::SingleRouter { .. } => true,
            TopologySpec::Mesh(lattice) => lattice.width.iter().all(|&width| width == 1),
            _ => false,
        };
        let bursts = workload.bursts() || routing.numbers_messages();
        let mut network = Network {
            in_order: one_way && routing.is_minimal() && !model.late_admission && !queued,
            crossed,
            injection,
            vcs,
            words: most_ports.div_ceil(64).max(1),
            bursts,
            keeps_records: workload.most_bytes() > u64::from(unit),
            whole_is_all: !bursts && !workload.reacts() && !model.cumulative,
            routing,
            bucket_bits: workload.bucket_bits(),
            workload,
            seed: spec.control.fine_seed(),
            packet,
            unit,
            buffer,
            host_buffer,
            first_come: router.arbitration == Arbitration::Fcfs,
            store_and_forward,
            mixed_speeds,
            head_delivery: router.delivery == DeliveryPoint::Head || model.late_admission,
            message_overhead: if model.late_admission {
                0
            } else {
                spec.nic.message_overhead.0
            },
            packet_overhead: spec.nic.packet_overhead.0,
            follows_messages: spec.observe.messages == MessageDetail::Full,
            span: Span::default(),
            control_first,
            idle_delay: spec.nic.idle_delay_per_byte.0,
            ejection,
            node_credit,
            credits: spec.router.model == RouterModel::Credit,
            lookahead: Time::ZERO,
            longest_bound: injection.hop + u64::from(topology.diameter().min(shortest_detour)) * least_hop,
            window_bytes: 0,
            least_hop,
            shortest_detour,
            model,
            plant: Plant {
                n_nodes: topology.n_nodes(),
                sites: sites.into(),
                first_places: first_places.into(),
                places: places.into(),
                layout,
                peers: Run::new(first_peer as usize, peers),
                n_ports: port,
                classes: classes.into(),
                topology,
            },
        };
        network.lookahead = network.window(spec);
        // A packet starts when its predecessor has left; the first and the last may lie half outside.
        let bits = u128::from(network.lookahead.0) * u128::from(network.injection.bandwidth().0);
        let bytes = bits / 8_000_000_000_000 + 2 * u128::from(packet);
        network.window_bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
        Ok(network)
    }

    /// The same network in a run of which these messages are measured.
    pub fn measured_in(self, span: Span) -> Network {
        Network { span, ..self }
    }

    /// No event a handler sends comes sooner than this.
    fn window(&self, spec: &RunSpec) -> Time {
        let least = self.workload.least_packet(self.packet);
        let delays = (0..self.classes.len()).map(|class| self.least_delay(class));
        let mut window = delays.min().unwrap_or(u64::MAX).min(HORIZON.0);
        if spec.router.is_input_queued() {
            window = window.min(self.node_credit);
        }
        // With late admission deliveries are told by the arrival itself, which may send to its own router at any time.
        if self.workload.reacts() && !self.model.late_admission {
            window = window.min(self.delivery_delay(least));
        }
        Time(window)
    }

    /// No event reaches a router of another owner sooner than this; `owner` is that of a place.
    pub fn lookahead_across(&self, owner: &dyn Fn(u32) -> usize) -> Time {
        // A message of several packets is announced to its destination, wherever that is.
        if self.model.cumulative || self.workload.most_bytes() > u64::from(self.unit) {
            return self.lookahead;
        }
        let all = || vec![true; self.classes.len()];
        let crossed = match (&self.crossed, &self.layout) {
            // For as many workers as the blocks were made for.
            (Some(crossed), Some(layout)) if layout.has_owners(owner) => crossed.clone(),
            (None, None) => self.crossings(owner),
            _ => all(),
        };
        let least = (0..crossed.len())
            .filter(|&class| crossed[class])
            .map(|class| self.least_delay(class))
            .min();
        Time(least.unwrap_or(u64::MAX).max(self.lookahead.0))
    }

    /// Which link classes join routers of different owners, in a process that has all ports.
    fn crossings(&self, owner: &dyn Fn(u32) -> usize) -> Vec<bool> {
        let mut crossed = vec![false; self.classes.len()];
        for (place, site) in (0..).zip(&self.sites) {
            for port in site.port..site.port + u32::from(site.net) {
                let peer = &self.peers[port as usize];
                crossed[usize::from(peer.class())] |= owner(peer.lp()) != owner(place);
            }
        }
        crossed
    }

    /// What a packet over a link of a class, or its credit, takes at least (ps).
    fn least_delay(&self, class: usize) -> u64 {
        let least = self.workload.least_packet(self.packet);
        let mut delay = if class == 0 {
            self.injection.hop
        } else {
            self.classes[class].hop
        };
        if self.credits {
            let fastest = self.classes.iter().map(|class| class.ser(least)).min().unwrap_or(0);
            // The buffer is freed by the tail's start on any output, over which it may leave faster than it came.
            let class = if class == 0 {
                &self.injection
            } else {
                &self.classes[class]
            };
            delay = delay.min(self.model.least_credit(class.credit, fastest));
        }
        delay
    }

    /// `true` if [`RouterModel::PLAIN`](crate::network::model::RouterModel::PLAIN) holds: one channel, minimal routing, cut-through, links of
    /// one speed, at most 64 ports per router, no way of [`MAX_HOPS`] links.
    pub fn is_plain(&self) -> bool {
        self.vcs == 1
            && self.words == 1
            && self.routing.is_minimal()
            && !self.store_and_forward
            && !self.mixed_speeds
            && self.topology.diameter() < MAX_HOPS
    }

    /// Parts of a packet of `size` bytes that travel by themselves.
    #[inline(always)]
    pub fn parts(&self, size: u32) -> u32 {
        if size <= self.unit { 1 } else { size.div_ceil(self.unit) }
    }

    /// How long the head must wait so that the tail, coming over a slower link, does not fall behind on an output that takes
    /// `serialisation` (ps).
    #[inline(always)]
    pub fn overtaking_delay(&self, site: &Site, packet: &Packet, serialisation: u64) -> u64 {
        if self.store_and_forward {
            return 0;
        }
        let input = packet.port();
        let from = match input < site.net {
            true => &self.classes[self.peers[(site.port + u32::from(input)) as usize].class() as usize],
            false => &self.injection,
        };
        from.ser(packet.size()).saturating_sub(serialisation)
    }

    /// From the start of a packet on the host link to its delivery (ps).
    #[inline(always)]
    pub fn delivery_delay(&self, size: u32) -> u64 {
        let host = &self.classes[0];
        self.ejection + if self.head_delivery { 0 } else { host.ser(size) }
    }

    /// The least time (ps) from injection to delivery of a packet between two nodes on an idle network.
    #[inline(always)]
    pub fn bound(&self, source: u32, destination: u32, size: u32) -> u64 {
        self.way_bound(source, self.topology.router_of(destination)) + self.delivery_delay(size)
    }

    /// Whether the head of a packet from node `source` could not leave router `router` as soon as `time` ps after its injection. What is
    /// true of no router is not looked up.
    #[inline(always)]
    pub fn is_early(&self, time: u64, source: u32, router: u32) -> bool {
        time < self.longest_bound && time < self.way_bound(source, router)
    }

    /// The least time (ps) from injection at node `source` until the head can leave router `router` on an idle network.
    #[inline(always)]
    pub fn way_bound(&self, source: u32, router: u32) -> u64 {
        let hops = self.topology.node_distance(source, router).min(self.shortest_detour);
        self.injection.hop + u64::from(hops) * self.least_hop
    }

    /// About the time (ps) that a packet takes over the longest of the shortest ways without waiting.
    pub fn longest_crossing(&self) -> u64 {
        let hop = self.classes.iter().map(|class| class.hop).max().unwrap_or(0);
        let hops = u64::from(self.topology.diameter()) + 1;
        self.injection.hop + hops.saturating_mul(hop) + self.time_on_slowest(self.packet.into())
    }

    /// Bytes that a node can inject in a ps.
    pub fn injection_rate(&self) -> f64 {
        self.injection.bandwidth().0 as f64 / 8e12
    }

    /// The time (ps) that so many bytes take for the slowest link.
    pub fn time_on_slowest(&self, bytes: u64) -> u64 {
        let classes = self.classes.iter().chain([&self.injection]);
        classes.map(|class| class.time_of(bytes)).max().unwrap_or(0)
    }

    /// The output port of the router that `packet` takes next, with its virtual channel and routing phase: (local port, channel,
    /// phase).
    #[inline(always)]
    pub fn route(&self, site: &Site, packet: &Packet) -> Way {
        let destination = packet.destination();
        let local = destination.wrapping_sub(site.node);
        if local < u32::from(site.nodes) {
            return Way::new(u32::from(site.net) + local, 0, 0);
        }
        self.routing.next(&self.plant, site, packet)
    }

    /// Says that so many virtual channels are more than the routing uses, if so.
    pub fn idle_channels(&self, asked: Option<u8>) -> Option<String> {
        let (asked, acting) = (asked?, self.routing.acting_vcs()?);
        let act = if acting == 1 { "acts" } else { "act" };
        Some(format!(
            "of {asked} virtual channels {acting} {act}: the routing leaves the others empty"
        ))
    }

    /// Lists of incoming messages of the node at a place in the node columns.
    pub fn buckets(&self, place: u32) -> Range<u32> {
        place << self.bucket_bits..(place + 1) << self.bucket_bits
    }
}
