//! What a rank speaks through: to a simulator, or, in a program that nobody launched, to itself.

mod alone;
pub mod contributions;

pub use alone::AloneLink;

use coupling::{CallName, RankEntry, RankNews, RankSide, SharedArea};

/// The way to the network. One call at a time.
pub trait NetworkLink {
    /// This process' rank in the job.
    fn rank(&self) -> u32;
    /// The memory that all ranks share.
    fn area(&self) -> &SharedArea;
    /// Tells what the rank does, and goes on.
    fn append(&mut self, entry: RankEntry);
    /// Tells what the rank does and waits for what comes of it; returns the simulated time (ps).
    fn trap(&mut self, entry: RankEntry, take: &mut dyn FnMut(RankNews)) -> u64;
    /// Takes a send or a receive back that has no partner: `None` where the network cannot, else the send or receive if there was one.
    fn cancel(&mut self, request: u32) -> Option<Option<RankEntry>> {
        let _ = request;
        None
    }
    /// Sees to it that what was told is heard, where the rank may not come again.
    fn flush(&mut self) {}
    /// Whether time is that of a simulator.
    fn is_simulated(&self) -> bool {
        false
    }
    /// A call of the program begins, from this address.
    fn enter(&mut self, call: &CallName, place: u64);
    /// A call of the program ends.
    fn leave(&mut self);
}

impl NetworkLink for RankSide {
    #[unsafe(link_section = ".text.hot")]
    fn rank(&self) -> u32 {
        Self::rank(self)
    }

    #[unsafe(link_section = ".text.hot")]
    fn area(&self) -> &SharedArea {
        Self::area(self)
    }

    #[unsafe(link_section = ".text.hot")]
    fn append(&mut self, entry: RankEntry) {
        Self::append(self, entry);
    }

    #[unsafe(link_section = ".text.hot")]
    fn trap(&mut self, entry: RankEntry, take: &mut dyn FnMut(RankNews)) -> u64 {
        Self::trap(self, entry, take)
    }

    fn flush(&mut self) {
        Self::flush(self);
    }

    fn is_simulated(&self) -> bool {
        true
    }

    #[unsafe(link_section = ".text.hot")]
    fn enter(&mut self, call: &CallName, place: u64) {
        Self::enter(self, call, place);
    }

    #[unsafe(link_section = ".text.hot")]
    fn leave(&mut self) {
        Self::leave(self);
    }
}
