//! Cables cut and imbalance of the family's order and of METIS, for every family at several sizes and numbers of workers.
//!
//! `cargo run --release -p fabricsim-topo --example partitions`

use std::time::Instant;
use topo::partition::Made;
use topo::{
    Arrangement, DragonflyPlusSpec, DragonflySpec, FatTreeSpec, Lattice, Method, Partition, RingSpec, TopologySpec,
};

fn lattice(shape: &[u32], nodes_per_router: u32) -> Lattice {
    Lattice {
        shape: shape.to_vec(),
        width: vec![],
        nodes_per_router,
    }
}

fn dragonfly(groups: u32, group: &[u32], nodes_per_router: u32, links_per_pair: u32) -> TopologySpec {
    TopologySpec::Dragonfly(DragonflySpec {
        groups,
        routers_per_group: group.to_vec(),
        nodes_per_router,
        links_per_pair,
        local_width: 1,
        arrangement: Arrangement::Absolute,
        arrangement_seed: 0,
    })
}

fn megafly(groups: u32, half: u32) -> TopologySpec {
    TopologySpec::DragonflyPlus(DragonflyPlusSpec {
        groups,
        leaves: half,
        spines: half,
        nodes_per_leaf: half,
        links_per_pair: 1,
        local_width: 1,
        arrangement: Arrangement::Absolute,
        arrangement_seed: 0,
    })
}

fn fat_tree(down: &[u32], up: &[u32]) -> TopologySpec {
    TopologySpec::FatTree(FatTreeSpec {
        down: down.to_vec(),
        up: up.to_vec(),
        up_width: vec![],
    })
}

fn main() {
    let ring = |routers| {
        TopologySpec::Ring(RingSpec {
            routers,
            width: 1,
            nodes_per_router: 2,
        })
    };
    let networks = [
        ("ring 64", ring(64)),
        ("ring 1000", ring(1000)),
        ("mesh 8x8", TopologySpec::Mesh(lattice(&[8, 8], 1))),
        ("mesh 20x30x10", TopologySpec::Mesh(lattice(&[20, 30, 10], 1))),
        ("torus 8x8x8", TopologySpec::Torus(lattice(&[8, 8, 8], 1))),
        ("torus 16x16x16", TopologySpec::Torus(lattice(&[16, 16, 16], 1))),
        ("torus 100x100x100", TopologySpec::Torus(lattice(&[100, 100, 100], 1))),
        ("hyperx 4x8", TopologySpec::HyperX(lattice(&[4, 8], 4))),
        ("hyperx 8x8x8", TopologySpec::HyperX(lattice(&[8, 8, 8], 8))),
        ("dragonfly 9 of 4", dragonfly(9, &[4], 2, 1)),
        ("dragonfly 73 of 12", dragonfly(73, &[12], 6, 1)),
        ("dragonfly 12 of 6x16", dragonfly(12, &[6, 16], 4, 80)),
        ("dragonfly+ 5 of 4+4", megafly(5, 4)),
        ("dragonfly+ 33 of 8+8", megafly(33, 8)),
        ("fat-tree 4,4,4", fat_tree(&[4, 4, 8], &[4, 4])),
        ("fat-tree 16,16,32", fat_tree(&[16, 16, 32], &[16, 16])),
        ("fat-tree 24,12,24 tapered", fat_tree(&[24, 12, 24], &[12, 6])),
        ("fat-tree 8,8,4,4", fat_tree(&[8, 8, 4, 4], &[8, 4, 4])),
    ];
    println!(
        "{:26} {:>8} {:>8} {:>16} {:>16} {:>6}",
        "network", "routers", "workers", "order: cut, max", "metis: cut, max", "ratio"
    );
    let large = std::env::args().any(|a| a == "--large");
    for (name, spec) in networks {
        let topology = spec.build().expect("the specification is valid");
        if topology.n_routers() > 100_000 && !large {
            continue;
        }
        for workers in [2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 48, 64] {
            let started = Instant::now();
            let blocks = Partition::new(&topology, &Method::Blocks, workers, 8).expect("few blocks");
            let a = (started.elapsed(), blocks.quality(&topology));
            let started = Instant::now();
            // METIS alone: what it makes without being compared.
            let metis = Partition::by_metis_alone(&topology, workers);
            let b = (
                started.elapsed(),
                metis.filter(|m| m.made() == Made::Metis).map(|m| m.quality(&topology)),
            );
            let cut = |q: &topo::Quality| format!("{} {:.3}", q.cables_cut, q.imbalance);
            println!(
                "{name:26} {:>8} {workers:>8} {:>16} {:>16} {:>6} {:>9.1?} {:>9.1?}",
                topology.n_routers(),
                cut(&a.1),
                b.1.as_ref().map_or("-".into(), cut),
                b.1.as_ref().map_or("-".into(), |q| format!(
                    "{:.2}",
                    a.1.cables_cut as f64 / q.cables_cut as f64
                )),
                a.0,
                b.0
            );
        }
    }
}
