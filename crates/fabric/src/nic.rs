//! Network interfaces: messages wait in one queue per node, are cut into packets and injected at the host link's rate. Control messages
//! of ranks have a queue of their own (`control.rs`) unless they are to go in order.
//!
//! An interface is no event source of its own: it says when it can act next, and is caught up when its router is closed or gets an
//! event for it. A packet starts when the link is idle, its message is born and its overhead has passed, and (credit models) the
//! router's host buffer has room for it.

mod again;
pub(crate) mod control;
pub(crate) mod cumulative;
pub(crate) mod returns;

use crate::bits::{each_bit, few_at_a_time};
use crate::envelope::{self, Notice};
use crate::incoming::{self, Key};
use crate::network::model::{AtRouter, Fabric, RouterModel};
use crate::network::{Network, Site};
use crate::observe::{Departures, Lost, NO_MESSAGE, Record, StayRow, share_of_birth, share_of_message};
use crate::packet::{Address, EnvelopeWords, Kind, Label, MAX_PARTS, OLD, ONLY, Packet, ends, is_ack};
use crate::state::{Incoming, NONE, Nic, Post, State, fault, next_number};
use des::{Column, Event, Journal, Sink, Time, later, split_at};
use std::hint::select_unpredictable;
use work::workload::Message;

/// An interface at hand.
#[derive(Clone, Copy)]
pub(crate) struct AtInterface {
    /// Its place in the columns, and its node's number.
    pub(crate) place: u32,
    pub(crate) node: u32,
    /// It injects what starts strictly before this time (ps).
    pub(crate) end: u64,
}

impl<M: RouterModel> Fabric<M> {
    /// Lets all interfaces of a router inject what starts strictly before `end`; returns when the first can act next (ps).
    #[inline(always)]
    pub(crate) fn close_interfaces<J: Journal, S: Sink<Self>>(
        &self,
        st: &mut State,
        j: &mut J,
        lp: u32,
        end: u64,
        sink: &mut S,
    ) -> u64 {
        match self.net.interface.control_first {
            false => self.close_all::<false, J, S>(st, j, lp, end, sink),
            true => self.close_all::<true, J, S>(st, j, lp, end, sink),
        }
    }

    /// [`Self::close_interfaces`], with or without queues of control messages: what one of these needs in registers is nothing that the other waits for.
    #[inline(never)]
    fn close_all<const CONTROL_FIRST: bool, J: Journal, S: Sink<Self>>(
        &self,
        st: &mut State,
        j: &mut J,
        lp: u32,
        end: u64,
        sink: &mut S,
    ) -> u64 {
        let net = &self.net;
        let mut wake = u64::MAX;
        let mut departures = Departures::new(&net.span);
        let site = net.sites[lp as usize];
        let places = net.node_places(lp, &site);
        let number = site.node.wrapping_sub(places.start);
        let mut act = |st: &mut State, place: u32| {
            let node = place.wrapping_add(number);
            let interface = AtInterface { place, node, end };
            let due = match CONTROL_FIRST {
                false => self
                    .at(st, j, lp, sink)
                    .with(&site)
                    .inject::<false>(interface, &mut departures),
                true => match self.waits_for_room(st, j, (lp, place), end) {
                    Some(due) => due,
                    None => self.inject_in_two(st, j, lp, interface, &mut departures, sink),
                },
            };
            if net.workload.jobs() > 1 {
                departures.tell(|record| sink.record(record));
            }
            due
        };
        match CONTROL_FIRST {
            false => {
                for place in places {
                    let due = *st.due.get(place);
                    wake = wake.min(if due < end { act(st, place) } else { due });
                }
            }
            // Of ranks' interfaces few act, and no branch can tell which.
            true => {
                for few in few_at_a_time(places) {
                    let (acting, others) = split_at(st.due.part(few.clone()), end);
                    wake = wake.min(others);
                    each_bit(acting, |number| wake = wake.min(act(st, few.start + number)));
                }
            }
        }
        departures.tell(|record| sink.record(record));
        wake
    }

    /// When the first interface of a router can act next (ps), if none can before `end`.
    #[inline(always)]
    pub(crate) fn idle_until(&self, st: &State, lp: u32, end: u64) -> Option<u64> {
        let places = self.net.node_places(lp, &self.net.sites[lp as usize]);
        let mut due = u64::MAX;
        for place in places {
            due = due.min(*st.due.get(place));
        }
        (due >= end).then_some(due)
    }

