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

use crate::network::model::{Fabric, RouterModel};
use crate::network::{Network, Site};
use crate::nic;
use crate::packet::Packet;
use crate::packing;
use crate::state::lists::List;
use crate::state::{Link, NONE, State};
use des::{Event, Journal, NoJournal, Sink, Time, Torn};

/// The model.
#[derive(Debug)]
pub struct LateAdmission;

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
    [STRAIGHT, TURNING].map(|kind| state.lists.get(port * LateAdmission::LISTS + kind).head)
}

impl RouterModel for LateAdmission {
    const HOST_CREDITS: bool = false;
    const LISTS: u32 = 4;
    const SEQUENCER: bool = true;

    #[inline(always)]
    fn arrive<J: Journal, S: Sink<Fabric<Self>>>(
        net: &Network,
        st: &mut State,
        j: &mut J,
        lp: u32,
        packet: Packet,
        sink: &mut S,
    ) {
        let site = net.sites[lp as usize];
        let now = packet.time().0;
        let way = net.route(&site, &packet);
        let local = way.port();
        if local >= u32::from(site.net) {
            eject(net, st, j, &site, site.port + local, packet, sink);
            return;
        }
        let port = site.port + local;
        catch_up(net, st, j, lp, port, now, sink);
        let mut packet = packet;
        packet.set_phase(way.phase());
        if packet.port() >= site.net {
            st.routers.edit(j, lp).queued += net.parts(packet.size());
            push(st, j, lp, port, OWN, packet);
            st.ports.edit(j, port).waiting += 1;
            let first = net.idle_delay * u64::from(packet.size());
            switch_on(net, st, j, lp, local, port, now + net.model.local + first);
            return;
        }
        st.routers.edit(j, lp).queued += 1;
        let from = net.peers[(site.port + u32::from(packet.port())) as usize].class();
        let straight = from == net.peers[port as usize].class();
        let chunk = i64::from(net.unit);
        let room = st.channels.get(port).credit;
        if room >= if straight { chunk } else { net.model.entry } {
            st.channels.edit(j, port).credit = room - chunk;
            st.ports.edit(j, port).waiting += 1;
            return_credit(net, &site, &packet, now, sink);
            push(st, j, lp, port, ADMITTED, packet);
        } else {
            push(st, j, lp, port, if straight { STRAIGHT } else { TURNING }, packet);
        }
        switch_on(net, st, j, lp, local, port, now + net.model.local);
    }

    /// Bytes held of the output queue's buffer; routings of this architecture are not adaptive.
    fn backlog<J: Journal, S: Sink<Fabric<Self>>>(
        net: &Network,
        st: &mut State,
        _: &mut J,
        _: u32,
        _: &Site,
        port: u32,
        vc: u8,
        _: u64,
        _: &mut S,
    ) -> u64 {
        (net.buffer - st.channels.get(port * net.vcs + u32::from(vc)).credit).max(0) as u64
    }

    /// Nobody asks: routings of this architecture are not adaptive.
    fn waiting(_: &Network, _: &State, _: u32, _: Option<u8>, _: u64) -> u64 {
        0
    }

    #[inline(always)]
    fn credit<J: Journal, S: Sink<Fabric<Self>>>(
        net: &Network,
        st: &mut State,
        j: &mut J,
        lp: u32,
        event: &Packet,
        sink: &mut S,
    ) {
        let site = net.sites[lp as usize];
        let local = u32::from(event.port());
        let port = site.port + local;
        let now = event.time().0;
        catch_up(net, st, j, lp, port, now, sink);
        let chunk = i64::from(net.unit);
        let room = st.channels.get(port).credit + chunk;
        let list = |kind: u32| st.lists.get(port * LateAdmission::LISTS + kind).head;
        let admitted = if list(STRAIGHT) != NONE {
            Some(STRAIGHT)
        } else if room >= net.model.entry && list(TURNING) != NONE {
            Some(TURNING)
        } else {
            None
        };
        match admitted {
            None => st.channels.edit(j, port).credit = room,
            Some(kind) => {
                // The room that came is taken again.
                st.channels.edit(j, port).credit = room - chunk;
                let slot = detach(st, j, port, kind);
                append(st, j, port, ADMITTED, slot);
                st.ports.edit(j, port).waiting += 1;
                let packet = *st.slots.get(slot);
                return_credit(net, &site, &packet, now, sink);
            }
        }
        switch_on(net, st, j, lp, local, port, now + net.model.local);
    }

