//! A rank's peers, and the lists of what waits between them.

use super::Endpoint;
use crate::state::{NONE, State};
use des::Journal;
use des::lists::places;
use work::graph::state::PENDING;
use work::ranks::Plans;
use work::ranks::state::{Item, PeerRank};

impl<J: Journal> Endpoint<'_, J> {
    /// The record of another rank; made if there is none.
    pub(super) fn peer(&mut self, other: u32) -> u32 {
        let list = self.plans.list_of(self.slot(), other);
        match self.st.mpi.find_peer(list, other) {
            Some(place) => place,
            None => self.st.mpi.add_peer(self.j, list, other),
        }
    }

    pub(super) fn peer_places(&self) -> impl Iterator<Item = u32> + '_ {
        peer_places(self.plans, self.st, self.slot())
    }

    pub(super) fn peers(&self) -> impl Iterator<Item = &PeerRank> + '_ {
        self.peer_places().map(|place| self.st.mpi.peer(place))
    }

    pub(super) fn items(&self, head: u32) -> impl Iterator<Item = (u32, &Item)> + '_ {
        items(self.st, head)
    }

    /// The rendezvous of a kind with the rank of a peer's record, by the number of its message.
    pub(super) fn pending(&self, peer: u32, sequence: u16, kind: u8) -> Option<u32> {
        let peer = self.st.mpi.peer(peer);
        if self.plan.has_graphs {
            return self.numbered(peer.rank, (sequence, PENDING), |held| held == kind);
        }
        first(self.st, peer.pending, |item| {
            item.kind == kind && item.sequence == sequence
        })
    }

    /// Keeps a rendezvous with the rank of a peer's record.
    pub(super) fn keep_pending(&mut self, peer: u32, item: Item) {
        if self.plan.has_graphs {
            return self.keep(item);
        }
        let pending = self.st.mpi.peer(peer).pending;
        let pending = self.append(pending, item);
        self.st.mpi.edit_peer(self.j, peer).pending = pending;
    }

    /// Takes a rendezvous with the rank of a peer's record.
    pub(super) fn take_pending(&mut self, peer: u32, slot: u32) -> Item {
        if self.plan.has_graphs {
            return self.drop_kept(slot);
        }
        let pending = self.st.mpi.peer(peer).pending;
        let (pending, item) = self.take(pending, slot);
        self.st.mpi.edit_peer(self.j, peer).pending = pending;
        item
    }

    /// Keeps a message from the rank of a peer's record, or a part of it.
    pub(super) fn keep_arrived(&mut self, peer: u32, message: Item) {
        if self.plan.has_graphs {
            return self.keep(message);
        }
        let arrived = self.st.mpi.peer(peer).arrived;
        let arrived = self.append(arrived, message);
        self.st.mpi.edit_peer(self.j, peer).arrived = arrived;
    }

    /// Takes a message from the rank of a peer's record.
    pub(super) fn take_arrived(&mut self, peer: u32, slot: u32) -> Item {
        if self.plan.has_graphs {
            return self.drop_kept(slot);
        }
        let arrived = self.st.mpi.peer(peer).arrived;
        let (arrived, message) = self.take(arrived, slot);
        self.st.mpi.edit_peer(self.j, peer).arrived = arrived;
        message
    }

    /// A place for an item.
    pub(super) fn put(&mut self, item: Item) -> u32 {
        let item = Item { next: NONE, ..item };
        let free = *self.st.mpi.free_items.get(self.lp);
        if free == NONE {
            self.st.mpi.items.push(self.j, item)
        } else {
            let next = self.st.mpi.items.get(free).next;
            self.st.mpi.free_items.set(self.j, self.lp, next);
            if next != NONE {
                // For the item after this one.
                self.st.mpi.items.prefetch_one(next);
            }
            self.st.mpi.items.set(self.j, free, item);
            free
        }
    }

    /// Gives a place back; what was in it.
    pub(super) fn free(&mut self, slot: u32) -> Item {
        let item = *self.st.mpi.items.get(slot);
        let free = *self.st.mpi.free_items.get(self.lp);
        self.st.mpi.free_items.set(self.j, self.lp, slot);
        self.st.mpi.items.edit(self.j, slot).next = free;
        item
    }

    /// Appends an item, wherever it was before, to a list; returns its head.
    pub(super) fn append(&mut self, head: u32, item: Item) -> u32 {
        let slot = self.put(item);
        if head == NONE {
            return slot;
        }
        let mut last = head;
        loop {
            let next = self.st.mpi.items.get(last).next;
            if next == NONE {
                break;
            }
            last = next;
        }
        self.st.mpi.items.edit(self.j, last).next = slot;
        head
    }

    /// Takes an item off a list; returns the list's head and the item.
    pub(super) fn take(&mut self, head: u32, slot: u32) -> (u32, Item) {
        let item = self.free(slot);
        if head == slot {
            return (item.next, item);
        }
        let mut before = head;
        while self.st.mpi.items.get(before).next != slot {
            before = self.st.mpi.items.get(before).next;
        }
        self.st.mpi.items.edit(self.j, before).next = item.next;
        (head, item)
    }
}

/// The peers that a rank has met, list by list.
pub(crate) fn peer_places<'a>(plans: &Plans, st: &'a State, slot: u32) -> impl Iterator<Item = u32> + use<'a> {
    plans.lists_of(slot).flat_map(|list| st.mpi.peers_in(list))
}

/// What a rank that plays graphs holds, list by list.
pub(in crate::mpi) fn hashed_items(st: &State, slot: u32) -> impl Iterator<Item = (u32, &Item)> {
    let progress = *st.mpi.graph.progress.get(slot);
    let lists = progress.lists..progress.lists + progress.n_lists();
    lists.flat_map(move |list| items(st, st.mpi.graph.lists.get(list).head))
}

/// A list from its head on.
pub(crate) fn items(st: &State, head: u32) -> impl Iterator<Item = (u32, &Item)> {
    places(head, |slot| st.mpi.items.get(slot).next).map(|slot| (slot, st.mpi.items.get(slot)))
}

/// The first item of a list for which a condition holds.
pub(super) fn first(st: &State, head: u32, holds: impl Fn(&Item) -> bool) -> Option<u32> {
    items(st, head).find(|(_, item)| holds(item)).map(|(slot, _)| slot)
}
