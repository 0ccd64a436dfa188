//! Grids of ranks, numbered with the first dimension fastest.

use super::Misfit;
use crate::mpi::Communicator;

/// A grid of `N` dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid<const N: usize> {
    sides: [u32; N],
    /// Difference of the numbers of two neighbours in each dimension.
    strides: [u32; N],
}

impl<const N: usize> Grid<N> {
    /// The grid for a job: as given, or as cubic as can be ([`Grid::near_cubic`]).
    pub fn new(ranks: u32, given: Option<[u32; N]>) -> Result<Grid<N>, Misfit> {
        let Some(sides) = given else {
            return Grid::near_cubic(ranks);
        };
        let product: u128 = sides.iter().map(|&side| u128::from(side)).product();
        if product != u128::from(ranks) || ranks == 0 {
            let text: Vec<_> = sides.iter().map(u32::to_string).collect();
            let reason = format!("{} make {product} ranks, the job has {ranks}", text.join(" x "));
            let hint = match Grid::<N>::near_cubic(ranks) {
                Ok(grid) => format!("leave it out to get {:?}, or change the number of ranks", grid.sides),
                Err(_) => "give the job ranks".into(),
            };
            return Err(Misfit::new("process_grid", reason, hint));
        }
        Ok(Grid::of(sides))
    }

    fn of(sides: [u32; N]) -> Grid<N> {
        let mut next = 1;
        let strides = sides.map(|side| {
            let stride = next;
            next *= side;
            stride
        });
        Grid { sides, strides }
    }

    /// The grid whose longest side is as short as possible, then its second longest, and so on; the longest side comes first. It
    /// plays the part of `MPI_Dims_create`, whose sides come in the same order.
    pub fn near_cubic(ranks: u32) -> Result<Grid<N>, Misfit> {
        super::at_least(ranks, 1)?;
        let divisors: Vec<u32> = {
            let small = (1..=ranks.isqrt()).filter(|d| ranks.is_multiple_of(*d));
            let small: Vec<u32> = small.collect();
            let large = small.iter().rev().map(|d| ranks / d);
            small.iter().copied().chain(large).collect()
        };
        let mut sides = [1; N];
        let fits = fill(&mut sides, ranks, ranks, &divisors);
        debug_assert!(fits, "one long side always does");
        Ok(Grid::of(sides))
    }

    /// Ranks along each dimension.
    pub fn sides(&self) -> [u32; N] {
        self.sides
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.sides.iter().product()
    }

    /// Where a rank is.
    pub fn place(&self, rank: u32) -> [u32; N] {
        let mut rest = rank;
        self.sides.map(|side| {
            let place = rest % side;
            rest /= side;
            place
        })
    }

    /// Difference of the numbers of two neighbours in a dimension.
    pub fn stride(&self, dimension: usize) -> u32 {
        self.strides[dimension]
    }

    /// The lines along a dimension.
    pub fn lines(&self, dimension: usize) -> Communicator {
        Communicator::Lines {
            size: self.sides[dimension],
            stride: self.stride(dimension),
        }
    }

    /// The next rank in a dimension, up or down, if there is one.
    pub fn neighbour(&self, rank: u32, dimension: usize, up: bool) -> Option<u32> {
        let stride = self.stride(dimension);
        let place = rank / stride % self.sides[dimension];
        match up {
            true => (place + 1 < self.sides[dimension]).then(|| rank + stride),
            false => (place > 0).then(|| rank - stride),
        }
    }

    /// The same where the ends are joined; `None` in a dimension of one.
    pub fn neighbour_round(&self, rank: u32, dimension: usize, up: bool) -> Option<u32> {
        let (side, stride) = (self.sides[dimension], self.stride(dimension));
        let across = (side - 1) * stride;
        let other = if up { rank.wrapping_sub(across) } else { rank + across };
        (side > 1).then(|| self.neighbour(rank, dimension, up).unwrap_or(other))
    }
}

