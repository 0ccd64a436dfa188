//! What is known of a trace as texts: keys and values of the file's metadata.

use super::arrow::Metadata;
use crate::header::{Members, TraceForm, TraceHeader, WorkUnit};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// The key that says that a file is of this format, and in which version.
pub const VERSION_KEY: &str = "fabricsim_work";
/// The version that is written, and the last that is read.
pub const VERSION: u32 = 1;
/// Key of the reason why it ends early, of a trace that does.
pub const INCOMPLETE: &str = "incomplete";
/// Key of the names of regions.
pub const REGIONS: &str = "regions";
/// Key of the number of operations.
pub const OPERATIONS: &str = "operations";
/// Key of the digests of batches.
pub const BATCHES: &str = "batches";
/// Key of the seal.
pub const SEAL: &str = "seal";
/// Key at the first message, which says that there is a seal: who takes the rows into another file does not take it along.
pub const SEALED: &str = "sealed";

/// Most ranks of a trace that has fewer operations than ranks: what is set up for each rank is explained by nothing else.
const MOST_IDLE: u64 = 1 << 20;

/// ListedRanks of a communicator as they are written: listed, or told by their distance.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum ListedRanks {
    List(Vec<u32>),
    Range { first: u32, count: u32, stride: u32 },
}

/// The name of a value as serde writes it.
fn word<T: Serialize>(value: T) -> String {
    let text = serde_json::to_value(value).ok();
    text.as_ref()
        .and_then(|text| text.as_str())
        .unwrap_or_default()
        .to_owned()
}

/// A header as keys and values.
pub fn of_header(header: &TraceHeader) -> Metadata {
    let communicators: Vec<ListedRanks> = header
        .communicators
        .iter()
        .map(|members| match members {
            Members::List(ranks) => ListedRanks::List(ranks.clone()),
            &Members::Range { first, count, stride } => ListedRanks::Range { first, count, stride },
        })
        .collect();
    let json = |text: serde_json::Result<String>| text.unwrap_or_default();
    let pairs = [
        (VERSION_KEY, VERSION.to_string()),
        ("format", header.format.clone()),
        ("form", word(header.form)),
        ("unit", word(header.unit)),
        ("ranks", header.ranks.to_string()),
        ("communicators", json(serde_json::to_string(&communicators))),
        ("files", json(serde_json::to_string(&header.files))),
    ];
    let incomplete = header.incomplete.iter().map(|reason| (INCOMPLETE, reason.clone()));
    let all = pairs.into_iter().chain(incomplete);
    all.map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The value of a key.
pub fn value<'a>(metadata: &'a Metadata, key: &str) -> Option<&'a str> {
    let found = metadata.iter().find(|(name, _)| name == key);
    found.map(|(_, value)| value.as_str())
}

/// The value of a key as JSON of a type, or what is wrong with it.
pub fn json<T: for<'a> Deserialize<'a>>(metadata: &Metadata, key: &str) -> Result<Option<T>, String> {
    let parse =
        |text| serde_json::from_str(text).map_err(|error| format!("`{key}` of its metadata cannot be read: {error}"));
    value(metadata, key).map(parse).transpose()
}

fn choice<T: for<'a> Deserialize<'a> + Default>(metadata: &Metadata, key: &str, words: &str) -> Result<T, String> {
    let Some(text) = value(metadata, key) else {
        return Ok(T::default());
    };
    serde_json::from_value(text.into())
        .map_err(|_| format!("`{key}` of its metadata is {text:?} and has to be {words}"))
}

