//! Control messages of ranks before data: what asks for a rendezvous, gives leave and says that it is over has a queue of its own, served
//! between packets.
//!
//! When an interface comes to its next packet and a control message was born by then, that goes first, at the price of any other
//! packet: overheads, the link's time, room in the router's host buffer. A packet that has begun, or whose overhead has, is not
//! interrupted. Where the next packet of data waits for room, a control message that needs less may pass it.

use super::{announce, follow, queue_up, set_out};
use crate::network::model::{Fabric, RouterModel};
use crate::network::{Network, Site};
use crate::observe::Departures;
use crate::packet::{ONLY, Packet};
use crate::state::{NONE, Nic, State, next_number};
use des::{Journal, Sink};
use work::workload::Message;

/// Whose turn it is at an interface with control messages.
pub(super) enum Turn {
    /// A packet of a control message has set out.
    Sent,
    /// A control message is next, not before this time (ps; `u64::MAX`: when there is room).
    Waits(u64),
    /// A packet of data is next.
    Data,
}

/// Puts the post at `slot` into the queue of control messages of the node at `place`.
pub(super) fn enqueue<J: Journal>(st: &mut State, j: &mut J, place: u32, slot: u32) {
    let queue = *st.controls.get(place);
    let (head, tail) = queue_up(st, j, (queue.head, queue.tail), queue.part > 0, slot);
    let queue = st.controls.edit(j, place);
    (queue.head, queue.tail) = (head, tail);
    let due = st.posts.get(head).birth.max(st.nics.get(place).free);
    st.due.set(j, place, due.min(*st.due.get(place)));
}

/// Sends the next packet of the control messages of a node, which has some, if it is their turn and its start lies before `end`.
#[allow(clippy::too_many_arguments)]
#[inline(never)]
pub(super) fn turn<M: RouterModel, J: Journal, S: Sink<Fabric<M>>>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    lp: u32,
    site: &Site,
    (place, node): (u32, u32),
    end: u64,
    departures: &mut Departures,
    sink: &mut S,
) -> Turn {
    let (nic, queue) = (*st.nics.get(place), *st.controls.get(place));
    let post = *st.posts.get(queue.head);
    let first = queue.part == 0;
    let left = if first { post.bytes } else { queue.left };
    let size = left.min(u64::from(net.packet)) as u32;
    let message_overhead = if first { net.message_overhead } else { 0 };
    let idle = match first && post.birth >= nic.free {
        true => net.idle_delay * u64::from(size) + M::wake(net),
        false => 0,
    };
    let turn = post.birth.max(nic.free);
    let mut start = turn + message_overhead + net.packet_overhead + idle;
    // When the interface comes to its next packet of data.
    let comes = match (nic.birth, nic.post_head) {
        (u64::MAX, NONE) => u64::MAX,
        (u64::MAX, data) => st.posts.get(data).birth.max(nic.free),
        (birth, _) if nic.part == 0 => birth.max(nic.free),
        _ => nic.free,
    };
    if post.birth > comes {
        if nic.birth == u64::MAX {
            return Turn::Data;
        }
        let data_start = nic.ready.max(nic.free);
        let data_size = nic.left.min(u64::from(net.packet)) as u32;
        if !M::HOST_CREDITS || data_start >= end || nic.credit >= M::room(net, data_size) as i32 {
            return Turn::Data;
        }
        // Only then is it known that data waits for room.
        start = start.max(data_start);
        st.nics.edit(j, place).target |= Nic::BLOCKED;
    }
    if turn >= end {
        // Until then a credit may wake the interface, so that it starts sooner than it would from rest.
        return Turn::Waits(turn);
    }
    if start >= end {
        return Turn::Waits(start);
    }
    if M::HOST_CREDITS {
        let room = M::room(net, size) as i32;
        let nic = st.nics.edit(j, place);
        if nic.credit < room {
            nic.target |= Nic::BLOCKED;
            return Turn::Waits(u64::MAX);
        }
        nic.credit -= room;
    }
    let label = if first {
        let label = post.mark | next_number(st.sources.edit(j, place));
        let message = Message {
            birth: post.birth,
            destination: post.destination,
            bytes: post.bytes,
        };
        if net.follows_messages {
            follow::<M, S>(node, message, label, start, sink);
        }
        announce::<M, S>(net, node, message, label, post.envelope, start, sink);
        label
    } else {
        queue.label
    };
    let part = match post.bytes <= u64::from(net.unit) {
        true => ONLY,
        false => queue.part,
    };
    let packet = Packet::part(node, post.destination, label, size, part);
    if first {
        let wait = start - post.birth;
        departures.begins(&net.span, node, post.birth, wait, |record| sink.record(record));
    }
    departures.count(size, 1, packet.share_of_part());
    set_out::<M, S>(net, lp, site, node, packet, start, sink);
    let nic = st.nics.edit(j, place);
    nic.free = start + net.injection.ser(size);
    nic.packets += 1;
    if nic.birth != u64::MAX {
        // The overheads of the packet that has let this one pass begin when it has left.
        let overhead = net.packet_overhead + if nic.part == 0 { net.message_overhead } else { 0 };
        nic.ready = nic.ready.max(nic.free + overhead);
    }
    let left = left - u64::from(size);
    let queue = st.controls.edit(j, place);
    (queue.left, queue.part, queue.label) = (left, queue.part + 1, label);
    if left == 0 {
        let slot = queue.head;
        (queue.head, queue.part) = (post.next, 0);
        st.sources.edit(j, place).taken -= post.bytes;
        let free = &mut st.routers.edit(j, lp).free_post;
        st.posts.edit(j, slot).next = *free;
        *free = slot;
    }
    Turn::Sent
}
