//! The inside of a dragonfly's or dragonfly+'s group: who is next to whom, and the way within the group.

use crate::division::FastDiv;

/// What a group looks like inside.
#[derive(Clone, Copy, Debug)]
pub(super) enum Inside {
    /// Rows and columns, all-to-all in each.
    Grid { rows: u32, cols: FastDiv },
    /// All leaves to all spines.
    LeafSpine { leaves: u32, spines: u32 },
}

impl Inside {
    pub(crate) fn routers(self) -> u32 {
        match self {
            Inside::Grid { rows, cols } => rows * cols.divisor(),
            Inside::LeafSpine { leaves, spines } => leaves + spines,
        }
    }

    /// Index of the first router that owns global cables, and how many do.
    pub(crate) fn owners(self) -> (u32, u32) {
        match self {
            Inside::Grid { .. } => (0, self.routers()),
            Inside::LeafSpine { leaves, spines } => (leaves, spines),
        }
    }

    /// Hops between two routers of a group.
    #[inline]
    pub(crate) fn distance(self, i: u32, j: u32) -> u32 {
        match self {
            Inside::Grid { rows: 1, .. } => u32::from(i != j),
            Inside::Grid { cols, .. } => {
                let ((ri, ci), (rj, cj)) = (cols.split(i), cols.split(j));
                u32::from(ri != rj) + u32::from(ci != cj)
            }
            Inside::LeafSpine { leaves, .. } if (i < leaves) != (j < leaves) => 1,
            Inside::LeafSpine { .. } => 2 * u32::from(i != j),
        }
    }

    pub(crate) fn diameter(self) -> u32 {
        match self {
            Inside::Grid { rows, cols } => u32::from(rows > 1) + u32::from(cols.divisor() > 1),
            Inside::LeafSpine { leaves: 1, spines: 1 } => 1,
            Inside::LeafSpine { .. } => 2,
        }
    }

    /// Local neighbours of a router of the group, in port order.
    pub(crate) fn neighbours(self, i: u32) -> impl Iterator<Item = u32> {
        let n = self.routers();
        let (row, column) = match self {
            Inside::Grid { cols, .. } => (cols.div(i), cols.split(i).1),
            Inside::LeafSpine { .. } => (0, 0),
        };
        let along_row = (0..n).filter(move |&j| j != i && self.is_row(j, row));
        let along_column = (0..n).filter(move |&j| j != i && self.is_column(j, column));
        let across = (0..n).filter(move |&j| self.is_across(i, j));
        along_row.chain(along_column).chain(across)
    }

    fn is_row(self, j: u32, row: u32) -> bool {
        matches!(self, Inside::Grid { cols, .. } if cols.div(j) == row)
    }

    fn is_column(self, j: u32, column: u32) -> bool {
        matches!(self, Inside::Grid { cols, .. } if cols.split(j).1 == column)
    }

    fn is_across(self, i: u32, j: u32) -> bool {
        matches!(self, Inside::LeafSpine { leaves, .. } if (i < leaves) != (j < leaves))
    }

    /// Number of local neighbours.
    #[inline]
    pub(crate) fn degree(self, i: u32) -> u32 {
        match self {
            Inside::Grid { rows, cols } => rows + cols.divisor() - 2,
            Inside::LeafSpine { leaves, spines } => {
                if i < leaves {
                    spines
                } else {
                    leaves
                }
            }
        }
    }

    /// Place of neighbour `j` among the local neighbours of `i`.
    #[inline]
    pub(crate) fn line(self, i: u32, j: u32) -> u32 {
        match self {
            Inside::Grid { cols, .. } => {
                let ((ri, ci), (rj, cj)) = (cols.split(i), cols.split(j));
                if ri == rj {
                    cj - u32::from(cj > ci)
                } else {
                    cols.divisor() - 1 + rj - u32::from(rj > ri)
                }
            }
            Inside::LeafSpine { leaves, .. } => {
                if j < leaves {
                    j
                } else {
                    j - leaves
                }
            }
        }
    }
}
