//! Counter-based random numbers: a draw is a function of (seed, stream, counter), so that no engine or partition can change it.
//!
//! [`Philox`] is Philox4x64-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011), the generator behind NumPy's
//! `numpy.random.Philox`, which serves as the oracle of the tests. One call gives four 64-bit words: never draw twice where one
//! block has what is needed. [`Philox2`] is its smaller sibling Philox2x64-10, for draws of two words at less than half the cost.
//! [`mix`] is a cheap 64-bit finaliser for ties and digests.

/// Multipliers and key increments of Philox4x64 (Salmon et al. 2011, table 2).
const M0: u64 = 0xD2E7_470E_E14C_6C93;
const M1: u64 = 0xCA5A_8263_9512_1157;
const W0: u64 = 0x9E37_79B9_7F4A_7C15;
const W1: u64 = 0xBB67_AE85_84CA_A73B;

/// Philox4x64-10 with a key of (seed, stream).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Philox {
    key: [u64; 2],
}

impl Philox {
    /// The generator of `stream` in a run with `seed`.
    pub const fn new(seed: u64, stream: u64) -> Self {
        Philox { key: [seed, stream] }
    }

    /// The block of four words at `counter`.
    #[inline]
    pub fn block(&self, counter: [u64; 4]) -> [u64; 4] {
        let [mut c0, mut c1, mut c2, mut c3] = counter;
        let [mut k0, mut k1] = self.key;
        for round in 0..10 {
            if round > 0 {
                k0 = k0.wrapping_add(W0);
                k1 = k1.wrapping_add(W1);
            }
            let p0 = u128::from(M0) * u128::from(c0);
            let p1 = u128::from(M1) * u128::from(c2);
            (c0, c1, c2, c3) = (
                (p1 >> 64) as u64 ^ c1 ^ k0,
                p1 as u64,
                (p0 >> 64) as u64 ^ c3 ^ k1,
                p0 as u64,
            );
        }
        [c0, c1, c2, c3]
    }

    /// The block of draw number `draw` of entity `entity` (a node, a packet, ...).
    #[inline]
    pub fn draw(&self, entity: u64, draw: u64) -> [u64; 4] {
        self.block([draw, entity, 0, 0])
    }
}

/// Multiplier of Philox2x64 (Salmon et al. 2011, table 2).
const M2: u64 = 0xD2B7_4407_B1CE_6E93;

/// Philox2x64-10: two words per block, for what is drawn once per message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Philox2 {
    key: u64,
}

impl Philox2 {
    /// The generator of `stream` in a run with `seed`; its one key word is a hash of both.
    pub const fn new(seed: u64, stream: u64) -> Self {
        Philox2 {
            key: mix(mix(seed).wrapping_add(stream)),
        }
    }

    /// The block of two words of draw number `draw` of entity `entity`.
    #[inline(always)]
    pub fn draw(&self, entity: u64, draw: u64) -> [u64; 2] {
        let [mut c0, mut c1] = [draw, entity];
        for round in 0..10 {
            let product = u128::from(M2) * u128::from(c0);
            let key = self.key.wrapping_add(W0.wrapping_mul(round));
            (c0, c1) = ((product >> 64) as u64 ^ key ^ c1, product as u64);
        }
        [c0, c1]
    }
}

/// Maps a random word to `0..n` without modulo bias beyond 2^-64 n (Lemire 2019, without rejection).
#[inline(always)]
pub fn below(word: u64, n: u64) -> u64 {
    ((u128::from(word) * u128::from(n)) >> 64) as u64
}

/// Maps a random word to the open interval (0, 1); for statistics and gap lengths.
#[inline(always)]
pub fn unit(word: u64) -> f64 {
    ((word >> 11) as i64 as f64 + 0.5) * (1.0 / (1u64 << 53) as f64)
}

/// A bijective 64-bit mixer: every input bit changes every output bit with probability near one half (variant 13 of Stafford's
/// MurmurHash3 finalisers, the output function of SplitMix64, Steele et al. 2014).
#[inline(always)]
pub const fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// SplitMix64 (Steele et al. 2014): a small sequential generator for shuffles made while a run is built.
#[derive(Clone, Copy, Debug)]
pub struct SplitMix(pub u64);

