//! A network with a router model, the router at hand while it handles an event, and what a router model does. The models are in `models`,
//! above.

use super::{Network, Site};
use crate::equipment::RouterSpec;
use crate::packet::Packet;
use crate::spec::RunSpec;
use crate::state::{Channel, OutLink, Port, Router, State};
use des::{Journal, Sink, Torn};
use std::fmt::Debug;
use std::ops::Range;

/// A network with one router model: what handlers are generic over.
#[derive(Debug)]
pub struct Fabric<M> {
    /// The immutable part.
    pub net: Network,
    /// The model with its parameters.
    pub model: M,
}

impl<M: RouterModel> Fabric<M> {
    /// The network of a specification with the model's parameters of it.
    pub fn new(spec: &RunSpec, net: Network) -> Self {
        let model = M::new(spec, &net);
        let mut net = net;
        if model.room(1) != 1 {
            // Small packets take more of a buffer than of a link.
            (net.interface.ample, net.interface.window_bytes) = (i32::MAX, i32::MAX);
        }
        Fabric { net, model }
    }

    /// The router at place `lp`, to handle an event.
    #[inline(always)]
    pub(crate) fn at<'a, J, S>(
        &'a self,
        st: &'a mut State,
        j: &'a mut J,
        lp: u32,
        sink: &'a mut S,
    ) -> AtRouter<'a, M, J, S> {
        AtRouter {
            fabric: self,
            net: &self.net,
            model: &self.model,
            st,
            j,
            lp,
            site: &self.net.sites[lp as usize],
            sink,
        }
    }
}

/// The router at hand while it handles an event: all that a handler may read, and what it may change.
///
/// Helpers that become part of their caller are methods of it. A function of its own (`inline(never)`) is a method of [`Fabric`] and
/// takes the columns, the journal, the router's place and the sink one by one: the compiler knows then that they are not the same memory,
/// and the caller keeps nothing in memory for it.
pub struct AtRouter<'a, M, J, S> {
    /// The network with its model.
    pub fabric: &'a Fabric<M>,
    /// The network.
    pub net: &'a Network,
    /// The parameters of the router model.
    pub model: &'a M,
    /// The columns of the router's block; a handler touches those of its own router and nodes.
    pub st: &'a mut State,
    /// Where changes of columns are written down.
    pub j: &'a mut J,
    /// The router's place.
    pub lp: u32,
    /// Its number, ports and nodes.
    pub site: &'a Site,
    /// Takes what is sent.
    pub sink: &'a mut S,
}

impl<'a, M, J, S> AtRouter<'a, M, J, S> {
    /// The same for a helper that takes it as a value.
    #[inline(always)]
    pub fn lent(&mut self) -> AtRouter<'_, M, J, S> {
        AtRouter {
            fabric: self.fabric,
            net: self.net,
            model: self.model,
            st: self.st,
            j: self.j,
            lp: self.lp,
            site: self.site,
            sink: self.sink,
        }
    }

    /// The same with a copy of the router's entry in the network's table: what is written to columns cannot change a copy, so that it need
    /// not be read again.
    #[inline(always)]
    pub fn with(self, site: &'a Site) -> AtRouter<'a, M, J, S> {
        AtRouter { site, ..self }
    }
}

/// How the interfaces of a model without links to their routers take messages, which pass a sequencer one after the other and are cut into
/// packets behind it.
#[derive(Clone, Copy, Debug)]
pub struct Sequencer {
    /// Least time between two messages (ps).
    pub message: u64,
    /// Time between two packets of a message (ps).
    pub packet: u64,
}

/// What the records of a model take in memory (bytes); in [`RouterModel::RECORDS`] besides those that all models with queues have, or all without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelRecords {
    /// Per output port.
    pub per_port: usize,
    /// Per virtual channel of it.
    pub per_channel: usize,
    /// Per router.
    pub per_router: usize,
}

