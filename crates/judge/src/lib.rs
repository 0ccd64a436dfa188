//! What runs a network and judges what came of it: engines and phases of a run, its self-checks, its results, and what it will take.
//!
//! Data goes one way: a run of a study ([`fabric::spec::RunSpec`]) is built into a network and driven by an engine of the `des` crate
//! ([`run`]); what every part of it holds in the end is a [`harvest`], which proofs ([`check`]) and numbers ([`results`]) are made of.
//! [`describe`], [`predict`], [`limits`], [`failures`] and [`picture`] tell what they can before anything is run, [`bench`] has the benchmark cases, and [`checkpoint`] the
//! files that runs go on from. What ranks have done can be written [`as_trace`].
//!
//! Here a network is looked at from outside, when it stands still. No handler of an event is here, no text of a study is read, and
//! nothing below knows that it is judged: no model, routing or work has its name here but where one of them is chosen or summed up.

pub mod as_trace;
pub mod bench;
pub mod bill;
pub mod check;
pub mod checkpoint;
pub mod describe;
pub mod failures;
pub mod harvest;
pub mod limits;
pub mod operations;
pub mod picture;
pub mod predict;
pub mod process;
pub mod results;
pub mod run;
