//! The typed, complete description of one run. A result is a function of this value alone.

use crate::routing::RoutingSpec;
use des::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use study::choice;
use topo::TopologySpec;
use work::terms::WorkTerms;
use work::workload::spec::rails_of;

pub use study::{BitsPerSec, Bytes};
pub use work::mpi::spec::{Mapping, Motif, MotifValue, MpiSpec, Part, Ranks, Rendezvous, Start};
pub use work::workload::spec::{JobSpec, ListedMessage, Synthetic, Work};

/// One run: a point of the study's sweep with one seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSpec {
    /// Name of the study.
    pub study: String,
    /// Name of the experiment within the study; empty if the study has only one.
    pub experiment: String,
    /// The swept keys of this run and their values as written in the study, in sweep order.
    pub sweep: Vec<(String, String)>,
    /// The network's shape.
    pub topology: TopologySpec,
    /// Bandwidth and latency per link class.
    pub links: Links,
    /// The router model and its timing.
    pub router: RouterSpec,
    /// How packets find their way.
    pub routing: RoutingSpec,
    /// The network interface of every node.
    pub nic: NicSpec,
    /// The work: at least one job.
    pub jobs: Vec<JobSpec>,
    /// What is recorded beside the summary.
    pub observe: ObserveSpec,
    /// Seed, length and engine.
    pub control: RunControl,
}

/// Link parameters: a default and exceptions by class name (`host`, `local`, `global`, `x`, ...).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Links {
    /// For every class that has no entry of its own.
    pub default: LinkSpec,
    /// Exceptions; every key is one of the topology's classes.
    pub by_class: BTreeMap<String, LinkSpec>,
}

/// One link direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkSpec {
    /// Rate at which bytes leave the sender.
    pub bandwidth: BitsPerSec,
    /// Propagation delay.
    pub latency: Time,
}

/// Which router model runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RouterModel {
    /// Unbounded output queues, no credits.
    Sculpin,
    /// Input buffers per virtual channel with credits.
    Credit,
}

choice! {
    /// Inner structure of a `credit` router.
    pub enum Architecture {
        Voq = "voq", "Virtual output queues over the input buffers, ideal crossbar.";
        InputQueued = "input-queued", "Input queues per virtual channel, a clocked crossbar of limited bandwidth, output buffers.";
        LateAdmission = "late-admission", "Output queues that admit a packet when there is room, the upstream credit being withheld until then.";
    }
}

choice! {
    /// Order in which an output port serves its virtual channels.
    pub enum Arbitration {
        RoundRobin = "round-robin", "Round robin over the virtual channels that can send.";
        Fcfs = "fcfs", "First come, first served among the virtual channels that can send.";
    }
}

choice! {
    /// When a packet is handed on.
    pub enum Switching {
        CutThrough = "cut-through", "The head may leave before the tail has come.";
        StoreAndForward = "store-and-forward", "The whole packet must have come.";
    }
}

choice! {
    /// When a message counts as delivered.
    pub enum DeliveryPoint {
        Tail = "tail", "When the last byte reaches the node.";
        Head = "head", "When the head of the last packet reaches the node.";
    }
}

choice! {
    /// What must have come before a message counts as delivered.
    #[derive(Default)]
    pub enum Completion {
        #[default]
        Whole = "whole", "All of it.";
        Cumulative = "cumulative", "Its last chunk, and from its source as many bytes as the source's messages up to it have.";
    }
}

