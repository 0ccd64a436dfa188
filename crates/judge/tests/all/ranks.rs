//! Runs that ranks share: with workers on threads within each and with checkpoints they end as a run on one process does.

use crate::vc_router::whose_credits_wait;
use des::ranks::{Broken, Transport, local};
use des::{Columns as _, Time, World as _};
use fabric::models::Credit;
use fabric::network::Network;
use fabric::network::model::Fabric;
use fabric::spec::*;
use judge::checkpoint::{CheckpointError, Checkpoints, Every};
use judge::results::{Execution, LoadState};
use judge::run::{Means, RunError, RunOrder, RunProgress, RunResult, run, run_by, run_with};
use std::path::PathBuf;
use topo::{Lattice, RingSpec, TopologySpec};

fn synthetic(load: f64) -> Work {
    Work::Synthetic(Synthetic {
        load: Some(load),
        ..Synthetic::of(Pattern::Uniform, Bytes(3_000))
    })
}

fn batches() -> Work {
    Work::Pairs(Pairs {
        matching: Matching::Mutual,
        mode: PairMode::Batch { batch: 3 },
        messages: 7,
        message: Bytes(5_000),
        ack: Bytes(64),
        active: None,
        start_spread: Time(1_000),
        seed: None,
    })
}

/// Endless sources and nodes that react, with waiting packets and without.
fn cases() -> Vec<(&'static str, RunSpec)> {
    let lattice = |shape: &[u32], nodes_per_router| Lattice {
        shape: shape.to_vec(),
        width: Vec::new(),
        nodes_per_router,
    };
    let mut torus = plain(TopologySpec::Torus(lattice(&[4, 3], 2)));
    torus.router.model = RouterKind::CREDIT;
    torus.router.buffer = Some(Bytes(5_000));
    torus.routing = RoutingSpec::MIN_A;
    let mut hyperx = plain(TopologySpec::HyperX(lattice(&[4, 3], 3)));
    hyperx.router.model = RouterKind::SCULPIN;
    let mesh = whose_credits_wait(1, 2);
    let mut cases = Vec::new();
    for (what, spec) in [("torus", torus), ("hyperx", hyperx), ("mesh", mesh)] {
        for (work, end) in [(synthetic(0.8), Some(Time::from_us(3))), (batches(), None)] {
            let mut spec = spec.clone();
            spec.jobs[0].work = work;
            spec.control.end = end;
            spec.control.workers = 0;
            spec.observe.messages = MessageDetail::Full;
            spec.observe.links = true;
            cases.push((what, spec));
        }
    }
    cases
}

