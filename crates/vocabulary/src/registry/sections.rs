//! The tables of a study file with a fixed set of keys, and the engines.

use super::{cost, fail, loggops};
use fabric::spec::{
    Allocator, Arbitration, Architecture, Completion, ControlOrder, Crossing, DeliveryPoint, DrainSources, FastForward,
    LONGEST_DRAW_CYCLE, Mapping, RequestRule, Switching, Ties,
};
use study::units::Unit;
use study::{
    BANDWIDTH, Chosen, Default, Entry, Form, Named, Parameter, SAMPLE, SECOND, SEED, Section, TIB, TableOf, TopLevel,
    Type, When, choice, key, size, span, time,
};

/// Longest simulated time of a run: 40 hours, less than [`HORIZON`](des::HORIZON).
pub(super) const LONGEST: u64 = 144_000 * SECOND;
const _: () = assert!(LONGEST < des::HORIZON.0);

const CREDIT: When = When {
    key: "model",
    values: &["credit"],
};
const INPUT_QUEUED: &[When] = &[
    CREDIT,
    When {
        key: "architecture",
        values: &["input-queued"],
    },
];
const OUTPUT_BUFFERS: &[When] = &[
    CREDIT,
    When {
        key: "architecture",
        values: &["input-queued", "output-buffered"],
    },
];
const OUTPUT_BUFFERED: &[When] = &[
    CREDIT,
    When {
        key: "architecture",
        values: &["output-buffered"],
    },
];
const VC_ROUTER: &[When] = &[CREDIT, FOR_FLITS];
const FLITS: &[When] = &[
    CREDIT,
    When {
        key: "architecture",
        values: &["input-queued", "vc-router"],
    },
];
const STAGED: &[When] = &[CREDIT, FOR_FLITS, crossbar(&["staged"])];
const BUFFERED: &[When] = &[CREDIT, FOR_FLITS, crossbar(&["per-channel"])];
const LEAST_OCCUPIED: &[When] = &request(&["least-occupied"]);
const LEAST_WEIGHT: &[When] = &request(&["least-weight"]);
const FOR_FLITS: When = When {
    key: "architecture",
    values: &["vc-router"],
};
const fn crossbar(values: &'static [&'static str]) -> When {
    When {
        key: "crossbar",
        values,
    }
}
const fn request(values: &'static [&'static str]) -> [When; 4] {
    let [credit, flits, crossbar] = [CREDIT, FOR_FLITS, crossbar(&["per-channel"])];
    let rule = When { key: "request", values };
    [credit, flits, crossbar, rule]
}
/// Cycles of a stage.
const CYCLES: Type = Type::Integer { min: 0, max: 64 };
/// Rounds of an allocator.
const ROUNDS: Type = Type::Integer { min: 1, max: 64 };
/// Times as many steps or ports.
const SPEEDUP: Type = Type::Integer { min: 1, max: 8 };
const RINGS: &[When] = &[
    CREDIT,
    When {
        key: "architecture",
        values: &["voq", "late-admission", "vc-router"],
    },
];
const LATE_ADMISSION: &[When] = &[
    CREDIT,
    When {
        key: "architecture",
        values: &["late-admission"],
    },
];

/// `[topology]`.
const TOPOLOGY: Chosen = Chosen {
    family: &super::TOPOLOGY,
    common: super::TOPOLOGY_COMMON,
    line: "The network. The other keys depend on `kind`.",
};

