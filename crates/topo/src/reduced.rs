//! A small network of the same family in which every kind of channel dependency of the large one occurs.
//!
//! The argument per family is in docs/models/deadlock.md: a routing of a regular family treats all routers of a kind alike, so its
//! dependencies are told by link class, direction, place relative to the border or dateline, and VC; sizes only repeat them.

use crate::spec::{Lattice, TopologySpec};

/// Dimensions that keep more than one router.
const MOST_DIMENSIONS: usize = 4;

impl TopologySpec {
    /// A small network of the same family with the same order of channels; the specification itself where it is small already or
    /// where no smaller one can stand for it (a graph from a file).
    pub fn reduced(&self) -> TopologySpec {
        let mut spec = self.clone();
        match &mut spec {
            TopologySpec::SingleRouter { nodes } => *nodes = (*nodes).min(2),
            TopologySpec::Ring {
                routers,
                width,
                nodes_per_router,
            } => {
                *routers = ring(*routers);
                *width = (*width).min(2);
                *nodes_per_router = 1;
            }
            TopologySpec::Torus(lattice) => shrink(lattice, ring),
            TopologySpec::Mesh(lattice) | TopologySpec::HyperX(lattice) => shrink(lattice, |s| s.min(4)),
            TopologySpec::Dragonfly {
                groups,
                routers_per_group,
                nodes_per_router,
                links_per_pair,
                local_width,
                ..
            } => {
                let most = if routers_per_group.len() > 1 { 3 } else { 4 };
                let owners: u64 = routers_per_group.iter().map(|&r| u64::from(r)).product();
                let ratio = u64::from(*links_per_pair).div_ceil(owners.max(1));
                routers_per_group.iter_mut().for_each(|r| *r = (*r).min(most));
                let left: u32 = routers_per_group.iter().product();
                *links_per_pair = few_links(*links_per_pair, owners, left, ratio);
                *groups = (*groups).min(5);
                *nodes_per_router = 1;
                *local_width = (*local_width).min(2);
            }
            TopologySpec::DragonflyPlus {
                groups,
                leaves,
                spines,
                nodes_per_leaf,
                links_per_pair,
                local_width,
                ..
            } => {
                let ratio = u64::from(*links_per_pair).div_ceil(u64::from(*spines).max(1));
                let before = u64::from(*spines);
                *leaves = (*leaves).min(3);
                *spines = (*spines).min(3);
                *links_per_pair = few_links(*links_per_pair, before, *spines, ratio);
                *groups = (*groups).min(5);
                *nodes_per_leaf = 1;
                *local_width = (*local_width).min(2);
            }
            TopologySpec::FatTree { down, up, up_width } => {
                let most = if down.len() > 3 { 2 } else { 3 };
                for list in [down, up, up_width] {
                    list.iter_mut().for_each(|n| *n = (*n).min(most));
                }
            }
            TopologySpec::Graph { .. } => {}
        }
        spec
    }
}

/// Rings of 4 and 5 have all dependencies of longer even and odd rings: with ties, and without.
fn ring(size: u32) -> u32 {
    if size <= 5 { size } else { 4 + size % 2 }
}

fn shrink(lattice: &mut Lattice, size: impl Fn(u32) -> u32) {
    let mut kept = 0;
    for s in &mut lattice.shape {
        *s = if kept < MOST_DIMENSIONS { size(*s) } else { 1 };
        kept += usize::from(*s > 1);
    }
    lattice.width.iter_mut().for_each(|w| *w = (*w).min(2));
    lattice.nodes_per_router = 1;
}

/// Keeps whether a router owns no, some or several links to each other group.
fn few_links(links: u32, owners_before: u64, owners: u32, ratio: u64) -> u32 {
    if u64::from(links) < owners_before {
        links.min(owners.saturating_sub(1).max(1))
    } else {
        owners * ratio.min(2) as u32
    }
}
