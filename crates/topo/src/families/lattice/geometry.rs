//! Rings, meshes, tori and HyperX: routers on an n-dimensional integer lattice.
//!
//! Router id = x + X * (y + Y * (z + ...)): the first dimension runs fastest. Each router's coordinates are packed into one `u64`,
//! each dimension with just the bits it needs (28 bits of routers plus at most one bit per dimension always fit), so the first
//! dimension in which two routers differ is one exclusive-or and one count of trailing zeros.
//!
//! Ports, dimension by dimension, `w` parallel cables each:
//! torus and ring: `w` cables in positive direction, then `w` in negative direction (also for a dimension of two routers, which
//! therefore has two distinct cables); mesh: the same without what the border lacks; HyperX: `w` cables to each other coordinate
//! in rising order. A dimension of one router has no ports.
//!
//! Minimal routing is dimension order. On rings and tori it goes the shorter way, ties to the positive direction (or as [`Tie`] says), on VC 0 until the
//! link that wraps around and on VC 1 from that link on, and starts at VC 0 again in each dimension (Dally & Seitz 1987).

use crate::division::FastDiv;
use crate::hop::{Came, DimensionPorts, Hop, HopList};
use crate::wiring::Wiring;
use std::ops::Range;
use std::sync::Arc;
use study::choice;

choice! {
    /// Which way a packet goes half-way round a ring, where both are equally long.
    #[derive(Default)]
    pub enum Tie {
        #[default]
        Positive = "positive", "The positive direction.";
        Unwrapped = "unwrapped", "The way that does not cross the wrap-around link.";
        Split = "split", "Half of all pairs each way: by the router where the packet turns into the ring, even or odd, and by the other coordinates of its destination; in a dimension of two routers packets take all cables in turn.";
    }
}

/// What joins the routers of one line of the lattice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LatticeKind {
    Mesh,
    Torus,
    HyperX,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Dimension {
    pub(crate) size: u32,
    pub(crate) stride: u32,
    mask: u32,
    /// The bits of packed coordinates that belong to other dimensions.
    others: u64,
    shift: u8,
    /// Its number.
    dim: u8,
    pub(crate) width: u16,
    /// First port of this dimension; of a mesh, if nothing were missing at the border.
    base: u16,
}

impl Dimension {
    /// The coordinate along this dimension out of packed ones.
    #[inline(always)]
    fn of(&self, packed: u64) -> u32 {
        (packed >> self.shift) as u32 & self.mask
    }

    /// From coordinate `c` of two on a torus to the other one, by any cable of either direction.
    fn both_ways(&self, c: u32) -> Hop {
        Hop {
            port: self.base,
            links: 2 * self.width,
            dim: self.dim,
            vc: u8::from(c == 1),
        }
    }
}

/// Where a router of a HyperX is; routers of other networks are all alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coordinates(u64);

/// Packed coordinates of all routers: a table of those of small networks, which stays in the caches. Of large ones they are worked out: a
/// packet's destination is any router, so that its entry would have to come from memory at every hop.
#[derive(Clone, Debug)]
struct PackedCoordinates {
    routers: u32,
    table: Arc<[u64]>,
    /// The size of each dimension but the last, and where its coordinate begins.
    steps: Arc<[(FastDiv, u8)]>,
    /// Where that of the last one begins.
    last: u8,
}

/// Routers whose packed coordinates are kept in a table (128 kB).
const MOST_IN_TABLE: u32 = 1 << 14;

impl PackedCoordinates {
    /// Of a lattice with these dimensions.
    fn new(dims: &[Dimension]) -> PackedCoordinates {
        let (last, first) = dims
            .split_last()
            .map_or((0, &[][..]), |(last, first)| (last.shift, first));
        let mut packed = PackedCoordinates {
            routers: dims.iter().map(|d| d.size).product(),
            table: Arc::default(),
            steps: first.iter().map(|d| (FastDiv::new(d.size), d.shift)).collect(),
            last,
        };
        if packed.routers <= MOST_IN_TABLE {
            packed.table = (0..packed.routers).map(|router| packed.work_out(router)).collect();
        }
        packed
    }

