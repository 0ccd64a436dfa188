//! Tables of what ranks did with their time, one line for each column; with `observe.operations`.

use super::shape::{ColumnValues, ResultTable, column};
use crate::operations::{
    CommunicatorRow, OperationCells, OperationTimes, PathPiece, RankTimes, RegionTimes, WaitTimes,
};
use crate::results::figure::Measure;
use crate::results::run_result::RunResult;

fn are_there(run: &RunResult) -> bool {
    run.rank_times.is_some()
}

/// A number of every row of one of the lists.
fn of<R, T>(run: &RunResult, rows: fn(&RankTimes) -> &Vec<R>, of: impl Fn(&R) -> T) -> Vec<T> {
    run.rank_times
        .iter()
        .flat_map(|times| rows(times).iter().map(&of))
        .collect()
}

fn operations<T>(run: &RunResult, number: impl Fn(&OperationTimes) -> T) -> Vec<T> {
    of(run, |times| &times.operations, number)
}

fn cells<T>(run: &RunResult, cell: impl Fn(&OperationCells) -> T) -> Vec<T> {
    operations(run, |row| cell(&row.cells()))
}

fn communicators(run: &RunResult, number: impl Fn(&CommunicatorRow) -> u32) -> ColumnValues {
    ColumnValues::U32(of(run, |times| &times.communicators, number))
}

fn waits<T>(run: &RunResult, number: impl Fn(&WaitTimes) -> T) -> Vec<T> {
    of(run, |times| &times.waits, number)
}

fn pieces<T>(run: &RunResult, number: impl Fn(&PathPiece) -> T) -> Vec<T> {
    of(run, |times| &times.paths, number)
}

fn regions<T>(run: &RunResult, number: impl Fn(&RegionTimes) -> T) -> Vec<T> {
    of(run, |times| &times.regions.rows, number)
}

const JOB: (&str, &str) = ("job", "Number of its job in the study.");

pub(super) const OPERATIONS: ResultTable = ResultTable {
    name: "operations",
    line: "A row per operation of every MPI rank, by job, rank and time; with `observe.operations`.",
    is_there: are_there,
    columns: &[
        column(JOB.0, Measure::Count, "job", JOB.1, |run| {
            ColumnValues::U32(operations(run, |row| row.job))
        }),
        column("rank", Measure::Count, "rank", "Its rank in the job.", |run| {
            ColumnValues::U32(operations(run, |row| row.rank))
        }),
        column(
            "part",
            Measure::Count,
            "part",
            "Part of the job's work, from 0.",
            |run| ColumnValues::U32(operations(run, |row| row.at[0])),
        ),
        column(
            "iteration",
            Measure::Count,
            "iteration",
            "Iteration of the part, from 0.",
            |run| ColumnValues::U32(operations(run, |row| row.at[1])),
        ),
        column(
            "index",
            Measure::Count,
            "number",
            "Its number in the iteration, from 0.",
            |run| ColumnValues::U32(operations(run, |row| row.at[2])),
        ),
        column(
            "operation",
            Measure::Text,
            "operation",
            "What it does: `compute`, an operation of MPI, a collective.",
            |run| ColumnValues::Words(operations(run, |row| row.word)),
        ),
        column("begin_ps", Measure::Picoseconds, "begin", "When it began.", |run| {
            ColumnValues::U64(operations(run, |row| row.begin))
        }),
        column(
            "end_ps",
            Measure::Picoseconds,
            "end",
            "When it ended: when the next one began, or the rank came to its end.",
            |run| ColumnValues::U64(operations(run, |row| row.end)),
        ),
        column(
            "peer",
            Measure::Count,
            "peer",
            "To whom or from whom, of a message; null of a receive from anybody.",
            |run| ColumnValues::MaybeU32(cells(run, |cells| cells.peer)),
        ),
        column(
            "bytes",
            Measure::Bytes,
            "bytes",
            "Bytes of a message or collective, of an alltoallv all that is sent; of a receive the most that it takes, null where it takes any.",
            |run| ColumnValues::MaybeU64(cells(run, |cells| cells.bytes)),
        ),
        column(
            "tag",
            Measure::Count,
            "tag",
            "Tag of a message; null of a receive of any.",
            |run| ColumnValues::MaybeU32(cells(run, |cells| cells.tag)),
        ),
        column(
            "communicator",
            Measure::Count,
            "communicator",
            "Communicator of a message or collective: its number in the part.",
            |run| ColumnValues::MaybeU32(cells(run, |cells| cells.communicator)),
        ),
        column(
            "request",
            Measure::Count,
            "request",
            "Name of the request that is begun, waited for or tested, where it has one.",
            |run| ColumnValues::MaybeU32(cells(run, |cells| cells.request)),
        ),
        column(
            "source",
            Measure::Count,
            "source",
            "From whom a sendrecv receives.",
            |run| ColumnValues::MaybeU32(cells(run, |cells| cells.source)),
        ),
        column(
            "source_tag",
            Measure::Count,
            "source tag",
            "Tag of what a sendrecv receives.",
            |run| ColumnValues::MaybeU32(cells(run, |cells| cells.source_tag)),
        ),
        column(
            "received_bytes",
            Measure::Bytes,
            "bytes received",
            "Bytes that a sendrecv receives at most, null where it takes any; all that is received in an alltoallv.",
            |run| ColumnValues::MaybeU64(cells(run, |cells| cells.received)),
        ),
        column(
            "root",
            Measure::Count,
            "root",
            "Root of a collective, by its number in the communicator.",
            |run| ColumnValues::MaybeU32(cells(run, |cells| cells.root)),
        ),
        column(
            "time_ps",
            Measure::Picoseconds,
            "time",
            "How long a computation takes.",
            |run| ColumnValues::MaybeU64(cells(run, |cells| cells.time)),
        ),
    ],
};

