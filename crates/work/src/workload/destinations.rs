//! Destinations of synthetic traffic, message by message: what a pattern has been made into for a job.

use super::NOBODY;
use des::mix;
use des::rng::{below, unit};

mod drawn;
mod mixed;

pub use drawn::{Drawn, Units};
pub use mixed::{MixedDestinations, MixedPart};

/// Where the messages of a job go.
#[derive(Clone, Debug, PartialEq)]
pub enum Destinations {
    /// Any other node.
    Uniform,
    /// Any node, itself too.
    Any,
    /// A fraction of the messages goes to the first nodes.
    HotSpot {
        /// How many nodes are hot.
        targets: u32,
        /// Fraction of the messages for them.
        fraction: f64,
    },
    /// Message `k` of logical node `i` goes to entry `i * fan + k % fan` (physical); `NOBODY` for silent nodes.
    Table {
        /// Entries per node.
        fan: u32,
        /// The entries.
        table: Vec<u32>,
    },
    /// Message `k` of logical node `i` goes to one of the list of `i` (physical), one after the other and again from the first; nodes with an
    /// empty list are silent.
    Lists {
        /// Where the list of each node begins, and the end.
        starts: Vec<usize>,
        /// The lists.
        table: Vec<u32>,
    },
    /// Drawn by weights.
    Drawn(Box<Drawn>),
    /// Of several kinds, each for a share of the messages.
    Mixed(MixedDestinations),
}

impl Destinations {
    /// One of the other `n` logical nodes than `i`, all equally likely, by a random word.
    #[inline(always)]
    pub fn one_of_the_others(n: usize, i: u32, word: u64) -> u32 {
        let to = below(word, n as u64 - 1) as u32;
        to + u32::from(to >= i)
    }

    /// The destination of message `k` of logical node `i`, from a block of random words of which the first is the gap's.
    /// Whether a message is for a hot spot is decided by a hash of the word that also says which.
    #[inline(always)]
    pub fn pick(&self, nodes: &[u32], i: u32, k: u64, words: [u64; 2]) -> u32 {
        let other = |word: u64| nodes[Self::one_of_the_others(nodes.len(), i, word) as usize];
        match self {
            Destinations::Uniform => other(words[1]),
            Destinations::Any => nodes[below(words[1], nodes.len() as u64) as usize],
            Destinations::HotSpot { targets, fraction } => {
                if unit(mix(words[1])) < *fraction {
                    let to = below(words[1], u64::from(*targets)) as u32;
                    if to != i {
                        return nodes[to as usize];
                    }
                }
                other(words[1])
            }
            Destinations::Table { fan, table } => {
                let k = if *fan == 1 { 0 } else { (k % u64::from(*fan)) as usize };
                table[i as usize * *fan as usize + k]
            }
            Destinations::Lists { .. } => match self.listed(i) {
                [] => NOBODY,
                list => list[(k % list.len() as u64) as usize],
            },
            Destinations::Drawn(drawn) => drawn.pick(i, words[1]),
            Destinations::Mixed(mixed) => mixed.pick(nodes, i, k, words).0,
        }
    }

    /// The destination of message `k` of a node and its size, where not all messages are of `bytes`.
    #[inline(always)]
    pub(super) fn pick_sized(&self, nodes: &[u32], i: u32, k: u64, words: [u64; 2], bytes: u64) -> (u32, u64) {
        match self {
            Destinations::Mixed(mixed) => mixed.pick(nodes, i, k, words),
            other => (other.pick(nodes, i, k, words), bytes),
        }
    }

    /// The entries of a node where they are listed.
    pub(super) fn listed(&self, i: u32) -> &[u32] {
        match self {
            Destinations::Table { fan, table } => {
                let fan = *fan as usize;
                &table[i as usize * fan..(i as usize + 1) * fan]
            }
            Destinations::Lists { starts, table } => &table[starts[i as usize]..starts[i as usize + 1]],
            _ => &[],
        }
    }

    /// Whether logical node `i` sends at all.
    pub fn sends(&self, i: u32) -> bool {
        match self {
            Destinations::Uniform | Destinations::Any | Destinations::HotSpot { .. } => true,
            Destinations::Table { .. } | Destinations::Lists { .. } => {
                let entries = self.listed(i);
                !entries.is_empty() && entries.iter().all(|&to| to != NOBODY)
            }
            Destinations::Drawn(drawn) => drawn.rate(i) > 0.0,
            Destinations::Mixed(mixed) => mixed.sends(i),
        }
    }

    /// What logical node `i` sends per time, as a fraction of what the nodes that send most do.
    pub fn rate(&self, i: u32) -> f64 {
        match self {
            Destinations::Drawn(drawn) => drawn.rate(i),
            other => f64::from(u8::from(other.sends(i))),
        }
    }

    /// Mean size of the messages of logical node `i`, where not all are of `bytes`.
    pub(super) fn mean_size(&self, i: u32, bytes: u64) -> f64 {
        match self {
            Destinations::Mixed(mixed) => mixed.mean_size(i),
            _ => bytes as f64,
        }
    }

    /// Every size of messages, where not all are of `bytes`.
    pub(super) fn sizes(&self, bytes: u64) -> Vec<u64> {
        match self {
            Destinations::Mixed(mixed) => mixed.sizes(),
            _ => vec![bytes],
        }
    }

    /// Those of so many logical nodes that send, each with its [`Destinations::rate`].
    pub fn rates(&self, n: u32) -> impl Iterator<Item = (u32, f64)> {
        (0..n).map(|i| (i, self.rate(i))).filter(|&(_, rate)| rate > 0.0)
    }

    /// How many of so many nodes send at all.
    pub fn senders(&self, n: u32) -> u32 {
        self.rates(n).count() as u32
    }
}
