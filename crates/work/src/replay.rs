//! Traces of applications, played on a simulated network.
//!
//! A trace is read in one pass ([`open`]) into records of 32 bytes ([`records`]), by a [`recorder`] that gives communicators, tags and
//! requests the short names that ranks have room for ([`names`]), and lets ranks agree on their collectives ([`meetings`]). A
//! [`TraceProgram`] hands them out as the operations of ranks, with what a study changes of them: times, sizes.
//!
//! **Invariant**: what is played depends on the trace's content ([`content`]) and the study's keys only, not on where or how it is kept.

pub mod content;
pub mod meetings;
pub mod names;
pub mod open;
mod order;
pub mod program;
pub mod recorder;
pub mod records;
#[cfg(test)]
mod tests;

pub use open::{OpenedTrace, TraceWish, UnplayedTrace, open};
pub use program::{ComputeTimes, TraceProgram};
pub use recorder::{AnySource, CallRecorder, CallRecording, Repairing};
pub(crate) use records::{OperationRecord, what};
