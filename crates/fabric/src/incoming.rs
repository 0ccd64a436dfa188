//! Records of messages on their way to the nodes of a router, found in constant time however many there are.
//!
//! A node has a few roots. What a root leads to is nothing, a record, or a branch of sixteen ways; which of them a message's record is
//! on is told by four bits after the other of a hash that no two messages share. A branch has at least two records behind it, so that
//! its shape is a function of what is in it.

use crate::network::Network;
use crate::packet::{Label, Packet};
use crate::state::{Incoming, NONE, State, Ways};
use des::{FORESEEN, Journal, mix};

/// In a root or a way: what follows is a branch.
const BRANCH: u32 = 1 << 31;
/// Bits of a hash that choose a way.
const BITS: u32 = 4;
/// Levels that a hash is enough for.
const LEVELS: usize = 16;

/// What a message on its way is known by: source node, destination node, label.
pub type Key = (u32, u32, Label);

/// A hash that is one to one.
#[inline(always)]
fn hash(source: u32, label: Label) -> u64 {
    mix(u64::from(source) << 32 | u64::from(label))
}

/// Where a pointer to a record or branch is.
#[derive(Clone, Copy)]
enum PointerPlace {
    Root(u32),
    Way(u32, usize),
}

impl PointerPlace {
    #[inline(always)]
    fn get(self, st: &State) -> u32 {
        match self {
            PointerPlace::Root(root) => *st.incoming_roots.get(root),
            PointerPlace::Way(branch, way) => st.incoming_ways.get(branch).0[way],
        }
    }

    #[inline(always)]
    fn set<J: Journal>(self, st: &mut State, j: &mut J, to: u32) {
        match self {
            PointerPlace::Root(root) => st.incoming_roots.set(j, root, to),
            PointerPlace::Way(branch, way) => st.incoming_ways.edit(j, branch).0[way] = to,
        }
    }
}

#[inline(always)]
fn way(hash: u64, level: usize) -> usize {
    (hash >> (BITS as usize * level)) as usize & ((1 << BITS) - 1)
}

/// The root that a message of this hash is behind.
#[inline(always)]
fn root(net: &Network, lp: u32, node: u32, hash: u64) -> u32 {
    let place = net.node_place(lp, node);
    place << net.messages.bucket_bits | (hash >> 32 >> (32 - net.messages.bucket_bits)) as u32
}

/// Finds or makes the record of a message.
pub(crate) fn record<J: Journal>(net: &Network, st: &mut State, j: &mut J, lp: u32, (source, node, label): Key) -> u32 {
    let hash = hash(source, label);
    let mut place = PointerPlace::Root(root(net, lp, node, hash));
    let mut level = 0;
    loop {
        let at = place.get(st);
        if at == NONE {
            let slot = make(net, st, j, lp, source, label);
            place.set(st, j, slot);
            return slot;
        }
        let branch = if at & BRANCH != 0 {
            at & !BRANCH
        } else {
            let other = st.incoming.get(at);
            if (other.source, other.label) == (source, label) {
                return at;
            }
            let way = way(self::hash(other.source, other.label), level);
            let branch = fork(st, j, lp, way, at);
            place.set(st, j, branch | BRANCH);
            branch
        };
        place = PointerPlace::Way(branch, way(hash, level));
        level += 1;
    }
}

/// Records that some events will look for, at most [`FORESEEN`] of routers of one block, being looked up. A record is found by reads each of which tells
/// where the next is, the more the more there are: what every packet would wait for is asked for side by side.
pub(crate) struct Sought {
    seeks: [Seek; FORESEEN],
    count: usize,
}

/// One of them.
#[derive(Clone, Copy)]
struct Seek {
    hash: u64,
    /// The root, then the branch that the lookup has come to.
    place: u32,
    /// Place of the event among the events.
    event: u32,
}

impl Sought {
    /// None.
    #[inline(always)]
    pub(crate) fn new() -> Sought {
        let none = Seek {
            hash: 0,
            place: 0,
            event: 0,
        };
        Sought {
            seeks: [none; FORESEEN],
            count: 0,
        }
    }

    /// Asks the processor for where the lookup of the record of a message begins, which an event of router `lp` will look for that is at this place among
    /// the events.
    #[inline(always)]
    pub(crate) fn ask(&mut self, net: &Network, st: &State, lp: u32, (source, node, label): Key, place: usize) {
        let hash = hash(source, label);
        let root = root(net, lp, node, hash);
        st.incoming_roots.prefetch_one(root);
        self.seeks[self.count] = Seek {
            hash,
            place: root,
            event: place as u32,
        };
        self.count += 1;
    }

    /// Asks for the records; `found` is told of the place of an event among the events and of that of its record.
    #[inline(always)]
    pub(crate) fn follow(&mut self, st: &State, mut found: impl FnMut(usize, u32)) {
        let mut n = self.count;
        let mut records = [(0, 0); FORESEEN];
        let mut n_records = 0;
        for level in 0..LEVELS {
            let mut left = 0;
            for k in 0..n {
                let Seek { hash, place, event } = self.seeks[k];
                let at = match level {
                    0 => PointerPlace::Root(place),
                    _ => PointerPlace::Way(place, way(hash, level - 1)),
                }
                .get(st);
                // Half of all have no record yet: no branch on that, but a line that is asked for in vain.
                let is_record = at & BRANCH == 0;
                let is_branch = !is_record & (at != NONE);
                let place = at & !BRANCH;
                st.incoming
                    .prefetch_one(if is_record { at } else { st.incoming.range().start });
                records[n_records] = (event, at);
                n_records += usize::from(is_record);
                if is_branch {
                    st.incoming_ways.prefetch_one(place);
                }
                self.seeks[left] = Seek { hash, place, event };
                left += usize::from(is_branch);
            }
            n = left;
            if n == 0 {
                break;
            }
        }
        for &(event, record) in &records[..n_records] {
            found(event as usize, record);
        }
    }
}

