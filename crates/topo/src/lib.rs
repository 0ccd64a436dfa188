//! Topologies: wiring in flat arrays, distances, minimal routes, metrics and deadlock proofs. It knows no time and no load.

pub mod spec;

pub use spec::*;
