//! Network interfaces: messages wait in one queue per node, are cut into packets and injected at the host link's rate. Control messages
//! of ranks have a queue of their own (`control.rs`) unless they are to go in order.
//!
//! An interface is no event source of its own: it says when it can act next, and is caught up when its router is closed or gets an
//! event for it. A packet starts when the link is idle, its message is born and its overhead has passed, and (credit models) the
//! router's host buffer has room for it.

pub(crate) mod control;
pub(crate) mod cumulative;

use crate::memory;
use crate::mpi;
use crate::mpi::envelope::{self, Notice};
use crate::network::{Network, Site};
use crate::observe::{Begun, Record};
use crate::packet::{Kind, Packet};
use crate::router::RouterModel;
use crate::state::{Incoming, NONE, Post, State};
use crate::workload::{Message, Reaction};
use crate::world::Fabric;
use des::{Event, Journal, Sink, Time};

/// The bit of a message number that marks an acknowledgement.
pub const ACK: u16 = 1 << 15;
/// Where a message number has the message's class, in two bits, on a network that knows classes.
pub const CLASS: u32 = 13;

/// Lets all interfaces of a router inject what starts strictly before `end`; returns when the first can act next (ps).
#[inline(never)]
pub fn close<M: RouterModel, J: Journal, S: Sink<Fabric<M>>>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    lp: u32,
    site: &Site,
    end: u64,
    sink: &mut S,
) -> u64 {
    let mut wake = u64::MAX;
    let places = net.node_places(lp, site);
    let number = site.node.wrapping_sub(places.start);
    for place in places {
        let mut due = *st.due.get(place);
        if due < end {
            let node = (place, place.wrapping_add(number));
            due = match net.control_first {
                false => inject::<M, J, S, false>(net, st, j, lp, site, node, end, sink),
                true => advance::<M, J, S>(net, st, j, lp, site, node, end, sink),
            };
        }
        wake = wake.min(due);
    }
    wake
}

/// Injects everything of a node, given by its place in the columns and its number, that starts strictly before `end`; returns when it
/// can act next (ps, `u64::MAX`: not by itself).
#[allow(clippy::too_many_arguments)]
#[inline(never)]
pub fn advance<M: RouterModel, J: Journal, S: Sink<Fabric<M>>>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    lp: u32,
    site: &Site,
    node: (u32, u32),
    end: u64,
    sink: &mut S,
) -> u64 {
    match net.control_first {
        false => inject::<M, J, S, false>(net, st, j, lp, site, node, end, sink),
        true => inject::<M, J, S, true>(net, st, j, lp, site, node, end, sink),
    }
}

