//! Forwarding tables in the simulation: a packet goes where the tables send it, on their lanes, and a message takes one of its
//! destination's paths.
//!
//! The tables of most tests are written here, by hand or from the topology's own minimal routing, and go through a file as a user's do.
//! Those of engines are tested where they are made; here only what the simulation makes of them.

use des::Time;
use fabric::network::Network;
use fabric::spec::*;
use judge::run::{RunResult, run};
use study::user_file::hash_bytes;
use topo::subnet::{End, Lids, Options, RoutingEngine, compact, ibnetdiscover, lft, route};
use topo::{
    Arrangement, Came, DragonflySpec, FatTreeSpec, GraphFormat, GraphSpec, Lattice, RingSpec, Subnet, Tables, Topology,
    TopologySpec,
};

fn lattice(shape: &[u32], width: &[u32], nodes_per_router: u32) -> Lattice {
    Lattice {
        shape: shape.to_vec(),
        width: width.to_vec(),
        nodes_per_router,
    }
}

/// Tables whose network port at a router for a node's address is `way(router, node, path)`.
fn tables(topology: &Topology, lmc: u8, way: impl Fn(u32, u32, u32) -> u16) -> (Subnet, Tables) {
    let mut subnet = Subnet::of(topology);
    subnet.lmc = lmc;
    let mut tables = Tables::empty(&subnet);
    for router in 0..topology.n_routers() {
        let nodes = topology.wiring().nodes_of(router);
        for address in 0..subnet.n_addresses() {
            let (node, path) = (address >> lmc, address & (subnet.paths() - 1));
            // Switch ports: from 1 those of nodes, then those of the network.
            let port = match nodes.contains(&node) {
                true => (node - nodes.start) as u16 + 1,
                false => way(router, node, path) + nodes.len() as u16 + 1,
            };
            tables.ports[(router * subnet.n_addresses() + address) as usize] = port;
        }
    }
    (subnet, tables)
}

/// The routing of a study that names a file with these tables.
fn routing(test: &str, (subnet, tables): &(Subnet, Tables), path: PathChoice, small_below: u64) -> RoutingSpec {
    let mut bytes = Vec::new();
    compact::write(subnet, "test", tables, &mut bytes).unwrap();
    let file = format!("{}/tables-{test}.bin", env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(&file, &bytes).unwrap();
    RoutingSpec::Table(TablesSpec {
        source: TableSource::File(KnownFile {
            path: file,
            sha256: hash_bytes(&bytes),
        }),
        path,
        small_below: Bytes(small_below),
    })
}

fn result(spec: &RunSpec) -> RunResult {
    run(spec, &mut |_| true).unwrap_or_else(|error| panic!("{:?} {:?}: {error}", spec.topology, spec.routing))
}

fn refused(spec: &RunSpec) -> String {
    match run(spec, &mut |_| true) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{:?} {:?} was not refused", spec.topology, spec.routing),
    }
}

