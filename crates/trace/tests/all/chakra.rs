//! Execution traces: what is written by hand is read as it is, and the shared ones have what is known of them.

use crate::samples::chakra::{COLLECTIVE, COMPUTE, LOAD, Message, RECEIVE, SEND, file, gzip, node};
use crate::samples::{self, Sample};
use std::collections::BTreeMap;
use std::path::Path;
use trace::operation::UNKNOWN_SIZE;
use trace::{
    Check, Collected, Kind, Members, Operation, Problem, ReadStop, TraceForm, TraceReader, TraceSummary, WorkUnit,
};

/// The trace of a sample, and what is wrong with it.
fn read(sample: &Sample) -> Result<(Collected, Vec<Problem>), ReadStop> {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = sample.write(folder.path());
    Collected::of(|reader| trace::read(&path, None, reader))
}

fn of_files(files: Vec<(String, Vec<u8>)>, open: &'static str) -> Sample {
    let (format, name) = ("chakra", "test");
    Sample {
        format,
        name,
        files,
        open,
    }
}

/// A trace of nodes by rank.
fn trace_of(ranks: &[Vec<Message>]) -> (Collected, Vec<String>) {
    let files = ranks
        .iter()
        .enumerate()
        .map(|(rank, nodes)| (format!("a.{rank}.et"), file(nodes)));
    let (trace, problems) = read(&of_files(files.collect(), "a.0.et")).expect("it is read to the end");
    let words = problems
        .iter()
        .map(|problem| format!("{:?} {:?} {}", problem.rank, problem.record, problem.reason));
    (trace, words.collect())
}

fn the_only(node: Message) -> Operation {
    let (trace, problems) = trace_of(&[vec![node]]);
    assert_eq!(problems, [""; 0]);
    trace.ranks[0][0].operation
}

