//! What a run will take before it is run: packets and packet-hops, memory, time on one core.
//!
//! Work is counted in packet-hops. Memory follows from the sizes of the records and from how many packets are on their way (Little's
//! law) or wait; time from fixed costs of packet-hops and messages of ranks, which campaigns correct by what they measure. Predictions decide how many runs are
//! started at once and nothing else; they are functions of the run, the same on every machine.
//!
//! **Limits**: offered, not accepted load counts, so a saturated run does less work than predicted; open-loop traffic is taken to go
//! minimal ways, and how many packets of ranks make detours is a guess; speculation (`engine = "optimistic"`) and several workers take more memory.

mod memory;

use crate::harvest::MOST_WINDOWS;
use des::Time;
use fabric::models;
use fabric::packet::Packet;
use fabric::routing::{Detours, Routing};
use fabric::spec::{
    BitsPerSec, HopCost, JobSpec, LinkSpec, ListedMessage, MessageDetail, PairMode, RouterChannels, RoutingSpec,
    RunSpec, Synthetic, Work,
};
use fabric::state::{Link, Nic};
use serde::Serialize;
use std::mem::size_of;
use topo::Topology;
use work::build_error::BuildError;
use work::traffic::Traffic;
use work::workload::{Ledger, Source, Workload};

/// A worker with the interpreter and Arrow before it runs anything: measured, Python 3.11 on x86-64.
const PROCESS_BYTES: f64 = 60e6;
/// Peers, places and digests: bytes per port, per node and per router beside the state. Arrays that are filled one by one may hold up to twice
/// what is in them.
const PORT_TABLES: f64 = 8.0 + 8.0 / 64.0;
/// Bytes per network port of a wiring that is kept.
const WIRING: f64 = 7.0;
const NODE_TABLES: f64 = 2.0 * (8.0 + 4.0 + 20.0);
const ROUTER_TABLES: f64 = 2.0 * (12.0 + 8.0 + 8.0 + 16.0);
/// Bytes per pending event: its place in a buffer of its window, of which the last one is partly empty, and of one block in eight the
/// ordered copy with its slot.
const PENDING: f64 = 1.5 * size_of::<Packet>() as f64;
/// Bytes per waiting packet, in a pool that grows by doubling.
const WAITING: f64 = 1.5 * (size_of::<Packet>() + size_of::<Link>()) as f64;
/// Bytes per message that is kept, with its row in the result's columns.
const KEPT: f64 = (48.0 + 40.0) * 1.5 + 2.0 * 72.0;
/// Bytes per output port whose load is kept.
const LOAD: f64 = 2.0 * 40.0;
/// Of a window of a link: as it is kept, as it is told, and as the columns of its table.
const WINDOW: f64 = 16.0 + 24.0 + 40.0 + 36.0;
/// Seconds that any run takes, and seconds per output port for building and reaping.
const START_S: f64 = 0.2;
const PORT_S: f64 = 2e-6;

/// Runs of ranks: seconds that looking at queues adds to a packet-hop, and that a message takes; what times grow by with every
/// doubling of the records beyond those that a core has at hand.
const LOOK_S: f64 = 0.07e-6;
const MESSAGE_S: f64 = 0.8e-6;
const MISS: f64 = 0.15;
const CACHE_BYTES: f64 = 256.0 * 1024.0;

/// What a run will take.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// Nodes of the network.
    pub nodes: u64,
    /// Routers of the network.
    pub routers: u64,
    /// Most memory of the process that runs it, on one worker.
    pub memory_bytes: u64,
    /// Packets that will be sent; `None` where that cannot be known before.
    pub packets: Option<u64>,
    /// Packets times links they take, ejection included: the unit of work.
    pub packet_hops: Option<u64>,
    /// Time on one core, by a fixed cost per packet-hop (a server core of the 2020s).
    pub seconds: Option<f64>,
    /// The part of it that does not grow with the work.
    pub build_seconds: f64,
    /// What it takes where iterations repeat as soon as they can, and are counted or estimated (`run.fast_forward`); `None` where all are run.
    pub seconds_at_least: Option<f64>,
}

