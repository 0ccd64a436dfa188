//! Topologies and their parameters.

use study::{Default, Entry, Named, Parameter, Type, When, choice, key};

const COUNT: Type = Type::Integer {
    min: 1,
    max: u32::MAX as u64,
};
const COUNTS: Type = Type::Integers {
    min: 1,
    max: u32::MAX as u64,
    single: false,
};
const WIDTH: Type = Type::Integer { min: 1, max: 65_535 };
const WIDTHS: Type = Type::Integers {
    min: 1,
    max: 65_535,
    single: true,
};
const NODES: Type = Type::Integer { min: 1, max: 65_535 };

const NODES_PER_ROUTER: Parameter = key("nodes_per_router", NODES, Default::Text("1"), "Nodes on every router.");

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

const GLOBAL_CABLES: &[Parameter] = &[
    key(
        "links_per_pair",
        WIDTH,
        Default::Text("1"),
        "Parallel global cables between each pair of groups.",
    ),
    key(
        "local_width",
        WIDTH,
        Default::Text("1"),
        "Parallel cables between two routers of a group that are neighbours.",
    ),
    key(
        "arrangement",
        Type::Choice(ArrangementWord::WORDS),
        Default::Text("absolute"),
        "Which router of a group owns which global cable (Hastings et al. 2015).",
    ),
    key(
        "seed",
        Type::Integer {
            min: 0,
            max: i64::MAX as u64,
        },
        Default::Text("1"),
        "Seed of the random arrangement.",
    )
    .when(&[When {
        key: "arrangement",
        values: &["random"],
    }]),
];

/// Keys of `[topology]` that do not depend on the kind.
pub(crate) const TOPOLOGY_COMMON: &[Parameter] = &[
    key(
        "kind",
        Type::Of(&super::TOPOLOGY),
        Default::From("the kind of the preset"),
        "The family of the network.",
    ),
    key(
        "preset",
        Type::Name,
        Default::From("no preset"),
        "A ready-made network that gives all values; other keys given beside it replace single values.",
    ),
];