    /// Injects everything of an interface; returns when it can act next (ps, `u64::MAX`: not by itself).
    #[inline(never)]
    pub(crate) fn advance<J: Journal, S: Sink<Self>>(
        &self,
        st: &mut State,
        j: &mut J,
        lp: u32,
        interface: AtInterface,
        sink: &mut S,
    ) -> u64 {
        let net = &self.net;
        let mut departures = Departures::new(&net.span);
        let due = match net.interface.control_first {
            false => {
                let site = net.sites[lp as usize];
                self.at(st, j, lp, sink)
                    .with(&site)
                    .inject::<false>(interface, &mut departures)
            }
            true => self.inject_in_two(st, j, lp, interface, &mut departures, sink),
        };
        departures.tell(|record| sink.record(record));
        due
    }

    /// [`AtRouter::inject`] where control messages have a queue of their own.
    #[inline(never)]
    fn inject_in_two<J: Journal, S: Sink<Self>>(
        &self,
        st: &mut State,
        j: &mut J,
        lp: u32,
        interface: AtInterface,
        departures: &mut Departures,
        sink: &mut S,
    ) -> u64 {
        self.at(st, j, lp, sink).inject::<true>(interface, departures)
    }

    /// [`AtRouter::load`] where control messages have a queue of their own: of ranks, whose messages are many packets, so that what takes one to the head keeps
    /// no registers from what sends packets.
    #[inline(never)]
    fn load_beside<J: Journal, S: Sink<Self>>(
        &self,
        st: &mut State,
        j: &mut J,
        lp: u32,
        interface: AtInterface,
        sink: &mut S,
    ) -> Result<(), u64> {
        self.at(st, j, lp, sink).load::<true>(interface)
    }

    /// Tells the destination of the message at the head of an interface, one of several packets or a rank's, that it sets out at `start`.
    #[inline(never)]
    fn announce_head<J: Journal, S: Sink<Self>>(
        &self,
        st: &mut State,
        j: &mut J,
        lp: u32,
        interface: AtInterface,
        start: u64,
        sink: &mut S,
    ) {
        let AtInterface { place, node, .. } = interface;
        let nic = *st.nics.get(place);
        let envelope = match nic.is(Nic::OF_RANK) {
            false => EnvelopeWords::default(),
            true => st.posts.get(nic.post_head).envelope(),
        };
        if nic.left > u64::from(self.net.unit) * MAX_PARTS {
            st.routers.edit(j, lp).faults |= fault::TOO_MANY_PARTS;
        }
        announce::<M, S>(&self.net, node, &at_head(&nic), (nic.label, envelope), start, sink);
    }

    /// The last byte of a rank's message has left its interface: the rank hears of it when it has reached the router.
    #[inline(never)]
    fn let_rank_message_leave<J: Journal, S: Sink<Self>>(
        &self,
        st: &mut State,
        j: &mut J,
        lp: u32,
        interface: AtInterface,
        sink: &mut S,
    ) {
        let AtInterface { place, .. } = interface;
        let nic = st.nics.edit(j, place);
        let slot = nic.post_head;
        let post = st.posts.edit(j, slot);
        nic.post_head = post.next;
        st.ledgers.edit(j, place).taken -= post.bytes;
        let left = envelope::left(&self.net, post.envelope(), post.destination);
        let free = &mut st.routers.edit(j, lp).free_post;
        post.next = *free;
        *free = slot;
        if let Some(left) = left {
            self.at(st, j, lp, sink).tell_of_leaving(interface, left);
        }
    }

    /// Gives buffer space of the host port back to a node's interface.
    pub(crate) fn credit_interface<J: Journal, S: Sink<Self>>(
        &self,
        st: &mut State,
        j: &mut J,
        lp: u32,
        event: &Packet,
        sink: &mut S,
    ) {
        let net = &self.net;
        let now = event.time().0;
        let node = net.sites[lp as usize].node + u32::from(event.port());
        let place = net.node_place(lp, node);
        let due = *st.due.get(place);
        let wake = self.model.wake();
        // What starts before now needs none of this credit. Where the old credit is enough for all of it, the order does not matter, and
        // it is left for the end of the window; but whether the credit wakes an idle interface must be known now.
        let enough =
            now.saturating_sub(due) <= net.lookahead.0 && st.nics.get(place).credit >= net.interface.window_bytes;
        if due < now && (wake != 0 || !enough) {
            let interface = AtInterface { place, node, end: now };
            self.advance(st, j, lp, interface, sink);
        }
        self.room_is_back(st, j, place, event.value() as i32, now);
    }