#[allow(clippy::too_many_arguments)]
#[inline(always)]
fn inject<M: RouterModel, J: Journal, S: Sink<Fabric<M>>, const CONTROL_FIRST: bool>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    lp: u32,
    site: &Site,
    (place, node): (u32, u32),
    end: u64,
    sink: &mut S,
) -> u64 {
    let due = loop {
        if CONTROL_FIRST && st.controls.get(place).head != NONE {
            match control::turn::<M, J, S>(net, st, j, lp, site, (place, node), end, sink) {
                control::Turn::Sent => continue,
                control::Turn::Waits(due) => break due,
                control::Turn::Data => {}
            }
        }
        if st.nics.get(place).birth == u64::MAX
            && let Err(due) = load::<M, J, CONTROL_FIRST>(net, st, j, lp, (place, node), end)
        {
            break due;
        }
        let nic = st.nics.edit(j, place);
        let start = nic.ready.max(nic.free);
        if start >= end {
            break start;
        }
        let size = nic.left.min(u64::from(net.packet)) as u32;
        if M::HOST_CREDITS {
            let room = M::room(net, size) as i32;
            if nic.credit < room {
                nic.blocked = 1;
                if CONTROL_FIRST && st.controls.get(place).head != NONE {
                    // There may be room for less.
                    continue;
                }
                break u64::MAX;
            }
            nic.credit -= room;
        }
        let parts = if M::SEQUENCER { net.parts(size) } else { 1 };
        nic.free = start
            + if M::SEQUENCER {
                net.model.cut
            } else {
                net.injection.ser(size)
            };
        nic.packets += u64::from(parts);
        let single = nic.single & 1 != 0;
        let mark = if single { nic.birth } else { u64::from(nic.part) };
        let packet = Packet::message_part(node, nic.destination, nic.message, size, single, mark);
        let first = nic.part == 0;
        let begins = (first && nic.message & ACK == 0).then_some(Begun {
            source: node,
            birth: nic.birth,
            time: start,
        });
        if first && net.follows_messages {
            let (birth, destination, bytes) = (nic.birth, nic.destination, nic.left);
            let message = Message {
                birth,
                destination,
                bytes,
            };
            follow::<M, S>(node, &message, nic.message, start, sink);
        }
        if nic.single != 1 && first {
            let envelope = match nic.single & 2 {
                0 => 0,
                _ => st.posts.get(nic.post_head).envelope,
            };
            let message = Message {
                birth: nic.birth,
                destination: nic.destination,
                bytes: nic.left,
            };
            announce::<M, S>(net, node, &message, nic.message, envelope, start, sink);
        }
        set_out::<M, S>(net, lp, site, node, (packet, parts), start, begins, sink);
        nic.part += parts;
        nic.left -= u64::from(size);
        if nic.left == 0 {
            nic.birth = u64::MAX;
            if nic.single & 2 != 0 {
                // The rank hears of it when the last byte has reached the router.
                let slot = nic.post_head;
                let post = st.posts.edit(j, slot);
                nic.post_head = post.next;
                st.sources.edit(j, place).taken -= post.bytes;
                if let Some(event) = mpi::sent(net, post) {
                    let at = Time(nic.free + net.injection.hop);
                    sink.send_at(at, event.at(at, lp, (node - site.node) as u16));
                }
                let free = &mut st.routers.edit(j, lp).free_post;
                post.next = *free;
                *free = slot;
            }
        } else if !M::SEQUENCER {
            nic.ready = nic.free + net.packet_overhead;
        }
    };
    st.due.set(j, place, due);
    due
}

/// Takes the next message of a node that is born before `end` to the head of its queue; else says when there may be one (ps). Where
/// control messages go first, it is taken only if its turn comes before `end` too: until then one may be born that goes before it.
#[inline(always)]
fn load<M: RouterModel, J: Journal, const CONTROL_FIRST: bool>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    lp: u32,
    (place, node): (u32, u32),
    end: u64,
) -> Result<(), u64> {
    let nic = st.nics.edit(j, place);
    let message = if nic.post_head != NONE {
        let post = *st.posts.get(nic.post_head);
        let turn = if CONTROL_FIRST {
            post.birth.max(nic.free)
        } else {
            post.birth
        };
        if turn >= end {
            // A rank has run ahead of the time; others of its node may still post before it.
            return Err(turn);
        }
        nic.single = u8::from(post.envelope != 0) << 1;
        if nic.single == 0 {
            let slot = nic.post_head;
            nic.post_head = post.next;
            let free = &mut st.routers.edit(j, lp).free_post;
            st.posts.edit(j, slot).next = *free;
            *free = slot;
        }
        nic.message = post.mark as u16;
        Message {
            birth: post.birth,
            destination: post.destination,
            bytes: post.bytes,
        }
    } else {
        nic.message = 0;
        nic.single = 0;
        match net.workload.generate(node, st.sources.edit(j, place)) {
            Some(message) => message,
            None => return Err(u64::MAX),
        }
    };
    nic.birth = message.birth;
    nic.left = message.bytes;
    nic.destination = message.destination;
    nic.part = 0;
    nic.single |= u8::from(message.bytes <= u64::from(net.unit) && !(M::SEQUENCER && net.model.cumulative));
    // Numbers tell messages of several packets apart, and messages that are born at one time.
    if nic.single & 1 == 0 || net.bursts {
        let number = &mut st.sources.edit(j, place).number;
        nic.message |= *number as u16 & net.numbers;
        *number = number.wrapping_add(1);
    }
    if M::SEQUENCER {
        // Messages pass the sequencer one after the other, whatever the packetizer behind it does.
        let after = if nic.packets == 0 {
            0
        } else {
            nic.ready + net.model.sequence
        };
        nic.ready = message.birth.max(after);
    } else {
        let first = nic.left.min(u64::from(net.packet));
        let idle = if message.birth >= nic.free {
            net.idle_delay * first
        } else {
            0
        };
        let wake = if message.birth >= nic.free { M::wake(net) } else { 0 };
        nic.ready = message.birth.max(nic.free) + net.message_overhead + net.packet_overhead + idle + wake;
    }
    Ok(())
}

