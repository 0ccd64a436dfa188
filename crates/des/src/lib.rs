//! The event engine. It knows time, logical processes, stamps, state columns and random numbers; it knows no router, rank or packet.

pub mod time;

pub use time::Time;
