//! The routings of CODES choose what its rules say, worked out by hand, and take no step that their proofs do not know.

use des::rng::below;
use des::{Event as _, Time, mix};
use fabric::network::Network;
use fabric::packet::Packet;
use fabric::routing::Way;
use fabric::spec::*;
use std::collections::BTreeSet;
use topo::deadlock::check;
use topo::{Arrangement, DragonflyPlusSpec, DragonflySpec, FatTreeSpec, Step, TopologySpec, verify_routes};

const PACKET: u64 = 4_096;

fn dragonfly(groups: u32, routers: u32, links_per_pair: u32, local_width: u32) -> TopologySpec {
    TopologySpec::Dragonfly(DragonflySpec {
        groups,
        routers_per_group: vec![routers],
        nodes_per_router: 2,
        links_per_pair,
        local_width,
        arrangement: Arrangement::Absolute,
        arrangement_seed: 1,
    })
}

fn dragonfly_plus(groups: u32, links_per_pair: u32, local_width: u32) -> TopologySpec {
    TopologySpec::DragonflyPlus(DragonflyPlusSpec {
        groups,
        leaves: 2,
        spines: 2,
        nodes_per_leaf: 2,
        links_per_pair,
        local_width,
        arrangement: Arrangement::Absolute,
        arrangement_seed: 1,
    })
}

fn run_of(topology: TopologySpec, routing: RoutingSpec) -> RunSpec {
    let mut spec = plain(topology);
    spec.routing = routing;
    spec.router.architecture = Architecture::LATE_ADMISSION_VCS;
    spec.router.buffer = Some(Bytes(32_768));
    spec.router.credit_uses_link = false;
    spec.router.credit_delay = Time(300);
    spec.nic.packet = Bytes(PACKET);
    spec
}

fn network(topology: TopologySpec, routing: RoutingSpec) -> Network {
    Network::build(&run_of(topology, routing)).unwrap()
}

fn dally() -> RoutingSpec {
    RoutingSpec::CodesDallyPar(DallySpec::default())
}

fn dfp() -> RoutingSpec {
    RoutingSpec::CodesDfpPar(DfpSpec::default())
}

const FAT_TREE: RoutingSpec = RoutingSpec::CodesFatTree(NoKeys {});

/// A packet under way.
struct Walk<'n> {
    net: &'n Network,
    packet: Packet,
    router: u32,
}

