//! The networks that every conformance test runs on: one line enrols a specification.

// Each test file uses its part of these helpers.
#![allow(dead_code)]

use topo::{
    Arrangement, DragonflyPlusSpec, DragonflySpec, ExpressMeshSpec, FatTreeSpec, GraphFormat, GraphSpec, Lattice,
    OftSpec, RandomRegularSpec, RingSpec, SingleRouterSpec, SlimFlySpec, TopologySpec,
};

pub fn lattice(shape: &[u32], width: &[u32], nodes_per_router: u32) -> Lattice {
    Lattice {
        shape: shape.to_vec(),
        width: width.to_vec(),
        nodes_per_router,
    }
}

pub fn torus(shape: &[u32], width: &[u32], nodes: u32) -> TopologySpec {
    TopologySpec::Torus(lattice(shape, width, nodes))
}

pub fn mesh(shape: &[u32], width: &[u32], nodes: u32) -> TopologySpec {
    TopologySpec::Mesh(lattice(shape, width, nodes))
}

pub fn hyperx(shape: &[u32], width: &[u32], nodes: u32) -> TopologySpec {
    TopologySpec::HyperX(lattice(shape, width, nodes))
}

pub fn dragonfly(
    groups: u32,
    group: &[u32],
    nodes: u32,
    links: u32,
    width: u32,
    arrangement: Arrangement,
) -> TopologySpec {
    TopologySpec::Dragonfly(DragonflySpec {
        groups,
        routers_per_group: group.to_vec(),
        nodes_per_router: nodes,
        links_per_pair: links,
        local_width: width,
        arrangement,
        arrangement_seed: 11,
    })
}

pub fn megafly(
    groups: u32,
    leaves: u32,
    spines: u32,
    nodes: u32,
    links: u32,
    width: u32,
    arrangement: Arrangement,
) -> TopologySpec {
    TopologySpec::DragonflyPlus(DragonflyPlusSpec {
        groups,
        leaves,
        spines,
        nodes_per_leaf: nodes,
        links_per_pair: links,
        local_width: width,
        arrangement,
        arrangement_seed: 11,
    })
}

pub fn fat_tree(down: &[u32], up: &[u32], up_width: &[u32]) -> TopologySpec {
    TopologySpec::FatTree(FatTreeSpec {
        down: down.to_vec(),
        up: up.to_vec(),
        up_width: up_width.to_vec(),
    })
}

pub fn ring(routers: u32, width: u32, nodes_per_router: u32) -> TopologySpec {
    TopologySpec::Ring(RingSpec {
        routers,
        width,
        nodes_per_router,
    })
}

pub fn graph(name: &str, nodes_per_router: u32) -> TopologySpec {
    let format = if name.ends_with("graphml") {
        GraphFormat::Graphml
    } else {
        GraphFormat::EdgeList
    };
    TopologySpec::Graph(GraphSpec {
        text: None,
        file: format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR")),
        format,
        nodes_per_router,
    })
}

pub fn slim_fly(q: u32, nodes_per_router: u32) -> TopologySpec {
    TopologySpec::SlimFly(SlimFlySpec { q, nodes_per_router })
}

pub fn oft(k: u32, nodes_per_leaf: u32) -> TopologySpec {
    TopologySpec::Oft(OftSpec { k, nodes_per_leaf })
}

pub fn express_mesh(shape: &[u32], gap: u32, nodes_per_router: u32) -> TopologySpec {
    TopologySpec::ExpressMesh(ExpressMeshSpec {
        shape: shape.to_vec(),
        gap,
        nodes_per_router,
    })
}

pub fn random_regular(routers: u32, degree: u32, nodes_per_router: u32) -> TopologySpec {
    TopologySpec::RandomRegular(RandomRegularSpec {
        routers,
        degree,
        nodes_per_router,
        seed: 5,
    })
}