/// What predictions need to know of a network and of where messages go; the same for all loads, lengths and seeds.
#[derive(Clone, Debug)]
pub struct NetworkFacts {
    nodes: f64,
    routers: f64,
    /// Network ports by link class.
    ports: Vec<(String, f64)>,
    vcs: f64,
    /// Bytes of distance and forwarding tables.
    tables: f64,
    /// By job.
    traffic: Vec<Traffic>,
    /// Bytes of rank records.
    ranks: f64,
}

impl NetworkFacts {
    /// Builds the topology and places the jobs of a run.
    pub fn new(run: &RunSpec) -> Result<NetworkFacts, BuildError> {
        let topology = run.shape()?;
        let keeps_wiring = topology.has_cables();
        let classes = 0..topology.class_names().len();
        let mut ports: Vec<(String, f64)> = classes
            .map(|class| (topology.rate_of_class(class).0.to_owned(), 0.0))
            .collect();
        for router in 0..topology.n_routers() {
            topology.see_cables(router, |_, _, class| ports[usize::from(class)].1 += 1.0);
        }
        let vcs = match run.router.named().channels() {
            RouterChannels::Names => 1,
            RouterChannels::One | RouterChannels::AsNeeded | RouterChannels::InClasses => {
                Routing::vcs_of(&run.routing, &run.routing_terms(), &topology)?
            }
        };
        let tables = match run.topology.is_graph() {
            true => 3.0 * f64::from(topology.n_routers()).powi(2),
            false => 0.0,
        };
        let wiring = match keeps_wiring {
            true => WIRING * ports.iter().map(|(_, ports)| ports).sum::<f64>(),
            false => 0.0,
        };
        let tables = tables + wiring + fabric::routing::table_bytes(&run.routing, &topology);
        let named = named(run);
        let workload = Workload::build(&named.jobs, &named.control.work_terms(), &topology, BitsPerSec(1))?;
        let hops = |from, to, packets| hops(&run.routing, &topology, (from, to), packets);
        Ok(NetworkFacts {
            nodes: f64::from(topology.n_nodes()),
            routers: f64::from(topology.n_routers()),
            ports,
            vcs: f64::from(vcs),
            tables,
            traffic: workload.traffic(run.nic.packet.0.max(1), &hops),
            ranks: workload.ranks().map_or(0.0, |plans| {
                f64::from(topology.n_nodes() / plans.rails) * plans.bytes_per_host()
            }),
        })
    }

    /// What [`NetworkFacts::new`] depends on, as a text to find it by.
    pub fn name(run: &RunSpec) -> String {
        let run = named(run);
        let parts = (
            &run.topology,
            &run.routing,
            &run.jobs,
            &run.router.model,
            &run.router.vcs,
        );
        let packet = run
            .jobs
            .iter()
            .any(|job| matches!(job.work, Work::Ranks(_)))
            .then_some(run.nic.packet);
        serde_json::to_string(&(parts, &run.router.architecture, packet)).unwrap_or_default()
    }

