//! `credit`: input buffers per virtual channel with credits, virtual output queues, virtual cut-through on whole packets, ideal crossbar.
//!
//! A packet that starts on a link at s occupies it for size/bandwidth; its head can leave the next router at s + latency + traversal.
//! It starts only if the next buffer has room for all of it. Its own buffer is free when its tail has left; the credit then takes the
//! link latency back. Departures are computed by catch-up: a port with waiting packets has no event, and everything that starts before
//! an arrival or credit is performed before that is looked at. At equal times arrivals and credits come first, departures last. A port is
//! shut while all that waits for it lacks room behind it: nobody looks at it before a credit comes, or a packet that may start before those.
//!
//! When a packet starts is known as soon as it has room, if nothing that comes later can start before it: where ports have one channel and nobody asks what
//! waits, a packet that comes and is to start soon is sent on at once ([`Credit::ahead`]), and only those wait that have no room or are to wait for long.
//!
//! With `router.bubble = n`, the bubble rule (Carrión and others 1997), buffers are counted in slots of the largest packet: a packet that comes
//! from a node or from another dimension starts only with n slots free, one that stays in its ring with one, and passes those that lack the rest.

use crate::equipment::RouterSpec;
use crate::foresight::each_open;
use crate::network::Network;
use crate::network::model::{AtRouter, Fabric, ModelRecords, RouterModel};
use crate::packet::Packet;
use crate::plant::Class;
use crate::router::waiting_behind;
use crate::spec::RunSpec;
use crate::state::{NONE, Port, State};
use des::{Event, Journal, Sink, Torn};
use inlets::Owing;
use std::ops::Range;

mod inlets;
mod named;

/// The model.
#[derive(Debug)]
pub struct Credit<const PLAIN: bool = false> {
    bubble: Option<Bubble>,
    owing: Owing,
    /// A packet that starts before so long after something comes to its port (ps) is sent on then; 0 where others may yet start before it.
    ahead: u64,
}

/// Packets of the largest size that may start before one that is sent on ahead.
const AHEAD: u64 = 4;

/// The bubble rule.
#[derive(Clone, Copy, Debug)]
struct Bubble {
    /// What every packet takes of a buffer (bytes).
    slot: u32,
    /// What has to be free for one that enters a ring.
    entry: i64,
}

impl<const PLAIN: bool> RouterModel for Credit<PLAIN> {
    const PLAIN: bool = PLAIN;
    const SHUTS_PORTS: bool = true;
    const INLETS: bool = true;
    const RECORDS: ModelRecords = ModelRecords {
        per_channel: size_of::<u64>(),
        per_router: size_of::<u64>(),
        ..ModelRecords::NONE
    };
    const HOST_CREDITS: bool = true;
    const ONE_CHANNEL: bool = PLAIN;

    fn is_plain(router: &RouterSpec) -> bool {
        router.bubble <= 1
    }

    fn new(spec: &RunSpec, net: &Network) -> Self {
        let slot = spec.nic.packet.0.min(1 << 16) as u32;
        let rule = |slots: u8| Bubble {
            slot,
            entry: i64::from(slot) * i64::from(slots),
        };
        let ahead = ahead(spec, net);
        Credit {
            bubble: Some(spec.router.bubble).filter(|&slots| slots > 1).map(rule),
            owing: Owing::new(spec, net, ahead),
            ahead,
        }
    }

    #[inline(always)]
    fn room(&self, size: u32) -> u32 {
        match self.bubble {
            Some(Bubble { slot, .. }) if !PLAIN => slot,
            _ => size,
        }
    }