/// Keys at the top of a study file.
pub(super) const TOP_LEVEL: &[TopLevel] = &[
    top(
        "name",
        Form::Text,
        "Name of the study; the file's name without its ending by default.",
    ),
    top("description", Form::Text, "What the study shows, in a few sentences."),
    top(
        "topology",
        Form::Chosen(&TOPOLOGY),
        "`[topology]`: the network; the only section that must be there.",
    ),
    top(
        "link",
        Form::Classes,
        "`[link]` and `[link.CLASS]`: bandwidth and latency of links.",
    ),
    top("router", Form::Table, "`[router]`: router model and timing."),
    top("routing", Form::Table, "`[routing]`: how packets find their way."),
    top("nic", Form::Table, "`[nic]`: the network interface of every node."),
    top(
        "fail",
        Form::Table,
        "`[fail]`: cables, routers and nodes that are dead.",
    ),
    top(
        "outage",
        Form::Tables,
        "`[[outage]]`: what fails while the run goes on, and when.",
    ),
    top("mpi", Form::Table, "`[mpi]`: what the messages of MPI ranks cost."),
    top("job", Form::Tables, "`[[job]]`: what the nodes do; one job per table."),
    top(
        "sweep",
        Form::Sweep,
        "`[sweep]`: lists of values of keys; every combination is run.",
    ),
    top(
        "sample",
        Form::Sample,
        "`[sample]`: points spread over ranges of keys, each with every combination of the sweep.",
    ),
    top(
        "observe",
        Form::Table,
        "`[observe]`: what is recorded beside the summary.",
    ),
    top(
        "cost",
        Form::Parts,
        "`[cost]`: prices, powers and racks; what the network costs and draws.",
    ),
    top("run", Form::Table, "`[run]`: seeds, length and engine."),
    top(
        "experiment",
        Form::Experiments,
        "`[experiment.NAME]`: a part of the study with its own settings and sweep.",
    ),
    top(
        "variant",
        Form::Variants,
        "`[variant.NAME]`: another form of the study, such as a quick one.",
    ),
    top(
        "claim",
        Form::Claims,
        "`[[claim]]`: statements about the results, checked after the runs.",
    ),
    top(
        "reproduce",
        Form::Anything,
        "`[reproduce]`: where the study comes from and what its figures show.",
    ),
];

const fn top(key: &'static str, form: Form, line: &'static str) -> TopLevel {
    TopLevel { key, line, form }
}

const LINK: &[Parameter] = &[
    key(
        "bandwidth",
        BANDWIDTH,
        Default::Text("25 GB/s"),
        "Rate at which bytes leave the sender, per direction.",
    ),
    key("latency", time(SECOND), Default::Text("100 ns"), "Propagation delay."),
];

