//! MPI ranks: what their messages cost, and their motifs.

use crate::motif::{Neighbours, OrderWord, Receives};
use crate::mpi::{HEADER, LARGEST, MAX_RAILS};
use crate::spec::{RailPolicy, Rendezvous};
use study::units::Unit;
use study::{BANDWIDTH, Default, Entry, Named, Parameter, SECOND, Type, When, key, size, time};

/// A size from nothing to `max`.
const fn size_or_none(max: u64) -> Type {
    Type::Quantity {
        unit: Unit::Size,
        min: 0,
        max,
    }
}

const FREE: Type = Type::Or(&("free", "takes no time"), &BANDWIDTH);

/// The algorithms of a collective, or the choice by size.
macro_rules! algorithm {
    ($name:literal, $($choice:literal),+) => {
        key(
            $name,
            Type::Or(
                &("auto", "by number of ranks and size, with the switch points of MPICH"),
                &Type::Choice(&[$(($choice, "See the models' page on collectives.")),+]),
            ),
            Default::Text("auto"),
            "Algorithm of this collective; one for powers of two only gives way to `auto` for other numbers of ranks.",
        )
    };
}

pub(super) const MPI: &[Parameter] = &[
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
    algorithm!("barrier", "dissemination", "recursive-doubling", "binomial"),
    algorithm!("bcast", "binomial", "scatter-allgather", "scatter-doubling", "chain"),
    algorithm!("reduce", "binomial", "rabenseifner"),
    algorithm!(
        "allreduce",
        "recursive-doubling",
        "ring",
        "rabenseifner",
        "reduce-bcast"
    ),
    algorithm!("gather", "binomial", "linear"),
    algorithm!("scatter", "binomial", "linear"),
    algorithm!("allgather", "ring", "recursive-doubling", "bruck"),
    algorithm!("reduce_scatter", "ring", "recursive-halving", "pairwise"),
    algorithm!("alltoall", "pairwise", "spread", "window", "bruck"),
    algorithm!("alltoallv", "pairwise", "spread", "window"),
];

/// What all motifs share.
const MOTIF: &[Parameter] = &[
    key(
        "ranks",
        Type::Integer { min: 1, max: 1 << 28 },
        Default::From("nodes of the job times `ranks_per_node`"),
        "Number of ranks.",
    ),
    key(
        "iterations",
        Type::Integer { min: 1, max: 1 << 31 },
        Default::Text("1"),
        "How often.",
    ),
];

/// Computing of motifs without cells.
const COMPUTE: &[Parameter] = &[key(
    "compute",
    time(1_000 * SECOND),
    Default::Text("0 ns"),
    "Computing of a rank in each step.",
)];

/// Computing of motifs with cells.
const COMPUTE_CELLS: &[Parameter] = &[
    key(
        "compute",
        time(1_000 * SECOND),
        Default::Text("0 ns"),
        "Computing of a rank in each step.",
    ),
    key(
        "flop_per_cell",
        Type::Number { above: 0.0, max: 1e12 },
        Default::From("`compute` says how long"),
        "Operations per cell and step; with `flop_rate`, in place of `compute`.",
    ),
    key(
        "flop_rate",
        Type::Number { above: 0.0, max: 1e18 },
        Default::From("`compute` says how long"),
        "Operations of a rank per second.",
    ),
];

const fn sides(doc: &'static str) -> Parameter {
    key(
        "process_grid",
        Type::Integers {
            min: 1,
            max: 1 << 28,
            single: false,
        },
        Default::From("as cubic (or square) as the number of ranks allows, x fastest"),
        doc,
    )
}

const CELLS: Type = Type::Integers {
    min: 1,
    max: 1 << 32,
    single: false,
};
const VARS: Parameter = key(
    "vars",
    Type::Integer { min: 1, max: 1 << 20 },
    Default::Text("1"),
    "Values per cell.",
);
const fn value(default: &'static str) -> Parameter {
    key("value", size(65_536), Default::Text(default), "Size of a value.")
}