/// A folder of a test, removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("fabricsim-ranks-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    fn checkpoints(&self, every: Option<Every>, resume: bool) -> Checkpoints {
        Checkpoints {
            file: self.0.join("run.checkpoint"),
            every,
            resume,
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Ranks and workers of each.
type Shape = (usize, u16);

const SHAPES: [Shape; 4] = [(2, 1), (3, 1), (2, 2), (3, 2)];

/// What every rank of a run has in the end. `order` is asked on each with its number.
fn on_ranks(
    spec: &RunSpec,
    (ranks, threads): Shape,
    checkpoints: Option<&Checkpoints>,
    order: impl Fn(usize, &RunProgress) -> RunOrder + Sync,
) -> Vec<Result<Option<RunResult>, RunError>> {
    let mut ends = local::connect(ranks);
    let order = &order;
    std::thread::scope(|scope| {
        let runs = ends.iter_mut().enumerate().map(|(rank, end)| {
            scope.spawn(move || {
                let means = Means {
                    threads,
                    checkpoints,
                    ranks: Some(end),
                };
                run_by(spec, means, &mut |progress| order(rank, progress))
            })
        });
        let runs: Vec<_> = runs.collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    })
}

/// The result of a run on ranks to its end.
fn finished(spec: &RunSpec, shape: Shape, checkpoints: Option<&Checkpoints>) -> RunResult {
    let results = on_ranks(spec, shape, checkpoints, |_, _| RunOrder::GoOn);
    let mut results = results.into_iter().map(|result| result.unwrap());
    let first = results.next().flatten().unwrap();
    assert!(results.all(|result| result.is_none()));
    first
}

/// Whatever of a result must not depend on how it was come by.
fn content(mut result: RunResult) -> String {
    result.stats.rows.iter_mut().for_each(|rows| rows.sort_unstable());
    result.stats.set_out.sort_unstable();
    let mut summary = result.summary;
    summary.execution = Execution::default();
    (summary.cpu_s, summary.build_s, summary.peak_rss_bytes, summary.engine) = (0.0, 0.0, 0, "");
    format!(
        "{summary:?} {:?} {:?} {:?} {:?}",
        result.stats, result.links, result.sample, result.messages
    )
}

#[test]
fn workers_within_ranks_give_the_result_of_one_process_and_so_do_those_that_run_ahead() {
    for (what, spec) in cases() {
        let whole = content(run(&spec, &mut |_| true).unwrap());
        for shape in SHAPES {
            let mut ahead = spec.clone();
            ahead.control.engine = Engine::Optimistic;
            let shared = finished(&ahead, shape, None);
            assert_eq!(shared.summary.engine, "optimistic");
            assert!(content(shared) == whole, "{what} ahead on {shape:?}");
            let shared = finished(&spec, shape, None);
            assert_eq!(shared.summary.engine, "conservative");
            assert_eq!(
                shared.summary.execution.workers,
                shape.0 * usize::from(shape.1),
                "{what}"
            );
            assert!(content(shared) == whole, "{what} on {shape:?}");
            // The number in the specification goes before the threads that are there.
            let mut asked = spec.clone();
            asked.control.workers = 1;
            let shared = finished(&asked, shape, None);
            assert_eq!(shared.summary.execution.workers, shape.0);
        }
    }
}

/// Whether a run is drained is decided at its end from what all ranks know together.
#[test]
fn ranks_agree_that_a_network_could_serve_none_of_its_jobs() {
    let (_, mut spec) = cases().swap_remove(2);
    spec.topology = TopologySpec::Ring(RingSpec {
        routers: 12,
        width: 1,
        nodes_per_router: 1,
    });
    spec.jobs[0].work = synthetic(1.0);
    spec.control.end = Some(Time::from_us(100));
    let whole = run(&spec, &mut |_| true).unwrap();
    assert_eq!(whole.summary.verdict.state, LoadState::Saturated);
    assert!(whole.summary.sim_time_ns < 110_000.0, "it is not drained");
    let whole = content(whole);
    for shape in SHAPES {
        assert!(content(finished(&spec, shape, None)) == whole, "{shape:?}");
    }
}

#[test]
fn checkpoints_of_ranks_go_on_on_any_ranks_and_on_one_process() {
    let folder = Folder::new("any");
    for (i, (what, mut spec)) in cases().into_iter().enumerate() {
        let whole = run(&spec, &mut |_| true).unwrap();
        let spent = whole.summary.sim_time_ns * 1e3;
        let whole = content(whole);
        // The last one may fall behind the end of endless sources: while the network is drained.
        let every = Every::Simulated(Time((spent * [0.4, 0.7, 0.92][i % 3]) as u64));
        let engines = [Engine::Auto, Engine::Optimistic];
        for (n, shape) in SHAPES.into_iter().enumerate() {
            spec.control.engine = engines[n % 2];
            let keep = folder.checkpoints(Some(every), false);
            assert!(
                content(finished(&spec, shape, Some(&keep))) == whole,
                "{what} on {shape:?}"
            );
            let file = std::fs::read(&keep.file).unwrap();
            for (n, other) in SHAPES.into_iter().enumerate() {
                spec.control.engine = engines[n / 2];
                let resumed = finished(&spec, other, Some(&folder.checkpoints(None, true)));
                assert!(content(resumed) == whole, "{what} from {shape:?} on {other:?}");
            }
            let alone = run_with(&spec, Some(&folder.checkpoints(None, true)), &mut |_| RunOrder::GoOn).unwrap();
            assert!(content(alone) == whole, "{what} from {shape:?} alone");
            assert!(
                std::fs::read(&keep.file).unwrap() == file,
                "no other checkpoint was due"
            );
        }
        // And the other way round.
        let keep = folder.checkpoints(Some(every), false);
        run_with(&spec, Some(&keep), &mut |_| RunOrder::GoOn).unwrap();
        let resumed = finished(&spec, (2, 2), Some(&folder.checkpoints(None, true)));
        assert!(content(resumed) == whole, "{what} from one process");
    }
}

/// A run that is long enough to be stopped several times.
fn long() -> RunSpec {
    let (_, mut spec) = cases().swap_remove(0);
    spec.control.end = Some(Time::from_us(1_500));
    spec.control.drain = Some(Time::ZERO);
    spec.observe.messages = MessageDetail::Summary;
    spec
}

#[test]
fn any_rank_can_have_all_write_a_checkpoint_and_stop() {
    let folder = Folder::new("stop");
    let spec = long();
    let whole = content(run(&spec, &mut |_| true).unwrap());
    let every = Every::Simulated(Time::from_us(70));
    let keep = folder.checkpoints(Some(every), true);
    let mut at = Vec::new();
    for (shape, who) in [((2, 1), 0), ((3, 1), 2), ((2, 2), 1)] {
        let stopped = on_ranks(&spec, shape, Some(&keep), |rank, _| match rank == who {
            true => RunOrder::SaveAndStop,
            false => RunOrder::GoOn,
        });
        let times = stopped.into_iter().map(|result| match result {
            Err(RunError::Interrupted { at }) => at,
            other => panic!("{shape:?}: {other:?}"),
        });
        let times: Vec<Time> = times.collect();
        assert!(times.iter().all(|time| *time == times[0]), "{times:?}");
        at.push(times[0]);
        assert!(keep.file.is_file());
    }
    assert!(at.is_sorted() && at[0] < at[2], "{at:?}");
    // A plain stop leaves the file as it is.
    let file = std::fs::read(&keep.file).unwrap();
    let quiet = folder.checkpoints(None, true);
    let stopped = on_ranks(&spec, (2, 1), Some(&quiet), |_, _| RunOrder::Stop);
    assert!(
        stopped
            .iter()
            .all(|result| matches!(result, Err(RunError::Interrupted { .. })))
    );
    assert!(std::fs::read(&keep.file).unwrap() == file);
    assert!(content(finished(&spec, (3, 1), Some(&keep))) == whole);
    // Anew: the file goes.
    assert!(content(finished(&spec, (2, 1), Some(&folder.checkpoints(None, false)))) == whole);
    assert!(!keep.file.exists());
}

#[test]
fn checkpoints_of_ranks_by_wall_time_come_when_the_first_rank_wants_them() {
    let folder = Folder::new("wall");
    let spec = long();
    let whole = content(run(&spec, &mut |_| true).unwrap());
    let keep = folder.checkpoints(Some(Every::parse("0.001 s").unwrap()), false);
    assert!(content(finished(&spec, (2, 1), Some(&keep))) == whole);
    assert!(keep.file.is_file());
    assert!(content(finished(&spec, (3, 1), Some(&folder.checkpoints(None, true)))) == whole);
}

#[test]
fn all_ranks_end_where_the_first_has_trouble_with_its_file() {
    let folder = Folder::new("trouble");
    let (_, spec) = cases().swap_remove(0);
    let elsewhere = |results: &[Result<Option<RunResult>, RunError>]| {
        let rest = &results[1..];
        assert!(
            rest.iter().all(|result| matches!(result, Err(RunError::Elsewhere))),
            "{rest:?}"
        );
    };
    let keep = folder.checkpoints(Some(Every::Simulated(Time::from_us(1))), true);
    std::fs::write(&keep.file, b"Lorem ipsum").unwrap();
    let refused = on_ranks(&spec, (3, 1), Some(&keep), |_, _| RunOrder::GoOn);
    assert!(matches!(
        &refused[0],
        Err(RunError::Checkpoint(
            CheckpointError::Torn { .. } | CheckpointError::Foreign(_)
        ))
    ));
    elsewhere(&refused);
    // A folder that is not there.
    let nowhere = Checkpoints {
        file: folder.0.join("gone").join("run.checkpoint"),
        ..keep
    };
    let failed = on_ranks(&spec, (3, 1), Some(&nowhere), |_, _| RunOrder::GoOn);
    assert!(
        matches!(&failed[0], Err(RunError::Checkpoint(CheckpointError::Write { .. }))),
        "{failed:?}"
    );
    elsewhere(&failed);
}

#[test]
fn what_ranks_cannot_share_is_refused_by_name() {
    let (_, spec) = cases().swap_remove(0);
    let refusal = |spec: &RunSpec| {
        let results = on_ranks(spec, (2, 1), None, |_, _| RunOrder::GoOn);
        let words: Vec<String> = results
            .into_iter()
            .map(|result| result.unwrap_err().to_string())
            .collect();
        assert_eq!(words[0], words[1]);
        words.into_iter().next().unwrap()
    };
    for engine in [Engine::Sequential, Engine::Reference, Engine::RollbackCheck] {
        let mut spec = spec.clone();
        spec.control.engine = engine;
        assert!(refusal(&spec).contains("run.engine"), "{engine:?}: {}", refusal(&spec));
    }
    let mut ideal = spec.clone();
    ideal.links.default.latency = Time::ZERO;
    ideal.router.traversal = Time::ZERO;
    assert!(refusal(&ideal).contains("no window"), "{}", refusal(&ideal));
}

#[test]
fn a_deadlock_across_ranks_is_told_as_on_one_process() {
    // Rings of one channel and buffers of one packet, under all the load there is.
    for architecture in [Architecture::VOQ, Architecture::LATE_ADMISSION] {
        let mut spec = plain(TopologySpec::Torus(Lattice {
            shape: vec![4, 4],
            width: Vec::new(),
            nodes_per_router: 2,
        }));
        spec.routing = RoutingSpec::DOR;
        spec.router.architecture = architecture;
        spec.router.vcs = Some(1);
        spec.router.buffer = Some(Bytes(2_048));
        spec.router.allow_deadlock = true;
        spec.jobs[0].work = Work::Synthetic(Synthetic {
            load: None,
            count: Some(200),
            ..Synthetic::of(Pattern::Uniform, Bytes(2_048))
        });
        spec.control.end = None;
        spec.control.workers = 0;
        let verdict = |result: Result<Option<RunResult>, RunError>| match result {
            Err(RunError::Check(summary)) => summary.verdict,
            other => panic!("{architecture:?}: no failed check, {}", other.is_ok()),
        };
        let alone = verdict(run(&spec, &mut |_| true).map(Some));
        let cycle = alone.failures();
        assert!(cycle.matches(" -> ").count() >= 2, "{cycle}");
        for shape in [(2, 1), (3, 2)] {
            let mut results = on_ranks(&spec, shape, None, |_, _| RunOrder::GoOn).into_iter();
            let shared = verdict(results.next().unwrap());
            assert!(results.all(|result| matches!(result, Ok(None))));
            assert_eq!(shared, alone, "{architecture:?} on {shape:?}");
        }
    }
}

/// Counts the bytes that come from other ranks in the largest exchange.
struct Weighed<'a> {
    end: &'a mut dyn Transport,
    most: usize,
}

