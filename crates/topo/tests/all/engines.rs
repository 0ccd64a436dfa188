//! What every routing engine promises, on random subnets, on whole and damaged networks, and what it refuses.

use crate::common::{self, hyperx, torus};
use proptest::prelude::*;
use std::collections::VecDeque;
use topo::presets::preset;
use topo::subnet::analysis::{Fate, Paths, Questions, ShiftFigures};
use topo::subnet::engine::{JobDemand, PathDemands};
use topo::subnet::{
    End, Host, Options, Report, RouteError, RoutingEngine, Subnet, Switch, Tables, find_cycle, route, route_with_report,
};
use topo::{Topology, TopologySpec};

/// A subnet of switches with these hosts, on the first ports, and cables, in order.
fn subnet(hosts: &[u32], cables: &[(u32, u32)], guids: &[u64]) -> Subnet {
    let mut it = Subnet::default();
    for (s, &n) in hosts.iter().enumerate() {
        let mut ports = vec![None];
        for _ in 0..n {
            it.hosts.push(Host {
                name: format!("h{}", it.hosts.len()),
                guid: 0x1_0000 + it.hosts.len() as u64,
                switch: s as u32,
                port: ports.len() as u16,
            });
            ports.push(Some(End::Host(it.hosts.len() as u32 - 1)));
        }
        it.switches.push(Switch {
            name: format!("s{s}"),
            guid: guids[s],
            ports,
        });
    }
    for &(a, b) in cables {
        let (p, q) = (it.switches[a as usize].ports.len(), it.switches[b as usize].ports.len());
        it.switches[a as usize].ports.push(Some(End::Switch {
            switch: b,
            port: q as u16,
        }));
        it.switches[b as usize].ports.push(Some(End::Switch {
            switch: a,
            port: p as u16,
        }));
    }
    assert_eq!(it.verify(), Ok(()));
    it
}

pub(crate) fn built(spec: TopologySpec) -> Topology {
    spec.build().unwrap()
}

fn tree(down: &[u32], up: &[u32], up_width: &[u32]) -> Subnet {
    Subnet::of(&built(common::fat_tree(down, up, up_width)))
}

/// Takes cables between switches away: those whose number, counted from the lower end, is given.
pub(crate) fn without(mut subnet: Subnet, cables: impl Fn(usize) -> bool) -> Subnet {
    let mut k = 0;
    for s in 0..subnet.n_switches() {
        for (p, to, q) in subnet.cables(s).collect::<Vec<_>>() {
            if (s, p) < (to, q) {
                if cables(k) {
                    subnet.switches[s as usize].ports[usize::from(p)] = None;
                    subnet.switches[to as usize].ports[usize::from(q)] = None;
                }
                k += 1;
            }
        }
    }
    assert_eq!(subnet.verify(), Ok(()));
    subnet
}

/// Cables from a switch to all others by breadth-first search; `u32::MAX` where there is no way.
fn distances(subnet: &Subnet, from: u32) -> Vec<u32> {
    let mut distance = vec![u32::MAX; subnet.switches.len()];
    distance[from as usize] = 0;
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        for (_, to, _) in subnet.cables(at) {
            if distance[to as usize] == u32::MAX {
                distance[to as usize] = distance[at as usize] + 1;
                queue.push_back(to);
            }
        }
    }
    distance
}

/// Whether no path goes up after it went down, by the ranks that follow from the roots.
fn is_up_down(subnet: &Subnet, tables: &Tables, report: &Report) -> bool {
    let from_roots: Vec<Vec<u32>> = report.roots.iter().map(|&root| distances(subnet, root)).collect();
    let rank = |s: u32| from_roots.iter().map(|distance| distance[s as usize]).min().unwrap();
    let key = |s: u32| {
        (
            rank(s),
            if rank(s) == 0 {
                0
            } else {
                subnet.switches[s as usize].guid
            },
        )
    };
    paths(subnet, tables).all(|(_, way)| {
        let switches: Vec<u32> = way.iter().map(|exit| exit.switch).collect();
        // Between roots both directions are up: keys are equal there.
        let ups: Vec<bool> = switches.windows(2).map(|pair| key(pair[1]) <= key(pair[0])).collect();
        ups.windows(2).all(|pair| pair[0] || !pair[1])
    })
}

