//! The tables of a run: one line for each column.

mod ranks;
mod shape;

use super::figure::Measure;
use super::links::LinkWindowRow;
use super::run_result::RunResult;
use super::throughput::sender_rates;
use fabric::mpi::RankRow;
use fabric::observe::{Bin, MessageTimes, SenderRow};
use ranks::{COMMUNICATORS, CRITICAL_PATH, OPERATIONS, REGIONS, WAITS};
use shape::column;
pub use shape::{ColumnValues, ResultTable, TableColumn};

/// Every table, in the order of the documentation.
pub const TABLES: &[ResultTable] = &[
    LINKS,
    LINK_WINDOWS,
    MESSAGES,
    TIMELINE,
    CDF,
    HOPS,
    SENDERS,
    RANKS,
    OPERATIONS,
    COMMUNICATORS,
    WAITS,
    REGIONS,
    CRITICAL_PATH,
];

/// The table of this name.
pub fn table(name: &str) -> Option<&'static ResultTable> {
    TABLES.iter().find(|table| table.name == name)
}

const LINKS: ResultTable = ResultTable {
    name: "links",
    line: "A row per direction of a link, ejection to nodes too; with `observe.links`.",
    is_there: |run| !run.links.is_empty(),
    columns: &[
        column("router", Measure::Count, "router", "Router that sends.", |run| {
            ColumnValues::U32(run.links.iter().map(|link| link.router).collect())
        }),
        column(
            "port",
            Measure::Count,
            "port",
            "Its output port; ejection ports follow the network ports.",
            |run| ColumnValues::U32(run.links.iter().map(|link| link.port).collect()),
        ),
        column(
            "peer_router",
            Measure::Count,
            "receiving router",
            "Router that receives; 4294967295 for a node.",
            |run| ColumnValues::U32(run.links.iter().map(|link| link.peer_router).collect()),
        ),
        column(
            "class",
            Measure::Count,
            "link class",
            "Number of the link's class, in the order of the topology.",
            |run| ColumnValues::U8(run.links.iter().map(|link| link.class).collect()),
        ),
        column(
            "utilisation",
            Measure::Share,
            "utilisation",
            "Part of the time that the link was busy.",
            |run| ColumnValues::F64(run.links.iter().map(|link| link.utilisation).collect()),
        ),
        column("packets", Measure::Count, "packets", "Packets sent.", |run| {
            ColumnValues::U64(run.links.iter().map(|link| link.packets).collect())
        }),
        column("bytes", Measure::Bytes, "bytes", "Bytes sent.", |run| {
            ColumnValues::U64(run.links.iter().map(|link| link.bytes).collect())
        }),
    ],
};

/// A number of every window of a link.
fn of_windows<T>(run: &RunResult, of: impl Fn(&LinkWindowRow) -> T) -> Vec<T> {
    run.link_windows.iter().flatten().map(of).collect()
}

const LINK_WINDOWS: ResultTable = ResultTable {
    name: "link_windows",
    line: "A row per window of the time and direction of a link that was busy in it, ejection to nodes too; with `observe.links_every`.",
    is_there: |run| run.link_windows.is_some(),
    columns: &[
        column("window", Measure::Count, "window", "Its number, from 0.", |run| {
            ColumnValues::U32(of_windows(run, |row| row.window))
        }),
        column(
            "time_ns",
            Measure::Nanoseconds,
            "time",
            "When the window begins.",
            |run| ColumnValues::F64(of_windows(run, |row| row.from as f64 / 1e3)),
        ),
        column(
            "end_ns",
            Measure::Nanoseconds,
            "end",
            "When it ends; the last one with the run.",
            |run| ColumnValues::F64(of_windows(run, |row| row.to as f64 / 1e3)),
        ),
        column("router", Measure::Count, "router", "Router that sends.", |run| {
            ColumnValues::U32(of_windows(run, |row| row.router))
        }),
        column(
            "port",
            Measure::Count,
            "port",
            "Its output port; ejection ports follow the network ports.",
            |run| ColumnValues::U32(of_windows(run, |row| row.port)),
        ),
        column(
            "utilisation",
            Measure::Share,
            "utilisation",
            "Part of the window that the link was busy.",
            |run| ColumnValues::F64(of_windows(run, |row| row.utilisation)),
        ),
    ],
};

/// A number of every message.
fn of_messages<T>(run: &RunResult, of: impl Fn(&MessageTimes) -> T) -> Vec<T> {
    run.messages.iter().flatten().map(of).collect()
}

