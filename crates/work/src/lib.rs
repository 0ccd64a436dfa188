//! What nodes and ranks do, without a network: operations of ranks, collectives as algorithms, motifs as programs, with what a study
//! says of them.
//!
//! It stands on the language of studies and knows no router, interface or packet: a program says what a rank does next, and who plays
//! it says when that has been done.

pub mod motif;
pub mod mpi;
