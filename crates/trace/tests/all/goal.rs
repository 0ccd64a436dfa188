//! GOAL: what its texts and binary files say, what is refused, and that what is written reads back.

use crate::reading::{read_bytes, read_path};
use crate::samples;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use trace::collected::CollectedOperation;
use trace::formats::goal;
use trace::operation::{ANY_SOURCE, ANY_TAG};
use trace::{Collected, Kind, Lists, Operation, ReadStop, TraceForm, TraceHeader, TraceSink, TraceSummary};

/// What a trace says, whatever it was read from: operations with sorted lists.
#[allow(clippy::type_complexity)]
fn said(all: &Collected) -> Vec<Vec<(Operation, Vec<u32>, Vec<u32>)>> {
    let sorted = |list: &[u32]| {
        let mut list = list.to_vec();
        list.sort_unstable();
        list
    };
    let rank = |listed: &CollectedOperation| (listed.operation, sorted(&listed.after), sorted(&listed.after_start));
    all.ranks.iter().map(|all| all.iter().map(rank).collect()).collect()
}

fn text_of(all: &Collected) -> Result<Vec<u8>, ReadStop> {
    let mut out = Vec::new();
    all.tell(&mut goal::write_text(&mut out))?;
    Ok(out)
}

fn binary_of(all: &Collected) -> Result<Vec<u8>, ReadStop> {
    let mut out = Vec::new();
    all.tell(&mut goal::write_binary(&mut out))?;
    Ok(out)
}

/// The shared samples, where they are beside the project.
fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/reference/traces")
        .join(name);
    if !path.exists() {
        eprintln!("{} is not there: nothing is compared", path.display());
    }
    path.exists().then_some(path)
}

#[test]
fn samples_are_recognised_and_read_without_problems() {
    for sample in samples::all().iter().filter(|sample| sample.format.starts_with("goal")) {
        let folder = tempfile::tempdir().unwrap();
        let (all, words) = read_path(&sample.write(folder.path()));
        assert_eq!((&*all.header.format, words), (sample.format, vec![]), "{}", sample.name);
    }
}

#[test]
fn a_text_says_what_its_statements_say() {
    let (all, words) = read_bytes("every.goal", samples::goal::TEXT.as_bytes());
    assert_eq!(words, [""; 0]);
    assert_eq!(
        (all.header.ranks, all.header.form, &*all.header.format),
        (3, TraceForm::Graph, "goal")
    );
    let message = |kind, peer, bytes, tag, lane, nic| Operation {
        lane,
        nic,
        ..Operation::message(kind, peer, bytes, tag)
    };
    let compute = |time, lane| Operation {
        lane,
        ..Operation::compute(time)
    };
    let (send, recv) = (Kind::Send, Kind::Recv);
    let first = [
        (compute(1_000_000, 0), vec![], vec![]),
        (message(send, 1, 8, 7, 0, 3), vec![0], vec![]),
        (message(send, 1, 16, 0, 0, 0), vec![], vec![]),
        (message(recv, 1, 8, 3, 255, 0), vec![0], vec![1]),
    ];
    let second = [
        (message(recv, 0, 8, 7, 1, 2), vec![], vec![]),
        (message(recv, ANY_SOURCE, 16, ANY_TAG, 0, 0), vec![], vec![]),
        (compute(5000, 1), vec![], vec![]),
        (message(send, 0, 8, 3, 0, 0), vec![0], vec![1]),
    ];
    assert_eq!(said(&all), [first.to_vec(), second.to_vec(), vec![]]);
    let lines: Vec<u64> = all.ranks[1].iter().map(|listed| listed.record).collect();
    assert_eq!(lines, [6, 7, 8, 9]);
}

#[test]
fn a_binary_file_says_the_same_as_its_text() {
    let (text, _) = read_bytes("every.goal", samples::goal::TEXT.as_bytes());
    let (binary, words) = read_bytes("every.bin", &samples::goal::binary());
    assert_eq!(words, [""; 0]);
    assert_eq!(said(&binary), said(&text));
    assert_eq!(binary.header.format, "goal-binary");
    let records: Vec<u64> = binary.ranks[1].iter().map(|listed| listed.record).collect();
    assert_eq!(records, [0, 1, 2, 3]);
}

