//! What nodes and ranks do, which, and what they remember: operations of ranks, collectives as algorithms, motifs as programs, caches and
//! directories of memory nodes, generators of messages, placements, with what a study says of them.
//!
//! It stands on the language of studies, on the shapes of networks and on the engine's columns, and knows no router, interface or packet:
//! a program says what a rank does next, a controller what a message causes, and who plays them says when that has been done.

pub mod build_error;
mod kept;
#[cfg(target_os = "linux")]
pub mod live;
pub mod memory;
pub mod motif;
pub mod mpi;
pub mod placement;
pub mod ranks;
mod rate;
pub mod regions;
pub mod replay;
pub mod terms;
pub mod traffic;
pub mod workload;

pub use mpi::graph;
