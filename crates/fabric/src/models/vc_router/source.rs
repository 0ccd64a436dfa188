//! Where the packets of a node become flits: a flit per cycle into the router's input buffer, over channels that are empty enough.
//!
//! It lies beside the router and acts when its flits arrive there: what it knows of the buffer is as old as the link to the node makes it.

use super::{FOR_SOURCE, SOURCES, VcRouter};
use crate::network::Network;
use crate::network::model::{AtRouter, Fabric};
use crate::packet::{Kind, Packet};
use crate::state::NONE;
use crate::state::pipeline::FlitSource;
use des::{Journal, Sink, Time};

impl VcRouter {
    /// From the departure of a node's flit from its input buffer until its source knows (ps).
    fn return_time(&self) -> u64 {
        self.injection.credit + self.injection.flight
    }

    /// Finds out what sources can do without events.
    pub(super) fn keep_returns(&mut self, net: &Network) {
        self.keeps_returns = self.usual && self.return_time().div_ceil(self.clock) <= FlitSource::MOST_RETURNS as u64;
        // With nothing waiting at the source, the interface misses the room of what has left the source and has yet to count, and of what has set out
        // and cannot be seen, until the room at hand counts. It has more than both together, so that it never waits for this room.
        let (there, packet) = (net.injection.credit, u64::from(self.full.1));
        let leaving = there.div_ceil(self.clock) - 1 + packet;
        let coming = (net.injection.hop + there).div_ceil(self.injection.flit.max(1)) - 1 + packet;
        let room = net.interface.buffer / self.flit as i32;
        self.returns_at_once =
            !net.interface.control_first && net.changes.is_none() && leaving + coming <= room.max(0) as u64;
    }
}

