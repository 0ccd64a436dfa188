//! The tests of this crate, one program that is linked once. A file is a module of it: `cargo test -p fabricsim-trace --test all -- chakra::`
//! runs one.

mod chakra;
mod check;
mod check_memory;
mod clock;
mod cut;
mod dumpi;
mod faces;
mod flows;
mod goal;
mod held;
mod liballprof;
mod msccl;
mod mutations;
mod ops;
mod oracles;
mod otf2;
mod otf2_memory;
mod otf2_oracle;
mod otf2_writer;
mod random_tables;
mod reading;
mod samples;
mod simgrid;
mod work;
