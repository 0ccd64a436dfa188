//! `late-admission`: output queues that admit a chunk when there is room, the upstream credit being withheld until then (CODES torus).
//!
//! What travels is a chunk, a part of a packet. An output queue of B bytes counts the chunks it holds and those that have left it
//! and still wait at the next router. A chunk that arrives asks for the queue of its next link: one free chunk if it goes straight on
//! (the same link class), `bubble` free chunks if it turns; a queue's own packets ask for as much. With room it is admitted and its
//! credit goes back at once; without, it waits beside the queue, its credit withheld. A credit admits at most one waiting chunk, those
//! that go straight first. The queue sends admitted chunks before packets of its own nodes.
//!
//! A queue that was off takes its next turn one local latency L after something came, plus a delay per byte if it was a packet of an
//! own node. A turn at s occupies the link until max(s, idle) + L + size / bandwidth (+ traversal if that occupies the link); the
//! chunk arrives then (+ latency, + traversal if that is pipelined); the next turn is L later. Nodes take chunks as they arrive.
//! Partly filled chunks take the time and the room of whole ones.
//!
//! Turns are performed by catch-up: they cause no events. At equal times arrivals and credits come first, turns last.
//! The source is the torus model of CODES as run (see `docs/models/late-admission.md`).

use crate::network::Network;
use crate::network::model::{AtRouter, Fabric, ModelRecords, RouterModel, Sequencer};
use crate::packet::Packet;
use crate::packing;
use crate::spec::{Completion, RunSpec};
use crate::state::lists::List;
use crate::state::{Link, NONE, State};
use des::{Event, Journal, NoJournal, Sink, Time, Torn};

mod named;

/// The model; times in ps.
#[derive(Debug)]
pub struct LateAdmission {
    /// A small step inside a router or an interface.
    local: u64,
    /// What a chunk occupies a link for besides its serialisation.
    occupied: u64,
    /// What a chunk takes besides that and the link's latency.
    pipelined: u64,
    /// Free bytes of an output queue that a chunk needs which does not go straight on.
    entry: i64,
    sequencer: Sequencer,
    by_flow: bool,
}

/// Lists of an output port, in [`State::lists`]: chunks admitted, packets of own nodes, chunks that wait to go straight on, chunks
/// that wait to turn.
const ADMITTED: u32 = 0;
const OWN: u32 = 1;
const STRAIGHT: u32 = 2;
const TURNING: u32 = 3;

/// [`crate::state::Port::extra`] while the queue has a turn to come, at [`crate::state::Port::mark`]. A turn that finds nothing to
/// send ends that; it is looked at only when something comes.
const ON: u32 = 1;

/// First slots of the chunks that wait beside the queue of `port`: to go straight on, and to turn.
pub fn waiting(state: &State, port: u32) -> [u32; 2] {
    [STRAIGHT, TURNING].map(|kind| state.lists.get(place(port, kind)).head)
}

/// The place of a port's list in [`State::lists`].
#[inline(always)]
fn place(port: u32, kind: u32) -> u32 {
    port * LateAdmission::LISTS + kind
}

impl RouterModel for LateAdmission {
    const HOST_CREDITS: bool = false;
    const LISTS: u32 = 4;
    const RECORDS: ModelRecords = ModelRecords {
        per_port: Self::LISTS as usize * size_of::<List>(),
        ..ModelRecords::NONE
    };

    fn new(spec: &RunSpec, _: &Network) -> Self {
        let router = &spec.router;
        let local = router.local_latency.0;
        let (occupied, pipelined) = match router.traversal_occupies_link {
            true => (local + router.traversal.0, 0),
            false => (local, router.traversal.0),
        };
        let chunk = spec.nic.chunk.unwrap_or(spec.nic.packet).0;
        LateAdmission {
            local,
            occupied,
            pipelined,
            entry: (chunk * u64::from(router.bubble.max(1))) as i64,
            sequencer: Sequencer {
                message: spec.nic.message_overhead.0 + local,
                packet: 2 * local + spec.nic.packet_overhead.0,
            },
            by_flow: router.completion == Completion::Cumulative,
        }
    }

    #[inline(always)]
    fn sequencer(&self) -> Option<Sequencer> {
        Some(self.sequencer)
    }

    #[inline(always)]
    fn completes_by_flow(&self) -> bool {
        self.by_flow
    }

