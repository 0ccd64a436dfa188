//! Orders of routers in which neighbours in number are neighbours in the network.
//!
//! A lattice is ordered anew for each cut, slowest along the dimension in which a cut crosses the fewest cables. Groups of a
//! dragonfly follow each other whole. A fat-tree's routers follow their leaves: the routers that root one subtree are dealt out evenly
//! over its leaves, so whoever gets a part of the leaves gets its share of what is above them, and a subtree's whole. Seen from the top
//! a fat-tree is made of trees as well: cut below a level, it falls apart into columns upwards. So each level may be the one from which
//! routers are dealt out by column over all leaves. Any other set of routers is taken breadth first from one that is far out.

use crate::fat_tree::FatTree;
use crate::grouped::Grouped;
use crate::inside::Inside;
use crate::lattice::{Kind, LatticeGeometry};
use crate::topology::{Geometry, Topology};

pub(super) enum Order<'a> {
    /// Best along the dimension that the cut asks for.
    Lattice(&'a LatticeGeometry),
    /// The same for every cut: the router's place in it.
    Fixed(Vec<u64>),
    /// The same for every cut, and whole groups stay together if they can: group and place within it, of 28 bits.
    Groups(Vec<u64>),
    /// From a router that is far out.
    BreadthFirst,
}

impl<'a> Order<'a> {
    /// What suits the family: the orders to try, at least one.
    pub(super) fn of(topology: &'a Topology) -> Vec<Self> {
        let routers = || 0..topology.n_routers();
        match &topology.geometry {
            Geometry::Single => vec![Order::Fixed(vec![0])],
            Geometry::Lattice(g) => vec![Order::Lattice(g)],
            Geometry::Grouped(g) => vec![Order::Groups(routers().map(|r| in_group(g, r)).collect())],
            Geometry::FatTree(g) => {
                let columns_from = |level| Order::Fixed(routers().map(|r| above_leaves(g, r, level)).collect());
                (1..g.height().max(2)).rev().map(columns_from).collect()
            }
            Geometry::Graph(_) => vec![Order::BreadthFirst],
        }
    }

    /// Puts a set of routers in order for a cut into shares of `parts.0` to `parts.1`. `place` is `u32::MAX` everywhere, before and after.
    pub(super) fn arrange(&self, topology: &Topology, routers: &mut [u32], parts: (u32, u32), place: &mut [u32]) {
        match self {
            Order::Lattice(g) => along_lattice(g, routers, parts),
            Order::Fixed(key) | Order::Groups(key) => routers.sort_unstable_by_key(|&r| (key[r as usize], r)),
            Order::BreadthFirst => breadth_first(topology, routers, place),
        }
    }

    /// Whether a cut between two routers that follow each other would part a group.
    pub(super) fn parts_group(&self, a: u32, b: u32) -> bool {
        matches!(self, Order::Groups(key) if key[a as usize] >> 28 == key[b as usize] >> 28)
    }
}

/// Parts of one: `(2 index + 1) / (2 count)`, the middle of the stretch that a number of `count` owns, in 2^-28.
fn middle(index: u32, count: u32) -> u64 {
    ((2 * u64::from(index) + 1) << 27) / u64::from(count)
}

/// Group by group; leaves and spines of a group each dealt out over it.
fn in_group(g: &Grouped, router: u32) -> u64 {
    let (group, i) = g.per_group.split(router);
    let inside = match g.inside {
        Inside::Grid { .. } => middle(i, g.inside.routers()),
        Inside::LeafSpine { leaves, .. } if i < leaves => middle(i, leaves),
        Inside::LeafSpine { leaves, spines } => middle(i - leaves, spines),
    };
    u64::from(group) << 28 | inside
}

