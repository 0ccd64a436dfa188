//! The immutable network of a run: wiring with ports numbered for the simulator, what links take, routing, workload.

use crate::blocks::Blocks;
use crate::observe::Span;
use crate::packet::{HORIZON, MAX_HOPS, Packet};
use crate::plant::Plant;
use crate::routing::{Proof, Routing, Way};
use crate::spec::{
    Arbitration, BitsPerSec, Bytes, Completion, ControlOrder, CreditLeaves, MessageDetail, NamedModel, NicSpec,
    RetransmitSpec, RouterChannels, RouterSpec, RoutingTerms, RunSpec, Ties,
};
use crate::state::{Channel, Nic, Port};
use des::{Event, Time};
use std::ops::{Deref, Range};
use std::sync::atomic::{AtomicBool, Ordering};
use topo::{Topology, TopologyKind, TopologySpec};
use work::build_error::BuildError;
use work::ranks::Plans;
use work::workload::{Ledger, Source, Workload};

mod alike;
pub mod changes;
pub(crate) mod input_order;
mod link;
pub mod model;
mod wired;

pub use crate::plant::{Class, Part, Peer, Site, too_many_ports};
use changes::{Planned, TimedChanges, with_channels};
use input_order::InputOrder;
use link::LinkTable;
pub use link::link_of_class;
use wired::Laying;

/// Interfaces of nodes, besides their link.
#[derive(Clone, Copy, Debug)]
pub struct InterfaceTerms {
    /// Buffer of a router's host port in bytes.
    pub buffer: i32,
    /// Occupied before each message (ps).
    pub message_overhead: u64,
    /// What a message passes before that, while the packets before it are sent (ps).
    pub ahead: u64,
    /// Occupied before each packet (ps).
    pub packet_overhead: u64,
    /// Idle behind each message (ps).
    pub gap: u64,
    /// ps per byte of the first packet after an idle time.
    pub idle_delay: u64,
    /// Control messages of ranks have a queue of their own.
    pub control_first: bool,
    /// Of them only those that give leave, or read, which then have no overhead.
    pub reads_only: bool,
    /// Packets of data that these let pass.
    pub reads_behind: u32,
    /// None injects more than this (bytes) from a time on until a lookahead later.
    pub window_bytes: i32,
    /// With more room than this (bytes) it does not run short within [`Self::ample_for`]; `i32::MAX` where that is not known.
    pub ample: i32,
    /// ps.
    pub ample_for: u64,
}

/// What has to be kept of messages on their way.
#[derive(Clone, Copy, Debug)]
pub struct MessageTerms {
    /// Lists of incoming messages per node, as a power of two.
    pub bucket_bits: u32,
    /// Messages of one packet are numbered as well: a node may make several at one time, or the routing asks for the number.
    pub bursts: bool,
    /// A message of one packet is done with once it has been reported: nobody reacts to it, and none has a number or waits for others.
    pub whole_is_all: bool,
    /// Some messages have a record at their destination until all of them is there.
    pub keeps_records: bool,
    /// Ranks may be handed a message in the window in which its last packet comes.
    pub hands_over_at_once: bool,
    /// Some messages are announced to their destination, wherever that is.
    pub announces: bool,
    /// Those that have an envelope are announced by one notice where their last packet tells their size: nothing of them can be lost, nor do flows
    /// complete them.
    pub has_only_notices: bool,
    /// Their packets come in the order in which they set out: there is one way, and no queue that they could pass each other in.
    pub in_order: bool,
    /// It is shown when messages set out: the times of every message are recorded, or what ranks do.
    pub follows: bool,
    /// What ranks do and wait for is shown one by one.
    pub follows_ranks: bool,
}

/// Parts in which the records of a router are asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RouterParts {
    /// So many.
    pub(crate) count: u32,
    /// Nodes of a part.
    pub(crate) nodes: u32,
}

impl RouterParts {
    /// Ports of a part: a few cache lines.
    pub(crate) const PORTS: u32 = 4;

