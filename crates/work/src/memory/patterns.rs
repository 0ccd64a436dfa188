//! What the cores of memory nodes ask for: the accesses of every core as a function of its number, or from a list.

use super::shape::Shape;
use super::trace::Trace;
use crate::memory::spec::{AccessPattern, ListedAccess, Memory};
use crate::motif::Grid;
use des::rng::{below, unit};
use des::{Philox2, mix};

/// Stream of random numbers of accesses.
const ACCESSES: u64 = 4;

/// What an access asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The line.
    pub line: u64,
    /// Whether it writes.
    pub store: bool,
    /// It is not given out before (ps).
    pub at: u64,
}

/// The accesses of all cores. Cores have numbers through all nodes, and each a part of the address space of its own.
#[derive(Debug)]
pub struct Accesses {
    pattern: Pattern,
    /// Accesses of a core, where nothing else says it.
    each: u64,
    /// Lines of the address space.
    lines: u64,
    /// Cores in all.
    cores: u64,
    /// Probability that an access writes.
    stores: f64,
    draws: Philox2,
}

/// A pattern with what is worked out beforehand.
#[derive(Debug)]
enum Pattern {
    Random,
    Gups,
    /// Steps and lines in bytes.
    Walk {
        step: u64,
        line: u64,
    },
    HotSpot {
        lines: u64,
        fraction: f64,
    },
    Stencil {
        grid: Grid<2>,
        edge: u64,
    },
    ProducerConsumer {
        lines: u64,
        distance: u64,
    },
    /// Accesses core by core, and where those of each core begin.
    Listed {
        all: Vec<Wanted>,
        begins: Vec<u32>,
    },
    /// What programs did.
    Trace(Trace),
}

impl Accesses {
    /// The accesses of a job; the reason if they cannot be.
    pub fn new(spec: &Memory, shape: &Shape, job: u32, seed: u64) -> Result<Accesses, String> {
        let cores = u64::from(shape.nodes) * u64::from(shape.cores);
        let lines = shape.all_lines();
        let own = lines / cores;
        let fits = |asked: u64| match asked <= own {
            true => Ok(()),
            false => Err(format!("{asked} lines of every core do not fit into its {own}")),
        };
        let line = spec.line.0;
        let pattern = match &spec.pattern {
            AccessPattern::Random | AccessPattern::PointerChase => Pattern::Random,
            AccessPattern::Gups => Pattern::Gups,
            AccessPattern::Stream => Pattern::Walk { step: 8, line },
            AccessPattern::Stride { stride } => Pattern::Walk { step: stride.0, line },
            &AccessPattern::HotSpot { lines: hot, fraction } => Pattern::HotSpot {
                lines: hot.min(lines),
                fraction,
            },
            &AccessPattern::Stencil { grid, edge } => {
                fits(edge.saturating_mul(4))?;
                Pattern::Stencil {
                    grid: stencil_grid(cores, grid)?,
                    edge,
                }
            }
            &AccessPattern::ProducerConsumer { lines, distance } => {
                let distance = u64::from(distance);
                fits(lines)?;
                if distance >= cores {
                    return Err(format!("no core of {cores} has a consumer {distance} cores away"));
                }
                Pattern::ProducerConsumer { lines, distance }
            }
            AccessPattern::Listed(accesses) => listed(accesses, cores, lines)?,
            AccessPattern::Trace(trace) => Pattern::Trace(Trace::open(trace, spec, shape.nodes)?),
        };
        Ok(Accesses {
            pattern,
            each: spec.accesses,
            lines,
            cores,
            stores: spec.stores,
            draws: Philox2::new(mix(seed ^ u64::from(job)), ACCESSES),
        })
    }

    /// How many accesses a core has.
    pub fn count(&self, core: u64) -> u64 {
        match &self.pattern {
            Pattern::Listed { begins, .. } => u64::from(begins[core as usize + 1] - begins[core as usize]),
            Pattern::Trace(trace) => trace.accesses(core),
            // The last cores may have nobody to read what they would write.
            Pattern::ProducerConsumer { distance, .. }
                if (core / distance).is_multiple_of(2) && core + distance >= self.cores =>
            {
                0
            }
            _ => self.each,
        }
    }

