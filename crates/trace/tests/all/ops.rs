//! Tables of operations: what each row is, and what is wrong with rows.

use crate::samples;
use std::path::Path;
use trace::operation::{ANY_SOURCE, ANY_TAG, UNKNOWN_SIZE};
use trace::{Check, Collected, Kind, Members, Operation, Problem, ReadStop, TraceForm, TraceReader, TraceSummary};

fn read(text: &str) -> Result<(Collected, Vec<Problem>), ReadStop> {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("table.csv");
    std::fs::write(&path, text).expect("the file can be written");
    Collected::of(|reader| trace::read(&path, trace::named("ops"), reader))
}

/// What is told of a row of rank 0, below a header with all columns in their order.
fn row(row: &str) -> Result<Operation, String> {
    let text = format!("rank,op,peer,source,bytes,tag,communicator,request,time_ps\n0,compute,,,,,,,\n0,{row}\n");
    let (trace, problems) = read(&text).expect("it is read to the end");
    match problems.first() {
        None => Ok(trace.ranks[0][1].operation),
        Some(problem) => {
            assert_eq!((problem.record, trace.ranks[0].len()), (Some(3), 1));
            Err(format!("{}; {}", problem.reason, problem.hint))
        }
    }
}

#[test]
fn a_table_is_read_as_it_was_written() {
    for sample in samples::ops::all() {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let path = sample.write(folder.path());
        let (trace, problems) =
            Collected::of(|reader| trace::read(&path, None, reader)).expect("it is read to the end");
        assert_eq!(problems, []);
        assert_eq!((trace.header.ranks, trace.header.form), (2, TraceForm::Program));
        assert_eq!(trace.header.communicators, [Members::all(2), Members::all(2)]);
        let records = |rank: usize| trace.ranks[rank].iter().map(|one| one.record).collect::<Vec<u64>>();
        assert_eq!((records(0), records(1)), (vec![4, 5, 7, 9, 11], vec![6, 8, 10, 12]));
        let expected = [
            Operation {
                request: 8,
                ..Operation::message(Kind::Irecv, ANY_SOURCE, UNKNOWN_SIZE, ANY_TAG)
            },
            Operation::new(Kind::Waitall),
            Operation {
                communicator: 1,
                source: 0,
                source_tag: 5,
                received: UNKNOWN_SIZE,
                ..Operation::message(Kind::Sendrecv, 0, 32, 5)
            },
            Operation {
                peer: 1,
                ..Operation::collective(Kind::Reduce, 0, 16)
            },
        ];
        let operations: Vec<Operation> = trace.ranks[1].iter().map(|one| one.operation).collect();
        assert_eq!(operations, expected);
        let mut check = Check::default();
        trace.tell(&mut check).expect("it is read to the end");
        assert_eq!(check.problems(), []);
    }
}

#[test]
fn cells_that_are_empty_take_their_defaults() {
    let message = |kind, bytes| Ok(Operation::message(kind, 3, bytes, 0));
    assert_eq!(row("send,3,,,,,,"), message(Kind::Send, 0));
    assert_eq!(row("isend,3,,,,,,"), message(Kind::Isend, 0));
    assert_eq!(row("recv,3,,,,,,"), message(Kind::Recv, UNKNOWN_SIZE));
    assert_eq!(row("compute,,,,,,,"), Ok(Operation::compute(0)));
    assert_eq!(
        row("bcast,,,8,,,,"),
        Ok(Operation {
            peer: 0,
            ..Operation::collective(Kind::Bcast, 0, 8)
        })
    );
    assert_eq!(
        row("reduce-scatter,,,8,,,,"),
        Ok(Operation::collective(Kind::ReduceScatterBlock, 0, 8))
    );
    let one_way = row("sendrecv,3,,8,1,,,").expect("it is an operation");
    assert_eq!((one_way.peer, one_way.source, one_way.source_tag), (3, 3, 1));
}