#[test]
fn parts_of_ranks_may_lie_in_any_order_with_gaps_and_none_for_a_rank_that_does_nothing() {
    let calc = |ns| samples::goal::part(&[0], &[(3, 0, ns, 0, 0, 0, 0, (0, 0), (0, 0))], &[]);
    let mut bytes = samples::goal::file([0, 0], &[calc(1), vec![], calc(3)]);
    let (begin, length) = (6 + 3 * 16, calc(1).len() as u64);
    // The first part moves behind the third, with seven bytes between.
    let entries = [
        (begin + 2 * length + 7, begin + 3 * length + 7),
        (0, 0),
        (begin + length, begin + 2 * length),
    ];
    for (i, (from, to)) in entries.iter().enumerate() {
        bytes[14 + 16 * i..][..8].copy_from_slice(&from.to_le_bytes());
        bytes[22 + 16 * i..][..8].copy_from_slice(&to.to_le_bytes());
    }
    bytes.extend([0; 7]);
    bytes.extend(calc(1));
    let (all, words) = read_bytes("x.bin", &bytes);
    assert_eq!(words, [""; 0]);
    let times: Vec<Vec<u64>> = all
        .ranks
        .iter()
        .map(|all| all.iter().map(|one| one.operation.time).collect())
        .collect();
    assert_eq!(times, [vec![1000], vec![], vec![3000]]);
}

#[test]
fn texts_that_cannot_be_meant_are_refused_with_line_rank_and_words() {
    let refused = |text: &str| read_bytes("x.goal", text.as_bytes()).1.join(" | ");
    let inside = |text: &str| refused(&format!("num_ranks 2\nrank 1 {{\n{text}\n}}\n"));
    let cases: &[(String, &str)] = &[
        (
            refused(""),
            "x.goal, record 0: the file ends before the number of ranks",
        ),
        (refused("// only a comment"), "the file ends before the number of ranks"),
        (refused("/* num_ranks 1"), "record 1: a comment has no end"),
        (refused("num_ranks 0"), "x.goal, record 1: it has no ranks"),
        (
            refused("num_ranks\n2"),
            "expected the number of ranks, not the end of the line",
        ),
        (refused("num_ranks 4294967295"), "4294967295 ranks are too many"),
        (
            refused("num_ranks 99999999999999999999"),
            "is too large; numbers have at most 64 bits",
        ),
        (
            refused("num_ranks 2\nrank 2 {\n}"),
            "record 2: there is no rank 2, there are 2 ranks; ranks are 0 to 1",
        ),
        (
            refused("num_ranks 2\nrank 1 {\n}\nrank 1 {\n}"),
            "record 4: rank 1 comes twice",
        ),
        (
            refused("num_ranks 2\nrank 1\nx"),
            "x.goal, rank 1, record 3: expected a { that opens the rank",
        ),
        (
            refused("num_ranks 2\nrank 1 {\n"),
            "x.goal, rank 1, record 2: the file ends before the rank does",
        ),
        (refused("num_ranks 2\n}"), "expected the next rank, not \"}\""),
        (
            inside("l1: sent 8b to 0"),
            "rank 1, record 3: there is no operation \"sent\"; a line is",
        ),
        (inside("l1:"), "there is no operation at the end of the line"),
        (inside("17"), "expected a label or an operation, not \"17\""),
        (inside("send 8 to 0"), "expected \"b\", not \"to 0\""),
        (inside("send 8b from 0"), "expected \"to\", not \"from 0\""),
        (inside("recv 8b to 0"), "expected \"from\", not \"to 0\""),
        (inside("send 8b to"), "expected a rank, not the end of the line"),
        (inside("recv 8b from 4294967294"), "a rank: 4294967294 is too large"),
        (inside("recv 8b from -12"), "expected a rank, not \"-12\""),
        (inside("send 8b to 0 tag 4294967296"), "a tag: 4294967296 is too large"),
        (inside("send -8b to 0"), "expected bytes, not \"-8b to 0\""),
        (
            inside("send 8b to 0 nic 1 cpu 1"),
            "expected the end of the line, not \"cpu 1\"",
        ),
        (
            inside("send 8b to 0 tag 1 tag 1"),
            "expected the end of the line, not \"tag 1\"",
        ),
        (inside("send 8b to 0 cpu 256"), "there is no cpu 256; they are 0 to 255"),
        (inside("calc 5 nic 1"), "expected the end of the line, not \"nic 1\""),
        (inside("calc 18446744073709552"), "18446744073709552 ns are too long"),
        (inside("calc 5 calc 6"), "expected the end of the line, not \"calc 6\""),
        (
            inside("a: calc 1\na: calc 2"),
            "record 4: the label \"a\" is that of line 3 already",
        ),
        (
            inside("a: calc 1\na requires b\nb: calc 2"),
            "record 4: there is no label \"b\" above",
        ),
        (
            inside("a requires b"),
            "no label \"a\" above; dependencies name labels of operations of the same rank that stand before them | ",
        ),
        (
            inside("a: calc 1\na requires"),
            "expected the label of what is waited for, not the end",
        ),
        (inside("a: calc 1\na requires a"), "an operation waits for itself"),
        (
            inside("a: put 8b to 0"),
            "there is no operation \"put\"; LogGOPSim2's dialect is not read",
        ),
        (
            inside("calcgem5 8"),
            "there is no operation \"calcgem5\"; LogGOPSim2's dialect is not read",
        ),
    ];
    for (found, words) in cases {
        assert!(found.contains(words), "{found:?} does not say {words:?}");
    }
}

