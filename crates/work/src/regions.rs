//! In which regions of the program the operations of a recording are, and what the ranks spent there when it was recorded.
//!
//! A region is that of the innermost part of the program that has a name: what is spent in parts within it is theirs. Where a rank goes
//! from one to another is kept, not the region of each operation.

use crate::kept::{Records, RecordsInTurn};
use bytemuck::{Pod, Zeroable};
use std::collections::BTreeMap;
use std::io::Result;
use trace::operation::NONE;
use trace::{Kind, Operation, TraceForm, TraceHeader, WorkUnit};

/// From an operation of a rank on all are in another region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct RegionChange {
    /// The first record that is in it.
    index: u32,
    /// The region, or [`NONE`].
    region: u32,
}

/// What a rank did in a region, once through the recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordedStay {
    /// How often it was entered.
    pub visits: u64,
    /// What the rank computed and slept there when it was recorded (ps); 0 where computations are told in instructions.
    pub computing: u64,
    /// What the calls took that are played (ps): waiting, and whatever else MPI did.
    pub calling: u64,
}

/// Regions as they come.
#[derive(Debug)]
pub struct RegionsInTurn {
    ranks: u32,
    keep: usize,
    in_instructions: bool,
    is_program: bool,
    /// By rank: the region of its last record.
    last: Vec<u32>,
    /// There is none as long as no operation is in a region.
    changes: Option<RecordsInTurn<RegionChange>>,
    stays: BTreeMap<(u32, u32), RecordedStay>,
    timed: bool,
}

impl RegionsInTurn {
    /// Of a trace; fewer than `keep` changes stay in memory.
    pub fn new(header: &TraceHeader, keep: usize) -> RegionsInTurn {
        RegionsInTurn {
            ranks: header.ranks,
            keep,
            in_instructions: header.unit == WorkUnit::Instructions,
            is_program: header.form == TraceForm::Program,
            last: vec![NONE; header.ranks as usize],
            changes: None,
            stays: BTreeMap::new(),
            timed: false,
        }
    }

    /// An operation of a rank as it was recorded; its records, if it has any, are `first` and those after it.
    ///
    /// # Errors
    /// The disk is full.
    pub fn take(&mut self, rank: u32, operation: &Operation, first: u32) -> Result<()> {
        if !self.is_program {
            return Ok(());
        }
        match operation.kind {
            Kind::Enter => self.stay(rank, operation.region).visits += 1,
            Kind::Leave | Kind::Put | Kind::Get => {}
            kind => {
                let of_program = matches!(kind, Kind::Compute | Kind::Sleep);
                let unknown = kind == Kind::Compute && self.in_instructions;
                self.timed |= !of_program && (operation.time > 0 || operation.start > 0);
                let stay = self.stay(rank, operation.region);
                let sum = if of_program {
                    &mut stay.computing
                } else {
                    &mut stay.calling
                };
                *sum = sum.saturating_add(if unknown { 0 } else { operation.time });
                self.is_in(rank, operation.region, first)?;
            }
        }
        Ok(())
    }

    /// Records of a rank from `first` on are in a region.
    ///
    /// # Errors
    /// The disk is full.
    pub fn is_in(&mut self, rank: u32, region: u32, first: u32) -> Result<()> {
        if std::mem::replace(&mut self.last[rank as usize], region) == region {
            return Ok(());
        }
        let (ranks, keep) = (self.ranks, self.keep);
        let changes = self.changes.get_or_insert_with(|| RecordsInTurn::new(ranks, keep));
        // A rank has at most one change for each record.
        changes.push(rank, RegionChange { index: first, region }).map(drop)
    }

    fn stay(&mut self, rank: u32, region: u32) -> &mut RecordedStay {
        self.stays.entry((rank, region)).or_default()
    }

    /// The trace is over.
    ///
    /// # Errors
    /// The disk is full.
    pub fn finish(self, names: &[String]) -> Result<Option<RecordedRegions>> {
        let has_regions = self.changes.is_some() || self.stays.keys().any(|(_, region)| *region != NONE);
        if !self.is_program || (!has_regions && !self.timed) {
            return Ok(None);
        }
        Ok(Some(RecordedRegions {
            names: names.to_vec(),
            changes: self.changes.map(RecordsInTurn::finish).transpose()?,
            stays: self
                .stays
                .into_iter()
                .map(|((rank, region), stay)| (rank, region, stay))
                .collect(),
            timed: self.timed,
            in_instructions: self.in_instructions,
        }))
    }
}

/// The regions of a recording.
#[derive(Debug)]
pub struct RecordedRegions {
    names: Vec<String>,
    changes: Option<Records<RegionChange>>,
    /// Rank, region, stay, in this order.
    stays: Vec<(u32, u32, RecordedStay)>,
    timed: bool,
    in_instructions: bool,
}

impl RecordedRegions {
    /// The name of a region, if it is one of the trace.
    pub fn name(&self, region: u32) -> Option<&str> {
        self.names.get(region as usize).map(String::as_str)
    }

    /// The region of record `index` of a rank, `None` outside of all. O(log changes).
    pub fn region(&self, rank: u32, index: u32) -> Option<u32> {
        let changes = self.changes.as_ref()?;
        let (mut low, mut high) = (0, changes.count(rank));
        while low < high {
            let middle = low + (high - low) / 2;
            match changes.get(rank, middle).is_some_and(|change| change.index <= index) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        let change = changes.get(rank, low.checked_sub(1)?)?;
        (change.region != NONE).then_some(change.region)
    }

    /// What a rank did in the regions that it was in when it was recorded, in their order, what it did outside of all at last.
    pub fn stays(&self, rank: u32) -> impl Iterator<Item = (Option<u32>, RecordedStay)> + '_ {
        let first = self.stays.partition_point(|(other, ..)| *other < rank);
        let own = self.stays[first..].iter().take_while(move |(other, ..)| *other == rank);
        own.map(|&(_, region, stay)| ((region != NONE).then_some(region), stay))
    }

    /// Whether it tells how long calls took.
    pub fn has_times(&self) -> bool {
        self.timed
    }

    /// Whether it tells how long computations took.
    pub fn has_computing_times(&self) -> bool {
        !self.in_instructions
    }
}