    #[inline(always)]
    fn arrive<J: Journal, S: Sink<Fabric<Self>>>(at: AtRouter<'_, Self, J, S>, event: &Packet) {
        let mut packet = *event;
        let site = *at.site;
        let mut at = at.with(&site);
        let net = at.net;
        let now = packet.time().0;
        at.takes_room(&packet, now);
        let way = at.route(&packet, now);
        if !PLAIN && way.is_lost() {
            return at.lose_here(&packet, now);
        }
        let (local, vc) = (way.port(), way.vc());
        if !PLAIN {
            packet.set_phase(way.phase());
        }
        let port = site.port + local;
        let (word, bit) = at.waiting_bit(local);
        let is_shut = *at.st.shut.get(word) & bit != 0;
        let soon = now + at.model.ahead;
        if at.st.ports.get(port).waiting != 0 && !is_shut {
            at.catch_up(port, soon);
        }
        let record = at.st.ports.get(port);
        let channel = channel_of::<PLAIN>(net, port, vc);
        if record.free <= soon {
            let empty = record.waiting == 0;
            let late = match !PLAIN && net.mixed_speeds && empty {
                true => at.overtaking(port, &packet),
                false => 0,
            };
            let begun = record.free.max(now + late);
            if empty && begun <= soon && at.st.channel::<Self>(channel).credit >= at.needs(port, &packet) {
                at.depart(port, vc, packet, begun);
                return;
            }
            // What waits could not start before now: it has no credit, or it has just come.
            at.st.ports.edit(at.j, port).free = begun;
        }
        if !PLAIN && net.routing.is_adaptive() {
            let class = &net.classes[net.peers[port as usize].class() as usize];
            at.st.ports.edit(at.j, port).mark += class.ser(packet.size());
        }
        // One that comes behind others of its channel opens nothing, unless it may pass them.
        if !PLAIN && is_shut && (at.st.channel::<Self>(channel).head == NONE || at.model.bubble.is_some()) {
            *at.st.shut.edit(at.j, word) &= !bit;
        }
        at.enqueue(port, channel, vc, packet);
        *at.st.waiting.edit(at.j, word) |= bit;
    }

    #[inline(always)]
    fn credit<J: Journal, S: Sink<Fabric<Self>>>(at: AtRouter<'_, Self, J, S>, event: &Packet) {
        let site = *at.site;
        let mut at = at.with(&site);
        let local = u32::from(event.port());
        let port = site.port + local;
        let now = event.time().0;
        // Most ports have nothing that waits, and their records need not be here.
        let (word, bit) = at.waiting_bit(local);
        if *at.st.waiting.get(word) & bit != 0 && at.st.ports.get(port).waiting != 0 {
            match *at.st.shut.get(word) & bit {
                0 => at.catch_up(port, now),
                _ => *at.st.shut.edit(at.j, word) &= !bit,
            }
            let free = at.st.ports.get(port).free;
            if free < now {
                at.st.ports.edit(at.j, port).free = now;
            }
        }
        let channel = channel_of::<PLAIN>(at.net, port, event.vc());
        at.st.edit_channel::<Self>(at.j, channel).credit += event.value() as i64;
    }

    #[inline(always)]
    fn close<J: Journal, S: Sink<Fabric<Self>>>(mut at: AtRouter<'_, Self, J, S>, end: u64) -> u64 {
        let mut wake = u64::MAX;
        let words = if PLAIN { 1 } else { at.net.words };
        for word in 0..words {
            let index = at.lp * words + word;
            let (waiting, shut) = (*at.st.waiting.get(index), *at.st.shut.get(index));
            let mut bits = waiting & !shut;
            let (mut idle, mut lacking) = (0, 0);
            while bits != 0 {
                let bit = bits.trailing_zeros();
                bits &= bits - 1;
                let port = at.site.port + word * 64 + bit;
                at.catch_up(port, end);
                let record = at.st.ports.get(port);
                if record.waiting == 0 {
                    idle |= 1 << bit;
                } else if record.free >= end {
                    wake = wake.min(record.free);
                } else {
                    lacking |= 1 << bit;
                }
            }
            if idle != 0 {
                at.st.waiting.set(at.j, index, waiting & !idle);
            }
            if lacking != 0 {
                at.st.shut.set(at.j, index, shut | lacking);
            }
        }
        wake
    }

