//! The output side of an input-queued router: buffers per channel and the turns of a port on its link.

use super::InputQueued;
use crate::network::model::{AtRouter, Fabric, RouterModel};
use crate::packet::{Kind, Packet};
use crate::state::crossbar::Input;
use crate::state::{Link, NONE, State};
use des::{Journal, Sink, Time};

impl<J: Journal, S: Sink<Fabric<InputQueued>>> AtRouter<'_, InputQueued, J, S> {
    /// Gives a waiting port a turn one wake delay from now; `None` if it has one already.
    pub(super) fn wake(&mut self, port: u32, now: u64) -> Option<u64> {
        let turn = self.st.crossings.get(port).turn;
        let waits = turn == u64::MAX || (turn < now && self.st.ports.get(port).waiting == 0);
        waits.then(|| {
            let turn = now + self.net.classes[self.net.peers[port as usize].class() as usize].wake;
            self.st.crossings.edit(self.j, port).turn = turn;
            turn
        })
    }

    /// Puts the packet of `slot`, which was the first of an input queue, into the output buffer that it wants.
    pub(super) fn accept(&mut self, slot: u32, input: &Input) {
        let AtRouter { net, site, lp, .. } = *self;
        let (st, j) = (&mut *self.st, &mut *self.j);
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
    pub(super) fn turns(&mut self, until: u64) {
        let AtRouter { net, site, lp, .. } = *self;
        let mut next = u64::MAX;
        for word in 0..net.words {
            let index = lp * net.words + word;
            let all = *self.st.waiting.get(index);
            let (mut bits, mut left) = (all, all);
            while bits != 0 {
                let bit = bits.trailing_zeros();
                bits &= bits - 1;
                let port = site.port + word * 64 + bit;
                loop {
                    let turn = self.st.crossings.get(port).turn;
                    if turn >= until {
                        next = next.min(turn);
                        break;
                    }
                    let Some(vc) = self.choose(port) else {
                        self.st.crossings.edit(self.j, port).turn = u64::MAX;
                        break;
                    };
                    self.send(port, vc, turn);
                    if self.st.ports.get(port).waiting == 0 {
                        left &= !(1 << bit);
                        break;
                    }
                }
            }
            if left != all {
                self.st.waiting.set(self.j, index, left);
            }
        }
        self.st.arbiters.edit(self.j, lp).turn = next;
    }

    /// The channel whose credit counter a packet on channel `vc` of `port` takes: interfaces have one buffer for all channels.
    fn counter(&self, port: u32, vc: u8) -> u32 {
        let ejects = port - self.site.port >= u32::from(self.site.net);
        port * self.net.vcs + if ejects { 0 } else { u32::from(vc) }
    }

    /// The channel to serve at a turn: one with a packet and room downstream, in round robin or by arrival.
    fn choose(&self, port: u32) -> Option<u8> {
        let (net, st): (_, &State) = (self.net, self.st);
        let record = st.ports.get(port);
        let head = |vc: u8| st.channels.get(port * net.vcs + u32::from(vc)).head;
        let fits = |vc: u8| {
            let room = self.model.room(st.slots.get(head(vc)).size());
            st.channels.get(self.counter(port, vc)).credit >= i64::from(room)
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
    fn send(&mut self, port: u32, vc: u8, start: u64) {
        let AtRouter { net, site, lp, .. } = *self;
        let index = port * net.vcs + u32::from(vc);
        let packet = self.dequeue(port, index, vc);
        let size = packet.size();
        let room = self.model.room(size);
        let counter = self.counter(port, vc);
        self.st.inputs.edit(self.j, index).held -= u64::from(room);
        self.st.channels.edit(self.j, counter).credit -= i64::from(room);
        let serialisation = net.classes[net.peers[port as usize].class() as usize].ser(size);
        self.st.crossings.edit(self.j, port).turn = start + serialisation;
        let record = self.st.ports.edit(self.j, port);
        record.free = start + serialisation;
        record.busy += serialisation;
        record.packets += 1;
        record.bytes += u64::from(size);
        record.served = u32::from(vc);
        let local = port - site.port;
        if local < u32::from(site.net) {
            self.transmit(port, packet, vc, start, serialisation);
        } else {
            self.deliver(&packet, start);
            let back = Time(start + self.model.node_credit);
            self.sink
                .send(Packet::new(Kind::Credit, back, lp, local as u16).with_value(u64::from(room)));
        }
    }
}
