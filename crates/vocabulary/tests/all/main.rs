//! The tests of this crate, one program that is linked once. A file is a module of it: `cargo test -p fabricsim-vocabulary --test all -- broken_studies::`
//! runs one.

mod broken_studies;
mod broken_studies_fuzz;
mod golden_texts;
mod names;
