//! Figures of forwarding tables against those of OpenSM's tables in `validation/opensm`: path lengths and loads exact, shifts exact,
//! effective bisection bandwidth within the confidence intervals of both samples.

use serde_json::Value;
use topo::subnet::analysis::{Fate, Paths, Questions, Shift, ShiftFigures, Spread, lanes, read_demand};
use topo::subnet::{End, Host, Subnet, Switch, Tables};

fn file(name: &str) -> Value {
    let path = format!("{}/../../validation/opensm/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn names(list: &Value) -> Vec<String> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap().to_owned())
        .collect()
}

/// A fabric of the reference file.
fn subnet(fabric: &Value) -> Subnet {
    let (switches, hosts) = (names(&fabric["switches"]), names(&fabric["hosts"]));
    let mut subnet = Subnet::default();
    for (guid, name) in (0x100..).zip(&switches) {
        subnet.switches.push(Switch {
            name: name.clone(),
            guid,
            ports: vec![None; 37],
        });
    }
    subnet.hosts = (0x1000..)
        .zip(&hosts)
        .map(|(guid, name)| Host {
            name: name.clone(),
            guid,
            switch: 0,
            port: 0,
        })
        .collect();
    for link in fabric["links"].as_array().unwrap() {
        let (a, p) = (link[0].as_str().unwrap(), link[1].as_u64().unwrap() as u16);
        let (b, q) = (link[2].as_str().unwrap(), link[3].as_u64().unwrap() as u16);
        let number = |name: &str| switches.iter().position(|s| s == name).map(|s| s as u32);
        let a = number(a).unwrap();
        let end = match number(b) {
            Some(switch) => End::Switch { switch, port: q },
            None => {
                let host = hosts.iter().position(|h| h == b).unwrap();
                (subnet.hosts[host].switch, subnet.hosts[host].port) = (a, p);
                End::Host(host as u32)
            }
        };
        subnet.switches[a as usize].ports[usize::from(p)] = Some(end);
        if let End::Switch { switch, port } = end {
            let back = End::Switch { switch: a, port: p };
            subnet.switches[switch as usize].ports[usize::from(port)] = Some(back);
        }
    }
    assert_eq!(subnet.verify(), Ok(()));
    subnet
}

fn tables(subnet: &Subnet, rows: &Value) -> Tables {
    let mut tables = Tables::empty(subnet);
    tables.ports = names(rows)
        .iter()
        .flat_map(|row| row.split(' ').map(|port| port.parse().unwrap()).collect::<Vec<u16>>())
        .collect();
    assert_eq!(tables.ports.len(), subnet.switches.len() * subnet.hosts.len());
    tables
}

/// Every table of the reference with its statistics.
fn each(mut check: impl FnMut(&str, &Subnet, &Tables, &Value)) {
    let (small, statistics) = (file("opensm-small.json"), file("opensm-small-statistics.json"));
    let mut seen = 0;
    for (name, fabric) in small["fabrics"].as_object().unwrap() {
        let subnet = subnet(fabric);
        for (engine, rows) in fabric["lft"].as_object().unwrap() {
            let key = format!("{name}.{engine}");
            let expected = &statistics["routing_stats"][&key];
            if expected.is_object() {
                check(&key, &subnet, &tables(&subnet, rows), expected);
                seen += 1;
            }
        }
    }
    assert_eq!(seen, statistics["routing_stats"].as_object().unwrap().len());
}

/// As printed with five decimals.
fn same(key: &str, what: &str, ours: f64, theirs: &Value) {
    let theirs = theirs.as_f64().unwrap_or_else(|| panic!("{key}: no {what}"));
    assert!(
        (ours - theirs).abs() < 0.5001e-5,
        "{key}: {what} {ours}, {theirs} expected"
    );
}

#[test]
fn path_lengths_and_loads_are_those_of_the_reference() {
    each(|key, subnet, tables, expected| {
        let paths = Paths::new(subnet, tables, 0);
        let lengths = paths.lengths();
        assert_eq!(lengths.broken, 0, "{key}");
        same(key, "mean hops", lengths.mean.unwrap(), &expected["isl_hops_mean"]);
        for (hops, &pairs) in lengths.histogram.iter().enumerate() {
            let theirs = expected["isl_hops_hist"].get(hops.to_string()).and_then(Value::as_u64);
            assert_eq!(pairs, theirs.unwrap_or(0), "{key}: pairs with {hops} hops");
        }
        let load = paths.all_to_all();
        let spread = Spread::of(&load.iter().map(|&paths| paths as f64).collect::<Vec<_>>());
        let theirs = &expected["alltoall_paths_per_isl"];
        assert_eq!(
            load.len() as u64,
            expected["isl_directed_channels"].as_u64().unwrap(),
            "{key}"
        );
        same(key, "max load", spread.max, &theirs["max"]);
        same(key, "mean load", spread.mean, &theirs["mean"]);
        same(key, "min load", spread.min, &theirs["min"]);
        same(key, "std of loads", spread.std, &theirs["std"]);
        assert_eq!(Some(spread.unused), theirs["unused"].as_u64(), "{key}: unused channels");
        let bound = &expected["uniform_throughput_bound_fraction_of_injection"];
        same(key, "uniform bound", paths.uniform_bound(&load), bound);
    });
}

#[test]
fn shifts_are_those_of_the_reference() {
    each(|key, subnet, tables, expected| {
        let paths = Paths::new(subnet, tables, 0);
        let ours = ShiftFigures::of(&paths.shifts(&paths.shift_distances(u32::MAX)));
        let theirs = &expected["shift_permutations_all_hosts"];
        assert_eq!(Some(u64::from(ours.shifts)), theirs["shifts"].as_u64(), "{key}");
        assert_eq!(Some(u64::from(ours.max)), theirs["max"].as_u64(), "{key}");
        let without = theirs["shifts_with_max_congestion_1"].as_u64();
        assert_eq!(Some(u64::from(ours.without_congestion)), without, "{key}");
        same(
            key,
            "mean of max congestion",
            ours.mean_of_max_congestion,
            &theirs["mean_of_max_congestion"],
        );
        same(
            key,
            "mean 1/congestion",
            ours.mean_inverse_congestion,
            &theirs["mean_inverse_congestion"],
        );
        // mpiGraph of all hosts is the same mean.
        let all: Vec<u32> = (0..subnet.n_hosts()).collect();
        let graph = paths.mpi_graph(&all);
        let told: Vec<f64> = graph.iter().filter(|s| !s.is_nan()).map(|&s| f64::from(s)).collect();
        assert_eq!(told.len(), all.len() * (all.len() - 1), "{key}");
        let mean = told.iter().sum::<f64>() / told.len() as f64;
        assert!((mean - ours.mean_inverse_congestion).abs() < 1e-6, "{key}");
        assert!((paths.racks(subnet.n_hosts())[0] - mean).abs() < 1e-6, "{key}");
    });
}

/// Two independent samples of one mean: the difference is within the 99.9 % interval (3.29 standard errors of the difference). Of the 62
/// comparisons one in a thousand would lie outside by chance.
#[test]
fn effective_bisection_bandwidth_is_that_of_the_reference_within_both_samples_errors() {
    let mut outside = Vec::new();
    each(|key, subnet, tables, expected| {
        let paths = Paths::new(subnet, tables, 0);
        for (name, both_ways) in [("eBB_unidir", false), ("eBB_bidir", true)] {
            let theirs = &expected[name];
            let (mean, std) = (theirs["mean"].as_f64().unwrap(), theirs["std"].as_f64().unwrap());
            let samples = theirs["samples"].as_f64().unwrap();
            let ours = paths.bisection(1000, 1, both_ways);
            let error = (std * std / samples + ours.std * ours.std / 1000.0).sqrt();
            assert!((ours.ci95 - 1.96 * ours.std / 1000f64.sqrt()).abs() < 1e-12);
            assert!(ours.min <= ours.mean && ours.mean <= ours.max);
            if (ours.mean - mean).abs() > 3.29 * error {
                outside.push(format!("{key} {name}: {} against {mean}, error {error}", ours.mean));
            }
        }
    });
    assert!(outside.is_empty(), "{outside:#?}");
}

#[test]
fn figures_do_not_depend_on_how_the_work_is_shared_out() {
    let small = file("opensm-small.json");
    let fabric = &small["fabrics"]["hx4x4"];
    let subnet = subnet(fabric);
    let tables = tables(&subnet, &fabric["lft"]["sssp"]);
    let paths = Paths::new(&subnet, &tables, 0);
    // Samples are drawn by number: the first ten of a thousand are those of ten. Ten are never shared out.
    let (few, many) = (paths.bisection(10, 7, false), paths.bisection(1000, 7, false));
    assert_eq!(few, paths.bisection(10, 7, false));
    assert_ne!(few.mean, paths.bisection(10, 8, false).mean);
    assert!((few.mean - many.mean).abs() < 4.0 * many.std / 10f64.sqrt());
    assert_eq!(paths.shift_distances(5), [1, 7, 13, 19, 25]);
}

#[test]
fn a_shift_is_a_demand_and_a_demand_is_read_from_csv() {
    let small = file("opensm-small.json");
    let fabric = &small["fabrics"]["torus4x4"];
    let subnet = subnet(fabric);
    let tables = tables(&subnet, &fabric["lft"]["minhop"]);
    let paths = Paths::new(&subnet, &tables, 0);
    let csv: String = (0..32).map(|i| format!("H{i:04},{},2.5\n", (i + 5) % 32)).collect();
    let demand = read_demand(
        &format!("source,destination,bytes\n# by name and by number\n{csv}"),
        &subnet,
    )
    .unwrap();
    let (load, figures) = paths.demand(&demand);
    let shift = paths.shift_load(5);
    assert!(
        load.iter()
            .zip(&shift)
            .all(|(ours, &flows)| *ours == 2.5 * flows as f64)
    );
    let worst = *shift.iter().max().unwrap() as f64;
    assert_eq!(
        (figures.pairs, figures.total, figures.slowdown),
        (32, 80.0, Some(worst))
    );
    assert_eq!(figures.busiest_host, 2.5);
    let hops: u64 = shift.iter().sum();
    assert!((figures.mean_hops.unwrap() - hops as f64 / 32.0).abs() < 1e-12);

    let wrong = read_demand(
        "a,b,c\nH0001,nobody,1\nH0001,H0002\nH0001,99,1\nH0001,H0002,-1\n",
        &subnet,
    )
    .unwrap_err();
    let lines: Vec<usize> = wrong.list.iter().map(|mistake| mistake.line).collect();
    assert_eq!(lines, [2, 3, 4, 5], "{wrong}");
    assert!(read_demand("# nothing\n", &subnet).is_err());
}

#[test]
fn paths_that_do_not_arrive_are_counted_and_get_nothing() {
    let small = file("opensm-small.json");
    let fabric = &small["fabrics"]["ring8"];
    let subnet = subnet(fabric);
    let mut tables = tables(&subnet, &fabric["lft"]["minhop"]);
    // Switches 0 and 1 send to host 8 (on switch 4) to each other for ever.
    let (there, back) = (subnet.cables(0).next().unwrap(), subnet.cables(1).last().unwrap());
    assert_eq!((there.1, back.1), (1, 0));
    tables.ports[8] = there.0;
    tables.ports[16 + 8] = back.0;
    // Switch 2 has no way to host 9.
    tables.ports[2 * 16 + 9] = Tables::NONE;
    let paths = Paths::new(&subnet, &tables, 0);
    let lengths = paths.lengths();
    let walked = |from: u32, to: u32| tables.walk(&subnet, subnet.hosts[from as usize].switch, to).ok();
    let pairs = || (0..16u32).flat_map(|from| (0..16u32).filter(move |&to| to != from).map(move |to| (from, to)));
    let broken = pairs().filter(|&(from, to)| walked(from, to).is_none()).count() as u64;
    assert!(broken >= 6, "{broken}");
    assert_eq!(lengths.broken, broken);
    assert_eq!(lengths.histogram.iter().sum::<u64>(), 16 * 15 - broken);
    for (from, to) in pairs() {
        assert_eq!(
            paths.hops(from, to),
            walked(from, to).map(|way| way.len() as u32 - 1),
            "{from} to {to}"
        );
    }
    let examples = paths.broken_examples(3);
    assert_eq!(examples.len(), 3);
    assert_eq!(examples[0], "H0000 to H0008: S00 -> S01: comes back to `S00`");
    // Every pair that is lost stands in the list, and no other; loops and the dead end where they are.
    let lost = paths.lost();
    let mut told = Vec::new();
    for way in &lost {
        let senders = (0..16u32).filter(|&h| subnet.hosts[h as usize].switch == way.switch && h != way.host);
        assert_eq!(senders.clone().count() as u32, way.senders);
        told.extend(senders.map(|from| (from, way.host)));
        match way.host {
            8 => assert!(way.fate == Fate::Loop && way.at < 2, "{way:?}"),
            _ => assert_eq!((way.host, way.fate, way.at), (9, Fate::DeadEnd, 2)),
        }
    }
    told.sort_unstable();
    assert_eq!(
        told,
        pairs()
            .filter(|&(from, to)| walked(from, to).is_none())
            .collect::<Vec<_>>()
    );
    let hops: u64 = pairs().filter_map(|(f, t)| paths.hops(f, t)).map(u64::from).sum();
    assert_eq!(paths.all_to_all().iter().sum::<u64>(), hops);

    // A lost pair gets nothing, in shifts, matchings, mpiGraph and racks; what is no mean of bandwidths is not given.
    let all: Vec<u32> = (0..16).collect();
    let graph = paths.mpi_graph(&all);
    for (from, to) in pairs() {
        let share = graph[from as usize * 16 + to as usize];
        assert_eq!(share == 0.0, walked(from, to).is_none(), "{from} to {to}: {share}");
    }
    let shares = || {
        graph
            .iter()
            .filter(|share| !share.is_nan())
            .map(|&share| f64::from(share))
    };
    assert_eq!(shares().count(), 16 * 15);
    let mean = shares().sum::<f64>() / 240.0;
    let questions = Questions {
        demand: Some(vec![(0, 8, 1.0), (0, 4, 1.0)]),
        rack: Some(16),
        ..Questions::default()
    };
    let (summary, _, shifts) = paths.summary(&questions);
    let of_shifts = summary.shifts.unwrap();
    assert_eq!(of_shifts.lost, broken);
    assert!((of_shifts.mean_inverse_congestion - mean).abs() < 1e-6);
    assert!((summary.racks.unwrap().mean.unwrap() - mean).abs() < 1e-6);
    let harmless = |shift: &&Shift| shift.lost == 0 && shift.max_congestion == 1;
    assert_eq!(
        of_shifts.without_congestion as usize,
        shifts.iter().filter(harmless).count()
    );
    assert_eq!((summary.lengths.mean, summary.uniform_bound), (None, None));
    let demand = summary.demand.unwrap();
    assert_eq!((demand.lost, demand.slowdown, demand.mean_hops), (1.0, None, None));
    assert_eq!(demand.busiest_host, 2.0);
    // With all entries gone nothing is left but the hosts of one switch.
    let none = Tables::empty(&subnet);
    let paths = Paths::new(&subnet, &none, 0);
    let nothing = paths.bisection(50, 1, false);
    assert_eq!((nothing.mean, nothing.max, nothing.lost), (0.0, 0.0, 50 * 8));
}

/// First lanes of OpenSM's DFSSSP are free of cycles; its routes on one lane are not, on the ring for instance.
#[test]
fn lanes_are_judged_one_by_one() {
    let small = file("opensm-small.json");
    for name in ["hx4x4", "ring8", "torus4x4"] {
        let fabric = &small["fabrics"][name];
        let subnet = subnet(fabric);
        let mut tables = tables(&subnet, &fabric["lft"]["dfsssp"]);
        let one = lanes(&subnet, &tables, 0);
        assert!(
            one.len() == 1 && !one[0].free && one[0].cycle.len() > 2,
            "{name}: {one:?}"
        );
        assert!(
            one[0].cycle[0].starts_with('S') && one[0].cycle[0].contains(" port "),
            "{one:?}"
        );
        let rows = names(&fabric["dfsssp_vl_src_rows_dst_cols"]);
        let n = subnet.hosts.len();
        tables.lanes = vec![0; tables.ports.len()];
        for (from, row) in rows.iter().enumerate() {
            for (to, lane) in row.bytes().enumerate() {
                let i = subnet.hosts[from].switch as usize * n + to;
                tables.lanes[i] = tables.lanes[i].max(lane - b'0');
            }
        }
        tables.n_lanes = 8;
        let all = lanes(&subnet, &tables, 0);
        assert!(all.iter().all(|lane| lane.free), "{name}: {all:?}");
        let pairs: Vec<u64> = all.iter().map(|lane| lane.pairs).collect();
        assert_eq!(pairs.iter().sum::<u64>(), (n * (n - 1)) as u64, "{name}");
        // A cycle in the highest lane alone.
        let mut cycle_above = tables.clone();
        cycle_above.lanes = vec![2; tables.lanes.len()];
        cycle_above.lanes[0] = 1;
        cycle_above.n_lanes = 3;
        let all = lanes(&subnet, &cycle_above, 0);
        assert_eq!(
            all.iter().map(|lane| lane.free).collect::<Vec<_>>(),
            [true, true, false],
            "{name}"
        );
    }
}

#[test]
fn the_summary_has_what_was_asked_for() {
    let small = file("opensm-small.json");
    let fabric = &small["fabrics"]["tree4_2"];
    let subnet = subnet(fabric);
    let tables = tables(&subnet, &fabric["lft"]["ftree"]);
    let paths = Paths::new(&subnet, &tables, 0);
    let questions = Questions {
        shift: Some(17),
        rack: Some(4),
        demand: Some(vec![(0, 15, 1.0)]),
        hottest: 3,
        ..Questions::default()
    };
    let (summary, loads, shifts) = paths.summary(&questions);
    assert_eq!(
        (summary.hosts, summary.switches, summary.channels, shifts.len()),
        (16, 8, 32, 15)
    );
    assert_eq!(summary.hottest.len(), 3);
    assert!(summary.hottest.iter().all(|hot| hot.paths == 12));
    assert_eq!((summary.hottest[0].from.as_str(), summary.hottest[0].port), ("S0_0", 5));
    let shift = summary.shift.unwrap();
    assert_eq!(
        (shift.shift.by, shift.shift.max_congestion, shift.load.max),
        (1, 1, 1.0)
    );
    // Racks are leaves here: nothing leaves the switch.
    assert_eq!(summary.racks.unwrap().each, [1.0; 4]);
    assert_eq!(summary.demand.unwrap().load.max, 1.0);
    assert_eq!(loads.demand.unwrap().iter().sum::<f64>(), 2.0);
    assert!(summary.deadlock_free && summary.lanes[0].pairs == 240);
}
