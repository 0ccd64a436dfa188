//! `libmpi_abi.so.1`: the MPI library of fabricsim with the standard ABI (libmpi_abi.so.1).
//!
//! All of it is in the crate `mpi-library`; here are the names that programs find.
#![cfg(target_os = "linux")]

mpi_library::export_standard!();
mpi_library::export_host_time!();
