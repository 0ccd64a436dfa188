//! `credit`: input buffers per virtual channel with credits, virtual output queues, virtual cut-through on whole packets, ideal crossbar.
//!
//! A packet that starts on a link at s occupies it for size/bandwidth; its head can leave the next router at s + latency + traversal.
//! It starts only if the next buffer has room for all of it. Its own buffer is free when its tail has left; the credit then takes the
//! link latency back. Departures are computed by catch-up: a port with waiting packets has no event, and everything that starts before
//! an arrival or credit is performed before that is looked at. At equal times arrivals and credits come first, departures last.

use super::{dequeue, enqueue, launch, return_credit, route};
use crate::network::model::{Fabric, RouterModel};
use crate::network::{Network, Site};
use crate::nic;
use crate::packet::Packet;
use crate::state::{NONE, State};
use des::{Event, Journal, Sink};

/// The model.
#[derive(Debug)]
pub struct Credit<const PLAIN: bool = false>;

impl<const PLAIN: bool> RouterModel for Credit<PLAIN> {
    const PLAIN: bool = PLAIN;
    const HOST_CREDITS: bool = true;

    #[inline(always)]
    fn arrive<J: Journal, S: Sink<Fabric<Self>>>(
        net: &Network,
        st: &mut State,
        j: &mut J,
        lp: u32,
        mut packet: Packet,
        sink: &mut S,
    ) {
        let site = net.sites[lp as usize];
        let now = packet.time().0;
        let way = route::<Self, J, S>(net, st, j, lp, &site, &packet, now, sink);
        let (local, vc) = (way.port(), way.vc());
        if !PLAIN {
            packet.set_phase(way.phase());
        }
        let port = site.port + local;
        if st.ports.get(port).waiting != 0 {
            catch_up::<PLAIN, J, S>(net, st, j, lp, &site, port, now, sink);
        }
        let record = st.ports.get(port);
        let channel = channel_of::<PLAIN>(net, port, vc);
        if record.free <= now {
            let empty = record.waiting == 0;
            let late = match !PLAIN && net.mixed_speeds && empty {
                true => overtaking(net, &site, port, &packet),
                false => 0,
            };
            if empty && late == 0 && st.channels.get(channel).credit >= i64::from(packet.size()) {
                depart::<PLAIN, J, S>(net, st, j, lp, &site, port, vc, packet, now, sink);
                return;
            }
            // What waits could not start before now: it has no credit, or it has just come.
            st.ports.edit(j, port).free = now + late;
        }
        if !PLAIN && net.routing.is_adaptive() {
            let class = &net.classes[net.peers[port as usize].class() as usize];
            st.ports.edit(j, port).mark += class.ser(packet.size());
        }
        enqueue(st, j, lp, port, channel, vc, packet);
        let (words, word) = if PLAIN { (1, 0) } else { (net.words, local / 64) };
        *st.waiting.edit(j, lp * words + word) |= 1 << (local % 64);
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
        let port = site.port + u32::from(event.port());
        let now = event.time().0;
        if st.ports.get(port).waiting != 0 {
            catch_up::<PLAIN, J, S>(net, st, j, lp, &site, port, now, sink);
            let free = st.ports.get(port).free;
            if free < now {
                st.ports.edit(j, port).free = now;
            }
        }
        st.channels.edit(j, channel_of::<PLAIN>(net, port, event.vc())).credit += event.value() as i64;
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
        let words = if PLAIN { 1 } else { net.words };
        for word in 0..words {
            let index = lp * words + word;
            let all = *st.waiting.get(index);
            let mut bits = all;
            let mut left = all;
            while bits != 0 {
                let bit = bits.trailing_zeros();
                bits &= bits - 1;
                let port = site.port + word * 64 + bit;
                catch_up::<PLAIN, J, S>(net, st, j, lp, site, port, end, sink);
                let record = st.ports.get(port);
                if record.waiting == 0 {
                    left &= !(1 << bit);
                } else if record.free >= end {
                    wake = wake.min(record.free);
                }
            }
            if left != all {
                st.waiting.set(j, index, left);
            }
        }
        wake
    }

    /// Time (ps) that the port needs for what it sends and for what waits, whatever the channel.
    fn backlog<J: Journal, S: Sink<Fabric<Self>>>(
        net: &Network,
        st: &mut State,
        j: &mut J,
        lp: u32,
        site: &Site,
        port: u32,
        _: u8,
        now: u64,
        sink: &mut S,
    ) -> u64 {
        if st.ports.get(port).waiting != 0 {
            catch_up::<PLAIN, J, S>(net, st, j, lp, site, port, now, sink);
        }
        let record = st.ports.get(port);
        record.free.saturating_sub(now) + record.mark
    }

    fn waiting(net: &Network, st: &State, port: u32, vc: Option<u8>, now: u64) -> u64 {
        let record = st.ports.get(port);
        let sending = record.free.saturating_sub(now);
        let Some(vc) = vc else {
            return sending + record.mark;
        };
        if record.channels >> vc & 1 == 0 {
            return sending;
        }
        let class = &net.classes[net.peers[port as usize].class() as usize];
        let sizes = sizes::<PLAIN>(net, st, port, vc);
        sending + sizes.map(|size| class.ser(size)).sum::<u64>()
    }

    fn queued(net: &Network, st: &State, port: u32, vc: u8) -> i64 {
        match st.ports.get(port).channels >> vc & 1 {
            0 => 0,
            _ => sizes::<PLAIN>(net, st, port, vc).map(i64::from).sum(),
        }
    }
}

