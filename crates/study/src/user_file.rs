//! Files that a study names, and tables in files or in the study itself.

use crate::diagnostic::{Findings, Place};
use crate::reader::Values;
use crate::rows::{Mistake, first};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::sync::OnceLock;

/// Most bytes of a file: some 100 for each of the most routers that a network may have would be more than a file should hold.
const MOST_BYTES: u64 = 1 << 30;

/// The text of `file` in the study's folder; otherwise a reason and a hint.
pub fn read_text(base: &Path, file: &str) -> Result<String, (String, String)> {
    read_by(base, file, |path| std::fs::read_to_string(path))
}

/// The bytes of `file` in the study's folder; otherwise a reason and a hint.
pub fn read_bytes(base: &Path, file: &str) -> Result<Vec<u8>, (String, String)> {
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

/// SHA-256 of a file's bytes, in hexadecimal: what a file is known by.
pub fn hash_bytes(bytes: &[u8]) -> String {
    in_hexadecimal(&Sha256::digest(bytes))
}

/// The same of words, which are not put together first.
pub fn hash_words(words: std::fmt::Arguments<'_>) -> String {
    struct Words(Sha256);
    impl std::fmt::Write for Words {
        fn write_str(&mut self, words: &str) -> std::fmt::Result {
            self.0.update(words);
            Ok(())
        }
    }
    let mut hash = Words(Sha256::new());
    // Nothing fails where nothing is kept.
    let _ = std::fmt::Write::write_fmt(&mut hash, words);
    in_hexadecimal(&hash.0.finalize())
}

fn in_hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Gives the text of a Parquet file as comma-separated lines, or says why it cannot.
pub type ParquetReader = fn(&Path) -> Result<String, String>;

static PARQUET: OnceLock<ParquetReader> = OnceLock::new();

/// Tells how tables in Parquet files are read: the core itself reads text, its face has Arrow. The first of several calls counts.
pub fn set_parquet_reader(reader: ParquetReader) {
    PARQUET.get_or_init(|| reader);
}

/// The text of a table, and where a study has it.
pub struct TableText {
    /// The text.
    pub text: String,
    place: Place,
    path: String,
    /// It has lines that a user can look up.
    in_lines: bool,
}

impl TableText {
    /// Reports the first of some mistakes with its line or row.
    pub fn refuse(&self, mistakes: Vec<Mistake>, findings: &mut Findings) {
        let (reason, hint) = first(mistakes, &self.text, self.in_lines);
        findings.error(self.place, &self.path, reason, hint);
    }
}

/// The table of `what` that the key `file` or the key `table` gives; `None` after errors.
pub fn read_table(values: &Values, base: &Path, what: &str, findings: &mut Findings) -> Option<TableText> {
    let in_file = values.given("file");
    if in_file == values.given("table") {
        let reason = match in_file {
            true => format!("there are two tables of {what}, one in a file and one here"),
            false => format!("there is no table of {what}"),
        };
        let hint = "name a file with `file`, or write its text as `table`";
        findings.error(values.place("file"), &format!("{}.file", values.path), reason, hint);
        return None;
    }
    let key = if in_file { "file" } else { "table" };
    let (place, path) = (values.place(key), format!("{}.{key}", values.path));
    let mut in_lines = in_file;
    let text = match values.text("file") {
        None => values.text("table")?.to_owned(),
        Some(file) => {
            let is_parquet = file.to_lowercase().ends_with(".parquet");
            in_lines = !is_parquet;
            let text = match is_parquet {
                true => read_by(base, file, read_parquet),
                false => read_text(base, file),
            };
            match text {
                Ok(text) => text,
                Err((reason, hint)) => {
                    findings.error(place, &path, reason, hint);
                    return None;
                }
            }
        }
    };
    Some(TableText {
        text,
        place,
        path,
        in_lines,
    })
}

/// The text of a Parquet file as comma-separated lines.
///
/// # Errors
/// There is no reader of such files, as without the Python face, or it cannot read this one.
pub fn read_parquet(path: &Path) -> std::io::Result<String> {
    let reader = PARQUET
        .get()
        .ok_or("Parquet is read by the Python face only, take CSV here".to_owned());
    reader.and_then(|reader| reader(path)).map_err(std::io::Error::other)
}
