//! What GOAL can say of a trace.

use super::PS;
use crate::header::{TraceForm, TraceHeader, WorkUnit};
use crate::operation::{ANY_SOURCE, ANY_TAG, Kind, Mode, Operation, UNKNOWN_SIZE, WORLD};
use crate::problem::ReadStop;

/// What cannot be written.
pub(super) fn cannot(reason: impl std::fmt::Display) -> ReadStop {
    ReadStop::Refused(format!("GOAL cannot be written: {reason}"))
}

/// An error of a file that is written.
pub(super) fn broken(error: std::io::Error) -> ReadStop {
    cannot(error)
}

/// Whether a trace can be written.
pub(super) fn check_header(header: &TraceHeader) -> Result<(), ReadStop> {
    if header.form != TraceForm::Graph {
        return Err(cannot("the trace is a program of each rank, GOAL has graphs only"));
    }
    if header.unit != WorkUnit::Picoseconds {
        return Err(cannot("computations are told in instructions, GOAL has nanoseconds"));
    }
    match header.ranks {
        0 => Err(cannot("the trace has no ranks")),
        _ => Ok(()),
    }
}

/// An operation as GOAL says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) verb: Verb,
    /// Bytes, or nanoseconds of a computation.
    pub(super) size: u64,
    /// `None` for any.
    pub(super) peer: Option<u32>,
    /// `None` for any.
    pub(super) tag: Option<u32>,
    pub(super) cpu: u8,
    pub(super) nic: u8,
    /// The computation is not a whole number of nanoseconds.
    pub(super) rounded: bool,
}

/// What a statement does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Send,
    Recv,
    Calc,
}

impl Statement {
    /// The statement of an operation.
    pub(super) fn of(operation: &Operation) -> Result<Statement, ReadStop> {
        let Operation { kind, peer, tag, .. } = *operation;
        let (verb, size) = match kind {
            // A graph does not wait for requests: what waits for a message waits for its operation.
            Kind::Send | Kind::Isend => (Verb::Send, operation.bytes),
            Kind::Recv | Kind::Irecv => (Verb::Recv, operation.bytes),
            Kind::Compute => (
                Verb::Calc,
                operation.time / PS + u64::from(operation.time % PS >= PS / 2),
            ),
            other => return Err(cannot(format_args!("it has no {}", other.name()))),
        };
        let calc = verb == Verb::Calc;
        if !calc && size == UNKNOWN_SIZE {
            return Err(cannot("the trace does not tell the size of a message"));
        }
        if !calc && operation.communicator != WORLD {
            return Err(cannot(
                "a message is of a communicator, GOAL knows that of all ranks only",
            ));
        }
        if operation.mode != Mode::Standard {
            return Err(cannot("it has no modes of sends"));
        }
        Ok(Statement {
            verb,
            size,
            peer: (peer != ANY_SOURCE).then_some(peer),
            tag: (tag != ANY_TAG).then_some(tag),
            cpu: operation.lane,
            nic: operation.nic,
            rounded: calc && !operation.time.is_multiple_of(PS),
        })
    }
}
