//! A message on an idle network takes exactly the time that the formula gives, to the picosecond: every topology family, routing,
//! router model, switching and message size.
//!
//! The formula is written here from the models' definition, not from their code. A packet of `B` bytes passes the links 0 (injection),
//! 1..n (between routers) and n+1 (ejection). Link `k` has latency `L_k` and takes `S_k = ceil(8 B / bandwidth_k)` to send the packet;
//! a head needs the traversal `T` at each of the `n + 1` routers.
//!
//! * cut-through, equal speeds: `overheads + sum of L_k + (n + 1) T + S`: one serialisation, however long the way;
//! * cut-through, unequal speeds: a link sends a packet in one piece and a tail must not overtake, so that the head waits
//!   `max(0, S_(k-1) - S_k)` before a faster link. With the last serialisation this is `S_0 + sum of max(0, S_k - S_(k-1))`: the
//!   slowest link's serialisation if speeds fall and then rise once along the way, more if a slow link follows a fast one that
//!   followed a slow one;
//! * store-and-forward: `overheads + sum of L_k + (n + 1) T + sum of S_k`;
//! * `delivery = head`: the last serialisation does not count.
//!
//! The tolerance is zero: time is integer and nothing in these cases is random but the way, which the run reports.

use des::Time;
use fabric::observe::MessageRow;
use fabric::spec::*;
use judge::results::LinkRow;
use judge::run::run;
use topo::{
    Arrangement, DragonflyPlusSpec, DragonflySpec, FatTreeSpec, GraphFormat, GraphSpec, Lattice, RingSpec,
    SingleRouterSpec, Topology, TopologySpec,
};

const PACKET: u64 = 2_048;

fn lattice(shape: &[u32], width: &[u32], nodes_per_router: u32) -> Lattice {
    Lattice {
        shape: shape.to_vec(),
        width: width.to_vec(),
        nodes_per_router,
    }
}

fn dragonfly(groups: u32, routers_per_group: &[u32], links_per_pair: u32, arrangement: Arrangement) -> TopologySpec {
    TopologySpec::Dragonfly(DragonflySpec {
        groups,
        routers_per_group: routers_per_group.to_vec(),
        nodes_per_router: 2,
        links_per_pair,
        local_width: 1,
        arrangement,
        arrangement_seed: 1,
    })
}

fn dragonfly_plus(groups: u32, leaves: u32, spines: u32) -> TopologySpec {
    TopologySpec::DragonflyPlus(DragonflyPlusSpec {
        groups,
        leaves,
        spines,
        nodes_per_leaf: 2,
        links_per_pair: 2,
        local_width: 1,
        arrangement: Arrangement::Absolute,
        arrangement_seed: 1,
    })
}

fn fat_tree(down: &[u32], up: &[u32], up_width: &[u32]) -> TopologySpec {
    TopologySpec::FatTree(FatTreeSpec {
        down: down.to_vec(),
        up: up.to_vec(),
        up_width: up_width.to_vec(),
    })
}

