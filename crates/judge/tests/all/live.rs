//! Programs whose operations are made up as they go: what they hear is the same on every engine that they may run on, and what they did,
//! played from a list, is the same run on all.

use crate::lent::{ListedOps, LiveThreads, Process, work};
use des::Time;
use fabric::spec::*;
use judge::run::{RunError, RunResult, run};
use std::sync::Arc;
use topo::{Lattice, SingleRouterSpec, TopologySpec};
use work::motif::ProgramLoan;
use work::mpi::op::{ANY_SIZE, ANY_SOURCE, ANY_TAG};
use work::mpi::{Collective, CollectiveKind, Op, Program, Transfer};

const RANKS: u32 = 12;
/// Time of a look that finds nothing (ps).
const POLL: u64 = 100_000;

fn named(peer: u32, bytes: u64, tag: u16, request: u16) -> Transfer {
    Transfer {
        tag,
        request,
        ..Transfer::new(peer, bytes)
    }
}

/// A number that depends on what a process has seen.
fn drawn(process: &Process, from: u64) -> u64 {
    des::mix(process.clock ^ u64::from(process.rank) << 50 ^ process.taken.len() as u64) % from
}

/// Looks for a message as a probe does; where it is from.
fn probe(process: &mut Process) -> (u32, u16) {
    while process.unexpected.is_empty() {
        process.call(Op::WaitNews);
    }
    let message = process.unexpected[0];
    (message.source, message.tag)
}

/// Polls until a request is complete.
fn poll(process: &mut Process, request: u16) {
    for _ in 0..16 {
        if process.complete.contains_key(&request) {
            break;
        }
        process.call(Op::Compute { time: POLL });
    }
    while !process.complete.contains_key(&request) {
        process.call(Op::WaitNews);
    }
    process.call(Op::Wait { request });
    process.complete.remove(&request);
}

/// Rank 0 hands out pieces of work to whoever asks; all that the others do depends on times that they see.
fn main(process: &mut Process) {
    let (me, pieces) = (process.rank, 60);
    if me == 0 {
        let (mut left, mut working) = (pieces, RANKS - 1);
        while working > 0 {
            let (worker, tag) = probe(process);
            process.call(Op::Recv(named(worker, ANY_SIZE, tag, 0)));
            let piece = (left > 0).then(|| 1 + drawn(process, 20_000));
            left -= u32::from(piece.is_some());
            working -= u32::from(piece.is_none());
            process.call(Op::Send(named(worker, piece.unwrap_or(0), 1 + (worker % 3) as u16, 0)));
        }
    } else {
        loop {
            let ask = named(0, 8 + drawn(process, 3_000), 7 + drawn(process, 2) as u16, 1);
            let synchronous = drawn(process, 3) == 0;
            process.call(Op::Isend(Transfer { synchronous, ..ask }));
            process.call(Op::Irecv(named(0, ANY_SIZE, ANY_TAG, 2)));
            poll(process, 2);
            poll(process, 1);
            let (request, message) = process.taken.last().copied().expect("a piece of work, or none");
            assert_eq!((request, message.source, message.tag), (2, 0, 1 + (me % 3) as u16));
            if message.bytes == 0 {
                break;
            }
            process.call(Op::Compute {
                time: drawn(process, 900_000),
            });
        }
    }
    let collective = |kind, bytes| {
        Op::Collective(Collective {
            kind,
            communicator: 0,
            bytes,
            root: 0,
        })
    };
    process.call(collective(CollectiveKind::Allreduce, 5_000));
    // Whoever is first is taken first, and the answer goes there.
    let (next, before) = ((me + 1) % RANKS, (me + RANKS - 1) % RANKS);
    process.call(Op::Compute {
        time: drawn(process, 2_000_000),
    });
    process.call(Op::Isend(named(next, 40, 3, 4)));
    process.call(Op::Isend(named(before, 9_000, 3, 5)));
    process.call(Op::Recv(named(ANY_SOURCE, ANY_SIZE, 3, 0)));
    let first = process.taken.last().expect("a message").1.source;
    assert!(first == next || first == before);
    process.call(Op::Recv(named(ANY_SOURCE, ANY_SIZE, 3, 0)));
    process.call(Op::Isend(named(next, if first == next { 50 } else { 6_000 }, 4, 6)));
    // A message that is there is taken, one that is not is waited for: by other ways.
    let is_there = process.unexpected.iter().any(|message| message.tag == 4);
    process.call(Op::Compute {
        time: if is_there { POLL } else { 2 * POLL },
    });
    process.call(Op::Recv(named(ANY_SOURCE, ANY_SIZE, 4, 0)));
    process.call(Op::WaitAll);
    process.call(collective(CollectiveKind::Barrier, 0));
}

fn spec(work: Work, model: RouterKind) -> RunSpec {
    let mut spec = plain(TopologySpec::Torus(Lattice {
        shape: vec![3, 2],
        width: vec![1, 1],
        nodes_per_router: 1,
    }));
    spec.jobs = vec![JobSpec {
        name: "job0".into(),
        work,
        nodes: None,
        placement: Placement::Linear,
    }];
    spec.router.model = model;
    spec.control.end = None;
    spec
}

