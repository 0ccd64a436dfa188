//! Bandwidths as times.

use study::BitsPerSec;

/// Time per byte; nothing without a rate.
#[derive(Clone, Copy, Debug)]
pub struct Rate(u64);

impl Rate {
    /// A bandwidth; `None` is without end.
    pub fn new(bandwidth: Option<BitsPerSec>) -> Rate {
        Rate(bandwidth.map_or(0, |bandwidth| bandwidth.0))
    }

    /// Time for `bytes` (ps), rounded up.
    #[inline(always)]
    pub fn time(self, bytes: u64) -> u64 {
        match self.0 {
            0 => 0,
            rate => (u128::from(bytes) * 8_000_000_000_000).div_ceil(u128::from(rate)) as u64,
        }
    }
}
