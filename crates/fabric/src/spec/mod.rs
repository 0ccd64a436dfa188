//! From a study file to runs: file type -> [`RunSpec`] (one point of the sweep with one seed), everything validated.
//!
//! Downstream code trusts a [`RunSpec`]: quantities are typed, defaults filled in, presets expanded.

pub mod run;

pub use run::*;