    fn new(most_ports: u32, plant: &Plant) -> RouterParts {
        let most_nodes = plant.sites.iter().map(|site| u32::from(site.nodes)).max().unwrap_or(0);
        let count = most_ports.div_ceil(RouterParts::PORTS).max(1);
        RouterParts {
            count,
            nodes: most_nodes.div_ceil(count),
        }
    }
}

impl MessageTerms {
    /// Some messages have numbers, which their sources count.
    #[inline(always)]
    pub fn are_numbered(&self) -> bool {
        self.keeps_records | self.bursts
    }
}

/// Least times on an idle network.
#[derive(Clone, Copy, Debug)]
struct LeastTimes {
    /// From the start of a packet on the ejection link until its head is at the node (ps).
    ejection: u64,
    /// A message counts as delivered at its head.
    head_delivery: bool,
    /// Least delay of one hop over all classes.
    hop: u64,
    /// The part of a hop behind the arrival at the next router (ps).
    behind_the_link: u64,
    /// The most that [`Network::way_bound`] can be (ps).
    longest_bound: u64,
    /// No way is shorter than the topology's distance or this many hops: a way over a third group of a dragonfly may be shorter
    /// than those over one global link that the distance counts.
    shortest_detour: u32,
}

/// Cache lines that an event needs of its router's ports, about.
const LINES_OF_AN_EVENT: u32 = 3;

/// What a second-level cache holds at least beside the events of a block (bytes).
const SECOND_LEVEL_CACHE: usize = 1 << 20;

/// The network of a run.
#[derive(Debug)]
pub struct Network {
    /// What it is laid out as: a network is asked for it as if it were its own.
    pub plant: Plant,
    /// Link classes between routers of different workers, by the blocks that routers were placed in.
    crossed: Option<Vec<bool>>,
    /// The injection side of the host link, which may be slower.
    pub injection: Class,
    /// Links differ in speed: a fast link must not let a tail overtake.
    pub mixed_speeds: bool,
    /// A packet is handed on when its tail has come.
    pub store_and_forward: bool,
    /// Something is to be done when a packet sets out for the next router: `store_and_forward`, its stay is shown, or its input has a place.
    pub looks_at_hops: bool,
    /// Virtual channels per port.
    pub vcs: u32,
    /// Words of the waiting set per router.
    pub words: u32,
    /// See [`Network::few`].
    few: usize,
    /// How the records of a router are asked for.
    pub(crate) parts: RouterParts,
    /// Buffer of each port and channel in bytes, `i64::MAX / 4` if unbounded.
    pub buffer: i64,
    /// First come, first served among channels instead of round robin.
    pub first_come: bool,
    /// Packet size in bytes.
    pub packet: u32,
    /// Size in bytes of what travels by itself: the packet, or its chunks with late admission.
    pub unit: u32,
    /// The interfaces.
    pub interface: InterfaceTerms,
    /// The messages.
    pub messages: MessageTerms,
    /// The messages that are measured.
    pub span: Span,
    /// It is shown when messages set out. In a place of its own: of a network that changes behind a reference nothing could be kept in registers,
    /// which costs 16 instructions per hop.
    follows: Box<AtomicBool>,
    least: LeastTimes,
    /// Window width.
    pub lookahead: Time,
    /// How packets find their way.
    pub routing: Routing,
    /// What the nodes do.
    pub workload: Workload,
    /// Seed of the run.
    pub seed: u64,
    /// What is known of the router model.
    pub model: &'static dyn NamedModel,
    /// In which order routers take packets of one time, if not by a hash.
    pub inputs: Option<Box<InputOrder>>,
    /// What changes while the run goes on, if anything does.
    pub changes: Option<Box<TimedChanges>>,
    /// How lost packets are sent again, if any is lost and they are.
    pub retransmit: Option<RetransmitSpec>,
}

impl Deref for Network {
    type Target = Plant;

    #[inline(always)]
    fn deref(&self) -> &Plant {
        &self.plant
    }
}