    /// Room of a router's host buffer is back at `now` at an interface that has done all it could before.
    fn room_is_back<J: Journal>(&self, st: &mut State, j: &mut J, place: u32, bytes: i32, now: u64) {
        let wake = self.model.wake();
        let nic = st.nics.edit(j, place);
        nic.credit += bytes;
        if nic.is(Nic::BLOCKED) {
            nic.target &= !Nic::BLOCKED;
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
            if given < now {
                return;
            }
            nic.free = turn;
            if given < turn {
                nic.ready = turn;
                st.due.set(j, place, turn);
            }
        } else {
            return;
        }
        if self.net.interface.control_first {
            // Control messages that were to come behind data may have their turn before them now.
            control::see_to(st, j, place);
        }
    }

    /// A packet has been put on the ejection link of its router at `start`: counts it towards its message.
    #[inline(never)]
    fn deliver<J: Journal, S: Sink<Self>>(&self, st: &mut State, j: &mut J, packet: &Packet, start: u64, sink: &mut S) {
        let net = &self.net;
        let delay = net.delivery_delay(packet.size());
        if packet.single() && net.messages.whole_is_all {
            let site = &net.sites[packet.lp() as usize];
            let done = whole::<false>(net, site, packet, (start + delay, delay));
            return report::<M, S>(packet, &done, sink);
        }
        self.deliver_with_more(st, j, packet, (start + delay, delay), sink);
    }

    /// [`Self::deliver`] where there may be more to do than to report a message of one packet; `delay` ps lie between the link and the node.
    #[inline(never)]
    fn deliver_with_more<J: Journal, S: Sink<Self>>(
        &self,
        st: &mut State,
        j: &mut J,
        packet: &Packet,
        (time, delay): (u64, u64),
        sink: &mut S,
    ) {
        let (net, lp) = (&self.net, packet.lp());
        let site = &net.sites[lp as usize];
        let size = packet.size();
        if net.changes.is_some()
            && self
                .at(st, j, lp, sink)
                .is_lost_at_the_node(packet, (time - delay, time))
        {
            return;
        }
        if net.messages.follows_ranks {
            let port = u32::from(site.net) + (packet.destination() - site.node);
            let serialisation = net.classes[net.peers[(site.port + port) as usize].class() as usize].ser(size);
            Self::show_stay_at(net, lp, port, packet, time - delay + serialisation, sink);
        }
        if self.model.completes_by_flow() {
            return self.at(st, j, lp, sink).deliver_to_flow(packet, time);
        }
        if packet.single() {
            let done = match net.messages.bursts {
                false => whole::<false>(net, site, packet, (time, delay)),
                true => whole::<true>(net, site, packet, (time, delay)),
            };
            return complete::<M, S>(net, packet, &done, sink);
        }
        sink.record(Record::Packet {
            bytes: size,
            hops: packet.hops(),
            time,
            share: packet.share_of_part(),
        });
        let slot = incoming::record(net, st, j, lp, key(packet));
        let entry = st.incoming.edit(j, slot);
        // Which packet is the last of a message whose size that tells no branch can know.
        let part = packet.part_number();
        let only = part == ONLY;
        let before = if only {
            0
        } else {
            u64::from(part) * u64::from(net.packet)
        };
        let tells = (entry.sizeless != 0) & (only | (size < net.packet));
        let bytes = if tells { before + u64::from(size) } else { 0 };
        entry.bytes += bytes;
        entry.left = entry.left.wrapping_add(bytes).wrapping_sub(u64::from(size));
        entry.latest = entry.latest.max(time);
        entry.hops = entry.hops.max(packet.hops());
        if net.messages.in_order {
            let due = if only { ONLY } else { entry.parts };
            entry.parts += 1;
            if part != due {
                st.routers.edit(j, lp).faults |= fault::OUT_OF_ORDER;
            }
        }
        if st.incoming.get(slot).is_complete() {
            self.at(st, j, lp, sink).finish(packet, slot);
        }
    }

    /// Shows how long a packet of a rank's message, which is all on the link to an address at `gone`, was held up at its router.
    #[cold]
    #[inline(never)]
    pub(crate) fn show_stay<S: Sink<Self>>(
        net: &Network,
        lp: u32,
        to: Address,
        packet: Packet,
        gone: u64,
        sink: &mut S,
    ) {
        let site = &net.sites[lp as usize];
        let leads_there = |port: &u32| net.peers[(site.port + port) as usize].address() == to;
        if let Some(port) = (0..u32::from(site.net)).find(leads_there) {
            Self::show_stay_at(net, lp, port, &packet, gone, sink);
        }
    }

    /// Shows how long a packet of a rank's message was held up at a router's output port, if it is one; it is all on the link at `gone`.
    #[cold]
    #[inline(never)]
    pub(crate) fn show_stay_at<S: Sink<Self>>(
        net: &Network,
        lp: u32,
        port: u32,
        packet: &Packet,
        gone: u64,
        sink: &mut S,
    ) {
        let source = packet.source();
        if !net.messages.follows_ranks || packet.single() || net.workload.ranks_of(source).is_none() {
            return;
        }
        let site = &net.sites[lp as usize];
        sink.record(Record::Stayed(StayRow {
            time: gone.saturating_sub(packet.time().0),
            source,
            destination: packet.destination(),
            label: packet.label(),
            router: site.router,
            port,
            ejects: (port >= u32::from(site.net)).into(),
        }));
    }

