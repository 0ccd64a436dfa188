//! A trace in memory: for small ones, and for tests.

use crate::header::{Form, Header};
use crate::operation::{Lists, Operation};
use crate::problem::{Problem, Stop};
use crate::sink::{Progress, Reader, Sink};

/// An operation with its lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
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

impl Listed {
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
    pub header: Header,
    /// The operations of each rank.
    pub ranks: Vec<Vec<Listed>>,
    /// Names of regions.
    pub names: Vec<String>,
}

impl Default for Collected {
    fn default() -> Collected {
        Collected {
            header: Header::new("", 0, Form::Program),
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
    pub fn of(read: impl FnOnce(&mut Reader<'_>) -> Result<(), Stop>) -> Result<(Collected, Vec<Problem>), Stop> {
        let mut all = Collected::default();
        let mut watch = |_: Progress| true;
        let mut reader = Reader::new(&mut all, &mut watch);
        read(&mut reader)?;
        let (problems, _) = reader.into_problems();
        Ok((all, problems))
    }

    /// Tells a sink all of it, rank after rank.
    ///
    /// # Errors
    /// The sink's.
    pub fn tell(&self, sink: &mut dyn Sink) -> Result<(), Stop> {
        sink.begin(&self.header)?;
        for (rank, operations) in self.ranks.iter().enumerate() {
            for listed in operations {
                sink.operation(rank as u32, listed.record, &listed.operation, &listed.lists())?;
            }
        }
        sink.end(&self.names)
    }
}

impl Sink for Collected {
    fn begin(&mut self, header: &Header) -> Result<(), Stop> {
        self.header = header.clone();
        self.ranks = vec![Vec::new(); header.ranks as usize];
        Ok(())
    }

    fn operation(&mut self, rank: u32, record: u64, operation: &Operation, lists: &Lists<'_>) -> Result<(), Stop> {
        self.ranks[rank as usize].push(Listed {
            record,
            operation: *operation,
            after: lists.after.to_vec(),
            after_start: lists.after_start.to_vec(),
            values: lists.values.to_vec(),
        });
        Ok(())
    }

    fn end(&mut self, names: &[String]) -> Result<(), Stop> {
        self.names = names.to_vec();
        Ok(())
    }
}
