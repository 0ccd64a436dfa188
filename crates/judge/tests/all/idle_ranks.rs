//! What ranks that play graphs wait for, and the links that hold messages up: hand-built cases whose times and places are known.

use judge::operations::{PathPart, RankTimes, WaitTimes};
use judge::run::{RunResult, run};
use std::path::Path;
use trace::collected::CollectedOperation;
use trace::formats::work::WorkWriter;
use trace::{Collected, Kind, Operation, TraceForm, TraceHeader};
use vocabulary::{LoadOptions, load_study, render};

const US: u64 = 1_000_000;

fn go(text: &str) -> RunResult {
    let study = load_study(text.as_bytes(), "s.toml", Path::new("."), &LoadOptions::default());
    let study = study.unwrap_or_else(|findings| panic!("{}", render(&findings)));
    run(&study.runs[0], &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

/// Plays a graph in GOAL's text on a network.
fn play(goal: &str, rest: &str) -> RunResult {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.goal");
    std::fs::write(&path, goal).unwrap();
    go(&format!(
        "{rest}\n[[job]]\n[job.work]\nkind = \"trace\"\nfile = \"{}\"\n[observe]\noperations = true\n",
        path.display()
    ))
}

fn times(result: &RunResult) -> &RankTimes {
    result.rank_times.as_ref().expect("operations were asked for")
}

fn waits(result: &RunResult, rank: u32) -> Vec<WaitTimes> {
    times(result)
        .waits
        .iter()
        .filter(|wait| wait.rank == rank)
        .copied()
        .collect()
}

const PAIR: &str = "topology = { kind = \"single-router\", nodes = 3 }";

#[test]
fn a_rank_of_a_graph_waits_for_whom_it_has_its_last_message_from() {
    // Rank 2 has two messages, and computes when both are there: the later one is from rank 1.
    let goal = "num_ranks 3\nrank 0 {\na: calc 10000\nb: send 8b to 2\nb requires a\n}\nrank 1 {\na: calc 40000\nb: send 8b to 2\nb requires a\n}\n\
                rank 2 {\na: recv 8b from 0\nb: recv 8b from 1\nc: calc 5000\nc requires a\nc requires b\n}\n";
    let result = play(goal, PAIR);
    let own = waits(&result, 2);
    let [first, second] = own[..] else { panic!("{own:?}") };
    assert_eq!((first.peer, first.begin, first.word()), (0, 0, "late sender"));
    assert_eq!((second.peer, second.word()), (1, "late sender"));
    // The senders compute, and then handle their sends: 200 ns and a copy of 8 bytes.
    assert!(first.late() > 10 * US && first.late() < 11 * US, "{first:?}");
    assert!(
        second.begin + second.late() > 40 * US && second.begin + second.late() < 41 * US,
        "{second:?}"
    );
    let path = &times(&result).paths;
    let computing = path.iter().filter(|piece| piece.part == PathPart::Compute);
    let computing: Vec<_> = computing.map(|piece| (piece.rank, piece.end - piece.begin)).collect();
    assert_eq!(computing, [(1, 40 * US), (2, 5 * US)]);
    assert_whole(&result);
}

#[test]
fn a_rank_that_is_never_idle_waits_for_nothing() {
    let goal = "num_ranks 2\nrank 0 {\na: send 8b to 1\n}\nrank 1 {\na: recv 8b from 0\nb: calc 90000\n}\n";
    let result = play(goal, PAIR);
    assert!(waits(&result, 1).is_empty(), "{:?}", waits(&result, 1));
    assert_whole(&result);
}

/// Every rank's time is computing, waiting and the rest, and the path is as long as the run.
fn assert_whole(result: &RunResult) {
    let times = times(result);
    for rank in &result.ranks {
        let own = waits(result, rank.rank);
        assert!(own.windows(2).all(|pair| pair[0].end <= pair[1].begin));
        let waited: u64 = own.iter().map(|wait| wait.end - wait.begin).sum();
        assert_eq!(waited, rank.waited, "rank {}", rank.rank);
        assert_eq!(
            rank.computed + waited + rank.worked,
            rank.finished - rank.begun,
            "rank {}",
            rank.rank
        );
    }
    let end = result.ranks.iter().map(|rank| rank.finished).max();
    assert_eq!(times.paths.first().map(|piece| piece.begin), Some(0));
    assert_eq!(times.paths.last().map(|piece| piece.end), end);
    assert!(times.paths.windows(2).all(|pair| pair[0].end == pair[1].begin));
}

#[test]
fn graphs_of_one_lane_have_all_of_their_time_told_with_every_protocol() {
    // Messages of all sizes around a ring, and a rank that computes longer.
    let mut goal = String::from("num_ranks 4\n");
    for rank in 0..4u32 {
        let (next, before) = ((rank + 1) % 4, (rank + 3) % 4);
        goal += &format!("rank {rank} {{\n");
        for step in 0..4u32 {
            let bytes = [8, 3_000, 20_000, 100_000][step as usize];
            goal += &format!(
                "c{step}: calc {}\ns{step}: send {bytes}b to {next} tag {step}\nr{step}: recv {bytes}b from {before} tag {step}\n",
                1_000 * (1 + rank * step)
            );
            goal += &format!("s{step} requires c{step}\nr{step} requires c{step}\n");
            if step > 0 {
                goal += &format!("c{step} requires r{}\nc{step} requires s{}\n", step - 1, step - 1);
            }
        }
        goal += "}\n";
    }
    for mpi in [
        "eager = \"1 MiB\"",
        "eager = \"4 KiB\"\nrendezvous = \"put\"",
        "eager = \"0 B\"\nrendezvous = \"get\"",
    ] {
        let network = "topology = { kind = \"torus\", shape = [2, 2] }";
        let result = play(&goal, &format!("{network}\n[mpi]\n{mpi}"));
        assert_whole(&result);
        assert!(result.ranks.iter().any(|rank| rank.waited > 0), "{mpi}");
    }
}

/// Plays a graph whose ranks compute, meet in allreduces and compute again, on so many lanes.
fn meetings(lanes: u8) -> RunResult {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.work");
    let of = |record: u64, operation: Operation, after: &[u32]| CollectedOperation {
        record,
        operation,
        after: after.to_vec(),
        ..CollectedOperation::default()
    };
    let rank = |rank: u64| {
        let meeting = Operation::collective(Kind::Allreduce, 0, 40_000);
        vec![
            of(0, Operation::compute(rank * 3 * US), &[]),
            of(1, meeting, &[0]),
            of(
                2,
                Operation {
                    lane: lanes - 1,
                    ..Operation::compute(2 * US)
                },
                &[0],
            ),
            of(3, Operation::compute(US), &[1, 2]),
            of(4, meeting, &[3]),
        ]
    };
    let trace = Collected {
        header: TraceHeader::new("test", 4, TraceForm::Graph),
        ranks: (0..4).map(rank).collect(),
        names: Vec::new(),
    };
    let mut writer = WorkWriter::create(&path).unwrap();
    trace.tell(&mut writer).unwrap();
    go(&format!(
        "topology = {{ kind = \"torus\", shape = [2, 2] }}\n[[job]]\n[job.work]\nkind = \"trace\"\nfile = \"{}\"\n[observe]\noperations = true\n",
        path.display()
    ))
}

#[test]
fn collectives_of_graphs_wait_within_and_all_of_their_time_is_told() {
    let result = meetings(1);
    assert_whole(&result);
    // Rank 0 is at the first meeting at once, and the last of the others computes 9 us before it comes.
    let first = waits(&result, 0)[0];
    assert!(first.late() > 2 * US, "{first:?}");
    assert!(waits(&result, 0).iter().map(|wait| wait.end - wait.begin).sum::<u64>() > 9 * US);
}

#[test]
fn a_rank_that_computes_on_another_lane_while_it_waits_in_a_collective_is_not_idle() {
    let result = meetings(2);
    let rank = result.ranks[0];
    let own = waits(&result, 0);
    // It computes 2 us from the begin on, beside its first meeting.
    assert!(own[0].begin >= 2 * US, "{own:?}");
    assert!(own.windows(2).all(|pair| pair[0].end <= pair[1].begin));
    let waited: u64 = own.iter().map(|wait| wait.end - wait.begin).sum();
    let idle = rank.finished - rank.begun - waited;
    // What is no wait is covered by operations, which overlap here.
    assert!(
        idle <= rank.computed + rank.worked && idle >= rank.computed,
        "{idle} {rank:?}"
    );
    let path = &times(&result).paths;
    let end = result.ranks.iter().map(|rank| rank.finished).max();
    assert_eq!(path.first().map(|piece| piece.begin), Some(0));
    assert_eq!(path.last().map(|piece| piece.end), end);
    assert!(path.windows(2).all(|pair| pair[0].end == pair[1].begin));
}

/// Plays a table of operations on a ring of 8 routers whose links and host links have 8 Gbit/s: a byte takes 1 ns.
fn ring(model: &str, operations: &str, more: &str) -> RunResult {
    let table = format!("rank,op,peer,bytes,time_ps\n{operations}");
    go(&format!(
        "topology = {{ kind = \"torus\", shape = [8] }}\n[router]\nmodel = \"{model}\"\n[link]\nbandwidth = \"8 Gbit/s\"\n[nic]\npacket = \"1 KiB\"\n{more}\n[[job]]\n\
         [job.work]\nkind = \"ops\"\nranks = 4\ntable = \"\"\"\n{table}\"\"\"\n[mpi]\neager = \"1 MiB\"\n[observe]\noperations = true\nlinks = true\n"
    ))
}

/// The router that the link of a wait's message leads to.
fn end_of_link(result: &RunResult, wait: &WaitTimes) -> (Option<u32>, u64) {
    let held = wait.held_up.expect("the message goes over the network");
    let is_it = |port, router| {
        result
            .links
            .iter()
            .find(move |link| (link.router, link.port) == (router, port))
    };
    let link = held
        .port
        .zip(held.router)
        .and_then(|(port, router)| is_it(port, router));
    (link.map(|link| link.peer_router), held.time)
}

#[test]
fn a_message_by_itself_is_held_up_by_its_own_serialisation_only() {
    for model in ["credit", "sculpin"] {
        let result = ring(model, "0,send,2,1000,\n2,recv,0,1000,\n", "");
        let [wait] = times(&result).waits[..] else {
            panic!("one message")
        };
        // All links are alike: the first is told, the link of the node.
        let held = wait.held_up.expect("it goes over the network");
        assert!(held.time >= 1_000_000 && held.time < 1_100_000, "{model}: {held:?}");
    }
}

#[test]
fn the_link_that_two_messages_share_is_the_one_that_holds_the_later_one_up() {
    // Over the ring 0 - 1 - 2 - 3: the messages from 0 and 1 to 3 meet on the link from router 1 to router 2.
    for model in ["credit", "sculpin"] {
        let together = ring(
            model,
            "0,send,3,1000,\n1,compute,,,400000\n1,send,3,1000,\n3,recv,0,1000,\n3,recv,1,1000,\n",
            "",
        );
        let held = times(&together).waits.iter().filter(|wait| wait.held_up.is_some());
        let longest = held
            .max_by_key(|wait| wait.held_up.map(|held| held.time))
            .expect("somebody waits");
        let (end, time) = end_of_link(&together, longest);
        assert_eq!(
            (longest.held_up.and_then(|held| held.router), end),
            (Some(1), Some(2)),
            "{model}"
        );
        assert!(time > 1_100_000, "{model}: it waits for the other: {time}");
        assert_eq!(longest.rank, 3);
    }
}

#[test]
fn recording_where_messages_are_held_up_changes_no_event() {
    for model in ["credit", "sculpin", "credit\"\narchitecture = \"late-admission"] {
        let text = |flag: bool| {
            format!(
                "topology = {{ kind = \"hyperx\", shape = [4, 4], nodes_per_router = 2 }}\n[router]\nmodel = \"{model}\"\n[[job]]\n[job.work]\n\
                 kind = \"collective\"\ncollective = \"alltoall\"\nmessage = \"20 KiB\"\n[observe]\noperations = {flag}\n"
            )
        };
        let [with, without] = [true, false].map(|flag| go(&text(flag)));
        assert_eq!(with.summary.digest, without.summary.digest, "{model}");
        let held = times(&with).waits.iter().filter(|wait| wait.held_up.is_some()).count();
        assert!(held > 0, "{model}");
    }
}
