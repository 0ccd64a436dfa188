//! How large packets are.

use super::Concluded;

/// Mean size of the packets that were delivered.
pub(super) fn mean(run: &Concluded<'_>) -> Option<f64> {
    let stats = &run.harvest.stats;
    (stats.packets > 0).then(|| stats.packet_bytes as f64 / stats.packets as f64)
}
