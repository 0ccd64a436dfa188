//! `credit` with `architecture = "output-buffered"`: output buffers per virtual channel behind an ideal crossbar, and input buffers that only
//! hold what those have no room for (SST/macro's PISCES).
//!
//! * **Crossbar.** A packet goes into the output buffer of its port and channel when its head has come, if there is room for all of it; else
//!   it waits in the buffer that it has come to, with the others that want this output and channel in the order of their arrival, whatever
//!   their inputs. The credit of the input buffer is back when the packet's tail has come, and not before the link's latency has passed.
//! * **Output.** A packet in the output buffer is put in line for the link as soon as the buffer at the other end has room: at once, or when
//!   a credit comes, then in the order of its channel. Its room there is taken when it is put in line. The line is first come, first
//!   served. The room in the output buffer is free when the tail has left.
//! * **Node.** It has a buffer as a router has behind a link, and sends the credit of a packet when all of it has come.
//!
//! So a start is known when the packet is put in line, and room in an output buffer comes back by an event of the router's own.

use crate::network::Network;
use crate::network::model::{AtRouter, Fabric, ModelRecords, RouterModel};
use crate::packet::{Kind, Packet};
use crate::packing;
use crate::router::waiting_behind;
use crate::spec::RunSpec;
use crate::state::lists::{EMPTY, List};
use crate::state::{NONE, State};
use des::checkpoint::{put, take};
use des::{Event, Journal, NoJournal, Sink, Time, Torn};
use std::ops::Range;

mod named;

/// Of credits that are room in the router's own output buffer.
const OWN: u64 = 1 << 40;

/// The model.
#[derive(Debug)]
pub struct OutputBuffered {
    /// Bytes of an output buffer per port and channel.
    buffer: u64,
    /// From a head's arrival until the router looks at it (ps).
    traversal: u64,
    /// From the time at which a packet has left for its node until its credit is back (ps).
    node_credit: u64,
}

impl RouterModel for OutputBuffered {
    const HOST_CREDITS: bool = true;
    const NODES_GIVE_CREDITS: bool = true;
    const RECORDS: ModelRecords = ModelRecords {
        per_channel: size_of::<List>() + size_of::<u64>(),
        ..ModelRecords::NONE
    };

    fn new(spec: &RunSpec, net: &Network) -> Self {
        let to_node = spec.links.of("host").latency.0;
        OutputBuffered {
            buffer: spec
                .router
                .share(spec.router.output_buffer, net.vcs)
                .map_or(u64::MAX / 2, |bytes| bytes.0),
            traversal: spec.router.traversal.0,
            node_credit: to_node + spec.router.credit(to_node, 0),
        }
    }

    fn start(&self, net: &Network, routers: &Range<u32>, st: &mut State) {
        let ports = net.part(routers).ports;
        let channels = ports.start * net.vcs..ports.end * net.vcs;
        st.refused.fill(channels.start, vec![EMPTY; channels.len()]);
        st.held.fill(channels.start, vec![0; channels.len()]);
    }

    fn arrive<J: Journal, S: Sink<Fabric<Self>>>(at: AtRouter<'_, Self, J, S>, event: &Packet) {
        let mut packet = *event;
        let site = *at.site;
        let mut at = at.with(&site);
        if let Some(inputs) = &at.net.inputs {
            packet = inputs.taken(&site, &packet);
        }
        let now = packet.time().0;
        let way = at.route(&packet, now);
        if way.is_lost() {
            return at.lose_here(&packet, now);
        }
        packet.set_phase(way.phase());
        let (local, vc) = (way.port(), way.vc());
        let port = site.port + local;
        let channel = port * at.net.vcs + u32::from(vc);
        let waits = at.st.refused.get(channel).head != NONE;
        if waits || !at.has_room(channel, packet.size()) {
            at.st.ports.edit(at.j, port).mark += at.serialisation(port, packet.size());
            return at.refuse(channel, packet);
        }
        at.admit(port, vc, packet, now, false);
    }

    fn credit<J: Journal, S: Sink<Fabric<Self>>>(at: AtRouter<'_, Self, J, S>, event: &Packet) {
        let site = *at.site;
        let mut at = at.with(&site);
        let now = event.time().0;
        let (port, vc) = (site.port + u32::from(event.port()), event.vc());
        let channel = port * at.net.vcs + u32::from(vc);
        let value = event.value();
        if value & OWN == 0 {
            at.st.channels.edit(at.j, channel).credit += value as i64;
            return at.line_up(port, vc, now);
        }
        *at.st.held.edit(at.j, channel) -= value - OWN;
        while let Some(size) = at.first_refused(channel)
            && at.has_room(channel, size)
        {
            let packet = at.call_in(channel);
            at.admit(port, vc, packet, now, true);
        }
    }

    /// All that it does it does at events.
    #[inline(always)]
    fn close<J: Journal, S: Sink<Fabric<Self>>>(_: AtRouter<'_, Self, J, S>, _: u64) -> u64 {
        u64::MAX
    }

    /// Time (ps) that the port needs for what is in line for its link and for what is not yet, whatever the channel.
    fn backlog<J: Journal, S: Sink<Fabric<Self>>>(at: AtRouter<'_, Self, J, S>, port: u32, _: u8, now: u64) -> u64 {
        let record = at.st.ports.get(port);
        record.free.saturating_sub(now) + record.mark
    }

    fn waiting(&self, net: &Network, st: &State, port: u32, vc: Option<u8>, now: u64) -> u64 {
        let record = st.ports.get(port);
        let in_line = record.free.saturating_sub(now);
        in_line
            + match vc {
                None => record.mark,
                Some(vc) => net.classes[net.peers[port as usize].class() as usize]
                    .time_of(self.queued(net, st, port, vc) as u64),
            }
    }

