//! What nodes and ranks do, and which: operations of ranks, collectives as algorithms, motifs as programs, placements, with what a study
//! says of them.
//!
//! It stands on the language of studies and on the shapes of networks, and knows no router, interface or packet: a program says what a
//! rank does next, and who plays it says when that has been done.

pub mod build_error;
pub mod memory;
pub mod motif;
pub mod mpi;
pub mod placement;
pub mod ranks;
mod rate;
pub mod terms;
pub mod traffic;
pub mod workload;
