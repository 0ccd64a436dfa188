//! Sizes of memory nodes and where lines are at home.

use super::Cargo;
use super::message::{CoherenceMessage, Say};
use super::spec::{CleanWritebacks, Evict, InterfaceUse, NodeArrangement, OwnNode, WritebackAnswers};

/// A cache: a line may be in any way of its set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheShape {
    /// Sets.
    pub sets: u32,
    /// Lines per set.
    pub ways: u32,
}

impl CacheShape {
    /// Lines in all.
    pub fn lines(self) -> u32 {
        self.sets * self.ways
    }

    /// The first place of a line's set, counted from the cache's first.
    #[inline(always)]
    pub fn set(self, line: u64) -> u32 {
        (line % u64::from(self.sets)) as u32 * self.ways
    }
}

/// Where lines are at home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressMap {
    /// The first part of the address space at the first node, the next at the second, and so on.
    Blocks,
    /// One line after the other at the next node.
    Interleaved,
}

/// Sizes of memory nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Nodes.
    pub nodes: u32,
    /// Cores per node.
    pub cores: u32,
    /// Accesses that a core may have under way.
    pub outstanding: u32,
    /// A core's own cache.
    pub l1: CacheShape,
    /// The cache that the cores of a node share; it has whatever they have.
    pub l2: CacheShape,
    /// Lines that a node may have asked for at a time.
    pub misses: u32,
    /// Homes are told of shared lines that leave a cache.
    pub told: bool,
    /// Lines at home at a node.
    pub lines: u64,
    /// How they lie.
    pub map: AddressMap,
    /// Lists of a home's entries, as a power of two.
    pub bucket_bits: u32,
    /// Entries that a directory has at hand; no sets: all.
    pub directory: CacheShape,
    /// Banks of a memory.
    pub banks: u32,
    /// Interfaces of a node.
    pub interfaces: u32,
    /// How the parts of a node work together.
    pub arrangement: NodeArrangement,
    /// Homes know how often lines have been written, and messages tell it: for the check of values.
    pub values: bool,
}

impl Shape {
    /// The node that a line is at home.
    #[inline(always)]
    pub fn home(&self, line: u64) -> u32 {
        match self.map {
            AddressMap::Blocks => (line / self.lines) as u32,
            AddressMap::Interleaved => (line % u64::from(self.nodes)) as u32,
        }
    }

    /// The number of a line among those of its home.
    #[inline(always)]
    pub fn index(&self, line: u64) -> u64 {
        match self.map {
            AddressMap::Blocks => line % self.lines,
            AddressMap::Interleaved => line / u64::from(self.nodes),
        }
    }

    /// The line with a number among those of a home.
    #[inline(always)]
    pub fn line(&self, home: u32, index: u64) -> u64 {
        match self.map {
            AddressMap::Blocks => u64::from(home) * self.lines + index,
            AddressMap::Interleaved => index * u64::from(self.nodes) + u64::from(home),
        }
    }

    /// Accesses that a node may have under way.
    #[inline(always)]
    pub fn accesses(&self) -> u32 {
        self.cores * self.outstanding
    }

    /// Whether a place of the shared cache is given to a line when it is asked for.
    #[inline(always)]
    pub fn places_when_asked(&self) -> bool {
        self.arrangement.evict == Evict::WhenAsked
    }

    /// Whether a message has a line with it.
    pub fn has_line(&self, say: Say) -> bool {
        let clean = matches!(say, Say::PutShared | Say::PutExclusive);
        say.has_line() || clean && self.arrangement.clean_writebacks == CleanWritebacks::Line
    }

    /// What the home's answer to a line that leaves has with it.
    pub fn answer_to(&self, put: Say) -> Cargo {
        match self.arrangement.writeback_answers == WritebackAnswers::AsSent && self.has_line(put) {
            true => Cargo::TakenBack,
            false => Cargo::AsSaid,
        }
    }

    /// Whether a message between caches and home of one node takes the network.
    pub fn leaves_own_node(&self) -> bool {
        self.arrangement.own_node == OwnNode::ThroughRouter
    }

    /// The interfaces that a message sets out from and comes to, by their numbers at their nodes.
    pub fn interfaces_of(&self, message: &CoherenceMessage, from_home: bool) -> (u32, u32) {
        match self.arrangement.interfaces {
            // All messages about a line take the same one.
            InterfaceUse::ByLine => {
                let interface = (message.line % u64::from(self.interfaces)) as u32;
                (interface, interface)
            }
            InterfaceUse::ByPart => (from_home.into(), message.say.is_for_home().into()),
        }
    }

    /// Bits of the number of a line among those of its home.
    #[inline(always)]
    pub fn line_bits(&self) -> u32 {
        u64::BITS - (self.lines - 1).leading_zeros()
    }

    /// Bits of the number of a node.
    #[inline(always)]
    pub fn node_bits(&self) -> u32 {
        u32::BITS - (self.nodes - 1).leading_zeros()
    }

    /// Lines in all.
    pub fn all_lines(&self) -> u64 {
        self.lines * u64::from(self.nodes)
    }
}
