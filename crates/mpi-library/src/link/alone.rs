//! A job of one rank without a simulator: a program that was started directly. Messages go from the rank to itself.
//!
//! Time is the host's. Sends complete at once, synchronous ones when their receive is there.

use coupling::{
    RankEntry, RankNews, SharedArea, SharedTerms,
    entry::{ANY_SOURCE, ANY_TAG, BLOCKING, NO_PAYLOAD, flag, kind, news},
};
use std::{collections::VecDeque, io, time::Instant};

/// Room for messages in flight: addresses only, until they are used.
const ARENA: u64 = 1 << 36;

/// The link of a rank that is alone.
#[derive(Debug)]
pub struct AloneLink {
    area: SharedArea,
    start: Instant,
    /// Sends without a receive, and receives without a send.
    sends: VecDeque<RankEntry>,
    receives: VecDeque<RankEntry>,
    news: VecDeque<RankNews>,
    /// Requests that are not complete.
    open: Vec<u32>,
}

impl AloneLink {
    /// The only rank of a job.
    ///
    /// # Errors
    /// Those of the system.
    pub fn new() -> io::Result<Self> {
        let terms = SharedTerms::plain(1, ARENA);
        Ok(Self {
            area: SharedArea::alone(terms)?,
            start: Instant::now(),
            sends: VecDeque::new(),
            receives: VecDeque::new(),
            news: VecDeque::new(),
            open: Vec::new(),
        })
    }

    fn complete(&mut self, request: u32) {
        self.open.retain(|open| *open != request);
        if request != BLOCKING {
            self.news.push_back(RankNews {
                kind: news::COMPLETED,
                request,
                payload: NO_PAYLOAD,
                ..RankNews::default()
            });
        }
    }

    fn deliver(&mut self, send: RankEntry, receive: RankEntry, had_arrived: bool) {
        self.open.retain(|open| *open != receive.request);
        self.news.push_back(RankNews {
            kind: news::COMPLETED,
            had_arrived: had_arrived.into(),
            tag: send.tag,
            communicator: send.communicator,
            source: 0,
            request: receive.request,
            bytes: send.bytes,
            payload: send.payload,
            ..RankNews::default()
        });
        if send.flags & flag::SYNCHRONOUS != 0 {
            self.complete(send.request);
        }
    }

    /// Does what the rank tells.
    pub fn take(&mut self, entry: RankEntry) {
        match entry.kind {
            kind::SEND | kind::ISEND | kind::SENDRECV => {
                if entry.flags & flag::SYNCHRONOUS == 0 {
                    self.complete(entry.request);
                } else {
                    self.open.push(entry.request);
                }
                if let Some(place) = self.receives.iter().position(|receive| matches(&entry, receive)) {
                    let receive = self.receives.remove(place).unwrap_or_default();
                    self.deliver(entry, receive, false);
                } else {
                    self.news.push_back(RankNews {
                        kind: news::ARRIVED,
                        tag: entry.tag,
                        communicator: entry.communicator,
                        bytes: entry.bytes,
                        payload: entry.payload,
                        ..RankNews::default()
                    });
                    self.sends.push_back(entry);
                }
            }
            kind::RECV | kind::IRECV => {
                self.open.push(entry.request);
                if let Some(place) = self.sends.iter().position(|send| matches(send, &entry)) {
                    let send = self.sends.remove(place).unwrap_or_default();
                    self.deliver(send, entry, true);
                } else {
                    self.receives.push_back(entry);
                }
            }
            kind::ICOLLECTIVE => self.complete(entry.request),
            _ => {}
        }
    }

    /// Ends a program that waits for what only it could do.
    fn check(&self, entry: &RankEntry) {
        let stuck = match entry.kind {
            kind::WAIT => self.open.contains(&entry.request),
            kind::SEND | kind::RECV => self.open.contains(&BLOCKING),
            kind::WAIT_ALL => !self.open.is_empty(),
            kind::WAIT_NEWS => self.news.is_empty(),
            _ => false,
        };
        if stuck {
            eprintln!(
                "fabricsim: rank 0 waits for ever: it is the only rank, and {} of its receives and {} of its sends have no partner",
                self.receives.len(),
                self.sends.len()
            );
            std::process::exit(1);
        }
    }

    /// The memory for messages.
    pub fn area(&self) -> &SharedArea {
        &self.area
    }

    /// Does what the rank tells, and tells what came of it; returns the time (ps).
    pub fn trap(&mut self, entry: RankEntry, told: &mut Vec<RankNews>) -> u64 {
        self.take(entry);
        self.check(&entry);
        told.extend(self.news.drain(..));
        self.start.elapsed().as_nanos() as u64 * 1000
    }

    /// Takes a send or a receive back that has no partner, if there is one.
    pub fn cancel(&mut self, request: u32) -> Option<RankEntry> {
        self.open.retain(|open| *open != request);
        for queue in [&mut self.sends, &mut self.receives] {
            if let Some(place) = queue.iter().position(|entry| entry.request == request) {
                let taken = queue.remove(place);
                let same = |piece: &RankNews, taken: &RankEntry| {
                    let of_it = (piece.tag, piece.communicator, piece.bytes, piece.payload)
                        == (taken.tag, taken.communicator, taken.bytes, taken.payload);
                    piece.kind == news::ARRIVED && of_it
                };
                let told = self
                    .news
                    .iter()
                    .position(|piece| taken.as_ref().is_some_and(|taken| same(piece, taken)));
                told.map(|place| self.news.remove(place));
                return taken;
            }
        }
        None
    }
}

/// Whether a receive takes a send.
fn matches(send: &RankEntry, receive: &RankEntry) -> bool {
    receive.communicator == send.communicator
        && (receive.peer == ANY_SOURCE || receive.peer == 0)
        && (receive.tag == ANY_TAG || receive.tag == send.tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_to_itself_match_in_order_and_by_tag() {
        let mut link = AloneLink::new().unwrap();
        let send = |tag, bytes| RankEntry {
            kind: kind::ISEND,
            tag,
            bytes,
            request: bytes as u32,
            payload: bytes,
            ..RankEntry::default()
        };
        let receive = |tag, request| RankEntry {
            kind: kind::IRECV,
            tag,
            request,
            peer: ANY_SOURCE,
            ..RankEntry::default()
        };
        link.take(receive(7, 100));
        for (tag, bytes) in [(1, 1), (7, 2), (1, 3), (7, 4)] {
            link.take(send(tag, bytes));
        }
        link.take(receive(ANY_TAG, 101));
        link.take(receive(7, 102));
        link.take(receive(1, 103));
        let mut told = Vec::new();
        let poll = RankEntry {
            kind: kind::POLL,
            ..RankEntry::default()
        };
        link.trap(poll, &mut told);
        let got: Vec<_> = told
            .iter()
            .filter(|piece| piece.kind == news::COMPLETED && piece.request >= 100)
            .map(|piece| (piece.request, piece.bytes))
            .collect();
        assert_eq!(got, [(100, 2), (101, 1), (102, 4), (103, 3)]);
    }
}
