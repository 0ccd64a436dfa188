//! Who a rank has talked to: a few lists, by the other rank's number, of groups of peers that stand side by side.
//!
//! The place of a peer is eight times that of its group and its number there.

use super::Plans;
use super::state::{PEERS, PeerGroup, PeerRank, RankColumns};
use bytemuck::Zeroable;
use des::Journal;
use des::lists::{NONE, places};

/// Bits of a place that are a number in a group.
const NUMBER: u32 = PEERS.next_power_of_two().ilog2();

/// The number that a place has in its group.
#[inline(always)]
fn number(place: u32) -> usize {
    (place & ((1 << NUMBER) - 1)) as usize
}

/// Nobody.
const NOBODY: PeerRank = PeerRank {
    rank: NONE,
    posted: NONE,
    arrived: NONE,
    pending: NONE,
    sent: 0,
    expected: 0,
};

impl PeerGroup {
    /// The number of the peer of this rank; of [`NONE`] that of the first that is free.
    #[inline(always)]
    fn find(&self, rank: u32) -> Option<u32> {
        // No branch on each: which of them it is nobody can tell.
        let mut found = 0;
        for (number, peer) in self.peers.iter().enumerate() {
            found |= u32::from(peer.rank == rank) << number;
        }
        (found != 0).then(|| found.trailing_zeros())
    }
}

impl Plans {
    /// The list of the rank in a slot that another rank is in.
    #[inline(always)]
    pub fn list_of(&self, slot: u32, other: u32) -> u32 {
        // Of no bits, where there is one list, the shift leaves none.
        let hash = u64::from(other.wrapping_mul(0x9E37_79B1)) >> (32 - self.list_bits);
        (slot << self.list_bits) + hash as u32
    }

    /// The lists of the rank in a slot.
    pub fn lists_of(&self, slot: u32) -> std::ops::Range<u32> {
        slot << self.list_bits..(slot + 1) << self.list_bits
    }
}

impl RankColumns {
    /// The record of a peer.
    #[inline(always)]
    pub fn peer(&self, place: u32) -> &PeerRank {
        &self.peers.get(place >> NUMBER).peers[number(place)]
    }

    /// The same to be changed.
    #[inline(always)]
    pub fn edit_peer<J: Journal>(&mut self, j: &mut J, place: u32) -> &mut PeerRank {
        &mut self.peers.edit(j, place >> NUMBER).peers[number(place)]
    }

    /// The place of another rank among the peers in a list.
    #[inline(always)]
    pub fn find_peer(&self, list: u32, other: u32) -> Option<u32> {
        let mut group = *self.peer_heads.get(list);
        while group != NONE {
            let here = self.peers.get(group);
            if let Some(number) = here.find(other) {
                return Some(group << NUMBER | number);
            }
            group = here.next;
        }
        None
    }

    /// Puts another rank behind the peers in a list, which does not have it; returns its place.
    pub fn add_peer<J: Journal>(&mut self, j: &mut J, list: u32, other: u32) -> u32 {
        let mut last = NONE;
        for group in places(*self.peer_heads.get(list), |group| self.peers.get(group).next) {
            last = group;
        }
        let free = match last {
            NONE => None,
            last => self.peers.get(last).find(NONE),
        };
        let place = match free {
            Some(number) => last << NUMBER | number,
            None => {
                let empty = PeerGroup {
                    peers: [NOBODY; PEERS],
                    next: NONE,
                    ..PeerGroup::zeroed()
                };
                let group = self.peers.push(j, empty);
                // 64 GiB of them in one block.
                assert!(group < 1 << (32 - NUMBER), "more groups of peers than have places");
                match last {
                    NONE => self.peer_heads.set(j, list, group),
                    last => self.peers.edit(j, last).next = group,
                }
                group << NUMBER
            }
        };
        self.edit_peer(j, place).rank = other;
        place
    }

    /// The places of the peers in a list, in the order in which they were met.
    pub fn peers_in(&self, list: u32) -> impl Iterator<Item = u32> {
        let groups = places(*self.peer_heads.get(list), |group| self.peers.get(group).next);
        let all = groups.flat_map(|group| (0..PEERS as u32).map(move |number| group << NUMBER | number));
        all.filter(|&place| self.peer(place).rank != NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use des::{NoJournal, mix};

    /// As many peers as some groups have in each of a few lists, beside plain lists of the same.
    #[test]
    fn peers_are_found_where_they_were_put_and_told_in_the_order_in_which_they_were_met() {
        let mut columns = RankColumns::default();
        columns.peer_heads.fill(7, vec![NONE; 5]);
        let mut plain: Vec<Vec<u32>> = vec![Vec::new(); 5];
        for drawn in (0..400).map(|i| mix(i) % 1_000) {
            let (list, other) = (drawn % 5, drawn as u32);
            let known = &mut plain[list as usize];
            let place = columns.find_peer(7 + list as u32, other);
            assert_eq!(place.is_some(), known.contains(&other));
            let place = place.unwrap_or_else(|| {
                known.push(other);
                columns.add_peer(&mut NoJournal, 7 + list as u32, other)
            });
            columns.edit_peer(&mut NoJournal, place).sent += 1;
            assert_eq!(columns.peer(place).rank, other);
        }
        let mut messages = 0;
        for (list, known) in (7..).zip(&plain) {
            let peers: Vec<PeerRank> = columns.peers_in(list).map(|place| *columns.peer(place)).collect();
            assert!(peers.iter().map(|peer| peer.rank).eq(known.iter().copied()));
            messages += peers.iter().map(|peer| u32::from(peer.sent)).sum::<u32>();
        }
        assert_eq!(messages, 400);
        let groups: usize = plain.iter().map(|known| known.len().div_ceil(PEERS)).sum();
        assert_eq!(
            columns.peers.len(),
            groups,
            "a group is full before the next one begins"
        );
    }
}
