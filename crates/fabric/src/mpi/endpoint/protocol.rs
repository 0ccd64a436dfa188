//! What a message takes on its way: sent at once or asked for, through the network or inside the node.

use super::lists::hashed_items;
use super::{BLOCK, Ended, Endpoint};
use crate::envelope::{self, BESIDE, Envelope, Purpose, left_message, sent};
use crate::incoming;
use crate::observe::Cause;
use crate::packet::{HORIZON, Kind, Packet};
use crate::state::{NONE, fault, next_number};
use des::{Journal, Time};
use topo::{Topology, TopologySpec};
use work::mpi::op::{ANY_SIZE, Transfer};
use work::mpi::spec::{Beside, BesideGroups, BesideTrees, Rendezvous};
use work::ranks::state::{Item, is_far, item};
use work::workload::Message;

impl<J: Journal> Endpoint<'_, J> {
    /// Sends a message when the processor is ready for it.
    #[inline(always)]
    pub(super) fn send(&mut self, message: Transfer, context: u16, name: u32) {
        self.work(self.send_cost(&message));
        let birth = self.rank().clock;
        self.launch_named(message, context, name, birth);
    }

    /// Lets a message go at `birth`, whose request has a name.
    pub(super) fn launch_named(&mut self, message: Transfer, context: u16, name: u32, birth: u64) {
        let eager = self.launch(message, context, name, birth);
        if eager && name != BLOCK {
            let rank = self.edit();
            (rank.fresh, rank.news) = (rank.fresh + 1, rank.news + 1);
            if self.plan.is_live {
                self.tell_completed(name, birth);
            }
        }
    }

    /// Whether a message goes without asking.
    #[inline(always)]
    pub(super) fn is_eager(&self, message: &Transfer) -> bool {
        message.bytes <= self.plan.costs.eager && !message.synchronous
    }

    /// What a send takes of the processor.
    pub(super) fn send_cost(&self, message: &Transfer) -> u64 {
        self.plan.costs.sending(message.bytes, self.is_eager(message))
    }

    /// Lets a message go at `birth`; whether it goes without asking.
    pub(super) fn launch(&mut self, message: Transfer, context: u16, name: u32, birth: u64) -> bool {
        let Transfer {
            peer: to, bytes, tag, ..
        } = message;
        let eager = self.is_eager(&message);
        let own = self.plan.locate(to).0 == self.node;
        let rank = self.edit();
        // Rails in turn go by it.
        let turn = rank.messages as u32;
        match own {
            true => (rank.local_messages, rank.local_bytes) = (rank.local_messages + 1, rank.local_bytes + bytes),
            false => (rank.messages, rank.bytes) = (rank.messages + 1, rank.bytes + bytes),
        }
        let peer = self.peer(to);
        let sent = &mut self.st.mpi.edit_peer(self.j, peer).sent;
        let sequence = *sent;
        *sent = sent.wrapping_add(1);
        if sequence.is_multiple_of(1 << 14) && self.has_left_behind(peer, sequence) {
            self.st.routers.edit(self.j, self.lp).faults |= fault::RANK_NUMBERS_USED_UP;
        }
        if eager && self.plan.costs.fetches(bytes) {
            let item = Item {
                time: birth,
                bytes,
                rank: to,
                next: NONE,
                order: turn,
                tag,
                sequence,
                name: 0,
                context,
                kind: item::OFFERED,
                parts: 0,
            };
            self.keep_pending(peer, item);
            self.control(to, Purpose::Offer, (sequence, tag, context), birth);
            return true;
        }
        if eager {
            let purpose = if bytes == 0 { Purpose::Empty } else { Purpose::Eager };
            let wire = self.plan.wire(bytes);
            self.transmit(to, purpose, (sequence, tag, context), (wire, birth, turn));
            return true;
        }
        self.open(name);
        let item = Item {
            time: birth,
            bytes,
            rank: to,
            next: NONE,
            order: turn,
            tag,
            sequence,
            name,
            context,
            kind: item::SEND,
            parts: 0,
        };
        self.keep_pending(peer, item);
        self.control(to, Purpose::Request, (sequence, tag, context), birth);
        false
    }

    /// Whether a rendezvous with a peer has waited for so many messages that numbers begin to be those of others. It is asked for four times
    /// while they go round once.
    #[cold]
    fn has_left_behind(&self, peer: u32, sequence: u16) -> bool {
        let peer = self.st.mpi.peer(peer);
        let waits = |item: &Item| matches!(item.kind, item::SEND | item::SENDING) && is_far(item.sequence, sequence);
        if self.plan.has_graphs {
            let mut items = hashed_items(self.st, self.slot());
            return items.any(|(_, item)| item.rank == peer.rank && waits(item));
        }
        self.items(peer.pending).any(|(_, item)| waits(item))
    }

    /// A message of `bytes` has come from a rank; `true` if this rank goes on.
    pub(in crate::mpi) fn arrive(&mut self, from: u32, envelope: &Envelope, bytes: u64) -> bool {
        if let Some(costs) = self.plan.costs.in_calls {
            return self.hear(&costs, from, envelope, bytes);
        }
        let about = (envelope.sequence, envelope.tag, envelope.context);
        match envelope.purpose {
            Purpose::Eager if envelope.part => match self.gather(from, envelope, bytes) {
                Some(bytes) => self.come(from, envelope, bytes),
                None => false,
            },
            Purpose::Eager | Purpose::Empty | Purpose::Request => self.come(from, envelope, bytes),
            Purpose::Clear => {
                self.answer(from, about, self.now);
                false
            }
            Purpose::Offer => {
                self.control(from, Purpose::Clear, about, self.now);
                false
            }
            Purpose::Data | Purpose::EmptyData => {
                let costs = &self.plan.costs;
                let bytes = match envelope.purpose {
                    Purpose::EmptyData => costs.header,
                    _ => bytes,
                };
                self.take_in(from, envelope.sequence, bytes);
                let cost = costs.receiving(bytes.saturating_sub(costs.header), false);
                let Some(goes_on) = self.end(from, envelope.sequence, item::MATCHED, envelope.part, cost) else {
                    return false;
                };
                if costs.rendezvous == Rendezvous::Get {
                    self.control(from, Purpose::Done, about, self.now);
                }
                goes_on
            }
            Purpose::Done => self
                .end(from, envelope.sequence, item::SENDING, false, 0)
                .unwrap_or(false),
        }
    }

    /// Sends at `birth` what a rank has given leave for.
    pub(super) fn answer(&mut self, from: u32, about: (u16, u16, u16), birth: u64) {
        let place = self.peer(from);
        if let Some(slot) = self.pending(place, about.0, item::OFFERED) {
            let item = self.take_pending(place, slot);
            let wire = self.plan.wire(item.bytes);
            return self.transmit(from, Purpose::Eager, about, (wire, birth, item.order));
        }
        let Some(slot) = self.pending(place, about.0, item::SEND) else {
            return;
        };
        let item = self.st.mpi.items.edit(self.j, slot);
        (item.kind, item.time) = (item::SENDING, self.birth);
        let (wire, turn) = (self.plan.wire(item.bytes), item.order);
        let purpose = if item.bytes == 0 {
            Purpose::EmptyData
        } else {
            Purpose::Data
        };
        self.transmit(from, purpose, about, (wire, birth, turn));
    }

    /// The bytes of a rendezvous send, or of a part of it, have left, with the value of [`sent`]'s event; `true` if the rank goes on.
    pub(in crate::mpi) fn sent(&mut self, to: u32, value: u64) -> bool {
        let (sequence, part) = left_message(value);
        if let Some(costs) = self.plan.costs.in_calls {
            return self.hear_of_leaving(&costs, to, sequence);
        }
        self.end(to, sequence, item::SENDING, part, 0).unwrap_or(false)
    }

    /// The bytes of a rendezvous, or of a part of it, have come: as many as its receive takes, or too many.
    pub(super) fn take_in(&mut self, from: u32, sequence: u16, bytes: u64) {
        let place = self.peer(from);
        let Some(slot) = self.pending(place, sequence, item::MATCHED) else {
            return;
        };
        let &Item { bytes: room, name, .. } = self.st.mpi.items.get(slot);
        if room == ANY_SIZE {
            return;
        }
        if bytes > room {
            self.blame(name);
            let header = self.plan.costs.header;
            self.truncated(from, bytes.saturating_sub(header), room.saturating_sub(header));
        }
        self.st.mpi.items.edit(self.j, slot).bytes = room.saturating_sub(bytes);
    }

    /// A rendezvous, or `part` of it, is over for this rank; `true` if the rank goes on, `None` while there are other parts.
    pub(super) fn end(&mut self, other: u32, sequence: u16, kind: u8, part: bool, cost: u64) -> Option<bool> {
        let place = self.peer(other);
        let slot = self.pending(place, sequence, kind)?;
        if part && !self.is_last_part(slot) {
            return None;
        }
        let item = self.take_pending(place, slot);
        let ended = Ended {
            peer: other,
            cause: match item.kind {
                item::MATCHED if item.order != 0 => Cause::Arrival,
                item::MATCHED => Cause::Answered,
                _ => Cause::Sent,
            },
            since: item.time,
        };
        Some(self.complete(item.name, self.now, cost, ended))
    }

    /// Puts a message of `wire` bytes on its way at `birth` that waits for nothing.
    fn go_beside(&mut self, beside: &Beside, node: u32, envelope: Envelope, (wire, birth): (u64, u64)) {
        let net = self.net;
        let topology = &net.topology;
        let (from, at) = (topology.router_of(self.node), topology.router_of(node));
        let hops = hops_beside(beside, topology, from, at);
        let moved = match envelope.purpose {
            Purpose::Empty | Purpose::EmptyData => 0,
            _ => net.injection.time_of(wire),
        };
        let taken = beside.latency.0 + beside.hop.0 * u64::from(hops) + moved;
        let label = next_number(self.st.ledgers.edit(self.j, self.place));
        let to = net.place_of_node(node);
        // It is announced before it is there.
        let soon = match to == self.lp {
            true => Time(self.now),
            false => Time(self.now) + net.lookahead,
        };
        let at = birth.saturating_add(taken).clamp(soon.0 + 1, HORIZON.0 - 1);
        let port = (node - net.sites[to as usize].node) as u16;
        for (notice, part) in envelope::notices(envelope.words(), birth, wire, soon, to, port) {
            let notice = notice.with_vc(notice.vc() | BESIDE);
            self.out.send(notice.about(self.node, label, part));
        }
        let event = Packet::new(Kind::Delivered, Time(at), to, port);
        self.out.send(event.with_message(self.node, node, label));
        if let Some(event) = sent(envelope, node, &self.plan.costs) {
            let at = Time(birth.saturating_add(moved).min(HORIZON.0 - 1));
            self.out.send(event.at(at, self.lp, self.port()));
        }
    }

    pub(super) fn control(&mut self, to: u32, purpose: Purpose, about: (u16, u16, u16), birth: u64) {
        self.transmit(to, purpose, about, (self.plan.costs.control, birth, 0));
    }

    /// Puts a message of `wire` bytes on its way at `birth`: through the network, in its `turn`, or inside the node.
    fn transmit(&mut self, to: u32, purpose: Purpose, about: (u16, u16, u16), (wire, birth, turn): (u64, u64, u32)) {
        let (node, local) = self.plan.locate(to);
        let (sequence, tag, context) = about;
        let envelope = Envelope {
            purpose,
            sequence,
            tag,
            context,
            from: self.local,
            to: local,
            part: false,
        };
        if node != self.node {
            if let Some(beside) = self.plan.costs.beside.filter(|beside| wire <= beside.most.0) {
                return self.go_beside(&beside, node, envelope, (wire, birth));
            }
            let message = Message {
                birth,
                destination: node,
                bytes: wire,
            };
            return self.hand_over(message, envelope, turn);
        }
        let costs = &self.plan.costs;
        let moves = matches!(purpose, Purpose::Eager | Purpose::Data);
        let taken = if moves { costs.local.time(wire) } else { 0 };
        let rank = self.edit();
        let start = if moves { birth.max(rank.local_free) } else { birth };
        if moves {
            rank.local_free = start.saturating_add(taken);
        }
        let at = Time(
            start
                .saturating_add(taken.saturating_add(costs.local_latency))
                .min(HORIZON.0 - 1),
        );
        let label = next_number(self.st.ledgers.edit(self.j, self.place));
        let event = Packet::new(Kind::Delivered, at, self.lp, self.port()).with_message(node, node, label);
        let slot = incoming::record(self.net, self.st, self.j, self.lp, (node, node, label));
        let entry = self.st.incoming.edit(self.j, slot);
        if entry.birth != u64::MAX {
            self.st.routers.edit(self.j, self.lp).faults |= fault::NUMBER_IN_USE;
        }
        let words = envelope.words();
        (entry.birth, entry.bytes) = (birth, wire);
        (entry.about, entry.rest) = (words.word, words.rest);
        entry.delivered = 1;
        self.out.send(event);
        if matches!(purpose, Purpose::Data | Purpose::EmptyData | Purpose::Done)
            && let Some(event) = sent(envelope, node, costs)
        {
            let at = Time(start.saturating_add(taken).min(HORIZON.0 - 1));
            let event = event.at(at, self.lp, self.port());
            self.out.send(event);
        }
    }
}

