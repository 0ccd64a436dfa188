//! The tests of this crate, one program that is linked once. A file is a module of it: `cargo test -p fabricsim-topo --test all -- conformance::`
//! runs one.

mod common;
mod conformance;
mod engines;
mod errors;
mod failures;
mod figures;
mod graphs_by_rule;
mod opensm;
mod partition;
mod parx;
mod properties;
mod route_analysis;
mod rules;
mod subnet_files;
mod torus_2qos;
mod torus_recognition;
