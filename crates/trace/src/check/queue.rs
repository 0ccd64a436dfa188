//! Messages of one kind that wait for their other ends, in order, as runs of messages of one size at equal distances.

use super::findings::OperationPlace;
use std::collections::VecDeque;
use std::ops::Range;

/// Messages of a size whose operations and records are at equal distances.
#[derive(Clone, Copy, Debug)]
struct EvenRun {
    bytes: u64,
    record: u64,
    number: u32,
    records_apart: u32,
    numbers_apart: u32,
    count: u32,
}

impl EvenRun {
    fn new(place: OperationPlace, bytes: u64) -> EvenRun {
        EvenRun {
            bytes,
            record: place.record,
            number: place.number,
            records_apart: 0,
            numbers_apart: 0,
            count: 1,
        }
    }

    /// Number and record of its message `i`.
    fn at(&self, i: u32) -> (u32, u64) {
        let number = self.number + i * self.numbers_apart;
        (number, self.record + u64::from(i) * u64::from(self.records_apart))
    }

    /// Takes one more, if it goes on as before.
    fn append(&mut self, place: OperationPlace, bytes: u64) -> bool {
        if bytes != self.bytes || self.count == u32::MAX {
            return false;
        }
        if self.count == 1 {
            let apart = place.record.checked_sub(self.record).map(u32::try_from);
            let Some(Ok(records_apart)) = apart else { return false };
            self.records_apart = records_apart;
            self.numbers_apart = place.number - self.number;
        } else {
            let (number, record) = self.at(self.count - 1);
            let next = (
                number.checked_add(self.numbers_apart),
                record.checked_add(self.records_apart.into()),
            );
            if next != (Some(place.number), Some(place.record)) {
                return false;
            }
        }
        self.count += 1;
        true
    }
}

/// Messages of one sender, receiver, communicator and tag that wait, all of them sends or all of them receives.
#[derive(Debug)]
pub(crate) struct MessageQueue {
    /// Whose operations they are.
    rank: u32,
    front: EvenRun,
    // Most queues are one run: the others pay for being rare.
    #[allow(clippy::box_collection)]
    rest: Option<Box<VecDeque<EvenRun>>>,
}

impl MessageQueue {
    /// A queue of one.
    pub fn of(place: OperationPlace, bytes: u64) -> MessageQueue {
        MessageQueue {
            rank: place.rank,
            front: EvenRun::new(place, bytes),
            rest: None,
        }
    }

    /// Takes one more of the same rank, which is later.
    pub fn push(&mut self, place: OperationPlace, bytes: u64) {
        let last = match &mut self.rest {
            Some(rest) => rest.back_mut().unwrap_or(&mut self.front),
            None => &mut self.front,
        };
        if !last.append(place, bytes) {
            self.rest.get_or_insert_default().push_back(EvenRun::new(place, bytes));
        }
    }

    /// The first, with its bytes, and whether there are more.
    pub fn pop(&mut self) -> (OperationPlace, u64, bool) {
        let (place, bytes) = (self.place(&self.front, 0), self.front.bytes);
        if self.front.count > 1 {
            (self.front.number, self.front.record) = self.front.at(1);
            self.front.count -= 1;
            return (place, bytes, true);
        }
        let next = self.rest.as_mut().and_then(|rest| rest.pop_front());
        if let Some(next) = next {
            self.front = next;
        }
        if self.rest.as_ref().is_some_and(|rest| rest.is_empty()) {
            self.rest = None;
        }
        (place, bytes, next.is_some())
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.runs().map(|run| u64::from(run.count)).sum()
    }

    /// The message `i`, of those that there are, and its bytes.
    pub fn get(&self, mut i: u64) -> (OperationPlace, u64) {
        for run in self.runs() {
            if i < run.count.into() {
                return (self.place(run, i as u32), run.bytes);
            }
            i -= u64::from(run.count);
        }
        (self.place(&self.front, 0), self.front.bytes)
    }

    /// How many messages of a size there are among those with these numbers.
    pub fn count_of(&self, bytes: u64, among: Range<u64>) -> u64 {
        let mut begin = 0;
        let within = self.runs().map(|run| {
            let own = begin..begin + u64::from(run.count);
            begin = own.end;
            let both = own.start.max(among.start)..own.end.min(among.end);
            if run.bytes == bytes {
                both.end.saturating_sub(both.start)
            } else {
                0
            }
        });
        within.sum()
    }

    fn runs(&self) -> impl Iterator<Item = &EvenRun> {
        std::iter::once(&self.front).chain(self.rest.iter().flat_map(|rest| rest.iter()))
    }

    fn place(&self, run: &EvenRun, i: u32) -> OperationPlace {
        let (number, record) = run.at(i);
        OperationPlace {
            rank: self.rank,
            number,
            record,
        }
    }
}
