//! A rank at work: it performs its program until it has to wait, and hears of messages.
//!
//! A rank may run ahead of the simulated time by the overheads of what it does: what it posts then lies in the future, and what arrives
//! before that time is matched as if it had been posted, but no earlier than it is. Receives and arrivals have one order each that all
//! agree on, so that it does not matter from which side they are matched. A rank does not run ahead of a computation.

use super::envelope::{Envelope, Purpose};
use super::op::{ANY_SOURCE, ANY_TAG, Action, Collective, Op, Transfer};
use super::plan::{Phase, Plan, Plans};
use super::state::{BLOCK, Item, Peer, Rank, item, waiting};
use crate::network::Network;
use crate::nic;
use crate::packet::{HORIZON, Kind, Packet};
use crate::router::RouterModel;
use crate::spec::Rendezvous;
use crate::state::{NONE, State};
use crate::workload::Message;
use crate::world::Fabric;
use des::{Journal, Sink, Time};
use std::marker::PhantomData;

/// Channel number of an event that tells a rank that its bytes have left.
pub(super) const SENT: u8 = 1;
/// Operations that a rank performs at most before it lets the time catch up.
const AT_ONCE: u32 = 256;
/// Marks the contexts of collectives.
const COLLECTIVE: u8 = 1 << 7;

/// What comes after an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    /// The next one.
    Next,
    /// Nothing, until an event.
    Stop,
}

/// A rank with everything around it.
pub(super) struct Endpoint<'a, M, J, S> {
    pub net: &'a Network,
    pub st: &'a mut State,
    pub j: &'a mut J,
    pub sink: &'a mut S,
    pub plans: &'a Plans,
    pub plan: &'a Plan,
    /// Its router.
    pub lp: u32,
    /// Its node's place in the columns, and the node.
    pub place: u32,
    pub node: u32,
    /// Its number on its node, and in the job.
    pub local: u8,
    pub number: u32,
    pub now: u64,
    pub model: PhantomData<M>,
}

