//! Latencies as a result tells them: figures where all that they are of is known, bounds where a part has not arrived.

use super::concluded::ns;
use super::{Concluded, figures};
use fabric::observe::{Bin, Histogram, Latencies, Sample};

figures! {
    /// Latencies of messages in ns, from the hand-over to the last byte at the destination.
    ///
    /// A figure is `None` where messages are missing that could change it, and where there is none to measure: `..._at_least` then says what
    /// it is not below. None is given of a network that does not keep up, or has not been seen to: it would be one of the length of the run.
    #[derive(Default)]
    pub struct LatencySummary {
        mean: Option<f64> = Nanoseconds, "mean latency", "Mean.";
        mean_error: Option<f64> = Nanoseconds, "error of the mean latency", "Half the width of the interval that holds the mean with 95 % confidence, by the means of up to 20 parts of the measured time; null with fewer than 4.";
        p50: Option<f64> = Nanoseconds, "median latency", "Median.";
        p95: Option<f64> = Nanoseconds, "p95 latency", "95th percentile.";
        p99: Option<f64> = Nanoseconds, "p99 latency", "99th percentile.";
        min: Option<f64> = Nanoseconds, "least latency", "Least of those that have arrived.", seeds Least;
        max: Option<f64> = Nanoseconds, "greatest latency", "Most.", seeds Greatest;
        #[serde(skip_serializing_if = "Option::is_none")]
        mean_at_least: Option<f64> = Nanoseconds, "bound of the mean latency", "What a mean that is not given is not below; only there then.";
        #[serde(skip_serializing_if = "Option::is_none")]
        p50_at_least: Option<f64> = Nanoseconds, "bound of the median latency", "The same of the median.";
        #[serde(skip_serializing_if = "Option::is_none")]
        p95_at_least: Option<f64> = Nanoseconds, "bound of the p95 latency", "Of the 95th percentile.";
        #[serde(skip_serializing_if = "Option::is_none")]
        p99_at_least: Option<f64> = Nanoseconds, "bound of the p99 latency", "Of the 99th percentile.";
        #[serde(skip_serializing_if = "Option::is_none")]
        max_at_least: Option<f64> = Nanoseconds, "bound of the greatest latency", "Of the most.", seeds Greatest;
    }
}

/// What the two ends of a quantile may differ by for it to be given.
const CLOSE: f64 = 0.01;
/// Parts of the measured time for a confidence interval.
const BATCHES: usize = 20;

figures! {
    /// What messages waited before their first packet left, in ns: part of their latencies. Figures and bounds as in [`LatencySummary`].
    #[derive(Default)]
    pub struct WaitSummary {
        mean: Option<f64> = Nanoseconds, "mean wait at the source", "Mean.";
        max: Option<f64> = Nanoseconds, "greatest wait at the source", "Most.", seeds Greatest;
        #[serde(skip_serializing_if = "Option::is_none")]
        mean_at_least: Option<f64> = Nanoseconds, "bound of the mean wait at the source", "What a mean that is not given is not below; only there then.";
        #[serde(skip_serializing_if = "Option::is_none")]
        max_at_least: Option<f64> = Nanoseconds, "bound of the greatest wait at the source", "The same of the most.", seeds Greatest;
    }
}

impl WaitSummary {
    /// Of a sample; without figures if they are not to be `given`.
    pub fn new(sample: &Sample, given: bool) -> WaitSummary {
        let (waits, kept) = (&sample.waits, &sample.kept);
        if sample.messages == 0 {
            return WaitSummary::default();
        }
        let mean = Some(ns((waits.sum as f64 + kept.sum_at_least()) / sample.messages as f64));
        let max = Some(ns(waits.max.max(kept.most()) as f64));
        match given && waits.count == sample.messages {
            true => WaitSummary {
                mean,
                max,
                ..WaitSummary::default()
            },
            false => WaitSummary {
                mean_at_least: mean,
                max_at_least: max,
                ..WaitSummary::default()
            },
        }
    }
}

