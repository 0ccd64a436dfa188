//! A trace as records of 8 bytes, one for every line that an access touches, made in one pass over its text.
//!
//! Pages have numbers in the order of their first access, so that a record says page and line within it in 48 bits, whatever the
//! addresses were. Where records begin to be many they go to a file without a name in the folder for temporary files, which is mapped:
//! any core can ask for any record at any time, and memory is the system's to give and to take.

use super::format::{AccessKind, Note, TraceFormat, TracedAccess};

use crate::kept::{KeptRecords, RecordKeeper};
use crate::memory::spec::Instructions;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// Records up to here stay in memory: 64 MiB.
pub const MOST_IN_MEMORY: usize = 1 << 23;
/// Most pages of a trace.
pub const MOST_PAGES: usize = 1 << 27;
/// Bytes of text that are looked at in one go; no line is longer.
const BLOCK: usize = 1 << 18;
/// Most characters of a line that are shown.
const SHOWN: usize = 40;

const STORE: u64 = 1 << 63;
const PAUSE_SHIFT: u32 = 48;
const LONG: u64 = (1 << 15) - 1;
const LINE: u64 = (1 << PAUSE_SHIFT) - 1;

/// How a trace is read.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Bytes of a line.
    pub line: u64,
    /// Lines of a page.
    pub lines_per_page: u64,
    /// What fetches do.
    pub instructions: Instructions,
    /// The first so many accesses of lines are read.
    pub most: u64,
}

/// Why a trace is refused, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceMistake {
    /// Names the file and its line.
    pub reason: String,
    /// What to do.
    pub hint: String,
}

/// An access of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedAccess {
    /// The line: its page's number times lines per page, and its number there.
    pub line: u64,
    /// Whether it writes.
    pub store: bool,
    /// Instructions since the access before, its own included.
    pub pause: u64,
}

/// What a trace says.
#[derive(Debug)]
pub struct Recording {
    /// Accesses of lines.
    pub accesses: u64,
    /// The first access of every page.
    pub first: Vec<u64>,
    /// SHA-256 of the text up to the last line that was read.
    pub sha256: String,
    records: KeptRecords<u64>,
    /// Pauses that records have no room for, by access.
    long: Vec<(u64, u64)>,
}

impl Recording {
    /// An access by its number.
    #[inline(always)]
    pub fn get(&self, index: u64) -> RecordedAccess {
        let word = self.records.get(index);
        let pause = match word >> PAUSE_SHIFT & LONG {
            LONG => self.long_pause(index),
            pause => pause,
        };
        RecordedAccess {
            line: word & LINE,
            store: word & STORE != 0,
            pause,
        }
    }

    #[cold]
    fn long_pause(&self, index: u64) -> u64 {
        let at = self.long.partition_point(|(access, _)| *access < index);
        self.long.get(at).map_or(LONG, |(_, pause)| *pause)
    }
}

/// Reads a trace of a format; `name` is the file's in messages. Up to `keep` records stay in memory; without it they are dropped.
///
/// # Errors
/// A file that cannot be read or unpacked, that ends too early, or that has a line which is not of the format.
pub(super) fn read_as<F: TraceFormat>(
    path: &Path,
    name: &str,
    reading: &Reading,
    keep: Option<usize>,
) -> Result<Recording, TraceMistake> {
    let cannot = |error: std::io::Error| TraceMistake {
        reason: format!("cannot read {name:?}: {error}"),
        hint: "give a path relative to the study's folder".to_owned(),
    };
    let (mut text, packing) = trace::packed::open(path).map_err(cannot)?;
    let mut recorder = Recorder::new(*reading, keep);
    let mut digest = Sha256::new();
    let mut buffer = vec![0; BLOCK];
    let (mut end, mut lines, mut begun, mut ended) = (0, 0u64, false, false);
    while !recorder.full() {
        let n = match text.read(&mut buffer[end..]) {
            Ok(n) => n,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => {
                return Err(TraceMistake {
                    reason: format!("{name}, after line {lines}: the {packing} data ends or breaks here: {error}"),
                    hint: format!("copy or pack the file again, or {}", F::HOW),
                });
            }
        };
        if n == 0 && end > 0 {
            let cut = format!(
                "{name}, line {}: {} is cut, no line ends here",
                lines + 1,
                shown(&buffer[..end])
            );
            let hint = "the file was cut, or is still written; set `accesses` to use its beginning only";
            return Err(mistake(cut, hint));
        }
        if n == 0 {
            break;
        }
        end += n;
        let mut at = 0;
        while !recorder.full() {
            if let Some((access, bytes)) = F::access(&buffer[at..end]) {
                (lines, at) = (lines + 1, at + bytes);
                recorder.take(access).map_err(|reason| {
                    let hint = "take larger pages, a shorter trace, or another folder for temporary files (TMPDIR)";
                    mistake(format!("{name}, line {lines}: {reason}"), hint)
                })?;
                continue;
            }
            let Some(bytes) = buffer[at..end].iter().position(|byte| *byte == b'\n') else {
                break;
            };
            let line = &buffer[at..at + bytes];
            (lines, at) = (lines + 1, at + bytes + 1);
            match F::note(line) {
                Some(note) => (begun, ended) = (begun | (note == Note::Begin), ended | (note == Note::End)),
                None => {
                    return Err(mistake(
                        format!("{name}, line {lines}: {} is not {}'s", shown(line), F::NAME),
                        F::HOW,
                    ));
                }
            }
        }
        digest.update(&buffer[..at]);
        if at == 0 && end == BLOCK {
            let long = format!("{name}, line {}: {} is too long", lines + 1, shown(&buffer));
            return Err(mistake(long, F::HOW));
        }
        buffer.copy_within(at..end, 0);
        end -= at;
    }
    if recorder.accesses == 0 {
        return Err(mistake(
            format!("{name}: there is no access in its {lines} lines"),
            F::HOW,
        ));
    }
    if begun && !ended && !recorder.full() {
        let reason = format!("{name}, after line {lines}: {}, the file was cut", F::LAST_WORDS);
        let hint = "trace the program to its end, or set `accesses` to use the beginning only";
        return Err(mistake(reason, hint));
    }
    let sha256 = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    recorder.finish(sha256).map_err(|error| {
        let reason = format!("{name}: cannot keep its accesses: {error}");
        mistake(reason, "take another folder for temporary files (TMPDIR)")
    })
}

