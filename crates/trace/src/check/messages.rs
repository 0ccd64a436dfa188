//! Sends without receives, receives without sends, and receives that are smaller than their message.
//!
//! Where all receives of a rank in a communicator name source and tag, ends are matched exactly, in the order of the program. Where
//! some of them leave it open, those that do are counted against the messages that are left: by tag where only the source is open, by
//! source where only the tag is, and by number alone where a rank does both. In a graph, where the order is not known before it is
//! played, sizes are compared as collections: it is a problem if no pairing of sends and receives gives every message room.

use super::by_rank::ByRank;
use super::findings::{About, OperationPlace, TraceFindings};
use super::queue::MessageQueue;
use crate::header::{TraceForm, TraceHeader};
use crate::operation::{ANY_SOURCE, ANY_TAG, Kind, Operation, UNKNOWN_SIZE};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

/// An end of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Side {
    /// It sends.
    Send,
    /// It receives.
    Receive,
}

/// What has to be the same at both ends, besides the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct MatchKey {
    pub communicator: u32,
    pub sender: u32,
    pub tag: u32,
}

impl MatchKey {
    fn is_open(self) -> bool {
        self.sender == ANY_SOURCE || self.tag == ANY_TAG
    }
}

/// One end of a message, as an operation tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Half {
    pub side: Side,
    pub receiver: u32,
    pub key: MatchKey,
    /// Size of the message, or room for it.
    pub bytes: u64,
}

/// Stands for a size that cannot be: what it meets was told to be wrong.
const NO_SIZE: u64 = UNKNOWN_SIZE - 1;

/// The ends of messages that an operation has. Where its fields are `wrong`, so is the size.
pub(crate) fn halves(rank: u32, operation: &Operation, wrong: bool) -> [Option<Half>; 2] {
    let (kind, communicator) = (operation.kind, operation.communicator);
    let size = |bytes| if wrong { NO_SIZE } else { bytes };
    let send = kind.sends().then(|| Half {
        side: Side::Send,
        receiver: operation.peer,
        key: MatchKey {
            communicator,
            sender: rank,
            tag: operation.tag,
        },
        bytes: size(operation.bytes),
    });
    let (sender, tag, room) = match kind {
        // A size that is not told is that of any message.
        Kind::Sendrecv if operation.received == 0 => (operation.source, operation.source_tag, UNKNOWN_SIZE),
        Kind::Sendrecv => (operation.source, operation.source_tag, operation.received),
        _ => (operation.peer, operation.tag, operation.bytes),
    };
    let receive = kind.receives().then(|| Half {
        side: Side::Receive,
        receiver: rank,
        key: MatchKey {
            communicator,
            sender,
            tag,
        },
        bytes: size(room),
    });
    [send, receive]
}

/// A receive that is smaller than what it gets.
#[derive(Debug)]
struct Small {
    sent: OperationPlace,
    bytes: u64,
    place: OperationPlace,
    room: u64,
}

/// All messages of a trace that are under way.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    /// By receiver.
    waiting: ByRank<HashMap<MatchKey, (Side, MessageQueue)>>,
    /// (receiver, communicator)s with receives that leave source or tag open.
    open: HashSet<(u32, u32)>,
    small: BTreeMap<(u32, MatchKey), Vec<Small>>,
    /// In a graph, by size: sends less receives, of those that met one of another size.
    sizes: BTreeMap<(u32, MatchKey), BTreeMap<u64, i64>>,
    is_graph: bool,
    /// Ends of messages that cannot be played though they meet: (rank, number, side).
    dropped: HashSet<(u32, u32, Side)>,
}

/// What does not match, for who repairs it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unmatched {
    /// Of each: the number of the operation from which on its rank's ends meet nothing.
    pub tails: HashMap<(Side, u32, MatchKey), u32>,
    /// Ends that meet what cannot be played with them: (rank, number, side).
    pub single: HashSet<(u32, u32, Side)>,
    /// Sends without a receive.
    pub sends: u64,
    /// Receives without a send.
    pub receives: u64,
    /// Receives that are smaller than their message.
    pub small: u64,
}

impl Messages {
    /// For a trace.
    pub fn of(header: &TraceHeader) -> Messages {
        Messages {
            is_graph: header.form == TraceForm::Graph,
            ..Messages::default()
        }
    }

