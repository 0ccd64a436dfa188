//! What has to be known of a routing: the questions of [`NamedRouting`] for its name in a study, those of [`ReadyRouting`] for a run.
//!
//! Each routing answers them in a file of its own. A question without a default answer has none on purpose: a routing that does not answer
//! it does not compile.

use super::detour::LegsRule;
use super::fits::Fits;
use super::news::News;
use super::table::PathTable;
use super::weigh::Sense;
use super::{Routing, TablesSpec, Tie};
use crate::equipment::{NicSpec, RouterSpec};
use crate::packet::Packet;
use crate::plant::{Plant, Site};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::sync::Arc;
use study::diagnostic::Findings;
use study::owned::OwnValues;
use study::words::Words;
use study::{Entry, Parameter};
use topo::subnet::engine::JobDemand;
use topo::{RoutingRule, Topology};
use work::build_error::BuildError;

/// An output that a packet takes: local port, virtual channel, and the phase that the packet has from there on.
///
/// One word: three values that are written one by one and read together make the processor wait for all that it has written before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way(u64);

impl Way {
    /// The output of these three.
    #[inline(always)]
    pub fn new(port: u32, vc: u8, phase: u8) -> Way {
        Way(u64::from(phase) << 40 | u64::from(vc) << 32 | u64::from(port))
    }

    /// There is none: the packet is lost.
    pub const LOST: Way = Way(1 << 63);

    /// `true` for [`Way::LOST`].
    #[inline(always)]
    pub fn is_lost(self) -> bool {
        self.0 >> 63 != 0
    }

    /// The same on a channel that is `channels` further.
    #[inline(always)]
    pub(super) fn behind(self, channels: u8) -> Way {
        Way(self.0 + (u64::from(channels) << 32))
    }

    /// The same, which takes its turn of a counter of the router.
    #[inline(always)]
    pub(super) fn in_turn(self, counter: u32) -> Way {
        Way(self.0 | u64::from(counter + 1) << 48)
    }

    /// The counter of the router of which it takes its turn, if there is one.
    #[inline(always)]
    pub fn counter(self) -> Option<u32> {
        ((self.0 >> 48) as u32).checked_sub(1)
    }

    /// The local port.
    #[inline(always)]
    pub fn port(self) -> u32 {
        self.0 as u32
    }

    /// The virtual channel.
    #[inline(always)]
    pub fn vc(self) -> u8 {
        (self.0 >> 32) as u8
    }

    /// The phase.
    #[inline(always)]
    pub fn phase(self) -> u8 {
        (self.0 >> 40) as u8
    }
}

/// A way that a packet may ask for, in a router with [buffers per output channel](crate::equipment::OutputsSpec), which chooses among several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The output, with the phase that the packet has once it is given to it.
    pub way: Way,
    /// The phase that it has once it has asked for it.
    pub asked: u8,
    /// What speaks against it, whatever waits.
    pub label: u16,
    /// Hops that are left by it, this one included.
    pub hops: u16,
}

/// A packet at a router that is not its last, unless the routing [leads to the node](ReadyRouting::leads_to_the_node).
#[derive(Clone, Copy)]
pub struct Here<'a> {
    pub routing: &'a Routing,
    pub net: &'a Plant,
    pub site: &'a Site,
    pub packet: &'a Packet,
}

impl Here<'_> {
    /// So many bytes before a port, in the units of what waits: bytes, or the time that they take on its link.
    #[inline]
    pub(super) fn waits_as_much(&self, in_bytes: bool, bytes: u64, port: u32) -> u64 {
        let class = || usize::from(self.net.peers[(self.site.port + port) as usize].class());
        if in_bytes {
            bytes
        } else {
            self.net.classes[class()].time_of(bytes)
        }
    }

    /// To the port of the packet's node, which is at this router.
    pub(super) fn eject(&self, vc: u8) -> Way {
        let Here { site, packet, .. } = self;
        let port = u32::from(site.net) + (packet.destination() - site.node);
        Way::new(port, vc.min(self.routing.last_vc), packet.phase())
    }
}

