//! Slim Fly: graphs of diameter 2 that come near to the most routers that there can be (McKay, Miller and Siran 1998; Besta and Hoefler
//! 2014).
//!
//! For a power of a prime `q = 4 w + d` with `d` of -1, 0 or 1 there are `2 q^2` routers of `(3 q - d) / 2` ports: `(0, x, y)` and
//! `(1, m, c)` with elements of the field of `q` elements. Routers of one `x` are joined if their `y` differ by an element of one set, those of one
//! `m` if their `c` differ by one of another, and `(0, x, y)` is joined to `(1, m, c)` if `y = m x + c`.

use super::laid_out;
use crate::families::graph::GraphTables;
use crate::families::keys::NODES;
use crate::families::{GraphFile, NamedTopology, SlimFly, TopologyKeys};
use crate::graph_file::{CableLine, GraphText};
use crate::problems::{FieldError, Problems};
use crate::wiring::Wiring;
use serde::{Deserialize, Serialize};
use study::{Default, Parameter, Type, key};

/// A Slim Fly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlimFlySpec {
    /// Elements of the field: a power of a prime.
    pub q: u32,
    /// Nodes per router; 0 is half of the ports to other routers, rounded up.
    pub nodes_per_router: u32,
}

/// Largest field: tables are kept for 20,000 routers.
const MOST_ELEMENTS: u64 = 100;

const KEYS: &[Parameter] = &[
    key(
        "q",
        Type::Integer {
            min: 3,
            max: MOST_ELEMENTS,
        },
        Default::Required,
        "Elements of the field, a power of a prime: 2 q^2 routers with (3 q - d) / 2 ports to others, where q = 4 w + d and d is -1, 0 or 1.",
    ),
    key(
        "nodes_per_router",
        NODES,
        Default::From("half of the ports to other routers, rounded up"),
        "Nodes on every router.",
    ),
];

/// Link classes: within the routers of one `x` or `m`, and between those of both kinds.
const LOCAL: u8 = 1;
const GLOBAL: u8 = 2;

impl NamedTopology for SlimFly {
    type Parameters = SlimFlySpec;
    type Family = GraphTables;

    const LINE: &'static str = "Diameter 2 with nearly the most routers that so many ports can join.";
    const KEYS: &'static [&'static [Parameter]] = &[KEYS];
    const SOURCE: &'static str = "Besta and Hoefler, SC 2014; McKay, Miller and Siran 1998";
    const LIMITS: &'static str =
        "Routing is the generic minimal one. Groups of routers are no groups for routings and placements.";
    const NODES: &'static str = "nodes_per_router";

    fn read(keys: &mut TopologyKeys<'_>) -> Option<SlimFlySpec> {
        Some(SlimFlySpec {
            q: keys.number("q")?,
            nodes_per_router: keys.number("nodes_per_router").unwrap_or(0),
        })
    }

    fn build(spec: &SlimFlySpec, _file: &GraphFile<'_>) -> Result<(GraphTables, Wiring), Vec<FieldError>> {
        let q = spec.q;
        let field = match Field::new(q) {
            Some(field) if (3..=MOST_ELEMENTS).contains(&u64::from(q)) => field,
            _ => {
                let mut problems = Problems::default();
                let near = |mut list: Box<dyn Iterator<Item = u32>>| list.find(|&n| Field::new(n).is_some());
                let (below, above) = (
                    near(Box::new((3..q.min(200)).rev())),
                    near(Box::new((q + 1).max(3)..200)),
                );
                let hint = format!(
                    "take {}",
                    [below, above]
                        .into_iter()
                        .flatten()
                        .map(|n| n.to_string())
                        .collect::<Vec<_>>()
                        .join(" or ")
                );
                problems.add(
                    "q",
                    format!("{q} is no power of a prime from 3 to {MOST_ELEMENTS}"),
                    Some(&hint),
                );
                return Err(problems.0);
            }
        };
        let (own, other) = field.sets();
        let radix = own.len() as u32 + q;
        let nodes = match spec.nodes_per_router {
            0 => radix.div_ceil(2),
            nodes => nodes,
        };
        laid_out(&graph(&field, &own, &other), nodes, "q")
    }

    /// Nothing smaller has the same ways.
    fn reduce(_spec: &mut SlimFlySpec) {}
}

fn graph(field: &Field, own: &[u32], other: &[u32]) -> GraphText {
    let q = field.q;
    let first = |x: u32, y: u32| x * q + y;
    let second = |m: u32, c: u32| q * q + m * q + c;
    let mut graph = GraphText {
        names: Vec::new(),
        nodes: vec![None; 2 * (q * q) as usize],
        cables: Vec::new(),
        classes: ["host", "local", "global"].map(str::to_owned).to_vec(),
    };
    for kind in ["x", "m"] {
        graph
            .names
            .extend((0..q * q).map(|at| format!("{kind}{}.{}", at / q, at % q)));
    }
    let mut join = |a: u32, b: u32, class: u8| {
        graph.cables.push(CableLine { a, b, count: 1, class });
    };
    for x in 0..q {
        for y in 0..q {
            for &by in own {
                let to = field.plus(y, by);
                // Each pair is met from both ends.
                if to > y {
                    join(first(x, y), first(x, to), LOCAL);
                }
            }
            for &by in other {
                let to = field.plus(y, by);
                if to > y {
                    join(second(x, y), second(x, to), LOCAL);
                }
            }
        }
    }
    for m in 0..q {
        for c in 0..q {
            for x in 0..q {
                join(first(x, field.plus(field.times(m, x), c)), second(m, c), GLOBAL);
            }
        }
    }
    graph
}