    /// Takes an end of a message.
    pub fn take(&mut self, half: &Half, place: OperationPlace) {
        let key = half.key;
        if half.side == Side::Receive && key.is_open() {
            self.open.insert((half.receiver, key.communicator));
        }
        let waiting = self.waiting.of(half.receiver);
        let mut entry = match waiting.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert((half.side, MessageQueue::of(place, half.bytes)));
                return;
            }
            Entry::Occupied(entry) => entry,
        };
        let (side, queue) = entry.get_mut();
        if *side == half.side {
            queue.push(place, half.bytes);
            return;
        }
        let (other, other_bytes, more) = queue.pop();
        if !more {
            entry.remove();
            // What many messages needed is given back when all have come.
            if waiting.is_empty() && waiting.capacity() > 64 {
                *waiting = HashMap::new();
            }
        }
        match half.side {
            Side::Send => self.meet(half, (place, half.bytes), (other, other_bytes)),
            Side::Receive => self.meet(half, (other, other_bytes), (place, half.bytes)),
        }
    }

    /// A message has met its receive.
    fn meet(&mut self, half: &Half, (sent, bytes): (OperationPlace, u64), (place, room): (OperationPlace, u64)) {
        if bytes == room || bytes == UNKNOWN_SIZE || room == UNKNOWN_SIZE {
            return;
        }
        if bytes == NO_SIZE || room == NO_SIZE {
            self.drop_both(sent, place);
            return;
        }
        let pair = (half.receiver, half.key);
        if self.is_graph {
            let sizes = self.sizes.entry(pair).or_default();
            *sizes.entry(bytes).or_default() += 1;
            *sizes.entry(room).or_default() -= 1;
        }
        if bytes > room {
            let small = self.small.entry(pair).or_default();
            small.push(Small {
                sent,
                bytes,
                place,
                room,
            });
        }
    }

    fn drop_both(&mut self, sent: OperationPlace, received: OperationPlace) {
        self.dropped.insert((sent.rank, sent.number, Side::Send));
        self.dropped.insert((received.rank, received.number, Side::Receive));
    }

    /// Tells what is left when the trace is over.
    pub fn end(mut self, header: &TraceHeader, findings: &mut TraceFindings) -> Unmatched {
        let mut unmatched = Unmatched::default();
        for (pair, small) in std::mem::take(&mut self.small) {
            let (receiver, key) = pair;
            // Where a receive leaves it open whose message it takes, the run shows which it is.
            let unsure = self.open.contains(&(receiver, key.communicator));
            if unsure || self.sizes.get(&pair).is_some_and(can_pair) {
                continue;
            }
            for one in small {
                unmatched.small += 1;
                self.drop_both(one.sent, one.place);
                findings.tell_at(header, About::Messages, one.place, || one.words());
            }
        }
        for (receiver, waiting) in std::mem::take(&mut self.waiting).into_sorted() {
            let mut waiting: Vec<Left> = waiting.into_iter().map(Left::of).collect();
            waiting.sort_unstable_by_key(|left| left.key);
            for of_communicator in waiting.chunk_by_mut(|a, b| a.key.communicator == b.key.communicator) {
                let spare = unmatched_of(of_communicator);
                for left in of_communicator.iter() {
                    if left.count > 0 {
                        left.tell(header, receiver, findings);
                    }
                    let dropped = left.dropped();
                    if dropped > 0 {
                        let from = left.last(dropped).0.number;
                        unmatched.tails.insert((left.side, receiver, left.key), from);
                    }
                }
                unmatched.sends += spare.0;
                unmatched.receives += spare.1;
            }
        }
        unmatched.single = self.dropped;
        unmatched
    }
}

impl Small {
    fn words(&self) -> (String, String) {
        let (from, to) = (self.sent.rank, self.place.rank);
        let (room, bytes, record) = (self.room, self.bytes, self.sent.record);
        let reason =
            format!("rank {to} receives {room} B of a message of {bytes} B, sent by rank {from} in record {record}");
        (reason, "give the receive at least as many bytes".into())
    }
}

/// Whether sends and receives of other sizes can be paired so that every message has room: `sizes` has sends less receives.
fn can_pair(sizes: &BTreeMap<u64, i64>) -> bool {
    let mut room = 0;
    sizes.values().rev().all(|sends| {
        room -= sends;
        room >= 0
    })
}

/// What is left of a queue at the end.
#[derive(Debug)]
struct Left {
    key: MatchKey,
    side: Side,
    queue: MessageQueue,
    /// How many of its last are unmatched.
    count: u64,
    /// How many more meet what has a size that cannot be.
    spoilt: u64,
}

impl Left {
    fn of((key, (side, queue)): (MatchKey, (Side, MessageQueue))) -> Left {
        Left {
            key,
            side,
            count: queue.len(),
            spoilt: 0,
            queue,
        }
    }

