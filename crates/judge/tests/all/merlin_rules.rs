//! The routings of SST Merlin choose what its rules say, worked out by hand, and take no step that their proofs do not know.

use des::rng::below;
use des::{Event as _, Time, mix};
use fabric::network::Network;
use fabric::packet::Packet;
use fabric::routing::Way;
use fabric::spec::*;
use topo::{Arrangement, DragonflySpec, FatTreeSpec, Lattice, RoutingRule, Step, TopologySpec, verify_routes};

const PACKET: u64 = 2_048;
const FLIT: u64 = 64;

fn hyperx(shape: &[u32], width: u32, nodes_per_router: u32) -> TopologySpec {
    TopologySpec::HyperX(Lattice {
        shape: shape.to_vec(),
        width: vec![width; shape.len()],
        nodes_per_router,
    })
}

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

fn run_of(topology: TopologySpec, routing: RoutingSpec) -> RunSpec {
    let mut spec = plain(topology);
    spec.routing = routing;
    spec.router.architecture = Architecture::INPUT_QUEUED;
    spec.router.flit = Bytes(FLIT);
    spec.router.buffer = Some(Bytes(16_000));
    spec.router.output_buffer = Some(Bytes(16_000));
    spec
}

fn network(topology: TopologySpec, routing: RoutingSpec) -> Network {
    Network::build(&run_of(topology, routing)).unwrap()
}

const MINIMAL: RoutingSpec = RoutingSpec::MerlinMinimal(NoKeys {});
const MIN_A: RoutingSpec = RoutingSpec::MerlinMinA(NoKeys {});
const VALIANT: RoutingSpec = RoutingSpec::MerlinValiant(NoKeys {});
const UGAL: RoutingSpec = RoutingSpec::MerlinUgal(NoKeys {});
const DOAL: RoutingSpec = RoutingSpec::MerlinDoal(NoKeys {});
const VDAL: RoutingSpec = RoutingSpec::MerlinVdal(NoKeys {});

fn adaptive_local() -> RoutingSpec {
    RoutingSpec::MerlinAdaptiveLocal(RatioSpec::default())
}

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
        let packet = packet.at(
            Time(number),
            net.places[router as usize],
            site.net + (from - site.node) as u16,
        );
        Walk { net, packet, router }
    }

    /// The way that it chooses where so many bytes wait before each port and channel.
    fn choice(&self, mut held: impl FnMut(u32, u8) -> u64) -> Way {
        let site = self.net.site_of(self.router);
        let arrived = self.net.topology.router_of(self.packet.destination()) == self.router;
        match arrived && !self.net.routing.leads_to_the_node() {
            true => self.net.route(site, &self.packet),
            false => self.net.routing.adaptive_by(self.net, site, &self.packet, &mut held),
        }
    }

    /// The router that a way leads to; `None` for a node.
    fn behind(&self, way: Way) -> Option<u32> {
        let site = self.net.site_of(self.router);
        let peer = self.net.peers[(site.port + way.port()) as usize];
        (way.port() < u32::from(site.net)).then(|| self.net.router_at(peer.lp()))
    }

    /// Goes there.
    fn go(&mut self, way: Way) {
        let peer = self.net.peers[(self.net.site_of(self.router).port + way.port()) as usize];
        self.router = self.behind(way).expect("a router");
        self.packet.set_phase(way.phase());
        self.packet.set_vc(way.vc());
        self.packet.count_hop();
        self.packet = self.packet.to(Time(self.packet.time().0 + 1_000), peer.address());
    }

    /// Goes to its node where nothing waits: hops between routers.
    fn hops(mut self) -> u32 {
        for hops in 0..20 {
            let way = self.choice(|_, _| 0);
            if self.behind(way).is_none() {
                let site = self.net.site_of(self.router);
                assert_eq!(site.node + way.port() - u32::from(site.net), self.packet.destination());
                return hops;
            }
            self.go(way);
        }
        panic!("it does not arrive")
    }
}

