//! A run that is saved, stopped and taken up again on any engine ends as one that was never stopped; a file that is not the run's is refused.

use crate::engines::whole;
use crate::fast_forward::load;
use crate::lent::{self, ListedOps};
use crate::played_graphs::mixed;
use crate::vc_router::whose_credits_wait;
use des::{Event, Stop, Time, Torn, history};
use fabric::engines::{EngineKind, NetworkEngine};
use fabric::models::AnyFabric;
use fabric::network::Network;
use fabric::observe::{Span, Stats};
use fabric::spec::*;
use judge::checkpoint::{CheckpointError, Checkpoints, Every};
use judge::results::Execution;
use judge::run::{RunError, RunOrder, RunResult, run, run_with};
use proptest::prelude::*;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, OnceLock};
use topo::{Arrangement, DragonflySpec, FailKind, FailSpec, Lattice, TopologySpec};
use work::motif::ProgramLoan;
use work::mpi::spec::{CallCosts, Handling, Rendezvous, Wakes};

fn lattice(shape: &[u32], nodes_per_router: u32) -> Lattice {
    Lattice {
        shape: shape.to_vec(),
        width: Vec::new(),
        nodes_per_router,
    }
}

/// A network per router model and way of its own, with buffers that fill.
fn cells() -> Vec<(&'static str, RunSpec)> {
    let torus = TopologySpec::Torus(lattice(&[4, 3], 2));
    let hyperx = TopologySpec::HyperX(lattice(&[4, 3], 3));
    let dragonfly = TopologySpec::Dragonfly(DragonflySpec {
        groups: 5,
        routers_per_group: vec![4],
        nodes_per_router: 2,
        links_per_pair: 1,
        local_width: 1,
        arrangement: Arrangement::Absolute,
        arrangement_seed: 1,
    });
    let pair = TopologySpec::HyperX(lattice(&[2], 66));
    let cell = |topology: &TopologySpec, model, routing| {
        let mut spec = plain(topology.clone());
        spec.router.model = model;
        spec.routing = routing;
        spec.router.buffer = Some(Bytes(5_000));
        spec
    };
    let plain_sculpin = cell(&hyperx, RouterKind::SCULPIN, RoutingSpec::MINIMAL);
    let sculpin = cell(&dragonfly, RouterKind::SCULPIN, RoutingSpec::VALIANT);
    let plain_credit = cell(&hyperx, RouterKind::CREDIT, RoutingSpec::MINIMAL);
    let credit = cell(&dragonfly, RouterKind::CREDIT, RoutingSpec::VALIANT);
    let told = DetourSpec {
        via: Via::Group,
        scope: Scope::Group,
        step: Some(Bytes(0)),
        ..DetourSpec::default()
    };
    let told = cell(&dragonfly, RouterKind::CREDIT, RoutingSpec::Ugal(told));
    let mut first_come = cell(&torus, RouterKind::CREDIT, RoutingSpec::MIN_A);
    first_come.router.arbitration = Arbitration::Fcfs;
    first_come.nic.bandwidth = Some(BitsPerSec(130_000_000_000));
    let wide = cell(&pair, RouterKind::CREDIT, RoutingSpec::MINIMAL);
    let mut input_queued = cell(&dragonfly, RouterKind::CREDIT, RoutingSpec::MIN_A);
    input_queued.router.architecture = Architecture::INPUT_QUEUED;
    input_queued.router.output_buffer = Some(Bytes(5_000));
    input_queued.router.output_latency = Time::from_ns(40);
    input_queued.router.credits_traverse = true;
    input_queued.router.node_credit_delay = Time::from_ns(1);
    let mut flits = cell(&dragonfly, RouterKind::CREDIT, RoutingSpec::MIN_A);
    flits.router.architecture = Architecture::VC_ROUTER;
    flits.router.flit = Bytes(100);
    flits.router.buffer = Some(Bytes(700));
    flits.router.vcs = Some(7);
    flits.router.pipeline = Some(PipelineSpec {
        clock: Time::from_ns(5),
        internal_speedup: 2,
        switch: Matcher {
            rule: Allocator::Wavefront,
            rounds: 1,
        },
        ..PipelineSpec::default()
    });
    let mut asking = flits.clone();
    asking.routing = RoutingSpec::CaminosUgal(NoKeys {});
    asking.router.buffer = Some(Bytes(2_100));
    asking.router.pipeline = Some(PipelineSpec {
        clock: Time::from_ns(5),
        stages: [0; 4],
        outputs: Some(OutputsSpec {
            buffer: Bytes(2_100),
            head_room: Some(Bytes(500)),
            request: RequestRule::LeastWeight,
            label_weight: 0,
            extra_congestion: 3,
        }),
        ..PipelineSpec::default()
    });
    let credits_wait = whose_credits_wait(2, 3);
    let mut late = cell(&torus, RouterKind::CREDIT, RoutingSpec::DOR);
    late.links.default.latency = Time::from_ns(3);
    late.router.architecture = Architecture::LATE_ADMISSION;
    late.router.buffer = Some(Bytes(1_500));
    late.router.bubble = 2;
    late.router.local_latency = Time(750);
    late.router.credit_delay = Time(1_700);
    late.router.traversal = Time::from_ns(50);
    late.router.allow_deadlock = true;
    late.nic.packet = Bytes(2_000);
    late.nic.chunk = Some(Bytes(300));
    late.nic.message_overhead = Time::from_ns(10);
    late.nic.idle_delay_per_byte = Time(40);
    let mut bubble = cell(&torus, RouterKind::CREDIT, RoutingSpec::DOR);
    bubble.router.bubble = 2;
    bubble.router.buffer = Some(Bytes(2 * bubble.nic.packet.0));
    let mut cumulative = late.clone();
    cumulative.router.completion = Completion::Cumulative;
    let codes = RoutingSpec::CodesDallyPar(DallySpec::default());
    let mut by_channel = cell(&dragonfly, RouterKind::CREDIT, codes);
    by_channel.router.architecture = Architecture::LATE_ADMISSION_VCS;
    by_channel.router.credit_uses_link = false;
    by_channel.router.credit_delay = Time(700);
    let in_turn = cell(
        &dragonfly,
        RouterKind::CREDIT,
        RoutingSpec::MacroPar(DrawSpec::default()),
    );
    let mut output_buffered = in_turn.clone();
    output_buffered.router.architecture = Architecture::OUTPUT_BUFFERED;
    output_buffered.router.buffer = Some(Bytes(80_000));
    output_buffered.router.output_buffer = Some(Bytes(80_000));
    output_buffered.router.shares_buffers = true;
    vec![
        ("credit, ways in turn", in_turn),
        ("output-buffered", output_buffered),
        ("late admission by channel", by_channel),
        ("plain sculpin", plain_sculpin),
        ("sculpin", sculpin),
        ("plain credit", plain_credit),
        ("credit with the bubble rule", bubble),
        ("credit", credit),
        ("credit, told by the group", told),
        ("credit, first come", first_come),
        ("credit, more than 64 ports", wide),
        ("input-queued", input_queued),
        ("flits", flits),
        ("flits that ask for channels", asking),
        ("flits whose credits wait", credits_wait),
        ("late admission", late),
        ("late admission, cumulative completion", cumulative),
    ]
}

