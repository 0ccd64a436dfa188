//! What a user may ask for: one variant per topology, plain numbers, checked by [`TopologySpec::build`].

use serde::{Deserialize, Serialize};

/// A topology's parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TopologySpec {
    /// One router with `nodes` nodes.
    SingleRouter(SingleRouterSpec),
    /// A ring of routers.
    Ring(RingSpec),
    /// An n-dimensional mesh.
    Mesh(Lattice),
    /// An n-dimensional torus; a dimension of two routers has two distinct cables.
    Torus(Lattice),
    /// An n-dimensional HyperX: routers that differ in one coordinate are neighbours.
    #[serde(rename = "hyperx")]
    HyperX(Lattice),
    /// A dragonfly of groups.
    Dragonfly(DragonflySpec),
    /// A dragonfly+ (megafly): groups of leaf and spine routers, all leaves to all spines, spines of different groups by global cables.
    #[serde(rename = "dragonfly+")]
    DragonflyPlus(DragonflyPlusSpec),
    /// An extended generalised fat-tree XGFT(h; m1..mh; w1..wh) with parallel cables (Oehring et al. 1995).
    FatTree(FatTreeSpec),
    /// Any graph from a file.
    Graph(GraphSpec),
}

/// One router with `nodes` nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SingleRouterSpec {
    /// Nodes on the router.
    pub nodes: u32,
}

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

/// A dragonfly of groups.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DragonflySpec {
    /// Number of groups.
    pub groups: u32,
    /// Routers of a group: one number (all-to-all) or rows and columns (all-to-all in each row and column).
    pub routers_per_group: Vec<u32>,
    /// Nodes per router.
    pub nodes_per_router: u32,
    /// Parallel global cables between each pair of groups.
    pub links_per_pair: u32,
    /// Parallel cables between two routers of a group that are neighbours.
    pub local_width: u32,
    /// Which router of a group owns which global cable.
    pub arrangement: Arrangement,
    /// Seed of the `random` arrangement.
    pub arrangement_seed: u64,
}

/// A dragonfly+ (megafly): groups of leaf and spine routers, all leaves to all spines, spines of different groups by global cables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DragonflyPlusSpec {
    /// Number of groups.
    pub groups: u32,
    /// Leaf routers per group.
    pub leaves: u32,
    /// Spine routers per group.
    pub spines: u32,
    /// Nodes per leaf router.
    pub nodes_per_leaf: u32,
    /// Parallel global cables between each pair of groups.
    pub links_per_pair: u32,
    /// Parallel cables between a leaf and a spine.
    pub local_width: u32,
    /// Which spine of a group owns which global cable.
    pub arrangement: Arrangement,
    /// Seed of the `random` arrangement.
    pub arrangement_seed: u64,
}

/// An extended generalised fat-tree XGFT(h; m1..mh; w1..wh) with parallel cables (Oehring et al. 1995).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FatTreeSpec {
    /// Children per router of level 1..=h (m); `down[0]` is nodes per leaf router.
    pub down: Vec<u32>,
    /// Distinct parents per router of level 1..h (w2..wh): one entry fewer than `down`.
    pub up: Vec<u32>,
    /// Parallel cables of each of those up connections; empty means 1 everywhere.
    pub up_width: Vec<u32>,
}

/// Any graph from a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphSpec {
    /// Path of the file, as resolved against the study's folder.
    pub file: String,
    /// Its format.
    pub format: GraphFormat,
    /// Nodes on each router that the file gives none.
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

/// Global cable arrangement of a dragonfly (Camarero et al. 2014; Hastings et al. 2015).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrangement {
    /// Port k of a group goes to group k, itself skipped.
    Absolute,
    /// Port k of group g goes to group g + k + 1.
    Relative,
    /// Ports alternate between g + i and g - i.
    Circulant,
    /// A seeded random assignment.
    Random,
}

/// Format of a graph file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GraphFormat {
    /// One cable per line: `router router [count] [class]`; `node ROUTER [count]` lines place nodes; `#` starts a comment.
    EdgeList,
    /// GraphML; node attribute `nodes`, edge attributes `count` and `class`.
    Graphml,
    /// No file: the name of a preset that is none of the regular families.
    BuiltIn,
    /// Output of `ibnetdiscover` for an InfiniBand fabric: switches are routers, adapters' ports nodes, rates link classes.
    Ibnetdiscover,
}

/// A parameter that cannot be built, in the words of the parameter's key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// Key below `[topology]`, with an index where it is a list: `shape[1]`.
    pub field: String,
    /// Why not.
    pub reason: String,
    /// What to do, if there is something to say.
    pub hint: Option<String>,
}

/// [`TopologyKind`] of a list: a line for each variant of [`TopologySpec`], with the name of the `kind` key.
macro_rules! topology_kinds {
    ($($(#[$about:meta])* $kind:ident = $name:literal;)+) => {
        /// A topology without its parameters.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum TopologyKind {
            $($(#[$about])* $kind,)+
        }

        impl TopologyKind {
            /// All of them.
            pub const ALL: &'static [TopologyKind] = &[$(TopologyKind::$kind),+];

            /// Its name, the `kind` of a specification.
            pub const fn name(self) -> &'static str {
                match self {
                    $(TopologyKind::$kind => $name,)+
                }
            }
        }

        impl TopologySpec {
            /// What it is, without its parameters.
            pub fn kind(&self) -> TopologyKind {
                match self {
                    $(TopologySpec::$kind(_) => TopologyKind::$kind,)+
                }
            }
        }
    };
}

topology_kinds! {
    /// One router.
    SingleRouter = "single-router";
    /// Routers on a ring.
    Ring = "ring";
    /// A mesh.
    Mesh = "mesh";
    /// A torus.
    Torus = "torus";
    /// A HyperX.
    HyperX = "hyperx";
    /// A dragonfly.
    Dragonfly = "dragonfly";
    /// A dragonfly+.
    DragonflyPlus = "dragonfly+";
    /// A fat-tree.
    FatTree = "fat-tree";
    /// Any graph.
    Graph = "graph";
}