    /// A notice of a message with a record: its birth, its size, both where the last packet tells the size, or what is lost of it.
    pub(crate) fn notice<J: Journal, S: Sink<Self>>(
        &self,
        st: &mut State,
        j: &mut J,
        lp: u32,
        event: &Packet,
        sink: &mut S,
    ) {
        let net = &self.net;
        let node = net.sites[lp as usize].node + u32::from(event.port());
        let message = Packet::part(event.noticed_source(), node, event.noticed(), 1, 0);
        let slot = incoming::record(net, st, j, lp, key(&message));
        let entry = st.incoming.edit(j, slot);
        match envelope::read(event) {
            Notice::Birth(birth, half) => {
                if entry.birth != u64::MAX {
                    st.routers.edit(j, lp).faults |= fault::NUMBER_IN_USE;
                }
                entry.birth = birth;
                entry.about |= half;
            }
            Notice::Size(bytes, half, rest) => {
                entry.bytes = bytes;
                entry.left = entry.left.wrapping_add(bytes);
                entry.about |= half;
                entry.rest = rest;
            }
            Notice::Only(birth, envelope) => {
                if entry.birth != u64::MAX {
                    st.routers.edit(j, lp).faults |= fault::NUMBER_IN_USE;
                }
                (entry.birth, entry.sizeless) = (birth, 1);
                (entry.about, entry.rest) = (envelope.word, envelope.rest);
            }
            Notice::Lost(bytes) => {
                entry.left = entry.left.wrapping_sub(bytes);
                entry.lost = 1;
            }
        }
        if event.vc() & envelope::BESIDE != 0 {
            // Nothing of it comes over the network.
            st.incoming.edit(j, slot).delivered = 1;
            return;
        }
        if self.model.completes_by_flow() {
            let size = matches!(envelope::read(event), Notice::Size(..));
            return self.at(st, j, lp, sink).notice_of_flow(&message, slot, size);
        }
        if st.incoming.get(slot).is_complete() {
            self.at(st, j, lp, sink).finish(&message, slot);
        }
    }
}

