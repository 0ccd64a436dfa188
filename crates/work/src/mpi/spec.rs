//! What a study says of ranks: what they do, when they start, what their messages cost, and the interfaces of their nodes.

use super::CollectiveKind;
use super::collective::{Algorithm, CollectiveRules};
use des::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use study::{BitsPerSec, Bytes, choice};

/// MPI ranks and their programs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ranks {
    /// What they do, one part after the other.
    pub parts: Vec<Part>,
    /// Ranks on a node.
    pub per_node: u32,
    /// How ranks are dealt to logical nodes.
    pub mapping: Mapping,
    /// When they start.
    #[serde(default, skip_serializing_if = "Start::is_in_phase")]
    pub start: Start,
    /// So many of the parts come before what is timed.
    #[serde(default, skip_serializing_if = "is_none")]
    pub prelude: u32,
    /// What their messages cost.
    pub mpi: MpiSpec,
}

fn is_none(number: &u32) -> bool {
    *number == 0
}

/// When the ranks of a job start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// All at time 0.
    #[default]
    InPhase,
    /// Each at a time of its own from 0 to this, both included.
    Spread(Time),
    /// All at time 0, with a barrier before the work.
    AfterBarrier,
}

impl Start {
    fn is_in_phase(&self) -> bool {
        *self == Start::InPhase
    }
}

/// A part of the work of ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// What every rank does in an iteration.
    pub motif: Motif,
    /// How often.
    pub iterations: u32,
}

/// What a rank does in an iteration: a motif of the registry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Motif {
    /// Its name.
    pub kind: String,
    /// Its keys, those with a default of their own left out.
    pub values: BTreeMap<String, MotifValue>,
}

impl Motif {
    /// Forgets where a file lies whose content is known by a hash beside it.
    pub fn forget_places(&mut self) {
        if self.values.contains_key("sha256") {
            self.values.remove("file");
            self.values.remove("folder");
        }
    }
}

/// The value of a key of a motif.
pub use study::PlainValue as MotifValue;

choice! {
    /// How ranks are dealt to logical nodes.
    #[derive(Default)]
    pub enum Mapping {
        #[default]
        Block = "block", "Neighbouring ranks on one node until it is full.";
        RoundRobin = "round-robin", "One rank to each node in turn.";
    }
}

/// What messages of MPI ranks cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MpiSpec {
    /// Processor time of a send.
    pub send_overhead: Time,
    /// Processor time of a receive, when its message is handled.
    pub receive_overhead: Time,
    /// Largest message that is sent without asking the receiver.
    pub eager: Bytes,
    /// When a larger send is complete.
    pub rendezvous: Rendezvous,
    /// What messages take of the processors at both ends, piece by piece of their size, in place of the overheads and the copies; empty: those.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<CostPiece>,
    /// Bytes that every message has besides the rank's.
    pub header: Bytes,
    /// Size of a control message.
    pub control: Bytes,
    /// Rate of the copies of eager messages at both ends; `None`: they take no time.
    pub copy: Option<BitsPerSec>,
    /// Rate at which operands are combined; `None`: it takes no time.
    pub combine: Option<BitsPerSec>,
    /// Latency of messages inside a node.
    pub local_latency: Time,
    /// Rate of a rank's messages inside its node; `None` is without bound.
    pub local_bandwidth: Option<BitsPerSec>,
    /// Algorithm of each kind of collective that is not to be chosen by size.
    pub algorithms: Vec<(CollectiveKind, Algorithm)>,
    /// Whose rules choose those of the others.
    #[serde(default, skip_serializing_if = "CollectiveRules::is_default")]
    pub collectives: CollectiveRules,
    /// Interfaces of a node of the job.
    #[serde(default, skip_serializing_if = "Rails::is_default")]
    pub rails: Rails,
    /// When messages that have come are handled, and what that takes beside the above.
    #[serde(default, skip_serializing_if = "Handling::is_always")]
    pub progress: Handling,
    /// Eager messages of more bytes are announced, and fetched by their receiver before they meet a receive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetch_above: Option<Bytes>,
    /// Messages that go beside the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<Beside>,
    /// The rules of a known simulator that it follows, where the study says no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
}

