//! What is asked of a format of traces.

use crate::problem::ReadStop;
use crate::sink::TraceReader;
use std::path::Path;

/// A format of traces: reads the files of a recording and tells them a [`TraceReader`]. A format is one room in [`formats`](crate::formats), and a line
/// in [`FORMATS`].
pub trait FormatReader {
    /// Its name in studies and figures.
    const NAME: &'static str;
    /// What it is, in a line.
    const LINE: &'static str;
    /// Which file a user points at, and how it is recognised.
    const FILES: &'static str;
    /// What is not kept of it.
    const LIMITS: &'static str;
    /// Where its layout is told.
    const SOURCE: &'static str;

    /// Whether a path is of this format: a file with its first bytes, unpacked where it is packed, or a folder with none.
    fn is_it(path: &Path, start: &[u8]) -> bool;

    /// Reads it: [`TraceReader::begin`] once, every operation, [`TraceReader::end`] once. Problems that leave the rest readable go to
    /// [`TraceReader::problem`]; whatever the file holds, there is no panic, and neither time nor memory beyond what its size explains.
    ///
    /// # Errors
    /// A file that cannot be read on, and what the reader says.
    fn read(path: &Path, reader: &mut TraceReader<'_>) -> Result<(), ReadStop>;
}

/// A format of the list.
pub struct ListedReader {
    /// See [`FormatReader::NAME`].
    pub name: &'static str,
    /// See [`FormatReader::LINE`].
    pub line: &'static str,
    /// See [`FormatReader::FILES`].
    pub files: &'static str,
    /// See [`FormatReader::LIMITS`].
    pub limits: &'static str,
    /// See [`FormatReader::SOURCE`].
    pub source: &'static str,
    pub(crate) is_it: fn(&Path, &[u8]) -> bool,
    pub(crate) read: fn(&Path, &mut TraceReader<'_>) -> Result<(), ReadStop>,
}

impl ListedReader {
    pub(crate) const fn of<F: FormatReader>() -> ListedReader {
        ListedReader {
            name: F::NAME,
            line: F::LINE,
            files: F::FILES,
            limits: F::LIMITS,
            source: F::SOURCE,
            is_it: F::is_it,
            read: F::read,
        }
    }
}
