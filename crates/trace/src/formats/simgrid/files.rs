//! Which files a trace has.

use super::arguments::{is_action, rank_of};
use crate::lines::LinesInPieces;
use crate::problem::Problem;
use crate::sink::TraceReader;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bytes at the begin of a file by which it is recognised.
const START: u64 = 1024;
/// Lines of them.
const LINES: usize = 10;

/// Lines of a text that are neither empty nor comments.
fn lines(text: &[u8]) -> impl Iterator<Item = &str> {
    let lines = text.split(|byte| *byte == b'\n');
    let text = lines.filter_map(|line| std::str::from_utf8(line.trim_ascii()).ok());
    text.filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Whether a text has lines of actions.
fn has_actions(text: &[u8]) -> bool {
    lines(text).take(LINES).any(|line| {
        let mut words = line.split_ascii_whitespace();
        let rank = words.next().and_then(rank_of).is_some();
        rank && words.next().is_some_and(is_action)
    })
}

fn start_of(path: &Path) -> Vec<u8> {
    let mut start = Vec::new();
    // What cannot be read has no actions.
    let _ = crate::packed::open(path).and_then(|(text, _)| text.take(START).read_to_end(&mut start));
    start
}

fn is_text(path: &Path) -> bool {
    path.is_file() && has_actions(&start_of(path))
}

/// The file that a line of a list names: from where the list is.
fn named(list: &Path, line: &str) -> Option<PathBuf> {
    let folder = list.parent().unwrap_or(Path::new(""));
    let path = Path::new(line);
    let beside = path.file_name().map(|name| folder.join(name));
    [Some(folder.join(path)), beside]
        .into_iter()
        .flatten()
        .find(|path| path.is_file())
}

/// Whether a text is a list of files with actions.
fn is_list(path: &Path, text: &[u8]) -> bool {
    lines(text)
        .next()
        .and_then(|line| named(path, line))
        .is_some_and(|file| is_text(&file))
}

/// The files of a folder, by name: numbers in names count as numbers.
fn of_folder(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|file| file.is_file())
        .collect();
    files.sort_by_cached_key(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let digits: String = name.chars().filter(char::is_ascii_digit).collect();
        (digits.parse::<u64>().unwrap_or(u64::MAX), name)
    });
    files
}

/// Whether a path is of this format.
pub(super) fn is_it(path: &Path, start: &[u8]) -> bool {
    match path.is_dir() {
        true => of_folder(path).iter().any(|file| is_text(file)),
        false => has_actions(start) || is_list(path, start),
    }
}

/// The files of a trace.
pub(super) fn of(path: &Path, reader: &mut TraceReader<'_>) -> Result<Vec<PathBuf>, Problem> {
    let name = path.display().to_string();
    if path.is_dir() {
        let (texts, others): (Vec<PathBuf>, Vec<PathBuf>) = of_folder(path).into_iter().partition(|file| is_text(file));
        for other in others.iter().filter(|other| !is_list(other, &start_of(other))) {
            let problem = Problem::new(other.display().to_string(), "it has no actions", "it is left out");
            reader.problem(problem);
        }
        return match texts.is_empty() {
            true => Err(Problem::new(
                name,
                "there is no file of actions in it",
                "lines are to be as `0 init`",
            )),
            false => Ok(texts),
        };
    }
    let start = start_of(path);
    if has_actions(&start) || !is_list(path, &start) {
        return Ok(vec![path.to_owned()]);
    }
    let (mut list, _) = LinesInPieces::open(path)?;
    let mut files = Vec::new();
    loop {
        let number = list.number() + 1;
        let Some(line) = list.next()? else {
            break;
        };
        let line = String::from_utf8_lossy(line.trim_ascii());
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match named(path, &line) {
            Some(file) => files.push(file),
            None => {
                let hint = "a line of a list is the name of a file, from where the list is";
                return Err(Problem::new(&name, format!("there is no file {line}"), hint).at(number));
            }
        }
    }
    Ok(files)
}
