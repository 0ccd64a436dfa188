//! Bisection: the least number of cables between two halves of the nodes, by formula where one is known, else by a search.

use crate::topology::Topology;

/// Cables cut and how the number was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bisection {
    /// Cables between the halves; each carries traffic in both directions.
    pub cables: u64,
    /// Formula or search.
    pub method: BisectionMethod,
}

/// Where a bisection comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BisectionMethod {
    /// A known formula, with its source.
    Formula(&'static str),
    /// The best cut that a search found: an upper bound.
    Heuristic,
}

/// Routers up to which cuts are improved by exchanging routers.
const MOST_EXCHANGED: u32 = 4096;

impl Topology {
    /// The bisection. The search takes seconds for thousands of routers; formulas take no time.
    pub fn bisection(&self) -> Bisection {
        // Formulas are for whole networks.
        let whole = self.fallout().is_none();
        match Some(self.geometry.family())
            .filter(|_| whole)
            .and_then(|family| family.bisection(self.wiring()))
        {
            Some((cables, source)) => Bisection {
                cables,
                method: BisectionMethod::Formula(source),
            },
            None => Bisection {
                cables: self.search(),
                method: BisectionMethod::Heuristic,
            },
        }
    }

    /// Cuts along several orders of the routers, each improved by moving routers without nodes and exchanging others.
    fn search(&self) -> u64 {
        let n = self.n_routers();
        let mut least = u64::MAX;
        let starts = if n <= MOST_EXCHANGED { 8.min(n) } else { 1 };
        for s in 0..=starts {
            let order = if s == 0 {
                (0..n).collect()
            } else {
                self.breadth_first((s - 1) * (n / starts))
            };
            let mut side = self.halves(&order);
            self.improve(&mut side);
            least = least.min(self.cut(&side));
        }
        least
    }

    /// All routers, those that are joined with `root` first; what failures have parted from it follows.
    fn breadth_first(&self, root: u32) -> Vec<u32> {
        let n = self.n_routers();
        let mut seen = vec![false; n as usize];
        let mut order = Vec::with_capacity(n as usize);
        let is_new = |r: u32| !std::mem::replace(&mut seen[r as usize], true);
        let starts = std::iter::once(root).chain(0..n);
        self.wiring().breadth_first(starts, is_new, &mut order);
        order
    }

    /// The first routers in the order that together have half of the nodes, as nearly as whole routers allow.
    fn halves(&self, order: &[u32]) -> Vec<bool> {
        let half = self.n_nodes() / 2;
        let (mut side, mut have) = (vec![false; order.len()], 0);
        for &r in order {
            let nodes = self.wiring().nodes_of(r).len() as u32;
            if have + nodes <= half {
                side[r as usize] = true;
                have += nodes;
            }
        }
        side
    }

    fn cut(&self, side: &[bool]) -> u64 {
        let wiring = self.wiring();
        let crosses = |r: u32| {
            wiring
                .runs(r)
                .filter(|run| side[run.peer as usize] != side[r as usize])
                .map(|run| u64::from(run.links))
                .sum::<u64>()
        };
        (0..self.n_routers()).map(crosses).sum::<u64>() / 2
    }

    fn improve(&self, side: &mut [bool]) {
        let (n, wiring) = (self.n_routers(), self.wiring());
        let gain = |side: &[bool], r: u32| {
            let one = |run: crate::ParallelCables| {
                if side[run.peer as usize] == side[r as usize] {
                    -i64::from(run.links)
                } else {
                    i64::from(run.links)
                }
            };
            wiring.runs(r).map(one).sum::<i64>()
        };
        let free: Vec<u32> = (0..n).filter(|&r| wiring.nodes_of(r).is_empty()).collect();
        for _ in 0..if n <= MOST_EXCHANGED { n } else { 0 } {
            for &r in free.iter().chain(&free) {
                if gain(side, r) > 0 {
                    side[r as usize] = !side[r as usize];
                }
            }
            // Exchanges keep the halves equal, so only routers with equally many nodes change places.
            let mut best: Vec<(i64, u32, usize)> = (0..n)
                .filter(|&r| !wiring.nodes_of(r).is_empty())
                .map(|r| (-gain(side, r), r, wiring.nodes_of(r).len()))
                .collect();
            best.sort_unstable();
            let tied = |x: u32, y: u32| {
                wiring
                    .runs(x)
                    .filter(|run| run.peer == y)
                    .map(|run| i64::from(run.links))
                    .sum::<i64>()
            };
            let mut change = None;
            'search: for &(gx, x, nodes) in best.iter().filter(|b| side[b.1 as usize]).take(16) {
                for &(gy, y, _) in best.iter().filter(|b| !side[b.1 as usize] && b.2 == nodes).take(16) {
                    if -gx - gy - 2 * tied(x, y) > 0 {
                        change = Some((x, y));
                        break 'search;
                    }
                }
            }
            let Some((x, y)) = change else { break };
            side.swap(x as usize, y as usize);
        }
    }
}
