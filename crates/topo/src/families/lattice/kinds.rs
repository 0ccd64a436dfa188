//! The kinds of lattices: what a study says of a ring, a mesh, a torus and a HyperX, and what is wrong with it.

use super::dimension_name;
use super::geometry::{LatticeGeometry, LatticeKind, lines};
use crate::families::keys::{COUNTS, NODES_PER_ROUTER, TAPER, WIDTH, WIDTHS, taper};
use crate::families::{GraphFile, HyperX, Mesh, NamedTopology, Ring, TopologyKeys, Torus};
use crate::problems::{FieldError, MOST_DIMENSIONS, Problems};
use crate::wiring::Wiring;
use serde::{Deserialize, Serialize};
use study::{Default, Parameter, Type, key};

/// A ring of routers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RingSpec {
    /// Routers on the ring.
    pub routers: u32,
    /// Parallel cables between neighbours.
    pub width: u32,
    /// Nodes per router.
    pub nodes_per_router: u32,
}

/// Extents of a lattice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lattice {
    /// Routers along each dimension.
    pub shape: Vec<u32>,
    /// Parallel cables along each dimension; empty means 1 everywhere.
    pub width: Vec<u32>,
    /// Nodes per router.
    pub nodes_per_router: u32,
}

const RING: &[Parameter] = &[
    key(
        "routers",
        Type::Integer {
            min: 3,
            max: u32::MAX as u64,
        },
        Default::Required,
        "Routers on the ring.",
    ),
    key(
        "width",
        WIDTH,
        Default::Text("1"),
        "Parallel cables between neighbours.",
    ),
    NODES_PER_ROUTER,
];

const LATTICE: &[Parameter] = &[
    key(
        "shape",
        COUNTS,
        Default::Required,
        "Routers along each dimension (x, y, z, ...).",
    ),
    key(
        "width",
        WIDTHS,
        Default::Text("[]"),
        "Parallel cables along each dimension; one number stands for all dimensions, an empty list for 1 everywhere.",
    ),
    NODES_PER_ROUTER,
];

const TAPERED: &[Parameter] = &[key(
    "taper",
    TAPER,
    Default::From("what `width` makes it"),
    "Nodes of half a line of routers per cable between its halves, in every dimension: 2 nodes_per_router / (size width), 1 with full bisection; instead of `width`. Beside a preset it divides what that has.",
)];

impl Lattice {
    fn read(keys: &TopologyKeys<'_>) -> Option<Lattice> {
        let shape = keys.numbers("shape");
        Some(Lattice {
            width: keys.spread("width", shape.len()),
            nodes_per_router: keys.number("nodes_per_router")?,
            shape,
        })
    }
}

impl NamedTopology for Ring {
    type Parameters = RingSpec;
    type Family = LatticeGeometry;

    const LINE: &'static str = "Routers on a ring.";
    const KEYS: &'static [&'static [Parameter]] = &[RING];
    const NODES: &'static str = "nodes_per_router";

    fn read(keys: &mut TopologyKeys<'_>) -> Option<RingSpec> {
        Some(RingSpec {
            routers: keys.number("routers")?,
            width: keys.number("width")?,
            nodes_per_router: keys.number("nodes_per_router")?,
        })
    }

    fn build(spec: &RingSpec, _file: &GraphFile<'_>) -> Result<(LatticeGeometry, Wiring), Vec<FieldError>> {
        build_ring(spec.routers, spec.width, spec.nodes_per_router)
    }

    fn reduce(spec: &mut RingSpec) {
        spec.routers = short_ring(spec.routers);
        spec.width = spec.width.min(2);
        spec.nodes_per_router = 1;
    }
}

impl NamedTopology for Mesh {
    type Parameters = Lattice;
    type Family = LatticeGeometry;

    const LINE: &'static str = "An n-dimensional mesh: neighbours differ by one in one coordinate, no wrap-around.";
    const KEYS: &'static [&'static [Parameter]] = &[LATTICE];
    const SOURCE: &'static str = "Dally and Towles 2004, chapter 5";
    const NODES: &'static str = "nodes_per_router";

    fn read(keys: &mut TopologyKeys<'_>) -> Option<Lattice> {
        Lattice::read(keys)
    }

    fn build(spec: &Lattice, _file: &GraphFile<'_>) -> Result<(LatticeGeometry, Wiring), Vec<FieldError>> {
        build_lattice(LatticeKind::Mesh, spec)
    }

    fn reduce(spec: &mut Lattice) {
        shrink(spec, |s| s.min(4));
    }
}

impl NamedTopology for Torus {
    type Parameters = Lattice;
    type Family = LatticeGeometry;

    const LINE: &'static str = "An n-dimensional torus; a dimension of two routers has two distinct cables.";
    const KEYS: &'static [&'static [Parameter]] = &[LATTICE];
    const SOURCE: &'static str = "Dally and Towles 2004, chapter 5";
    const NODES: &'static str = "nodes_per_router";

    fn read(keys: &mut TopologyKeys<'_>) -> Option<Lattice> {
        Lattice::read(keys)
    }

    fn build(spec: &Lattice, _file: &GraphFile<'_>) -> Result<(LatticeGeometry, Wiring), Vec<FieldError>> {
        build_lattice(LatticeKind::Torus, spec)
    }

    fn reduce(spec: &mut Lattice) {
        shrink(spec, short_ring);
    }
}

impl NamedTopology for HyperX {
    type Parameters = Lattice;
    type Family = LatticeGeometry;