/// A packet of so many parts sets out from its node at `start`, and with it a message if it is the first of one.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
fn set_out<M: RouterModel, S: Sink<Fabric<M>>>(
    net: &Network,
    lp: u32,
    site: &Site,
    node: u32,
    (packet, parts): (Packet, u32),
    start: u64,
    begins: Option<Begun>,
    sink: &mut S,
) {
    let bytes = packet.size();
    let mut at = start + net.injection.hop;
    if !M::PLAIN && net.store_and_forward {
        at += net.injection.ser(bytes);
    }
    sink.send_at(Time(at), packet.at(Time(at), lp, site.net + (node - site.node) as u16));
    sink.record(Record::Injected { bytes, parts, begins });
}

/// Shows each message, acknowledgements excepted, that waits at the interface of the node at `place` and of which no packet has left yet.
/// What its generator has not made is not among them.
pub fn waiting(st: &State, place: u32, mut see: impl FnMut(Message)) {
    let nic = st.nics.get(place);
    let has_head = nic.birth != u64::MAX;
    if has_head && nic.part == 0 && nic.message & ACK == 0 {
        see(Message {
            birth: nic.birth,
            destination: nic.destination,
            bytes: nic.left,
        });
    }
    let mut show = |head: u32, skip: bool| {
        let (mut slot, mut skip) = (head, skip);
        while slot != NONE {
            let post = st.posts.get(slot);
            if !skip && post.mark as u16 & ACK == 0 {
                see(Message {
                    birth: post.birth,
                    destination: post.destination,
                    bytes: post.bytes,
                });
            }
            (slot, skip) = (post.next, false);
        }
    };
    // A rank's message stays the first of its queue until it has left.
    show(nic.post_head, has_head && nic.single & 2 != 0);
    if !st.controls.is_empty() {
        let queue = st.controls.get(place);
        show(queue.head, queue.part > 0);
    }
}

/// Shows that a message sets out at `start` with a number, unless it is an acknowledgement.
#[inline(never)]
fn follow<M: RouterModel, S: Sink<Fabric<M>>>(node: u32, message: &Message, number: u16, start: u64, sink: &mut S) {
    if number & ACK == 0 {
        sink.record(Record::SetOut {
            source: node,
            destination: message.destination,
            number,
            bytes: message.bytes,
            birth: message.birth,
            time: start,
        });
    }
}

/// Tells the destination of a message of several packets, or of a rank's, that it sets out at `start` with a number.
#[inline(never)]
fn announce<M: RouterModel, S: Sink<Fabric<M>>>(
    net: &Network,
    node: u32,
    message: &Message,
    number: u16,
    envelope: u64,
    start: u64,
    sink: &mut S,
) {
    let Message {
        birth,
        destination,
        bytes,
    } = *message;
    let to = net.place_of_node(destination);
    let local = (destination - net.sites[to as usize].node) as u16;
    let at = Time(start) + net.lookahead;
    let notices = match envelope {
        0 => {
            let notice = Packet::new(Kind::Notice, at, to, local);
            // The message's size follows in a second word: births fit 48 bits, sizes do not share theirs.
            [notice.with_value(birth), notice.with_vc(1).with_value(bytes)]
        }
        _ => envelope::notices(envelope, birth, bytes, at, to, local),
    };
    for notice in notices {
        sink.send(notice.with_message(node, destination, number));
    }
}

