//! What is wrong with a file: every mistake with its line, a reason and a hint.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufRead};

/// A mistake in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMistake {
    /// Line, from 1; 0 where it is about the file as a whole.
    pub line: usize,
    /// What is wrong.
    pub reason: String,
    /// What to do about it; may be empty.
    pub hint: String,
}

/// All mistakes of a file in the order of its lines, up to a limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mistakes {
    /// The first of them, at least one where this is an error.
    pub list: Vec<FileMistake>,
    /// How many more there are.
    pub more: usize,
}

/// More mistakes than this are counted only.
const MOST: usize = 20;

impl Mistakes {
    pub(crate) fn add(&mut self, line: usize, reason: impl Into<String>, hint: &str) {
        if self.list.len() == MOST {
            self.more += 1;
            return;
        }
        let (reason, hint) = (reason.into(), hint.into());
        self.list.push(FileMistake { line, reason, hint });
    }

    /// `Err` with all of them, if there is one.
    pub(crate) fn done(&mut self) -> Result<(), Self> {
        if self.list.is_empty() {
            return Ok(());
        }
        self.list.sort_by_key(|mistake| mistake.line);
        Err(std::mem::take(self))
    }

    /// One mistake about a whole file.
    pub(crate) fn one(reason: impl Into<String>, hint: &str) -> Self {
        let mut mistakes = Self::default();
        mistakes.add(0, reason, hint);
        mistakes
    }
}

impl fmt::Display for FileMistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        f.write_str(&self.reason)?;
        match self.hint.as_str() {
            "" => Ok(()),
            hint => write!(f, " ({hint})"),
        }
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, mistake) in self.list.iter().enumerate() {
            write!(f, "{}{mistake}", if i > 0 { "\n" } else { "" })?;
        }
        match self.more {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

impl std::error::Error for Mistakes {}

/// Names for people: what several have is told apart by the identifier behind it.
pub(crate) fn distinct<'a>(all: impl Iterator<Item = (&'a str, u64)> + Clone) -> Vec<String> {
    let mut count: HashMap<&str, u32> = HashMap::new();
    all.clone().for_each(|(name, _)| *count.entry(name).or_default() += 1);
    let tell = |(name, guid): (&str, u64)| match count[name] {
        1 => name.to_owned(),
        _ => format!("{name} [0x{guid:016x}]"),
    };
    all.map(tell).collect()
}

/// Longer lines are not text.
const MOST_BYTES: usize = 1 << 16;

/// The lines of a file with what is not UTF-8 replaced; ends after the first error. Compressed files and lines of more than 65,536
/// bytes are errors.
pub(crate) fn lines(mut file: impl BufRead) -> impl Iterator<Item = io::Result<String>> {
    let (mut bytes, mut over, mut first) = (Vec::new(), false, true);
    std::iter::from_fn(move || {
        if over {
            return None;
        }
        bytes.clear();
        let read = file.read_until(b'\n', &mut bytes);
        let compressed = std::mem::take(&mut first) && bytes.starts_with(&[0x1f, 0x8b]);
        let found = match read {
            Ok(0) => return None,
            Ok(_) if compressed => Err(io::Error::other("the file is compressed, unpack it with gunzip")),
            Ok(length) if length > MOST_BYTES => {
                Err(io::Error::other("a line of more than 65,536 bytes: this is no text"))
            }
            Ok(_) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) => Err(error),
        };
        over = found.is_err();
        Some(found)
    })
}
