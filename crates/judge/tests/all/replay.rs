//! A trace that is played: its computations to the picosecond, its messages as a table of operations has them.

use fabric::spec::*;
use judge::run::{self, RunResult};
use std::fmt::Write as _;
use std::path::Path;
use topo::{Lattice, SingleRouterSpec, TopologySpec};

const COLUMNS: &str = "rank,op,peer,source,bytes,tag,communicator,request,time_ps\n";

/// Ranks that play a motif, one to each node.
fn spec(topology: TopologySpec, kind: &str, values: &[(&str, MotifValue)], iterations: u32) -> RunSpec {
    let motif = Motif {
        kind: kind.to_owned(),
        values: values
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.clone()))
            .collect(),
    };
    let mut spec = plain(topology);
    spec.jobs = vec![JobSpec {
        name: "job0".into(),
        work: Work::Ranks(Ranks {
            parts: vec![Part { motif, iterations }],
            per_node: 1,
            mapping: Mapping::Block,
            start: Start::InPhase,
            prelude: 0,
            mpi: MpiSpec::default(),
        }),
        nodes: None,
        placement: Placement::Linear,
    }];
    spec.control.end = None;
    spec
}

fn go(spec: &RunSpec) -> RunResult {
    run::run(spec, &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

fn file(path: &Path) -> (&'static str, MotifValue) {
    ("file", MotifValue::Text(path.to_str().unwrap().to_owned()))
}

/// A ring of ranks with messages below and above the threshold, blocking and not, and collectives.
fn table(ranks: u32) -> String {
    let mut text = COLUMNS.to_owned();
    for me in 0..ranks {
        let (next, before) = ((me + 1) % ranks, (me + ranks - 1) % ranks);
        for step in 0..5 {
            let bytes = [8, 3_000, 20_000][step % 3];
            writeln!(text, "{me},compute,,,,,,,{}", 700_001 * (u64::from(me) + 1)).unwrap();
            writeln!(text, "{me},irecv,{before},,{bytes},{step},,1,").unwrap();
            writeln!(text, "{me},isend,{next},,{bytes},{step},,2,").unwrap();
            writeln!(text, "{me},wait,,,,,,2,").unwrap();
            writeln!(text, "{me},waitall,,,,,,,").unwrap();
            writeln!(text, "{me},sendrecv,{next},{before},{bytes},40,,,").unwrap();
            writeln!(text, "{me},allreduce,,,{bytes},,,,").unwrap();
            writeln!(text, "{me},bcast,1,,{bytes},,,,").unwrap();
            writeln!(text, "{me},alltoall,,,16,,,,").unwrap();
        }
    }
    text
}

fn torus() -> TopologySpec {
    TopologySpec::Torus(Lattice {
        shape: vec![2, 2, 2],
        width: vec![],
        nodes_per_router: 1,
    })
}

#[test]
fn a_table_gives_the_same_run_as_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("ring.csv");
    std::fs::write(&own, table(8)).unwrap();
    let lulesh = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/reference/traces/ops/lulesh-8ranks-20it.csv.gz"
    );
    for path in [own.as_path(), Path::new(lulesh)] {
        if !path.exists() {
            eprintln!("not compared: {} is not there", path.display());
            continue;
        }
        let mut text = String::new();
        let mut bytes = std::fs::File::open(path).unwrap();
        match path.extension().is_some_and(|ending| ending == "gz") {
            true => std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(bytes), &mut text).unwrap(),
            false => std::io::Read::read_to_string(&mut bytes, &mut text).unwrap(),
        };
        let ranks = ("ranks", MotifValue::Integer(8));
        let as_table = spec(torus(), "ops", &[("table", MotifValue::Text(text)), ranks.clone()], 2);
        let as_trace = spec(torus(), "trace", &[file(path), ranks], 2);
        let (table, trace) = (go(&as_table), go(&as_trace));
        assert_eq!(table.ranks, trace.ranks, "{}", path.display());
        assert_eq!(table.summary.digest, trace.summary.digest, "{}", path.display());
        assert_eq!(table.summary.packets, trace.summary.packets);
    }
}

