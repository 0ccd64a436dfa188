//! Raw traces of liballprof: what each call becomes, who is in communicators, and what is refused with which words.

use crate::reading::{calls_of, message, of, read_files, received, rooted, same_operations, with_request};
use crate::samples::liballprof::{CALL, FIRST, GAP, everything, files, text};
use trace::operation::{ANY_SOURCE, ANY_TAG, NONE, UNKNOWN_SIZE};
use trace::{Collected, Kind, Members, Mode, Operation};

fn read_with_words(ranks: &[Vec<String>]) -> (Collected, Vec<String>) {
    read_files(&files(ranks), "pmpi-trace-rank-0.txt").expect("it can be read")
}

fn read(ranks: &[Vec<String>]) -> Collected {
    let (trace, words) = read_with_words(ranks);
    assert!(words.is_empty(), "{words:?}");
    trace
}

/// Calls of rank 1 of four; `WORLD` is the communicator of all.
fn program(calls: &[&str]) -> Vec<Vec<String>> {
    let mut ranks = vec![Vec::new(); 4];
    ranks[1] = calls.iter().map(|call| call.replace("WORLD", "0,1,4")).collect();
    ranks
}

#[track_caller]
fn check(calls: &[&str], expected: &[(Operation, &[u64])]) {
    same_operations(&calls_of(&read(&program(calls)), 1), expected);
}

#[test]
fn sends_and_receives_have_sizes_of_their_datatypes_and_their_modes() {
    for (name, mode) in [
        ("MPI_Send", Mode::Standard),
        ("MPI_Bsend", Mode::Buffered),
        ("MPI_Ssend", Mode::Synchronous),
        ("MPI_Rsend", Mode::Ready),
    ] {
        let send = Operation {
            mode,
            ..message(Kind::Send, 3, 36_000, 7)
        };
        check(&[&format!("{name}:11251872:4500:11,8,8:3:7:WORLD")], &[(send, &[])]);
    }
    check(
        &[
            "MPI_Recv:11287888:10:1,4,4:2:24000:WORLD:140737488340112",
            "MPI_Recv:11287888:10:1,4,4:-1:-1:WORLD:140737488340112",
            "MPI_Send:11287888:10:1,4,4:-2:0:WORLD",
            "MPI_Recv:11287888:10:1,4,4:-2:0:WORLD:140737488340112",
            "MPI_Probe:-1:7:WORLD:140737488340112",
            "MPI_Issend:1:10:1,4,4:3:7:WORLD:80",
        ],
        &[
            (message(Kind::Recv, 2, 40, 24_000), &[]),
            (message(Kind::Recv, ANY_SOURCE, 40, ANY_TAG), &[]),
            (message(Kind::Probe, ANY_SOURCE, 0, 7), &[]),
            (
                Operation {
                    mode: Mode::Synchronous,
                    request: 0,
                    ..message(Kind::Isend, 3, 40, 7)
                },
                &[],
            ),
        ],
    );
}

#[test]
fn a_request_is_where_the_program_keeps_it() {
    let isend = |request| with_request(message(Kind::Isend, 3, 1, 0), request);
    let call = |place: u64| format!("MPI_Isend:1:1:1,1,1:3:0:WORLD:{place}");
    let one = |kind, request| with_request(Operation::new(kind), request);
    check(
        &[
            &call(800),
            &call(808),
            &call(816),
            &call(904),
            "MPI_Test:808:140737488340100:0",
            "MPI_Wait:808:0",
            "MPI_Wait:808:0",
            "MPI_Testall:3:800:140737488340100:0",
            "MPI_Waitany:3:800:140737488340100:0",
            &call(808),
            "MPI_Waitall:3:800:0",
            "MPI_Waitall:3:800:0",
            "MPI_Wait:904:0",
        ],
        &[
            (isend(0), &[]),
            (isend(1), &[]),
            (isend(2), &[]),
            (isend(3), &[]),
            (one(Kind::Test, 1), &[]),
            (one(Kind::Wait, 1), &[]),
            (Operation::new(Kind::Test), &[0, 2]),
            (one(Kind::Waitany, NONE), &[0, 2]),
            (isend(1), &[]),
            (Operation::new(Kind::Waitall), &[0, 1, 2]),
            (one(Kind::Wait, 3), &[]),
        ],
    );
}

