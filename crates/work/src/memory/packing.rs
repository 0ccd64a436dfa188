//! A memory node as bytes, for checkpoints: every list as its elements in order, accesses by their numbers on the node.

use super::message;
use super::plan::Plan;
use super::protocol::{COPIES, HOMES};
use super::shape::Shape;
use super::state::{Access, DirectoryEntry, MemoryColumns, MemoryNode, Miss, Performed, Readers, Request};
use des::checkpoint::{put, take};
use des::lists::{NONE, places, put_elements};
use des::{NoJournal, Torn};

/// Appends the node at `place`.
pub fn pack(plan: &Plan, st: &MemoryColumns, place: u32, out: &mut Vec<u8>) {
    let shape = &plan.shape;
    let of = |each: u32| place * each..(place + 1) * each;
    let node = *st.nodes.get(place);
    let (clock, asked) = (node.clock, node.asked);
    put(
        out,
        MemoryNode {
            clock,
            asked,
            ..MemoryNode::default()
        },
    );
    put(out, *st.beyond.get(place));
    of(shape.cores).for_each(|core| put(out, *st.cores.get(core)));
    of(shape.cores * shape.l1.lines()).for_each(|line| put(out, *st.l1_lines.get(line)));
    of(shape.l2.lines()).for_each(|line| put(out, *st.l2_lines.get(line)));
    of(shape.directory.lines()).for_each(|line| put(out, *st.directory_lines.get(line)));
    of(shape.banks).for_each(|bank| put(out, *st.banks.get(bank)));
    let first = place * shape.accesses();
    for access in of(shape.accesses()) {
        let access = *st.accesses.get(access);
        put(out, Access { next: NONE, ..access });
    }
    let waiting = |out: &mut Vec<u8>, head: u32| {
        put_elements(out, places(head, |at| st.accesses.get(at).next), |out, at| {
            put(out, at - first);
        });
    };
    waiting(out, node.first);
    put_elements(out, places(node.misses, |at| st.misses.get(at).next), |out, at| {
        let miss = *st.misses.get(at);
        let (next, first, last) = (NONE, NONE, NONE);
        put(
            out,
            Miss {
                next,
                first,
                last,
                ..miss
            },
        );
        waiting(out, miss.first);
    });
    let performed = places(node.performed, |at| st.performed.get(at).next);
    put_elements(out, performed, |out, at| {
        let performed = *st.performed.get(at);
        put(
            out,
            Performed {
                next: NONE,
                ..performed
            },
        );
    });
    for bucket in of(1 << shape.bucket_bits) {
        let heads = places(*st.entry_heads.get(bucket), |at| st.entries.get(at).next);
        put_elements(out, heads, |out, at| {
            let entry = *st.entries.get(at);
            let (next, readers, first, last) = (NONE, NONE, NONE, NONE);
            put(
                out,
                DirectoryEntry {
                    next,
                    readers,
                    first,
                    last,
                    ..entry
                },
            );
            put_elements(out, places(entry.readers, |at| st.readers.get(at).next), |out, at| {
                let readers = *st.readers.get(at);
                put(out, Readers { next: NONE, ..readers });
            });
            put_elements(out, places(entry.first, |at| st.requests.get(at).next), |out, at| {
                let request = *st.requests.get(at);
                put(out, Request { next: NONE, ..request });
            });
        });
    }
}

/// Sets the node at `place`, as it was before the first event, to what [`pack`] has written.
pub fn unpack(plan: &Plan, st: &mut MemoryColumns, place: u32, input: &mut &[u8]) -> Result<(), Torn> {
    let shape = &plan.shape;
    let mut node: MemoryNode = take(input)?;
    unpack_parts(shape, st, place, input)?;
    (node.first, node.last) = unpack_waiting(shape, st, place, input)?;
    node.misses = unpack_misses(shape, st, place, input)?;
    let mut performed = Growing::EMPTY;
    for _ in 0..take::<u32>(input)? {
        let at = st.performed.push(&mut NoJournal, take(input)?);
        if let Some(last) = performed.append(at) {
            st.performed.edit(&mut NoJournal, last).next = at;
        }
    }
    node.performed = performed.head;
    st.nodes.set(&mut NoJournal, place, node);
    for bucket in place << shape.bucket_bits..(place + 1) << shape.bucket_bits {
        unpack_entries(shape, st, bucket, input)?;
    }
    Ok(())
}

/// A list that is built from its first element on.
struct Growing {
    head: u32,
    last: u32,
}

impl Growing {
    const EMPTY: Growing = Growing { head: NONE, last: NONE };

    /// Puts an element at the end; returns the one before it, whose next it is.
    fn append(&mut self, at: u32) -> Option<u32> {
        let before = self.last;
        self.last = at;
        if before == NONE {
            self.head = at;
            return None;
        }
        Some(before)
    }
}