#[test]
fn a_message_that_names_nobody_is_told_of_once() {
    use crate::samples::goal::{file, part};
    let folder = tempfile::tempdir().unwrap();
    let told = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        trace::info::info(&path, None, &mut |_| true).unwrap().problems
    };
    let text = |line: &str| format!("num_ranks 2\nrank 1 {{\n{line}\n}}\n").into_bytes();
    let of_one = |kind, peer, tag| {
        file(
            [0, 0],
            &[part(&[0], &[(kind, peer, 5, tag, 0, 0, 0, (0, 0), (0, 0))], &[])],
        )
    };
    for (name, bytes, words) in [
        (
            "x.goal",
            text("send 8b to 2"),
            "rank 1, record 3: there is no rank 2 to talk to; ranks are 0..=1",
        ),
        (
            "x.goal",
            text("recv 8b from 7"),
            "rank 1, record 3: there is no rank 7 to talk to; ranks are 0..=1",
        ),
        (
            "x.goal",
            text("send 8b to -1"),
            "rank 1, record 3: send to any rank; ranks are 0..=1",
        ),
        (
            "x.goal",
            text("send 8b to 0 tag -1"),
            "rank 1, record 3: send with any tag; only receives may leave it open",
        ),
        (
            "x.bin",
            of_one(1, 1, 0),
            "rank 0, record 0: there is no rank 1 to talk to; ranks are 0..=0",
        ),
        (
            "x.bin",
            of_one(2, u32::MAX - 1, 0),
            "rank 0, record 0: recv does not say whom to receive from; ranks are 0..=0",
        ),
        (
            "x.bin",
            of_one(1, u32::MAX, 0),
            "rank 0, record 0: send to any rank; ranks are 0..=0",
        ),
        (
            "x.bin",
            of_one(1, 0, u32::MAX),
            "rank 0, record 0: send with any tag; only receives may leave it open",
        ),
    ] {
        let problems = told(name, &bytes);
        assert!(
            problems.len() == 1 && problems[0].ends_with(words),
            "{problems:?} is not {words}"
        );
    }
}

#[test]
fn labels_of_another_rank_are_not_known() {
    let text = "num_ranks 2\nrank 0 {\na: calc 1\n}\nrank 1 {\nb: calc 1\nb requires a\n}\n";
    let (_, words) = read_bytes("x.goal", text.as_bytes());
    assert_eq!(words.len(), 1);
    assert!(
        words[0].starts_with("x.goal, rank 1, record 7: there is no label \"a\" above"),
        "{words:?}"
    );
}

#[test]
fn words_of_the_language_may_be_labels() {
    let text = "num_ranks 1\nrank 0 {\nsend: calc 1\ncalc5:calc5\nrequires: calc 2\nrequires requires send\ncalc5 requires send\n}";
    let (all, words) = read_bytes("x.goal", text.as_bytes());
    assert_eq!(words, [""; 0]);
    let after: Vec<&[u32]> = all.ranks[0].iter().map(|listed| &*listed.after).collect();
    assert_eq!(after, [&[][..], &[0], &[0]]);
}

