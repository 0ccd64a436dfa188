//! Destinations of synthetic traffic, message by message: what a pattern has been made into for a job.

use super::NOBODY;
use des::mix;
use des::rng::{below, unit};

/// Where the messages of a job go.
#[derive(Clone, Debug, PartialEq)]
pub enum Destinations {
    /// Any other node.
    Uniform,
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
}

impl Destinations {
    /// One of the other nodes than logical node `i`, all equally likely, by a random word.
    #[inline(always)]
    pub fn uniform(nodes: &[u32], i: u32, word: u64) -> u32 {
        let to = below(word, nodes.len() as u64 - 1) as u32;
        nodes[(to + u32::from(to >= i)) as usize]
    }

    /// The destination of message `k` of logical node `i`, from a block of random words of which the first is the gap's.
    /// Whether a message is for a hot spot is decided by a hash of the word that also says which.
    #[inline(always)]
    pub fn pick(&self, nodes: &[u32], i: u32, k: u64, words: [u64; 2]) -> u32 {
        let other = |word: u64| Self::uniform(nodes, i, word);
        match self {
            Destinations::Uniform => other(words[1]),
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
        }
    }

    /// How many of the nodes send at all.
    pub fn senders(&self, nodes: &[u32]) -> u32 {
        self.sending(nodes).len() as u32
    }

    /// Those of the nodes that send at all.
    pub fn sending(&self, nodes: &[u32]) -> Vec<u32> {
        match self {
            Destinations::Table { fan, table } => nodes
                .iter()
                .zip(table.chunks(*fan as usize))
                .filter(|(_, entries)| entries.iter().all(|&to| to != NOBODY))
                .map(|(&node, _)| node)
                .collect(),
            _ => nodes.to_vec(),
        }
    }
}