impl<M: RouterModel, J: Journal, S: Sink<Fabric<M>>> Endpoint<'_, M, J, S> {
    fn slot(&self) -> u32 {
        self.place * self.plans.per_node + u32::from(self.local)
    }

    fn rank(&self) -> &Rank {
        self.st.ranks.get(self.slot())
    }

    fn edit(&mut self) -> &mut Rank {
        let slot = self.slot();
        self.st.ranks.edit(self.j, slot)
    }

    /// Performs the program from where it is until the rank waits, computes or is done.
    pub fn run(&mut self) {
        let plan = self.plan;
        for _ in 0..AT_ONCE {
            let rank = *self.rank();
            let Some(phase) = plan.phases.get(rank.phase as usize) else {
                self.spend_debt();
                let rank = self.edit();
                rank.finished = rank.clock;
                return;
            };
            if rank.iteration >= phase.iterations {
                let rank = self.edit();
                (rank.phase, rank.iteration, rank.index) = (rank.phase + 1, 0, 0);
                continue;
            }
            let flow = match phase.program.op(self.number, rank.iteration, rank.index) {
                Some(op) => self.perform(phase, op),
                None => {
                    let rank = self.edit();
                    (rank.iteration, rank.index) = (rank.iteration + 1, 0);
                    Flow::Next
                }
            };
            if flow == Flow::Stop {
                return;
            }
        }
        self.resume();
    }

    fn perform(&mut self, phase: &Phase, op: Op) -> Flow {
        if !matches!(op, Op::Collective(_)) {
            self.edit().index += 1;
        }
        let context = |transfer: &Transfer| phase.first_context + transfer.communicator;
        match op {
            Op::Compute { time } => {
                let rank = self.edit();
                rank.clock += time;
                rank.computed += time;
                if time == 0 {
                    return Flow::Next;
                }
                self.resume();
                Flow::Stop
            }
            Op::Isend(send) => {
                self.send(send.peer, send.bytes, send.tag, context(&send), send.request);
                Flow::Next
            }
            Op::Irecv(recv) => {
                self.receive(recv.peer, recv.tag, context(&recv), recv.request);
                Flow::Next
            }
            Op::Send(send) => {
                self.send(send.peer, send.bytes, send.tag, context(&send), BLOCK);
                self.wait(waiting::BLOCK, 0)
            }
            Op::Recv(recv) => {
                self.receive(recv.peer, recv.tag, context(&recv), BLOCK);
                self.wait(waiting::BLOCK, 0)
            }
            Op::SendRecv { send, recv } => {
                self.receive(recv.peer, recv.tag, context(&recv), BLOCK);
                self.send(send.peer, send.bytes, send.tag, context(&send), BLOCK);
                self.wait(waiting::BLOCK, 0)
            }
            Op::Wait { request } => self.wait(waiting::NAME, request.into()),
            Op::WaitAll => self.wait(waiting::ALL, 0),
            Op::WaitAny => self.wait(waiting::ANY, 0),
            Op::Test { .. } => {
                self.spend_debt();
                Flow::Next
            }
            Op::Collective(collective) => self.collective(phase, collective),
        }
    }

    /// The next action of a collective.
    fn collective(&mut self, phase: &Phase, collective: Collective) -> Flow {
        let communicator = &phase.program.communicators()[usize::from(collective.communicator)];
        let context = COLLECTIVE | (phase.first_context + collective.communicator);
        let (number, step) = (self.number, self.rank().step);
        let rank_of = |other| communicator.rank(number, other);
        let pair_bytes = |from, to| {
            phase
                .program
                .pair_bytes(collective.communicator, rank_of(from), rank_of(to))
        };
        let call = self.plan.call(collective, communicator, number, &pair_bytes);
        let action = call.action(step);
        self.edit().step += 1;
        match action {
            Action::Send { to, bytes } => {
                self.send(communicator.rank(number, to), bytes, 0, context, BLOCK);
                Flow::Next
            }
            Action::Recv { from, .. } => {
                self.receive(communicator.rank(number, from), 0, context, BLOCK);
                Flow::Next
            }
            Action::Wait => self.wait(waiting::BLOCK, 0),
            Action::Combine { bytes } => {
                self.work(self.plan.costs.combine.time(bytes));
                Flow::Next
            }
            Action::Copy { bytes } => {
                self.work(self.plan.costs.copy.time(bytes));
                Flow::Next
            }
            Action::Done => {
                let rank = self.edit();
                (rank.step, rank.index) = (0, rank.index + 1);
                Flow::Next
            }
        }
    }

    /// Keeps the processor busy for `time` ps.
    fn work(&mut self, time: u64) {
        let rank = self.edit();
        rank.clock += time;
        rank.worked += time;
    }

    /// Handles what has arrived while the rank was busy.
    fn spend_debt(&mut self) {
        let debt = std::mem::take(&mut self.edit().debt);
        self.work(debt);
    }

    /// Goes on when the processor is idle again.
    fn resume(&mut self) {
        let at = Time(self.rank().clock.min(HORIZON.0 - 1));
        let event = Packet::new(Kind::Rank, at, self.lp, self.port());
        self.sink.send(event.with_value(self.local.into()));
    }

    /// The node's number at its router.
    fn port(&self) -> u16 {
        (self.node - self.net.sites[self.lp as usize].node) as u16
    }

    fn wait(&mut self, what: u32, name: u32) -> Flow {
        self.spend_debt();
        let rank = self.edit();
        (rank.waiting, rank.name) = (what, name);
        if what == waiting::ANY && rank.open == 0 && rank.fresh == 0 {
            rank.fresh = 1;
        }
        match self.satisfied() {
            true => Flow::Next,
            false => Flow::Stop,
        }
    }

    /// Ends the wait if what the rank waits for has come.
    fn satisfied(&mut self) -> bool {
        let rank = *self.rank();
        let there = match rank.waiting {
            waiting::ALL => rank.open == 0,
            waiting::ANY => rank.fresh > 0,
            waiting::NAME => !self.is_open(rank.name as u16),
            _ => rank.block == 0,
        };
        if there {
            let rank = self.edit();
            rank.fresh = match rank.waiting {
                waiting::ALL => 0,
                waiting::BLOCK => rank.fresh,
                _ => rank.fresh.saturating_sub(1),
            };
            rank.waiting = waiting::NOTHING;
        }
        there
    }

    /// Whether a request of this name is open.
    fn is_open(&self, name: u16) -> bool {
        let named = |head: u32| {
            self.items(head)
                .any(|(_, item)| item.name == name && is_request(item.kind))
        };
        let peers = self.peers().any(|peer| named(peer.posted) || named(peer.pending));
        peers || named(self.rank().wild)
    }

    /// Counts a request as open.
    fn open(&mut self, name: u16) {
        let rank = self.edit();
        match name {
            BLOCK => rank.block += 1,
            _ => rank.open += 1,
        }
    }

    /// An open request is complete at `at`, which costs the processor `cost`; `true` if the rank goes on.
    fn complete(&mut self, name: u16, at: u64, cost: u64) -> bool {
        let rank = self.edit();
        match name {
            BLOCK => rank.block -= 1,
            _ => (rank.open, rank.fresh) = (rank.open - 1, rank.fresh + 1),
        }
        if rank.waiting == waiting::NOTHING {
            rank.debt += cost;
            return false;
        }
        let begin = rank.clock.max(at);
        rank.waited += begin - rank.clock;
        rank.clock = begin + cost;
        rank.worked += cost;
        self.satisfied()
    }

    fn send(&mut self, to: u32, bytes: u64, tag: u16, context: u8, name: u16) {
        let costs = &self.plan.costs;
        let eager = bytes <= costs.eager;
        self.work(costs.send + if eager { costs.copy.time(bytes) } else { 0 });
        let own = self.plan.locate(to).0 == self.node;
        let rank = self.edit();
        match own {
            true => (rank.local_messages, rank.local_bytes) = (rank.local_messages + 1, rank.local_bytes + bytes),
            false => (rank.messages, rank.bytes) = (rank.messages + 1, rank.bytes + bytes),
        }
        let birth = rank.clock;
        let peer = self.peer(to);
        let sent = &mut self.st.peers.edit(self.j, peer).sent;
        let sequence = *sent;
        *sent = sent.wrapping_add(1);
        if eager {
            let purpose = if bytes == 0 { Purpose::Empty } else { Purpose::Eager };
            self.transmit(to, purpose, (sequence, tag, context), self.plan.wire(bytes), birth);
            if name != BLOCK {
                self.edit().fresh += 1;
            }
            return;
        }
        self.open(name);
        let item = Item {
            time: birth,
            bytes,
            rank: to,
            next: NONE,
            order: 0,
            tag,
            sequence,
            name,
            context,
            kind: item::SEND,
            spare: 0,
        };
        let pending = self.st.peers.get(peer).pending;
        let pending = self.append(pending, item);
        self.st.peers.edit(self.j, peer).pending = pending;
        self.control(to, Purpose::Request, (sequence, tag, context), birth);
    }

    fn receive(&mut self, from: u32, tag: u16, context: u8, name: u16) {
        self.open(name);
        let rank = self.edit();
        let (time, order) = (rank.clock, rank.posted);
        rank.posted = order.wrapping_add(1);
        let receive = Item {
            time,
            bytes: 0,
            rank: from,
            next: NONE,
            order,
            tag,
            sequence: 0,
            name,
            context,
            kind: item::RECEIVE,
            spare: 0,
        };
        if from == ANY_SOURCE {
            let wait = |st: &State, peer: &Peer| first(st, peer.arrived, |message| matches(&receive, message));
            let found = self.peer_places().filter_map(|place| {
                let slot = wait(self.st, self.st.peers.get(place))?;
                Some((self.st.items.get(slot).order, place, slot))
            });
            if let Some((_, place, slot)) = found.min() {
                let message = self.take_arrived(place, slot);
                self.matched(&receive, &message);
                return;
            }
            let wild = self.rank().wild;
            let wild = self.append(wild, receive);
            self.edit().wild = wild;
            return;
        }
        let place = self.peer(from);
        let peer = *self.st.peers.get(place);
        if let Some(slot) = first(self.st, peer.arrived, |message| matches(&receive, message)) {
            let message = self.take_arrived(place, slot);
            self.matched(&receive, &message);
            return;
        }
        let posted = self.append(peer.posted, receive);
        self.st.peers.edit(self.j, place).posted = posted;
    }

    fn take_arrived(&mut self, peer: u32, slot: u32) -> Item {
        let arrived = self.st.peers.get(peer).arrived;
        let (arrived, message) = self.take(arrived, slot);
        self.st.peers.edit(self.j, peer).arrived = arrived;
        message
    }

    /// A receive has its message, or the announcement of it; `true` if the rank goes on.
    fn matched(&mut self, receive: &Item, message: &Item) -> bool {
        let at = receive.time.max(message.time);
        let costs = &self.plan.costs;
        if message.kind == item::EAGER {
            return self.complete(receive.name, at, costs.receive + costs.copy.time(message.bytes));
        }
        let place = self.peer(message.rank);
        let pending = self.st.peers.get(place).pending;
        let pending = self.append(
            pending,
            Item {
                kind: item::MATCHED,
                name: receive.name,
                next: NONE,
                ..*message
            },
        );
        self.st.peers.edit(self.j, place).pending = pending;
        let about = (message.sequence, message.tag, message.context);
        self.control(message.rank, Purpose::Clear, about, at);
        false
    }

    /// A message of `bytes` has come from a rank; `true` if this rank goes on.
    pub fn arrive(&mut self, from: u32, envelope: &Envelope, bytes: u64) -> bool {
        let about = (envelope.sequence, envelope.tag, envelope.context);
        match envelope.purpose {
            Purpose::Eager | Purpose::Empty | Purpose::Request => self.come(from, envelope, bytes),
            Purpose::Clear => {
                let place = self.peer(from);
                let pending = self.st.peers.get(place).pending;
                let Some(slot) = self.pending(pending, envelope.sequence, item::SEND) else {
                    return false;
                };
                self.st.items.edit(self.j, slot).kind = item::SENDING;
                let wire = self.plan.wire(self.st.items.get(slot).bytes);
                self.transmit(from, Purpose::Data, about, wire, self.now);
                false
            }
            Purpose::Data => {
                if self.plan.costs.rendezvous == Rendezvous::Get {
                    self.control(from, Purpose::Done, about, self.now);
                }
                self.end(from, envelope.sequence, item::MATCHED, self.plan.costs.receive)
            }
            Purpose::Done => self.end(from, envelope.sequence, item::SENDING, 0),
        }
    }

    /// The bytes of a rendezvous send have left; `true` if the rank goes on.
    pub fn sent(&mut self, to: u32, sequence: u16) -> bool {
        self.end(to, sequence, item::SENDING, 0)
    }

    /// A rendezvous is over for this rank.
    fn end(&mut self, other: u32, sequence: u16, kind: u8, cost: u64) -> bool {
        let place = self.peer(other);
        let pending = self.st.peers.get(place).pending;
        let Some(slot) = self.pending(pending, sequence, kind) else {
            return false;
        };
        let (pending, item) = self.take(pending, slot);
        self.st.peers.edit(self.j, place).pending = pending;
        self.complete(item.name, self.now, cost)
    }

    /// A message, or its announcement: matched in the order in which the sender sent.
    fn come(&mut self, from: u32, envelope: &Envelope, bytes: u64) -> bool {
        let place = self.peer(from);
        let peer = *self.st.peers.get(place);
        let eager = envelope.purpose != Purpose::Request;
        let mut message = Item {
            time: self.now,
            bytes: match envelope.purpose {
                Purpose::Empty => 0,
                _ => bytes.saturating_sub(self.plan.costs.header),
            },
            rank: from,
            next: NONE,
            order: 0,
            tag: envelope.tag,
            sequence: envelope.sequence,
            name: 0,
            context: envelope.context,
            kind: if eager { item::EAGER } else { item::ANNOUNCED },
            spare: 0,
        };
        if envelope.sequence != peer.expected {
            message.kind += item::EARLY_EAGER - item::EAGER;
            let arrived = self.append(peer.arrived, message);
            self.st.peers.edit(self.j, place).arrived = arrived;
            return false;
        }
        let mut goes_on = self.meet(place, message);
        // Those that were early may be next.
        loop {
            let peer = *self.st.peers.get(place);
            let next = |early: &Item| early.sequence == peer.expected && is_early(early.kind);
            let Some(slot) = first(self.st, peer.arrived, next) else {
                return goes_on;
            };
            let mut early = self.take_arrived(place, slot);
            early.time = self.now;
            early.kind -= item::EARLY_EAGER - item::EAGER;
            goes_on |= self.meet(place, early);
        }
    }

    /// Matches a message whose turn it is with the earliest receive that takes it, or keeps it.
    fn meet(&mut self, place: u32, mut message: Item) -> bool {
        let peer = *self.st.peers.get(place);
        let next = message.sequence.wrapping_add(1);
        self.st.peers.edit(self.j, place).expected = next;
        let takes = |receive: &Item| matches(receive, &message);
        let posted = first(self.st, peer.posted, takes);
        let wild = first(self.st, self.rank().wild, takes);
        // Numbers wrap; the distance does not.
        let age = |slot: u32| self.rank().posted.wrapping_sub(self.st.items.get(slot).order);
        let receive = match (posted, wild) {
            (None, None) => {
                let rank = self.edit();
                message.order = rank.arrived;
                rank.arrived = message.order.wrapping_add(1);
                let arrived = self.append(peer.arrived, message);
                self.st.peers.edit(self.j, place).arrived = arrived;
                return false;
            }
            (Some(slot), None) => self.take_posted(place, slot),
            (Some(slot), Some(other)) if age(slot) > age(other) => self.take_posted(place, slot),
            (_, Some(slot)) => {
                let head = self.rank().wild;
                let (wild, receive) = self.take(head, slot);
                self.edit().wild = wild;
                receive
            }
        };
        self.matched(&receive, &message)
    }

    fn take_posted(&mut self, peer: u32, slot: u32) -> Item {
        let posted = self.st.peers.get(peer).posted;
        let (posted, receive) = self.take(posted, slot);
        self.st.peers.edit(self.j, peer).posted = posted;
        receive
    }

    fn control(&mut self, to: u32, purpose: Purpose, about: (u16, u16, u8), birth: u64) {
        self.transmit(to, purpose, about, self.plan.costs.control, birth);
    }

    /// Puts a message on its way at `birth`: through the network, or inside the node.
    fn transmit(&mut self, to: u32, purpose: Purpose, about: (u16, u16, u8), wire: u64, birth: u64) {
        let (node, local) = self.plan.locate(to);
        let (sequence, tag, context) = about;
        let envelope = Envelope {
            purpose,
            sequence,
            tag,
            context,
            from: self.local,
            to: local,
        };
        if node != self.node {
            let message = Message {
                birth,
                destination: node,
                bytes: wire,
            };
            let word = envelope.word();
            nic::post(self.net, self.st, self.j, self.lp, self.place, message, (false, word));
            return;
        }
        let costs = &self.plan.costs;
        let moves = matches!(purpose, Purpose::Eager | Purpose::Data);
        let taken = if moves { costs.local.time(wire) } else { 0 };
        let rank = self.edit();
        let start = if moves { birth.max(rank.local_free) } else { birth };
        if moves {
            rank.local_free = start + taken;
        }
        let at = Time((start + taken + costs.local_latency).min(HORIZON.0 - 1));
        let number = &mut self.st.sources.edit(self.j, self.place).number;
        let message = *number as u16 & (nic::ACK - 1);
        *number = number.wrapping_add(1);
        let event = Packet::new(Kind::Delivered, at, self.lp, self.port()).with_message(node, node, message);
        let slot = nic::incoming(self.net, self.st, self.j, self.lp, &event, message.into());
        let entry = self.st.incoming.edit(self.j, slot);
        (entry.birth, entry.bytes, entry.envelope) = (birth, wire, envelope.word());
        self.sink.send(event);
        if purpose == Purpose::Data
            && let Some(event) = sent(envelope, node, costs.rendezvous)
        {
            let at = Time((start + taken).min(HORIZON.0 - 1));
            self.sink.send(event.at(at, self.lp, self.port()));
        }
    }

    /// The record of another rank; made if there is none.
    fn peer(&mut self, other: u32) -> u32 {
        let bits = self.plans.bucket_bits;
        let hash = u64::from(other.wrapping_mul(0x9E37_79B1)) >> (32 - bits);
        let bucket = (self.slot() << bits) + hash as u32;
        let head = *self.st.peer_heads.get(bucket);
        let mut place = head;
        while place != NONE {
            let peer = self.st.peers.get(place);
            if peer.rank == other {
                return place;
            }
            place = peer.next;
        }
        let peer = Peer {
            rank: other,
            next: head,
            posted: NONE,
            arrived: NONE,
            pending: NONE,
            sent: 0,
            expected: 0,
        };
        let place = self.st.peers.push(self.j, peer);
        self.st.peer_heads.set(self.j, bucket, place);
        place
    }

    fn peer_places(&self) -> impl Iterator<Item = u32> + '_ {
        let bits = self.plans.bucket_bits;
        let buckets = self.slot() << bits..(self.slot() + 1) << bits;
        let st = &*self.st;
        buckets.flat_map(move |bucket| {
            let mut place = *st.peer_heads.get(bucket);
            std::iter::from_fn(move || {
                let here = (place != NONE).then_some(place)?;
                place = st.peers.get(here).next;
                Some(here)
            })
        })
    }

    fn peers(&self) -> impl Iterator<Item = &Peer> + '_ {
        self.peer_places().map(|place| self.st.peers.get(place))
    }

    fn items(&self, head: u32) -> impl Iterator<Item = (u32, &Item)> + '_ {
        items(self.st, head)
    }

    fn pending(&self, head: u32, sequence: u16, kind: u8) -> Option<u32> {
        first(self.st, head, |item| item.kind == kind && item.sequence == sequence)
    }

    /// Appends an item to a list; returns its head.
    fn append(&mut self, head: u32, item: Item) -> u32 {
        let free = *self.st.free_items.get(self.lp);
        let slot = if free == NONE {
            self.st.items.push(self.j, item)
        } else {
            let next = self.st.items.get(free).next;
            self.st.free_items.set(self.j, self.lp, next);
            self.st.items.set(self.j, free, item);
            free
        };
        if head == NONE {
            return slot;
        }
        let mut last = head;
        loop {
            let next = self.st.items.get(last).next;
            if next == NONE {
                break;
            }
            last = next;
        }
        self.st.items.edit(self.j, last).next = slot;
        head
    }

    /// Takes an item off a list; returns the list's head and the item.
    fn take(&mut self, head: u32, slot: u32) -> (u32, Item) {
        let item = *self.st.items.get(slot);
        let free = *self.st.free_items.get(self.lp);
        self.st.free_items.set(self.j, self.lp, slot);
        self.st.items.edit(self.j, slot).next = free;
        if head == slot {
            return (item.next, item);
        }
        let mut before = head;
        while self.st.items.get(before).next != slot {
            before = self.st.items.get(before).next;
        }
        self.st.items.edit(self.j, before).next = item.next;
        (head, item)
    }
}

