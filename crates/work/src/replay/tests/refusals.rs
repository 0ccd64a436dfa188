//! What cannot be played is refused, with its place; what a study is told of a file.

use super::*;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use trace::formats::work::WorkWriter;

/// Why a trace is refused.
fn reason(trace: &Collected) -> String {
    match record(trace).err() {
        Some(ReadStop::Broken(problem)) => {
            assert!(!problem.hint.is_empty(), "{problem}");
            problem.to_string()
        }
        other => panic!("{other:?}"),
    }
}

fn alone(operation: Operation) -> Collected {
    collected(vec![vec![Operation::compute(1), operation], vec![]])
}

#[test]
fn operations_that_cannot_be_played_are_told_with_their_place() {
    let starts = |operation: Operation, text: &str| {
        let told = reason(&alone(operation));
        assert!(
            told.starts_with(&format!("a.trace, rank 0, record 1: {text}; ")),
            "{told}"
        );
    };
    starts(message(Kind::Send, 2, 8), "there is no rank 2 to talk to");
    starts(message(Kind::Send, ANY_SOURCE, 8), "send to any rank or with any tag");
    starts(message(Kind::Isend, 1, UNKNOWN_SIZE), "isend of unknown size");
    starts(
        message(Kind::Send, 1, 1 << 40),
        "a message of 1099511627776 bytes is too large",
    );
    starts(on(7, Kind::Wait), "request 7 is waited for and not open");
    starts(
        message(Kind::Put, 1, 8),
        "put writes or reads another rank's memory, which ranks do not",
    );
    let elsewhere = |kind| Operation {
        communicator: 1,
        peer: 0,
        ..message(kind, 0, 8)
    };
    starts(elsewhere(Kind::Recv), "there is no communicator 1");
    starts(elsewhere(Kind::Bcast), "there is no communicator 1");
    let root = Operation {
        peer: 2,
        ..Operation::collective(Kind::Bcast, 0, 8)
    };
    starts(root, "the root 2 of bcast is not in a communicator of 2");
}

#[test]
fn collectives_that_ranks_do_not_agree_on_are_told() {
    let barrier = Operation::collective(Kind::Barrier, 0, 0);
    let told = reason(&collected(vec![vec![barrier], vec![barrier, barrier]]));
    assert!(
        told.starts_with("a.trace: 1 of 2 ranks come to collective 1 of communicator 0, barrier; "),
        "{told}"
    );
    let told = reason(&collected(vec![
        vec![barrier],
        vec![Operation::collective(Kind::Allreduce, 0, 8)],
    ]));
    let expected = "a.trace, rank 1, record 0: as collective 0 of communicator 0 it has allreduce, others barrier; ";
    assert!(told.starts_with(expected), "{told}");
    let apart = Operation::collective(Kind::Barrier, 1, 0);
    let mut stranger = collected(vec![vec![apart], vec![apart], vec![apart]]);
    stranger.header.communicators.push(Members::List(vec![0, 2]));
    let told = reason(&stranger);
    assert!(
        told.starts_with("a.trace, rank 1: it comes to collectives of communicator 1, which it is not in; "),
        "{told}"
    );
}

#[test]
fn traces_of_nobody_are_refused_at_once_and_graphs_that_wait_or_go_in_circles_where_they_do() {
    let of_graph = |operation: Operation, after: Vec<u32>| {
        let mut graph = alone(operation);
        graph.header.form = TraceForm::Graph;
        graph.ranks[0][0].after = after;
        graph
    };
    assert!(record(&of_graph(Operation::compute(1), vec![])).is_ok());
    let waits = reason(&of_graph(Operation::new(Kind::Waitall), vec![]));
    assert!(
        waits.starts_with("a.trace, rank 0, record 1: waitall in a graph"),
        "{waits}"
    );
    let circle = reason(&of_graph(Operation::compute(1), vec![0]));
    assert!(
        circle.starts_with("a.trace, rank 0: operation 0: it waits for itself"),
        "{circle}"
    );
    let cut = reason(&of_graph(Operation::compute(1), vec![7]));
    assert!(cut.contains("it waits for operation 7, and the rank has 2"), "{cut}");
    assert!(reason(&collected(vec![])).starts_with("a.trace: it has no ranks"));
}

fn write(trace: &Collected, path: &Path) {
    let mut writer = WorkWriter::create(path).unwrap();
    trace.tell(&mut writer).unwrap();
}