#[test]
fn doal_goes_round_by_the_first_port_of_equal_ones_and_does_not_see_what_is_on_the_wire() {
    let net = network(hyperx(&[4], 1, 1), DOAL);
    let choice = |to: u32, held: &dyn Fn(u32, u8) -> u64| {
        let walk = Walk::new(&net, 0, to, 5);
        let way = walk.choice(held);
        (walk.behind(way), way.vc())
    };
    assert_eq!(choice(3, &|_, _| 0), (Some(3), 0));
    // A waiting packet before port 2, which leads to router 3: 32 against 1.
    assert_eq!(choice(3, &|port, _| if port == 2 { PACKET } else { 0 }), (Some(1), 1));
    // 1 against 1: the lower port, whether it is direct or not.
    let flit = |own: u32| move |port: u32, vc: u8| if (port, vc) == (own, 0) { FLIT } else { 0 };
    assert_eq!(choice(3, &flit(2)), (Some(1), 1));
    assert_eq!(choice(1, &flit(0)), (Some(1), 0));
}

#[test]
fn doal_that_has_gone_round_looks_at_the_channel_that_it_came_on() {
    let net = network(hyperx(&[4], 2, 1), DOAL);
    let mut walk = Walk::new(&net, 0, 3, 5);
    let way = walk.choice(|port, _| if port >= 4 { 10 * PACKET } else { 0 });
    assert_eq!((walk.behind(way), way.vc()), (Some(1), 1));
    walk.go(way);
    // From router 1, ports 4 and 5 lead to router 3.
    let way = walk.choice(|port, vc| {
        if (port, vc) == (4, 1) || (port, vc) == (5, 0) {
            PACKET
        } else {
            0
        }
    });
    assert_eq!((way.port(), way.vc()), (5, 0));
}

#[test]
fn vdal_draws_once_over_all_equal_ones_and_takes_the_first_where_channels_run_out() {
    let net = network(hyperx(&[4, 4], 1, 1), VDAL);
    let mut taken = [0u32; 6];
    for number in 0..9_000 {
        let walk = Walk::new(&net, 0, 15, number);
        // A flit before the direct ports 2 and 5: all six weigh 1.
        taken[walk.choice(|port, _| if port % 3 == 2 { FLIT } else { 0 }).port() as usize] += 1;
    }
    // A sixth of 9,000 draws each; four standard deviations are 141.
    assert!(taken.iter().all(|n| n.abs_diff(1_500) < 141), "{taken:?}");
    // Two hops off the way in turns, then two channels are left for two dimensions.
    let mut walk = Walk::new(&net, 0, 15, 1);
    for off in [0, 3] {
        let way = walk.choice(|port, _| if port == off { 0 } else { 9 * PACKET });
        assert_eq!(way.port(), off);
        walk.go(way);
    }
    assert_eq!(walk.choice(|_, _| 0).port(), 2, "the first of the two direct ports");
    assert_eq!(walk.choice(|port, _| if port == 2 { 9 * PACKET } else { 0 }).port(), 5);
}

#[test]
fn valiant_on_a_hyperx_leads_over_any_router_but_the_sources_and_round_to_its_own_nodes() {
    let net = network(hyperx(&[4, 4], 1, 4), VALIANT);
    let mean = |to: u32| {
        let hops = (0..30_000).map(|number| Walk::new(&net, 1, to, number).hops());
        f64::from(hops.sum::<u32>()) / 30_000.0
    };
    // Half the nodes on: sums over 15 routers, 1.600 + 1.533. A standard deviation of the mean is 0.006.
    assert!((mean(33) - 47.0 / 15.0).abs() < 0.025);
    assert!((mean(2) - 3.2).abs() < 0.025);
    let net = network(hyperx(&[1], 1, 4), VALIANT);
    assert_eq!(Walk::new(&net, 1, 2, 3).hops(), 0);
}

