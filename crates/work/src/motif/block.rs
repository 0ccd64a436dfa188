//! A block of cells for every rank of a grid: the parameters that halos and stencils share.

use super::{Compute, Order};

/// Blocks of cells on a grid of ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct CellBlocks<const N: usize> {
    /// Number of ranks.
    pub ranks: u32,
    /// Grid of ranks, or as cubic as can be.
    pub grid: Option<[u32; N]>,
    /// Cells of a rank's block along each dimension.
    pub cells: [u64; N],
    /// Values per cell.
    pub vars: u64,
    /// Size of a value (bytes).
    pub value: u64,
    /// Computing before the exchange.
    pub compute: Compute,
    /// In which order a rank turns to its neighbours.
    pub order: Order,
}

impl<const N: usize> CellBlocks<N> {
    /// Cells of one value of 8 bytes each on a grid as cubic as can be, without computing, in the common order.
    pub fn new(ranks: u32, cells: [u64; N]) -> CellBlocks<N> {
        CellBlocks {
            ranks,
            grid: None,
            cells,
            vars: 1,
            value: 8,
            compute: Compute::Time(0),
            order: Order::Common,
        }
    }
}