const ROUTER: &[Parameter] = &[
    key(
        "model",
        Type::Of(&super::ROUTER_MODEL),
        Default::Text("credit"),
        "The router model.",
    ),
    key(
        "preset",
        Type::Of(&super::ROUTER_PRESET),
        Default::From("no preset"),
        "Timing rules of a known simulator; other keys given beside it replace single values.",
    ),
    key(
        "architecture",
        Type::Choice(Architecture::WORDS),
        Default::Text("voq"),
        "Inner structure.",
    )
    .when(&[CREDIT]),
    key(
        "traversal",
        time(SECOND),
        Default::Text("100 ns"),
        "Time from the arrival of a packet's head at a router until it can leave on an idle output.",
    ),
    key(
        "traversal_occupies_link",
        Type::Flag,
        Default::Text("false"),
        "The traversal occupies the output link for each packet instead of being pipelined.",
    )
    .when(&[CREDIT]),
    key(
        "vcs",
        Type::Or(&("auto", "what the routing needs"), &Type::Integer { min: 1, max: 63 }),
        Default::Text("auto"),
        "Virtual channels per port.",
    )
    .when(&[CREDIT]),
    key(
        "buffer",
        Type::Or(&("unlimited", "no bound"), &size(TIB)),
        Default::Text("64 KiB"),
        "Input buffer per port and virtual channel; with late-admission the bound of an output queue.",
    )
    .when(&[CREDIT]),
    key(
        "output_buffer",
        Type::Or(&("unlimited", "no bound"), &size(TIB)),
        Default::Text("64 KiB"),
        "Output buffer per port and virtual channel.",
    )
    .when(OUTPUT_BUFFERS),
    key(
        "share_buffers",
        Type::Flag,
        Default::Text("false"),
        "`buffer` and `output_buffer` are those of a port, shared out evenly to its virtual channels.",
    )
    .when(OUTPUT_BUFFERED),
    key(
        "crossbar_bandwidth",
        BANDWIDTH,
        Default::From("1.5 times the fastest link"),
        "Crossbar bandwidth per port.",
    )
    .when(INPUT_QUEUED),
    key(
        "flit",
        size(65_536),
        Default::Text("64 B"),
        "Unit of buffer accounting and of the crossbar's clock.",
    )
    .when(FLITS),
    key(
        "output_latency",
        time(SECOND),
        Default::From("half of the traversal"),
        "The part of `traversal` that lies behind the crossbar.",
    )
    .when(INPUT_QUEUED),
    key(
        "credits_traverse",
        Type::Flag,
        Default::Text("false"),
        "A credit passes the routers' latencies like a packet, besides the link.",
    )
    .when(INPUT_QUEUED),
    key(
        "node_credit_delay",
        time(SECOND),
        Default::Text("0 ns"),
        "Time from the arrival of a packet's head at a node until its credit is sent back.",
    )
    .when(INPUT_QUEUED),
    key(
        "wake_delay",
        time(SECOND),
        Default::From("the time of a flit on the link"),
        "Time from the wake-up of an idle output or interface, by a packet or a credit, to its next start.",
    )
    .when(INPUT_QUEUED),
    key(
        "arbitration",
        Type::Choice(Arbitration::WORDS),
        Default::Text("round-robin"),
        "Order in which an output port serves its virtual channels.",
    )
    .when(&[CREDIT]),
    key(
        "switching",
        Type::Choice(Switching::WORDS),
        Default::Text("cut-through"),
        "When a packet is handed on.",
    ),
    key(
        "delivery",
        Type::Choice(DeliveryPoint::WORDS),
        Default::Text("tail"),
        "When a message counts as delivered.",
    ),
    key(
        "ties",
        Type::Choice(Ties::WORDS),
        Default::Text("hash"),
        "Which of the packets that come to a router at one time is taken first. All but `hash` for `sculpin` and `output-buffered` only.",
    ),
    key(
        "credit_delay",
        time(SECOND),
        Default::Text("0 ns"),
        "Time that a credit takes besides the link latency.",
    )
    .when(&[CREDIT]),
    key(
        "credit_uses_link",
        Type::Flag,
        Default::Text("true"),
        "A credit takes the link latency back as well; with false only `credit_delay` counts.",
    )
    .when(&[CREDIT]),
    key(
        "bubble",
        Type::Integer { min: 0, max: 16 },
        Default::Text("0"),
        "Free packet slots that a packet needs to enter a ring (bubble rule); 0 switches the rule off.",
    )
    .when(RINGS),
    key(
        "local_latency",
        time(SECOND),
        Default::Text("0 ns"),
        "Time of each small step inside a router or an interface.",
    )
    .when(LATE_ADMISSION),
    key(
        "completion",
        Type::Choice(Completion::WORDS),
        Default::Text("whole"),
        "What must have come before a message counts as delivered.",
    )
    .when(LATE_ADMISSION),
    key(
        "clock",
        time(SECOND),
        Default::From("the time of a flit on the fastest link"),
        "Period of the clock, in which an input channel, the switch and a link act once.",
    )
    .when(VC_ROUTER),
    key(
        "route_stage",
        CYCLES,
        Default::Text("1"),
        "Cycles that routing a packet takes; with 0 it is known when the head arrives.",
    )
    .when(STAGED),
    key(
        "vc_stage",
        CYCLES,
        Default::Text("1"),
        "Cycles that the allocation of a virtual channel takes, at least 1.",
    )
    .when(STAGED),
    key(
        "switch_stage",
        CYCLES,
        Default::Text("1"),
        "Cycles that the allocation of the switch takes for a flit, at least 1.",
    )
    .when(STAGED),
    key(
        "crossbar_stage",
        CYCLES,
        Default::Text("1"),
        "Cycles that a flit takes through the crossbar.",
    )
    .when(STAGED),
    key(
        "vc_allocator",
        Type::Choice(Allocator::WORDS),
        Default::Text("islip"),
        "Allocator of virtual channels.",
    )
    .when(VC_ROUTER),
    key(
        "vc_rounds",
        ROUNDS,
        Default::Text("1"),
        "Rounds of that allocator in a step; of islip and pim.",
    )
    .when(STAGED),
    key(
        "switch_allocator",
        Type::Choice(Allocator::WORDS),
        Default::Text("islip"),
        "Allocator of the switch.",
    )
    .when(STAGED),
    key(
        "switch_rounds",
        ROUNDS,
        Default::Text("1"),
        "Rounds of that allocator in a step; of islip and pim.",
    )
    .when(STAGED),
    key(
        "internal_speedup",
        SPEEDUP,
        Default::Text("1"),
        "Steps that the inside of a router makes per cycle.",
    )
    .when(STAGED),
    key(
        "input_speedup",
        SPEEDUP,
        Default::Text("1"),
        "Ports of the switch per input port; virtual channels are dealt out to them in turn.",
    )
    .when(STAGED),
    key(
        "output_speedup",
        SPEEDUP,
        Default::Text("1"),
        "Ports of the switch per output port; input ports are dealt out to them in turn.",
    )
    .when(STAGED),
    key(
        "output_queue",
        Type::Or(&("unlimited", "no bound"), &size(TIB)),
        Default::Text("unlimited"),
        "Output queue per port; a full one lets no flit through the switch.",
    )
    .when(STAGED),
    key(
        "wait_for_tail_credit",
        Type::Flag,
        Default::Text("false"),
        "A virtual channel is given to the next packet when the buffer behind it is empty again, not when the tail has won the switch.",
    )
    .when(STAGED),
    key(
        "crossbar",
        Type::Choice(Crossing::WORDS),
        Default::Text("staged"),
        "How flits come from inputs to outputs.",
    )
    .when(VC_ROUTER),
    key(
        "output_channel_buffer",
        size(TIB),
        Default::Text("256 B"),
        "Output buffer per port and virtual channel, behind the crossbar.",
    )
    .when(BUFFERED),
    key(
        "head_room",
        size(TIB),
        Default::From("the largest packet"),
        "Room that a packet's head must find in an output buffer, and behind the link.",
    )
    .when(BUFFERED),
    key(
        "request",
        Type::Choice(RequestRule::WORDS),
        Default::Text("random"),
        "Which of its output channels a packet asks for.",
    )
    .when(BUFFERED),
    key(
        "label_weight",
        Type::Integer { min: 0, max: 65_535 },
        Default::Text("64"),
        "Flits of waiting that a step of a way's label counts for.",
    )
    .when(LEAST_OCCUPIED),
    key(
        "extra_congestion",
        Type::Integer { min: 0, max: 65_535 },
        Default::Text("16"),
        "Flits that are added to those that wait before they are multiplied by the hops.",
    )
    .when(LEAST_WEIGHT),
    key(
        "allow_deadlock",
        Type::Flag,
        Default::Text("false"),
        "Run a configuration whose channel dependencies have a cycle; the watchdog stays on.",
    )
    .when(&[CREDIT]),
    loggops::LATENCY,
    loggops::OVERHEAD,
    loggops::GAP,
    loggops::GAP_PER_BYTE,
    loggops::OVERHEAD_PER_BYTE,
    loggops::EAGER,
];

