//! Works that are neither patterns nor motifs: the list of their entries.

use super::messages::MESSAGES;
use study::Entry;
use work::workload::pairs;

pub(super) const OTHERS: &[Entry] = &[
    pairs::ENTRY,
    super::memory::MEMORY,
    MESSAGES,
    Entry::new(
        "idle",
        "The nodes are taken and do nothing; other keys of the job and its work may stay, so that one key switches it off.",
    ),
];