/// Refuses buffers that are shared out to so many virtual channels that none of them holds a packet.
fn check_shares(spec: &RunSpec, vcs: u32) -> Result<(), BuildError> {
    let router = &spec.router;
    let packet = router.named().unit(&spec.nic);
    for (key, buffer) in [
        ("router.buffer", router.buffer),
        ("router.output_buffer", router.output_buffer),
    ] {
        let share = router.share(buffer, vcs).filter(|_| router.shares_buffers);
        if let Some(share) = share.filter(|&share| share < packet) {
            let reason = format!(
                "{} B for each of {vcs} virtual channels hold no packet: nothing would ever move",
                share.0
            );
            let hint = "give a larger buffer or a smaller nic.packet";
            return Err(BuildError::field(key, reason, Some(hint)));
        }
    }
    Ok(())
}

/// Whether packets of one time are taken by the numbers of their links; a run beside another one takes them in an order of its own.
fn takes_by_links(spec: &RunSpec) -> Result<bool, BuildError> {
    let router = &spec.router;
    if router.ties == Ties::Links && !router.named().takes_by_links() {
        let reason = "this router takes packets of one time by a hash";
        let hint = "take model = \"sculpin\" or architecture = \"output-buffered\", or leave it away";
        return Err(BuildError::field("router.ties", reason, Some(hint)));
    }
    Ok(router.ties == Ties::Links && spec.control.perturbation.is_none())
}

impl InterfaceTerms {
    fn new(spec: &RunSpec, workload: &Workload, injection: &Class) -> InterfaceTerms {
        let model = spec.router.named();
        let flit = u64::from(model.flit(&spec.router));
        let around = injection.hop + injection.credit;
        let own = model.interface_room(&spec.router, &spec.nic, around, injection.ser(flit as u32));
        let buffer = own.map(Bytes).or(spec.nic.buffer).or(spec.router.buffer);
        let ranks_send_control = workload.ranks().is_some() && model.takes_control_first();
        InterfaceTerms {
            buffer: buffer.map_or(i32::MAX / 2, |bytes| (bytes.0.min(1 << 30) / flit * flit) as i32),
            message_overhead: model.message_overhead(&spec.nic),
            ahead: model.ahead(&spec.nic),
            packet_overhead: spec.nic.packet_overhead.0,
            gap: spec.nic.gap.0,
            idle_delay: spec.nic.idle_delay_per_byte.0,
            control_first: spec.nic.control != ControlOrder::InOrder && ranks_send_control,
            reads_only: spec.nic.control == ControlOrder::ReadsFirst,
            reads_behind: spec.nic.reads_behind,
            window_bytes: 0,
            ample: i32::MAX,
            ample_for: 0,
        }
    }
}

impl MessageTerms {
    fn new(spec: &RunSpec, topology: &Topology, routing: &Routing, workload: &Workload) -> MessageTerms {
        let model = spec.router.named();
        let one_way = match topology.spec() {
            TopologySpec::SingleRouter(_) => true,
            TopologySpec::Mesh(lattice) => lattice.width.iter().all(|&width| width == 1) && !topology.is_curtailed(),
            _ => false,
        };
        let bursts = workload.bursts() || routing.numbers_messages();
        let whole = model.tells_whole_messages(&spec.router);
        let keeps_records = workload.most_bytes() > model.unit(&spec.nic).0;
        MessageTerms {
            bucket_bits: workload.bucket_bits(),
            bursts,
            whole_is_all: !bursts && !workload.reacts() && whole,
            keeps_records,
            hands_over_at_once: workload.ranks().is_some() && model.delivers_at_arrival(),
            announces: keeps_records || !whole,
            has_only_notices: spec.router.completion != Completion::Cumulative,
            in_order: one_way && routing.is_minimal() && !model.reorders(),
            follows: spec.observe.messages == MessageDetail::Full || spec.observe.operations,
            follows_ranks: spec.observe.operations,
        }
    }
}

impl MessageTerms {
    /// The same on a network that may lose packets, and change their ways.
    fn in_changes(self, changes: &Option<Box<TimedChanges>>, nic: &NicSpec) -> MessageTerms {
        MessageTerms {
            whole_is_all: self.whole_is_all && changes.is_none(),
            in_order: self.in_order && changes.is_none(),
            has_only_notices: self.has_only_notices && changes.is_none(),
            // Sources hear of what is lost, wherever that is.
            announces: self.announces || changes.is_some() && nic.retransmit.is_some(),
            ..self
        }
    }
}

