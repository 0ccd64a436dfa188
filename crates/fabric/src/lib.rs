//! Networks: the specification of a run, packets, router models, network interfaces, routing, and who plays the work of nodes and ranks.
//!
//! Data goes one way: [`spec::RunSpec`] -> [`network::Network`] -> columns ([`state::State`]), which [`models::AnyFabric`]
//! changes event by event -> [`observe::Stats`]. How a run is read from a study, and who runs a network and judges what came of it, is
//! not known here.

mod bits;
pub mod blocks;
pub mod drift;
mod endpoints;
pub mod engines;
pub mod envelope;
pub mod equipment;
mod foresight;
mod incoming;
pub mod memory;
pub mod met;
pub mod models;
pub mod mpi;
pub mod network;
pub mod nic;
pub mod observe;
pub mod packet;
mod packing;
pub mod plant;
pub mod recurrence;
pub mod router;
pub mod routing;
pub mod spec;
pub mod state;
pub mod world;
