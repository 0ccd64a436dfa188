//! What an earlier run recorded of the computing of its ranks, from its log.
//!
//! A log has the operations of each rank in order, with computations between them. What was computed before an operation is taken before the same
//! operation of a program that does the same, stretch by stretch; the first that is another is an error, since nothing is known of what comes after it.

use std::path::Path;
use trace::operation::{NONE, UNKNOWN_SIZE};
use trace::{Kind, Lists, Operation, ReadStop, TraceForm, TraceHeader, TraceReader, TraceSink, WorkUnit};

/// What ranks computed before each of their operations, and behind the last.
#[derive(Debug, PartialEq)]
pub struct RecordedStretches {
    file: String,
    ranks: Vec<RankRecording>,
}

/// A rank of the log.
#[derive(Debug, Default, PartialEq)]
struct RankRecording {
    operations: Vec<RecordedOperation>,
    /// What was computed, one stretch after the other (ps).
    stretches: Vec<u64>,
}

/// An operation of the log.
#[derive(Clone, Copy, Debug, PartialEq)]
struct RecordedOperation {
    /// How many stretches of its rank were before it.
    end: u32,
    /// What it is, shortly: its kind, and of messages the other rank and the size.
    kind: Kind,
    peer: u32,
    bytes: u64,
}

impl RecordedOperation {
    fn new(operation: &Operation) -> RecordedOperation {
        let is_told = operation.kind != Kind::Recv && operation.kind != Kind::Irecv;
        RecordedOperation {
            end: 0,
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
        Ok(RecordedStretches {
            file: reading.file,
            ranks: reading.ranks,
        })
    }

    /// How many ranks it has.
    pub fn n_ranks(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// What a rank computed before its operation with a number (ps), stretch by stretch; of the number behind the last, what comes after all.
    pub(super) fn before(&self, (rank, number): (u32, u64)) -> &[u64] {
        let Some(own) = self.ranks.get(rank as usize) else {
            return &[];
        };
        let end = |number: u64| {
            own.operations
                .get(number as usize)
                .map(|operation| operation.end as usize)
        };
        let begin = number.checked_sub(1).map_or(Some(0), end);
        begin.map_or(&[], |begin| {
            &own.stretches[begin..end(number).unwrap_or(own.stretches.len())]
        })
    }

    /// Whether an operation is the one with that number; what is to be said where it is not.
    pub(super) fn agrees(&self, (rank, number): (u32, u64), operation: &Operation) -> Result<(), String> {
        let own = RecordedOperation::new(operation);
        let all = self.ranks.get(rank as usize);
        match all.and_then(|all| all.operations.get(number as usize)) {
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
pub(super) fn may_differ(kind: Kind) -> bool {
    matches!(kind, Kind::Test | Kind::Waitnews)
}

#[derive(Default)]
struct StretchReading {
    file: String,
    ranks: Vec<RankRecording>,
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
        self.ranks.resize_with(header.ranks as usize, RankRecording::default);
        Ok(())
    }

    fn operation(
        &mut self,
        rank: u32,
        _record: u64,
        operation: &Operation,
        _lists: &Lists<'_>,
    ) -> Result<(), ReadStop> {
        let rank = &mut self.ranks[rank as usize];
        match operation.kind {
            Kind::Compute => rank.stretches.push(operation.time),
            // A sleep, and a look for messages, take the time that the program asks for.
            Kind::Sleep | Kind::Enter | Kind::Leave => {}
            kind if may_differ(kind) => {}
            _ => rank.operations.push(RecordedOperation {
                end: rank.stretches.len() as u32,
                ..RecordedOperation::new(operation)
            }),
        }
        Ok(())
    }

    fn end(&mut self, _names: &[String]) -> Result<(), ReadStop> {
        Ok(())
    }
}
