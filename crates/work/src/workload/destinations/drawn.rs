//! Destinations drawn by weights: a matrix of who wants what of whom, between nodes or between units of several nodes.

use crate::workload::NOBODY;
use des::mix;
use des::rng::{below, unit};

/// Which node of a unit: a hash of a message's word, apart from those that say which unit.
const NODE: u64 = 0x6E6F_6465;

/// Logical nodes in units: every one in one.
#[derive(Clone, Debug, PartialEq)]
pub struct Units {
    /// The unit of each logical node.
    of: Vec<u32>,
    /// Its place there.
    places: Vec<u32>,
    /// Where the nodes of each unit begin, and the end.
    starts: Vec<usize>,
    /// The physical nodes, unit by unit.
    nodes: Vec<u32>,
}

impl Units {
    /// Units of the physical `nodes` of a job; `of` has the unit of each.
    pub fn new(nodes: &[u32], of: Vec<u32>) -> Units {
        let n = of.iter().max().map_or(0, |most| *most as usize + 1);
        let mut starts = vec![0; n + 1];
        of.iter().for_each(|&unit| starts[unit as usize + 1] += 1);
        for unit in 0..n {
            starts[unit + 1] += starts[unit];
        }
        let mut next = starts.clone();
        let mut sorted = vec![0; nodes.len()];
        let mut places = vec![0; nodes.len()];
        for (i, (&node, &unit)) in nodes.iter().zip(&of).enumerate() {
            let unit = unit as usize;
            places[i] = (next[unit] - starts[unit]) as u32;
            sorted[next[unit]] = node;
            next[unit] += 1;
        }
        Units {
            of,
            places,
            starts,
            nodes: sorted,
        }
    }

    /// The physical nodes of a unit; none of one that is not there.
    pub fn nodes_of(&self, unit: u32) -> &[u32] {
        let unit = unit as usize;
        match unit + 1 < self.starts.len() {
            true => &self.nodes[self.starts[unit]..self.starts[unit + 1]],
            false => &[],
        }
    }

    /// The unit of a logical node.
    pub fn of(&self, i: u32) -> u32 {
        self.of[i as usize]
    }

    /// Another node of a unit than logical node `i`, by a random word; there is one.
    fn other(&self, i: u32, unit: u32, word: u64) -> u32 {
        let nodes = self.nodes_of(unit);
        if self.of(i) != unit {
            return nodes[below(word, nodes.len() as u64) as usize];
        }
        let to = below(word, nodes.len() as u64 - 1) as u32;
        nodes[(to + u32::from(to >= self.places[i as usize])) as usize]
    }
}

/// A cell of a row in Walker's table of aliases (1977): what the share of a draw that is its own leads to, and what the rest does.
#[derive(Clone, Copy, Debug, PartialEq)]
struct AliasCell {
    unit: u32,
    other: u32,
    own: f64,
}

/// Destinations drawn by weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    units: Units,
    /// Where the cells of each unit's row begin, and the end.
    starts: Vec<usize>,
    cells: Vec<AliasCell>,
    /// Weights of the cells, summing to 1 in each row that has any.
    shares: Vec<(u32, f64)>,
    /// What a node of each unit sends per time, as a fraction of the most.
    rates: Vec<f64>,
}

impl Drawn {
    /// From weights by row: (unit of the source, unit of the destination, weight above 0), each pair once. With `alike` all nodes that
    /// send send as much, else by their unit's sum of weights, shared by its nodes.
    ///
    /// # Errors
    /// A unit that has no nodes, or but the node itself; in words.
    pub fn new(units: Units, weights: &[(u32, u32, f64)], alike: bool) -> Result<Drawn, String> {
        let n = units.starts.len() - 1;
        let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); n];
        for &(from, to, weight) in weights {
            for unit in [from, to] {
                if units.nodes_of(unit).is_empty() {
                    return Err(format!("{unit} has no nodes of the job"));
                }
            }
            if from == to && units.nodes_of(from).len() == 1 {
                return Err(format!("{from} is one node, which would send to itself"));
            }
            rows[from as usize].push((to, weight));
        }
        let (mut starts, mut cells, mut shares, mut rates) = (vec![0], Vec::new(), Vec::new(), Vec::new());
        for (unit, mut row) in (0..).zip(rows) {
            row.sort_by_key(|&(to, _)| to);
            let sum: f64 = row.iter().map(|&(_, weight)| weight).sum();
            row.iter_mut().for_each(|(_, weight)| *weight /= sum);
            rates.push(sum / units.nodes_of(unit).len().max(1) as f64);
            cells.extend(aliases(&row));
            shares.extend(row);
            starts.push(cells.len());
        }
        let most = rates.iter().copied().fold(0.0, f64::max);
        for rate in &mut rates {
            *rate = match alike {
                true => f64::from(u8::from(*rate > 0.0)),
                false => *rate / most,
            };
        }
        Ok(Drawn {
            units,
            starts,
            cells,
            shares,
            rates,
        })
    }

    /// What logical node `i` sends per time, as a fraction of the most.
    pub fn rate(&self, i: u32) -> f64 {
        self.rates[self.units.of(i) as usize]
    }

    /// Whom logical node `i` sends to: the physical nodes of each unit, its own place if it is among them, and the share of its messages that
    /// they have together.
    pub fn row(&self, i: u32) -> impl Iterator<Item = (&[u32], Option<u32>, f64)> {
        let unit = self.units.of(i);
        let row = self.starts[unit as usize]..self.starts[unit as usize + 1];
        let place = self.units.places[i as usize];
        let cell = move |&(to, share): &(u32, f64)| (self.units.nodes_of(to), (to == unit).then_some(place), share);
        self.shares[row].iter().map(cell)
    }

    /// The destination of a message of logical node `i`, by a random word.
    #[inline(never)]
    pub(super) fn pick(&self, i: u32, word: u64) -> u32 {
        let unit = self.units.of(i) as usize;
        let row = &self.cells[self.starts[unit]..self.starts[unit + 1]];
        if row.is_empty() {
            return NOBODY;
        }
        let cell = row[below(word, row.len() as u64) as usize];
        let to = match self::unit(mix(word)) < cell.own {
            true => cell.unit,
            false => cell.other,
        };
        self.units.other(i, to, mix(word ^ NODE))
    }
}