#[test]
fn numbers_are_read_to_their_edges() {
    assert_eq!(
        row("send,4294967293,,1099511562239,65534,,,").map(|send| (send.bytes, send.tag)),
        Ok((1_099_511_562_239, 65534))
    );
    assert_eq!(
        row("compute,,,,,,,4611686018427387904").map(|one| one.time),
        Ok(1 << 62)
    );
    for (cells, expected) in [
        (
            "send,4294967294,,,,,,",
            "peer is \"4294967294\"; a whole number up to 4294967293",
        ),
        (
            "send,3,,1099511562240,,,,",
            "bytes is \"1099511562240\"; a whole number up to 1099511562239",
        ),
        ("send,3,,,65535,,,", "tag is \"65535\"; a whole number up to 65534"),
        ("send,3,,,,256,,", "communicator is \"256\"; a whole number up to 255"),
        ("isend,3,,,,,65535,", "request is \"65535\"; a whole number up to 65534"),
        (
            "compute,,,,,,,4611686018427387905",
            "time_ps is \"4611686018427387905\"; a whole number up to 4611686018427387904",
        ),
        (
            "compute,,,,,,,-1",
            "time_ps is \"-1\"; a whole number up to 4611686018427387904",
        ),
        (
            "compute,,,,,,,1e3",
            "time_ps is \"1e3\"; a whole number up to 4611686018427387904",
        ),
        ("wait,,,,,,,", "wait does not say for which request; fill in request"),
        ("test,,,,,,,", "test does not say for which request; fill in request"),
        ("send,,,,,,,", "send does not say whom to send to; fill in peer"),
        ("irecv,,,,,,,", "irecv does not say whom to receive from; fill in peer"),
        (
            "send,3",
            "3 cells, the header has 9 columns; give every column a cell, empty if need be",
        ),
        (
            "alltoallv,,,8,,,,",
            "there is no operation \"alltoallv\"; a table has no place for its sizes: take alltoall, or isend and irecv",
        ),
    ] {
        assert_eq!(row(cells), Err(expected.into()), "{cells}");
    }
    assert!(
        row("sent,3,,,,,,")
            .unwrap_err()
            .starts_with("there is no operation \"sent\"; operations are compute, send,")
    );
}

#[test]
fn communicators_have_the_ranks_that_use_them() {
    let (trace, _) =
        read("rank,op,communicator\n0,barrier,\n3,barrier,9\n1,barrier,9\n2,barrier,4\n").expect("it is read");
    assert_eq!(trace.header.ranks, 4);
    assert_eq!(
        trace.header.communicators[1..],
        [Members::of(vec![2]), Members::of(vec![1, 3])]
    );
    let of = |rank: usize| trace.ranks[rank][0].operation.communicator;
    assert_eq!([0, 1, 2, 3].map(of), [0, 2, 1, 2]);
}

#[test]
fn tables_that_are_none_are_refused() {
    for (text, expected) in [
        (
            "",
            "the table is empty; its first line names columns: rank,op,peer,source,bytes,tag,communicator,request,time_ps",
        ),
        (
            "# nothing\n\n",
            "the table is empty; its first line names columns: rank,op,peer,source,bytes,tag,communicator,request,time_ps",
        ),
        ("rank,op\n", "the table has no operation; give a row for each operation"),
        ("rank,bytes\n", "there is no column \"op\"; every table has it"),
        ("rank,op,rank\n", "the column \"rank\" comes twice; keep one"),
        (
            "rank,op,speed\n",
            "there is no column \"speed\"; columns are rank, op, peer, source, bytes, tag, communicator, request, time_ps",
        ),
        (
            "rank,op\n67108864,barrier\n",
            "rank 67108864 is too large; ranks are below 67108864",
        ),
    ] {
        match read(text) {
            Err(ReadStop::Broken(problem)) => assert_eq!(format!("{}; {}", problem.reason, problem.hint), expected),
            other => panic!("{text:?}: {other:?}"),
        }
    }
}

#[test]
fn the_shared_table_has_what_is_known_of_it() {
    let shared =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference/traces/ops/lulesh-8ranks-20it.csv.gz");
    if !shared.is_file() {
        println!("there is no shared table beside the project");
        return;
    }
    let mut sinks = (TraceSummary::default(), Check::default());
    let mut watch = |_| true;
    let mut reader = TraceReader::new(&mut sinks, &mut watch);
    trace::read(&shared, None, &mut reader).expect("it is read to the end");
    assert_eq!(reader.into_problems(), (vec![], 0));
    let (summary, check) = sinks;
    assert_eq!(check.problems(), []);
    assert_eq!(check.figures().requests_left, 0);
    assert_eq!((summary.ranks, summary.format.as_str()), (8, "ops"));
    let expected = [
        ("allreduce", 152),
        ("barrier", 8),
        ("compute", 7312),
        ("irecv", 2216),
        ("isend", 2216),
        ("reduce", 8),
        ("wait", 4432),
    ];
    assert_eq!(summary.operations.into_iter().collect::<Vec<_>>(), expected);
}