/// Endless sources with messages of two packets, some to a hot node; or nodes that react.
fn works(late_admission: bool) -> Vec<(&'static str, Work, Option<Time>)> {
    let load = if late_admission { 0.3 } else { 0.8 };
    let open = Work::Synthetic(Synthetic {
        load: Some(load),
        ..Synthetic::of(
            match late_admission {
                true => Pattern::Uniform,
                false => Pattern::HotSpot {
                    targets: 1,
                    fraction: 0.1,
                },
            },
            Bytes(3_000),
        )
    });
    let pairs = |mode| {
        Work::Pairs(Pairs {
            matching: Matching::Mutual,
            mode,
            messages: 7,
            message: Bytes(5_000),
            ack: Bytes(64),
            active: None,
            start_spread: Time(1_000),
            seed: None,
        })
    };
    vec![
        ("open loop", open, Some(Time::from_us(3))),
        ("batches", pairs(PairMode::Batch { batch: 3 }), None),
        ("streams", pairs(PairMode::Stream), None),
        ("listed", Work::Messages(listed()), None),
    ]
}

/// Messages of one packet and of several, some of them of one node at one time.
fn listed() -> Vec<ListedMessage> {
    let message = |k: u64| {
        let (from, by) = ((k * 5 % 11) as u32, (k % 3) as u32 + 1);
        ListedMessage::from((k / 8 * 150_000, from % 8, (from + by) % 8, 1 + k * k % 9_000))
    };
    let mut list: Vec<_> = (0..150)
        .map(message)
        .filter(|message| message.source != message.destination)
        .collect();
    list.sort_by_key(|message| (message.time, message.source));
    list
}

/// MPI ranks, two on a node, whose messages come early, late, unasked for and by rendezvous.
fn ranks(start: Start) -> Work {
    let part = |kind: &str, values: &[(&str, MotifValue)]| Part {
        motif: Motif {
            kind: kind.into(),
            values: values
                .iter()
                .map(|(key, value)| ((*key).to_owned(), value.clone()))
                .collect(),
        },
        iterations: 1,
    };
    let neighbours = [
        ("degree", MotifValue::List(vec![2, 5])),
        ("message", MotifValue::Integer(3_500)),
        ("receives", MotifValue::Text("any-source".into())),
        ("compute", MotifValue::Integer(400_000)),
    ];
    let halo = [
        ("grid", MotifValue::List(vec![20, 10, 5])),
        ("order", MotifValue::Text("shuffled".into())),
    ];
    Work::Ranks(Ranks {
        parts: vec![part("random-neighbours", &neighbours), part("halo3d-26", &halo)],
        per_node: 2,
        mapping: Mapping::RoundRobin,
        start,
        prelude: 0,
        mpi: MpiSpec {
            eager: Bytes(1_000),
            ..MpiSpec::default()
        },
    })
}

