//! The two binary interfaces: how programs write handles, constants and statuses.
//!
//! Everything behind them works on numbers of its own: an index by kind of thing ([`HandleKind`]), an [`StatusFields`] for a status.

pub mod constants;
mod mpich;
mod standard;

pub use mpich::{Mpich, MpichStatus};
pub use standard::{Standard, StandardStatus};

use constants::Constants;
use std::ffi::c_int;

/// Kinds of things that programs hold handles of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum HandleKind {
    /// A communicator.
    Communicator = 1,
    /// A group of processes.
    Group = 2,
    /// A datatype.
    Datatype = 3,
    /// An error handler.
    Handler = 5,
    /// An operation of reductions.
    Operation = 6,
    /// Hints.
    Info = 7,
    /// A request.
    Request = 11,
    /// A message that a probe has taken out of the queue.
    Message = 12,
}

/// What a status tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct StatusFields {
    /// The sender's rank in the communicator, as the program reads it.
    pub source: c_int,
    /// The tag, as the program reads it.
    pub tag: c_int,
    /// The error code, as the program reads it.
    pub error: c_int,
    /// Bytes received.
    pub bytes: u64,
    /// Whether the operation was cancelled.
    pub cancelled: bool,
}

/// A binary interface.
pub trait Face: Sized + 'static {
    /// A handle as it is passed.
    type Handle: Copy + PartialEq + 'static;
    /// A status as it lies in memory.
    type Status: Copy + 'static;
    /// Its constants.
    const C: Constants;
    /// Its name in messages.
    const NAME: &'static str;
    /// Whether it is the standard ABI.
    const IS_STANDARD: bool;

    /// A handle from its number.
    fn handle(number: i64) -> Self::Handle;
    /// The number of a handle.
    fn number(handle: Self::Handle) -> i64;
    /// The number of the handle of a thing of ours.
    fn ours(kind: HandleKind, index: u32) -> i64;
    /// The index of a thing of ours, if the number is one of this kind.
    fn index(kind: HandleKind, number: i64) -> Option<u32>;
    /// Writes an outcome into a status; the error stands in it only where the standard says so.
    fn write(status: &mut Self::Status, outcome: &StatusFields, error: bool);
    /// Reads a status.
    fn read(status: &Self::Status) -> StatusFields;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<F: Face>() {
        for kind in [
            HandleKind::Communicator,
            HandleKind::Datatype,
            HandleKind::Request,
            HandleKind::Message,
            HandleKind::Operation,
        ] {
            for index in [0, 1, 77, 65_535, (1 << 22) - 1] {
                let number = F::number(F::handle(F::ours(kind, index)));
                assert_eq!(F::index(kind, number), Some(index), "{} {kind:?} {index}", F::NAME);
                assert_eq!(
                    F::index(HandleKind::Group, number),
                    None,
                    "{} {kind:?} {index}",
                    F::NAME
                );
                assert!(i32::try_from(number).is_ok(), "handles travel as Fortran's integers");
                assert!(
                    !constants::CONSTANTS
                        .iter()
                        .any(|row| number == if F::IS_STANDARD { row.1 } else { row.2 })
                );
            }
        }
        for predefined in [
            F::C.comm_world,
            F::C.comm_null,
            F::C.int,
            F::C.float_int,
            F::C.request_null,
            F::C.sum,
            0,
            -1,
        ] {
            for kind in [
                HandleKind::Communicator,
                HandleKind::Datatype,
                HandleKind::Request,
                HandleKind::Operation,
            ] {
                assert_eq!(F::index(kind, predefined), None, "{} {predefined:#x}", F::NAME);
            }
        }
        // SAFETY: a status is made of integers, for which all bits zero are a value.
        let mut status: F::Status = unsafe { std::mem::zeroed() };
        for bytes in [0, 5, u64::from(u32::MAX), 1 << 40] {
            for cancelled in [false, true] {
                let outcome = StatusFields {
                    source: 3,
                    tag: -9,
                    error: 0,
                    bytes,
                    cancelled,
                };
                F::write(&mut status, &outcome, false);
                assert_eq!(F::read(&status), outcome);
            }
        }
        F::write(
            &mut status,
            &StatusFields {
                error: 15,
                ..StatusFields::default()
            },
            true,
        );
        F::write(&mut status, &StatusFields::default(), false);
        assert_eq!(
            F::read(&status).error,
            15,
            "the error is left alone where no call may set it"
        );
    }

    #[test]
    fn handles_and_statuses_survive_both_faces() {
        check::<Standard>();
        check::<Mpich>();
    }
}
