//! `router.completion = "cumulative"`: a message counts as delivered when its last-numbered chunk has come, and from its source as
//! many bytes as the source's messages to this node up to it have, whichever messages they belong to.
//!
//! A batch of messages whose chunks take different ways is so delivered one message after the other at the rate of the bytes that
//! come, and complete with its last byte. In-order networks and single messages do not show the difference. The rule is that of the
//! CODES runs in `validation/codes-torus.json` with random dimensions (`docs/models/late-admission.md`).
//!
//! Every message is announced by notices, which arrive in the order of sending: they give the ends of messages in the flow of bytes.

use super::{complete, forget, incoming};
use crate::network::Network;
use crate::observe::Record;
use crate::packet::Packet;
use crate::router::RouterModel;
use crate::state::{Incoming, NONE, State};
use crate::world::Fabric;
use des::{Journal, Sink};

/// The "message number" of the record of a flow, all messages of one source to one node: bytes that have come, bytes announced
/// (`about`), arrival of the latest chunk. It stays.
const FLOW: u32 = 1 << 16;

/// A chunk of a message is at its node at `time`.
#[inline(never)]
pub(super) fn deliver<M: RouterModel, J: Journal, S: Sink<Fabric<M>>>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    lp: u32,
    packet: &Packet,
    time: u64,
    sink: &mut S,
) {
    let size = packet.size();
    sink.record(Record::Packet {
        bytes: size,
        hops: packet.hops(),
        time,
    });
    let slot = incoming(net, st, j, lp, packet, u32::from(packet.message()));
    let entry = st.incoming.edit(j, slot);
    entry.left = entry.left.wrapping_sub(u64::from(size));
    entry.parts = entry.parts.max(packet.mark() as u32 + 1);
    entry.hops = entry.hops.max(packet.hops());
    entry.latest = entry.latest.max(time);
    let flow = incoming(net, st, j, lp, packet, FLOW);
    let record = st.incoming.edit(j, flow);
    record.bytes += u64::from(size);
    record.latest = record.latest.max(time);
    settle::<M, J, S>(net, st, j, lp, packet, flow, sink);
}

/// A notice of the message of record `slot` has come.
#[inline(never)]
pub(super) fn notice<M: RouterModel, J: Journal, S: Sink<Fabric<M>>>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    lp: u32,
    event: &Packet,
    slot: u32,
    sink: &mut S,
) {
    let flow = incoming(net, st, j, lp, event, FLOW);
    if event.vc() != 0 {
        let until = st.incoming.get(flow).about + event.value();
        st.incoming.edit(j, flow).about = until;
        st.incoming.edit(j, slot).about = until;
    }
    settle::<M, J, S>(net, st, j, lp, event, flow, sink);
}

/// Completes the messages of a flow that count as delivered now, and drops the records of those that have come as a whole.
fn settle<M: RouterModel, J: Journal, S: Sink<Fabric<M>>>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    lp: u32,
    packet: &Packet,
    flow: u32,
    sink: &mut S,
) {
    let (node, source) = (packet.destination(), packet.source());
    let Incoming { bytes, latest, .. } = *st.incoming.get(flow);
    // One list per node: ranks do not go with this rule.
    let mut slot = *st.incoming_head.get(net.node_place(lp, node));
    while slot != NONE {
        let mut entry = *st.incoming.get(slot);
        let next = entry.next;
        if entry.source == source && entry.message != FLOW {
            let known = entry.bytes != 0 && entry.birth != u64::MAX;
            let due = known && entry.about <= bytes && entry.parts == n_parts(net, entry.bytes);
            if due && entry.delivered == 0 {
                entry.delivered = 1;
                st.incoming.edit(j, slot).delivered = 1;
                let message = Packet::message_part(source, node, entry.message as u16, 1, false, 0);
                let early = entry.birth + net.bound(source, node, 1) > latest;
                let (size, birth, hops) = (entry.bytes, entry.birth, entry.hops);
                complete::<M, S>(net, lp, &message, size, birth, latest, hops, early, false, sink);
            }
            if entry.delivered != 0 && entry.left == 0 {
                forget(net, st, j, lp, node, slot);
            }
        }
        slot = next;
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