/// The Petersen graph with a pendant router, parallel cables and two classes of links. One file per test, which run side by side.
fn graph_file(test: &str) -> TopologySpec {
    let mut text = String::from("# Petersen graph and a tail\n");
    for i in 0..5 {
        text += &format!("o{i} o{} 1 outer\n", (i + 1) % 5);
        text += &format!("o{i} i{i} 2 spoke\n");
        text += &format!("i{i} i{} 1 outer\n", (i + 2) % 5);
    }
    text += "o0 tail 1 spoke\n";
    let file = format!("{}/zero-load-{test}.txt", env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(&file, text).unwrap();
    TopologySpec::Graph(GraphSpec {
        text: None,
        file,
        format: GraphFormat::EdgeList,
        nodes_per_router: 2,
    })
}

/// Several shapes of every family.
fn topologies(test: &str) -> Vec<TopologySpec> {
    let ring = |routers, width, nodes_per_router| {
        TopologySpec::Ring(RingSpec {
            routers,
            width,
            nodes_per_router,
        })
    };
    vec![
        TopologySpec::SingleRouter(SingleRouterSpec { nodes: 2 }),
        TopologySpec::SingleRouter(SingleRouterSpec { nodes: 100 }),
        ring(3, 1, 1),
        ring(8, 3, 2),
        TopologySpec::Mesh(lattice(&[9], &[], 1)),
        TopologySpec::Mesh(lattice(&[4, 3], &[1, 2], 2)),
        TopologySpec::Torus(lattice(&[2, 2], &[], 1)),
        TopologySpec::Torus(lattice(&[5, 4, 3], &[], 1)),
        TopologySpec::Torus(lattice(&[4, 2, 2, 3], &[2, 1, 1, 1], 2)),
        TopologySpec::HyperX(lattice(&[6], &[], 3)),
        TopologySpec::HyperX(lattice(&[4, 3, 2], &[2, 1, 3], 2)),
        dragonfly(5, &[4], 1, Arrangement::Absolute),
        dragonfly(4, &[3], 3, Arrangement::Circulant),
        dragonfly(4, &[2, 3], 2, Arrangement::Relative),
        dragonfly_plus(3, 2, 2),
        dragonfly_plus(4, 3, 3),
        fat_tree(&[4, 4], &[2], &[2]),
        fat_tree(&[3, 3, 2], &[2, 3], &[1, 1]),
        graph_file(test),
    ]
}

fn is_lattice(topology: &TopologySpec) -> bool {
    use TopologySpec::*;
    matches!(topology, Ring { .. } | Mesh(_) | Torus(_) | HyperX(_))
}

/// Every topology x routing x model x switching.
fn cells(test: &str) -> Vec<RunSpec> {
    use RoutingSpec::*;
    let mut cells = Vec::new();
    for topology in topologies(test) {
        let mut routings = vec![
            RoutingSpec::MINIMAL,
            RoutingSpec::DOR,
            RoutingSpec::RDR,
            RoutingSpec::MIN_RANDOM,
            RoutingSpec::VALIANT,
        ];
        if test == "packet" {
            // Nothing waits for a packet on its own; those of one message may go round each other.
            routings.extend([Ugal(DetourSpec::default()), Par(DetourSpec::default())]);
            routings.push(Valiant(ViaSpec { via: Via::Router }));
            routings.extend(match topology {
                TopologySpec::FatTree(_) => vec![
                    RoutingSpec::D_MOD_K,
                    RoutingSpec::SCATTER,
                    AdaptiveUp(SenseSpec::default()),
                ],
                TopologySpec::HyperX(_) => [Doal, Dal, Vdal].map(|kind| kind(DerouteSpec::default())).to_vec(),
                TopologySpec::Dragonfly(_) | TopologySpec::DragonflyPlus(_) => {
                    vec![Valiant(ViaSpec { via: Via::Group })]
                }
                _ => vec![],
            });
        }
        for routing in routings {
            if matches!(routing, RoutingSpec::Dor { .. } | RoutingSpec::Rdr { .. }) && !is_lattice(&topology) {
                continue;
            }
            for model in [RouterKind::SCULPIN, RouterKind::CREDIT] {
                for switching in [Switching::CutThrough, Switching::StoreAndForward] {
                    let mut spec = plain(topology.clone());
                    spec.routing = routing.clone();
                    spec.router.model = model;
                    spec.router.switching = switching;
                    // Numbers that no unit divides, so that a rounding in the wrong place shows.
                    spec.router.traversal = Time(43_007);
                    spec.links.default.latency = Time(101_003);
                    spec.links.default.bandwidth = BitsPerSec(198_765_432_101);
                    spec.nic.packet = Bytes(PACKET);
                    spec.control.end = None;
                    spec.observe.messages = MessageDetail::Full;
                    cells.push(spec);
                }
            }
        }
    }
    cells
}

/// Sources and destinations: near, far, crossing the middle; `n` of them in each direction at most.
fn some_pairs(n_nodes: u32, n: u32) -> Vec<(u32, u32)> {
    let last = n_nodes - 1;
    let mut pairs = vec![(0, last), (0, 1), (last, 0), (last, n_nodes / 2)];
    for i in 0..n {
        let (a, b) = (i * 7919 % n_nodes, (i * 104_729 + 1 + n_nodes / 2) % n_nodes);
        pairs.push((a, b));
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs.retain(|(a, b)| a != b);
    pairs
}

fn send(spec: &mut RunSpec, pair: (u32, u32), mode: PairMode, messages: u64, bytes: u64) {
    spec.jobs[0].work = Work::Pairs(Pairs {
        matching: Matching::Listed(vec![pair]),
        mode,
        messages,
        message: Bytes(bytes),
        ack: Bytes(1),
        active: None,
        start_spread: Time(12_345),
        seed: None,
    });
}

fn results(spec: &RunSpec) -> (Vec<MessageRow>, Vec<LinkRow>) {
    let what = format!("{:?} {:?} {:?}", spec.topology, spec.routing, spec.router);
    let result = run(spec, &mut |_| true).unwrap_or_else(|error| panic!("{what}: {error}"));
    (result.stats.rows.unwrap_or_default(), result.links)
}

/// Distances between routers by breadth-first search over the cables.
fn distances(topology: &Topology, from: u32) -> Vec<u32> {
    let wiring = topology.wiring();
    let mut distance = vec![u32::MAX; topology.n_routers() as usize];
    let mut queue = std::collections::VecDeque::from([from]);
    distance[from as usize] = 0;
    while let Some(at) = queue.pop_front() {
        for port in 0..wiring.radix(at) as u16 {
            let peer = wiring.peer(at, port).0;
            if distance[peer as usize] == u32::MAX {
                distance[peer as usize] = distance[at as usize] + 1;
                queue.push_back(peer);
            }
        }
    }
    distance
}

/// `ceil(8 bytes / bandwidth)` in ps.
fn serialisation(bytes: u64, bandwidth: BitsPerSec) -> u64 {
    (u128::from(bytes) * 8_000_000_000_000).div_ceil(u128::from(bandwidth.0)) as u64
}

fn link<'a>(spec: &'a RunSpec, class: &str) -> &'a LinkSpec {
    spec.links.by_class.get(class).unwrap_or(&spec.links.default)
}

