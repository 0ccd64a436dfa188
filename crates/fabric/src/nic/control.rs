//! Control messages of ranks before data: what asks for a rendezvous, gives leave and says that it is over has a queue of its own, served
//! between packets.
//!
//! When an interface comes to its next packet and a control message was born by then, that goes first, at the price of any other
//! packet: overheads, the link's time, room in the router's host buffer. A packet that has begun, or whose overhead has, is not
//! interrupted. Where the next packet of data waits for room, a control message that needs less may pass it.

use super::{AtInterface, announce, posted, queue_up};
use crate::envelope;
use crate::network::model::{AtRouter, Fabric, RouterModel};
use crate::observe::Departures;
use crate::packet::{ONLY, Packet};
use crate::state::{NONE, Nic, Post, State, next_number};
use des::{Journal, Sink};

/// Whose turn it is at an interface with control messages.
pub(super) enum Turn {
    /// A packet of a control message has set out.
    Sent,
    /// A control message is next, not before this time (ps; `u64::MAX`: when there is room).
    Waits(u64),
    /// A packet of data is next.
    Data,
}

/// The next packet of the control messages of a node.
struct Next {
    /// Its message.
    post: Post,
    /// It is the first of it.
    first: bool,
    /// Bytes of the message that have yet to set out, and of the packet.
    left: u64,
    size: u32,
}

/// Puts the post at `slot` into the queue of control messages of the node at `place`.
pub(super) fn enqueue<J: Journal>(st: &mut State, j: &mut J, place: u32, slot: u32) {
    let queue = *st.controls.get(place);
    let (head, tail) = queue_up(st, j, (queue.head, queue.tail), queue.part > 0, slot);
    let queue = st.controls.edit(j, place);
    (queue.head, queue.tail) = (head, tail);
    st.nics.edit(j, place).target |= Nic::CONTROL;
    see_to(st, j, place);
}

/// Lets the interface at `place` act when the turn of the first of its control messages may come, if any waits, or sooner.
pub(super) fn see_to<J: Journal>(st: &mut State, j: &mut J, place: u32) {
    let nic = *st.nics.get(place);
    if nic.is(Nic::CONTROL) {
        let turn = st.posts.get(st.controls.get(place).head).birth.max(nic.free);
        st.due.set(j, place, turn.min(*st.due.get(place)));
    }
}

impl<M: RouterModel> Fabric<M> {
    /// [`AtRouter::control_turn`].
    #[inline(never)]
    fn take_control_turn<J: Journal, S: Sink<Self>>(
        &self,
        st: &mut State,
        j: &mut J,
        lp: u32,
        interface: AtInterface,
        departures: &mut Departures,
        sink: &mut S,
    ) -> Turn {
        self.at(st, j, lp, sink).take_turn(interface, departures)
    }
}

