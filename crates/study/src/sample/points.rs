//! Points in the unit cube: Latin hypercubes and scrambled Sobol points.
//!
//! A coordinate is a function of (method, seed, point, dimension), and of the number of points for a Latin hypercube. It comes
//! from integers and correctly rounded operations, so it has the same bits on every machine.

use crate::choice;
use des::rng::{Philox, mix, unit};
use sobol_burley::parts::{owen_scramble_rev, sobol_rev};

/// Most points of a Sobol sequence: its direction numbers reach that far.
pub const MOST_SOBOL: u64 = 1 << 16;

/// The stream of draws; sources of traffic have others.
const STREAM: u64 = 0x5A4D_504C_4521;

choice! {
    /// How points are chosen.
    pub enum Method {
        LatinHypercube = "latin-hypercube", "One point in each of as many equal slices of every range as there are points.";
        Sobol = "sobol", "Scrambled Sobol points, at most 65,536: more points keep the earlier ones, powers of two balance best.";
    }
}

/// The coordinates of `n` points in one dimension, each at least 0 and below 1.
pub fn column(method: Method, seed: u64, dimension: u32, n: u32) -> Vec<f64> {
    match method {
        Method::LatinHypercube => latin(seed, dimension, n),
        Method::Sobol => (0..n).map(|index| sobol(seed, dimension, index)).collect(),
    }
}

/// Point `i` lies in the slice of its rank among `n` draws, at a place of its own.
fn latin(seed: u64, dimension: u32, n: u32) -> Vec<f64> {
    let draws = Philox::new(seed, STREAM);
    let words: Vec<[u64; 4]> = (0..n)
        .map(|point| draws.draw(u64::from(dimension), u64::from(point)))
        .collect();
    let mut order: Vec<usize> = (0..words.len()).collect();
    order.sort_by_key(|&point| (words[point][0], point));
    let mut column = vec![0.0; words.len()];
    for (slice, point) in order.into_iter().enumerate() {
        let inside = (slice as f64 + unit(words[point][1])) / f64::from(n);
        column[point] = inside.min(1.0 - f64::EPSILON / 2.0);
    }
    column
}