impl LeastTimes {
    fn new(spec: &RunSpec, topology: &Topology, links: &LinkTable) -> LeastTimes {
        let grouped = matches!(
            topology.spec().kind(),
            TopologyKind::Dragonfly | TopologyKind::DragonflyPlus
        );
        let shortest_detour = match grouped && spec.routing.leads_over_a_third_group() {
            true => 2,
            false => u32::MAX,
        };
        let hop = links.classes.iter().skip(1).map(|class| class.hop).min().unwrap_or(0);
        LeastTimes {
            ejection: links.ejection,
            head_delivery: spec.router.named().delivers_heads(&spec.router),
            hop,
            behind_the_link: spec.router.named().behind_the_link(&spec.router),
            longest_bound: links.injection.hop + u64::from(topology.diameter().min(shortest_detour)) * hop,
            shortest_detour,
        }
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
        let topology = spec.shape()?;
        let (router, model) = (&spec.router, spec.router.named());
        model.check(router, &spec.nic)?;
        let mut links = LinkTable::new(spec, &topology);
        let blocks = blocks(&topology)?;
        let least = LeastTimes::new(spec, &topology, &links);
        let laying = Laying::new(topology, blocks, std::mem::take(&mut links.classes))?;
        let topology = &laying.plant.topology;
        let workload = workload(spec, topology, links.injection.bandwidth())?;
        let demands = match spec.routing.asks_for_demands() {
            true => workload.job_demands(),
            false => Vec::new(),
        };
        let planned = Planned::new(spec, topology, &demands)?;
        let channels = planned.as_ref().map(|planned| planned.channels(spec, topology));
        let routers = channels
            .transpose()?
            .flatten()
            .map(|channels| with_channels(spec, channels));
        let routers = routers.as_ref().unwrap_or(router);
        let terms = RoutingTerms {
            router: routers,
            demands: &demands,
            ..spec.routing_terms()
        };
        let routing = Routing::new(&spec.routing, &terms, topology)?;
        let changes = planned.map(|planned| planned.ready(spec, routers, &laying.plant));
        let changes = changes.transpose()?.map(Box::new);
        let flit = u64::from(model.flit(router));
        let vcs = match model.channels() {
            RouterChannels::AsNeeded => routing.vcs().into(),
            RouterChannels::InClasses => routing.channels(router).into(),
            RouterChannels::One | RouterChannels::Names => 1,
        };
        model.check_size(router, laying.most_ports, vcs)?;
        check_shares(spec, vcs)?;
        let by_links = takes_by_links(spec)?;
        let inputs = by_links.then(|| Box::new(InputOrder::new(&laying.plant)));
        let messages = MessageTerms::new(spec, topology, &routing, &workload).in_changes(&changes, &spec.nic);
        let mut network = Network {
            interface: InterfaceTerms::new(spec, &workload, &links.injection),
            follows: Box::new(AtomicBool::new(messages.follows)),
            messages,
            least,
            words: laying.most_ports.div_ceil(64).max(1),
            few: (laying.plant.n_ports / laying.plant.n_routers().max(1) / LINES_OF_AN_EVENT) as usize,
            parts: RouterParts::new(laying.most_ports, &laying.plant),
            crossed: laying.crossed,
            plant: laying.plant,
            injection: links.injection,
            mixed_speeds: links.mixed_speeds || changes.as_ref().is_some_and(|changes| changes.impairs_links()),
            store_and_forward: model.waits_for_tails(router),
            looks_at_hops: model.waits_for_tails(router) || spec.observe.operations || changes.is_some() || by_links,
            vcs,
            buffer: router
                .share(router.buffer, vcs)
                .map_or(i64::MAX / 4, |bytes| (bytes.0 / flit * flit) as i64),
            first_come: router.arbitration == Arbitration::Fcfs,
            packet: spec.nic.packet.0 as u32,
            unit: model.unit(&spec.nic).0 as u32,
            span: Span::default(),
            lookahead: Time::ZERO,
            seed: spec.control.fine_seed(),
            routing: routing.asked_first(changes.is_some()),
            workload,
            model,
            retransmit: spec.nic.retransmit.filter(|_| changes.is_some()),
            inputs,
            changes,
        };
        network.lookahead = network.window(spec);
        network.check_retransmission()?;
        // A packet starts when its predecessor has left; the first and the last may lie half outside.
        let bits = u128::from(network.lookahead.0) * u128::from(network.injection.bandwidth().0);
        let bytes = bits / 8_000_000_000_000 + 2 * u128::from(network.packet);
        network.interface.window_bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
        let half = network.interface.buffer / 2;
        if let Ok(between @ 1..) = u64::try_from(i64::from(half) - 2 * i64::from(network.packet)) {
            network.interface.ample = half;
            network.interface.ample_for = network.injection.time_of(between).min(HORIZON.0);
        }
        Ok(network)
    }