const NIC: &[Parameter] = &[
    key(
        "packet",
        size(65_536),
        Default::Text("2 KiB"),
        "Largest packet payload; messages are cut into packets of this size.",
    ),
    key(
        "chunk",
        size(65_536),
        Default::From("the whole packet"),
        "Part of a packet that travels by itself; for late-admission routers only.",
    ),
    key(
        "overhead",
        time(SECOND),
        Default::Text("0 ns"),
        "Time that a message occupies the interface before its first packet.",
    ),
    key(
        "packet_overhead",
        time(SECOND),
        Default::Text("0 ns"),
        "Time that each packet occupies the interface before it is injected.",
    ),
    key(
        "gap",
        time(SECOND),
        Default::Text("0 ns"),
        "Time that the interface stays idle behind each message.",
    ),
    key(
        "idle_delay_per_byte",
        Type::Quantity {
            unit: Unit::TimePerByte,
            min: 0,
            max: 1_000_000_000,
        },
        Default::Text("0 ns/B"),
        "Extra time per byte of packet, charged when the interface was idle.",
    ),
    key(
        "bandwidth",
        BANDWIDTH,
        Default::From("the bandwidth of the host link"),
        "Injection rate.",
    ),
    key(
        "buffer",
        size(TIB),
        Default::From("the router's buffer"),
        "Buffer of the router's host port; not for the sculpin model.",
    ),
    key(
        "control",
        Type::Choice(ControlOrder::WORDS),
        Default::From("first; in-order with late-admission and late-admission-vcs, which have nothing else"),
        "When the messages leave that ask for a rendezvous of MPI ranks, give leave and say that it is over.",
    ),
    key(
        "reads_behind",
        Type::Integer { min: 0, max: 1 << 20 },
        Default::Text("0"),
        "Packets, of the data that the interface has been handed, that a message which gives leave, or reads, still lets pass.",
    )
    .when(&[When {
        key: "control",
        values: &["reads-first"],
    }]),
    key(
        "retransmit",
        Type::Or(
            &("off", "what is lost is lost"),
            &Type::Integer {
                min: 1,
                max: fabric::packet::MOST_RETRIES as u64,
            },
        ),
        Default::Text("off"),
        "A packet that an outage has lost is sent again by its source, so often at most.",
    ),
    key(
        "retransmit_after",
        span(SECOND),
        Default::Text("10 us"),
        "So long after a packet was lost its source sends it again.",
    ),
];