fn refused(sample: &Sample) -> String {
    match read(sample) {
        Err(ReadStop::Broken(problem)) => format!("{}; {}", problem.reason, problem.hint),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_training_step_is_read_as_it_was_written() {
    for sample in &samples::chakra::all()[..2] {
        let (trace, problems) = read(sample).expect("it is read to the end");
        assert_eq!(problems, []);
        let header = &trace.header;
        assert_eq!(
            (header.ranks, header.form, header.unit),
            (2, TraceForm::Graph, WorkUnit::Picoseconds)
        );
        assert_eq!(header.communicators, [Members::all(2), Members::List(vec![1, 0])]);
        let own = &trace.ranks[0];
        let after: Vec<&[u32]> = own.iter().map(|one| &one.after[..]).collect();
        assert_eq!(after, [&[][..], &[3, 4], &[0], &[2], &[0], &[1]]);
        let records: Vec<u64> = own.iter().map(|one| one.record).collect();
        assert_eq!(records, [1, 2, 3, 4, 5, 6]);
        let operations: Vec<Operation> = own.iter().map(|one| one.operation).collect();
        let on = |lane, operation| Operation { lane, ..operation };
        let expected = [
            Operation::compute(0),
            on(1, Operation::collective(Kind::Allreduce, 1, 1 << 20)),
            Operation::compute(12_000_000),
            on(1, Operation::message(Kind::Send, 1, 4096, 2)),
            on(1, Operation::message(Kind::Recv, 1, 4096, 2)),
            on(3, Operation::compute(3_000_000)),
        ];
        assert_eq!(operations, expected);
        let mut check = Check::default();
        trace.tell(&mut check).expect("it is read to the end");
        assert_eq!(check.problems(), []);
    }
}

#[test]
fn integers_of_every_kind_are_the_same_number() {
    let dst = |value: Message| node(1, SEND, &[]).number("comm_size", 8).attribute("comm_dst", value);
    let one = Message::default;
    for value in [
        one().varint(7, 1),
        one().varint(9, 1),
        one().varint(11, 1),
        one().varint(13, 1),
        one().varint(15, 2),
        one().varint(17, 2),
        one().fixed32(19, 1),
        one().fixed64(21, 1),
        one().fixed32(23, 1),
        one().fixed64(25, 1),
        one().fixed64(3, 1_f64.to_bits()),
        one().fixed32(5, 1_f32.to_bits()),
    ] {
        assert_eq!(the_only(dst(value.clone())).peer, 1, "{:?}", value.0);
    }
    for negative in [
        one().varint(7, -1_i64 as u64),
        one().varint(17, 1),
        one().fixed32(23, u32::MAX),
    ] {
        let (trace, problems) = trace_of(&[vec![dst(negative)]]);
        assert_eq!(
            problems,
            ["Some(0) Some(1) node 1 has comm_dst -1, which is not from 0 to 4294967293"]
        );
        assert_eq!(trace.ranks[0][0].operation.kind, Kind::Compute, "its number stays");
    }
}

#[test]
fn comm_size_is_what_a_rank_gives() {
    use Kind as K;
    let kinds = [
        (0, K::Allreduce, 1000),
        (1, K::Reduce, 1000),
        (2, K::Allgather, 1000),
        (3, K::Gather, 1000),
        (4, K::Scatter, 334),
        (5, K::Bcast, 1000),
        (6, K::Alltoall, 334),
        (7, K::ReduceScatterBlock, 334),
        (8, K::ReduceScatterBlock, 334),
        (9, K::Barrier, 0),
    ];
    for (comm_type, kind, bytes) in kinds {
        let one = node(1, COLLECTIVE, &[])
            .number("comm_type", comm_type)
            .number("comm_size", 1000)
            .number("root", 2);
        let (trace, problems) = trace_of(&[vec![one.clone()], vec![one.clone()], vec![one]]);
        assert_eq!(problems, [""; 0]);
        let found = trace.ranks[2][0].operation;
        assert_eq!((found.kind, found.bytes), (kind, bytes));
        assert_eq!(found.peer == 2, kind.has_root());
    }
    let (_, problems) = trace_of(&[vec![
        node(1, COLLECTIVE, &[]).number("comm_type", 10).number("comm_size", 1),
        node(2, COLLECTIVE, &[]).number("comm_size", 1),
    ]]);
    assert_eq!(
        problems,
        [
            "Some(0) Some(1) node 1 has comm_type 10, which is no collective",
            "Some(0) Some(2) node 2 has no comm_type"
        ]
    );
}

#[test]
fn collectives_of_the_host_are_computations() {
    let collective = |comm_type| node(1, COLLECTIVE, &[]).varint(7, 2).number("comm_type", comm_type);
    assert_eq!(
        the_only(collective(0)),
        Operation {
            lane: 1,
            ..Operation::compute(2_000_000)
        }
    );
    assert_eq!(the_only(collective(9)).kind, Kind::Barrier);
    let host = collective(9).attribute("is_cpu_op", Message::default().varint(27, 1));
    assert_eq!(
        the_only(host),
        Operation {
            lane: 2,
            ..Operation::compute(2_000_000)
        }
    );
}

#[test]
fn computations_are_time_or_operations() {
    let operations = |id| {
        node(id, COMPUTE, &[])
            .number("num_ops", 1 << 40)
            .number("tensor_size", 8)
    };
    let (trace, problems) = trace_of(&[vec![operations(1)], vec![node(1, LOAD, &[]).varint(7, 3)]]);
    assert_eq!(problems, [""; 0]);
    assert_eq!(trace.header.unit, WorkUnit::Instructions);
    assert_eq!(trace.ranks[0][0].operation.time, 1 << 40);
    assert_eq!(
        trace.ranks[1][0].operation.time, 0,
        "what has another unit takes no time"
    );
    let (trace, problems) = trace_of(&[vec![operations(1)], vec![operations(1).varint(7, 4)]]);
    assert_eq!(
        problems,
        ["Some(0) Some(1) node 1 tells operations and no duration, in a trace of durations"]
    );
    assert_eq!(trace.header.unit, WorkUnit::Picoseconds);
    assert_eq!(trace.ranks[1][0].operation.time, 4_000_000);
    let (_, problems) = trace_of(&[vec![node(1, COMPUTE, &[]).varint(7, u64::MAX)]]);
    assert_eq!(
        problems,
        ["Some(0) Some(1) node 1 takes 18446744073709551615 us, which is too long"]
    );
}

#[test]
fn starts_count_from_the_first_of_all_ranks() {
    let at = |start| vec![node(1, COMPUTE, &[]).varint(6, start)];
    let (trace, _) = trace_of(&[at(1_700_000_000_000_007), at(1_700_000_000_000_000)]);
    assert_eq!(trace.ranks[0][0].operation.start, 7_000_000);
    assert_eq!(trace.ranks[1][0].operation.start, 0);
}

#[test]
fn streams_and_threads_are_lanes() {
    let on = |id, tid, cpu| {
        let node = node(id, COMPUTE, &[]).number("tid", tid);
        node.attribute("is_cpu_op", Message::default().varint(27, cpu))
    };
    let (trace, _) = trace_of(&[vec![
        on(1, 7, 0),
        on(2, 20, 0),
        on(3, 7, 1),
        on(4, 7, 0),
        node(5, COMPUTE, &[]),
    ]]);
    let lanes: Vec<u8> = trace.ranks[0].iter().map(|one| one.operation.lane).collect();
    assert_eq!(lanes, [4, 5, 6, 4, 0]);
}

#[test]
fn dependencies_are_ids_packed_or_not_and_may_point_ahead() {
    let packed = node(100, COMPUTE, &[1]).bytes(4, &[30, 20, 1]);
    let nodes = vec![
        packed,
        node(20, COMPUTE, &[]),
        node(30, COMPUTE, &[20, 20]),
        node(1, COMPUTE, &[]),
    ];
    let (trace, problems) = trace_of(&[nodes]);
    assert_eq!(problems, [""; 0]);
    let after: Vec<&[u32]> = trace.ranks[0].iter().map(|one| &one.after[..]).collect();
    assert_eq!(after, [&[2, 1, 3, 3][..], &[], &[1, 1], &[]]);
    let strides = (0..5)
        .map(|i| node(10 + 3 * i, COMPUTE, &[10 + 3 * ((i + 1) % 5)]))
        .collect();
    let (trace, _) = trace_of(&[strides]);
    let after: Vec<u32> = trace.ranks[0].iter().flat_map(|one| one.after.clone()).collect();
    assert_eq!(after, [1, 2, 3, 4, 0]);
    for ids in [[1, 2, 3], [3, 9, 1]] {
        let nodes = ids.map(|id| node(id, COMPUTE, &[4, ids[0]])).to_vec();
        let (trace, problems) = trace_of(&[nodes]);
        let expected: Vec<String> = (0..3)
            .map(|i| {
                format!(
                    "Some(0) Some({}) node {} depends on node 4, which is not there",
                    i + 1,
                    ids[i]
                )
            })
            .collect();
        assert_eq!(problems, expected);
        assert!(trace.ranks[0].iter().all(|one| one.after == [0]));
    }
    let (_, problems) = trace_of(&[vec![node(1, COMPUTE, &[]), node(1, COMPUTE, &[])]]);
    assert_eq!(problems, ["Some(0) Some(2) node 1 is there twice"]);
}

#[test]
fn ends_of_messages_are_looked_at() {
    let receive = node(1, RECEIVE, &[]).number("comm_src", 0);
    assert_eq!(the_only(receive.clone()).bytes, UNKNOWN_SIZE);
    let of = |node: Message| trace_of(&[vec![node]]).1.concat();
    assert_eq!(
        of(receive.number("comm_dst", 3)),
        "Some(0) Some(1) node 1 has comm_dst 3, and is of rank 0"
    );
    assert_eq!(
        of(node(1, SEND, &[]).number("comm_dst", 0)),
        "Some(0) Some(1) node 1 has no comm_size"
    );
    assert_eq!(
        of(node(1, SEND, &[]).number("comm_size", 0)),
        "Some(0) Some(1) node 1 has no comm_dst"
    );
    assert_eq!(of(node(1, 0, &[])), "Some(0) Some(1) node 1 has no type that is known");
    assert_eq!(of(node(1, 8, &[])), "Some(0) Some(1) node 1 has no type that is known");
}

#[test]
fn groups_are_told_by_nodes_by_a_file_or_by_their_use() {
    let in_group = |name: &str| {
        node(5, COLLECTIVE, &[])
            .number("comm_type", 0)
            .number("comm_size", 8)
            .text("pg_name", name)
    };
    let use_of = |name: &str| vec![in_group(name)];
    let (trace, _) = trace_of(&[use_of("a"), use_of("b"), use_of("a"), use_of("")]);
    let communicator = |rank: usize| trace.ranks[rank][0].operation.communicator;
    assert_eq!([0, 1, 2, 3].map(communicator), [1, 2, 1, 0]);
    assert_eq!(
        trace.header.communicators[1..],
        [Members::of(vec![0, 2]), Members::of(vec![1])]
    );
    let files = |groups: &str| {
        let files = ["a", "b", "a"]
            .iter()
            .enumerate()
            .map(|(rank, name)| (format!("a.{rank}.et"), file(&use_of(name))));
        let others = [
            ("groups.json", groups),
            ("other.json", "{\"a\": 7}"),
            ("broken.json", "{"),
        ];
        let others = others.map(|(name, text)| (name.to_owned(), text.into()));
        of_files(files.chain(others).collect(), "a.0.et")
    };
    let (trace, problems) = read(&files("{\"a\": [2, 0, 1], \"b\": [1, 2]}")).expect("it is read to the end");
    assert_eq!(problems, []);
    assert_eq!(
        trace.header.communicators[1..],
        [Members::List(vec![2, 0, 1]), Members::of(vec![1, 2])]
    );
    let (_, problems) = read(&files("{\"a\": [2, 3]}")).expect("it is read to the end");
    assert_eq!(
        problems[0].reason,
        "process group \"a\" has rank 3 of a trace of 3 ranks"
    );
}

#[test]
fn dimensions_of_a_network_are_told_once() {
    let some = |id| {
        let flags = Message::default().bytes(1, &[1, 0]);
        let value = Message::default().bytes(28, &flags.0);
        node(id, COLLECTIVE, &[])
            .number("comm_type", 0)
            .number("comm_size", 8)
            .attribute("involved_dim", value)
    };
    let (_, problems) = trace_of(&[vec![some(1), some(2)]]);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(trace_of(&[vec![some(1).text("pg_name", "a")]]).1, [""; 0]);
}

#[test]
fn sets_are_whole() {
    let one = || file(&[node(1, COMPUTE, &[])]);
    let set = |names: &[&str], open| of_files(names.iter().map(|name| ((*name).to_owned(), one())).collect(), open);
    for (names, open) in [
        (&["a.0.et", "a.1.et", "b.0.et"][..], "a.1.et"),
        (&["s/a.0.et", "s/a.1.et"], "s"),
        (&["s/a.00.et.gz", "s/a.01.et.gz"], "s/a.00.et.gz"),
    ] {
        let (trace, _) = read(&set(names, open)).expect("it is read to the end");
        assert_eq!(trace.header.ranks, 2, "{open}");
    }
    for open in ["whole.et", "whole.gpu.et"] {
        let (trace, _) = read(&set(&[open], open)).expect("it is read to the end");
        assert_eq!(trace.header.ranks, 1);
    }
    let hint = "a trace has a file NAME.R.et for each rank R from 0 on";
    for (names, open, expected) in [
        (
            &["a.0.et", "a.2.et"][..],
            "a.0.et",
            format!("there is no file of rank 1, and one of rank 2; {hint}"),
        ),
        (
            &["a.1.et"],
            "a.1.et",
            format!("there is no file of rank 0, and one of rank 1; {hint}"),
        ),
        (
            &["a.0.et", "a.00.et"],
            "a.0.et",
            "a.0.et and a.00.et are both of rank 0; take one of them out of the folder".into(),
        ),
        (
            &["s/a.0.et", "s/b.0.et"],
            "s",
            "it has 2 traces: a, b; give a file of one of them".into(),
        ),
    ] {
        assert_eq!(refused(&set(names, open)), expected);
    }
}

#[test]
fn what_is_no_trace_is_refused() {
    let whole = file(&[node(1, COMPUTE, &[])]);
    let one = |bytes: &[u8]| of_files(vec![("a.0.et".into(), bytes.to_vec())], "a.0.et");
    let json = |text: &str| of_files(vec![("a.0.et".into(), text.into())], "a.0.et");
    let hint = "give a whole execution trace";
    for (sample, expected) in [
        (one(b""), "it is empty".to_owned()),
        (one(&gzip(b"")), "it is empty".into()),
        (
            one(&whole[..whole.len() - 1]),
            "it ends after 9 bytes of a message of 10".into(),
        ),
        (
            one(&[0xff; 8]),
            "the length of a message is no number of 32 bits".into(),
        ),
        (one(&[0x85]), "it ends within the length of a message".into()),
        (one(&[2, 0x0b, 0]), "it does not begin as an execution trace".into()),
        (one(&[0, 1, 0x0b]), "this is no node".into()),
        (json("{\"a\": 1}"), "it has no list \"workload_graph\"".into()),
        (
            json("{\"workload_graph\": [{}]}"),
            "this is no execution trace in JSON: a node has no Id at line 1 column 23".into(),
        ),
    ] {
        assert_eq!(refused(&sample), format!("{expected}; {hint}"));
    }
    // Nothing to do is a trace.
    assert_eq!(trace_of(&[vec![]]).0.ranks[0], []);
}

#[test]
fn json_has_the_same_nodes() {
    let json = r#"{"workload_graph": [
        {"Id": 4, "Name": "x", "NodeType": 6, "comm_src": 0, "comm_size": "8", "ctrlDeps": [5], "runtime": 2.0},
        {"id": "5", "name": "y", "type": "COMM_SEND_NODE", "data_deps": null,
         "attr": [{"name": "comm_dst", "int32Val": 0}, {"name": "comm_size", "int64_val": "8"}]}
    ], "other": [{}]}"#;
    let (trace, problems) = read(&of_files(vec![("a.0.json".into(), json.into())], "a.0.json")).expect("it is read");
    assert_eq!(problems, []);
    let time = 2_000_000;
    let expected = [
        Operation {
            lane: 1,
            time,
            ..Operation::message(Kind::Recv, 0, 8, 0)
        },
        Operation {
            lane: 1,
            ..Operation::message(Kind::Send, 0, 8, 0)
        },
    ];
    let operations: Vec<Operation> = trace.ranks[0].iter().map(|one| one.operation).collect();
    assert_eq!(operations, expected);
    assert_eq!(trace.ranks[0][0].after, [1]);
}