#[test]
fn tables_of_the_minimal_routing_are_the_minimal_routing() {
    let fat_tree = TopologySpec::FatTree(FatTreeSpec {
        down: vec![3, 3, 2],
        up: vec![2, 3],
        up_width: vec![1, 1],
    });
    let one_channel = [
        TopologySpec::HyperX(lattice(&[4, 3], &[], 3)),
        TopologySpec::Mesh(lattice(&[3, 4], &[], 2)),
        fat_tree,
    ];
    // Minimal routing changes to the second channel on a ring's dateline, tables never: without queues per channel that is no matter.
    let rings = [TopologySpec::Torus(lattice(&[5, 4], &[], 2))];
    let mut messages = 0;
    for (i, spec) in one_channel.iter().chain(&rings).enumerate() {
        let topology = spec.build().unwrap();
        let made = tables(&topology, 0, |router, node, _| {
            topology.minimal(router, node, Came::INJECTED, 0).port
        });
        let by_table = routing(&format!("minimal-{i}"), &made, PathChoice::First, 512);
        for (model, architecture) in [
            (RouterKind::SCULPIN, Architecture::VOQ),
            (RouterKind::CREDIT, Architecture::VOQ),
            (RouterKind::CREDIT, Architecture::INPUT_QUEUED),
        ] {
            if rings.contains(spec) && model == RouterKind::CREDIT {
                continue;
            }
            let mut run = plain(spec.clone());
            run.router.model = model;
            run.router.architecture = architecture;
            run.router.buffer = Some(Bytes(8_192));
            if architecture == Architecture::INPUT_QUEUED {
                run.router.output_buffer = Some(Bytes(8_192));
            }
            run.observe.messages = MessageDetail::Full;
            run.observe.links = true;
            run.jobs[0].work = Work::Synthetic(Synthetic {
                load: Some(0.6),
                ..Synthetic::of(Pattern::Uniform, Bytes(5_000))
            });
            let minimal = result(&run);
            run.routing = by_table.clone();
            let table = result(&run);
            let what = format!("{spec:?} {model:?} {architecture:?}");
            assert_eq!(table.stats.rows, minimal.stats.rows, "{what}");
            let carried = |result: &RunResult| -> Vec<u64> { result.links.iter().map(|row| row.packets).collect() };
            assert_eq!(carried(&table), carried(&minimal), "{what}");
            if !rings.contains(spec) {
                assert_eq!(table.summary.digest, minimal.summary.digest, "{what}");
            }
            messages += table.summary.messages;
        }
    }
    assert!(messages > 10_000, "{messages}");
}

/// Packets of a stream from node 0 to the next router over each of its four cables; address `k` of a node is reached by cable `k`.
fn over_cables(path: PathChoice, messages: u64, bytes: u64) -> [u64; 4] {
    let spec = TopologySpec::Mesh(lattice(&[2], &[4], 2));
    let topology = spec.build().unwrap();
    let made = tables(&topology, 2, |_, _, path| path as u16);
    let mut run = plain(spec);
    run.routing = routing(&format!("cables-{path:?}-{messages}-{bytes}"), &made, path, 512);
    run.observe.links = true;
    run.control.end = None;
    run.jobs[0].work = Work::Pairs(Pairs {
        matching: Matching::Listed(vec![(0, 2)]),
        mode: PairMode::Stream,
        messages,
        message: Bytes(bytes),
        ack: Bytes(8),
        active: None,
        start_spread: Time::ZERO,
        seed: None,
    });
    let result = result(&run);
    let mut cables = [0; 4];
    for row in result.links.iter().filter(|row| row.router == 0 && row.class != 0) {
        cables[row.port as usize] = row.packets;
    }
    cables
}

#[test]
fn a_message_takes_one_path_and_all_its_packets_the_same() {
    use PathChoice::*;
    // Three packets each, or one.
    for (bytes, packets) in [(5_000, 3), (700, 1)] {
        assert_eq!(over_cables(First, 64, bytes), [64 * packets, 0, 0, 0]);
        assert_eq!(over_cables(RoundRobin, 64, bytes), [16 * packets; 4]);
        let random = over_cables(Random, 256, bytes);
        assert_eq!(random.iter().sum::<u64>(), 256 * packets);
        // Binomial with a mean of 64 and a standard deviation of 6.9.
        for cable in random {
            assert!(cable % packets == 0, "{random:?}");
            assert!((cable as f64 / packets as f64 - 64.0).abs() < 5.0 * 6.9, "{random:?}");
        }
    }
}

#[test]
fn a_striped_message_has_an_equal_share_on_every_path() {
    // Four packets: one on each. Five: the fifth goes where the message began, which is the next path for the next message.
    assert_eq!(over_cables(PathChoice::Striped, 1, 8 << 10), [1; 4]);
    assert_eq!(over_cables(PathChoice::Striped, 64, 8 << 10), [64; 4]);
    let one = over_cables(PathChoice::Striped, 1, 5 * 2_048);
    assert_eq!((one.iter().sum::<u64>(), one.iter().max()), (5, Some(&2)));
    assert_eq!(over_cables(PathChoice::Striped, 64, 5 * 2_048), [80; 4]);
    // Of one packet: by its number.
    assert_eq!(over_cables(PathChoice::Striped, 64, 700), [16; 4]);
}

