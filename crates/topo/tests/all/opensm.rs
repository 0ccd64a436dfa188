//! Routing engines against the tables, lanes and loads of OpenSM's (`validation/opensm/`), entry by entry.

use serde_json::Value;
use std::collections::BTreeMap;
use topo::subnet::{End, Host, Options, Report, RoutingEngine, Subnet, Switch, Tables, find_cycle, route_with_report};

fn read(file: &str) -> Value {
    let path = format!("{}/../../validation/opensm/{file}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn strings(value: &Value) -> Vec<String> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap().to_string())
        .collect()
}

/// A fabric of the file; identifiers rise with the numbers of switches and hosts.
fn subnet(fabric: &Value) -> (Subnet, Options) {
    let (switches, hosts) = (strings(&fabric["switches"]), strings(&fabric["hosts"]));
    let place = |names: &[String], name: &str| names.iter().position(|other| other == name).map(|k| k as u32);
    let mut subnet = Subnet::default();
    for (s, name) in switches.iter().enumerate() {
        subnet.switches.push(Switch {
            name: name.clone(),
            guid: 0x20_0000 + s as u64,
            ports: vec![None],
        });
    }
    let mut at = vec![None; hosts.len()];
    let mut plug = |s: u32, port: u64, end: End| {
        let ports = &mut subnet.switches[s as usize].ports;
        ports.resize(ports.len().max(port as usize + 1), None);
        ports[port as usize] = Some(end);
    };
    for link in fabric["links"].as_array().unwrap() {
        let (a, p) = (link[0].as_str().unwrap(), link[1].as_u64().unwrap());
        let (b, q) = (link[2].as_str().unwrap(), link[3].as_u64().unwrap());
        let s = place(&switches, a).unwrap();
        match place(&switches, b) {
            Some(switch) => plug(s, p, End::Switch { switch, port: q as u16 }),
            None => {
                let host = place(&hosts, b).unwrap();
                at[host as usize] = Some((s, p as u16));
                plug(s, p, End::Host(host));
            }
        }
    }
    for (h, name) in hosts.iter().enumerate() {
        let (switch, port) = at[h].unwrap();
        subnet.hosts.push(Host {
            name: name.clone(),
            guid: 0x10_0000 + h as u64,
            switch,
            port,
        });
    }
    let order = strings(&fabric["switch_iteration_order"]);
    let options = Options {
        order: order.iter().map(|name| place(&switches, name).unwrap()).collect(),
        ..Options::default()
    };
    assert_eq!(subnet.verify(), Ok(()));
    (subnet, options)
}

/// What was routed: fabric and engine as the files name them.
struct Case {
    name: String,
    engine: RoutingEngine,
    subnet: Subnet,
    options: Options,
    fabric: Value,
    /// Ports by switch and host.
    expected: Vec<Vec<u16>>,
}

impl Case {
    fn routed(&self) -> (Tables, Report) {
        route_with_report(self.engine, &self.subnet, &self.options)
            .unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}

fn cases() -> Vec<Case> {
    let file = read("opensm-small.json");
    let mut cases = Vec::new();
    for (fabric_name, fabric) in file["fabrics"].as_object().unwrap() {
        for (engine_name, rows) in fabric["lft"].as_object().unwrap() {
            let (subnet, mut options) = subnet(fabric);
            let name = engine_name.strip_suffix("_roots").unwrap_or(engine_name);
            // Sets, order and ties of nue are our own; other engines are not here.
            let Some(engine) = RoutingEngine::from_name(name).filter(|&engine| engine != RoutingEngine::Nue) else {
                continue;
            };
            if name != engine_name {
                let upper = |s: &u32| subnet.switches[*s as usize].name.starts_with("S1_");
                options.roots = (0..subnet.n_switches()).filter(upper).collect();
            }
            let row = |row: String| row.split(' ').map(|port| port.parse().unwrap()).collect();
            cases.push(Case {
                name: format!("{fabric_name}.{engine_name}"),
                engine,
                subnet,
                options,
                fabric: fabric.clone(),
                expected: strings(rows).into_iter().map(row).collect(),
            });
        }
    }
    assert_eq!(cases.len(), 26);
    cases
}

/// Loads of the cables between switches by flows between hosts.
fn loads(subnet: &Subnet, tables: &Tables, flows: impl Iterator<Item = (u32, u32)>) -> Loads {
    let mut of_channel = BTreeMap::new();
    for s in 0..subnet.n_switches() {
        of_channel.extend(subnet.cables(s).map(|(port, _, _)| ((s, port), 0u64)));
    }
    let mut hops = BTreeMap::new();
    let mut ways = Vec::new();
    for (from, to) in flows {
        let way = tables.walk(subnet, subnet.hosts[from as usize].switch, to).unwrap();
        let cables: Vec<_> = way[..way.len() - 1]
            .iter()
            .map(|exit| (exit.switch, exit.port))
            .collect();
        *hops.entry(cables.len() as u64).or_insert(0u64) += 1;
        for cable in &cables {
            *of_channel.get_mut(cable).unwrap() += 1;
        }
        ways.push(cables);
    }
    let congestion = ways
        .iter()
        .map(|way| way.iter().map(|cable| of_channel[cable]).max().unwrap_or(1))
        .collect();
    Loads {
        of_channel: of_channel.into_values().collect(),
        hops,
        congestion,
    }
}

struct Loads {
    of_channel: Vec<u64>,
    /// Flows by hops between switches.
    hops: BTreeMap<u64, u64>,
    /// Of each flow the load of the busiest cable.
    congestion: Vec<u64>,
}

fn all_to_all(n: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..n).flat_map(move |from| (0..n).filter(move |&to| to != from).map(move |to| (from, to)))
}

/// Its torus-2QoS goes by dimension order, half-way round a ring by the side that does not cross the wrap link: as our `dor` with `tie = "unwrapped"` and as our
/// engine of that name, switch by switch.
#[test]
fn torus_2qos_takes_the_ways_of_dimension_order_with_unwrapped_ties() {
    let file = read("opensm-small.json");
    let fabric = &file["fabrics"]["torus4x4"];
    let (subnet, _) = subnet(fabric);
    let lattice = topo::Lattice {
        shape: vec![4, 4],
        width: vec![],
        nodes_per_router: 2,
    };
    let torus = topo::TopologySpec::Torus(lattice)
        .build()
        .unwrap()
        .with_ties(topo::Tie::Unwrapped);
    // The first coordinate of a name is the dimension that comes first.
    let router = |switch: u32| switch / 4 + switch % 4 * 4;
    let own = Subnet::of(&torus);
    let options = Options {
        dims: vec![4, 4],
        ..Options::default()
    };
    let tables = topo::subnet::route(RoutingEngine::Torus2Qos, &own, &options).unwrap();
    let mut compared = 0;
    for (s, row) in (0..).zip(strings(&fabric["lft"]["torus2qos"])) {
        for (host, port) in row.split(' ').map(|port| port.parse::<u16>().unwrap()).enumerate() {
            let home = subnet.hosts[host].switch;
            match subnet.end(s, port) {
                Some(End::Switch { switch, .. }) => {
                    let hop = torus.minimal_to(router(s), router(home), topo::Came::INJECTED, 0);
                    assert_eq!(
                        torus.wiring().peer(router(s), hop.port).0,
                        router(switch),
                        "{s} to {host}"
                    );
                    // Nodes of a router follow each other.
                    let port = tables.port(router(s), 2 * router(home));
                    let next = own.end(router(s), port);
                    assert!(
                        matches!(next, Some(End::Switch { switch: to, .. }) if to == router(switch)),
                        "{s} to {host}: {next:?}"
                    );
                }
                Some(End::Host(there)) => assert_eq!((there as usize, s), (host, home)),
                None => panic!("no end of port {port} of {s}"),
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 512);
}

#[test]
fn tables_are_opensm_s_entry_by_entry() {
    for case in cases() {
        let (tables, _) = case.routed();
        let mut different = 0;
        for (s, row) in (0..).zip(&case.expected) {
            for (host, &port) in (0..).zip(row) {
                different += usize::from(tables.port(s, host) != port);
            }
        }
        assert_eq!(different, 0, "entries of {}", case.name);
    }
}

#[test]
fn lanes_of_dfsssp_are_opensm_s_pair_by_pair() {
    let mut compared = 0;
    for case in cases().into_iter().filter(|case| case.engine == RoutingEngine::Dfsssp) {
        let (tables, report) = case.routed();
        let expected = match case.fabric.get("dfsssp_vl_src_rows_dst_cols") {
            Some(rows) => strings(rows),
            None => continue,
        };
        for (from, row) in case.subnet.hosts.iter().zip(expected) {
            for (to, lane) in (0..).zip(row.bytes()) {
                if case.subnet.hosts[to as usize] != *from {
                    assert_eq!(
                        tables.lane(from.switch, to),
                        lane - b'0',
                        "{}: {} to {to}",
                        case.name,
                        from.name
                    );
                    compared += 1;
                }
            }
        }
        assert_eq!(
            report.classes.iter().map(|&(_, n)| n).sum::<u8>(),
            8,
            "{}: every lane is dealt",
            case.name
        );
    }
    assert_eq!(compared, 2 * 32 * 31 + 16 * 15);
}

#[test]
fn layers_have_opensm_s_numbers_of_pairs() {
    let statistics = read("opensm-small-statistics.json");
    for case in cases() {
        let (_, report) = case.routed();
        let lanes = &statistics["engine_info"][&case.name];
        let numbers = |key: &str| -> Vec<u64> {
            lanes[key]
                .as_array()
                .unwrap()
                .iter()
                .map(|n| n.as_u64().unwrap())
                .collect()
        };
        match case.engine {
            RoutingEngine::Dfsssp => {
                assert_eq!(
                    report.before,
                    numbers("dfsssp_paths_per_vl_before_balancing"),
                    "{}",
                    case.name
                );
                assert_eq!(lanes["dfsssp_vls_needed"], report.lanes_needed, "{}", case.name);
            }
            RoutingEngine::Lash => {
                assert_eq!(
                    report.before,
                    numbers("lash_switch_pairs_per_layer_before"),
                    "{}",
                    case.name
                );
                assert_eq!(lanes["lash_lanes_needed"], report.lanes_needed, "{}", case.name);
                // Pairs are moved at random there: what must agree is how even the lanes get.
                let even = |after: &[u64]| after.iter().max().unwrap() - after.iter().min().unwrap() <= 6;
                assert!(even(&numbers("lash_switch_pairs_per_layer_after")), "{}", case.name);
                assert!(even(&report.after), "{}: {:?}", case.name, report.after);
                assert_eq!(report.after.iter().sum::<u64>(), report.before.iter().sum::<u64>());
            }
            _ => assert_eq!(report.lanes_needed, 1),
        }
    }
}

#[test]
fn loads_and_hops_are_those_of_opensm_s_tables() {
    let statistics = read("opensm-small-statistics.json");
    for case in cases() {
        let (tables, _) = case.routed();
        let expected = &statistics["routing_stats"][&case.name];
        let close = |found: f64, key: &Value, what: &str| {
            let expected = key.as_f64().unwrap();
            assert!(
                (found - expected).abs() <= 0.500_001e-5,
                "{}: {what} {found}, there {expected}",
                case.name
            );
        };
        let n = case.subnet.n_hosts();
        let found = loads(&case.subnet, &tables, all_to_all(n));
        let hops: BTreeMap<u64, u64> = (expected["isl_hops_hist"].as_object().unwrap().iter())
            .map(|(hops, flows)| (hops.parse().unwrap(), flows.as_u64().unwrap()))
            .collect();
        assert_eq!(found.hops, hops, "{}", case.name);
        let all = &expected["alltoall_paths_per_isl"];
        let values = &found.of_channel;
        let mean = values.iter().sum::<u64>() as f64 / values.len() as f64;
        let variance = values.iter().map(|&v| (v as f64 - mean).powi(2)).sum::<f64>() / values.len() as f64;
        assert_eq!(all["max"], *values.iter().max().unwrap(), "{}", case.name);
        assert_eq!(all["min"], *values.iter().min().unwrap(), "{}", case.name);
        assert_eq!(
            all["unused"],
            values.iter().filter(|&&v| v == 0).count(),
            "{}",
            case.name
        );
        close(mean, &all["mean"], "mean load");
        close(variance.sqrt(), &all["std"], "deviation of loads");

        let shift = |k: u32| loads(&case.subnet, &tables, (0..n).map(move |from| (from, (from + k) % n))).congestion;
        let shifts: Vec<Vec<u64>> = (1..n).map(shift).collect();
        let worst: Vec<u64> = shifts.iter().map(|shift| *shift.iter().max().unwrap()).collect();
        let flows = shifts.iter().flatten();
        let inverse = flows.clone().map(|&v| 1.0 / v as f64).sum::<f64>() / flows.count() as f64;
        let of_shifts = &expected["shift_permutations_all_hosts"];
        assert_eq!(of_shifts["max"], *worst.iter().max().unwrap(), "{}", case.name);
        assert_eq!(
            of_shifts["shifts_with_max_congestion_1"],
            worst.iter().filter(|&&v| v == 1).count()
        );
        close(
            worst.iter().sum::<u64>() as f64 / worst.len() as f64,
            &of_shifts["mean_of_max_congestion"],
            "mean of worst",
        );
        close(inverse, &of_shifts["mean_inverse_congestion"], "mean of 1 / congestion");
    }
}

#[test]
fn nue_takes_no_more_hops_on_one_lane_than_opensm_s() {
    // Sets, order and ties are our own, so tables differ.
    let statistics = read("opensm-small-statistics.json");
    for mut case in cases().into_iter().filter(|case| case.engine == RoutingEngine::Sssp) {
        (case.engine, case.options.lanes) = (RoutingEngine::Nue, 1);
        let (tables, _) = case.routed();
        assert_eq!(find_cycle(&case.subnet, &tables), None, "{}", case.name);
        let found = loads(&case.subnet, &tables, all_to_all(case.subnet.n_hosts()));
        let expected = &statistics["routing_stats"][case.name.replace("sssp", "nue")];
        let hops: BTreeMap<u64, u64> = (expected["isl_hops_hist"].as_object().unwrap().iter())
            .map(|(hops, flows)| (hops.parse().unwrap(), flows.as_u64().unwrap()))
            .collect();
        let sum = |hops: &BTreeMap<u64, u64>| hops.iter().map(|(hops, flows)| hops * flows).sum::<u64>();
        assert!(
            sum(&found.hops) <= sum(&hops),
            "{}: {:?}, there {hops:?}",
            case.name,
            found.hops
        );
    }
}

#[test]
fn engines_that_promise_it_cannot_deadlock_and_others_do() {
    for case in cases() {
        let (tables, _) = case.routed();
        let cycle = find_cycle(&case.subnet, &tables);
        if case.engine.deadlock_free() {
            assert_eq!(cycle.map(|cycle| cycle.describe(&case.subnet)), None, "{}", case.name);
        }
        // Rings of least hops close; trees and dimension order on HyperX do not.
        let round = case.name.starts_with("ring8") || case.name.starts_with("torus4x4");
        if round
            && matches!(
                case.engine,
                RoutingEngine::MinHop | RoutingEngine::Dor | RoutingEngine::Sssp
            )
        {
            assert!(find_cycle(&case.subnet, &tables).is_some(), "{}", case.name);
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    for mut case in cases() {
        case.options.threads = 1;
        let one = case.routed();
        for threads in [2, 3, 64] {
            case.options.threads = threads;
            assert!(case.routed() == one, "{} with {threads} threads", case.name);
        }
    }
}
