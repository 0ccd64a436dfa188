//! The order of a lattice's routers for one cut.

use super::geometry::{LatticeGeometry, LatticeKind};

/// Slowest along the dimension in which this cut crosses the fewest cables, then along the next best.
pub(super) fn in_order(g: &LatticeGeometry, routers: &mut [u32], parts: (u32, u32)) {
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
            LatticeKind::Mesh => lines,
            LatticeKind::Torus if dim.size == bounds[d].1 - bounds[d].0 + 1 => 2.0 * lines,
            LatticeKind::Torus => lines,
            LatticeKind::HyperX => lines * e * share * e * (1.0 - share),
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