#[test]
fn json_of_protocol_buffers_leaves_out_zeros_and_may_name_collectives() {
    let of = |text: &str| {
        let file = ("a.0.json".to_owned(), text.as_bytes().to_vec());
        let (trace, problems) = read(&of_files(vec![file], "a.0.json")).expect("it is read");
        assert!(problems.is_empty(), "{problems:?}");
        trace
    };
    // The first node has id 0, which is left out.
    let short = of(r#"{"workload_graph": [
        {"name": "c", "type": "COMP_NODE", "durationMicros": "5", "attr": [{"name": "is_cpu_op", "boolVal": false}]},
        {"id": "1", "name": "r", "type": "COMM_COLL_NODE", "dataDeps": ["0"],
            "attr": [{"name": "comm_type", "stringVal": "ALL_GATHER"}, {"name": "comm_size", "uint64Val": "4096"}]}]}"#);
    let long = of(r#"{"workload_graph": [
        {"Id": 0, "Name": "c", "NodeType": 4, "runtime": 5, "is_cpu_op": false},
        {"Id": 1, "Name": "r", "NodeType": 7, "data_deps": [0], "comm_type": 2, "comm_size": 4096}]}"#);
    assert_eq!(short.ranks, long.ranks);
    let gather = &short.ranks[0][1];
    assert_eq!(
        (gather.operation.kind, gather.operation.bytes, &gather.after[..]),
        (Kind::Allgather, 4096, &[0][..])
    );
}

