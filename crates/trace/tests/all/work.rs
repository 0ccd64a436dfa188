//! Files of work: what is written is read, in pieces, and every byte that is another is noticed.

use crate::samples::work::{bytes, everything, unsealed, write};
use std::path::{Path, PathBuf};
use trace::collected::CollectedOperation;
use trace::formats::work::WorkWriter;
use trace::{
    Collected, Kind, Lists, Operation, ReadProgress, ReadStop, TraceForm, TraceHeader, TraceReader, TraceSink,
};

fn read(path: &Path) -> Result<Collected, ReadStop> {
    let (all, problems) = Collected::of(|reader| trace::read(path, None, reader))?;
    assert!(problems.is_empty(), "{problems:?}");
    Ok(all)
}

/// The words of a file that cannot be read.
fn words(content: &[u8]) -> String {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("it.work");
    std::fs::write(&path, content).expect("it can be written");
    match read(&path) {
        Err(ReadStop::Broken(problem)) => {
            assert!(problem.file.ends_with("it.work") && !problem.reason.is_empty());
            problem.to_string()
        }
        other => format!("{other:?}"),
    }
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("it.work");
    (folder, path)
}

#[test]
fn what_is_written_is_read() {
    let empty = Collected {
        header: TraceHeader::new("dumpi", 1, TraceForm::Program),
        ranks: vec![Vec::new()],
        names: Vec::new(),
    };
    for mut trace in [everything(1, 1), everything(4, 3), empty] {
        let (folder, path) = place();
        write(&trace, &path);
        if trace.header.files.is_empty() {
            // A file that knows no other is the one that messages name.
            trace.header.files = vec![path.display().to_string()];
        }
        assert_eq!(read(&path), Ok(trace));
        let left: Vec<_> = std::fs::read_dir(folder.path()).expect("it is a folder").collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }
}

#[test]
fn a_file_without_a_seal_is_read() {
    let trace = everything(2, 1);
    let (_folder, path) = place();
    std::fs::write(&path, unsealed(&trace)).expect("it can be written");
    assert_eq!(read(&path), Ok(trace));
}

/// One operation.
fn small() -> Collected {
    let mut small = everything(1, 1);
    small.ranks[0].truncate(1);
    small
}

#[test]
fn every_changed_byte_is_noticed() {
    let whole = bytes(&small());
    let (_folder, path) = place();
    let work = trace::named("work").expect("it is known");
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 1 << (at % 8);
        std::fs::write(&path, &changed).expect("it can be written");
        let told = Collected::of(|reader| trace::read(&path, Some(work), reader));
        assert!(matches!(told, Err(ReadStop::Broken(_))), "byte {at}: {told:?}");
    }
}

#[test]
fn every_cut_file_is_noticed() {
    let whole = bytes(&small());
    for length in 6..whole.len() {
        let told = words(&whole[..length]);
        assert!(told.contains("write it again"), "{length} bytes: {told}");
    }
}

#[test]
fn a_batch_of_another_file_is_noticed() {
    let (one, mut other) = (everything(1, 1), everything(1, 1));
    other.ranks[0][0].operation.time ^= 1;
    let (one, other) = (bytes(&one), bytes(&other));
    let differ: Vec<usize> = (0..one.len()).filter(|&at| one[at] != other[at]).collect();
    let mut mixed = one;
    mixed[differ[0]] = other[differ[0]];
    assert!(words(&mixed).contains("batch 0 is not what was written"));
}

/// Operations of many ranks, one after the other, as programs that are recorded together tell them.
struct Interleaved {
    ranks: u32,
    rounds: u64,
}

impl Interleaved {
    fn operation(&self, rank: u32, round: u64) -> Operation {
        Operation {
            start: round,
            ..Operation::compute(u64::from(rank) * self.rounds + round)
        }
    }

    fn tell(&self, sink: &mut dyn TraceSink) -> Result<(), ReadStop> {
        sink.begin(&TraceHeader::new("smpi", self.ranks, TraceForm::Program))?;
        for round in 0..self.rounds {
            for rank in (0..self.ranks).rev() {
                sink.operation(rank, round, &self.operation(rank, round), &Lists::default())?;
            }
        }
        sink.end(&[])
    }
}

/// Checks that the operations of each rank come in their order, and how often the rank changes.
struct Check<'a> {
    of: &'a Interleaved,
    next: Vec<u64>,
    last: u32,
    changes: u64,
}