#[test]
fn requests_have_the_size_that_their_places_tell() {
    let small = [
        "MPI_Isend:1:1:1,1,1:3:0:WORLD:800",
        "MPI_Isend:1:1:1,1,1:3:0:WORLD:804",
        "MPI_Isend:1:1:1,1,1:3:0:WORLD:808",
        "MPI_Waitall:2:800:0",
    ];
    let trace = read(&program(&small));
    assert_eq!(calls_of(&trace, 1)[3], (Operation::new(Kind::Waitall), vec![0, 1]));
    let large = [
        "MPI_Isend:1:1:1,1,1:3:0:WORLD:800",
        "MPI_Isend:1:1:1,1,1:3:0:WORLD:808",
        "MPI_Isend:1:1:1,1,1:3:0:WORLD:816",
        "MPI_Waitall:2:800:0",
    ];
    let trace = read(&program(&large));
    assert_eq!(calls_of(&trace, 1)[3], (Operation::new(Kind::Waitall), vec![0, 1]));
}

#[test]
fn what_is_started_again_and_again_is_a_message_each_time() {
    let send = with_request(message(Kind::Isend, 3, 4, 5), 0);
    let receive = with_request(message(Kind::Irecv, 2, 4, 5), 1);
    check(
        &[
            "MPI_Send_init:1:1:1,4,4:3:5:WORLD:800",
            "MPI_Recv_init:1:1:1,4,4:2:5:WORLD:808",
            "MPI_Startall:2:800",
            "MPI_Waitall:2:800:0",
            "MPI_Waitall:2:800:0",
            "MPI_Start:800",
            "MPI_Wait:800:0",
        ],
        &[
            (send, &[]),
            (receive, &[]),
            (Operation::new(Kind::Waitall), &[0, 1]),
            (with_request(send, 1), &[]),
            (with_request(Operation::new(Kind::Wait), 1), &[]),
        ],
    );
}

#[test]
fn a_sendrecv_has_both_of_its_ends() {
    let both = Operation {
        source: 2,
        source_tag: 9,
        ..received(8, message(Kind::Sendrecv, 3, 4, 7))
    };
    check(
        &[
            "MPI_Sendrecv:140:1:1,4,4:3:7:280:2:1,4,4:2:9:WORLD:140737488340",
            "MPI_Sendrecv:140:1:1,4,4:-2:7:280:2:1,4,4:2:9:WORLD:140737488340",
            "MPI_Sendrecv_replace:140:2:1,4,4:3:7:2:9:WORLD:140737488340",
        ],
        &[
            (both, &[]),
            (message(Kind::Recv, 2, 8, 9), &[]),
            (Operation { bytes: 8, ..both }, &[]),
        ],
    );
}

