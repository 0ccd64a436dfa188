//! What fails while a run goes on: which packets are lost, to the picosecond; who goes round; what does not show; and what is refused.

use crate::failures::{dragonfly, dragonfly_plus, fat_tree, lattice};
use crate::static_tables::engine;
use des::{Time, mix};
use fabric::network::Network;
use fabric::spec::*;
use judge::run::{RunResult, run};
use std::collections::BTreeSet;
use topo::{FailKind, FailSpec, RingSpec, SingleRouterSpec, TopologySpec};
use vocabulary::{LoadOptions, load_study, render};

pub fn load(text: &str) -> Result<RunSpec, String> {
    let study = load_study(
        text.as_bytes(),
        "s.toml",
        std::path::Path::new("."),
        &LoadOptions::default(),
    );
    study
        .map(|mut study| study.runs.remove(0))
        .map_err(|findings| render(&findings))
}

fn done(spec: &RunSpec) -> RunResult {
    run(spec, &mut |_| true).unwrap_or_else(|error| panic!("{error}\n{:?}", spec.outages))
}

fn outage(what: FailSpec, at: u64, until: Option<u64>, reroute: Reroute) -> Outage {
    Outage {
        what,
        at: Time(at),
        until: until.map(Time),
        reroute,
    }
}

fn cables(names: &[&str]) -> FailSpec {
    FailSpec {
        cables: names.iter().map(|&name| name.to_owned()).collect(),
        ..FailSpec::default()
    }
}

const AT_ONCE: Reroute = Reroute::After(Time::ZERO);

/// Routers that lose packets.
pub const MODELS: [&str; 3] = ["sculpin", "credit", "output-buffered"];

/// The keys of `[router]` for one of them.
fn router(model: &str) -> String {
    match model {
        "output-buffered" => "model = \"credit\"\narchitecture = \"output-buffered\"".to_owned(),
        model => format!("model = \"{model}\""),
    }
}

/// A ring of six routers, a node each: 10 ns in every link and router, 1 byte per ps, messages of `bytes` from node 0 to node 2 every 5,010 ps.
pub fn ring(bytes: u32, count: u64, model: &str, outage: &str) -> RunSpec {
    let rows: Vec<String> = (0..count)
        .map(|k| format!("{},0,2,{bytes}", (5_010 * k) as f64 / 1e3))
        .collect();
    let table = rows.join("\\n");
    load(&format!(
        "[topology]\nkind = \"ring\"\nrouters = 6\nnodes_per_router = 1\n[link]\nbandwidth = \"1 TB/s\"\nlatency = \"10 ns\"\n\
         [router]\n{}\ntraversal = \"10 ns\"\n[nic]\npacket = \"1000 B\"\n[routing]\nkind = \"minimal\"\n\
         [[job]]\nwork = {{ kind = \"messages\", table = \"time_ns,source,destination,bytes\\n{table}\" }}\n[observe]\nmessages = true\n{outage}\n",
        router(model)
    ))
    .unwrap_or_else(|error| panic!("{error}"))
}

/// Born, arrived, hops.
pub fn told(spec: &RunSpec) -> Vec<(u64, Option<u64>)> {
    let messages = done(spec).messages.expect("they were asked for");
    messages.into_iter().map(|m| (m.born, m.arrived)).collect()
}

/// When a packet of `bytes` from node 0 to node 2 arrives that is born at `born`, where the cable between routers 1 and 2 is dark for a while and
/// routers know of it `late`; worked out step by step on an idle ring.
fn by_hand(born: u64, bytes: u64, dark: (u64, u64), late: Option<u64>) -> Option<u64> {
    let (mut at, mut now) = (0u32, born + 20_000);
    while at != 2 {
        let knows = late.is_some_and(|late| (dark.0 + late..dark.1 + late).contains(&now));
        let ahead = match (knows, at) {
            // Without the cable there is one way.
            (true, 0 | 1) => false,
            (true, _) => false,
            // At router 5 both ways are as long: to the positive side.
            (false, 0 | 1 | 5) => true,
            (false, _) => false,
        };
        let next = if ahead { (at + 1) % 6 } else { (at + 5) % 6 };
        let crosses = (at.min(next), at.max(next)) == (1, 2);
        let until = now + 20_000u64.max(10_000 + bytes);
        if crosses && now < dark.1 && until > dark.0 {
            return None;
        }
        (at, now) = (next, now + 20_000);
        // A router discards what comes by a cable that it holds for dead.
        if crosses && late.is_some_and(|late| (dark.0 + late..dark.1 + late).contains(&now)) {
            return None;
        }
    }
    Some(now + 10_000 + bytes)
}

