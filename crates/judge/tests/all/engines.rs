//! Every cell of topology x routing x router model gives one answer on every engine, passes its self-checks and can be rolled back.

use crate::lent::{self, ListedOps};
use crate::memory_nodes::arrangement;
use crate::played_graphs::mixed;
use crate::static_tables::{LANES, engine};
use crate::vc_router::whose_credits_wait;
use des::ranks::local;
use des::{Time, mix};
use fabric::network::Network;
use fabric::spec::*;
use judge::run::{Means, RunOrder, RunResult, run, run_by};
use std::sync::Arc;
use topo::{
    Arrangement, DragonflyPlusSpec, DragonflySpec, ExpressMeshSpec, FailKind, FailSpec, FatTreeSpec, HowMany, Lattice,
    OftSpec, RingSpec, SingleRouterSpec, TopologySpec,
};
use work::motif::ProgramLoan;
use work::mpi::collective::CollectiveRules;
use work::mpi::spec::{Beside, BesideGroups, BesideOrder, BesideTrees, CallCosts, CostPiece, Handling, Pinning, Wakes};
use work::workload::patterns::{MatrixOf, PatternPart, Rates};

fn lattice(shape: &[u32], width: &[u32], nodes_per_router: u32) -> Lattice {
    Lattice {
        shape: shape.to_vec(),
        width: width.to_vec(),
        nodes_per_router,
    }
}

/// One small network of each family.
fn topologies() -> Vec<(&'static str, TopologySpec)> {
    let arrangement = Arrangement::Absolute;
    vec![
        (
            "single router",
            TopologySpec::SingleRouter(SingleRouterSpec { nodes: 70 }),
        ),
        (
            "ring",
            TopologySpec::Ring(RingSpec {
                routers: 7,
                width: 2,
                nodes_per_router: 2,
            }),
        ),
        ("mesh", TopologySpec::Mesh(lattice(&[3, 4], &[1, 2], 2))),
        ("torus", TopologySpec::Torus(lattice(&[4, 3, 2], &[], 1))),
        ("hyperx", TopologySpec::HyperX(lattice(&[4, 3], &[2, 1], 3))),
        (
            "dragonfly",
            TopologySpec::Dragonfly(DragonflySpec {
                groups: 5,
                routers_per_group: vec![4],
                nodes_per_router: 2,
                links_per_pair: 2,
                local_width: 1,
                arrangement,
                arrangement_seed: 1,
            }),
        ),
        (
            "dragonfly+",
            TopologySpec::DragonflyPlus(DragonflyPlusSpec {
                groups: 4,
                leaves: 3,
                spines: 3,
                nodes_per_leaf: 2,
                links_per_pair: 2,
                local_width: 1,
                arrangement,
                arrangement_seed: 1,
            }),
        ),
        (
            "fat-tree",
            TopologySpec::FatTree(FatTreeSpec {
                down: vec![3, 3, 2],
                up: vec![2, 3],
                up_width: vec![1, 1],
            }),
        ),
        (
            "oft",
            TopologySpec::Oft(OftSpec {
                k: 3,
                nodes_per_leaf: 0,
            }),
        ),
        (
            "express-mesh",
            TopologySpec::ExpressMesh(ExpressMeshSpec {
                shape: vec![6, 3],
                gap: 2,
                nodes_per_router: 1,
            }),
        ),
    ]
}

fn is_lattice(topology: &TopologySpec) -> bool {
    matches!(
        topology,
        TopologySpec::Ring(_) | TopologySpec::Mesh(_) | TopologySpec::Torus(_) | TopologySpec::HyperX(_)
    )
}

/// What an adaptive routing with such keys looks at.
fn looks_at(routing: &mut RoutingSpec) -> Option<(&mut Congestion, Per)> {
    match routing {
        RoutingSpec::Ugal(detour) | RoutingSpec::Par(detour) => Some((&mut detour.congestion, detour.per)),
        RoutingSpec::AdaptiveUp(sense) | RoutingSpec::MinAdaptive(sense) => Some((&mut sense.congestion, sense.per)),
        RoutingSpec::AdaptiveLocal(room) => Some((&mut room.congestion, room.per)),
        RoutingSpec::Doal(deroute) | RoutingSpec::Dal(deroute) | RoutingSpec::Vdal(deroute) => {
            Some((&mut deroute.congestion, deroute.per))
        }
        _ => None,
    }
}

fn cells() -> Vec<(String, RunSpec)> {
    let mut cells = Vec::new();
    for (name, topology) in topologies() {
        for routing in [
            RoutingSpec::Ugal(DetourSpec {
                candidates: 3,
                via: Via::Node,
                ..DetourSpec::default()
            }),
            RoutingSpec::Par(DetourSpec {
                congestion: Congestion::Both,
                per: Per::Vc,
                ..DetourSpec::default()
            }),
            RoutingSpec::Ugal(DetourSpec {
                via: Via::Group,
                congestion: Congestion::Credits,
                bias: Bytes(1_000),
                threshold: Bytes(500),
                scope: Scope::Group,
                step: Some(Bytes(0)),
                ..DetourSpec::default()
            }),
            RoutingSpec::Par(DetourSpec {
                via: Via::Group,
                weigh_hops: false,
                ratio: 2.0,
                ..DetourSpec::default()
            }),
            RoutingSpec::MINIMAL,
            RoutingSpec::DOR,
            RoutingSpec::RDR,
            RoutingSpec::MIN_RANDOM,
            RoutingSpec::MIN_A,
            RoutingSpec::VALIANT,
            RoutingSpec::Valiant(ViaSpec { via: Via::Router }),
            RoutingSpec::Valiant(ViaSpec { via: Via::Group }),
            RoutingSpec::AdaptiveLocal(RoomSpec::default()),
            RoutingSpec::AdaptiveLocal(RoomSpec {
                congestion: Congestion::Output,
                ratio: 1.0,
                ..RoomSpec::default()
            }),
            RoutingSpec::D_MOD_K,
            RoutingSpec::SCATTER,
            RoutingSpec::AdaptiveUp(SenseSpec::default()),
            RoutingSpec::AdaptiveUp(SenseSpec {
                congestion: Congestion::Both,
                per: Per::Vc,
                equal: Equal::Exact,
                draws: None,
            }),
            RoutingSpec::AdaptiveUp(SenseSpec {
                draws: Some(2),
                ..SenseSpec::default()
            }),
            RoutingSpec::Doal(DerouteSpec {
                congestion: Congestion::Both,
                bias: Bytes(64),
                ..DerouteSpec::default()
            }),
            RoutingSpec::Dal(DerouteSpec::default()),
            RoutingSpec::Dal(DerouteSpec {
                congestion: Congestion::Credits,
                per: Per::Vc,
                weigh_hops: false,
                ..DerouteSpec::default()
            }),
            RoutingSpec::Vdal(DerouteSpec {
                per: Per::Vc,
                threshold: Bytes(500),
                ..DerouteSpec::default()
            }),
            RoutingSpec::Vdal(DerouteSpec::default()),
            RoutingSpec::MerlinDoal(NoKeys {}),
            RoutingSpec::MerlinVdal(NoKeys {}),
            RoutingSpec::MerlinValiant(NoKeys {}),
            RoutingSpec::MerlinMinimal(NoKeys {}),
            RoutingSpec::MerlinMinA(NoKeys {}),
            RoutingSpec::MerlinAdaptiveLocal(RatioSpec { ratio: 1.0 }),
            RoutingSpec::MerlinUgal(NoKeys {}),
            RoutingSpec::MerlinAdaptiveUp(KeepSpec { keep: 1.0 }),
            RoutingSpec::MacroScatter(NoKeys {}),
            RoutingSpec::MacroMinimal(NoKeys {}),
            RoutingSpec::MacroValiant(DrawSpec::default()),
            RoutingSpec::MacroUgal(DrawSpec::default()),
            RoutingSpec::MacroPar(DrawSpec::default()),
            RoutingSpec::Romm(NoKeys {}),
            RoutingSpec::O1Turn(NoKeys {}),
            RoutingSpec::LeastHops(TakeSpec { take: Taken::Random }),
            RoutingSpec::LeastHops(TakeSpec {
                take: Taken::LeastWaiting,
            }),
            RoutingSpec::Polarized(PenaltySpec { penalty: 2 }),
            RoutingSpec::MinAdaptive(SenseSpec::default()),
            RoutingSpec::MinAdaptive(SenseSpec {
                congestion: Congestion::Both,
                per: Per::Vc,
                equal: Equal::Exact,
                draws: None,
            }),
        ] {
            if matches!(routing, RoutingSpec::Dor { .. } | RoutingSpec::Rdr { .. }) && !is_lattice(&topology) {
                continue;
            }
            // From a spine it would turn up again: refused by the proof.
            if name == "oft" && matches!(routing, RoutingSpec::Par(_)) {
                continue;
            }
            let up = matches!(
                routing,
                RoutingSpec::DModK(_) | RoutingSpec::Scatter(_) | RoutingSpec::AdaptiveUp(_)
            );
            let deroute = matches!(
                routing,
                RoutingSpec::Doal(_) | RoutingSpec::Dal(_) | RoutingSpec::Vdal(_)
            );
            let merlins = routing.name().starts_with("merlin-");
            let macros = routing.name().starts_with("macro-");
            let of_lattices = matches!(
                routing,
                RoutingSpec::Romm(_) | RoutingSpec::O1Turn(_) | RoutingSpec::MinAdaptive(_)
            );
            if (merlins || macros || of_lattices) && !fabric::routing::fits(routing.name(), &topology) {
                continue;
            }
            let by_room = matches!(routing, RoutingSpec::AdaptiveLocal(_));
            let by_group = by_room || matches!(routing, RoutingSpec::Valiant(ViaSpec { via: Via::Group }));
            if (up && name != "fat-tree")
                || (deroute && name != "hyperx")
                || (by_group && !name.starts_with("dragonfly"))
            {
                continue;
            }
            for (model, architecture) in [
                (RouterKind::SCULPIN, Architecture::VOQ),
                (RouterKind::CREDIT, Architecture::VOQ),
                (RouterKind::CREDIT, Architecture::INPUT_QUEUED),
                (RouterKind::CREDIT, Architecture::VC_ROUTER),
            ] {
                let flits = architecture == Architecture::VC_ROUTER;
                let queued = architecture == Architecture::INPUT_QUEUED;
                let refused = match routing {
                    RoutingSpec::Dal(_) | RoutingSpec::MinAdaptive(_) => queued || flits,
                    _ if merlins => !queued,
                    // Room in output buffers, or in the next ones.
                    RoutingSpec::AdaptiveLocal(room) => {
                        model == RouterKind::SCULPIN || queued != (room.congestion == Congestion::Output)
                    }
                    _ => false,
                };
                if refused {
                    continue;
                }
                let mut spec = plain(topology.clone());
                spec.routing = routing.clone();
                if let RoutingSpec::Ugal(detour) | RoutingSpec::Par(detour) = &spec.routing
                    && detour.via == Via::Group
                    && !name.starts_with("dragonfly")
                {
                    continue;
                }
                if let Some((congestion, _)) = looks_at(&mut spec.routing)
                    && model == RouterKind::SCULPIN
                {
                    *congestion = Congestion::Output;
                }
                spec.router.model = model;
                spec.router.architecture = architecture;
                spec.router.buffer = Some(Bytes(6_000));
                // Workers with whole groups of a dragonfly may go on for some windows without each other.
                let global = LinkSpec {
                    latency: Time::from_ns(650),
                    ..spec.links.default
                };
                spec.links.by_class.insert("global".into(), global);
                if architecture == Architecture::INPUT_QUEUED {
                    spec.router.output_buffer = Some(Bytes(5_000));
                    spec.router.output_latency = Time::from_ns(40);
                    spec.router.credits_traverse = true;
                    spec.router.node_credit_delay = Time::from_ns(1);
                }
                if flits {
                    as_flits(&mut spec, cells.len());
                }
                let some = matches!(
                    routing,
                    RoutingSpec::Minimal(_) | RoutingSpec::MinA(_) | RoutingSpec::Par(_)
                );
                if some && name != "single router" && (model, architecture) == (RouterKind::CREDIT, Architecture::VOQ) {
                    cells.push((format!("{name} {routing:?} round a dead cable"), failing(&spec)));
                }
                cells.push((format!("{name} {routing:?} {model:?} {architecture:?}"), spec));
            }
        }
    }
    cells
}