    #[inline(always)]
    fn of(&self, router: u32) -> u64 {
        match self.table.get(router as usize) {
            Some(&packed) => packed,
            None => self.work_out(router),
        }
    }

    #[inline]
    fn work_out(&self, router: u32) -> u64 {
        let (mut rest, mut packed) = (router, 0);
        for &(size, shift) in &*self.steps {
            let (further, c) = size.split(rest);
            packed |= u64::from(c) << shift;
            rest = further;
        }
        packed | u64::from(rest) << self.last
    }
}

/// Dimension order on a HyperX, in the fewest instructions: it is asked at every hop.
#[derive(Clone, Debug)]
pub(crate) struct Direct {
    nodes_per_router: FastDiv,
    packed: PackedCoordinates,
    dim_of_bit: Arc<[Dimension; 64]>,
}

impl Direct {
    #[inline(always)]
    pub(crate) fn at(&self, router: u32) -> Coordinates {
        Coordinates(self.packed.of(router))
    }

    #[inline(always)]
    pub(crate) fn of_node(&self, node: u32) -> Coordinates {
        self.at(self.nodes_per_router.div(node))
    }

    /// First port and number of cables; `None` at the router itself.
    #[inline(always)]
    pub(crate) fn hop(&self, Coordinates(from): Coordinates, Coordinates(to): Coordinates) -> Option<(u32, u32)> {
        let differ = from ^ to;
        if differ == 0 {
            return None;
        }
        let d = &self.dim_of_bit[differ.trailing_zeros() as usize];
        let (c, t, width) = (d.of(from), d.of(to), u32::from(d.width));
        Some((u32::from(d.base) + (t - u32::from(t > c)) * width, width))
    }

    #[inline]
    pub(crate) fn distance(&self, Coordinates(a): Coordinates, Coordinates(b): Coordinates) -> u32 {
        n_differ(&self.dim_of_bit, a ^ b)
    }
}

/// The number of dimensions with a bit in `differ`, the exclusive-or of two packed coordinates.
#[inline]
fn n_differ(dim_of_bit: &[Dimension; 64], mut differ: u64) -> u32 {
    let mut n = 0;
    while differ != 0 {
        differ &= dim_of_bit[differ.trailing_zeros() as usize].others;
        n += 1;
    }
    n
}

/// Coordinates and port arithmetic of a lattice.
#[derive(Clone, Debug)]
pub(crate) struct LatticeGeometry {
    pub(super) kind: LatticeKind,
    pub(super) dims: Vec<Dimension>,
    packed: PackedCoordinates,
    /// The dimension that each bit of packed coordinates belongs to.
    dim_of_bit: Arc<[Dimension; 64]>,
    /// Which way packets take that go half-way round a ring.
    pub(crate) tie: Tie,
    pub(crate) nodes_per_router: FastDiv,
}

impl LatticeGeometry {
    /// Lays out a validated lattice: sizes and widths at least 1, at most 2^26 routers, at most 65,534 ports per router.
    pub(super) fn new(kind: LatticeKind, shape: &[u32], width: &[u32], nodes_per_router: u32) -> Self {
        let (mut shift, mut stride, mut base) = (0u32, 1u32, 0u32);
        let mut dim_of_bit = [Dimension::default(); 64];
        let mut dims = Vec::with_capacity(shape.len());
        for (d, &size) in shape.iter().enumerate() {
            let w = width.get(d).copied().unwrap_or(1);
            let bits = u32::BITS - (size - 1).leading_zeros();
            let mask = ((1u64 << bits) - 1) as u32;
            let dimension = Dimension {
                size,
                stride,
                mask,
                others: !(u64::from(mask) << (shift % 64)),
                shift: shift as u8,
                dim: d as u8,
                width: w as u16,
                base: base as u16,
            };
            dim_of_bit[shift as usize..(shift + bits) as usize].fill(dimension);
            dims.push(dimension);
            base += lines(kind, size) * w;
            shift += bits;
            stride *= size;
        }
        let packed = PackedCoordinates::new(&dims);
        Self {
            kind,
            dims,
            packed,
            dim_of_bit: Arc::new(dim_of_bit),
            tie: Tie::Positive,
            nodes_per_router: FastDiv::new(nodes_per_router),
        }
    }

