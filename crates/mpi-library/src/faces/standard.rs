//! The standard ABI of MPI-5: handles are pointers, those of the standard point into the zero page.

use super::{
    Face, HandleKind, StatusFields,
    constants::{Constants, STANDARD},
};
use std::ffi::c_int;

/// The standard ABI.
pub struct Standard;

/// A status of the standard ABI: 32 bytes, three fields for the program and five words for the library.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct StandardStatus {
    source: c_int,
    tag: c_int,
    error: c_int,
    bytes_low: u32,
    bytes_high: u32,
    cancelled: c_int,
    spare: [c_int; 2],
}

/// Handles of ours start where those of the standard end.
const FIRST: i64 = 0x1000;

impl Face for Standard {
    type Handle = usize;
    type Status = StandardStatus;
    const C: Constants = STANDARD;
    const NAME: &'static str = "standard ABI";
    const IS_STANDARD: bool = true;

    fn handle(number: i64) -> usize {
        number as usize
    }

    fn number(handle: usize) -> i64 {
        handle as i64
    }

    fn ours(kind: HandleKind, index: u32) -> i64 {
        FIRST + (i64::from(index) << 4 | kind as i64)
    }

    fn index(kind: HandleKind, number: i64) -> Option<u32> {
        let ours = number.wrapping_sub(FIRST);
        (number >= FIRST && ours & 15 == kind as i64).then_some(())?;
        u32::try_from(ours >> 4).ok()
    }

    fn write(status: &mut StandardStatus, outcome: &StatusFields, error: bool) {
        status.source = outcome.source;
        status.tag = outcome.tag;
        if error {
            status.error = outcome.error;
        }
        status.bytes_low = outcome.bytes as u32;
        status.bytes_high = (outcome.bytes >> 32) as u32;
        status.cancelled = c_int::from(outcome.cancelled);
    }

    fn read(status: &StandardStatus) -> StatusFields {
        StatusFields {
            source: status.source,
            tag: status.tag,
            error: status.error,
            bytes: u64::from(status.bytes_low) | u64::from(status.bytes_high) << 32,
            cancelled: status.cancelled != 0,
        }
    }
}

const _: () = assert!(std::mem::size_of::<StandardStatus>() == 32);
