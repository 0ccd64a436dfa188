//! MPI ranks: what their messages cost.

use study::units::Unit;
use study::{BANDWIDTH, Default, Entry, Named, Parameter, RowsOf, SECOND, Type, When, key, size, size_or_none, time};
use work::mpi::collective::CollectiveRules;
use work::mpi::spec::{BesideGroups, BesideOrder, BesideTrees, HandlingWord, RailPolicy, Rendezvous, Wakes};
use work::mpi::{HEADER, LARGEST, MAX_RAILS};

const FREE: Type = Type::Or(&("free", "takes no time"), &BANDWIDTH);

static COSTS: RowsOf = RowsOf {
    columns: &[
        ("upto", size_or_none(LARGEST)),
        ("overhead", time(SECOND)),
        (
            "per_byte",
            Type::Quantity {
                unit: Unit::FineTimePerByte,
                min: 0,
                // A microsecond.
                max: 1_000_000_000,
            },
        ),
    ],
    example: "[[\"8 KiB\", \"400 ns\", \"0.05 ns/B\"], [\"1 TB\", \"2 us\", \"0 ns/B\"]]",
};

/// The algorithms of a collective, or the choice by size.
macro_rules! algorithm {
    ($name:literal, $($choice:literal),+) => {
        key(
            $name,
            Type::Or(
                &("auto", "by number of ranks and size, as `collectives` says"),
                &Type::Choice(&[$(($choice, "See the models' page on collectives.")),+]),
            ),
            Default::Text("auto"),
            "Algorithm of this collective; one for powers of two only gives way to `auto` for other numbers of ranks.",
        )
    };
}

pub(super) const PRESETS: &[Entry] = &[
    Entry {
        name: "firefly",
        line: "SST Firefly: registration of messages above 12,000 B, a search through the lists of receives and messages, progress in calls, heap trees. It also says `nic.overhead` and `nic.control`.",
        groups: &[],
        source: "SST, Firefly and Ember",
        limits: "Made for the routers of `router.preset = \"merlin\"`. All control messages have one size, which there is a flit. One interface sends and receives all messages of a node one after the other, those within the node too.",
    },
    Entry {
        name: "sst-macro",
        line: "SST/macro: messages above 512 B are announced and fetched, above 8,192 B when they are matched, progress in calls, messages of up to 256 B beside the network, no costs of the processor.",
        groups: &[],
        source: "SST/macro, sumi and its MPI",
        limits: "Made for `router.preset = \"sculpin\"` and `\"pisces\"`. Copies of eager messages are free, as with a memory without bound.",
    },
];

const IN_CALLS: &[When] = &[When {
    key: "progress",
    values: &["in-calls"],
}];

/// What only ranks pay that handle messages in their calls.
const fn in_calls(name: &'static str, text: &'static str, line: &'static str) -> Parameter {
    key(name, time(SECOND), Default::Text(text), line).when(IN_CALLS)
}

