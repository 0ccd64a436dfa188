//! Room of a router's host buffer on its way back to a node's interface.

use super::{Nic, State};
use bytemuck::{Pod, Zeroable};
use des::Journal;
use std::iter::successors;

/// What comes back to the interface of a node: the first of a list of records, at the node's place, holds what was put there last. One cache line.
///
/// Nothing is all zeros, so that memory is taken up where there is something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Returns {
    /// When each counts (ps).
    pub times: [u64; Returns::MOST],
    /// Its bytes; 0 where there is none.
    pub bytes: [u32; Returns::MOST],
    /// The next record of the list; 0 if there is none: the records of nodes come before all that are behind one.
    pub next: u32,
}

const _: () = assert!(size_of::<Returns>() == 64, "what comes back is one cache line");

impl Returns {
    /// What a record has room for.
    pub const MOST: usize = 5;

    /// When what it holds counts (ps), and the bytes.
    fn entries(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        let all = self.times.iter().copied().zip(self.bytes.iter().copied());
        all.filter(|&(_, bytes)| bytes != 0)
    }
}

/// The records of the node at `place`; none in a run that keeps none.
fn records(st: &State, place: u32) -> impl Iterator<Item = &Returns> {
    let first = (!st.returns.is_empty()).then(|| st.returns.get(place));
    successors(first, |record| (record.next != 0).then(|| st.returns.get(record.next)))
}

/// All that is on its way to the node at `place`: when it counts (ps), and the bytes; in an order that means nothing.
pub fn all(st: &State, place: u32) -> impl Iterator<Item = (u64, u32)> + '_ {
    records(st, place).flat_map(Returns::entries)
}

/// When the first of it counts (ps), `u64::MAX` if there is nothing.
pub fn first(st: &State, place: u32) -> u64 {
    let mut first = u64::MAX;
    for record in records(st, place) {
        for at in 0..Returns::MOST {
            if record.bytes[at] != 0 {
                first = first.min(record.times[at]);
            }
        }
    }
    first
}

/// The room (bytes) of the node at `place` with all that is on its way to it.
pub fn in_all(st: &State, place: u32) -> i64 {
    let coming: u64 = all(st, place).map(|(_, bytes)| u64::from(bytes)).sum();
    i64::from(st.nics.get(place).credit) + coming as i64
}

/// Puts `bytes`, which are not 0 and count at `time`, into the first record of the node at `place`; `false`: it has no room.
#[inline(always)]
pub fn put<J: Journal>(st: &mut State, j: &mut J, place: u32, time: u64, bytes: u32) -> bool {
    let record = st.returns.edit(j, place);
    for at in 0..Returns::MOST {
        if record.bytes[at] == 0 {
            (record.times[at], record.bytes[at]) = (time, bytes);
            return true;
        }
    }
    false
}

/// Puts them with what is on its way to the node at `place`, of router `lp`, whether the first record has room or not.
pub fn add<J: Journal>(st: &mut State, j: &mut J, (lp, place): (u32, u32), time: u64, bytes: u32) {
    if !put(st, j, place, time, bytes) {
        make_room(st, j, lp, place);
        put(st, j, place, time, bytes);
    }
}

/// Empties the first record of the node at `place`: what it holds goes into another.
fn make_room<J: Journal>(st: &mut State, j: &mut J, lp: u32, place: u32) {
    let full = *st.returns.get(place);
    let next = match st.routers.get(lp).free_returns {
        0 => st.returns.push(j, full),
        free => {
            st.routers.edit(j, lp).free_returns = st.returns.get(free).next;
            st.returns.set(j, free, full);
            free
        }
    };
    let record = Returns {
        next,
        ..Returns::default()
    };
    st.returns.set(j, place, record);
}

/// Takes all that counts at `until` (ps) or before from the node at `place`, of router `lp`: its bytes.
pub fn take<J: Journal>(st: &mut State, j: &mut J, lp: u32, place: u32, until: u64) -> u32 {
    let mut taken = 0;
    let (mut before, mut at) = (place, place);
    loop {
        let record = st.returns.edit(j, at);
        for (time, bytes) in record.times.iter().zip(&mut record.bytes) {
            if *time <= until {
                taken += std::mem::take(bytes);
            }
        }
        let next = record.next;
        if at != place && record.bytes == [0; Returns::MOST] {
            let router = st.routers.edit(j, lp);
            record.next = std::mem::replace(&mut router.free_returns, at);
            st.returns.edit(j, before).next = next;
        } else {
            before = at;
        }
        if next == 0 {
            return taken;
        }
        at = next;
    }
}

