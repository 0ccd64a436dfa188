//! What studies of fabricsim may say, and how they are read: file -> tree with places -> `RunSpec` (one point of the sweep with one seed),
//! everything validated.
//!
//! The language (crate `study`) reads TOML into a tree with places and finds the points: experiments, variants, sweeps, `--set`. At each
//! point `read` makes a run of what is there, by the entries of the [`registry`]. [`load_study`] is the one way in; it reports
//! everything that is wrong at once, each with a place, a reason and a hint. Networks and runs know nothing of this.

mod canonical;
mod load;
mod read;
pub mod registry;
#[cfg(test)]
mod tests;

pub use canonical::{canonical, hash, run_hash, run_of_canonical, runs_of_canonical};
pub use load::{PointWords, Study, load_study, study_points};
pub use read::cost::default_cost;
pub use study::diagnostic::{Diagnostic, Severity, render};
pub use study::open::{LoadOptions, MOST_RUNS};
