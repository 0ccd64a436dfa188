//! What router models share: the way of a packet, queues, links and credits, as methods of the router at hand.
//!
//! A model is a value, its parameters in a run; the world is generic over its type, so that nothing is decided per event. The models are in
//! [`models`](crate::models), above; all of them share the columns of [`State`](crate::state::State).

use crate::network::Peer;
use crate::network::model::{AtRouter, Fabric, RouterModel};
use crate::nic::returns;
use crate::packet::{Kind, Packet};
use crate::routing::news::TOLD;
use crate::routing::{COUNTER, Sense, Way};
use crate::state::{Link, NONE, State};
use des::{Event, Journal, Sink, Time};
use in_time::comes_through;

mod in_time;
pub(crate) mod news;

impl<M: RouterModel, J: Journal, S: Sink<Fabric<M>>> AtRouter<'_, M, J, S> {
    /// What waits for a network port at `now`, as `sense` says, in ps of its link, for a packet of `size` bytes; the port has been caught
    /// up.
    fn congestion(&self, port: u32, vc: u8, size: u32, now: u64, sense: Sense) -> u64 {
        let AtRouter { net, model, .. } = *self;
        let st = &*self.st;
        if sense.reserve && !net.routing.is_first(vc) {
            let room = match M::QUEUES {
                true => st.channel::<M>(port * net.vcs + u32::from(vc)).credit,
                false => net.buffer,
            };
            if room < model.queued(net, st, port, vc) + i64::from(size) {
                return u64::MAX;
            }
        }
        let one = sense.per_vc.then_some(vc);
        let mut wait = 0;
        if sense.output {
            wait += model.waiting(net, st, port, one, now);
        }
        if sense.credits {
            let bytes = model.downstream(net, st, port, one);
            wait += net.classes[net.peers[port as usize].class() as usize].time_of(bytes);
        }
        wait
    }

    /// [`Self::route`] of a packet that is not at its last router, on a plain network.
    #[inline(always)]
    pub(crate) fn plain_route(&self, packet: &Packet) -> Way {
        Way::new(self.net.routing.next_minimal(self.net, self.site, packet), 0, 0)
    }

    /// Chooses the next output of a packet at `now`: (local port, virtual channel, phase).
    #[inline(always)]
    pub(crate) fn route(&mut self, packet: &Packet, now: u64) -> Way {
        let AtRouter { net, site, .. } = *self;
        if M::PLAIN {
            return match site.ejection(packet) {
                Some(local) => Way::new(local, 0, 0),
                None => self.plain_route(packet),
            };
        }
        if net.routing.is_asked_first() {
            if let Some(changes) = &net.changes {
                return self.lent().route_in_time(changes, packet, now);
            }
            if site.ejection(packet).is_none() {
                return self.lent().route_by_what_waits::<true>(packet, now);
            }
        }
        net.route(site, packet)
    }

    /// [`Self::route`] of a packet that is not at its last router, by an adaptive routing; `OFTEN` where it is to have code of its own.
    #[inline(always)]
    pub(crate) fn route_by_what_waits<const OFTEN: bool>(mut self, packet: &Packet, now: u64) -> Way {
        let AtRouter { net, site, .. } = self;
        let sense = net.routing.sense();
        let news = net.routing.news();
        let counters = self.lp * net.routing.counters();
        let mut backlog = |local: u32, vc: u8| {
            if (COUNTER..TOLD).contains(&local) {
                return u64::from(*self.st.turns.get(counters + local - COUNTER));
            }
            if let Some(news) = news.filter(|_| local >= TOLD) {
                return news::told(self.st, self.lp, news, local - TOLD, now);
            }
            let port = site.port + local;
            let caught_up = M::backlog(self.lent(), port, vc, now);
            match sense {
                None => caught_up,
                Some(sense) => self.congestion(port, vc, packet.size(), now, sense),
            }
        };
        // Lent, not given: copied in wide words right behind the stores of its parts, it had to wait until these and all before them were done.
        let way = match S::HOT && OFTEN {
            true => net.routing.adaptive(net, site, packet, &mut backlog),
            false => net.routing.adaptive_by(net, site, packet, &mut backlog),
        };
        if let Some(counter) = way.counter() {
            let count = self.st.turns.edit(self.j, counters + counter);
            *count = count.wrapping_add(1);
        }
        if let Some(news) = news {
            news::tell(self, news, way.port(), packet, now);
        }
        way
    }

    /// Puts a packet at the end of a channel's queue.
    #[inline(always)]
    pub(crate) fn enqueue(&mut self, port: u32, channel: u32, vc: u8, packet: Packet) {
        let record = self.st.ports.edit(self.j, port);
        let sequence = record.sequence;
        record.sequence = sequence.wrapping_add(1);
        record.waiting += 1;
        if !M::ONE_CHANNEL {
            record.channels |= 1 << vc;
        }
        let slot = self.keep(packet, sequence);
        let queue = self.st.edit_channel::<M>(self.j, channel);
        let tail = std::mem::replace(&mut queue.tail, slot);
        if queue.head == NONE {
            queue.head = slot;
        } else {
            self.st.links.edit(self.j, tail).next = slot;
        }
    }

    /// Takes the first packet of a channel's queue, which must not be empty.
    #[inline(always)]
    pub(crate) fn dequeue(&mut self, port: u32, channel: u32, vc: u8) -> Packet {
        let slot = self.st.channel::<M>(channel).head;
        let head = self.st.links.get(slot).next;
        self.st.edit_channel::<M>(self.j, channel).head = head;
        self.st.links.prefetch_one(head);
        self.st.slots.prefetch_one(head);
        let record = self.st.ports.edit(self.j, port);
        record.waiting -= 1;
        if head == NONE && !M::ONE_CHANNEL {
            record.channels &= !(1 << vc);
        }
        self.let_go(slot)
    }

    /// Whether a packet comes from a node or from another dimension to the link of a port: the bubble rule asks for more room then.
    pub(crate) fn enters_a_ring(&self, port: u32, packet: &Packet) -> bool {
        let AtRouter { net, site, .. } = *self;
        let dimension = |port: u32| net.peers[port as usize].class();
        let is_link = port - site.port < u32::from(site.net);
        is_link && (packet.port() >= site.net || dimension(site.port + u32::from(packet.port())) != dimension(port))
    }

    /// Takes the packet behind the one in slot `before` out of a channel's queue.
    pub(crate) fn dequeue_behind(&mut self, before: u32, port: u32, channel: u32) -> Packet {
        let slot = self.st.links.get(before).next;
        let next = self.st.links.get(slot).next;
        self.st.links.edit(self.j, before).next = next;
        if next == NONE {
            self.st.edit_channel::<M>(self.j, channel).tail = before;
        }
        self.st.ports.edit(self.j, port).waiting -= 1;
        self.let_go(slot)
    }

    /// Takes an output link for `size` bytes that could start at `begun` and would be on it for `serialisation` (ps): when they start to come
    /// through, and for how long they are on it.
    #[inline(always)]
    pub(crate) fn take_link(&mut self, port: u32, size: u32, begun: u64, serialisation: u64) -> (u64, u64) {
        let AtRouter { net, site, .. } = *self;
        let (mut start, mut serialisation) = (begun, serialisation);
        if !M::PLAIN
            && let Some(changes) = &net.changes
        {
            (start, serialisation) = comes_through(net, changes, self.sink, (site, port), size, begun);
        }
        let taken = start - begun + serialisation;
        let idle = start + serialisation;
        match M::QUEUES {
            true => self.st.ports.edit(self.j, port).book(size, taken, idle),
            false => self.st.out_links.edit(self.j, port).book(size, taken, idle),
        }
        (start, serialisation)
    }

    /// Sends a packet over the network link of output `port` at `start`, on channel `vc`; for models that have not looked the link up.
    #[inline(always)]
    pub(crate) fn transmit(&mut self, port: u32, packet: Packet, vc: u8, start: u64, serialisation: u64) {
        let peer = self.net.peers[port as usize];
        let hop = self.net.classes[peer.class() as usize].hop;
        self.launch(&peer, hop, packet, vc, start, serialisation);
    }

    /// [`Self::transmit`] for callers that know the link: `peer` at its end, `hop` ps until its head can leave there.
    #[inline(always)]
    pub(crate) fn launch(&mut self, peer: &Peer, hop: u64, mut packet: Packet, vc: u8, start: u64, serialisation: u64) {
        let (mut at, mut address) = (start + hop, peer.address());
        if !M::PLAIN && self.net.looks_at_hops {
            if self.net.store_and_forward {
                at += serialisation;
            }
            // Packets of their own, so that only these ways keep one in memory: one whose phase has just been set there would be copied in wide
            // words, which wait for all stores before them.
            if self.net.changes.is_some() {
                let lent = packet.with_lp(self.lp);
                if self.is_lost_on(peer, &lent, vc, (start, serialisation, at)) {
                    return;
                }
            }
            if self.net.messages.follows_ranks {
                let lent = packet.with_lp(self.lp);
                Fabric::<M>::show_stay(self.net, self.lp, address, lent, start + serialisation, self.sink);
            }
            if let Some(inputs) = &self.net.inputs {
                address = inputs.address(self.net, peer);
            }
        }
        if !M::PLAIN {
            packet.set_vc(vc);
            packet.count_hop();
        } else {
            packet.count_one_of_few_hops();
        }
        let packet = match M::PLAIN {
            true => packet.plainly_to(Time(at), address),
            false => packet.to(Time(at), address),
        };
        self.sink.send_at(Time(at), packet);
    }

    /// Gives the buffer that `packet` held back to the sender at the other end of its input port, `when` the space is free.
    #[inline(always)]
    pub(crate) fn return_credit(&mut self, packet: &Packet, when: u64) {
        let AtRouter { net, site, lp, .. } = *self;
        let size = u64::from(self.model.room(packet.size()));
        let input = packet.port();
        if input < site.net {
            self.tell_of_room(packet, when, size);
        } else {
            let at = when + net.injection.credit;
            if self.fabric.keeps_returns() {
                let place = net.node_places(lp, site).start + u32::from(input - site.net);
                let times = (packet.time().0, at);
                return returns::give_back(self, place, times, size as u32);
            }
            let credit = Packet::new(Kind::HostCredit, Time(at), lp, input - site.net);
            self.sink.send_at(Time(at), credit.with_value(size));
        }
    }

    /// Tells the router at the other end of the link that a packet has come by that its channel has room for so many `bytes` more, free at `when`.
    #[inline(always)]
    pub(crate) fn tell_of_room(&mut self, packet: &Packet, when: u64, bytes: u64) {
        let AtRouter { net, site, .. } = *self;
        let peer = &net.peers[(site.port + u32::from(packet.port())) as usize];
        let at = Time(when + net.classes[peer.class() as usize].credit);
        let vc = if M::PLAIN { 0 } else { packet.vc() };
        let credit = Packet::credit(at, peer.address());
        self.sink.send_at(at, credit.with_vc(vc).with_value(bytes));
    }

    /// Keeps a packet in a slot of its own, behind which nothing stands.
    #[inline(always)]
    pub(crate) fn keep(&mut self, packet: Packet, sequence: u32) -> u32 {
        let (st, j, lp) = (&mut *self.st, &mut *self.j, self.lp);
        let router = st.routers.edit(j, lp);
        router.queued += 1;
        let link = Link { next: NONE, sequence };
        let slot = router.free_slot;
        if slot == NONE {
            st.links.push(j, link);
            return st.slots.push(j, packet);
        }
        router.free_slot = st.links.get(slot).next;
        st.links.prefetch_one(router.free_slot);
        st.slots.prefetch_one(router.free_slot);
        st.slots.set(j, slot, packet);
        st.links.set(j, slot, link);
        slot
    }

    /// Takes a packet that waited out of its slot.
    #[inline(always)]
    pub(crate) fn let_go(&mut self, slot: u32) -> Packet {
        let (st, j, lp) = (&mut *self.st, &mut *self.j, self.lp);
        let router = st.routers.edit(j, lp);
        router.queued -= 1;
        st.links.edit(j, slot).next = router.free_slot;
        router.free_slot = slot;
        *st.slots.get(slot)
    }

    /// Lets a packet wait for room in an output queue, beside it.
    pub(crate) fn refuse(&mut self, channel: u32, packet: Packet) {
        let slot = self.keep(packet, 0);
        let (st, j) = (&mut *self.st, &mut *self.j);
        let list = st.refused.edit(j, channel);
        match list.head {
            NONE => list.head = slot,
            _ => st.links.edit(j, list.tail).next = slot,
        }
        list.tail = slot;
    }

    /// Takes the packet that has waited longest beside a queue, of which there is one.
    pub(crate) fn call_in(&mut self, channel: u32) -> Packet {
        let list = self.st.refused.edit(self.j, channel);
        let slot = list.head;
        list.head = self.st.links.get(slot).next;
        self.let_go(slot)
    }
}

/// The slots of a list from this one on; none of [`NONE`].
pub(crate) fn waiting_behind(st: &State, head: u32) -> impl Iterator<Item = u32> {
    let some = |slot: u32| (slot != NONE).then_some(slot);
    std::iter::successors(some(head), move |&slot| some(st.links.get(slot).next))
}
