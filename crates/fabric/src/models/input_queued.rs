//! `credit` with `architecture = "input-queued"`: input queues per virtual channel, a clocked crossbar, output buffers; the timing of
//! SST Merlin's `hr_router`.
//!
//! * **Input.** A packet waits in the queue of the port and channel it came on. It is routed when it becomes the first of its queue.
//! * **Crossbar.** It acts at multiples of one tick, the time of a flit at the crossbar's bandwidth. At a tick the first packets go in
//!   least-recently-served order of their queues, where the input port and the output port are idle and the output buffer has room; both
//!   ports are then busy for a tick per flit. The input buffer is free at the instant of crossing, and its credit leaves then.
//! * **Output.** A port takes turns: the channels in round robin (or by arrival), the first one with a packet and room downstream. A turn
//!   that sends is followed by the next when the packet has left; one that does not leaves the port idle. An idle port that gets a packet
//!   or a credit has its turn one wake delay later.
//!
//! Buffers are counted in bytes of whole flits. Neither ticks nor turns are events: a router is caught up before it looks at an arrival
//! or a credit and when its window closes. At equal times the tick comes first, then arrivals and credits, then the turns; ticks at
//! which nothing can move are skipped. Units: ps and bytes.

use crate::network::model::{AtRouter, Fabric, ModelRecords, RouterModel};
use crate::network::{Network, Part};
use crate::packet::Packet;
use crate::packing;
use crate::spec::{BitsPerSec, RunSpec};
use crate::state::crossbar::{Arbiter, Crossing, Input};
use crate::state::{NONE, State};
use des::checkpoint::{put, take};
use des::{Event, Journal, NoJournal, Sink, Torn};
use std::ops::Range;

mod crossbar;
mod named;
mod output;

/// The model.
#[derive(Debug)]
pub struct InputQueued {
    /// Clock period of the crossbar (ps): a flit at its bandwidth, rounded to the nearest ps, at least 1.
    tick: u64,
    /// Bytes of an output buffer per port and channel, whole flits.
    output_buffer: u64,
    /// Bytes of a flit.
    flit: u32,
    /// Size in bytes of a full packet, the room that it takes, its time at the crossbar (ps).
    full: (u32, u32, u64),
    /// From the wake-up of an idle interface to its next start (ps).
    wake: u64,
    /// From the start of a packet on the link to a node until its credit is back (ps).
    node_credit: u64,
}

impl InputQueued {
    /// Time (ps) that a packet which takes `room` bytes occupies its ports at the crossbar: a tick per flit.
    #[inline(always)]
    fn crossing(&self, room: u32) -> u64 {
        if room == self.full.1 {
            self.full.2
        } else {
            u64::from(room / self.flit) * self.tick
        }
    }

    /// The first tick at `time` or later (ps).
    #[inline(always)]
    fn tick_from(&self, time: u64) -> u64 {
        time.next_multiple_of(self.tick)
    }

    /// The first tick later than `time` (ps).
    #[inline(always)]
    fn tick_after(&self, time: u64) -> u64 {
        (time / self.tick + 1) * self.tick
    }
}

impl RouterModel for InputQueued {
    const HOST_CREDITS: bool = true;
    const RECORDS: ModelRecords = ModelRecords {
        per_port: size_of::<Crossing>(),
        per_channel: size_of::<Input>(),
        per_router: size_of::<Arbiter>(),
    };

    fn new(spec: &RunSpec, net: &Network) -> Self {
        let router = &spec.router;
        let model = router.named();
        let flit = u64::from(model.flit(router));
        let links = std::iter::once(&spec.links.default).chain(spec.links.by_class.values());
        let fastest = links.map(|link| link.bandwidth.0).max().unwrap_or(1);
        let BitsPerSec(crossbar) = router.crossbar_bandwidth.unwrap_or(BitsPerSec(fastest + fastest / 2));
        let crossbar = crossbar.max(1);
        let tick = ((flit * 8_000_000_000_000 + crossbar / 2) / crossbar).max(1);
        let packet = spec.nic.packet.0;
        let flits = packet.div_ceil(flit);
        InputQueued {
            tick,
            output_buffer: router.output_buffer.map_or(u64::MAX / 2, |bytes| bytes.0 / flit * flit),
            flit: flit as u32,
            full: (packet as u32, (flits * flit) as u32, flits * tick),
            wake: net.injection.wake,
            node_credit: model.node_credit(router, spec.links.of("host")).unwrap_or(0),
        }
    }

    fn clock(&self) -> u64 {
        self.tick
    }

    #[inline(always)]
    fn room(&self, size: u32) -> u32 {
        if size == self.full.0 {
            self.full.1
        } else {
            size.next_multiple_of(self.flit)
        }
    }