#[test]
fn short_messages_take_the_first_path_and_long_ones_the_others() {
    assert_eq!(over_cables(PathChoice::BySize, 64, 511), [64, 0, 0, 0]);
    for (bytes, packets) in [(512, 1), (5_000, 3)] {
        let [first, others @ ..] = over_cables(PathChoice::BySize, 192, bytes);
        assert_eq!((first, others.iter().sum::<u64>()), (0, 192 * packets));
        // Binomial with a mean of 64 and a standard deviation of 6.5.
        for cable in others {
            assert!(cable % packets == 0, "{others:?}");
            assert!((cable as f64 / packets as f64 - 64.0).abs() < 5.0 * 6.5, "{others:?}");
        }
    }
}

/// On a ring of six all go the positive way: one to five hops.
fn one_way_ring(test: &str) -> RunSpec {
    let spec = TopologySpec::Ring(RingSpec {
        routers: 6,
        width: 1,
        nodes_per_router: 1,
    });
    let topology = spec.build().unwrap();
    let positive = |router: u32| {
        let next = (router + 1) % 6;
        (0..2)
            .find(|&port| topology.wiring().peer(router, port).0 == next)
            .unwrap()
    };
    let made = tables(&topology, 0, |router, _, _| positive(router));
    let mut run = plain(spec);
    run.routing = routing(test, &made, PathChoice::First, 512);
    run
}

/// Latencies of the links, traversals of the routers and one serialisation, along the way of the tables, shortest or not.
#[test]
fn a_packet_on_an_idle_network_takes_the_time_of_its_way() {
    for model in [RouterKind::SCULPIN, RouterKind::CREDIT] {
        for hops in 1..6 {
            let mut run = one_way_ring(&format!("idle-{model:?}-{hops}"));
            run.router.model = model;
            run.router.allow_deadlock = true;
            run.router.traversal = Time(43_007);
            run.links.default.latency = Time(101_003);
            run.observe.messages = MessageDetail::Full;
            run.control.end = None;
            run.jobs[0].work = Work::Pairs(Pairs {
                matching: Matching::Listed(vec![(2, (2 + hops) % 6)]),
                mode: PairMode::Stream,
                messages: 1,
                message: Bytes(1_000),
                ack: Bytes(8),
                active: None,
                start_spread: Time(12_345),
                seed: None,
            });
            let rows = result(&run).stats.rows.unwrap();
            let n = u64::from(hops);
            // 200 Gbit/s.
            let send = 1_000 * 8 * 1_000 / 200;
            assert_eq!(rows[0].hops, hops);
            assert_eq!(
                rows[0].time - rows[0].birth,
                (n + 2) * 101_003 + (n + 1) * 43_007 + send,
                "{model:?}, {hops} hops"
            );
        }
    }
}

/// The lanes that engines may use where nothing is said.
pub const LANES: u8 = 8;

/// The routing by the tables of an engine that may use so many lanes.
pub fn engine(name: &str, lanes: u8, lmc: u8, path: PathChoice) -> RoutingSpec {
    let tables = TablesSpec {
        source: TableSource::Engine {
            lanes,
            roots: vec![],
            lmc,
            seed: Options::default().seed,
            demands: None,
            torus: None,
        },
        path,
        small_below: Bytes(512),
    };
    RoutingSpec::by_tables(name, tables).unwrap()
}