    /// Least time between access `k` of a core and the one before it (ps), where the pattern says it.
    pub fn pause(&self, core: u64, k: u64) -> Option<u64> {
        match &self.pattern {
            Pattern::Trace(trace) => Some(trace.pause(core, k)),
            _ => None,
        }
    }

    /// The first line of a core's own part of the address space.
    fn begin(&self, core: u64) -> u64 {
        (u128::from(core) * u128::from(self.lines) / u128::from(self.cores)) as u64
    }

    /// Access `k` of a core.
    pub fn get(&self, core: u64, k: u64) -> Wanted {
        let (line, store) = match &self.pattern {
            Pattern::Listed { all, begins } => return all[begins[core as usize] as usize + k as usize],
            Pattern::Trace(trace) => return trace.access(core, k),
            Pattern::Stencil { grid, edge } => self.stencil(grid, *edge, core, k),
            Pattern::ProducerConsumer { lines, distance } => {
                let writes = (core / distance).is_multiple_of(2);
                let producer = if writes { core } else { core - distance };
                (self.begin(producer) + k % lines, writes)
            }
            drawn => self.drawn(drawn, core, k),
        };
        Wanted { line, store, at: 0 }
    }

    /// Patterns some of whose accesses write, at random.
    fn drawn(&self, pattern: &Pattern, core: u64, k: u64) -> (u64, bool) {
        let words = self.draws.draw(core, k);
        let store = self.stores > 0.0 && unit(words[1]) < self.stores;
        match *pattern {
            Pattern::Gups => (below(self.draws.draw(core, k / 2)[0], self.lines), k % 2 == 1),
            Pattern::Walk { step, line } => {
                let offset = (u128::from(k) * u128::from(step) / u128::from(line)) as u64;
                ((self.begin(core) + offset % self.lines) % self.lines, store)
            }
            Pattern::HotSpot { lines, fraction } => {
                // The second word's other half: independent of whether it writes.
                let is_hot = unit(words[1].rotate_left(32)) < fraction;
                (below(words[0], if is_hot { lines } else { self.lines }), store)
            }
            _ => (below(words[0], self.lines), store),
        }
    }

    /// A core has an edge of lines on every side of its block (left, right, down, up). Round by round it reads the edges of its four
    /// neighbours that lie towards it, in this order, and writes its own.
    fn stencil(&self, grid: &Grid<2>, edge: u64, core: u64, k: u64) -> (u64, bool) {
        let (step, line) = (k % (8 * edge) / edge, k % edge);
        if step >= 4 {
            return (self.begin(core) + (step - 4) * edge + line, true);
        }
        let (dimension, up) = (step as usize / 2, step % 2 == 1);
        let (sides, mut place) = (grid.sides(), grid.place(core as u32));
        let by = if up { 1 } else { sides[dimension] - 1 };
        place[dimension] = (place[dimension] + by) % sides[dimension];
        let neighbour = u64::from(place[1]) * u64::from(sides[0]) + u64::from(place[0]);
        (self.begin(neighbour) + (step ^ 1) * edge + line, false)
    }
}

/// The grid of a stencil: as given, or as square as can be.
fn stencil_grid(cores: u64, given: Option<[u32; 2]>) -> Result<Grid<2>, String> {
    let cores = u32::try_from(cores).map_err(|_| format!("{cores} cores are too many for a grid"))?;
    let product = given.map_or(u64::from(cores), |[x, y]| u64::from(x) * u64::from(y));
    if product != u64::from(cores) {
        return Err(format!("a grid of {product} cores is not one of all {cores}"));
    }
    Grid::new(cores, given).map_err(|misfit| misfit.reason)
}