#[test]
fn which_packets_are_lost_is_known_to_the_picosecond() {
    for model in MODELS {
        for (reroute, late) in [
            ("\"0 ns\"", Some(0)),
            ("\"33 ns\"", Some(33_000)),
            ("\"80 ns\"", Some(80_000)),
            ("\"never\"", None),
        ] {
            // A packet of a byte, and one whose tail is on the link for longer than its head takes to the next router.
            for (bytes, by) in [(1, 1), (1_000, 3)] {
                let outage = format!(
                    "[[outage]]\ncables = [\"(1) ring+\"]\nat = \"100 ns\"\nuntil = \"150 ns\"\nreroute = {reroute}"
                );
                let mut spec = ring(bytes, 50, model, &outage);
                if by > 1 {
                    // Alone on the ring: messages of 1,000 bytes would wait for each other.
                    if let Work::Messages(list) = &mut spec.jobs[0].work {
                        list.retain(|message| message.time.0 == 5_010 * 10 || message.time.0 == 5_010 * 22);
                    }
                }
                let expected = |born| by_hand(born, u64::from(bytes), (100_000, 150_000), late);
                let told = told(&spec);
                for &(born, arrived) in &told {
                    assert_eq!(
                        arrived,
                        expected(born),
                        "{model}, {reroute}, {bytes} bytes, born at {born}"
                    );
                }
                if by == 1 {
                    let lost = told.iter().filter(|(_, arrived)| arrived.is_none()).count();
                    let result = done(&spec);
                    let losses = result.summary.lost.clone().expect("there is an outage");
                    assert_eq!((losses.packets, losses.messages), (lost as u64, lost as u64));
                    assert_eq!(losses.bytes, lost as u64);
                    assert!(lost > 0 && losses.first.unwrap().contains("on (1) ring+"));
                    assert_eq!(result.summary.arrived as usize, 50 - lost);
                    assert_eq!(result.summary.jobs[0].lost.as_ref().unwrap().packets, lost as u64);
                }
            }
        }
    }
    // Three with ways that are changed at once: those on the link when it dies. All that come to it in that time where they never are.
    let lost = |reroute: &str| {
        let outage =
            format!("[[outage]]\ncables = [\"(1) ring+\"]\nat = \"100 ns\"\nuntil = \"150 ns\"\nreroute = {reroute}");
        done(&ring(1, 50, "credit", &outage)).summary.lost.unwrap().packets
    };
    assert_eq!((lost("\"0 ns\""), lost("\"never\"")), (4, 14));
}

#[test]
fn a_message_of_several_packets_is_lost_once() {
    // 3,000 bytes: packets start at 20, 21 and 22 ns behind their birth; the cable dies between the second and the third.
    let outage = "[[outage]]\ncables = [\"(0) ring+\"]\nat = \"22 ns\"\nuntil = \"22001 ps\"\nreroute = \"never\"";
    let spec = ring(3_000, 2, "credit", outage);
    let result = done(&spec);
    let lost = result.summary.lost.clone().unwrap();
    // All of them are on the link at 22 ns; those of the second message set out later.
    assert_eq!((lost.packets, lost.bytes, lost.messages), (3, 3_000, 1));
    assert_eq!((result.summary.measured, result.summary.arrived), (1, 1));
}

/// One network of each family, two nodes per router.
fn families() -> Vec<TopologySpec> {
    vec![
        TopologySpec::Ring(RingSpec {
            routers: 7,
            width: 2,
            nodes_per_router: 2,
        }),
        TopologySpec::Mesh(lattice(&[4, 3], &[1, 1])),
        TopologySpec::Torus(lattice(&[4, 4], &[1, 1])),
        TopologySpec::Torus(lattice(&[2, 5], &[1, 2])),
        TopologySpec::HyperX(lattice(&[4, 3], &[1, 1])),
        dragonfly(&[4], 1),
        dragonfly_plus(),
        fat_tree(),
    ]
}

/// Those that claim to lead round what fails in time.
fn routings(topology: &TopologySpec) -> Vec<RoutingSpec> {
    let mut all = vec![RoutingSpec::MINIMAL, RoutingSpec::MIN_RANDOM, RoutingSpec::MIN_A];
    let valiant = |via| RoutingSpec::Valiant(ViaSpec { via });
    let detour = |via| DetourSpec {
        via,
        ..DetourSpec::default()
    };
    all.extend([
        valiant(Via::Node),
        valiant(Via::Router),
        RoutingSpec::Ugal(detour(Via::Router)),
        RoutingSpec::Par(detour(Via::Router)),
    ]);
    if matches!(topology, TopologySpec::Dragonfly(_) | TopologySpec::DragonflyPlus(_)) {
        all.extend([
            valiant(Via::Group),
            RoutingSpec::Ugal(detour(Via::Group)),
            RoutingSpec::Par(detour(Via::Group)),
            RoutingSpec::AdaptiveLocal(RoomSpec::default()),
        ]);
    }
    if matches!(topology, TopologySpec::FatTree(_)) {
        all.extend([
            RoutingSpec::D_MOD_K,
            RoutingSpec::SCATTER,
            RoutingSpec::AdaptiveUp(SenseSpec::default()),
        ]);
    }
    let tables = |(name, lanes, lmc)| engine(name, lanes, lmc, PathChoice::RoundRobin);
    all.extend([("updn", 1, 0), ("minhop", 1, 1), ("dfsssp", 15, 0), ("nue", 2, 0)].map(tables));
    all
}

