//! The routings of SST/macro choose what its rules say, worked out by hand, and take no step that their proofs do not know.

use des::rng::below;
use des::{Event as _, Time, mix};
use fabric::network::Network;
use fabric::packet::Packet;
use fabric::routing::{COUNTER, Way};
use fabric::spec::*;
use std::collections::BTreeMap;
use topo::deadlock::check;
use topo::{Arrangement, DragonflyPlusSpec, DragonflySpec, FatTreeSpec, Lattice, Step, TopologySpec, verify_routes};

const PACKET: u32 = 2_048;

fn dragonfly(groups: u32, routers: u32, links_per_pair: u32, arrangement: Arrangement) -> TopologySpec {
    TopologySpec::Dragonfly(DragonflySpec {
        groups,
        routers_per_group: vec![routers],
        nodes_per_router: 2,
        links_per_pair,
        local_width: 1,
        arrangement,
        arrangement_seed: 1,
    })
}

fn dragonfly_plus(groups: u32, spines: u32, links_per_pair: u32) -> TopologySpec {
    TopologySpec::DragonflyPlus(DragonflyPlusSpec {
        groups,
        leaves: 4,
        spines,
        nodes_per_leaf: 2,
        links_per_pair,
        local_width: 1,
        arrangement: Arrangement::Absolute,
        arrangement_seed: 1,
    })
}

fn hyperx(shape: [u32; 3]) -> TopologySpec {
    TopologySpec::HyperX(Lattice {
        shape: shape.to_vec(),
        width: vec![1; 3],
        nodes_per_router: 1,
    })
}

const SCATTER: RoutingSpec = RoutingSpec::MacroScatter(NoKeys {});
const MINIMAL: RoutingSpec = RoutingSpec::MacroMinimal(NoKeys {});
const VALIANT: RoutingSpec = RoutingSpec::MacroValiant(DrawSpec { draw: Draw::Packet });
const UGAL: RoutingSpec = RoutingSpec::MacroUgal(DrawSpec { draw: Draw::Packet });
const PAR: RoutingSpec = RoutingSpec::MacroPar(DrawSpec { draw: Draw::Packet });

/// On routers without credits: a packet at a port is that of a link that is not idle, and those behind it wait.
fn run_of(topology: TopologySpec, routing: RoutingSpec, model: RouterKind) -> RunSpec {
    let mut spec = plain(topology);
    spec.routing = routing;
    spec.router.model = model;
    spec.router.buffer = (model == RouterKind::CREDIT).then_some(Bytes(1 << 16));
    spec.nic.packet = Bytes(PACKET.into());
    spec
}

/// A packet under way, and the counters of all routers.
struct Walk<'n> {
    net: &'n Network,
    packet: Packet,
    router: u32,
}

/// Counters by router and number.
type Counters = BTreeMap<(u32, u32), u64>;

