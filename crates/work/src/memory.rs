//! Memory nodes: cores with caches, a directory and memory at every node, one address space over all of them.
//!
//! What is here knows no time and no network: a [`Controller`] is told of accesses and messages, and says by its [`Effects`] what they
//! cause.

pub mod caches;
pub mod directory;
pub mod message;
pub mod misses;
mod packing;
pub mod patterns;
pub mod plan;
pub mod protocol;
pub mod shape;
pub mod spec;
pub mod state;
#[cfg(test)]
mod tests;
pub mod trace;
pub mod word;

pub use packing::{pack, unpack};
pub use plan::Plan;
pub use state::MemoryColumns;

use message::CoherenceMessage;
use shape::Shape;

/// Who performed an access, and so how long it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The core's own cache.
    L1,
    /// The node's shared cache.
    L2,
    /// The cache of another core of the node.
    Neighbour,
    /// What has come from beyond the node's caches.
    Message,
}

/// The line that a message has with it, if not by what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cargo {
    /// What it says is all.
    AsSaid,
    /// The line that it says is read from memory first.
    FromMemory,
    /// It answers a message with a line, and takes that back.
    TakenBack,
}

/// What a node's controllers cause outside its caches and directory.
pub trait Effects<J> {
    /// A message sets out, to the own node as well.
    fn send(&mut self, st: &mut MemoryColumns, j: &mut J, message: CoherenceMessage, cargo: Cargo);

    /// An access has been performed: its place, and how often the line had been written before it.
    fn performed(&mut self, st: &mut MemoryColumns, j: &mut J, access: u32, version: u32, by: By);

    /// What is sent from now on waits until a core's own cache has given up a line, or does so no longer.
    fn fetch_first(&mut self, _: bool) {}

    /// The version of a line in memory, by its entry.
    fn load(&mut self, st: &MemoryColumns, entry: u32) -> u32;

    /// A line is written to memory.
    fn store(&mut self, st: &mut MemoryColumns, j: &mut J, entry: u32, version: u32);

    /// A cell of a table has been used; for tests of the tables.
    #[inline(always)]
    fn used_copy(&mut self, _: protocol::Held, _: protocol::CopyEvent) {}

    /// A cell of a table has been used; for tests of the tables.
    #[inline(always)]
    fn used_home(&mut self, _: protocol::Home, _: protocol::HomeEvent) {}
}

/// A node with everything around it.
pub struct Controller<'a, J, E> {
    /// Sizes.
    pub shape: &'a Shape,
    /// All columns.
    pub st: &'a mut MemoryColumns,
    /// Their journal.
    pub j: &'a mut J,
    /// What it causes outside.
    pub fx: &'a mut E,
    /// The node, by its number among memory nodes.
    pub node: u32,
    /// Its place in the columns.
    pub place: u32,
}