#[test]
fn collectives_have_the_sizes_that_their_kinds_mean() {
    let cases: Vec<(&str, Operation, Vec<u64>)> = vec![
        ("MPI_Barrier:WORLD", of(Kind::Barrier, 0), vec![]),
        ("MPI_Bcast:140:3:1,4,4:2:WORLD", rooted(Kind::Bcast, 12, 2), vec![]),
        (
            "MPI_Reduce:140:280:3:1,4,4:3:2:WORLD",
            rooted(Kind::Reduce, 12, 2),
            vec![],
        ),
        ("MPI_Allreduce:140:280:3:1,4,4:3:WORLD", of(Kind::Allreduce, 12), vec![]),
        ("MPI_Scan:140:280:3:1,4,4:3:WORLD", of(Kind::Scan, 12), vec![]),
        ("MPI_Exscan:140:280:3:1,4,4:3:WORLD", of(Kind::Exscan, 12), vec![]),
        (
            "MPI_Reduce_scatter_block:140:280:3:1,4,4:3:WORLD",
            of(Kind::ReduceScatterBlock, 12),
            vec![],
        ),
        (
            "MPI_Allgather:1:0:0,0,0:280:3:1,4,4:WORLD",
            of(Kind::Allgather, 12),
            vec![],
        ),
        (
            "MPI_Alltoall:1:0:0,0,0:280:3:1,4,4:WORLD",
            of(Kind::Alltoall, 12),
            vec![],
        ),
        (
            "MPI_Gather:140:3:1,4,4:280:0:0,0,0:2:WORLD",
            rooted(Kind::Gather, 12, 2),
            vec![],
        ),
        (
            "MPI_Gather:1:0:0,0,0:280:3:1,4,4:1:WORLD",
            rooted(Kind::Gather, 12, 1),
            vec![],
        ),
        (
            "MPI_Scatter:140:0:0,0,0:280:3:1,4,4:2:WORLD",
            rooted(Kind::Scatter, 12, 2),
            vec![],
        ),
        (
            "MPI_Scatter:140:3:1,4,4:1:0:0,0,0:1:WORLD",
            rooted(Kind::Scatter, 12, 1),
            vec![],
        ),
        (
            "MPI_Gatherv:140:2:1,4,4:280:1:0,0,0,0:2:0,0,0,0:1,4,4:2:WORLD",
            rooted(Kind::Gatherv, 8, 2),
            vec![],
        ),
        (
            "MPI_Gatherv:1:0:0,0,0:280:1:1,2,3,4:2:0,1,3,6:1,4,4:1:WORLD",
            rooted(Kind::Gatherv, 8, 1),
            vec![4, 8, 12, 16],
        ),
        (
            "MPI_Scatterv:140:1:1,2,3,4:2:0,1,3,6:1,4,4:280:0:0,0,0:1:WORLD",
            received(8, rooted(Kind::Scatterv, 0, 1)),
            vec![4, 8, 12, 16],
        ),
        (
            "MPI_Scatterv:140:1:2:1,4,4:280:2:1,4,4:2:WORLD",
            received(8, rooted(Kind::Scatterv, 0, 2)),
            vec![],
        ),
        (
            "MPI_Allgatherv:1:0:0,0,0:280:1:1,2,3,4:2:0,1,3,6:1,4,4:WORLD",
            of(Kind::Allgatherv, 8),
            vec![4, 8, 12, 16],
        ),
        (
            "MPI_Allgatherv:1:2:1,4,4:280:1:2:1,4,4:WORLD",
            of(Kind::Allgatherv, 8),
            vec![],
        ),
        (
            "MPI_Alltoallv:140:1:1,2,3,4:2:0,1,3,6:1,4,4:280:3:2,2,2,2:4:0,2,4,6:2,8,8:WORLD",
            received(64, of(Kind::Alltoallv, 40)),
            vec![4, 8, 12, 16],
        ),
        (
            "MPI_Reduce_scatter:140:280:1:1,2,3,4:1,4,4:3:WORLD",
            received(8, of(Kind::ReduceScatter, 0)),
            vec![4, 8, 12, 16],
        ),
        ("MPI_Comm_dup:WORLD:140737488340104", of(Kind::CommCreate, 0), vec![]),
    ];
    for (call, operation, list) in cases {
        check(&[call], &[(operation, &list)]);
    }
}

#[test]
fn a_collective_that_does_not_wait_has_a_request() {
    check(
        &[
            "MPI_Iallreduce: 140 : 280 : 3: 1,4,4 : 3 : WORLD : 800",
            "MPI_Ibarrier:WORLD:808",
            "MPI_Ibcast:140:3:1,4,4:2:WORLD:816",
            "MPI_Waitall:3:800:0",
        ],
        &[
            (with_request(of(Kind::Allreduce, 12), 0), &[]),
            (with_request(of(Kind::Barrier, 0), 1), &[]),
            (with_request(rooted(Kind::Bcast, 12, 2), 2), &[]),
            (Operation::new(Kind::Waitall), &[0, 1, 2]),
        ],
    );
}

