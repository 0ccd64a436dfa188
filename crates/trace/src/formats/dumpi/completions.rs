//! Which requests a call completes, and what receives from anybody were given.

use super::file::{DumpiFile, EndOfReading};
use super::functions as f;
use super::record::{CallRecord, Calls, Status};
use crate::operation::NONE;
use std::collections::HashMap;

/// Any source or tag, in the numbers of a file.
pub(super) const ANY: i64 = -1;

/// The requests that a call completes, with their statuses; those that it only looks at are none.
pub(super) fn completed(record: &CallRecord, out: &mut Vec<(i32, Option<Status>)>) {
    out.clear();
    let status = |i: usize| record.statuses.get(i).copied();
    let requests = record.list(0);
    let one = |index: i64| usize::try_from(index).ok().and_then(|i| requests.get(i).copied());
    match record.function {
        f::WAIT => out.push((record.value(0) as i32, status(0))),
        f::TEST if record.value(1) != 0 => out.push((record.value(0) as i32, status(0))),
        f::WAITANY => out.extend(one(record.value(1)).map(|request| (request, status(0)))),
        f::TESTANY if record.value(2) != 0 => {
            out.extend(one(record.value(1)).map(|request| (request, status(0))));
        }
        f::WAITALL => out.extend(requests.iter().enumerate().map(|(i, &request)| (request, status(i)))),
        f::TESTALL if record.value(1) != 0 => {
            out.extend(requests.iter().enumerate().map(|(i, &request)| (request, status(i))));
        }
        f::WAITSOME | f::TESTSOME => {
            // The list of indices may be longer than what came.
            let came = usize::try_from(record.value(1) as i32).unwrap_or_default();
            let indices = record.list(1).iter().take(came).enumerate();
            out.extend(indices.filter_map(|(i, &index)| Some((one(index.into())?, status(i)))));
        }
        _ => {}
    }
}

/// Whom a receive was given a message from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Given {
    /// Number of the sender in the communicator, [`NONE`] if the file does not tell.
    pub(super) source: u32,
    /// The message's tag, if the file tells.
    pub(super) tag: Option<u32>,
    /// It was given nothing: it was cancelled, or there is nobody whom it could be from.
    pub(super) nothing: bool,
}

impl Given {
    /// What a status says.
    pub(super) fn of(status: Option<Status>) -> Given {
        let source = status.map_or(-1, |status| status.source);
        let nothing = status.is_some_and(|status| status.cancelled || (status.source < 0 && status.bytes == 0));
        let tag = status.and_then(|status| status.tag);
        Given {
            source: u32::try_from(source).unwrap_or(NONE),
            tag: tag.and_then(|tag| u32::try_from(tag).ok()),
            nothing,
        }
    }
}

/// Whether a receive takes what comes from anybody, or of any tag.
pub(super) fn takes_any(source: i64, tag: i64) -> bool {
    source == ANY || tag == ANY
}

/// Reads a file ahead: what each receive from anybody that has a request is given, in the order in which they begin.
///
/// # Errors
/// None: where the file cannot be read on, the rest is not known.
pub(super) fn ahead(file: &DumpiFile) -> Vec<Given> {
    let mut given = Vec::new();
    let _ = look(file, &mut given);
    given
}

fn look(file: &DumpiFile, given: &mut Vec<Given>) -> Result<(), EndOfReading> {
    let mut calls = Calls::of(file)?;
    let mut record = CallRecord::default();
    // Places in `given` of receives that are on their way, and persistent ones, by request.
    let mut open: HashMap<i32, usize> = HashMap::new();
    let mut persistent: HashMap<i32, bool> = HashMap::new();
    let mut done = Vec::new();
    while calls.next(&mut record)? {
        let mut begin = |request: i32| {
            open.insert(request, given.len());
            given.push(Given::of(None));
        };
        match record.function {
            f::IRECV if takes_any(record.value(2), record.value(3)) => begin(record.value(5) as i32),
            f::RECV_INIT => {
                let any = takes_any(record.value(2), record.value(3));
                persistent.insert(record.value(5) as i32, any);
            }
            f::START if persistent.get(&(record.value(0) as i32)) == Some(&true) => begin(record.value(0) as i32),
            f::STARTALL => {
                let requests = record.list(0).iter();
                for &request in requests.filter(|request| persistent.get(request) == Some(&true)) {
                    begin(request);
                }
            }
            f::REQUEST_FREE => {
                persistent.remove(&(record.value(0) as i32));
            }
            f::IRECV
            | f::ISEND
            | f::IBSEND
            | f::ISSEND
            | f::IRSEND
            | f::SEND_INIT
            | f::BSEND_INIT
            | f::SSEND_INIT
            | f::RSEND_INIT => {
                let request = record.value(5) as i32;
                persistent.remove(&request);
                open.remove(&request);
            }
            _ => {
                completed(&record, &mut done);
                for (request, status) in &done {
                    if let Some(place) = open.remove(request) {
                        given[place] = Given::of(*status);
                    }
                }
            }
        }
    }
    Ok(())
}