/// Routers of flits, each with other allocators and stages, whose packets are longer than a buffer.
fn as_flits(spec: &mut RunSpec, which: usize) {
    let rules = [
        Allocator::Islip,
        Allocator::SeparableInputFirst,
        Allocator::Wavefront,
        Allocator::Pim,
        Allocator::MaxSize,
        Allocator::Loa,
        Allocator::RandomGreedy,
    ];
    let matcher = |k: usize| Matcher {
        rule: rules[(which / 3 + k) % rules.len()],
        rounds: 1 + (which % 2) as u8,
    };
    spec.router.flit = Bytes(250);
    spec.router.buffer = Some(Bytes(250 * (6 + which as u64 % 5)));
    spec.router.credit_delay = Time::from_ns(which as u64 % 3 * 7);
    spec.router.pipeline = Some(PipelineSpec {
        clock: Time::from_ns([2, 5][which % 2]),
        stages: [
            (which % 3) as u8,
            1 + (which / 2 % 2) as u8,
            1 + (which / 4 % 2) as u8,
            (which / 5 % 3) as u8,
        ],
        vc: matcher(0),
        switch: matcher(3),
        internal_speedup: 1 + (which / 7 % 2) as u8,
        input_speedup: 1 + (which / 11 % 2) as u8,
        output_speedup: 1 + (which / 13 % 2) as u8,
        output_queue: (which % 4 == 1).then_some(Bytes(500)),
        wait_for_tail_credit: which % 5 == 2,
        outputs: None,
    });
}

/// Routers with a buffer per output channel: every rule of asking and giving, with room for heads of a part of a packet, on networks that have
/// such routings.
fn asking_cells() -> Vec<(String, RunSpec)> {
    let routings = [
        RoutingSpec::CaminosShortest(NoKeys {}),
        RoutingSpec::CaminosUgal(NoKeys {}),
        RoutingSpec::CaminosValiant(NoKeys {}),
        RoutingSpec::CaminosPolarized(NoKeys {}),
        RoutingSpec::CaminosOmni(OmniSpec { deroutes: 2 }),
        RoutingSpec::DOR,
        RoutingSpec::VALIANT,
        RoutingSpec::LeastHops(TakeSpec { take: Taken::Random }),
        RoutingSpec::Polarized(PenaltySpec { penalty: 4 }),
        RoutingSpec::MinAdaptive(SenseSpec::default()),
        RoutingSpec::MinAdaptive(SenseSpec {
            per: Per::Vc,
            ..SenseSpec::default()
        }),
    ];
    let rules = [
        RequestRule::Random,
        RequestRule::LeastOccupied,
        RequestRule::LeastWeight,
    ];
    let mut cells = Vec::new();
    for (i, (name, topology)) in topologies().into_iter().enumerate() {
        for (k, routing) in routings.iter().enumerate().skip(i % 2).step_by(2) {
            if !fabric::routing::fits(routing.name(), &topology)
                || routing == &RoutingSpec::DOR && !is_lattice(&topology)
            {
                continue;
            }
            let which = i + k;
            let mut spec = plain(topology.clone());
            spec.routing = routing.clone();
            spec.router.architecture = Architecture::VC_ROUTER;
            spec.router.flit = Bytes(250);
            spec.router.buffer = Some(Bytes(3_000 + 250 * (which as u64 % 3)));
            spec.router.pipeline = Some(PipelineSpec {
                clock: Time::from_ns([10, 20][which % 2]),
                stages: [0; 4],
                vc: Matcher {
                    rule: [Allocator::RandomGreedy, Allocator::Islip][which % 2],
                    rounds: 1,
                },
                outputs: Some(OutputsSpec {
                    buffer: Bytes(2_500),
                    head_room: [None, Some(Bytes(500))][which / 2 % 2],
                    request: rules[which % 3],
                    label_weight: 8,
                    extra_congestion: 4,
                }),
                ..PipelineSpec::default()
            });
            cells.push((format!("{name} {routing:?} asking"), spec));
        }
    }
    cells
}

#[test]
fn routers_that_ask_for_channels_give_one_answer_on_every_engine() {
    for (what, mut spec) in asking_cells() {
        spec.jobs[0].work = synthetic(0.5, 3_000);
        spec.control.end = Some(Time::from_us(3));
        one_answer(&what, &spec);
    }
}

/// Of sets of one word, of two and of more, to an end and beyond.
#[test]
fn credits_that_wait_give_one_answer_on_every_engine() {
    for (nodes, vcs) in [(1, 2), (8, 8), (20, 8)] {
        for count in [None, Some(3)] {
            let mut spec = whose_credits_wait(nodes, vcs);
            spec.jobs[0].work = match count {
                None => synthetic(0.4, 600),
                Some(count) => closed_loop(2, Some(count)),
            };
            spec.control.end = count.is_none().then_some(Time::from_ns(500));
            one_answer(&format!("{nodes} nodes, {vcs} channels, {count:?}"), &spec);
        }
    }
}

/// The same with a dead cable.
fn failing(spec: &RunSpec) -> RunSpec {
    let mut spec = spec.clone();
    spec.fail = FailSpec::random(FailKind::Cables, 1, 5);
    spec
}

/// Forwarding tables: every way to choose a path, every size of an entry's parts, on some networks and routers.
fn table_cells() -> Vec<(String, RunSpec)> {
    let quadrants = TopologySpec::HyperX(lattice(&[4, 4], &[], 2));
    let named = |name: &str| topologies().into_iter().find(|(n, _)| *n == name).unwrap().1;
    let (voq, queued) = (Architecture::VOQ, Architecture::INPUT_QUEUED);
    let credit = RouterKind::CREDIT;
    [
        (named("hyperx"), "dfsssp", 1, PathChoice::RoundRobin, credit, voq),
        (named("torus"), "lash", 1, PathChoice::Random, credit, queued),
        (named("dragonfly"), "updn", 2, PathChoice::BySize, credit, voq),
        (
            named("fat-tree"),
            "ftree",
            0,
            PathChoice::First,
            RouterKind::SCULPIN,
            voq,
        ),
        (quadrants.clone(), "parx", 2, PathChoice::BySize, credit, voq),
        (quadrants, "parx", 2, PathChoice::Striped, credit, queued),
        (named("fat-tree"), "dnup", 1, PathChoice::RoundRobin, credit, voq),
        (named("torus"), "torus-2qos", 1, PathChoice::RoundRobin, credit, voq),
    ]
    .into_iter()
    .map(|(topology, engine, lmc, path, model, architecture)| {
        let mut spec = plain(topology);
        let tables = TablesSpec {
            source: TableSource::Engine {
                lanes: 8,
                roots: vec![],
                lmc,
                seed: 1,
                demands: None,
                torus: None,
            },
            path,
            small_below: Bytes(1_500),
        };
        spec.routing = RoutingSpec::by_tables(engine, tables).unwrap();
        spec.router.model = model;
        spec.router.architecture = architecture;
        spec.router.buffer = Some(Bytes(6_000));
        if architecture == queued {
            spec.router.output_buffer = Some(Bytes(5_000));
        }
        (format!("tables of {engine} {model:?} {architecture:?}"), spec)
    })
    .collect()
}