impl<M: RouterModel, J: Journal, S: Sink<Fabric<M>>> AtRouter<'_, M, J, S> {
    /// Injects everything of an interface; returns when it can act next.
    #[inline(always)]
    fn inject<const CONTROL_FIRST: bool>(&mut self, interface: AtInterface, departures: &mut Departures) -> u64 {
        let due = loop {
            // Data that waits for room lets nothing else be done.
            let due = match self.st.nics.get(interface.place).target & (Nic::BLOCKED | Nic::CONTROL) {
                Nic::BLOCKED if self.fabric.keeps_returns() => u64::MAX,
                _ => self.inject_until_room_comes::<CONTROL_FIRST>(interface, departures),
            };
            let time = self.room_comes(interface.place);
            if time >= interface.end {
                break due.min(time);
            }
            self.fabric
                .room_has_come(self.st, self.j, (self.lp, interface.place), time);
        };
        self.st.due.set(self.j, interface.place, due);
        due
    }

    /// [`Self::inject`] as far as the room that there is decides: what comes back to an interface that waits for room changes what it does.
    #[inline(always)]
    fn inject_until_room_comes<const CONTROL_FIRST: bool>(
        &mut self,
        mut interface: AtInterface,
        departures: &mut Departures,
    ) -> u64 {
        let AtInterface { place, node, .. } = interface;
        let net = self.net;
        loop {
            interface.end = interface.end.min(self.room_comes(place));
            if CONTROL_FIRST && self.st.nics.get(place).is(Nic::CONTROL) {
                match self.control_turn(interface, departures) {
                    control::Turn::Sent => continue,
                    control::Turn::Waits(due) => return due,
                    control::Turn::Data => {}
                }
            }
            if self.st.nics.get(place).birth == u64::MAX {
                let loaded = match CONTROL_FIRST {
                    false => self.load::<false>(interface),
                    true => self.fabric.load_beside(self.st, self.j, self.lp, interface, self.sink),
                };
                if let Err(due) = loaded {
                    return due;
                }
            }
            let nic = self.st.nics.get(place);
            let start = nic.ready.max(nic.free);
            if start >= interface.end {
                return start;
            }
            let size = next_size(net, nic);
            if M::HOST_CREDITS {
                let room = self.model.room(size) as i32;
                if nic.credit < room && !self.finds_room(place, room, start) {
                    if CONTROL_FIRST && self.st.nics.get(place).is(Nic::CONTROL) {
                        // There may be room for less.
                        continue;
                    }
                    return u64::MAX;
                }
                self.st.nics.edit(self.j, place).credit -= room;
            }
            let nic = self.st.nics.edit(self.j, place);
            let sequencer = self.model.sequencer();
            let (parts, occupied) = match &sequencer {
                Some(sequencer) => (net.parts(size), sequencer.packet),
                None => (1, net.injection.ser(size)),
            };
            nic.free = start + occupied;
            nic.packets += u64::from(parts);
            let (packet, share) = self.cut(interface, size, start);
            let nic = self.st.nics.get(place);
            if nic.part == 0 && !is_ack(nic.label) {
                let (birth, wait) = (nic.birth, start - nic.birth);
                departures.begins(&net.span, node, birth, wait, |record| self.sink.record(record));
                if net.follows_messages() {
                    let message = at_head(self.st.nics.get(place));
                    self.follow(node, &message, packet.name(net.messages.bursts), start);
                }
            }
            departures.count(size, parts, share);
            self.set_out(node, packet, start);
            let nic = self.st.nics.edit(self.j, place);
            nic.part += parts;
            nic.left -= u64::from(size);
            if nic.left == 0 {
                nic.birth = u64::MAX;
                if nic.is(Nic::OF_RANK) {
                    self.fabric
                        .let_rank_message_leave(self.st, self.j, self.lp, interface, self.sink);
                }
                if net.interface.gap > 0 {
                    self.st.nics.edit(self.j, place).free += net.interface.gap;
                }
            } else if sequencer.is_none() {
                nic.ready = nic.free + net.interface.packet_overhead;
            }
        }
    }

    /// The next packet of the message at the head of an interface, of `size` bytes, with its share; the destination is told of a message of
    /// several packets when the first of them sets out.
    #[inline(always)]
    fn cut(&mut self, interface: AtInterface, size: u32, start: u64) -> (Packet, u64) {
        let AtInterface { place, node, .. } = interface;
        let net = self.net;
        let nic = self.st.nics.get(place);
        let destination = nic.destination();
        if nic.is(Nic::WHOLE) && !net.messages.bursts {
            let packet = Packet::whole(node, destination, size, nic.birth);
            return (packet, packet.share_of_whole(nic.birth));
        }
        if nic.is(Nic::WHOLE) && start - nic.birth < OLD {
            let packet = Packet::whole_of_many(node, destination, nic.label, size, nic.birth);
            return (packet, packet.share_of_whole(nic.birth));
        }
        let (label, first) = (nic.label, nic.part == 0);
        let only = first && nic.left <= u64::from(net.unit) && !self.model.completes_by_flow();
        let part = if only { ONLY } else { nic.part };
        if first {
            self.fabric
                .announce_head(self.st, self.j, self.lp, interface, start, self.sink);
        }
        let packet = Packet::part(node, destination, label, size, part);
        (packet, packet.share_of_part())
    }

    /// Tells a rank that the last byte of a message, which has just set out, has reached the router.
    #[inline(always)]
    fn tell_of_leaving(&mut self, interface: AtInterface, event: Packet) {
        let AtInterface { place, node, .. } = interface;
        let AtRouter { net, site, lp, .. } = *self;
        let at = Time(self.st.nics.get(place).free + net.injection.hop);
        self.sink.send_at(at, event.at(at, lp, (node - site.node) as u16));
    }

    /// Takes the next message of a node that is born before `end` to the head of its queue; else says when there may be one (ps). Where
    /// control messages go first, it is taken only if its turn comes before `end` too: until then one may be born that goes before it.
    #[inline(always)]
    fn load<const CONTROL_FIRST: bool>(&mut self, interface: AtInterface) -> Result<(), u64> {
        let AtInterface { place, node, end } = interface;
        let net = self.net;
        let nic = self.st.nics.edit(self.j, place);
        let (message, of_rank) = if nic.post_head != NONE {
            let post = *self.st.posts.get(nic.post_head);
            let turn = if CONTROL_FIRST {
                post.birth.max(nic.free)
            } else {
                post.birth
            };
            if turn >= end {
                // A rank has run ahead of the time; others of its node may still post before it.
                return Err(turn);
            }
            let of_rank = post.word != 0;
            if !of_rank {
                let slot = nic.post_head;
                nic.post_head = post.next;
                let free = &mut self.st.routers.edit(self.j, self.lp).free_post;
                self.st.posts.edit(self.j, slot).next = *free;
                *free = slot;
            }
            nic.label = post.mark;
            ask_for_post(&self.st.posts, post.next);
            (posted(&post), of_rank)
        } else {
            nic.label = 0;
            match net.workload.generate(node, self.st.sources.edit(self.j, place)) {
                Some(message) => (message, false),
                None => return Err(u64::MAX),
            }
        };
        nic.birth = message.birth;
        nic.left = message.bytes;
        nic.part = 0;
        // The receiver has a record of a rank's message, which tells it more than bytes and birth.
        let whole = !of_rank && message.bytes <= u64::from(net.unit) && !self.model.completes_by_flow();
        let of_rank = if of_rank { Nic::OF_RANK } else { 0 };
        // Only control messages let an interface wait that has no other.
        let beside = match CONTROL_FIRST {
            true => nic.target & (Nic::BLOCKED | Nic::CONTROL),
            false => 0,
        };
        nic.target = message.destination | beside | of_rank | if whole { Nic::WHOLE } else { 0 };
        // Numbers tell messages of several packets apart, and messages that are born at one time.
        if !whole || net.messages.bursts {
            nic.label |= next_number(self.st.ledgers.edit(self.j, place));
        }
        if let Some(sequencer) = self.model.sequencer() {
            // Messages pass the sequencer one after the other, whatever the packetizer behind it does.
            let after = if nic.packets == 0 {
                0
            } else {
                nic.ready + sequencer.message
            };
            nic.ready = message.birth.max(after);
        } else {
            let first = nic.left.min(u64::from(net.packet));
            // Without a branch: when a message is born is known last of all, and whether its interface is idle then nobody can tell before.
            let is_idle = message.birth >= nic.free;
            let from_idle = net.interface.idle_delay * first + self.model.wake();
            let earliest = message.birth + net.interface.ahead;
            nic.ready = later(earliest, nic.free)
                + net.interface.message_overhead
                + net.interface.packet_overhead
                + select_unpredictable(is_idle, from_idle, 0);
        }
        Ok(())
    }

    /// A packet sets out from its node at `start`.
    #[inline(always)]
    fn set_out(&mut self, node: u32, packet: Packet, start: u64) {
        let AtRouter { net, site, lp, .. } = *self;
        let mut at = start + net.injection.hop;
        if !M::PLAIN && net.store_and_forward {
            at += net.injection.ser(packet.size());
        }
        let input = site.net + (node - site.node) as u16;
        self.sink.send_at(Time(at), packet.at(Time(at), lp, input));
    }

    /// Shows that a message, no acknowledgement, sets out at `start`; `name` is its [name](Packet::name).
    #[inline(always)]
    fn follow(&mut self, node: u32, message: &Message, name: Label, start: u64) {
        follow::<M, S>(self.net, node, message, name, start, self.sink);
    }

    /// A packet has been put on the ejection link at `start`: counts it towards its message.
    #[inline(always)]
    pub(crate) fn deliver(&mut self, packet: &Packet, start: u64) {
        Fabric::deliver::<J, S>(self.fabric, self.st, self.j, packet, start, self.sink);
    }

    /// Completes a message of several packets, all of which has come, and drops its record.
    #[inline(never)]
    fn finish(&mut self, packet: &Packet, slot: u32) {
        let AtRouter { net, lp, .. } = *self;
        let entry = *self.st.incoming.get(slot);
        if entry.lost != 0 {
            incoming::take(net, self.st, self.j, lp, key(packet));
            return self.sink.record(Record::Lost(Lost::Message {
                source: entry.source,
                number: packet.name(net.messages.bursts),
                birth: entry.birth,
                share: share_of_message(packet.ends(), packet.label(), entry.birth, entry.bytes),
            }));
        }
        if entry.about == 0 {
            incoming::take(net, self.st, self.j, lp, key(packet));
        } else {
            self.st.incoming.edit(self.j, slot).delivered = 1;
        }
        let least = net.bound(entry.source, packet.destination(), 1);
        let early = entry.birth + least > entry.latest;
        let done = Done {
            bytes: entry.bytes,
            birth: entry.birth,
            time: entry.latest,
            hops: entry.hops,
            early,
            name: packet.name(net.messages.bursts),
            is_whole: false,
            share: match entry.sizeless {
                0 => share_of_message(packet.ends(), packet.label(), entry.birth, entry.bytes),
                _ => share_of_birth(packet.ends(), packet.label(), entry.birth),
            },
        };
        complete::<M, S>(net, packet, &done, self.sink);
    }
}