/// Traces that were read last are kept for all: a test that asks for them has them alone.
fn alone_with_kept() -> MutexGuard<'static, ()> {
    static ASKED: Mutex<()> = Mutex::new(());
    ASKED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wish(path: PathBuf, repair: Repairing) -> TraceWish {
    TraceWish {
        path,
        repair,
        ..TraceWish::default()
    }
}

#[test]
fn a_trace_is_known_by_what_it_says() {
    let _alone = alone_with_kept();
    let folder = tempfile::tempdir().unwrap();
    let pair = |bytes| {
        collected(vec![
            vec![message(Kind::Send, 1, bytes)],
            vec![message(Kind::Recv, 0, bytes)],
        ])
    };
    let place = |name: &str| wish(folder.path().join(name), Repairing::None);
    write(&pair(100), &folder.path().join("a.work"));
    let a = open(&place("a.work"), None).unwrap();
    // The same again is not read again; elsewhere it has the same name.
    let again = open(&place("a.work"), None).unwrap();
    assert!(Arc::ptr_eq(&a.recording, &again.recording));
    std::fs::copy(folder.path().join("a.work"), folder.path().join("b.work")).unwrap();
    let b = open(&place("b.work"), None).unwrap();
    assert_eq!(a.sha256, b.sha256);
    // It says something else under its old name: a run that was to play it hears of that, a study reads it anew.
    write(&pair(200), &folder.path().join("a.work"));
    let other = open(&place("a.work"), None).unwrap();
    assert_ne!(other.sha256, a.sha256);
    write(&pair(300), &folder.path().join("a.work"));
    let refused = open(&place("a.work"), Some(&"0".repeat(64))).unwrap_err();
    assert_eq!(
        refused.problems[0].reason,
        "it is not what it was when the study was read"
    );
    // What is known by its content needs no file.
    assert!(open(&place("nowhere"), Some(&a.sha256)).is_ok());
    assert!(open(&place("nowhere"), None).is_err());
}

/// Traces that studies of golden texts name; written anew with `FABRICSIM_BLESS=1`.
#[test]
fn the_traces_of_golden_texts_are_what_their_writer_writes() {
    let _alone = alone_with_kept();
    let rank = |me: u32| {
        let solve = Operation {
            region: 1,
            ..Operation::compute(1_000_000)
        };
        vec![
            solve,
            named(Kind::Irecv, (me + 3) % 4, 4096, 0),
            named(Kind::Isend, (me + 1) % 4, 4096, 1),
            Operation::new(Kind::Waitall),
            Operation::collective(Kind::Allreduce, 0, 8),
        ]
    };
    let times = collected((0..4).map(rank).collect());
    // The same three times, with the begin and end of a region and with times.
    let border = |kind, region, start| Operation {
        region,
        start,
        ..Operation::new(kind)
    };
    let looped = |me: u32| {
        let mut all = Vec::new();
        for round in 0..3 {
            let start = 1 + round * 1_000_000;
            all.push(border(Kind::Enter, 1, start));
            all.extend(rank(me).into_iter().map(|operation| Operation { start, ..operation }));
            all.push(border(Kind::Leave, 1, start));
        }
        all.push(border(Kind::Enter, 2, 4_000_000));
        all.push(border(Kind::Leave, 2, 4_000_000));
        all
    };
    let looped = collected((0..4).map(looped).collect());
    let mut instructions = times.clone();
    instructions.header.unit = WorkUnit::Instructions;
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../vocabulary/tests/golden_texts");
    let hashes = [
        ("trace.work", times),
        ("instructions.work", instructions),
        ("looped.work", looped),
    ]
    .map(|(name, trace)| {
        let path = Path::new(folder).join(name);
        if std::env::var_os("FABRICSIM_BLESS").is_some() {
            write(&trace, &path);
        }
        let mut hash = content::ContentHash::default();
        trace.tell(&mut hash).unwrap();
        let sha256 = hash.finish();
        assert_eq!(open(&wish(path, Repairing::None), None).unwrap().sha256, sha256);
        sha256
    });
    assert_ne!(hashes[0], hashes[1]);
    // The study that asks for it by name.
    let known = "0bd45211ffaa492e04f1dd2a553925488248ec6160ba22701fbf33bb9c4eb919";
    assert_eq!(hashes[0], known);
}