    #[inline(always)]
    fn close<J: Journal, S: Sink<Fabric<Self>>>(
        net: &Network,
        st: &mut State,
        j: &mut J,
        lp: u32,
        site: &Site,
        end: u64,
        sink: &mut S,
    ) -> u64 {
        let mut wake = u64::MAX;
        for word in 0..net.words {
            let index = lp * net.words + word;
            let all = *st.waiting.get(index);
            let (mut bits, mut left) = (all, all);
            while bits != 0 {
                let bit = bits.trailing_zeros();
                bits &= bits - 1;
                let port = site.port + word * 64 + bit;
                catch_up(net, st, j, lp, port, end, sink);
                let record = st.ports.get(port);
                if record.extra == ON && record.waiting != 0 {
                    wake = wake.min(record.mark);
                } else {
                    left &= !(1 << bit);
                }
            }
            if left != all {
                st.waiting.set(j, index, left);
            }
        }
        wake
    }

    fn pack(net: &Network, st: &State, lp: u32, out: &mut Vec<u8>) {
        let site = &net.sites[lp as usize];
        for index in site.port * Self::LISTS..(site.port + site.ports()) * Self::LISTS {
            packing::put_packets(net, st, lp, st.lists.get(index).head, out);
        }
    }

    fn unpack(net: &Network, st: &mut State, lp: u32, input: &mut &[u8]) -> Result<(), Torn> {
        let site = net.sites[lp as usize];
        for index in site.port * Self::LISTS..(site.port + site.ports()) * Self::LISTS {
            let (head, tail) = packing::take_packets::<Self>(net, st, lp, input)?;
            st.lists.set(&mut NoJournal, index, List { head, tail });
        }
        Ok(())
    }
}

/// Gives a queue that is off its next turn at `turn`, and marks a queue with something to send for [`RouterModel::close`].
#[inline(always)]
fn switch_on<J: Journal>(net: &Network, st: &mut State, j: &mut J, lp: u32, local: u32, port: u32, turn: u64) {
    let (off, waiting) = {
        let record = st.ports.get(port);
        (record.extra != ON, record.waiting)
    };
    if off {
        let record = st.ports.edit(j, port);
        record.extra = ON;
        record.mark = turn;
    }
    if waiting != 0 {
        let index = lp * net.words + local / 64;
        let bit = 1 << (local % 64);
        let word = *st.waiting.get(index);
        if word & bit == 0 {
            st.waiting.set(j, index, word | bit);
        }
    }
}

/// Performs all turns of the output `port` before `limit`.
#[inline(always)]
fn catch_up<J: Journal, S: Sink<Fabric<LateAdmission>>>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    lp: u32,
    port: u32,
    limit: u64,
    sink: &mut S,
) {
    let record = st.ports.get(port);
    if record.extra == ON && record.mark < limit {
        take_turns(net, st, j, lp, port, limit, sink);
    }
}