/// Uniform traffic of messages of three packets each: six of every node in about 4 us.
fn traffic(topology: &TopologySpec, routing: &RoutingSpec) -> RunSpec {
    let mut spec = plain(topology.clone());
    spec.routing = routing.clone();
    spec.router.buffer = Some(Bytes(8_192));
    spec.jobs[0].work = Work::Synthetic(Synthetic {
        load: Some(0.4),
        count: Some(6),
        ..Synthetic::of(Pattern::Uniform, Bytes(5_000))
    });
    spec.control.end = Some(Time::from_us(200));
    spec.control.warmup = Some(Time::ZERO);
    if routing.tables().is_some() {
        // Tables of two stages together can deadlock where buffers are bounded.
        (spec.router.model, spec.router.buffer) = (RouterKind::SCULPIN, None);
    }
    spec
}

#[test]
fn what_begins_after_the_end_or_comes_and_goes_unseen_changes_nothing() {
    for topology in families() {
        for routing in routings(&topology) {
            let mut whole = traffic(&topology, &routing);
            if matches!(routing, RoutingSpec::Scatter(_) | RoutingSpec::AdaptiveUp(_)) {
                // Of a tree that may fail they take a channel per hop, as of one that has failed.
                whole.router.vcs = Some(12);
            }
            if routing.in_time().legs() > 1 {
                // Legs have more channels where ways may change.
                if matches!(routing, RoutingSpec::AdaptiveLocal(_)) {
                    continue;
                }
                (whole.router.model, whole.router.buffer) = (RouterKind::SCULPIN, None);
            }
            let digest = done(&whole).summary.digest;
            let later = |at, until, what: FailSpec| {
                let mut spec = whole.clone();
                spec.outages.list.push(outage(what, at, until, AT_ONCE));
                let summary = done(&spec).summary;
                let lost = summary.lost.unwrap();
                assert_eq!((lost.packets, lost.first), (0, None), "{topology:?} {routing:?}");
                summary.digest
            };
            let end = 150_000_000;
            assert_eq!(
                later(end, None, FailSpec::random(FailKind::Cables, 2, 3)),
                digest,
                "{topology:?} {routing:?}"
            );
            // Sources begin behind 100 ns: what fails before has come back.
            let mut late = whole.clone();
            late.jobs[0].work = Work::Messages(
                (0..24u32)
                    .map(|k| ListedMessage::from((500_000 + u64::from(k) * 1_000, k % 14, (k * 5 + 3) % 14, 5_000)))
                    .filter(|message| message.source != message.destination)
                    .collect(),
            );
            let digest = done(&late).summary.digest;
            for what in [
                FailSpec::random(FailKind::Cables, 1, 3),
                FailSpec::random(FailKind::Routers, 1, 4),
                FailSpec::random(FailKind::Nodes, 3, 5),
            ] {
                let mut spec = late.clone();
                spec.outages.list.push(outage(what, 50_000, Some(400_000), AT_ONCE));
                assert_eq!(done(&spec).summary.digest, digest, "{topology:?} {routing:?}");
            }
        }
    }
}