/// From the start of injection to delivery on an idle network, over links between routers of the given classes in their order.
fn packet_time(spec: &RunSpec, way: &[&str], bytes: u64) -> u64 {
    let host = link(spec, "host");
    let mut links = vec![LinkSpec {
        bandwidth: spec.nic.bandwidth.unwrap_or(host.bandwidth),
        latency: host.latency,
    }];
    links.extend(way.iter().map(|class| *link(spec, class)));
    links.push(*host);
    let take: Vec<u64> = links.iter().map(|link| serialisation(bytes, link.bandwidth)).collect();
    let flight: u64 = links.iter().map(|link| link.latency.0).sum();
    let routers = (way.len() as u64 + 1) * spec.router.traversal.0;
    let sending: u64 = match spec.router.switching {
        Switching::StoreAndForward => take.iter().sum(),
        Switching::CutThrough => take[0] + take.windows(2).map(|s| s[1].saturating_sub(s[0])).sum::<u64>(),
    };
    let tail = match spec.router.delivery {
        DeliveryPoint::Tail => 0,
        DeliveryPoint::Head => take[take.len() - 1],
    };
    flight + routers + sending - tail
}

/// From the hand-over of a message to the start of its first packet at an idle interface.
fn overheads(spec: &RunSpec, bytes: u64) -> u64 {
    let first = bytes.min(spec.nic.packet.0);
    spec.nic.message_overhead.0 + spec.nic.packet_overhead.0 + spec.nic.idle_delay_per_byte.0 * first
}

