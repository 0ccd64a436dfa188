//! From a study file to runs: file -> tree with places -> [`RunSpec`] (one point of the sweep with one seed), everything validated.
//!
//! Downstream code trusts a [`RunSpec`]: quantities are typed, defaults filled in, presets expanded. [`load_study`] is the
//! one way in; it reports everything that is wrong at once, each with a place, a reason and a hint.
//!
//! The way of a study: the language (crate `study`) reads TOML into a tree with places and finds the points (experiments, variants,
//! sweeps, `--set`); at each point `topology`, `network`, `jobs` and `control` read the sections by its `reader`, which takes
//! types, defaults and conditions from the [registry](crate::registry).

mod accesses;
mod canonical;
mod control;
mod jobs;
mod load;
mod memory;
mod messages;
mod network;
mod partition;
mod placement;
mod plain;
mod presets;
mod ranks;
pub mod run;
mod shape;
#[cfg(test)]
mod tests;
mod topology;
mod trace;

pub use crate::routing::{
    Congestion, DerouteSpec, DetourSpec, Equal, EqualSpec, NoKeys, PathChoice, Per, RoomSpec, RoutingSpec, Scope,
    SenseSpec, TableSource, TablesSpec, Tie, TieSpec, Via, ViaSpec,
};
pub use canonical::{canonical, hash, run_hash, runs_of_canonical};
pub use load::{Study, load_study};
pub(crate) use messages::MESSAGES;
pub(crate) use partition::PartitionWord;
pub use plain::plain;
pub(crate) use ranks::StartWord;
pub use run::*;
pub use study::diagnostic::{Diagnostic, Severity, render};
pub use study::open::{LoadOptions, MOST_RUNS};
pub use study::user_file::hash_bytes;
pub(crate) use topology::{ArrangementWord, FormatWord};
pub use work::memory::spec::{
    AccessPattern, Instructions, ListedAccess, MOST_ACCESSES, Memory, Pages, Split, Trace, TraceFile,
};
pub(crate) use work::memory::spec::{Addresses, CleanEvictions, PatternWord, SplitWord, VirtualNetworks};
pub use work::mpi::spec::{RailPolicy, Rails};
pub use work::placement::Placement;
pub use work::workload::{Matching, PairMode, Pairs, Pattern, Process};
