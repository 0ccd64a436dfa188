//! `credit` with `architecture = "late-admission-vcs"`: output queues per virtual channel that admit a packet when there is room, the
//! upstream credit being withheld until then (CODES dragonfly-dally, dragonfly-plus, fat-tree).
//!
//! A queue of B bytes per port and channel counts the packets that it holds and those that have left it and wait at the next router to be
//! admitted there. A packet is routed when all of it has come. With room it is admitted, and its credit goes back at once; without, it waits
//! beside the queue, its credit withheld. A credit admits the packet that waits longest. Nodes take what comes; their credits come back like
//! those of routers. A packet that is not full takes the room of a full one.
//!
//! A port takes the channels with packets in round robin, or by arrival. A packet that starts at s occupies the link for size / bandwidth
//! and is at the next router, or at its node, a traversal and the link's latency after that; from an interface without the traversal.
//!
//! Departures are computed by catch-up: at equal times arrivals and credits come first, departures last.

use crate::network::Network;
use crate::network::model::{AtRouter, Fabric, ModelRecords, RouterModel};
use crate::packet::{Kind, Packet};
use crate::packing;
use crate::router::waiting_behind;
use crate::spec::RunSpec;
use crate::state::lists::{EMPTY, List};
use crate::state::{NONE, State};
use des::{Event, Journal, NoJournal, Sink, Time, Torn};
use std::ops::Range;

mod named;

/// The model.
#[derive(Debug)]
pub struct LateAdmissionVcs {
    /// Room (bytes) that a packet takes.
    unit: u32,
}

impl RouterModel for LateAdmissionVcs {
    const NODES_GIVE_CREDITS: bool = true;
    const HOST_CREDITS: bool = true;
    const RECORDS: ModelRecords = ModelRecords {
        per_channel: size_of::<List>(),
        ..ModelRecords::NONE
    };

    fn new(_: &RunSpec, net: &Network) -> Self {
        LateAdmissionVcs { unit: net.unit }
    }

    #[inline(always)]
    fn room(&self, _: u32) -> u32 {
        self.unit
    }

    fn start(&self, net: &Network, routers: &Range<u32>, st: &mut State) {
        let ports = net.part(routers).ports;
        let channels = ports.start * net.vcs..ports.end * net.vcs;
        st.refused.fill(channels.start, vec![EMPTY; channels.len()]);
    }

    #[inline(always)]
    fn arrive<J: Journal, S: Sink<Fabric<Self>>>(at: AtRouter<'_, Self, J, S>, event: &Packet) {
        let mut packet = *event;
        let site = *at.site;
        let mut at = at.with(&site);
        let net = at.net;
        let now = packet.time().0;
        let to_the_node = net.routing.leads_to_the_node();
        let way = match to_the_node {
            true => at.lent().route_by_what_waits::<false>(&packet, now),
            false => at.route(&packet, now),
        };
        let local = way.port();
        // On its way to a node a packet stays on the channel it came on, unless its routing leads it there.
        let vc = match to_the_node || local < u32::from(site.net) {
            true => way.vc(),
            false => packet.vc(),
        };
        packet.set_phase(way.phase());
        let port = site.port + local;
        let channel = port * net.vcs + u32::from(vc);
        let unit = at.model.unit;
        at.catch_up(port, now);
        at.st.ports.edit(at.j, port).mark += u64::from(unit);
        let room = at.st.channels.get(channel).credit;
        if room < i64::from(unit) {
            at.refuse(channel, packet);
            return;
        }
        at.st.channels.edit(at.j, channel).credit = room - i64::from(unit);
        at.return_credit(&packet, now);
        at.admit(local, vc, packet, now);
    }

