//! What is told of a trace, and the same trace in another format.

use crate::samples;
use crate::samples::work::everything;
use std::path::{Path, PathBuf};
use trace::collected::CollectedOperation;
use trace::convert::{Converted, convert};
use trace::info::{Info, info};
use trace::traffic::RankPair;
use trace::{Collected, Kind, Operation, ReadProgress, ReadStop, TraceForm, TraceHeader};

fn told(path: &Path) -> Info {
    info(path, None, &mut |_| true).expect("nobody interrupts")
}

fn converted(path: &Path, out: &Path, to: &str, repair: bool) -> Result<Converted, ReadStop> {
    convert(path, None, out, to, repair, &mut |_| true)
}

fn read(path: &Path) -> Collected {
    let read = Collected::of(|reader| trace::read(path, None, reader));
    read.expect("it can be read").0
}

/// A sample that is beside the project, if it is.
fn reference(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference/traces");
    let path = root.join(name);
    if !path.exists() {
        eprintln!("passed over: {name} is not beside the project");
    }
    path.exists().then_some(path)
}

/// Three ranks: 0 sends two messages to 1, of which one is received, and computes; 2 waits for what nobody sends.
fn unmatched() -> Collected {
    let listed = |operation| CollectedOperation {
        operation,
        ..CollectedOperation::default()
    };
    let message = |kind, peer, bytes| listed(Operation::message(kind, peer, bytes, 5));
    let region = Operation {
        region: 0,
        ..Operation::compute(2_000_000)
    };
    Collected {
        header: TraceHeader::new("smpi", 3, TraceForm::Program),
        ranks: vec![
            vec![
                message(Kind::Send, 1, 100),
                listed(region),
                message(Kind::Send, 1, 100),
                listed(Operation::compute(500)),
            ],
            vec![message(Kind::Recv, 0, 100)],
            vec![message(Kind::Recv, 1, 8)],
        ],
        names: vec!["solve".into()],
    }
}

#[test]
fn figures_pairs_and_regions_are_told() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("it.work");
    samples::work::write(&unmatched(), &path);
    let told = told(&path);
    assert!(!told.complete, "rank 2 waits for ever");
    assert_eq!(
        (told.summary.format.as_str(), told.recorded_as.as_str()),
        ("work", "smpi")
    );
    assert_eq!((told.summary.ranks, told.records, told.summary.bytes_sent), (3, 6, 200));
    assert_eq!(told.summary.compute_ns, Some(2000.5));
    assert_eq!((told.unmatched_sends, told.unmatched_receives), (Some(1), Some(1)));
    assert_eq!(told.problems.len(), 2, "{:?}", told.problems);
    let pair = RankPair {
        from: 0,
        to: 1,
        messages: 2,
        bytes: 200,
    };
    assert_eq!((told.number_of_pairs, told.pairs), (Some(1), vec![pair]));
    let regions = told.time_in_regions.expect("they can be counted");
    let regions: Vec<_> = regions
        .iter()
        .map(|region| (region.region.as_deref(), region.operations, region.compute_ns))
        .collect();
    assert_eq!(regions, [(Some("solve"), 1, Some(2000.0)), (None, 5, Some(0.5))]);
}

#[test]
fn a_broken_file_is_told_with_what_could_be_read() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("it.goal");
    let text = "num_ranks 2\nrank 0 {\nl1: send 8b to 1\n}\nrank 1 {\nl1: recv 8b frm 0\n}\n";
    std::fs::write(&path, text).expect("it can be written");
    let broken = told(&path);
    assert!(!broken.complete);
    assert_eq!(broken.summary.operations.get("send"), Some(&1));
    assert_eq!(broken.unmatched_sends, None);
    assert_eq!(broken.problems.len(), 1);
    let missing = told(&folder.path().join("nothing"));
    assert!(
        !missing.complete && missing.problems[0].contains("cannot be read"),
        "{:?}",
        missing.problems
    );
    assert_eq!(missing.summary.format, "");
}