    fn queued(&self, net: &Network, st: &State, port: u32, vc: u8) -> i64 {
        let channel = port * net.vcs + u32::from(vc);
        let in_buffer = match st.ports.get(port).channels >> vc & 1 {
            0 => NONE,
            _ => st.channels.get(channel).head,
        };
        let sizes = [in_buffer, st.refused.get(channel).head]
            .into_iter()
            .flat_map(|head| waiting_behind(st, head));
        sizes.map(|slot| i64::from(st.slots.get(slot).size())).sum()
    }

    fn pack(&self, net: &Network, st: &State, lp: u32, out: &mut Vec<u8>) {
        let site = &net.sites[lp as usize];
        for channel in site.port * net.vcs..(site.port + site.ports()) * net.vcs {
            put(out, *st.held.get(channel));
            packing::put_packets(net, st, lp, st.refused.get(channel).head, out);
        }
    }

    fn unpack(&self, net: &Network, st: &mut State, lp: u32, input: &mut &[u8]) -> Result<(), Torn> {
        let site = net.sites[lp as usize];
        for channel in site.port * net.vcs..(site.port + site.ports()) * net.vcs {
            let held = take(input)?;
            st.held.set(&mut NoJournal, channel, held);
            let (head, tail) = packing::take_packets::<Self>(net, st, lp, input)?;
            st.refused.set(&mut NoJournal, channel, List { head, tail });
        }
        Ok(())
    }
}

impl<J: Journal, S: Sink<Fabric<OutputBuffered>>> AtRouter<'_, OutputBuffered, J, S> {
    fn serialisation(&self, port: u32, size: u32) -> u64 {
        self.net.classes[self.net.peers[port as usize].class() as usize].ser(size)
    }

    /// Whether the output buffer of a channel has room for so many bytes.
    fn has_room(&self, channel: u32, size: u32) -> bool {
        *self.st.held.get(channel) + u64::from(size) <= self.model.buffer
    }

    /// Size of the packet that has waited longest for room in an output buffer.
    fn first_refused(&self, channel: u32) -> Option<u32> {
        let head = self.st.refused.get(channel).head;
        (head != NONE).then(|| self.st.slots.get(head).size())
    }

    /// Takes a packet into its output buffer, where there is room; it `waited` for that or has just come.
    fn admit(&mut self, port: u32, vc: u8, packet: Packet, now: u64, waited: bool) {
        let AtRouter { net, site, .. } = *self;
        let channel = port * net.vcs + u32::from(vc);
        let size = packet.size();
        *self.st.held.edit(self.j, channel) += u64::from(size);
        let delay = net.class_before(site, &packet).credit;
        // The credit is on its way while the tail still comes.
        let behind = if net.store_and_forward {
            0
        } else {
            net.time_on_link(site, &packet)
        };
        let tail = packet.time().0.saturating_sub(self.model.traversal) + behind;
        self.return_credit(&packet, now.max(tail.saturating_sub(delay)));
        let is_first = self.st.ports.get(port).channels >> vc & 1 == 0;
        if is_first && self.st.channels.get(channel).credit >= i64::from(size) {
            if waited {
                self.st.ports.edit(self.j, port).mark -= self.serialisation(port, size);
            }
            return self.start(port, vc, packet, now);
        }
        if !waited {
            self.st.ports.edit(self.j, port).mark += self.serialisation(port, size);
        }
        self.enqueue(port, channel, vc, packet);
    }

    /// Puts packets of a channel in line for the link, as many as there is room for at its other end.
    fn line_up(&mut self, port: u32, vc: u8, now: u64) {
        let channel = port * self.net.vcs + u32::from(vc);
        while self.st.ports.get(port).channels >> vc & 1 != 0 {
            let queue = self.st.channels.get(channel);
            let size = self.st.slots.get(queue.head).size();
            if queue.credit < i64::from(size) {
                return;
            }
            let packet = self.dequeue(port, channel, vc);
            self.st.ports.edit(self.j, port).mark -= self.serialisation(port, size);
            self.start(port, vc, packet, now);
        }
    }

    /// Puts a packet in line for its link: it starts behind what is there.
    fn start(&mut self, port: u32, vc: u8, packet: Packet, now: u64) {
        let AtRouter { net, site, lp, .. } = *self;
        let size = packet.size();
        let serialisation = self.serialisation(port, size);
        let mut ready = now;
        if net.mixed_speeds {
            ready = ready.max(packet.time().0 + net.overtaking_delay(site, &packet, serialisation));
        }
        let begun = ready.max(self.st.ports.get(port).free);
        let (start, serialisation) = self.take_link(port, size, begun, serialisation);
        let local = port - site.port;
        let free = Time(start + serialisation);
        let room = Packet::new(Kind::Credit, free, lp, local as u16).with_vc(vc);
        self.sink.send_at(free, room.with_value(u64::from(size) + OWN));
        let channel = port * net.vcs + u32::from(vc);
        self.st.channels.edit(self.j, channel).credit -= i64::from(size);
        if local < u32::from(site.net) {
            self.transmit(port, packet, vc, start, serialisation);
        } else {
            let back = Time(free.0 + self.model.node_credit);
            let credit = Packet::new(Kind::Credit, back, lp, local as u16).with_vc(vc);
            self.sink.send_at(back, credit.with_value(size.into()));
            self.deliver(&packet.with_lp(lp), start);
        }
    }
}