    /// What a run on this network will take.
    pub fn predict(&self, run: &RunSpec) -> Prediction {
        let class = |name: &str| *run.links.by_class.get(name).unwrap_or(&run.links.default);
        let host = class("host");
        let hop = self.hop(run, &class);
        let jobs: Vec<Option<Sent>> = run
            .jobs
            .iter()
            .zip(&self.traffic)
            .map(|(job, traffic)| sent(job, traffic, (host, hop), run, self.nodes))
            .collect();
        let all: Option<Sent> = jobs
            .iter()
            .copied()
            .try_fold(Sent::default(), |sum, job| Some(sum.and(job?)));
        let net_ports: f64 = self.ports.iter().map(|(_, n)| n).sum();
        let ports = net_ports + self.nodes;
        let standing = self.standing(run, ports);
        let memory = PROCESS_BYTES
            + standing
            + self.moving(run, all, &class, net_ports, ports)
            + if run.observe.messages == MessageDetail::Full {
                KEPT * all.map_or(0.0, |all| all.rows)
            } else {
                0.0
            }
            + if run.observe.links { LOAD * ports } else { 0.0 }
            + windows(run) * WINDOW * ports;
        let rounded = |value: f64| value.round() as u64;
        let build_seconds = START_S + PORT_S * ports;
        Prediction {
            nodes: rounded(self.nodes),
            routers: rounded(self.routers),
            memory_bytes: rounded(memory),
            packets: all.map(|all| rounded(all.packets)),
            packet_hops: all.map(|all| rounded(all.packet_hops)),
            seconds: all.map(|all| build_seconds + seconds(run, &all, standing)),
            build_seconds,
            seconds_at_least: all
                .filter(|all| all.repeated > 0.0 && run.may_leave_periods_out())
                .map(|all| build_seconds + seconds(run, &all.once(), standing)),
        }
    }

    /// What a hop takes at least (ps), the mean of all links between routers.
    fn hop(&self, run: &RunSpec, class: &dyn Fn(&str) -> LinkSpec) -> f64 {
        let ports: f64 = self.ports.iter().map(|(_, n)| n).sum();
        let latency = self.ports.iter().map(|(name, n)| n * class(name).latency.0 as f64);
        latency.sum::<f64>() / ports.max(1.0) + run.router.traversal.0 as f64
    }

    /// Bytes of the network when nothing moves.
    fn standing(&self, run: &RunSpec, ports: f64) -> f64 {
        let records = models::records(&run.router);
        let per_port = records.per_port as f64 + self.vcs * records.per_channel as f64;
        let per_router = records.per_router as f64;
        let per_node = (size_of::<Nic>() + size_of::<Source>() + size_of::<Ledger>() + 12) as f64;
        ports * (per_port + PORT_TABLES)
            + self.nodes * (per_node + NODE_TABLES)
            + self.routers * (per_router + ROUTER_TABLES)
            + self.tables
            + self.ranks
            + memory::bytes(run, self.nodes)
    }

    /// Bytes of packets on their way, of their credits, and of packets that wait.
    fn moving(
        &self,
        run: &RunSpec,
        all: Option<Sent>,
        class: &dyn Fn(&str) -> LinkSpec,
        net_ports: f64,
        ports: f64,
    ) -> f64 {
        let credit = run.router.named().gives_credits();
        let packet = unit(run);
        let on_link = |link: LinkSpec| 8e12 * packet / link.bandwidth.0.max(1) as f64;
        let mean = |of: &dyn Fn(LinkSpec) -> f64| {
            let over_net: f64 = self.ports.iter().map(|(name, n)| n * of(class(name))).sum();
            (over_net + self.nodes * of(class("host"))) / ports
        };
        let (serial, latency) = (mean(&on_link), mean(&|link| link.latency.0 as f64));
        let way = serial + latency + run.router.traversal.0 as f64;
        // Every link holds what it can carry, where more is not known.
        let full = ports * way / serial.max(1.0);
        let end = run.control.end.map_or(f64::INFINITY, |end| end.0 as f64);
        let span = all.map_or(end, |all| end.max(all.over));
        let known = all.filter(|all| !all.at_once && span.is_finite());
        let units = |all: Sent| all.packet_hops * (all.bytes / all.packets.max(1.0) / packet).max(1.0);
        let load = known.map_or(1.0, |all| units(all) / span * serial / (net_ports + self.nodes));
        let most = all.map_or(f64::INFINITY, |all| {
            all.most * (all.bytes / all.packets.max(1.0) / packet).max(1.0)
        });
        let flying = known.map_or(full, |all| units(all) / span * way).min(full).min(most);
        // M/D/1 at the mean load until links are full; then what does not get through waits, as far as there is room for it.
        let queued = match load {
            load if load < 0.95 => ports * load * load / (2.0 * (1.0 - load)),
            load => most * (1.0 - 0.5 / load),
        };
        let room = match run.router.buffer.filter(|_| credit) {
            Some(buffer) => {
                let channels = if run.router.shares_buffers { 1.0 } else { self.vcs };
                net_ports * channels * buffer.0 as f64 / packet + self.nodes
            }
            None => f64::INFINITY,
        };
        let queued = queued.min(room).min(most);
        let per_flight = if credit { 2.0 * PENDING } else { PENDING };
        flying * per_flight
            + if queued.is_finite() {
                queued * WAITING
            } else {
                full * WAITING
            }
    }
}

