//! Where to draw a router.

use crate::topology::Topology;

impl Topology {
    /// A place in the unit square for a drawing, x to the right and y upwards; no two routers share one.
    ///
    /// Rings lie on a circle; lattices on a grid, dimensions 0, 2, 4.. across and 1, 3, 5.. up, later ones as blocks of earlier ones;
    /// dragonfly groups on a circle with their routers around each; fat-trees by level with leaves at the bottom; graphs on a circle.
    pub fn layout(&self, router: u32) -> (f64, f64) {
        self.geometry.family().place(router)
    }
}