impl<'n> Walk<'n> {
    /// At its source's router; `number` tells it from others.
    fn new(net: &'n Network, from: u32, to: u32, number: u64) -> Walk<'n> {
        let router = net.topology.router_of(from);
        let site = net.site_of(router);
        let packet = Packet::whole(from, to, PACKET as u32, number);
        let input = site.net + (from - site.node) as u16;
        Walk {
            net,
            packet: packet.at(Time(number), net.places[router as usize], input),
            router,
        }
    }

    /// The way that it chooses with these scores of ports.
    fn choice(&self, mut score: impl FnMut(u32) -> u64) -> Way {
        let site = self.net.site_of(self.router);
        let arrived = self.net.topology.router_of(self.packet.destination()) == self.router;
        match arrived && !self.net.routing.leads_to_the_node() {
            true => self.net.route(site, &self.packet),
            false => self
                .net
                .routing
                .adaptive_by(self.net, site, &self.packet, &mut |port, _| score(port)),
        }
    }

    /// The router that a port leads to; `None` for a node.
    fn behind(&self, port: u32) -> Option<u32> {
        let site = self.net.site_of(self.router);
        let peer = self.net.peers[(site.port + port) as usize];
        (port < u32::from(site.net)).then(|| self.net.router_at(peer.lp()))
    }

    fn group(&self, router: u32) -> u32 {
        self.net.topology.group(router).unwrap()
    }

    /// Whether a port leads out of the group.
    fn is_global(&self, port: u32) -> bool {
        self.behind(port)
            .is_some_and(|peer| self.group(peer) != self.group(self.router))
    }

    /// Goes there.
    fn go(&mut self, way: Way) {
        let peer = self.net.peers[(self.net.site_of(self.router).port + way.port()) as usize];
        self.router = self.behind(way.port()).expect("a router");
        self.packet.set_phase(way.phase());
        self.packet.set_vc(way.vc());
        self.packet.count_hop();
        self.packet = self.packet.to(Time(self.packet.time().0 + 1_000), peer.address());
    }

    /// Goes to its node with random scores: routers on the way and the channel of each hop, the one to the node last.
    fn wander(mut self, word: u64) -> (u32, Vec<u8>) {
        let mut channels = Vec::new();
        for hops in 0..20 {
            let way = self.choice(|port| below(mix(word ^ u64::from(port) << 8 ^ hops), 4) * PACKET);
            channels.push(way.vc());
            if self.behind(way.port()).is_none() {
                let site = self.net.site_of(self.router);
                assert_eq!(site.node + way.port() - u32::from(site.net), self.packet.destination());
                return (channels.len() as u32, channels);
            }
            self.go(way);
        }
        panic!("it does not arrive")
    }
}

/// Routers on the longest way with random scores, and all channels that are seen.
fn wandered(net: &Network) -> (u32, BTreeSet<Vec<u8>>) {
    let (mut longest, mut seen) = (0, BTreeSet::new());
    for number in 0..20_000 {
        let word = mix(number);
        let nodes = u64::from(net.n_nodes());
        let (from, to) = (below(word, nodes) as u32, below(mix(word), nodes) as u32);
        if from != to {
            let (routers, channels) = Walk::new(net, from, to, number).wander(word);
            longest = longest.max(routers);
            seen.insert(channels);
        }
    }
    (longest, seen)
}

#[test]
fn the_longest_ways_are_six_and_seven_routers() {
    let net = network(dragonfly(9, 4, 1, 1), dally());
    let (longest, channels) = wandered(&net);
    assert_eq!(longest, 6);
    // Origin, second router, third group, destination's group; inside a group the hops so far.
    let all: Vec<&[u8]> = vec![
        &[0],
        &[0, 1],
        &[0, 3],
        &[0, 3, 3],
        &[0, 1, 3],
        &[0, 1, 3, 3],
        &[0, 2, 3],
        &[0, 2, 3, 3],
        &[0, 2, 2, 3],
        &[0, 2, 2, 3, 3],
        &[0, 1, 2, 3],
        &[0, 1, 2, 3, 3],
        &[0, 1, 2, 2, 3],
        &[0, 1, 2, 2, 3, 3],
    ];
    assert!(channels.iter().all(|found| all.contains(&&found[..])), "{channels:?}");
    assert!(channels.len() >= 12, "{channels:?}");
    let net = network(dragonfly_plus(5, 1, 1), dfp());
    let (longest, channels) = wandered(&net);
    assert_eq!(longest, 7);
    // The second channel begins at the leaf of a third group.
    assert!(channels.contains(&vec![0, 0, 0, 1, 1, 1, 1]), "{channels:?}");
    assert!(channels.iter().all(|found| found.is_sorted()), "{channels:?}");
}

#[test]
fn a_router_with_links_to_the_destinations_group_looks_at_no_others() {
    // Two links a pair: of a group of four some routers have a link to another group, some have not.
    let net = network(dragonfly(5, 4, 2, 1), dally());
    for (from, number) in (0..8).flat_map(|from| (0..200).map(move |number| (from, number))) {
        let walk = Walk::new(&net, from, 39, number);
        let target = walk.group(net.topology.router_of(39));
        let owns = |router: u32| {
            let ends = (0..2).filter_map(|link| net.topology.global_link(0, target, link));
            ends.filter(|end| end.router == router).count()
        };
        // Whatever waits, an own link is taken rather than another router's; nothing waits anywhere else.
        let way = walk.choice(|_| 0);
        match owns(walk.router) {
            0 => assert!(owns(walk.behind(way.port()).unwrap()) > 0),
            _ => assert_eq!(walk.group(walk.behind(way.port()).unwrap()), target),
        }
        assert_eq!((way.vc(), way.phase()), (0, 0));
    }
}

#[test]
fn a_second_router_without_a_link_to_the_third_group_draws_one_of_those_that_it_is_linked_to() {
    // Routers of group 0 have links to groups {1, 2}, {3, 4}, {5, 6}, {7, 8}.
    let net = network(dragonfly(9, 4, 1, 1), dally());
    let (mut redrawn, mut kept) = (0, 0);
    for number in 0..400 {
        // To group 8, from a router that has no link there.
        let mut walk = Walk::new(&net, 0, 71, number);
        let way = walk.choice(|_| 0);
        walk.go(way);
        assert_eq!((walk.router, way.phase()), (3, 0), "to the router with the link");
        let crowded = |port: u32| match walk.behind(port).map(|peer| walk.group(peer)) {
            Some(8) => PACKET,
            _ => 0,
        };
        let way = walk.choice(crowded);
        let taken = walk.behind(way.port()).unwrap();
        // Its other link leads to group 7, whichever was drawn at first.
        assert_eq!((walk.group(taken), way.vc(), way.phase()), (7, 1, 1));
        redrawn += 1;
        // Nothing waits: the minimal link.
        let way = walk.choice(|_| 0);
        assert_eq!((walk.group(walk.behind(way.port()).unwrap()), way.phase()), (8, 0));
        kept += 1;
    }
    assert_eq!((redrawn, kept), (400, 400));
}

#[test]
fn a_score_of_twice_the_detours_is_kept_and_a_byte_more_goes_round() {
    let net = network(dragonfly(9, 4, 1, 1), dally());
    for number in 0..200 {
        // At the router with the link to group 8.
        let walk = Walk::new(&net, 6, 71, number);
        let choice = |minimal: u64| {
            let score = |port: u32| match walk.behind(port).map(|peer| walk.group(peer)) {
                Some(8) => minimal,
                _ => 2_048,
            };
            walk.choice(score).phase()
        };
        assert_eq!((choice(4_096), choice(4_097)), (0, 1));
    }
}

#[test]
fn a_packet_that_goes_round_keeps_to_it_and_a_spine_decides_afresh() {
    let net = network(dragonfly(9, 4, 1, 1), dally());
    for number in 0..400 {
        let mut walk = Walk::new(&net, 0, 71, number);
        let way = walk.choice(|port| if walk.behind(port) == Some(3) { 1 << 20 } else { 0 });
        if way.phase() == 0 || walk.is_global(way.port()) {
            continue;
        }
        walk.go(way);
        // Nothing waits for the minimal way now.
        let second = walk.choice(|_| 0);
        assert!(walk.is_global(second.port()) && second.phase() == 1);
        assert_ne!(walk.group(walk.behind(second.port()).unwrap()), 8);
    }
    let net = network(dragonfly_plus(5, 2, 1), dfp());
    let mut turned = 0;
    for number in 0..400 {
        let mut walk = Walk::new(&net, 0, 19, number);
        walk.go(walk.choice(|_| 0));
        let crowded = |port: u32| match walk.behind(port).map(|peer| walk.group(peer)) {
            Some(4) => PACKET,
            _ => 0,
        };
        let away = walk.choice(crowded);
        let back = walk.choice(|_| 0);
        turned += u32::from(walk.group(walk.behind(away.port()).unwrap()) != 4);
        assert_eq!(walk.group(walk.behind(back.port()).unwrap()), 4);
    }
    assert_eq!(turned, 400);
}

#[test]
fn the_fat_tree_takes_a_drawn_port_that_is_idle_or_ties_and_else_the_first_of_the_least() {
    let tree = TopologySpec::FatTree(FatTreeSpec {
        down: vec![3, 3],
        up: vec![3],
        up_width: vec![],
    });
    let net = network(tree, FAT_TREE);
    let taken = |loads: [u64; 3]| {
        let ports = (0..300).map(|number| {
            let walk = Walk::new(&net, 0, 8, number);
            let way = walk.choice(|port| loads[(port % 3) as usize]);
            way.port() % 3
        });
        ports.fold([0; 3], |mut count, port| {
            count[port as usize] += 1;
            count
        })
    };
    // Drawn port 0: port 1; drawn 2: port 2.
    let [a, b, c] = taken([8, 4, 4]);
    assert!(a == 0 && b > 150 && c > 60 && b + c == 300, "{a} {b} {c}");
    assert_eq!(taken([8, 4, 5]), [0, 300, 0]);
    let idle = taken([0, 0, 0]);
    assert!(idle.iter().all(|&count| count > 60), "{idle:?}");
}

/// The channels that a walk takes are among those that the rule of the proof knows.
fn walks_are_known(spec: &RunSpec) {
    let net = Network::build(spec).unwrap();
    let topology = spec.shape().unwrap();
    let rule = net.routing.rule(&topology).expect("ways as a whole");
    let nodes = u64::from(net.n_nodes());
    for number in 0..4_000 {
        let word = mix(number ^ 0x77);
        let (from, to) = (below(word, nodes) as u32, below(mix(word), nodes) as u32);
        let mut walk = Walk::new(&net, from, to, number);
        if topology.router_of(from) == topology.router_of(to) {
            continue;
        }
        let mut steps: Vec<Step> = Vec::new();
        rule.start(walk.router, to, &mut steps);
        for hop in 0..20 {
            let way = walk.choice(|port| below(mix(word ^ u64::from(port) << 8 ^ hop), 4) * PACKET);
            if walk.behind(way.port()).is_none() {
                break;
            }
            // Packets with the same port and channel may remember different things.
            let known = |step: &&Step| (u32::from(step.port), step.vc) == (way.port(), way.vc());
            let taken: Vec<Step> = steps.iter().filter(known).copied().collect();
            assert!(!taken.is_empty(), "{:?}: {way:?} of {steps:?}", spec.routing);
            walk.go(way);
            steps.clear();
            for step in taken {
                rule.next(walk.router, walk.packet.port(), step.vc, step.state, to, &mut steps);
            }
        }
    }
    assert!(check(&topology, &*rule).is_free(), "{:?}", spec.routing);
    let report = verify_routes(&topology, &*rule, u64::MAX);
    report.unwrap_or_else(|fault| panic!("{:?} on {:?}: {fault}", spec.routing, spec.topology));
}

#[test]
fn all_ways_are_proved_with_the_channels_that_are_used() {
    let on = DfpSpec {
        spines_go_on: true,
        ..DfpSpec::default()
    };
    let minimal = RoutingSpec::CodesDallyMinimal(PicksSpec { global_picks: 2 });
    for (topology, routing, vcs) in [
        (dragonfly(9, 4, 1, 1), dally(), 4),
        (dragonfly(5, 4, 3, 2), dally(), 4),
        (dragonfly(2, 4, 3, 1), dally(), 4),
        (dragonfly(1, 4, 1, 2), dally(), 2),
        (dragonfly(5, 4, 3, 2), minimal, 4),
        (dragonfly_plus(5, 1, 1), dfp(), 2),
        (dragonfly_plus(5, 3, 2), RoutingSpec::CodesDfpPar(on), 2),
        (dragonfly_plus(2, 3, 1), dfp(), 1),
    ] {
        let spec = run_of(topology, routing);
        assert_eq!(Network::build(&spec).unwrap().routing.vcs(), vcs, "{:?}", spec.topology);
        walks_are_known(&spec);
    }
}

#[test]
fn fewer_channels_are_a_cycle_that_the_proof_finds() {
    for vcs in 1..4 {
        let mut spec = run_of(dragonfly(9, 4, 1, 1), dally());
        spec.router.vcs = Some(vcs);
        let net = Network::build(&spec).unwrap();
        let proof = net.routing.prove(&spec.router, &spec.shape().unwrap());
        assert!(!proof.free && proof.decided, "{vcs}: {}", proof.words);
    }
}

#[test]
fn other_routers_are_refused() {
    for (topology, routing) in [(dragonfly(9, 4, 1, 1), dally()), (dragonfly_plus(5, 1, 1), dfp())] {
        for architecture in [Architecture::VOQ, Architecture::INPUT_QUEUED] {
            let mut spec = run_of(topology.clone(), routing.clone());
            spec.router.architecture = architecture;
            let error = Network::build(&spec).unwrap_err();
            assert!(format!("{error:?}").contains("late-admission-vcs"), "{error:?}");
        }
    }
}