/// All paths from switches with hosts, with their addresses. Panics where one does not arrive.
fn paths<'a>(subnet: &'a Subnet, tables: &'a Tables) -> impl Iterator<Item = (u32, Vec<topo::subnet::Exit>)> + 'a {
    let with_hosts = |&s: &u32| subnet.hosts.iter().any(|host| host.switch == s);
    (0..subnet.n_switches()).filter(with_hosts).flat_map(move |s| {
        (0..subnet.n_addresses()).map(move |address| {
            let way = tables.walk(subnet, s, address);
            (
                address,
                way.unwrap_or_else(|way| panic!("from switch {s} to address {address}: {way:?}")),
            )
        })
    })
}

/// Everything that an engine promises on any subnet.
pub(crate) fn keeps_its_promises(engine: RoutingEngine, subnet: &Subnet, options: &Options) -> (Tables, Report) {
    let (tables, report) = route_with_report(engine, subnet, options).unwrap_or_else(|error| panic!("{error}"));
    let distance: Vec<Vec<u32>> = (0..subnet.n_switches()).map(|s| distances(subnet, s)).collect();
    for (address, way) in paths(subnet, &tables) {
        let (from, to) = (way[0].switch, subnet.hosts[(address >> subnet.lmc) as usize].switch);
        let least = distance[from as usize][to as usize];
        assert!(way.len() as u32 > least);
        assert!(
            !engine.minimal() || way.len() as u32 == least + 1,
            "{}: {way:?}",
            engine.name()
        );
        assert!(tables.lane(from, address) < tables.n_lanes && tables.n_lanes <= options.lanes);
    }
    if engine.deadlock_free() {
        let cycle = find_cycle(subnet, &tables);
        assert_eq!(cycle.map(|cycle| cycle.describe(subnet)), None, "{}", engine.name());
    }
    if engine == RoutingEngine::UpDown {
        assert!(is_up_down(subnet, &tables, &report));
    }
    (tables, report)
}

/// The law of forwarding tables: whatever they are, a pair of hosts arrives or is told, at each address, and figures count it. `whole`:
/// none may be lost.
fn every_pair_is_reached_or_told(subnet: &Subnet, tables: &Tables, whole: bool) {
    let n = subnet.n_hosts();
    let pairs = || (0..n).flat_map(|from| (0..n).filter(move |&to| to != from).map(move |to| (from, to)));
    // A walk of its own: as many steps as there are switches, then it is a loop.
    let walk = |from: u32, to: u32, path: u32| {
        let (mut at, address) = (subnet.hosts[from as usize].switch, (to << subnet.lmc) + path);
        let mut passed = vec![at];
        loop {
            match subnet.end(at, tables.port(at, address)) {
                Some(End::Host(host)) if host == to => return Ok(passed.len() as u32 - 1),
                Some(End::Host(_)) => return Err((Fate::WrongHost, at)),
                None => return Err((Fate::DeadEnd, at)),
                Some(End::Switch { switch, .. }) if passed.contains(&switch) => return Err((Fate::Loop, switch)),
                Some(End::Switch { switch, .. }) => {
                    passed.push(switch);
                    at = switch;
                }
            }
        }
    };
    let mut lost_at = vec![0u64; subnet.paths() as usize];
    for path in 0..subnet.paths() {
        let found = Paths::new(subnet, tables, path);
        let lost = found.lost();
        let told = |from: u32, to: u32| {
            let switch = subnet.hosts[from as usize].switch;
            lost.iter().find(|way| (way.switch, way.host) == (switch, to))
        };
        let mut hops = 0;
        for (from, to) in pairs() {
            match (walk(from, to, path), told(from, to)) {
                (Ok(far), None) => {
                    assert_eq!(found.hops(from, to), Some(far), "{from} to {to}");
                    hops += u64::from(far);
                }
                (Err(end), Some(way)) => {
                    assert_eq!(found.hops(from, to), None, "{from} to {to}");
                    assert_eq!((way.fate, way.at), end, "{from} to {to}");
                    lost_at[path as usize] += 1;
                }
                (walked, told) => panic!("{from} to {to}: {walked:?}, told {told:?}"),
            }
        }
        let n_lost = lost_at[path as usize];
        assert!(!whole || n_lost == 0);
        assert_eq!(lost.iter().map(|way| u64::from(way.senders)).sum::<u64>(), n_lost);
        assert_eq!(found.all_to_all().iter().sum::<u64>(), hops);
    }
    let all: u64 = lost_at.iter().sum();
    for path in 0..subnet.paths() {
        let questions = Questions {
            samples: 8,
            ..Questions::default()
        };
        let (summary, _, shifts) = Paths::new(subnet, tables, path).summary(&questions);
        let lost = lost_at[path as usize];
        assert_eq!((summary.lengths.broken, summary.broken_elsewhere), (lost, all - lost));
        // What no sum of pairs can stand for is not given.
        let given = (lost == 0, lost == 0 && n > 1);
        assert_eq!((summary.uniform_bound.is_some(), summary.lengths.mean.is_some()), given);
        assert_eq!((summary.ebb.is_some(), summary.shifts.is_some()), (n > 1, n > 1));
        assert_eq!(summary.broken_examples.is_empty(), lost == 0);
        // All shifts together have every pair once; without it a pair's share is 0, with it at most 1.
        assert_eq!(shifts.iter().map(|shift| u64::from(shift.lost)).sum::<u64>(), lost);
        for shift in &shifts {
            let arrive = 1.0 - f64::from(shift.lost) / f64::from(n);
            let least = arrive / f64::from(shift.max_congestion.max(1));
            assert!((least - 1e-12..=arrive + 1e-12).contains(&shift.mean), "{shift:?}");
        }
    }
}

