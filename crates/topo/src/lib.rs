//! Topologies: who is wired to whom, how far apart routers are, which ports lead closer, and whether a routing can deadlock.
//!
//! A [`TopologySpec`] is what a user asks for; [`TopologySpec::build`] checks all of it and gives a [`Topology`]: an immutable
//! [`Wiring`] in flat arrays plus the geometry that answers distance and minimal-route questions without tables where the family
//! allows it. [`metrics`], [`deadlock`], [`verify`] and [`load`] judge a topology together with a routing.
//!
//! This crate knows no time and no load. Everything is a function of the specification: the same specification gives the same
//! port numbers, routes and figures on every machine.

mod build;
mod changing;
mod division;
mod fail;
mod fallout;
mod families;
mod graph_file;
mod graph_text;
mod graphml;
mod groups;
mod hop;
mod layout;
mod names;
mod problems;
mod random;
mod reduced;
mod rule;
mod topology;
mod wiring;

pub mod bill;
pub mod bisection;
pub mod deadlock;
pub mod load;
pub mod metrics;
pub mod partition;
pub mod presets;
pub mod subnet;
pub mod verify;

pub use changing::{ChangingRule, MOST_STATES, Renumbered};
pub use deadlock::{DeadlockProof, Verdict, VirtualChannel, channels_used, check, check_or_reduced, check_within};
pub use fail::{DrawnFailures, FailKind, FailSpec, Failed, HowMany};
pub use fallout::Fallout;
pub use families::*;
pub use graph_file::GraphFormat;
pub use hop::{Came, DimensionPorts, GlobalLink, Hop, HopList};
pub use metrics::Metrics;
pub use partition::{Method, Partition, PartitionError, Quality};
pub use presets::{NetworkPreset, preset, presets};
pub use problems::{FieldError, MOST_PLACES};
pub use rule::{AnyMinimalRule, MinimalRule, RoutingRule, Step, ValiantRule};
pub use subnet::{Subnet, Tables};
pub use topology::Topology;
pub use verify::verify_routes;
pub use wiring::{ParallelCables, Wiring};
