//! Files that a study names.

use std::path::Path;

/// Most bytes of a file: some 100 for each of the most routers that a network may have would be more than a file should hold.
const MOST_BYTES: u64 = 1 << 30;

/// The text of `file` in the study's folder; otherwise a reason and a hint.
pub(super) fn read_text(base: &Path, file: &str) -> Result<String, (String, String)> {
    read_by(base, file, |path| std::fs::read_to_string(path))
}

/// The bytes of `file` in the study's folder; otherwise a reason and a hint.
pub(super) fn read_bytes(base: &Path, file: &str) -> Result<Vec<u8>, (String, String)> {
    read_by(base, file, |path| std::fs::read(path))
}

fn read_by<T>(base: &Path, file: &str, read: impl FnOnce(&Path) -> std::io::Result<T>) -> Result<T, (String, String)> {
    let path = base.join(file);
    // A named pipe would be opened for ever.
    let text = std::fs::metadata(&path).and_then(|about| match about.is_file() {
        true if about.len() > MOST_BYTES => Err(std::io::Error::other("it is larger than 1 GiB")),
        true => read(&path),
        false => Err(std::io::Error::other("it is not a file")),
    });
    text.map_err(|error| {
        (
            format!("cannot read {file:?}: {error}"),
            "give a path relative to the study's folder".to_owned(),
        )
    })
}