    pub(crate) fn wire(&self, class_names: Vec<String>) -> Wiring {
        let n = self.packed.routers as usize;
        let nodes = self.nodes_per_router.divisor();
        let mut wiring = Wiring::start(class_names, n, n * self.most_ports() as usize, n * nodes as usize);
        for r in 0..n as u32 {
            self.see_cables(r, |peer, port, class| wiring.push_port(peer, port, class));
            wiring.finish_router(nodes);
        }
        wiring
    }

    /// Shows where the ports of a router lead to, in their order: router, port there, class.
    pub(crate) fn see_cables(&self, r: u32, mut see: impl FnMut(u32, u16, u8)) {
        for (i, d) in self.dims.iter().enumerate().filter(|(_, d)| d.size > 1) {
            self.see_dimension(r, i, d, &mut see);
        }
    }

    fn see_dimension(&self, r: u32, i: usize, d: &Dimension, see: &mut impl FnMut(u32, u16, u8)) {
        let (c, last, class) = (self.coord(r, i), d.size - 1, i as u8 + 1);
        let mut cables = |peer: u32, first: u16| (0..d.width).for_each(|k| see(peer, first + k, class));
        match self.kind {
            LatticeKind::Torus => {
                cables(
                    if c == last { r - last * d.stride } else { r + d.stride },
                    d.base + d.width,
                );
                cables(if c == 0 { r + last * d.stride } else { r - d.stride }, d.base);
            }
            LatticeKind::Mesh => {
                let base = self.mesh_base(r, i);
                if c < last {
                    let its_minus = base + if c + 1 < last { d.width } else { 0 };
                    cables(r + d.stride, its_minus);
                }
                if c > 0 {
                    cables(r - d.stride, base);
                }
            }
            LatticeKind::HyperX => {
                let line = r - c * d.stride;
                for t in (0..d.size).filter(|&t| t != c) {
                    cables(line + t * d.stride, d.base + d.width * (c - u32::from(c > t)) as u16);
                }
            }
        }
    }

    /// Number of routers.
    pub(crate) fn n_routers(&self) -> u32 {
        self.packed.routers
    }

    /// Number of nodes.
    pub(crate) fn n_nodes(&self) -> u32 {
        self.n_routers() * self.nodes_per_router.divisor()
    }

    /// Nodes of a router.
    pub(crate) fn nodes_of(&self, router: u32) -> Range<u32> {
        let nodes = self.nodes_per_router.divisor();
        router * nodes..(router + 1) * nodes
    }

    /// Ports of a router.
    pub(crate) fn radix(&self, router: u32) -> u32 {
        match self.kind {
            LatticeKind::Mesh => self.mesh_base(router, self.dims.len()).into(),
            LatticeKind::Torus | LatticeKind::HyperX => self.most_ports(),
        }
    }

    /// Ports of the router that has most.
    fn most_ports(&self) -> u32 {
        let ports = |d: &Dimension| lines(self.kind, d.size) * u32::from(d.width);
        self.dims.iter().map(ports).sum()
    }

    /// Neighbours of a router of a mesh along a dimension.
    fn lines_at(&self, router: u32, dim: usize) -> u32 {
        let c = self.coord(router, dim);
        u32::from(c > 0) + u32::from(c + 1 < self.dims[dim].size)
    }

    /// Number of dimensions.
    pub(crate) fn n_dims(&self) -> usize {
        self.dims.len()
    }

