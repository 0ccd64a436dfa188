//! Where nothing repeats, most iterations may be estimated: the result is that of all of them but for an error that it tells.

use crate::fast_forward::{all_of, done, load, stopped};
use des::Time;
use fabric::spec::{Engine, FastForward, RunSpec};
use judge::checkpoint::{Checkpoints, Every};
use judge::results::EstimatedFigures;
use judge::run::RunResult;

/// A study of one job or several.
fn study(network: &str, jobs: &str, run: &str) -> RunSpec {
    load(&format!(
        "name = \"s\"\n{network}\n{jobs}\n[run]\nend = \"done\"\nfast_forward = \"statistical\"\n{run}\n[observe]\nlinks = true\n"
    ))
}

fn job(work: &str) -> String {
    format!("[[job]]\nwork = {{ {work} }}\n")
}

/// The same with all of it run.
fn whole(spec: &RunSpec) -> RunSpec {
    let mut spec = spec.clone();
    (spec.control.fast_forward, spec.control.precision) = (FastForward::Off, 0);
    spec
}

fn estimated(result: &RunResult) -> EstimatedFigures {
    result
        .summary
        .estimated
        .clone()
        .expect("a run that may estimate says what it has")
}

const SCATTER: &str = "[topology]\nkind = \"fat-tree\"\ndown = [4, 8]\nup = [4]\n[routing]\nkind = \"scatter\"\n[router]\nmodel = \"sculpin\"";
const ADAPTIVE: &str = "[topology]\nkind = \"fat-tree\"\ndown = [4, 8]\nup = [2]\n[routing]\nkind = \"adaptive-up\"\n[router]\nmodel = \"credit\"";
const PAR: &str = "[topology]\nkind = \"dragonfly\"\ngroups = 5\nrouters_per_group = 4\nnodes_per_router = 2\n[routing]\nkind = \"par\"\n[router]\nmodel = \"credit\"";
const VALIANT: &str = "[topology]\nkind = \"hyperx\"\nshape = [4, 4]\nnodes_per_router = 2\n[routing]\nkind = \"valiant\"\n[router]\nmodel = \"credit\"\narchitecture = \"input-queued\"\nflit = \"64 B\"";
/// Nothing is drawn, and ranks are never in step again.
const NEVER: &str = "[topology]\nkind = \"fat-tree\"\ndown = [4, 16]\nup = [4]\n[routing]\nkind = \"d-mod-k\"\n[router]\nmodel = \"sculpin\"";
const CELLS: &str = "kind = \"halo3d-26\", grid = [64, 64, 64], vars = 8, iterations = 700";

#[test]
fn the_result_is_that_of_all_iterations_within_the_error_that_is_told() {
    let reduce = "kind = \"allreduce-loop\", messages = [\"64 KiB\"], compute = \"2 us\", iterations = 800";
    let every = "kind = \"collective\", collective = \"alltoall\", message = \"5 KiB\", iterations = 400";
    let works = [
        (NEVER, CELLS, 1),
        (SCATTER, CELLS, 1),
        (ADAPTIVE, every, 2),
        (PAR, reduce, 3),
        (VALIANT, reduce, 3),
    ];
    let (mut cases, mut outside) = (0, 0);
    for (network, work, seeds) in works {
        for seed in 1..=seeds {
            let spec = study(network, &job(work), &format!("seeds = [{seed}]"));
            let (all, some) = (done(&whole(&spec)).summary, done(&spec));
            let figures = estimated(&some);
            let some = some.summary;
            let error = (some.sim_time_ns - all.sim_time_ns).abs();
            let about = format!("{work} {network} {seed}: {figures:?}, {error} ns");
            assert!(figures.share > 0.2 && some.events < all.events, "{about}");
            assert!(figures.error_ns < 0.015 * all.sim_time_ns, "{about}");
            assert!(error < 2.0 * figures.error_ns, "{about}");
            cases += 1;
            outside += u32::from(error > figures.error_ns);
            let near =
                |one: f64, other: f64, by: f64| assert!((one - other).abs() <= by * other, "{about}: {one} {other}");
            near(some.messages as f64, all.messages as f64, 0.01);
            near(some.bytes_delivered as f64, all.bytes_delivered as f64, 0.01);
            near(some.packet_hops as f64, all.packet_hops as f64, 0.015);
            near(some.latency_ns.mean.unwrap(), all.latency_ns.mean.unwrap(), 0.05);
            let busiest = |link: &Option<judge::results::BusyLink>| link.as_ref().unwrap().busy;
            near(busiest(&some.busiest_link), busiest(&all.busiest_link), 0.05);
            assert!(some.verdict.ok, "{about}");
        }
    }
    // One of twenty is expected.
    assert!(outside <= cases / 5, "{outside} of {cases}");
}