/// One message at a time: the links that its packet takes are those of the tables, and it takes their time.
#[test]
fn a_packet_takes_the_links_that_an_engine_s_tables_name() {
    let dragonfly = TopologySpec::Dragonfly(DragonflySpec {
        groups: 5,
        routers_per_group: vec![4],
        nodes_per_router: 2,
        links_per_pair: 2,
        local_width: 1,
        arrangement: Arrangement::Absolute,
        arrangement_seed: 1,
    });
    let cases = [
        ("parx", 2, TopologySpec::HyperX(lattice(&[4, 4], &[], 2))),
        ("dfsssp", 0, TopologySpec::Torus(lattice(&[5, 4], &[2, 1], 2))),
        ("torus-2qos", 0, TopologySpec::Torus(lattice(&[5, 4], &[2, 1], 2))),
        ("updn", 1, dragonfly),
        ("ftree", 0, topo::preset("tsubame2-fat-tree").unwrap()),
    ];
    let (mut detours, mut messages) = (0, 0);
    for (name, lmc, spec) in cases {
        let topology = spec.build().unwrap();
        let wiring = topology.wiring();
        let mut subnet = Subnet::of(&topology);
        subnet.lmc = lmc;
        let options = Options {
            dims: match &spec {
                TopologySpec::HyperX(lattice) | TopologySpec::Torus(lattice) => lattice.shape.clone(),
                _ => vec![],
            },
            ..Options::default()
        };
        let made = route(RoutingEngine::from_name(name).unwrap(), &subnet, &options).unwrap();
        let n = topology.n_nodes();
        for i in 0..6 {
            let (from, to) = (i * 7_919 % n, (i * 104_729 + 1 + n / 2) % n);
            let way = made.walk(&subnet, topology.router_of(from), to << lmc).unwrap();
            let mut run = plain(spec.clone());
            run.routing = engine(name, LANES, lmc, PathChoice::First);
            run.router.traversal = Time(43_007);
            run.links.default.latency = Time(101_003);
            run.observe.messages = MessageDetail::Full;
            run.observe.links = true;
            run.control.end = None;
            run.jobs[0].work = Work::Pairs(Pairs {
                matching: Matching::Listed(vec![(from, to)]),
                mode: PairMode::Stream,
                messages: 1,
                message: Bytes(1_000),
                ack: Bytes(8),
                active: None,
                start_spread: Time::ZERO,
                seed: None,
            });
            let result = result(&run);
            let what = format!("{name}, {from} to {to}");
            let mut taken: Vec<(u32, u32)> = way[..way.len() - 1]
                .iter()
                .map(|exit| {
                    let nodes = wiring.nodes_of(exit.switch).len() as u32;
                    (exit.switch, u32::from(exit.port) - nodes - 1)
                })
                .collect();
            taken.sort_unstable();
            let used = result.links.iter().filter(|row| row.class != 0 && row.packets > 0);
            let used: Vec<_> = used.map(|row| (row.router, row.port)).collect();
            assert_eq!(used, taken, "{what}");
            let hops = way.len() as u64 - 1;
            let row = &result.stats.rows.as_ref().unwrap()[0];
            let time = (hops + 2) * 101_003 + (hops + 1) * 43_007 + 40_000;
            assert_eq!((u64::from(row.hops), row.time - row.birth), (hops, time), "{what}");
            let least = topology.distance(topology.router_of(from), topology.router_of(to));
            detours += u32::from(hops > u64::from(least));
            messages += 1;
        }
    }
    assert!(messages == 30 && detours > 0, "{detours} of {messages}");
}

/// A run on a subnet as `ibnetdiscover` would print it.
fn on_a_file_of(subnet: &Subnet, name: &str) -> RunSpec {
    let file = format!("{}/{name}.ibnetdiscover", env!("CARGO_TARGET_TMPDIR"));
    let mut text = Vec::new();
    ibnetdiscover::write(subnet, &Lids::sequential(subnet), &Default::default(), &mut text).unwrap();
    std::fs::write(&file, text).unwrap();
    plain(TopologySpec::Graph(GraphSpec {
        text: None,
        file,
        format: GraphFormat::Ibnetdiscover,
        nodes_per_router: 0,
    }))
}