/// Every family, at sizes where all pairs can be tried.
pub fn enrolled() -> Vec<TopologySpec> {
    use Arrangement::*;
    vec![
        TopologySpec::SingleRouter(SingleRouterSpec { nodes: 5 }),
        slim_fly(3, 1),
        slim_fly(4, 2),
        slim_fly(5, 0),
        random_regular(8, 3, 1),
        random_regular(11, 5, 3),
        oft(3, 0),
        oft(4, 1),
        oft(5, 2),
        express_mesh(&[7], 2, 1),
        express_mesh(&[9, 2], 3, 2),
        express_mesh(&[4, 1, 5], 4, 1),
        express_mesh(&[4, 3], 1, 1),
        ring(3, 1, 1),
        ring(4, 2, 1),
        ring(9, 1, 3),
        mesh(&[7], &[], 1),
        mesh(&[2, 2], &[3, 1], 1),
        mesh(&[4, 3, 5], &[1, 2, 1], 2),
        mesh(&[1, 6, 1, 2], &[2, 2, 2, 2], 1),
        torus(&[1], &[], 4),
        torus(&[2], &[], 1),
        torus(&[2, 2, 2], &[1, 2, 3], 1),
        torus(&[4, 4], &[], 1),
        torus(&[5, 4, 3], &[1, 1, 2], 2),
        torus(&[1, 6, 2], &[1, 2, 1], 1),
        torus(&[3, 2, 4, 2, 3], &[], 1),
        hyperx(&[2], &[], 1),
        hyperx(&[4, 4], &[], 1),
        hyperx(&[3, 5, 2], &[2, 1, 3], 2),
        hyperx(&[1, 7, 1, 3], &[4, 1, 1, 2], 1),
        dragonfly(1, &[4], 2, 0, 2, Absolute),
        dragonfly(4, &[1], 1, 1, 1, Relative),
        dragonfly(9, &[4], 2, 1, 1, Absolute),
        dragonfly(9, &[4], 2, 1, 1, Relative),
        dragonfly(9, &[4], 2, 1, 1, Circulant),
        dragonfly(9, &[4], 2, 1, 1, Random),
        dragonfly(6, &[4], 1, 5, 2, Absolute),
        dragonfly(5, &[3], 1, 7, 1, Random),
        dragonfly(2, &[4], 1, 2, 1, Circulant),
        dragonfly(8, &[6], 1, 6, 1, Circulant),
        dragonfly(7, &[2, 3], 1, 1, 1, Absolute),
        dragonfly(5, &[3, 4], 1, 4, 2, Relative),
        dragonfly(6, &[3, 3], 2, 3, 1, Circulant),
        dragonfly(4, &[2, 5], 1, 9, 1, Random),
        dragonfly(5, &[4, 1], 1, 2, 1, Absolute),
        megafly(1, 3, 2, 2, 0, 1, Absolute),
        megafly(5, 4, 4, 2, 1, 1, Absolute),
        megafly(5, 2, 4, 1, 4, 2, Relative),
        megafly(4, 3, 2, 2, 5, 1, Circulant),
        megafly(6, 3, 3, 1, 2, 1, Random),
        megafly(3, 1, 1, 3, 2, 1, Absolute),
        fat_tree(&[4], &[], &[]),
        fat_tree(&[4, 6], &[3], &[]),
        fat_tree(&[2, 2, 2, 2], &[2, 2, 2], &[]),
        fat_tree(&[4, 4, 4], &[4, 4], &[]),
        fat_tree(&[4, 3, 6], &[2, 3], &[2, 1]),
        fat_tree(&[3, 4, 2], &[3, 2], &[1, 4]),
        fat_tree(&[2, 1, 3], &[2, 2], &[]),
        fat_tree(&[3, 3, 1], &[1, 4], &[]),
        graph("tree.edges", 1),
        graph("petersen.edges", 2),
        graph("star-of-rings.graphml", 1),
    ]
}
