//! Which rails a message takes to another host, and how one is made whole again that took several.

use super::Endpoint;
use super::lists::first;
use crate::envelope::{Envelope, Purpose};
use crate::nic;
use crate::state::NONE;
use des::Journal;
use work::graph::state::INCOMPLETE;
use work::mpi::spec::RailPolicy;
use work::ranks::state::{Item, item};
use work::workload::Message;

impl<J: Journal> Endpoint<'_, J> {
    /// Hands a message to the host whose first node is its destination to an interface, or a part of it to each. `turn` counts the
    /// rank's messages to other hosts.
    pub(super) fn hand_over(&mut self, message: Message, envelope: Envelope, turn: u32) {
        let rails = self.plan.costs.rails;
        if rails.count == 1 {
            return self.post((0, 0), message, envelope);
        }
        let local = u32::from(self.local);
        let own = (local % rails.count, u32::from(envelope.to) % rails.count);
        let alike = |rail| (rail, rail);
        if !matches!(
            envelope.purpose,
            Purpose::Eager | Purpose::Empty | Purpose::Data | Purpose::EmptyData
        ) {
            return self.post(own, message, envelope);
        }
        if rails.stripes(message.bytes) && envelope.purpose != Purpose::EmptyData {
            let (each, rest) = (
                message.bytes / u64::from(rails.count),
                message.bytes % u64::from(rails.count),
            );
            for rail in 0..rails.count {
                let bytes = each + u64::from(u64::from(rail) < rest);
                let envelope = Envelope { part: true, ..envelope };
                self.post(alike(rail), Message { bytes, ..message }, envelope);
            }
            return;
        }
        let rail = match rails.policy {
            RailPolicy::LocalRank => own,
            RailPolicy::RoundRobin => alike((local + turn % rails.count) % rails.count),
            RailPolicy::LeastLoaded => {
                let from_own = (0..rails.count).map(|k| (local + k) % rails.count);
                let backlog = |rail: &u32| self.st.ledgers.get(self.place + rail).taken;
                // The first of equals.
                alike(from_own.min_by_key(backlog).unwrap_or(0))
            }
        };
        self.post(rail, message, envelope);
    }

    /// Posts a message from a rail to a rail.
    fn post(&mut self, (from, to): (u32, u32), message: Message, envelope: Envelope) {
        let place = self.place + from;
        self.st.ledgers.edit(self.j, place).taken += message.bytes;
        let destination = message.destination + to;
        let message = Message { destination, ..message };
        let words = envelope.words();
        nic::post(self.net, self.st, self.j, self.lp, place, message, (0, words));
    }

    /// Counts a part of the message of an item; `true` if it is the last.
    pub(super) fn is_last_part(&mut self, slot: u32) -> bool {
        let parts = &mut self.st.mpi.items.edit(self.j, slot).parts;
        *parts += 1;
        u32::from(*parts) == self.plan.costs.rails.count
    }

    /// The message of a number of which parts have come.
    fn parts(&self, peer: u32, sequence: u16) -> Option<u32> {
        let peer = self.st.mpi.peer(peer);
        if self.plan.has_graphs {
            return self.numbered(peer.rank, (sequence, INCOMPLETE), |kind| kind == item::PARTS);
        }
        first(self.st, peer.arrived, |item| {
            item.kind == item::PARTS && item.sequence == sequence
        })
    }

    /// A part of a message without asking has come; the bytes of all, if it is the last.
    pub(super) fn gather(&mut self, from: u32, envelope: &Envelope, bytes: u64) -> Option<u64> {
        let place = self.peer(from);
        let slot = match self.parts(place, envelope.sequence) {
            Some(slot) => slot,
            None => {
                let item = Item {
                    time: self.now,
                    bytes: 0,
                    rank: from,
                    next: NONE,
                    order: 0,
                    tag: envelope.tag,
                    sequence: envelope.sequence,
                    name: 0,
                    context: envelope.context,
                    kind: item::PARTS,
                    parts: 0,
                };
                self.keep_arrived(place, item);
                self.parts(place, envelope.sequence)?
            }
        };
        self.st.mpi.items.edit(self.j, slot).bytes += bytes;
        self.is_last_part(slot).then(|| self.take_arrived(place, slot).bytes)
    }
}
