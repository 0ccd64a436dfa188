//! MPI ranks: what their messages cost.

use study::units::Unit;
use study::{BANDWIDTH, Default, Named, Parameter, SECOND, Type, key, size, size_or_none, time};
use work::mpi::spec::{RailPolicy, Rendezvous};
use work::mpi::{HEADER, LARGEST, MAX_RAILS};

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
