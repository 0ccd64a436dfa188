//! Cases whose work is a recording: it is written into a folder of its own, read as a study reads it, and removed at the end.

use crate::process::cpu_time;
use crate::run::RunError;
use fabric::spec::RunSpec;
use std::path::Path;
use work::build_error::BuildError;

/// A case with its recording.
pub struct RecordedCase {
    /// What is run.
    pub spec: RunSpec,
    /// Records of the recording.
    pub records: u64,
    /// CPU seconds that reading, checking and keeping them took.
    pub read_s: f64,
    /// The recording, as long as this lives.
    _folder: tempfile::TempDir,
}

impl RecordedCase {
    /// A recording by `write`, which says how many records it has, and its run by `read`; both get the folder that it is in.
    pub fn new(
        write: impl FnOnce(&Path) -> Result<u64, String>,
        read: impl FnOnce(&Path) -> Option<RunSpec>,
    ) -> Result<RecordedCase, RunError> {
        let folder = tempfile::tempdir().map_err(|error| unusable(&error.to_string()))?;
        let records = write(folder.path()).map_err(|reason| unusable(&reason))?;
        let begun = cpu_time();
        let spec = read(folder.path()).ok_or_else(|| unusable("it is not read as a study"))?;
        let read_s = (cpu_time() - begun).as_secs_f64();
        Ok(RecordedCase {
            spec,
            records,
            read_s,
            _folder: folder,
        })
    }
}

/// Why a recording cannot be had.
fn unusable(reason: &str) -> RunError {
    let hint = "give TMPDIR a folder with enough space";
    BuildError::field("job.0.work", reason, Some(hint)).into()
}