#[test]
fn a_communicator_is_the_one_that_all_ranks_split_off() {
    // Halves in reverse order, told by numbers that are each rank's own; then a copy, and a split into one.
    let ranks: Vec<Vec<String>> = (0..4u32)
        .map(|me| {
            let (world, own) = (format!("7{me},{me},4"), 1 - me / 2);
            let half = format!("{},{own},2", 500 + me);
            vec![
                format!("MPI_Comm_split:{world}:{}:{}:140737488340104", me % 2, 10 - me),
                format!("MPI_Send:1:1:1,1,1:{}:0:{half}", 1 - own),
                format!("MPI_Bcast:1:1:1,1,1:0:{half}"),
                format!("MPI_Comm_dup:{half}:140737488340104"),
                format!("MPI_Barrier:{},{own},2", 600 + me),
                format!("MPI_Comm_split:{world}:-1:0:140737488340104"),
                format!("MPI_Barrier:9{me},0,1"),
                format!("MPI_Barrier:{world}"),
            ]
        })
        .collect();
    let trace = read(&ranks);
    let halves = [Members::of(vec![2, 0]), Members::of(vec![3, 1])];
    assert_eq!(trace.header.communicators, [&[Members::all(4)], &halves[..]].concat());
    for rank in 0..4usize {
        let half = 1 + rank as u32 % 2;
        let over = |operation: Operation, communicator: u32| Operation {
            communicator,
            ..operation
        };
        let expected = [
            of(Kind::CommCreate, 0),
            over(message(Kind::Send, (rank as u32 + 2) % 4, 1, 0), half),
            over(rooted(Kind::Bcast, 1, 0), half),
            over(of(Kind::CommCreate, 0), half),
            over(of(Kind::Barrier, 0), half),
            of(Kind::CommCreate, 0),
            of(Kind::Barrier, 0),
        ];
        let found: Vec<Operation> = calls_of(&trace, rank).iter().map(|(operation, _)| *operation).collect();
        assert_eq!(found, expected, "rank {rank}");
    }
}

#[test]
fn computing_is_the_time_between_calls() {
    let trace = read(&program(&[
        "MPI_Barrier:WORLD",
        "MPI_Comm_size:WORLD:140737488340100",
        "MPI_Barrier:WORLD",
    ]));
    let found: Vec<(Kind, u64, u64)> = trace.ranks[1]
        .iter()
        .map(|listed| (listed.operation.kind, listed.operation.start, listed.operation.time))
        .collect();
    let ps = |us: u64| us * 1_000_000;
    assert_eq!(
        found,
        [
            (Kind::Compute, 0, ps(GAP)),
            (Kind::Barrier, ps(GAP), ps(CALL)),
            (Kind::Compute, ps(GAP + CALL), ps(2 * GAP)),
            (Kind::Barrier, ps(3 * GAP + 2 * CALL), ps(CALL)),
            (Kind::Compute, ps(3 * GAP + 3 * CALL), ps(GAP)),
        ]
    );
}

#[test]
fn times_keep_parts_of_microseconds_and_clocks_are_set_by_their_difference() {
    let file = |rank: u32, difference: &str, begin: u64| {
        let text = format!(
            "# htor's PMPI Tracer 0.9 Output File\n# Init clockdiff: {difference}\nMPI_Init:-:1:2:{begin}\n\
             MPI_Barrier:{}.250001:0,{rank},2:{}.750002\n",
            begin + 1,
            begin + 2
        );
        (format!("t-{rank}.log"), text.into_bytes())
    };
    let files = [file(0, "0.0", FIRST), file(1, "-5000000.5", FIRST + 5_000_000)];
    let (trace, words) = read_files(&files, "t-0.log").expect("it can be read");
    assert!(words.is_empty(), "{words:?}");
    let starts = |rank: usize| -> Vec<u64> { trace.ranks[rank].iter().map(|listed| listed.operation.start).collect() };
    // The second clock is 5 s ahead but for half a microsecond.
    assert_eq!((starts(0), starts(1)), (vec![500_000, 1_750_001], vec![0, 1_250_001]));
    let barrier = trace.ranks[0][1].operation;
    assert_eq!(
        (barrier.kind, barrier.time, trace.ranks[0][0].operation.time),
        (Kind::Barrier, 1_500_001, 1_250_001)
    );
}