/// Where the lookup of the record of a packet's message begins, with the message's hash.
#[inline(always)]
fn root_of(net: &Network, lp: u32, packet: &Packet) -> (u32, u64) {
    let hash = hash(packet.source(), packet.label());
    (root(net, lp, packet.destination(), hash), hash)
}

/// Asks for where the lookup of the record of the message of a packet begins, which is at its last router.
#[inline(always)]
pub(crate) fn ask_for_root(net: &Network, st: &State, lp: u32, packet: &Packet) {
    st.incoming_roots.prefetch_one(root_of(net, lp, packet).0);
}

/// Asks for what that lookup comes to behind so many branches, if it does not end before.
#[inline(always)]
pub(crate) fn ask_behind(net: &Network, st: &State, lp: u32, packet: &Packet, branches: usize) {
    let (root, hash) = root_of(net, lp, packet);
    let mut at = *st.incoming_roots.get(root);
    for level in 0..branches {
        if at == NONE || at & BRANCH == 0 {
            return;
        }
        at = st.incoming_ways.get(at & !BRANCH).0[way(hash, level)];
    }
    if at & BRANCH == 0 {
        st.incoming.prefetch_one(at);
    } else if at != NONE {
        st.incoming_ways.prefetch_one(at & !BRANCH);
    }
}

/// Takes the record of a message off, which must be there.
pub(crate) fn take<J: Journal>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    lp: u32,
    (source, node, label): Key,
) -> Incoming {
    let hash = hash(source, label);
    let mut places = [PointerPlace::Root(root(net, lp, node, hash)); LEVELS + 1];
    let mut level = 0;
    let mut slot = places[0].get(st);
    while slot != NONE && slot & BRANCH != 0 {
        places[level + 1] = PointerPlace::Way(slot & !BRANCH, way(hash, level));
        level += 1;
        slot = places[level].get(st);
    }
    let entry = *st.incoming.get(slot);
    if des::CHECKS {
        assert_eq!(
            (entry.source, entry.label),
            (source, label),
            "a record that is not there"
        );
    }
    let free = &mut st.routers.edit(j, lp).free_incoming;
    st.incoming.edit(j, slot).next = *free;
    *free = slot;
    places[level].set(st, j, NONE);
    // A branch that has one record left gives way to it.
    while let PointerPlace::Way(branch, _) = places[level] {
        let mut left = st.incoming_ways.get(branch).0.iter().filter(|&&way| way != NONE);
        let (Some(&only), None) = (left.next(), left.next()) else {
            break;
        };
        if only & BRANCH != 0 {
            break;
        }
        let free = &mut st.routers.edit(j, lp).free_ways;
        st.incoming_ways.edit(j, branch).0[0] = *free;
        *free = branch;
        level -= 1;
        places[level].set(st, j, only);
    }
    entry
}

/// Shows all records behind a root, in an order that depends on nothing but what they are.
pub(crate) fn behind(st: &State, root: u32, show: &mut dyn FnMut(u32)) {
    fn follow(st: &State, at: u32, show: &mut dyn FnMut(u32)) {
        match at {
            NONE => {}
            at if at & BRANCH != 0 => {
                for &way in &st.incoming_ways.get(at & !BRANCH).0 {
                    follow(st, way, show);
                }
            }
            slot => show(slot),
        }
    }
    follow(st, *st.incoming_roots.get(root), show);
}

/// An empty record.
fn make<J: Journal>(net: &Network, st: &mut State, j: &mut J, lp: u32, source: u32, label: Label) -> u32 {
    let entry = Incoming {
        left: 0,
        bytes: 0,
        birth: u64::MAX,
        latest: 0,
        source,
        next: NONE,
        label,
        hops: 0,
        about: 0,
        parts: 0,
        delivered: 0,
        sizeless: 0,
        rest: 0,
        lost: 0,
    };
    let free = st.routers.get(lp).free_incoming;
    if free == NONE {
        return stock(st, j, lp, entry, 1 << net.messages.bucket_bits.min(4));
    }
    let next = st.incoming.get(free).next;
    st.routers.edit(j, lp).free_incoming = next;
    if next != NONE {
        // For the message after this one.
        st.incoming.prefetch_one(next);
    }
    st.incoming.set(j, free, entry);
    free
}

/// Makes `count` new records side by side: `entry` is the first, the others are free. Nodes that have many at a time have them in few
/// pages of memory.
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

/// A branch with one way so far.
fn fork<J: Journal>(st: &mut State, j: &mut J, lp: u32, way: usize, to: u32) -> u32 {
    let mut ways = Ways([NONE; 1 << BITS]);
    ways.0[way] = to;
    let free = st.routers.get(lp).free_ways;
    if free == NONE {
        return st.incoming_ways.push(j, ways);
    }
    st.routers.edit(j, lp).free_ways = st.incoming_ways.get(free).0[0];
    st.incoming_ways.set(j, free, ways);
    free
}