/// The place of a router over the leaves, in 2^-28 of a leaf: of its subtree below level `columns` (from 0), of its column from there on.
fn above_leaves(g: &FatTree, router: u32, columns: usize) -> u64 {
    let (first, leaves, sibling, siblings) = if g.level_index(router).0 < columns {
        g.over_leaves(router)
    } else {
        let (column, of) = g.column(router, columns);
        (0, g.level_len(0), column, of)
    };
    (u64::from(first) << 28) + (u128::from(leaves) * u128::from(middle(sibling, siblings))) as u64
}

/// Slowest along the dimension in which this cut crosses the fewest cables, then along the next best.
fn along_lattice(g: &LatticeGeometry, routers: &mut [u32], parts: (u32, u32)) {
    let dims = g.dims.len();
    let mut bounds = vec![(u32::MAX, 0); dims];
    for &r in routers.iter() {
        for (d, (low, high)) in bounds.iter_mut().enumerate() {
            let c = g.coord(r, d);
            (*low, *high) = ((*low).min(c), (*high).max(c));
        }
    }
    let extent = |d: usize| f64::from(bounds[d].1 - bounds[d].0 + 1);
    let share = f64::from(parts.0) / f64::from(parts.0 + parts.1);
    // Cables that a cut across dimension `d` crosses in a box of `n` routers.
    let across = |d: usize, n: f64| {
        let (dim, e) = (&g.dims[d], extent(d));
        let lines = n / e * f64::from(dim.width);
        match g.kind {
            Kind::Mesh => lines,
            Kind::Torus if dim.size == bounds[d].1 - bounds[d].0 + 1 => 2.0 * lines,
            Kind::Torus => lines,
            Kind::HyperX => lines * e * share * e * (1.0 - share),
        }
    };
    let long: Vec<usize> = (0..dims).filter(|&d| extent(d) > 1.0).collect();
    let n = routers.len() as f64;
    let cost = |d: usize| {
        let ideal = extent(d) * share;
        let off = (ideal.round() - ideal).abs();
        // A cut that ends within a plane crosses that plane as well.
        let plane = if off * 20.0 <= ideal.min(extent(d) - ideal) {
            0.0
        } else {
            let others = long.iter().filter(|&&o| o != d).map(|&o| across(o, n / extent(d)));
            others.fold(f64::INFINITY, f64::min).min(n)
        };
        across(d, n) + plane
    };
    let mut order: Vec<(f64, usize)> = long.iter().map(|&d| (across(d, n), d)).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    // The later of equal dimensions is the slower one already.
    let Some(&first) = long.iter().rev().min_by(|&&a, &&b| cost(a).total_cmp(&cost(b))) else {
        return;
    };
    let by_cost = std::iter::once(first).chain(order.iter().map(|&(_, d)| d).filter(|&d| d != first));
    let strides: Vec<(usize, u64)> = by_cost
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .scan(1u64, |stride, d| {
            let mine = *stride;
            *stride *= u64::from(bounds[d].1 - bounds[d].0 + 1);
            Some((d, mine))
        })
        .collect();
    let key = |r: u32| {
        let place = |&(d, stride): &(usize, u64)| u64::from(g.coord(r, d) - bounds[d].0) * stride;
        strides.iter().map(place).sum::<u64>()
    };
    let mut keyed: Vec<u64> = routers.iter().map(|&r| key(r) << 32 | u64::from(r)).collect();
    keyed.sort_unstable();
    routers.iter_mut().zip(keyed).for_each(|(r, k)| *r = k as u32);
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
        for from in start.into_iter().chain(routers.iter().copied()) {
            if place[from as usize] == SEEN {
                continue;
            }
            place[from as usize] = SEEN;
            let mut head = order.len();
            order.push(from);
            while let Some(&r) = order.get(head) {
                head += 1;
                for run in topology.wiring().runs(r) {
                    if place[run.peer as usize] == HERE {
                        place[run.peer as usize] = SEEN;
                        order.push(run.peer);
                    }
                }
            }
        }
        start = order.last().copied();
    }
    routers.copy_from_slice(&order);
    routers.iter().for_each(|&r| place[r as usize] = u32::MAX);
}
