//! Latencies of a set of messages, and their distribution.

/// Sub-buckets per power of two: bucket borders are 0.8 % apart.
const SUB_BITS: u32 = 7;

/// Counts one more at `index`; grows if it must.
#[inline(always)]
pub(super) fn count_at(counts: &mut Vec<u64>, index: usize) {
    #[cold]
    fn grow(counts: &mut Vec<u64>, index: usize) {
        counts.resize(index + 1, 0);
        counts[index] = 1;
    }
    match counts.get_mut(index) {
        Some(count) => *count += 1,
        None => grow(counts, index),
    }
}

/// A log-linear histogram of times in ps; exact below 128 ps, else to 0.8 %.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    pub(super) counts: Vec<u64>,
}

impl Histogram {
    #[inline(always)]
    pub(super) fn bucket(value: u64) -> usize {
        let exponent = (value >> SUB_BITS | 1).ilog2();
        ((u64::from(exponent) << SUB_BITS) + (value >> exponent)) as usize
    }

    /// Lower border of a bucket.
    pub(super) fn lower(bucket: usize) -> u64 {
        let sub = 1 << SUB_BITS;
        if bucket < 2 * sub {
            return bucket as u64;
        }
        let exponent = bucket / sub - 1;
        ((bucket - exponent * sub) as u64) << exponent
    }

    /// Counts a value.
    #[inline(always)]
    pub fn add(&mut self, value: u64) {
        count_at(&mut self.counts, Self::bucket(value));
    }

    /// Counts a value `n` times.
    pub fn add_many(&mut self, value: u64, n: u64) {
        if n > 0 {
            let bucket = Self::bucket(value);
            if bucket >= self.counts.len() {
                self.counts.resize(bucket + 1, 0);
            }
            self.counts[bucket] += n;
        }
    }

    /// Adds all counts of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
    }

    /// The sum of the values, each as small as its bucket allows.
    pub fn sum_at_least(&self) -> f64 {
        let buckets = self.counts.iter().enumerate();
        buckets
            .map(|(bucket, &count)| Self::lower(bucket) as f64 * count as f64)
            .sum()
    }

    /// The least that the largest value can be, 0 if there is none.
    pub fn most(&self) -> u64 {
        let last = self.counts.iter().rposition(|&count| count > 0);
        last.map_or(0, Self::lower)
    }

    /// How many values there are.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The value below which a fraction `q` of `total` values lies, interpolated within its bucket, if values beyond the counts are larger
    /// than all of them; `None` where it would be one of those, or of none.
    pub fn quantile(&self, q: f64, total: u64) -> Option<f64> {
        let target = q * total as f64;
        let mut below = 0.0;
        for (bucket, &count) in self.counts.iter().enumerate() {
            if count > 0 && below + count as f64 >= target {
                let (from, to) = (Self::lower(bucket) as f64, Self::lower(bucket + 1) as f64);
                return Some(from + (to - from) * ((target - below) / count as f64).clamp(0.0, 1.0));
            }
            below += count as f64;
        }
        None
    }

    /// The cumulative distribution of `total` values, of which those beyond the counts are larger: (upper border in ps, fraction at or
    /// below), a point per non-empty bucket.
    pub fn cumulative(&self, total: u64) -> Vec<(f64, f64)> {
        let mut sum = 0;
        let points = self.counts.iter().enumerate().filter(|&(_, &count)| count > 0);
        points
            .map(|(bucket, &count)| {
                sum += count;
                (Self::lower(bucket + 1) as f64, sum as f64 / total as f64)
            })
            .collect()
    }
}

/// Latencies of a set of messages; counters that change together are no neighbours, as in [`crate::state::Port`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Latencies {
    /// Sum of latencies (ps).
    pub sum: u128,
    /// Messages.
    pub count: u64,
    /// Least (ps), `u64::MAX` if there are none.
    pub min: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Most (ps).
    pub max: u64,
    /// Distribution.
    pub histogram: Histogram,
}

impl Default for Latencies {
    fn default() -> Self {
        Latencies {
            count: 0,
            bytes: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
            histogram: Histogram::default(),
        }
    }
}

impl Latencies {
    /// Counts a latency in the sums.
    #[inline(always)]
    pub(super) fn add_up(&mut self, latency: u64, bytes: u64) {
        self.count += 1;
        self.bytes += bytes;
        self.sum += u128::from(latency);
    }

    /// Takes the least and the largest of some latencies.
    #[inline(always)]
    pub(super) fn add_extremes(&mut self, min: u64, max: u64) {
        self.min = self.min.min(min);
        self.max = self.max.max(max);
    }

    /// Adds another set.
    pub fn merge(&mut self, other: &Latencies) {
        self.count += other.count;
        self.bytes += other.bytes;
        self.sum += other.sum;
        self.add_extremes(other.min, other.max);
        self.histogram.merge(&other.histogram);
    }

    /// Mean in ps; `None` if there are none.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_in_order_and_narrow() {
        for value in (0..5_000u64).chain((13..47).flat_map(|e| [(1 << e) - 1, 1 << e, (1 << e) + 1, 3 << e])) {
            let bucket = Histogram::bucket(value);
            let (from, to) = (Histogram::lower(bucket), Histogram::lower(bucket + 1));
            assert!(from <= value && value < to, "{value} is not in {from}..{to}");
            assert!(to - from <= 1.max(value / 128 + 1), "{value}: {from}..{to}");
        }
    }

    #[test]
    fn quantiles_of_a_uniform_distribution_are_right_to_a_bucket() {
        let mut histogram = Histogram::default();
        for value in 0..100_000 {
            histogram.add(value);
        }
        for q in [0.01, 0.5, 0.95, 0.99] {
            assert!(
                (histogram.quantile(q, 100_000).unwrap() / (q * 1e5) - 1.0).abs() < 0.008,
                "q = {q}"
            );
        }
    }

    #[test]
    fn a_quantile_among_what_is_missing_is_none() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5, 0), None);
        for value in 0..90 {
            histogram.add(value);
        }
        assert_eq!(histogram.quantile(0.5, 100), Some(50.0));
        assert_eq!(histogram.quantile(0.95, 100), None);
        assert_eq!(histogram.cumulative(100).last(), Some(&(90.0, 0.9)));
    }
}
