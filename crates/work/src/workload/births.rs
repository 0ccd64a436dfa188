//! When the messages of synthetic traffic are born: the processes of gaps, a line of the list each, and what they are on the hot path.

use super::Destinations;
use super::spec::Synthetic;
use study::BitsPerSec;
use study::{Entry, Named, choice};

choice! {
    /// Gaps between messages of one node.
    pub enum Process {
        Periodic = "periodic", "Equal gaps; the nodes start at random phases.";
        PeriodicInPhase = "periodic-in-phase", "Equal gaps, all nodes in phase.";
        Poisson = "poisson", "Exponential gaps.";
    }
}

impl Process {
    /// What studies may say of each.
    pub const ENTRIES: [Entry; Process::WORDS.len()] = {
        let mut entries = [process(0); Process::WORDS.len()];
        let mut i = 1;
        while i < entries.len() {
            entries[i] = process(i);
            i += 1;
        }
        entries
    };
}

const fn process(i: usize) -> Entry {
    Entry::new(Process::WORDS[i].0, Process::WORDS[i].1)
}

/// When the messages of a synthetic job are born, worked out beforehand for the hot path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Births {
    pub rule: BirthRule,
    /// Mean time between two messages of a node (ps).
    pub gap: f64,
    /// Messages per node, `u64::MAX` if endless.
    pub count: u64,
    /// Destinations are uniform.
    pub uniform: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BirthRule {
    Poisson,
    AtOnce,
    PeriodicInPhase,
    Periodic,
}

impl Births {
    /// Those of a job whose nodes inject at a rate.
    pub(super) fn new(work: &Synthetic, destinations: &Destinations, injection: BitsPerSec) -> Births {
        let load = work.load.unwrap_or(1.0);
        Births {
            rule: match (work.load, work.process) {
                (None, _) => BirthRule::AtOnce,
                (_, Process::Poisson) => BirthRule::Poisson,
                (_, Process::PeriodicInPhase) => BirthRule::PeriodicInPhase,
                (_, Process::Periodic) => BirthRule::Periodic,
            },
            gap: work.message.0 as f64 * 8e12 / (load * injection.0 as f64),
            count: work.count.unwrap_or(u64::MAX),
            uniform: matches!(destinations, Destinations::Uniform),
        }
    }
}
