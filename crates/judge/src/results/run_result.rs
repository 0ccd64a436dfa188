//! Everything that a run gave.

use super::links::{LinkRow, LinkWindowRow};
use super::summary::Summary;
use crate::operations::RankTimes;
use fabric::memory::MemoryRow;
use fabric::mpi::RankRow;
use fabric::observe::{MessageTimes, Sample, Stats};

/// Everything a run gave.
#[derive(Debug)]
pub struct RunResult {
    /// The numbers.
    pub summary: Summary,
    /// The recorded facts.
    pub stats: Stats,
    /// Loads of all links, if asked for.
    pub links: Vec<LinkRow>,
    /// Loads of links in windows of the time, if asked for.
    pub link_windows: Option<Vec<LinkWindowRow>>,
    /// The times of every message by source and number, if asked for.
    pub messages: Option<Vec<MessageTimes>>,
    /// The measured messages.
    pub sample: Sample,
    /// MPI ranks by job and number.
    pub ranks: Vec<RankRow>,
    /// What they did with their time, if asked for.
    pub rank_times: Option<RankTimes>,
    /// Memory nodes by number.
    pub memory: Vec<MemoryRow>,
    /// Whether load over time was asked for.
    pub timeline: bool,
    /// Whether a row per MPI rank was asked for.
    pub rank_rows: bool,
    /// What all nodes together can inject.
    pub bytes_per_ps: f64,
}