/// The run with what [`NetworkFacts`] do not depend on set to fixed values: loads, lengths, sizes, and the seed unless it says who the few are
/// that talk to each other.
fn named(run: &RunSpec) -> RunSpec {
    let mut run = run.clone();
    if !run.jobs.iter().any(|job| matches!(job.work, Work::Pairs(_))) {
        run.control.seed = 0;
    }
    run.control.end = None;
    run.control.perturbation = None;
    for job in &mut run.jobs {
        if let Work::Synthetic(work) = &mut job.work {
            (work.load, work.count) = (Some(1.0), None);
            work.message.0 = 1;
        }
    }
    run
}

/// Windows in which loads of links are kept: of a run that has no end of its own the most there may be.
fn windows(run: &RunSpec) -> f64 {
    let most = MOST_WINDOWS as f64;
    run.observe.links_every.map_or(0.0, |every| {
        let spans = run
            .control
            .end
            .map_or(most, |end| (end.0 as f64 / every.0 as f64).ceil());
        spans.clamp(1.0, most)
    })
}

/// What a packet moves as.
fn unit(run: &RunSpec) -> f64 {
    run.router.named().unit(&run.nic).0.max(1) as f64
}

/// Links of a way, ejection included. Valiant's leads over a router of some node, all others are minimal, but for those of routings
/// that leave them when queues are long: behind the first packet of a message there is a queue, and half of the packets that see
/// one go a way of Valiant's.
fn hops(routing: &RoutingSpec, topology: &Topology, (from, to): (u32, u32), packets: u64) -> f64 {
    let target = topology.router_of(to);
    let direct = f64::from(topology.node_distance(from, target));
    let detours = match routing.detours() {
        Detours::Always => 1.0,
        Detours::WhereQueuesAreLong => 0.5 * (1.0 - 1.0 / packets.max(1) as f64),
        Detours::Never => 0.0,
    };
    if detours == 0.0 || topology.router_of(from) == target {
        return direct + 1.0;
    }
    let key = des::mix(u64::from(from) << 32 | u64::from(to));
    let over = topology.router_of(des::rng::below(key, u64::from(topology.n_nodes())) as u32);
    if !topology.are_joined(target, over) {
        return direct + 1.0;
    }
    let around = f64::from(topology.node_distance(from, over) + topology.distance(over, target));
    direct + detours * (around - direct).max(0.0) + 1.0
}

/// What the nodes of a job send.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sent {
    messages: f64,
    packets: f64,
    packet_hops: f64,
    /// Most packets that may be under way at one time.
    most: f64,
    bytes: f64,
    /// Messages of ranks, those inside nodes among them.
    by_ranks: f64,
    /// Everything is there at the start, or comes as fast as it gets through.
    at_once: bool,
    /// When the last of its hops is made (ps); 0 for the end of the run.
    over: f64,
    /// Messages that a row is kept of where all are: those born before the end.
    rows: f64,
    /// The part of the work that is of iterations that may repeat.
    repeated: f64,
}

impl Sent {
    /// Both.
    fn and(self, other: Sent) -> Sent {
        Sent {
            messages: self.messages + other.messages,
            packets: self.packets + other.packets,
            packet_hops: self.packet_hops + other.packet_hops,
            most: self.most + other.most,
            bytes: self.bytes + other.bytes,
            by_ranks: self.by_ranks + other.by_ranks,
            at_once: self.at_once || other.at_once,
            over: self.over.max(other.over),
            rows: self.rows + other.rows,
            repeated: (self.repeated * self.messages + other.repeated * other.messages)
                / (self.messages + other.messages).max(1.0),
        }
    }