    /// Coordinate of a router along a dimension.
    #[inline]
    pub(crate) fn coord(&self, router: u32, dim: usize) -> u32 {
        self.dims[dim].of(self.packed.of(router))
    }

    /// First port of a dimension at this router of a mesh.
    fn mesh_base(&self, router: u32, dim: usize) -> u16 {
        let there = |i: usize| self.lines_at(router, i) as u16 * self.dims[i].width;
        (0..dim).map(there).sum()
    }

    #[inline]
    fn along(&self, d: &Dimension, a: u32, b: u32) -> u32 {
        let apart = a.abs_diff(b);
        match self.kind {
            LatticeKind::Mesh => apart,
            LatticeKind::Torus => apart.min(d.size - apart),
            LatticeKind::HyperX => u32::from(apart != 0),
        }
    }

    #[inline]
    pub(crate) fn distance(&self, a: u32, b: u32) -> u32 {
        let (pa, pb) = (self.packed.of(a), self.packed.of(b));
        if self.kind == LatticeKind::HyperX {
            return n_differ(&self.dim_of_bit, pa ^ pb);
        }
        // From one dimension in which they differ to the next: a sum over all would be made one of vectors, which two or three are too few for.
        let (mut sum, mut differ) = (0, pa ^ pb);
        while differ != 0 {
            let d = &self.dim_of_bit[differ.trailing_zeros() as usize];
            sum += self.along(d, d.of(pa), d.of(pb));
            differ &= d.others;
        }
        sum
    }

    pub(crate) fn diameter(&self) -> u32 {
        let one = |d: &Dimension| match self.kind {
            LatticeKind::Mesh => d.size - 1,
            LatticeKind::Torus => d.size / 2,
            LatticeKind::HyperX => u32::from(d.size > 1),
        };
        self.dims.iter().map(one).sum()
    }

    /// The direct ways of a HyperX; `None` on other lattices.
    pub(crate) fn direct(&self) -> Option<Direct> {
        (self.kind == LatticeKind::HyperX).then(|| Direct {
            nodes_per_router: self.nodes_per_router,
            packed: self.packed.clone(),
            dim_of_bit: self.dim_of_bit.clone(),
        })
    }

    /// `true` where [`LatticeGeometry::minimal`] depends on the two routers alone and has one cable to take.
    pub(crate) fn goes_by_place(&self) -> bool {
        self.kind != LatticeKind::Torus && self.has_one_port_by_place()
    }

    /// `true` where that holds but for the channel.
    pub(crate) fn has_one_port_by_place(&self) -> bool {
        let may_take_both = |d: &Dimension| self.kind == LatticeKind::Torus && self.tie == Tie::Split && d.size == 2;
        self.dims.iter().all(|d| d.width == 1 && !may_take_both(d))
    }

    /// Dimension order; see the module's description for directions and VCs.
    #[inline]
    pub(crate) fn minimal(&self, at: u32, to: u32, came: Came) -> Hop {
        let (pa, pt) = (self.packed.of(at), self.packed.of(to));
        let differ = pa ^ pt;
        if differ == 0 {
            return Hop::EJECT;
        }
        let d = &self.dim_of_bit[differ.trailing_zeros() as usize];
        self.step((at, pt), d, d.of(pa), d.of(pt), came)
    }

    /// The step of [`Self::minimal`] along one of the dimensions in which two routers differ: number `pick(n)` of those `n`.
    #[inline]
    pub(crate) fn minimal_along(&self, at: u32, to: u32, came: Came, pick: impl FnOnce(u32) -> u32) -> Hop {
        let (pa, pt) = (self.packed.of(at), self.packed.of(to));
        let differs = |d: &&Dimension| d.of(pa) != d.of(pt);
        let n = self.dims.iter().filter(differs).count() as u32;
        if n == 0 {
            return Hop::EJECT;
        }
        match self.dims.iter().filter(differs).nth(pick(n) as usize) {
            Some(d) => self.step((at, pt), d, d.of(pa), d.of(pt), came),
            None => Hop::EJECT,
        }
    }

