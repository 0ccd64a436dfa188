//! What workers tell each other when they meet.

use crate::mail::NEVER;
use crate::sync::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// What a worker has to say at a meeting, or all together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct WorkerReport {
    /// Next window with something to do here, or in what is sent.
    pub(crate) next: u64,
    /// Events run since the last meeting.
    pub(crate) executed: u64,
    /// Events rolled back since the last meeting.
    pub(crate) rolled_back: u64,
    /// Bytes kept for rollback.
    pub(crate) kept: u64,
    /// Most bytes kept since the last meeting.
    pub(crate) peak: u64,
    /// Wall time of the round before (ns), of the slowest.
    pub(crate) wall: u64,
    /// Workers for which a model broke a rule.
    pub(crate) broken: u64,
}

/// The words of a report of which the least of all counts, and those that are added up.
pub(crate) type ReportWords = ([u64; 2], [u64; 5]);

const WORDS: usize = size_of::<WorkerReport>() / 8;

impl WorkerReport {
    /// Of nobody.
    pub(crate) const NOTHING: WorkerReport = WorkerReport {
        next: NEVER,
        executed: 0,
        rolled_back: 0,
        kept: 0,
        peak: 0,
        wall: 0,
        broken: 0,
    };

    /// Its words, for ranks that make one report of all.
    pub(crate) fn words(&self) -> ReportWords {
        let sums = [self.executed, self.rolled_back, self.kept, self.peak, self.broken];
        ([self.next, !self.wall], sums)
    }

    /// The report that has given such words.
    pub(crate) fn of_words(
        ([next, not_wall], [executed, rolled_back, kept, peak, broken]): ReportWords,
    ) -> WorkerReport {
        WorkerReport {
            next,
            executed,
            rolled_back,
            kept,
            peak,
            wall: !not_wall,
            broken,
        }
    }

    /// Makes it the report of both.
    pub(crate) fn add(&mut self, other: WorkerReport) {
        self.next = self.next.min(other.next);
        self.executed += other.executed;
        self.rolled_back += other.rolled_back;
        self.kept += other.kept;
        self.peak += other.peak;
        self.wall = self.wall.max(other.wall);
        self.broken += other.broken;
    }
}

/// A report that one worker puts up before a barrier and others read after it.
#[repr(align(128))]
#[derive(Default)]
pub(crate) struct Posted([AtomicU64; WORDS]);

impl Posted {
    pub(crate) fn put(&self, report: WorkerReport) {
        let words: [u64; WORDS] = bytemuck::cast(report);
        self.0
            .iter()
            .zip(words)
            .for_each(|(place, word)| place.store(word, Relaxed));
    }

    pub(crate) fn get(&self) -> WorkerReport {
        bytemuck::cast(std::array::from_fn::<u64, WORDS, _>(|i| self.0[i].load(Relaxed)))
    }
}