    /// What is left of the work where all is left out that may repeat.
    fn once(self) -> Sent {
        Sent {
            packet_hops: self.packet_hops * (1.0 - self.repeated),
            by_ranks: self.by_ranks * (1.0 - self.repeated),
            ..self
        }
    }

    /// What of it is sent until the run ends, if all takes `whole` (ps).
    fn until(self, end: Option<Time>, whole: f64) -> Sent {
        let share = end.map_or(1.0, |end| (end.0 as f64 / whole.max(1.0)).min(1.0));
        Sent {
            messages: self.messages * share,
            packets: self.packets * share,
            packet_hops: self.packet_hops * share,
            most: self.most.min(self.packets * share),
            bytes: self.bytes * share,
            by_ranks: self.by_ranks * share,
            rows: self.rows * share,
            repeated: (1.0 - (1.0 - self.repeated) / share.max(f64::MIN_POSITIVE)).max(0.0),
            ..self
        }
    }
}

/// What a job sends in all on a network of `nodes`; `None` where that cannot be known before. Every kind of work has its arm here.
fn sent(job: &JobSpec, traffic: &Traffic, (host, hop): (LinkSpec, f64), run: &RunSpec, nodes: f64) -> Option<Sent> {
    let injection = run.nic.bandwidth.unwrap_or(host.bandwidth).0.max(1) as f64;
    let on_wire = |bytes: f64| 8e12 * bytes / injection;
    let packets_of = |bytes: u64| bytes.div_ceil(run.nic.packet.0.max(1)).max(1) as f64;
    let (senders, hops) = (traffic.messages, traffic.packet_hops / traffic.packets.max(1.0));
    let of = |messages: f64, bytes: u64, at_once: bool| Sent {
        messages,
        packets: messages * packets_of(bytes),
        packet_hops: messages * packets_of(bytes) * hops,
        most: messages * packets_of(bytes),
        bytes: messages * bytes as f64,
        by_ranks: 0.0,
        at_once,
        over: 0.0,
        rows: messages,
        repeated: 0.0,
    };
    match &job.work {
        Work::Synthetic(work) => {
            let bytes = work.mean_message();
            let gap = work.load.map(|load| on_wire(bytes) / load);
            let (Some(gap), Some(end)) = (gap, run.control.end) else {
                return work
                    .count
                    .map(|count| of(count as f64 * senders, work.message.0, gap.is_none()));
            };
            let end = end.0 as f64;
            let (over, until) = steady_times(work, run, (end, gap, hops * hop));
            let all = of(until / gap * senders, work.message.0, false);
            Some(Sent {
                packet_hops: all.packets * hops_until(over, hops, hop, until.min(over)),
                over,
                rows: all.messages * (end / until.max(1.0)).min(1.0),
                ..all
            })
        }
        Work::Pairs(work) => {
            let acks = match work.mode {
                PairMode::Stream => 0,
                PairMode::PingPong => work.messages,
                PairMode::Batch { batch } => work.messages.div_ceil(u64::from(batch.max(1))),
            };
            let data = of(senders * work.messages as f64, work.message.0, true);
            let acks = of(senders * acks as f64, work.ack.0, true);
            Some(data.and(acks))
        }
        Work::Ranks(_) if traffic.is_open => None,
        Work::Ranks(_) => {
            let nodes = job.nodes.map_or(nodes, f64::from);
            // Ranks work, and their interfaces send, one after the other: most programs wait for their messages.
            let whole = traffic.busy + on_wire(traffic.bytes) / nodes;
            let all = Sent {
                messages: traffic.messages,
                packets: traffic.packets,
                packet_hops: traffic.packet_hops,
                most: traffic.at_once,
                bytes: traffic.bytes,
                by_ranks: traffic.messages + traffic.local,
                at_once: true,
                over: 0.0,
                rows: traffic.messages,
                repeated: traffic.repeated,
            };
            Some(all.until(run.control.end, whole))
        }
        Work::Memory(work) => {
            let nodes = job.nodes.map_or_else(|| memory::nodes(work, nodes), f64::from);
            // A request, a line, and telling the home when it leaves, which it answers.
            let accesses = memory::accesses(work, nodes);
            let (bytes, of_interface) = memory::bytes_per_access(work);
            let mut sent = of(4.0 * accesses, work.header.0 + work.line.0, true);
            (sent.by_ranks, sent.bytes) = (sent.messages, accesses * bytes);
            let way = hops * (host.latency.0 + run.router.traversal.0) as f64;
            let whole = memory::least_time(work, nodes, way).max(on_wire(accesses * of_interface) / nodes);
            Some(sent.until(run.control.end, whole))
        }
        Work::Messages(list) => {
            let before = |message: &&ListedMessage| run.control.end.is_none_or(|end| message.time < end);
            let (mut messages, mut packets, mut bytes) = (0.0, 0.0, 0.0);
            for message in list.iter().filter(before) {
                messages += 1.0;
                packets += packets_of(message.bytes.0);
                bytes += message.bytes.0 as f64;
            }
            Some(Sent {
                messages,
                packets,
                packet_hops: packets * hops,
                most: packets,
                bytes,
                by_ranks: 0.0,
                at_once: false,
                over: 0.0,
                rows: messages,
                repeated: 0.0,
            })
        }
        Work::Idle => Some(of(0.0, 1, false)),
    }
}

