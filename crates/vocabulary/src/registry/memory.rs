//! Memory nodes: what a study says of them.

use study::{BANDWIDTH, Default, Entry, Named, Parameter, SECOND, TIB, Type, When, key, size, span, time};
use work::memory::spec::{
    Addresses, CleanEvictions, CleanWritebacks, Evict, Instructions, OwnNode, Pages, PatternWord, SplitWord,
    VirtualNetworks, WritebackAnswers,
};

const fn count(name: &'static str, max: u64, default: &'static str, doc: &'static str) -> Parameter {
    key(name, Type::Integer { min: 1, max }, Default::Text(default), doc)
}

pub(super) const PRESETS: &[Entry] = &[Entry {
    name: "memhierarchy",
    line: "SST memHierarchy: caches and home have an interface each, lines leave when others are asked for and take their data along, everything goes through the router; times of caches, bus, directory and memory at 2 GHz.",
    groups: &[],
    source: "SST, memHierarchy (sst-elements f782290d): caches at 2 GHz with links of 1 ns, bus and memory at 1 GHz",
    limits: "Made for `router.preset = \"merlin\"` with `crossbar_bandwidth` that of the links. Times of clocks stand at their means; a shared cache looks for the line used longest ago, where SST's \"lru\" first takes lines that no own cache has, those on their way among them (`misses = 1`).",
}];

/// The words for two interfaces with a part each.
pub(crate) const BY_PART: &str = "caches-and-memory";

const DRAWN: &[When] = &[When {
    key: "pattern",
    values: &["random", "pointer-chase", "stream", "stride", "hot-spot"],
}];

const SEVERAL: &[When] = &[When {
    key: "pattern",
    values: &[
        "random",
        "gups",
        "stream",
        "stride",
        "hot-spot",
        "stencil",
        "producer-consumer",
        "listed",
        "trace",
    ],
}];

const COUNTED: &[When] = &[When {
    key: "pattern",
    values: &[
        "random",
        "pointer-chase",
        "gups",
        "stream",
        "stride",
        "hot-spot",
        "stencil",
        "producer-consumer",
        "trace",
    ],
}];

const TRACE: &[When] = &[When {
    key: "pattern",
    values: &["trace"],
}];

const CHUNKS: &[When] = &[
    TRACE[0],
    When {
        key: "split",
        values: &["round-robin"],
    },
];

const PLACED: &[When] = &[
    TRACE[0],
    When {
        key: "addresses",
        values: &["blocks"],
    },
];

const STRIDE: &[When] = &[When {
    key: "pattern",
    values: &["stride"],
}];

const HOT: &[When] = &[When {
    key: "pattern",
    values: &["hot-spot"],
}];

const STENCIL: &[When] = &[When {
    key: "pattern",
    values: &["stencil"],
}];

const SHARED: &[When] = &[When {
    key: "pattern",
    values: &["producer-consumer"],
}];

const LISTED: &[When] = &[When {
    key: "pattern",
    values: &["listed"],
}];

