//! How the LPs of a world lie in blocks, and which worker gets which blocks.
//!
//! The number of an LP says where it lies: block `b` holds the numbers from `b << shift` on, as many as it has LPs; numbers between the
//! end of a block and the beginning of the next are not in use. So the block of an event's target takes a shift, whatever the sizes of
//! the blocks. A world that puts its LPs where their neighbours are gives each of them a name as well (see
//! [`World::name`](crate::World::name)), which is the same in every layout.

use std::ops::Range;

/// Most blocks, and so most workers of all ranks. Tools that slow a program down a thousand times are spared most of them.
pub const MAX_BLOCKS: usize = if cfg!(any(loom, miri)) { 8 } else { 1_024 };

/// Blocks of LPs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Block of an LP: its number shifted by that.
    shift: u32,
    /// LPs of each block.
    sizes: Vec<u32>,
    /// What a window of each block costs, in any unit.
    weights: Vec<u64>,
    /// Number of groups that the blocks were made for, and blocks of each; 0 if they suit any number.
    groups: usize,
}

impl Layout {
    /// About `n_blocks` blocks, at most [`MAX_BLOCKS`], of one size but for the last: LPs are numbered without a gap.
    pub fn even(n_lps: u32, n_blocks: u32) -> Layout {
        let per_block = n_lps
            .max(1)
            .div_ceil(n_blocks.clamp(1, MAX_BLOCKS as u32))
            .next_power_of_two();
        let size = |block: u32| (n_lps - block * per_block).min(per_block);
        let sizes: Vec<u32> = (0..n_lps.max(1).div_ceil(per_block)).map(size).collect();
        Layout {
            shift: per_block.ilog2(),
            weights: sizes.iter().map(|&size| u64::from(size)).collect(),
            sizes,
            groups: 0,
        }
    }

    /// Blocks with so many LPs and of such weights, for `groups` workers with as many blocks each.
    ///
    /// # Panics
    /// There are no blocks, more than [`MAX_BLOCKS`], weights for other blocks, or blocks that do not make whole groups.
    pub fn grouped(sizes: Vec<u32>, weights: Vec<u64>, groups: usize) -> Layout {
        assert!((1..=MAX_BLOCKS).contains(&sizes.len()), "{} blocks", sizes.len());
        assert_eq!(sizes.len(), weights.len(), "a weight for each block");
        assert!(
            groups > 0 && sizes.len().is_multiple_of(groups),
            "blocks in whole groups"
        );
        let largest = sizes.iter().copied().max().unwrap_or(0).max(1);
        Layout {
            shift: largest.next_power_of_two().ilog2(),
            sizes,
            weights,
            groups,
        }
    }

    /// An LP's block is its number shifted by that.
    pub fn shift(&self) -> u32 {
        self.shift
    }

    /// Number of blocks.
    pub fn n_blocks(&self) -> usize {
        self.sizes.len()
    }

    /// The numbers of the LPs of a block.
    pub fn lps(&self, block: usize) -> Range<u32> {
        let start = (block as u32) << self.shift;
        start..start + self.sizes[block]
    }

    /// All LPs in rising order of their numbers.
    pub fn all(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.n_blocks()).flat_map(|block| self.lps(block))
    }

    /// One more than the highest number of an LP.
    pub fn end(&self) -> u32 {
        (0..self.n_blocks()).map(|block| self.lps(block).end).max().unwrap_or(0)
    }

    /// `true` if `owner` gives the blocks to the groups that they were made for.
    pub fn has_owners(&self, owner: &dyn Fn(u32) -> usize) -> bool {
        let each = self.n_blocks() / self.groups.max(1);
        self.groups > 0 && (0..self.n_blocks()).all(|block| owner((block as u32) << self.shift) == block / each)
    }

    /// The worker of each block, of `n`: neighbouring blocks together. The groups that the blocks were made for if there are as many,
    /// else by weight.
    pub fn owners(&self, n: usize) -> Vec<usize> {
        let n = n.max(1);
        if self.groups == n {
            let each = self.n_blocks() / n;
            return (0..self.n_blocks()).map(|block| block / each).collect();
        }
        let total: u128 = self.weights.iter().map(|&weight| u128::from(weight)).sum();
        let mut before = 0;
        let owner = |&weight: &u64| {
            // The middle of a block decides.
            let middle = 2 * before + u128::from(weight);
            before += u128::from(weight);
            ((middle * n as u128 / (2 * total.max(1))) as usize).min(n - 1)
        };
        self.weights.iter().map(owner).collect()
    }
}

#[cfg(test)]
mod tests;