    #[inline(always)]
    fn arrive<J: Journal, S: Sink<Fabric<Self>>>(at: AtRouter<'_, Self, J, S>, event: &Packet) {
        let mut packet = *event;
        let site = *at.site;
        let mut at = at.with(&site);
        let AtRouter { net, model, lp, .. } = at;
        let now = packet.time().0;
        let way = net.route(&site, &packet);
        let local = way.port();
        let port = site.port + local;
        if local >= u32::from(site.net) {
            at.eject(port, packet);
            return;
        }
        at.catch_up(port, now);
        packet.set_phase(way.phase());
        if packet.port() >= site.net {
            at.st.routers.edit(at.j, lp).queued += net.parts(packet.size());
            at.push(port, OWN, packet);
            at.st.ports.edit(at.j, port).waiting += 1;
            let first = net.interface.idle_delay * u64::from(packet.size());
            at.switch_on(local, now + model.local + first);
            return;
        }
        at.st.routers.edit(at.j, lp).queued += 1;
        let from = net.peers[(site.port + u32::from(packet.port())) as usize].class();
        let straight = from == net.peers[port as usize].class();
        let chunk = i64::from(net.unit);
        let room = at.st.channels.get(port).credit;
        if room >= if straight { chunk } else { model.entry } {
            at.st.channels.edit(at.j, port).credit = room - chunk;
            at.st.ports.edit(at.j, port).waiting += 1;
            at.give_room_back(&packet, now);
            at.push(port, ADMITTED, packet);
        } else {
            at.push(port, if straight { STRAIGHT } else { TURNING }, packet);
        }
        at.switch_on(local, now + model.local);
    }

    /// Bytes held of the output queue's buffer; routings of this architecture are not adaptive.
    fn backlog<J: Journal, S: Sink<Fabric<Self>>>(at: AtRouter<'_, Self, J, S>, port: u32, vc: u8, _: u64) -> u64 {
        let channel = at.st.channels.get(port * at.net.vcs + u32::from(vc));
        (at.net.buffer - channel.credit).max(0) as u64
    }

    /// Nobody asks: routings of this architecture are not adaptive.
    fn waiting(&self, _: &Network, _: &State, _: u32, _: Option<u8>, _: u64) -> u64 {
        0
    }

    #[inline(always)]
    fn credit<J: Journal, S: Sink<Fabric<Self>>>(at: AtRouter<'_, Self, J, S>, event: &Packet) {
        let site = *at.site;
        let mut at = at.with(&site);
        let AtRouter { net, model, .. } = at;
        let local = u32::from(event.port());
        let port = site.port + local;
        let now = event.time().0;
        at.catch_up(port, now);
        let chunk = i64::from(net.unit);
        let room = at.st.channels.get(port).credit + chunk;
        let list = |kind: u32| at.st.lists.get(place(port, kind)).head;
        let admitted = if list(STRAIGHT) != NONE {
            Some(STRAIGHT)
        } else if room >= model.entry && list(TURNING) != NONE {
            Some(TURNING)
        } else {
            None
        };
        match admitted {
            None => at.st.channels.edit(at.j, port).credit = room,
            Some(kind) => {
                // The room that came is taken again.
                at.st.channels.edit(at.j, port).credit = room - chunk;
                let slot = at.detach(port, kind);
                at.append(port, ADMITTED, slot);
                at.st.ports.edit(at.j, port).waiting += 1;
                let packet = *at.st.slots.get(slot);
                at.give_room_back(&packet, now);
            }
        }
        at.switch_on(local, now + model.local);
    }

    #[inline(always)]
    fn close<J: Journal, S: Sink<Fabric<Self>>>(mut at: AtRouter<'_, Self, J, S>, end: u64) -> u64 {
        let mut wake = u64::MAX;
        for word in 0..at.net.words {
            let index = at.lp * at.net.words + word;
            let all = *at.st.waiting.get(index);
            let (mut bits, mut left) = (all, all);
            while bits != 0 {
                let bit = bits.trailing_zeros();
                bits &= bits - 1;
                let port = at.site.port + word * 64 + bit;
                at.catch_up(port, end);
                let record = at.st.ports.get(port);
                if record.extra == ON && record.waiting != 0 {
                    wake = wake.min(record.mark);
                } else {
                    left &= !(1 << bit);
                }
            }
            if left != all {
                at.st.waiting.set(at.j, index, left);
            }
        }
        wake
    }

    fn pack(&self, net: &Network, st: &State, lp: u32, out: &mut Vec<u8>) {
        let site = &net.sites[lp as usize];
        for index in place(site.port, 0)..place(site.port + site.ports(), 0) {
            packing::put_packets(net, st, lp, st.lists.get(index).head, out);
        }
    }

    fn unpack(&self, net: &Network, st: &mut State, lp: u32, input: &mut &[u8]) -> Result<(), Torn> {
        let site = net.sites[lp as usize];
        for index in place(site.port, 0)..place(site.port + site.ports(), 0) {
            let (head, tail) = packing::take_packets::<Self>(net, st, lp, input)?;
            st.lists.set(&mut NoJournal, index, List { head, tail });
        }
        Ok(())
    }
}