#[test]
fn a_set_is_found_from_each_of_its_files_and_from_its_folder() {
    let whole = read(&everything());
    let operations = |trace: &Collected| -> Vec<Vec<Operation>> {
        trace
            .ranks
            .iter()
            .map(|rank| rank.iter().map(|listed| listed.operation).collect())
            .collect()
    };
    for open in ["pmpi-trace-rank-3.txt", ""] {
        let (trace, words) = read_files(&files(&everything()), open).expect("it can be read");
        assert!(words.is_empty(), "{words:?}");
        assert_eq!(operations(&trace), operations(&whole), "{open}");
    }
    // Numbers may be filled up with zeros, and there may be more in a folder.
    let mut others = files(&everything());
    for (name, _) in &mut others {
        *name = name.replace("rank-", "rank-000");
    }
    others.push(("notes".to_owned(), b"hello".to_vec()));
    let (trace, words) = read_files(&others, "").expect("it can be read");
    assert_eq!(words, ["notes: it is no trace of a rank; it is left out"]);
    assert_eq!(operations(&trace), operations(&whole));
}

#[test]
fn a_set_that_is_not_whole_is_refused() {
    let hint = "files are to be named by their ranks: pmpi-trace-rank-0.txt, pmpi-trace-rank-1.txt and so on";
    let mut set = files(&everything());
    set.remove(2);
    assert_eq!(
        read_files(&set, "pmpi-trace-rank-0.txt").expect_err("one is missing"),
        format!("pmpi-trace-rank-0.txt: there is a file of rank 3, and none of rank 2; {hint}")
    );
    let two = [
        ("a-0.txt".to_owned(), text(0, &[]).into_bytes()),
        ("b-0.txt".to_owned(), text(0, &[]).into_bytes()),
    ];
    let words = read_files(&two, "").expect_err("there are two");
    assert!(
        words.ends_with("there are 2 traces in it: a-0.txt, b-0.txt; give a file of one of them"),
        "{words}"
    );
    let one = files(&program(&["MPI_Ibarrier:0,0,9:800"]))[1].clone();
    let one = [("pmpi-trace-rank-0.txt".to_owned(), one.1)];
    let (_, words) = read_files(&one, "pmpi-trace-rank-0.txt").expect("it can be read");
    assert_eq!(
        words,
        [
            "pmpi-trace-rank-0.txt: there is a communicator of 9 ranks, and there are 1 files; \
             files of all ranks are to be in one folder",
            "pmpi-trace-rank-0.txt, rank 0, record 6: who is in the communicator 0 of 9 ranks is not told; \
             what goes over it is left out",
        ]
    );
}