/// Listed accesses, by core in the order of the list.
fn listed(accesses: &[ListedAccess], cores: u64, lines: u64) -> Result<Pattern, String> {
    if accesses.len() >= u32::MAX as usize {
        return Err(format!("{} accesses are more than 2^32 - 2", accesses.len()));
    }
    let is_there = |access: &ListedAccess| u64::from(access.core) < cores && access.line < lines;
    if let Some(i) = accesses.iter().position(|access| !is_there(access)) {
        let ListedAccess { core, line, .. } = accesses[i];
        return Err(format!(
            "access {i} of the list is one of core {core} to line {line}: there are {cores} cores and {lines} lines"
        ));
    }
    let mut begins = vec![0; cores as usize + 1];
    accesses.iter().for_each(|access| begins[access.core as usize + 1] += 1);
    (0..cores as usize).for_each(|core| begins[core + 1] += begins[core]);
    let mut order: Vec<_> = accesses.iter().collect();
    order.sort_by_key(|access| access.core);
    let wanted = |access: &ListedAccess| Wanted {
        line: access.line,
        store: access.store,
        at: access.at.0,
    };
    Ok(Pattern::Listed {
        all: order.into_iter().map(wanted).collect(),
        begins,
    })
}

#[cfg(test)]
mod tests {
    use super::super::shape::{AddressMap, CacheShape};
    use super::super::spec::NodeArrangement;
    use super::*;
    use des::Time;
    use study::Bytes;

    /// Nodes of two cores with 600 lines each, so that every core has 300 of its own.
    fn shape(nodes: u32) -> Shape {
        let cache = CacheShape { sets: 1, ways: 4 };
        Shape {
            nodes,
            cores: 2,
            outstanding: 1,
            l1: cache,
            l2: cache,
            misses: 4,
            told: false,
            lines: 600,
            map: AddressMap::Blocks,
            bucket_bits: 3,
            directory: cache,
            banks: 1,
            interfaces: 1,
            arrangement: NodeArrangement::default(),
            values: false,
        }
    }

    fn accesses(nodes: u32, pattern: AccessPattern) -> Result<Accesses, String> {
        let spec = Memory {
            pattern,
            accesses: 20,
            cores: 2,
            ..Memory::default()
        };
        Accesses::new(&spec, &shape(nodes), 0, 1)
    }

    /// All accesses of a core.
    fn all(of: &Accesses, core: u64) -> Vec<(u64, bool)> {
        let each = (0..of.count(core)).map(|k| of.get(core, k));
        each.map(|wanted| (wanted.line, wanted.store)).collect()
    }

    fn lines(begin: u64, store: bool, n: u64) -> impl Iterator<Item = (u64, bool)> {
        (begin..begin + n).map(move |line| (line, store))
    }

    #[test]
    fn streams_and_strides_walk_from_a_cores_own_part_on() {
        let stream = accesses(3, AccessPattern::Stream).unwrap();
        // Eight words of 8 bytes in a line of 64.
        let expected: Vec<_> = (0..20).map(|k| (900 + k / 8, false)).collect();
        assert_eq!(all(&stream, 3), expected);
        let stride = accesses(3, AccessPattern::Stride { stride: Bytes(640) }).unwrap();
        let expected: Vec<_> = (0..20).map(|k| ((1500 + 10 * k) % 1800, false)).collect();
        assert_eq!(all(&stride, 5), expected, "round the end of the address space");
    }

    #[test]
    fn a_stencil_reads_the_neighbours_edges_that_lie_towards_it_and_writes_its_own() {
        // Cores  3 4 5
        //        0 1 2
        let pattern = AccessPattern::Stencil {
            grid: Some([3, 2]),
            edge: 2,
        };
        let stencil = accesses(3, pattern).unwrap();
        let mut expected: Vec<_> = [
            // The right edge of core 3, the left one of 5, the upper one of 1 below, the lower one of 1 above (edges are joined).
            lines(3 * 300 + 2, false, 2),
            lines(5 * 300, false, 2),
            lines(300 + 6, false, 2),
            lines(300 + 4, false, 2),
            lines(4 * 300, true, 8),
        ]
        .into_iter()
        .flatten()
        .collect();
        expected.extend_from_within(..4);
        assert_eq!(all(&stencil, 4), expected);
        // Left of core 0 is core 2.
        assert_eq!(stencil.get(0, 0).line, 2 * 300 + 2);
    }

