//! What nodes do, where jobs are placed and how messages are spaced.

use crate::spec::{MatchingWord, ModeWord};
use study::{Default, Entry, Named, Parameter, SECOND, TIB, Type, When, key, size, time};

const RANDOM_MATCHING: &[When] = &[When {
    key: "matching",
    values: &["mutual", "senders-receivers"],
}];

const PAIRS: &[Parameter] = &[
    key(
        "matching",
        Type::Choice(MatchingWord::WORDS),
        Default::From("listed with `pairs`, else mutual"),
        "How nodes become pairs.",
    ),
    key(
        "pairs",
        Type::Pairs,
        Default::From("needed by matching \"listed\""),
        "Sender and receiver of every pair.",
    )
    .when(&[When {
        key: "matching",
        values: &["listed"],
    }]),
    key(
        "mode",
        Type::Choice(ModeWord::WORDS),
        Default::Text("stream"),
        "How a pair talks.",
    ),
    key(
        "batch",
        Type::Integer {
            min: 1,
            max: u32::MAX as u64,
        },
        Default::Text("10"),
        "Messages per acknowledgement.",
    )
    .when(&[When {
        key: "mode",
        values: &["batch"],
    }]),
    key(
        "messages",
        Type::Integer { min: 1, max: 1 << 40 },
        Default::Text("1"),
        "Data messages per sender.",
    ),
    key("message", size(TIB), Default::Text("2 KiB"), "Size of a data message."),
    key("ack", size(TIB), Default::Text("8 B"), "Size of an acknowledgement.").when(&[When {
        key: "mode",
        values: &["ping-pong", "batch"],
    }]),
    key(
        "active",
        Type::Integer {
            min: 2,
            max: u32::MAX as u64,
        },
        Default::From("all nodes of the job"),
        "Number of nodes that are on, drawn at random.",
    )
    .when(RANDOM_MATCHING),
    key(
        "start_spread",
        time(SECOND),
        Default::Text("0 ns"),
        "Nodes start at a random time from 0 to this.",
    ),
    key(
        "seed",
        Type::Integer {
            min: 0,
            max: i64::MAX as u64,
        },
        Default::From("the run's seed"),
        "Seed of the matching alone.",
    )
    .when(RANDOM_MATCHING),
];

const MESSAGES: &[Parameter] = &[
    key(
        "file",
        Type::Text,
        Default::From("`table` has the rows"),
        "CSV or Parquet file (`.parquet`) with a row per message, in any order; the columns are source, destination, bytes and one of \
         time (with a unit), time_ps, time_ns, time_us, time_ms, time_s.",
    ),
    key(
        "table",
        Type::Lines,
        Default::From("`file` has the rows"),
        "The same text in place of a file.",
    ),
];

/// Works that are neither patterns nor motifs.
pub(super) const OTHERS: &[Entry] = &[
    Entry::new(
        "pairs",
        "Pairs of nodes talk to each other: streams, ping-pong or batches.",
    )
    .keys(&[PAIRS])
    .source("The random-pairs experiments of torus studies with CODES"),
    super::memory::MEMORY,
    Entry::new("messages", "Nodes send the messages of a table, each at its time.")
        .keys(&[MESSAGES])
        .limits("Nobody waits for a message: what depends on an arrival in reality is sent at its listed time."),
    Entry::new(
        "idle",
        "The nodes are taken and do nothing; other keys of the job and its work may stay, so that one key switches it off.",
    ),
];
