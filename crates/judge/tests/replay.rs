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
