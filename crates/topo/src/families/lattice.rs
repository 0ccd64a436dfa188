//! Rings, meshes, tori and HyperX: routers on an n-dimensional integer lattice. Numbering, ports and ways: `geometry`.

mod cuts;
mod geometry;
mod kinds;

pub use geometry::{Coordinates, Tie};
pub(crate) use geometry::{Direct, LatticeGeometry};
pub use kinds::{Lattice, RingSpec};

use super::{CutOrder, MeanDistance, NetworkFamily, on_circle};
use crate::division::FastDiv;
use crate::hop::{Came, Hop, HopList, PortStage};
use crate::wiring::Wiring;
use geometry::LatticeKind;

impl NetworkFamily for LatticeGeometry {
    fn has_groups() -> bool {
        true
    }

    #[inline(always)]
    fn router_of(&self, _wiring: &Wiring, node: u32) -> u32 {
        self.nodes_per_router.div(node)
    }

    #[inline]
    fn distance(&self, _wiring: &Wiring, a: u32, b: u32) -> u32 {
        self.distance(a, b)
    }

    #[inline]
    fn minimal(&self, _wiring: &Wiring, at: u32, node: u32, came: Came, _key: impl Fn() -> u32) -> Hop {
        self.minimal(at, self.nodes_per_router.div(node), came)
    }

    #[inline]
    fn minimal_to(&self, _wiring: &Wiring, at: u32, to: u32, came: Came, _key: u32) -> Hop {
        self.minimal(at, to, came)
    }

    #[inline]
    fn minimal_hops(&self, _wiring: &Wiring, at: u32, to: u32, out: &mut HopList) {
        self.minimal_hops(at, to, out);
    }

    #[inline]
    fn lattice(&self) -> Option<&LatticeGeometry> {
        Some(self)
    }

    fn lattice_mut(&mut self) -> Option<&mut LatticeGeometry> {
        Some(self)
    }

    #[inline]
    fn routers_per_group(&self) -> Option<FastDiv> {
        None
    }

    /// Those of a HyperX.
    fn direct(&self) -> Option<Direct> {
        self.direct()
    }

    fn diameter(&self) -> u32 {
        self.diameter()
    }

    fn minimal_vcs(&self) -> u8 {
        self.minimal_vcs()
    }

    fn minimal_bound(&self, _wiring: &Wiring, from: u32, to: u32) -> u32 {
        self.distance(from, to)
    }

    fn keeps_to_distance(&self) -> bool {
        true
    }

    fn treats_nodes_of_a_router_alike(&self) -> bool {
        true
    }

    fn choices(&self) -> [Vec<u32>; 2] {
        [vec![], vec![]]
    }

    /// Dimension after dimension; along a line of a mesh or ring on and on.
    fn stage(&self, wiring: &Wiring, router: u32, port: u16) -> PortStage {
        let dim = wiring.class[wiring.port_index(router, port)] - 1;
        if self.kind == LatticeKind::HyperX {
            return PortStage::single(dim);
        }
        let (here, there) = [router, wiring.peer(router, port).0]
            .map(|router| self.coord(router, usize::from(dim)))
            .into();
        let positive = self.is_positive(router, port, dim);
        PortStage {
            wraps: positive != (there > here),
            ..PortStage::line(dim, u8::from(positive))
        }
    }

    fn is_irregular(&self) -> bool {
        false
    }

    /// Its coordinates: `(3,0,7)`.
    fn router_name(&self, router: u32) -> String {
        let coords: Vec<String> = (0..self.dims.len())
            .map(|d| self.coord(router, d).to_string())
            .collect();
        format!("({})", coords.join(","))
    }

    /// Dimension and direction, or the coordinate that it leads to: `x+`, `y=3`. Link classes are called as dimensions are.
    fn port_name(&self, wiring: &Wiring, router: u32, port: u16) -> Option<(String, u16)> {
        let (dim, way, cable) = self.describe(router, port)?;
        Some((format!("{}{way}", wiring.class_names[dim + 1]), cable))
    }

