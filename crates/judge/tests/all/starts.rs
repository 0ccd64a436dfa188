//! When ranks start: together, each at a time of its own, or behind a barrier; told by runs whose end says when a rank began.

use fabric::spec::*;
use judge::run::{RunResult, run};
use vocabulary::{LoadOptions, canonical, load_study};

/// A study with ranks on 8 routers of 8 nodes that first compute, or that exchange halos.
fn study(job: &str, work: &str, run: &str) -> String {
    format!(
        "[topology]\nkind = \"hyperx\"\nshape = [8]\nnodes_per_router = 8\n[[job]]\n{job}\nwork = {work}\n[run]\n{run}\n"
    )
}

const HALO: &str = "{ kind = \"halo3d-26\", grid = [40, 40, 40], iterations = 2 }";
/// 200 ranks that compute for 1 us.
fn compute() -> String {
    let rows: String = (0..200).map(|rank| format!("{rank},compute,1000000\n")).collect();
    format!("{{ kind = \"ops\", ranks = 200, table = \"\"\"rank,op,time_ps\n{rows}\"\"\" }}")
}

fn spec(study: &str) -> RunSpec {
    let loaded = load_study(
        study.as_bytes(),
        "study.toml",
        std::path::Path::new("."),
        &LoadOptions::default(),
    );
    let study = loaded.unwrap_or_else(|errors| panic!("{errors:?}"));
    study.runs.into_iter().next().expect("a study has a run")
}

fn go(spec: &RunSpec) -> RunResult {
    run(spec, &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

fn ranks_of(job: &judge::results::JobSummary) -> &judge::results::RankFigures {
    job.ranks().unwrap()
}

#[test]
fn what_is_said_to_be_as_it_was_is_the_same_run() {
    let usual = spec(&study("", HALO, ""));
    let shuffled = HALO.replace("iterations", "order = \"common\", iterations");
    for (job, work) in [
        ("start = \"in-phase\"", HALO),
        ("start = { spread = \"0 ns\" }", HALO),
        ("", &shuffled),
    ] {
        assert_eq!(
            canonical(&spec(&study(job, work, ""))),
            canonical(&usual),
            "{job} {work}"
        );
    }
    assert!(!canonical(&usual).contains("start\":") && !canonical(&usual).contains("order"));
    assert_eq!(go(&usual).summary.jobs[0].ranks().unwrap().begin_ns, None);
}

#[test]
fn ranks_that_start_apart_start_evenly_over_the_time_and_by_the_seed() {
    let apart = |seed: u32| {
        let job = "ranks_per_node = 4\nstart = { spread = \"400 ns\" }";
        let result = go(&spec(&study(job, &compute(), &format!("seed = {seed}"))));
        let starts: Vec<u64> = result.ranks.iter().map(|row| row.finished - 1_000_000).collect();
        assert_eq!(starts.len(), 200);
        assert!(result.ranks.iter().all(|row| row.begun == row.finished - 1_000_000));
        let first = *starts.iter().min().unwrap();
        assert_eq!(
            result.summary.jobs[0].ranks().unwrap().begin_ns,
            Some(first as f64 / 1e3)
        );
        starts
    };
    let starts = apart(1);
    assert!(starts.iter().all(|&start| start <= 400_000));
    // 50 ranks in each quarter, with a deviation of 6.1.
    for quarter in 0..4 {
        let here = starts.iter().filter(|&&start| start / 100_001 == quarter).count();
        assert!((20..=80).contains(&here), "{here} ranks start in quarter {quarter}");
    }
    assert_ne!(starts, apart(2));
}

#[test]
fn jobs_that_start_apart_have_starts_of_their_own() {
    let jobs = "nodes = 32\nstart = { spread = \"400 ns\" }\nwork = { kind = \"halo3d\" }\n[[job]]\nnodes = 32\nstart = { spread = \"400 ns\" }";
    let result = go(&spec(&study(jobs, "{ kind = \"halo3d\" }", "")));
    let begun = |job: u32| -> Vec<u64> {
        let of = result.ranks.iter().filter(|row| row.job == job);
        of.map(|row| row.begun).collect()
    };
    assert_eq!((begun(0).len(), begun(1).len()), (32, 32));
    assert_ne!(begun(0), begun(1));
}

#[test]
fn nobody_begins_its_work_before_all_have_come_to_the_barrier() {
    for ranks in [1_u64, 2, 63, 64] {
        let work = HALO.replace("iterations", &format!("ranks = {ranks}, iterations"));
        let together = go(&spec(&study("", &work, "")));
        let behind = go(&spec(&study("start = \"after-barrier\"", &work, "")));
        let (together, job) = (&together.summary.jobs[0], &behind.summary.jobs[0]);
        // Dissemination: everybody sends once in each of log2(n) rounds, rounded up.
        let barrier = ranks * u64::from(ranks.next_power_of_two().trailing_zeros());
        assert_eq!(ranks_of(job).messages, ranks_of(together).messages + barrier);
        assert_eq!(ranks_of(job).iterations, 2);
        assert_eq!(ranks_of(job).finished, ranks);
        let rounds = f64::from(ranks.next_power_of_two().trailing_zeros());
        let begin = ranks_of(job)
            .begin_ns
            .expect("a job behind a barrier says when it begins");
        // A round takes at least a send, a receive and the links.
        assert!(begin >= rounds * 400.0, "{ranks}: {begin}");
        let behind_the_barrier = job.time_ns.unwrap() - begin;
        assert!(behind_the_barrier >= 0.5 * together.time_ns.unwrap());
    }
}