    /// Refuses sources that hear of what is lost sooner than anything is heard.
    fn check_retransmission(&self) -> Result<(), BuildError> {
        let Some(retransmit) = self.retransmit.filter(|retransmit| retransmit.after < self.lookahead) else {
            return Ok(());
        };
        let reason = format!(
            "{} is less than anything takes from one router to another, {}",
            retransmit.after, self.lookahead
        );
        let hint = "take what a packet and its acknowledgement take, or more";
        Err(BuildError::field("nic.retransmit_after", reason, Some(hint)))
    }

    /// Decides whether the run can deadlock on these routers, over all changes if there are some.
    pub fn prove(&self, router: &RouterSpec) -> Proof {
        let over_changes = self.changes.as_ref().and_then(|changes| changes.proof());
        over_changes.map_or_else(|| self.routing.prove(router, &self.topology), Proof::clone)
    }

    /// Whether it is shown when messages set out.
    #[inline(always)]
    pub fn follows_messages(&self) -> bool {
        self.follows.load(Ordering::Relaxed)
    }

    /// From now on it is, or is only if the study wants it; for an engine that stands still. Nothing else depends on it.
    pub fn follow_messages(&self, all: bool) {
        self.follows.store(all || self.messages.follows, Ordering::Relaxed);
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
        window = window.min(
            self.model
                .node_credit(&spec.router, spec.links.of("host"))
                .unwrap_or(u64::MAX),
        );
        // What is told by the arrival itself may send to its own router at any time.
        if self.workload.reacts() && !self.model.delivers_at_arrival() {
            window = window.min(self.delivery_delay(least));
        }
        if let Some(beside) = self.workload.ranks().and_then(Plans::least_beside)
            && self.n_routers() > 1
        {
            // It is announced a moment before.
            window = window.min(beside.saturating_sub(1));
        }
        Time(window)
    }