    fn tells_late(&self) -> bool {
        self.owing.most != 0
    }

    fn owed(&self, net: &Network, st: &State, port: u32, vc: u32) -> u64 {
        match self.tells_late() {
            true => inlets::owed(*st.inlets.get(port * net.vcs + vc)),
            false => 0,
        }
    }

    fn start(&self, net: &Network, routers: &Range<u32>, st: &mut State) {
        let words = routers.start * net.words..routers.end * net.words;
        st.shut.fill(words.start, vec![0; words.len()]);
        if self.tells_late() {
            let ports = net.part(routers).ports;
            let places = ports.start * net.vcs..ports.end * net.vcs;
            st.inlets.fill(places.start, vec![0; places.len()]);
        }
    }

    fn pack(&self, net: &Network, st: &State, lp: u32, out: &mut Vec<u8>) {
        self.pack_inlets(net, st, lp, out);
    }

    fn unpack(&self, net: &Network, st: &mut State, lp: u32, input: &mut &[u8]) -> Result<(), Torn> {
        self.unpack_inlets(net, st, lp, input)
    }

    #[inline(always)]
    fn heads(&self, net: &Network, st: &State, lp: u32, mut see: impl FnMut(u32, u32)) {
        each_open::<Self>(net, st, lp, |port| {
            if PLAIN {
                return see(port, st.channel::<Self>(port).head);
            }
            let mut channels = st.ports.get(port).channels;
            while channels != 0 {
                see(
                    port,
                    st.channel::<Self>(port * net.vcs + channels.trailing_zeros()).head,
                );
                channels &= channels - 1;
            }
        });
    }

    /// Time (ps) that the port needs for what it sends and for what waits, whatever the channel.
    fn backlog<J: Journal, S: Sink<Fabric<Self>>>(mut at: AtRouter<'_, Self, J, S>, port: u32, _: u8, now: u64) -> u64 {
        let (word, bit) = at.waiting_bit(port - at.site.port);
        if *at.st.waiting.get(word) & !*at.st.shut.get(word) & bit != 0 {
            at.catch_up(port, now);
        }
        let record = at.st.ports.get(port);
        record.free.saturating_sub(now) + queued_time::<PLAIN>(record)
    }

    fn waiting(&self, net: &Network, st: &State, port: u32, vc: Option<u8>, now: u64) -> u64 {
        let record = st.ports.get(port);
        let sending = record.free.saturating_sub(now);
        let Some(vc) = vc else {
            return sending + queued_time::<PLAIN>(record);
        };
        if !has_packets::<PLAIN>(record, vc) {
            return sending;
        }
        let class = &net.classes[net.peers[port as usize].class() as usize];
        let sizes = sizes::<PLAIN>(net, st, port, vc);
        sending + sizes.map(|size| class.ser(size)).sum::<u64>()
    }

    fn queued(&self, net: &Network, st: &State, port: u32, vc: u8) -> i64 {
        match has_packets::<PLAIN>(st.ports.get(port), vc) {
            false => 0,
            true => sizes::<PLAIN>(net, st, port, vc).map(i64::from).sum(),
        }
    }
}

/// [`Credit::ahead`]: the time of a few packets where nothing that comes later can start before them, and nobody asks what waits.
fn ahead(spec: &RunSpec, net: &Network) -> u64 {
    let is_seen = net.routing.is_adaptive() || net.routing.sense().is_some();
    match net.vcs > 1 || is_seen || spec.router.bubble > 1 || is_changed(net) {
        true => 0,
        false => AHEAD * longest(net, |class| class.ser(net.packet)),
    }
}

/// Whether something of the network changes while a run goes on, or inputs are asked where packets come from.
fn is_changed(net: &Network) -> bool {
    net.changes.is_some() || net.inputs.is_some()
}