/// Size of the next packet of the message at the head of an interface.
#[inline(always)]
fn next_size(net: &Network, nic: &Nic) -> u32 {
    nic.left.min(u64::from(net.packet)) as u32
}

/// What is left of the message at the head of an interface.
#[inline(always)]
fn at_head(nic: &Nic) -> Message {
    Message {
        birth: nic.birth,
        destination: nic.destination(),
        bytes: nic.left,
    }
}

/// A posted message.
#[inline(always)]
fn posted(post: &Post) -> Message {
    Message {
        birth: post.birth,
        destination: post.destination,
        bytes: post.bytes,
    }
}

/// [`AtRouter::follow`].
#[inline(never)]
fn follow<M: RouterModel, S: Sink<Fabric<M>>>(
    net: &Network,
    node: u32,
    message: &Message,
    name: Label,
    start: u64,
    sink: &mut S,
) {
    if net.messages.follows_ranks && net.workload.ranks_of(node).is_some() {
        let first = message.bytes.min(u64::from(net.packet)) as u32;
        sink.record(Record::Stayed(StayRow {
            time: start - message.birth + net.injection.ser(first),
            source: node,
            destination: message.destination,
            label: name,
            router: NO_MESSAGE,
            port: 0,
            ejects: 0,
        }));
    }
    sink.record(Record::SetOut {
        source: node,
        destination: message.destination,
        number: name,
        bytes: message.bytes,
        birth: message.birth,
        time: start,
    });
}

