//! Slim Fly: graphs of diameter 2 that come near to the most routers that there can be (McKay, Miller and Siran 1998; Besta and Hoefler
//! 2014).
//!
//! For a power of a prime `q = 4 w + d` with `d` of -1, 0 or 1 there are `2 q^2` routers of `(3 q - d) / 2` ports: `(0, x, y)` and
//! `(1, m, c)` with elements of the field of `q` elements. Routers of one `x` are joined if their `y` differ by an element of one set, those of one
//! `m` if their `c` differ by one of another, and `(0, x, y)` is joined to `(1, m, c)` if `y = m x + c`.

use super::field::Field;
use super::{Standing, laid_out};
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
                problems.add(
                    "q",
                    format!("{q} is no power of a prime from 3 to {MOST_ELEMENTS}"),
                    Some(&Field::near(q, 3)),
                );
                return Err(problems.0);
            }
        };
        let (own, other) = sets(&field);
        let radix = own.len() as u32 + q;
        let nodes = match spec.nodes_per_router {
            0 => radix.div_ceil(2),
            nodes => nodes,
        };
        laid_out(&graph(&field, &own, &other), nodes, "q", Standing::default())
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

/// By what routers of one kind that are joined differ, and those of the other kind; each set has the negative of each of its elements.
fn sets(field: &Field) -> (Vec<u32>, Vec<u32>) {
    let w = field.q.div_ceil(4);
    let of = |exponents: Vec<u32>| {
        let power = |e: u32| field.powers[(e % (field.q - 1)) as usize];
        exponents.into_iter().map(power).collect()
    };
    let every_other = |from: u32, to: u32| (from..=to).step_by(2).collect::<Vec<u32>>();
    match field.q % 4 {
        // Even powers in the first half and odd ones in the second, and the other way round; 1 and -1 are in both.
        3 => (
            of([every_other(0, 2 * w - 2), every_other(2 * w - 1, 4 * w - 3)].concat()),
            of([every_other(1, 2 * w - 1), every_other(2 * w, 4 * w - 2)].concat()),
        ),
        // Squares and the others; with 4 w elements 1 is both.
        1 => (of(every_other(0, field.q - 3)), of(every_other(1, field.q - 2))),
        _ => (of(every_other(0, field.q - 2)), of(every_other(1, field.q - 1))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let (own, other) = sets(&field);
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
