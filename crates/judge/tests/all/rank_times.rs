//! What ranks did with their time: every picosecond of it is told once, and the critical path leads from the begin of a job to its end.

use judge::operations::{PathPart, RankTimes};
use judge::run::{RunResult, run};
use std::path::Path;
use vocabulary::{LoadOptions, load_study, render};

/// Runs the one run of a study that records operations.
fn go(text: &str) -> RunResult {
    let text = format!("{text}\n[observe]\noperations = true\n");
    let study = load_study(text.as_bytes(), "s.toml", Path::new("."), &LoadOptions::default());
    let study = study.unwrap_or_else(|findings| panic!("{}", render(&findings)));
    run(&study.runs[0], &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

fn times(result: &RunResult) -> &RankTimes {
    result.rank_times.as_ref().expect("operations were asked for")
}

/// Programs of ranks that between them wait for all that there is: (name, study).
fn studies() -> Vec<(String, String)> {
    let motifs = [
        "kind = \"halo3d-26\"\ngrid = [32, 32, 32]\nvars = 4\ncompute = \"2 us\"",
        "kind = \"sweep3d\"\ngrid = [40, 40, 40]\ncompute = \"100 ns\"",
        "kind = \"random-neighbours\"\ndegree = [2, 5]\nmessage = \"9 KiB\"\nreceives = \"any-source\"",
        "kind = \"collective\"\ncollective = \"allreduce\"\nmessage = \"40 KiB\"",
        "kind = \"collective\"\ncollective = \"alltoall\"\nmessage = \"30 KiB\"\ncompute = \"1 us\"",
        "kind = \"ring\"\nmessage = \"20 KiB\"",
    ];
    let protocols = [
        "eager = \"1 MiB\"",
        "eager = \"0 B\"\nrendezvous = \"put\"",
        "eager = \"4 KiB\"\nrendezvous = \"get\"",
    ];
    let mut studies = Vec::new();
    for (i, motif) in motifs.iter().enumerate() {
        for (k, protocol) in protocols.iter().enumerate() {
            let per_node = 1 + (i + k) % 2;
            let text = format!(
                "topology = {{ kind = \"torus\", shape = [4, 4], nodes_per_router = 1 }}\n[router]\nmodel = \"credit\"\n\
                 [[job]]\nranks_per_node = {per_node}\n[job.work]\n{motif}\niterations = 3\n[mpi]\n{protocol}\n"
            );
            studies.push((format!("{motif}, {protocol}, {per_node} a node"), text));
        }
    }
    studies
}

#[test]
fn every_picosecond_of_a_rank_is_of_one_operation_and_waits_and_computing_are_those_of_the_rank() {
    let mut waiting = 0;
    for (what, study) in studies() {
        let result = go(&study);
        let times = times(&result);
        for rank in &result.ranks {
            let own: Vec<_> = times.operations.iter().filter(|row| row.rank == rank.rank).collect();
            assert_eq!(own.first().map(|row| row.begin), Some(rank.begun), "{what}");
            assert_eq!(own.last().map(|row| row.end), Some(rank.finished), "{what}");
            assert!(own.windows(2).all(|pair| pair[0].end == pair[1].begin), "{what}");
            let computing = own.iter().filter(|row| row.word == "compute");
            let computed: u64 = computing.map(|row| row.end - row.begin).sum();
            assert_eq!(computed, rank.computed, "{what}");
            let waits: Vec<_> = times.waits.iter().filter(|wait| wait.rank == rank.rank).collect();
            assert_eq!(
                waits.iter().map(|wait| wait.end - wait.begin).sum::<u64>(),
                rank.waited,
                "{what}"
            );
            assert!(waits.windows(2).all(|pair| pair[0].end <= pair[1].begin), "{what}");
            assert!(waits.iter().all(|wait| wait.late() <= wait.end - wait.begin), "{what}");
        }
        waiting += usize::from(!times.waits.is_empty());
    }
    // Eager messages of an all-to-all are there before anybody looks.
    assert!(waiting >= 17, "{waiting} cases wait");
}

#[test]
fn the_critical_path_leads_from_the_begin_of_a_job_to_its_end_without_a_gap() {
    for (what, study) in studies() {
        let result = go(&study);
        let path = &times(&result).paths;
        let end = result.ranks.iter().map(|rank| rank.finished).max();
        assert_eq!(path.first().map(|piece| piece.begin), Some(0), "{what}");
        assert_eq!(path.last().map(|piece| piece.end), end, "{what}");
        assert!(path.windows(2).all(|pair| pair[0].end == pair[1].begin), "{what}");
        for pair in path.windows(2) {
            // A piece of a rank comes after one of the same rank, or after a message of it.
            let [before, after] = pair else { unreachable!() };
            let at = match before.part {
                PathPart::Message => before.rank,
                _ => before.peer.min(before.rank).max(before.rank),
            };
            let from = match after.part {
                PathPart::Message => [after.peer, after.rank],
                _ => [after.rank; 2],
            };
            assert!(from.contains(&at), "{what}: {before:?} {after:?}");
        }
    }
}

#[test]
fn a_late_sender_and_a_late_receiver_are_told_and_the_path_goes_over_the_one_who_was_late() {
    let late = |eager: &str, rows: &str| {
        go(&format!(
            "topology = {{ kind = \"single-router\", nodes = 2 }}\n[[job]]\n[job.work]\nkind = \"ops\"\nranks = 2\n\
             table = \"\"\"\nrank,op,peer,bytes,time_ps\n{rows}\"\"\"\n[mpi]\neager = {eager}\n"
        ))
    };
    let sender = "0,compute,,,50000000\n0,send,1,1000,\n1,recv,0,1000,\n";
    let receiver = "0,send,1,1000,\n1,compute,,,50000000\n1,recv,0,1000,\n";
    for eager in ["\"8 KiB\"", "\"0 B\""] {
        let result = go_late(late(eager, sender));
        let (wait, path) = &result;
        assert_eq!((wait.0, wait.1, wait.2), (1, 0, "late sender"), "{eager}");
        // From the begin of the receive to the send: the computation and the overhead of the send, and its copy if it is eager.
        let copy = if eager == "\"0 B\"" { 0 } else { 50_000 };
        assert_eq!(wait.3, 50_000_000 + 200_000 + copy, "{eager}");
        assert_eq!(path[0], (0, 0, PathPart::Compute, 50_000_000), "{eager}");
        assert!(
            path.iter()
                .any(|piece| piece.2 == PathPart::Message && (piece.0, piece.1) == (1, 0)),
            "{eager}"
        );
    }
    // Nobody waits for an eager message to a late receiver; a rendezvous waits at its sender.
    let result = go_late(late("\"0 B\"", receiver));
    let (wait, path) = &result;
    assert_eq!((wait.0, wait.1, wait.2), (0, 1, "late receiver"));
    assert_eq!(path[0], (1, 1, PathPart::Compute, 50_000_000));
    let eager = late("\"8 KiB\"", receiver);
    assert!(times(&eager).waits.is_empty());
}

/// The wait in which the peer was the latest (rank, peer, reason, time for the peer), and the path (rank, peer, part, time).
type Told = ((u32, u32, &'static str, u64), Vec<(u32, u32, PathPart, u64)>);

fn go_late(result: RunResult) -> Told {
    let times = times(&result);
    let wait = times
        .waits
        .iter()
        .max_by_key(|wait| wait.late())
        .expect("somebody waits");
    let path = times
        .paths
        .iter()
        .map(|piece| (piece.rank, piece.peer, piece.part, piece.end - piece.begin));
    ((wait.rank, wait.peer, wait.word(), wait.late()), path.collect())
}

#[test]
fn without_a_network_the_path_computes_as_long_as_the_longest_chain_of_computations() {
    // A pipeline of 6 ranks, each of which computes k us for its k-th block after it has the one before: the longest chain by hand.
    let (ranks, blocks) = (6u64, 5u64);
    let mut table = String::from("rank,op,peer,bytes,time_ps\n");
    let time = |rank: u64, block: u64| 1_000_000 * (1 + (rank * 7 + block * 3) % 5);
    let mut done = vec![0u64; ranks as usize];
    for block in 0..blocks {
        for rank in 0..ranks {
            if rank > 0 {
                table += &format!("{rank},recv,{},8,\n", rank - 1);
            }
            table += &format!("{rank},compute,,,{}\n", time(rank, block));
            if rank + 1 < ranks {
                table += &format!("{rank},send,{},8,\n", rank + 1);
            }
            let before = if rank > 0 { done[rank as usize - 1] } else { 0 };
            done[rank as usize] = done[rank as usize].max(before) + time(rank, block);
        }
    }
    let result = go(&format!(
        "topology = {{ kind = \"single-router\", nodes = 6 }}\n[link]\nlatency = \"1 ps\"\nbandwidth = \"100 Tbit/s\"\n\
         [nic]\noverhead = \"0 ns\"\n[router]\ntraversal = \"0 ns\"\n[[job]]\n[job.work]\nkind = \"ops\"\nranks = 6\ntable = \"\"\"\n{table}\"\"\"\n\
         [mpi]\nsend_overhead = \"0 ns\"\nreceive_overhead = \"0 ns\"\ncopy = \"100 Tbit/s\"\n"
    ));
    let path = &times(&result).paths;
    let computing: u64 = (path.iter().filter(|piece| piece.part == PathPart::Compute))
        .map(|piece| piece.end - piece.begin)
        .sum();
    assert_eq!(computing, *done.last().expect("there are ranks"));
}