#[test]
fn ranks_hear_by_one_notice_what_two_tell_where_packets_may_be_lost() {
    let works = [
        "{ kind = \"sweep3d\", grid = [40, 40, 100], kba = 10, compute = \"1 us\" }",
        "{ kind = \"halo3d-26\", grid = [16, 16, 16], vars = 3, compute = \"1 us\", iterations = 2 }",
        "{ kind = \"collective\", collective = \"alltoall\", message = \"6 KiB\", iterations = 2 }",
        // With messages that ask and clear, and of a byte more than packets hold.
        "{ kind = \"collective\", collective = \"allreduce\", message = \"64 KiB\", iterations = 2 }",
        "{ kind = \"collective\", collective = \"allgather\", message = \"8193 B\", iterations = 2 }",
    ];
    for (work, (model, header)) in works.iter().flat_map(|work| {
        MODELS
            .iter()
            .flat_map(move |model| [(work, (model, 0)), (work, (model, 32))])
    }) {
        let study = |rest: &str| {
            load(&format!(
                "[topology]\nkind = \"torus\"\nshape = [4, 4]\n[router]\n{}\n[observe]\nmessages = true\n[[job]]\nwork = {work}\n\
                 [mpi]\nheader = \"{header} B\"\n{rest}",
                router(model)
            ))
            .unwrap()
        };
        let never = "[[outage]]\ncount = 1\nat = \"1 s\"\n";
        let (whole, with) = (study(""), study(never));
        assert_eq!(told(&whole), told(&with), "{work} {model} {header}");
        let (whole, with) = (done(&whole).summary, done(&with).summary);
        assert_eq!((whole.messages, whole.packets), (with.messages, with.packets));
        // The last of packets that are all full tells nothing.
        match header == 0 && work.contains("6 KiB") && *model != "credit" {
            true => assert_eq!(whole.events, with.events, "{work}"),
            false => assert!(whole.events < with.events, "{work} {model} {header}"),
        }
    }
}

#[test]
fn what_fails_at_the_start_and_for_good_has_failed_from_the_start() {
    for topology in families() {
        for routing in routings(&topology) {
            let mut from_the_start = traffic(&topology, &routing);
            from_the_start.fail = FailSpec::random(FailKind::Cables, 1, 7);
            let mut in_time = traffic(&topology, &routing);
            in_time
                .outages
                .list
                .push(outage(FailSpec::random(FailKind::Cables, 1, 7), 0, None, AT_ONCE));
            let (a, b) = (done(&from_the_start).summary, done(&in_time).summary);
            assert_eq!((a.digest, a.lost), (b.digest, b.lost), "{topology:?} {routing:?}");
        }
    }
}

#[test]
fn every_packet_of_random_outages_is_accounted_for_and_nothing_deadlocks() {
    let tries = std::env::var("FABRICSIM_FAILURES").map_or(3, |tries| tries.parse().expect("a number"));
    let (mut ran, mut lost, mut refused) = (0, 0, 0);
    for (n, topology) in (0..).zip(families()) {
        for routing in routings(&topology) {
            for seed in 0..tries {
                let mut spec = traffic(&topology, &routing);
                if seed % 2 == 1 && routing.tables().is_none() {
                    spec.router.architecture = Architecture::OUTPUT_BUFFERED;
                    spec.router.output_buffer = Some(Bytes(6_000));
                }
                let draw = |what: u64, below: u64| mix(mix(n << 32 | seed) ^ what) % below;
                for k in 0..1 + draw(1, 3) {
                    let of = [FailKind::Cables, FailKind::Cables, FailKind::Routers, FailKind::Nodes]
                        [draw(10 + k, 4) as usize];
                    let at = draw(20 + k, 3_000_000);
                    let until = (draw(30 + k, 4) > 0).then(|| at + 1 + draw(40 + k, 2_000_000));
                    let reroute = match draw(50 + k, 4) {
                        0 => Reroute::Never,
                        1 => Reroute::After(Time(draw(60 + k, 500_000))),
                        _ => AT_ONCE,
                    };
                    let count = 1 + draw(70 + k, 2) as u32;
                    spec.outages
                        .list
                        .push(outage(FailSpec::random(of, count, 100 * seed + k), at, until, reroute));
                }
                if seed % 3 == 2 {
                    spec.fail = FailSpec::random(FailKind::Cables, 1, seed);
                }
                let what = format!("{topology:?} {routing:?} {:?}", spec.outages);
                let result = match run(&spec, &mut |_| true) {
                    Ok(result) => result,
                    // What has failed from the start may part nodes.
                    Err(error) => {
                        assert!(!spec.fail.is_empty(), "{what}: {error}");
                        refused += 1;
                        continue;
                    }
                };
                let summary = &result.summary;
                let losses = summary.lost.clone().unwrap();
                let all = 6 * u64::from(result.summary.n_nodes);
                assert_eq!(summary.messages + losses.messages, all, "{what}");
                assert_eq!(summary.measured, summary.arrived, "{what}");
                ran += 1;
                lost += losses.messages;
            }
        }
    }
    println!("{ran} runs, {lost} messages lost, {refused} refused");
    assert!(ran > 20 && lost > 20);
}