#[test]
fn what_is_no_trace_is_told_with_reason_and_hint() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let put = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).expect("it can be written");
    let graph: String = (0..4000).fold("num_ranks 1\nrank 0 {\n".into(), |text, i| {
        text + &format!("a{i}: calc {}\n", i * 7919 % 1009)
    });
    let packed = samples::chakra::gzip(format!("{graph}}}\n").as_bytes());
    put("cut.goal.gz", &packed[..packed.len() / 2]);
    put("short.goal.gz", &packed[..12]);
    put("empty.csv", b"");
    put("hello.txt", b"hello world\n");
    std::fs::create_dir(folder.path().join("nothing")).expect("a folder");
    std::fs::create_dir(folder.path().join("some")).expect("a folder");
    put("some/README", b"hello");
    let anchor = &samples::otf2::all()[0];
    anchor.write(folder.path());
    std::fs::rename(folder.path().join(anchor.open), folder.path().join("other.otf2")).expect("it is renamed");
    for (name, reason, hint) in [
        (
            "cut.goal.gz",
            "it cannot be read on: ",
            "was it cut or damaged? copy it again",
        ),
        (
            "short.goal.gz",
            "it cannot be unpacked: ",
            "was it cut or damaged? copy it again",
        ),
        ("empty.csv", "it is empty", "tells which file to name"),
        (
            "hello.txt",
            "this is no trace of a known format",
            "tells which file to name",
        ),
        ("nothing", "the folder is empty", "tells which file to name"),
        ("some", "this folder holds no trace", "tells which file to name"),
        (
            "other.otf2",
            "it cannot be read: ",
            "files of one trace stay beside each other",
        ),
    ] {
        let told = told(&folder.path().join(name));
        assert!(
            !told.complete && told.problems.len() == 1,
            "{name}: {:?}",
            told.problems
        );
        let found = told.problems[0].split_once(": ").map_or("", |(_, words)| words);
        assert!(found.starts_with(reason) && found.contains(hint), "{name}: {found}");
    }
}

#[test]
fn a_graph_goes_through_the_file_of_work_unchanged() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let paths = ["a.goal", "b.work", "c.bin", "d.work", "e.goal"].map(|name| folder.path().join(name));
    let text = "num_ranks 2\nrank 0 {\nl1: calc 3\nl2: send 8b to 1 tag 4\nl2 requires l1\n}\n\
        rank 1 {\nl1: recv 8b from -1 tag -1 cpu 1\nl2: calc 7\nl2 irequires l1\n}\n";
    std::fs::write(&paths[0], text).expect("it can be written");
    for (pair, to) in paths.windows(2).zip(["work", "goal-binary", "work", "goal"]) {
        let done = converted(&pair[0], &pair[1], to, false).expect("it can be converted");
        assert_eq!((done.operations, done.problems.len(), done.to.as_str()), (4, 0, to));
    }
    let (first, last) = (read(&paths[0]), read(&paths[4]));
    let operations = |trace: &Collected| -> Vec<_> {
        let all = trace.ranks.iter().flatten();
        all.map(|listed| (listed.operation, listed.after.clone(), listed.after_start.clone()))
            .collect()
    };
    assert_eq!(operations(&first), operations(&last));
    assert_eq!(read(&paths[1]).ranks, first.ranks);
    let left = std::fs::read_dir(folder.path()).expect("it is a folder").count();
    assert_eq!(left, paths.len());
}

#[test]
fn repair_leaves_out_what_does_not_match() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let (path, out) = (folder.path().join("it.work"), folder.path().join("out.work"));
    samples::work::write(&unmatched(), &path);
    let done = converted(&path, &out, "work", true).expect("it can be converted");
    assert_eq!((done.operations, done.left_out.values().sum::<u64>()), (4, 2));
    let told = told(&out);
    assert_eq!((told.unmatched_sends, told.unmatched_receives), (Some(0), Some(0)));
    assert!(told.problems.is_empty(), "{:?}", told.problems);
}

