//! What has to be known of a router model before a run: the questions of [`NamedModel`].
//!
//! Each model answers them in a file of its own; the list below has a line for each. What it does in a run is in the file of the same name
//! in `router`, above. A question without a default answer has none on purpose: a model that does not answer it does not compile.

use super::{DeliveryPoint, LinkSpec, NicSpec, RouterSpec, Switching};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use study::{BitsPerSec, Bytes, Entry};
use work::build_error::BuildError;

mod credit;
mod input_queued;
mod late_admission;
mod late_admission_vcs;
mod output_buffered;
mod sculpin;
mod vc_router;

/// Makes the list of router models: the variant of each with the file that has its `ENTRY` and its `of`, which answers for a router of it.
macro_rules! router_models {
    ($($(#[$about:meta])* $model:ident = $file:ident;)+) => {
        /// Which router model runs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum RouterModel {
            $($(#[$about])* $model,)+
        }

        impl RouterModel {
            /// What studies may say in `router.model`, in the order of the documentation.
            pub const ENTRIES: &'static [Entry] = &[$($file::ENTRY),+];

            /// The model of this name; `None` if there is none.
            pub fn of_name(name: &str) -> Option<RouterModel> {
                $(
                    if name == $file::ENTRY.name {
                        return Some(RouterModel::$model);
                    }
                )+
                None
            }
        }

        impl RouterSpec {
            /// What has to be known of its model before a run.
            pub fn named(&self) -> &'static dyn NamedModel {
                match self.model {
                    $(RouterModel::$model => $file::of(self),)+
                }
            }
        }
    };
}

router_models! {
    /// Unbounded output queues, no credits.
    Sculpin = sculpin;
    /// Input buffers per virtual channel with credits.
    Credit = credit;
}

impl RouterSpec {
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
    fn credit(&self, latency: u64, traversed: u64) -> u64 {
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
    /// What a study calls the inside of it that is not that of all routers of its `router.model`, and what it leaves out.
    fn limits(&self) -> Option<(&'static str, &'static str)>;

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
