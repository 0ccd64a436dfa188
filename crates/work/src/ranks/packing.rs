//! The ranks of a node as bytes, for checkpoints: every list as its elements in order.

use super::Plans;
use super::state::{BegunCollective, Item, PeerRank, Rank, RankColumns};
use crate::mpi::graph::state::{GraphProgress, ItemList};
use crate::mpi::{CollectiveKind, graph};
use des::checkpoint::{put, take};
use des::lists::{NONE, places, put_elements};
use des::{NoJournal, Torn};

/// Appends the ranks of the host whose first node is at `place`.
pub fn pack(plans: &Plans, st: &RankColumns, place: u32, out: &mut Vec<u8>) {
    let list = |out: &mut Vec<u8>, head: u32| {
        put_elements(out, places(head, |slot| st.items.get(slot).next), |out, slot| {
            let item = *st.items.get(slot);
            put(out, Item { next: NONE, ..item });
        });
    };
    for slot in plans.first_slot(place)..plans.first_slot(place + plans.rails) {
        let rank = *st.ranks.get(slot);
        let (wild, collectives, inbox) = (NONE, NONE, NONE);
        put(
            out,
            Rank {
                wild,
                collectives,
                inbox,
                ..rank
            },
        );
        list(out, rank.wild);
        list(out, rank.inbox);
        let begun = places(rank.collectives, |slot| st.begun.get(slot).next);
        put_elements(out, begun, |out, slot| {
            let next = NONE;
            put(
                out,
                BegunCollective {
                    next,
                    ..*st.begun.get(slot)
                },
            );
        });
        for peers in plans.lists_of(slot) {
            put_elements(out, st.peers_in(peers), |out, peer| {
                let peer = *st.peer(peer);
                let (posted, arrived, pending) = (NONE, NONE, NONE);
                put(
                    out,
                    PeerRank {
                        posted,
                        arrived,
                        pending,
                        ..peer
                    },
                );
                for head in [peer.posted, peer.arrived, peer.pending] {
                    list(out, head);
                }
            });
        }
        if let Some(progress) = graph_of(st, slot) {
            graph::pack(&st.graph, slot, out);
            for place in progress.lists..progress.lists + progress.n_lists() {
                list(out, st.graph.lists.get(place).head);
            }
        }
    }
}

/// Where a rank is in its graphs, if it has some.
fn graph_of(st: &RankColumns, slot: u32) -> Option<GraphProgress> {
    let there = !st.graph.progress.is_empty() && st.graph.progress.get(slot).n_lanes > 0;
    there.then(|| *st.graph.progress.get(slot))
}

/// Sets the ranks of the host whose first node is at `place`, as they were before the first event, to what [`pack`] has written. `known` tells whether a
/// job has a rank of this number.
pub fn unpack(
    plans: &Plans,
    known: impl Fn(u32) -> bool,
    st: &mut RankColumns,
    place: u32,
    input: &mut &[u8],
) -> Result<(), Torn> {
    let j = &mut NoJournal;
    let refuse = Torn("it names a rank that is not there");
    fn list(st: &mut RankColumns, input: &mut &[u8]) -> Result<u32, Torn> {
        Ok(whole_list(st, input)?.head)
    }
    fn whole_list(st: &mut RankColumns, input: &mut &[u8]) -> Result<ItemList, Torn> {
        let j = &mut NoJournal;
        let (mut head, mut last) = (NONE, NONE);
        for _ in 0..take::<u32>(input)? {
            let item: Item = take(input)?;
            let slot = st.items.push(j, item);
            match last {
                NONE => head = slot,
                _ => st.items.edit(j, last).next = slot,
            }
            last = slot;
        }
        Ok(ItemList { head, tail: last })
    }
    fn collectives(st: &mut RankColumns, input: &mut &[u8]) -> Result<u32, Torn> {
        let j = &mut NoJournal;
        let (mut head, mut last) = (NONE, NONE);
        for _ in 0..take::<u32>(input)? {
            let own: BegunCollective = take(input)?;
            if usize::from(own.kind) >= CollectiveKind::ALL.len() {
                return Err(Torn("it has a collective that is none"));
            }
            let slot = st.begun.push(j, own);
            match last {
                NONE => head = slot,
                _ => st.begun.edit(j, last).next = slot,
            }
            last = slot;
        }
        Ok(head)
    }
    for slot in plans.first_slot(place)..plans.first_slot(place + plans.rails) {
        let mut rank: Rank = take(input)?;
        rank.wild = list(st, input)?;
        rank.inbox = list(st, input)?;
        rank.collectives = collectives(st, input)?;
        st.ranks.set(j, slot, rank);
        for peers in plans.lists_of(slot) {
            for _ in 0..take::<u32>(input)? {
                let mut peer: PeerRank = take(input)?;
                if !known(peer.rank) {
                    return Err(refuse);
                }
                peer.posted = list(st, input)?;
                peer.arrived = list(st, input)?;
                peer.pending = list(st, input)?;
                let place = st.add_peer(j, peers, peer.rank);
                *st.edit_peer(j, place) = peer;
            }
        }
        if let Some(progress) = graph_of(st, slot) {
            graph::unpack(&mut st.graph, slot, input)?;
            for place in progress.lists..progress.lists + progress.n_lists() {
                let list = whole_list(st, input)?;
                st.graph.lists.set(j, place, list);
            }
        }
    }
    Ok(())
}