impl TraceSink for Check<'_> {
    fn begin(&mut self, header: &TraceHeader) -> Result<(), ReadStop> {
        assert_eq!(header.ranks, self.of.ranks);
        Ok(())
    }

    fn operation(&mut self, rank: u32, record: u64, operation: &Operation, _lists: &Lists<'_>) -> Result<(), ReadStop> {
        let next = &mut self.next[rank as usize];
        assert_eq!((record, *operation), (*next, self.of.operation(rank, *next)));
        *next += 1;
        self.changes += u64::from(rank != self.last);
        self.last = rank;
        Ok(())
    }

    fn end(&mut self, _names: &[String]) -> Result<(), ReadStop> {
        Ok(())
    }
}

#[test]
fn ranks_that_take_turns_are_put_together_and_stay_in_order() {
    for (ranks, rounds) in [(3, 400_000), (1_000_000, 1), (5_000, 200)] {
        let all = Interleaved { ranks, rounds };
        let (_folder, path) = place();
        let mut writer = WorkWriter::create(&path).expect("a file can be made");
        all.tell(&mut writer).expect("it can be written");
        let size = std::fs::metadata(&path).expect("it is there").len();
        let operations = u64::from(ranks) * rounds;
        assert!(
            size < operations * 100 + (1 << 17),
            "{size} bytes for {operations} operations"
        );
        let mut check = Check {
            of: &all,
            next: vec![0; ranks as usize],
            last: u32::MAX,
            changes: 0,
        };
        let mut watch = |_: ReadProgress| true;
        trace::read(&path, None, &mut TraceReader::new(&mut check, &mut watch)).expect("it can be read");
        assert!(check.next.iter().all(|next| *next == rounds));
        // Half a million operations wait at a time: so often a rank comes back.
        let most = u64::from(ranks) * (operations / 500_000 + 1);
        assert!(check.changes <= most, "{} changes of rank", check.changes);
    }
}

#[test]
fn a_list_longer_than_a_batch_is_written_and_read() {
    let mut trace = everything(1, 1);
    trace.ranks[0].push(CollectedOperation {
        operation: Operation::new(Kind::Alltoallv),
        values: (0..3_000_000).collect(),
        ..CollectedOperation::default()
    });
    let (_folder, path) = place();
    write(&trace, &path);
    assert_eq!(read(&path), Ok(trace));
}

#[test]
fn nothing_is_left_of_a_trace_that_did_not_end() {
    let (folder, path) = place();
    let mut writer = WorkWriter::create(&path).expect("a file can be made");
    writer
        .begin(&TraceHeader::new("goal", 2, TraceForm::Graph))
        .expect("it begins");
    let outside = writer.operation(2, 0, &Operation::compute(1), &Lists::default());
    assert_eq!(
        outside,
        Err(ReadStop::Refused("an operation of rank 2 of 2 ranks".into()))
    );
    drop(writer);
    assert_eq!(std::fs::read_dir(folder.path()).expect("it is a folder").count(), 0);
}

#[test]
fn reading_ends_when_the_user_wants_it() {
    let (_folder, path) = place();
    write(&everything(2, 300), &path);
    let mut all = Collected::default();
    let mut told = Vec::new();
    let mut watch = |progress: ReadProgress| {
        told.push(progress);
        progress.records < 10_000
    };
    let mut reader = TraceReader::new(&mut all, &mut watch);
    assert_eq!(trace::read(&path, None, &mut reader), Err(ReadStop::Interrupted));
    assert!(
        told.iter()
            .all(|progress| progress.done <= progress.all && progress.all > 0)
    );
    assert!(all.ranks.iter().map(Vec::len).sum::<usize>() < 19_800);
}

#[test]
fn a_newer_version_is_refused_with_words() {
    let mut newer = unsealed(&everything(1, 1));
    let key = b"fabricsim_work\0";
    let places: Vec<usize> = (0..newer.len()).filter(|&at| newer[at..].starts_with(key)).collect();
    for at in places {
        let value = (at..)
            .find(|&at| newer[at..].starts_with(b"\x01\0\0\x001\0"))
            .expect("its version follows");
        newer[value + 4] = b'2';
    }
    let told = words(&newer);
    assert!(
        told.contains("version 2 of the format") && told.contains("newer fabricsim"),
        "{told}"
    );
}

#[test]
fn what_is_no_file_of_work_is_told() {
    assert!(words(b"ARROW1").contains("ends after 6 bytes"));
    let mut other = unsealed(&everything(1, 1));
    for at in 0..other.len() {
        if other[at..].starts_with(b"fabricsim_work\0") {
            other[at] = b'F';
        }
    }
    assert!(words(&other).contains("an Arrow file, and not one of recorded work"));
}