/// Walker's table of a row of shares that sum to 1, in the order of the row (Vose 1991).
fn aliases(row: &[(u32, f64)]) -> Vec<AliasCell> {
    let n = row.len() as f64;
    let mut cells: Vec<AliasCell> = row
        .iter()
        .map(|&(unit, share)| AliasCell {
            unit,
            other: unit,
            own: share * n,
        })
        .collect();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..cells.len()).partition(|&c| cells[c].own < 1.0);
    while let (Some(&less), Some(&more)) = (small.last(), large.last()) {
        small.pop();
        cells[less].other = cells[more].unit;
        cells[more].own -= 1.0 - cells[less].own;
        if cells[more].own < 1.0 {
            large.pop();
            small.push(more);
        }
    }
    // What is left is whole but for rounding.
    small.into_iter().chain(large).for_each(|c| cells[c].own = 1.0);
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_lead_to_each_unit_as_often_as_it_weighs() {
        for row in [
            &[(4, 0.5), (7, 0.25), (1, 0.125), (2, 0.125)][..],
            &[(0, 1.0)],
            &[(0, 0.9), (1, 0.05), (2, 0.05)],
        ] {
            let cells = aliases(row);
            for &(unit, share) in row {
                let led: f64 = cells
                    .iter()
                    .map(|cell| {
                        let own = if cell.unit == unit { cell.own } else { 0.0 };
                        let rest = if cell.other == unit { 1.0 - cell.own } else { 0.0 };
                        (own + rest) / cells.len() as f64
                    })
                    .sum();
                assert!((led - share).abs() < 1e-12, "{unit}: {led} for {share}");
            }
        }
    }

    #[test]
    fn nobody_sends_to_itself_and_rates_are_by_weight() {
        // Nodes 10, 20, 30, 40, 50 in units 0, 1, 0, 1, 0.
        let units = Units::new(&[10, 20, 30, 40, 50], vec![0, 1, 0, 1, 0]);
        let weights = [(0, 0, 3.0), (0, 1, 3.0), (1, 0, 1.0)];
        let drawn = Drawn::new(units.clone(), &weights, false).unwrap();
        assert_eq!((drawn.rate(0), drawn.rate(1)), (1.0, 0.25));
        let mut seen = std::collections::BTreeMap::<(u32, u32), u32>::new();
        for i in 0..5 {
            for k in 0..6_000_u64 {
                *seen.entry((i, drawn.pick(i, mix(k << 8 | u64::from(i))))).or_default() += 1;
            }
        }
        // Node 10: half to 30 and 50, half to 20 and 40.
        for to in [20, 30, 40, 50] {
            let count = f64::from(seen[&(0, to)]);
            assert!((count - 1_500.0).abs() < 6.0 * 34.0, "{to}: {count}");
        }
        assert!(seen.keys().all(|&(i, to)| to != [10, 20, 30, 40, 50][i as usize]));
        assert!(seen.keys().all(|&(i, to)| i % 2 == 0 || [10, 30, 50].contains(&to)));
        let alike = Drawn::new(units.clone(), &weights, true).unwrap();
        assert_eq!((alike.rate(0), alike.rate(1)), (1.0, 1.0));
        assert!(Drawn::new(units.clone(), &[(0, 2, 1.0)], false).is_err());
        let one = Units::new(&[10, 20], vec![0, 1]);
        assert!(Drawn::new(one, &[(0, 0, 1.0)], false).is_err());
    }
}