fn go(spec: &RunSpec, engine: Engine, workers: u16) -> RunResult {
    let mut spec = spec.clone();
    (spec.control.engine, spec.control.workers) = (engine, workers);
    run(&spec, &mut |_| true).unwrap_or_else(|error| panic!("{engine:?}, {workers} workers: {error}"))
}

/// What must be the same: the digest, the events, and what each rank did when.
fn told(result: &RunResult) -> (String, u64, Vec<fabric::mpi::RankRow>) {
    (
        result.summary.digest.to_string(),
        result.summary.events,
        result.ranks.clone(),
    )
}

fn costs(eager: u64, rendezvous: Rendezvous) -> MpiSpec {
    MpiSpec {
        eager: Bytes(eager),
        rendezvous,
        ..MpiSpec::default()
    }
}

#[test]
fn what_a_process_makes_of_what_it_hears_is_the_same_on_every_engine_and_so_is_its_record() {
    for (model, per_node, mpi) in [
        (RouterKind::CREDIT, 2, costs(3_000, Rendezvous::Put)),
        (RouterKind::SCULPIN, 2, costs(100_000, Rendezvous::Put)),
        (RouterKind::CREDIT, 3, costs(0, Rendezvous::Get)),
        (
            RouterKind::SCULPIN,
            4,
            MpiSpec {
                send_overhead: Time::ZERO,
                receive_overhead: Time::ZERO,
                copy: None,
                ..costs(500, Rendezvous::Get)
            },
        ),
    ] {
        let live = |engine, workers| {
            let threads = LiveThreads::start(RANKS, main);
            let loan = ProgramLoan::new(threads.clone());
            let mut spec = spec(work(&loan, per_node, mpi.clone()), model);
            spec.observe.operations = true;
            let result = go(&spec, engine, workers);
            (told(&result), result.rank_times, threads.finish())
        };
        let (first, times, log) = live(Engine::Sequential, 1);
        assert!(log.iter().flatten().filter(|op| **op == Op::WaitNews).count() > 10);
        for (engine, workers) in [
            (Engine::Reference, 1),
            (Engine::Conservative, 1),
            (Engine::Conservative, 2),
            (Engine::Conservative, 4),
            (Engine::Auto, 2),
        ] {
            let again = live(engine, workers);
            assert_eq!(
                again,
                (first.clone(), times.clone(), log.clone()),
                "{engine:?}, {workers} workers"
            );
        }
        let record = ProgramLoan::new(Arc::new(ListedOps::new(log)));
        let mut spec = spec(work(&record, per_node, mpi.clone()), model);
        spec.observe.operations = true;
        for (engine, workers) in [
            (Engine::Sequential, 1),
            (Engine::Reference, 1),
            (Engine::RollbackCheck, 1),
            (Engine::Conservative, 2),
            (Engine::Optimistic, 1),
            (Engine::Optimistic, 3),
        ] {
            let played = go(&spec, engine, workers);
            assert_eq!(told(&played), first, "{engine:?}, {workers} workers");
            assert_eq!(played.rank_times, times, "{engine:?}, {workers} workers");
        }
    }
}

#[test]
fn processes_are_refused_where_what_is_done_may_be_taken_back() {
    #[derive(Debug)]
    struct Nobody;
    impl Program for Nobody {
        fn is_live(&self) -> bool {
            true
        }
        fn op(&self, _rank: u32, _iteration: u32, _index: u32) -> Option<Op> {
            panic!("nobody is to be asked before the run")
        }
        fn communicators(&self) -> &[work::mpi::Communicator] {
            &[work::mpi::Communicator::World(2)]
        }
        fn peers(&self) -> u32 {
            1
        }
    }
    let loan = ProgramLoan::new(Arc::new(Nobody));
    let mut spec = spec(work(&loan, 1, MpiSpec::default()), RouterKind::SCULPIN);
    spec.topology = TopologySpec::SingleRouter(SingleRouterSpec { nodes: 2 });
    // What it will send is not asked for either.
    let network = fabric::network::Network::build(&spec).unwrap();
    assert_eq!(network.workload.ranks().unwrap().packets(network.packet), 0.0);
    for engine in [Engine::Optimistic, Engine::RollbackCheck] {
        spec.control.engine = engine;
        let Err(RunError::Build(refused)) = run(&spec, &mut |_| true) else {
            panic!("{engine:?} takes back what it has done");
        };
        assert!(
            refused.to_string().contains("which processes of programs cannot"),
            "{refused}"
        );
    }
    // What is not lent any more is told, too.
    drop(loan);
    spec.control.engine = Engine::Sequential;
    let Err(RunError::Build(refused)) = run(&spec, &mut |_| true) else {
        panic!("the program is gone");
    };
    assert!(refused.to_string().contains("not lent any more"), "{refused}");
}