    /// One step from a router to packed coordinates along a dimension, from coordinate `c` towards another one `t`.
    #[inline]
    fn step(&self, (at, to): (u32, u64), d: &Dimension, c: u32, t: u32, came: Came) -> Hop {
        let dim = d.dim;
        match self.kind {
            LatticeKind::HyperX => {
                let line = (t - u32::from(t > c)) as u16;
                Hop {
                    port: d.base + line * d.width,
                    links: d.width,
                    dim,
                    vc: 0,
                }
            }
            LatticeKind::Torus if self.tie == Tie::Split && d.size == 2 => d.both_ways(c),
            LatticeKind::Torus => {
                // Without branches: the direction of a random packet cannot be predicted.
                let ahead = t.wrapping_sub(c).wrapping_add(d.size & u32::from(t < c).wrapping_neg());
                let tie = match self.tie {
                    Tie::Positive => 0,
                    Tie::Unwrapped => u32::from(t < c),
                    Tie::Split => (c ^ (to & d.others).count_ones()) & 1,
                };
                let positive = u16::from(2 * ahead + tie <= d.size);
                let (out, back) = (d.base + (1 - positive) * d.width, d.base + positive * d.width);
                let wraps = u8::from(c == u32::from(positive).wrapping_neg() & (d.size - 1));
                let straight = u8::from(came.port.wrapping_sub(back) < d.width);
                Hop {
                    port: out,
                    links: d.width,
                    dim,
                    vc: wraps | (straight & came.vc),
                }
            }
            LatticeKind::Mesh => {
                let base = self.mesh_base(at, usize::from(dim));
                let port = if t > c || c + 1 == d.size { base } else { base + d.width };
                Hop {
                    port,
                    links: d.width,
                    dim,
                    vc: 0,
                }
            }
        }
    }

    pub(crate) fn minimal_hops(&self, at: u32, to: u32, out: &mut HopList) {
        for (i, d) in self.dims.iter().enumerate() {
            let (c, t) = (self.coord(at, i), self.coord(to, i));
            if c == t {
                continue;
            }
            let dim = i as u8;
            match self.kind {
                LatticeKind::HyperX => {
                    let line = (t - u32::from(t > c)) as u16;
                    out.push(Hop {
                        port: d.base + line * d.width,
                        links: d.width,
                        dim,
                        vc: 0,
                    });
                }
                LatticeKind::Torus if d.size == 2 => out.push(d.both_ways(c)),
                LatticeKind::Torus => {
                    let ahead = if t >= c { t - c } else { t + d.size - c };
                    if 2 * ahead <= d.size {
                        out.push(Hop {
                            port: d.base,
                            links: d.width,
                            dim,
                            vc: u8::from(c + 1 == d.size),
                        });
                    }
                    if 2 * ahead >= d.size {
                        out.push(Hop {
                            port: d.base + d.width,
                            links: d.width,
                            dim,
                            vc: u8::from(c == 0),
                        });
                    }
                }
                LatticeKind::Mesh => {
                    let base = self.mesh_base(at, i);
                    let port = if t > c || c + 1 == d.size { base } else { base + d.width };
                    out.push(Hop {
                        port,
                        links: d.width,
                        dim,
                        vc: 0,
                    });
                }
            }
        }
    }

    /// Whether a port of this dimension of a mesh, ring or torus leads in its positive direction.
    pub(super) fn is_positive(&self, router: u32, port: u16, dim: u8) -> bool {
        let d = &self.dims[usize::from(dim)];
        match self.kind {
            LatticeKind::Torus | LatticeKind::HyperX => port < d.base + d.width,
            LatticeKind::Mesh => {
                let ahead = d.of(self.packed.of(router)) + 1 < d.size;
                ahead && port < self.mesh_base(router, usize::from(dim)) + d.width
            }
        }
    }