const HALO: &[Parameter] = &[
    key(
        "grid",
        CELLS,
        Default::From("[10, 10, 10]"),
        "Cells of a rank along x, y, z.",
    ),
    sides("Ranks along x, y, z."),
    VARS,
    value("8 B"),
];

const HALO_26: &[Parameter] = &[key(
    "neighbours",
    Type::Choice(Neighbours::WORDS),
    Default::Text("26"),
    "Which neighbours there are.",
)];

const ORDER: &[Parameter] = &[key(
    "order",
    Type::Choice(OrderWord::WORDS),
    Default::Text("common"),
    "In which order a rank turns to its neighbours.",
)];

const PERIODIC: &[Parameter] = &[key(
    "periodic",
    Type::Flag,
    Default::Text("false"),
    "The ends of each dimension are joined.",
)];

const STENCIL_4D: &[Parameter] = &[
    key(
        "grid",
        CELLS,
        Default::From("[10, 10, 10, 10]"),
        "Cells of a rank along each dimension.",
    ),
    sides("Ranks along each dimension."),
    VARS,
    value("8 B"),
];

const SWEEP: &[Parameter] = &[
    key(
        "grid",
        CELLS,
        Default::From("[50, 50, 100]"),
        "Cells of a rank along x, y, z.",
    ),
    sides("Ranks along x, y."),
    key(
        "kba",
        Type::Integer { min: 1, max: 1 << 32 },
        Default::Text("10"),
        "Cells along z of a step; divides those of a rank.",
    ),
    VARS,
    value("8 B"),
];

const SUBA2A: &[Parameter] = &[
    sides("Ranks along x, y, z."),
    key(
        "messages",
        Type::Sizes { max: LARGEST },
        Default::Text("32 KiB"),
        "Size of a message between two ranks of a line along x, y, z; one size stands for all three, \"0 B\" leaves a dimension out.",
    ),
];

const FFT: &[Parameter] = &[
    key(
        "grid",
        CELLS,
        Default::From("[100, 100, 100]"),
        "Cells of the whole transform along x, y, z.",
    ),
    sides("Ranks along rows and columns."),
    value("16 B"),
];

const ONE_MESSAGE: &[Parameter] = &[key(
    "message",
    size_or_none(LARGEST),
    Default::Text("1 KiB"),
    "Size of a message.",
)];

const SIZES: Parameter = key(
    "messages",
    Type::Sizes { max: LARGEST },
    Default::Text("1 KiB"),
    "Sizes, one after the other.",
);

const PING_PONG: &[Parameter] = &[
    SIZES,
    key(
        "partner",
        Type::Integer { min: 1, max: 1 << 28 },
        Default::From("the last rank"),
        "The rank that answers rank 0.",
    ),
    key(
        "repeat",
        Type::Integer { min: 1, max: 1 << 24 },
        Default::Text("1"),
        "Round trips of each size.",
    ),
];

const INCAST: &[Parameter] = &[
    key(
        "target",
        Type::Integer { min: 0, max: 1 << 28 },
        Default::Text("0"),
        "The rank that all send to.",
    ),
    key(
        "sources",
        Type::Integer { min: 1, max: 1 << 28 },
        Default::From("all other ranks"),
        "Number of senders: the ranks that follow on the target.",
    ),
    key(
        "count",
        Type::Integer { min: 1, max: 1 << 31 },
        Default::Text("1"),
        "Messages of each sender.",
    ),
];

const COLLECTIVE: &[Parameter] = &[
    key(
        "collective",
        Type::Choice(&[
            ("barrier", "Nobody goes on before everybody has come."),
            ("bcast", "`message` from the root to all."),
            ("reduce", "`message` from everybody, combined at the root."),
            ("allreduce", "`message` from everybody, combined everywhere."),
            ("gather", "`message` from everybody to the root."),
            ("scatter", "`message` for everybody from the root."),
            ("allgather", "`message` from everybody to everybody."),
            ("reduce-scatter", "`message` of the combined result at each."),
            ("alltoall", "`message` from each to each."),
            ("alltoallv", "The same by the algorithms that take any sizes."),
        ]),
        Default::Text("barrier"),
        "Which.",
    ),
    key(
        "root",
        Type::Integer { min: 0, max: 1 << 28 },
        Default::Text("0"),
        "The root, where there is one.",
    )
    .when(&[When {
        key: "collective",
        values: &["bcast", "reduce", "gather", "scatter"],
    }]),
];