impl ModelRecords {
    /// None.
    pub const NONE: ModelRecords = ModelRecords {
        per_port: 0,
        per_channel: 0,
        per_router: 0,
    };

    /// All that a model has of which these are its own.
    pub(crate) const fn of<M: RouterModel>() -> ModelRecords {
        let (per_port, per_channel) = match (M::QUEUES, M::ONE_CHANNEL) {
            (false, _) => (size_of::<OutLink>(), 0),
            (true, true) => (size_of::<Port>(), 0),
            (true, false) => (size_of::<Port>(), size_of::<Channel>()),
        };
        let own = M::RECORDS;
        ModelRecords {
            per_port: per_port + own.per_port,
            per_channel: per_channel + own.per_channel,
            per_router: size_of::<Router>() + own.per_router,
        }
    }
}

impl State {
    /// A channel of an output port, by its place among all channels.
    #[inline(always)]
    pub(crate) fn channel<M: RouterModel>(&self, channel: u32) -> &Channel {
        match M::ONE_CHANNEL {
            true => self.ports.get(channel).only_channel(),
            false => self.channels.get(channel),
        }
    }

    /// The same, to be changed.
    #[inline(always)]
    pub(crate) fn edit_channel<M: RouterModel>(&mut self, j: &mut impl Journal, channel: u32) -> &mut Channel {
        match M::ONE_CHANNEL {
            true => self.ports.edit(j, channel).only_channel_mut(),
            false => self.channels.edit(j, channel),
        }
    }
}