/// The longest of a time (ps), or the most of something else, that links have.
fn longest(net: &Network, of: impl Fn(&Class) -> u64) -> u64 {
    net.classes.iter().map(of).max().unwrap_or(0)
}

/// Sizes of the packets that wait for a channel, which has some.
fn sizes<const PLAIN: bool>(net: &Network, st: &State, port: u32, vc: u8) -> impl Iterator<Item = u32> {
    let head = st.channel::<Credit<PLAIN>>(channel_of::<PLAIN>(net, port, vc)).head;
    waiting_behind(st, head).map(|slot| st.slots.get(slot).size())
}

/// Whether packets wait for channel `vc` of a port.
fn has_packets<const PLAIN: bool>(port: &Port, vc: u8) -> bool {
    match PLAIN {
        true => port.waiting > 0,
        false => port.channels >> vc & 1 != 0,
    }
}

/// The time (ps) that the packets which wait for a port take on its link, where a routing asks for that.
fn queued_time<const PLAIN: bool>(port: &Port) -> u64 {
    if PLAIN { 0 } else { port.mark }
}

/// The place of a port's channel in the columns.
#[inline(always)]
fn channel_of<const PLAIN: bool>(net: &Network, port: u32, vc: u8) -> u32 {
    if PLAIN { port } else { port * net.vcs + u32::from(vc) }
}

