//! What nodes do, where jobs are placed and how messages are spaced.

use crate::spec::{MatchingWord, ModeWord};
use study::{Default, Entry, Named, Parameter, SECOND, TIB, Type, When, key, size, time};

/// What all patterns share.
const TRAFFIC: &[Parameter] = &[
    key(
        "load",
        Type::Number { above: 0.0, max: 2.0 },
        Default::From("0.5, or with `count` all messages handed over at the start"),
        "Offered load as a fraction of the injection bandwidth.",
    ),
    key("message", size(TIB), Default::Text("2 KiB"), "Size of every message."),
    key(
        "count",
        Type::Integer { min: 1, max: 1 << 40 },
        Default::From("without end, until `run.end`"),
        "Messages per node.",
    ),
    key(
        "process",
        Type::Of(&super::PROCESS),
        Default::Text("poisson"),
        "Gaps between the messages of a node; only with `load`.",
    ),
];

const SHIFT: &[Parameter] = &[key(
    "by",
    Type::Integer {
        min: 1,
        max: u32::MAX as u64,
    },
    Default::From("half the number of nodes"),
    "The distance.",
)];

const HOT_SPOT: &[Parameter] = &[
    key(
        "targets",
        Type::Integer {
            min: 1,
            max: u32::MAX as u64,
        },
        Default::Text("1"),
        "Number of hot nodes: the first ones.",
    ),
    key(
        "fraction",
        Type::Number { above: 0.0, max: 1.0 },
        Default::Text("0.2"),
        "Fraction of the messages that go to the hot nodes.",
    ),
];

const INCAST: &[Parameter] = &[key(
    "sources",
    Type::Integer {
        min: 1,
        max: u32::MAX as u64,
    },
    Default::From("all other nodes"),
    "Number of senders: nodes 1, 2, ...",
)];

const RANDOM_MATCHING: &[When] = &[When {
    key: "matching",
    values: &["mutual", "senders-receivers"],
}];

const PAIRS: &[Parameter] = &[
    key(
        "matching",
        Type::Choice(MatchingWord::WORDS),
        Default::From("listed with `pairs`, else mutual"),
        "How nodes become pairs.",
    ),
    key(
        "pairs",
        Type::Pairs,
        Default::From("needed by matching \"listed\""),
        "Sender and receiver of every pair.",
    )
    .when(&[When {
        key: "matching",
        values: &["listed"],
    }]),
    key(
        "mode",
        Type::Choice(ModeWord::WORDS),
        Default::Text("stream"),
        "How a pair talks.",
    ),
    key(
        "batch",
        Type::Integer {
            min: 1,
            max: u32::MAX as u64,
        },
        Default::Text("10"),
        "Messages per acknowledgement.",
    )
    .when(&[When {
        key: "mode",
        values: &["batch"],
    }]),
    key(
        "messages",
        Type::Integer { min: 1, max: 1 << 40 },
        Default::Text("1"),
        "Data messages per sender.",
    ),
    key("message", size(TIB), Default::Text("2 KiB"), "Size of a data message."),
    key("ack", size(TIB), Default::Text("8 B"), "Size of an acknowledgement.").when(&[When {
        key: "mode",
        values: &["ping-pong", "batch"],
    }]),
    key(
        "active",
        Type::Integer {
            min: 2,
            max: u32::MAX as u64,
        },
        Default::From("all nodes of the job"),
        "Number of nodes that are on, drawn at random.",
    )
    .when(RANDOM_MATCHING),
    key(
        "start_spread",
        time(SECOND),
        Default::Text("0 ns"),
        "Nodes start at a random time from 0 to this.",
    ),
    key(
        "seed",
        Type::Integer {
            min: 0,
            max: i64::MAX as u64,
        },
        Default::From("the run's seed"),
        "Seed of the matching alone.",
    )
    .when(RANDOM_MATCHING),
];

const MESSAGES: &[Parameter] = &[
    key(
        "file",
        Type::Text,
        Default::From("`table` has the rows"),
        "CSV or Parquet file (`.parquet`) with a row per message, in any order; the columns are source, destination, bytes and one of \
         time (with a unit), time_ps, time_ns, time_us, time_ms, time_s.",
    ),
    key(
        "table",
        Type::Lines,
        Default::From("`file` has the rows"),
        "The same text in place of a file.",
    ),
];

const fn pattern(name: &'static str, line: &'static str, groups: &'static [&'static [Parameter]]) -> Entry {
    Entry {
        name,
        line,
        groups,
        source: "Dally and Towles 2004, section 3.2",
        limits: "",
    }
}