/// Performs the turns of an output that has one before `limit`.
#[inline(always)]
fn take_turns<J: Journal, S: Sink<Fabric<LateAdmission>>>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    lp: u32,
    port: u32,
    limit: u64,
    sink: &mut S,
) {
    loop {
        let record = st.ports.get(port);
        if record.extra != ON || record.mark >= limit {
            return;
        }
        if record.waiting == 0 {
            st.ports.edit(j, port).extra = 0;
            return;
        }
        let mut gone = 1;
        let packet = if st.lists.get(port * LateAdmission::LISTS + ADMITTED).head != NONE {
            take(st, j, lp, port, ADMITTED)
        } else {
            let room = st.channels.get(port).credit;
            if room < net.model.entry {
                st.ports.edit(j, port).extra = 0;
                return;
            }
            st.channels.edit(j, port).credit = room - i64::from(net.unit);
            let slot = st.lists.get(port * LateAdmission::LISTS + OWN).head;
            if st.slots.get(slot).size() > net.unit {
                gone = 0;
                st.slots.edit(j, slot).split_off(net.unit)
            } else {
                take(st, j, lp, port, OWN)
            }
        };
        st.routers.edit(j, lp).queued -= 1;
        let peer = net.peers[port as usize];
        let class = &net.classes[peer.class() as usize];
        let busy = net.model.occupied + class.ser(net.unit);
        let record = st.ports.edit(j, port);
        record.free = record.free.max(record.mark) + busy;
        record.busy += busy;
        record.packets += 1;
        record.bytes += u64::from(packet.size());
        record.waiting -= gone;
        if record.waiting == 0 {
            record.extra = 0;
        } else {
            record.mark = record.free + net.model.local;
        }
        let at = Time(record.free + class.latency + net.model.pipelined);
        let mut packet = packet;
        packet.count_hop();
        sink.send(packet.to(at, peer.address()));
    }
}

/// Hands a chunk, or a packet of a node of the same router chunk by chunk, to its node.
#[inline(always)]
fn eject<J: Journal, S: Sink<Fabric<LateAdmission>>>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    site: &Site,
    port: u32,
    packet: Packet,
    sink: &mut S,
) {
    let now = packet.time().0;
    if packet.port() < site.net {
        return_credit(net, site, &packet, now, sink);
    }
    let record = st.ports.edit(j, port);
    record.packets += u64::from(net.parts(packet.size()));
    record.bytes += u64::from(packet.size());
    let mut rest = packet;
    while rest.size() > net.unit {
        let chunk = rest.split_off(net.unit);
        nic::deliver::<LateAdmission, J, S>(net, st, j, site, &chunk, now, sink);
    }
    nic::deliver::<LateAdmission, J, S>(net, st, j, site, &rest, now, sink);
}

/// Gives the room of a chunk back to the queue that it came from.
#[inline(always)]
fn return_credit<S: Sink<Fabric<LateAdmission>>>(net: &Network, site: &Site, packet: &Packet, now: u64, sink: &mut S) {
    let peer = net.peers[(site.port + u32::from(packet.port())) as usize];
    let at = Time(now + net.classes[peer.class() as usize].credit);
    sink.send(Packet::credit(at, peer.address()));
}

/// Puts a packet into a new slot at the end of a list.
#[inline(always)]
fn push<J: Journal>(st: &mut State, j: &mut J, lp: u32, port: u32, kind: u32, packet: Packet) {
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
    append(st, j, port, kind, slot);
}

/// Puts a slot at the end of a list.
#[inline(always)]
fn append<J: Journal>(st: &mut State, j: &mut J, port: u32, kind: u32, slot: u32) {
    st.links.edit(j, slot).next = NONE;
    let index = port * LateAdmission::LISTS + kind;
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
fn detach<J: Journal>(st: &mut State, j: &mut J, port: u32, kind: u32) -> u32 {
    let list = st.lists.edit(j, port * LateAdmission::LISTS + kind);
    let slot = list.head;
    list.head = st.links.get(slot).next;
    slot
}

/// Takes the first packet out of a list, which must not be empty, and frees its slot.
#[inline(always)]
fn take<J: Journal>(st: &mut State, j: &mut J, lp: u32, port: u32, kind: u32) -> Packet {
    let slot = detach(st, j, port, kind);
    let free = &mut st.routers.edit(j, lp).free_slot;
    st.links.edit(j, slot).next = *free;
    *free = slot;
    *st.slots.get(slot)
}