/// Engines for any shape.
const GENERAL: [RoutingEngine; 7] = [
    RoutingEngine::MinHop,
    RoutingEngine::Dor,
    RoutingEngine::UpDown,
    RoutingEngine::Sssp,
    RoutingEngine::Dfsssp,
    RoutingEngine::Lash,
    RoutingEngine::Nue,
];

/// A connected subnet: a random tree and random further cables, also parallel ones.
fn any_subnet() -> impl Strategy<Value = Subnet> {
    (2usize..14).prop_flat_map(|n| {
        let hosts = prop::collection::vec(0u32..4, n);
        let tree = prop::collection::vec(any::<u32>(), n - 1);
        let more = prop::collection::vec((0..n as u32, 0..n as u32), 0..2 * n);
        let guids = Just((0..n as u64).map(|s| 0x77_0000 + 37 * s).collect::<Vec<u64>>()).prop_shuffle();
        (hosts, tree, more, guids, 0u8..3).prop_map(|(hosts, tree, more, guids, lmc)| {
            let tree = (1u32..).zip(tree).map(|(s, parent)| (parent % s, s));
            let more = more.into_iter().filter(|(a, b)| a != b);
            let mut subnet = subnet(&hosts, &tree.chain(more).collect::<Vec<_>>(), &guids);
            subnet.lmc = lmc;
            subnet
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_engine_keeps_its_promises_on_any_subnet(subnet in any_subnet(), root in any::<u32>()) {
        for engine in GENERAL {
            let options = Options { lanes: 15, ..Options::default() };
            let (tables, report) = keeps_its_promises(engine, &subnet, &options);
            prop_assert_eq!(find_cycle(&subnet, &tables).is_some() && engine.deadlock_free(), false);
            if engine == RoutingEngine::Dfsssp {
                let lids = u64::from(subnet.n_addresses() + subnet.n_switches());
                prop_assert_eq!(report.before.iter().sum::<u64>(), lids * (lids - 1));
                // The number of lanes that it says it needs is enough, and is not enough less one.
                let exact = Options { lanes: report.lanes_needed, ..Options::default() };
                prop_assert!(route(engine, &subnet, &exact).is_ok());
                if report.lanes_needed > 1 {
                    let fewer = Options { lanes: report.lanes_needed - 1, ..Options::default() };
                    prop_assert!(route(engine, &subnet, &fewer).is_err());
                }
            }
        }
        for lanes in 1..4 {
            keeps_its_promises(RoutingEngine::Nue, &subnet, &Options { lanes, ..Options::default() });
        }
        let roots = vec![root % subnet.n_switches()];
        keeps_its_promises(RoutingEngine::UpDown, &subnet, &Options { roots, ..Options::default() });
    }

    #[test]
    fn tables_reach_every_pair_of_hosts_or_tell_which_they_lose(
        subnet in any_subnet(),
        engine in 0..GENERAL.len(),
        damage in prop::collection::vec((any::<u32>(), 0u16..6), 0..8),
    ) {
        let mut tables = route(GENERAL[engine], &subnet, &Options { lanes: 15, ..Options::default() }).unwrap();
        every_pair_is_reached_or_told(&subnet, &tables, damage.is_empty());
        // Dead ends, ports without a cable, other hosts, loops.
        if subnet.n_addresses() > 0 {
            for (entry, port) in damage {
                let entries = tables.ports.len();
                tables.ports[entry as usize % entries] = port;
            }
        }
        every_pair_is_reached_or_told(&subnet, &tables, false);
    }

    #[test]
    fn the_order_of_switches_and_threads_is_all_that_could_matter(subnet in any_subnet()) {
        // By byte-swapped identifiers: the last byte counts most.
        let mut order: Vec<u32> = (0..subnet.n_switches()).collect();
        order.sort_by_key(|&s| subnet.switches[s as usize].guid.to_be_bytes().iter().rev().copied().collect::<Vec<u8>>());
        for engine in GENERAL {
            let by_rule = route_with_report(engine, &subnet, &Options { lanes: 15, threads: 1, ..Options::default() });
            let given = route_with_report(engine, &subnet, &Options { lanes: 15, order: order.clone(), threads: 3, ..Options::default() });
            prop_assert!(by_rule == given);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn ftree_routes_damaged_trees_by_their_roots(
        levels in prop::collection::vec((2u32..4, 1u32..4, 1u32..3), 1..3),
        hosts in 1u32..4,
        lost in prop::collection::vec(0usize..60, 0..4),
    ) {
        let down: Vec<u32> = std::iter::once(hosts).chain(levels.iter().map(|level| level.0)).collect();
        let up: Vec<u32> = levels.iter().map(|level| level.1).collect();
        let width: Vec<u32> = levels.iter().map(|level| level.2).collect();
        let whole = tree(&down, &up, &width);
        let roots = route_with_report(RoutingEngine::Ftree, &whole, &Options::default()).unwrap().1.roots;
        let subnet = without(whole, |k| lost.contains(&k));
        let options = Options { roots, ..Options::default() };
        match route(RoutingEngine::Ftree, &subnet, &options) {
            Ok(_) => {
                keeps_its_promises(RoutingEngine::Ftree, &subnet, &options);
            }
            // Where a switch lost its last cable up there may be no way that only climbs and descends: then not by another rule of
            // that kind either.
            Err(error) => {
                let refused = ["no way", "not a fat-tree"];
                prop_assert!(refused.iter().any(|words| error.reason.contains(words)), "{}", error);
                prop_assert!(!lost.is_empty());
                if error.reason.contains("no way from") {
                    prop_assert!(route(RoutingEngine::UpDown, &subnet, &options).is_err());
                }
            }
        }
    }
}

#[test]
fn sums_of_weights_beyond_31_bits_reach_everywhere() {
    // 40,005 addresses in a row of five switches: their square is 1.6 10^9, and the ends are four hops apart.
    let subnet = subnet(&[8000; 5], &[(0, 1), (1, 2), (2, 3), (3, 4)], &[1, 2, 3, 4, 5]);
    let tables = route(RoutingEngine::Sssp, &subnet, &Options::default()).unwrap();
    for address in [0, 8000, 39_999] {
        for s in 0..5 {
            let way = tables.walk(&subnet, s, address).unwrap();
            assert_eq!(way.len() as u32, s.abs_diff(address / 8000) + 1);
        }
    }
}

#[test]
fn further_addresses_of_a_host_take_other_neighbours_by_minhop() {
    // Two leaves joined over three spines: four addresses use all three, and all cables serve four thirds of the hosts' addresses.
    let cables = [(0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4)];
    let mut subnet = subnet(&[3, 3, 0, 0, 0], &cables, &[1, 2, 3, 4, 5]);
    subnet.lmc = 2;
    let tables = route(RoutingEngine::MinHop, &subnet, &Options::default()).unwrap();
    let mut served = [0; 8];
    for host in 3..6 {
        let mut ports: Vec<u16> = (4 * host..4 * host + 4)
            .map(|address| tables.port(0, address))
            .collect();
        ports.iter().for_each(|&port| served[usize::from(port)] += 1);
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports, [4, 5, 6]);
    }
    assert_eq!(served[4..7], [4, 4, 4]);
}

#[test]
fn whole_and_damaged_networks_are_routed() {
    for (name, spec) in [
        ("torus", torus(&[4, 3], &[1, 1], 2)),
        ("torus with two cables", torus(&[5, 2], &[2, 1], 1)),
        ("hyperx", hyperx(&[4, 3], &[1, 2], 2)),
        ("hyperx of three dimensions", hyperx(&[3, 3, 2], &[1, 1, 1], 1)),
    ] {
        let whole = Subnet::of(&built(spec));
        for damage in [0, 7, 5] {
            let subnet = without(whole.clone(), |k| damage > 0 && k % damage == 1);
            assert!(
                distances(&subnet, 0).iter().all(|&hops| hops < u32::MAX),
                "{name} falls apart"
            );
            for engine in GENERAL {
                keeps_its_promises(
                    engine,
                    &subnet,
                    &Options {
                        lanes: 15,
                        ..Options::default()
                    },
                );
            }
        }
    }
}

#[test]
fn a_switch_that_lost_all_cables_is_named_if_it_has_hosts() {
    let cut = |hosts: &[u32]| subnet(hosts, &[(0, 1)], &[1, 2, 3]);
    for engine in GENERAL {
        let error = route(engine, &cut(&[1, 1, 1]), &Options::default()).unwrap_err();
        assert!(
            error.reason.contains("`s0`") && error.reason.contains("`h2`"),
            "{error}"
        );
        keeps_its_promises(engine, &cut(&[1, 1, 0]), &Options::default());
    }
}

/// Flows per directed cable between switches, all to all.
fn loads(subnet: &Subnet, tables: &Tables) -> Vec<u64> {
    let width = subnet.switches.iter().map(|switch| switch.ports.len()).max().unwrap();
    let mut loads = vec![0; width * subnet.switches.len()];
    for (address, way) in paths(subnet, tables) {
        let from = subnet.hosts.iter().filter(|host| host.switch == way[0].switch).count() as u64;
        assert_eq!(subnet.lmc, 0, "address {address}");
        for exit in &way[..way.len() - 1] {
            loads[exit.switch as usize * width + usize::from(exit.port)] += from;
        }
    }
    let cables = (0..subnet.n_switches()).flat_map(|s| {
        subnet
            .cables(s)
            .map(move |(p, _, _)| s as usize * width + usize::from(p))
    });
    cables.map(|k| loads[k]).collect()
}

/// Most flows on a cable when every host sends to the one `shift` further on.
fn congestion_of_shift(subnet: &Subnet, tables: &Tables, shift: u32) -> usize {
    let n = subnet.n_hosts();
    let mut cables = Vec::new();
    for (from, host) in (0..).zip(&subnet.hosts) {
        let way = tables.walk(subnet, host.switch, (from + shift) % n).unwrap();
        cables.extend(way[..way.len() - 1].iter().map(|exit| (exit.switch, exit.port)));
    }
    cables.sort_unstable();
    cables.chunk_by(|a, b| a == b).map(<[_]>::len).max().unwrap_or(0)
}

#[test]
fn ftree_routes_trees_of_all_shapes_by_minimal_ways() {
    for (down, up, parallel) in [
        (&[4, 4][..], &[4][..], &[1][..]),
        (&[3, 4], &[2], &[2]),
        (&[2, 3, 4], &[2, 3], &[1, 1]),
        (&[4, 2, 3], &[2, 2], &[2, 1]),
    ] {
        let subnet = tree(down, up, parallel);
        let (tables, report) = keeps_its_promises(RoutingEngine::Ftree, &subnet, &Options::default());
        for (address, way) in paths(&subnet, &tables) {
            let to = subnet.hosts[address as usize].switch;
            assert_eq!(way.len() as u32, distances(&subnet, way[0].switch)[to as usize] + 1);
        }
        // The same with the roots that it found.
        let roots = Options {
            roots: report.roots.clone(),
            ..Options::default()
        };
        assert_eq!(route(RoutingEngine::Ftree, &subnet, &roots).unwrap(), tables);
    }
}

#[test]
fn four_ary_three_tree_has_the_loads_of_the_peer() {
    // OpenSM: at most 60 flows on a cable with ftree; 192 and 96 of 256 cables idle with minhop, which balances each switch for itself.
    let subnet = tree(&[4, 4, 4], &[4, 4], &[1, 1]);
    let most = |engine| {
        let loads = loads(&subnet, &route(engine, &subnet, &Options::default()).unwrap());
        assert_eq!(loads.len(), 256);
        (
            *loads.iter().max().unwrap(),
            loads.iter().filter(|&&load| load == 0).count(),
        )
    };
    assert_eq!(most(RoutingEngine::Ftree), (60, 0));
    assert_eq!(most(RoutingEngine::MinHop), (192, 96));
}

#[test]
fn ftree_on_48_leaves_of_14_hosts_has_the_figures_of_the_peer() {
    // OpenSM on this wiring: mean of 1 / congestion 0.987 over all shifts and 0.814 over random matchings.
    let subnet = Subnet::of(&built(preset("tsubame2-fat-tree").unwrap()));
    let (tables, _) = keeps_its_promises(RoutingEngine::Ftree, &subnet, &Options::default());
    // No switch goes up to come down again where it stands above the host's leaf: a top leads to six middle switches of every pod.
    for (address, host) in (0..).zip(&subnet.hosts) {
        let far = distances(&subnet, host.switch);
        for s in 0..subnet.n_switches() {
            let way = tables.walk(&subnet, s, address).unwrap();
            assert_eq!(way.len() as u32, far[s as usize] + 1, "switch {s} to {address}");
        }
    }
    let paths = Paths::new(&subnet, &tables, 0);
    let shifts = ShiftFigures::of(&paths.shifts(&paths.shift_distances(u32::MAX)));
    assert_eq!(shifts.shifts, 671);
    assert_eq!(format!("{:.3}", shifts.mean_inverse_congestion), "0.987");
    // Matchings are drawn otherwise there: samples of as many, and the third decimal is rounded.
    let found = paths.bisection(1000, 1, false);
    let apart = (found.mean - 0.814).abs();
    assert!(apart <= 0.0005 + 2f64.sqrt() * found.ci95, "{found:?}");
}

#[test]
fn shifts_meet_no_contention_on_full_trees_with_ftree() {
    for (down, up) in [(&[4, 4][..], &[4][..]), (&[4, 4, 4], &[4, 4]), (&[3, 3, 3], &[3, 3])] {
        let subnet = tree(down, up, &vec![1; up.len()]);
        let tables = route(RoutingEngine::Ftree, &subnet, &Options::default()).unwrap();
        for shift in 1..subnet.n_hosts() {
            assert_eq!(
                congestion_of_shift(&subnet, &tables, shift),
                1,
                "{down:?}: shift {shift}"
            );
        }
        // By min-hop some shifts do.
        let tables = route(RoutingEngine::MinHop, &subnet, &Options::default()).unwrap();
        let worst = (1..subnet.n_hosts())
            .map(|shift| congestion_of_shift(&subnet, &tables, shift))
            .max();
        assert!(down.len() == 2 || worst > Some(1), "{down:?}");
    }
}

#[test]
fn ftree_keeps_leaves_with_fewer_hosts_aligned() {
    let mut subnet = tree(&[4, 4], &[4], &[1]);
    let full = route(RoutingEngine::Ftree, &subnet, &Options::default()).unwrap();
    // The last host of the first leaf goes: the numbers of all hosts behind it fall by one, their ways stay.
    let host = subnet.hosts.remove(3);
    subnet.switches[host.switch as usize].ports[usize::from(host.port)] = None;
    for (h, host) in subnet.hosts.iter().enumerate() {
        subnet.switches[host.switch as usize].ports[usize::from(host.port)] = Some(End::Host(h as u32));
    }
    let (fewer, _) = keeps_its_promises(RoutingEngine::Ftree, &subnet, &Options::default());
    for s in 0..subnet.n_switches() {
        for host in 0..15 {
            assert_eq!(
                fewer.port(s, host),
                full.port(s, host + u32::from(host >= 3)),
                "switch {s} to host {host}"
            );
        }
    }
}

#[test]
fn refusals_name_the_reason_and_what_helps() {
    let ring = Subnet::of(&built(torus(&[8], &[1], 2)));
    let whole_tree = tree(&[2, 3, 4], &[2, 3], &[1, 1]);
    let uneven = without(whole_tree.clone(), |k| k == 0);
    let refused =
        |engine, subnet: &Subnet, options: Options| -> RouteError { route(engine, subnet, &options).unwrap_err() };
    let lanes = |lanes| Options {
        lanes,
        ..Options::default()
    };
    let roots = |roots: &[u32]| Options {
        roots: roots.to_vec(),
        ..Options::default()
    };
    let mut twice = whole_tree.clone();
    twice.lmc = 1;
    let mut hx = Subnet::of(&built(hyperx(&[4, 4], &[1, 1], 1)));
    let dims = |dims: &[u32]| Options {
        dims: dims.to_vec(),
        ..Options::default()
    };
    let of_job = |hosts: Vec<u32>, pair| Options {
        demands: PathDemands::Jobs(vec![JobDemand {
            hosts,
            pairs: vec![pair],
        }]),
        ..dims(&[4, 4])
    };
    for (error, reason, hint) in [
        (
            refused(RoutingEngine::Ftree, &ring, Options::default()),
            "not a fat-tree",
            "updn",
        ),
        (
            refused(RoutingEngine::Ftree, &ring, roots(&[0])),
            "not a fat-tree",
            "roots",
        ),
        (
            refused(RoutingEngine::Ftree, &uneven, Options::default()),
            "not a regular tree",
            "give the roots",
        ),
        (
            refused(RoutingEngine::Ftree, &twice, Options::default()),
            "LMC is 1",
            "LMC 0",
        ),
        (
            refused(RoutingEngine::Dfsssp, &ring, lanes(1)),
            "1 lanes are too few",
            "more lanes",
        ),
        (
            refused(RoutingEngine::Lash, &ring, lanes(3)),
            "3 lanes are too few",
            "more lanes",
        ),
        (
            refused(RoutingEngine::UpDown, &ring, roots(&[0, 1, 2, 3, 4, 5, 6, 7])),
            "can deadlock",
            "no cable joins",
        ),
        (
            refused(RoutingEngine::UpDown, &ring, roots(&[9])),
            "root 9",
            "number roots",
        ),
        (refused(RoutingEngine::Sssp, &ring, lanes(0)), "0 lanes", "1 to 15"),
        (
            refused(
                RoutingEngine::Sssp,
                &ring,
                Options {
                    order: vec![0, 1, 1],
                    ..Options::default()
                },
            ),
            "twice",
            "once",
        ),
        (
            refused(
                RoutingEngine::Sssp,
                &ring,
                Options {
                    order: vec![0, 1],
                    ..Options::default()
                },
            ),
            "2 of 8",
            "once",
        ),
        (
            refused(RoutingEngine::Sssp, &Subnet::default(), Options::default()),
            "no switch",
            "at least one",
        ),
        (refused(RoutingEngine::Parx, &hx, dims(&[4, 4])), "LMC is 0", "LMC 2"),
        (
            {
                hx.lmc = 2;
                refused(RoutingEngine::Parx, &hx, dims(&[8, 2]))
            },
            "not a HyperX of 8 x 2",
            "coordinates",
        ),
        (refused(RoutingEngine::Parx, &hx, dims(&[16])), "[16]", "two dimensions"),
        (
            refused(RoutingEngine::Parx, &hx, of_job(vec![0, 1], (0, 2, 1.0))),
            "a job of 2 hosts has a demand from 0 to 2",
            "from 0",
        ),
        (
            refused(RoutingEngine::Parx, &hx, of_job(vec![0, 99], (0, 1, 1.0))),
            "host 99, of 16",
            "as the subnet",
        ),
        (
            refused(RoutingEngine::Parx, &hx, of_job(vec![0, 2], (0, 1, -1.0))),
            "`node 0` to `node 2` is -1",
            "not negative",
        ),
    ] {
        assert!(error.reason.contains(reason), "{error}");
        assert!(error.hint.contains(hint), "{error}");
    }
    // An irregular tree is routed once its roots are known.
    let found = route_with_report(RoutingEngine::Ftree, &whole_tree, &Options::default())
        .unwrap()
        .1
        .roots;
    keeps_its_promises(RoutingEngine::Ftree, &uneven, &roots(&found));
}

/// Two spines above three leaves, a host on the first spine: it counts as a leaf, and no way leads over a leaf between spines.
#[test]
fn dnup_reaches_hosts_above_leaves_by_the_least_hops() {
    let cables = [(0, 3), (0, 4), (1, 3), (1, 4), (2, 3), (2, 4)];
    let guids: Vec<u64> = (1..6).collect();
    let whole = subnet(&[2, 2, 2, 1, 0], &cables, &guids);
    let (tables, _) = keeps_its_promises(RoutingEngine::DownUp, &whole, &Options::default());
    for (address, way) in paths(&whole, &tables) {
        let home = whole.hosts[address as usize].switch;
        let from = way[0].switch;
        let least = distances(&whole, from)[home as usize];
        assert_eq!(way.len() as u32, least + 1, "from {from} to {address}");
    }
    // Where leaves of other trees have a host between them no way is left that does not come down and go up again.
    let chain = subnet(&[1, 0, 1, 0, 1], &[(0, 1), (1, 2), (2, 3), (3, 4)], &guids);
    let error = route(RoutingEngine::DownUp, &chain, &Options::default()).unwrap_err();
    assert!(error.to_string().contains("no way from switch `s0` to"), "{error}");
    // On a tree it is up*/down*, hop for hop.
    let regular = tree(&[4, 4, 4], &[4, 4], &[]);
    let (tables, _) = keeps_its_promises(RoutingEngine::DownUp, &regular, &Options::default());
    assert_eq!(
        find_cycle(&regular, &tables).map(|cycle| cycle.describe(&regular)),
        None
    );
    let (known, _) = keeps_its_promises(RoutingEngine::UpDown, &regular, &Options::default());
    for ((_, own), (_, other)) in paths(&regular, &tables).zip(paths(&regular, &known)) {
        assert_eq!(own.len(), other.len());
    }
}

#[test]
fn names_lead_back_to_their_engines() {
    for engine in RoutingEngine::ALL {
        assert_eq!(RoutingEngine::from_name(engine.name()), Some(engine));
        assert!(!engine.description().is_empty());
    }
    assert_eq!(RoutingEngine::from_name("torus"), None);
}

/// The HyperX of TSUBAME2: 12 x 8 switches of 7 hosts.
pub(crate) fn tsubame(lmc: u8) -> Subnet {
    let mut subnet = Subnet::of(&built(hyperx(&[12, 8], &[1, 1], 7)));
    subnet.lmc = lmc;
    subnet
}

#[test]
fn spread_lanes_are_of_their_class_and_free_of_cycles() {
    let subnet = Subnet::of(&built(torus(&[4, 4], &[1, 1], 2)));
    let (tables, report) = keeps_its_promises(RoutingEngine::Dfsssp, &subnet, &Options::default());
    let mut spread = tables.clone();
    report.spread(&mut spread, 5);
    assert_eq!(find_cycle(&subnet, &spread), None);
    let mut used = [0; 8];
    for (&first, &lane) in tables.lanes.iter().zip(&spread.lanes) {
        let (_, n) = report.classes[report.classes.iter().position(|class| class.0 == first).unwrap()];
        assert!((first..first + n).contains(&lane));
        used[usize::from(lane)] += 1;
    }
    assert!(used.iter().all(|&paths| paths > 0), "{used:?}");
    assert_eq!(spread.n_lanes, 8);
    // On a tree all lanes are one class.
    let subnet = tree(&[4, 4], &[4], &[1]);
    let (mut tables, report) = keeps_its_promises(RoutingEngine::Dfsssp, &subnet, &Options::default());
    assert_eq!((tables.n_lanes, &report.classes[..]), (1, &[(0, 8)][..]));
    report.spread(&mut tables, 5);
    assert_eq!((tables.n_lanes, find_cycle(&subnet, &tables)), (8, None));
}

#[test]
fn more_lanes_spare_nue_its_detours() {
    let subnet = tsubame(0);
    let detours = |lanes| {
        let options = Options {
            lanes,
            ..Options::default()
        };
        let (tables, report) = keeps_its_promises(RoutingEngine::Nue, &subnet, &options);
        assert_eq!((tables.n_lanes, report.before.len()), (lanes, usize::from(lanes)));
        let pairs = 672 * (672 + 96 - 8);
        assert_eq!(report.before.iter().sum::<u64>(), pairs);
        paths(&subnet, &tables).filter(|(_, way)| way.len() > 3).count()
    };
    let found = [1, 2, 4, 8].map(detours);
    assert!(found.is_sorted_by(|more, less| more > less), "{found:?}");
    assert_eq!(found[3], 0);
}

#[test]
fn dfsssp_needs_two_lanes_on_the_hyperx_of_tsubame() {
    let (_, report) = keeps_its_promises(RoutingEngine::Dfsssp, &tsubame(0), &Options::default());
    assert_eq!(report.lanes_needed, 2);
    assert_eq!(report.classes, [(0, 7), (7, 1)]);
}