impl<'n> Walk<'n> {
    fn new(net: &'n Network, from: u32, to: u32, number: u64) -> Walk<'n> {
        let router = net.topology.router_of(from);
        let site = net.site_of(router);
        let packet = Packet::whole(from, to, PACKET, number);
        let input = site.net + (from - site.node) as u16;
        Walk {
            net,
            packet: packet.at(Time(number), net.places[router as usize], input),
            router,
        }
    }

    /// The way that it chooses with so many packets waiting at each port, besides one on the link.
    fn choice(&self, counters: &Counters, mut waiting: impl FnMut(u32) -> u64) -> Way {
        let site = self.net.site_of(self.router);
        let one = |port: u32| {
            let class = self.net.peers[(site.port + port) as usize].class();
            self.net.classes[usize::from(class)].ser(PACKET)
        };
        self.net
            .routing
            .adaptive_by(self.net, site, &self.packet, &mut |port, _| match port {
                COUNTER.. => counters.get(&(self.router, port - COUNTER)).copied().unwrap_or(0),
                _ => (waiting(port) + 1) * one(port),
            })
    }

    fn behind(&self, port: u32) -> u32 {
        let site = self.net.site_of(self.router);
        assert!(port < u32::from(site.net));
        self.net.router_at(self.net.peers[(site.port + port) as usize].lp())
    }

    fn group(&self, router: u32) -> u32 {
        self.net.topology.group(router).unwrap()
    }

    /// Goes there, and takes its turn.
    fn go(&mut self, way: Way, counters: &mut Counters) {
        if let Some(counter) = way.counter() {
            *counters.entry((self.router, counter)).or_default() += 1;
        }
        let peer = self.net.peers[(self.net.site_of(self.router).port + way.port()) as usize];
        self.router = self.behind(way.port());
        self.packet.set_phase(way.phase());
        self.packet.set_vc(way.vc());
        self.packet.count_hop();
        self.packet = self.packet.to(Time(self.packet.time().0 + 1_000), peer.address());
    }

    fn is_there(&self) -> bool {
        self.router == self.net.topology.router_of(self.packet.destination())
    }

    /// Goes to its router past these queues: hops, and the highest channel.
    fn hops(mut self, counters: &mut Counters, mut waiting: impl FnMut(u32, u32) -> u64) -> (u32, u8) {
        let (mut hops, mut last) = (0, 0);
        while !self.is_there() {
            let at = self.router;
            let way = self.choice(counters, |port| waiting(at, port));
            last = last.max(way.vc());
            self.go(way, counters);
            hops += 1;
            assert!(hops < 20, "it does not arrive");
        }
        (hops, last)
    }
}

fn network(topology: TopologySpec, routing: RoutingSpec) -> Network {
    Network::build(&run_of(topology, routing, RouterKind::SCULPIN)).unwrap()
}

#[test]
fn leaf_five_with_four_ways_up_takes_ports_one_two_three_nought_one() {
    let tree = TopologySpec::FatTree(FatTreeSpec {
        down: vec![2, 2, 4],
        up: vec![4, 2],
        up_width: vec![],
    });
    let net = network(tree, SCATTER);
    let mut counters = Counters::new();
    // Leaf 5 has nodes 10 and 11; destinations do not matter.
    let ports: Vec<u32> = (0..5)
        .map(|number| {
            let mut walk = Walk::new(&net, 10, number as u32, number);
            assert_eq!(walk.router, 5);
            let way = walk.choice(&counters, |_| 0);
            walk.go(way, &mut counters);
            way.port()
        })
        .collect();
    let first = ports.iter().min().unwrap();
    let places: Vec<u32> = ports.iter().map(|port| port - first).collect();
    assert_eq!(places, [1, 2, 3, 0, 1]);
}

#[test]
fn a_spine_goes_round_where_more_than_twice_as_many_wait_for_the_destinations_group() {
    let net = network(dragonfly_plus(5, 4, 4), PAR);
    let mut counters = Counters::new();
    let mut spines = Vec::new();
    for number in 0..40 {
        // From leaf 0 of group 0 to group 4.
        let mut walk = Walk::new(&net, 0, 39, number);
        let up = walk.choice(&counters, |_| 9);
        walk.go(up, &mut counters);
        spines.push(walk.router - 4);
        let minimal = walk.choice(&counters, |_| 0);
        assert_eq!((walk.group(walk.behind(minimal.port())), minimal.vc()), (4, 0));
        let choice = |walk: &Walk<'_>, to_target: u64| {
            let way = walk.choice(&counters, |port| if port == minimal.port() { to_target } else { 1 });
            (walk.group(walk.behind(way.port())), way)
        };
        assert_eq!(choice(&walk, 2).0, 4);
        let (third, way) = choice(&walk, 3);
        assert!((1..4).contains(&third), "{third}");
        walk.go(way, &mut counters);
        // The spine where it lands goes straight out, on channel 1, whatever waits.
        let out = walk.choice(&counters, |_| 9);
        assert_eq!((walk.group(walk.behind(out.port())), out.vc()), (4, 1));
        walk.go(out, &mut counters);
        let down = walk.choice(&counters, |_| 0);
        assert_eq!(down.vc(), 1);
        walk.go(down, &mut counters);
        assert!(walk.is_there());
    }
    // In turn from spine 0 on.
    let expected: Vec<u32> = (0..40).map(|number| number % 4).collect();
    assert_eq!(spines, expected);
    // Minimal begins with the number of the leaf, inside a group too.
    let net = network(dragonfly_plus(5, 4, 4), MINIMAL);
    let walk = Walk::new(&net, 4, 6, 1);
    assert_eq!(walk.behind(walk.choice(&Counters::new(), |_| 0).port()), 4 + 2);
}