impl LatencySummary {
    /// Of a sample, born in `bins`; without figures if they are not to be `given`.
    pub fn new(sample: &Sample, bins: &[Bin], given: bool) -> LatencySummary {
        let (known, missing) = (&sample.latencies, &sample.missing);
        if sample.messages == 0 {
            return LatencySummary::default();
        }
        let all = known.count == sample.messages;
        let mut summary = if all {
            LatencySummary::of_arrived(known)
        } else {
            LatencySummary::with_missing(known, missing, sample.messages)
        };
        if !given {
            summary.withhold();
        }
        if summary.mean.is_some() {
            summary.mean_error = error(bins);
        }
        summary
    }

    /// Of those that have arrived alone.
    pub fn of_arrived(known: &Latencies) -> LatencySummary {
        let quantile = |q| known.histogram.quantile(q, known.count);
        let within = |ps: f64| ns(ps.clamp(known.min as f64, known.max as f64));
        let some = known.count > 0;
        LatencySummary {
            mean: known.mean().map(ns),
            p50: quantile(0.5).map(within),
            p95: quantile(0.95).map(within),
            p99: quantile(0.99).map(within),
            min: some.then(|| ns(known.min as f64)),
            max: some.then(|| ns(known.max as f64)),
            ..LatencySummary::default()
        }
    }

    /// Where some are missing, of which it is known what they are at least.
    fn with_missing(known: &Latencies, missing: &Histogram, messages: u64) -> LatencySummary {
        let mut bound = known.histogram.clone();
        bound.merge(missing);
        let (least, most) = (known.min as f64, known.max.max(missing.most()) as f64);
        let quantile = |q: f64| {
            let low = bound.quantile(q, messages).map(|ps| ps.clamp(0.0, most));
            let high = known.histogram.quantile(q, messages).map(|ps| ps.clamp(least, most));
            match (low, high) {
                (Some(low), Some(high)) if high - low <= CLOSE * high => (Some(ns(high)), None),
                (low, _) => (None, low.map(ns)),
            }
        };
        let (p50, p50_at_least) = quantile(0.5);
        let (p95, p95_at_least) = quantile(0.95);
        let (p99, p99_at_least) = quantile(0.99);
        LatencySummary {
            p50,
            p95,
            p99,
            min: (known.count > 0).then(|| ns(least)),
            mean_at_least: Some(ns((known.sum as f64 + missing.sum_at_least()) / messages as f64)),
            p50_at_least,
            p95_at_least,
            p99_at_least,
            max_at_least: Some(ns(most)),
            ..LatencySummary::default()
        }
    }

    /// Turns figures into bounds.
    fn withhold(&mut self) {
        let figures = [
            (&mut self.mean, &mut self.mean_at_least),
            (&mut self.p50, &mut self.p50_at_least),
            (&mut self.p95, &mut self.p95_at_least),
            (&mut self.p99, &mut self.p99_at_least),
            (&mut self.max, &mut self.max_at_least),
        ];
        for (figure, bound) in figures {
            *bound = figure.take().or(*bound);
        }
    }
}

/// Half the width of the 95 % interval of the mean of the messages born in `bins`, in ns, by batch means (Law 2015, 9.5.3).
fn error(bins: &[Bin]) -> Option<f64> {
    let batch = |bins: &[Bin]| {
        let born = bins.iter().map(|bin| &bin.born);
        let (sum, count) = born.fold((0, 0), |(sum, count), born| (sum + born.sum, count + born.count));
        (count > 0).then(|| sum as f64 / count as f64)
    };
    let length = bins.len().div_ceil(BATCHES).max(1);
    let means: Vec<f64> = bins.chunks_exact(length).filter_map(batch).collect();
    Some(ns(half_width(&means)?))
}

/// Half the width of the 95 % confidence interval of the mean of `values`, taken for independent and normal; `None` for fewer than 4.
pub(crate) fn half_width(values: &[f64]) -> Option<f64> {
    if values.len() < 4 {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    Some(student(values.len() - 1) * (variance / n).sqrt())
}

/// The 97.5th percentile of Student's t with so many degrees of freedom, to 0.2 % from 3 on (Hill's expansion about the normal one).
fn student(degrees: usize) -> f64 {
    const Z: f64 = 1.959_963_985;
    let v = degrees as f64;
    let z3 = Z.powi(3);
    let z5 = Z.powi(5);
    let z7 = Z.powi(7);
    let z9 = Z.powi(9);
    Z + (z3 + Z) / (4.0 * v)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * Z) / (96.0 * v * v)
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * Z) / (384.0 * v.powi(3))
        + (79.0 * z9 + 776.0 * z7 + 1_482.0 * z5 - 1_920.0 * z3 - 945.0 * Z) / (92_160.0 * v.powi(4))
}

