//! A trace in memory: for small ones, and for tests.

use crate::header::{TraceForm, TraceHeader};
use crate::operation::{Lists, Operation};
use crate::problem::{Problem, ReadStop};
use crate::sink::{ReadProgress, TraceReader, TraceSink};

/// An operation with its lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CollectedOperation {
    /// Its record in the file.
    pub record: u64,
    /// The operation.
    pub operation: Operation,
    /// See [`Lists::after`].
    pub after: Vec<u32>,
    /// See [`Lists::after_start`].
    pub after_start: Vec<u32>,
    /// See [`Lists::values`].
    pub values: Vec<u64>,
}

impl CollectedOperation {
    /// The lists.
    pub fn lists(&self) -> Lists<'_> {
        Lists {
            after: &self.after,
            after_start: &self.after_start,
            values: &self.values,
        }
    }
}

/// A trace in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Collected {
    /// What is known before the operations.
    pub header: TraceHeader,
    /// The operations of each rank.
    pub ranks: Vec<Vec<CollectedOperation>>,
    /// Names of regions.
    pub names: Vec<String>,
}

impl Default for Collected {
    fn default() -> Collected {
        Collected {
            header: TraceHeader::new("", 0, TraceForm::Program),
            ranks: Vec::new(),
            names: Vec::new(),
        }
    }
}

impl Collected {
    /// All of what `read` tells a reader, and what is wrong with it.
    ///
    /// # Errors
    /// Why reading ended early.
    pub fn of(
        read: impl FnOnce(&mut TraceReader<'_>) -> Result<(), ReadStop>,
    ) -> Result<(Collected, Vec<Problem>), ReadStop> {
        let mut all = Collected::default();
        let mut watch = |_: ReadProgress| true;
        let mut reader = TraceReader::new(&mut all, &mut watch);
        read(&mut reader)?;
        let (problems, _) = reader.into_problems();
        Ok((all, problems))
    }

    /// Tells a sink all of it, rank after rank.
    ///
    /// # Errors
    /// The sink's.
    pub fn tell(&self, sink: &mut dyn TraceSink) -> Result<(), ReadStop> {
        sink.begin(&self.header)?;
        for (rank, operations) in self.ranks.iter().enumerate() {
            for listed in operations {
                sink.operation(rank as u32, listed.record, &listed.operation, &listed.lists())?;
            }
        }
        sink.end(&self.names)
    }
}

impl TraceSink for Collected {
    fn begin(&mut self, header: &TraceHeader) -> Result<(), ReadStop> {
        self.header = header.clone();
        self.ranks = vec![Vec::new(); header.ranks as usize];
        Ok(())
    }

    fn operation(&mut self, rank: u32, record: u64, operation: &Operation, lists: &Lists<'_>) -> Result<(), ReadStop> {
        self.ranks[rank as usize].push(CollectedOperation {
            record,
            operation: *operation,
            after: lists.after.to_vec(),
            after_start: lists.after_start.to_vec(),
            values: lists.values.to_vec(),
        });
        Ok(())
    }

    fn end(&mut self, names: &[String]) -> Result<(), ReadStop> {
        self.names = names.to_vec();
        Ok(())
    }
}