const ACCESSES: &[Parameter] = &[
    key(
        "pattern",
        Type::Choice(PatternWord::WORDS),
        Default::Text("random"),
        "What every core does.",
    ),
    key(
        "accesses",
        Type::Integer { min: 1, max: 1 << 40 },
        Default::From("100; of a trace all"),
        "Accesses per core; a trace is cut to as many as its cores may have, and not read beyond.",
    )
    .when(COUNTED),
    key(
        "stores",
        Type::Integer { min: 0, max: 100 },
        Default::Text("0"),
        "Accesses that write, in percent.",
    )
    .when(DRAWN),
    key("stride", size(TIB), Default::Text("4 KiB"), "Distance of two accesses.").when(STRIDE),
    count("hot_lines", 1 << 40, "1", "Number of hot lines.").when(HOT),
    key(
        "hot_fraction",
        Type::Number { above: 0.0, max: 1.0 },
        Default::Text("0.2"),
        "Fraction of the accesses that go to them.",
    )
    .when(HOT),
    key(
        "grid",
        Type::Integers {
            min: 1,
            max: 1 << 28,
            single: false,
        },
        Default::From("as square as the number of cores allows"),
        "Cores along x and y of the grid, core 0 first and x fastest; its edges are joined.",
    )
    .when(STENCIL),
    count("edge", 1 << 30, "16", "Lines of an edge of a core's block.").when(STENCIL),
    count("shared_lines", 1 << 40, "64", "Lines that a core writes for another.").when(SHARED),
    key(
        "distance",
        Type::Integer { min: 1, max: 1 << 28 },
        Default::From("the cores of a node"),
        "Cores from a writer to its reader: so many cores write, the next so many read, and so on.",
    )
    .when(SHARED),
    key(
        "file",
        Type::Text,
        Default::From("`table` has the rows"),
        "CSV file with a row per access; the columns are core, address, op, time_ps.",
    )
    .when(LISTED),
    key(
        "table",
        Type::Lines,
        Default::From("`file` has the rows"),
        "The same text in place of a file.",
    )
    .when(LISTED),
];

const PROGRAMS: &[Parameter] = &[
    key(
        "trace",
        Type::Texts,
        Default::From("needed by pattern \"trace\""),
        "Files of `valgrind --tool=lackey --trace-mem=yes`, relative to the study's folder; plain, gzip, xz or zstd.",
    )
    .when(TRACE),
    key(
        "processes",
        Type::Integer { min: 1, max: 1 << 29 },
        Default::From("one per trace"),
        "Address spaces, each of which plays a trace; they take the traces in turn, and go round the nodes, then round the cores of nodes.",
    )
    .when(TRACE),
    key(
        "split",
        Type::Choice(SplitWord::WORDS),
        Default::Text("round-robin"),
        "How the accesses of a process are dealt to its cores.",
    )
    .when(TRACE),
    count("chunk", 1 << 40, "1", "Accesses that stay together.").when(CHUNKS),
    key(
        "instructions",
        Type::Choice(Instructions::WORDS),
        Default::Text("timed"),
        "What the instructions between accesses do.",
    )
    .when(TRACE),
    key("page", size(1 << 30), Default::Text("4 KiB"), "Bytes of a page of a program.").when(TRACE),
    key(
        "pages",
        Type::Choice(Pages::WORDS),
        Default::Text("first-touch"),
        "Where the pages of programs lie, in the order of their first accesses, process by process.",
    )
    .when(PLACED),
];

const CORES: &[Parameter] = &[
    key(
        "preset",
        Type::Of(&super::MEMORY_PRESET),
        Default::From("no preset"),
        "How nodes of a known simulator are put together, and their times; other keys given beside it replace single values.",
    ),
    count("cores", 32, "4", "Cores of a node."),
    count("outstanding", 1024, "16", "Accesses that a core may have under way.").when(SEVERAL),
    key(
        "issue",
        span(SECOND),
        Default::Text("1 ns"),
        "Least time between two accesses that a core gives out.",
    ),
    key(
        "fence_every",
        Type::Integer { min: 0, max: 1 << 40 },
        Default::Text("0"),
        "A fence before every so many-th access: the core waits until it has none under way. 0: no fences.",
    ),
    key("line", size(4096), Default::Text("64 B"), "Bytes of a line."),
    key("l1", size(1 << 26), Default::Text("256 B"), "Cache of a core."),
    count("l1_ways", 64, "4", "Lines of it in a set."),
    key("l1_latency", time(SECOND), Default::Text("1 ns"), "Time to look at it."),
    key(
        "l2",
        size(1 << 30),
        Default::Text("512 B"),
        "Cache that the cores of a node share.",
    ),
    count("l2_ways", 64, "8", "Lines of it in a set."),
    key("l2_latency", time(SECOND), Default::Text("4 ns"), "Time to look at it."),
    count(
        "misses",
        1 << 16,
        "64",
        "Lines that a node may have asked for at a time.",
    ),
    key(
        "clean_evictions",
        Type::Choice(CleanEvictions::WORDS),
        Default::Text("silent"),
        "What homes hear of shared lines that leave; of a node's own lines they always do.",
    ),
    key(
        "clean_writebacks",
        Type::Choice(CleanWritebacks::WORDS),
        Default::Text("word"),
        "What a home gets of a clean line that leaves, if it is told.",
    ),
    key(
        "writeback_answers",
        Type::Choice(WritebackAnswers::WORDS),
        Default::Text("word"),
        "What the home's answer to a line that leaves has with it.",
    ),
    key(
        "evict",
        Type::Choice(Evict::WORDS),
        Default::Text("when-come"),
        "When a line of the shared cache makes room for another.",
    ),
    key(
        "bus_bandwidth",
        BANDWIDTH,
        Default::Text("64 GB/s"),
        "Rate of the address lines and of the data lines of a node's bus.",
    ),
    key(
        "bus_latency",
        time(SECOND),
        Default::Text("1 ns"),
        "From one end of the bus to the other.",
    ),
];

