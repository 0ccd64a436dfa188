//! Messages that are listed one by one: by users, or for comparisons with other simulators message by message.

use super::spec::ListedMessage;
use super::{Message, Source};

/// What the nodes of a job send, node by node in the order of times.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Listed {
    messages: Vec<Message>,
    /// Where those of each logical node begin, and the end.
    starts: Vec<usize>,
    /// Every size there is, rising.
    sizes: Vec<u64>,
    /// A node has several messages at one time.
    bursts: bool,
}

impl Listed {
    /// The messages of a job whose logical nodes are `nodes`; errors are a place in the list and a reason.
    pub(super) fn new(list: &[ListedMessage], nodes: &[u32]) -> Result<Listed, (usize, String)> {
        let n = nodes.len();
        let mut starts = vec![0; n + 1];
        for (i, message) in list.iter().enumerate() {
            let (from, to) = (message.source as usize, message.destination as usize);
            if from >= n || to >= n {
                return Err((i, format!("there is no node {}, the job has {n}", from.max(to))));
            }
            if from == to || message.bytes.0 == 0 {
                return Err((i, format!("node {from} sends to itself, or nothing")));
            }
            starts[from + 1] += 1;
        }
        for node in 0..n {
            starts[node + 1] += starts[node];
        }
        // Counted in: messages of one node at one time stay in their order.
        let mut order: Vec<&ListedMessage> = list.iter().collect();
        order.sort_by_key(|message| (message.source, message.time));
        let as_sent = |message: &&ListedMessage| Message {
            birth: message.time.0,
            destination: nodes[message.destination as usize],
            bytes: message.bytes.0,
        };
        let mut sizes: Vec<u64> = list.iter().map(|message| message.bytes.0).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let together = |pair: &[&ListedMessage]| (pair[0].source, pair[0].time) == (pair[1].source, pair[1].time);
        Ok(Listed {
            messages: order.iter().map(as_sent).collect(),
            bursts: order.windows(2).any(together),
            starts,
            sizes,
        })
    }

    /// Message `source.made` of a logical node, if there is one born before `stop` (ps).
    #[inline(never)]
    pub(super) fn next(&self, logical: u32, source: &mut Source, stop: u64) -> Option<Message> {
        let message = *self.of(logical).get(source.made as usize)?;
        if message.birth >= stop {
            return None;
        }
        source.made += 1;
        source.clock = message.birth;
        Some(message)
    }

    /// The largest size such that messages of it and larger ones carry half of all bytes.
    pub(super) fn usual_size(&self) -> Option<u64> {
        let mut sizes: Vec<u64> = self.messages.iter().map(|message| message.bytes).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let all: u128 = sizes.iter().map(|&bytes| u128::from(bytes)).sum();
        let mut carried = 0;
        sizes.into_iter().find(|&bytes| {
            carried += u128::from(bytes);
            2 * carried >= all
        })
    }

    /// The messages of a logical node in the order of times.
    pub(super) fn of(&self, logical: u32) -> &[Message] {
        let logical = logical as usize;
        &self.messages[self.starts[logical]..self.starts[logical + 1]]
    }

    /// The logical node that sends message `k` of all.
    pub(super) fn sender_of(&self, k: usize) -> usize {
        self.starts.partition_point(|&start| start <= k) - 1
    }

    /// All messages, node by node.
    pub(super) fn all(&self) -> &[Message] {
        &self.messages
    }

    /// Messages born before `stop` (ps).
    pub(super) fn before(&self, stop: u64) -> u64 {
        self.messages.iter().filter(|message| message.birth < stop).count() as u64
    }

    /// Every size there is, rising.
    pub(super) fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// `true` if a node has several messages at one time.
    pub(super) fn bursts(&self) -> bool {
        self.bursts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytemuck::Zeroable as _;
    use des::Time;
    use study::Bytes;

    fn listed(list: &[(u64, u32, u32, u64)]) -> Result<Listed, (usize, String)> {
        let list: Vec<ListedMessage> = list.iter().map(|&message| message.into()).collect();
        // Logical nodes 0, 1, 2 are nodes 10, 20, 30.
        Listed::new(&list, &[10, 20, 30])
    }

    #[test]
    fn a_node_makes_the_messages_that_are_listed_and_no_more() {
        let listed = listed(&[(70, 0, 2, 9), (5, 0, 1, 8), (70, 0, 1, 7), (6, 2, 0, 8)]).unwrap();
        let sent = |node, stop| {
            let mut source = Source::zeroed();
            let next = || listed.next(node, &mut source, stop);
            let all: Vec<_> = std::iter::from_fn(next)
                .map(|message| (message.birth, message.destination, message.bytes))
                .collect();
            all
        };
        assert_eq!(sent(0, u64::MAX), [(5, 20, 8), (70, 30, 9), (70, 20, 7)]);
        assert_eq!(sent(0, 70), [(5, 20, 8)]);
        assert_eq!(sent(1, u64::MAX), []);
        assert_eq!(sent(2, u64::MAX), [(6, 10, 8)]);
        assert_eq!((listed.before(70), listed.before(71)), (2, 4));
        assert_eq!((listed.sizes(), listed.bursts()), (&[7, 8, 9][..], true));
    }

    #[test]
    fn messages_of_several_nodes_at_one_time_are_no_burst() {
        assert!(!listed(&[(5, 0, 1, 8), (5, 1, 0, 8), (6, 0, 1, 8)]).unwrap().bursts());
    }

    #[test]
    fn a_list_that_does_not_fit_is_refused() {
        let refused = |list: &[_]| listed(list).map_err(|(place, _)| place);
        assert_eq!(refused(&[(5, 0, 1, 8), (5, 3, 1, 8)]), Err(1));
        assert_eq!(refused(&[(5, 0, 3, 8)]), Err(0));
        assert_eq!(refused(&[(5, 1, 1, 8)]), Err(0));
        assert_eq!(refused(&[(5, 0, 1, 0)]), Err(0));
        let bytes = Bytes(1);
        let list = [ListedMessage {
            time: Time(0),
            source: 0,
            destination: 1,
            bytes,
        }];
        assert!(Listed::new(&list, &[4]).is_err());
    }
}
