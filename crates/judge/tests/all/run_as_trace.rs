//! A run written as a trace, read back and played on the same network, is the same run.

use crate::lent::{self, ListedOps};
use crate::played_graphs::{recv, send, spec};
use fabric::spec::{Bytes, Motif, MotifValue, MpiSpec, Work};
use judge::as_trace::{RunTraceFile, of_job, write};
use judge::run::{RunResult, run};
use std::path::Path;
use std::sync::Arc;
use topo::{SingleRouterSpec, TopologySpec};
use trace::{Check, Mode, ReadProgress, ReadStop, TraceReader};
use vocabulary::{LoadOptions, load_study, render};
use work::motif::ProgramLoan;
use work::mpi::graph::{Doing, NO_LANE};

/// Runs the one run of a study that records operations.
fn go(text: &str, folder: &Path) -> RunResult {
    let text = format!("{text}\n[observe]\noperations = true\n");
    let study = load_study(text.as_bytes(), "s.toml", folder, &LoadOptions::default());
    let study = study.unwrap_or_else(|findings| panic!("{text}\n{}", render(&findings)));
    run(&study.runs[0], &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

/// Writes the first job of a run.
fn write_run(result: &RunResult, file: RunTraceFile<'_>) -> Result<Vec<String>, ReadStop> {
    let times = result.rank_times.as_ref().expect("operations were asked for");
    let rows = of_job(&times.operations, 0).expect("operations have names");
    write(&rows, &times.communicators, file)
}

/// What is wrong with a trace.
fn problems(path: &Path) -> Vec<String> {
    let (mut check, mut watch) = (Check::default(), |_: ReadProgress| true);
    let mut reader = TraceReader::new(&mut check, &mut watch);
    trace::read(path, None, &mut reader).unwrap_or_else(|stop| panic!("{stop:?}"));
    let (found, _) = reader.into_problems();
    let all = found.iter().chain(check.problems());
    all.map(ToString::to_string).collect()
}

/// Everything that must be the same: the digest, and when each rank began and came to its end (ps).
fn told(result: &RunResult) -> (String, Vec<(u32, u64, u64)>) {
    let ranks = result.ranks.iter().map(|row| (row.rank, row.begun, row.finished));
    (result.summary.digest.to_string(), ranks.collect())
}

/// Names of motifs, their keys, and whether OTF2 can have them.
const MOTIFS: &[(&str, bool)] = &[
    (
        "kind = \"halo3d-26\"\ngrid = [32, 32, 32]\nvars = 4\ncompute = \"2 us\"",
        true,
    ),
    ("kind = \"sweep3d\"\ngrid = [40, 40, 40]\ncompute = \"100 ns\"", true),
    (
        "kind = \"random-neighbours\"\ndegree = [2, 5]\nmessage = \"9 KiB\"",
        true,
    ),
    (
        "kind = \"random-neighbours\"\ndegree = [2, 5]\nmessage = \"9 KiB\"\nreceives = \"any-source\"",
        false,
    ),
    (
        "kind = \"collective\"\ncollective = \"allreduce\"\nmessage = \"40 KiB\"",
        true,
    ),
    (
        "kind = \"collective\"\ncollective = \"bcast\"\nmessage = \"10 KiB\"\nroot = 5",
        true,
    ),
    (
        "kind = \"collective\"\ncollective = \"reduce\"\nmessage = \"10 KiB\"\nroot = 3",
        true,
    ),
    (
        "kind = \"collective\"\ncollective = \"gather\"\nmessage = \"1 KiB\"\nroot = 1",
        true,
    ),
    (
        "kind = \"collective\"\ncollective = \"scatter\"\nmessage = \"1 KiB\"",
        true,
    ),
    (
        "kind = \"collective\"\ncollective = \"allgather\"\nmessage = \"3 KiB\"",
        true,
    ),
    (
        "kind = \"collective\"\ncollective = \"reduce-scatter\"\nmessage = \"3 KiB\"",
        true,
    ),
    (
        "kind = \"collective\"\ncollective = \"barrier\"\ncompute = \"700 ns\"",
        true,
    ),
    (
        "kind = \"collective\"\ncollective = \"alltoall\"\nmessage = \"30 KiB\"\ncompute = \"1 us\"",
        true,
    ),
    ("kind = \"fft3d\"\ngrid = [32, 32, 32]", true),
    ("kind = \"ring\"\nmessage = \"20 KiB\"", true),
];

const PROTOCOLS: &[&str] = &[
    "eager = \"1 MiB\"",
    "eager = \"0 B\"\nrendezvous = \"put\"",
    "eager = \"4 KiB\"\nrendezvous = \"get\"\nsend_overhead = \"150 ns\"\nreceive_overhead = \"90 ns\"",
];

const MODELS: &[&str] = &["credit", "sculpin"];

#[test]
fn a_run_written_as_a_trace_and_played_on_the_same_network_is_the_same_to_the_picosecond() {
    let (mut played, mut others) = (0, Vec::new());
    for (i, (motif, otf2)) in MOTIFS.iter().enumerate() {
        for (k, protocol) in PROTOCOLS.iter().enumerate() {
            let per_node = 1 + (i + k) % 2;
            let start = ["in-phase", "after-barrier"][(i + k / 2) % 2];
            let model = MODELS[(i / 2 + k) % 2];
            let study = |work: &str| {
                format!(
                    "topology = {{ kind = \"torus\", shape = [4, 4], nodes_per_router = 1 }}\n[router]\nmodel = \"{model}\"\n\
                     [[job]]\nranks_per_node = {per_node}\nstart = \"{start}\"\n[job.work]\n{work}\n[mpi]\n{protocol}\n"
                )
            };
            let what = format!("{motif}, {protocol}, {model}, {per_node} a node, {start}");
            let folder = tempfile::tempdir().expect("a folder");
            let run = go(&study(&format!("{motif}\niterations = 3")), folder.path());
            let work = folder.path().join("run.work");
            let mut files = vec!["run.work"];
            let notes = write_run(&run, RunTraceFile::Work(&work)).unwrap_or_else(|stop| panic!("{what}: {stop:?}"));
            let sums = |note: &String| motif.contains("fft3d") && note.contains("alltoallvs have the sums");
            assert!(notes.iter().all(sums), "{what}: {notes:?}");
            let archive = write_run(&run, RunTraceFile::Otf2(folder.path()));
            match otf2 {
                true => {
                    assert_eq!(archive.as_ref(), Ok(&notes), "{what}");
                    files.push("traces.otf2");
                }
                false => {
                    let refused = format!("{:?}", archive.expect_err("OTF2 cannot have it"));
                    assert!(refused.contains("from any rank"), "{what}: {refused}");
                }
            }
            for file in files {
                assert_eq!(problems(&folder.path().join(file)), [""; 0], "{what}, {file}");
                let again = go(&study(&format!("kind = \"trace\"\nfile = \"{file}\"")), folder.path());
                let (this, that) = (told(&again), told(&run));
                if this != that {
                    others.push(format!("{what}, {file}"));
                }
                played += 1;
            }
        }
    }
    assert_eq!(others, [""; 0], "{played} were played");
    assert_eq!(played, 87);
}

#[test]
fn jobs_of_several_parts_keep_their_messages_apart_and_programs_keep_their_groups() {
    // A grid whose rows and columns meet by themselves, then other work.
    let folder = tempfile::tempdir().expect("a folder");
    let study = |work: &str| {
        format!("topology = {{ kind = \"torus\", shape = [4, 4], nodes_per_router = 1 }}\n[[job]]\nwork = {work}\n")
    };
    let parts = "[{ kind = \"fft3d\", grid = [32, 32, 32], iterations = 2 }, { kind = \"ring\", message = \"20 KiB\", iterations = 2 }]";
    let run = go(&study(parts), folder.path());
    let times = run.rank_times.as_ref().expect("operations were asked for");
    assert!(times.communicators.iter().any(|row| row.part == 1));
    for (file, to) in [
        ("run.work", RunTraceFile::Work(&folder.path().join("run.work"))),
        ("traces.otf2", RunTraceFile::Otf2(folder.path())),
    ] {
        write_run(&run, to).unwrap_or_else(|stop| panic!("{stop:?}"));
        assert_eq!(problems(&folder.path().join(file)), [""; 0], "{file}");
        let again = go(
            &study(&format!("{{ kind = \"trace\", file = \"{file}\" }}")),
            folder.path(),
        );
        assert_eq!(told(&again), told(&run), "{file}");
    }
    let again = write_run(&run, RunTraceFile::Otf2(folder.path()));
    assert!(format!("{again:?}").contains("it is there already"), "{again:?}");
}

#[test]
fn waits_of_all_kinds_synchronous_sends_and_receives_of_any_size_are_played_from_recorded_work_as_they_were() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = "rank,op,peer,source,bytes,tag,request,time_ps\n\
        0,irecv,1,,,3,7,\n0,irecv,2,,9000,4,8,\n0,waitany,,,,,,\n0,compute,,,,,,5000\n0,test,,,,,8,\n0,waitany,,,,,,\n0,sendrecv,3,2,4000,1,,\n0,compute,,,,,,999\n\
        0,irecv,3,,,6,9,\n0,waitnews,,,,,,\n0,compute,,,,,,2000\n0,waitnews,,,,,,\n0,recv,1,,,7,,\n0,waitall,,,,,,\n\
        1,compute,,,,,,800000\n1,isend,0,,70000,3,,\n1,waitall,,,,,,\n1,compute,,,,,,9000000\n1,ssend,0,,200,7,,\n\
        2,send,0,,9000,4,,\n2,send,0,,123,1,,\n\
        3,recv,0,,,1,,\n3,issend,0,,30,6,4,\n3,wait,,,,,4,\n";
    let study = |work: &str| {
        format!(
            "topology = {{ kind = \"torus\", shape = [4] }}\n[[job]]\n[job.work]\n{work}\n[mpi]\neager = \"8 KiB\"\n"
        )
    };
    let run = go(
        &study(&format!("kind = \"ops\"\ntable = \"\"\"\n{rows}\"\"\"")),
        folder.path(),
    );
    let file = folder.path().join("run.work");
    assert_eq!(write_run(&run, RunTraceFile::Work(&file)), Ok(Vec::new()));
    assert_eq!(problems(&file), [""; 0]);
    let again = go(&study("kind = \"trace\"\nfile = \"run.work\""), folder.path());
    assert_eq!(told(&again), told(&run));
    // Synchronous sends are recorded as such: others take other times.
    let others = folder.path().join("other.work");
    let mut rows = of_job(&run.rank_times.as_ref().unwrap().operations, 0).unwrap();
    assert_eq!(rows.iter().filter(|row| row.mode == Mode::Synchronous).count(), 2);
    rows.iter_mut().for_each(|row| row.mode = Mode::Standard);
    let communicators = &run.rank_times.as_ref().unwrap().communicators;
    write(&rows, communicators, RunTraceFile::Work(&others)).unwrap();
    let other = go(&study("kind = \"trace\"\nfile = \"other.work\""), folder.path());
    assert!(other.ranks[1].finished < run.ranks[1].finished);
    // Which one a wait for one of several was for, and that a wait was for news, is not known to OTF2.
    let notes = write_run(&run, RunTraceFile::Otf2(folder.path())).unwrap_or_else(|stop| panic!("{stop:?}"));
    assert!(
        matches!(&notes[..], [any, news] if any.starts_with("2 waits for one of several") && news.starts_with("2 waits for news")),
        "{notes:?}"
    );
}

#[test]
fn operations_of_all_kinds_in_several_communicators_are_played_from_recorded_work_to_the_last_bit() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.work");
    let mut begun = 0;
    for seed in 0..12 {
        let ops = ListedOps::random(seed, 16, 3).without_pairs();
        begun += ops.count("iallreduce") + ops.count("ialltoall");
        let loan = ProgramLoan::new(Arc::new(ops));
        let mpi = MpiSpec {
            eager: Bytes([600, 0, 100_000][seed as usize % 3]),
            ..MpiSpec::default()
        };
        let text = "topology = { kind = \"torus\", shape = [4, 4], nodes_per_router = 1 }\n[[job]]\nwork = { kind = \"ring\" }\n\
                    [observe]\noperations = true\n";
        let mut spec = load_study(text.as_bytes(), "s.toml", folder.path(), &LoadOptions::default())
            .unwrap()
            .runs[0]
            .clone();
        spec.jobs[0].work = lent::work(&loan, 1 + seed as u32 % 2, mpi);
        let first = run(&spec, &mut |_| true).unwrap_or_else(|error| panic!("{seed}: {error}"));
        assert_eq!(write_run(&first, RunTraceFile::Work(&file)), Ok(Vec::new()));
        assert_eq!(problems(&file), [""; 0], "{seed}");
        let Work::Ranks(ranks) = &mut spec.jobs[0].work else {
            unreachable!("it was set");
        };
        let values = [
            ("file", MotifValue::Text(file.to_str().unwrap().to_owned())),
            ("ranks", MotifValue::Integer(16)),
        ];
        ranks.parts[0].motif = Motif {
            kind: "trace".into(),
            values: values.map(|(key, value)| (key.to_owned(), value)).into(),
        };
        let again = run(&spec, &mut |_| true).unwrap_or_else(|error| panic!("{seed}: {error}"));
        assert_eq!(told(&again), told(&first), "{seed}");
        let operations = |result: &RunResult| result.rank_times.as_ref().unwrap().operations.len();
        assert_eq!(operations(&again), operations(&first), "{seed}");
    }
    assert!(begun > 20);
}

#[test]
fn a_graph_is_not_written_as_a_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let operations = [
        (0, NO_LANE, send(1, 100, 3), vec![], vec![]),
        (0, NO_LANE, Doing::Compute(5_000), vec![0], vec![]),
        (1, NO_LANE, recv(0, 100, 3), vec![], vec![]),
    ];
    let mut spec = spec(
        TopologySpec::SingleRouter(SingleRouterSpec { nodes: 2 }),
        1,
        2,
        &operations,
    );
    spec.observe.operations = true;
    let run = run(&spec, &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
    let refused = write_run(&run, RunTraceFile::Work(&folder.path().join("run.work")));
    assert!(format!("{refused:?}").contains("plays a graph"), "{refused:?}");
    assert!(!folder.path().join("run.work").exists());
}