pub(super) const MPI: &[Parameter] = &[
    key(
        "preset",
        Type::Of(&super::MPI_PRESET),
        Default::From("no preset"),
        "What messages cost in a known simulator; other keys given beside it replace single values.",
    ),
    key(
        "send_overhead",
        time(SECOND),
        Default::Text("200 ns"),
        "Processor time of a send.",
    ),
    key(
        "receive_overhead",
        time(SECOND),
        Default::Text("200 ns"),
        "Processor time of a receive, spent when its message is handled.",
    ),
    key(
        "eager",
        size_or_none(LARGEST),
        Default::Text("8 KiB"),
        "Largest message that is sent without asking; larger ones are announced, and wait for their receive.",
    ),
    key(
        "rendezvous",
        Type::Choice(Rendezvous::WORDS),
        Default::Text("put"),
        "How messages above `eager` are moved.",
    ),
    key(
        "costs",
        Type::Rows(&COSTS),
        Default::From("the overheads and `copy`"),
        "What a message takes of the processor of its sender, and again of its receiver: an overhead and a time per byte by the first row whose size it does not exceed; the last row is for larger ones too. In place of `send_overhead`, `receive_overhead` and `copy`, whether it is eager or not.",
    ),
    key(
        "header",
        size_or_none(HEADER),
        Default::Text("0 B"),
        "Bytes that every message has besides the rank's; a message without any travels as one byte.",
    ),
    key(
        "control",
        size(65_536),
        Default::Text("64 B"),
        "Size of a control message of a rendezvous.",
    ),
    key(
        "copy",
        FREE,
        Default::Text("20 GB/s"),
        "Rate of the copies that eager messages take at the sender and at the receiver.",
    ),
    key(
        "combine",
        FREE,
        Default::Text("20 GB/s"),
        "Rate at which reductions combine operands.",
    ),
    key(
        "local_latency",
        time(SECOND),
        Default::Text("200 ns"),
        "Latency of messages between ranks of one node.",
    ),
    key(
        "local_bandwidth",
        FREE,
        Default::Text("20 GB/s"),
        "Rate of the messages of a rank to others of its node; they pass one after the other.",
    ),
    key(
        "rails",
        Type::Integer {
            min: 1,
            max: MAX_RAILS as u64,
        },
        Default::Text("1"),
        "Interfaces of a host: so many nodes of the network that follow each other at one router. Nodes of jobs are hosts then.",
    ),
    key(
        "rail_policy",
        Type::Choice(RailPolicy::WORDS),
        Default::Text("local-rank"),
        "Which rail a message between hosts takes. Control messages always go as with `local-rank`.",
    ),
    key(
        "stripe_above",
        Type::Or(
            &("never", "no message is cut up"),
            &Type::Quantity {
                unit: Unit::Size,
                min: MAX_RAILS as u64,
                max: LARGEST,
            },
        ),
        Default::Text("never"),
        "Larger messages between hosts are cut into equal parts, one for each rail, and have come when all parts have.",
    ),
    key(
        "progress",
        Type::Choice(HandlingWord::WORDS),
        Default::Text("always"),
        "When what has come for a rank is handled.",
    ),
    in_calls(
        "enter",
        "0 ns",
        "Processor time of the begin of a call of the program; a collective is one call.",
    ),
    in_calls("leave", "0 ns", "Processor time of its end."),
    in_calls(
        "match_cost",
        "0 ns",
        "Processor time of each entry that is looked at: of the receives that wait, for a message, and of the messages that wait, for a receive.",
    ),
    in_calls(
        "pin_base",
        "0 ns",
        "Processor time to register memory for a message above `eager`: of who sends, of who receives, and again when what was received is done with.",
    ),
    in_calls(
        "pin_page",
        "0 ns",
        "The same for each whole page of it, if it is more than one.",
    ),
    key(
        "pin_page_bytes",
        size(1 << 30),
        Default::Text("4096 B"),
        "Size of a page.",
    )
    .when(IN_CALLS),
    in_calls(
        "host_delay",
        "0 ns",
        "Latency from a rank to its interface, and from the interface to the rank.",
    ),
    in_calls(
        "match_delay",
        "0 ns",
        "What an interface takes for a message before its rank may see it; the packets behind the first come meanwhile.",
    ),
    in_calls(
        "read_delay",
        "0 ns",
        "What an interface takes to begin the answer to one that reads, with `rendezvous = \"get\"`.",
    ),
    key(
        "wakes",
        Type::Choice(Wakes::WORDS),
        Default::Text("each"),
        "What a rank that is busy remembers of what comes.",
    )
    .when(IN_CALLS),
    key(
        "fetch_above",
        Type::Or(&("never", "none is"), &size_or_none(LARGEST)),
        Default::Text("never"),
        "Eager messages of more bytes are announced, and fetched by their receiver before they meet a receive; for their sender they are done with at once.",
    ),
    key(
        "beside",
        Type::Or(&("never", "none does"), &size_or_none(65_536)),
        Default::Text("never"),
        "Messages and control messages of up to this many bytes go beside the network: they wait for nothing, and take `beside_latency`, `beside_hop` for each hop between routers, and their bytes on a node's link.",
    ),
    key(
        "beside_latency",
        time(SECOND),
        Default::Text("100 ns"),
        "What a message beside the network takes to a node of the same router.",
    ),
    key(
        "beside_hop",
        time(SECOND),
        Default::Text("100 ns"),
        "The same for each hop between routers.",
    ),
    key(
        "beside_trees",
        Type::Choice(BesideTrees::WORDS),
        Default::Text("as-wired"),
        "How hops beside the network are counted on a fat-tree of three levels.",
    ),
    key(
        "beside_groups",
        Type::Choice(BesideGroups::WORDS),
        Default::Text("as-wired"),
        "How hops beside the network are counted on a dragonfly and a dragonfly+.",
    ),
    key(
        "beside_order",
        Type::Choice(BesideOrder::WORDS),
        Default::Text("by-node"),
        "Which of the messages beside the network that come to a node at one time is taken first, with `progress = \"in-calls\"`.",
    ),
    key(
        "collectives",
        Type::Choice(CollectiveRules::WORDS),
        Default::Text("mpich"),
        "Whose rules choose the algorithms of collectives that are `auto`.",
    ),
    algorithm!(
        "barrier",
        "dissemination",
        "recursive-doubling",
        "binomial",
        "heap",
        "bruck"
    ),
    algorithm!(
        "bcast",
        "binomial",
        "scatter-allgather",
        "scatter-doubling",
        "chain",
        "heap",
        "binomial-doubling",
        "split-binary",
        "binary"
    ),
    algorithm!(
        "reduce",
        "binomial",
        "rabenseifner",
        "heap",
        "chain",
        "binary",
        "linear"
    ),
    algorithm!(
        "allreduce",
        "recursive-doubling",
        "ring",
        "rabenseifner",
        "reduce-bcast",
        "heap"
    ),
    algorithm!("gather", "binomial", "linear", "synchronised"),
    algorithm!("scatter", "binomial", "linear"),
    algorithm!("allgather", "ring", "recursive-doubling", "bruck", "neighbour-exchange"),
    algorithm!("reduce_scatter", "ring", "recursive-halving", "pairwise"),
    algorithm!("alltoall", "pairwise", "spread", "window", "bruck", "shift"),
    algorithm!("alltoallv", "pairwise", "spread", "window", "shift"),
];
