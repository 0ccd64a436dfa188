//! The file of recorded work of our own: what every other format can be converted to, and what programs of users can write.
//!
//! An Apache Arrow IPC file with a row per operation (`docs/reference/work-format.md`), in batches of bounded size within which rows are
//! sorted by rank, so that a trace longer than memory is written and read in pieces, and any Arrow library maps it as it is. What stands
//! before the rows is in the schema's metadata, what is known after them in the footer's, and a seal tells of every byte that is
//! not what was written. The metadata are read and written here rather than by a library, for reasons that `docs/adr` tells.

mod arrow;
mod cells;
mod columns;
mod flat;
mod read;
mod seal;
mod text;
mod write;

pub use write::WorkWriter;

use crate::format::FormatReader;
use crate::problem::ReadStop;
use crate::sink::TraceReader;
use std::path::Path;

/// Our own file of recorded work.
pub struct WorkFormat;

impl FormatReader for WorkFormat {
    const NAME: &'static str = "work";
    const LINE: &'static str = "fabricsim's file of recorded work: what every other format can be converted to";
    const FILES: &'static str = "a file that begins with ARROW1, such as `app.work`";
    const LIMITS: &'static str = "pieces may not be packed, and a column that is not known is refused";
    const SOURCE: &'static str = "docs/reference/work-format.md; columns: Apache Arrow, IPC file format, https://arrow.apache.org/docs/format/Columnar.html";

    fn is_it(_path: &Path, start: &[u8]) -> bool {
        start.starts_with(arrow::MAGIC)
    }

    fn read(path: &Path, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        read::read(path, reader)
    }
}
