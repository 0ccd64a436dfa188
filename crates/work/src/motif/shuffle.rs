//! A keyed permutation of ranks that is computed, never stored: a Feistel network, walked until it lands on a rank (Black and Rogaway
//! 2002).

use des::mix;

/// Rounds of the network.
const ROUNDS: u64 = 6;

/// Permutations of a number of ranks, one for every key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RankPermutation {
    ranks: u32,
    /// Bits of half a number.
    half: u32,
}

impl RankPermutation {
    /// Permutations of `ranks` ranks.
    pub(super) fn new(ranks: u32) -> RankPermutation {
        let bits = ranks.next_power_of_two().trailing_zeros();
        RankPermutation {
            ranks,
            half: bits.div_ceil(2),
        }
    }

    /// The rank at a place.
    pub(super) fn rank(self, key: u64, place: u32) -> u32 {
        self.walk(key, place, false)
    }

    /// The place of a rank.
    pub(super) fn place(self, key: u64, rank: u32) -> u32 {
        self.walk(key, rank, true)
    }

    fn walk(self, key: u64, number: u32, back: bool) -> u32 {
        let mut number = self.pass(key, number.into(), back);
        while number >= u64::from(self.ranks) {
            number = self.pass(key, number, back);
        }
        number as u32
    }

    /// One pass through the network, there or back.
    fn pass(self, key: u64, number: u64, back: bool) -> u64 {
        let mask = (1 << self.half) - 1;
        let scramble = |round: u64, word: u64| mix(key ^ round << 58 ^ word) & mask;
        let (mut left, mut right) = (number >> self.half, number & mask);
        for i in 0..ROUNDS {
            if back {
                (left, right) = (right ^ scramble(ROUNDS - 1 - i, left), left);
            } else {
                (left, right) = (right, left ^ scramble(i, right));
            }
        }
        left << self.half | right
    }
}

#[cfg(test)]
mod tests {
    use super::RankPermutation;

    #[test]
    fn every_key_gives_a_permutation_and_its_inverse() {
        for ranks in [1, 2, 3, 7, 64, 100, 1_000] {
            let shuffle = RankPermutation::new(ranks);
            for key in 0..5 {
                let mut seen = vec![false; ranks as usize];
                for place in 0..ranks {
                    let rank = shuffle.rank(key, place);
                    assert!(!std::mem::replace(&mut seen[rank as usize], true), "{ranks} {key}");
                    assert_eq!(shuffle.place(key, rank), place);
                }
            }
        }
        let order = |key| -> Vec<u32> {
            (0..100)
                .map(|place| RankPermutation::new(100).rank(key, place))
                .collect()
        };
        assert_ne!(order(1), order(2));
    }
}
