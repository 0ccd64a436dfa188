//! What a study says of the equipment of a network: links, routers, interfaces.

use des::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use study::{BitsPerSec, Bytes, choice};

mod named_model;
mod pipeline;

pub use named_model::{Architecture, CreditLeaves, HopCost, LinkDelays, NamedModel, RouterChannels, RouterKind};
pub use pipeline::{Allocator, Crossing, Matcher, OutputsSpec, PipelineSpec, RequestRule};

/// Link parameters: a default and exceptions by class name (`host`, `local`, `global`, `x`, ...).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Links {
    /// For every class that has no entry of its own.
    pub default: LinkSpec,
    /// Exceptions; every key is one of the topology's classes.
    pub by_class: BTreeMap<String, LinkSpec>,
}

impl Links {
    /// A link of this class.
    pub fn of(&self, class: &str) -> &LinkSpec {
        self.by_class.get(class).unwrap_or(&self.default)
    }
}

/// One link direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkSpec {
    /// Rate at which bytes leave the sender.
    pub bandwidth: BitsPerSec,
    /// Propagation delay.
    pub latency: Time,
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

choice! {
    /// Which of the packets that come to a router at one time is taken first.
    #[derive(Default)]
    pub enum Ties {
        #[default]
        Hash = "hash", "By a hash of the run's seed, the packet and its port: no link is favoured.";
        Links = "links", "By the number of the link, as in SST/macro: links are numbered by the router that sends, those with nodes before all others, and by its port; those of nodes come behind them.";
    }
}

impl Ties {
    fn is_hash(&self) -> bool {
        *self == Ties::Hash
    }
}

/// The router model with all of its parameters; presets are already expanded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RouterSpec {
    /// The model.
    pub model: RouterKind,
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
    /// Input buffer per port and virtual channel; `None` is unbounded. With late admission it bounds output queue plus the downstream share.
    pub buffer: Option<Bytes>,
    /// Output buffer per port and virtual channel; `input-queued` and `output-buffered` only.
    pub output_buffer: Option<Bytes>,
    /// `true`: `buffer` and `output_buffer` are those of a port, shared out evenly to its virtual channels; `output-buffered` only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shares_buffers: bool,
    /// Crossbar bandwidth per port; `input-queued` only.
    pub crossbar_bandwidth: Option<BitsPerSec>,
    /// Unit of buffer accounting and of the crossbar's clock; `input-queued` and `vc-router` only.
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
    /// Which of the packets that come at one time is taken first; `sculpin` and `output-buffered` only for all but the hash.
    #[serde(default, skip_serializing_if = "Ties::is_hash")]
    pub ties: Ties,
    /// Time a credit takes besides the link latency.
    pub credit_delay: Time,
    /// `true`: a credit returns over the link latency as well; `false`: only `credit_delay` counts.
    pub credit_uses_link: bool,
    /// `voq`, `late-admission`, and `vc-router` with buffers per output channel: packets that enter a ring need this many free packet slots (bubble rule), 0 switches the rule off.
    pub bubble: u8,
    /// `late-admission` only: time of each small step inside a router or an interface (CODES' local latency).
    pub local_latency: Time,
    /// `late-admission` only: what must have come before a message counts as delivered.
    #[serde(default)]
    pub completion: Completion,
    /// `vc-router` only: its clock, stages and allocators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<PipelineSpec>,
    /// Allow a configuration whose channel dependency graph has a cycle.
    pub allow_deadlock: bool,
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
    /// Time that the interface stays idle behind each message.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub gap: Time,
    /// Extra time per byte of packet, charged when the interface was idle (CODES torus `cn_delay`), in ps per byte.
    pub idle_delay_per_byte: Time,
    /// Injection rate; `None` takes the host link's bandwidth.
    pub bandwidth: Option<BitsPerSec>,
    /// Buffer of the router's host port in bytes; `None` takes the router's buffer.
    pub buffer: Option<Bytes>,
    /// When control messages of ranks leave; those of late-admission routers' interfaces leave in order.
    #[serde(default, skip_serializing_if = "ControlOrder::is_in_order")]
    pub control: ControlOrder,
    /// Packets that those messages let pass which only read, of what waits at the interface.
    #[serde(default, skip_serializing_if = "is_none")]
    pub reads_behind: u32,
    /// How lost packets are sent again, if they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmit: Option<RetransmitSpec>,
}

/// How an interface sends lost packets again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetransmitSpec {
    /// So often at most, 1 to [`MOST_RETRIES`](crate::packet::MOST_RETRIES) times.
    pub retries: u8,
    /// So long after a packet was lost its source sends it again.
    pub after: Time,
}

fn is_none(packets: &u32) -> bool {
    *packets == 0
}

fn is_zero(time: &Time) -> bool {
    *time == Time::ZERO
}

choice! {
    /// When an interface sends the messages that ask for a rendezvous, give leave and say that it is over.
    #[derive(Default)]
    pub enum ControlOrder {
        First = "first", "Before data that waits at the interface, between packets.";
        #[default]
        InOrder = "in-order", "Behind all that was handed to the interface before them.";
        ReadsFirst = "reads-first", "Those that give leave, or read, before data that waits, between packets and without `overhead`; the others in order.";
    }
}

impl ControlOrder {
    fn is_in_order(&self) -> bool {
        *self == ControlOrder::InOrder
    }
}
