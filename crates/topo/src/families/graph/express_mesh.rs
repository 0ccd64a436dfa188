//! Express meshes: along each dimension routers are joined that are 1, 1 + gap, 1 + 2 gap, ... apart (Dally 1991; express-mesh of CODES). With a gap of 1 that is a HyperX, with one of the
//! line's length a mesh.
//!
//! Routers are numbered as those of a mesh, dimension 0 fastest, and named by their coordinates. Link classes are called as dimensions are.

use super::{Standing, laid_out};
use crate::families::graph::GraphTables;
use crate::families::keys::{COUNT, COUNTS, NODES_PER_ROUTER};
use crate::families::lattice::{dimension_name, on_grid};
use crate::families::{ExpressMesh, GraphFile, NamedTopology, TopologyKeys};
use crate::graph_file::{CableLine, GraphText};
use crate::problems::{FieldError, MOST_DIMENSIONS, Problems};
use crate::wiring::Wiring;
use serde::{Deserialize, Serialize};
use study::{Default, Parameter, key};

/// An express mesh.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpressMeshSpec {
    /// Routers along each dimension.
    pub shape: Vec<u32>,
    /// By how much cables grow in length from one to the next longer one.
    pub gap: u32,
    /// Nodes per router.
    pub nodes_per_router: u32,
}

const KEYS: &[Parameter] = &[
    key(
        "shape",
        COUNTS,
        Default::Required,
        "Routers along each dimension (x, y, z, ...).",
    ),
    key(
        "gap",
        COUNT,
        Default::Required,
        "Along a dimension routers are joined that are 1, 1 + gap, 1 + 2 gap, ... apart.",
    ),
    NODES_PER_ROUTER,
];

impl NamedTopology for ExpressMesh {
    type Parameters = ExpressMeshSpec;
    type Family = GraphTables;

    const LINE: &'static str =
        "A mesh with longer cables beside those to neighbours: 1, 1 + gap, 1 + 2 gap, ... routers on.";
    const KEYS: &'static [&'static [Parameter]] = &[KEYS];
    const SOURCE: &'static str = "Dally 1991; CODES, express-mesh";
    const LIMITS: &'static str = "Routing is the generic minimal one; no routing of lattices.";
    const NODES: &'static str = "nodes_per_router";

    fn read(keys: &mut TopologyKeys<'_>) -> Option<ExpressMeshSpec> {
        Some(ExpressMeshSpec {
            shape: keys.numbers("shape"),
            gap: keys.number("gap")?,
            nodes_per_router: keys.number("nodes_per_router")?,
        })
    }

    fn build(spec: &ExpressMeshSpec, _file: &GraphFile<'_>) -> Result<(GraphTables, Wiring), Vec<FieldError>> {
        let ExpressMeshSpec {
            shape,
            gap,
            nodes_per_router,
        } = spec;
        let mut problems = Problems::default();
        if shape.is_empty() || shape.len() > MOST_DIMENSIONS {
            let reason = format!("{} dimensions, there must be 1 to {MOST_DIMENSIONS}", shape.len());
            problems.add("shape", reason, Some("for example shape = [8, 8]"));
        }
        problems.all_at_least("shape", shape, 1);
        problems.at_least("gap", *gap, 1);
        problems.at_least("nodes_per_router", *nodes_per_router, 1);
        let routers = shape.iter().fold(1u64, |n, &size| n.saturating_mul(u64::from(size)));
        if routers > u64::from(super::MOST_ROUTERS) {
            let reason = format!(
                "{routers} routers, route tables are kept for up to {}",
                super::MOST_ROUTERS
            );
            problems.add(
                "shape",
                reason,
                Some("kind = \"mesh\" and \"hyperx\" have no such limit"),
            );
        }
        problems.done()?;
        let coordinates: Vec<Vec<u32>> = (0..routers as u32).map(|router| coordinates(shape, router)).collect();
        let standing = Standing {
            shelves: (0..routers as u32).map(|router| router / shape[0]).collect(),
            places: coordinates.iter().map(|at| on_grid(shape, at)).collect(),
            rises: false,
        };
        laid_out(&graph(shape, *gap, &coordinates), *nodes_per_router, "shape", standing)
    }

    /// Nothing smaller has the same ways.
    fn reduce(_spec: &mut ExpressMeshSpec) {}
}

fn coordinates(shape: &[u32], router: u32) -> Vec<u32> {
    let mut rest = router;
    let one = |&size: &u32| {
        let at = rest % size;
        rest /= size;
        at
    };
    shape.iter().map(one).collect()
}

fn graph(shape: &[u32], gap: u32, coordinates: &[Vec<u32>]) -> GraphText {
    let mut cables = Vec::new();
    for (router, at) in (0..).zip(coordinates) {
        let mut stride = 1;
        for (dim, (&size, &c)) in shape.iter().zip(at).enumerate() {
            // Each pair is met from its lower end.
            cables.extend((c + 1..size).step_by(gap as usize).map(|to| CableLine {
                a: router,
                b: router + (to - c) * stride,
                count: 1,
                class: dim as u8 + 1,
            }));
            stride *= size;
        }
    }
    let name = |at: &Vec<u32>| {
        let words: Vec<String> = at.iter().map(u32::to_string).collect();
        format!("({})", words.join(","))
    };
    GraphText {
        names: coordinates.iter().map(name).collect(),
        nodes: vec![None; coordinates.len()],
        cables,
        classes: std::iter::once("host".to_owned())
            .chain((0..shape.len()).map(dimension_name))
            .collect(),
    }
}