/// A fabric of an `ibnetdiscover` file, whose ports are numbered otherwise than the simulator does: its tables as an engine makes them, as
/// a dump and as compact tables give the same run.
#[test]
fn tables_of_a_real_fabric_go_by_its_own_ports_and_addresses() {
    let mut subnet = Subnet::of(&TopologySpec::Mesh(lattice(&[3, 4], &[2, 1], 2)).build().unwrap());
    // Network ports backwards: those of nodes are 1 and 2.
    let sizes: Vec<u16> = subnet.switches.iter().map(|switch| switch.ports.len() as u16).collect();
    let other = |switch: u32, port: u16| sizes[switch as usize] + 2 - port;
    for switch in &mut subnet.switches {
        switch.ports[3..].reverse();
        for end in switch.ports.iter_mut().flatten() {
            if let End::Switch { switch, port } = end {
                *port = other(*switch, *port);
            }
        }
    }
    assert_eq!(subnet.verify(), Ok(()));
    let folder = env!("CARGO_TARGET_TMPDIR");
    let lids = Lids::sequential(&subnet);
    let mut run = on_a_file_of(&subnet, "real");
    run.routing = engine("updn", LANES, 0, PathChoice::First);
    let own = result(&run).summary;
    assert!(own.messages > 100);
    let made = route(RoutingEngine::UpDown, &subnet, &Options::default()).unwrap();
    let mut dump = Vec::new();
    lft::write(&subnet, &lids, &made, &mut dump).unwrap();
    let file = format!("{folder}/real-lfts.txt");
    std::fs::write(&file, &dump).unwrap();
    run.routing = RoutingSpec::Table(TablesSpec {
        source: TableSource::File(KnownFile {
            path: file,
            sha256: hash_bytes(&dump),
        }),
        path: PathChoice::First,
        small_below: Bytes(512),
    });
    assert_eq!(result(&run).summary.digest, own.digest);
    run.routing = routing("real", &(subnet, made), PathChoice::First, 512);
    assert_eq!(result(&run).summary.digest, own.digest);
}

/// A torus of a file, whose switches come in another order: by its cables, by OpenSM's file, and as a topology of ours all pairs are as far from each other.
#[test]
fn a_torus_of_a_file_runs_by_its_cables_and_by_opensm_s_file() {
    let torus = Subnet::of(&TopologySpec::Torus(lattice(&[5, 3], &[], 2)).build().unwrap());
    // Switches backwards: numbers say no coordinates.
    let mut subnet = torus.clone();
    subnet.switches.reverse();
    let last = subnet.n_switches() - 1;
    for switch in &mut subnet.switches {
        for end in switch.ports.iter_mut().flatten() {
            if let End::Switch { switch, .. } = end {
                *switch = last - *switch;
            }
        }
    }
    subnet.switches.swap(0, 7);
    for switch in &mut subnet.switches {
        for end in switch.ports.iter_mut().flatten() {
            if let End::Switch { switch, .. } = end {
                *switch = match *switch {
                    0 => 7,
                    7 => 0,
                    other => other,
                };
            }
        }
    }
    for (s, switch) in (0..).zip(&subnet.switches) {
        for end in switch.ports.iter().flatten() {
            if let End::Host(host) = end {
                subnet.hosts[*host as usize].switch = s;
            }
        }
    }
    assert_eq!(subnet.verify(), Ok(()));
    let folder = env!("CARGO_TARGET_TMPDIR");
    let mut run = on_a_file_of(&subnet, "torus");
    run.routing = engine("torus-2qos", LANES, 0, PathChoice::First);
    let by_cables = result(&run).summary;
    assert!(by_cables.messages > 100);
    let conf = format!("{folder}/torus-2QoS.conf");
    let guid = |switch: usize| torus.switches[switch].guid;
    let text = format!(
        "torus 3 5 1\nxp_link {0} {1}\nyp_link {0} {2}\n",
        guid(0),
        guid(5),
        guid(1)
    );
    std::fs::write(&conf, &text).unwrap();
    run.routing = told(&conf, text.as_bytes());
    let by_file = result(&run).summary;
    // The other dimension comes first.
    assert!(by_file.messages > 100);
    assert_ne!(by_file.digest, by_cables.digest);
    run.routing = told(&conf, b"");
    assert!(refused(&run).contains("it is not what it was when the study was read"));
    std::fs::write(&conf, "torus 5 3 1\n").unwrap();
    run.routing = told(&conf, b"torus 5 3 1\n");
    assert!(refused(&run).contains("no xp_link or xm_link"));
}

