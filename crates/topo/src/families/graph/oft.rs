//! Two-level orthogonal fat-trees (Valerio, Moser and Melliar-Smith 1994; Kathareios et al. 2015): leaves any two of which have a spine in common, as few spines
//! as there can be.
//!
//! For `k = q + 1` with a power of a prime `q` there are `n = q^2 + q + 1` points and as many lines of the projective plane of the field of `q` elements. A line is a
//! spine, a point is two leaves, one of either side; a leaf has a cable to every line through its point, `k` in all, and a spine one to the
//! two leaves of each of its `k` points. Leaves of one side are routers 0 to n - 1, `a0`, `a1`, ..., those of the other n to 2 n - 1, `b0`, `b1`, ..., spines the last n, `s0`, `s1`, ....

use super::field::Field;
use super::{Standing, laid_out};
use crate::families::graph::GraphTables;
use crate::families::keys::NODES;
use crate::families::{GraphFile, NamedTopology, Oft, TopologyKeys};
use crate::graph_file::{CableLine, GraphText};
use crate::problems::{FieldError, Problems};
use crate::wiring::Wiring;
use serde::{Deserialize, Serialize};
use study::{Default, Parameter, Type, key};

/// A two-level orthogonal fat-tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OftSpec {
    /// Cables of a leaf to spines: a power of a prime plus one.
    pub k: u32,
    /// Nodes per leaf; 0 is as many as cables to spines.
    pub nodes_per_leaf: u32,
}

/// Most cables of a leaf: tables are kept for 20,000 routers.
const MOST: u64 = 80;

const KEYS: &[Parameter] = &[
    key(
        "k",
        Type::Integer { min: 3, max: MOST },
        Default::Required,
        "Cables of a leaf to spines, a power of a prime plus one: 2 (k^2 - k + 1) leaves, and half as many spines with 2 k ports.",
    ),
    key("nodes_per_leaf", NODES, Default::From("k"), "Nodes on every leaf."),
];

impl NamedTopology for Oft {
    type Parameters = OftSpec;
    type Family = GraphTables;

    const LINE: &'static str =
        "Orthogonal fat-tree of two levels: any two leaves have one spine in common, most of them just one.";
    const KEYS: &'static [&'static [Parameter]] = &[KEYS];
    const SOURCE: &'static str = "Kathareios, Minkenberg, Prisacari, Rodriguez and Hoefler, SC 2015";
    const LIMITS: &'static str = "Routing is the generic minimal one; no routing of fat-trees.";
    const NODES: &'static str = "nodes_per_leaf";

    fn read(keys: &mut TopologyKeys<'_>) -> Option<OftSpec> {
        Some(OftSpec {
            k: keys.number("k")?,
            nodes_per_leaf: keys.number("nodes_per_leaf").unwrap_or(0),
        })
    }

    fn build(spec: &OftSpec, _file: &GraphFile<'_>) -> Result<(GraphTables, Wiring), Vec<FieldError>> {
        let OftSpec { k, nodes_per_leaf } = *spec;
        let field = match Field::new(k.saturating_sub(1)) {
            Some(field) if u64::from(k) <= MOST => field,
            _ => {
                let mut problems = Problems::default();
                let reason = format!("{k} is no power of a prime plus one from 3 to {MOST}");
                let hint = Field::near(k.saturating_sub(1), 2) + ", plus one";
                problems.add("k", reason, Some(&hint));
                return Err(problems.0);
            }
        };
        let nodes = match nodes_per_leaf {
            0 => k,
            nodes => nodes,
        };
        let n = k * k - k + 1;
        let standing = Standing {
            // A spine stands with the leaves of its number.
            shelves: (0..3 * n).map(|router| router % n).collect(),
            places: (0..3 * n)
                .map(|router| {
                    (
                        f64::from(router % n) / f64::from(n - 1),
                        [0.0, 1.0, 0.5][(router / n) as usize],
                    )
                })
                .collect(),
            rises: true,
        };
        laid_out(&graph(&field, n), nodes, "k", standing)
    }

    /// Nothing smaller has the same ways.
    fn reduce(_spec: &mut OftSpec) {}
}

/// The points of the plane by their coordinates, the first that is not 0 being 1; lines have the same.
fn points(q: u32) -> Vec<[u32; 3]> {
    let of_plane = (0..q * q).map(|at| [1, at / q, at % q]);
    let at_infinity = (0..q).map(|at| [0, 1, at]);
    of_plane.chain(at_infinity).chain([[0, 0, 1]]).collect()
}

fn graph(field: &Field, n: u32) -> GraphText {
    let points = points(field.q);
    let lies_on = |a: &[u32; 3], b: &[u32; 3]| {
        let product = a.iter().zip(b).map(|(&a, &b)| field.times(a, b));
        product.fold(0, |sum, term| field.plus(sum, term)) == 0
    };
    let mut cables = Vec::new();
    for (point, at) in (0..).zip(&points) {
        for (line, of) in (0..).zip(&points) {
            if lies_on(at, of) {
                cables.extend([point, point + n].map(|leaf| CableLine {
                    a: leaf,
                    b: line + 2 * n,
                    count: 1,
                    class: 1,
                }));
            }
        }
    }
    GraphText {
        names: ["a", "b", "s"]
            .iter()
            .flat_map(|side| (0..n).map(move |at| format!("{side}{at}")))
            .collect(),
        nodes: (0..3 * n).map(|router| (router >= 2 * n).then_some(0)).collect(),
        cables,
        classes: ["host", "link"].map(str::to_owned).to_vec(),
    }
}
