//! The first pass: how many ranks there are, and which kind of trace it is.

use super::arguments::{is_action, rank_of};
use crate::problem::Problem;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// What is found.
#[derive(Default)]
pub(super) struct SeenRanks {
    lines: u64,
    /// By rank: the number of the file that it was first seen in.
    seen: HashMap<u32, u32>,
    files: Vec<PathBuf>,
    /// The greatest rank, and the place of its first line.
    most: Option<(u32, u32, u64)>,
    last: Option<u32>,
    comm_size: u32,
    /// There are messages or waits as older traces have them, and as newer ones do.
    older: bool,
    newer: bool,
}

impl SeenRanks {
    /// Takes note of a line. What is wrong with it is told in the second pass.
    pub(super) fn note(&mut self, file: &Path, number: u64, line: &str) {
        if self.files.last().is_none_or(|last| last != file) {
            self.files.push(file.to_owned());
            self.last = None;
        }
        self.lines += 1;
        let mut words = line.split_ascii_whitespace();
        let rank = words.next().and_then(rank_of);
        let (Some(rank), Some(action)) = (rank, words.next().filter(|action| is_action(action))) else {
            return;
        };
        let first = |action: &str, letter: u8| {
            action
                .as_bytes()
                .first()
                .is_some_and(|first| first.eq_ignore_ascii_case(&letter))
        };
        // Most lines are of other actions than those that tell.
        if [b'w', b't', b's', b'i', b'c']
            .iter()
            .any(|letter| first(action, *letter))
        {
            self.note_kind(action, words);
        }
        if self.last != Some(rank) {
            self.last = Some(rank);
            let file = self.files.len() as u32 - 1;
            self.seen.entry(rank).or_insert(file);
            if self.most.is_none_or(|(most, ..)| rank > most) {
                self.most = Some((rank, file, number));
            }
        }
    }

    fn note_kind<'a>(&mut self, action: &str, mut words: impl Iterator<Item = &'a str>) {
        match action.to_ascii_lowercase().as_str() {
            "wait" => match words.next() {
                None => self.older = true,
                Some(_) => self.newer = true,
            },
            "test" => self.newer = true,
            "send" | "isend" => match words.count() {
                2 => self.older = true,
                4 => self.newer = true,
                _ => {}
            },
            "comm_size" => {
                let size = words.next().and_then(|size| size.parse().ok()).unwrap_or_default();
                self.comm_size = self.comm_size.max(size);
            }
            _ => {}
        }
    }

    /// The number of ranks.
    pub(super) fn ranks(&self, name: &str) -> Result<u32, Problem> {
        let Some((rank, file, line)) = self.most else {
            return Err(Problem::new(name, "it has no actions", "lines are to be as `0 init`"));
        };
        if u64::from(rank) >= self.lines {
            let reason = format!("there is no rank {rank} of a trace of {} lines", self.lines);
            let file = self.files[file as usize].display().to_string();
            return Err(Problem::new(file, reason, "ranks are numbered from 0").at(line));
        }
        Ok(rank + 1)
    }

    /// Ranks without an action.
    pub(super) fn missing(&self, name: &str) -> Option<Problem> {
        let ranks = self.most.map_or(0, |(rank, ..)| rank + 1).max(self.comm_size);
        // As many as there are lines have been seen at most: the search is short.
        let missing = (0..ranks).find(|rank| !self.seen.contains_key(rank))?;
        let reason = format!("rank {missing} of {ranks} has no actions");
        Some(Problem::new(name, reason, "its file may be missing").of_rank(missing))
    }

    /// Whether it is a trace without tags.
    pub(super) fn old(&self) -> bool {
        self.older && !self.newer
    }

    /// The file of each rank, or the one of all.
    pub(super) fn files(&self, files: &[PathBuf]) -> Vec<String> {
        let name = |file: &PathBuf| file.display().to_string();
        match files {
            [one] => vec![name(one)],
            _ => {
                let ranks = self.most.map_or(0, |(rank, ..)| rank + 1);
                let file = |rank: u32| self.seen.get(&rank).map(|file| name(&self.files[*file as usize]));
                (0..ranks).map(|rank| file(rank).unwrap_or_default()).collect()
            }
        }
    }
}