#[test]
fn binary_files_that_cannot_be_meant_are_refused_with_rank_and_words() {
    use crate::samples::goal::{file, part};
    let none = (0, 0);
    let calc = (3, 0, 5, 0, 0, 0, 0, none, none);
    let refused = |bytes: &[u8]| read_bytes("x.bin", bytes).1.join(" | ");
    let one = |part: Vec<u8>| refused(&file([0, 0], &[part]));
    let whole = samples::goal::binary();
    let set = |at: usize, number: u64| {
        let mut bytes = whole.clone();
        bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        refused(&bytes)
    };
    let cases: &[(String, &str)] = &[
        (refused(&whole[..8]), "x.bin: it ends within its first numbers"),
        (refused(&file([0, 0], &[])), "it has no ranks"),
        (refused(&whole[..40]), "it ends within the table of its parts"),
        (refused(&whole[..whole.len() - 1]), "it ends within the part of rank 2"),
        (set(14, u64::MAX), "rank 0: its part lies behind every file"),
        (set(14, 0), "rank 0: its part goes from byte 8 to byte"),
        (set(22, 4), "rank 0: its part goes from byte"),
        (set(46, 90), "its part overlaps with that of rank"),
        (one(vec![1, 0, 0]), "rank 0: its part of 3 bytes is too short"),
        (
            one(part(&[0], &[calc], &[])[..40].to_vec()),
            "its part of 40 bytes is too short",
        ),
        (
            one(part(&[0], &[(4, 0, 5, 0, 0, 0, 0, none, none)], &[])),
            "record 0: there is no operation of type 4; 1 is a send",
        ),
        (
            one(part(&[0], &[(4, 0, 5, 0, 0, 0, 0, none, none)], &[])),
            "LogGOPSim2's dialect",
        ),
        (
            one(part(&[0], &[(3, 0, u64::MAX, 0, 0, 0, 0, none, none)], &[])),
            "18446744073709551615 ns are too long",
        ),
        (
            one(part(&[0], &[(3, 0, 5, 0, 0, 0, 0, (0, 1), none)], &[])),
            "those that wait for it are 1 from entry 0 on, which are not there",
        ),
        (
            one(part(&[0], &[(3, 0, 5, 0, 0, 0, 0, (u32::MAX, u32::MAX), none)], &[])),
            "which are not there",
        ),
        (
            one(part(&[0], &[(3, 0, 5, 0, 0, 0, 0, (0, 1), none)], &[1])),
            "operation 1 waits for it, there are 1",
        ),
        (
            one(part(&[], &[(3, 0, 5, 0, 0, 0, 1, none, (0, 1))], &[0])),
            "an operation waits for itself",
        ),
        (
            one(part(&[0, 1], &[(3, 0, 5, 0, 0, 0, 0, (0, 1), none), calc], &[1])),
            "record 1: it is to wait for 0 others, 1 name it",
        ),
        (
            one(part(&[0], &[calc, calc], &[])),
            "record 1: it waits for 0 others and is not listed to start at once",
        ),
        (
            one(part(&[1], &[calc], &[])),
            "it is listed to start at once, there are 1 operations",
        ),
    ];
    for (found, words) in cases {
        assert!(found.contains(words), "{found:?} does not say {words:?}");
    }
}

#[test]
fn nodes_that_share_the_appendix_are_refused() {
    // Otherwise the work would be the square of the size.
    let nodes = vec![(3, 0, 5, 0, 0, 0, 0, (0, 1000), (0, 0)); 1000];
    let bytes = samples::goal::file([0, 0], &[samples::goal::part(&[], &nodes, &[7; 1000])]);
    let (_, words) = read_bytes("x.bin", &bytes);
    assert!(
        words
            .last()
            .unwrap()
            .contains("record 1: those that wait for it are 1000"),
        "{:?}",
        words.last()
    );
}

#[test]
fn the_shared_sample_has_its_figures_and_is_written_to_the_byte() {
    let Some(folder) = shared("") else { return };
    let expected: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.join("expected.json")).unwrap()).unwrap();
    let figures = &expected["goal/binary_tree_32"];
    let paths = ["goal", "bin"].map(|ending| folder.join(format!("goal/binary_tree_32.{ending}")));
    let [text, binary] = paths.clone().map(|path| {
        let (all, words) = read_path(&path);
        assert_eq!(words, [""; 0]);
        let mut summary = TraceSummary::default();
        all.tell(&mut summary).unwrap();
        let number = |name: &str| figures[name].as_u64().unwrap();
        let kinds = [
            ("send", number("sends")),
            ("recv", number("recvs")),
            ("compute", number("calcs")),
        ];
        let kinds: BTreeMap<_, _> = kinds.into_iter().filter(|kind| kind.1 > 0).collect();
        assert_eq!(summary.operations, kinds);
        assert_eq!(u64::from(summary.ranks), number("ranks"));
        assert_eq!(summary.bytes_sent, number("bytes"));
        assert_eq!(summary.compute_ns, Some(number("calc_ns") as f64));
        assert_eq!(summary.dependencies, number("requires") + number("irequires"));
        all
    });
    assert_eq!(said(&text), said(&binary));
    assert_eq!(binary_of(&text).unwrap(), std::fs::read(&paths[1]).unwrap());
    let words = |text: &[u8]| -> Vec<String> {
        let text = String::from_utf8_lossy(text).into_owned();
        text.split_ascii_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(
        words(&text_of(&binary).unwrap()),
        words(&std::fs::read(&paths[0]).unwrap())
    );
}