/// The same that handle messages in their calls.
fn in_calls(mut work: Work) -> Work {
    let Work::Ranks(ranks) = &mut work else {
        panic!("work of ranks")
    };
    ranks.mpi.progress = Handling::InCalls(CallCosts {
        enter: Time::from_ns(20),
        match_cost: Time::from_ns(40),
        host_delay: Time::from_ns(90),
        ..CallCosts::default()
    });
    work
}

/// The same that are woken once for all that comes while they are busy.
fn woken_once(work: Work) -> Work {
    let mut work = in_calls(work);
    let Work::Ranks(ranks) = &mut work else {
        panic!("work of ranks")
    };
    ranks.mpi.rendezvous = Rendezvous::Get;
    if let Handling::InCalls(costs) = &mut ranks.mpi.progress {
        costs.wakes = Wakes::Once;
    }
    work
}

/// Memory nodes with tiny caches and few lines, so that at any time lines are asked for, given up and waited for.
fn memory() -> Work {
    Work::Memory(Memory {
        pattern: AccessPattern::HotSpot {
            lines: 30,
            fraction: 0.8,
        },
        accesses: 60,
        stores: 0.4,
        cores: 2,
        outstanding: 3,
        l1: Bytes(128),
        l1_ways: 1,
        l2: Bytes(256),
        l2_ways: 2,
        misses: 4,
        told: true,
        fence_every: 5,
        directory_entries: 16,
        banks: 2,
        bank_busy: Time::from_ns(60),
        memory: Bytes(1 << 16),
        interleaved: true,
        check_values: true,
        ..Memory::default()
    })
}

/// A trace of 16 ranks, two on a node, in a file that all cases read: messages below and above the threshold, waits of every kind, receives from
/// anybody, and collectives.
fn recorded() -> Work {
    use std::fmt::Write as _;
    static FILE: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = FILE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("app.csv");
        let mut text = String::from("rank,op,peer,source,bytes,tag,request,time_ps\n");
        let ranks = 16;
        for me in 0..ranks {
            let (next, before) = ((me + 1) % ranks, (me + ranks - 1) % ranks);
            for (step, bytes) in [8, 700, 3_500, 9_000].into_iter().enumerate() {
                let from = if step == 2 {
                    "any".to_owned()
                } else {
                    before.to_string()
                };
                writeln!(text, "{me},compute,,,,,,{}", 90_001 * (me + step)).unwrap();
                writeln!(
                    text,
                    "{me},irecv,{from},,{bytes},{step},1,\n{me},isend,{next},,{bytes},{step},2,"
                )
                .unwrap();
                writeln!(text, "{me},test,,,,,1,\n{me},wait,,,,,2,\n{me},waitall,,,,,,").unwrap();
                writeln!(
                    text,
                    "{me},sendrecv,{next},{before},{bytes},40,,\n{me},allreduce,,,{bytes},,,"
                )
                .unwrap();
            }
        }
        std::fs::write(&path, text).unwrap();
        (folder, path)
    });
    let values = [
        ("file".to_owned(), MotifValue::Text(path.to_str().unwrap().to_owned())),
        ("ranks".to_owned(), MotifValue::Integer(16)),
    ];
    let motif = Motif {
        kind: "trace".into(),
        values: values.into(),
    };
    Work::Ranks(Ranks {
        parts: vec![Part { motif, iterations: 2 }],
        per_node: 2,
        mapping: Mapping::RoundRobin,
        start: Start::AfterBarrier,
        prelude: 0,
        mpi: MpiSpec {
            eager: Bytes(1_000),
            ..MpiSpec::default()
        },
    })
}

/// What ranks do of all kinds.
static OPERATIONS: LazyLock<ProgramLoan> = LazyLock::new(|| ProgramLoan::new(Arc::new(ListedOps::random(11, 16, 3))));

/// Messages of more than 600 B are asked for.
fn small() -> MpiSpec {
    MpiSpec {
        eager: Bytes(600),
        ..MpiSpec::default()
    }
}