    #[inline(always)]
    fn wake(&self) -> u64 {
        self.wake
    }

    fn start(&self, net: &Network, routers: &Range<u32>, st: &mut State) {
        let Part { ports, .. } = net.part(routers);
        let sites = &(*net.sites)[routers.start as usize..routers.end as usize];
        let mut inputs = Vec::with_capacity(ports.len() * net.vcs as usize);
        let mut arbiters = Vec::with_capacity(sites.len());
        for site in sites {
            let own = u64::from(site.ports() * net.vcs);
            inputs.extend((0..own).map(|stamp| Input {
                stamp,
                held: 0,
                ready: 0,
                head: NONE,
                tail: NONE,
                output: 0,
                room: 0,
                vc: 0,
                phase: 0,
                spare: [0; 6],
            }));
            arbiters.push(Arbiter {
                due: u64::MAX,
                turn: u64::MAX,
                grants: own,
            });
        }
        st.inputs.fill(ports.start * net.vcs, inputs);
        st.arbiters.fill(routers.start, arbiters);
        let idle = Crossing {
            input_free: 0,
            output_free: 0,
            turn: u64::MAX,
            heads: 0,
        };
        st.crossings.fill(ports.start, vec![idle; ports.len()]);
        st.arriving
            .fill(routers.start * net.words, vec![0; sites.len() * net.words as usize]);
        // The first look of the round robin is at channel 0.
        for port in st.ports.as_mut_slice() {
            port.served = net.vcs - 1;
        }
        // Interfaces have one buffer for all channels.
        let channels = st.channels.as_mut_slice();
        for site in sites {
            for port in site.port + u32::from(site.net)..site.port + site.ports() {
                channels[((port - ports.start) * net.vcs) as usize].credit = net.buffer;
            }
        }
    }

    fn arrive<J: Journal, S: Sink<Fabric<Self>>>(mut at: AtRouter<'_, Self, J, S>, event: &Packet) {
        let packet = *event;
        let (net, lp) = (at.net, at.lp);
        let now = packet.time().0;
        at.catch_up(now + 1, now);
        let local = u32::from(packet.port());
        let port = at.site.port + local;
        let index = port * net.vcs + u32::from(packet.vc());
        if !at.append(index, packet) {
            return;
        }
        at.st.crossings.edit(at.j, port).heads |= 1 << packet.vc();
        *at.st.arriving.edit(at.j, lp * net.words + local / 64) |= 1 << (local % 64);
        at.route_first(index, now);
        let due = at.chance(index, at.model.tick_after(now));
        let arbiter = at.st.arbiters.edit(at.j, lp);
        arbiter.due = arbiter.due.min(due);
    }

    fn credit<J: Journal, S: Sink<Fabric<Self>>>(mut at: AtRouter<'_, Self, J, S>, event: &Packet) {
        let now = event.time().0;
        at.catch_up(now + 1, now);
        let port = at.site.port + u32::from(event.port());
        let channel = port * at.net.vcs + u32::from(event.vc());
        at.st.channels.edit(at.j, channel).credit += event.value() as i64;
        if let Some(turn) = at.wake(port, now)
            && at.st.ports.get(port).waiting != 0
        {
            // What waits for room in this port's buffer may cross once the turn has made some.
            let arbiter = at.st.arbiters.edit(at.j, at.lp);
            arbiter.turn = arbiter.turn.min(turn);
            arbiter.due = arbiter.due.min(at.model.tick_after(turn));
        }
    }

    fn close<J: Journal, S: Sink<Fabric<Self>>>(mut at: AtRouter<'_, Self, J, S>, end: u64) -> u64 {
        at.catch_up(end, end);
        let arbiter = at.st.arbiters.get(at.lp);
        arbiter.due.min(arbiter.turn)
    }

    fn pack(&self, net: &Network, st: &State, lp: u32, out: &mut Vec<u8>) {
        let site = &net.sites[lp as usize];
        let ports = site.port..site.port + site.ports();
        for index in ports.start * net.vcs..ports.end * net.vcs {
            let input = *st.inputs.get(index);
            let (head, tail) = (NONE, NONE);
            put(out, Input { head, tail, ..input });
            packing::put_packets(net, st, lp, input.head, out);
        }
        ports.for_each(|port| put(out, *st.crossings.get(port)));
        (lp * net.words..(lp + 1) * net.words).for_each(|word| put(out, *st.arriving.get(word)));
        put(out, *st.arbiters.get(lp));
    }