impl<J: Journal, S: Sink<Fabric<VcRouter>>> AtRouter<'_, VcRouter, J, S> {
    /// A node hands over a packet; whether its source can do something.
    #[inline(always)]
    pub(super) fn give_to_source(&mut self, node: u32, slot: u32) -> bool {
        let place = self.net.node_place(self.lp, self.site.node + node);
        let source = self.st.flit_sources.edit(self.j, place);
        let is_first = source.head == NONE;
        match is_first {
            true => source.head = slot,
            false => self.st.links.edit(self.j, source.tail).next = slot,
        }
        source.tail = slot;
        let is_idle = is_first && source.left == 0;
        if is_idle {
            self.put_into(SOURCES, node);
        }
        is_idle
    }

    /// Room comes back in the buffer of a port from a node; whether its source can do something.
    #[inline(always)]
    pub(super) fn credit_source(&mut self, port: u32, vc: u32) -> bool {
        let index = self.record_of((port << self.model.shift) + vc);
        self.st.input_channels.edit(self.j, index).room += 1;
        let node = port - u32::from(self.site.net);
        let place = self.net.node_place(self.lp, self.site.node + node);
        let source = self.st.flit_sources.get(place);
        let has_flits = source.left > 0 || source.head != NONE;
        if has_flits {
            self.put_into(SOURCES, node);
        }
        has_flits
    }

    /// A node's source sends a flit, if it can; whether it can try in the next cycle.
    #[inline(always)]
    pub(super) fn emit(&mut self, node: u32, now: u64) -> bool {
        let AtRouter {
            net, site, model, lp, ..
        } = *self;
        let place = net.node_place(lp, site.node + node);
        let source = *self.st.flit_sources.get(place);
        if source.free > now {
            return true;
        }
        let port = u32::from(site.net) + node;
        let first = self.record_of(port << model.shift);
        // If there is no room now there may be some when what is under way is there.
        let waits = source.n_returns > 0 && self.take_returns(place, first, now);
        let (vc, left) = match source.left {
            0 if source.head == NONE => return false,
            0 => {
                let slot = source.head;
                let packet = self.st.slots.get(slot);
                let flits = model.flits(packet.size());
                let Some(vc) = self.room_at(first, u32::from(source.vc), packet) else {
                    return waits;
                };
                let next = self.st.links.get(slot).next;
                let record = self.st.flit_sources.edit(self.j, place);
                record.head = next;
                record.vc = vc as u16;
                record.flits = flits;
                record.left = flits;
                self.st.links.edit(self.j, slot).next = NONE;
                self.st.slots.edit(self.j, slot).set_vc(vc as u8);
                let packet = *self.st.slots.get(slot);
                self.head_arrives((port << model.shift) + vc, slot, &packet, now);
                (vc, flits)
            }
            left => {
                let vc = u32::from(source.vc);
                if self.st.input_channels.get(first + vc).room == 0 {
                    return waits;
                }
                self.body_arrives((port << model.shift) + vc);
                (vc, left)
            }
        };
        self.st.input_channels.edit(self.j, first + vc).room -= 1;
        let source = self.st.flit_sources.edit(self.j, place);
        source.left = left - 1;
        source.free = now + model.injection.flit;
        let (is_tail, waits) = (left == 1, source.head != NONE);
        let room = u32::from(source.flits) * model.flit;
        if is_tail && !waits && model.returns_at_once {
            self.st.nics.edit(self.j, place).credit += room as i32;
        } else if is_tail {
            let at = Time(now + net.injection.credit);
            let credit = Packet::new(Kind::HostCredit, at, lp, node as u16).with_value(room.into());
            self.sink.send_at(at, credit);
        }
        !is_tail || waits
    }

    /// The first channel with room behind the last one that was used, of a port whose channels begin at `first`, for a packet; or the one that it
    /// has drawn, if that has room.
    #[inline(always)]
    fn room_at(&self, first: u32, last: u32, packet: &Packet) -> Option<u32> {
        let AtRouter { net, model, .. } = *self;
        let network = packet.class().min(net.routing.networks() - 1);
        let (lowest, channels) = model.network_of(network * model.classes_of_network);
        let (lowest, channels) = (u32::from(lowest), u32::from(channels));
        let least = match (&model.outputs, model.pipeline.wait_for_tail_credit) {
            (Some(outputs), _) => outputs.head_room(),
            (None, true) => model.buffer,
            (None, false) => 1,
        };
        if let Some(drawn) = net.routing.drawn_channel(packet, channels) {
            let vc = lowest + drawn;
            return (self.st.input_channels.get(first + vc).room >= least).then_some(vc);
        }
        // The lowest with room, where packets find room for all of themselves.
        let mut vc = if model.outputs.is_some() { u32::MAX } else { last };
        for _ in 0..channels {
            vc = if vc >= lowest + channels - 1 || vc < lowest {
                lowest
            } else {
                vc + 1
            };
            if self.st.input_channels.get(first + vc).room >= least {
                return Some(vc);
            }
        }
        None
    }

    /// Takes what has come back to a source; whether more is under way.
    #[inline(always)]
    fn take_returns(&mut self, place: u32, first: u32, now: u64) -> bool {
        let source = self.st.flit_sources.edit(self.j, place);
        while let Some(vc) = source.take_return(now) {
            self.st.input_channels.edit(self.j, first + vc).room += 1;
        }
        source.n_returns > 0
    }

    /// The departure of a flit of a node from its input buffer at `leaves` (ps): its source learns of it.
    #[inline(always)]
    pub(super) fn tell_source(&mut self, port: u32, vc: u8, leaves: u64) {
        let at = leaves + self.model.return_time();
        if !self.model.keeps_returns {
            let credit = Packet::new(Kind::Credit, Time(at), self.lp, port as u16).with_vc(vc);
            return self.sink.send_at(Time(at), credit.with_value(FOR_SOURCE));
        }
        let node = port - u32::from(self.site.net);
        let place = self.net.node_place(self.lp, self.site.node + node);
        let first = self.record_of(port << self.model.shift);
        self.take_returns(place, first, leaves);
        let source = self.st.flit_sources.edit(self.j, place);
        source.keep_return(at, vc);
        if source.left > 0 || source.head != NONE {
            self.put_into(SOURCES, node);
        }
    }
}
