//! Time-independent traces of SimGrid: what each action becomes, how files are found, and what is refused with which words.

use crate::reading::{message, of, read_files, received, rooted, same_operations, with_request};
use crate::samples::simgrid::{apart, everything, together};
use trace::operation::{ANY_SOURCE, ANY_TAG, UNKNOWN_SIZE};
use trace::{Collected, Kind, Operation, WorkUnit};

fn read_with_words(text: &str) -> (Collected, Vec<String>) {
    read_files(&[("a.txt".to_owned(), text.as_bytes().to_vec())], "a.txt").expect("it can be read")
}

fn read(text: &str) -> Collected {
    let (trace, words) = read_with_words(text);
    assert!(words.is_empty(), "{words:?}");
    trace
}

/// Words of what cannot be read at all.
fn refused(files: &[(String, Vec<u8>)], open: &str) -> String {
    read_files(files, open).expect_err("it cannot be read")
}

/// What lines of rank 1 become among four ranks; its `init` has these words.
fn become_what(init: &str, lines: &[&str]) -> Vec<(Operation, Vec<u64>)> {
    let mut text = format!("0 init\n1 {init}\n2 init\n3 init\n");
    for line in lines {
        text += &format!("1 {line}\n");
    }
    let trace = read(&text);
    assert_eq!((trace.header.ranks, trace.header.unit), (4, WorkUnit::Instructions));
    trace.ranks[1]
        .iter()
        .map(|listed| (listed.operation, listed.values.clone()))
        .collect()
}

#[track_caller]
fn check(lines: &[&str], expected: &[(Operation, &[u64])]) {
    same_operations(&become_what("init", lines), expected);
}

#[test]
fn messages_have_sizes_of_their_datatypes() {
    check(
        &[
            "send 3 7 1e3",
            "send 0 8 10 1",
            "recv 2 7 5.0 0",
            "recv 2 7 -1",
            "recv -555 -444 8",
            "recv 2 9",
        ],
        &[
            (message(Kind::Send, 3, 1000, 7), &[]),
            (message(Kind::Send, 0, 40, 8), &[]),
            (message(Kind::Recv, 2, 40, 7), &[]),
            (message(Kind::Recv, 2, UNKNOWN_SIZE, 7), &[]),
            (message(Kind::Recv, ANY_SOURCE, 8, ANY_TAG), &[]),
            (message(Kind::Recv, 2, UNKNOWN_SIZE, 9), &[]),
        ],
    );
    let doubles = become_what("init 1", &["send 3 7 10", "send 3 7 10 6"]);
    assert_eq!(
        doubles,
        [
            (message(Kind::Send, 3, 80, 7), vec![]),
            (message(Kind::Send, 3, 10, 7), vec![])
        ]
    );
}

