//! Networks: the study's specification, packets, router models, network interfaces, routing, workloads, checks and results.
//!
//! Data goes one way: study file -> [`spec::RunSpec`] -> [`network::Network`] -> columns ([`state::State`]) driven by an engine of the
//! `des` crate through [`world::Fabric`] -> [`observe::Stats`] -> [`results::Summary`].

pub mod bench;
pub mod blocks;
pub mod check;
pub mod checkpoint;
pub mod describe;
pub mod harvest;
mod incoming;
pub mod memory;
pub mod motif;
pub mod mpi;
pub mod network;
pub mod nic;
pub mod observe;
pub mod packet;
mod packing;
pub mod placement;
pub mod predict;
pub mod process;
pub mod registry;
pub mod results;
pub mod router;
pub mod routing;
pub mod run;
pub mod spec;
pub mod state;
pub mod workload;
pub mod world;