#[test]
fn shared_traces_have_what_is_known_of_them() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference/traces");
    let Ok(expected) = std::fs::read_to_string(shared.join("expected.json")) else {
        println!("there are no shared traces beside the project");
        return;
    };
    let expected: BTreeMap<String, serde_json::Value> = serde_json::from_str(&expected).expect("it is JSON");
    for (name, expected) in expected.iter().filter(|(name, _)| name.starts_with("chakra/")) {
        let mut sinks = (TraceSummary::default(), Check::default());
        let mut watch = |_| true;
        let mut reader = TraceReader::new(&mut sinks, &mut watch);
        trace::read(&shared.join(name), None, &mut reader).expect("it is read to the end");
        assert_eq!(reader.into_problems(), (vec![], 0), "{name}");
        let (summary, check) = sinks;
        assert_eq!(check.problems(), [], "{name}");
        let of = |kinds: &[&str]| {
            kinds
                .iter()
                .filter_map(|kind| summary.operations.get(kind))
                .sum::<u64>()
        };
        let nodes = |kind: &str| expected["nodes"][kind].as_u64().unwrap_or(0);
        assert_eq!(
            u64::from(summary.ranks),
            expected["files"].as_u64().expect("a number"),
            "{name}"
        );
        assert_eq!(of(&["send"]), nodes("SEND"), "{name}");
        assert_eq!(of(&["recv"]), nodes("RECV"), "{name}");
        assert_eq!(of(&["compute"]), nodes("COMP"), "{name}");
        assert_eq!(of(&["allreduce"]), nodes("COLL"), "{name}");
        assert_eq!(Some(summary.dependencies), expected["dependencies"].as_u64(), "{name}");
        assert_eq!(Some(summary.bytes_sent), expected["send_bytes"].as_u64(), "{name}");
        let duration = expected["duration_us"].as_f64().expect("a number");
        assert_eq!(summary.compute_ns, Some(duration * 1e3), "{name}");
    }
}