/// A graph of some ranks: operations with lists of those before and behind them.
fn graphs() -> impl Strategy<Value = Collected> {
    let peer = |ranks: u32| prop_oneof![4 => 0..ranks, 1 => Just(ANY_SOURCE)];
    let tag = prop_oneof![Just(0), 0..u32::MAX, Just(ANY_TAG)];
    let size = prop_oneof![0..10_u64, Just(u64::MAX - 1), any::<u32>().prop_map(u64::from)];
    let lane = prop_oneof![Just(0_u8), any::<u8>()];
    (1..5_u32).prop_flat_map(move |ranks| {
        let operation = (
            0..3_usize,
            peer(ranks),
            size.clone(),
            tag.clone(),
            lane.clone(),
            lane.clone(),
        );
        let operation = operation.prop_map(move |(kind, peer, bytes, tag, lane, nic)| {
            let kind = [Kind::Send, Kind::Recv, Kind::Compute][kind];
            let (peer, tag) = match kind {
                Kind::Send => (peer.min(ranks - 1), tag.min(ANY_TAG - 1)),
                _ => (peer, tag),
            };
            match kind {
                Kind::Compute => Operation {
                    lane,
                    ..Operation::compute(bytes % 1_000_000 * 1000)
                },
                _ => Operation {
                    lane,
                    nic,
                    ..Operation::message(kind, peer, bytes, tag)
                },
            }
        });
        let waits = proptest::collection::vec((any::<u32>(), any::<bool>()), 0..4);
        let rank = proptest::collection::vec((operation, waits), 0..12);
        proptest::collection::vec(rank, ranks as usize).prop_map(move |all| {
            let rank = |list: Vec<(Operation, Vec<(u32, bool)>)>| {
                let n = list.len() as u32;
                let listed = |(i, (operation, waits)): (u32, (Operation, Vec<(u32, bool)>))| {
                    let of = |started: bool| -> Vec<u32> {
                        let some = waits.iter().filter(|wait| wait.1 == started);
                        some.map(|wait| wait.0 % n).filter(|&other| other != i).collect()
                    };
                    CollectedOperation {
                        operation,
                        after: of(false),
                        after_start: of(true),
                        ..CollectedOperation::default()
                    }
                };
                (0..).zip(list).map(listed).collect()
            };
            Collected {
                header: TraceHeader::new("a test", ranks, TraceForm::Graph),
                ranks: all.into_iter().map(rank).collect(),
                names: Vec::new(),
            }
        })
    })
}

proptest! {
    #[test]
    fn what_is_written_reads_back_as_text_and_as_binary_file(graph in graphs()) {
        let text = text_of(&graph).unwrap();
        let (from_text, words) = read_bytes("x.goal", &text);
        prop_assert_eq!(words, [""; 0]);
        prop_assert_eq!(said(&from_text), said(&graph));
        let binary = binary_of(&from_text).unwrap();
        let (from_binary, words) = read_bytes("x.bin", &binary);
        prop_assert_eq!(words, [""; 0]);
        prop_assert_eq!(said(&from_binary), said(&graph));
        prop_assert_eq!(&binary_of(&from_binary).unwrap(), &binary);
        let again = read_bytes("x.goal", &text_of(&from_binary).unwrap()).0;
        prop_assert_eq!(said(&again), said(&graph));
    }

    #[test]
    fn ranks_that_take_turns_are_written_as_if_they_did_not(graph in graphs()) {
        let turns = |sink: &mut dyn TraceSink| {
            sink.begin(&graph.header).unwrap();
            for i in 0..12 {
                for (rank, all) in (0..).zip(&graph.ranks) {
                    if let Some(one) = all.get(i) {
                        sink.operation(rank, 0, &one.operation, &one.lists()).unwrap();
                    }
                }
            }
            sink.end(&[]).unwrap();
        };
        let (mut text, mut binary) = (Vec::new(), Vec::new());
        turns(&mut goal::write_text(&mut text));
        turns(&mut goal::write_binary(&mut binary));
        prop_assert_eq!(text, text_of(&graph).unwrap());
        prop_assert_eq!(binary, binary_of(&graph).unwrap());
    }
}

