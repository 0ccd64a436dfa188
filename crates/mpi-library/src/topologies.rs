//! Grids and graphs of processes: arithmetic on ranks and coordinates.

use crate::fault::{Answer, ErrorClass, fault};

/// The topology of a communicator.
#[derive(Clone, Debug, PartialEq)]
pub enum CommTopology {
    /// A grid.
    Grid(ProcessGrid),
    /// A graph that every process knows whole: where each one's neighbours end in the list of neighbours.
    Graph {
        /// Ends by rank.
        ends: Vec<i32>,
        /// Neighbours of rank 0, of rank 1, and so on.
        edges: Vec<i32>,
    },
    /// A graph of which every process knows its own edges.
    Neighbours {
        /// Ranks that send to this one.
        sources: Vec<i32>,
        /// Ranks that this one sends to.
        destinations: Vec<i32>,
        /// Weights of both, if there are any.
        weights: Option<(Vec<i32>, Vec<i32>)>,
    },
}

/// A grid of processes, the last dimension fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessGrid {
    /// Processes by dimension.
    pub sizes: Vec<i32>,
    /// Whether a dimension closes in itself.
    pub closed: Vec<bool>,
}

impl ProcessGrid {
    /// How many processes; `None` if an `i32` does not hold them.
    pub fn processes(sizes: &[i32]) -> Option<i32> {
        sizes.iter().try_fold(1_i32, |all, size| all.checked_mul(*size))
    }

    /// The coordinates of a rank.
    pub fn coordinates(&self, rank: u32) -> Vec<i32> {
        let mut rest = rank as i32;
        let mut coordinates: Vec<i32> = self
            .sizes
            .iter()
            .rev()
            .map(|size| {
                let coordinate = rest % size;
                rest /= size;
                coordinate
            })
            .collect();
        coordinates.reverse();
        coordinates
    }

    /// The rank at coordinates, which wrap around in closed dimensions only.
    pub fn rank(&self, coordinates: &[i32]) -> Option<u32> {
        let mut rank = 0;
        for ((coordinate, size), closed) in coordinates.iter().zip(&self.sizes).zip(&self.closed) {
            let inside = if *closed {
                coordinate.rem_euclid(*size)
            } else {
                *coordinate
            };
            if !(0..*size).contains(&inside) {
                return None;
            }
            rank = rank * size + inside;
        }
        Some(rank as u32)
    }

    /// Who is `by` steps before and behind a rank in a dimension.
    pub fn shifted(&self, rank: u32, dimension: usize, by: i32) -> (Option<u32>, Option<u32>) {
        let at = |steps: i64| {
            let mut coordinates = self.coordinates(rank);
            let to = i64::from(coordinates[dimension]) + steps;
            let size = i64::from(self.sizes[dimension]);
            coordinates[dimension] = if self.closed[dimension] {
                to.rem_euclid(size) as i32
            } else {
                i32::try_from(to).ok()?
            };
            self.rank(&coordinates)
        };
        (at(-i64::from(by)), at(i64::from(by)))
    }

    /// The neighbours in the order of neighbourhood collectives: before and behind, dimension by dimension.
    pub fn neighbours(&self, rank: u32) -> Vec<Option<u32>> {
        (0..self.sizes.len())
            .flat_map(|dimension| {
                let (before, behind) = self.shifted(rank, dimension, 1);
                [before, behind]
            })
            .collect()
    }
}

/// Fills the zeros among `sizes` so that the product is `processes` and the sizes are as even as can be, larger ones first.
pub fn fill_dimensions(processes: i32, sizes: &mut [i32]) -> Answer {
    let mut fixed = 1_i64;
    for size in sizes.iter() {
        if *size < 0 {
            return fault(ErrorClass::Dims, format!("a dimension of {size} processes"));
        }
        fixed = fixed.saturating_mul(i64::from((*size).max(1)));
    }
    let open = sizes.iter().filter(|size| **size == 0).count();
    if processes < 1 || i64::from(processes) % fixed != 0 || open == 0 && i64::from(processes) != fixed {
        return fault(
            ErrorClass::Dims,
            format!("{processes} processes do not make a grid of {sizes:?}"),
        );
    }
    let mut filled = even_factors(processes / fixed as i32, open).into_iter();
    for size in sizes.iter_mut().filter(|size| **size == 0) {
        *size = filled.next().unwrap_or(1);
    }
    Ok(())
}