fn mistake(reason: String, hint: &str) -> TraceMistake {
    let hint = hint.to_owned();
    TraceMistake { reason, hint }
}

/// A line in a message, shortened.
fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(4 * SHOWN)]);
    let mut short: String = text.chars().take(SHOWN).collect();
    if short.len() < line.len() {
        short.push_str("...");
    }
    format!("{short:?}")
}

/// Makes records of accesses.
struct Recorder {
    reading: Reading,
    /// Where records go, if they are kept.
    records: Option<RecordKeeper<u64>>,
    accesses: u64,
    pause: u64,
    pages: HashMap<u64, u64>,
    /// Pages that were used last, by the last bits of their number: page and number.
    recent: Vec<(u64, u64)>,
    first: Vec<u64>,
    long: Vec<(u64, u64)>,
}

const RECENT: u64 = 1 << 10;

impl Recorder {
    fn new(reading: Reading, keep: Option<usize>) -> Recorder {
        Recorder {
            reading,
            records: keep.map(RecordKeeper::new),
            accesses: 0,
            pause: 0,
            pages: HashMap::new(),
            recent: vec![(u64::MAX, 0); RECENT as usize],
            first: Vec::new(),
            long: Vec::new(),
        }
    }

    fn full(&self) -> bool {
        self.accesses == self.reading.most
    }

    #[inline(always)]
    fn take(&mut self, access: TracedAccess) -> Result<(), String> {
        let instructions = self.reading.instructions;
        match access.kind {
            AccessKind::Fetch => {
                self.pause += u64::from(instructions != Instructions::Ignored);
                if instructions == Instructions::Fetched {
                    self.lines(access, false)?;
                }
            }
            AccessKind::Load => self.lines(access, false)?,
            AccessKind::Store => self.lines(access, true)?,
            AccessKind::Modify => {
                self.lines(access, false)?;
                self.lines(access, true)?;
            }
        }
        Ok(())
    }

    /// Every line between the first and the last byte.
    #[inline(always)]
    fn lines(&mut self, access: TracedAccess, store: bool) -> Result<(), String> {
        let line = self.reading.line;
        for line in access.address / line..=access.last / line {
            if self.full() {
                break;
            }
            self.push(line, store)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn push(&mut self, line: u64, store: bool) -> Result<(), String> {
        let per_page = self.reading.lines_per_page;
        let page = line / per_page;
        let recent = self.recent[(page % RECENT) as usize];
        let number = if recent.0 == page { recent.1 } else { self.page(page)? };
        let pause = self.pause.min(LONG);
        if pause == LONG {
            self.long.push((self.accesses, self.pause));
        }
        let line = number * per_page + line % per_page;
        let word = line | pause << PAUSE_SHIFT | if store { STORE } else { 0 };
        (self.pause, self.accesses) = (0, self.accesses + 1);
        match &mut self.records {
            Some(records) => (records.push(word)).map_err(|error| format!("cannot keep the accesses: {error}")),
            None => Ok(()),
        }
    }

    /// The number of a page.
    #[cold]
    fn page(&mut self, page: u64) -> Result<u64, String> {
        let next = self.first.len() as u64;
        let number = *self.pages.entry(page).or_insert(next);
        if number == next {
            self.first.push(self.accesses);
            let room = (LINE + 1) / self.reading.lines_per_page;
            if next >= room.min(MOST_PAGES as u64) {
                return Err(format!("the program uses more than {next} pages"));
            }
        }
        self.recent[(page % RECENT) as usize] = (page, number);
        Ok(number)
    }

    fn finish(self, sha256: String) -> std::io::Result<Recording> {
        let records = match self.records {
            Some(records) => records.finish()?,
            None => KeptRecords::Here(Vec::new()),
        };
        Ok(Recording {
            accesses: self.accesses,
            first: self.first,
            sha256,
            records,
            long: self.long,
        })
    }
}