    fn unpack(&self, net: &Network, st: &mut State, lp: u32, input: &mut &[u8]) -> Result<(), Torn> {
        let j = &mut NoJournal;
        let site = net.sites[lp as usize];
        let ports = site.port..site.port + site.ports();
        for index in ports.start * net.vcs..ports.end * net.vcs {
            let record: Input = take(input)?;
            let (head, tail) = packing::take_packets::<Self>(net, st, lp, input)?;
            if head != NONE && !(ports.contains(&record.output) && u32::from(record.vc) < net.vcs) {
                return Err(Torn("a packet in it wants a port that is not there"));
            }
            st.inputs.set(j, index, Input { head, tail, ..record });
        }
        for port in ports {
            st.crossings.set(j, port, take(input)?);
        }
        for word in lp * net.words..(lp + 1) * net.words {
            st.arriving.set(j, word, take(input)?);
        }
        st.arbiters.set(j, lp, take(input)?);
        Ok(())
    }

    /// Bytes in the output buffer of that channel; the router has been caught up already.
    fn backlog<J: Journal, S: Sink<Fabric<Self>>>(at: AtRouter<'_, Self, J, S>, port: u32, vc: u8, _: u64) -> u64 {
        at.st.inputs.get(port * at.net.vcs + u32::from(vc)).held
    }

    fn waiting(&self, net: &Network, st: &State, port: u32, vc: Option<u8>, now: u64) -> u64 {
        let held = |vc: u32| st.inputs.get(port * net.vcs + vc).held;
        let bytes = match vc {
            Some(vc) => held(u32::from(vc)),
            None => (0..net.vcs).map(held).sum(),
        };
        let class = &net.classes[net.peers[port as usize].class() as usize];
        st.ports.get(port).free.saturating_sub(now) + class.time_of(bytes)
    }
}

impl Fabric<InputQueued> {
    /// [`AtRouter::act`].
    #[inline(never)]
    fn act<J: Journal, S: Sink<Self>>(
        &self,
        st: &mut State,
        j: &mut J,
        lp: u32,
        (ticks, turns): (u64, u64),
        sink: &mut S,
    ) {
        self.at(st, j, lp, sink).act(ticks, turns);
    }
}

impl<J: Journal, S: Sink<Fabric<InputQueued>>> AtRouter<'_, InputQueued, J, S> {
    /// Performs all ticks before `ticks` and all turns before `turns`, in the order of time, ticks first.
    #[inline(always)]
    fn catch_up(&mut self, ticks: u64, turns: u64) {
        let Arbiter { due, turn, .. } = *self.st.arbiters.get(self.lp);
        if due < ticks || turn < turns {
            self.fabric.act(self.st, self.j, self.lp, (ticks, turns), self.sink);
        }
    }

    /// [`Self::catch_up`] where there is something to do.
    #[inline(always)]
    fn act(&mut self, ticks: u64, turns: u64) {
        loop {
            let Arbiter { due, turn, .. } = *self.st.arbiters.get(self.lp);
            if due >= ticks && turn >= turns {
                return;
            }
            // Between two ticks the output ports have nothing to do with each other.
            let until = due.min(turns);
            if turn < until {
                self.turns(until);
            }
            if due < ticks {
                self.tick(due);
            }
        }
    }

    /// Puts an arrived packet at the end of its input queue; `true` if it is the first.
    fn append(&mut self, index: u32, packet: Packet) -> bool {
        let slot = self.keep(packet, 0);
        let (st, j) = (&mut *self.st, &mut *self.j);
        let input = st.inputs.edit(j, index);
        let first = input.head == NONE;
        if first {
            input.head = slot;
        } else {
            st.links.edit(j, input.tail).next = slot;
        }
        input.tail = slot;
        first
    }

    /// Routes the first packet of an input queue at `now`.
    fn route_first(&mut self, index: u32, now: u64) {
        let AtRouter { net, site, .. } = *self;
        let packet = *self.st.slots.get(self.st.inputs.get(index).head);
        let to_the_node = net.routing.leads_to_the_node();
        let way = match to_the_node {
            true => self.lent().route_by_what_waits::<true>(&packet, now),
            false => self.route(&packet, now),
        };
        let (local, vc) = (way.port(), way.vc());
        let port = site.port + local;
        let ready = match net.mixed_speeds {
            true => {
                let serialisation = net.classes[net.peers[port as usize].class() as usize].ser(packet.size());
                packet.time().0 + net.overtaking_delay(site, &packet, serialisation)
            }
            false => 0,
        };
        let input = self.st.inputs.edit(self.j, index);
        input.output = port;
        // On its way to a node a packet stays on the channel it came on, unless its routing leads it there.
        input.vc = if to_the_node || local < u32::from(site.net) {
            vc
        } else {
            packet.vc()
        };
        input.phase = way.phase();
        input.ready = ready;
        input.room = self.model.room(packet.size());
    }
}
