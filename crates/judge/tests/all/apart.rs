//! Jobs that do not meet leave out what repeats each by itself: the result is that of all iterations, to the last bit, whoever runs them; and jobs that
//! meet are run as one.

use crate::fast_forward::{all_of, done, load, stopped};
use des::{Time, mix};
use fabric::spec::{Engine, FastForward, RunSpec};
use judge::checkpoint::{Checkpoints, Every};

const FAT_TREE: &str = "[topology]\nkind = \"fat-tree\"\ndown = [4, 4, 4]\nup = [4, 4]\n[routing]\nkind = \"d-mod-k\"";

/// Models with more keys behind them.
const INPUT_QUEUED: &str = "credit\"\narchitecture = \"input-queued\"\nflit = \"64 B";
const OUTPUT_BUFFERED: &str = "credit\"\narchitecture = \"output-buffered\"\nbuffer = \"8 KiB\"\noutput_buffer = \"4 KiB\"\nswitching = \"cut-through";

const HALO: &str = "kind = \"halo3d-26\", iterations = 100";
const REDUCE: &str = "kind = \"allreduce-loop\", messages = [\"6 KiB\"], compute = \"3 us\", iterations = 150";

/// A study of several jobs: nodes and work of each.
fn study(network: &str, model: &str, jobs: &[(u32, &str)], rest: &str) -> RunSpec {
    let jobs: String = jobs
        .iter()
        .map(|(nodes, work)| format!("[[job]]\nnodes = {nodes}\nwork = {{ {work} }}\n"))
        .collect();
    let end = if rest.contains("[run]") {
        ""
    } else {
        "[run]\nend = \"done\"\n"
    };
    load(&format!(
        "name = \"s\"\n{network}\n[router]\nmodel = \"{model}\"\n{jobs}{rest}\n{end}seeds = [7]\n[observe]\nlinks = true\n"
    ))
}

/// What was left out of a run: periods, and the runs into which it was divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LeftOut {
    periods: u64,
    apart: usize,
    met: bool,
}

/// Runs a study with and without: the same must come of both.
fn same(mut spec: RunSpec) -> LeftOut {
    spec.control.fast_forward = FastForward::Off;
    let (whole, none) = all_of(&done(&spec));
    assert_eq!(none, 0);
    spec.control.fast_forward = FastForward::Exact;
    let result = done(&spec);
    let (quick, periods) = all_of(&result);
    for (key, value) in whole.as_object().unwrap() {
        assert_eq!(*value, quick[key], "{key} of {spec:?}");
    }
    let execution = &result.summary.execution;
    LeftOut {
        periods,
        apart: execution.apart,
        met: execution.remark.as_deref().is_some_and(|remark| remark.contains("met")),
    }
}

#[test]
fn each_of_two_jobs_leaps_by_itself() {
    for model in ["sculpin", "credit", OUTPUT_BUFFERED] {
        let left_out = same(study(FAT_TREE, model, &[(16, HALO), (16, REDUCE)], ""));
        assert!(left_out.periods > 180, "{model}: {left_out:?}");
        assert_eq!((left_out.apart, left_out.met), (2, false), "{model}");
    }
    // Their periods have to be multiples of a clock, and some are.
    let left_out = same(study(FAT_TREE, INPUT_QUEUED, &[(16, HALO), (16, REDUCE)], ""));
    assert!(!left_out.met, "{left_out:?}");
}

#[test]
fn so_does_each_of_three_and_of_four() {
    let ring = "kind = \"ring\", message = \"20 KiB\", iterations = 100";
    let alltoall = "kind = \"collective\", collective = \"alltoall\", message = \"5 KiB\", iterations = 100";
    let three = [(16, HALO), (16, REDUCE), (16, ring)];
    let left_out = same(study(FAT_TREE, "sculpin", &three, ""));
    assert!(left_out.periods > 300 && left_out.apart == 3, "{left_out:?}");
    let four = [(16, HALO), (16, REDUCE), (16, ring), (16, alltoall)];
    let left_out = same(study(FAT_TREE, "credit", &four, ""));
    assert!(left_out.periods > 300 && left_out.apart == 4, "{left_out:?}");
}