/// Sizes of the packets that wait for a channel, which has some.
fn sizes<const PLAIN: bool>(net: &Network, st: &State, port: u32, vc: u8) -> impl Iterator<Item = u32> {
    let head = st.channels.get(channel_of::<PLAIN>(net, port, vc)).head;
    let some = |slot: u32| (slot != NONE).then_some(slot);
    let slots = std::iter::successors(some(head), move |&slot| some(st.links.get(slot).next));
    slots.map(|slot| st.slots.get(slot).size())
}

/// The place of a port's channel in the columns.
#[inline(always)]
fn channel_of<const PLAIN: bool>(net: &Network, port: u32, vc: u8) -> u32 {
    if PLAIN { port } else { port * net.vcs + u32::from(vc) }
}

/// Extra wait of a packet that comes over a slower link than it leaves on.
#[inline(always)]
fn overtaking(net: &Network, site: &Site, port: u32, packet: &Packet) -> u64 {
    let serialisation = net.classes[net.peers[port as usize].class() as usize].ser(packet.size());
    net.overtaking_delay(site, packet, serialisation)
}

/// Performs all departures of `port` with a start before `limit`.
#[inline(always)]
fn catch_up<const PLAIN: bool, J: Journal, S: Sink<Fabric<Credit<PLAIN>>>>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    lp: u32,
    site: &Site,
    port: u32,
    limit: u64,
    sink: &mut S,
) {
    loop {
        let record = *st.ports.get(port);
        if record.waiting == 0 || record.free >= limit {
            return;
        }
        let Some(vc) = choose::<PLAIN>(net, st, port, record.channels, record.served) else {
            return;
        };
        let channel = channel_of::<PLAIN>(net, port, vc);
        let mut start = record.free;
        if !PLAIN && net.mixed_speeds {
            let head = *st.slots.get(st.channels.get(channel).head);
            let ready = head.time().0 + overtaking(net, site, port, &head);
            if ready > start {
                if ready >= limit {
                    st.ports.edit(j, port).free = ready;
                    return;
                }
                start = ready;
            }
        }
        let packet = dequeue(st, j, lp, port, channel, vc);
        if !PLAIN && net.routing.is_adaptive() {
            let class = &net.classes[net.peers[port as usize].class() as usize];
            st.ports.edit(j, port).mark -= class.ser(packet.size());
        }
        depart::<PLAIN, J, S>(net, st, j, lp, site, port, vc, packet, start, sink);
    }
}

/// The channel to serve next: one with a packet whose credit suffices, in round robin or by arrival.
#[inline(always)]
fn choose<const PLAIN: bool>(net: &Network, st: &State, port: u32, channels: u64, served: u32) -> Option<u8> {
    let fits = |vc: u32| {
        let channel = st.channels.get(channel_of::<PLAIN>(net, port, vc as u8));
        channel.credit >= i64::from(st.slots.get(channel.head).size())
    };
    if PLAIN || net.vcs == 1 {
        return fits(0).then_some(0);
    }
    if net.first_come {
        return first_come(net, st, port, channels, fits);
    }
    // Channels after the one served last, then from the lowest.
    let after = channels & (u64::MAX << 1 << served);
    for mut bits in [after, channels & !(u64::MAX << 1 << served)] {
        while bits != 0 {
            let vc = bits.trailing_zeros();
            if fits(vc) {
                return Some(vc as u8);
            }
            bits &= bits - 1;
        }
    }
    None
}

fn first_come(net: &Network, st: &State, port: u32, mut channels: u64, fits: impl Fn(u32) -> bool) -> Option<u8> {
    let mut best: Option<(u32, u8)> = None;
    let newest = st.ports.get(port).sequence;
    while channels != 0 {
        let vc = channels.trailing_zeros();
        channels &= channels - 1;
        let head = st.channels.get(port * net.vcs + vc).head;
        // Age in arrivals; wraps correctly.
        let age = newest.wrapping_sub(st.links.get(head).sequence);
        if fits(vc) && best.is_none_or(|(oldest, _)| age > oldest) {
            best = Some((age, vc as u8));
        }
    }
    best.map(|(_, vc)| vc)
}

/// Starts a packet on an output link.
#[inline(always)]
fn depart<const PLAIN: bool, J: Journal, S: Sink<Fabric<Credit<PLAIN>>>>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    lp: u32,
    site: &Site,
    port: u32,
    vc: u8,
    packet: Packet,
    start: u64,
    sink: &mut S,
) {
    let size = packet.size();
    let peer = &net.peers[port as usize];
    let class = &net.classes[peer.class() as usize];
    let (serialisation, hop) = (class.ser(size), class.hop);
    let record = st.ports.edit(j, port);
    record.free = start + serialisation;
    record.busy += serialisation;
    record.packets += 1;
    record.bytes += u64::from(size);
    if !PLAIN {
        record.served = u32::from(vc);
    }
    return_credit::<Credit<PLAIN>, S>(net, lp, site, &packet, start + serialisation, sink);
    if port - site.port < u32::from(site.net) {
        st.channels.edit(j, channel_of::<PLAIN>(net, port, vc)).credit -= i64::from(size);
        launch::<Credit<PLAIN>, S>(net, peer, hop, packet, vc, start, serialisation, sink);
    } else {
        // A packet of its own, so that only this way keeps one in memory.
        let landed = packet.with_lp(lp);
        nic::deliver::<Credit<PLAIN>, J, S>(net, st, j, site, &landed, start, sink);
    }
}