/// Fills `sides` with divisors of `ranks` that multiply to it, none above `most`, the first as small as it can be; whether that goes.
fn fill(sides: &mut [u32], ranks: u32, most: u32, divisors: &[u32]) -> bool {
    let Some((first, rest)) = sides.split_first_mut() else {
        return ranks == 1;
    };
    for &side in divisors.iter().take_while(|&&side| side <= most) {
        // The others are no longer than this one.
        let room = u64::from(side).saturating_pow(1 + rest.len() as u32);
        if ranks.is_multiple_of(side) && room >= u64::from(ranks) && fill(rest, ranks / side, side, divisors) {
            *first = side;
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::Grid;

    #[test]
    fn grids_are_as_cubic_as_can_be_with_the_longest_side_first() {
        let cubic = |ranks| Grid::<3>::near_cubic(ranks).unwrap().sides();
        let cases = [
            (1, [1, 1, 1]),
            (2, [2, 1, 1]),
            (7, [7, 1, 1]),
            (8, [2, 2, 2]),
            (12, [3, 2, 2]),
            (30, [5, 3, 2]),
            (64, [4, 4, 4]),
            (128, [8, 4, 4]),
            (32_768, [32, 32, 32]),
            (32_761, [181, 181, 1]),
            (1 << 31, [2048, 1024, 1024]),
        ];
        for (ranks, sides) in cases {
            assert_eq!(cubic(ranks), sides);
        }
        assert_eq!(Grid::<2>::near_cubic(32_761).unwrap().sides(), [181, 181]);
        assert_eq!(Grid::<4>::near_cubic(64).unwrap().sides(), [4, 4, 2, 2]);
        let reason = Grid::<3>::near_cubic(0).unwrap_err().reason;
        assert_eq!(reason, "0 are too few, this motif takes at least 1");
    }

    #[test]
    fn no_other_grid_has_a_shorter_longest_side() {
        for ranks in 1..=200_u32 {
            let [x, y, z] = Grid::<3>::near_cubic(ranks).unwrap().sides();
            assert_eq!(x * y * z, ranks);
            assert!(x >= y && y >= z);
            let triples = (1..=ranks).flat_map(|a| (1..=ranks / a).map(move |b| (a, b)));
            let others = triples.filter(|(a, b)| ranks.is_multiple_of(a * b));
            let least = others.map(|(a, b)| a.max(b).max(ranks / a / b)).min();
            assert_eq!(Some(x), least, "{ranks}");
        }
    }

    #[test]
    fn neighbours_are_mutual_and_one_step_away() {
        let grid = Grid::new(30, Some([5, 3, 2])).unwrap();
        for rank in 0..30 {
            let place = grid.place(rank);
            assert_eq!(rank, place[0] + 5 * place[1] + 15 * place[2]);
            for (d, at) in place.into_iter().enumerate() {
                for up in [true, false] {
                    let edge = if up { grid.sides()[d] - 1 } else { 0 };
                    let near = grid.neighbour(rank, d, up);
                    assert_eq!(near.is_none(), at == edge);
                    let round = grid.neighbour_round(rank, d, up).unwrap();
                    assert!(near.is_none_or(|near| near == round));
                    assert_eq!(grid.neighbour_round(round, d, !up), Some(rank));
                }
            }
        }
        let flat = Grid::new(4, Some([4, 1])).unwrap();
        assert_eq!(flat.neighbour_round(2, 1, true), None);
    }

    #[test]
    fn a_grid_that_does_not_fit_is_refused_with_one_that_does() {
        let misfit = Grid::new(60, Some([4, 4, 4])).unwrap_err();
        assert_eq!(misfit.field, "process_grid");
        assert_eq!(misfit.reason, "4 x 4 x 4 make 64 ranks, the job has 60");
        assert_eq!(
            misfit.hint,
            "leave it out to get [5, 4, 3], or change the number of ranks"
        );
        assert!(Grid::new(0, Some([0, 1])).is_err());
        assert!(Grid::new(4, Some([u32::MAX; 4])).is_err());
    }
}
