//! Division by a number known at build time, as one multiplication and one shift (Granlund & Montgomery 1994).

/// A divisor that is divided by often. Exact for numerators below 2^31, which all router and node numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FastDiv {
    magic: u64,
    shift: u32,
    divisor: u32,
}

/// Bits of a numerator.
const BITS: u32 = 31;

impl FastDiv {
    /// Prepares division by `divisor`; zero is taken as one, callers validate before.
    pub(crate) fn new(divisor: u32) -> Self {
        let divisor = divisor.max(1);
        let shift = BITS + u32::BITS - (divisor - 1).leading_zeros();
        // magic * divisor exceeds 2^shift by less than 2^(shift - BITS), so the error stays below one part in 2^BITS.
        let magic = (1u64 << shift).div_ceil(u64::from(divisor));
        Self { magic, shift, divisor }
    }

    /// Numerators are below this.
    pub(crate) const BOUND: u64 = 1 << BITS;

    /// Quotient.
    #[inline]
    pub(crate) fn div(self, n: u32) -> u32 {
        debug_assert!(n < 1 << BITS, "{n} is no router or node number");
        ((self.magic * u64::from(n)) >> self.shift) as u32
    }

    /// Quotient and remainder.
    #[inline]
    pub(crate) fn split(self, n: u32) -> (u32, u32) {
        let q = self.div(n);
        (q, n - q * self.divisor)
    }

    /// The divisor.
    #[inline]
    pub(crate) fn divisor(self) -> u32 {
        self.divisor
    }
}

/// Bits of a half of a key.
pub(crate) const HALF: u32 = 16;

/// Maps the upper half of a 32-bit hash to `0..n`, evenly but for one part in 65,536 of all hashes.
#[inline]
pub(crate) fn pick(key: u32, n: u32) -> u32 {
    ((u64::from(key >> HALF) * u64::from(n)) >> HALF) as u32
}

/// The same by the lower half: whatever the upper half gave, every number is as likely.
#[inline]
pub(crate) fn pick_again(key: u32, n: u32) -> u32 {
    pick(key << HALF, n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_is_exact_at_the_edges() {
        for d in [
            1,
            2,
            3,
            5,
            7,
            16,
            100,
            641,
            65_535,
            65_536,
            (1 << 28) - 1,
            1 << 28,
            (1 << 31) - 1,
        ] {
            let f = FastDiv::new(d);
            let edges = [
                0,
                1,
                d - 1,
                d,
                d + 1,
                2 * d - 1,
                12_345_678,
                (1 << 28) + 1,
                (1 << 31) - 2,
                (1 << 31) - 1,
            ];
            let multiples = (1..1000u64).map(|k| (u64::from(d) * k * 2_147_483 % (1 << 31)) as u32);
            for n in edges.into_iter().chain(multiples).filter(|&n| n < 1 << 31) {
                assert_eq!(f.split(n), (n / d, n % d), "{n} / {d}");
            }
        }
    }

    #[test]
    fn picks_cover_the_range_evenly() {
        let mut count = [0u32; 7];
        for k in 0..7000u64 {
            count[pick((k * (1 << 32) / 7000) as u32, 7) as usize] += 1;
        }
        assert!(count.iter().all(|&c| c.abs_diff(1000) <= 1), "{count:?}");
    }

    #[test]
    fn both_halves_of_a_key_choose_independently() {
        let mut count = [[0u32; 3]; 5];
        let half = || (0..1 << HALF).step_by(64);
        for (high, low) in half().flat_map(|high| half().map(move |low| (high, low))) {
            let key = high << HALF | low;
            count[pick(key, 5) as usize][pick_again(key, 3) as usize] += 1;
        }
        // 1,024 values a half, of which a fifth is 204 or 205 and a third 341 or 342.
        let fair = |&c: &u32| (204 * 341..=205 * 342).contains(&c);
        assert!(count.iter().flatten().all(fair), "{count:?}");
    }
}