/// `job.work`.
static WORK: TableOf = TableOf {
    family: &super::WORK,
    default: "uniform",
    parts: &super::MOTIF,
    example: "{ kind = \"uniform\", load = 0.5 }",
};

const JOB: &[Parameter] = &[
    key(
        "name",
        Type::Name,
        Default::From("`job` and its position from 0"),
        "Name for reports and key paths.",
    ),
    key(
        "nodes",
        Type::Or(
            &("all", "every node of the network"),
            &Type::Integer {
                min: 1,
                max: u32::MAX as u64,
            },
        ),
        Default::Text("all"),
        "How many nodes take part.",
    ),
    key(
        "placement",
        Type::OfWith(&super::PLACEMENT),
        Default::Text("linear"),
        "Which nodes take part: a name, or a table such as `{ kind = \"strided\", stride = 4 }`.",
    ),
    key(
        "ranks_per_node",
        Type::Integer { min: 1, max: 256 },
        Default::Text("1"),
        "MPI ranks on each node; for motifs.",
    ),
    key(
        "mapping",
        Type::Choice(Mapping::WORDS),
        Default::Text("block"),
        "How ranks are dealt to the nodes of the job; for motifs.",
    ),
    key(
        "start",
        Type::ChoiceOrKey(StartWord::WORDS, "spread", &time(SECOND)),
        Default::Text("in-phase"),
        "When the ranks of the job start; for motifs. With `spread` each at a time of its own from 0 to this, drawn from the run's seed.",
    ),
    key(
        "prelude",
        Type::Integer { min: 0, max: 255 },
        Default::Text("0"),
        "So many parts of the work come before what is timed: ranks begin, and `begin_ns` is, behind them; for motifs.",
    ),
    key(
        "work",
        Type::TableOf(&WORK),
        Default::From("uniform traffic at load 0.5"),
        "What the nodes do.",
    ),
];

