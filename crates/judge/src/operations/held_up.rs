//! Where a message was held up longest on its way.

use fabric::observe::{NO_MESSAGE, StayRow, WaitRow};
use std::collections::HashMap;

/// The longest stay of a packet of each message, by source, destination and label.
pub type Stays = HashMap<[u32; 3], StayRow>;

/// The link at which a packet of a message stayed longest: from when its head was ready for it until its tail was on it, which is queues, want
/// of room behind the link and the packet's own serialisation. Of the link from the node it is the first packet's stay, since the message
/// was handed to the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldUp {
    /// The node at an end of it, if there is one: that sends on it where there is no router, else that it leads to.
    pub node: Option<u32>,
    /// The router that sends on it; none of the link from a node.
    pub router: Option<u32>,
    /// Its output port; ejection ports follow the network ports.
    pub port: Option<u32>,
    /// How long (ps).
    pub time: u64,
}

impl HeldUp {
    /// Of the message that ended a wait; a message within a node has no link.
    pub(super) fn of(row: &WaitRow, stays: &Stays) -> Option<HeldUp> {
        // The destination is the rank's host, on whichever of its rails.
        let stay = stays.get(&[row.source, row.destination, row.label])?;
        let from_node = stay.router == NO_MESSAGE;
        Some(HeldUp {
            node: match from_node {
                true => Some(stay.source),
                false => (stay.ejects != 0).then_some(stay.destination),
            },
            router: (!from_node).then_some(stay.router),
            port: (!from_node).then_some(stay.port),
            time: stay.time,
        })
    }
}
