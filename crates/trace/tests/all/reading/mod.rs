//! How tests read what they have written, and words for the operations that they expect.

#![allow(dead_code, reason = "each test takes what it needs")]

use std::path::Path;
use trace::{Collected, Kind, Operation, Problem, ReadStop};

/// What a path has, and the words of its problems; those alone where it cannot be read to its end.
pub fn read_path(path: &Path) -> (Collected, Vec<String>) {
    match Collected::of(|reader| trace::read(path, None, reader)) {
        Ok((all, problems)) => (all, problems.iter().map(Problem::to_string).collect()),
        Err(ReadStop::Broken(problem)) => (Collected::default(), vec![problem.to_string()]),
        Err(stop) => panic!("{stop:?}"),
    }
}

/// The same of bytes as a file of a name, which stands in words without its folder.
pub fn read_bytes(name: &str, bytes: &(impl AsRef<[u8]> + ?Sized)) -> (Collected, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("the file can be written");
    let (all, words) = read_path(&path);
    let folder = format!("{}/", folder.path().display());
    (all, words.iter().map(|word| word.replace(&folder, "")).collect())
}

/// Writes files, and reads a path among them: a trace with the words of its problems, or those of what cannot be read to its end. Files stand
/// in words without their folder.
pub fn read_files(files: &[(String, Vec<u8>)], open: &str) -> Result<(Collected, Vec<String>), String> {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    for (name, bytes) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("it is in the folder")).expect("the folder can be made");
        std::fs::write(path, bytes).expect("the file can be written");
    }
    let short = |problem: &Problem| {
        let place = format!("{}/", folder.path().display());
        let file = problem.file.strip_prefix(&place).unwrap_or(&problem.file).to_owned();
        Problem {
            file,
            ..problem.clone()
        }
        .to_string()
    };
    match Collected::of(|reader| trace::read(&folder.path().join(open), None, reader)) {
        Ok((trace, problems)) => Ok((trace, problems.iter().map(short).collect())),
        Err(ReadStop::Broken(problem)) => Err(short(&problem)),
        Err(stop) => panic!("{stop:?}"),
    }
}

/// Operations of a rank without times, computations left out, and their lists.
pub fn calls_of(trace: &Collected, rank: usize) -> Vec<(Operation, Vec<u64>)> {
    let operations = trace.ranks[rank]
        .iter()
        .filter(|listed| listed.operation.kind != Kind::Compute);
    let plain = |operation: Operation| Operation {
        time: 0,
        start: 0,
        ..operation
    };
    operations
        .map(|listed| (plain(listed.operation), listed.values.clone()))
        .collect()
}

/// Holds operations with their lists to those that are expected.
#[track_caller]
pub fn same_operations(found: &[(Operation, Vec<u64>)], expected: &[(Operation, &[u64])]) {
    let expected: Vec<(Operation, Vec<u64>)> = expected
        .iter()
        .map(|(operation, list)| (*operation, list.to_vec()))
        .collect();
    assert_eq!(found, expected);
}

pub fn message(kind: Kind, peer: u32, bytes: u64, tag: u32) -> Operation {
    Operation::message(kind, peer, bytes, tag)
}

pub fn with_request(operation: Operation, request: u32) -> Operation {
    Operation { request, ..operation }
}

/// A collective of all ranks.
pub fn of(kind: Kind, bytes: u64) -> Operation {
    Operation::collective(kind, 0, bytes)
}

/// The same with a root.
pub fn rooted(kind: Kind, bytes: u64, root: u32) -> Operation {
    Operation {
        peer: root,
        ..of(kind, bytes)
    }
}

pub fn received(received: u64, operation: Operation) -> Operation {
    Operation { received, ..operation }
}