pub(super) const TOPOLOGIES: &[Entry] = &[
    Entry {
        name: "single-router",
        line: "One router with all nodes.",
        groups: &[&[key(
            "nodes",
            Type::Integer { min: 1, max: 65_535 },
            Default::Required,
            "Nodes on the router.",
        )]],
        source: "",
        limits: "",
    },
    Entry {
        name: "ring",
        line: "Routers on a ring.",
        groups: &[&[
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
        ]],
        source: "",
        limits: "",
    },
    Entry {
        name: "mesh",
        line: "An n-dimensional mesh: neighbours differ by one in one coordinate, no wrap-around.",
        groups: &[LATTICE],
        source: "Dally and Towles 2004, chapter 5",
        limits: "",
    },
    Entry {
        name: "torus",
        line: "An n-dimensional torus; a dimension of two routers has two distinct cables.",
        groups: &[LATTICE],
        source: "Dally and Towles 2004, chapter 5",
        limits: "",
    },
    Entry {
        name: "hyperx",
        line: "An n-dimensional HyperX: routers that differ in one coordinate are neighbours.",
        groups: &[LATTICE],
        source: "Ahn et al. 2009",
        limits: "",
    },
    Entry {
        name: "dragonfly",
        line: "Groups of routers, every pair of groups joined by global cables.",
        groups: &[
            &[
                key("groups", COUNT, Default::Required, "Number of groups."),
                key(
                    "routers_per_group",
                    Type::Integers {
                        min: 1,
                        max: u32::MAX as u64,
                        single: true,
                    },
                    Default::Required,
                    "Routers of a group: one number (all-to-all), or rows and columns (all-to-all in each row and each column).",
                ),
                NODES_PER_ROUTER,
            ],
            GLOBAL_CABLES,
        ],
        source: "Kim et al. 2008",
        limits: "",
    },
    Entry {
        name: "dragonfly+",
        line: "Groups of leaf and spine routers, spines of different groups joined by global cables (megafly).",
        groups: &[
            &[
                key("groups", COUNT, Default::Required, "Number of groups."),
                key("leaves", COUNT, Default::Required, "Leaf routers per group."),
                key("spines", COUNT, Default::Required, "Spine routers per group."),
                key("nodes_per_leaf", NODES, Default::Text("1"), "Nodes per leaf router."),
            ],
            GLOBAL_CABLES,
        ],
        source: "Shpiner et al. 2017; Flajslik et al. 2018",
        limits: "",
    },
    Entry {
        name: "fat-tree",
        line: "An extended generalised fat-tree XGFT with parallel cables.",
        groups: &[&[
            key(
                "down",
                COUNTS,
                Default::Required,
                "Children of a router of each level, leaves first: the first number is nodes per leaf router.",
            ),
            key(
                "up",
                COUNTS,
                Default::From("the entries of `down` but the last, the first divided by `taper`"),
                "Distinct parents of a router of each level below the top: one entry fewer than `down`.",
            ),
            key(
                "up_width",
                Type::Integers {
                    min: 1,
                    max: 65_535,
                    single: true,
                },
                Default::Text("[]"),
                "Parallel cables of each of those up connections; one number stands for all levels, an empty list for 1.",
            ),
            key(
                "taper",
                Type::Integer { min: 1, max: 65_535 },
                Default::Text("1"),
                "Nodes per uplink of a leaf router, the levels above at full bandwidth; instead of `up`, must divide `down[0]`.",
            ),
        ]],
        source: "Öhring et al. 1995",
        limits: "",
    },
    Entry {
        name: "graph",
        line: "Any graph from a file.",
        groups: &[&[
            key(
                "file",
                Type::Text,
                Default::Required,
                "Path of the file, relative to the study's folder.",
            ),
            key(
                "format",
                Type::Choice(FormatWord::WORDS),
                Default::From(
                    "the file's ending: graphml for `.graphml` and `.xml`, ibnetdiscover for `.ibnetdiscover`, else edge-list",
                ),
                "Format of the file.",
            ),
            key(
                "nodes_per_router",
                Type::Integer { min: 0, max: 65_535 },
                Default::Text("0"),
                "Nodes on each router that the file gives none.",
            ),
        ]],
        source: "",
        limits: "Routing is the generic minimal one.",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topology_has_distinct_keys() {
        for entry in TOPOLOGIES {
            let mut keys: Vec<_> = entry
                .parameters()
                .chain(TOPOLOGY_COMMON)
                .map(|parameter| parameter.key)
                .collect();
            keys.sort_unstable();
            let n_keys = keys.len();
            keys.dedup();
            assert_eq!(keys.len(), n_keys, "{}", entry.name);
        }
    }
}

choice! {
    /// The word of a [`GraphFormat`](topo::GraphFormat).
    pub(crate) enum FormatWord {
        EdgeList = "edge-list", "A cable per line: `router router [count] [class]`; `node ROUTER [count]` places nodes.";
        Graphml = "graphml", "GraphML; node attribute `nodes`, edge attributes `count` and `class`.";
        BuiltIn = "built-in", "No file: `file` is the name of a preset that is none of the regular families.";
        Ibnetdiscover = "ibnetdiscover", "An InfiniBand fabric as `ibnetdiscover` prints it; rates such as `4xEDR` are the link classes.";
    }
}

choice! {
    /// The word of an [`Arrangement`](topo::Arrangement).
    pub(crate) enum ArrangementWord {
        Absolute = "absolute", "Port k of a group goes to group k, itself skipped.";
        Relative = "relative", "Port k of group g goes to group g + k + 1.";
        Circulant = "circulant", "Ports alternate between g + i and g - i.";
        Random = "random", "A seeded random assignment.";
    }
}
