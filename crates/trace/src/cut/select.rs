//! Which operations are in a part.

use crate::header::TraceHeader;
use crate::operation::{Kind, Operation};
use crate::problem::ReadStop;
use std::ops::Range;

/// A part of a trace: what all that is given have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TracePart {
    /// These ranks.
    pub ranks: Option<Range<u32>>,
    /// What began within these times (ps from the begin of the trace).
    pub times: Option<Range<u64>>,
    /// What is in a region of this name, or in one that is entered from it.
    pub region: Option<String>,
}

impl TracePart {
    /// Whether it is one of whole ranks.
    pub(crate) fn has_whole_ranks(&self) -> bool {
        self.times.is_none() && self.region.is_none()
    }
}

/// Says of each operation, in the order of its rank, whether it is in the part.
pub(super) struct Selection {
    part: TracePart,
    region: Option<u32>,
    ranks: Range<u32>,
    /// How deep each rank is in regions of the name.
    depths: Vec<u32>,
}

impl Selection {
    pub(super) fn new(part: &TracePart, region: Option<u32>) -> Selection {
        Selection {
            part: part.clone(),
            region,
            ranks: 0..0,
            depths: Vec::new(),
        }
    }

    pub(super) fn begin(&mut self, header: &TraceHeader) -> Result<(), ReadStop> {
        self.ranks = self.part.ranks.clone().unwrap_or(0..header.ranks);
        if self.ranks.is_empty() || self.ranks.end > header.ranks {
            return Err(ReadStop::Refused(format!(
                "ranks {}..{} of a trace of {} ranks: give A..B with A below B",
                self.ranks.start, self.ranks.end, header.ranks
            )));
        }
        self.depths = vec![0; self.ranks.len()];
        Ok(())
    }

    pub(super) fn ranks(&self) -> Range<u32> {
        self.ranks.clone()
    }

    pub(super) fn has_rank(&self, rank: u32) -> bool {
        self.ranks.contains(&rank)
    }

    pub(super) fn needs_times(&self) -> bool {
        self.part.times.is_some()
    }

    /// A time counted from the begin of the part.
    pub(super) fn since(&self, start: u64) -> u64 {
        start.saturating_sub(self.part.times.as_ref().map_or(0, |times| times.start))
    }

    /// Whether an operation is in the part; every operation of its ranks is asked for once.
    pub(super) fn takes(&mut self, rank: u32, operation: &Operation) -> bool {
        if !self.has_rank(rank) {
            return false;
        }
        let depth = &mut self.depths[(rank - self.ranks.start) as usize];
        let of_region = self.region.is_some_and(|region| operation.region == region);
        if of_region && operation.kind == Kind::Enter {
            *depth += 1;
        }
        let in_region = self.region.is_none() || of_region || *depth > 0;
        if of_region && operation.kind == Kind::Leave {
            *depth = depth.saturating_sub(1);
        }
        let times = self.part.times.as_ref();
        in_region && times.is_none_or(|times| times.contains(&operation.start))
    }
}
