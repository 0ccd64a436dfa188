//! Routers in the orders that their family has for them (see [`CutOrder`]), for a cut.

use crate::families::CutOrder;
use crate::topology::Topology;

impl CutOrder<'_> {
    /// Puts a set of routers in order for a cut into shares of `parts.0` to `parts.1`. `place` is `u32::MAX` everywhere, before and after.
    pub(super) fn arrange(&self, topology: &Topology, routers: &mut [u32], parts: (u32, u32), place: &mut [u32]) {
        match self {
            CutOrder::PerCut(arrange) => arrange(routers, parts),
            CutOrder::Fixed(key) | CutOrder::Groups(key) => routers.sort_unstable_by_key(|&r| (key[r as usize], r)),
            CutOrder::BreadthFirst => breadth_first(topology, routers, place),
        }
    }

    /// Whether a cut between two routers that follow each other would part a group.
    pub(super) fn parts_group(&self, a: u32, b: u32) -> bool {
        matches!(self, CutOrder::Groups(key) if key[a as usize] >> 28 == key[b as usize] >> 28)
    }
}

/// Breadth first from the last router of a search from the first; pieces that do not hang together follow each other.
fn breadth_first(topology: &Topology, routers: &mut [u32], place: &mut [u32]) {
    const HERE: u32 = 0;
    const SEEN: u32 = 1;
    let mut order: Vec<u32> = Vec::with_capacity(routers.len());
    let mut start = routers.first().copied();
    for _ in 0..2 {
        routers.iter().for_each(|&r| place[r as usize] = HERE);
        order.clear();
        let starts = start.into_iter().chain(routers.iter().copied());
        let is_new = |r: u32| {
            let here = place[r as usize] == HERE;
            if here {
                place[r as usize] = SEEN;
            }
            here
        };
        topology.wiring().breadth_first(starts, is_new, &mut order);
        start = order.last().copied();
    }
    routers.copy_from_slice(&order);
    routers.iter().for_each(|&r| place[r as usize] = u32::MAX);
}