/// Late-admission routers on rings, meshes and tori: chunks of a message's packets, few of them in a queue.
fn late_admission_cells() -> Vec<(String, RunSpec)> {
    let mut cells = Vec::new();
    let ring = |routers, width, nodes_per_router| {
        TopologySpec::Ring(RingSpec {
            routers,
            width,
            nodes_per_router,
        })
    };
    let topologies = [
        ("wide ring", ring(7, 2, 2)),
        ("ring", ring(12, 1, 1)),
        ("mesh", TopologySpec::Mesh(lattice(&[3, 4], &[1, 2], 2))),
        ("torus", TopologySpec::Torus(lattice(&[4, 3, 2], &[], 1))),
    ];
    for (name, topology) in topologies {
        for tie in [Tie::Positive, Tie::Unwrapped, Tie::Split] {
            for routing in [RoutingSpec::Dor(TieSpec { tie }), RoutingSpec::Rdr(TieSpec { tie })] {
                let mut spec = plain(topology.clone());
                spec.routing = routing.clone();
                spec.links.default.latency = Time::from_ns(3);
                spec.router.architecture = Architecture::LATE_ADMISSION;
                spec.router.buffer = Some(Bytes(3_000));
                spec.router.bubble = 2;
                spec.router.local_latency = Time(750);
                spec.router.credit_delay = Time(1_700);
                spec.router.traversal = Time::from_ns(50);
                spec.router.traversal_occupies_link = tie == Tie::Unwrapped;
                if tie == Tie::Unwrapped {
                    spec.router.completion = Completion::Cumulative;
                }
                // One channel is not proven for random dimensions; these loads do not fill the queues in a circle.
                spec.router.allow_deadlock = true;
                spec.nic.packet = Bytes(2_000);
                spec.nic.chunk = Some(Bytes(300));
                spec.nic.message_overhead = Time::from_ns(10);
                spec.nic.idle_delay_per_byte = Time(40);
                cells.push((format!("{name} {routing:?} late admission"), spec));
            }
        }
    }
    cells
}

/// Routings of SST/macro on the networks that it has for them.
fn macro_cells() -> Vec<(String, RunSpec)> {
    let plus = TopologySpec::DragonflyPlus(DragonflyPlusSpec {
        groups: 4,
        leaves: 3,
        spines: 3,
        nodes_per_leaf: 2,
        links_per_pair: 3,
        local_width: 1,
        arrangement: Arrangement::Absolute,
        arrangement_seed: 1,
    });
    let single = TopologySpec::Dragonfly(DragonflySpec {
        groups: 5,
        routers_per_group: vec![4],
        nodes_per_router: 2,
        links_per_pair: 1,
        local_width: 1,
        arrangement: Arrangement::Circulant,
        arrangement_seed: 1,
    });
    let cells = [
        (single, RoutingSpec::MacroPar(DrawSpec { draw: Draw::Clock })),
        (plus.clone(), RoutingSpec::MacroMinimal(NoKeys {})),
        (plus.clone(), RoutingSpec::MacroPar(DrawSpec::default())),
        (plus, RoutingSpec::MacroPar(DrawSpec { draw: Draw::Clock })),
        (
            TopologySpec::HyperX(lattice(&[3, 2, 3], &[1, 2, 1], 2)),
            RoutingSpec::MacroPar(DrawSpec::default()),
        ),
    ];
    let models = [RouterKind::SCULPIN, RouterKind::CREDIT];
    let with_models = |(topology, routing): (TopologySpec, RoutingSpec)| {
        models.map(|model| {
            let mut spec = plain(topology.clone());
            spec.routing = routing.clone();
            spec.router.model = model;
            spec.router.buffer = Some(Bytes(6_000));
            (format!("{} {} {model:?}", topology.kind().name(), routing.name()), spec)
        })
    };
    cells.into_iter().flat_map(with_models).collect()
}

/// Late-admission routers with channels: those of CODES' routings, and routings that have other channels.
fn late_admission_vcs_cells() -> Vec<(String, RunSpec)> {
    let unadmitted = |per| DetourSpec {
        congestion: Congestion::Unadmitted,
        per,
        ..DetourSpec::default()
    };
    let named = |name: &str| topologies().into_iter().find(|(n, _)| *n == name).unwrap().1;
    let up = SenseSpec {
        congestion: Congestion::Unadmitted,
        per: Per::Vc,
        equal: Equal::Drawn,
        draws: None,
    };
    let dfp = DfpSpec {
        spines_go_on: true,
        threshold: Bytes(2_000),
        ..DfpSpec::default()
    };
    let dally = DallySpec {
        global_picks: 1,
        ratio: 1.0,
        ..DallySpec::default()
    };
    [
        ("dragonfly", RoutingSpec::CodesDallyPar(DallySpec::default())),
        ("dragonfly", RoutingSpec::CodesDallyPar(dally)),
        ("dragonfly", RoutingSpec::CodesDallyMinimal(PicksSpec::default())),
        ("dragonfly+", RoutingSpec::CodesDfpPar(DfpSpec::default())),
        ("dragonfly+", RoutingSpec::CodesDfpPar(dfp)),
        ("fat-tree", RoutingSpec::CodesFatTree(NoKeys {})),
        ("fat-tree", RoutingSpec::AdaptiveUp(up)),
        ("dragonfly", RoutingSpec::Ugal(unadmitted(Per::Port))),
        ("dragonfly+", RoutingSpec::Par(unadmitted(Per::Vc))),
        ("hyperx", RoutingSpec::MIN_A),
        ("torus", RoutingSpec::DOR),
        ("mesh", RoutingSpec::MINIMAL),
        ("dragonfly", RoutingSpec::VALIANT),
    ]
    .into_iter()
    .enumerate()
    .filter(|(_, (name, routing))| fabric::routing::fits(routing.name(), &named(name)))
    .map(|(i, (name, routing))| {
        let mut spec = plain(named(name));
        spec.routing = routing.clone();
        spec.links.default.latency = Time::from_ns(if i % 2 == 0 { 10 } else { 0 });
        spec.router.architecture = Architecture::LATE_ADMISSION_VCS;
        spec.router.buffer = Some(Bytes(6_000));
        spec.router.traversal = Time::from_ns(100);
        spec.router.credit_delay = Time(700);
        spec.router.credit_uses_link = i % 3 == 0;
        if i % 4 == 3 {
            spec.router.arbitration = Arbitration::Fcfs;
        }
        spec.nic.message_overhead = Time::from_ns(11);
        (format!("{name} {routing:?} late admission by channel"), spec)
    })
    .collect()
}

/// Routers with output buffers per channel, of their own or shares of a port's.
fn output_buffered_cells() -> Vec<(String, RunSpec)> {
    let named = |name: &str| topologies().into_iter().find(|(n, _)| *n == name).unwrap().1;
    [
        ("dragonfly", RoutingSpec::MacroPar(DrawSpec::default())),
        ("dragonfly", RoutingSpec::Ugal(DetourSpec::default())),
        ("dragonfly+", RoutingSpec::Par(DetourSpec::default())),
        ("fat-tree", RoutingSpec::AdaptiveUp(SenseSpec::default())),
        ("hyperx", RoutingSpec::MIN_A),
        ("torus", RoutingSpec::DOR),
        ("mesh", RoutingSpec::VALIANT),
        ("single router", RoutingSpec::MINIMAL),
    ]
    .into_iter()
    .enumerate()
    .filter(|(_, (name, routing))| fabric::routing::fits(routing.name(), &named(name)))
    .map(|(i, (name, routing))| {
        let mut spec = plain(named(name));
        spec.routing = routing.clone();
        spec.links.default.latency = Time::from_ns(if i % 2 == 0 { 10 } else { 150 });
        spec.router.architecture = Architecture::OUTPUT_BUFFERED;
        spec.router.buffer = Some(Bytes(24_000));
        spec.router.output_buffer = Some(Bytes(if i % 2 == 0 { 24_000 } else { 3_000 }));
        spec.router.shares_buffers = i % 2 == 0;
        spec.router.traversal = Time::from_ns(if i % 3 == 0 { 0 } else { 40 });
        if i % 4 == 3 {
            spec.router.switching = Switching::StoreAndForward;
        }
        (format!("{name} {routing:?} output-buffered"), spec)
    })
    .collect()
}