const MESSAGES: ResultTable = ResultTable {
    name: "messages",
    line: "A row per message, by source and number, those that have not arrived too; with `observe.messages = \"full\"`.",
    is_there: |run| run.messages.is_some(),
    columns: &[
        column("source", Measure::Count, "source", "Node that sends.", |run| {
            ColumnValues::U32(of_messages(run, |m| m.source))
        }),
        column(
            "number",
            Measure::Count,
            "number",
            "Its place among the messages of its source in the order in which they leave, from 0.",
            |run| ColumnValues::U64(of_messages(run, |m| m.number)),
        ),
        column(
            "destination",
            Measure::Count,
            "destination",
            "Node that receives.",
            |run| ColumnValues::U32(of_messages(run, |m| m.destination)),
        ),
        column("bytes", Measure::Bytes, "size", "Its size.", |run| {
            ColumnValues::U64(of_messages(run, |m| m.bytes))
        }),
        column(
            "born_ps",
            Measure::Picoseconds,
            "birth",
            "When it was handed to the interface.",
            |run| ColumnValues::U64(of_messages(run, |m| m.born)),
        ),
        column(
            "injected_ps",
            Measure::Picoseconds,
            "injection",
            "When its first packet left; null if none has.",
            |run| ColumnValues::MaybeU64(of_messages(run, |m| m.injected)),
        ),
        column(
            "arrived_ps",
            Measure::Picoseconds,
            "arrival",
            "When it was complete at its destination; null if it is not.",
            |run| ColumnValues::MaybeU64(of_messages(run, |m| m.arrived)),
        ),
        column(
            "hops",
            Measure::Count,
            "hops",
            "Most router-to-router links of its packets; null if it has not arrived.",
            |run| ColumnValues::MaybeU32(of_messages(run, |m| m.hops)),
        ),
    ],
};

/// The slices of the time over which load is told: how many there are.
fn n_slices(run: &RunResult) -> usize {
    run.stats.delivered.len().max(run.stats.whole().bins.len())
}

const TIMELINE: ResultTable = ResultTable {
    name: "timeline",
    line: "A row per slice of the time; with `observe.timeline`.",
    is_there: |run| run.timeline,
    columns: &[
        column(
            "time_ns",
            Measure::Nanoseconds,
            "time",
            "When the slice begins.",
            |run| {
                let slice = (1u64 << run.stats.shift) as f64;
                ColumnValues::F64((0..n_slices(run)).map(|i| i as f64 * slice / 1e3).collect())
            },
        ),
        column(
            "accepted_load",
            Measure::Load,
            "accepted load",
            "Bytes delivered in the slice, mean over all nodes.",
            |run| {
                let capacity = run.bytes_per_ps * (1u64 << run.stats.shift) as f64;
                let delivered = |i: usize| run.stats.delivered.get(i).copied().unwrap_or(0);
                ColumnValues::F64((0..n_slices(run)).map(|i| delivered(i) as f64 / capacity).collect())
            },
        ),
        column(
            "mean_latency_ns",
            Measure::Nanoseconds,
            "mean latency",
            "Mean latency of the messages born in the slice; null where one of them has not arrived, or none was born.",
            |run| {
                let bins = run.stats.whole().bins;
                let known = |bin: &&Bin| bin.missing() == 0;
                let mean = |i: usize| bins.get(i).filter(known)?.born.mean();
                ColumnValues::MaybeF64((0..n_slices(run)).map(|i| mean(i).map(|ps| ps / 1e3)).collect())
            },
        ),
    ],
};

/// The distribution of latencies over all measured messages: where some have not arrived the fractions end below 1.
fn distribution(run: &RunResult) -> Vec<(f64, f64)> {
    let sample = &run.sample;
    sample.latencies.histogram.cumulative(sample.messages)
}

const CDF: ResultTable = ResultTable {
    name: "cdf",
    line: "The distribution of latencies over all measured messages.",
    is_there: |_| true,
    columns: &[
        column("latency_ns", Measure::Nanoseconds, "latency", "A latency.", |run| {
            ColumnValues::F64(distribution(run).iter().map(|point| point.0 / 1e3).collect())
        }),
        column(
            "fraction",
            Measure::Share,
            "fraction",
            "Part of the measured messages with at most this latency; ends below 1 where some have not arrived.",
            |run| ColumnValues::F64(distribution(run).iter().map(|point| point.1).collect()),
        ),
    ],
};

const HOPS: ResultTable = ResultTable {
    name: "hops",
    line: "A row per number of hops. A hop is a router's sending of a packet: the ejection counts.",
    is_there: |_| true,
    columns: &[
        column("hops", Measure::Count, "hops", "How many.", |run| {
            ColumnValues::U32((1..=run.stats.hops.len() as u32).collect())
        }),
        column(
            "packets",
            Measure::Count,
            "packets",
            "Packets that took so many.",
            |run| ColumnValues::U64(run.stats.hops.clone()),
        ),
    ],
};

/// A number of every sender of pairs, from its node, its record and its rate.
fn of_senders(run: &RunResult, of: impl Fn(u32, &SenderRow, f64) -> f64) -> ColumnValues {
    let rates = sender_rates(&run.stats);
    let number = |(node, rate): (u32, f64)| of(node, &run.stats.senders[node as usize], rate);
    ColumnValues::F64(rates.map(number).collect())
}