/// `torus-2qos` by a file with these bytes.
fn told(path: &str, bytes: &[u8]) -> RoutingSpec {
    let tables = TablesSpec {
        source: TableSource::Engine {
            lanes: LANES,
            roots: vec![],
            lmc: 0,
            seed: 1,
            demands: None,
            torus: Some(KnownFile {
                path: path.to_owned(),
                sha256: hash_bytes(bytes),
            }),
        },
        path: PathChoice::First,
        small_below: Bytes(512),
    };
    RoutingSpec::by_tables("torus-2qos", tables).unwrap()
}

#[test]
fn engines_without_lanes_are_refused_on_rings_and_hyperx_and_those_with_lanes_are_not() {
    let ring = TopologySpec::Ring(RingSpec {
        routers: 6,
        width: 1,
        nodes_per_router: 2,
    });
    let hyperx = TopologySpec::HyperX(lattice(&[4, 4], &[], 2));
    for spec in [ring, hyperx] {
        let mut run = plain(spec.clone());
        for name in ["minhop", "sssp"] {
            run.routing = engine(name, LANES, 0, PathChoice::First);
            let words = refused(&run);
            assert!(words.contains("can deadlock") && words.contains(" vc0 -> "), "{words}");
        }
        for name in ["updn", "dfsssp", "lash", "nue", "parx"] {
            if name == "parx" && matches!(spec, TopologySpec::Ring(_)) {
                continue;
            }
            let lmc = if name == "parx" { 2 } else { 1 };
            run.routing = engine(name, LANES, lmc, PathChoice::Random);
            let net = Network::build(&run).unwrap();
            let proof = net.routing.prove(&run.router, &net.topology);
            assert!(proof.free, "{name}: {}", proof.words);
            // The first tree in port order is dimension order on a HyperX, and lash has no other ways.
            let hyperx = matches!(spec, TopologySpec::HyperX(_));
            let one = name == "updn" || (name == "lash" && hyperx);
            assert_eq!(net.routing.vcs() == 1, one, "{name} {spec:?}");
        }
    }
}

#[test]
fn tables_with_a_cycle_are_refused_and_the_cycle_is_named() {
    let mut run = one_way_ring("cycle");
    run.router.buffer = Some(Bytes(4_096));
    let words = refused(&run);
    assert!(
        words.contains("can deadlock") && words.contains("router.vcs"),
        "{words}"
    );
    assert!(words.contains("vc0 -> "), "{words}");
    // And rightly so.
    run.router.allow_deadlock = true;
    let words = refused(&run);
    assert!(words.contains("nothing moves"), "{words}");
    // Nothing waits for room in a buffer that is never full.
    run.router.allow_deadlock = false;
    run.router.buffer = None;
    result(&run);
    run.router.buffer = Some(Bytes(4_096));
    // A lane has no cycle if no way on it passes one of the routers: the one that every lane is free of.
    let free_of = [0, 3, 4, 1];
    let passes = |from: u32, to: u32, router: u32| {
        let (hops, at) = ((6 + to - from) % 6, (6 + router - from) % 6);
        0 < at && at < hops
    };
    let topology = run.topology.build().unwrap();
    let (subnet, mut made) = tables(&topology, 0, |router, _, _| {
        let next = (router + 1) % 6;
        let port = (0..2).find(|&port| topology.wiring().peer(router, port).0 == next);
        port.unwrap()
    });
    let lane = |from, to| free_of.iter().position(|&router| !passes(from, to, router));
    made.lanes = (0..36).map(|i| lane(i / 6, i % 6).unwrap() as u8).collect();
    made.n_lanes = 4;
    run.routing = routing("lanes", &(subnet, made), PathChoice::First, 512);
    let net = Network::build(&run).unwrap();
    assert_eq!(net.routing.vcs(), 4);
    result(&run);
    // Fewer channels: the last takes the lanes that are left, and their ways close the circle.
    run.router.vcs = Some(3);
    let words = refused(&run);
    assert!(words.contains("can deadlock") && words.contains("vc2 -> "), "{words}");
}

