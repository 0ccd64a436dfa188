//! The tests of the crate, one program.

mod ranks_and_host;
mod same_places;
