//! What of a run was estimated and not run.

use super::concluded::ns;
use super::{Concluded, figures};
use fabric::spec::FastForward;

figures! {
    /// What of a run was estimated and not run.
    #[derive(Default)]
    pub struct EstimatedFigures {
        share: f64 = Share, "estimated part", "Part of the simulated time that was estimated from the rest; 0 where all was run.";
        time_ns: f64 = Nanoseconds, "estimated time", "That time.", parts Sum;
        error_ns: f64 = Nanoseconds, "error of the simulated time", "Half the width of its 95 % interval, by batch means.", parts Greatest;
        iterations: u64 = Count, "estimated iterations", "Iterations that were left out, of the job that left out most.", parts Greatest;
    }
}

/// Of a run that may estimate.
pub(super) fn of(run: &Concluded<'_>) -> Option<EstimatedFigures> {
    let part = run.harvest.stats.estimated;
    (run.spec.control.fast_forward == FastForward::Statistical).then(|| EstimatedFigures {
        share: part.time as f64 / run.reached.max(1) as f64,
        time_ns: ns(part.time as f64),
        error_ns: ns(part.squares.sqrt()),
        iterations: part.iterations,
    })
}

/// The same in words.
pub(super) fn words(run: &Concluded<'_>) -> Option<String> {
    let figures = of(run)?;
    if figures.iterations == 0 {
        return Some(
            "estimated: nothing, since no iterations are alike and many enough, or all of them repeat".to_owned(),
        );
    }
    let (whole, error) = (run.reached as f64 / 1e6, figures.error_ns / 1e3);
    let (unit, times) = if whole < 1e4 { ("us", 1.0) } else { ("ms", 1e-3) };
    Some(format!(
        "estimated: {:.1} % of the time, {} iterations; the simulated time is {:.3} {unit} +- {:.3} {unit} (95 %)",
        100.0 * figures.share,
        figures.iterations,
        whole * times,
        error * times
    ))
}