#[test]
fn dragonfly_minimal_takes_own_links_in_turn_or_routers_that_have_some() {
    // Two links a pair, 5 groups of 4 routers with two global links each.
    let net = network(dragonfly(5, 4, 2, Arrangement::Absolute), MINIMAL);
    let mut counters = Counters::new();
    let ends: Vec<u32> = (0..2)
        .map(|link| net.topology.global_link(0, 1, link).unwrap().router)
        .collect();
    let outsider = (0..4).find(|router| !ends.contains(router)).unwrap();
    let mut taken = Vec::new();
    for number in 0..6 {
        let mut walk = Walk::new(&net, 2 * outsider, 8, number);
        let way = walk.choice(&counters, |_| 0);
        walk.go(way, &mut counters);
        taken.push(walk.router);
        let way = walk.choice(&counters, |_| 0);
        assert_eq!((walk.group(walk.behind(way.port())), way.vc()), (1, 0));
    }
    let first = (outsider % 2) as usize;
    let expected: Vec<u32> = (0..6).map(|number| ends[(first + number) % 2]).collect();
    assert_eq!(taken, expected);
}

#[test]
fn a_dragonflys_detour_begins_at_another_router_and_is_taken_only_if_three_hops_wait_longer_than_five() {
    let net = network(dragonfly(9, 4, 1, Arrangement::Circulant), UGAL);
    let counters = Counters::new();
    let mut never = 0;
    for number in 0..200 {
        // From a router with the link to the destination's group.
        let walk = Walk::new(&net, 0, 10, number);
        let minimal = walk.choice(&counters, |_| 0);
        assert_eq!(walk.group(walk.behind(minimal.port())), 1);
        let choice = |at_minimal: u64, elsewhere: u64| {
            let way = walk.choice(
                &counters,
                |port| if port == minimal.port() { at_minimal } else { elsewhere },
            );
            (walk.group(walk.behind(way.port())) == 0, way.phase())
        };
        // 5 x 3 against 3 x 5: equal, and minimal.
        assert_eq!(choice(5, 3), (false, 0));
        // To group 8, which only its own router is linked to, it would go by way of group 1, over the minimal port.
        let goes = choice(6, 3);
        never += u32::from(!goes.0);
        assert!([(true, 3), (false, 0)].contains(&goes), "{goes:?}");
        assert_eq!(choice(1, 0), goes);
    }
    // A seventh: 29.
    assert!((15..45).contains(&never), "{never}");
    // Inside a group 1 against 2.
    let walk = Walk::new(&net, 0, 2, 3);
    let direct = walk.choice(&counters, |_| 0);
    let inside = |at_direct: u64| {
        let way = walk.choice(&counters, |port| if port == direct.port() { at_direct } else { 2 });
        (walk.behind(way.port()), way.phase())
    };
    assert_eq!(inside(4), (1, 0));
    assert!(matches!(inside(5), (2 | 3, 1)), "{:?}", inside(5));
}

#[test]
fn ways_have_as_many_hops_as_channels() {
    for (routing, most) in [(MINIMAL, 3), (VALIANT, 6), (UGAL, 6), (PAR, 7)] {
        let mut longest = 0;
        let shapes = [
            (9, 1, Arrangement::Circulant),
            (5, 2, Arrangement::Absolute),
            (4, 3, Arrangement::Random),
        ];
        for (groups, links, arrangement) in shapes {
            let net = network(dragonfly(groups, 4, links, arrangement), routing.clone());
            let mut counters = Counters::new();
            for number in 0..6_000 {
                let nodes = u64::from(net.n_nodes());
                let (from, to) = (below(mix(number), nodes) as u32, below(mix(!number), nodes) as u32);
                let (hops, last) = Walk::new(&net, from, to, number).hops(&mut counters, |at, port| {
                    below(mix(number ^ u64::from(at * 64 + port) << 20), 4)
                });
                longest = longest.max(hops);
                if routing != MINIMAL {
                    assert!(hops == 0 || u32::from(last) + 1 == hops, "{routing:?}");
                }
            }
        }
        assert_eq!(longest, most, "{routing:?}");
    }
}

#[test]
fn valiant_goes_over_every_third_group_and_by_way_of_all_others_to_one_that_its_own_router_is_linked_to() {
    let net = network(dragonfly(9, 4, 1, Arrangement::Circulant), VALIANT);
    let mut counters = Counters::new();
    let mut seen = [0u32; 9];
    for number in 0..7_000 {
        let mut walk = Walk::new(&net, 0, 10, number);
        while walk.group(walk.router) == 0 {
            walk.go(walk.choice(&counters, |_| 0), &mut counters);
        }
        seen[walk.group(walk.router) as usize] += 1;
    }
    // Router 0 itself has the links to group 1, the target's, and to group 8, to which a seventh goes by way of the seven others in turn.
    assert_eq!((seen[0], seen[8]), (0, 0));
    assert!(seen[1].abs_diff(143) < 20, "{seen:?}");
    // A seventh and a part of one each: 1,143; four standard deviations are 125.
    assert!(seen[2..8].iter().all(|&count| count.abs_diff(1_143) < 125), "{seen:?}");
}

