//! What a router model answers, and a network with one: what handlers are generic over. The models are in `router`, above.

use super::{Network, Site};
use crate::packet::Packet;
use crate::spec::{Architecture, BitsPerSec, Completion, RouterModel as Model, RunSpec};
use crate::state::State;
use des::{Journal, Sink, Torn};
use std::marker::PhantomData;
use std::ops::Range;

/// A network with one router model.
#[derive(Debug)]
pub struct Fabric<M> {
    /// The immutable part.
    pub net: Network,
    model: PhantomData<M>,
}

impl<M: RouterModel> Fabric<M> {
    /// Wraps a network.
    pub fn new(net: Network) -> Self {
        Fabric {
            net,
            model: PhantomData,
        }
    }
}

/// A router model.
pub trait RouterModel: Sized + Send + Sync + 'static {
    /// `true` if the router's host buffers are bounded and interfaces need credits.
    const HOST_CREDITS: bool;

    /// `true` for variants that know beforehand that the network has one virtual channel per port, minimal routing, cut-through,
    /// links of one speed, at most 64 ports per router and no way of [`MAX_HOPS`](crate::packet::MAX_HOPS) links, as many studies have: what they need not ask saves a tenth of a hop.
    const PLAIN: bool = false;

    /// Lists of waiting packets per output port in [`State::inputs`], besides the one per channel.
    const LISTS: u32 = 0;

    /// `true` if interfaces hand over whole packets by a sequencer and a packetizer instead of a link (late admission).
    const SEQUENCER: bool = false;

    /// A packet's head is ready for routing.
    fn arrive<J: Journal, S: Sink<Fabric<Self>>>(
        net: &Network,
        st: &mut State,
        j: &mut J,
        lp: u32,
        packet: Packet,
        sink: &mut S,
    );

    /// Buffer space comes back to an output port.
    fn credit<J: Journal, S: Sink<Fabric<Self>>>(
        net: &Network,
        st: &mut State,
        j: &mut J,
        lp: u32,
        event: &Packet,
        sink: &mut S,
    );

    /// Performs all departures with a start before `end`; returns the next departure that needs no event, `u64::MAX` if none.
    fn close<J: Journal, S: Sink<Fabric<Self>>>(
        net: &Network,
        st: &mut State,
        j: &mut J,
        lp: u32,
        site: &Site,
        end: u64,
        sink: &mut S,
    ) -> u64;

    /// How much waits for output `port` (its place in the columns) and channel `vc` at `now`, for adaptive routings to compare the
    /// ports of one router: the model says in what unit.
    fn backlog<J: Journal, S: Sink<Fabric<Self>>>(
        net: &Network,
        st: &mut State,
        j: &mut J,
        lp: u32,
        site: &Site,
        port: u32,
        vc: u8,
        now: u64,
        sink: &mut S,
    ) -> u64;

    /// Time (ps) that output `port` (its place in the columns) needs for what it sends and for what waits in this router for it at
    /// `now`: all of it, or what waits on channel `vc`. For adaptive routings, behind [`RouterModel::backlog`]'s catch-up.
    fn waiting(net: &Network, st: &State, port: u32, vc: Option<u8>, now: u64) -> u64;

    /// Bytes that wait in this router for channel `vc` of output `port` (its place in the columns), behind [`RouterModel::backlog`]'s
    /// catch-up: asked of models that give a packet its output and channel when it comes.
    fn queued(_: &Network, _: &State, _: u32, _: u8) -> i64 {
        0
    }

    /// Fills the columns that are the model's own for some neighbouring routers; called before the first event.
    fn start(_: &Network, _: &Range<u32>, _: &mut State) {}

    /// Appends the columns that are the model's own, of one router, for a checkpoint.
    fn pack(_: &Network, _: &State, _: u32, _: &mut Vec<u8>) {}

    /// Takes what [`RouterModel::pack`] has written.
    fn unpack(_: &Network, _: &mut State, _: u32, _: &mut &[u8]) -> Result<(), Torn> {
        Ok(())
    }

    /// Buffer space (bytes) that a packet of `size` bytes takes.
    #[inline(always)]
    fn room(_: &Network, size: u32) -> u32 {
        size
    }

    /// Time (ps) from the wake-up of an idle interface to its next start.
    #[inline(always)]
    fn wake(_: &Network) -> u64 {
        0
    }
}