    /// Rings lie on a circle, others on a grid: dimensions 0, 2, 4.. across and 1, 3, 5.. up, later ones as blocks of earlier ones.
    fn place(&self, router: u32) -> (f64, f64) {
        if self.dims.len() == 1 && self.kind == LatticeKind::Torus {
            return on_circle((0.5, 0.5), 0.5, router, self.n_routers());
        }
        let sizes: Vec<u32> = self.dims.iter().map(|d| d.size).collect();
        let coordinates: Vec<u32> = (0..sizes.len()).map(|dim| self.coord(router, dim)).collect();
        on_grid(&sizes, &coordinates)
    }

    /// Planes across the first dimension.
    fn n_groups(&self) -> Option<u32> {
        Some(self.dims[0].size)
    }

    fn group_of(&self, router: u32) -> u32 {
        self.coord(router, 0)
    }

    fn group_name(&self, group: u32) -> String {
        format!("{}={group}", dimension_name(0))
    }

    /// Lines along the first dimension, whose routers have consecutive numbers.
    fn shelf(&self, router: u32) -> u32 {
        router / self.dims[0].size
    }

    fn bisection(&self, _wiring: &Wiring) -> Option<(u64, &'static str)> {
        let routers = u64::from(self.n_routers());
        let across = |size: u32, width: u16| {
            let (k, w) = (u64::from(size), u64::from(width));
            match self.kind {
                LatticeKind::Mesh => w * routers / k,
                LatticeKind::Torus => 2 * w * routers / k,
                LatticeKind::HyperX => w * routers * k / 4,
            }
        };
        let cut = self
            .dims
            .iter()
            .filter(|d| d.size > 1)
            .map(|d| (across(d.size, d.width), d.size % 2))
            .min();
        match (cut, self.kind) {
            (None, _) => Some((0, "a single router has no cables")),
            (Some((cables, 0)), LatticeKind::HyperX) => Some((cables, "w k^2/4 per line, Ahn et al. 2009")),
            (Some((cables, 0)), LatticeKind::Torus) => Some((cables, "2 w per line, Dally & Towles 2004, section 5.2")),
            (Some((cables, 0)), LatticeKind::Mesh) => Some((cables, "w per line, Dally & Towles 2004, section 5.2")),
            (Some(_), _) => None,
        }
    }

    fn mean_distance(&self) -> MeanDistance {
        let along = |d: &geometry::Dimension| mean_along(self.kind, f64::from(d.size));
        MeanDistance::OfRouters(self.dims.iter().map(along).sum())
    }

    /// Anew for each cut, slowest along the dimension in which it crosses the fewest cables.
    fn orders(&self) -> Vec<CutOrder<'_>> {
        let in_order = |routers: &mut [u32], parts| cuts::in_order(self, routers, parts);
        vec![CutOrder::PerCut(Box::new(in_order))]
    }
}

/// A place on a grid: dimensions 0, 2, 4.. across and 1, 3, 5.. up, later ones as blocks of earlier ones.
pub(super) fn on_grid(sizes: &[u32], coordinates: &[u32]) -> (f64, f64) {
    let axis = |parity: usize| {
        let (mut place, mut extent) = (0u64, 1u64);
        for (&size, &at) in sizes.iter().zip(coordinates).skip(parity).step_by(2) {
            let pitch = if extent == 1 { 1 } else { extent + 1 };
            place += u64::from(at) * pitch;
            extent += u64::from(size - 1) * pitch;
        }
        if extent == 1 {
            0.5
        } else {
            place as f64 / (extent - 1) as f64
        }
    };
    (axis(0), axis(1))
}

/// Name of a dimension: x, y, z, w, d4, d5, ...
pub(super) fn dimension_name(dim: usize) -> String {
    ["x", "y", "z", "w"]
        .get(dim)
        .map_or_else(|| format!("d{dim}"), |s| (*s).to_owned())
}

/// Mean distance over all ordered pairs of coordinates of one dimension, equal ones included.
fn mean_along(kind: LatticeKind, k: f64) -> f64 {
    match kind {
        LatticeKind::Mesh => (k * k - 1.0) / (3.0 * k),
        LatticeKind::HyperX => (k - 1.0) / k,
        LatticeKind::Torus if k % 2.0 == 0.0 => k / 4.0,
        LatticeKind::Torus => (k * k - 1.0) / (4.0 * k),
    }
}
