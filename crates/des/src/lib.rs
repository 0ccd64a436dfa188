//! The event engine: time, stamps, state columns with a journal, counter-based random numbers, and the engines that run a [`World`].
//!
//! A world is a set of logical processes (LPs). An LP is changed only by its own events, and between different LPs nothing travels
//! faster than the world's lookahead. Under these two rules every engine of this crate gives the same answer, bit for bit:
//!
//! - [`window`]: the engine that is used. All events of a window as wide as the lookahead are taken at once, ordered by one radix
//!   pass and run LP by LP.
//! - [`optimistic`]: runs windows ahead of the one that is safe, and goes back where that was wrong.
//! - [`reference`]: a binary heap in total stamp order, written to be read; the oracle for the other.
//! - [`rollback`]: the window engine, every window run forward, undone from the journal, compared, and run forward again.
//!
//! This crate knows no router, rank or packet.

pub mod apart;
mod barrier;
mod block;
mod cache;
mod checker;
pub mod checkpoint;
mod choice;
mod chunks;
pub mod column;
mod crew;
mod differ;
pub mod engine;
mod far;
mod history;
#[cfg(all(loom, test))]
mod interleavings;
mod late;
mod later;
pub mod layout;
pub mod lists;
mod mail;
pub mod optimistic;
mod pace;
mod pack;
mod pass;
pub mod phold;
pub mod pool;
pub mod ranks;
pub mod recurrence;
pub mod reference;
mod report;
pub mod ring;
pub mod rng;
pub mod rollback;
mod rounds;
mod sort;
mod speculator;
mod split;
mod sync;
pub mod table;
pub mod time;
pub mod window;
mod withheld;
mod worker;
pub mod world;

pub use block::FORESEEN;
pub use cache::prefetch;
pub use column::{Column, Columns, Journal, Log, NoJournal};
pub use engine::{Carried, Gathered, Outcome, Progress, Stop, Teamwork, View, history, run_phases};
pub use later::later;
pub use layout::Layout;
pub use optimistic::OptimisticEngine;
pub use pack::{Pack, Torn};
pub use ranks::{RankEngine, Transport};
pub use reference::ReferenceEngine;
pub use rng::{Philox, Philox2, mix};
pub use rollback::RollbackCheck;
pub use split::split_at;
pub use table::{Run, Table};
pub use time::{HORIZON, Time};
pub use window::WindowEngine;
pub use world::{Ahead, Event, Hint, Observe, Outbox, Sink, Tally, World, WorldTask};

/// Whether this build checks what holds unless fabricsim itself is wrong: builds with debug assertions of this crate do. What is asked at
/// every access to the state or for every event fails out of line: its texts alone, written out thousands of times, were a seventh of what
/// compiling the models took.
pub const CHECKS: bool = cfg!(debug_assertions);

/// Ends the run where a number is none of the `count` from `first` on.
#[cold]
#[inline(never)]
fn missing(what: &str, number: usize, first: usize, count: usize) -> ! {
    panic!("{what} {number} of {count} from {first} on")
}
