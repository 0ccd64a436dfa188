//! Recorded work of applications: what ranks did, or are to do, as operations, whatever it was recorded in.
//!
//! A [`FormatReader`] reads files of a kind and tells a [`TraceSink`] what is in them, operation by operation ([`operation`]), so that a trace
//! may be longer than memory. Everything that takes traces is a sink: the summary that `trace info` prints ([`summary`]) and whatever
//! plays or converts them. What is wrong with a file is told as [`Problem`]s, with file, rank, record, reason and hint.
//!
//! **Invariant**: the operations of a rank come in their order, and the same file gives the same operations on every machine.
//! **Boundary**: no network, no study (but how its units are written) and no simulated time is known here.

pub mod check;
pub mod collected;
pub mod convert;
pub mod cut;
pub mod format;
pub mod formats;
mod graph;
pub mod header;
pub mod info;
pub mod known;
mod lines;
pub mod operation;
pub mod packed;
mod partial;
pub mod problem;
pub mod repair;
pub mod sink;
pub mod summary;
pub mod traffic;

pub use check::Check;
pub use collected::Collected;
pub use format::FormatReader;
pub use header::{Members, OtherDefinitions, TraceForm, TraceHeader, WorkUnit};
pub use known::{FORMATS, format_of, named, read};
pub use operation::{Kind, Lists, Mode, Operation};
pub use problem::{Problem, ReadStop};
pub use repair::Repair;
pub use sink::{ReadProgress, TraceReader, TraceSink};
pub use summary::TraceSummary;
