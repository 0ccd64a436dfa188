//! What ranks that play graphs hold, in lists by hash: receives and messages by rank, tag and context, all else by the number of its
//! message. Thousands may be open at once, and each is found among a few.
//!
//! Receives that leave open from whom or with which tag have a list of their own. Where a rank has such receives, messages without a
//! receive are in one list too, in the order in which they came.

use super::Endpoint;
use super::lists::items;
use super::matching::matches;
use des::Journal;
use work::graph::state::{ARRIVED, INCOMPLETE, ItemList, PENDING, WILD};
use work::mpi::op::{ANY_SOURCE, ANY_TAG};
use work::ranks::state::{Item, item};

impl<J: Journal> Endpoint<'_, J> {
    /// The list that an item belongs to.
    fn list_of(&self, item: &Item) -> u32 {
        let progress = self.st.mpi.graph.progress.get(self.slot());
        let number = match item.kind {
            item::RECEIVE if item.rank == ANY_SOURCE || item.tag == ANY_TAG => WILD,
            item::EAGER | item::ANNOUNCED if progress.wild != 0 => ARRIVED,
            item::RECEIVE | item::EAGER | item::ANNOUNCED => progress.list(item.rank, item.tag, item.context),
            item::EARLY_EAGER | item::EARLY_ANNOUNCED | item::PARTS => {
                progress.list(item.rank, item.sequence, INCOMPLETE)
            }
            _ => progress.list(item.rank, item.sequence, PENDING),
        };
        progress.lists + number
    }

    /// Keeps an item, behind those of its list.
    pub(super) fn keep(&mut self, item: Item) {
        let list = self.list_of(&item);
        let slot = self.put(item);
        let ItemList { head, tail } = *self.st.mpi.graph.lists.get(list);
        if head == des::lists::NONE {
            let alone = ItemList { head: slot, tail: slot };
            return self.st.mpi.graph.lists.set(self.j, list, alone);
        }
        self.st.mpi.items.edit(self.j, tail).next = slot;
        self.st.mpi.graph.lists.edit(self.j, list).tail = slot;
    }

    /// Takes an item off its list.
    pub(super) fn drop_kept(&mut self, slot: u32) -> Item {
        let item = *self.st.mpi.items.get(slot);
        let list = self.list_of(&item);
        let ItemList { head, tail } = *self.st.mpi.graph.lists.get(list);
        if head == slot {
            self.st.mpi.graph.lists.edit(self.j, list).head = item.next;
        } else {
            let mut before = head;
            while self.st.mpi.items.get(before).next != slot {
                before = self.st.mpi.items.get(before).next;
            }
            self.st.mpi.items.edit(self.j, before).next = item.next;
            if tail == slot {
                self.st.mpi.graph.lists.edit(self.j, list).tail = before;
            }
        }
        self.free(slot)
    }

    /// The item about a message of a number from or to a rank, in the lists of early messages or of rendezvous.
    pub(super) fn numbered(&self, rank: u32, (sequence, of): (u16, u16), kind: impl Fn(u8) -> bool) -> Option<u32> {
        let progress = self.st.mpi.graph.progress.get(self.slot());
        let list = progress.lists + progress.list(rank, sequence, of);
        self.found(list, |item| {
            item.sequence == sequence && item.rank == rank && kind(item.kind)
        })
    }

    /// The first item of a list for which a condition holds.
    fn found(&self, list: u32, holds: impl Fn(&Item) -> bool) -> Option<u32> {
        let head = self.st.mpi.graph.lists.get(list).head;
        items(self.st, head).find(|(_, item)| holds(item)).map(|(slot, _)| slot)
    }

    /// A receive takes the first of the messages that are there, or waits.
    pub(super) fn post_hashed(&mut self, receive: Item) {
        let progress = self.st.mpi.graph.progress.get(self.slot());
        let number = match progress.wild != 0 {
            true => ARRIVED,
            false => progress.list(receive.rank, receive.tag, receive.context),
        };
        let list = progress.lists + number;
        let takes = |message: &Item| is_from(&receive, message) && matches(&receive, message);
        match self.found(list, takes) {
            Some(slot) => {
                let message = self.drop_kept(slot);
                self.matched(&receive, &message);
            }
            None => self.keep(receive),
        }
    }

    /// A message whose turn it is goes to the earliest receive that takes it, or waits; `true` if the rank goes on.
    pub(super) fn meet_hashed(&mut self, mut message: Item) -> bool {
        let progress = *self.st.mpi.graph.progress.get(self.slot());
        let takes =
            |receive: &Item| receive.kind == item::RECEIVE && is_from(receive, &message) && matches(receive, &message);
        let own = progress.lists + progress.list(message.rank, message.tag, message.context);
        let (posted, wild) = (self.found(own, takes), self.found(progress.lists + WILD, takes));
        // Numbers wrap; the distance does not.
        let age = |slot: &u32| self.rank().posted.wrapping_sub(self.st.mpi.items.get(*slot).order);
        let Some(slot) = posted.into_iter().chain(wild).max_by_key(age) else {
            let rank = self.edit();
            message.order = rank.arrived;
            rank.arrived = message.order.wrapping_add(1);
            self.keep(message);
            return self.unexpected(&message);
        };
        let receive = self.drop_kept(slot);
        self.matched(&receive, &message)
    }
}

/// Whether a receive is for messages of the rank that has sent one.
fn is_from(receive: &Item, message: &Item) -> bool {
    receive.rank == message.rank || receive.rank == ANY_SOURCE
}