#[test]
fn every_engine_divides_the_run_alike() {
    let mut spec = study(
        FAT_TREE,
        "credit",
        &[(16, HALO), (16, REDUCE)],
        "[mpi]\neager = \"300 B\"",
    );
    spec.control.fast_forward = FastForward::Off;
    let (whole, _) = all_of(&done(&spec));
    for (engine, workers) in [
        (Engine::Sequential, 1),
        (Engine::Reference, 1),
        (Engine::Conservative, 2),
        (Engine::Optimistic, 2),
        (Engine::RollbackCheck, 1),
        (Engine::Auto, 2),
    ] {
        (spec.control.engine, spec.control.workers) = (engine, workers);
        spec.control.fast_forward = FastForward::Exact;
        let result = done(&spec);
        let (quick, left_out) = all_of(&result);
        assert_eq!((&quick, result.summary.execution.apart), (&whole, 2), "{engine:?}");
        assert!(left_out > 180, "{engine:?}: {left_out}");
        spec.control.fast_forward = FastForward::Off;
        assert_eq!(all_of(&done(&spec)), (whole.clone(), 0), "{engine:?}");
    }
}

/// They share routers: below, at a leaf; or at the top alone.
#[test]
fn jobs_that_share_a_router_are_not_apart() {
    for (first, second) in [(18, 14), (32, 32)] {
        let halo = "kind = \"halo3d-26\", iterations = 60";
        for model in ["sculpin", "credit"] {
            let left_out = same(study(FAT_TREE, model, &[(first, halo), (second, REDUCE)], ""));
            assert_eq!((left_out.apart, left_out.met), (0, false), "{first} nodes, {model}");
        }
    }
}

#[test]
fn equal_jobs_leap_as_one() {
    let left_out = same(study(FAT_TREE, "sculpin", &[(16, REDUCE), (16, REDUCE)], ""));
    assert!(left_out.periods > 130 && left_out.apart == 0, "{left_out:?}");
}

#[test]
fn one_may_be_over_before_the_other() {
    let short = "kind = \"halo3d-26\", iterations = 20";
    for jobs in [[(16, short), (16, REDUCE)], [(16, REDUCE), (16, short)]] {
        let left_out = same(study(FAT_TREE, "sculpin", &jobs, ""));
        assert!(left_out.periods > 110, "{left_out:?}");
    }
    // A rank that computes for longer than all that the other does.
    let long = "kind = \"allreduce-loop\", messages = [\"1 KiB\"], compute = \"20 ms\", iterations = 2";
    let left_out = same(study(FAT_TREE, "sculpin", &[(16, long), (16, REDUCE)], ""));
    assert!(left_out.periods > 110 && left_out.apart == 2, "{left_out:?}");
}

#[test]
fn what_never_repeats_is_run_beside_what_does() {
    for other in [
        "kind = \"graph500-bfs\", iterations = 8",
        "kind = \"halo3d-26\", grid = [64, 64, 64], vars = 16, iterations = 40",
    ] {
        for jobs in [[(16, other), (16, HALO)], [(16, HALO), (16, other)]] {
            let left_out = same(study(FAT_TREE, "sculpin", &jobs, ""));
            assert!(left_out.periods > 60 && left_out.apart == 2, "{jobs:?}: {left_out:?}");
        }
    }
}

/// The end of the run, its warm-up and its border of checkpoints lie anywhere in what is left out.
#[test]
fn runs_with_an_end_and_a_warm_up_are_cut_where_they_are_to_be() {
    let halo = "kind = \"halo3d-26\", iterations = 100000";
    let reduce = "kind = \"allreduce-loop\", messages = [\"6 KiB\"], compute = \"3 us\", iterations = 100000";
    for end in ["400 us", "777777 ps", "1 ms", "1234567891 ps"] {
        for warmup in ["", "warmup = \"333333 ps\"", "warmup = \"90 us\""] {
            if warmup.contains("90") && end.contains("777") {
                continue;
            }
            let spec = study(
                FAT_TREE,
                "sculpin",
                &[(16, halo), (16, reduce)],
                &format!("[run]\nend = \"{end}\"\n{warmup}"),
            );
            let left_out = same(spec);
            assert!(
                left_out.periods > 50 || end.contains("777"),
                "{end} {warmup}: {left_out:?}"
            );
            assert!(
                left_out.apart == 2 || end.contains("777"),
                "{end} {warmup}: {left_out:?}"
            );
        }
    }
    let left_out = same(study(
        FAT_TREE,
        "credit",
        &[(16, HALO), (16, REDUCE)],
        "[run]\nend = \"done\"\nwarmup = \"200 us\"",
    ));
    assert!(left_out.periods > 180 && left_out.apart == 2, "{left_out:?}");
}

