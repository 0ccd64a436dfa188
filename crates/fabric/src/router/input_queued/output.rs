//! The output side of an input-queued router: buffers per channel and the turns of a port on its link.

use super::InputQueued;
use crate::network::model::{Fabric, RouterModel};
use crate::network::{Network, Site};
use crate::nic;
use crate::packet::{Kind, Packet};
use crate::router::{dequeue, transmit};
use crate::state::crossbar::Input;
use crate::state::{Link, NONE, State};
use des::{Journal, Sink, Time};

/// Gives a waiting port a turn one wake delay from now; `None` if it has one already.
pub(super) fn wake<J: Journal>(net: &Network, st: &mut State, j: &mut J, port: u32, now: u64) -> Option<u64> {
    let turn = st.crossings.get(port).turn;
    let waits = turn == u64::MAX || (turn < now && st.ports.get(port).waiting == 0);
    waits.then(|| {
        let turn = now + net.classes[net.peers[port as usize].class() as usize].wake;
        st.crossings.edit(j, port).turn = turn;
        turn
    })
}

/// Puts the packet of `slot`, which was the first of an input queue, into the output buffer that it wants.
pub(super) fn accept<J: Journal>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    lp: u32,
    site: &Site,
    slot: u32,
    input: &Input,
) {
    let port = input.output;
    let local = port - site.port;
    let index = port * net.vcs + u32::from(input.vc);
    if st.slots.get(slot).phase() != input.phase {
        st.slots.edit(j, slot).set_phase(input.phase);
    }
    st.inputs.edit(j, index).held += u64::from(input.room);
    let record = st.ports.edit(j, port);
    let link = Link {
        next: NONE,
        sequence: record.sequence,
    };
    record.sequence = record.sequence.wrapping_add(1);
    record.waiting += 1;
    record.channels |= 1 << input.vc;
    st.links.set(j, slot, link);
    let queue = st.channels.edit(j, index);
    if queue.head == NONE {
        queue.head = slot;
    } else {
        st.links.edit(j, queue.tail).next = slot;
    }
    queue.tail = slot;
    *st.waiting.edit(j, lp * net.words + local / 64) |= 1 << (local % 64);
    let turn = st.crossings.get(port).turn;
    let arbiter = st.arbiters.edit(j, lp);
    arbiter.turn = arbiter.turn.min(turn);
}

/// Performs all turns of a router before `until`, port by port.
pub(super) fn turns<J: Journal, S: Sink<Fabric<InputQueued>>>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    lp: u32,
    site: &Site,
    until: u64,
    sink: &mut S,
) {
    let mut next = u64::MAX;
    for word in 0..net.words {
        let index = lp * net.words + word;
        let all = *st.waiting.get(index);
        let (mut bits, mut left) = (all, all);
        while bits != 0 {
            let bit = bits.trailing_zeros();
            bits &= bits - 1;
            let port = site.port + word * 64 + bit;
            loop {
                let turn = st.crossings.get(port).turn;
                if turn >= until {
                    next = next.min(turn);
                    break;
                }
                let Some(vc) = choose(net, st, site, port) else {
                    st.crossings.edit(j, port).turn = u64::MAX;
                    break;
                };
                send(net, st, j, lp, site, port, vc, turn, sink);
                if st.ports.get(port).waiting == 0 {
                    left &= !(1 << bit);
                    break;
                }
            }
        }
        if left != all {
            st.waiting.set(j, index, left);
        }
    }
    st.arbiters.edit(j, lp).turn = next;
}

/// The channel whose credit counter a packet on channel `vc` of `port` takes: interfaces have one buffer for all channels.
fn counter(net: &Network, site: &Site, port: u32, vc: u8) -> u32 {
    let ejects = port - site.port >= u32::from(site.net);
    port * net.vcs + if ejects { 0 } else { u32::from(vc) }
}

/// The channel to serve at a turn: one with a packet and room downstream, in round robin or by arrival.
fn choose(net: &Network, st: &State, site: &Site, port: u32) -> Option<u8> {
    let record = st.ports.get(port);
    let head = |vc: u8| st.channels.get(port * net.vcs + u32::from(vc)).head;
    let fits = |vc: u8| {
        let room = net.model.room(st.slots.get(head(vc)).size());
        st.channels.get(counter(net, site, port, vc)).credit >= i64::from(room)
    };
    let vcs = |mut bits: u64| {
        std::iter::from_fn(move || {
            let vc = (bits != 0).then_some(bits.trailing_zeros() as u8);
            bits &= bits.wrapping_sub(1);
            vc
        })
    };
    if net.first_come {
        let age = |vc: &u8| record.sequence.wrapping_sub(st.links.get(head(*vc)).sequence);
        return vcs(record.channels).filter(|&vc| fits(vc)).max_by_key(age);
    }
    let behind = u64::MAX << 1 << record.served;
    let mut order = vcs(record.channels & behind).chain(vcs(record.channels & !behind));
    order.find(|&vc| fits(vc))
}

/// Starts the first packet of an output buffer on its link.
fn send<J: Journal, S: Sink<Fabric<InputQueued>>>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    lp: u32,
    site: &Site,
    port: u32,
    vc: u8,
    start: u64,
    sink: &mut S,
) {
    let index = port * net.vcs + u32::from(vc);
    let packet = dequeue(st, j, lp, port, index, vc);
    let size = packet.size();
    let room = InputQueued::room(net, size);
    st.inputs.edit(j, index).held -= u64::from(room);
    st.channels.edit(j, counter(net, site, port, vc)).credit -= i64::from(room);
    let serialisation = net.classes[net.peers[port as usize].class() as usize].ser(size);
    st.crossings.edit(j, port).turn = start + serialisation;
    let record = st.ports.edit(j, port);
    record.free = start + serialisation;
    record.busy += serialisation;
    record.packets += 1;
    record.bytes += u64::from(size);
    record.served = u32::from(vc);
    let local = port - site.port;
    if local < u32::from(site.net) {
        transmit::<InputQueued, S>(net, port, packet, vc, start, serialisation, sink);
    } else {
        nic::deliver::<InputQueued, J, S>(net, st, j, site, &packet, start, sink);
        let back = Time(start + net.node_credit);
        sink.send(Packet::new(Kind::Credit, back, lp, local as u16).with_value(u64::from(room)));
    }
}
