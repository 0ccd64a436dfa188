//! Raw traces of liballprof.

use super::Sample;

/// When the first call ends (us), as clocks have it.
pub const FIRST: u64 = 1_225_632_902_659_657;
/// How long a call takes, and how long it is until the next (us).
pub const CALL: u64 = 10;
pub const GAP: u64 = 7;

/// A call as in [`text`] with how long it is since the one before, and how long it takes (ns).
pub type TimedCall = (u64, u64, String);

/// The text of a rank: `calls` are names and arguments, as `MPI_Wait:7104000:0`.
pub fn text(rank: u32, calls: &[String]) -> String {
    let timed = |call: &String| (1000 * GAP, 1000 * CALL, call.clone());
    timed_text(rank, &calls.iter().map(timed).collect::<Vec<_>>(), 1000 * GAP)
}

/// The text of a rank whose calls have times of their own; `last` is how long it is from the last one to the end (ns).
pub fn timed_text(rank: u32, calls: &[TimedCall], last: u64) -> String {
    let mut text = format!(
        "# htor's PMPI Tracer 0.9 Output File\n# hostname: node{rank}\n# clockdiff: 0.000000 s (relative to rank 0)\n\n"
    );
    text += &format!("MPI_Init:-:140737488340112:140737488340100:{FIRST}\n");
    let us = |ns: u64| format!("{}.{:03}000", ns / 1000, ns % 1000);
    let mut now = 1000 * FIRST;
    for (gap, took, call) in calls {
        now += gap;
        let (name, arguments) = call.split_once(':').unwrap_or((call, ""));
        let arguments = if arguments.is_empty() {
            String::new()
        } else {
            format!("{arguments}:")
        };
        text += &format!("{name}:{}:{arguments}{}\n", us(now), us(now + took));
        now += took;
    }
    text + &format!("# Finalize clockdiff: 0.000000\nMPI_Finalize:{}:-\n", us(now + last))
}

/// The files of all ranks.
pub fn files(ranks: &[Vec<String>]) -> Vec<(String, Vec<u8>)> {
    named((0..).zip(ranks).map(|(rank, calls)| text(rank, calls)).collect())
}

/// Texts of ranks as files.
pub fn named(ranks: Vec<String>) -> Vec<(String, Vec<u8>)> {
    let of_rank = |(rank, text): (usize, String)| (format!("pmpi-trace-rank-{rank}.txt"), text.into_bytes());
    ranks.into_iter().enumerate().map(of_rank).collect()
}

/// Four ranks that do a bit of all.
pub fn everything() -> Vec<Vec<String>> {
    let rank = |me: u32| {
        let (next, last) = ((me + 1) % 4, (me + 3) % 4);
        let world = format!("0,{me},4");
        let half = format!("99{me},{},2", me / 2);
        [
            format!("MPI_Comm_rank:{world}:140737488340100"),
            format!("MPI_Irecv:140:10:11,8,8:{last}:7:{world}:6166720"),
            format!("MPI_Isend:280:10:11,8,8:{next}:7:{world}:6166728"),
            "MPI_Waitall:2:6166720:5839040".to_owned(),
            format!("MPI_Sendrecv:140:1:1,4,4:{next}:0:280:1:1,4,4:{last}:0:{world}:140737488340"),
            format!("MPI_Comm_split:{world}:{}:{me}:140737488340104", me % 2),
            format!("MPI_Allreduce:140:280:2:11,8,8:3:{half}"),
            format!("MPI_Bcast:140:3:21,1,1:0:{half}"),
            format!("MPI_Barrier:{world}"),
            format!(
                "MPI_Alltoallv:140:1:1,2,3,4:2:0,1,3,6:1,4,4:280:3:{0},{0},{0},{0}:4:0,1,2,3:1,4,4:{world}",
                me + 1
            ),
            format!("MPI_Gatherv:140:{me}:1,4,4:280:1:0,1,2,3:2:0,0,1,3:1,4,4:2:{world}"),
            format!("MPI_Iallreduce:140:280:2:11,8,8:3:{world}:6166736"),
            "MPI_Wait:6166736:0".to_owned(),
        ]
        .to_vec()
    };
    (0..4).map(rank).collect()
}

/// Samples.
pub fn all() -> Vec<Sample> {
    vec![Sample {
        format: "liballprof",
        name: "all kinds of calls",
        files: files(&everything()),
        open: "pmpi-trace-rank-0.txt",
    }]
}
