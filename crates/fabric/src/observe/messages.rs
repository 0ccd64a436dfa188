//! The times of every message, put together from those of its departure and its arrival.

use super::{MessageRow, SetOut, Stats};
use crate::packet::Label;
use bytemuck::{Pod, Zeroable};

/// A message that was handed to its interface and has not left it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct Unsent {
    /// Source node.
    pub source: u32,
    /// Destination node.
    pub destination: u32,
    /// When it was handed to the interface (ps).
    pub birth: u64,
    /// Its place among those of its interface that were handed over at one time.
    pub place: u64,
    /// Its size.
    pub bytes: u64,
}

/// A message with all of its times in ps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessageTimes {
    /// Source node.
    pub source: u32,
    /// Its place among the messages of its source in the order in which they leave, from 0.
    pub number: u64,
    /// Destination node.
    pub destination: u32,
    /// Its size.
    pub bytes: u64,
    /// When it was handed to the interface.
    pub born: u64,
    /// When its first packet left; `None` if it has not.
    pub injected: Option<u64>,
    /// When it was complete at its destination; `None` if it is not.
    pub arrived: Option<u64>,
    /// Most router-to-router links of its packets, once it has arrived.
    pub hops: Option<u32>,
}

/// What departure and arrival of one message agree in; messages that agree in all of it are interchangeable.
type Name = (u32, u32, u64, Label, u64);

impl SetOut {
    fn name(&self) -> Name {
        (self.source, self.destination, self.birth, self.number, self.bytes)
    }
}

impl MessageRow {
    fn name(&self) -> Name {
        (self.source, self.destination, self.birth, self.number, self.bytes)
    }
}

impl Stats {
    /// Every message but acknowledgements, by source and number, if messages are recorded. `unsent` are those that have not left.
    pub fn messages(&self, unsent: &[Unsent]) -> Option<Vec<MessageTimes>> {
        let mut arrived: Vec<&MessageRow> = self.rows.as_ref()?.iter().collect();
        arrived.sort_unstable_by_key(|row| (row.name(), row.time));
        let mut set_out: Vec<&SetOut> = self.set_out.iter().collect();
        set_out.sort_unstable_by_key(|sent| (sent.name(), sent.time));
        let mut arrived = arrived.into_iter().peekable();
        let mut messages = Vec::with_capacity(set_out.len() + unsent.len());
        for sent in set_out {
            // What has arrived and never set out would be seen as such, not taken for another.
            while let Some(row) = arrived.next_if(|row| row.name() < sent.name()) {
                messages.push(MessageTimes::new(row.name(), None, Some(row)));
            }
            let row = arrived.next_if(|row| row.name() == sent.name());
            messages.push(MessageTimes::new(sent.name(), Some(sent.time), row));
        }
        messages.extend(arrived.map(|row| MessageTimes::new(row.name(), None, Some(row))));
        messages.sort_unstable_by_key(|message| {
            let MessageTimes {
                source,
                injected,
                born,
                destination,
                ..
            } = *message;
            (source, injected, born, destination)
        });
        let mut unsent = unsent.to_vec();
        unsent.sort_unstable_by_key(|message| (message.source, message.birth, message.place));
        messages.extend(unsent.iter().map(|message| {
            let name = (message.source, message.destination, message.birth, 0, message.bytes);
            MessageTimes::new(name, None, None)
        }));
        // Stable: of each source first those that have left, in the order of leaving.
        messages.sort_by_key(|message| message.source);
        let (mut source, mut number) = (u32::MAX, 0);
        for message in &mut messages {
            number = if message.source == source { number + 1 } else { 0 };
            (source, message.number) = (message.source, number);
        }
        Some(messages)
    }
}

impl MessageTimes {
    fn new((source, destination, born, _, bytes): Name, injected: Option<u64>, row: Option<&MessageRow>) -> Self {
        MessageTimes {
            source,
            number: 0,
            destination,
            bytes,
            born,
            injected,
            arrived: row.map(|row| row.time),
            hops: row.map(|row| row.hops),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Span;
    use super::*;

    fn stats(set_out: &[(u32, u64, u64)], arrived: &[(u32, u64, u64)]) -> Stats {
        let mut stats = Stats::new(Span::default(), 0, true, Default::default(), (1, 0));
        let sent = |&(source, birth, time): &(u32, u64, u64)| SetOut {
            source,
            time,
            birth,
            destination: 9,
            number: 0,
            bytes: 8,
        };
        let row = |&(source, birth, time): &(u32, u64, u64)| MessageRow {
            birth,
            source,
            destination: 9,
            time,
            bytes: 8,
            hops: 3,
            number: 0,
        };
        stats.set_out = set_out.iter().map(sent).collect();
        stats.rows = Some(arrived.iter().map(row).collect());
        stats
    }

    #[test]
    fn every_message_is_told_once_whether_it_has_left_or_arrived() {
        // Out of order, as several workers show them.
        let stats = stats(&[(1, 20, 30), (0, 5, 6), (1, 10, 12)], &[(1, 10, 50), (0, 5, 40)]);
        let waits = |birth, place| Unsent {
            source: 1,
            destination: 9,
            birth,
            place,
            bytes: 8,
        };
        let rows = stats.messages(&[waits(60, 1), waits(60, 0), waits(25, 0)]).unwrap();
        let told: Vec<_> = rows
            .iter()
            .map(|m| (m.source, m.number, m.born, m.injected, m.arrived, m.hops))
            .collect();
        assert_eq!(
            told,
            [
                (0, 0, 5, Some(6), Some(40), Some(3)),
                (1, 0, 10, Some(12), Some(50), Some(3)),
                (1, 1, 20, Some(30), None, None),
                (1, 2, 25, None, None, None),
                (1, 3, 60, None, None, None),
                (1, 4, 60, None, None, None),
            ]
        );
    }

    #[test]
    fn an_arrival_without_a_departure_is_not_hidden() {
        let rows = stats(&[(1, 20, 30)], &[(0, 7, 9), (1, 20, 40), (2, 7, 9)])
            .messages(&[])
            .unwrap();
        let told: Vec<_> = rows.iter().map(|m| (m.source, m.injected, m.arrived)).collect();
        assert_eq!(told, [(0, None, Some(9)), (1, Some(30), Some(40)), (2, None, Some(9))]);
    }
}