const NEIGHBOURS: &[Parameter] = &[
    key(
        "degree",
        Type::Integers {
            min: 1,
            max: 1 << 16,
            single: true,
        },
        Default::Text("[6]"),
        "Ranks that a rank sends to: one number, or the least and the most.",
    ),
    key(
        "mutual",
        Type::Flag,
        Default::Text("true"),
        "A message goes back for every message.",
    ),
    key(
        "redraw",
        Type::Flag,
        Default::Text("false"),
        "New neighbours in every iteration.",
    ),
    key(
        "receives",
        Type::Choice(Receives::WORDS),
        Default::Text("named"),
        "How a rank receives.",
    ),
    seed("What the neighbours are drawn from."),
];

const fn seed(doc: &'static str) -> Parameter {
    key(
        "seed",
        Type::Integer {
            min: 0,
            max: i64::MAX as u64,
        },
        Default::Text("1"),
        doc,
    )
}

const ONE_MIB: Parameter = key(
    "message",
    size_or_none(LARGEST),
    Default::Text("1 MiB"),
    "Size of a message.",
);

const MPI_GRAPH: &[Parameter] = &[
    ONE_MIB,
    key(
        "window",
        Type::Integer { min: 1, max: 1 << 16 },
        Default::Text("1"),
        "Messages to a rank under way at a time.",
    ),
    key(
        "barrier",
        Type::Flag,
        Default::Text("true"),
        "A barrier after every distance.",
    ),
];

const EBB: &[Parameter] = &[
    ONE_MIB,
    key(
        "both",
        Type::Flag,
        Default::Text("false"),
        "Both of a pair send at once, in place of there and back.",
    ),
    seed("What the pairs are drawn from."),
];

const HPL: &[Parameter] = &[
    sides("Ranks along a column and along a row of the matrix."),
    key(
        "rows",
        Type::Integer { min: 1, max: 1 << 32 },
        Default::Text("8192"),
        "Rows (and columns) of the matrix.",
    ),
    key(
        "block",
        Type::Integer { min: 1, max: 1 << 20 },
        Default::Text("192"),
        "Columns of a panel.",
    ),
    key(
        "flop_rate",
        Type::Number { above: 0.0, max: 1e18 },
        Default::Text("1.2e11"),
        "Operations of a rank per second in products of matrices.",
    ),
];

const BFS: &[Parameter] = &[
    key(
        "scale",
        Type::Integer { min: 1, max: 60 },
        Default::Text("20"),
        "Binary logarithm of the number of vertices.",
    ),
    key(
        "edge_factor",
        Type::Integer { min: 1, max: 1 << 16 },
        Default::Text("16"),
        "Edges per vertex.",
    ),
    key(
        "edge_rate",
        Type::Number { above: 0.0, max: 1e18 },
        Default::Text("1e8"),
        "Edges that a rank looks at per second.",
    ),
];

