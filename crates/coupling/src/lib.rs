//! How the processes of an MPI program and the simulator speak with each other: a piece of memory that all of them share.
//!
//! Each rank has a [`RankMailbox`]: a ring of [`RankEntry`]s up to the simulator, which says what the rank does, and an answer down, with the
//! simulated time and the [`RankNews`] since the last answer. Only entries that need an answer make the rank wait, see [`RankSide`]. What
//! messages say lies in the [`Arena`] before the entry that speaks of it is written, so that whoever learns of a message can read it.
//!
//! Linux only: futexes, anonymous files in memory and signals on the death of a parent are what it is made of.

pub mod arena;
mod blocks;
mod call;
mod cpu_clock;
pub mod entry;
pub mod environment;
mod futex;
pub mod host;
pub mod layout;
pub mod lock;
mod memory;
pub mod processes;
pub mod rank;
mod sampled;
mod stretches;
mod system;

pub use arena::Arena;
pub use call::{CallName, NAME_WORDS};
pub use entry::{RankEntry, RankNews};
pub use host::HostSide;
pub use layout::{LastCall, RankMailbox, SharedArea, SharedTerms};
pub use memory::MailboxPage;
pub use rank::RankSide;