#[test]
fn who_is_parted_loses_its_messages_and_nobody_else_as_a_search_of_the_graph_says() {
    for (n, topology) in (0..).zip(families()) {
        for routing in routings(&topology) {
            let mut spec = traffic(&topology, &routing);
            let whole = topology.build().unwrap();
            // So many that something is parted, mostly.
            let wiring = whole.wiring();
            let count = wiring.cables().count() as u32 / 2;
            let what = FailSpec::random(FailKind::Cables, count, n);
            let fallout = whole.find_failures(&what).unwrap();
            let mut open: Vec<Vec<u32>> = vec![Vec::new(); whole.n_routers() as usize];
            for (router, port) in wiring.cables().filter(|cable| !fallout.cables.contains(cable)) {
                let peer = wiring.peer(router, port).0;
                open[router as usize].push(peer);
                open[peer as usize].push(router);
            }
            let reached = |from: u32| {
                let (mut seen, mut work) = (BTreeSet::from([from]), vec![from]);
                while let Some(at) = work.pop() {
                    work.extend(open[at as usize].iter().filter(|&&next| seen.insert(next)));
                }
                seen
            };
            spec.outages.list.push(outage(what, 100_000, Some(90_000_000), AT_ONCE));
            let nodes = whole.n_nodes();
            let list = (0..nodes * 3).map(|k| {
                let (from, by) = (k % nodes, 1 + (mix(u64::from(k) ^ n) % u64::from(nodes - 1)) as u32);
                ListedMessage::from((200_000 + u64::from(k) * 20_000, from, (from + by) % nodes, 3_000))
            });
            spec.jobs[0].work = Work::Messages(list.collect());
            spec.observe.messages = MessageDetail::Full;
            let mut parted = 0;
            for message in done(&spec).messages.unwrap() {
                let (from, to) = (whole.router_of(message.source), whole.router_of(message.destination));
                let joined = reached(from).contains(&to);
                assert_eq!(
                    message.arrived.is_some(),
                    joined,
                    "{topology:?} {routing:?} {message:?}"
                );
                parted += u32::from(!joined);
            }
            assert!(parted > 0 || !matches!(topology, TopologySpec::Ring(_)));
        }
    }
}

#[test]
fn a_dead_router_and_a_dead_node_lose_what_is_theirs() {
    let torus = |outage: Outage| {
        let mut spec = traffic(&families()[2], &RoutingSpec::MINIMAL);
        spec.outages.list.push(outage);
        spec.observe.messages = MessageDetail::Full;
        let rows = done(&spec).messages.unwrap();
        rows.into_iter().filter(|m| m.arrived.is_none()).collect::<Vec<_>>()
    };
    let what = FailSpec {
        nodes: vec![5],
        ..FailSpec::default()
    };
    let lost = torus(outage(what, 0, Some(100_000_000), AT_ONCE));
    assert!(lost.iter().all(|m| m.source == 5 || m.destination == 5));
    assert_eq!(lost.iter().filter(|m| m.source == 5).count(), 6);
    let what = FailSpec {
        routers: vec!["(1,0)".into()],
        ..FailSpec::default()
    };
    let lost = torus(outage(what, 0, Some(100_000_000), AT_ONCE));
    let of = |node| node / 2 == 1;
    assert!(lost.iter().all(|m| of(m.source) || of(m.destination)));
    assert_eq!(lost.iter().filter(|m| of(m.source)).count(), 12);
}

#[test]
fn where_no_packet_takes_a_hop_a_node_may_die_under_any_routing() {
    let router = TopologySpec::SingleRouter(SingleRouterSpec { nodes: 5 });
    for routing in routings(&router) {
        let mut spec = traffic(&router, &routing);
        spec.outages.list.push(outage(
            FailSpec::random(FailKind::Nodes, 1, 3),
            500_000,
            Some(1_500_000),
            AT_ONCE,
        ));
        let summary = done(&spec).summary;
        let lost = summary.lost.unwrap().messages;
        assert!(lost > 0, "{routing:?}");
        assert_eq!(summary.messages + lost, 30, "{routing:?}");
    }
}

#[test]
fn links_that_fail_twice_at_a_time_are_dark_until_both_are_over() {
    let two = "[[outage]]\ncables = [\"(1) ring+\"]\nat = \"100 ns\"\nuntil = \"120 ns\"\n[[outage]]\ncables = [\"(2) ring-\"]\nat = \"110 ns\"\nuntil = \"150 ns\"\n";
    let one = "[[outage]]\ncables = [\"(1) ring+\"]\nat = \"100 ns\"\nuntil = \"150 ns\"\n";
    assert_eq!(told(&ring(1, 50, "credit", two)), told(&ring(1, 50, "credit", one)));
    // What has failed from the start stays dead.
    let dead = "[fail]\ncables = [\"(1) ring+\"]\n";
    let again = format!("{dead}{one}");
    let (a, b) = (told(&ring(1, 50, "credit", dead)), told(&ring(1, 50, "credit", &again)));
    assert_eq!(a, b);
    assert!(a.iter().all(|(_, arrived)| arrived.is_some()));
}