/// A finite field; elements are polynomials over the prime's numbers, written as digits to the base of the prime.
struct Field {
    prime: u32,
    q: u32,
    /// Powers of an element that all but 0 are powers of.
    powers: Vec<u32>,
    /// The power that each element but 0 is.
    logs: Vec<u32>,
}

impl Field {
    /// That of `q` elements; `None` if there is none.
    fn new(q: u32) -> Option<Field> {
        let prime = (2..=q).find(|&n| q.is_multiple_of(n))?;
        let mut digits = 0;
        let mut rest = q;
        while rest.is_multiple_of(prime) {
            (rest, digits) = (rest / prime, digits + 1);
        }
        if rest != 1 {
            return None;
        }
        // Of one digit: a number whose powers are all others. Of several: the powers of x modulo a polynomial, by its lower coefficients.
        let powers = (1..q)
            .map(|rule| powers(prime, digits, q, rule))
            .find(|powers| powers.len() as u32 == q - 1)?;
        let mut logs = vec![0; q as usize];
        for (k, &element) in powers.iter().enumerate() {
            logs[element as usize] = k as u32;
        }
        Some(Field { prime, q, powers, logs })
    }

    fn plus(&self, a: u32, b: u32) -> u32 {
        let (mut a, mut b, mut place, mut sum) = (a, b, 1, 0);
        while a > 0 || b > 0 {
            sum += (a % self.prime + b % self.prime) % self.prime * place;
            (a, b, place) = (a / self.prime, b / self.prime, place * self.prime);
        }
        sum
    }

    fn times(&self, a: u32, b: u32) -> u32 {
        match a == 0 || b == 0 {
            true => 0,
            false => self.powers[((self.logs[a as usize] + self.logs[b as usize]) % (self.q - 1)) as usize],
        }
    }

    /// By what routers of one kind that are joined differ, and those of the other kind; each set has the negative of each of its elements.
    fn sets(&self) -> (Vec<u32>, Vec<u32>) {
        let w = self.q.div_ceil(4);
        let of = |exponents: Vec<u32>| {
            let power = |e: u32| self.powers[(e % (self.q - 1)) as usize];
            exponents.into_iter().map(power).collect()
        };
        let every_other = |from: u32, to: u32| (from..=to).step_by(2).collect::<Vec<u32>>();
        match self.q % 4 {
            // Even powers in the first half and odd ones in the second, and the other way round; 1 and -1 are in both.
            3 => (
                of([every_other(0, 2 * w - 2), every_other(2 * w - 1, 4 * w - 3)].concat()),
                of([every_other(1, 2 * w - 1), every_other(2 * w, 4 * w - 2)].concat()),
            ),
            // Squares and the others; with 4 w elements 1 is both.
            1 => (of(every_other(0, self.q - 3)), of(every_other(1, self.q - 2))),
            _ => (of(every_other(0, self.q - 2)), of(every_other(1, self.q - 1))),
        }
    }
}

/// The powers of an element, from 1 until they begin again or end in 0.
fn powers(prime: u32, digits: u32, q: u32, rule: u32) -> Vec<u32> {
    let next = |element: u32| match digits {
        1 => (u64::from(element) * u64::from(rule) % u64::from(prime)) as u32,
        _ => {
            // Times x: the digits move up, and the uppermost one stands for so many times the rule.
            let (top, mut rest) = (element / (q / prime), element % (q / prime) * prime);
            let (mut rule, mut place, mut sum) = (rule, 1, 0);
            while place < q {
                sum += (rest % prime + top * (rule % prime)) % prime * place;
                (rest, rule, place) = (rest / prime, rule / prime, place * prime);
            }
            sum
        }
    };
    let mut found = vec![1];
    let mut element = next(1);
    while element > 1 && found.len() < q as usize {
        found.push(element);
        element = next(element);
    }
    match element {
        1 => found,
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_those_of_powers_of_primes() {
        let sizes: Vec<u32> = (2..=64).filter(|&q| Field::new(q).is_some()).collect();
        assert_eq!(
            sizes,
            [
                2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32, 37, 41, 43, 47, 49, 53, 59, 61, 64
            ]
        );
        for q in [4, 7, 8, 9, 25, 27] {
            let field = Field::new(q).unwrap();
            for a in 0..q {
                // Rows of sums have every element once, and so have those of products.
                let mut sums: Vec<u32> = (0..q).map(|b| field.plus(a, b)).collect();
                sums.sort_unstable();
                assert_eq!(sums, (0..q).collect::<Vec<_>>());
                for (b, c) in [(1, q - 1), (q / 2, 2), (3, q - 2)] {
                    let times = |a, b| field.times(a, b);
                    assert_eq!(
                        times(a, field.plus(b, c)),
                        field.plus(times(a, b), times(a, c)),
                        "{a} {b} {c} of {q}"
                    );
                    assert_eq!(times(a, times(b, c)), times(times(a, b), c));
                }
            }
        }
    }

    #[test]
    fn sets_are_as_large_as_said_and_have_their_negatives() {
        for (q, radix) in [
            (3, 5),
            (4, 6),
            (5, 7),
            (7, 11),
            (8, 12),
            (9, 13),
            (11, 17),
            (13, 19),
            (16, 24),
            (25, 37),
            (27, 41),
        ] {
            let field = Field::new(q).unwrap();
            let (own, other) = field.sets();
            assert_eq!((own.len() as u32 + q, other.len() as u32 + q), (radix, radix), "{q}");
            for set in [own, other] {
                assert!(
                    set.iter().all(|&a| set.iter().any(|&b| field.plus(a, b) == 0)),
                    "{q}: {set:?}"
                );
            }
        }
    }
}
