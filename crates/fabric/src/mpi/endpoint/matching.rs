//! Receives meet messages, in the order of both.

use super::lists::first;
use super::{COLLECTIVE, Ended, Endpoint};
use crate::envelope::{Envelope, Purpose};
use crate::observe::Cause;
use crate::state::{NONE, State};
use des::Journal;
use work::graph::state::INCOMPLETE;
use work::mpi::op::{ANY_SOURCE, ANY_TAG, Transfer};
use work::ranks::state::{Fault, Item, PeerRank, fault, is_far, item, waiting};

impl<J: Journal> Endpoint<'_, J> {
    /// Posts a receive when the processor is ready for it.
    #[inline(always)]
    pub(super) fn receive(&mut self, wanted: Transfer, context: u16, name: u32) {
        self.open(name);
        let time = self.rank().clock;
        self.await_message(wanted, context, name, time);
    }

    /// Posts a receive at `time`.
    pub(super) fn await_message(&mut self, wanted: Transfer, context: u16, name: u32, time: u64) {
        let (from, tag) = (wanted.peer, wanted.tag);
        let rank = self.edit();
        let order = rank.posted;
        rank.posted = order.wrapping_add(1);
        let receive = Item {
            time,
            bytes: wanted.bytes,
            rank: from,
            next: NONE,
            order,
            tag,
            sequence: 0,
            name,
            context,
            kind: item::RECEIVE,
            parts: 0,
        };
        if self.plan.has_graphs {
            return self.post_hashed(receive);
        }
        if from == ANY_SOURCE {
            let wait = |st: &State, peer: &PeerRank| first(st, peer.arrived, |message| matches(&receive, message));
            let found = self.peer_places().filter_map(|place| {
                let slot = wait(self.st, self.st.mpi.peer(place))?;
                Some((self.st.mpi.items.get(slot).order, place, slot))
            });
            if let Some((_, place, slot)) = found.min() {
                let message = self.take_arrived(place, slot);
                self.looked_at_arrived(Some(message.order));
                self.matched(&receive, &message);
                return;
            }
            self.looked_at_arrived(None);
            let wild = self.rank().wild;
            let wild = self.append(wild, receive);
            self.edit().wild = wild;
            return;
        }
        let place = self.peer(from);
        let peer = *self.st.mpi.peer(place);
        if let Some(slot) = first(self.st, peer.arrived, |message| matches(&receive, message)) {
            let message = self.take_arrived(place, slot);
            self.looked_at_arrived(Some(message.order));
            self.matched(&receive, &message);
            return;
        }
        self.looked_at_arrived(None);
        let posted = self.append(peer.posted, receive);
        self.st.mpi.edit_peer(self.j, place).posted = posted;
    }

    /// A message is larger than its receive, which MPI calls truncated.
    pub(super) fn truncated(&mut self, who: u32, bytes: u64, room: u64) {
        let kind = fault::TRUNCATED;
        self.fail(Fault { kind, who, bytes, room });
    }

    /// A receive has its message, or the announcement of it; `true` if the rank goes on.
    pub(super) fn matched(&mut self, receive: &Item, message: &Item) -> bool {
        let mut at = receive.time.max(message.time);
        if self.plan.is_live {
            self.tell_matched(receive, message);
        }
        let costs = &self.plan.costs;
        if message.kind == item::EAGER {
            if message.bytes > receive.bytes {
                self.blame(receive.name);
                self.truncated(message.rank, message.bytes, receive.bytes);
            }
            let mut cost = costs.receiving(message.bytes, true);
            if costs.in_calls.is_some() {
                self.work(std::mem::take(&mut cost));
                at = self.rank().clock;
            }
            let ended = Ended {
                peer: message.rank,
                cause: Cause::Arrival,
                since: self.birth,
            };
            return self.complete(receive.name, at, cost, ended);
        }
        let place = self.peer(message.rank);
        self.keep_pending(
            place,
            Item {
                kind: item::MATCHED,
                name: receive.name,
                // Which of both was late: a receive that has waited for the announcement has it from the time at which that was sent.
                time: if receive.time < message.time {
                    self.birth
                } else {
                    receive.time
                },
                order: u32::from(receive.time < message.time),
                bytes: receive.bytes.saturating_add(costs.header),
                next: NONE,
                ..*message
            },
        );
        let about = (message.sequence, message.tag, message.context);
        if let Some(own) = costs.in_calls {
            // No pieces of sizes go with such ranks.
            self.work(costs.receiving(0, false));
            at = self.rank().clock.saturating_add(own.host_delay.0);
        }
        self.control(message.rank, Purpose::Clear, about, at);
        false
    }

    /// A message, or its announcement: matched in the order in which the sender sent.
    pub(super) fn come(&mut self, from: u32, envelope: &Envelope, bytes: u64) -> bool {
        let place = self.peer(from);
        let peer = *self.st.mpi.peer(place);
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
            parts: 0,
        };
        if envelope.sequence != peer.expected {
            if is_far(peer.expected, envelope.sequence) {
                self.st.routers.edit(self.j, self.lp).faults |= crate::state::fault::RANK_NUMBERS_USED_UP;
            }
            message.kind += item::EARLY_EAGER - item::EAGER;
            self.keep_arrived(place, message);
            return false;
        }
        let mut goes_on = self.meet(place, message);
        // Those that were early may be next.
        loop {
            let peer = *self.st.mpi.peer(place);
            let early = match self.plan.has_graphs {
                true => self.numbered(from, (peer.expected, INCOMPLETE), is_early),
                false => first(self.st, peer.arrived, |early| {
                    early.sequence == peer.expected && is_early(early.kind)
                }),
            };
            let Some(slot) = early else {
                return goes_on;
            };
            let mut early = self.take_arrived(place, slot);
            early.time = self.now;
            early.kind -= item::EARLY_EAGER - item::EAGER;
            goes_on |= self.meet(place, early);
        }
    }

    /// Matches a message whose turn it is with the earliest receive that takes it, or keeps it.
    pub(super) fn meet(&mut self, place: u32, mut message: Item) -> bool {
        let peer = *self.st.mpi.peer(place);
        let next = message.sequence.wrapping_add(1);
        self.st.mpi.edit_peer(self.j, place).expected = next;
        if self.plan.has_graphs {
            return self.meet_hashed(message);
        }
        let takes = |receive: &Item| matches(receive, &message);
        let posted = first(self.st, peer.posted, takes);
        let wild = first(self.st, self.rank().wild, takes);
        // Numbers wrap; the distance does not.
        let age = |slot: u32| self.rank().posted.wrapping_sub(self.st.mpi.items.get(slot).order);
        let receive = match (posted, wild) {
            (None, None) => {
                self.looked_at_posted(None);
                let rank = self.edit();
                message.order = rank.arrived;
                rank.arrived = message.order.wrapping_add(1);
                let arrived = self.append(peer.arrived, message);
                self.st.mpi.edit_peer(self.j, place).arrived = arrived;
                return self.unexpected(&message);
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
        self.looked_at_posted(Some(receive.order));
        self.matched(&receive, &message)
    }

    /// A message has come that no receive was posted for; `true` if the rank goes on, which has waited for that.
    pub(super) fn unexpected(&mut self, message: &Item) -> bool {
        if message.context & COLLECTIVE != 0 {
            return false;
        }
        if self.plan.is_live {
            self.tell_arrived(message);
        }
        let rank = self.edit();
        rank.news += 1;
        if rank.waiting != waiting::NEWS {
            return false;
        }
        let ended = Ended {
            peer: message.rank,
            cause: Cause::Arrival,
            since: self.birth,
        };
        self.goes_on(message.time, 0, ended)
    }

    pub(super) fn take_posted(&mut self, peer: u32, slot: u32) -> Item {
        let posted = self.st.mpi.peer(peer).posted;
        let (posted, receive) = self.take(posted, slot);
        self.st.mpi.edit_peer(self.j, peer).posted = posted;
        receive
    }
}

/// Whether a receive takes a message from whom it is for.
pub(super) fn matches(receive: &Item, message: &Item) -> bool {
    message.context == receive.context
        && (receive.tag == message.tag || receive.tag == ANY_TAG)
        && matches!(message.kind, item::EAGER | item::ANNOUNCED)
}

fn is_early(kind: u8) -> bool {
    matches!(kind, item::EARLY_EAGER | item::EARLY_ANNOUNCED)
}