const OBSERVE: &[Parameter] = &[
    key(
        "links",
        Type::Flag,
        Default::Text("true"),
        "Record the load of every link.",
    ),
    key(
        "links_every",
        Type::Or(&("off", "not"), &span(LONGEST)),
        Default::Text("off"),
        "Record how busy every link was in windows of this length. From 1,024 windows on, neighbours are joined two by two.",
    ),
    key(
        "messages",
        Type::Or(
            &("summary", "only sums and the latency histogram, as false"),
            &Type::Or(&("full", "a row per message, as true"), &Type::Flag),
        ),
        Default::Text("summary"),
        "Record the times of every message, those among them that have not arrived or not left.",
    ),
    key(
        "timeline",
        Type::Flag,
        Default::Text("false"),
        "Record accepted load and latency over time.",
    ),
    key(
        "ranks",
        Type::Flag,
        Default::Text("false"),
        "Record a row per MPI rank.",
    ),
    key(
        "operations",
        Type::Flag,
        Default::Text("false"),
        "Record every operation of every MPI rank, and what each rank waited for; takes 40 bytes for each.",
    ),
];

const RUN: &[Parameter] = &[
    key(
        "seeds",
        Type::Integers {
            min: 0,
            max: i64::MAX as u64,
            single: false,
        },
        Default::Text("[1]"),
        "Seeds; every point of the sweep is run with each of them.",
    ),
    key(
        "seed",
        SEED,
        Default::From("`seeds`"),
        "A single seed, instead of `seeds`.",
    ),
    key(
        "end",
        Type::Or(
            &("auto", "100 us with a source without end, else until the work is done"),
            &Type::Or(&("done", "until the work is done"), &span(LONGEST)),
        ),
        Default::Text("auto"),
        "Sources stop here.",
    ),
    key(
        "warmup",
        Type::Or(&("auto", "found by measurement (open loop) or zero"), &time(LONGEST)),
        Default::Text("auto"),
        "Messages born before this time do not count.",
    ),
    key(
        "drain",
        Type::Or(
            &(
                "auto",
                "as long again as `end`; not at all where no job with sources that go on could be served",
            ),
            &time(LONGEST),
        ),
        Default::Text("auto"),
        "After `end`, measured messages may take this much longer to arrive.",
    ),
    key(
        "drain_sources",
        Type::Choice(DrainSources::WORDS),
        Default::Text("on"),
        "Whether sources without end go on through the drain: what is measured then never meets an emptying network.",
    ),
    key(
        "fast_forward",
        Type::Choice(FastForward::WORDS),
        Default::Text("exact"),
        "Whether iterations that repeat are run; never changes the result, unless the rest is estimated.",
    ),
    key(
        "precision",
        Type::Number { above: 0.0, max: 0.2 },
        Default::Text("0.01"),
        "Half the width of the 95 % interval of the mean time of an iteration, as a part of it, from which on the rest is estimated. Only with `fast_forward = \"statistical\"`.",
    ),
    key(
        "draw_cycle",
        Type::Integer {
            min: 1,
            max: LONGEST_DRAW_CYCLE as u64,
        },
        Default::From("no such cycle"),
        "Draws of the routing begin again after so many messages of a node, and depend on nothing else of a packet but its ends and its number in the message: with random ways, too, iterations repeat.",
    ),
    key(
        "engine",
        Type::Of(&super::ENGINE),
        Default::Text("auto"),
        "Which engine executes the run; never changes the result.",
    ),
    key(
        "workers",
        Type::Or(
            &("auto", "the cores that no other run of the campaign needs"),
            &Type::Integer { min: 1, max: 1_024 },
        ),
        Default::Text("auto"),
        "Worker threads of a run, under mpirun of each rank; never changes the result.",
    ),
    key(
        "partition",
        Type::ChoiceOrKey(PartitionWord::WORDS, "file", &Type::Text),
        Default::Text("auto"),
        "How several workers share out the routers; never changes the result, only the speed. A file is a CSV map with the header `router,part`.",
    ),
    key(
        "perturb",
        Type::Integer { min: 0, max: 1_000 },
        Default::Text("0"),
        "So many runs more beside each one: with other ties, neighbours in orders of their own at each rank, and starts that differ.",
    ),
    key(
        "perturb_spread",
        time(SECOND),
        Default::From("the time of a packet on its way out of an interface"),
        "Ranks and nodes that start together start up to this much apart in the runs of `perturb`.",
    ),
    key(
        "stall_after",
        span(LONGEST),
        Default::Text("1 ms"),
        "Simulated time without progress after which packets in flight count as stalled.",
    ),
];