impl<const PLAIN: bool, J: Journal, S: Sink<Fabric<Credit<PLAIN>>>> AtRouter<'_, Credit<PLAIN>, J, S> {
    /// Extra wait of a packet that comes over a slower link than it leaves on.
    #[inline(always)]
    fn overtaking(&self, port: u32, packet: &Packet) -> u64 {
        let AtRouter { net, site, .. } = *self;
        let serialisation = net.classes[net.peers[port as usize].class() as usize].ser(packet.size());
        net.overtaking_delay(site, packet, serialisation)
    }

    /// Free bytes that a packet has to find behind a port.
    #[inline(always)]
    fn needs(&self, port: u32, packet: &Packet) -> i64 {
        match self.model.bubble {
            Some(bubble) if !PLAIN && self.enters_a_ring(port, packet) => bubble.entry,
            _ => self.model.room(packet.size()).into(),
        }
    }

    /// Of a channel with packets, the first for which there is room: the slot before its own, and its own.
    #[inline(always)]
    fn first_that_fits(&self, port: u32, vc: u8) -> Option<(u32, u32)> {
        let channel = self
            .st
            .channel::<Credit<PLAIN>>(channel_of::<PLAIN>(self.net, port, vc));
        if channel.credit >= self.needs(port, self.st.slots.get(channel.head)) {
            return Some((NONE, channel.head));
        }
        match self.model.bubble {
            Some(bubble) if !PLAIN && channel.credit >= bubble.slot.into() => self.first_in_ring(port, channel.head),
            _ => None,
        }
    }

    /// The first packet behind a slot that goes on in its ring, as [`Self::first_that_fits`] tells it.
    fn first_in_ring(&self, port: u32, head: u32) -> Option<(u32, u32)> {
        let mut pairs = waiting_behind(self.st, head).zip(waiting_behind(self.st, head).skip(1));
        pairs.find(|&(_, slot)| !self.enters_a_ring(port, self.st.slots.get(slot)))
    }

    /// Where it is noted that packets may wait for a port of the router, and that it is shut: the word, and the port's bit in it.
    #[inline(always)]
    fn waiting_bit(&self, local: u32) -> (u32, u64) {
        let (words, word) = if PLAIN { (1, 0) } else { (self.net.words, local / 64) };
        (self.lp * words + word, 1 << (local % 64))
    }

    /// Performs all departures of `port` with a start before `limit`.
    #[inline(always)]
    fn catch_up(&mut self, port: u32, limit: u64) {
        let net = self.net;
        loop {
            let record = *self.st.ports.get(port);
            if record.waiting == 0 || record.free >= limit {
                return;
            }
            let Some((vc, (before, slot))) = self.choose(port, record.channels, record.served) else {
                return;
            };
            let channel = channel_of::<PLAIN>(net, port, vc);
            let mut start = record.free;
            if !PLAIN && net.mixed_speeds {
                let next = *self.st.slots.get(slot);
                let ready = next.time().0 + self.overtaking(port, &next);
                if ready > start {
                    if ready >= limit {
                        self.st.ports.edit(self.j, port).free = ready;
                        return;
                    }
                    start = ready;
                }
            }
            let packet = match PLAIN || before == NONE {
                true => self.dequeue(port, channel, vc),
                false => self.dequeue_behind(before, port, channel),
            };
            if !PLAIN && net.routing.is_adaptive() {
                let class = &net.classes[net.peers[port as usize].class() as usize];
                self.st.ports.edit(self.j, port).mark -= class.ser(packet.size());
            }
            self.depart(port, vc, packet, start);
        }
    }

    /// The channel to serve next, in round robin or by arrival, and which of its packets: see [`Self::first_that_fits`].
    #[inline(always)]
    fn choose(&self, port: u32, channels: u64, served: u32) -> Option<(u8, (u32, u32))> {
        let net = self.net;
        let of = |vc: u32| Some((vc as u8, self.first_that_fits(port, vc as u8)?));
        if PLAIN || net.vcs == 1 {
            return of(0);
        }
        if net.first_come {
            let newest = self.st.ports.get(port).sequence;
            // Age in arrivals; wraps correctly.
            let age = |slot: u32| newest.wrapping_sub(self.st.links.get(slot).sequence);
            return oldest(channels, of, |&(_, (_, slot))| age(slot));
        }
        // Channels after the one served last, then from the lowest.
        let after = channels & (u64::MAX << 1 << served);
        for mut bits in [after, channels & !(u64::MAX << 1 << served)] {
            while bits != 0 {
                let vc = bits.trailing_zeros();
                let found = of(vc);
                if found.is_some() {
                    return found;
                }
                bits &= bits - 1;
            }
        }
        None
    }

    /// Starts a packet on an output link.
    #[inline(always)]
    fn depart(&mut self, port: u32, vc: u8, packet: Packet, begun: u64) {
        let AtRouter { net, site, .. } = *self;
        let size = packet.size();
        let peer = &net.peers[port as usize];
        let class = &net.classes[peer.class() as usize];
        let hop = class.hop;
        let (start, serialisation) = self.take_link(port, size, begun, class.ser(size));
        if !PLAIN {
            self.st.ports.edit(self.j, port).served = u32::from(vc);
        }
        self.frees_room(&packet, start + serialisation);
        if port - site.port < u32::from(site.net) {
            let channel = channel_of::<PLAIN>(net, port, vc);
            self.st.edit_channel::<Credit<PLAIN>>(self.j, channel).credit -= i64::from(self.model.room(size));
            self.launch(peer, hop, packet, vc, start, serialisation);
        } else {
            // A packet of its own, so that only this way keeps one in memory.
            let landed = packet.with_lp(self.lp);
            self.deliver(&landed, start);
        }
    }
}

/// Of what channels have, the first of those with the highest age.
fn oldest<T>(mut channels: u64, of: impl Fn(u32) -> Option<T>, age: impl Fn(&T) -> u32) -> Option<T> {
    let mut best: Option<(u32, T)> = None;
    while channels != 0 {
        let vc = channels.trailing_zeros();
        channels &= channels - 1;
        if let Some(found) = of(vc)
            && best.as_ref().is_none_or(|(oldest, _)| age(&found) > *oldest)
        {
            best = Some((age(&found), found));
        }
    }
    best.map(|(_, found)| found)
}

#[cfg(test)]
mod tests;
