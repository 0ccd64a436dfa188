//! Who takes the operations of a trace, and what a format reads with.

use crate::header::TraceHeader;
use crate::operation::{Lists, Operation};
use crate::problem::{Problem, ReadStop};

/// Takes a trace, operation by operation.
pub trait TraceSink {
    /// The trace begins.
    ///
    /// # Errors
    /// A trace that cannot be taken.
    fn begin(&mut self, header: &TraceHeader) -> Result<(), ReadStop>;

    /// An operation of a rank, in the order of the rank; ranks may take turns. `record` is its record in the file of the rank, or its line.
    ///
    /// # Errors
    /// An operation that cannot be taken.
    fn operation(&mut self, rank: u32, record: u64, operation: &Operation, lists: &Lists<'_>) -> Result<(), ReadStop>;

    /// The trace is over; `names` are those of regions.
    ///
    /// # Errors
    /// A trace that cannot be taken.
    fn end(&mut self, names: &[String]) -> Result<(), ReadStop>;
}

/// How far reading has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadProgress {
    /// Bytes of files that have been read.
    pub done: u64,
    /// Bytes of all files, 0 where that is not known.
    pub all: u64,
    /// Records of files that have been read.
    pub records: u64,
}

/// Problems that are kept; more are counted.
pub const MOST_PROBLEMS: usize = 1000;

/// What a format reads with: where operations, problems and progress go.
pub struct TraceReader<'a> {
    sink: &'a mut dyn TraceSink,
    /// `false` ends reading.
    watch: &'a mut dyn FnMut(ReadProgress) -> bool,
    /// How far it has come; a format sets `done` and `all` and counts `records`.
    pub progress: ReadProgress,
    problems: Vec<Problem>,
    more: u64,
}

impl<'a> TraceReader<'a> {
    /// Reads into a sink; `watch` hears of progress now and then, and ends reading with `false`.
    pub fn new(sink: &'a mut dyn TraceSink, watch: &'a mut dyn FnMut(ReadProgress) -> bool) -> TraceReader<'a> {
        TraceReader {
            sink,
            watch,
            progress: ReadProgress::default(),
            problems: Vec::new(),
            more: 0,
        }
    }

    /// The trace begins: told once, before the first operation. Records count from here on, so that those of files that are read ahead
    /// count once.
    ///
    /// # Errors
    /// The sink's.
    pub fn begin(&mut self, header: &TraceHeader) -> Result<(), ReadStop> {
        self.progress.records = 0;
        self.sink.begin(header)
    }

    /// An operation of a rank, with its record in the file or its line.
    ///
    /// # Errors
    /// The sink's.
    #[inline]
    pub fn operation(
        &mut self,
        rank: u32,
        record: u64,
        operation: &Operation,
        lists: &Lists<'_>,
    ) -> Result<(), ReadStop> {
        self.sink.operation(rank, record, operation, lists)
    }

    /// The trace is over: told once, with the names of regions.
    ///
    /// # Errors
    /// The sink's.
    pub fn end(&mut self, names: &[String]) -> Result<(), ReadStop> {
        self.sink.end(names)
    }

    /// Something is wrong that does not end reading.
    pub fn problem(&mut self, problem: Problem) {
        match self.problems.len() < MOST_PROBLEMS {
            true => self.problems.push(problem),
            false => self.more += 1,
        }
    }

    /// Tells how far reading has come; to be called every few thousand records.
    ///
    /// # Errors
    /// The user wants it to end.
    pub fn tick(&mut self) -> Result<(), ReadStop> {
        match (self.watch)(self.progress) {
            true => Ok(()),
            false => Err(ReadStop::Interrupted),
        }
    }

    /// What was found wrong, and how many problems more there were.
    pub fn into_problems(self) -> (Vec<Problem>, u64) {
        (self.problems, self.more)
    }
}

/// Two sinks, one after the other.
impl<A: TraceSink, B: TraceSink> TraceSink for (A, B) {
    fn begin(&mut self, header: &TraceHeader) -> Result<(), ReadStop> {
        self.0.begin(header)?;
        self.1.begin(header)
    }

    fn operation(&mut self, rank: u32, record: u64, operation: &Operation, lists: &Lists<'_>) -> Result<(), ReadStop> {
        self.0.operation(rank, record, operation, lists)?;
        self.1.operation(rank, record, operation, lists)
    }

    fn end(&mut self, names: &[String]) -> Result<(), ReadStop> {
        self.0.end(names)?;
        self.1.end(names)
    }
}

impl<S: TraceSink + ?Sized> TraceSink for &mut S {
    fn begin(&mut self, header: &TraceHeader) -> Result<(), ReadStop> {
        (**self).begin(header)
    }

    fn operation(&mut self, rank: u32, record: u64, operation: &Operation, lists: &Lists<'_>) -> Result<(), ReadStop> {
        (**self).operation(rank, record, operation, lists)
    }

    fn end(&mut self, names: &[String]) -> Result<(), ReadStop> {
        (**self).end(names)
    }
}