pub(super) const PATTERNS: &[Entry] = &[
    pattern(
        "uniform",
        "Every message to any other node, uniformly at random.",
        &[TRAFFIC],
    ),
    pattern(
        "shift",
        "Node i sends to node i + by, round the end.",
        &[SHIFT, TRAFFIC],
    ),
    Entry {
        limits: "With a power of two nodes it is the complement of the index bits.",
        ..pattern("bit-complement", "Node i of n sends to node n - 1 - i.", &[TRAFFIC])
    },
    Entry {
        limits: "Needs a square number of nodes.",
        ..pattern(
            "transpose",
            "Node r * k + c of k * k sends to node c * k + r.",
            &[TRAFFIC],
        )
    },
    pattern(
        "tornado",
        "Nearly half-way round in every dimension of a lattice, or round the node ring elsewhere.",
        &[TRAFFIC],
    ),
    pattern(
        "neighbour",
        "The next router in every dimension of a lattice in turn, or node i + 1 elsewhere.",
        &[TRAFFIC],
    ),
    pattern(
        "random-permutation",
        "One seeded random permutation without fixed points.",
        &[TRAFFIC],
    ),
    pattern(
        "hot-spot",
        "A fraction of the messages goes to a few hot nodes, the rest is uniform.",
        &[HOT_SPOT, TRAFFIC],
    ),
    Entry {
        source: "",
        ..pattern(
            "incast",
            "Some nodes send to node 0, the others are silent.",
            &[INCAST, TRAFFIC],
        )
    },
];

/// Works that are neither patterns nor motifs.
pub(super) const OTHERS: &[Entry] = &[
    Entry {
        name: "pairs",
        line: "Pairs of nodes talk to each other: streams, ping-pong or batches.",
        groups: &[PAIRS],
        source: "The random-pairs experiments of torus studies with CODES",
        limits: "",
    },
    super::memory::MEMORY,
    Entry {
        name: "messages",
        line: "Nodes send the messages of a table, each at its time.",
        groups: &[MESSAGES],
        source: "",
        limits: "Nobody waits for a message: what depends on an arrival in reality is sent at its listed time.",
    },
    Entry {
        name: "idle",
        line: "The nodes are taken and do nothing; other keys of the job and its work may stay, so that one key switches it off.",
        groups: &[],
        source: "",
        limits: "",
    },
];

const CHUNK: &[Parameter] = &[key(
    "chunk",
    Type::Integer {
        min: 1,
        max: u32::MAX as u64,
    },
    Default::Required,
    "Nodes of a chunk; those of a router place router by router.",
)];

const STRIDE: &[Parameter] = &[key(
    "stride",
    Type::Integer {
        min: 1,
        max: u32::MAX as u64,
    },
    Default::Required,
    "Distance between logical neighbours, counted in free nodes.",
)];

const FILE: &[Parameter] = &[key(
    "file",
    Type::Text,
    Default::Required,
    "A CSV file with the header `logical,physical` and a line for every node of the job.",
)];

const fn placement(name: &'static str, line: &'static str, groups: &'static [&'static [Parameter]]) -> Entry {
    Entry {
        name,
        line,
        groups,
        source: "",
        limits: "",
    }
}

pub(super) const PLACEMENTS: &[Entry] = &[
    placement("linear", "Logical nodes on the free nodes in index order.", &[]),
    placement("random", "A seeded random permutation of the free nodes.", &[]),
    Entry {
        limits: "The last chunk may be shorter.",
        ..placement(
            "clustered",
            "The free nodes in chunks of consecutive ones, the chunks in random order.",
            &[CHUNK],
        )
    },
    placement(
        "strided",
        "Every stride-th free node from the first, then from the second, and so on.",
        &[STRIDE],
    ),
    Entry {
        source: "Jain et al. 2014, random groups",
        limits: GROUPS,
        ..placement(
            "per-group",
            "Fills one group after the other, the groups in random order.",
            &[],
        )
    },
    Entry {
        limits: GROUPS,
        ..placement(
            "spread",
            "A node of each group in turn, the groups in random order.",
            &[],
        )
    },
    Entry {
        limits: "Nodes are numbers.",
        ..placement("file", "The nodes that a file lists.", &[FILE])
    },
];

const GROUPS: &str = "Groups are those of a dragonfly or dragonfly+, pods of a fat-tree, planes across the first dimension of a lattice.";

pub(super) const PROCESSES: &[Entry] = &[
    Entry {
        name: "periodic",
        line: "Equal gaps; the nodes start at random phases.",
        groups: &[],
        source: "",
        limits: "",
    },
    Entry {
        name: "periodic-in-phase",
        line: "Equal gaps, all nodes in phase.",
        groups: &[],
        source: "",
        limits: "",
    },
    Entry {
        name: "poisson",
        line: "Exponential gaps.",
        groups: &[],
        source: "",
        limits: "",
    },
];