/// Which packets take more hops than the fewest, as a prediction without a run counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detours {
    /// None.
    Never,
    /// Those that see a queue, some of them.
    WhereQueuesAreLong,
    /// All.
    Always,
}

/// What a routing does where cables, routers or nodes have failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithFailures {
    /// It leads round them: it asks the topology for all of its ways, which knows what is left.
    GoesRound,
    /// It keeps its ways; who has lost one is named, and the run refused.
    KeepsItsWays,
    /// It needs a whole network.
    NeedsAll,
}

/// What becomes of a routing's packets when what has failed is another than when they set out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InTime {
    /// They keep their ways, whatever fails.
    KeepTheirWays,
    /// They go on by the ways that hold then: where they are depends on nothing but router, destination, channel and hops.
    GoOn,
    /// Likewise, on so many legs, each with channels of its own; which one a packet is on, its phase says, or with one leg which address it is sent to.
    GoOnInLegs(u8),
}

impl InTime {
    /// Legs that have channels of their own.
    pub fn legs(self) -> u8 {
        match self {
            InTime::KeepTheirWays | InTime::GoOn => 1,
            InTime::GoOnInLegs(legs) => legs,
        }
    }
}

/// What a routing depends on besides its own keys and the topology.
#[derive(Clone, Copy, Debug)]
pub struct RoutingTerms<'a> {
    /// The routers.
    pub router: &'a RouterSpec,
    /// The interfaces.
    pub nic: &'a NicSpec,
    /// Virtual networks that the work asks for, for classes of its messages.
    pub networks: u8,
    /// Seed of its random choices.
    pub seed: u64,
    /// After so many messages of a node they begin again; 0: never.
    pub draw_cycle: u32,
    /// What jobs send, for routings that ask for it.
    pub demands: &'a [JobDemand],
}

/// A routing that a study can name.
pub trait NamedRouting {
    /// One line that says what it does.
    const LINE: &'static str;
    /// The paper or program that it follows.
    const SOURCE: &'static str = "";
    /// What it does not see or where else it does not apply, beside what [`Fits`] says; empty if nothing is to be said.
    const LIMITS: &'static str = "";
    /// The topologies that it is for.
    const FITS: Fits = Fits::ALL;
    /// Its keys in `[routing]`.
    const KEYS: &'static [Parameter] = &[];
    /// Whether it chooses by what waits in routers.
    const ADAPTIVE: bool;
    /// Which packets leave minimal ways.
    const DETOURS: Detours;
    /// Whether a way may lead over a third group of a dragonfly: it may be shorter than those over one global link that the topology's distance
    /// counts.
    const OVER_A_THIRD_GROUP: bool;
    /// What it does where something has failed.
    const WITH_FAILURES: WithFailures;

    /// What its keys say; a canonical study holds it.
    type Parameters;
    /// What it is in a run.
    type Ready: ReadyRouting;

    /// Reads its keys; `None` after errors.
    fn read(keys: &OwnValues, findings: &mut Findings) -> Option<Self::Parameters>;

    /// Prepares it for a run, refusing what it cannot do there: not every caller comes from a study file.
    fn ready(
        parameters: &Self::Parameters,
        terms: &RoutingTerms<'_>,
        topology: &Topology,
    ) -> Result<Self::Ready, BuildError>;

    /// What becomes of its packets when what has failed changes.
    fn in_time(_: &Self::Parameters) -> InTime {
        InTime::KeepTheirWays
    }

    /// The way half-way round a ring.
    fn tie(_: &Self::Parameters) -> Tie {
        Tie::Positive
    }

    /// Its forwarding tables, if it has such.
    fn tables(_: &Self::Parameters) -> Option<&TablesSpec> {
        None
    }

    /// Its parameters with these forwarding tables, if it has such.
    fn by_tables(_: TablesSpec) -> Option<Self::Parameters> {
        None
    }
}

/// A routing in a run.
pub trait ReadyRouting {
    /// Virtual channels that keep it free of deadlock.
    fn vcs(&self, topology: &Topology) -> u8;