impl<J: Journal, S: Sink<Fabric<LateAdmission>>> AtRouter<'_, LateAdmission, J, S> {
    /// Gives the queue of a local port that is off its next turn at `turn`, and marks a queue with something to send for
    /// [`RouterModel::close`].
    #[inline(always)]
    fn switch_on(&mut self, local: u32, turn: u64) {
        let port = self.site.port + local;
        let (off, waiting) = {
            let record = self.st.ports.get(port);
            (record.extra != ON, record.waiting)
        };
        if off {
            let record = self.st.ports.edit(self.j, port);
            record.extra = ON;
            record.mark = turn;
        }
        if waiting != 0 {
            let index = self.lp * self.net.words + local / 64;
            let bit = 1 << (local % 64);
            let word = *self.st.waiting.get(index);
            if word & bit == 0 {
                self.st.waiting.set(self.j, index, word | bit);
            }
        }
    }

    /// Performs all turns of the output `port` before `limit`.
    #[inline(always)]
    fn catch_up(&mut self, port: u32, limit: u64) {
        let AtRouter { net, model, lp, .. } = *self;
        loop {
            let record = self.st.ports.get(port);
            if record.extra != ON || record.mark >= limit {
                return;
            }
            if record.waiting == 0 {
                self.st.ports.edit(self.j, port).extra = 0;
                return;
            }
            let mut gone = 1;
            let mut packet = if self.st.lists.get(place(port, ADMITTED)).head != NONE {
                self.take(port, ADMITTED)
            } else {
                let room = self.st.channels.get(port).credit;
                if room < model.entry {
                    self.st.ports.edit(self.j, port).extra = 0;
                    return;
                }
                self.st.channels.edit(self.j, port).credit = room - i64::from(net.unit);
                let slot = self.st.lists.get(place(port, OWN)).head;
                if self.st.slots.get(slot).size() > net.unit {
                    gone = 0;
                    self.st.slots.edit(self.j, slot).split_off(net.unit)
                } else {
                    self.take(port, OWN)
                }
            };
            self.st.routers.edit(self.j, lp).queued -= 1;
            let peer = net.peers[port as usize];
            let class = &net.classes[peer.class() as usize];
            let busy = model.occupied + class.ser(net.unit);
            let record = self.st.ports.edit(self.j, port);
            record.free = record.free.max(record.mark) + busy;
            record.busy += busy;
            record.packets += 1;
            record.bytes += u64::from(packet.size());
            record.waiting -= gone;
            if record.waiting == 0 {
                record.extra = 0;
            } else {
                record.mark = record.free + model.local;
            }
            let arrival = Time(record.free + class.latency + model.pipelined);
            if net.looks_at_hops {
                let gone = self.st.ports.get(port).free;
                Fabric::<LateAdmission>::show_stay(net, lp, peer.address(), packet, gone, self.sink);
            }
            packet.count_hop();
            self.sink.send(packet.to(arrival, peer.address()));
        }
    }

    /// Hands a chunk, or a packet of a node of the same router chunk by chunk, to its node.
    #[inline(always)]
    fn eject(&mut self, port: u32, packet: Packet) {
        let net = self.net;
        let now = packet.time().0;
        if packet.port() < self.site.net {
            self.give_room_back(&packet, now);
        }
        let record = self.st.ports.edit(self.j, port);
        record.packets += u64::from(net.parts(packet.size()));
        record.bytes += u64::from(packet.size());
        let mut rest = packet;
        while rest.size() > net.unit {
            let chunk = rest.split_off(net.unit);
            self.deliver(&chunk, now);
        }
        self.deliver(&rest, now);
    }

    /// Gives the room of a chunk back to the queue that it came from.
    #[inline(always)]
    fn give_room_back(&mut self, packet: &Packet, now: u64) {
        let peer = self.net.peers[(self.site.port + u32::from(packet.port())) as usize];
        let at = Time(now + self.net.classes[peer.class() as usize].credit);
        self.sink.send(Packet::credit(at, peer.address()));
    }

    /// Puts a packet into a new slot at the end of a list.
    #[inline(always)]
    fn push(&mut self, port: u32, kind: u32, packet: Packet) {
        let (st, j, lp) = (&mut *self.st, &mut *self.j, self.lp);
        let free = st.routers.get(lp).free_slot;
        let slot = if free == NONE {
            let link = Link {
                next: NONE,
                sequence: 0,
            };
            st.links.push(j, link);
            st.slots.push(j, packet)
        } else {
            st.routers.edit(j, lp).free_slot = st.links.get(free).next;
            st.slots.set(j, free, packet);
            free
        };
        self.append(port, kind, slot);
    }

    /// Puts a slot at the end of a list.
    #[inline(always)]
    fn append(&mut self, port: u32, kind: u32, slot: u32) {
        let (st, j) = (&mut *self.st, &mut *self.j);
        st.links.edit(j, slot).next = NONE;
        let index = place(port, kind);
        let List { head, tail } = *st.lists.get(index);
        let head = if head == NONE {
            slot
        } else {
            st.links.edit(j, tail).next = slot;
            head
        };
        st.lists.set(j, index, List { head, tail: slot });
    }

    /// Takes the first slot out of a list, which must not be empty.
    #[inline(always)]
    fn detach(&mut self, port: u32, kind: u32) -> u32 {
        let list = self.st.lists.edit(self.j, place(port, kind));
        let slot = list.head;
        list.head = self.st.links.get(slot).next;
        slot
    }

    /// Takes the first packet out of a list, which must not be empty, and frees its slot.
    #[inline(always)]
    fn take(&mut self, port: u32, kind: u32) -> Packet {
        let slot = self.detach(port, kind);
        let free = &mut self.st.routers.edit(self.j, self.lp).free_slot;
        self.st.links.edit(self.j, slot).next = *free;
        *free = slot;
        *self.st.slots.get(slot)
    }
}