/// Routers that take packets of one time by the numbers of their links.
fn cells_by_links() -> Vec<(String, RunSpec)> {
    let of_output_buffers = output_buffered_cells().into_iter();
    let unbounded = ["dragonfly", "dragonfly+", "fat-tree", "torus"]
        .into_iter()
        .flat_map(|name| {
            let own = output_buffered_cells().into_iter();
            own.filter(move |(what, _)| what.starts_with(&format!("{name} ")))
                .take(1)
        });
    let unbounded = unbounded.map(|(what, mut spec)| {
        spec.router.model = RouterKind::SCULPIN;
        spec.router.architecture = Architecture::VOQ;
        (spec.router.buffer, spec.router.output_buffer) = (None, None);
        spec.router.shares_buffers = false;
        (format!("{what} sculpin"), spec)
    });
    of_output_buffers
        .chain(unbounded.collect::<Vec<_>>())
        .map(|(what, mut spec)| {
            spec.router.ties = Ties::Links;
            (format!("{what} by links"), spec)
        })
        .collect()
}

fn synthetic(load: f64, message: u64) -> Work {
    Work::Synthetic(Synthetic {
        load: Some(load),
        ..Synthetic::of(Pattern::Uniform, Bytes(message))
    })
}

/// Patterns, sizes and processes of their own, one of each by a number.
fn of_its_own(number: usize, load: f64, message: u64) -> Work {
    let part = |share, message, pattern| PatternPart {
        share,
        message,
        pattern,
    };
    let patterns = [
        Pattern::Uniform,
        Pattern::Mixed {
            parts: vec![
                part(3.0, None, Pattern::Uniform),
                part(1.0, Some(Bytes(64)), Pattern::Shift { by: Some(1) }),
                part(0.5, Some(Bytes(9_000)), Pattern::Incast { sources: Some(2) }),
            ],
        },
        Pattern::Matrix {
            of: MatrixOf::Nodes,
            blocks: Vec::new(),
            rates: Rates::Weighted,
            weights: vec![(0, 1, 2.0), (0, 5, 1.0), (1, 0, 3.0), (4, 3, 0.5), (5, 0, 3.0)],
        },
        Pattern::Partners {
            list: vec![(0, 1), (0, 5), (0, 1), (3, 4), (5, 3)],
        },
    ];
    let processes = [Process::Poisson, Process::Bernoulli, Process::OnOff];
    Work::Synthetic(Synthetic {
        load: Some(load),
        process: processes[number % 3],
        ..Synthetic::of(patterns[number % 4].clone(), Bytes(message))
    })
}

/// Nodes that wait for answers.
fn closed_loop(window: u32, count: Option<u64>) -> Work {
    Work::Synthetic(Synthetic {
        load: None,
        count,
        window: Some(window),
        ..Synthetic::of(Pattern::Uniform, Bytes(5_000))
    })
}

fn pairs(matching: Matching, mode: PairMode) -> Work {
    Work::Pairs(Pairs {
        matching,
        mode,
        messages: 7,
        message: Bytes(5_000),
        ack: Bytes(64),
        active: None,
        start_spread: Time(1_000),
        seed: None,
    })
}

/// Messages of all sizes between any nodes, some of them several of a node at one time.
fn listed(seed: u64, n_nodes: u32) -> Work {
    let mut list: Vec<ListedMessage> = (0..120)
        .map(|k| {
            let draw = |word: u64, below: u64| mix(mix(seed ^ k << 8) ^ word) % below;
            let (from, by) = (draw(1, n_nodes.into()) as u32, draw(2, u64::from(n_nodes) - 1) as u32);
            let to = (from + 1 + by) % n_nodes;
            let bytes = [1, 2_048, 2_049, 9_000][draw(3, 4) as usize];
            ListedMessage::from((draw(4, 8) * 200_000, from, to, bytes))
        })
        .collect();
    list.sort_by_key(|message| (message.time, message.source));
    Work::Messages(list)
}

/// Runs a specification on an engine; the checks of the run itself must hold.
fn result(what: &str, spec: &RunSpec, engine: Engine) -> RunResult {
    let mut spec = spec.clone();
    spec.control.engine = engine;
    run(&spec, &mut |_| true).unwrap_or_else(|error| panic!("{what} on {engine:?}: {error}"))
}

