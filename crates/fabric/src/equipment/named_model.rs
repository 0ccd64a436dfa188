//! What has to be known of a router model before a run: the questions of [`NamedModel`], and the values by which a study names one.
//!
//! Each model answers them in a file of its own in `models`, above, where the list of them is; nothing here knows which there are. A question
//! without a default answer has none on purpose: a model that does not answer it does not compile.

use super::{DeliveryPoint, LinkSpec, NicSpec, RouterSpec, Switching};
use serde::{Serialize, Serializer};
use std::fmt::{self, Debug};
use study::{BitsPerSec, Bytes, Choice, Entry};
use work::build_error::BuildError;

/// Which router model runs: a value of `router.model`. Equal are those of one name.
#[derive(Clone, Copy)]
pub struct RouterKind {
    /// What studies may say.
    pub entry: Entry,
    /// What answers for a router of it.
    pub named: fn(&RouterSpec) -> &'static dyn NamedModel,
}

impl PartialEq for RouterKind {
    fn eq(&self, other: &RouterKind) -> bool {
        self.entry.name == other.entry.name
    }
}

impl Eq for RouterKind {}

impl Debug for RouterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry.name)
    }
}

impl Serialize for RouterKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.entry.name)
    }
}

/// Inner structure of a `credit` router: a value of `router.architecture`. Equal are those of one word.
#[derive(Clone, Copy)]
pub struct Architecture {
    /// Its word, and what it means.
    pub choice: Choice,
    /// What answers for it.
    pub named: &'static dyn NamedModel,
}

impl Architecture {
    /// What studies say.
    pub const fn word(&self) -> &'static str {
        self.choice.0
    }
}

impl PartialEq for Architecture {
    fn eq(&self, other: &Architecture) -> bool {
        self.word() == other.word()
    }
}

impl Eq for Architecture {}

impl Debug for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl Serialize for Architecture {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl RouterSpec {
    /// What has to be known of its model before a run.
    pub fn named(&self) -> &'static dyn NamedModel {
        (self.model.named)(self)
    }

    /// `true` if what waits for a router has to have room there.
    pub fn has_bounded_buffers(&self) -> bool {
        self.named().gives_credits() && self.buffer.is_some()
    }

    /// What a virtual channel has of a buffer where there are so many.
    pub fn share(&self, buffer: Option<Bytes>, vcs: u32) -> Option<Bytes> {
        let parts = if self.shares_buffers { u64::from(vcs.max(1)) } else { 1 };
        buffer.map(|bytes| Bytes(bytes.0 / parts))
    }

    /// What a credit takes (ps) over a link of this latency, with the part of the routers' traversal that it passes.
    pub(crate) fn credit(&self, latency: u64, traversed: u64) -> u64 {
        let link = if self.credit_uses_link { latency } else { 0 };
        let traversed = if self.credits_traverse { traversed } else { 0 };
        link + self.credit_delay.0 + traversed
    }
}

/// Which virtual channels a router has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouterChannels {
    /// As many as the study says, or the routing needs.
    AsNeeded,
    /// The same; those that the routing needs are classes, and packets take any channel of theirs.
    InClasses,
    /// One.
    One,
    /// As many as the routing needs, as mere names: no queue and no buffer belongs to them.
    Names,
}

/// What a link takes; all in ps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkDelays {
    /// Propagation delay, with what belongs to it at its end.
    pub latency: u64,
    /// From the start of a packet on the link until its head can leave the next router.
    pub hop: u64,
    /// Of a credit, after the buffer is free.
    pub credit: u64,
}

/// When the credit of a packet leaves the buffer that it was in, at the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreditLeaves {
    /// Before its tail has left.
    AtOnce,
    /// With its tail, so that its serialisation comes before the credit's delay.
    WithTail,
}

/// What a packet-hop takes on one core (s).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HopCost {
    /// Where open-loop traffic is all there is.
    pub alone: f64,
    /// Where ranks send.
    pub with_ranks: f64,
}