    #[inline(always)]
    fn credit<J: Journal, S: Sink<Fabric<Self>>>(at: AtRouter<'_, Self, J, S>, event: &Packet) {
        let site = *at.site;
        let mut at = at.with(&site);
        let (local, vc) = (u32::from(event.port()), event.vc());
        let port = site.port + local;
        let channel = port * at.net.vcs + u32::from(vc);
        let now = event.time().0;
        at.catch_up(port, now);
        at.st.ports.edit(at.j, port).mark -= u64::from(at.model.unit);
        if at.st.refused.get(channel).head == NONE {
            at.st.channels.edit(at.j, channel).credit += event.value() as i64;
            return;
        }
        // The room that has come is taken again.
        let packet = at.call_in(channel);
        at.return_credit(&packet, now);
        at.admit(local, vc, packet, now);
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
                match record.waiting {
                    0 => left &= !(1 << bit),
                    _ => wake = wake.min(record.free),
                }
            }
            if left != all {
                at.st.waiting.set(at.j, index, left);
            }
        }
        wake
    }

    /// Bytes that have come for the port, whatever the channel, and have not been admitted behind its link.
    fn backlog<J: Journal, S: Sink<Fabric<Self>>>(at: AtRouter<'_, Self, J, S>, port: u32, _: u8, _: u64) -> u64 {
        at.st.ports.get(port).mark
    }

    /// The same as time on the link, of the port or of a channel.
    fn waiting(&self, net: &Network, st: &State, port: u32, vc: Option<u8>, _: u64) -> u64 {
        let bytes = match vc {
            None => st.ports.get(port).mark,
            Some(vc) => {
                let channel = port * net.vcs + u32::from(vc);
                let taken = (net.buffer - st.channels.get(channel).credit).max(0) as u64;
                taken + u64::from(self.unit) * waiting_behind(st, st.refused.get(channel).head).count() as u64
            }
        };
        net.classes[net.peers[port as usize].class() as usize].time_of(bytes)
    }

    fn pack(&self, net: &Network, st: &State, lp: u32, out: &mut Vec<u8>) {
        let site = &net.sites[lp as usize];
        for channel in site.port * net.vcs..(site.port + site.ports()) * net.vcs {
            packing::put_packets(net, st, lp, st.refused.get(channel).head, out);
        }
    }

    fn unpack(&self, net: &Network, st: &mut State, lp: u32, input: &mut &[u8]) -> Result<(), Torn> {
        let site = net.sites[lp as usize];
        for channel in site.port * net.vcs..(site.port + site.ports()) * net.vcs {
            let (head, tail) = packing::take_packets::<Self>(net, st, lp, input)?;
            st.refused.set(&mut NoJournal, channel, List { head, tail });
        }
        Ok(())
    }
}

impl<J: Journal, S: Sink<Fabric<LateAdmissionVcs>>> AtRouter<'_, LateAdmissionVcs, J, S> {
    /// Performs all departures of `port` with a start before `limit`.
    #[inline(always)]
    fn catch_up(&mut self, port: u32, limit: u64) {
        loop {
            let record = *self.st.ports.get(port);
            if record.waiting == 0 || record.free >= limit {
                return;
            }
            let vc = self.choose(port);
            let packet = self.dequeue(port, port * self.net.vcs + u32::from(vc), vc);
            self.depart(port, vc, packet, record.free);
        }
    }

    /// The channel to serve next of a port with packets: in round robin, or by arrival.
    #[inline(always)]
    fn choose(&self, port: u32) -> u8 {
        let (net, st) = (self.net, &*self.st);
        let record = st.ports.get(port);
        if !net.first_come {
            let behind = record.channels & (u64::MAX << 1 << record.served);
            let next = if behind != 0 { behind } else { record.channels };
            return next.trailing_zeros() as u8;
        }
        let age = |vc: &u32| {
            let head = st.channels.get(port * net.vcs + vc).head;
            record.sequence.wrapping_sub(st.links.get(head).sequence)
        };
        let with_packets = (0..net.vcs).filter(|vc| record.channels >> vc & 1 != 0);
        with_packets.max_by_key(age).unwrap_or(0) as u8
    }

    /// A packet for which there is room goes onto the link of a local port, or into its queue.
    #[inline(always)]
    fn admit(&mut self, local: u32, vc: u8, packet: Packet, now: u64) {
        let port = self.site.port + local;
        let record = self.st.ports.get(port);
        if record.waiting == 0 && record.free <= now {
            self.depart(port, vc, packet, now);
            return;
        }
        self.enqueue(port, port * self.net.vcs + u32::from(vc), vc, packet);
        *self.st.waiting.edit(self.j, self.lp * self.net.words + local / 64) |= 1 << (local % 64);
    }

    /// Starts a packet on an output link.
    #[inline(always)]
    fn depart(&mut self, port: u32, vc: u8, packet: Packet, start: u64) {
        let AtRouter { net, site, lp, .. } = *self;
        let size = packet.size();
        let class = &net.classes[net.peers[port as usize].class() as usize];
        let serialisation = class.ser(size);
        let record = self.st.ports.edit(self.j, port);
        record.free = start + serialisation;
        record.busy += serialisation;
        record.packets += 1;
        record.bytes += u64::from(size);
        record.served = u32::from(vc);
        let local = port - site.port;
        if local < u32::from(site.net) {
            self.transmit(port, packet, vc, start, serialisation);
            return;
        }
        self.deliver(&packet.with_lp(lp), start);
        let back = Time(start + net.delivery_delay(size) + class.credit);
        let room = u64::from(self.model.unit);
        let credit = Packet::new(Kind::Credit, back, lp, local as u16);
        self.sink.send(credit.with_vc(vc).with_value(room));
    }
}
