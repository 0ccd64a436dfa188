//! A topology in figures, for reports and comparisons.

use crate::bisection::Bisection;
use crate::families::MeanDistance;
use crate::topology::Topology;

/// Pairs of routers whose distances are summed one by one before routers are sampled.
const MOST_PAIRS: u64 = 20_000_000;

/// Figures of a topology.
#[derive(Clone, Debug, PartialEq)]
pub struct Metrics {
    /// Routers.
    pub routers: u32,
    /// Nodes.
    pub nodes: u32,
    /// Cables per link class, `host` first; unused classes with 0.
    pub cables: Vec<(String, u64)>,
    /// Most ports on one router, nodes included.
    pub radix: u32,
    /// Most router hops between two routers.
    pub diameter: u32,
    /// Mean router hops over ordered pairs of different nodes; 0 for a single node.
    pub mean_distance: f64,
    /// Source routers that the mean was sampled from, evenly spread; `None` if it is exact.
    pub sampled_sources: Option<u32>,
    /// Cables between two halves.
    pub bisection: Bisection,
}

impl Topology {
    /// All figures. Linear for lattices and fat-trees of any size, except where a bisection has to be searched for.
    pub fn metrics(&self) -> Metrics {
        let wiring = self.wiring();
        let mut count = vec![0u64; wiring.class_names.len()];
        wiring.class.iter().for_each(|&c| count[usize::from(c)] += 1);
        count.iter_mut().for_each(|c| *c /= 2);
        count[0] = u64::from(self.n_nodes());
        let (mean_distance, sampled_sources) = self.mean_distance();
        Metrics {
            routers: self.n_routers(),
            nodes: self.n_nodes(),
            cables: wiring.class_names.iter().cloned().zip(count).collect(),
            radix: (0..self.n_routers())
                .map(|r| wiring.radix(r) + wiring.nodes_of(r).len() as u32)
                .max()
                .unwrap_or(0),
            diameter: self.diameter(),
            mean_distance,
            sampled_sources,
            bisection: self.bisection(),
        }
    }

    /// Mean router hops over ordered pairs of different nodes, and the number of source routers if they were sampled.
    pub fn mean_distance(&self) -> (f64, Option<u32>) {
        let nodes = f64::from(self.n_nodes());
        if self.n_nodes() < 2 {
            return (0.0, None);
        }
        let known = self.geometry.family().mean_distance();
        if let MeanDistance::OfRouters(mean_over_all_pairs) = known {
            let routers = f64::from(self.n_routers());
            let per_router = nodes / routers;
            return (
                mean_over_all_pairs * routers * routers * per_router * per_router / (nodes * (nodes - 1.0)),
                None,
            );
        }
        let wiring = self.wiring();
        let weight = |r: u32| wiring.nodes_of(r).len() as f64;
        let ends: Vec<u32> = (0..self.n_routers()).filter(|&r| weight(r) > 0.0).collect();
        // Whom failures have parted has no distance.
        let from_one = |a: u32| {
            let joined = ends.iter().filter(|&&b| self.are_joined(a, b));
            joined.fold((0.0, 0.0), |(sum, weights), &b| {
                (sum + weight(b) * f64::from(self.distance(a, b)), weights + weight(b))
            })
        };
        if let MeanDistance::SameFromAll = known {
            return (from_one(ends[0]).0 / (nodes - 1.0), None);
        }
        let sources = (MOST_PAIRS / ends.len() as u64).clamp(1, ends.len() as u64);
        let chosen = (0..sources).map(|k| ends[(k * ends.len() as u64 / sources) as usize]);
        let (sum, pairs) = chosen.fold((0.0, 0.0), |(sum, pairs), a| {
            let (distances, reached) = from_one(a);
            (sum + weight(a) * distances, pairs + weight(a) * (reached - 1.0))
        });
        (
            if pairs > 0.0 { sum / pairs } else { 0.0 },
            (sources < ends.len() as u64).then_some(sources as u32),
        )
    }
}
