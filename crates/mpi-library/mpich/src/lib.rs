//! `libmpi.so.12`: the MPI library of fabricsim with the ABI of MPICH (libmpi.so.12).
//!
//! All of it is in the crate `mpi-library`; here are the names that programs find.
#![cfg(target_os = "linux")]

mpi_library::export_mpich!();
mpi_library::export_host_time!();
