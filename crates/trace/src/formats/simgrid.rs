//! Time-independent traces of SimGrid: what ranks are to do, a line each, computations in instructions.
//!
//! ```text
//! 0 init 1
//! 0 compute 127189
//! 0 isend 1 7 1e6 6          to rank 1 with tag 7, a million of datatype 6
//! 0 wait 0 1 7               for the oldest message from 0 to 1 with tag 7
//! 0 allreduce 32 21827181 1  and instructions of combining
//! ```
//!
//! Older traces have no tags: `isend 1 1e6`, and a `wait` without arguments is for the last message that was begun; they write `allReduce`,
//! `waitAll`; the oldest number ranks as `p0`. All files are read twice, as it is not told before how many ranks there are; one is open at a time.

mod actions;
mod arguments;
mod files;
mod ranks;

use crate::format::FormatReader;
use crate::header::{TraceForm, TraceHeader, WorkUnit};
use crate::lines::each_line;
use crate::problem::ReadStop;
use crate::sink::TraceReader;
use ranks::SeenRanks;
use std::path::Path;

/// SimGrid's time-independent traces.
pub struct SimGrid;

impl FormatReader for SimGrid {
    const NAME: &'static str = "simgrid";
    const LINE: &'static str =
        "Time-independent traces of SimGrid (SMPI): actions of ranks, computations in instructions";
    const FILES: &'static str = "a text of lines `RANK ACTION ...` (`0 init`), of all ranks; or a file that names one of each rank, a line each; \
        or a folder of them";
    const LIMITS: &'static str = "All is of the communicator of all ranks: the format tells no others. A combining takes its instructions after \
        the collective that it belongs to. What was begun and not waited for is waited for at the end. A test does not end a message: a later \
        wait does. Places in the source (`location`) are left out. In a folder, folders are left out.";
    const SOURCE: &'static str = "SimGrid, https://simgrid.org/doc/latest/Tutorial_MPI_Applications.html";

    fn is_it(path: &Path, start: &[u8]) -> bool {
        files::is_it(path, start)
    }

    fn read(path: &Path, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        let files = files::of(path, reader)?;
        let sizes = files
            .iter()
            .map(|file| std::fs::metadata(file).map_or(0, |about| about.len()));
        reader.progress.all = 2 * sizes.sum::<u64>();
        let mut found = SeenRanks::default();
        for file in &files {
            each_action(file, reader, |_, number, line| {
                found.note(file, number, line);
                Ok(())
            })?;
        }
        let name = path.display().to_string();
        let ranks = found.ranks(&name)?;
        if let Some(problem) = found.missing(&name) {
            reader.problem(problem);
        }
        let header = TraceHeader {
            unit: WorkUnit::Instructions,
            files: found.files(&files),
            ..TraceHeader::new(Self::NAME, ranks, TraceForm::Program)
        };
        reader.begin(&header)?;
        let mut actions = actions::Actions::new(ranks, found.old());
        for file in &files {
            let name = file.display().to_string();
            each_action(file, reader, |reader, number, line| {
                actions.line(reader, &name, number, line)
            })?;
        }
        reader.progress.done = reader.progress.all;
        reader.end(&[])
    }
}

/// Hands over each line of a file that is one of actions, with its number.
fn each_action(
    file: &Path,
    reader: &mut TraceReader<'_>,
    mut take: impl FnMut(&mut TraceReader<'_>, u64, &str) -> Result<(), ReadStop>,
) -> Result<(), ReadStop> {
    each_line(file, reader, |reader, number, line| match line.starts_with('#') {
        true => Ok(()),
        false => take(reader, number, line),
    })
}
