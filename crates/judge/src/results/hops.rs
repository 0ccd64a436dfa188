//! Hops of packets.

use super::{Concluded, figures};

figures! {
    /// Hops per packet: router-to-router links, plus one for the ejection.
    pub struct HopSummary {
        mean: f64 = Count, "mean hops", "Mean.";
        max: u64 = Count, "most hops", "Most.", seeds Greatest, parts Greatest;
    }
}

/// Of all packets that were delivered.
pub(super) fn of(run: &Concluded<'_>) -> HopSummary {
    let stats = &run.harvest.stats;
    let links: u64 = (0..)
        .zip(&stats.hops)
        .map(|(links, &count): (u64, _)| links * count)
        .sum();
    match stats.packets {
        0 => HopSummary { mean: 0.0, max: 0 },
        packets => HopSummary {
            mean: links as f64 / packets as f64 + 1.0,
            max: stats.hops.len() as u64,
        },
    }
}
