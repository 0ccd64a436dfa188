//! Networks run far ahead of what is safe: every router model is rolled back many times and gives the answer of the window engine.

use des::Time;
use des::engine::{Stop, history};
use des::optimistic::Speculation;
use fabric::engines::EngineKind;
use fabric::models::AnyFabric;
use fabric::network::Network;
use fabric::observe::{Span, Stats};
use fabric::spec::*;
use fabric::state::{Parts, State};
use topo::{Lattice, TopologySpec};

/// A torus with traffic that keeps its queues filled.
fn torus(work: Work) -> RunSpec {
    let mut spec = plain(TopologySpec::Torus(Lattice {
        shape: vec![4, 4, 2],
        width: vec![],
        nodes_per_router: 2,
    }));
    spec.router.buffer = Some(Bytes(6_000));
    spec.jobs[0].work = work;
    spec
}

fn uniform(load: f64) -> Work {
    Work::Synthetic(Synthetic {
        load: Some(load),
        ..Synthetic::of(Pattern::Uniform, Bytes(5_000))
    })
}

fn pairs() -> Work {
    Work::Pairs(Pairs {
        matching: Matching::Mutual,
        mode: PairMode::Batch { batch: 3 },
        messages: 30,
        message: Bytes(5_000),
        ack: Bytes(64),
        active: None,
        start_spread: Time(1_000),
        seed: None,
    })
}

/// What every port sent and every node injected: state without places in pools.
fn figures(states: &[&State]) -> Vec<[u64; 4]> {
    let parts = Parts::new(states.iter().copied());
    let links = parts
        .numbered_links()
        .map(|(_, link)| [link.packets, link.bytes, link.busy, link.free]);
    let nics = parts.iter().flat_map(|state| state.nics.as_slice());
    links
        .chain(nics.map(|nic| [nic.packets, nic.left, nic.free, nic.ready]))
        .collect()
}

fn check(what: &str, spec: &RunSpec) {
    let net = || Network::build(spec).unwrap_or_else(|error| panic!("{what}: {error}"));
    let senders = net().n_nodes();
    let stats = || Stats::new(Span::default(), senders, true, Default::default(), (1, 0));
    let world = AnyFabric::new(spec, net());
    let end = Time::from_us(12);
    let mut window = EngineKind::SEQUENTIAL.begin(&world, stats());
    let stop = window.run(end, &mut |_, _| true);
    let mut seen = window.view().observers[0].clone();
    seen.settle();
    seen.rows.as_mut().unwrap().sort_unstable();
    seen.set_out.sort_unstable();
    for (depth, workers) in [(1, 2), (4, 2), (24, 2), (9, 3)] {
        let kind = EngineKind::Optimistic {
            blocks: 8 * workers,
            workers,
            speculation: Speculation::fixed(depth),
        };
        let mut engine = kind.begin(&world, stats());
        assert_eq!(engine.run(end, &mut |_, _| true), stop, "{what}");
        let what = format!("{what}, {depth} windows");
        let did = engine.speculated().unwrap();
        assert_eq!(history(&engine.digests()), history(&window.digests()), "{what}");
        assert_eq!(did.committed, window.outcome().events, "{what}");
        assert_eq!(figures(&engine.view().states), figures(&window.view().states), "{what}");
        if depth == 1 {
            assert_eq!((did.rolled_back, did.antis), (0, 0), "{what}");
        } else {
            assert!(
                did.rolled_back > 500 && (did.antis > 500 || depth == 4),
                "{what}: {did:?}"
            );
        }
        let (_, mut all, _) = engine.into_parts();
        all.settle();
        all.rows.as_mut().unwrap().sort_unstable();
        all.set_out.sort_unstable();
        assert!(all.rows.as_ref().unwrap().len() > 100, "{what}");
        assert_eq!(all.rows, seen.rows, "{what}");
        assert_eq!(all.set_out, seen.set_out, "{what}");
        assert_eq!(
            (all.hops, all.tracks),
            (seen.hops.clone(), seen.tracks.clone()),
            "{what}"
        );
        assert_eq!(all.senders, seen.senders, "{what}");
    }
    assert!(stop == Stop::Until || stop == Stop::Idle);
}

#[test]
fn router_models_are_rolled_back_and_give_one_answer() {
    for (name, work) in [("uniform", uniform(0.7)), ("pairs", pairs())] {
        let mut spec = torus(work);
        check(&format!("credit, {name}"), &spec);
        spec.routing = RoutingSpec::MIN_A;
        check(&format!("adaptive credit, {name}"), &spec);
        // In the fixed order of dimensions packets would come to the other worker's routers last, and change nothing there.
        spec.routing = RoutingSpec::RDR;
        spec.router.model = RouterKind::SCULPIN;
        check(&format!("sculpin, {name}"), &spec);
        spec.router.model = RouterKind::CREDIT;
        spec.router.architecture = Architecture::INPUT_QUEUED;
        spec.router.output_buffer = Some(Bytes(5_000));
        check(&format!("input-queued, {name}"), &spec);
        spec.router.architecture = Architecture::OUTPUT_BUFFERED;
        check(&format!("output-buffered, {name}"), &spec);
        spec.router.output_buffer = None;
        spec.router.architecture = Architecture::LATE_ADMISSION_VCS;
        check(&format!("late admission by channel, {name}"), &spec);
        spec.router.architecture = Architecture::LATE_ADMISSION;
        spec.router.bubble = 2;
        spec.router.local_latency = Time(750);
        spec.nic.chunk = Some(Bytes(300));
        check(&format!("late admission, {name}"), &spec);
    }
}