/// Parameters that only some models read.
#[derive(Clone, Copy, Debug)]
pub struct ModelParameters {
    /// `true`: a credit returns when the tail has left; its delay includes the serialisation.
    credit_after_tail: bool,
    /// The router takes chunks of packets and admits them late; the values below are for it alone.
    pub late_admission: bool,
    /// Messages count as delivered by [`crate::nic::cumulative`].
    pub cumulative: bool,
    /// Time of a small step inside a router or an interface (ps).
    pub local: u64,
    /// What a chunk occupies a link for besides its serialisation (ps).
    pub occupied: u64,
    /// What a chunk takes besides that and the link's latency (ps).
    pub pipelined: u64,
    /// Free bytes of an output queue that a chunk needs which does not go straight on.
    pub entry: i64,
    /// Least time between two messages at an interface (ps).
    pub sequence: u64,
    /// Time between two packets of a message at an interface (ps).
    pub cut: u64,
    /// Clock period of the crossbar (ps): a flit at its bandwidth, rounded to the nearest ps, at least 1.
    pub tick: u64,
    /// Bytes of an output buffer per port and channel, whole flits.
    pub output_buffer: u64,
    /// Bytes of a flit.
    flit: u32,
    /// Size in bytes of a full packet, the room that it takes, its time at the crossbar (ps).
    full: (u32, u32, u64),
}

impl ModelParameters {
    /// Picks the parameters out of a specification.
    pub fn new(spec: &RunSpec) -> ModelParameters {
        let router = &spec.router;
        let late_admission = router.model == Model::Credit && router.architecture == Architecture::LateAdmission;
        let local = router.local_latency.0;
        let (occupied, pipelined) = match router.traversal_occupies_link {
            true => (local + router.traversal.0, 0),
            false => (local, router.traversal.0),
        };
        let chunk = spec.nic.chunk.unwrap_or(spec.nic.packet).0;
        let flit = router.flit.0.clamp(1, 1 << 16);
        let links = std::iter::once(&spec.links.default).chain(spec.links.by_class.values());
        let fastest = links.map(|link| link.bandwidth.0).max().unwrap_or(1);
        let BitsPerSec(crossbar) = router.crossbar_bandwidth.unwrap_or(BitsPerSec(fastest + fastest / 2));
        let crossbar = crossbar.max(1);
        let tick = ((flit * 8_000_000_000_000 + crossbar / 2) / crossbar).max(1);
        let packet = spec.nic.packet.0;
        let flits = packet.div_ceil(flit);
        ModelParameters {
            credit_after_tail: !late_admission && !router.is_input_queued(),
            late_admission,
            cumulative: late_admission && router.completion == Completion::Cumulative,
            local,
            occupied,
            pipelined,
            entry: (chunk * u64::from(router.bubble.max(1))) as i64,
            sequence: spec.nic.message_overhead.0 + local,
            cut: 2 * local + spec.nic.packet_overhead.0,
            tick,
            output_buffer: router.output_buffer.map_or(u64::MAX / 2, |bytes| bytes.0 / flit * flit),
            flit: flit as u32,
            full: (packet as u32, (flits * flit) as u32, flits * tick),
        }
    }

    /// Buffer space (bytes) of a packet in whole flits.
    #[inline(always)]
    pub fn room(&self, size: u32) -> u32 {
        if size == self.full.0 {
            self.full.1
        } else {
            size.next_multiple_of(self.flit)
        }
    }

    /// Time (ps) that a packet which takes `room` bytes occupies its ports at the crossbar: a tick per flit.
    #[inline(always)]
    pub fn crossing(&self, room: u32) -> u64 {
        if room == self.full.1 {
            self.full.2
        } else {
            u64::from(room / self.flit) * self.tick
        }
    }

    /// The first tick at `time` or later (ps).
    #[inline(always)]
    pub fn tick_from(&self, time: u64) -> u64 {
        time.next_multiple_of(self.tick)
    }

    /// The first tick later than `time` (ps).
    #[inline(always)]
    pub fn tick_after(&self, time: u64) -> u64 {
        (time / self.tick + 1) * self.tick
    }

    /// The least delay of a credit over a link (ps).
    pub fn least_credit(&self, credit: u64, serialisation: u64) -> u64 {
        credit + if self.credit_after_tail { serialisation } else { 0 }
    }
}