#[test]
fn what_does_not_match_is_an_error_or_left_out() {
    let _alone = alone_with_kept();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("unmatched.work");
    let trace = collected(vec![
        vec![
            message(Kind::Send, 1, 8),
            message(Kind::Send, 1, 9),
            message(Kind::Put, 1, 8),
        ],
        vec![message(Kind::Recv, 0, 8)],
    ]);
    write(&trace, &path);
    let refused = open(&wish(path.clone(), Repairing::None), None).unwrap_err();
    // All of it is told at once, each with its place.
    let places: Vec<_> = refused
        .problems
        .iter()
        .map(|problem| (problem.rank, problem.record))
        .collect();
    assert_eq!((places, refused.more), (vec![(Some(0), Some(1))], 0));
    let opened = open(&wish(path, Repairing::Drop), None).unwrap();
    let left_out = crate::mpi::LeftOut {
        sends: 1,
        others: 1,
        ..Default::default()
    };
    assert_eq!(opened.recording.left_out, left_out);
    let program = TraceProgram::new(opened.recording, PLAIN, 1.0);
    assert_eq!(ops(&program, 0), [Op::Send(transfer(1, 8, UNNAMED))]);
    assert_eq!(ops(&program, 1), [Op::Recv(transfer(0, 8, UNNAMED))]);
}

#[test]
fn what_is_wrong_is_told_up_to_twenty_with_how_much_more_there_is() {
    let _alone = alone_with_kept();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wrong.work");
    // Ranks that wait for requests which nobody has begun, three each.
    let waits = || vec![on(7, Kind::Wait), on(8, Kind::Wait), on(9, Kind::Wait)];
    write(&collected((0..11).map(|_| waits()).collect()), &path);
    let refused = open(&wish(path, Repairing::None), None).unwrap_err();
    let places: Vec<_> = refused
        .problems
        .iter()
        .map(|problem| (problem.rank, problem.record))
        .collect();
    let expected: Vec<_> = (0..20).map(|i| (Some(i / 3), Some(u64::from(i % 3)))).collect();
    assert_eq!((places, refused.more), (expected, 13));
    assert!(
        refused
            .problems
            .iter()
            .all(|problem| !problem.hint.is_empty() && !problem.file.is_empty())
    );
}

#[test]
fn every_field_of_a_trace_changes_its_hash() {
    let hash = |trace: &Collected| {
        let mut hash = content::ContentHash::default();
        trace.tell(&mut hash).unwrap();
        hash.finish()
    };
    let plain = with_lists(vec![vec![(message(Kind::Send, 1, 8), vec![1, 2])], vec![]]);
    type Change = fn(&mut Collected);
    let changes: [Change; 25] = [
        |trace| trace.ranks[0][0].operation.kind = Kind::Isend,
        |trace| trace.ranks[0][0].operation.mode = Mode::Ready,
        |trace| trace.ranks[0][0].operation.lane = 1,
        |trace| trace.ranks[0][0].operation.nic = 1,
        |trace| trace.ranks[0][0].operation.communicator = 1,
        |trace| trace.ranks[0][0].operation.peer = 0,
        |trace| trace.ranks[0][0].operation.tag = 0,
        |trace| trace.ranks[0][0].operation.source = 0,
        |trace| trace.ranks[0][0].operation.source_tag = 1,
        |trace| trace.ranks[0][0].operation.request = 0,
        |trace| trace.ranks[0][0].operation.region = 0,
        |trace| trace.ranks[0][0].operation.bytes = 0,
        |trace| trace.ranks[0][0].operation.received = 1,
        |trace| trace.ranks[0][0].operation.time = 1,
        |trace| trace.ranks[0][0].operation.start = 1,
        |trace| trace.ranks[0][0].values[1] = 3,
        |trace| trace.ranks[0][0].values.push(0),
        |trace| trace.ranks[0][0].after.push(0),
        |trace| trace.ranks[0][0].after_start.push(0),
        |trace| trace.ranks.swap(0, 1),
        |trace| trace.header.communicators.push(Members::all(1)),
        |trace| trace.header.communicators[0] = Members::List(vec![1, 0]),
        |trace| trace.header.unit = WorkUnit::Instructions,
        |trace| trace.names[0] = "mai".to_owned(),
        |trace| trace.names = vec!["mainsolver".to_owned(), String::new(), "output".to_owned()],
    ];
    let mut seen = std::collections::BTreeSet::from([hash(&plain)]);
    for (number, change) in changes.iter().enumerate() {
        let mut changed = plain.clone();
        change(&mut changed);
        assert!(seen.insert(hash(&changed)), "change {number}");
    }
}
