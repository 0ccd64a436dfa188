//! Which blocks of LPs the workers of each rank run: rank by rank, worker by worker.

use crate::layout::{Layout, MAX_BLOCKS};
use crate::world::World;
use std::ops::Range;

/// Blocks of LPs, their ranks and workers; the same on all ranks.
#[derive(Clone, Debug)]
pub(super) struct Shares {
    pub(super) layout: Layout,
    /// The first block of each worker of all ranks, and the number of blocks.
    first: Vec<usize>,
    /// Workers of each rank.
    pub(super) workers: usize,
}

impl Shares {
    /// The blocks of a world for `n_ranks` ranks with `workers` workers each, fewer if there are not enough blocks for all.
    pub(super) fn new<W: World>(world: &W, n_ranks: usize, workers: usize) -> Shares {
        let workers = workers.clamp(1, (MAX_BLOCKS / n_ranks).max(1));
        let all = n_ranks * workers;
        let layout = world.layout((8 * all).min(MAX_BLOCKS) as u32);
        let owners = layout.owners(all);
        let first = (0..=all).map(|me| owners.partition_point(|&owner| owner < me));
        Shares {
            first: first.collect(),
            layout,
            workers,
        }
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

    /// The blocks of a worker.
    pub(super) fn blocks(&self, rank: usize, worker: usize) -> Range<usize> {
        let me = rank * self.workers + worker;
        self.first[me]..self.first[me + 1]
    }

    /// The blocks of a rank.
    pub(super) fn blocks_of(&self, rank: usize) -> Range<usize> {
        self.first[rank * self.workers]..self.first[(rank + 1) * self.workers]
    }

    /// The numbers of the LPs of a rank, with those between them that are not in use.
    pub(super) fn lps_of(&self, rank: usize) -> Range<u32> {
        let blocks = self.blocks_of(rank);
        let lps = |block: usize| self.layout.lps(block);
        match blocks.is_empty() {
            true => 0..0,
            false => lps(blocks.start).start..lps(blocks.end - 1).end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phold::Phold;
    use crate::time::Time;

    fn shares(n_lps: u32, ranks: usize, workers: usize) -> Shares {
        let world = Phold {
            n_lps,
            events_per_lp: 1,
            mean: Time(20),
            lookahead: Time(10),
            remote: 0.5,
            seed: 1,
        };
        Shares::new(&world, ranks, workers)
    }

    #[test]
    fn every_lp_has_one_rank_and_every_block_one_worker() {
        for n_lps in [1, 5, 64, 65, 1_000, 33_000] {
            for (ranks, workers) in [(1, 1), (1, 3), (2, 1), (2, 2), (3, 2), (64, 1), (16, 8), (70, 1)] {
                let shares = shares(n_lps, ranks, workers);
                assert!(shares.layout.n_blocks() <= MAX_BLOCKS && shares.n_workers() <= MAX_BLOCKS.max(ranks));
                let blocks: Vec<usize> = (0..ranks).flat_map(|rank| shares.blocks_of(rank)).collect();
                assert_eq!(blocks, (0..shares.layout.n_blocks()).collect::<Vec<_>>());
                for rank in 0..ranks {
                    let of_workers = (0..shares.workers).flat_map(|worker| shares.blocks(rank, worker));
                    assert!(of_workers.eq(shares.blocks_of(rank)));
                    let of_blocks = shares.blocks_of(rank).flat_map(|block| shares.layout.lps(block));
                    assert!(of_blocks.eq(shares.lps_of(rank)));
                }
            }
        }
    }

    #[test]
    fn workers_of_ranks_get_even_shares() {
        let even = shares(1 << 14, 4, 2);
        for rank in 0..4 {
            assert_eq!(even.lps_of(rank).len(), 1 << 12);
            assert_eq!(even.blocks(rank, 1).len(), 8);
        }
        assert_eq!(
            shares(1 << 14, 600, 3).workers,
            1,
            "1,024 blocks are not enough for more"
        );
    }
}
