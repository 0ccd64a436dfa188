//! The files of a trace: what tells of it, and one for each rank.

use crate::problem::Problem;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bytes of a file by which it is known.
const START: u64 = 4096;

/// Whether a file with this begin tells of a trace.
pub(super) fn is_meta(path: &Path, start: &[u8]) -> bool {
    let has = |key: &str| start.windows(key.len()).any(|window| window == key.as_bytes());
    path.extension() == Some(OsStr::new("meta")) && (has("numprocs") || has("fileprefix"))
}

/// The files of a folder that tell of a trace, in order.
fn metas_of(folder: &Path) -> Vec<PathBuf> {
    let start_of = |path: &Path| -> std::io::Result<Vec<u8>> {
        let mut start = Vec::new();
        File::open(path)?.take(START).read_to_end(&mut start)?;
        Ok(start)
    };
    let list = std::fs::read_dir(folder).into_iter().flatten();
    let files = list.filter_map(|entry| Some(entry.ok()?.path()));
    let metas = files.filter(|path| path.extension() == Some(OsStr::new("meta")) && path.is_file());
    let mut found: Vec<PathBuf> = metas
        .filter(|path| start_of(path).is_ok_and(|start| is_meta(path, &start)))
        .collect();
    found.sort();
    found
}

/// The one file of a folder that tells of a trace.
fn the_meta_of(folder: &Path) -> Result<PathBuf, Problem> {
    let mut metas = metas_of(folder);
    let problem = |reason: String, hint: &str| Problem::new(folder.display().to_string(), reason, hint);
    match metas.len() {
        0 => Err(problem("it has no PREFIX.meta".into(), "give a file of a trace")),
        1 => Ok(metas.remove(0)),
        n => {
            let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let some: Vec<String> = metas.iter().take(5).map(name).collect();
            let more = if n > some.len() { ", ..." } else { "" };
            let reason = format!("it has {n} traces: {}{more}", some.join(", "));
            Err(problem(reason, "give the .meta of one of them"))
        }
    }
}

/// Whether a path is a folder with a trace.
pub(super) fn has_trace(path: &Path) -> bool {
    path.is_dir() && !metas_of(path).is_empty()
}

/// The files of all ranks of the trace that is in a folder, or that a file is of.
pub(super) fn files_of_ranks(path: &Path) -> Result<Vec<PathBuf>, Problem> {
    match path.is_dir() {
        true => files_beside(&the_meta_of(path)?),
        false => files_beside(path),
    }
}

/// The files of all ranks of the trace that a file is of.
fn files_beside(path: &Path) -> Result<Vec<PathBuf>, Problem> {
    let name = path.display().to_string();
    let folder = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let of_rank = path.extension() == Some(OsStr::new("bin"));
    let meta = match of_rank {
        true => path.with_file_name(format!(
            "{}.meta",
            rank_of(&stem).map_or(&stem[..], |(prefix, _)| prefix)
        )),
        false => path.to_owned(),
    };
    let (mut ranks, mut prefixes) = (None, Vec::new());
    match std::fs::read(&meta) {
        Ok(text) => {
            let text = String::from_utf8_lossy(&text).into_owned();
            let value = |key: &str| {
                text.lines()
                    .find_map(|line| line.trim().strip_prefix(key)?.trim().strip_prefix('='))
            };
            let number = value("numprocs").map(str::trim);
            ranks = number
                .map(|number| number.parse::<u32>().map_err(|_| number.to_owned()))
                .transpose()
                .map_err(|number| {
                    let reason = format!("numprocs={number} is no number of ranks");
                    Problem::new(meta.display().to_string(), reason, "give the file as it was recorded")
                })?;
            prefixes.push(meta.file_stem().unwrap_or_default().to_string_lossy().into_owned());
            let told = value("fileprefix")
                .map(|prefix| prefix.trim().rsplit(['/', '\\']).next().unwrap_or_default().to_owned());
            prefixes.extend(told);
        }
        Err(error) if !of_rank => return Err(Problem::unreadable(&name, &error)),
        Err(_) => {}
    }
    if let Some((prefix, _)) = rank_of(&stem).filter(|_| of_rank) {
        prefixes.insert(0, prefix.to_owned());
    }
    let list = std::fs::read_dir(folder)
        .map_err(|error| Problem::new(&name, format!("its folder cannot be read: {error}"), ""))?;
    let beside: Vec<PathBuf> = list.filter_map(|entry| Some(entry.ok()?.path())).collect();
    let mut found = Vec::new();
    for prefix in &prefixes {
        found = of_prefix(&beside, prefix);
        if !found.is_empty() {
            break;
        }
    }
    let wanted = ranks.unwrap_or(found.last().map_or(0, |(rank, _)| rank + 1));
    let missing = (0..wanted).find(|rank| found.get(*rank as usize).is_none_or(|(found, _)| found != rank));
    let hint = "files of all ranks are to be in one folder, named PREFIX-0000.bin, PREFIX-0001.bin and so on";
    if let Some(missing) = missing {
        let prefix = prefixes.first().map_or("PREFIX", String::as_str);
        let reason = format!("the file {prefix}-{missing:04}.bin of {wanted} is missing");
        return Err(Problem::new(name, reason, hint).of_rank(missing));
    }
    if wanted == 0 || found.len() > wanted as usize {
        let reason = format!("there are {} files of ranks, and {wanted} ranks", found.len());
        return Err(Problem::new(name, reason, hint));
    }
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// Prefix and rank of the name of a file.
fn rank_of(stem: &str) -> Option<(&str, u32)> {
    let (prefix, rank) = stem.rsplit_once('-')?;
    let digits = !rank.is_empty() && rank.bytes().all(|byte| byte.is_ascii_digit());
    Some((prefix, rank.parse().ok().filter(|_| digits)?))
}

/// Files with a prefix, by their ranks.
fn of_prefix(files: &[PathBuf], prefix: &str) -> Vec<(u32, PathBuf)> {
    let mut found: Vec<(u32, PathBuf)> = files
        .iter()
        .filter(|path| path.extension() == Some(OsStr::new("bin")))
        .filter_map(|path| {
            let stem = path.file_stem()?.to_str()?;
            let (its, rank) = rank_of(stem)?;
            (its == prefix).then(|| (rank, path.clone()))
        })
        .collect();
    found.sort();
    found
}
