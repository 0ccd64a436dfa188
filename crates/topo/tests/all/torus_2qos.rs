//! torus-2QoS: the ways of its manual page, datelines, and what is left of tori with dead cables and switches.

use proptest::prelude::*;
use topo::subnet::faults::{Removal, remove};
use topo::subnet::{Options, RoutingEngine, Tables, compact, find_cycle, route};
use topo::{Lattice, Subnet, Topology, TopologySpec};

fn torus(shape: &[u32], width: &[u32]) -> Topology {
    let lattice = Lattice {
        shape: shape.to_vec(),
        width: width.to_vec(),
        nodes_per_router: 2,
    };
    TopologySpec::Torus(lattice).build().unwrap()
}

fn options(shape: &[u32]) -> Options {
    Options {
        dims: shape.to_vec(),
        parted: true,
        threads: 1,
        ..Options::default()
    }
}

/// The subnet of a torus without some switches and cables; dead switches keep their numbers, and their hosts.
fn without(topology: &Topology, dead: &[u32], cut: &[(u32, u32)]) -> Subnet {
    let mut subnet = Subnet::of(topology);
    for switch in 0..subnet.n_switches() {
        for port in 0..subnet.switches[switch as usize].ports.len() {
            let Some(topo::subnet::End::Switch { switch: to, .. }) = subnet.switches[switch as usize].ports[port]
            else {
                continue;
            };
            let gone = |pair: &&(u32, u32)| **pair == (switch, to) || **pair == (to, switch);
            if dead.contains(&switch) || dead.contains(&to) || cut.iter().find(gone).is_some() {
                subnet.switches[switch as usize].ports[port] = None;
            }
        }
    }
    subnet
}

/// The switches of a path by coordinates, with the lane of each hop between two of them.
fn path(subnet: &Subnet, tables: &Tables, width: u32, from: (u32, u32), to: (u32, u32)) -> (Vec<(u32, u32)>, Vec<u8>) {
    let at = |(x, y): (u32, u32)| x + width * y;
    let host = subnet.hosts.iter().position(|host| host.switch == at(to)).unwrap() as u32;
    let way = tables.walk(subnet, at(from), host).unwrap();
    let map = tables.map.as_ref().unwrap();
    let lanes = map.lanes(subnet, tables.lane(at(from), host), &way).collect();
    (
        way.iter()
            .map(|exit| (exit.switch % width, exit.switch / width))
            .collect(),
        lanes,
    )
}

const S: (u32, u32) = (1, 1);
const D: (u32, u32) = (3, 3);

#[test]
fn a_path_goes_as_the_manual_says_on_a_whole_torus() {
    let subnet = Subnet::of(&torus(&[6, 5], &[]));
    let tables = route(RoutingEngine::Torus2Qos, &subnet, &options(&[6, 5])).unwrap();
    assert_eq!(tables.n_lanes, 2);
    let (way, lanes) = path(&subnet, &tables, 6, S, D);
    assert_eq!(way, [S, (2, 1), (3, 1), (3, 2), D]);
    assert_eq!(lanes, [0, 0, 0, 0]);
    // Over both datelines: x from 5 to 0, y from 4 to 0.
    let (way, lanes) = path(&subnet, &tables, 6, (4, 3), (0, 0));
    assert_eq!(way, [(4, 3), (5, 3), (0, 3), (0, 4), (0, 0)]);
    assert_eq!(lanes, [1, 1, 1, 1]);
    // Half-way round, and a dateline in the second dimension alone.
    let (way, lanes) = path(&subnet, &tables, 6, (4, 4), (1, 0));
    assert_eq!(way, [(4, 4), (3, 4), (2, 4), (1, 4), (1, 0)]);
    assert_eq!(lanes, [0, 0, 0, 1]);
}

