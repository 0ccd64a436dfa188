//! Loads of links over time: windows hold all that the links carried, alike on every engine, and cost the run nothing but the looks.

use des::Time;
use des::ranks::local;
use fabric::spec::*;
use judge::checkpoint::{Checkpoints, Every};
use judge::results::LinkWindowRow;
use judge::run::{Means, RunError, RunOrder, RunResult, run, run_by, run_with};
use std::collections::BTreeMap;
use topo::{Lattice, TopologySpec};

fn torus(model: RouterKind, load: f64) -> RunSpec {
    let mut spec = plain(TopologySpec::Torus(Lattice {
        shape: vec![4, 3],
        width: Vec::new(),
        nodes_per_router: 2,
    }));
    spec.router.model = model;
    spec.routing = RoutingSpec::MIN_A;
    spec.jobs[0].work = Work::Synthetic(Synthetic {
        load: Some(load),
        ..Synthetic::of(Pattern::Uniform, Bytes(3_000))
    });
    spec.control.end = Some(Time::from_us(4));
    spec.observe.links = true;
    spec.observe.links_every = Some(Time::from_ns(300));
    spec
}

fn go(spec: &RunSpec) -> RunResult {
    run(spec, &mut |_| true).unwrap()
}

fn windows(result: &RunResult) -> &[LinkWindowRow] {
    result.link_windows.as_deref().unwrap()
}

/// Windows of every link add up to the time that it was busy over the whole run, and none is busy for longer than it lasts.
fn check_sums(what: &str, result: &RunResult) {
    let mut sums: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for row in windows(result) {
        assert!(
            row.utilisation > 0.0 && row.utilisation <= 1.0 + 1e-9,
            "{what}: {row:?}"
        );
        *sums.entry((row.router, row.port)).or_default() += row.utilisation * (row.to - row.from) as f64;
    }
    let span = result.summary.sim_time_ns * 1e3;
    assert!(!result.links.is_empty());
    for link in &result.links {
        let sum = sums.remove(&(link.router, link.port)).unwrap_or(0.0);
        let whole = link.utilisation * span;
        assert!(
            (sum - whole).abs() <= 2.0,
            "{what}: {sum} ps in windows of {link:?}, {whole} in all"
        );
    }
    assert!(sums.is_empty(), "{what}: links that are none: {sums:?}");
}

#[test]
fn windows_add_up_to_the_loads_of_the_run_under_every_router_model() {
    for model in [RouterKind::SCULPIN, RouterKind::CREDIT] {
        // Light load, and more than the network carries.
        for load in [0.2, 1.0] {
            let result = go(&torus(model, load));
            check_sums(&format!("{model:?} at {load}"), &result);
            let last = windows(&result).iter().map(|row| row.window).max().unwrap();
            assert!(last >= 13, "4 us are more than 13 windows of 300 ns: {last}");
        }
    }
}

#[test]
fn looking_changes_nothing_else_and_every_engine_sees_the_same() {
    let spec = torus(RouterKind::CREDIT, 0.7);
    let seen = go(&spec);
    let mut blind = spec.clone();
    blind.observe.links_every = None;
    let unseen = go(&blind);
    assert!(unseen.link_windows.is_none());
    assert_eq!(seen.summary.digest, unseen.summary.digest);
    assert_eq!(seen.links, unseen.links);
    for (engine, workers) in [
        (Engine::Reference, 1),
        (Engine::RollbackCheck, 1),
        (Engine::Conservative, 2),
        (Engine::Optimistic, 2),
    ] {
        let mut spec = spec.clone();
        (spec.control.engine, spec.control.workers) = (engine, workers);
        assert_eq!(windows(&go(&spec)), windows(&seen), "{engine:?}");
    }
    let mut ends = local::connect(2);
    let shared = std::thread::scope(|scope| {
        let runs = ends.iter_mut().map(|end| scope.spawn(|| by_rank(&spec, end, None)));
        let runs: Vec<_> = runs.collect();
        runs.into_iter()
            .map(|run| run.join().unwrap().unwrap())
            .collect::<Vec<_>>()
    });
    assert_eq!(windows(shared[0].as_ref().unwrap()), windows(&seen), "two ranks");
}

fn by_rank(
    spec: &RunSpec,
    end: &mut local::Local,
    checkpoints: Option<&Checkpoints>,
) -> Result<Option<RunResult>, RunError> {
    let means = Means {
        threads: 1,
        checkpoints,
        ranks: Some(end),
    };
    run_by(spec, means, &mut |_| RunOrder::GoOn)
}

#[test]
fn a_run_of_many_windows_has_them_joined() {
    let mut spec = torus(RouterKind::SCULPIN, 0.5);
    spec.observe.links_every = Some(Time::from_ns(1));
    let result = go(&spec);
    check_sums("joined", &result);
    let lengths: Vec<u64> = windows(&result).iter().map(|row| row.to - row.from).collect();
    // At least 4 us in less than 1,024 windows: 4 ns each at the least, and a power of two.
    let length = lengths[0];
    assert!(
        length.is_multiple_of(4_000) && (length / 1_000).is_power_of_two(),
        "{length} ps"
    );
    assert!(windows(&result).iter().all(|row| row.window < 1_024));
    let mut coarse = spec.clone();
    coarse.observe.links_every = Some(Time(length));
    assert_eq!(windows(&go(&coarse)), windows(&result), "joined ones are as long ones");
}

#[test]
fn a_run_that_is_taken_up_again_has_all_its_windows() {
    let folder = std::env::temp_dir().join(format!("fabricsim-link-windows-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let spec = torus(RouterKind::CREDIT, 0.7);
    let whole = go(&spec);
    let mut keep = Checkpoints {
        file: folder.join("run.checkpoint"),
        every: Some(Every::Simulated(Time::from_ns(1_750))),
        resume: false,
    };
    // The file of the last one stays; another engine goes on from it.
    run_with(&spec, Some(&keep), &mut |_| RunOrder::GoOn).unwrap();
    assert!(keep.file.exists());
    keep.resume = true;
    let mut other = spec.clone();
    (other.control.engine, other.control.workers) = (Engine::Conservative, 2);
    let resumed = run_with(&other, Some(&keep), &mut |_| RunOrder::GoOn).unwrap();
    assert_eq!(windows(&resumed), windows(&whole));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn ranks_that_keep_checkpoints_refuse_windows() {
    let spec = torus(RouterKind::CREDIT, 0.2);
    let keep = Checkpoints {
        file: std::env::temp_dir().join("fabricsim-link-windows-refused"),
        every: None,
        resume: false,
    };
    let mut ends = local::connect(2);
    let errors: Vec<_> = std::thread::scope(|scope| {
        let runs = ends
            .iter_mut()
            .map(|end| scope.spawn(|| by_rank(&spec, end, Some(&keep))));
        let runs: Vec<_> = runs.collect();
        runs.into_iter()
            .map(|run| run.join().unwrap().unwrap_err().to_string())
            .collect()
    });
    assert!(errors.iter().all(|error| error.contains("links_every")), "{errors:?}");
}
