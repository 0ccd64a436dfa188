//! What a run proved of itself.

use super::state::LoadState;
use super::{Concluded, figures};

figures! {
    /// One self-check.
    pub struct Check {
        name: &'static str = Text, "check", "What is checked.";
        ok: bool = Flag, "holds", "Whether it holds.";
        detail: String = Text, "numbers", "The numbers.";
    }
}

figures! {
    /// All self-checks of a run, and whether its network kept up.
    pub struct Verdict {
        ok: bool = Flag, "self-checks", "All self-checks hold; a run of which one does not is an error.";
        checks: Vec<Check> = List, "checks", "The self-checks one by one.";
        state: LoadState = Text, "state", "Whether the network kept up with its sources: `ok`, `unsettled` (the run is too short to tell, or ended before work that ends) or `saturated`.";
        because: String = Text, "because", "Why it was not seen to keep up; empty if it was.";
        settles_ns: Option<f64> = Nanoseconds, "length that settles", "How long the run would have to be to tell, where it was too short.";
    }
}

impl Verdict {
    /// The failed checks in words.
    pub fn failures(&self) -> String {
        let failed: Vec<String> = self
            .checks
            .iter()
            .filter(|check| !check.ok)
            .map(|check| format!("{}: {}", check.name, check.detail))
            .collect();
        failed.join("; ")
    }
}

/// The self-checks with what was judged of the load.
pub(super) fn of(run: &Concluded<'_>) -> Verdict {
    Verdict {
        state: run.judgement.state,
        because: run.judgement.because.clone(),
        settles_ns: run.judgement.settles.map(|ps| super::concluded::ns(ps as f64)),
        ..run.verdict.clone()
    }
}