/// The router model with all of its parameters; presets are already expanded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RouterSpec {
    /// The model.
    pub model: RouterModel,
    /// Name of the preset that gave the values, if any.
    pub preset: Option<String>,
    /// Inner structure; `credit` only.
    pub architecture: Architecture,
    /// Time from a packet head's arrival at a router until it can leave on an idle output.
    pub traversal: Time,
    /// `true`: the traversal occupies the output link for each packet instead of being pipelined (CODES torus as shipped).
    pub traversal_occupies_link: bool,
    /// Virtual channels per port; `None` takes what the routing needs.
    pub vcs: Option<u8>,
    /// Input buffer per port and virtual channel; `None` is unbounded. For `late-admission` it bounds output queue plus the downstream share.
    pub buffer: Option<Bytes>,
    /// Output buffer per port and virtual channel; `input-queued` only.
    pub output_buffer: Option<Bytes>,
    /// Crossbar bandwidth per port; `input-queued` only.
    pub crossbar_bandwidth: Option<BitsPerSec>,
    /// Unit of buffer accounting and of the crossbar's clock; `input-queued` only.
    pub flit: Bytes,
    /// The part of `traversal` behind the crossbar, at most all of it; `input-queued` only.
    pub output_latency: Time,
    /// `true`: a credit passes the routers' latencies like a packet, besides the link; `input-queued` only.
    pub credits_traverse: bool,
    /// From the arrival of a packet's head at a node until its credit is sent; `input-queued` only.
    pub node_credit_delay: Time,
    /// From the wake-up of an idle output or interface to its next start; `None` is a flit's time on its link. `input-queued` only.
    pub wake_delay: Option<Time>,
    /// Service order of virtual channels at an output.
    pub arbitration: Arbitration,
    /// Cut-through or store-and-forward.
    pub switching: Switching,
    /// When a packet counts as delivered at its node.
    pub delivery: DeliveryPoint,
    /// Time a credit takes besides the link latency.
    pub credit_delay: Time,
    /// `true`: a credit returns over the link latency as well; `false`: only `credit_delay` counts.
    pub credit_uses_link: bool,
    /// `late-admission` only: packets that enter a ring need this many free packet slots (bubble rule), 0 switches the rule off.
    pub bubble: u8,
    /// `late-admission` only: time of each small step inside a router or an interface (CODES' local latency).
    pub local_latency: Time,
    /// `late-admission` only: what must have come before a message counts as delivered.
    #[serde(default)]
    pub completion: Completion,
    /// Allow a configuration whose channel dependency graph has a cycle.
    pub allow_deadlock: bool,
}

impl RouterSpec {
    /// `true` if what waits for a router has to have room there.
    pub fn has_bounded_buffers(&self) -> bool {
        self.model == RouterModel::Credit && self.buffer.is_some()
    }

    /// `true` if routers have a clocked crossbar between input queues and output buffers.
    pub fn is_input_queued(&self) -> bool {
        self.model == RouterModel::Credit && self.architecture == Architecture::InputQueued
    }

    /// The parts of the traversal before and behind the crossbar: all of it lies before it where there is none.
    pub fn latencies(&self) -> (Time, Time) {
        let behind = if self.is_input_queued() {
            self.output_latency.min(self.traversal)
        } else {
            Time::ZERO
        };
        (self.traversal.saturating_sub(behind), behind)
    }
}

/// The network interface of every node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NicSpec {
    /// Largest packet payload, 1 to 65,536 bytes; messages are cut into packets of this size.
    pub packet: Bytes,
    /// Part of a packet that travels by itself, at most a packet; `None` is the whole packet. `late-admission` only.
    pub chunk: Option<Bytes>,
    /// Time that a message occupies the interface before its first packet.
    pub message_overhead: Time,
    /// Time that each packet occupies the interface before it is injected.
    pub packet_overhead: Time,
    /// Extra time per byte of packet, charged when the interface was idle (CODES torus `cn_delay`), in ps per byte.
    pub idle_delay_per_byte: Time,
    /// Injection rate; `None` takes the host link's bandwidth.
    pub bandwidth: Option<BitsPerSec>,
    /// Buffer of the router's host port in bytes; `None` takes the router's buffer.
    pub buffer: Option<Bytes>,
    /// When control messages of ranks leave; those of late-admission routers' interfaces leave in order.
    #[serde(default, skip_serializing_if = "ControlOrder::is_in_order")]
    pub control: ControlOrder,
}

choice! {
    /// When an interface sends the messages that ask for a rendezvous, give leave and say that it is over.
    #[derive(Default)]
    pub enum ControlOrder {
        First = "first", "Before data that waits at the interface, between packets.";
        #[default]
        InOrder = "in-order", "Behind all that was handed to the interface before them.";
    }
}

impl ControlOrder {
    fn is_in_order(&self) -> bool {
        *self == ControlOrder::InOrder
    }
}

/// What is recorded beside the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObserveSpec {
    /// Per-link loads.
    pub links: bool,
    /// How much of every message is kept.
    pub messages: MessageDetail,
    /// Timeline of accepted load and latency.
    pub timeline: bool,
    /// A row per MPI rank; left out of the canonical text where it is off, as in runs without ranks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ranks: bool,
}

/// How much of every message is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MessageDetail {
    /// Only sums and the latency histogram.
    Summary,
    /// A row per message.
    Full,
}