    /// How many of the next that are matched have a size that cannot be.
    fn wrong_next(&self, taken: u64) -> u64 {
        let matched = self.queue.len() - self.count;
        self.queue.count_of(NO_SIZE, matched..matched + taken)
    }

    /// How many at the end cannot be played: those that are unmatched, and before them as many sound ones as are spoilt.
    fn dropped(&self) -> u64 {
        let (mut dropped, mut left) = (self.count, self.spoilt);
        while left > 0 && dropped < self.queue.len() {
            dropped += 1;
            left -= u64::from(self.last(dropped).1 != NO_SIZE);
        }
        dropped
    }

    /// The first of so many at the end, with its bytes.
    fn last(&self, count: u64) -> (OperationPlace, u64) {
        self.queue.get(self.queue.len() - count)
    }

    fn tell(&self, header: &TraceHeader, receiver: u32, findings: &mut TraceFindings) {
        let (place, bytes) = self.last(self.count);
        let MatchKey {
            communicator,
            sender,
            tag,
        } = self.key;
        findings.tell_at(header, About::Messages, place, || {
            let more = match self.count {
                1 => String::new(),
                count => format!(", nor {} more", count - 1),
            };
            let of = match communicator {
                0 => String::new(),
                communicator => format!(", communicator {communicator}"),
            };
            match (self.side, self.key.is_open()) {
                (Side::Send, _) => {
                    let size = match bytes {
                        UNKNOWN_SIZE | NO_SIZE => String::new(),
                        bytes => format!("{bytes} B, "),
                    };
                    let reason = format!("rank {receiver} never receives this message ({size}tag {tag}{of}){more}");
                    (reason, "add the receive, with the same tag and communicator".into())
                }
                (Side::Receive, false) => {
                    let reason =
                        format!("rank {receiver} receives from rank {sender} (tag {tag}{of}) what is never sent{more}");
                    (reason, "add the send, or take the receive out".into())
                }
                (Side::Receive, true) => {
                    let reason = format!("nothing is left for rank {receiver} to receive here{more}");
                    (reason, "add the send, or take the receive out".into())
                }
            }
        });
    }
}

/// Sets the counts of what is unmatched of a receiver in a communicator, whose keys come in order: (sends, receives).
fn unmatched_of(left: &mut [Left]) -> (u64, u64) {
    let open: Vec<usize> = (0..left.len()).filter(|&i| left[i].key.is_open()).collect();
    let any_source = |i: &usize| left[*i].key.sender == ANY_SOURCE;
    let any_tag = |i: &usize| left[*i].key.tag == ANY_TAG;
    let sends: Vec<usize> = (0..left.len()).filter(|&i| left[i].side == Side::Send).collect();
    let of_tag = open.iter().any(|i| any_source(i) && !any_tag(i));
    let of_source = open.iter().any(|i| !any_source(i) && any_tag(i));
    // A receive of one tag and one of one source may want the same message: which of them has it is only known by number.
    if of_tag && of_source {
        take(left, &open, &sends);
    } else {
        // What is open at both sides takes what the others leave.
        let (both, one): (Vec<usize>, Vec<usize>) = open.into_iter().partition(|i| any_source(i) && any_tag(i));
        let mut by: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        let name = |key: MatchKey| if of_tag { key.tag } else { key.sender };
        for at in sends.iter().filter(|_| !one.is_empty()) {
            by.entry(name(left[*at].key)).or_default().push(*at);
        }
        for at in one {
            let suitable = by.get(&name(left[at].key)).map_or(&[][..], Vec::as_slice);
            take(left, &[at], suitable);
        }
        take(left, &both, &sends);
    }
    let sum = |side| {
        left.iter()
            .filter(|left| left.side == side)
            .map(|left| left.count)
            .sum()
    };
    (sum(Side::Send), sum(Side::Receive))
}

/// Receives take what sends have, whichever it is.
fn take(left: &mut [Left], receives: &[usize], sends: &[usize]) {
    let mut sends = sends.iter().copied().peekable();
    for &receive in receives {
        while let Some(&send) = sends.peek()
            && left[receive].count > 0
        {
            let taken = left[receive].count.min(left[send].count);
            // What is wrong at one end cannot be played at the other.
            let (sent, received) = (left[send].wrong_next(taken), left[receive].wrong_next(taken));
            left[receive].spoilt += sent.saturating_sub(received);
            left[send].spoilt += received.saturating_sub(sent);
            left[receive].count -= taken;
            left[send].count -= taken;
            if left[send].count == 0 {
                sends.next();
            }
        }
    }
}