#[test]
fn freedom_from_deadlock_is_proved_over_the_change_and_refused_with_the_cycle() {
    for topology in families() {
        for routing in routings(&topology)
            .into_iter()
            .filter(|routing| routing.tables().is_none())
        {
            let mut spec = traffic(&topology, &routing);
            spec.outages.list.push(outage(
                FailSpec::random(FailKind::Cables, 2, 1),
                1_000,
                Some(2_000_000),
                AT_ONCE,
            ));
            spec.outages.list.push(outage(
                FailSpec::random(FailKind::Cables, 1, 2),
                1_500_000,
                Some(2_500_000),
                AT_ONCE,
            ));
            let net = Network::build(&spec).unwrap();
            let proof = net.changes.as_ref().unwrap().proof().expect("buffers are bounded");
            assert!(proof.free, "{topology:?} {routing:?} {}", proof.words);
            assert!(
                proof.words.contains(" stages of the network and all ways"),
                "{}",
                proof.words
            );
        }
    }
    // One channel is enough on a mesh, and no more when its ways change.
    let mut spec = traffic(&families()[1], &RoutingSpec::MINIMAL);
    spec.router.vcs = Some(1);
    assert!(run(&spec, &mut |_| true).is_ok());
    spec.outages
        .list
        .push(outage(cables(&["(1,1) x+"]), 1_000_000, None, AT_ONCE));
    let words = run(&spec, &mut |_| true).unwrap_err().to_string();
    assert!(
        words.contains("over 2 stages") && words.contains("can deadlock, a cycle of"),
        "{words}"
    );
    // So are two for two legs.
    let mut legs = spec.clone();
    legs.routing = RoutingSpec::Valiant(ViaSpec { via: Via::Node });
    legs.router.vcs = Some(2);
    let words = run(&legs, &mut |_| true).unwrap_err().to_string();
    assert!(
        words.contains("over 2 stages") && words.contains("can deadlock, a cycle of"),
        "{words}"
    );
    // What keeps its ways keeps its proof.
    spec.outages.list[0].reroute = Reroute::Never;
    assert!(done(&spec).summary.lost.unwrap().packets > 0);
}

/// Tables of two stages were made without each other: with bounded buffers they go together or the run is refused, and then the cycle is named.
#[test]
fn tables_of_two_stages_go_together_or_are_refused_with_the_cycle() {
    let (mut ran, mut refused) = (0, 0);
    for topology in families() {
        for routing in routings(&topology)
            .into_iter()
            .filter(|routing| routing.tables().is_some())
        {
            for seed in 0..3 {
                let mut spec = traffic(&topology, &routing);
                (spec.router.model, spec.router.buffer) = (RouterKind::CREDIT, Some(Bytes(8_192)));
                let what = FailSpec::random(FailKind::Cables, 1, seed);
                spec.outages
                    .list
                    .push(outage(what, 1_000_000, Some(3_000_000), AT_ONCE));
                match run(&spec, &mut |_| true) {
                    Ok(result) => {
                        let lost = result.summary.lost.unwrap().messages;
                        assert_eq!(result.summary.messages + lost, 6 * u64::from(result.summary.n_nodes));
                        ran += 1;
                    }
                    Err(error) => {
                        let words = error.to_string();
                        assert!(
                            words.contains("can deadlock, a cycle of"),
                            "{topology:?} {routing:?}: {words}"
                        );
                        refused += 1;
                    }
                }
            }
        }
    }
    println!("{ran} run, {refused} refused");
    assert!(ran > 10 && refused > 10, "{ran} {refused}");
}

/// With one address a node packets carry how often they were sent; with several they carry which one they are sent to.
#[test]
fn what_is_lost_on_ways_of_tables_is_sent_again() {
    let study = |lmc: u8| {
        let text = format!(
            "[topology]\nkind = \"torus\"\nshape = [4, 4]\n[routing]\nkind = \"updn\"\nlmc = {lmc}\n[nic]\nretransmit = 8\nretransmit_after = \"3 us\"\n\
             [[job]]\nwork = {{ kind = \"uniform\", message = \"5 KiB\", load = 0.3, count = 40 }}\n\
             [[outage]]\nrouters = [\"(2,1)\"]\nat = \"3 us\"\nuntil = \"8 us\"\nreroute = \"500 ns\"\n[run]\nend = \"done\"\n"
        );
        load_study(
            text.as_bytes(),
            "s.toml",
            std::path::Path::new("."),
            &LoadOptions::default(),
        )
    };
    let one = study(0).unwrap_or_else(|findings| panic!("{}", render(&findings)));
    let lost = done(&one.runs[0]).summary.lost.unwrap();
    assert!(lost.sent_again > 0 && lost.messages == 0, "{lost:?}");
    let words = match study(1) {
        Ok(two) => run(&two.runs[0], &mut |_| true).unwrap_err().to_string(),
        Err(findings) => render(&findings),
    };
    assert!(words.contains("cannot carry how often they were sent"), "{words}");
}

