//! Looks ahead in the events of a rank: a receive is posted before its record tells from whom it is, and a collective that does not wait begins
//! before its record tells what it is.
//!
//! A second reader of the same file runs ahead, as far as the next answer is and no further. What is kept are the answers that it has met and
//! that have not been asked for: 40 bytes each.

use super::events::{CollectiveRecord, EventReader, EventRecord, PeerMessage};
use crate::problem::Problem;
use std::collections::{HashMap, VecDeque};

/// How a request ended that began without saying what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestEnd {
    /// It received a message.
    Received(PeerMessage),
    /// It received so many bytes of a message that is named.
    Filled(u64),
    /// It was a collective.
    Joined(CollectiveRecord),
    /// It was cancelled.
    Cancelled,
    /// It did not end before the trace did, or before the request began anew.
    Never,
}

/// Events that are read in one step.
const STEP: usize = 4096;

/// Answers how requests end, in the order in which they begin.
pub struct LookAhead {
    events: EventReader,
    /// Answers from the next one on that is asked for; `None` where it is not known yet.
    ends: VecDeque<Option<RequestEnd>>,
    /// Requests that have begun and not ended, by the number of their begin.
    open: HashMap<u64, u64>,
    /// Number of the first answer of the list.
    first: u64,
    over: bool,
}

impl LookAhead {
    /// Looks ahead with a reader of its own.
    pub fn new(events: EventReader) -> LookAhead {
        LookAhead {
            events,
            ends: VecDeque::new(),
            open: HashMap::new(),
            first: 0,
            over: false,
        }
    }

    /// The end of the next request that begins; `None` if one more step has not found it.
    pub fn step(&mut self) -> Option<RequestEnd> {
        if let Some(end) = self.known() {
            return Some(end);
        }
        for _ in 0..STEP {
            match self.events.event() {
                Ok(Some(event)) => self.see(&event.record),
                // What is wrong with the file is told by who reads it for its events.
                Ok(None) | Err(Problem { .. }) => self.over = true,
            }
            if self.over || matches!(self.ends.front(), Some(Some(_))) {
                break;
            }
        }
        self.known()
    }

    fn known(&mut self) -> Option<RequestEnd> {
        let end = match self.ends.front() {
            Some(Some(end)) => *end,
            Some(None) | None if self.over => RequestEnd::Never,
            _ => return None,
        };
        self.ends.pop_front();
        self.first += 1;
        Some(end)
    }

    fn see(&mut self, record: &EventRecord) {
        match *record {
            EventRecord::MpiIrecvRequest { request }
            | EventRecord::MpiImrecvRequest { request, .. }
            | EventRecord::NonBlockingCollectiveRequest { request } => {
                let number = self.first + self.ends.len() as u64;
                self.ends.push_back(None);
                if let Some(before) = self.open.insert(request, number) {
                    self.answer(before, RequestEnd::Never);
                }
            }
            EventRecord::MpiIrecv(message, request) => self.end(request, RequestEnd::Received(message)),
            EventRecord::MpiImrecv { request, bytes } => self.end(request, RequestEnd::Filled(bytes)),
            EventRecord::NonBlockingCollectiveComplete(collective, request) => {
                self.end(request, RequestEnd::Joined(collective));
            }
            EventRecord::MpiRequestCancelled { request } => self.end(request, RequestEnd::Cancelled),
            _ => {}
        }
    }

    fn end(&mut self, request: u64, end: RequestEnd) {
        if let Some(number) = self.open.remove(&request) {
            self.answer(number, end);
        }
    }

    fn answer(&mut self, number: u64, end: RequestEnd) {
        if let Some(place) = number.checked_sub(self.first)
            && let Some(answer) = self.ends.get_mut(place as usize)
        {
            *answer = Some(end);
        }
    }
}