impl<M: RouterModel, J: Journal, S: Sink<Fabric<M>>> AtRouter<'_, M, J, S> {
    /// Sends the next packet of the control messages of an interface, which has some, if it is their turn.
    #[inline(always)]
    pub(super) fn control_turn(&mut self, interface: AtInterface, departures: &mut Departures) -> Turn {
        self.fabric
            .take_control_turn(self.st, self.j, self.lp, interface, departures, self.sink)
    }

    fn take_turn(&mut self, interface: AtInterface, departures: &mut Departures) -> Turn {
        let queue = *self.st.controls.get(interface.place);
        let post = *self.st.posts.get(queue.head);
        let first = queue.part == 0;
        let left = if first { post.bytes } else { queue.left };
        let size = left.min(u64::from(self.net.packet)) as u32;
        let next = Next {
            post,
            first,
            left,
            size,
        };
        let start = match self.start_of_control(&next, interface) {
            Ok(start) => start,
            Err(turn) => return turn,
        };
        self.send_control(&next, interface, start, departures);
        Turn::Sent
    }

    /// When the next control packet sets out, with room in the router's host buffer taken for it; or whose turn it is.
    #[inline(always)]
    fn start_of_control(&mut self, next: &Next, interface: AtInterface) -> Result<u64, Turn> {
        let AtInterface { place, mut end, .. } = interface;
        let net = self.net;
        let &Next {
            ref post, first, size, ..
        } = next;
        let nic = *self.st.nics.get(place);
        let message_overhead = match first && !net.interface.reads_only {
            true => net.interface.message_overhead,
            false => 0,
        };
        let idle = match first && post.birth >= nic.free {
            true => net.interface.idle_delay * u64::from(size) + self.model.wake(),
            false => 0,
        };
        let turn = post.birth.max(nic.free);
        let mut start = turn + message_overhead + net.interface.packet_overhead + idle;
        // When the interface comes to its next packet of data.
        let comes = match (nic.birth, nic.post_head) {
            (u64::MAX, NONE) => u64::MAX,
            (u64::MAX, data) => self.st.posts.get(data).birth.max(nic.free),
            (birth, _) if nic.part == 0 => birth.max(nic.free),
            _ => nic.free,
        };
        if post.birth > comes {
            if nic.birth == u64::MAX {
                return Err(Turn::Data);
            }
            let data_start = nic.ready.max(nic.free);
            let data_size = nic.left.min(u64::from(net.packet)) as u32;
            let room = self.model.room(data_size) as i32;
            let finds =
                !M::HOST_CREDITS || data_start >= end || nic.credit >= room || self.finds_room(place, room, data_start);
            if finds {
                return Err(Turn::Data);
            }
            // Only then is it known that data waits for room, and until when.
            start = start.max(data_start);
            end = end.min(self.room_comes(place));
        }
        if turn >= end {
            // Until then a credit may wake the interface, so that it starts sooner than it would from rest.
            return Err(Turn::Waits(turn));
        }
        if start >= end {
            return Err(Turn::Waits(start));
        }
        if M::HOST_CREDITS {
            let room = self.model.room(size) as i32;
            if self.st.nics.get(place).credit < room && !self.finds_room(place, room, start) {
                return Err(Turn::Waits(u64::MAX));
            }
            self.st.nics.edit(self.j, place).credit -= room;
        }
        Ok(start)
    }

    /// The next control packet of a node sets out at `start`; its message leaves the queue with its last one.
    #[inline(always)]
    fn send_control(&mut self, next: &Next, interface: AtInterface, start: u64, departures: &mut Departures) {
        let AtInterface { place, node, .. } = interface;
        let net = self.net;
        let &Next {
            ref post,
            first,
            left,
            size,
        } = next;
        let queue = *self.st.controls.get(place);
        let label = if first {
            let label = post.mark | next_number(self.st.ledgers.edit(self.j, place));
            let message = posted(post);
            if net.follows_messages() {
                self.follow(node, &message, label, start);
            }
            announce::<M, S>(net, node, &message, (label, post.envelope()), start, self.sink);
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
            departures.begins(&net.span, node, post.birth, wait, |record| self.sink.record(record));
        }
        departures.count(size, 1, packet.share_of_part());
        self.set_out(node, packet, start);
        let nic = self.st.nics.edit(self.j, place);
        nic.free = start + net.injection.ser(size);
        nic.packets += 1;
        if nic.birth != u64::MAX {
            // The overheads of the packet that has let this one pass begin when it has left.
            let overhead = net.interface.packet_overhead
                + if nic.part == 0 {
                    net.interface.message_overhead
                } else {
                    0
                };
            nic.ready = nic.ready.max(nic.free + overhead);
        }
        let left = left - u64::from(size);
        let queue = self.st.controls.edit(self.j, place);
        (queue.left, queue.part, queue.label) = (left, queue.part + 1, label);
        if left == 0 {
            let slot = queue.head;
            (queue.head, queue.part) = (post.next, 0);
            if post.next == NONE {
                self.st.nics.edit(self.j, place).target &= !Nic::CONTROL;
            }
            self.st.ledgers.edit(self.j, place).taken -= post.bytes;
            let free = &mut self.st.routers.edit(self.j, self.lp).free_post;
            self.st.posts.edit(self.j, slot).next = *free;
            *free = slot;
            if let Some(left) = envelope::left(net, post.envelope(), post.destination) {
                self.tell_of_leaving(interface, left);
            }
        }
    }
}
