//! Rings, meshes, tori and HyperX: routers on an n-dimensional integer lattice. Numbering, ports and ways: `geometry`.

mod cuts;
mod geometry;

pub use geometry::Coordinates;
pub(crate) use geometry::{Direct, LatticeGeometry};

use super::{CutOrder, GraphFile, MeanDistance, NetworkFamily, not_mine, on_circle};
use crate::division::FastDiv;
use crate::hop::{Came, Hop, HopList};
use crate::problems::{MOST_DIMENSIONS, Problems};
use crate::spec::{FieldError, Lattice, RingSpec, TopologySpec};
use crate::wiring::Wiring;
use geometry::{LatticeKind, lines};

impl NetworkFamily for LatticeGeometry {
    fn build(spec: &TopologySpec, _file: &GraphFile<'_>) -> Result<(Self, Wiring), Vec<FieldError>> {
        match spec {
            TopologySpec::Ring(RingSpec {
                routers,
                width,
                nodes_per_router,
            }) => build_ring(*routers, *width, *nodes_per_router),
            TopologySpec::Mesh(lattice) => build_lattice(LatticeKind::Mesh, lattice),
            TopologySpec::Torus(lattice) => build_lattice(LatticeKind::Torus, lattice),
            TopologySpec::HyperX(lattice) => build_lattice(LatticeKind::HyperX, lattice),
            other => not_mine(other),
        }
    }

    fn reduce(spec: &mut TopologySpec) {
        match spec {
            TopologySpec::Ring(RingSpec {
                routers,
                width,
                nodes_per_router,
            }) => {
                *routers = short_ring(*routers);
                *width = (*width).min(2);
                *nodes_per_router = 1;
            }
            TopologySpec::Torus(lattice) => shrink(lattice, short_ring),
            TopologySpec::Mesh(lattice) | TopologySpec::HyperX(lattice) => shrink(lattice, |s| s.min(4)),
            other => not_mine(other),
        }
    }

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
    fn minimal(&self, _wiring: &Wiring, at: u32, node: u32, came: Came, _key: u32) -> Hop {
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
        let axis = |parity: usize| {
            let (mut place, mut extent) = (0u64, 1u64);
            for (i, d) in self.dims.iter().enumerate().filter(|(i, _)| i % 2 == parity) {
                let pitch = if extent == 1 { 1 } else { extent + 1 };
                place += u64::from(self.coord(router, i)) * pitch;
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

fn build_ring(routers: u32, width: u32, nodes: u32) -> Result<(LatticeGeometry, Wiring), Vec<FieldError>> {
    let mut problems = Problems::default();
    if routers < 3 {
        let counted = format!("{routers} {}", if routers == 1 { "router is" } else { "routers are" });
        problems.add(
            "routers",
            format!("{counted} too few, a ring needs at least 3"),
            Some("use a mesh or torus of shape [2] for two routers"),
        );
    }
    problems.at_least("width", width, 1);
    problems.at_least("nodes_per_router", nodes, 1);
    check_size(
        &mut problems,
        LatticeKind::Torus,
        &[routers],
        &[width],
        nodes,
        ["routers", "width"],
    );
    problems.done()?;
    let geometry = LatticeGeometry::new(LatticeKind::Torus, &[routers], &[width], nodes);
    let wiring = geometry.wire(vec!["host".into(), "ring".into()]);
    Ok((geometry, wiring))
}

fn build_lattice(kind: LatticeKind, lattice: &Lattice) -> Result<(LatticeGeometry, Wiring), Vec<FieldError>> {
    let mut problems = Problems::default();
    let Lattice {
        shape,
        width,
        nodes_per_router,
    } = lattice;
    if shape.is_empty() || shape.len() > MOST_DIMENSIONS {
        let reason = format!("{} dimensions, there must be 1 to {MOST_DIMENSIONS}", shape.len());
        problems.add("shape", reason, Some("for example shape = [8, 8, 8]"));
    }
    problems.all_at_least("shape", shape, 1);
    if !width.is_empty() && width.len() != shape.len() {
        let reason = format!("{} widths for {} dimensions", width.len(), shape.len());
        problems.add(
            "width",
            reason,
            Some("give one width per dimension, or none for single cables"),
        );
    }
    problems.all_at_least("width", width, 1);
    problems.at_least("nodes_per_router", *nodes_per_router, 1);
    check_size(&mut problems, kind, shape, width, *nodes_per_router, ["shape", "width"]);
    problems.done()?;
    let geometry = LatticeGeometry::new(kind, shape, width, *nodes_per_router);
    let classes = std::iter::once("host".to_owned())
        .chain((0..shape.len()).map(dimension_name))
        .collect();
    let wiring = geometry.wire(classes);
    Ok((geometry, wiring))
}

fn check_size(problems: &mut Problems, kind: LatticeKind, shape: &[u32], width: &[u32], nodes: u32, keys: [&str; 2]) {
    let routers = shape.iter().fold(1u64, |n, &s| n.saturating_mul(u64::from(s)));
    let one = |(i, &s): (usize, &u32)| u64::from(lines(kind, s.max(1))) * u64::from(*width.get(i).unwrap_or(&1));
    let ports = shape.iter().enumerate().map(one).fold(0u64, u64::saturating_add);
    problems.size(
        routers,
        routers.saturating_mul(ports),
        routers.saturating_mul(u64::from(nodes)),
        keys[0],
    );
    problems.radix(ports, 1, keys[1]);
}

/// Dimensions that keep more than one router in a small network.
const MOST_LONG: usize = 4;

/// Rings of 4 and 5 have all dependencies of longer even and odd rings: with ties, and without.
fn short_ring(size: u32) -> u32 {
    if size <= 5 { size } else { 4 + size % 2 }
}

fn shrink(lattice: &mut Lattice, size: impl Fn(u32) -> u32) {
    let mut kept = 0;
    for s in &mut lattice.shape {
        *s = if kept < MOST_LONG { size(*s) } else { 1 };
        kept += usize::from(*s > 1);
    }
    lattice.width.iter_mut().for_each(|w| *w = (*w).min(2));
    lattice.nodes_per_router = 1;
}

/// Name of a dimension: x, y, z, w, d4, d5, ...
fn dimension_name(dim: usize) -> String {
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
