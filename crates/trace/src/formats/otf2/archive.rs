//! An archive as its files: the anchor, the definitions, and the events of each location, record by record and without a meaning.

use super::anchor::ArchiveAnchor;
use super::chunks::ChunkReader;
use super::definitions::ArchiveDefinitions;
use super::events::EventReader;
use super::local::LocalDefinitions;
use crate::problem::Problem;
use std::path::{Path, PathBuf};

/// The name of the anchor file in a folder of Score-P.
pub const TRACES: &str = "traces.otf2";

/// An archive: `X.otf2`, `X.def` and the folder `X`.
pub struct Otf2Archive {
    /// What it says of itself.
    pub anchor: ArchiveAnchor,
    /// Its global definitions.
    pub definitions: ArchiveDefinitions,
    folder: PathBuf,
}

impl Otf2Archive {
    /// Opens an archive by its anchor file, or by a folder with `traces.otf2`.
    ///
    /// # Errors
    /// An anchor or definitions that cannot be read.
    pub fn open(path: &Path) -> Result<Otf2Archive, Problem> {
        let path = match path.is_dir() {
            true => path.join(TRACES),
            false => path.to_owned(),
        };
        let anchor = ArchiveAnchor::read(&path)?;
        let definitions = ArchiveDefinitions::read(&path.with_extension("def"), anchor.definition_chunk)?;
        Ok(Otf2Archive {
            anchor,
            definitions,
            folder: path.with_extension(""),
        })
    }

    /// The file of a location's events.
    pub fn event_file(&self, location: u64) -> PathBuf {
        self.folder.join(format!("{location}.evt"))
    }

    /// The events of a location.
    ///
    /// # Errors
    /// Files of it that cannot be opened, or definitions that cannot be read.
    pub fn events(&self, location: u64) -> Result<EventReader, Problem> {
        let local = self.folder.join(format!("{location}.def"));
        let local = LocalDefinitions::read(&local, self.anchor.definition_chunk)?;
        let file = ChunkReader::open(&self.event_file(location), self.anchor.event_chunk)?;
        Ok(EventReader::new(file, local))
    }
}