    /// No event reaches a router of another owner sooner than this; `owner` is that of a place.
    pub fn lookahead_across(&self, owner: &dyn Fn(u32) -> usize) -> Time {
        if self.messages.announces {
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
        let (class, behind_the_link) = match class {
            0 => (&self.injection, 0),
            _ => (&self.classes[class], self.least.behind_the_link),
        };
        // A packet that is handed on with its tail comes that much later; what routers tell each other does not.
        let tail = match self.store_and_forward && self.routing.news().is_none() {
            true => class.ser(least),
            false => 0,
        };
        let mut delay = class.hop - behind_the_link + tail;
        if self.model.gives_credits() {
            let fastest = self.classes.iter().map(|class| class.ser(least)).min().unwrap_or(0);
            // The buffer is freed by the tail's start on any output, over which it may leave faster than it came.
            let leaves = match self.model.credit_leaves() {
                CreditLeaves::AtOnce => 0,
                CreditLeaves::WithTail => fastest,
            };
            delay = delay.min(class.credit + leaves);
        }
        delay
    }

    /// `true` if [`RouterModel::PLAIN`](crate::network::model::RouterModel::PLAIN) holds: one channel, minimal routing, cut-through, no look at hops, links of
    /// one speed, at most 64 ports per router, no way of [`MAX_HOPS`] links.
    pub fn is_plain(&self) -> bool {
        self.vcs == 1
            && self.words == 1
            && self.routing.is_minimal()
            && !self.looks_at_hops
            && !self.mixed_speeds
            && self.changes.is_none()
            && self.topology.diameter() < MAX_HOPS
    }

    /// `true` if the records of its ports and nodes are more than a second-level cache holds.
    pub fn is_large(&self) -> bool {
        self.caches() > 1
    }

    /// Second-level caches that the records of its ports and nodes fill.
    pub(crate) fn caches(&self) -> usize {
        let of_port = size_of::<Port>() + self.vcs as usize * size_of::<Channel>();
        let of_node = size_of::<Nic>() + size_of::<Source>() + size_of::<Ledger>();
        let records = self.n_ports as usize * of_port + self.n_nodes() as usize * of_node;
        records.div_ceil(SECOND_LEVEL_CACHE)
    }

    /// Fewer events than so many at a router do not touch most of its ports.
    pub(crate) fn few(&self) -> usize {
        self.few
    }

    /// The last packet of a message of so many bytes tells its size: it is the only one, or smaller than all others.
    pub(crate) fn last_tells_size(&self, bytes: u64) -> bool {
        bytes <= self.unit.into() || self.unit == self.packet && !bytes.is_multiple_of(self.packet.into())
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
        match self.store_and_forward {
            true => 0,
            false => self.time_on_link(site, packet).saturating_sub(serialisation),
        }
    }

    /// How long (ps) a packet was on the link by which it has come to a router.
    #[inline(always)]
    pub fn time_on_link(&self, site: &Site, packet: &Packet) -> u64 {
        let from = self.class_before(site, packet);
        match &self.changes {
            None => from.ser(packet.size()),
            // A cable is slow in both directions: the output port beside the input is as the one that the packet came from.
            Some(changes) => {
                let port = site.port + u32::from(packet.port());
                changes.ser(port, from, packet.size(), packet.time().0 - from.hop)
            }
        }
    }

    /// The class of the link by which a packet has come to a router: that of a cable, or of the nodes' injection.
    #[inline(always)]
    pub fn class_before(&self, site: &Site, packet: &Packet) -> &Class {
        match packet.port() < site.net {
            true => &self.classes[self.peers[(site.port + u32::from(packet.port())) as usize].class() as usize],
            false => &self.injection,
        }
    }

    /// From the start of a packet on the host link to its delivery (ps).
    #[inline(always)]
    pub fn delivery_delay(&self, size: u32) -> u64 {
        let host = &self.classes[0];
        self.least.ejection + if self.least.head_delivery { 0 } else { host.ser(size) }
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
        time < self.least.longest_bound && time < self.way_bound(source, router)
    }

    /// The least time (ps) from injection at node `source` until the head can leave router `router` on an idle network.
    #[inline(always)]
    pub fn way_bound(&self, source: u32, router: u32) -> u64 {
        let hops = self
            .topology
            .node_distance(source, router)
            .min(self.least.shortest_detour);
        self.injection.hop + u64::from(hops) * self.least.hop
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
        match site.ejection(packet) {
            Some(local) => Way::new(local, 0, 0),
            None => self.routing.next(&self.plant, site, packet),
        }
    }

    /// The same, also by a routing that [leads to the node](crate::routing::Routing::leads_to_the_node): not for every hop of a run.
    pub fn lead(&self, site: &Site, packet: &Packet) -> Way {
        match self.routing.leads_to_the_node() {
            true => self.routing.next(&self.plant, site, packet),
            false => self.route(site, packet),
        }
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
        place << self.messages.bucket_bits..(place + 1) << self.messages.bucket_bits
    }
}

/// The work of all nodes, which the router model must be up to; interfaces inject at `bandwidth`.
fn workload(spec: &RunSpec, topology: &Topology, bandwidth: BitsPerSec) -> Result<Workload, BuildError> {
    let workload = Workload::build(&spec.jobs, &spec.control.work_terms(), topology, bandwidth)?;
    let react = workload.ranks().is_some() || workload.memory().is_some();
    if react && !spec.router.named().tells_whole_messages(&spec.router) {
        let reason =
            "ranks and memory nodes need to know which message is complete, cumulative completion does not say";
        return Err(BuildError::field("router.completion", reason, Some("take \"whole\"")));
    }
    Ok(workload)
}
