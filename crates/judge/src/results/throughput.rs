//! Rates of the senders of pairs.

use super::{Concluded, figures};
use fabric::observe::Stats;

figures! {
    /// Rates over the senders of pairs: bytes over the time from a sender's first send to its last acknowledgement (or delivery).
    pub struct ThroughputSummary {
        mean: f64 = MebibytesPerSecond, "mean throughput", "Mean over senders.";
        min: f64 = MebibytesPerSecond, "least throughput", "Least.", seeds Least;
        p5: f64 = MebibytesPerSecond, "5th percentile of throughput", "5th percentile.";
        p50: f64 = MebibytesPerSecond, "median throughput", "Median.";
        p95: f64 = MebibytesPerSecond, "95th percentile of throughput", "95th percentile.";
        max: f64 = MebibytesPerSecond, "greatest throughput", "Most.", seeds Greatest;
    }
}

/// Of a run; nothing without pairs.
pub(super) fn of(run: &Concluded<'_>) -> Option<ThroughputSummary> {
    let mut rates: Vec<f64> = sender_rates(&run.harvest.stats).map(|(_, rate)| rate).collect();
    if rates.is_empty() {
        return None;
    }
    rates.sort_by(f64::total_cmp);
    let at = |q: f64| rates[((q * rates.len() as f64).ceil() as usize).clamp(1, rates.len()) - 1];
    Some(ThroughputSummary {
        mean: rates.iter().sum::<f64>() / rates.len() as f64,
        min: rates[0],
        p5: at(0.05),
        p50: at(0.5),
        p95: at(0.95),
        max: rates[rates.len() - 1],
    })
}

/// Rate of each sender in MiB/s: bytes over the time from its first send to its last acknowledgement (or delivery).
pub fn sender_rates(stats: &Stats) -> impl Iterator<Item = (u32, f64)> + '_ {
    (0..)
        .zip(&stats.senders)
        .filter(|(_, sender)| sender.trips > 0)
        .map(|(node, sender)| {
            let seconds = (sender.last - sender.first) as f64 * 1e-12;
            (node, sender.bytes as f64 / (1u64 << 20) as f64 / seconds)
        })
}
