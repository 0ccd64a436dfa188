//! Networks with a name: the machines of published studies.
//!
//! * `ecp-*`: Table 1 of the ECP interconnect report: 64-port routers, about 8, 16 and 32 thousand nodes. Its fat-trees have three
//!   levels, full bisection and 32 nodes per leaf router. They are built here as pods of 32 leaves and 32 middle routers, pods joined
//!   by top routers that use all of their 64 ports, by parallel cables where there are fewer than 32 pods. (The table's number of leaf
//!   routers does not give its number of nodes; nodes per leaf and the number of nodes were kept.) Its dragonfly+ does not state
//!   spines: 32, so that leaves have as many cables up as nodes.
//! * `torus-N`: the N x N x N tori, one node per router, of the torus study (2 to 16), the RDR study (10) and larger ones.
//! * `tsubame2-hyperx`: the HyperX of 12 columns of 8 routers with 7 nodes each (TSUBAME2 talk); nodes in order go along a column, two racks
//!   of four routers (OpenSM with PARX).
//! * `tsubame2-fat-tree`: the fat-tree that it is held against: 48 leaves of 14 nodes with 18 uplinks, in 3 pods of 16, and 54 + 27
//!   switches of 36 ports. A middle switch has 18 uplinks and a top switch serves 12 cables of each pod, which no XGFT can: there
//!   each top switch is joined to one middle switch of a pod. It is a graph: six middle switches of each pod share nine top switches,
//!   two cables to each, as in three directors of 18 line and 9 fabric modules. (The talk states the size, not the cables.)

use crate::families::{
    Arrangement, DragonflyPlusSpec, DragonflySpec, FatTreeSpec, GraphSpec, Lattice, TSUBAME_TREE, TopologySpec,
};
use crate::graph_file::GraphFormat;

/// A network with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkPreset {
    /// What the user writes.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    network: PresetNetwork,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PresetNetwork {
    /// Shape and width per dimension; 16 nodes.
    HyperX([u32; 3], [u32; 3]),
    /// Groups, links between each pair of them; 32 routers of 16 nodes.
    Dragonfly(u32, u32),
    /// Groups, links between each pair of them; 32 leaves of 32 nodes, 32 spines.
    DragonflyPlus(u32, u32),
    /// Pods, top routers above each middle router, cables to each of them.
    FatTree(u32, u32, u32),
    /// Routers along each of three dimensions.
    Torus(u32),
    /// 12 x 8, 7 nodes.
    Tsubame,
    /// Three pods of 16 leaves of 14 nodes and 18 middle switches, 27 top switches.
    TsubameTree,
}

impl NetworkPreset {
    /// The specification.
    pub fn spec(&self) -> TopologySpec {
        match self.network {
            PresetNetwork::HyperX(shape, width) => TopologySpec::HyperX(Lattice {
                shape: shape.to_vec(),
                width: width.to_vec(),
                nodes_per_router: 16,
            }),
            PresetNetwork::Dragonfly(groups, links_per_pair) => TopologySpec::Dragonfly(DragonflySpec {
                groups,
                routers_per_group: vec![32],
                nodes_per_router: 16,
                links_per_pair,
                local_width: 1,
                arrangement: Arrangement::Absolute,
                arrangement_seed: 0,
            }),
            PresetNetwork::DragonflyPlus(groups, links_per_pair) => TopologySpec::DragonflyPlus(DragonflyPlusSpec {
                groups,
                leaves: 32,
                spines: 32,
                nodes_per_leaf: 32,
                links_per_pair,
                local_width: 1,
                arrangement: Arrangement::Absolute,
                arrangement_seed: 0,
            }),
            PresetNetwork::FatTree(pods, tops, cables) => TopologySpec::FatTree(FatTreeSpec {
                down: vec![32, 32, pods],
                up: vec![32, tops],
                up_width: vec![1, cables],
            }),
            PresetNetwork::Torus(k) => TopologySpec::Torus(Lattice {
                shape: vec![k; 3],
                width: vec![],
                nodes_per_router: 1,
            }),
            PresetNetwork::Tsubame => TopologySpec::HyperX(Lattice {
                shape: vec![8, 12],
                width: vec![],
                nodes_per_router: 7,
            }),
            PresetNetwork::TsubameTree => TopologySpec::Graph(GraphSpec {
                file: TSUBAME_TREE.to_owned(),
                text: None,
                format: GraphFormat::BuiltIn,
                nodes_per_router: 0,
            }),
        }
    }
}

const fn entry(name: &'static str, about: &'static str, network: PresetNetwork) -> NetworkPreset {
    NetworkPreset { name, about, network }
}

