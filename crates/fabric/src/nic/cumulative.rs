//! `router.completion = "cumulative"`: a message counts as delivered when its last-numbered chunk has come, and from its source as
//! many bytes as the source's messages to this node up to it have, whichever messages they belong to.
//!
//! A batch of messages whose chunks take different ways is so delivered one message after the other at the rate of the bytes that
//! come, and complete with its last byte. In-order networks and single messages do not show the difference. The rule is that of the
//! CODES runs in `validation/codes-torus.json` with random dimensions (`docs/models/late-admission.md`).
//!
//! Every message is announced by notices, which arrive in the order of sending: they give the ends of messages in the flow of bytes.

use super::{Done, complete, key};
use crate::incoming;
use crate::network::Network;
use crate::network::model::{AtRouter, Fabric, RouterModel};
use crate::observe::{Record, share_of_message};
use crate::packet::{CLASS, Label, NUMBERS, Packet};
use crate::state::{Incoming, NONE, State};
use des::{Journal, Sink};

/// The "label" of the record of a flow, all messages of one source to one node: bytes that have come, bytes announced (`about`),
/// arrival of the latest chunk, the first of the messages on their way (`next`). It stays. No message is of that class here.
pub(crate) const FLOW: Label = 1 << CLASS | (NUMBERS - 1);

/// The record of a flow.
fn flow_of<J: Journal>(net: &Network, st: &mut State, j: &mut J, lp: u32, packet: &Packet) -> u32 {
    incoming::record(net, st, j, lp, (packet.source(), packet.destination(), FLOW))
}

/// Puts the message of record `slot` among those of its flow.
pub(crate) fn join<J: Journal>(st: &mut State, j: &mut J, flow: u32, slot: u32) {
    st.incoming.edit(j, slot).next = st.incoming.get(flow).next;
    st.incoming.edit(j, flow).next = slot;
}

impl<M: RouterModel, J: Journal, S: Sink<Fabric<M>>> AtRouter<'_, M, J, S> {
    /// A chunk of a message is at its node at `time`.
    #[inline(never)]
    pub(super) fn deliver_to_flow(&mut self, packet: &Packet, time: u64) {
        let AtRouter { net, lp, .. } = *self;
        let size = packet.size();
        self.sink.record(Record::Packet {
            bytes: size,
            hops: packet.hops(),
            time,
            share: packet.share_of_part(),
        });
        // Notices come before chunks: the record is there, and with its flow.
        let slot = incoming::record(net, self.st, self.j, lp, key(packet));
        let entry = self.st.incoming.edit(self.j, slot);
        entry.left = entry.left.wrapping_sub(u64::from(size));
        entry.parts = entry.parts.max(packet.part_number() + 1);
        entry.hops = entry.hops.max(packet.hops());
        entry.latest = entry.latest.max(time);
        let flow = flow_of(net, self.st, self.j, lp, packet);
        let record = self.st.incoming.edit(self.j, flow);
        record.bytes += u64::from(size);
        record.latest = record.latest.max(time);
        self.settle(packet, flow);
    }

    /// A notice of the message of record `slot` has come, the one with its size or the other, which is first.
    #[inline(never)]
    pub(super) fn notice_of_flow(&mut self, message: &Packet, slot: u32, size: bool) {
        let flow = flow_of(self.net, self.st, self.j, self.lp, message);
        if size {
            let until = self.st.incoming.get(flow).about + self.st.incoming.get(slot).bytes;
            self.st.incoming.edit(self.j, flow).about = until;
            self.st.incoming.edit(self.j, slot).about = until;
        } else {
            join(self.st, self.j, flow, slot);
        }
        self.settle(message, flow);
    }

    /// Completes the messages of a flow that count as delivered now, and drops the records of those that have come as a whole.
    fn settle(&mut self, packet: &Packet, flow: u32) {
        let AtRouter { net, lp, .. } = *self;
        let (node, source) = (packet.destination(), packet.source());
        let Incoming { bytes, latest, .. } = *self.st.incoming.get(flow);
        let mut before = flow;
        loop {
            let slot = self.st.incoming.get(before).next;
            if slot == NONE {
                return;
            }
            let mut entry = *self.st.incoming.get(slot);
            let known = entry.bytes != 0 && entry.birth != u64::MAX;
            let due = known && entry.about <= bytes && entry.parts == n_parts(net, entry.bytes);
            if due && entry.delivered == 0 {
                entry.delivered = 1;
                self.st.incoming.edit(self.j, slot).delivered = 1;
                let message = Packet::part(source, node, entry.label, 1, 0);
                let early = entry.birth + net.bound(source, node, 1) > latest;
                let done = Done {
                    bytes: entry.bytes,
                    birth: entry.birth,
                    time: latest,
                    hops: entry.hops,
                    early,
                    name: message.name(net.messages.bursts),
                    is_whole: false,
                    share: share_of_message(message.ends(), entry.label, entry.birth, entry.bytes),
                };
                complete::<M, S>(net, &message, &done, self.sink);
            }
            if entry.delivered != 0 && entry.left == 0 {
                self.st.incoming.edit(self.j, before).next = entry.next;
                incoming::take(net, self.st, self.j, lp, (source, node, entry.label));
            } else {
                before = slot;
            }
        }
    }
}

/// Chunks of a message of `bytes`.
fn n_parts(net: &Network, bytes: u64) -> u32 {
    let packet = u64::from(net.packet);
    let full = bytes / packet * u64::from(net.parts(net.packet));
    let rest = match (bytes % packet) as u32 {
        0 => 0,
        rest => net.parts(rest),
    };
    full as u32 + rest
}
