//! Division by a number known at build time, as one multiplication (Lemire, Kaser & Kurz 2019); exact for all 32-bit numerators.

/// A divisor that is divided by often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FastDiv {
    magic: u64,
    divisor: u32,
}

impl FastDiv {
    /// Prepares division by `divisor`; zero is taken as one, callers validate before.
    pub(crate) fn new(divisor: u32) -> Self {
        let divisor = divisor.max(1);
        let magic = if divisor == 1 {
            0
        } else {
            u64::MAX / u64::from(divisor) + 1
        };
        Self { magic, divisor }
    }

    /// Quotient.
    #[inline]
    pub(crate) fn div(self, n: u32) -> u32 {
        if self.divisor == 1 {
            n
        } else {
            ((u128::from(self.magic) * u128::from(n)) >> 64) as u32
        }
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

/// Maps a 32-bit hash evenly to `0..n` by its high bits.
#[inline]
pub(crate) fn pick(key: u32, n: u32) -> u32 {
    ((u64::from(key) * u64::from(n)) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_is_exact_at_the_edges() {
        for d in [1, 2, 3, 5, 7, 16, 100, 641, 65_535, 65_536, (1 << 28) - 1, u32::MAX] {
            let f = FastDiv::new(d);
            for n in [
                0,
                1,
                d - 1,
                d,
                d.saturating_add(1),
                12_345_678,
                (1 << 28) + 1,
                u32::MAX - 1,
                u32::MAX,
            ] {
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
}