/// A message of several packets over `hops` links of equal speed, all packets on ways of that length: the least and the most.
///
/// Packets leave one behind the other and keep their distance; only a short last packet may catch up, and only where packets are
/// stored, at the latest at the ejection link. On the `one_way` that all packets share it stays behind and both numbers are equal;
/// over a parallel cable it may pass and be there before the full packets, of which it then delays the last by its own time at most.
fn message_time(spec: &RunSpec, one_way: bool, hops: u32, bytes: u64) -> (u64, u64) {
    let way = vec!["any"; hops as usize];
    let packet = spec.nic.packet.0;
    let parts = bytes.div_ceil(packet);
    let rest = bytes - (parts - 1) * packet;
    let gap = serialisation(packet, spec.links.default.bandwidth) + spec.nic.packet_overhead.0;
    let own = overheads(spec, bytes) + (parts - 1) * gap + packet_time(spec, &way, rest);
    if parts == 1 {
        return (own, own);
    }
    let before = overheads(spec, bytes) + (parts - 2) * gap + packet_time(spec, &way, packet);
    let behind = before + serialisation(rest, spec.links.default.bandwidth);
    (own.max(if one_way { behind } else { before }), own.max(behind))
}

/// Whether all packets from one node to another take the same cables.
fn has_one_way(spec: &RunSpec, topology: &Topology) -> bool {
    let wiring = topology.wiring();
    let parallel = (0..topology.n_routers()).any(|router| wiring.runs(router).any(|run| run.links > 1));
    let grouped = matches!(
        spec.topology,
        TopologySpec::Dragonfly(_) | TopologySpec::DragonflyPlus(_)
    );
    matches!(spec.routing, RoutingSpec::Minimal(_) | RoutingSpec::Dor { .. }) && !parallel && !grouped
}

/// The least and the most links between routers that the routing may take.
fn hop_range(spec: &RunSpec, topology: &Topology, distance: u32) -> (u32, u32) {
    let grouped = matches!(
        spec.topology,
        TopologySpec::Dragonfly(_) | TopologySpec::DragonflyPlus(_)
    );
    match spec.routing {
        RoutingSpec::Valiant { .. } => (distance, 10 * topology.diameter()),
        // At most local, global, local; five in groups of rows and columns.
        _ if grouped => (distance, if topology.diameter() > 3 { 5 } else { 3 }.max(distance)),
        _ => (distance, distance),
    }
}

#[test]
fn a_packet_on_an_idle_network_takes_the_time_of_its_links_routers_and_one_serialisation() {
    let mut checked = 0;
    for mut spec in cells("packet") {
        let topology = spec.topology.build().unwrap();
        let wiring = topology.wiring();
        spec.nic.message_overhead = Time(123_457);
        spec.nic.packet_overhead = Time(7_001);
        spec.nic.idle_delay_per_byte = Time(3);
        for (i, pair) in some_pairs(topology.n_nodes(), 12).into_iter().enumerate() {
            let bytes = [1, 64, 1_000, PACKET][i % 4];
            send(&mut spec, pair, PairMode::PingPong, 4, bytes);
            let (rows, _) = results(&spec);
            assert_eq!(rows.len(), 4);
            let [from, to] = [pair.0, pair.1].map(|node| wiring.node_router[node as usize]);
            let distance = distances(&topology, from)[to as usize];
            let (least, most) = hop_range(&spec, &topology, distance);
            for row in rows {
                let what = format!("{:?} {:?} {:?} {row:?}", spec.topology, spec.routing, spec.router);
                assert!(
                    (least..=most).contains(&row.hops),
                    "{what}: {least} to {most} hops allowed"
                );
                let way = vec!["any"; row.hops as usize];
                let expected = overheads(&spec, bytes) + packet_time(&spec, &way, bytes);
                assert_eq!(row.time - row.birth, expected, "{what}");
                checked += 1;
            }
        }
    }
    println!("{checked} latencies equal the formula");
    assert!(checked > 5_000, "{checked}");
}