fn sobol(seed: u64, dimension: u32, index: u32) -> f64 {
    let scramble = (mix(mix(seed).wrapping_add(u64::from(dimension))) >> 32) as u32;
    let word = owen_scramble_rev(sobol_rev(index.reverse_bits(), dimension), scramble).reverse_bits();
    (f64::from(word) + 0.5) / (1u64 << 32) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const METHODS: [Method; 2] = [Method::LatinHypercube, Method::Sobol];

    /// How many points lie in each of `n` equal slices.
    fn counts(column: &[f64], n: usize) -> Vec<usize> {
        let mut counts = vec![0; n];
        for x in column {
            counts[(x * n as f64) as usize] += 1;
        }
        counts
    }

    #[test]
    fn a_latin_hypercube_has_one_point_in_every_slice_of_every_dimension() {
        for n in [1, 2, 3, 7, 100, 1000] {
            for dimension in 0..8 {
                let column = column(Method::LatinHypercube, 5, dimension, n);
                assert_eq!(
                    counts(&column, n as usize),
                    vec![1; n as usize],
                    "{n} points, dimension {dimension}"
                );
            }
        }
    }

    #[test]
    fn dimensions_and_seeds_have_points_of_their_own() {
        for method in METHODS {
            let one = column(method, 1, 0, 64);
            assert!(one.iter().all(|x| (0.0..1.0).contains(x)));
            assert_ne!(one, column(method, 1, 1, 64), "{method:?}");
            assert_ne!(one, column(method, 2, 0, 64), "{method:?}");
            assert_eq!(one, column(method, 1, 0, 64), "{method:?}");
        }
    }

    #[test]
    fn more_sobol_points_keep_the_earlier_ones_and_a_larger_hypercube_does_not() {
        let starts = |method| column(method, 3, 2, 100)[..50] == column(method, 3, 2, 50)[..];
        assert!(starts(Method::Sobol));
        assert!(!starts(Method::LatinHypercube));
    }

    /// Degree, coefficients and first direction numbers of dimensions 2 to 8 (Joe and Kuo 2008, new-joe-kuo-6).
    const JOE_KUO: [(usize, u32, &[u32]); 7] = [
        (1, 0, &[1]),
        (2, 1, &[1, 3]),
        (3, 1, &[1, 3, 1]),
        (3, 2, &[1, 1, 1]),
        (4, 1, &[1, 1, 3, 3]),
        (4, 4, &[1, 3, 5, 13]),
        (5, 2, &[1, 1, 5, 5, 17]),
    ];

    /// Unscrambled coordinate by the definition: direction numbers from the recurrence, one per bit of the index.
    fn published(dimension: usize, index: u32) -> u32 {
        let mut v: Vec<u32> = (1..=16).map(|bit| 1 << (32 - bit)).collect();
        if let Some((s, a, m)) = dimension.checked_sub(1).map(|row| JOE_KUO[row]) {
            for bit in 0..16 {
                v[bit] = match m.get(bit) {
                    Some(first) => first << (31 - bit),
                    None => (1..s).fold(v[bit - s] ^ (v[bit - s] >> s), |sum, k| {
                        sum ^ (((a >> (s - 1 - k)) & 1) * v[bit - k])
                    }),
                };
            }
        }
        (0..16).filter(|bit| index >> bit & 1 == 1).fold(0, |x, bit| x ^ v[bit])
    }

    #[test]
    fn sobol_points_share_as_many_leading_bits_as_the_published_ones() {
        // Owen's scrambling keeps how many leading bits two points have in common, and nothing else.
        for dimension in 0..8 {
            let found = column(Method::Sobol, 9, dimension, 512);
            let words: Vec<u32> = found.iter().map(|x| (x * (1u64 << 32) as f64) as u32).collect();
            for a in 0..512u32 {
                for b in 0..a {
                    let shared = (words[a as usize] ^ words[b as usize]).leading_zeros();
                    let truth = published(dimension as usize, a) ^ published(dimension as usize, b);
                    assert_eq!(
                        shared,
                        truth.leading_zeros(),
                        "dimension {dimension}, points {a} and {b}"
                    );
                }
            }
        }
    }

    #[test]
    fn sobol_points_balance_in_all_dyadic_boxes_of_two_dimensions() {
        // The first two dimensions are a (0, m, 2) net: a box of area 2^-m holds one of any 2^m points from a multiple of 2^m on.
        let [x, y] = [0, 1].map(|dimension| column(Method::Sobol, 4, dimension, 256));
        for first in [0, 64, 128, 192] {
            for bits in 0..=6 {
                let (wide, tall) = (1usize << bits, 1usize << (6 - bits));
                let mut boxes = vec![0; 64];
                for point in first..first + 64 {
                    let (column, row) = ((x[point] * wide as f64) as usize, (y[point] * tall as f64) as usize);
                    boxes[column * tall + row] += 1;
                }
                assert_eq!(boxes, vec![1; 64], "{wide} by {tall} boxes from point {first} on");
            }
        }
    }

    #[test]
    fn points_are_the_same_on_every_machine() {
        // Written down once: a change of any of these changes the runs of every sampled study.
        let bits = |method| {
            column(method, 7, 1, 4)
                .into_iter()
                .map(f64::to_bits)
                .collect::<Vec<_>>()
        };
        let sobol = [
            4599361351052165120,
            4605386754320498688,
            4604839918761410560,
            4595024861448896512,
        ];
        assert_eq!(bits(Method::Sobol), sobol);
        let latin = [
            4602457713020379524,
            4605523789761558936,
            4597816402969919414,
            4603799983668769823,
        ];
        assert_eq!(bits(Method::LatinHypercube), latin);
    }
}
