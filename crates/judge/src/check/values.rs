//! What accesses have seen, checked after the run: every line by itself behaves like one place of memory.
//!
//! A store writes the number of stores to its line before it, plus one. If caches and directory do what they should, whatever engine, network
//! and order of messages there were, then stores to a line see 0, 1, 2 and so on, each number once and at times that do not fall, and a load
//! sees what was there at some time between its being given out and its being performed. That is linearizability of each line
//! (Herlihy and Wing, Linearizability: a correctness condition for concurrent objects, 1990), with versions for values.

use work::memory::state::Performed;

/// What a check of values has found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Lines that were accessed.
    pub lines: u64,
    /// Loads.
    pub loads: u64,
    /// Stores.
    pub stores: u64,
    /// Loads of what another core had stored.
    pub from_others: u64,
}

/// Checks accesses in any order; the first contradiction in words, if there is one.
pub fn check(rows: &[Performed]) -> Result<Seen, String> {
    let mut rows: Vec<&Performed> = rows.iter().collect();
    rows.sort_unstable_by_key(|row| (row.line, row.store == 0, row.version, row.at, row.core));
    let mut seen = Seen::default();
    for line in rows.chunk_by(|a, b| a.line == b.line) {
        let (stores, loads) = line.split_at(line.partition_point(|row| row.store != 0));
        in_turn(stores)?;
        seen.lines += 1;
        seen.stores += stores.len() as u64;
        for load in loads {
            let writer = in_time(load, stores)?;
            seen.loads += 1;
            seen.from_others += u64::from(writer.is_some_and(|core| core != load.core));
        }
    }
    Ok(seen)
}

/// Every store to a line sees the one before it.
fn in_turn(stores: &[&Performed]) -> Result<(), String> {
    let mut before: Option<&Performed> = None;
    for (version, store) in stores.iter().enumerate() {
        let late = before.is_some_and(|before| before.at > store.at);
        if store.version as usize != version || late {
            let last = match before {
                Some(before) => format!("the one before it was of core {} at {} ps", before.core, before.at),
                None => "it was the first".to_owned(),
            };
            return Err(format!(
                "a store of core {} to line {} at {} ps saw version {} where {version} was due; {last}",
                store.core, store.line, store.at, store.version
            ));
        }
        before = Some(store);
    }
    Ok(())
}

/// A load sees what was there while it was under way; the core that wrote it, if one did.
fn in_time(load: &Performed, stores: &[&Performed]) -> Result<Option<u32>, String> {
    let version = load.version as usize;
    let told = |what: String| {
        Err(format!(
            "a load of core {} of line {}, given out at {} ps and performed at {} ps, saw version {version}, {what}",
            load.core, load.line, load.issued, load.at
        ))
    };
    if version > stores.len() {
        return told(format!("and there were {} stores", stores.len()));
    }
    let writer = version.checked_sub(1).map(|before| stores[before]);
    if let Some(writer) = writer.filter(|writer| writer.at > load.at) {
        return told(format!("which core {} stored later, at {} ps", writer.core, writer.at));
    }
    if let Some(next) = stores.get(version).filter(|next| next.at < load.issued) {
        return told(format!("which core {} had replaced at {} ps", next.core, next.at));
    }
    Ok(writer.map(|writer| writer.core))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An access of core, store or load, that saw a version between two times.
    fn row(core: u32, store: bool, version: u32, issued: u64, at: u64) -> Performed {
        Performed {
            line: 7,
            issued,
            at,
            version,
            store: store.into(),
            core,
            next: 0,
        }
    }

    #[test]
    fn loads_see_what_was_there_while_they_were_under_way() {
        let rows = [
            row(0, true, 0, 0, 10),
            row(1, true, 1, 5, 20),
            row(2, false, 0, 8, 30),
            row(2, false, 1, 8, 30),
            row(1, false, 2, 20, 20),
            row(2, false, 2, 8, 30),
        ];
        let seen = Seen {
            lines: 1,
            loads: 4,
            stores: 2,
            from_others: 2,
        };
        assert_eq!(check(&rows), Ok(seen));
        // The same in another order.
        let back: Vec<_> = rows.into_iter().rev().collect();
        assert_eq!(check(&back), Ok(seen));
    }

    #[test]
    fn a_contradiction_is_told() {
        let told = |rows: &[Performed], words: &str| {
            let error = check(rows).expect_err(words);
            assert!(error.contains(words), "{error}");
        };
        let first = row(0, true, 0, 0, 10);
        told(&[first, row(1, true, 0, 0, 20)], "saw version 0 where 1 was due");
        told(&[first, row(1, true, 2, 0, 20)], "saw version 2 where 1 was due");
        told(
            &[first, row(1, true, 1, 0, 9)],
            "the one before it was of core 0 at 10 ps",
        );
        told(&[first, row(1, false, 2, 0, 20)], "there were 1 stores");
        told(&[first, row(1, false, 1, 0, 9)], "stored later, at 10 ps");
        told(&[first, row(1, false, 0, 11, 20)], "had replaced at 10 ps");
    }
}