/// Every cell with every work.
fn cases() -> Vec<(String, RunSpec)> {
    let mut cases = Vec::new();
    for (network, spec) in cells() {
        for (what, work, end) in works(spec.router.architecture == Architecture::LATE_ADMISSION) {
            let mut spec = spec.clone();
            spec.jobs[0].work = work;
            spec.control.end = end;
            spec.observe.messages = MessageDetail::Full;
            spec.observe.links = true;
            cases.push((format!("{network}, {what}"), spec));
        }
    }
    cases.push(("credit with outages, open loop".to_owned(), with_outages()));
    for (network, spec) in cells() {
        if spec.router.completion == Completion::Whole {
            for (what, work) in [
                ("ranks", ranks(Start::AfterBarrier)),
                ("apart ranks", ranks(Start::Spread(Time::from_us(1)))),
                ("ranks in calls", in_calls(ranks(Start::InPhase))),
                ("ranks woken once", woken_once(ranks(Start::InPhase))),
                ("memory", memory()),
                ("a trace", recorded()),
                ("graphs of ranks", mixed(16, 2, (Start::AfterBarrier, 1_000, true))),
                ("operations of all kinds", lent::work(&OPERATIONS, 2, small())),
            ] {
                let mut spec = spec.clone();
                spec.jobs[0].work = work;
                spec.control.end = None;
                spec.observe.messages = MessageDetail::Full;
                cases.push((format!("{network}, {what}"), spec));
            }
        }
    }
    cases
}

/// Cables that make errors, and others that fail and come back while messages of several packets are under way.
fn with_outages() -> RunSpec {
    let first_come = cells().into_iter().find(|(name, _)| *name == "credit, first come");
    let (_, mut spec) = first_come.expect("there is one");
    let (_, work, end) = works(false).swap_remove(0);
    spec.jobs[0].work = work;
    spec.control.end = end;
    spec.observe.messages = MessageDetail::Full;
    spec.observe.links = true;
    spec.nic.retransmit = Some(RetransmitSpec {
        retries: 2,
        after: Time::from_ns(400),
    });
    spec.fail = FailSpec {
        error_rate: Some(1e-5),
        ..FailSpec::random(FailKind::Cables, 3, 5)
    };
    for (k, seed) in (0..).zip([3, 4, 9]) {
        spec.outages.list.push(Outage {
            what: match k {
                1 => FailSpec::random(FailKind::Routers, 1, seed),
                _ => FailSpec::random(FailKind::Cables, 2, seed),
            },
            at: Time(300_000 + 600_000 * k),
            until: Some(Time(1_100_000 + 600_000 * k)),
            reroute: Reroute::After(Time(100_000 * k)),
        });
    }
    spec
}

/// One of them.
fn named(name: &str) -> (String, RunSpec) {
    let found = cases().into_iter().find(|(what, _)| what == name);
    found.unwrap_or_else(|| panic!("there is no case {name}"))
}

/// The engines by number.
const ENGINES: u32 = 4;

fn by_windows(blocks: u32, workers: u32) -> EngineKind {
    EngineKind::Window {
        blocks,
        workers,
        adaptive: false,
    }
}

fn engine<'w>(
    world: &'w AnyFabric,
    blank: &Stats,
    number: u32,
    saved: Option<&[u8]>,
) -> Result<NetworkEngine<'w>, Torn> {
    let kind = match number % ENGINES {
        0 => EngineKind::Reference,
        1 => by_windows(1, 1),
        2 => EngineKind::RollbackCheck,
        _ => by_windows(64, 3),
    };
    match saved {
        None => Ok(kind.begin(world, blank.clone())),
        Some(saved) => kind.restore(world, blank.clone(), saved),
    }
}

/// All that a run leaves behind, to be compared.
fn end(mut engine: NetworkEngine<'_>, until: Time) -> String {
    let stop = engine.run(until, &mut |_, _| true);
    assert!(matches!(stop, Stop::Until | Stop::Idle), "{stop:?}");
    let mut pending = Vec::new();
    engine.pending(&mut |event| pending.push((event.lp(), event.time(), event.fold())));
    pending.sort_unstable();
    let digest = history(&engine.digests());
    let (states, mut stats, outcome) = engine.into_parts();
    stats.settle();
    stats.rows.iter_mut().for_each(|rows| rows.sort_unstable());
    stats.set_out.sort_unstable();
    let links = states.iter().flat_map(|state| state.numbered_links());
    let sent: Vec<_> = links.map(|(_, link)| (link.packets, link.bytes, link.busy)).collect();
    let ranks = states.iter().flat_map(|state| state.mpi.ranks.as_slice());
    let ranks: Vec<_> = ranks
        .map(|rank| (rank.finished, rank.waited, rank.worked, rank.bytes))
        .collect();
    format!("{digest} {} {stats:?} {sent:?} {pending:?} {ranks:?}", outcome.events)
}

/// On which engines a run goes on: the first, and how many further by number each next one lies.
#[derive(Clone, Copy, Debug)]
struct Walk {
    first: u32,
    step: u32,
}

