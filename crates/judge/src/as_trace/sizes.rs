//! How large the message was that a receive took: messages from one rank to another, of one communicator and tag, are taken in their order.

use super::JobOperation;
use std::collections::{HashMap, HashSet, VecDeque};

/// Part, communicator, sender, receiver and tag.
type MessageWay = (u32, u32, u32, u32, u32);

/// Sizes of messages that have not been received.
#[derive(Default)]
pub(super) struct MessageSizes {
    sent: HashMap<MessageWay, VecDeque<u64>>,
    /// Receivers that take messages from anybody or of any tag, by part: which they take is not known from the order.
    open: HashSet<(u32, u32)>,
}

/// From whom a row receives, and with which tag.
fn source(row: &JobOperation) -> (Option<u32>, Option<u32>) {
    match row.kind.sends() {
        true => (row.cells.source, row.cells.source_tag),
        false => (row.cells.peer, row.cells.tag),
    }
}

impl MessageSizes {
    pub fn of(rows: &[&JobOperation]) -> MessageSizes {
        let mut sizes = MessageSizes::default();
        for row in rows {
            let cells = &row.cells;
            let sent = cells.communicator.zip(cells.peer).zip(cells.tag.zip(cells.bytes));
            if let Some(((communicator, peer), (tag, bytes))) = sent.filter(|_| row.kind.sends()) {
                let way = (row.part, communicator, row.rank, peer, tag);
                sizes.sent.entry(way).or_default().push_back(bytes);
            }
            if row.kind.receives() && !matches!(source(row), (Some(_), Some(_))) {
                sizes.open.insert((row.part, row.rank));
            }
        }
        sizes
    }

    /// The size of the message that a row receives, where it is known.
    pub fn next(&mut self, row: &JobOperation) -> Option<u64> {
        if !row.kind.receives() || self.open.contains(&(row.part, row.rank)) {
            return None;
        }
        let (source, tag) = source(row);
        let way = (row.part, row.cells.communicator?, source?, row.rank, tag?);
        self.sent.get_mut(&way)?.pop_front()
    }
}