#[test]
fn tables_of_another_network_are_refused() {
    let spec = TopologySpec::HyperX(lattice(&[4, 3], &[], 2));
    let topology = spec.build().unwrap();
    let minimal = |topology: &Topology| {
        tables(topology, 0, |router, node, _| {
            topology.minimal(router, node, Came::INJECTED, 0).port
        })
    };
    let made = minimal(&topology);
    let mut run = plain(spec);
    run.routing = routing("good", &made, PathChoice::First, 512);
    result(&run);
    // A file that has changed.
    let RoutingSpec::Table(TablesSpec {
        source: TableSource::File(KnownFile { sha256, .. }),
        ..
    }) = &mut run.routing
    else {
        unreachable!()
    };
    sha256.replace_range(..4, "0000");
    let words = refused(&run);
    assert!(
        words.contains("routing.file") && words.contains("not what it was"),
        "{words}"
    );
    // Another shape.
    let other = TopologySpec::HyperX(lattice(&[3, 4], &[], 2)).build().unwrap();
    run.routing = routing("other", &minimal(&other), PathChoice::First, 512);
    let words = refused(&run);
    assert!(words.contains("another fabric"), "{words}");
    // A way that ends, and one in a circle.
    let entry = |router: u32, node: u32| (router * 24 + node) as usize;
    let mut ends = made.clone();
    ends.1.ports[entry(5, 23)] = Tables::NONE;
    run.routing = routing("ends", &ends, PathChoice::First, 512);
    let words = refused(&run);
    assert!(words.contains("node 23") && words.contains("ends at router"), "{words}");
    let mut circle = made.clone();
    let to = |from: u32, to: u32| {
        let wiring = topology.wiring();
        let port = (0..wiring.radix(from) as u16).find(|&port| wiring.peer(from, port).0 == to);
        port.unwrap() + 3
    };
    circle.1.ports[entry(0, 23)] = to(0, 1);
    circle.1.ports[entry(1, 23)] = to(1, 2);
    circle.1.ports[entry(2, 23)] = to(2, 0);
    run.routing = routing("circle", &circle, PathChoice::First, 512);
    let words = refused(&run);
    assert!(words.contains("node 23") && words.contains("circle"), "{words}");
    // A short message must be known by its packet.
    run.routing = routing("size", &made, PathChoice::BySize, 4_096);
    let words = refused(&run);
    assert!(words.contains("routing.small_below"), "{words}");
}

/// The law of routings by tables: a run starts only if every pair of nodes is reached, else the error names a pair that is not.
#[test]
fn tables_reach_every_pair_or_the_run_is_refused_with_one_that_they_lose() {
    let spec = TopologySpec::HyperX(lattice(&[3, 2], &[], 2));
    let topology = spec.build().unwrap();
    let subnet = Subnet::of(&topology);
    let whole = route(RoutingEngine::MinHop, &subnet, &Options::default()).unwrap();
    let n = subnet.n_addresses();
    let reached = |tables: &Tables| {
        let pair = |from: u32, to: u32| tables.walk(&subnet, subnet.hosts[from as usize].switch, to).is_ok();
        (0..n)
            .flat_map(|from| (0..n).map(move |to| (from, to)))
            .all(|(from, to)| pair(from, to))
    };
    let mut run = plain(spec.clone());
    let (mut runs, mut refusals) = (0, 0);
    for (entry, &good) in whole.ports.iter().enumerate() {
        let (router, node) = (entry as u32 / n, entry as u32 % n);
        let ports = 0..subnet.switches[router as usize].ports.len() as u16;
        // Every other port in turn: hosts, ways around and into loops, and none at all.
        for port in ports.filter(|&port| port != good) {
            let mut tables = whole.clone();
            tables.ports[entry] = port;
            run.routing = routing("law", &(subnet.clone(), tables.clone()), PathChoice::First, 512);
            match (Network::build(&run), reached(&tables)) {
                (Ok(_), true) => runs += 1,
                (Err(error), false) => {
                    let words = error.to_string();
                    assert!(
                        words.contains(&format!("to node {node} ")),
                        "router {router}, port {port}: {words}"
                    );
                    refusals += 1;
                }
                (built, reached) => panic!(
                    "router {router} to node {node} by {port}: {:?}, {reached}",
                    built.is_ok()
                ),
            }
        }
    }
    assert!(runs > 50 && refusals > 100, "{runs} and {refusals}");
}
