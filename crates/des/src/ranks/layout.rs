//! Which blocks of LPs the workers of each rank run: rank by rank, worker by worker.

use crate::worker::MAX_BLOCKS;
use std::ops::Range;

/// Blocks of LPs, their ranks and workers; the same on all ranks.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    n_lps: u32,
    /// LPs of a block as a power of two.
    pub(super) shift: u32,
    /// The first block of each worker of all ranks, and the number of blocks.
    first: Vec<usize>,
    /// Workers of each rank.
    pub(super) workers: usize,
}

impl Layout {
    /// The blocks of `n_lps` LPs for `n_ranks` ranks with `workers` workers each, fewer if there are not enough blocks for all.
    pub(super) fn new(n_lps: u32, n_ranks: usize, workers: usize) -> Layout {
        let workers = workers.clamp(1, (MAX_BLOCKS / n_ranks).max(1));
        let all = n_ranks * workers;
        let wanted = (8 * all).min(MAX_BLOCKS) as u32;
        let shift = n_lps.max(1).div_ceil(wanted).next_power_of_two().ilog2();
        let n_blocks = n_lps.max(1).div_ceil(1 << shift) as usize;
        // The middle LP of a block decides.
        let worker = |block: usize| {
            let start = (block as u64) << shift;
            let end = (start + (1 << shift)).min(u64::from(n_lps));
            ((start + end) / 2 * all as u64 / u64::from(n_lps.max(1))).min(all as u64 - 1) as usize
        };
        let first = (0..=all).map(|me| (0..n_blocks).find(|&block| worker(block) >= me).unwrap_or(n_blocks));
        Layout {
            n_lps,
            shift,
            first: first.collect(),
            workers,
        }
    }

    /// Number of blocks of all ranks.
    pub(super) fn n_blocks(&self) -> usize {
        self.first[self.first.len() - 1]
    }

    /// Number of workers of all ranks.
    pub(super) fn n_workers(&self) -> usize {
        self.first.len() - 1
    }

    /// Workers that have something to run, or meet others for their rank.
    pub(super) fn n_running(&self) -> usize {
        let of_rank = |first: &[usize]| first.windows(2).filter(|pair| pair[0] < pair[1]).count().max(1);
        let ranks = (0..self.n_workers()).step_by(self.workers);
        ranks.map(|me| of_rank(&self.first[me..=me + self.workers])).sum()
    }

    /// The LPs of a block.
    pub(super) fn lps(&self, block: usize) -> Range<u32> {
        let start = (block as u32) << self.shift;
        start..self.n_lps.min(start + (1 << self.shift))
    }

    /// The block of an LP.
    pub(super) fn block(&self, lp: u32) -> usize {
        (lp >> self.shift) as usize
    }

    /// The blocks of a worker.
    pub(super) fn blocks(&self, rank: usize, worker: usize) -> Range<usize> {
        let me = rank * self.workers + worker;
        self.first[me]..self.first[me + 1]
    }

    /// The blocks of a rank.
    pub(super) fn blocks_of(&self, rank: usize) -> Range<usize> {
        self.first[rank * self.workers]..self.first[(rank + 1) * self.workers]
    }

    /// The LPs of a rank.
    pub(super) fn lps_of(&self, rank: usize) -> Range<u32> {
        let blocks = self.blocks_of(rank);
        let start = |block: usize| ((block as u64) << self.shift).min(u64::from(self.n_lps)) as u32;
        start(blocks.start)..start(blocks.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lp_has_one_block_and_every_block_one_worker() {
        for n_lps in [1, 5, 64, 65, 1_000, 33_000] {
            for (ranks, workers) in [(1, 1), (1, 3), (2, 1), (2, 2), (3, 2), (64, 1), (16, 8), (70, 1)] {
                let layout = Layout::new(n_lps, ranks, workers);
                assert!(layout.n_blocks() <= MAX_BLOCKS && layout.n_workers() <= MAX_BLOCKS.max(ranks));
                let blocks: Vec<usize> = (0..ranks).flat_map(|rank| layout.blocks_of(rank)).collect();
                assert_eq!(blocks, (0..layout.n_blocks()).collect::<Vec<_>>());
                let lps: Vec<u32> = (0..layout.n_blocks()).flat_map(|block| layout.lps(block)).collect();
                assert_eq!(lps, (0..n_lps).collect::<Vec<_>>());
                for rank in 0..ranks {
                    let of_workers = (0..layout.workers).flat_map(|worker| layout.blocks(rank, worker));
                    assert!(of_workers.eq(layout.blocks_of(rank)));
                    let of_blocks = layout.blocks_of(rank).flat_map(|block| layout.lps(block));
                    assert!(of_blocks.eq(layout.lps_of(rank)));
                }
                assert!(lps.iter().all(|&lp| layout.lps(layout.block(lp)).contains(&lp)));
            }
        }
    }

    #[test]
    fn workers_of_ranks_get_even_shares() {
        let layout = Layout::new(1 << 14, 4, 2);
        for rank in 0..4 {
            assert_eq!(layout.lps_of(rank).len(), 1 << 12);
            assert_eq!(layout.blocks(rank, 1).len(), 8);
        }
        assert_eq!(
            Layout::new(1 << 14, 40, 3).workers,
            1,
            "64 blocks are not enough for more"
        );
    }
}