/// A list from its head on.
pub(super) fn items(st: &State, head: u32) -> impl Iterator<Item = (u32, &Item)> {
    let mut slot = head;
    std::iter::from_fn(move || {
        let here = (slot != NONE).then_some(slot)?;
        let item = st.items.get(here);
        slot = item.next;
        Some((here, item))
    })
}

/// The first item of a list for which a condition holds.
fn first(st: &State, head: u32, holds: impl Fn(&Item) -> bool) -> Option<u32> {
    items(st, head).find(|(_, item)| holds(item)).map(|(slot, _)| slot)
}

/// Whether a receive takes a message.
fn matches(receive: &Item, message: &Item) -> bool {
    message.context == receive.context
        && (receive.tag == message.tag || receive.tag == ANY_TAG)
        && matches!(message.kind, item::EAGER | item::ANNOUNCED)
}

fn is_early(kind: u8) -> bool {
    matches!(kind, item::EARLY_EAGER | item::EARLY_ANNOUNCED)
}

fn is_request(kind: u8) -> bool {
    matches!(kind, item::RECEIVE | item::SEND | item::MATCHED | item::SENDING)
}

/// The event by which a rank hears that the bytes of a message to `node` have left, if it waits for that.
pub(super) fn sent(envelope: Envelope, node: u32, rendezvous: Rendezvous) -> Option<Packet> {
    if envelope.purpose != Purpose::Data || rendezvous != Rendezvous::Put {
        return None;
    }
    let value = u64::from(envelope.from) | u64::from(envelope.to) << 8 | u64::from(envelope.sequence) << 16;
    let event = Packet::new(Kind::Rank, Time(0), 0, 0).with_vc(SENT);
    Some(event.with_message(0, node, 0).with_value(value))
}
