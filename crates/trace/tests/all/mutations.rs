//! Damaged traces: whatever is cut, flipped or put in, a reader ends with words, in little time and memory, and never panics.
//!
//! `FABRICSIM_MUTATIONS=N` takes N mutations of each sample in place of 100.

use crate::clock::cpu_time;
use crate::{held, samples};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Duration;
use trace::{Check, Lists, Operation, ReadProgress, ReadStop, Repair, TraceReader, TraceSink};

/// Most memory that a damaged sample of a few kilobytes may take.
const MOST_MEMORY: usize = 200 << 20;
/// Most CPU time.
const MOST_TIME: Duration = Duration::from_secs(1);

/// Counts operations, and checks what every sink relies on.
#[derive(Default)]
struct Count {
    ranks: u32,
    begun: bool,
    operations: u64,
}

impl TraceSink for Count {
    fn begin(&mut self, header: &trace::TraceHeader) -> Result<(), ReadStop> {
        assert!(!self.begun, "a trace begins once");
        (self.begun, self.ranks) = (true, header.ranks);
        Ok(())
    }

    fn operation(
        &mut self,
        rank: u32,
        _record: u64,
        _operation: &Operation,
        _lists: &Lists<'_>,
    ) -> Result<(), ReadStop> {
        assert!(self.begun && rank < self.ranks, "rank {rank} of {}", self.ranks);
        self.operations += 1;
        Ok(())
    }

    fn end(&mut self, _names: &[String]) -> Result<(), ReadStop> {
        assert!(self.begun, "a trace ends after it has begun");
        Ok(())
    }
}

/// Reads a path; the words of its problems, none if it is fine. What is read is checked and repaired, whatever that finds.
fn read(path: &Path) -> Vec<String> {
    let mut sinks = (Count::default(), Check::default());
    let (words, whole) = read_into(path, &mut sinks);
    // A check that is over is what a repair needs.
    if whole {
        let (_, whole) = read_into(path, &mut Repair::new(&sinks.1, Count::default()));
        assert!(whole, "what was read once is read again");
    }
    words
}

/// Reads a path into a sink; the words of its problems, and whether it was read to the end.
fn read_into(path: &Path, sink: &mut dyn TraceSink) -> (Vec<String>, bool) {
    let mut watch = |_: ReadProgress| true;
    let mut reader = TraceReader::new(sink, &mut watch);
    let result = trace::read(path, None, &mut reader);
    let (problems, _) = reader.into_problems();
    let mut words: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let whole = result.is_ok();
    match result {
        Ok(()) => {}
        Err(ReadStop::Broken(problem)) => words.push(problem.to_string()),
        Err(ReadStop::Refused(reason)) => words.push(reason),
        Err(ReadStop::Interrupted) => panic!("nobody wants it to end"),
    }
    (words, whole)
}

/// Random numbers, the same in every run (xorshift64*).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) as usize % n.max(1)
    }
}

/// Damages bytes in one of some ways.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random) -> String {
    let at = random.below(bytes.len());
    match random.below(7) {
        0 => {
            bytes.truncate(at);
            format!("cut to {at} bytes")
        }
        1 if !bytes.is_empty() => {
            let bit = random.below(8);
            bytes[at] ^= 1 << bit;
            format!("bit {bit} of byte {at} flipped")
        }
        2 if !bytes.is_empty() => {
            bytes[at] = [0, 1, 0x7F, 0x80, 0xFE, 0xFF, b'-', b'9'][random.below(8)];
            format!("byte {at} is {}", bytes[at])
        }
        3 => {
            let end = (at + 1 + random.below(16)).min(bytes.len());
            bytes.drain(at.min(end)..end);
            format!("bytes {at}..{end} are gone")
        }
        4 => {
            let value = [0xFF, 0, 0x41, b'9'][random.below(4)];
            let n = 1 + random.below(12);
            bytes.splice(at..at, std::iter::repeat_n(value, n));
            format!("{n} bytes of {value} before byte {at}")
        }
        5 => {
            // A length or number at its edge.
            let edge = [u64::MAX, u64::MAX >> 1, 1 << 31, u64::from(u32::MAX), 1 << 40][random.below(5)];
            let width = [4, 8][random.below(2)];
            let word = if random.below(2) == 0 {
                edge.to_le_bytes()
            } else {
                edge.to_be_bytes()
            };
            let word = if width == 4 && word[0] == 0 {
                &word[4..]
            } else {
                &word[..width]
            };
            let end = (at + width).min(bytes.len());
            bytes.splice(at..end, word.iter().copied());
            format!("{width} bytes at {at} are those of {edge}")
        }
        _ => {
            let end = (at + 1 + random.below(200)).min(bytes.len());
            let piece = bytes[at.min(end)..end].to_vec();
            let to = random.below(bytes.len() + 1);
            bytes.splice(to..to, piece);
            format!("bytes {at}..{end} once more at {to}")
        }
    }
}

#[test]
fn damaged_traces_are_refused_with_words() {
    let n: u64 = std::env::var("FABRICSIM_MUTATIONS").map_or(100, |n| n.parse().expect("a number"));
    for sample in samples::all() {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let whole = sample.write(folder.path());
        let words = read(&whole);
        assert!(words.is_empty(), "{} {}: {words:?}", sample.format, sample.name);
        let mut refused = 0;
        for i in 0..n {
            let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ (i + 1).wrapping_mul(0xD129_0B26_88E0_1C4B));
            let file = random.below(sample.files.len());
            let (name, bytes) = &sample.files[file];
            let mut damaged = bytes.clone();
            let how = mutate(&mut damaged, &mut random);
            let place = folder.path().join(name);
            std::fs::write(&place, &damaged).expect("the file can be written");
            let tale = format!("{} {}, {name}, mutation {i}: {how}", sample.format, sample.name);
            let begun = cpu_time();
            let (words, held) = held::while_doing(|| catch_unwind(AssertUnwindSafe(|| read(&whole))));
            let took = cpu_time() - begun;
            let words = words.unwrap_or_else(|_| panic!("{tale}: a panic"));
            assert!(took < MOST_TIME, "{tale}: {took:?}");
            assert!(held < MOST_MEMORY, "{tale}: {held} bytes");
            assert!(words.iter().all(|word| !word.is_empty()), "{tale}: no words");
            refused += usize::from(!words.is_empty());
            std::fs::write(&place, bytes).expect("the file can be written");
        }
        assert!(
            refused > 0,
            "{} {}: no mutation of {n} was noticed",
            sample.format,
            sample.name
        );
    }
}