/// Ranks that talk to one beside them for so many times, then to all.
fn neighbours_then_all(ranks: u32, bytes: u32, iterations: u32) -> String {
    let row = |me: u32| {
        let other = me ^ 1;
        format!("{me},irecv,{other},{bytes}\\n{me},isend,{other},{bytes}\\n{me},waitall,,\\n")
    };
    let rows: String = (0..ranks).map(row).collect();
    let beside =
        format!("kind = \"ops\", ranks = {ranks}, table = \"rank,op,peer,bytes\\n{rows}\", iterations = {iterations}");
    format!("work = [{{ {beside} }}, {{ kind = \"collective\", collective = \"alltoall\", message = \"5 KiB\" }}]")
}

/// For a while each keeps to itself, so that the run is divided; then they meet at the top of the tree.
#[test]
fn jobs_that_meet_late_are_run_as_one() {
    for model in ["sculpin", "credit"] {
        let (first, second) = (neighbours_then_all(32, 3_000, 100), neighbours_then_all(32, 9_000, 70));
        let spec = load(&format!(
            "name = \"s\"\n{FAT_TREE}\n[router]\nmodel = \"{model}\"\n[[job]]\nnodes = 32\n{first}\n[[job]]\nnodes = 32\n{second}\n\
             [run]\nend = \"done\"\nseeds = [7]\n[observe]\nlinks = true\n"
        ));
        let left_out = same(spec);
        assert_eq!((left_out.apart, left_out.met), (0, true), "{model}");
    }
}

/// Two that meet late beside one that stays by itself: that one leaps once the others have met.
#[test]
fn who_stays_apart_leaps_when_the_others_have_met() {
    let beside = |bytes| neighbours_then_all(8, bytes, 60).replace("\"5 KiB\" }", "\"5 KiB\", iterations = 16 }");
    let (first, second) = (beside(3_000), beside(9_000));
    let long = "kind = \"allreduce-loop\", messages = [\"6 KiB\"], compute = \"3 us\", iterations = 2000";
    let spec = load(&format!(
        "name = \"s\"\n{FAT_TREE}\n[router]\nmodel = \"sculpin\"\n[[job]]\nnodes = 8\n{first}\n[[job]]\nnodes = 8\n{second}\n\
         [[job]]\nnodes = 16\nwork = {{ {long} }}\n[run]\nend = \"done\"\nseeds = [7]\n[observe]\nlinks = true\n"
    ));
    let left_out = same(spec);
    assert!(left_out.met && left_out.periods > 1_500, "{left_out:?}");
}

/// Stopped again and again, before it is divided and in each of the parts, and taken up on other engines.
#[test]
fn a_run_that_is_divided_can_be_stopped_and_taken_up() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = [
        (16, HALO),
        (16, REDUCE),
        (16, "kind = \"graph500-bfs\", iterations = 5"),
    ];
    let mut spec = study(FAT_TREE, "credit", &jobs, "");
    spec.control.fast_forward = FastForward::Off;
    let (whole, _) = all_of(&done(&spec));
    spec.control.fast_forward = FastForward::Exact;
    assert_eq!(done(&spec).summary.execution.apart, 3);
    let engines = [
        Engine::Sequential,
        Engine::Reference,
        Engine::Conservative,
        Engine::Optimistic,
    ];
    for every in [7_000, 40_000] {
        for stops in [1, 2, 6] {
            let keep = Checkpoints {
                file: folder.path().join(format!("{every}-{stops}")),
                every: Some(Every::Simulated(Time::from_ns(every))),
                resume: true,
            };
            let on = |spec: &mut RunSpec, stopped: usize| {
                (spec.control.engine, spec.control.workers) = (engines[stopped % 4], 2);
            };
            let (result, _) = stopped(spec.clone(), &keep, stops, &on);
            assert_eq!(all_of(&result).0, whole, "every {every} ns, {stops} stops");
            if stops == 6 {
                assert_eq!(result.summary.execution.apart, 3, "every {every} ns");
            }
        }
    }
}