impl Default for MpiSpec {
    fn default() -> Self {
        let gigabytes = |n: u64| Some(BitsPerSec(n * 8_000_000_000));
        MpiSpec {
            send_overhead: Time(200_000),
            receive_overhead: Time(200_000),
            eager: Bytes(8 << 10),
            rendezvous: Rendezvous::Put,
            costs: Vec::new(),
            header: Bytes(0),
            control: Bytes(64),
            copy: gigabytes(20),
            combine: gigabytes(20),
            local_latency: Time(200_000),
            local_bandwidth: gigabytes(20),
            algorithms: Vec::new(),
            collectives: CollectiveRules::default(),
            rails: Rails::default(),
            progress: Handling::Always,
            fetch_above: None,
            beside: None,
            preset: None,
        }
    }
}

/// What messages up to a size take of the processor of who sends and of who receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostPiece {
    /// The largest message that it is for; the last piece is for all that are larger as well.
    pub upto: Bytes,
    /// Processor time of a message.
    pub overhead: Time,
    /// Processor time of a byte (fs).
    pub per_byte_fs: u64,
}

impl CostPiece {
    /// Processor time (ps) of a message of so many bytes, rounded up.
    #[inline]
    pub fn time(&self, bytes: u64) -> u64 {
        let of_bytes = (u128::from(bytes) * u128::from(self.per_byte_fs)).div_ceil(1_000);
        self.overhead
            .0
            .saturating_add(u64::try_from(of_bytes).unwrap_or(u64::MAX))
    }
}

/// Short messages that wait for nothing: they take a latency that grows with the distance, and their bytes on the link of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beside {
    /// Largest of them, as they would be on the wire.
    pub most: Bytes,
    /// To a node of the same router.
    pub latency: Time,
    /// For every hop between routers.
    pub hop: Time,
    /// How hops are counted on a fat-tree.
    #[serde(default, skip_serializing_if = "BesideTrees::is_as_wired")]
    pub trees: BesideTrees,
    /// How hops are counted on a dragonfly and a dragonfly+.
    #[serde(default, skip_serializing_if = "BesideGroups::is_as_wired")]
    pub groups: BesideGroups,
    /// Which of those that come to a node at one time is taken first.
    #[serde(default, skip_serializing_if = "BesideOrder::is_by_node")]
    pub order: BesideOrder,
}

choice! {
    /// How the hops of messages beside the network are counted on a fat-tree of three levels.
    #[derive(Default)]
    pub enum BesideTrees {
        #[default]
        AsWired = "as-wired", "As packets go.";
        Shifted = "shifted", "Leaves are counted into sub-trees from the second one on: the first is a tree of its own, and the last tree lacks one.";
    }
}

choice! {
    /// How the hops of messages beside the network are counted on a dragonfly and a dragonfly+.
    #[derive(Default)]
    pub enum BesideGroups {
        #[default]
        AsWired = "as-wired", "As packets go.";
        SstMacro = "sst-macro", "Inside a group, at one router too, 1, on a dragonfly+ 2; between groups of a dragonfly+ 3; between groups of a dragonfly 1 over a link between the two routers, 2 where the first router has a link to the group, else 3.";
    }
}

choice! {
    /// Which of the messages beside the network that come to a node at one time is taken first.
    #[derive(Default)]
    pub enum BesideOrder {
        #[default]
        ByNode = "by-node", "By the node that has sent it.";
        Sent = "sent", "The one that was sent first; of those sent at one time first what needs no memory registered, from the first node on, then all other, from the last node on.";
    }
}

impl BesideGroups {
    fn is_as_wired(&self) -> bool {
        *self == BesideGroups::AsWired
    }
}

impl BesideOrder {
    fn is_by_node(&self) -> bool {
        *self == BesideOrder::ByNode
    }
}

impl BesideTrees {
    fn is_as_wired(&self) -> bool {
        *self == BesideTrees::AsWired
    }
}

/// When messages that have come are handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Handling {
    /// When they come, whatever their rank does.
    #[default]
    Always,
    /// In its calls, with these costs.
    InCalls(CallCosts),
}

impl Handling {
    fn is_always(&self) -> bool {
        *self == Handling::Always
    }
}

