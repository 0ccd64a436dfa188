//! Files that are there when they are whole: until then they have another name beside it, and nothing is left of one that is given up.

use std::fs::File;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};

/// A file that is being written.
pub(crate) struct Partial {
    path: PathBuf,
    partial: PathBuf,
    file: File,
    finished: bool,
}

impl Partial {
    /// Begins a file.
    pub(crate) fn create(path: &Path) -> Result<Partial> {
        let name = path
            .file_name()
            .ok_or_else(|| Error::other("it is not the name of a file"))?;
        if path.is_dir() {
            return Err(Error::other("a folder of this name is there"));
        }
        let name = format!(".{}.{}.partial", name.to_string_lossy(), std::process::id());
        let partial = path.with_file_name(name);
        Ok(Partial {
            path: path.to_owned(),
            file: File::create(&partial)?,
            partial,
            finished: false,
        })
    }

    /// The file, to write to.
    pub(crate) fn file(&self) -> Result<File> {
        self.file.try_clone()
    }

    /// The name that it will have.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What has been written is whole: it gets its name.
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.file.sync_all()?;
        std::fs::rename(&self.partial, &self.path)?;
        self.finished = true;
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.finished {
            // Where it cannot be removed its name says what it is.
            let _ = std::fs::remove_file(&self.partial);
        }
    }
}