impl SplitMix {
    /// The next word.
    pub fn next_word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// Shuffles in place (Fisher-Yates, from the last element down, `next % (i + 1)`).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = (self.next_word() % (i as u64 + 1)) as usize;
            items.swap(i, j);
        }
    }
}

/// Pieces per power of two of the logarithm's table.
const LN_PIECES: usize = 128;
/// Reciprocal and logarithm of the left end of each piece of 1..2.
static LN_TABLE: [(f64, f64); LN_PIECES] = {
    let mut table = [(1.0, 0.0); LN_PIECES];
    let mut i = 1;
    while i < LN_PIECES {
        let inverse = 1.0 / (1.0 + i as f64 / LN_PIECES as f64);
        table[i] = (inverse, -ln_of_mantissa(inverse));
        i += 1;
    }
    table
};

/// ln(m) = 2 artanh((m - 1) / (m + 1)) for m in 0.5..2.
const fn ln_of_mantissa(mantissa: f64) -> f64 {
    let z = (mantissa - 1.0) / (mantissa + 1.0);
    let (mut power, mut sum, mut n) = (z, 0.0, 1.0);
    while n < 60.0 {
        sum += power / n;
        power *= z * z;
        n += 2.0;
    }
    2.0 * sum
}

/// A natural logarithm from additions and multiplications only, the same bits on every machine.
///
/// For exponential gaps; absolute error below 1e-15 for x in 0.5..2 and relative error below 1e-12 elsewhere, for normal x > 0.
/// A table gives the logarithm of the left end of one of 128 pieces of 1..2, a polynomial the rest.
#[inline]
pub fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    // The sign is none.
    let exponent = (bits >> 52) as i32 - 1023;
    let mantissa = f64::from_bits(bits & 0x000F_FFFF_FFFF_FFFF | 0x3FF0_0000_0000_0000);
    let (inverse, ln_left) = LN_TABLE[(bits >> 45) as usize % LN_PIECES];
    let z = mantissa * inverse - 1.0;
    // In three parts that do not wait for each other: what hangs on a message's birth waits for all of this.
    let square = z * z;
    let (low, high) = (
        z * (1.0 / 3.0) - 1.0 / 2.0,
        z * (1.0 / 5.0) - 1.0 / 4.0 - square * (1.0 / 6.0),
    );
    let series = z + square * (low + square * high);
    f64::from(exponent) * std::f64::consts::LN_2 + (ln_left + series)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn philox_gives_numpys_words() {
        // numpy.random.Philox(key=K, counter=C).random_raw(4); NumPy advances its counter before the first block.
        let cases: [([u64; 2], [u64; 4], [u64; 4]); NUMPY.len()] = NUMPY;
        for (key, counter, words) in cases {
            let mut next = counter;
            next[0] = next[0].wrapping_add(1);
            assert_eq!(Philox { key }.block(next), words, "key {key:?} counter {counter:?}");
        }
    }

    include!("rng_numpy_vectors.rs");

    #[test]
    fn philox_of_two_words_gives_the_published_known_answers() {
        // (key, counter, words): the known answers published with the paper's Random123 library.
        let ones = u64::MAX;
        let cases = [
            (0, [0, 0], [0xCA00_A045_9843_D731, 0x66C2_4222_C9A8_45B5]),
            (ones, [ones, ones], [0x65B0_21D6_0CD8_310F, 0x4D02_F322_2F86_DF20]),
            (
                0xA409_3822_299F_31D0,
                [0x243F_6A88_85A3_08D3, 0x1319_8A2E_0370_7344],
                [0x0A5E_742C_2997_341C, 0xB0F8_83D3_8000_DE5D],
            ),
        ];
        for (key, [draw, entity], words) in cases {
            assert_eq!(Philox2 { key }.draw(entity, draw), words, "key {key:#x}");
        }
    }

    #[test]
    fn logarithm_matches_the_library_to_twelve_digits() {
        for i in 1..=10_000u64 {
            let x = unit(mix(i));
            assert!((ln(x) - x.ln()).abs() <= 1e-12 * x.ln().abs().max(1e-3), "x = {x}");
        }
        assert_eq!(ln(1.0), 0.0);
    }

    #[test]
    fn below_stays_below_and_reaches_all() {
        let mut seen = [0; 7];
        for i in 0..7_000 {
            seen[below(mix(i), 7) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| n > 850 && n < 1_150), "{seen:?}");
    }
}
