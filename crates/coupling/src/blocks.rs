//! What the arena knows of its blocks: what is free, and what stands before each.

use crate::lock::SharedLock;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// The largest block, as a power of two.
pub(crate) const LARGEST: u32 = 40;
/// The smallest, header among it.
pub(crate) const SMALLEST: u32 = 7;
/// Orders from the smallest on of which some blocks are kept at hand: to 4 KiB.
pub(crate) const SMALL_ORDERS: usize = 6;
/// How many of each.
pub(crate) const AT_HAND: usize = 63;

/// What is free; all zeros at first.
#[repr(C)]
pub(crate) struct ArenaState {
    pub lock: SharedLock,
    pub padding: u32,
    /// So much of the arena has been a block at some time (bytes).
    pub used: AtomicU64,
    /// Bytes of the blocks that are taken, and the most that ever were.
    pub taken: AtomicU64,
    pub most: AtomicU64,
    /// First free block of each order: its place in the arena, plus one.
    pub free: [AtomicU64; LARGEST as usize + 1],
    /// Small blocks of each order that were given back last.
    pub at_hand: [BlocksAtHand; SMALL_ORDERS],
}

/// Blocks of one order that were given back last: the next to be given, before any is looked for, and none of them joins its neighbour.
#[repr(C)]
pub(crate) struct BlocksAtHand {
    pub count: AtomicU64,
    pub places: [AtomicU64; AT_HAND],
}

/// The header of a block.
#[repr(C)]
pub(crate) struct BlockHeader {
    pub state: AtomicU32,
    pub order: AtomicU32,
    /// Bytes that were asked for.
    pub bytes: AtomicU64,
    pub next: AtomicU64,
    pub previous: AtomicU64,
}