#[test]
fn every_rank_computes_exactly_as_long_as_in_the_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ring.csv");
    std::fs::write(&path, table(6)).unwrap();
    let single = || TopologySpec::SingleRouter(SingleRouterSpec { nodes: 6 });
    let told = |key: &'static str, word: &str| (key, MotifValue::Text(word.to_owned()));
    let none = || vec![file(&path), ("ranks", MotifValue::Integer(6))];
    let with = |more: &[(&'static str, MotifValue)]| none().into_iter().chain(more.iter().cloned()).collect::<Vec<_>>();
    let scaled = [told("compute", "scaled"), ("compute_scale", MotifValue::Number(3.0))];
    let keys = [(none(), 1), (with(&[told("compute", "zero")]), 0), (with(&scaled), 3)];
    for (values, times) in keys {
        let mut spec = spec(single(), "trace", &values, 2);
        // As near to a network that costs nothing as there is.
        spec.links.default.latency = des::Time(1);
        spec.links.default.bandwidth = BitsPerSec(100_000_000_000_000);
        spec.router.traversal = des::Time(0);
        if let Work::Ranks(ranks) = &mut spec.jobs[0].work {
            ranks.mpi = MpiSpec {
                send_overhead: des::Time(0),
                receive_overhead: des::Time(0),
                copy: None,
                combine: None,
                ..MpiSpec::default()
            };
        }
        let result = go(&spec);
        let all = |me: u64| times * 2 * 5 * 700_001 * (me + 1);
        for (me, rank) in (0..).zip(&result.ranks) {
            assert_eq!(rank.computed, all(me));
            assert_eq!(rank.computed + rank.waited + rank.worked, rank.finished - rank.begun);
            // The slowest rank is never waited for in vain.
            assert!(
                rank.finished >= all(5) && rank.finished < all(5) + 40_000_000,
                "{rank:?}"
            );
        }
    }
}

#[test]
fn a_rank_may_send_to_itself() {
    let folder = tempfile::tempdir().unwrap();
    for bytes in [0, 100, 100_000] {
        let path = folder.path().join(format!("self-{bytes}.csv"));
        let mut text = COLUMNS.to_owned();
        for me in 0..2 {
            writeln!(text, "{me},irecv,{me},,{bytes},1,,1,").unwrap();
            writeln!(text, "{me},send,{me},,{bytes},1,,,").unwrap();
            writeln!(text, "{me},wait,,,,,,1,").unwrap();
        }
        std::fs::write(&path, text).unwrap();
        let single = TopologySpec::SingleRouter(SingleRouterSpec { nodes: 2 });
        let result = go(&spec(single, "trace", &[file(&path)], 3));
        for rank in &result.ranks {
            assert!(rank.is_done());
            assert_eq!(
                (rank.messages, rank.local_messages, rank.local_bytes),
                (0, 3, 3 * bytes)
            );
        }
    }
}

/// The runs of a study with these keys of its trace, with the words of its warnings.
fn studied(file: &Path, keys: &str, ranks: u32) -> Result<(RunSpec, Vec<String>), String> {
    let text = format!(
        "topology = {{ kind = \"torus\", shape = [2, 2, 2] }}\n[[job]]\nnodes = {ranks}\n[job.work]\nkind = \"trace\"\nfile = {:?}\n{keys}\n",
        file.to_str().unwrap()
    );
    let read = vocabulary::load_study(
        text.as_bytes(),
        "s.toml",
        Path::new("."),
        &vocabulary::LoadOptions::default(),
    );
    let mut read = read.map_err(|findings| vocabulary::render(&findings))?;
    let told = read
        .warnings
        .iter()
        .map(|warning| format!("{}: {}", warning.key, warning.reason));
    let told = told.collect();
    Ok((read.runs.remove(0), told))
}

/// Ranks of a ring that go `rounds` times through a region, which each enters and leaves, with a marker before and behind all of it, and a message
/// outside; round i has messages of i + 1 bytes, rank r begins `skew` r after the first (ps).
fn looped(ranks: u32, rounds: u64, skew: u64) -> trace::Collected {
    use trace::collected::CollectedOperation;
    use trace::{Kind, Operation};
    let rank = |me: u32| {
        let mut all: Vec<Operation> = Vec::new();
        let at = |step: u64| 1 + step * 1_000_000 + u64::from(me) * skew;
        let region = |kind, region, start| Operation {
            region,
            start,
            ..Operation::new(kind)
        };
        let meet = |bytes: u64, start: u64, region: u32| {
            let message = |kind, peer| Operation {
                start,
                region,
                request: if kind == Kind::Irecv { 1 } else { trace::operation::NONE },
                ..Operation::message(kind, peer, bytes, 3)
            };
            let wait = Operation {
                start,
                region,
                request: 1,
                ..Operation::new(Kind::Wait)
            };
            let work = Operation {
                start,
                region,
                ..Operation::compute(500_000 * bytes)
            };
            [
                work,
                message(Kind::Irecv, (me + ranks - 1) % ranks),
                message(Kind::Send, (me + 1) % ranks),
                wait,
            ]
        };
        all.extend(meet(5_000, at(0), 0));
        all.push(region(Kind::Enter, 2, at(1)));
        all.push(region(Kind::Leave, 2, at(1)));
        for round in 0..rounds {
            all.push(region(Kind::Enter, 1, at(2 + round)));
            all.extend(meet(round + 1, at(2 + round), 1));
            all.push(region(Kind::Leave, 1, at(2 + round)));
        }
        all.push(region(Kind::Enter, 3, at(2 + rounds)));
        all.push(region(Kind::Leave, 3, at(2 + rounds)));
        all.extend(meet(7_000, at(3 + rounds), 0));
        let listed = (0..).zip(all).map(|(record, operation)| CollectedOperation {
            record,
            operation,
            ..CollectedOperation::default()
        });
        listed.collect()
    };
    trace::Collected {
        header: trace::TraceHeader::new("test", ranks, trace::TraceForm::Program),
        ranks: (0..ranks).map(rank).collect(),
        names: ["main", "step", "begin", "end"].map(str::to_owned).to_vec(),
    }
}

fn write(trace: &trace::Collected, path: &Path) {
    let mut writer = trace::formats::work::WorkWriter::create(path).unwrap();
    trace.tell(&mut writer).unwrap();
}

#[test]
fn a_part_of_a_trace_in_a_study_is_the_part_that_is_cut_out_before() {
    use trace::cut::TracePart;
    let folder = tempfile::tempdir().unwrap();
    let all = || TracePart::default();
    let name = |name: &str| Some(name.to_owned());
    let parts = [
        (
            "only_ranks = \"1..5\"",
            4,
            TracePart {
                ranks: Some(1..5),
                ..all()
            },
        ),
        (
            "from_time = \"3 us\"\nto_time = \"6 us\"",
            8,
            TracePart {
                times: Some(3_000_000..6_000_000),
                ..all()
            },
        ),
        (
            "to_time = \"4 us\"",
            8,
            TracePart {
                times: Some(0..4_000_000),
                ..all()
            },
        ),
        (
            "region = \"step\"",
            8,
            TracePart {
                region: name("step"),
                ..all()
            },
        ),
        (
            "region = \"step\"\nvisits = \"2..4\"",
            8,
            TracePart {
                region: name("step"),
                visits: Some(2..4),
                ..all()
            },
        ),
        (
            "from_marker = \"begin\"\nto_marker = \"end\"",
            8,
            TracePart {
                from_marker: name("begin"),
                to_marker: name("end"),
                ..all()
            },
        ),
        (
            "to_marker = \"begin\"",
            8,
            TracePart {
                to_marker: name("begin"),
                ..all()
            },
        ),
        (
            "from_marker = \"begin\"\nonly_ranks = \"0..4\"\nfrom_time = \"5 us\"",
            4,
            TracePart {
                ranks: Some(0..4),
                times: Some(5_000_000..u64::MAX),
                from_marker: name("begin"),
                ..all()
            },
        ),
    ];
    for skew in [0, 170_000] {
        let path = folder.path().join(format!("loop-{skew}.work"));
        write(&looped(8, 6, skew), &path);
        let whole = go(&studied(&path, "", 8).unwrap().0);
        for (number, (keys, ranks, part)) in parts.iter().enumerate() {
            let out = folder.path().join(format!("part-{skew}-{number}.work"));
            let cut = trace::convert::cut(&path, None, &out, "work", part, &mut |_| true).unwrap();
            for iterations in ["", "\niterations = 3"] {
                let here = studied(&path, &format!("{keys}{iterations}"), *ranks).unwrap();
                let before = studied(&out, iterations, *ranks).unwrap();
                let (here_run, before_run) = (go(&here.0), go(&before.0));
                assert_eq!(
                    here_run.summary.digest, before_run.summary.digest,
                    "{keys}, skew {skew}"
                );
                assert_eq!(here_run.ranks, before_run.ranks, "{keys}");
                assert_ne!(here_run.summary.digest, whole.summary.digest, "{keys}");
                // What is cut in two is told when the study is read, and by the results.
                let in_two: u64 = cut.left_out.values().sum();
                assert_eq!(told(&here_run)["cut"], in_two, "{keys}, skew {skew}");
                let words = format!("of the trace this is left out: {in_two} operations that the part cuts in two");
                assert_eq!(here.1.len(), usize::from(in_two > 0), "{:?}", here.1);
                assert!(here.1.iter().all(|told| told.ends_with(&words)), "{:?}", here.1);
            }
        }
    }
}

/// What the results tell of what their one job has left out.
fn told(result: &RunResult) -> serde_json::Value {
    let summary = serde_json::to_value(&result.summary).unwrap();
    summary["jobs"][0]["left_out"].clone()
}

#[test]
fn visits_of_a_region_are_its_iterations() {
    // Rounds 2 and 3 have 3 and 4 bytes: what ranks compute is in proportion to them.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("loop.work");
    write(&looped(4, 6, 0), &path);
    let computed = |keys: &str| {
        let result = go(&studied(&path, keys, 4).unwrap().0);
        result
            .ranks
            .iter()
            .map(|rank| rank.computed / 500_000)
            .collect::<Vec<_>>()
    };
    assert_eq!(computed("region = \"step\""), [21; 4]);
    assert_eq!(computed("region = \"step\"\nvisits = \"2..4\""), [7; 4]);
    assert_eq!(
        computed("region = \"step\"\nvisits = \"2..4\"\niterations = 5"),
        [35; 4]
    );
    assert_eq!(computed("region = \"step\"\nvisits = \"4..100\""), [11; 4]);
    assert_eq!(computed("from_marker = \"begin\"\nto_marker = \"end\""), [21; 4]);
    assert_eq!(computed("from_marker = \"end\""), [7_000; 4]);
    assert_eq!(computed("to_marker = \"begin\""), [5_000; 4]);
    for (keys, why) in [
        (
            "region = \"step\"\nvisits = \"6..9\"",
            "no rank enters it more than 6 times",
        ),
        ("region = \"main\"\nvisits = \"0..9\"", "no rank enters region \"main\""),
        ("from_marker = \"main\"", "no rank enters the marker \"main\""),
        (
            "from_marker = \"end\"\nto_marker = \"begin\"",
            "no rank enters the marker \"begin\" after \"end\"",
        ),
        (
            "region = \"ste\"",
            "no region \"ste\"; there are main, step, begin, end",
        ),
        ("from_time = \"1 ms\"", "nothing of the trace is in the part"),
    ] {
        let refused = studied(&path, keys, 4).unwrap_err();
        assert!(refused.contains(why), "{keys}: {refused}");
    }
}

#[test]
fn what_repair_leaves_out_is_told_with_the_study_and_in_every_result() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wrong.csv");
    let ring = table(4);
    // Two sends that nobody receives, a receive of nothing, a wait for nothing, and a barrier that one rank comes to.
    let wrong = "0,isend,1,,8,99,,7,\n0,wait,,,,,,7,\n0,send,2,,8,99,,,\n1,recv,3,,8,98,,,\n2,wait,,,,,,55,\n3,barrier,,,,,,,\n";
    std::fs::write(&path, format!("{ring}{wrong}")).unwrap();
    let sound = folder.path().join("sound.csv");
    std::fs::write(&sound, &ring).unwrap();
    let (spec, warned) = studied(&path, "repair = \"drop\"", 4).unwrap();
    assert_eq!(
        warned,
        [
            "job[0].work.repair: of the trace this is left out: 2 sends without a receive, 1 receive without a send, \
             1 operation of collectives that ranks do not agree on, 2 waits for requests that are not there"
        ]
    );
    let (result, plain) = (go(&spec), go(&studied(&sound, "", 4).unwrap().0));
    let expected = |sends: u64, receives: u64, collectives: u64, waits: u64| {
        serde_json::json!({
            "sends": sends, "receives": receives, "collectives": collectives, "waits": waits, "others": 0, "cut": 0, "problems": 0,
        })
    };
    assert_eq!(told(&result), expected(2, 1, 1, 2));
    assert_eq!(told(&plain), expected(0, 0, 0, 0));
    assert_eq!(
        result.summary.digest, plain.summary.digest,
        "the rest is what it is without it"
    );
    // A second reading, out of what is kept, warns as well.
    assert_eq!(studied(&path, "repair = \"drop\"", 4).unwrap().1, warned);
    let errors = studied(&path, "", 4).unwrap_err();
    for record in ["rank 0, record", "rank 1, record", "rank 2, record"] {
        assert!(errors.contains(record), "{errors}");
    }
}

#[test]
fn what_a_reader_cannot_read_is_counted_where_it_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("circle.goal");
    // An operation that waits for itself.
    std::fs::write(
        &path,
        "num_ranks 2\nrank 0 {\na: send 8b to 1\nb: calc 7\nb requires b\n}\nrank 1 {\na: recv 8b from 0\n}\n",
    )
    .unwrap();
    assert!(studied(&path, "", 2).is_err());
    let (spec, warned) = studied(&path, "repair = \"drop\"", 2).unwrap();
    assert_eq!(warned.len(), 1);
    assert!(
        warned[0].contains("left out: 1 problem of its files (first: ") && warned[0].contains("waits for itself"),
        "{warned:?}"
    );
    assert_eq!(told(&go(&spec))["problems"], 1);
}