/// The room (bytes) of the node at `place` where everything before `now` is done, with what may as well count now, and what else is on its way to it,
/// the first first.
pub fn settled(st: &State, place: u32, now: u64) -> (i32, Vec<(u64, u32)>) {
    let nic = st.nics.get(place);
    // What waits for room starts when it comes, all else not before the link is idle.
    let until = if nic.is(Nic::BLOCKED) { 0 } else { now.max(nic.free) };
    let (here, mut coming): (Vec<_>, Vec<_>) = all(st, place).partition(|&(time, _)| time <= until);
    coming.sort_unstable();
    let here: u32 = here.iter().map(|&(_, bytes)| bytes).sum();
    (nic.credit + here as i32, coming)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Router;
    use des::{Log, NoJournal};
    use proptest::prelude::*;

    /// Two nodes of one router.
    fn empty() -> State {
        let mut st = State::default();
        st.routers.fill(0, vec![Router::zeroed()]);
        st.nics.fill(7, vec![Nic::zeroed(); 2]);
        st.returns.fill(7, bytemuck::zeroed_vec(2));
        st
    }

    fn sorted(st: &State, place: u32) -> Vec<(u64, u32)> {
        let mut all: Vec<_> = all(st, place).collect();
        all.sort_unstable();
        all
    }

    proptest! {
        /// What is put is there until it is taken, of either node, whatever the order; an undo brings all of it back.
        #[test]
        fn lists_hold_what_is_put_until_it_is_taken(
            steps in prop::collection::vec((0u32..2, 0u64..40, 0u32..2_000), 1..200),
        ) {
            let mut st = empty();
            let mut expected = [Vec::new(), Vec::new()];
            for &(node, time, bytes) in &steps {
                let list = &mut expected[node as usize];
                if bytes == 0 || bytes > 1_600 {
                    let taken = take(&mut st, &mut NoJournal, 0, 7 + node, time);
                    let due = list.iter().filter(|&&(at, _)| at <= time).map(|&(_, bytes)| bytes);
                    prop_assert_eq!(taken, due.sum::<u32>());
                    list.retain(|&(at, _)| at > time);
                } else {
                    add(&mut st, &mut NoJournal, (0, 7 + node), time, bytes);
                    list.push((time, bytes));
                }
                for (node, list) in expected.iter_mut().enumerate() {
                    list.sort_unstable();
                    let place = 7 + node as u32;
                    prop_assert_eq!(&sorted(&st, place), &*list);
                    prop_assert_eq!(first(&st, place), list.first().map_or(u64::MAX, |&(time, _)| time));
                    let bytes: i64 = list.iter().map(|&(_, bytes)| i64::from(bytes)).sum();
                    prop_assert_eq!(in_all(&st, place), bytes);
                }
            }
            let before = [sorted(&st, 7), sorted(&st, 8)];
            let mut log = Log::default();
            for &(node, time, bytes) in &steps {
                add(&mut st, &mut log, (0, 7 + node), time, bytes + 1);
                take(&mut st, &mut log, 0, 8 - node, time / 2);
            }
            log.undo(&mut st);
            prop_assert_eq!([sorted(&st, 7), sorted(&st, 8)], before);
        }
    }

    /// Records are used again: a list that has been long takes no more than it has.
    #[test]
    fn records_are_used_again() {
        let mut st = empty();
        for turn in 0..100 {
            for time in 0..23 {
                add(&mut st, &mut NoJournal, (0, 7), turn * 100 + time, 64);
            }
            assert_eq!(take(&mut st, &mut NoJournal, 0, 7, u64::MAX), 23 * 64);
        }
        assert!(
            st.returns.len() <= 2 + 23usize.div_ceil(Returns::MOST),
            "{}",
            st.returns.len()
        );
    }

    /// Who waits for room has none of what is to come; all others have what counts before they can start anything.
    #[test]
    fn what_may_as_well_count_is_counted() {
        let mut st = empty();
        for time in [10, 20, 30] {
            add(&mut st, &mut NoJournal, (0, 7), time, 100);
        }
        assert_eq!(settled(&st, 7, 10), (100, vec![(20, 100), (30, 100)]));
        st.nics.edit(&mut NoJournal, 7).free = 25;
        assert_eq!(settled(&st, 7, 10), (200, vec![(30, 100)]));
        st.nics.edit(&mut NoJournal, 7).target = Nic::BLOCKED;
        assert_eq!(settled(&st, 7, 10).0, 0);
    }
}