const SENDERS: ResultTable = ResultTable {
    name: "senders",
    line: "A row per sender of pairs.",
    is_there: |run| sender_rates(&run.stats).next().is_some(),
    columns: &[
        column("node", Measure::Count, "node", "Node that sends.", |run| {
            ColumnValues::U32(sender_rates(&run.stats).map(|(node, _)| node).collect())
        }),
        column(
            "throughput_MiBps",
            Measure::MebibytesPerSecond,
            "throughput",
            "Bytes over the time from its first send to its last acknowledgement or delivery.",
            |run| of_senders(run, |_, _, rate| rate),
        ),
        column(
            "mean_latency_ns",
            Measure::Nanoseconds,
            "mean latency",
            "Mean latency of its messages.",
            |run| of_senders(run, |_, sender, _| sender.sum as f64 / sender.trips as f64 / 1e3),
        ),
        column(
            "max_latency_ns",
            Measure::Nanoseconds,
            "greatest latency",
            "Greatest latency of its messages.",
            |run| of_senders(run, |_, sender, _| sender.longest as f64 / 1e3),
        ),
        column(
            "mean_round_trip_ns",
            Measure::Nanoseconds,
            "mean round trip",
            "Mean time from a send to its acknowledgement.",
            |run| of_senders(run, |_, sender, _| sender.mean_round_trip() / 1e3),
        ),
        column(
            "max_round_trip_ns",
            Measure::Nanoseconds,
            "greatest round trip",
            "Greatest time from a send to its acknowledgement.",
            |run| of_senders(run, |_, sender, _| sender.longest_round_trip as f64 / 1e3),
        ),
    ],
};

/// A time of every rank (ns).
fn times_of_ranks(run: &RunResult, of: fn(&RankRow) -> u64) -> ColumnValues {
    ColumnValues::F64(run.ranks.iter().map(|rank| of(rank) as f64 / 1e3).collect())
}

/// A count of every rank.
fn counts_of_ranks(run: &RunResult, of: fn(&RankRow) -> u64) -> ColumnValues {
    ColumnValues::U64(run.ranks.iter().map(of).collect())
}

const RANKS: ResultTable = ResultTable {
    name: "ranks",
    line: "A row per MPI rank; with `observe.ranks`.",
    is_there: |run| run.rank_rows,
    columns: &[
        column("job", Measure::Count, "job", "Number of its job in the study.", |run| {
            ColumnValues::U32(run.ranks.iter().map(|rank| rank.job).collect())
        }),
        column("rank", Measure::Count, "rank", "Its number within the job.", |run| {
            ColumnValues::U32(run.ranks.iter().map(|rank| rank.rank).collect())
        }),
        column("node", Measure::Count, "node", "The node that it is on.", |run| {
            ColumnValues::U32(run.ranks.iter().map(|rank| rank.node).collect())
        }),
        column(
            "finished_ns",
            Measure::Nanoseconds,
            "end of the program",
            "When it came to the end of its program; NaN if it has not.",
            |run| {
                let finished = |rank: &RankRow| {
                    if rank.is_done() {
                        rank.finished as f64 / 1e3
                    } else {
                        f64::NAN
                    }
                };
                ColumnValues::F64(run.ranks.iter().map(finished).collect())
            },
        ),
        column(
            "compute_ns",
            Measure::Nanoseconds,
            "computing",
            "What it computed.",
            |run| times_of_ranks(run, |rank| rank.computed),
        ),
        column(
            "wait_ns",
            Measure::Nanoseconds,
            "waiting",
            "What it waited for messages.",
            |run| times_of_ranks(run, |rank| rank.waited),
        ),
        column(
            "overhead_ns",
            Measure::Nanoseconds,
            "overheads",
            "What it spent on overheads and copies of messages.",
            |run| times_of_ranks(run, |rank| rank.worked),
        ),
        column(
            "messages",
            Measure::Count,
            "messages",
            "Its messages over the network.",
            |run| counts_of_ranks(run, |rank| rank.messages),
        ),
        column("bytes", Measure::Bytes, "bytes", "Their bytes.", |run| {
            counts_of_ranks(run, |rank| rank.bytes)
        }),
        column(
            "local_messages",
            Measure::Count,
            "messages within nodes",
            "Its messages that did not leave the node.",
            |run| counts_of_ranks(run, |rank| rank.local_messages),
        ),
        column(
            "local_bytes",
            Measure::Bytes,
            "bytes within nodes",
            "Their bytes.",
            |run| counts_of_ranks(run, |rank| rank.local_bytes),
        ),
        column(
            "iterations",
            Measure::Count,
            "iterations",
            "Iterations that it has behind it.",
            |run| counts_of_ranks(run, |rank| rank.iterations),
        ),
    ],
};
