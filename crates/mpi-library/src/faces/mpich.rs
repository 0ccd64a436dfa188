//! The ABI of MPICH and its relatives: handles are integers whose upper bits tell what they are.

use super::{
    Face, HandleKind, StatusFields,
    constants::{Constants, MPICH},
};
use std::ffi::c_int;

/// MPICH's ABI.
pub struct Mpich;

/// A status of MPICH's ABI: 20 bytes; the count takes 63 bits, the lowest of the upper word says whether it was cancelled.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct MpichStatus {
    bytes_low: u32,
    bytes_high_and_cancelled: u32,
    source: c_int,
    tag: c_int,
    error: c_int,
}

/// Handles of ours are of the class that MPICH calls indirect.
const OURS: u32 = 3 << 30;
/// Bits of the index.
const INDEX: u32 = (1 << 26) - 1;

/// The four bits that tell the kind. A message is a kind of request for MPICH; ours is told apart by the highest bit of the index.
fn bits(kind: HandleKind) -> u32 {
    match kind {
        HandleKind::Message => (HandleKind::Request as u32) << 26 | 1 << 25,
        _ => (kind as u32) << 26,
    }
}

impl Face for Mpich {
    type Handle = c_int;
    type Status = MpichStatus;
    const C: Constants = MPICH;
    const NAME: &'static str = "MPICH ABI";
    const IS_STANDARD: bool = false;

    fn handle(number: i64) -> c_int {
        number as c_int
    }

    fn number(handle: c_int) -> i64 {
        i64::from(handle)
    }

    fn ours(kind: HandleKind, index: u32) -> i64 {
        i64::from((OURS | bits(kind) | index & INDEX) as i32)
    }

    fn index(kind: HandleKind, number: i64) -> Option<u32> {
        let number = number as u32;
        let mask = if matches!(kind, HandleKind::Message | HandleKind::Request) {
            INDEX >> 1
        } else {
            INDEX
        };
        (number & !mask == OURS | bits(kind)).then_some(number & mask)
    }

    fn write(status: &mut MpichStatus, outcome: &StatusFields, error: bool) {
        status.source = outcome.source;
        status.tag = outcome.tag;
        if error {
            status.error = outcome.error;
        }
        status.bytes_low = outcome.bytes as u32;
        status.bytes_high_and_cancelled = ((outcome.bytes >> 32) as u32) << 1 | u32::from(outcome.cancelled);
    }

    fn read(status: &MpichStatus) -> StatusFields {
        StatusFields {
            source: status.source,
            tag: status.tag,
            error: status.error,
            bytes: u64::from(status.bytes_low) | u64::from(status.bytes_high_and_cancelled >> 1) << 32,
            cancelled: status.bytes_high_and_cancelled & 1 != 0,
        }
    }
}

const _: () = assert!(std::mem::size_of::<MpichStatus>() == 20);
