//! Lists of waiting packets, besides those of channels.

use super::NONE;
use bytemuck::{Pod, Zeroable};

/// A list of waiting packets of the models that need more than one per channel.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct List {
    /// First waiting packet's slot.
    pub head: u32,
    /// Last waiting packet's slot.
    pub tail: u32,
}

/// An empty list.
pub const EMPTY: List = List { head: NONE, tail: NONE };