/// Skeletons of applications.
const fn application(cells: &'static str, doc: &'static str) -> [Parameter; 3] {
    [
        key("grid", CELLS, Default::From(cells), doc),
        key(
            "flop_rate",
            Type::Number { above: 0.0, max: 1e18 },
            Default::Text("1e10"),
            "Operations of a rank per second.",
        ),
        key(
            "compute",
            time(1_000 * SECOND),
            Default::From("operations per cell and `flop_rate` say how long"),
            "Computing of a rank in an iteration, all of its parts together.",
        ),
    ]
}
const A_RANK: &str = "Cells of a rank along x, y, z.";
const HPCG: &[Parameter] = &application("[104, 104, 104]", A_RANK);
const AMG: &[Parameter] = &application("[64, 64, 64]", A_RANK);
const COMD: &[Parameter] = &application("[20, 20, 20]", "Unit cells of 4 atoms of a rank along x, y, z.");
const MINIFE: &[Parameter] = &application("[100, 100, 100]", "Elements of a rank along x, y, z.");
const SWFFT: &[Parameter] = &application("[64, 64, 64]", A_RANK);
const FFVC: &[Parameter] = &application("[128, 128, 128]", A_RANK);
const MVMC: &[Parameter] = &application("[1024]", "Variational parameters.");
const NTCHEM: &[Parameter] = &application("[32, 32, 8]", "Sides of a rank's block of integrals.");
const MILC: &[Parameter] = &application("[16, 16, 16, 16]", "Sites of a rank along x, y, z, t.");
const QBALL: &[Parameter] = &application("[96, 96, 96]", "Cells of the transform of a state along x, y, z.");

const OPS: &[Parameter] = &[
    key(
        "file",
        Type::Text,
        Default::From("`table` has the rows"),
        "CSV file with a row per operation; the columns are rank, op, peer, source, bytes, tag, communicator, request, time_ps.",
    ),
    key(
        "table",
        Type::Lines,
        Default::From("`file` has the rows"),
        "The same text in place of a file.",
    ),
];

const fn motif(
    name: &'static str,
    line: &'static str,
    groups: &'static [&'static [Parameter]],
    source: &'static str,
) -> Entry {
    Entry {
        name,
        line,
        groups,
        source,
        limits: "",
    }
}

