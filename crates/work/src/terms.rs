//! What the work of a run depends on besides its jobs, and what is drawn from that: when those start who would start together.

use crate::mpi::spec::Start;
use des::rng::below;
use des::{Time, mix};

/// Streams of random numbers, by purpose; 1 and 3 are those of messages, 2 is [`crate::placement`]'s.
mod stream {
    pub const RANKS: u64 = 4;
    pub const STARTS: u64 = 5;
}

/// What the work of a run depends on besides its jobs.
#[derive(Clone, Copy, Debug)]
pub struct WorkTerms {
    /// Seed of traffic, matchings and placements.
    pub seed: u64,
    /// Seed of what no machine keeps up: starts and orders of neighbours.
    pub fine_seed: u64,
    /// Those who start together do so within this time, and ranks have their neighbours in orders of their own; `None`: neither.
    pub perturbed: Option<Time>,
    /// Endless sources make no message born at or after this time (ps).
    pub stop: u64,
}

/// What the ranks of a job draw from that each has of its own.
pub(crate) fn own_seed(terms: &WorkTerms, job: usize) -> u64 {
    mix(mix(terms.fine_seed ^ stream::RANKS << 32).wrapping_add(job as u64))
}

/// When those of a job start who would start together: at a time of its own each, drawn from (seed, job, number).
#[derive(Clone, Copy, Debug)]
pub struct Starts {
    seed: u64,
    /// The last time that may be (ps).
    pub spread: u64,
}

impl Starts {
    /// Those of a job.
    pub(crate) fn new(terms: &WorkTerms, job: usize, start: Start) -> Starts {
        let spread = match start {
            Start::Spread(spread) => spread.0,
            Start::InPhase | Start::AfterBarrier => 0,
        };
        let perturbed = terms.perturbed.map_or(0, |spread| spread.0);
        Starts {
            seed: mix(own_seed(terms, job) ^ stream::STARTS),
            spread: spread.max(perturbed),
        }
    }

    /// When one of them starts (ps).
    #[inline(always)]
    pub fn of(&self, number: u32) -> u64 {
        match self.spread {
            0 => 0,
            spread => below(mix(self.seed.wrapping_add(number.into())), spread + 1),
        }
    }
}
