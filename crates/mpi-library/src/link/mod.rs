//! What a rank speaks through: to a simulator, or, in a program that nobody launched, to itself.

mod alone;
pub mod contributions;

pub use alone::AloneLink;

use coupling::{CallName, RankEntry, RankMailbox, RankNews, RankSide, SharedArea};

/// The way to the network. One call at a time.
///
/// No trait object: its table would be one more page to a rank that wakes.
#[derive(Debug)]
pub enum NetworkLink {
    /// To a simulator.
    Simulated(RankSide),
    /// To itself.
    Alone(AloneLink),
}

impl NetworkLink {
    /// This process' rank in the job.
    #[inline]
    pub fn rank(&self) -> u32 {
        match self {
            Self::Simulated(side) => side.rank(),
            Self::Alone(_) => 0,
        }
    }

    /// The memory that all ranks share.
    #[inline]
    pub fn area(&self) -> &SharedArea {
        match self {
            Self::Simulated(side) => side.area(),
            Self::Alone(alone) => alone.area(),
        }
    }

    /// This process' mailbox.
    #[inline]
    pub fn mailbox(&self) -> &RankMailbox {
        match self {
            Self::Simulated(side) => side.mailbox(),
            Self::Alone(alone) => alone.area().mailbox(0),
        }
    }

    /// Tells what the rank does, and goes on.
    #[unsafe(link_section = ".text.hot")]
    pub fn append(&mut self, entry: RankEntry) {
        match self {
            Self::Simulated(side) => side.append(entry),
            Self::Alone(alone) => alone.take(entry),
        }
    }

    /// Tells what the rank does and waits for what comes of it, which goes behind what is there; returns the simulated time (ps).
    #[unsafe(link_section = ".text.hot")]
    pub fn trap(&mut self, entry: RankEntry, told: &mut Vec<RankNews>) -> u64 {
        match self {
            Self::Simulated(side) => side.trap(entry, |piece| told.push(piece)),
            Self::Alone(alone) => alone.trap(entry, told),
        }
    }

    /// Takes a send or a receive back that has no partner: `None` where the network cannot, else the send or receive if there was one.
    pub fn cancel(&mut self, request: u32) -> Option<Option<RankEntry>> {
        match self {
            Self::Simulated(_) => None,
            Self::Alone(alone) => Some(alone.cancel(request)),
        }
    }

    /// Sees to it that what was told is heard, where the rank may not come again.
    pub fn flush(&mut self) {
        if let Self::Simulated(side) = self {
            side.flush();
        }
    }

    /// Whether time is that of a simulator.
    pub fn is_simulated(&self) -> bool {
        matches!(self, Self::Simulated(_))
    }

    /// A call of the program begins, from this address. Its name goes in registers: in memory it would lie in a page of its own.
    #[inline(always)]
    pub fn enter(&mut self, call: &CallName, place: u64) {
        let [a, b, c, d] = call.words;
        self.enter_words(a, b, c, d, place);
    }

    #[unsafe(link_section = ".text.hot")]
    #[inline(never)]
    fn enter_words(&mut self, a: u64, b: u64, c: u64, d: u64, place: u64) {
        if let Self::Simulated(side) = self {
            side.enter([a, b, c, d], place);
        }
    }

    /// A call of the program ends.
    #[unsafe(link_section = ".text.hot")]
    #[inline(never)]
    pub fn leave(&mut self) {
        if let Self::Simulated(side) = self {
            side.leave();
        }
    }
}