const PRESETS: &[NetworkPreset] = &[
    entry(
        "ecp-8k-fat-tree",
        "8,192 nodes: 256 leaf, 256 middle and 128 top routers of 64 ports, full bisection",
        PresetNetwork::FatTree(8, 4, 8),
    ),
    entry(
        "ecp-16k-fat-tree",
        "16,384 nodes: 512 leaf, 512 middle and 256 top routers of 64 ports, full bisection",
        PresetNetwork::FatTree(16, 8, 4),
    ),
    entry(
        "ecp-32k-fat-tree",
        "32,768 nodes: 1,024 leaf, 1,024 middle and 512 top routers of 64 ports, full bisection",
        PresetNetwork::FatTree(32, 16, 2),
    ),
    entry(
        "ecp-8k-hyperx",
        "8,192 nodes: HyperX 8 x 8 x 8, double cables, 16 nodes per router",
        PresetNetwork::HyperX([8, 8, 8], [2, 2, 2]),
    ),
    entry(
        "ecp-16k-hyperx",
        "16,384 nodes: HyperX 16 x 8 x 8, cables 1, 2, 2, 16 nodes per router",
        PresetNetwork::HyperX([16, 8, 8], [1, 2, 2]),
    ),
    entry(
        "ecp-32k-hyperx",
        "32,768 nodes: HyperX 16 x 16 x 8, cables 1, 1, 2, 16 nodes per router",
        PresetNetwork::HyperX([16, 16, 8], [1, 1, 2]),
    ),
    entry(
        "ecp-8k-dragonfly",
        "8,192 nodes: 16 groups of 32 routers of 16 nodes, 32 links per pair of groups",
        PresetNetwork::Dragonfly(16, 32),
    ),
    entry(
        "ecp-16k-dragonfly",
        "16,384 nodes: 32 groups of 32 routers of 16 nodes, 16 links per pair of groups",
        PresetNetwork::Dragonfly(32, 16),
    ),
    entry(
        "ecp-32k-dragonfly",
        "32,768 nodes: 64 groups of 32 routers of 16 nodes, 8 links per pair of groups",
        PresetNetwork::Dragonfly(64, 8),
    ),
    entry(
        "ecp-8k-dragonfly+",
        "8,192 nodes: 8 groups of 32 leaves of 32 nodes, 128 links per pair of groups",
        PresetNetwork::DragonflyPlus(8, 128),
    ),
    entry(
        "ecp-16k-dragonfly+",
        "16,384 nodes: 16 groups of 32 leaves of 32 nodes, 64 links per pair of groups",
        PresetNetwork::DragonflyPlus(16, 64),
    ),
    entry(
        "ecp-32k-dragonfly+",
        "32,768 nodes: 32 groups of 32 leaves of 32 nodes, 32 links per pair of groups",
        PresetNetwork::DragonflyPlus(32, 32),
    ),
    entry("torus-2", "8 nodes: torus 2 x 2 x 2", PresetNetwork::Torus(2)),
    entry("torus-3", "27 nodes: torus 3 x 3 x 3", PresetNetwork::Torus(3)),
    entry("torus-4", "64 nodes: torus 4 x 4 x 4", PresetNetwork::Torus(4)),
    entry("torus-5", "125 nodes: torus 5 x 5 x 5", PresetNetwork::Torus(5)),
    entry("torus-6", "216 nodes: torus 6 x 6 x 6", PresetNetwork::Torus(6)),
    entry("torus-7", "343 nodes: torus 7 x 7 x 7", PresetNetwork::Torus(7)),
    entry("torus-8", "512 nodes: torus 8 x 8 x 8", PresetNetwork::Torus(8)),
    entry("torus-9", "729 nodes: torus 9 x 9 x 9", PresetNetwork::Torus(9)),
    entry(
        "torus-10",
        "1,000 nodes: torus 10 x 10 x 10, the network of the RDR study",
        PresetNetwork::Torus(10),
    ),
    entry("torus-11", "1,331 nodes: torus 11 x 11 x 11", PresetNetwork::Torus(11)),
    entry("torus-12", "1,728 nodes: torus 12 x 12 x 12", PresetNetwork::Torus(12)),
    entry("torus-13", "2,197 nodes: torus 13 x 13 x 13", PresetNetwork::Torus(13)),
    entry("torus-14", "2,744 nodes: torus 14 x 14 x 14", PresetNetwork::Torus(14)),
    entry("torus-15", "3,375 nodes: torus 15 x 15 x 15", PresetNetwork::Torus(15)),
    entry("torus-16", "4,096 nodes: torus 16 x 16 x 16", PresetNetwork::Torus(16)),
    entry("torus-32", "32,768 nodes: torus 32 x 32 x 32", PresetNetwork::Torus(32)),
    entry(
        "torus-100",
        "1,000,000 nodes: torus 100 x 100 x 100",
        PresetNetwork::Torus(100),
    ),
    entry(
        "tsubame2-hyperx",
        "672 nodes: HyperX of 12 columns of 8 routers, 7 nodes each, nodes in order along the columns, rebuilt from TSUBAME2",
        PresetNetwork::Tsubame,
    ),
    entry(
        TSUBAME_TREE,
        "672 nodes: fat-tree of 48 leaves of 14 nodes with 18 uplinks, 3 pods, 54 middle and 27 top switches",
        PresetNetwork::TsubameTree,
    ),
];

/// All presets, in the order of the list.
pub fn presets() -> &'static [NetworkPreset] {
    PRESETS
}

/// The network of this name.
pub fn preset(name: &str) -> Option<TopologySpec> {
    PRESETS.iter().find(|p| p.name == name).map(NetworkPreset::spec)
}