#[test]
fn a_hyperx_detour_is_one_point_and_a_seventh_of_the_draws_can_never_leave_x() {
    let net = network(hyperx([8, 8, 8]), PAR);
    let to = 7 * (1 + 8 + 64);
    let (mut never, mut longest) = (0, 0);
    for number in 0..7_000 {
        let mut walk = Walk::new(&net, 0, to, number);
        let minimal = walk.choice(&Counters::new(), |_| 0);
        let crowded = |port: u32| if port == minimal.port() { 3 } else { 1 };
        let way = walk.choice(&Counters::new(), crowded);
        // Two against one is kept.
        let kept = walk.choice(&Counters::new(), |port| if port == minimal.port() { 2 } else { 1 });
        assert_eq!(kept.port(), minimal.port());
        if way.port() == minimal.port() {
            never += 1;
            continue;
        }
        walk.go(way, &mut Counters::new());
        // No further test: whatever waits.
        let (hops, last) = walk.hops(&mut Counters::new(), |_, port| u64::from(port % 3) * 9);
        longest = longest.max(1 + hops);
        assert_eq!(u32::from(last), hops);
    }
    // Four standard deviations are 117.
    assert!(u32::abs_diff(never, 1_000) < 117, "{never}");
    assert_eq!(longest, 6);
}

#[test]
fn every_step_is_one_that_the_proof_knows_and_the_proof_is_free() {
    let plus = |spines, links| dragonfly_plus(4, spines, links);
    let tree = TopologySpec::FatTree(FatTreeSpec {
        down: vec![3, 3, 2],
        up: vec![2, 3],
        up_width: vec![1, 2],
    });
    let mut cells = vec![
        (tree, SCATTER, 1),
        (plus(2, 2), MINIMAL, 1),
        (plus(2, 4), PAR, 2),
        (hyperx([3, 2, 3]), PAR, 6),
    ];
    for (routing, vcs) in [(MINIMAL, 2), (VALIANT, 6), (UGAL, 6), (PAR, 7)] {
        cells.push((dragonfly(5, 4, 2, Arrangement::Circulant), routing.clone(), vcs));
        cells.push((dragonfly(4, 3, 5, Arrangement::Absolute), routing, vcs));
    }
    for (topology, routing, vcs) in cells {
        let spec = run_of(topology, routing, RouterKind::CREDIT);
        let net = Network::build(&spec).unwrap();
        let what = format!("{:?} on {:?}", spec.routing, spec.topology);
        assert_eq!(net.routing.vcs(), vcs, "{what}");
        let topology = spec.shape().unwrap();
        let rule = net.routing.rule(&topology).expect("ways as a whole");
        assert!(check(&topology, &*rule).is_free(), "{what}");
        verify_routes(&topology, &*rule, u64::MAX).unwrap_or_else(|fault| panic!("{what}: {fault}"));
        let nodes = u64::from(net.n_nodes());
        let mut counters = Counters::new();
        for number in 0..3_000 {
            let (from, to) = (below(mix(number), nodes) as u32, below(mix(!number), nodes) as u32);
            let mut walk = Walk::new(&net, from, to, number);
            if walk.is_there() {
                continue;
            }
            let mut steps: Vec<Step> = Vec::new();
            rule.start(walk.router, to, &mut steps);
            while !walk.is_there() {
                let at = u64::from(walk.router);
                let way = walk.choice(&counters, |port| {
                    below(mix(number << 20 ^ at << 8 ^ u64::from(port)), 4)
                });
                let known = |step: &&Step| (u32::from(step.port), step.vc) == (way.port(), way.vc());
                let taken: Vec<u32> = steps.iter().filter(known).map(|step| step.state).collect();
                assert!(
                    !taken.is_empty(),
                    "{what}: {from} to {to} at {at}: {way:?} is none of {steps:?}"
                );
                walk.go(way, &mut counters);
                steps.clear();
                for state in taken {
                    rule.next(walk.router, walk.packet.port(), way.vc(), state, to, &mut steps);
                }
            }
        }
    }
}

