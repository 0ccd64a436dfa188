//! CLCG4, the random number generator of ROSS: four multiplicative congruential generators combined (L'Ecuyer and Andres, "A random number
//! generator based on the combination of four LCGs", Math. Comput. Simul. 44 (1997)), with ROSS's seeds and spacing of streams.

/// Four multiplicative generators; the modulus and multiplier of each.
const CLCG: [(u64, u64); 4] = [
    (2_147_483_647, 45_991),
    (2_147_483_543, 207_707),
    (2_147_483_423, 138_556),
    (2_147_483_323, 49_689),
];

/// A stream of CLCG4.
pub struct Stream([u64; 4]);

impl Stream {
    /// The stream of a number: streams are 2^72 draws apart.
    pub fn new(number: u64) -> Stream {
        let mut state = [11_111_111, 22_222_222, 33_333_333, 44_444_444];
        for (word, (modulus, multiplier)) in state.iter_mut().zip(CLCG) {
            let stride = (0..72).fold(multiplier, |power, _| power * power % modulus);
            let (mut power, mut left) = (stride, number);
            while left != 0 {
                if left & 1 != 0 {
                    *word = *word * power % modulus;
                }
                power = power * power % modulus;
                left >>= 1;
            }
        }
        Stream(state)
    }

    /// The next number in (0, 1): the alternating sum of the four, modulo 1.
    pub fn unit(&mut self) -> f64 {
        let mut sum = 0.0;
        for (i, (word, (modulus, multiplier))) in self.0.iter_mut().zip(CLCG).enumerate() {
            *word = *word * multiplier % modulus;
            let part = *word as f64 / modulus as f64;
            sum += if i % 2 == 0 { part } else { -part };
        }
        sum - sum.floor()
    }
}