#[test]
fn ugal_weighs_again_at_a_gateway_that_has_both_links() {
    // Routers of group 0 have the links to groups {1, 2}, {3, 4}, {5, 6}, {7}; nodes 32 to 39 are in group 4.
    let net = network(dragonfly(8, 4, 1, 1), UGAL);
    let mut third = [0u32; 8];
    for number in 0..3_000 {
        let mut walk = Walk::new(&net, 0, 32, number);
        let direct = walk.choice(|_, _| 0);
        assert_eq!(walk.behind(direct), Some(1));
        // 64 > 50 flits: round, unless the third group's link is behind the same port.
        let round = walk.choice(|port, _| if port == direct.port() { 2 * PACKET } else { 0 });
        assert_eq!(
            walk.choice(|port, _| if port == direct.port() { PACKET } else { 0 }),
            direct
        );
        let both = |port: u32, _: u8| if port == direct.port() { 2 * PACKET } else { PACKET };
        assert_eq!(walk.choice(both), direct);
        let over = match walk.behind(round).unwrap() {
            0 => unreachable!("it leaves router 0"),
            1 => 3,
            2 => 5,
            3 => 7,
            other => net.topology.group(other).unwrap(),
        };
        third[over as usize] += 1;
        // At the gateway, router 1 with ports 3 to group 3 and 4 to group 4.
        walk.go(direct);
        let at_gateway = walk.choice(|port, _| if port == 4 { 2 * PACKET } else { 0 });
        let diverted = round == direct;
        assert_eq!(at_gateway.port(), if diverted { 3 } else { 4 });
        assert_eq!(walk.choice(|port, _| if port == 4 { PACKET } else { 0 }).port(), 4);
    }
    // A sixth of the packets has group 3 for its third one.
    assert!(third[3].abs_diff(500) < 90, "{third:?}");
    // A link of router 0 itself, to group 1 or 2: no local hop.
    assert!(third[1] > 0 && third[2] > 0 && third[0] + third[4] == 0);
}

#[test]
fn ugal_in_a_third_group_counts_a_link_of_another_router_twice() {
    // Two links a pair, two routers a group: each router has one to each group.
    let net = network(dragonfly(3, 2, 2, 1), UGAL);
    for number in 0..200 {
        let mut walk = Walk::new(&net, 0, 8, number);
        // Nothing waits on the ways round, four packets on both direct links.
        let direct: Vec<u32> = (0..2)
            .map(|n| net.topology.global_link(0, 2, n).unwrap())
            .map(|link| if link.router == 0 { link.port.into() } else { 0 })
            .collect();
        let way = walk.choice(|port, _| if direct.contains(&port) { 4 * PACKET } else { 0 });
        assert_eq!(walk.behind(way).and_then(|router| net.topology.group(router)), Some(1));
        walk.go(way);
        let own = (0..2)
            .map(|n| net.topology.global_link(1, 2, n).unwrap())
            .find(|link| link.router == walk.router);
        let own = u32::from(own.expect("each router has one").port);
        // Two packets before the own link against one before the other router: equal, a draw; with a flit more, round.
        let taken = |own_held: u64| {
            walk.choice(|port, vc| {
                assert_eq!(vc, 1);
                if port == own { own_held } else { PACKET }
            })
        };
        assert_eq!(taken(2 * PACKET - FLIT).port(), own);
        assert_ne!(taken(2 * PACKET + FLIT).port(), own);
    }
}

#[test]
fn adaptive_local_goes_round_from_the_fourth_waiting_packet_on() {
    let net = network(dragonfly(8, 4, 1, 1), adaptive_local());
    let mut round = 0;
    for number in 0..600 {
        let walk = Walk::new(&net, 0, 32, number);
        let direct = walk.choice(|_, _| 0);
        assert_eq!(walk.behind(direct), Some(1));
        let with = |packets: u64| walk.choice(|port, _| if port == direct.port() { packets * PACKET } else { 0 });
        // 250 > 2 x 154 no, 250 > 2 x 122 yes.
        assert_eq!(with(3), direct);
        round += u32::from(with(4).port() != direct.port());
    }
    // All but those whose third group's link is behind the same port, a sixth.
    assert!(round.abs_diff(500) < 45, "{round}");
}

