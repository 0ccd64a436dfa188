//! Where the packets of a node become flits: a flit per cycle into the router's input buffer, over channels that are empty enough.
//!
//! It lies beside the router and acts when its flits arrive there: what it knows of the buffer is as old as the link to the node makes it.

use super::{FOR_SOURCE, SOURCES, VcRouter};
use crate::network::model::{AtRouter, Fabric};
use crate::packet::{Kind, Packet};
use crate::state::NONE;
use des::{Journal, Sink, Time};

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
        let (vc, left) = match source.left {
            0 if source.head == NONE => return false,
            0 => {
                let slot = source.head;
                let packet = self.st.slots.get(slot);
                let flits = model.flits(packet.size());
                let Some(vc) = self.room_at(first, u32::from(source.vc), packet) else {
                    return false;
                };
                let next = self.st.links.get(slot).next;
                let record = self.st.flit_sources.edit(self.j, place);
                record.head = next;
                record.vc = vc as u16;
                record.flits = flits;
                record.left = flits;
                self.st.links.edit(self.j, slot).next = NONE;
                self.st.slots.edit(self.j, slot).set_vc(vc as u8);
                self.head_arrives((port << model.shift) + vc, slot, now);
                (vc, flits)
            }
            left => {
                let vc = u32::from(source.vc);
                if self.st.input_channels.get(first + vc).room == 0 {
                    return false;
                }
                self.body_arrives((port << model.shift) + vc);
                (vc, left)
            }
        };
        self.st.input_channels.edit(self.j, first + vc).room -= 1;
        let source = self.st.flit_sources.edit(self.j, place);
        source.left = left - 1;
        source.free = now + model.injection.flit;
        let more = left > 1 || source.head != NONE;
        if left == 1 {
            let room = u64::from(source.flits) * u64::from(model.flit);
            let at = Time(now + net.injection.credit);
            let credit = Packet::new(Kind::HostCredit, at, lp, node as u16).with_value(room);
            self.sink.send_at(at, credit);
        }
        more
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

    /// The departure of a flit of a node from its input buffer at `leaves` (ps): its source learns of it.
    #[inline(always)]
    pub(super) fn tell_source(&mut self, port: u32, vc: u8, leaves: u64) {
        let at = Time(leaves + self.model.injection.credit + self.model.injection.flight);
        let credit = Packet::new(Kind::Credit, at, self.lp, port as u16).with_vc(vc);
        self.sink.send_at(at, credit.with_value(FOR_SOURCE));
    }
}