pub(super) const SECTIONS: &[Section] = &[
    Section {
        name: "link",
        header: "[link]",
        line: "Links. `[link.CLASS]` with the same keys holds exceptions for one class of links; keys left out there are those of `[link]`.",
        parameters: LINK,
        families: &[],
    },
    Section {
        name: "router",
        header: "[router]",
        line: "The router model with its timing.",
        parameters: ROUTER,
        families: &[(&super::ROUTER_MODEL, "router"), (&super::ROUTER_PRESET, "router")],
    },
    Section {
        name: "routing",
        header: "[routing]",
        line: "How packets find their way.",
        parameters: fabric::routing::KEYS,
        families: &[(&super::ROUTING, "routing")],
    },
    Section {
        name: "nic",
        header: "[nic]",
        line: "The network interface of every node.",
        parameters: NIC,
        families: &[],
    },
    fail::FAIL_TABLE,
    fail::OUTAGE_TABLES,
    Section {
        name: "mpi",
        header: "[mpi]",
        line: "What the messages of MPI ranks cost, for jobs whose work is a motif.",
        parameters: super::mpi::MPI,
        families: &[(&super::MPI_PRESET, "mpi")],
    },
    Section {
        name: "job",
        header: "[[job]]",
        line: "One job: work on some of the nodes.",
        parameters: JOB,
        families: &[
            (&super::PLACEMENT, "placement"),
            (&super::WORK, "work"),
            (&super::PROCESS, "work"),
            (&super::MEMORY_PRESET, "work"),
        ],
    },
    SAMPLE,
    Section {
        name: "observe",
        header: "[observe]",
        line: "What is recorded beside the summary.",
        parameters: OBSERVE,
        families: &[],
    },
    cost::COST_TABLE,
    cost::ELECTRICAL_TABLE,
    cost::OPTICAL_TABLE,
    cost::LAYOUT_TABLE,
    Section {
        name: "run",
        header: "[run]",
        line: "Seeds, length and engine.",
        parameters: RUN,
        families: &[(&super::ENGINE, "run")],
    },
];

pub(super) const ENGINES: &[Entry] = &[
    Entry::new("auto", "Picked from size, lookahead and cores."),
    Entry::new("sequential", "The window engine on one worker."),
    Entry::new(
        "conservative",
        "The window engine on several threads, which meet after every window.",
    )
    .source("Chandy and Misra 1979; Nicol 1993 (windows)")
    .limits("At most 1,024 threads, those of all ranks together."),
    Entry::new(
        "optimistic",
        "Workers run windows ahead of the safe one, keep an undo log, and go back where that was wrong (Time Warp).",
    )
    .source("Jefferson 1985; Steinman 1991 (rounds)")
    .limits("At most 1,024 threads, those of all ranks together. Slower than conservative unless little travels between workers."),
    Entry::new("reference", "A plain binary heap of events, written to be read.").limits("Slow."),
    Entry::new(
        "rollback-check",
        "The window engine, every window run forward, back and forward again.",
    )
    .limits("At least three times as slow."),
];

choice! {
    /// The word of a [`Start`](fabric::spec::Start).
    pub(crate) enum StartWord {
        InPhase = "in-phase", "All at the same time.";
        AfterBarrier = "after-barrier", "All at the same time, with a barrier of the job before the work, whose messages are its own.";
    }
}

choice! {
    /// A partition that needs no file.
    pub(crate) enum PartitionWord {
        Auto = "auto", "what suits the network: METIS for graphs from files, else `blocks`.";
        Blocks = "blocks", "planes, groups or pods of the family; graphs breadth first.";
        Metis = "metis", "METIS where it cuts fewer cables.";
    }
}