#[test]
fn a_message_of_several_packets_adds_their_serialisation_once() {
    let (mut exact, mut bounded) = (0, 0);
    for mut spec in cells("message") {
        let topology = spec.topology.build().unwrap();
        let wiring = topology.wiring();
        spec.nic.message_overhead = Time(50_001);
        for (i, pair) in some_pairs(topology.n_nodes(), 6).into_iter().enumerate() {
            let bytes = [PACKET + 1, 3 * PACKET, 5 * PACKET + 77, 2 * PACKET - 1][i % 4];
            spec.nic.packet_overhead = Time([0, 11_003][i % 2]);
            send(&mut spec, pair, PairMode::PingPong, 3, bytes);
            let (rows, _) = results(&spec);
            assert_eq!(rows.len(), 3);
            let [from, to] = [pair.0, pair.1].map(|node| wiring.node_router[node as usize]);
            let distance = distances(&topology, from)[to as usize];
            let one_way = has_one_way(&spec, &topology);
            for row in rows {
                let what = format!("{:?} {:?} {:?} {row:?}", spec.topology, spec.routing, spec.router);
                let latency = row.time - row.birth;
                let (least, mut most) = message_time(&spec, one_way, distance, bytes);
                if row.hops != distance {
                    // Packets on ways of different lengths may meet and wait for each other: once per packet and link at most.
                    let wait = serialisation(PACKET, spec.links.default.bandwidth) * u64::from(row.hops + 1);
                    most = message_time(&spec, false, row.hops, bytes).1 + bytes.div_ceil(PACKET) * wait;
                }
                assert!(
                    (least..=most).contains(&latency),
                    "{what}: {latency} is not in {least}..={most}"
                );
                exact += u32::from(least == most);
                bounded += u32::from(least != most);
            }
        }
    }
    println!("{exact} latencies equal the formula, {bounded} lie within their bounds");
    assert!(exact > 2_000, "{exact}");
}

/// All orders in which a packet can have passed the links that were used, as classes; several only where it met its own way.
fn ways<'t>(topology: &'t Topology, used: &[(u32, u32, u8)], from: u32, to: u32) -> Vec<Vec<&'t str>> {
    fn walk(used: &mut Vec<(u32, u32, u8)>, at: u32, to: u32, way: &mut Vec<u8>, found: &mut Vec<Vec<u8>>) {
        if used.is_empty() {
            if at == to && !found.contains(way) {
                found.push(way.clone());
            }
            return;
        }
        for i in 0..used.len() {
            let (router, peer, class) = used[i];
            if router == at {
                used.swap_remove(i);
                way.push(class);
                walk(used, peer, to, way, found);
                way.pop();
                used.push((router, peer, class));
                let last = used.len() - 1;
                used.swap(i, last);
            }
        }
    }
    let mut found = Vec::new();
    walk(&mut used.to_vec(), from, to, &mut Vec::new(), &mut found);
    let names = topology.class_names();
    found
        .into_iter()
        .map(|way| {
            way.into_iter()
                .map(|class| names[usize::from(class)].as_str())
                .collect()
        })
        .collect()
}

/// Gives every link class its own latency and speed; `turn` permutes them.
fn mix_links(spec: &mut RunSpec, topology: &Topology, turn: usize) {
    for (i, name) in topology.class_names().iter().enumerate() {
        let speed = [200, 50, 400, 113, 100][(i + turn) % 5];
        let parameters = LinkSpec {
            bandwidth: BitsPerSec(speed * 1_000_000_000),
            latency: Time(20_001 + 37_013 * ((i + 2 * turn) % 6) as u64),
        };
        spec.links.by_class.insert(name.clone(), parameters);
    }
    spec.nic.bandwidth = [
        None,
        Some(BitsPerSec(25_000_000_000)),
        Some(BitsPerSec(1_600_000_000_000)),
    ][turn % 3];
    spec.router.delivery = [DeliveryPoint::Tail, DeliveryPoint::Head][turn % 2];
}