#[test]
fn what_cannot_be_written_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let (path, out) = (folder.path().join("it.work"), folder.path().join("out"));
    samples::work::write(&everything(2, 1), &path);
    for (to, words) in [
        ("goal", "GOAL cannot be written"),
        ("goal-binary", "GOAL cannot be written"),
        ("otf3", "no format \"otf3\" can be written"),
    ] {
        match converted(&path, &out, to, false) {
            Err(ReadStop::Refused(reason)) => assert!(reason.contains(words), "{reason}"),
            other => panic!("{other:?}"),
        }
    }
    match converted(&path, &path, "work", false) {
        Err(ReadStop::Refused(reason)) => assert!(reason.contains("is read, and cannot be written"), "{reason}"),
        other => panic!("{other:?}"),
    }
    let mut whole = std::fs::read(&path).expect("it can be read");
    let middle = whole.len() / 4;
    whole[middle] ^= 1;
    std::fs::write(&path, whole).expect("it can be written");
    assert!(matches!(
        converted(&path, &out, "work", false),
        Err(ReadStop::Broken(_))
    ));
    assert_eq!(std::fs::read_dir(folder.path()).expect("it is a folder").count(), 1);
}

#[test]
fn both_passes_of_a_repair_are_one_progress_and_can_be_interrupted() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let (path, out) = (folder.path().join("it.work"), folder.path().join("out.work"));
    let mut trace = unmatched();
    trace.ranks[0].extend(vec![CollectedOperation::default(); 50_000]);
    samples::work::write(&trace, &path);
    let mut seen: Vec<ReadProgress> = Vec::new();
    let done = convert(&path, None, &out, "work", true, &mut |progress| {
        seen.push(progress);
        true
    });
    assert!(done.is_ok());
    assert!(seen.windows(2).all(|pair| pair[0].done <= pair[1].done));
    let last = seen.last().expect("it is told");
    assert!(last.all > 0 && last.done * 10 > last.all * 9 && last.done <= last.all);
    let mut left = seen.len() / 2 + 2;
    let stopped = convert(&path, None, &folder.path().join("two.work"), "work", true, &mut |_| {
        left -= 1;
        left > 0
    });
    assert_eq!(stopped.err(), Some(ReadStop::Interrupted));
    assert_eq!(std::fs::read_dir(folder.path()).expect("it is a folder").count(), 2);
}

/// The files of a sample of `expected.json`: one name for each way to read it.
fn files_of(sample: &str) -> Vec<String> {
    match sample.split('/').next() {
        Some("goal") => ["goal", "bin"].map(|ending| format!("{sample}.{ending}")).into(),
        Some("dumpi") => vec![format!("{sample}.meta"), "dumpi".into()],
        _ => vec![sample.to_owned()],
    }
}

/// What `info` says of a sample for a field of `expected.json`, as far as both have it.
fn figure(info: &serde_json::Value, field: &str) -> Option<serde_json::Value> {
    let count = |kind: &str| info["operations"].get(kind).cloned().unwrap_or(0.into());
    Some(match field {
        "locations" | "files" => info["ranks"].clone(),
        "sends" => count("send"),
        "recvs" => count("recv"),
        "calcs" => count("compute"),
        "bytes" | "send_bytes" => info["bytes_sent"].clone(),
        "calc_ns" => info["compute_ns"].clone(),
        "duration_us" => (info["compute_ns"].as_f64()? / 1e3).into(),
        "unmatched_recvs" => info["unmatched_receives"].clone(),
        _ => info.get(field)?.clone(),
    })
}

/// Operations of `info` for calls, nodes and collectives that `expected.json` counts by name; those that are no operations are left out.
fn kind_of(field: &str, name: &str) -> Option<&'static str> {
    Some(match (field, name) {
        ("calls", "Barrier") => "barrier",
        ("calls", "Isend") => "isend",
        ("calls", "Recv") | ("nodes", "RECV") => "recv",
        ("calls", "Wait") => "wait",
        ("calls", "Allreduce") | ("nodes", "COLL") => "allreduce",
        ("nodes", "SEND") => "send",
        ("nodes", "COMP") => "compute",
        ("collective_end_by_op", "1") => "bcast",
        ("collective_end_by_op", "17") => "comm_create",
        ("collective_end_by_op", "18") => "comm_free",
        _ => return None,
    })
}

