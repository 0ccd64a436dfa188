//! Which files a trace has: those whose names differ in the rank only.

use super::call::is_name;
use crate::problem::Problem;
use crate::sink::TraceReader;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bytes at the begin of a file by which it is recognised, and lines of them.
const START: u64 = 2048;
const LINES: usize = 24;

/// Whether a text is one of calls.
fn has_calls(text: &[u8]) -> bool {
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|line| !line.is_empty()).take(LINES);
    lines.any(|line| {
        let line = String::from_utf8_lossy(line);
        let call = line.split_once(':').is_some_and(|(name, _)| is_name(name.trim()));
        call || line.starts_with("# htor's PMPI Tracer")
    })
}

fn is_text(path: &Path) -> bool {
    let mut start = Vec::new();
    // What cannot be read has no calls.
    let _ = crate::packed::open(path).and_then(|(text, _)| text.take(START).read_to_end(&mut start));
    has_calls(&start)
}

/// What stands before and after the rank in a name: its last number.
fn of_rank(path: &Path) -> Option<(String, u64, String)> {
    let name = path.file_name()?.to_str()?;
    let end = name.rfind(|letter: char| letter.is_ascii_digit())? + 1;
    let begin = name[..end]
        .rfind(|letter: char| !letter.is_ascii_digit())
        .map_or(0, |place| {
            place + name[place..].chars().next().map_or(1, char::len_utf8)
        });
    Some((
        name[..begin].to_owned(),
        name[begin..end].parse().ok()?,
        name[end..].to_owned(),
    ))
}

fn beside(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    files
}

/// Whether a path is of this format.
pub(super) fn is_it(path: &Path, start: &[u8]) -> bool {
    match path.is_dir() {
        true => beside(path).iter().any(|file| is_text(file)),
        false => has_calls(start),
    }
}

/// The files of all ranks.
pub(super) fn of(path: &Path, reader: &mut TraceReader<'_>) -> Result<Vec<PathBuf>, Problem> {
    let name = path.display().to_string();
    let hint = "files are to be named by their ranks: pmpi-trace-rank-0.txt, pmpi-trace-rank-1.txt and so on";
    let mut sets: BTreeMap<(String, String), BTreeMap<u64, PathBuf>> = BTreeMap::new();
    let mut add = |file: PathBuf| {
        if let Some((before, rank, after)) = of_rank(&file) {
            sets.entry((before, after)).or_default().insert(rank, file);
        }
    };
    if path.is_dir() {
        for file in beside(path) {
            match is_text(&file) && of_rank(&file).is_some() {
                true => add(file),
                false => reader.problem(Problem::new(
                    file.display().to_string(),
                    "it is no trace of a rank",
                    "it is left out",
                )),
            }
        }
    } else if let Some((before, _, after)) = of_rank(path) {
        let folder = path
            .parent()
            .filter(|parent| *parent != Path::new(""))
            .unwrap_or(Path::new("."));
        let same =
            |file: &PathBuf| of_rank(file).is_some_and(|(its, _, end)| (its, end) == (before.clone(), after.clone()));
        beside(folder).into_iter().filter(same).for_each(add);
    } else {
        // A file that is named by no rank is that of the only one.
        return Ok(vec![path.to_owned()]);
    }
    let files = match sets.len() {
        1 => sets.into_values().next().unwrap_or_default(),
        0 => return Err(Problem::new(name, "there is no trace of a rank in it", hint)),
        n => {
            let which = sets
                .keys()
                .map(|(before, after)| format!("{before}0{after}"))
                .collect::<Vec<_>>()
                .join(", ");
            return Err(Problem::new(
                name,
                format!("there are {n} traces in it: {which}"),
                "give a file of one of them",
            ));
        }
    };
    let last = files.keys().next_back().copied().unwrap_or_default();
    if let Some(missing) = (0..=last).find(|rank| !files.contains_key(rank)) {
        let reason = format!("there is a file of rank {last}, and none of rank {missing}");
        return Err(Problem::new(name, reason, hint));
    }
    Ok(files.into_values().collect())
}
