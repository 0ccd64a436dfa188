//! What sources offer and what the network takes of it, as fractions of what nodes can inject.

use super::latency::half_width;
use super::state::{BEHIND, stays_behind};
use super::{Concluded, figures};

figures! {
    /// Loads of sources without end, as fractions of what their nodes can inject.
    pub struct Loads {
        offered_load: f64 = Load, "offered load", "What the sources offer, mean over the nodes.";
        accepted_load: f64 = Load, "accepted load", "What was delivered.";
        accepted_load_min: f64 = Load, "least accepted load", "What was delivered of the source of which least was; where sources offer different loads, the least share of what one offers, of the largest load.", seeds Least;
        fairness: f64 = Share, "fairness", "Jain's index of fairness (1984) of the delivered shares of what sources offer: 1 if all are alike, 1 / n if there is one only.";
    }
}

/// What all sources without end offer, mean over all nodes.
pub(super) fn offered_load(run: &Concluded<'_>) -> Option<f64> {
    run.net.workload.offered_load(run.net.n_nodes())
}

/// Bytes handed to nodes in the measured span as a fraction of what all nodes could inject.
pub(super) fn accepted_load(run: &Concluded<'_>) -> f64 {
    let (net, stats) = (run.net, &run.harvest.stats);
    let (from, to) = (run.warmup, run.span_end);
    let first = (from >> stats.shift) as usize;
    let last = ((to >> stats.shift) as usize).min(stats.delivered.len());
    let (bytes, span) = match first < last {
        true => (
            stats.delivered[first..last].iter().sum(),
            ((last - first) as u64) << stats.shift,
        ),
        // Shorter than a slice: the whole run.
        false => (stats.packet_bytes, stats.latest.max(1)),
    };
    let capacity = net.injection.bandwidth().0 as f64 / 8.0 * span as f64 * 1e-12 * f64::from(net.n_nodes());
    bytes as f64 / capacity
}

/// Half the width of the 95 % interval of the accepted load, by the slices of the measured span.
pub(super) fn accepted_load_error(run: &Concluded<'_>) -> Option<f64> {
    let stats = &run.harvest.stats;
    let slices = run.slices();
    if !stats.span.is_open() {
        return None;
    }
    let length = slices.len().div_ceil(20).max(1);
    let capacity =
        run.net.injection_rate() * (length as f64 * (1u64 << stats.shift) as f64) * f64::from(run.net.n_nodes());
    let of = |slice: usize| stats.delivered.get(slice).copied().unwrap_or(0);
    let starts = slices
        .clone()
        .step_by(length)
        .filter(|start| start + length <= slices.end);
    let loads: Vec<f64> = starts
        .map(|start| (start..start + length).map(of).sum::<u64>() as f64 / capacity)
        .collect();
    half_width(&loads)
}

/// The share by which deliveries in the second half of the measured span clearly stay behind what sources without end offer.
pub(super) fn behind(run: &Concluded<'_>) -> Option<f64> {
    let stats = &run.harvest.stats;
    let slices = run.slices();
    let offered = offered_load(run).filter(|_| stats.span.is_open())?;
    let end = slices.end.min(stats.delivered.len());
    let from = slices.start.max(slices.end / 2).min(end);
    let slice = (1u64 << stats.shift) as f64 * f64::from(run.net.n_nodes());
    stays_behind(&stats.delivered[from..end], offered * run.net.injection_rate() * slice)
}

/// The same of a job, where all together stay behind.
pub(super) fn behind_of(run: &Concluded<'_>, job: usize) -> Option<f64> {
    run.behind?;
    let own = loads(run, std::iter::once(job))?;
    let share = 1.0 - own.accepted_load / own.offered_load;
    (share > BEHIND).then_some(share)
}

/// What was accepted of the source of which least was.
pub(super) fn accepted_load_min(run: &Concluded<'_>) -> Option<f64> {
    run.loads.as_ref().map(|loads| loads.accepted_load_min)
}

/// Jain's index of what was accepted of each source against what it offered.
pub(super) fn fairness(run: &Concluded<'_>) -> Option<f64> {
    run.loads.as_ref().map(|loads| loads.fairness)
}

/// Bytes per node and source rate: loads of all endless sources of the jobs numbered.
pub(super) fn loads(run: &Concluded<'_>, jobs: impl Iterator<Item = usize>) -> Option<Loads> {
    let stats = &run.harvest.stats;
    let span = stats.span;
    if !span.is_open() || stats.paced_for == 0 {
        return None;
    }
    let capacity = run.net.injection_rate() * stats.paced_for as f64;
    let (mut nodes, mut offered, mut accepted) = (0usize, 0.0, 0.0);
    let (mut least, mut sum, mut squares, mut sources) = (f64::INFINITY, 0.0, 0.0, 0u64);
    let mut most_offered: f64 = 0.0;
    for job in jobs {
        let Some(offers) = run.net.workload.offers(job) else {
            continue;
        };
        nodes += run.net.workload.nodes_of(job).len();
        for (node, load) in offers {
            let own = stats.paces[node as usize] as f64 / capacity;
            offered += load;
            accepted += own;
            let share = own / load;
            least = least.min(share);
            most_offered = most_offered.max(load);
            (sum, squares, sources) = (sum + share, squares + share * share, sources + 1);
        }
    }
    (sources > 0).then(|| Loads {
        offered_load: offered / nodes as f64,
        accepted_load: accepted / nodes as f64,
        accepted_load_min: least * most_offered,
        fairness: if squares > 0.0 {
            sum * sum / (sources as f64 * squares)
        } else {
            1.0
        },
    })
}
