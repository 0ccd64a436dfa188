//! Lines of text files, packed or not, one at a time.

use std::io::{BufRead, BufReader, Error, Read, Result};
use std::path::Path;

/// Bytes that are read at a time.
const BLOCK: usize = 1 << 17;
/// Longest line: a file of some kilobytes may unpack to one of any length.
const MOST: u64 = 1 << 27;

/// The lines of a file.
pub(super) struct TextLines {
    text: BufReader<Box<dyn Read>>,
    line: Vec<u8>,
    /// Number of the last line, from 1.
    pub(super) number: u64,
    /// Bytes of lines so far, unpacked.
    pub(super) read: u64,
}

impl TextLines {
    /// Opens a file; whether it is packed is seen from its first bytes.
    pub(super) fn open(path: &Path) -> Result<TextLines> {
        let (text, _) = crate::packed::open(path)?;
        Ok(TextLines {
            text: BufReader::with_capacity(BLOCK, text),
            line: Vec::new(),
            number: 0,
            read: 0,
        })
    }

    /// The next line without its end; nothing at the end. Bytes that are no text are marked.
    pub(super) fn next(&mut self) -> Result<Option<std::borrow::Cow<'_, str>>> {
        self.line.clear();
        let n = (&mut self.text).take(MOST).read_until(b'\n', &mut self.line)?;
        if n == 0 {
            return Ok(None);
        }
        if n as u64 == MOST {
            return Err(Error::other(format!(
                "line {} is longer than {MOST} bytes",
                self.number + 1
            )));
        }
        self.number += 1;
        self.read += n as u64;
        Ok(Some(String::from_utf8_lossy(self.line.trim_ascii())))
    }
}
