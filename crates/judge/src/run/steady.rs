//! When an open-loop run was steady: the warm-up is found by measurement.

use fabric::observe::Bin;

/// The first of the slices that count, of those before `end`.
///
/// The rule is MSER (White 1997): cut where the variance of the remaining slice means over their number is least, at most one half. Where
/// messages have not arrived the means are not known: then the later half counts.
pub fn first_steady(bins: &[Bin], shift: u32, end: u64) -> usize {
    let whole = ((end >> shift) as usize).min(bins.len());
    let bins = &bins[..whole];
    if bins.iter().any(|bin| bin.missing() > 0) {
        return whole / 2;
    }
    let means: Vec<Option<f64>> = bins.iter().map(|bin| bin.born.mean()).collect();
    let mut best = (f64::INFINITY, 0);
    for cut in 0..=means.len() / 2 {
        let rest: Vec<f64> = means[cut..].iter().copied().flatten().collect();
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
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::observe::{Latencies, Waits};

    fn bins(means: &[u64]) -> Vec<Bin> {
        let of = |mean: u64| Latencies {
            count: 100,
            sum: u128::from(mean) * 100,
            ..Latencies::default()
        };
        let bin = |&mean: &u64| Bin {
            born: of(mean),
            begun: Waits {
                count: 100,
                ..Waits::default()
            },
            ..Bin::default()
        };
        means.iter().map(bin).collect()
    }

    #[test]
    fn the_rise_at_the_start_is_cut_off() {
        let means: Vec<u64> = [100, 300, 400]
            .into_iter()
            .chain((0..40).map(|i| 500 + i % 3))
            .collect();
        assert_eq!(first_steady(&bins(&means), 10, 43 << 10), 3);
    }

    #[test]
    fn where_messages_are_missing_the_later_half_counts() {
        let mut bins = bins(&[100; 40]);
        bins[39].kept = 1;
        assert_eq!(first_steady(&bins, 10, 40 << 10), 20);
    }
}