/// Saves at each of `cuts` on one engine after another and finishes on the last; returns the packets that waited at the cuts.
fn take_over(what: &str, spec: &RunSpec, cuts: &[u64], until: Time, walk: Walk) -> u64 {
    let Walk { first, step } = walk;
    let world = AnyFabric::new(spec, Network::build(spec).unwrap());
    let blank = Stats::new(
        Span {
            cut: until.0,
            ..Span::default()
        },
        world.net().n_nodes(),
        true,
        Default::default(),
        (1, 0),
    );
    let whole = end(engine(&world, &blank, first + 1, None).unwrap(), until);
    let mut waited = 0;
    let mut saved: Option<Vec<u8>> = None;
    for (number, &cut) in (first..).step_by(step as usize).zip(cuts) {
        let mut engine = engine(&world, &blank, number, saved.as_deref()).unwrap();
        engine.run(Time(cut), &mut |_, _| true);
        let view = engine.view();
        let routers = view.states.iter().flat_map(|state| state.routers.as_slice());
        waited += routers.map(|router| u64::from(router.queued)).sum::<u64>();
        saved = Some(engine.save());
    }
    let last = engine(&world, &blank, first + step * cuts.len() as u32, saved.as_deref()).unwrap();
    assert!(end(last, until) == whole, "{what}: cut at {cuts:?}, {walk:?}");
    waited
}