#[test]
fn ranks_that_lose_a_message_are_told_which_and_where() {
    let study = |outage: &str| {
        load(&format!(
            "[topology]\nkind = \"torus\"\nshape = [4, 4]\n[[job]]\nwork = {{ kind = \"collective\", collective = \"allreduce\", message = \"64 KiB\", iterations = 4 }}\n{outage}"
        ))
        .unwrap()
    };
    assert!(done(&study("")).summary.lost.is_none());
    let words = run(
        &study("[[outage]]\nrouters = [\"(2,1)\"]\nat = \"10 us\"\nuntil = \"11 us\"\nreroute = \"never\"\n"),
        &mut |_| true,
    )
    .unwrap_err()
    .to_string();
    assert!(words.contains("ranks wait for what never comes"), "{words}");
    assert!(
        words.contains("nobody sends them again: the first that was lost is a packet of"),
        "{words}"
    );
    assert!(words.contains("from node") && words.contains(" ns on ("), "{words}");
}

#[test]
fn what_is_lost_is_sent_again_so_long_after_and_so_often() {
    // A packet of a byte born at 50,100 ps is on the link when it dies at 100 ns; what is lost is sent again 100 ns later.
    let outage = |until: &str, retries: u32| {
        format!("[[outage]]\ncables = [\"(1) ring+\"]\nat = \"100 ns\"\nuntil = \"{until}\"\nreroute = \"never\"\n")
            .replace(
                "[[outage]]",
                &format!(
                    "[nic]\npacket = \"1000 B\"\nretransmit = {retries}\nretransmit_after = \"100 ns\"\n[[outage]]"
                ),
            )
    };
    let alone = |model: &str, until: &str, retries: u32| {
        let plain = ring(1, 1, model, "");
        let mut spec = load(&format!(
            "[topology]\nkind = \"ring\"\nrouters = 6\nnodes_per_router = 1\n[link]\nbandwidth = \"1 TB/s\"\nlatency = \"10 ns\"\n\
             [router]\n{}\ntraversal = \"10 ns\"\n[routing]\nkind = \"minimal\"\n[observe]\nmessages = true\n{}",
            router(model),
            outage(until, retries)
        ))
        .unwrap();
        spec.jobs = plain.jobs;
        spec.jobs[0].work = Work::Messages(vec![ListedMessage::from((50_100, 0, 2, 1))]);
        spec
    };
    for model in MODELS {
        // On the link from 90,100 ps on, lost at 100,000; sent at 200,000, at router 1 at 240,000, at node 2 at 270,001.
        let spec = alone(model, "150 ns", 1);
        assert_eq!(told(&spec), [(50_100, Some(270_001))], "{model}");
        let lost = done(&spec).summary.lost.unwrap();
        assert_eq!((lost.packets, lost.sent_again, lost.messages), (1, 1, 0));
        // Dark until then: lost again at 240,000 when its turn comes, and at 380,000; there at 550,001 at last.
        assert_eq!(told(&alone(model, "390 ns", 3)), [(50_100, Some(550_001))], "{model}");
        let lost = done(&alone(model, "390 ns", 2)).summary.lost.unwrap();
        assert_eq!((lost.packets, lost.sent_again, lost.messages), (3, 2, 1), "{model}");
    }
}

#[test]
fn ranks_and_pairs_and_streams_end_where_what_is_lost_is_sent_again() {
    let works = [
        "{ kind = \"collective\", collective = \"allreduce\", message = \"64 KiB\", iterations = 4 }",
        "{ kind = \"pairs\", messages = 20, message = \"6 KiB\" }",
        "{ kind = \"uniform\", message = \"5 KiB\", window = 3, count = 40 }",
    ];
    for (work, buffer) in works.iter().flat_map(|work| [(work, "8 KiB"), (work, "64 KiB")]) {
        for kind in ["minimal", "min-a"] {
            let study = |rest: &str| {
                load(&format!(
                    "[topology]\nkind = \"torus\"\nshape = [4, 4]\n[router]\nbuffer = \"{buffer}\"\n[routing]\nkind = \"{kind}\"\n\
                     [[job]]\nwork = {work}\n{rest}"
                ))
                .unwrap()
            };
            let outages = "[nic]\nretransmit = 8\nretransmit_after = \"3 us\"\n[[outage]]\nrouters = [\"(2,1)\"]\nat = \"3 us\"\nuntil = \"8 us\"\n\
                           [[outage]]\ncount = 3\nat = \"5 us\"\nuntil = \"30 us\"\nreroute = \"1 us\"\n";
            let (whole, with) = (done(&study("")).summary, done(&study(outages)).summary);
            let lost = with.lost.clone().unwrap();
            assert!(
                lost.packets > 0 && lost.packets == lost.sent_again,
                "{work} {kind}: {lost:?}"
            );
            assert_eq!((whole.messages, lost.messages), (with.messages, 0), "{work} {kind}");
            assert!(with.sim_time_ns > whole.sim_time_ns, "{work} {kind}");
        }
    }
}

