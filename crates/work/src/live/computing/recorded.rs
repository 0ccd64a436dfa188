//! What an earlier run recorded of the computing of its ranks, from its log.
//!
//! A log has the operations of each rank in order, with computations between them. What was computed before an operation is taken before the same
//! operation of a program that does the same; the first that is another is an error, since nothing is known of what comes after it.

use std::path::Path;
use trace::operation::{NONE, UNKNOWN_SIZE};
use trace::{Kind, Lists, Operation, ReadStop, TraceForm, TraceHeader, TraceReader, TraceSink, WorkUnit};

/// What ranks computed before each of their operations, and behind the last.
#[derive(Debug, PartialEq)]
pub struct RecordedStretches {
    file: String,
    ranks: Vec<Vec<RecordedOperation>>,
}

/// An operation of the log.
#[derive(Clone, Copy, Debug, PartialEq)]
struct RecordedOperation {
    /// What was computed before it (ps).
    before: u64,
    /// What it is, shortly: its kind, and of messages the other rank and the size.
    kind: Kind,
    peer: u32,
    bytes: u64,
}

impl RecordedOperation {
    fn new(operation: &Operation) -> RecordedOperation {
        let is_told = operation.kind != Kind::Recv && operation.kind != Kind::Irecv;
        RecordedOperation {
            before: 0,
            kind: operation.kind,
            peer: operation.peer,
            bytes: if is_told { operation.bytes } else { UNKNOWN_SIZE },
        }
    }

    fn words(&self) -> String {
        match (self.peer, self.bytes) {
            (NONE, _) => self.kind.name().to_owned(),
            (peer, UNKNOWN_SIZE) => format!("{} with rank {peer}", self.kind.name()),
            (peer, bytes) => format!("{} with rank {peer} of {bytes} bytes", self.kind.name()),
        }
    }
}

impl RecordedStretches {
    /// Reads the log of a run.
    ///
    /// # Errors
    /// The file is no trace of calls in picoseconds, or cannot be read.
    pub fn read(path: &Path) -> Result<RecordedStretches, String> {
        let mut reading = StretchReading {
            file: path.display().to_string(),
            ..StretchReading::default()
        };
        let mut goes_on = |_| true;
        let mut reader = TraceReader::new(&mut reading, &mut goes_on);
        match trace::known::read(path, None, &mut reader) {
            Ok(()) => {}
            Err(ReadStop::Interrupted) => return Err("reading was interrupted".to_owned()),
            Err(ReadStop::Broken(problem)) => return Err(problem.to_string()),
            Err(ReadStop::Refused(reason)) => return Err(reason),
        }
        for (rank, trailing) in reading.computed.iter().enumerate() {
            reading.ranks[rank].push(RecordedOperation {
                before: *trailing,
                ..RecordedOperation::new(&Operation::new(Kind::Waitall))
            });
        }
        Ok(RecordedStretches {
            file: reading.file,
            ranks: reading.ranks,
        })
    }

    /// How many ranks it has.
    pub fn n_ranks(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// What a rank computed before its operation with a number (ps).
    pub fn time(&self, (rank, number): (u32, u64)) -> u64 {
        let own = self.ranks.get(rank as usize);
        own.and_then(|own| own.get(number as usize))
            .map_or(0, |operation| operation.before)
    }

    /// Whether an operation is the one with that number; what is to be said where it is not.
    pub(in crate::live) fn agrees(&self, (rank, number): (u32, u64), operation: &Operation) -> Result<(), String> {
        let own = RecordedOperation::new(operation);
        let all = self.ranks.get(rank as usize).map_or(&[][..], |all| &all[..]);
        // The last stands for what comes behind all.
        let known = all.get(number as usize).filter(|_| (number as usize) + 1 < all.len());
        match known {
            Some(known) if (known.kind, known.peer, known.bytes) == (own.kind, own.peer, own.bytes) => Ok(()),
            known => Err(format!(
                "operation {number} of rank {rank} is {}, and in {} {}",
                own.words(),
                self.file,
                known.map_or_else(
                    || "the rank ends before".to_owned(),
                    |known| format!("it is {}", known.words())
                )
            )),
        }
    }
}

/// Whether operations of a kind depend on times, so that they do not count among those that must agree.
pub(in crate::live) fn may_differ(kind: Kind) -> bool {
    matches!(kind, Kind::Test | Kind::Waitnews)
}

#[derive(Default)]
struct StretchReading {
    file: String,
    ranks: Vec<Vec<RecordedOperation>>,
    /// What has been computed since the last operation (ps).
    computed: Vec<u64>,
}

impl TraceSink for StretchReading {
    fn begin(&mut self, header: &TraceHeader) -> Result<(), ReadStop> {
        if header.form != TraceForm::Program || header.unit != WorkUnit::Picoseconds {
            let reason = format!(
                "{} has no computing times of calls; it has to be the log of a run",
                self.file
            );
            return Err(ReadStop::Refused(reason));
        }
        self.ranks = vec![Vec::new(); header.ranks as usize];
        self.computed = vec![0; header.ranks as usize];
        Ok(())
    }

    fn operation(
        &mut self,
        rank: u32,
        _record: u64,
        operation: &Operation,
        _lists: &Lists<'_>,
    ) -> Result<(), ReadStop> {
        let rank = rank as usize;
        match operation.kind {
            Kind::Compute => self.computed[rank] = self.computed[rank].saturating_add(operation.time),
            // A sleep, and a look for messages, take the time that the program asks for.
            Kind::Sleep | Kind::Enter | Kind::Leave => {}
            kind if may_differ(kind) => {}
            _ => self.ranks[rank].push(RecordedOperation {
                before: std::mem::take(&mut self.computed[rank]),
                ..RecordedOperation::new(operation)
            }),
        }
        Ok(())
    }

    fn end(&mut self, _names: &[String]) -> Result<(), ReadStop> {
        Ok(())
    }
}
