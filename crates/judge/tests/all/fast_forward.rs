//! Iterations that repeat are counted, not run: the result is that of all of them, to the last bit, whoever runs them; and what does not repeat is
//! run.

use crate::clock::cpu_time;
use des::Time;
use fabric::spec::{Engine, FastForward, RunSpec};
use judge::checkpoint::{Checkpoints, Every};
use judge::run::{REPORT_EVERY, RunError, RunOrder, RunResult, run, run_with};
use serde_json::Value;
use vocabulary::{LoadOptions, load_study, render};

pub(crate) fn load(text: &str) -> RunSpec {
    let study = load_study(
        text.as_bytes(),
        "s.toml",
        std::path::Path::new("."),
        &LoadOptions::default(),
    );
    study
        .map(|mut study| study.runs.remove(0))
        .unwrap_or_else(|findings| panic!("{}\n{text}", render(&findings)))
}

pub(crate) fn done(spec: &RunSpec) -> RunResult {
    run(spec, &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

/// All that a run tells but for how it was executed, and how many periods were left out.
pub(crate) fn told(spec: &RunSpec) -> (Value, u64) {
    all_of(&done(spec))
}

pub(crate) fn all_of(result: &RunResult) -> (Value, u64) {
    let mut summary = serde_json::to_value(&result.summary).unwrap();
    let left_out = summary["execution"].take()["skipped_periods"].as_u64().unwrap();
    for mood in ["cpu_s", "build_s", "peak_rss_bytes", "engine"] {
        summary[mood] = Value::Null;
    }
    let tables = (
        &result.links,
        &result.ranks,
        &result.stats.tracks,
        &result.stats.delivered,
    );
    summary["tables"] = Value::from(format!("{tables:?}"));
    (summary, left_out)
}

/// A study of one job.
fn study(network: &str, model: &str, work: &str, rest: &str) -> RunSpec {
    load(&format!(
        "name = \"s\"\n{network}\n[router]\nmodel = \"{model}\"\n[[job]]\nwork = {{ {work} }}\n{rest}\n[run]\nend = \"done\"\nseeds = [7]\n\
         [observe]\nlinks = true\n"
    ))
}

const FAT_TREE: &str = "[topology]\nkind = \"fat-tree\"\ndown = [4, 8]\nup = [4]\n[routing]\nkind = \"d-mod-k\"";
/// A model with more keys behind it.
const INPUT_QUEUED: &str = "credit\"\narchitecture = \"input-queued\"\nflit = \"64 B";
/// Short buffers: packets wait for room in them.
const OUTPUT_BUFFERED: &str = "credit\"\narchitecture = \"output-buffered\"\nbuffer = \"8 KiB\"\noutput_buffer = \"4 KiB\"\nswitching = \"cut-through";
const TORUS: &str = "[topology]\nkind = \"torus\"\nshape = [4, 3, 3]\n[routing]\nkind = \"dor\"";
const HYPERX: &str =
    "[topology]\nkind = \"hyperx\"\nshape = [4, 4]\nnodes_per_router = 2\n[routing]\nkind = \"minimal\"";
const TABLE: &str = "[topology]\nkind = \"fat-tree\"\ndown = [4, 8]\nup = [4]\n[routing]\nkind = \"sssp\"";

/// Runs a study with and without: the same must come of both. Returns the periods that were left out.
fn same(mut spec: RunSpec) -> u64 {
    spec.control.fast_forward = FastForward::Off;
    let (whole, none) = told(&spec);
    spec.control.fast_forward = FastForward::Exact;
    let (quick, left_out) = told(&spec);
    assert_eq!(none, 0);
    for (key, value) in whole.as_object().unwrap() {
        assert_eq!(*value, quick[key], "{key} of {spec:?}");
    }
    left_out
}

#[test]
fn the_result_is_that_of_all_iterations() {
    let sizes = "kind = \"allreduce-loop\", messages = [\"64 KiB\", \"3 KiB\", \"64 KiB\", \"3 KiB\"], compute = \"2 us\", iterations = 40";
    let works = [
        (40, "kind = \"halo3d-26\", iterations = 80"),
        (
            60,
            "kind = \"halo3d-26\", neighbours = \"18\", compute = \"1 us\", iterations = 80",
        ),
        (20, "kind = \"halo3d\", grid = [8, 8, 8], iterations = 80"),
        (20, "kind = \"sweep3d\", grid = [8, 8, 20], iterations = 60"),
        (20, "kind = \"suba2a\", iterations = 60"),
        (20, sizes),
        (
            60,
            "kind = \"collective\", collective = \"alltoall\", message = \"5 KiB\", iterations = 80",
        ),
        (20, "kind = \"ring\", message = \"20 KiB\", iterations = 80"),
    ];
    let mut clocked = 0;
    for (least, work) in works {
        for (network, model) in [
            (FAT_TREE, "sculpin"),
            (TORUS, "credit"),
            (HYPERX, "credit"),
            (TABLE, "sculpin"),
            (FAT_TREE, INPUT_QUEUED),
            (FAT_TREE, OUTPUT_BUFFERED),
        ] {
            let left_out = same(study(network, model, work, ""));
            let least = if network == FAT_TREE { least } else { 0 };
            clocked += u32::from(model == INPUT_QUEUED && left_out >= least);
            assert!(
                left_out >= least || network == TORUS || model == INPUT_QUEUED,
                "{work} {network} {model}: {left_out}"
            );
        }
    }
    // A period has to be one of the crossbars' clock as well.
    assert!(clocked >= 3, "{clocked} of 8 repeat");
}

/// Costs, protocols and places that ranks may have: none of them may be forgotten.
#[test]
fn it_holds_for_all_that_ranks_may_be_told() {
    let work = "kind = \"halo3d-26\", iterations = 60";
    let mut repeat = 0;
    let reduce = "kind = \"allreduce-loop\", messages = [\"40 KiB\"], iterations = 60";
    for mpi in [
        "[mpi]\neager = \"100 B\"",
        "[mpi]\neager = \"100 B\"\nrendezvous = \"get\"",
        "ranks_per_node = 3",
        "ranks_per_node = 2\nmapping = \"round-robin\"\n[mpi]\neager = \"1 KiB\"",
        "[mpi]\npreset = \"sst-macro\"",
        "[nic]\ncontrol = \"in-order\"\n[mpi]\neager = \"500 B\"",
    ] {
        for work in [work, reduce] {
            for model in ["sculpin", "credit"] {
                repeat += u32::from(same(study(FAT_TREE, model, work, mpi)) > 0);
            }
        }
    }
    // Several ranks on a node may get out of step for good.
    assert!(repeat > 15, "{repeat} of 24 repeat");
}

#[test]
fn every_engine_leaves_out_the_same() {
    let work = "kind = \"halo3d-26\", compute = \"500 ns\", iterations = 100";
    let mut spec = study(FAT_TREE, "credit", work, "[mpi]\neager = \"300 B\"");
    let (first, left_out) = told(&spec);
    assert!(left_out > 80, "{left_out}");
    for (engine, workers) in [
        (Engine::Reference, 1),
        (Engine::Conservative, 2),
        (Engine::Optimistic, 2),
        (Engine::RollbackCheck, 1),
    ] {
        (spec.control.engine, spec.control.workers) = (engine, workers);
        let (other, also) = told(&spec);
        assert_eq!((&other, also), (&first, left_out), "{engine:?}");
    }
}

/// How often a run is stopped.
const STOPS: usize = 6;

/// Runs a study from stop to stop, `stops` of them, each when it has told of itself a second time; `at_stop` may change it.
pub(crate) fn stopped(
    mut spec: RunSpec,
    keep: &Checkpoints,
    stops: usize,
    at_stop: &dyn Fn(&mut RunSpec, usize),
) -> (RunResult, usize) {
    let mut stopped = 0;
    loop {
        let mut asked = 0;
        let ended = run_with(&spec, Some(keep), &mut |_| {
            asked += 1;
            match asked {
                _ if stopped == stops => RunOrder::GoOn,
                // Nothing has happened yet. The next time is at the next checkpoint, however fast the machine is.
                1 => {
                    let from = cpu_time();
                    while cpu_time() - from < REPORT_EVERY {}
                    RunOrder::GoOn
                }
                _ => RunOrder::SaveAndStop,
            }
        });
        match ended {
            Ok(result) => return (result, stopped),
            Err(RunError::Interrupted { .. }) => stopped += 1,
            Err(error) => panic!("{error}"),
        }
        at_stop(&mut spec, stopped);
    }
}

/// Stopped every 26 us or 35 us of simulated time, also while a period is tried, and taken up again;
/// checkpoints are written in between as well.
#[test]
fn a_run_that_is_taken_up_again_and_again_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let network = FAT_TREE.replace("[4, 8]", "[8, 24]").replace("up = [4]", "up = [8]");
    let spec = study(&network, "credit", "kind = \"halo3d-26\", iterations = 60", "");
    let (whole, left_out) = told(&spec);
    assert!(left_out > 30, "{left_out}");
    for every in [13_000, 17_500] {
        let keep = Checkpoints {
            file: folder.path().join(format!("every-{every}")),
            every: Some(Every::Simulated(Time::from_ns(every))),
            resume: true,
        };
        let (result, stops) = stopped(spec.clone(), &keep, STOPS, &|_, _| {});
        assert_eq!(stops, STOPS, "checkpoints every {every} ns");
        assert_eq!(all_of(&result).0, whole, "checkpoints every {every} ns");
    }
}

#[test]
fn many_iterations_cost_what_few_do() {
    let work = |n: u32| {
        study(
            FAT_TREE,
            "sculpin",
            &format!("kind = \"halo3d-26\", iterations = {n}"),
            "",
        )
    };
    let (few, many) = (done(&work(1_000)), done(&work(1_000_000)));
    assert_eq!(
        few.summary.execution.skipped_periods,
        1_000 - (1_000_000 - many.summary.execution.skipped_periods)
    );
    // From the same period on all goes on alike: events and time of a million are told by those of a thousand and of two thousand.
    let more = done(&work(2_000));
    let grown = |of: fn(&RunResult) -> u64| of(&few) + 999 * (of(&more) - of(&few));
    let events = |run: &RunResult| run.summary.events;
    let messages = |run: &RunResult| run.stats.messages;
    let ends = |run: &RunResult| run.stats.latest;
    assert_eq!(
        (events(&many), messages(&many), ends(&many)),
        (grown(events), grown(messages), grown(ends))
    );
}

/// Numbers among the messages of a pair of ranks have 16 bits and go round.
#[test]
fn numbers_that_go_round_are_the_same_numbers() {
    let network = "[topology]\nkind = \"ring\"\nrouters = 3\n[routing]\nkind = \"minimal\"";
    for (work, mpi) in [
        ("kind = \"ring\", message = \"8 B\", iterations = 70_000", ""),
        (
            "kind = \"ping-pong\", ranks = 2, messages = [\"3 KiB\"], repeat = 1, iterations = 70_000",
            "[mpi]\neager = \"1 KiB\"",
        ),
    ] {
        let left_out = same(study(network, "credit", work, mpi));
        assert!(left_out > 69_900, "{left_out}");
    }
}

#[test]
fn what_may_draw_or_is_recorded_is_run_as_a_whole() {
    let halo = "kind = \"halo3d-26\", iterations = 30";
    let random = FAT_TREE.replace("d-mod-k", "min-random");
    let doubled = HYPERX.replace("nodes_per_router", "width = 2\nnodes_per_router");
    // One of several addresses is drawn for each message, whose ways take equally long and meet nobody: times say nothing of it.
    let addresses = TABLE
        .replace("\"sssp\"", "\"sssp\"\nlmc = 2\npath = \"random\"")
        .replace("[4, 8]", "[1, 8]");
    let pause = "kind = \"allreduce-loop\", messages = [\"20 KiB\"], compute = \"50 us\", iterations = 200";
    for (network, work, rest) in [
        (&random[..], halo, ""),
        (&addresses[..], pause, ""),
        (&doubled[..], halo, ""),
        (FAT_TREE, halo, "[mpi]\npreset = \"firefly\""),
        (FAT_TREE, "kind = \"graph500-bfs\", iterations = 40", ""),
    ] {
        assert_eq!(
            same(study(network, "sculpin", work, rest)),
            0,
            "{network} {work} {rest}"
        );
    }
    let full = load(&format!(
        "name = \"s\"\n{FAT_TREE}\n[[job]]\nwork = {{ {halo} }}\n[run]\nend = \"done\"\n[observe]\nmessages = true\n"
    ));
    assert_eq!(same(full), 0);
}

/// Draws that begin again after some messages of a node: with ways at random, too, all is as before after so many iterations, whatever a node sends in
/// one.
#[test]
fn ways_at_random_repeat_where_draws_go_in_a_cycle() {
    let dragonfly = "[topology]\nkind = \"dragonfly\"\ngroups = 5\nrouters_per_group = 4\nnodes_per_router = 2\nlinks_per_pair = 2\n[routing]\nkind = ";
    let hyperx = HYPERX.replace("\"minimal\"", "");
    let doubled = HYPERX.replace("nodes_per_router", "width = 2\nnodes_per_router");
    let up = FAT_TREE.replace("\"d-mod-k\"", "");
    let mut repeat = 0;
    let works = [
        "kind = \"ring\", message = \"20 KiB\", iterations = 300",
        "kind = \"collective\", collective = \"alltoall\", message = \"1 KiB\", iterations = 200",
    ];
    for network in [
        doubled,
        format!("{hyperx}\"valiant\""),
        format!("{hyperx}\"ugal\""),
        format!("{hyperx}\"doal\""),
        format!("{up}\"scatter\""),
        format!("{up}\"adaptive-up\""),
        format!("{up}\"min-random\""),
        format!("{dragonfly}\"minimal\""),
        format!("{dragonfly}\"par\""),
    ] {
        for work in works {
            for (cycle, model) in [(4, "credit"), (16, "sculpin")] {
                let mut spec = study(&network, model, work, "");
                if cycle == 4 {
                    assert_eq!(same(spec.clone()), 0, "{network}");
                }
                spec.control.draw_cycle = cycle;
                let left_out = same(spec);
                repeat += u32::from(left_out > 0);
            }
        }
    }
    assert!(repeat >= 20, "{repeat} of 36 repeat");
}

/// Of many pairs ways are as long as without a cycle; of few messages between two nodes there are as many ways as it has.
#[test]
fn draws_in_a_cycle_are_draws() {
    let hyperx = HYPERX.replace("minimal", "valiant");
    let cycled = |work: &str, cycle| {
        let mut spec = study(&hyperx, "sculpin", work, "");
        spec.control.draw_cycle = cycle;
        done(&spec)
    };
    let work = "kind = \"collective\", collective = \"alltoall\", message = \"1 KiB\", iterations = 16";
    let mean = |cycle| {
        let hops = cycled(work, cycle).stats.hops;
        let packets: u64 = hops.iter().sum();
        let all: u64 = hops.iter().zip(0..).map(|(packets, hops)| packets * hops).sum();
        all as f64 / packets as f64
    };
    // 15,872 packets of 0 to 4 hops: the standard error of the mean of independent ones is 0.008, of 992 pairs that draw once 0.03.
    let without = mean(0);
    for cycle in [1, 5, 16] {
        let with = mean(cycle);
        assert!((with - without).abs() < 0.12, "{cycle}: {with} {without}");
    }
    let used = |cycle| {
        let links = cycled("kind = \"ring\", message = \"1 KiB\", iterations = 64", cycle).links;
        links.iter().filter(|link| link.packets > 0).count()
    };
    let [one, four, all] = [1, 4, 0].map(used);
    assert!(one < four && four < all, "{one} {four} {all}");
    // Of an address that is drawn for each message it is not so.
    let parx = HYPERX.replace("minimal", "parx");
    let mut spec = study(&parx, "sculpin", "kind = \"ring\", iterations = 4", "");
    done(&spec);
    spec.control.draw_cycle = 4;
    let error = run(&spec, &mut |_| true).expect_err("it is refused").to_string();
    assert!(error.contains("do not begin again"), "{error}");
}

/// A trace that is played again and again, of computing, messages below and above the threshold, and collectives.
#[test]
fn traces_and_tables_of_operations_repeat() {
    let folder = tempfile::tempdir().unwrap();
    let ranks = 16;
    let mut text = "rank,op,peer,source,bytes,request,time_ps\n".to_owned();
    for me in 0..ranks {
        let (next, before, beside) = ((me + 5) % ranks, (me + ranks - 5) % ranks, me ^ 1);
        text += &format!(
            "{me},compute,,,,,300000\n{me},irecv,{before},,9000,1,\n{me},irecv,{beside},,200,2,\n{me},isend,{next},,9000,3,\n{me},isend,{beside},,200,4,\n\
             {me},wait,,,,1,\n{me},waitall,,,,,\n{me},sendrecv,{next},{before},5000,,\n{me},allreduce,,,700,,\n"
        );
    }
    std::fs::write(folder.path().join("trace.csv"), text).unwrap();
    let place = folder.path().join("trace.csv");
    let file = format!("kind = \"trace\", file = '{}', iterations = 60", place.display());
    let columns = "rank,op,peer,bytes\\n0,isend,1,5000\\n0,recv,1,64\\n1,recv,0,5000\\n1,send,0,64\\n0,waitall,,\\n";
    let table = format!("kind = \"ops\", ranks = 2, table = \"{columns}\", iterations = 60");
    for (network, model) in [(FAT_TREE, "sculpin"), (TABLE, "credit"), (FAT_TREE, INPUT_QUEUED)] {
        let left_out = [&file, &table].map(|work| same(study(network, model, work, "[mpi]\neager = \"3 KiB\"")));
        assert!(
            left_out.iter().all(|&left_out| left_out > 30) || model == INPUT_QUEUED,
            "{network} {model}: {left_out:?}"
        );
    }
}

/// Two jobs: one is over before the other, which goes on.
#[test]
fn jobs_that_end_one_after_the_other_are_each_counted() {
    let text = format!(
        "name = \"s\"\n{FAT_TREE}\n[[job]]\nnodes = 8\nwork = {{ kind = \"halo3d-26\", iterations = 50 }}\n[[job]]\nnodes = 8\n\
         work = {{ kind = \"halo3d-26\", iterations = 90 }}\n[run]\nend = \"done\"\n"
    );
    assert!(same(load(&text)) > 40);
}

/// What is measured begins, and the run ends, within a slice of time that many periods lie in.
#[test]
fn a_warm_up_may_end_anywhere() {
    let halo = "kind = \"halo3d-26\", iterations = 100000";
    for (end, warmup) in [
        ("1234567891 ps", "90 us"),
        ("2 ms", "101 us"),
        ("3 ms", "1999999999 ps"),
    ] {
        let spec = load(&format!(
            "name = \"s\"\n{FAT_TREE}\n[[job]]\nwork = {{ {halo} }}\n[run]\nend = \"{end}\"\nwarmup = \"{warmup}\"\nseeds = [7]\n"
        ));
        let left_out = same(spec);
        assert!(left_out > 100, "{end} {warmup}: {left_out}");
    }
}
