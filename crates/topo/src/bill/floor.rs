//! Racks: which router and node is in which, where they stand, and how long cables between them are.
//!
//! Routers are put into racks shelf by shelf. A shelf (a group, a pod, a line of a lattice: see `NetworkFamily::shelf`) is kept whole where
//! a rack can hold it: it goes into the rack in work if there is room for all of it, else it starts a new one. A shelf that no rack can
//! hold starts a new one too, and takes as many as it needs, one filled after the other. Nodes are with their router; a router with more
//! nodes than a rack may have takes racks of its own. Racks stand in rows, all of one length but the last.

use super::LayoutSpec;
use crate::Topology;

/// The racks of a network.
#[derive(Clone, Debug)]
pub struct Floor {
    layout: LayoutSpec,
    /// The rack of each router, in which its first nodes are.
    rack: Vec<u32>,
    racks: u32,
    per_row: u32,
}

/// The rack that is being filled.
struct Filling {
    rack: u32,
    routers: u64,
    nodes: u64,
}

impl Filling {
    /// Whether so many more would be too many; an empty rack takes what comes.
    fn is_full(&self, layout: &LayoutSpec, routers: u64, nodes: u64) -> bool {
        let too_many = self.routers + routers > u64::from(layout.routers_per_rack)
            || self.nodes + nodes > u64::from(layout.nodes_per_rack);
        self.routers > 0 && too_many
    }

    fn next(&mut self) {
        *self = Filling {
            rack: self.rack + 1,
            routers: 0,
            nodes: 0,
        };
    }
}

impl Floor {
    /// Puts a network into racks, of which each may hold at least a router and a node.
    pub fn new(topology: &Topology, layout: &LayoutSpec) -> Floor {
        let family = topology.geometry.family();
        let nodes_of = |router: u32| topology.wiring().nodes_of(router).len() as u64;
        let mut order: Vec<(u32, u32)> = (0..topology.n_routers()).map(|r| (family.shelf(r), r)).collect();
        order.sort_unstable();
        let mut rack = vec![0; order.len()];
        let mut filling = Filling {
            rack: 0,
            routers: 0,
            nodes: 0,
        };
        for shelf in order.chunk_by(|a, b| a.0 == b.0) {
            if filling.is_full(
                layout,
                shelf.len() as u64,
                shelf.iter().map(|&(_, r)| nodes_of(r)).sum(),
            ) {
                filling.next();
            }
            for &(_, router) in shelf {
                let nodes = nodes_of(router);
                if filling.is_full(layout, 1, nodes) {
                    filling.next();
                }
                rack[router as usize] = filling.rack;
                filling.routers += 1;
                filling.nodes += nodes;
                // Nodes that the rack cannot hold fill those behind it.
                let more = nodes.saturating_sub(1) / u64::from(layout.nodes_per_rack);
                filling.rack += more as u32;
            }
        }
        let racks = filling.rack + 1;
        let rows = layout.rows.unwrap_or_else(|| nearest_square(racks)).min(racks);
        Floor {
            layout: *layout,
            rack,
            racks,
            per_row: racks.div_ceil(rows),
        }
    }

    /// How many there are.
    pub fn racks(&self) -> u32 {
        self.racks
    }

    /// Rows in which there are some.
    pub fn rows(&self) -> u32 {
        self.racks.div_ceil(self.per_row)
    }

    /// The rack of a router, from 0.
    pub fn rack_of(&self, router: u32) -> u32 {
        self.rack[router as usize]
    }

    /// The rack of a router's node number `place`.
    pub fn rack_of_node(&self, router: u32, place: u32) -> u32 {
        self.rack_of(router) + place / self.layout.nodes_per_rack
    }

    /// The routers that are in one of these racks, and the nodes that are in one without their router, each in order.
    pub fn contents(&self, topology: &Topology, racks: &[u32]) -> (Vec<u32>, Vec<u32>) {
        let (mut routers, mut nodes) = (Vec::new(), Vec::new());
        for router in 0..topology.n_routers() {
            if racks.contains(&self.rack_of(router)) {
                routers.push(router);
                continue;
            }
            let all = (0..).zip(topology.wiring().nodes_of(router));
            let there = all.filter(|&(place, _)| racks.contains(&self.rack_of_node(router, place)));
            nodes.extend(there.map(|(_, node)| node));
        }
        (routers, nodes)
    }

    /// Length of a cable between two routers (mm).
    pub fn between(&self, a: u32, b: u32) -> u64 {
        self.length(self.rack_of(a), self.rack_of(b))
    }

    /// Length of the cable from a router to its node number `place` (mm).
    pub fn to_node(&self, router: u32, place: u32) -> u64 {
        self.length(self.rack_of(router), self.rack_of_node(router, place))
    }

    /// Along the rows and across them, as cables lie in trays.
    fn length(&self, a: u32, b: u32) -> u64 {
        if a == b {
            return self.layout.in_rack;
        }
        let place = |rack: u32| (rack % self.per_row, rack / self.per_row);
        let ((xa, ya), (xb, yb)) = (place(a), place(b));
        let way = |steps: u32, pitch: u64| u64::from(steps).saturating_mul(pitch);
        way(xa.abs_diff(xb), self.layout.rack_pitch)
            .saturating_add(way(ya.abs_diff(yb), self.layout.row_pitch))
            .saturating_add(self.layout.slack)
    }
}

/// Rows of a room of racks that is no more rows than columns, and nearest to as many.
fn nearest_square(racks: u32) -> u32 {
    racks.isqrt().max(1)
}
