//! Records of ranks in blocks: ranks may come in turn, and any rank's next record is found in O(1).

use super::{KeptRecords, RecordKeeper};
use bytemuck::Pod;
use std::io::Result;

/// Records of blocks that fill, of all ranks together: 64 MiB of 32 bytes each.
const FILLING: u32 = 1 << 21;
/// Most and fewest records of a block.
const BLOCK: (u32, u32) = (8, 4_096);

/// Records that come.
#[derive(Debug)]
pub struct RecordsInTurn<T> {
    block: usize,
    filling: Vec<Vec<T>>,
    /// By rank: where its blocks begin.
    blocks: Vec<Vec<u64>>,
    counts: Vec<u32>,
    keeper: RecordKeeper<T>,
}

impl<T: Pod> RecordsInTurn<T> {
    /// Of so many ranks; fewer than `keep` records stay in memory.
    pub fn new(ranks: u32, keep: usize) -> RecordsInTurn<T> {
        let block = (FILLING / ranks.max(1)).clamp(BLOCK.0, BLOCK.1);
        RecordsInTurn {
            block: 1 << block.ilog2(),
            filling: vec![Vec::new(); ranks as usize],
            blocks: vec![Vec::new(); ranks as usize],
            counts: vec![0; ranks as usize],
            keeper: RecordKeeper::new(keep),
        }
    }

    /// The next record of a rank; `false` if the rank has as many as fit its counter.
    ///
    /// # Errors
    /// The disk is full.
    pub fn push(&mut self, rank: u32, record: T) -> Result<bool> {
        let rank = rank as usize;
        let Some(count) = self.counts[rank].checked_add(1) else {
            return Ok(false);
        };
        self.counts[rank] = count;
        self.filling[rank].push(record);
        if self.filling[rank].len() == self.block {
            self.end_block(rank)?;
        }
        Ok(true)
    }

    /// How many records a rank has so far.
    pub fn count(&self, rank: u32) -> u32 {
        self.counts[rank as usize]
    }

    fn end_block(&mut self, rank: usize) -> Result<()> {
        self.blocks[rank].push(self.keeper.count());
        self.keeper.extend(&self.filling[rank])?;
        self.filling[rank].clear();
        Ok(())
    }

    /// All of them, to look at.
    ///
    /// # Errors
    /// The disk is full, or the file cannot be mapped.
    pub fn finish(mut self) -> Result<Records<T>> {
        let mut first = Vec::with_capacity(self.blocks.len());
        let mut blocks = Vec::new();
        for rank in 0..self.blocks.len() {
            if !self.filling[rank].is_empty() {
                self.end_block(rank)?;
            }
            self.filling[rank] = Vec::new();
            first.push(blocks.len() as u64);
            blocks.append(&mut std::mem::take(&mut self.blocks[rank]));
        }
        Ok(Records {
            bits: self.block.trailing_zeros(),
            first,
            blocks,
            counts: self.counts,
            kept: self.keeper.finish()?,
        })
    }
}

/// Records of all ranks.
#[derive(Debug)]
pub struct Records<T> {
    /// Records of a block, as a power of two.
    bits: u32,
    /// By rank: its first block.
    first: Vec<u64>,
    /// Where blocks begin.
    blocks: Vec<u64>,
    counts: Vec<u32>,
    kept: KeptRecords<T>,
}

impl<T: Pod> Records<T> {
    /// Record `index` of a rank, `None` after its last.
    #[inline]
    pub fn get(&self, rank: u32, index: u32) -> Option<T> {
        if index >= self.counts[rank as usize] {
            return None;
        }
        let block = self.blocks[self.first[rank as usize] as usize + (index >> self.bits) as usize];
        Some(self.kept.get(block + u64::from(index & ((1 << self.bits) - 1))))
    }

    /// How many records a rank has.
    pub fn count(&self, rank: u32) -> u32 {
        self.counts[rank as usize]
    }

    /// How many all have.
    pub fn len(&self) -> u64 {
        self.counts.iter().map(|&count| u64::from(count)).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that they take, in memory or in the file.
    pub fn bytes(&self) -> u64 {
        let of = |len: usize, size: usize| (len * size) as u64;
        self.len() * size_of::<T>() as u64 + of(self.blocks.len() + self.first.len(), 8) + of(self.counts.len(), 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::records::{MOST_IN_MEMORY, OperationRecord};
    use bytemuck::Zeroable;

    #[test]
    fn ranks_in_any_turn_have_their_records_in_order() {
        let record = |rank: u32, index: u32| OperationRecord {
            amount: u64::from(index),
            other: rank,
            ..OperationRecord::zeroed()
        };
        for (ranks, keep) in [(1, 4), (3, 1 << 20), (1_000, 100), (300_000, 1 << 20)] {
            let most = if ranks > 1_000 { 20 } else { 9_000 / ranks };
            let count = |rank: u32| rank.wrapping_mul(0x9E37_79B1) % (most + 1);
            let mut in_turn = RecordsInTurn::new(ranks, keep);
            for index in 0..most {
                for rank in (0..ranks).filter(|&rank| index < count(rank)) {
                    assert!(in_turn.push(rank, record(rank, index)).unwrap());
                }
            }
            let records = in_turn.finish().unwrap();
            for rank in 0..ranks {
                assert_eq!(records.count(rank), count(rank));
                assert!((0..count(rank)).all(|index| records.get(rank, index) == Some(record(rank, index))));
                assert_eq!(records.get(rank, count(rank)), None);
            }
        }
    }

    #[test]
    fn fifty_million_operations_of_four_thousand_ranks_fit_two_gigabytes() {
        // A block of each rank fills, and what is kept besides records is small.
        let in_turn = RecordsInTurn::<OperationRecord>::new(4_096, MOST_IN_MEMORY);
        let filling = 4_096 * in_turn.block * size_of::<OperationRecord>();
        let places = 50_000_000 / in_turn.block * 8;
        let all = 50_000_000 * size_of::<OperationRecord>()
            + filling
            + places
            + MOST_IN_MEMORY * size_of::<OperationRecord>();
        assert!(all < 2_000_000_000, "{all}");
    }
}