#[test]
fn a_broken_ring_is_gone_round_the_other_way_on_the_same_level() {
    let topology = torus(&[6, 5], &[]);
    let at = |x: u32, y: u32| x + 6 * y;
    for cut in [(at(1, 1), at(2, 1)), (at(2, 1), at(3, 1))] {
        let subnet = without(&topology, &[], &[cut]);
        let tables = route(RoutingEngine::Torus2Qos, &subnet, &options(&[6, 5])).unwrap();
        let (way, lanes) = path(&subnet, &tables, 6, S, D);
        assert_eq!(way, [S, (0, 1), (5, 1), (4, 1), (3, 1), (3, 2), D]);
        assert_eq!(lanes, [0; 6]);
        assert_eq!(find_cycle(&subnet, &tables), None);
    }
    let parted = without(&topology, &[], &[(at(2, 1), at(3, 1)), (at(3, 1), at(4, 1))]);
    let error = route(RoutingEngine::Torus2Qos, &parted, &options(&[6, 5])).unwrap_err();
    assert!(error.reason.contains("failures have parted the line of"), "{error}");
}

#[test]
fn a_dead_corner_is_gone_round_by_a_turn_before_it_on_a_lane_of_its_own() {
    let at = |x: u32, y: u32| x + 6 * y;
    let subnet = without(&torus(&[6, 5], &[]), &[at(3, 1)], &[]);
    let tables = route(RoutingEngine::Torus2Qos, &subnet, &options(&[6, 5])).unwrap();
    let (way, lanes) = path(&subnet, &tables, 6, S, D);
    assert_eq!(way, [S, (2, 1), (2, 2), (3, 2), D]);
    assert_eq!(lanes, [0, 0, 2, 0]);
    // Two that are neighbours in the last dimension.
    let subnet = without(&torus(&[6, 6], &[]), &[at(3, 1), at(3, 2)], &[]);
    let tables = route(RoutingEngine::Torus2Qos, &subnet, &options(&[6, 6])).unwrap();
    let (way, lanes) = path(&subnet, &tables, 6, S, (3, 4));
    assert_eq!(way, [S, (2, 1), (2, 2), (2, 3), (3, 3), (3, 4)]);
    assert_eq!(lanes, [0, 0, 0, 2, 0]);
    // In another dimension they can deadlock, as the manual says.
    let subnet = without(&torus(&[6, 6], &[]), &[at(3, 1), at(4, 1)], &[]);
    let error = route(RoutingEngine::Torus2Qos, &subnet, &options(&[6, 6])).unwrap_err();
    assert!(error.reason.contains("can deadlock, lane"), "{error}");
}

#[test]
fn what_is_no_torus_is_refused() {
    let subnet = Subnet::of(&torus(&[4, 4], &[]));
    for (shape, expected) in [
        (vec![], "rings of four switches"),
        (vec![4, 5], "is not that of a torus"),
        (vec![2, 2, 2, 2], "at most 3 dimensions"),
        (vec![2, 8], "are no neighbours on a torus"),
    ] {
        let error = route(RoutingEngine::Torus2Qos, &subnet, &options(&shape)).unwrap_err();
        assert!(error.reason.contains(expected), "{shape:?}: {error}");
    }
    let few = Options {
        lanes: 1,
        ..options(&[4, 4])
    };
    let error = route(RoutingEngine::Torus2Qos, &subnet, &few).unwrap_err();
    assert!(error.reason.contains("2 lanes are needed, 1 allowed"), "{error}");
    // Numbers have gaps where a switch has been taken out.
    let left = remove(&subnet, &[Removal::Switch("(1,1)".into())]).unwrap();
    assert!(route(RoutingEngine::Torus2Qos, &left.subnet, &options(&[4, 4])).is_err());
}

#[test]
fn one_lane_for_all_levels_has_the_cycles_of_rings() {
    let subnet = Subnet::of(&torus(&[5, 4], &[]));
    let mut tables = route(RoutingEngine::Torus2Qos, &subnet, &options(&[5, 4])).unwrap();
    assert_eq!(find_cycle(&subnet, &tables), None);
    tables.lanes.fill(0);
    let cycle = find_cycle(&subnet, &tables).unwrap();
    assert_eq!((cycle.lane, cycle.channels.len()), (0, 5));
    // By the check for lanes that paths keep, too.
    tables.map = None;
    assert!(find_cycle(&subnet, &tables).is_some());
}