#[test]
fn a_cable_that_loses_lanes_for_a_time_is_slow_for_that_time() {
    let slow = "[[outage]]\ncables = [\"(1) ring+\"]\nat = \"100 ns\"\nuntil = \"150 ns\"\nkeeps = 0.25\n";
    for model in MODELS {
        let mut spec = ring(1_000, 60, model, slow);
        if let Work::Messages(list) = &mut spec.jobs[0].work {
            list.retain(|message| [5_010 * 3, 5_010 * 15, 5_010 * 27].contains(&message.time.0));
        }
        // At router 1 40 ns behind its birth: before, within, and behind the time in which a byte takes 4 ps there.
        let on_the_whole = |born: u64| born + 70_000 + 1_000;
        // The head waits at router 2 until its tail, 3,000 ps late, does not fall behind on the link to the node.
        let expected: Vec<_> = [(15_030, 0), (75_150, 3_000), (135_270, 0)]
            .map(|(born, late)| (born, Some(on_the_whole(born) + late)))
            .into();
        assert_eq!(told(&spec), expected, "{model}");
        assert!(done(&spec).summary.lost.is_none(), "nothing can be lost");
    }
    // A stream over it takes as long as its link: 40 messages of 1,000 bytes, of which 12 start in 50 ns at a quarter of the speed.
    let times = |slow: &str| {
        let mut spec = ring(1_000, 40, "credit", slow);
        if let Work::Messages(list) = &mut spec.jobs[0].work {
            list.iter_mut().for_each(|message| message.time = Time(60_000));
        }
        told(&spec)
            .into_iter()
            .filter_map(|(_, arrived)| arrived)
            .max()
            .unwrap()
    };
    // From 100 ns on one starts every 4 ns, up to 148 ns: 13 of them, 3 ns late each.
    assert_eq!(times(slow), times("") + 13 * 3_000);
}

#[test]
fn traffic_that_goes_on_tells_what_it_has_lost() {
    let spec = load(
        "[topology]\nkind = \"torus\"\nshape = [4, 4]\n[[job]]\nwork = { kind = \"uniform\", load = 0.2 }\n[run]\nend = \"200 us\"\nwarmup = \"20 us\"\n\
         [[outage]]\nrouters = [\"(2,1)\"]\nat = \"50 us\"\nuntil = \"60 us\"\n",
    )
    .unwrap();
    let summary = done(&spec).summary;
    let lost = summary.lost.clone().unwrap();
    assert!(lost.packets > 0 && lost.messages == lost.packets);
    assert_eq!(summary.measured, summary.arrived);
    let note = summary
        .notes
        .iter()
        .find(|note| note.contains("were lost"))
        .expect("it is told");
    assert!(note.contains(lost.first.as_ref().unwrap()), "{note}");
    let conservation = summary
        .verdict
        .checks
        .iter()
        .find(|check| check.name == "conservation")
        .unwrap();
    assert!(
        conservation
            .detail
            .ends_with(&format!("{} and {} lost", lost.packets, lost.bytes))
    );
}

#[test]
fn what_cannot_lose_packets_or_change_its_ways_is_refused() {
    let refused = |rest: &str| {
        let spec = load(&format!(
            "[topology]\nkind = \"torus\"\nshape = [4, 4]\n[[job]]\nwork = {{ kind = \"uniform\", load = 0.1 }}\n[[outage]]\ncables = [\"(0,0) x+\"]\nat = \"1 us\"\n{rest}"
        ));
        run(&spec.unwrap(), &mut |_| true).unwrap_err().to_string()
    };
    let words = "does not lead round what fails while the run goes on";
    assert!(refused("[routing]\nkind = \"rdr\"").contains(words));
    let words = refused("[routing]\nkind = \"ugal\"\n[nic]\nretransmit = 2");
    assert!(words.contains("cannot carry how often they were sent"), "{words}");
    assert!(refused("[routing]\nkind = \"dor\"").contains("does not lead round"));
    let words = refused("[router]\nmodel = \"credit\"\narchitecture = \"input-queued\"\nbuffer = \"16 KiB\"");
    assert!(words.contains("outages are for"), "{words}");
}