/// A router model: what happens between a packet's arrival at a router and its start on the next link. A value of it is its parameters.
pub trait RouterModel: Debug + Sized + Send + Sync + 'static {
    /// `true` if the router's host buffers are bounded and interfaces need credits.
    const HOST_CREDITS: bool;

    /// `true` for variants that know beforehand that the network has one virtual channel per port, minimal routing, cut-through,
    /// links of one speed, at most 64 ports per router and no way of [`MAX_HOPS`](crate::packet::MAX_HOPS) links, as many studies have: what they need not ask saves a tenth of a hop.
    const PLAIN: bool = false;

    /// Whether it knows all that a study says of its router where [`Self::PLAIN`] holds for the network.
    fn is_plain(_: &RouterSpec) -> bool {
        true
    }

    /// `true` for routers with a clock, which are closed in nearly every window whether there is something to inject or not.
    const TICKS: bool = false;

    /// `false` for routers that keep no packets: of their ports they have [links](State::out_links) alone.
    const QUEUES: bool = true;

    /// `true` for routers whose ports have their [only channel](Port::only_channel) in their record.
    const ONE_CHANNEL: bool = false;

    /// Whether what a router sends to a node has to find room there, too.
    const NODES_GIVE_CREDITS: bool = false;

    /// Whether ports are [shut](State::shut), and a credit looks at the record of its port only where packets wait for it.
    const SHUTS_PORTS: bool = false;

    /// Whether there may be [`State::inlets`].
    const INLETS: bool = false;

    /// Lists of waiting packets per output port in [`State::lists`], besides the one per channel.
    const LISTS: u32 = 0;

    /// What its own columns take.
    const RECORDS: ModelRecords = ModelRecords::NONE;

    /// Its parameters in a run.
    fn new(spec: &RunSpec, net: &Network) -> Self;

    /// A packet's head is ready for routing.
    fn arrive<J: Journal, S: Sink<Fabric<Self>>>(at: AtRouter<'_, Self, J, S>, event: &Packet);

    /// Buffer space comes back to an output port.
    fn credit<J: Journal, S: Sink<Fabric<Self>>>(at: AtRouter<'_, Self, J, S>, event: &Packet);

    /// Performs all departures with a start before `end`; returns the next departure that needs no event, `u64::MAX` if none.
    fn close<J: Journal, S: Sink<Fabric<Self>>>(at: AtRouter<'_, Self, J, S>, end: u64) -> u64;

    /// How much waits for output `port` (its place in the columns) and channel `vc` at `now`, for adaptive routings to compare the
    /// ports of one router: the model says in what unit.
    fn backlog<J: Journal, S: Sink<Fabric<Self>>>(at: AtRouter<'_, Self, J, S>, port: u32, vc: u8, now: u64) -> u64;

    /// Time (ps) that output `port` (its place in the columns) needs for what it sends and for what waits in this router for it at
    /// `now`: all of it, or what waits on channel `vc`. For adaptive routings, behind [`RouterModel::backlog`]'s catch-up.
    fn waiting(&self, net: &Network, st: &State, port: u32, vc: Option<u8>, now: u64) -> u64;

    /// Bytes that wait in this router for channel `vc` of output `port` (its place in the columns), behind [`RouterModel::backlog`]'s
    /// catch-up: asked of models that give a packet its output and channel when it comes.
    fn queued(&self, _: &Network, _: &State, _port: u32, _vc: u8) -> i64 {
        0
    }

    /// Bytes that the buffer at the other end of `port` (its place in the columns) holds as far as credits tell: all of it, or what a
    /// channel of the routing holds.
    #[inline(always)]
    fn downstream(&self, net: &Network, st: &State, port: u32, vc: Option<u8>) -> u64 {
        if !Self::QUEUES {
            return 0;
        }
        let held = |vc: u32| (net.buffer - st.channel::<Self>(port * net.vcs + vc).credit).max(0) as u64;
        match vc {
            Some(vc) => held(u32::from(vc)),
            None => (0..net.vcs).map(held).sum(),
        }
    }

    /// `true` if room that has become free in a buffer may be told of later than it could: see [`RouterModel::owed`].
    fn tells_late(&self) -> bool {
        false
    }

    /// Bytes of channel `vc` of input `port` (its place in the columns) that are free and of which the router at the other end has yet to
    /// be told, where that [waits](RouterModel::tells_late).
    fn owed(&self, _: &Network, _: &State, _port: u32, _vc: u32) -> u64 {
        0
    }

    /// Fills the columns that are the model's own for some neighbouring routers; called before the first event.
    fn start(&self, _: &Network, _routers: &Range<u32>, _: &mut State) {}

    /// Shows the packets that wait in a router at the heads of its queues, with their output ports (places in the columns) and slots; hints go by them,
    /// so that it may show none.
    #[inline(always)]
    fn heads(&self, _: &Network, _: &State, _lp: u32, _see: impl FnMut(u32, u32)) {}

    /// Appends the columns that are the model's own, of one router, for a checkpoint.
    fn pack(&self, _: &Network, _: &State, _lp: u32, _out: &mut Vec<u8>) {}

    /// Takes what [`RouterModel::pack`] has written.
    fn unpack(&self, _: &Network, _: &mut State, _lp: u32, _input: &mut &[u8]) -> Result<(), Torn> {
        Ok(())
    }

    /// Time (ps) at multiples of which alone some part of a router acts; 1 where all times are alike.
    fn clock(&self) -> u64 {
        1
    }

    /// Buffer space (bytes) that a packet of `size` bytes takes.
    #[inline(always)]
    fn room(&self, size: u32) -> u32 {
        size
    }

    /// Time (ps) from the wake-up of an idle interface to its next start.
    #[inline(always)]
    fn wake(&self) -> u64 {
        0
    }

    /// `true` if the records of all routers are more than caches hold.
    fn is_large(&self, net: &Network) -> bool {
        net.is_large()
    }

    /// How interfaces take messages, if not by a link.
    #[inline(always)]
    fn sequencer(&self) -> Option<Sequencer> {
        None
    }

    /// Messages count as delivered by [`crate::nic::cumulative`].
    #[inline(always)]
    fn completes_by_flow(&self) -> bool {
        false
    }
}