#[test]
fn inside_a_group_ugal_moves_on_by_two_channels_and_the_others_by_one() {
    for (routing, channel) in [(UGAL, 2), (VALIANT, 1), (adaptive_local(), 1)] {
        let net = network(dragonfly(3, 4, 1, 1), routing);
        let mut round = 0u32;
        for number in 0..300 {
            let mut walk = Walk::new(&net, 0, 7, number);
            // Port 2 leads to the destination's router 3.
            let way = walk.choice(|port, _| if port == 2 { 6 * PACKET } else { 0 });
            if way.port() == 2 {
                continue;
            }
            walk.go(way);
            let way = walk.choice(|_, _| 0);
            assert_eq!((walk.behind(way), way.vc()), (Some(3), channel));
            walk.go(way);
            assert_eq!(walk.choice(|_, _| 0).vc(), channel);
            round += 1;
        }
        // The router to go round by is any but the source's: in a third of the cases the destination's.
        assert!(round.abs_diff(200) < 33, "{round}");
    }
}

#[test]
fn the_link_is_that_of_the_source_and_min_a_takes_the_least_times_hops() {
    // 256 nodes: mean routers on the way 3.525 over all pairs.
    let spec = DragonflySpec {
        groups: 8,
        routers_per_group: vec![8],
        nodes_per_router: 4,
        links_per_pair: 4,
        local_width: 1,
        arrangement: Arrangement::Absolute,
        arrangement_seed: 1,
    };
    let net = network(TopologySpec::Dragonfly(spec), MINIMAL);
    let pairs = (0..256)
        .flat_map(|from| (0..256).map(move |to| (from, to)))
        .filter(|(from, to)| from != to);
    let routers: u32 = pairs.map(|(from, to)| 1 + Walk::new(&net, from, to, 7).hops()).sum();
    assert_eq!((f64::from(routers) / 65_280.0 * 1e3).round(), 3_525.0);
    // Two links a pair: router 0 has one to group 1, and takes it as long as three times what is before it is less than that before the other.
    let net = network(dragonfly(2, 2, 2, 1), MIN_A);
    let walk = Walk::new(&net, 0, 4, 3);
    let own = walk.choice(|_, _| 0);
    assert_eq!(net.topology.group(walk.behind(own).unwrap()), Some(1));
    assert_eq!(walk.choice(|port, _| if port == own.port() { FLIT } else { 0 }), own);
    assert_ne!(
        walk.choice(|port, _| if port == own.port() { 4 * FLIT } else { 0 }),
        own
    );
}

#[test]
fn every_step_is_one_that_the_proof_knows_and_the_proof_is_free() {
    let mut cells = vec![
        (hyperx(&[4, 3], 2, 2), DOAL, 2),
        (hyperx(&[4, 3], 2, 2), VDAL, 4),
        (hyperx(&[4, 3], 1, 2), VALIANT, 2),
        (
            TopologySpec::FatTree(FatTreeSpec {
                down: vec![3, 3, 2],
                up: vec![2, 3],
                up_width: vec![1, 2],
            }),
            RoutingSpec::MerlinAdaptiveUp(KeepSpec::default()),
            1,
        ),
    ];
    for routing in [MINIMAL, MIN_A, VALIANT, UGAL, adaptive_local()] {
        let vcs = if matches!(routing, RoutingSpec::MerlinMinimal(_) | RoutingSpec::MerlinMinA(_)) {
            2
        } else {
            3
        };
        cells.extend(
            [dragonfly(5, 4, 1, 1), dragonfly(4, 3, 4, 2), dragonfly(5, 2, 9, 1)]
                .map(|topology| (topology, routing.clone(), vcs)),
        );
        let two = if routing == UGAL { 3 } else { 2 };
        cells.push((dragonfly(2, 3, 2, 1), routing, two));
    }
    for (topology, routing, vcs) in cells {
        let net = network(topology.clone(), routing.clone());
        assert_eq!(net.routing.vcs(), vcs, "{routing:?} on {topology:?}");
        let run = run_of(topology.clone(), routing.clone());
        let proof = net.routing.prove(&run.router, &net.topology);
        assert!(proof.free, "{routing:?} on {topology:?}: {}", proof.words);
        let rule = net.routing.rule(&net.topology).unwrap();
        let report = verify_routes(&net.topology, &*rule, u64::MAX);
        report.unwrap_or_else(|fault| panic!("{routing:?} on {topology:?}: {fault}"));
        let nodes = u64::from(net.topology.n_nodes());
        for number in 0..2_000 {
            let from = below(mix(number), nodes);
            let to = (from + 1 + below(mix(!number), nodes - 1)) % nodes;
            let (from, to) = (from as u32, to as u32);
            walk_by_rule(
                &net,
                &*rule,
                (from, to, number),
                &format!("{routing:?} on {topology:?}"),
            );
        }
    }
}