/// When a run with this end is over, and until when its steady sources send, one message a `gap`, where ways take so long; all in ps.
fn steady_times(work: &Synthetic, run: &RunSpec, (end, gap, way): (f64, f64, f64)) -> (f64, f64) {
    // What is under way arrives in the drain, in steps of a sixteenth of it.
    let drain = run.control.drain.map_or(end, |drain| drain.0 as f64);
    let over = end + way.max(drain / 16.0).min(drain);
    let until = match work.count {
        None if run.control.drain_sources => over,
        None => end,
        Some(count) => end.min(count as f64 * gap),
    };
    (over, until)
}

/// Hops that a packet has made on an average when a run is over (ps): it has so many before it, each takes `hop` (ps) at least, and packets are
/// born all the time until `born` (ps), no later.
fn hops_until(over: f64, hops: f64, hop: f64, born: f64) -> f64 {
    let way = hops * hop;
    // Of all packets that have had up to this time.
    let with = |time: f64| match time <= way {
        true => time * time / (2.0 * hop.max(1.0)),
        false => hops * (time - way / 2.0),
    };
    if born <= 0.0 {
        return hops;
    }
    (with(over) - with(over - born)) / born
}

/// Seconds on one core without the building of the network; `standing` is the network's memory when nothing moves.
///
/// Open-loop traffic: what the benchmark cases of 32,768 nodes take per packet-hop (docs/how-to/performance.md), rounded up. Ranks:
/// measured (docs/how-to/campaigns-on-a-cluster.md): a packet-hop, what a routing that looks at queues adds to it, and a message
/// with its operations, notices and matching; all the more, the less of the records is in the cache of a core.
fn seconds(run: &RunSpec, all: &Sent, standing: f64) -> f64 {
    let HopCost { alone, with_ranks } = run.router.named().cost();
    if all.by_ranks == 0.0 {
        return alone * all.packet_hops;
    }
    let looks = match run.routing.detours() {
        Detours::WhereQueuesAreLong => LOOK_S,
        Detours::Always | Detours::Never => 0.0,
    };
    let missing = 1.0 + MISS * (standing / CACHE_BYTES).log2().max(0.0);
    missing * ((with_ranks + looks) * all.packet_hops + MESSAGE_S * all.by_ranks)
}