/// Gives buffer space of the host port back to a node's interface.
pub fn credit<M: RouterModel, J: Journal, S: Sink<Fabric<M>>>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    lp: u32,
    event: &Packet,
    now: u64,
    sink: &mut S,
) {
    let site = net.sites[lp as usize];
    let node = site.node + u32::from(event.port());
    let place = net.node_place(lp, node);
    let due = *st.due.get(place);
    let wake = M::wake(net);
    // What starts before now needs none of this credit. Where the old credit is enough for all of it, the order does not matter, and
    // it is left for the end of the window; but whether the credit wakes an idle interface must be known now.
    let enough = now.saturating_sub(due) <= net.lookahead.0 && st.nics.get(place).credit >= net.window_bytes;
    if due < now && (wake != 0 || !enough) {
        advance::<M, J, S>(net, st, j, lp, &site, (place, node), now, sink);
    }
    let nic = st.nics.edit(j, place);
    nic.credit += event.value() as i32;
    if nic.blocked != 0 {
        nic.blocked = 0;
        nic.free = nic.free.max(now + wake);
        let due = nic.ready.max(nic.free);
        st.due.set(j, place, due);
    } else if wake != 0 && nic.free <= now.min(nic.birth) {
        // A credit wakes an idle interface even if it has nothing to send: what it is given before the turn that follows goes then.
        let turn = now + wake;
        let given = match nic.birth {
            u64::MAX => turn,
            _ => nic.ready - wake,
        };
        if given >= now {
            nic.free = turn;
            if given < turn {
                nic.ready = turn;
                st.due.set(j, place, turn);
            }
        }
    }
}

/// Hands a message to the interface of the node at `place`; births of what waits there are in order. `envelope` is 0 but for ranks.
pub(crate) fn post<J: Journal>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    lp: u32,
    place: u32,
    message: Message,
    (mark, envelope): (u16, u64),
) {
    let record = Post {
        birth: message.birth,
        bytes: message.bytes,
        destination: message.destination,
        next: NONE,
        mark: u32::from(mark),
        spare: 0,
        envelope,
    };
    let free = st.routers.get(lp).free_post;
    let slot = if free == NONE {
        st.posts.push(j, record)
    } else {
        st.routers.edit(j, lp).free_post = st.posts.get(free).next;
        st.posts.set(j, free, record);
        free
    };
    if net.control_first && envelope::is_control(envelope) {
        return control::enqueue(st, j, place, slot);
    }
    let nic = *st.nics.get(place);
    let has_set_out = nic.birth != u64::MAX && nic.single & 2 != 0;
    let (head, tail) = queue_up(st, j, (nic.post_head, nic.post_tail), has_set_out, slot);
    let nic = st.nics.edit(j, place);
    (nic.post_head, nic.post_tail) = (head, tail);
    if nic.birth == u64::MAX {
        let due = message.birth.max(nic.free).saturating_add(net.message_overhead);
        st.due.set(j, place, due.min(*st.due.get(place)));
    }
}

/// Puts a post into a queue of posts in the order of their births, behind those of the same time: the new head and tail.
fn queue_up<J: Journal>(
    st: &mut State,
    j: &mut J,
    (head, tail): (u32, u32),
    head_has_set_out: bool,
    slot: u32,
) -> (u32, u32) {
    let birth = st.posts.get(slot).birth;
    if head == NONE {
        return (slot, slot);
    }
    if st.posts.get(tail).birth <= birth {
        st.posts.edit(j, tail).next = slot;
        return (head, slot);
    }
    // Another rank of the node has run ahead. What has set out was born before.
    if !head_has_set_out && st.posts.get(head).birth > birth {
        st.posts.edit(j, slot).next = head;
        return (slot, tail);
    }
    let mut before = head;
    let after = loop {
        let next = st.posts.get(before).next;
        if st.posts.get(next).birth > birth {
            break next;
        }
        before = next;
    };
    st.posts.edit(j, before).next = slot;
    st.posts.edit(j, slot).next = after;
    (head, tail)
}

