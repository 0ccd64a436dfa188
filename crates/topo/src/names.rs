//! Names of routers and ports for people.

use crate::build::dimension_name;
use crate::inside::Inside;
use crate::spec::TopologySpec;
use crate::topology::{Geometry, Topology};

impl Topology {
    /// A router's name: `(3,0,7)` on a lattice, `g2.r5` or `g2.(1,3)` in a dragonfly, `g2.leaf3`, `g2.spine0`, `L1.5` (level and
    /// place) in a fat-tree, the file's name in a graph, `router`.
    pub fn router_name(&self, router: u32) -> String {
        match &self.geometry {
            Geometry::Single => "router".into(),
            Geometry::Lattice(g) => {
                let coords: Vec<String> = (0..g.dims.len()).map(|d| g.coord(router, d).to_string()).collect();
                format!("({})", coords.join(","))
            }
            Geometry::Grouped(g) => {
                let (group, i) = g.per_group.split(router);
                match g.inside {
                    Inside::Grid { rows: 1, .. } => format!("g{group}.r{i}"),
                    Inside::Grid { cols, .. } => format!("g{group}.({},{})", cols.split(i).0, cols.split(i).1),
                    Inside::LeafSpine { leaves, .. } if i < leaves => format!("g{group}.leaf{i}"),
                    Inside::LeafSpine { leaves, .. } => format!("g{group}.spine{}", i - leaves),
                }
            }
            Geometry::FatTree(g) => {
                let (level, index) = g.level_index(router);
                format!("L{}.{index}", level + 1)
            }
            Geometry::Graph(g) => g.names[router as usize].clone(),
        }
    }

    /// A network port's name at its router: `x+`, `x- #1` (second parallel cable), `y=3` (HyperX: to coordinate 3), `to g3.r1`.
    pub fn port_name(&self, router: u32, port: u16) -> String {
        let number = |k: u16| if k > 0 { format!(" #{k}") } else { String::new() };
        if let Some((dim, way, cable)) = self.lattice().and_then(|g| g.describe(router, port)) {
            let ring = matches!(self.spec(), TopologySpec::Ring { .. });
            let dim = if ring { "ring".into() } else { dimension_name(dim) };
            return format!("{dim}{way}{}", number(cable));
        }
        let run = self
            .wiring()
            .runs(router)
            .find(|run| (run.port..run.port + run.links).contains(&port));
        run.map_or_else(
            || format!("port {port}"),
            |run| format!("to {}{}", self.router_name(run.peer), number(port - run.port)),
        )
    }
}