/// Hops between two routers with nodes, as they are counted beside the network.
fn hops_beside(beside: &Beside, topology: &Topology, from: u32, to: u32) -> u32 {
    match (beside.trees, beside.groups, topology.spec()) {
        (BesideTrees::Shifted, _, TopologySpec::FatTree(tree)) if tree.down.len() == 3 && from != to => {
            let tree_of = |leaf: u32| leaf.div_ceil(tree.down[1]);
            if tree_of(from) == tree_of(to) { 2 } else { 4 }
        }
        (_, BesideGroups::SstMacro, TopologySpec::Dragonfly(_)) if topology.group(from) == topology.group(to) => 1,
        (_, BesideGroups::SstMacro, TopologySpec::Dragonfly(_)) => hops_between_groups(topology, from, to),
        (_, BesideGroups::SstMacro, TopologySpec::DragonflyPlus(_)) => {
            let inside = topology.group(from) == topology.group(to);
            if inside { 2 } else { 3 }
        }
        _ => topology.distance(from, to),
    }
}

/// 1 over a link between the two routers, 2 where the first one has a link to the group, else 3. A link to router 0 is not seen as one to
/// its group, as in SST/macro.
fn hops_between_groups(topology: &Topology, from: u32, to: u32) -> u32 {
    let wiring = topology.wiring();
    let ports = wiring.port_offset[from as usize] as usize..wiring.port_offset[from as usize + 1] as usize;
    let mut far = wiring.peer_router[ports].iter().copied();
    if far.clone().any(|router| router == to) {
        return 1;
    }
    let group = topology.group(to);
    if far.any(|router| router > 0 && topology.group(router) == group) {
        2
    } else {
        3
    }
}