    /// All that it may choose on so many channels, for the proof.
    fn rule<'t>(&self, topology: &'t Topology, vcs: u8) -> Box<dyn RoutingRule + 't>;

    /// The next output of a packet that is not at its last router. `wait(local port, virtual channel)` says what waits, in the units of
    /// [`ReadyRouting::sense`]; a routing that is not adaptive does not ask.
    fn next(&self, here: Here<'_>, wait: impl FnMut(u32, u8) -> u64) -> Way
    where
        Self: Sized;

    /// All ways that a packet which is not at its last router may ask for, added to `out`. Most routings have one.
    fn offers(&self, here: Here<'_>, out: &mut Vec<Offer>)
    where
        Self: Sized,
    {
        out.push(Offer {
            way: self.next(here, |_, _| 0),
            asked: here.packet.phase(),
            label: 0,
            hops: 1,
        });
    }

    /// Whether it leaves a choice by what waits to a router with buffers per output channel.
    fn leaves_the_choice(&self) -> bool {
        false
    }

    /// What it wants to see of a port beside [`RouterModel::backlog`](crate::network::model::RouterModel::backlog); `None`: just that, or nothing.
    fn sense(&self) -> Option<Sense> {
        None
    }

    /// Whether packets take the topology's minimal way, or at least look there first, unless their phase says that they are on the first leg of another.
    fn looks_at_the_minimal_way(&self) -> bool {
        false
    }

    /// Whether it looks at the topology's wiring, also where the family answers by arithmetic.
    fn asks_for_cables(&self) -> bool;

    /// Whether it leads a packet to the very port of its node, with the channel there, and is asked for packets at their last router, too: they
    /// may have to go on. For input-queued routers.
    fn leads_to_the_node(&self) -> bool {
        false
    }

    /// Whether a packet's source draws one channel, whatever is free, and waits for it. For vc-routers.
    fn draws_channels(&self) -> bool {
        false
    }

    /// Whether it is the topology's own minimal routing and nothing else.
    fn is_minimal(&self) -> bool {
        false
    }

    /// Whether a way may depend on the time, on the number of a message or on its birth, as all do that draw at random: what such packets do is not
    /// done again when all is as it was.
    fn draws(&self, _: &Topology) -> bool {
        true
    }

    /// Whether it draws by the time alone, whatever else draws go by in a run.
    fn draws_by_time(&self) -> bool {
        false
    }

    /// Its legs, each by itself, if it leads packets over a router: on graphs, and where networks change, they are proved.
    fn legs<'t>(&self, _topology: &'t Topology, _vcs: u8) -> Option<LegsRule<'t>> {
        None
    }

    /// Whether its rule is that of an escape channel alone.
    fn escapes(&self) -> bool {
        false
    }

    /// Whether the channel of every hop is the number of hops made before it, and no way has more hops than it needs channels.
    fn counts_hops(&self) -> bool {
        false
    }

    /// Whether more channels than it needs allow more ways.
    fn takes_all_channels(&self) -> bool {
        false
    }

    /// Counters that each router has for it, by which it deals packets out in turn: their values are asked for by
    /// [`COUNTER`](super::turns::COUNTER), and a [`Way`] says of which it takes its turn.
    fn counters(&self) -> u32 {
        0
    }

    /// What routers tell each other for it, if they do.
    fn news(&self) -> Option<News> {
        None
    }

    /// Its forwarding tables, if it has such.
    fn table(&self) -> Option<&Arc<PathTable>> {
        None
    }
}

/// The parameters of a routing without keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoKeys {}

/// The error of a routing that cannot be had.
pub(super) fn refuse<T>(reason: &str, hint: &str) -> Result<T, BuildError> {
    Err(BuildError::field("routing.kind", reason, Some(hint)))
}

/// The entry of a routing in the registry.
pub(super) const fn entry<A: NamedRouting>(name: &'static str) -> Entry {
    Entry {
        name,
        line: A::LINE,
        groups: &[],
        source: A::SOURCE,
        limits: A::TEXT,
    }
}

/// The limits of a routing in words.
trait Limits {
    const WORDS: Words;
    const TEXT: &'static str;
}

impl<A: NamedRouting> Limits for A {
    const WORDS: Words = A::FITS.before(A::LIMITS);
    const TEXT: &'static str = {
        let words: &'static Words = &Self::WORDS;
        words.text()
    };
}