#[test]
fn links_of_different_speed_and_length_add_up_along_the_way() {
    let (mut checked, mut ambiguous) = (0, 0);
    for mut spec in cells("classes") {
        let topology = spec.topology.build().unwrap();
        let wiring = topology.wiring();
        spec.observe.links = true;
        for (turn, pair) in some_pairs(topology.n_nodes(), 8).into_iter().enumerate() {
            mix_links(&mut spec, &topology, turn);
            let bytes = [PACKET, 700][turn % 2];
            send(&mut spec, pair, PairMode::Stream, 1, bytes);
            let (rows, links) = results(&spec);
            let what = format!(
                "{:?} {:?} {:?} {:?} {rows:?}",
                spec.topology, spec.routing, spec.router, spec.links
            );
            assert_eq!(rows.len(), 1, "{what}");
            let [from, to] = [pair.0, pair.1].map(|node| wiring.node_router[node as usize]);
            let mut used = Vec::new();
            for row in links.iter().filter(|row| row.class != 0) {
                used.extend((0..row.packets).map(|_| (row.router, row.peer_router, row.class)));
            }
            assert_eq!(used.len() as u32, rows[0].hops, "{what}");
            let ways = ways(&topology, &used, from, to);
            assert!(!ways.is_empty(), "{what}: {used:?} is no way from {from} to {to}");
            ambiguous += u32::from(ways.len() > 1);
            let times: Vec<u64> = ways.iter().map(|way| packet_time(&spec, way, bytes)).collect();
            assert!(
                times.contains(&(rows[0].time - rows[0].birth)),
                "{what}: {ways:?} take {times:?}"
            );
            checked += 1;
        }
    }
    println!("{checked} latencies equal the formula, {ambiguous} of them one of several orders of the same links");
    assert!(checked > 1_000 && ambiguous * 50 < checked, "{checked}, {ambiguous}");
}

/// Equal packets over one way of any speeds: the first one's time and a turn of the slowest link for each that follows.
///
/// Tandem queues with fixed service times keep the gaps that the slowest of them makes (Friedman 1965).
#[test]
fn equal_packets_on_one_way_follow_each_other_at_the_slowest_link() {
    const PACKETS: u64 = 6;
    let mut checked = 0;
    for mut spec in cells("train") {
        let topology = spec.topology.build().unwrap();
        let wiring = topology.wiring();
        spec.observe.links = true;
        for (turn, pair) in some_pairs(topology.n_nodes(), 6).into_iter().enumerate() {
            mix_links(&mut spec, &topology, turn);
            spec.router.delivery = DeliveryPoint::Tail;
            send(&mut spec, pair, PairMode::Stream, 1, PACKETS * PACKET);
            let (rows, links) = results(&spec);
            let used: Vec<_> = links.iter().filter(|row| row.class != 0 && row.packets > 0).collect();
            if used.iter().any(|row| row.packets != PACKETS) {
                continue;
            }
            let used: Vec<_> = used
                .iter()
                .map(|row| (row.router, row.peer_router, row.class))
                .collect();
            let [from, to] = [pair.0, pair.1].map(|node| wiring.node_router[node as usize]);
            for way in ways(&topology, &used, from, to) {
                let injection = spec.nic.bandwidth.unwrap_or(link(&spec, "host").bandwidth);
                let speeds = way.iter().chain(&["host"]).map(|class| link(&spec, class).bandwidth);
                let slowest = speeds.chain([injection]).min().unwrap();
                let expected = packet_time(&spec, &way, PACKET) + (PACKETS - 1) * serialisation(PACKET, slowest);
                let what = format!(
                    "{:?} {:?} {:?} {:?} {rows:?} {way:?}",
                    spec.topology, spec.routing, spec.router, spec.links
                );
                assert_eq!(rows[0].time - rows[0].birth, expected, "{what}");
                checked += 1;
            }
        }
    }
    println!("{checked} latencies equal the formula");
    assert!(checked > 500, "{checked}");
}