/// Leads a packet past random queues and looks that every step is one of the rule's from what came before.
fn walk_by_rule(net: &Network, rule: &dyn RoutingRule, (from, to, number): (u32, u32, u64), what: &str) {
    let mut walk = Walk::new(net, from, to, number);
    let mut steps: Vec<Step> = Vec::new();
    rule.start(walk.router, to, &mut steps);
    for hop in 0..20 {
        let held = |port: u32, vc: u8| {
            assert!(vc < net.routing.vcs(), "{what}: channel {vc}");
            below(mix(number << 20 ^ u64::from(port) << 8 ^ u64::from(vc) << 4 ^ hop), 8) * PACKET
        };
        let way = walk.choice(held);
        let at = walk.router;
        if walk.behind(way).is_none() {
            assert_eq!(at, net.topology.router_of(to), "{what}");
            return;
        }
        let taken = |step: &&Step| (u32::from(step.port), step.vc) == (way.port(), way.vc());
        let states: Vec<u32> = steps.iter().filter(taken).map(|step| step.state).collect();
        assert!(
            !states.is_empty(),
            "{what}: from {from} to {to}, at {at}: {way:?} is none of {steps:?}"
        );
        walk.go(way);
        steps.clear();
        for state in states {
            rule.next(walk.router, walk.packet.port(), way.vc(), state, to, &mut steps);
        }
    }
    panic!("{what}: from {from} to {to} it does not arrive");
}

#[test]
fn other_routers_and_other_dragonflies_are_refused() {
    let refused = |spec: &RunSpec| {
        Network::build(spec)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    let mut voq = run_of(hyperx(&[4], 1, 1), DOAL);
    voq.router.architecture = Architecture::VOQ;
    assert!(refused(&voq).contains("input-queued"), "{}", refused(&voq));
    let unbounded = |topology, routing| {
        let mut spec = run_of(topology, routing);
        spec.router.output_buffer = None;
        refused(&spec)
    };
    assert!(unbounded(dragonfly(3, 2, 1, 1), adaptive_local()).contains("room"));
    assert_eq!(unbounded(dragonfly(3, 2, 1, 1), UGAL), "");
    let mut grid = run_of(dragonfly(3, 2, 1, 1), UGAL);
    if let TopologySpec::Dragonfly(spec) = &mut grid.topology {
        spec.routers_per_group = vec![2, 2];
    }
    assert!(refused(&grid).contains("one row"), "{}", refused(&grid));
    assert!(refused(&run_of(dragonfly(3, 2, 14, 1), UGAL)).contains("apart"));
    assert!(refused(&run_of(hyperx(&[4], 1, 1), UGAL)).contains("dragonfly"));
    assert!(refused(&run_of(dragonfly(3, 2, 1, 1), DOAL)).contains("HyperX"));
    let up = RoutingSpec::MerlinAdaptiveUp(KeepSpec::default());
    assert!(refused(&run_of(hyperx(&[4], 1, 1), up)).contains("fat-tree"));
}