/// A router model that a study can name.
pub trait NamedModel: Debug + Sync {
    /// What an architecture leaves out; of other models their `Entry` says it.
    fn limits(&self) -> Option<&'static str> {
        None
    }

    /// What it takes to simulate, as measured (docs/how-to/performance.md, docs/how-to/campaigns-on-a-cluster.md), rounded up.
    fn cost(&self) -> HopCost;

    /// Refuses what it cannot do; not every caller comes from a study file.
    fn check(&self, _: &RouterSpec, _: &NicSpec) -> Result<(), BuildError> {
        Ok(())
    }

    /// Refuses a router of so many ports, those to nodes among them, with so many virtual channels each.
    fn check_size(&self, _: &RouterSpec, _ports: u32, _vcs: u32) -> Result<(), BuildError> {
        Ok(())
    }

    /// Its virtual channels.
    fn channels(&self) -> RouterChannels {
        RouterChannels::AsNeeded
    }

    /// Whether it can take packets of one time by the numbers of their links.
    fn takes_by_links(&self) -> bool {
        false
    }

    /// Whether a packet needs room in the next buffer, of which credits tell.
    fn gives_credits(&self) -> bool {
        true
    }

    /// When credits leave, where it gives any.
    fn credit_leaves(&self) -> CreditLeaves {
        CreditLeaves::AtOnce
    }

    /// Whether it says what waits before its ports, and why not: (reason, hint).
    fn refuses_adaptive_routing(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// The unit of [`RouterModel::backlog`](crate::network::model::RouterModel::backlog) is a byte, not a picosecond.
    fn backlog_is_in_bytes(&self) -> bool {
        false
    }

    /// Whether what waits before its ports is what has come for them and has not been admitted behind their links, and nothing else
    /// (`congestion = "unadmitted"`).
    fn tells_of_unadmitted(&self) -> bool {
        false
    }

    /// Whether a packet's output is chosen before there is room for it, so that it waits for that output and no other.
    fn commits_before_room(&self) -> bool {
        false
    }

    /// Its bounded output buffers, if it has such.
    fn output_buffer(&self, _: &RouterSpec) -> Option<Bytes> {
        None
    }

    /// Whether packets that enter a ring leave room in it, so that a ring cannot fill up.
    fn keeps_rings_moving(&self, _: &RouterSpec) -> bool {
        false
    }

    /// Whether packets of a message can pass each other in it on one way.
    fn reorders(&self) -> bool {
        false
    }

    /// Whether packets tell of a message that is complete; if not, the ends of messages are announced (`router.completion`).
    fn tells_whole_messages(&self, _: &RouterSpec) -> bool {
        true
    }

    /// Whether interfaces may take control messages before data.
    fn takes_control_first(&self) -> bool {
        true
    }

    /// Whether the arrival of a packet at its last router is its delivery, so that what reacts to it may be told at once.
    fn delivers_at_arrival(&self) -> bool {
        false
    }

    /// Whether nodes take packets over links whose time is counted.
    fn nodes_have_links(&self) -> bool {
        true
    }

    /// Whether what travels are chunks, of which the last of a packet may be partly filled.
    fn sends_chunks(&self) -> bool {
        false
    }

    /// Whether packets may be lost in it where links fail while the run goes on.
    fn loses_packets(&self) -> bool {
        false
    }

    /// Size of what travels by itself.
    fn unit(&self, nic: &NicSpec) -> Bytes {
        nic.packet
    }

    /// What has to find room in a buffer together.
    fn unit_in_buffers(&self, _: &RouterSpec, nic: &NicSpec) -> Bytes {
        self.unit(nic)
    }

    /// What a buffer must hold at least, in units, or nothing would ever move.
    fn least_units(&self, _: &RouterSpec) -> u64 {
        1
    }

    /// Bytes in which buffers are counted and packets occupy links.
    fn flit(&self, _: &RouterSpec) -> u32 {
        1
    }

    /// Time (ps) that an output of this bandwidth takes to start when it was idle.
    fn wake(&self, _: &RouterSpec, _: BitsPerSec) -> u64 {
        0
    }

    /// Whether a packet is handed on only when its tail has come.
    fn waits_for_tails(&self, router: &RouterSpec) -> bool {
        router.switching == Switching::StoreAndForward
    }

    /// Whether a packet is delivered with its head.
    fn delivers_heads(&self, router: &RouterSpec) -> bool {
        router.delivery == DeliveryPoint::Head
    }

    /// Time (ps) that a message occupies an interface's link for besides its packets.
    fn message_overhead(&self, nic: &NicSpec) -> u64 {
        nic.message_overhead.0
    }

    /// Time (ps) that a message passes before that, while the packets before it are sent.
    fn ahead(&self, _: &NicSpec) -> u64 {
        0
    }

    /// What a link between routers takes; `serialisation` (ps) is that of a unit.
    fn link(&self, router: &RouterSpec, link: &LinkSpec, _serialisation: u64) -> LinkDelays {
        LinkDelays {
            latency: link.latency.0,
            hop: link.latency.0 + router.traversal.0,
            credit: router.credit(link.latency.0, router.traversal.0),
        }
    }

    /// What the link of a node takes, as link class 0 has it.
    fn host_link(&self, router: &RouterSpec, _: &NicSpec, link: &LinkSpec) -> LinkDelays {
        self.link(router, link, 0)
    }

    /// What the same takes from a node to its router. Interfaces add no latency of their own.
    fn injection(&self, router: &RouterSpec, _: &NicSpec, link: &LinkSpec) -> LinkDelays {
        LinkDelays {
            latency: link.latency.0,
            hop: link.latency.0 + router.traversal.0,
            credit: router.credit(link.latency.0, 0),
        }
    }

    /// From the start of a packet on the link to a node until its head is there (ps).
    fn ejection(&self, router: &RouterSpec, nic: &NicSpec, link: &LinkSpec) -> u64 {
        self.host_link(router, nic, link).latency
    }

    /// The part of a hop (ps) that comes after the arrival at the next router: windows must end before it.
    fn behind_the_link(&self, _: &RouterSpec) -> u64 {
        0
    }

    /// Room (bytes) that interfaces have at their routers, where it is not that of a buffer; a flit takes `flit` ps from there, and `loop_time`
    /// ps pass until room that is free is used again.
    fn interface_room(&self, _: &RouterSpec, _: &NicSpec, _loop_time: u64, _flit: u64) -> Option<u64> {
        None
    }

    /// From the start of a packet on the link to a node until its credit is back at the router (ps), if nodes give credits.
    fn node_credit(&self, _: &RouterSpec, _host: &LinkSpec) -> Option<u64> {
        None
    }
}