/// Lanes are told by the pairs whose paths take them: on a ring of five the second one is for those over the dateline alone.
#[test]
fn pairs_are_counted_on_every_lane_of_their_path() {
    let subnet = Subnet::of(&torus(&[5, 5], &[]));
    let tables = route(RoutingEngine::Torus2Qos, &subnet, &options(&[5, 5])).unwrap();
    let found = topo::subnet::analysis::lanes(&subnet, &tables, 0);
    // Of the 25 pairs of coordinates 5 are no way, 14 do not cross and 6 do: 3 -> 0, 4 -> 0, 4 -> 1 and back.
    let (stays, crosses, none) = (14_u64, 6_u64, 5_u64);
    let pairs = |own: u64, other: u64| 4 * (own * own + 2 * own * (other + none));
    let expected = [pairs(stays, crosses), pairs(crosses, stays)];
    assert_eq!(found.iter().map(|lane| lane.pairs).collect::<Vec<_>>(), expected);
    assert!(found.iter().all(|lane| lane.free));
}

proptest! {
    /// Of any torus with a dead switch and a dead cable, either or none: all paths arrive, no circle of channels waits, and on a whole one hops are fewest;
    /// files give back what they were given.
    #[test]
    fn paths_arrive_and_cannot_deadlock(
        shape in prop::collection::vec(2u32..6, 1..=3),
        wide in prop::bool::ANY,
        dead in prop::option::of(any::<prop::sample::Index>()),
        cut in prop::option::of((any::<prop::sample::Index>(), any::<prop::sample::Index>())),
    ) {
        let width = if wide { vec![2; shape.len()] } else { vec![] };
        let topology = torus(&shape, &width);
        let n = topology.n_routers();
        let dead: Vec<u32> = dead.map(|dead| dead.index(n as usize) as u32).into_iter().collect();
        let cut: Vec<(u32, u32)> = cut.map(|(from, port)| {
            let from = from.index(n as usize) as u32;
            let radix = topology.wiring().radix(from);
            (from, topology.wiring().peer(from, port.index(radix as usize) as u16).0)
        }).into_iter().collect();
        let is_whole = dead.is_empty() && cut.is_empty();
        let subnet = without(&topology, &dead, &cut);
        let tables = match route(RoutingEngine::Torus2Qos, &subnet, &options(&shape)) {
            Ok(tables) => tables,
            Err(error) => {
                // A ring of two has no other way round, nor a ring that both have broken; a dead corner may have no turn before it.
                let may_be = !is_whole && (shape.contains(&2) || (!dead.is_empty() && !cut.is_empty()) || shape.len() == 1);
                prop_assert!(may_be, "{shape:?} {dead:?} {cut:?}: {error}");
                return Ok(());
            }
        };
        prop_assert_eq!(find_cycle(&subnet, &tables), None);
        // Who has lost all cables is dead as well.
        let is_dead = |switch: u32| subnet.cables(switch).next().is_none();
        for from in (0..n).filter(|&from| !is_dead(from)) {
            for (host, home) in (0..).zip(&subnet.hosts) {
                if is_dead(home.switch) {
                    continue;
                }
                let way = tables.walk(&subnet, from, host);
                prop_assert!(way.is_ok(), "{from} to {host}: {way:?}");
                if is_whole {
                    prop_assert_eq!(way.unwrap().len() as u32, topology.distance(from, home.switch) + 1);
                }
            }
        }
        let mut file = Vec::new();
        compact::write(&subnet, "torus-2qos", &tables, &mut file).unwrap();
        prop_assert_eq!(compact::read(&file, &subnet).unwrap().tables, tables);
    }
}
