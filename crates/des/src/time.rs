//! Simulated time: unsigned integer picoseconds.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

/// A point in simulated time, or a span of it, in picoseconds.
///
/// Integer arithmetic keeps every engine bit-identical; 2^64 ps are 213 days.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Debug,
    bytemuck::Pod,
    bytemuck::Zeroable,
    serde::Serialize,
    serde::Deserialize,
)]
#[repr(transparent)]
pub struct Time(pub u64);

/// The end of simulated time, 40 h: events of models that pack their time have 57 bits for it.
pub const HORIZON: Time = Time(1 << 57);

impl Time {
    /// The start of simulated time.
    pub const ZERO: Time = Time(0);
    /// Later than every event: "never".
    pub const MAX: Time = Time(u64::MAX);

    /// A span of `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Time {
        Time(ns * 1_000)
    }

    /// A span of `us` microseconds.
    pub const fn from_us(us: u64) -> Time {
        Time(us * 1_000_000)
    }

    /// The same span in nanoseconds; for reports only, never for simulated decisions.
    pub fn as_ns(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// The span from `earlier` to `self`, zero if `earlier` is later.
    pub fn saturating_sub(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
    }

    /// `self + span`, at most [`Time::MAX`].
    pub fn saturating_add(self, span: Time) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Add for Time {
    type Output = Time;
    #[inline(always)]
    fn add(self, span: Time) -> Time {
        Time(self.0 + span.0)
    }
}

impl AddAssign for Time {
    #[inline(always)]
    fn add_assign(&mut self, span: Time) {
        self.0 += span.0;
    }
}

impl Sub for Time {
    type Output = Time;
    #[inline(always)]
    fn sub(self, earlier: Time) -> Time {
        Time(self.0 - earlier.0)
    }
}

impl Mul<u64> for Time {
    type Output = Time;
    #[inline(always)]
    fn mul(self, times: u64) -> Time {
        Time(self.0 * times)
    }
}

impl fmt::Display for Time {
    /// Prints the largest unit that keeps at least one whole digit, e.g. `1.5 us`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ps = self.0 as f64;
        for (unit, scale) in [("s", 1e12), ("ms", 1e9), ("us", 1e6), ("ns", 1e3)] {
            if ps >= scale {
                return write!(f, "{} {unit}", ps / scale);
            }
        }
        write!(f, "{} ps", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_in_the_largest_whole_unit() {
        assert_eq!(Time(1_500_000).to_string(), "1.5 us");
        assert_eq!(Time::from_ns(90).to_string(), "90 ns");
        assert_eq!(Time(7).to_string(), "7 ps");
    }
}
