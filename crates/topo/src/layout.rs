//! Where to draw a router.

use crate::inside::Inside;
use crate::lattice::Kind;
use crate::topology::{Geometry, Topology};
use std::f64::consts::TAU;

impl Topology {
    /// A place in the unit square for a drawing, x to the right and y upwards; no two routers share one.
    ///
    /// Rings lie on a circle; lattices on a grid, dimensions 0, 2, 4.. across and 1, 3, 5.. up, later ones as blocks of earlier ones;
    /// dragonfly groups on a circle with their routers around each; fat-trees by level with leaves at the bottom; graphs on a circle.
    pub fn layout(&self, router: u32) -> (f64, f64) {
        match &self.geometry {
            Geometry::Single => (0.5, 0.5),
            Geometry::Lattice(g) if g.dims.len() == 1 && g.kind == Kind::Torus => {
                on_circle((0.5, 0.5), 0.5, router, self.n_routers())
            }
            Geometry::Lattice(g) => {
                let axis = |parity: usize| {
                    let (mut place, mut extent) = (0u64, 1u64);
                    for (i, d) in g.dims.iter().enumerate().filter(|(i, _)| i % 2 == parity) {
                        let pitch = if extent == 1 { 1 } else { extent + 1 };
                        place += u64::from(g.coord(router, i)) * pitch;
                        extent += u64::from(d.size - 1) * pitch;
                    }
                    if extent == 1 {
                        0.5
                    } else {
                        place as f64 / (extent - 1) as f64
                    }
                };
                (axis(0), axis(1))
            }
            Geometry::Grouped(g) => {
                let ((group, i), groups) = (g.per_group.split(router), g.global.groups());
                let room = if groups == 1 {
                    0.5
                } else {
                    (TAU / f64::from(groups) / 2.0).sin().min(0.6) * 0.4 / 1.4
                };
                let centre = if groups == 1 {
                    (0.5, 0.5)
                } else {
                    on_circle((0.5, 0.5), 0.5 - room, group, groups)
                };
                match g.inside {
                    Inside::LeafSpine { leaves, spines } if i >= leaves => {
                        on_circle(centre, room * 0.5, i - leaves, spines)
                    }
                    Inside::LeafSpine { leaves, .. } => on_circle(centre, room, i, leaves),
                    inside => on_circle(centre, room, i, inside.routers()),
                }
            }
            Geometry::FatTree(g) => {
                let (level, index) = g.level_index(router);
                let y = if g.height() == 1 {
                    0.5
                } else {
                    level as f64 / (g.height() - 1) as f64
                };
                ((f64::from(index) + 0.5) / f64::from(g.level_len(level)), y)
            }
            Geometry::Graph(_) => on_circle((0.5, 0.5), 0.5, router, self.n_routers()),
        }
    }
}

fn on_circle(centre: (f64, f64), radius: f64, index: u32, count: u32) -> (f64, f64) {
    let angle = TAU * f64::from(index) / f64::from(count);
    let place = (centre.0 + radius * angle.sin(), centre.1 + radius * angle.cos());
    (place.0.clamp(0.0, 1.0), place.1.clamp(0.0, 1.0))
}