/// `number` as a product of `count` factors in falling order whose largest is as small as can be, then the next one, and so on.
fn even_factors(number: i32, count: usize) -> Vec<i32> {
    if count == 0 {
        return Vec::new();
    }
    let divisors: Vec<i32> = {
        let mut small: Vec<i32> = (1..)
            .take_while(|d| i64::from(*d) * i64::from(*d) <= i64::from(number))
            .filter(|d| number % d == 0)
            .collect();
        let large: Vec<i32> = small.iter().rev().map(|d| number / d).collect();
        small.extend(large);
        small.dedup();
        small
    };
    let mut best = Vec::new();
    let mut way = Vec::new();
    split(number, count, &divisors, i32::MAX, &mut way, &mut best);
    best
}

/// Goes through the falling products, the smallest largest factor first; the first that comes to an end is the best.
fn split(number: i32, count: usize, divisors: &[i32], most: i32, way: &mut Vec<i32>, best: &mut Vec<i32>) -> bool {
    if count == 1 {
        if number > most {
            return false;
        }
        way.push(number);
        best.clone_from(way);
        way.pop();
        return true;
    }
    // The largest factor is at least the root of what is left.
    for factor in divisors
        .iter()
        .copied()
        .filter(|factor| number % factor == 0 && *factor <= most)
    {
        if i64::from(factor)
            .checked_pow(count as u32)
            .is_some_and(|power| power < i64::from(number))
        {
            continue;
        }
        way.push(factor);
        let found = split(number / factor, count - 1, divisors, factor, way, best);
        way.pop();
        if found {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_are_as_even_as_can_be() {
        for (processes, asked, filled) in [
            (6, vec![0, 0], vec![3, 2]),
            (7, vec![0, 0], vec![7, 1]),
            (6, vec![0, 3, 0], vec![2, 3, 1]),
            (64, vec![0, 0, 0], vec![4, 4, 4]),
            (1, vec![0, 0, 0], vec![1, 1, 1]),
            (24, vec![0, 0, 0], vec![4, 3, 2]),
            (1_048_576, vec![0, 0, 0], vec![128, 128, 64]),
            (12, vec![3, 4], vec![3, 4]),
            (2_147_483_647, vec![0, 0], vec![2_147_483_647, 1]),
        ] {
            let mut sizes = asked.clone();
            assert_eq!(fill_dimensions(processes, &mut sizes), Ok(()), "{processes} {asked:?}");
            assert_eq!(sizes, filled, "{processes} {asked:?}");
        }
        for (processes, asked) in [
            (7, vec![2, 0]),
            (0, vec![0]),
            (-1, vec![0]),
            (4, vec![-2, 0]),
            (5, vec![2, 2]),
        ] {
            assert!(
                fill_dimensions(processes, &mut asked.clone()).is_err(),
                "{processes} {asked:?}"
            );
        }
    }

    #[test]
    fn ranks_and_coordinates_are_inverse_and_only_closed_dimensions_wrap() {
        let grid = ProcessGrid {
            sizes: vec![3, 4, 2],
            closed: vec![true, false, false],
        };
        for rank in 0..24 {
            assert_eq!(grid.rank(&grid.coordinates(rank)), Some(rank));
        }
        assert_eq!(grid.coordinates(23), [2, 3, 1]);
        assert_eq!(grid.rank(&[-1, 0, 0]), grid.rank(&[2, 0, 0]));
        assert_eq!(grid.rank(&[0, -1, 0]), None);
        assert_eq!(grid.shifted(0, 0, 1), (Some(16), Some(8)));
        assert_eq!(grid.shifted(0, 1, 1), (None, Some(2)));
        assert_eq!(grid.shifted(0, 1, -1), (Some(2), None));
        assert_eq!(grid.shifted(0, 0, i32::MIN), grid.shifted(0, 0, i32::MIN % 3));
    }
}