#[test]
fn other_networks_are_refused() {
    let refused = |topology, routing| {
        let spec = run_of(topology, routing, RouterKind::SCULPIN);
        Network::build(&spec)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    assert!(refused(dragonfly_plus(5, 4, 3), PAR).contains("spine"));
    let flat = TopologySpec::HyperX(Lattice {
        shape: vec![4, 4],
        width: vec![],
        nodes_per_router: 1,
    });
    assert!(refused(flat, PAR).contains("three dimensions"));
    assert!(refused(dragonfly(3, 2, 30, Arrangement::Absolute), UGAL).contains("apart"));
}

/// The routers that a packet comes to first, past idle ports and counters.
fn first_routers(net: &Network, (from, to): (u32, u32), number: u64) -> [u32; 3] {
    let mut walk = Walk::new(net, from, to, number);
    [(); 3].map(|()| {
        let way = walk.choice(&Counters::new(), |_| 0);
        walk.go(way, &mut Counters::new());
        walk.router
    })
}

#[test]
fn a_group_with_a_link_to_the_own_router_only_is_reached_for_by_way_of_a_further_one() {
    // Router a has links to the groups a + 1 before and behind its own, to their routers a. From router 1 of group 0 to group 5, which is linked to router 3.
    let net = network(dragonfly(9, 4, 1, Arrangement::Circulant), VALIANT);
    let taken: BTreeMap<[u32; 3], u32> = (0..400).fold(BTreeMap::new(), |mut taken, number| {
        *taken.entry(first_routers(&net, (2, 40), number)).or_default() += 1;
        taken
    });
    // The third groups 1, 3, 4, 6 and 8 are linked to other routers; from where packets come in there they go to the router with the link to group 5.
    let others = [[0, 4, 7], [2, 14, 13], [3, 19, 16], [2, 26, 24], [0, 32, 34]];
    // Groups 2 and 7 are not. The first turn of router 1 is the second of the groups but its own and that: of 1, 3, ... group 3, which router 2 is linked to.
    // There router 12 has the link to group 2; one place down from it is 15.
    let by_three = [2, 14, 15];
    // Of 1, 2, ... group 2, to which it has a link itself; there router 11 has the link to group 7, and one place down is 10.
    let by_two = [9, 10, 10];
    let expected: Vec<[u32; 3]> = others.into_iter().chain([by_three]).collect();
    let mut direct = 0;
    for (routers, &packets) in &taken {
        if routers[0] == by_two[0] {
            assert_eq!(routers[1], by_two[1], "{routers:?}");
            direct += packets;
        } else {
            assert!(expected.contains(routers), "{routers:?}");
        }
    }
    // One of seven each: 57 of 400.
    assert!((30..90).contains(&direct), "{direct}");
    assert!((30..90).contains(&taken[&by_three]), "{}", taken[&by_three]);
}

#[test]
fn ways_over_a_further_group_are_the_same_if_the_clock_draws() {
    let clock = RoutingSpec::MacroValiant(DrawSpec { draw: Draw::Clock });
    let net = network(dragonfly(9, 4, 1, Arrangement::Circulant), clock);
    let taken: std::collections::BTreeSet<[u32; 3]> = (0..400)
        .map(|number| first_routers(&net, (2, 40), 100_000 + 977 * number))
        .collect();
    assert!(
        taken.contains(&[2, 14, 15]) && taken.contains(&[2, 14, 13]),
        "{taken:?}"
    );
    assert!(taken.iter().any(|routers| routers[..2] == [9, 10]));
}

#[test]
fn every_way_over_a_further_group_arrives_in_seven_hops_on_channels_of_its_own() {
    for (routing, most) in [(VALIANT, 6), (UGAL, 6), (PAR, 7)] {
        for draw in [Draw::Packet, Draw::Clock] {
            let routing = match routing {
                RoutingSpec::MacroPar(_) => RoutingSpec::MacroPar(DrawSpec { draw }),
                RoutingSpec::MacroUgal(_) => RoutingSpec::MacroUgal(DrawSpec { draw }),
                _ => RoutingSpec::MacroValiant(DrawSpec { draw }),
            };
            let net = network(dragonfly(9, 4, 1, Arrangement::Circulant), routing);
            let mut counters = Counters::new();
            let mut longest = 0;
            for number in 0..4_000u64 {
                let (from, to) = (number as u32 * 7 % 72, number as u32 * 11 % 72);
                if net.topology.router_of(from) == net.topology.router_of(to) {
                    continue;
                }
                let walk = Walk::new(&net, from, to, 1_000 * number);
                let waiting = |at: u32, port: u32| u64::from(mix(number << 32 ^ u64::from(at << 8 | port)) as u8 / 32);
                let (hops, last) = walk.hops(&mut counters, waiting);
                assert!(u32::from(last) < hops);
                longest = longest.max(hops);
            }
            assert_eq!(longest, most, "{draw:?}");
        }
    }
}
