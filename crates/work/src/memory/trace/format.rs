//! What has to be known of a format of traces, and the list of formats: a file and a line each.

use super::recording::{Reading, Recording, TraceMistake, read_as};
use std::path::Path;

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// Fetches an instruction.
    Fetch,
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Reads and then writes.
    Modify,
}

/// An access that a line of a trace tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedAccess {
    /// What it does.
    pub kind: AccessKind,
    /// Address of its first byte.
    pub address: u64,
    /// Address of its last byte.
    pub last: u64,
}

/// What a line says that is no access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// That the trace begins, which therefore also says where it ends.
    Begin,
    /// That the trace is complete.
    End,
    /// Something else.
    Other,
}

/// A format of traces: text in lines, an access in most of them.
pub trait TraceFormat {
    /// Its name, in messages.
    const NAME: &'static str;
    /// The ending of names of its files, before that of a packing.
    const ENDING: &'static str;
    /// How a trace of it is made, as a hint.
    const HOW: &'static str;
    /// What is missing in a trace that has a [`Note::Begin`] and no [`Note::End`].
    const LAST_WORDS: &'static str;

    /// The access at the start of `text` and the bytes of its line; `None` if no whole line of an access stands there.
    fn access(text: &[u8]) -> Option<(TracedAccess, usize)>;

    /// What a line says that is no access; `None` if it is not of this format.
    fn note(line: &[u8]) -> Option<Note>;
}

/// A format in the list.
struct ListedFormat {
    ending: &'static str,
    read: fn(&Path, &str, &Reading, Option<usize>) -> Result<Recording, TraceMistake>,
}

impl ListedFormat {
    const fn of<F: TraceFormat>() -> ListedFormat {
        ListedFormat {
            ending: F::ENDING,
            read: read_as::<F>,
        }
    }
}

/// The formats. The first takes all files whose ending is of no other.
const FORMATS: &[ListedFormat] = &[
    // Valgrind's.
    ListedFormat::of::<super::lackey::Lackey>(),
];

/// Reads a trace; `name` is the file's in messages. Up to `keep` records stay in memory; without it they are dropped.
///
/// # Errors
/// A file that cannot be read or unpacked, that ends too early, or that has a line which is not of its format.
pub fn read(path: &Path, name: &str, reading: &Reading, keep: Option<usize>) -> Result<Recording, TraceMistake> {
    let plain = [".gz", ".xz", ".zst"]
        .iter()
        .find_map(|packing| name.strip_suffix(packing))
        .unwrap_or(name);
    let format = FORMATS.iter().find(|format| plain.ends_with(format.ending));
    (format.unwrap_or(&FORMATS[0]).read)(path, name, reading, keep)
}