const HOMES: &[Parameter] = &[
    key(
        "directory_latency",
        time(SECOND),
        Default::Text("10 ns"),
        "Time to look at the directory.",
    ),
    key(
        "directory_entries",
        Type::Integer { min: 0, max: 1 << 24 },
        Default::Text("0"),
        "Entries that a directory has at hand; others come from memory, a line each, and go back there. 0: all are at hand.",
    ),
    count("directory_ways", 64, "8", "Entries of them in a set."),
    key("memory", size(1 << 37), Default::Text("1 GiB"), "Memory of a node."),
    key(
        "memory_bandwidth",
        BANDWIDTH,
        Default::Text("8 GB/s"),
        "Rate at which memory gives and takes lines.",
    ),
    key(
        "memory_latency",
        time(SECOND),
        Default::Text("50 ns"),
        "Until memory begins to give a line.",
    ),
    count(
        "banks",
        1024,
        "1",
        "Banks of it: neighbouring lines of a home are in neighbouring ones.",
    ),
    key(
        "bank_busy",
        time(SECOND),
        Default::Text("0 ns"),
        "Time for which a bank takes no other line after it has begun with one.",
    ),
    key(
        "interfaces",
        Type::Or(
            &(
                BY_PART,
                "two: one for what caches send or get, one for what homes send or get",
            ),
            &Type::Integer { min: 1, max: 8 },
        ),
        Default::Text("1"),
        "Network interfaces of a node: as many neighbouring nodes of the network; a line's number decides which one its messages take.",
    ),
    key(
        "own_node",
        Type::Choice(OwnNode::WORDS),
        Default::Text("bus"),
        "How caches and home of one node speak to each other; through the router needs an interface for each.",
    ),
    key(
        "addresses",
        Type::Choice(Addresses::WORDS),
        Default::Text("blocks"),
        "How the address space lies over the nodes.",
    ),
    key(
        "virtual_networks",
        Type::Choice(VirtualNetworks::WORDS),
        Default::Text("by-class"),
        "Virtual networks of the messages. `router.vcs` and `router.buffer` are those of each.",
    ),
    key(
        "control",
        size(4096),
        Default::Text("8 B"),
        "Bytes of a message without a line.",
    ),
    key(
        "header",
        size(4096),
        Default::Text("8 B"),
        "Bytes of a message with a line, besides the line.",
    ),
    key(
        "check_values",
        Type::Flag,
        Default::Text("false"),
        "Write down every access (40 B) and what it saw, and check after the run that no load saw anything but what was stored last.",
    ),
];

pub(super) const MEMORY: Entry = Entry {
    name: "memory",
    line: "Cores with caches, a directory and memory at every node share one address space: what misses the caches travels.",
    groups: &[ACCESSES, PROGRAMS, CORES, HOMES],
    source: "Sorin, Hill and Wood 2011 (coherence); the distributed shared memory study of Computers 2023, 12, 86 (sizes)",
    limits: "Interfaces send in the order of birth, whatever the class. Caches of a node hear each other at once. A memory has one queue, first come, first served.",
};