/// Seed, length and engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunControl {
    /// Seed of every random draw.
    pub seed: u64,
    /// Sources stop here; `None`: run until the work is done (only without endless sources).
    pub end: Option<Time>,
    /// Messages born before this time do not count; `None`: found by measurement (open loop) or zero.
    pub warmup: Option<Time>,
    /// After `end`, measured messages may take this much longer to arrive; `None` is as long again as `end`, or
    /// not at all if the network has kept up with none of its jobs and their sources would go on.
    pub drain: Option<Time>,
    /// Sources without end go on through the drain; a canonical study leaves it out where they do not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub drain_sources: bool,
    /// Which engine executes the run; never changes the result.
    pub engine: Engine,
    /// Worker threads, 0 for as many as the caller has to give; never changes the result.
    pub workers: u16,
    /// How several workers share out the routers; never changes the result.
    #[serde(default, skip_serializing_if = "PartitionSpec::is_auto")]
    pub partition: PartitionSpec,
    /// Progress-free time in simulated time after which packets in flight count as stalled.
    pub stall_after: Time,
    /// How the run differs from the one that it stands beside, in what no machine keeps up; `None`: it is that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub perturbation: Option<Perturbation>,
}

impl RunSpec {
    /// The same, perturbed; of it counts what it takes, so that nothing more is recorded.
    #[must_use]
    pub(crate) fn beside(&self, perturbation: Perturbation) -> RunSpec {
        let mut run = self.clone();
        run.control.perturbation = Some(perturbation);
        run.observe = ObserveSpec {
            links: false,
            messages: MessageDetail::Summary,
            timeline: false,
            ranks: false,
        };
        run
    }
}

impl RunSpec {
    /// Rails of a host: those of the first job of ranks or interfaces of a memory node, 1 without any.
    pub fn rails(&self) -> u32 {
        rails_of(&self.jobs)
    }
}

impl RunControl {
    /// What the work depends on: endless sources go on through the drain unless they are not to.
    pub fn work_terms(&self) -> WorkTerms {
        WorkTerms {
            seed: self.seed,
            fine_seed: self.fine_seed(),
            perturbed: self.perturbation.map(|perturbation| perturbation.spread),
            stop: match (self.end, self.drain_sources) {
                (None, _) => u64::MAX,
                (Some(end), false) => end.0,
                (Some(end), true) => end.0.saturating_add(self.drain.unwrap_or(end).0),
            },
        }
    }

    /// The seed of what no machine keeps up: ties, starts, orders of neighbours, and draws of routings. Traffic, matchings and
    /// placements are drawn from `seed`.
    pub fn fine_seed(&self) -> u64 {
        let number = |perturbation: Perturbation| des::mix(u64::from(perturbation.number) << 32 ^ 0x5065_7274);
        self.seed ^ self.perturbation.map_or(0, number)
    }
}

/// A run beside another one: other ties, ranks and nodes that do not start in phase, neighbours in orders of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Perturbation {
    /// Which of them, from 1.
    pub number: u32,
    /// Starts differ by up to this.
    pub spread: Time,
}

choice! {
    /// What sources without end do while measured messages are awaited.
    pub enum DrainSources {
        On = "on", "They go on, unmeasured.";
        Off = "off", "They stop at `end`.";
    }
}

/// How the workers of a run share out the routers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartitionSpec {
    /// What suits the network.
    #[default]
    Auto,
    /// By the order of the network's family.
    Blocks,
    /// By METIS.
    Metis,
    /// A part for every router, as the user's file says.
    Map(Arc<[u32]>),
}

impl PartitionSpec {
    /// Whether it is what holds when nothing is said.
    pub fn is_auto(&self) -> bool {
        *self == Self::Auto
    }

    /// The same for [`topo::Partition::new`].
    pub fn method(&self) -> topo::Method {
        match self {
            Self::Auto => topo::Method::Auto,
            Self::Blocks => topo::Method::Blocks,
            Self::Metis => topo::Method::Metis,
            Self::Map(parts) => topo::Method::Map(parts.to_vec()),
        }
    }
}

/// Which engine executes a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// Picked from size, lookahead and cores.
    Auto,
    /// The window engine on one worker.
    Sequential,
    /// The window engine on several workers, which meet after every window.
    Conservative,
    /// Workers that run windows ahead of the safe one and go back where that was wrong.
    Optimistic,
    /// The plain binary-heap engine, written to be read.
    Reference,
    /// The window engine, every window run forward, back and forward again.
    RollbackCheck,
}