    const LINE: &'static str = "An n-dimensional HyperX: routers that differ in one coordinate are neighbours.";
    const KEYS: &'static [&'static [Parameter]] = &[LATTICE, TAPERED];
    const SOURCE: &'static str = "Ahn et al. 2009";
    const NODES: &'static str = "nodes_per_router";

    fn read(keys: &mut TopologyKeys<'_>) -> Option<Lattice> {
        let lattice = Lattice::read(keys)?;
        Some(match taper(keys, "width").ok()? {
            Some(taper) => Lattice {
                width: tapered(keys, &lattice, taper)?,
                ..lattice
            },
            None => lattice,
        })
    }

    fn build(spec: &Lattice, _file: &GraphFile<'_>) -> Result<(LatticeGeometry, Wiring), Vec<FieldError>> {
        build_lattice(LatticeKind::HyperX, spec)
    }

    fn reduce(spec: &mut Lattice) {
        shrink(spec, |s| s.min(4));
    }
}

/// Cables along each dimension of a HyperX with so many nodes of half a line per cable between its halves.
fn tapered(keys: &mut TopologyKeys<'_>, lattice: &Lattice, taper: u32) -> Option<Vec<u32>> {
    let nodes = 2 * u64::from(lattice.nodes_per_router);
    let share = |size: u32| u64::from(taper) * u64::from(size);
    let has_none = |size: &&u32| **size > 1 && !nodes.is_multiple_of(share(**size));
    if let Some(&size) = lattice.shape.iter().find(has_none) {
        let reason = format!(
            "{} nodes per router and {size} routers along a dimension ask for {:.3} cables between two of them",
            lattice.nodes_per_router,
            nodes as f64 / share(size) as f64
        );
        keys.error("taper", reason, "give width in its place, such as width = [2, 1, 1]");
        return None;
    }
    let width = |&size: &u32| if size > 1 { nodes / share(size) } else { 1 };
    // What is too many is told with the ports that they would take.
    Some(
        lattice
            .shape
            .iter()
            .map(|size| width(size).try_into().unwrap_or(u32::MAX))
            .collect(),
    )
}

fn build_ring(routers: u32, width: u32, nodes: u32) -> Result<(LatticeGeometry, Wiring), Vec<FieldError>> {
    let mut problems = Problems::default();
    if routers < 3 {
        let counted = format!("{routers} {}", if routers == 1 { "router is" } else { "routers are" });
        problems.add(
            "routers",
            format!("{counted} too few, a ring needs at least 3"),
            Some("use a mesh or torus of shape [2] for two routers"),
        );
    }
    problems.at_least("width", width, 1);
    problems.at_least("nodes_per_router", nodes, 1);
    check_size(
        &mut problems,
        LatticeKind::Torus,
        &[routers],
        &[width],
        nodes,
        ["routers", "width"],
    );
    problems.done()?;
    let geometry = LatticeGeometry::new(LatticeKind::Torus, &[routers], &[width], nodes);
    let wiring = Wiring::bare(vec!["host".into(), "ring".into()]);
    Ok((geometry, wiring))
}

fn build_lattice(kind: LatticeKind, lattice: &Lattice) -> Result<(LatticeGeometry, Wiring), Vec<FieldError>> {
    let mut problems = Problems::default();
    let Lattice {
        shape,
        width,
        nodes_per_router,
    } = lattice;
    if shape.is_empty() || shape.len() > MOST_DIMENSIONS {
        let reason = format!("{} dimensions, there must be 1 to {MOST_DIMENSIONS}", shape.len());
        problems.add("shape", reason, Some("for example shape = [8, 8, 8]"));
    }
    problems.all_at_least("shape", shape, 1);
    if !width.is_empty() && width.len() != shape.len() {
        let reason = format!("{} widths for {} dimensions", width.len(), shape.len());
        problems.add(
            "width",
            reason,
            Some("give one width per dimension, or none for single cables"),
        );
    }
    problems.all_at_least("width", width, 1);
    problems.at_least("nodes_per_router", *nodes_per_router, 1);
    check_size(&mut problems, kind, shape, width, *nodes_per_router, ["shape", "width"]);
    problems.done()?;
    let geometry = LatticeGeometry::new(kind, shape, width, *nodes_per_router);
    let classes = std::iter::once("host".to_owned())
        .chain((0..shape.len()).map(dimension_name))
        .collect();
    let wiring = Wiring::bare(classes);
    Ok((geometry, wiring))
}

fn check_size(problems: &mut Problems, kind: LatticeKind, shape: &[u32], width: &[u32], nodes: u32, keys: [&str; 2]) {
    let routers = shape.iter().fold(1u64, |n, &s| n.saturating_mul(u64::from(s)));
    let one = |(i, &s): (usize, &u32)| u64::from(lines(kind, s.max(1))) * u64::from(*width.get(i).unwrap_or(&1));
    let ports = shape.iter().enumerate().map(one).fold(0u64, u64::saturating_add);
    problems.size(
        routers,
        routers.saturating_mul(ports),
        routers.saturating_mul(u64::from(nodes)),
        keys[0],
    );
    problems.radix(ports, 1, keys[1]);
}

/// Dimensions that keep more than one router in a small network.
const MOST_LONG: usize = 4;

/// Rings of 4 and 5 have all dependencies of longer even and odd rings: with ties, and without.
fn short_ring(size: u32) -> u32 {
    if size <= 5 { size } else { 4 + size % 2 }
}

fn shrink(lattice: &mut Lattice, size: impl Fn(u32) -> u32) {
    let mut kept = 0;
    for s in &mut lattice.shape {
        *s = if kept < MOST_LONG { size(*s) } else { 1 };
        kept += usize::from(*s > 1);
    }
    lattice.width.iter_mut().for_each(|w| *w = (*w).min(2));
    lattice.nodes_per_router = 1;
}
