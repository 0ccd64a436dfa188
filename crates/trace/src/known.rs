//! The formats that are known, and which of them a file has.

use crate::format::ListedReader;
use crate::problem::{Problem, ReadStop, hint_of};
use crate::sink::TraceReader;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Every format, in the order in which they are tried: a line each.
pub const FORMATS: &[ListedReader] = crate::formats::LIST;

/// The format of a name.
pub fn named(name: &str) -> Option<&'static ListedReader> {
    FORMATS.iter().find(|format| format.name == name)
}

/// What to do about a name that is no format's: the one that is like it, or all of them.
pub fn hint(name: &str) -> String {
    let names = FORMATS.iter().map(|format| format.name);
    match study::diagnostic::nearest(name, names.clone()) {
        Some(best) => format!("did you mean {best:?}?"),
        None => format!("formats are {}", names.collect::<Vec<_>>().join(", ")),
    }
}

/// What to do about a file that is of no format: the file that it belongs to, where its name tells.
fn hint_of_file(path: &Path) -> String {
    let has = |ending: &str| path.extension().is_some_and(|own| own.eq_ignore_ascii_case(ending));
    let beside = match () {
        () if has("evt") || has("def") => "name the anchor of an OTF2 archive, such as traces.otf2; ",
        () if has("toml") => "this is a study: `fabricsim run` takes it; ",
        () => "",
    };
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    let names = names.join(", ");
    format!("{beside}`fabricsim trace formats` tells which file to name of each: {names}")
}

/// Why a file or folder is of no format.
fn why_unknown(path: &Path, start: &[u8]) -> &'static str {
    match path.is_dir() {
        true if std::fs::read_dir(path).is_ok_and(|mut list| list.next().is_none()) => "the folder is empty",
        true => "this folder holds no trace whose files are known by their names",
        false if start.is_empty() => "it is empty",
        false => "this is no trace of a known format",
    }
}

/// Bytes at the begin of a file by which formats are recognised.
const START: u64 = 4096;

/// The format of a file or folder, by its name and its first bytes.
///
/// # Errors
/// A path that cannot be read, or that is of no format.
pub fn format_of(path: &Path) -> Result<&'static ListedReader, Problem> {
    let name = path.display().to_string();
    let cannot = |error: std::io::Error| {
        let hint = match error.kind() {
            std::io::ErrorKind::NotFound => {
                "give the path of a file or folder that is there; a study's are relative to its folder"
            }
            _ => "give a file or folder that may be read",
        };
        Problem::new(&name, format!("it cannot be read: {error}"), hint)
    };
    let about = std::fs::metadata(path).map_err(cannot)?;
    let (mut start, mut broken) = (Vec::new(), None);
    if about.is_file() {
        // What is packed badly is for its format to tell, which its first words name, or those of the file as it is.
        let unpacked = crate::packed::open(path).and_then(|(text, _)| text.take(START).read_to_end(&mut start));
        broken = unpacked.err();
        if broken.is_some() && start.is_empty() {
            let file = File::open(path).map_err(cannot)?;
            file.take(START).read_to_end(&mut start).map_err(cannot)?;
        }
    } else if !about.is_dir() {
        return Err(Problem::new(
            &name,
            "it is neither a file nor a folder",
            "give a file of a trace",
        ));
    }
    FORMATS
        .iter()
        .find(|format| (format.is_it)(path, &start))
        .ok_or_else(|| match &broken {
            Some(error) => Problem::new(&name, format!("it cannot be unpacked: {error}"), hint_of(error)),
            None => Problem::new(&name, why_unknown(path, &start), hint_of_file(path)),
        })
}

/// Reads a trace of a format that is known, or of the one that it has.
///
/// # Errors
/// Why reading ended before the end.
pub fn read(path: &Path, format: Option<&ListedReader>, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
    (known_or_of(format, path)?.read)(path, reader)
}

/// A format that is known, or the one that a path has.
///
/// # Errors
/// As of [`format_of`].
pub(crate) fn known_or_of<'a>(known: Option<&'a ListedReader>, path: &Path) -> Result<&'a ListedReader, Problem> {
    known.map_or_else(|| format_of(path), Ok)
}
