//! What messages say, on the way to a rank.
//!
//! Messages of one sender, communicator and tag are received in the order in which they were sent. So what a receive gets that the engine
//! has matched with such a message is what the oldest of them says.

use std::collections::{HashMap, VecDeque};

/// Sender, communicator (by the program's number) and tag.
pub(super) type MessageAddress = (u32, u32, u16);

/// Ways that are kept though nothing is on them.
const MOST_EMPTY: usize = 64;

/// What a message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Said {
    /// Its size.
    pub bytes: u64,
    /// Its block in the arena.
    pub payload: u64,
}

#[derive(Debug, Default)]
struct SaidInOrder {
    messages: VecDeque<Said>,
    /// So many of the oldest have come and wait for a receive.
    arrived: usize,
}

/// Messages to one rank that no receive has got yet.
#[derive(Debug, Default)]
pub(super) struct InTransit {
    ways: HashMap<MessageAddress, SaidInOrder>,
}

impl InTransit {
    /// A message is sent.
    pub fn post(&mut self, address: MessageAddress, said: Said) {
        self.ways.entry(address).or_default().messages.push_back(said);
    }

    /// A message has come that no receive was posted for.
    pub fn arrived(&mut self, address: MessageAddress) -> Option<Said> {
        let way = self.ways.get_mut(&address)?;
        let said = way.messages.get(way.arrived).copied();
        way.arrived += usize::from(said.is_some());
        said
    }

    /// A receive gets the oldest message; with it whether that had come before.
    pub fn matched(&mut self, address: MessageAddress) -> Option<(Said, bool)> {
        // Messages mostly go the same ways again.
        let is_full = self.ways.len() > MOST_EMPTY;
        let way = self.ways.get_mut(&address)?;
        let had_arrived = way.arrived > 0;
        way.arrived = way.arrived.saturating_sub(1);
        let said = way.messages.pop_front().map(|said| (said, had_arrived));
        if way.messages.is_empty() && is_full {
            self.ways.remove(&address);
        }
        said
    }
}