choice! {
    /// The word of a [`Handling`].
    pub enum HandlingWord {
        Always = "always", "When it comes, whatever its rank does; what that takes of the processor is owed until the rank waits.";
        InCalls = "in-calls", "At the end of each of the rank's calls, and while it waits in one: not while it computes, copies or registers memory.";
    }
}

/// What ranks pay that handle messages in their calls only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallCosts {
    /// Processor time of the begin of a call.
    pub enter: Time,
    /// Processor time of its end.
    pub leave: Time,
    /// Processor time of each entry of a list that is looked at for a match.
    pub match_cost: Time,
    /// Registration of memory.
    pub pin: Pinning,
    /// From a rank to its interface, and from the interface to the rank.
    pub host_delay: Time,
    /// What an interface takes for a message that it passes to its rank, while the packets behind the first come.
    pub match_delay: Time,
    /// What an interface takes to begin the answer to one that reads.
    pub read_delay: Time,
    /// What a busy rank remembers of what comes.
    #[serde(default, skip_serializing_if = "Wakes::is_each")]
    pub wakes: Wakes,
}

choice! {
    /// What a rank that is busy remembers of what comes.
    #[derive(Default)]
    pub enum Wakes {
        #[default]
        Each = "each", "All of it: where it waits it looks again until nothing is left.";
        Once = "once", "That something has come: it looks once, at one message whose bytes were read or else at all others, and sleeps until something else comes or its acknowledgement has left, whatever is left. With `rendezvous = \"get\"`.";
    }
}

impl Wakes {
    fn is_each(&self) -> bool {
        *self == Wakes::Each
    }
}

/// Registration of the memory of large messages: by who sends, by who receives, and again when what is received is done with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pinning {
    /// Processor time of it.
    pub base: Time,
    /// The same for each whole page, of memory of more than one.
    pub page: Time,
    /// Size of a page.
    pub page_bytes: Bytes,
}

impl Default for Pinning {
    fn default() -> Self {
        Pinning {
            base: Time::ZERO,
            page: Time::ZERO,
            page_bytes: Bytes(4096),
        }
    }
}

impl Pinning {
    /// Processor time (ps) for `bytes`.
    pub fn time(&self, bytes: u64) -> u64 {
        let pages = match bytes > self.page_bytes.0 {
            true => bytes / self.page_bytes.0.max(1),
            false => 0,
        };
        self.base.0.saturating_add(pages.saturating_mul(self.page.0))
    }
}

choice! {
    /// When a send that asked its receiver is complete.
    pub enum Rendezvous {
        Put = "put", "The sender writes; its send is complete when the last byte has reached the router.";
        Get = "get", "The receiver reads; the send is complete when a control message says that all has come.";
    }
}

/// What to do about hosts that do not fit the network.
pub const ONE_ROUTER: &str = "the rails of a host are neighbouring nodes of one router: take a divisor of the nodes per router; \
                                     a network of its own for each rail (several planes) is not simulated";

/// The interfaces of a host. A host of `count` rails is as many nodes of the network, one after the other, at one router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rails {
    /// How many.
    pub count: u32,
    /// Which one a message takes.
    pub policy: RailPolicy,
    /// Messages of more bytes are cut into a part for each rail; `None`: none is.
    pub stripe_above: Option<Bytes>,
}

choice! {
    /// Which rail a message between hosts takes, if it is not cut up.
    #[derive(Default)]
    pub enum RailPolicy {
        #[default]
        LocalRank = "local-rank", "That of the rank, its number on the host modulo the rails; the message arrives at that of the receiver.";
        RoundRobin = "round-robin", "The rails in turn, message by message of a rank, beginning with its own; the message arrives at the same one.";
        LeastLoaded = "least-loaded", "The one with the fewest bytes that have yet to leave; the message arrives at the same one.";
    }
}

impl Default for Rails {
    fn default() -> Self {
        Rails {
            count: 1,
            policy: RailPolicy::LocalRank,
            stripe_above: None,
        }
    }
}

impl Rails {
    /// One interface, which all messages take: what runs were before there were rails, and are named by.
    pub fn is_default(&self) -> bool {
        *self == Rails::default()
    }

    /// Whether a message of so many bytes is cut up.
    #[inline(always)]
    pub fn stripes(&self, bytes: u64) -> bool {
        self.stripe_above.is_some_and(|most| bytes > most.0)
    }
}