    #[test]
    fn a_stencils_grid_is_square_if_it_can_be_and_has_all_cores() {
        let stencil = |grid, edge| accesses(8, AccessPattern::Stencil { grid, edge });
        // 4 x 4 cores: core 5 has 4 to the left and 1 below.
        let square = stencil(None, 1).unwrap();
        assert_eq!(square.get(5, 0).line, 4 * 300 + 1);
        assert_eq!(square.get(5, 2).line, 300 + 3);
        assert!(stencil(Some([3, 5]), 1).unwrap_err().contains("15 cores"));
        assert!(stencil(None, 75).is_ok());
        assert!(stencil(None, 76).unwrap_err().contains("304 lines"));
    }

    #[test]
    fn a_consumer_reads_what_its_producer_writes() {
        let pair = |lines, distance| accesses(5, AccessPattern::ProducerConsumer { lines, distance });
        let pairs = pair(3, 2).unwrap();
        // Cores 0, 1 write for 2, 3; 4, 5 for 6, 7; 8, 9 would for nobody.
        for (producer, consumer) in [(0, 2), (1, 3), (4, 6), (5, 7)] {
            let written: Vec<_> = (0..20).map(|k| (producer * 300 + k % 3, true)).collect();
            let read: Vec<_> = written.iter().map(|&(line, _)| (line, false)).collect();
            assert_eq!(all(&pairs, producer), written);
            assert_eq!(all(&pairs, consumer), read);
        }
        assert_eq!((pairs.count(8), pairs.count(9)), (0, 0));
        assert!(pair(301, 2).unwrap_err().contains("301 lines"));
        assert!(pair(3, 10).unwrap_err().contains("10 cores away"));
        assert!(pair(3, 9).is_ok());
    }

    #[test]
    fn listed_accesses_are_those_of_their_cores_in_the_order_of_the_list() {
        let listed = |list: &[(u32, u64, u64, bool)]| {
            let list = list.iter().map(|&(core, line, at, store)| ListedAccess {
                core,
                at: Time(at),
                line,
                store,
            });
            accesses(1, AccessPattern::Listed(list.collect()))
        };
        let two = listed(&[(1, 7, 50, true), (0, 9, 0, false), (1, 5, 20, false)]).unwrap();
        assert_eq!(all(&two, 0), [(9, false)]);
        assert_eq!(all(&two, 1), [(7, true), (5, false)]);
        assert_eq!((two.get(1, 0).at, two.get(1, 1).at), (50, 20));
        assert!(
            listed(&[(0, 1, 0, false), (2, 1, 0, false)])
                .unwrap_err()
                .contains("access 1 of the list")
        );
        assert!(listed(&[(0, 600, 0, false)]).unwrap_err().contains("line 600"));
    }

    #[test]
    fn a_share_of_drawn_accesses_writes_and_hot_ones_are_hot() {
        let spec = Memory {
            pattern: AccessPattern::HotSpot {
                lines: 10,
                fraction: 0.5,
            },
            accesses: 4000,
            stores: 0.25,
            ..Memory::default()
        };
        let hot = Accesses::new(&spec, &shape(3), 0, 1).unwrap();
        let found = all(&hot, 2);
        let share = |of: fn(&(u64, bool)) -> bool| found.iter().filter(|access| of(access)).count() as f64 / 4000.0;
        // Half and a few of the others: four standard deviations are 0.03.
        assert!((share(|&(line, _)| line < 10) - 0.5 - 0.5 * 10.0 / 1800.0).abs() < 0.032);
        assert!((share(|&(_, store)| store) - 0.25).abs() < 0.028);
        assert!(found.iter().all(|&(line, _)| line < 1800));
        let gups = accesses(3, AccessPattern::Gups).unwrap();
        for pair in all(&gups, 4).chunks(2) {
            assert_eq!((pair[0].0, pair[0].1, pair[1].1), (pair[1].0, false, true));
        }
    }
}