pub(super) const MOTIFS: &[Entry] = &[
    motif(
        "halo3d",
        "Faces of a block of cells with up to 6 neighbours, one dimension after another.",
        &[HALO, PERIODIC, ORDER, COMPUTE_CELLS, MOTIF],
        "ember, mpi/halo3d",
    ),
    motif(
        "halo3d-26",
        "Faces, edges and corners of a block of cells with up to 26 (or 18) neighbours, all at once.",
        &[HALO, HALO_26, ORDER, COMPUTE_CELLS, MOTIF],
        "SST, ember motif halo3d26; ember, mpi/halo3d-26",
    ),
    motif(
        "sweep3d",
        "Wavefronts from the corners of a 2D grid of ranks, pipelined along z.",
        &[SWEEP, COMPUTE_CELLS, MOTIF],
        "Koch, Baker, Alcouffe 1992; ember, mpi/sweep3d",
    ),
    motif(
        "suba2a",
        "All-to-alls along the lines of a 3D grid of ranks: x, then y, then z.",
        &[SUBA2A, COMPUTE, MOTIF],
        "chatterbug, subcom3d-a2a",
    ),
    motif(
        "fft3d",
        "Transposes of a 3D Fourier transform on a 2D grid of ranks: rows, columns, barrier, columns, rows.",
        &[FFT, COMPUTE_CELLS, MOTIF],
        "SST, ember motif fft3d",
    ),
    motif(
        "stencil3d",
        "Faces of a block of cells with 6 neighbours in a periodic grid, all at once.",
        &[HALO, ORDER, COMPUTE_CELLS, MOTIF],
        "chatterbug, stencil3d",
    ),
    motif(
        "stencil4d",
        "The same with 8 neighbours in four dimensions.",
        &[STENCIL_4D, ORDER, COMPUTE_CELLS, MOTIF],
        "chatterbug, stencil4d",
    ),
    motif(
        "all-ping-pong",
        "Rank i of the first half and rank i of the second half send to each other in turn.",
        &[ONE_MESSAGE, COMPUTE, MOTIF],
        "SST, ember motif AllPingPong",
    ),
    motif(
        "ping-pong",
        "Rank 0 and another one send to each other in turn, size by size.",
        &[PING_PONG, MOTIF],
        "OSU micro-benchmarks, osu_latency",
    ),
    motif(
        "ring",
        "A message goes round all ranks.",
        &[ONE_MESSAGE, COMPUTE, MOTIF],
        "SST, ember motif Ring",
    ),
    motif(
        "many-to-one",
        "Many ranks send to one.",
        &[INCAST, ONE_MESSAGE, MOTIF],
        "ember, mpi/incast",
    ),
    motif(
        "allreduce-loop",
        "One allreduce after another, of given sizes, such as the layers of a neural network.",
        &[&[SIZES], COMPUTE, MOTIF],
        "OSU micro-benchmarks, osu_allreduce",
    ),
    motif(
        "collective",
        "One collective operation.",
        &[COLLECTIVE, ONE_MESSAGE, COMPUTE, MOTIF],
        "OSU micro-benchmarks",
    ),
    motif(
        "random-neighbours",
        "Messages to random ranks: the next ones on random rings through all ranks.",
        &[NEIGHBOURS, ONE_MESSAGE, ORDER, COMPUTE, MOTIF],
        "chatterbug, unstr-mesh; Friedman 2008 (unions of random Hamiltonian cycles)",
    ),
    motif(
        "mpi-graph",
        "Every rank sends to the one d further on, for d = 1, 2, ... in turn.",
        &[MPI_GRAPH, COMPUTE, MOTIF],
        "mpiGraph, LLNL",
    ),
    motif(
        "ebb",
        "Random pairs across random bisections, others in every iteration.",
        &[EBB, MOTIF],
        "Netgauge, ebb; Schneider, Hoefler, Lumsdaine 2008",
    ),
    motif(
        "hpl",
        "LU factorisation with panels on a 2D grid of ranks, without look-ahead.",
        &[HPL, MOTIF],
        "HPL 2.3; Dongarra, Luszczek, Petitet 2003",
    ),
    motif(
        "graph500-bfs",
        "Breadth-first search of a Kronecker graph, an all-to-all and an allreduce per level.",
        &[BFS, MOTIF],
        "Graph500; Beamer, Asanovic, Patterson 2012",
    ),
    motif(
        "hpcg",
        "Skeleton of a conjugate gradient with four grids.",
        &[HPCG, ORDER, MOTIF],
        "Heroux, Dongarra, Luszczek 2013",
    ),
    motif(
        "amg",
        "Skeleton of a conjugate gradient with algebraic multigrid.",
        &[AMG, ORDER, MOTIF],
        "Henson, Yang 2002; proxy application AMG",
    ),
    motif(
        "comd",
        "Skeleton of molecular dynamics, ten time steps.",
        &[COMD, ORDER, MOTIF],
        "proxy application CoMD 1.1",
    ),
    motif(
        "minife",
        "Skeleton of a conjugate gradient of finite elements.",
        &[MINIFE, ORDER, MOTIF],
        "Heroux et al. 2009, SAND2009-5574",
    ),
    motif(
        "swfft",
        "Skeleton of a Fourier transform on pencils and its inverse.",
        &[SWFFT, MOTIF],
        "Habib et al. 2016; proxy application SWFFT",
    ),
    motif(
        "ffvc",
        "Skeleton of a time step of incompressible flow.",
        &[FFVC, ORDER, MOTIF],
        "FFV-C, Fiber mini-applications",
    ),
    motif(
        "mvmc",
        "Skeleton of a step of variational Monte Carlo.",
        &[MVMC, MOTIF],
        "Misawa et al. 2019; Fiber mini-applications",
    ),
    motif(
        "ntchem",
        "Skeleton of perturbation energies: blocks from every other rank.",
        &[NTCHEM, MOTIF],
        "NTChem-MINI, Fiber mini-applications",
    ),
    motif(
        "milc",
        "Skeleton of an iteration of lattice quantum chromodynamics.",
        &[MILC, ORDER, MOTIF],
        "Bauer, Gottlieb, Hoefler 2012",
    ),
    motif(
        "qball",
        "Skeleton of a step of plane-wave density functional theory.",
        &[QBALL, MOTIF],
        "Gygi 2008; qb@ll",
    ),
    motif("ops", "Operations from a table, rank by rank.", &[OPS, MOTIF], ""),
];