pub(super) const COMMUNICATORS: ResultTable = ResultTable {
    name: "communicators",
    line: "A row for each MPI rank in each communicator of the work of a job, by job, part, communicator, group and number; with \
           `observe.operations`.",
    is_there: are_there,
    columns: &[
        column(JOB.0, Measure::Count, "job", JOB.1, |run| {
            communicators(run, |row| row.job)
        }),
        column(
            "part",
            Measure::Count,
            "part",
            "Part of the job's work; the barrier before it has none here.",
            |run| communicators(run, |row| row.part),
        ),
        column(
            "communicator",
            Measure::Count,
            "communicator",
            "Number of the communicator in the part; 0 has all ranks.",
            |run| communicators(run, |row| row.communicator),
        ),
        column(
            "group",
            Measure::Count,
            "group",
            "The first rank of the group of ranks that are in it together.",
            |run| communicators(run, |row| row.group),
        ),
        column(
            "number",
            Measure::Count,
            "number",
            "Number of the rank in the group.",
            |run| communicators(run, |row| row.number),
        ),
        column("rank", Measure::Count, "rank", "The rank.", |run| {
            communicators(run, |row| row.rank)
        }),
    ],
};

pub(super) const WAITS: ResultTable = ResultTable {
    name: "waits",
    line: "A row for each time that an MPI rank waited, by job, rank and time; with `observe.operations`.",
    is_there: are_there,
    columns: &[
        column(JOB.0, Measure::Count, "job", JOB.1, |run| {
            ColumnValues::U32(waits(run, |row| row.job))
        }),
        column("rank", Measure::Count, "rank", "The rank that waited.", |run| {
            ColumnValues::U32(waits(run, |row| row.rank))
        }),
        column(
            "peer",
            Measure::Count,
            "peer",
            "The rank at the other end of the message that ended it.",
            |run| ColumnValues::U32(waits(run, |row| row.peer)),
        ),
        column(
            "why",
            Measure::Text,
            "reason",
            "`late sender`, `late receiver`, or `transfer` where both were there and the message was under way.",
            |run| ColumnValues::Words(waits(run, WaitTimes::word)),
        ),
        column("begin_ps", Measure::Picoseconds, "begin", "When it began.", |run| {
            ColumnValues::U64(waits(run, |row| row.begin))
        }),
        column("end_ps", Measure::Picoseconds, "end", "When it ended.", |run| {
            ColumnValues::U64(waits(run, |row| row.end))
        }),
        column(
            "late_ps",
            Measure::Picoseconds,
            "time for the peer",
            "How long the peer had not come to it; what is left of the wait the message was under way.",
            |run| ColumnValues::U64(waits(run, WaitTimes::late)),
        ),
        column(
            "link_node",
            Measure::Count,
            "node of the link",
            "The link that held the message that ended it up longest: the node at an end of it, if there is one. It is the link from that node where there is no router.",
            |run| ColumnValues::MaybeU32(waits(run, |row| row.held_up?.node)),
        ),
        column(
            "link_router",
            Measure::Count,
            "router of the link",
            "The link that held the message that ended it up longest: the router that sends on it; null of the link of a node, and without a link.",
            |run| ColumnValues::MaybeU32(waits(run, |row| row.held_up?.router)),
        ),
        column(
            "link_port",
            Measure::Count,
            "port of the link",
            "Its output port there, as in the table `links`.",
            |run| ColumnValues::MaybeU32(waits(run, |row| row.held_up?.port)),
        ),
        column(
            "link_ps",
            Measure::Picoseconds,
            "stay at the link",
            "How long a packet of the message was held up there: in queues, for want of room behind the link, and by its own serialisation.",
            |run| ColumnValues::MaybeU64(waits(run, |row| Some(row.held_up?.time))),
        ),
    ],
};

