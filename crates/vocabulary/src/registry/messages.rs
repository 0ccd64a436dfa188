//! Messages that are told one by one.

use study::{Default, Entry, Parameter, Type, key};

/// What a study may say of them.
pub(super) const MESSAGES: Entry = Entry::new("messages", "Nodes send the messages of a table, each at its time.")
    .keys(&[KEYS])
    .limits("Nobody waits for a message: what depends on an arrival in reality is sent at its listed time.");

const KEYS: &[Parameter] = &[
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