/// Of the measured messages that have arrived alone, where the figures of all cannot be given.
pub(super) fn latency_of_arrived_ns(run: &Concluded<'_>) -> Option<LatencySummary> {
    let sample = run.sample;
    (!run.given || sample.latencies.count < sample.messages).then(|| LatencySummary::of_arrived(&sample.latencies))
}

/// The share of the measured messages that has not arrived.
pub(super) fn not_arrived(sample: &Sample) -> Option<f64> {
    let missing = sample.messages.checked_sub(sample.latencies.count)?;
    (sample.messages > 0).then(|| missing as f64 / sample.messages as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(arrived: std::ops::Range<u64>, missing: &[u64]) -> Sample {
        let mut sample = Sample {
            messages: (arrived.end - arrived.start) + missing.len() as u64,
            ..Sample::default()
        };
        for latency in arrived {
            let mut one = Latencies {
                count: 1,
                sum: latency.into(),
                min: latency,
                max: latency,
                bytes: 1,
                ..Latencies::default()
            };
            one.histogram.add(latency);
            sample.latencies.merge(&one);
        }
        missing.iter().for_each(|&age| sample.missing.add_many(age, 1));
        sample
    }

    fn summary(sample: &Sample) -> LatencySummary {
        LatencySummary::new(sample, &[], true)
    }

    #[test]
    fn an_empty_sample_has_no_figures() {
        assert_eq!(summary(&Sample::default()), LatencySummary::default());
        let json = serde_json::to_value(summary(&Sample::default())).unwrap();
        assert!(json["mean"].is_null() && json["p99"].is_null() && json.get("p99_at_least").is_none());
    }

    #[test]
    fn what_reaches_into_the_missing_part_is_a_bound() {
        // 97 of 100 have arrived; the others are 500 ns old at least.
        let told = summary(&sample(100_000..100_097, &[500_000; 3]));
        assert!(
            told.mean.is_none() && told.max.is_none() && told.p99.is_none(),
            "{told:?}"
        );
        assert!((told.p50.unwrap() - 100.0).abs() < 1.0);
        assert!((told.p95.unwrap() - 100.0).abs() < 1.0);
        assert!((told.p99_at_least.unwrap() / 500.0 - 1.0).abs() < 0.01, "{told:?}");
        let mean = (97.0 * 100.048 + 3.0 * 500.0) / 100.0;
        assert!((told.mean_at_least.unwrap() / mean - 1.0).abs() < 0.01, "{told:?}");
    }

    #[test]
    fn what_the_missing_part_could_change_is_a_bound_too() {
        // The others may have been born just before the end: they could turn out to be the fastest.
        let told = summary(&sample(100_000..200_000, &[0; 500]));
        assert!(
            told.p50.is_some(),
            "half a percent more or less moves the median by less than a hundredth: {told:?}"
        );
        let told = summary(&sample(100_000..200_000, &[0; 30_000]));
        assert!(told.p50.is_none() && told.p50_at_least.unwrap() < 150.0, "{told:?}");
    }

    #[test]
    fn what_has_not_arrived_is_a_share_of_what_is_measured() {
        assert_eq!(not_arrived(&sample(0..6, &[0; 2])), Some(0.25));
        assert_eq!(not_arrived(&sample(0..6, &[])), Some(0.0));
        assert_eq!(not_arrived(&Sample::default()), None);
    }

    #[test]
    fn nothing_is_given_of_a_network_that_does_not_keep_up() {
        let told = LatencySummary::new(&sample(100_000..100_100, &[]), &[], false);
        assert!(told.mean.is_none() && told.p50.is_none() && told.p99_at_least.is_some());
    }

    #[test]
    fn quantiles_of_students_t_are_those_of_the_tables() {
        for (degrees, value) in [(3, 3.182), (4, 2.776), (9, 2.262), (19, 2.093), (120, 1.980)] {
            assert!(
                (student(degrees) / value - 1.0).abs() < 0.005,
                "{degrees}: {}",
                student(degrees)
            );
        }
        assert_eq!(half_width(&[1.0; 3]), None);
        assert_eq!(half_width(&[2.0; 10]), Some(0.0));
    }
}