pub(super) const REGIONS: ResultTable = ResultTable {
    name: "regions",
    line: "A row for each MPI rank and region of the program that it was in, by job, rank, part and region, outside of all at last; with \
           `observe.operations`, for traces of calls that tell regions or times.",
    is_there: are_there,
    columns: &[
        column(JOB.0, Measure::Count, "job", JOB.1, |run| {
            ColumnValues::U32(regions(run, |row| row.job))
        }),
        column("rank", Measure::Count, "rank", "Its rank in the job.", |run| {
            ColumnValues::U32(regions(run, |row| row.rank))
        }),
        column("part", Measure::Count, "part", "Part of the job's work.", |run| {
            ColumnValues::U32(regions(run, |row| row.part))
        }),
        column(
            "region",
            Measure::Text,
            "region",
            "Name of the region, the innermost one at a time; empty outside of all.",
            |run| {
                let named = run.rank_times.as_ref().map(|times| times.regions.named());
                let (numbers, names) = named.unwrap_or_default();
                ColumnValues::Names(numbers, names)
            },
        ),
        column(
            "visits",
            Measure::Count,
            "visits",
            "How often it was entered; null of a rank that has not come to its end, as all that was recorded.",
            |run| ColumnValues::MaybeU64(regions(run, |row| row.visits)),
        ),
        column(
            "compute_ps",
            Measure::Picoseconds,
            "computing",
            "What the rank computed there.",
            |run| ColumnValues::U64(regions(run, |row| row.computing)),
        ),
        column(
            "wait_ps",
            Measure::Picoseconds,
            "waiting",
            "What it waited there for messages.",
            |run| ColumnValues::U64(regions(run, |row| row.waiting)),
        ),
        column(
            "mpi_ps",
            Measure::Picoseconds,
            "in MPI otherwise",
            "What its operations took there besides: overheads, copies, operands combined.",
            |run| ColumnValues::U64(regions(run, |row| row.calling)),
        ),
        column(
            "recorded_compute_ps",
            Measure::Picoseconds,
            "computing, recorded",
            "What it computed there when it was recorded; null where the trace tells instructions.",
            |run| ColumnValues::MaybeU64(regions(run, |row| row.recorded?.computing)),
        ),
        column(
            "recorded_mpi_ps",
            Measure::Picoseconds,
            "in MPI, recorded",
            "What the calls took that are played, their waiting included, when it was recorded; null where the trace does not tell that.",
            |run| ColumnValues::MaybeU64(regions(run, |row| row.recorded?.calling)),
        ),
    ],
};

pub(super) const CRITICAL_PATH: ResultTable = ResultTable {
    name: "critical_path",
    line: "A row for each piece of the chain of work and messages that the end of a job of MPI ranks depends on, from its begin to its end; \
           with `observe.operations`.",
    is_there: are_there,
    columns: &[
        column(JOB.0, Measure::Count, "job", JOB.1, |run| {
            ColumnValues::U32(pieces(run, |row| row.job))
        }),
        column(
            "rank",
            Measure::Count,
            "rank",
            "The rank that it is on; of a message the one that waited for it.",
            |run| ColumnValues::U32(pieces(run, |row| row.rank)),
        ),
        column(
            "peer",
            Measure::Count,
            "peer",
            "The rank at the other end of a message; of other pieces the rank itself.",
            |run| ColumnValues::U32(pieces(run, |row| row.peer)),
        ),
        column(
            "part",
            Measure::Text,
            "part",
            "`compute`, `overhead` (messages handled, copied, combined), `message` (under way, with its queues), or `wait` (for what the \
             rank's interface answered).",
            |run| ColumnValues::Words(pieces(run, |row| row.part.word())),
        ),
        column("begin_ps", Measure::Picoseconds, "begin", "When it begins.", |run| {
            ColumnValues::U64(pieces(run, |row| row.begin))
        }),
        column("end_ps", Measure::Picoseconds, "end", "When it ends.", |run| {
            ColumnValues::U64(pieces(run, |row| row.end))
        }),
        column(
            "link_node",
            Measure::Count,
            "node of the link",
            "The link that held a message up longest: the node at an end of it, if there is one. It is the link from that node where there is no router.",
            |run| ColumnValues::MaybeU32(pieces(run, |row| row.held_up?.node)),
        ),
        column(
            "link_router",
            Measure::Count,
            "router of the link",
            "The link that held a message up longest: the router that sends on it; null of the link of a node, and without a link.",
            |run| ColumnValues::MaybeU32(pieces(run, |row| row.held_up?.router)),
        ),
        column(
            "link_port",
            Measure::Count,
            "port of the link",
            "Its output port there, as in the table `links`.",
            |run| ColumnValues::MaybeU32(pieces(run, |row| row.held_up?.port)),
        ),
        column(
            "link_ps",
            Measure::Picoseconds,
            "stay at the link",
            "How long a packet of the message was held up there: in queues, for want of room behind the link, and by its own serialisation.",
            |run| ColumnValues::MaybeU64(pieces(run, |row| Some(row.held_up?.time))),
        ),
    ],
};