/// Runs a specification on ranks that are threads, with an engine and workers of each; what the first of them has.
fn on_ranks(what: &str, spec: &RunSpec, ranks: usize, engine: Engine) -> RunResult {
    let mut spec = spec.clone();
    spec.control.engine = engine;
    let spec = &spec;
    let mut ends = local::connect(ranks);
    let results: Vec<Option<RunResult>> = std::thread::scope(|scope| {
        let runs = ends.iter_mut().map(|end| {
            scope.spawn(move || {
                let means = Means {
                    ranks: Some(end),
                    ..Means::default()
                };
                let result = run_by(spec, means, &mut |_| RunOrder::GoOn);
                result.unwrap_or_else(|error| panic!("{what} on {ranks} ranks: {error}"))
            })
        });
        let runs: Vec<_> = runs.collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    assert!(results[1..].iter().all(Option::is_none), "{what}");
    results.into_iter().next().flatten().unwrap()
}

/// How a run is executed: an engine with a number of workers, on a number of ranks or not.
#[derive(Clone, Copy, Debug)]
enum Way {
    Engine(Engine, u16),
    Ranks(usize, Engine, u16),
}

/// `true` if all of the matrix is to be run (`make parity`), not only a part of it.
pub fn whole() -> bool {
    std::env::var("FABRICSIM_PARITY").is_ok_and(|value| value == "whole")
}

/// The ways that are held against the sequential engine: one of six, by case, of which each test has many, or with `FABRICSIM_PARITY=whole` (`make parity`) all, with more
/// workers and ranks.
fn ways(case: &str) -> Vec<Way> {
    use Engine::*;
    if !whole() {
        let some = [
            Way::Engine(Reference, 1),
            Way::Engine(RollbackCheck, 1),
            Way::Engine(Conservative, 3),
            Way::Engine(Optimistic, 2),
            Way::Ranks(2, Conservative, 2),
            Way::Ranks(2, Optimistic, 1),
        ];
        return vec![some[(hash(case, 7) % 6) as usize]];
    }
    let mut ways = vec![Way::Engine(Reference, 1), Way::Engine(RollbackCheck, 1)];
    ways.extend([1, 2, 3, 4].map(|workers| Way::Engine(Conservative, workers)));
    ways.extend([1, 2, 4].map(|workers| Way::Engine(Optimistic, workers)));
    for engine in [Conservative, Optimistic] {
        ways.extend([(2, 1), (3, 1), (2, 2), (3, 2)].map(|(ranks, workers)| Way::Ranks(ranks, engine, workers)));
    }
    ways
}

/// A number that stays with a case's name.
fn hash(case: &str, start: u64) -> u64 {
    case.bytes().fold(start, |word, byte| mix(word ^ u64::from(byte)))
}

/// Three ways to share out the routers of a network to `workers`, as far as it has as many: the family's, METIS, and one that leaves no
/// router beside another; or one of them, another for every case.
fn partitions(case: &str, n_routers: u32, workers: usize) -> Vec<PartitionSpec> {
    if workers == 1 || n_routers < workers as u32 {
        return vec![PartitionSpec::Auto];
    }
    let number = |router: u32| (mix(u64::from(router) ^ 5) >> 40) as u32;
    let dealt = (0..n_routers).map(|router| match router < workers as u32 {
        true => router,
        false => number(router) % workers as u32,
    });
    let all = vec![
        PartitionSpec::Blocks,
        PartitionSpec::Metis,
        PartitionSpec::Map(dealt.collect()),
    ];
    if whole() {
        return all;
    }
    vec![all[(hash(case, workers as u64) % 3) as usize].clone()]
}

pub(crate) fn one_answer(what: &str, spec: &RunSpec) {
    let sequential = result(what, spec, Engine::Sequential);
    assert!(sequential.summary.messages > 20, "{what}: the case must do something");
    let n_routers = sequential.summary.n_routers;
    let shared = |way: Way| {
        let workers = match way {
            Way::Engine(_, workers) => usize::from(workers),
            Way::Ranks(ranks, _, workers) => ranks * usize::from(workers),
        };
        let partitions = partitions(what, n_routers, workers);
        partitions.into_iter().map(move |partition| (way, partition))
    };
    // Another test of the same cell goes other ways.
    let case = format!("{what} {:?}", spec.jobs[0].work);
    for (way, partition) in ways(&case).into_iter().flat_map(shared) {
        let mut spec = spec.clone();
        let what = format!("{what}, {partition:?}");
        spec.control.partition = partition;
        let other = match way {
            Way::Engine(engine, workers) => {
                spec.control.workers = workers;
                result(&what, &spec, engine)
            }
            Way::Ranks(ranks, engine, workers) => {
                spec.control.workers = workers;
                on_ranks(&what, &spec, ranks, engine)
            }
        };
        assert_eq!(other.summary.digest, sequential.summary.digest, "{what} on {way:?}");
        assert_eq!(other.sample, sequential.sample, "{what} on {way:?}");
        assert_eq!(other.messages, sequential.messages, "{what} on {way:?}");
        assert_eq!(other.summary.events, sequential.summary.events, "{what} on {way:?}");
        assert_eq!(other.stats.senders, sequential.stats.senders, "{what} on {way:?}");
        assert_eq!(other.stats.tracks, sequential.stats.tracks, "{what} on {way:?}");
        assert_eq!(other.stats.hops, sequential.stats.hops, "{what} on {way:?}");
        assert_eq!(other.stats.losses, sequential.stats.losses, "{what} on {way:?}");
        assert_eq!(other.ranks, sequential.ranks, "{what} on {way:?}");
        assert_eq!(other.rank_times, sequential.rank_times, "{what} on {way:?}");
        assert_eq!(other.memory, sequential.memory, "{what} on {way:?}");
        let ran = |way: &Way| match way {
            Way::Engine(Engine::Reference, _) => "reference",
            Way::Engine(Engine::RollbackCheck, _) => "rollback-check",
            Way::Engine(Engine::Optimistic, _) | Way::Ranks(_, Engine::Optimistic, _) => "optimistic",
            Way::Engine(_, 1) => "sequential",
            _ => "conservative",
        };
        if other.summary.n_routers > 1 {
            assert_eq!(other.summary.engine, ran(&way), "{what}");
        }
    }
}

#[test]
fn late_admission_gives_one_answer_on_every_engine() {
    for (i, (what, mut spec)) in late_admission_cells().into_iter().enumerate() {
        spec.jobs[0].work = synthetic(0.3, 3_100);
        spec.control.end = Some(Time::from_us(4));
        spec.control.warmup = Some(Time::ZERO);
        one_answer(&what, &spec);
        let mode = [PairMode::PingPong, PairMode::Batch { batch: 3 }, PairMode::Stream][i % 3];
        spec.jobs[0].work = pairs(Matching::Mutual, mode);
        spec.control.end = None;
        one_answer(&what, &spec);
        // All local delays off: packets of a node come at the same time.
        spec.links.default.latency = Time::ZERO;
        spec.router.local_latency = Time::ZERO;
        spec.nic.message_overhead = Time::ZERO;
        let sequential = result(&what, &spec, Engine::Sequential);
        assert_eq!(sequential.summary.engine, "reference", "{what}: no lookahead");
    }
}

#[test]
fn the_bubble_rule_gives_one_answer_on_every_engine() {
    let shapes: [&[u32]; 3] = [&[9], &[4, 5], &[3, 3, 3]];
    for (i, shape) in shapes.into_iter().enumerate() {
        let mut spec = plain(TopologySpec::Torus(lattice(shape, &[], 2)));
        spec.routing = RoutingSpec::DOR;
        spec.router.bubble = 2;
        spec.router.buffer = Some(Bytes(3 * spec.nic.packet.0));
        spec.nic.bandwidth = (i == 1).then_some(BitsPerSec(130_000_000_000));
        // More than it can take, in packets of unequal size, so that some pass others.
        spec.jobs[0].work = synthetic(2.0, 5_000);
        spec.control.end = Some(Time::from_us(4));
        spec.control.warmup = Some(Time::ZERO);
        one_answer(&format!("{shape:?} with the bubble rule"), &spec);
    }
}

#[test]
fn ways_in_turn_give_one_answer_on_every_engine() {
    for (i, (what, mut spec)) in macro_cells().into_iter().enumerate() {
        spec.jobs[0].work = of_its_own(i, 0.7, 3_000);
        spec.control.end = Some(Time::from_us(4));
        spec.control.warmup = Some(Time::ZERO);
        one_answer(&what, &spec);
    }
}

/// Cells, so many at the least, with messages of their own up to an end, and with pairs of the i-th cell's mode until all are done.
fn give_one_answer(cells: Vec<(String, RunSpec)>, least: usize, mode: impl Fn(usize) -> PairMode) {
    assert!(cells.len() >= least, "{}", cells.len());
    for (i, (what, mut spec)) in cells.into_iter().enumerate() {
        spec.jobs[0].work = of_its_own(i, 0.7, 3_000);
        spec.control.end = Some(Time::from_us(4));
        spec.control.warmup = Some(Time::ZERO);
        one_answer(&what, &spec);
        spec.jobs[0].work = pairs(Matching::Mutual, mode(i));
        spec.control.end = None;
        one_answer(&what, &spec);
    }
}

#[test]
fn late_admission_by_channel_gives_one_answer_on_every_engine() {
    give_one_answer(late_admission_vcs_cells(), 12, |i| {
        [PairMode::PingPong, PairMode::Batch { batch: 3 }, PairMode::Stream][i % 3]
    });
}

#[test]
fn output_buffers_give_one_answer_on_every_engine() {
    give_one_answer(output_buffered_cells(), 7, |_| PairMode::Batch { batch: 3 });
}

#[test]
fn the_order_of_links_gives_one_answer_on_every_engine() {
    give_one_answer(cells_by_links(), 11, |_| PairMode::Batch { batch: 3 });
}

#[test]
fn open_loop_traffic_gives_one_answer_on_every_engine() {
    for (i, (what, mut spec)) in cells().into_iter().enumerate() {
        spec.jobs[0].work = of_its_own(i, 0.6, 3_000);
        spec.control.end = Some(Time::from_us(4));
        spec.control.warmup = Some(Time::ZERO);
        one_answer(&what, &spec);
    }
}

/// What fails while the run goes on: cables, a router and a node, overlapping, with ways that change at once, late, or never.
fn with_outages(spec: &RunSpec, number: usize) -> RunSpec {
    let mut spec = spec.clone();
    let reroutes = [
        Reroute::After(Time::ZERO),
        Reroute::After(Time::from_ns(300)),
        Reroute::Never,
    ];
    for (k, of) in [FailKind::Cables, FailKind::Routers, FailKind::Nodes, FailKind::Cables]
        .into_iter()
        .enumerate()
    {
        let what = FailSpec::random(of, 1, (number * 4 + k) as u64);
        let at = 400_000 + 700_000 * k as u64 + 13 * number as u64;
        spec.outages.list.push(Outage {
            what,
            at: Time(at),
            until: (k != 3).then_some(Time(at + 900_000)),
            reroute: reroutes[(number + k) % 3],
        });
    }
    let slow = &spec.outages.list[3];
    let mut slow = Outage {
        at: Time(200_000),
        until: Some(Time(1_700_000)),
        ..slow.clone()
    };
    (slow.what.keeps, slow.what.error_rate) = (Some(0.3), Some(1e-5));
    slow.what
        .drawn
        .iter_mut()
        .for_each(|drawn| drawn.many = HowMany::Count(2));
    spec.outages.list.extend(number.is_multiple_of(2).then_some(slow));
    spec
}

#[test]
fn what_fails_while_a_run_goes_on_gives_one_answer_on_every_engine() {
    let mut n = 0;
    for (name, topology) in topologies().into_iter().skip(1) {
        let mut routings = vec![RoutingSpec::MINIMAL, RoutingSpec::MIN_RANDOM, RoutingSpec::MIN_A];
        if name == "fat-tree" {
            routings.push(RoutingSpec::SCATTER);
            routings.push(RoutingSpec::AdaptiveUp(SenseSpec::default()));
        }
        let over = |via| DetourSpec {
            via,
            ..DetourSpec::default()
        };
        routings.push(match (name, n % 3) {
            ("dragonfly" | "dragonfly+", _) => RoutingSpec::Par(over(Via::Group)),
            (_, 0) => RoutingSpec::Valiant(ViaSpec { via: Via::Node }),
            (_, 1) => RoutingSpec::Ugal(over(Via::Router)),
            _ => RoutingSpec::Par(over(Via::Router)),
        });
        let tables = ["updn", "minhop", "dfsssp", "nue"][n % 4];
        routings.push(engine(tables, LANES, n as u8 % 2, PathChoice::RoundRobin));
        for routing in routings {
            for (model, architecture) in [
                (RouterKind::SCULPIN, Architecture::VOQ),
                (RouterKind::CREDIT, Architecture::VOQ),
                (RouterKind::CREDIT, Architecture::OUTPUT_BUFFERED),
            ] {
                if routing.tables().is_some() && model == RouterKind::CREDIT {
                    // Tables of several stages together can deadlock.
                    continue;
                }
                let mut spec = plain(topology.clone());
                spec.router.model = model;
                spec.router.architecture = architecture;
                spec.router.buffer = (model == RouterKind::CREDIT).then_some(Bytes(8_192));
                spec.router.output_buffer = (architecture == Architecture::OUTPUT_BUFFERED).then_some(Bytes(8_192));
                spec.routing = routing.clone();
                spec.jobs[0].work = of_its_own(n, 0.5, 3_000);
                spec.control.end = Some(Time::from_us(4));
                spec.control.warmup = Some(Time::ZERO);
                let mut spec = with_outages(&spec, n);
                spec.nic.retransmit = (n % 2 == 1 && routing.in_time() == InTime::GoOn).then_some(RetransmitSpec {
                    retries: 1 + (n % 5) as u8,
                    after: Time::from_ns(300),
                });
                let what = format!("outages, {name}, {}, {model:?}, {architecture:?}", routing.name());
                one_answer(&what, &spec);
                n += 1;
            }
        }
    }
}

#[test]
fn reacting_pairs_give_one_answer_on_every_engine() {
    // Neither 2 nor 3 divides the step: all kinds of pairs meet all cells of a kind.
    let step = if whole() { 1 } else { 5 };
    for (i, (what, mut spec)) in cells().into_iter().enumerate().step_by(step) {
        let matching = if i % 2 == 0 {
            Matching::Mutual
        } else {
            Matching::SendersReceivers
        };
        let mode = [PairMode::PingPong, PairMode::Batch { batch: 3 }, PairMode::Stream][i % 3];
        spec.jobs[0].work = pairs(matching, mode);
        spec.control.end = None;
        one_answer(&what, &spec);
    }
}

#[test]
fn nodes_that_wait_for_answers_give_one_answer_on_every_engine() {
    for (i, (what, mut spec)) in cells().into_iter().enumerate().filter(|(i, _)| i % 3 == 0) {
        let ends = i % 2 == 0;
        spec.jobs[0].work = closed_loop(1 + i as u32 % 4, ends.then_some(7));
        // Long links and buffers of less than a packet: answers take their time.
        let flits = spec.router.architecture == Architecture::VC_ROUTER;
        spec.control.end = (!ends).then_some(Time::from_us(if flits { 12 } else { 4 }));
        spec.control.warmup = (!ends).then_some(Time::ZERO);
        one_answer(&what, &spec);
    }
}

#[test]
fn listed_messages_give_one_answer_on_every_engine() {
    let step = if whole() { 1 } else { 3 };
    for (i, (what, mut spec)) in cells().into_iter().enumerate().step_by(step) {
        spec.jobs[0].work = listed(i as u64, Network::build(&spec).unwrap().n_nodes());
        spec.control.end = None;
        spec.observe.messages = MessageDetail::Full;
        one_answer(&what, &spec);
    }
}

#[test]
fn overload_and_incast_give_one_answer_on_every_engine() {
    let step = if whole() { 1 } else { 3 };
    for (what, mut spec) in cells().into_iter().skip(step / 2).step_by(step) {
        spec.jobs[0].work = Work::Synthetic(Synthetic {
            load: Some(1.0),
            count: Some(6),
            process: Process::PeriodicInPhase,
            ..Synthetic::of(Pattern::Incast { sources: None }, Bytes(2_048))
        });
        spec.control.end = None;
        one_answer(&what, &spec);
    }
}

/// A job of MPI ranks that does one motif after the other.
fn ranks(
    (per_node, start): (u32, Start),
    mapping: Mapping,
    mpi: MpiSpec,
    motifs: &[(&str, &[(&str, MotifValue)])],
) -> Work {
    let part = |(kind, values): &(&str, &[(&str, MotifValue)])| Part {
        motif: Motif {
            kind: (*kind).to_owned(),
            values: values
                .iter()
                .map(|(key, value)| ((*key).to_owned(), value.clone()))
                .collect(),
        },
        iterations: 1,
    };
    Work::Ranks(Ranks {
        parts: motifs.iter().map(part).collect(),
        per_node,
        mapping,
        start,
        prelude: 0,
        mpi,
    })
}

/// Programs of ranks that between them do all that ranks can.
fn works() -> [Work; 3] {
    use MotifValue::{Flag, Integer, List, Text};
    let mpi = |eager, rendezvous| MpiSpec {
        eager: Bytes(eager),
        rendezvous,
        ..MpiSpec::default()
    };
    let compute = || ("compute", Integer(300_000));
    [
        // Two ranks per node that start apart, messages below and above the threshold, any source, neighbours in orders of their own,
        // collectives of any number of ranks.
        ranks(
            (2, Start::Spread(Time::from_us(1))),
            Mapping::Block,
            mpi(3_000, Rendezvous::Put),
            &[
                (
                    "halo3d-26",
                    &[
                        ("grid", List(vec![20, 10, 6])),
                        ("vars", Integer(2)),
                        ("order", Text("shuffled".into())),
                        compute(),
                    ],
                ),
                (
                    "random-neighbours",
                    &[
                        ("degree", List(vec![2, 4])),
                        ("message", Integer(2_500)),
                        ("receives", Text("any-source".into())),
                        ("redraw", Flag(true)),
                        ("order", Text("shuffled".into())),
                    ],
                ),
                (
                    "collective",
                    &[("collective", Text("allreduce".into())), ("message", Integer(5_000))],
                ),
            ],
        ),
        // Three ranks per node dealt round behind a barrier, everything by rendezvous.
        ranks(
            (3, Start::AfterBarrier),
            Mapping::RoundRobin,
            mpi(0, Rendezvous::Get),
            &[
                (
                    "collective",
                    &[("collective", Text("alltoall".into())), ("message", Integer(700))],
                ),
                ("sweep3d", &[("grid", List(vec![10, 12, 20])), compute()]),
            ],
        ),
        // One rank per node, no overheads at all, everything at once.
        ranks(
            (1, Start::InPhase),
            Mapping::Block,
            MpiSpec {
                send_overhead: Time::ZERO,
                receive_overhead: Time::ZERO,
                copy: None,
                ..mpi(100_000, Rendezvous::Put)
            },
            &[
                ("halo3d", &[("grid", List(vec![12; 3]))]),
                ("many-to-one", &[("message", Integer(4_000)), ("count", Integer(2))]),
                (
                    "collective",
                    &[("collective", Text("bcast".into())), ("message", Integer(9_000))],
                ),
            ],
        ),
    ]
}

#[test]
fn ranks_with_programs_give_one_answer_on_every_engine() {
    let works = works();
    let late = late_admission_cells()
        .into_iter()
        .filter(|(_, spec)| spec.router.completion == Completion::Whole)
        .chain(late_admission_vcs_cells());
    // Part of them, each with another of the works, or all.
    let step = if whole() { 1 } else { 23 };
    for (i, (what, mut spec)) in cells().into_iter().chain(late).enumerate().step_by(step) {
        spec.jobs[0].work = works[i / step % works.len()].clone();
        spec.jobs[0].nodes = Some(12);
        spec.jobs[0].placement = Placement::Random;
        spec.control.end = None;
        if i / step % 4 == 3 {
            spec.nic.control = ControlOrder::InOrder;
        }
        spec.observe.operations = true;
        one_answer(&what, &spec);
    }
}

#[test]
fn ranks_on_tables_that_were_laid_for_them_give_one_answer_on_every_engine() {
    use MotifValue::{Integer, Text};
    let collective = |kind: &str, bytes| {
        let values = vec![("collective", Text(kind.to_owned())), ("message", Integer(bytes))];
        ("collective", values)
    };
    // All that is sent by Open MPI's rules, in segments.
    let motifs = [
        collective("bcast", 9_001),
        collective("reduce", 9_001),
        collective("gather", 7_001),
        collective("allreduce", 10_008),
        collective("allgather", 5_001),
    ];
    let motifs: Vec<_> = motifs.iter().map(|(kind, values)| (*kind, values.as_slice())).collect();
    let mpi = MpiSpec {
        eager: Bytes(1_500),
        collectives: CollectiveRules::OpenMpi110,
        ..MpiSpec::default()
    };
    let hops: Vec<_> = [DemandsFrom::Jobs, DemandsFrom::Even, DemandsFrom::None]
        .into_iter()
        .map(|from| {
            let mut spec = plain(TopologySpec::HyperX(lattice(&[4, 4], &[], 2)));
            let sums = SumsIn::EightBits;
            let tables = TablesSpec {
                source: TableSource::Engine {
                    lanes: 8,
                    roots: vec![],
                    lmc: 2,
                    seed: 1,
                    demands: Some(DemandsSpec { from, sums }),
                    torus: None,
                },
                path: PathChoice::Striped,
                small_below: Bytes(512),
            };
            spec.routing = RoutingSpec::by_tables("parx", tables).unwrap();
            spec.router.buffer = Some(Bytes(6_000));
            spec.jobs[0].work = ranks((1, Start::InPhase), Mapping::Block, mpi.clone(), &motifs);
            spec.jobs[0].nodes = Some(18);
            spec.jobs[0].placement = Placement::Random;
            spec.control.end = None;
            one_answer(&format!("demands {from:?}"), &spec);
            result("demands", &spec, Engine::Sequential).summary
        })
        .collect();
    let [jobs, even, none] = &hops[..] else { panic!("three") };
    // Detours with demands or without, none where the rules are off; jobs have ways of their own.
    assert_ne!(jobs.digest, even.digest);
    assert!(jobs.packet_hops > none.packet_hops && even.packet_hops > none.packet_hops);
}

#[test]
fn ranks_whose_messages_go_beside_the_network_or_are_fetched_give_one_answer_on_every_engine() {
    let works = works();
    let step = if whole() { 1 } else { 31 };
    let piece = |upto, overhead, per_byte_fs| CostPiece {
        upto: Bytes(upto),
        overhead: Time(overhead),
        per_byte_fs,
    };
    for (i, (what, mut spec)) in cells().into_iter().enumerate().step_by(step) {
        let mut work = works[i / step % works.len()].clone();
        let Work::Ranks(ranks) = &mut work else {
            panic!("work of ranks")
        };
        ranks.mpi.fetch_above = Some(Bytes(500));
        ranks.mpi.beside = Some(Beside {
            most: Bytes([200, 40][i % 2]),
            latency: Time::from_ns(110),
            hop: Time::from_ns(90),
            trees: BesideTrees::Shifted,
            groups: BesideGroups::AsWired,
            order: BesideOrder::ByNode,
        });
        ranks.mpi.costs = vec![piece(400, 90_000, 33), piece(3_000, 210_000, 12_501)];
        spec.jobs[0].work = work;
        spec.jobs[0].nodes = Some(12);
        spec.jobs[0].placement = Placement::Random;
        spec.control.end = None;
        spec.observe.operations = true;
        one_answer(&what, &spec);
    }
}

#[test]
fn ranks_that_handle_messages_in_their_calls_give_one_answer_on_every_engine() {
    let works = works();
    let step = if whole() { 1 } else { 31 };
    for (i, (what, mut spec)) in cells().into_iter().enumerate().step_by(step) {
        let mut work = works[i / step % works.len()].clone();
        let Work::Ranks(ranks) = &mut work else {
            panic!("work of ranks")
        };
        ranks.mpi.progress = Handling::InCalls(CallCosts {
            enter: Time::from_ns(20),
            leave: Time(7),
            match_cost: Time::from_ns(40),
            pin: Pinning {
                base: Time::from_ns(300),
                page: Time::from_ns(10),
                page_bytes: Bytes(1_000),
            },
            host_delay: Time::from_ns([0, 90][i % 2]),
            match_delay: Time::from_ns(50),
            read_delay: Time::from_ns(30),
            wakes: [Wakes::Each, Wakes::Once][i / step % 4 / 2],
        });
        if i / step % 4 >= 2 {
            ranks.mpi.rendezvous = Rendezvous::Get;
        }
        if i / step % 4 == 1 {
            ranks.mpi.fetch_above = Some(Bytes(500));
            ranks.mpi.rendezvous = Rendezvous::Get;
            ranks.mpi.beside = Some(Beside {
                most: Bytes(200),
                latency: Time::from_ns(110),
                hop: Time::from_ns(90),
                trees: BesideTrees::AsWired,
                groups: BesideGroups::SstMacro,
                order: BesideOrder::Sent,
            });
            ranks.prelude = (ranks.parts.len() > 1).into();
        }
        if i / step % 3 != 2 {
            spec.nic.control = ControlOrder::ReadsFirst;
            spec.nic.reads_behind = [0, 3][i % 2];
        }
        spec.jobs[0].work = work;
        spec.jobs[0].nodes = Some(12);
        spec.jobs[0].placement = Placement::Random;
        spec.control.end = None;
        spec.observe.operations = true;
        one_answer(&what, &spec);
    }
}

#[test]
fn operations_of_all_kinds_give_one_answer_on_every_engine() {
    let step = if whole() { 1 } else { 17 };
    for (i, (what, mut spec)) in cells().into_iter().enumerate().step_by(step) {
        let loan = ProgramLoan::new(Arc::new(ListedOps::random(i as u64, 24, 3)));
        let rendezvous = [Rendezvous::Put, Rendezvous::Get][i % 2];
        let eager = Bytes([0, 600, 100_000][i / step % 3]);
        let costs = MpiSpec {
            rendezvous,
            eager,
            ..MpiSpec::default()
        };
        let free = MpiSpec {
            send_overhead: Time::ZERO,
            receive_overhead: Time::ZERO,
            copy: None,
            combine: None,
            ..costs.clone()
        };
        spec.jobs[0].work = lent::work(&loan, 2, if i / step % 4 == 3 { free } else { costs });
        spec.jobs[0].nodes = Some(12);
        spec.jobs[0].placement = Placement::Random;
        spec.control.end = None;
        spec.observe.operations = true;
        one_answer(&what, &spec);
    }
}

#[test]
fn graphs_give_one_answer_on_every_engine() {
    let works = [
        mixed(24, 2, (Start::AfterBarrier, 3_000, true)),
        mixed(12, 1, (Start::Spread(Time::from_us(1)), 1, false)),
        mixed(36, 3, (Start::InPhase, 100_000, true)),
    ];
    let step = if whole() { 1 } else { 13 };
    for (i, (what, mut spec)) in cells().into_iter().enumerate().step_by(step) {
        spec.jobs[0].work = works[i / step % works.len()].clone();
        spec.jobs[0].nodes = Some(12);
        spec.jobs[0].placement = Placement::Random;
        spec.control.end = None;
        one_answer(&what, &spec);
    }
}

#[test]
fn traces_give_one_answer_on_every_engine() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.csv");
    let ranks: u32 = 24;
    let mut text = "rank,op,peer,source,bytes,request,time_ps\n".to_owned();
    for me in 0..ranks {
        let (next, before) = ((me + 5) % ranks, (me + ranks - 5) % ranks);
        for line in [
            format!("compute,,,,,{}", 300_000 + 1_000 * me),
            format!("irecv,{before},,9000,1,"),
            "irecv,any,,200,2,".to_owned(),
            format!("isend,{next},,9000,3,"),
            format!("isend,{},,200,4,", me ^ 1),
            "wait,,,,1,".to_owned(),
            "waitall,,,,,".to_owned(),
            format!("sendrecv,{next},{before},5000,,"),
            "allreduce,,,700,,".to_owned(),
            "bcast,3,,4000,,".to_owned(),
        ] {
            text += &format!("{me},{line}\n");
        }
    }
    std::fs::write(&path, text).unwrap();
    let mpi = MpiSpec {
        eager: Bytes(3_000),
        ..MpiSpec::default()
    };
    let file = ("file", MotifValue::Text(path.to_str().unwrap().to_owned()));
    let values: &[_] = &[file, ("message_scale", MotifValue::Number(1.5))];
    let work = self::ranks((2, Start::InPhase), Mapping::RoundRobin, mpi, &[("trace", values)]);
    let step = if whole() { 3 } else { 40 };
    for (what, mut spec) in cells().into_iter().step_by(step) {
        spec.jobs[0].work = work.clone();
        spec.jobs[0].nodes = Some(12);
        spec.jobs[0].placement = Placement::Random;
        spec.control.end = None;
        one_answer(&what, &spec);
    }
}

#[test]
fn perturbed_runs_give_one_answer_on_every_engine_and_another_than_those_beside_them() {
    let [ranks, behind, together] = works();
    let pairs = |mode| {
        Work::Pairs(Pairs {
            matching: Matching::Mutual,
            mode,
            messages: 5,
            message: Bytes(5_000),
            ack: Bytes(64),
            active: None,
            start_spread: Time::ZERO,
            seed: None,
        })
    };
    let traffic = |load, process| {
        Work::Synthetic(Synthetic {
            load,
            count: Some(9),
            process,
            ..Synthetic::of(Pattern::Uniform, Bytes(3_000))
        })
    };
    let memory = Work::Memory(Memory {
        accesses: 30,
        ..Memory::default()
    });
    let works = [
        ranks,
        behind,
        together,
        pairs(PairMode::PingPong),
        pairs(PairMode::Stream),
        traffic(None, Process::Poisson),
        traffic(Some(0.5), Process::PeriodicInPhase),
        memory,
    ];
    for (i, work) in works.into_iter().enumerate() {
        let mut spec = plain(TopologySpec::Torus(lattice(&[4, 3], &[], 2)));
        spec.router.model = [RouterKind::CREDIT, RouterKind::SCULPIN][i % 2];
        spec.routing = RoutingSpec::MIN_RANDOM;
        spec.jobs[0].work = work;
        spec.control.end = None;
        let digest = |number: u32| {
            let mut spec = spec.clone();
            let spread = Time::from_ns(300);
            spec.control.perturbation = (number > 0).then_some(Perturbation { number, spread });
            one_answer(&format!("work {i}, perturbation {number}"), &spec);
            result("perturbed", &spec, Engine::Sequential).summary.digest
        };
        let digests = [0, 1, 2].map(digest);
        assert!(digests[0] != digests[1] && digests[0] != digests[2] && digests[1] != digests[2]);
    }
}

#[test]
fn hosts_of_several_rails_give_one_answer_on_every_engine() {
    let rails = Rails {
        count: 2,
        policy: RailPolicy::LeastLoaded,
        stripe_above: Some(Bytes(2_000)),
    };
    for (i, mut work) in works().into_iter().enumerate() {
        let topology = TopologySpec::HyperX(lattice(&[3, 2], &[], 4));
        let mut spec = plain(topology);
        spec.router.model = [RouterKind::CREDIT, RouterKind::SCULPIN][i % 2];
        if let Work::Ranks(ranks) = &mut work {
            ranks.mpi.rails = rails;
        }
        spec.jobs[0].work = work;
        spec.jobs[0].placement = Placement::Random;
        spec.control.end = None;
        one_answer(&format!("rails {i}"), &spec);
    }
}

#[test]
fn workers_with_whole_groups_meet_once_in_several_windows() {
    let is_dragonfly = |what: &str| what.starts_with("dragonfly Minimal(NoKeys) credit voq");
    let (what, mut spec) = cells().into_iter().find(|(what, _)| is_dragonfly(what)).unwrap();
    spec.control.end = Some(Time::from_us(20));
    let meetings = |spec: &RunSpec, part: fn(u32) -> u32| {
        let mut spec = spec.clone();
        spec.control.workers = 2;
        spec.control.partition = PartitionSpec::Map((0..20).map(part).collect());
        let result = result(&what, &spec, Engine::Conservative);
        (result.summary.execution.windows_per_meeting, result.summary.digest)
    };
    for (message, apart) in [(2_048, 4), (3_000, 1)] {
        spec.jobs[0].work = synthetic(0.5, message);
        let sequential = result(&what, &spec, Engine::Sequential).summary.digest;
        // A credit sets out when the tail does, 81.92 ns after the head: 731.92 ns over a global link, 181.92 ns over others. A packet
        // takes longer, but a message of several packets is announced sooner.
        assert_eq!(
            meetings(&spec, |router| router / 4),
            (apart, sequential.clone()),
            "whole groups"
        );
        assert_eq!(meetings(&spec, |router| router % 4), (1, sequential), "groups are cut");
    }
}

#[test]
fn a_hundred_workers_have_blocks_for_all() {
    let mut spec = plain(TopologySpec::Torus(lattice(&[32, 32], &[], 1)));
    spec.router.model = RouterKind::CREDIT;
    spec.jobs[0].work = synthetic(0.4, 3_000);
    spec.control.end = Some(Time::from_us(2));
    spec.control.warmup = Some(Time::ZERO);
    let alone = result("torus", &spec, Engine::Sequential).summary;
    spec.control.workers = 100;
    for engine in [Engine::Conservative, Engine::Optimistic] {
        let shared = result("torus", &spec, engine).summary;
        assert_eq!(shared.execution.workers, 100);
        assert_eq!(shared.digest, alone.digest, "{engine:?}");
    }
}

#[test]
fn forwarding_tables_give_one_answer_on_every_engine() {
    let works = works();
    for (i, (what, mut spec)) in table_cells().into_iter().enumerate() {
        spec.jobs[0].work = synthetic(0.6, 3_000);
        spec.control.end = Some(Time::from_us(4));
        spec.control.warmup = Some(Time::ZERO);
        one_answer(&what, &spec);
        spec.jobs[0].work = match i % 2 {
            0 => works[i / 2 % works.len()].clone(),
            _ => pairs(Matching::Mutual, PairMode::Batch { batch: 3 }),
        };
        spec.jobs[0].nodes = Some(12);
        spec.control.end = None;
        one_answer(&what, &spec);
    }
}

/// Memory nodes with tiny caches and hot lines on every family of networks.
fn memory_cells() -> Vec<(String, RunSpec)> {
    let (voq, queued) = (Architecture::VOQ, Architecture::INPUT_QUEUED);
    let routers = [
        (RoutingSpec::MINIMAL, RouterKind::CREDIT, voq, true),
        (
            RoutingSpec::Par(DetourSpec::default()),
            RouterKind::CREDIT,
            queued,
            true,
        ),
        (RoutingSpec::MIN_A, RouterKind::CREDIT, voq, true),
        (RoutingSpec::MIN_RANDOM, RouterKind::CREDIT, queued, false),
        (RoutingSpec::MINIMAL, RouterKind::SCULPIN, voq, true),
    ];
    let mut cells = Vec::new();
    for (i, (name, topology)) in topologies().into_iter().enumerate() {
        for (k, (routing, model, architecture, by_class)) in routers.iter().enumerate() {
            if matches!(routing, RoutingSpec::Par(_)) && !matches!(topology, TopologySpec::HyperX(_)) {
                continue;
            }
            let mut spec = plain(topology.clone());
            spec.jobs[0].work = Work::Memory(Memory {
                pattern: AccessPattern::HotSpot {
                    lines: 30,
                    fraction: 0.6,
                },
                accesses: 25,
                stores: 0.3,
                cores: 2,
                outstanding: 3,
                l1: Bytes(128),
                l1_ways: 2,
                l2: Bytes(256),
                l2_ways: 2,
                misses: 4,
                told: (i + k).is_multiple_of(2),
                interleaved: !i.is_multiple_of(2),
                memory: Bytes(1 << 16),
                by_class: *by_class,
                fence_every: k as u64 * 3,
                directory_entries: i as u64 % 3 * 8,
                banks: 1 + i as u32 % 2,
                bank_busy: Time::from_ns(70),
                check_values: true,
                ..Memory::default()
            });
            spec.control.end = None;
            spec.routing = routing.clone();
            spec.router.model = *model;
            spec.router.architecture = *architecture;
            // Room for one line: in whole flits where the router counts those.
            spec.router.buffer = Some(Bytes(if *architecture == queued { 128 } else { 72 }));
            spec.links.default.bandwidth = BitsPerSec(16_000_000_000);
            // The arrangements in turn, where nodes have two interfaces at a router.
            let (arrangement, interfaces) = arrangement((i + k) as u64);
            let mut other = spec.clone();
            if let Work::Memory(memory) = &mut other.jobs[0].work {
                (memory.arrangement, memory.interfaces) = (arrangement, interfaces);
            }
            if Network::build(&other).is_ok() {
                spec = other;
            }
            cells.push((format!("{name} {routing:?} {model:?} {architecture:?} memory"), spec));
        }
    }
    cells
}

#[test]
fn memory_nodes_give_one_answer_on_every_engine() {
    for (what, spec) in memory_cells() {
        one_answer(&what, &spec);
    }
}

#[test]
fn zero_lookahead_links_are_simulated_in_total_order() {
    // A flit is there when all of it is, however short the cable.
    let has_some = |spec: &RunSpec| spec.router.architecture == Architecture::VC_ROUTER;
    for (what, mut spec) in cells().into_iter().step_by(3).filter(|(_, spec)| !has_some(spec)) {
        spec.links.default.latency = Time::ZERO;
        spec.router.traversal = Time::ZERO;
        spec.jobs[0].work = synthetic(0.4, 2_048);
        spec.control.end = Some(Time::from_us(3));
        let sequential = result(&what, &spec, Engine::Sequential);
        assert_eq!(sequential.summary.engine, "reference", "{what}");
        let again = result(&what, &spec, Engine::Reference);
        assert_eq!(again.summary.digest, sequential.summary.digest, "{what}");
    }
}

#[test]
fn credit_with_unbounded_buffers_and_first_come_order_is_sculpin() {
    let voq = |spec: &RunSpec| spec.router.architecture == Architecture::VOQ;
    for (what, spec) in cells().into_iter().filter(|(_, spec)| voq(spec)) {
        for (load, speed) in [(0.3, 1), (0.95, 1), (0.7, 3)] {
            let (adaptive, alike) = match looks_at(&mut spec.routing.clone()) {
                // `sculpin` has neither credits nor channels.
                Some((congestion, per)) => (true, *congestion == Congestion::Output && per == Per::Port),
                None => {
                    let sees = matches!(
                        spec.routing,
                        RoutingSpec::MacroUgal(_)
                            | RoutingSpec::MacroPar(_)
                            | RoutingSpec::LeastHops(_)
                            | RoutingSpec::Polarized(_)
                    );
                    (sees || spec.routing == RoutingSpec::MIN_A, true)
                }
            };
            if !alike || (adaptive && speed != 1) {
                // How long a packet waits for a slower tail is no backlog that both models see alike.
                continue;
            }
            let mut sculpin = spec.clone();
            sculpin.jobs[0].work = synthetic(load, 3_000);
            sculpin.control.end = Some(Time::from_us(6));
            sculpin.control.warmup = Some(Time::ZERO);
            sculpin.observe.messages = MessageDetail::Full;
            sculpin.links.by_class.insert(
                "host".into(),
                LinkSpec {
                    bandwidth: BitsPerSec(200_000_000_000 / speed),
                    latency: Time::from_ns(70),
                },
            );
            sculpin.router.model = RouterKind::SCULPIN;
            let mut credit = sculpin.clone();
            credit.router.model = RouterKind::CREDIT;
            credit.router.buffer = None;
            credit.router.arbitration = Arbitration::Fcfs;
            let rows = |spec: &RunSpec| {
                let mut rows = result(&what, spec, Engine::Sequential).stats.rows.unwrap_or_default();
                rows.sort_unstable();
                rows
            };
            let (a, b) = (rows(&sculpin), rows(&credit));
            assert!(a.len() > 50, "{what}");
            assert_eq!(a, b, "{what} at load {load}: delivery times differ");
        }
    }
}

#[test]
fn a_seed_changes_the_traffic_and_nothing_else_does() {
    let (_, mut spec) = cells().remove(9);
    spec.jobs[0].work = synthetic(0.5, 2_048);
    spec.control.end = Some(Time::from_us(4));
    let digest = |spec: &RunSpec| result("seed", spec, Engine::Sequential).summary.digest;
    let first = digest(&spec);
    assert_eq!(first, digest(&spec));
    spec.control.seed += 1;
    assert_ne!(first, digest(&spec));
}

#[test]
fn a_ring_without_a_free_slot_stalls_and_names_the_cycle() {
    let ring = TopologySpec::Ring(RingSpec {
        routers: 6,
        width: 1,
        nodes_per_router: 1,
    });
    let (_, mut spec) = late_admission_cells().remove(0);
    spec.topology = ring;
    spec.router.buffer = Some(Bytes(600));
    spec.control.end = None;
    spec.jobs[0].work = Work::Synthetic(Synthetic {
        load: None,
        count: Some(4),
        process: Process::Periodic,
        ..Synthetic::of(Pattern::Shift { by: Some(2) }, Bytes(6_000))
    });
    // With the bubble rule every message comes through.
    let free = result("bubble", &spec, Engine::Sequential);
    assert_eq!(free.summary.messages, 24);
    spec.router.bubble = 0;
    let error = run(&spec, &mut |_| true).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("nothing moves"), "{error}");
    assert!(error.contains("(0) ring+ channel 0 -> (1) ring+"), "{error}");
    // It is refused unless the user insists.
    spec.router.allow_deadlock = false;
    let error = run(&spec, &mut |_| true).map(|_| ()).unwrap_err().to_string();
    assert!(error.starts_with("router.vcs"), "{error}");
    spec.router.bubble = 2;
    assert!(run(&spec, &mut |_| true).is_ok());
}