/// From each engine over a second to a third; how far these lie apart differs by case, or with `FABRICSIM_PARITY=whole` (`make parity`) is
/// all there is.
#[test]
fn every_model_goes_on_from_every_engine_to_every_other() {
    for (case, (what, spec)) in (0..).zip(cases()) {
        let until = Time::from_us(3);
        let mut waited = 0;
        for first in 0..ENGINES {
            for step in 1..ENGINES {
                if whole() || step == 1 + (case + first) % (ENGINES - 1) {
                    let cuts = [300_000 * u64::from(step) + 7, 2_000_000];
                    waited += take_over(&what, &spec, &cuts, until, Walk { first, step });
                }
            }
        }
        if spec.router.model == RouterKind::SCULPIN {
            assert_eq!(waited, 0, "{what}");
        } else {
            assert!(waited > 0 || !what.contains("open loop"), "{what}: nothing waited");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn cuts_anywhere_change_nothing(
        case in 0usize..27,
        first in 0..ENGINES,
        seed in 1u64..1_000,
        mut cuts in prop::collection::vec(0u64..3_000_000, 1..6),
    ) {
        cuts.sort_unstable();
        let (what, mut spec) = cases().swap_remove(case);
        spec.control.seed = seed;
        take_over(&what, &spec, &cuts, Time::from_us(3), Walk { first, step: 1 });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]
    #[test]
    fn cuts_anywhere_in_operations_of_all_kinds_change_nothing(
        first in 0..ENGINES,
        seed in 1u64..1_000,
        mut cuts in prop::collection::vec(0u64..30_000_000, 1..6),
    ) {
        cuts.sort_unstable();
        let (what, mut spec) = named("plain credit, operations of all kinds");
        spec.control.seed = seed;
        let loan = ProgramLoan::new(Arc::new(ListedOps::random(seed, 16, 3)));
        spec.jobs[0].work = lent::work(&loan, 2, small());
        take_over(&what, &spec, &cuts, Time::from_us(100), Walk { first, step: 1 });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn cuts_anywhere_in_a_graph_change_nothing(
        put in any::<bool>(),
        first in 0..ENGINES,
        seed in 1u64..1_000,
        mut cuts in prop::collection::vec(0u64..30_000_000, 1..6),
    ) {
        cuts.sort_unstable();
        let (what, mut spec) = named("plain credit, graphs of ranks");
        spec.control.seed = seed;
        spec.jobs[0].work = mixed(16, 2, (Start::InPhase, if put { 2_000 } else { 1 }, put));
        take_over(&what, &spec, &cuts, Time::from_us(60), Walk { first, step: 1 });
    }
}

#[test]
fn what_is_written_does_not_depend_on_blocks_and_workers() {
    for (what, spec) in cases() {
        if spec.router.architecture != Architecture::VOQ || spec.router.model != RouterKind::CREDIT {
            continue;
        }
        let world = AnyFabric::new(&spec, Network::build(&spec).unwrap());
        let blank = Stats::new(
            Span::default(),
            world.net().n_nodes(),
            false,
            Default::default(),
            (1, 0),
        );
        let saved: Vec<Vec<u8>> = [(1, 1), (8, 1), (64, 3)]
            .map(|(blocks, workers)| {
                let mut engine = by_windows(blocks, workers).begin(&world, blank.clone());
                engine.run(Time::from_us(2), &mut |_, _| true);
                engine.save()
            })
            .into();
        assert!(saved[1] == saved[0] && saved[2] == saved[0], "{what}");
        // Nor on having been read and written.
        let again = by_windows(5, 2).restore(&world, blank, &saved[0]).unwrap();
        assert!(again.save() == saved[0], "{what}, read and written");
    }
}

/// A folder of a test, removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("fabricsim-checkpoint-{name}-{}", std::process::id()));
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
fn a_run_from_its_file_gives_the_same_result_on_every_engine() {
    let folder = Folder::new("same");
    let engines = [
        (Engine::Reference, 1),
        (Engine::Sequential, 1),
        (Engine::Conservative, 3),
    ];
    for (i, (what, mut spec)) in cases().into_iter().enumerate() {
        let whole = run(&spec, &mut |_| true).unwrap();
        let spent = whole.summary.sim_time_ns * 1e3;
        let whole = content(whole);
        // The last one falls into the last third, behind the end of endless sources: while the network is drained.
        // The last thing that a rank does is no event.
        let part = if what.ends_with("ranks") {
            [0.3, 0.4, 0.6]
        } else {
            [0.4, 0.7, 0.92]
        };
        let every = Every::Simulated(Time((spent * part[i % 3]) as u64));
        (spec.control.engine, spec.control.workers) = engines[i % 3];
        let keep = folder.checkpoints(Some(every), false);
        let saving = run_with(&spec, Some(&keep), &mut |_| RunOrder::GoOn).unwrap();
        assert!(content(saving) == whole, "{what} with checkpoints");
        assert!(keep.file.is_file(), "{what} writes a checkpoint");
        let header = std::fs::read(&keep.file).unwrap();
        assert!(String::from_utf8_lossy(&header[28..400]).contains("time_ps"), "{what}");
        for (engine, workers) in engines.into_iter().chain([(Engine::Optimistic, 2)]) {
            (spec.control.engine, spec.control.workers) = (engine, workers);
            let resumed = run_with(&spec, Some(&folder.checkpoints(None, true)), &mut |_| RunOrder::GoOn).unwrap();
            assert!(content(resumed) == whole, "{what} taken up on {engine:?}");
        }
    }
}

#[test]
fn an_order_to_stop_writes_a_checkpoint_and_the_rest_of_the_way_is_walked() {
    let folder = Folder::new("stop");
    let (_, mut spec) = named("credit, open loop");
    spec.control.end = Some(Time::from_us(1_200));
    spec.control.drain = Some(Time::ZERO);
    spec.observe.messages = MessageDetail::Summary;
    let whole = content(run(&spec, &mut |_| true).unwrap());
    let keep = folder.checkpoints(None, true);
    let mut at = Vec::new();
    let engines = [
        (Engine::Reference, 1),
        (Engine::Conservative, 2),
        (Engine::Sequential, 1),
    ];
    for (engine, workers) in engines {
        (spec.control.engine, spec.control.workers) = (engine, workers);
        let stopped = run_with(&spec, Some(&keep), &mut |_| RunOrder::SaveAndStop);
        match stopped {
            Err(RunError::Interrupted { at: time }) => at.push(time),
            other => panic!("{engine:?}: {}", outcome(other)),
        }
    }
    assert!(at.is_sorted() && at[0] < at[2], "{at:?}");
    // A plain stop leaves the file as it is.
    let file = std::fs::read(&keep.file).unwrap();
    assert!(run_with(&spec, Some(&keep), &mut |_| RunOrder::Stop).is_err());
    assert!(std::fs::read(&keep.file).unwrap() == file);
    let resumed = run_with(&spec, Some(&keep), &mut |_| RunOrder::GoOn).unwrap();
    assert!(content(resumed) == whole);
    // Anew: the file goes.
    let anew = run_with(&spec, Some(&folder.checkpoints(None, false)), &mut |_| RunOrder::GoOn).unwrap();
    assert!(content(anew) == whole);
    assert!(!keep.file.exists());
}

#[test]
fn a_run_taken_up_when_all_has_arrived_still_ends_with_its_step_of_the_drain() {
    let folder = Folder::new("drain");
    let (what, mut spec) = named("credit, open loop");
    spec.control.drain = Some(Time::from_us(64));
    spec.router.credit_delay = Time::from_ns(500);
    // Credits are still under way, and the drain is looked at every 4 us from the end at 3 us on: enough of it must be left.
    let (mut whole, mut latest) = (None, 0);
    for seed in 1..20 {
        spec.control.seed = seed;
        let result = run(&spec, &mut |_| true).unwrap();
        latest = result.stats.latest;
        let left = 4_000_000 - (latest - 3_000_000) % 4_000_000;
        if left > 1_000_000 {
            whole = Some(result);
            break;
        }
    }
    let whole = whole.unwrap_or_else(|| panic!("{what}: all ends with a step of the drain"));
    let every = Some(Every::Simulated(Time(latest + 1_000)));
    run_with(&spec, Some(&folder.checkpoints(every, false)), &mut |_| RunOrder::GoOn).unwrap();
    let whole = content(whole);
    for engine in [Engine::Reference, Engine::Sequential, Engine::RollbackCheck] {
        spec.control.engine = engine;
        let resumed = run_with(&spec, Some(&folder.checkpoints(None, true)), &mut |_| RunOrder::GoOn).unwrap();
        assert!(content(resumed) == whole, "{what} taken up on {engine:?}");
    }
}

#[test]
fn short_steps_between_checkpoints_let_the_caller_stop() {
    let folder = Folder::new("short");
    let (_, mut spec) = named("plain sculpin, open loop");
    spec.control.end = Some(Time::from_us(200));
    let keep = folder.checkpoints(Some(Every::Simulated(Time::from_ns(900))), false);
    let stopped = run_with(&spec, Some(&keep), &mut |_| RunOrder::SaveAndStop);
    assert!(
        matches!(stopped, Err(RunError::Interrupted { at }) if at == Time::from_ns(900)),
        "{}",
        outcome(stopped)
    );
}

#[test]
fn checkpoints_by_wall_time_come_without_being_asked_for() {
    let folder = Folder::new("wall");
    let (_, mut spec) = named("credit, open loop");
    spec.control.end = Some(Time::from_us(500));
    spec.observe.messages = MessageDetail::Summary;
    let whole = content(run(&spec, &mut |_| true).unwrap());
    let keep = folder.checkpoints(Some(Every::parse("0.001 s").unwrap()), false);
    let saving = run_with(&spec, Some(&keep), &mut |_| RunOrder::GoOn).unwrap();
    assert!(content(saving) == whole);
    assert!(keep.file.is_file());
    let resumed = run_with(&spec, Some(&folder.checkpoints(None, true)), &mut |_| RunOrder::GoOn).unwrap();
    assert!(content(resumed) == whole);
}

/// How a run ended, in few words.
fn outcome(result: Result<RunResult, RunError>) -> String {
    result.map_or_else(
        |error| error.to_string(),
        |result| format!("{} events", result.summary.events),
    )
}

fn refusal(spec: &RunSpec, keep: &Checkpoints) -> CheckpointError {
    match run_with(spec, Some(keep), &mut |_| RunOrder::GoOn) {
        Err(RunError::Checkpoint(error)) => {
            let text = error.to_string();
            let named = text.starts_with(&keep.file.display().to_string()) && text.contains("begin this run anew");
            assert!(named, "{text}");
            error
        }
        other => panic!("not refused: {}", outcome(other)),
    }
}

#[test]
fn torn_changed_and_foreign_files_are_refused_with_words_of_their_own() {
    let folder = Folder::new("refused");
    let mut spec = plain(TopologySpec::Torus(lattice(&[3, 2], 1)));
    spec.control.end = Some(Time::from_us(2));
    let every = Some(Every::Simulated(Time::from_us(1)));
    run_with(&spec, Some(&folder.checkpoints(every, false)), &mut |_| RunOrder::GoOn).unwrap();
    let keep = folder.checkpoints(None, true);
    let file = std::fs::read(&keep.file).unwrap();
    for length in (0..file.len()).step_by(97) {
        std::fs::write(&keep.file, &file[..length]).unwrap();
        let error = refusal(&spec, &keep);
        assert!(matches!(error, CheckpointError::Torn { .. }), "{length} bytes: {error}");
    }
    std::fs::write(&keep.file, [&file[..], b"\0"].concat()).unwrap();
    assert!(matches!(refusal(&spec, &keep), CheckpointError::Torn { .. }));
    for (n, at) in (0..file.len()).step_by(61).chain(0..40).enumerate() {
        let mut changed = file.clone();
        changed[at] ^= 1 << (n % 8);
        std::fs::write(&keep.file, &changed).unwrap();
        let error = refusal(&spec, &keep);
        match at {
            0..20 => assert!(matches!(error, CheckpointError::Foreign(_)), "byte {at}: {error}"),
            _ => assert!(matches!(error, CheckpointError::Torn { .. }), "byte {at}: {error}"),
        }
    }
    std::fs::write(&keep.file, b"Lorem ipsum dolor sit amet, consetetur sadipscing elitr").unwrap();
    assert!(matches!(refusal(&spec, &keep), CheckpointError::Foreign(_)));
    // Another study, and another seed.
    std::fs::write(&keep.file, &file).unwrap();
    let mut other = spec.clone();
    other.control.seed = 2;
    let error = refusal(&other, &keep);
    assert!(matches!(error, CheckpointError::Run { .. }), "{error}");
    // Engine and workers make no other run.
    let mut engine = spec.clone();
    (engine.control.engine, engine.control.workers) = (Engine::Reference, 7);
    run_with(&engine, Some(&keep), &mut |_| RunOrder::GoOn).unwrap();
    for (from, to, words) in [
        (env!("CARGO_PKG_VERSION"), "9.9.9", "fabricsim 9.9.9"),
        ("\"little\"", "\"big\"   ", "big-endian"),
    ] {
        std::fs::write(&keep.file, resealed(&file, from, to)).unwrap();
        let text = refusal(&spec, &keep).to_string();
        assert!(text.contains(words), "{text}");
    }
    let mut format = resealed(&file, "", "");
    format[20] = 99;
    std::fs::write(&keep.file, resealed(&format, "", "")).unwrap();
    let error = refusal(&spec, &keep);
    assert!(error.to_string().contains("in format 99"), "{error}");
    // What could not be used was left alone.
    assert!(keep.file.is_file());
}

/// The file with other words in its header, as another fabricsim would have written it.
fn resealed(file: &[u8], from: &str, to: &str) -> Vec<u8> {
    use sha2::Digest;
    let length = u32::from_le_bytes(file[24..28].try_into().unwrap()) as usize;
    let header = std::str::from_utf8(&file[28..28 + length]).unwrap();
    assert!(header.contains(from));
    let header = if from.is_empty() {
        header.into()
    } else {
        header.replace(from, to)
    };
    let mut all = file[..24].to_vec();
    all.extend_from_slice(&(header.len() as u32).to_le_bytes());
    all.extend_from_slice(header.as_bytes());
    let seal = sha2::Sha256::digest(&all);
    all.extend_from_slice(&seal);
    all.extend_from_slice(&file[28 + length + 32..]);
    all
}

#[test]
fn an_older_checkpoint_stays_when_a_new_one_cannot_be_written() {
    let folder = Folder::new("older");
    let (_, mut spec) = cases().swap_remove(6);
    let every = Some(Every::Simulated(Time::from_us(4)));
    let keep = folder.checkpoints(every, true);
    run_with(&spec, Some(&keep), &mut |_| RunOrder::GoOn).unwrap();
    let file = std::fs::read(&keep.file).unwrap();
    // A folder stands where the new file would be written.
    let blocked = folder.0.join(format!(".run.checkpoint.{}.partial", std::process::id()));
    std::fs::create_dir(&blocked).unwrap();
    std::fs::write(blocked.join("in the way"), "").unwrap();
    spec.control.workers = 3;
    let anew = Checkpoints {
        every: Some(Every::Simulated(Time::from_ns(100))),
        ..keep.clone()
    };
    let error = run_with(&spec, Some(&anew), &mut |_| RunOrder::GoOn).unwrap_err();
    assert!(
        matches!(error, RunError::Checkpoint(CheckpointError::Write { .. })),
        "{error}"
    );
    assert!(std::fs::read(&keep.file).unwrap() == file);
}

#[test]
fn the_unit_says_whose_time_a_duration_is() {
    use std::time::Duration;
    for (text, every) in [
        ("10min", Every::Wall(Duration::from_secs(600))),
        ("90 s", Every::Wall(Duration::from_secs(90))),
        ("1.5 h", Every::Wall(Duration::from_secs(5_400))),
        ("1ms", Every::Simulated(Time(1_000_000_000))),
        ("2.5 us", Every::Simulated(Time(2_500_000))),
        ("200 ns", Every::Simulated(Time(200_000))),
        ("7 ps", Every::Simulated(Time(7))),
    ] {
        assert_eq!(Every::parse(text), Ok(every), "{text}");
    }
    for (text, words) in [
        ("10", "no unit"),
        ("", "no duration"),
        ("ms", "no duration"),
        ("-1 s", "no duration"),
        ("1.2.3 s", "no duration"),
        ("3 days", "not known"),
        ("0 s", "not a time"),
        ("0 ns", "not a time"),
        ("0.1 ps", "not a time"),
        ("99999999999999999999999 h", "not a time"),
    ] {
        let reason = Every::parse(text).unwrap_err();
        assert!(
            reason.contains(words) && reason.contains("wall time"),
            "{text}: {reason}"
        );
    }
}

/// Ranks compute for longer than what counts as a stall, and the run is looked at at every border, also where their first packets have just set out.
#[test]
fn computing_is_no_stall_however_often_a_run_is_looked_at() {
    let spec = load(
        "name = \"s\"\n[topology]\nkind = \"ring\"\nrouters = 6\n[routing]\nkind = \"minimal\"\n[[job]]\n\
         work = { kind = \"allreduce-loop\", messages = [\"40 KiB\"], compute = \"3 ms\", iterations = 4 }\n[run]\nend = \"done\"\n",
    );
    let folder = tempfile::tempdir().unwrap();
    let often = Checkpoints {
        file: folder.path().join("often"),
        every: Some(Every::Simulated(Time::from_ns(300))),
        resume: false,
    };
    let whole = run(&spec, &mut |_| true).unwrap();
    let looked_at = run_with(&spec, Some(&often), &mut |_| RunOrder::GoOn).unwrap();
    assert_eq!(looked_at.summary.digest, whole.summary.digest);
}
