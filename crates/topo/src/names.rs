//! Names of routers and ports for people.

use crate::topology::Topology;

impl Topology {
    /// A router's name: `(3,0,7)` on a lattice, `g2.r5` or `g2.(1,3)` in a dragonfly, `g2.leaf3`, `g2.spine0`, `L1.5` (level and
    /// place) in a fat-tree, the file's name in a graph, `router`.
    pub fn router_name(&self, router: u32) -> String {
        self.geometry.family().router_name(router)
    }

    /// A network port's name at its router: `x+`, `x- #1` (second parallel cable), `y=3` (HyperX: to coordinate 3), `to g3.r1`.
    pub fn port_name(&self, router: u32, port: u16) -> String {
        let number = |k: u16| if k > 0 { format!(" #{k}") } else { String::new() };
        if let Some((name, cable)) = self.geometry.family().port_name(self.stored_wiring(), router, port) {
            return format!("{name}{}", number(cable));
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