/// The header of keys and values, or what is wrong with them. `rows` are those of the file.
pub fn header(metadata: &Metadata, rows: u64) -> Result<TraceHeader, String> {
    let form: TraceForm = choice(metadata, "form", "\"program\" or \"graph\"")?;
    let unit: WorkUnit = choice(metadata, "unit", "\"picoseconds\" or \"instructions\"")?;
    let text = value(metadata, "ranks").ok_or("`ranks` is missing in its metadata")?;
    let ranks: u32 = text
        .parse()
        .map_err(|_| format!("`ranks` of its metadata is {text:?} and has to be a number"))?;
    if u64::from(ranks) > rows.max(MOST_IDLE) {
        return Err(format!(
            "`ranks` of its metadata is {ranks}, and it has {rows} operations only"
        ));
    }
    let mut header = TraceHeader::new(value(metadata, "format").unwrap_or("work"), ranks, form);
    header.unit = unit;
    header.incomplete = value(metadata, INCOMPLETE).map(str::to_owned);
    if let Some(files) = json(metadata, "files")? {
        header.files = files;
    }
    if let Some(all) = json::<Vec<ListedRanks>>(metadata, "communicators")? {
        let each = all.into_iter().enumerate().map(|(i, told)| {
            members(told, ranks).map_err(|reason| format!("`communicators` of its metadata, number {i}: {reason}"))
        });
        header.communicators = each.collect::<Result<_, _>>()?;
        let world = header.communicators.first().map(Members::len);
        if world != Some(ranks) {
            return Err("the first of `communicators` in its metadata has to have all ranks".into());
        }
    }
    Ok(header)
}

fn members(told: ListedRanks, ranks: u32) -> Result<Members, String> {
    let outside = |rank: u64| format!("rank {rank} of {ranks} ranks");
    match told {
        ListedRanks::Range { first, count, stride } => {
            let last = u64::from(first) + u64::from(stride) * u64::from(count.saturating_sub(1));
            match (count > 0 && last >= ranks.into(), count > 1 && stride == 0) {
                (true, _) => Err(outside(last)),
                (_, true) => Err(format!("rank {first} more than once")),
                _ => Ok(Members::Range { first, count, stride }),
            }
        }
        ListedRanks::List(list) => {
            let mut seen = HashSet::with_capacity(list.len());
            for &rank in &list {
                if rank >= ranks {
                    return Err(outside(rank.into()));
                }
                if !seen.insert(rank) {
                    return Err(format!("rank {rank} more than once"));
                }
            }
            Ok(Members::List(list))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_as_it_was_written() {
        let mut header = TraceHeader::new("otf2", 12, TraceForm::Graph);
        header.unit = WorkUnit::Instructions;
        header.communicators.push(Members::List(vec![3, 1, 7]));
        header.communicators.push(Members::List(Vec::new()));
        header.communicators.push(Members::of(vec![1, 4, 7]));
        header.files = vec!["a \"b\".evt".into()];
        assert_eq!(super::header(&of_header(&header), 0), Ok(header));
    }

    #[test]
    fn what_is_wrong_is_told() {
        let with = |key: &str, value: &str| {
            let mut metadata = of_header(&TraceHeader::new("x", 4, TraceForm::Program));
            metadata
                .iter_mut()
                .filter(|(name, _)| name == key)
                .for_each(|(_, old)| *old = value.into());
            super::header(&metadata, 10).expect_err("it is wrong")
        };
        for (key, value, words) in [
            ("ranks", "many", "has to be a number"),
            ("ranks", "4000000000", "10 operations only"),
            ("form", "tree", "has to be \"program\" or \"graph\""),
            ("unit", "years", "has to be \"picoseconds\" or \"instructions\""),
            ("communicators", "[[0,1,2,3],[4]]", "number 1: rank 4 of 4 ranks"),
            ("communicators", "[[0,1,2,2]]", "number 0: rank 2 more than once"),
            (
                "communicators",
                "[{\"first\":0,\"count\":4294967295,\"stride\":4294967295}]",
                "of 4 ranks",
            ),
            ("communicators", "[[0,1]]", "all ranks"),
            ("communicators", "[]", "all ranks"),
            ("files", "7", "cannot be read"),
        ] {
            let told = with(key, value);
            assert!(told.contains(words), "{told}");
        }
    }
}