/// Runs a workload's start or reaction at a node.
pub fn react<M: RouterModel, J: Journal, S: Sink<Fabric<M>>>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    lp: u32,
    event: &Packet,
    now: u64,
    sink: &mut S,
) {
    let site = net.sites[lp as usize];
    let node = site.node + u32::from(event.port());
    let place = net.node_place(lp, node);
    let job = net.workload.ranks_of(node);
    // A rank may use all rails of its host, and looks at what they have yet to send.
    let rails = job.map_or(1, |(plans, ..)| plans.rails);
    for rail in 0..rails {
        let behind = node % rails;
        let (place, node) = (place - behind + rail, node - behind + rail);
        if *st.due.get(place) < now {
            advance::<M, J, S>(net, st, j, lp, &site, (place, node), now, sink);
        }
    }
    if let Some(job) = job {
        return mpi::react::<M, J, S>(net, st, j, (lp, place, node), job, event, sink);
    }
    if let Some(job) = net.workload.memory_of(node) {
        return memory::react::<M, J, S>(net, st, j, (lp, place, node), job, event, sink);
    }
    let source = st.sources.edit(j, place);
    let acknowledged = event.kind() == Kind::Delivered && event.message() & ACK != 0;
    if acknowledged {
        let batch = source.clock;
        sink.record(Record::Acknowledged { node, batch, time: now });
    }
    let reaction = match event.kind() {
        Kind::Start => net.workload.on_start(node, source, now),
        _ => net.workload.on_delivery(node, source, acknowledged, now),
    };
    match reaction {
        Reaction::None => {}
        Reaction::Data { count, message } => {
            for _ in 0..count {
                post(net, st, j, lp, place, message, (0, 0));
            }
        }
        Reaction::Ack(message) => post(net, st, j, lp, place, message, (ACK, 0)),
    }
}

/// A packet at the router `site` has been put on the ejection link at `start`: counts it towards its message.
#[inline(never)]
pub fn deliver<M: RouterModel, J: Journal, S: Sink<Fabric<M>>>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    site: &Site,
    packet: &Packet,
    start: u64,
    sink: &mut S,
) {
    let (size, lp) = (packet.size(), packet.lp());
    let delay = net.delivery_delay(size);
    let time = start + delay;
    if M::SEQUENCER && net.model.cumulative {
        cumulative::deliver::<M, J, S>(net, st, j, lp, packet, time, sink);
    } else if packet.single() {
        let birth = packet.mark();
        let early = birth + net.way_bound(packet.source(), site.router) + delay > time;
        complete::<M, S>(
            net,
            lp,
            packet,
            u64::from(size),
            birth,
            time,
            packet.hops(),
            early,
            true,
            sink,
        );
    } else {
        sink.record(Record::Packet {
            bytes: size,
            hops: packet.hops(),
            time,
        });
        let slot = incoming(net, st, j, lp, packet, u32::from(packet.message()));
        let entry = st.incoming.edit(j, slot);
        entry.left = entry.left.wrapping_sub(u64::from(size));
        entry.latest = entry.latest.max(time);
        entry.hops = entry.hops.max(packet.hops());
        finish::<M, J, S>(net, st, j, lp, packet, slot, sink);
    }
}

/// A notice of a message of several packets: its birth, or its size.
pub fn notice<M: RouterModel, J: Journal, S: Sink<Fabric<M>>>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    lp: u32,
    event: &Packet,
    sink: &mut S,
) {
    let slot = incoming(net, st, j, lp, event, u32::from(event.message()));
    let entry = st.incoming.edit(j, slot);
    match envelope::read(event) {
        Notice::Birth(birth, half) => {
            entry.birth = birth;
            entry.about |= half;
        }
        Notice::Size(bytes, half) => {
            entry.bytes = bytes;
            entry.left = entry.left.wrapping_add(bytes);
            entry.about |= half;
        }
    }
    if M::SEQUENCER && net.model.cumulative {
        return cumulative::notice::<M, J, S>(net, st, j, lp, event, slot, sink);
    }
    finish::<M, J, S>(net, st, j, lp, event, slot, sink);
}

/// The list that the record of a message to `node` is in.
#[inline(always)]
fn bucket(net: &Network, lp: u32, node: u32, source: u32, message: u32) -> u32 {
    let place = net.node_place(lp, node);
    let hash = (source ^ message << 16 ^ message >> 16).wrapping_mul(0x9E37_79B1);
    (place << net.bucket_bits) | (u64::from(hash) >> (32 - net.bucket_bits)) as u32
}