#[test]
fn every_figure_that_info_and_the_list_of_samples_have_is_the_same() {
    let Some(list) = reference("expected.json") else { return };
    let text = std::fs::read_to_string(list).expect("it can be read");
    let samples: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text).expect("it is JSON");
    let mut compared = Vec::new();
    for (sample, expected) in &samples {
        for name in files_of(sample) {
            let Some(path) = reference(&name) else { continue };
            let info = serde_json::to_value(told(&path)).expect("it can be written as JSON");
            assert_eq!(info["complete"], true, "{name}: {}", info["problems"]);
            for (field, value) in expected.as_object().expect("figures by name") {
                if let Some(counts) = value.as_object() {
                    for (own, count) in counts {
                        let Some(kind) = kind_of(field, own) else { continue };
                        assert_eq!(&info["operations"][kind], count, "{name}: {field}.{own}");
                        compared.push(format!("{sample}: {field}.{own}"));
                    }
                } else if let Some(found) = figure(&info, field) {
                    assert_eq!(found.as_f64(), value.as_f64(), "{name}: {field}");
                    compared.push(format!("{sample}: {field}"));
                }
            }
            // What waits for an end or a start is told by two numbers there.
            if let (Some(ends), Some(starts)) = (expected["requires"].as_u64(), expected["irequires"].as_u64()) {
                assert_eq!(info["dependencies"], ends + starts, "{name}");
            }
            // Every record of a trace of calls or events is counted by the list as well.
            for field in ["calls", "events_by_id"] {
                if let Some(counts) = expected[field].as_object() {
                    let all: u64 = counts.values().filter_map(serde_json::Value::as_u64).sum();
                    assert_eq!(info["records"], all, "{name}: {field}");
                }
            }
        }
    }
    for needed in [
        "otf2/sst-ember-4: communicators",
        "otf2/sst-ember-4: regions",
        "otf2/sst-ember-4: collective_end_by_op.17",
        "dumpi/testtrace: calls.Isend",
        "goal/binary_tree_32: unmatched_recvs",
        "chakra/custom_ring_allreduce_8npus_1MB: duration_us",
    ] {
        assert!(compared.iter().any(|own| own == needed), "{needed} is not compared");
    }
}

#[test]
fn counts_of_the_samples_are_those_of_their_list() {
    let expected = [
        (
            "goal/binary_tree_32.goal",
            "goal",
            32,
            vec![("send", 31), ("recv", 31)],
            31,
        ),
        (
            "goal/binary_tree_32.bin",
            "goal-binary",
            32,
            vec![("send", 31), ("recv", 31)],
            31,
        ),
        (
            "dumpi/testtrace.meta",
            "dumpi",
            4,
            vec![("isend", 4), ("recv", 4), ("wait", 4), ("barrier", 4), ("allreduce", 4)],
            16,
        ),
    ];
    for (name, format, ranks, counts, bytes) in expected {
        let Some(path) = reference(name) else { continue };
        let first = told(&path);
        assert!(first.complete, "{name}: {:?}", first.problems);
        assert_eq!(
            (first.summary.format.as_str(), first.summary.ranks),
            (format, ranks),
            "{name}"
        );
        assert_eq!(
            (first.unmatched_sends, first.unmatched_receives),
            (Some(0), Some(0)),
            "{name}"
        );
        assert_eq!(first.summary.bytes_sent, bytes, "{name}");
        for (kind, count) in counts {
            assert_eq!(first.summary.operations.get(kind), Some(&count), "{name}: {kind}");
        }
        // The same figures come from the file of work.
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let out = folder.path().join("it.work");
        converted(&path, &out, "work", false).expect("it can be converted");
        let second = told(&out);
        assert_eq!(second.recorded_as, format, "{name}");
        assert_eq!(second.summary.operations, first.summary.operations, "{name}");
        assert_eq!(second.summary.compute_ns, first.summary.compute_ns, "{name}");
        assert_eq!((second.pairs, second.problems), (first.pairs, first.problems), "{name}");
        assert_eq!(read(&out).ranks, read(&path).ranks, "{name}");
    }
}