    /// Routers along each dimension.
    pub(crate) fn shape(&self) -> Vec<u32> {
        self.dims.iter().map(|dimension| dimension.size).collect()
    }

    /// The ports of a dimension of a HyperX.
    pub(crate) fn line(&self, dim: usize) -> Option<DimensionPorts> {
        let d = self.dims.get(dim).filter(|_| self.kind == LatticeKind::HyperX)?;
        Some(DimensionPorts {
            first: d.base,
            links: d.width,
            neighbours: (d.size - 1) as u16,
            dim: d.dim,
        })
    }

    /// VCs of dimension order: two where a packet can wrap around and go on, that is on a ring of at least four.
    ///
    /// A ring of up to three routers is crossed in one hop and has no dependencies, but `minimal` marks its wrap links with VC 1
    /// all the same, so every torus with a dimension larger than one states 2.
    pub(crate) fn minimal_vcs(&self) -> u8 {
        if self.kind == LatticeKind::Torus && self.dims.iter().any(|d| d.size > 1) {
            2
        } else {
            1
        }
    }

    /// The router `by` steps along a dimension, around the end where there is one.
    pub(crate) fn shifted(&self, router: u32, dim: usize, by: i64) -> Option<u32> {
        let d = self.dims.get(dim)?;
        let c = self.coord(router, dim);
        let t = (i64::from(c) + by.rem_euclid(i64::from(d.size))) % i64::from(d.size);
        Some(router - c * d.stride + t as u32 * d.stride)
    }

    /// Dimension and direction (`+`, `-`, or the other coordinate) and cable number of a port.
    pub(crate) fn describe(&self, router: u32, port: u16) -> Option<(usize, String, u16)> {
        for (i, d) in self.dims.iter().enumerate().filter(|(_, d)| d.size > 1) {
            let c = self.coord(router, i);
            let base = if self.kind == LatticeKind::Mesh {
                self.mesh_base(router, i)
            } else {
                d.base
            };
            let signs: &[&str] = match self.kind {
                LatticeKind::Mesh if c == 0 => &["+"],
                LatticeKind::Mesh if c + 1 == d.size => &["-"],
                _ => &["+", "-"],
            };
            let n_lines = if self.kind == LatticeKind::HyperX {
                d.size - 1
            } else {
                signs.len() as u32
            };
            let offset = u32::from(port.checked_sub(base)?);
            if offset < n_lines * u32::from(d.width) {
                let line = offset / u32::from(d.width);
                let way = match self.kind {
                    LatticeKind::HyperX => format!("={}", line + u32::from(line >= c)),
                    _ => signs[line as usize].to_string(),
                };
                return Some((i, way, (offset % u32::from(d.width)) as u16));
            }
        }
        None
    }
}

/// Neighbours along one dimension, border effects of the mesh left out.
pub(super) fn lines(kind: LatticeKind, size: u32) -> u32 {
    match (kind, size) {
        (_, 1) => 0,
        (LatticeKind::HyperX, _) => size - 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_the_same_from_a_table_and_worked_out() {
        // The first has a table, the others do not; a dimension of one router has no bits.
        for shape in [&[5, 1, 7, 2][..], &[27, 26, 25], &[3, 6_007], &[1, 20_011, 1]] {
            let lattice = LatticeGeometry::new(LatticeKind::Torus, shape, &[], 1);
            let routers = shape.iter().product::<u32>();
            assert_eq!(lattice.packed.table.is_empty(), routers > MOST_IN_TABLE);
            let mut expected = vec![0; shape.len()];
            for router in 0..routers {
                let found: Vec<u32> = (0..shape.len()).map(|dim| lattice.coord(router, dim)).collect();
                assert_eq!(found, expected, "router {router} of {shape:?}");
                for (c, &size) in expected.iter_mut().zip(shape) {
                    *c = (*c + 1) % size;
                    if *c > 0 {
                        break;
                    }
                }
            }
        }
    }
}