/// Tells the destination of a message of several packets, or of a rank's, that it sets out at `start` with a number.
#[inline(never)]
fn announce<M: RouterModel, S: Sink<Fabric<M>>>(
    net: &Network,
    node: u32,
    message: &Message,
    (label, envelope): (Label, EnvelopeWords),
    start: u64,
    sink: &mut S,
) {
    let &Message {
        birth,
        destination,
        bytes,
    } = message;
    let to = net.place_of_node(destination);
    let local = (destination - net.sites[to as usize].node) as u16;
    let at = Time(start) + net.lookahead;
    let ends = ends(node, destination);
    if net.messages.has_only_notices
        && net.last_tells_size(bytes)
        && let Some((notice, part_of_envelope)) = envelope::only_notice(envelope, at.0 - birth, at, to, local)
    {
        sink.send(notice.about(node, label, part_of_envelope));
        let share = share_of_birth(ends, label, birth);
        return sink.record(Record::Announced { share });
    }
    for (notice, part_of_envelope) in envelope::notices(envelope, birth, bytes, at, to, local) {
        sink.send(notice.about(node, label, part_of_envelope));
    }
    let share = share_of_message(ends, label, birth, bytes);
    sink.record(Record::Announced { share });
}

/// Shows each message of several packets that has set out to a node of this router and is not there in whole, with that node.
pub fn incomplete(net: &Network, st: &State, lp: u32, site: &Site, mut see: impl FnMut(u32, &Incoming)) {
    for (place, node) in net.node_places(lp, site).zip(site.node_numbers()) {
        for root in net.buckets(place) {
            incoming::behind(st, root, &mut |slot| {
                let entry = st.incoming.get(slot);
                if entry.delivered == 0 && entry.label != cumulative::FLOW {
                    see(node, entry);
                }
            });
        }
    }
}

/// Shows each message, acknowledgements excepted, that waits at the interface of the node at `place` and of which no packet has left yet.
/// What its generator has not made is not among them.
pub fn waiting(st: &State, place: u32, mut see: impl FnMut(Message)) {
    let nic = st.nics.get(place);
    let has_head = nic.birth != u64::MAX;
    if has_head && nic.part == 0 && !is_ack(nic.label) {
        see(at_head(nic));
    }
    let mut show = |head: u32, skip: bool| {
        let (mut slot, mut skip) = (head, skip);
        while slot != NONE {
            let post = st.posts.get(slot);
            if !skip && !is_ack(post.mark) {
                see(posted(post));
            }
            (slot, skip) = (post.next, false);
        }
    };
    // A rank's message stays the first of its queue until it has left.
    show(nic.post_head, has_head && nic.is(Nic::OF_RANK));
    if !st.controls.is_empty() {
        let queue = st.controls.get(place);
        show(queue.head, queue.part > 0);
    }
}

