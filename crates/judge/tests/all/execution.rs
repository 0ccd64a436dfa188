//! How a run was executed is told, and changes nothing of its result.

use fabric::spec::*;
use judge::results::Execution;
use judge::run::run;
use topo::{Lattice, TopologySpec};

/// A torus of 64 routers at a load, on an engine: digest, events and execution.
fn execute(load: f64, engine: Engine, workers: u16) -> (String, u64, Execution) {
    let mut spec = plain(TopologySpec::Torus(Lattice {
        shape: vec![4; 3],
        width: vec![],
        nodes_per_router: 1,
    }));
    spec.control.engine = engine;
    spec.control.workers = workers;
    let Work::Synthetic(work) = &mut spec.jobs[0].work else {
        panic!("a synthetic load");
    };
    work.load = Some(load);
    let summary = run(&spec, &mut |_| true).unwrap().summary;
    (summary.digest, summary.events, summary.execution)
}

#[test]
fn a_run_ahead_says_what_it_did() {
    let (digest, events, alone) = execute(0.05, Engine::Conservative, 1);
    assert_eq!(alone.speculation, None);
    let (same, _, execution) = execute(0.05, Engine::Optimistic, 2);
    assert_eq!(same, digest);
    assert_eq!(execution.workers, 2);
    assert!(
        execution
            .barrier_share
            .is_some_and(|share| (0.0..=1.0).contains(&share))
    );
    let did = execution.speculation.expect("it speculates");
    assert_eq!(did.events_committed, events);
    assert_eq!(did.events_executed, did.events_committed + did.events_rolled_back);
    assert!(
        did.rounds > 0 && did.deepest_round > 1 && did.peak_kept_bytes > 0,
        "{did:?}"
    );
    assert!(did.events_safe > 0 && did.events_safe < events, "{did:?}");
    assert!(did.efficiency > 0.0 && did.efficiency <= 1.0, "{did:?}");
}

#[test]
fn a_choice_that_needs_no_trial_is_told_in_words() {
    // A window holds some five events.
    let (digest, _, _) = execute(0.005, Engine::Conservative, 1);
    for workers in [2, 40] {
        let (same, _, execution) = execute(0.005, Engine::Auto, workers);
        assert_eq!(same, digest);
        let remark = execution.remark.expect("one worker ran, and why");
        assert!(remark.starts_with("one worker ran: "), "{remark}");
        if workers == 40 && std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1) {
            assert!(remark.contains("64 routers are too few"), "{remark}");
            assert_eq!(execution.workers, 1);
        }
    }
}