/// A file that was written where jobs run apart says where they were divided, and a run that leaves nothing out goes on from there.
#[test]
fn a_divided_run_can_be_taken_up_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = study(FAT_TREE, "sculpin", &[(16, HALO), (16, REDUCE)], "");
    spec.control.fast_forward = FastForward::Off;
    let (whole, _) = all_of(&done(&spec));
    spec.control.fast_forward = FastForward::Exact;
    for stops in 1..12 {
        let keep = Checkpoints {
            file: folder.path().join(format!("{stops}")),
            every: Some(Every::Simulated(Time::from_ns(20_000))),
            resume: true,
        };
        let off = |spec: &mut RunSpec, stopped: usize| {
            if stopped == stops {
                spec.control.fast_forward = FastForward::Off;
            }
        };
        let (result, stopped) = stopped(spec.clone(), &keep, stops, &off);
        assert_eq!(all_of(&result).0, whole, "{stops} stops");
        if stopped < stops {
            return;
        }
    }
}

/// One of some things, drawn by a number.
fn one_of<T: Copy>(of: &[T], draw: &mut u64) -> T {
    *draw = mix(*draw + 1);
    of[(*draw % of.len() as u64) as usize]
}

const TORUS: &str = "[topology]\nkind = \"torus\"\nshape = [6, 4, 3]\n[routing]\nkind = \"dor\"";
const HYPERX: &str =
    "[topology]\nkind = \"hyperx\"\nshape = [4, 4]\nnodes_per_router = 4\n[routing]\nkind = \"minimal\"";
const MESH: &str = "[topology]\nkind = \"mesh\"\nshape = [16, 2]\nnodes_per_router = 2\n[routing]\nkind = \"dor\"";
const TABLE: &str = "[topology]\nkind = \"fat-tree\"\ndown = [4, 4, 4]\nup = [4, 2]\n[routing]\nkind = \"sssp\"";
const WIDE: &str = "[topology]\nkind = \"fat-tree\"\ndown = [8, 8]\nup = [4]\n[routing]\nkind = \"d-mod-k\"";

/// Networks, router models, motifs, places, ends and engines as they come: what is divided, and what is not, is the whole run.
#[test]
fn it_holds_for_whatever_is_drawn() {
    let (mut divided, mut met) = (0, 0);
    for case in 0..40u64 {
        let mut draw = mix(case);
        let network = one_of(&[FAT_TREE, FAT_TREE, TORUS, HYPERX, MESH, TABLE, WIDE], &mut draw);
        let model = one_of(&["sculpin", "credit", INPUT_QUEUED, OUTPUT_BUFFERED], &mut draw);
        let mut text = String::new();
        for _ in 0..one_of(&[2, 2, 3, 4], &mut draw) {
            let work = one_of(
                &[
                    "kind = \"halo3d-26\", iterations = 60",
                    "kind = \"halo3d-26\", neighbours = \"18\", compute = \"1 us\", iterations = 50",
                    "kind = \"sweep3d\", grid = [8, 8, 20], iterations = 30",
                    "kind = \"suba2a\", iterations = 30",
                    "kind = \"allreduce-loop\", messages = [\"6 KiB\", \"900 B\"], compute = \"2 us\", iterations = 40",
                    "kind = \"ring\", message = \"20 KiB\", iterations = 50",
                    "kind = \"graph500-bfs\", iterations = 5",
                ],
                &mut draw,
            );
            let nodes = one_of(&[4, 8, 12, 16, 16], &mut draw);
            let placement = one_of(&["linear", "linear", "linear", "random"], &mut draw);
            let per_node = one_of(&[1, 1, 2], &mut draw);
            text += &format!(
                "[[job]]\nnodes = {nodes}\nplacement = \"{placement}\"\nranks_per_node = {per_node}\nwork = {{ {work} }}\n"
            );
        }
        let end = one_of(&["done", "done", "200 us", "312345678 ps"], &mut draw);
        let warmup = one_of(&["", "", "warmup = \"30 us\"\n"], &mut draw);
        let mut spec = load(&format!(
            "name = \"s\"\n{network}\n[router]\nmodel = \"{model}\"\n{text}[run]\nend = \"{end}\"\n{warmup}seeds = [7]\n[observe]\n\
             links = true\n"
        ));
        let (engine, workers) = one_of(
            &[
                (Engine::Sequential, 1),
                (Engine::Conservative, 2),
                (Engine::Reference, 1),
                (Engine::Optimistic, 2),
            ],
            &mut draw,
        );
        (spec.control.engine, spec.control.workers) = (engine, workers);
        let left_out = same(spec);
        divided += u32::from(left_out.apart > 0);
        met += u32::from(left_out.met);
    }
    assert!(divided >= 5, "{divided} of 40 are divided, {met} in vain");
}
