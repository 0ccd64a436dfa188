//! What came of a run, in numbers: one line for each, and the file that works it out.
//!
//! [`figure`] says what a number carries beside its value; [`Summary`] is the list; [`Concluded`] is the run that has ended, as they see it.
//! Times are in ns where their keys say so; a figure that cannot be given is null, never 0.

mod concluded;
mod cost;
mod estimated;
mod execution;
pub mod figure;
pub mod files;
mod hops;
mod jobs;
mod latency;
mod limits;
mod links;
mod loads;
mod losses;
mod memory;
mod notes;
mod reference;
mod run_result;
mod state;
mod summary;
pub mod tables;
mod throughput;
mod verdict;

pub(crate) use concluded::{Concluded, Inputs};
pub use cost::CostSummary;
pub use estimated::EstimatedFigures;
pub use execution::{Execution, Speculation};
pub(crate) use execution::{Manner, SkippedPeriods};
pub(crate) use figure::figures;
pub use figure::{Figure, Figures, Measure, Together, listing};
pub use hops::HopSummary;
pub use jobs::{JobSummary, JobWork, LeftOutFigures, RankFigures, TrafficFigures};
pub(crate) use latency::half_width;
pub use latency::{LatencySummary, WaitSummary};
pub use links::{BusyLink, LinkRow, LinkWindowRow};
pub(crate) use links::{hottest, link_rows, link_window_rows};
pub use loads::Loads;
pub(crate) use losses::words as lost_words;
pub use losses::{LossSummary, RepeatSummary};
pub use memory::MemorySummary;
pub use reference::reference;
pub use run_result::RunResult;
pub use state::LoadState;
pub(crate) use state::is_saturated;
pub use summary::Summary;
pub use throughput::{ThroughputSummary, sender_rates};
pub use verdict::{Check, Verdict};