/// Finds or makes the record of a message with `packet`'s source and destination.
pub(crate) fn incoming<J: Journal>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    lp: u32,
    packet: &Packet,
    message: u32,
) -> u32 {
    let source = packet.source();
    let place = bucket(net, lp, packet.destination(), source, message);
    let first = *st.incoming_head.get(place);
    let mut slot = first;
    while slot != NONE {
        let entry = st.incoming.get(slot);
        if entry.source == source && entry.message == message {
            return slot;
        }
        slot = entry.next;
    }
    let entry = Incoming {
        left: 0,
        bytes: 0,
        birth: u64::MAX,
        latest: 0,
        source,
        next: first,
        message,
        hops: 0,
        about: 0,
        parts: 0,
        delivered: 0,
    };
    let free = st.routers.get(lp).free_incoming;
    let slot = if free == NONE {
        stock(st, j, lp, entry, 1 << net.bucket_bits.min(4))
    } else {
        st.routers.edit(j, lp).free_incoming = st.incoming.get(free).next;
        st.incoming.set(j, free, entry);
        free
    };
    st.incoming_head.set(j, place, slot);
    slot
}

/// Makes `count` new records of incoming messages side by side: `entry` is the first, the others are free. Nodes that have many at
/// a time have them in few pages of memory.
#[cold]
fn stock<J: Journal>(st: &mut State, j: &mut J, lp: u32, entry: Incoming, count: u32) -> u32 {
    let slot = st.incoming.push(j, entry);
    for _ in 1..count {
        let next = st.routers.get(lp).free_incoming;
        let spare = st.incoming.push(j, Incoming { next, ..entry });
        st.routers.edit(j, lp).free_incoming = spare;
    }
    slot
}

/// Completes a message of several packets if all of it has come, and drops its record.
fn finish<M: RouterModel, J: Journal, S: Sink<Fabric<M>>>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    lp: u32,
    packet: &Packet,
    slot: u32,
    sink: &mut S,
) {
    let entry = *st.incoming.get(slot);
    if entry.left != 0 || entry.bytes == 0 || entry.birth == u64::MAX {
        return;
    }
    if entry.about == 0 {
        forget(net, st, j, lp, packet.destination(), slot);
    }
    let least = net.bound(entry.source, packet.destination(), 1);
    let early = entry.birth + least > entry.latest;
    complete::<M, S>(
        net,
        lp,
        packet,
        entry.bytes,
        entry.birth,
        entry.latest,
        entry.hops,
        early,
        false,
        sink,
    );
}

/// Drops the record of a message to `node`.
#[inline(always)]
pub(crate) fn forget<J: Journal>(net: &Network, st: &mut State, j: &mut J, lp: u32, node: u32, slot: u32) {
    let Incoming {
        source, message, next, ..
    } = *st.incoming.get(slot);
    let (place, after) = (bucket(net, lp, node, source, message), next);
    let head = *st.incoming_head.get(place);
    if head == slot {
        st.incoming_head.set(j, place, after);
    } else {
        let mut before = head;
        while st.incoming.get(before).next != slot {
            before = st.incoming.get(before).next;
        }
        st.incoming.edit(j, before).next = after;
    }
    let free = &mut st.routers.edit(j, lp).free_incoming;
    st.incoming.edit(j, slot).next = *free;
    *free = slot;
}

/// Reports a complete message and tells the workload if it reacts.
#[inline(always)]
fn complete<M: RouterModel, S: Sink<Fabric<M>>>(
    net: &Network,
    lp: u32,
    packet: &Packet,
    bytes: u64,
    birth: u64,
    time: u64,
    hops: u32,
    early: bool,
    single: bool,
    sink: &mut S,
) {
    let node = packet.destination();
    sink.record(Record::Message {
        source: packet.source(),
        destination: node,
        bytes,
        birth,
        time,
        hops,
        number: packet.message(),
        early,
        single,
    });
    if net.workload.reacts() && net.workload.reacts_at(node) {
        let local = node - net.sites[lp as usize].node;
        let event = Packet::new(Kind::Delivered, Time(time), lp, local as u16);
        sink.send(event.with_message(packet.source(), node, packet.message()));
    }
}
