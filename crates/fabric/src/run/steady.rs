//! When an open-loop run was steady: the warm-up is found by measurement, and a network that never settles is called saturated.

use crate::observe::Bin;

/// What the latencies over time say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyState {
    /// Messages born before this time (ps) are warm-up.
    pub warmup: u64,
    /// Mean latency of the last third of the measured span over that of the first, minus one; infinite if fewer than half as many
    /// messages of the last third arrived.
    pub drifting: f64,
}

/// Finds the warm-up of slices `1 << shift` ps long that end at `end` (ps).
///
/// The rule is MSER (White 1997): cut where the variance of the remaining slice means over their number is least, at most one half.
pub fn steady_state(bins: &[Bin], shift: u32, end: u64) -> SteadyState {
    let whole = ((end >> shift) as usize).min(bins.len());
    let means: Vec<f64> = bins[..whole].iter().map(|bin| bin.born.mean()).collect();
    let mut best = (f64::INFINITY, 0);
    for cut in 0..=means.len() / 2 {
        let rest: Vec<f64> = means[cut..].iter().copied().filter(|&mean| mean > 0.0).collect();
        if rest.len() < 2 {
            continue;
        }
        let n = rest.len() as f64;
        let mean = rest.iter().sum::<f64>() / n;
        let score = rest.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (n * n);
        if score < best.0 {
            best = (score, cut);
        }
    }
    let warmup = (best.1 as u64) << shift;
    SteadyState {
        warmup,
        drifting: drifting(bins, shift, warmup, end),
    }
}

/// Mean latency of messages born in the last third of `from..end` over that of the first third, minus one; infinite if fewer than
/// half as many messages of the last third arrived.
pub fn drifting(bins: &[Bin], shift: u32, from: u64, end: u64) -> f64 {
    let first = (from >> shift) as usize;
    let last = ((end >> shift) as usize).min(bins.len());
    let third = last.saturating_sub(first) / 3;
    if third == 0 {
        return 0.0;
    }
    let total = |range: &[Bin]| {
        let count: u64 = range.iter().map(|bin| bin.born.count).sum();
        let sum: u128 = range.iter().map(|bin| bin.born.sum).sum();
        (count, sum as f64 / count.max(1) as f64)
    };
    let (early_count, early) = total(&bins[first..first + third]);
    let (late_count, late) = total(&bins[last - third..last]);
    if early_count == 0 {
        return 0.0;
    }
    // Where most of the late messages have not arrived, the mean of those that have says nothing.
    if 2 * late_count < early_count {
        f64::INFINITY
    } else {
        late / early - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::Latencies;

    fn bins(means: &[u64]) -> Vec<Bin> {
        let bin = |&mean: &u64| Bin {
            born: Latencies {
                count: 100,
                sum: u128::from(mean) * 100,
                ..Latencies::default()
            },
            delivered: 0,
        };
        means.iter().map(bin).collect()
    }

    #[test]
    fn the_rise_at_the_start_is_cut_off() {
        let means: Vec<u64> = [100, 300, 400]
            .into_iter()
            .chain((0..40).map(|i| 500 + i % 3))
            .collect();
        let steady = steady_state(&bins(&means), 10, 43 << 10);
        assert_eq!(steady.warmup, 3 << 10);
        assert!(steady.drifting.abs() < 0.01);
    }

    #[test]
    fn a_growing_latency_drifts() {
        let means: Vec<u64> = (1..40).map(|i| i * 100).collect();
        assert!(steady_state(&bins(&means), 10, 39 << 10).drifting > 0.3);
    }
}
