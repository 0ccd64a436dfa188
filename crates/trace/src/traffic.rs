//! Who sends how much to whom, and where a program's time goes: what `fabricsim trace info` shows of a trace as a whole.

use crate::header::{TraceHeader, WorkUnit};
use crate::operation::{Kind, Lists, NONE, Operation, UNKNOWN_SIZE};
use crate::problem::ReadStop;
use crate::sink::TraceSink;
use serde::Serialize;
use std::collections::HashMap;

/// Most pairs of ranks, and most regions, that are kept apart: some hundred megabytes.
const MOST: usize = 1 << 22;

/// Messages from a rank to another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RankPair {
    /// Who sends.
    pub from: u32,
    /// To whom.
    pub to: u32,
    /// Number of messages.
    pub messages: u64,
    /// Their bytes, as far as they are told.
    pub bytes: u64,
}

/// What is done in a region of the program, summed over ranks; what is in no region has no name.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RegionFigures {
    /// Its name.
    pub region: Option<String>,
    /// Operations whose innermost region it is.
    pub operations: u64,
    /// Computations (ns); null where the trace tells instructions.
    pub compute_ns: Option<f64>,
    /// Instructions of computations; null where the trace tells time.
    pub instructions: Option<u64>,
    /// What other operations took when they were recorded (ns).
    pub other_ns: f64,
}

#[derive(Clone, Copy, Default)]
struct Spent {
    operations: u64,
    work: u128,
    other: u128,
}

/// Counts messages by pair of ranks, and operations by region.
#[derive(Default)]
pub struct TraceTraffic {
    unit: WorkUnit,
    ranks: u32,
    pairs: HashMap<(u32, u32), (u64, u64)>,
    spent: HashMap<u32, Spent>,
    /// There are more than can be kept apart.
    too_many_pairs: bool,
    too_many_regions: bool,
    names: Vec<String>,
}

impl TraceTraffic {
    /// How many pairs of ranks have messages; none if they are too many to be counted.
    pub fn number_of_pairs(&self) -> Option<usize> {
        (!self.too_many_pairs).then_some(self.pairs.len())
    }

    /// The pairs with most bytes.
    pub fn top_pairs(&self, most: usize) -> Vec<RankPair> {
        let each = self.pairs.iter().map(|(&(from, to), &(messages, bytes))| RankPair {
            from,
            to,
            messages,
            bytes,
        });
        let mut all: Vec<RankPair> = each.collect();
        all.sort_unstable_by_key(|pair| (std::cmp::Reverse((pair.bytes, pair.messages)), pair.from, pair.to));
        all.truncate(most);
        all
    }

    /// The regions in which most time is spent; none if they are too many to be counted.
    pub fn top_regions(&self, most: usize) -> Option<Vec<RegionFigures>> {
        let mut all: Vec<(u32, Spent)> = self.spent.iter().map(|(&region, &spent)| (region, spent)).collect();
        all.sort_unstable_by_key(|(region, spent)| (std::cmp::Reverse(spent.work + spent.other), *region));
        all.truncate(most);
        let timed = self.unit == WorkUnit::Picoseconds;
        let figures = |(region, spent): (u32, Spent)| RegionFigures {
            region: self.names.get(region as usize).cloned(),
            operations: spent.operations,
            compute_ns: timed.then_some(spent.work as f64 / 1e3),
            instructions: (!timed).then_some(spent.work.min(u64::MAX.into()) as u64),
            other_ns: spent.other as f64 / 1e3,
        };
        (!self.too_many_regions).then(|| all.into_iter().map(figures).collect())
    }
}

impl TraceSink for TraceTraffic {
    fn begin(&mut self, header: &TraceHeader) -> Result<(), ReadStop> {
        *self = TraceTraffic {
            unit: header.unit,
            ranks: header.ranks,
            ..TraceTraffic::default()
        };
        Ok(())
    }

    fn operation(
        &mut self,
        rank: u32,
        _record: u64,
        operation: &Operation,
        _lists: &Lists<'_>,
    ) -> Result<(), ReadStop> {
        if operation.kind.sends() && operation.peer < self.ranks && !self.too_many_pairs {
            let pair = self.pairs.entry((rank, operation.peer)).or_default();
            pair.0 += 1;
            if operation.bytes != UNKNOWN_SIZE {
                pair.1 = pair.1.saturating_add(operation.bytes);
            }
            if self.pairs.len() > MOST {
                (self.too_many_pairs, self.pairs) = (true, HashMap::new());
            }
        }
        if !self.too_many_regions {
            let spent = self.spent.entry(operation.region).or_default();
            spent.operations += 1;
            match operation.kind {
                Kind::Compute => spent.work += u128::from(operation.time),
                _ => spent.other += u128::from(operation.time),
            }
            if self.spent.len() > MOST {
                (self.too_many_regions, self.spent) = (true, HashMap::new());
            }
        }
        Ok(())
    }

    fn end(&mut self, names: &[String]) -> Result<(), ReadStop> {
        self.names = names.to_vec();
        if self.spent.len() == 1 && self.spent.contains_key(&NONE) {
            // Without regions there is nothing to tell apart.
            self.spent.clear();
        }
        Ok(())
    }
}