/// Jobs that share links, each with iterations of its own length: when each of them is done.
#[test]
fn jobs_of_their_own_lengths_are_done_when_they_would_be() {
    for (network, nodes) in [(SCATTER, 16), (VALIANT, 16)] {
        let jobs = format!(
            "[[job]]\nname = \"a\"\nnodes = {nodes}\nplacement = \"random\"\nwork = {{ kind = \"allreduce-loop\", messages = [\"64 KiB\"], compute = \"2 us\", iterations = 700 }}\n\
             [[job]]\nname = \"b\"\nnodes = {nodes}\nplacement = \"random\"\nwork = {{ kind = \"halo3d-26\", grid = [16, 16, 16], iterations = 3_000 }}\n"
        );
        let spec = study(network, &jobs, "seeds = [3]");
        let (all, some) = (done(&whole(&spec)), done(&spec));
        let figures = estimated(&some);
        assert!(figures.share > 0.5, "{network}: {figures:?}");
        for (one, other) in some.summary.jobs.iter().zip(&all.summary.jobs) {
            let times = [one, other].map(|job| job.time_ns.unwrap());
            let error = (times[0] - times[1]).abs();
            assert!(error <= 1.5 * figures.error_ns, "{network} {times:?} {figures:?}");
        }
    }
}

/// As long as one job is nearly done nobody is moved on; then the other one is.
#[test]
fn a_short_job_ends_as_it_would_beside_a_long_one() {
    let short = "nodes = 16\nplacement = \"random\"\nwork = { kind = \"halo3d-26\", grid = [16, 16, 16], vars = 4, iterations = 12 }\n";
    let long = "nodes = 16\nplacement = \"random\"\nwork = { kind = \"allreduce-loop\", messages = [\"64 KiB\"], compute = \"2 us\", iterations = 700 }\n";
    let spec = study(SCATTER, &format!("[[job]]\n{short}[[job]]\n{long}"), "seeds = [3]");
    let (all, some) = (done(&whole(&spec)), done(&spec));
    assert_eq!(some.summary.jobs[0].time_ns, all.summary.jobs[0].time_ns);
    let figures = estimated(&some);
    assert!(figures.share > 0.5, "{figures:?}");
    assert!((some.summary.sim_time_ns - all.summary.sim_time_ns).abs() < 1.5 * figures.error_ns);
}

#[test]
fn every_engine_estimates_the_same() {
    for network in [SCATTER, PAR] {
        let mut spec = study(
            network,
            &job("kind = \"allreduce-loop\", messages = [\"64 KiB\"], compute = \"2 us\", iterations = 200"),
            "seeds = [5]",
        );
        let engines = [
            (Engine::Sequential, 1),
            (Engine::Reference, 1),
            (Engine::Conservative, 2),
            (Engine::Optimistic, 2),
        ];
        let mut first = None;
        for (engine, workers) in engines {
            (spec.control.engine, spec.control.workers) = (engine, workers);
            let result = done(&spec);
            assert!(estimated(&result).iterations > 80);
            let told = all_of(&result).0;
            let first = first.get_or_insert_with(|| told.clone());
            for (key, value) in first.as_object().unwrap() {
                assert!(*value == told[key], "{key} on {engine:?}");
            }
        }
    }
}

/// What repeats is counted, and no estimate comes near it; what is another in each iteration, too short or recorded as it happens is run.
#[test]
fn what_repeats_or_cannot_be_estimated_is_what_it_was() {
    let steady = SCATTER.replace("scatter", "d-mod-k");
    let halo = "kind = \"halo3d-26\", iterations = ";
    let cases = [
        (&steady[..], job(&format!("{halo}300")), "", true),
        (SCATTER, job("kind = \"graph500-bfs\", iterations = 40"), "", false),
        (SCATTER, job(&format!("{halo}30")), "", false),
        (
            SCATTER,
            format!("{}[mpi]\npreset = \"firefly\"\n", job(&format!("{halo}100"))),
            "",
            false,
        ),
    ];
    for (network, jobs, run, repeats) in cases {
        let spec = study(network, &jobs, run);
        let result = done(&spec);
        assert_eq!(estimated(&result), EstimatedFigures::default(), "{jobs}");
        let ((mut some, left_out), (mut all, _)) = (all_of(&result), all_of(&done(&whole(&spec))));
        assert_eq!(left_out > 0, repeats, "{jobs}");
        let note = some["notes"].as_array_mut().unwrap().pop().unwrap();
        assert!(note.as_str().unwrap().starts_with("estimated: nothing"), "{note}");
        for told in [&mut some, &mut all] {
            told.as_object_mut().unwrap().remove("estimated");
        }
        assert_eq!(some, all, "{jobs}");
    }
}

/// Behind a stop what is known of iterations is measured anew.
#[test]
fn a_run_that_is_taken_up_again_estimates_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let work = "kind = \"halo3d-26\", grid = [16, 16, 16], vars = 4, iterations = 400";
    let large = SCATTER.replace("[4, 8]", "[8, 24]").replace("up = [4]", "up = [8]");
    let spec = study(&large, &job(work), "seeds = [5]");
    let whole = done(&spec);
    let keep = Checkpoints {
        file: folder.path().join("run"),
        every: Some(Every::Simulated(Time::from_ns(whole.summary.sim_time_ns as u64 / 40))),
        resume: true,
    };
    let (result, stops) = stopped(spec, &keep, 3, &|_, _| {});
    assert_eq!(stops, 3);
    let (one, other) = (estimated(&result), estimated(&whole));
    let apart = (result.summary.sim_time_ns - whole.summary.sim_time_ns).abs();
    assert!(apart < one.error_ns + other.error_ns, "{one:?} {other:?} {apart}");
    assert!(one.share > 0.2, "{one:?}");
}