#[test]
fn what_is_wrong_with_a_call_is_told_with_its_place() {
    let cases = [
        (
            "MPI_Send:1:1:1,4,4:9:0:WORLD",
            "there is no rank 9 in the communicator; the call is left out",
        ),
        ("MPI_Send:1:1:1,4,4:3:-5:WORLD", "-5 is no tag; the call is left out"),
        ("MPI_Send:1:-1:1,4,4:3:0:WORLD", "-1 is no count; the call is left out"),
        (
            "MPI_Send:1:1:1,4:3:0:WORLD",
            "argument 3 of MPI_Send, `1,4`, is no datatype; the call is left out",
        ),
        (
            "MPI_Send:1:1:1,4,4:3:0:7,4,4",
            "argument 6 of MPI_Send, `7,4,4`, is no communicator; the call is left out",
        ),
        (
            "MPI_Send:1:x:1,4,4:3:0:WORLD",
            "argument 2 of MPI_Send, `x`, is no integer; the call is left out",
        ),
        (
            "MPI_Send:1:1:1,4,4:3:0",
            "MPI_Send has 5 arguments, and not 6; a line is to be as `MPI_Barrier:START:...:END`: it is left out",
        ),
        (
            "MPI_Bcast:140:3:1,4,4:4:WORLD",
            "there is no root of that number in a communicator of 4 ranks; the call is left out",
        ),
        ("MPI_Bcast:140:3:1,4,4:-1:WORLD", "-1 is no root; the call is left out"),
        (
            "MPI_Reduce_scatter:140:280:1:1,2,3:1,4,4:3:WORLD",
            "3 sizes are told in a communicator of 4 ranks; the call is left out",
        ),
        (
            "MPI_Alltoallv:140:1:2:1,4,4:280:3:4:1,4,4:WORLD",
            "sizes of MPI_Alltoallv are not told; record with a liballprof that writes lists of counts",
        ),
        (
            "MPI_Barrier:33,1,2",
            "who is in the communicator 33 of 2 ranks is not told; what goes over it is left out",
        ),
        (
            "MPI_Put:1:1:1,4,4:2:0:1:1,4,4:5",
            "MPI_Put is not known here; it is left out",
        ),
        (
            "hello",
            "`hello` is no call of MPI; a line is to be as `MPI_Barrier:START:...:END`: it is left out",
        ),
    ];
    for (call, expected) in cases {
        let (trace, words) = read_with_words(&program(&[call]));
        assert_eq!(words, [format!("pmpi-trace-rank-1.txt, rank 1, record 6: {expected}")]);
        assert!(
            trace.ranks[1]
                .iter()
                .all(|listed| matches!(listed.operation.kind, Kind::Compute | Kind::Alltoallv))
        );
    }
    let (trace, _) = read_with_words(&program(&["MPI_Alltoallv:140:1:2:1,4,4:280:3:4:1,4,4:WORLD"]));
    assert_eq!(calls_of(&trace, 1)[0].0.bytes, UNKNOWN_SIZE);
    let mut ranks = program(&["MPI_Comm_split:WORLD:0:0:140737488340104", "MPI_Barrier:33,1,2"]);
    ranks[0] = vec!["MPI_Comm_split:0,0,4:0:0:140737488340104".to_owned()];
    let (_, words) = read_with_words(&ranks);
    assert_eq!(
        words,
        [
            "pmpi-trace-rank-0.txt, rank 0, record 6: MPI_Comm_split of 4 ranks is called by 2; what goes over what it makes is left out",
            "pmpi-trace-rank-1.txt, rank 1, record 7: who is in the communicator 33 of 2 ranks is not told; \
             what goes over it is left out",
        ]
    );
    let back = "MPI_Init:-:1:2:100\nMPI_Barrier:150:0,0,1:160\nMPI_Barrier:155:0,0,1:170\n";
    let (_, words) = read_files(&[("t-0.txt".to_owned(), back.into())], "t-0.txt").expect("it can be read");
    assert_eq!(
        words,
        [
            "t-0.txt, rank 0, record 3: the time of a call is before that of the one before it; \
          computations that would be less than nothing are left out"
        ]
    );
}

#[test]
fn a_rank_alone_and_one_that_calls_nothing_are_traces() {
    let trace = read(&[vec![
        "MPI_Barrier:0,0,1".to_owned(),
        "MPI_Send:1:1:1,4,4:0:3:0,0,1".to_owned(),
    ]]);
    let found = calls_of(&trace, 0);
    assert_eq!(
        found,
        [(of(Kind::Barrier, 0), vec![]), (message(Kind::Send, 0, 4, 3), vec![])]
    );
    let trace = read(&[Vec::new(), Vec::new()]);
    assert!(
        trace
            .ranks
            .iter()
            .all(|rank| rank.iter().all(|listed| listed.operation.kind == Kind::Compute))
    );
}

/// `cargo test --release -p fabricsim-trace --test all liballprof:: -- --ignored --nocapture` says how fast calls are read.
#[test]
#[ignore = "it is a measurement"]
fn a_million_calls_are_read_in_less_than_three_seconds() {
    let mut calls = Vec::new();
    for _ in 0..250_000 {
        calls.push("MPI_Irecv:14744192:36864:13,1,1:0:76:0,0,1:14118576".to_owned());
        calls.push("MPI_Isend:14781072:36864:13,1,1:0:76:0,0,1:14118584".to_owned());
        calls.push("MPI_Waitall:2:14118576:5839040".to_owned());
        calls.push("MPI_Allreduce:140733419868204:140733419868192:1:2,4,4:3:0,0,1".to_owned());
    }
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("t-0.txt");
    std::fs::write(&path, text(0, &calls)).expect("the file can be written");
    let mut summary = trace::TraceSummary::default();
    let mut watch = |_: trace::ReadProgress| true;
    let mut reader = trace::TraceReader::new(&mut summary, &mut watch);
    let begun = std::time::Instant::now();
    trace::read(&path, None, &mut reader).expect("it can be read");
    let took = begun.elapsed();
    println!("{} calls in {took:?}", reader.progress.records);
    assert!(took.as_secs_f64() < 3.0, "{took:?}");
}