/// Hands a message to the interface of the node at `place`; births of what waits there are in order. Only ranks' and memory nodes' have an envelope.
pub(crate) fn post<J: Journal>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    lp: u32,
    place: u32,
    message: Message,
    (mark, envelope): (Label, EnvelopeWords),
) {
    let goes_first = envelope::goes_first(net, envelope);
    let behind = match goes_first && net.interface.reads_behind > 0 {
        true => handed_over(net, st, place, message.bytes),
        false => 0,
    };
    let record = Post {
        birth: message.birth.saturating_add(behind),
        bytes: message.bytes,
        destination: message.destination,
        next: NONE,
        mark,
        rest: envelope.rest.into(),
        word: envelope.word,
    };
    let free = st.routers.get(lp).free_post;
    let slot = if free == NONE {
        st.posts.push(j, record)
    } else {
        let next = st.posts.get(free).next;
        st.routers.edit(j, lp).free_post = next;
        ask_for_post(&st.posts, next);
        st.posts.set(j, free, record);
        free
    };
    if goes_first {
        return control::enqueue(st, j, place, slot);
    }
    let nic = *st.nics.get(place);
    let has_set_out = nic.birth != u64::MAX && nic.is(Nic::OF_RANK);
    let (head, tail) = queue_up(st, j, (nic.post_head, nic.post_tail), has_set_out, slot);
    let nic = st.nics.edit(j, place);
    (nic.post_head, nic.post_tail) = (head, tail);
    if nic.birth == u64::MAX {
        let due = message
            .birth
            .saturating_add(net.interface.ahead)
            .max(nic.free)
            .saturating_add(net.interface.message_overhead);
        st.due.set(j, place, due.min(*st.due.get(place)));
    }
}

/// Asks for the interface of a node that may be handed a message, and for the free record that this will take.
#[inline(always)]
pub(crate) fn ask_for_endpoint(net: &Network, st: &State, lp: u32, place: u32) {
    st.nics.prefetch_one(place);
    st.ledgers.prefetch_one(place);
    if net.interface.control_first && net.workload.ranks().is_none() {
        st.controls.prefetch_one(place);
    }
    ask_for_post(&st.posts, st.routers.get(lp).free_post);
}

/// Asks for a record of a posted message, if it is one.
#[inline(always)]
fn ask_for_post(posts: &Column<Post>, slot: u32) {
    if slot != NONE {
        posts.prefetch_one(slot);
    }
}

/// What the packets take (ps) that an interface has been handed and a message of `own` bytes, which reads, still lets pass.
fn handed_over(net: &Network, st: &State, place: u32, own: u64) -> u64 {
    let waiting = st.ledgers.get(place).taken.saturating_sub(own);
    let packets = waiting
        .div_ceil(u64::from(net.packet))
        .min(net.interface.reads_behind.into());
    packets * net.injection.ser(net.packet)
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

/// A message of one packet is at its node at `time`, `delay` after it was put on the link; `MANY`: in a run that numbers all messages.
#[inline(always)]
fn whole<const MANY: bool>(net: &Network, site: &Site, packet: &Packet, (time, delay): (u64, u64)) -> Done {
    let birth = packet.birth(time, MANY);
    Done {
        bytes: packet.size().into(),
        birth,
        time,
        hops: packet.hops(),
        early: net.is_early((time - birth).saturating_sub(delay), packet.source(), site.router),
        name: packet.name(MANY),
        is_whole: true,
        share: packet.share_of_whole(birth),
    }
}

/// What the record of a packet's message is known by.
#[inline(always)]
fn key(packet: &Packet) -> Key {
    (packet.source(), packet.destination(), packet.label())
}

/// A complete message.
struct Done {
    bytes: u64,
    /// When it was handed to the interface, and when the last of it was at its node (ps).
    birth: u64,
    time: u64,
    /// Most of its packets.
    hops: u32,
    /// It came sooner than it can.
    early: bool,
    /// Its [name](Packet::name).
    name: Label,
    /// Its packet, the only one, tells all about it.
    is_whole: bool,
    /// What it adds to the sums that are to agree with what was announced, or of its packet, if that tells all.
    share: u64,
}

/// Reports a complete message, of which this is a packet, and tells the workload if it reacts.
fn complete<M: RouterModel, S: Sink<Fabric<M>>>(net: &Network, packet: &Packet, done: &Done, sink: &mut S) {
    report::<M, S>(packet, done, sink);
    let node = packet.destination();
    if net.workload.reacts() && net.workload.reacts_at(node) {
        let lp = net.place_of_node(node);
        let local = node - net.sites[lp as usize].node;
        let event = Packet::new(Kind::Delivered, Time(done.time), lp, local as u16);
        sink.send(event.with_message(packet.source(), node, packet.label()));
    }
}

/// Reports a complete message, of which this is a packet.
#[inline(always)]
fn report<M: RouterModel, S: Sink<Fabric<M>>>(packet: &Packet, done: &Done, sink: &mut S) {
    let &Done {
        bytes,
        birth,
        time,
        hops,
        early,
        name,
        is_whole,
        share,
    } = done;
    sink.record(Record::Message {
        source: packet.source(),
        destination: packet.destination(),
        bytes,
        birth,
        time,
        hops,
        number: name,
        early,
        single: is_whole,
        share,
    });
}