impl Transport for Weighed<'_> {
    fn rank(&self) -> usize {
        self.end.rank()
    }

    fn size(&self) -> usize {
        self.end.size()
    }

    fn exchange(&mut self, out: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Broken> {
        let came = self.end.exchange(out)?;
        let others = came.iter().enumerate().filter(|&(from, _)| from != self.end.rank());
        self.most = self.most.max(others.map(|(_, bytes)| bytes.len()).sum());
        Ok(came)
    }
}

#[test]
fn no_rank_gets_the_state_of_another() {
    let (_, mut spec) = cases().swap_remove(0);
    spec.topology = TopologySpec::Torus(Lattice {
        shape: vec![24, 24],
        width: Vec::new(),
        nodes_per_router: 2,
    });
    spec.jobs[0].work = synthetic(0.01);
    spec.control.workers = 1;
    spec.observe.links = false;
    spec.observe.messages = MessageDetail::Summary;
    let world = Fabric::<Credit>::new(&spec, Network::build(&spec).unwrap());
    let (state, _) = world.start(0..world.n_lps());
    let others = state.memory() / 2;
    let mut ends = local::connect(2);
    let spec = &spec;
    let most: Vec<usize> = std::thread::scope(|scope| {
        let runs = ends.iter_mut().map(|end| {
            scope.spawn(move || {
                let mut weighed = Weighed { end, most: 0 };
                let means = Means {
                    threads: 1,
                    checkpoints: None,
                    ranks: Some(&mut weighed),
                };
                run_by(spec, means, &mut |_| RunOrder::GoOn).unwrap();
                weighed.most
            })
        });
        let runs: Vec<_> = runs.collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    assert!(most.iter().all(|&most| most < others / 8), "{most:?} of {others}");
}
