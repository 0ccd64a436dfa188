//! MPI for programs on a simulated network.
//!
//! The shared libraries `libmpi_abi.so.1` (standard ABI) and `libmpi.so.12` (MPICH's) are this crate behind two tables of exported names.
#![cfg(target_os = "linux")]

pub mod arguments;
pub mod attributes;
pub mod calls;
pub mod communicators;
pub mod datatypes;
pub mod exports;
pub mod faces;
pub mod fault;
pub mod groups;
pub mod host_time;
pub mod library;
pub mod link;
pub mod nearby;
pub mod reductions;
pub mod table;
pub mod topologies;