#[test]
fn every_datatype_has_its_size() {
    let sizes = [
        8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4, 8, 8, 16, 4, 1, 1, 2, 4, 8, 1, 2, 4, 8, 8, 16, 32, 8, 8, 8, 16, 16, 8, 8,
        8, 16, 16,
    ];
    let lines: Vec<String> = (0..sizes.len()).map(|id| format!("send 0 0 3 {id}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let found: Vec<u64> = become_what("init", &lines)
        .iter()
        .map(|(operation, _)| operation.bytes)
        .collect();
    assert_eq!(found, sizes.map(|size| 3 * size));
}

#[test]
fn a_wait_is_for_the_oldest_message_of_its_ends_and_tag() {
    let isend = |peer, tag, request| with_request(message(Kind::Isend, peer, 1, tag), request);
    let wait = |request| with_request(Operation::new(Kind::Wait), request);
    check(
        &[
            "isend 2 7 1",
            "isend 3 7 1",
            "isend 2 7 1",
            "irecv 2 7 1",
            "test 1 2 7",
            "wait 1 2 7",
            "isend 0 1 1",
            "wait 2 1 7",
            "wait 1 2 7",
            "waitall",
            "waitall",
            "isend 0 1 1",
            "finalize",
        ],
        &[
            (isend(2, 7, 0), &[]),
            (isend(3, 7, 1), &[]),
            (isend(2, 7, 2), &[]),
            (with_request(message(Kind::Irecv, 2, 1, 7), 3), &[]),
            (with_request(Operation::new(Kind::Test), 0), &[]),
            (wait(0), &[]),
            // A name is free when its request is over.
            (isend(0, 1, 0), &[]),
            (wait(3), &[]),
            (wait(2), &[]),
            (Operation::new(Kind::Waitall), &[]),
            (isend(0, 1, 0), &[]),
            (Operation::new(Kind::Waitall), &[]),
        ],
    );
}

#[test]
fn a_wait_may_tell_whom_a_receive_from_anybody_was_from() {
    let any = |tag, request| with_request(message(Kind::Irecv, ANY_SOURCE, 1, tag), request);
    check(
        &[
            "irecv -555 7 1",
            "irecv -555 -444 1",
            "irecv 2 7 1",
            "wait 3 1 7",
            "wait 2 1 7",
            "wait 2 1 7",
        ],
        &[
            (any(7, 0), &[]),
            (any(ANY_TAG, 1), &[]),
            (with_request(message(Kind::Irecv, 2, 1, 7), 2), &[]),
            (with_request(Operation::new(Kind::Wait), 0), &[]),
            (with_request(Operation::new(Kind::Wait), 1), &[]),
            (with_request(Operation::new(Kind::Wait), 2), &[]),
        ],
    );
}

#[test]
fn collectives_have_the_sizes_that_their_kinds_mean() {
    let cases: Vec<(&str, Operation, Vec<u64>)> = vec![
        ("barrier", of(Kind::Barrier, 0), vec![]),
        ("bcast 5e4", rooted(Kind::Bcast, 50_000, 0), vec![]),
        ("bcast 100 2 1", rooted(Kind::Bcast, 400, 2), vec![]),
        ("reduce 100 0 3 1", rooted(Kind::Reduce, 400, 3), vec![]),
        ("allreduce 100 0", of(Kind::Allreduce, 100), vec![]),
        ("scan 100 0 1", of(Kind::Scan, 400), vec![]),
        ("exscan 100 0 1", of(Kind::Exscan, 400), vec![]),
        ("alltoall 10 10 1 1", of(Kind::Alltoall, 40), vec![]),
        ("allgather 10 10 1 1", of(Kind::Allgather, 40), vec![]),
        ("gather 10 40 2 1 2", rooted(Kind::Gather, 40, 2), vec![]),
        ("scatter 0 40 2 1 2", rooted(Kind::Scatter, 40, 2), vec![]),
        ("scatter 10 0 1 1 2", rooted(Kind::Scatter, 40, 1), vec![]),
        (
            "gatherv 2 1 2 3 4 1 1 1",
            rooted(Kind::Gatherv, 8, 1),
            vec![4, 8, 12, 16],
        ),
        ("gatherv 2 1 2 3 4 0 1 1", rooted(Kind::Gatherv, 8, 0), vec![]),
        ("allgatherv 2 1 2 3 4", of(Kind::Allgatherv, 2), vec![1, 2, 3, 4]),
        ("allgatherv 2 1 2 3 4 1", of(Kind::Allgatherv, 8), vec![4, 8, 12, 16]),
        ("allgatherv 2 1 2 3 4 1 1", of(Kind::Allgatherv, 8), vec![4, 8, 12, 16]),
        (
            "allgatherv 2 1 2 3 4 0 100 300 600",
            of(Kind::Allgatherv, 2),
            vec![1, 2, 3, 4],
        ),
        (
            "allgatherv 2 1 2 3 4 1 0 100 300 600",
            of(Kind::Allgatherv, 8),
            vec![4, 8, 12, 16],
        ),
        (
            "allgatherv 2 1 2 3 4 1 1 0 100 300 600",
            of(Kind::Allgatherv, 8),
            vec![4, 8, 12, 16],
        ),
        (
            "allGatherV 2 1 2 3 4 0 100 300 600 1 1",
            of(Kind::Allgatherv, 8),
            vec![4, 8, 12, 16],
        ),
        (
            "scatterv 1 2 3 4 2 1 1 1",
            received(8, rooted(Kind::Scatterv, 0, 1)),
            vec![4, 8, 12, 16],
        ),
        (
            "scatterv 1 2 3 4 2 0 1 1",
            received(8, rooted(Kind::Scatterv, 0, 0)),
            vec![],
        ),
        (
            "alltoallv 100 1 2 3 4 100 5 6 7 8",
            received(26, of(Kind::Alltoallv, 10)),
            vec![1, 2, 3, 4],
        ),
        (
            "alltoallv 100 1 2 3 4 100 5 6 7 8 1 1",
            received(104, of(Kind::Alltoallv, 40)),
            vec![4, 8, 12, 16],
        ),
        (
            "reducescatter 1 2 3 4 0 1",
            received(8, of(Kind::ReduceScatter, 0)),
            vec![4, 8, 12, 16],
        ),
    ];
    for (line, operation, list) in cases {
        assert_eq!(become_what("init", &[line]), [(operation, list)], "{line}");
    }
}

#[test]
fn work_is_in_instructions_and_a_sleep_is_in_time() {
    let sleep = Operation {
        time: 250_000_000_000,
        ..Operation::new(Kind::Sleep)
    };
    check(
        &[
            "compute 1.5e6",
            "compute 0",
            "sleep 0.25",
            "allreduce 1 21827181",
            "reduce 1 7 2",
            "reducescatter 1 1 1 1 9",
        ],
        &[
            (Operation::compute(1_500_000), &[]),
            (sleep, &[]),
            (of(Kind::Allreduce, 1), &[]),
            (Operation::compute(21_827_181), &[]),
            (rooted(Kind::Reduce, 1, 2), &[]),
            (Operation::compute(7), &[]),
            (received(1, of(Kind::ReduceScatter, 0)), &[1, 1, 1, 1]),
            (Operation::compute(9), &[]),
        ],
    );
}

#[test]
fn a_sendrecv_has_both_of_its_ends_or_the_one_that_there_is() {
    let both = Operation {
        source: 3,
        ..received(16, message(Kind::Sendrecv, 2, 40, 0))
    };
    check(
        &[
            "sendRecv 10 2 2 3 1 0",
            "sendrecv 10 -666 2 3 1 0",
            "sendrecv 10 2 2 -666 1 0",
            "isend -666 7 1",
            "wait 1 -666 7",
        ],
        &[
            (both, &[]),
            (message(Kind::Recv, 3, 16, 0), &[]),
            (message(Kind::Send, 2, 40, 0), &[]),
        ],
    );
}

#[test]
fn an_older_trace_has_no_tags_and_waits_for_what_was_begun_last() {
    let text = "0 init\n1 init\n2 init\n\n0 send 1 1e9\n0 compute 1e9\n0 recv 2 1e9\n\n1 Irecv 0 1e9\n1 compute 1e9\n1 wait\n1 send 2 1e9\n\
                2 Irecv 1 10 1\n2 Isend 0 1e9\n2 wait\n2 wait\n1 Isend 0 5\n1 waitAll\n1 recv 2\n0 finalize\n1 finalize\n2 finalize\n";
    let trace = read(text);
    let plain = |rank: usize| -> Vec<Operation> { trace.ranks[rank].iter().map(|listed| listed.operation).collect() };
    let giga = 1_000_000_000;
    assert_eq!(
        plain(0),
        [
            message(Kind::Send, 1, giga, 0),
            Operation::compute(giga),
            message(Kind::Recv, 2, giga, 0)
        ]
    );
    let wait = |request| with_request(Operation::new(Kind::Wait), request);
    assert_eq!(
        plain(1),
        [
            with_request(message(Kind::Irecv, 0, giga, 0), 0),
            Operation::compute(giga),
            wait(0),
            message(Kind::Send, 2, giga, 0),
            with_request(message(Kind::Isend, 0, 5, 0), 0),
            Operation::new(Kind::Waitall),
            message(Kind::Recv, 2, UNKNOWN_SIZE, 0),
        ]
    );
    assert_eq!(
        plain(2),
        [
            with_request(message(Kind::Irecv, 1, 40, 0), 0),
            with_request(message(Kind::Isend, 0, giga, 0), 1),
            wait(1),
            wait(0)
        ]
    );
}

#[test]
fn one_file_files_of_ranks_a_folder_and_packed_files_are_the_same_trace() {
    let whole = read(&together(&everything()));
    let operations = |trace: &Collected| -> Vec<Vec<Operation>> {
        trace
            .ranks
            .iter()
            .map(|rank| rank.iter().map(|listed| listed.operation).collect())
            .collect()
    };
    let files = apart(&everything());
    for open in ["trace", "trace_files"] {
        let (trace, words) = read_files(&files, open).expect("it can be read");
        assert!(words.is_empty(), "{words:?}");
        assert_eq!(operations(&trace), operations(&whole), "{open}");
        assert!(
            trace.header.file(2).ends_with("2_rank-2.txt"),
            "{:?}",
            trace.header.files
        );
    }
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, together(&everything()).as_bytes()).expect("it can be packed");
    let packed = encoder.finish().expect("it can be packed");
    let (trace, words) = read_files(&[("a.gz".to_owned(), packed)], "a.gz").expect("it can be read");
    assert!(words.is_empty(), "{words:?}");
    assert_eq!(operations(&trace), operations(&whole));
    // A list may name one file of all ranks, and a folder may have its own list in it.
    let list = ("list".to_owned(), b"all.txt\n".to_vec());
    let all = ("all.txt".to_owned(), together(&everything()).into_bytes());
    for open in ["list", ""] {
        let (trace, words) = read_files(&[list.clone(), all.clone()], open).expect("it can be read");
        assert!(words.is_empty(), "{words:?}");
        assert_eq!(operations(&trace), operations(&whole), "{open}");
    }
}

#[test]
fn what_is_wrong_with_a_line_is_told_with_its_place() {
    let cases = [
        ("dance 3", "dance: this is no action; actions are init, finalize, "),
        (
            "send 4 0 1",
            "send: the destination 4 is none of 2 ranks; the line is left out",
        ),
        (
            "send -1 0 1",
            "send: the destination -1 is none of 2 ranks; the line is left out",
        ),
        ("send 1", "send: the tag is missing; the line is left out"),
        (
            "send 1 0 many",
            "send: the size `many` is no number; the line is left out",
        ),
        ("send 1 0 -5", "send: the size -5 is below 0; the line is left out"),
        (
            "send 1 0 nan",
            "send: the size `nan` is no number; the line is left out",
        ),
        (
            "send 1 0 1e30",
            "send: the size `1e30` is no number; the line is left out",
        ),
        ("send 1 0 5 77", "send: there is no datatype 77; the line is left out"),
        (
            "send 1 0 5 1 9",
            "send: `9` is one argument too many; the line is left out",
        ),
        (
            "wait 1 0 7",
            "wait: there is no open message from 1 to 0 with tag 7; the line is left out",
        ),
        (
            "allgatherv 1 1",
            "allgatherv: there are 1 arguments left for 2 sizes to receive; the line is left out",
        ),
        (
            "barrier 1",
            "barrier: `1` is one argument too many; the line is left out",
        ),
        (
            "compute -1",
            "compute: the number of instructions -1 is below 0; the line is left out",
        ),
        (
            "isend 1 0.5 1",
            "isend: the tag `0.5` is no whole number; the line is left out",
        ),
    ];
    for (line, expected) in cases {
        let (trace, words) = read_with_words(&format!("0 init\n1 init\n0 {line}\n0 finalize\n"));
        assert_eq!(words.len(), 1, "{words:?}");
        assert!(
            words[0].starts_with(&format!("a.txt, rank 0, record 3: {expected}")),
            "{}",
            words[0]
        );
        assert!(trace.ranks[0].is_empty(), "{line}: what is wrong leaves nothing behind");
    }
    let (_, words) = read_with_words("0 init\nx init\n1 init\n");
    assert_eq!(
        words,
        ["a.txt, record 2: `x` is no rank; a line is to be as `0 init`: the line is left out"]
    );
    let (_, words) = read_with_words("0 init\n2 init\n2 barrier\n");
    assert_eq!(
        words,
        ["a.txt, rank 1: rank 1 of 3 has no actions; its file may be missing"]
    );
    let (_, words) = read_with_words("0 init\n0 comm_size 2\n");
    assert_eq!(
        words,
        ["a.txt, rank 1: rank 1 of 2 has no actions; its file may be missing"]
    );
}

#[test]
fn the_oldest_traces_number_ranks_with_a_letter() {
    let plain = "0 init\n1 init\n0 compute 1.5e6\n0 send 1 1e6\n1 recv 0 1e6\n0 Isend 1 1024.0\n1 Irecv 0 1024\n1 wait\n0 wait\n\
        0 allReduce 5e4 5e8\n1 allReduce 5e4 5e8\n0 finalize\n1 finalize\n";
    let old: String = plain
        .lines()
        .map(|line| {
            let partner = |word: &str| ["send", "recv", "Isend", "Irecv"].contains(&word);
            let words: Vec<&str> = line.split(' ').collect();
            let is_rank = |place: usize| place == 0 || place == 2 && partner(words[1]);
            let words = words.iter().enumerate().map(|(place, word)| match is_rank(place) {
                true => format!("p{word}"),
                false => (*word).to_owned(),
            });
            words.collect::<Vec<_>>().join(" ") + "\n"
        })
        .collect();
    let (with, words) = read_with_words(&old);
    assert!(words.is_empty(), "{words:?}");
    assert_eq!(with.ranks, read(plain).ranks);
    // 1,500,000 instructions and those of combining; a message of a million bytes and one of 1,024.
    let sent: Vec<u64> = with.ranks[0]
        .iter()
        .filter(|one| one.operation.kind.sends())
        .map(|one| one.operation.bytes)
        .collect();
    assert_eq!(sent, [1_000_000, 1024]);
    let (_, words) = read_with_words("p0 init\np1 init\np0 send p2 8\np0 wait p1\n");
    assert_eq!(words.len(), 2, "{words:?}");
}

#[test]
fn what_is_no_trace_is_refused() {
    let file = |name: &str, text: &str| (name.to_owned(), text.as_bytes().to_vec());
    let words = refused(&[file("a.txt", "0 init\n4000000000 init\n")], "a.txt");
    assert_eq!(
        words,
        "a.txt, record 2: there is no rank 4000000000 of a trace of 2 lines; ranks are numbered from 0"
    );
    let words = refused(&[file("list", "b.txt\nc.txt\n"), file("b.txt", "0 init\n")], "list");
    assert_eq!(
        words,
        "list, record 2: there is no file c.txt; a line of a list is the name of a file, from where the list is"
    );
    assert!(refused(&[file("a.txt", "")], "a.txt").starts_with("a.txt: it is empty"));
    for text in ["hello world\n", "0 dance\n", "# nothing\n"] {
        assert!(
            refused(&[file("a.txt", text)], "a.txt").starts_with("a.txt: this is no trace of a known format"),
            "{text}"
        );
    }
    let files = [file("f/a.txt", "0 init\n"), file("f/notes", "hello\n")];
    let (_, words) = read_files(&files, "f").expect("it can be read");
    assert_eq!(words, ["f/notes: it has no actions; it is left out"]);
}

#[test]
fn a_rank_alone_and_a_hundred_thousand_are_traces() {
    assert_eq!(read("0 init\n").ranks, [vec![]]);
    let ranks = 100_000;
    let text: String = (0..ranks)
        .map(|rank| format!("{rank} init\n{rank} compute 5\n"))
        .collect();
    let trace = read(&text);
    assert_eq!(trace.ranks.len(), ranks);
    assert!(trace.ranks.iter().all(|rank| rank.len() == 1));
}

/// `cargo test --release -p fabricsim-trace --test all simgrid:: -- --ignored --nocapture` says how fast lines are read.
#[test]
#[ignore = "it is a measurement"]
fn a_million_lines_are_read_in_less_than_two_seconds() {
    let mut text = String::new();
    for i in 0..250_000u32 {
        let (from, to) = (i % 64, (i + 1) % 64);
        text += &format!(
            "{from} isend {to} 7 1e3\n{from} compute 12345\n{from} wait {from} {to} 7\n{from} allreduce 32 2182 1\n"
        );
    }
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("a.txt");
    std::fs::write(&path, text).expect("the file can be written");
    let mut summary = trace::TraceSummary::default();
    let mut watch = |_: trace::ReadProgress| true;
    let mut reader = trace::TraceReader::new(&mut summary, &mut watch);
    let begun = std::time::Instant::now();
    trace::read(&path, None, &mut reader).expect("it can be read");
    let took = begun.elapsed();
    println!("{} lines in {took:?}", reader.progress.records);
    assert!(took.as_secs_f64() < 2.0, "{took:?}");
}
