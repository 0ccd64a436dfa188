//! The tests of this crate, one program that is linked once. A file is a module of it: `cargo test -p fabricsim-des --test all -- adaptive::`
//! runs one.

mod adaptive;
mod apart;
mod checkpoint;
