//! A memory node as bytes, for checkpoints: every list as its elements in order, accesses by their numbers on the node.

use super::message;
use super::plan::Plan;
use super::protocol::{COPIES, HOMES};
use super::state::{Access, Entry, MemoryColumns, Miss, Node, Performed, Readers, Request};
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
        Node {
            clock,
            asked,
            ..Node::default()
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
                Entry {
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
    let j = &mut NoJournal;
    let shape = &plan.shape;
    let of = |each: u32| place * each..(place + 1) * each;
    let refuse = || Torn("a memory node has what there is none of");
    let there = |ok: bool| ok.then_some(()).ok_or_else(refuse);
    let known = |line: u64| there(line < shape.all_lines());
    let node_or_none = |node: u32| there(node == NONE || node < shape.nodes);
    let mut node: Node = take(input)?;
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
        if record.busy != 0 {
            known(record.line)?;
        }
        st.accesses.set(j, access, record);
    }
    let first = place * shape.accesses();
    let waiting = |st: &mut MemoryColumns, input: &mut &[u8]| -> Result<(u32, u32), Torn> {
        let j = &mut NoJournal;
        let (mut head, mut last) = (NONE, NONE);
        for _ in 0..take::<u32>(input)? {
            let number: u32 = take(input)?;
            there(number < shape.accesses())?;
            let at = first + number;
            match last {
                NONE => head = at,
                _ => st.accesses.edit(j, last).next = at,
            }
            last = at;
        }
        Ok((head, last))
    };
    (node.first, node.last) = waiting(st, input)?;
    let mut last = NONE;
    for _ in 0..take::<u32>(input)? {
        let mut miss: Miss = take(input)?;
        known(miss.line)?;
        there((miss.state as usize) < COPIES.len())?;
        node_or_none(miss.held_for)?;
        (miss.first, miss.last) = waiting(st, input)?;
        let at = st.misses.push(j, miss);
        match last {
            NONE => node.misses = at,
            _ => st.misses.edit(j, last).next = at,
        }
        last = at;
    }
    let mut last = NONE;
    for _ in 0..take::<u32>(input)? {
        let at = st.performed.push(j, take(input)?);
        match last {
            NONE => node.performed = at,
            _ => st.performed.edit(j, last).next = at,
        }
        last = at;
    }
    st.nodes.set(j, place, node);
    for bucket in of(1 << shape.bucket_bits) {
        let mut last = NONE;
        for _ in 0..take::<u32>(input)? {
            let mut entry: Entry = take(input)?;
            known(entry.line)?;
            there((entry.state as usize) < HOMES.len())?;
            [entry.owner, entry.asker].into_iter().try_for_each(node_or_none)?;
            let mut before = NONE;
            for _ in 0..take::<u32>(input)? {
                let readers: Readers = take(input)?;
                let last = readers.bits.checked_ilog2();
                there(last.is_some_and(|bit| u64::from(readers.word) * 64 + u64::from(bit) < shape.nodes.into()))?;
                let at = st.readers.push(j, readers);
                match before {
                    NONE => entry.readers = at,
                    _ => st.readers.edit(j, before).next = at,
                }
                before = at;
            }
            for _ in 0..take::<u32>(input)? {
                let request: Request = take(input)?;
                there((request.say as usize) < message::ALL.len() && request.from < shape.nodes)?;
                let at = st.requests.push(j, request);
                match entry.last {
                    NONE => entry.first = at,
                    _ => st.requests.edit(j, entry.last).next = at,
                }
                entry.last = at;
            }
            let at = st.entries.push(j, entry);
            match last {
                NONE => st.entry_heads.set(j, bucket, at),
                _ => st.entries.edit(j, last).next = at,
            }
            last = at;
        }
    }
    Ok(())
}
