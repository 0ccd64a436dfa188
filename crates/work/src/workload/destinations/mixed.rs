//! Several kinds of destinations, each for a share of the messages and with a size of its own.

use super::Destinations;
use crate::workload::NOBODY;
use des::mix;
use des::rng::unit;

/// Which part a message is of: a hash of its word, apart from those by which parts draw.
const PART: u64 = 0x7061_7274;

/// Destinations of several kinds. Messages of a part that a node has no destination in are shared out among the other parts.
#[derive(Clone, Debug, PartialEq)]
pub struct MixedDestinations {
    parts: Vec<MixedPart>,
}

/// A part of them.
#[derive(Clone, Debug, PartialEq)]
pub struct MixedPart {
    /// Its share of the messages, beside those of the other parts.
    pub share: f64,
    /// Size of its messages.
    pub bytes: u64,
    /// Where they go.
    pub to: Destinations,
}

impl MixedDestinations {
    /// Those of some parts.
    pub fn new(parts: Vec<MixedPart>) -> MixedDestinations {
        MixedDestinations { parts }
    }

    /// The parts in which logical node `i` sends, each with its share of the node's messages.
    pub fn parts_of(&self, i: u32) -> impl Iterator<Item = (&MixedPart, f64)> {
        let all = self.total(i);
        self.parts
            .iter()
            .filter(move |part| part.to.sends(i))
            .map(move |part| (part, part.share / all))
    }

    fn total(&self, i: u32) -> f64 {
        let own = self.parts.iter().filter(|part| part.to.sends(i));
        own.map(|part| part.share).sum()
    }

    pub(super) fn sends(&self, i: u32) -> bool {
        self.parts.iter().any(|part| part.to.sends(i))
    }

    pub(super) fn mean_size(&self, i: u32) -> f64 {
        self.parts_of(i).map(|(part, share)| share * part.bytes as f64).sum()
    }

    pub(super) fn sizes(&self) -> Vec<u64> {
        self.parts.iter().map(|part| part.bytes).collect()
    }

    /// Destination and size of message `k` of logical node `i`.
    #[inline(never)]
    pub(super) fn pick(&self, nodes: &[u32], i: u32, k: u64, words: [u64; 2]) -> (u32, u64) {
        let mut left = unit(mix(words[1] ^ PART));
        let mut last = None;
        for (part, share) in self.parts_of(i) {
            last = Some(part);
            if left < share {
                break;
            }
            left -= share;
        }
        last.map_or((NOBODY, 0), |part| (part.to.pick(nodes, i, k, words), part.bytes))
    }
}