/// Refuses what a node cannot have.
fn there(ok: bool) -> Result<(), Torn> {
    ok.then_some(()).ok_or(Torn("a memory node has what there is none of"))
}

/// The records that a node has a fixed number of: cores, caches, banks, places for accesses.
fn unpack_parts(shape: &Shape, st: &mut MemoryColumns, place: u32, input: &mut &[u8]) -> Result<(), Torn> {
    let j = &mut NoJournal;
    let of = |each: u32| place * each..(place + 1) * each;
    st.beyond.set(j, place, take(input)?);
    for core in of(shape.cores) {
        st.cores.set(j, core, take(input)?);
    }
    for line in of(shape.cores * shape.l1.lines()) {
        st.l1_lines.set(j, line, take(input)?);
    }
    for line in of(shape.l2.lines()) {
        st.l2_lines.set(j, line, take(input)?);
        let state = st.l2_lines.get(line).state;
        there(usize::from(state) < COPIES.len())?;
    }
    for line in of(shape.directory.lines()) {
        st.directory_lines.set(j, line, take(input)?);
    }
    for bank in of(shape.banks) {
        st.banks.set(j, bank, take(input)?);
    }
    for access in of(shape.accesses()) {
        let record: Access = take(input)?;
        there(record.busy == 0 || record.line < shape.all_lines())?;
        st.accesses.set(j, access, record);
    }
    Ok(())
}

/// A list of accesses of the node that wait: the first and the last.
fn unpack_waiting(shape: &Shape, st: &mut MemoryColumns, place: u32, input: &mut &[u8]) -> Result<(u32, u32), Torn> {
    let mut list = Growing::EMPTY;
    for _ in 0..take::<u32>(input)? {
        let number: u32 = take(input)?;
        there(number < shape.accesses())?;
        let at = place * shape.accesses() + number;
        if let Some(last) = list.append(at) {
            st.accesses.edit(&mut NoJournal, last).next = at;
        }
    }
    Ok((list.head, list.last))
}

/// The lines that the node waits for, or waits to be rid of: the first.
fn unpack_misses(shape: &Shape, st: &mut MemoryColumns, place: u32, input: &mut &[u8]) -> Result<u32, Torn> {
    let mut list = Growing::EMPTY;
    for _ in 0..take::<u32>(input)? {
        let mut miss: Miss = take(input)?;
        there(miss.line < shape.all_lines() && (miss.state as usize) < COPIES.len())?;
        there(miss.held_for == NONE || miss.held_for < shape.nodes)?;
        (miss.first, miss.last) = unpack_waiting(shape, st, place, input)?;
        let at = st.misses.push(&mut NoJournal, miss);
        if let Some(last) = list.append(at) {
            st.misses.edit(&mut NoJournal, last).next = at;
        }
    }
    Ok(list.head)
}

/// The lines of a home in one of its lists, with their readers and the requests that wait for them.
fn unpack_entries(shape: &Shape, st: &mut MemoryColumns, bucket: u32, input: &mut &[u8]) -> Result<(), Torn> {
    let j = &mut NoJournal;
    let node_or_none = |node: u32| there(node == NONE || node < shape.nodes);
    let mut list = Growing::EMPTY;
    for _ in 0..take::<u32>(input)? {
        let mut entry: DirectoryEntry = take(input)?;
        there(entry.line < shape.all_lines() && (entry.state as usize) < HOMES.len())?;
        [entry.owner, entry.asker].into_iter().try_for_each(node_or_none)?;
        let mut sets = Growing::EMPTY;
        for _ in 0..take::<u32>(input)? {
            let readers: Readers = take(input)?;
            let last = readers.bits.checked_ilog2();
            there(last.is_some_and(|bit| u64::from(readers.word) * 64 + u64::from(bit) < shape.nodes.into()))?;
            let at = st.readers.push(j, readers);
            if let Some(last) = sets.append(at) {
                st.readers.edit(j, last).next = at;
            }
        }
        entry.readers = sets.head;
        let mut requests = Growing::EMPTY;
        for _ in 0..take::<u32>(input)? {
            let request: Request = take(input)?;
            there((request.say as usize) < message::ALL.len() && request.from < shape.nodes)?;
            let at = st.requests.push(j, request);
            if let Some(last) = requests.append(at) {
                st.requests.edit(j, last).next = at;
            }
        }
        (entry.first, entry.last) = (requests.head, requests.last);
        let at = st.entries.push(j, entry);
        if let Some(last) = list.append(at) {
            st.entries.edit(j, last).next = at;
        }
    }
    st.entry_heads.set(j, bucket, list.head);
    Ok(())
}