#[test]
fn what_goal_cannot_say_is_refused_by_both_writers() {
    let graph = TraceHeader::new("a test", 2, TraceForm::Graph);
    let refused = |header: &TraceHeader, operation: Operation, after: &[u32]| {
        let all = Collected {
            header: header.clone(),
            ranks: vec![
                vec![CollectedOperation {
                    operation,
                    after: after.to_vec(),
                    ..CollectedOperation::default()
                }],
                vec![],
            ],
            names: vec![],
        };
        let (text, binary) = (text_of(&all), binary_of(&all));
        assert_eq!(text, binary);
        match text {
            Err(ReadStop::Refused(words)) => words,
            other => panic!("{other:?}"),
        }
    };
    let send = Operation::message(Kind::Send, 1, 8, 0);
    let has = |words: String, part: &str| assert!(words.contains(part), "{words:?} does not say {part:?}");
    has(
        refused(&TraceHeader::new("a test", 2, TraceForm::Program), send, &[]),
        "GOAL has graphs only",
    );
    let instructions = TraceHeader {
        unit: trace::WorkUnit::Instructions,
        ..graph.clone()
    };
    has(refused(&instructions, send, &[]), "GOAL has nanoseconds");
    has(
        refused(&graph, Operation::collective(Kind::Allreduce, 0, 8), &[]),
        "it has no allreduce",
    );
    let unknown = Operation {
        bytes: trace::operation::UNKNOWN_SIZE,
        ..send
    };
    has(refused(&graph, unknown, &[]), "does not tell the size of a message");
    let other = Operation {
        communicator: 1,
        ..send
    };
    has(refused(&graph, other, &[]), "is of a communicator");
    let mode = Operation {
        mode: trace::Mode::Synchronous,
        ..send
    };
    has(refused(&graph, mode, &[]), "it has no modes of sends");
    has(refused(&graph, send, &[0]), "operation 0 of rank 0 waits for itself");
    has(refused(&graph, send, &[1]), "waits for operation 1, which is not there");
}

#[test]
fn computations_are_rounded_to_nanoseconds_and_counted() {
    let mut out = Vec::new();
    let mut writer = goal::write_text(&mut out);
    writer.begin(&TraceHeader::new("a test", 1, TraceForm::Graph)).unwrap();
    for time in [0, 499, 500, 1000, 1499] {
        writer
            .operation(0, 0, &Operation::compute(time), &Lists::default())
            .unwrap();
    }
    writer.end(&[]).unwrap();
    assert_eq!(writer.rounded(), 3);
    drop(writer);
    let (all, _) = read_bytes("x.goal", &out);
    let times: Vec<u64> = all.ranks[0].iter().map(|one| one.operation.time).collect();
    assert_eq!(times, [0, 0, 1000, 1000, 1000]);
}

#[test]
fn packed_files_are_read_like_others() {
    use std::io::Write;
    for (name, bytes) in [
        ("x.goal.gz", samples::goal::TEXT.as_bytes().to_vec()),
        ("x.bin.gz", samples::goal::binary()),
    ] {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(&bytes).unwrap();
        let (packed, words) = read_bytes(name, &packer.finish().unwrap());
        assert_eq!(words, [""; 0]);
        assert_eq!(said(&packed), said(&read_bytes("x", &bytes).0));
    }
}

#[test]
fn texts_longer_than_a_piece_are_read_whole() {
    let mut text = "num_ranks 1\nrank 0 {\n".to_owned();
    let n = 40_000;
    for i in 0..n {
        writeln!(text, "l{i}: calc {i} cpu {}", i % 3).unwrap();
        if i > 0 {
            writeln!(text, "l{i} requires l{}", i - 1).unwrap();
        }
    }
    text.push('}');
    let (all, words) = read_bytes("x.goal", text.as_bytes());
    assert_eq!(words, [""; 0]);
    for (i, one) in (0..n).zip(&all.ranks[0]) {
        assert_eq!((one.operation.time, one.operation.lane), (1000 * i, (i % 3) as u8));
        assert_eq!(one.after, (i as u32).checked_sub(1).into_iter().collect::<Vec<u32>>());
    }
    assert_eq!(all.ranks[0].len() as u64, n);
}
